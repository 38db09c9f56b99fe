#include "add_new.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "interrupt.h"
#include "progress.h"

/* Records of files are offered so many at a time, which takes less for each; together they take 16 MiB. */
#define CHUNK_RECORDS ((size_t)1 << 20)

typedef struct new_job {
    const add_new_options *options;
    sstore_intake *intake;
    output_style style;
    bool answers_now; /* whoever writes the input waits for the answer */
    uint64_t record_count;
    sstore_statistics facts; /* of the store before */
    sstore_change last;      /* that was published */
    bool with_ids;    /* those in the chunk have */
    size_t chunk_count;
    uint64_t *chunk, *chunk_ids;
} new_job;

static int print_answer(void *context, const sstore_intake_answer *answer)
{
    const new_job *job = context;
    if (answer->is_new)
        return !output_new_record(&job->style, answer->fingerprint, answer->id);
    for (size_t i = 0; i < answer->match_count && i < job->options->limit; i++)
        if (!output_match(&job->style, answer->fingerprint, &answer->matches[i]))
            return 1;
    return 0;
}

static int offer(new_job *job, const uint64_t *fingerprints, const uint64_t *ids, size_t count)
{
    sstore_error error;
    if (interrupted())
        return interrupt_exit_code();
    sstore_status status =
        sstore_intake_offer(job->intake, fingerprints, ids, count, print_answer, job, &error);
    if (status == SSTORE_STOPPED)
        return interrupted() ? interrupt_exit_code() : EXIT_FAILED;
    if (status != SSTORE_OK)
        return cmd_fail(&error);
    job->record_count += count;
    progress_reading(job->record_count, 0);
    return job->answers_now && !output_flush() ? EXIT_FAILED : EXIT_DONE;
}

static int offer_chunk(new_job *job)
{
    const size_t count = job->chunk_count;
    job->chunk_count = 0;
    return count == 0 ? EXIT_DONE : offer(job, job->chunk, job->with_ids ? job->chunk_ids : NULL, count);
}

static int offer_now(void *context, const uint64_t *fingerprints, const uint64_t *ids, size_t count)
{
    return offer(context, fingerprints, ids, count);
}

static int add_to_chunk(void *context, const uint64_t *fingerprints, const uint64_t *ids, size_t count)
{
    new_job *job = context;
    job->with_ids = ids != NULL; /* of all inputs, or of none */
    memcpy(job->chunk + job->chunk_count, fingerprints, count * sizeof *fingerprints);
    if (ids != NULL)
        memcpy(job->chunk_ids + job->chunk_count, ids, count * sizeof *ids);
    job->chunk_count += count;
    return job->chunk_count + INPUT_BATCH_RECORDS > CHUNK_RECORDS ? offer_chunk(job) : EXIT_DONE;
}

/* Text that comes through stdin is answered record by record, since whoever writes it may wait for the answer. */
static int offer_input(new_job *job, const char *input, const input_options *format, input_ids *ids)
{
    input_options one_by_one = *format;
    job->answers_now = strcmp(input, "-") == 0 && (format->format == INPUT_AUTO || format->format == INPUT_TEXT);
    if (!job->answers_now) {
        int code = input_read(input, format, ids, add_to_chunk, job);
        return code == EXIT_DONE ? offer_chunk(job) : code;
    }
    one_by_one.batch_records = 1;
    one_by_one.ahead = false;
    return input_read(input, &one_by_one, ids, offer_now, job);
}

static int offer_inputs(new_job *job, const store_arguments *arguments)
{
    input_ids ids = INPUT_IDS_UNKNOWN;
    int code = EXIT_DONE;
    for (int i = 0; i < arguments->operands.input_count && code == EXIT_DONE; i++)
        code = offer_input(job, arguments->operands.inputs[i], &arguments->input, &ids);
    return code == EXIT_DONE && interrupted() ? interrupt_exit_code() : code;
}

/* Publish what is gathered, though something failed before: what was answered to a line holds. */
static void publish_after_failure(const new_job *job, const char *path)
{
    sstore_error error;
    interrupt_forget();
    sstore_status status = sstore_intake_publish(job->intake, &error);
    const uint64_t lost = sstore_intake_pending_count(job->intake);
    progress_end();
    if (status != SSTORE_OK)
        cmd_complain("%s: %" PRIu64 " records that were answered as new are not in it: %s", path, lost, error.message);
}

static void print_summary(const char *path, const new_job *job)
{
    const sstore_change *last = &job->last;
    const bool any = last->segment_count > 0; /* something was published */
    cmd_complain("%s: added %" PRIu64 " of %" PRIu64 " records; records %" PRIu64 ", segments %" PRIu32, path,
                 sstore_intake_new_count(job->intake) - sstore_intake_pending_count(job->intake), job->record_count,
                 any ? last->record_count : job->facts.record_count, any ? last->segment_count : job->facts.segment_count);
}

/* Files are taken in as a whole: if anything fails, so that not all answers can be known, nothing more is published. */
static int take_in(new_job *job, const store_arguments *arguments)
{
    const char *path = arguments->operands.store;
    sstore_error error;
    int code = offer_inputs(job, arguments);
    if (code == EXIT_DONE && !output_flush())
        code = EXIT_FAILED;
    if (code == EXIT_DONE) {
        sstore_status status = sstore_intake_publish(job->intake, &error);
        code = build_arguments_check(path, status, &error);
    } else if (job->answers_now) {
        publish_after_failure(job, path);
    } else {
        progress_end();
        if (interrupted())
            cmd_complain("%s: interrupted; what was not published yet is not in it", path);
        return code;
    }
    if (!arguments->build.quiet) {
        print_summary(path, job);
        warn_of_ids(path, &job->last);
    }
    return code;
}

int add_new(store_arguments *arguments, const add_new_options *options)
{
    const char *path = arguments->operands.store;
    new_job job = {.options = options, .last = {.struct_size = sizeof job.last}};
    sstore_intake_options intake = SSTORE_INTAKE_OPTIONS_INIT;
    sstore_error error;
    int code = store_arguments_check(arguments);
    if (code == EXIT_DONE)
        code = cmd_read_facts(path, &job.facts);
    if (code != EXIT_DONE)
        return code;
    job.chunk = cmd_allocate(CHUNK_RECORDS, sizeof *job.chunk);
    job.chunk_ids = cmd_allocate(CHUNK_RECORDS, sizeof *job.chunk_ids);
    build_arguments_begin(&arguments->build);
    job.style = (output_style){.json = options->json, .has_ids = job.facts.has_ids != 0};
    intake.distance = options->distance;
    intake.publish_every = options->publish_every;
    intake.compact = options->compact;
    intake.build = arguments->build.options;
    intake.build.change = &job.last;
    if (sstore_intake_open(path, &intake, &job.intake, &error) == SSTORE_OK)
        code = take_in(&job, arguments);
    else
        code = cmd_fail(&error);
    sstore_intake_close(job.intake);
    free(job.chunk);
    free(job.chunk_ids);
    return code;
}
