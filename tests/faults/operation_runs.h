/* operation_runs.h - the calls of operations. Each checks what it reads, as far as it came. */
#ifndef FAULTS_OPERATION_RUNS_H
#define FAULTS_OPERATION_RUNS_H

#include "faults/operations.h"

#define RECORDS 240u
#define OTHERS 120u
#define REMOVED 60u

sstore_status run_build(const operation *self, uint32_t threads, sstore_error *error);
sstore_status run_replace(const operation *self, uint32_t threads, sstore_error *error);
sstore_status run_add(const operation *self, uint32_t threads, sstore_error *error);
sstore_status run_remove(const operation *self, uint32_t threads, sstore_error *error);
sstore_status run_remove_ids(const operation *self, uint32_t threads, sstore_error *error);
sstore_status run_remove_names(const operation *self, uint32_t threads, sstore_error *error);
sstore_status run_replace_records(const operation *self, uint32_t threads, sstore_error *error);
sstore_status run_compact(const operation *self, uint32_t threads, sstore_error *error);
sstore_status run_merge(const operation *self, uint32_t threads, sstore_error *error);
sstore_status run_reindex(const operation *self, uint32_t threads, sstore_error *error);
sstore_status run_dedup(const operation *self, uint32_t threads, sstore_error *error);
sstore_status run_read(const operation *self, uint32_t threads, sstore_error *error);
sstore_status run_read_memory(const operation *self, uint32_t threads, sstore_error *error);
sstore_status run_join(const operation *self, uint32_t threads, sstore_error *error);
sstore_status run_read_and_stream(const operation *self, uint32_t threads, sstore_error *error);

/* Counts a name in the size_t of `context`, and fails unless it is that of its id. An sstore_name_fn. */
int run_count_name(void *context, size_t index, uint64_t id, const sstore_name *name);

/* Check the matches of the last run that queried the store. It allocates, so it comes after the faults. */
void run_check_answers(const operation *self);

#endif
