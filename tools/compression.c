#include "compression.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#define MAGIC_BYTES 4u

static const compression_facts all_facts[] = {
    [COMPRESSION_GZIP] = {"gzip", ".gz", "member", &decoder_gzip},
    [COMPRESSION_ZSTD] = {"zstd", ".zst", "frame", &decoder_zstd},
};

/* What a part begins with: these bytes, as far as the mask goes. */
static const struct magic {
    compression kind;
    size_t size;
    uint8_t bytes[MAGIC_BYTES], mask[MAGIC_BYTES];
} magics[] = {
    {COMPRESSION_GZIP, 2, {0x1f, 0x8b}, {0xff, 0xff}},
    {COMPRESSION_ZSTD, 4, {0x28, 0xb5, 0x2f, 0xfd}, {0xff, 0xff, 0xff, 0xff}},
    /* A frame to be skipped: that is what parallel compressors begin with. */
    {COMPRESSION_ZSTD, 4, {0x50, 0x2a, 0x4d, 0x18}, {0xf0, 0xff, 0xff, 0xff}},
};

bool compression_is_known(compression kind)
{
    return kind < COMPRESSION_GZIP || all_facts[kind].decoder->create != NULL;
}

const compression_facts *compression_describe(compression kind)
{
    return &all_facts[kind];
}

bool name_has_suffix(const char *name, size_t length, const char *suffix)
{
    size_t suffix_length = strlen(suffix);
    return length > suffix_length && strncasecmp(name + length - suffix_length, suffix, suffix_length) == 0;
}

compression compression_of_name(const char *path, size_t *stem_length_out)
{
    size_t length = strlen(path);
    *stem_length_out = length;
    for (compression kind = COMPRESSION_GZIP; kind <= COMPRESSION_ZSTD; kind++) {
        if (name_has_suffix(path, length, all_facts[kind].suffix)) {
            *stem_length_out = length - strlen(all_facts[kind].suffix);
            return kind;
        }
    }
    return COMPRESSION_AUTO;
}

static compression_match match(const struct magic *magic, const char *bytes, size_t size)
{
    for (size_t i = 0; i < magic->size && i < size; i++) {
        if (((uint8_t)bytes[i] & magic->mask[i]) != magic->bytes[i])
            return COMPRESSION_NO;
    }
    return size < magic->size ? COMPRESSION_PERHAPS : COMPRESSION_YES;
}

compression_match compression_begins(compression kind, const char *bytes, size_t size)
{
    compression_match best = COMPRESSION_NO;
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        compression_match found = magics[i].kind == kind ? match(&magics[i], bytes, size) : COMPRESSION_NO;
        if (found > best)
            best = found;
    }
    return best;
}
