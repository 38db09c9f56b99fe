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

/* How a feature counts that occurs n times in a text. */
typedef enum sstore_weighting {
    SSTORE_WEIGHTING_FREQUENCY = 0, /* n */
    SSTORE_WEIGHTING_SUBLINEAR = 1, /* 1 + log2(n) */
    SSTORE_WEIGHTING_PRESENCE = 2   /* 1 */
} sstore_weighting;

/* What is taken away before the features are found. Source: format-spec/fingerprint.md, "Markup". */
typedef enum sstore_markup {
    SSTORE_MARKUP_NONE = 0,
    SSTORE_MARKUP_HTML = 1 /* tags, comments, scripts; character references become characters */
} sstore_markup;

/* How scripts that are written without spaces are cut. */
typedef enum sstore_segmentation {
    SSTORE_SEGMENTATION_PAIRS = 0, /* every pair of characters is a feature */
    SSTORE_SEGMENTATION_ICU = 1    /* into words, by ICU's dictionaries; fingerprints depend on ICU's version */
} sstore_segmentation;

typedef struct sstore_text_options {
    size_t struct_size;
    sstore_feature_kind kind;
    uint32_t shingle; /* words or characters of a feature, 1 to 64; 0: 3 words or 4 characters */
    sstore_weighting weighting;
    sstore_markup markup;
    sstore_segmentation segmentation; /* of words alone */
    uint32_t reserved;                /* 0 */
} sstore_text_options;

#define SSTORE_TEXT_OPTIONS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(sstore_text_options), SSTORE_FEATURE_KIND_WORDS, 0, SSTORE_WEIGHTING_FREQUENCY, SSTORE_MARKUP_NONE,     \
            SSTORE_SEGMENTATION_PAIRS, 0                                                                               \
    }

/* Make the simhash of a text of `size` bytes in UTF-8. Invalid bytes count as U+FFFD. `text` may be NULL if `size` is
 * 0. Without features the fingerprint is 0. Can be called by several threads at once. Errors: ARGUMENT, MEMORY,
 * UNSUPPORTED (a library built without utf8proc; segmentation by ICU, and the library was built without it, or it is
 * not installed). ICU is loaded when it is first needed, and stays loaded. Each call with it opens an iterator of ICU:
 * for many texts, use a fingerprinter. */
SSTORE_API sstore_status sstore_fingerprint_text(const char *text, size_t size, const sstore_text_options *options,
                                                 uint64_t *fingerprint_out, sstore_error *error);

/* ----- many texts ----- */

/* Makes fingerprints of one text after the other, without allocating memory for each. For one thread at a time. */
typedef struct sstore_fingerprinter sstore_fingerprinter;

/* What sstore_fingerprinter_text() finds. */
typedef struct sstore_text_result {
    size_t struct_size;
    uint64_t fingerprint;
    uint64_t feature_count;  /* each as often as it occurs. 0: the text has none, and its fingerprint says nothing */
    uint64_t replaced_count; /* byte sequences that are not UTF-8, and counted as U+FFFD; none in removed markup */
} sstore_text_result;

#define SSTORE_TEXT_RESULT_INIT {sizeof(sstore_text_result), 0, 0, 0}

/* Errors: as sstore_fingerprint_text(). */
SSTORE_API sstore_status sstore_fingerprinter_create(const sstore_text_options *options,
                                                     sstore_fingerprinter **fingerprinter_out, sstore_error *error);

/* Make the fingerprint of a text, as sstore_fingerprint_text(). Unless `sums_out` is NULL, it gets the 64 sums of
 * weights whose signs are the bits, beginning with the most significant one: a sum near 0 is a bit that a small change
 * of the text flips. Errors: ARGUMENT, MEMORY; the next text can follow. */
SSTORE_API sstore_status sstore_fingerprinter_text(sstore_fingerprinter *fingerprinter, const char *text, size_t size,
                                                   sstore_text_result *result_out, double *sums_out,
                                                   sstore_error *error);

/* NULL is allowed. */
SSTORE_API void sstore_fingerprinter_free(sstore_fingerprinter *fingerprinter);

/* ----- recipes ----- */

/* Write the recipe of fingerprints with these options to `buffer`, such as "sstore-text-1 features=words shingle=3
 * weights=frequency hash=xxh3-64 unicode=15.0.0". Fingerprints of two texts may be compared only if their recipes are
 * equal. Writes at most `size` bytes with the closing 0. Returns the length without it, as snprintf does; 0 and "" if
 * there is no such recipe: options out of range, a library built without utf8proc, or no ICU for a segmentation by
 * it. */
SSTORE_API size_t sstore_text_recipe(const sstore_text_options *options, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* SSTORE_TEXT_H */
