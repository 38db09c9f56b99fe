/*
 * name_set.h - names that are looked up together: ordered by their hashes, so that those whose hashes begin alike are
 * looked up at once. Anybody can make names whose hashes do. If each were looked up alone, each would be compared with
 * all of them that the store has.
 */
#ifndef SS_NAME_SET_H
#define SS_NAME_SET_H

#include "base/common.h"
#include "sstore.h"

#define SS_NAME_SET_MAX 4096u

typedef struct ss_name_set {
    const sstore_name *names; /* as they were given; borrowed */
    size_t count;
    ss_record *order, *scratch; /* (hash, index in `names`), ascending by hash, then by name */
    uint32_t *newest; /* by the index of the first of equal names: the newest segment with a record, + 1; 0: none yet */
} ss_name_set;

/* Make room for as many names as a set of `count` or SS_NAME_SET_MAX takes. MEMORY. Close it also after a failure. */
sstore_status ss_name_set_open(ss_name_set *set, size_t count, sstore_error *error);
void ss_name_set_close(ss_name_set *set);

/* Take other names: at most as many as there is room for. */
void ss_name_set_fill(ss_name_set *set, const sstore_name *names, size_t count);

/* The end of the group of places that begins at `begin`: those whose hashes agree in their first 31 bits, which all
 * name indexes have (specification, section 18). */
size_t ss_name_set_group_end(const ss_name_set *set, size_t begin);

/* The first place from `begin` to `end` - 1 with this name, and *end_out behind the last one; both are `end` if there
 * is none. */
size_t ss_name_set_find(const ss_name_set *set, size_t begin, size_t end, const sstore_name *name, size_t *end_out);

#endif
