/*
 * decompress.h - how an input is compressed, by its name or by what it begins with; and the bytes that it unpacks to,
 * piece by piece: however far a file expands, what is kept of it is a piece, and the window that its decoder needs.
 */
#ifndef DECOMPRESS_H
#define DECOMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/byte_stream.h"

#define DECOMPRESS_MAX_WINDOW_BITS 27

typedef enum compression { COMPRESSION_AUTO, COMPRESSION_NONE, COMPRESSION_GZIP, COMPRESSION_ZSTD } compression;

/* Whether this sstore can undo it; AUTO and NONE it always can. */
bool compression_is_known(compression kind);

/* The name of gzip or zstd, and of the library that undoes it. */
const char *compression_name(compression kind);
const char *compression_library(compression kind);

/* The compression that the suffix of `path` names, COMPRESSION_AUTO if none. *stem_length_out is its length
 * without the suffix. */
compression compression_of_name(const char *path, size_t *stem_length_out);

/* Whether the name has that suffix, in either case: other systems write names in capitals. */
bool name_has_suffix(const char *name, size_t length, const char *suffix);

/* Whether data compressed that way begin with these bytes. COMPRESSION_PERHAPS: they are too few to tell. */
typedef enum compression_match { COMPRESSION_NO, COMPRESSION_PERHAPS, COMPRESSION_YES } compression_match;
compression_match compression_begins(compression kind, const char *bytes, size_t size);

typedef struct unpacker unpacker;

/*
 * Unpack `from`, which must outlive the unpacker and of which the bytes begin[0, size) have been read already. Of what
 * is unpacked at most 2^max_window_bits bytes are kept, 10 to 27. Returns an exit code; a failure has set *fault.
 */
int unpacker_create(compression kind, uint32_t max_window_bits, byte_stream from, const char *begin, size_t size,
                    unpacker **unpacker_out, line_fault *fault);

byte_stream unpacker_bytes(unpacker *self);

void unpacker_free(unpacker *self);

#endif
