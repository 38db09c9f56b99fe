/* dedup_find.c - reads all documents of 'sstore dedup' for the first time, and finds which ones to drop. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/dedup.h"
#include "input/input_hint.h"
#include "input/input_json.h"
#include "input/input_measure.h"
#include "input/input_value.h"
#include "input/interrupt.h"

#define FINDING_PART 0.7 /* of the command: reading documents the first time */

/* ----- a fingerprint for each document, on several threads ----- */

/* The words of all fingerprints are those of the first one. */
static bool agree_words(dedup_job *job, uint32_t words, uint32_t *wanted_out)
{
    uint32_t known = 0;
    *wanted_out = atomic_compare_exchange_strong(&job->words, &known, words) ? words : known;
    return *wanted_out == words;
}

/* Read a value of JSON as in the inputs of 'sstore build'. An array may have the words of the other rows only. */
static bool parse_member(dedup_job *job, const document *doc, const char *text, size_t length, line_record *record,
                         line_fault *fault)
{
    json_member member;
    line_format format = job->line;
    member.key = job->args->fingerprint_field;
    member.kind = doc->text_kind;
    member.text = text;
    member.length = length;
    if (member.kind != MEMBER_STRING && member.kind != MEMBER_INTEGER)
        format.words = job->words;
    return json_fingerprint_parse(&format, &member, record, fault);
}

static void read_fingerprint(dedup_job *job, document_worker *worker, document *doc, const char *text, size_t length,
                             uint64_t *words)
{
    line_record record;
    line_fault fault = {.reason = ""};
    uint32_t wanted;
    line_record_clear(&record);
    if (!(doc->text_kind == MEMBER_ABSENT ? value_parse(&job->line, text, length, &record, &fault)
                                          : parse_member(job, doc, text, length, &record, &fault)))
        document_fault(&worker->batch, doc, "%s", fault.reason);
    else if (!agree_words(job, record.words, &wanted))
        document_fault(&worker->batch, doc,
                       "expected a fingerprint of %" PRIu32 " bits, as in other rows, found %" PRIu32, 64 * wanted,
                       64 * record.words);
    else
        memcpy(words, record.fingerprint, record.words * sizeof *words);
    doc->missing_bits = record.missing_bits;
    doc->feature_count = 1;
}

/* A name that goes into a store must be one there. */
static void check_name(const dedup_job *job, document_worker *worker, document *doc)
{
    const size_t length = job->adds_names ? strlen(doc->name) : 1;
    if (length == 0 || length > SSTORE_MAX_NAME_BYTES || (job->adds_names && memchr(doc->name, '\n', length) != NULL))
        document_fault(&worker->batch, doc, "the name is %s; a store keeps names of 1 to %u bytes without a newline",
                       length == 0 ? "empty" : "too long or has a newline", SSTORE_MAX_NAME_BYTES);
}

/* A work's `find`, to confirm what is near: the fingerprint and the set of features are in the worker's memory. */
static sstore_status find_features(void *context, document_worker *worker, document *doc, const char *text,
                                   size_t length, sstore_error *error)
{
    const dedup_job *job = context;
    const sstore_counted_feature *features;
    size_t count;
    sstore_status status = sstore_fingerprinter_features(worker->fingerprinter, text, length, &features, &count, error);
    if (status == SSTORE_OK)
        status = document_features_keep(worker, doc, job->words, features, count, job->are_multisets, error);
    if (status != SSTORE_OK)
        return status;
    doc->feature_count = count;
    check_name(job, worker, doc);
    return feature_set_minhash(features, count, job->are_multisets, 64 * job->words,
                               (uint64_t *)worker->found + doc->found_at, error);
}

/* A work's `find`. The fingerprint is in the worker's memory. */
static sstore_status find_fingerprint(void *context, document_worker *worker, document *doc, const char *text,
                                      size_t length, sstore_error *error)
{
    dedup_job *job = context;
    sstore_status status = document_worker_reserve(worker, SSTORE_MAX_WORDS, sizeof(uint64_t), error);
    if (status != SSTORE_OK)
        return status;
    uint64_t *words = (uint64_t *)worker->found + worker->found_count;
    doc->found_at = worker->found_count;
    if (job->args->fingerprint_field != NULL) {
        read_fingerprint(job, worker, doc, text, length, words);
    } else {
        sstore_text_result result = SSTORE_TEXT_RESULT_INIT;
        status = sstore_fingerprinter_text(worker->fingerprinter, text, length, &result, NULL, error);
        memcpy(words, result.fingerprint, job->words * sizeof *words);
        doc->feature_count = result.feature_count;
    }
    check_name(job, worker, doc);
    worker->found_count += job->words > 0 ? job->words : SSTORE_MAX_WORDS;
    return status;
}

/* ----- what becomes of each, in order ----- */

static int report_group(void *context, uint64_t kept_number, uint64_t record_count)
{
    dedup_job *job = context;
    const char *name = document_names_find(&job->names, kept_number);
    if (name == NULL)
        return 1;
    message_print("%s: a group of %" PRIu64 " documents, more than --max-group: none is dropped", name, record_count);
    return interrupted();
}

/* A keeper's `confirm`. */
static bool confirm(void *context, uint64_t number, uint64_t other_number, uint32_t *distance_out)
{
    dedup_job *job = context;
    *distance_out = FEATURE_SIMILARITY_PARTS;
    return !interrupted() && /* otherwise, the rest does not matter */
           feature_file_confirm(&job->features, number, other_number, job->args->similarity.least, distance_out);
}

/* A keeper's `digest`. */
static void find_digest(void *context, uint64_t number, uint64_t digest_out[2])
{
    dedup_job *job = context;
    feature_file_digest(&job->features, number, digest_out);
}

static int open_keeper(dedup_job *job)
{
    dedup_arguments *args = job->args;
    sstore_error error;
    const sstore_keeper_options options = {.struct_size = sizeof options,
                                           .fingerprint_bits = 64 * job->words,
                                           .distance = job->distance,
                                           .strict = args->strict,
                                           .threads = args->text.threads,
                                           .memory_bytes = args->task.options.memory_bytes,
                                           .tmp_dir = job->folder.path,
                                           .max_group = args->max_group,
                                           .on_large_group = report_group,
                                           .large_group_context = job,
                                           .on_progress = args->task.options.on_progress,
                                           .confirm = job->confirms ? confirm : NULL,
                                           .digest = job->confirms ? find_digest : NULL,
                                           .confirm_context = job};
    if (exclusion_read(&args->excluded, job->words) != EXIT_DONE)
        return EXIT_FAILED;
    if (job->distance != SSTORE_OWN_DISTANCE && check_build_distance(job->distance, job->words) != EXIT_DONE)
        return EXIT_FAILED;
    return message_status(sstore_keeper_create(&options, &job->keeper, &error), &error);
}

/* Fails with a message if a temporary file cannot be written. */
static int append(FILE *file, const void *item, size_t bytes)
{
    return fwrite(item, bytes, 1, file) == 1
               ? EXIT_DONE
               : message_errno("--tmp-dir", "cannot write a temporary file; give another folder");
}

/* Numbers that were left out before this one. */
static int skip_to(dedup_job *job, uint64_t number)
{
    sstore_error error;
    const left_out gap = {job->next_number, number};
    if (number == job->next_number)
        return EXIT_DONE;
    job->next_number = number;
    const int code = append(job->left_outs, &gap, sizeof gap);
    return code != EXIT_DONE ? code
                             : message_status(sstore_keeper_skip(job->keeper, gap.end - gap.first, &error), &error);
}

/* The nearest records of the store, one for each document that has one: its id and distance. */
typedef struct stored_matches {
    uint64_t *ids;
    uint32_t *distances; /* UINT32_MAX: there is none */
} stored_matches;

static int match_store(const dedup_job *job, const uint64_t *fingerprints, size_t count, stored_matches *matches)
{
    const sstore_batch_options options = {.struct_size = sizeof options,
                                          .limit = 1,
                                          .threads = job->args->text.threads};
    sstore_iterator *iterator = NULL;
    sstore_error error;
    uint64_t query, id;
    uint32_t distance;
    size_t got = 1;
    const sstore_columns columns = {.struct_size = sizeof columns,
                                    .query_index = &query,
                                    .id = &id,
                                    .distance = &distance};
    sstore_status status = sstore_iterate_matches(job->against, fingerprints, count, job->distance, &options, &iterator,
                                                  &error);
    while (status == SSTORE_OK && got > 0) {
        status = sstore_iterator_next(iterator, &columns, 1, &got, &error);
        if (status == SSTORE_OK && got > 0) {
            matches->ids[query] = id;
            matches->distances[query] = distance;
        }
    }
    sstore_iterator_free(iterator);
    return message_status(status, &error);
}

/* What becomes of a document: it is kept, or dropped for a record of the store, or the groups decide. */
typedef enum fate { FATE_KEPT, FATE_DROPPED, FATE_GROUPED } fate;

/* Remember the fingerprint of a document that may be added to a store. */
static int append_fingerprint(const dedup_job *job, uint64_t number, const uint64_t *fingerprint)
{
    if (job->fingerprints == NULL)
        return EXIT_DONE;
    const int code = append(job->fingerprints, &number, sizeof number);
    return code == EXIT_DONE ? append(job->fingerprints, fingerprint, job->words * sizeof *fingerprint) : code;
}

static int take_document(dedup_job *job, const document *doc, fate found, const uint64_t *fingerprint,
                         const store_drop *stored)
{
    sstore_error error;
    const uint64_t order = job->keeps_last ? UINT64_MAX - doc->number : doc->order;
    const bool is_ordered = job->keeps_last || job->work.reader.form.order_key != NULL;
    int code = skip_to(job, doc->number);
    job->next_number = doc->number + 1;
    if (code == EXIT_DONE && found == FATE_DROPPED)
        code = append(job->store_drops, stored, sizeof *stored);
    if (code == EXIT_DONE && found == FATE_GROUPED)
        code = append_fingerprint(job, doc->number, fingerprint);
    if (code != EXIT_DONE)
        return code;
    const sstore_status status = found == FATE_GROUPED ? sstore_keeper_add(job->keeper, fingerprint,
                                                                           is_ordered ? &order : NULL, 1, &error)
                                                       : sstore_keeper_skip(job->keeper, 1, &error);
    return message_status(status, &error);
}

/* A document of groups: keep its features, which are behind the fingerprint, for the comparisons. */
static int keep_features(dedup_job *job, const document_worker *worker, const document *doc)
{
    const uint64_t *words = (const uint64_t *)worker->found + doc->found_at + job->words;
    sstore_error error;
    return message_status(feature_file_add(&job->features, doc->number, words, &error), &error);
}

/* A document without features is kept, and so is an excluded one. */
static fate find_fate(dedup_job *job, const document *doc, const uint64_t *fingerprint, uint32_t stored_distance)
{
    const bool is_empty = doc->feature_count == 0;
    const bool is_excluded = !is_empty && exclusion_has(&job->args->excluded, fingerprint);
    job->empty_count += is_empty;
    job->few_count += !is_empty && doc->feature_count < TEXT_FEW_FEATURES && job->args->fingerprint_field == NULL &&
                      job->args->text.options.hash == SSTORE_FEATURE_HASH_MINHASH;
    job->excluded_count += is_excluded;
    return is_empty || is_excluded ? FATE_KEPT : stored_distance != UINT32_MAX ? FATE_DROPPED : FATE_GROUPED;
}

/* Note whether a document has the key of --keep, and which ones the first document has instead. */
static void note_order(dedup_job *job, const document_batch *batch, const document *doc)
{
    if (job->document_count == 0 && doc->lacks_order) {
        const char *line = batch->bytes + doc->begin;
        const size_t bom_bytes = doc->line == 1 ? input_hint_bom_bytes(line, doc->length) : 0;
        (void)json_first_keys(line + bom_bytes, doc->length - bom_bytes, job->first_keys);
    }
    job->has_order = job->has_order || !doc->lacks_order;
}

static int take_documents(dedup_job *job, const document_worker *worker, const uint64_t *fingerprints,
                          const stored_matches *matches)
{
    const document_batch *batch = &worker->batch;
    uint64_t id;
    int code = EXIT_DONE;
    for (size_t i = 0, at = 0; code == EXIT_DONE && i < batch->count; i++) {
        const document *doc = &batch->items[i];
        job->no_text_count += doc->is_left_out;
        if (doc->is_left_out)
            continue;
        const uint64_t *fingerprint = fingerprints + at * job->words;
        const store_drop stored = {doc->number, matches->ids[at], matches->distances[at]};
        const fate found = find_fate(job, doc, fingerprint, stored.distance);
        note_order(job, batch, doc);
        job->document_count++;
        job->grouped_count += found == FATE_GROUPED;
        job->has_text_ids = job->has_text_ids || !dedup_read_id(doc, &id);
        if (dedup_wants_names(job->args))
            code = document_names_add(&job->names, doc, job->work.reader.form.id_key != NULL);
        if (code == EXIT_DONE && job->confirms && found == FATE_GROUPED)
            code = keep_features(job, worker, doc);
        if (code == EXIT_DONE)
            code = take_document(job, doc, found, fingerprint, &stored);
        at++;
    }
    return code;
}

/* No document has the key of --keep: it is misspelled. */
static int check_order(const dedup_job *job)
{
    char shown[4 * JSON_KEYS_BYTES];
    if (job->document_count == 0 || job->has_order)
        return EXIT_DONE;
    (void)sstore_escape(job->first_keys, strlen(job->first_keys), false, shown, sizeof shown);
    return message_print("--keep: no document has a key '%s'; the first one has %s", job->work.reader.form.order_key,
                         shown[0] != '\0' ? shown : "none");
}

/* Warn if lines that are taken as text seem to be JSON or fingerprints. */
static void look_at_first(const dedup_job *job, const document_batch *batch)
{
    const text_input *text = &job->args->text;
    const document *first = &batch->items[0];
    if (job->document_count > 0 || batch->count == 0 || text->form.unit != DOCUMENT_LINES || text->lines)
        return;
    if (document_form_is_object(batch->bytes + first->begin, first->length))
        message_print("warning: %s: the lines are taken as text, with all keys; --jsonl takes a document from each",
                      first->input);
    else if (document_form_begins_fingerprint(batch->bytes + first->begin, first->length))
        message_print("warning: %s: these lines seem to be fingerprints already, which --tsv --no-header "
                      "--fingerprint-field 1 reads; they are taken as text",
                      first->input);
}

/* Look whether fingerprints that are given mean something else. */
static void doubt(dedup_job *job, const document_batch *batch, const uint64_t *fingerprints)
{
    line_shorts shorts = {.count = 0};
    if (job->args->fingerprint_field == NULL)
        return;
    for (size_t i = 0; i < batch->count; i++) {
        job->has_numbers = job->has_numbers || batch->items[i].text_kind == MEMBER_INTEGER;
        if (batch->items[i].missing_bits > 0)
            line_shorts_note(&shorts, batch->items[i].missing_bits, batch->items[i].line);
    }
    input_doubt_note(&job->doubt, &(doubt_rows){.fingerprints = fingerprints,
                                                .count = batch->count,
                                                .words = job->words,
                                                .is_text = true,
                                                .radix = job->has_numbers ? RADIX_DEC : job->line.radix,
                                                .radix_given = job->args->radix_given != NULL,
                                                .shorts = shorts});
}

/* Warn if they do. */
static void report_doubt(dedup_job *job)
{
    const char *found = input_doubt_end(&job->doubt);
    if (found != NULL && !job->args->task.quiet)
        message_print("warning: %s", found);
}

/* Put the fingerprints of a batch together, without files that are no text. Returns how many there are. */
static size_t gather(const document_worker *worker, uint32_t words, uint64_t *fingerprints, stored_matches *matches)
{
    const document_batch *batch = &worker->batch;
    const uint64_t *found = worker->found;
    size_t count = 0;
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->items[i].is_left_out)
            continue;
        matches->distances[count] = UINT32_MAX;
        memcpy(fingerprints + count++ * words, found + batch->items[i].found_at, words * sizeof *found);
    }
    return count;
}

/* A work's `give`. */
static int give_documents(void *context, document_worker *worker)
{
    dedup_job *job = context;
    const uint32_t words = job->words;
    const size_t room = worker->batch.count + 1;
    if (interrupted())
        return interrupt_exit_code();
    int code = job->keeper == NULL && words > 0 ? open_keeper(job) : EXIT_DONE;
    if (code != EXIT_DONE || words == 0)
        return code;
    look_at_first(job, &worker->batch);
    uint64_t *fingerprints = malloc(room * words * sizeof *fingerprints);
    stored_matches matches = {calloc(room, sizeof *matches.ids), malloc(room * sizeof *matches.distances)};
    if (fingerprints != NULL && matches.ids != NULL && matches.distances != NULL) {
        const size_t count = gather(worker, words, fingerprints, &matches);
        doubt(job, &worker->batch, fingerprints);
        code = job->against != NULL && count > 0 ? match_store(job, fingerprints, count, &matches) : EXIT_DONE;
        if (code == EXIT_DONE)
            code = take_documents(job, worker, fingerprints, &matches);
    } else {
        code = message_print("out of memory");
    }
    free(fingerprints);
    free(matches.ids);
    free(matches.distances);
    progress_part(0, FINDING_PART);
    progress_show("fingerprinting", job->document_count, 0, input_measure_fraction());
    return code;
}

/* ----- all of it ----- */

static int read_all(dedup_job *job)
{
    dedup_arguments *args = job->args;
    job->work.context = job;
    job->work.options = &args->text.options;
    job->work.bad = &args->bad;
    job->work.reader = (document_reader){.form = args->text.form,
                                         .files = {.operands = job->inputs->items,
                                                   .opened = job->inputs_twice.paths,
                                                   .count = job->inputs->count,
                                                   .recursive = args->text.recursive}};
    job->work.find = job->confirms ? find_features : find_fingerprint;
    job->work.give = give_documents;
    job->doubt.is_of_field = true;
    input_doubt_begin(&job->doubt, job->inputs->count == 1 ? job->inputs->items[0] : NULL);
    input_measure_begin(job->inputs_twice.paths, job->inputs->count);
    const int code = document_work_run(&job->work, args->text.threads);
    return bad_rows_end(job->work.bad, code);
}

static int open_files(dedup_job *job)
{
    const bool has_names = dedup_wants_names(job->args);
    int code = has_names ? document_names_open(&job->names, &job->folder) : EXIT_DONE;
    if (code == EXIT_DONE && job->confirms)
        code = document_features_open(&job->features, &job->folder);
    job->store_drops = code == EXIT_DONE ? work_folder_create_unnamed(&job->folder) : NULL;
    job->left_outs = job->store_drops != NULL ? work_folder_create_unnamed(&job->folder) : NULL;
    if (job->left_outs == NULL)
        return EXIT_FAILED;
    if (job->args->update != NULL && !job->args->dry_run &&
        (job->fingerprints = work_folder_create_unnamed(&job->folder)) == NULL)
        return EXIT_FAILED;
    return EXIT_DONE;
}

/* The rows behind the last document cannot be read. */
static int end_reading(dedup_job *job)
{
    int code = job->keeper != NULL ? skip_to(job, job->work.reader.next_id) : EXIT_DONE;
    if (code == EXIT_DONE && dedup_wants_names(job->args))
        code = document_names_end(&job->names);
    return code;
}

int dedup_find(dedup_job *job)
{
    sstore_error error;
    int code = open_files(job);
    if (code == EXIT_DONE)
        code = bad_rows_open(&job->args->bad, job->inputs->items, job->inputs->count);
    if (code == EXIT_DONE)
        code = read_all(job);
    if (code == EXIT_DONE)
        code = end_reading(job);
    if (code == EXIT_DONE)
        code = check_order(job);
    if (code != EXIT_DONE || job->keeper == NULL)
        return code;
    report_doubt(job);
    progress_part(FINDING_PART, DEDUP_GROUPING_PART);
    sstore_keeper *keeper = job->keeper;
    job->keeper = NULL;
    const sstore_status status = sstore_keeper_finish(keeper, &job->dropped, &error);
    if (job->features.error.status != SSTORE_OK)
        return message_error(&job->features.error);
    return (status == SSTORE_OK || status == SSTORE_STOPPED) && interrupted() ? interrupt_exit_code()
                                                                              : message_status(status, &error);
}
