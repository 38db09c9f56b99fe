/*
 * io_mode.h - the three ways of reading blocks, by name.
 */
#ifndef BENCH_IO_MODE_H
#define BENCH_IO_MODE_H

#include "sstore.h"

#define BENCH_IO_MODES 4

/* "auto", "pread", "mmap" or "memory". */
const char *bench_io_name(sstore_io io);

/* The mode of that name; another name ends the program with 1. */
sstore_io bench_io_mode(const char *name);

#endif
