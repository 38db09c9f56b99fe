/*
 * store.h - an open store: its manifest and its segments, the oldest first. Immutable; shared by cursors of all threads.
 *
 * A record is in the store if the newest segment that has it is of the kind that adds (file/manifest.h). So what is found
 * in a segment of records counts unless a newer segment removes it, and nothing is found twice.
 */
#ifndef SS_STORE_H
#define SS_STORE_H

#include "store/segment.h"

struct sstore {
    ss_dir dir;
    ss_manifest manifest;
    sstore_open_options options; /* its recipe is not kept */
    bool records_only; /* opened by ss_store_open_records() */
    ss_segment **segments;     /* manifest.segment_count of them */
    uint32_t removal_end;      /* no segment from here on removes anything; 0: none does */
    bool several_add;          /* records; else only one does */
};

/* Open a store to read all its records in order and nothing else: segments are opened for records only. Errors as
 * sstore_open(). */
sstore_status ss_store_open_records(const char *path, sstore **store_out, sstore_error *error);

/* Open the store in a folder that is open, whatever its path is by now; for its records only, or as sstore_open() does
 * without options. Errors as sstore_open(). */
sstore_status ss_store_open_in(const ss_dir *dir, bool records_only, sstore **store_out, sstore_error *error);

/* The bytes that an open store takes, known from its manifest before anything else is read: of the directories' copies in
 * memory, of what is kept beside them, of block files as the mode of reading has them, and of one cursor. What is really
 * taken is no more, but for what the allocator adds. */
uint64_t ss_store_memory_bytes(const ss_manifest *manifest, sstore_io io);

/* Check that two stores have one recipe. RECIPE. */
sstore_status ss_store_check_same_recipe(const sstore *first, const sstore *other, sstore_error *error);

#endif
