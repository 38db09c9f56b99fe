#include "output/work_folder.h"

#include <fcntl.h>
#include <fts.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "output/messages.h"

#define NAME "/sstore-XXXXXX"
#define FILE_NAME "/file-XXXXXX"
#define INHERITED_FILES 256

static void remove_tree(char *path)
{
    char *const roots[] = {path, NULL};
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    const FTSENT *entry;
    while (walk != NULL && (entry = fts_read(walk)) != NULL) {
        if (entry->fts_info == FTS_DP)
            (void)rmdir(entry->fts_accpath);
        else if (entry->fts_info != FTS_D)
            (void)unlink(entry->fts_accpath);
    }
    if (walk != NULL)
        (void)fts_close(walk);
}

/* Close what a shell may wait for: pipes must end when the process that is watched does. */
static void close_others(int fd)
{
    for (int other = 0; other < INHERITED_FILES; other++)
        if (other != fd)
            (void)close(other);
}

/* The watcher: it is in no process group that a signal may end. */
static __attribute__((noreturn)) void watch(char *path, int fd)
{
    static const int ignored[] = {SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGPIPE};
    char byte;
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        (void)signal(ignored[i], SIG_IGN);
    (void)setsid();
    if (chdir("/") != 0) {
        /* then the folder is watched from where it is */
    }
    close_others(fd);
    while (read(fd, &byte, 1) > 0)
        ;
    remove_tree(path);
    _exit(0);
}

/* Begin to watch. Without a watcher, only a killed process leaves the folder behind. */
static void start_watcher(work_folder *self)
{
    int ends[2];
    if (pipe(ends) != 0)
        return;
    self->watcher = fork();
    if (self->watcher == 0) {
        (void)close(ends[1]);
        watch(self->path, ends[0]);
    }
    (void)close(ends[0]);
    self->alive_fd = ends[1];
}

int work_folder_open(work_folder *self, const char *parent)
{
    const char *named = parent != NULL ? parent : secure_getenv("TMPDIR");
    if (named == NULL || named[0] == '\0')
        named = "/tmp";
    *self = (work_folder){.alive_fd = -1, .watcher = -1};
    char *absolute = realpath(named, NULL);
    if (absolute == NULL)
        return message_errno(named, "cannot use the folder for temporary files");
    self->path = malloc(strlen(absolute) + sizeof NAME);
    if (self->path != NULL)
        (void)stpcpy(stpcpy(self->path, absolute), NAME);
    free(absolute);
    if (self->path == NULL)
        return message_print("out of memory");
    if (mkdtemp(self->path) == NULL) {
        free(self->path);
        self->path = NULL;
        return message_errno(named, "cannot make a folder for temporary files");
    }
    start_watcher(self);
    return EXIT_DONE;
}

char *work_folder_create_file(const work_folder *self, int *fd_out)
{
    char *path = malloc(strlen(self->path) + sizeof FILE_NAME);
    *fd_out = -1;
    if (path == NULL) {
        (void)message_print("out of memory");
        return NULL;
    }
    (void)stpcpy(stpcpy(path, self->path), FILE_NAME);
    *fd_out = mkostemp(path, O_CLOEXEC);
    if (*fd_out >= 0)
        return path;
    (void)message_errno(self->path, "cannot make a temporary file");
    free(path);
    return NULL;
}

FILE *work_folder_create_unnamed(const work_folder *self)
{
    int fd;
    char *path = work_folder_create_file(self, &fd);
    FILE *file = path != NULL ? fdopen(fd, "w+") : NULL;
    if (path != NULL)
        (void)unlink(path);
    if (path != NULL && file == NULL) {
        (void)message_errno(self->path, "cannot make a temporary file");
        (void)close(fd);
    }
    free(path);
    return file;
}

void work_folder_close(work_folder *self)
{
    if (self->path == NULL)
        return;
    remove_tree(self->path);
    free(self->path);
    self->path = NULL;
    if (self->alive_fd >= 0)
        (void)close(self->alive_fd);
    if (self->watcher > 0)
        (void)waitpid(self->watcher, NULL, 0);
}
