/*
 * add_new.h - adds those records of the inputs that nothing in the store is near, and answers for each of them.
 */
#ifndef ADD_NEW_H
#define ADD_NEW_H

#include "build_store.h"
#include "output.h"

typedef struct add_new_options {
    uint32_t distance; /* or SSTORE_OWN_DISTANCE */
    uint64_t publish_every;
    uint64_t limit; /* the most matches that are printed of a record */
    bool compact, json;
} add_new_options;

/* Take in what is new in all the inputs; text from stdin is answered line by line. Returns an exit code; failures have
 * been reported. */
int add_new(store_arguments *arguments, const add_new_options *options);

#endif
