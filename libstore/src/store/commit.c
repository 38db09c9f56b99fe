#include "store/commit.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/segment.h"

#define MAX_ATTEMPTS 100 /* to lock a folder that others create and remove, or to find a free name */

/* ----- the folder's contents ----- */

/* Whether a name is the prefix and 16 lower-case hexadecimal digits. */
static bool is_numbered(const char *name, const char *prefix)
{
    const size_t length = strlen(prefix);
    return strncmp(name, prefix, length) == 0 && strlen(name) == length + 16 &&
           strspn(name + length, "0123456789abcdef") == 16;
}

/* The folder of a segment or of an index, whose names are checked. */
typedef struct name_check {
    const ss_dir *folder;
    bool is_index, is_foreign; /* is_foreign: it has a file that sstore does not create */
} name_check;

static bool check_file_name(void *context, const char *name);

static bool is_index_name(const char *name)
{
    char known[SS_NAME_CAPACITY];
    bool is_known = strcmp(name, SS_ID_INDEX_NAME) == 0 || strcmp(name, SS_NAMES_FOLDER_NAME) == 0;
    for (uint32_t word = 0; !is_known && word < SSTORE_MAX_WORDS; word++) {
        ss_word_index_folder_name(known, word);
        is_known = strcmp(name, known) == 0;
    }
    return is_known;
}

/* Whether a name is an index's folder, without files that sstore does not create. */
static bool is_index_folder(const ss_dir *folder, const char *name)
{
    name_check inner = {.is_index = true};
    ss_dir opened;
    if (!is_index_name(name) || ss_dir_open_at(folder, name, &opened, NULL) != SSTORE_OK)
        return false;
    inner.folder = &opened;
    const bool is_known = ss_dir_each(&opened, check_file_name, &inner, NULL) == SSTORE_OK && !inner.is_foreign;
    ss_dir_close(&opened);
    return is_known;
}

/* Whether a segment's folder may have a file of that name. */
static bool check_file_name(void *context, const char *name)
{
    name_check *self = context;
    char known[SS_NAME_CAPACITY];
    bool is_known = strcmp(name, SS_DIRECTORY_NAME) == 0 || strcmp(name, SS_IDS_NAME) == 0 ||
                    strcmp(name, SS_NAMES_NAME) == 0 ||
                    strncmp(name, SS_TEMPORARY_PREFIX, strlen(SS_TEMPORARY_PREFIX)) == 0;
    for (uint32_t number = 0; !is_known && number < SS_MAX_TABLES; number++) {
        ss_block_file_name(known, number);
        is_known = strcmp(name, known) == 0;
    }
    self->is_foreign = !is_known && (self->is_index || !is_index_folder(self->folder, name));
    return !self->is_foreign;
}

/* Whether a name stands for a segment's folder, finished or not. A folder with other files is not: sstore did not
 * create it, and must not remove it. IO and MEMORY: unknown. */
static sstore_status look_for_segment(const ss_dir *store, const char *name, bool *is_segment_out, sstore_error *error)
{
    ss_dir folder;
    name_check check = {.folder = &folder};
    *is_segment_out = false;
    if (!is_numbered(name, SS_UNFINISHED_PREFIX) && !is_numbered(name, SS_SEGMENT_PREFIX))
        return SSTORE_OK;
    sstore_status status = ss_dir_open_at(store, name, &folder, error);
    if (status != SSTORE_OK) /* NOT_FOUND: a file or a link */
        return status == SSTORE_ERROR_NOT_FOUND ? SSTORE_OK : status;
    status = ss_dir_each(&folder, check_file_name, &check, error);
    ss_dir_close(&folder);
    *is_segment_out = !check.is_foreign;
    return status;
}

static bool is_named(const ss_manifest *manifest, const char *name)
{
    char segment_name[SS_NAME_CAPACITY];
    for (uint32_t i = 0; i < manifest->segment_count; i++) {
        ss_folder_name(segment_name, SS_SEGMENT_PREFIX, manifest->segments[i].folder_number);
        if (strcmp(name, segment_name) == 0)
            return true;
    }
    return false;
}

/* ----- cleanup ----- */

typedef struct cleanup {
    const ss_dir *store;
    bool unfinished;             /* remove unfinished segments */
    const ss_manifest *retained; /* remove finished segments that it does not name; NULL: none */
} cleanup;

static bool remove_index(void *context, const char *name)
{
    if (is_index_name(name))
        ss_dir_remove(context, name);
    return true;
}

/* Remove a segment's folder, with those of its word indexes, as far as possible. */
static void remove_segment(const ss_dir *store, const char *name)
{
    ss_dir folder;
    if (ss_dir_open_at(store, name, &folder, NULL) == SSTORE_OK)
        (void)ss_dir_each(&folder, remove_index, &folder, NULL);
    ss_dir_close(&folder);
    ss_dir_remove(store, name);
}

static bool remove_leftover(void *context, const char *name)
{
    const cleanup *self = context;
    const bool may_go = is_numbered(name, SS_UNFINISHED_PREFIX)
                            ? self->unfinished
                            : self->retained != NULL && !is_named(self->retained, name);
    bool is_segment;
    if (may_go && look_for_segment(self->store, name, &is_segment, NULL) == SSTORE_OK && is_segment)
        remove_segment(self->store, name);
    return true;
}

static void clean_up(const ss_dir *store, bool unfinished, const ss_manifest *retained)
{
    cleanup self = {.store = store, .unfinished = unfinished, .retained = retained};
    (void)ss_dir_each(store, remove_leftover, &self, NULL);
}

void ss_transaction_clean_up(const ss_transaction *transaction)
{
    clean_up(&transaction->store, true, &transaction->manifest);
    ss_dir_unlink(&transaction->store, SS_MANIFEST_NEW_NAME);
}

/* Remove a manifest that was not published, durably after its segments: a segment without any manifest would look like
 * a store that has lost its manifest. */
static void remove_new_manifest(const ss_dir *store)
{
    if (!ss_dir_has(store, SS_MANIFEST_NEW_NAME))
        return;
    (void)ss_dir_sync(store, NULL);
    ss_dir_unlink(store, SS_MANIFEST_NEW_NAME);
}

/* ----- opening ----- */

/* Open the store's folder; create it if the mode allows. */
static sstore_status make_or_open_folder(ss_transaction *transaction, ss_write_mode mode, sstore_error *error)
{
    const char *path = transaction->path;
    if (mode != SS_WRITE_EXTEND) {
        transaction->made_folder = mkdir(path, 0777) == 0;
        if (!transaction->made_folder && errno != EEXIST)
            return ss_fail(error, SSTORE_ERROR_IO, errno, path, SSTORE_NO_OFFSET, "cannot create the store's folder%s",
                           errno == ENOENT ? ", since its parent folder is missing" : "");
    }
    const sstore_status status = mode == SS_WRITE_EXTEND ? ss_store_dir_open(path, &transaction->store, error)
                                                         : ss_dir_open(path, &transaction->store, error);
    if (status != SSTORE_OK && transaction->made_folder) {
        (void)rmdir(path);
        transaction->made_folder = false;
    }
    if (status == SSTORE_ERROR_NOT_FOUND && mode != SS_WRITE_EXTEND && ss_path_is_taken(path))
        return ss_fail(error, SSTORE_ERROR_EXISTS, 0, path, SSTORE_NO_OFFSET,
                       "the path exists and is not a folder; choose another path");
    return status; /* NOT_FOUND: another writer created the folder and removed it again */
}

/* ----- waiting for another writer ----- */

#define MAX_PAUSE_MS 50u /* between two attempts to lock */
#define BUSY "another process is writing to the store; set wait_ms to wait until it ends"
#define STILL_BUSY "another process is still writing to the store after wait_ms; a larger wait_ms waits longer"

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Report that the call waits. STOPPED if it shall end. */
static sstore_status report_wait(const ss_writer_wait *wait)
{
    const sstore_progress now = {.struct_size = sizeof now, .phase = "waiting"};
    return wait->on_progress != NULL && wait->on_progress(wait->context, &now) != 0 ? SSTORE_STOPPED : SSTORE_OK;
}

/* Lock an open folder, as soon as no other writer has it. A file system may not tell when that is, and a blocking call
 * could not be stopped: so attempts have pauses between them. */
static sstore_status lock_in_time(const ss_dir *store, const ss_writer_wait *wait, sstore_error *error)
{
    const uint64_t begin = now_ms(), ms = wait != NULL ? wait->ms : 0;
    uint64_t pause = 1;
    for (;;) {
        const uint64_t waited = now_ms() - begin;
        sstore_status status = ss_dir_lock(store, ms == 0 ? BUSY : STILL_BUSY, error);
        if (status != SSTORE_ERROR_BUSY || waited >= ms)
            return status;
        if (report_wait(wait) != SSTORE_OK)
            return SSTORE_STOPPED;
        pause = ss_min_u64(pause, ms - waited);
        nanosleep(&(struct timespec){.tv_nsec = (long)pause * 1000000}, NULL);
        pause = ss_min_u64(2 * pause, MAX_PAUSE_MS);
    }
}

/* Lock the folder. A writer that gives up may remove it between opening and locking: then try again. */
static sstore_status lock_folder(ss_transaction *transaction, ss_write_mode mode, const ss_writer_wait *wait,
                                 sstore_error *error)
{
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        sstore_status status = make_or_open_folder(transaction, mode, error);
        if (status == SSTORE_ERROR_NOT_FOUND && mode != SS_WRITE_EXTEND)
            continue;
        if (status == SSTORE_OK)
            status = lock_in_time(&transaction->store, wait, error);
        if (status == SSTORE_ERROR_BUSY || status == SSTORE_STOPPED)
            transaction->made_folder = false;
        if (status != SSTORE_OK || ss_dir_is_at(&transaction->store, transaction->path))
            return status;
        ss_dir_close(&transaction->store);
    }
    return ss_fail(
        error, SSTORE_ERROR_BUSY, 0, transaction->path, SSTORE_NO_OFFSET,
        "the folder was replaced repeatedly while locking, or its file system changes inode numbers; try again");
}

/* Refuse a manifest whose segments have lost block files: it may be an older manifest or another store's, and a
 * manifest derived from it would be invalid. */
static sstore_status check_segments(const ss_transaction *transaction, sstore_error *error)
{
    const ss_manifest *manifest = &transaction->manifest;
    const ss_segment_use use = {.blocks_only = true, .io = SSTORE_IO_PREAD};
    for (uint32_t i = 0; i < manifest->segment_count; i++) {
        const ss_manifest_segment *metadata = &manifest->segments[i];
        char name[SS_NAME_CAPACITY];
        ss_dir folder;
        ss_segment *segment;
        ss_folder_name(name, SS_SEGMENT_PREFIX, metadata->folder_number);
        const bool has_all = ss_dir_open_at(&transaction->store, name, &folder, NULL) == SSTORE_OK &&
                             ss_manifest_has_files(metadata, &folder);
        ss_dir_close(&folder);
        if (has_all)
            continue;
        /* Opening the segment tells why. */
        const sstore_status status = ss_segment_open(&transaction->store, metadata, &use, &segment, error);
        ss_segment_release(segment);
        return status;
    }
    return SSTORE_OK;
}

/* Read the manifest of a store that is to be extended. */
static sstore_status read_manifest(ss_transaction *transaction, sstore_error *error)
{
    sstore_status status = ss_manifest_read(&transaction->store, &transaction->manifest, error);
    transaction->had_manifest = status == SSTORE_OK;
    if (status == SSTORE_ERROR_NOT_FOUND)
        return ss_fail_no_manifest(&transaction->store, error);
    return status == SSTORE_OK ? check_segments(transaction, error) : status;
}

/* The contents of a new store's folder, gathered name by name. */
typedef struct inventory {
    const ss_dir *store;
    const ss_manifest *unpublished; /* MANIFEST.new; without segments if it cannot be read */
    bool has_manifest;
    bool has_unpublished_segment; /* that MANIFEST.new names */
    bool has_segment;             /* any other */
    char foreign[256];            /* the first name that cannot belong to a store */
    sstore_status status;         /* of look_for_segment() */
    sstore_error *error;
} inventory;

static bool note_name(void *context, const char *name)
{
    inventory *self = context;
    const bool is_manifest = strcmp(name, SS_MANIFEST_NAME) == 0;
    bool is_known = is_manifest || strcmp(name, SS_MANIFEST_NEW_NAME) == 0;
    if (is_known)
        is_known = !ss_dir_has_folder(self->store, name);
    else if ((self->status = look_for_segment(self->store, name, &is_known, self->error)) != SSTORE_OK)
        return false;
    if (!is_known && self->foreign[0] == '\0')
        strncpy(self->foreign, name, sizeof self->foreign - 1);
    self->has_manifest |= is_manifest;
    if (is_known && is_numbered(name, SS_SEGMENT_PREFIX)) {
        const bool is_unpublished = is_named(self->unpublished, name);
        self->has_unpublished_segment |= is_unpublished;
        self->has_segment |= !is_unpublished;
    }
    return true;
}

static sstore_status take_inventory(const ss_dir *store, inventory *found, sstore_error *error)
{
    ss_manifest unpublished = {.segment_count = 0};
    sstore_error problem;
    *found = (inventory){.store = store, .unpublished = &unpublished, .error = error};
    sstore_status status = ss_manifest_read_named(store, SS_MANIFEST_NEW_NAME, &unpublished, &problem);
    if (status == SSTORE_ERROR_MEMORY)
        return ss_fail_as(error, &problem);
    if (status != SSTORE_OK || unpublished.segment_count > 1) /* not of a first build */
        unpublished.segment_count = 0;
    status = ss_dir_each(store, note_name, found, error);
    ss_manifest_free(&unpublished);
    return status == SSTORE_OK ? found->status : status;
}

/* Refuse a folder with foreign files, and a store unless it may be replaced. An unreadable manifest also counts as a
 * store if there are no foreign files: replacing a damaged store repairs it. */
static sstore_status check_contents(ss_transaction *transaction, bool force, sstore_error *error)
{
    inventory found;
    ss_manifest manifest = {.segment_count = 0};
    sstore_error problem;
    const char *reason = NULL;
    sstore_status status = take_inventory(&transaction->store, &found, error);
    if (status != SSTORE_OK)
        return status;
    transaction->had_manifest = found.has_manifest;
    transaction->has_unpublished = found.has_unpublished_segment && !found.has_segment && !found.has_manifest;
    status = ss_manifest_read(&transaction->store, &manifest, &problem);
    ss_manifest_free(&manifest);
    const bool is_foreign = status != SSTORE_OK && found.foreign[0] != '\0';
    if ((status == SSTORE_ERROR_IO && is_foreign) || status == SSTORE_ERROR_MEMORY)
        return ss_fail_as(error, &problem);
    if (is_foreign)
        return ss_fail(error, SSTORE_ERROR_EXISTS, 0, transaction->path, SSTORE_NO_OFFSET,
                       "the folder exists and is not a store: it contains '%s'; choose another path", found.foreign);
    if (found.has_manifest)
        reason = "there is already a store here";
    else if (found.has_segment)
        reason = "there is a store here that has lost its " SS_MANIFEST_NAME;
    if (reason == NULL || force)
        return SSTORE_OK;
    return ss_fail(error, SSTORE_ERROR_EXISTS, 0, transaction->path, SSTORE_NO_OFFSET, "%s; set force to replace it",
                   reason);
}

sstore_status ss_transaction_open(ss_transaction *transaction, const char *path, ss_write_mode mode,
                                  const ss_writer_wait *wait, sstore_error *error)
{
    *transaction = (ss_transaction){.store = SS_DIR_NONE};
    transaction->path = ss_strdup(path);
    if (transaction->path == NULL)
        return ss_fail_memory(error, strlen(path));
    sstore_status status = lock_folder(transaction, mode, wait, error);
    if (status == SSTORE_OK)
        status = mode == SS_WRITE_EXTEND ? read_manifest(transaction, error)
                                         : check_contents(transaction, mode == SS_WRITE_REPLACE, error);
    if (status == SSTORE_OK) /* otherwise a power cut might restore the previous manifest */
        status = ss_dir_sync(&transaction->store, error);
    if (status == SSTORE_OK)
        /* Finished segments stay until another manifest is published: the manifest may be older or lost, and segments
         * that it does not name may belong to the store. */
        clean_up(&transaction->store, true, NULL);
    else
        ss_transaction_close(transaction);
    return status;
}

sstore_status ss_transaction_stage(ss_transaction *transaction, sstore_error *error)
{
    ss_staged_segment **staged = ss_grow(transaction->staged, transaction->staged_count, &transaction->staged_capacity,
                                         2, sizeof *staged);
    if (staged == NULL)
        return ss_fail_memory(error, 2 * (transaction->staged_capacity + 1) * sizeof *staged);
    transaction->staged = staged;
    ss_staged_segment *segment = ss_alloc(1, sizeof *segment);
    if (segment == NULL)
        return ss_fail_memory(error, sizeof *segment);
    segment->dir = SS_DIR_NONE;
    sstore_status status = SSTORE_ERROR_EXISTS;
    for (int attempt = 0; status == SSTORE_ERROR_EXISTS && attempt < MAX_ATTEMPTS; attempt++) {
        ss_folder_name(segment->name, SS_UNFINISHED_PREFIX,
                       (uint64_t)transaction->staged_total++ << 32 | (uint64_t)getpid());
        status = ss_dir_make_at(&transaction->store, segment->name, error);
    }
    if (status != SSTORE_OK) {
        ss_free(segment);
        return status;
    }
    transaction->staged[transaction->staged_count++] = segment;
    return ss_dir_open_at(&transaction->store, segment->name, &segment->dir, error);
}

void ss_transaction_discard(ss_transaction *transaction, size_t number)
{
    ss_staged_segment *segment = transaction->staged[number];
    transaction->staged_count--;
    for (size_t i = number; i < transaction->staged_count; i++)
        transaction->staged[i] = transaction->staged[i + 1];
    ss_dir_close(&segment->dir);
    remove_segment(&transaction->store, segment->name);
    ss_free(segment);
}

void ss_transaction_discard_all(ss_transaction *transaction)
{
    while (transaction->staged_count > 0)
        ss_transaction_discard(transaction, transaction->staged_count - 1);
    if (transaction->wrote_manifest)
        remove_new_manifest(&transaction->store);
    transaction->wrote_manifest = false;
}

/* ----- publishing ----- */

/* Choose the segments' folder numbers: the low half of the id, or the next free number if that is taken (by equal
 * records). Make their entries durable. */
static sstore_status name_and_sync_staged(ss_transaction *transaction, ss_manifest *manifest, const uint32_t *fresh,
                                          sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (size_t i = 0; status == SSTORE_OK && i < transaction->staged_count; i++) {
        uint64_t number = manifest->segments[fresh[i]].segment_id.low;
        for (bool is_taken = true; is_taken; number += is_taken) {
            char name[SS_NAME_CAPACITY];
            ss_folder_name(name, SS_SEGMENT_PREFIX, number);
            is_taken = ss_dir_has(&transaction->store, name);
            for (size_t j = 0; j < i; j++)
                is_taken |= manifest->segments[fresh[j]].folder_number == number;
        }
        manifest->segments[fresh[i]].folder_number = number;
        status = ss_dir_sync(&transaction->staged[i]->dir, error);
    }
    return status;
}

/* Give the staged segments the names that the manifest has. */
static sstore_status rename_staged(ss_transaction *transaction, const ss_manifest *manifest, const uint32_t *fresh,
                                   sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (size_t i = 0; status == SSTORE_OK && i < transaction->staged_count; i++) {
        char name[SS_NAME_CAPACITY];
        ss_folder_name(name, SS_SEGMENT_PREFIX, manifest->segments[fresh[i]].folder_number);
        status = ss_dir_rename(&transaction->store, transaction->staged[i]->name, name, error);
        if (status == SSTORE_OK)
            memcpy(transaction->staged[i]->name, name, sizeof name); /* what must be removed if a later step fails */
    }
    return status;
}

/* Note that the new manifest is visible, and that the staged segments belong to the store. */
static void note_published(ss_transaction *transaction, ss_manifest *published)
{
    while (transaction->staged_count > 0) {
        ss_staged_segment *segment = transaction->staged[--transaction->staged_count];
        ss_dir_close(&segment->dir);
        ss_free(segment);
    }
    ss_manifest_free(&transaction->manifest);
    transaction->manifest = *published;
    transaction->made_folder = false;
    transaction->had_manifest = true;
    transaction->wrote_manifest = false;
    transaction->publication_count++;
}

sstore_status ss_transaction_commit(ss_transaction *transaction, ss_manifest *manifest, const uint32_t *fresh,
                                    sstore_error *error)
{
    ss_manifest published = {.recipe = NULL};
    const ss_manifest none = {.segment_count = 0};
    if (transaction->has_unpublished) { /* remove the segment of a first build that was killed before publication */
        clean_up(&transaction->store, false, &none);
        remove_new_manifest(&transaction->store);
        transaction->has_unpublished = false;
    }
    sstore_status status = name_and_sync_staged(transaction, manifest, fresh, error);
    if (status == SSTORE_OK)
        status = ss_manifest_check(manifest, transaction->store.path, error);
    if (status == SSTORE_OK)
        status = ss_manifest_copy(manifest, &published, error);
    /* Written before the segments are renamed, to distinguish them from those of a store that has lost its manifest. */
    if (status == SSTORE_OK) {
        status = ss_manifest_write_new(&transaction->store, manifest, error);
        transaction->wrote_manifest = status == SSTORE_OK;
    }
    if (status == SSTORE_OK)
        status = ss_dir_sync(&transaction->store, error);
    if (status == SSTORE_OK)
        status = rename_staged(transaction, manifest, fresh, error);
    if (status == SSTORE_OK)
        status = ss_dir_sync(&transaction->store, error);
    /* The store's own entry must also be durable; the writer that created the folder may have died before syncing
     * it. */
    if (status == SSTORE_OK && !transaction->had_manifest)
        status = ss_dir_sync_parent(&transaction->store, error);
    if (status == SSTORE_OK)
        status = ss_dir_rename(&transaction->store, SS_MANIFEST_NEW_NAME, SS_MANIFEST_NAME, error);
    if (status != SSTORE_OK) {
        ss_manifest_free(&published);
        return status;
    }
    /* From here on readers see the new manifest, so its files must stay. Files of the old one stay until the folder is
     * synced, since a power cut may restore the old one. */
    note_published(transaction, &published);
    status = ss_dir_sync(&transaction->store, error);
    if (status == SSTORE_OK)
        ss_transaction_clean_up(transaction);
    return status;
}

void ss_transaction_close(ss_transaction *transaction)
{
    ss_transaction_discard_all(transaction);
    ss_free(transaction->staged);
    transaction->staged = NULL;
    transaction->staged_capacity = 0;
    if (transaction->made_folder)
        ss_dir_remove_self(&transaction->store, transaction->path);
    transaction->made_folder = false;
    ss_dir_close(&transaction->store);
    ss_manifest_free(&transaction->manifest);
    ss_free(transaction->path);
    transaction->path = NULL;
}

/* ----- removing ----- */

void ss_store_remove(const char *path)
{
    static const ss_manifest none = {.segment_count = 0};
    ss_dir store;
    if (ss_dir_open(path, &store, NULL) == SSTORE_OK) {
        clean_up(&store, true, &none);
        ss_dir_unlink(&store, SS_MANIFEST_NEW_NAME);
        ss_dir_unlink(&store, SS_MANIFEST_NAME);
        ss_dir_remove_self(&store, path);
    }
    ss_dir_close(&store);
}
