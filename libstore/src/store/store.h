/*
 * store.h - an open store: its manifest and its segments. Immutable; cursors of all threads share it.
 *
 * A record is in the store if the newest segment that has it adds it (store/manifest.h). So a record that is found in a
 * segment counts unless a newer segment removes it, and none is found twice.
 */
#ifndef SS_STORE_H
#define SS_STORE_H

#include "store/segment.h"

struct sstore {
    ss_dir dir;
    ss_manifest manifest;
    sstore_open_options options; /* without the recipe, which is the caller's */
    bool records_only;           /* opened by ss_store_open_records() */
    bool without_words;          /* opened by ss_store_open_in() for look-ups: there are no word indexes */
    ss_segment **segments;       /* manifest.segment_count of them, the oldest first */
    uint32_t removal_end;        /* no segment from this one on removes records; 0: none does */
    bool several_add;            /* several segments add records */
};

/* A table by its number: those of the word indexes are numbered from word 0 on. */
typedef struct ss_table_place {
    const ss_segment *part; /* the segment, or the word index; NULL: there is no such table */
    uint32_t number;        /* in it */
    uint32_t word;
} ss_table_place;

/* Find a table that queries probe. `store` may be NULL. */
ss_table_place ss_table_find(const sstore *store, uint32_t segment, uint32_t table);

/* How to open a store. */
typedef struct ss_opening {
    const char *path;
    const ss_dir *dir;   /* the store's folder; NULL: open it by path */
    const sstore *other; /* another handle on the store, whose open segments are shared; or NULL */
    const char *recipe;  /* the store must have it; NULL: any */
    sstore_open_options options;
    bool records_only, without_words;
    uint64_t (*cursor_bytes)(const ss_manifest *manifest, sstore_io io); /* of a cursor, which counts for the options'
                                                                            maximum; NULL: there will be none */
} ss_opening;

/* Open a store. Errors as sstore_open(). */
sstore_status ss_store_open(const ss_opening *how, sstore **store_out, sstore_error *error);

/* Open a store only to read all its records in order. Errors as sstore_open(). */
sstore_status ss_store_open_records(const char *path, sstore **store_out, sstore_error *error);

/* The purpose for which a writer opens its store; each one includes those before it. */
typedef enum ss_store_use {
    SS_STORE_RECORDS, /* to read all records in order */
    SS_STORE_LOOKUPS, /* to look records up */
    SS_STORE_QUERIES
} ss_store_use;

/* Open the store in an open folder, whose path may have changed. Errors as sstore_open(). */
sstore_status ss_store_open_in(const ss_dir *dir, ss_store_use use, sstore **store_out, sstore_error *error);

/* Add a staged segment, which lies in `dir`, to a store that is open for its records, as its newest one. */
sstore_status ss_store_append_staged(sstore *store, const ss_dir *dir, const ss_manifest_segment *segment,
                                     sstore_error *error);

/* The maximum size of an open store in bytes, without the allocator's overhead: copies of directories, key indexes, and
 * the memory of block files in the read mode. Computed from the manifest only. */
uint64_t ss_store_memory_bytes(const ss_manifest *manifest, sstore_io io);

#endif
