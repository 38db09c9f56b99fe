#include "text/ascii.h"

#include <string.h>

#include "base/le.h"

#define HIGH_BITS UINT64_C(0x8080808080808080)
#define BYTES(x) (UINT64_C(0x0101010101010101) * (x))
#define COPY_BYTES 16u

/* A chunk in lower case, and where its words begin and end. */
typedef struct ascii_chunk {
    uint8_t lower[SS_ASCII_CHUNK + SS_SHINGLE_SLACK];
    uint16_t edges[SS_ASCII_CHUNK + 16];
    size_t edge_count;
} ascii_chunk;

size_t ss_ascii_span(const uint8_t *text, size_t size)
{
    size_t limit = size < SS_ASCII_CHUNK ? size : SS_ASCII_CHUNK, span = 0;
    for (; span + 8 <= limit; span += 8) {
        uint64_t high = ss_load_le64(text + span) & HIGH_BITS;
        if (high != 0)
            return span + (size_t)__builtin_ctzll(high) / 8;
    }
    while (span < limit && text[span] < 0x80)
        span++;
    return span;
}

/* The high bit of each byte of x, all below 0x80, that lies in first .. last. No byte carries into the next. */
static inline uint64_t bytes_between(uint64_t x, uint8_t first, uint8_t last)
{
    return (x + BYTES(0x80u - first)) & ~(x + BYTES(0x7fu - last)) & HIGH_BITS;
}

/* Lower the eight bytes at `text` to `to`; returns a bit for each that is a letter or digit, the first one's lowest. */
static inline uint64_t lower_eight(const uint8_t *text, uint8_t *to)
{
    uint64_t x = ss_load_le64(text);
    uint64_t lower = x | bytes_between(x, 'A', 'Z') >> 2; /* 0x80 >> 2 is the bit that tells the cases apart */
    uint64_t word = bytes_between(lower, 'a', 'z') | bytes_between(x, '0', '9');
    ss_store_le64(to, lower);
    /* The product moves the bit of byte i to bit 56 + i. */
    return (word >> 7) * UINT64_C(0x0102040810204080) >> 56;
}

/* Append the positions of the 1 bits of `edges`, `base` added. Writes by four, so that
 * few branches depend on the count. */
static inline size_t append_edges(uint16_t *to, size_t count, uint64_t edges, size_t base)
{
    size_t total = count + ss_popcount(edges);
    for (; count < total; count += 4)
        for (size_t i = 0; i < 4; i++) {
            to[count + i] = (uint16_t)(base + (size_t)__builtin_ctzll(edges | UINT64_C(1) << 63));
            edges &= edges - 1;
        }
    return total;
}

/* Fill *chunk from `size` bytes: edges alternate between the first byte of a word and the byte after its last. */
static void split(ascii_chunk *chunk, const uint8_t *text, size_t size)
{
    uint64_t before = 0; /* whether the byte before the block is part of a word */
    uint8_t padded[64];
    chunk->edge_count = 0;
    for (size_t base = 0; base < size; base += 64) {
        const uint8_t *from = text + base;
        if (size - base < 64) {
            memset(padded, 0, sizeof padded);
            memcpy(padded, from, size - base);
            from = padded;
        }
        uint64_t word = 0;
        for (size_t i = 0; i < 64; i += 8)
            word |= lower_eight(from + i, chunk->lower + base + i) << i;
        chunk->edge_count = append_edges(chunk->edges, chunk->edge_count, word ^ (word << 1 | before), base);
        before = word >> 63;
    }
}

sstore_status ss_ascii_add_words(ss_shingles *words, const uint8_t *text, size_t size, bool *in_word,
                                 sstore_error *error)
{
    ascii_chunk chunk;
    assert(size <= SS_ASCII_CHUNK);
    sstore_status status = ss_shingles_reserve(words, size + 2, size / 2 + 2, error);
    if (status != SSTORE_OK || size == 0)
        return status;
    split(&chunk, text, size);
    if (*in_word && (chunk.edge_count == 0 || chunk.edges[0] != 0))
        ss_shingles_close_unit(words);
    if (chunk.edge_count % 2 != 0)
        chunk.edges[chunk.edge_count++] = (uint16_t)size;
    bool open = chunk.edge_count > 0 && chunk.edges[chunk.edge_count - 1] == size; /* the last word may go on */
    for (size_t i = 0; i < chunk.edge_count; i += 2) {
        const uint8_t *from = chunk.lower + chunk.edges[i];
        size_t length = (size_t)(chunk.edges[i + 1] - chunk.edges[i]);
        if (SS_LIKELY(length <= COPY_BYTES))
            memcpy(words->bytes + words->used, from, COPY_BYTES);
        else
            memcpy(words->bytes + words->used, from, length);
        words->used += length;
        if (i + 2 < chunk.edge_count || !open)
            ss_shingles_close_unit(words);
    }
    *in_word = open;
    return SSTORE_OK;
}

sstore_status ss_ascii_add_chars(ss_shingles *chars, const uint8_t *text, size_t size, bool *space_due,
                                 sstore_error *error)
{
    assert(size <= SS_ASCII_CHUNK);
    sstore_status status = ss_shingles_reserve(chars, size + 1, size + 1, error);
    if (status != SSTORE_OK)
        return status;
    uint8_t *to = chars->bytes + chars->used;
    size_t written = 0;
    size_t due = *space_due, begun = ss_shingles_begun(chars);
    for (size_t i = 0; i < size; i++) {
        /* No branch asks what the byte is: both a space and the byte are written, and kept or not by what is added. */
        uint8_t byte = text[i];
        size_t space = byte == ' ' || (uint8_t)(byte - '\t') < 5;
        to[written] = ' ';
        written += due & (space ^ 1);
        to[written] = (uint8_t)(byte | ((uint8_t)(byte - 'A') < 26) << 5);
        written += space ^ 1;
        begun |= space ^ 1;
        due = space & begun;
    }
    for (size_t i = 1; i <= written; i++)
        chars->starts[chars->unit_count + i] = chars->used + i;
    chars->unit_count += written;
    chars->used += written;
    *space_due = due;
    return SSTORE_OK;
}
