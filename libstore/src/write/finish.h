/*
 * finish.h - ends a builder: writes its records as a segment, merges it with older ones if they are small, publishes
 * the result, and reports what changed.
 */
#ifndef SS_FINISH_H
#define SS_FINISH_H

#include "write/builder.h"

/* Write these records as a segment, and publish it. No others must have been added. Frees the builder. */
sstore_status ss_builder_finish_from(sstore_builder *builder, const ss_sorted_pieces *records,
                                     sstore_change *change_out, sstore_error *error);

#endif
