/* document_features.h - the features of the documents of a work, for a feature file. */
#ifndef DOCUMENT_FEATURES_H
#define DOCUMENT_FEATURES_H

#include "documents/document_work.h"
#include "documents/feature_file.h"
#include "output/work_folder.h"

/* Keep the set of a document in the memory of a worker, behind `words_before` words of the document, which found_at
 * tells. MEMORY. */
sstore_status document_features_keep(document_worker *worker, document *doc, size_t words_before,
                                     const sstore_counted_feature *features, size_t count, bool is_multiset,
                                     sstore_error *error);

/* Open a feature file in a folder. Close it in any case. Returns an exit code; a failure has been reported. */
int document_features_open(feature_file *file, const work_folder *folder);

#endif
