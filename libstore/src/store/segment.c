#include "store/segment.h"

#include "base/error.h"
#include "base/memory.h"

/* ===== key index ===== */

#define KEYS_A_BUCKET 4u /* on average: half a cache line */
#define MAX_BUCKET_BITS 26u

/* Choose enough leading bits for buckets of KEYS_A_BUCKET evenly spread keys. */
static uint32_t choose_bucket_bits(uint64_t key_count)
{
    uint32_t bits = 1;
    while (bits < MAX_BUCKET_BITS && (UINT64_C(1) << bits) * KEYS_A_BUCKET < key_count)
        bits++;
    return bits;
}

uint64_t ss_key_index_bytes(uint64_t key_count)
{
    uint64_t buckets = UINT64_C(1) << choose_bucket_bits(key_count), chunks = key_count / SS_CHUNK_KEYS + 1;
    return (buckets + 1) * sizeof(uint32_t) + chunks * sizeof(uint8_t *);
}

sstore_status ss_key_index_init(ss_key_index *index, ss_array *keys, sstore_error *error)
{
    uint64_t last = keys->count == 0 ? 0 : ss_array_at(keys, keys->count - 1);
    const uint32_t used_bits = last == 0 ? 1
                                         : 64 - (uint32_t)__builtin_clzll(last); /* the higher bits are 0 in all keys */
    uint32_t bits = (uint32_t)ss_min_u64(choose_bucket_bits(keys->count), used_bits);
    size_t buckets = (size_t)(last >> (used_bits - bits)) + 1;
    *index = (ss_key_index){.keys = *keys, .shift = used_bits - bits, .last = last};
    *keys = (ss_array){.count = 0};
    index->begins = ss_alloc(buckets + 1, sizeof *index->begins);
    if (index->begins == NULL)
        return ss_fail_memory(error, (buckets + 1) * sizeof *index->begins);
    if (index->keys.count > UINT32_MAX)
        return ss_fail(error, SSTORE_ERROR_UNSUPPORTED, 0, NULL, SSTORE_NO_OFFSET,
                       "a block file has %llu blocks, more than 2^32 - 1; rebuild the store with larger blocks",
                       (unsigned long long)index->keys.count);
    size_t bucket = 0;
    for (uint64_t i = 0; i < index->keys.count; i++)
        for (uint64_t of_key = ss_array_at(&index->keys, i) >> index->shift; bucket <= of_key; bucket++)
            index->begins[bucket] = (uint32_t)i;
    for (; bucket <= buckets; bucket++)
        index->begins[bucket] = (uint32_t)index->keys.count;
    return SSTORE_OK;
}

void ss_key_index_free(ss_key_index *index)
{
    ss_array_free(&index->keys);
    ss_free(index->begins);
    index->begins = NULL;
}

SS_ALWAYS_INLINE bool key_is_below(const void *keys, uint64_t index, uint64_t target)
{
    return ss_array_at(keys, index) < target;
}

uint64_t ss_key_index_find(const ss_key_index *index, uint64_t target)
{
    if (SS_UNLIKELY(target > index->last))
        return index->keys.count;
    const uint32_t *begin = &index->begins[target >> index->shift];
    return ss_lower_bound(&index->keys, begin[0], begin[1] - begin[0], target, key_is_below);
}

/* ===== segment ===== */

/* A segment's block file by number: a table's, or a column's. */
static ss_block_reader *block_file(ss_segment *segment, uint32_t number)
{
    return number == SS_IDS_NUMBER || number == SS_NAMES_NUMBER ? &segment->ids : &segment->tables[number].blocks;
}

static sstore_status fail_header(const ss_block_reader *blocks, sstore_error *error)
{
    return ss_fail_damaged(error, blocks->file.path, 0, "the header contradicts the manifest");
}

/* Take the fragments of a column of names, whose file is open, and check the rest of its header. */
static sstore_status open_names(ss_segment *segment, bool fits, sstore_error *error)
{
    const ss_block_reader *blocks = &segment->ids;
    if (!fits || blocks->header.item_count != segment->metadata.record_count)
        return fail_header(blocks, error);
    segment->fragments = ss_alloc(1, sizeof *segment->fragments);
    if (segment->fragments == NULL)
        return ss_fail_memory(error, sizeof *segment->fragments);
    return ss_block_reader_fragments(blocks, segment->fragments, error);
}

/* Open a block file, and check its header against the manifest. */
static sstore_status open_blocks(ss_segment *segment, const ss_dir *dir, uint32_t number, const ss_segment_use *use,
                                 sstore_error *error)
{
    const ss_manifest_segment *metadata = &segment->metadata;
    const ss_block_file_metadata file = ss_manifest_file_metadata(metadata, number);
    const ss_block_reader *blocks = block_file(segment, number);
    const ss_block_header *header = &blocks->header;
    const sstore_status status = ss_block_reader_open(block_file(segment, number), dir, &file, use->io, error);
    if (status != SSTORE_OK)
        return status;
    bool fits = header->table_count == metadata->plan.table_count && header->distance == metadata->plan.distance;
    if (number == SS_NAMES_NUMBER)
        return open_names(segment, fits, error);
    const bool has_code = number != SS_IDS_NUMBER && metadata->words == 1;
    for (uint32_t h = 0; !has_code && h < SS_SYMBOL_COUNT; h++)
        fits &= header->code_lengths[h] == 0;
    if (number == SS_IDS_NUMBER) {
        fits &= header->item_count == metadata->record_count;
        segment->checked_ids = (ss_checked_blocks){.reader = blocks};
    } else {
        ss_table *table = &segment->tables[number];
        const ss_plan_table *plan = &metadata->plan.tables[number];
        fits &= header->item_count == metadata->distinct_count && header->radius == (uint32_t)plan->radius &&
                header->key_mask == plan->key_mask;
        if (has_code) {
            ss_permutation_init(&table->permutation, plan->key_mask);
            ss_code_assign(&table->code, header->code_lengths);
        }
        table->checked = (ss_checked_blocks){.reader = blocks,
                                             .words = metadata->words,
                                             .code = &table->code,
                                             .filler = &segment->filler};
    }
    return fits ? SSTORE_OK : fail_header(blocks, error);
}

/* Find a block file's keys in the directory. In consecutive blocks, ranks, the keys of the id column, may be equal, and
 * first words of whole fingerprints. */
static sstore_status open_keys(ss_segment *segment, uint32_t number, sstore_error *error)
{
    const bool is_names = number == SS_NAMES_NUMBER, is_ids = is_names || number == SS_IDS_NUMBER;
    const ss_block_reader *blocks = block_file(segment, number);
    ss_key_index *index = is_ids ? &segment->ids_keys : &segment->tables[number].keys;
    ss_checked_blocks *checked = is_ids ? &segment->checked_ids : &segment->tables[number].checked;
    ss_array keys = {.count = 0};
    sstore_status status = ss_directory_get(segment->directory, SS_ARRAY_KEYS, number, blocks->header.block_count,
                                            &keys, error);
    if (status == SSTORE_OK && !ss_array_ascends(&keys, !is_ids && segment->metadata.words == 1))
        status = ss_fail_damaged(error, blocks->file.path, SSTORE_NO_OFFSET,
                                 "the directory's %s do not ascend; " SS_DIRECTORY_ADVICE,
                                 is_names ? "ids of the names"
                                 : is_ids ? "ranks for the ids"
                                          : "keys for this table");
    if (status == SSTORE_OK)
        status = ss_key_index_init(index, &keys, error);
    checked->keys = &index->keys;
    ss_array_free(&keys);
    return status;
}

/* Find the number of the first name of each block of names. A block that has only a part of a name has the number after
 * it. */
static sstore_status open_numbers(ss_segment *segment, sstore_error *error)
{
    const ss_block_reader *blocks = &segment->ids;
    ss_array numbers = {.count = 0};
    sstore_status status = ss_directory_get(segment->directory, SS_ARRAY_RANKS, SS_NAMES_NUMBER,
                                            blocks->header.block_count, &numbers, error);
    if (status == SSTORE_OK && numbers.count > 0 &&
        (ss_array_at(&numbers, 0) != 0 || !ss_array_ascends(&numbers, false) ||
         ss_array_at(&numbers, numbers.count - 1) > blocks->header.item_count))
        status = ss_fail_damaged(error, blocks->file.path, SSTORE_NO_OFFSET,
                                 "the directory's numbers of the names are wrong; " SS_DIRECTORY_ADVICE);
    if (status == SSTORE_OK)
        status = ss_key_index_init(&segment->numbers, &numbers, error);
    ss_array_free(&numbers);
    return status;
}

static sstore_status open_ranks(ss_segment *segment, sstore_error *error)
{
    const ss_block_reader *blocks = &segment->tables[0].blocks;
    const ss_array *ranks = &segment->ranks;
    sstore_status status = ss_directory_get(segment->directory, SS_ARRAY_RANKS, 0, blocks->header.block_count,
                                            &segment->ranks, error);
    if (status != SSTORE_OK)
        return status;
    segment->tables[0].checked.ranks = ranks;
    if (ranks->count > 0 && (ss_array_at(ranks, 0) != 0 || !ss_array_ascends(ranks, true) ||
                             ss_array_at(ranks, ranks->count - 1) >= segment->metadata.distinct_count))
        return ss_fail_damaged(error, blocks->file.path, SSTORE_NO_OFFSET,
                               "the directory's ranks do not ascend from 0; " SS_DIRECTORY_ADVICE);
    return SSTORE_OK;
}

/* Open a block file. If its fault is only to be reported, leave it out. */
static sstore_status open_file(ss_segment *segment, const ss_dir *dir, uint32_t number, const ss_segment_use *use,
                               sstore_error *error)
{
    sstore_error problem;
    const sstore_status status = open_blocks(segment, dir, number, use, &problem);
    if (status == SSTORE_OK && use->few_files)
        ss_block_reader_close_file(block_file(segment, number));
    if (status == SSTORE_OK)
        return status;
    if (use->on_problem == NULL || !ss_is_of_one_file(&problem))
        return ss_fail_as(error, &problem);
    ss_block_reader_close(block_file(segment, number));
    *block_file(segment, number) = (ss_block_reader){.file = SS_FILE_NONE};
    use->on_problem(use->context, &problem);
    return SSTORE_OK;
}

static sstore_status open_files(ss_segment *segment, const ss_dir *dir, const ss_segment_use *use, sstore_error *error)
{
    const ss_manifest_segment *metadata = &segment->metadata;
    const bool is_complete = !use->records_only && !use->blocks_only;
    const uint32_t record_tables = ss_is_names(metadata->kind) ? 0 : 1; /* names are without their index */
    const uint32_t table_count = use->records_only ? record_tables : metadata->plan.table_count;
    const uint32_t file_count = table_count + ss_file_count(metadata) - metadata->plan.table_count;
    sstore_status status = SSTORE_OK;
    segment->tables = ss_alloc_sparse(ss_max_u32(table_count, 1) *
                                      sizeof *segment->tables); /* most of it codes, which few tables need */
    if (segment->tables == NULL)
        return ss_fail_memory(error, table_count * sizeof *segment->tables);
    segment->table_count = table_count;
    for (uint32_t i = 0; status == SSTORE_OK && i < file_count; i++) {
        const uint32_t number = i < table_count ? i : ss_file_number(metadata, metadata->plan.table_count);
        status = open_file(segment, dir, number, use, error);
    }
    if (!is_complete)
        return status;
    /* The directory is loaded last: now its size is known to be plausible for files that exist. */
    if (status == SSTORE_OK)
        status = ss_directory_open(dir, metadata->lmdb_format, metadata->directory_bytes, metadata->directory_checksum,
                                   &segment->directory, error);
    for (uint32_t i = 0; status == SSTORE_OK && i < table_count; i++)
        status = open_keys(segment, i, error);
    if (status == SSTORE_OK && metadata->words == 1)
        status = open_ranks(segment, error);
    if (status == SSTORE_OK && metadata->has_ids)
        status = open_keys(segment, SS_IDS_NUMBER, error);
    if (status == SSTORE_OK && ss_is_names(metadata->kind))
        status = open_keys(segment, SS_NAMES_NUMBER, error);
    if (status == SSTORE_OK && ss_is_names(metadata->kind))
        status = open_numbers(segment, error);
    if (status == SSTORE_OK)
        ss_directory_release(segment->directory);
    return status;
}

sstore_status ss_segment_dir_open(const ss_dir *store, const ss_manifest_segment *metadata, uint32_t index,
                                  ss_dir *dir_out, sstore_error *error)
{
    char name[SS_NAME_CAPACITY];
    ss_dir folder = SS_DIR_NONE;
    ss_folder_name(name, SS_SEGMENT_PREFIX, metadata->folder_number);
    if (index == SS_NO_INDEX)
        return ss_dir_open_at(store, name, dir_out, error);
    *dir_out = SS_DIR_NONE;
    sstore_status status = ss_dir_open_at(store, name, &folder, error);
    ss_index_folder_name(name, metadata, index);
    if (status == SSTORE_OK)
        status = ss_dir_open_at(&folder, name, dir_out, error);
    ss_dir_close(&folder);
    return status;
}

sstore_status ss_index_dir_make(const ss_dir *dir, const ss_manifest_segment *segment, uint32_t index, ss_dir *dir_out,
                                sstore_error *error)
{
    char name[SS_NAME_CAPACITY];
    *dir_out = SS_DIR_NONE;
    ss_index_folder_name(name, segment, index);
    const sstore_status status = ss_dir_make_at(dir, name, error);
    return status == SSTORE_OK ? ss_dir_open_at(dir, name, dir_out, error) : status;
}

/* Open a segment, or an index, in its folder. */
static sstore_status open_in(const ss_dir *dir, const ss_manifest_segment *part, const ss_segment_use *use,
                             ss_segment **segment_out, sstore_error *error)
{
    ss_segment *segment = ss_alloc(1, sizeof *segment);
    *segment_out = segment;
    if (segment == NULL)
        return ss_fail_memory(error, sizeof *segment);
    atomic_init(&segment->reference_count, 1);
    atomic_init(&segment->filler, 0);
    segment->metadata = *part;
    segment->metadata.indexes = NULL;
    segment->costs = (ss_cost_model){.fingerprint_count = (double)part->distinct_count,
                                     .block_count = (double)part->tables[0].block_count,
                                     .io = use->io,
                                     .strategy = use->strategy};
    const sstore_status status = open_files(segment, dir, use, error);
    if (status != SSTORE_OK) {
        ss_segment_release(segment);
        *segment_out = NULL;
    }
    return status;
}

/* Advise what to do about an index whose blocks are lost: it follows from the records of its segment, and that of names
 * from the names. A lost directory has advice of its own. */
static void advise_about_index(const ss_manifest_segment *metadata, uint32_t index, sstore_error *error)
{
    const char *slash = error != NULL ? strrchr(error->file, '/') : NULL, *file = slash != NULL ? slash + 1 : "";
    if (error == NULL || index == SS_NO_INDEX || strcmp(file, SS_DIRECTORY_NAME) == 0)
        return;
    if (!ss_is_names(metadata->indexes[index].kind) || strncmp(file, "table-", 6) == 0)
        ss_advise(error, "sstore_merge() of this store alone makes one with new indexes");
    else if (strstr(file, ".blk") != NULL)
        ss_advise(error, "restore the file from a copy, or build the store again");
    else
        ss_advise(error, "names are not stored elsewhere: restore the folder from a copy, or build the store again");
}

sstore_status ss_segment_open_part(const ss_dir *store, const ss_manifest_segment *metadata, uint32_t index,
                                   const ss_segment_use *use, ss_segment **segment_out, sstore_error *error)
{
    const ss_manifest_segment *part = index == SS_NO_INDEX ? metadata : &metadata->indexes[index];
    ss_dir dir;
    *segment_out = NULL;
    sstore_status status = ss_segment_dir_open(store, metadata, index, &dir, error);
    ss_segment_use part_use = *use;
    part_use.few_files = index != SS_NO_INDEX;
    if (status == SSTORE_OK)
        status = open_in(&dir, part, &part_use, segment_out, error);
    ss_dir_close(&dir);
    if (status == SSTORE_ERROR_NOT_FOUND || status == SSTORE_ERROR_DAMAGED)
        advise_about_index(metadata, index, error);
    if (status == SSTORE_ERROR_NOT_FOUND && use->blocks_only) { /* the manifest names it, so it is lost */
        status = SSTORE_ERROR_DAMAGED;
        if (error != NULL)
            error->status = status;
    }
    return status;
}

sstore_status ss_segment_open_staged(const ss_dir *dir, const ss_manifest_segment *metadata, ss_segment **segment_out,
                                     sstore_error *error)
{
    const ss_segment_use use = {.records_only = true, .io = SSTORE_IO_PREAD};
    return open_in(dir, metadata, &use, segment_out, error);
}

/* Open an index. It is left out if its folder is missing and that is only to be reported. */
static sstore_status open_index(const ss_dir *store, const ss_manifest_segment *metadata, uint32_t index,
                                const ss_segment_use *use, ss_segment **index_out, sstore_error *error)
{
    sstore_error problem;
    const sstore_status status = ss_segment_open_part(store, metadata, index, use, index_out, &problem);
    if (status == SSTORE_OK || use->on_problem == NULL || !ss_is_of_one_file(&problem))
        return status == SSTORE_OK ? status : ss_fail_as(error, &problem);
    use->on_problem(use->context, &problem);
    return SSTORE_OK;
}

static sstore_status open_indexes(const ss_dir *store, const ss_manifest_segment *metadata, const ss_segment_use *use,
                                  ss_segment *segment, sstore_error *error)
{
    const uint32_t words = ss_word_index_count(metadata), wanted = use->without_words ? 0 : words;
    const uint32_t count = ss_index_count(metadata);
    sstore_status status = SSTORE_OK;
    segment->indexes = ss_alloc(wanted, sizeof(ss_segment *));
    if (segment->indexes == NULL)
        return ss_fail_memory(error, wanted * sizeof(ss_segment *));
    for (; status == SSTORE_OK && segment->index_count < wanted; segment->index_count++)
        status = open_index(store, metadata, segment->index_count, use, &segment->indexes[segment->index_count], error);
    if (status == SSTORE_OK && words < count)
        status = open_index(store, metadata, words, use, &segment->id_index, error);
    if (status == SSTORE_OK && words + 1 < count)
        status = open_index(store, metadata, words + 1, use, &segment->names, error);
    return status;
}

sstore_status ss_segment_open(const ss_dir *store, const ss_manifest_segment *metadata, const ss_segment_use *use,
                              ss_segment **segment_out, sstore_error *error)
{
    sstore_status status = ss_segment_open_part(store, metadata, SS_NO_INDEX, use, segment_out, error);
    if (status != SSTORE_OK || use->records_only || ss_index_count(metadata) == 0)
        return status;
    status = open_indexes(store, metadata, use, *segment_out, error);
    if (status != SSTORE_OK) {
        ss_segment_release(*segment_out);
        *segment_out = NULL;
    }
    return status;
}

ss_segment *ss_segment_retain(ss_segment *segment)
{
    atomic_fetch_add_explicit(&segment->reference_count, 1, memory_order_relaxed);
    return segment;
}

void ss_segment_release(ss_segment *segment)
{
    if (segment == NULL || atomic_fetch_sub_explicit(&segment->reference_count, 1, memory_order_acq_rel) > 1)
        return;
    for (uint32_t i = 0; i < segment->index_count; i++)
        ss_segment_release(segment->indexes[i]);
    ss_segment_release(segment->id_index);
    ss_segment_release(segment->names);
    ss_free(segment->indexes);
    for (uint32_t i = 0; i < segment->table_count; i++) {
        ss_block_reader_close(&segment->tables[i].blocks);
        ss_key_index_free(&segment->tables[i].keys);
    }
    ss_free(segment->tables);
    ss_array_free(&segment->ranks);
    ss_block_reader_close(&segment->ids);
    ss_key_index_free(&segment->ids_keys);
    ss_key_index_free(&segment->numbers);
    ss_free(segment->fragments);
    ss_directory_close(segment->directory);
    ss_free(segment);
}

uint64_t ss_table_directory_bytes(const ss_segment *segment, uint32_t number)
{
    return 8 * (segment->tables[number].keys.keys.count + (number == 0 ? segment->ranks.count : 0));
}
