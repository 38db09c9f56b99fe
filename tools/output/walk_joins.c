#include "output/walk_joins.h"

#define ROWS 64u

sstore_status walk_pairs(const sstore *left, const sstore *right, const sstore_join_options *options,
                         sstore_pair_fn on_pair, void *context, sstore_error *error)
{
    uint64_t fingerprints[ROWS * SSTORE_MAX_WORDS], others[ROWS * SSTORE_MAX_WORDS], ids[ROWS], other_ids[ROWS];
    uint32_t distances[ROWS];
    const sstore_columns columns = {.struct_size = sizeof columns,
                                    .fingerprint = fingerprints,
                                    .id = ids,
                                    .distance = distances,
                                    .other_fingerprint = others,
                                    .other_id = other_ids};
    sstore_iterator *iterator;
    size_t got = ROWS;
    bool stopped = false;
    sstore_status status = sstore_iterate_pairs(left, right, options, &iterator, error);
    const uint32_t words = status == SSTORE_OK ? sstore_fingerprint_bits(left) / 64 : 0;
    while (status == SSTORE_OK && got == ROWS && !stopped) {
        status = sstore_iterator_next(iterator, &columns, ROWS, &got, error);
        for (size_t i = 0; i < got && !stopped; i++) {
            const sstore_pair pair = {.fingerprint = fingerprints[i * words],
                                      .id = ids[i],
                                      .other_fingerprint = others[i * words],
                                      .other_id = other_ids[i],
                                      .distance = distances[i],
                                      .words = fingerprints + i * words,
                                      .other_words = others + i * words};
            stopped = on_pair(context, &pair) != 0;
        }
    }
    sstore_iterator_free(iterator);
    return stopped ? SSTORE_STOPPED : status;
}

sstore_status walk_clusters(const sstore *store, const sstore_cluster_options *options, cluster_record_fn on_record,
                            void *context, sstore_error *error)
{
    uint64_t fingerprints[ROWS * SSTORE_MAX_WORDS], ids[ROWS], clusters[ROWS], sizes[ROWS];
    uint32_t distances[ROWS];
    bool representatives[ROWS];
    const sstore_columns columns = {.struct_size = sizeof columns,
                                    .fingerprint = fingerprints,
                                    .id = ids,
                                    .distance = distances,
                                    .cluster = clusters,
                                    .cluster_size = sizes,
                                    .is_representative = representatives};
    sstore_iterator *iterator;
    size_t got = ROWS;
    bool stopped = false;
    sstore_status status = sstore_iterate_clusters(store, options, &iterator, error);
    const uint32_t words = status == SSTORE_OK ? sstore_fingerprint_bits(store) / 64 : 0;
    while (status == SSTORE_OK && got == ROWS && !stopped) {
        status = sstore_iterator_next(iterator, &columns, ROWS, &got, error);
        for (size_t i = 0; i < got && !stopped; i++) {
            const cluster_record record = {.cluster = clusters[i],
                                           .cluster_size = sizes[i],
                                           .fingerprint = fingerprints + i * words,
                                           .id = ids[i],
                                           .distance = distances[i],
                                           .is_representative = representatives[i]};
            stopped = on_record(context, &record) != 0;
        }
    }
    sstore_iterator_free(iterator);
    return stopped ? SSTORE_STOPPED : status;
}
