/*
 * memory.h - how much memory this process may use.
 */
#ifndef SS_MEMORY_H
#define SS_MEMORY_H

#include "base/common.h"

/* The least of the machine's memory, the limit of the process's address space, and those of its memory cgroups, of either
 * version. What cannot be read is no limit. */
uint64_t ss_memory_limit(void);

#endif
