/*
 * round_hits.c - see round_hits.h. Lists take the room of the round in portions, as they grow, so that threads seldom
 * write to the shared number.
 */
#include "read/round_hits.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"

#define FIRST_CAPACITY 1024u /* of a list */

/* Whether some matches are not wanted, or only counted, and their number follows from the hits. */
static bool wants_some(const ss_round *round)
{
    return (round->counts_only || round->limit > 0) && !round->filter.any;
}

sstore_status ss_round_hits_open(ss_round_hits *hits, const ss_round *round, sstore_error *error)
{
    *hits = (ss_round_hits){.round = round, .words = round->store->manifest.words, .room = round->max_matches};
    hits->lists = ss_alloc(round->threads, sizeof *hits->lists);
    if (hits->lists == NULL)
        return ss_fail_memory(error, round->threads * sizeof *hits->lists);
    const sstore_status status = ss_cursors_open(&hits->cursors, round->store, round->threads, error);
    return status == SSTORE_OK && wants_some(round)
               ? ss_first_hits_open(&hits->first, round->count, round->counts_only ? 0 : round->limit,
                                    round->match_counts, error)
               : status;
}

static void free_list(ss_hit_list *list)
{
    ss_free(list->hits);
    ss_free(list->rows);
    *list = (ss_hit_list){.hits = NULL};
}

void ss_round_hits_close(ss_round_hits *hits)
{
    for (uint32_t i = 0; hits->lists != NULL && i < hits->round->threads; i++)
        free_list(&hits->lists[i]);
    ss_free(hits->lists);
    ss_first_hits_close(&hits->first);
    ss_cursors_close(&hits->cursors, hits->round->block_count);
}

void ss_round_hits_begin(ss_round_hits *hits, uint32_t segment)
{
    hits->segment = segment;
    hits->first.skips = false;
    for (uint32_t i = 0; i < hits->round->threads; i++)
        hits->lists[i].begin = hits->lists[i].count;
}

sstore_status ss_round_hits_skip(ss_round_hits *hits, bool counts_ranks, sstore_error *error)
{
    const ss_round *round = hits->round;
    sstore_cursor *cursor = NULL;
    if (!wants_some(round))
        return SSTORE_OK;
    const sstore_status status = counts_ranks ? ss_cursors_get(&hits->cursors, 0, &cursor, error) : SSTORE_OK;
    return status == SSTORE_OK ? ss_first_hits_begin(&hits->first, cursor, round->store, hits->segment, error) : status;
}

static bool is_kept(const ss_round_hits *hits, uint32_t query, uint64_t rank, const uint64_t *fingerprint)
{
    const ss_round *round = hits->round;
    const uint32_t distance = ss_words_distance(fingerprint, round->fingerprints + (size_t)query * hits->words,
                                                hits->words);
    return ss_first_hits_keep_or_count(&hits->first, query, distance, round->distance, rank);
}

/* Make room for one more hit. */
static sstore_status grow(ss_round_hits *hits, ss_hit_list *list, sstore_error *error)
{
    const size_t more = list->capacity == 0 ? FIRST_CAPACITY : list->capacity, capacity = list->capacity + more;
    const size_t row_bytes = hits->words * sizeof *list->rows;
    if (atomic_fetch_sub_explicit(&hits->room, (long long)more, memory_order_relaxed) < (long long)more)
        return SSTORE_STOPPED;
    ss_round_hit *grown = ss_realloc(list->hits, capacity, sizeof *grown);
    list->hits = grown != NULL ? grown : list->hits;
    uint64_t *rows = grown != NULL && hits->words > 1 ? ss_realloc(list->rows, capacity, row_bytes) : NULL;
    list->rows = rows != NULL ? rows : list->rows;
    if (grown == NULL || (hits->words > 1 && rows == NULL))
        return ss_fail_memory(error, capacity * (sizeof *grown + row_bytes));
    list->capacity = capacity;
    return SSTORE_OK;
}

sstore_status ss_round_hits_add(ss_round_hits *hits, uint32_t worker, uint32_t query, uint64_t rank,
                                const uint64_t *fingerprint, sstore_error *error)
{
    ss_hit_list *list = &hits->lists[worker];
    if (hits->first.skips && !is_kept(hits, query, rank, fingerprint))
        return SSTORE_OK;
    const sstore_status status = list->count == list->capacity ? grow(hits, list, error) : SSTORE_OK;
    if (status != SSTORE_OK)
        return status;
    if (hits->words > 1)
        ss_words_copy(list->rows + list->count * hits->words, fingerprint, hits->words);
    list->hits[list->count++] =
        (ss_round_hit){.order_key = *fingerprint, .rank = rank, .query = query, .segment = hits->segment};
    return SSTORE_OK;
}

void ss_round_hits_forget(ss_round_hits *hits)
{
    for (uint32_t i = 0; i < hits->round->threads; i++)
        hits->lists[i].count = hits->lists[i].begin;
}

sstore_status ss_round_hits_take(ss_round_hits *hits, ss_hit_list *all_out, sstore_error *error)
{
    const size_t row_words = hits->words > 1 ? hits->words : 0;
    size_t count = 0;
    for (uint32_t i = 0; i < hits->round->threads; i++)
        count += hits->lists[i].count;
    *all_out = (ss_hit_list){.hits = ss_realloc(NULL, count, sizeof *all_out->hits),
                             .rows = ss_realloc(NULL, count * row_words, sizeof *all_out->rows),
                             .capacity = count};
    if (all_out->hits == NULL || all_out->rows == NULL) {
        free_list(all_out);
        return ss_fail_memory(error, count * (sizeof *all_out->hits + row_words * sizeof *all_out->rows));
    }
    for (uint32_t i = 0; i < hits->round->threads; i++) {
        ss_hit_list *list = &hits->lists[i];
        if (list->count > 0)
            memcpy(all_out->hits + all_out->count, list->hits, list->count * sizeof *list->hits);
        if (list->count > 0 && row_words > 0)
            memcpy(all_out->rows + all_out->count * row_words, list->rows,
                   list->count * row_words * sizeof *list->rows);
        all_out->count += list->count;
        free_list(list);
    }
    return SSTORE_OK;
}
