#include "output/walk_matches.h"

#define ROWS 64u

sstore_status walk_matches(const sstore *store, const uint64_t *fingerprints, size_t count, uint32_t distance,
                           const sstore_batch_options *options, sstore_match_fn on_match, void *context,
                           sstore_error *error)
{
    uint64_t rows[ROWS * SSTORE_MAX_WORDS], ids[ROWS], queries[ROWS];
    uint32_t distances[ROWS];
    const sstore_columns columns = {
        .struct_size = sizeof columns, .fingerprint = rows, .id = ids, .distance = distances, .query_index = queries};
    sstore_iterator *iterator;
    size_t got = ROWS;
    bool stopped = false;
    sstore_status status = sstore_iterate_matches(store, fingerprints, count, distance, options, &iterator, error);
    while (status == SSTORE_OK && got > 0 && !stopped) {
        status = sstore_iterator_next(iterator, &columns, ROWS, &got, error);
        for (size_t i = 0; i < got && !stopped; i++) {
            const sstore_match match = {.query_index = queries[i],
                                        .fingerprint = rows + i * (sstore_fingerprint_bits(store) / 64),
                                        .id = ids[i],
                                        .distance = distances[i]};
            stopped = on_match(context, &match) != 0;
        }
    }
    sstore_iterator_free(iterator);
    return stopped ? SSTORE_STOPPED : status;
}
