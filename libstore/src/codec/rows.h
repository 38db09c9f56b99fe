/*
 * rows.h - a block of rows, which are whole fingerprints of several words, uncompressed: table 0 of a segment with word
 * indexes. All blocks but the last are full, so the place of a fingerprint follows from its rank. Layout:
 * format-spec/sstore-format.md, "Fingerprints of more than 64 bits".
 */
#ifndef SS_ROWS_H
#define SS_ROWS_H

#include "base/bytes.h"
#include "base/common.h"
#include "codec/block.h"

/* The fingerprints of a full block. */
static inline uint32_t ss_rows_capacity(uint32_t block_bytes, uint32_t words)
{
    return (block_bytes - SS_BLOCK_TRAILER_BYTES) / (8 * words);
}

/* Load fingerprint `index` of a block. */
static inline void ss_rows_load(const uint8_t *bytes, uint32_t index, uint32_t words, uint64_t *to)
{
    assert(words > 0);
    for (uint32_t i = 0; i < words; i++)
        to[i] = ss_load_le64(bytes + 8 * ((size_t)index * words + i));
}

/* `count` fingerprints from `first` on: those of the block itself, whose bytes are aligned as words. Where words have
 * another byte order, they are loaded to `room`. */
static inline const uint64_t *ss_rows_at(const uint8_t *bytes, uint32_t first, uint32_t count, uint32_t words,
                                         uint64_t *room)
{
    const uint8_t *from = bytes + 8 * ((size_t)first * words);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (uint32_t i = 0; i < count; i++)
        ss_rows_load(from, i, words, room + (size_t)i * words);
    return room;
#else
    (void)count, (void)room;
    return (const uint64_t *)(const void *)from;
#endif
}

/* Write `count` fingerprints as a block, without its trailer. */
static inline void ss_rows_encode(uint32_t block_bytes, const uint64_t *fingerprints, uint32_t count, uint32_t words,
                                  uint8_t *to)
{
    const size_t values = (size_t)count * words;
    for (size_t i = 0; i < values; i++)
        ss_store_le64(to + 8 * i, fingerprints[i]);
    memset(to + 8 * values, 0, block_bytes - 8 * values);
}

#endif
