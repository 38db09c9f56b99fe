/*
 * reference_store.h - reads a whole store without the library's decoders: the fingerprints of each table, the records
 * of each segment and of the store, and the rules of format-spec/ that it breaks. Tests compare every way of reading
 * with it.
 */
#ifndef SUPPORT_REFERENCE_STORE_H
#define SUPPORT_REFERENCE_STORE_H

#include "sstore.h"
#include "support/edited_store.h"
#include "support/record_set.h"

/* The broken rules of a store, by the reading that detects them. */
enum {
    BROKEN_FRAME = 1,         /* the manifest, or the header of table 0 or of the ids: nothing can be read */
    BROKEN_OPENING = 2,       /* the header of another table, or the directory by itself: the store must not open */
    BROKEN_PLAN = 4,          /* not proved complete within the steps allowed here: it may be refused */
    BROKEN_TABLE_0 = 8,       /* table 0 is malformed, or does not ascend strictly */
    BROKEN_IDS = 16,          /* the ids are malformed, do not fit table 0, or do not ascend within a rank */
    BROKEN_ORDER = 32,        /* segments add records that are in the store, or remove records that are not */
    BROKEN_OTHER_TABLES = 64, /* another table is malformed, does not ascend, or differs from table 0 */
    BROKEN_DIRECTORY = 128,   /* the directory has other keys or ranks than the blocks */
    BROKEN_COUNTS = 256,      /* there are more or fewer fingerprints or records than declared */
    BROKEN_FULL_CHECK = 512,  /* only a full check detects: filling of blocks, statistics, content sum, next id */
    BROKEN_CODES = 1024       /* codes of a block run into its suffixes, or name bits that are set, but its fingerprints
                                 ascend: a reader may refuse the block or accept them; a full check must detect it */
};
/* The store's records are not defined. */
#define BROKEN_CONTENT (BROKEN_FRAME | BROKEN_TABLE_0 | BROKEN_IDS | BROKEN_ORDER)
#define IS_VALID(broken) (((broken) & ~(uint32_t)BROKEN_PLAN) == 0)

/* A growing list of numbers. */
typedef struct reference_list {
    uint64_t *items;
    size_t count, capacity;
} reference_list;

typedef struct reference_segment {
    uint32_t broken; /* without BROKEN_ORDER, which concerns the store */
    bool removes;
    uint32_t table_count;
    reference_list fingerprints; /* of table 0 */
    reference_list ids, ranks;   /* of the id column, in its order */
    record_set records;          /* sorted, each once; only if `broken` has no bit of BROKEN_CONTENT */
} reference_segment;

typedef struct reference_store {
    uint32_t broken;
    const char *first_reason; /* the first broken rule; NULL: none */
    bool has_ids;
    bool malformed; /* some table's block cannot be decoded; readers may decode it to anything */
    uint32_t distance, segment_count;
    reference_segment segments[EDITED_MAX_SEGMENTS];
    record_set truth;                 /* the store's records; only if `broken` has no bit of BROKEN_CONTENT */
    reference_list fingerprints, ids; /* of all tables and id columns of adding segments: sorted, each once */
} reference_store;

/* Freed with reference_store_free(). */
reference_store *reference_store_read(const edited_store *bytes);
void reference_store_free(reference_store *store);

/* Whether a reader may report the record: the store has it, or it cannot be known whether the store has it and its
 * fingerprint and id are in the store. */
bool reference_store_may_report(const reference_store *store, uint64_t fingerprint, uint64_t id);

#endif
