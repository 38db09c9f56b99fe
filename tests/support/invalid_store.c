#include "support/invalid_store.h"
#include "support/data.h"

#include "store/directory.h"
#include "store/manifest.h"
#include "support/random.h"
#include "support/record_set.h"
#include "support/reference_block.h"
#include "support/reference_ids.h"
#include "support/store_offsets.h"

#define MAX_RECORDS 256u /* of a segment */
#define MAX_TABLES 64u

/* ----- fingerprints and ids ----- */

enum { CLUSTERED, DENSE, FEW, UNIFORM, UNIVERSES };

static const uint32_t universe_sizes[UNIVERSES] = {160, 256, 6, 512};
static const uint32_t id_counts[UNIVERSES] = {3, 2, 80, 3};

uint64_t sample_fingerprint(uint32_t universe, uint32_t index)
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

uint64_t sample_id(uint32_t universe, uint32_t index)
{
    index %= id_counts[universe % UNIVERSES];
    return universe % UNIVERSES == UNIFORM && index == 2 ? UINT64_MAX : (uint64_t)index * index;
}

/* ----- drafts: the store as lists, before it is encoded ----- */

typedef struct draft_table {
    uint64_t mask;
    uint32_t radius;
    size_t count;
    uint64_t *values; /* permuted */
} draft_table;

typedef struct draft_segment {
    bool removes;
    uint32_t table_count;
    size_t count, distinct; /* of records; of fingerprints, before the defect */
    record_set records;
    uint64_t ids[MAX_RECORDS], ranks[MAX_RECORDS];
    draft_table tables[MAX_TABLES];
} draft_segment;

typedef struct draft {
    const invalid_store_plan *plan;
    const store_defect *defect;
    uint32_t distance;
    uint64_t next_id;
    draft_segment *segments;
    uint32_t segment_count;
} draft;

static bool has_defect(const draft *self, defect_kind kind, uint32_t segment)
{
    return self->defect->kind == kind && self->defect->segment % self->segment_count == segment;
}

/* ----- records ----- */

/* Whether the older segments leave a record in the store. */
static bool is_there(const draft *self, uint32_t segment, uint64_t fingerprint, uint64_t id)
{
    while (segment-- > 0) {
        const draft_segment *older = &self->segments[segment];
        if (record_set_has(&older->records, &fingerprint, id))
            return !older->removes;
    }
    return false;
}

/* Choose a segment's records: those of its draws that the store does not have, or those that it has. */
static void choose_records(draft *self, uint32_t number)
{
    draft_segment *to = &self->segments[number];
    const uint32_t universe = self->plan->universe;
    const bool takes_any = (to->removes ? self->defect->kind == DEFECT_RECORDS_NOT_THERE
                                        : self->defect->kind == DEFECT_RECORDS_ADDED_AGAIN) &&
                           number >= self->defect->segment % self->segment_count;
    rng random = rng_seeded(self->plan->segments[number].seed);
    for (uint32_t i = 0; i < self->plan->segments[number].count; i++) {
        const uint64_t draw = rng_next(&random);
        /* Small seeds give consecutive ones, so that a table may have no gaps. */
        const uint32_t index = self->plan->segments[number].seed < 8 ? i : (uint32_t)draw;
        const uint64_t fingerprint = sample_fingerprint(universe, index),
                       id = self->plan->has_ids ? sample_id(universe, (uint32_t)(draw >> 32)) : 0;
        if (takes_any || is_there(self, number, fingerprint, id) == to->removes)
            record_set_put(&to->records, &fingerprint, id);
    }
    record_set_sort(&to->records);
    record_set_unique(&to->records);
    to->count = to->records.count;
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

/* A bit group for each table, with radii that make the plan complete. The groups above table 0 may be interleaved, or
 * in an order that no plan name describes. */
static void choose_tables(const draft *self, draft_segment *to, uint32_t layout)
{
    static const uint32_t counts[8] = {2, 1, 3, 4, 2, 4, 5, 7};
    const bool is_slow = self->defect->kind == DEFECT_SLOW_PLAN;
    const uint32_t wanted = counts[layout % 8], min = self->distance > 3 ? 4 : self->distance > 1 ? 2 : 1;
    const uint32_t count = is_slow ? MAX_TABLES : wanted < min ? min : wanted, width = 64 / count;
    const bool interleaved = layout >= 8 && count > 2 && !is_slow;
    to->table_count = count;
    for (uint32_t i = 0; i < count; i++)
        to->tables[i] = (draft_table){.radius = (self->distance + count) / count - 1};
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
    table->values = fuzz_memory(calloc(MAX_RECORDS + 2, sizeof *table->values));
    table->count = count;
    for (size_t i = 0; i < count; i++)
        table->values[i] = permute(fingerprints[i], table->mask);
    if (count > 0)
        qsort(table->values, count, sizeof *table->values, compare_numbers);
}

/* Make a run of values equal to its first one; the count stays. */
static void make_equal(const draft *self, uint64_t *values, size_t count)
{
    for (size_t i = 1; count > 0 && i <= self->defect->size; i++)
        if (self->defect->at % count + i < count)
            values[self->defect->at % count + i] = values[self->defect->at % count];
}

static void draft_tables(draft *self, uint32_t number)
{
    draft_segment *to = &self->segments[number];
    const bool equal = has_defect(self, DEFECT_EQUAL_NEIGHBOURS, number),
               everywhere = equal && self->defect->table % 2 == 1;
    uint64_t fingerprints[MAX_RECORDS];
    for (size_t i = 0; i < to->count; i++) {
        if (to->distinct == 0 || fingerprints[to->distinct - 1] != to->records.fingerprints[i])
            fingerprints[to->distinct++] = to->records.fingerprints[i];
        to->ids[i] = to->records.ids[i];
        to->ranks[i] = to->distinct - 1;
    }
    if (everywhere)
        make_equal(self, fingerprints, to->distinct);
    for (uint32_t i = 0; i < to->table_count; i++)
        fill_table(&to->tables[i], fingerprints, to->distinct);
    if (equal && !everywhere)
        make_equal(self, to->tables[self->defect->table / 2 % to->table_count].values, to->distinct);
}

/* ----- defects of lists ----- */

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

static void change_other_table(const store_defect *defect, draft_table *table)
{
    const size_t at = table->count == 0 ? 0 : defect->at % table->count;
    if (table->count == 0)
        return;
    switch (defect->kind) {
    case DEFECT_OTHER_TABLE_LESS:
        if (table->count > 1)
            memmove(table->values + at, table->values + at + 1, (--table->count - at) * sizeof *table->values);
        break;
    case DEFECT_OTHER_TABLE_MORE: table->values[table->count++] = table->values[at] ^ (defect->value | 1); break;
    default: table->values[at] ^= defect->value | 1; break;
    }
    qsort(table->values, table->count, sizeof *table->values, compare_numbers);
}

static void change_lists(draft *self)
{
    const store_defect *defect = self->defect;
    draft_segment *to = &self->segments[defect->segment % self->segment_count];
    draft_table *table = &to->tables[defect->table % to->table_count];
    const size_t at = to->count == 0 ? 0 : defect->at % to->count;
    if (to->count == 0)
        return;
    switch (defect->kind) {
    case DEFECT_DESCENDING: {
        const size_t first = defect->at % table->count;
        swap(&table->values[first], &table->values[(first + 1 + defect->size) % table->count]);
        break;
    }
    case DEFECT_LOWERS_EXCHANGED:
        exchange_lowers(&table->values[defect->at % table->count],
                        &table->values[(defect->at + 1 + defect->size) % table->count]);
        break;
    case DEFECT_EQUAL_UPPERS: {
        const uint64_t *before = &table->values[defect->at % table->count];
        if (table->count > defect->at % table->count + 1)
            table->values[defect->at % table->count + 1] = *before - defect->value % ((*before & UINT32_MAX) + 1);
        break;
    }
    case DEFECT_OTHER_TABLE_LESS:
    case DEFECT_OTHER_TABLE_MORE:
    case DEFECT_OTHER_TABLE_OTHER:
        if (to->table_count > 1)
            change_other_table(defect, &to->tables[1 + defect->table % (to->table_count - 1)]);
        break;
    case DEFECT_IDS_ORDER: to->ids[at] = defect->value; break;
    case DEFECT_IDS_REPEATED: to->ids[at] = to->ids[at > 0 ? at - 1 : at]; break;
    case DEFECT_RANK_SKIPPED:
    case DEFECT_RANK_REPEATED:
        for (size_t i = at; i < to->count; i++)
            to->ranks[i] += defect->kind == DEFECT_RANK_SKIPPED ? 1 : to->ranks[i] > 0 ? UINT64_MAX : 0;
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

static void append_value(edited_array *array, uint64_t value)
{
    array->values = fuzz_memory(realloc(array->values, (array->count + 2) * sizeof *array->values));
    array->values[array->count++] = value;
}

/* Add an empty block to a file; its bytes are given. */
static uint8_t *append_block(edited_segment *to, uint32_t file, uint32_t block_bytes)
{
    to->files[file].bytes = fuzz_memory(realloc(to->files[file].bytes, to->files[file].size + block_bytes + 1));
    uint8_t *block = to->files[file].bytes + to->files[file].size;
    to->files[file].size += block_bytes;
    memset(block, 0, block_bytes);
    return block;
}

static void write_header(const draft *self, uint32_t number, uint32_t file, edited_segment *to, size_t items)
{
    static const uint8_t magic[8] = {'s', 's', 't', 'o', 'r', 'B', 'L', 'K'};
    const draft_segment *segment = &self->segments[number];
    uint8_t *header = fuzz_memory(calloc(1, HEADER_FIXED + 1));
    to->files[file].bytes = header;
    to->files[file].size = HEADER_FIXED;
    memcpy(header, magic, sizeof magic);
    put(header + HEADER_VERSION, 4, FORMAT_VERSION);
    put(header + HEADER_SIZE, 4, HEADER_FIXED);
    put(header + HEADER_NUMBER, 4, file == EDITED_IDS ? SS_IDS_NUMBER : file);
    put(header + HEADER_BLOCK_BYTES, 4, self->plan->block_bytes);
    put(header + HEADER_BITS, 4, 64);
    put(header + HEADER_ITEMS, 8, items);
    put(header + HEADER_TABLES, 4, segment->table_count);
    put(header + HEADER_DISTANCE, 4, self->distance);
    if (file == EDITED_IDS)
        return;
    put(header + HEADER_COLUMN, 4, COLUMN_BITS);
    put(header + HEADER_RADIUS, 4, segment->tables[file].radius);
    put(header + HEADER_MASK, 8, segment->tables[file].mask);
}

static void write_statistics(uint8_t *header, const draft_table *table)
{
    uint64_t symbols[REFERENCE_SYMBOLS + 1] = {0}, h_counts[64 + 1] = {0}, gap_bits[64] = {0};
    for (size_t i = 1; i < table->count; i++) {
        const uint64_t before = table->values[i - 1], value = table->values[i];
        symbols[reference_step(before, value)]++;
        h_counts[reference_first_difference(before, value)]++;
        for (uint32_t bit = 0; bit < 64; bit++)
            gap_bits[bit] += (value - before) >> (63 - bit) & 1;
    }
    reference_code_lengths(symbols, header + HEADER_LENGTHS);
    for (size_t i = 0; i < 64; i++) {
        put(header + HEADER_H_COUNTS + 8 * i, 8, h_counts[i]);
        put(header + HEADER_GAP_BITS + 8 * i, 8, gap_bits[i]);
    }
}

/* The directory's key for a block that ends with this value, not below the smallest key that readers accept. */
static void append_key(edited_array *keys, uint64_t last, bool strictly)
{
    const uint64_t before = keys->count == 0 ? 0 : keys->values[keys->count - 1];
    if (keys->count > 0 && last <= before)
        last = before + (strictly && before < UINT64_MAX);
    append_value(keys, last);
}

static void write_table(const draft *self, uint32_t number, uint32_t file, edited_segment *to)
{
    const draft_table *table = &self->segments[number].tables[file];
    const uint32_t block_bytes = self->plan->block_bytes;
    const bool is_short = has_defect(self, DEFECT_SHORT_BLOCK, number) &&
                          self->defect->table % self->segments[number].table_count == file;
    uint8_t lengths[REFERENCE_SYMBOLS];
    write_header(self, number, file, to, self->segments[number].distinct);
    write_statistics(to->files[file].bytes, table);
    memcpy(lengths, to->files[file].bytes + HEADER_LENGTHS, sizeof lengths);
    for (size_t at = 0; at < table->count;) {
        uint32_t count = reference_block_fit(block_bytes, lengths, table->values + at, table->count - at);
        if (is_short && at == 0 && count > 1)
            count -= 1 + self->defect->size % (count - 1);
        reference_block_encode(append_block(to, file, block_bytes), block_bytes, lengths, table->values + at, count);
        if (file == 0)
            append_value(&to->ranks, at);
        at += count;
        append_key(&to->keys[file], table->values[at - 1], true);
    }
    put(to->files[file].bytes + HEADER_BLOCKS, 8, to->keys[file].count);
}

static void write_ids(const draft *self, uint32_t number, edited_segment *to)
{
    const draft_segment *from = &self->segments[number];
    const uint32_t block_bytes = self->plan->block_bytes;
    write_header(self, number, EDITED_IDS, to, from->count);
    for (size_t at = 0; at < from->count;) {
        const uint32_t count = reference_ids_fit(block_bytes, from->ids + at, from->ranks + at, from->count - at);
        const bool continued = at + count < from->count && from->ranks[at + count] == from->ranks[at + count - 1];
        reference_ids_encode(append_block(to, EDITED_IDS, block_bytes), block_bytes, from->ids + at, from->ranks + at,
                             count, continued);
        at += count;
        append_key(&to->keys[EDITED_IDS], from->ranks[at - 1], false);
    }
    put(to->files[EDITED_IDS].bytes + HEADER_BLOCKS, 8, to->keys[EDITED_IDS].count);
}

static ss_u128 content_sum(const draft *self, const draft_segment *from)
{
    ss_u128 sum = {0};
    for (size_t i = 0; i < (self->plan->has_ids ? from->count : from->tables[0].count); i++) {
        const uint64_t rank = self->plan->has_ids ? from->ranks[i] : i;
        if (rank < from->tables[0].count)
            ss_content_add(&sum, self->plan->has_ids, from->tables[0].values[rank], from->ids[i]);
    }
    return sum;
}

static void write_segment(const draft *self, uint32_t number, edited_segment *to)
{
    to->words = 1;
    snprintf(to->folder, sizeof to->folder, "seg-%016x", number + 1);
    for (uint32_t i = 0; i < self->segments[number].table_count; i++)
        write_table(self, number, i, to);
    if (self->plan->has_ids)
        write_ids(self, number, to);
    to->new_directory = true;
}

/* Write a segment's part of the manifest, without the fields that edited_set_checksums() sets. */
static uint8_t *write_entry(const draft *self, uint32_t number, const edited_segment *made, uint8_t *to)
{
    const draft_segment *from = &self->segments[number];
    put(to + SEGMENT_FOLDER, 8, number + 1);
    put(to + SEGMENT_RECORDS, 8, from->count);
    put(to + SEGMENT_DISTINCT, 8, from->distinct);
    ss_store_u128(to + SEGMENT_CONTENT, content_sum(self, from));
    put(to + SEGMENT_BLOCK_BYTES, 4, self->plan->block_bytes);
    put(to + SEGMENT_COLUMN, 4, COLUMN_BITS);
    put(to + SEGMENT_ID_BLOCKS, 8, made->keys[EDITED_IDS].count);
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

static void write_manifest(const draft *self, edited_store *store)
{
    static const uint8_t magic[8] = {'s', 's', 't', 'o', 'r', 'M', 'A', 'N'};
    store->manifest_bytes = MANIFEST_FIXED + CHECKSUM_BYTES;
    for (uint32_t i = 0; i < self->segment_count; i++)
        store->manifest_bytes += SEGMENT_FIXED + (size_t)self->segments[i].table_count * TABLE_FIXED;
    uint8_t *to = store->manifest = fuzz_memory(calloc(1, store->manifest_bytes));
    memcpy(to, magic, sizeof magic);
    put(to + MANIFEST_VERSION, 4, FORMAT_VERSION);
    put(to + MANIFEST_BITS, 4, 64);
    put(to + MANIFEST_DISTANCE, 4, self->distance);
    put(to + MANIFEST_FLAGS, 4, self->plan->has_ids);
    put(to + MANIFEST_NEXT_ID, 8, self->next_id);
    put(to + MANIFEST_SEGMENTS, 4, self->segment_count);
    to += MANIFEST_FIXED;
    for (uint32_t i = 0; i < self->segment_count; i++)
        to = write_entry(self, i, &store->segments[i], to);
}

/* ----- defects of files ----- */

/* Increase or decrease a value of the directory; or make it the largest or smallest that its neighbours allow; or give
 * it and all later ones the highest possible numbers. */
static void change_value(edited_array *array, const store_defect *defect)
{
    if (array->count == 0)
        return;
    const size_t at = defect->at % array->count;
    uint64_t *value = &array->values[at];
    switch (defect->size % 4) {
    case 1: *value = (at + 1 < array->count ? value[1] : UINT64_MAX) - defect->value; break;
    case 2: *value = (at > 0 ? value[-1] : 0) + defect->value; break;
    case 3:
        for (size_t i = at; i < array->count; i++)
            array->values[i] = UINT64_MAX - defect->value - (array->count - 1 - i);
        break;
    default: *value += defect->value; break;
    }
}

/* Give a table another code: from random counts, or with one changed length. */
static void change_code(const store_defect *defect, uint8_t *header)
{
    uint64_t counts[REFERENCE_SYMBOLS];
    for (uint32_t i = 0; i < REFERENCE_SYMBOLS; i++)
        counts[i] = rng_mix(defect->value) >> i & 1;
    if (defect->size % 4 > 0)
        reference_code_lengths(counts, header + HEADER_LENGTHS);
    else
        header[HEADER_LENGTHS + defect->at % REFERENCE_SYMBOLS] = (uint8_t)defect->value;
}

/* Change a field of a block's frame: the begin or key of a group from 1 on, or the key shift. */
static void change_frame(const store_defect *defect, uint8_t *block, uint32_t block_bytes)
{
    const uint32_t groups = block == NULL ? 0 : reference_block_groups(block, block_bytes);
    if (groups == 0 || !reference_block_opens(block, block_bytes))
        return;
    const uint32_t group = 1 + defect->size % groups;
    if (defect->kind == DEFECT_KEY_SHIFT) {
        block[reference_key_shift_offset(block_bytes)] = (uint8_t)defect->value;
    } else if (group < groups) {
        const bool is_begin = defect->kind == DEFECT_BEGIN;
        uint8_t *at = block + (is_begin ? reference_begin_offset : reference_key_offset)(block, block_bytes, group);
        put(at, 2, ss_load_le16(at) + defect->value);
    }
}

static void change_files(const draft *self, edited_store *store)
{
    const store_defect *defect = self->defect;
    const uint32_t number = defect->segment % self->segment_count,
                   table = defect->table % self->segments[number].table_count;
    edited_segment *to = &store->segments[number];
    /* With ids, the number behind the last table means the id column. */
    const uint32_t file = self->plan->has_ids && defect->table % (self->segments[number].table_count + 1) ==
                                                     self->segments[number].table_count
                              ? EDITED_IDS
                              : table;
    uint8_t *entry = store->manifest + MANIFEST_FIXED;
    for (uint32_t i = 0; i < number; i++)
        entry += SEGMENT_FIXED + (size_t)self->segments[i].table_count * TABLE_FIXED;
    switch (defect->kind) {
    case DEFECT_KEY: change_value(&to->keys[file], defect); break;
    case DEFECT_FIRST_RANK: change_value(&to->ranks, defect); break;
    case DEFECT_RECORD_COUNT:
        edited_set(store, number, EDITED_RECORD_COUNT, 0, self->segments[number].count + defect->value);
        break;
    case DEFECT_DISTINCT_COUNT:
        edited_set(store, number, EDITED_DISTINCT_COUNT, 0, self->segments[number].distinct + defect->value);
        if (!self->plan->has_ids)
            edited_set(store, number, EDITED_RECORD_COUNT, 0, self->segments[number].distinct + defect->value);
        break;
    case DEFECT_BLOCK_COUNT: edited_resize(store, number, file, defect->size % 8); break;
    case DEFECT_H_COUNTS:
        put(to->files[table].bytes + HEADER_H_COUNTS + 8 * (defect->at % 128), 8, defect->value);
        break;
    case DEFECT_KEY_MASK: edited_set(store, number, EDITED_KEY_MASK, table, defect->value); break;
    case DEFECT_RADIUS: edited_set(store, number, EDITED_RADIUS, table, defect->value); break;
    case DEFECT_COLUMN: edited_set(store, number, EDITED_COLUMN_BITS, 0, defect->value); break;
    case DEFECT_BLOCK_BYTES: edited_set(store, number, EDITED_BLOCK_BYTES, 0, defect->value); break;
    case DEFECT_KIND: edited_set(store, number, EDITED_KIND, 0, !self->segments[number].removes); break;
    case DEFECT_DISTANCE: edited_set(store, number, EDITED_DISTANCE, 0, defect->value); break;
    case DEFECT_CODE: change_code(defect, to->files[table].bytes); break;
    case DEFECT_IDS_FLAGS: {
        uint8_t *block = edited_block(store, number, EDITED_IDS, defect->at % 8);
        if (block != NULL)
            block[19] ^= (uint8_t)defect->value;
        break;
    }
    case DEFECT_BYTE: {
        uint8_t *block = edited_block(store, number, file, defect->at % 8);
        if (block != NULL)
            block[(defect->size < 32 ? defect->size : defect->at) % self->plan->block_bytes] ^= (uint8_t)defect->value;
        break;
    }
    case DEFECT_BEGIN:
    case DEFECT_GROUP_KEY:
    case DEFECT_KEY_SHIFT:
        change_frame(defect, edited_block(store, number, table, defect->at % 8), self->plan->block_bytes);
        break;
    case DEFECT_CONTENT_SUM: entry[SEGMENT_CONTENT + defect->at % 16] ^= (uint8_t)defect->value; break;
    case DEFECT_NEXT_ID: put(store->manifest + MANIFEST_NEXT_ID, 8, self->next_id - defect->value); break;
    default: break;
    }
}

/* ----- the store ----- */

static const char *const names[DEFECT_KINDS] = {
    [DEFECT_NONE] = "none",
    [DEFECT_EQUAL_NEIGHBOURS] = "equal neighbours",
    [DEFECT_DESCENDING] = "descending",
    [DEFECT_KEY] = "key",
    [DEFECT_FIRST_RANK] = "first rank",
    [DEFECT_RECORD_COUNT] = "record count",
    [DEFECT_DISTINCT_COUNT] = "distinct count",
    [DEFECT_BLOCK_COUNT] = "block count",
    [DEFECT_H_COUNTS] = "h counts",
    [DEFECT_IDS_ORDER] = "order of ids",
    [DEFECT_IDS_REPEATED] = "repeated id",
    [DEFECT_RANK_SKIPPED] = "rank skipped",
    [DEFECT_RANK_REPEATED] = "rank repeated",
    [DEFECT_RECORDS_ADDED_AGAIN] = "records added again",
    [DEFECT_RECORDS_NOT_THERE] = "records not there",
    [DEFECT_OTHER_TABLE_LESS] = "other table lacks one",
    [DEFECT_OTHER_TABLE_MORE] = "other table has more",
    [DEFECT_OTHER_TABLE_OTHER] = "other table has another",
    [DEFECT_SLOW_PLAN] = "slow plan",
    [DEFECT_KEY_MASK] = "key mask",
    [DEFECT_RADIUS] = "radius",
    [DEFECT_COLUMN] = "width of the column",
    [DEFECT_BLOCK_BYTES] = "block size",
    [DEFECT_KIND] = "kind",
    [DEFECT_DISTANCE] = "distance",
    [DEFECT_CODE] = "code",
    [DEFECT_IDS_FLAGS] = "flags of ids",
    [DEFECT_BYTE] = "byte",
    [DEFECT_CONTENT_SUM] = "content sum",
    [DEFECT_NEXT_ID] = "next id",
    [DEFECT_SHORT_BLOCK] = "short block",
    [DEFECT_LOWERS_EXCHANGED] = "exchanged lower halves",
    [DEFECT_EQUAL_UPPERS] = "equal upper halves",
    [DEFECT_BEGIN] = "begin of a group",
    [DEFECT_GROUP_KEY] = "key of a group",
    [DEFECT_KEY_SHIFT] = "width of keys",
};

const char *defect_name(defect_kind kind)
{
    return kind < DEFECT_KINDS ? names[kind] : "?";
}

static uint64_t take_value(fuzz_input *input)
{
    static const uint64_t edges[] = {1, UINT64_MAX, 2, 100, 1 << 16, UINT64_C(1) << 32, UINT64_C(1) << 63, INT64_MAX};
    const uint64_t what = fuzz_take(input, 1);
    return what < 128 ? what : what < 192 ? edges[what % 8] : fuzz_take(input, 8);
}

/* Each kind has a number. The other bytes mean no defect, or one of the kinds that few places and values make
 * invalid. */
static defect_kind take_kind(fuzz_input *input)
{
    static const defect_kind others[] = {DEFECT_NONE, DEFECT_EQUAL_NEIGHBOURS, DEFECT_DESCENDING, DEFECT_KEY,
                                         DEFECT_KEY,  DEFECT_SLOW_PLAN,        DEFECT_BEGIN,      DEFECT_EQUAL_UPPERS};
    const uint32_t byte = (uint32_t)fuzz_take(input, 1);
    return byte < DEFECT_KINDS ? (defect_kind)byte : others[byte % (sizeof others / sizeof *others)];
}

void invalid_store_take(fuzz_input *input, invalid_store_plan *plan_out, store_defect *defect_out)
{
    static const uint32_t distances[8] = {3, 3, 2, 1, 0, 5, 3, 7}, sizes[4] = {256, 1024, 512, 2048};
    const uint32_t shape = (uint32_t)fuzz_take(input, 1), kind = (uint32_t)fuzz_take(input, 1);
    *plan_out = (invalid_store_plan){.has_ids = (shape >> 3 & 1) != 0,
                                     .distance = distances[shape >> 4 & 7],
                                     .segment_count = 1 + shape % 8,
                                     .block_bytes = sizes[kind & 3],
                                     .universe = kind >> 4 & 3};
    defect_out->kind = take_kind(input);
    defect_out->segment = (uint32_t)fuzz_take(input, 1);
    defect_out->table = (uint32_t)fuzz_take(input, 1);
    defect_out->at = (uint32_t)fuzz_take(input, 2);
    defect_out->size = (uint32_t)fuzz_take(input, 1);
    defect_out->value = take_value(input);
    for (uint32_t i = 0; i < plan_out->segment_count; i++) {
        plan_out->segments[i].count = (uint8_t)fuzz_take(input, 1);
        plan_out->segments[i].seed = (uint8_t)fuzz_take(input, 1);
        plan_out->segments[i].tables = (uint8_t)fuzz_take(input, 1);
        plan_out->segments[i].removes = (plan_out->segments[i].tables & 128) != 0;
    }
}

edited_store invalid_store_make(const invalid_store_plan *plan, const store_defect *defect)
{
    edited_store store = {.segment_count = plan->segment_count, .has_ids = plan->has_ids, .words = 1};
    draft self = {.plan = plan, .defect = defect, .distance = plan->distance, .segment_count = plan->segment_count};
    if (defect->kind == DEFECT_SLOW_PLAN) { /* 64 files each */
        self.distance = 16;
        store.segment_count = self.segment_count = 1;
    }
    self.segments = fuzz_memory(calloc(self.segment_count, sizeof *self.segments));
    for (uint32_t i = 0; i < self.segment_count; i++) {
        draft_segment *to = &self.segments[i];
        to->removes = plan->segments[i].removes;
        choose_tables(&self, to, plan->segments[i].tables & 15);
        choose_records(&self, i);
        draft_tables(&self, i);
    }
    change_lists(&self);
    for (uint32_t i = 0; i < self.segment_count; i++) {
        const draft_segment *from = &self.segments[i];
        for (size_t j = 0; plan->has_ids && j < from->count; j++)
            self.next_id = ss_max_u64(self.next_id, from->ids[j] + (from->ids[j] < UINT64_MAX));
        write_segment(&self, i, &store.segments[i]);
    }
    write_manifest(&self, &store);
    change_files(&self, &store);
    edited_set_checksums(&store);
    for (uint32_t i = 0; i < sizeof store.queries / sizeof store.queries[0]; i++)
        store.queries[i] = sample_fingerprint(plan->universe, i * 7 + defect->at) ^
                           (i % 3 == 0 ? 0 : UINT64_C(1) << 4 * (i % 16));
    for (uint32_t i = 0; i < self.segment_count; i++) {
        record_set_free(&self.segments[i].records);
        for (uint32_t j = 0; j < self.segments[i].table_count; j++)
            free(self.segments[i].tables[j].values);
    }
    free(self.segments);
    return store;
}
