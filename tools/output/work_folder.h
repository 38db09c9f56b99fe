/*
 * work_folder.h - a folder for temporary files, which is gone when the process ends, however it ends: a watcher, a
 * process that does nothing else, removes it if the process itself could not.
 */
#ifndef WORK_FOLDER_H
#define WORK_FOLDER_H

#include <stdio.h>

typedef struct work_folder {
    char *path;   /* absolute; NULL: closed */
    int alive_fd; /* the watcher waits until no process has it open */
    int watcher;  /* its process */
} work_folder;

/* Make a folder in `parent`; NULL: in the folder that TMPDIR names, or in /tmp. Call it before there are threads.
 * Returns an exit code; a failure has been reported. */
int work_folder_open(work_folder *self, const char *parent);

/* A file in it, open for writing; *fd_out is to be closed, and the path to be freed. NULL: the failure has been
 * reported. */
char *work_folder_create_file(const work_folder *self, int *fd_out);

/* A file without a name in it, to be written and read, which nobody else can open. NULL: the failure has been
 * reported. */
FILE *work_folder_create_unnamed(const work_folder *self);

/* Remove the folder with all that is in it. A zeroed one is allowed. */
void work_folder_close(work_folder *self);

#endif
