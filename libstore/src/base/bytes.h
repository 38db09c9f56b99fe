/* bytes.h - numbers as little-endian bytes, and XXH3 hashes. Everything on disk is read and written through these. */
#ifndef SS_BYTES_H
#define SS_BYTES_H

#include <stdint.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/common.h"

/* ===== little-endian numbers, at any alignment ===== */

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define SS_LE16(x) __builtin_bswap16(x)
#define SS_LE32(x) __builtin_bswap32(x)
#define SS_LE64(x) __builtin_bswap64(x)
#else
#define SS_LE16(x) (x)
#define SS_LE32(x) (x)
#define SS_LE64(x) (x)
#endif

static inline uint16_t ss_load_le16(const void *from)
{
    uint16_t x;
    memcpy(&x, from, sizeof x);
    return SS_LE16(x);
}

static inline uint32_t ss_load_le32(const void *from)
{
    uint32_t x;
    memcpy(&x, from, sizeof x);
    return SS_LE32(x);
}

static inline uint64_t ss_load_le64(const void *from)
{
    uint64_t x;
    memcpy(&x, from, sizeof x);
    return SS_LE64(x);
}

static inline void ss_store_le16(void *to, uint16_t x)
{
    x = SS_LE16(x);
    memcpy(to, &x, sizeof x);
}

static inline void ss_store_le32(void *to, uint32_t x)
{
    x = SS_LE32(x);
    memcpy(to, &x, sizeof x);
}

static inline void ss_store_le64(void *to, uint64_t x)
{
    x = SS_LE64(x);
    memcpy(to, &x, sizeof x);
}

/* Copy numbers of `width` bytes between the host's and little-endian order, either way. */
static inline void ss_copy_le(void *to, const void *from, size_t bytes, size_t width)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (size_t i = 0; i < bytes; i++)
        ((uint8_t *)to)[i] = ((const uint8_t *)from)[i ^ (width - 1)];
#else
    (void)width;
    memcpy(to, from, bytes);
#endif
}

/* ===== structs as little-endian bytes ===== */

/* A member of a struct, a number of `width` bytes or several of them, and its place in the bytes of a file. */
typedef struct ss_field {
    uint16_t at, in_struct, bytes, width;
} ss_field;

#define SS_FIELD(at, type, member, width)                                                                              \
    {                                                                                                                  \
        at, offsetof(type, member), sizeof(((type *)NULL)->member), width                                              \
    }

static inline void ss_fields_store(const ss_field *fields, size_t count, const void *from, uint8_t *to)
{
    for (const ss_field *field = fields; field < fields + count; field++)
        ss_copy_le(to + field->at, (const uint8_t *)from + field->in_struct, field->bytes, field->width);
}

static inline void ss_fields_load(const ss_field *fields, size_t count, const uint8_t *from, void *to)
{
    for (const ss_field *field = fields; field < fields + count; field++)
        ss_copy_le((uint8_t *)to + field->in_struct, from + field->at, field->bytes, field->width);
}

/* ===== hashes and 128-bit numbers: XXH3 with seed 0 ===== */

/* A 128-bit number: a checksum or an id. On disk the low half comes first. */
typedef struct ss_u128 {
    uint64_t low, high;
} ss_u128;

static inline uint64_t ss_hash64(const void *data, size_t size)
{
    return XXH3_64bits(data, size);
}

static inline ss_u128 ss_hash128(const void *data, size_t size)
{
    XXH128_hash_t hash = XXH3_128bits(data, size);
    return (ss_u128){.low = hash.low64, .high = hash.high64};
}

/* ----- in memory: with a seed that nobody knows beforehand -----
 *
 * Anybody can make texts and numbers whose XXH3 with seed 0 agree. Where that would cost time, or be taken for
 * equality, they are hashed with a seed. */

/* A seed: the addresses of objects in memory are random. */
static inline uint64_t ss_make_seed(const void *object, const void *other)
{
    const uint64_t addresses[2] = {(uintptr_t)object, (uintptr_t)other};
    return ss_hash64(addresses, sizeof addresses);
}

static inline uint64_t ss_seeded_hash64(const void *data, size_t size, uint64_t seed)
{
    return XXH3_64bits_withSeed(data, size, seed);
}

static inline ss_u128 ss_seeded_hash128(const void *data, size_t size, uint64_t seed)
{
    XXH128_hash_t hash = XXH3_128bits_withSeed(data, size, seed);
    return (ss_u128){.low = hash.low64, .high = hash.high64};
}

static inline bool ss_u128_equal(ss_u128 a, ss_u128 b)
{
    return a.low == b.low && a.high == b.high;
}

/* a + b modulo 2^128. */
static inline ss_u128 ss_u128_add(ss_u128 a, ss_u128 b)
{
    ss_u128 sum = {.low = a.low + b.low, .high = a.high + b.high};
    sum.high += sum.low < a.low;
    return sum;
}

static inline ss_u128 ss_load_u128(const uint8_t *from)
{
    return (ss_u128){.low = ss_load_le64(from), .high = ss_load_le64(from + 8)};
}

static inline void ss_store_u128(uint8_t *to, ss_u128 x)
{
    ss_store_le64(to, x.low);
    ss_store_le64(to + 8, x.high);
}

/* The 128-bit hash of bytes that come in pieces. */
typedef XXH3_state_t ss_hash_state;

static inline void ss_hash_state_init(ss_hash_state *state)
{
    XXH3_INITSTATE(state);
    (void)XXH3_128bits_reset(state);
}

static inline void ss_hash_state_add(ss_hash_state *state, const void *data, size_t size)
{
    (void)XXH3_128bits_update(state, data, size);
}

static inline ss_u128 ss_hash_state_digest(const ss_hash_state *state)
{
    XXH128_hash_t hash = XXH3_128bits_digest(state);
    return (ss_u128){.low = hash.low64, .high = hash.high64};
}

#endif
