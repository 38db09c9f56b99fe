/*
 * decoder_gzip.c - gzip by zlib, which checks each member's checksum and length.
 */
#include "decoder.h"

#ifdef SSTORE_HAVE_ZLIB

#define ZLIB_CONST /* what zlib reads, it does not change */
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <zlib.h>

/* The largest window there is, and 16 for gzip, not zlib's own format. */
#define WINDOW_BITS (15 + 16)

typedef struct gzip_decoder {
    z_stream stream;
    bool ended; /* the member before */
} gzip_decoder;

static void *create(uint32_t most_window_bits)
{
    (void)most_window_bits; /* it is 2^15 always */
    gzip_decoder *decoder = calloc(1, sizeof *decoder);
    if (decoder != NULL && inflateInit2(&decoder->stream, WINDOW_BITS) != Z_OK) {
        free(decoder);
        return NULL;
    }
    return decoder;
}

static uInt cut(size_t size)
{
    return size < UINT_MAX ? (uInt)size : UINT_MAX;
}

static decode_result decode(void *self, decode_step *step, const char **reason_out)
{
    gzip_decoder *decoder = self;
    z_stream *stream = &decoder->stream;
    if (decoder->ended)
        (void)inflateReset(stream);
    stream->next_in = (const Bytef *)step->from;
    stream->avail_in = cut(step->from_bytes);
    stream->next_out = (Bytef *)step->to;
    stream->avail_out = cut(step->to_bytes);
    /* Z_SYNC_FLUSH: whatever can be written, since somebody may wait for it. */
    int result = inflate(stream, Z_SYNC_FLUSH);
    step->from_bytes -= (size_t)((const char *)stream->next_in - step->from);
    step->from = (const char *)stream->next_in;
    step->to_bytes -= (size_t)((char *)stream->next_out - step->to);
    step->to = (char *)stream->next_out;
    decoder->ended = result == Z_STREAM_END;
    /* Z_BUF_ERROR only says that there was nothing to do. */
    if (result == Z_OK || result == Z_BUF_ERROR || result == Z_STREAM_END)
        return decoder->ended ? DECODE_ENDED : DECODE_GOES_ON;
    *reason_out = stream->msg != NULL ? stream->msg : zError(result);
    return DECODE_FAILED;
}

static void free_decoder(void *self)
{
    gzip_decoder *decoder = self;
    inflateEnd(&decoder->stream);
    free(decoder);
}

const decoder_kind decoder_gzip = {"zlib", create, decode, free_decoder};

#else

const decoder_kind decoder_gzip = {.library = "zlib"};

#endif
