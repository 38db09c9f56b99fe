/*
 * buckets.h - items partitioned by some leading bits, so that each bucket can be sorted alone: the first pass of an
 * external radix sort. Buckets consist of chunks of a fixed memory, the pool, and beyond it of runs in a spill file.
 */
#ifndef SS_BUCKETS_H
#define SS_BUCKETS_H

#include <pthread.h>

#include "base/common.h"
#include "base/file.h"

/* ===== chunk pool ===== */

/* A fixed memory, in equal chunks that several threads take and return. It is allocated on demand, slab by slab, and
 * retained until the pool is closed. */

#define SS_NO_CHUNK UINT32_MAX

typedef struct ss_chunk_pool {
    pthread_mutex_t lock; /* guards all below but next[] and the chunks themselves */
    size_t chunk_bytes;   /* a power of two; chunks are aligned to it */
    uint32_t slab_chunks, max_chunks;
    uint32_t made;       /* chunks that were ever taken */
    uint32_t taken;      /* chunks in use */
    uint32_t free_chunk; /* the first returned chunk; linked by next[] */
    void **slabs;        /* as allocated */
    uint8_t **bases;     /* the first chunk of each slab */
    uint32_t *next;      /* links a chunk to another one of the same list: free chunks, or a bucket's */
} ss_chunk_pool;

/* Open a pool of at most `bytes`, in chunks of `chunk_bytes`; at least one chunk. MEMORY. */
sstore_status ss_chunk_pool_open(ss_chunk_pool *pool, uint64_t bytes, size_t chunk_bytes, sstore_error *error);
/* A zeroed pool, and one that could not be opened, are allowed. */
void ss_chunk_pool_close(ss_chunk_pool *pool);

/* ===== spill file ===== */

/* An unnamed file for items that do not fit in memory; it exists only while it is open. Several threads write runs to
 * it at once. Only this process reads it, so it is in the host's byte order. */

typedef struct ss_spill_file {
    const ss_dir *dir;    /* where the file goes; borrowed */
    pthread_mutex_t lock; /* guards the two below until the file exists */
    ss_file file;
    uint64_t bytes; /* reserved */
} ss_spill_file;

/* Open the folder for the spills of a call: `path`; if that is NULL, the one that TMPDIR names; without it `usual`, or
 * the working folder if that is also NULL. So /tmp, which all users share, is never used unless requested. NOT_FOUND,
 * IO, MEMORY. */
sstore_status ss_spill_dir_open(const char *path, const ss_dir *usual, ss_dir *dir_out, sstore_error *error);

/* The file is created when it is needed. */
void ss_spill_file_open(ss_spill_file *spill, const ss_dir *dir);
/* A zeroed one is allowed. */
void ss_spill_file_close(ss_spill_file *spill);

/* ===== buckets ===== */

/*
 * An item is one or more u64 words: a key, a record (ss_record), a triple (ss_triple), a row of more. One of its
 * words chooses the bucket. Several writers, each a thread, partition items at once. Each has its own lists of chunks
 * of the shared pool. A writer that has used its part of the pool spills all its buckets, one after the other, as a
 * run. Within a bucket items have no order.
 */

/* Items that one writer spilled at once. */
typedef struct ss_spilled_run {
    struct ss_spilled_run *next;
    uint64_t offset;
    uint32_t begins[]; /* one a bucket and one more: in items from the offset */
} ss_spilled_run;

typedef struct ss_bucket_writer {
    uint8_t **heads;  /* where the next item of a bucket goes; NULL, or the end of a chunk: into a new chunk */
    uint32_t *newest; /* of each bucket's chunks, of which all others are full */
    uint32_t *chunks; /* how many a bucket has */
    uint32_t held_chunks, max_chunks;
    ss_spilled_run *runs, *last_run; /* in the order of the file */
} ss_bucket_writer;

typedef struct ss_buckets {
    ss_chunk_pool *pool; /* borrowed, as the spill file */
    ss_spill_file *spill;
    uint32_t item_words;
    size_t item_bytes, margin_bytes; /* set by ss_buckets_open(): of an item, and before the first one of a chunk */
    uint32_t word;                   /* the one that chooses the bucket */
    uint32_t shift, count;           /* the bucket is (word >> shift) % count; count is a power of two */
    uint32_t writer_count;
    ss_bucket_writer *writers;
    struct ss_buckets *next; /* for the owner's use */
} ss_buckets;

/* Each of the writers may hold at most `max_chunks` chunks. MEMORY. */
sstore_status ss_buckets_open(ss_buckets *buckets, uint32_t writer_count, uint32_t max_chunks, sstore_error *error);
/* Return all chunks. Buckets that could not be opened are allowed. */
void ss_buckets_close(ss_buckets *buckets);

/* Partition, by the first word, items of a fingerprint and an id. A fingerprint is all words but the last; or all, if
 * `ids` is NULL. Fingerprints are one after the other. If an item is one word, `ids` is not read. IO, MEMORY. */
sstore_status ss_buckets_partition(ss_buckets *buckets, uint32_t writer, const uint64_t *fingerprints,
                                   const uint64_t *ids, size_t count, sstore_error *error);
/* Partition items of any kind, one after the other in an array. IO, MEMORY. */
sstore_status ss_buckets_partition_items(ss_buckets *buckets, uint32_t writer, const void *items, size_t count,
                                         sstore_error *error);
/* Move all items of a writer from memory to the spill file. IO, MEMORY. */
sstore_status ss_buckets_spill(ss_buckets *buckets, uint32_t writer, sstore_error *error);

/* ----- reading, once all items are partitioned ----- */

/* The items in a bucket. */
uint64_t ss_buckets_size(const ss_buckets *buckets, uint32_t bucket);
/* Whether all of the buckets first .. end - 1 are in memory. */
bool ss_buckets_in_memory(const ss_buckets *buckets, uint32_t first, uint32_t end);
/* Copy the items of the buckets first .. end - 1 to `items`, bucket by bucket. Several threads may do so at once.
 * IO. */
sstore_status ss_buckets_gather(const ss_buckets *buckets, uint32_t first, uint32_t end, void *items,
                                sstore_error *error);
/* Replace the first `count` items of these buckets, which are all in memory. */
void ss_buckets_put_back(ss_buckets *buckets, uint32_t first, uint32_t end, void *items, size_t count);

/* Pass a bucket's items to on_items in parts. If `take` is set, remove them from the bucket meanwhile. `buffer` has
 * `capacity` items. Errors: IO, and those of on_items. */
typedef sstore_status (*ss_items_fn)(void *context, const void *items, size_t count, sstore_error *error);
sstore_status ss_buckets_each(ss_buckets *buckets, uint32_t bucket, bool take, void *buffer, size_t capacity,
                              ss_items_fn on_items, void *context, sstore_error *error);

#endif
