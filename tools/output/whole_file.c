#include "output/whole_file.h"

#include <string.h>

#include "output/messages.h"
#include "output/new_file.h"
#include "output/output.h"

int whole_file_write(const char *path, const char *bytes, size_t size)
{
    new_file file;
    if (strcmp(path, "-") == 0)
        return output_bytes(bytes, size) && output_flush() ? EXIT_DONE : EXIT_FAILED;
    const bool done = new_file_open(&file, path, true) && file_write(file.fd, bytes, size) && new_file_commit(&file);
    const int code = done ? EXIT_DONE : message_errno(path, "cannot write the file");
    new_file_close(&file);
    return code;
}
