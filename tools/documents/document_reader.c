#include "documents/document_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "output/messages.h"

#define BATCH_BYTES ((size_t)1 << 18)
#define DOUBT_BYTES 4096u /* enough to tell text from what is none */

/* ----- inputs ----- */

static bool fail(document_reader *self, document_batch *batch, int code)
{
    const input_source *source = &self->source;
    batch->code = code;
    if (source->fault.reason[0] != '\0' && source->line > 0)
        document_batch_explain(batch, "%s:%" PRIu64 ": %s", source->name, source->line, source->fault.reason);
    else if (source->fault.reason[0] != '\0')
        document_batch_explain(batch, "%s: %s", source->name, source->fault.reason);
    return false;
}

static bool fail_because(document_reader *self, document_batch *batch, const char *reason)
{
    return fail(self, batch, input_source_fail(&self->source, 0, reason));
}

static void close_input(document_reader *self)
{
    if (self->is_open)
        input_source_close(&self->source);
    self->is_open = false;
    free(self->path);
    self->path = NULL;
}

void document_reader_close(document_reader *self)
{
    close_input(self);
    file_list_close(&self->files);
    free(self->header);
    self->header = NULL;
}

/* Unpack and recode the input if need be. False: it cannot be read, or is no text; *skip_out: it is only left out. */
static bool prepare(document_reader *self, document_batch *batch, bool was_found, bool *skip_out)
{
    input_source *source = &self->source;
    int code = input_source_unpack(source, COMPRESSION_AUTO);
    *skip_out = false;
    if (code == EXIT_DONE && self->form.encoding != NULL)
        code = input_source_recode(source, self->form.encoding);
    else if (code == EXIT_DONE && !self->form.binary && !self->may_wait)
        code = input_source_need(source, DOUBT_BYTES);
    if (code != EXIT_DONE)
        return fail(self, batch, code);
    const char *doubt = self->form.encoding == NULL && !self->form.binary
                            ? document_form_doubt(input_source_text(source), input_source_size(source))
                            : NULL;
    *skip_out = doubt != NULL && was_found;
    if (doubt != NULL)
        return *skip_out || fail_because(self, batch, doubt);
    self->rows = (json_rows){.depth = 0};
    if (self->form.unit == DOCUMENT_JSONL)
        code = json_rows_begin(&self->rows, source);
    return code == EXIT_DONE || fail(self, batch, code);
}

/* Append a document of the input. NULL: there is no memory, which is the batch's failure. */
static document *append(document_reader *self, document_batch *batch, const char *text, size_t length)
{
    document *added = document_batch_add(batch, text, length);
    char *input = added != NULL ? document_batch_keep(batch, self->path, strlen(self->path)) : NULL;
    if (input == NULL) {
        (void)fail_because(self, batch, "out of memory");
        return NULL;
    }
    added->input = input;
    return added;
}

/* A file that is no text is only mentioned. */
static bool leave_out(document_reader *self, document_batch *batch)
{
    document *added = append(self, batch, NULL, 0);
    if (added == NULL)
        return false;
    added->is_left_out = true;
    return true;
}

/* Open the next input. False: there is none, or it cannot be opened. */
static bool open_next(document_reader *self, document_batch *batch)
{
    const char *path, *opened;
    bool was_found, skip;
    struct stat info;
    do {
        close_input(self);
        batch->code = file_list_next(&self->files, &path, &opened, &was_found);
        if (batch->code != EXIT_DONE || path == NULL)
            return false;
        self->path = strdup(path);
        if (self->path == NULL) {
            batch->code = message_print("%s: out of memory", path);
            return false;
        }
        batch->code = input_source_open(&self->source, opened);
        self->is_open = batch->code == EXIT_DONE;
        if (!self->is_open)
            return false;
        self->source.name = self->path;
        self->source.max_window_bits = DECOMPRESS_MAX_WINDOW_BITS;
        const bool has_quotes = self->form.unit == DOCUMENT_CSV;
        self->line = (source_line){.any_length = !has_quotes, .has_quotes = has_quotes};
        self->may_wait = !(fstat(self->source.file.fd, &info) == 0 && S_ISREG(info.st_mode));
        if (!prepare(self, batch, was_found, &skip) || (skip && !leave_out(self, batch)))
            return false;
    } while (skip);
    return true;
}

/* ----- documents ----- */

/* The next document has the next number. */
static void use_number(document_reader *self)
{
    self->are_ids_used_up = self->are_ids_used_up || self->next_id == UINT64_MAX;
    self->next_id++;
}

/* Number a document. */
static bool add_document(document_reader *self, document_batch *batch, const char *text, size_t length, uint64_t line)
{
    if (self->are_ids_used_up)
        return fail_because(self, batch, NO_ID_LEFT);
    document *added = append(self, batch, text, length);
    if (added == NULL)
        return false;
    added->line = line;
    added->name = self->form.unit == DOCUMENT_FILES ? added->input : NULL;
    added->id = added->number = self->next_id;
    added->table = &self->table;
    use_number(self);
    return true;
}

/* Would the next line have to be waited for? */
static bool must_wait(const document_reader *self)
{
    const input_source *source = &self->source;
    const size_t begin = source->in.begin + self->line.taken;
    return self->may_wait && !source->in.at_end &&
           memchr(source->in.bytes + begin, '\n', source->in.end - begin) == NULL;
}

/* Take the header of a table, which must be the one of the inputs before. */
static bool take_header(document_reader *self, document_batch *batch)
{
    const source_line *line = &self->line;
    document *added = append(self, batch, line->text, line->length);
    if (added == NULL)
        return false;
    added->is_header = true;
    added->is_last = line->taken == line->length;
    const size_t length = source_line_length(line);
    return (length == self->header_length && memcmp(line->text, self->header, length) == 0) ||
           fail_because(self, batch, "the header, which is the first row, differs from that of the first input");
}

/* Find the columns of the first table, by its first row. */
static bool begin_tables(document_reader *self, document_batch *batch)
{
    char reason[sizeof batch->reason];
    const source_line *line = &self->line;
    self->header_length = source_line_length(line);
    self->header = malloc(self->header_length + 1);
    if (self->header == NULL)
        return fail_because(self, batch, "out of memory");
    memcpy(self->header, line->text, self->header_length);
    return document_table_begin(&self->table, &self->form, self->header, self->header_length, reason, sizeof reason) ||
           fail(self, batch, input_source_fail(&self->source, 1, reason));
}

/* Take a line that is there. */
static bool add_line(document_reader *self, document_batch *batch)
{
    const source_line *line = &self->line;
    const bool is_table = document_form_is_table(&self->form);
    if ((is_table || self->form.unit == DOCUMENT_JSONL) && source_line_is_blank(line)) {
        if (!is_table)
            use_number(self); /* so that numbers are those of lines */
        return true;
    }
    if (is_table && self->header == NULL && !begin_tables(self, batch))
        return false;
    if (is_table && !self->form.no_header && line->number == 1)
        return take_header(self, batch);
    size_t blanks = 0;
    while (self->rows.is_array && line->text[blanks] == ' ')
        blanks++;
    if (!add_document(self, batch, line->text + blanks, line->length - blanks, line->number))
        return false;
    batch->items[batch->count - 1].is_last = line->taken == line->length;
    return true;
}

static bool take_line(document_reader *self, document_batch *batch)
{
    int code;
    if (source_line_next(&self->source, &self->line, &code))
        return add_line(self, batch);
    if (code != EXIT_DONE)
        return fail(self, batch, code);
    close_input(self);
    return true;
}

static bool take_file(document_reader *self, document_batch *batch)
{
    const input_source *source = &self->source;
    const int code = input_source_need(&self->source, SIZE_MAX);
    if (code != EXIT_DONE)
        return fail(self, batch, code);
    const char *text = input_source_text(source);
    const size_t length = input_source_size(source);
    if (!add_document(self, batch, text, length, 0))
        return false;
    document *added = &batch->items[batch->count - 1];
    added->has_objects = document_form_has_objects(text, length);
    added->has_lines = document_form_has_lines(text, length);
    close_input(self);
    return true;
}

bool document_reader_take(document_reader *self, document_batch *batch)
{
    const bool has_lines = self->form.unit != DOCUMENT_FILES;
    document_batch_clear(batch);
    while (batch->used < BATCH_BYTES) {
        if (!self->is_open && !open_next(self, batch))
            break;
        if (has_lines && batch->count > 0 && must_wait(self))
            break;
        if (!(has_lines ? take_line(self, batch) : take_file(self, batch)))
            break;
    }
    batch->flushes = self->may_wait;
    return batch->count > 0 || batch->code != EXIT_DONE;
}

/* ----- the text of a document ----- */

bool document_read(document_batch *batch, document *doc, const document_form *form, document_text *text_out)
{
    switch (form->unit) {
    case DOCUMENT_JSONL: return document_json_read(batch, doc, form, text_out);
    case DOCUMENT_CSV:
    case DOCUMENT_TSV: return document_table_read(batch, doc, form, text_out);
    default: *text_out = (document_text){batch->bytes + doc->begin, doc->length}; return true;
    }
}
