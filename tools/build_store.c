/*
 * build_store.c - from inputs to a published store.
 */
#include "build_store.h"

#include <inttypes.h>

#include "interrupt.h"
#include "progress.h"

#define LARGE_BYTES 1000000000u /* of disk: builds that take less need not say so */

typedef struct build_job {
    store_work work;
    sstore_builder *builder;
    uint64_t record_count, expected_count; /* expected: of all inputs, 0 if it is not known */
} build_job;

static int add_batch(void *context, const uint64_t *fingerprints, const uint64_t *ids, size_t count)
{
    build_job *job = context;
    sstore_error error;
    if (interrupted())
        return interrupt_exit_code();
    sstore_status status = job->work == STORE_REMOVE_IDS
                               ? sstore_builder_add_ids(job->builder, fingerprints, count, &error)
                               : sstore_builder_add(job->builder, fingerprints, ids, count, &error);
    if (status != SSTORE_OK)
        return cmd_fail(&error);
    job->record_count += count;
    progress_reading(job->record_count, job->expected_count);
    return EXIT_DONE;
}

static int read_inputs(build_job *job, char **inputs, size_t input_count, const input_options *format)
{
    input_ids ids = INPUT_IDS_UNKNOWN;
    int code = EXIT_DONE;
    for (size_t i = 0; i < input_count && code == EXIT_DONE; i++)
        code = input_read(inputs[i], format, &ids, add_batch, job);
    return code == EXIT_DONE && interrupted() ? interrupt_exit_code() : code;
}

static double gigabytes(uint64_t bytes)
{
    return (double)bytes / 1e9;
}

/* Say beforehand what a large build takes of the disk. */
static void state_needs(const build_arguments *arguments, const char *path, const build_job *job)
{
    sstore_build_needs needs = {.struct_size = sizeof needs};
    sstore_error error;
    if (arguments->quiet || job->expected_count == 0 ||
        sstore_builder_needs(job->builder, job->expected_count, &needs, &error) != SSTORE_OK ||
        needs.peak_bytes + needs.tmp_peak_bytes < LARGE_BYTES)
        return;
    cmd_complain("%s: about %" PRIu64 " million records; the build takes up to %.1f GB of disk, of which %.1f GB stay; "
                 "%.1f GB are free",
                 path, job->expected_count / 1000000, gigabytes(needs.peak_bytes), gigabytes(needs.store_bytes),
                 gigabytes(needs.free_bytes));
    if (needs.tmp_peak_bytes > 0)
        cmd_complain("%s: up to %.1f GB are spilled to %s, where %.1f GB are free", path, gigabytes(needs.tmp_peak_bytes),
                     arguments->options.tmp_dir, gigabytes(needs.tmp_free_bytes));
}

/* Of all inputs together, if it is known of each. */
static input_expectation expect_records(char **inputs, size_t input_count, const input_options *format)
{
    input_expectation all = {.known = true};
    for (size_t i = 0; i < input_count; i++) {
        input_expectation one = input_expect(inputs[i], format);
        if (!one.known)
            return one;
        all.count += one.count;
        all.largest_id = one.largest_id > all.largest_id ? one.largest_id : all.largest_id;
    }
    return all;
}

static sstore_status begin(store_work work, const char *path, const sstore_build_options *options,
                           sstore_builder **builder_out, sstore_error *error)
{
    switch (work) {
    case STORE_ADD: return sstore_builder_create_addition(path, options, builder_out, error);
    case STORE_REMOVE:
    case STORE_REMOVE_IDS: return sstore_builder_create_removal(path, options, builder_out, error);
    case STORE_BUILD: break;
    }
    return sstore_builder_create(path, options, builder_out, error);
}

#define MANY_SEGMENTS 32u

static void print_change(const char *path, bool added, const sstore_change *change)
{
    if (added)
        cmd_complain("%s: added %" PRIu64 " of %" PRIu64 " records (%" PRIu64 " already present or repeated); records %" PRIu64
                     ", segments %" PRIu32, path, change->added_count, change->given_count,
                     change->given_count - change->added_count, change->record_count, change->segment_count);
    else
        cmd_complain("%s: removed %" PRIu64 " records; records %" PRIu64 ", segments %" PRIu32, path,
                     change->removed_count, change->record_count, change->segment_count);
    if (change->segment_count >= MANY_SEGMENTS)
        cmd_complain("%s: queries look into every segment; 'sstore compact --tiered' makes few of many", path);
}

/* What the summary of a new store does not say. */
static void tell_of_input(const char *path, bool may_be_empty, const sstore_change *change)
{
    if (change->given_count == 0 && !may_be_empty)
        cmd_complain("%s: warning: there were no input records", path);
    if (change->given_count > change->added_count)
        cmd_complain("%s: %" PRIu64 " of %" PRIu64 " input records were repeated", path,
                     change->given_count - change->added_count, change->given_count);
}

void warn_of_ids(const char *path, const sstore_change *change)
{
    if (change->conflict_count == 0)
        return;
    cmd_complain("%s: warning: ids of added records that also belong to another fingerprint: %s%" PRIu64 ", such as id %" PRIu64
                 "; different documents need different ids, see 'sstore fingerprint --first-id'",
                 path, change->ids_checked ? "" : "at least ", change->conflict_count, change->least_conflicting_id);
}

error_t store_arguments_parse(int key, struct argp_state *state, store_arguments *arguments)
{
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->build;
        state->child_inputs[1] = &arguments->input;
        return 0;
    case ARGP_KEY_ARGS:
        arguments->operands = cmd_take_operands(state);
        return 0;
    case ARGP_KEY_END:
        cmd_check_inputs(&arguments->operands);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int store_arguments_check(store_arguments *arguments)
{
    const sstore_build_options *options = &arguments->build.options;
    int code = EXIT_DONE;
    for (int i = 0; i < arguments->operands.input_count && code == EXIT_DONE; i++)
        code = input_check(arguments->operands.inputs[i], &arguments->input);
    arguments->input.ahead = options->threads != 1;
    arguments->input.most_window_bits = input_window_bits(options->memory_bytes);
    return code;
}

int build_store(store_work work, store_arguments *arguments)
{
    const char *path = arguments->operands.store;
    build_arguments *build = &arguments->build;
    char **inputs = arguments->operands.inputs;
    const size_t input_count = (size_t)arguments->operands.input_count;
    sstore_change change = {.struct_size = sizeof change};
    sstore_error error;
    int code = store_arguments_check(arguments);
    if (code != EXIT_DONE)
        return code;
    const input_expectation expected = expect_records(inputs, input_count, &arguments->input);
    build_job job = {.work = work, .expected_count = expected.count};
    build_arguments_begin(build);
    build->options.expected_record_count = expected.count;
    build->options.expected_largest_id = expected.largest_id;
    build->options.change = build->quiet ? NULL : &change;
    sstore_status status = begin(work, path, &build->options, &job.builder, &error);
    if (status != SSTORE_OK)
        return build_arguments_check(path, status, &error);
    state_needs(build, path, &job);
    code = read_inputs(&job, inputs, input_count, &arguments->input);
    if (code == EXIT_DONE && work == STORE_BUILD)
        code = build_arguments_check_records(build, path, job.record_count);
    if (code != EXIT_DONE) {
        sstore_builder_abort(job.builder);
        return interrupted() ? build_arguments_check(path, SSTORE_STOPPED, NULL) : code;
    }
    status = sstore_builder_finish(job.builder, &error);
    if (work == STORE_BUILD) {
        code = build_arguments_end(build, path, status, &error);
        if (code == EXIT_DONE && !build->quiet)
            tell_of_input(path, build->allow_empty, &change);
        return code;
    }
    code = build_arguments_check(path, status, &error);
    if (code == EXIT_DONE && !build->quiet)
        print_change(path, work == STORE_ADD, &change);
    if (code == EXIT_DONE && !build->quiet)
        warn_of_ids(path, &change);
    return code;
}
