/*
 * manifest.h - the manifest: a store's properties, and its segments with the sizes and checksums of their files. It is
 * a checksummed file that is only ever replaced. Layout: format-spec/sstore-format.md, "Manifest".
 */
#ifndef SS_MANIFEST_H
#define SS_MANIFEST_H

#include "base/file.h"
#include "plan/plan.h"
#include "store/block_file.h"

#define SS_MAX_SEGMENTS 4096u

/* Writers add only records that are not in the store, and remove only records that are. So segments that have a record
 * add and remove it in turn, the oldest one adds it, and the newest one decides whether it is in the store. */
typedef enum ss_segment_kind {
    SS_SEGMENT_ADDS = 0,       /* its records were added to the store */
    SS_SEGMENT_REMOVES = 1,    /* its records were removed from the store */
    SS_SEGMENT_WORD_INDEX = 2, /* it is a word index: see ss_word_index_kind() */
    SS_SEGMENT_ID_INDEX = 3,   /* it is an id index, perhaps with SS_ID_INDEX_PACKED */
    SS_SEGMENT_NAMES = 4       /* it has the names of another segment, and their index: see ss_names_kind() */
} ss_segment_kind;

/*
 * Word indexes. In a store of fingerprints of several words, a segment that adds has an index for each word: a segment
 * of 64-bit fingerprints, whose records are (word, rank of the fingerprint in table 0). The lower layers read and write
 * it like any other segment. Its `kind` also has the number of the word, and the radius: the distance from a query's
 * word up to which the index finds words, or SS_NO_PROBE if it is not probed at the store's distance.
 */
static inline uint32_t ss_word_index_kind(uint32_t word, int32_t radius)
{
    return SS_SEGMENT_WORD_INDEX | word << 8 | (uint32_t)(radius + 1) << 16;
}

static inline int32_t ss_word_index_radius(uint32_t kind)
{
    return (int32_t)(kind >> 16) - 1;
}

/* The distance for which the plan of an index is complete. */
static inline uint32_t ss_word_index_distance(uint32_t kind)
{
    const int32_t radius = ss_word_index_radius(kind);
    return radius == SS_NO_PROBE ? 0 : (uint32_t)radius;
}

/*
 * Id indexes. In a store with an id index, each segment that adds has one: a segment of 64-bit fingerprints that leads
 * from ids to ranks in table 0. If all ids and ranks of the segment have at most 32 bits, it is packed: its
 * fingerprints are id * 2^32 + rank, one a record, and it has no ids. Otherwise its records are (id, rank).
 */
#define SS_ID_INDEX_PACKED 0x100u /* in `kind` */

static inline bool ss_id_index_is_packed(uint32_t kind)
{
    return (kind & SS_ID_INDEX_PACKED) != 0;
}

/*
 * Names. In a store with names, each segment that adds has a name part: a column of the names of its distinct ids,
 * ascending by id, and a table, the name index, that leads from names to it. This has 64-bit fingerprints, without ids:
 * the upper 32 bits of the XXH3-64 of a name, or fewer if the others do not leave room, then the number of the name in
 * the column. All segments that have a name for an id have the same one.
 */
#define SS_MAX_NUMBER_BITS 40u

/* The `kind` of such a part, whose numbers have this many bits: as many as the segment's number of records. */
static inline uint32_t ss_names_kind(uint64_t record_count)
{
    return SS_SEGMENT_NAMES | (record_count == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(record_count)) << 8;
}

static inline uint32_t ss_names_number_bits(uint32_t kind)
{
    return kind >> 8 & 0xff;
}

/* The fingerprints of a name in the table: this one with its number in the lowest bits. */
static inline uint64_t ss_names_value(uint64_t hash, uint32_t number_bits)
{
    const uint32_t hash_bits = ss_min_u32(32, 64 - number_bits);
    return hash >> (64 - hash_bits) << number_bits;
}

static inline bool ss_is_names(uint32_t kind)
{
    return (kind & 0xff) == SS_SEGMENT_NAMES;
}

/* A block file, as the manifest describes it. */
typedef struct ss_manifest_file {
    uint64_t block_count;
    ss_u128 header_checksum;
} ss_manifest_file;

typedef struct ss_manifest_segment {
    ss_u128 segment_id;
    uint32_t kind;     /* ss_segment_kind, ss_word_index_kind(), or ss_names_kind() */
    uint32_t words;    /* of a fingerprint: the store's, or 1 in an index */
    bool has_ids;      /* the store has, or it is a word index, or an id index that is not packed */
    bool has_id_index; /* the store has, as the next one */
    bool has_names;
    uint64_t folder_number; /* the folder is seg-<16 hex digits of it> */
    uint64_t record_count, distinct_count;
    ss_u128 content_sum;  /* of its records; see ss_content_add() */
    uint32_t block_bytes; /* of all its block files */
    uint64_t directory_bytes;
    ss_u128 directory_checksum;
    uint32_t writer;      /* of the block files: SS_WRITER of some version */
    uint32_t lmdb_format; /* of the directory's file; see ss_directory_lmdb_format() */
    ss_plan plan;         /* its distance is the store's */
    ss_manifest_file tables[SS_MAX_TABLES];
    ss_manifest_file ids;                /* zero in a store without ids; of a name part, its column */
    struct ss_manifest_segment *indexes; /* one a word, that of ids, that of names; NULL: it has none. Owned by the
                                            manifest */
} ss_manifest_segment;

/* The number of a segment's word indexes. */
static inline uint32_t ss_word_index_count(const ss_manifest_segment *segment)
{
    return segment->words > 1 && segment->kind == SS_SEGMENT_ADDS ? segment->words : 0;
}

/* The number of a segment's indexes: those of its words, then that of its ids, and its names. */
static inline uint32_t ss_index_count(const ss_manifest_segment *segment)
{
    const bool adds = segment->kind == SS_SEGMENT_ADDS;
    return ss_word_index_count(segment) + (adds && segment->has_id_index ? 1 : 0) +
           (adds && segment->has_names ? 1 : 0);
}

/* The places of the index of the ids, and of the names, if the segment has these. */
static inline uint32_t ss_id_index_place(const ss_manifest_segment *segment)
{
    return ss_word_index_count(segment);
}

static inline uint32_t ss_names_place(const ss_manifest_segment *segment)
{
    return ss_word_index_count(segment) + 1; /* a store with names also has an id index */
}

/* The number of the block files of a segment, or of an index, and each of them. */
static inline uint32_t ss_file_count(const ss_manifest_segment *part)
{
    return part->plan.table_count + (part->has_ids || ss_is_names(part->kind) ? 1 : 0);
}

static inline uint32_t ss_file_number(const ss_manifest_segment *part, uint32_t index)
{
    return index < part->plan.table_count ? index : part->has_ids ? SS_IDS_NUMBER : SS_NAMES_NUMBER;
}

static inline const ss_manifest_file *ss_file_entry(const ss_manifest_segment *part, uint32_t index)
{
    return index < part->plan.table_count ? &part->tables[index] : &part->ids;
}

/* The name of the folder of an index, in that of its segment. */
void ss_index_folder_name(char name[SS_NAME_CAPACITY], const ss_manifest_segment *segment, uint32_t index);

typedef struct ss_manifest {
    uint32_t words; /* of a fingerprint */
    uint32_t distance;
    bool has_ids;
    bool has_id_index;
    bool has_names;  /* and then an id index */
    bool plan_given; /* the user chose the plan, and all segments use it; otherwise each has its own */
    uint64_t next_id;
    char *recipe; /* owned, never NULL; "" if none was given */
    uint32_t segment_count;
    ss_manifest_segment *segments; /* owned; the oldest first */
    ss_file_identity identity;     /* of the file that it was read from */
    ss_u128 checksum;              /* as it was read */
} ss_manifest;

void ss_manifest_free(ss_manifest *manifest);

/* Copy a manifest; free the copy like one that was read. MEMORY. */
sstore_status ss_manifest_copy(const ss_manifest *manifest, ss_manifest *copy_out, sstore_error *error);

/* Open the folder of a store that must exist. NOT_FOUND if there is no folder. */
sstore_status ss_store_dir_open(const char *path, ss_dir *dir_out, sstore_error *error);
/* Report that a folder has no manifest. Returns NOT_FOUND. */
sstore_status ss_fail_no_manifest(const ss_dir *store, sstore_error *error);

/* Read the manifest, or the unpublished one, by name. NOT_FOUND, DAMAGED, UNSUPPORTED, IO, MEMORY. */
sstore_status ss_manifest_read_named(const ss_dir *store, const char *name, ss_manifest *manifest_out,
                                     sstore_error *error);
static inline sstore_status ss_manifest_read(const ss_dir *store, ss_manifest *manifest_out, sstore_error *error)
{
    return ss_manifest_read_named(store, SS_MANIFEST_NAME, manifest_out, error);
}

/* Whether the store's manifest is still the same file. If not, even with equal contents, folders may have changed. */
bool ss_manifest_is_newest(const ss_dir *store, const ss_manifest *manifest);

/* Whether a segment's folder has all its block files, with the right sizes. */
bool ss_manifest_has_files(const ss_manifest_segment *segment, const ss_dir *folder);

/* Decode a manifest; `file` is for errors. Errors as ss_manifest_read(). */
sstore_status ss_manifest_decode(const uint8_t *bytes, size_t size, const char *file, ss_manifest *manifest_out,
                                 sstore_error *error);

/* Check that readers will accept the manifest. `store` is the store's path, for errors. ARGUMENT, MEMORY; DAMAGED if
 * segments remove more records than there are. */
sstore_status ss_manifest_check(const ss_manifest *manifest, const char *store, sstore_error *error);

/* Write it as SS_MANIFEST_NEW_NAME and make its contents durable. A rename then publishes it. */
sstore_status ss_manifest_write_new(const ss_dir *store, const ss_manifest *manifest, sstore_error *error);

/* Add a record to a segment's content sum. Without ids only the fingerprint counts. */
static inline void ss_content_add_words(ss_u128 *sum, bool has_ids, const uint64_t *fingerprint, uint32_t words,
                                        uint64_t id)
{
    uint8_t bytes[8 * (SSTORE_MAX_WORDS + 1)];
    for (uint32_t i = 0; i < words; i++)
        ss_store_le64(bytes + 8 * (size_t)i, fingerprint[i]);
    ss_store_le64(bytes + 8 * (size_t)words, id);
    *sum = ss_u128_add(*sum, ss_hash128(bytes, 8 * ((size_t)words + has_ids)));
}

/* Add a record whose fingerprint has one word. */
static inline void ss_content_add(ss_u128 *sum, bool has_ids, uint64_t fingerprint, uint64_t id)
{
    ss_content_add_words(sum, has_ids, &fingerprint, 1, id);
}

/* Totals over all segments. */
typedef struct ss_manifest_totals {
    uint64_t added_count, removed_count; /* records in segments of either kind */
    uint64_t record_count;               /* in the store: the difference */
    bool fits;                           /* no segment removes more records than there are; true if it was read */
} ss_manifest_totals;

ss_manifest_totals ss_manifest_count(const ss_manifest *manifest);

/* The bytes of all files of the store, including the manifest. */
uint64_t ss_manifest_total_bytes(const ss_manifest *manifest);

/* A segment's id, a hash of its kind, content sum, counts, plan and block size. */
ss_u128 ss_segment_id(const ss_manifest_segment *segment);

/* Copy a segment with its indexes; free the copy with ss_manifest_segment_free(). MEMORY. */
sstore_status ss_manifest_segment_copy(const ss_manifest_segment *segment, ss_manifest_segment *copy_out,
                                       sstore_error *error);
void ss_manifest_segment_free(ss_manifest_segment *segment);

/* The segments of the manifest, and their indexes. */
uint32_t ss_manifest_entry_count(const ss_manifest *manifest);

/* What the manifest says about a block file of a segment. */
ss_block_file_metadata ss_manifest_file_metadata(const ss_manifest_segment *segment, uint32_t number);

/* Check that the store at `path` has fingerprints of this many bits; 0: any. ARGUMENT. */
sstore_status ss_manifest_check_bits(const ss_manifest *manifest, const char *path, uint32_t bits, sstore_error *error);

/* Check that the store at `path` has this recipe; NULL: any. The recipe is that of the store at `other_path`; NULL: it
 * was given to this call. RECIPE. */
sstore_status ss_manifest_check_recipe(const ss_manifest *manifest, const char *path, const char *recipe,
                                       const char *other_path, sstore_error *error);

#endif
