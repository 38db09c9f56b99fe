/*
 * build.h - what tests and benchmarks may ask of a builder beyond <sstore.h>.
 */
#ifndef SS_BUILD_H
#define SS_BUILD_H

#include "base/common.h"

/* Build with `interval` (1 to SS_BLOCK_MAX_COUNT) fingerprints between two restart points instead of SS_RESTART_INTERVAL.
 * The format allows any, and readers take it from the store. Between create and finish. */
void ss_builder_set_restart_interval(sstore_builder *builder, uint32_t interval);

#endif
