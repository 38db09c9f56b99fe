/*
 * recode.h - brings text of another encoding into UTF-8, piece by piece, by iconv(3).
 */
#ifndef RECODE_H
#define RECODE_H

#include <stdbool.h>

#include "input/byte_stream.h"

/* Can this system convert from that encoding? */
bool recode_knows(const char *encoding);

typedef struct recoder recoder;

/* Recode `from`, which must outlive the recoder; its first bytes, begin[0, size), have been read already. NULL: there
 * is no memory, or no such encoding. Bytes that are no text of the encoding become U+FFFD. */
recoder *recoder_create(const char *encoding, byte_stream from, const char *begin, size_t size);

byte_stream recoder_bytes(recoder *self);

/* NULL is allowed. */
void recoder_free(recoder *self);

#endif
