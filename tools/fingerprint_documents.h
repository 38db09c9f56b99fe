/*
 * fingerprint_documents.h - making fingerprints of the documents in files, and printing them.
 *
 * Functions return exit codes; a failure has been reported to stderr when they return, but for one of stdout, which is
 * reported at the process's end. `next_number` counts documents over all inputs, from 0.
 */
#ifndef FINGERPRINT_DOCUMENTS_H
#define FINGERPRINT_DOCUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source_line.h"
#include "sstore.h"

/* A document is the whole source: prints "fingerprint<TAB>name". */
int fingerprint_file(input_source *source, const sstore_text_options *options);

/* A document is a line: prints "fingerprint<TAB>number" for each. */
int fingerprint_lines(input_source *source, const sstore_text_options *options, uint64_t *next_number);

/* A document is lines of "feature<TAB>weight" up to a blank line: prints "fingerprint<TAB>number" for each. */
int fingerprint_weighted(input_source *source, uint64_t *next_number);

/* ----- shared by the above ----- */

/* Print "fingerprint<TAB>number". */
int print_numbered(uint64_t fingerprint, uint64_t number);

#endif
