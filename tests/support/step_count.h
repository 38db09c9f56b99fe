/*
 * step_count.h - counts the reads and steps of a call on a store, and ends the program if they far exceed what a small
 * store can need. So a call that does not end is found at any speed of the machine. Only programs linked with
 * STEP_COUNT_LINK_OPTIONS of tests/CMakeLists.txt count: the linker redirects the counted calls to step_count.c.
 */
#ifndef SUPPORT_STEP_COUNT_H
#define SUPPORT_STEP_COUNT_H

#include <stdint.h>

/* Limits for a call on one or two stores of about 100 blocks each: reads of files, and steps to prove, name or adapt
 * plans. */
#define STEP_COUNT_MAX_READS 400000u
#define STEP_COUNT_MAX_STEPS (UINT64_C(1) << 22)

/* Counted between step_count_begin() and step_count_end(). */
typedef struct step_count {
    uint64_t reads, steps;
} step_count;

/* Count from 0 until step_count_end(). `what` is printed if a limit is exceeded; it must remain valid. */
void step_count_begin(const char *what);
step_count step_count_end(void);

#endif
