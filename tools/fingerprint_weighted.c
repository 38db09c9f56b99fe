/*
 * fingerprint_weighted.c - fingerprints of documents that come as weighted features, one a line: for any way to find
 * features and weigh them that is not built in.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "fingerprint_documents.h"
#include "weight.h"

/* The features of the document being read. */
typedef struct weighted_document {
    char *bytes; /* of all features, one after the other */
    size_t used, capacity;
    sstore_feature *features; /* `data` is set once all bytes are there */
    size_t count, feature_capacity;
} weighted_document;

static bool add_feature(weighted_document *document, const char *data, size_t size, double weight)
{
    if (document->capacity - document->used < size) {
        size_t capacity = 2 * document->capacity + size;
        char *bytes = realloc(document->bytes, capacity);
        if (bytes == NULL)
            return false;
        document->bytes = bytes;
        document->capacity = capacity;
    }
    if (document->count == document->feature_capacity) {
        size_t capacity = 2 * document->feature_capacity + 256;
        sstore_feature *features = reallocarray(document->features, capacity, sizeof *features);
        if (features == NULL)
            return false;
        document->features = features;
        document->feature_capacity = capacity;
    }
    if (document->bytes != NULL) /* there are others than empty ones */
        memcpy(document->bytes + document->used, data, size);
    document->used += size;
    document->features[document->count++] = (sstore_feature){.size = size, .weight = weight};
    return true;
}

/* Print the document's fingerprint, if it has any line, and start the next one. */
static int end_document(weighted_document *document, input_source *source, document_ids *ids)
{
    uint64_t fingerprint;
    sstore_error error;
    if (document->count == 0)
        return EXIT_DONE;
    size_t offset = 0;
    for (size_t i = 0; i < document->count; i++) {
        document->features[i].data = document->bytes + offset;
        offset += document->features[i].size;
    }
    if (sstore_simhash(document->features, document->count, &fingerprint, &error) != SSTORE_OK)
        return cmd_fail(&error);
    document->used = document->count = 0;
    return print_numbered(source, fingerprint, ids);
}

static bool is_blank(const char *text, size_t length)
{
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    return length == 0;
}

static int take_line(weighted_document *document, input_source *source, const source_line *line, document_ids *ids)
{
    const char *text = line->text;
    size_t length = line->length;
    if (length > 0 && text[length - 1] == '\r')
        length--;
    if (is_blank(text, length))
        return end_document(document, source, ids);
    const char *tab = memrchr(text, '\t', length);
    if (tab == NULL)
        return input_source_fail_line(source, line->number, "expected a feature, a tab and a weight, found no tab");
    double weight;
    if (!weight_parse(tab + 1, length - (size_t)(tab + 1 - text), &weight))
        return input_source_fail_line(source, line->number,
                                      "expected a decimal weight from -2^31 to 2^31 behind the last tab");
    if (!add_feature(document, text, (size_t)(tab - text), weight))
        return input_source_fail_line(source, line->number, "out of memory");
    return EXIT_DONE;
}

int fingerprint_weighted(input_source *source, document_ids *ids)
{
    weighted_document document = {0};
    source_line line = {0};
    bool found = true;
    int code = EXIT_DONE;
    while (code == EXIT_DONE && found) {
        code = source_line_next(source, &line, &found);
        if (code == EXIT_DONE && found)
            code = take_line(&document, source, &line, ids);
    }
    if (code == EXIT_DONE)
        code = end_document(&document, source, ids);
    free(document.bytes);
    free(document.features);
    return code;
}
