/*
 * store.h - an open store: its segments, each with its tables, id column and directory, checked as far as that goes
 * without reading the blocks. Immutable; shared by cursors of all threads.
 */
#ifndef SS_STORE_H
#define SS_STORE_H

#include "codec/filter.h"
#include "file/block_reader.h"
#include "file/directory.h"
#include "file/manifest.h"
#include "plan/cost.h"
#include "plan/permute.h"
#include "store/key_index.h"

typedef struct ss_table {
    ss_block_reader blocks;
    ss_key_index keys; /* each block's last fingerprint, permuted */
    ss_permutation permutation;
    ss_code code;
} ss_table;

typedef struct ss_segment {
    const ss_manifest_segment *facts;
    ss_directory *directory;
    uint32_t table_count; /* that are open */
    ss_table *tables;
    ss_array ranks;          /* the first rank of each block of table 0 */
    ss_block_reader ids;     /* in a store with ids, as ids_keys */
    ss_key_index ids_keys;   /* each block's last rank */
    ss_cost_model costs;
} ss_segment;

struct sstore {
    ss_dir dir;
    ss_manifest manifest;
    sstore_open_options options; /* its recipe is not kept */
    bool records_only; /* opened by ss_store_open_records() */
    ss_filter_fn filter;
    ss_segment *segments;        /* manifest.segment_count of them */
};

static inline ss_geometry ss_table_geometry(const ss_table *table)
{
    return (ss_geometry){.block_bytes = table->blocks.header.block_bytes,
                         .restart_interval = table->blocks.header.restart_interval};
}

/* Open a store to read all its records in order and nothing else: only table 0 and the ids, without the directory. It takes
 * two files and next to no memory. Errors as sstore_open(). */
sstore_status ss_store_open_records(const char *path, sstore **store_out, sstore_error *error);

/* The bytes that table `number` takes in the directory, its keys and ranks. */
uint64_t ss_table_directory_bytes(const ss_segment *segment, uint32_t number);

#endif
