#include "output/walk.h"

#define ROWS 64u

/* Room for the next results of an iterator, and their receiver. */
typedef struct walk {
    uint32_t words;
    uint64_t fingerprints[ROWS * SSTORE_MAX_WORDS], others[ROWS * SSTORE_MAX_WORDS];
    uint64_t ids[ROWS], other_ids[ROWS], queries[ROWS], clusters[ROWS], cluster_sizes[ROWS];
    uint32_t distances[ROWS];
    bool representatives[ROWS];
    union {
        sstore_match_fn on_match;
        sstore_pair_fn on_pair;
        cluster_record_fn on_record;
    };
    void *context;
    const walk_names *names; /* or NULL */
} walk;

/* Passes result `row` on. Returns what the receiver does. */
typedef int (*pass_fn)(const walk *self, size_t row);

/* Go through the results of an iterator of this store, which are these columns, and free it. */
static sstore_status walk_rows(walk *self, const sstore *store, sstore_iterator *iterator,
                               const sstore_columns *columns, pass_fn pass, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    size_t got = ROWS;
    bool stopped = false;
    self->words = sstore_fingerprint_bits(store) / 64;
    while (status == SSTORE_OK && got == ROWS && !stopped) {
        status = sstore_iterator_next(iterator, columns, ROWS, &got, error);
        if (self->names != NULL) {
            self->names->expect(self->names->names, self->ids, got);
            self->names->expect(self->names->other_names, self->other_ids, got);
        }
        for (size_t i = 0; i < got && !stopped; i++)
            stopped = pass(self, i) != 0;
    }
    sstore_iterator_free(iterator);
    return stopped ? SSTORE_STOPPED : status;
}

static int pass_match(const walk *self, size_t row)
{
    const sstore_match match = {.query_index = self->queries[row],
                                .fingerprint = self->fingerprints + row * self->words,
                                .id = self->ids[row],
                                .distance = self->distances[row]};
    return self->on_match(self->context, &match);
}

sstore_status walk_named_matches(const sstore *store, const uint64_t *fingerprints, size_t count, uint32_t distance,
                                 const sstore_batch_options *options, const walk_names *names, sstore_match_fn on_match,
                                 void *context, sstore_error *error)
{
    walk self = {.on_match = on_match, .context = context, .names = names};
    sstore_iterator *iterator;
    const sstore_columns columns = {.struct_size = sizeof columns,
                                    .fingerprint = self.fingerprints,
                                    .id = self.ids,
                                    .distance = self.distances,
                                    .query_index = self.queries};
    const sstore_status status = sstore_iterate_matches(store, fingerprints, count, distance, options, &iterator,
                                                        error);
    return status == SSTORE_OK ? walk_rows(&self, store, iterator, &columns, pass_match, error) : status;
}

static int pass_pair(const walk *self, size_t row)
{
    const sstore_pair pair = {.fingerprint = self->fingerprints + row * self->words,
                              .id = self->ids[row],
                              .other_fingerprint = self->others + row * self->words,
                              .other_id = self->other_ids[row],
                              .distance = self->distances[row]};
    return self->on_pair(self->context, &pair);
}

sstore_status walk_named_pairs(const sstore *left, const sstore *right, const sstore_join_options *options,
                               const walk_names *names, sstore_pair_fn on_pair, void *context, sstore_error *error)
{
    walk self = {.on_pair = on_pair, .context = context, .names = names};
    sstore_iterator *iterator;
    const sstore_columns columns = {.struct_size = sizeof columns,
                                    .fingerprint = self.fingerprints,
                                    .id = self.ids,
                                    .distance = self.distances,
                                    .other_fingerprint = self.others,
                                    .other_id = self.other_ids};
    const sstore_status status = sstore_iterate_pairs(left, right, options, &iterator, error);
    return status == SSTORE_OK ? walk_rows(&self, left, iterator, &columns, pass_pair, error) : status;
}

static int pass_cluster_record(const walk *self, size_t row)
{
    const cluster_record record = {.cluster = self->clusters[row],
                                   .cluster_size = self->cluster_sizes[row],
                                   .fingerprint = self->fingerprints + row * self->words,
                                   .id = self->ids[row],
                                   .distance = self->distances[row],
                                   .is_representative = self->representatives[row]};
    return self->on_record(self->context, &record);
}

sstore_status walk_named_clusters(const sstore *store, const sstore_cluster_options *options, const walk_names *names,
                                  cluster_record_fn on_record, void *context, sstore_error *error)
{
    walk self = {.on_record = on_record, .context = context, .names = names};
    sstore_iterator *iterator;
    const sstore_columns columns = {.struct_size = sizeof columns,
                                    .fingerprint = self.fingerprints,
                                    .id = self.ids,
                                    .distance = self.distances,
                                    .cluster = self.clusters,
                                    .cluster_size = self.cluster_sizes,
                                    .is_representative = self.representatives};
    const sstore_status status = sstore_iterate_clusters(store, options, &iterator, error);
    return status == SSTORE_OK ? walk_rows(&self, store, iterator, &columns, pass_cluster_record, error) : status;
}
