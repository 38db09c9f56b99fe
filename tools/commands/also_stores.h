/* also_stores.h - --also: stores that a command looks into beside its own one. */
#ifndef ALSO_STORES_H
#define ALSO_STORES_H

#include "commands/cmd.h"

/* Begins zeroed, and ends with also_stores_close(). */
typedef struct also_stores {
    uint32_t count;
    sstore *stores[TEXT_LIST_MAX];
    bool has_ids[TEXT_LIST_MAX];
    stored_names names[TEXT_LIST_MAX], *named[TEXT_LIST_MAX]; /* named: NULL, or these names */
    char *
        labels[TEXT_LIST_MAX + 1]; /* paths as lines show them: of the own store, then of these; NULL: there are none */
} also_stores;

/* Open the stores at `paths`. Their fingerprints must have the bits and the recipe of those of the own store. Returns
 * an exit code. */
int also_stores_open(also_stores *self, const text_list *paths, const sstore_open_options *options,
                     const char *own_path, const sstore_statistics *own, bool json);
/* As stored_names_exit_code(). */
int also_stores_exit_code(const also_stores *self, int code);
void also_stores_close(also_stores *self);

#endif
