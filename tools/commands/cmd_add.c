/*
 * cmd_add.c - sstore add: add records to a store, all of them or those that are new; these are answered for one by one.
 */
#include <inttypes.h>

#include "commands/cmd_build.h"
#include "input/interrupt.h"

/* Records of files are inserted so many at a time, which takes less for each; together they take 16 MiB. */
#define CHUNK_RECORDS ((size_t)1 << 20)

typedef struct add_arguments {
    store_arguments store;
    bool if_new;
    const char *of_if_new; /* an option that goes with it, if there is one */
    uint32_t distance;     /* or SSTORE_OWN_DISTANCE */
    uint64_t publish_every;
    uint64_t limit; /* the most matches that are printed of a record */
    bool compact, json;
} add_arguments;

#define OF_IF_NEW .given = offsetof(add_arguments, of_if_new)

static const command_option add_options[] = {
    {"if-new", 0, NULL,
     "add only records that none is near, in STORE or before them in the input; print the "
     "matches of the others",
     OPTION_FLAG, OPTION_FIELD(add_arguments, if_new)},
    {"distance", 'k', "D", "with --if-new: near is what lies within D bits, 0 to 16 (default: STORE's distance)",
     OPTION_NUMBER, OPTION_FIELD(add_arguments, distance), .max = SSTORE_MAX_BUILD_DISTANCE, OF_IF_NEW},
    {"publish-every", 0, "N", "with --if-new: let readers see what is new whenever it is N records", OPTION_NUMBER,
     OPTION_FIELD(add_arguments, publish_every), .min = 1, .max = UINT64_MAX, OF_IF_NEW},
    {"limit", 0, "N", "with --if-new: print at most N matches of each record, the nearest; 1: one line each",
     OPTION_NUMBER, OPTION_FIELD(add_arguments, limit), .min = 1, .max = UINT64_MAX, OF_IF_NEW},
    {"json", 0, NULL, "with --if-new: print JSON objects, one a line", OPTION_JSON, OPTION_FIELD(add_arguments, json),
     OF_IF_NEW},
    {"compact", 0, NULL, "then do as 'sstore compact --tiered'", OPTION_FLAG, OPTION_FIELD(add_arguments, compact)},
    {0},
};
static const command_syntax syntax = {
    .options = add_options,
    .groups = (const option_group[]){SEGMENT_OPTION_GROUPS(offsetof(add_arguments, store.task)),
                                     INPUT_OPTION_GROUP(offsetof(add_arguments, store.input)),
                                     {0}},
    .operands = "STORE [INPUT...]",
    .doc = "Add the records in all INPUTs, as 'sstore build' reads them, to STORE; - or no INPUT is stdin. They "
           "become a segment of their own, which readers see at once and as a whole when all is done. Records that "
           "STORE has already are not added again. Without ids, a record's id is the store's next ordinal. 'sstore "
           "compact' makes one segment of many, which queries take less time for."
           "\vSizes take the suffixes K, M, G and T, powers of 1024.",
};

/* ----- adding what is new ----- */

typedef struct new_job {
    const add_arguments *all;
    sstore_dedup *dedup;
    output_style style;
    bool answers_now; /* the writer of the input may wait for the answers */
    uint64_t record_count;
    sstore_statistics before; /* of the store */
    sstore_change change;     /* of all publications */
    record_batch chunk;
} new_job;

static int print_answer(void *context, const sstore_dedup_answer *answer)
{
    const new_job *job = context;
    if (answer->is_new)
        return !output_new_record(&job->style, answer->fingerprint, answer->id);
    for (size_t i = 0; i < answer->match_count && i < job->all->limit; i++)
        if (!output_match(&job->style, answer->fingerprint, &answer->matches[i]))
            return 1;
    return 0;
}

static int insert(new_job *job, const uint64_t *fingerprints, const uint64_t *ids, size_t count)
{
    sstore_error error;
    if (interrupted())
        return interrupt_exit_code();
    sstore_status status = sstore_dedup_offer(job->dedup, fingerprints, ids, count, NULL, print_answer, job, &error);
    if (status == SSTORE_STOPPED)
        return interrupted() ? interrupt_exit_code() : EXIT_FAILED;
    if (status != SSTORE_OK)
        return message_error(&error);
    job->record_count += count;
    progress_reading(job->record_count, 0);
    return job->answers_now && !output_flush() ? EXIT_FAILED : EXIT_DONE;
}

static int insert_chunk(new_job *job)
{
    const size_t count = job->chunk.count;
    job->chunk.count = 0;
    return count == 0 ? EXIT_DONE
                      : insert(job, job->chunk.fingerprints, job->chunk.has_ids ? job->chunk.ids : NULL, count);
}

static int insert_now(void *context, const uint64_t *fingerprints, const uint64_t *ids, size_t count)
{
    return insert(context, fingerprints, ids, count);
}

static int add_to_chunk(void *context, const uint64_t *fingerprints, const uint64_t *ids, size_t count)
{
    new_job *job = context;
    record_batch_append(&job->chunk, fingerprints, ids, count);
    return job->chunk.count + INPUT_BATCH_RECORDS > CHUNK_RECORDS ? insert_chunk(job) : EXIT_DONE;
}

/* Text that comes through stdin is answered record by record, since its writer may wait for the answer. */
static int insert_input(new_job *job, const char *input, input_ids *ids)
{
    const input_options *format = &job->all->store.input;
    job->answers_now = input_is_interactive(input, format);
    if (job->answers_now)
        return input_read_interactive(format, ids, insert_now, job);
    int code = input_read(input, format, ids, add_to_chunk, job);
    return code == EXIT_DONE ? insert_chunk(job) : code;
}

static int insert_inputs(new_job *job)
{
    const operands *inputs = &job->all->store.inputs;
    input_ids ids = INPUT_IDS_UNKNOWN;
    int code = EXIT_DONE;
    for (int i = 0; i < inputs->count && code == EXIT_DONE; i++)
        code = insert_input(job, inputs->items[i], &ids);
    return code == EXIT_DONE && interrupted() ? interrupt_exit_code() : code;
}

/* Publish what is gathered in spite of a failure: answers that were printed stay true. */
static void publish_after_failure(new_job *job, const char *path)
{
    sstore_error error;
    interrupt_forget();
    sstore_status status = sstore_dedup_publish(job->dedup, &job->change, &error);
    const uint64_t lost = sstore_dedup_pending_count(job->dedup);
    progress_end();
    if (status != SSTORE_OK)
        message_print("%s: %" PRIu64 " records that were answered as new are not in it: %s", path, lost, error.message);
}

static void print_summary(const char *path, const new_job *job)
{
    message_print("%s: added %" PRIu64 " of %" PRIu64 " records; records %" PRIu64 ", segments %" PRIu32, path,
                  job->change.added_count, job->record_count, job->change.record_count, job->change.segment_count);
}

/* Files are inserted as a whole: if anything fails, so that not all answers can be known, nothing more is published. */
static int insert_all(new_job *job)
{
    const char *path = job->all->store.store;
    sstore_error error;
    int code = insert_inputs(job);
    if (code == EXIT_DONE && !output_flush())
        code = EXIT_FAILED;
    if (code == EXIT_DONE) {
        sstore_status status = sstore_dedup_publish(job->dedup, &job->change, &error);
        code = task_end(path, status, &error);
    } else if (job->answers_now) {
        publish_after_failure(job, path);
    } else {
        progress_end();
        if (interrupted())
            message_print("%s: interrupted; what was not published yet is not in it", path);
        return code;
    }
    if (!job->all->store.task.quiet) {
        print_summary(path, job);
        store_warn_of_ids(path, &job->change);
    }
    return code;
}

/* Insert what is new in all the inputs; text from stdin is answered line by line. */
static int add_new(add_arguments *all)
{
    const char *path = all->store.store;
    new_job job = {.all = all, .change = {.struct_size = sizeof job.change}};
    const sstore_build_options *from = &all->store.task.options;
    sstore_dedup_options options = SSTORE_DEDUP_OPTIONS_INIT;
    sstore_error error;
    int code = store_check_inputs(&all->store);
    if (code == EXIT_DONE)
        code = store_read_metadata(path, &job.before);
    if (code != EXIT_DONE)
        return code;
    task_begin(&all->store.task);
    job.style = (output_style){.json = all->json, .has_ids = job.before.has_ids};
    options.distance = all->distance;
    options.block_bytes = from->block_bytes;
    options.threads = from->threads;
    options.compact = all->compact;
    options.check_ids = true;
    options.ignore_free_space = from->ignore_free_space;
    options.plan = from->plan;
    options.tmp_dir = from->tmp_dir;
    options.memory_bytes = from->memory_bytes;
    options.publish_every = all->publish_every;
    options.on_progress = from->on_progress;
    options.progress_context = from->progress_context;
    if (!record_batch_init(&job.chunk, CHUNK_RECORDS)) {
        message_print("out of memory");
        code = EXIT_FAILED;
    } else if (sstore_dedup_open(path, &options, &job.dedup, &error) != SSTORE_OK) {
        code = message_error(&error);
    } else {
        code = insert_all(&job);
    }
    sstore_dedup_close(job.dedup);
    record_batch_free(&job.chunk);
    return code;
}

/* ----- adding all ----- */

/* Compact by tiers; nothing is said of it unless it fails. */
static int compact(store_arguments *arguments)
{
    sstore_error error;
    const sstore_compact_options options = task_compact_options(&arguments->task, SSTORE_COMPACT_TIERS);
    sstore_status status = sstore_compact(arguments->store, &options, NULL, &error);
    return task_end(arguments->store, status, &error);
}

int cmd_add(int argc, char **argv)
{
    add_arguments all = {.store = STORE_ARGUMENTS_INIT, .distance = SSTORE_OWN_DISTANCE, .limit = UINT64_MAX};
    const operands given = command_line_parse(&syntax, argc, argv, &all);
    if (!all.if_new && all.of_if_new != NULL)
        message_usage_error("%s goes with --if-new only", all.of_if_new);
    store_take_operands(&all.store, given);
    if (all.if_new)
        return add_new(&all);
    int code = store_change_from_inputs(STORE_ADD, &all.store);
    return code == EXIT_DONE && all.compact ? compact(&all.store) : code;
}
