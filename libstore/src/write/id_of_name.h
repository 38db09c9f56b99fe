/* id_of_name.h - the id of a name: the smallest one of the records that have it. */
#ifndef SS_ID_OF_NAME_H
#define SS_ID_OF_NAME_H

#include "sstore.h"

typedef struct ss_named_id {
    bool is_found, has_fingerprint; /* has: the name also has the fingerprint that is added, if that is looked for */
    uint64_t id;
} ss_named_id;

/* Note the id of a record of one of the names that were looked up: a sstore_match_fn of sstore_get_named(). `context`
 * is an array of ss_named_id, one a name. */
static inline int ss_named_ids_note(void *context, const sstore_match *record)
{
    ss_named_id *named = (ss_named_id *)context + record->query_index;
    if (!named->is_found || record->id < named->id)
        named->id = record->id;
    named->is_found = true;
    return 0;
}

#endif
