/*
 * line_fault.h - why a line or another part of an input is malformed, and hints for what reads it.
 */
#ifndef LINE_FAULT_H
#define LINE_FAULT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct line_fault {
    char reason[400];
    size_t hint_at;     /* of a line: where a hint begins, or the end */
    bool has_sure_hint; /* which no guess should replace */
    bool is_null;       /* there is no value where a fingerprint should be */
} line_fault;

/* Set the reason as printf() does. Returns false, for the caller to return. */
__attribute__((format(printf, 2, 3))) bool line_fault_set(line_fault *fault, const char *format, ...);

/*
 * Set the reason to "expected EXPECTED, found " and the beginning of the text found, quoted and escaped for a terminal.
 * Returns false, for the caller to return.
 */
bool line_fault_found(line_fault *fault, const char *expected, const char *found, size_t length);

/* Let a hint follow the reason that was set, instead of the hint so far. */
void line_fault_set_hint(line_fault *fault, const char *hint);

#define LINE_SEE_SKIP_BAD "; --skip-bad leaves out rows without a fingerprint"
#define LINE_SEE_DECIMAL "; --radix dec reads decimal fingerprints"
#define LINE_SEE_NULL                                                                                                  \
    "; if the fields are id and fingerprint, --columns id,fingerprint --skip-bad reads the others (decimal ones with " \
    "--radix dec)"
#define LINE_SEE_BITS "see --bits of 'sstore build'"

#endif
