/* document_batch.h - documents that are read together and fingerprinted by one thread. */
#ifndef DOCUMENT_BATCH_H
#define DOCUMENT_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output/json_members.h"
#include "sstore.h"

#define DOCUMENT_MAX_WORDS SSTORE_MAX_WORDS

typedef struct document {
    size_t begin, length; /* of what was read, in the batch; without the end of its line */
    const char *input;    /* the path of its input, and its line there, or 0 */
    uint64_t line;
    uint64_t number;                    /* of all documents that were read, from next_id of the reader on */
    uint64_t id;                        /* the number, unless it has an id of its own */
    uint64_t order;                     /* lower ones come first, if the form has a key for that */
    bool lacks_order;                   /* there is no such key */
    bool is_header, is_last;            /* the header of a table: no document; the last line, without a line feed */
    const struct table_columns *table;  /* of a table; valid while the reader is open */
    const char *name;                   /* by which it is known; NULL: by its id alone */
    bool has_objects, has_lines;        /* a file: a JSON object in each of its first lines; many lines */
    bool is_left_out;                   /* a file that is no text: it has neither an id nor features */
    member_kind text_kind;              /* of JSON: what the text stands for; otherwise MEMBER_ABSENT */
    uint32_t missing_bits;              /* of its fingerprint: those of digits that are absent in front */
    const char *fault;                  /* why the line cannot be read; NULL: it can */
    size_t found_at;                    /* where the worker keeps what it found, if the work needs it */
    uint64_t words[DOCUMENT_MAX_WORDS]; /* of its fingerprint */
    uint64_t feature_count, replaced_count;
} document;

/* Begins zeroed, and ends with document_batch_free(). */
typedef struct document_batch {
    char *bytes; /* what was read */
    size_t used, capacity;
    document *items;
    size_t count, item_capacity;
    char *decoded; /* room for the text of a line */
    size_t decoded_capacity;
    char **kept; /* copies of names and faults */
    size_t kept_count, kept_capacity;
    bool flushes;      /* the writer of the input may wait for answers */
    int code;          /* that of a failure which ended the batch after these documents */
    char reason[1024]; /* its message; empty: it was printed */
} document_batch;

void document_batch_clear(document_batch *self);
void document_batch_free(document_batch *self);

/* Append a document of these bytes; the other fields are zeroed. NULL: there is no memory. */
document *document_batch_add(document_batch *self, const char *bytes, size_t length);

/* A copy of a name that is valid until the batch is cleared. NULL: there is no memory. */
char *document_batch_keep(document_batch *self, const char *name, size_t length);

/* Set the fault of a document of the batch, as printf() does. */
__attribute__((format(printf, 3, 4))) void document_fault(document_batch *self, document *doc, const char *format, ...);

/* Set the reason of a failure, as printf() does. */
__attribute__((format(printf, 2, 3))) void document_batch_explain(document_batch *self, const char *format, ...);

#endif
