/*
 * platform.h - what the library takes from Linux beyond POSIX, and what other systems name differently. A port replaces
 * platform.c; no other file has such code (tests/layers.sh checks this).
 *
 * Files and folders are given by descriptors. Functions that return bool or a descriptor set errno if they fail.
 * Functions that return nothing, except ss_platform_path(), only save time or space: a port may leave them empty.
 */
#ifndef SS_PLATFORM_H
#define SS_PLATFORM_H

#include "base/common.h"

/* ----- processors and memory ----- */

/* The processors that this process may run on, at least 1. */
uint32_t ss_platform_processors(void);
/* The smallest memory limit of the groups that this process is in, and of their parents; UINT64_MAX if there is none or
 * it cannot be read. */
uint64_t ss_platform_group_memory_limit(void);
/* Use huge pages for memory of whole huge pages. */
void ss_platform_use_huge_pages(void *memory, size_t bytes);

/* ----- files ----- */

/* Create a file without a name in a folder, for its owner only; returns -1 if this fails. errno is EOPNOTSUPP if the
 * file system has no such files. */
int ss_platform_create_unnamed(int folder);
/* Create an empty file in memory, which counts against RLIMIT_FSIZE; returns -1 if this fails. */
int ss_platform_create_in_memory(void);
/* Forbid all changes of a file in memory, also by this process. */
bool ss_platform_seal(int fd);
/* Make all of a file system durable. */
bool ss_platform_sync_file_system(int fd);

/* Read all of a part that is in the page cache, without waiting; else return false. */
bool ss_platform_read_cached(int fd, uint64_t offset, void *buffer, size_t size);
/* Read the pages of a map from the disk. False if this failed or is not supported: the pages may not be readable. */
bool ss_platform_populate(const uint8_t *part, size_t size);
/* Copy a part of a map, and read its pages from the disk if need be. False, and no signal, if this failed or is not
 * supported. */
bool ss_platform_copy_mapped(const uint8_t *part, size_t size, void *to);

/* Begin to read a part into the page cache. */
void ss_platform_will_need(int fd, uint64_t offset, uint64_t size);
/* Read nothing ahead of what is asked for. */
void ss_platform_expect_random(int fd);
/* Begin to write a part to the disk, so that a later sync takes less time. */
void ss_platform_start_writing(int fd, uint64_t offset, uint64_t size);
/* Free the disk space of a part, which then reads as zeros. */
void ss_platform_punch(int fd, uint64_t offset, uint64_t size);

/* ----- paths of open files ----- */

#define SS_PLATFORM_PATH_BYTES 64u
/* The folder that has these paths, for messages. */
#define SS_PLATFORM_DESCRIPTORS "/proc/self/fd"

/* Write a path of an open file, or of the file `name` in an open folder, which holds even if that was renamed. `name`
 * has at most 32 bytes, or is NULL. */
void ss_platform_path(int fd, const char *name, char path[SS_PLATFORM_PATH_BYTES]);
/* Whether such paths can be opened. */
bool ss_platform_has_paths(void);

#endif
