/* named_ids.h - the ids of named records that are removed from a store, or of named queries. */
#ifndef NAMED_IDS_H
#define NAMED_IDS_H

#include "commands/cmd.h"

/* Begins zeroed, and ends with named_ids_close(). */
typedef struct named_ids {
    sstore *store;
    sstore_cursor *cursor;
    uint64_t next_id;
    const record_batch *batch; /* that is looked up */
    uint64_t *ids;             /* of its records */
    size_t count, capacity;
    uint64_t *fingerprints; /* of records to remove, with `ids` */
    size_t fingerprint_capacity;
    bool *are_found; /* the records of the batch */
    size_t found_capacity;
} named_ids;

/* Ask this store, which no other process changes. Returns an exit code. */
int named_ids_open(named_ids *self, const char *path);
void named_ids_close(named_ids *self);

/* Set the ids of the names of the batch: the smallest id of each, or one that no record has. */
sstore_status named_ids_find(named_ids *self, const record_batch *batch, sstore_error *error);

/* Find all records that have fingerprint and name of one of these: set fingerprints, ids and their count. One that the
 * store does not have stands among them with an id that no record has. */
sstore_status named_ids_find_records(named_ids *self, const record_batch *batch, sstore_error *error);

#endif
