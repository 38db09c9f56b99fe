/*
 * names.h - the blocks of a column of names, which ascend by their ids.
 *
 * A block holds consecutive names. It stores the first id, and for each name how far its id is ahead of consecutive
 * ids; these numbers are left out if the ids are consecutive. A name shares its first bytes with the name before it,
 * and the rest is coded by fragments. The first name of each group of 16 shares with the first name of the block
 * instead: so a name is found by decoding at most 17. A name that is too long for a block has it alone, and goes on in
 * the next blocks. A block's key in the directory is its last id. Layout: format-spec/sstore-format.md, "Names".
 */
#ifndef SS_NAMES_H
#define SS_NAMES_H

#include <string.h>

#include "codec/fragments.h"

#define SS_MAX_NAME_BYTES 65536u
#define SS_NAMES_A_GROUP 16u
#define SS_NAMES_FRAME_BYTES 12u
#define SS_NAME_SLACK_BYTES 16u /* behind a name in memory: its end, and what copies of whole numbers touch */
#define SS_NAME_BUFFER_BYTES (SS_MAX_NAME_BYTES + SS_NAME_SLACK_BYTES)
/* The shared length, and codes for the whole name and its end. */
#define SS_NAME_CODES_BYTES (3u + 2u * (SS_MAX_NAME_BYTES + 1u))

/* Whether `name` can be one: 1 to SS_MAX_NAME_BYTES bytes without NUL and newline. */
bool ss_name_valid(const char *name, size_t size);

static inline bool ss_name_equal(const void *a, size_t a_size, const void *b, size_t b_size)
{
    return a_size == b_size && memcmp(a, b, a_size) == 0;
}

/* The number of bytes at the begin in which two names are equal. */
size_t ss_name_shared_bytes(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size);

/* ----- encoding ----- */

/* Names of a block that is being filled. */
typedef struct ss_names_encoder {
    const ss_fragments *fragments;
    uint32_t block_bytes;
    uint32_t count; /* names that begin in the block */
    uint64_t first_id, last_id;
    uint32_t data_bytes;
    uint32_t long_at, long_bytes; /* of the codes of a name that is longer than a block: how many were taken, and all */
    size_t first_size, last_size;
    uint64_t *ids;    /* of the names, less the first id and their places in the block */
    uint16_t *groups; /* where the data of each group begins */
    uint8_t *data;    /* of a block */
    uint8_t *first, *last, *next, *codes;
} ss_names_encoder;

/* The memory of an encoder. */
size_t ss_names_encoder_bytes(uint32_t block_bytes);

/* Begin with an empty block, in zeroed memory of that size. */
void ss_names_encoder_init(ss_names_encoder *encoder, const ss_fragments *fragments, uint32_t block_bytes,
                           void *memory);

/* Add a name, whose id is above the one before it. False if the block is full: take it, and add the name again. */
bool ss_names_encoder_add(ss_names_encoder *encoder, uint64_t id, const uint8_t *name, size_t size);

/* Take the block, except its trailer, and begin an empty one. Returns whether the next block has to be taken before
 * more names are added, since the last name goes on in it. At least one name must have been added. */
bool ss_names_encoder_take(ss_names_encoder *encoder, uint8_t *block);

/* ----- decoding ----- */

/* A block in memory with checked parameters. The bytes are borrowed. */
typedef struct ss_names_block {
    const uint8_t *bytes;
    uint32_t end; /* of its codes */
    uint32_t count, width;
    uint64_t first_id;
    bool continued; /* the last name goes on in the next block */
    uint32_t groups_at, data_at;
} ss_names_block;

bool ss_names_block_open(ss_names_block *block, const uint8_t *bytes, uint32_t block_bytes, const char **reason);

/* The id of name `index` (below count). */
static inline uint64_t ss_names_block_id(const ss_names_block *block, uint32_t index)
{
    if (block->width == 0)
        return block->first_id + index;
    const uint64_t mask = block->width == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * block->width) - 1;
    return block->first_id + index +
           (ss_load_le64(block->bytes + SS_NAMES_FRAME_BYTES + (size_t)index * block->width) & mask);
}

/* The index of the name of an id; count if there is none. Looks for it by bisection. */
uint32_t ss_names_block_find(const ss_names_block *block, uint64_t id);

/* Prefetch what ss_names_block_decode() reads. */
void ss_names_block_prefetch(const ss_names_block *block, uint32_t index);

/* Decode one name, which does not go on in the next block, into a buffer of SS_NAME_BUFFER_BYTES. False if it is
 * malformed. */
bool ss_names_block_decode(const ss_names_block *block, const ss_fragments *fragments, uint32_t index, uint8_t *buffer,
                           size_t *size_out);

/* Decodes the names of a block one after the other. */
typedef struct ss_names_walk {
    const uint8_t *at;
    uint32_t index; /* of the next name */
    size_t first_size, size;
    uint8_t *first, *name; /* buffers: of the first name of the block, and of the one decoded last */
} ss_names_walk;

void ss_names_walk_begin(ss_names_walk *walk, const ss_names_block *block);

/* Decode the next name, which does not go on in the next block, to walk->name. False if it is malformed. */
bool ss_names_walk_next(ss_names_walk *walk, const ss_names_block *block, const ss_fragments *fragments);

/* The codes of a block whose only name goes on in the next one, or which goes on from a block before it. */
static inline const uint8_t *ss_names_block_codes(const ss_names_block *block, uint32_t *size_out)
{
    *size_out = block->end - block->data_at;
    return block->bytes + block->data_at;
}

/* Decode a name whose codes were gathered from its blocks, with zeros behind them. False if they are malformed. */
bool ss_names_decode_codes(const ss_fragments *fragments, const uint8_t *codes, size_t codes_size, uint8_t *buffer,
                           size_t *size_out);

#endif
