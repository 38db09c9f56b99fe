/*
 * new_file.h - the file that replaces another one when it is complete: beside it, named PATH.sstore-new. Whoever writes
 * it has it locked. What a killed writer left is overwritten by the next one. The new file has the mode of the other
 * one. What is no regular file, such as a pipe, is written to in its place.
 *
 * Functions that fail set errno.
 */
#ifndef NEW_FILE_H
#define NEW_FILE_H

#include <stdbool.h>
#include <stddef.h>

#define NEW_FILE_SUFFIX ".sstore-new"

typedef struct new_file {
    char *target, *path; /* target: where links at the given path lead to. NULL: it is written to in its place */
    int fd;              /* -1: it is not there */
} new_file;

#define NEW_FILE_NONE ((new_file){.fd = -1})

/* Create the new file for `path`, empty and locked. If another process writes it, wait for that one, or fail with
 * EWOULDBLOCK. Close it in any case. */
bool new_file_open(new_file *self, const char *path, bool waits);

/* Write all of these bytes to any file. */
bool file_write(int fd, const void *bytes, size_t size);

/* Put it in the place of the other one. */
bool new_file_commit(new_file *self);

/* Remove it, unless it was committed. */
void new_file_close(new_file *self);

#endif
