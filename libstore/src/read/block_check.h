/*
 * block_check.h - whether blocks are what a writer must make of their contents (format-spec/block-codec.md, section 7, and
 * sstore-format.md, section 6). What was read is written again, and the bytes are compared: so nothing that a reader
 * passes over, as padding, is left unseen. A block is also held against the one after it, which must begin with what it
 * has no room for. For verification.
 */
#ifndef SS_BLOCK_CHECK_H
#define SS_BLOCK_CHECK_H

#include "codec/block.h"
#include "codec/ids.h"

/* ----- tables ----- */

typedef struct ss_canonical_table {
    uint32_t block_bytes;
    const ss_code *code; /* borrowed */
    uint64_t *values;    /* of the block before, with room for one more */
    uint8_t *step_bits;
    uint8_t *bytes;
    uint32_t count; /* of the block before; 0: none that is known */
} ss_canonical_table;

sstore_status ss_canonical_table_init(ss_canonical_table *self, uint32_t block_bytes, const ss_code *code,
                                      sstore_error *error);
void ss_canonical_table_free(ss_canonical_table *self);

/* The next block's bytes, and its fingerprints as decoded, so that the code has what each step takes; they ascend strictly,
 * also from the block before. False: *reason says what is not as a writer must have it. */
bool ss_canonical_table_next(ss_canonical_table *self, const uint8_t *bytes, const uint64_t *values, uint32_t count,
                             const char **reason);

/* The next block could not be read. */
void ss_canonical_table_skip(ss_canonical_table *self);

/* ----- the id column ----- */

typedef struct ss_canonical_ids {
    uint32_t block_bytes;
    uint64_t *ids; /* of the block before, with room for one more */
    uint8_t *starts;
    uint8_t *bytes;
    uint32_t count; /* of the block before; 0: none */
    bool continued;   /* the block before */
} ss_canonical_ids;

sstore_status ss_canonical_ids_init(ss_canonical_ids *self, uint32_t block_bytes, sstore_error *error);
void ss_canonical_ids_free(ss_canonical_ids *self);

/* The next block, sound, its ranks and ids in order, also after the block before. */
bool ss_canonical_ids_next(ss_canonical_ids *self, const ss_ids_block *block, const char **reason);

#endif
