/*
 * build_store.c - from inputs to a published store.
 */
#include "build_store.h"

#include "cmd.h"
#include "interrupt.h"
#include "progress.h"

typedef struct build_job {
    sstore_builder *builder;
    uint64_t record_count;
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
    progress_reading(job->record_count, 0);
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

int build_store(const char *path, build_arguments *arguments, char **inputs, size_t input_count,
                const input_options *format)
{
    build_job job = {0};
    sstore_error error;
    build_arguments_begin(arguments);
    sstore_status status = sstore_builder_create(path, &arguments->options, &job.builder, &error);
    if (status != SSTORE_OK)
        return build_arguments_end(arguments, path, status, &error);
    int code = read_inputs(&job, inputs, input_count, format);
    if (code != EXIT_DONE) {
        sstore_builder_abort(job.builder);
        return interrupted() ? build_arguments_end(arguments, path, SSTORE_STOPPED, NULL) : code;
    }
    status = sstore_builder_finish(job.builder, &error);
    return build_arguments_end(arguments, path, status, &error);
}
