/*
 * input_file.h - the bytes of a file or of stdin, as read() gives them: from a pipe or terminal what there is, so that
 * a line can be answered before the next one is written.
 */
#ifndef INPUT_FILE_H
#define INPUT_FILE_H

#include "byte_stream.h"

typedef struct input_file {
    int fd;
    int stop_fd; /* readable once input_file_stop() was called; -1: it cannot be */
} input_file;

/* Open `path` ("-": stdin). Returns an exit code; a failure has been reported, and the file need not be closed. */
int input_file_open(input_file *file, const char *path);

/* Its bytes; good as long as the file is open and where it is. */
byte_stream input_file_bytes(input_file *file);

/* Make it possible to stop reading. Returns false if the system has no descriptor for it. */
bool input_file_allow_stop(input_file *file);

/* End a read that waits in another thread, and all further ones, as failures. */
void input_file_stop(const input_file *file);

void input_file_close(input_file *file);

#endif
