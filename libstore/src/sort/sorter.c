#include "sort/sorter.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define MAX_BITS 11u                /* that choose a bucket in one partition */
#define BUCKET_ITEMS 16384u         /* up to which a bucket is not divided further */
#define PIECE_ITEMS ((size_t)32768) /* up to which buckets form one piece: it fits into a cache, with its scratch */
#define READ_BYTES ((size_t)393216) /* that are read at once to partition a bucket again */
#define READ_ITEMS ((size_t)16384)  /* at most as many */
#define UNFILLED_DIVISOR 16u        /* chunks that are not full may take 1/16 of memory */
#define MIN_CHUNK_BYTES ((size_t)1024)
#define MAX_CHUNK_BYTES ((size_t)8192)
#define MIN_CHUNKS 16u /* a writer, so that each finds one for every bucket */

typedef struct piece {
    ss_buckets *buckets;
    uint32_t first, end; /* its buckets */
    size_t count;        /* of its items; equal ones are still counted, unless it is sorted */
    bool sorted;         /* in memory */
    bool equal;          /* all items are equal, and may be too many for a buffer; they count as one */
} piece;

/* The bits in which any items of a bucket differ from its first one, word by word. */
typedef struct differences {
    bool any;
    uint64_t first[SS_MAX_ITEM_WORDS], differing[SS_MAX_ITEM_WORDS];
} differences;

struct ss_sorter {
    ss_sorter_options options;
    ss_chunk_pool *pool;
    ss_spill_file spill;
    ss_buckets *first_partition; /* of all items */
    ss_buckets *partitions;      /* a list: the first one, and those of buckets that were too large */
    piece *pieces;
    size_t piece_count, piece_capacity;
    uint64_t count;        /* of all items, from ss_sorter_finish() on; before, UINT64_MAX */
    ss_progress *progress; /* while pieces are formed, as the next one */
    void *buffer;          /* to read spilled items; NULL until a bucket is partitioned again */
    differences found;     /* in the last bucket that was too large; not on the stack, as split() recurs */
};

/* ----- memory ----- */

#define MIN_SORTER_BYTES ((uint64_t)1 << 20)
#define MIN_PIECE ((uint64_t)16384)
#define MAX_PIECE ((uint64_t)1 << 20)        /* larger ones are sorted more slowly, and buckets are seldom larger */
#define LARGE_ITEM_BYTES 64u                 /* items of more fill the caches earlier: */
#define MAX_PIECE_BYTES ((uint64_t)32 << 20) /* the limit of a piece of these */
#define WORKERS_DIVISOR 6u                   /* all threads' pieces take 1/6 of memory */

ss_sort_memory ss_sort_memory_divide(uint64_t limit_bytes, uint32_t threads, uint64_t fixed_bytes, uint64_t item_bytes)
{
    const uint64_t max_items = item_bytes <= LARGE_ITEM_BYTES ? MAX_PIECE
                                                              : ss_max_u64(MAX_PIECE_BYTES / item_bytes, MIN_PIECE);
    const uint64_t min = fixed_bytes + MIN_PIECE * item_bytes, max = fixed_bytes + max_items * item_bytes;
    const uint64_t for_workers = limit_bytes / WORKERS_DIVISOR;
    threads = (uint32_t)ss_max_u64(ss_min_u64(threads, for_workers / min), 1);
    const uint64_t each = ss_min_u64(ss_max_u64(for_workers / threads, min), max);
    const uint64_t taken = SS_FED_PROCESS_BYTES + threads * each;
    return (ss_sort_memory){
        .threads = threads,
        .piece_capacity = (size_t)((each - fixed_bytes) / item_bytes),
        .sorter_bytes = limit_bytes > taken + MIN_SORTER_BYTES ? limit_bytes - taken : MIN_SORTER_BYTES,
    };
}

/* ----- adding items ----- */

sstore_status ss_sorter_pool_open(ss_chunk_pool *pool, uint64_t memory_bytes, uint32_t writers, sstore_error *error)
{
    uint64_t part = (memory_bytes / UNFILLED_DIVISOR / writers) >> MAX_BITS;
    size_t chunk_bytes = MIN_CHUNK_BYTES;
    while (chunk_bytes < MAX_CHUNK_BYTES && 2 * chunk_bytes <= part)
        chunk_bytes *= 2;
    uint64_t min = MIN_CHUNKS * writers * chunk_bytes;
    return ss_chunk_pool_open(pool, ss_max_u64(memory_bytes, min), chunk_bytes, error);
}

/* The bits that give enough buckets to keep `items` items well apart. Each writer has an unfilled chunk of each bucket,
 * and these must not take all the memory. */
static uint32_t choose_bits(const ss_sorter *sorter, uint32_t writers, uint64_t items)
{
    uint32_t max_unfilled = sorter->pool->max_chunks / UNFILLED_DIVISOR / writers, bits = 0;
    while (bits < MAX_BITS && items >> bits > BUCKET_ITEMS && max_unfilled >> bits > 1)
        bits++;
    return bits;
}

/* If all items fit into memory, whichever writer adds them, none needs to spill; otherwise memory is divided
 * equally. */
static uint32_t choose_writer_chunks(const ss_sorter *sorter, uint32_t bits, uint32_t writers)
{
    uint64_t chunk_items = sorter->pool->chunk_bytes / (sorter->options.item_words * sizeof(uint64_t));
    uint64_t chunks = sorter->options.expected_count / chunk_items + ((uint64_t)writers << bits);
    return chunks <= sorter->pool->max_chunks ? sorter->pool->max_chunks : sorter->pool->max_chunks / writers;
}

/* Begin a partition by `bits` bits of a word, from bit `shift` on. */
static sstore_status add_partition(ss_sorter *sorter, uint32_t writers, uint32_t bits, uint32_t shift, uint32_t word,
                                   ss_buckets **partition_out, sstore_error *error)
{
    ss_buckets *made = ss_alloc(1, sizeof *made);
    if (made == NULL)
        return ss_fail_memory(error, sizeof *made);
    *made = (ss_buckets){.pool = sorter->pool,
                         .spill = &sorter->spill,
                         .item_words = sorter->options.item_words,
                         .word = word,
                         .shift = shift,
                         .count = 1u << bits,
                         .next = sorter->partitions};
    *partition_out = sorter->partitions = made;
    return ss_buckets_open(made, writers, choose_writer_chunks(sorter, bits, writers), error);
}

sstore_status ss_sorter_create(const ss_sorter_options *options, ss_sorter **sorter_out, sstore_error *error)
{
    *sorter_out = NULL;
    assert(options->writers > 0 && options->piece_capacity > 0);
    assert(options->item_words >= 1 && options->item_words <= SS_MAX_ITEM_WORDS);
    ss_sorter *sorter = ss_alloc(1, sizeof *sorter);
    if (sorter == NULL)
        return ss_fail_memory(error, sizeof *sorter);
    *sorter = (ss_sorter){.options = *options, .pool = options->pool, .count = UINT64_MAX};
    ss_spill_file_open(&sorter->spill, options->tmp_dir);
    uint32_t bits = choose_bits(sorter, options->writers, options->expected_count);
    sstore_status status = add_partition(sorter, options->writers, bits, bits == 0 ? 0 : 64 - bits, 0,
                                         &sorter->first_partition, error);
    if (status == SSTORE_OK)
        *sorter_out = sorter;
    else
        ss_sorter_free(sorter);
    return status;
}

void ss_sorter_free(ss_sorter *sorter)
{
    if (sorter == NULL)
        return;
    for (ss_buckets *partition = sorter->partitions, *next; partition != NULL; partition = next) {
        next = partition->next;
        ss_buckets_close(partition);
        ss_free(partition);
    }
    ss_free(sorter->pieces);
    ss_spill_file_close(&sorter->spill);
    ss_free(sorter);
}

sstore_status ss_sorter_add(ss_sorter *sorter, uint32_t writer, const uint64_t *fingerprints, const uint64_t *ids,
                            size_t count, sstore_error *error)
{
    return ss_buckets_partition(sorter->first_partition, writer, fingerprints, ids, count, error);
}

sstore_status ss_sorter_add_items(ss_sorter *sorter, uint32_t writer, const void *items, size_t count,
                                  sstore_error *error)
{
    return ss_buckets_partition_items(sorter->first_partition, writer, items, count, error);
}

uint64_t ss_sorter_count(const ss_sorter *sorter)
{
    uint64_t count = 0;
    if (sorter->count != UINT64_MAX)
        return sorter->count; /* a bucket that was partitioned again is empty */
    for (uint32_t bucket = 0; bucket < sorter->first_partition->count; bucket++)
        count += ss_buckets_size(sorter->first_partition, bucket);
    return count;
}

uint64_t ss_sorter_spilled_bytes(const ss_sorter *sorter)
{
    return sorter->spill.bytes;
}

/* ----- forming pieces ----- */

static sstore_status add_piece(ss_sorter *sorter, piece added, sstore_error *error)
{
    piece *pieces = ss_grow(sorter->pieces, sorter->piece_count, &sorter->piece_capacity, 64, sizeof *pieces);
    if (pieces == NULL)
        return ss_fail_memory(error, 2 * sorter->piece_capacity * sizeof *pieces);
    sorter->pieces = pieces;
    pieces[sorter->piece_count++] = added;
    return SSTORE_OK;
}

static sstore_status note_differences(void *context, const void *items, size_t count, sstore_error *error)
{
    ss_sorter *sorter = context;
    differences *found = &sorter->found;
    const uint32_t item_words = sorter->options.item_words;
    const uint64_t *words = items;
    (void)error;
    if (ss_progress_add(sorter->progress, 0, 0) != SSTORE_OK)
        return SSTORE_STOPPED;
    if (!found->any)
        memcpy(found->first, words, item_words * sizeof *words);
    found->any = true;
    for (size_t i = 0; i < count; i++)
        for (uint32_t word = 0; word < item_words; word++)
            found->differing[word] |= *words++ ^ found->first[word];
    return SSTORE_OK;
}

/* Partitions the items of a bucket once more. */
typedef struct repartition {
    ss_sorter *sorter;
    ss_buckets *to;
} repartition;

static sstore_status partition_again(void *context, const void *items, size_t count, sstore_error *error)
{
    const repartition *self = context;
    if (ss_progress_add(self->sorter->progress, 0, count) != SSTORE_OK)
        return SSTORE_STOPPED;
    return ss_buckets_partition_items(self->to, 0, items, count, error);
}

static sstore_status spill_all(ss_sorter *sorter, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (ss_buckets *partition = sorter->partitions; partition != NULL; partition = partition->next)
        for (uint32_t writer = 0; status == SSTORE_OK && writer < partition->writer_count; writer++)
            status = ss_buckets_spill(partition, writer, error);
    return status;
}

static sstore_status form_pieces(ss_sorter *sorter, ss_buckets *buckets, sstore_error *error);

/* Pass the items of a bucket to on_items. */
static sstore_status each_item(ss_sorter *sorter, ss_buckets *buckets, uint32_t bucket, bool take, ss_items_fn on_items,
                               void *context, sstore_error *error)
{
    const size_t capacity = READ_BYTES / buckets->item_bytes;
    if (sorter->buffer == NULL)
        sorter->buffer = ss_realloc(NULL, READ_BYTES, 1);
    if (sorter->buffer == NULL)
        return ss_fail_memory(error, READ_BYTES);
    return ss_buckets_each(buckets, bucket, take, sorter->buffer, capacity < READ_ITEMS ? capacity : READ_ITEMS,
                           on_items, context, error);
}

/* Partition a bucket that is too large for a piece by the bits in which its items differ, and form pieces of the parts.
 * The items of a part have the highest of these bits in common, and those before it. So this ends for any items. */
static sstore_status split(ss_sorter *sorter, ss_buckets *buckets, uint32_t bucket, sstore_error *error)
{
    sorter->found = (differences){.any = false};
    sstore_status status = each_item(sorter, buckets, bucket, false, note_differences, sorter, error);
    if (status != SSTORE_OK)
        return status;
    uint32_t word = 0;
    while (word + 1 < sorter->options.item_words && sorter->found.differing[word] == 0)
        word++;
    uint64_t differing = sorter->found.differing[word];
    if (differing == 0) {
        const piece equal = {.buckets = buckets, .first = bucket, .end = bucket + 1, .count = 1, .equal = true};
        return add_piece(sorter, equal, error);
    }
    uint32_t top = 64 - (uint32_t)__builtin_clzll(differing);
    uint32_t bits = ss_max_u32(choose_bits(sorter, 1, ss_buckets_size(buckets, bucket)), 1);
    bits = bits < top ? bits : top;
    /* Each new bucket takes a chunk before many of the old one are returned. */
    if (sorter->pool->max_chunks - sorter->pool->taken < 2u << bits)
        status = spill_all(sorter, error);
    ss_buckets *parts = NULL;
    if (status == SSTORE_OK)
        status = add_partition(sorter, 1, bits, top - bits, word, &parts, error);
    repartition again = {.sorter = sorter, .to = parts};
    if (status == SSTORE_OK)
        status = each_item(sorter, buckets, bucket, true, partition_again, &again, error);
    return status == SSTORE_OK ? form_pieces(sorter, parts, error) : status;
}

/* Form pieces of the buckets in their order; small ones form one piece. */
static sstore_status form_pieces(ss_sorter *sorter, ss_buckets *buckets, sstore_error *error)
{
    const size_t capacity = sorter->options.piece_capacity, enough = capacity < PIECE_ITEMS ? capacity : PIECE_ITEMS;
    sstore_status status = SSTORE_OK;
    piece next = {.buckets = buckets};
    for (uint32_t bucket = 0; status == SSTORE_OK && bucket < buckets->count; bucket++) {
        uint64_t size = ss_buckets_size(buckets, bucket);
        if (next.count > 0 && next.count + size > enough) {
            status = add_piece(sorter, next, error);
            next = (piece){.buckets = buckets, .first = bucket};
        }
        next.end = bucket + 1;
        if (size <= capacity) {
            next.count += (size_t)size;
        } else if (status == SSTORE_OK) {
            status = split(sorter, buckets, bucket, error);
            next = (piece){.buckets = buckets, .first = bucket + 1, .end = bucket + 1};
        }
    }
    if (status == SSTORE_OK && next.count > 0)
        status = add_piece(sorter, next, error);
    return status;
}

sstore_status ss_sorter_finish(ss_sorter *sorter, ss_progress *progress, sstore_error *error)
{
    assert(sorter->piece_count == 0);
    sorter->progress = progress;
    sorter->count = ss_sorter_count(sorter);
    const sstore_status status = form_pieces(sorter, sorter->first_partition, error);
    ss_free(sorter->buffer);
    sorter->buffer = NULL;
    return status;
}

/* ----- loading pieces ----- */

size_t ss_sorter_piece_count(const ss_sorter *sorter)
{
    return sorter->piece_count;
}

/* Copies the first of many equal items. */
typedef struct first_item {
    void *to;
    size_t item_bytes;
} first_item;

static sstore_status copy_first(void *context, const void *items, size_t count, sstore_error *error)
{
    const first_item *self = context;
    (void)count, (void)error;
    memcpy(self->to, items, self->item_bytes);
    return SSTORE_STOPPED;
}

sstore_status ss_sorter_load(ss_sorter *sorter, size_t number, void *items, void *scratch, size_t *count_out,
                             sstore_error *error)
{
    const ss_sorter_options *options = &sorter->options;
    piece *from = &sorter->pieces[number];
    first_item first = {.to = items, .item_bytes = from->buckets->item_bytes};
    sstore_status status = SSTORE_OK;
    *count_out = from->count;
    if (from->equal) {
        status = ss_buckets_each(from->buckets, from->first, false, scratch, 1, copy_first, &first, error);
        status = status == SSTORE_STOPPED ? SSTORE_OK : status;
    } else {
        status = ss_buckets_gather(from->buckets, from->first, from->end, items, error);
        if (status != SSTORE_OK || from->sorted)
            return status;
        *count_out = ss_sort_unique_items(items, scratch, from->count, options->item_words);
    }
    if (status == SSTORE_OK && options->refine != NULL)
        status = options->refine(options->refine_context, items, count_out, error);
    if (status != SSTORE_OK || from->equal || !ss_buckets_in_memory(from->buckets, from->first, from->end))
        return status;
    ss_buckets_put_back(from->buckets, from->first, from->end, items, *count_out);
    from->count = *count_out;
    from->sorted = true;
    return SSTORE_OK;
}

sstore_status ss_piece_room_open(ss_piece_room *room, uint32_t item_words, size_t piece_capacity, sstore_error *error)
{
    const size_t bytes = piece_capacity * item_words * sizeof(uint64_t);
    uint8_t *memory = ss_alloc_large(2 * bytes);
    *room = (ss_piece_room){.items = memory, .scratch = memory == NULL ? NULL : memory + bytes};
    return memory == NULL ? ss_fail_memory(error, 2 * bytes) : SSTORE_OK;
}

sstore_status ss_piece_room_load(ss_piece_room *room, ss_sorter *sorter, size_t number, sstore_error *error)
{
    return ss_sorter_load(sorter, number, room->items, room->scratch, &room->count, error);
}

/* ----- sorted pieces ----- */

static sstore_status load_piece(void *context, size_t number, void *items, void *scratch, size_t *count_out,
                                sstore_error *error)
{
    return ss_sorter_load(context, number, items, scratch, count_out, error);
}

static void free_sorter(void *context)
{
    ss_sorter_free(context);
}

ss_sorted_pieces ss_pieces_of_sorter(ss_sorter *sorter, size_t max_items)
{
    return (ss_sorted_pieces){.context = sorter,
                              .piece_count = ss_sorter_piece_count(sorter),
                              .item_count = ss_sorter_count(sorter),
                              .max_items = max_items,
                              .load = load_piece,
                              .release = free_sorter};
}
