/*
 * invalid_store.h - makes a small store from the bytes of a fuzzer: one to eight segments, which add or remove up to
 * 255 records each, with several plans and block sizes. The store is valid or has one defect. Everything else matches
 * the defect: counts, content sums, keys, ids and checksums. A separate slow writer encodes it, because the library
 * cannot write invalid stores.
 */
#ifndef SUPPORT_INVALID_STORE_H
#define SUPPORT_INVALID_STORE_H

#include "support/edited_store.h"

/* What can be wrong with a store. */
typedef enum defect_kind {
    DEFECT_NONE,
    DEFECT_EQUAL_NEIGHBOURS,    /* consecutive fingerprints are equal: in table 0, or in all tables */
    DEFECT_DESCENDING,          /* two fingerprints of a table are exchanged */
    DEFECT_KEY,                 /* the directory has another key for a block: of a table, or of the ids */
    DEFECT_FIRST_RANK,          /* the directory has another first rank for a block */
    DEFECT_RECORD_COUNT,        /* the manifest and the headers have another number of records */
    DEFECT_DISTINCT_COUNT,      /* ... of fingerprints */
    DEFECT_BLOCK_COUNT,         /* a file repeats its first blocks, or lacks its last ones */
    DEFECT_H_COUNTS,            /* a table's header has other statistics */
    DEFECT_IDS_ORDER,           /* an id has another value, so that those of a fingerprint need not ascend */
    DEFECT_IDS_REPEATED,        /* an id is the one before it */
    DEFECT_RANK_SKIPPED,        /* from some record on ranks are higher by one, so that a fingerprint has no id */
    DEFECT_RANK_REPEATED,       /* from some record on ranks are lower by one */
    DEFECT_RECORDS_ADDED_AGAIN, /* segments add records that the store already has */
    DEFECT_RECORDS_NOT_THERE,   /* segments remove records that the store does not have */
    DEFECT_OTHER_TABLE_LESS,    /* a table other than 0 lacks a fingerprint; its count is unchanged */
    DEFECT_OTHER_TABLE_MORE,    /* ... has one more */
    DEFECT_OTHER_TABLE_OTHER,   /* ... has another one in place of one */
    DEFECT_SLOW_PLAN,           /* a plan of 64 bit groups for distance 16: complete, but slow to prove and to name */
    DEFECT_KEY_MASK,            /* a table's key bits are others */
    DEFECT_RADIUS,
    DEFECT_COLUMN, /* the width of the column, in the manifest and the headers */
    DEFECT_BLOCK_BYTES,
    DEFECT_KIND, /* a segment adds instead of removing, or removes instead of adding */
    DEFECT_DISTANCE,
    DEFECT_CODE,      /* the code in a table's header is not the one of its blocks */
    DEFECT_IDS_FLAGS, /* a block of the ids has other flags */
    DEFECT_BYTE,      /* a byte of a block is changed */
    DEFECT_CONTENT_SUM,
    DEFECT_NEXT_ID,
    DEFECT_SHORT_BLOCK,      /* a block ends although the next fingerprint or record fits */
    DEFECT_LOWERS_EXCHANGED, /* two fingerprints of a table have exchanged their lower halves */
    DEFECT_EQUAL_UPPERS,     /* a fingerprint has the previous one's upper half, and a lower half not above its */
    DEFECT_BEGIN,            /* a group of a block begins at another byte */
    DEFECT_GROUP_KEY,        /* a group has another key */
    DEFECT_KEY_SHIFT,        /* the groups of a block have keys of another width */
    DEFECT_KINDS
} defect_kind;

const char *defect_name(defect_kind kind);

/* Where a defect is, and how large. The meaning of the numbers depends on the kind; they are taken modulo the number of
 * places that there are. */
typedef struct store_defect {
    defect_kind kind;
    uint32_t segment, table, at, size;
    uint64_t value;
} store_defect;

#define INVALID_STORE_SEGMENTS 8u

/* The store without its defect. */
typedef struct invalid_store_plan {
    bool has_ids;
    uint32_t distance, block_bytes, universe, segment_count;
    struct {
        bool removes;
        uint8_t count, seed, tables;
    } segments[INVALID_STORE_SEGMENTS];
} invalid_store_plan;

/* Take a plan and a defect from the input. */
void invalid_store_take(fuzz_input *input, invalid_store_plan *plan_out, store_defect *defect_out);

/* Make the store, with correct checksums. Freed with edited_free(). */
edited_store invalid_store_make(const invalid_store_plan *plan, const store_defect *defect);

/* The fingerprints and ids of these stores. `index` is taken modulo their number. */
uint64_t sample_fingerprint(uint32_t universe, uint32_t index);
uint64_t sample_id(uint32_t universe, uint32_t index);

#endif
