/*
 * collect.c - sorts the matches of several stream matchers within a fixed memory.
 *
 * An external sort orders them as items (query, fingerprint, id), of one or several words each. The report orders those
 * of a query by distance: it reads them once for each distance that occurs. They are in one piece of the sorter, or in
 * several that have no others and are loaded again each time.
 */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"
#include "sort/buckets.h"
#include "sort/radix.h"
#include "sort/sorter.h"
#include "sstore_stream.h"

#define ADD_WORDS 1024u /* of items that are added at once */
#define MAX_DISTANCE (SSTORE_MAX_DISTANCE * SSTORE_MAX_WORDS)

struct sstore_collection {
    uint32_t words; /* of a query and of a fingerprint */
    ss_dir tmp_dir;
    ss_chunk_pool pool;
    ss_sorter *sorter;
    size_t piece_capacity;
    ss_piece_room room; /* opened when all matches were added */
    bool finished;      /* no match may be added any more */
    bool failed;        /* nothing may be done any more */
};

/* ----- adding ----- */

/* The words of an item. */
static uint32_t item_words(const sstore_collection *collection)
{
    return 2 * collection->words + 1;
}

static sstore_status open_collection(sstore_collection *collection, const sstore_collection_options *options,
                                     sstore_error *error)
{
    const uint64_t item_bytes = 2 * item_words(collection) * sizeof(uint64_t); /* with the scratch */
    const ss_sort_memory share = ss_sort_memory_divide(ss_memory_or_default(options->memory_bytes), 1, 0, item_bytes);
    collection->piece_capacity = share.piece_capacity;
    sstore_status status = ss_check_memory(ss_memory_or_default(options->memory_bytes), SS_MIN_MEMORY_BYTES, error);
    if (status == SSTORE_OK)
        status = ss_spill_dir_open(options->tmp_dir, NULL, &collection->tmp_dir, error);
    if (status == SSTORE_OK)
        status = ss_sorter_pool_open(&collection->pool, share.sorter_bytes, 1, error);
    const ss_sorter_options how = {.item_words = item_words(collection),
                                   .writers = 1,
                                   .pool = &collection->pool,
                                   .piece_capacity = collection->piece_capacity,
                                   .expected_count = UINT64_MAX,
                                   .tmp_dir = &collection->tmp_dir};
    return status == SSTORE_OK ? ss_sorter_create(&how, &collection->sorter, error) : status;
}

sstore_status sstore_collection_create(const sstore_collection_options *options, sstore_collection **collection_out,
                                       sstore_error *error)
{
    sstore_collection_options taken = SSTORE_COLLECTION_OPTIONS_INIT;
    if (collection_out == NULL)
        return ss_fail_argument(error, "sstore_collection_create: collection_out must not be NULL");
    *collection_out = NULL;
    sstore_status status = ss_take_options(&taken, sizeof taken, options, SS_COLLECTION_OPTIONS_SIZE_1, error);
    if (status == SSTORE_OK)
        status = ss_take_fingerprint_bits(&taken.fingerprint_bits, error);
    if (status != SSTORE_OK)
        return status;
    sstore_collection *collection = ss_alloc(1, sizeof *collection);
    if (collection == NULL)
        return ss_fail_memory(error, sizeof *collection);
    collection->words = taken.fingerprint_bits / SS_WORD_BITS;
    collection->tmp_dir = SS_DIR_NONE;
    status = open_collection(collection, &taken, error);
    if (status == SSTORE_OK)
        *collection_out = collection;
    else
        sstore_collection_free(collection);
    return status;
}

/* Make the item of a match. False if a fingerprint of it is missing. */
static bool make_item(const sstore_stream_match *match, uint32_t words, uint64_t *item)
{
    if (match->query == NULL || match->fingerprint == NULL)
        return false;
    ss_words_set(item, 0, match->query, words);
    ss_words_set(item, 1, match->fingerprint, words);
    item[2 * (size_t)words] = match->id;
    return true;
}

sstore_status sstore_collection_add(sstore_collection *collection, const sstore_stream_match *matches, size_t count,
                                    sstore_error *error)
{
    if (collection == NULL || (matches == NULL && count > 0))
        return ss_fail_argument(error, "sstore_collection_add: collection and matches must not be NULL");
    if (collection->finished || collection->failed)
        return ss_fail_argument(error, "sstore_collection_add: the matches have been reported already, or an earlier "
                                       "call failed");
    const size_t step = item_words(collection);
    sstore_status status = SSTORE_OK;
    for (size_t done = 0; status == SSTORE_OK && done < count;) {
        uint64_t items[ADD_WORDS];
        const size_t part = (size_t)ss_min_u64(count - done, ADD_WORDS / step);
        bool any_missing = false;
        for (size_t i = 0; i < part; i++)
            any_missing |= !make_item(&matches[done + i], collection->words, items + i * step);
        if (any_missing)
            return ss_fail_argument(error, "sstore_collection_add: query and fingerprint of a match must not be NULL");
        status = ss_sorter_add_items(collection->sorter, 0, items, part, error);
        done += part;
    }
    collection->failed = status != SSTORE_OK;
    return status;
}

void sstore_collection_free(sstore_collection *collection)
{
    if (collection == NULL)
        return;
    ss_sorter_free(collection->sorter);
    ss_chunk_pool_close(&collection->pool);
    ss_dir_close(&collection->tmp_dir);
    ss_free(collection->room.items);
    ss_free(collection);
}

/* ----- reporting ----- */

typedef struct reporting {
    sstore_collection *collection;
    sstore_stream_match_fn on_match;
    void *context;
} reporting;

/* Load a piece into the collection's room. */
static sstore_status load(const reporting *self, size_t piece, sstore_error *error)
{
    return ss_piece_room_load(&self->collection->room, self->collection->sorter, piece, error);
}

/* Item `index` of an array. */
static const uint64_t *item_at(const reporting *self, size_t index)
{
    const uint64_t *items = self->collection->room.items;
    return items + index * item_words(self->collection);
}

static bool are_of_one_query(const reporting *self, const uint64_t *item, const uint64_t *other)
{
    return ss_words_equal(item, other, self->collection->words);
}

/* Set present[d] for each distance d of the loaded items begin .. end - 1. */
static void note_distances(const reporting *self, size_t begin, size_t end, bool *present)
{
    const uint32_t words = self->collection->words;
    for (size_t i = begin; i < end; i++)
        present[ss_words_distance(item_at(self, i), item_at(self, i) + words, words)] = true;
}

/* Report those of the loaded items begin .. end - 1 that are at `distance`. */
static sstore_status report_at(const reporting *self, size_t begin, size_t end, uint32_t distance)
{
    const uint32_t words = self->collection->words;
    for (size_t i = begin; i < end; i++) {
        const uint64_t *query = item_at(self, i), *fingerprint = query + words;
        if (ss_words_distance(query, fingerprint, words) != distance)
            continue;
        const sstore_stream_match match = {.query = query,
                                           .fingerprint = fingerprint,
                                           .id = fingerprint[words],
                                           .distance = distance};
        if (self->on_match(self->context, &match) != 0)
            return SSTORE_STOPPED;
    }
    return SSTORE_OK;
}

/* Report the loaded piece, which holds all matches of each of its queries. */
static sstore_status report_piece(const reporting *self)
{
    const uint32_t max = SSTORE_MAX_DISTANCE * self->collection->words;
    const size_t count = self->collection->room.count;
    bool present[MAX_DISTANCE + 1] = {false};
    sstore_status status = SSTORE_OK;
    for (size_t begin = 0, end; status == SSTORE_OK && begin < count; begin = end) {
        for (end = begin + 1; end < count && are_of_one_query(self, item_at(self, begin), item_at(self, end));)
            end++;
        note_distances(self, begin, end, present);
        for (uint32_t distance = 0; status == SSTORE_OK && distance <= max; distance++)
            if (present[distance])
                status = report_at(self, begin, end, distance);
        memset(present, 0, max + 1);
    }
    return status;
}

/* Report the query that alone has piece `first`, which is loaded, and perhaps pieces after it. They end before
 * *end_out. */
static sstore_status report_long_query(const reporting *self, size_t first, size_t *end_out, sstore_error *error)
{
    const ss_piece_room *room = &self->collection->room;
    const uint32_t max = SSTORE_MAX_DISTANCE * self->collection->words;
    uint64_t query[SSTORE_MAX_WORDS] = {0};
    bool present[MAX_DISTANCE + 1] = {false};
    sstore_status status = SSTORE_OK;
    size_t end = first;
    ss_words_copy(query, item_at(self, 0), self->collection->words);
    while (status == SSTORE_OK && (room->count == 0 || are_of_one_query(self, item_at(self, 0), query))) {
        note_distances(self, 0, room->count, present);
        if (++end == ss_sorter_piece_count(self->collection->sorter))
            break;
        status = load(self, end, error);
    }
    for (uint32_t distance = 0; status == SSTORE_OK && distance <= max; distance++) {
        for (size_t piece = first; status == SSTORE_OK && present[distance] && piece < end; piece++) {
            status = load(self, piece, error);
            if (status == SSTORE_OK)
                status = report_at(self, 0, room->count, distance);
        }
    }
    *end_out = end;
    return status;
}

/* Sort the matches, after the last one was added. */
static sstore_status sort_matches(sstore_collection *collection, sstore_error *error)
{
    ss_progress no_progress = {.report = NULL};
    sstore_status status = SSTORE_OK;
    if (collection->room.items == NULL)
        status = ss_piece_room_open(&collection->room, item_words(collection), collection->piece_capacity, error);
    if (status != SSTORE_OK)
        return status;
    collection->finished = true;
    return ss_sorter_finish(collection->sorter, &no_progress, error);
}

sstore_status sstore_collection_report(sstore_collection *collection, sstore_stream_match_fn on_match, void *context,
                                       sstore_error *error)
{
    if (collection == NULL || on_match == NULL || collection->failed)
        return ss_fail_argument(error, "sstore_collection_report: collection and on_match must not be NULL, and no "
                                       "earlier call may have failed");
    const reporting self = {.collection = collection, .on_match = on_match, .context = context};
    sstore_status status = collection->finished ? SSTORE_OK : sort_matches(collection, error);
    const ss_piece_room *room = &collection->room;
    for (size_t piece = 0, end; status == SSTORE_OK && piece < ss_sorter_piece_count(collection->sorter); piece = end) {
        end = piece + 1;
        status = load(&self, piece, error);
        if (status != SSTORE_OK || room->count == 0)
            continue;
        if (are_of_one_query(&self, item_at(&self, 0), item_at(&self, room->count - 1)))
            status = report_long_query(&self, piece, &end, error);
        else
            status = report_piece(&self);
    }
    collection->failed = status > SSTORE_STOPPED;
    return status;
}
