/*
 * npy_header.c - parses the header, which is a Python dict literal of three known keys, by hand. The file is not
 * trusted: every size is checked before it is used.
 */
#include "input/npy_header.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "input/digits.h"
#include "input/padding.h"

/* NumPy itself refuses headers above 10,000 bytes. Only a small shape is accepted here. */
#define MAX_HEADER_BYTES 65536u
#define MAX_DIMENSIONS 8
#define NO_DICT "the header is not a dict of 'descr', 'fortran_order' and 'shape'"
#define NO_TUPLE "the shape is not a tuple of numbers"

typedef struct npy_type {
    char kind; /* as NumPy names it: 'u', 'i', 'b' or 'f' */
    uint32_t bytes;
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
static bool take_word(npy_parser *parser, const char *word)
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
    static const char *const names[] = {"u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "b1", "f2", "f4", "f8"};
    const char *text = parser->at;
    size_t length = 0;
    if (!take_string(parser, &text, &length))
        length = (size_t)(parser->end - text);
    for (size_t i = 0; length == 3 && i < sizeof names / sizeof *names; i++) {
        if (memcmp(text + 1, names[i], 2) == 0 && memchr(names[i][1] == '1' ? "|" : "<>", text[0], 2) != NULL) {
            header->type = (npy_type){names[i][0], (uint32_t)(names[i][1] - '0'), text[0] == '>'};
            return true;
        }
    }
    return line_fault_found(parser->fault,
                            "an array of integers, of booleans, or of numbers 0 and 1, such as of the type <u8", text,
                            length);
}

static bool parse_order(npy_parser *parser, npy_header *header)
{
    header->column_major = take_word(parser, "True");
    return header->column_major || take_word(parser, "False") ||
           line_fault_set(parser->fault, "fortran_order is neither True nor False");
}

/* After an item of a list: take a comma, or see that `end` follows. */
static bool item_ends(npy_parser *parser, char end)
{
    return take_word(parser, ",") || (parser->at < parser->end && *parser->at == end);
}

static bool parse_shape(npy_parser *parser, npy_header *header)
{
    header->dimensions = 0;
    if (!take_word(parser, "("))
        return line_fault_set(parser->fault, NO_TUPLE);
    while (!take_word(parser, ")")) {
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
    if (!take_string(parser, &key, &length) || !take_word(parser, ":"))
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
    if (!take_word(parser, "{"))
        return line_fault_set(parser->fault, NO_DICT);
    while (!take_word(parser, "}")) {
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

/* ----- the shape ----- */

#define MAX_BITS (64u * SSTORE_MAX_WORDS)
#define AT_MOST "; fingerprints have at most 1024 bits"
#define PAD "; --pad fills up other sizes"

/* Each row is a fingerprint, or a fingerprint and an id: as --columns or the known words say. */
static bool check_word_columns(const npy_known *known, word_layout *layout, line_fault *fault)
{
    const uint32_t columns = layout->columns;
    uint32_t words = known->words;
    if (columns == 0 || columns > SSTORE_MAX_WORDS + 1)
        return line_fault_set(fault,
                              "expected an array of shape (n,), or of shape (n, w) or (n, w + 1) for fingerprints "
                              "of w words of 64 bits, w up to 16, without or with ids");
    if (columns == 1)
        words = 1;
    else if (words == 0 && columns <= SSTORE_MAX_WORDS)
        return line_fault_set(fault,
                              "an array of shape (n, %" PRIu32 ") has fingerprints of %" PRIu32 " bits, or of %" PRIu32
                              " bits and ids: --bits %" PRIu32 " or --bits %" PRIu32
                              " says which, or --columns fingerprint or --columns fingerprint,id",
                              columns, 64 * columns, 64 * (columns - 1), 64 * columns, 64 * (columns - 1));
    else if (words == 0)
        words = columns - 1;
    if (columns != words && columns != words + 1)
        return line_fault_set(fault,
                              "expected fingerprints of %" PRIu32 " bits in an array of %" PRIu32
                              " columns of words, or of %" PRIu32 " with ids, found %" PRIu32 "; " LINE_SEE_BITS,
                              64 * words, words, words + 1, columns);
    layout->parts = words;
    layout->has_ids = columns != words;
    layout->id_at = words;
    return true;
}

/* The numbers of 32 bits in a row may be one fingerprint. Two may also be a fingerprint and its id. */
static bool check_half_columns(word_layout *layout, line_fault *fault)
{
    if (layout->columns != 2)
        return true;
    return line_fault_set(fault, "an array of shape (n, 2) of numbers of 32 bits has fingerprints of 64 bits, or of 32 "
                                 "bits and ids: --columns fingerprint or --columns fingerprint,id says which");
}

/* Set the words of a fingerprint of parts or bits. */
static bool check_parts(const npy_known *known, word_layout *layout, line_fault *fault)
{
    const uint32_t part = layout->form == FORM_BITS ? 1 : 8 * layout->item_bytes;
    const uint64_t bits = (uint64_t)part * layout->parts;
    const bool is_number = layout->form == FORM_PARTS && layout->parts == 1 && layout->item_bytes > 1;
    const uint32_t known_bits = known->lines->pads ? known->lines->bits : 0;
    assert(part > 0);
    if (bits == 0 || bits > MAX_BITS || (bits % 64 != 0 && !is_number && !known->lines->pads))
        return line_fault_set(fault,
                              "expected an array of shape (n, %" PRIu32 "), or (n, %" PRIu32
                              " * w) for fingerprints of w words of 64 bits, found (n, %" PRIu32 "), so %" PRIu64
                              " bits%s",
                              64 / part, 64 / part, layout->parts, bits, bits > MAX_BITS ? AT_MOST : PAD);
    if (known_bits > 0 && !padding_fits(bits, known_bits))
        return line_fault_set(fault,
                              "expected fingerprints of %" PRIu32 " bits, found %" PRIu64 " bits; " LINE_SEE_BITS,
                              known_bits, bits);
    layout->words = (uint32_t)(bits + 63) / 64;
    return true;
}

/* Are the numbers of a row single bits? So they are if no number is more than 1, unless the known width says
 * otherwise. `bytes` are the first of the data. */
static bool find_bits(const npy_known *known, const char *bytes, size_t size, const word_layout *layout)
{
    const uint32_t columns = layout->columns, known_bits = known->lines->pads ? known->lines->bits : 0;
    const uint64_t as_parts = (uint64_t)columns * layout->item_bytes;
    const uint32_t as_bits = (columns + 63) / 64;
    if (known_bits > 0 ? known_bits != columns : columns < 64 || (columns % 64 != 0 && !known->lines->pads))
        return false;
    if (known->words > 0 && known_bits == 0 && (known->words != as_bits || known->words == (as_parts + 7) / 8))
        return false;
    return columns <= MAX_BITS && size > 0 && word_layout_is_bits(layout, bytes, size);
}

/* The bits of the number 1. */
static uint64_t find_one(const npy_type *type)
{
    return type->kind != 'f'  ? 1
           : type->bytes == 8 ? UINT64_C(0x3ff0000000000000)
           : type->bytes == 4 ? 0x3f800000
                              : 0x3c00;
}

/* Bytes in whole words are read faster as these. */
static void join_bytes(word_layout *layout)
{
    if (layout->item_bytes != 1 || layout->form != FORM_PARTS || layout->columns % 8 != 0)
        return;
    layout->form = FORM_WORDS;
    layout->item_bytes = 8;
    layout->big_endian = true;
    layout->columns = layout->parts = layout->words;
}

/* What a row has, if it is not bits. */
static bool check_numbers(const npy_header *header, const npy_known *known, word_layout *layout, line_fault *fault)
{
    layout->form = layout->item_bytes == 8 ? FORM_WORDS : FORM_PARTS;
    if (header->type.kind == 'f')
        return line_fault_set(fault, "expected integers, or numbers 0 and 1 in 64 columns or a multiple, found floats, "
                                     "which lose digits: write a.astype('uint64') before they are floats");
    if (header->dimensions > 2)
        return line_fault_set(fault,
                              "expected an array of one or two dimensions, found %zu; a.reshape(len(a), -1) makes "
                              "a row of each fingerprint",
                              header->dimensions);
    if (header->dimensions == 1 && layout->item_bytes == 1)
        return line_fault_set(fault, "expected bytes of shape (n, 8), or (n, 8 * w) for fingerprints of w words of 64 "
                                     "bits, found shape (n,)");
    if (known->has_columns && layout->item_bytes > 1) {
        if (!word_layout_choose(layout, known->lines, known->words, fault))
            return false;
    } else if (layout->item_bytes == 8) {
        if (!check_word_columns(known, layout, fault))
            return false;
    } else if (layout->item_bytes == 4 && !check_half_columns(layout, fault)) {
        return false;
    }
    return check_parts(known, layout, fault);
}

/* Set how many numbers a row has, of all dimensions but the first. */
static bool take_columns(const npy_header *header, word_layout *layout, line_fault *fault)
{
    uint64_t columns = 1;
    if (header->dimensions == 0)
        return line_fault_set(fault, "expected an array of shape (n,) or (n, columns), found a single number");
    for (size_t i = 1; i < header->dimensions; i++)
        if (__builtin_mul_overflow(columns, header->shape[i], &columns) || columns > UINT32_MAX)
            return line_fault_set(fault, "the shape has a number that is too large");
    if (header->dimensions > 1 && header->column_major && columns > 1)
        return line_fault_set(fault, "expected fortran_order False (in Python: numpy.ascontiguousarray(a))");
    *layout = word_layout_make(1, false);
    layout->big_endian = header->type.big_endian;
    layout->item_bytes = header->type.bytes;
    layout->one = find_one(&header->type);
    layout->columns = layout->parts = (uint32_t)columns;
    return true;
}

/* If the array has the shape of records, set their number and layout. `bytes`: the first of the data. */
static bool check_shape(const npy_header *header, const npy_known *known, const char *bytes, size_t size,
                        uint64_t *count_out, word_layout *layout_out, line_fault *fault)
{
    if (!take_columns(header, layout_out, fault))
        return false;
    *count_out = header->shape[0];
    const uint64_t row = word_layout_bytes(layout_out);
    const uint64_t rows = *count_out < size / (row > 0 ? row : 1) ? *count_out : size / (row > 0 ? row : 1);
    const bool are_bits = header->dimensions > 1 && !known->lines->are_ids &&
                          (header->type.kind == 'b' || find_bits(known, bytes, rows * row, layout_out));
    if (are_bits)
        layout_out->form = FORM_BITS;
    if (are_bits ? !check_parts(known, layout_out, fault) : !check_numbers(header, known, layout_out, fault))
        return false;
    join_bytes(layout_out);
    return *count_out <= UINT64_MAX / (row > 16 ? row : 16) ||
           line_fault_set(fault, "the shape has a number that is too large");
}

bool npy_preamble_parse(const uint8_t *bytes, size_t available, size_t *header_bytes_out, line_fault *fault)
{
    if (available < NPY_MAGIC_BYTES || memcmp(bytes, NPY_MAGIC, NPY_MAGIC_BYTES) != 0)
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
