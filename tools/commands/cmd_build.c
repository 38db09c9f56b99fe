/*
 * cmd_build.c - sstore build and remove, and the steps that they share with sstore add.
 */
#include "commands/cmd_build.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands/named_ids.h"
#include "input/input_measure.h"
#include "input/input_value.h"
#include "input/interrupt.h"
#include "input/padding.h"
#include "input/skew.h"

#define LARGE_BYTES 1000000000u /* of disk space: only larger builds announce their needs */
#define WARNED_SEGMENTS 32u     /* a change that leaves this many segments says how to merge them */

typedef struct build_job {
    const char *path;
    task_arguments *task;
    const store_arguments *arguments;
    store_change kind;
    FILE *absent;            /* or NULL */
    sstore_builder *builder; /* NULL where records are removed */
    sstore_remover *remover;
    char *recipe;                          /* that the inputs of a build state, or NULL */
    uint32_t padded_bits;                  /* that the recipe of a new store says, or 0 */
    sstore_statistics metadata;            /* of a store that is changed */
    input_shape shape;                     /* of the records; of a build, its width may be known later */
    uint64_t record_count, expected_count; /* expected: in all inputs; 0: unknown */
    uint64_t next_row;                     /* the row after the last record, if bad rows are skipped */
    bool assigns_ids;                      /* the arguments want it, so records must not have any */
    named_ids named;                       /* of records to remove */
    skew skew;                             /* of the records of a build */
} build_job;

static int write_absent(void *context, uint64_t id)
{
    const build_job *job = context;
    if (fprintf(job->absent, "%" PRIu64 "\n", id) > 0)
        return 0;
    message_errno(job->arguments->absent, "cannot write the file");
    return 1;
}

static sstore_status begin_builder(build_job *job, sstore_error *error)
{
    sstore_write_options *options = &job->task->options;
    options->check_ids = job->kind == STORE_ADD && (!job->task->quiet || job->arguments->input.own_doubt.strict);
    options->on_absent = job->absent != NULL ? write_absent : NULL;
    options->absent_context = job;
    switch (job->kind) {
    case STORE_BUILD: return sstore_builder_create(job->path, options, &job->builder, error);
    case STORE_ADD: return sstore_builder_create_addition(job->path, options, &job->builder, error);
    default: return sstore_remover_create(job->path, options, &job->remover, error);
    }
}

/* State the recipe of the records of a new store. Returns an exit code. */
static int state_recipe(build_job *job, const char *recipe)
{
    char padded[STORE_PADDED_RECIPE_BYTES];
    sstore_error error;
    if (job->padded_bits > 0)
        recipe = store_padded_recipe(job->padded_bits, recipe, padded);
    return message_status(sstore_builder_set_recipe(job->builder, recipe, &error), &error);
}

/* The bits of the fingerprints that --pad fills up, or 0. */
static uint32_t find_padded_bits(const build_job *job)
{
    const line_format *lines = &job->arguments->input.lines;
    const uint32_t bits = job->shape.bits > 0 ? job->shape.bits : lines->bits;
    return lines->pads && bits % 64 != 0 ? bits : 0;
}

/* A build begins before its records are there, so that what makes it impossible is found at once. If the first ones
 * have another width than was assumed, it begins again. */
static int settle_words(build_job *job, uint32_t words)
{
    sstore_write_options *options = &job->task->options;
    const similarity *near = &job->arguments->similarity;
    sstore_error error;
    const uint32_t padded = find_padded_bits(job);
    const bool is_as_assumed = options->fingerprint_bits == 64 * words && job->padded_bits == padded &&
                               (near->text == NULL || job->record_count > 0);
    if (job->kind != STORE_BUILD || is_as_assumed)
        return EXIT_DONE;
    assert(job->record_count == 0); /* or these would be lost */
    const char *given_recipe = options->recipe, *recipe = job->recipe != NULL    ? job->recipe
                                                          : given_recipe != NULL ? given_recipe
                                                                                 : "";
    sstore_builder_abort(job->builder);
    job->builder = NULL;
    job->padded_bits = padded;
    options->fingerprint_bits = 64 * words;
    options->recipe = NULL;
    int code = similarity_of_recipe(near, job->path, recipe, 64 * words, &options->distance);
    if (code == EXIT_DONE)
        code = check_build_distance(options->distance, words);
    if (code == EXIT_DONE)
        code = message_status(begin_builder(job, &error), &error);
    if (code == EXIT_DONE && (recipe[0] != '\0' || padded > 0))
        code = state_recipe(job, recipe);
    options->recipe = given_recipe;
    return code;
}

/* Give records without ids to the library, which numbers them by their rows: skipped ones use up their numbers. */
static sstore_status give_rows(build_job *job, const record_batch *batch, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (size_t i = 0, end; status == SSTORE_OK && i < batch->count; i = end) {
        for (end = i + 1; end < batch->count && batch->ids[end] == batch->ids[end - 1] + 1;)
            end++;
        status = sstore_builder_skip_ids(job->builder, batch->ids[i] - job->next_row, error);
        if (status == SSTORE_OK)
            status = sstore_builder_add(job->builder, batch->fingerprints + i * batch->words, NULL, end - i, error);
        job->next_row = batch->ids[end - 1] + 1;
    }
    return status;
}

/* Write the names that the store does not have. */
static sstore_status write_absent_names(build_job *job, const record_batch *batch, sstore_error *error)
{
    char text[4 * SSTORE_MAX_NAME_BYTES + 2];
    const uint64_t first_new = job->named.next_id; /* names that the store has have lower ids */
    const sstore_status status = named_ids_find(&job->named, batch, error);
    for (size_t i = 0; status == SSTORE_OK && i < batch->count; i++) {
        if (job->named.ids[i] < first_new)
            continue;
        size_t length = name_escape(batch->names[i].bytes, batch->names[i].size, text);
        text[length++] = '\n';
        if (fwrite(text, 1, length, job->absent) != length) {
            message_errno(job->arguments->absent, "cannot write the file");
            return SSTORE_STOPPED;
        }
    }
    return status;
}

static sstore_status give_named(build_job *job, const record_batch *batch, sstore_error *error)
{
    if (job->kind == STORE_REMOVE_NAMES) {
        const sstore_status status = job->absent != NULL ? write_absent_names(job, batch, error) : SSTORE_OK;
        return status != SSTORE_OK ? status
                                   : sstore_remover_remove_named(job->remover, batch->names, batch->count, error);
    }
    if (job->kind == STORE_REMOVE) {
        const sstore_status status = named_ids_find_records(&job->named, batch, error);
        return status != SSTORE_OK ? status
                                   : sstore_remover_remove(job->remover, job->named.fingerprints, job->named.ids,
                                                           job->named.count, error);
    }
    return sstore_builder_add_named(job->builder, batch->fingerprints, NULL, batch->names, batch->count, error);
}

/* Give records to the library. Ids to remove come as fingerprints. */
static sstore_status give_records(build_job *job, const record_batch *batch, sstore_error *error)
{
    const uint64_t *fingerprints = batch->fingerprints, *ids = record_batch_ids(batch);
    if (batch->has_names)
        return give_named(job, batch, error);
    if (job->builder != NULL && batch->has_rows)
        return give_rows(job, batch, error);
    if (job->builder != NULL)
        return sstore_builder_add(job->builder, fingerprints, ids, batch->count, error);
    if (job->kind == STORE_REMOVE_IDS)
        return sstore_remover_remove(job->remover, NULL, fingerprints, batch->count, error);
    return sstore_remover_remove(job->remover, fingerprints, ids, batch->count, error);
}

#define SAMPLED 64u /* fingerprints that are looked up before an addition */

static int count_match(void *context, const sstore_match *match)
{
    (void)match;
    ++*(uint64_t *)context;
    return 1; /* one is enough */
}

/* How many of some fingerprints, evenly from the batch, does the store have? */
static uint64_t count_present(sstore *store, const record_batch *batch, size_t sampled)
{
    sstore_cursor *cursor;
    uint64_t present = 0;
    if (sstore_cursor_create(store, &cursor, NULL) != SSTORE_OK)
        return 0;
    for (size_t i = 0; i < sampled; i++) {
        const uint64_t *fingerprint = batch->fingerprints + batch->words * (i * batch->count / sampled);
        (void)sstore_query(cursor, fingerprint, 0, count_match, &present, NULL);
    }
    sstore_cursor_free(cursor);
    return present;
}

/* Doubt records for a store: ids for one without ids, and records without ids that seem to be added once more. If the
 * store cannot be read, there is no doubt: the change says what is wrong. */
static void doubt_records(const store_arguments *arguments, const record_batch *batch)
{
    const size_t sampled = batch->count < SAMPLED ? batch->count : SAMPLED;
    sstore_statistics metadata = {.struct_size = sizeof metadata};
    sstore *store;
    uint64_t present = 0;
    if (sstore_open(arguments->store, NULL, &store, NULL) != SSTORE_OK)
        return;
    const bool is_read = sstore_stat(store, &metadata, NULL) == SSTORE_OK;
    if (is_read && batch->has_ids && !metadata.has_ids)
        input_doubt_say(arguments->input.doubt, STORE_DROPS_IDS, arguments->store);
    if (is_read && !batch->has_ids && !batch->has_names && metadata.has_ids &&
        batch->words == metadata.fingerprint_bits / 64)
        present = count_present(store, batch, sampled);
    if (present >= 3 && 4 * present >= 3 * sampled)
        input_doubt_say(arguments->input.doubt,
                        "%s: the store already has %" PRIu64 " of %zu fingerprints of the input that were looked up: "
                        "records without ids are numbered anew, from %" PRIu64
                        " on, so an input that is added once more "
                        "doubles them; with ids, records that are there are not added again",
                        arguments->store, present, sampled, metadata.next_id);
    sstore_close(store);
}

static int add_batch(void *context, const record_batch *batch)
{
    build_job *job = context;
    sstore_error error;
    if (interrupted())
        return interrupt_exit_code();
    if (job->kind != STORE_BUILD && job->record_count == 0 && (batch->has_ids || job->kind == STORE_ADD))
        doubt_records(job->arguments, batch);
    if (batch->has_ids && job->assigns_ids)
        return message_print(
            "--first-id cannot be used, since the input has ids: leave it out, or skip the ids of text "
            "with --columns fingerprint,-");
    if (!batch->has_ids && !batch->has_names && job->task->options.replace_records)
        return message_print("--replace cannot be used, since the input has no ids: a record replaces those of its id");
    const int code = settle_words(job, batch->words);
    if (code != EXIT_DONE)
        return code;
    if (give_records(job, batch, &error) != SSTORE_OK)
        return message_error(&error);
    if (job->kind == STORE_BUILD && !job->task->quiet)
        skew_look(&job->skew, batch->fingerprints, batch->words, batch->count);
    job->record_count += batch->count;
    progress_show_reading(job->record_count, job->expected_count, READING_PART);
    return EXIT_DONE;
}

/* An input states the recipe of its records. */
static int take_recipe(void *context, input_doubt *doubt, const char *path, const char *recipe)
{
    build_job *job = context;
    const char *given_recipe = job->task->options.recipe;
    if (job->kind != STORE_BUILD) {
        const int code = store_check_recipe(job->path, doubt, path, recipe);
        const bool is_first = job->kind == STORE_ADD && job->metadata.record_count == 0 && job->metadata.recipe[0] == 0;
        return code == EXIT_DONE && is_first ? state_recipe(job, recipe) : code;
    }
    if (given_recipe != NULL && strcmp(given_recipe, recipe) != 0)
        return message_print("%s: the input was made by the recipe '%s', but --recipe says '%s': leave it out%s", path,
                             recipe, given_recipe,
                             value_is_recipe(recipe) ? ", or the kinds, such as with \"sed 's/[adpw]:'//\"" : "");
    if (state_recipe(job, recipe) != EXIT_DONE)
        return message_print("%s: the input was made by this recipe: '%s'", path, recipe);
    if (job->recipe == NULL)
        job->recipe = strdup(recipe);
    return job->recipe != NULL ? EXIT_DONE : message_print("out of memory");
}

static int read_inputs(build_job *job, const store_arguments *arguments)
{
    int code = EXIT_DONE;
    input_options options = arguments->input;
    options.on_recipe = take_recipe;
    options.recipe_context = job;
    input_measure_begin(arguments->inputs.items, arguments->inputs.count);
    for (int i = 0; i < arguments->inputs.count && code == EXIT_DONE; i++)
        code = input_read(arguments->inputs.items[i], &options, &job->shape, add_batch, job);
    progress_after_reading(READING_PART, 1);
    return code == EXIT_DONE && interrupted() ? interrupt_exit_code() : code;
}

/* Before a large build, print how much disk space it needs. */
static void print_needs(const task_arguments *arguments, const char *path, const build_job *job)
{
    sstore_build_needs needs = {.struct_size = sizeof needs};
    sstore_error error;
    if (arguments->quiet || job->expected_count == 0 || job->builder == NULL ||
        sstore_builder_needs(job->builder, job->expected_count, &needs, &error) != SSTORE_OK ||
        needs.peak_bytes + needs.tmp_peak_bytes < LARGE_BYTES)
        return;
    message_print("%s: about %" PRIu64 " million records; the build needs up to %.1f GB of disk, the store then takes "
                  "%.1f GB; %.1f GB are free",
                  path, job->expected_count / 1000000, (double)needs.peak_bytes / 1e9, (double)needs.store_bytes / 1e9,
                  (double)needs.free_bytes / 1e9);
    if (needs.tmp_peak_bytes > 0)
        message_print("%s: up to %.1f GB of temporary files go to %s, where %.1f GB are free", path,
                      (double)needs.tmp_peak_bytes / 1e9, arguments->options.tmp_dir,
                      (double)needs.tmp_free_bytes / 1e9);
}

/* The sum over all inputs, if each is known. */
static input_expectation expect_records(const store_arguments *arguments, uint32_t words)
{
    input_expectation total = {.known = true, .words = words};
    for (int i = 0; i < arguments->inputs.count; i++) {
        input_expectation one = input_expect(arguments->inputs.items[i], &arguments->input, total.words);
        if (!one.known)
            return (input_expectation){.words = total.words};
        total.count += one.count;
        total.largest_id = one.largest_id > total.largest_id ? one.largest_id : total.largest_id;
        total.words = one.words;
        total.assumes_words = total.assumes_words || one.assumes_words;
    }
    return total;
}

/* What to do about records that a removal did not find. */
static const char *absent_hint(const build_job *job, const sstore_change *change)
{
    if (job->kind == STORE_REMOVE_IDS)
        return job->absent == NULL ? "; --absent lists these ids" : "";
    if (job->kind == STORE_REMOVE_NAMES)
        return job->absent == NULL ? "; --absent lists these names" : "";
    return change->absent_count == change->given_count && job->shape.ids != INPUT_IDS_PRESENT ? "; --ids removes by ids"
                                                                                              : "";
}

static void print_change(const char *path, const build_job *job, const sstore_change *change)
{
    const bool replaces = job->task->options.replace_records;
    if (replaces)
        message_print("%s: added %" PRIu64 " of %" PRIu64 " records (%" PRIu64
                      " already present or repeated), removed %" PRIu64 " that they replace; records %" PRIu64
                      ", segments %" PRIu32,
                      path, change->added_count, change->given_count, change->given_count - change->added_count,
                      change->removed_count, change->record_count, change->segment_count);
    else if (job->kind == STORE_ADD)
        message_print("%s: added %" PRIu64 " of %" PRIu64 " records (%" PRIu64
                      " already present or repeated); records %" PRIu64 ", segments %" PRIu32,
                      path, change->added_count, change->given_count, change->given_count - change->added_count,
                      change->record_count, change->segment_count);
    else
        message_print("%s: removed %" PRIu64 " of the store's %" PRIu64 " records; records %" PRIu64
                      ", segments %" PRIu32,
                      path, change->removed_count, change->record_count + change->removed_count, change->record_count,
                      change->segment_count);
    if (change->known_name_count > 0)
        message_print("%s: the store already had the names of %" PRIu64
                      " of these, with other fingerprints, and keeps both; --replace replaces the older ones",
                      path, change->known_name_count);
    if (change->absent_count > 0 && !replaces)
        message_print("%s: not in the store: %" PRIu64 " of %" PRIu64 " that were given%s", path, change->absent_count,
                      change->given_count, absent_hint(job, change));
    if (change->segment_count >= WARNED_SEGMENTS)
        message_print("%s: every query reads all segments, so many make queries slow; 'sstore compact' merges them",
                      path);
}

int store_end_ids(const store_arguments *arguments, const sstore_change *change)
{
    const bool is_error = arguments->input.own_doubt.strict;
    if (change->conflict_count == 0 || (arguments->task.quiet && !is_error))
        return EXIT_DONE;
    message_print("%s%s: ids of added records that also belong to another fingerprint: %s%" PRIu64
                  ", such as id %" PRIu64
                  "; different documents need different ids, see --first-id of 'sstore fingerprint', or names%s",
                  is_error ? "" : "warning: ", arguments->store, change->ids_checked ? "" : "at least ",
                  change->conflict_count, change->min_conflicting_id,
                  is_error ? " (--strict makes this an error, but the records were added)" : "");
    return is_error ? EXIT_FAILED : EXIT_DONE;
}

void store_take_operands(store_arguments *arguments, operands given)
{
    arguments->store = operands_take_store(&given);
    arguments->inputs = operands_as_inputs(given);
}

/* Is the STORE a file, perhaps since the operands are in another order? */
static int check_store(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return EXIT_DONE;
    return message_print("%s: it is a file, not a store, which is a folder; the STORE is the first operand", path);
}

int store_check_inputs(store_arguments *arguments)
{
    const int store_code = check_store(arguments->store);
    if (store_code != EXIT_DONE)
        return store_code;
    const sstore_write_options *options = &arguments->task.options;
    const char *rest;
    if (options->recipe != NULL && padding_of_recipe(options->recipe, &rest) > 0 && !arguments->input.lines.pads) {
        message_print("--recipe: only --pad writes '%.*s': add --pad, or leave these words out",
                      (int)(strlen(options->recipe) - strlen(rest)), options->recipe);
        return EXIT_USAGE;
    }
    arguments->input.ahead = options->threads != 1;
    arguments->input.max_window_bits = input_window_bits(options->memory_bytes);
    const int code = input_check_all(arguments->inputs.items, arguments->inputs.count, &arguments->input);
    return code != EXIT_DONE ? code
                             : bad_rows_open(&arguments->input.bad, arguments->inputs.items, arguments->inputs.count);
}

/* Report how the job ended. Returns the exit code. */
static int end(store_change kind, const store_arguments *arguments, sstore_status status, const sstore_error *error)
{
    return kind == STORE_BUILD ? task_end_build(&arguments->task, arguments->store, status, error)
                               : task_end_write(&arguments->task, arguments->store, status, error);
}

/* Blank lines do not count, so a record's number may not be that of its line. */
static void tell_blanks(const build_job *job)
{
    const bool has_ids = job->kind == STORE_BUILD ? !job->task->options.no_ids : job->metadata.has_ids;
    if (job->shape.blank_count > 0 && job->builder != NULL && has_ids && job->shape.ids == INPUT_IDS_ABSENT &&
        !job->task->quiet)
        message_print("%s: %" PRIu64
                      " blank line%s of the input w%s left out, so ids are numbers of rows, not of lines",
                      job->path, job->shape.blank_count, job->shape.blank_count == 1 ? "" : "s",
                      job->shape.blank_count == 1 ? "as" : "ere");
}

/* Why an input with lines may have no records. */
static const char *of_comments(const build_job *job)
{
    return job->shape.comment_count > 0 ? "; lines that begin with # are comments" : "";
}

/* Publish the change, and print a summary. */
static int finish_build(build_job *job, const store_arguments *arguments)
{
    const char *path = arguments->store;
    const task_arguments *task = &arguments->task;
    sstore_change change = {.struct_size = sizeof change};
    sstore_error error;
    sstore_status status = job->builder != NULL ? sstore_builder_finish(job->builder, &change, &error)
                                                : sstore_remover_finish(job->remover, &change, &error);
    int code = end(job->kind, arguments, status, &error);
    message_unmerged(path, &change);
    if (code == EXIT_DONE && job->kind != STORE_BUILD && change.given_count == 0 && !task->quiet)
        message_print("warning: %s: there were no input records%s", path, of_comments(job));
    if (code == EXIT_DONE && job->kind != STORE_BUILD && !task->quiet)
        print_change(path, job, &change);
    if (code == EXIT_DONE)
        tell_blanks(job);
    if (code == EXIT_DONE && job->kind == STORE_ADD)
        return store_end_ids(arguments, &change);
    if (code != EXIT_DONE || task->quiet || job->kind != STORE_BUILD)
        return code;
    if (change.given_count == 0 && !task->allow_empty)
        message_print("warning: %s: there were no input records%s", path, of_comments(job));
    if (change.given_count > change.added_count)
        message_print("%s: %" PRIu64 " of %" PRIu64 " input records were repeated", path,
                      change.given_count - change.added_count, change.given_count);
    skew_report(&job->skew, path, job->padded_bits);
    return EXIT_DONE;
}

/* What the inputs have, for a store that may say how wide their fingerprints are. Returns an exit code. */
static int find_expectation(build_job *job, store_arguments *arguments, input_expectation *expected_out)
{
    *expected_out = expect_records(arguments, words_option(&arguments->input));
    if (job->kind == STORE_BUILD)
        return EXIT_DONE;
    int code = store_read_metadata(arguments->store, &job->metadata);
    if (code == EXIT_DONE)
        code = store_check_bits(arguments->store, &job->metadata, &arguments->input);
    if (code == EXIT_DONE && job->kind == STORE_REMOVE_NAMES && !job->metadata.has_names)
        code = message_print("%s: the store has no names; --ids removes by ids", arguments->store);
    if (code == EXIT_DONE && job->kind == STORE_REMOVE && !job->metadata.has_names &&
        arguments->input.lines.has_name_column)
        code = message_print("%s: --columns: the store has no names", arguments->store);
    arguments->input.lines.has_names = job->metadata.has_names && job->kind != STORE_REMOVE_IDS;
    if (code == EXIT_DONE && job->kind == STORE_ADD && expected_out->assumes_words)
        *expected_out = expect_records(arguments, job->metadata.fingerprint_bits / 64);
    return code;
}

/* The width that all records must have, once the job has begun; 0: the inputs show it. */
static uint32_t required_words(const build_job *job, const store_arguments *arguments)
{
    if (job->kind == STORE_BUILD)
        return words_option(&arguments->input);
    const uint32_t bits = job->builder != NULL ? sstore_builder_fingerprint_bits(job->builder)
                                               : sstore_remover_fingerprint_bits(job->remover);
    return bits / 64;
}

/* Assume the width that the inputs seem to have, or the smallest that the distance needs. */
static int assume_words(sstore_write_options *options, uint32_t words)
{
    if (words == 0 && options->distance > SSTORE_MAX_BUILD_DISTANCE)
        words = (options->distance + SSTORE_MAX_BUILD_DISTANCE - 1) / SSTORE_MAX_BUILD_DISTANCE;
    options->fingerprint_bits = words > 0 ? 64 * words : 64;
    return check_build_distance(options->distance, options->fingerprint_bits / 64);
}

/* End the change without a result. Returns the exit code. */
static int give_up(build_job *job, int code)
{
    sstore_builder_abort(job->builder);
    sstore_remover_abort(job->remover);
    return interrupted() ? task_end(job->path, "nothing was changed", SSTORE_STOPPED, NULL) : code;
}

/* Take all records, and publish the change. */
static int run_build(build_job *job, store_arguments *arguments)
{
    task_arguments *task = job->task;
    print_needs(task, job->path, job);
    int code = end_inputs(&arguments->input, task->quiet, read_inputs(job, arguments));
    if (code == EXIT_DONE && job->kind == STORE_BUILD)
        code = task_check_records(task, job->path, job->record_count);
    if (code == EXIT_DONE && job->kind == STORE_BUILD)
        code = settle_words(job, job->shape.words > 0 ? job->shape.words : 1);
    return code == EXIT_DONE ? finish_build(job, arguments) : give_up(job, code);
}

int store_change_from_inputs(store_change kind, store_arguments *arguments)
{
    task_arguments *task = &arguments->task;
    sstore_error error;
    build_job job = {.path = arguments->store,
                     .task = task,
                     .arguments = arguments,
                     .kind = kind,
                     .assigns_ids = arguments->first_id_given != NULL};
    input_expectation expected = {0};
    int code = store_check_inputs(arguments);
    if (code == EXIT_DONE)
        code = find_expectation(&job, arguments, &expected);
    if (code == EXIT_DONE && kind == STORE_BUILD)
        code = assume_words(&task->options, expected.words);
    if (code != EXIT_DONE)
        return code;
    if (arguments->absent != NULL && (job.absent = fopen(arguments->absent, "we")) == NULL)
        return message_errno(arguments->absent, "cannot write the file");
    job.expected_count = expected.count;
    if ((kind == STORE_REMOVE_IDS || task->options.replace_records) && !task->quiet)
        store_tell_reading_all(job.path, &job.metadata);
    task_begin(task);
    task->options.expected_record_count = expected.count;
    task->options.expected_max_id = expected.largest_id;
    const sstore_status status = begin_builder(&job, &error);
    if (status != SSTORE_OK)
        return end(kind, arguments, status, &error);
    job.shape.words = required_words(&job, arguments);
    if (kind != STORE_BUILD)
        store_expect_padding(job.metadata.recipe, &arguments->input.lines, &job.shape);
    if ((kind == STORE_REMOVE || job.absent != NULL) && job.metadata.has_names)
        code = named_ids_open(&job.named, job.path);
    code = code == EXIT_DONE ? run_build(&job, arguments) : give_up(&job, code);
    named_ids_close(&job.named);
    if (job.absent != NULL && fclose(job.absent) != 0 && code == EXIT_DONE)
        code = message_errno(arguments->absent, "cannot write the file");
    free(job.recipe);
    skew_free(&job.skew);
    return code;
}

/* ----- sstore build ----- */

static const command_option build_command_options[] = {
    {"distance", 'k', "K", "for queries within K bits, up to a quarter of the bits (default 3)", OPTION_NUMBER,
     OPTION_FIELD(store_arguments, task.options.distance), .max = MAX_BUILD_DISTANCE,
     .given = offsetof(store_arguments, similarity.distance_given), .common = true},
    {"recipe", 0, "TEXT", "how the fingerprints were made; kept in the store", OPTION_TEXT,
     OPTION_FIELD(store_arguments, task.options.recipe), .common = true},
    {"no-ids", 0, NULL, "make a store without ids; ignore ids in the input", OPTION_FLAG,
     OPTION_FIELD(store_arguments, task.options.no_ids), .common = true},
    {"names", 0, NULL, "the id field holds names, which answers show", OPTION_FLAG,
     OPTION_FIELD(store_arguments, task.options.names), .common = true},
    {"first-id", 0, "N", "if the input has no ids: the id of the first record (default 0)", OPTION_NUMBER,
     OPTION_FIELD(store_arguments, task.options.first_id), .max = UINT64_MAX,
     .given = offsetof(store_arguments, first_id_given)},
    {0},
};
static const command_syntax build_syntax = {
    .options = build_command_options,
    .groups = (const option_group[]){SIMILARITY_OPTION_GROUP(offsetof(store_arguments, similarity)),
                                     BUILD_OPTION_GROUPS(offsetof(store_arguments, task)),
                                     INPUT_THREAD_OPTION_GROUP(offsetof(store_arguments, task)),
                                     INPUT_OPTION_GROUP(offsetof(store_arguments, input)),
                                     {0}},
    .operands = "STORE [INPUT...]",
    .doc = "Make STORE, a folder, from the fingerprints in all INPUTs. Without INPUT, or with -, read standard input. "
           "A line of text holds a fingerprint in hex digits and optionally a decimal id. Without ids, records are "
           "numbered from 0.",
    .examples = (const command_example[]){{"make a store of fingerprints in hex, with ids",
                                           "sstore build pages.store pages.txt"},
                                          {0}},
};

int cmd_build(int argc, char **argv)
{
    store_arguments args = STORE_ARGUMENTS_INIT;
    args.task.options.distance = SSTORE_DEFAULT_DISTANCE;
    const operands given = command_line_parse(&build_syntax, argc, argv, &args);
    const sstore_write_options *made = &args.task.options;
    if (made->no_ids && args.first_id_given != NULL)
        message_usage_error("--first-id has no effect with --no-ids: leave one of them out");
    if (made->no_ids && made->id_index)
        message_usage_error("--id-index cannot be combined with --no-ids");
    if (made->no_ids && made->names)
        message_usage_error("--names cannot be combined with --no-ids");
    store_take_operands(&args, given);
    args.input.lines.ignore_ids = made->no_ids;
    args.input.lines.has_names = made->names;
    return store_change_from_inputs(STORE_BUILD, &args);
}

/* ----- sstore remove ----- */

static const command_option remove_options[] = {
    {"ids", 0, NULL, "the input lists ids, in text decimal in the first field: remove all records with these ids",
     OPTION_FLAG, OPTION_FIELD(store_arguments, input.lines.are_ids), .common = true},
    {"names", 0, NULL, "the input lists names, in text a line for each: remove all records with these names",
     OPTION_FLAG, OPTION_FIELD(store_arguments, input.lines.are_names), .common = true},
    {"absent", 0, "FILE", "with --ids or --names: list those that are not in STORE in FILE, a line for each",
     OPTION_TEXT, OPTION_FIELD(store_arguments, absent)},
    {0},
};
static const command_syntax remove_syntax = {
    .options = remove_options,
    .groups = (const option_group[]){CHANGE_OPTION_GROUP(offsetof(store_arguments, task)),
                                     WRITE_OPTION_GROUPS(offsetof(store_arguments, task)),
                                     INPUT_THREAD_OPTION_GROUP(offsetof(store_arguments, task)),
                                     INPUT_OPTION_GROUP(offsetof(store_arguments, input)),
                                     {0}},
    .operands = "STORE [INPUT...]",
    .doc = "Remove the records in all INPUTs, in the formats of 'sstore build', from STORE. Without INPUT, or with -, "
           "read standard input. A fingerprint without an id stands for all its records. Readers see the removal as a "
           "whole at the end. 'sstore compact' frees the space.",
    .examples = (const command_example[]){{"remove all records with the ids in a file",
                                           "sstore remove --ids pages.store gone.txt"},
                                          {0}},
};

int cmd_remove(int argc, char **argv)
{
    store_arguments args = STORE_ARGUMENTS_INIT;
    line_format *lines = &args.input.lines;
    lines->must_have_ids = true;
    lines->has_names = true; /* --columns may have them; whether the store has any is known later */
    store_take_operands(&args, command_line_parse(&remove_syntax, argc, argv, &args));
    if (lines->are_ids && lines->are_names)
        message_usage_error("--ids and --names cannot be combined");
    if (args.absent != NULL && (!(lines->are_ids || lines->are_names) || strcmp(args.absent, "-") == 0))
        message_usage_error("--absent needs --ids or --names, and the name of a file");
    const store_change kind = lines->are_names ? STORE_REMOVE_NAMES : lines->are_ids ? STORE_REMOVE_IDS : STORE_REMOVE;
    lines->are_ids = lines->are_ids || lines->are_names;
    lines->ignore_ids = lines->are_ids;
    return store_change_from_inputs(kind, &args);
}
