/*
 * segment_writer.h - writes the files of one segment from sorted records, within a fixed memory and on several threads.
 *
 * A segment is a table 0 with all fingerprints, and their ids. The records are read twice, in pieces: once to count
 * (which gives the code, the content sum and so the segment's id), once to encode table 0 and the ids. The rest is
 * then made from the file of table 0: with one word, each other table (decode, permute, sort, count, encode); with
 * several words, an index for each word, which is a segment of records (word, rank in table 0). An index of the ids is
 * made from their file, and the names are written in the order of that index. All threads work on one table at a time.
 * Equal records and options give equal files, byte for byte, whatever the memory, the threads and the pieces.
 */
#ifndef SS_SEGMENT_WRITER_H
#define SS_SEGMENT_WRITER_H

#include "base/tasks.h"
#include "plan/cost.h"
#include "sort/sorter.h"
#include "store/manifest.h"
#include "write/name_merge.h"

/* Divide the memory of a build of fingerprints of this many words; see ss_sort_memory_divide(). */
ss_sort_memory ss_build_memory_divide(uint64_t limit_bytes, uint32_t threads, uint32_t words, bool has_ids,
                                      uint32_t block_bytes);

/* What segment to write, and how. */
typedef struct ss_segment_spec {
    const ss_dir *dir;     /* for the files */
    const ss_dir *tmp_dir; /* for spilled items */
    uint32_t words;        /* of a fingerprint */
    bool has_ids, has_id_index, has_names;
    uint32_t kind; /* as in the manifest */
    ss_sort_memory memory;
    ss_chunk_pool *pool; /* for items in memory */
    const ss_plan *plan; /* NULL: chosen from the fingerprints, if these have one word */
    double other_bytes;  /* of a word index: what else the store takes for each word; weighs in the choice */
    /* With several words, of the word indexes: */
    const char *plan_name;            /* of each word's plan; NULL: chosen */
    uint32_t max_radius;              /* that it is complete for */
    bool records_only;                /* the segment is only read in order */
    ss_name_merge *names;             /* with names: those of its ids, at least; borrowed */
    uint64_t name_bytes;              /* of those that were given: for the disk space that is expected */
    const ss_manifest_segment *named; /* of a name part: what its column settled; else NULL */
    uint32_t distance;
    uint32_t block_bytes;
    ss_progress *progress;
    double begin_fraction, end_fraction; /* of the call's work, before and after this segment */
} ss_segment_spec;

/* Whether queries search the segment. If not, it needs one table only, and no indexes. */
static inline bool ss_segment_is_searched(const ss_segment_spec *spec)
{
    return spec->kind != SS_SEGMENT_REMOVES && !spec->records_only;
}

static inline bool ss_segment_has_word_indexes(const ss_segment_spec *spec)
{
    return spec->words > 1 && ss_segment_is_searched(spec);
}

static inline bool ss_segment_has_id_index(const ss_segment_spec *spec)
{
    return spec->has_id_index && ss_segment_is_searched(spec);
}

static inline bool ss_segment_has_names(const ss_segment_spec *spec)
{
    return spec->has_names && ss_segment_is_searched(spec);
}

/* Set the plan of a segment of one word; of several words, one that may be expected of an index. It is the given one,
 * or chosen for these records, and the sample if that is not NULL. MEMORY. */
sstore_status ss_segment_choose_plan(const ss_segment_spec *spec, const ss_expected_store *expected,
                                     ss_sampler *sampler, ss_plan *plan_out, sstore_error *error);

/* Write all files. An item of `records` is the words of a fingerprint and, with ids, an id; they are released. Fills
 * *segment_out except for its folder; free it by ss_manifest_segment_free(), also after a failure. MEMORY, IO, DAMAGED,
 * STOPPED. */
sstore_status ss_segment_write(const ss_segment_spec *spec, const ss_sorted_pieces *records,
                               ss_manifest_segment *segment_out, sstore_error *error);

/* An upper bound of the bytes of the arrays in a segment's directory, before its blocks are known. */
uint64_t ss_directory_bound_bytes(const ss_manifest_segment *segment);

#endif
