/*
 * cmd.h - the commands of sstore, and the operands, options and steps that several of them share.
 *
 * Data goes to stdout, messages go to stderr.
 */
#ifndef CMD_H
#define CMD_H

#include "commands/command_line.h"
#include "input/input.h"
#include "output/json_read.h"
#include "output/messages.h"
#include "output/output.h"
#include "output/progress.h"
#include "output/records.h"
#include "sstore_statistics.h"

/*
 * Each runs one command and returns the exit code of the process. argv[0] is "sstore", which begins getopt's messages.
 * program_invocation_short_name is "sstore NAME", which usage messages show.
 */
int cmd_build(int argc, char **argv);
int cmd_add(int argc, char **argv);
int cmd_remove(int argc, char **argv);
int cmd_compact(int argc, char **argv);
int cmd_reindex(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_shard(int argc, char **argv);
int cmd_query(int argc, char **argv);
int cmd_get(int argc, char **argv);
int cmd_scan(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_collect(int argc, char **argv);
int cmd_pairs(int argc, char **argv);
int cmd_clusters(int argc, char **argv);
int cmd_join(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_fingerprint(int argc, char **argv);
int cmd_idf(int argc, char **argv);
int cmd_similarity(int argc, char **argv);
int cmd_dedup(int argc, char **argv);

/* ----- operands ----- */

/* Each of these ends the process with a usage error if the operands are wrong. */

/* Check that there are `count` operands; `expected` describes them. */
void operands_check(operands given, int count, const char *expected);

/* The only operand, STORE. */
const char *operands_only_store(operands given);

/* Remove the first operand, STORE, from the others, and return it. */
const char *operands_take_store(operands *list);

/* The operands as input files. Without any, the only input is "-", standard input, which may be given once. */
operands operands_as_inputs(operands given);

/* What to do if `path`, an operand that is neither a store nor an input, is nevertheless a folder or a file. */
const char *operand_hint(const char *path);

/* The same if `operand` is no id. */
const char *id_operand_hint(const char *operand);

/* ----- stores ----- */

/* Open the store at `path` and read its metadata. Returns an exit code. Close *store_out in any case. */
int store_open(const char *path, const sstore_open_options *options, sstore **store_out,
               sstore_statistics *metadata_out);

/* Read the metadata of the store at `path`. Returns an exit code. */
int store_read_metadata(const char *path, sstore_statistics *metadata_out);

/* Tell that looking up ids reads all records, if it does. */
void store_tell_reading_all(const char *path, const sstore_statistics *metadata);

/* Fail unless an input's recipe is that of the store, or the store has none. If the recipe is a kind of fingerprints,
 * that is a doubt. Returns an exit code. */
int store_check_recipe(const char *path, input_doubt *doubt, const char *input, const char *recipe);

/* Have inputs that are read with these options checked in this way. */
void store_expect_recipe(input_options *options, const char *path);

/* The recipe of a store with --pad says how many bits its fingerprints have. This makes such a recipe of another one,
 * which may be empty. Returns `to`. */
#define STORE_PADDED_RECIPE_BYTES (RECORDS_MAX_RECIPE + 32)
const char *store_padded_recipe(uint32_t bits, const char *recipe, char to[STORE_PADDED_RECIPE_BYTES]);

/* Inputs are for a store. If its recipe says so, they have that many bits, which are filled up without being asked. */
void store_expect_padding(const char *recipe, line_format *lines, input_shape *shape);

/* Fail if --bits says another number of bits than the store at the path has. Returns an exit code. */
int store_check_bits(const char *path, const sstore_statistics *metadata, const input_options *input);

/* The choices of --io: values of sstore_io. */
extern const option_choice io_modes[];

/* ----- options of input ----- */

extern const option_choice radix_choices[];        /* of --radix for input */
extern const option_choice output_radix_choices[]; /* of --radix for output */

/* Check --fingerprint-field and --id-field; a wrong value is a usage error. */
void check_json_keys(const char *fingerprint_key, const char *id_key);

/* The words of a fingerprint by --bits; 0: it is not given. */
uint32_t words_option(const input_options *input);

/* The largest distance of a build. It depends on the words of the fingerprints, which may be known later. */
#define MAX_BUILD_DISTANCE (SSTORE_MAX_BUILD_DISTANCE * SSTORE_MAX_WORDS)

/* Fail if the distance is too large for a store of fingerprints of this many words. Returns an exit code. */
int check_build_distance(uint32_t distance, uint32_t words);

/* --format, --compression, --columns, --radix, --bits, --pad and the keys of JSON: a group of options for the
 * input_options at an offset in the arguments. */
extern const command_option input_option_table[];
void check_input_options(void *part);
#define INPUT_OPTION_GROUP(offset)                                                                                     \
    {input_option_table, offset, "Input:", check_input_options},                                                       \
        BAD_ROW_OPTION_GROUP((offset) + offsetof(input_options, bad))

/* --skip-bad and --max-bad: a group of options for the bad_rows at an offset in the arguments. INPUT_OPTION_GROUP has
 * them too. */
extern const command_option bad_row_options[];
void check_bad_row_options(void *part);
#define BAD_ROW_OPTION_GROUP(offset)                                                                                   \
    {                                                                                                                  \
        bad_row_options, offset, NULL, check_bad_row_options                                                           \
    }

/* ----- results ----- */

/* --header: a group of options for the header_mode at an offset in the arguments. */
extern const command_option header_options[];
#define HEADER_OPTION_GROUP(offset) OPTION_GROUP(header_options, offset)

/* The columns of matches. */
#define MATCH_COLUMNS "query\tfingerprint\tdistance\tid"

/* The inputs are read, or the command has failed with that exit code: say which rows were skipped, and what is doubtful
 * (with --strict, that is a failure). Returns the exit code. */
int end_inputs(const input_options *input, bool quiet, int code);

/* ----- progress ----- */

/* --progress: a group of options for the progress_mode at an offset in the arguments. */
extern const command_option progress_options[];
#define PROGRESS_OPTION_GROUP(offset) OPTION_GROUP(progress_options, offset)

/* The part of a build that reads its inputs, about: the rest sorts and writes. */
#define READING_PART 0.2

/* Show how many records of the inputs were taken. They are a part of the command, from 0 to `part`, if the length of
 * the inputs is known. */
void progress_show_reading(uint64_t count, uint64_t expected_count, double part);

/* The next reports are about the rest, up to `end`. */
void progress_after_reading(double part, double end);

/* ----- long tasks ----- */

/* The arguments of long commands: the resources that they may use and, if they write a store, its properties. */
typedef struct task_arguments {
    sstore_write_options options;
    progress_mode progress;
    bool quiet;
    bool allow_empty; /* --force may replace a store even if there are no input records */
} task_arguments;

#define TASK_ARGUMENTS_INIT                                                                                            \
    {                                                                                                                  \
        SSTORE_WRITE_OPTIONS_INIT, PROGRESS_AUTO, false, false                                                         \
    }

/*
 * Groups of options for the task_arguments at an offset in the arguments. RUN: progress and messages. THREAD: threads.
 * INPUT_THREAD: the same for commands that read input. WAIT: for other writers. CHANGE: for commands that change
 * records of a store. The others include RUN. WRITE: for commands that write to a store. SEGMENT: for commands that
 * write a segment with a plan to an existing store. BUILD: for commands that make a store.
 */
extern const command_option run_options[], thread_options[], input_thread_options[], wait_options[], write_options[],
    change_options[], segment_options[], build_options[];
#define RUN_OPTION_GROUPS(offset)                                                                                      \
    PROGRESS_OPTION_GROUP((offset) + offsetof(task_arguments, progress)), OPTION_GROUP(run_options, offset)
#define THREAD_OPTION_GROUP(offset) OPTION_GROUP(thread_options, offset)
#define INPUT_THREAD_OPTION_GROUP(offset) OPTION_GROUP(input_thread_options, offset)
#define WAIT_OPTION_GROUP(offset) OPTION_GROUP(wait_options, offset)
#define WRITE_OPTION_GROUPS(offset)                                                                                    \
    OPTION_GROUP(write_options, offset), WAIT_OPTION_GROUP(offset), RUN_OPTION_GROUPS(offset)
#define CHANGE_OPTION_GROUP(offset) OPTION_GROUP(change_options, offset)
#define SEGMENT_OPTION_GROUPS(offset) OPTION_GROUP(segment_options, offset), WRITE_OPTION_GROUPS(offset)
#define BUILD_OPTION_GROUPS(offset) OPTION_GROUP(build_options, offset), WRITE_OPTION_GROUPS(offset)

/* Call this before the store is begun: it begins to show progress, and makes the library stop on a signal. From then on
 * a write to a pipe without a reader fails, instead of ending the process by SIGPIPE. */
void task_begin(task_arguments *arguments);

/* Begin a command that does not write to a store: SIGPIPE ends it. */
void task_begin_reading(task_arguments *arguments);

/* Report how the task for the store at `path` ended. `stopped` says what an interruption left behind, such as "nothing
 * was changed". Returns the exit code. */
int task_end(const char *path, const char *stopped, sstore_status status, const sstore_error *error);

/* End the task of a command with --tmp-dir, which changed nothing if it was interrupted. */
int task_end_write(const task_arguments *arguments, const char *path, sstore_status status, const sstore_error *error);

/* End a task in this way; if it made a store, print a summary. */
int task_end_build(const task_arguments *arguments, const char *path, sstore_status status, const sstore_error *error);

/* With --force, but without --allow-empty, fail if `record_count` is 0: the program that should have written the
 * records has probably failed, and a store would be lost. Returns an exit code. */
int task_check_records(const task_arguments *arguments, const char *path, uint64_t record_count);

/* Check in this way records that come from stores. */
int task_check_stores(const task_arguments *arguments, const char *path, const operands *stores);

#endif
