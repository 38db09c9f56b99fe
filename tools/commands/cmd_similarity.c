/*
 * cmd_similarity.c - sstore similarity: the exact Jaccard similarity of pairs of documents, such as 'sstore pairs'
 * prints them. The documents are read first: their features go to a temporary file, and what they are known by to a
 * temporary store, whose fingerprints are the numbers of documents. So neither need fit in memory.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/text_input.h"
#include "documents/document_features.h"
#include "input/input_measure.h"
#include "input/interrupt.h"
#include "input/name_text.h"

typedef struct arguments {
    text_input text;
    bad_rows bad;
    task_arguments task; /* memory, tmp_dir, progress */
    const char *pairs, *min_text;
    double min;
} arguments;

static const option_choice weightings[] = {{"presence", SSTORE_WEIGHTING_PRESENCE},
                                           {"frequency", SSTORE_WEIGHTING_FREQUENCY},
                                           {0}};
static const command_option options[] = {
    {"pairs", 0, "FILE", "read the pairs from FILE (default: standard input)", OPTION_TEXT,
     OPTION_FIELD(arguments, pairs), .common = true},
    {"min", 0, "J", "leave out pairs of a similarity below J, such as 0.8", OPTION_TEXT,
     OPTION_FIELD(arguments, min_text), .common = true},
    {"id-field", 0, "KEY", "the JSON key or column of the id, a whole number or a name", OPTION_TEXT,
     OPTION_FIELD(arguments, text.form.id_key), .given = offsetof(arguments, text.field_given), .common = true},
    {"weights", 0, "KIND", "presence (default): a feature counts once; frequency: as often as it occurs", OPTION_CHOICE,
     OPTION_FIELD(arguments, text.options.weighting), .choices = weightings},
    {"memory", 0, "SIZE", "memory for the ids and names of documents (default 1G; enforced from 64M up)", OPTION_SIZE,
     OPTION_FIELD(arguments, task.options.memory_bytes)},
    {"tmp-dir", 0, "DIR", "folder for temporary files (default: TMPDIR if it is set, otherwise /tmp)", OPTION_TEXT,
     OPTION_FIELD(arguments, task.options.tmp_dir)},
    {0},
};
static const command_syntax syntax = {
    .groups = (const option_group[]){TEXT_OPTION_GROUP(offsetof(arguments, text)),
                                     OPTION_GROUP(options, 0),
                                     BAD_ROW_OPTION_GROUP(offsetof(arguments, bad)),
                                     RUN_OPTION_GROUPS(offsetof(arguments, task)),
                                     {0}},
    .operands = "FILE...",
    .doc =
        "Read pairs of documents, the output of 'sstore pairs' or lines of two ids or names, and print each line with "
        "their exact Jaccard similarity behind it: the features that both documents have, over those of either. The "
        "documents are in each FILE. Give the options of features that 'sstore fingerprint' was given.",
    .examples = (const command_example[]){{"keep the pairs that share 0.8 of their features",
                                           "sstore pairs docs.store | sstore similarity --min 0.8 --recursive docs"},
                                          {0}},
};

#define DOCUMENTS_PART 0.5 /* of the command */
#define BATCH_PAIRS 1024u  /* that are looked up together */
#define ID_DIGITS 20u

/* What all threads share while documents are read; then, the pairs. */
typedef struct similarity_job {
    arguments *args;
    work_folder folder;
    document_work work;
    feature_file features;
    bool are_multisets;
    sstore_builder *builder; /* of the store of names */
    char *store_path;
    sstore *store;
    sstore_cursor *cursor;
    uint64_t document_count, pair_count, printed_count;

    /* pairs that wait: lines, and two names for each */
    char *lines, *names;
    size_t line_bytes, line_capacity, name_bytes, name_capacity, count;
    size_t ends[BATCH_PAIRS];           /* of the lines */
    size_t begins[2 * BATCH_PAIRS + 1]; /* of the names */
    uint64_t numbers[2 * BATCH_PAIRS];  /* of the documents; UINT64_MAX: there is none */
    uint64_t first_line;                /* of the batch, counted from 1 */
} similarity_job;

/* ----- documents ----- */

/* A work's `find`: the features, as a set. */
static sstore_status find_features(void *context, document_worker *worker, document *doc, const char *text,
                                   size_t length, sstore_error *error)
{
    const similarity_job *job = context;
    const sstore_counted_feature *features;
    size_t count;
    const sstore_status status = sstore_fingerprinter_features(worker->fingerprinter, text, length, &features, &count,
                                                               error);
    return status == SSTORE_OK ? document_features_keep(worker, doc, 0, features, count, job->are_multisets, error)
                               : status;
}

/* What a document is known by: its name, or the digits of its id. */
static sstore_name known_as(const document *doc, char digits[ID_DIGITS + 1])
{
    if (doc->name != NULL)
        return (sstore_name){.bytes = doc->name, .size = strlen(doc->name)};
    const int length = snprintf(digits, ID_DIGITS + 1, "%" PRIu64, doc->id);
    return (sstore_name){.bytes = digits, .size = (size_t)length};
}

static int add_document(similarity_job *job, const document_worker *worker, const document *doc)
{
    char digits[ID_DIGITS + 1];
    const sstore_name name = known_as(doc, digits);
    const uint64_t number = job->document_count++;
    sstore_error error;
    sstore_status status = feature_file_add(&job->features, number, (const uint64_t *)worker->found + doc->found_at,
                                            &error);
    if (status == SSTORE_OK)
        status = sstore_builder_add_named(job->builder, &number, NULL, &name, 1, &error);
    return message_status(status, &error);
}

/* A work's `give`. */
static int give_documents(void *context, document_worker *worker)
{
    similarity_job *job = context;
    int code = EXIT_DONE;
    for (size_t i = 0; code == EXIT_DONE && i < worker->batch.count; i++) {
        const document *doc = &worker->batch.items[i];
        if (!doc->is_left_out && !doc->is_header)
            code = add_document(job, worker, doc);
    }
    progress_part(0, DOCUMENTS_PART);
    progress_show("reading", job->document_count, 0, input_measure_fraction());
    return interrupted() ? interrupt_exit_code() : code;
}

static int open_builder(similarity_job *job)
{
    sstore_write_options write = SSTORE_WRITE_OPTIONS_INIT;
    sstore_error error;
    write.names = true;
    write.distance = 0;
    write.threads = job->args->text.threads;
    write.memory_bytes = job->args->task.options.memory_bytes;
    write.tmp_dir = job->folder.path;
    if (asprintf(&job->store_path, "%s/names", job->folder.path) < 0) {
        job->store_path = NULL;
        return message_print("out of memory");
    }
    return message_status(sstore_builder_create(job->store_path, &write, &job->builder, &error), &error);
}

/* Make the store of names, and open it. */
static int open_store(similarity_job *job)
{
    sstore_builder *builder = job->builder;
    sstore_error error;
    job->builder = NULL;
    sstore_status status = sstore_builder_finish(builder, NULL, &error);
    if (status == SSTORE_OK)
        status = sstore_open(job->store_path, NULL, &job->store, &error);
    if (status == SSTORE_OK)
        status = sstore_cursor_create(job->store, &job->cursor, &error);
    return message_status(status, &error);
}

static int read_documents(similarity_job *job, const operands *inputs)
{
    arguments *args = job->args;
    job->work = (document_work){
        .context = job,
        .options = &args->text.options,
        .bad = &args->bad,
        .reader = {.form = args->text.form,
                   .files = {.operands = inputs->items, .count = inputs->count, .recursive = args->text.recursive}},
        .find = find_features,
        .give = give_documents};
    int code = document_features_open(&job->features, &job->folder);
    if (code == EXIT_DONE)
        code = open_builder(job);
    if (code == EXIT_DONE)
        code = bad_rows_open(&args->bad, inputs->items, inputs->count);
    if (code != EXIT_DONE)
        return code;
    input_measure_begin(inputs->items, inputs->count);
    code = bad_rows_end(&args->bad, document_work_run(&job->work, args->text.threads));
    return code == EXIT_DONE ? open_store(job) : code;
}

/* ----- pairs ----- */

static const char *pairs_name(const similarity_job *job)
{
    return job->args->pairs != NULL ? job->args->pairs : "-";
}

static int fail_line(const similarity_job *job, uint64_t line, const char *reason)
{
    return message_print("%s:%" PRIu64 ": %s", pairs_name(job), line, reason);
}

/* The first document with a name. */
static int take_number(void *context, const sstore_match *record)
{
    uint64_t *number = (uint64_t *)context + record->query_index;
    *number = *record->fingerprint < *number ? *record->fingerprint : *number;
    return 0;
}

static int find_numbers(similarity_job *job)
{
    sstore_name names[2 * BATCH_PAIRS];
    sstore_error error;
    for (size_t i = 0; i < 2 * job->count; i++) {
        names[i] = (sstore_name){job->names + job->begins[i], job->begins[i + 1] - job->begins[i]};
        job->numbers[i] = UINT64_MAX;
    }
    return message_status(sstore_get_named(job->cursor, names, 2 * job->count, take_number, job->numbers, &error),
                          &error);
}

#define SHOWN_NAME_BYTES 200

static int fail_unknown(const similarity_job *job, size_t pair, size_t name)
{
    const size_t size = job->begins[name + 1] - job->begins[name];
    const bool is_long = size > SHOWN_NAME_BYTES;
    return message_print("%s:%" PRIu64 ": no document has the id or name '%.*s%s'", pairs_name(job),
                         job->first_line + pair, (int)(is_long ? SHOWN_NAME_BYTES : size),
                         job->names + job->begins[name], is_long ? "..." : "");
}

/* Print the pairs that wait. */
static int answer_batch(similarity_job *job)
{
    int code = job->count > 0 ? find_numbers(job) : EXIT_DONE;
    for (size_t i = 0, begin = 0; code == EXIT_DONE && i < job->count; begin = job->ends[i++]) {
        const uint64_t *numbers = &job->numbers[2 * i];
        if (numbers[0] == UINT64_MAX || numbers[1] == UINT64_MAX)
            return fail_unknown(job, i, 2 * i + (numbers[0] != UINT64_MAX));
        const double found = feature_file_similarity(&job->features, numbers[0], numbers[1]);
        if (job->features.error.status != SSTORE_OK)
            return message_error(&job->features.error);
        if (found < job->args->min)
            continue;
        job->printed_count++;
        if (!output_bytes(job->lines + begin, job->ends[i] - begin) || !output_text("\t%.4f\n", found))
            code = EXIT_FAILED;
    }
    job->pair_count += job->count;
    job->first_line += job->count;
    job->count = job->line_bytes = job->name_bytes = 0;
    progress_show("comparing", job->pair_count, 0, -1);
    return interrupted() ? interrupt_exit_code() : code;
}

/* Find the fields of both documents: the second and the fourth one of 'sstore pairs', or the only two. */
static bool find_fields(const char *line, size_t length, const char *fields[2], size_t lengths[2])
{
    const char *begins[6], *end = line + length;
    size_t sizes[6], count = 0;
    for (const char *at = line; count < 6; at++) {
        const char *tab = memchr(at, '\t', (size_t)(end - at));
        begins[count] = at;
        sizes[count++] = (size_t)((tab != NULL ? tab : end) - at);
        if (tab == NULL)
            break;
        at = tab;
    }
    const size_t first = count == 2 ? 0 : 1, second = count == 2 ? 1 : 3;
    if (count != 2 && count != 5)
        return false;
    fields[0] = begins[first];
    lengths[0] = sizes[first];
    fields[1] = begins[second];
    lengths[1] = sizes[second];
    return true;
}

/* Add a line to the pairs that wait. */
static int add_pair(similarity_job *job, const char *line, size_t length)
{
    const char *fields[2];
    size_t lengths[2], size;
    line_fault fault;
    const uint64_t number = job->first_line + job->count;
    if (!find_fields(line, length, fields, lengths))
        return fail_line(job, number,
                         "expected two ids or names, or the five fields of 'sstore pairs', separated by tabs");
    if (!grow(&job->lines, &job->line_capacity, job->line_bytes + length, 1) ||
        !grow(&job->names, &job->name_capacity, job->name_bytes + 2 * SSTORE_MAX_NAME_BYTES, 1))
        return message_print("out of memory");
    memcpy(job->lines + job->line_bytes, line, length);
    job->ends[job->count] = job->line_bytes += length;
    for (size_t i = 0; i < 2; i++) {
        job->begins[2 * job->count + i] = job->name_bytes;
        if (!name_decode(fields[i], lengths[i], job->names + job->name_bytes, &size, &fault))
            return fail_line(job, number, fault.reason);
        job->name_bytes += size;
    }
    job->begins[2 * ++job->count] = job->name_bytes;
    return job->count == BATCH_PAIRS ? answer_batch(job) : EXIT_DONE;
}

static int read_pairs(similarity_job *job, FILE *from)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    int code = EXIT_DONE;
    job->first_line = 1;
    while (code == EXIT_DONE && (length = getline(&line, &capacity, from)) > 0) {
        if (line[0] != '#') {
            length -= line[length - 1] == '\n';
            length -= length > 0 && line[length - 1] == '\r';
            code = add_pair(job, line, (size_t)length);
            continue;
        }
        code = answer_batch(job);
        if (code == EXIT_DONE && strcmp(line, OUTPUT_FAILURE_LINE) == 0)
            code = fail_line(job, job->first_line, "the command that wrote these pairs failed, so some are missing");
        job->first_line++;
    }
    free(line);
    if (code == EXIT_DONE && ferror(from))
        return message_errno(pairs_name(job), "cannot read the pairs");
    return code == EXIT_DONE ? answer_batch(job) : code;
}

/* ----- the command ----- */

static int run(similarity_job *job, const operands *inputs, FILE *pairs)
{
    arguments *args = job->args;
    int code = text_input_check(&args->text, inputs);
    if (code == EXIT_DONE)
        code = work_folder_open(&job->folder, args->task.options.tmp_dir);
    if (code != EXIT_DONE)
        return code;
    task_begin_reading(&args->task);
    code = text_input_open(&args->text);
    if (code == EXIT_DONE)
        code = read_documents(job, inputs);
    progress_part(DOCUMENTS_PART, 1);
    if (code == EXIT_DONE)
        code = read_pairs(job, pairs);
    progress_end();
    if (code == EXIT_DONE && !args->task.quiet && output_flush())
        message_print("documents %" PRIu64 ", pairs %" PRIu64 ", printed %" PRIu64, job->document_count,
                      job->pair_count, job->printed_count);
    return code;
}

static void close_job(similarity_job *job)
{
    sstore_builder_abort(job->builder);
    sstore_cursor_free(job->cursor);
    sstore_close(job->store);
    feature_file_close(&job->features);
    free(job->store_path);
    free(job->lines);
    free(job->names);
    work_folder_close(&job->folder);
}

static double read_min(const char *text)
{
    char *end;
    const double min = strtod(text, &end);
    if (end == text || *end != '\0' || !(min >= 0 && min <= 1))
        message_usage_error("--min: expected a number from 0 to 1, such as 0.8, found '%s'", text);
    return min;
}

static void check_arguments(arguments *args, const operands *given)
{
    if (given->count == 0)
        message_usage_error("expected the FILE of the documents");
    args->min = args->min_text != NULL ? read_min(args->min_text) : 0;
    for (int i = 0; args->pairs == NULL && i < given->count; i++)
        if (strcmp(given->items[i], "-") == 0)
            message_usage_error("the pairs come from standard input, so a FILE cannot; --pairs gives them a file");
}

int cmd_similarity(int argc, char **argv)
{
    arguments args = {.text = TEXT_INPUT_INIT, .bad = BAD_ROWS_INIT, .task = TASK_ARGUMENTS_INIT};
    args.text.options.hash = SSTORE_FEATURE_HASH_MINHASH; /* so features are those of MinHashes */
    args.text.options.weighting = SSTORE_WEIGHTING_PRESENCE;
    const operands inputs = command_line_parse(&syntax, argc, argv, &args);
    check_arguments(&args, &inputs);
    output_set_failure_mark(OUTPUT_FAILURE_LINE);
    const bool is_file = args.pairs != NULL && strcmp(args.pairs, "-") != 0;
    FILE *pairs = is_file ? fopen(args.pairs, "re") : stdin;
    if (pairs == NULL)
        return message_errno(args.pairs, "cannot open the file");
    similarity_job job = {.args = &args, .are_multisets = args.text.options.weighting == SSTORE_WEIGHTING_FREQUENCY};
    const int code = run(&job, &inputs, pairs);
    progress_end();
    close_job(&job);
    text_input_close(&args.text);
    if (is_file)
        (void)fclose(pairs);
    return code;
}
