/*
 * block.h - the block: a part of a table that is decoded alone. Layout: format-spec/block-codec.md.
 *
 *   column of lower halves | group 0 | ... | group m-1 | begins of groups 1 .. m-1 | their keys | head | trailer
 *
 * A block's fingerprints ascend and are distinct. Each consists of two halves of 32 bits. The lower halves form a
 * column, in order, so that a query tests them without decoding. Only if one of them is near, the query decodes the
 * upper halves of its group, which has up to SS_GROUP_SIZE fingerprints. Within a group, each upper half except the
 * first is the code of h, the first bit in which it differs from the one before (32: in none), and its suffix, all bits
 * to the right of bit h (which is 1, since they ascend). Codes run forward from the group's begin, suffixes backward
 * from its end. So one position for each group is enough, and codes can be read without the suffixes. A group key has
 * 16 bits of the distance of the group's first upper half from the block's, enough to find the group. The key_shift
 * bits below them are at the group's end. The trailer, 8 bytes, is the checksum; another module writes and checks it.
 *
 * Encoder, decoder and search share only this header. All are safe on any bytes: they report a malformed block, and
 * never access memory outside of it.
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
#define SS_GROUP_FRAME_BYTES 4u /* begin and key of a group from 1 on, 2 bytes each */
#define SS_KEY_BITS 16u

/* Whether blocks may have this size: a power of two within the limits above. */
bool ss_block_bytes_valid(uint32_t block_bytes);

/* The maximum number of fingerprints in a block of this size. */
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

/* Set bits_out[i] to the bits of code and suffix from values[i - 1] to values[i], for i >= 1; at most 42. bits_out[0]
 * is not changed. */
void ss_step_bits(const ss_code *code, const uint64_t *values, size_t count, uint8_t *bits_out);

/* How many of the ascending fingerprints values[0 .. count-1], at least one, fit into the block that begins with the
 * first. If all fit, more might fit. */
uint32_t ss_block_fit(uint32_t block_bytes, const uint64_t *values, const uint8_t *step_bits, size_t count);

/* Write the block of values[0 .. count-1], which must fit, to block_bytes bytes at `to`, except its trailer. */
void ss_block_encode(uint32_t block_bytes, const ss_code *code, const uint64_t *values, const uint8_t *step_bits,
                     uint32_t count, uint8_t *to);

/* ----- decoding ----- */

/* A block in memory with a checked head. The bytes are borrowed. */
typedef struct ss_block {
    const uint8_t *bytes;
    const ss_code *code;
    const uint8_t *begins, *keys; /* of the groups from 1 on, 2 bytes each */
    uint32_t count, group_count;
    uint32_t first; /* upper half */
    uint32_t key_shift;
} ss_block;

/* Check a block's head. False if it is invalid; then *reason says why. */
bool ss_block_open(ss_block *block, const uint8_t *bytes, uint32_t block_bytes, const ss_code *code,
                   const char **reason);

/* The reason why a function below returns false. */
#define SS_MALFORMED_GROUP "the bounds or codes of a group are invalid, or its fingerprints do not ascend"

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

/* Prefetch the codes and suffixes of group `number` into the processor's cache. */
void ss_block_prefetch_group(const ss_block *block, uint32_t number);

/* Get the first fingerprint of a group. False if its bounds are invalid. */
bool ss_block_group_first(const ss_block *block, uint32_t group, uint64_t *first_out);

/* Decode the first `count` (at least 1) fingerprints of a group. False if its bits are malformed or they do not ascend
 * strictly. Codes that run into suffixes may go undetected. */
bool ss_block_decode_group(const ss_block *block, uint32_t group, uint32_t count, uint64_t *out);

/* Decode all fingerprints to out[0 .. count-1]. False if the bits are malformed or they do not ascend strictly. */
bool ss_block_decode(const ss_block *block, uint64_t *out);

/* The first fingerprint. */
static inline uint64_t ss_block_first(const ss_block *block)
{
    return (uint64_t)block->first << SS_UPPER_BITS | ss_block_lower(block, 0);
}

/* ----- searching ----- */

/* Find the groups *first_out to *last_out that hold all fingerprints with upper halves low .. high. */
void ss_block_find_groups(const ss_block *block, uint32_t low, uint32_t high, uint32_t *first_out, uint32_t *last_out);

/* How many fingerprints of a group must be decoded to get those in the bit set `mask`, which is not empty. */
static inline uint32_t ss_count_up_to(uint64_t mask)
{
    return SS_GROUP_SIZE - (uint32_t)__builtin_clzll(mask);
}

/* Find the first of the groups `group` to `end` - 1 that has lower halves within `distance` of `lower`, and set
 * *mask_out to their bit set. Returns `end` if there is none. */
static inline uint32_t ss_block_find_lower(const ss_block *block, uint32_t group, uint32_t end, uint32_t lower,
                                           uint32_t distance, uint64_t *mask_out)
{
    for (;; group++) {
        group = block->code->kernels->find_near(block->bytes, group, end, lower, distance, mask_out);
        if (SS_LIKELY(group == end))
            return group;
        *mask_out &= ss_low_mask(ss_block_group_size(block, group)); /* bytes of other fields follow the last one */
        if (*mask_out != 0)
            return group;
    }
}

/* A search of some groups for fingerprints within `distance` of `query` whose lower halves are within `lower_distance`
 * of the query's. */
typedef struct ss_near {
    const uint64_t *decoded; /* all fingerprints of the block; NULL: groups with near lower halves are decoded */
    uint64_t query;
    uint32_t distance, lower_distance;
    uint32_t group, end;            /* groups `group` to end - 1 are still to be searched */
    bool any;                       /* for ss_checked_block_find_near(): something was found; false at the start */
    uint64_t last;                  /* for the same: the last fingerprint that was found */
    uint64_t mask;                  /* a bit set of the group's fingerprints: the found ones, or those to compare */
    const uint64_t *values;         /* the group's fingerprints up to the last one found */
    uint64_t buffer[SS_GROUP_SIZE]; /* for `values` */
} ss_near;

/* Decode the group near->group up to the last fingerprint in near->mask, and leave in it those within the distance.
 * False if the group is malformed. */
bool ss_block_keep_near(const ss_block *block, ss_near *near);

/* Continue to the first of the groups near->group to near->end - 1 with fingerprints within the distance; near->end if
 * there is none. False if a group that must be decoded is malformed. */
bool ss_block_find_near(const ss_block *block, ss_near *near);

#endif
