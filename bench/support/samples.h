/*
 * samples.h - what to say of repeated measurements on a noisy machine.
 */
#ifndef BENCH_SAMPLES_H
#define BENCH_SAMPLES_H

#include <stddef.h>

/* The median, of `count` > 0 values, which are sorted on the way. */
double bench_median(double *values, size_t count);

/* The mean of `count` > 0 values. */
double bench_mean(const double *values, size_t count);

#endif
