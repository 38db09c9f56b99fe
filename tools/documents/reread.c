#include "documents/reread.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/byte_stream.h"
#include "input/interrupt.h"
#include "output/messages.h"
#include "output/new_file.h"

#define COPY_BYTES ((size_t)1 << 18)

/* Copy all bytes of an input. */
static int copy_bytes(input_file *from, const char *name, int to, char *buffer)
{
    const byte_stream bytes = input_file_bytes(from);
    line_fault fault = {.reason = ""};
    size_t got = 1;
    while (got > 0) {
        const int code = bytes.read(bytes.self, buffer, COPY_BYTES, &got, &fault);
        if (code != EXIT_DONE)
            return fault.reason[0] != '\0' ? message_print("%s: %s", name, fault.reason) : code;
        if (interrupted())
            return interrupt_exit_code();
        if (!file_write(to, buffer, got))
            return message_errno(name, "cannot write a temporary copy; --tmp-dir names another folder");
    }
    return EXIT_DONE;
}

static int copy_input(reread *self, int i, const work_folder *folder)
{
    input_file from;
    int to;
    char *buffer = malloc(COPY_BYTES);
    if (buffer == NULL)
        return message_print("out of memory");
    self->are_copies[i] = true;
    self->opened[i] = work_folder_name(folder, &to);
    int code = self->opened[i] != NULL ? input_file_open(&from, self->operands[i]) : EXIT_FAILED;
    if (code == EXIT_DONE) {
        code = copy_bytes(&from, self->operands[i], to, buffer);
        input_file_close(&from);
    }
    if (to >= 0)
        (void)close(to);
    free(buffer);
    return code;
}

static int open_input(reread *self, int i, const work_folder *folder)
{
    const char *path = self->operands[i];
    const bool is_there = strcmp(path, "-") != 0 && stat(path, &self->states[i]) == 0;
    if (is_there && (S_ISREG(self->states[i].st_mode) || S_ISDIR(self->states[i].st_mode))) {
        self->opened[i] = strdup(path);
        return self->opened[i] != NULL ? EXIT_DONE : message_print("out of memory");
    }
    return copy_input(self, i, folder);
}

int reread_open(reread *self, char *const *operands, int count, const work_folder *folder)
{
    int code = EXIT_DONE;
    *self = (reread){.operands = operands,
                     .opened = calloc((size_t)count, sizeof *self->opened),
                     .are_copies = calloc((size_t)count, sizeof *self->are_copies),
                     .states = calloc((size_t)count, sizeof *self->states)};
    if (self->opened == NULL || self->are_copies == NULL || self->states == NULL)
        return message_print("out of memory");
    self->count = count;
    for (int i = 0; i < count && code == EXIT_DONE; i++)
        code = open_input(self, i, folder);
    return code;
}

int reread_check(const reread *self)
{
    for (int i = 0; i < self->count; i++) {
        const struct stat *before = &self->states[i];
        struct stat now;
        if (self->are_copies[i] || S_ISDIR(before->st_mode))
            continue;
        if (stat(self->operands[i], &now) != 0 || now.st_size != before->st_size || now.st_ino != before->st_ino ||
            now.st_mtim.tv_sec != before->st_mtim.tv_sec || now.st_mtim.tv_nsec != before->st_mtim.tv_nsec)
            return message_print("%s: the file changed while it was read twice, so the output may be wrong; run the "
                                 "command again",
                                 self->operands[i]);
    }
    return EXIT_DONE;
}

void reread_close(reread *self)
{
    for (int i = 0; i < self->count; i++)
        free(self->opened[i]);
    free(self->opened);
    free(self->are_copies);
    free(self->states);
    *self = (reread){.count = 0};
}
