/*
 * input_formats.c - reading records from text, one a line; from packed 64-bit words: .u64 and .rec files; and from
 * NumPy arrays, which are words behind a header.
 */
#include "input/input_formats.h"

#include <endian.h>
#include <inttypes.h>
#include <string.h>

#include "input/digits.h"

/* ----- text ----- */

static int add_record(input_reader *reader, const line_record *record)
{
    record_batch *batch = reader->batch;
    batch->fingerprints[batch->count] = record->fingerprint;
    batch->ids[batch->count] = record->id;
    batch->count++;
    return batch->count < reader->options->batch_records ? EXIT_DONE : input_deliver(reader);
}

static int take_line(input_reader *reader, const source_line *line)
{
    line_record record;
    line_fault fault;
    if (!line_parse(&reader->options->lines, line->text, source_line_length(line), &record, &fault))
        return input_source_fail_line(&reader->source, line->number, fault.reason);
    if (input_ids_agree(reader->ids, record.has_id))
        return add_record(reader, &record);
    return input_source_fail_line(
        &reader->source, line->number,
        record.has_id ? "expected no id, as in the lines before, found one (--columns fingerprint,- skips ids)"
                      : "expected an id, as in the lines before, found none (--columns fingerprint,- skips ids)");
}

/* Take lines of the common shapes for as long as they come: hundreds at a time, and without the general parser. */
static int take_runs(input_reader *reader, source_line *line)
{
    const line_format *format = &reader->options->lines;
    input_source *source = &reader->source;
    int code = EXIT_DONE;
    input_source_take(source, line->taken);
    line->taken = 0;
    while (code == EXIT_DONE && *reader->ids != INPUT_IDS_UNKNOWN) {
        record_batch *batch = reader->batch;
        size_t room = reader->options->batch_records - batch->count;
        line_run run = line_run_parse(format, *reader->ids == INPUT_IDS_PRESENT, source->buffer + source->begin,
                                      source->end - source->begin, batch->fingerprints + batch->count,
                                      batch->ids + batch->count, room);
        if (run.count == 0)
            break;
        input_source_take(source, run.bytes);
        line->number += run.count;
        batch->count += run.count;
        if (run.count == room)
            code = input_deliver(reader);
    }
    return code;
}

static int read_text(input_reader *reader)
{
    source_line line = {0};
    int code = take_runs(reader, &line);
    while (code == EXIT_DONE && source_line_next(&reader->source, &line, &code)) {
        code = take_line(reader, &line);
        if (code == EXIT_DONE)
            code = take_runs(reader, &line);
    }
    return code;
}

/* ----- words ----- */

/* How records lie in 64-bit words. */
typedef struct word_layout {
    bool big_endian;
    bool has_ids; /* a record is two words, its fingerprint and its id; otherwise one */
} word_layout;

static size_t record_bytes(const word_layout *layout)
{
    return layout->has_ids ? 16 : 8;
}

/* The word of a record that is read as its fingerprint. */
static size_t fingerprint_word(const input_reader *reader, const word_layout *layout)
{
    return layout->has_ids && reader->options->lines.are_ids ? 1 : 0;
}

/* Every `step`-th word from `from` on. */
static void copy_words(const char *from, size_t step, bool big_endian, uint64_t *to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t word;
        memcpy(&word, from + 8 * step * i, sizeof word);
        to[i] = big_endian ? be64toh(word) : le64toh(word);
    }
}

/* Move at most `count` records from the source to the batch. Returns how many they were. */
static size_t take_records(input_reader *reader, const word_layout *layout, size_t count)
{
    const char *from = reader->source.buffer + reader->source.begin;
    record_batch *batch = reader->batch;
    size_t room = reader->options->batch_records - batch->count, step = record_bytes(layout) / 8;
    if (count > room)
        count = room;
    copy_words(from + 8 * fingerprint_word(reader, layout), step, layout->big_endian,
               batch->fingerprints + batch->count, count);
    if (*reader->ids == INPUT_IDS_PRESENT)
        copy_words(from + 8, step, layout->big_endian, batch->ids + batch->count, count);
    batch->count += count;
    input_source_take(&reader->source, 8 * step * count);
    return count;
}

/* Check that the input ends where it should. `left` is the number of records that are still due, or UINT64_MAX. */
static int check_end(input_source *source, const word_layout *layout, uint64_t left)
{
    size_t odd = source->end - source->begin;
    const char *offset = input_source_offset_name(source);
    if (left == 0 && odd > 0)
        return input_source_fail(source, "expected the end of the file at %s %" PRIu64 ", found more bytes", offset,
                                 source->offset);
    if (left == UINT64_MAX && odd > 0)
        return input_source_fail(source, "expected %s, found %zu at %s %" PRIu64 ", then the end of the file",
                                 layout->has_ids ? "16 bytes a record" : "8 bytes a fingerprint", odd, offset,
                                 source->offset);
    if (left != 0 && left != UINT64_MAX)
        return input_source_fail(source, "the file ends at %s %" PRIu64 ", %" PRIu64 " bytes too early", offset,
                                 source->offset + odd, record_bytes(layout) * left - odd);
    return EXIT_DONE;
}

/* Read the rest of the source as words: exactly `count` records, or any number if UINT64_MAX. */
static int read_words(input_reader *reader, const word_layout *layout, uint64_t count)
{
    input_source *source = &reader->source;
    const bool has_ids = layout->has_ids && !reader->options->lines.ignore_ids;
    uint64_t left = count;
    int code = EXIT_DONE;
    if (!input_ids_agree(reader->ids, has_ids))
        return input_source_fail(source, "%s; give inputs that all have ids, or none",
                                 has_ids ? "this format holds ids, but the inputs before have none"
                                         : "this format holds no ids, but the inputs before have them");
    while (code == EXIT_DONE && left > 0) {
        code = input_source_need(source, record_bytes(layout));
        size_t available = (source->end - source->begin) / record_bytes(layout);
        if (code != EXIT_DONE || available == 0)
            break;
        size_t taken = take_records(reader, layout, left < available ? (size_t)left : available);
        if (left != UINT64_MAX)
            left -= taken;
        if (reader->batch->count == reader->options->batch_records)
            code = input_deliver(reader);
    }
    if (code == EXIT_DONE && left == 0)
        code = input_source_need(source, 1);
    return code != EXIT_DONE ? code : check_end(source, layout, left);
}

/* ----- NumPy arrays (.npy, versions 1.0, 2.0 and 3.0) ----- */

/*
 * The header is a Python dict literal of three known keys. It is parsed by hand. The file is not trusted: every size is
 * checked before it is used.
 */

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
    /* Signed words are two's complement: programs without unsigned types store fingerprints in them. */
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
           line_fault_set(parser->fault, "fortran_order is neither True nor False");
}

static bool parse_length(npy_parser *parser, uint64_t *length_out)
{
    bool fits;
    skip_spaces(parser);
    const size_t count = digits_read_any_decimal(parser->at, (size_t)(parser->end - parser->at), length_out, &fits);
    parser->at += count;
    if (!fits)
        return line_fault_set(parser->fault, "the shape has a number that is too large");
    return count > 0 || line_fault_set(parser->fault, "the shape is not a tuple of numbers");
}

static bool parse_shape(npy_parser *parser, npy_header *header)
{
    header->dimensions = 0;
    if (!take(parser, '('))
        return line_fault_set(parser->fault, "the shape is not a tuple of numbers");
    while (!take(parser, ')')) {
        if (header->dimensions == MAX_DIMENSIONS)
            return line_fault_set(parser->fault, "the shape has too many dimensions");
        if (!parse_length(parser, &header->shape[header->dimensions]))
            return false;
        header->dimensions++;
        if (!take(parser, ',') && (parser->at == parser->end || *parser->at != ')'))
            return line_fault_set(parser->fault, "the shape is not a tuple of numbers");
    }
    return true;
}

/* Read one "key: value". */
static bool parse_entry(npy_parser *parser, npy_header *header)
{
    const char *key;
    size_t length;
    if (!take_string(parser, &key, &length) || !take(parser, ':'))
        return line_fault_set(parser->fault, "the header is not a dict of 'descr', 'fortran_order' and 'shape'");
    if (string_is(key, length, "descr") && !header->has_type) {
        header->has_type = true;
        return parse_type(parser, header);
    }
    if (string_is(key, length, "fortran_order") && !header->has_order) {
        header->has_order = true;
        return parse_order(parser, header);
    }
    if (string_is(key, length, "shape") && !header->has_shape) {
        header->has_shape = true;
        return parse_shape(parser, header);
    }
    return line_fault_set(parser->fault, "the header has an unknown or repeated key");
}

static bool parse_header(npy_parser *parser, npy_header *header)
{
    static const char no_dict[] = "the header is not a dict of 'descr', 'fortran_order' and 'shape'";
    if (!take(parser, '{'))
        return line_fault_set(parser->fault, no_dict);
    while (!take(parser, '}')) {
        if (!parse_entry(parser, header))
            return false;
        if (!take(parser, ',') && (parser->at == parser->end || *parser->at != '}'))
            return line_fault_set(parser->fault, no_dict);
    }
    skip_spaces(parser);
    if (parser->at < parser->end)
        return line_fault_set(parser->fault, "the header goes on after its dict");
    return (header->has_type && header->has_order && header->has_shape) || line_fault_set(parser->fault, no_dict);
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
        return line_fault_set(fault, "expected bytes of shape (n, 8)");
    if (header->type != NPY_BYTES && header->dimensions != 1 && (!is_table || header->shape[1] != 2))
        return line_fault_set(fault, "expected an array of shape (n,), or of shape (n, 2) for fingerprints and ids");
    if (is_table && header->column_major)
        return line_fault_set(fault, "expected fortran_order False (in Python: numpy.ascontiguousarray(a))");
    return header->shape[0] <= UINT64_MAX / 16 || line_fault_set(fault, "the shape has a number that is too large");
}

/* Check the magic and the version at the input's beginning, and say how long the header after them is. */
static bool parse_preamble(const uint8_t *bytes, size_t available, size_t *header_bytes_out, line_fault *fault)
{
    if (available < 6 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return line_fault_set(fault, "this is not a .npy file");
    if (available < PREAMBLE_BYTES)
        return line_fault_set(fault, "the file ends within its header");
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
        return line_fault_set(fault, "expected version 1.0, 2.0 or 3.0 of the .npy format");
    size_t length = bytes[8] | (size_t)bytes[9] << 8;
    if (bytes[6] > 1)
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    *header_bytes_out = length;
    return length <= MAX_HEADER_BYTES || line_fault_set(fault, "the header is too long for an array of fingerprints");
}

static bool parse_text(const char *text, size_t length, uint64_t *count_out, word_layout *layout_out, line_fault *fault)
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
    bool whole = source->end - source->begin >= length || line_fault_set(&fault, "the file ends within its header");
    if (!whole || !parse_text(text, length, count_out, layout_out, &fault))
        return input_source_fail(source, "%s", fault.reason);
    input_source_take(source, length);
    return EXIT_DONE;
}

static int read_npy(input_reader *reader)
{
    word_layout layout = {0};
    uint64_t count = 0;
    int code = take_header(&reader->source, &count, &layout);
    return code != EXIT_DONE ? code : read_words(reader, &layout, count);
}

int input_read_format(input_reader *reader, input_format format)
{
    switch (format) {
    case INPUT_U64:
    case INPUT_REC: return read_words(reader, &(word_layout){.has_ids = format == INPUT_REC}, UINT64_MAX);
    case INPUT_NPY: return read_npy(reader);
    default: return read_text(reader);
    }
}
