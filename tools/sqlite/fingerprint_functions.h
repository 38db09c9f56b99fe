/*
 * fingerprint_functions.h - fingerprints as values of SQL, and the functions of them alone, such as hamming().
 */
#ifndef FINGERPRINT_FUNCTIONS_H
#define FINGERPRINT_FUNCTIONS_H

#include <sqlite3ext.h>

#include "sstore.h"

SQLITE_EXTENSION_INIT3

typedef struct fingerprint {
    uint32_t word_count;
    uint64_t words[SSTORE_MAX_WORDS];
} fingerprint;

/* The values that read_fingerprint() takes. */
#define FINGERPRINT_FORMS                                                                                              \
    "an integer, a text of 1 to 16 hex digits or a blob of 8 bytes; of more than 64 bits, 16 digits or 8 bytes for "   \
    "each 64"

/* False: the value is not a fingerprint, or memory ran out. */
bool read_fingerprint(sqlite3_value *value, fingerprint *to);

/* Make the fingerprint the result, as a blob. */
void set_blob(sqlite3_context *context, const uint64_t *words, uint32_t word_count);

/* Returns a code of SQLite. */
int create_fingerprint_functions(sqlite3 *db);

#endif
