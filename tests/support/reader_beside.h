/*
 * reader_beside.h - a thread that opens a store again and again while others change it, reads all records, and looks
 * some of them up by fingerprint, id and name. Through one handle all that it finds must be of one state, and the
 * states that it finds must be those that were published, in their order.
 */
#ifndef SUPPORT_READER_BESIDE_H
#define SUPPORT_READER_BESIDE_H

#include "support/name_of_id.h"
#include "support/record_set.h"

/* The states of a store, as the sums of their records, from the one before a change to the one after it. */
typedef struct store_states {
    size_t count, capacity;
    uint64_t *sums;
} store_states;

/* A store with these records can be found from now on. */
void store_states_note(store_states *states, const record_set *records);
/* The same, of the records of the last state and one more. */
void store_states_note_one(store_states *states, const uint64_t *fingerprint, uint32_t words, uint64_t id);
void store_states_free(store_states *states);

typedef struct reader_beside reader_beside;

/* Begin to read the store at `path`, of fingerprints of `words` words. If `has_names`, ids have the names of id_name().
 * Whatever goes wrong fails the test in reader_beside_stop(). */
reader_beside *reader_beside_start(const char *path, uint32_t words, bool has_ids, bool has_names, id_name_kind kind,
                                   uint64_t seed);

/* Read the newest state, end the thread, and fail the test unless all states that it found are among `states`, in this
 * order, the last one the last. Returns how often the store was read. */
uint64_t reader_beside_stop(reader_beside *self, const store_states *states);

#endif
