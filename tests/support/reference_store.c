#include "support/reference_store.h"
#include "support/data.h"

#include "store/manifest.h"
#include "support/reference_block.h"
#include "support/reference_ids.h"
#include "support/store_offsets.h"

#define PLAN_STEPS 200000u

/* ----- lists ----- */

static void append(reference_list *list, uint64_t value)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 64 : 2 * list->capacity;
        list->items = fuzz_memory(realloc(list->items, list->capacity * sizeof *list->items));
    }
    list->items[list->count++] = value;
}

static void sort(reference_list *list)
{
    if (list->count > 0)
        qsort(list->items, list->count, sizeof *list->items, compare_numbers);
}

static bool contains(const reference_list *list, uint64_t value)
{
    return list->count > 0 && bsearch(&value, list->items, list->count, sizeof value, compare_numbers) != NULL;
}

static void break_rule(reference_store *store, reference_segment *segment, uint32_t rule, const char *reason)
{
    store->broken |= rule;
    if (segment != NULL)
        segment->broken |= rule;
    if (store->first_reason == NULL)
        store->first_reason = reason;
}

/* ----- plans ----- */

/* A segment's fields in the manifest. */
typedef struct facts {
    const uint8_t *entry;
    uint64_t records, distinct;
    uint32_t block_bytes, column, table_count, distance;
} facts;

static const uint8_t *table_of(const facts *known, uint32_t table)
{
    return known->entry + SEGMENT_FIXED + (size_t)table * TABLE_FIXED;
}

/* Error patterns are tried by their number of bits of each class; bits of a class are in the same tables. */
typedef struct search {
    const facts *known;
    uint64_t classes[64]; /* masks */
    uint32_t class_count, steps;
    uint32_t covered[64]; /* bits of each table */
} search;

static bool is_covered(const search *self)
{
    for (uint32_t i = 0; i < self->known->table_count; i++)
        if (self->covered[i] <= ss_load_le32(table_of(self->known, i) + TABLE_RADIUS))
            return true;
    return false;
}

/* Whether every pattern is covered that has the chosen bits and at most `left` more, of the classes from `number`
 * on. */
static bool all_covered(search *self, uint32_t number, uint32_t left)
{
    if (++self->steps > PLAN_STEPS)
        return true;
    if (number == self->class_count || left == 0)
        return is_covered(self);
    const uint32_t size = (uint32_t)__builtin_popcountll(self->classes[number]);
    bool all = all_covered(self, number + 1, left);
    uint32_t added = 0;
    while (all && added < size && added < left) {
        added++;
        for (uint32_t i = 0; i < self->known->table_count; i++)
            self->covered[i] += (ss_load_le64(table_of(self->known, i) + TABLE_MASK) & self->classes[number]) != 0;
        all = all_covered(self, number + 1, left - added);
    }
    for (uint32_t i = 0; i < self->known->table_count; i++)
        if ((ss_load_le64(table_of(self->known, i) + TABLE_MASK) & self->classes[number]) != 0)
            self->covered[i] -= added;
    return all;
}

static void find_classes(search *self)
{
    for (uint32_t bit = 0; bit < 64; bit++) {
        const uint64_t one = UINT64_C(1) << bit;
        uint32_t number = 0;
        for (; number < self->class_count; number++) {
            bool same = true;
            for (uint32_t i = 0; i < self->known->table_count; i++) {
                const uint64_t mask = ss_load_le64(table_of(self->known, i) + TABLE_MASK);
                same &= ((mask & one) != 0) == ((mask & self->classes[number]) != 0);
            }
            if (same)
                break;
        }
        if (number == self->class_count)
            self->classes[self->class_count++] = 0;
        self->classes[number] |= one;
    }
}

static void check_plan(reference_store *store, reference_segment *segment, const facts *known)
{
    search self = {.known = known};
    for (uint32_t i = 0; i < known->table_count; i++) {
        const uint64_t mask = ss_load_le64(table_of(known, i) + TABLE_MASK);
        const uint32_t bits = ss_load_le32(table_of(known, i) + TABLE_PREFIX_BITS);
        if (bits == 0 || bits != (uint32_t)__builtin_popcountll(mask) ||
            ss_load_le32(table_of(known, i) + TABLE_RADIUS) > bits)
            break_rule(store, segment, BROKEN_FRAME, "a table's bits or radius are impossible");
        else if (i == 0 && bits < 64 && mask << bits != 0)
            break_rule(store, segment, BROKEN_FRAME, "table 0 is permuted");
    }
    if ((segment->broken & BROKEN_FRAME) != 0)
        return;
    find_classes(&self);
    if (!all_covered(&self, 0, known->distance))
        break_rule(store, segment, BROKEN_FRAME, "the plan is not complete");
    else if (self.steps > PLAN_STEPS)
        break_rule(store, segment, BROKEN_PLAN, "the plan takes long to prove");
}

/* ----- the frame ----- */

static bool is_block_size(uint32_t bytes)
{
    return bytes >= 256 && bytes <= 65536 && (bytes & (bytes - 1)) == 0;
}

static void check_block_counts(reference_store *store, reference_segment *segment, const facts *known,
                               const edited_segment *from)
{
    for (uint32_t i = 0; i <= known->table_count; i++) {
        const bool is_ids = i == known->table_count;
        const uint32_t file = is_ids ? EDITED_IDS : i;
        const uint64_t items = !is_ids ? known->distinct : store->has_ids ? known->records : 0;
        const uint64_t blocks = is_ids ? ss_load_le64(known->entry + SEGMENT_ID_BLOCKS)
                                       : ss_load_le64(table_of(known, i) + TABLE_BLOCKS);
        if (items / 65535 + (items % 65535 > 0) > blocks)
            break_rule(store, segment, is_ids || i == 0 ? BROKEN_FRAME : BROKEN_OPENING, "a header has too many items");
        if (blocks > items || (blocks > 0) != (items > 0))
            break_rule(store, segment, BROKEN_FRAME, "the numbers of blocks and items do not fit together");
        else if ((!is_ids || store->has_ids) && (from->files[file].bytes == NULL || blocks != from->keys[file].count ||
                                                 from->files[file].size != HEADER_FIXED + blocks * known->block_bytes))
            break_rule(store, segment, BROKEN_FRAME, "a file is not of its size");
    }
}

static bool has_no_code(const uint8_t lengths[REFERENCE_SYMBOLS])
{
    uint32_t used = 0;
    for (uint32_t h = 0; h < REFERENCE_SYMBOLS; h++)
        used += lengths[h] > 0;
    return used == 0;
}

static bool ascends(const edited_array *array, bool strictly)
{
    for (size_t i = 1; i < array->count; i++)
        if (array->values[i] < array->values[i - 1] || (strictly && array->values[i] == array->values[i - 1]))
            return false;
    return true;
}

static void check_opening(reference_store *store, reference_segment *segment, const facts *known,
                          const edited_segment *from)
{
    for (uint32_t i = 0; i < known->table_count; i++) {
        if (!reference_is_code(from->files[i].bytes + HEADER_LENGTHS))
            break_rule(store, segment, i == 0 ? BROKEN_FRAME : BROKEN_OPENING, "a code is impossible");
        if (!ascends(&from->keys[i], true))
            break_rule(store, segment, BROKEN_OPENING, "the directory's keys do not ascend");
    }
    if (store->has_ids && !has_no_code(from->files[EDITED_IDS].bytes + HEADER_LENGTHS))
        break_rule(store, segment, BROKEN_FRAME, "the ids have a code");
    if (store->has_ids && !ascends(&from->keys[EDITED_IDS], false))
        break_rule(store, segment, BROKEN_OPENING, "the directory's keys of the ids do not ascend");
    const edited_array *ranks = &from->ranks;
    if (!ascends(ranks, true) ||
        (ranks->count > 0 && (ranks->values[0] != 0 || ranks->values[ranks->count - 1] >= known->distinct)))
        break_rule(store, segment, BROKEN_OPENING, "the directory's first ranks are impossible");
}

static void check_frame(reference_store *store, reference_segment *segment, const facts *known,
                        const edited_segment *from)
{
    if (!is_block_size(known->block_bytes) || known->column != COLUMN_BITS)
        break_rule(store, segment, BROKEN_FRAME, "the block size or the column's width is impossible");
    else if (known->distinct > known->records || (known->records > 0) != (known->distinct > 0) ||
             (!store->has_ids && known->records != known->distinct))
        break_rule(store, segment, BROKEN_FRAME, "the numbers of records and fingerprints do not fit together");
    else
        check_block_counts(store, segment, known, from);
    if ((segment->broken & BROKEN_FRAME) == 0)
        check_plan(store, segment, known);
    if ((segment->broken & BROKEN_FRAME) == 0)
        check_opening(store, segment, known, from);
}

/* ----- tables ----- */

static uint64_t unpermute(uint64_t value, uint64_t mask)
{
    uint64_t original = 0;
    uint32_t leading = 63, other = 63 - (uint32_t)__builtin_popcountll(mask);
    const uint32_t behind = mask == 0 ? 64 : (uint32_t)__builtin_ctzll(mask); /* the first other bit is below it */
    for (uint32_t bit = 64; bit-- > 0;)
        if ((mask >> bit & 1) != 0)
            original |= (value >> leading-- & 1) << bit;
    for (uint32_t i = 1; i <= 64; i++) {
        const uint32_t bit = (behind + 64 - i) % 64;
        if ((mask >> bit & 1) == 0)
            original |= (value >> other-- & 1) << bit;
    }
    return original;
}

/* Compare a block with the one that a writer makes of its values; `next` is the next value, if any. */
static bool is_tidy(const uint8_t *block, const facts *known, const uint8_t lengths[REFERENCE_SYMBOLS],
                    const uint64_t *values, uint32_t count, bool has_next)
{
    static uint8_t again[65536];
    for (uint32_t i = 1; i < count; i++)
        if (values[i] <= values[i - 1])
            return false;
    if (reference_block_fit(known->block_bytes, lengths, values, count + has_next) != count)
        return false;
    reference_block_encode(again, known->block_bytes, lengths, values, count);
    return memcmp(again, block, known->block_bytes - 8) == 0;
}

/* The index of a block's first value in the list of all. */
typedef struct table_blocks {
    reference_list begins;
    bool malformed, loose; /* some block */
} table_blocks;

static void decode_table(const facts *known, const edited_segment *from, uint32_t table, reference_list *values,
                         table_blocks *blocks)
{
    static uint64_t decoded[65536 / 4];
    reference_code code;
    reference_code_init(&code, from->files[table].bytes + HEADER_LENGTHS);
    for (size_t i = 0; i < from->keys[table].count; i++) {
        const uint8_t *block = from->files[table].bytes + HEADER_FIXED + i * known->block_bytes;
        bool is_strict;
        append(&blocks->begins, values->count);
        if (!reference_block_opens(block, known->block_bytes) ||
            !reference_block_read(block, known->block_bytes, &code, decoded, &is_strict)) {
            blocks->malformed = true;
            continue;
        }
        blocks->loose |= !is_strict;
        for (uint32_t j = 0; j < reference_block_count(block, known->block_bytes); j++)
            append(values, decoded[j]);
    }
}

/* The statistics of a header. */
static bool counts_fit(const uint8_t *header, const reference_list *values)
{
    uint64_t h_counts[64] = {0}, gap_bits[64] = {0};
    for (size_t i = 1; i < values->count; i++) {
        const uint64_t gap = values->items[i] - values->items[i - 1];
        h_counts[reference_first_difference(values->items[i - 1], values->items[i])]++;
        for (uint32_t bit = 0; bit < 64; bit++)
            gap_bits[bit] += gap >> (63 - bit) & 1;
    }
    for (uint32_t i = 0; i < 64; i++)
        if (h_counts[i] != ss_load_le64(header + HEADER_H_COUNTS + 8 * (size_t)i) ||
            gap_bits[i] != ss_load_le64(header + HEADER_GAP_BITS + 8 * (size_t)i))
            return false;
    return true;
}

static void check_table(reference_store *store, reference_segment *segment, const facts *known,
                        const edited_segment *from, uint32_t table, const reference_list *values,
                        const table_blocks *blocks)
{
    const uint32_t rule = table == 0 ? BROKEN_TABLE_0 : BROKEN_OTHER_TABLES;
    const uint8_t *file = from->files[table].bytes;
    if (blocks->malformed) {
        store->malformed = true;
        break_rule(store, segment, rule, "a block is malformed");
        return;
    }
    for (size_t i = 1; i < values->count; i++)
        if (values->items[i] <= values->items[i - 1]) {
            break_rule(store, segment, rule, "fingerprints do not ascend");
            return;
        }
    if (blocks->loose)
        break_rule(store, segment, BROKEN_CODES, "a block is read though it is malformed");
    if (values->count != known->distinct)
        break_rule(store, segment, BROKEN_COUNTS, "there are more or fewer fingerprints than is said");
    for (size_t i = 0; i < blocks->begins.count; i++) {
        const size_t begin = blocks->begins.items[i];
        const size_t end = i + 1 < blocks->begins.count ? blocks->begins.items[i + 1] : values->count;
        if (from->keys[table].values[i] != values->items[end - 1] || (table == 0 && from->ranks.values[i] != begin))
            break_rule(store, segment, BROKEN_DIRECTORY, "a key or first rank is not the block's");
        if (!is_tidy(file + HEADER_FIXED + i * known->block_bytes, known, file + HEADER_LENGTHS, values->items + begin,
                     (uint32_t)(end - begin), end < values->count))
            break_rule(store, segment, BROKEN_FULL_CHECK, "a block is not as a writer makes it");
    }
    if (!counts_fit(file, values))
        break_rule(store, segment, BROKEN_FULL_CHECK, "a header's statistics are not the table's");
}

static void read_table(reference_store *store, reference_segment *segment, const facts *known,
                       const edited_segment *from, uint32_t table)
{
    reference_list values = {0};
    table_blocks blocks = {.malformed = false};
    decode_table(known, from, table, &values, &blocks);
    check_table(store, segment, known, from, table, &values, &blocks);
    const uint64_t mask = ss_load_le64(table_of(known, table) + TABLE_MASK);
    for (size_t i = 0; i < values.count; i++)
        values.items[i] = unpermute(values.items[i], mask);
    for (size_t i = 0; !segment->removes && i < values.count; i++)
        append(&store->fingerprints, values.items[i]);
    free(blocks.begins.items);
    if (table == 0) {
        segment->fingerprints = values;
        return;
    }
    sort(&values);
    /* As table 0 has them, if it ascends. */
    if ((segment->broken & (BROKEN_TABLE_0 | BROKEN_OTHER_TABLES)) == 0 &&
        (values.count != segment->fingerprints.count ||
         (values.count > 0 &&
          memcmp(values.items, segment->fingerprints.items, values.count * sizeof *values.items) != 0)))
        break_rule(store, segment, BROKEN_OTHER_TABLES, "a table has other fingerprints than table 0");
    free(values.items);
}

/* ----- ids ----- */

static bool id_block_is_tidy(const uint8_t *block, uint32_t block_bytes, const reference_list *ids,
                             const reference_list *ranks, size_t begin, size_t end)
{
    static uint8_t again[65536];
    const uint32_t count = (uint32_t)(end - begin);
    if (reference_ids_fit(block_bytes, ids->items + begin, ranks->items + begin, ids->count - begin) != count)
        return false;
    reference_ids_encode(again, block_bytes, ids->items + begin, ranks->items + begin, count,
                         end < ids->count && ranks->items[end] == ranks->items[end - 1]);
    return memcmp(again, block, block_bytes - 8) == 0;
}

/* Append the records of all blocks. False if a block is malformed, or begins otherwise than the one before said. */
static bool decode_ids(reference_segment *segment, const facts *known, const edited_segment *from,
                       reference_list *begins)
{
    static uint64_t ids[65536], ranks[65536];
    bool sound = true, continued = false;
    for (size_t i = 0; i < from->keys[EDITED_IDS].count; i++) {
        const uint8_t *block = from->files[EDITED_IDS].bytes + HEADER_FIXED + i * known->block_bytes;
        const size_t before = segment->ranks.count;
        append(begins, before);
        if (!reference_ids_decode(block, known->block_bytes, ids, ranks)) {
            sound = false;
            break;
        }
        for (uint32_t j = 0; j < reference_ids_count(block); j++) {
            append(&segment->ids, ids[j]);
            append(&segment->ranks, ranks[j]);
        }
        sound &= before == 0 || (segment->ranks.items[before] == segment->ranks.items[before - 1]) == continued;
        continued = reference_ids_continued(block);
    }
    return sound && !continued;
}

static bool ids_fit(const reference_segment *segment)
{
    const uint64_t *ids = segment->ids.items, *ranks = segment->ranks.items;
    const size_t count = segment->ids.count;
    if ((count > 0) != (segment->fingerprints.count > 0) ||
        (count > 0 && (ranks[0] != 0 || ranks[count - 1] + 1 != segment->fingerprints.count)))
        return false;
    for (size_t i = 1; i < count; i++)
        if (ranks[i] != ranks[i - 1] + 1 && (ranks[i] != ranks[i - 1] || ids[i] <= ids[i - 1]))
            return false;
    return true;
}

static void read_ids(reference_store *store, reference_segment *segment, const facts *known, const edited_segment *from)
{
    reference_list begins = {0};
    const bool sound = decode_ids(segment, known, from, &begins);
    const reference_list *ids = &segment->ids, *ranks = &segment->ranks;
    for (size_t i = 0; !segment->removes && i < ids->count; i++)
        append(&store->ids, ids->items[i]);
    if (!sound || !ids_fit(segment)) {
        if (!sound)
            store->malformed = true;
        break_rule(store, segment, BROKEN_IDS, "the ids do not fit the fingerprints, or do not ascend");
        free(begins.items);
        return;
    }
    if (ids->count != known->records)
        break_rule(store, segment, BROKEN_COUNTS, "there are more or fewer records than is said");
    for (size_t i = 0; i < begins.count; i++) {
        const size_t end = i + 1 < begins.count ? begins.items[i + 1] : ids->count;
        if (from->keys[EDITED_IDS].values[i] != ranks->items[end - 1])
            break_rule(store, segment, BROKEN_DIRECTORY, "a key of the ids is not the block's");
        if (!id_block_is_tidy(from->files[EDITED_IDS].bytes + HEADER_FIXED + i * known->block_bytes, known->block_bytes,
                              ids, ranks, begins.items[i], end))
            break_rule(store, segment, BROKEN_FULL_CHECK, "a block of the ids is not as a writer makes it");
    }
    free(begins.items);
}

/* ----- records ----- */

/* Combine the fingerprints and ids of a segment to records, in order. */
static void join_records(reference_store *store, reference_segment *segment, const facts *known)
{
    const size_t count = store->has_ids ? segment->ids.count : segment->fingerprints.count;
    ss_u128 sum = {0};
    for (size_t i = 0; i < count; i++) {
        const uint64_t fingerprint = segment->fingerprints.items[store->has_ids ? segment->ranks.items[i] : i],
                       id = store->has_ids ? segment->ids.items[i] : 0;
        record_set_put(&segment->records, &fingerprint, id);
        ss_content_add(&sum, store->has_ids, fingerprint, id);
    }
    if (!ss_u128_equal(sum, ss_load_u128(known->entry + SEGMENT_CONTENT)))
        break_rule(store, segment, BROKEN_FULL_CHECK, "the content sum is not that of the records");
}

/* The newest segment that has a record decides whether the store has it. The older ones must add and remove it
 * alternately. */
static void sum_up(reference_store *store)
{
    for (uint32_t i = 0; i < store->segment_count; i++) {
        const record_set *records = &store->segments[i].records;
        for (size_t j = 0; j < records->count; j++) {
            const uint64_t *fingerprint = &records->fingerprints[j], id = records->ids[j];
            bool is_there = false, is_newest = true;
            for (uint32_t older = 0; older < i; older++)
                if (record_set_has(&store->segments[older].records, fingerprint, id))
                    is_there = !store->segments[older].removes;
            for (uint32_t newer = i + 1; newer < store->segment_count; newer++)
                is_newest &= !record_set_has(&store->segments[newer].records, fingerprint, id);
            if (is_there != store->segments[i].removes)
                break_rule(store, NULL, BROKEN_ORDER, "a segment adds what is there, or removes what is not");
            if (is_newest && !store->segments[i].removes)
                record_set_put(&store->truth, fingerprint, id);
        }
    }
    record_set_sort(&store->truth);
}

/* ----- the store ----- */

static void check_totals(reference_store *store, const edited_store *from, uint64_t added, uint64_t removed)
{
    const uint64_t next = ss_load_le64(from->manifest + MANIFEST_NEXT_ID);
    if (removed > added)
        break_rule(store, NULL, BROKEN_FRAME, "more records are removed than there are");
    if (!store->has_ids && next != 0)
        break_rule(store, NULL, BROKEN_FRAME, "there is a next id without ids");
    for (uint32_t i = 0; store->has_ids && i < store->segment_count; i++)
        for (size_t j = 0; j < store->segments[i].ids.count; j++)
            if (store->segments[i].ids.items[j] >= next && next < UINT64_MAX)
                break_rule(store, NULL, BROKEN_FULL_CHECK, "the next id is not above all ids");
}

static facts read_facts(const edited_store *from, size_t at)
{
    const uint8_t *entry = from->manifest + at;
    return (facts){.entry = entry,
                   .records = ss_load_le64(entry + SEGMENT_RECORDS),
                   .distinct = ss_load_le64(entry + SEGMENT_DISTINCT),
                   .block_bytes = ss_load_le32(entry + SEGMENT_BLOCK_BYTES),
                   .column = ss_load_le32(entry + SEGMENT_COLUMN),
                   .table_count = ss_load_le32(entry + SEGMENT_TABLES),
                   .distance = ss_load_le32(from->manifest + MANIFEST_DISTANCE)};
}

static void read_segment(reference_store *store, uint32_t number, const facts *known, const edited_segment *from)
{
    reference_segment *segment = &store->segments[number];
    const uint32_t kind = ss_load_le32(known->entry + SEGMENT_KIND);
    segment->removes = kind == 1;
    segment->table_count = known->table_count;
    if (kind > 1)
        break_rule(store, segment, BROKEN_FRAME, "a segment is of another kind");
    check_frame(store, segment, known, from);
    if ((segment->broken & BROKEN_FRAME) != 0)
        return;
    for (uint32_t i = 0; i < known->table_count; i++)
        read_table(store, segment, known, from, i);
    if (store->has_ids)
        read_ids(store, segment, known, from);
    if ((segment->broken & BROKEN_CONTENT) == 0)
        join_records(store, segment, known);
}

static void drop_repeats(reference_list *list)
{
    size_t kept = 0;
    sort(list);
    for (size_t i = 0; i < list->count; i++)
        if (kept == 0 || list->items[kept - 1] != list->items[i])
            list->items[kept++] = list->items[i];
    list->count = kept;
}

reference_store *reference_store_read(const edited_store *bytes)
{
    reference_store *store = fuzz_memory(calloc(1, sizeof *store));
    uint64_t added = 0, removed = 0;
    size_t at = MANIFEST_FIXED + (ss_load_le32(bytes->manifest + MANIFEST_RECIPE) + 7) / 8 * 8;
    store->has_ids = (ss_load_le32(bytes->manifest + MANIFEST_FLAGS) & 1) != 0;
    store->distance = ss_load_le32(bytes->manifest + MANIFEST_DISTANCE);
    store->segment_count = bytes->segment_count;
    if (store->distance > SSTORE_MAX_BUILD_DISTANCE) {
        break_rule(store, NULL, BROKEN_FRAME, "the distance is out of range");
        return store;
    }
    for (uint32_t i = 0; i < store->segment_count; i++) {
        const facts known = read_facts(bytes, at);
        read_segment(store, i, &known, &bytes->segments[i]);
        added += store->segments[i].removes ? 0 : known.records;
        removed += store->segments[i].removes ? known.records : 0;
        if (removed > added)
            break_rule(store, NULL, BROKEN_FRAME, "more records are removed than there are");
        at += SEGMENT_FIXED + (size_t)known.table_count * TABLE_FIXED;
    }
    check_totals(store, bytes, added, removed);
    drop_repeats(&store->fingerprints);
    drop_repeats(&store->ids);
    if ((store->broken & BROKEN_CONTENT) == 0)
        sum_up(store);
    return store;
}

void reference_store_free(reference_store *store)
{
    for (uint32_t i = 0; i < store->segment_count; i++) {
        free(store->segments[i].fingerprints.items);
        free(store->segments[i].ids.items);
        free(store->segments[i].ranks.items);
        record_set_free(&store->segments[i].records);
    }
    free(store->fingerprints.items);
    free(store->ids.items);
    record_set_free(&store->truth);
    free(store);
}

bool reference_store_may_report(const reference_store *store, uint64_t fingerprint, uint64_t id)
{
    if ((store->broken & ~(uint32_t)(BROKEN_PLAN | BROKEN_FULL_CHECK)) == 0)
        return record_set_has(&store->truth, &fingerprint, id);
    if (store->malformed)
        return true;
    return contains(&store->fingerprints, fingerprint) && (store->has_ids ? contains(&store->ids, id) : id == 0);
}
