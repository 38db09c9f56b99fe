/*
 * cmd_add.c - sstore add: add records to a store, either all of them, also in place of those that have their ids or
 * names, or, with --if-new, those without near records. Then each record is answered.
 */
#include <inttypes.h>

#include "commands/also_stores.h"
#include "commands/cmd_build.h"
#include "commands/exclude_option.h"
#include "input/input_measure.h"
#include "input/interrupt.h"
#include "output/query_merge.h"

/* Records of files are inserted in chunks, which is faster. A chunk takes up to 16 MiB. */
#define CHUNK_WORDS ((size_t)1 << 20)
#define CHUNK_NAME_BYTES ((size_t)8 << 20) /* a chunk with longer names is full */

/* The part of the command before the last publication, about. */
#define INSERTING_PART 0.9

typedef struct add_arguments {
    store_arguments store;
    bool if_new;
    const char *needs_if_new; /* an option that is given and needs --if-new, or NULL */
    uint64_t limit;           /* on the printed matches of a record */
    text_list also;
    exclusion excluded;
    bool json;
    header_mode header;
} add_arguments;

#define NEEDS_IF_NEW .given = offsetof(add_arguments, needs_if_new)

static const command_option add_options[] = {
    {"replace", 0, NULL,
     "each record replaces all records of STORE with its id or name; new records that share it stay together",
     OPTION_FLAG, OPTION_FIELD(add_arguments, store.task.options.replace_records), .common = true},
    {"if-new", 0, NULL,
     "add only records that nothing in STORE or before them is near; print a line for each, or matches", OPTION_FLAG,
     OPTION_FIELD(add_arguments, if_new), .common = true},
    {"distance", 'k', "D",
     "with --if-new: near means within D bits, up to a quarter of the bits (default: the store's)", OPTION_NUMBER,
     OPTION_FIELD(add_arguments, store.task.options.distance), .max = MAX_BUILD_DISTANCE,
     .given = offsetof(add_arguments, store.similarity.distance_given), .common = true},
    {"publish-every", 0, "N",
     "with --if-new: publish the new records whenever there are N (default: as many as fit in an eighth of --memory)",
     OPTION_NUMBER, OPTION_FIELD(add_arguments, store.task.options.publish_every), .min = 1, .max = UINT64_MAX,
     NEEDS_IF_NEW},
    {"limit", 0, "N", "with --if-new: print only the N nearest matches of each record (default: all)", OPTION_NUMBER,
     OPTION_FIELD(add_arguments, limit), .min = 1, .max = UINT64_MAX, NEEDS_IF_NEW, .common = true},
    {"also", 0, "STORE", "with --if-new: a record that is near one of this store is not new either; can be repeated",
     OPTION_TEXTS, OPTION_FIELD(add_arguments, also), NEEDS_IF_NEW},
    {"json", 0, NULL, "with --if-new: print one JSON object per line", OPTION_FLAG, OPTION_FIELD(add_arguments, json),
     NEEDS_IF_NEW},
    {0},
};
static const command_syntax syntax = {
    .options = add_options,
    .groups = (const option_group[]){CHANGE_OPTION_GROUP(offsetof(add_arguments, store.task)),
                                     SEGMENT_OPTION_GROUPS(offsetof(add_arguments, store.task)),
                                     INPUT_THREAD_OPTION_GROUP(offsetof(add_arguments, store.task)),
                                     SIMILARITY_OPTION_GROUP(offsetof(add_arguments, store.similarity)),
                                     EXCLUSION_OPTION_GROUP(offsetof(add_arguments, excluded)),
                                     HEADER_OPTION_GROUP(offsetof(add_arguments, header)),
                                     INPUT_OPTION_GROUP(offsetof(add_arguments, store.input)),
                                     {0}},
    .operands = "STORE [INPUT...]",
    .doc = "Add the records in all INPUTs, in the formats of 'sstore build', to STORE. Without INPUT, or with -, read "
           "standard input. Records that STORE already has are not added again. Readers see the new records as a whole "
           "at the end.",
    .examples = (const command_example[]){{"add the records of a day", "sstore add pages.store today.txt"},
                                          {"ask for each page whether it was seen, and add it if not",
                                           "sstore add --if-new --limit 1 pages.store today.txt"},
                                          {0}},
};

/* ----- adding new records only ----- */

typedef struct new_job {
    const add_arguments *args;
    input_options format;
    sstore_dedup *dedup;
    output_style style;
    also_stores also;
    stored_names names, *named; /* of the store's records; named: NULL, or these names */
    output_notes notes;
    uint32_t distance; /* within which records of other stores are near */
    bool answers_now;  /* the writer of the input may be waiting for the answers */
    uint64_t record_count, excluded_count;
    sstore_statistics before; /* of the store */
    sstore_change change;     /* of all publications */
    record_batch chunk;
} new_job;

static int print_answer(void *context, const sstore_dedup_answer *answer)
{
    new_job *job = context;
    job->style.has_ids = job->before.has_ids;
    job->style.names = job->named;
    job->notes.store = job->also.labels[0];
    if (answer->is_new)
        return !output_new_record(&job->style, answer->fingerprint, answer->id);
    for (size_t i = 0; i < answer->listed_count; i++)
        if (!output_match(&job->style, answer->fingerprint, &answer->listed[i]))
            return 1;
    return 0;
}

/* Insert and answer records begin .. end - 1 of a batch. */
static int insert_own(new_job *job, const record_batch *batch, size_t begin, size_t end)
{
    sstore_error error;
    const uint64_t *ids = record_batch_ids(batch), *fingerprints = batch->fingerprints + begin * batch->words;
    if (begin == end)
        return EXIT_DONE;
    const sstore_status status = batch->has_names
                                     ? sstore_dedup_insert_named(job->dedup, fingerprints, NULL, batch->names + begin,
                                                                 end - begin, NULL, print_answer, job, &error)
                                     : sstore_dedup_insert(job->dedup, fingerprints, ids != NULL ? ids + begin : NULL,
                                                           end - begin, NULL, print_answer, job, &error);
    if (status == SSTORE_STOPPED)
        return interrupted() ? interrupt_exit_code() : EXIT_FAILED;
    return message_status(status, &error);
}

/* Records on their way into the store, of which those that are near records of other stores are taken out. */
typedef struct asked_records {
    new_job *job;
    const record_batch *batch;
    size_t begin; /* of those that are asked for */
    size_t next;  /* the first one without an answer */
    int code;
} asked_records;

/* Print a match in another store, behind the answers to the records before. */
static int take_other_match(void *context, const merged_match *found)
{
    asked_records *self = context;
    new_job *job = self->job;
    const size_t index = self->begin + found->match.query_index;
    if (index >= self->next) {
        self->code = insert_own(job, self->batch, self->next, index);
        self->next = index + 1;
    }
    if (self->code != EXIT_DONE)
        return 1;
    job->style.has_ids = job->also.has_ids[found->store];
    job->style.names = job->also.named[found->store];
    job->notes.store = job->also.labels[found->store + 1];
    return !output_match(&job->style, self->batch->fingerprints + index * self->batch->words, &found->match);
}

static int stop_if_interrupted(void *context, const sstore_progress *progress)
{
    (void)context, (void)progress;
    return interrupted();
}

/* Insert and answer records begin .. end - 1 of a batch, but for those that are near records of other stores: these are
 * answered by their matches there. */
static int insert_range(new_job *job, const record_batch *batch, size_t begin, size_t end)
{
    const task_arguments *task = &job->args->store.task;
    asked_records asked = {.job = job, .batch = batch, .begin = begin, .next = begin, .code = EXIT_DONE};
    merged_store stores[TEXT_LIST_MAX];
    sstore_error error;
    if (job->also.count == 0 || begin == end)
        return insert_own(job, batch, begin, end);
    for (uint32_t i = 0; i < job->also.count; i++) {
        stores[i] = (merged_store){.store = job->also.stores[i],
                                   .distance = job->distance,
                                   .options = SSTORE_BATCH_OPTIONS_INIT};
        stores[i].options.threads = task->options.threads;
        stores[i].options.on_progress = stop_if_interrupted;
        stores[i].options.memory_bytes = task->options.memory_bytes / 4 / job->also.count;
        stores[i].options.limit = task->options.limit;
    }
    const query_merge merge = {.stores = stores,
                               .store_count = job->also.count,
                               .queries = batch->fingerprints + begin * batch->words,
                               .count = end - begin};
    const sstore_status status = query_merge_run(&merge, take_other_match, &asked, &error);
    if (asked.code != EXIT_DONE)
        return asked.code;
    if (status == SSTORE_STOPPED)
        return interrupted() ? interrupt_exit_code() : EXIT_FAILED;
    return status == SSTORE_OK ? insert_own(job, batch, asked.next, end) : message_error(&error);
}

/* Records that are left out are answered, too: the writer of the input may be waiting. */
static int insert_others(new_job *job, const record_batch *batch)
{
    size_t begin = 0;
    int code = EXIT_DONE;
    for (size_t i = 0; code == EXIT_DONE && i < batch->count; i++) {
        const uint64_t *fingerprint = batch->fingerprints + i * batch->words;
        if (!exclusion_has(&job->args->excluded, fingerprint))
            continue;
        code = insert_range(job, batch, begin, i);
        begin = i + 1;
        job->excluded_count++;
        job->notes.store = job->also.count > 0 ? "-" : NULL;
        if (code == EXIT_DONE && !output_excluded_record(&job->style, fingerprint))
            code = EXIT_FAILED;
    }
    return code == EXIT_DONE ? insert_range(job, batch, begin, batch->count) : code;
}

/* Insert and answer records: an input_batch_fn. */
static int insert_records(void *context, const record_batch *batch)
{
    new_job *job = context;
    if (interrupted())
        return interrupt_exit_code();
    if (batch->has_ids && !job->before.has_ids)
        input_doubt_say(job->args->store.input.doubt, STORE_DROPS_IDS, job->args->store.store);
    /* Publications between reports about the whole. */
    const double whole = input_measure_fraction() * INSERTING_PART;
    progress_part(whole, whole);
    const int code = insert_others(job, batch);
    if (code != EXIT_DONE)
        return code;
    job->record_count += batch->count;
    progress_show_reading(job->record_count, 0, INSERTING_PART);
    return job->answers_now && !output_flush() ? EXIT_FAILED : EXIT_DONE;
}

static int insert_chunk(new_job *job)
{
    const int code = job->chunk.count == 0 ? EXIT_DONE : insert_records(job, &job->chunk);
    job->chunk.count = 0;
    return code;
}

static int add_to_chunk(void *context, const record_batch *batch)
{
    new_job *job = context;
    if (!record_batch_append(&job->chunk, batch))
        return message_print("out of memory");
    const bool is_full = batch->words * job->chunk.count + INPUT_BATCH_RECORDS > CHUNK_WORDS ||
                         (batch->has_names && job->chunk.name_used > CHUNK_NAME_BYTES);
    return is_full ? insert_chunk(job) : EXIT_DONE;
}

/* Text from stdin is answered record by record, since its writer may be waiting for the answer. */
static int insert_input(new_job *job, const char *input, input_shape *shape)
{
    job->answers_now = input_is_interactive(input, &job->format);
    if (job->answers_now)
        return input_read_interactive(&job->format, shape, insert_records, job);
    int code = input_read(input, &job->format, shape, add_to_chunk, job);
    return code == EXIT_DONE ? insert_chunk(job) : code;
}

static int insert_inputs(new_job *job)
{
    const operands *inputs = &job->args->store.inputs;
    input_shape shape = {.words = job->style.words};
    store_expect_padding(job->before.recipe, &job->format.lines, &shape);
    int code = EXIT_DONE;
    input_measure_begin(inputs->items, inputs->count);
    for (int i = 0; i < inputs->count && code == EXIT_DONE; i++)
        code = insert_input(job, inputs->items[i], &shape);
    progress_after_reading(INSERTING_PART, 1);
    return code == EXIT_DONE && interrupted() ? interrupt_exit_code() : code;
}

/* Tell how many answers are not true. */
static void report_lost(const new_job *job, const char *path)
{
    sstore_dedup_statistics state = SSTORE_DEDUP_STATISTICS_INIT;
    if (sstore_dedup_stat(job->dedup, &state, NULL) == SSTORE_OK && state.pending_count > 0)
        message_print("%s: records that were answered as new, but are not in the store: %" PRIu64, path,
                      state.pending_count);
}

/* Publish the new records in spite of a failure, so that printed answers stay true. */
static void publish_after_failure(new_job *job, const char *path)
{
    sstore_error error;
    interrupt_forget();
    sstore_status status = sstore_dedup_publish(job->dedup, &job->change, &error);
    progress_end();
    if (status == SSTORE_OK)
        return;
    message_problem(&error);
    report_lost(job, path);
}

/* After a failure, the answers of files are incomplete, so nothing more of them is published. */
static int insert_all(new_job *job)
{
    const char *path = job->args->store.store;
    sstore_error error;
    int code = end_inputs(&job->args->store.input, job->args->store.task.quiet, insert_inputs(job));
    if (code == EXIT_DONE && !output_flush())
        code = EXIT_FAILED;
    if (code == EXIT_DONE) {
        sstore_status status = sstore_dedup_publish(job->dedup, &job->change, &error);
        code = status == SSTORE_STOPPED ? task_end(path, "not all new records are in the store", status, &error)
                                        : task_end_write(&job->args->store.task, path, status, &error);
        if (code != EXIT_DONE && job->change.added_count > 0)
            message_print("%s: %" PRIu64 " new records were added before that", path, job->change.added_count);
    } else if (job->answers_now) {
        publish_after_failure(job, path);
    } else {
        progress_end();
        if (interrupted())
            message_print("%s: interrupted; new records that were not yet published are not in the store", path);
        else
            report_lost(job, path);
        return code;
    }
    message_unmerged(path, &job->change);
    if (!job->args->store.task.quiet)
        message_print("%s: added %" PRIu64 " of %" PRIu64 " records; records %" PRIu64 ", segments %" PRIu32, path,
                      job->change.added_count, job->record_count, job->change.record_count, job->change.segment_count);
    if (job->excluded_count > 0 && !job->args->store.task.quiet)
        message_print("%s: records that were excluded: %" PRIu64, path, job->excluded_count);
    const int doubt_code = store_end_ids(&job->args->store, &job->change);
    return code != EXIT_DONE ? code : doubt_code;
}

/* Check the arguments, and open what new records are compared with beside the store. Returns an exit code. */
static int open_new(new_job *job, add_arguments *args)
{
    const char *path = args->store.store;
    uint32_t *distance = &args->store.task.options.distance;
    const sstore_open_options open = SSTORE_OPEN_OPTIONS_INIT;
    int code = store_check_inputs(&args->store);
    if (code == EXIT_DONE)
        code = store_read_metadata(path, &job->before);
    if (code == EXIT_DONE)
        code = store_check_bits(path, &job->before, &args->store.input);
    if (code == EXIT_DONE)
        code = similarity_of_recipe(&args->store.similarity, path, job->before.recipe, job->before.fingerprint_bits,
                                    distance);
    if (code == EXIT_DONE && *distance != SSTORE_OWN_DISTANCE)
        code = check_build_distance(*distance, job->before.fingerprint_bits / 64);
    if (code == EXIT_DONE)
        code = exclusion_read(&args->excluded, job->before.fingerprint_bits / 64);
    if (code == EXIT_DONE)
        code = also_stores_open(&job->also, &args->also, &open, path, &job->before, args->json);
    return code;
}

/* Settle how records are read and answered, and print the head of the answers. */
static void begin_answers(new_job *job, add_arguments *args)
{
    sstore_write_options *options = &args->store.task.options;
    args->store.input.lines.has_names = job->before.has_names;
    task_begin(&args->store.task);
    job->style = (output_style){.json = args->json,
                                .tells_similarity = args->json && args->store.similarity.text != NULL,
                                .has_ids = job->before.has_ids,
                                .words = job->before.fingerprint_bits / 64};
    output_head(&job->style, args->header, args->also.count > 0 ? MATCH_COLUMNS "\tstore" : MATCH_COLUMNS);
    job->style.notes = &job->notes;
    job->distance = options->distance != SSTORE_OWN_DISTANCE ? options->distance : job->before.distance;
    job->format = args->store.input;
    store_expect_recipe(&job->format, args->store.store);
    options->check_ids = true;
    options->limit = args->limit != UINT64_MAX ? args->limit : 0;
}

static int insert_into_store(new_job *job)
{
    const store_arguments *args = &job->args->store;
    sstore_error error;
    if (!record_batch_init(&job->chunk, CHUNK_WORDS))
        return message_print("out of memory");
    const sstore_status status = sstore_dedup_open(args->store, &args->task.options, &job->dedup, &error);
    if (status != SSTORE_OK)
        return task_end_write(&args->task, args->store, status, &error);
    stored_names_open_dedup(&job->names, job->dedup, args->store, job->args->json);
    job->named = job->before.has_names ? &job->names : NULL;
    return insert_all(job);
}

/* Insert the new records of all inputs. */
static int add_new(add_arguments *args)
{
    new_job job = {.args = args, .change = {.struct_size = sizeof job.change}};
    int code = open_new(&job, args);
    if (code == EXIT_DONE) {
        begin_answers(&job, args);
        code = insert_into_store(&job);
    }
    code = stored_names_exit_code(&job.names, code);
    stored_names_close(&job.names);
    sstore_dedup_close(job.dedup);
    record_batch_free(&job.chunk);
    code = also_stores_exit_code(&job.also, code);
    also_stores_close(&job.also);
    exclusion_free(&args->excluded);
    return code;
}

int cmd_add(int argc, char **argv)
{
    add_arguments args = {.store = STORE_ARGUMENTS_INIT, .limit = UINT64_MAX};
    const operands given = command_line_parse(&syntax, argc, argv, &args);
    const similarity *near = &args.store.similarity;
    const char *needs_if_new = args.needs_if_new != NULL ? args.needs_if_new
                               : near->text != NULL      ? "--similarity"
                                                         : near->distance_given;
    if (!args.if_new && needs_if_new != NULL)
        message_usage_error("%s needs --if-new", needs_if_new);
    if (!args.if_new && args.excluded.path != NULL)
        message_usage_error("--exclude needs --if-new");
    if (!args.if_new && args.header != HEADER_AUTO)
        message_usage_error("--header needs --if-new, which prints a line for each record");
    if (args.if_new && args.store.task.options.replace_records)
        message_usage_error("--replace cannot be combined with --if-new");
    store_take_operands(&args.store, given);
    if (args.if_new)
        return add_new(&args);
    return store_change_from_inputs(STORE_ADD, &args.store);
}
