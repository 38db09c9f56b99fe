/*
 * input_file.h - the bytes of a file or of stdin, as read() gives them: from a pipe or terminal what there is, so that
 * a line can be answered before the next one is written.
 */
#ifndef INPUT_FILE_H
#define INPUT_FILE_H

#include "byte_stream.h"

typedef struct input_file {
    int fd;
} input_file;

/* Open `path` ("-": stdin). Returns an exit code; a failure has been reported, and the file need not be closed. */
int input_file_open(input_file *file, const char *path);

/* Its bytes; good as long as the file is open and where it is. */
byte_stream input_file_bytes(input_file *file);

void input_file_close(input_file *file);

#endif
