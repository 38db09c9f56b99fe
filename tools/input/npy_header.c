/*
 * npy_header.c - parses the header, which is a Python dict literal of three known keys, by hand. The file is not
 * trusted: every size is checked before it is used.
 */
#include "input/npy_header.h"

#include <inttypes.h>
#include <string.h>

#include "input/digits.h"

/* NumPy itself refuses headers above 10,000 bytes. Only a small shape is accepted here. */
#define MAX_HEADER_BYTES 65536u
#define MAX_DIMENSIONS 8
#define NO_DICT "the header is not a dict of 'descr', 'fortran_order' and 'shape'"
#define NO_TUPLE "the shape is not a tuple of numbers"

typedef struct npy_type {
    const char *name;
    layout_part part;
    bool big_endian;
} npy_type;

typedef struct npy_header {
    unsigned keys; /* that are set: a bit for each of the table in parse_entry() */
    npy_type type;
    bool column_major;
    size_t dimensions;
    uint64_t shape[MAX_DIMENSIONS];
} npy_header;

/* The rest of the header's text, and the fault to set. */
typedef struct npy_parser {
    const char *at, *end;
    line_fault *fault;
} npy_parser;

static void skip_spaces(npy_parser *parser)
{
    while (parser->at < parser->end && memchr(" \t\n\r", *parser->at, 4) != NULL)
        parser->at++;
}

/* Take `word` if it comes next, after spaces. */
static bool take(npy_parser *parser, const char *word)
{
    size_t length = strlen(word);
    skip_spaces(parser);
    if ((size_t)(parser->end - parser->at) < length || memcmp(parser->at, word, length) != 0)
        return false;
    parser->at += length;
    return true;
}

/* Take a quoted string without escapes. */
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
    /* Signed numbers are two's complement: programs without unsigned types store fingerprints in them. */
    static const npy_type types[] = {{"<u8", PART_WORD, false}, {"<i8", PART_WORD, false}, {">u8", PART_WORD, true},
                                     {">i8", PART_WORD, true},  {"<u4", PART_HALF, false}, {"<i4", PART_HALF, false},
                                     {">u4", PART_HALF, true},  {">i4", PART_HALF, true},  {"|u1", PART_BYTE, true},
                                     {"|i1", PART_BYTE, true},  {"|b1", PART_BIT, true}};
    const char *text = parser->at;
    size_t length = 0;
    if (!take_string(parser, &text, &length))
        length = (size_t)(parser->end - text);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (string_is(text, length, types[i].name)) {
            header->type = types[i];
            return true;
        }
    }
    return line_fault_found(parser->fault,
                            "an array of integers of 64 or 32 bits, of bytes or of booleans, such as <u8", text,
                            length);
}

static bool parse_order(npy_parser *parser, npy_header *header)
{
    header->column_major = take(parser, "True");
    return header->column_major || take(parser, "False") ||
           line_fault_set(parser->fault, "fortran_order is neither True nor False");
}

/* After an item of a list: take a comma, or see that `end` follows. */
static bool item_ends(npy_parser *parser, char end)
{
    return take(parser, ",") || (parser->at < parser->end && *parser->at == end);
}

static bool parse_shape(npy_parser *parser, npy_header *header)
{
    header->dimensions = 0;
    if (!take(parser, "("))
        return line_fault_set(parser->fault, NO_TUPLE);
    while (!take(parser, ")")) {
        if (header->dimensions == MAX_DIMENSIONS)
            return line_fault_set(parser->fault, "the shape has too many dimensions");
        bool fits;
        const size_t count = digits_read_any_decimal(parser->at, (size_t)(parser->end - parser->at),
                                                     &header->shape[header->dimensions++], &fits);
        parser->at += count;
        if (!fits)
            return line_fault_set(parser->fault, "the shape has a number that is too large");
        if (count == 0 || !item_ends(parser, ')'))
            return line_fault_set(parser->fault, NO_TUPLE);
    }
    return true;
}

/* Read one "key: value". */
static bool parse_entry(npy_parser *parser, npy_header *header)
{
    static const struct {
        const char *name;
        bool (*parse)(npy_parser *parser, npy_header *header);
    } keys[] = {{"descr", parse_type}, {"fortran_order", parse_order}, {"shape", parse_shape}};
    const char *key;
    size_t length;
    if (!take_string(parser, &key, &length) || !take(parser, ":"))
        return line_fault_set(parser->fault, NO_DICT);
    for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (string_is(key, length, keys[i].name) && (header->keys & 1u << i) == 0) {
            header->keys |= 1u << i;
            return keys[i].parse(parser, header);
        }
    }
    return line_fault_set(parser->fault, "the header has an unknown or repeated key");
}

static bool parse_header(npy_parser *parser, npy_header *header)
{
    if (!take(parser, "{"))
        return line_fault_set(parser->fault, NO_DICT);
    while (!take(parser, "}")) {
        if (!parse_entry(parser, header))
            return false;
        if (!item_ends(parser, '}'))
            return line_fault_set(parser->fault, NO_DICT);
    }
    skip_spaces(parser);
    if (parser->at < parser->end)
        return line_fault_set(parser->fault, "the header goes on after its dict");
    return header->keys == 7 || line_fault_set(parser->fault, NO_DICT);
}

#define NO_RECORDS "expected an array of shape (n,), or of shape (n, 2) for fingerprints and ids"

/* Each row of a table of words is a fingerprint, or a fingerprint and an id: as the known words or --columns say. */
static bool check_word_columns(uint64_t columns, const npy_known *known, word_layout *layout, line_fault *fault)
{
    uint32_t words = known->words;
    if (columns < 2 || columns > SSTORE_MAX_WORDS + 1)
        return line_fault_set(fault, NO_RECORDS);
    if (words == 0 && known->has_columns && known->lines->columns[0] == LINE_COLUMN_FINGERPRINT)
        words = (uint32_t)columns - (known->lines->column_count > 1 && known->lines->columns[1] == LINE_COLUMN_ID);
    if (words == 0 && columns <= SSTORE_MAX_WORDS)
        return line_fault_set(fault,
                              "an array of shape (n, %" PRIu64 ") has fingerprints of %" PRIu64 " bits, or of %" PRIu64
                              " bits and ids: --bits %" PRIu64 " or --bits %" PRIu64
                              " says which, or --columns fingerprint or fingerprint,id",
                              columns, 64 * columns, 64 * (columns - 1), 64 * columns, 64 * (columns - 1));
    if (words == 0)
        words = (uint32_t)columns - 1;
    if (columns != words && columns != words + 1)
        return line_fault_set(fault,
                              "expected fingerprints of %" PRIu32 " bits in an array of %" PRIu32
                              " columns of words, or of %" PRIu32 " with ids, found %" PRIu64 "; " LINE_SEE_BITS,
                              64 * words, words, words + 1, columns);
    layout->words = words;
    layout->has_ids = columns != words;
    return true;
}

/* Each row of a table of bytes or bits is a fingerprint: big-endian words, the first one of which is the most
 * significant. */
static bool check_small_columns(uint64_t columns, const npy_known *known, word_layout *layout, line_fault *fault)
{
    const uint64_t bits = layout->part == PART_BYTE ? 8 * columns : columns;
    if (columns == 0 || columns > 64 * SSTORE_MAX_WORDS || bits > 64 * SSTORE_MAX_WORDS ||
        (bits % 64 != 0 && !known->lines->pads))
        return line_fault_set(
            fault,
            layout->part == PART_BYTE
                ? "expected bytes of shape (n, 8), or (n, 8 * w) for fingerprints of w words of 64 bits; --pad fills "
                  "up "
                  "other sizes up to 128"
                : "expected booleans of shape (n, 64), or (n, 64 * w) for fingerprints of w words of 64 bits; --pad "
                  "fills up other sizes up to 1024");
    layout->words = (uint32_t)(bits + 63) / 64;
    if (layout->part == PART_BYTE && bits % 64 == 0)
        layout->part = PART_WORD; /* which are read faster */
    return true;
}

/* Are the rows of bytes single bits? So they are if no byte is more, unless the known words say otherwise. `bytes` are
 * the first of the data. */
static void find_bits(const npy_header *header, const npy_known *known, const char *bytes, size_t size,
                      word_layout *layout)
{
    const uint64_t columns = layout->columns;
    const bool may_be = header->type.part == PART_BYTE && columns >= 64 && columns <= 64 * SSTORE_MAX_WORDS &&
                        (columns % 64 == 0 || known->lines->pads);
    const uint32_t as_bits = (uint32_t)(columns + 63) / 64, as_bytes = (uint32_t)(columns + 7) / 8;
    if (may_be && known->words != as_bytes && (known->words == 0 || known->words == as_bits) && size > 0 &&
        words_are_bits(bytes, size))
        layout->part = PART_BIT;
}

/* If the array has the shape of records, set their number and layout. `bytes`: the first of the data. */
static bool check_shape(const npy_header *header, const npy_known *known, const char *bytes, size_t size,
                        uint64_t *count_out, word_layout *layout_out, line_fault *fault)
{
    const bool is_table = header->dimensions == 2, are_words = header->type.part == PART_WORD;
    const bool are_small = header->type.part == PART_BYTE || header->type.part == PART_BIT;
    const uint64_t columns = is_table ? header->shape[1] : are_small ? 0 : 1;
    *count_out = header->shape[0];
    *layout_out = (word_layout){.words = 1,
                                .big_endian = header->type.big_endian,
                                .part = header->type.part,
                                .columns = columns <= 64 * SSTORE_MAX_WORDS ? (uint32_t)columns : UINT32_MAX};
    if (!are_small && header->dimensions != 1 && !is_table)
        return line_fault_set(fault, NO_RECORDS);
    if (header->type.part == PART_HALF && is_table)
        return line_fault_set(fault, "an array of 32-bit numbers has one for each fingerprint: expected shape (n,)");
    find_bits(header, known, bytes, header->shape[0] > 0 ? size : 0, layout_out);
    if (are_small && !check_small_columns(columns, known, layout_out, fault))
        return false;
    if (is_table && header->column_major)
        return line_fault_set(fault, "expected fortran_order False (in Python: numpy.ascontiguousarray(a))");
    if (are_words && is_table && !check_word_columns(columns, known, layout_out, fault))
        return false;
    const size_t row = word_layout_bytes(layout_out);
    return header->shape[0] <= UINT64_MAX / (row > 16 ? row : 16) ||
           line_fault_set(fault, "the shape has a number that is too large");
}

bool npy_preamble_parse(const uint8_t *bytes, size_t available, size_t *header_bytes_out, line_fault *fault)
{
    if (available < 6 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return line_fault_set(fault, available == 0 ? "expected a .npy file, but the input is empty"
                                                    : "this is not a .npy file");
    if (available < NPY_PREAMBLE_BYTES)
        return line_fault_set(fault, "the file ends within its header");
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
        return line_fault_set(fault, "expected version 1.0, 2.0 or 3.0 of the .npy format");
    size_t length = bytes[8] | (size_t)bytes[9] << 8;
    if (bytes[6] > 1)
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    *header_bytes_out = length;
    return length <= MAX_HEADER_BYTES || line_fault_set(fault, "the header is too long for an array of fingerprints");
}

bool npy_header_parse(const char *text, size_t length, size_t available, const npy_known *known, uint64_t *count_out,
                      word_layout *layout_out, line_fault *fault)
{
    npy_header header = {0};
    npy_parser parser = {.at = text, .end = text + length, .fault = fault};
    return parse_header(&parser, &header) &&
           check_shape(&header, known, text + length, available - length, count_out, layout_out, fault);
}

size_t npy_preamble_bytes(const uint8_t *preamble)
{
    return preamble[6] == 1 ? 10 : 12;
}
