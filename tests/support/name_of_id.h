/*
 * name_of_id.h - a name for each id, which follows from the id: so that a test knows all names of a store, and needs
 * not keep them.
 */
#ifndef SUPPORT_NAME_OF_ID_H
#define SUPPORT_NAME_OF_ID_H

#include "sstore.h"

#define ID_NAME_CAPACITY 65537

/* The kinds of names. In each, some ids have the same name. The hashes of NAMES_COLLIDING agree in the bits that a name
 * index has, and some agree wholly. */
typedef enum id_name_kind { NAMES_PATHS, NAMES_BYTES, NAMES_COLLIDING, NAMES_LONG, ID_NAME_KINDS } id_name_kind;

/* Write the name of an id to `buffer`, of ID_NAME_CAPACITY bytes. Equal seeds, kinds and ids have equal names. */
sstore_name id_name(id_name_kind kind, uint64_t seed, uint64_t id, char *buffer);

/* The names of `count` ids; free them with free(). */
sstore_name *id_names(id_name_kind kind, uint64_t seed, const uint64_t *ids, size_t count);

#endif
