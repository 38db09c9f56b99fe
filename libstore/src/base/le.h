/*
 * le.h - little-endian loads and stores at any alignment. Everything on disk is read and written through these.
 */
#ifndef SS_LE_H
#define SS_LE_H

#include <stdint.h>
#include <string.h>

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

#endif
