/*
 * manifest.h - what a store consists of: its segments with the sizes and sums of their files, and the facts that hold
 * for all of it. A checksummed file that is replaced as a whole. Layout: format-spec/sstore-format.md, "Manifest".
 */
#ifndef SS_MANIFEST_H
#define SS_MANIFEST_H

#include "base/file.h"
#include "plan/plan.h"
#include "store/block_file.h"

#define SS_MAX_SEGMENTS 4096u

/* What a segment's records are. Writers add only what is not in the store and remove only what is: so the segments that
 * have a record are of either kind in turn, the oldest one of the first kind, and the newest one says whether it is in
 * the store. */
typedef enum ss_segment_kind {
    SS_SEGMENT_RECORDS = 0, /* added to the store, unless a newer segment removes them */
    SS_SEGMENT_REMOVED = 1  /* taken out of the older segments */
} ss_segment_kind;

/* A block file as the manifest knows it. */
typedef struct ss_manifest_file {
    uint64_t block_count;
    ss_u128 header_checksum;
} ss_manifest_file;

typedef struct ss_manifest_segment {
    ss_u128 segment_id;
    uint32_t kind;          /* ss_segment_kind */
    uint64_t folder_number; /* the folder is seg-<16 hex digits of it> */
    uint64_t record_count, distinct_count;
    ss_u128 content_sum;    /* of its records, see ss_content_add() */
    uint32_t block_bytes;   /* of all its block files */
    uint64_t directory_bytes;
    ss_u128 directory_sum;
    uint32_t writer;        /* of the block files: SS_WRITER, or that of another version */
    uint32_t lmdb_format;   /* of the directory's file, as ss_directory_lmdb_format() has it */
    ss_plan plan;           /* its distance is the store's */
    ss_manifest_file tables[SS_MAX_TABLES];
    ss_manifest_file ids;   /* zero in a store without ids */
} ss_manifest_segment;

typedef struct ss_manifest {
    uint32_t distance;
    bool has_ids;
    bool plan_given; /* whoever built it gave a plan, which further segments are made with, too; else each has its own */
    uint64_t next_ordinal;
    char *recipe; /* owned, never NULL; "" where none was given */
    uint32_t segment_count;
    ss_manifest_segment *segments; /* owned; the oldest first */
    ss_file_identity identity;     /* of the file that it was read from */
    ss_u128 checksum;              /* as it was read */
} ss_manifest;

void ss_manifest_free(ss_manifest *manifest);

/* A copy of what a manifest says, to be freed like one that was read. MEMORY. */
sstore_status ss_manifest_copy(const ss_manifest *manifest, ss_manifest *copy_out, sstore_error *error);

/* Read the store's manifest. NOT_FOUND where there is none; DAMAGED, UNSUPPORTED, IO, MEMORY. */
sstore_status ss_manifest_read(const ss_dir *store, ss_manifest *manifest_out, sstore_error *error);

/* The same of one that was written, but not published. */
sstore_status ss_manifest_read_new(const ss_dir *store, ss_manifest *manifest_out, sstore_error *error);

/* Whether the store's newest manifest is this one: not another file, though it says the same, since folders may have got
 * each other's names meanwhile. */
bool ss_manifest_is_newest(const ss_dir *store, const ss_manifest *manifest);

/* Whether the folder of a segment has all its block files, each of its size. */
bool ss_manifest_has_files(const ss_manifest *manifest, const ss_manifest_segment *segment, const ss_dir *folder);

/* Decode a manifest from memory; `file` is for errors. */
sstore_status ss_manifest_decode(const uint8_t *bytes, size_t size, const char *file, ss_manifest *manifest_out,
                                 sstore_error *error);

/* Whether readers will take it, by reading it as they do. `store` is the store's path, for errors. ARGUMENT, MEMORY. */
sstore_status ss_manifest_check(const ss_manifest *manifest, const char *store, sstore_error *error);

/* Write it beside the old one, under another name, and make its contents durable. Renaming it publishes it. */
sstore_status ss_manifest_write_new(const ss_dir *store, const ss_manifest *manifest, sstore_error *error);

/* Add one record to a segment's content sum. Without ids only the fingerprint counts. */
static inline void ss_content_add(ss_u128 *sum, bool has_ids, uint64_t fingerprint, uint64_t id)
{
    uint8_t bytes[16];
    ss_store_le64(bytes, fingerprint);
    ss_store_le64(bytes + 8, id);
    *sum = ss_u128_add(*sum, ss_hash128(bytes, has_ids ? 16 : 8));
}

/* Sums over all segments. */
typedef struct ss_manifest_totals {
    uint64_t added_count, removed_count; /* records in segments of either kind */
    uint64_t record_count;               /* in the store: the difference */
} ss_manifest_totals;

/* Sum up; totals_out may be NULL. False where up to some segment more were removed than there were. */
bool ss_manifest_counts(const ss_manifest *manifest, ss_manifest_totals *totals_out);

/* The bytes of all files of the store, the manifest's own included. */
uint64_t ss_manifest_total_bytes(const ss_manifest *manifest);

/* The id that a segment has by its kind, content sum, counts, plan and block size. */
ss_u128 ss_segment_id(const ss_manifest_segment *segment, bool has_ids);

/* What the manifest says of a segment's block file, by number. */
ss_block_file_metadata ss_manifest_file_metadata(const ss_manifest_segment *segment, uint32_t number);

/* Check that a store, whose path is for the message, has the recipe that its user expects; NULL: any. RECIPE. */
sstore_status ss_manifest_check_recipe(const ss_manifest *manifest, const char *path, const char *recipe, sstore_error *error);

#endif
