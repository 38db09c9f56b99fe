/*
 * one_lie.h - makes a small store from the bytes of a fuzzer: one to eight segments, which add or remove up to 255
 * records each, with several plans and block sizes. The store is honest or lies about one thing. All else fits the lie:
 * counts, sums, keys, ids and checksums. A slow writer encodes it, because no other writer lies.
 */
#ifndef SUPPORT_ONE_LIE_H
#define SUPPORT_ONE_LIE_H

#include "support/hostile.h"

/* What a store can lie about. */
typedef enum lie_kind {
    LIE_NONE,
    LIE_EQUAL_NEIGHBOURS,   /* fingerprints that follow each other are equal: in table 0, or in all tables */
    LIE_DESCENDING,         /* two fingerprints of a table have changed places */
    LIE_KEY,                /* the directory has another key for a block: of a table, or of the ids */
    LIE_FIRST_RANK,         /* the directory has another first rank for a block */
    LIE_RECORD_COUNT,       /* the manifest and the headers have another number of records */
    LIE_DISTINCT_COUNT,     /* ... of fingerprints */
    LIE_BLOCK_COUNT,        /* a file repeats its first blocks, or lacks its last ones */
    LIE_H_COUNTS,           /* a table's header has other statistics */
    LIE_IDS_ORDER,          /* an id has another value, so that those of a fingerprint need not ascend */
    LIE_IDS_REPEATED,       /* an id is the one before it */
    LIE_RANK_SKIPPED,       /* from some record on ranks are one higher, so that a fingerprint has no id */
    LIE_RANK_REPEATED,      /* from some record on ranks are one lower */
    LIE_RECORDS_ADDED_AGAIN,/* segments add what is in the store already */
    LIE_RECORDS_NOT_THERE,  /* segments remove what is not in the store */
    LIE_OTHER_TABLE_LESS,   /* a table above 0 lacks a fingerprint, with the count of before */
    LIE_OTHER_TABLE_MORE,   /* ... has one more */
    LIE_OTHER_TABLE_OTHER,  /* ... has another one instead of one */
    LIE_SLOW_PLAN,          /* a plan of 64 groups for distance 16: complete, but slow to prove and to name */
    LIE_KEY_MASK,           /* a table's key bits are others */
    LIE_RADIUS,
    LIE_COLUMN,             /* the width of the column, in the manifest and the headers */
    LIE_BLOCK_BYTES,
    LIE_KIND,               /* a segment adds instead of removing, or removes instead of adding */
    LIE_DISTANCE,
    LIE_CODE,               /* a table has another code than its blocks */
    LIE_IDS_FLAGS,          /* a block of the ids has other flags */
    LIE_BYTE,               /* a byte of a block is another one */
    LIE_CONTENT_SUM,
    LIE_NEXT_ORDINAL,
    LIE_SHORT_BLOCK,        /* a block ends though it has room */
    LIE_LOWERS_EXCHANGED,   /* two fingerprints of a table have exchanged their lower halves */
    LIE_EQUAL_UPPERS,       /* a fingerprint has the upper half of the one before, and a lower half not above its */
    LIE_BEGIN,              /* a group of a block begins elsewhere */
    LIE_GROUP_KEY,          /* a group has another key */
    LIE_KEY_SHIFT,          /* the groups of a block have keys of another width */
    LIE_KINDS
} lie_kind;

const char *lie_name(lie_kind kind);

/* Where a lie is, and how large. What these numbers stand for depends on the lie; they are taken modulo what there
 * is. */
typedef struct lie {
    lie_kind kind;
    uint32_t segment, table, at, size;
    uint64_t value;
} lie;

#define LIE_SEGMENTS 8u

/* What an honest store would be. */
typedef struct lie_plan {
    bool has_ids;
    uint32_t distance, block_bytes, universe, segment_count;
    struct {
        bool removes;
        uint8_t count, seed, tables;
    } segments[LIE_SEGMENTS];
} lie_plan;

/* Take a plan and a lie from the input. */
void lie_take(fuzz_input *input, lie_plan *plan_out, lie *lie_out);

/* Make the store, signed. Freed with hostile_free(). */
hostile_store lie_make(const lie_plan *plan, const lie *about);

/* Fingerprints and ids that stores are made of: `index` is taken modulo the number of them. */
uint64_t lie_fingerprint(uint32_t universe, uint32_t index);
uint64_t lie_id(uint32_t universe, uint32_t index);

#endif
