/*
 * spill_file.h - where items go that memory has no room for: a nameless file that exists only while it is open,
 * written by several threads at once, each run behind the last. In the machine's own byte order: nobody but this
 * process reads it.
 */
#ifndef SS_SPILL_FILE_H
#define SS_SPILL_FILE_H

#include <pthread.h>

#include "base/file.h"

typedef struct ss_spill_file {
    const ss_dir *dir; /* where the file goes; borrowed */
    pthread_mutex_t lock; /* guards the two below until the file is made */
    ss_file file;
    uint64_t bytes; /* handed out */
} ss_spill_file;

/* Open the folder for the spills of a call: `path`; where that is NULL, the one that TMPDIR names; where that says nothing,
 * `usual`, or the working folder where that is NULL, too. So /tmp, which all share, is never taken unasked. NOT_FOUND, IO,
 * MEMORY. */
sstore_status ss_spill_dir_open(const char *path, const ss_dir *usual, ss_dir *dir_out, sstore_error *error);

/* Makes no file yet. */
void ss_spill_file_open(ss_spill_file *spill, const ss_dir *dir);
/* Reserve room for a run of `bytes`; *offset_out is where it goes. Makes the file if there is none. IO, MEMORY. */
sstore_status ss_spill_file_reserve(ss_spill_file *spill, uint64_t bytes, uint64_t *offset_out, sstore_error *error);
/* The room is not needed any more. */
void ss_spill_file_drop(const ss_spill_file *spill, uint64_t offset, uint64_t bytes);
/* Also of a zeroed one that was never opened. */
void ss_spill_file_close(ss_spill_file *spill);

#endif
