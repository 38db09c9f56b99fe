/*
 * slow_store.h - reads a whole store without the library's decoders: the fingerprints of each table, the records of
 * each segment and of the store, and the rules of format-spec/ that it breaks. Tests compare every way of reading with
 * it.
 */
#ifndef SUPPORT_SLOW_STORE_H
#define SUPPORT_SLOW_STORE_H

#include "sstore.h"
#include "support/hostile.h"
#include "support/oracle.h"

/* What is wrong with a store, by what it takes to notice it. */
enum {
    SLOW_FRAME = 1,         /* the manifest, or the header of table 0 or of the ids: nothing may be read */
    SLOW_OPENING = 2,       /* the header of another table, or the directory by itself: the store must not open */
    SLOW_PLAN = 4,          /* not proved to be complete, within the steps that are taken here: it may be refused */
    SLOW_TABLE_0 = 8,       /* table 0 is malformed, or does not ascend strictly */
    SLOW_IDS = 16,          /* the ids are malformed, do not fit table 0, or do not ascend within a rank */
    SLOW_ORDER = 32,        /* segments add what is there, or remove what is not */
    SLOW_OTHER_TABLES = 64, /* another table is malformed, does not ascend, or holds other fingerprints than table 0 */
    SLOW_DIRECTORY = 128,   /* the directory has other keys or ranks than the blocks */
    SLOW_COUNTS = 256,      /* there are more or fewer fingerprints or records than is said */
    SLOW_UNTIDY = 512,      /* only a full check sees it: filling of blocks, statistics, content sum, next ordinal */
    SLOW_LOOSE = 1024       /* codes of a block run into its suffixes, or name bits that are set, but its fingerprints
                               ascend: a reader may refuse it or take it for these, and a full check must notice */
};
#define SLOW_CONTENT (SLOW_FRAME | SLOW_TABLE_0 | SLOW_IDS | SLOW_ORDER) /* it cannot be told what the store holds */
#define SLOW_HONEST(broken) (((broken) & ~(uint32_t)SLOW_PLAN) == 0)

/* Numbers that grow. */
typedef struct slow_list {
    uint64_t *items;
    size_t count, capacity;
} slow_list;

typedef struct slow_segment {
    uint32_t broken; /* SLOW_ORDER aside, which is of the store */
    bool removes;
    uint32_t table_count;
    slow_list fingerprints; /* of table 0 */
    slow_list ids, ranks;   /* as they stand there */
    oracle records;         /* sorted, each once: if broken has nothing of SLOW_CONTENT */
} slow_segment;

typedef struct slow_store {
    uint32_t broken;
    const char *first_reason; /* what was found first; NULL: nothing */
    bool has_ids, malformed;  /* some table's block cannot be decoded: readers may take its bits for anything */
    uint32_t distance, segment_count;
    slow_segment segments[HOSTILE_MOST_SEGMENTS];
    oracle truth;             /* the store's records, if broken has nothing of SLOW_CONTENT */
    slow_list fingerprints, ids; /* that any table, or id column, of a segment that adds has: sorted, each once */
} slow_store;

/* Freed with slow_store_free(). */
slow_store *slow_store_read(const hostile_store *bytes);
void slow_store_free(slow_store *store);

/* Whether a reader may report the record: the store has it or, where that cannot be told, at least its fingerprint
 * and id. */
bool slow_store_may_report(const slow_store *store, uint64_t fingerprint, uint64_t id);

#endif
