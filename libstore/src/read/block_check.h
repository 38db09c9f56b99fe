/*
 * block_check.h - checks that blocks are as a writer must encode them (format-spec/block-codec.md, section 7, and
 * sstore-format.md, section 6). The contents of a block are encoded again and compared, so that bytes which readers
 * ignore, such as padding, are also checked. The first item must not fit into the block before.
 */
#ifndef SS_BLOCK_CHECK_H
#define SS_BLOCK_CHECK_H

#include "codec/block.h"
#include "codec/ids.h"

/* A check of the blocks of one table or id column, in their order. */
typedef struct ss_block_check {
    uint32_t block_bytes;
    const ss_code *code; /* of the table; NULL: an id column. Borrowed */
    uint64_t *items;     /* fingerprints or ids of the block before, and one more */
    uint8_t *marks;      /* of each item: the bits of its step, or whether it starts a rank */
    uint8_t *bytes;
    uint32_t count; /* of items; 0: no block before is known */
    bool continued; /* the last rank of the block before continues */
} ss_block_check;

/* Free the check also after a failure. MEMORY. */
sstore_status ss_block_check_init(ss_block_check *check, uint32_t block_bytes, const ss_code *code,
                                  sstore_error *error);
void ss_block_check_free(ss_block_check *check);

/* Check the next block of a table: its bytes, and its fingerprints as decoded with the code. They ascend strictly,
 * also from the block before. False: *reason says how the block differs from a writer's. */
bool ss_block_check_table(ss_block_check *check, const uint8_t *bytes, const uint64_t *values, uint32_t count,
                          const char **reason);

/* Check the next block of ids, in which ranks and ids are in order, also after the block before. False: as above. */
bool ss_block_check_ids(ss_block_check *check, const ss_ids_block *block, const char **reason);

/* Skip the next block, which could not be read. */
static inline void ss_block_check_skip(ss_block_check *check)
{
    check->count = 0;
}

#endif
