/*
 * block.h - the block: a piece of a table that decodes alone. Layout: format-spec/block-codec.md.
 *
 *   head | keys of groups 1 .. m-1 | slots of groups 1 .. m-1 | group 0 | group 1 | ... | group m-1 | trailer
 *
 * A block's fingerprints, ascending and distinct, are cut into groups of `restart_interval`. The head holds their
 * number and the first of them. A group's key is 32 bits of how far its first fingerprint is from the block's, enough
 * to find it; the bits below them, key_shift of them, stand at the group's end. A slot is the bit position where the
 * group begins. Within a group each further fingerprint is the code of h, the first bit in which it differs from the
 * one before, and its rest, the 63 - h bits to the right of bit h (which is 1, since they ascend). Codes run forward
 * from the group's begin, rests backward from its end: so one position a group is enough, codes can be read without
 * the rests, and groups decode independently of each other. The trailer, 8 bytes, is the checksum; not this module's.
 *
 * Encoder, decoder and search share this header and nothing else. All of them are safe on any bytes: a malformed block
 * is reported, never read or written outside its bounds.
 */
#ifndef SS_BLOCK_H
#define SS_BLOCK_H

#include "base/common.h"
#include "codec/bits.h"
#include "codec/huffman.h"
#include "codec/lanes.h"

#define SS_BLOCK_MIN_BYTES 256u
#define SS_BLOCK_MAX_BYTES 65536u
#define SS_BLOCK_TRAILER_BYTES 8u
#define SS_BLOCK_MAX_COUNT 65535u
#define SS_BLOCK_HEAD_BYTES 12u
#define SS_KEY_BYTES 4u
#define SS_KEY_BITS 32u

/* The shape of a table's blocks. */
typedef struct ss_geometry {
    uint32_t block_bytes;      /* a power of two, SS_BLOCK_MIN_BYTES to SS_BLOCK_MAX_BYTES */
    uint32_t restart_interval; /* fingerprints a group, 1 to SS_BLOCK_MAX_COUNT */
} ss_geometry;

/* Slots are as small as the block's size allows. */
static inline uint32_t ss_slot_bytes(ss_geometry geometry)
{
    return geometry.block_bytes <= 8192 ? 2 : 4;
}

/* The bit position where the last group ends. */
static inline uint32_t ss_block_end_bit(ss_geometry geometry)
{
    return (geometry.block_bytes - SS_BLOCK_TRAILER_BYTES) * 8;
}

/* Where head, keys and slots of a block of `groups` groups end, and group 0 begins. */
static inline uint32_t ss_block_first_group_bit(ss_geometry geometry, uint32_t groups)
{
    return 8 * (SS_BLOCK_HEAD_BYTES + (groups - 1) * (SS_KEY_BYTES + ss_slot_bytes(geometry)));
}

bool ss_geometry_valid(ss_geometry geometry);

/* ----- encoding ----- */

/* What the step to each fingerprint takes: bits_out[i] becomes the bits of code and rest from values[i - 1] to values[i],
 * for i from 1 on; bits_out[0] is left alone. At most 74. */
void ss_step_bits(const ss_code *code, const uint64_t *values, size_t count, uint8_t *bits_out);

/* The most fingerprints that any block of this shape takes: each takes a bit at least. */
static inline uint32_t ss_block_most(ss_geometry geometry)
{
    uint32_t bits = ss_block_end_bit(geometry);
    return bits < SS_BLOCK_MAX_COUNT ? bits : SS_BLOCK_MAX_COUNT;
}

/* How many of the fingerprints values[0 .. count-1], ascending and at least one, the block takes that begins with the first
 * of them. Where it takes all, it may have room for more. */
uint32_t ss_block_fit(ss_geometry geometry, const uint64_t *values, const uint8_t *step_bits, size_t count);

/* Write the block of values[0 .. count-1], which it takes, to block_bytes bytes at `to`; all but its trailer. */
void ss_block_encode(ss_geometry geometry, const ss_code *code, const uint64_t *values, const uint8_t *step_bits,
                     uint32_t count, uint8_t *to);

/* ----- decoding ----- */

/* A block in memory, its head checked. Borrowed bytes. */
typedef struct ss_block {
    const uint8_t *bytes;
    const ss_code *code;
    const uint8_t *slots; /* of the groups from 1 on; keys lie before them */
    uint64_t first;
    uint32_t count, group_count;
    uint32_t restart_interval, slot_bytes, key_shift;
    uint32_t first_group_bit, end_bit;
} ss_block;

/* Look at a block's head. False if it cannot be that of a block; *reason says why. */
bool ss_block_open(ss_block *block, const uint8_t *bytes, ss_geometry geometry, const ss_code *code,
                   const char **reason);

/* Why a decoder below refused a block. */
#define SS_MALFORMED_GROUP "the bounds, codes or rests of a group are impossible, or its fingerprints do not ascend"

/* Decode all fingerprints to out[0 .. count-1]: they ascend strictly. False if the bits are malformed or the fingerprints do
 * not ascend. */
bool ss_block_decode(const ss_block *block, uint64_t *out);

/* The same, slowly, and everything is noticed that makes a block malformed. */
bool ss_block_decode_strictly(const ss_block *block, uint64_t *out);

/* ss_block_decode() for `groups` groups from `first_group` on; *count_out is the number of their fingerprints. */
bool ss_block_decode_groups(const ss_block *block, uint32_t first_group, uint32_t groups, uint64_t *out,
                            uint32_t *count_out);

/* A group to decode. */
typedef struct ss_group {
    const ss_block *block;
    uint32_t number;
} ss_group;

/* Decode 1 to SS_LANES groups of blocks of one table, side by side; the fingerprints of groups[i], which ascend strictly, go to
 * out[i * restart_interval]. Returns the index of the first group that is malformed, group_count if all are sound. */
uint32_t ss_block_decode_lanes(const ss_group *groups, uint32_t group_count, uint64_t *out);

/* The number of fingerprints in a group. */
static inline uint32_t ss_block_group_size(const ss_block *block, uint32_t group)
{
    uint32_t left = block->count - group * block->restart_interval;
    return left < block->restart_interval ? left : block->restart_interval;
}

/* Where a group begins, in bits; as it says there, unchecked. */
static inline uint32_t ss_block_group_begin(const ss_block *block, uint32_t group)
{
    if (group == 0)
        return block->first_group_bit;
    const uint8_t *slot = block->slots + (size_t)(group - 1) * block->slot_bytes;
    return block->slot_bytes == 2 ? ss_load_le16(slot) : ss_load_le32(slot);
}

/* Where it ends. */
static inline uint32_t ss_block_group_end(const ss_block *block, uint32_t group)
{
    return group + 1 == block->group_count ? block->end_bit : ss_block_group_begin(block, group + 1);
}

/* ----- searching ----- */

/* The groups in which the fingerprints low .. high are, if they are in the block: *first_out to *last_out. */
void ss_block_find_groups(const ss_block *block, uint64_t low, uint64_t high, uint32_t *first_out, uint32_t *last_out);

#endif
