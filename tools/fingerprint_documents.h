/*
 * fingerprint_documents.h - making fingerprints of the documents in files, and printing them.
 *
 * Functions return exit codes; a failure has been reported to stderr when they return, but for one of stdout, which is
 * reported at the process's end.
 */
#ifndef FINGERPRINT_DOCUMENTS_H
#define FINGERPRINT_DOCUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source_line.h"
#include "sstore.h"

/* The ids of documents: numbers, over all inputs. */
typedef struct document_ids {
    uint64_t next;
    bool used_up; /* the largest one is taken */
} document_ids;

/* A document is the whole source: prints "fingerprint<TAB>name". */
int fingerprint_file(input_source *source, const sstore_text_options *options);

/* A document is a line: prints "fingerprint<TAB>number" for each. */
int fingerprint_lines(input_source *source, const sstore_text_options *options, document_ids *ids);

/* A document is lines of "feature<TAB>weight" up to a blank line: prints "fingerprint<TAB>number" for each. */
int fingerprint_weighted(input_source *source, document_ids *ids);

/* ----- shared by the above ----- */

/* Print "fingerprint<TAB>number" of a document in `source`. */
int print_numbered(input_source *source, uint64_t fingerprint, document_ids *ids);

#endif
