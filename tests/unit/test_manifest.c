/* The manifest: read as it was written, and refused with anything changed, cut or impossible. */
#include "store/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/directory.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/testing.h"

/* Where the fields are, by format-spec/sstore-format.md. */
#define AT_VERSION 8
#define AT_SIZE 12
#define AT_REQUIRED 16
#define AT_OPTIONAL 24
#define AT_FINGERPRINT_BITS 32
#define AT_DISTANCE 36
#define AT_FLAGS 40
#define AT_UNUSED 44
#define AT_NEXT_ORDINAL 48
#define AT_RECIPE_BYTES 56
#define AT_SEGMENT_COUNT 60
#define AT_RECIPE 64
#define RECIPE "words shingle=3" /* and one unused byte */
#define AT_SEGMENT (AT_RECIPE + 16)
#define AT_TABLE (AT_SEGMENT + 128)
#define CHECKSUM_BYTES 16

#define MOST_BLOCKS (UINT64_C(1) << 40) /* of a file */

/* ----- what the tests share ----- */

static ss_dir open_scratch(void)
{
    ss_dir dir;
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(ss_dir_open(scratch_folder(), &dir, &error), &error);
    return dir;
}

/* A segment as a build makes it; its id fits its contents. */
static void make_segment(rng *random, const char *plan, uint32_t distance, bool has_ids, ss_manifest_segment *segment)
{
    sstore_error error = {.status = SSTORE_OK};
    *segment = (ss_manifest_segment){.folder_number = rng_next(random),
                                     .record_count = 1000,
                                     .distinct_count = has_ids ? 900 : 1000,
                                     .content_sum = {.low = rng_next(random), .high = rng_next(random)},
                                     .block_bytes = 512,
                                     .directory_bytes = rng_next(random) >> 44,
                                     .directory_sum = {.low = rng_next(random), .high = rng_next(random)},
                                     .lmdb_format = ss_directory_lmdb_format()};
    assert_ok(ss_plan_parse(plan, distance, &segment->plan, &error), &error);
    for (uint32_t i = 0; i < segment->plan.table_count; i++)
        segment->tables[i] = (ss_manifest_file){.block_count = rng_between(random, 1, 900),
                                                .header_checksum = {rng_next(random), rng_next(random)}};
    if (has_ids)
        segment->ids = (ss_manifest_file){.block_count = 17, .header_checksum = {rng_next(random), rng_next(random)}};
    segment->segment_id = ss_segment_id(segment, has_ids);
}

static ss_manifest make_manifest(rng *random, const char *plan, bool has_ids, uint32_t segment_count)
{
    ss_manifest made = {.distance = 3,
                        .has_ids = has_ids,
                        .next_ordinal = has_ids ? 1234567 : 0,
                        .segment_count = segment_count};
    made.recipe = strdup(RECIPE);
    made.segments = calloc(segment_count + 1, sizeof *made.segments);
    for (uint32_t i = 0; i < segment_count; i++)
        make_segment(random, plan, made.distance, has_ids, &made.segments[i]);
    return made;
}

static void free_made(ss_manifest *made)
{
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

/* Decode what must not outlive the call; bytes in memory of exactly their size. */
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

/* Make size and checksum fit, so that what lies behind them is looked at. */
static void sign(file_bytes *content)
{
    const size_t signed_bytes = content->size - CHECKSUM_BYTES;
    ss_store_le32(content->data + AT_SIZE, (uint32_t)content->size);
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
    assert_true(ss_u128_equal(a->directory_sum, b->directory_sum));
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
}

static void check_manifest(const ss_manifest *a, const ss_manifest *b)
{
    assert_int_equal(a->distance, b->distance);
    assert_int_equal(a->has_ids, b->has_ids);
    assert_int_equal(a->next_ordinal, b->next_ordinal);
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

/* As many segments as there can be, and one more. */
static void test_most_segments(void **state)
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

/* The new one takes the old one's place, also where a killed writer left its own. */
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

static void test_facts_about_files(void **state)
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

/* Cut to every length or extended: also where size and checksum are made to fit. */
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
        if (size < AT_RECIPE + CHECKSUM_BYTES)
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
    {AT_VERSION, 4, SS_FORMAT_VERSION + 1, SSTORE_ERROR_UNSUPPORTED},
    {AT_VERSION, 4, SS_FORMAT_VERSION - 1, SSTORE_ERROR_UNSUPPORTED},
    {AT_VERSION, 4, 0, SSTORE_ERROR_UNSUPPORTED},
    {AT_VERSION, 4, UINT32_MAX, SSTORE_ERROR_UNSUPPORTED},
    {AT_REQUIRED, 8, 1, SSTORE_ERROR_UNSUPPORTED},
    {AT_REQUIRED, 8, UINT64_C(1) << 63, SSTORE_ERROR_UNSUPPORTED},
    {AT_OPTIONAL, 8, UINT64_MAX, SSTORE_OK},
    {AT_FINGERPRINT_BITS, 4, 128, SSTORE_ERROR_UNSUPPORTED},
    {AT_FINGERPRINT_BITS, 4, 0, SSTORE_ERROR_UNSUPPORTED},
    {AT_DISTANCE, 4, 4, SSTORE_ERROR_DAMAGED}, /* not the k that the segment's id was made with */
    {AT_DISTANCE, 4, SSTORE_MAX_BUILD_DISTANCE + 1, SSTORE_ERROR_DAMAGED},
    {AT_DISTANCE, 4, UINT32_MAX, SSTORE_ERROR_DAMAGED},
    {AT_FLAGS, 4, 0, SSTORE_ERROR_DAMAGED}, /* without ids the counts do not fit */
    {AT_FLAGS, 4, 3, SSTORE_OK},            /* the plan was given */
    {AT_FLAGS, 4, 5, SSTORE_ERROR_UNSUPPORTED},
    {AT_FLAGS, 4, UINT32_C(0x80000001), SSTORE_ERROR_UNSUPPORTED},
    {AT_UNUSED, 4, UINT32_MAX, SSTORE_OK},
    {AT_NEXT_ORDINAL, 8, UINT64_MAX, SSTORE_OK},
    {AT_RECIPE_BYTES, 4, SS_MAX_RECIPE_BYTES + 1, SSTORE_ERROR_DAMAGED},
    {AT_RECIPE_BYTES, 4, SS_MAX_RECIPE_BYTES, SSTORE_ERROR_DAMAGED}, /* more than there is */
    {AT_RECIPE_BYTES, 4, UINT32_MAX, SSTORE_ERROR_DAMAGED},
    {AT_RECIPE_BYTES, 4, UINT32_MAX - 6, SSTORE_ERROR_DAMAGED},
    {AT_RECIPE_BYTES, 4, 8, SSTORE_ERROR_UNSUPPORTED}, /* the segment begins 8 bytes early: its kind is none */
    {AT_RECIPE_BYTES, 4, 16, SSTORE_ERROR_DAMAGED},    /* its last byte is 0 */
    {AT_RECIPE_BYTES, 4, 14, SSTORE_OK},
    {AT_RECIPE, 1, 0, SSTORE_ERROR_DAMAGED},
    {AT_RECIPE + 15, 1, 'x', SSTORE_OK}, /* unused */
    {AT_SEGMENT_COUNT, 4, 0, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT_COUNT, 4, 2, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT_COUNT, 4, SS_MAX_SEGMENTS + 1, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT_COUNT, 4, UINT32_MAX, SSTORE_ERROR_DAMAGED},
    /* the segment */
    {AT_SEGMENT, 8, 1, SSTORE_ERROR_DAMAGED}, /* its id */
    {AT_SEGMENT + 8, 8, 1, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + 16, 8, 1, SSTORE_OK},            /* its folder */
    {AT_SEGMENT + 24, 8, 0, SSTORE_ERROR_DAMAGED}, /* records */
    {AT_SEGMENT + 24, 8, 899, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + 24, 8, 1001, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + 24, 8, UINT64_MAX, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + 32, 8, 0, SSTORE_ERROR_DAMAGED}, /* distinct fingerprints */
    {AT_SEGMENT + 32, 8, 901, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + 32, 8, 1001, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + 40, 8, 0, SSTORE_ERROR_DAMAGED}, /* content sum */
    {AT_SEGMENT + 56, 4, 0, SSTORE_ERROR_DAMAGED}, /* block size */
    {AT_SEGMENT + 56, 4, 1024, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + 56, 4, 1 << 17, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + 60, 4, 0, SSTORE_ERROR_UNSUPPORTED}, /* width of the column */
    {AT_SEGMENT + 60, 4, 31, SSTORE_ERROR_UNSUPPORTED},
    {AT_SEGMENT + 60, 4, 64, SSTORE_ERROR_UNSUPPORTED},
    {AT_SEGMENT + 60, 4, UINT32_MAX, SSTORE_ERROR_UNSUPPORTED},
    {AT_SEGMENT + 60, 4, 32, SSTORE_OK},
    {AT_SEGMENT + 64, 8, UINT64_MAX, SSTORE_ERROR_DAMAGED}, /* directory: more than its blocks can need */
    {AT_SEGMENT + 64, 8, 20480, SSTORE_OK},                 /* held against the file when it is opened */
    {AT_SEGMENT + 72, 8, 0, SSTORE_OK},
    {AT_SEGMENT + 88, 8, 0, SSTORE_ERROR_DAMAGED}, /* id blocks */
    {AT_SEGMENT + 88, 8, 1001, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + 88, 8, SS_MAX_BLOCK_COUNT + 1, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + 96, 8, 0, SSTORE_OK},             /* header checksum: held against the file */
    {AT_SEGMENT + 112, 4, 1, SSTORE_ERROR_DAMAGED}, /* kind: it is in the segment's id */
    {AT_SEGMENT + 112, 4, 2, SSTORE_ERROR_UNSUPPORTED},
    {AT_SEGMENT + 116, 4, 0, SSTORE_ERROR_DAMAGED}, /* tables */
    {AT_SEGMENT + 116, 4, 1, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + 116, 4, 3, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + 116, 4, 65, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + 116, 4, UINT32_MAX, SSTORE_ERROR_DAMAGED},
    {AT_SEGMENT + 120, 4, 0, SSTORE_OK},          /* LMDB format: looked at when the directory is opened */
    {AT_SEGMENT + 124, 4, UINT32_MAX, SSTORE_OK}, /* unused */
    /* table 0 */
    {AT_TABLE, 8, UINT64_C(0xffffffff00000001), SSTORE_ERROR_DAMAGED}, /* key mask */
    {AT_TABLE, 8, 0, SSTORE_ERROR_DAMAGED},
    {AT_TABLE + 8, 4, 31, SSTORE_ERROR_DAMAGED}, /* prefix bits */
    {AT_TABLE + 8, 4, UINT32_MAX, SSTORE_ERROR_DAMAGED},
    {AT_TABLE + 12, 4, 0, SSTORE_ERROR_DAMAGED}, /* radius */
    {AT_TABLE + 12, 4, 2, SSTORE_ERROR_DAMAGED},
    {AT_TABLE + 12, 4, 65, SSTORE_ERROR_DAMAGED},
    {AT_TABLE + 12, 4, UINT32_MAX, SSTORE_ERROR_DAMAGED},
    {AT_TABLE + 16, 8, 0, SSTORE_ERROR_DAMAGED}, /* blocks */
    {AT_TABLE + 16, 8, 901, SSTORE_ERROR_DAMAGED},
    {AT_TABLE + 16, 8, UINT64_MAX, SSTORE_ERROR_DAMAGED},
    {AT_TABLE + 24, 8, 0, SSTORE_OK}, /* header checksum */
};

/* An older store is told to be built again, and which one it is. */
static void test_older_versions(void **state)
{
    for (uint32_t version = 0; version < SS_FORMAT_VERSION; version++) {
        file_bytes content = make_content(1);
        ss_manifest manifest;
        sstore_error error;
        char wanted[64];
        ss_store_le32(content.data + AT_VERSION, version);
        ss_store_u128(content.data + content.size - 16, ss_hash128(content.data, content.size - 16));
        snprintf(wanted, sizeof wanted, "has format version %u,", version);
        assert_status(ss_manifest_decode(content.data, content.size, "MANIFEST", &manifest, &error),
                      SSTORE_ERROR_UNSUPPORTED, &error);
        assert_true(strstr(error.message, wanted) != NULL && strstr(error.message, "build it again") != NULL);
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

/* ----- contents that cannot be true, under a segment id that fits them ----- */

typedef struct impossible {
    const char *what;
    void (*change)(ss_manifest *manifest, ss_manifest_segment *segment);
    sstore_status wanted;
} impossible;

static void change_nothing(ss_manifest *manifest, ss_manifest_segment *segment)
{
}

static void lower_radius(ss_manifest *manifest, ss_manifest_segment *segment)
{
    segment->plan.tables[1].radius = 0;
}

static void raise_radius(ss_manifest *manifest, ss_manifest_segment *segment)
{
    segment->plan.tables[1].radius = 32;
}

static void raise_radius_too_far(ss_manifest *manifest, ss_manifest_segment *segment)
{
    segment->plan.tables[1].radius = 33;
}

static void raise_distance(ss_manifest *manifest, ss_manifest_segment *segment)
{
    manifest->distance = segment->plan.distance = 4;
}

static void swap_tables(ss_manifest *manifest, ss_manifest_segment *segment)
{
    segment->plan.tables[0].key_mask = ~segment->plan.tables[0].key_mask;
    segment->plan.tables[1].key_mask = ~segment->plan.tables[1].key_mask;
}

static void change_prefix(ss_manifest *manifest, ss_manifest_segment *segment)
{
    segment->plan.tables[1].prefix_bits = 31;
}

static void drop_tables(ss_manifest *manifest, ss_manifest_segment *segment)
{
    segment->plan.table_count = 0;
}

static void drop_ids_only(ss_manifest *manifest, ss_manifest_segment *segment)
{
    manifest->has_ids = false;
    segment->record_count = segment->distinct_count;
    segment->ids = (ss_manifest_file){.block_count = 0};
}

static void drop_ids(ss_manifest *manifest, ss_manifest_segment *segment)
{
    drop_ids_only(manifest, segment);
    manifest->next_ordinal = 0;
}

static void keep_id_blocks_without_ids(ss_manifest *manifest, ss_manifest_segment *segment)
{
    drop_ids(manifest, segment);
    segment->ids.block_count = 1;
}

static void repeat_without_ids(ss_manifest *manifest, ss_manifest_segment *segment)
{
    drop_ids(manifest, segment);
    segment->record_count++;
}

static void more_distinct_than_records(ss_manifest *manifest, ss_manifest_segment *segment)
{
    segment->distinct_count = segment->record_count + 1;
}

static void empty_segment(ss_manifest *manifest, ss_manifest_segment *segment)
{
    segment->record_count = segment->distinct_count = 0;
    segment->tables[0].block_count = segment->tables[1].block_count = segment->ids.block_count = 0;
}

static void blocks_without_fingerprints(ss_manifest *manifest, ss_manifest_segment *segment)
{
    empty_segment(manifest, segment);
    segment->tables[1].block_count = 1;
}

static void records_without_fingerprints(ss_manifest *manifest, ss_manifest_segment *segment)
{
    empty_segment(manifest, segment);
    segment->record_count = 5;
    segment->ids.block_count = 1;
}

static void same_folder(ss_manifest *manifest, ss_manifest_segment *segment)
{
    segment->folder_number = manifest->segments[0].folder_number;
}

static void other_block_size(ss_manifest *manifest, ss_manifest_segment *segment)
{
    segment->block_bytes = 65536;
}

static void bad_block_size(ss_manifest *manifest, ss_manifest_segment *segment)
{
    segment->block_bytes = 131072;
}

/* As large as its blocks allow, by the format's limits: one value a block, of table 0 two. */
static void largest_directory(ss_manifest *manifest, ss_manifest_segment *segment)
{
    const uint64_t values = 2 * segment->tables[0].block_count + segment->tables[1].block_count +
                            segment->ids.block_count;
    segment->directory_bytes = ((uint64_t)16 << 20) + 16 * values;
}

static void too_large_directory(ss_manifest *manifest, ss_manifest_segment *segment)
{
    largest_directory(manifest, segment);
    segment->directory_bytes++;
}

/* Of records there are still more. */
static void most_blocks(ss_manifest *manifest, ss_manifest_segment *segment)
{
    segment->record_count = segment->distinct_count = MOST_BLOCKS + 1000;
    segment->tables[0].block_count = segment->tables[1].block_count = segment->ids.block_count = MOST_BLOCKS;
}

static void too_many_blocks(ss_manifest *manifest, ss_manifest_segment *segment)
{
    most_blocks(manifest, segment);
    segment->tables[1].block_count++;
}

static void too_many_id_blocks(ss_manifest *manifest, ss_manifest_segment *segment)
{
    most_blocks(manifest, segment);
    segment->ids.block_count++;
}

static void test_impossible_contents(void **state)
{
    static const impossible cases[] = {
        {"nothing", change_nothing, SSTORE_OK},
        {"a radius too small", lower_radius, SSTORE_ERROR_DAMAGED},
        {"a radius larger than need be", raise_radius, SSTORE_OK},
        {"a radius above its prefix", raise_radius_too_far, SSTORE_ERROR_DAMAGED},
        {"a distance that the plan does not cover", raise_distance, SSTORE_ERROR_DAMAGED},
        {"a permuted table 0", swap_tables, SSTORE_ERROR_DAMAGED},
        {"a prefix of other width than its mask", change_prefix, SSTORE_ERROR_DAMAGED},
        {"no tables", drop_tables, SSTORE_ERROR_DAMAGED},
        {"no ids", drop_ids, SSTORE_OK},
        {"no ids, but a next ordinal", drop_ids_only, SSTORE_ERROR_DAMAGED},
        {"no ids, but blocks of them", keep_id_blocks_without_ids, SSTORE_ERROR_DAMAGED},
        {"repeats without ids", repeat_without_ids, SSTORE_ERROR_DAMAGED},
        {"more fingerprints than records", more_distinct_than_records, SSTORE_ERROR_DAMAGED},
        {"no records", empty_segment, SSTORE_OK},
        {"blocks without fingerprints", blocks_without_fingerprints, SSTORE_ERROR_DAMAGED},
        {"records without fingerprints", records_without_fingerprints, SSTORE_ERROR_DAMAGED},
        {"two segments in one folder", same_folder, SSTORE_ERROR_DAMAGED},
        {"another block size", other_block_size, SSTORE_OK},
        {"a block size too large", bad_block_size, SSTORE_ERROR_DAMAGED},
        {"the largest directory", largest_directory, SSTORE_OK},
        {"a directory that is larger", too_large_directory, SSTORE_ERROR_DAMAGED},
        {"files of the most blocks", most_blocks, SSTORE_OK},
        {"a table of more blocks", too_many_blocks, SSTORE_ERROR_DAMAGED},
        {"ids of more blocks", too_many_id_blocks, SSTORE_ERROR_DAMAGED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rng random = rng_seeded(run_seed + 6);
        ss_manifest made = make_manifest(&random, "2", true, 2);
        sstore_error error;
        testing_doing("%s", cases[i].what);
        for (uint32_t j = 0; j < 2; j++) {
            cases[i].change(&made, &made.segments[j]);
            made.segments[j].segment_id = ss_segment_id(&made.segments[j], made.has_ids);
        }
        file_bytes content = write_manifest(&made);
        assert_status(decode(content.data, content.size, &error), cases[i].wanted, &error);
        assert_status(ss_manifest_check(&made, "some", &error),
                      cases[i].wanted == SSTORE_OK ? SSTORE_OK : SSTORE_ERROR_ARGUMENT, &error);
        file_bytes_free(&content);
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
    assert_ok(ss_plan_parse("16", SSTORE_MAX_BUILD_DISTANCE, &plans[0], &error), &error);
    plans[1] = plans[0];
    plans[1].tables[1].radius++;
    plans[2] = plans[0];
    plans[2].tables[2].radius++;
    const uint32_t steps[3] = {proof_steps(&plans[0]), proof_steps(&plans[1]), proof_steps(&plans[2])};
    for (uint64_t sum = 0; sum <= SS_CALL_STEPS; count++)
        sum += steps[count % 3];
    assert_true(count <= SS_MAX_SEGMENTS);
    ss_manifest made = make_manifest(&random, "16", false, count);
    made.distance = SSTORE_MAX_BUILD_DISTANCE;
    for (uint32_t i = 0; i < count; i++) {
        made.segments[i].plan = plans[i % 3];
        made.segments[i].segment_id = ss_segment_id(&made.segments[i], false);
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

/* ----- files that are none ----- */

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
    assert_int_equal(mkfifo(path, 0666), 0); /* must not be waited for */
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

/* The id depends on what the bytes of the files depend on, and on nothing else. */
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
        assert_false(ss_u128_equal(ss_segment_id(&changed, true), id));
    }
    for (size_t i = 0; i < 4; i++) {
        changed = segment;
        *narrow[i] ^= 1;
        assert_false(ss_u128_equal(ss_segment_id(&changed, true), id));
    }
    changed = segment;
    changed.plan.tables[0].radius++;
    assert_false(ss_u128_equal(ss_segment_id(&changed, true), id));
    assert_false(ss_u128_equal(ss_segment_id(&segment, false), id));
    changed = segment;
    changed.folder_number = changed.directory_bytes = changed.ids.block_count = changed.tables[0].block_count = 1;
    changed.segment_id.low = changed.directory_sum.low = changed.lmdb_format = 0;
    assert_true(ss_u128_equal(ss_segment_id(&changed, true), id));
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_round_trip, testing_teardown),
        cmocka_unit_test_teardown(test_recipes, testing_teardown),
        cmocka_unit_test(test_most_segments),
        cmocka_unit_test(test_replacing),
        cmocka_unit_test(test_facts_about_files),
        cmocka_unit_test_teardown(test_every_flipped_bit_is_refused, testing_teardown),
        cmocka_unit_test_teardown(test_other_sizes_are_refused, testing_teardown),
        cmocka_unit_test(test_older_versions),
        cmocka_unit_test_teardown(test_changed_fields, testing_teardown),
        cmocka_unit_test_teardown(test_impossible_contents, testing_teardown),
        cmocka_unit_test(test_proofs_end),
        cmocka_unit_test(test_strange_files),
        cmocka_unit_test(test_content_sum),
        cmocka_unit_test(test_sums_carry),
        cmocka_unit_test(test_segment_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
