/*
 * fuzz_change.c - a change of a store that is valid or has one defect: merging, sharding, compacting, adding, removing,
 * inserting what is new, rebuilding directories. After success the written segments must be in order and have exactly
 * the wanted records; a store that is rewritten as a whole must be in order even if the old one was not. After a
 * failure the store must be unchanged. Every call must end.
 *   1 byte: which change; then the store, as support/invalid_store.c takes it
 */
#include "support/fuzzing.h"
#include "support/scratch.h"
#include "support/store_case.h"
#include "support/use_store.h"

#define GIVEN 24u /* records to add or remove */
#define SHARDS 2u

/* Defects of the old segments by which a change may fail to find records that it looks up. */
#define LOOKING_UP (BROKEN_CONTENT | BROKEN_OTHER_TABLES | BROKEN_DIRECTORY | BROKEN_COUNTS)

typedef struct session {
    store_case made;
    record_set given, wanted; /* records */
} session;

static sstore_write_options build_options(void)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.threads = 1;
    options.memory_bytes = 4 << 20;
    options.plan = "32:8,32:8"; /* complete for any distance; choosing a plan would take most of the time */
    options.ignore_free_space = true;
    return options;
}

/* ----- what was written ----- */

static void verify(const session *self, const char *path)
{
    sstore_error error;
    step_count_begin("verify");
    const sstore_status status = sstore_verify(path, NULL, NULL, NULL, &error);
    if (status != SSTORE_OK)
        fprintf(stderr, "%s\n", error.message);
    STORE_CASE_CHECK(&self->made, status == SSTORE_OK);
}

/* A store that was written as a whole. */
static void check_new(const session *self, const char *path, const record_set *wanted)
{
    edited_store written = edited_load(path);
    reference_store *result = reference_store_read(&written);
    if (!IS_VALID(result->broken))
        fprintf(stderr, "what was written: %s\n", result->first_reason);
    STORE_CASE_CHECK(&self->made, IS_VALID(result->broken));
    STORE_CASE_CHECK(&self->made, record_set_equal(&result->truth, wanted));
    reference_store_free(result);
    edited_free(&written);
    verify(self, path);
    scratch_remove(path);
}

static bool was_there(const session *self, const char *folder)
{
    for (uint32_t i = 0; i < self->made.made.segment_count; i++)
        if (strcmp(self->made.made.segments[i].folder, folder) == 0)
            return true;
    return false;
}

/* A changed store: each new segment must be valid. If the old store was valid, or breaks none of `rules`, the whole
 * store must be as valid as before, with the wanted records. */
static void check_changed(const session *self, uint32_t rules)
{
    edited_store written = edited_load(self->made.path);
    reference_store *result = reference_store_read(&written);
    for (uint32_t i = 0; i < result->segment_count; i++)
        STORE_CASE_CHECK(&self->made,
                         was_there(self, written.segments[i].folder) || IS_VALID(result->segments[i].broken));
    if (store_case_keeps(&self->made, rules)) {
        STORE_CASE_CHECK(&self->made, (result->broken & BROKEN_CONTENT) == 0);
        STORE_CASE_CHECK(&self->made, record_set_equal(&result->truth, &self->wanted));
    }
    if (store_case_is_valid(&self->made)) {
        STORE_CASE_CHECK(&self->made, IS_VALID(result->broken));
        verify(self, self->made.path);
    }
    reference_store_free(result);
    edited_free(&written);
}

static void check_file(const session *self, const char *folder, const char *name, const uint8_t *data, size_t size)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s%s%s", self->made.path, folder, folder[0] != '\0' ? "/" : "", name);
    STORE_CASE_CHECK(&self->made, scratch_exists(path));
    file_bytes now = file_load(path);
    STORE_CASE_CHECK(&self->made, now.size == size && memcmp(now.data, data, size) == 0);
    file_bytes_free(&now);
}

/* A failed change leaves everything as it was. */
static void check_unchanged(const session *self)
{
    const edited_store *was = &self->made.made;
    check_file(self, "", "MANIFEST", was->manifest, was->manifest_bytes);
    for (uint32_t i = 0; i < was->segment_count; i++) {
        const edited_segment *edited = &was->segments[i];
        check_file(self, edited->folder, "directory.mdb", edited->directory, edited->directory_bytes);
        for (uint32_t file = 0; file < EDITED_MAX_FILES; file++) {
            char name[32] = "ids.blk";
            if (file != EDITED_IDS)
                snprintf(name, sizeof name, "table-%02u.blk", file);
            if (edited->files[file].bytes != NULL)
                check_file(self, edited->folder, name, edited->files[file].bytes, edited->files[file].size);
        }
    }
}

/* Check a change in place. */
static void check_change(const session *self, sstore_status status, const sstore_error *error, uint32_t rules)
{
    if (store_case_written(&self->made, status, error))
        check_changed(self, rules);
    else
        check_unchanged(self);
}

/* ----- changes ----- */

/* A call that reads all records may succeed only if the store's records are known. */
static void check_read_all(const session *self, bool ok)
{
    STORE_CASE_CHECK(&self->made, !ok || store_case_keeps(&self->made, BROKEN_CONTENT));
}

static void merge(session *self)
{
    const sstore_write_options as_built = build_options();
    const sstore_write_options options = options_to_merge(&as_built);
    const char *const inputs[] = {self->made.path};
    sstore_error error;
    char merged[300];
    snprintf(merged, sizeof merged, "%s-merged", self->made.path);
    step_count_begin("merge");
    const bool ok = store_case_written(&self->made, sstore_merge(merged, inputs, 1, &options, NULL, &error), &error);
    check_read_all(self, ok);
    if (ok)
        check_new(self, merged, &self->made.truth->truth);
    STORE_CASE_CHECK(&self->made, !scratch_exists(merged));
    check_unchanged(self);
}

/* The shards together have the records of the store. */
static void shard(session *self)
{
    const sstore_write_options as_built = build_options();
    const sstore_write_options options = options_to_merge(&as_built);
    bool all = true;
    for (uint32_t i = 0; i < SHARDS; i++) {
        sstore_error error;
        char path[300];
        snprintf(path, sizeof path, "%s-shard", self->made.path);
        step_count_begin("shard");
        const sstore_status status = store_shard(path, self->made.path, i, SHARDS, &options, NULL, &error);
        const bool ok = store_case_written(&self->made, status, &error);
        check_read_all(self, ok);
        all &= ok;
        if (ok) {
            edited_store written = edited_load(path);
            reference_store *result = reference_store_read(&written);
            record_set copy = {.count = 0};
            record_set_append(&self->wanted, &result->truth, 0, result->truth.count);
            record_set_append(&copy, &result->truth, 0, result->truth.count);
            reference_store_free(result);
            edited_free(&written);
            check_new(self, path, &copy);
            record_set_free(&copy);
        }
        STORE_CASE_CHECK(&self->made, !scratch_exists(path));
    }
    record_set_sort(&self->wanted);
    STORE_CASE_CHECK(&self->made, !all || record_set_equal(&self->wanted, &self->made.truth->truth));
    check_unchanged(self);
}

static void want_all(session *self)
{
    record_set_append(&self->wanted, &self->made.truth->truth, 0, self->made.truth->truth.count);
}

static void compact(session *self, sstore_compaction which, uint32_t block_bytes)
{
    const sstore_write_options as_built = build_options();
    sstore_write_options options = options_to_compact(&as_built);
    sstore_error error;
    options.block_bytes = block_bytes;
    want_all(self);
    step_count_begin("compact");
    const sstore_status status = sstore_compact(self->made.path, which, &options, NULL, &error);
    if (which == SSTORE_COMPACTION_ALL)
        check_read_all(self, status == SSTORE_OK);
    check_change(self, status, &error, BROKEN_CONTENT);
}

/* Some of the records that these stores can have. */
static void choose_given(session *self)
{
    for (uint32_t i = 0; i < GIVEN; i++) {
        const uint32_t universe = self->made.plan.universe;
        const uint64_t fingerprint = i % 8 == 7 ? self->made.made.queries[i % 16]
                                                : sample_fingerprint(universe, i + self->made.defect.at);
        const uint64_t id = self->made.plan.has_ids ? sample_id(universe, i) : 0;
        record_set_put(&self->given, &fingerprint, id);
    }
    record_set_sort(&self->given);
}

/* What happens to the given records; REPLACE and REMOVE_IDS need a store with ids. */
typedef enum given_change { ADD, REPLACE, REMOVE, REMOVE_IDS } given_change;

static void want_changed(session *self, given_change what)
{
    const bool by_ids = what == REPLACE || what == REMOVE_IDS;
    const record_set *before = &self->made.truth->truth;
    for (size_t i = 0; i < before->count; i++) {
        bool is_named = record_set_has(&self->given, &before->fingerprints[i], before->ids[i]);
        for (size_t j = 0; by_ids && j < self->given.count; j++)
            is_named |= self->given.ids[j] == before->ids[i];
        if (what == ADD || !is_named)
            record_set_append(&self->wanted, before, i, i + 1);
    }
    if (what == ADD || what == REPLACE)
        record_set_append(&self->wanted, &self->given, 0, self->given.count);
    record_set_sort(&self->wanted);
    record_set_unique(&self->wanted);
}

static sstore_status remove_ids(const session *self, const uint64_t *ids, sstore_error *error)
{
    const sstore_write_options as_built = build_options();
    const sstore_write_options options = options_to_remove(&as_built);
    sstore_remover *remover;
    sstore_status status = sstore_remover_create(self->made.path, &options, &remover, error);
    if (status != SSTORE_OK)
        return status;
    status = sstore_remover_remove(remover, NULL, ids, GIVEN, error);
    if (status == SSTORE_OK)
        return sstore_remover_finish(remover, NULL, error);
    sstore_remover_abort(remover);
    return status;
}

static sstore_status build_change(const session *self, given_change what, sstore_error *error)
{
    const sstore_write_options as_built = build_options();
    sstore_write_options add = options_to_add(&as_built);
    const sstore_write_options remove = options_to_remove(&as_built);
    const uint64_t *fingerprints = self->given.fingerprints;
    const uint64_t *given_ids = self->made.plan.has_ids ? self->given.ids : NULL;
    add.replace_records = what == REPLACE;
    if (what == REMOVE_IDS)
        return remove_ids(self, given_ids, error);
    return what == REMOVE ? store_remove(self->made.path, &remove, fingerprints, given_ids, GIVEN, NULL, error)
                          : store_add(self->made.path, &add, fingerprints, given_ids, GIVEN, NULL, error);
}

static void change(session *self, given_change what)
{
    static const char *const names[] = {"add", "replace", "remove", "remove ids"};
    sstore_error error;
    if (!self->made.plan.has_ids)
        what = what == REPLACE ? ADD : what == REMOVE_IDS ? REMOVE : what;
    choose_given(self);
    want_changed(self, what);
    step_count_begin(names[what]);
    const sstore_status status = build_change(self, what, &error);
    check_change(self, status, &error, LOOKING_UP);
}

/* ----- inserting what is new ----- */

/* What was offered, and what of it was taken in before. */
typedef struct offers {
    session *self;
    record_set taken;
    uint64_t next; /* index of the record that is answered next */
    bool is_new[GIVEN], answered_new[GIVEN];
} offers;

static int take_answer(void *context, const sstore_dedup_answer *answer)
{
    offers *all = context;
    session *self = all->self;
    STORE_CASE_CHECK(&self->made, answer->index == all->next++ && answer->is_new == (answer->match_count == 0));
    all->answered_new[answer->index] = answer->is_new;
    STORE_CASE_CHECK(&self->made, *answer->fingerprint == self->given.fingerprints[answer->index]);
    for (size_t i = 0; i < answer->listed_count; i++) {
        const sstore_match *match = &answer->listed[i];
        bool is_taken = false;
        for (size_t j = 0; j < all->taken.count; j++)
            is_taken |= all->taken.fingerprints[j] == *match->fingerprint && all->taken.ids[j] == match->id;
        STORE_CASE_CHECK(&self->made,
                         is_taken || reference_store_may_report(self->made.truth, *match->fingerprint, match->id));
        if (i > 0) {
            const sstore_match *before = &answer->listed[i - 1];
            STORE_CASE_CHECK(&self->made, *before->fingerprint != *match->fingerprint || before->id != match->id);
        }
    }
    matches near = {0};
    record_set_query(&self->made.truth->truth, answer->fingerprint, self->made.truth->distance, 0, &near);
    record_set_query(&all->taken, answer->fingerprint, self->made.truth->distance, 0, &near);
    const size_t right = near.count;
    matches_free(&near);
    STORE_CASE_CHECK(&self->made, !store_case_is_valid(&self->made) || right == answer->match_count);
    if (answer->is_new)
        record_set_put(&all->taken, answer->fingerprint, answer->id);
    return 0;
}

static sstore_status offer(session *self, offers *all, sstore_error *error)
{
    const sstore_write_options as_built = build_options();
    const sstore_write_options options = options_to_dedup(&as_built);
    sstore_dedup *dedup;
    sstore_status status = sstore_dedup_open(self->made.path, &options, &dedup, error);
    if (status != SSTORE_OK)
        return status;
    status = sstore_dedup_insert(dedup, self->given.fingerprints, self->made.plan.has_ids ? self->given.ids : NULL,
                                 GIVEN, all->is_new, take_answer, all, error);
    for (uint64_t i = 0; status == SSTORE_OK && i < GIVEN; i++)
        STORE_CASE_CHECK(&self->made, all->is_new[i] == all->answered_new[i]);
    if (status == SSTORE_OK)
        status = sstore_dedup_publish(dedup, NULL, error);
    sstore_dedup_close(dedup);
    return status;
}

static void insert_new(session *self)
{
    offers all = {.self = self};
    sstore_error error;
    choose_given(self);
    step_count_begin("insert if new");
    const sstore_status status = offer(self, &all, &error);
    want_all(self);
    record_set_append(&self->wanted, &all.taken, 0, all.taken.count);
    record_set_sort(&self->wanted);
    check_change(self, status, &error, LOOKING_UP);
    record_set_free(&all.taken);
}

/* Rebuilt directories must be right, whatever the old ones were. */
static void reindex(session *self)
{
    sstore_reindex_options options = SSTORE_REINDEX_OPTIONS_INIT;
    sstore_error error;
    uint32_t made_count = 0;
    options.all = true;
    step_count_begin("reindex");
    const sstore_status status = sstore_reindex(self->made.path, &options, &made_count, &error);
    if (store_case_written(&self->made, status, &error)) {
        edited_store written = edited_load(self->made.path);
        reference_store *result = reference_store_read(&written);
        STORE_CASE_CHECK(&self->made, made_count == self->made.made.segment_count);
        STORE_CASE_CHECK(&self->made, (result->broken & (BROKEN_FRAME | BROKEN_OPENING | BROKEN_DIRECTORY)) == 0);
        STORE_CASE_CHECK(&self->made, (result->broken & ~self->made.truth->broken) == 0);
        if (store_case_keeps(&self->made, BROKEN_CONTENT))
            STORE_CASE_CHECK(&self->made, record_set_equal(&result->truth, &self->made.truth->truth));
        reference_store_free(result);
        edited_free(&written);
    } else {
        STORE_CASE_CHECK(&self->made,
                         !store_case_keeps(&self->made, ~(uint32_t)(BROKEN_DIRECTORY | BROKEN_FULL_CHECK)));
        check_unchanged(self);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input input = {.at = data, .left = size};
    const uint32_t what = (uint32_t)fuzz_take(&input, 1);
    session self = {.given = {.count = 0}};
    store_case_make(&self.made, "change", &input);
    switch (what % 11) {
    case 0: merge(&self); break;
    case 1: shard(&self); break;
    case 2: compact(&self, SSTORE_COMPACTION_ALL, 0); break;
    case 3: compact(&self, SSTORE_COMPACTION_ALL, 1024); break;
    case 4: compact(&self, SSTORE_COMPACTION_TIERS, 0); break;
    case 5: change(&self, ADD); break;
    case 6: change(&self, REMOVE); break;
    case 7: change(&self, REMOVE_IDS); break;
    case 8: insert_new(&self); break;
    case 10: change(&self, REPLACE); break;
    default: reindex(&self); break;
    }
    record_set_free(&self.given);
    record_set_free(&self.wanted);
    (void)step_count_end();
    store_case_free(&self.made);
    return 0;
}
