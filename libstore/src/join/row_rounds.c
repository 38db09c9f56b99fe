#include "join/row_rounds.h"

#include "base/error.h"
#include "base/memory.h"

#define THREAD_BYTES ((uint64_t)8 << 20) /* of a thread that answers queries */
#define QUERY_BYTES 64u                  /* of a query that is answered, without its fingerprint */
#define MIN_QUERIES ((uint64_t)256)
#define MIN_MATCHES ((uint64_t)2048) /* for each thread, which take room for hits in portions */
#define FIRST_QUERIES ((size_t)2048) /* few, since nothing is known about the matches */
#define GROWTH 4u                    /* of rounds with few matches */
#define DIVISOR 8u                   /* of those with too many */

sstore_status ss_row_rounds_open(ss_row_rounds *rounds, ss_join_call *call, uint64_t bytes, uint64_t match_bytes,
                                 sstore_error *error)
{
    const sstore *store = call->right;
    const uint64_t query_bytes = (store->manifest.words + SS_ROW_QUERY_WORDS) * sizeof(uint64_t) + QUERY_BYTES;
    const uint64_t queries = ss_max_u64(bytes / 4 / query_bytes, MIN_QUERIES);
    const uint64_t threads = ss_max_u64(ss_min_u64(call->threads, bytes / 4 / THREAD_BYTES), 1);
    const uint64_t matches = ss_max_u64(bytes / 2 / match_bytes, MIN_MATCHES * threads);
    ss_steps planning = {.left = SS_CALL_STEPS};
    *rounds = (ss_row_rounds){.plans = ss_segment_plans_alloc(&store->manifest),
                              .query_capacity = (size_t)ss_min_u64(queries, 1u << SS_ROUND_QUERY_BITS)};
    if (rounds->plans == NULL)
        return ss_fail_memory(error, ss_segment_plans_bytes(&store->manifest));
    ss_segment_plans_choose(store, call->distance, &planning, rounds->plans);
    rounds->size = rounds->query_capacity < FIRST_QUERIES ? rounds->query_capacity : FIRST_QUERIES;
    rounds->batch = (ss_batch){.store = store,
                               .plans = rounds->plans,
                               .distance = call->distance,
                               .threads = (uint32_t)threads,
                               .max_matches = (long long)ss_min_u64(matches, SS_ROUND_MATCHES),
                               .block_count = &call->block_count,
                               .progress = &call->progress};
    return SSTORE_OK;
}

void ss_row_rounds_close(ss_row_rounds *rounds)
{
    ss_free(rounds->plans);
    rounds->plans = NULL;
}

ss_batch ss_row_rounds_begin(const ss_row_rounds *rounds, const uint64_t *fingerprints, size_t count)
{
    ss_batch round = rounds->batch;
    round.fingerprints = fingerprints;
    round.count = (uint32_t)ss_min_u64(count, rounds->size);
    return round;
}

void ss_row_rounds_end(ss_row_rounds *rounds, const ss_batch *round, size_t match_count)
{
    const uint64_t max = (uint64_t)round->max_matches;
    if (match_count > max / 2)
        rounds->size = (size_t)ss_max_u64(round->count / 2, 1);
    else if (match_count <= max / 2 / GROWTH && round->count == rounds->size)
        rounds->size = (size_t)ss_min_u64(GROWTH * rounds->size, rounds->query_capacity);
}

void ss_row_rounds_divide(ss_row_rounds *rounds, const ss_batch *round)
{
    rounds->size = (size_t)ss_max_u64(round->count / DIVISOR, 1);
}

bool ss_row_rounds_has_too_many(const ss_row_rounds *rounds, sstore_status status)
{
    return status == SSTORE_STOPPED && !atomic_load(&rounds->batch.progress->stopped);
}
