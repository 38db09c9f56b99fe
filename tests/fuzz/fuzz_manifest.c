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

/* What was accepted must hold what the readers of a manifest rely on. */
static void check_accepted(const ss_manifest *manifest)
{
    const char *reason;
    FUZZ_CHECK(manifest->distance <= SSTORE_MAX_BUILD_DISTANCE && manifest->recipe != NULL);
    FUZZ_CHECK(strlen(manifest->recipe) <= SS_MAX_RECIPE_BYTES && manifest->segment_count <= SS_MAX_SEGMENTS);
    for (uint32_t i = 0; i < manifest->segment_count; i++) {
        const ss_manifest_segment *segment = &manifest->segments[i];
        FUZZ_CHECK(ss_block_bytes_valid(segment->block_bytes) && ss_plan_valid(&segment->plan, NULL, &reason));
        FUZZ_CHECK(segment->distinct_count <= segment->record_count);
        FUZZ_CHECK(segment->tables[0].block_count <= segment->distinct_count);
    }
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
static size_t identify_segment(uint8_t *bytes, size_t left, uint32_t distance, bool has_ids)
{
    ss_manifest_segment segment = {.plan = {.distance = distance}};
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
    ss_store_u128(bytes, ss_segment_id(&segment, has_ids));
    return SEGMENT_BYTES + tables * TABLE_BYTES;
}

static void identify_segments(uint8_t *bytes, size_t size)
{
    const uint64_t recipe = ((uint64_t)ss_load_le32(bytes + 56) + 7) / 8 * 8;
    const uint32_t distance = ss_load_le32(bytes + 36), count = ss_load_le32(bytes + 60);
    const bool has_ids = (ss_load_le32(bytes + 40) & 1) != 0;
    size_t end = size - CHECKSUM_BYTES;
    if (64 + recipe > end)
        return;
    size_t at = 64 + (size_t)recipe, step = 1;
    for (uint32_t i = 0; i < count && step > 0; i++, at += step)
        step = identify_segment(bytes + at, end - at, distance, has_ids);
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
