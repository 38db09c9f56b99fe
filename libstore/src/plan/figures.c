#include "plan/figures.h"

#include <math.h>

#include "codec/block.h"
#include "plan/cost.h"

/* Frames of files and blocks; format-spec/ has them exactly, here a few bytes do not matter. */
#define FILE_HEADER_BYTES 4096.0
#define BLOCK_FRAME_BITS (8.0 * (SS_BLOCK_HEAD_BYTES + SS_BLOCK_TRAILER_BYTES))
#define GROUP_PADDING_BITS 3.5 /* up to the next whole byte */
#define IDS_FRAME_BYTES 40.0
#define DIRECTORY_KEY_BYTES 8.0
#define DIRECTORY_PAGES_BYTES 32768.0 /* of LMDB's own */
#define HUFFMAN_EXCESS_BITS 0.04      /* over the entropy of h */

/* Of tables that are alike so many are measured in the sample. */
#define MEASURED_TABLES 6u

/* Fingerprints in a full block: groups, each with the upper half of its first one as a distance from the block's first. That
 * distance takes as many bits as a block's share of all fingerprints leaves, and no less than the key. Half of one more does
 * not fit. */
static double count_in_block(const ss_expected_store *store, double bits)
{
    double step_bits = bits + HUFFMAN_EXCESS_BITS, block_bits = store->block_bytes * 8.0;
    double distance_bits = SS_UPPER_BITS - log2(fmax(1, store->fingerprint_count / (block_bits / step_bits)));
    double group_bits = fmax(SS_KEY_BITS, distance_bits) + 4.0 * SS_GROUP_FRAME_BYTES + GROUP_PADDING_BITS + SS_COLUMN_BITS +
                        (SS_GROUP_SIZE - 1) * step_bits;
    return fmax(1, (block_bits - BLOCK_FRAME_BITS) / (group_bits / SS_GROUP_SIZE) - 0.5);
}

/* Ids are in no order. Ordinals are numbers up to the number of records. */
static double count_ids_blocks(const ss_expected_store *store)
{
    double bits = store->id_bits > 0 ? store->id_bits : ceil(log2(fmax(2, store->record_count)));
    bits += store->record_count > store->fingerprint_count ? 1 : 0;
    return store->has_ids ? ceil(store->record_count * bits / 8 / (store->block_bytes - IDS_FRAME_BYTES)) : 0;
}

static void set_sizes(ss_plan_figures *figures, const ss_plan *plan, const ss_expected_store *store, double blocks)
{
    double tables = plan->table_count, ids_blocks = count_ids_blocks(store);
    figures->table_bytes = tables * (FILE_HEADER_BYTES + blocks * store->block_bytes);
    figures->bits = store->fingerprint_count > 0 ? blocks * store->block_bytes * 8 / store->fingerprint_count : 0;
    figures->ids_bytes = store->has_ids ? FILE_HEADER_BYTES + ids_blocks * store->block_bytes : 0;
    /* A key a block, and for each block of table 0 its first rank. */
    figures->directory_bytes = DIRECTORY_PAGES_BYTES + DIRECTORY_KEY_BYTES * ((tables + 1) * blocks + ids_blocks);
    figures->total_bytes = figures->table_bytes + figures->ids_bytes + figures->directory_bytes;
}

static bool has_flips(const ss_plan *plan)
{
    for (uint32_t i = 0; i < plan->table_count; i++)
        if (plan->tables[i].radius > 0)
            return true;
    return false;
}

static void add_probes(ss_plan_figures *figures, const ss_plan *plan, const ss_expected_store *store,
                       const ss_cost_model *model)
{
    double shares[2] = {0};
    uint32_t measured_bits = 0, stride = (plan->table_count + MEASURED_TABLES - 1) / MEASURED_TABLES;
    for (uint32_t i = 0; i < plan->table_count; i++) {
        const ss_plan_table *table = &plan->tables[i];
        if (store->skew != NULL && i % stride == 0) {
            ss_skew_measure(store->skew, table->key_mask, has_flips(plan), shares);
            measured_bits = table->prefix_bits;
        }
        double longer = ldexp(1.0, (int)measured_bits - (int)table->prefix_bits);
        double own[2] = {fmin(1, shares[0] * longer), fmin(1, shares[1] * longer)};
        ss_table_cost cost = ss_table_cost_of(table, table->radius, plan->distance, model, store->skew != NULL ? own : NULL);
        figures->probe_count += cost.probe_count;
        figures->block_count += cost.block_count;
        figures->candidate_count += cost.candidate_count;
        figures->warm_ns += cost.warm_ns;
    }
}

void ss_plan_figures_init(ss_plan_figures *figures, const ss_plan *plan, const ss_expected_store *store)
{
    double in_block = count_in_block(store, ss_expected_bits(store->skew, store->fingerprint_count));
    double blocks = ceil(store->fingerprint_count / in_block);
    const ss_cost_model model = {
        .fingerprint_count = store->fingerprint_count, .block_count = blocks, .io = SSTORE_IO_MMAP};
    const double scan_ns = ss_scan_cost(&model, plan->distance);
    *figures = (ss_plan_figures){.bits = 0};
    set_sizes(figures, plan, store, blocks);
    add_probes(figures, plan, store, &model);
    if (figures->warm_ns >= scan_ns) {
        figures->scans = true;
        figures->probe_count = 0;
        figures->block_count = blocks;
        figures->candidate_count = store->fingerprint_count;
        figures->warm_ns = scan_ns;
    }
    figures->cold_ns = ss_cold_cost(figures->block_count);
}
