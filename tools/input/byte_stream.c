/*
 * byte_stream.c - a file or stdin as a stream of bytes that another thread can stop, and streams that are read ahead by
 * a thread of their own.
 */
#include "input/byte_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/handover.h"
#include "input/input_hint.h"
#include "input/input_measure.h"
#include "input/interrupt.h"
#include "output/messages.h"

/* Reading ahead: pieces large enough that the hand-over costs nothing, and few enough that they stay in the cache. */
#define PIECE_BYTES ((size_t)1 << 17)
#define PIECES 4

int byte_stream_fail(line_fault *fault, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->reason, sizeof fault->reason, format, arguments);
    va_end(arguments);
    return EXIT_FAILED;
}

/* ----- files ----- */

/* Opening a named pipe waits for a writer. */
static int open_path(const char *path)
{
    int fd;
    do {
        fd = open(path, O_RDONLY | O_CLOEXEC);
    } while (fd < 0 && errno == EINTR && !interrupted());
    return fd;
}

int input_file_open(input_file *file, const char *path)
{
    file->stop = WAKE_NONE;
    file->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open_path(path);
    if (file->fd < 0 && errno == EINTR)
        return interrupt_exit_code();
    if (file->fd < 0)
        return message_errno(path, "cannot open");
    if (file->fd == STDIN_FILENO)
        input_hint_of_terminal(file->fd);
#ifdef POSIX_FADV_SEQUENTIAL /* not every system has this part of POSIX */
    (void)posix_fadvise(file->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
    return EXIT_DONE;
}

/*
 * Wait until there is something to read. read() alone could wait for ever if another thread stops this one, or if a
 * signal arrives in another thread or just before the call. Returns false if reading must end.
 */
static bool wait_for_bytes(const input_file *file)
{
    if (file->stop.fd < 0 && interrupt_fd() < 0)
        return true;
    struct pollfd events[] = {{.fd = file->fd, .events = POLLIN},
                              {.fd = file->stop.fd, .events = POLLIN},
                              {.fd = interrupt_fd(), .events = POLLIN}};
    while (poll(events, sizeof events / sizeof *events, -1) < 0 && errno == EINTR && !interrupted()) {
    }
    return events[1].revents == 0 && !interrupted();
}

static int read_bytes(void *self, char *to, size_t room, size_t *got_out, line_fault *fault)
{
    const input_file *file = self;
    ssize_t got;
    do {
        if (!wait_for_bytes(file))
            return interrupted() ? interrupt_exit_code() : byte_stream_fail(fault, "stopped");
        got = read(file->fd, to, room);
    } while (got < 0 && errno == EINTR && !interrupted());
    if (got < 0 && errno == EINTR)
        return interrupt_exit_code();
    if (got < 0)
        return byte_stream_fail(fault, "cannot read: %s",
                                errno == EISDIR ? input_hint_of_folder(file->fd) : strerror(errno));
    *got_out = (size_t)got;
    input_measure_add((size_t)got);
    return EXIT_DONE;
}

byte_stream input_file_bytes(input_file *file)
{
    return (byte_stream){read_bytes, file};
}

bool input_file_allow_stop(input_file *file)
{
    return wake_open(&file->stop);
}

void input_file_stop(const input_file *file)
{
    wake_up(&file->stop);
}

void input_file_close(input_file *file)
{
    wake_close(&file->stop);
    if (file->fd > STDIN_FILENO)
        close(file->fd);
    file->fd = -1;
}

/* ----- reading ahead ----- */

struct bytes_ahead {
    byte_stream from;
    handover pieces;
    struct {
        size_t size;
        char bytes[PIECE_BYTES];
    } slots[PIECES];
    /* How `from` ended; set before handover_finish(). */
    int code;
    line_fault fault;
    /* The piece that is being copied out, and how much of it has been. */
    bool has_piece;
    size_t piece, taken;
};

static void *read_ahead(void *context)
{
    bytes_ahead *self = context;
    size_t slot, got = 1;
    while (self->code == EXIT_DONE && got > 0 && handover_take_free(&self->pieces, &slot)) {
        got = 0;
        self->code = self->from.read(self->from.self, self->slots[slot].bytes, PIECE_BYTES, &got, &self->fault);
        self->slots[slot].size = got;
        if (got > 0)
            handover_give_full(&self->pieces);
    }
    handover_finish(&self->pieces);
    return NULL;
}

bytes_ahead *bytes_ahead_create(byte_stream from)
{
    bytes_ahead *made = malloc(sizeof *made);
    if (made == NULL)
        return NULL;
    made->from = from;
    made->code = EXIT_DONE;
    made->has_piece = false;
    if (handover_start(&made->pieces, PIECES, read_ahead, made))
        return made;
    free(made);
    return NULL;
}

static int take_bytes(void *context, char *to, size_t room, size_t *got_out, line_fault *fault)
{
    bytes_ahead *self = context;
    *got_out = 0;
    if (!self->has_piece) {
        self->taken = 0;
        self->has_piece = handover_take_full(&self->pieces, &self->piece);
    }
    if (!self->has_piece) {
        if (self->code == EXIT_FAILED)
            *fault = self->fault;
        return self->code;
    }
    size_t left = self->slots[self->piece].size - self->taken;
    *got_out = left < room ? left : room;
    memcpy(to, self->slots[self->piece].bytes + self->taken, *got_out);
    self->taken += *got_out;
    self->has_piece = *got_out < left;
    if (!self->has_piece)
        handover_give_free(&self->pieces);
    return EXIT_DONE;
}

byte_stream bytes_ahead_bytes(bytes_ahead *self)
{
    return (byte_stream){take_bytes, self};
}

void bytes_ahead_free(bytes_ahead *self)
{
    if (self == NULL)
        return;
    handover_stop(&self->pieces);
    handover_join(&self->pieces);
    free(self);
}
