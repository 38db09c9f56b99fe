/* document_table.h - documents that are rows of a table: CSV (RFC 4180), or lines with tabs. */
#ifndef DOCUMENT_TABLE_H
#define DOCUMENT_TABLE_H

#include "documents/document_batch.h"
#include "documents/document_form.h"
#include "documents/document_json.h"

#define TABLE_NO_COLUMN SIZE_MAX

/* Where the columns of a form are, counted from 0. */
typedef struct table_columns {
    char delimiter;
    bool has_quotes;
    size_t text, id, order; /* TABLE_NO_COLUMN: it is not wanted */
} table_columns;

/* Find the columns that the form names, in the first row of a table. False: there is no such column; `reason` says
 * which ones there are. */
bool document_table_begin(table_columns *columns, const document_form *form, const char *row, size_t length,
                          char *reason, size_t reason_bytes);

/* As document_json_read(), for a row of a table. */
bool document_table_read(document_batch *batch, document *doc, const document_form *form, document_text *text_out);

#endif
