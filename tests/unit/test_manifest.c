/* The manifest: it is read as it was written. A changed, cut or invalid manifest is refused. */
#include "store/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/directory.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/store_offsets.h"
#include "support/testing.h"

#define RECIPE "words shingle=3" /* and one unused byte */
/* The first segment of a manifest with this recipe, and its first table. */
#define AT_SEGMENT (MANIFEST_FIXED + 16)
#define AT_TABLE (AT_SEGMENT + SEGMENT_FIXED)

#define MAX_BLOCKS (UINT64_C(1) << 40) /* of a file */

/* ----- helpers ----- */

static ss_dir open_scratch(void)
{
    ss_dir dir;
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(ss_dir_open(scratch_folder(), &dir, &error), &error);
    return dir;
}

/* A segment as a build makes it; its id matches its fields. */
static void make_segment(rng *random, const char *plan, uint32_t distance, bool has_ids, ss_manifest_segment *segment)
{
    sstore_error error = {.status = SSTORE_OK};
    *segment = (ss_manifest_segment){.words = 1,
                                     .has_ids = has_ids,
                                     .folder_number = rng_next(random),
                                     .record_count = 1000,
                                     .distinct_count = has_ids ? 900 : 1000,
                                     .content_sum = {.low = rng_next(random), .high = rng_next(random)},
                                     .block_bytes = 512,
                                     .directory_bytes = rng_next(random) >> 44,
                                     .directory_checksum = {.low = rng_next(random), .high = rng_next(random)},
                                     .lmdb_format = ss_directory_lmdb_format()};
    assert_ok(ss_plan_parse(plan, distance, &segment->plan, &error), &error);
    for (uint32_t i = 0; i < segment->plan.table_count; i++)
        segment->tables[i] = (ss_manifest_file){.block_count = rng_between(random, 1, 900),
                                                .header_checksum = {rng_next(random), rng_next(random)}};
    if (has_ids)
        segment->ids = (ss_manifest_file){.block_count = 17, .header_checksum = {rng_next(random), rng_next(random)}};
    segment->segment_id = ss_segment_id(segment);
}

static ss_manifest make_manifest(rng *random, const char *plan, bool has_ids, uint32_t segment_count)
{
    ss_manifest made = {.words = 1,
                        .distance = 3,
                        .has_ids = has_ids,
                        .next_id = has_ids ? 1234567 : 0,
                        .segment_count = segment_count};
    made.recipe = strdup(RECIPE);
    made.segments = calloc(segment_count + 1, sizeof *made.segments);
    for (uint32_t i = 0; i < segment_count; i++)
        make_segment(random, plan, made.distance, has_ids, &made.segments[i]);
    return made;
}

/* Segments of fingerprints of several words, with their word indexes. */
static ss_manifest make_wide_manifest(rng *random, uint32_t words, uint32_t segment_count)
{
    ss_manifest made = make_manifest(random, "1", false, segment_count);
    made.words = words;
    for (uint32_t i = 0; i < segment_count; i++) {
        ss_manifest_segment *segment = &made.segments[i];
        const uint64_t a_block = (segment->block_bytes - 8) / (8 * words);
        segment->words = words;
        segment->plan = (ss_plan){.distance = made.distance, .table_count = 1};
        segment->tables[0].block_count = (segment->distinct_count + a_block - 1) / a_block;
        segment->segment_id = ss_segment_id(segment);
        segment->indexes = calloc(words, sizeof *segment->indexes);
        for (uint32_t word = 0; word < words; word++) {
            ss_manifest_segment *index = &segment->indexes[word];
            make_segment(random, "1", 0, true, index);
            index->folder_number = 0;
            index->kind = ss_word_index_kind(word, 0);
            index->segment_id = ss_segment_id(index);
        }
    }
    return made;
}

/* Segments with id indexes: packed ones, and others. */
static ss_manifest make_manifest_with_id_index(rng *random, bool packed, uint32_t segment_count)
{
    ss_manifest made = make_manifest(random, "4", true, segment_count);
    made.has_id_index = true;
    for (uint32_t i = 0; i < segment_count; i++) {
        ss_manifest_segment *segment = &made.segments[i];
        segment->has_id_index = true;
        segment->indexes = calloc(1, sizeof *segment->indexes);
        make_segment(random, "1", 0, !packed, segment->indexes);
        segment->indexes->folder_number = 0;
        segment->indexes->kind = SS_SEGMENT_ID_INDEX | (packed ? SS_ID_INDEX_PACKED : 0);
        segment->indexes->segment_id = ss_segment_id(segment->indexes);
    }
    return made;
}

/* Segments with names. */
static ss_manifest make_manifest_with_names(rng *random, uint32_t segment_count)
{
    ss_manifest made = make_manifest_with_id_index(random, true, segment_count);
    made.has_names = true;
    for (uint32_t i = 0; i < segment_count; i++) {
        ss_manifest_segment *segment = &made.segments[i];
        segment->has_names = true;
        segment->indexes = realloc(segment->indexes, 2 * sizeof *segment->indexes);
        ss_manifest_segment *names = &segment->indexes[1];
        memset(names, 0, sizeof *names);
        make_segment(random, "1", 0, false, names);
        names->folder_number = 0;
        names->kind = ss_names_kind(segment->record_count);
        names->ids.block_count = names->record_count + 5; /* names may be longer than blocks */
        names->segment_id = ss_segment_id(names);
    }
    return made;
}

static void free_made(ss_manifest *made)
{
    for (uint32_t i = 0; i < made->segment_count; i++)
        free(made->segments[i].indexes);
    free(made->recipe);
    free(made->segments);
}

/* Write it to the scratch folder and return the bytes of the file. */
static file_bytes write_manifest(const ss_manifest *manifest)
{
    ss_dir dir = open_scratch();
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(ss_manifest_write_new(&dir, manifest, &error), &error);
    assert_ok(ss_dir_rename(&dir, SS_MANIFEST_NEW_NAME, SS_MANIFEST_NAME, &error), &error);
    ss_dir_close(&dir);
    return file_load(scratch_path(SS_MANIFEST_NAME));
}

/* Decode from memory of exactly the right size, which is freed after the call. */
static sstore_status decode(const uint8_t *from, size_t size, sstore_error *error)
{
    uint8_t *exact = malloc(size + (size == 0));
    ss_manifest manifest;
    memcpy(exact, from, size);
    *error = (sstore_error){.status = SSTORE_OK};
    sstore_status status = ss_manifest_decode(exact, size, "some/MANIFEST", &manifest, error);
    if (status == SSTORE_OK)
        ss_manifest_free(&manifest);
    else
        assert_string_equal(error->file, "some/MANIFEST");
    free(exact);
    return status;
}

/* Update size and checksum, so that the other fields are checked. */
static void sign(file_bytes *content)
{
    const size_t signed_bytes = content->size - CHECKSUM_BYTES;
    ss_store_le32(content->data + MANIFEST_SIZE, (uint32_t)content->size);
    ss_store_u128(content->data + signed_bytes, ss_hash128(content->data, signed_bytes));
}

static void check_file(const ss_manifest_file *a, const ss_manifest_file *b)
{
    assert_int_equal(a->block_count, b->block_count);
    assert_true(ss_u128_equal(a->header_checksum, b->header_checksum));
}

static void check_segment(const ss_manifest_segment *a, const ss_manifest_segment *b)
{
    assert_true(ss_u128_equal(a->segment_id, b->segment_id));
    assert_int_equal(a->folder_number, b->folder_number);
    assert_int_equal(a->record_count, b->record_count);
    assert_int_equal(a->distinct_count, b->distinct_count);
    assert_true(ss_u128_equal(a->content_sum, b->content_sum));
    assert_int_equal(a->block_bytes, b->block_bytes);
    assert_int_equal(a->directory_bytes, b->directory_bytes);
    assert_true(ss_u128_equal(a->directory_checksum, b->directory_checksum));
    assert_int_equal(a->lmdb_format, b->lmdb_format);
    assert_int_equal(a->plan.distance, b->plan.distance);
    assert_int_equal(a->plan.table_count, b->plan.table_count);
    for (uint32_t i = 0; i < a->plan.table_count; i++) {
        assert_int_equal(a->plan.tables[i].key_mask, b->plan.tables[i].key_mask);
        assert_int_equal(a->plan.tables[i].prefix_bits, b->plan.tables[i].prefix_bits);
        assert_int_equal(a->plan.tables[i].radius, b->plan.tables[i].radius);
        check_file(&a->tables[i], &b->tables[i]);
    }
    check_file(&a->ids, &b->ids);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(ss_index_count(a), ss_index_count(b));
    for (uint32_t i = 0; i < ss_index_count(a); i++)
        check_segment(&a->indexes[i], &b->indexes[i]);
}

static void check_manifest(const ss_manifest *a, const ss_manifest *b)
{
    assert_int_equal(a->distance, b->distance);
    assert_int_equal(a->has_ids, b->has_ids);
    assert_int_equal(a->has_id_index, b->has_id_index);
    assert_int_equal(a->has_names, b->has_names);
    assert_int_equal(a->next_id, b->next_id);
    assert_string_equal(a->recipe, b->recipe);
    assert_int_equal(a->segment_count, b->segment_count);
    for (uint32_t i = 0; i < a->segment_count; i++)
        check_segment(&a->segments[i], &b->segments[i]);
}

/* ----- round trips ----- */

static void test_round_trip(void **state)
{
    static const char *const plans[] = {"1", "2", "3", "4", "10", "16", "20", "ffff000000000000:3,00ff00ff00ff00ff:1"};
    rng random = rng_seeded(run_seed);
    ss_dir dir = open_scratch();
    for (uint32_t i = 0; i < 8 * 2 * 3; i++) {
        ss_manifest made = make_manifest(&random, plans[i % 8], i / 8 % 2, i / 16), got;
        sstore_error error = {.status = SSTORE_OK};
        testing_doing("plan %s, %s ids, %u segments", plans[i % 8], made.has_ids ? "with" : "without", i / 16);
        file_bytes content = write_manifest(&made);
        assert_ok(ss_manifest_read(&dir, &got, &error), &error);
        check_manifest(&got, &made);
        assert_int_equal(got.identity.size, content.size);
        ss_manifest_free(&got);
        file_bytes_free(&content);
        free_made(&made);
    }
    ss_dir_close(&dir);
    testing_done();
}

/* ----- id indexes ----- */

static void spoil_nothing(ss_manifest_segment *index)
{
}
static void spoil_records(ss_manifest_segment *index)
{
    index->record_count++;
    index->distinct_count += !index->has_ids;
}
static void spoil_block_bytes(ss_manifest_segment *index)
{
    index->block_bytes *= 2;
}
static void spoil_tables(ss_manifest_segment *index)
{
    sstore_error error;
    assert_ok(ss_plan_parse("2", 0, &index->plan, &error), &error);
    index->tables[1] = index->tables[0];
}
static void spoil_form(ss_manifest_segment *index)
{
    index->kind |= 0x200;
}
static void spoil_kind(ss_manifest_segment *index)
{
    index->kind = SS_SEGMENT_ADDS;
}
static void spoil_upper_bytes(ss_manifest_segment *index)
{
    index->kind |= 0x10000;
}
/* The id column of an index that is not packed, or the lack of one. */
static void spoil_ids(ss_manifest_segment *index)
{
    index->kind ^= SS_ID_INDEX_PACKED;
}

static const struct {
    void (*spoil)(ss_manifest_segment *index);
    sstore_status wanted;
} spoiled_indexes[] = {
    {spoil_nothing, SSTORE_OK},
    {spoil_records, SSTORE_ERROR_DAMAGED},
    {spoil_block_bytes, SSTORE_ERROR_DAMAGED},
    {spoil_tables, SSTORE_ERROR_DAMAGED},
    {spoil_form, SSTORE_ERROR_UNSUPPORTED},
    {spoil_kind, SSTORE_ERROR_UNSUPPORTED},
    {spoil_upper_bytes, SSTORE_ERROR_UNSUPPORTED},
    {spoil_ids, SSTORE_ERROR_DAMAGED},
};

static void test_id_indexes(void **state)
{
    rng random = rng_seeded(run_seed + 6);
    ss_dir dir = open_scratch();
    for (uint32_t i = 0; i < 2 * 3 * sizeof spoiled_indexes / sizeof *spoiled_indexes; i++) {
        const uint32_t segments = i / 2 % 3 + 1, spoiled = i / 6;
        ss_manifest made = make_manifest_with_id_index(&random, i % 2 == 0, segments), got;
        ss_manifest_segment *index = made.segments[segments - 1].indexes;
        sstore_error error = {.status = SSTORE_OK};
        testing_doing("%s index, %u segments, change %u", i % 2 == 0 ? "a packed" : "another", segments, spoiled);
        spoiled_indexes[spoiled].spoil(index);
        index->segment_id = ss_segment_id(index);
        file_bytes content = write_manifest(&made);
        const sstore_status status = ss_manifest_read(&dir, &got, &error);
        assert_status(status, spoiled_indexes[spoiled].wanted, &error);
        if (status == SSTORE_OK) {
            check_manifest(&got, &made);
            assert_int_equal(ss_manifest_entry_count(&got), 2 * segments);
            ss_manifest_free(&got);
        }
        file_bytes_free(&content);
        free_made(&made);
    }
    ss_dir_close(&dir);
    testing_done();
}

/* ----- names ----- */

static void spoil_name_count(ss_manifest_segment *names)
{
    names->record_count++;
}
static void spoil_many_names(ss_manifest_segment *names)
{
    names->record_count = names->distinct_count = 1001; /* the segment has 1000 records */
}
static void spoil_name_blocks(ss_manifest_segment *names)
{
    names->ids.block_count = 0;
}
static void spoil_few_bits(ss_manifest_segment *names)
{
    names->kind = SS_SEGMENT_NAMES | 9 << 8; /* numbers below 512 */
}
static void spoil_many_bits(ss_manifest_segment *names)
{
    names->kind = SS_SEGMENT_NAMES | (SS_MAX_NUMBER_BITS + 1) << 8;
}

static const struct {
    void (*spoil)(ss_manifest_segment *names);
    sstore_status wanted;
} spoiled_names[] = {
    {spoil_nothing, SSTORE_OK},
    {spoil_name_count, SSTORE_ERROR_DAMAGED},
    {spoil_many_names, SSTORE_ERROR_DAMAGED},
    {spoil_name_blocks, SSTORE_ERROR_DAMAGED},
    {spoil_few_bits, SSTORE_ERROR_DAMAGED},
    {spoil_many_bits, SSTORE_ERROR_DAMAGED},
    {spoil_block_bytes, SSTORE_ERROR_DAMAGED},
    {spoil_tables, SSTORE_ERROR_DAMAGED},
    {spoil_kind, SSTORE_ERROR_UNSUPPORTED},
    {spoil_upper_bytes, SSTORE_ERROR_UNSUPPORTED},
};

static void test_names(void **state)
{
    rng random = rng_seeded(run_seed + 7);
    ss_dir dir = open_scratch();
    for (uint32_t i = 0; i < 3 * sizeof spoiled_names / sizeof *spoiled_names; i++) {
        const uint32_t segments = i % 3 + 1, spoiled = i / 3;
        ss_manifest made = make_manifest_with_names(&random, segments), got;
        ss_manifest_segment *names = &made.segments[segments - 1].indexes[1];
        sstore_error error = {.status = SSTORE_OK};
        testing_doing("%u segments, change %u", segments, spoiled);
        spoiled_names[spoiled].spoil(names);
        names->segment_id = ss_segment_id(names);
        file_bytes content = write_manifest(&made);
        const sstore_status status = ss_manifest_read(&dir, &got, &error);
        assert_status(status, spoiled_names[spoiled].wanted, &error);
        if (status == SSTORE_OK) {
            check_manifest(&got, &made);
            assert_int_equal(ss_manifest_entry_count(&got), 3 * segments);
            ss_manifest_free(&got);
        }
        file_bytes_free(&content);
        free_made(&made);
    }
    ss_dir_close(&dir);
    testing_done();
}

static void test_recipes(void **state)
{
    rng random = rng_seeded(run_seed + 1);
    ss_dir dir = open_scratch();
    for (size_t length = 0; length <= SS_MAX_RECIPE_BYTES + 1; length += length < 18 ? 1 : 1359) {
        ss_manifest made = make_manifest(&random, "2", true, 1), got;
        sstore_error error = {.status = SSTORE_OK};
        testing_doing("a recipe of %zu bytes", length);
        free(made.recipe);
        made.recipe = malloc(length + 1);
        memset(made.recipe, 0xc3, length);
        made.recipe[length] = '\0';
        file_bytes content = write_manifest(&made);
        if (length > SS_MAX_RECIPE_BYTES) {
            assert_status(ss_manifest_read(&dir, &got, &error), SSTORE_ERROR_DAMAGED, &error);
        } else {
            assert_ok(ss_manifest_read(&dir, &got, &error), &error);
            assert_string_equal(got.recipe, made.recipe);
            ss_manifest_free(&got);
        }
        file_bytes_free(&content);
        free_made(&made);
    }
    ss_dir_close(&dir);
    testing_done();
}

/* The maximum number of segments, and one more. */
static void test_max_segments(void **state)
{
    rng random = rng_seeded(run_seed + 2);
    for (uint32_t count = SS_MAX_SEGMENTS; count <= SS_MAX_SEGMENTS + 1; count++) {
        ss_manifest made = make_manifest(&random, "1", false, count);
        file_bytes content = write_manifest(&made);
        sstore_error error;
        assert_status(decode(content.data, content.size, &error),
                      count <= SS_MAX_SEGMENTS ? SSTORE_OK : SSTORE_ERROR_DAMAGED, &error);
        file_bytes_free(&content);
        free_made(&made);
    }
}

/* Segments with word indexes, which count. Most of a large manifest is never decoded, so it takes little memory. */
static void test_max_indexes(void **state)
{
    rng random = rng_seeded(run_seed + 4);
    const uint32_t words = SSTORE_MAX_WORDS, max = SS_MAX_SEGMENTS / (1 + words);
    for (uint32_t count = max; count <= 4 * max; count += count == max ? 1 : max) {
        ss_manifest made = make_wide_manifest(&random, words, count);
        file_bytes content = write_manifest(&made);
        sstore_error error;
        const sstore_status status = decode(content.data, content.size, &error);
        assert_status(status, count == max ? SSTORE_OK : SSTORE_ERROR_DAMAGED, &error);
        if (count > max)
            assert_non_null(strstr(error.message, "too many indexes"));
        file_bytes_free(&content);
        free_made(&made);
    }
}

/* The new one replaces the old one, also if a killed writer left its own. */
static void test_replacing(void **state)
{
    rng random = rng_seeded(run_seed + 3);
    ss_dir dir = open_scratch();
    file_save(scratch_path(SS_MANIFEST_NEW_NAME), "left over", 9);
    for (uint32_t segments = 1; segments <= 3; segments++) {
        ss_manifest made = make_manifest(&random, "4", true, segments), got;
        sstore_error error = {.status = SSTORE_OK};
        file_bytes content = write_manifest(&made);
        assert_ok(ss_manifest_read(&dir, &got, &error), &error);
        check_manifest(&got, &made);
        ss_manifest_free(&got);
        file_bytes_free(&content);
        free_made(&made);
    }
    ss_dir_close(&dir);
}

static void test_metadata_of_files(void **state)
{
    rng random = rng_seeded(run_seed + 4);
    ss_manifest_segment segment;
    make_segment(&random, "3", 3, true, &segment);
    for (uint32_t i = 0; i <= 3; i++) {
        const uint32_t number = i == 3 ? SS_IDS_NUMBER : i;
        const ss_manifest_file *file = i == 3 ? &segment.ids : &segment.tables[i];
        const ss_block_file_metadata facts = ss_manifest_file_metadata(&segment, number);
        assert_int_equal(facts.number, number);
        assert_int_equal(facts.block_bytes, segment.block_bytes);
        assert_int_equal(facts.block_count, file->block_count);
        assert_true(ss_u128_equal(facts.segment_id, segment.segment_id));
        assert_true(ss_u128_equal(facts.header_checksum, file->header_checksum));
    }
}

/* ----- damage ----- */

static file_bytes make_content(uint32_t segment_count)
{
    rng random = rng_seeded(run_seed + 5);
    ss_manifest made = make_manifest(&random, "2", true, segment_count);
    file_bytes content = write_manifest(&made);
    free_made(&made);
    return content;
}

static void test_every_flipped_bit_is_refused(void **state)
{
    file_bytes content = make_content(2);
    for (size_t bit = 0; bit < 8 * content.size; bit++) {
        sstore_error error;
        testing_doing("bit %zu of byte %zu flipped", bit % 8, bit / 8);
        content.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_status(decode(content.data, content.size, &error), SSTORE_ERROR_DAMAGED, &error);
        content.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    sstore_error error;
    assert_ok(decode(content.data, content.size, &error), &error);
    file_bytes_free(&content);
    testing_done();
}

/* Cut to every length or extended: also with updated size and checksum. */
static void test_other_sizes_are_refused(void **state)
{
    file_bytes content = make_content(2);
    file_bytes part = {.data = calloc(1, content.size + 4096)};
    for (size_t size = 0; size < content.size + 300; size++) {
        sstore_error error;
        if (size == content.size)
            continue;
        testing_doing("%zu bytes instead of %zu", size, content.size);
        memcpy(part.data, content.data, content.size);
        part.size = size;
        assert_status(decode(part.data, size, &error), SSTORE_ERROR_DAMAGED, &error);
        if (size < MANIFEST_FIXED + CHECKSUM_BYTES)
            continue;
        sign(&part);
        assert_true(decode(part.data, size, &error) != SSTORE_OK);
    }
    file_bytes_free(&part);
    file_bytes_free(&content);
    testing_done();
}

/* A field with another value under a right checksum. */
typedef struct changed_field {
    size_t at, width;
    uint64_t value;
    sstore_status wanted;
} changed_field;

static const changed_field changed_fields[] = {
    {0, 1, 'S', SSTORE_ERROR_DAMAGED}, /* the magic */
    {7, 1, 'n', SSTORE_ERROR_DAMAGED},
    {MANIFEST_VERSION, 4, SS_FORMAT_VERSION + 1, SSTORE_ERROR_UNSUPPORTED},
    {MANIFEST_VERSION, 4, SS_FORMAT_VERSION - 1, SSTORE_ERROR_UNSUPPORTED},
    {MANIFEST_VERSION, 4, 0, SSTORE_ERROR_UNSUPPORTED},
    {MANIFEST_VERSION, 4, UINT32_MAX, SSTORE_ERROR_UNSUPPORTED},
    {MANIFEST_REQUIRED, 8, 1, SSTORE_ERROR_UNSUPPORTED},
    {MANIFEST_REQUIRED, 8, UINT64_C(1) << 63, SSTORE_ERROR_UNSUPPORTED},
    {MANIFEST_OPTIONAL, 8, UINT64_MAX, SSTORE_OK},
    {MANIFEST_BITS, 4, 65, SSTORE_ERROR_UNSUPPORTED},
    {MANIFEST_BITS, 4, 0, SSTORE_ERROR_UNSUPPORTED},
    {MANIFEST_BITS, 4, 1088, SSTORE_ERROR_UNSUPPORTED},
    {MANIFEST_BITS, 4, 128, SSTORE_ERROR_UNSUPPORTED}, /* by the column bits of its segments */
    {MANIFEST_BITS, 4, 0, SSTORE_ERROR_UNSUPPORTED},
    {MANIFEST_DISTANCE, 4, 4, SSTORE_ERROR_DAMAGED}, /* not the k of the segment's id */
    {MANIFEST_DISTANCE, 4, SSTORE_MAX_BUILD_DISTANCE + 1, SSTORE_ERROR_DAMAGED},
    {MANIFEST_DISTANCE, 4, UINT32_MAX, SSTORE_ERROR_DAMAGED},
    {MANIFEST_FLAGS, 4, 0, SSTORE_ERROR_DAMAGED},  /* without ids the counts do not fit */
    {MANIFEST_FLAGS, 4, 3, SSTORE_OK},             /* the plan was given */
    {MANIFEST_FLAGS, 4, 4, SSTORE_ERROR_DAMAGED},  /* an id index without ids */
    {MANIFEST_FLAGS, 4, 5, SSTORE_ERROR_DAMAGED},  /* the entry of the id index is missing */
    {MANIFEST_FLAGS, 4, 9, SSTORE_ERROR_DAMAGED},  /* names without an id index */
    {MANIFEST_FLAGS, 4, 13, SSTORE_ERROR_DAMAGED}, /* the entries of both are missing */
    {MANIFEST_FLAGS, 4, 17, SSTORE_ERROR_UNSUPPORTED},
    {MANIFEST_FLAGS, 4, UINT32_C(0x80000001), SSTORE_ERROR_UNSUPPORTED},
    {MANIFEST_UNUSED, 4, UINT32_MAX, SSTORE_OK},
    {MANIFEST_NEXT_ID, 8, UINT64_MAX, SSTORE_OK},
    {MANIFEST_RECIPE, 4, SS_MAX_RECIPE_BYTES + 1, SSTORE_ERROR_DAMAGED},
    {MANIFEST_RECIPE, 4, SS_MAX_RECIPE_BYTES, SSTORE_ERROR_DAMAGED}, /* more than there is */
    {MANIFEST_RECIPE, 4, UINT32_MAX, SSTORE_ERROR_DAMAGED},
    {MANIFEST_RECIPE, 4, UINT32_MAX - 6, SSTORE_ERROR_DAMAGED},
    {MANIFEST_RECIPE, 4, 8, SSTORE_ERROR_UNSUPPORTED}, /* the segment begins 8 bytes early: its kind is none */
    {MANIFEST_RECIPE, 4, 16, SSTORE_ERROR_DAMAGED},    /* its last byte is 0 */
    {MANIFEST_RECIPE, 4, 14, SSTORE_OK},
    {MANIFEST_FIXED, 1, 0, SSTORE_ERROR_DAMAGED},
    {MANIFEST_FIXED + 15, 1, 'x', SSTORE_OK}, /* unused */
    {MANIFEST_SEGMENTS, 4, 0, SSTORE_ERROR_DAMAGED},
    {MANIFEST_SEGMENTS, 4, 2, SSTORE_ERROR_DAMAGED},
    {MANIFEST_SEGMENTS, 4, SS_MAX_SEGMENTS + 1, SSTORE_ERROR_DAMAGED},
    {MANIFEST_SEGMENTS, 4, UINT32_MAX, SSTORE_ERROR_DAMAGED},
    /* the segment */
    {AT_SEGMENT + SEGMENT_ID, 8, 1, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + SEGMENT_ID + 8, 8, 1, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + SEGMENT_FOLDER, 8, 1, SSTORE_OK},
    {AT_SEGMENT + SEGMENT_RECORDS, 8, 0, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + SEGMENT_RECORDS, 8, 899, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + SEGMENT_RECORDS, 8, 1001, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + SEGMENT_RECORDS, 8, UINT64_MAX, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + SEGMENT_DISTINCT, 8, 0, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + SEGMENT_DISTINCT, 8, 901, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + SEGMENT_DISTINCT, 8, 1001, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + SEGMENT_CONTENT, 8, 0, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + SEGMENT_BLOCK_BYTES, 4, 0, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + SEGMENT_BLOCK_BYTES, 4, 1024, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + SEGMENT_BLOCK_BYTES, 4, 1 << 17, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + SEGMENT_COLUMN, 4, 0, SSTORE_ERROR_UNSUPPORTED},
    {AT_SEGMENT + SEGMENT_COLUMN, 4, 31, SSTORE_ERROR_UNSUPPORTED},
    {AT_SEGMENT + SEGMENT_COLUMN, 4, 64, SSTORE_ERROR_UNSUPPORTED},
    {AT_SEGMENT + SEGMENT_COLUMN, 4, UINT32_MAX, SSTORE_ERROR_UNSUPPORTED},
    {AT_SEGMENT + SEGMENT_COLUMN, 4, 32, SSTORE_OK},
    {AT_SEGMENT + SEGMENT_DIRECTORY_BYTES, 8, UINT64_MAX, SSTORE_ERROR_DAMAGED}, /* more than its blocks can need */
    {AT_SEGMENT + SEGMENT_DIRECTORY_BYTES, 8, 20480, SSTORE_OK}, /* compared with the file when it is opened */
    {AT_SEGMENT + SEGMENT_DIRECTORY_SUM, 8, 0, SSTORE_OK},
    {AT_SEGMENT + SEGMENT_ID_BLOCKS, 8, 0, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + SEGMENT_ID_BLOCKS, 8, 1001, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + SEGMENT_ID_BLOCKS, 8, SS_MAX_BLOCK_COUNT + 1, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + SEGMENT_ID_HEADER, 8, 0, SSTORE_OK},       /* compared with the file when it is opened */
    {AT_SEGMENT + SEGMENT_KIND, 4, 1, SSTORE_ERROR_DAMAGED}, /* in the segment's id */
    {AT_SEGMENT + SEGMENT_KIND, 4, 2, SSTORE_ERROR_UNSUPPORTED},
    {AT_SEGMENT + SEGMENT_TABLES, 4, 0, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + SEGMENT_TABLES, 4, 1, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + SEGMENT_TABLES, 4, 3, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + SEGMENT_TABLES, 4, 65, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + SEGMENT_TABLES, 4, UINT32_MAX, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + SEGMENT_LMDB_FORMAT, 4, 0, SSTORE_OK}, /* checked when the directory is opened */
    {AT_SEGMENT + SEGMENT_UNUSED, 4, UINT32_MAX, SSTORE_OK},
    /* table 0 */
    {AT_TABLE + TABLE_MASK, 8, UINT64_C(0xffffffff00000001), SSTORE_ERROR_DAMAGED},
    {AT_TABLE + TABLE_MASK, 8, 0, SSTORE_ERROR_DAMAGED},
    {AT_TABLE + TABLE_PREFIX_BITS, 4, 31, SSTORE_ERROR_DAMAGED},
    {AT_TABLE + TABLE_PREFIX_BITS, 4, UINT32_MAX, SSTORE_ERROR_DAMAGED},
    {AT_TABLE + TABLE_RADIUS, 4, 0, SSTORE_ERROR_DAMAGED},
    {AT_TABLE + TABLE_RADIUS, 4, 2, SSTORE_ERROR_DAMAGED},
    {AT_TABLE + TABLE_RADIUS, 4, 65, SSTORE_ERROR_DAMAGED},
    {AT_TABLE + TABLE_RADIUS, 4, UINT32_MAX, SSTORE_ERROR_DAMAGED},
    {AT_TABLE + TABLE_BLOCKS, 8, 0, SSTORE_ERROR_DAMAGED},
    {AT_TABLE + TABLE_BLOCKS, 8, 901, SSTORE_ERROR_DAMAGED},
    {AT_TABLE + TABLE_BLOCKS, 8, UINT64_MAX, SSTORE_ERROR_DAMAGED},
    {AT_TABLE + TABLE_HEADER, 8, 0, SSTORE_OK},
};

/* The error of an older store tells its version, and to rebuild it. */
static void test_older_versions(void **state)
{
    for (uint32_t version = 0; version < SS_FORMAT_VERSION; version++) {
        file_bytes content = make_content(1);
        ss_manifest manifest;
        sstore_error error;
        char wanted[64];
        ss_store_le32(content.data + MANIFEST_VERSION, version);
        ss_store_u128(content.data + content.size - 16, ss_hash128(content.data, content.size - 16));
        snprintf(wanted, sizeof wanted, "has format version %u,", version);
        assert_status(ss_manifest_decode(content.data, content.size, "MANIFEST", &manifest, &error),
                      SSTORE_ERROR_UNSUPPORTED, &error);
        assert_true(strstr(error.message, wanted) != NULL && strstr(error.message, "rebuild it") != NULL);
        file_bytes_free(&content);
    }
}

static void test_changed_fields(void **state)
{
    file_bytes content = make_content(1);
    uint8_t *whole = malloc(content.size);
    memcpy(whole, content.data, content.size);
    for (size_t i = 0; i < sizeof changed_fields / sizeof *changed_fields; i++) {
        const changed_field *field = &changed_fields[i];
        sstore_error error;
        testing_doing("%llx at %zu", (unsigned long long)field->value, field->at);
        memcpy(content.data, whole, content.size);
        for (size_t j = 0; j < field->width; j++)
            content.data[field->at + j] = (uint8_t)(field->value >> (8 * j));
        sign(&content);
        assert_status(decode(content.data, content.size, &error), field->wanted, &error);
    }
    free(whole);
    file_bytes_free(&content);
    testing_done();
}

/* ----- invalid contents, with a matching segment id ----- */

static void drop_ids(ss_manifest *manifest, ss_manifest_segment *segment)
{
    manifest->has_ids = segment->has_ids = false;
    manifest->next_id = 0;
    segment->record_count = segment->distinct_count;
    segment->ids = (ss_manifest_file){.block_count = 0};
}

static void drop_records(ss_manifest_segment *segment)
{
    segment->record_count = segment->distinct_count = 0;
    segment->tables[0].block_count = segment->tables[1].block_count = segment->ids.block_count = 0;
}

/* As many blocks as a file may have, and more records. */
static void set_max_blocks(ss_manifest_segment *segment)
{
    segment->record_count = segment->distinct_count = MAX_BLOCKS + 1000;
    segment->tables[0].block_count = segment->tables[1].block_count = segment->ids.block_count = MAX_BLOCKS;
}

/* The size of a directory of as many values as its blocks allow: one a block, and of table 0 two. */
static uint64_t largest_directory(const ss_manifest_segment *segment)
{
    const ss_manifest_file *tables = segment->tables;
    return (UINT64_C(16) << 20) + 16 * (2 * tables[0].block_count + tables[1].block_count + segment->ids.block_count);
}

/* Change a segment in one way, by number. Returns the change's name, or NULL after the last one. *wanted_out is what
 * a reader of the manifest must return. */
static const char *change_content(uint32_t number, ss_manifest *manifest, ss_manifest_segment *segment,
                                  sstore_status *wanted_out)
{
    ss_plan_table *tables = segment->plan.tables;
    *wanted_out = number < 7 ? SSTORE_OK : SSTORE_ERROR_DAMAGED;
    switch (number) {
    case 0: return "nothing";
    case 1: tables[1].radius = 32; return "a radius larger than needed";
    case 2: drop_ids(manifest, segment); return "no ids";
    case 3: drop_records(segment); return "no records";
    case 4: segment->block_bytes = 65536; return "another block size";
    case 5: segment->directory_bytes = largest_directory(segment); return "the largest directory";
    case 6: set_max_blocks(segment); return "files of the most blocks";
    case 7: tables[1].radius = 0; return "a radius too small";
    case 8: tables[1].radius = 33; return "a radius above its prefix";
    case 9: manifest->distance = segment->plan.distance = 4; return "a distance that the plan does not cover";
    case 10: tables[1].prefix_bits = 31; return "a prefix of another width than its mask";
    case 11: segment->plan.table_count = 0; return "no tables";
    case 12: segment->block_bytes = 131072; return "a block size too large";
    case 13: segment->distinct_count = segment->record_count + 1; return "more fingerprints than records";
    case 14: segment->folder_number = manifest->segments[0].folder_number; return "two segments in one folder";
    case 15:
        tables[0].key_mask = ~tables[0].key_mask;
        tables[1].key_mask = ~tables[1].key_mask;
        return "a permuted table 0";
    case 16:
        drop_ids(manifest, segment);
        manifest->next_id = 1;
        return "no ids, but a next id";
    case 17:
        drop_ids(manifest, segment);
        segment->ids.block_count = 1;
        return "no ids, but blocks of them";
    case 18:
        drop_ids(manifest, segment);
        segment->record_count++;
        return "repeats without ids";
    case 19:
        drop_records(segment);
        segment->tables[1].block_count = 1;
        return "blocks without fingerprints";
    case 20:
        drop_records(segment);
        segment->record_count = 5;
        segment->ids.block_count = 1;
        return "records without fingerprints";
    case 21: segment->directory_bytes = largest_directory(segment) + 1; return "a directory that is larger";
    case 22:
        set_max_blocks(segment);
        segment->tables[1].block_count++;
        return "a table of more blocks";
    case 23:
        set_max_blocks(segment);
        segment->ids.block_count++;
        return "ids of more blocks";
    default: return NULL;
    }
}

static void test_invalid_contents(void **state)
{
    const char *what = "";
    for (uint32_t number = 0; what != NULL; number++) {
        rng random = rng_seeded(run_seed + 6);
        ss_manifest made = make_manifest(&random, "2", true, 2);
        sstore_status wanted;
        sstore_error error;
        for (uint32_t i = 0; i < 2; i++) {
            what = change_content(number, &made, &made.segments[i], &wanted);
            made.segments[i].segment_id = ss_segment_id(&made.segments[i]);
        }
        if (what != NULL) {
            testing_doing("%s", what);
            file_bytes content = write_manifest(&made);
            assert_status(decode(content.data, content.size, &error), wanted, &error);
            assert_status(ss_manifest_check(&made, "some", &error),
                          wanted == SSTORE_OK ? SSTORE_OK : SSTORE_ERROR_ARGUMENT, &error);
            file_bytes_free(&content);
        }
        free_made(&made);
    }
    testing_done();
}

/* ----- plans that are slow to prove ----- */

static uint32_t proof_steps(const ss_plan *plan)
{
    const char *reason;
    ss_steps steps = {.left = UINT32_MAX};
    assert_true(ss_plan_valid(plan, &steps, &reason));
    return (uint32_t)(UINT32_MAX - steps.left);
}

/* Three plans in turn, so that each segment's is proved: as many segments as can be proved, and one more. */
static void test_proofs_end(void **state)
{
    rng random = rng_seeded(run_seed + 8);
    ss_plan plans[3];
    uint32_t count = 0;
    sstore_error error = {.status = SSTORE_OK};
    const uint32_t distance = 15; /* the slowest one of this plan */
    assert_ok(ss_plan_parse("16", distance, &plans[0], &error), &error);
    plans[1] = plans[0];
    plans[1].tables[1].radius++;
    plans[2] = plans[0];
    plans[2].tables[2].radius++;
    const uint32_t steps[3] = {proof_steps(&plans[0]), proof_steps(&plans[1]), proof_steps(&plans[2])};
    for (uint64_t sum = 0; sum <= SS_CALL_STEPS; count++)
        sum += steps[count % 3];
    assert_true(count <= SS_MAX_SEGMENTS);
    ss_manifest made = make_manifest(&random, "16", false, count);
    made.distance = distance;
    for (uint32_t i = 0; i < count; i++) {
        made.segments[i].plan = plans[i % 3];
        made.segments[i].segment_id = ss_segment_id(&made.segments[i]);
    }
    file_bytes content = write_manifest(&made);
    assert_status(decode(content.data, content.size, &error), SSTORE_ERROR_DAMAGED, &error);
    assert_non_null(strstr(error.message, "too long"));
    file_bytes_free(&content);
    made.segment_count--;
    content = write_manifest(&made);
    assert_ok(decode(content.data, content.size, &error), &error);
    file_bytes_free(&content);
    free_made(&made);
}

/* ----- files that are not manifests ----- */

static void check_read(sstore_status wanted)
{
    ss_dir dir = open_scratch();
    ss_manifest manifest;
    sstore_error error = {.status = SSTORE_OK};
    assert_status(ss_manifest_read(&dir, &manifest, &error), wanted, &error);
    assert_non_null(strstr(error.message, SS_MANIFEST_NAME));
    ss_dir_close(&dir);
}

static void test_strange_files(void **state)
{
    const char *path = scratch_path(SS_MANIFEST_NAME), *other = scratch_path("other");
    scratch_remove(path);
    check_read(SSTORE_ERROR_NOT_FOUND);
    file_save(path, "", 0);
    check_read(SSTORE_ERROR_DAMAGED);
    file_save(path, "sstorMAN", 8);
    check_read(SSTORE_ERROR_DAMAGED);
    assert_int_equal(truncate(path, (off_t)1 << 40), 0); /* must not be loaded */
    check_read(SSTORE_ERROR_DAMAGED);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(symlink(other, path), 0);
    check_read(SSTORE_ERROR_DAMAGED);
    scratch_remove(path);
    assert_int_equal(mkfifo(path, 0666), 0); /* must not block the call */
    check_read(SSTORE_ERROR_DAMAGED);
    scratch_remove(path);
    assert_int_equal(mkdir(path, 0777), 0);
    check_read(SSTORE_ERROR_DAMAGED);
    scratch_remove(path);
    scratch_remove(other);
}

/* ----- sums and ids ----- */

static void test_content_sum(void **state)
{
    ss_u128 forward = {0, 0}, backward = {0, 0}, keys = {0, 0}, other_ids = {0, 0};
    for (uint64_t i = 0; i < 100; i++) {
        ss_content_add(&forward, true, rng_mix(i), i);
        ss_content_add(&backward, true, rng_mix(99 - i), 99 - i);
        ss_content_add(&keys, false, rng_mix(i), i);
        ss_content_add(&other_ids, false, rng_mix(i), 7 * i);
    }
    assert_true(ss_u128_equal(forward, backward));
    assert_true(ss_u128_equal(keys, other_ids));
    assert_false(ss_u128_equal(forward, keys));
    uint8_t record[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    ss_u128 one = {0, 0};
    ss_content_add(&one, true, UINT64_C(0x0807060504030201), UINT64_C(0x100f0e0d0c0b0a09));
    assert_true(ss_u128_equal(one, ss_hash128(record, sizeof record)));
}

static void test_sums_carry(void **state)
{
    const ss_u128 sum = ss_u128_add((ss_u128){.low = UINT64_MAX, .high = 1}, (ss_u128){.low = 2, .high = UINT64_MAX});
    assert_int_equal(sum.low, 1);
    assert_int_equal(sum.high, 1);
}

/* The id depends on everything that determines the files' bytes, and on nothing else. */
static void test_segment_id(void **state)
{
    rng random = rng_seeded(run_seed + 7);
    ss_manifest_segment segment, changed;
    make_segment(&random, "3", 3, true, &segment);
    const ss_u128 id = segment.segment_id;
    uint64_t *const wide[] = {&changed.content_sum.low, &changed.content_sum.high, &changed.record_count,
                              &changed.distinct_count, &changed.plan.tables[2].key_mask};
    uint32_t *const narrow[] = {&changed.block_bytes, &changed.plan.distance, &changed.plan.table_count,
                                &changed.plan.tables[1].prefix_bits};
    for (size_t i = 0; i < 5; i++) {
        changed = segment;
        *wide[i] ^= UINT64_C(1) << 40;
        assert_false(ss_u128_equal(ss_segment_id(&changed), id));
    }
    for (size_t i = 0; i < 4; i++) {
        changed = segment;
        *narrow[i] ^= 1;
        assert_false(ss_u128_equal(ss_segment_id(&changed), id));
    }
    changed = segment;
    changed.plan.tables[0].radius++;
    assert_false(ss_u128_equal(ss_segment_id(&changed), id));
    changed = segment;
    changed.has_ids = false;
    assert_false(ss_u128_equal(ss_segment_id(&changed), id));
    changed = segment;
    changed.words = 2;
    assert_false(ss_u128_equal(ss_segment_id(&changed), id));
    changed = segment;
    changed.folder_number = changed.directory_bytes = changed.ids.block_count = changed.tables[0].block_count = 1;
    changed.segment_id.low = changed.directory_checksum.low = changed.lmdb_format = 0;
    assert_true(ss_u128_equal(ss_segment_id(&changed), id));
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_round_trip, testing_teardown),
        cmocka_unit_test_teardown(test_id_indexes, testing_teardown),
        cmocka_unit_test_teardown(test_names, testing_teardown),
        cmocka_unit_test_teardown(test_recipes, testing_teardown),
        cmocka_unit_test(test_max_segments),
        cmocka_unit_test(test_max_indexes),
        cmocka_unit_test(test_replacing),
        cmocka_unit_test(test_metadata_of_files),
        cmocka_unit_test_teardown(test_every_flipped_bit_is_refused, testing_teardown),
        cmocka_unit_test_teardown(test_other_sizes_are_refused, testing_teardown),
        cmocka_unit_test(test_older_versions),
        cmocka_unit_test_teardown(test_changed_fields, testing_teardown),
        cmocka_unit_test_teardown(test_invalid_contents, testing_teardown),
        cmocka_unit_test(test_proofs_end),
        cmocka_unit_test(test_strange_files),
        cmocka_unit_test(test_content_sum),
        cmocka_unit_test(test_sums_carry),
        cmocka_unit_test(test_segment_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
