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
    byte_buffer in; /* what is not converted yet */
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
    self->converter = iconv_open("UTF-8", encoding);
    if (byte_buffer_init(&self->in, from, begin, size, PIECE_BYTES) && self->converter != (iconv_t)-1)
        return self;
    recoder_free(self);
    return NULL;
}

/* Convert what is there; returns the bytes written to `to`. What is no text is replaced, one byte at a time. */
static size_t convert(recoder *self, char *to, size_t room)
{
    char *const first = to;
    size_t left = room;
    while (self->in.begin < self->in.end) {
        char *from = self->in.bytes + self->in.begin;
        size_t unread = self->in.end - self->in.begin;
        const bool stopped = iconv(self->converter, &from, &unread, &to, &left) == (size_t)-1;
        const int why = errno;
        self->in.begin = self->in.end - unread;
        if (!stopped || why == E2BIG || left < REPLACEMENT_BYTES || (why == EINVAL && !self->in.at_end))
            break;
        memcpy(to, REPLACEMENT, REPLACEMENT_BYTES);
        to += REPLACEMENT_BYTES;
        left -= REPLACEMENT_BYTES;
        self->in.begin++;
    }
    return (size_t)(to - first);
}

/* Convert something, unless the input has ended. */
static int read_converted(void *context, char *to, size_t room, size_t *got_out, line_fault *fault)
{
    recoder *self = context;
    int code = EXIT_DONE;
    *got_out = convert(self, to, room);
    while (code == EXIT_DONE && *got_out == 0 && !self->in.at_end) {
        code = byte_buffer_fill(&self->in, fault); /* what is left is the beginning of a character */
        if (code == EXIT_DONE)
            *got_out = convert(self, to, room);
    }
    return code;
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
    free(self->in.bytes);
    free(self);
}
