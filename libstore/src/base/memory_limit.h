/*
 * memory_limit.h - how much memory this process may use.
 */
#ifndef SS_MEMORY_LIMIT_H
#define SS_MEMORY_LIMIT_H

#include "base/common.h"

/* Bytes: the smallest of the machine's memory, RLIMIT_AS, and the limits of the process's memory cgroups, of version 1 or 2, and
 * of those above them. A limit that cannot be read is none; UINT64_MAX if none can. Any thread may ask; reads files of /proc and
 * /sys. */
uint64_t ss_memory_limit(void);

#endif
