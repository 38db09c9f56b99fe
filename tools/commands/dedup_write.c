/* dedup_write.c - reads the documents of 'sstore dedup' for the second time, and writes what is kept. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/dedup.h"
#include "input/input_measure.h"
#include "input/interrupt.h"
#include "output/new_file.h"

#define DROP_BATCH 1024u
#define EXAMPLES 10u

/* Why a document is dropped. */
typedef enum drop_kind { DROP_NONE, DROP_NEAR, DROP_STORED, DROP_LEFT_OUT } drop_kind;

typedef struct drop {
    drop_kind kind;
    uint64_t kept; /* the number of the kept one, or the id of the store's record */
    uint32_t distance;
} drop;

/* A document of the examples. */
typedef struct example_text {
    uint64_t number;
    char *text; /* NULL: not found yet */
    size_t length;
} example_text;

typedef struct example {
    uint64_t number;
    drop drop;
} example;

typedef struct writer {
    dedup_job *job;
    /* What was dropped, in ascending order of numbers: three lists. */
    uint64_t numbers[DROP_BATCH], kept[DROP_BATCH];
    uint32_t distances[DROP_BATCH];
    size_t near_at, near_count;
    bool has_stored, has_left_out;
    store_drop stored;
    left_out out;

    new_file removed_file;
    FILE *removed;           /* the list of --removed, or NULL */
    sstore_builder *builder; /* of --update, or NULL */
    uint64_t next_added;     /* the number of the next fingerprint to add */
    uint64_t added[SSTORE_MAX_WORDS];
    bool has_header, lacks_newline; /* a header was printed; the last row had no line feed */
    example examples[EXAMPLES];
    example_text texts[2 * EXAMPLES];
    size_t example_count, text_count;
} writer;

/* ----- what is dropped ----- */

static int next_near(writer *self)
{
    const sstore_columns columns = {.struct_size = sizeof columns,
                                    .id = self->numbers,
                                    .other_id = self->kept,
                                    .distance = self->distances};
    sstore_error error;
    if (++self->near_at < self->near_count || self->job->dropped == NULL)
        return EXIT_DONE;
    self->near_at = self->near_count = 0;
    return message_status(sstore_iterator_next(self->job->dropped, &columns, DROP_BATCH, &self->near_count, &error),
                          &error);
}

static void next_stored(writer *self)
{
    self->has_stored = fread(&self->stored, sizeof self->stored, 1, self->job->store_drops) == 1;
}

static void next_left_out(writer *self)
{
    self->has_left_out = fread(&self->out, sizeof self->out, 1, self->job->left_outs) == 1;
}

static int begin_drops(writer *self)
{
    rewind(self->job->store_drops);
    rewind(self->job->left_outs);
    next_stored(self);
    next_left_out(self);
    return next_near(self);
}

/* What becomes of the document with the next number, which is counted. */
static int find_drop(writer *self, uint64_t number, drop *drop_out)
{
    *drop_out = (drop){.kind = DROP_NONE};
    while (self->has_left_out && number >= self->out.end)
        next_left_out(self);
    if (self->has_left_out && number >= self->out.first) {
        drop_out->kind = DROP_LEFT_OUT;
    } else if (self->has_stored && self->stored.number == number) {
        *drop_out = (drop){DROP_STORED, self->stored.id, self->stored.distance};
        self->job->stored_count++;
        next_stored(self);
    } else if (self->near_at < self->near_count && self->numbers[self->near_at] == number) {
        *drop_out = (drop){DROP_NEAR, self->kept[self->near_at], self->distances[self->near_at]};
        self->job->near_count++;
        return next_near(self);
    }
    return EXIT_DONE;
}

/* ----- the list of what is dropped ----- */

/* Print a name as the other commands write and read it. */
static bool print_name(FILE *to, const char *name)
{
    const size_t length = strlen(name);
    char *escaped = malloc(4 * length + 1);
    if (escaped == NULL)
        return false;
    (void)name_escape(name, length, escaped);
    const bool done = fputs(escaped, to) >= 0;
    free(escaped);
    return done;
}

/* Print a record of the store, by its name or its id, if it has one. */
static bool print_stored(dedup_job *job, FILE *to, uint64_t id)
{
    if (!print_name(to, job->args->against))
        return false;
    if (job->against_named == NULL)
        return !job->against_metadata.has_ids || fprintf(to, ":%" PRIu64, id) > 0;
    const printed_name name = stored_names_find(job->against_named, id);
    return name.text != NULL && fprintf(to, ":%s", name.text) > 0;
}

/* Print the name of what is kept instead. */
static bool print_kept(const writer *self, FILE *to, const drop *why)
{
    dedup_job *job = self->job;
    if (why->kind == DROP_NEAR) {
        const char *name = document_names_find(&job->names, why->kept);
        return name != NULL && print_name(to, name);
    }
    return print_stored(job, to, why->kept);
}

/* Print how far it is, or how similar: of a record of the store this is an estimate, since its features are unknown. */
static bool print_measure(const dedup_job *job, FILE *to, const drop *why)
{
    if (!job->confirms)
        return fprintf(to, "\t%" PRIu32 "\n", why->distance) > 0;
    const double found = why->kind == DROP_NEAR ? 1 - (double)why->distance / FEATURE_SIMILARITY_PARTS
                                                : sstore_minhash_similarity(64 * job->words, why->distance, NULL);
    return fprintf(to, "\t%.3f\n", found) > 0;
}

/* Print a line of the list. False: that failed. */
static bool print_removed(const writer *self, FILE *to, uint64_t number, const drop *why)
{
    const char *name = document_names_find(&self->job->names, number);
    return name != NULL && print_name(to, name) && fputc('\t', to) != EOF && print_kept(self, to, why) &&
           print_measure(self->job, to, why);
}

/* Add a document that is dropped to the list, if there is one. */
static int list_removed(const writer *self, uint64_t number, const drop *why)
{
    if (self->removed == NULL || why->kind == DROP_LEFT_OUT || print_removed(self, self->removed, number, why))
        return EXIT_DONE;
    return self->job->against_names.code != EXIT_DONE
               ? self->job->against_names.code
               : message_errno(self->job->args->removed, "cannot write the file");
}

static int open_removed(writer *self)
{
    const char *path = self->job->args->removed;
    if (path == NULL)
        return EXIT_DONE;
    if (!new_file_open(&self->removed_file, path, true))
        return message_errno(path, "cannot write the file");
    const int fd = dup(self->removed_file.fd);
    self->removed = fd >= 0 ? fdopen(fd, "w") : NULL;
    return self->removed != NULL ? EXIT_DONE : message_errno(path, "cannot write the file");
}

static int close_removed(writer *self, int code)
{
    const char *path = self->job->args->removed;
    if (self->removed != NULL && fclose(self->removed) != 0 && code == EXIT_DONE)
        code = message_errno(path, "cannot write the file");
    if (self->removed != NULL && code == EXIT_DONE && !new_file_commit(&self->removed_file))
        code = message_errno(path, "cannot write the file");
    new_file_close(&self->removed_file);
    return code;
}

/* ----- adding what is kept to a store ----- */

static int open_update(writer *self)
{
    const dedup_job *job = self->job;
    const char *path = job->args->update;
    sstore_write_options options = job->args->task.options;
    sstore_error error;
    if (path == NULL || job->words == 0)
        return EXIT_DONE;
    options.on_progress = NULL;
    options.tmp_dir = job->folder.path;
    options.threads = job->args->text.threads;
    options.recipe = job->args->fingerprint_field == NULL ? job->recipe : NULL;
    options.fingerprint_bits = 64 * job->words;
    if (job->makes_store) {
        options.distance = job->distance;
        options.names = job->adds_names;
    }
    const sstore_status status = job->makes_store
                                     ? sstore_builder_create(path, &options, &self->builder, &error)
                                     : sstore_builder_create_addition(path, &options, &self->builder, &error);
    self->next_added = UINT64_MAX;
    rewind(job->fingerprints);
    return message_status(status, &error);
}

static void next_fingerprint(writer *self)
{
    const size_t words = self->job->words;
    if (fread(&self->next_added, sizeof self->next_added, 1, self->job->fingerprints) != 1 ||
        fread(self->added, sizeof *self->added, words, self->job->fingerprints) != words)
        self->next_added = UINT64_MAX;
}

/* Add the fingerprint of a kept document, with its name or its id, or without. One id that is a text makes all of them
 * texts, of which a store without names keeps none. */
static int add_record(writer *self, const document *doc)
{
    sstore_error error;
    uint64_t id = 0;
    const bool has_id = self->job->work.reader.form.id_key != NULL && !self->job->has_text_ids &&
                        dedup_read_id(doc, &id);
    if (!self->job->adds_names)
        return message_status(sstore_builder_add(self->builder, self->added, has_id ? &id : NULL, 1, &error), &error);
    const char *text = doc->name != NULL ? doc->name : document_names_find(&self->job->names, doc->number);
    if (text == NULL)
        return EXIT_FAILED;
    const sstore_name name = {.bytes = text, .size = strlen(text)};
    return message_status(sstore_builder_add_named(self->builder, self->added, NULL, &name, 1, &error), &error);
}

/* Add a kept document, unless it has no features. */
static int add_kept(writer *self, const document *doc)
{
    if (self->builder == NULL)
        return EXIT_DONE;
    if (self->next_added == UINT64_MAX)
        next_fingerprint(self);
    while (self->next_added < doc->number)
        next_fingerprint(self);
    return self->next_added == doc->number ? add_record(self, doc) : EXIT_DONE;
}

/* Does the store not keep the ids of the documents? */
static bool drops_ids(const dedup_job *job)
{
    return !job->adds_names && job->against_metadata.has_ids && job->work.reader.form.id_key != NULL &&
           job->has_text_ids;
}

static int close_update(writer *self, int code)
{
    sstore_change change = SSTORE_CHANGE_INIT;
    sstore_error error;
    if (self->builder == NULL)
        return code;
    if (code == EXIT_DONE && !output_flush())
        code = EXIT_FAILED;
    if (code != EXIT_DONE) {
        sstore_builder_abort(self->builder);
        return code;
    }
    const char *path = self->job->args->update;
    code = message_status(sstore_builder_finish(self->builder, &change, &error), &error);
    if (code == EXIT_DONE && !self->job->args->task.quiet)
        message_print("%s: added %" PRIu64 " records; records %" PRIu64, path, change.added_count, change.record_count);
    if (code == EXIT_DONE && drops_ids(self->job) && !self->job->args->task.quiet)
        message_print("warning: %s: the store has no names, and ids of --id-field are texts: the records got numbers",
                      path);
    return code;
}

/* ----- examples ----- */

static void want_text(writer *self, uint64_t number)
{
    for (size_t i = 0; i < self->text_count; i++)
        if (self->texts[i].number == number)
            return;
    self->texts[self->text_count++].number = number;
}

/* Choose the first dropped documents. */
static int choose_examples(writer *self)
{
    drop found;
    int code = begin_drops(self);
    for (uint64_t number = 0; code == EXIT_DONE && number < self->job->next_number; number++) {
        code = find_drop(self, number, &found);
        if (found.kind == DROP_NONE || found.kind == DROP_LEFT_OUT || self->example_count == EXAMPLES)
            continue;
        self->examples[self->example_count++] = (example){number, found};
        want_text(self, number);
        if (found.kind == DROP_NEAR)
            want_text(self, found.kept);
    }
    return code;
}

/* Keep the text of a document if an example needs it. */
static int keep_text(writer *self, document_batch *batch, document *doc)
{
    document_text text;
    for (size_t i = 0; i < self->text_count; i++) {
        example_text *wanted = &self->texts[i];
        if (wanted->number != doc->number || wanted->text != NULL)
            continue;
        const bool is_read = document_read(batch, doc, &self->job->work.reader.form, &text);
        wanted->text = malloc(text.length + 1);
        if (!is_read || wanted->text == NULL)
            return message_print("out of memory");
        if (text.length > 0)
            memcpy(wanted->text, text.text, text.length);
        wanted->length = text.length;
    }
    return EXIT_DONE;
}

static const example_text *find_text(const writer *self, uint64_t number)
{
    const example_text *found = self->texts;
    while (found->number != number)
        found++;
    return found;
}

static int print_examples(writer *self)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < self->example_count && code == EXIT_DONE; i++) {
        const example *shown = &self->examples[i];
        const example_text *dropped = find_text(self, shown->number);
        code = print_removed(self, stdout, shown->number, &shown->drop) ? EXIT_DONE : EXIT_FAILED;
        if (code != EXIT_DONE || shown->drop.kind != DROP_NEAR || self->job->args->fingerprint_field != NULL)
            continue;
        const example_text *kept = find_text(self, shown->drop.kept);
        if (dropped->text != NULL && kept->text != NULL)
            dedup_print_words(dropped->text, dropped->length, kept->text, kept->length);
    }
    return code;
}

/* ----- reading again ----- */

/* Print a row as it is. Only the last row of all may be without a line feed. */
static bool print_row(writer *self, const document_batch *batch, const document *doc)
{
    if (self->lacks_newline && !output_bytes("\n", 1))
        return false;
    self->lacks_newline = doc->is_last;
    return output_bytes(batch->bytes + doc->begin, doc->length) && (doc->is_last || output_bytes("\n", 1));
}

static int write_document(writer *self, const document_batch *batch, const document *doc)
{
    drop found;
    if (doc->is_header) {
        const bool is_first = !self->has_header;
        self->has_header = true;
        return !is_first || print_row(self, batch, doc) ? EXIT_DONE : EXIT_FAILED;
    }
    int code = find_drop(self, doc->number, &found);
    if (code == EXIT_DONE && found.kind == DROP_NONE) {
        self->job->kept_count++;
        code = add_kept(self, doc);
        if (code == EXIT_DONE && !print_row(self, batch, doc))
            code = EXIT_FAILED;
    } else if (code == EXIT_DONE) {
        code = list_removed(self, doc->number, &found);
    }
    return code;
}

/* The id of a kept row goes into the store. The row was read before, so it has no fault. */
static void read_id(const writer *self, document_batch *batch, document *doc)
{
    const document_form *form = &self->job->work.reader.form;
    document_text unused;
    if (self->builder != NULL && form->id_key != NULL && !doc->is_header)
        (void)document_read(batch, doc, form, &unused);
}

static int write_batch(writer *self, document_batch *batch)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < batch->count && code == EXIT_DONE; i++) {
        document *doc = &batch->items[i];
        if (self->job->args->dry_run) {
            code = doc->is_left_out || doc->is_header ? EXIT_DONE : keep_text(self, batch, doc);
            continue;
        }
        read_id(self, batch, doc);
        code = write_document(self, batch, doc);
    }
    return code;
}

static int read_again(writer *self)
{
    const dedup_job *job = self->job;
    document_batch batch = {.bytes = NULL};
    document_reader reader = {.form = job->work.reader.form,
                              .files = {.operands = job->inputs->items,
                                        .opened = job->inputs_twice.paths,
                                        .count = job->inputs->count,
                                        .recursive = job->args->text.recursive}};
    int code = EXIT_DONE;
    progress_part(DEDUP_GROUPING_PART, 1);
    input_measure_begin(job->inputs_twice.paths, job->inputs->count);
    while (code == EXIT_DONE && document_reader_take(&reader, &batch)) {
        code = write_batch(self, &batch);
        if (code == EXIT_DONE)
            code = batch.code;
        if (batch.code != EXIT_DONE && batch.reason[0] != '\0')
            message_print("%s", batch.reason);
        if (code == EXIT_DONE && interrupted())
            code = interrupt_exit_code();
        progress_show("writing", job->kept_count, 0, input_measure_fraction());
    }
    document_reader_close(&reader);
    document_batch_free(&batch);
    return code;
}

/* Print the paths of files that are kept. */
static int write_paths(writer *self)
{
    dedup_job *job = self->job;
    const char end = job->args->ends_with_zeros ? '\0' : '\n';
    int code = EXIT_DONE;
    for (uint64_t number = 0; code == EXIT_DONE && number < job->next_number; number++) {
        const document doc = {.number = number};
        drop found;
        code = find_drop(self, number, &found);
        if (code == EXIT_DONE && found.kind == DROP_NONE) {
            const char *name = document_names_find(&job->names, number);
            job->kept_count++;
            if (name == NULL || !output_bytes(name, strlen(name)) || !output_bytes(&end, 1))
                code = EXIT_FAILED;
            if (code == EXIT_DONE)
                code = add_kept(self, &doc);
        } else if (code == EXIT_DONE) {
            code = list_removed(self, number, &found);
        }
    }
    return code;
}

static int show_examples(writer *self)
{
    int code = choose_examples(self);
    if (code == EXIT_DONE && self->example_count > 0)
        code = read_again(self);
    self->job->kept_count = self->job->document_count - self->job->near_count - self->job->stored_count;
    return code == EXIT_DONE ? print_examples(self) : code;
}

int dedup_write(dedup_job *job)
{
    writer *self = calloc(1, sizeof *self);
    if (self == NULL)
        return message_print("out of memory");
    self->job = job;
    self->removed_file = NEW_FILE_NONE;
    int code = EXIT_DONE;
    if (job->args->dry_run) {
        code = show_examples(self);
    } else {
        code = open_removed(self);
        if (code == EXIT_DONE)
            code = open_update(self);
        if (code == EXIT_DONE)
            code = begin_drops(self);
        if (code == EXIT_DONE)
            code = job->args->text.form.unit == DOCUMENT_FILES ? write_paths(self) : read_again(self);
    }
    if (code == EXIT_DONE)
        code = reread_check(&job->inputs_twice);
    progress_end();
    code = close_update(self, code);
    code = close_removed(self, code);
    for (size_t i = 0; i < self->text_count; i++)
        free(self->texts[i].text);
    free(self);
    return code;
}
