/* document_form.h - in which form documents come, and what speaks against it. */
#ifndef DOCUMENT_FORM_H
#define DOCUMENT_FORM_H

#include <stdbool.h>
#include <stddef.h>

typedef enum document_unit {
    DOCUMENT_FILES, /* each file is a document */
    DOCUMENT_LINES, /* each line */
    DOCUMENT_JSONL, /* a string in the JSON object of each line */
    DOCUMENT_CSV,   /* a column of a row, as in RFC 4180 */
    DOCUMENT_TSV    /* a column of a line, between tabs */
} document_unit;

typedef struct document_form {
    document_unit unit;
    const char *text_key, *id_key; /* of JSON, or columns: by name, or by number from 1; `id_key` may be NULL */
    const char *order_key;         /* the same, of the number or date by which documents are ordered; or NULL */
    bool is_descending;            /* higher ones come first */
    bool takes_fingerprints;       /* the text is a fingerprint, which may be a number or an array of JSON */
    bool may_take_fingerprints;    /* an option says so: --fingerprint-field */
    bool no_header;                /* the first row of a table is a document */
    const char *encoding;          /* as iconv(3) names it; NULL: UTF-8 */
    bool ids_are_names;            /* otherwise those that are whole numbers are ids of records */
    bool binary;                   /* any bytes are accepted */
} document_form;

static inline bool document_form_is_table(const document_form *form)
{
    return form->unit == DOCUMENT_CSV || form->unit == DOCUMENT_TSV;
}

/* What a file seems to be instead of text in UTF-8, by its first bytes, with the remedy; NULL if it seems to be
 * text. */
const char *document_form_doubt(const char *bytes, size_t size);

/* Does a text begin with an array of JSON objects, or with two lines that each have one? */
bool document_form_has_objects(const char *text, size_t length);

/* Is a line a JSON object, or does an array of objects begin there? */
bool document_form_is_object(const char *line, size_t length);
bool document_form_begins_array(const char *line, size_t length);

/* What separates the columns of CSV with this header: a comma or a semicolon. */
char document_form_delimiter(const char *text, size_t length);

/* Does a line have a fingerprint: 16 hex digits or a large decimal number, and perhaps a tab and an id? */
bool document_form_is_fingerprint(const char *line, size_t length);

/* Does a line have one, and perhaps a tab and anything else? */
bool document_form_begins_fingerprint(const char *line, size_t length);

/* Does a text have many lines? */
bool document_form_has_lines(const char *text, size_t length);

#endif
