/*
 * key_sorter.h - reads table 0 or the ids, and sorts what another table or an index is made of: fingerprints with
 * permuted bits, or a word of each fingerprint, or each id, with its rank.
 */
#ifndef SS_KEY_SORTER_H
#define SS_KEY_SORTER_H

#include "base/tasks.h"
#include "sort/sorter.h"
#include "store/column_iterators.h"
#include "store/manifest.h"

typedef struct ss_key_sorter {
    const ss_dir *dir;                  /* of the segment; all of these are borrowed */
    const ss_manifest_segment *segment; /* whose table 0 is written */
    const ss_dir *tmp_dir;              /* for spilled items */
    ss_chunk_pool *pool;                /* for items in memory */
    ss_progress *progress;
    ss_sort_memory memory;
    /* Set by ss_key_sorter_open(): */
    ss_block_reader reader; /* of table 0 */
    ss_code code;
    ss_checked_blocks blocks;     /* of both */
    ss_table_iterator *iterators; /* one a thread */
    /* Of the current sort: */
    uint32_t word;
    bool packed;
    ss_checked_blocks ids;
    ss_ids_iterator *ids_iterators; /* one a thread */
    ss_permutation permutation;
    ss_sorter *sorter;
} ss_key_sorter;

/* Open table 0. The fields above are set. Close it also after a failure. IO, MEMORY, DAMAGED. */
sstore_status ss_key_sorter_open(ss_key_sorter *keys, sstore_error *error);
void ss_key_sorter_close(ss_key_sorter *keys);

/* Sort the fingerprints for table `number`; or, if they have several words, (word, rank) for the index of word
 * `number`. All are counted as progress. Release *pieces_out, but not after a failure. IO, MEMORY, DAMAGED, STOPPED. */
sstore_status ss_key_sorter_run(ss_key_sorter *keys, uint32_t number, ss_sorted_pieces *pieces_out,
                                sstore_error *error);

/* Sort what the index of the ids is made of: (id, rank), or if it is `packed` id * 2^32 + rank. Otherwise as
 * ss_key_sorter_run(). */
sstore_status ss_key_sorter_run_ids(ss_key_sorter *keys, bool packed, ss_sorted_pieces *pieces_out,
                                    sstore_error *error);

#endif
