/* short_hash.h - XXH3 of many short pieces of a buffer, with vector instructions where there are some. */
#ifndef SS_SHORT_HASH_H
#define SS_SHORT_HASH_H

#include "base/common.h"

#define SS_MIN_SHORT 4u
#define SS_MAX_SHORT 8u

/* Set hashes[i], i < count, to the XXH3 (64 bits, seed 0) of the `size` bytes at bytes + i * stride; `size` is
 * SS_MIN_SHORT to SS_MAX_SHORT. */
void ss_short_hashes(const uint8_t *bytes, size_t stride, size_t size, size_t count, uint64_t *hashes);

#endif
