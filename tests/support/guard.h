/*
 * guard.h - memory between two forbidden pages: a byte read or written outside it ends the program, with or without a
 * sanitizer.
 */
#ifndef SUPPORT_GUARD_H
#define SUPPORT_GUARD_H

#include <stddef.h>
#include <stdint.h>

/* `size` bytes right behind a forbidden page, and `size` bytes right before one: the same bytes where the size is a
 * multiple of a page, otherwise overlapping in part. */
typedef struct guarded {
    uint8_t *low, *high;
    size_t size;
    void *map;
    size_t map_bytes;
} guarded;

/* Zeroed; whatever goes wrong fails the test. Freed with guard_free(). */
guarded guard_make(size_t size);
void guard_free(guarded *memory);

/* Copy `size` bytes to where the forbidden page follows them, or precedes them, and return that place. */
const uint8_t *guard_before_end(guarded *memory, const void *from);
const uint8_t *guard_after_begin(guarded *memory, const void *from);

#endif
