#include "support/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "support/testing.h"

#define PATH_SLOTS 16
#define PATH_BYTES 4096
#define MAX_OPEN_FOLDERS 16
#define PARENTS 4u
#define NAME_PREFIX "sstore-test-"
#define GRACE_SECONDS 3600
#define ROOM_WANTED (UINT64_C(1) << 30) /* several test programs at once; /dev/shm of a container often has 64 MiB */

/* One in memory and one on a disk; "" until it is made. */
static char memory_folder[PATH_BYTES / 2], disk_folder[PATH_BYTES / 2];
static pid_t owner;

/* ----- folders ----- */

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info;
    (void)type;
    (void)walk;
    (void)remove(path); /* errors at exit are ignored */
    return 0;
}

/* A folder that a test made unreadable is opened up first, on the way down. */
static int open_up(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)walk;
    if (type == FTW_DNR || (type == FTW_D && (info->st_mode & S_IRWXU) != S_IRWXU))
        (void)chmod(path, S_IRWXU);
    return 0;
}

void scratch_remove(const char *path)
{
    (void)nftw(path, open_up, MAX_OPEN_FOLDERS, FTW_PHYS);
    (void)nftw(path, remove_one, MAX_OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

static void remove_folders(void)
{
    if (owner != getpid()) /* in a forked child */
        return;
    if (memory_folder[0] != '\0')
        scratch_remove(memory_folder);
    if (disk_folder[0] != '\0')
        scratch_remove(disk_folder);
}

/* Remove the folders of test programs that were killed; an hour's grace for those of another container, whose process
 * numbers mean nothing here. */
static void remove_leftovers(const char *parent)
{
    DIR *listing = opendir(parent);
    if (listing == NULL)
        return;
    for (const struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        char path[PATH_BYTES], *end;
        struct stat info;
        if (strncmp(entry->d_name, NAME_PREFIX, strlen(NAME_PREFIX)) != 0)
            continue;
        long process = strtol(entry->d_name + strlen(NAME_PREFIX), &end, 10);
        snprintf(path, sizeof path, "%s/%s", parent, entry->d_name);
        if (*end != '-' || process <= 0 || lstat(path, &info) != 0 || info.st_uid != geteuid())
            continue;
        if (kill((pid_t)process, 0) != 0 && errno == ESRCH && info.st_mtime < time(NULL) - GRACE_SECONDS)
            scratch_remove(path);
    }
    closedir(listing);
}

static bool has_room(const char *parent)
{
    struct statvfs facts;
    return statvfs(parent, &facts) == 0 && (uint64_t)facts.f_bavail * facts.f_frsize >= ROOM_WANTED;
}

static bool try_parent(char folder[PATH_BYTES / 2], const char *parent, bool needs_room)
{
    if (parent == NULL || parent[0] == '\0' || (needs_room && !has_room(parent)))
        return false;
    snprintf(folder, PATH_BYTES / 2, "%s/" NAME_PREFIX "%ld-XXXXXX", parent, (long)getpid());
    if (mkdtemp(folder) != NULL) {
        remove_leftovers(parent);
        return true;
    }
    folder[0] = '\0';
    return false;
}

/* Create the folder below the first parent that is writable and has space, or else that is writable; unless it
 * exists. */
static const char *make_folder(char folder[PATH_BYTES / 2], const char *const parents[PARENTS])
{
    if (folder[0] != '\0')
        return folder;
    for (size_t i = 0; i < 2 * PARENTS && folder[0] == '\0'; i++)
        (void)try_parent(folder, parents[i % PARENTS], i < PARENTS);
    if (folder[0] == '\0') {
        perror("no scratch folder: set TMPDIR to a folder that can be written");
        exit(1);
    }
    if (owner == 0)
        atexit(remove_folders);
    owner = getpid();
    return folder;
}

const char *scratch_folder(void)
{
    return make_folder(memory_folder, (const char *const[PARENTS]){"/dev/shm", getenv("TMPDIR"), "/tmp", "/var/tmp"});
}

__attribute__((format(printf, 2, 0))) static const char *path_in(const char *folder, const char *format,
                                                                 va_list arguments)
{
    static char slots[PATH_SLOTS][PATH_BYTES];
    static size_t next;
    char *path = slots[next++ % PATH_SLOTS];
    int length = snprintf(path, PATH_BYTES, "%s/", folder);
    vsnprintf(path + length, PATH_BYTES - (size_t)length, format, arguments);
    return path;
}

const char *scratch_path(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *path = path_in(scratch_folder(), format, arguments);
    va_end(arguments);
    return path;
}

const char *scratch_disk_path(const char *format, ...)
{
    const char *folder = make_folder(disk_folder,
                                     (const char *const[PARENTS]){getenv("TMPDIR"), "/var/tmp", "/tmp", "."});
    va_list arguments;
    va_start(arguments, format);
    const char *path = path_in(folder, format, arguments);
    va_end(arguments);
    return path;
}

bool scratch_exists(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

/* ----- whole files ----- */

file_bytes file_load(const char *path)
{
    file_bytes content = {0};
    FILE *file = fopen(path, "rb");
    struct stat info;
    if (file == NULL || fstat(fileno(file), &info) != 0)
        fail_msg("%s: %s", path, strerror(errno));
    content.size = (size_t)info.st_size;
    content.data = malloc(content.size + 1);
    if (content.data == NULL || fread(content.data, 1, content.size, file) != content.size)
        fail_msg("%s: cannot be read", path);
    fclose(file);
    return content;
}

void file_save(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        fail_msg("%s: %s", path, strerror(errno));
    size_t written = size == 0 ? 0 : fwrite(data, 1, size, file);
    if (fclose(file) != 0 || written != size)
        fail_msg("%s: cannot be written", path);
}

void file_patch(const char *path, size_t offset, const void *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        fail_msg("%s: %s", path, strerror(errno));
    ssize_t written = pwrite(fd, data, size, (off_t)offset);
    close(fd);
    if (written < 0 || (size_t)written != size)
        fail_msg("%s: cannot be written", path);
}

void file_bytes_free(file_bytes *content)
{
    free(content->data);
    *content = (file_bytes){0};
}

/* ----- lists of files ----- */

/* nftw() has no context argument. */
static file_list *list_now;
static const char *list_suffix;
static size_t list_folder_length;

static int list_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info;
    (void)walk;
    size_t length = strlen(path), suffix_length = strlen(list_suffix);
    if (type != FTW_F || length < suffix_length || strcmp(path + length - suffix_length, list_suffix) != 0)
        return 0;
    char **names = realloc(list_now->names, (list_now->count + 1) * sizeof *names);
    if (names == NULL)
        return -1;
    list_now->names = names;
    names[list_now->count] = strdup(path + list_folder_length + 1);
    return names[list_now->count++] == NULL ? -1 : 0;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

file_list file_list_make(const char *path, const char *suffix)
{
    file_list list = {0};
    list_now = &list;
    list_suffix = suffix;
    list_folder_length = strlen(path);
    if (nftw(path, list_one, MAX_OPEN_FOLDERS, FTW_PHYS) != 0)
        fail_msg("%s: cannot be listed: %s", path, strerror(errno));
    list_now = NULL;
    if (list.count > 0)
        qsort(list.names, list.count, sizeof *list.names, compare_names);
    return list;
}

void file_list_free(file_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->names[i]);
    free(list->names);
    *list = (file_list){0};
}

void folder_copy(const char *from, const char *to)
{
    char path[PATH_BYTES];
    file_list list = file_list_make(from, "");
    if (mkdir(to, S_IRWXU) != 0)
        fail_msg("%s: %s", to, strerror(errno));
    for (size_t i = 0; i < list.count; i++) {
        snprintf(path, sizeof path, "%s/%s", from, list.names[i]);
        file_bytes content = file_load(path);
        for (const char *slash = strchr(list.names[i], '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
            snprintf(path, sizeof path, "%s/%.*s", to, (int)(slash - list.names[i]), list.names[i]);
            if (mkdir(path, S_IRWXU) != 0 && errno != EEXIST)
                fail_msg("%s: %s", path, strerror(errno));
        }
        snprintf(path, sizeof path, "%s/%s", to, list.names[i]);
        file_save(path, content.data, content.size);
        file_bytes_free(&content);
    }
    file_list_free(&list);
}

void folder_forget(const char *path)
{
    char name[PATH_BYTES];
    file_list list = file_list_make(path, "");
    for (size_t i = 0; i < list.count; i++) {
        snprintf(name, sizeof name, "%s/%s", path, list.names[i]);
        int fd = open(name, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            fail_msg("%s: %s", name, strerror(errno));
        (void)syscall(SYS_fdatasync, fd); /* only what is written out can be forgotten; fdatasync() is that of sync.c */
        (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        close(fd);
    }
    file_list_free(&list);
}

static bool files_equal(const char *left_folder, const char *right_folder, const char *name)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", left_folder, name);
    file_bytes left = file_load(path);
    snprintf(path, sizeof path, "%s/%s", right_folder, name);
    file_bytes right = file_load(path);
    size_t size = left.size < right.size ? left.size : right.size, i = 0;
    while (i < size && left.data[i] == right.data[i])
        i++;
    bool equal = i == left.size && i == right.size;
    if (!equal)
        print_error("%s: %zu and %zu bytes, equal up to offset %zu\n", name, left.size, right.size, i);
    file_bytes_free(&left);
    file_bytes_free(&right);
    return equal;
}

bool folders_equal(const char *left_folder, const char *right_folder, const char *suffix)
{
    file_list left = file_list_make(left_folder, suffix), right = file_list_make(right_folder, suffix);
    bool equal = left.count == right.count;
    if (!equal)
        print_error("%zu and %zu files\n", left.count, right.count);
    for (size_t i = 0; equal && i < left.count; i++) {
        equal = strcmp(left.names[i], right.names[i]) == 0;
        if (!equal)
            print_error("%s stands where %s is on the other side\n", left.names[i], right.names[i]);
        else
            equal = files_equal(left_folder, right_folder, left.names[i]);
    }
    file_list_free(&left);
    file_list_free(&right);
    return equal;
}
