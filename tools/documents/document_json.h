/* document_json.h - the text and the id of a document that is a JSON object. */
#ifndef DOCUMENT_JSON_H
#define DOCUMENT_JSON_H

#include "documents/document_batch.h"
#include "documents/document_form.h"

typedef struct document_text {
    const char *text; /* may contain zeros; empty if the value is null */
    size_t length;
} document_text;

/* Read a document of the batch, and set its id or its name if the form has a key for them. The text is valid until the
 * next one is read. False: its line is wrong, or there is no memory; the document has the fault. */
bool document_json_read(document_batch *batch, document *doc, const document_form *form, document_text *text_out);

#endif
