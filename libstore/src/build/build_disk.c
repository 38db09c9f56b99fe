#include "build/build_disk.h"

/* What is spilled of `count` items: nothing if they fit into memory, else nearly all. Buckets that are dealt again are
 * there twice for a moment. */
static double spilled_bytes(double count, double item_bytes, const ss_build_memory *memory)
{
    double bytes = count * item_bytes, twice = 1.01, filled = 0.9;
    return bytes > filled * (double)memory->sorter_bytes ? twice * bytes : 0;
}

static uint64_t at_least(double a, double b)
{
    return (uint64_t)(a > b ? a : b);
}

ss_build_disk ss_build_disk_expect(const ss_plan *plan, const ss_expected_store *store, const ss_build_memory *memory,
                                   bool in_order)
{
    ss_plan_figures figures;
    ss_plan_figures_init(&figures, plan, store);
    double record_bytes = store->has_ids ? sizeof(sstore_record) : sizeof(uint64_t);
    double records = in_order ? 0 : spilled_bytes(store->record_count, record_bytes, memory);
    double keys = plan->table_count > 1 ? spilled_bytes(store->fingerprint_count, sizeof(uint64_t), memory) : 0;
    /* The records stay until table 0 and the ids are written, the last table's keys until all is. */
    double with_records = records + figures.table_bytes / plan->table_count + figures.ids_bytes;
    double with_keys = keys + figures.total_bytes;
    return (ss_build_disk){.store_bytes = (uint64_t)figures.total_bytes,
                           .store_peak_bytes = at_least(with_records, with_keys),
                           .spill_peak_bytes = at_least(records, keys)};
}
