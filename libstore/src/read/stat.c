/* stat.c - statistics of an open store, from its manifest, headers and directories. Reads no blocks. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "read/cursor.h"
#include "sstore_statistics.h"

/* Bits of all steps of a table: the entropy of the symbols, the suffixes and the lower halves. */
static double bound_bits(const ss_block_header *header)
{
    uint64_t counts[SS_SYMBOL_COUNT];
    double total = 0, bits = 0;
    ss_symbol_counts(header->h_counts, counts);
    for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++)
        total += (double)counts[h];
    for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++)
        if (counts[h] > 0)
            bits += (double)counts[h] * (log2(total / (double)counts[h]) + ss_suffix_bits(h) + SS_COLUMN_BITS);
    return bits;
}

/* Bits that Rice coding of the gaps takes with the best parameter b: b low bits, the remaining bits of the gap in
 * unary, and a stop bit. The sum of (gap >> b) over all gaps follows from the counts of gaps with a 1 at each bit. */
static double rice_bits(const ss_block_header *header)
{
    double count = (double)header->item_count - 1, best = INFINITY, unary = 0;
    for (uint32_t b = SS_FINGERPRINT_BITS; b-- > 0;) {
        unary = 2 * unary + (double)header->gap_bit_counts[63 - b];
        best = fmin(best, unary + count * (b + 1));
    }
    return best;
}

/* Bits that Elias-Fano coding takes: the low l bits of each, the high ones as a bitmap of n ones and last >> l
 * zeros. */
static double elias_fano_bits(double count, uint64_t last)
{
    double best = INFINITY;
    for (uint32_t low = 0; low < SS_FINGERPRINT_BITS; low++)
        best = fmin(best, count * (low + 1) + (double)(last >> low));
    return best;
}

static uint64_t file_bytes(uint64_t block_count, uint32_t block_bytes)
{
    return SS_HEADER_BYTES + block_count * block_bytes;
}

sstore_status sstore_stat_table(const sstore *store, uint32_t segment, uint32_t table,
                                sstore_table_statistics *statistics_out, sstore_error *error)
{
    const ss_table_place place = ss_table_find(store, segment, table);
    if (statistics_out == NULL || place.part == NULL)
        return ss_fail_argument(
            error, "sstore_stat_table: store and statistics_out must not be NULL, and the table must exist");
    const ss_segment *opened = place.part;
    const ss_plan_table *plan = &opened->metadata.plan.tables[place.number];
    const ss_block_header *header = &opened->tables[place.number].blocks.header;
    const ss_array *keys = &opened->tables[place.number].keys.keys;
    const double count = (double)header->item_count;
    const uint64_t last = keys->count > 0 ? ss_array_at(keys, keys->count - 1) : 0;
    sstore_table_statistics statistics = {
        .key_mask = plan->key_mask,
        .prefix_bits = plan->prefix_bits,
        .radius = (uint32_t)plan->radius,
        .block_count = header->block_count,
        .file_bytes = file_bytes(header->block_count, header->block_bytes),
        .directory_bytes = ss_table_directory_bytes(opened, place.number),
        .word = place.word,
    };
    if (header->item_count > 0) {
        statistics.bits_per_fingerprint = 8.0 * (double)(statistics.file_bytes + statistics.directory_bytes) / count;
        statistics.bound_bits_per_fingerprint = bound_bits(header) / count;
        statistics.elias_fano_bits_per_fingerprint = elias_fano_bits(count, last) / count;
        statistics.rice_bits_per_fingerprint = rice_bits(header) / count;
    }
    memcpy(statistics.difference_counts, header->h_counts, sizeof statistics.difference_counts);
    memcpy(statistics.code_lengths, header->code_lengths, sizeof statistics.code_lengths);
    return ss_give_result(statistics_out, &statistics, sizeof statistics, SS_TABLE_STATISTICS_SIZE_1, error);
}

/* Write the name of the program that wrote a segment. */
static void name_writer(uint32_t writer, char *name, size_t capacity)
{
    const uint32_t major = writer >> 16 & 0xff, minor = writer >> 8 & 0xff, patch = writer & 0xff;
    if (writer >> 24 == SS_WRITER_SSTORE)
        snprintf(name, capacity, "sstore %u.%u.%u", major, minor, patch);
    else if (writer != 0)
        snprintf(name, capacity, "writer %u, %u.%u.%u", writer >> 24, major, minor, patch);
    else
        name[0] = '\0';
}

static uint64_t sum_tables(const ss_manifest_segment *part)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < part->plan.table_count; i++)
        bytes += file_bytes(part->tables[i].block_count, part->block_bytes);
    return bytes;
}

/* The index of a word of a segment: of one word the segment itself. NULL if there is none. */
static const ss_segment *find_index(const ss_segment *segment, uint32_t word)
{
    if (segment->metadata.words == 1)
        return word == 0 ? segment : NULL;
    return word < segment->index_count ? segment->indexes[word] : NULL;
}

sstore_status sstore_stat_word(const sstore *store, uint32_t segment, uint32_t word,
                               sstore_word_statistics *statistics_out, sstore_error *error)
{
    const bool is_segment = store != NULL && segment < store->manifest.segment_count;
    const ss_segment *index = is_segment ? find_index(store->segments[segment], word) : NULL;
    if (statistics_out == NULL || index == NULL)
        return ss_fail_argument(error, "sstore_stat_word: store and statistics_out must not be NULL, and the segment "
                                       "must have an index of the word");
    const ss_manifest_segment *metadata = &index->metadata;
    const bool is_whole = store->manifest.words == 1;
    sstore_word_statistics statistics = {
        .radius = is_whole ? (int32_t)store->manifest.distance : ss_word_index_radius(metadata->kind),
        .table_count = metadata->plan.table_count,
    };
    (void)ss_plan_format(&metadata->plan, statistics.plan, sizeof statistics.plan);
    return ss_give_result(statistics_out, &statistics, sizeof statistics, SS_WORD_STATISTICS_SIZE_1, error);
}

static void fill_segment(const ss_segment *segment, bool has_ids, sstore_segment_statistics *to)
{
    const ss_manifest_segment *metadata = &segment->metadata;
    const uint32_t block_bytes = metadata->block_bytes;
    *to = (sstore_segment_statistics){
        .is_removal = ss_segment_removes(segment),
        .record_count = metadata->record_count,
        .distinct_count = metadata->distinct_count,
        .table_count = metadata->plan.table_count,
        .block_bytes = block_bytes,
        .ids_block_count = has_ids ? metadata->ids.block_count : 0,
        .ids_bytes = has_ids ? file_bytes(metadata->ids.block_count, block_bytes) : 0,
        .directory_bytes = metadata->directory_bytes,
    };
    const uint64_t table_bytes = sum_tables(metadata);
    *(metadata->words == 1 ? &to->tables_bytes : &to->fingerprints_bytes) = table_bytes;
    if (metadata->words > 1)
        to->table_count = 0;
    for (uint32_t i = 0; i < segment->index_count; i++) {
        const ss_manifest_segment *index = &segment->indexes[i]->metadata;
        to->table_count += index->plan.table_count;
        to->tables_bytes += sum_tables(index);
        to->ranks_bytes += file_bytes(index->ids.block_count, block_bytes);
        to->directory_bytes += index->directory_bytes;
    }
    if (segment->id_index != NULL) {
        const ss_manifest_segment *index = &segment->id_index->metadata;
        to->id_index_bytes = sum_tables(index);
        if (index->has_ids)
            to->id_index_bytes += file_bytes(index->ids.block_count, block_bytes);
        to->directory_bytes += index->directory_bytes;
    }
    if (segment->names != NULL) {
        const ss_manifest_segment *names = &segment->names->metadata;
        to->name_count = names->record_count;
        to->names_bytes = file_bytes(names->ids.block_count, block_bytes);
        to->name_index_bytes = sum_tables(names);
        to->directory_bytes += names->directory_bytes;
    }
    to->total_bytes = to->tables_bytes + to->fingerprints_bytes + to->ranks_bytes + to->ids_bytes + to->id_index_bytes +
                      to->names_bytes + to->name_index_bytes + to->directory_bytes;
    ss_folder_name(to->folder, SS_SEGMENT_PREFIX, metadata->folder_number);
    name_writer(metadata->writer, to->writer, sizeof to->writer);
}

sstore_status sstore_stat_segment(const sstore *store, uint32_t segment, sstore_segment_statistics *statistics_out,
                                  sstore_error *error)
{
    sstore_segment_statistics statistics;
    if (store == NULL || statistics_out == NULL || segment >= store->manifest.segment_count)
        return ss_fail_argument(
            error, "sstore_stat_segment: store and statistics_out must not be NULL, and the segment must exist");
    fill_segment(store->segments[segment], store->manifest.has_ids, &statistics);
    return ss_give_result(statistics_out, &statistics, sizeof statistics, SS_SEGMENT_STATISTICS_SIZE_1, error);
}

sstore_status sstore_stat(const sstore *store, sstore_statistics *statistics_out, sstore_error *error)
{
    if (store == NULL || statistics_out == NULL)
        return ss_fail_argument(error, "sstore_stat: store and statistics_out must not be NULL");
    const ss_manifest *manifest = &store->manifest;
    const ss_manifest_totals totals = ss_manifest_count(manifest);
    sstore_statistics statistics = {
        .record_count = totals.record_count,
        .removed_count = totals.removed_count,
        .segment_count = manifest->segment_count,
        .fingerprint_bits = SS_WORD_BITS * manifest->words,
        .distance = manifest->distance,
        .has_ids = manifest->has_ids,
        .has_id_index = manifest->has_id_index,
        .has_names = manifest->has_names,
        .next_id = manifest->next_id,
        .manifest_bytes = manifest->identity.size,
        .memory_bytes = ss_store_memory_bytes(manifest, store->options.io) +
                        ss_cursor_bytes(manifest, store->options.io),
        .total_bytes = ss_manifest_total_bytes(manifest),
    };
    uint64_t largest = 0;
    for (uint32_t i = 0; i < manifest->segment_count; i++) {
        sstore_segment_statistics segment;
        fill_segment(store->segments[i], manifest->has_ids, &segment);
        statistics.distinct_count += segment.is_removal ? 0 : segment.distinct_count;
        statistics.tables_bytes += segment.tables_bytes;
        statistics.fingerprints_bytes += segment.fingerprints_bytes;
        statistics.ranks_bytes += segment.ranks_bytes;
        statistics.ids_bytes += segment.ids_bytes;
        statistics.ids_block_count += segment.ids_block_count;
        statistics.id_index_bytes += segment.id_index_bytes;
        statistics.name_count += segment.name_count;
        statistics.names_bytes += segment.names_bytes;
        statistics.name_index_bytes += segment.name_index_bytes;
        statistics.directory_bytes += segment.directory_bytes;
        if (i == 0 || (!segment.is_removal && segment.record_count > largest)) {
            statistics.largest_segment = i;
            statistics.table_count = segment.table_count;
            statistics.block_bytes = segment.block_bytes;
        }
        largest = segment.is_removal ? largest : ss_max_u64(largest, segment.record_count);
    }
    ss_printable(manifest->recipe, statistics.recipe, sizeof statistics.recipe);
    return ss_give_result(statistics_out, &statistics, sizeof statistics, SS_STATISTICS_SIZE_1, error);
}

const char *sstore_recipe(const sstore *store)
{
    return store != NULL ? store->manifest.recipe : NULL;
}
