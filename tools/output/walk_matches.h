/*
 * walk_matches.h - goes through the matches of an iterator.
 */
#ifndef TOOL_WALK_MATCHES_H
#define TOOL_WALK_MATCHES_H

#include "sstore.h"

/* Answer queries, and call on_match for each match. Otherwise as sstore_iterate_matches(); STOPPED if on_match returns
 * another number than 0. */
sstore_status walk_matches(const sstore *store, const uint64_t *fingerprints, size_t count, uint32_t distance,
                           const sstore_batch_options *options, sstore_match_fn on_match, void *context,
                           sstore_error *error);

#endif
