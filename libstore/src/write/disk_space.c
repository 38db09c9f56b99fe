#include "write/disk_space.h"

#include <errno.h>
#include <math.h>

#include "base/error.h"
#include "codec/rows.h"
#include "plan/cost.h"

/* The expected bytes of a segment. */
typedef struct segment_bytes {
    double first, total; /* of table 0 and the ids, and of all files */
    double key_bytes;    /* of an item that is sorted for another table or an index; 0: there is none */
} segment_bytes;

/* What names take in a segment: of their text, and beside it. Paths take less. */
#define NAME_SHARE 0.7
#define NAME_BYTES 2.0

/* `plan` is for one word. Without an id index. */
static segment_bytes expect_tables(const ss_segment_spec *spec, const ss_plan *plan, const ss_expected_store *store)
{
    ss_plan_cost cost, index_cost;
    ss_expected_store index = *store;
    ss_plan_cost_init(&cost, plan, store);
    if (spec->words == 1)
        return (segment_bytes){.first = cost.table_bytes / plan->table_count + cost.ids_bytes,
                               .total = cost.total_bytes,
                               .key_bytes = plan->table_count > 1 ? sizeof(uint64_t) : 0};
    const double block_share = (double)spec->block_bytes / ss_rows_capacity(spec->block_bytes, spec->words);
    const double first = store->fingerprint_count * block_share + cost.ids_bytes;
    if (!ss_segment_has_word_indexes(spec))
        return (segment_bytes){.first = first, .total = first};
    index.has_ids = true;
    index.id_bits = 0;
    ss_plan_cost_init(&index_cost, plan, &index);
    return (segment_bytes){.first = first,
                           .total = first + spec->words * index_cost.total_bytes,
                           .key_bytes = sizeof(ss_record)};
}

static segment_bytes expect_segment(const ss_segment_spec *spec, const ss_plan *plan, const ss_expected_store *store)
{
    static const ss_plan one_table = {.table_count = 1, .tables = {{.key_mask = UINT64_MAX, .prefix_bits = 64}}};
    const bool packed = store->id_bits <= 32 && store->record_count <= 0x1p32;
    const ss_expected_store index = {.record_count = store->record_count,
                                     .fingerprint_count = store->record_count,
                                     .has_ids = !packed,
                                     .block_bytes = store->block_bytes};
    segment_bytes expected = expect_tables(spec, plan, store);
    ss_plan_cost cost;
    if (!ss_segment_has_id_index(spec))
        return expected;
    ss_plan_cost_init(&cost, &one_table, &index);
    expected.total += cost.total_bytes; /* of dense ids it takes less */
    if (ss_segment_has_names(spec)) {   /* their index is packed, as that of dense ids; names may become longer */
        expected.total += cost.total_bytes + NAME_SHARE * (double)spec->name_bytes;
        expected.total += NAME_BYTES * store->record_count;
    }
    expected.key_bytes = fmax(expected.key_bytes, packed ? sizeof(uint64_t) : sizeof(ss_record));
    return expected;
}

/* The bytes that `count` items spill: 0 if they fit into memory, otherwise nearly all. Buckets that are partitioned
 * again are on the disk twice for a moment. */
static double spilled_bytes(double count, double item_bytes, const ss_sort_memory *memory)
{
    const double bytes = count * item_bytes, twice = 1.01, filled = 0.9;
    return bytes > filled * (double)memory->sorter_bytes ? twice * bytes : 0;
}

/* Does not set the free space. `apart`: items are spilled to another file system. */
static sstore_build_needs estimate(const ss_segment_spec *spec, const ss_plan *plan, const ss_expected_store *store,
                                   bool in_order, bool apart)
{
    const segment_bytes segment = expect_segment(spec, plan, store);
    const double record_bytes = sizeof(uint64_t) * (spec->words + (store->has_ids ? 1.0 : 0));
    const double records = in_order ? 0 : spilled_bytes(store->record_count, record_bytes, &spec->memory);
    const double keys = spilled_bytes(store->fingerprint_count, segment.key_bytes, &spec->memory);
    /* The records stay until table 0 and the ids are written; the keys, of one table or word after the other, until the
     * end. */
    const double with_records = records + segment.first, with_keys = keys + segment.total;
    const double peak = with_records > with_keys ? with_records : with_keys, spilled = records > keys ? records : keys;
    return (sstore_build_needs){.store_bytes = (uint64_t)segment.total,
                                .peak_bytes = (uint64_t)(apart ? segment.total : peak),
                                .tmp_peak_bytes = (uint64_t)(apart ? spilled : 0)};
}

sstore_status ss_build_needs_estimate(const ss_segment_spec *spec, const ss_dir *store, bool in_order,
                                      uint64_t record_count, uint64_t largest_id, sstore_build_needs *needs_out,
                                      sstore_error *error)
{
    const bool apart = spec->tmp_dir != spec->dir && !ss_dir_same_device(spec->tmp_dir, store);
    const ss_expected_store expected = {.record_count = (double)record_count,
                                        .fingerprint_count = (double)record_count,
                                        .has_ids = spec->has_ids,
                                        .id_bits = largest_id > 0 ? 64 - (uint32_t)__builtin_clzll(largest_id) : 0,
                                        .block_bytes = spec->block_bytes};
    ss_plan plan;
    uint64_t tmp_free = 0, store_free;
    sstore_status status = ss_segment_choose_plan(spec, &expected, NULL, &plan, error);
    if (status == SSTORE_OK)
        status = ss_dir_free_bytes(store, &store_free, error);
    if (status == SSTORE_OK && apart)
        status = ss_dir_free_bytes(spec->tmp_dir, &tmp_free, error);
    if (status != SSTORE_OK)
        return status;
    *needs_out = estimate(spec, &plan, &expected, in_order, apart);
    needs_out->free_bytes = store_free;
    needs_out->tmp_free_bytes = tmp_free;
    return SSTORE_OK;
}

static sstore_status check_free(const char *path, uint64_t needed, uint64_t available, sstore_error *error)
{
    const double unit = needed < 1000000000 ? 1e6 : 1e9;
    const char *unit_name = needed < 1000000000 ? "MB" : "GB";
    if (needed <= available)
        return SSTORE_OK;
    return ss_fail(
        error, SSTORE_ERROR_IO, ENOSPC, path, SSTORE_NO_OFFSET,
        "the build needs about %.1f %s of disk here at its peak, and %.1f %s are free; free some, choose another "
        "folder or a plan of fewer tables, or set ignore_free_space",
        (double)needed / unit, unit_name, (double)available / unit, unit_name);
}

sstore_status ss_build_needs_check(const sstore_build_needs *needs, uint64_t spilled_bytes, const char *store_path,
                                   const char *tmp_path, sstore_error *error)
{
    const uint64_t in_tmp = needs->tmp_peak_bytes > 0 ? spilled_bytes : 0, in_store = spilled_bytes - in_tmp;
    const sstore_status status = check_free(store_path, needs->peak_bytes, needs->free_bytes + in_store, error);
    return status == SSTORE_OK ? check_free(tmp_path, needs->tmp_peak_bytes, needs->tmp_free_bytes + in_tmp, error)
                               : status;
}
