/*
 * build_store.c - from inputs to a published store.
 */
#include "build_store.h"

#include <inttypes.h>

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
    progress_count(job->record_count);
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

static int stop_if_interrupted(void *context, const sstore_progress *progress)
{
    (void)context, (void)progress;
    return interrupted();
}

int build_store(const char *path, const sstore_build_options *options, char **inputs, size_t input_count,
                const input_options *format)
{
    build_job job = {0};
    sstore_error error;
    sstore_build_options build = *options;
    build.on_progress = stop_if_interrupted;
    interrupt_catch();
    if (sstore_builder_create(path, &build, &job.builder, &error) != SSTORE_OK)
        return cmd_fail(&error);
    int code = read_inputs(&job, inputs, input_count, format);
    if (code != EXIT_DONE) {
        sstore_builder_abort(job.builder);
        if (interrupted())
            cmd_complain("%s: interrupted; nothing was changed", path);
        return code;
    }
    progress_say("sorting and writing");
    sstore_status status = sstore_builder_finish(job.builder, &error);
    progress_wipe();
    if (status == SSTORE_STOPPED) {
        cmd_complain("%s: interrupted; nothing was changed", path);
        return interrupt_exit_code();
    }
    return status == SSTORE_OK ? EXIT_DONE : cmd_fail(&error);
}

int build_summary(const char *path)
{
    sstore_statistics facts;
    int code = cmd_read_facts(path, &facts);
    if (code != EXIT_DONE)
        return code;
    double each = facts.distinct_count == 0 ? 0 : (double)facts.total_bytes / (double)facts.distinct_count;
    cmd_complain("%s: records %" PRIu64 ", distinct %" PRIu64 ", tables %" PRIu32 ", bytes %" PRIu64
                 ", bytes a fingerprint %.1f",
                 path, facts.record_count, facts.distinct_count, facts.table_count, facts.total_bytes, each);
    return EXIT_DONE;
}
