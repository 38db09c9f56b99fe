/*
 * bad_rows.c - counts the rows that cannot be read. In the file, a line has the input, the number of the row, the
 * reason and, last, the row as it was read: "cut -f 4-" gives the rows again.
 */
#include "input/bad_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "input/byte_stream.h"
#include "output/messages.h"

static bool has_file(const bad_rows *self)
{
    return self->path != NULL && self->path[0] != '\0';
}

int bad_rows_open(bad_rows *self, char *const *inputs, int count)
{
    if (!has_file(self))
        return EXIT_DONE;
    if (input_file_is_among(self->path, inputs, count))
        return message_print("%s: it is an input; keep bad rows in another file", self->path);
    self->file = fopen(self->path, "we");
    return self->file != NULL ? EXIT_DONE : message_errno(self->path, "cannot write the file");
}

/* ----- a row ----- */

static bool write_escaped(FILE *to, const char *text, size_t length)
{
    char shown[4096];
    (void)sstore_escape(text, length, 0, shown, sizeof shown);
    return fputs(shown, to) >= 0 && putc('\t', to) != EOF;
}

static bool write_row(FILE *to, const bad_row *row)
{
    if (!row->is_binary)
        return fwrite(row->text, 1, row->length, to) == row->length;
    for (size_t i = 0; i < row->length; i++)
        if (fprintf(to, "%02x", (unsigned char)row->text[i]) < 0)
            return false;
    return true;
}

static bool keep_row(const bad_rows *self, const bad_row *row, const char *reason)
{
    FILE *to = self->file;
    return write_escaped(to, row->input, strlen(row->input)) && fprintf(to, "%" PRIu64 "\t", row->number) > 0 &&
           write_escaped(to, reason, strlen(reason)) && write_row(to, row) && putc('\n', to) != EOF &&
           (!self->reports_each || fflush(to) == 0);
}

static void note_first(char to[640], const bad_row *row, const char *reason)
{
    if (to[0] == '\0')
        (void)snprintf(to, 640, "%.200s:%" PRIu64 ": %s", row->input, row->number, reason);
}

bool bad_rows_take(bad_rows *self, const bad_row *row, line_fault *fault)
{
    const line_fault reason = *fault;
    if (!bad_rows_skip(self))
        return false;
    if (row->count > self->max - self->bad_count)
        return line_fault_set(fault, "%s; more than the %" PRIu64 " row%s that --max-bad allows cannot be read",
                              reason.reason, self->max, self->max == 1 ? "" : "s");
    self->bad_count += row->count;
    self->input_bad += row->count;
    note_first(self->first, row, reason.reason);
    note_first(self->input_first, row, reason.reason);
    if (self->reports_each)
        message_print("%s:%" PRIu64 ": %s; skipped", row->input, row->number, reason.reason);
    if (self->file != NULL && !keep_row(self, row, reason.reason))
        return line_fault_set(fault, "cannot write the bad row to %s: %s", self->path, strerror(errno));
    return true;
}

/* ----- the end ----- */

/* Rows that are all bad are of another form than expected, and that is a failure. */
static int check_good(const char *first, uint64_t bad_count, uint64_t good_count)
{
    return bad_count == 0 || good_count > 0
               ? EXIT_DONE
               : message_print("%s; none of %" PRIu64 " rows can be read", first, bad_count);
}

int bad_rows_end_input(bad_rows *self)
{
    if (self == NULL)
        return EXIT_DONE;
    const int code = check_good(self->input_first, self->input_bad, self->input_good);
    self->input_bad = self->input_good = 0;
    self->input_first[0] = '\0';
    return code;
}

int bad_rows_end(bad_rows *self, int code)
{
    const bool is_kept = self->file == NULL || fclose(self->file) == 0;
    self->file = NULL;
    if (!is_kept)
        code = message_errno(self->path, "cannot write the file");
    if (code == EXIT_DONE)
        code = check_good(self->first, self->bad_count, self->good_count);
    if (self->bad_count > 0 && code == EXIT_DONE)
        message_print("%" PRIu64 " of %" PRIu64 " rows skipped; first: %s%s%s", self->bad_count,
                      self->bad_count + self->good_count, self->first, has_file(self) ? "; see " : "",
                      has_file(self) ? self->path : "");
    return code;
}
