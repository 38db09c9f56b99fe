/*
 * fuzz_join.c - joins of stores that are valid or have one defect: with themselves, with a valid store on either side,
 * and clusters. Valid stores must give the pairs of brute force. Any other store must give the same pairs, or the call
 * must report damage. If the call does not notice the defect, it must report no wrong pair, and none twice. Every call
 * must end.
 *   1 byte: which join; then the store, as support/invalid_store.c takes it
 */
#include "output/walk.h"
#include "support/fuzzing.h"
#include "support/record_pairs.h"
#include "support/scratch.h"
#include "support/store_case.h"
#include "support/use_store.h"

/* What a join reads. */
#define JOINING (BROKEN_CONTENT | BROKEN_DIRECTORY | BROKEN_COUNTS)

typedef struct session {
    store_case left, right; /* the right one is valid */
    sstore *left_store, *right_store;
    sstore_join_options options;
    uint32_t distance;
} session;

static int take_pair(void *context, const sstore_pair *pair)
{
    found_pairs_add(context, pair);
    return 0;
}

/* Each pair must be right and reported once, in the documented order; if `exact`, all pairs. */
static void check_pairs(const session *self, const store_case *left, const store_case *right, const found_pairs *got,
                        bool exact)
{
    record_pairs wanted = {0};
    for (size_t i = 0; i < got->count; i++) {
        const found_pair *pair = &got->items[i];
        STORE_CASE_CHECK(&self->left, i == 0 || found_pair_compare(pair - 1, pair) < 0);
        STORE_CASE_CHECK(&self->left, pair->distance <= self->distance &&
                                          pair->distance == (uint32_t)__builtin_popcountll(pair->fingerprint ^
                                                                                           pair->other_fingerprint));
        STORE_CASE_CHECK(&self->left, reference_store_may_report(left->truth, pair->fingerprint, pair->id));
        STORE_CASE_CHECK(&self->left,
                         reference_store_may_report(right->truth, pair->other_fingerprint, pair->other_id));
    }
    if (exact) {
        wanted = record_set_pairs(&left->truth->truth, &right->truth->truth, self->distance, SIZE_MAX - 1);
        STORE_CASE_CHECK(&self->left, wanted.count == got->count);
        for (size_t i = 0; i < wanted.count; i++)
            STORE_CASE_CHECK(&self->left, found_pair_is(&got->items[i], &wanted.items[i]));
    }
    free(wanted.items);
}

static void pair_up(session *self)
{
    found_pairs got = {0};
    sstore_error error;
    step_count_begin("pairs");
    const sstore_status status = walk_pairs(self->left_store, NULL, &self->options, take_pair, &got, &error);
    const bool ok = store_case_ok(&self->left, status, &error);
    check_pairs(self, &self->left, &self->left, &got, ok && store_case_keeps(&self->left, JOINING));
    free(got.items);
}

static void join(session *self, bool swapped)
{
    found_pairs got = {0};
    sstore_error error;
    const store_case *left = swapped ? &self->right : &self->left, *right = swapped ? &self->left : &self->right;
    const sstore *left_store = swapped ? self->right_store : self->left_store;
    const sstore *right_store = swapped ? self->left_store : self->right_store;
    step_count_begin("join");
    const sstore_status status = walk_pairs(left_store, right_store, &self->options, take_pair, &got, &error);
    const bool ok = store_case_ok(&self->left, status, &error);
    check_pairs(self, left, right, &got, ok && store_case_keeps(&self->left, JOINING));
    free(got.items);
}

static void join_itself(session *self)
{
    record_pairs wanted = {0};
    found_pairs got = {0};
    sstore *again = NULL;
    sstore_error error;
    step_count_begin("reopen");
    if (store_case_ok(&self->left, sstore_reopen(self->left_store, &again, &error), &error)) {
        step_count_begin("join with itself");
        const sstore_status status = walk_pairs(self->left_store, again, &self->options, take_pair, &got, &error);
        const bool ok = store_case_ok(&self->left, status, &error);
        check_pairs(self, &self->left, &self->left, &got, false);
        if (ok && store_case_keeps(&self->left, JOINING)) {
            /* Each pair of records in both directions, and each record with itself. */
            const record_set *truth = &self->left.truth->truth;
            wanted = record_set_pairs(truth, truth, self->distance, SIZE_MAX - 1);
            STORE_CASE_CHECK(&self->left, got.count == 2 * wanted.count + truth->count);
        }
    }
    sstore_close(again);
    free(got.items);
    free(wanted.items);
}

/* ----- clusters ----- */

/* The fingerprint is kept, since that of the record is lost. */
typedef struct member {
    uint64_t fingerprint;
    cluster_record record;
} member;

typedef struct clustered {
    member *items;
    size_t count;
} clustered;

static int take_clustered(void *context, const cluster_record *record)
{
    clustered *list = context;
    if ((list->count & (list->count + 1)) == 0) { /* room for one less than a power of two */
        list->items = realloc(list->items, (2 * list->count + 2) * sizeof *list->items);
        FUZZ_CHECK(list->items != NULL);
    }
    list->items[list->count++] = (member){*record->fingerprint, *record};
    return 0;
}

/* With singles: all records, each cluster's together, numbered in the order of their smallest fingerprints. */
static void check_clusters(const session *self, const clustered *got)
{
    const record_clusters wanted = record_set_clusters(&self->left.truth->truth, self->distance, true);
    STORE_CASE_CHECK(&self->left, got->count == wanted.count);
    for (size_t i = 0; i < got->count; i++) {
        const cluster_record *record = &got->items[i].record, *right = &wanted.items[i];
        STORE_CASE_CHECK(&self->left, got->items[i].fingerprint == *right->fingerprint && record->id == right->id);
        STORE_CASE_CHECK(&self->left, record->cluster == right->cluster && record->cluster_size == right->cluster_size);
        STORE_CASE_CHECK(&self->left, record->distance == right->distance);
        STORE_CASE_CHECK(&self->left, record->is_representative == right->is_representative);
    }
    free(wanted.items);
}

static void find_clusters(session *self)
{
    clustered got = {.count = 0};
    record_set records = {.count = 0};
    sstore_error error;
    step_count_begin("clusters");
    const sstore_cluster_options options = options_to_cluster(&self->options, true);
    const sstore_status status = walk_clusters(self->left_store, &options, take_clustered, &got, &error);
    const bool ok = store_case_ok(&self->left, status, &error), exact = ok && store_case_keeps(&self->left, JOINING);
    for (size_t i = 0; i < got.count; i++)
        record_set_put(&records, &got.items[i].fingerprint, got.items[i].record.id);
    store_case_check_records(&self->left, &records, exact);
    if (exact && got.count <= 300) /* finding roots here is slow */
        check_clusters(self, &got);
    record_set_free(&records);
    free(got.items);
}

/* ----- the target ----- */

/* Like the other store, but with other records and without its defect. */
static void make_right(session *self)
{
    store_case *right = &self->right;
    right->plan = self->left.plan;
    right->defect = (store_defect){.kind = DEFECT_NONE};
    right->plan.segment_count = 1;
    right->plan.segments[0].removes = false;
    right->plan.segments[0].count /= 2;
    right->plan.segments[0].seed++;
    snprintf(right->path, sizeof right->path, "%s", scratch_path("right"));
    right->made = invalid_store_make(&right->plan, &right->defect);
    right->truth = reference_store_read(&right->made);
    scratch_remove(right->path);
    edited_write(&right->made, right->path);
}

static bool open_store(const store_case *self, sstore **store_out)
{
    sstore_error error;
    step_count_begin("open");
    return store_case_ok(self, sstore_open(self->path, NULL, store_out, &error), &error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input input = {.at = data, .left = size};
    const uint32_t what = (uint32_t)fuzz_take(&input, 1);
    session self = {.options = SSTORE_JOIN_OPTIONS_INIT};
    store_case_make(&self.left, "left", &input);
    make_right(&self);
    self.distance = what / 5 % 4 + (what >= 250 ? 13 : 0);
    self.options.distance = self.distance;
    self.options.threads = 1;
    self.options.memory_bytes = 8 << 20;
    self.options.tmp_dir = scratch_folder();
    if (open_store(&self.left, &self.left_store) && open_store(&self.right, &self.right_store))
        switch (what % 5) {
        case 0: pair_up(&self); break;
        case 1: join(&self, false); break;
        case 2: join(&self, true); break;
        case 3: join_itself(&self); break;
        default: find_clusters(&self); break;
        }
    sstore_close(self.left_store);
    sstore_close(self.right_store);
    (void)step_count_end();
    store_case_free(&self.left);
    store_case_free(&self.right);
    return 0;
}
