#include "documents/document_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/messages.h"

int document_names_open(document_names *self, const work_folder *folder)
{
    self->names = work_folder_create_unnamed(folder);
    self->ends = self->names != NULL ? work_folder_create_unnamed(folder) : NULL;
    return self->ends != NULL ? EXIT_DONE : EXIT_FAILED;
}

static int fail(void)
{
    return message_errno("the names of documents", "cannot use a temporary file; --tmp-dir names another folder");
}

int document_names_add(document_names *self, const document *doc, bool has_id)
{
    char number[32];
    const char *parts[3] = {doc->name, "", ""};
    if (doc->name == NULL) {
        (void)snprintf(number, sizeof number, "%" PRIu64, has_id ? doc->id : doc->line);
        parts[0] = has_id ? number : doc->input;
        parts[1] = has_id ? "" : ":";
        parts[2] = has_id ? "" : number;
    }
    bool is_done = true;
    for (; is_done && self->count < doc->number; self->count++)
        is_done = fwrite(&self->byte_count, sizeof self->byte_count, 1, self->ends) == 1;
    for (size_t i = 0; is_done && i < 3; i++) {
        const size_t length = strlen(parts[i]);
        is_done = fwrite(parts[i], 1, length, self->names) == length;
        self->byte_count += length;
    }
    self->count++;
    return is_done && fwrite(&self->byte_count, sizeof self->byte_count, 1, self->ends) == 1 ? EXIT_DONE : fail();
}

int document_names_end(document_names *self)
{
    return fflush(self->names) == 0 && fflush(self->ends) == 0 ? EXIT_DONE : fail();
}

static bool read_at(FILE *file, uint64_t offset, void *to, size_t size)
{
    while (size > 0) {
        const ssize_t got = pread(fileno(file), to, size, (off_t)offset);
        if (got <= 0)
            return false;
        to = (char *)to + got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return true;
}

const char *document_names_find(document_names *self, uint64_t number)
{
    uint64_t ends[2] = {0, 0}; /* of the name before, and of this one */
    const bool is_first = number == 0;
    if (number >= self->count)
        return "";
    if (!read_at(self->ends, is_first ? 0 : (number - 1) * sizeof *ends, is_first ? ends + 1 : ends,
                 is_first ? sizeof *ends : sizeof ends)) {
        (void)fail();
        return NULL;
    }
    const size_t length = (size_t)(ends[1] - ends[0]);
    if (!grow(&self->found, &self->found_capacity, length + 1, 1)) {
        (void)message_print("out of memory");
        return NULL;
    }
    if (!read_at(self->names, ends[0], self->found, length)) {
        (void)fail();
        return NULL;
    }
    self->found[length] = '\0';
    return self->found;
}

void document_names_close(document_names *self)
{
    if (self->names != NULL)
        (void)fclose(self->names);
    if (self->ends != NULL)
        (void)fclose(self->ends);
    free(self->found);
    *self = (document_names){.count = 0};
}
