/*
 * decompress.h - recognises a compressed input by its name or its first bytes, and unpacks it piece by piece. However
 * far a file expands, only a piece and the window of the decoder are kept in memory.
 */
#ifndef DECOMPRESS_H
#define DECOMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/byte_stream.h"

#define DECOMPRESS_MAX_WINDOW_BITS 27

typedef enum compression { COMPRESSION_AUTO, COMPRESSION_NONE, COMPRESSION_GZIP, COMPRESSION_ZSTD } compression;

/* Can this sstore unpack such data? False: *fault names the missing library. True for AUTO and NONE. */
bool compression_check(compression kind, line_fault *fault);

/* The compression that the suffix of `path` names, or COMPRESSION_AUTO. *stem_length_out is the length without the
 * suffix. */
compression compression_of_name(const char *path, size_t *stem_length_out);

/* Does the name end with that suffix? Capitals count as small letters, since other systems write names in capitals. */
bool name_has_suffix(const char *name, size_t length, const char *suffix);

/* Does data compressed that way begin with these bytes? COMPRESSION_PERHAPS: there are too few to tell. */
typedef enum compression_match { COMPRESSION_NO, COMPRESSION_PERHAPS, COMPRESSION_YES } compression_match;
compression_match compression_begins(compression kind, const char *bytes, size_t size);

typedef struct unpacker unpacker;

/*
 * Unpack `from`, which must outlive the unpacker. Its first bytes, begin[0, size), have been read already. The decoder
 * may keep 2^max_window_bits unpacked bytes, 10 to 27. Returns an exit code; a failure has set *fault.
 */
int unpacker_create(compression kind, uint32_t max_window_bits, byte_stream from, const char *begin, size_t size,
                    unpacker **unpacker_out, line_fault *fault);

byte_stream unpacker_bytes(unpacker *self);

void unpacker_free(unpacker *self);

#endif
