/*
 * unpacker.c - the state between a compressed stream and its decoder.
 *
 * A compressed stream is one part or more, each a gzip member or a zstd frame. It may end between two parts only, and
 * whatever else stands between two is a fault.
 */
#include "unpacker.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

#define PIECE_BYTES ((size_t)1 << 17)

struct unpacker {
    compression kind;
    const compression_facts *facts;
    void *decoder;
    byte_stream from;
    char *buffer;
    size_t capacity, begin, end; /* buffer[begin, end) is read but not decoded */
    uint64_t offset;             /* the place of buffer[begin] in the compressed stream */
    bool from_ended;             /* nothing follows what is in the buffer */
    bool within;                 /* a part has begun and not ended */
    bool has_more;               /* the decoder may have bytes left that there was no room for */
};

int unpacker_create(compression kind, uint32_t most_window_bits, byte_stream from, const char *begin, size_t size,
                    unpacker **unpacker_out, line_fault *fault)
{
    const compression_facts *facts = compression_describe(kind);
    if (facts->decoder->create == NULL)
        return byte_stream_fail(fault, "cannot unpack %s data: this sstore was built without %s", facts->name,
                                facts->decoder->library);
    size_t capacity = size > PIECE_BYTES ? size : PIECE_BYTES;
    unpacker *made = calloc(1, sizeof *made);
    char *buffer = malloc(capacity);
    void *decoder = facts->decoder->create(most_window_bits);
    if (made == NULL || buffer == NULL || decoder == NULL) {
        if (decoder != NULL)
            facts->decoder->free(decoder);
        free(buffer);
        free(made);
        return byte_stream_fail(fault, "out of memory");
    }
    *made = (unpacker){.kind = kind,
                       .facts = facts,
                       .decoder = decoder,
                       .from = from,
                       .buffer = buffer,
                       .capacity = capacity,
                       .end = size};
    if (size > 0)
        memcpy(buffer, begin, size);
    *unpacker_out = made;
    return EXIT_DONE;
}

/* Read on behind what is in the buffer, which is not full. */
static int refill(unpacker *self, line_fault *fault)
{
    size_t got = 0, left = self->end - self->begin;
    memmove(self->buffer, self->buffer + self->begin, left);
    self->begin = 0;
    self->end = left;
    int code = self->from.read(self->from.self, self->buffer + left, self->capacity - left, &got, fault);
    self->end += got;
    self->from_ended = code == EXIT_DONE && got == 0;
    return code;
}

static int fail_cut_short(const unpacker *self, line_fault *fault)
{
    return byte_stream_fail(fault, "the %s data is cut short: it ends at offset %" PRIu64 ", within a %s",
                            self->facts->name, self->offset + (self->end - self->begin), self->facts->part);
}

/* Something else stands where a part should begin. */
static int fail_no_part(const unpacker *self, line_fault *fault)
{
    char expected[96];
    if (self->offset == 0)
        snprintf(expected, sizeof expected, "%s data", self->facts->name);
    else
        snprintf(expected, sizeof expected, "the end or another %s %s at offset %" PRIu64, self->facts->name,
                 self->facts->part, self->offset);
    line_fault_found(fault, expected, self->buffer + self->begin, self->end - self->begin);
    return EXIT_FAILED;
}

/* Between parts: go on to the next one, or find the end. */
static int begin_part(unpacker *self, bool *ended_out, line_fault *fault)
{
    compression_match match = compression_begins(self->kind, self->buffer + self->begin, self->end - self->begin);
    if (match == COMPRESSION_PERHAPS && !self->from_ended)
        return refill(self, fault); /* and look again */
    self->within = match == COMPRESSION_YES;
    *ended_out = self->begin == self->end && self->offset > 0;
    if (self->within || *ended_out)
        return EXIT_DONE;
    return match == COMPRESSION_NO ? fail_no_part(self, fault) : fail_cut_short(self, fault);
}

static int decode(unpacker *self, char *to, size_t room, size_t *got_out, line_fault *fault)
{
    size_t available = self->end - self->begin;
    const char *reason = NULL;
    decode_step step = {.from = self->buffer + self->begin, .from_bytes = available, .to_bytes = room};
    step.to = to;
    decode_result result = self->facts->decoder->decode(self->decoder, &step, &reason);
    self->begin += available - step.from_bytes;
    self->offset += available - step.from_bytes;
    self->within = result != DECODE_ENDED;
    self->has_more = step.to_bytes == 0;
    *got_out = room - step.to_bytes;
    if (result == DECODE_FAILED)
        return byte_stream_fail(fault, "cannot unpack the %s data behind offset %" PRIu64 ": %s", self->facts->name,
                                self->offset, reason);
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
        else if (self->begin < self->end || self->has_more)
            code = decode(self, to, room, got_out, fault);
        else if (!self->from_ended)
            code = refill(self, fault);
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
    self->facts->decoder->free(self->decoder);
    free(self->buffer);
    free(self);
}
