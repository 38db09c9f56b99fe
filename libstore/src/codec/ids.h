/*
 * ids.h - the blocks of the id column: the ids of all records, in the order of table 0, found by rank.
 *
 * A fingerprint's rank is its position in table 0, from 0. A block holds consecutive records. It stores the rank of the
 * first one, and a bit for each record that says whether a new rank begins; these bits are left out if each record has
 * its own rank. Ids are packed as differences from the block's smallest one, at the width of the largest. Ids of one
 * rank ascend. A flag tells that the ids of the block's last rank continue in the next block. A block's key in the
 * directory is its last record's rank. Layout: format-spec/sstore-format.md, "Id column".
 */
#ifndef SS_IDS_H
#define SS_IDS_H

#include "codec/bits.h"
#include "codec/block.h"

/* ----- encoding ----- */

#define SS_IDS_BLOCK_CAPACITY 65535u /* records */

/* The parameters of a block. */
typedef struct ss_ids_frame {
    uint32_t count, width;
    uint64_t min;
    bool has_starts; /* some rank has several records in the block */
} ss_ids_frame;

/*
 * How many of `count` records (at least one) fit into the block that begins with the first, and its parameters. If all
 * fit, more might fit. starts[i] is 1 if record i has the next rank after that of the record before it, 0 if it has the
 * same.
 */
uint32_t ss_ids_fit(uint32_t block_bytes, const uint64_t *ids, const uint8_t *starts, size_t count,
                    ss_ids_frame *frame_out);

/* Write the block of these records except its trailer. `continued`: the next record after them has the last one's
 * rank. */
void ss_ids_encode(uint32_t block_bytes, const ss_ids_frame *frame, const uint64_t *ids, const uint8_t *starts,
                   uint64_t first_rank, bool continued, uint8_t *to);

/* ----- decoding ----- */

/* A block in memory with checked parameters. The bytes are borrowed. */
typedef struct ss_ids_block {
    const uint8_t *bytes;
    const uint8_t *starts; /* a bit for each record: it has another rank than the one before. NULL: all have */
    uint32_t count, width;
    uint64_t first_rank, min;
    bool continued;   /* the last rank has more records in the next block */
    uint32_t ids_bit; /* where the packed ids begin */
} ss_ids_block;

bool ss_ids_block_open(ss_ids_block *block, const uint8_t *bytes, uint32_t block_bytes, const char **reason);

/* The id of record `index` (below count). */
static inline uint64_t ss_ids_block_id(const ss_ids_block *block, uint32_t index)
{
    uint32_t at = block->ids_bit + index * block->width;
    if (block->width == 64)
        return ss_bits_get(block->bytes, at, 32) | ss_bits_get(block->bytes, at + 32, 32) << 32;
    return block->min + ss_bits_get(block->bytes, at, block->width);
}

/* Whether record `index` has another rank than the one before it; false for the first of the block. */
static inline bool ss_ids_block_starts_rank(const ss_ids_block *block, uint32_t index)
{
    return index > 0 && (block->starts == NULL || (block->starts[index / 8] >> index % 8 & 1));
}

/* The rank of the last record. */
uint64_t ss_ids_block_last_rank(const ss_ids_block *block);

/* How many records from `first` on (above 0, the first of its rank) are alone in their ranks within the block. */
uint32_t ss_ids_block_singles(const ss_ids_block *block, uint32_t first);

/* The records of `rank` within the block: *begin_out to *end_out - 1. Empty if there are none. */
void ss_ids_block_find(const ss_ids_block *block, uint64_t rank, uint32_t *begin_out, uint32_t *end_out);

/* As ss_ids_block_find(), but searches only from record `from` on, the first one of rank `from_rank`. */
void ss_ids_block_find_from(const ss_ids_block *block, uint64_t from_rank, uint32_t from, uint64_t rank,
                            uint32_t *begin_out, uint32_t *end_out);

#endif
