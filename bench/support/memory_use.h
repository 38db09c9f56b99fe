/*
 * memory_use.h - what a process holds in memory, and what it read from the disk, as the kernel counts it.
 */
#ifndef BENCH_MEMORY_USE_H
#define BENCH_MEMORY_USE_H

#include <stdint.h>

/*
 * A store's directory is in a sealed memfd. The kernel counts its pages as shared memory, and only those that are
 * mapped and were touched; so the whole of it is counted here, and mapped shared memory is not.
 */
typedef struct bench_memory {
    uint64_t anonymous_bytes; /* RssAnon */
    uint64_t file_bytes;      /* RssFile: the program and the libraries, and blocks that are mapped */
    uint64_t memfd_bytes;     /* of all memfds that are open */
    uint64_t total_bytes;     /* the three together */
} bench_memory;

/* Of this process, now. */
bench_memory bench_memory_now(void);

/* The most that was resident at any time (VmHWM). */
uint64_t bench_memory_peak(void);
/* Let the peak be counted from now on. */
void bench_memory_peak_restart(void);

/* What this process had read from disks so far, by itself or ahead; 0 where the kernel does not count it. */
uint64_t bench_disk_bytes(void);

#endif
