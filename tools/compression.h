/*
 * compression.h - how an input is compressed, by its name or by what it begins with.
 */
#ifndef COMPRESSION_H
#define COMPRESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "decoder.h"

typedef enum compression { COMPRESSION_AUTO, COMPRESSION_NONE, COMPRESSION_GZIP, COMPRESSION_ZSTD } compression;

typedef struct compression_facts {
    const char *name, *suffix, *part; /* a file is one part or several, one behind the other */
    const decoder_kind *decoder;
} compression_facts;

/* Whether this sstore can undo it; AUTO and NONE it always can. */
bool compression_is_known(compression kind);

/* What is known of gzip or zstd. */
const compression_facts *compression_describe(compression kind);

/* Which one the name `path` speaks of, COMPRESSION_AUTO if none. *stem_length_out is its length without the suffix. */
compression compression_of_name(const char *path, size_t *stem_length_out);

/* Whether a part of that kind begins with these bytes. COMPRESSION_PERHAPS: they are too few to tell. */
typedef enum compression_match { COMPRESSION_NO, COMPRESSION_PERHAPS, COMPRESSION_YES } compression_match;
compression_match compression_begins(compression kind, const char *bytes, size_t size);

/* Whether the name has that suffix, in either case: other systems write names in capitals. */
bool name_has_suffix(const char *name, size_t length, const char *suffix);

#endif
