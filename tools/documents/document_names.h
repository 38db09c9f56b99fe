/* document_names.h - the names of documents by their numbers, in temporary files: any of them can be looked up. */
#ifndef DOCUMENT_NAMES_H
#define DOCUMENT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "documents/document_batch.h"
#include "output/work_folder.h"

typedef struct document_names {
    FILE *names, *ends; /* the bytes of all names; where that of each number ends */
    uint64_t count, byte_count;
    char *found; /* the name that was looked up last */
    size_t found_capacity;
} document_names;

/* Returns an exit code; a failure has been reported. Close it in any case. */
int document_names_open(document_names *self, const work_folder *folder);

/* Add the name of a document with a number above all others: its own, the decimal number of its id, or its input and
 * line. */
int document_names_add(document_names *self, const document *doc, bool has_id);

/* All names were added. */
int document_names_end(document_names *self);

/* Look up a name, which is valid until the next look-up; "" if the number has none. NULL: the failure has been
 * reported. */
const char *document_names_find(document_names *self, uint64_t number);

void document_names_close(document_names *self);

#endif
