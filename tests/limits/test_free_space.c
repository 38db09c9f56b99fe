/*
 * test_free_space.c - calls that write a segment, with 64 to 1,024 bits, while the file system says that it has little
 * room: a call is refused before it writes where its segment does not fit, leaves the store as it was, and succeeds
 * with a few times as much room.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>

#include "support/random.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

#define SEGMENTS 3u            /* of the store: with one more, all are merged */
#define RECORDS ((size_t)6000) /* of each */
#define DIRECTORY_BYTES 32768u /* not estimated */
#define UNIT 4096u
#define ENOUGH (UINT64_C(1) << 40)

static uint64_t free_bytes;
static uint64_t estimated; /* by the last build: the bytes of the store */

/* In place of the system's. */
int fstatvfs(int file, struct statvfs *info)
{
    (void)file;
    *info = (struct statvfs){.f_bsize = UNIT, .f_frsize = UNIT, .f_bavail = free_bytes / UNIT};
    return 0;
}

typedef struct fixture {
    uint32_t words;
    uint64_t *fingerprints; /* those of the store, and RECORDS new ones */
    char store[256], copy[256];
} fixture;

typedef sstore_status writing(const fixture *self, sstore_change *change, sstore_error *error);

static sstore_status finish(sstore_builder *builder, const uint64_t *fingerprints, sstore_change *change,
                            sstore_error *error)
{
    const sstore_status status = sstore_builder_add(builder, fingerprints, NULL, RECORDS, error);
    if (status == SSTORE_OK)
        return sstore_builder_finish(builder, change, error);
    sstore_builder_abort(builder);
    return status;
}

static sstore_write_options options_for(const fixture *self)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.fingerprint_bits = 64 * self->words;
    options.force = true;
    options.threads = 1;
    return options;
}

static sstore_status build_with(const fixture *self, const sstore_write_options *options, sstore_change *change,
                                sstore_error *error)
{
    sstore_builder *builder;
    sstore_build_needs needs = SSTORE_BUILD_NEEDS_INIT;
    sstore_status status = sstore_builder_create(self->copy, options, &builder, error);
    if (status != SSTORE_OK)
        return status;
    assert_ok(sstore_builder_needs(builder, RECORDS, &needs, error), error);
    estimated = needs.store_bytes;
    return finish(builder, self->fingerprints, change, error);
}

static sstore_status build(const fixture *self, sstore_change *change, sstore_error *error)
{
    const sstore_write_options options = options_for(self);
    return build_with(self, &options, change, error);
}

/* The first record has a large id, so the index is not packed. */
static sstore_status build_indexed(const fixture *self, sstore_change *change, sstore_error *error)
{
    sstore_write_options options = options_for(self);
    options.id_index = true;
    options.first_id = UINT64_C(1) << 40;
    return build_with(self, &options, change, error);
}

static sstore_status build_packed(const fixture *self, sstore_change *change, sstore_error *error)
{
    sstore_write_options options = options_for(self);
    options.id_index = true;
    return build_with(self, &options, change, error);
}

/* Add part `part` of the fingerprints. */
static sstore_status add_part(const fixture *self, size_t part, const sstore_write_options *options,
                              sstore_change *change, sstore_error *error)
{
    sstore_builder *builder;
    const sstore_status status = sstore_builder_create_addition(self->copy, options, &builder, error);
    return status == SSTORE_OK ? finish(builder, self->fingerprints + part * RECORDS * self->words, change, error)
                               : status;
}

static sstore_status add(const fixture *self, sstore_change *change, sstore_error *error)
{
    return add_part(self, SEGMENTS, &change_apart, change, error);
}

static sstore_status add_merged(const fixture *self, sstore_change *change, sstore_error *error)
{
    return add_part(self, SEGMENTS, NULL, change, error);
}

static sstore_status remove_with(const fixture *self, const sstore_write_options *options, sstore_change *change,
                                 sstore_error *error)
{
    sstore_remover *remover;
    sstore_status status = sstore_remover_create(self->copy, options, &remover, error);
    if (status != SSTORE_OK)
        return status;
    status = sstore_remover_remove(remover, self->fingerprints, NULL, RECORDS, error);
    if (status == SSTORE_OK)
        return sstore_remover_finish(remover, change, error);
    sstore_remover_abort(remover);
    return status;
}

static sstore_status remove_records(const fixture *self, sstore_change *change, sstore_error *error)
{
    return remove_with(self, &change_apart, change, error);
}

static sstore_status remove_merged(const fixture *self, sstore_change *change, sstore_error *error)
{
    return remove_with(self, NULL, change, error);
}

static sstore_status compact(const fixture *self, sstore_change *change, sstore_error *error)
{
    return sstore_compact(self->copy, SSTORE_COMPACTION_ALL, NULL, change, error);
}

static sstore_status merge(const fixture *self, sstore_change *change, sstore_error *error)
{
    const char *const inputs[] = {self->store};
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.force = true;
    return sstore_merge(self->copy, inputs, 1, &options, change, error);
}

static const struct {
    const char *name;
    writing *write;
    bool merges; /* the result is one segment, not one more */
} calls[] = {{"build", build, true},
             {"build with an id index", build_indexed, true},
             {"build with a packed id index", build_packed, true},
             {"add", add, false},
             {"add, merged", add_merged, true},
             {"remove", remove_records, false},
             {"remove, merged", remove_merged, true},
             {"compact", compact, true},
             {"merge", merge, true}};

static void renew(const fixture *self)
{
    scratch_remove(self->copy);
    folder_copy(self->store, self->copy);
}

/* The bytes of the segment that the call writes, when there is room. */
static uint64_t measure(const fixture *self, size_t call)
{
    sstore_change change = SSTORE_CHANGE_INIT;
    sstore_error error = {.status = SSTORE_OK};
    free_bytes = ENOUGH;
    renew(self);
    assert_ok(calls[call].write(self, &change, &error), &error);
    assert_int_equal(change.segment_count, calls[call].merges ? 1 : SEGMENTS + 1);
    return change.total_bytes - (calls[call].merges ? 0 : change.total_bytes_before);
}

static void check_call(const fixture *self, size_t call)
{
    sstore_change change = SSTORE_CHANGE_INIT;
    sstore_error error = {.status = SSTORE_OK};
    testing_doing("%s, %u words", calls[call].name, self->words);
    estimated = 0;
    const uint64_t bytes = measure(self, call);
    if (estimated != 0) /* small ids pack better than uniform numbers, which are assumed */
        assert_in_range(estimated, bytes - bytes / 12, bytes + bytes / 6);
    renew(self);
    free_bytes = bytes - bytes / 8 - DIRECTORY_BYTES; /* the call only estimates how large the segment becomes */
    assert_status(calls[call].write(self, &change, &error), SSTORE_ERROR_IO, &error);
    assert_int_equal(error.system_errno, ENOSPC);
    assert_true(folders_equal(self->store, self->copy, ""));
    free_bytes = 4 * bytes;
    assert_ok(calls[call].write(self, &change, &error), &error);
}

static void test_calls(void **state)
{
    static const uint32_t widths[] = {1, 2, 8};
    const size_t count = sizeof widths / sizeof *widths, step = testing_slow() && !testing_long() ? count : 1;
    rng random = rng_seeded(run_seed);
    for (size_t i = run_seed % step; i < count; i += step) { /* other ones with another seed */
        fixture self = {.words = widths[i]};
        sstore_error error = {.status = SSTORE_OK};
        snprintf(self.store, sizeof self.store, "%s", scratch_path("store"));
        snprintf(self.copy, sizeof self.copy, "%s", scratch_path("copy"));
        const size_t bytes = (SEGMENTS + 1) * RECORDS * self.words * sizeof *self.fingerprints;
        self.fingerprints = malloc(bytes);
        assert_non_null(self.fingerprints);
        rng_fill(&random, self.fingerprints, bytes);
        free_bytes = ENOUGH;
        assert_ok(build(&self, NULL, &error), &error);
        for (size_t part = 1; part < SEGMENTS; part++)
            assert_ok(add_part(&self, part, &change_apart, NULL, &error), &error);
        folder_copy(self.copy, self.store);
        for (size_t call = 0; call < sizeof calls / sizeof *calls; call++)
            check_call(&self, call);
        scratch_remove(self.store);
        scratch_remove(self.copy);
        free(self.fingerprints);
    }
    testing_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test_calls, testing_teardown)};
    rng_start_run();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
