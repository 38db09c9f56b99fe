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

static int copy_input(reread_input *self, const work_folder *folder)
{
    input_file from;
    int to;
    char *buffer = malloc(COPY_BYTES);
    if (buffer == NULL)
        return message_print("out of memory");
    self->is_copy = true;
    self->path = work_folder_create_file(folder, &to);
    int code = self->path != NULL ? input_file_open(&from, self->operand) : EXIT_FAILED;
    if (code == EXIT_DONE) {
        code = copy_bytes(&from, self->operand, to, buffer);
        input_file_close(&from);
    }
    if (to >= 0)
        (void)close(to);
    free(buffer);
    return code;
}

static int open_input(reread_input *self, const work_folder *folder)
{
    const bool is_there = strcmp(self->operand, "-") != 0 && stat(self->operand, &self->state) == 0;
    if (!is_there || !(S_ISREG(self->state.st_mode) || S_ISDIR(self->state.st_mode)))
        return copy_input(self, folder);
    char *copy = strdup(self->operand);
    if (copy == NULL)
        return message_print("out of memory");
    self->path = copy;
    return EXIT_DONE;
}

int reread_open(reread *self, char *const *operands, int count, const work_folder *folder)
{
    int code = EXIT_DONE;
    self->inputs = calloc((size_t)count, sizeof *self->inputs);
    self->paths = calloc((size_t)count, sizeof *self->paths);
    if (self->inputs == NULL || self->paths == NULL)
        return message_print("out of memory");
    self->count = count;
    for (int i = 0; i < count && code == EXIT_DONE; i++) {
        self->inputs[i].operand = operands[i];
        code = open_input(&self->inputs[i], folder);
        self->paths[i] = self->inputs[i].path;
    }
    return code;
}

int reread_check(const reread *self)
{
    for (int i = 0; i < self->count; i++) {
        const reread_input *input = &self->inputs[i];
        const struct stat *before = &input->state;
        struct stat now;
        if (input->is_copy || S_ISDIR(before->st_mode))
            continue;
        if (stat(input->operand, &now) != 0 || now.st_size != before->st_size || now.st_ino != before->st_ino ||
            now.st_mtim.tv_sec != before->st_mtim.tv_sec || now.st_mtim.tv_nsec != before->st_mtim.tv_nsec)
            return message_print("%s: the file changed while it was read twice, so the output may be wrong; run the "
                                 "command again",
                                 input->operand);
    }
    return EXIT_DONE;
}

void reread_close(reread *self)
{
    for (int i = 0; i < self->count; i++)
        free(self->inputs[i].path);
    free(self->inputs);
    free(self->paths);
    *self = (reread){.count = 0};
}
