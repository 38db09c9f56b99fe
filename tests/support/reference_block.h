/*
 * reference_block.h - reads and writes a table's block bit by bit, written from format-spec/block-codec.md alone. Tests
 * compare the codec with it. The strict reader refuses every malformed block.
 */
#ifndef SUPPORT_REFERENCE_BLOCK_H
#define SUPPORT_REFERENCE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REFERENCE_SYMBOLS 33u /* the first bit in which upper halves differ, or 32 */
#define REFERENCE_NO_SYMBOL REFERENCE_SYMBOLS
#define REFERENCE_GROUP 64u /* fingerprints of a group */

/* A canonical code by its lengths: 0, or 1 to 11 bits for each symbol. */
typedef struct reference_code {
    uint8_t symbols[REFERENCE_SYMBOLS]; /* those that have a code, by (length, symbol) */
    uint32_t counts[12];                /* how many have codes of each length */
} reference_code;

void reference_code_init(reference_code *code, const uint8_t lengths[REFERENCE_SYMBOLS]);

/* Whether lengths are a code: complete, one symbol of one bit, or none. */
bool reference_is_code(const uint8_t lengths[REFERENCE_SYMBOLS]);

/* The field of `width` (0 to 64) bits at bit `at`. */
uint64_t reference_bits(const uint8_t *block, uint32_t at, uint32_t width);

/* The symbol whose code is at bit *at, which moves behind it; REFERENCE_NO_SYMBOL if no code is there. */
uint32_t reference_symbol(const reference_code *code, const uint8_t *block, uint32_t *at);

/* The smallest shift that brings the distance of two upper halves into 16 bits. */
uint32_t reference_key_shift(uint32_t distance);

/* Fields of a block's head. */
uint32_t reference_block_count(const uint8_t *block, uint32_t block_bytes);
uint32_t reference_block_groups(const uint8_t *block, uint32_t block_bytes);
uint32_t reference_block_key_shift(const uint8_t *block, uint32_t block_bytes);

/* The offset of the byte with the key shift. */
size_t reference_key_shift_offset(uint32_t block_bytes);

/* The offsets of the begin and the key of a group from 1 on, and the key itself. */
size_t reference_begin_offset(const uint8_t *block, uint32_t block_bytes, uint32_t group);
size_t reference_key_offset(const uint8_t *block, uint32_t block_bytes, uint32_t group);
uint32_t reference_key(const uint8_t *block, uint32_t block_bytes, uint32_t group);

/* The byte where a group begins; for the group behind the last one, where the groups end. */
uint32_t reference_begin(const uint8_t *block, uint32_t block_bytes, uint32_t group);

/* Whether the head is valid. */
bool reference_block_opens(const uint8_t *block, uint32_t block_bytes);

/* The first fingerprint of a group of a block that opens. False if the group's bounds or its key are invalid. */
bool reference_block_group_first(const uint8_t *block, uint32_t block_bytes, uint32_t group, uint64_t *first);

/* Decode one group of a block with a valid head; `out` has room for REFERENCE_GROUP values. False if the group is
 * malformed or does not ascend. */
bool reference_block_decode_group(const uint8_t *block, uint32_t block_bytes, const reference_code *code,
                                  uint32_t group, uint64_t *out);

/* Decode all groups. Also false if they do not ascend from group to group. */
bool reference_block_decode(const uint8_t *block, uint32_t block_bytes, const reference_code *code, uint64_t *out);

/* Decode a block without three checks: values need not ascend, codes may run into suffixes, and a code may name a bit
 * that is set. A reader without these checks decodes the same values. *is_strict: the last two hold nowhere. */
bool reference_block_read(const uint8_t *block, uint32_t block_bytes, const reference_code *code, uint64_t *out,
                          bool *is_strict);

/* ----- writing -----
 * Also of values in any order, which no correct writer makes. */

/* Write a field. The bits must be 0 before. */
void reference_put_bits(uint8_t *block, uint32_t at, uint32_t width, uint64_t value);

/* The first bit in which two values differ; 64 if they are equal. */
uint32_t reference_first_difference(uint64_t before, uint64_t value);

/* The symbol that leads a decoder from one value to the next: the first bit in which their upper halves differ, if
 * these ascend. If they descend, the last set bit of the leading bits that both share; REFERENCE_NO_SYMBOL if there is
 * none. */
uint32_t reference_step(uint64_t before, uint64_t value);

/* A complete code for the symbols whose counts are not 0; its lengths differ by at most one. */
void reference_code_lengths(const uint64_t counts[REFERENCE_SYMBOLS], uint8_t lengths[REFERENCE_SYMBOLS]);

/* The size of a block of these values in bytes, with frame and trailer. */
uint32_t reference_block_needs(const uint8_t lengths[REFERENCE_SYMBOLS], const uint64_t *values, uint32_t count);

/* The number of these values, at least one, that fit into a block, from the first one on. */
uint32_t reference_block_fit(uint32_t block_bytes, const uint8_t lengths[REFERENCE_SYMBOLS], const uint64_t *values,
                             size_t count);

/* Write the block of these values without its trailer. */
void reference_block_encode(uint8_t *block, uint32_t block_bytes, const uint8_t lengths[REFERENCE_SYMBOLS],
                            const uint64_t *values, uint32_t count);

#endif
