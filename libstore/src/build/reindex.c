/*
 * reindex.c - makes the directories of a store again, from its block files: those that are lost, damaged, or another
 * LMDB's. A segment gets its new directory in a new folder, beside hard links of its block files, since nothing that is
 * published is ever changed: so readers go on, and whatever happens the store is the old one or the new one.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "build/directory_rebuild.h"
#include "build/publish.h"

typedef struct reindexing {
    ss_workplace place;
    ss_manifest manifest; /* the store's as it will be */
    uint32_t chosen_count;
    uint32_t *chosen;     /* the segments whose directories are made again */
    ss_progress progress;
    ss_directory_rebuild rebuild;
} reindexing;

/* ----- choosing ----- */

static sstore_status open_segment(const reindexing *self, uint32_t number, bool blocks_only, ss_segment **segment_out,
                                  sstore_error *error)
{
    const ss_segment_use use = {.has_ids = self->manifest.has_ids, .blocks_only = blocks_only};
    return ss_segment_open(&self->place.store, &self->manifest.segments[number], &use, segment_out, error);
}

/* Open a segment for its blocks. No other writer is at work, so a file that is not there is lost. */
static sstore_status open_blocks(const reindexing *self, uint32_t number, ss_segment **segment_out, sstore_error *error)
{
    const sstore_status status = open_segment(self, number, true, segment_out, error);
    if (status != SSTORE_ERROR_NOT_FOUND)
        return status;
    if (error != NULL)
        error->status = SSTORE_ERROR_DAMAGED;
    return SSTORE_ERROR_DAMAGED;
}

/* See whether a segment can be used as it is. If not, and its block files are not to blame, its directory is. */
static sstore_status look_at(const reindexing *self, uint32_t number, bool *is_usable_out, sstore_error *error)
{
    ss_segment *segment;
    sstore_error reason = {.status = SSTORE_OK};
    const sstore_status status = open_segment(self, number, false, &segment, &reason);
    *is_usable_out = status == SSTORE_OK;
    ss_segment_release(segment);
    if (status == SSTORE_OK)
        return status;
    if (!ss_directory_is_lost(&reason)) {
        if (error != NULL)
            *error = reason;
        return status;
    }
    const sstore_status found = open_blocks(self, number, &segment, error);
    ss_segment_release(segment);
    return found;
}

static sstore_status choose(reindexing *self, bool all, sstore_error *error)
{
    const uint32_t count = self->manifest.segment_count;
    sstore_status status = SSTORE_OK;
    self->chosen = ss_alloc(count, sizeof *self->chosen);
    if (self->chosen == NULL)
        return ss_fail_memory(error, count * sizeof *self->chosen);
    for (uint32_t i = 0; status == SSTORE_OK && i < count; i++) {
        bool is_usable = false;
        if (!all)
            status = look_at(self, i, &is_usable, error);
        if (!is_usable)
            self->chosen[self->chosen_count++] = i;
    }
    return status;
}

/* ----- making ----- */

/* Have a segment's block files in its new folder as well. */
static sstore_status share_blocks(const reindexing *self, const ss_manifest_segment *facts, const ss_dir *to,
                                  sstore_error *error)
{
    char name[SS_NAME_CAPACITY];
    ss_dir from;
    ss_folder_name(name, SS_SEGMENT_PREFIX, facts->folder_number);
    sstore_status status = ss_dir_open_at(&self->place.store, name, &from, error);
    for (uint32_t i = 0; status == SSTORE_OK && i < facts->plan.table_count; i++) {
        ss_block_file_name(name, i);
        status = ss_file_share(&from, to, name, error);
    }
    if (status == SSTORE_OK && self->manifest.has_ids)
        status = ss_file_share(&from, to, SS_IDS_NAME, error);
    ss_dir_close(&from);
    return status;
}

/* Make a segment with a new directory. */
static sstore_status make_again(reindexing *self, uint32_t number, sstore_error *error)
{
    ss_manifest_segment *facts = &self->manifest.segments[number];
    ss_segment *segment;
    sstore_status status = open_blocks(self, number, &segment, error);
    if (status == SSTORE_OK)
        status = ss_workplace_begin(&self->place, error);
    if (status == SSTORE_OK) {
        const ss_dir *dir = &self->place.works[self->place.work_count - 1]->dir;
        status = ss_directory_rebuild_run(&self->rebuild, segment, self->manifest.has_ids, dir, facts, error);
        if (status == SSTORE_OK)
            status = share_blocks(self, facts, dir, error);
    }
    ss_segment_release(segment);
    return status;
}

static sstore_status make_all_again(reindexing *self, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; i < self->chosen_count; i++)
        self->rebuild.item_count +=
            ss_directory_rebuild_items(&self->manifest.segments[self->chosen[i]], self->manifest.has_ids);
    for (uint32_t i = 0; status == SSTORE_OK && i < self->chosen_count; i++)
        status = make_again(self, self->chosen[i], error);
    if (status == SSTORE_OK && self->chosen_count == 0)
        ss_workplace_tidy(&self->place);
    else if (status == SSTORE_OK)
        status = ss_workplace_publish(&self->place, &self->manifest, self->chosen, error);
    return status;
}

sstore_status sstore_reindex(const char *path, const sstore_reindex_options *options, sstore_error *error)
{
    sstore_reindex_options taken = SSTORE_REINDEX_OPTIONS_INIT;
    reindexing self = {.place = {.store = SS_DIR_NONE}};
    if (path == NULL)
        return ss_fail_argument(error, "sstore_reindex: path must not be NULL");
    if (!ss_take_options(&taken, sizeof taken, options, sizeof taken))
        return ss_fail_argument(error, "the options are not set by SSTORE_REINDEX_OPTIONS_INIT");
    self.progress.report = taken.on_progress;
    self.progress.context = taken.progress_context;
    self.rebuild = (ss_directory_rebuild){.progress = &self.progress};
    sstore_status status = ss_workplace_open(&self.place, path, SS_CLAIM_EXTEND, error);
    if (status == SSTORE_OK)
        status = ss_manifest_copy(&self.place.manifest, &self.manifest, error);
    if (status == SSTORE_OK)
        status = choose(&self, taken.all != 0, error);
    if (status == SSTORE_OK)
        status = make_all_again(&self, error);
    if (status == SSTORE_OK && taken.made_count != NULL)
        *taken.made_count = self.chosen_count;
    ss_free(self.chosen);
    ss_manifest_free(&self.manifest);
    ss_workplace_close(&self.place);
    return status;
}
