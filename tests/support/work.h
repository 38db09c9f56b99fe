/*
 * work.h - counts the reads and steps of a call on a store, and ends the program if they are far more than a small
 * store can need. So a call that does not end is a finding, whatever the speed of the machine. Only programs that are
 * linked with WORK_LINK_OPTIONS of tests/CMakeLists.txt count: the linker leads the counted calls through work.c.
 */
#ifndef SUPPORT_WORK_H
#define SUPPORT_WORK_H

#include <stdint.h>

/* For a call on one or two stores of some 100 blocks each: reads of files, and steps to prove, to name or to adapt
 * plans. */
#define WORK_MOST_READS 400000u
#define WORK_MOST_STEPS (UINT64_C(1) << 22)

/* What was done between work_begin() and work_end(). */
typedef struct work {
    uint64_t reads, steps;
} work;

/* Count from 0 on, until work_end(). `what` is told where there is too much: a string that stays. */
void work_begin(const char *what);
work work_end(void);

#endif
