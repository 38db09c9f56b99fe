/*
 * segment_writer.h - writes the files of one segment from sorted records, within a fixed memory and on several threads.
 *
 * The records are read twice, in pieces: once to count (which gives the codes, the content sum and so the segment's
 * id), once to encode table 0 and the id column. Each other table is then made of table 0's file: decode, permute,
 * sort, count, encode. All threads work on one table at a time. Equal records and options give equal files, byte for
 * byte, whatever the memory, the threads and the pieces.
 */
#ifndef SS_SEGMENT_WRITER_H
#define SS_SEGMENT_WRITER_H

#include "base/tasks.h"
#include "sort/sorter.h"
#include "store/manifest.h"

/* Sorted items in pieces that can be loaded repeatedly, by several threads at once. */
typedef struct ss_sorted_pieces {
    void *context;
    size_t piece_count;
    uint64_t item_count;  /* of all pieces, with repeats if there are any: for progress */
    size_t max_items;     /* in a piece */
    size_t progress_each; /* how many of item_count a piece counts for, if not its own items; else 0 */
    /* Load a piece into `items`, each the words of a fingerprint and, with ids, an id: ascending, distinct, all above
     * those of the piece before. `scratch` has the same size. */
    sstore_status (*load)(void *context, size_t piece, void *items, void *scratch, size_t *count_out,
                          sstore_error *error);
    void (*release)(void *context); /* frees the pieces' memory when they are no longer needed; may be NULL */
} ss_sorted_pieces;

/* The pieces of a finished sorter, which is borrowed: at most `max_items` items in each. */
ss_sorted_pieces ss_pieces_of_sorter(ss_sorter *sorter, size_t max_items);

/* Divide the memory of a build; see ss_sort_memory_divide(). */
ss_sort_memory ss_build_memory_divide(uint64_t limit_bytes, uint32_t threads, bool with_ids, uint32_t block_bytes);

/* The capacity of pieces if there are `count` items in all. */
static inline size_t ss_piece_capacity(size_t max, uint64_t count)
{
    return (size_t)ss_min_u64(max, ss_max_u64(count, 1));
}

/* The plan of a segment that removes: one table with all 64 bits as key, which serves only look-ups of records. */
#define SS_REMOVAL_PLAN "1"

/* The segment to write. */
typedef struct ss_segment_writer {
    const ss_dir *dir;     /* for the files */
    const ss_dir *tmp_dir; /* for spilled items */
    uint32_t words;        /* of a fingerprint; if there are several, row_writer.h is used */
    bool has_ids;
    uint32_t kind; /* ss_segment_kind, or ss_word_index_kind() */
    ss_sort_memory memory;
    ss_chunk_pool *pool; /* for items in memory */
    const ss_plan *plan; /* NULL: chosen from the fingerprints */
    double other_bytes;  /* of a word index: what else the store takes for each word; weighs in the choice */
    /* With several words, of the word indexes: */
    const char *plan_name; /* of each word's plan; NULL: chosen */
    uint32_t max_radius;   /* that it is complete for */
    bool records_only;     /* write no word indexes: the segment is only read in order */
    uint32_t distance;
    uint32_t block_bytes;
    ss_progress *progress;
    double begin_fraction, end_fraction; /* of the call's work, before and after this segment */
} ss_segment_writer;

/* Write all files. Fills *segment_out except for its folder. MEMORY, IO, DAMAGED, STOPPED. */
sstore_status ss_segment_write(const ss_segment_writer *writer, const ss_sorted_pieces *records,
                               ss_manifest_segment *segment_out, sstore_error *error);

/* An upper bound of the bytes of the arrays in a segment's directory, before its blocks are known. */
uint64_t ss_directory_bound_bytes(const ss_manifest_segment *segment);

#endif
