/*
 * record_join.c - one table's part of a join of records that are spread over many machines. The caller brought those
 * together that are equal in the table's key bits. They are sorted by the permuted fingerprint and the id, so that the
 * records of a key follow each other, and so do those of a fingerprint. Each key is joined as a group (group_join.h),
 * without the pairs that are equal in an earlier table's key.
 */
#include "base/error.h"
#include "base/iterator.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "join/group_join.h"
#include "plan/plan.h"
#include "sort/radix.h"
#include "sstore_join.h"

/* The records of one side, permuted and sorted, each once. */
typedef struct record_set {
    ss_record *records;
    size_t count;
    uint64_t *values;  /* the fingerprints of the current group, each once */
    size_t begin, end; /* of the group */
} record_set;

typedef struct record_join {
    ss_permutation permutation;
    uint32_t prefix_bits, table;
    ss_join_kind kind;
    record_set sets[2]; /* the second is empty but for SS_JOIN_CROSS */
    uint64_t *scratch;  /* of group_join */
    ss_group_join *group_join;
    ss_progress progress;
    sstore_pair_fn on_pair;
    void *context;
} record_join;

/* ----- keys ----- */

/* The key bits of a table: the 64 bits are cut into distance + 1 groups of adjacent bits, as evenly as possible. */
static uint64_t key_mask(uint32_t distance, uint32_t table)
{
    const uint32_t count = distance + 1;
    const uint32_t begin = SS_FINGERPRINT_BITS * table / count, end = SS_FINGERPRINT_BITS * (table + 1) / count;
    return (UINT64_MAX >> begin) & ~(end < SS_FINGERPRINT_BITS ? UINT64_MAX >> end : 0);
}

static sstore_status check_table(uint32_t distance, uint32_t table, sstore_error *error)
{
    const sstore_status status = ss_check_distance(1, distance, error);
    if (status == SSTORE_OK && table > distance)
        return ss_fail_argument(error, "the table is %u; at distance %u there are tables 0 to %u", table, distance,
                                distance);
    return status;
}

sstore_status sstore_join_keys(const uint64_t *fingerprints, size_t count, uint32_t distance, uint32_t table,
                               uint64_t *keys_out, sstore_error *error)
{
    const sstore_status status = check_table(distance, table, error);
    if (status != SSTORE_OK)
        return status;
    if (count > 0 && (fingerprints == NULL || keys_out == NULL))
        return ss_fail_argument(error, "sstore_join_keys: fingerprints and keys_out must not be NULL");
    const uint64_t mask = key_mask(distance, table);
    const uint32_t shift = (uint32_t)__builtin_ctzll(mask);
    for (size_t i = 0; i < count; i++)
        keys_out[i] = (fingerprints[i] & mask) >> shift;
    return SSTORE_OK;
}

/* ----- records ----- */

static void close_set(record_set *set)
{
    ss_free(set->records);
    ss_free(set->values);
}

/* Permute and sort records, and leave out repeats. */
static sstore_status open_set(record_set *set, const ss_permutation *permutation, const sstore_columns *from,
                              size_t count, sstore_error *error)
{
    ss_record *scratch = ss_realloc(NULL, count + 1, sizeof *scratch);
    set->records = ss_realloc(NULL, count + 1, sizeof *set->records);
    if (scratch == NULL || set->records == NULL) {
        ss_free(scratch);
        return ss_fail_memory(error, 2 * count * sizeof *scratch);
    }
    for (size_t i = 0; i < count; i++)
        set->records[i] = (ss_record){ss_permute(permutation, from->fingerprint[i]),
                                      from->id != NULL ? from->id[i] : 0};
    ss_sort_records(set->records, scratch, count);
    ss_free(scratch);
    for (size_t i = 0; i < count; i++) {
        const ss_record *record = &set->records[i], *last = set->count > 0 ? &set->records[set->count - 1] : NULL;
        if (last == NULL || record->fingerprint != last->fingerprint || record->id != last->id)
            set->records[set->count++] = *record;
    }
    set->values = ss_realloc(NULL, count + 1, sizeof *set->values);
    return set->values != NULL ? SSTORE_OK : ss_fail_memory(error, count * sizeof *set->values);
}

/* The end of the records from `begin` on that have the same fingerprint. */
static size_t end_of_fingerprint(const record_set *set, size_t begin)
{
    size_t end = begin;
    while (end < set->end && set->records[end].fingerprint == set->records[begin].fingerprint)
        end++;
    return end;
}

/* The first record of the group with this permuted fingerprint, which it has. */
static size_t find_first_record(const record_set *set, uint64_t fingerprint)
{
    size_t begin = set->begin, end = set->end;
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        if (set->records[middle].fingerprint < fingerprint)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* ----- pairs ----- */

static sstore_status report(const record_join *self, const ss_record *first, const ss_record *second)
{
    const ss_record *records[] = {first, second};
    const uint64_t fingerprints[] = {ss_unpermute(&self->permutation, first->fingerprint),
                                     ss_unpermute(&self->permutation, second->fingerprint)};
    const bool swaps = self->kind != SS_JOIN_CROSS && fingerprints[1] < fingerprints[0];
    const sstore_pair pair = {.fingerprint = &fingerprints[swaps],
                              .id = records[swaps]->id,
                              .other_fingerprint = &fingerprints[!swaps],
                              .other_id = records[!swaps]->id,
                              .distance = ss_popcount(first->fingerprint ^ second->fingerprint)};
    return self->on_pair(self->context, &pair) == 0 ? SSTORE_OK : SSTORE_STOPPED;
}

/* Report the records of pairs of fingerprints. Of a spanning join one pair of records is enough, since the records of a
 * fingerprint are connected by themselves. */
static sstore_status report_pairs(void *context, const ss_fingerprint_pair *pairs, size_t count, sstore_error *error)
{
    record_join *self = context;
    const record_set *left = &self->sets[0], *right = &self->sets[self->kind == SS_JOIN_CROSS];
    sstore_status status = ss_progress_add(&self->progress, 0, 0);
    (void)error;
    for (size_t i = 0; status == SSTORE_OK && i < count; i++) {
        const size_t first = find_first_record(left, pairs[i].first),
                     second = find_first_record(right, pairs[i].second);
        const bool one = self->kind == SS_JOIN_SPANNING;
        const size_t first_end = one ? first + 1 : end_of_fingerprint(left, first);
        const size_t second_end = one ? second + 1 : end_of_fingerprint(right, second);
        for (size_t a = first; status == SSTORE_OK && a < first_end; a++)
            for (size_t b = second; status == SSTORE_OK && b < second_end; b++)
                status = report(self, &left->records[a], &right->records[b]);
    }
    return status;
}

/* Report the pairs of records with equal fingerprints, which table 0 finds. */
static sstore_status report_equal(const record_join *self)
{
    const record_set *set = &self->sets[0];
    sstore_status status = SSTORE_OK;
    for (size_t begin = set->begin, end; status == SSTORE_OK && begin < set->end; begin = end) {
        end = end_of_fingerprint(set, begin);
        for (size_t a = begin; status == SSTORE_OK && a < end; a++) {
            const size_t last = self->kind == SS_JOIN_SPANNING && a + 2 < end ? a + 2 : end;
            for (size_t b = a + 1; status == SSTORE_OK && b < last; b++)
                status = report(self, &set->records[a], &set->records[b]);
        }
    }
    return status;
}

/* ----- groups ----- */

static uint64_t prefix_at(const record_join *self, const record_set *set, size_t at)
{
    return set->records[at].fingerprint >> (SS_FINGERPRINT_BITS - self->prefix_bits);
}

/* Let the group of a set be its records with this prefix, from the end of the last one on. Returns the number of its
 * distinct fingerprints. */
static size_t take_group(const record_join *self, record_set *set, uint64_t prefix)
{
    size_t distinct = 0;
    set->begin = set->end;
    for (; set->end < set->count && prefix_at(self, set, set->end) == prefix; set->end++) {
        const uint64_t value = set->records[set->end].fingerprint;
        if (distinct == 0 || set->values[distinct - 1] != value)
            set->values[distinct++] = value;
    }
    return distinct;
}

static sstore_status join_groups(record_join *self, sstore_error *error)
{
    record_set *left = &self->sets[0], *right = &self->sets[1];
    const bool cross = self->kind == SS_JOIN_CROSS;
    sstore_status status = SSTORE_OK;
    while (status == SSTORE_OK && left->end < left->count && (!cross || right->end < right->count)) {
        const uint64_t a = prefix_at(self, left, left->end), b = cross ? prefix_at(self, right, right->end) : a;
        const uint64_t prefix = ss_min_u64(a, b);
        const size_t left_count = take_group(self, left, prefix), right_count = take_group(self, right, prefix);
        if (left_count + right_count > 1)
            status = ss_group_join_run(self->group_join, self->kind, left->values, left_count, right->values,
                                       right_count, error);
        if (status == SSTORE_OK)
            status = ss_group_flush(self->group_join, error); /* its pairs are looked up in this group */
        if (status == SSTORE_OK && !cross && self->table == 0)
            status = report_equal(self);
        if (status == SSTORE_OK)
            status = ss_progress_add(&self->progress, 0, left->end - left->begin + right->end - right->begin);
    }
    return status;
}

static sstore_status open_join(record_join *self, uint32_t distance, sstore_error *error)
{
    uint64_t except[SS_GROUP_MAX_PARTS];
    const size_t values = (self->sets[0].count > self->sets[1].count ? self->sets[0].count : self->sets[1].count) + 1;
    self->scratch = ss_realloc(NULL, values, sizeof *self->scratch);
    self->group_join = ss_alloc(1, sizeof *self->group_join);
    if (self->scratch == NULL || self->group_join == NULL)
        return ss_fail_memory(error, values * sizeof *self->scratch + sizeof *self->group_join);
    ss_group_join_init(self->group_join, distance, self->scratch, report_pairs, self);
    for (uint32_t i = 0; i < self->table; i++)
        except[i] = ss_permute(&self->permutation, key_mask(distance, i));
    ss_group_join_except(self->group_join, except, self->table);
    return SSTORE_OK;
}

sstore_status sstore_join_records(const sstore_columns *left, size_t left_count, const sstore_columns *right,
                                  size_t right_count, const sstore_record_join_options *options, sstore_pair_fn on_pair,
                                  void *context, sstore_error *error)
{
    sstore_record_join_options taken = SSTORE_RECORD_JOIN_OPTIONS_INIT;
    sstore_columns sides[2] = {SSTORE_COLUMNS_INIT, SSTORE_COLUMNS_INIT};
    sstore_status status = ss_take_options(&taken, sizeof taken, options, SS_RECORD_JOIN_OPTIONS_SIZE_1, error);
    if (status == SSTORE_OK)
        status = ss_take_columns(&sides[0], left, SS_RECORD_COLUMNS, error);
    if (status == SSTORE_OK)
        status = ss_take_columns(&sides[1], right, SS_RECORD_COLUMNS, error);
    if (status == SSTORE_OK)
        taken.distance = ss_distance_or_default(taken.distance);
    if (status == SSTORE_OK)
        status = check_table(taken.distance, taken.table, error);
    if (status != SSTORE_OK)
        return status;
    if (on_pair == NULL || (left_count > 0 && sides[0].fingerprint == NULL) ||
        (right_count > 0 && sides[1].fingerprint == NULL))
        return ss_fail_argument(error, "sstore_join_records: on_pair and the fingerprints must not be NULL");
    if (taken.spanning && right != NULL)
        return ss_fail_argument(error, "sstore_join_records: a spanning join has one set; right must be NULL");
    record_join self = {.table = taken.table,
                        .kind = right != NULL    ? SS_JOIN_CROSS
                                : taken.spanning ? SS_JOIN_SPANNING
                                                 : SS_JOIN_SELF,
                        .progress = {.report = taken.on_progress, .context = taken.progress_context},
                        .on_pair = on_pair,
                        .context = context};
    const uint64_t mask = key_mask(taken.distance, taken.table);
    self.prefix_bits = ss_popcount(mask);
    ss_permutation_init(&self.permutation, mask);
    status = open_set(&self.sets[0], &self.permutation, &sides[0], left_count, error);
    if (status == SSTORE_OK)
        status = open_set(&self.sets[1], &self.permutation, &sides[1], right != NULL ? right_count : 0, error);
    if (status == SSTORE_OK)
        status = open_join(&self, taken.distance, error);
    self.progress.now.table_count = taken.distance + 1;
    ss_progress_begin(&self.progress, "comparing", taken.table, self.sets[0].count + self.sets[1].count, 1);
    if (status == SSTORE_OK)
        status = join_groups(&self, error);
    close_set(&self.sets[0]);
    close_set(&self.sets[1]);
    ss_free(self.scratch);
    ss_free(self.group_join);
    return status;
}
