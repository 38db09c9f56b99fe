/* features.h - the features of a text: shingles of its words, or n-grams of its characters
 * (format-spec/fingerprint.md). */
#ifndef SS_FEATURES_H
#define SS_FEATURES_H

#include "base/common.h"
#include "sstore_text.h"

/*
 * The fingerprint of a text; `shingle` is 1 to 64. Without `shortcuts` the text is folded as one piece, code point by
 * code point. This is slow and simple; tests compare the shortcuts with it. MEMORY.
 */
sstore_status ss_features_fingerprint(const uint8_t *text, size_t size, sstore_feature_kind kind, uint32_t shingle,
                                      bool shortcuts, uint64_t *fingerprint_out, sstore_error *error);

#endif
