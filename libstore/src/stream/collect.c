/*
 * collect.c - matches of several scans, put in order within a fixed memory.
 *
 * They are sorted as triples (query, fingerprint, id), out of core. The order by distance within a query is made as
 * they are reported: all matches of one query are gone through once for each distance among them. They lie in one piece
 * of the sorter, or in several that hold no others, which are loaded anew each time.
 */
#include "base/error.h"
#include "base/memory.h"
#include "sort/buckets.h"
#include "sort/radix.h"
#include "sort/sorter.h"

#define DEFAULT_MEMORY_BYTES ((uint64_t)1 << 30)
#define FIXED_BYTES ((uint64_t)12 << 20) /* the process, and what it reads input through */
#define PIECES_SHARE 6u                  /* of memory, for a piece and its scratch: 1/6 */
#define MIN_PIECE ((size_t)16384)
#define MAX_PIECE ((size_t)1 << 20) /* larger ones are sorted more slowly, and buckets are seldom larger */
#define ADD_MATCHES 256u

struct sstore_collection {
    ss_dir tmp_dir;
    ss_chunk_pool pool;
    ss_sorter *sorter;
    size_t piece_capacity;
    ss_triple *items, *scratch; /* of one piece; NULL until it is sealed */
    bool sealed;
};

/* ----- adding ----- */

static sstore_status open_collection(sstore_collection *collection, const sstore_collection_options *options,
                                     sstore_error *error)
{
    const uint64_t memory = options->memory_bytes != 0 ? options->memory_bytes : DEFAULT_MEMORY_BYTES;
    uint64_t capacity = memory / PIECES_SHARE / (2 * sizeof(ss_triple));
    capacity = ss_min_u64(ss_max_u64(capacity, MIN_PIECE), MAX_PIECE);
    const uint64_t rest = FIXED_BYTES + capacity * 2 * sizeof(ss_triple);
    collection->piece_capacity = (size_t)capacity;
    sstore_status status = ss_spill_dir_open(options->tmp_dir, NULL, &collection->tmp_dir, error);
    if (status == SSTORE_OK)
        status = ss_sorter_pool_open(&collection->pool, memory > rest ? memory - rest : 1, 1, error);
    const ss_sorter_options how = {.item_words = 3,
                                   .writers = 1,
                                   .pool = &collection->pool,
                                   .piece_capacity = collection->piece_capacity,
                                   .expected_count = UINT64_MAX,
                                   .tmp_dir = &collection->tmp_dir};
    if (status == SSTORE_OK)
        status = ss_sorter_create(&how, &collection->sorter, error);
    return status;
}

sstore_status sstore_collection_create(const sstore_collection_options *options, sstore_collection **collection_out,
                                       sstore_error *error)
{
    sstore_collection_options taken = SSTORE_COLLECTION_OPTIONS_INIT;
    if (collection_out == NULL)
        return ss_fail_argument(error, "sstore_collection_create: collection_out must not be NULL");
    *collection_out = NULL;
    sstore_status status = ss_take_options(&taken, sizeof taken, options, SS_COLLECTION_OPTIONS_SIZE_1, error);
    if (status != SSTORE_OK)
        return status;
    sstore_collection *collection = ss_alloc(1, sizeof *collection);
    if (collection == NULL)
        return ss_fail_memory(error, sizeof *collection);
    collection->tmp_dir = SS_DIR_NONE;
    status = open_collection(collection, &taken, error);
    if (status == SSTORE_OK)
        *collection_out = collection;
    else
        sstore_collection_free(collection);
    return status;
}

sstore_status sstore_collection_add(sstore_collection *collection, const sstore_stream_match *matches, size_t count,
                                    sstore_error *error)
{
    if (collection == NULL || (matches == NULL && count > 0))
        return ss_fail_argument(error, "sstore_collection_add: collection and matches must not be NULL");
    if (collection->sealed)
        return ss_fail_argument(error, "sstore_collection_add: the matches have been reported already");
    sstore_status status = SSTORE_OK;
    for (size_t done = 0; status == SSTORE_OK && done < count;) {
        ss_triple items[ADD_MATCHES];
        size_t part = (size_t)ss_min_u64(count - done, ADD_MATCHES);
        for (size_t i = 0; i < part; i++) {
            const sstore_stream_match *match = &matches[done + i];
            items[i] = (ss_triple){.first = match->query, .second = match->fingerprint, .third = match->id};
        }
        status = ss_sorter_add_items(collection->sorter, 0, items, part, error);
        done += part;
    }
    return status;
}

void sstore_collection_free(sstore_collection *collection)
{
    if (collection == NULL)
        return;
    ss_sorter_free(collection->sorter);
    ss_chunk_pool_close(&collection->pool);
    ss_dir_close(&collection->tmp_dir);
    ss_free(collection->items);
    ss_free(collection->scratch);
    ss_free(collection);
}

/* ----- reporting ----- */

/* The matches of one query, of which those at one distance are reported at a time. */
typedef struct reporting {
    sstore_collection *collection;
    sstore_stream_match_fn on_match;
    void *context;
    bool present[SSTORE_MAX_DISTANCE + 1]; /* which distances there are */
} reporting;

static uint32_t distance_of(const ss_triple *item)
{
    return ss_popcount(item->first ^ item->second);
}

static void note_distances(reporting *self, const ss_triple *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        self->present[distance_of(&items[i])] = true;
}

static void forget_distances(reporting *self)
{
    for (uint32_t distance = 0; distance <= SSTORE_MAX_DISTANCE; distance++)
        self->present[distance] = false;
}

static sstore_status report_at(const reporting *self, const ss_triple *items, size_t count, uint32_t distance)
{
    for (size_t i = 0; i < count; i++) {
        if (distance_of(&items[i]) != distance)
            continue;
        const sstore_stream_match match = {.query = items[i].first,
                                           .fingerprint = items[i].second,
                                           .id = items[i].third,
                                           .distance = distance};
        if (self->on_match(self->context, &match) != 0)
            return SSTORE_STOPPED;
    }
    return SSTORE_OK;
}

/* All matches of one query, which are all here. */
static sstore_status report_query(reporting *self, const ss_triple *items, size_t count)
{
    sstore_status status = SSTORE_OK;
    forget_distances(self);
    note_distances(self, items, count);
    for (uint32_t distance = 0; status == SSTORE_OK && distance <= SSTORE_MAX_DISTANCE; distance++)
        if (self->present[distance])
            status = report_at(self, items, count, distance);
    return status;
}

static sstore_status load(const sstore_collection *collection, size_t piece, size_t *count_out, sstore_error *error)
{
    return ss_sorter_load(collection->sorter, piece, collection->items, collection->scratch, count_out, error);
}

/* Several pieces that hold matches of one query only. */
static sstore_status report_pieces(reporting *self, size_t first, size_t end, sstore_error *error)
{
    sstore_collection *collection = self->collection;
    sstore_status status = SSTORE_OK;
    for (uint32_t distance = 0; status == SSTORE_OK && distance <= SSTORE_MAX_DISTANCE; distance++) {
        for (size_t piece = first; status == SSTORE_OK && self->present[distance] && piece < end; piece++) {
            size_t count;
            status = load(collection, piece, &count, error);
            if (status == SSTORE_OK)
                status = report_at(self, collection->items, count, distance);
        }
    }
    return status;
}

/* Piece `first` is loaded and holds matches of one query only. Find where the pieces end that hold more of it, and
 * report them all. */
static sstore_status report_long_query(reporting *self, size_t first, size_t count, size_t *end_out,
                                       sstore_error *error)
{
    sstore_collection *collection = self->collection;
    const uint64_t query = collection->items[0].first;
    sstore_status status = SSTORE_OK;
    forget_distances(self);
    for (*end_out = first; status == SSTORE_OK && (count == 0 || collection->items[0].first == query);) {
        note_distances(self, collection->items, count);
        if (++*end_out == ss_sorter_piece_count(collection->sorter))
            break;
        status = load(collection, *end_out, &count, error);
    }
    return status == SSTORE_OK ? report_pieces(self, first, *end_out, error) : status;
}

static sstore_status report_piece(reporting *self, size_t count)
{
    const ss_triple *items = self->collection->items;
    sstore_status status = SSTORE_OK;
    for (size_t begin = 0, end; status == SSTORE_OK && begin < count; begin = end) {
        for (end = begin + 1; end < count && items[end].first == items[begin].first;)
            end++;
        status = report_query(self, items + begin, end - begin);
    }
    return status;
}

/* After the last match was added. */
static sstore_status seal(sstore_collection *collection, sstore_error *error)
{
    ss_progress nobody = {.report = NULL};
    if (collection->sealed)
        return SSTORE_OK;
    const size_t bytes = collection->piece_capacity * sizeof(ss_triple);
    if (collection->items == NULL)
        collection->items = ss_alloc_large(bytes);
    if (collection->scratch == NULL)
        collection->scratch = ss_alloc_large(bytes);
    if (collection->items == NULL || collection->scratch == NULL)
        return ss_fail_memory(error, bytes);
    collection->sealed = true;
    return ss_sorter_finish(collection->sorter, collection->items, &nobody, error);
}

sstore_status sstore_collection_report(sstore_collection *collection, sstore_stream_match_fn on_match, void *context,
                                       sstore_error *error)
{
    if (collection == NULL || on_match == NULL)
        return ss_fail_argument(error, "sstore_collection_report: collection and on_match must not be NULL");
    reporting self = {.collection = collection, .on_match = on_match, .context = context};
    sstore_status status = seal(collection, error);
    for (size_t piece = 0, end; status == SSTORE_OK && piece < ss_sorter_piece_count(collection->sorter); piece = end) {
        size_t count;
        end = piece + 1;
        status = load(collection, piece, &count, error);
        if (status != SSTORE_OK || count == 0)
            continue;
        if (collection->items[0].first == collection->items[count - 1].first)
            status = report_long_query(&self, piece, count, &end, error);
        else
            status = report_piece(&self, count);
    }
    return status;
}
