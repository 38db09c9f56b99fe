/*
 * whole_file.h - writes a file that is complete or not there.
 */
#ifndef WHOLE_FILE_H
#define WHOLE_FILE_H

#include <stddef.h>

/*
 * Write `size` bytes to the file at `path`, or to stdout if it is "-". The file appears with all of its contents; until
 * then it has a name of its own. A file that exists is replaced, and keeps its mode; of a link, the file that it leads
 * to is replaced. What is no regular file, such as a pipe, is written to. Returns an exit code; a failure of stdout is
 * reported by output_close().
 */
int whole_file_write(const char *path, const char *bytes, size_t size);

#endif
