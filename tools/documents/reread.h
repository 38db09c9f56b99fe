/* reread.h - inputs that are read twice: what is no regular file is copied first. */
#ifndef REREAD_H
#define REREAD_H

#include <stdbool.h>
#include <sys/stat.h>

#include "output/work_folder.h"

typedef struct reread {
    char *const *operands; /* "-" is stdin; borrowed */
    int count;
    char **opened; /* the paths to open instead: of the file, or of its copy */
    bool *are_copies;
    struct stat *states; /* when reading began */
} reread;

/* Returns an exit code; a failure has been reported. Close it in any case. */
int reread_open(reread *self, char *const *operands, int count, const work_folder *folder);

/* Fail if a file was written since. Returns an exit code. */
int reread_check(const reread *self);

void reread_close(reread *self);

#endif
