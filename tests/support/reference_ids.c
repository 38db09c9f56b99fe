#include "support/reference_ids.h"

#include <string.h>

#include "support/reference_block.h"

enum { FIRST_RANK = 0, BASE = 8, COUNT = 16, WIDTH = 18, FLAGS = 19, HEAD = 20 };
enum { HAS_STARTS = 1, GOES_ON = 2 };
#define TRAILER_BYTES 8u

uint32_t reference_ids_count(const uint8_t *block)
{
    return (uint32_t)reference_bits(block, 8 * COUNT, 16);
}

bool reference_ids_continued(const uint8_t *block)
{
    return (block[FLAGS] & GOES_ON) != 0;
}

/* The used bytes of a block, without the trailer. */
static uint32_t bytes_of(uint32_t count, uint32_t width, bool has_starts)
{
    return HEAD + (has_starts ? (count + 7) / 8 : 0) + (count * width + 7) / 8;
}

bool reference_ids_decode(const uint8_t *block, uint32_t block_bytes, uint64_t *ids, uint64_t *ranks)
{
    const uint32_t count = reference_ids_count(block), width = block[WIDTH], flags = block[FLAGS];
    const bool has_starts = (flags & HAS_STARTS) != 0;
    const uint64_t base = reference_bits(block, 8 * BASE, 64);
    if (count == 0 || width > 64 || flags > (HAS_STARTS | GOES_ON) || (width == 64 && base != 0) ||
        bytes_of(count, width, has_starts) > block_bytes - TRAILER_BYTES)
        return false;
    const uint32_t values = HEAD + (has_starts ? (count + 7) / 8 : 0);
    uint64_t rank = reference_bits(block, 8 * FIRST_RANK, 64);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            rank += has_starts ? reference_bits(block, 8 * HEAD + i, 1) : 1;
        ranks[i] = rank;
        ids[i] = base + reference_bits(block, 8 * values + i * width, width);
    }
    return true;
}

/* The parameters of a block. */
typedef struct frame {
    uint64_t min, greatest;
    uint32_t width;
    bool has_starts;
} frame;

static void frame_add(frame *self, uint64_t id, bool has_rank_before)
{
    self->min = id < self->min ? id : self->min;
    self->greatest = id > self->greatest ? id : self->greatest;
    self->has_starts |= has_rank_before;
    self->width = self->greatest == self->min ? 0 : 64 - (uint32_t)__builtin_clzll(self->greatest - self->min);
}

uint32_t reference_ids_fit(uint32_t block_bytes, const uint64_t *ids, const uint64_t *ranks, size_t count)
{
    frame with = {.min = ids[0], .greatest = ids[0]};
    uint32_t n = 1;
    for (; n < count && n < 65535 && ranks[n] - ranks[n - 1] <= 1; n++) {
        frame_add(&with, ids[n], ranks[n] == ranks[n - 1]);
        if (bytes_of(n + 1, with.width, with.has_starts) > block_bytes - TRAILER_BYTES)
            break;
    }
    return n;
}

void reference_ids_encode(uint8_t *block, uint32_t block_bytes, const uint64_t *ids, const uint64_t *ranks,
                          uint32_t count, bool continued)
{
    frame self = {.min = ids[0], .greatest = ids[0]};
    for (uint32_t i = 1; i < count; i++)
        frame_add(&self, ids[i], ranks[i] == ranks[i - 1]);
    const uint64_t base = self.width == 64 ? 0 : self.min;
    const uint32_t values = HEAD + (self.has_starts ? (count + 7) / 8 : 0);
    memset(block, 0, block_bytes);
    reference_put_bits(block, 8 * FIRST_RANK, 64, ranks[0]);
    reference_put_bits(block, 8 * BASE, 64, base);
    reference_put_bits(block, 8 * COUNT, 16, count);
    block[WIDTH] = (uint8_t)self.width;
    block[FLAGS] = (uint8_t)((self.has_starts ? HAS_STARTS : 0) | (continued ? GOES_ON : 0));
    for (uint32_t i = 0; i < count; i++) {
        if (self.has_starts && i > 0)
            reference_put_bits(block, 8 * HEAD + i, 1, ranks[i] - ranks[i - 1]);
        reference_put_bits(block, 8 * values + i * self.width, self.width, ids[i] - base);
    }
}
