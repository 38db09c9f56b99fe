#include "documents/document_features.h"

#include "output/messages.h"

sstore_status document_features_keep(document_worker *worker, document *doc, size_t words_before,
                                     const sstore_counted_feature *features, size_t count, bool is_multiset,
                                     sstore_error *error)
{
    const size_t words = words_before + feature_set_words(features, count, is_multiset);
    const sstore_status status = document_worker_reserve(worker, words, sizeof(uint64_t), error);
    if (status != SSTORE_OK)
        return status;
    doc->found_at = worker->found_count;
    feature_set_make(features, count, is_multiset, (uint64_t *)worker->found + worker->found_count + words_before);
    worker->found_count += words;
    return SSTORE_OK;
}

int document_features_open(feature_file *file, const work_folder *folder)
{
    FILE *sets = work_folder_create_unnamed(folder), *places = sets != NULL ? work_folder_create_unnamed(folder) : NULL;
    feature_file_open(file, sets, places);
    return places != NULL ? EXIT_DONE : EXIT_FAILED;
}
