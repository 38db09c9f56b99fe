/*
 * slow_ids.h - reads and writes a block of the id column bit by bit, written from format-spec/sstore-format.md, section
 * 6, alone.
 */
#ifndef SUPPORT_SLOW_IDS_H
#define SUPPORT_SLOW_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many records the block has, as it says. */
uint32_t slow_ids_count(const uint8_t *block);
/* Whether it says that the next block begins with the last one's rank. */
bool slow_ids_continued(const uint8_t *block);

/* Read all records; both arrays take slow_ids_count() values. False if the block is malformed. */
bool slow_ids_decode(const uint8_t *block, uint32_t block_bytes, uint64_t *ids, uint64_t *ranks);

/* How many of the records the block takes that begins with the first of them. A rank that is neither that of the
 * record before nor one above it begins a block. */
uint32_t slow_ids_fit(uint32_t block_bytes, const uint64_t *ids, const uint64_t *ranks, size_t count);

/* Write the block of these records, all but its trailer. */
void slow_ids_encode(uint8_t *block, uint32_t block_bytes, const uint64_t *ids, const uint64_t *ranks, uint32_t count,
                     bool continued);

#endif
