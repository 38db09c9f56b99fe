/*
 * slow_block.h - a table's block read and written bit by bit, made from format-spec/block-codec.md alone: what the codec's
 * fast ways are held against.
 */
#ifndef SUPPORT_SLOW_BLOCK_H
#define SUPPORT_SLOW_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLOW_NO_SYMBOL 64u

/* A canonical code by its lengths: 0, or 1 to 11 bits for each of 64 symbols. */
typedef struct slow_code {
    uint8_t symbols[64]; /* those that have a code, by (length, symbol) */
    uint32_t counts[12]; /* how many have codes of each length */
} slow_code;

void slow_code_init(slow_code *code, const uint8_t lengths[64]);

/* The field of `width` (0 to 64) bits at `at`. */
uint64_t slow_bits(const uint8_t *block, uint32_t at, uint32_t width);

/* The symbol whose code stands at *at, which moves behind it; SLOW_NO_SYMBOL if these 11 bits begin with none. */
uint32_t slow_symbol(const slow_code *code, const uint8_t *block, uint32_t *at);

/* The value that follows `value` if they first differ at bit h, bit 0 being the highest. */
uint64_t slow_successor(uint64_t value, uint32_t h, uint64_t rest);

/* The smallest shift that brings `distance` into 32 bits. */
uint32_t slow_key_shift(uint64_t distance);

/* What a block's head, key or slot says; groups are counted from 0, keys and slots are those of groups from 1 on. */
uint32_t slow_block_count(const uint8_t *block);
uint32_t slow_block_groups(const uint8_t *block, uint32_t interval);
uint32_t slow_key(const uint8_t *block, uint32_t group);
size_t slow_slot_offset(const uint8_t *block, uint32_t block_bytes, uint32_t interval, uint32_t group);
uint32_t slow_slot(const uint8_t *block, uint32_t block_bytes, uint32_t interval, uint32_t group);

/* Whether the head can be that of a block. */
bool slow_block_opens(const uint8_t *block, uint32_t block_bytes, uint32_t interval);

/* The first fingerprint of a group of a block that opens. False if the group's bounds are impossible. */
bool slow_block_group_first(const uint8_t *block, uint32_t block_bytes, uint32_t interval, uint32_t group, uint64_t *first);

/* Decode one group of a block that opens; `out` takes `interval` values at most. False if it is malformed. */
bool slow_block_decode_group(const uint8_t *block, uint32_t block_bytes, uint32_t interval, const slow_code *code,
                             uint32_t group, uint64_t *out);

/* All of them. False also if they do not ascend. */
bool slow_block_decode(const uint8_t *block, uint32_t block_bytes, uint32_t interval, const slow_code *code,
                       uint64_t *out);

/* ----- writing -----
 * Also what no honest writer makes: values in any order. */

/* Write a field. The bits must be 0 before. */
void slow_put_bits(uint8_t *block, uint32_t at, uint32_t width, uint64_t value);

/* The h by which a decoder comes from one value to the next: the first bit that differs, where they ascend. Where they do
 * not, a set bit of the leading ones that both share, the last of them; SLOW_NO_SYMBOL where there is none. */
uint32_t slow_step(uint64_t before, uint64_t value);

/* A complete code whose lengths differ by one at most, for the symbols whose counts are not 0. */
void slow_code_lengths(const uint64_t counts[64], uint8_t lengths[64]);

/* How many of the values, at least one, the block takes that begins with the first of them. */
uint32_t slow_block_fit(uint32_t block_bytes, uint32_t interval, const uint8_t lengths[64], const uint64_t *values,
                        size_t count);

/* Write the block of these values, all but its trailer. */
void slow_block_encode(uint8_t *block, uint32_t block_bytes, uint32_t interval, const uint8_t lengths[64],
                       const uint64_t *values, uint32_t count);

#endif
