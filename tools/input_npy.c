/*
 * input_npy.c - reading records from a NumPy array file (.npy, versions 1.0, 2.0 and 3.0).
 *
 * The header is a Python dict literal of three known keys. It is read by hand: the file is nobody's promise, so every
 * size is checked before it is used.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "input_formats.h"

/* NumPy itself refuses headers above 10,000 bytes; ours describe one small shape. */
#define MAX_HEADER_BYTES 65536u
#define MAX_DIMENSIONS 8
/* Magic, version and the header's length, which takes two bytes less in version 1.0; but then the header follows. */
#define PREAMBLE_BYTES 12

typedef enum npy_type { NPY_LITTLE_WORDS, NPY_BIG_WORDS, NPY_BYTES } npy_type;

typedef struct npy_header {
    bool has_type, has_order, has_shape;
    npy_type type;
    bool column_major;
    size_t dimensions;
    uint64_t shape[MAX_DIMENSIONS];
} npy_header;

/* The rest of the header's text, and what is wrong with it. */
typedef struct npy_parser {
    const char *at, *end;
    line_fault *fault;
} npy_parser;

static bool fail(line_fault *fault, const char *reason)
{
    snprintf(fault->reason, sizeof fault->reason, "%s", reason);
    return false;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_spaces(npy_parser *parser)
{
    while (parser->at < parser->end && is_space(*parser->at))
        parser->at++;
}

/* Take `c` if it comes next, spaces aside. */
static bool take(npy_parser *parser, char c)
{
    skip_spaces(parser);
    if (parser->at == parser->end || *parser->at != c)
        return false;
    parser->at++;
    return true;
}

static bool take_word(npy_parser *parser, const char *word)
{
    size_t length = strlen(word);
    skip_spaces(parser);
    if ((size_t)(parser->end - parser->at) < length || memcmp(parser->at, word, length) != 0)
        return false;
    parser->at += length;
    return true;
}

/* Take a quoted string without escapes, and compare it later by string_is(). */
static bool take_string(npy_parser *parser, const char **text_out, size_t *length_out)
{
    skip_spaces(parser);
    if (parser->at == parser->end || (*parser->at != '\'' && *parser->at != '"'))
        return false;
    char quote = *parser->at++;
    const char *stop = memchr(parser->at, quote, (size_t)(parser->end - parser->at));
    if (stop == NULL)
        return false;
    *text_out = parser->at;
    *length_out = (size_t)(stop - parser->at);
    parser->at = stop + 1;
    return true;
}

static bool string_is(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && memcmp(text, word, length) == 0;
}

static bool parse_type(npy_parser *parser, npy_header *header)
{
    /* Signed words are two's complement, in which whoever has no unsigned type holds fingerprints. */
    static const struct {
        const char *name;
        npy_type type;
    } types[] = {{"<u8", NPY_LITTLE_WORDS},
                 {"<i8", NPY_LITTLE_WORDS},
                 {">u8", NPY_BIG_WORDS},
                 {">i8", NPY_BIG_WORDS},
                 {"|u1", NPY_BYTES}};
    const char *text = parser->at;
    size_t length = 0;
    if (!take_string(parser, &text, &length))
        length = (size_t)(parser->end - text);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (string_is(text, length, types[i].name)) {
            header->type = types[i].type;
            return true;
        }
    }
    return line_fault_found(parser->fault, "an array of type <u8, >u8, <i8, >i8 or |u1", text, length);
}

static bool parse_order(npy_parser *parser, npy_header *header)
{
    header->column_major = take_word(parser, "True");
    return header->column_major || take_word(parser, "False") ||
           fail(parser->fault, "fortran_order is neither True nor False");
}

static bool parse_length(npy_parser *parser, uint64_t *length_out)
{
    uint64_t length = 0;
    skip_spaces(parser);
    const char *begin = parser->at;
    for (; parser->at < parser->end && *parser->at >= '0' && *parser->at <= '9'; parser->at++) {
        if (__builtin_mul_overflow(length, 10u, &length) ||
            __builtin_add_overflow(length, (uint64_t)(*parser->at - '0'), &length))
            return fail(parser->fault, "the shape has a number that is too large");
    }
    *length_out = length;
    return parser->at > begin || fail(parser->fault, "the shape is not a tuple of numbers");
}

static bool parse_shape(npy_parser *parser, npy_header *header)
{
    header->dimensions = 0;
    if (!take(parser, '('))
        return fail(parser->fault, "the shape is not a tuple of numbers");
    while (!take(parser, ')')) {
        if (header->dimensions == MAX_DIMENSIONS)
            return fail(parser->fault, "the shape has too many dimensions");
        if (!parse_length(parser, &header->shape[header->dimensions]))
            return false;
        header->dimensions++;
        if (!take(parser, ',') && (parser->at == parser->end || *parser->at != ')'))
            return fail(parser->fault, "the shape is not a tuple of numbers");
    }
    return true;
}

/* Read one "key: value". */
static bool parse_entry(npy_parser *parser, npy_header *header)
{
    const char *key;
    size_t length;
    if (!take_string(parser, &key, &length) || !take(parser, ':'))
        return fail(parser->fault, "the header is not a dict of 'descr', 'fortran_order' and 'shape'");
    bool *seen = NULL;
    bool (*parse)(npy_parser *, npy_header *) = NULL;
    if (string_is(key, length, "descr")) {
        seen = &header->has_type;
        parse = parse_type;
    } else if (string_is(key, length, "fortran_order")) {
        seen = &header->has_order;
        parse = parse_order;
    } else if (string_is(key, length, "shape")) {
        seen = &header->has_shape;
        parse = parse_shape;
    }
    if (seen == NULL || *seen)
        return fail(parser->fault, "the header has an unknown or repeated key");
    *seen = true;
    return parse(parser, header);
}

static bool parse_header(npy_parser *parser, npy_header *header)
{
    static const char no_dict[] = "the header is not a dict of 'descr', 'fortran_order' and 'shape'";
    if (!take(parser, '{'))
        return fail(parser->fault, no_dict);
    while (!take(parser, '}')) {
        if (!parse_entry(parser, header))
            return false;
        if (!take(parser, ',') && (parser->at == parser->end || *parser->at != '}'))
            return fail(parser->fault, no_dict);
    }
    skip_spaces(parser);
    if (parser->at < parser->end)
        return fail(parser->fault, "the header goes on after its dict");
    return (header->has_type && header->has_order && header->has_shape) || fail(parser->fault, no_dict);
}

/* Set *count_out to the number of records in the array and *layout_out to how they lie, if it is a shape of records. */
static bool check_shape(const npy_header *header, uint64_t *count_out, word_layout *layout_out, line_fault *fault)
{
    bool is_table = header->dimensions == 2;
    *count_out = header->shape[0];
    /* Eight bytes, the first one most significant, are a big-endian word. */
    *layout_out = (word_layout){.big_endian = header->type != NPY_LITTLE_WORDS,
                                .has_ids = is_table && header->type != NPY_BYTES};
    if (header->type == NPY_BYTES && (!is_table || header->shape[1] != 8))
        return fail(fault, "expected bytes of shape (n, 8)");
    if (header->type != NPY_BYTES && header->dimensions != 1 && (!is_table || header->shape[1] != 2))
        return fail(fault, "expected an array of shape (n,), or of shape (n, 2) for fingerprints and ids");
    if (is_table && header->column_major)
        return fail(fault, "expected fortran_order False (in Python: numpy.ascontiguousarray(a))");
    return header->shape[0] <= UINT64_MAX / 16 || fail(fault, "the shape has a number that is too large");
}

/* Check the magic and the version at the input's beginning, and say how long the header after them is. */
static bool parse_preamble(const uint8_t *bytes, size_t available, size_t *header_bytes_out, line_fault *fault)
{
    if (available < 6 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return fail(fault, "this is not a .npy file");
    if (available < PREAMBLE_BYTES)
        return fail(fault, "the file ends within its header");
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
        return fail(fault, "expected version 1.0, 2.0 or 3.0 of the .npy format");
    size_t length = bytes[8] | (size_t)bytes[9] << 8;
    if (bytes[6] > 1)
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    *header_bytes_out = length;
    return length <= MAX_HEADER_BYTES || fail(fault, "the header is too long for an array of fingerprints");
}

static bool parse_text(const char *text, size_t length, uint64_t *count_out, word_layout *layout_out,
                       line_fault *fault)
{
    npy_header header = {0};
    npy_parser parser = {.at = text, .end = text + length, .fault = fault};
    return parse_header(&parser, &header) && check_shape(&header, count_out, layout_out, fault);
}

/* Read and take all that comes before the data. */
static int take_header(input_source *source, uint64_t *count_out, word_layout *layout_out)
{
    line_fault fault;
    size_t length = 0;
    int code = input_source_need(source, PREAMBLE_BYTES);
    if (code != EXIT_DONE)
        return code;
    const uint8_t *preamble = (const uint8_t *)source->buffer + source->begin;
    if (!parse_preamble(preamble, source->end - source->begin, &length, &fault))
        return input_source_fail(source, "%s", fault.reason);
    input_source_take(source, preamble[6] == 1 ? 10 : 12);
    code = input_source_need(source, length);
    if (code != EXIT_DONE)
        return code;
    const char *text = source->buffer + source->begin;
    bool whole = source->end - source->begin >= length || fail(&fault, "the file ends within its header");
    if (!whole || !parse_text(text, length, count_out, layout_out, &fault))
        return input_source_fail(source, "%s", fault.reason);
    input_source_take(source, length);
    return EXIT_DONE;
}

int input_read_npy(input_reader *reader)
{
    word_layout layout = {0};
    uint64_t count = 0;
    int code = take_header(&reader->source, &count, &layout);
    return code != EXIT_DONE ? code : input_read_words(reader, &layout, count);
}
