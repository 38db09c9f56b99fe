/*
 * value_looks.h - fields that hold no fingerprint of Hamming's distance, or none at all: what they are, and what to do.
 */
#ifndef VALUE_LOOKS_H
#define VALUE_LOOKS_H

#include <stdbool.h>
#include <stddef.h>

/* What a field seems to be, which cannot be read as a fingerprint, and the remedy, as the end of a message; or NULL. */
const char *value_look(const char *text, size_t length);

/* A word for no value, in any case, such as NULL or ERROR. */
bool value_is_null(const char *text, size_t length);

/* What a spreadsheet shows instead of a value, such as #N/A: no comment, although it begins with #. */
bool value_is_sheet_error(const char *text, size_t length);

/* A digest of TLSH with its version in front, which would also be base64. */
bool value_is_tlsh(const char *text, size_t length);

#endif
