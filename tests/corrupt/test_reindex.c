/*
 * test_reindex.c - directories that are lost or damaged in any way are rebuilt from the same block files. The store
 * then answers correctly, and its directories are the same as before. A damaged block file is named, and nothing is
 * changed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sstore_statistics.h"
#include "support/damage.h"
#include "support/lost_directory.h"
#include "support/use_store.h"
#include "support/widened.h"

#define HEADER_BYTES 4096u /* of a block file: format-spec/sstore-format.md, section 4 */
#define DIRECTORY "directory.mdb"
#define MAX_SEGMENTS 4u

/* ----- helpers ----- */

/* A store, an intact copy of it, and the segments of the copy. */
typedef struct patient {
    damage_store store;
    char saved[256];
    uint32_t segment_count;
    char folders[MAX_SEGMENTS][32];
    rng random;
} patient;

/* The folders of a store's segments, the oldest first. */
static uint32_t list_segments(const char *path, char folders_out[MAX_SEGMENTS][32])
{
    sstore_error error = {.status = SSTORE_OK};
    sstore_statistics facts = {.struct_size = sizeof facts};
    sstore *store = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    assert_ok(sstore_stat(store, &facts, &error), &error);
    assert_in_range(facts.segment_count, 1, MAX_SEGMENTS);
    for (uint32_t i = 0; i < facts.segment_count; i++) {
        sstore_segment_statistics segment = {.struct_size = sizeof segment};
        assert_ok(sstore_stat_segment(store, i, &segment, &error), &error);
        snprintf(folders_out[i], sizeof folders_out[i], "%s", segment.folder);
    }
    sstore_close(store);
    return facts.segment_count;
}

static void patient_make(patient *self, uint64_t seed, data_ids ids, bool changed)
{
    damage_store_make(&self->store, seed, 256, ids, changed);
    snprintf(self->saved, sizeof self->saved, "%s", scratch_path("saved"));
    folder_copy(self->store.path, self->saved);
    self->segment_count = list_segments(self->store.path, self->folders);
    self->random = rng_seeded(seed);
}

static void put_back(patient *self)
{
    scratch_remove(self->store.path);
    folder_copy(self->saved, self->store.path);
}

static void patient_free(patient *self)
{
    damage_store_free(&self->store);
    scratch_remove(self->saved);
}

static const char *file_of(const patient *self, uint32_t segment, const char *name)
{
    static char path[2][512];
    static unsigned turn;
    char *to = path[turn++ % 2];
    snprintf(to, sizeof path[0], "%s/%s/%s", self->store.path, self->folders[segment], name);
    return to;
}

static void must_reindex(const char *path, bool all, uint32_t wanted)
{
    uint32_t made = UINT32_MAX;
    sstore_error error = {.status = SSTORE_OK};
    sstore_reindex_options options = SSTORE_REINDEX_OPTIONS_INIT;
    options.all = all;
    assert_ok(sstore_reindex(path, &options, &made, &error), &error);
    assert_int_equal(made, wanted);
}

/* Opening fails, and the message tells what to do. */
static void check_advice(const char *path)
{
    sstore *store;
    sstore_error error = {.status = SSTORE_OK};
    assert_status(sstore_open(path, NULL, &store, &error), SSTORE_ERROR_DAMAGED, &error);
    assert_non_null(strstr(error.message, "sstore_reindex()"));
}

/* The store has the files that it had, by segments, and no others. */
static void check_files(const char *path, const char *saved, char saved_folders[MAX_SEGMENTS][32],
                        uint32_t segment_count)
{
    char folders[MAX_SEGMENTS][32], left[512], right[512];
    assert_int_equal(list_segments(path, folders), segment_count);
    for (uint32_t i = 0; i < segment_count; i++) {
        snprintf(left, sizeof left, "%s/%s", path, folders[i]);
        snprintf(right, sizeof right, "%s/%s", saved, saved_folders[i]);
        assert_true(folders_equal(left, right, ""));
    }
    file_list files = file_list_make(path, ""), wanted = file_list_make(saved, "");
    assert_int_equal(files.count, wanted.count);
    file_list_free(&files);
    file_list_free(&wanted);
}

static void check_cured(patient *self)
{
    sstore_error error = {.status = SSTORE_OK};
    check_files(self->store.path, self->saved, self->folders, self->segment_count);
    damage_check_whole(&self->store);
    const char *manifest = scratch_path("%s/MANIFEST", strrchr(self->store.path, '/') + 1);
    file_bytes before = file_load(manifest);
    must_reindex(self->store.path, false, 0); /* nothing is left to do */
    file_bytes after = file_load(manifest);
    assert_int_equal(before.size, after.size);
    assert_memory_equal(before.data, after.data, before.size);
    file_bytes_free(&before);
    file_bytes_free(&after);
    assert_ok(sstore_verify(self->store.path, NULL, NULL, NULL, &error), &error);
}

/* ----- directories ----- */

/* Each directory in each way; then several of them. */
static void lose_each(patient *self)
{
    for (int how = 0; how < LOSS_COUNT; how++)
        for (uint32_t segment = 0; segment < self->segment_count; segment++) {
            testing_doing("directory %" PRIu32 " is %s", segment, directory_loss_name((directory_loss)how));
            directory_lose(file_of(self, segment, DIRECTORY), (directory_loss)how, &self->random);
            check_advice(self->store.path);
            must_reindex(self->store.path, false, 1);
            if (how == LOSS_FOLDER) /* foreign files are not removed */
                scratch_remove(scratch_path("%s/%s", strrchr(self->store.path, '/') + 1, self->folders[segment]));
            check_cured(self);
            put_back(self);
        }
}

static void lose_several(patient *self)
{
    for (unsigned lost = 0; lost < 1u << self->segment_count; lost++) {
        testing_doing("directories %x are lost", lost);
        for (uint32_t segment = 0; segment < self->segment_count; segment++)
            if ((lost & 1u << segment) != 0)
                directory_lose(file_of(self, segment, DIRECTORY), segment % 2 == 0 ? LOSS_GONE : LOSS_BIT,
                               &self->random);
        must_reindex(self->store.path, false, (uint32_t)__builtin_popcount(lost));
        check_cured(self);
        put_back(self);
        testing_doing("directories %x are lost, and all are made again", lost);
        must_reindex(self->store.path, true, self->segment_count);
        check_cured(self);
        put_back(self);
    }
}

/* Directories of two segments, exchanged. */
static void exchange(patient *self)
{
    for (uint32_t i = 1; i < self->segment_count; i++) {
        testing_doing("the directories of segments 0 and %" PRIu32 " are exchanged", i);
        assert_int_equal(rename(file_of(self, 0, DIRECTORY), scratch_path("kept")), 0);
        assert_int_equal(rename(file_of(self, i, DIRECTORY), file_of(self, 0, DIRECTORY)), 0);
        assert_int_equal(rename(scratch_path("kept"), file_of(self, i, DIRECTORY)), 0);
        check_advice(self->store.path);
        must_reindex(self->store.path, false, 2);
        check_cured(self);
        put_back(self);
    }
}

static void test_lost_directories(void **state)
{
    for (int kind = 0; kind < 5; kind++) {
        const bool changed = kind >= 3;
        const data_ids ids = changed ? (kind == 3 ? DATA_IDS : DATA_NO_IDS) : (data_ids)kind;
        patient now;
        patient_make(&now, run_seed + (uint64_t)kind, ids, changed);
        lose_each(&now);
        lose_several(&now);
        exchange(&now);
        patient_free(&now);
    }
    testing_done();
}

/* The directories of segments of several words, and of their word indexes. */
static void test_lost_directories_of_words(void **state)
{
    patient now;
    widened_words = 2;
    patient_make(&now, run_seed, run_seed % 2 == 0 ? DATA_IDS : DATA_NO_IDS, true);
    lose_several(&now);
    exchange(&now);
    for (int how = 0; how < LOSS_COUNT; how++)
        for (uint32_t i = 0; i < 4; i++) { /* of two segments that add */
            const char *names[] = {"word-00/" DIRECTORY, "word-01/" DIRECTORY};
            testing_doing("%s of segment %" PRIu32 " is %s", names[i % 2], i / 2,
                          directory_loss_name((directory_loss)how));
            directory_lose(file_of(&now, i / 2, names[i % 2]), (directory_loss)how, &now.random);
            check_advice(now.store.path);
            must_reindex(now.store.path, false, 1);
            if (how == LOSS_FOLDER) /* foreign files are not removed */
                scratch_remove(scratch_path("%s/%s", strrchr(now.store.path, '/') + 1, now.folders[i / 2]));
            check_cured(&now);
            put_back(&now);
        }
    patient_free(&now);
    widened_words = 1;
    testing_done();
}

/* ----- block files ----- */

/* It fails, names the file, and leaves all as it is. `wanted` is what there is. */
static void check_refused(const patient *self, const char *name, const char *wanted)
{
    sstore_error error = {.status = SSTORE_OK};
    const char *folder = self->store.path;
    assert_status(sstore_reindex(folder, NULL, NULL, &error), SSTORE_ERROR_DAMAGED, &error);
    if (strstr(error.file, name) == NULL)
        fail_msg("it names %s: %s", error.file, error.message);
    assert_true(folders_equal(folder, wanted, ""));
}

/* Damage a block file of a segment without directory in many places, and cut it. */
static void damage_blocks(patient *self, uint32_t segment, const char *name)
{
    const char *path = scratch_path("%s/%s/%s", strrchr(self->store.path, '/') + 1, self->folders[segment], name);
    char wanted[256];
    file_bytes content = file_load(path);
    const size_t step = testing_long() ? 1 : content.size / (testing_sanitized() ? 10 : 40) + 1;
    snprintf(wanted, sizeof wanted, "%s", scratch_path("wanted"));
    for (size_t at = 0; at < content.size; at += 1 + rng_below(&self->random, 2 * step)) {
        const uint8_t flipped = (uint8_t)(content.data[at] ^ 1u << rng_below(&self->random, 8));
        testing_doing("%s of segment %" PRIu32 ": a bit at %zu", name, segment, at);
        file_patch(path, at, &flipped, 1);
        folder_copy(self->store.path, wanted);
        check_refused(self, name, wanted);
        scratch_remove(wanted);
        file_patch(path, at, &content.data[at], 1);
    }
    testing_doing("%s of segment %" PRIu32 " is cut", name, segment);
    file_save(path, content.data, content.size - 256);
    folder_copy(self->store.path, wanted);
    check_refused(self, name, wanted);
    scratch_remove(wanted);
    testing_doing("%s of segment %" PRIu32 " is gone", name, segment);
    assert_int_equal(unlink(path), 0);
    folder_copy(self->store.path, wanted);
    check_refused(self, name, wanted);
    scratch_remove(wanted);
    file_save(path, content.data, content.size);
    file_bytes_free(&content);
}

static void test_damaged_blocks(void **state)
{
    patient now;
    patient_make(&now, run_seed, DATA_IDS, true);
    for (uint32_t segment = 0; segment < now.segment_count; segment++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", now.store.path, now.folders[segment]);
        file_list files = file_list_make(path, ".blk");
        assert_true(files.count >= 2);
        assert_int_equal(unlink(file_of(&now, segment, DIRECTORY)), 0);
        for (size_t i = 0; i < files.count; i++)
            damage_blocks(&now, segment, files.names[i]);
        file_list_free(&files);
        put_back(&now);
    }
    patient_free(&now);
    testing_done();
}

/* A missing block file is reported, whatever else is lost. */
static void test_lost_folder(void **state)
{
    patient now;
    patient_make(&now, run_seed, DATA_IDS, true);
    for (int lost = 0; lost < 2; lost++) {
        if (lost != 0)
            assert_int_equal(unlink(file_of(&now, 0, DIRECTORY)), 0);
        scratch_remove(file_of(&now, 1, ""));
        char wanted[256];
        snprintf(wanted, sizeof wanted, "%s", scratch_path("wanted"));
        folder_copy(now.store.path, wanted);
        check_refused(&now, now.folders[1], wanted);
        scratch_remove(wanted);
        put_back(&now);
    }
    patient_free(&now);
}

/* ----- readers ----- */

/* Open readers are not disturbed, and reopening shows the same records. */
static void test_open_store(void **state)
{
    patient now;
    patient_make(&now, run_seed, DATA_IDS, true);
    for (int io = SSTORE_IO_PREAD; io <= SSTORE_IO_MEMORY; io++) {
        sstore_error error = {.status = SSTORE_OK};
        sstore *before = store_must_open(now.store.path, (sstore_io)io, SSTORE_STRATEGY_PROBE), *after;
        directory_lose(file_of(&now, 1, DIRECTORY), LOSS_BIT, &now.random);
        must_reindex(now.store.path, false, 1);
        assert_ok(sstore_reopen(before, &after, &error), &error);
        for (int i = 0; i < 2; i++) {
            sstore_cursor *cursor = store_must_cursor(i == 0 ? before : after);
            for (size_t j = 0; j < DAMAGE_QUERIES; j++) {
                const damage_query *query = &now.store.queries[j];
                matches got = {0};
                assert_ok(store_query_sorted(cursor, query->fingerprint, query->distance, &got, &error), &error);
                assert_true(matches_equal(&got, &query->answer));
                matches_free(&got);
            }
            sstore_cursor_free(cursor);
        }
        sstore_close(before);
        sstore_close(after);
        put_back(&now);
    }
    patient_free(&now);
}

/* ----- stores of other shapes ----- */

typedef struct shape {
    size_t count;
    data_ids ids;
    const char *plan;
    uint32_t block_bytes;
    bool id_index;
} shape;

/* A store of one build; its directory is lost. */
static void check_shape(const shape *self, uint64_t seed)
{
    const char *name = "shaped";
    char path[256], saved[256], folders[MAX_SEGMENTS][32];
    data_set data;
    rng random = rng_seeded(seed);
    sstore_error error = {.status = SSTORE_OK};
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    testing_doing("%zu records, %s, plan %s, blocks of %" PRIu32, self->count, data_ids_name(self->ids), self->plan,
                  self->block_bytes);
    data_make(&random, DATA_UNIFORM, self->ids, self->count, self->count < 10000, &data);
    options.plan = self->plan;
    options.block_bytes = self->block_bytes;
    options.id_index = self->id_index;
    stores_are_named = self->id_index && self->count != 1;
    snprintf(path, sizeof path, "%s", scratch_path("%s", name));
    snprintf(saved, sizeof saved, "%s", scratch_path("shaped-saved"));
    assert_ok(store_build(path, &options, &data, 0, &error), &error);
    stores_are_named = false;
    folder_copy(path, saved);
    const uint32_t count = list_segments(path, folders);
    directory_lose(scratch_path("%s/%s/" DIRECTORY, name, folders[0]), LOSS_GONE, &random);
    check_advice(path);
    must_reindex(path, false, 1);
    check_files(path, saved, folders, count);
    assert_ok(sstore_verify(path, NULL, NULL, NULL, &error), &error);
    data_free(&data);
    scratch_remove(path);
    scratch_remove(saved);
}

static void test_shapes(void **state)
{
    static const shape shapes[] = {{0, DATA_IDS, "auto", 4096, true},      {0, DATA_NO_IDS, "20", 256, false},
                                   {1, DATA_IDS, "4", 256, true},          {1, DATA_NO_IDS, "1", 65536, false},
                                   {5, DATA_ASSIGNED, "2", 256, true},     {3000, DATA_IDS, "20", 256, true},
                                   {3000, DATA_NO_IDS, "16", 512, false},  {9000, DATA_IDS, "5c2", 4096, false},
                                   {9000, DATA_ASSIGNED, "3", 1024, true}, {9000, DATA_NO_IDS, "64:3", 65536, false}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        check_shape(&shapes[i], run_seed + i);
    testing_done();
}

/* More blocks than an entry of the directory holds. */
static void test_many_blocks(void **state)
{
    if (testing_sanitized() && !testing_long())
        skip();
    check_shape(&(shape){3000000, DATA_NO_IDS, "2", 256, false}, run_seed);
    testing_done();
}

/* Segments of one id, since the same records were added twice: each gets its own folder. */
static void test_equal_segments(void **state)
{
    char path[256], folders[MAX_SEGMENTS][32], again[MAX_SEGMENTS][32];
    data_set data;
    rng random = rng_seeded(run_seed);
    record_set truth;
    sstore_error error = {.status = SSTORE_OK};
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    snprintf(path, sizeof path, "%s", scratch_path("twice"));
    data_make(&random, DATA_CLUSTERED, DATA_IDS, 500, true, &data);
    truth = record_set_of_data(&data);
    options.plan = "2";
    assert_ok(store_build(path, &options, &data, 0, &error), &error);
    for (int removes = 1; removes >= 0; removes--) {
        assert_ok(removes ? store_remove(path, NULL, data.fingerprints, data.ids, data.count, NULL, &error)
                          : store_add(path, NULL, data.fingerprints, data.ids, data.count, NULL, &error),
                  &error);
    }
    assert_int_equal(list_segments(path, folders), 3);
    assert_memory_equal(folders[0], folders[2], 15); /* but for the last digits */
    for (uint32_t i = 0; i < 3; i++)
        directory_lose(scratch_path("twice/%s/" DIRECTORY, folders[i]), (directory_loss)i, &random);
    must_reindex(path, false, 3);
    assert_int_equal(list_segments(path, again), 3);
    assert_string_not_equal(again[0], again[2]);
    assert_ok(sstore_verify(path, NULL, NULL, NULL, &error), &error);
    sstore *store = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    bool right;
    size_t count;
    assert_ok(store_compare_records(store, &truth, &right, &count, &error), &error);
    assert_true(right && count == truth.count);
    sstore_close(store);
    record_set_free(&truth);
    data_free(&data);
    scratch_remove(path);
}

/* ----- callers ----- */

static int stop_at_once(void *context, const sstore_progress *progress)
{
    assert_string_equal(progress->phase, "indexing");
    assert_in_range(progress->done, 1, progress->total);
    assert_true(progress->fraction > 0 && progress->fraction <= 1);
    ++*(uint32_t *)context;
    return 1;
}

typedef struct seen {
    double fraction;
    uint32_t calls;
} seen;

static int watch(void *context, const sstore_progress *progress)
{
    seen *self = context;
    assert_true(progress->fraction >= self->fraction && progress->fraction <= 1);
    self->fraction = progress->fraction;
    self->calls++;
    return 0;
}

static void test_progress(void **state)
{
    patient now;
    sstore_error error = {.status = SSTORE_OK};
    sstore_reindex_options options = SSTORE_REINDEX_OPTIONS_INIT;
    uint32_t made = 77, stops = 0;
    char wanted[256];
    patient_make(&now, run_seed, DATA_IDS, true);
    snprintf(wanted, sizeof wanted, "%s", scratch_path("wanted"));
    for (uint32_t i = 0; i < now.segment_count; i++)
        assert_int_equal(unlink(file_of(&now, i, DIRECTORY)), 0);
    folder_copy(now.store.path, wanted);
    options.on_progress = stop_at_once;
    options.progress_context = &stops;
    assert_status(sstore_reindex(now.store.path, &options, &made, NULL), SSTORE_STOPPED, NULL);
    assert_int_equal(stops, 1);
    assert_int_equal(made, 77);
    assert_true(folders_equal(now.store.path, wanted, ""));
    seen watched = {.calls = 0};
    options.on_progress = watch;
    options.progress_context = &watched;
    assert_ok(sstore_reindex(now.store.path, &options, &made, &error), &error);
    assert_int_equal(made, now.segment_count);
    assert_true(watched.calls > now.segment_count);
    assert_true(watched.fraction > 0.999);
    check_cured(&now);
    scratch_remove(wanted);
    patient_free(&now);
}

static void test_refusals(void **state)
{
    patient now;
    sstore_builder *builder;
    sstore_error error = {.status = SSTORE_OK};
    sstore_reindex_options options = SSTORE_REINDEX_OPTIONS_INIT;
    patient_make(&now, run_seed, DATA_IDS, false);
    assert_status(sstore_reindex(NULL, NULL, NULL, &error), SSTORE_ERROR_ARGUMENT, &error);
    options.struct_size--;
    assert_status(sstore_reindex(now.store.path, &options, NULL, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_reindex(scratch_path("nowhere"), NULL, NULL, &error), SSTORE_ERROR_NOT_FOUND, &error);
    assert_status(sstore_reindex(scratch_folder(), NULL, NULL, &error), SSTORE_ERROR_NOT_FOUND, &error);
    assert_ok(sstore_builder_create_addition(now.store.path, &change_apart, &builder, &error), &error);
    assert_status(sstore_reindex(now.store.path, NULL, NULL, &error), SSTORE_ERROR_BUSY, &error);
    sstore_builder_abort(builder);
    const uint8_t changed = 1;
    file_patch(scratch_path("%s/MANIFEST", strrchr(now.store.path, '/') + 1), 70, &changed, 1);
    assert_status(sstore_reindex(now.store.path, NULL, NULL, &error), SSTORE_ERROR_DAMAGED, &error);
    assert_non_null(strstr(error.file, "MANIFEST"));
    patient_free(&now);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_lost_directories, testing_teardown),
        cmocka_unit_test_teardown(test_lost_directories_of_words, testing_teardown),
        cmocka_unit_test_teardown(test_damaged_blocks, testing_teardown),
        cmocka_unit_test(test_lost_folder),
        cmocka_unit_test(test_open_store),
        cmocka_unit_test_teardown(test_shapes, testing_teardown),
        cmocka_unit_test_teardown(test_many_blocks, testing_teardown),
        cmocka_unit_test(test_equal_segments),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
