/*
 * new_names.h - records without ids whose names the store does not have. All records of a name get one id: the number
 * of the first of them. So they wait until all are there, sorted by name and number.
 *
 * Names are compared by their 128-bit hashes: among a billion names, two of one hash have a probability of 10^-21.
 * Nobody can make two, without the seed.
 */
#ifndef SS_NEW_NAMES_H
#define SS_NEW_NAMES_H

#include "sort/sorted_items.h"

/* Zeroed at first. */
typedef struct ss_new_names {
    uint32_t words;         /* of a fingerprint */
    uint64_t seed;          /* of the hashes */
    ss_sorted_items *items; /* the hash, in two words, the number, and the fingerprint */
    ss_item_reader reader;  /* once all are there */
    uint64_t hash[2], id;   /* of the current record */
} ss_new_names;

/* Begin without records, in about this much memory; the rest goes to `tmp_dir`, which is borrowed. MEMORY. */
sstore_status ss_new_names_open(ss_new_names *names, uint32_t words, uint64_t memory_bytes, const ss_dir *tmp_dir,
                                sstore_error *error);
/* A zeroed one is allowed, and becomes one. */
void ss_new_names_close(ss_new_names *names);

/* Add a record. Numbers ascend. MEMORY, IO. */
sstore_status ss_new_names_add(ss_new_names *names, const sstore_name *name, uint64_t number,
                               const uint64_t *fingerprint, sstore_error *error);

/* All records were added: go before the first one, in an order of their own. MEMORY, IO, STOPPED. */
sstore_status ss_new_names_finish(ss_new_names *names, ss_progress *progress, sstore_error *error);

/* Go to the next record, whose id becomes names->id. *fingerprint_out is valid until the next call; NULL: there are no
 * more. IO, MEMORY. */
sstore_status ss_new_names_next(ss_new_names *names, const uint64_t **fingerprint_out, sstore_error *error);

#endif
