/*
 * name_runs.h - names that are added to a store, with their ids: gathered within a fixed memory, sorted by id, and
 * spilled as runs when the memory is full. If the ids ascend, as assigned ones do, the runs follow each other.
 */
#ifndef SS_NAME_RUNS_H
#define SS_NAME_RUNS_H

#include "base/file.h"
#include "codec/names.h"
#include "sort/radix.h"

/* A run in the spill file. */
typedef struct ss_name_run {
    uint64_t offset, bytes;
} ss_name_run;

typedef struct ss_name_runs {
    size_t max_bytes; /* of the memory that is gathered in, or read through */
    const ss_dir *tmp_dir;
    ss_file file; /* of spilled runs; created when it is needed */
    uint64_t file_bytes;
    size_t run_count, run_capacity;
    ss_name_run *runs;     /* spilled ones; the rest is in memory */
    size_t used, capacity; /* of `bytes`: the names that are gathered, each with its size before it */
    uint8_t *bytes;
    size_t count, order_capacity;
    ss_record *order, *scratch;      /* (id, place of the name in `bytes`) */
    uint64_t name_count, name_bytes; /* that were added */
} ss_name_runs;

/* Begin without names, in at most about this much memory. `tmp_dir` is borrowed. */
void ss_name_runs_init(ss_name_runs *runs, uint64_t max_bytes, const ss_dir *tmp_dir);
/* A zeroed one is allowed. */
void ss_name_runs_free(ss_name_runs *runs);

/* Add a name that is valid: ss_name_valid(). MEMORY, IO; ARGUMENT if an id has two names. */
sstore_status ss_name_runs_add(ss_name_runs *runs, uint64_t id, const char *name, size_t size, sstore_error *error);

/* Sort what is in memory, after all names were added. Errors as ss_name_runs_add(). */
sstore_status ss_name_runs_finish(ss_name_runs *runs, sstore_error *error);

/* The runs to be read: the spilled ones, and that in memory. */
static inline size_t ss_name_runs_count(const ss_name_runs *runs)
{
    return runs->run_count + (runs->count > 0);
}

/* Reads a run in the order of its ids. */
typedef struct ss_name_run_reader {
    const ss_name_runs *runs;
    size_t run;
    size_t next;              /* in memory: of `order` */
    uint64_t read_bytes;      /* of a spilled run */
    size_t at, end, capacity; /* of the buffer */
    uint8_t *buffer;
    uint64_t id; /* of the current name */
    const uint8_t *name;
    size_t size;
} ss_name_run_reader;

/* Begin before the first name of a run. Close it also after a failure; a zeroed one is allowed. */
void ss_name_run_reader_open(ss_name_run_reader *reader, const ss_name_runs *runs, size_t run);
void ss_name_run_reader_rewind(ss_name_run_reader *reader);
void ss_name_run_reader_close(ss_name_run_reader *reader);

/* Go to the next name; *more_out is false at the end. Ids ascend strictly. IO, MEMORY. */
sstore_status ss_name_run_reader_next(ss_name_run_reader *reader, bool *more_out, sstore_error *error);

#endif
