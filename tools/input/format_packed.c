/*
 * format_packed.c - reads packed words: fingerprints alone (.u64), and pairs of fingerprint and id (.rec), which may
 * have a header.
 */
#include <endian.h>
#include <inttypes.h>
#include <string.h>

#include "input/npy_header.h"
#include "output/records.h"

/* The words of fingerprints in a format that does not tell it. */
static uint32_t assumed_words(uint32_t known)
{
    return known > 0 ? known : 1;
}

/* Place fingerprint and id as --columns says. */
static int choose_columns(input_reader *reader, word_layout *layout)
{
    return reader->options->columns == NULL ||
                   word_layout_choose(layout, &reader->lines, layout->words, &reader->source.fault)
               ? EXIT_DONE
               : EXIT_FAILED;
}

/* Refuse an array of NumPy, whose header would be words. */
static int refuse_array(input_reader *reader)
{
    input_source *source = &reader->source;
    const int code = input_source_need(source, NPY_MAGIC_BYTES);
    if (code == EXIT_DONE && input_source_size(source) >= NPY_MAGIC_BYTES &&
        memcmp(input_source_text(source), NPY_MAGIC, NPY_MAGIC_BYTES) == 0)
        return byte_stream_fail(&source->fault, "this is a NumPy array, which --format npy reads");
    return code;
}

int format_u64_read(input_reader *reader)
{
    const uint32_t words = reader->lines.are_ids ? 1 : assumed_words(reader->shape->words);
    word_layout layout = word_layout_make(words, false);
    int code = refuse_array(reader);
    if (code == EXIT_DONE)
        code = choose_columns(reader, &layout);
    return code != EXIT_DONE ? code : word_layout_read(reader, &layout, UINT64_MAX);
}

/* What the header of pairs says (output/records.h). */
typedef struct pairs_header {
    uint32_t words;
    size_t recipe_bytes, bytes; /* of all */
} pairs_header;

/* Is there a header of pairs? */
static bool has_pairs_header(const char *bytes, size_t size)
{
    return size >= RECORDS_HEADER_BYTES && memcmp(bytes, RECORDS_MAGIC, RECORDS_MAGIC_BYTES) == 0;
}

static bool parse_pairs_header(const char *bytes, pairs_header *out, line_fault *fault)
{
    uint32_t length, bits;
    memcpy(&length, bytes + RECORDS_MAGIC_BYTES, sizeof length);
    memcpy(&bits, bytes + RECORDS_MAGIC_BYTES + sizeof length, sizeof bits);
    length = le32toh(length);
    bits = le32toh(bits);
    if (length > RECORDS_MAX_RECIPE)
        return line_fault_set(fault, "the recipe in the header is longer than %u bytes", RECORDS_MAX_RECIPE);
    if (bits % 64 != 0 || bits / 64 > SSTORE_MAX_WORDS)
        return line_fault_set(fault,
                              "the header says that fingerprints have %" PRIu32
                              " bits; this sstore reads multiples of 64 up to %u",
                              bits, 64 * SSTORE_MAX_WORDS);
    out->words = bits == 0 ? 1 : bits / 64;
    out->recipe_bytes = length;
    out->bytes = RECORDS_HEADER_LENGTH(out->words, length);
    return true;
}

/* Take the header of pairs, if there is one. */
static int take_pairs_header(input_reader *reader, word_layout *layout)
{
    input_source *source = &reader->source;
    pairs_header header = {.words = 1};
    int code = input_source_need(source, RECORDS_HEADER_BYTES);
    const char *bytes = input_source_text(source);
    if (code != EXIT_DONE || !has_pairs_header(bytes, input_source_size(source)))
        return code;
    if (!parse_pairs_header(bytes, &header, &source->fault))
        return EXIT_FAILED;
    code = input_source_need(source, header.bytes);
    if (code != EXIT_DONE)
        return code;
    if (input_source_size(source) < header.bytes)
        return byte_stream_fail(&source->fault, "the file ends within its header");
    *layout = word_layout_make(header.words, true);
    layout->has_header = true;
    if (header.recipe_bytes > 0)
        code = input_take_recipe(reader, input_source_text(source) + RECORDS_HEADER_BYTES, header.recipe_bytes);
    input_source_take(source, header.bytes);
    return code;
}

int format_rec_read(input_reader *reader)
{
    word_layout layout = word_layout_make(assumed_words(reader->shape->words), true);
    int code = refuse_array(reader);
    if (code == EXIT_DONE)
        code = take_pairs_header(reader, &layout);
    if (code == EXIT_DONE)
        code = choose_columns(reader, &layout);
    return code != EXIT_DONE ? code : word_layout_read(reader, &layout, UINT64_MAX);
}

void format_u64_expect(const input_sample *from, const input_options *options, input_expectation *expected)
{
    (void)options;
    expected->assumes_words = expected->words == 0;
    const word_layout layout = word_layout_make(assumed_words(expected->words), false);
    word_layout_expect(from, 0, &layout, expected);
}

void format_rec_expect(const input_sample *from, const input_options *options, input_expectation *expected)
{
    line_fault ignored;
    pairs_header header = {.words = assumed_words(expected->words)};
    expected->assumes_words = expected->words == 0 && !has_pairs_header(from->bytes, from->size);
    if (has_pairs_header(from->bytes, from->size) && !parse_pairs_header(from->bytes, &header, &ignored))
        return;
    word_layout layout = word_layout_make(header.words, true);
    if (options->columns == NULL || word_layout_choose(&layout, &options->lines, layout.words, &ignored))
        word_layout_expect(from, header.bytes, &layout, expected);
}
