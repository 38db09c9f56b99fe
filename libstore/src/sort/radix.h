/*
 * radix.h - sorting 64-bit keys and records in place, by most significant digit.
 *
 * American flag sort (McIlroy, Bostic and McIlroy, "Engineering Radix Sort", 1993): each level puts the keys into 256
 * buckets by their next byte, within the array; small buckets are finished by insertion. No memory beyond the stack.
 */
#ifndef SS_RADIX_H
#define SS_RADIX_H

#include "base/common.h"

/* Sort ascending. */
void ss_sort_keys(uint64_t *keys, size_t count);

/* Sort ascending by (fingerprint, id). */
void ss_sort_records(sstore_record *records, size_t count);

#endif
