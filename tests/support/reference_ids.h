/*
 * reference_ids.h - reads and writes a block of the id column bit by bit, written from format-spec/sstore-format.md,
 * section 6, alone.
 */
#ifndef SUPPORT_REFERENCE_IDS_H
#define SUPPORT_REFERENCE_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of records in the block's head. */
uint32_t reference_ids_count(const uint8_t *block);
/* Its flag "continued": the next block begins with the rank of this block's last record. */
bool reference_ids_continued(const uint8_t *block);

/* Read all records; both arrays take reference_ids_count() values. False if the block is malformed. */
bool reference_ids_decode(const uint8_t *block, uint32_t block_bytes, uint64_t *ids, uint64_t *ranks);

/* The number of these records that fit into a block, from the first one on. A rank that is neither the previous
 * record's nor one above it begins a block. */
uint32_t reference_ids_fit(uint32_t block_bytes, const uint64_t *ids, const uint64_t *ranks, size_t count);

/* Write the block of these records without its trailer. */
void reference_ids_encode(uint8_t *block, uint32_t block_bytes, const uint64_t *ids, const uint64_t *ranks,
                          uint32_t count, bool continued);

#endif
