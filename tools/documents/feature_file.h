/*
 * feature_file.h - the features of documents, in temporary files, to tell how similar two documents are.
 *
 * A feature is an element of a set, a hash of 64 bits: equal hashes are taken for equal features, which a billion
 * features have by chance with a probability of 0.03. In a multiset, the n-th occurrence of a feature is an element of
 * its own. Sets are read when they are compared, so they need not fit in memory. The last two stay there. The Python
 * package has this file too, so it knows neither the command's documents nor its messages.
 */
#ifndef FEATURE_FILE_H
#define FEATURE_FILE_H

#include <sstore_text.h>
#include <stdbool.h>
#include <stdio.h>

/* Of a keeper, the distance of two documents is 1 - similarity, in these parts. */
#define FEATURE_SIMILARITY_PARTS 1000000u

/* The elements of a set: words behind a head. */
#define FEATURE_HEAD_WORDS 3u /* the number of elements, and a digest of them */

/* The elements of a set that was read. */
typedef struct feature_set_slot {
    bool is_read;
    uint64_t number;
    uint64_t *words; /* the head and the elements */
    size_t capacity;
} feature_set_slot;

typedef struct feature_file {
    FILE *sets, *places; /* places: for each number, where its set begins in `sets`, in words */
    uint64_t next_number, next_place;
    feature_set_slot slots[2];
    uint64_t *table; /* of the elements of slot 0; 0: empty */
    size_t table_capacity;
    uint32_t table_bits;
    bool is_flushed;    /* all that was written can be read */
    sstore_error error; /* why a set could not be read, the first time; of status OK: all could */
} feature_file;

/* The words that a set takes, and the set. */
size_t feature_set_words(const sstore_counted_feature *features, size_t count, bool is_multiset);
void feature_set_make(const sstore_counted_feature *features, size_t count, bool is_multiset, uint64_t *words_out);

/* Make the MinHash of a set, of so many bits: a word for each 64. ARGUMENT, MEMORY. */
sstore_status feature_set_minhash(const sstore_counted_feature *features, size_t count, bool is_multiset, uint32_t bits,
                                  uint64_t *words_out, sstore_error *error);

/* Begin with two empty files without a name, which can be written and read, and are closed with it. A zeroed feature
 * file may be closed. */
void feature_file_open(feature_file *self, FILE *sets, FILE *places);
void feature_file_close(feature_file *self);

/* Add the set of a document, whose number is above those before. IO. */
sstore_status feature_file_add(feature_file *self, uint64_t number, const uint64_t *words, sstore_error *error);

/* The Jaccard similarity of the sets of two documents: the elements that they share over all that either has; of empty
 * ones, 0. 0 also if one cannot be read, which `error` tells. One thread at a time. */
double feature_file_similarity(feature_file *self, uint64_t number, uint64_t other_number);

/* For a keeper's `confirm`: whether the similarity is at least that. Sets the distance. */
bool feature_file_confirm(feature_file *self, uint64_t number, uint64_t other_number, double least,
                          uint32_t *distance_out);

/* The digest of a set: different sets have different ones, but for chance. Two zeros if the set cannot be read, which
 * `error` tells. One thread at a time. */
void feature_file_digest(feature_file *self, uint64_t number, uint64_t digest_out[2]);

#endif
