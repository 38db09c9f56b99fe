/*
 * verify_names.h - checks the names of a segment: each block is what a writer makes of its names, the name index has
 * the names, their ids are those of the id index, and their sum is that of the manifest.
 */
#ifndef SS_VERIFY_NAMES_H
#define SS_VERIFY_NAMES_H

#include "store/store.h"

/* What the check of a name part tells. */
typedef struct ss_names_check {
    const ss_segment *names;
    const ss_segment *id_index; /* of the same segment, whose table 0 can be read; NULL: ids are not compared */
    const sstore *store;        /* names are also compared with those of all older segments; NULL: with none */
    uint32_t segment;           /* in the store */
    ss_u128 table_sum;          /* the content sum of the table that the names must have */
    sstore_status (*note)(void *context, const sstore_error *problem); /* of a block that differs, or a file */
    sstore_status (*count)(void *context, uint64_t names);             /* progress; STOPPED if the call must end */
    void *context;
} ss_names_check;

/* Check all names. A problem that ends the check is returned: IO, MEMORY, DAMAGED, STOPPED; others are noted. */
sstore_status ss_verify_names(ss_names_check *check, sstore_error *error);

#endif
