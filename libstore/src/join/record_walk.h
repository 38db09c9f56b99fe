/*
 * record_walk.h - the records of ascending fingerprints, wherever they lie in a store.
 */
#ifndef SS_RECORD_WALK_H
#define SS_RECORD_WALK_H

#include "store/record_merge.h"

typedef struct ss_record_walk {
    ss_record_merge records;
    sstore_record next; /* the record that the walk stands before */
    bool more;          /* there is one */
} ss_record_walk;

/* MEMORY. The walk stands nowhere yet. */
sstore_status ss_record_walk_open(ss_record_walk *walk, const sstore *store, sstore_error *error);
/* Also of a zeroed one. */
void ss_record_walk_close(ss_record_walk *walk);

/* Stand before the first record whose fingerprint is at least this, anywhere. IO, DAMAGED. */
sstore_status ss_record_walk_begin(ss_record_walk *walk, uint64_t fingerprint, sstore_error *error);
/* The same further on; not back. */
sstore_status ss_record_walk_to(ss_record_walk *walk, uint64_t fingerprint, sstore_error *error);
/* Step over a record. */
sstore_status ss_record_walk_step(ss_record_walk *walk, sstore_error *error);

/* Pass by records behind the next one, of which each is its fingerprint's only one in the store, if it has one segment. Returns how
 * many. */
static inline uint32_t ss_record_walk_pass_singles(ss_record_walk *walk)
{
    return walk->records.input_count == 1 ? ss_record_stream_pass_singles(&walk->records.inputs[0].stream) : 0;
}

/* Whether the walk stands before a record of the fingerprint. */
static inline bool ss_record_walk_at(const ss_record_walk *walk, uint64_t fingerprint)
{
    return walk->more && walk->next.fingerprint == fingerprint;
}

#endif
