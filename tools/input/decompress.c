/*
 * decompress.c - unpacks gzip by zlib, which checks the checksum and length of each member, and zstd by libzstd, which
 * skips skippable frames and checks checksums where there are any.
 *
 * A compressed stream consists of parts, gzip members or zstd frames. It may end only after a part, and nothing else
 * may stand between two parts.
 */
#include "input/decompress.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#ifdef SSTORE_HAVE_ZLIB
#define ZLIB_CONST /* zlib takes its input as const */
#include <zlib.h>
#endif
#ifdef SSTORE_HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

#include "output/messages.h"

#define MAGIC_BYTES 4u
#define PIECE_BYTES ((size_t)1 << 17)

typedef enum decode_result {
    DECODE_GOES_ON,
    DECODE_ENDED, /* a part is complete; the next step begins another one */
    DECODE_FAILED
} decode_result;

/* The bytes that a step may read and write, and the numbers that it did, `taken` and `got`. */
typedef struct decode_step {
    const char *from;
    size_t size, taken;
    char *to;
    size_t room, got;
    const char *reason; /* after DECODE_FAILED */
} decode_step;

/* A kind of compression and its decoder. */
typedef struct decoder_kind {
    const char *name, *suffix, *part, *library;
    /* The rest is NULL if sstore was built without the library. create() returns NULL if there is no memory. */
    void *(*create)(uint32_t max_window_bits);
    /* Decode on. If a step leaves room, the next one needs more input. There is no step after DECODE_FAILED. */
    decode_result (*decode)(void *decoder, decode_step *step);
    void (*free)(void *decoder);
} decoder_kind;

struct unpacker {
    compression kind;
    const decoder_kind *how;
    void *decoder;
    byte_buffer in;  /* what is not decoded yet */
    uint64_t offset; /* of its first byte, in the compressed stream */
    bool within;     /* a part has begun and not ended */
    bool has_more;   /* the decoder may have more bytes, for which there was no room */
};

/* ----- the decoders ----- */

#ifdef SSTORE_HAVE_ZLIB

/* The largest window there is, and 16 for gzip, not zlib's own format. */
#define GZIP_WINDOW_BITS (15 + 16)

typedef struct gzip_decoder {
    z_stream stream;
    bool ended; /* the last step ended a member */
} gzip_decoder;

static void *create_gzip(uint32_t max_window_bits)
{
    (void)max_window_bits; /* always 15 */
    gzip_decoder *decoder = calloc(1, sizeof *decoder);
    if (decoder != NULL && inflateInit2(&decoder->stream, GZIP_WINDOW_BITS) != Z_OK) {
        free(decoder);
        return NULL;
    }
    return decoder;
}

static uInt cut(size_t size)
{
    return size < UINT_MAX ? (uInt)size : UINT_MAX;
}

static decode_result decode_gzip(void *self, decode_step *step)
{
    gzip_decoder *decoder = self;
    z_stream *stream = &decoder->stream;
    if (decoder->ended)
        (void)inflateReset(stream);
    stream->next_in = (const Bytef *)step->from;
    stream->avail_in = cut(step->size);
    stream->next_out = (Bytef *)step->to;
    stream->avail_out = cut(step->room);
    /* Z_SYNC_FLUSH: write all output that is possible now, because a reader may be waiting for it. */
    int result = inflate(stream, Z_SYNC_FLUSH);
    step->taken = (size_t)((const char *)stream->next_in - step->from);
    step->got = (size_t)((char *)stream->next_out - step->to);
    decoder->ended = result == Z_STREAM_END;
    /* Z_BUF_ERROR only means that there was nothing to do. */
    if (result == Z_OK || result == Z_BUF_ERROR || result == Z_STREAM_END)
        return decoder->ended ? DECODE_ENDED : DECODE_GOES_ON;
    step->reason = stream->msg != NULL ? stream->msg : zError(result);
    return DECODE_FAILED;
}

static void free_gzip(void *self)
{
    gzip_decoder *decoder = self;
    inflateEnd(&decoder->stream);
    free(decoder);
}

#define GZIP_DECODER create_gzip, decode_gzip, free_gzip
#else
#define GZIP_DECODER NULL, NULL, NULL
#endif

#ifdef SSTORE_HAVE_ZSTD

/*
 * The decoder keeps a frame's window in memory. The frame sets its size, so a file of a few bytes could demand 2 GiB.
 * By default 'zstd' neither makes nor accepts windows of more than 128 MiB.
 */
#define WINDOW_TOO_LARGE                                                                                               \
    "its window is larger than an eighth of --memory, or than 128 MiB; give more --memory, or unpack it first: "       \
    "zstd -dc --long=31 FILE | sstore ..."

static void *create_zstd(uint32_t max_window_bits)
{
    ZSTD_DCtx *decoder = ZSTD_createDCtx();
    if (decoder != NULL && ZSTD_isError(ZSTD_DCtx_setParameter(decoder, ZSTD_d_windowLogMax, (int)max_window_bits))) {
        ZSTD_freeDCtx(decoder);
        return NULL;
    }
    return decoder;
}

static decode_result decode_zstd(void *self, decode_step *step)
{
    ZSTD_inBuffer in = {.src = step->from, .size = step->size};
    ZSTD_outBuffer out = {.dst = step->to, .size = step->room};
    size_t result = ZSTD_decompressStream(self, &out, &in);
    step->taken = in.pos;
    step->got = out.pos;
    if (!ZSTD_isError(result))
        return result == 0 ? DECODE_ENDED : DECODE_GOES_ON;
    bool too_large = ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge;
    step->reason = too_large ? WINDOW_TOO_LARGE : ZSTD_getErrorName(result);
    return DECODE_FAILED;
}

static void free_zstd(void *self)
{
    ZSTD_freeDCtx(self);
}

#define ZSTD_DECODER create_zstd, decode_zstd, free_zstd
#else
#define ZSTD_DECODER NULL, NULL, NULL
#endif

static const decoder_kind kinds[] = {
    [COMPRESSION_GZIP] = {"gzip", ".gz", "member", "zlib", GZIP_DECODER},
    [COMPRESSION_ZSTD] = {"zstd", ".zst", "frame", "libzstd", ZSTD_DECODER},
};

/* ----- recognising compressed data ----- */

/* The first bytes of a part, under a mask. */
static const struct magic {
    compression kind;
    size_t size;
    uint8_t bytes[MAGIC_BYTES], mask[MAGIC_BYTES];
} magics[] = {
    {COMPRESSION_GZIP, 2, {0x1f, 0x8b}, {0xff, 0xff}},
    {COMPRESSION_ZSTD, 4, {0x28, 0xb5, 0x2f, 0xfd}, {0xff, 0xff, 0xff, 0xff}},
    /* A skippable frame: parallel compressors begin with one. */
    {COMPRESSION_ZSTD, 4, {0x50, 0x2a, 0x4d, 0x18}, {0xf0, 0xff, 0xff, 0xff}},
};

bool compression_check(compression kind, line_fault *fault)
{
    return kind < COMPRESSION_GZIP || kinds[kind].create != NULL ||
           line_fault_set(fault, "cannot unpack %s data: this sstore was built without %s", kinds[kind].name,
                          kinds[kind].library);
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
        if (name_has_suffix(path, length, kinds[kind].suffix)) {
            *stem_length_out = length - strlen(kinds[kind].suffix);
            return kind;
        }
    }
    return COMPRESSION_AUTO;
}

static compression_match match_magic(const struct magic *magic, const char *bytes, size_t size)
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
        compression_match found = magics[i].kind == kind ? match_magic(&magics[i], bytes, size) : COMPRESSION_NO;
        if (found > best)
            best = found;
    }
    return best;
}

/* ----- unpacking ----- */

int unpacker_create(compression kind, uint32_t max_window_bits, byte_stream from, const char *begin, size_t size,
                    unpacker **unpacker_out, line_fault *fault)
{
    const decoder_kind *how = &kinds[kind];
    if (!compression_check(kind, fault))
        return EXIT_FAILED;
    unpacker *made = calloc(1, sizeof *made);
    if (made != NULL) {
        made->kind = kind;
        made->how = how;
        made->decoder = how->create(max_window_bits);
        if (byte_buffer_init(&made->in, from, begin, size, PIECE_BYTES) && made->decoder != NULL) {
            *unpacker_out = made;
            return EXIT_DONE;
        }
    }
    unpacker_free(made);
    return byte_stream_fail(fault, "out of memory");
}

static int fail_cut_short(const unpacker *self, line_fault *fault)
{
    if (self->offset == 0 && self->in.begin == self->in.end)
        return byte_stream_fail(fault, "expected %s data, but the input is empty", self->how->name);
    return byte_stream_fail(fault, "the %s data is cut short: it ends at offset %" PRIu64 ", within a %s",
                            self->how->name, self->offset + (self->in.end - self->in.begin), self->how->part);
}

/* There is no part where one should begin. */
static int fail_no_part(const unpacker *self, line_fault *fault)
{
    char expected[96];
    if (self->offset == 0)
        snprintf(expected, sizeof expected, "%s data", self->how->name);
    else
        snprintf(expected, sizeof expected, "the end or another %s %s at offset %" PRIu64, self->how->name,
                 self->how->part, self->offset);
    line_fault_found(fault, expected, self->in.bytes + self->in.begin, self->in.end - self->in.begin);
    return EXIT_FAILED;
}

/* Between parts: begin the next one, or find the end. */
static int begin_part(unpacker *self, bool *ended_out, line_fault *fault)
{
    compression_match match = compression_begins(self->kind, self->in.bytes + self->in.begin,
                                                 self->in.end - self->in.begin);
    if (match == COMPRESSION_PERHAPS && !self->in.at_end)
        return byte_buffer_fill(&self->in, fault); /* and look again */
    self->within = match == COMPRESSION_YES;
    *ended_out = self->in.begin == self->in.end && self->offset > 0;
    if (self->within || *ended_out)
        return EXIT_DONE;
    return match == COMPRESSION_NO ? fail_no_part(self, fault) : fail_cut_short(self, fault);
}

static int decode(unpacker *self, char *to, size_t room, size_t *got_out, line_fault *fault)
{
    decode_step step = {.from = self->in.bytes + self->in.begin,
                        .size = self->in.end - self->in.begin,
                        .to = to,
                        .room = room};
    decode_result result = self->how->decode(self->decoder, &step);
    self->in.begin += step.taken;
    self->offset += step.taken;
    self->within = result != DECODE_ENDED;
    self->has_more = step.got == room;
    *got_out = step.got;
    if (result == DECODE_FAILED)
        return byte_stream_fail(fault, "cannot unpack the %s data after offset %" PRIu64 ": %s", self->how->name,
                                self->offset, step.reason);
    return EXIT_DONE;
}

static int read_unpacked(void *context, char *to, size_t room, size_t *got_out, line_fault *fault)
{
    unpacker *self = context;
    bool ended = false;
    int code = EXIT_DONE;
    for (*got_out = 0; code == EXIT_DONE && *got_out == 0 && !ended;) {
        if (!self->within)
            code = begin_part(self, &ended, fault);
        else if (self->in.begin < self->in.end || self->has_more)
            code = decode(self, to, room, got_out, fault);
        else if (!self->in.at_end)
            code = byte_buffer_fill(&self->in, fault);
        else
            code = fail_cut_short(self, fault);
    }
    return code;
}

byte_stream unpacker_bytes(unpacker *self)
{
    return (byte_stream){read_unpacked, self};
}

void unpacker_free(unpacker *self)
{
    if (self == NULL)
        return;
    if (self->decoder != NULL)
        self->how->free(self->decoder);
    free(self->in.bytes);
    free(self);
}
