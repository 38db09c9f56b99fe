#include "engine/publish.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

static bool begins_with(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* ----- what is in the folder ----- */

/* The manifest that the folder has, or none, while its names are gone through. */
typedef struct inventory {
    const ss_dir *store;
    const ss_manifest *manifest; /* NULL: keep no segment */
    char stranger[256];          /* the first name that no store has */
} inventory;

static bool is_ours(const char *name)
{
    return begins_with(name, SS_UNFINISHED_PREFIX) || begins_with(name, SS_SEGMENT_PREFIX) ||
           strcmp(name, SS_MANIFEST_NAME) == 0 || strcmp(name, SS_MANIFEST_NEW_NAME) == 0;
}

static bool look_for_stranger(void *context, const char *name)
{
    inventory *self = context;
    if (is_ours(name))
        return true;
    strncpy(self->stranger, name, sizeof self->stranger - 1);
    return false;
}

static bool is_segment_of(const ss_manifest *manifest, const char *name)
{
    char segment_name[SS_NAME_CAPACITY];
    for (uint32_t i = 0; manifest != NULL && i < manifest->segment_count; i++) {
        ss_folder_name(segment_name, SS_SEGMENT_PREFIX, manifest->segments[i].folder_number);
        if (strcmp(name, segment_name) == 0)
            return true;
    }
    return false;
}

static bool remove_leftover(void *context, const char *name)
{
    const inventory *self = context;
    if (begins_with(name, SS_UNFINISHED_PREFIX) || strcmp(name, SS_MANIFEST_NEW_NAME) == 0 ||
        (begins_with(name, SS_SEGMENT_PREFIX) && !is_segment_of(self->manifest, name)))
        ss_dir_remove(self->store, name);
    return true;
}

/* Remove all that belongs to no store: unfinished work, and segments that the manifest does not name. */
static void clear_leftovers(const ss_dir *store, const ss_manifest *manifest)
{
    inventory self = {.store = store, .manifest = manifest};
    (void)ss_dir_each(store, remove_leftover, &self, NULL);
}

/* ----- claiming ----- */

static sstore_status make_or_open_folder(ss_workplace *place, const char *path, sstore_error *error)
{
    place->made_folder = mkdir(path, 0777) == 0;
    if (!place->made_folder && errno != EEXIST)
        return ss_fail(error, SSTORE_ERROR_IO, errno, path, SSTORE_NO_OFFSET, "cannot make the store's folder");
    sstore_status status = ss_dir_open(path, &place->store, error);
    if (status == SSTORE_ERROR_NOT_FOUND)
        return ss_fail(error, SSTORE_ERROR_EXISTS, 0, path, SSTORE_NO_OFFSET, "exists and is not a folder");
    return status;
}

/* Refuse a folder that holds a store which is not to be replaced, or things that no store has. A manifest that cannot be
 * read is a store all the same: replacing it is how a damaged one is mended. */
static sstore_status check_contents(const ss_workplace *place, bool replace, sstore_error *error)
{
    inventory self = {.store = &place->store};
    if (ss_dir_has(&place->store, SS_MANIFEST_NAME)) {
        if (!replace)
            return ss_fail(error, SSTORE_ERROR_EXISTS, 0, place->path, SSTORE_NO_OFFSET,
                           "is a store already; use --force (or options.replace) to replace it");
        return SSTORE_OK;
    }
    sstore_status status = ss_dir_each(&place->store, look_for_stranger, &self, error);
    if (status == SSTORE_OK && self.stranger[0] != '\0')
        return ss_fail(error, SSTORE_ERROR_EXISTS, 0, place->path, SSTORE_NO_OFFSET,
                       "exists and is not a store (it holds '%s'); choose another path", self.stranger);
    return status;
}

static void clear_before_work(const ss_dir *store)
{
    ss_manifest manifest = {.segment_count = 0};
    sstore_status status = ss_manifest_read(store, &manifest, NULL);
    if (status == SSTORE_OK)
        clear_leftovers(store, &manifest);
    else if (status == SSTORE_ERROR_NOT_FOUND)
        clear_leftovers(store, NULL);
    /* Otherwise nobody knows which segments are in use: leave all until the new manifest stands. */
    ss_manifest_free(&manifest);
}

sstore_status ss_workplace_open(ss_workplace *place, const char *path, bool replace, sstore_error *error)
{
    *place = (ss_workplace){.store = SS_DIR_NONE, .work = SS_DIR_NONE};
    place->path = ss_strdup(path);
    if (place->path == NULL)
        return ss_fail_memory(error, strlen(path));
    sstore_status status = make_or_open_folder(place, path, error);
    if (status == SSTORE_OK)
        status = ss_dir_lock(&place->store, error);
    if (status == SSTORE_OK)
        status = check_contents(place, replace, error);
    if (status == SSTORE_OK) {
        place->had_manifest = ss_dir_has(&place->store, SS_MANIFEST_NAME);
        /* The manifest may be so new that a power cut would bring the one before it back, with its segments. */
        status = ss_dir_sync(&place->store, error);
    }
    if (status == SSTORE_OK) {
        clear_before_work(&place->store);
        ss_folder_name(place->work_name, SS_UNFINISHED_PREFIX, (uint64_t)getpid());
        status = ss_dir_make_at(&place->store, place->work_name, error);
    }
    if (status == SSTORE_OK)
        status = ss_dir_open_at(&place->store, place->work_name, &place->work, error);
    if (status != SSTORE_OK)
        ss_workplace_close(place);
    return status;
}

/* ----- publishing ----- */

/* Name the segment after its id; where that name is taken (the same records built again), after the next free number. */
static uint64_t choose_folder_number(const ss_dir *store, ss_u128 segment_id)
{
    char name[SS_NAME_CAPACITY];
    uint64_t number = segment_id.low;
    for (;; number++) {
        ss_folder_name(name, SS_SEGMENT_PREFIX, number);
        if (!ss_dir_has(store, name))
            return number;
    }
}

/* The store's own name has to survive too; whoever made the folder may have died before syncing it. */
static sstore_status sync_parent(const ss_dir *store, sstore_error *error)
{
    ss_dir parent = SS_DIR_NONE;
    sstore_status status = ss_dir_open_at(store, "..", &parent, error);
    if (status == SSTORE_OK)
        status = ss_dir_sync(&parent, error);
    ss_dir_close(&parent);
    return status;
}

sstore_status ss_workplace_publish(ss_workplace *place, ss_manifest *manifest, sstore_error *error)
{
    char name[SS_NAME_CAPACITY];
    ss_manifest_segment *segment = &manifest->segments[0];
    segment->folder_number = choose_folder_number(&place->store, segment->segment_id);
    ss_folder_name(name, SS_SEGMENT_PREFIX, segment->folder_number);
    sstore_status status = ss_dir_sync(&place->work, error);
    if (status == SSTORE_OK)
        status = ss_dir_rename(&place->store, place->work_name, name, error);
    if (status != SSTORE_OK)
        return status;
    strcpy(place->work_name, name); /* it is what has to go if the rest fails */
    status = ss_dir_sync(&place->store, error);
    if (status == SSTORE_OK && !place->had_manifest)
        status = sync_parent(&place->store, error);
    if (status == SSTORE_OK)
        status = ss_manifest_replace(&place->store, manifest, error);
    if (status != SSTORE_OK)
        return status;
    /* From here on the new manifest is what readers see, so nothing that it names may go any more; and nothing that the old
     * one named, before the folder is synced: after a power cut the old one may be back. */
    place->work_name[0] = '\0';
    place->made_folder = false;
    status = ss_dir_sync(&place->store, error);
    if (status == SSTORE_OK)
        clear_leftovers(&place->store, manifest);
    return status;
}

void ss_workplace_close(ss_workplace *place)
{
    ss_dir_close(&place->work);
    if (place->store.fd >= 0 && place->work_name[0] != '\0')
        ss_dir_remove(&place->store, place->work_name);
    if (place->made_folder)
        (void)rmdir(place->path);
    place->made_folder = false;
    ss_dir_close(&place->store);
    ss_free(place->path);
    place->path = NULL;
}
