/*
 * document_reader.h - reads documents: whole files, or the lines or rows of files.
 */
#ifndef DOCUMENT_READER_H
#define DOCUMENT_READER_H

#include "documents/document_batch.h"
#include "documents/document_form.h"
#include "documents/document_table.h"
#include "documents/file_list.h"
#include "input/input_source.h"
#include "input/json_rows.h"

#define NO_ID_LEFT "there is no id left for the next document after 18446744073709551615; give a lower --first-id"

typedef struct document_reader {
    document_form form;
    file_list files;
    uint64_t next_id; /* the number of the next document */

    bool are_ids_used_up, is_open, may_wait; /* the input may be a pipe whose writer waits for answers */
    char *path;                              /* of the input */
    input_source source;
    json_rows rows; /* of the source, if it has JSON */
    source_line line;
    table_columns table; /* of all inputs that are tables, which have the same header */
    char *header;        /* NULL: no input has begun */
    size_t header_length;
} document_reader;

/* Replace a batch by the next documents: as many as are worth a thread's while, or those that are there if more must be
 * waited for. False: there are no more. An input that cannot be read is the batch's failure, and ends all. */
bool document_reader_take(document_reader *self, document_batch *batch);

void document_reader_close(document_reader *self);

/* Find the text of a document of the batch, and set what the form has keys for: in a line or a file, all of it is the
 * text. The text is valid until the next one is read. False: its line is wrong, or there is no memory; the document has
 * the fault. */
bool document_read(document_batch *batch, document *doc, const document_form *form, document_text *text_out);

#endif
