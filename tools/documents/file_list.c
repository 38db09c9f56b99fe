#include "documents/file_list.h"

#include <errno.h>
#include <fts.h>
#include <string.h>
#include <sys/stat.h>

#include "output/messages.h"

static int compare(const FTSENT **left, const FTSENT **right)
{
    return strcmp((*left)->fts_name, (*right)->fts_name);
}

/* The next file of a folder. */
static int next_in_walk(file_list *self, const char **path_out)
{
    FTSENT *entry;
    *path_out = NULL;
    while (errno = 0, (entry = fts_read(self->walk)) != NULL) {
        errno = entry->fts_errno;
        if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS)
            return message_errno(entry->fts_path, "cannot read");
        if (entry->fts_info == FTS_F) {
            *path_out = entry->fts_path;
            return EXIT_DONE;
        }
    }
    return errno == 0 ? EXIT_DONE : message_errno(self->operands[self->next - 1], "cannot read");
}

/* A path that leads nowhere is none: its error is that of opening it. */
static bool is_folder(const char *path)
{
    struct stat info;
    return strcmp(path, "-") != 0 && stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

int file_list_next(file_list *self, const char **path_out, const char **opened_out, bool *found_out)
{
    for (;;) {
        if (self->walk != NULL) {
            const int code = next_in_walk(self, path_out);
            *opened_out = *path_out;
            *found_out = true;
            if (code != EXIT_DONE || *path_out != NULL)
                return code;
            file_list_close(self);
        }
        const bool has_next = self->next < self->count;
        *path_out = has_next ? self->operands[self->next] : NULL;
        *opened_out = has_next && self->opened != NULL ? self->opened[self->next] : *path_out;
        *found_out = false;
        self->next += has_next;
        if (*path_out == NULL || !self->recursive || !is_folder(*path_out))
            return EXIT_DONE;
        char *const roots[] = {(char *)(unsigned long)*path_out, NULL};
        self->walk = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, compare);
        if (self->walk == NULL)
            return message_errno(*path_out, "cannot read");
    }
}

void file_list_close(file_list *self)
{
    if (self->walk != NULL)
        (void)fts_close(self->walk);
    self->walk = NULL;
}
