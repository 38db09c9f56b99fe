#include "support/edited_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/block_file.h"
#include "store/directory.h"
#include "store/manifest.h"
#include "store/segment.h"
#include "support/data.h"
#include "support/scratch.h"
#include "support/store_offsets.h"
#include "support/use_store.h"
#include "support/widened.h"

#define DATA_SEED 1u /* fixed, so that a list of changes always has the same effect */
#define MAX_CHANGES 64u
#define MAX_BLOCKS 64u  /* of a resized file */
#define FILE_NUMBERS 8u /* that a change can name: tables, and the ids as the last one */

static void must(sstore_status status, const sstore_error *error)
{
    if (status == SSTORE_OK)
        return;
    fprintf(stderr, "%s\n", error->message);
    abort();
}

/* ----- shapes ----- */

static const struct {
    data_kind kind;
    data_ids ids;
    size_t count;
    const char *plan;
    uint32_t block_bytes;
    bool changed; /* another segment adds, and one more removes */
    uint32_t words;
    bool id_index, names;
} shapes[EDITED_SHAPES] = {
    {DATA_CLUSTERED, DATA_IDS, 120, "2", 256, false, 1, false, false},
    {DATA_UNIFORM, DATA_NO_IDS, 200, "3", 256, false, 1, false, false},
    {DATA_REPEATED, DATA_IDS, 300, "2", 256, false, 1, false, false},
    {DATA_DENSE, DATA_ASSIGNED, 300, "4", 512, false, 1, false, false},
    {DATA_CLUSTERED, DATA_ASSIGNED, 0, "2", 256, false, 1, false, false},
    {DATA_CLUSTERED, DATA_IDS, 90, "2", 256, true, 1, false, false},
    {DATA_DENSE, DATA_NO_IDS, 150, NULL, 256, false, 3, false, false},
    {DATA_CLUSTERED, DATA_IDS, 90, NULL, 256, true, 2, false, false},
    {DATA_REPEATED, DATA_ASSIGNED, 200, "1", 256, true, 1, true, false},
    {DATA_CLUSTERED, DATA_IDS, 90, NULL, 256, true, 2, true, false},
    {DATA_CLUSTERED, DATA_IDS, 90, "2", 256, true, 1, true, true},
    {DATA_CLUSTERED, DATA_IDS, 60, NULL, 256, true, 2, true, true},
};

static void build_shape(const char *path, uint32_t shape, uint64_t queries[16 * EDITED_MAX_WORDS])
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_error error;
    data_set set;
    rng random = rng_seeded(DATA_SEED + shape);
    data_make(&random, shapes[shape].kind, shapes[shape].ids, shapes[shape].count, false, &set);
    options.block_bytes = shapes[shape].block_bytes;
    options.plan = shapes[shape].plan;
    options.id_index = shapes[shape].id_index;
    options.memory_bytes = 1 << 20;
    options.threads = 1;
    widened_words = shapes[shape].words;
    stores_are_named = shapes[shape].names;
    must(store_build(path, &options, &set, 0, &error), &error);
    if (shapes[shape].changed) {
        data_set more, part = set;
        data_make(&random, shapes[shape].kind, shapes[shape].ids, shapes[shape].count, false, &more);
        must(store_change(path, false, more.fingerprints, more.ids, more.count, &error), &error);
        part.count /= 2;
        must(store_change(path, true, part.fingerprints, part.ids, part.count, &error), &error);
        data_free(&more);
    }
    for (size_t i = 0; i < 16; i++) {
        const uint64_t query = set.count == 0 ? rng_next(&random) : data_query(&random, &set, 3);
        memcpy(queries + i * widened_words, widened(&query, 1), widened_words * sizeof query);
    }
    widened_words = 1;
    stores_are_named = false;
    data_free(&set);
}

static void load(const char *path, const char *name, uint8_t **bytes_out, size_t *size_out)
{
    char file[512];
    snprintf(file, sizeof file, "%s/%s", path, name);
    file_bytes content = file_load(file);
    *bytes_out = content.data;
    *size_out = content.size;
}

static edited_array load_array(const ss_directory *directory, ss_array_kind kind, uint32_t number, uint64_t count)
{
    ss_array array;
    sstore_error error;
    must(ss_directory_get(directory, kind, number, count, &array, &error), &error);
    edited_array copy = {.values = fuzz_memory(calloc(count + 1, sizeof *copy.values)), .count = count};
    for (uint64_t i = 0; i < count; i++)
        copy.values[i] = ss_array_at(&array, i);
    ss_array_free(&array);
    return copy;
}

/* Load a segment, or one of its indexes. */
static void load_segment(const char *path, const ss_dir *dir, const ss_manifest_segment *segment, uint32_t index,
                         edited_segment *made)
{
    const ss_manifest_segment *facts = index == SS_NO_INDEX ? segment : &segment->indexes[index];
    ss_directory *directory;
    ss_dir inside;
    sstore_error error;
    char folder[300], name[SS_NAME_CAPACITY];
    made->words = facts->words;
    made->is_index = index != SS_NO_INDEX;
    ss_folder_name(name, SS_SEGMENT_PREFIX, segment->folder_number);
    snprintf(made->folder, sizeof made->folder, "%s", name);
    ss_index_folder_name(name, segment, made->is_index ? index : 0);
    if (made->is_index)
        snprintf(made->folder + strlen(made->folder), sizeof made->folder - strlen(made->folder), "/%s", name);
    snprintf(folder, sizeof folder, "%s/%s", path, made->folder);
    must(ss_segment_dir_open(dir, segment, index, &inside, &error), &error);
    must(ss_directory_open(&inside, facts->lmdb_format, facts->directory_bytes, facts->directory_checksum, &directory,
                           &error),
         &error);
    load(folder, SS_DIRECTORY_NAME, &made->directory, &made->directory_bytes);
    for (uint32_t i = 0; i < facts->plan.table_count; i++) {
        ss_block_file_name(name, i);
        load(folder, name, &made->files[i].bytes, &made->files[i].size);
        made->keys[i] = load_array(directory, SS_ARRAY_KEYS, i, facts->tables[i].block_count);
    }
    made->ranks = load_array(directory, SS_ARRAY_RANKS, 0, facts->words > 1 ? 0 : facts->tables[0].block_count);
    if (facts->has_ids) {
        load(folder, SS_IDS_NAME, &made->files[EDITED_IDS].bytes, &made->files[EDITED_IDS].size);
        made->keys[EDITED_IDS] = load_array(directory, SS_ARRAY_KEYS, SS_IDS_NUMBER, facts->ids.block_count);
    }
    made->is_names = ss_is_names(facts->kind);
    if (made->is_names) {
        load(folder, SS_NAMES_NAME, &made->files[EDITED_IDS].bytes, &made->files[EDITED_IDS].size);
        made->keys[EDITED_IDS] = load_array(directory, SS_ARRAY_KEYS, SS_NAMES_NUMBER, facts->ids.block_count);
        made->numbers = load_array(directory, SS_ARRAY_RANKS, SS_NAMES_NUMBER, facts->ids.block_count);
    }
    ss_directory_close(directory);
    ss_dir_close(&inside);
}

edited_store edited_load(const char *path)
{
    edited_store store = {.segment_count = 0};
    ss_manifest manifest;
    ss_dir dir;
    sstore_error error;
    must(ss_dir_open(path, &dir, &error), &error);
    must(ss_manifest_read(&dir, &manifest, &error), &error);
    FUZZ_CHECK(ss_manifest_entry_count(&manifest) <= EDITED_MAX_SEGMENTS);
    load(path, SS_MANIFEST_NAME, &store.manifest, &store.manifest_bytes);
    store.has_ids = manifest.has_ids;
    store.has_names = manifest.has_names;
    store.words = manifest.words;
    for (uint32_t i = 0; i < manifest.segment_count; i++) {
        const ss_manifest_segment *segment = &manifest.segments[i];
        load_segment(path, &dir, segment, SS_NO_INDEX, &store.segments[store.segment_count++]);
        for (uint32_t index = 0; index < ss_index_count(segment); index++)
            load_segment(path, &dir, segment, index, &store.segments[store.segment_count++]);
    }
    ss_manifest_free(&manifest);
    ss_dir_close(&dir);
    return store;
}

static const edited_store *shape_of(uint32_t shape)
{
    static edited_store made[EDITED_SHAPES];
    edited_store *store = &made[shape];
    uint64_t queries[sizeof store->queries / sizeof store->queries[0]];
    if (store->manifest != NULL)
        return store;
    char path[256];
    snprintf(path, sizeof path, "%s", scratch_path("shape-%u", shape));
    build_shape(path, shape, queries);
    *store = edited_load(path);
    memcpy(store->queries, queries, sizeof queries);
    scratch_remove(path);
    return store;
}

static void *copy_of(const void *from, size_t size)
{
    return from == NULL ? NULL : memcpy(fuzz_memory(malloc(size + 1)), from, size);
}

static edited_array array_copy(const edited_array *from)
{
    return (edited_array){.values = copy_of(from->values, from->count * sizeof *from->values), .count = from->count};
}

edited_store edited_make(uint32_t shape)
{
    const edited_store *from = shape_of(shape);
    edited_store store = *from;
    store.manifest = copy_of(from->manifest, from->manifest_bytes);
    for (uint32_t i = 0; i < store.segment_count; i++) {
        edited_segment *to = &store.segments[i];
        to->directory = copy_of(to->directory, to->directory_bytes);
        to->ranks = array_copy(&to->ranks);
        to->numbers = array_copy(&to->numbers);
        for (uint32_t file = 0; file < EDITED_MAX_FILES; file++) {
            to->files[file].bytes = copy_of(to->files[file].bytes, to->files[file].size);
            to->keys[file] = array_copy(&to->keys[file]);
        }
    }
    return store;
}

void edited_free(edited_store *store)
{
    for (uint32_t i = 0; i < store->segment_count; i++) {
        edited_segment *segment = &store->segments[i];
        for (uint32_t file = 0; file < EDITED_MAX_FILES; file++) {
            free(segment->files[file].bytes);
            free(segment->keys[file].values);
        }
        free(segment->ranks.values);
        free(segment->numbers.values);
        free(segment->directory);
    }
    free(store->manifest);
    *store = (edited_store){.segment_count = 0};
}

/* ----- changing ----- */

static void put(uint8_t *to, size_t width, uint64_t value)
{
    for (size_t i = 0; i < width; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

static void put_at(uint8_t *data, size_t size, size_t at, size_t width, uint64_t value)
{
    if (data != NULL && width <= size)
        put(data + at % (size - width + 1), width, value);
}

/* A segment's entry in the manifest as it is now; NULL if there is none. *tables_out is its number of tables. */
static uint8_t *find_entry(const edited_store *store, uint32_t segment, uint32_t *tables_out)
{
    const size_t end = store->manifest_bytes - CHECKSUM_BYTES;
    uint64_t at = MANIFEST_FIXED + ((uint64_t)ss_load_le32(store->manifest + MANIFEST_RECIPE) + 7) / 8 * 8;
    for (uint32_t i = 0; at + SEGMENT_FIXED <= end; i++) {
        const uint32_t tables = ss_load_le32(store->manifest + at + SEGMENT_TABLES);
        const uint64_t next = at + SEGMENT_FIXED + (uint64_t)tables * TABLE_FIXED;
        if (tables > SS_MAX_TABLES || next > end)
            return NULL;
        *tables_out = tables;
        if (i == segment)
            return store->manifest + at;
        at = next;
    }
    return NULL;
}

/* The offset of a table's part of an entry; the id column has none. */
static uint8_t *table_entry(uint8_t *entry, uint32_t tables, uint32_t file)
{
    return entry != NULL && file < tables ? entry + SEGMENT_FIXED + (size_t)file * TABLE_FIXED : NULL;
}

static void resize_array(edited_array *array, size_t count)
{
    array->values = fuzz_memory(realloc(array->values, (count + 1) * sizeof *array->values));
    for (size_t i = array->count; i < count; i++)
        array->values[i] = i == 0 ? 0 : array->values[i - 1] + 1;
    array->count = count;
}

void edited_resize(edited_store *store, uint32_t segment, uint32_t file, size_t block_count)
{
    edited_segment *edited = &store->segments[segment];
    uint8_t *data = edited->files[file].bytes;
    uint32_t tables = 0;
    if (data == NULL)
        return;
    uint8_t *entry = find_entry(store, segment, &tables), *table = table_entry(entry, tables, file);
    const size_t block_bytes = ss_load_le32(data + HEADER_BLOCK_BYTES),
                 old = edited->files[file].size - SS_HEADER_BYTES;
    if (block_bytes > SS_BLOCK_MAX_BYTES)
        return;
    const size_t wanted = block_count * block_bytes;
    data = edited->files[file].bytes = fuzz_memory(realloc(data, SS_HEADER_BYTES + wanted + 1));
    for (size_t at = old; at < wanted; at++)
        data[SS_HEADER_BYTES + at] = old == 0 ? 0 : data[SS_HEADER_BYTES + at - old];
    edited->files[file].size = SS_HEADER_BYTES + wanted;
    put(data + HEADER_BLOCKS, 8, block_count);
    if (table != NULL)
        put(table + TABLE_BLOCKS, 8, block_count);
    else if (entry != NULL && file == EDITED_IDS)
        put(entry + SEGMENT_ID_BLOCKS, 8, block_count);
    resize_array(&edited->keys[file], block_count);
    if (file == 0 && edited->words == 1)
        resize_array(&edited->ranks, block_count);
    if (file == EDITED_IDS && edited->is_names)
        resize_array(&edited->numbers, block_count);
    edited->new_directory = true;
}

/* Set a number in the headers of the tables, or of the ids, or of both. */
static void set_headers(edited_segment *edited, bool tables, bool ids, size_t at, size_t width, uint64_t value)
{
    for (uint32_t file = 0; file < EDITED_MAX_FILES; file++)
        if (edited->files[file].bytes != NULL && (file == EDITED_IDS ? ids : tables))
            put(edited->files[file].bytes + at, width, value);
}

static void set_block_bytes(edited_store *store, uint32_t segment, uint64_t value)
{
    edited_segment *edited = &store->segments[segment];
    set_headers(edited, true, true, HEADER_BLOCK_BYTES, 4, value);
    for (uint32_t file = 0; value > 0 && file < EDITED_MAX_FILES; file++)
        if (edited->files[file].bytes != NULL)
            edited_resize(store, segment, file, (edited->files[file].size - SS_HEADER_BYTES + value - 1) / value);
}

void edited_set(edited_store *store, uint32_t segment, edited_field field, uint32_t index, uint64_t value)
{
    edited_segment *changed = &store->segments[segment];
    uint32_t tables = 0;
    uint8_t *entry = find_entry(store, segment, &tables), *table = table_entry(entry, tables, index);
    if (entry == NULL)
        return;
    uint8_t *header = table != NULL && index < EDITED_IDS ? changed->files[index].bytes : NULL;
    switch (field) {
    case EDITED_RECORD_COUNT:
        put(entry + SEGMENT_RECORDS, 8, value);
        set_headers(changed, false, true, HEADER_ITEMS, 8, value);
        break;
    case EDITED_DISTINCT_COUNT:
        put(entry + SEGMENT_DISTINCT, 8, value);
        set_headers(changed, true, false, HEADER_ITEMS, 8, value);
        break;
    case EDITED_BLOCK_BYTES:
        put(entry + SEGMENT_BLOCK_BYTES, 4, value);
        set_block_bytes(store, segment, (uint32_t)value);
        break;
    case EDITED_COLUMN_BITS:
        put(entry + SEGMENT_COLUMN, 4, value);
        set_headers(changed, true, false, HEADER_COLUMN, 4, value);
        break;
    case EDITED_DISTANCE:
        put(store->manifest + MANIFEST_DISTANCE, 4, value);
        for (uint32_t i = 0; i < store->segment_count; i++)
            if (!store->segments[i].is_index)
                set_headers(&store->segments[i], true, true, HEADER_DISTANCE, 4, value);
        break;
    case EDITED_KIND:
        put(entry + SEGMENT_KIND, 4, value);
        if (changed->is_index) /* its radius */
            set_headers(changed, true, true, HEADER_DISTANCE, 4, ss_word_index_distance((uint32_t)value));
        break;
    case EDITED_RADIUS:
        if (header != NULL) {
            put(table + TABLE_RADIUS, 4, value);
            put(header + HEADER_RADIUS, 4, value);
        }
        break;
    case EDITED_KEY_MASK:
        if (header != NULL) {
            put(table + TABLE_MASK, 8, value);
            put(table + TABLE_PREFIX_BITS, 4, (uint64_t)__builtin_popcountll(value));
            put(header + HEADER_MASK, 8, value);
        }
        break;
    default: break;
    }
}

uint32_t edited_word_count(const edited_store *store)
{
    return ss_load_le32(store->manifest + MANIFEST_BITS) / 64;
}

bool edited_adds(const edited_store *store, uint32_t segment)
{
    uint32_t tables;
    const uint8_t *entry = find_entry(store, segment, &tables);
    return entry != NULL && ss_load_le32(entry + SEGMENT_KIND) == SS_SEGMENT_ADDS;
}

void edited_set_code(edited_store *store, uint32_t segment, uint32_t file, uint32_t symbol)
{
    uint8_t *header = store->segments[segment].files[file].bytes;
    if (header == NULL)
        return;
    memset(header + HEADER_LENGTHS, 0, SS_SYMBOL_COUNT);
    header[HEADER_LENGTHS + symbol] = 1;
}

uint8_t *edited_block(edited_store *store, uint32_t segment, uint32_t file, size_t block)
{
    uint8_t *start = store->segments[segment].files[file].bytes;
    const size_t size = store->segments[segment].files[file].size;
    const size_t block_bytes = start == NULL ? 0 : ss_load_le32(start + HEADER_BLOCK_BYTES);
    const bool any = block_bytes >= SS_BLOCK_MIN_BYTES && size >= SS_HEADER_BYTES + block_bytes;
    return any && block <= (size - SS_HEADER_BYTES) / block_bytes - 1 ? start + SS_HEADER_BYTES + block * block_bytes
                                                                      : NULL;
}

static void move_block(edited_segment *edited, uint32_t to_file, size_t to, uint32_t from_file, size_t from)
{
    uint8_t *target = edited->files[to_file].bytes;
    const uint8_t *source = edited->files[from_file].bytes;
    if (target == NULL || source == NULL)
        return;
    const size_t block_bytes = ss_load_le32(target + HEADER_BLOCK_BYTES);
    if (block_bytes == 0 || block_bytes > SS_BLOCK_MAX_BYTES)
        return;
    const size_t to_count = (edited->files[to_file].size - SS_HEADER_BYTES) / block_bytes;
    const size_t from_count = (edited->files[from_file].size - SS_HEADER_BYTES) / block_bytes;
    if (to_count > 0 && from_count > 0)
        memmove(target + SS_HEADER_BYTES + to % to_count * block_bytes,
                source + SS_HEADER_BYTES + from % from_count * block_bytes, block_bytes);
}

static void set_key(edited_segment *edited, uint32_t file, size_t index, uint64_t value)
{
    edited_array *array = file != EDITED_MAX_FILES ? &edited->keys[file]
                          : edited->is_names       ? &edited->numbers
                                                   : &edited->ranks;
    if (array->count > 0)
        array->values[index % array->count] = value;
    edited->new_directory = true;
}

static uint32_t file_named(uint64_t number)
{
    return number % FILE_NUMBERS == FILE_NUMBERS - 1 ? EDITED_IDS : (uint32_t)(number % FILE_NUMBERS);
}

/* Make one change: its kind and the width of its number, the segment, the file, then the rest. */
static void change_once(edited_store *store, fuzz_input *input)
{
    enum { MANIFEST, HEADER, BLOCKS, KEYS, DIRECTORY, MOVE, RESIZE, FIELD };
    const uint32_t what = (uint32_t)fuzz_take(input, 1), where = (uint32_t)fuzz_take(input, 1);
    const size_t width = (size_t)1 << (what >> 3 & 3), at = fuzz_take(input, 2);
    const uint32_t segment = store->segment_count == 0 ? 0 : (where >> 4) % store->segment_count,
                   file = file_named(where);
    edited_segment *edited = &store->segments[segment];
    if (store->segment_count == 0 || (what & 7) == MANIFEST) {
        put_at(store->manifest, store->manifest_bytes, at, width, fuzz_take(input, width));
        return;
    }
    switch (what & 7) {
    case HEADER: put_at(edited->files[file].bytes, SS_HEADER_BYTES, at, width, fuzz_take(input, width)); break;
    case BLOCKS: {
        const size_t size = edited->files[file].size;
        if (size > SS_HEADER_BYTES)
            put_at(edited->files[file].bytes + SS_HEADER_BYTES, size - SS_HEADER_BYTES, at, width,
                   fuzz_take(input, width));
        break;
    }
    case KEYS: set_key(edited, (what & 128) != 0 ? EDITED_MAX_FILES : file, at, fuzz_take(input, 8)); break;
    case DIRECTORY: put_at(edited->directory, edited->directory_bytes, at, width, fuzz_take(input, width)); break;
    case MOVE: move_block(edited, file, at & 255, file_named(fuzz_take(input, 1)), at >> 8); break;
    case RESIZE: edited_resize(store, segment, file, at % MAX_BLOCKS); break;
    default: edited_set(store, segment, (edited_field)(at % EDITED_FIELDS), file, fuzz_take(input, width)); break;
    }
}

void edited_change(edited_store *store, fuzz_input *input)
{
    for (uint32_t i = 0; input->left > 0 && i < MAX_CHANGES; i++)
        change_once(store, input);
}

/* ----- checksums ----- */

static void put_array(ss_directory_writer *writer, ss_array_kind kind, uint32_t number, const edited_array *array)
{
    sstore_error error;
    if (array->count > 0)
        must(ss_directory_writer_put(writer, kind, number, 0, array->values, array->count, &error), &error);
}

static uint32_t column_number(const edited_segment *edited)
{
    return edited->is_names ? SS_NAMES_NUMBER : SS_IDS_NUMBER;
}

static void write_directory(edited_segment *edited)
{
    ss_directory_writer *writer;
    ss_dir dir;
    sstore_error error;
    uint64_t size;
    ss_u128 sum;
    must(ss_dir_open(scratch_folder(), &dir, &error), &error);
    must(ss_directory_writer_open(&dir, (uint64_t)1 << 16, &writer, &error), &error);
    for (uint32_t file = 0; file < EDITED_MAX_FILES; file++)
        put_array(writer, SS_ARRAY_KEYS, file == EDITED_IDS ? column_number(edited) : file, &edited->keys[file]);
    put_array(writer, SS_ARRAY_RANKS, 0, &edited->ranks);
    put_array(writer, SS_ARRAY_RANKS, SS_NAMES_NUMBER, &edited->numbers);
    must(ss_directory_writer_finish(writer, &size, &sum, &error), &error);
    ss_directory_writer_close(writer);
    free(edited->directory);
    load(scratch_folder(), SS_DIRECTORY_NAME, &edited->directory, &edited->directory_bytes);
    ss_dir_remove(&dir, SS_DIRECTORY_NAME);
    ss_dir_close(&dir);
    edited->new_directory = false;
}

/* Whether a segment has ids, as readers know it. */
static bool has_ids(const edited_store *store, const edited_segment *edited, const uint8_t *entry)
{
    const uint32_t kind = ss_load_le32(entry + SEGMENT_KIND);
    if (!edited->is_index)
        return (ss_load_le32(store->manifest + MANIFEST_FLAGS) & 1) != 0;
    return (kind & 0xff) == SS_SEGMENT_WORD_INDEX ||
           ((kind & 0xff) == SS_SEGMENT_ID_INDEX && !ss_id_index_is_packed(kind));
}

static ss_u128 segment_id(const edited_store *store, const edited_segment *edited, const uint8_t *entry,
                          uint32_t tables)
{
    ss_manifest_segment segment = {.kind = ss_load_le32(entry + SEGMENT_KIND),
                                   .words = edited->words,
                                   .has_ids = has_ids(store, edited, entry),
                                   .record_count = ss_load_le64(entry + SEGMENT_RECORDS),
                                   .distinct_count = ss_load_le64(entry + SEGMENT_DISTINCT),
                                   .content_sum = ss_load_u128(entry + SEGMENT_CONTENT)};
    segment.block_bytes = ss_load_le32(entry + SEGMENT_BLOCK_BYTES);
    segment.plan.distance = edited->is_index ? ss_word_index_distance(segment.kind)
                                             : ss_load_le32(store->manifest + MANIFEST_DISTANCE);
    segment.plan.table_count = tables;
    for (uint32_t i = 0; i < tables; i++) {
        const uint8_t *table = entry + SEGMENT_FIXED + (size_t)i * TABLE_FIXED;
        segment.plan.tables[i] = (ss_plan_table){.key_mask = ss_load_le64(table + TABLE_MASK),
                                                 .prefix_bits = ss_load_le32(table + TABLE_PREFIX_BITS),
                                                 .radius = (int32_t)ss_load_le32(table + TABLE_RADIUS)};
    }
    return ss_segment_id(&segment);
}

static void sign_blocks(uint8_t *data, size_t size)
{
    ss_block_header header = {.segment_id = ss_load_u128(data + HEADER_SEGMENT),
                              .number = ss_load_le32(data + HEADER_NUMBER)};
    const size_t block_bytes = ss_load_le32(data + HEADER_BLOCK_BYTES);
    memcpy(header.code_lengths, data + HEADER_LENGTHS, sizeof header.code_lengths);
    const uint64_t file_key = ss_block_file_key(&header);
    if (block_bytes < SS_BLOCK_MIN_BYTES || block_bytes > SS_BLOCK_MAX_BYTES)
        return;
    for (size_t block = 0; SS_HEADER_BYTES + (block + 1) * block_bytes <= size; block++) {
        uint8_t *bytes = data + SS_HEADER_BYTES + block * block_bytes;
        const size_t contents = block_bytes - SS_BLOCK_TRAILER_BYTES;
        ss_store_le64(bytes + contents, ss_hash64(bytes, contents) ^ ss_block_salt(file_key, block));
    }
}

static void sign_segment(edited_store *store, uint32_t number)
{
    edited_segment *edited = &store->segments[number];
    uint32_t tables = 0;
    uint8_t *entry = find_entry(store, number, &tables);
    if (edited->new_directory)
        write_directory(edited);
    if (entry == NULL)
        return;
    const ss_u128 id = segment_id(store, edited, entry, tables);
    ss_store_u128(entry + SEGMENT_ID, id);
    ss_store_le64(entry + SEGMENT_DIRECTORY_BYTES, edited->directory_bytes);
    ss_store_u128(entry + SEGMENT_DIRECTORY_SUM, ss_hash128(edited->directory, edited->directory_bytes));
    for (uint32_t file = 0; file < EDITED_MAX_FILES; file++) {
        uint8_t *data = edited->files[file].bytes, *table = table_entry(entry, tables, file);
        if (data == NULL)
            continue;
        ss_store_u128(data + HEADER_SEGMENT, id);
        if (edited->is_names && file == EDITED_IDS)
            ss_store_u128(data + HEADER_LENGTHS, ss_hash128(data + HEADER_FRAGMENTS, SS_FRAGMENTS_STORED_BYTES));
        const ss_u128 checksum = ss_hash128(data, HEADER_CHECKSUM);
        ss_store_u128(data + HEADER_CHECKSUM, checksum);
        if (file == EDITED_IDS)
            ss_store_u128(entry + SEGMENT_ID_HEADER, checksum);
        else if (table != NULL)
            ss_store_u128(table + TABLE_HEADER, checksum);
        sign_blocks(data, edited->files[file].size);
    }
}

void edited_set_checksums(edited_store *store)
{
    for (uint32_t i = 0; i < store->segment_count; i++)
        sign_segment(store, i);
    const size_t end = store->manifest_bytes - CHECKSUM_BYTES;
    ss_store_le32(store->manifest + MANIFEST_SIZE, (uint32_t)store->manifest_bytes);
    ss_store_u128(store->manifest + end, ss_hash128(store->manifest, end));
}

/* ----- writing ----- */

static void write_file(const char *folder, const char *name, const uint8_t *data, size_t size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FUZZ_CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
}

void edited_write(const edited_store *store, const char *path)
{
    (void)mkdir(path, 0700);
    write_file(path, SS_MANIFEST_NAME, store->manifest, store->manifest_bytes);
    for (uint32_t i = 0; i < store->segment_count; i++) {
        const edited_segment *edited = &store->segments[i];
        char folder[300], name[SS_NAME_CAPACITY];
        snprintf(folder, sizeof folder, "%s/%s", path, edited->folder);
        (void)mkdir(folder, 0700);
        write_file(folder, SS_DIRECTORY_NAME, edited->directory, edited->directory_bytes);
        for (uint32_t file = 0; file < EDITED_MAX_FILES; file++) {
            ss_block_file_name(name, file == EDITED_IDS ? column_number(edited) : file);
            if (edited->files[file].bytes != NULL)
                write_file(folder, name, edited->files[file].bytes, edited->files[file].size);
        }
    }
}

uint64_t edited_bytes(const edited_store *store)
{
    uint64_t all = store->manifest_bytes;
    for (uint32_t i = 0; i < store->segment_count; i++) {
        all += store->segments[i].directory_bytes;
        for (uint32_t file = 0; file < EDITED_MAX_FILES; file++)
            all += store->segments[i].files[file].bytes != NULL ? store->segments[i].files[file].size : 0;
    }
    return all;
}
