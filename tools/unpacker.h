/*
 * unpacker.h - the bytes that a compressed stream unpacks to, piece by piece: however far a file expands, what is kept
 * of it is a piece, and the window that its decoder needs.
 */
#ifndef UNPACKER_H
#define UNPACKER_H

#include "byte_stream.h"
#include "compression.h"

typedef struct unpacker unpacker;

/*
 * Unpack `from`, which must outlive the unpacker and of which the bytes begin[0, size) have been read already. Of what
 * is unpacked at most 2^most_window_bits bytes are kept. Returns an exit code; a failure has set *fault.
 */
int unpacker_create(compression kind, uint32_t most_window_bits, byte_stream from, const char *begin, size_t size,
                    unpacker **unpacker_out, line_fault *fault);

byte_stream unpacker_bytes(unpacker *self);

void unpacker_free(unpacker *self);

#endif
