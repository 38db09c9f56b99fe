#include "store/commit.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/segment.h"

#define MAX_ATTEMPTS 100 /* at a folder that others make and remove, or at a name that is taken */

/* ----- what is in the folder ----- */

/* Whether a name is the prefix and 16 lower-case hexadecimal digits. */
static bool is_numbered(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(name, prefix, length) == 0 && strlen(name) == length + 16 &&
           strspn(name + length, "0123456789abcdef") == 16;
}

static bool is_block_file(const char *name)
{
    char known[SS_NAME_CAPACITY];
    ss_block_file_name(known, SS_IDS_NUMBER);
    bool same = strcmp(name, known) == 0;
    for (uint32_t number = 0; !same && number < SS_MAX_TABLES; number++) {
        ss_block_file_name(known, number);
        same = strcmp(name, known) == 0;
    }
    return same;
}

/* Whether a file's name is one that a segment's folder has. */
static bool note_foreign_file(void *context, const char *name)
{
    bool known = strcmp(name, SS_DIRECTORY_NAME) == 0 || strncmp(name, SS_RUN_PREFIX, strlen(SS_RUN_PREFIX)) == 0 ||
                 is_block_file(name);
    *(bool *)context = !known;
    return known;
}

/* Whether a name stands for a segment's folder, finished or not, and nothing else: what has other files in it was not made
 * by us, and is not ours to remove. IO, MEMORY: nobody knows. */
static sstore_status look_for_segment(const ss_dir *store, const char *name, bool *is_segment_out, sstore_error *error)
{
    ss_dir folder;
    bool foreign = false;
    *is_segment_out = false;
    if (!is_numbered(name, SS_UNFINISHED_PREFIX) && !is_numbered(name, SS_SEGMENT_PREFIX))
        return SSTORE_OK;
    sstore_status status = ss_dir_open_at(store, name, &folder, error);
    if (status != SSTORE_OK) /* a file, or a link to somewhere */
        return status == SSTORE_ERROR_NOT_FOUND ? SSTORE_OK : status;
    status = ss_dir_each(&folder, note_foreign_file, &foreign, error);
    ss_dir_close(&folder);
    *is_segment_out = !foreign;
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

/* What there is in the folder, gathered name by name. */
typedef struct inventory {
    const ss_dir *store;
    const ss_manifest *unpublished; /* what MANIFEST.new says; of no segments where it cannot be read */
    bool has_manifest;
    bool has_unpublished_segment; /* that it names */
    bool has_segment;             /* any other */
    char stranger[256];           /* the first name that no store has */
    sstore_status status;         /* other than OK: it could not be taken */
    sstore_error *error;
} inventory;

static bool take_stock(void *context, const char *name)
{
    inventory *self = context;
    const bool is_manifest = strcmp(name, SS_MANIFEST_NAME) == 0;
    bool is_known = is_manifest || strcmp(name, SS_MANIFEST_NEW_NAME) == 0;
    if (is_known)
        is_known = !ss_dir_has_folder(self->store, name);
    else if ((self->status = look_for_segment(self->store, name, &is_known, self->error)) != SSTORE_OK)
        return false;
    if (!is_known && self->stranger[0] == '\0')
        strncpy(self->stranger, name, sizeof self->stranger - 1);
    self->has_manifest |= is_manifest;
    if (is_known && is_numbered(name, SS_SEGMENT_PREFIX)) {
        const bool is_unpublished = is_named(self->unpublished, name);
        self->has_unpublished_segment |= is_unpublished;
        self->has_segment |= !is_unpublished;
    }
    return true;
}

/* ----- clearing away ----- */

typedef struct cleanup {
    const ss_dir *store;
    bool unfinished;         /* whether unfinished segments go */
    const ss_manifest *kept; /* finished ones that it names stay; NULL: all of them */
} cleanup;

static bool remove_leftover(void *context, const char *name)
{
    const cleanup *self = context;
    const bool may_go = is_numbered(name, SS_UNFINISHED_PREFIX) ? self->unfinished
                                                                : self->kept != NULL && !is_named(self->kept, name);
    bool is_segment;
    if (may_go && look_for_segment(self->store, name, &is_segment, NULL) == SSTORE_OK && is_segment)
        ss_dir_remove(self->store, name);
    return true;
}

/* Remove what writers that were killed have not finished. No segment goes before another state of the store is published: an
 * older manifest may have been put back, or none be there, and what it does not name may be the store's all the same. */
static void clear_unfinished(const ss_dir *store)
{
    cleanup self = {.store = store, .unfinished = true};
    (void)ss_dir_each(store, remove_leftover, &self, NULL);
}

void ss_transaction_clean_up(const ss_transaction *transaction)
{
    cleanup self = {.store = &transaction->store, .unfinished = true, .kept = &transaction->manifest};
    (void)ss_dir_each(&transaction->store, remove_leftover, &self, NULL);
    ss_dir_unlink(&transaction->store, SS_MANIFEST_NEW_NAME);
}

/* Remove a manifest that was not published. It goes after the segments that were to be published with it, and they for good:
 * a segment without any manifest beside it stands for a store that has lost its own. */
static void remove_new_manifest(const ss_dir *store)
{
    if (!ss_dir_has(store, SS_MANIFEST_NEW_NAME))
        return;
    (void)ss_dir_sync(store, NULL);
    ss_dir_unlink(store, SS_MANIFEST_NEW_NAME);
}

/* Remove the segment of a first build that was killed before it could publish it. */
static void clear_unpublished(ss_transaction *transaction)
{
    const ss_manifest none = {.segment_count = 0};
    cleanup self = {.store = &transaction->store, .kept = &none};
    (void)ss_dir_each(&transaction->store, remove_leftover, &self, NULL);
    remove_new_manifest(&transaction->store);
    transaction->has_unpublished = false;
}

/* ----- claiming ----- */

static sstore_status open_folder(ss_transaction *transaction, const char *path, sstore_error *error)
{
    const sstore_status status = ss_dir_open(path, &transaction->store, error);
    if (status == SSTORE_ERROR_NOT_FOUND)
        return ss_fail(error, status, 0, path, SSTORE_NO_OFFSET, "no such store; make one with 'sstore build' first");
    return status;
}

static sstore_status make_or_open_folder(ss_transaction *transaction, const char *path, ss_write_mode mode,
                                         sstore_error *error)
{
    if (mode == SS_WRITE_EXTEND)
        return open_folder(transaction, path, error);
    transaction->made_folder = mkdir(path, 0777) == 0;
    if (!transaction->made_folder && errno != EEXIST)
        return ss_fail(error, SSTORE_ERROR_IO, errno, path, SSTORE_NO_OFFSET, "cannot make the store's folder");
    const sstore_status status = ss_dir_open(path, &transaction->store, error);
    if (status == SSTORE_ERROR_NOT_FOUND && ss_path_is_taken(path))
        return ss_fail(error, SSTORE_ERROR_EXISTS, 0, path, SSTORE_NO_OFFSET, "exists and is not a folder");
    return status; /* NOT_FOUND: whoever made it has removed it again */
}

/* Whoever has the lock may remove the folder again when it gives up: then begin anew. While another one has it, do not. */
static sstore_status lock_folder(ss_transaction *transaction, const char *path, ss_write_mode mode, sstore_error *error)
{
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        sstore_status status = make_or_open_folder(transaction, path, mode, error);
        if (status == SSTORE_ERROR_NOT_FOUND && mode != SS_WRITE_EXTEND)
            continue;
        if (status == SSTORE_OK)
            status = ss_dir_lock(&transaction->store, error);
        if (status == SSTORE_ERROR_BUSY)
            transaction->made_folder = false;
        if (status != SSTORE_OK || ss_dir_is_at(&transaction->store, path))
            return status;
        ss_dir_close(&transaction->store);
    }
    return ss_fail(
        error, SSTORE_ERROR_BUSY, 0, path, SSTORE_NO_OFFSET,
        "does not stay the folder that was locked: others keep on making and removing it, or the file system "
        "gives it another number each time; try again");
}

/* The number of the first segment of which a block file is not there; how many there are if all are. */
static uint32_t find_lost_segment(const ss_dir *store, const ss_manifest *manifest)
{
    uint32_t number = 0;
    for (; number < manifest->segment_count; number++) {
        char name[SS_NAME_CAPACITY];
        ss_dir folder;
        ss_folder_name(name, SS_SEGMENT_PREFIX, manifest->segments[number].folder_number);
        const bool has_all = ss_dir_open_at(store, name, &folder, NULL) == SSTORE_OK &&
                             ss_manifest_has_files(manifest, &manifest->segments[number], &folder);
        ss_dir_close(&folder);
        if (!has_all)
            break;
    }
    return number;
}

/* Refuse a manifest whose segments are not all there: an older one may have been put back, or another store's, and what is
 * published with it would be no store. */
static sstore_status check_segments(const ss_transaction *transaction, sstore_error *error)
{
    const ss_manifest *manifest = &transaction->manifest;
    const uint32_t lost = find_lost_segment(&transaction->store, manifest);
    const ss_segment_use use = {.has_ids = manifest->has_ids, .blocks_only = true};
    ss_segment *segment;
    if (lost == manifest->segment_count)
        return SSTORE_OK;
    sstore_status status = ss_segment_open(&transaction->store, &manifest->segments[lost], &use, &segment,
                                           error); /* tells why */
    ss_segment_release(segment);
    if (status == SSTORE_ERROR_NOT_FOUND) {
        status = SSTORE_ERROR_DAMAGED;
        if (error != NULL)
            error->status = status;
    }
    return status;
}

/* Read the manifest of a store that is to be extended. */
static sstore_status read_manifest(ss_transaction *transaction, sstore_error *error)
{
    sstore_status status = ss_manifest_read(&transaction->store, &transaction->manifest, error);
    transaction->had_manifest = status == SSTORE_OK;
    if (status == SSTORE_ERROR_NOT_FOUND)
        return ss_fail(error, status, 0, transaction->path, SSTORE_NO_OFFSET,
                       "is not a store: it has no " SS_MANIFEST_NAME "; make one with 'sstore build' first");
    return status == SSTORE_OK ? check_segments(transaction, error) : status;
}

/* What is in the folder that is to be a new store's. */
static sstore_status look_around(const ss_dir *store, inventory *found, sstore_error *error)
{
    ss_manifest unpublished = {.segment_count = 0};
    *found = (inventory){.store = store, .unpublished = &unpublished, .error = error};
    sstore_status status = ss_manifest_read_named(store, SS_MANIFEST_NEW_NAME, &unpublished, error);
    if (status == SSTORE_ERROR_MEMORY)
        return status;
    if (status != SSTORE_OK || unpublished.segment_count > 1) /* not of a first build */
        unpublished.segment_count = 0;
    status = ss_dir_each(store, take_stock, found, error);
    if (status == SSTORE_OK)
        status = found->status;
    found->unpublished = NULL;
    ss_manifest_free(&unpublished);
    return status;
}

/* Refuse a folder that holds a store which is not to be replaced, or things that no store has. A manifest that cannot be
 * read stands for a store all the same, as long as nothing strange lies beside it: replacing it is how a damaged store
 * is mended. */
static sstore_status check_contents(ss_transaction *transaction, bool replace, sstore_error *error)
{
    inventory found;
    ss_manifest manifest = {.segment_count = 0};
    sstore_status status = look_around(&transaction->store, &found, error);
    if (status != SSTORE_OK)
        return status;
    transaction->had_manifest = found.has_manifest;
    transaction->has_unpublished = found.has_unpublished_segment && !found.has_segment && !found.has_manifest;
    status = ss_manifest_read(&transaction->store, &manifest, error);
    ss_manifest_free(&manifest);
    if ((status == SSTORE_ERROR_IO && found.stranger[0] != '\0') || status == SSTORE_ERROR_MEMORY)
        return status;
    if (status != SSTORE_OK && found.stranger[0] != '\0')
        return ss_fail(error, SSTORE_ERROR_EXISTS, 0, transaction->path, SSTORE_NO_OFFSET,
                       "exists and is not a store (it holds '%s'); choose another path", found.stranger);
    if (found.has_manifest && !replace)
        return ss_fail(error, SSTORE_ERROR_EXISTS, 0, transaction->path, SSTORE_NO_OFFSET,
                       "is a store already; it can only be replaced on request");
    if (!found.has_manifest && found.has_segment && !replace)
        return ss_fail(error, SSTORE_ERROR_EXISTS, 0, transaction->path, SSTORE_NO_OFFSET,
                       "holds a store that has lost its " SS_MANIFEST_NAME "; it can only be replaced on request");
    return SSTORE_OK;
}

sstore_status ss_transaction_open(ss_transaction *transaction, const char *path, ss_write_mode mode,
                                  sstore_error *error)
{
    *transaction = (ss_transaction){.store = SS_DIR_NONE};
    transaction->path = ss_strdup(path);
    if (transaction->path == NULL)
        return ss_fail_memory(error, strlen(path));
    sstore_status status = lock_folder(transaction, path, mode, error);
    if (status == SSTORE_OK)
        status = mode == SS_WRITE_EXTEND ? read_manifest(transaction, error)
                                         : check_contents(transaction, mode == SS_WRITE_REPLACE, error);
    if (status == SSTORE_OK) /* the manifest may be so new that a power cut would bring the one before it back */
        status = ss_dir_sync(&transaction->store, error);
    if (status == SSTORE_OK)
        clear_unfinished(&transaction->store);
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

void ss_transaction_discard_last(ss_transaction *transaction)
{
    ss_staged_segment *segment = transaction->staged[--transaction->staged_count];
    ss_dir_close(&segment->dir);
    ss_dir_remove(&transaction->store, segment->name);
    ss_free(segment);
}

void ss_transaction_discard_all(ss_transaction *transaction)
{
    while (transaction->staged_count > 0)
        ss_transaction_discard_last(transaction);
    if (transaction->wrote_manifest)
        remove_new_manifest(&transaction->store);
    transaction->wrote_manifest = false;
}

/* ----- publishing ----- */

static bool is_folder_taken(const ss_dir *store, uint64_t number, const ss_manifest *manifest, const uint32_t *fresh,
                            size_t named_count)
{
    char name[SS_NAME_CAPACITY];
    for (size_t i = 0; i < named_count; i++)
        if (manifest->segments[fresh[i]].folder_number == number)
            return true;
    ss_folder_name(name, SS_SEGMENT_PREFIX, number);
    return ss_dir_has(store, name);
}

/* Name the segment after its id; where that name is taken (the same records built again), after the next free
 * number. Of those that are published with it, `named_count` have their names already. */
static uint64_t choose_folder_number(const ss_dir *store, uint64_t number, const ss_manifest *manifest,
                                     const uint32_t *fresh, size_t named_count)
{
    while (is_folder_taken(store, number, manifest, fresh, named_count))
        number++;
    return number;
}

/* Give the finished segments the names that the manifest knows them by. */
static sstore_status rename_staged(ss_transaction *transaction, const ss_manifest *manifest, const uint32_t *fresh,
                                   sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (size_t i = 0; status == SSTORE_OK && i < transaction->staged_count; i++) {
        char name[SS_NAME_CAPACITY];
        ss_folder_name(name, SS_SEGMENT_PREFIX, manifest->segments[fresh[i]].folder_number);
        status = ss_dir_rename(&transaction->store, transaction->staged[i]->name, name, error);
        if (status == SSTORE_OK)
            memcpy(transaction->staged[i]->name, name, sizeof name); /* it is what has to go if the rest fails */
    }
    return status;
}

static sstore_status name_and_sync_staged(ss_transaction *transaction, ss_manifest *manifest, const uint32_t *fresh,
                                          sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (size_t i = 0; status == SSTORE_OK && i < transaction->staged_count; i++) {
        ss_manifest_segment *segment = &manifest->segments[fresh[i]];
        segment->folder_number = choose_folder_number(&transaction->store, segment->segment_id.low, manifest, fresh, i);
        status = ss_dir_sync(&transaction->staged[i]->dir, error);
    }
    return status;
}

/* Readers see the new manifest: the works are segments now. */
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
}

sstore_status ss_transaction_commit(ss_transaction *transaction, ss_manifest *manifest, const uint32_t *fresh,
                                    sstore_error *error)
{
    ss_manifest published = {.recipe = NULL};
    if (transaction->has_unpublished)
        clear_unpublished(transaction);
    sstore_status status = name_and_sync_staged(transaction, manifest, fresh, error);
    if (status == SSTORE_OK)
        status = ss_manifest_check(manifest, transaction->store.path, error);
    if (status == SSTORE_OK)
        status = ss_manifest_copy(manifest, &published, error);
    /* Before the segments get their names, so that they can be told from one whose manifest was lost. */
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
    /* The store's own name has to survive too; whoever made the folder may have died before syncing it. */
    if (status == SSTORE_OK && !transaction->had_manifest)
        status = ss_dir_sync_parent(&transaction->store, error);
    if (status == SSTORE_OK)
        status = ss_dir_rename(&transaction->store, SS_MANIFEST_NEW_NAME, SS_MANIFEST_NAME, error);
    if (status != SSTORE_OK) {
        ss_manifest_free(&published);
        return status;
    }
    /* From here on the new manifest is what readers see, so nothing that it names may go any more; and nothing that the old
     * one named, before the folder is synced: after a power cut the old one may be back. */
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
        (void)rmdir(transaction->path);
    transaction->made_folder = false;
    ss_dir_close(&transaction->store);
    ss_manifest_free(&transaction->manifest);
    ss_free(transaction->path);
    transaction->path = NULL;
}
