/*
 * slow_block.h - reads and writes a table's block bit by bit, written from format-spec/block-codec.md alone. Tests
 * compare the codec with it. The strict reader refuses every malformed block.
 */
#ifndef SUPPORT_SLOW_BLOCK_H
#define SUPPORT_SLOW_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLOW_SYMBOLS 33u /* the first bit in which upper halves differ, or 32 */
#define SLOW_NO_SYMBOL SLOW_SYMBOLS
#define SLOW_GROUP 64u /* fingerprints of a group */

/* A canonical code by its lengths: 0, or 1 to 11 bits for each symbol. */
typedef struct slow_code {
    uint8_t symbols[SLOW_SYMBOLS]; /* those that have a code, by (length, symbol) */
    uint32_t counts[12];           /* how many have codes of each length */
} slow_code;

void slow_code_init(slow_code *code, const uint8_t lengths[SLOW_SYMBOLS]);

/* Whether lengths are a code: complete, one symbol of one bit, or none. */
bool slow_is_code(const uint8_t lengths[SLOW_SYMBOLS]);

/* The field of `width` (0 to 64) bits at `at`. */
uint64_t slow_bits(const uint8_t *block, uint32_t at, uint32_t width);

/* The symbol whose code stands at *at, which moves behind it; SLOW_NO_SYMBOL if these 11 bits begin with none. */
uint32_t slow_symbol(const slow_code *code, const uint8_t *block, uint32_t *at);

/* The smallest shift that brings the distance of two upper halves into 16 bits. */
uint32_t slow_key_shift(uint32_t distance);

/* What a block's head says. */
uint32_t slow_block_count(const uint8_t *block, uint32_t block_bytes);
uint32_t slow_block_groups(const uint8_t *block, uint32_t block_bytes);
uint32_t slow_block_key_shift(const uint8_t *block, uint32_t block_bytes);

/* Where the key shift stands, in a byte. */
size_t slow_key_shift_offset(uint32_t block_bytes);

/* Where the begin and the key of a group from 1 on stand, and what they say. */
size_t slow_begin_offset(const uint8_t *block, uint32_t block_bytes, uint32_t group);
size_t slow_key_offset(const uint8_t *block, uint32_t block_bytes, uint32_t group);
uint32_t slow_key(const uint8_t *block, uint32_t block_bytes, uint32_t group);

/* Where a group's codes begin, in bytes; of the one behind the last, where the coded groups end. */
uint32_t slow_begin(const uint8_t *block, uint32_t block_bytes, uint32_t group);

/* Whether the head can be that of a block. */
bool slow_block_opens(const uint8_t *block, uint32_t block_bytes);

/* The first fingerprint of a group of a block that opens. False if the group's bounds or its key are impossible. */
bool slow_block_group_first(const uint8_t *block, uint32_t block_bytes, uint32_t group, uint64_t *first);

/* Decode one group of a block that opens; `out` takes SLOW_GROUP values at most. False if it is malformed or does not
 * ascend. */
bool slow_block_decode_group(const uint8_t *block, uint32_t block_bytes, const slow_code *code, uint32_t group,
                             uint64_t *out);

/* All of them. False also if groups do not ascend. */
bool slow_block_decode(const uint8_t *block, uint32_t block_bytes, const slow_code *code, uint64_t *out);

/* The same where they need not ascend, codes may run into suffixes, and a code may name a bit that is set: what a
 * reader that does not look at that takes the block for. *is_strict tells whether it has none of the last two. */
bool slow_block_read(const uint8_t *block, uint32_t block_bytes, const slow_code *code, uint64_t *out, bool *is_strict);

/* ----- writing -----
 * Also what no honest writer makes: values in any order. */

/* Write a field. The bits must be 0 before. */
void slow_put_bits(uint8_t *block, uint32_t at, uint32_t width, uint64_t value);

/* The first bit in which two values differ; 64: in none. */
uint32_t slow_first_difference(uint64_t before, uint64_t value);

/* The symbol by which a decoder comes from one value to the next: the first bit in which their upper halves differ,
 * where these ascend. Where they descend, a set bit of the leading ones that both share, the last of them;
 * SLOW_NO_SYMBOL where there is none. */
uint32_t slow_step(uint64_t before, uint64_t value);

/* A complete code whose lengths differ by one at most, for the symbols whose counts are not 0. */
void slow_code_lengths(const uint64_t counts[SLOW_SYMBOLS], uint8_t lengths[SLOW_SYMBOLS]);

/* The bytes that a block takes of these values, its frame and trailer included. */
uint32_t slow_block_needs(const uint8_t lengths[SLOW_SYMBOLS], const uint64_t *values, uint32_t count);

/* How many of the values, at least one, the block takes that begins with the first of them. */
uint32_t slow_block_fit(uint32_t block_bytes, const uint8_t lengths[SLOW_SYMBOLS], const uint64_t *values,
                        size_t count);

/* Write the block of these values, all but its trailer. */
void slow_block_encode(uint8_t *block, uint32_t block_bytes, const uint8_t lengths[SLOW_SYMBOLS],
                       const uint64_t *values, uint32_t count);

#endif
