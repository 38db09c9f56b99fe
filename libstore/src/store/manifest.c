#include "store/manifest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/rows.h"

static const uint8_t magic[8] = {'s', 's', 't', 'o', 'r', 'M', 'A', 'N'};

/* The fixed part. */
enum {
    AT_MAGIC = 0,
    AT_VERSION = 8,
    AT_SIZE = 12,
    AT_REQUIRED_FEATURES = 16, /* 24: optional features, 44: reserved */
    AT_FINGERPRINT_BITS = 32,
    AT_DISTANCE = 36,
    AT_FLAGS = 40,
    AT_NEXT_ID = 48,
    AT_RECIPE_BYTES = 56,
    AT_SEGMENT_COUNT = 60,
    FIXED_BYTES = 64
};

/* A segment, without its tables. */
enum { AT_COLUMN_BITS = 60, SEGMENT_BYTES = 128 };

static const ss_field segment_fields[] = {
    SS_FIELD(0, ss_manifest_segment, segment_id, 8),       SS_FIELD(16, ss_manifest_segment, folder_number, 8),
    SS_FIELD(24, ss_manifest_segment, record_count, 8),    SS_FIELD(32, ss_manifest_segment, distinct_count, 8),
    SS_FIELD(40, ss_manifest_segment, content_sum, 8),     SS_FIELD(56, ss_manifest_segment, block_bytes, 4),
    SS_FIELD(64, ss_manifest_segment, directory_bytes, 8), SS_FIELD(72, ss_manifest_segment, directory_checksum, 8),
    SS_FIELD(88, ss_manifest_segment, ids.block_count, 8), SS_FIELD(96, ss_manifest_segment, ids.header_checksum, 8),
    SS_FIELD(112, ss_manifest_segment, kind, 4),           SS_FIELD(116, ss_manifest_segment, plan.table_count, 4),
    SS_FIELD(120, ss_manifest_segment, lmdb_format, 4),    SS_FIELD(124, ss_manifest_segment, writer, 4),
};

/* A table of a segment: its part of the plan, and its file. */
enum { TABLE_BYTES = 40 };

static const ss_field plan_fields[] = {
    SS_FIELD(0, ss_plan_table, key_mask, 8),
    SS_FIELD(8, ss_plan_table, prefix_bits, 4),
    SS_FIELD(12, ss_plan_table, radius, 4),
};

static const ss_field file_fields[] = {
    SS_FIELD(16, ss_manifest_file, block_count, 8),
    SS_FIELD(24, ss_manifest_file, header_checksum, 8),
};

#define COUNT(fields) (sizeof(fields) / sizeof *(fields))
#define CHECKSUM_BYTES 16u
#define FLAG_HAS_IDS 1u
#define FLAG_PLAN_GIVEN 2u
#define FLAG_HAS_ID_INDEX 4u
#define FLAG_HAS_NAMES 8u
#define KNOWN_FLAGS (FLAG_HAS_IDS | FLAG_PLAN_GIVEN | FLAG_HAS_ID_INDEX | FLAG_HAS_NAMES)
#define REQUIRED_FEATURES UINT64_C(0)                   /* that this version writes and knows */
#define MAX_RADIUS ((int32_t)SSTORE_MAX_BUILD_DISTANCE) /* of a word index */
#define MAX_FILE_BYTES ((uint64_t)16 << 20)

void ss_index_folder_name(char name[SS_NAME_CAPACITY], const ss_manifest_segment *segment, uint32_t index)
{
    if (index < ss_word_index_count(segment))
        ss_word_index_folder_name(name, index);
    else if (index == ss_id_index_place(segment))
        memcpy(name, SS_ID_INDEX_NAME, sizeof SS_ID_INDEX_NAME);
    else
        memcpy(name, SS_NAMES_FOLDER_NAME, sizeof SS_NAMES_FOLDER_NAME);
}

void ss_manifest_segment_free(ss_manifest_segment *segment)
{
    ss_free(segment->indexes);
    segment->indexes = NULL;
}

sstore_status ss_manifest_segment_copy(const ss_manifest_segment *segment, ss_manifest_segment *copy_out,
                                       sstore_error *error)
{
    const size_t bytes = ss_index_count(segment) * sizeof *segment->indexes;
    *copy_out = *segment;
    copy_out->indexes = NULL;
    if (bytes == 0)
        return SSTORE_OK;
    copy_out->indexes = ss_alloc(1, bytes);
    if (copy_out->indexes == NULL)
        return ss_fail_memory(error, bytes);
    memcpy(copy_out->indexes, segment->indexes, bytes);
    return SSTORE_OK;
}

void ss_manifest_free(ss_manifest *manifest)
{
    ss_free(manifest->recipe);
    for (uint32_t i = 0; manifest->segments != NULL && i < manifest->segment_count; i++)
        ss_manifest_segment_free(&manifest->segments[i]);
    ss_free(manifest->segments);
    manifest->recipe = NULL;
    manifest->segments = NULL;
}

sstore_status ss_manifest_copy(const ss_manifest *manifest, ss_manifest *copy_out, sstore_error *error)
{
    const size_t bytes = manifest->segment_count * sizeof *manifest->segments;
    *copy_out = *manifest;
    copy_out->recipe = ss_strdup(manifest->recipe);
    copy_out->segments = ss_alloc(manifest->segment_count, sizeof *manifest->segments);
    if (copy_out->recipe == NULL || copy_out->segments == NULL) {
        ss_manifest_free(copy_out);
        return ss_fail_memory(error, bytes);
    }
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; status == SSTORE_OK && i < manifest->segment_count; i++)
        status = ss_manifest_segment_copy(&manifest->segments[i], &copy_out->segments[i], error);
    if (status != SSTORE_OK)
        ss_manifest_free(copy_out);
    return status;
}

uint32_t ss_manifest_entry_count(const ss_manifest *manifest)
{
    uint32_t count = manifest->segment_count;
    for (uint32_t i = 0; i < manifest->segment_count; i++)
        count += ss_index_count(&manifest->segments[i]);
    return count;
}

static size_t padded(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

ss_block_file_metadata ss_manifest_file_metadata(const ss_manifest_segment *segment, uint32_t number)
{
    const bool is_column = number == SS_IDS_NUMBER || number == SS_NAMES_NUMBER;
    const ss_manifest_file *file = is_column ? &segment->ids : &segment->tables[number];
    return (ss_block_file_metadata){.segment_id = segment->segment_id,
                                    .number = number,
                                    .words = segment->words,
                                    .block_bytes = segment->block_bytes,
                                    .block_count = file->block_count,
                                    .header_checksum = file->header_checksum};
}

ss_u128 ss_segment_id(const ss_manifest_segment *segment)
{
    uint8_t bytes[72 + 16 * SS_MAX_TABLES];
    const ss_plan *plan = &segment->plan;
    ss_store_u128(bytes, segment->content_sum);
    ss_store_le64(bytes + 16, segment->record_count);
    ss_store_le64(bytes + 24, segment->distinct_count);
    const uint32_t numbers[8] = {SS_FORMAT_VERSION,
                                 SS_WORD_BITS * segment->words,
                                 segment->has_ids ? FLAG_HAS_IDS : 0,
                                 segment->kind,
                                 segment->block_bytes,
                                 ss_column_bits(segment->words),
                                 plan->distance,
                                 plan->table_count};
    for (size_t i = 0; i < 8; i++)
        ss_store_le32(bytes + 32 + 4 * i, numbers[i]);
    ss_store_le64(bytes + 64, REQUIRED_FEATURES);
    for (size_t i = 0; i < plan->table_count; i++) {
        ss_store_le64(bytes + 72 + 16 * i, plan->tables[i].key_mask);
        ss_store_le32(bytes + 80 + 16 * i, plan->tables[i].prefix_bits);
        ss_store_le32(bytes + 84 + 16 * i, (uint32_t)plan->tables[i].radius);
    }
    return ss_hash128(bytes, 72 + 16 * (size_t)plan->table_count);
}

ss_manifest_totals ss_manifest_count(const ss_manifest *manifest)
{
    ss_manifest_totals totals = {.fits = true};
    for (uint32_t i = 0; i < manifest->segment_count; i++) {
        const ss_manifest_segment *segment = &manifest->segments[i];
        uint64_t *to = segment->kind == SS_SEGMENT_REMOVES ? &totals.removed_count : &totals.added_count;
        totals.fits &= !__builtin_add_overflow(*to, segment->record_count, to) &&
                       totals.removed_count <= totals.added_count;
    }
    totals.record_count = totals.added_count - totals.removed_count;
    return totals;
}

/* ----- encoding ----- */

/* Encode a segment without its indexes. Returns the bytes after it. */
static uint8_t *encode_entry(const ss_manifest_segment *segment, uint8_t *to)
{
    ss_fields_store(segment_fields, COUNT(segment_fields), segment, to);
    ss_store_le32(to + AT_COLUMN_BITS, ss_column_bits(segment->words));
    to += SEGMENT_BYTES;
    for (uint32_t i = 0; i < segment->plan.table_count; i++, to += TABLE_BYTES) {
        ss_fields_store(plan_fields, COUNT(plan_fields), &segment->plan.tables[i], to);
        ss_fields_store(file_fields, COUNT(file_fields), &segment->tables[i], to);
    }
    return to;
}

static uint8_t *encode_segment(const ss_manifest_segment *segment, uint8_t *to)
{
    to = encode_entry(segment, to);
    for (uint32_t i = 0; i < ss_index_count(segment); i++)
        to = encode_entry(&segment->indexes[i], to);
    return to;
}

static size_t entry_bytes(const ss_manifest_segment *segment)
{
    return SEGMENT_BYTES + TABLE_BYTES * (size_t)segment->plan.table_count;
}

static size_t manifest_bytes(const ss_manifest *manifest)
{
    size_t size = FIXED_BYTES + padded(strlen(manifest->recipe)) + CHECKSUM_BYTES;
    for (uint32_t i = 0; i < manifest->segment_count; i++) {
        const ss_manifest_segment *segment = &manifest->segments[i];
        size += entry_bytes(segment);
        for (uint32_t j = 0; j < ss_index_count(segment); j++)
            size += entry_bytes(&segment->indexes[j]);
    }
    return size;
}

static uint64_t block_file_bytes(const ss_manifest_segment *segment, const ss_manifest_file *file)
{
    return SS_HEADER_BYTES + file->block_count * segment->block_bytes;
}

/* The bytes of a segment's files, without its indexes. */
static uint64_t own_bytes(const ss_manifest_segment *segment)
{
    uint64_t bytes = segment->directory_bytes;
    for (uint32_t i = 0; i < ss_file_count(segment); i++)
        bytes += block_file_bytes(segment, ss_file_entry(segment, i));
    return bytes;
}

uint64_t ss_manifest_total_bytes(const ss_manifest *manifest)
{
    uint64_t bytes = manifest_bytes(manifest);
    for (uint32_t i = 0; i < manifest->segment_count; i++) {
        const ss_manifest_segment *segment = &manifest->segments[i];
        bytes += own_bytes(segment);
        for (uint32_t j = 0; j < ss_index_count(segment); j++)
            bytes += own_bytes(&segment->indexes[j]);
    }
    return bytes;
}

/* Encode into new memory; NULL if there is none. */
static uint8_t *encode(const ss_manifest *manifest, size_t *size_out, sstore_error *error)
{
    const size_t size = manifest_bytes(manifest), recipe_bytes = strlen(manifest->recipe);
    uint8_t *bytes = ss_alloc(1, size);
    *size_out = size;
    if (bytes == NULL) {
        (void)ss_fail_memory(error, size);
        return NULL;
    }
    memcpy(bytes + AT_MAGIC, magic, sizeof magic);
    ss_store_le32(bytes + AT_VERSION, SS_FORMAT_VERSION);
    ss_store_le32(bytes + AT_SIZE, (uint32_t)size);
    ss_store_le32(bytes + AT_FINGERPRINT_BITS, SS_WORD_BITS * manifest->words);
    ss_store_le32(bytes + AT_DISTANCE, manifest->distance);
    ss_store_le64(bytes + AT_REQUIRED_FEATURES, REQUIRED_FEATURES);
    ss_store_le32(bytes + AT_FLAGS,
                  (manifest->has_ids ? FLAG_HAS_IDS : 0) | (manifest->plan_given ? FLAG_PLAN_GIVEN : 0) |
                      (manifest->has_id_index ? FLAG_HAS_ID_INDEX : 0) | (manifest->has_names ? FLAG_HAS_NAMES : 0));
    ss_store_le64(bytes + AT_NEXT_ID, manifest->next_id);
    ss_store_le32(bytes + AT_RECIPE_BYTES, (uint32_t)recipe_bytes);
    ss_store_le32(bytes + AT_SEGMENT_COUNT, manifest->segment_count);
    memcpy(bytes + FIXED_BYTES, manifest->recipe, recipe_bytes);
    uint8_t *to = bytes + FIXED_BYTES + padded(recipe_bytes);
    for (uint32_t i = 0; i < manifest->segment_count; i++)
        to = encode_segment(&manifest->segments[i], to);
    ss_store_u128(to, ss_hash128(bytes, size - CHECKSUM_BYTES));
    return bytes;
}

sstore_status ss_manifest_check(const ss_manifest *manifest, const char *store, sstore_error *error)
{
    ss_manifest again;
    sstore_error problem;
    size_t size;
    if (!ss_manifest_count(manifest).fits) /* a change counts what it looked up, so this is not the change's fault */
        return ss_fail_damaged(error, store, SSTORE_NO_OFFSET,
                               "%s: its segments do not hold the records that they are said to; the store was not "
                               "changed; sstore_verify() tells more",
                               store);
    uint8_t *bytes = encode(manifest, &size, error);
    if (bytes == NULL)
        return SSTORE_ERROR_MEMORY;
    const sstore_status status = ss_manifest_decode(bytes, size, store, &again, &problem);
    ss_free(bytes);
    if (status == SSTORE_ERROR_MEMORY)
        return ss_fail_memory(error, size);
    if (status != SSTORE_OK)
        return ss_fail_argument(error, "%s; the store was not changed, because readers would refuse the new manifest",
                                problem.message);
    ss_manifest_free(&again);
    return SSTORE_OK;
}

sstore_status ss_manifest_write_new(const ss_dir *store, const ss_manifest *manifest, sstore_error *error)
{
    ss_file file = SS_FILE_NONE;
    size_t size;
    uint8_t *bytes = encode(manifest, &size, error);
    if (bytes == NULL)
        return SSTORE_ERROR_MEMORY;
    ss_dir_unlink(store, SS_MANIFEST_NEW_NAME);
    sstore_status status = ss_file_create_at(store, SS_MANIFEST_NEW_NAME, &file, error);
    if (status == SSTORE_OK)
        status = ss_file_write_at(&file, 0, bytes, size, error);
    if (status == SSTORE_OK)
        status = ss_file_sync(&file, error);
    ss_file_close(&file);
    ss_free(bytes);
    if (status != SSTORE_OK)
        ss_dir_unlink(store, SS_MANIFEST_NEW_NAME);
    return status;
}

/* ----- decoding ----- */

/* The bytes that are still to be decoded. */
typedef struct input {
    const uint8_t *at, *begin;
    size_t left;
    const char *file;
    sstore_error *error;
} input;

static sstore_status fail_at(const input *from, const char *reason)
{
    return ss_fail_damaged(from->error, from->file, (uint64_t)(from->at - from->begin), "%s", reason);
}

/* Take `size` bytes from the input; NULL if there are fewer. */
static const uint8_t *take(input *from, size_t size)
{
    const uint8_t *bytes = from->at;
    if (size > from->left)
        return NULL;
    from->at += size;
    from->left -= size;
    return bytes;
}

static sstore_status check_frame(const uint8_t *bytes, size_t size, const char *file, sstore_error *error)
{
    if (size < FIXED_BYTES + CHECKSUM_BYTES || memcmp(bytes + AT_MAGIC, magic, sizeof magic) != 0)
        return ss_fail_damaged(error, file, 0, "is not the manifest of a store");
    if (!ss_u128_equal(ss_hash128(bytes, size - CHECKSUM_BYTES), ss_load_u128(bytes + size - CHECKSUM_BYTES)) ||
        ss_load_le32(bytes + AT_SIZE) != size)
        return ss_fail_damaged(error, file, 0, "the manifest's checksum or size is wrong");
    uint32_t version = ss_load_le32(bytes + AT_VERSION), bits = ss_load_le32(bytes + AT_FINGERPRINT_BITS);
    uint64_t features = ss_load_le64(bytes + AT_REQUIRED_FEATURES);
    uint32_t flags = ss_load_le32(bytes + AT_FLAGS);
    if (version < SS_FORMAT_VERSION)
        return ss_fail(error, SSTORE_ERROR_UNSUPPORTED, 0, file, AT_VERSION,
                       "the store has format version %u, which this version of sstore does not read; rebuild it from "
                       "its input, or "
                       "from its records as the version that wrote it prints them",
                       version);
    if (version != SS_FORMAT_VERSION || !ss_fingerprint_bits_valid(bits) || (features & ~REQUIRED_FEATURES) != 0 ||
        (flags & ~KNOWN_FLAGS) != 0)
        return ss_fail(
            error, SSTORE_ERROR_UNSUPPORTED, 0, file, AT_VERSION,
            "the store has format version %u, fingerprints of %u bits, features %llx and flags %x; this version "
            "of sstore knows version %u, multiples of %u bits up to %u, no features and flags up to %x",
            version, bits, (unsigned long long)features, flags, SS_FORMAT_VERSION, SS_WORD_BITS,
            SS_WORD_BITS * SSTORE_MAX_WORDS, KNOWN_FLAGS);
    return SSTORE_OK;
}

static sstore_status decode_recipe(input *from, size_t size, ss_manifest *manifest)
{
    const uint8_t *recipe = size <= SS_MAX_RECIPE_BYTES ? take(from, padded(size)) : NULL;
    if (recipe == NULL || memchr(recipe, 0, size) != NULL)
        return fail_at(from, "the recipe is malformed");
    manifest->recipe = ss_alloc(size + 1, 1);
    if (manifest->recipe == NULL)
        return ss_fail_memory(from->error, size + 1);
    memcpy(manifest->recipe, recipe, size);
    return SSTORE_OK;
}

/* A bound for the directory's size, so that a small malicious store cannot cause reads of gigabytes: twice its arrays,
 * since commits leave old pages, and LMDB's own pages. */
static uint64_t largest_directory(const ss_manifest_segment *segment)
{
    uint64_t keys = segment->ids.block_count + segment->tables[0].block_count;
    if (ss_is_names(segment->kind)) /* they also have numbers */
        keys += segment->ids.block_count;
    for (uint32_t i = 0; i < segment->plan.table_count; i++)
        keys += segment->tables[i].block_count;
    return 16 * keys + ((uint64_t)16 << 20);
}

/* Whether table 0 of whole fingerprints has the number of blocks that they need. */
static bool rows_plausible(const ss_manifest_segment *segment)
{
    const uint32_t capacity = ss_rows_capacity(segment->block_bytes, segment->words);
    const uint64_t full = segment->distinct_count / capacity;
    return segment->tables[0].block_count == full + (segment->distinct_count % capacity != 0);
}

/* Whether a file of `blocks` blocks can have so many items. Names may be longer than a block. */
static bool blocks_plausible(uint64_t blocks, uint64_t items, bool are_names)
{
    return blocks <= SS_MAX_BLOCK_COUNT && (blocks <= items || are_names) && (items > 0) == (blocks > 0);
}

/* Whether a segment's numbers are valid. Then their sums and products do not overflow. */
static bool segment_plausible(const ss_manifest_segment *segment, const char **reason)
{
    const bool has_ids = segment->has_ids, has_names = ss_is_names(segment->kind);
    uint64_t records = segment->record_count, distinct = segment->distinct_count;
    *reason = "the block size is invalid";
    if (!ss_block_bytes_valid(segment->block_bytes))
        return false;
    *reason = "the numbers of records, fingerprints and blocks contradict each other";
    if (distinct > records || (records > 0) != (distinct > 0) || (!has_ids && records != distinct))
        return false;
    for (uint32_t i = 0; i <= segment->plan.table_count; i++) {
        const bool is_column = i == segment->plan.table_count;
        const uint64_t items = is_column ? (has_ids || has_names ? records : 0) : distinct;
        if (!blocks_plausible(ss_file_entry(segment, i)->block_count, items, is_column && has_names))
            return false;
    }
    if (segment->words > 1 && !rows_plausible(segment))
        return false;
    *reason = "the directory is larger than the segment's blocks can need";
    if (segment->directory_bytes > largest_directory(segment))
        return false;
    *reason = "the segment's id does not match its other fields";
    return ss_u128_equal(segment->segment_id, ss_segment_id(segment));
}

/* The plans that were proved last: segments that add and segments that remove may alternate, or indexes. */
#define PROVED_PLANS (SSTORE_MAX_WORDS + 2)

typedef struct proofs {
    ss_steps steps; /* left for all proofs: a malicious manifest may make each of them as slow as possible */
    const ss_plan *plans[PROVED_PLANS];
    uint32_t capacity;    /* plans that are remembered */
    uint32_t count;       /* so far */
    uint32_t entry_count; /* segments of the manifest, and their indexes so far: they take memory */
} proofs;

/* Whether a segment's plan is complete. Most segments have the plan of a recent one, which needs no second proof. */
static bool prove_plan(proofs *proved, const ss_plan *plan, const char **reason)
{
    for (uint32_t i = 0; i < proved->count && i < proved->capacity; i++)
        if (proved->plans[i]->distance >= plan->distance && ss_plan_same_tables(plan, proved->plans[i]))
            return true;
    assert(proved->capacity > 0);
    proved->plans[proved->count++ % proved->capacity] = plan;
    return ss_plan_valid(plan, &proved->steps, reason);
}

/* Whether the only table of a segment with word indexes is one without keys, which is never probed. */
static bool is_unprobed(const ss_plan *plan)
{
    const ss_plan_table *table = &plan->tables[0];
    return plan->table_count == 1 && table->key_mask == 0 && table->prefix_bits == 0 && table->radius == 0;
}

static bool is_of_kind(uint32_t kind, uint32_t expected)
{
    if (expected == SS_SEGMENT_ADDS)
        return kind <= SS_SEGMENT_REMOVES;
    if (expected == SS_SEGMENT_NAMES)
        return ss_is_names(kind) && kind >> 16 == 0;
    return expected == SS_SEGMENT_ID_INDEX ? (kind & ~SS_ID_INDEX_PACKED) == expected : (kind & 0xffff) == expected;
}

/* Decode a segment, or the index of segment->kind. Words, ids and distance are set. */
static sstore_status decode_entry(input *from, ss_manifest_segment *segment, proofs *proved)
{
    const uint8_t *bytes = take(from, SEGMENT_BYTES);
    const uint32_t expected = segment->kind;
    const char *reason;
    if (bytes == NULL)
        return fail_at(from, "a segment is cut short");
    ss_fields_load(segment_fields, COUNT(segment_fields), bytes, segment);
    if (!is_of_kind(segment->kind, expected))
        return ss_fail(from->error, SSTORE_ERROR_UNSUPPORTED, 0, from->file, (uint64_t)(bytes - from->begin),
                       "a segment is of kind %x, which this version of sstore does not support", segment->kind);
    if (expected != SS_SEGMENT_ADDS)
        segment->plan.distance = ss_word_index_distance(segment->kind);
    if (expected == SS_SEGMENT_ID_INDEX)
        segment->has_ids = !ss_id_index_is_packed(segment->kind);
    const uint32_t column_bits = ss_load_le32(bytes + AT_COLUMN_BITS);
    if (column_bits != ss_column_bits(segment->words))
        return ss_fail(from->error, SSTORE_ERROR_UNSUPPORTED, 0, from->file,
                       (uint64_t)(bytes + AT_COLUMN_BITS - from->begin),
                       "a segment's blocks have columns of %u bits, which this version of sstore does not support",
                       column_bits);
    if (expected != SS_SEGMENT_ADDS && ss_word_index_radius(segment->kind) > MAX_RADIUS)
        return fail_at(from, "the radius of a word is too large");
    if (segment->plan.table_count > SS_MAX_TABLES)
        return fail_at(from, "a segment has too many tables");
    for (uint32_t i = 0; i < segment->plan.table_count; i++) {
        const uint8_t *table_bytes = take(from, TABLE_BYTES);
        ss_plan_table *table = &segment->plan.tables[i];
        if (table_bytes == NULL)
            return fail_at(from, "a table is cut short");
        ss_fields_load(plan_fields, COUNT(plan_fields), table_bytes, table);
        ss_fields_load(file_fields, COUNT(file_fields), table_bytes, &segment->tables[i]);
        if ((uint32_t)table->radius > SS_FINGERPRINT_BITS)
            table->radius = SS_NO_PROBE;
    }
    if (segment->words > 1 && !is_unprobed(&segment->plan))
        return fail_at(from, "the table of whole fingerprints has keys");
    if (!segment_plausible(segment, &reason))
        return fail_at(from, reason);
    if (segment->words == 1 && !prove_plan(proved, &segment->plan, &reason))
        return ss_fail_damaged(from->error, from->file, (uint64_t)(from->at - from->begin),
                               "the plan of a segment cannot be used: %s", reason);
    return SSTORE_OK;
}

/* Decode the index of a word. */
static sstore_status decode_word_index(input *from, const ss_manifest_segment *segment, uint32_t word,
                                       ss_manifest_segment *index, proofs *proved)
{
    *index = (ss_manifest_segment){.words = 1, .has_ids = true, .kind = ss_word_index_kind(word, SS_NO_PROBE)};
    const sstore_status status = decode_entry(from, index, proved);
    if (status == SSTORE_OK &&
        (index->record_count != segment->distinct_count || index->block_bytes != segment->block_bytes))
        return fail_at(from, "a word index does not fit its segment");
    return status;
}

/* Decode the index of the ids. */
static sstore_status decode_id_index(input *from, const ss_manifest_segment *segment, ss_manifest_segment *index,
                                     proofs *proved)
{
    *index = (ss_manifest_segment){.words = 1, .kind = SS_SEGMENT_ID_INDEX};
    const sstore_status status = decode_entry(from, index, proved);
    const bool fits = index->record_count == segment->record_count && index->block_bytes == segment->block_bytes &&
                      index->plan.table_count == 1 &&
                      (segment->distinct_count <= UINT64_C(1) << 32 || !ss_id_index_is_packed(index->kind));
    return status == SSTORE_OK && !fits ? fail_at(from, "an id index does not fit its segment") : status;
}

/* Decode the name part. */
static sstore_status decode_names(input *from, const ss_manifest_segment *segment, ss_manifest_segment *names,
                                  proofs *proved)
{
    *names = (ss_manifest_segment){.words = 1, .kind = SS_SEGMENT_NAMES};
    const sstore_status status = decode_entry(from, names, proved);
    const uint32_t bits = ss_names_number_bits(names->kind);
    const bool fits = names->record_count <= segment->record_count &&
                      (names->record_count > 0) == (segment->record_count > 0) &&
                      names->block_bytes == segment->block_bytes && names->plan.table_count == 1 &&
                      bits <= SS_MAX_NUMBER_BITS && names->record_count >> bits == 0;
    return status == SSTORE_OK && !fits ? fail_at(from, "the names do not fit their segment") : status;
}

/* Decode the index of some place. */
static sstore_status decode_index(input *from, const ss_manifest_segment *segment, uint32_t place,
                                  ss_manifest_segment *index, proofs *proved)
{
    if (place < ss_word_index_count(segment))
        return decode_word_index(from, segment, place, index, proved);
    return place == ss_id_index_place(segment) ? decode_id_index(from, segment, index, proved)
                                               : decode_names(from, segment, index, proved);
}

/* Decode the indexes of a segment, and check that those of words find everything within the store's distance. */
static sstore_status decode_indexes(input *from, ss_manifest_segment *segment, proofs *proved)
{
    const uint32_t count = ss_index_count(segment), words = ss_word_index_count(segment);
    uint32_t reach = 0; /* the sum of radius + 1 */
    sstore_status status = SSTORE_OK;
    segment->indexes = ss_alloc(count, sizeof *segment->indexes);
    if (segment->indexes == NULL)
        return ss_fail_memory(from->error, count * sizeof *segment->indexes);
    for (uint32_t i = 0; status == SSTORE_OK && i < count; i++) {
        ss_manifest_segment *index = &segment->indexes[i];
        status = decode_index(from, segment, i, index, proved);
        reach += (uint32_t)(ss_word_index_radius(index->kind) + 1); /* the others add 0 */
    }
    if (status == SSTORE_OK && words > 0 && reach <= segment->plan.distance)
        status = fail_at(from, "the word indexes do not reach the store's distance");
    return status;
}

static sstore_status decode_segment(input *from, const ss_manifest *manifest, ss_manifest_segment *segment,
                                    proofs *proved)
{
    segment->words = manifest->words;
    segment->has_ids = manifest->has_ids;
    segment->has_id_index = manifest->has_id_index;
    segment->has_names = manifest->has_names;
    segment->plan.distance = manifest->distance;
    const sstore_status status = decode_entry(from, segment, proved);
    if (status != SSTORE_OK || ss_index_count(segment) == 0)
        return status;
    proved->entry_count += ss_index_count(segment);
    return proved->entry_count <= SS_MAX_SEGMENTS ? decode_indexes(from, segment, proved)
                                                  : fail_at(from, "the manifest has too many indexes");
}

static int compare_numbers(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return ss_compare_u64(left, right);
}

/* Check that no two segments have the same folder. */
static sstore_status check_folders(const input *from, const ss_manifest *manifest)
{
    const uint32_t count = manifest->segment_count;
    uint64_t *numbers = ss_alloc(count, sizeof *numbers);
    bool all_differ = true;
    if (numbers == NULL)
        return ss_fail_memory(from->error, count * sizeof *numbers);
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = manifest->segments[i].folder_number;
    qsort(numbers, count, sizeof *numbers, compare_numbers);
    for (uint32_t i = 1; i < count; i++)
        all_differ &= numbers[i] != numbers[i - 1];
    ss_free(numbers);
    return all_differ ? SSTORE_OK : fail_at(from, "two segments have the same folder");
}

static sstore_status decode_body(input *from, ss_manifest *manifest)
{
    const uint8_t *fixed = take(from, FIXED_BYTES);
    assert(fixed != NULL); /* check_frame() has found them */
    uint32_t flags = ss_load_le32(fixed + AT_FLAGS);
    manifest->words = ss_load_le32(fixed + AT_FINGERPRINT_BITS) / SS_WORD_BITS;
    manifest->distance = ss_load_le32(fixed + AT_DISTANCE);
    manifest->has_ids = (flags & FLAG_HAS_IDS) != 0;
    manifest->has_id_index = (flags & FLAG_HAS_ID_INDEX) != 0;
    manifest->has_names = (flags & FLAG_HAS_NAMES) != 0;
    manifest->plan_given = (flags & FLAG_PLAN_GIVEN) != 0;
    manifest->next_id = ss_load_le64(fixed + AT_NEXT_ID);
    uint32_t segment_count = ss_load_le32(fixed + AT_SEGMENT_COUNT);
    if (manifest->distance > SSTORE_MAX_BUILD_DISTANCE * manifest->words)
        return fail_at(from, "the distance is out of range");
    if (!manifest->has_ids && manifest->next_id != 0)
        return fail_at(from, "a store without ids has a next id");
    if (!manifest->has_ids && manifest->has_id_index)
        return fail_at(from, "a store without ids has an id index");
    if (!manifest->has_id_index && manifest->has_names)
        return fail_at(from, "a store without an id index has names");
    sstore_status status = decode_recipe(from, ss_load_le32(fixed + AT_RECIPE_BYTES), manifest);
    if (status != SSTORE_OK)
        return status;
    if (segment_count > SS_MAX_SEGMENTS || segment_count > from->left / SEGMENT_BYTES)
        return fail_at(from, "the manifest is too short for its segments, or has too many");
    manifest->segments = ss_alloc(segment_count, sizeof *manifest->segments);
    if (manifest->segments == NULL)
        return ss_fail_memory(from->error, segment_count * sizeof *manifest->segments);
    manifest->segment_count = segment_count;
    proofs proved = {.steps = {.left = SS_CALL_STEPS},
                     .capacity = ss_max_u32(manifest->words, 2) + (manifest->has_id_index ? 1 : 0) +
                                 (manifest->has_names ? 1 : 0),
                     .entry_count = segment_count};
    for (uint32_t i = 0; i < segment_count; i++) {
        status = decode_segment(from, manifest, &manifest->segments[i], &proved);
        if (status != SSTORE_OK)
            return status;
    }
    if (from->left != CHECKSUM_BYTES)
        return fail_at(from, "there are bytes after the last segment");
    if (!ss_manifest_count(manifest).fits)
        return fail_at(from, "a segment removes more records than there are");
    return check_folders(from, manifest);
}

sstore_status ss_manifest_decode(const uint8_t *bytes, size_t size, const char *file, ss_manifest *manifest_out,
                                 sstore_error *error)
{
    *manifest_out = (ss_manifest){.segment_count = 0};
    sstore_status status = check_frame(bytes, size, file, error);
    if (status != SSTORE_OK)
        return status;
    manifest_out->checksum = ss_load_u128(bytes + size - CHECKSUM_BYTES);
    input from = {.at = bytes, .begin = bytes, .left = size, .file = file, .error = error};
    status = decode_body(&from, manifest_out);
    if (status != SSTORE_OK)
        ss_manifest_free(manifest_out);
    return status;
}

sstore_status ss_store_dir_open(const char *path, ss_dir *dir_out, sstore_error *error)
{
    sstore_error problem;
    const sstore_status status = ss_dir_open(path, dir_out, &problem);
    if (status != SSTORE_ERROR_NOT_FOUND)
        return status == SSTORE_OK ? status : ss_fail_as(error, &problem);
    return ss_fail(error, status, 0, path, SSTORE_NO_OFFSET,
                   problem.system_errno == ENOTDIR && ss_path_is_taken(path)
                       ? "this is not a store: a store is a folder"
                       : "there is no store here; build one first");
}

sstore_status ss_fail_no_manifest(const ss_dir *store, sstore_error *error)
{
    return ss_fail(error, SSTORE_ERROR_NOT_FOUND, 0, store->path, SSTORE_NO_OFFSET,
                   "this folder is not a store: it has no " SS_MANIFEST_NAME
                   "; build a store, wait until its build ends, or restore the " SS_MANIFEST_NAME " from a copy");
}

sstore_status ss_manifest_read_named(const ss_dir *store, const char *name, ss_manifest *manifest_out,
                                     sstore_error *error)
{
    ss_file file = SS_FILE_NONE;
    uint8_t *bytes = NULL;
    ss_file_identity identity = {.size = 0};
    sstore_status status = ss_file_open_at(store, name, &file, error);
    if (status == SSTORE_OK)
        status = ss_file_identify(&file, &identity, error);
    if (status == SSTORE_OK && identity.size > MAX_FILE_BYTES)
        status = ss_fail_damaged(error, file.path, 0, "is too large to be the manifest of a store");
    if (status == SSTORE_OK && (bytes = ss_alloc(identity.size, 1)) == NULL)
        status = ss_fail_memory(error, identity.size);
    if (status == SSTORE_OK)
        status = ss_file_read_at(&file, 0, bytes, identity.size, error);
    if (status == SSTORE_OK)
        status = ss_manifest_decode(bytes, identity.size, file.path, manifest_out, error);
    if (status == SSTORE_OK)
        manifest_out->identity = identity;
    ss_free(bytes);
    ss_file_close(&file);
    return status;
}

bool ss_manifest_is_newest(const ss_dir *store, const ss_manifest *manifest)
{
    ss_file file = SS_FILE_NONE;
    ss_file_identity identity;
    uint8_t sum[CHECKSUM_BYTES];
    const bool is_newest = ss_file_open_at(store, SS_MANIFEST_NAME, &file, NULL) == SSTORE_OK &&
                           ss_file_identify(&file, &identity, NULL) == SSTORE_OK &&
                           ss_file_same(&identity, &manifest->identity) &&
                           ss_file_read_at(&file, identity.size - sizeof sum, sum, sizeof sum, NULL) == SSTORE_OK &&
                           ss_u128_equal(ss_load_u128(sum), manifest->checksum);
    ss_file_close(&file);
    return is_newest;
}

/* Whether a folder has the block files of a segment without its indexes. */
static bool has_own_files(const ss_manifest_segment *segment, const ss_dir *folder)
{
    for (uint32_t i = 0; i < ss_file_count(segment); i++) {
        char name[SS_NAME_CAPACITY];
        ss_block_file_name(name, ss_file_number(segment, i));
        if (!ss_dir_has_file(folder, name, block_file_bytes(segment, ss_file_entry(segment, i))))
            return false;
    }
    return true;
}

bool ss_manifest_has_files(const ss_manifest_segment *segment, const ss_dir *folder)
{
    bool has_all = has_own_files(segment, folder);
    for (uint32_t i = 0; has_all && i < ss_index_count(segment); i++) {
        char name[SS_NAME_CAPACITY];
        ss_dir inner;
        ss_index_folder_name(name, segment, i);
        has_all = ss_dir_open_at(folder, name, &inner, NULL) == SSTORE_OK &&
                  has_own_files(&segment->indexes[i], &inner);
        ss_dir_close(&inner);
    }
    return has_all;
}

sstore_status ss_manifest_check_bits(const ss_manifest *manifest, const char *path, uint32_t bits, sstore_error *error)
{
    const uint32_t own = SS_WORD_BITS * manifest->words;
    if (bits == 0 || bits == own)
        return SSTORE_OK;
    return ss_fail(error, SSTORE_ERROR_ARGUMENT, 0, path, SSTORE_NO_OFFSET,
                   "the store has fingerprints of %u bits, not of %u", own, bits);
}

sstore_status ss_manifest_check_recipe(const ss_manifest *manifest, const char *path, const char *recipe,
                                       const char *other_path, sstore_error *error)
{
    const char *own = manifest->recipe, *other = other_path != NULL ? other_path : "this call";
    if (recipe == NULL || strcmp(recipe, own) == 0)
        return SSTORE_OK;
    if (own[0] == '\0')
        return ss_fail(error, SSTORE_ERROR_RECIPE, 0, path, SSTORE_NO_OFFSET,
                       "the store has no recipe, but %s has '%s'", other, recipe);
    if (recipe[0] == '\0')
        return ss_fail(error, SSTORE_ERROR_RECIPE, 0, path, SSTORE_NO_OFFSET,
                       "the store's recipe is '%s', but %s has none", own, other);
    return ss_fail(error, SSTORE_ERROR_RECIPE, 0, path, SSTORE_NO_OFFSET,
                   "the store's recipe is '%s', but that of %s is '%s'", own, other, recipe);
}
