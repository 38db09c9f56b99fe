#include "faults/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "faults/interpose.h"
#include "support/scratch.h"
#include "support/testing.h"

#define MAX_NODES 512u
#define MAX_NAMES 64u
#define NAME_BYTES 48u
#define NOBODY UINT32_MAX
#define SECTOR 512u
#define ROOT 0u /* the folder that the watched one is in */

/* A file or folder. It is held open until the watch ends: file systems such as ext4 give the number of a removed one
 * to the next one that is made, which would then be taken for the first. */
typedef struct node {
    int held;
    dev_t device;
    ino_t number;
    bool is_folder;
    file_bytes content; /* of a file, when the watch began */
} node;

typedef enum step_kind { STEP_WRITE, STEP_RESIZE, STEP_SYNC, STEP_NAME, STEP_RENAME, STEP_UNNAME } step_kind;

typedef struct step {
    step_kind kind;
    uint32_t node;   /* a file; of the last three, the folder of the name */
    uint32_t target; /* STEP_NAME: what gets it; STEP_RENAME: the folder of the new one */
    char name[NAME_BYTES], new_name[NAME_BYTES];
    uint64_t offset; /* or size */
    file_bytes data;
} step;

struct disk {
    pthread_mutex_t lock;
    interposer hooks;
    char watched[NAME_BYTES];
    node nodes[MAX_NODES];
    uint32_t node_count;
    step *steps;
    size_t step_count, step_capacity, first_step; /* those before the first one describe the initial contents */
    uint64_t syncs, refused_sync;                 /* 0: none is */
};

/* ----- watching ----- */

static uint32_t find_node(const disk *self, const struct stat *info)
{
    for (uint32_t i = self->node_count; i-- > 0;)
        if (self->nodes[i].device == info->st_dev && self->nodes[i].number == info->st_ino)
            return i;
    return NOBODY;
}

/* The node of the file at a path; NOBODY if it no longer exists. */
static uint32_t hold_node(disk *self, int folder, const char *path)
{
    struct stat info;
    /* Not by openat(), which would call note(). */
    const int held = (int)syscall(SYS_openat, folder, path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (held < 0) {
        assert_int_equal(errno, ENOENT);
        return NOBODY;
    }
    assert_int_equal(fstat(held, &info), 0);
    const uint32_t known = find_node(self, &info);
    if (known != NOBODY) {
        (void)syscall(SYS_close, held);
        return known;
    }
    assert_true(self->node_count < MAX_NODES);
    self->nodes[self->node_count] =
        (node){.held = held, .device = info.st_dev, .number = info.st_ino, .is_folder = S_ISDIR(info.st_mode)};
    return self->node_count++;
}

static step *add_step(disk *self, step_kind kind, uint32_t at)
{
    if (self->step_count == self->step_capacity) {
        self->step_capacity = 2 * self->step_capacity + 64;
        self->steps = realloc(self->steps, self->step_capacity * sizeof *self->steps);
        assert_non_null(self->steps);
    }
    step *added = &self->steps[self->step_count++];
    *added = (step){.kind = kind, .node = at};
    return added;
}

static file_bytes copy_of(const void *data, size_t size)
{
    file_bytes copy = {.data = malloc(size + 1), .size = size};
    assert_non_null(copy.data);
    memcpy(copy.data, data, size);
    return copy;
}

static uint32_t node_of_file(const disk *self, int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 ? find_node(self, &info) : NOBODY;
}

/* The folder of a name, and the name in it. */
static uint32_t node_of_folder(const disk *self, int folder, const char *path, char name_out[NAME_BYTES])
{
    struct stat info;
    char parent[512];
    const char *slash = strrchr(path, '/');
    snprintf(name_out, NAME_BYTES, "%s", slash != NULL ? slash + 1 : path);
    snprintf(parent, sizeof parent, "%.*s", slash != NULL ? (int)(slash - path) : 1, slash != NULL ? path : ".");
    return fstatat(folder, parent, &info, 0) == 0 ? find_node(self, &info) : NOBODY;
}

static void note_name(disk *self, uint32_t folder, const char *name, uint32_t target)
{
    step *added = add_step(self, STEP_NAME, folder);
    added->target = target;
    snprintf(added->name, sizeof added->name, "%s", name);
}

/* A file or folder that was created, or an existing file that was opened again. */
static void note_made(disk *self, int folder, const char *path)
{
    char name[NAME_BYTES];
    const uint32_t parent = node_of_folder(self, folder, path, name), nodes_before = self->node_count;
    if (parent == NOBODY)
        return;
    const uint32_t made = hold_node(self, folder, path);
    if (made != NOBODY && self->node_count > nodes_before)
        note_name(self, parent, name, made);
}

static void note_rename(disk *self, const system_call *call)
{
    char name[NAME_BYTES], new_name[NAME_BYTES];
    const uint32_t from = node_of_folder(self, call->fd, call->name, name);
    const uint32_t to = node_of_folder(self, call->new_fd, call->new_name, new_name);
    if (from == NOBODY || to == NOBODY)
        return;
    step *added = add_step(self, STEP_RENAME, from);
    added->target = to;
    memcpy(added->name, name, sizeof name);
    memcpy(added->new_name, new_name, sizeof new_name);
}

static void note_link(disk *self, const system_call *call)
{
    struct stat info;
    char name[NAME_BYTES];
    const uint32_t folder = node_of_folder(self, call->new_fd, call->new_name, name);
    if (folder == NOBODY || fstatat(call->new_fd, call->new_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    const uint32_t linked = find_node(self, &info);
    if (linked != NOBODY)
        note_name(self, folder, name, linked);
}

static void note_removed(disk *self, const system_call *call)
{
    char name[NAME_BYTES];
    const uint32_t parent = node_of_folder(self, call->fd, call->name, name);
    if (parent != NOBODY)
        memcpy(add_step(self, STEP_UNNAME, parent)->name, name, sizeof name);
}

static void note(void *context, const system_call *call, long result)
{
    disk *self = context;
    const bool has_file = call->kind == CALL_WRITE || call->kind == CALL_SYNC || call->kind == CALL_RESIZE;
    (void)pthread_mutex_lock(&self->lock);
    const uint32_t file = has_file ? node_of_file(self, call->fd) : NOBODY;
    if (call->kind == CALL_MAKE_FOLDER || (call->kind == CALL_OPEN && (call->flags & O_CREAT) != 0))
        note_made(self, call->fd, call->name);
    else if (call->kind == CALL_RENAME)
        note_rename(self, call);
    else if (call->kind == CALL_LINK)
        note_link(self, call);
    else if (call->kind == CALL_REMOVE)
        note_removed(self, call);
    else if (call->kind == CALL_SYNC && file != NOBODY)
        (void)add_step(self, STEP_SYNC, file);
    else if (call->kind == CALL_RESIZE && file != NOBODY)
        add_step(self, STEP_RESIZE, file)->offset = call->offset;
    else if (call->kind == CALL_WRITE && file != NOBODY && result > 0) {
        step *added = add_step(self, STEP_WRITE, file);
        added->offset = call->offset;
        added->data = copy_of(call->data, (size_t)result);
    }
    (void)pthread_mutex_unlock(&self->lock);
}

static verdict refuse(void *context, const system_call *call)
{
    disk *self = context;
    if (call->kind != CALL_SYNC)
        return (verdict){.size = call->size};
    const uint64_t number = __atomic_add_fetch(&self->syncs, 1, __ATOMIC_SEQ_CST);
    return (verdict){.error = number == self->refused_sync ? EIO : 0};
}

static void take_stock(disk *self, const char *path, uint32_t parent, const char *name)
{
    const uint32_t made = hold_node(self, AT_FDCWD, path);
    if (made == NOBODY)
        return;
    note_name(self, parent, name, made);
    if (!self->nodes[made].is_folder) {
        self->nodes[made].content = file_load(path);
        return;
    }
    DIR *folder = opendir(path);
    const struct dirent *entry;
    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL) {
        char inner[512];
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            take_stock(self, inner, made, entry->d_name);
    }
    closedir(folder);
}

disk *disk_watch(const char *parent, const char *name)
{
    char path[512];
    disk *self = calloc(1, sizeof *self);
    assert_non_null(self);
    (void)pthread_mutex_init(&self->lock, NULL);
    snprintf(self->watched, sizeof self->watched, "%s", name);
    snprintf(path, sizeof path, "%s/%s", parent, name);
    assert_int_equal(hold_node(self, AT_FDCWD, parent), ROOT);
    take_stock(self, path, ROOT, name);
    for (uint32_t i = 0; i < self->node_count; i++)
        (void)add_step(self, STEP_SYNC, i);
    self->first_step = self->step_count;
    self->hooks = (interposer){.before = refuse, .after = note, .context = self};
    interpose_begin(&self->hooks);
    return self;
}

void disk_doubt_files(disk *self)
{
    for (uint32_t i = 0; i < self->node_count; i++) {
        file_bytes *content = &self->nodes[i].content;
        if (content->size == 0)
            continue;
        add_step(self, STEP_WRITE, i)->data = *content;
        *content = (file_bytes){.size = 0};
    }
    self->first_step = self->step_count;
}

void disk_refuse_sync(disk *self, uint64_t at)
{
    self->syncs = 0;
    self->refused_sync = at;
}

uint64_t disk_syncs(const disk *self)
{
    return self->syncs;
}

void disk_rest(disk *self)
{
    interpose_end();
}

void disk_free(disk *self)
{
    for (size_t i = 0; i < self->step_count; i++)
        file_bytes_free(&self->steps[i].data);
    for (uint32_t i = 0; i < self->node_count; i++) {
        file_bytes_free(&self->nodes[i].content);
        close(self->nodes[i].held);
    }
    (void)pthread_mutex_destroy(&self->lock);
    free(self->steps);
    free(self);
}

size_t disk_steps(const disk *self)
{
    return self->step_count - self->first_step;
}

/* ----- power cuts ----- */

typedef struct name {
    char text[NAME_BYTES];
    uint32_t target;
} name;

/* The contents of the disk. */
typedef struct image {
    file_bytes files[MAX_NODES];
    struct {
        name names[MAX_NAMES];
        uint32_t count;
    } folders[MAX_NODES];
} image;

static void write_to(file_bytes *file, uint64_t offset, const uint8_t *data, size_t size)
{
    if (offset + size > file->size) {
        file->data = realloc(file->data, offset + size);
        assert_non_null(file->data);
        memset(file->data + file->size, 0, offset + size - file->size);
        file->size = offset + size;
    }
    if (size > 0)
        memcpy(file->data + offset, data, size);
}

static name *find_name(image *now, uint32_t folder, const char *text)
{
    for (uint32_t i = 0; i < now->folders[folder].count; i++)
        if (strcmp(now->folders[folder].names[i].text, text) == 0)
            return &now->folders[folder].names[i];
    return NULL;
}

static void set_name(image *now, uint32_t folder, const char *text, uint32_t target)
{
    name *found = find_name(now, folder, text);
    if (found == NULL) {
        assert_true(now->folders[folder].count < MAX_NAMES);
        found = &now->folders[folder].names[now->folders[folder].count++];
        snprintf(found->text, sizeof found->text, "%s", text);
    }
    found->target = target;
}

static void drop_name(image *now, uint32_t folder, const char *text)
{
    name *found = find_name(now, folder, text);
    if (found != NULL)
        *found = now->folders[folder].names[--now->folders[folder].count];
}

/* One step reaches the disk; of a write, its first `size` bytes. */
static void land(image *now, const step *taken, size_t size)
{
    const name *found;
    switch (taken->kind) {
    case STEP_WRITE: write_to(&now->files[taken->node], taken->offset, taken->data.data, size); break;
    case STEP_RESIZE:
        if (taken->offset < now->files[taken->node].size)
            now->files[taken->node].size = taken->offset;
        else
            write_to(&now->files[taken->node], taken->offset, NULL, 0);
        break;
    case STEP_NAME: set_name(now, taken->node, taken->name, taken->target); break;
    case STEP_RENAME:
        found = find_name(now, taken->node, taken->name);
        if (found != NULL) {
            const uint32_t target = found->target;
            drop_name(now, taken->node, taken->name);
            set_name(now, taken->target, taken->new_name, target);
        }
        break;
    case STEP_UNNAME: drop_name(now, taken->node, taken->name); break;
    case STEP_SYNC: break;
    }
}

static bool is_of_names(const step *taken)
{
    return taken->kind == STEP_NAME || taken->kind == STEP_RENAME || taken->kind == STEP_UNNAME;
}

/* Write all waiting steps of a synced node to the disk. The creation of a folder does not depend on it. */
static void land_synced(const disk *self, image *now, size_t *waiting, size_t *count, uint32_t synced)
{
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        const step *taken = &self->steps[waiting[i]];
        if (taken->node == synced || (taken->kind == STEP_RENAME && taken->target == synced))
            land(now, taken, taken->data.size);
        else
            waiting[kept++] = waiting[i];
    }
    *count = kept;
}

/* Write some waiting steps to the disk: names in their order, writes in any order and cut at any sector. */
static void land_some(const disk *self, image *now, size_t *waiting, size_t count, disk_luck luck, rng *random)
{
    const bool any_order = luck == DISK_LOSES_SOME;
    for (size_t i = 0; i < count; i++) {
        size_t chosen = i;
        if (any_order && !is_of_names(&self->steps[waiting[i]])) {
            chosen = i + rng_below(random, count - i);
            if (is_of_names(&self->steps[waiting[chosen]]))
                chosen = i;
        }
        const size_t index = waiting[chosen];
        waiting[chosen] = waiting[i];
        const step *taken = &self->steps[index];
        const bool lost = luck == DISK_LOSES_ALL || (luck == DISK_LOSES_FILES && !is_of_names(taken)) ||
                          (luck == DISK_LOSES_NAMES && is_of_names(taken)) ||
                          (luck == DISK_LOSES_SOME && rng_one_in(random, 2));
        const bool cut = any_order && taken->kind == STEP_WRITE && taken->data.size > SECTOR && rng_one_in(random, 2);
        if (!lost)
            land(now, taken, cut ? rng_below(random, taken->data.size / SECTOR) * SECTOR : taken->data.size);
    }
}

static void lay_out(const disk *self, const image *now, uint32_t at, const char *path)
{
    if (!self->nodes[at].is_folder) {
        file_save(path, now->files[at].data, now->files[at].size);
        return;
    }
    assert_int_equal(mkdir(path, 0777), 0);
    for (uint32_t i = 0; i < now->folders[at].count; i++) {
        char inner[512];
        snprintf(inner, sizeof inner, "%s/%s", path, now->folders[at].names[i].text);
        lay_out(self, now, now->folders[at].names[i].target, inner);
    }
}

void disk_cut(const disk *self, size_t steps, disk_luck luck, rng *random, const char *path)
{
    image *now = calloc(1, sizeof *now);
    size_t *waiting = malloc((self->step_count + 1) * sizeof *waiting), count = 0;
    assert_true(now != NULL && waiting != NULL);
    for (uint32_t i = 0; i < self->node_count; i++)
        if (self->nodes[i].content.size > 0)
            now->files[i] = copy_of(self->nodes[i].content.data, self->nodes[i].content.size);
    for (size_t i = 0; i < self->first_step + steps; i++) {
        if (self->steps[i].kind == STEP_SYNC)
            land_synced(self, now, waiting, &count, self->steps[i].node);
        else
            waiting[count++] = i;
    }
    land_some(self, now, waiting, count, luck, random);
    const name *top = find_name(now, ROOT, self->watched);
    if (top != NULL)
        lay_out(self, now, top->target, path);
    for (uint32_t i = 0; i < self->node_count; i++)
        free(now->files[i].data);
    free(waiting);
    free(now);
}
