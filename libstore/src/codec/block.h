/*
 * block.h - the block: a piece of a table that decodes alone. Layout: format-spec/block-codec.md.
 *
 *   slots[m] | keys[m] | group 0 | group 1 | ... | group m-1 | trailer (8 bytes, the checksum; not this module's)
 *
 * A block's fingerprints, ascending and distinct, are cut into groups of `restart_interval`. keys[g] is the first
 * fingerprint of group g, whole. slots[0] is the number of fingerprints, slots[g] the bit position where group g begins.
 * Within a group each further fingerprint is the code of h, the first bit in which it differs from the one before, and
 * its rest, the 63 - h bits to the right of bit h (which is 1, since they ascend). Codes run forward from the group's
 * begin, rests backward from its end: so one position a group is enough, the stream of codes can be read without touching
 * the rests, and groups decode independently of each other. The last group ends at the trailer.
 *
 * Encoder, decoder and search share this header and nothing else. All of them are safe on any bytes: a malformed block
 * is reported, never read or written outside its bounds.
 */
#ifndef SS_BLOCK_H
#define SS_BLOCK_H

#include "base/common.h"
#include "codec/bits.h"
#include "codec/huffman.h"

#define SS_BLOCK_MIN_BYTES 256u
#define SS_BLOCK_MAX_BYTES 65536u
#define SS_BLOCK_TRAILER_BYTES 8u
#define SS_BLOCK_MAX_COUNT 65535u
#define SS_KEY_BYTES 8u

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

static inline uint32_t ss_load_slot(const uint8_t *block, uint32_t slot_bytes, uint32_t index)
{
    return slot_bytes == 2 ? ss_load_le16(block + 2 * (size_t)index) : ss_load_le32(block + 4 * (size_t)index);
}

bool ss_geometry_valid(ss_geometry geometry);

/* ----- encoding ----- */

typedef struct ss_block_encoder ss_block_encoder;

/* An encoder for one table. `code` must outlive it. NULL where memory fails. */
ss_block_encoder *ss_block_encoder_create(ss_geometry geometry, const ss_code *code);
void ss_block_encoder_free(ss_block_encoder *encoder);

/* Add a fingerprint above the last one added. False: it does not fit any more, finish the block first. */
bool ss_block_encoder_add(ss_block_encoder *encoder, uint64_t fingerprint);

/* The number of fingerprints in the block so far, and the last of them. */
uint32_t ss_block_encoder_count(const ss_block_encoder *encoder);
uint64_t ss_block_encoder_last(const ss_block_encoder *encoder);

/* Write the block, all but its trailer, to block_bytes bytes at `to`, and begin the next one. */
void ss_block_encoder_finish(ss_block_encoder *encoder, uint8_t *to);

/* ----- decoding ----- */

/* A block in memory, its frame checked. Borrowed bytes. */
typedef struct ss_block {
    const uint8_t *bytes;
    const uint8_t *keys; /* little-endian, unaligned */
    const ss_code *code;
    uint32_t count, group_count;
    uint32_t restart_interval, slot_bytes;
    uint32_t first_group_bit, end_bit;
} ss_block;

/* Look at a block's frame. False if count and positions cannot be those of a block; *reason says why. */
bool ss_block_open(ss_block *block, const uint8_t *bytes, ss_geometry geometry, const ss_code *code,
                   const char **reason);

/* Decode all fingerprints to out[0 .. count-1]. False if the bits are malformed. Values of a malformed block that is not
 * noticed as such may fail to ascend. */

bool ss_block_decode(const ss_block *block, uint64_t *out);

/* The same for `groups` groups from `first_group` on; *count_out is the number of their fingerprints. */
bool ss_block_decode_groups(const ss_block *block, uint32_t first_group, uint32_t groups, uint64_t *out,
                            uint32_t *count_out);

static inline uint64_t ss_block_key(const ss_block *block, uint32_t group)
{
    return ss_load_le64(block->keys + SS_KEY_BYTES * (size_t)group);
}

static inline uint32_t ss_block_group_begin(const ss_block *block, uint32_t group)
{
    return group == 0 ? block->first_group_bit : ss_load_slot(block->bytes, block->slot_bytes, group);
}

static inline uint32_t ss_block_group_end(const ss_block *block, uint32_t group)
{
    return group + 1 == block->group_count ? block->end_bit
                                           : ss_load_slot(block->bytes, block->slot_bytes, group + 1);
}

/* ----- searching ----- */

typedef enum ss_seek {
    SS_SEEK_AT,     /* the position is at a fingerprint */
    SS_SEEK_END,    /* there is no further one in this block */
    SS_SEEK_DAMAGED /* the bits are malformed */
} ss_seek;

/* A fingerprint within a block, from which one can go on. Codes lie below rests: code_bit <= rest_bit always. */
typedef struct ss_position {
    uint64_t value;
    uint32_t index;              /* of the fingerprint in the block */
    uint32_t group;              /* that it is in */
    uint32_t group_last;         /* index of the group's last fingerprint */
    uint32_t code_bit, rest_bit; /* where the next code begins; where the next rest ends */
} ss_position;

/* The last group whose first fingerprint is at or below `target`; group 0 if none is. */
uint32_t ss_block_find_group(const ss_block *block, uint64_t target);

/* Go to the first fingerprint at or above `target`. Reads the keys, then the codes of one group up to the target's
 * neighbourhood, and rests only there. */
ss_seek ss_block_seek(const ss_block *block, uint64_t target, ss_position *position);

/* Go to the first fingerprint of a group. */
static inline void ss_position_enter_group(const ss_block *block, uint32_t group, ss_position *position)
{
    uint32_t last = (group + 1) * block->restart_interval - 1;
    position->value = ss_block_key(block, group);
    position->index = group * block->restart_interval;
    position->group = group;
    position->group_last = last < block->count ? last : block->count - 1;
    position->code_bit = ss_block_group_begin(block, group);
    position->rest_bit = ss_block_group_end(block, group);
}

/* Take the symbol that begins `entry` off the position's streams: its code and its rest. Returns h, or SS_SYMBOL_COUNT if
 * the bits are malformed. */
static inline uint32_t ss_position_take(const ss_block *block, const ss_lookup *entry, ss_position *position)
{
    uint32_t h = entry->h[0];
    position->code_bit += block->code->lengths[h];
    position->rest_bit -= 63 - h;
    bool sound = entry->counts != 0 && (int32_t)(position->rest_bit - position->code_bit) >= 0;
    return SS_LIKELY(sound) ? h : SS_SYMBOL_COUNT;
}

static inline const ss_lookup *ss_position_look(const ss_block *block, const ss_position *position)
{
    return &block->code->lookup[ss_bits_peek(block->bytes, position->code_bit) & ((1u << SS_MAX_CODE_BITS) - 1)];
}

/* The value that follows `previous` if they first differ at h. */
static inline uint64_t ss_successor(uint64_t previous, uint32_t h, uint64_t rest)
{
    return (previous & ss_high_mask(h)) | UINT64_C(1) << (63 - h) | rest;
}

/* Go to the next fingerprint. */
static inline ss_seek ss_block_next(const ss_block *block, ss_position *position)
{
    if (position->index == position->group_last) {
        if (position->group + 1 == block->group_count)
            return SS_SEEK_END;
        ss_position_enter_group(block, position->group + 1, position);
        return SS_SEEK_AT;
    }
    uint32_t h = ss_position_take(block, ss_position_look(block, position), position);
    if (SS_UNLIKELY(h == SS_SYMBOL_COUNT))
        return SS_SEEK_DAMAGED;
    position->value = ss_successor(position->value, h, ss_bits_get(block->bytes, position->rest_bit, 63 - h));
    position->index++;
    return SS_SEEK_AT;
}

#endif
