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

/* What the features of a text are. */
typedef enum sstore_feature_kind {
    SSTORE_FEATURE_KIND_WORDS = 0, /* words, or shingles of them; in scripts without spaces, pairs of characters */
    SSTORE_FEATURE_KIND_CHARS = 1  /* n-grams of characters */
} sstore_feature_kind;

/* How a feature counts that occurs n times in a text. */
typedef enum sstore_weighting {
    SSTORE_WEIGHTING_AUTO = 0,      /* SUBLINEAR, with MINHASH PRESENCE */
    SSTORE_WEIGHTING_SUBLINEAR = 1, /* 1 + log2(n); not with MINHASH */
    SSTORE_WEIGHTING_FREQUENCY = 2, /* n; with MINHASH, each occurrence is a feature of its own */
    SSTORE_WEIGHTING_PRESENCE = 3   /* 1 */
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

/* Stop words and weights of features; see below. */
typedef struct sstore_lexicon sstore_lexicon;

/* How a fingerprint is made of a text. */
typedef struct sstore_text_options {
    size_t struct_size;
    sstore_feature_kind kind;
    uint32_t shingle; /* words or characters of a feature, 1 to 64; 0: 1 word, with MINHASH 2, or 4 characters */
    sstore_weighting weighting;
    sstore_markup markup;
    sstore_segmentation segmentation; /* of words alone */
    uint32_t reserved;                /* 0 */
    const sstore_lexicon *lexicon;    /* made for features of the same kind, shingle and segmentation; or NULL. With
                                         MINHASH, it has no weights */
    sstore_feature_hash hash;         /* of features */
    uint32_t fingerprint_bits;        /* 64 or 128; with MINHASH a multiple of 64, up to 1,024; 0: 64, with JAVA128 its
                                         128, with MINHASH 256 */
} sstore_text_options;

#define SSTORE_TEXT_OPTIONS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(sstore_text_options), SSTORE_FEATURE_KIND_WORDS, 0, SSTORE_WEIGHTING_AUTO, SSTORE_MARKUP_NONE,          \
            SSTORE_SEGMENTATION_PAIRS, 0, NULL, SSTORE_FEATURE_HASH_XXH3, 0                                            \
    }

/* Make the fingerprint of a text of `size` bytes in UTF-8. fingerprint_out gets a word for each 64 bits that the
 * options ask for. Invalid bytes count as U+FFFD. `text` may be NULL if `size` is 0. Without features all bits are 0,
 * or with JAVA128 1. Can be called by several threads at once. ICU is loaded when it is first needed, and stays loaded.
 * Each call with it opens an iterator of ICU: for many texts, use a fingerprinter. Errors: ARGUMENT, MEMORY,
 * UNSUPPORTED (a library built without utf8proc; segmentation by ICU, and the library was built without it, or it is
 * not installed). */
SSTORE_API sstore_status sstore_fingerprint_text(const char *text, size_t size, const sstore_text_options *options,
                                                 uint64_t *fingerprint_out, sstore_error *error);

/* ----- many texts ----- */

/* Makes fingerprints of one text after the other, without allocating memory for each. For one thread at a time. */
typedef struct sstore_fingerprinter sstore_fingerprinter;

/* What sstore_fingerprinter_text() finds. */
typedef struct sstore_text_result {
    size_t struct_size;
    const uint64_t *fingerprint; /* its words, until the next call with this fingerprinter */
    uint64_t feature_count;      /* each as often as it occurs, but none of weight 0. 0: the fingerprint says nothing */
    uint64_t replaced_count;     /* byte sequences that are not UTF-8, and counted as U+FFFD; none in removed markup */
    double weight;               /* the sum of all weights, each without its sign; with MINHASH, feature_count */
} sstore_text_result;

#define SSTORE_TEXT_RESULT_INIT                                                                                        \
    {                                                                                                                  \
        sizeof(sstore_text_result), NULL, 0, 0, 0                                                                      \
    }

/* Create a fingerprinter. Free it with sstore_fingerprinter_free(). Errors: as sstore_fingerprint_text(). */
SSTORE_API sstore_status sstore_fingerprinter_create(const sstore_text_options *options,
                                                     sstore_fingerprinter **fingerprinter_out, sstore_error *error);

/* Make the fingerprint of a text, as sstore_fingerprint_text(), of as many bits as the options say. Without features,
 * JAVA128 sets all of them. Unless `sums_out` is NULL, which it must be with MINHASH, it gets the sums of weights whose
 * signs are the bits, one for each bit, beginning with the most significant one. Each is from -weight to weight of the
 * result; one near 0 is a bit that a small change of the text flips. Errors: ARGUMENT, MEMORY; the next text can
 * follow. */
SSTORE_API sstore_status sstore_fingerprinter_text(sstore_fingerprinter *fingerprinter, const char *text, size_t size,
                                                   sstore_text_result *result_out, double *sums_out,
                                                   sstore_error *error);

/* A feature of a text: its hash (XXH3-64, whatever the options say), and how often it occurs. */
typedef struct sstore_counted_feature {
    uint64_t hash;
    uint64_t count;
} sstore_counted_feature;

/* Find the different features of a text, in the order in which they first occur, also those of weight 0.
 * *features_out is valid until the next call with this fingerprinter. Errors: ARGUMENT, MEMORY. */
SSTORE_API sstore_status sstore_fingerprinter_features(sstore_fingerprinter *fingerprinter, const char *text,
                                                       size_t size, const sstore_counted_feature **features_out,
                                                       size_t *count_out, sstore_error *error);

/* Free a fingerprinter, with the features that it gave. NULL is allowed. */
SSTORE_API void sstore_fingerprinter_free(sstore_fingerprinter *fingerprinter);

/* ----- stop words and weights ----- */

/*
 * A lexicon says which words are left out of a text before features are made, and by which factors the weights of
 * features are multiplied. It belongs to features of one kind, shingle and segmentation, and with a table of
 * frequencies also to one markup. One thread makes it. Once it is complete, give it to fingerprinters by the options:
 * then it must not change, several threads may use it at once, and it must live until the last fingerprinter is freed.
 * Recipes name it by hashes of its contents.
 */

/* Make a lexicon for features of these options (NULL: the default ones), whose own lexicon must be NULL. Errors:
 * ARGUMENT, MEMORY, UNSUPPORTED. */
SSTORE_API sstore_status sstore_lexicon_create(const sstore_text_options *options, sstore_lexicon **lexicon_out,
                                               sstore_error *error);

/* Leave out this word, or this character of a script without spaces that is not cut into words. Case and writing do not
 * matter. All stop words must be added before the first weight and before the table, which are of features without
 * them. Errors: ARGUMENT (the text is not one word; the features are characters; it is too late), MEMORY. */
SSTORE_API sstore_status sstore_lexicon_add_stop_word(sstore_lexicon *lexicon, const char *word, size_t size,
                                                      sstore_error *error);

/* Give the feature that this text is a weight of its own: a factor by which what it counts in a text is multiplied,
 * from -2^31 to 2^31, rounded to a multiple of 2^-20; 0 leaves the feature out. A later call for the same feature
 * replaces it. Errors: ARGUMENT (also if the text has not exactly one feature), MEMORY. */
SSTORE_API sstore_status sstore_lexicon_set_weight(sstore_lexicon *lexicon, const char *feature, size_t size,
                                                   double weight, sstore_error *error);

/*
 * Let the rarer features weigh more: those without a weight of their own get the factor log2((N + 1) / n), if n of N
 * documents have them. `table`, of `size` bytes, is what sstore_frequency_counter_finish() gave, and must stay valid.
 * With levels > 1 (2 to 255), factors are the whole numbers from 1 to `levels` instead; 0: no levels. Call it after the
 * last stop word. Errors: ARGUMENT (also if the table is of features made in another way), DAMAGED, MEMORY,
 * UNSUPPORTED.
 */
SSTORE_API sstore_status sstore_lexicon_use_frequencies(sstore_lexicon *lexicon, const void *table, size_t size,
                                                        uint32_t levels, sstore_error *error);

/* Free a lexicon, after the fingerprinters that have it. NULL is allowed. */
SSTORE_API void sstore_lexicon_free(sstore_lexicon *lexicon);

/*
 * Counts in how many documents each feature occurs, in one pass and within fixed memory: when it is full, it forgets
 * the rarest features (lossy counting: Manku and Motwani, "Approximate Frequency Counts over Data Streams", VLDB 2002).
 * For one thread at a time.
 */
typedef struct sstore_frequency_counter sstore_frequency_counter;

/* What the table tells. */
typedef struct sstore_frequency_summary {
    size_t struct_size;
    uint64_t document_count;
    uint64_t feature_count; /* in the table: found in two documents or more, and not forgotten */
    uint64_t error_bound;   /* a count may be too low by at most this; 0: nothing was forgotten */
} sstore_frequency_summary;

#define SSTORE_FREQUENCY_SUMMARY_INIT                                                                                  \
    {                                                                                                                  \
        sizeof(sstore_frequency_summary), 0, 0, 0                                                                      \
    }

/* `options` say how the features that are added are found; the table records it, and a lexicon in them is only used
 * during this call. `memory_bytes`: the limit; 0: 1 GiB; at least 1 MiB. Errors: ARGUMENT, MEMORY, UNSUPPORTED. */
SSTORE_API sstore_status sstore_frequency_counter_create(const sstore_text_options *options, uint64_t memory_bytes,
                                                         sstore_frequency_counter **counter_out, sstore_error *error);

/* Count a document with these features, whose counts do not matter; one that is given twice makes the table unusable.
 * The result depends on the order of documents once features are forgotten. Errors: ARGUMENT, MEMORY; after MEMORY
 * only a part of the document is counted. */
SSTORE_API sstore_status sstore_frequency_counter_add(sstore_frequency_counter *counter,
                                                      const sstore_counted_feature *features, size_t count,
                                                      sstore_error *error);

/* Make the table (format-spec/fingerprint.md). No document can be added afterwards. *table_out is valid until the
 * counter is freed. `summary_out` may be NULL. Errors: ARGUMENT (also if no document was added), MEMORY. */
SSTORE_API sstore_status sstore_frequency_counter_finish(sstore_frequency_counter *counter, const void **table_out,
                                                         size_t *size_out, sstore_frequency_summary *summary_out,
                                                         sstore_error *error);

/* Free a counter, with its table. NULL is allowed. */
SSTORE_API void sstore_frequency_counter_free(sstore_frequency_counter *counter);

/* ----- recipes ----- */

/* Write the recipe of fingerprints with these options to `buffer`, such as "sstore-text-1 features=words shingle=1
 * weights=sublinear hash=xxh3-64 unicode=15.0.0". Fingerprints of two texts may be compared only if their recipes are
 * equal. Writes at most `size` bytes with the closing 0. Returns the length without it, as snprintf does; 0 and "" if
 * there is no such recipe: options out of range, a library built without utf8proc, or no ICU for a segmentation by
 * it. */
SSTORE_API size_t sstore_text_recipe(const sstore_text_options *options, char *buffer, size_t size);

/* Get the options whose recipe this is, such as that of a store, so that further texts are fingerprinted in the same
 * way. `lexicon` becomes that of the options: the one that the recipe names, or NULL if it names none.
 * Errors: ARGUMENT (no recipe of texts, or one with other stop words or weights than those of the lexicon),
 * UNSUPPORTED (this library has another version of Unicode or of ICU, or was built without them). */
SSTORE_API sstore_status sstore_text_options_of_recipe(const char *recipe, const sstore_lexicon *lexicon,
                                                       sstore_text_options *options_out, sstore_error *error);

#ifdef __cplusplus
}
#endif

#endif /* SSTORE_TEXT_H */
