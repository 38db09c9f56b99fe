/*
 * build_disk.h - what a build takes of the disk, estimated from the number of its records.
 */
#ifndef SS_BUILD_DISK_H
#define SS_BUILD_DISK_H

#include "base/file.h"
#include "build/build_memory.h"
#include "plan/figures.h"

/* Bytes. */
typedef struct ss_build_disk {
    uint64_t store_bytes;      /* of the finished store */
    uint64_t store_peak_bytes; /* of its files and of what is spilled, where both go to the same place */
    uint64_t spill_peak_bytes; /* of what is spilled alone */
} ss_build_disk;

/* Estimate, for records of which none has been taken in yet. `in_order`: they come sorted, so none of them is spilled. */
ss_build_disk ss_build_disk_expect(const ss_plan *plan, const ss_expected_store *store, const ss_build_memory *memory,
                                   bool in_order);

#endif
