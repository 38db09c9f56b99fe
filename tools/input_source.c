/*
 * input_source.c - the bytes of one input, read ahead in large pieces by read(), which on a pipe or terminal returns
 * what there is: a line can be answered before the next one is written.
 */
#include "input_source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "interrupt.h"

#define FIRST_CAPACITY ((size_t)1 << 18)

int input_source_open(input_source *source, const char *path)
{
    bool standard = strcmp(path, "-") == 0;
    *source = (input_source){.name = path, .capacity = FIRST_CAPACITY};
    source->fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (source->fd < 0) {
        cmd_complain("%s: cannot open: %s", path, strerror(errno));
        return EXIT_FAILED;
    }
    (void)posix_fadvise(source->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    source->buffer = malloc(source->capacity);
    if (source->buffer != NULL)
        return EXIT_DONE;
    cmd_complain("%s: out of memory", path);
    input_source_close(source);
    return EXIT_FAILED;
}

/* Move the bytes to the buffer's beginning, and double the buffer if they fill it. */
static bool make_room(input_source *source)
{
    if (source->begin > 0) {
        memmove(source->buffer, source->buffer + source->begin, source->end - source->begin);
        source->end -= source->begin;
        source->begin = 0;
    }
    if (source->end < source->capacity)
        return true;
    char *larger = realloc(source->buffer, 2 * source->capacity);
    if (larger == NULL)
        return false;
    source->buffer = larger;
    source->capacity *= 2;
    return true;
}

int input_source_fill(input_source *source)
{
    if (!make_room(source))
        return input_source_fail(source, "out of memory");
    ssize_t got;
    do {
        got = read(source->fd, source->buffer + source->end, source->capacity - source->end);
    } while (got < 0 && errno == EINTR && !interrupted());
    if (got < 0 && errno == EINTR)
        return interrupt_exit_code();
    if (got < 0)
        return input_source_fail(source, "cannot read: %s", strerror(errno));
    source->end += (size_t)got;
    source->at_end = got == 0;
    return EXIT_DONE;
}

int input_source_need(input_source *source, size_t size)
{
    int code = EXIT_DONE;
    while (code == EXIT_DONE && source->end - source->begin < size && !source->at_end)
        code = input_source_fill(source);
    return code;
}

int input_source_fail(input_source *source, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(source->fault.reason, sizeof source->fault.reason, format, arguments);
    va_end(arguments);
    source->failed = true;
    return EXIT_FAILED;
}

int input_source_fail_line(input_source *source, uint64_t line, const char *reason)
{
    source->line = line;
    return input_source_fail(source, "%s", reason);
}

void input_source_report(const input_source *source)
{
    if (source->failed && source->line > 0)
        cmd_complain("%s:%" PRIu64 ": %s", source->name, source->line, source->fault.reason);
    else if (source->failed)
        cmd_complain("%s: %s", source->name, source->fault.reason);
}

void input_source_close(input_source *source)
{
    if (source->fd > STDIN_FILENO)
        close(source->fd);
    free(source->buffer);
    source->buffer = NULL;
}
