#include "support/name_of_id.h"

#include <inttypes.h>
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

sstore_name id_name(id_name_kind kind, uint64_t seed, uint64_t id, char *buffer)
{
    if (rng_mix(seed ^ rng_mix(id)) % 8 == 0) /* the name of another id */
        id /= 2;
    const uint64_t mix = rng_mix(seed + rng_mix(id + 1));
    size_t size = 0;
    switch (kind) {
    case NAMES_PATHS: size = make_path(mix, id, buffer); break;
    case NAMES_BYTES: size = make_bytes(mix, 1 + mix % 60, buffer); break;
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
