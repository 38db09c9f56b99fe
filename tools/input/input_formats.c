/*
 * input_formats.c - reads records from lines of text or JSON, from packed 64-bit words (.u64 and .rec files), and from
 * NumPy arrays, which are words behind a header.
 */
#include "input/input_formats.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/digits.h"
#include "input/input_hint.h"
#include "input/input_json.h"
#include "input/input_value.h"
#include "input/input_width.h"
#include "output/records.h"

/* ----- what inputs state ----- */

/* A copy of some bytes, as a string. */
static char *copy_text(const char *text, size_t length)
{
    char *copy = malloc(length + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

/* Take the recipe that the input states: the only one, also of several files in a row. */
static int take_recipe(input_reader *reader, const char *text, size_t length)
{
    const char *earlier = reader->recipe;
    if (earlier != NULL && (strlen(earlier) != length || memcmp(earlier, text, length) != 0))
        return byte_stream_fail(&reader->source.fault, "it states two recipes: '%s' and '%.*s'", earlier, (int)length,
                                text);
    if (earlier != NULL)
        return EXIT_DONE;
    reader->recipe = copy_text(text, length);
    if (reader->recipe == NULL)
        return input_source_fail(&reader->source, 0, "out of memory");
    reader->batch->recipe = reader->recipe;
    return input_deliver(reader);
}

/* May a comment state the columns? */
static bool takes_columns(const input_reader *reader)
{
    return reader->options->columns == NULL && !reader->lines.are_ids && !reader->lines.are_edges;
}

/* Files of the format FPS of cheminformatics say how many bits their fingerprints have. */
#define BITS_COMMENT "#num_bits="

/* A line that begins with # is a comment, which may state how the others were made. */
static int take_comment(input_reader *reader, const char *line, size_t length)
{
    static const char recipe[] = RECORDS_RECIPE_COMMENT, bits[] = BITS_COMMENT;
    const size_t before_recipe = sizeof recipe - 1, before_bits = sizeof bits - 1;
    line_fault fault;
    uint64_t number;
    if (length > before_recipe && memcmp(line, recipe, before_recipe) == 0)
        return take_recipe(reader, line + before_recipe, length - before_recipe);
    if (takes_columns(reader) && !input_take_columns(&reader->lines, line, length, &fault) && fault.reason[0] != '\0')
        return input_source_fail(&reader->source, 0, fault.reason);
    if (length > before_bits && memcmp(line, bits, before_bits) == 0 &&
        line_parse_id(line + before_bits, length - before_bits, &number, &fault) && number > 64 * SSTORE_MAX_WORDS)
        return byte_stream_fail(&reader->source.fault,
                                "its fingerprints have %" PRIu64 " bits, and those of a store at most %u", number,
                                64 * SSTORE_MAX_WORDS);
    return EXIT_DONE;
}

/* ----- lines ----- */

/* How much of an input is asked for its width: more only if that is not one record. */
#define WIDTH_BYTES ((size_t)1 << 16)
#define MAX_WIDTH_BYTES ((size_t)1 << 25)

static void settle_width(input_reader *reader, const input_width *width)
{
    line_format *lines = &reader->lines;
    const uint32_t words = (width->bits + 63) / 64;
    (void)input_ids_agree(&reader->shape->ids, width->has_ids);
    if (lines->words == 0) {
        reader->shape->words = lines->words = words;
        reader->shape->is_shown = true;
        lines->words_unsure = !width->is_sure;
    }
    if (lines->pads && lines->bits == 0 && lines->words == words)
        reader->shape->bits = lines->bits = width->bits;
}

/* Is the width still to be found? */
static bool lacks_width(const input_reader *reader)
{
    const line_format *lines = &reader->lines;
    return !lines->are_ids && !lines->are_edges && (lines->words == 0 || (lines->pads && lines->bits == 0));
}

/* Is the width still to be found, or whether there are ids? */
static bool lacks_shape(const input_reader *reader)
{
    const line_format *lines = &reader->lines;
    const bool may_have_ids = !lines->are_ids && !lines->are_edges && !lines->ignore_ids;
    return lacks_width(reader) || (may_have_ids && reader->shape->ids == INPUT_IDS_UNKNOWN);
}

/* Find both from the first lines, which are then read from the beginning. */
static int find_width(input_reader *reader, line_parser parse)
{
    input_source *source = &reader->source;
    int code = EXIT_DONE;
    bool enough = reader->options->interactive || !lacks_shape(reader);
    for (size_t bytes = WIDTH_BYTES; code == EXIT_DONE && !enough; bytes *= 2) {
        code = input_source_need(source, bytes);
        if (code != EXIT_DONE)
            break;
        const input_width width = input_width_find(&reader->lines, parse, takes_columns(reader),
                                                   source->buffer + source->begin, source->end - source->begin,
                                                   source->at_end);
        if (width.bits > 0)
            settle_width(reader, &width);
        enough = width.bits > 0 || source->at_end || bytes >= MAX_WIDTH_BYTES;
    }
    return code;
}

/* All fingerprints of an input are of one kind, if they say it. */
static bool has_right_kind(const input_reader *reader, const line_record *record, line_fault *fault)
{
    const char kind = reader->lines.kind;
    if (record->kind == kind || !reader->has_record)
        return true;
    if (record->kind != 0 && kind != 0)
        return line_fault_set(fault, "expected a fingerprint of the kind '%c:', as in the lines before, found '%c:'",
                              kind, record->kind);
    return line_fault_set(fault, "expected %s in front of the fingerprint, as in the lines before, found '%c:'",
                          kind != 0 ? "its kind" : "nothing", kind != 0 ? kind : record->kind);
}

/* A string of decimal digits is hex, and a number is decimal: an input that has both does not mean that. */
static bool means_one_radix(const input_reader *reader, const line_record *record)
{
    return reader->lines.radix_given || !(record->value == LINE_VALUE_NUMBER   ? reader->has_digits
                                          : record->value == LINE_VALUE_DIGITS ? reader->has_numbers
                                                                               : false);
}

/* Does the record agree with those before it? */
static bool agrees(const input_reader *reader, const line_record *record, line_fault *fault)
{
    if (record->may_be_bits)
        return line_fault_set(fault,
                              "expected a fingerprint in hex, found only digits 0 and 1; --radix bin reads binary "
                              "digits; if they are hex digits, say --bits %" PRIu32,
                              64 * record->words);
    if (!means_one_radix(reader, record))
        return line_fault_set(fault, "the input has fingerprints as numbers, which are decimal, and as strings of "
                                     "decimal digits, which are hex: --radix dec reads both as decimal, --radix hex "
                                     "the strings as hex");
    return has_right_kind(reader, record, fault);
}

/* Note what the record says about all others. The recipe keeps the kind. */
static int settle_line(input_reader *reader, const line_record *record)
{
    char recipe[VALUE_RECIPE_BYTES];
    const bool is_first = !reader->has_record;
    reader->has_record = true;
    reader->has_numbers = reader->has_numbers || record->value == LINE_VALUE_NUMBER;
    reader->has_digits = reader->has_digits || record->value == LINE_VALUE_DIGITS;
    reader->lines.words_unsure = reader->lines.words_unsure && !record->decides;
    if (lacks_width(reader))
        settle_width(reader, &(input_width){record->bits, record->decides, record->has_id});
    if (!is_first || record->kind == 0)
        return EXIT_DONE;
    reader->lines.kind = record->kind;
    (void)value_recipe(record->kind, recipe);
    return take_recipe(reader, recipe, strlen(recipe));
}

static bool is_blank(const char *line, size_t length)
{
    while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t'))
        length--;
    return length == 0;
}

/* The line cannot be read. */
static int refuse_line(input_reader *reader, const source_line *line, const char *reason)
{
    const bad_row row = {.input = reader->path,
                         .number = line->number,
                         .text = line->text,
                         .length = source_line_length(line),
                         .count = 1};
    (void)input_source_fail(&reader->source, line->number, reason);
    return input_refuse(reader, &row);
}

static int take_line(input_reader *reader, const source_line *line, line_parser parse)
{
    line_record record;
    line_fault fault;
    const char *hint;
    const size_t length = source_line_length(line);
    if (line->is_cut)
        return refuse_line(reader, line, LINE_TOO_LONG);
    const size_t bom_bytes = line->number == 1 ? input_hint_bom_bytes(line->text, length) : 0;
    if (!parse(&reader->lines, line->text + bom_bytes, length - bom_bytes, &record, &fault)) {
        if (is_blank(line->text + bom_bytes, length - bom_bytes))
            return EXIT_DONE;
        if (parse == line_parse && length > bom_bytes && line->text[bom_bytes] == '#')
            return take_comment(reader, line->text + bom_bytes, length - bom_bytes);
        hint = input_hint_of_line(line->text + bom_bytes, length - bom_bytes, line->number);
        if (parse == line_parse && hint != NULL && !fault.has_sure_hint)
            line_fault_set_hint(&fault, hint);
        return refuse_line(reader, line, fault.reason);
    }
    if (!agrees(reader, &record, &fault))
        return refuse_line(reader, line, fault.reason);
    const int code = settle_line(reader, &record);
    if (code != EXIT_DONE)
        return code;
    if (input_ids_agree(&reader->shape->ids, record.has_id)) {
        record_batch *batch = reader->batch;
        memcpy(batch->fingerprints + record.words * batch->count, record.fingerprint,
               record.words * sizeof *record.fingerprint);
        batch->ids[batch->count] = record.id;
        if (record.missing_bits > 0)
            line_shorts_add(&reader->shorts, &(line_shorts){1, record.missing_bits, line->number}, 0);
        return ++batch->count < input_batch_room(reader) ? EXIT_DONE : input_deliver(reader);
    }
    return refuse_line(reader, line,
                       record.has_id
                           ? "expected no id, as in the other lines, found one (--columns fingerprint,- skips ids)"
                           : "expected an id, as in the other lines, found none (--columns fingerprint,- skips ids)");
}

/* Take the lines of common shapes up to the first other line, hundreds at a time, without the general parser. */
static int take_runs(input_reader *reader, source_line *line)
{
    const line_format *format = &reader->lines;
    input_source *source = &reader->source;
    int code = EXIT_DONE;
    input_source_take(source, line->taken);
    line->taken = 0;
    while (code == EXIT_DONE && reader->shape->ids != INPUT_IDS_UNKNOWN) {
        record_batch *batch = reader->batch;
        const size_t words = input_batch_words(reader), room = input_batch_room(reader) - batch->count;
        line_run run = line_run_parse(format, reader->shape->ids == INPUT_IDS_PRESENT, source->buffer + source->begin,
                                      source->end - source->begin, batch->fingerprints + words * batch->count,
                                      batch->ids + batch->count, room);
        if (run.count == 0)
            break;
        input_source_take(source, run.bytes);
        if (run.shorts.count > 0)
            line_shorts_add(&reader->shorts, &run.shorts, line->number + 1);
        line->number += run.count;
        batch->count += run.count;
        if (run.count == room)
            code = input_deliver(reader);
    }
    return code;
}

static int read_text(input_reader *reader)
{
    source_line line = {.cuts = bad_rows_skip(reader->options->bad_rows)};
    int code = find_width(reader, line_parse);
    if (code == EXIT_DONE)
        code = take_runs(reader, &line);
    while (code == EXIT_DONE && source_line_next(&reader->source, &line, &code)) {
        code = take_line(reader, &line, line_parse);
        if (code == EXIT_DONE)
            code = take_runs(reader, &line);
    }
    return code;
}

static int read_jsonl(input_reader *reader)
{
    source_line line = {.cuts = bad_rows_skip(reader->options->bad_rows)};
    int code = find_width(reader, json_line_parse);
    while (code == EXIT_DONE && source_line_next(&reader->source, &line, &code))
        code = take_line(reader, &line, json_line_parse);
    return code;
}

/* ----- words ----- */

/* The layout of records in 64-bit words, or in smaller parts of fingerprints. */
typedef enum layout_part {
    PART_WORD,
    PART_HALF,
    PART_BYTE,
    PART_BIT
} layout_part; /* of 64, 32, 8 bits, or a bit in
                                                                                      a byte */
typedef struct word_layout {
    uint32_t words; /* of a fingerprint, the first of which comes first */
    bool big_endian;
    bool has_ids;     /* a word with the id follows the fingerprint */
    bool has_header;  /* of pairs: another one after it would be of another file */
    layout_part part; /* if these are smaller, there are no ids */
    uint32_t columns; /* parts of a fingerprint, if they are smaller */
} word_layout;

static size_t record_words(const word_layout *layout)
{
    return layout->words + (layout->has_ids ? 1u : 0);
}

static size_t record_bytes(const word_layout *layout)
{
    return layout->part == PART_WORD   ? 8 * record_words(layout)
           : layout->part == PART_HALF ? 4 * (size_t)layout->columns
                                       : layout->columns;
}

/* From each of `count` records of `step` words, copy the first `width` ones. */
static inline __attribute__((always_inline)) void copy_columns(const char *from, size_t step, size_t width,
                                                               bool big_endian, uint64_t *to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < width; j++) {
            uint64_t word;
            memcpy(&word, from + 8 * (step * i + j), sizeof word);
            to[width * i + j] = big_endian ? be64toh(word) : le64toh(word);
        }
    }
}

static void copy_words(const char *from, size_t step, size_t width, bool big_endian, uint64_t *to, size_t count)
{
    if (width == 1) /* without the inner loop */
        copy_columns(from, step, 1, big_endian, to, count);
    else
        copy_columns(from, step, width, big_endian, to, count);
}

static bool are_bits(const char *bytes, size_t size)
{
    unsigned char all = 0;
    for (size_t i = 0; i < size; i++)
        all |= (unsigned char)bytes[i];
    return all <= 1;
}

/* Read a fingerprint of smaller parts. */
static void copy_parts(const char *from, const word_layout *layout, uint64_t *to)
{
    unsigned char bytes[8 * SSTORE_MAX_WORDS] = {0};
    if (layout->part == PART_HALF) {
        uint32_t half;
        memcpy(&half, from, sizeof half);
        *to = layout->big_endian ? be32toh(half) : le32toh(half);
        return;
    }
    for (size_t i = 0; i < layout->columns; i++) {
        const unsigned char byte = (unsigned char)from[i];
        if (layout->part == PART_BYTE)
            bytes[i] = byte;
        else
            bytes[i / 8] |= (unsigned char)(byte << (7 - i % 8));
    }
    copy_words((const char *)bytes, 1, 1, true, to, layout->words);
}

/* How many of the records are right: bits were read from bytes that are 0 and 1 so far. */
static size_t count_right(const char *from, const word_layout *layout, size_t count)
{
    const size_t step = record_bytes(layout);
    size_t right = 0;
    while (right < count && (layout->part != PART_BIT || are_bits(from + step * right, step)))
        right++;
    return right;
}

/* Move at most `count` records from the source to the batch. Returns how many they were. */
static size_t take_records(input_reader *reader, const word_layout *layout, size_t count)
{
    const char *from = reader->source.buffer + reader->source.begin, *id = from + 8 * (size_t)layout->words;
    record_batch *batch = reader->batch;
    const size_t room = input_batch_room(reader) - batch->count, step = record_words(layout);
    const size_t width = input_batch_words(reader);
    const bool are_ids = layout->has_ids && reader->lines.are_ids; /* which are read as fingerprints */
    if (count > room)
        count = room;
    for (size_t i = 0; layout->has_header && i < count; i++)
        if (memcmp(from + 8 * step * i, RECORDS_MAGIC, RECORDS_MAGIC_BYTES) == 0)
            count = i;
    if (layout->part == PART_WORD)
        copy_words(are_ids ? id : from, step, width, layout->big_endian, batch->fingerprints + width * batch->count,
                   count);
    else
        count = count_right(from, layout, count);
    for (size_t i = 0; i < count && layout->part != PART_WORD; i++)
        copy_parts(from + record_bytes(layout) * i, layout, batch->fingerprints + width * (batch->count + i));
    if (reader->shape->ids == INPUT_IDS_PRESENT)
        copy_words(id, step, 1, layout->big_endian, batch->ids + batch->count, count);
    batch->count += count;
    input_source_take(&reader->source, record_bytes(layout) * count);
    return count;
}

/* The input ends within a record, or before the last ones. */
static int refuse_rest(input_reader *reader, uint64_t number, uint64_t count)
{
    const input_source *source = &reader->source;
    const bad_row row = {.input = reader->path,
                         .number = number,
                         .text = source->buffer + source->begin,
                         .length = source->end - source->begin,
                         .is_binary = true,
                         .count = count};
    return input_refuse(reader, &row);
}

/* Check that the input ends where it should, after so many records. `left` is the number of records still expected, or
 * UINT64_MAX. */
static int check_end(input_reader *reader, const word_layout *layout, uint64_t taken, uint64_t left)
{
    input_source *source = &reader->source;
    size_t odd = source->end - source->begin;
    const char *offset = source->unpacker != NULL ? "unpacked offset" : "offset";
    if (left == 0 && odd > 0)
        return byte_stream_fail(&source->fault, "expected the end of the file at %s %" PRIu64 ", found more bytes",
                                offset, source->offset);
    if (left == UINT64_MAX && odd > 0) {
        (void)line_fault_set(&source->fault,
                             "expected %zu bytes for each %s, found only %zu at %s %" PRIu64
                             " before the end of the file",
                             record_bytes(layout), layout->has_ids ? "record" : "fingerprint", odd, offset,
                             source->offset);
        return refuse_rest(reader, taken + 1, 1);
    }
    if (left != 0 && left != UINT64_MAX) {
        (void)line_fault_set(&source->fault, "the file ends at %s %" PRIu64 ", %" PRIu64 " bytes too early", offset,
                             source->offset + odd, record_bytes(layout) * left - odd);
        return refuse_rest(reader, taken + 1, left);
    }
    return EXIT_DONE;
}

/* Read the rest of the source as words: exactly `count` records, or any number if it is UINT64_MAX. */
static int read_words(input_reader *reader, const word_layout *layout, uint64_t count)
{
    input_source *source = &reader->source;
    const bool has_ids = layout->has_ids && !reader->lines.ignore_ids;
    uint64_t left = count, all_taken = 0;
    int code = EXIT_DONE;
    const bool are_ids = reader->lines.are_ids && !layout->has_ids && layout->words == 1; /* words alone */
    if (!are_ids && input_settle_words(reader, layout->words) != EXIT_DONE)
        return EXIT_FAILED;
    if (reader->lines.are_ids && !are_ids && !layout->has_ids)
        return byte_stream_fail(&source->fault, "expected ids, found fingerprints without ids");
    if (!input_ids_agree(&reader->shape->ids, has_ids))
        return byte_stream_fail(&source->fault, "this format has %s; give inputs that all have ids, or none",
                                has_ids ? "ids, but the earlier inputs have none"
                                        : "no ids, but the earlier inputs have them");
    while (code == EXIT_DONE && left > 0) {
        code = input_source_need(source, record_bytes(layout));
        size_t available = (source->end - source->begin) / record_bytes(layout);
        if (code != EXIT_DONE || available == 0)
            break;
        if (layout->has_header && memcmp(source->buffer + source->begin, RECORDS_MAGIC, RECORDS_MAGIC_BYTES) == 0)
            return byte_stream_fail(&source->fault,
                                    "another header at offset %" PRIu64
                                    ": files with headers cannot be joined; give them one by one",
                                    source->offset);
        size_t taken = take_records(reader, layout, left < available ? (size_t)left : available);
        all_taken += taken;
        if (left != UINT64_MAX)
            left -= taken;
        if (taken == 0)
            return byte_stream_fail(&source->fault,
                                    "its bytes were 0 and 1 so far, so single bits; at offset %" PRIu64
                                    " a row has others: if all are bytes, --bits %" PRIu32 " says so",
                                    source->offset, 8 * layout->columns);
        if (reader->batch->count == input_batch_room(reader))
            code = input_deliver(reader);
    }
    if (code == EXIT_DONE && left == 0)
        code = input_source_need(source, 1);
    return code != EXIT_DONE ? code : check_end(reader, layout, all_taken, left);
}

/* ----- NumPy arrays (.npy, versions 1.0, 2.0 and 3.0) ----- */

/*
 * The header is a Python dict literal of three known keys. It is parsed by hand. The file is not trusted: every size is
 * checked before it is used.
 */

/* NumPy itself refuses headers above 10,000 bytes. Only a small shape is accepted here. */
#define MAX_HEADER_BYTES 65536u
#define MAX_DIMENSIONS 8
/* Magic, version and the header's length. In version 1.0 the length takes two bytes less, but the header follows. */
#define PREAMBLE_BYTES 12
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

/* What is known about an array of records. */
typedef struct npy_known {
    const line_format *lines;
    bool has_columns; /* --columns was given */
    uint32_t words;   /* of a fingerprint, or 0 */
} npy_known;

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
        are_bits(bytes, size))
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
    const size_t row = record_bytes(layout_out);
    return header->shape[0] <= UINT64_MAX / (row > 16 ? row : 16) ||
           line_fault_set(fault, "the shape has a number that is too large");
}

/* Check the magic and the version at the input's beginning, and set the length of the header after them. */
static bool parse_preamble(const uint8_t *bytes, size_t available, size_t *header_bytes_out, line_fault *fault)
{
    if (available < 6 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return line_fault_set(fault, available == 0 ? "expected a .npy file, but the input is empty"
                                                    : "this is not a .npy file");
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

/* Parse the header's text, behind which data begins. */
static bool parse_text(const char *text, size_t length, size_t available, const npy_known *known, uint64_t *count_out,
                       word_layout *layout_out, line_fault *fault)
{
    npy_header header = {0};
    npy_parser parser = {.at = text, .end = text + length, .fault = fault};
    return parse_header(&parser, &header) &&
           check_shape(&header, known, text + length, available - length, count_out, layout_out, fault);
}

/* Bytes before the header's text. */
static size_t preamble_bytes(const uint8_t *preamble)
{
    return preamble[6] == 1 ? 10 : 12;
}

/* Read and take everything before the data. */
static int take_header(input_reader *reader, uint64_t *count_out, word_layout *layout_out)
{
    input_source *source = &reader->source;
    const npy_known known = {&reader->lines, reader->options->columns != NULL, reader->shape->words};
    size_t length = 0;
    int code = input_source_need(source, PREAMBLE_BYTES);
    if (code != EXIT_DONE)
        return code;
    const uint8_t *preamble = (const uint8_t *)source->buffer + source->begin;
    if (!parse_preamble(preamble, source->end - source->begin, &length, &source->fault))
        return EXIT_FAILED;
    input_source_take(source, preamble_bytes(preamble));
    code = input_source_need(source, length + WIDTH_BYTES);
    if (code != EXIT_DONE)
        return code;
    if (source->end - source->begin < length)
        return byte_stream_fail(&source->fault, "the file ends within its header");
    if (!parse_text(source->buffer + source->begin, length, source->end - source->begin, &known, count_out, layout_out,
                    &source->fault))
        return EXIT_FAILED;
    input_source_take(source, length);
    return EXIT_DONE;
}

static int read_npy(input_reader *reader)
{
    word_layout layout = {0};
    uint64_t count = 0;
    int code = take_header(reader, &count, &layout);
    return code != EXIT_DONE ? code : read_words(reader, &layout, count);
}

/* ----- plain words ----- */

/* The words of fingerprints in a format that does not tell it. */
static uint32_t assumed_words(uint32_t known)
{
    return known > 0 ? known : 1;
}

static int read_u64(input_reader *reader)
{
    const uint32_t words = reader->lines.are_ids ? 1 : assumed_words(reader->shape->words);
    return read_words(reader, &(word_layout){.words = words}, UINT64_MAX);
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
    const char *bytes = source->buffer + source->begin;
    if (code != EXIT_DONE || !has_pairs_header(bytes, source->end - source->begin))
        return code;
    if (!parse_pairs_header(bytes, &header, &source->fault))
        return EXIT_FAILED;
    code = input_source_need(source, header.bytes);
    if (code != EXIT_DONE)
        return code;
    if (source->end - source->begin < header.bytes)
        return byte_stream_fail(&source->fault, "the file ends within its header");
    layout->has_header = true;
    layout->words = header.words;
    if (header.recipe_bytes > 0)
        code = take_recipe(reader, source->buffer + source->begin + RECORDS_HEADER_BYTES, header.recipe_bytes);
    input_source_take(source, header.bytes);
    return code;
}

static int read_rec(input_reader *reader)
{
    word_layout layout = {.words = assumed_words(reader->shape->words), .has_ids = true};
    const int code = take_pairs_header(reader, &layout);
    return code != EXIT_DONE ? code : read_words(reader, &layout, UINT64_MAX);
}

/* ----- estimating ----- */

static void note_id(input_expectation *expected, uint64_t id)
{
    if (id > expected->largest_id)
        expected->largest_id = id;
}

/* Extrapolate from the first lines. Malformed lines are reported later, when they are read. */
static void expect_lines(const input_sample *from, const input_options *options, line_parser parse,
                         input_expectation *expected)
{
    const char *at = from->bytes, *end = from->bytes + from->size, *stop;
    line_format format = options->lines;
    format.words = expected->words;
    uint64_t lines = 0;
    if (format.words == 0) {
        const input_width width = input_width_find(&format, parse, options->columns == NULL, at, from->size,
                                                   from->size == from->file_bytes);
        format.words = expected->words = (width.bits + 63) / 64;
    }
    for (; (stop = memchr(at, '\n', (size_t)(end - at))) != NULL; at = stop + 1, lines++) {
        line_record record;
        line_fault fault;
        size_t length = (size_t)(stop - at) - (stop > at && stop[-1] == '\r');
        if (!parse(&format, at, length, &record, &fault))
            continue;
        if (record.has_id)
            note_id(expected, record.id);
    }
    double taken = (double)(at - from->bytes);
    expected->count = lines > 0 ? (uint64_t)((double)from->file_bytes / taken * (double)lines) : from->size > 0;
}

static void expect_text(const input_sample *from, const input_options *options, input_expectation *expected)
{
    expect_lines(from, options, line_parse, expected);
}

static void expect_jsonl(const input_sample *from, const input_options *options, input_expectation *expected)
{
    expect_lines(from, options, json_line_parse, expected);
}

/* Words from the offset `first` on. */
static void expect_words(const input_sample *from, size_t first, const word_layout *layout, input_expectation *expected)
{
    const size_t step = record_bytes(layout);
    for (size_t at = first + step - 8; layout->has_ids && at + 8 <= from->size; at += step) {
        uint64_t word;
        memcpy(&word, from->bytes + at, sizeof word);
        note_id(expected, layout->big_endian ? be64toh(word) : le64toh(word));
    }
    expected->words = layout->words;
    expected->count = from->file_bytes > first ? (from->file_bytes - first) / step : 0;
}

static void expect_u64(const input_sample *from, const input_options *options, input_expectation *expected)
{
    (void)options;
    expected->assumes_words = expected->words == 0;
    expect_words(from, 0, &(word_layout){.words = assumed_words(expected->words)}, expected);
}

static void expect_rec(const input_sample *from, const input_options *options, input_expectation *expected)
{
    (void)options;
    line_fault ignored;
    pairs_header header = {.words = assumed_words(expected->words)};
    expected->assumes_words = expected->words == 0 && !has_pairs_header(from->bytes, from->size);
    if (!has_pairs_header(from->bytes, from->size) || parse_pairs_header(from->bytes, &header, &ignored))
        expect_words(from, header.bytes, &(word_layout){.words = header.words, .has_ids = true}, expected);
}

static void expect_npy(const input_sample *from, const input_options *options, input_expectation *expected)
{
    const uint8_t *bytes = (const uint8_t *)from->bytes;
    const npy_known known = {&options->lines, options->columns != NULL, expected->words};
    size_t length = 0;
    uint64_t count;
    word_layout layout;
    line_fault ignored;
    expected->assumes_words = expected->words == 0;
    if (!parse_preamble(bytes, from->size, &length, &ignored) || from->size < preamble_bytes(bytes) + length ||
        !parse_text(from->bytes + preamble_bytes(bytes), length, from->size - preamble_bytes(bytes), &known, &count,
                    &layout, &ignored))
        return;
    expect_words(from, preamble_bytes(bytes) + length, &layout, expected);
}

/* ----- the formats ----- */

const input_format_row input_formats[INPUT_FORMAT_COUNT] = {
    [INPUT_TEXT] = {NULL, true, read_text, expect_text},        [INPUT_U64] = {".u64", false, read_u64, expect_u64},
    [INPUT_REC] = {".rec", false, read_rec, expect_rec},        [INPUT_NPY] = {".npy", false, read_npy, expect_npy},
    [INPUT_JSONL] = {".jsonl", true, read_jsonl, expect_jsonl},
};
