/*
 * reread.h - inputs that are read twice. Pipes and other special files are copied first; regular files and folders are
 * opened again.
 */
#ifndef REREAD_H
#define REREAD_H

#include <stdbool.h>
#include <sys/stat.h>

#include "output/work_folder.h"

typedef struct reread_input {
    const char *operand; /* "-" is stdin; borrowed */
    char *path;          /* to open instead: of the file, or of its copy */
    bool is_copy;
    struct stat state; /* when reading began */
} reread_input;

typedef struct reread {
    reread_input *inputs;
    char **paths; /* of all inputs; borrowed */
    int count;
} reread;

/* Returns an exit code; a failure has been reported. Close it in any case. */
int reread_open(reread *self, char *const *operands, int count, const work_folder *folder);

/* Fail if a file was written since; folders are not checked. Returns an exit code. */
int reread_check(const reread *self);

void reread_close(reread *self);

#endif
