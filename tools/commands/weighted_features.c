/* weighted_features.c - documents that come as lines of features and weights. */
#include "commands/weighted_features.h"

#include <math.h>
#include <sstore.h>
#include <stdlib.h>
#include <string.h>

#include "documents/document_reader.h"
#include "input/digits.h"
#include "input/input_measure.h"
#include "input/input_source.h"
#include "input/weight.h"

/* How documents are printed. Their ids count over all inputs. */
typedef struct weighted_output {
    sstore_feature_hash hash;
    uint32_t fingerprint_bits;
    uint64_t next_id, printed;
    bool used_up; /* the largest id is taken */
} weighted_output;

/* Print "fingerprint<TAB>number" of a document in `source`. */
static int print_numbered(input_source *source, const uint64_t *fingerprint, weighted_output *output)
{
    char line[16 * DOCUMENT_MAX_WORDS + DIGITS_MAX_DECIMAL + 2], *end = line;
    if (output->used_up)
        return input_source_fail(source, 0, NO_ID_LEFT);
    end = output_hex_words(end, fingerprint, output->fingerprint_bits / 64);
    *end++ = '\t';
    end = output_decimal(end, output->next_id);
    *end++ = '\n';
    output->used_up = output->next_id == UINT64_MAX;
    output->next_id++;
    progress_show("fingerprinting", ++output->printed, 0, input_measure_fraction());
    return output_bytes(line, (size_t)(end - line)) ? EXIT_DONE : EXIT_FAILED;
}

/* The features of the document being read. */
typedef struct weighted_document {
    char *bytes; /* of all features, in order */
    size_t used, capacity;
    sstore_feature *features; /* `data` is set when the document is complete */
    size_t count, feature_capacity;
} weighted_document;

static bool add_feature(weighted_document *self, const char *data, size_t size, double weight)
{
    if (!grow(&self->bytes, &self->capacity, self->used + size, 1) ||
        !grow(&self->features, &self->feature_capacity, self->count + 1, sizeof *self->features))
        return false;
    if (self->bytes != NULL) /* NULL: all features so far are empty */
        memcpy(self->bytes + self->used, data, size);
    self->used += size;
    self->features[self->count++] = (sstore_feature){.size = size, .weight = weight};
    return true;
}

/* Print the fingerprint of the document, unless it has no lines, and start the next one. */
static int end_document(weighted_document *self, input_source *source, weighted_output *output)
{
    uint64_t fingerprint[DOCUMENT_MAX_WORDS];
    sstore_error error;
    if (self->count == 0)
        return EXIT_DONE;
    size_t offset = 0;
    for (size_t i = 0; i < self->count; i++) {
        self->features[i].data = self->bytes + offset;
        offset += self->features[i].size;
    }
    const sstore_status status = output->hash == SSTORE_FEATURE_HASH_MINHASH
                                     ? sstore_minhash(self->features, self->count, output->fingerprint_bits,
                                                      fingerprint, &error)
                                     : sstore_simhash(self->features, self->count, output->hash,
                                                      output->fingerprint_bits, fingerprint, &error);
    if (status != SSTORE_OK)
        return message_error(&error);
    self->used = self->count = 0;
    return print_numbered(source, fingerprint, output);
}

static int take_line(weighted_document *self, input_source *source, const source_line *line, weighted_output *output)
{
    const char *text = line->text;
    const size_t length = source_line_length(line);
    if (source_line_is_blank(line))
        return end_document(self, source, output);
    const char *tab = memrchr(text, '\t', length);
    if (tab == NULL)
        return input_source_fail(source, line->number, "expected a feature, a tab and a weight, found no tab");
    double weight;
    if (!weight_parse(tab + 1, length - (size_t)(tab + 1 - text), &weight))
        return input_source_fail(source, line->number,
                                 "expected a decimal weight from -2^31 to 2^31 after the last tab");
    if (output->hash == SSTORE_FEATURE_HASH_MINHASH && !(weight >= 0 && weight <= 0x1p24 && weight == floor(weight)))
        return input_source_fail(source, line->number,
                                 "expected a whole number up to 2^24: with --hash minhash, a weight is how often the "
                                 "feature occurs");
    if (!add_feature(self, text, (size_t)(tab - text), weight))
        return input_source_fail(source, line->number, "out of memory");
    return EXIT_DONE;
}

/* A document is lines of "feature<TAB>weight" up to a blank line: print "fingerprint<TAB>number" for each. */
static int fingerprint_weighted(input_source *source, weighted_output *output)
{
    weighted_document features = {0};
    source_line line = {.flushes = true};
    int code = EXIT_DONE;
    while (code == EXIT_DONE && source_line_next(source, &line, &code))
        code = take_line(&features, source, &line, output);
    if (code == EXIT_DONE)
        code = end_document(&features, source, output);
    free(features.bytes);
    free(features.features);
    return code;
}

static int read_weighted(const char *path, weighted_output *output)
{
    input_source source;
    int code = input_source_open(&source, path);
    if (code != EXIT_DONE)
        return code;
    code = fingerprint_weighted(&source, output);
    input_source_report(&source);
    input_source_close(&source);
    return code;
}

int fingerprint_weighted_features(const operands *inputs, uint64_t first_id, const sstore_text_options *options,
                                  header_mode header)
{
    weighted_output output = {.hash = options->hash,
                              .fingerprint_bits = options->fingerprint_bits,
                              .next_id = first_id};
    output_style lines = {.words = options->fingerprint_bits / 64};
    int code = EXIT_DONE;
    output_head(&lines, header, "fingerprint\tid");
    for (int i = 0; i < inputs->count && code == EXIT_DONE; i++)
        code = read_weighted(inputs->items[i], &output);
    progress_end();
    return code;
}
