/*
 * cmd.h - the commands of sstore, and the options, checks and steps that several of them share.
 *
 * Data goes to stdout, words go to stderr.
 */
#ifndef CMD_H
#define CMD_H

#include "commands/command_line.h"
#include "input/input.h"
#include "output/messages.h"
#include "output/output.h"

/*
 * Each runs one command and returns the process's exit code. argv[0] is "sstore", with which getopt begins its
 * messages, and program_invocation_short_name is "sstore NAME", which usage messages show.
 */
int cmd_build(int argc, char **argv);
int cmd_add(int argc, char **argv);
int cmd_remove(int argc, char **argv);
int cmd_compact(int argc, char **argv);
int cmd_reindex(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_shard(int argc, char **argv);
int cmd_query(int argc, char **argv);
int cmd_scan(int argc, char **argv);
int cmd_collect(int argc, char **argv);
int cmd_pairs(int argc, char **argv);
int cmd_clusters(int argc, char **argv);
int cmd_join(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_fingerprint(int argc, char **argv);

/* ----- operands ----- */

/* End the process with a usage error unless there are `count` operands: messages say what is expected, and what is
 * missing. */
void operands_check(operands given, int count, const char *expected, const char *missing);

/* The only operand, STORE. Otherwise the process ends with a usage error. */
const char *operands_only_store(operands given);

/* Take the first operand, STORE, off the others. */
const char *operands_take_store(operands *given);

/* Which inputs operands name: none of them stands for "-", standard input, which may be named once; otherwise the
 * process ends. */
operands operands_as_inputs(operands given);

/* ----- stores ----- */

/* Open the store at `path` and read its metadata. Returns an exit code; *store_out is to be closed in any case. */
int store_open(const char *path, const sstore_open_options *options, sstore **store_out,
               sstore_statistics *metadata_out);

/* Read the metadata of the store at `path`. Returns an exit code. */
int store_read_metadata(const char *path, sstore_statistics *metadata_out);

/* ----- options of input ----- */

/* --format, --compression, --columns and --radix, as a group of options for the input_options at an offset of the
 * arguments. */
extern const command_option input_option_table[];
void check_input_options(void *part);
#define INPUT_OPTION_GROUP(offset)                                                                                     \
    {                                                                                                                  \
        input_option_table, offset, "Input:", check_input_options                                                      \
    }

/* ----- long tasks ----- */

/* What long commands are given: the resources that they may use and, if they write a store, its properties. */
typedef struct task_arguments {
    sstore_build_options options;
    progress_mode progress;
    bool quiet;
    bool allow_empty; /* with --force: also without any input record */
} task_arguments;

#define TASK_ARGUMENTS_INIT                                                                                            \
    {                                                                                                                  \
        SSTORE_BUILD_OPTIONS_INIT, PROGRESS_AUTO, false, false                                                         \
    }

/*
 * Groups of options for the task_arguments at an offset of the arguments. Each contains the ones before it. RUN:
 * progress and messages. TASK: threads, memory and temporary files. WRITE: for commands that write a store. SEGMENT:
 * plan and block size of a segment. BUILD: for commands that make a store.
 */
extern const command_option run_options[], task_options[], write_options[], segment_options[], build_options[];
void check_run_options(void *part);
#define RUN_OPTION_GROUPS(offset)                                                                                      \
    {                                                                                                                  \
        run_options, offset, NULL, check_run_options                                                                   \
    }
#define TASK_OPTION_GROUPS(offset) {task_options, offset, NULL, NULL}, RUN_OPTION_GROUPS(offset)
#define WRITE_OPTION_GROUPS(offset) {write_options, offset, NULL, NULL}, TASK_OPTION_GROUPS(offset)
#define SEGMENT_OPTION_GROUPS(offset) {segment_options, offset, NULL, NULL}, WRITE_OPTION_GROUPS(offset)
#define BUILD_OPTION_GROUPS(offset) {build_options, offset, NULL, NULL}, SEGMENT_OPTION_GROUPS(offset)

/* The options of the library's calls that do not make a store of inputs, from those of a task. */
sstore_add_options task_add_options(const task_arguments *arguments);
sstore_remove_options task_remove_options(const task_arguments *arguments);
sstore_merge_options task_merge_options(const task_arguments *arguments);
sstore_compact_options task_compact_options(const task_arguments *arguments, sstore_compaction which);

/* Begin to show progress as the options ask for, and make the library stop on a signal: call it before the store
 * is begun. From then on a pipe that nobody reads is an error of the write, and no signal; progress is lost
 * without a word. */
void task_begin(task_arguments *arguments);

/* The same for a command that writes no store: SIGPIPE ends it. */
void task_begin_reading(task_arguments *arguments);

/* What to do after the library did the task for the store at `path`, or did not: report. Returns the exit code. */
int task_end(const char *path, sstore_status status, const sstore_error *error);

/* The same and, of a new store, print a summary. */
int task_end_build(const task_arguments *arguments, const char *path, sstore_status status, const sstore_error *error);

/* Fail if `record_count` is 0 with --force, but without --allow-empty: the program that should have written the
 * records has probably failed, and a store may be lost. */
int task_check_records(const task_arguments *arguments, const char *path, uint64_t record_count);

/* The same if the input records are those of stores. */
int task_check_stores(const task_arguments *arguments, const char *path, const operands *stores);

#endif
