/*
 * input_source.h - the bytes of one input, read ahead in large pieces.
 */
#ifndef INPUT_SOURCE_H
#define INPUT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct input_source {
    int fd;
    const char *name; /* as messages call it; "-" is stdin */
    char *buffer;
    size_t capacity;
    size_t begin, end; /* buffer[begin, end) is read but not taken */
    uint64_t offset;   /* the place of buffer[begin] in the input, in bytes */
    bool at_end;       /* nothing follows what is in the buffer */
} input_source;

/* Open `path` ("-": stdin). Returns an exit code; a failure has been reported, and the source need not be closed. */
int input_source_open(input_source *source, const char *path);

/*
 * Wait for more bytes and put them behind those in the buffer, which grows if it is full, or set at_end. What was
 * there may move. Returns an exit code: a failure has been reported, and an interruption gives its own code.
 */
int input_source_fill(input_source *source);

/* Fill until at least `size` bytes are in the buffer or the input ends. Returns as input_source_fill(). */
int input_source_need(input_source *source, size_t size);

/* Take `size` bytes off the buffer's beginning. */
static inline void input_source_take(input_source *source, size_t size)
{
    source->begin += size;
    source->offset += size;
}

void input_source_close(input_source *source);

#endif
