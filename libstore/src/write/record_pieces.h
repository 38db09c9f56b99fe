/*
 * record_pieces.h - the records of stores as sorted pieces: they are read in order from table 0 and the ids, so nothing
 * is sorted. Threads take pieces from the iterator one after the other, and work on them in parallel.
 */
#ifndef SS_RECORD_PIECES_H
#define SS_RECORD_PIECES_H

#include "base/tasks.h"
#include "sort/sorter.h"
#include "store/record_iterator.h"

typedef struct ss_record_pieces {
    ss_merge_iterator *records;  /* borrowed */
    uint64_t shard, shard_count; /* records of other shards are left out */
    uint64_t next_id;            /* of the store to be written: above all ids */
    /* Set by ss_record_pieces_open(): */
    size_t piece_count, piece_capacity;
    ss_sequencer sequencer;
    bool has_last;                    /* a record was read */
    uint64_t last[SS_MAX_ITEM_WORDS]; /* the last one: its fingerprint and its id */
} ss_record_pieces;

/* The shard of a fingerprint. Shards are ranges of the hash of fingerprints. */
uint32_t ss_shard_of(const uint64_t *fingerprint, uint32_t words, uint64_t shard_count);

/* Prepare to return at most `max_records`, in pieces of at most `piece_capacity`. The fields above are set. */
ss_sorted_pieces ss_record_pieces_open(ss_record_pieces *pieces, size_t piece_capacity, uint64_t max_records);
void ss_record_pieces_close(ss_record_pieces *pieces);

#endif
