/*
 * sstore_text.h - fingerprints of text. They are in a library of their own (libsstore-text), so that a program that
 * only reads stores links no Unicode tables. The conventions are those of sstore.h. Source: the paper, section 2;
 * format-spec/fingerprint.md.
 */
#ifndef SSTORE_TEXT_H
#define SSTORE_TEXT_H

#include <sstore.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sstore_feature_kind {
    SSTORE_FEATURE_KIND_WORDS = 0, /* shingles of words; in scripts without spaces, pairs of characters */
    SSTORE_FEATURE_KIND_CHARS = 1  /* n-grams of characters */
} sstore_feature_kind;

typedef struct sstore_text_options {
    size_t struct_size;
    sstore_feature_kind kind;
    uint32_t shingle; /* words or characters of a feature, 1 to 64; 0: 3 words or 4 characters */
} sstore_text_options;

#define SSTORE_TEXT_OPTIONS_INIT {sizeof(sstore_text_options), SSTORE_FEATURE_KIND_WORDS, 0}

/* Make the simhash of a text of `size` bytes in UTF-8, each feature weighted by how often it occurs. Invalid bytes
 * count as U+FFFD. `text` may be NULL if `size` is 0. Without features the fingerprint is 0. Can be called by several
 * threads at once. Errors: ARGUMENT, MEMORY, UNSUPPORTED (a library built without utf8proc). */
SSTORE_API sstore_status sstore_fingerprint_text(const char *text, size_t size, const sstore_text_options *options,
                                                 uint64_t *fingerprint_out, sstore_error *error);

/* Write the recipe of sstore_fingerprint_text() with these options to `buffer`, such as "sstore-text-1 features=words
 * shingle=3 hash=xxh3-64 unicode=15.0.0". Fingerprints of two texts may be compared only if their recipes are equal.
 * Writes at most `size` bytes with the closing 0. Returns the length without it, as snprintf does; 0 and "" if there is
 * no such recipe: options out of range, or a library built without utf8proc. */
SSTORE_API size_t sstore_text_recipe(const sstore_text_options *options, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* SSTORE_TEXT_H */
