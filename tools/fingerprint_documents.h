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

#include "input_source.h"
#include "sstore.h"

/* A document is the whole source: prints "fingerprint<TAB>name". */
int fingerprint_file(input_source *source, const sstore_text_options *options);

/* A document is a line: prints "fingerprint<TAB>number" for each. */
int fingerprint_lines(input_source *source, const sstore_text_options *options, uint64_t *next_number);

/* A document is lines of "feature<TAB>weight" up to a blank line: prints "fingerprint<TAB>number" for each. */
int fingerprint_weighted(input_source *source, uint64_t *next_number);

/* ----- shared by the above ----- */

/* A line of a source, without its newline; it lies in the source's buffer. Starts zeroed. */
typedef struct source_line {
    const char *text;
    size_t length;
    size_t taken;    /* bytes to take off the source when the next line is asked for */
    uint64_t number; /* of this line in the source, from 1 */
} source_line;

/* Go on to the next line; the one before is gone. *found_out is false at the source's end. */
int source_line_next(input_source *source, source_line *line, bool *found_out);

/* Print "fingerprint<TAB>number". */
int print_numbered(uint64_t fingerprint, uint64_t number);

#endif
