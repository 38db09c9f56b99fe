#include "support/one_lie.h"
#include "support/data.h"

#include "store/directory.h"
#include "store/manifest.h"
#include "support/random.h"
#include "support/slow_block.h"
#include "support/slow_ids.h"
#include "support/store_offsets.h"

#define MOST_RECORDS 256u /* of a segment */
#define MOST_TABLES 64u

/* ----- what stores are made of ----- */

enum { CLUSTERED, DENSE, FEW, UNIFORM, UNIVERSES };

static const uint32_t universe_sizes[UNIVERSES] = {160, 256, 6, 512};
static const uint32_t id_counts[UNIVERSES] = {3, 2, 80, 3};

uint64_t lie_fingerprint(uint32_t universe, uint32_t index)
{
    index %= universe_sizes[universe % UNIVERSES];
    switch (universe % UNIVERSES) {
    case CLUSTERED: {
        rng random = rng_seeded(index);
        return rng_flip(&random, rng_mix(index / 8), index % 8 < 4 ? index % 8 : 1);
    }
    case DENSE: return 1 + 2 * (uint64_t)index;
    case FEW: return index == 0 ? 0 : index == 1 ? UINT64_MAX : rng_mix(7) ^ (UINT64_C(1) << 9 * index);
    default: return rng_mix(index);
    }
}

uint64_t lie_id(uint32_t universe, uint32_t index)
{
    index %= id_counts[universe % UNIVERSES];
    return universe % UNIVERSES == UNIFORM && index == 2 ? UINT64_MAX : (uint64_t)index * index;
}

/* ----- drafts: what will be written, as lists ----- */

typedef struct draft_table {
    uint64_t mask;
    uint32_t radius;
    size_t count;
    uint64_t *values; /* permuted */
} draft_table;

typedef struct draft_segment {
    bool removes;
    uint32_t table_count;
    size_t count, distinct; /* of records, and of fingerprints before any lie */
    sstore_record records[MOST_RECORDS];
    uint64_t ids[MOST_RECORDS], ranks[MOST_RECORDS];
    draft_table tables[MOST_TABLES];
} draft_segment;

typedef struct draft {
    const lie_plan *plan;
    const lie *about;
    uint32_t distance;
    uint64_t next_ordinal;
    draft_segment *segments;
    uint32_t segment_count;
} draft;

static bool lies(const draft *of, lie_kind kind, uint32_t segment)
{
    return of->about->kind == kind && of->about->segment % of->segment_count == segment;
}

/* ----- records ----- */

/* Whether the store has a record before the segment. */
static bool is_there(const draft *of, uint32_t segment, const sstore_record *record)
{
    while (segment-- > 0) {
        const draft_segment *older = &of->segments[segment];
        if (bsearch(record, older->records, older->count, sizeof *record, compare_records) != NULL)
            return !older->removes;
    }
    return false;
}

/* Choose a segment's records: those of its draws that the store does not have, or those that it has. */
static void choose_records(draft *of, uint32_t number)
{
    draft_segment *to = &of->segments[number];
    const uint32_t universe = of->plan->universe;
    const bool takes_any = (to->removes ? of->about->kind == LIE_RECORDS_NOT_THERE
                                        : of->about->kind == LIE_RECORDS_ADDED_AGAIN) &&
                           number >= of->about->segment % of->segment_count;
    rng random = rng_seeded(of->plan->segments[number].seed);
    for (uint32_t i = 0; i < of->plan->segments[number].count; i++) {
        const uint64_t draw = rng_next(&random);
        /* In a row for small seeds, so that a table may be without gaps. */
        const uint32_t index = of->plan->segments[number].seed < 8 ? i : (uint32_t)draw;
        const sstore_record record = {.fingerprint = lie_fingerprint(universe, index),
                                      .id = of->plan->has_ids ? lie_id(universe, (uint32_t)(draw >> 32)) : 0};
        if (takes_any || is_there(of, number, &record) == to->removes)
            to->records[to->count++] = record;
    }
    if (to->count > 0)
        qsort(to->records, to->count, sizeof *to->records, compare_records);
    size_t kept = 0;
    for (size_t i = 0; i < to->count; i++)
        if (kept == 0 || compare_records(&to->records[kept - 1], &to->records[i]) != 0)
            to->records[kept++] = to->records[i];
    to->count = kept;
}

/* ----- tables ----- */

static uint64_t permute(uint64_t value, uint64_t mask)
{
    uint64_t permuted = 0;
    for (uint32_t bit = 64; bit-- > 0;)
        if ((mask >> bit & 1) != 0)
            permuted = permuted << 1 | (value >> bit & 1);
    for (uint32_t i = 0, bit = (uint32_t)__builtin_ctzll(mask); i < 64; i++) {
        bit = (bit - 1) % 64;
        if ((mask >> bit & 1) == 0)
            permuted = permuted << 1 | (value >> bit & 1);
    }
    return permuted;
}

/* Groups of bits, as many as tables, which together have radii that are complete. Those above table 0 may be
 * interleaved, or stand in no order that has a name. */
static void choose_tables(const draft *of, draft_segment *to, uint32_t layout)
{
    static const uint32_t counts[8] = {2, 1, 3, 4, 2, 4, 5, 7};
    const bool is_slow = of->about->kind == LIE_SLOW_PLAN;
    const uint32_t wanted = counts[layout % 8], least = of->distance > 3 ? 4 : of->distance > 1 ? 2 : 1;
    const uint32_t count = is_slow ? MOST_TABLES : wanted < least ? least : wanted, width = 64 / count;
    const bool interleaved = layout >= 8 && count > 2 && !is_slow;
    to->table_count = count;
    for (uint32_t i = 0; i < count; i++)
        to->tables[i] = (draft_table){.radius = (of->distance + count) / count - 1};
    for (uint32_t bit = 0; bit < 64; bit++) {
        const uint32_t group = bit < width   ? 0
                               : interleaved ? 1 + bit % (count - 1)
                               : is_slow     ? count - bit
                                             : bit / width;
        to->tables[group < count ? group : count - 1].mask |= UINT64_C(1) << (63 - bit);
    }
}

static void fill_table(draft_table *table, const uint64_t *fingerprints, size_t count)
{
    table->values = fuzz_memory(calloc(MOST_RECORDS + 2, sizeof *table->values));
    table->count = count;
    for (size_t i = 0; i < count; i++)
        table->values[i] = permute(fingerprints[i], table->mask);
    if (count > 0)
        qsort(table->values, count, sizeof *table->values, compare_numbers);
}

/* Make a run of a list's values equal to the first of the run; how many there are stays. */
static void make_equal(const draft *of, uint64_t *values, size_t count)
{
    for (size_t i = 1; count > 0 && i <= of->about->size; i++)
        if (of->about->at % count + i < count)
            values[of->about->at % count + i] = values[of->about->at % count];
}

static void draft_tables(draft *of, uint32_t number)
{
    draft_segment *to = &of->segments[number];
    const bool equal = lies(of, LIE_EQUAL_NEIGHBOURS, number), everywhere = equal && of->about->table % 2 == 1;
    uint64_t fingerprints[MOST_RECORDS];
    for (size_t i = 0; i < to->count; i++) {
        if (to->distinct == 0 || fingerprints[to->distinct - 1] != to->records[i].fingerprint)
            fingerprints[to->distinct++] = to->records[i].fingerprint;
        to->ids[i] = to->records[i].id;
        to->ranks[i] = to->distinct - 1;
    }
    if (everywhere)
        make_equal(of, fingerprints, to->distinct);
    for (uint32_t i = 0; i < to->table_count; i++)
        fill_table(&to->tables[i], fingerprints, to->distinct);
    if (equal && !everywhere)
        make_equal(of, to->tables[of->about->table / 2 % to->table_count].values, to->distinct);
}

/* ----- lies about lists ----- */

static void swap(uint64_t *a, uint64_t *b)
{
    const uint64_t kept = *a;
    *a = *b;
    *b = kept;
}

static void exchange_lowers(uint64_t *a, uint64_t *b)
{
    const uint64_t different = (*a ^ *b) & UINT32_MAX;
    *a ^= different;
    *b ^= different;
}

static void change_other_table(const lie *about, draft_table *table)
{
    const size_t at = table->count == 0 ? 0 : about->at % table->count;
    if (table->count == 0)
        return;
    switch (about->kind) {
    case LIE_OTHER_TABLE_LESS:
        if (table->count > 1)
            memmove(table->values + at, table->values + at + 1, (--table->count - at) * sizeof *table->values);
        break;
    case LIE_OTHER_TABLE_MORE: table->values[table->count++] = table->values[at] ^ (about->value | 1); break;
    default: table->values[at] ^= about->value | 1; break;
    }
    qsort(table->values, table->count, sizeof *table->values, compare_numbers);
}

static void lie_about_lists(draft *of)
{
    const lie *about = of->about;
    draft_segment *to = &of->segments[about->segment % of->segment_count];
    draft_table *table = &to->tables[about->table % to->table_count];
    const size_t at = to->count == 0 ? 0 : about->at % to->count;
    if (to->count == 0)
        return;
    switch (about->kind) {
    case LIE_DESCENDING: {
        const size_t first = about->at % table->count;
        swap(&table->values[first], &table->values[(first + 1 + about->size) % table->count]);
        break;
    }
    case LIE_LOWERS_EXCHANGED:
        exchange_lowers(&table->values[about->at % table->count],
                        &table->values[(about->at + 1 + about->size) % table->count]);
        break;
    case LIE_EQUAL_UPPERS: {
        const uint64_t *before = &table->values[about->at % table->count];
        if (table->count > about->at % table->count + 1)
            table->values[about->at % table->count + 1] = *before - about->value % ((*before & UINT32_MAX) + 1);
        break;
    }
    case LIE_OTHER_TABLE_LESS:
    case LIE_OTHER_TABLE_MORE:
    case LIE_OTHER_TABLE_OTHER:
        if (to->table_count > 1)
            change_other_table(about, &to->tables[1 + about->table % (to->table_count - 1)]);
        break;
    case LIE_IDS_ORDER: to->ids[at] = about->value; break;
    case LIE_IDS_REPEATED: to->ids[at] = to->ids[at > 0 ? at - 1 : at]; break;
    case LIE_RANK_SKIPPED:
    case LIE_RANK_REPEATED:
        for (size_t i = at; i < to->count; i++)
            to->ranks[i] += about->kind == LIE_RANK_SKIPPED ? 1 : to->ranks[i] > 0 ? UINT64_MAX : 0;
        break;
    default: break;
    }
}

/* ----- files ----- */

static void put(uint8_t *to, size_t width, uint64_t value)
{
    for (size_t i = 0; i < width; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

static void append_value(hostile_array *array, uint64_t value)
{
    array->values = fuzz_memory(realloc(array->values, (array->count + 2) * sizeof *array->values));
    array->values[array->count++] = value;
}

/* Add an empty block to a file; its bytes are given. */
static uint8_t *append_block(hostile_segment *to, uint32_t file, uint32_t block_bytes)
{
    to->files[file].bytes = fuzz_memory(realloc(to->files[file].bytes, to->files[file].size + block_bytes + 1));
    uint8_t *block = to->files[file].bytes + to->files[file].size;
    to->files[file].size += block_bytes;
    memset(block, 0, block_bytes);
    return block;
}

static void write_header(const draft *of, uint32_t number, uint32_t file, hostile_segment *to, size_t items)
{
    static const uint8_t magic[8] = {'s', 's', 't', 'o', 'r', 'B', 'L', 'K'};
    const draft_segment *segment = &of->segments[number];
    uint8_t *header = fuzz_memory(calloc(1, HEADER_FIXED + 1));
    to->files[file].bytes = header;
    to->files[file].size = HEADER_FIXED;
    memcpy(header, magic, sizeof magic);
    put(header + HEADER_VERSION, 4, FORMAT_VERSION);
    put(header + HEADER_SIZE, 4, HEADER_FIXED);
    put(header + HEADER_NUMBER, 4, file == HOSTILE_IDS ? SS_IDS_NUMBER : file);
    put(header + HEADER_BLOCK_BYTES, 4, of->plan->block_bytes);
    put(header + HEADER_BITS, 4, 64);
    put(header + HEADER_ITEMS, 8, items);
    put(header + HEADER_TABLES, 4, segment->table_count);
    put(header + HEADER_DISTANCE, 4, of->distance);
    if (file == HOSTILE_IDS)
        return;
    put(header + HEADER_COLUMN, 4, COLUMN_BITS);
    put(header + HEADER_RADIUS, 4, segment->tables[file].radius);
    put(header + HEADER_MASK, 8, segment->tables[file].mask);
}

static void write_statistics(uint8_t *header, const draft_table *table)
{
    uint64_t symbols[SLOW_SYMBOLS + 1] = {0}, h_counts[64 + 1] = {0}, gap_bits[64] = {0};
    for (size_t i = 1; i < table->count; i++) {
        const uint64_t before = table->values[i - 1], value = table->values[i];
        symbols[slow_step(before, value)]++;
        h_counts[slow_first_difference(before, value)]++;
        for (uint32_t bit = 0; bit < 64; bit++)
            gap_bits[bit] += (value - before) >> (63 - bit) & 1;
    }
    slow_code_lengths(symbols, header + HEADER_LENGTHS);
    for (size_t i = 0; i < 64; i++) {
        put(header + HEADER_H_COUNTS + 8 * i, 8, h_counts[i]);
        put(header + HEADER_GAP_BITS + 8 * i, 8, gap_bits[i]);
    }
}

/* What the directory says of a block that ends with a value: the least key that readers take, at least. */
static void append_key(hostile_array *keys, uint64_t last, bool strictly)
{
    const uint64_t before = keys->count == 0 ? 0 : keys->values[keys->count - 1];
    if (keys->count > 0 && last <= before)
        last = before + (strictly && before < UINT64_MAX);
    append_value(keys, last);
}

static void write_table(const draft *of, uint32_t number, uint32_t file, hostile_segment *to)
{
    const draft_table *table = &of->segments[number].tables[file];
    const uint32_t block_bytes = of->plan->block_bytes;
    const bool is_short = lies(of, LIE_SHORT_BLOCK, number) &&
                          of->about->table % of->segments[number].table_count == file;
    uint8_t lengths[SLOW_SYMBOLS];
    write_header(of, number, file, to, of->segments[number].distinct);
    write_statistics(to->files[file].bytes, table);
    memcpy(lengths, to->files[file].bytes + HEADER_LENGTHS, sizeof lengths);
    for (size_t at = 0; at < table->count;) {
        uint32_t count = slow_block_fit(block_bytes, lengths, table->values + at, table->count - at);
        if (is_short && at == 0 && count > 1)
            count -= 1 + of->about->size % (count - 1);
        slow_block_encode(append_block(to, file, block_bytes), block_bytes, lengths, table->values + at, count);
        if (file == 0)
            append_value(&to->ranks, at);
        at += count;
        append_key(&to->keys[file], table->values[at - 1], true);
    }
    put(to->files[file].bytes + HEADER_BLOCKS, 8, to->keys[file].count);
}

static void write_ids(const draft *of, uint32_t number, hostile_segment *to)
{
    const draft_segment *from = &of->segments[number];
    const uint32_t block_bytes = of->plan->block_bytes;
    write_header(of, number, HOSTILE_IDS, to, from->count);
    for (size_t at = 0; at < from->count;) {
        const uint32_t count = slow_ids_fit(block_bytes, from->ids + at, from->ranks + at, from->count - at);
        const bool continued = at + count < from->count && from->ranks[at + count] == from->ranks[at + count - 1];
        slow_ids_encode(append_block(to, HOSTILE_IDS, block_bytes), block_bytes, from->ids + at, from->ranks + at,
                        count, continued);
        at += count;
        append_key(&to->keys[HOSTILE_IDS], from->ranks[at - 1], false);
    }
    put(to->files[HOSTILE_IDS].bytes + HEADER_BLOCKS, 8, to->keys[HOSTILE_IDS].count);
}

static ss_u128 content_sum(const draft *of, const draft_segment *from)
{
    ss_u128 sum = {0};
    for (size_t i = 0; i < (of->plan->has_ids ? from->count : from->tables[0].count); i++) {
        const uint64_t rank = of->plan->has_ids ? from->ranks[i] : i;
        if (rank < from->tables[0].count)
            ss_content_add(&sum, of->plan->has_ids, from->tables[0].values[rank], from->ids[i]);
    }
    return sum;
}

static void write_segment(const draft *of, uint32_t number, hostile_segment *to)
{
    snprintf(to->folder, sizeof to->folder, "seg-%016x", number + 1);
    for (uint32_t i = 0; i < of->segments[number].table_count; i++)
        write_table(of, number, i, to);
    if (of->plan->has_ids)
        write_ids(of, number, to);
    to->new_directory = true;
}

/* Write a segment's part of the manifest; what signing sets is left out. */
static uint8_t *write_entry(const draft *of, uint32_t number, const hostile_segment *made, uint8_t *to)
{
    const draft_segment *from = &of->segments[number];
    put(to + SEGMENT_FOLDER, 8, number + 1);
    put(to + SEGMENT_RECORDS, 8, from->count);
    put(to + SEGMENT_DISTINCT, 8, from->distinct);
    ss_store_u128(to + SEGMENT_CONTENT, content_sum(of, from));
    put(to + SEGMENT_BLOCK_BYTES, 4, of->plan->block_bytes);
    put(to + SEGMENT_COLUMN, 4, COLUMN_BITS);
    put(to + SEGMENT_ID_BLOCKS, 8, made->keys[HOSTILE_IDS].count);
    put(to + SEGMENT_KIND, 4, from->removes);
    put(to + SEGMENT_TABLES, 4, from->table_count);
    put(to + SEGMENT_LMDB_FORMAT, 4, ss_directory_lmdb_format());
    to += SEGMENT_FIXED;
    for (uint32_t i = 0; i < from->table_count; i++, to += TABLE_FIXED) {
        put(to + TABLE_MASK, 8, from->tables[i].mask);
        put(to + TABLE_PREFIX_BITS, 4, (uint64_t)__builtin_popcountll(from->tables[i].mask));
        put(to + TABLE_RADIUS, 4, from->tables[i].radius);
        put(to + TABLE_BLOCKS, 8, made->keys[i].count);
    }
    return to;
}

static void write_manifest(const draft *of, hostile_store *store)
{
    static const uint8_t magic[8] = {'s', 's', 't', 'o', 'r', 'M', 'A', 'N'};
    store->manifest_bytes = MANIFEST_FIXED + CHECKSUM_BYTES;
    for (uint32_t i = 0; i < of->segment_count; i++)
        store->manifest_bytes += SEGMENT_FIXED + (size_t)of->segments[i].table_count * TABLE_FIXED;
    uint8_t *to = store->manifest = fuzz_memory(calloc(1, store->manifest_bytes));
    memcpy(to, magic, sizeof magic);
    put(to + MANIFEST_VERSION, 4, FORMAT_VERSION);
    put(to + MANIFEST_BITS, 4, 64);
    put(to + MANIFEST_DISTANCE, 4, of->distance);
    put(to + MANIFEST_FLAGS, 4, of->plan->has_ids);
    put(to + MANIFEST_NEXT_ORDINAL, 8, of->next_ordinal);
    put(to + MANIFEST_SEGMENTS, 4, of->segment_count);
    to += MANIFEST_FIXED;
    for (uint32_t i = 0; i < of->segment_count; i++)
        to = write_entry(of, i, &store->segments[i], to);
}

/* ----- lies about files ----- */

/* Make a value of the directory more, or less; or as much as the next one allows, or as little as the one before
 * does; or make it and all behind it the highest numbers that there are. */
static void lie_about_value(hostile_array *array, const lie *about)
{
    if (array->count == 0)
        return;
    const size_t at = about->at % array->count;
    uint64_t *value = &array->values[at];
    switch (about->size % 4) {
    case 1: *value = (at + 1 < array->count ? value[1] : UINT64_MAX) - about->value; break;
    case 2: *value = (at > 0 ? value[-1] : 0) + about->value; break;
    case 3:
        for (size_t i = at; i < array->count; i++)
            array->values[i] = UINT64_MAX - about->value - (array->count - 1 - i);
        break;
    default: *value += about->value; break;
    }
}

/* Give a table another code, made of some counts or of none. */
static void lie_about_code(const lie *about, uint8_t *header)
{
    uint64_t counts[SLOW_SYMBOLS];
    for (uint32_t i = 0; i < SLOW_SYMBOLS; i++)
        counts[i] = rng_mix(about->value) >> i & 1;
    if (about->size % 4 > 0)
        slow_code_lengths(counts, header + HEADER_LENGTHS);
    else
        header[HEADER_LENGTHS + about->at % SLOW_SYMBOLS] = (uint8_t)about->value;
}

/* Change a number of a block's frame: where a group from 1 on begins or what its key is, or how wide all keys are. */
static void lie_about_frame(const lie *about, uint8_t *block, uint32_t block_bytes)
{
    const uint32_t groups = block == NULL ? 0 : slow_block_groups(block, block_bytes);
    if (groups == 0 || !slow_block_opens(block, block_bytes))
        return;
    const uint32_t group = 1 + about->size % groups;
    if (about->kind == LIE_KEY_SHIFT) {
        block[slow_key_shift_offset(block_bytes)] = (uint8_t)about->value;
    } else if (group < groups) {
        const bool is_begin = about->kind == LIE_BEGIN;
        uint8_t *at = block + (is_begin ? slow_begin_offset : slow_key_offset)(block, block_bytes, group);
        put(at, 2, ss_load_le16(at) + about->value);
    }
}

static void lie_about_files(const draft *of, hostile_store *store)
{
    const lie *about = of->about;
    const uint32_t number = about->segment % of->segment_count, table = about->table % of->segments[number].table_count;
    hostile_segment *to = &store->segments[number];
    /* Of the ids, where there are any, for one more than there are tables. */
    const uint32_t file = of->plan->has_ids && about->table % (of->segments[number].table_count + 1) ==
                                                   of->segments[number].table_count
                              ? HOSTILE_IDS
                              : table;
    uint8_t *entry = store->manifest + MANIFEST_FIXED;
    for (uint32_t i = 0; i < number; i++)
        entry += SEGMENT_FIXED + (size_t)of->segments[i].table_count * TABLE_FIXED;
    switch (about->kind) {
    case LIE_KEY: lie_about_value(&to->keys[file], about); break;
    case LIE_FIRST_RANK: lie_about_value(&to->ranks, about); break;
    case LIE_RECORD_COUNT:
        hostile_set(store, number, HOSTILE_RECORD_COUNT, 0, of->segments[number].count + about->value);
        break;
    case LIE_DISTINCT_COUNT:
        hostile_set(store, number, HOSTILE_DISTINCT_COUNT, 0, of->segments[number].distinct + about->value);
        if (!of->plan->has_ids)
            hostile_set(store, number, HOSTILE_RECORD_COUNT, 0, of->segments[number].distinct + about->value);
        break;
    case LIE_BLOCK_COUNT: hostile_resize(store, number, file, about->size % 8); break;
    case LIE_H_COUNTS: put(to->files[table].bytes + HEADER_H_COUNTS + 8 * (about->at % 128), 8, about->value); break;
    case LIE_KEY_MASK: hostile_set(store, number, HOSTILE_KEY_MASK, table, about->value); break;
    case LIE_RADIUS: hostile_set(store, number, HOSTILE_RADIUS, table, about->value); break;
    case LIE_COLUMN: hostile_set(store, number, HOSTILE_COLUMN_BITS, 0, about->value); break;
    case LIE_BLOCK_BYTES: hostile_set(store, number, HOSTILE_BLOCK_BYTES, 0, about->value); break;
    case LIE_KIND: hostile_set(store, number, HOSTILE_KIND, 0, !of->segments[number].removes); break;
    case LIE_DISTANCE: hostile_set(store, number, HOSTILE_DISTANCE, 0, about->value); break;
    case LIE_CODE: lie_about_code(about, to->files[table].bytes); break;
    case LIE_IDS_FLAGS: {
        uint8_t *block = hostile_block(store, number, HOSTILE_IDS, about->at % 8);
        if (block != NULL)
            block[19] ^= (uint8_t)about->value;
        break;
    }
    case LIE_BYTE: {
        uint8_t *block = hostile_block(store, number, file, about->at % 8);
        if (block != NULL)
            block[(about->size < 32 ? about->size : about->at) % of->plan->block_bytes] ^= (uint8_t)about->value;
        break;
    }
    case LIE_BEGIN:
    case LIE_GROUP_KEY:
    case LIE_KEY_SHIFT:
        lie_about_frame(about, hostile_block(store, number, table, about->at % 8), of->plan->block_bytes);
        break;
    case LIE_CONTENT_SUM: entry[SEGMENT_CONTENT + about->at % 16] ^= (uint8_t)about->value; break;
    case LIE_NEXT_ORDINAL: put(store->manifest + MANIFEST_NEXT_ORDINAL, 8, of->next_ordinal - about->value); break;
    default: break;
    }
}

/* ----- all of it ----- */

static const char *const names[LIE_KINDS] = {
    [LIE_NONE] = "none",
    [LIE_EQUAL_NEIGHBOURS] = "equal neighbours",
    [LIE_DESCENDING] = "descending",
    [LIE_KEY] = "key",
    [LIE_FIRST_RANK] = "first rank",
    [LIE_RECORD_COUNT] = "record count",
    [LIE_DISTINCT_COUNT] = "distinct count",
    [LIE_BLOCK_COUNT] = "block count",
    [LIE_H_COUNTS] = "h counts",
    [LIE_IDS_ORDER] = "order of ids",
    [LIE_IDS_REPEATED] = "repeated id",
    [LIE_RANK_SKIPPED] = "rank skipped",
    [LIE_RANK_REPEATED] = "rank repeated",
    [LIE_RECORDS_ADDED_AGAIN] = "records added again",
    [LIE_RECORDS_NOT_THERE] = "records not there",
    [LIE_OTHER_TABLE_LESS] = "other table lacks one",
    [LIE_OTHER_TABLE_MORE] = "other table has more",
    [LIE_OTHER_TABLE_OTHER] = "other table has another",
    [LIE_SLOW_PLAN] = "slow plan",
    [LIE_KEY_MASK] = "key mask",
    [LIE_RADIUS] = "radius",
    [LIE_COLUMN] = "width of the column",
    [LIE_BLOCK_BYTES] = "block size",
    [LIE_KIND] = "kind",
    [LIE_DISTANCE] = "distance",
    [LIE_CODE] = "code",
    [LIE_IDS_FLAGS] = "flags of ids",
    [LIE_BYTE] = "byte",
    [LIE_CONTENT_SUM] = "content sum",
    [LIE_NEXT_ORDINAL] = "next ordinal",
    [LIE_SHORT_BLOCK] = "short block",
    [LIE_LOWERS_EXCHANGED] = "exchanged lower halves",
    [LIE_EQUAL_UPPERS] = "equal upper halves",
    [LIE_BEGIN] = "begin of a group",
    [LIE_GROUP_KEY] = "key of a group",
    [LIE_KEY_SHIFT] = "width of keys",
};

const char *lie_name(lie_kind kind)
{
    return kind < LIE_KINDS ? names[kind] : "?";
}

static uint64_t take_value(fuzz_input *input)
{
    static const uint64_t edges[] = {1, UINT64_MAX, 2, 100, 1 << 16, UINT64_C(1) << 32, UINT64_C(1) << 63, INT64_MAX};
    const uint64_t what = fuzz_take(input, 1);
    return what < 128 ? what : what < 192 ? edges[what % 8] : fuzz_take(input, 8);
}

/* Each kind has its number; the other bytes stand for no lie, or for one that few of all places and values make a
 * lie of. */
static lie_kind take_kind(fuzz_input *input)
{
    static const lie_kind others[] = {LIE_NONE, LIE_EQUAL_NEIGHBOURS, LIE_DESCENDING, LIE_KEY,
                                      LIE_KEY,  LIE_SLOW_PLAN,        LIE_BEGIN,      LIE_EQUAL_UPPERS};
    const uint32_t byte = (uint32_t)fuzz_take(input, 1);
    return byte < LIE_KINDS ? (lie_kind)byte : others[byte % (sizeof others / sizeof *others)];
}

void lie_take(fuzz_input *input, lie_plan *plan_out, lie *lie_out)
{
    static const uint32_t distances[8] = {3, 3, 2, 1, 0, 5, 3, 7}, sizes[4] = {256, 1024, 512, 2048};
    const uint32_t shape = (uint32_t)fuzz_take(input, 1), kind = (uint32_t)fuzz_take(input, 1);
    *plan_out = (lie_plan){.has_ids = (shape >> 3 & 1) != 0,
                           .distance = distances[shape >> 4 & 7],
                           .segment_count = 1 + shape % 8,
                           .block_bytes = sizes[kind & 3],
                           .universe = kind >> 4 & 3};
    lie_out->kind = take_kind(input);
    lie_out->segment = (uint32_t)fuzz_take(input, 1);
    lie_out->table = (uint32_t)fuzz_take(input, 1);
    lie_out->at = (uint32_t)fuzz_take(input, 2);
    lie_out->size = (uint32_t)fuzz_take(input, 1);
    lie_out->value = take_value(input);
    for (uint32_t i = 0; i < plan_out->segment_count; i++) {
        plan_out->segments[i].count = (uint8_t)fuzz_take(input, 1);
        plan_out->segments[i].seed = (uint8_t)fuzz_take(input, 1);
        plan_out->segments[i].tables = (uint8_t)fuzz_take(input, 1);
        plan_out->segments[i].removes = (plan_out->segments[i].tables & 128) != 0;
    }
}

hostile_store lie_make(const lie_plan *plan, const lie *about)
{
    hostile_store store = {.segment_count = plan->segment_count, .has_ids = plan->has_ids};
    draft of = {.plan = plan, .about = about, .distance = plan->distance, .segment_count = plan->segment_count};
    if (about->kind == LIE_SLOW_PLAN) { /* 64 files each */
        of.distance = 16;
        store.segment_count = of.segment_count = 1;
    }
    of.segments = fuzz_memory(calloc(of.segment_count, sizeof *of.segments));
    for (uint32_t i = 0; i < of.segment_count; i++) {
        draft_segment *to = &of.segments[i];
        to->removes = plan->segments[i].removes;
        choose_tables(&of, to, plan->segments[i].tables & 15);
        choose_records(&of, i);
        draft_tables(&of, i);
    }
    lie_about_lists(&of);
    for (uint32_t i = 0; i < of.segment_count; i++) {
        const draft_segment *from = &of.segments[i];
        for (size_t j = 0; plan->has_ids && j < from->count; j++)
            of.next_ordinal = ss_max_u64(of.next_ordinal, from->ids[j] + (from->ids[j] < UINT64_MAX));
        write_segment(&of, i, &store.segments[i]);
    }
    write_manifest(&of, &store);
    lie_about_files(&of, &store);
    hostile_sign(&store);
    for (uint32_t i = 0; i < sizeof store.queries / sizeof store.queries[0]; i++)
        store.queries[i] = lie_fingerprint(plan->universe, i * 7 + about->at) ^ (i % 3 == 0 ? 0 : UINT64_C(1) << 4 * i);
    for (uint32_t i = 0; i < of.segment_count; i++)
        for (uint32_t j = 0; j < of.segments[i].table_count; j++)
            free(of.segments[i].tables[j].values);
    free(of.segments);
    return store;
}
