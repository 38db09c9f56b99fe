/* file_list.h - the files that operands stand for: themselves, or with --recursive also all files in folders. */
#ifndef FILE_LIST_H
#define FILE_LIST_H

#include <stdbool.h>

typedef struct file_list {
    char *const *operands; /* "-" is stdin */
    char *const *opened;   /* the paths to open instead, if they have other names than files; or NULL */
    int count;
    bool recursive; /* folders stand for the files in them, ordered by name; links in them are not followed */
    int next;
    void *walk; /* through a folder */
} file_list;

/* The next file: *path_out, and *opened_out, the path to open, are valid until the next call, and *found_out tells
 * whether it was found in a folder. NULL: there are no more. Returns an exit code; a failure has been reported. */
int file_list_next(file_list *self, const char **path_out, const char **opened_out, bool *found_out);

void file_list_close(file_list *self);

#endif
