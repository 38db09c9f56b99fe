/*
 * fuzz_document.c - any bytes as documents: lines, JSON Lines, CSV and lines with tabs. The rows of a file, put
 * together again, are the file; rows of CSV end where a slow reader says; and no text, id or order leads out of its
 * row.
 *   1 byte: the unit, whether there is a header, and which columns; then the file
 */
#include "documents/document_reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/fuzzing.h"

/* What the rows of a file are, put together. */
typedef struct rows {
    char *bytes;
    size_t size;
    uint64_t count;
} rows;

static document_form make_form(uint8_t how)
{
    static const document_unit units[] = {DOCUMENT_LINES, DOCUMENT_JSONL, DOCUMENT_CSV, DOCUMENT_TSV};
    static const char *const keys[] = {NULL, "text", "a", "1", "2", "17"};
    const bool has_fields = how % 4 != 0;
    return (document_form){.unit = units[how % 4],
                           .text_key = (how & 4) != 0 ? "text" : "1",
                           .id_key = has_fields ? keys[how / 8 % 3] : NULL,
                           .order_key = has_fields ? keys[how / 24 % 6] : NULL,
                           .is_descending = (how & 1) != 0,
                           .takes_fingerprints = (how & 2) != 0,
                           .no_header = how % 4 >= 2 && (how & 32) != 0,
                           .binary = true};
}

/* A row has a text inside of the batch. */
static void read_row(document_batch *batch, document *doc, const document_form *form)
{
    document_text text;
    volatile char sum = 0;
    const bool is_read = document_read(batch, doc, form, &text);
    FUZZ_CHECK(is_read == (doc->fault == NULL));
    if (!is_read)
        return;
    FUZZ_CHECK(text.length <= doc->length);
    for (size_t i = 0; i < text.length; i++) /* a sanitizer sees whether they are there */
        sum = (char)(sum ^ text.text[i]);
    if (doc->name != NULL)
        FUZZ_CHECK(strlen(doc->name) <= doc->length);
}

static void take_batch(document_batch *batch, const document_form *form, rows *to)
{
    for (size_t i = 0; i < batch->count; i++) {
        document *doc = &batch->items[i];
        if (doc->length > 0)
            memcpy(to->bytes + to->size, batch->bytes + doc->begin, doc->length);
        to->size += doc->length;
        if (!doc->is_last)
            to->bytes[to->size++] = '\n';
        to->count++;
        if (!doc->is_header)
            read_row(batch, doc, form);
    }
}

/* Read all. Returns the code at the end. */
static int read_all(int fd, const document_form *form, rows *to)
{
    char path[32];
    char *const operands[] = {path};
    document_batch batch = {.bytes = NULL};
    document_reader reader = {.form = *form, .files = {.operands = operands, .count = 1}};
    int code = EXIT_SUCCESS;
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    while (code == EXIT_SUCCESS && document_reader_take(&reader, &batch)) {
        take_batch(&batch, form, to);
        code = batch.code;
    }
    document_reader_close(&reader);
    document_batch_free(&batch);
    return code;
}

/* How many rows CSV has, with blank ones; *open_out: a quote is not closed. */
static uint64_t count_csv(const uint8_t *data, size_t size, bool *open_out)
{
    uint64_t count = 0;
    bool in_quotes = false;
    for (size_t i = 0; i < size; i++) {
        in_quotes ^= data[i] == '"';
        count += data[i] == '\n' && !in_quotes;
    }
    *open_out = in_quotes;
    return count + (size > 0 && (data[size - 1] != '\n' || in_quotes));
}

/* Does the file begin as one that is compressed? */
static bool is_packed(const uint8_t *data, size_t size)
{
    return size >= 2 && ((data[0] == 0x1f && data[1] == 0x8b) || (data[0] == 0x28 && data[1] == 0xb5));
}

/* Has every line more than blanks? Others are no rows. */
static bool has_no_blanks(const uint8_t *data, size_t size)
{
    bool is_blank = true;
    for (size_t i = 0; i < size; i++) {
        if (data[i] == '\n' && is_blank)
            return false;
        is_blank = data[i] == '\n' || (is_blank && strchr(" \t\r\xef\xbb\xbf", data[i]) != NULL);
    }
    return size == 0 || !is_blank || data[size - 1] == '\n';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || is_packed(data + 1, size - 1))
        return 0;
    const document_form form = make_form(*data++);
    size--;
    bool is_open = false;
    int fd = memfd_create("documents", 0), messages = memfd_create("messages", 0), before = dup(STDERR_FILENO);
    rows found = {.bytes = fuzz_memory(malloc(2 * size + 16))};
    FUZZ_CHECK(fd >= 0 && messages >= 0 && before >= 0 && dup2(messages, STDERR_FILENO) >= 0);
    FUZZ_CHECK(write(fd, data, size) == (ssize_t)size);
    const int code = read_all(fd, &form, &found);
    FUZZ_CHECK(dup2(before, STDERR_FILENO) >= 0);
    const bool is_whole = code == EXIT_SUCCESS && form.unit != DOCUMENT_JSONL &&
                          (form.unit == DOCUMENT_LINES || has_no_blanks(data, size));
    if (is_whole)
        FUZZ_CHECK(found.size == size && (size == 0 || memcmp(found.bytes, data, size) == 0));
    if (is_whole && form.unit == DOCUMENT_CSV)
        FUZZ_CHECK(found.count == count_csv(data, size, &is_open) && !is_open);
    free(found.bytes);
    (void)close(fd);
    (void)close(messages);
    (void)close(before);
    return 0;
}
