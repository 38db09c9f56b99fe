/*
 * fuzz_manifest.c - any bytes as a manifest: as they are, with right size and checksum, and with right segment ids as
 * well, so that the plans behind them are checked.
 */
#include "store/manifest.h"
#include "support/fuzzing.h"

#define CHECKSUM_BYTES 16u
#define MIN_BYTES (64u + CHECKSUM_BYTES)
#define SEGMENT_BYTES 128u
#define TABLE_BYTES 40u

/* A segment of 64-bit fingerprints, or a word index. */
static void check_planned(const ss_manifest_segment *segment)
{
    const char *reason;
    FUZZ_CHECK(ss_plan_valid(&segment->plan, NULL, &reason));
}

static void check_id_index(const ss_manifest *manifest, const ss_manifest_segment *segment,
                           const ss_manifest_segment *index)
{
    const bool packed = ss_id_index_is_packed(index->kind);
    check_planned(index);
    FUZZ_CHECK(manifest->has_ids && index->words == 1 && index->has_ids == !packed);
    FUZZ_CHECK(index->record_count == segment->record_count && index->plan.table_count == 1);
    FUZZ_CHECK(!packed || segment->distinct_count <= UINT64_C(1) << 32);
}

static void check_names(const ss_manifest *manifest, const ss_manifest_segment *segment,
                        const ss_manifest_segment *names)
{
    check_planned(names);
    FUZZ_CHECK(manifest->has_id_index && names->words == 1 && !names->has_ids && names->plan.table_count == 1);
    FUZZ_CHECK(names->record_count <= segment->record_count && names->distinct_count == names->record_count);
    FUZZ_CHECK(names->record_count >> ss_names_number_bits(names->kind) == 0);
}

static void check_segment(const ss_manifest *manifest, const ss_manifest_segment *segment)
{
    uint32_t reach = 0;
    FUZZ_CHECK(ss_block_bytes_valid(segment->block_bytes) && segment->distinct_count <= segment->record_count);
    FUZZ_CHECK(segment->tables[0].block_count <= segment->distinct_count);
    if (manifest->words == 1)
        check_planned(segment);
    else
        FUZZ_CHECK(segment->plan.table_count == 1 && segment->words == manifest->words);
    FUZZ_CHECK((segment->indexes != NULL) == (ss_index_count(segment) > 0));
    for (uint32_t i = 0; i < ss_word_index_count(segment); i++) {
        const ss_manifest_segment *index = &segment->indexes[i];
        check_planned(index);
        FUZZ_CHECK(index->words == 1 && index->has_ids && index->record_count == segment->distinct_count);
        FUZZ_CHECK(ss_block_bytes_valid(index->block_bytes) && index->distinct_count <= index->record_count);
        reach += (uint32_t)(ss_word_index_radius(index->kind) + 1);
    }
    FUZZ_CHECK(ss_word_index_count(segment) == 0 || reach > manifest->distance);
    if (ss_index_count(segment) > ss_word_index_count(segment))
        check_id_index(manifest, segment, &segment->indexes[ss_word_index_count(segment)]);
    if (segment->has_names && segment->kind == SS_SEGMENT_ADDS)
        check_names(manifest, segment, &segment->indexes[ss_names_place(segment)]);
}

/* What was accepted must hold what the readers of a manifest rely on. */
static void check_accepted(const ss_manifest *manifest)
{
    FUZZ_CHECK(manifest->words >= 1 && manifest->words <= SSTORE_MAX_WORDS && manifest->recipe != NULL);
    FUZZ_CHECK(manifest->distance <= SSTORE_MAX_BUILD_DISTANCE * manifest->words);
    FUZZ_CHECK(strlen(manifest->recipe) <= SS_MAX_RECIPE_BYTES);
    FUZZ_CHECK(ss_manifest_entry_count(manifest) <= SS_MAX_SEGMENTS);
    for (uint32_t i = 0; i < manifest->segment_count; i++)
        check_segment(manifest, &manifest->segments[i]);
}

static void check(const uint8_t *bytes, size_t size)
{
    ss_manifest manifest;
    sstore_error error = {.status = SSTORE_OK};
    const sstore_status status = ss_manifest_decode(bytes, size, "fuzz/MANIFEST", &manifest, &error);
    FUZZ_CHECK(error.status == status);
    if (status != SSTORE_OK)
        return;
    check_accepted(&manifest);
    ss_manifest_free(&manifest);
}

static void sign(uint8_t *bytes, size_t size)
{
    ss_store_le32(bytes + 12, (uint32_t)size);
    ss_store_u128(bytes + size - CHECKSUM_BYTES, ss_hash128(bytes, size - CHECKSUM_BYTES));
}

/* Give a segment the id that its fields ask for. Returns its size with its tables; 0 if it does not fit. */
static size_t identify_segment(uint8_t *bytes, size_t left, uint32_t words, uint32_t distance, bool has_ids)
{
    ss_manifest_segment segment = {.words = words, .has_ids = has_ids, .plan = {.distance = distance}};
    if (left < SEGMENT_BYTES)
        return 0;
    const uint32_t tables = ss_load_le32(bytes + 116);
    if (tables > SS_MAX_TABLES || left < SEGMENT_BYTES + tables * TABLE_BYTES)
        return 0;
    segment.kind = ss_load_le32(bytes + 112);
    segment.record_count = ss_load_le64(bytes + 24);
    segment.distinct_count = ss_load_le64(bytes + 32);
    segment.content_sum = ss_load_u128(bytes + 40);
    segment.block_bytes = ss_load_le32(bytes + 56);
    segment.plan.table_count = tables;
    for (uint32_t i = 0; i < tables; i++) {
        const uint8_t *table = bytes + SEGMENT_BYTES + i * TABLE_BYTES;
        segment.plan.tables[i] = (ss_plan_table){.key_mask = ss_load_le64(table),
                                                 .prefix_bits = ss_load_le32(table + 8),
                                                 .radius = (int32_t)ss_load_le32(table + 12)};
    }
    const bool is_id_index = (segment.kind & 0xff) == SS_SEGMENT_ID_INDEX;
    if (is_id_index || ss_is_names(segment.kind) || (words > 1 && (segment.kind & 0xff) == SS_SEGMENT_WORD_INDEX)) {
        segment.words = 1;
        segment.has_ids = !ss_is_names(segment.kind) && (!is_id_index || !ss_id_index_is_packed(segment.kind));
        segment.plan.distance = ss_word_index_distance(segment.kind);
    }
    ss_store_u128(bytes, ss_segment_id(&segment));
    return SEGMENT_BYTES + tables * TABLE_BYTES;
}

static void identify_segments(uint8_t *bytes, size_t size)
{
    const uint64_t recipe = ((uint64_t)ss_load_le32(bytes + 56) + 7) / 8 * 8;
    const uint32_t distance = ss_load_le32(bytes + 36), count = ss_load_le32(bytes + 60);
    const uint32_t words = ss_load_le32(bytes + 32) / 64;
    const bool has_ids = (ss_load_le32(bytes + 40) & 1) != 0;
    size_t end = size - CHECKSUM_BYTES;
    if (64 + recipe > end)
        return;
    size_t at = 64 + (size_t)recipe, step = 1;
    for (uint64_t i = 0; i < (uint64_t)count * (3 + (words > 1 ? words : 0)) && step > 0; i++, at += step)
        step = identify_segment(bytes + at, end - at, words, distance, has_ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input input = {.at = data, .left = size};
    uint8_t *bytes = fuzz_take_rest(&input, size);
    check(bytes, size);
    if (size >= MIN_BYTES) {
        sign(bytes, size);
        check(bytes, size);
        identify_segments(bytes, size);
        sign(bytes, size);
        check(bytes, size);
    }
    free(bytes);
    return 0;
}
