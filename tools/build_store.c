/*
 * build_store.c - from inputs to a published store.
 */
#include "build_store.h"

#include <inttypes.h>

#include "cmd.h"
#include "interrupt.h"
#include "progress.h"

#define LARGE_BYTES 1000000000u /* of disk: builds that take less need not say so */

typedef struct build_job {
    sstore_builder *builder;
    uint64_t record_count, expected_count; /* expected: of all inputs, 0 if it is not known */
} build_job;

static int add_batch(void *context, const uint64_t *fingerprints, const uint64_t *ids, size_t count)
{
    build_job *job = context;
    sstore_error error;
    if (interrupted())
        return interrupt_exit_code();
    if (sstore_builder_add(job->builder, fingerprints, ids, count, &error) != SSTORE_OK)
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

int build_store(const char *path, build_arguments *arguments, char **inputs, size_t input_count, input_options *format)
{
    const input_expectation expected = expect_records(inputs, input_count, format);
    build_job job = {.expected_count = expected.count};
    sstore_error error;
    build_arguments_begin(arguments);
    format->most_window_bits = input_window_bits(arguments->options.memory_bytes);
    arguments->options.expected_record_count = expected.count;
    arguments->options.expected_largest_id = expected.largest_id;
    sstore_status status = sstore_builder_create(path, &arguments->options, &job.builder, &error);
    if (status != SSTORE_OK)
        return build_arguments_end(arguments, path, status, &error);
    state_needs(arguments, path, &job);
    int code = read_inputs(&job, inputs, input_count, format);
    if (code != EXIT_DONE) {
        sstore_builder_abort(job.builder);
        return interrupted() ? build_arguments_end(arguments, path, SSTORE_STOPPED, NULL) : code;
    }
    status = sstore_builder_finish(job.builder, &error);
    return build_arguments_end(arguments, path, status, &error);
}
