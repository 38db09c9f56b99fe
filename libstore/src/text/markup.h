/*
 * markup.h - takes HTML away from a text: tags, comments and scripts go, and character references become characters
 * (format-spec/fingerprint.md, "Markup"). No library for HTML is used: fingerprints must not change with its version.
 */
#ifndef SS_MARKUP_H
#define SS_MARKUP_H

#include "base/common.h"

/* The text without markup. Begins zeroed, and ends with ss_markup_free(). */
typedef struct ss_markup {
    uint8_t *bytes;
    size_t size, capacity;
} ss_markup;

/* Fill `bytes` and `size` from a text, which may be broken in any way. It is never longer than the text. MEMORY. */
sstore_status ss_markup_remove(ss_markup *self, const uint8_t *text, size_t size, sstore_error *error);
void ss_markup_free(ss_markup *self);

#endif
