#include "input/recode.h"

#include <errno.h>
#include <iconv.h>
#include <stdlib.h>
#include <string.h>

#include "output/messages.h"

#define PIECE_BYTES ((size_t)1 << 17)
#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */
#define REPLACEMENT_BYTES (sizeof REPLACEMENT - 1)

struct recoder {
    iconv_t converter;
    byte_stream from;
    size_t begin, end; /* buffer[begin, end) is read but not converted */
    bool from_ended;
    char *buffer;
    size_t capacity;
    char ready[64]; /* ready[ready_begin, ready_end) is converted but not handed on */
    size_t ready_begin, ready_end;
};

bool recode_knows(const char *encoding)
{
    iconv_t converter = iconv_open("UTF-8", encoding);
    const bool known = converter != (iconv_t)-1;
    (void)iconv_close(converter); /* which refuses -1 */
    return known;
}

recoder *recoder_create(const char *encoding, byte_stream from, const char *begin, size_t size)
{
    recoder *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->from = from;
    self->capacity = size > PIECE_BYTES ? size : PIECE_BYTES;
    self->converter = iconv_open("UTF-8", encoding);
    self->buffer = malloc(self->capacity);
    if (self->buffer == NULL || self->converter == (iconv_t)-1) {
        recoder_free(self);
        return NULL;
    }
    if (size > 0)
        memcpy(self->buffer, begin, size);
    self->end = size;
    return self;
}

static int read_more(recoder *self, line_fault *fault)
{
    size_t got = 0;
    memmove(self->buffer, self->buffer + self->begin, self->end - self->begin);
    self->end -= self->begin;
    self->begin = 0;
    const int code = self->from.read(self->from.self, self->buffer + self->end, self->capacity - self->end, &got,
                                     fault);
    self->end += got;
    self->from_ended = code == EXIT_DONE && got == 0;
    return code;
}

/* Convert what is there; returns the bytes written to `to`. What is no text is replaced, one byte at a time. */
static size_t convert(recoder *self, char *to, size_t room)
{
    char *const first = to;
    size_t left = room;
    while (self->begin < self->end) {
        char *from = self->buffer + self->begin;
        size_t unread = self->end - self->begin;
        const bool stopped = iconv(self->converter, &from, &unread, &to, &left) == (size_t)-1;
        const int why = errno;
        self->begin = self->end - unread;
        if (!stopped || why == E2BIG || left < REPLACEMENT_BYTES || (why == EINVAL && !self->from_ended))
            break;
        memcpy(to, REPLACEMENT, REPLACEMENT_BYTES);
        to += REPLACEMENT_BYTES;
        left -= REPLACEMENT_BYTES;
        self->begin++;
    }
    return (size_t)(to - first);
}

/* Convert something, unless the input has ended. */
static int convert_some(recoder *self, char *to, size_t room, size_t *got_out, line_fault *fault)
{
    int code = EXIT_DONE;
    *got_out = convert(self, to, room);
    while (code == EXIT_DONE && *got_out == 0 && !self->from_ended) {
        code = read_more(self, fault); /* what is left is the beginning of a character */
        if (code == EXIT_DONE)
            *got_out = convert(self, to, room);
    }
    return code;
}

static int read_converted(void *context, char *to, size_t room, size_t *got_out, line_fault *fault)
{
    recoder *self = context;
    if (room >= sizeof self->ready && self->ready_begin == self->ready_end)
        return convert_some(self, to, room, got_out, fault);
    /* A character may need more room than there is. */
    if (self->ready_begin == self->ready_end) {
        self->ready_begin = 0;
        const int code = convert_some(self, self->ready, sizeof self->ready, &self->ready_end, fault);
        if (code != EXIT_DONE)
            return code;
    }
    const size_t left = self->ready_end - self->ready_begin;
    *got_out = left < room ? left : room;
    memcpy(to, self->ready + self->ready_begin, *got_out);
    self->ready_begin += *got_out;
    return EXIT_DONE;
}

byte_stream recoder_bytes(recoder *self)
{
    return (byte_stream){read_converted, self};
}

void recoder_free(recoder *self)
{
    if (self == NULL)
        return;
    (void)iconv_close(self->converter); /* which refuses -1 */
    free(self->buffer);
    free(self);
}
