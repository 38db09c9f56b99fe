/*
 * format_npy.c - reads records from NumPy arrays, which are words behind a header.
 */
#include "input/npy_header.h"

/* Read and take everything before the data. */
static int take_header(input_reader *reader, uint64_t *count_out, word_layout *layout_out)
{
    input_source *source = &reader->source;
    const npy_known known = {&reader->lines, reader->options->columns != NULL, reader->shape->words};
    size_t length = 0;
    int code = input_source_need(source, NPY_PREAMBLE_BYTES);
    if (code != EXIT_DONE)
        return code;
    const uint8_t *preamble = (const uint8_t *)input_source_text(source);
    if (!npy_preamble_parse(preamble, input_source_size(source), &length, &source->fault))
        return EXIT_FAILED;
    input_source_take(source, npy_preamble_bytes(preamble));
    code = input_source_need(source, length + INPUT_SAMPLE_BYTES);
    if (code != EXIT_DONE)
        return code;
    if (input_source_size(source) < length)
        return byte_stream_fail(&source->fault, "the file ends within its header");
    if (!npy_header_parse(input_source_text(source), length, input_source_size(source), &known, count_out, layout_out,
                          &source->fault))
        return EXIT_FAILED;
    input_source_take(source, length);
    return EXIT_DONE;
}

int format_npy_read(input_reader *reader)
{
    word_layout layout = {0};
    uint64_t count = 0;
    int code = take_header(reader, &count, &layout);
    return code != EXIT_DONE ? code : word_layout_read(reader, &layout, count);
}

void format_npy_expect(const input_sample *from, const input_options *options, input_expectation *expected)
{
    const uint8_t *bytes = (const uint8_t *)from->bytes;
    const npy_known known = {&options->lines, options->columns != NULL, expected->words};
    size_t length = 0;
    uint64_t count;
    word_layout layout;
    line_fault ignored;
    expected->assumes_words = expected->words == 0;
    if (!npy_preamble_parse(bytes, from->size, &length, &ignored) || from->size < npy_preamble_bytes(bytes) + length ||
        !npy_header_parse(from->bytes + npy_preamble_bytes(bytes), length, from->size - npy_preamble_bytes(bytes),
                          &known, &count, &layout, &ignored))
        return;
    word_layout_expect(from, npy_preamble_bytes(bytes) + length, &layout, expected);
}
