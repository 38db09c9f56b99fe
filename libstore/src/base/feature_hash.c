#include "base/feature_hash.h"

#include <stdio.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/minhash.h"
#include "base/utf8.h"

__extension__ typedef unsigned __int128 wide;

#define MINHASH_DEFAULT_BITS 256u

sstore_status ss_feature_hash_choose(sstore_feature_hash kind, uint32_t bits, ss_feature_hash *chosen_out,
                                     sstore_error *error)
{
    const bool is_minhash = kind == SSTORE_FEATURE_HASH_MINHASH;
    const uint32_t least = kind == SSTORE_FEATURE_HASH_JAVA128 ? 128 : 64;
    if (kind != SSTORE_FEATURE_HASH_XXH3 && kind != SSTORE_FEATURE_HASH_JAVA128 && !is_minhash)
        return ss_fail_argument(error, "feature hash %d does not exist", (int)kind);
    if (bits == 0)
        bits = is_minhash ? MINHASH_DEFAULT_BITS : least;
    if (is_minhash && !ss_minhash_has_bits(bits))
        return ss_fail_argument(error, "a MinHash has a multiple of 64 bits up to %u, not %u", SS_MINHASH_BITS, bits);
    if (!is_minhash && bits != 64 && bits != 128)
        return ss_fail_argument(error, "fingerprints of features have 64 or 128 bits, not %u", bits);
    if (bits < least)
        return ss_fail_argument(error, "the hash java128 makes fingerprints of 128 bits, not of %u", bits);
    *chosen_out = (ss_feature_hash){.kind = kind, .words = bits / 64};
    return SSTORE_OK;
}

void ss_feature_hash_name(const ss_feature_hash *self, char name_out[SS_FEATURE_HASH_NAME_BYTES])
{
    static const char *const names[] = {[SSTORE_FEATURE_HASH_XXH3] = "xxh3-",
                                        [SSTORE_FEATURE_HASH_JAVA128] = "java",
                                        [SSTORE_FEATURE_HASH_MINHASH] = "minhash-"};
    (void)snprintf(name_out, SS_FEATURE_HASH_NAME_BYTES, "%s%u", names[self->kind],
                   self->words > 1 ? 64 * self->words : 64);
}

/* Takes the UTF-16 units of a string. */
typedef struct java_string {
    wide hash;
    uint64_t length;
} java_string;

static inline void add_unit(java_string *self, uint32_t unit)
{
    if (self->length == 0)
        self->hash = (wide)unit << 7;
    self->hash = (self->hash * 1000003) ^ unit;
    self->length++;
}

/* The Java program computes with numbers that are never negative, so its replacement of -1 never applies. */
static wide hash_as_java(const uint8_t *text, size_t size)
{
    java_string string = {0, 0};
    uint32_t point;
    for (size_t at = 0; at < size;) {
        at += ss_utf8_decode(text + at, size - at, &point);
        if (point >= 0x10000) {
            add_unit(&string, 0xd800 + ((point - 0x10000) >> 10));
            point = 0xdc00 + (point & 0x3ff);
        }
        add_unit(&string, point);
    }
    return string.hash ^ string.length;
}

void ss_feature_hash_make(const ss_feature_hash *self, const void *data, size_t size,
                          uint64_t words_out[SS_FEATURE_HASH_WORDS])
{
    if (self->kind == SSTORE_FEATURE_HASH_JAVA128) {
        const wide hash = hash_as_java(data, size);
        words_out[0] = (uint64_t)(hash >> 64);
        words_out[1] = (uint64_t)hash;
    } else if (ss_feature_hash_is_wide(self)) {
        const ss_u128 hash = ss_hash128(data, size);
        words_out[0] = hash.high;
        words_out[1] = hash.low;
    } else {
        words_out[0] = ss_hash64(data, size);
    }
}
