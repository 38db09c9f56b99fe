/*
 * input_measure.h - measures how much of the inputs of a command has been read, in bytes of their files. So it also
 * works for compressed files. Each process has one measure.
 */
#ifndef INPUT_MEASURE_H
#define INPUT_MEASURE_H

#include <stddef.h>

/* Begin to measure: from now on these inputs ("-": stdin) are read, and no others. */
void input_measure_begin(char *const *paths, int count);

/* Another `bytes` of the inputs were read. Any thread may call this. */
void input_measure_add(size_t bytes);

/* The fraction of the inputs that has been read, from 0 to 1. Negative: unknown, since one is not a regular file. */
double input_measure_fraction(void);

#endif
