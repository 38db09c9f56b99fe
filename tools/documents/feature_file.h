/*
 * feature_file.h - the features of documents, in temporary files, to tell how similar two documents are.
 *
 * A feature is an element of a set, a hash of 64 bits: equal hashes are taken for equal features, which a billion
 * features have by chance with a probability of 0.03. In a multiset, the n-th occurrence of a feature is an element of
 * its own. Sets are read when they are compared, so they need not fit in memory. The last two stay there.
 */
#ifndef FEATURE_FILE_H
#define FEATURE_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "documents/document_work.h"
#include "output/work_folder.h"

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
    bool is_flushed; /* all that was written can be read */
    bool has_failed; /* a set could not be read, which has been reported */
} feature_file;

/* Keep the set of a document in the memory of a worker, behind `words_before` words of the document, which found_at
 * tells. MEMORY. */
sstore_status feature_set_keep(document_worker *worker, document *doc, size_t words_before,
                               const sstore_counted_feature *features, size_t count, bool is_multiset,
                               sstore_error *error);

/* Begin. Close it in any case; a zeroed one may be closed. Returns an exit code. */
int feature_file_open(feature_file *self, const work_folder *folder);
void feature_file_close(feature_file *self);

/* Add the set of a document, whose number is above those before. Returns an exit code. */
int feature_file_add(feature_file *self, uint64_t number, const uint64_t *words);

/* The Jaccard similarity of the sets of two documents: the elements that they share over all that either has; of empty
 * ones, 0. 0 also if one cannot be read: then has_failed. One thread at a time. */
double feature_file_similarity(feature_file *self, uint64_t number, uint64_t other_number);

/* The digest of a set: different sets have different ones, but for chance. Two zeros if the set cannot be read: then
 * has_failed. One thread at a time. */
void feature_file_digest(feature_file *self, uint64_t number, uint64_t digest_out[2]);

#endif
