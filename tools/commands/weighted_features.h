/* weighted_features.h - sstore fingerprint --weighted. */
#ifndef WEIGHTED_FEATURES_H
#define WEIGHTED_FEATURES_H

#include <sstore_text.h>

#include "commands/cmd.h"

/* Print the fingerprints of documents that are lines of "feature<TAB>weight", up to a blank line. They are numbered
 * from `first_id` on. The options say how features are hashed, and to how many bits. The header is that of
 * --header. Returns an exit code. */
int fingerprint_weighted_features(const operands *inputs, uint64_t first_id, const sstore_text_options *options,
                                  header_mode header);

#endif
