#include "documents/document_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "documents/document_order.h"
#include "input/input_hint.h"
#include "input/input_line.h"
#include "input/input_value.h"
#include "output/messages.h"
#include "sstore.h"

#define MIN_DIGITS 15u /* of a fingerprint; fewer may be the name of a column */

/* A row, from the next field on. */
typedef struct row_fields {
    char delimiter;
    bool has_quotes, has_ended;
    const char *at, *end;
} row_fields;

typedef struct field {
    const char *text;
    size_t length;
    bool is_quoted; /* the text is what stands between the outer quotes */
} field;

static row_fields begin_row(const table_columns *columns, const char *row, size_t length)
{
    length -= length > 0 && row[length - 1] == '\r';
    return (row_fields){columns->delimiter, columns->has_quotes, false, row, row + length};
}

/* The quote that closes a field, where two of them stand for one. Without one, the end. */
static const char *find_closing(const char *at, const char *end)
{
    while ((at = memchr(at, '"', (size_t)(end - at))) != NULL && at + 1 < end && at[1] == '"')
        at += 2;
    return at != NULL ? at : end;
}

/* Take the next field. Bytes between a closing quote and the delimiter, which RFC 4180 does not allow, are passed
 * over. */
static bool next_field(row_fields *row, field *field_out)
{
    if (row->has_ended)
        return false;
    const char *stop = row->at;
    *field_out = (field){.text = row->at};
    if (row->has_quotes && row->at < row->end && *row->at == '"') {
        stop = find_closing(row->at + 1, row->end);
        *field_out = (field){row->at + 1, (size_t)(stop - row->at - 1), true};
    }
    stop = memchr(stop, row->delimiter, (size_t)(row->end - stop));
    row->has_ended = stop == NULL;
    stop = stop != NULL ? stop : row->end;
    if (!field_out->is_quoted)
        field_out->length = (size_t)(stop - row->at);
    row->at = stop + 1;
    return true;
}

/* Copy a field, with one quote for two. Returns the length. */
static size_t unquote(const field *from, char *to)
{
    size_t length = 0;
    for (size_t i = 0; i < from->length; i++) {
        to[length++] = from->text[i];
        i += from->text[i] == '"';
    }
    return length;
}

/* ----- the header ----- */

/* Does the field have this name? Names with quotes in them are not found. */
static bool is_named(const field *column, const char *name)
{
    return strlen(name) == column->length && memcmp(name, column->text, column->length) == 0;
}

static void list_columns(const table_columns *columns, const char *row, size_t length, char *list, size_t list_bytes)
{
    row_fields fields = begin_row(columns, row, length);
    field column;
    size_t used = 0;
    while (next_field(&fields, &column) && used < list_bytes) {
        char shown[4 * 40 + 1];
        char name[40];
        const size_t kept = column.length < sizeof name ? column.length : sizeof name - 1;
        memcpy(name, column.text, kept);
        (void)sstore_escape(name, kept, false, shown, sizeof shown);
        const int written = snprintf(list + used, list_bytes - used, "%s'%s'", used > 0 ? ", " : "", shown);
        used += written > 0 ? (size_t)written : 0;
    }
}

/* Find the column of that name or number. `key` may be NULL. */
static bool find_column(const table_columns *columns, const document_form *form, const char *key, const char *row,
                        size_t length, size_t *column_out)
{
    row_fields fields = begin_row(columns, row, length);
    field column;
    char *end;
    *column_out = TABLE_NO_COLUMN;
    if (key == NULL)
        return true;
    for (size_t i = 0; !form->no_header && next_field(&fields, &column); i++)
        if (is_named(&column, key)) {
            *column_out = i;
            return true;
        }
    const unsigned long number = key[0] >= '1' && key[0] <= '9' ? strtoul(key, &end, 10) : 0;
    if (number == 0 || *end != '\0')
        return false;
    *column_out = number - 1;
    return true;
}

static bool is_fingerprint(const field *found)
{
    static const line_format hex = LINE_FORMAT_INIT;
    line_record record;
    return found->length >= MIN_DIGITS && (document_form_is_fingerprint(found->text, found->length) ||
                                           value_read(&hex, found->text, found->length, &record));
}

/* The number from 1 of the first column with a fingerprint, or 0. */
static size_t find_fingerprint(const table_columns *columns, const char *row, size_t length)
{
    row_fields fields = begin_row(columns, row, length);
    field found;
    for (size_t i = 1; next_field(&fields, &found); i++)
        if (is_fingerprint(&found))
            return i;
    return 0;
}

/* Is there a fingerprint in the column of the text? */
static bool has_fingerprint(const table_columns *columns, const char *row, size_t length)
{
    row_fields fields = begin_row(columns, row, length);
    field found = {.length = 0};
    for (size_t i = 0; i <= columns->text; i++)
        if (!next_field(&fields, &found))
            return false;
    return is_fingerprint(&found);
}

/* There is no column of that name or number. Where no option names that of the text, there may be fingerprints. */
static void explain_column(const table_columns *columns, const document_form *form, const char *key, const char *option,
                           const char *row, size_t length, char *reason, size_t reason_bytes)
{
    char list[512];
    const bool may_be_other = form->may_take_fingerprints && key != NULL && key == form->text_key &&
                              !form->takes_fingerprints && strcmp(key, "text") == 0;
    const size_t fingerprint = may_be_other ? find_fingerprint(columns, row, length) : 0;
    list_columns(columns, row, length, list, sizeof list);
    const int used = snprintf(reason, reason_bytes, "expected a column '%.60s', found %s; ", key,
                              form->no_header ? "a table without a header" : list);
    const size_t at = used < 0 || (size_t)used > reason_bytes ? reason_bytes : (size_t)used;
    if (fingerprint > 0)
        (void)snprintf(reason + at, reason_bytes - at,
                       "column %zu seems to have fingerprints, which --no-header --fingerprint-field %zu reads",
                       fingerprint, fingerprint);
    else
        (void)snprintf(reason + at, reason_bytes - at, "%s names the column, or gives its number from 1%s%s", option,
                       may_be_other ? "; --fingerprint-field names one with fingerprints" : "",
                       form->no_header ? "" : "; --no-header says that the first row is a document");
}

bool document_table_begin(table_columns *columns, const document_form *form, const char *row, size_t length,
                          char *reason, size_t reason_bytes)
{
    const size_t bom_bytes = input_hint_bom_bytes(row, length);
    const struct {
        const char *key, *option;
        size_t *column;
    } wanted[] = {{form->text_key, form->takes_fingerprints ? "--fingerprint-field" : "--text-field", &columns->text},
                  {form->id_key, "--id-field", &columns->id},
                  {form->order_key, "--keep", &columns->order}};
    row += bom_bytes;
    length -= bom_bytes;
    columns->has_quotes = form->unit == DOCUMENT_CSV;
    columns->delimiter = form->unit == DOCUMENT_TSV ? '\t' : document_form_delimiter(row, length);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        if (find_column(columns, form, wanted[i].key, row, length, wanted[i].column))
            continue;
        explain_column(columns, form, wanted[i].key, wanted[i].option, row, length, reason, reason_bytes);
        return false;
    }
    if (form->takes_fingerprints && !form->no_header && has_fingerprint(columns, row, length)) {
        (void)snprintf(reason, reason_bytes,
                       "expected a header, found a fingerprint; --no-header says that the first row is a document");
        return false;
    }
    return true;
}

/* ----- rows ----- */

static bool fail(document_batch *batch, document *doc, const char *reason)
{
    document_fault(batch, doc, "%s", reason);
    return false;
}

static bool take_id(document_batch *batch, document *doc, const document_form *form, const field *id)
{
    line_fault fault;
    char *name = batch->decoded + doc->length; /* behind the text */
    const size_t length = id->is_quoted ? unquote(id, name) : id->length;
    const char *text = id->is_quoted ? name : id->text;
    size_t digits = 0;
    while (digits < length && text[digits] >= '0' && text[digits] <= '9')
        digits++;
    if (length > 0 && digits == length && length <= 20 && !form->ids_are_names)
        return line_parse_id(text, length, &doc->id, &fault) || fail(batch, doc, fault.reason);
    if (length == 0 || memchr(text, '\0', length) != NULL)
        return fail(batch, doc, "expected an id, a whole number or a name without zeros, found an empty field");
    doc->name = document_batch_keep(batch, text, length);
    return doc->name != NULL || fail(batch, doc, "out of memory");
}

static bool take_order(document_batch *batch, document *doc, const document_form *form, const field *order)
{
    return document_order_read(order->text, order->length, form->is_descending, &doc->order) ||
           fail(batch, doc, DOCUMENT_ORDER_EXPECTED);
}

bool document_table_read(document_batch *batch, document *doc, const document_form *form, document_text *text_out)
{
    const table_columns *columns = doc->table;
    const char *row = batch->bytes + doc->begin;
    const size_t bom_bytes = doc->line == 1 ? input_hint_bom_bytes(row, doc->length) : 0;
    row_fields fields = begin_row(columns, row + bom_bytes, doc->length - bom_bytes);
    field text = {NULL, 0, false}, id = text, order = text, found;
    size_t count = 0;
    if (!grow(&batch->decoded, &batch->decoded_capacity, 2 * doc->length + 1, 1))
        return fail(batch, doc, "out of memory");
    for (; next_field(&fields, &found); count++) {
        text = count == columns->text ? found : text;
        id = count == columns->id ? found : id;
        order = count == columns->order ? found : order;
    }
    const bool has_all = text.text != NULL && (columns->id == TABLE_NO_COLUMN || id.text != NULL) &&
                         (columns->order == TABLE_NO_COLUMN || order.text != NULL);
    if (!has_all) {
        document_fault(batch, doc, "the row has too few columns: only %zu", count);
        return false;
    }
    text_out->text = text.is_quoted ? batch->decoded : text.text;
    text_out->length = text.is_quoted ? unquote(&text, batch->decoded) : text.length;
    return (id.text == NULL || take_id(batch, doc, form, &id)) &&
           (order.text == NULL || take_order(batch, doc, form, &order));
}
