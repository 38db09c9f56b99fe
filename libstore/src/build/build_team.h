/*
 * build_team.h - the threads of a build, each with a worker's memory, and the two things that they do with sorted
 * pieces: count them, and write a table of them.
 */
#ifndef SS_BUILD_TEAM_H
#define SS_BUILD_TEAM_H

#include "base/call_progress.h"
#include "build/build_worker.h"

typedef struct ss_build_team {
    uint32_t threads;
    ss_build_worker *workers;
    ss_progress *progress; /* borrowed */
} ss_build_team;

/* Give every thread room for pieces of up to `capacity` items. MEMORY. */
sstore_status ss_build_team_open(ss_build_team *team, uint32_t threads, bool with_ids, uint32_t block_bytes,
                                 size_t capacity, ss_progress *progress, sstore_error *error);
/* Also of a zeroed one. */
void ss_build_team_close(ss_build_team *team);

/* What all pieces together hold. */
typedef struct ss_counted {
    ss_table_facts facts;
    uint64_t record_count;
    ss_u128 content_sum;
} ss_counted;

/* Count all pieces. `sum_contents`: also sum the records up; else content_sum is 0. `sampler`, if not NULL, gets a sample
 * of the fingerprints. */
sstore_status ss_build_team_count(ss_build_team *team, const ss_piece_source *source, bool sum_contents,
                                  ss_sampler *sampler, ss_counted *counted_out, sstore_error *error);

/* Write all pieces into a table, and into the id column, which is NULL where there is none. */
sstore_status ss_build_team_write(ss_build_team *team, const ss_piece_source *source, ss_table_writer *table,
                                  ss_ids_writer *ids, sstore_error *error);

#endif
