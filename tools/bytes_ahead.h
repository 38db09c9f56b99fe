/*
 * bytes_ahead.h - a stream that a thread of its own reads ahead: what takes long, such as unpacking, is done while what
 * came before is worked on.
 */
#ifndef BYTES_AHEAD_H
#define BYTES_AHEAD_H

#include "byte_stream.h"

typedef struct bytes_ahead bytes_ahead;

/*
 * Begin to read `from`, which belongs to the thread from now on. Returns NULL if the system does not have a thread or
 * memory for it: then `from` is as it was.
 */
bytes_ahead *bytes_ahead_create(byte_stream from);

byte_stream bytes_ahead_bytes(bytes_ahead *self);

/* End the thread. If it may be waiting for the file, whoever calls this has stopped that. NULL is allowed. */
void bytes_ahead_free(bytes_ahead *self);

#endif
