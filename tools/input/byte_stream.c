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
#include <sys/stat.h>
#include <unistd.h>

#include "input/input_hint.h"
#include "input/input_measure.h"
#include "input/interrupt.h"
#include "input/queue.h"
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

/* ----- buffers ----- */

bool byte_buffer_init(byte_buffer *self, byte_stream from, const char *begin, size_t size, size_t capacity)
{
    *self = (byte_buffer){.from = from, .capacity = size > capacity ? size : capacity, .end = size};
    self->bytes = malloc(self->capacity);
    if (self->bytes != NULL && size > 0)
        memcpy(self->bytes, begin, size);
    return self->bytes != NULL;
}

/* Move the bytes to the buffer's beginning, and double it if it is nearly full. */
static bool make_room(byte_buffer *self)
{
    if (self->begin > 0) {
        memmove(self->bytes, self->bytes + self->begin, self->end - self->begin);
        self->end -= self->begin;
        self->begin = 0;
    }
    if (self->capacity - self->end >= BYTE_STREAM_ROOM)
        return true;
    /* NOLINTNEXTLINE(clang-analyzer-optin.portability.UnixAPI): the capacity begins above 0 and only grows */
    char *larger = realloc(self->bytes, 2 * self->capacity);
    if (larger == NULL)
        return false;
    self->bytes = larger;
    self->capacity *= 2;
    return true;
}

int byte_buffer_fill(byte_buffer *self, line_fault *fault)
{
    size_t got = 0;
    if (!make_room(self))
        return byte_stream_fail(fault, "out of memory");
    const int code = self->from.read(self->from.self, self->bytes + self->end, self->capacity - self->end, &got, fault);
    self->end += got;
    self->at_end = code == EXIT_DONE && got == 0;
    return code;
}

/* ----- files ----- */

bool input_file_is_among(const char *path, char *const *inputs, int count)
{
    struct stat own, other;
    bool found = false;
    if (stat(path, &own) != 0 || !S_ISREG(own.st_mode))
        return false;
    for (int i = 0; i < count && !found; i++) {
        const int failure = strcmp(inputs[i], "-") == 0 ? fstat(STDIN_FILENO, &other) : stat(inputs[i], &other);
        found = failure == 0 && own.st_dev == other.st_dev && own.st_ino == other.st_ino;
    }
    return found;
}

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

typedef struct piece {
    queue_item item;
    size_t size;
    char bytes[PIECE_BYTES];
} piece;

struct bytes_ahead {
    byte_stream from;
    slot_queues pieces;
    piece slots[PIECES];
    /* How `from` ended; set before the queue of full pieces is closed. */
    int code;
    line_fault fault;
    /* The piece that is being copied out, or NULL, and how much of it has been. */
    piece *piece;
    size_t taken;
};

static void *read_ahead(void *context)
{
    bytes_ahead *self = context;
    piece *filled;
    size_t got = 1;
    while (self->code == EXIT_DONE && got > 0 && (filled = queue_take(&self->pieces.empty)) != NULL) {
        got = 0;
        self->code = self->from.read(self->from.self, filled->bytes, PIECE_BYTES, &got, &self->fault);
        filled->size = got;
        if (got > 0)
            queue_put(&self->pieces.full, filled);
    }
    queue_close(&self->pieces.full);
    return NULL;
}

bytes_ahead *bytes_ahead_create(byte_stream from)
{
    bytes_ahead *made = malloc(sizeof *made);
    if (made == NULL)
        return NULL;
    made->from = from;
    made->code = EXIT_DONE;
    made->piece = NULL;
    if (slot_queues_start(&made->pieces, made->slots, PIECES, sizeof *made->slots, read_ahead, made))
        return made;
    free(made);
    return NULL;
}

static int take_bytes(void *context, char *to, size_t room, size_t *got_out, line_fault *fault)
{
    bytes_ahead *self = context;
    *got_out = 0;
    if (self->piece == NULL) {
        self->taken = 0;
        self->piece = queue_take(&self->pieces.full);
    }
    if (self->piece == NULL) {
        if (self->code == EXIT_FAILED)
            *fault = self->fault;
        return self->code;
    }
    size_t left = self->piece->size - self->taken;
    *got_out = left < room ? left : room;
    memcpy(to, self->piece->bytes + self->taken, *got_out);
    self->taken += *got_out;
    if (*got_out == left) {
        queue_put(&self->pieces.empty, self->piece);
        self->piece = NULL;
    }
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
    queue_stop(&self->pieces.empty);
    slot_queues_join(&self->pieces);
    free(self);
}
