/* cmd_idf.c - sstore idf: count in how many documents each feature occurs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "commands/text_input.h"
#include "documents/document_work.h"
#include "input/input_measure.h"
#include "output/whole_file.h"

typedef struct arguments {
    text_input text;
    bad_rows bad;
    uint64_t memory_bytes;
    progress_mode progress;
} arguments;

static const command_option options[] = {
    {"memory", 0, "SIZE", "memory for the counts (default 1G); if it is full, the rarest features are forgotten",
     OPTION_SIZE, OPTION_FIELD(arguments, memory_bytes), .common = true},
    {0},
};
static const command_syntax syntax = {
    .groups = (const option_group[]){TEXT_OPTION_GROUP(offsetof(arguments, text)),
                                     OPTION_GROUP(options, 0),
                                     BAD_ROW_OPTION_GROUP(offsetof(arguments, bad)),
                                     PROGRESS_OPTION_GROUP(offsetof(arguments, progress)),
                                     {0}},
    .operands = "TABLE [FILE...]",
    .doc =
        "Count in how many of the documents in each FILE every feature occurs, and write the counts to the file "
        "TABLE, for 'sstore fingerprint --idf'. Without FILE, or with -, read standard input. Give both commands the "
        "same --features, --shingle and --stop-words.",
    .examples = (const command_example[]){{"let rare words weigh more than frequent ones",
                                           "sstore idf --lines titles.idf titles"},
                                          {0}},
};

#define MAGIC "\x89sstidf\n" /* the first bytes of a table */

typedef struct count_job {
    document_work work;
    sstore_frequency_counter *counter;
    uint64_t document_count;
    bool has_features; /* any document has */
} count_job;

/* Keep the features of a document. */
static sstore_status find_features(void *context, document_worker *worker, document *doc, const char *text,
                                   size_t length, sstore_error *error)
{
    const sstore_counted_feature *features;
    size_t count;
    (void)context;
    sstore_status status = sstore_fingerprinter_features(worker->fingerprinter, text, length, &features, &count, error);
    if (status == SSTORE_OK)
        status = document_worker_reserve(worker, count, sizeof *features, error);
    if (status != SSTORE_OK)
        return status;
    doc->feature_count = count;
    if (count > 0)
        memcpy((sstore_counted_feature *)worker->found + worker->found_count, features, count * sizeof *features);
    worker->found_count += count;
    return SSTORE_OK;
}

static int count_documents(void *context, document_worker *worker)
{
    count_job *job = context;
    const sstore_counted_feature *from = worker->found;
    sstore_error error;
    for (size_t i = 0; i < worker->batch.count; i++) {
        const size_t count = worker->batch.items[i].feature_count;
        if (count > 0 && sstore_frequency_counter_add(job->counter, from, count, &error) != SSTORE_OK)
            return message_error(&error);
        from += count;
        job->has_features = job->has_features || count > 0;
    }
    job->document_count += worker->batch.count;
    progress_show("counting", job->document_count, 0, input_measure_fraction());
    return EXIT_DONE;
}

static int write_table(const count_job *job, const char *path)
{
    sstore_frequency_summary summary = SSTORE_FREQUENCY_SUMMARY_INIT;
    sstore_error error;
    const void *table;
    size_t size;
    if (!job->has_features)
        return message_print("%s: not written: none of the documents has features", path);
    if (sstore_frequency_counter_finish(job->counter, &table, &size, &summary, &error) != SSTORE_OK)
        return message_error(&error);
    const int code = whole_file_write(path, table, size);
    if (code != EXIT_DONE || strcmp(path, "-") == 0)
        return code;
    message_print("%s: documents with features %" PRIu64 ", features in two or more of them %" PRIu64, path,
                  summary.document_count, summary.feature_count);
    if (summary.error_bound > 0)
        message_print("%s: the memory was full: counts may be too low by up to %" PRIu64 "; --memory gives more", path,
                      summary.error_bound);
    return EXIT_DONE;
}

/* Fail if there is a file that is no table: the first operand may be meant as an input. Returns an exit code. */
static int check_table(const char *path)
{
    char begin[sizeof MAGIC - 1];
    struct stat info;
    if (strcmp(path, "-") == 0 || stat(path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0)
        return EXIT_DONE;
    FILE *file = fopen(path, "r");
    const bool is_table = file != NULL && fread(begin, 1, sizeof begin, file) == sizeof begin &&
                          memcmp(begin, MAGIC, sizeof begin) == 0;
    if (file != NULL)
        (void)fclose(file);
    return is_table
               ? EXIT_DONE
               : message_print("%s: the file is no table of 'sstore idf', so it is not replaced; the first operand "
                               "is the TABLE",
                               path);
}

static int count_inputs(arguments *args, const char *path, const operands *inputs)
{
    sstore_error error;
    int code = text_input_check(&args->text, inputs);
    if (code == EXIT_DONE)
        code = check_table(path);
    if (code == EXIT_DONE)
        code = bad_rows_open(&args->bad, inputs->items, inputs->count);
    if (code == EXIT_DONE)
        code = text_input_open(&args->text);
    if (code != EXIT_DONE)
        return code;
    count_job job = {.work = {.options = &args->text.options,
                              .bad = &args->bad,
                              .reader = {.form = args->text.form,
                                         .files = {.operands = inputs->items,
                                                   .count = inputs->count,
                                                   .recursive = args->text.recursive}},
                              .find = find_features,
                              .give = count_documents}};
    job.work.context = &job;
    if (sstore_frequency_counter_create(&args->text.options, args->memory_bytes, &job.counter, &error) != SSTORE_OK)
        return message_error(&error);
    progress_begin(args->progress);
    input_measure_begin(inputs->items, inputs->count);
    code = document_work_run(&job.work, args->text.threads);
    progress_end();
    code = bad_rows_end(&args->bad, code);
    if (code == EXIT_DONE)
        code = write_table(&job, path);
    sstore_frequency_counter_free(job.counter);
    return code;
}

int cmd_idf(int argc, char **argv)
{
    arguments args = {.text = TEXT_INPUT_INIT, .bad = BAD_ROWS_INIT};
    operands given = command_line_parse(&syntax, argc, argv, &args);
    if (given.count == 0)
        message_usage_error("expected TABLE, the file to write");
    const char *path = *given.items++;
    given.count--;
    const operands inputs = operands_as_inputs(given);
    const int code = count_inputs(&args, path, &inputs);
    text_input_close(&args.text);
    return code;
}
