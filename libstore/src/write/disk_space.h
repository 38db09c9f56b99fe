/* disk_space.h - estimates the disk space that a build needs, and compares it with what is free. */
#ifndef SS_DISK_SPACE_H
#define SS_DISK_SPACE_H

#include "write/segment_writer.h"

/* Estimate for a segment of `record_count` records in a store at `store`, before the first one is taken, and look up
 * the free space. `in_order`: they come sorted, so none of them is spilled. IO, MEMORY. */
sstore_status ss_build_needs_estimate(const ss_segment_spec *spec, const ss_dir *store, bool in_order,
                                      uint64_t record_count, uint64_t largest_id, sstore_build_needs *needs_out,
                                      sstore_error *error);

/* IO with ENOSPC if there is too little space. `spilled_bytes` are on the disk already. The paths are for the error. */
sstore_status ss_build_needs_check(const sstore_build_needs *needs, uint64_t spilled_bytes, const char *store_path,
                                   const char *tmp_path, sstore_error *error);

#endif
