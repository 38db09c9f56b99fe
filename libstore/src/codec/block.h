/*
 * block.h - the block: a piece of a table that decodes alone. Layout: format-spec/block-codec.md.
 *
 *   column of lower halves | group 0 | group 1 | ... | group m-1 | begins of groups 1 .. m-1 | their keys | head | trailer
 *
 * A block's fingerprints ascend and are distinct. Each is two halves of 32 bits. The lower halves stand in a column, in
 * order, so that a query tests them without decoding anything; only where one of them is near does it decode the upper
 * halves of its group, which has up to SS_GROUP_SIZE fingerprints. Within a group each upper half but the first is the
 * code of h, the first bit in which it differs from the one before (32: in none), and its rest, the 31 - h bits to the
 * right of bit h (which is 1, since they ascend). Codes run forward from the group's begin, rests backward from its end:
 * so one position a group is enough, and codes can be read without the rests. A group's key is 16 bits of how far its
 * first upper half is from the block's, enough to find it; the bits below them, key_shift of them, stand at the group's
 * end. The trailer, 8 bytes, is the checksum; not this module's.
 *
 * Encoder, decoder and search share this header and nothing else. All of them are safe on any bytes: a malformed block
 * is reported, never read or written outside its bounds.
 */
#ifndef SS_BLOCK_H
#define SS_BLOCK_H

#include "base/bytes.h"
#include "base/common.h"
#include "codec/huffman.h"

#define SS_BLOCK_MIN_BYTES 256u
#define SS_BLOCK_MAX_BYTES 65536u
#define SS_BLOCK_TRAILER_BYTES 8u
#define SS_BLOCK_HEAD_BYTES 8u
#define SS_GROUP_SIZE 64u
#define SS_GROUP_FRAME_BYTES 4u /* begin and key of a group from 1 on, 2 bytes each */
#define SS_COLUMN_BITS 32u /* the lower half of a fingerprint */
#define SS_LOWER_BYTES 4u
#define SS_KEY_BITS 16u
#define SS_UPPER_BITS 32u

/* Whether blocks may have so many bytes: a power of two. */
bool ss_block_bytes_valid(uint32_t block_bytes);

/* The most fingerprints that any block of this size takes. */
static inline uint32_t ss_block_capacity(uint32_t block_bytes)
{
    return (block_bytes - SS_BLOCK_TRAILER_BYTES - SS_BLOCK_HEAD_BYTES) / SS_LOWER_BYTES;
}

static inline uint32_t ss_group_count(uint32_t count)
{
    return (count + SS_GROUP_SIZE - 1) / SS_GROUP_SIZE;
}

static inline uint32_t ss_upper(uint64_t fingerprint)
{
    return (uint32_t)(fingerprint >> SS_UPPER_BITS);
}

/* ----- encoding ----- */

/* What the step to each fingerprint takes beside its lower half: bits_out[i] becomes the bits of code and rest from
 * values[i - 1] to values[i], for i from 1 on; bits_out[0] is left alone. At most 42. */
void ss_step_bits(const ss_code *code, const uint64_t *values, size_t count, uint8_t *bits_out);

/* How many of the fingerprints values[0 .. count-1], ascending and at least one, the block takes that begins with the first
 * of them. Where it takes all, it may have room for more. */
uint32_t ss_block_fit(uint32_t block_bytes, const uint64_t *values, const uint8_t *step_bits, size_t count);

/* Write the block of values[0 .. count-1], which it takes, to block_bytes bytes at `to`; all but its trailer. */
void ss_block_encode(uint32_t block_bytes, const ss_code *code, const uint64_t *values, const uint8_t *step_bits,
                     uint32_t count, uint8_t *to);

/* ----- decoding ----- */

/* A block in memory, its head checked. Borrowed bytes. */
typedef struct ss_block {
    const uint8_t *bytes;
    const ss_code *code;
    const uint8_t *begins, *keys; /* of the groups from 1 on, 2 bytes each */
    uint32_t count, group_count;
    uint32_t first; /* upper half */
    uint32_t key_shift;
} ss_block;

/* Look at a block's head. False if it cannot be that of a block; *reason says why. */
bool ss_block_open(ss_block *block, const uint8_t *bytes, uint32_t block_bytes, const ss_code *code, const char **reason);

/* Why a decoder below refused a block. */
#define SS_MALFORMED_GROUP "the bounds or codes of a group are impossible, or its fingerprints do not ascend"

/* The number of fingerprints in a group. */
static inline uint32_t ss_block_group_size(const ss_block *block, uint32_t group)
{
    const uint32_t left = block->count - group * SS_GROUP_SIZE;
    return left < SS_GROUP_SIZE ? left : SS_GROUP_SIZE;
}

/* The lower half of fingerprint `index`. */
static inline uint32_t ss_block_lower(const ss_block *block, uint32_t index)
{
    return ss_load_le32(block->bytes + (size_t)index * SS_LOWER_BYTES);
}

/* Bring the codes and rests of group `number` into the cache. */
void ss_block_prefetch_group(const ss_block *block, uint32_t number);

/* Get the first fingerprint of a group. False if the group's bounds are impossible. */
bool ss_block_group_first(const ss_block *block, uint32_t group, uint64_t *first_out);

/* Decode the first `count` fingerprints of a group, at least one. False if its bits are malformed or they do not ascend strictly;
 * but it need not be noticed that codes run into rests. */
bool ss_block_decode_group(const ss_block *block, uint32_t group, uint32_t count, uint64_t *out);

/* Decode all fingerprints to out[0 .. count-1]: they ascend strictly. False if the bits are malformed or the fingerprints do
 * not ascend. */
bool ss_block_decode(const ss_block *block, uint64_t *out);

/* The first fingerprint. */
static inline uint64_t ss_block_first(const ss_block *block)
{
    return (uint64_t)block->first << SS_UPPER_BITS | ss_block_lower(block, 0);
}

/* ----- searching ----- */

/* The groups in which the fingerprints are whose upper halves are low .. high, if they are in the block: *first_out to
 * *last_out. */
void ss_block_find_groups(const ss_block *block, uint32_t low, uint32_t high, uint32_t *first_out, uint32_t *last_out);

/* How many fingerprints of a group have to be decoded for those in `which`, a set by bits that is not empty. */
static inline uint32_t ss_count_up_to(uint64_t which)
{
    return SS_GROUP_SIZE - (uint32_t)__builtin_clzll(which);
}

/* Find the first group of `group` to `end` - 1 that has lower halves within `distance` of `lower`, and set *which_out to them, by
 * bits. Returns `end` if there is none. */
static inline uint32_t ss_block_find_lower(const ss_block *block, uint32_t group, uint32_t end, uint32_t lower, uint32_t distance,
                                           uint64_t *which_out)
{
    for (;; group++) {
        group = block->code->kernels->find_near(block->bytes, group, end, lower, distance, which_out);
        if (SS_LIKELY(group == end))
            return group;
        *which_out &= ss_low_mask(ss_block_group_size(block, group)); /* behind the last one there is something else */
        if (*which_out != 0)
            return group;
    }
}

/* A search of some groups for fingerprints within `distance` of `query`, whose lower halves are within `lower_distance` of the
 * query's. */
typedef struct ss_near {
    const uint64_t *decoded; /* all fingerprints of the block: whole ones are tested; NULL: groups are decoded where lower halves are near */
    uint64_t query;
    uint32_t distance, lower_distance;
    uint32_t group, end;            /* groups `group` to end - 1 are still to be searched */
    bool any;                       /* set to false where the search begins: something was found before, */
    uint64_t last;                  /* up to this; for ss_checked_block_find_near() */
    uint64_t which;                 /* of the group's fingerprints, by bits: those found, or to be looked at */
    const uint64_t *values;         /* the group's fingerprints up to the last one found */
    uint64_t buffer[SS_GROUP_SIZE]; /* for them */
} ss_near;

/* Decode the group near->group up to the last one of near->which, and keep those of them that are within the distance. False if the
 * group is malformed. */
bool ss_block_keep_near(const ss_block *block, ss_near *near);

/* Go on to the first group of near->group to near->end - 1 that has some; near->end: none has. False if a group that had to be
 * decoded is malformed. */
bool ss_block_find_near(const ss_block *block, ss_near *near);

#endif
