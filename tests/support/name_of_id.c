#include "support/name_of_id.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/random.h"

static size_t make_path(uint64_t mix, uint64_t id, char *buffer)
{
    static const char *const folders[] = {"usr/share/doc", "usr/lib", "home/a/b", "var/cache"};
    return (size_t)snprintf(buffer, 200, "/%s/%" PRIu64 "/file%05" PRIu64 "%s", folders[id / 1000 % 4], id / 64 % 100,
                            id % 100000, mix % 3 == 0 ? ".html" : "");
}

static size_t make_bytes(uint64_t mix, size_t size, char *buffer)
{
    rng random = rng_seeded(mix);
    for (size_t i = 0; i < size; i++) {
        const char byte = (char)rng_between(&random, 1, 255);
        buffer[i] = byte == '\n' ? ' ' : byte;
    }
    return size;
}

/* ----- names whose hashes agree -----
 *
 * XXH3-64 of 16 bytes, the words a and b after a constant mask (the xxHash specification, "XXH3 small inputs"), is the
 * avalanche of 16 + swap(a) + b + fold(a * b), where fold() is the upper half xor the lower one. The avalanche can be
 * undone. With a = 0 the sum is 16 + b, with a = 1 it is 16 + swap(1) + 2b. So for each hash there is a name with
 * a = 0, and for half of all hashes one with a = 1. */

#define NAME_BYTES 16u

static uint64_t undo_shift(uint64_t word, uint32_t shift)
{
    uint64_t undone = word;
    for (uint32_t i = shift; i < 64; i += shift)
        undone = word ^ undone >> shift;
    return undone;
}

/* The inverse of an odd number modulo 2^64, by Newton's method. */
static uint64_t invert(uint64_t odd)
{
    uint64_t inverse = odd;
    for (int i = 0; i < 5; i++)
        inverse *= 2 - odd * inverse;
    return inverse;
}

static uint64_t undo_avalanche(uint64_t hash)
{
    return undo_shift(undo_shift(hash, 32) * invert(UINT64_C(0x165667919E3779F9)), 37);
}

/* The masks of the words: xor of two words of the default secret. */
#define MASK_A UINT64_C(0x6782737BEA4239B9)
#define MASK_B UINT64_C(0xAF56BC3B0996523A)

static void store_little_endian(char *to, uint64_t word)
{
    for (uint32_t i = 0; i < 8; i++)
        to[i] = (char)(word >> 8 * i);
}

/* Write the name with a hash and this word a, 0 or 1. False: there is none. */
static bool write_with_hash(uint64_t hash, uint64_t a, char *buffer)
{
    const uint64_t sum = undo_avalanche(hash) - NAME_BYTES - __builtin_bswap64(a);
    store_little_endian(buffer, a ^ MASK_A);
    store_little_endian(buffer + 8, sum >> a ^ MASK_B);
    return (sum & a) == 0 && memchr(buffer, 0, NAME_BYTES) == NULL && memchr(buffer, '\n', NAME_BYTES) == NULL;
}

/* All names of a seed agree in the upper 32 bits of their hashes. Many ids 2i and 2i + 1 have names of one hash. */
static size_t make_colliding(uint64_t seed, uint64_t id, char *buffer)
{
    const uint64_t same = rng_mix(seed) << 32, own = rng_mix(id / 2);
    if (id % 2 == 1 && write_with_hash(same | (uint32_t)own, 1, buffer))
        return NAME_BYTES;
    for (uint64_t i = id % 2; !write_with_hash(same | (uint32_t)(own + (i << 20)), 0, buffer); i += 2)
        continue;
    return NAME_BYTES;
}

sstore_name id_name(id_name_kind kind, uint64_t seed, uint64_t id, char *buffer)
{
    if (rng_mix(seed ^ rng_mix(id)) % 8 == 0) /* the name of another id */
        id /= 2;
    const uint64_t mix = rng_mix(seed + rng_mix(id + 1));
    size_t size = 0;
    switch (kind) {
    case NAMES_PATHS: size = make_path(mix, id, buffer); break;
    case NAMES_BYTES: size = make_bytes(mix, 1 + mix % 60, buffer); break;
    case NAMES_COLLIDING: size = make_colliding(seed, id, buffer); break;
    default: size = make_bytes(mix, 1 + mix % (mix % 16 == 0 ? 65536 : 300), buffer); break;
    }
    return (sstore_name){.bytes = buffer, .size = size};
}

sstore_name *id_names(id_name_kind kind, uint64_t seed, const uint64_t *ids, size_t count)
{
    static char buffer[ID_NAME_CAPACITY];
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += id_name(kind, seed, ids[i], buffer).size;
    sstore_name *names = malloc(count * sizeof *names + total + 1);
    char *to = (char *)(names + count);
    for (size_t i = 0; i < count; i++) {
        const sstore_name name = id_name(kind, seed, ids[i], buffer);
        memcpy(to, name.bytes, name.size);
        names[i] = (sstore_name){.bytes = to, .size = name.size};
        to += name.size;
    }
    return names;
}
