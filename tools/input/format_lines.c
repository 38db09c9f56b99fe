/*
 * format_lines.c - reads records from lines of text or JSON.
 */
#include "input/input_formats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "input/input_hint.h"
#include "input/input_json.h"
#include "input/input_value.h"
#include "input/input_width.h"
#include "input/padding.h"
#include "input/value_looks.h"
#include "output/records.h"

/* ----- comments ----- */

/* May a comment state the columns? */
static bool takes_columns(const input_reader *reader)
{
    const line_format *lines = &reader->lines;
    return reader->options->columns == NULL && (!lines->are_ids || lines->are_names) && !lines->are_edges;
}

/* Files of the format FPS of cheminformatics say how many bits their fingerprints have, which are whole bytes. */
#define BITS_COMMENT "#num_bits="

static int check_bits(input_reader *reader, uint64_t bits)
{
    const line_format *lines = &reader->lines;
    const uint64_t found = lines->pads ? lines->bits : 64 * (uint64_t)lines->words;
    if (bits > 64 * SSTORE_MAX_WORDS)
        return byte_stream_fail(&reader->source.fault,
                                "its fingerprints have %" PRIu64 " bits, and those of a store at most %u", bits,
                                64 * SSTORE_MAX_WORDS);
    if (lines->words_given || found == 0 || (bits + 7) / 8 == (found + 7) / 8)
        return EXIT_DONE;
    return byte_stream_fail(&reader->source.fault,
                            "its fingerprints have %" PRIu64 " bits, but " BITS_COMMENT "%" PRIu64
                            " says otherwise: correct one of them",
                            found, bits);
}

/* A line that begins with # is a comment, which may state how the others were made. */
static int take_comment(input_reader *reader, const char *line, size_t length)
{
    static const char recipe[] = RECORDS_RECIPE_COMMENT, bits[] = BITS_COMMENT;
    const size_t before_recipe = sizeof recipe - 1, before_bits = sizeof bits - 1;
    line_fault fault;
    uint64_t number;
    reader->shape->comment_count++;
    if (length > before_recipe && memcmp(line, recipe, before_recipe) == 0) {
        reader->states_recipe = true;
        return input_take_recipe(reader, line + before_recipe, length - before_recipe);
    }
    if (takes_columns(reader) && !input_take_columns(&reader->lines, line, length, &fault) && fault.reason[0] != '\0')
        return input_source_fail(&reader->source, 0, fault.reason);
    if (length > before_bits && memcmp(line, bits, before_bits) == 0 &&
        line_parse_id(line + before_bits, length - before_bits, &number, &fault))
        return check_bits(reader, number);
    return EXIT_DONE;
}

/* ----- the width ----- */

/* An input is asked for more than a sample only if that is not one record. */
#define MAX_WIDTH_BYTES ((size_t)1 << 25)

static void settle_width(input_reader *reader, const input_width *width)
{
    line_format *lines = &reader->lines;
    const uint32_t words = (width->bits + 63) / 64;
    (void)input_ids_agree(&reader->shape->ids, width->has_ids);
    if (reader->kind_source == NULL && !reader->options->interactive) {
        reader->kind_source = "most lines";
        lines->kind = width->kind;
    }
    if (lines->words == 0) {
        reader->shape->words = lines->words = words;
        reader->shape->width_source = "other rows";
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
    const bool skips = bad_rows_skip(reader->options->bad_rows); /* the kind of most lines is right */
    bool enough = reader->options->interactive || (!skips && !lacks_shape(reader));
    for (size_t bytes = INPUT_SAMPLE_BYTES; code == EXIT_DONE && !enough; bytes *= 2) {
        code = input_source_need(source, bytes);
        if (code != EXIT_DONE)
            break;
        const input_width width = input_width_find(&reader->lines, parse, takes_columns(reader),
                                                   input_source_text(source), input_source_size(source),
                                                   source->in.at_end);
        if (width.bits > 0)
            settle_width(reader, &width);
        enough = width.bits > 0 || source->in.at_end || bytes >= MAX_WIDTH_BYTES;
    }
    return code;
}

/* ----- lines ----- */

/* All fingerprints of an input are of one kind, if they say it. */
static bool has_right_kind(const input_reader *reader, const line_record *record, line_fault *fault)
{
    const char kind = reader->lines.kind;
    const bool states_recipe = reader->states_recipe || record->recipe[0] != '\0';
    if (record->kind == kind || reader->kind_source == NULL || (record->kind == 0 && states_recipe))
        return true;
    if (kind != 0 && record->kind != 0)
        return line_fault_set(fault, "expected a fingerprint of the kind '%c:', as in %s, found '%c:'", kind,
                              reader->kind_source, record->kind);
    if (kind != 0)
        return line_fault_set(fault, "expected a fingerprint of the kind '%c:', as in %s, found none", kind,
                              reader->kind_source);
    return line_fault_set(fault, "expected nothing in front of the fingerprint, as in %s, found '%c:'",
                          reader->kind_source, record->kind);
}

/* A string of decimal digits is hex, and a number is decimal: an input that has both does not mean that. */
static bool means_one_radix(const input_reader *reader, const line_record *record)
{
    return reader->lines.radix_given || !(record->value == LINE_VALUE_NUMBER   ? reader->has_digits
                                          : record->value == LINE_VALUE_DIGITS ? reader->has_numbers
                                                                               : false);
}

/* Has it zeros behind its own bits, if these are known? */
static bool has_padding(const line_format *lines, const line_record *record)
{
    return !lines->pads || lines->are_ids || lines->are_edges || padding_is_zero(record->fingerprint, lines->bits);
}

/* Does the record agree with those before it? */
static bool agrees(const input_reader *reader, const line_record *record, line_fault *fault)
{
    if (record->may_be_bits && reader->lines.radix == RADIX_BASE64)
        return line_fault_set(fault,
                              "expected a fingerprint in base64, found digits 0 and 1 in base64; \"while read row; "
                              "do base64 -d <<<$row; echo; done\" decodes them for --radix bin; if they are hex "
                              "digits, say --bits %" PRIu32,
                              64 * record->words);
    if (record->may_be_bits)
        return line_fault_set(fault,
                              "expected a fingerprint in hex, found only digits 0 and 1; --radix bin reads binary "
                              "digits; if they are hex digits, say --bits %" PRIu32,
                              64 * record->words);
    if (!has_padding(&reader->lines, record))
        return line_fault_set(fault, "expected " PADDING_EXPECTED, reader->lines.bits);
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
    reader->lines.takes_recipe = false;
    reader->has_numbers = reader->has_numbers || record->value == LINE_VALUE_NUMBER;
    reader->has_digits = reader->has_digits || record->value == LINE_VALUE_DIGITS;
    reader->lines.words_unsure = reader->lines.words_unsure && !record->decides;
    if (lacks_width(reader))
        settle_width(reader, &(input_width){record->bits, record->decides, record->has_id, record->kind});
    if (reader->kind_source == NULL)
        reader->kind_source = "the lines before";
    reader->states_recipe = reader->states_recipe || record->recipe[0] != '\0';
    if (record->recipe[0] != '\0')
        return input_take_recipe(reader, record->recipe, strlen(record->recipe));
    if (!is_first || record->kind == 0)
        return EXIT_DONE;
    reader->lines.kind = record->kind;
    (void)value_recipe(record->kind, recipe);
    return input_take_recipe(reader, recipe, strlen(recipe));
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

/* COPY of PostgreSQL writes this behind the last row. */
static bool is_end_of_copy(const source_line *line)
{
    return source_line_length(line) == 2 && memcmp(line->text, "\\.", 2) == 0;
}

/* Blank lines without another line between them are counted once one follows. */
static void end_blanks(input_reader *reader, uint64_t number)
{
    if (reader->blank_from + reader->blank_count == number)
        return;
    reader->shape->blank_count += reader->blank_count;
    reader->blank_count = 0;
    reader->blank_from = number;
}

static int take_blank(input_reader *reader, uint64_t number)
{
    end_blanks(reader, number);
    reader->blank_count++;
    return EXIT_DONE;
}

/* Does the text begin with # as comments do, and not with the error of a spreadsheet as its first field? */
static bool is_comment(const char *text, size_t length)
{
    size_t field = 0;
    while (field < length && text[field] != '\t' && text[field] != ' ')
        field++;
    return length > 0 && text[0] == '#' && !value_is_sheet_error(text, field);
}

/* Is the last field a word for no value, so that it may be a fingerprint behind its id? A hyphen means no id. */
static bool lacks_fingerprint(const line_format *lines, const source_line *line, const line_record *record)
{
    size_t length = source_line_length(line), begin = length;
    while (begin > 0 && line->text[begin - 1] != '\t' && line->text[begin - 1] != ' ')
        begin--;
    return begin > 0 && length - begin > 1 && lines->id_may_be_missing && line_may_be_id(record) &&
           value_is_null(line->text + begin, length - begin);
}

/* The line has an id, and the others have none, or the other way round. */
static const char *describe_other_ids(const line_format *lines, const source_line *line, const line_record *record)
{
    if (lines->has_names)
        return record->has_id ? "expected no name, as in the other lines, found one"
                              : "expected a name, as in the other lines, found none";
    if (record->has_id)
        return "expected no id, as in the other lines, found one (--columns fingerprint,- skips ids)";
    return lacks_fingerprint(lines, line, record)
               ? "expected an id, as in the other lines, found a word for no value, such as NULL" LINE_SEE_NULL
               : "expected an id, as in the other lines, found none (--columns fingerprint,- skips ids)";
}

/* Let what a line seems to be follow the reason that was set. */
static void add_guess(line_fault *fault, const char *guess)
{
    char hint[sizeof fault->reason];
    (void)snprintf(hint, sizeof hint, "; %s", guess);
    line_fault_set_hint(fault, hint);
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
    if (reader->lines.are_names && parse == line_parse && is_comment(line->text + bom_bytes, length - bom_bytes))
        return take_comment(reader, line->text + bom_bytes, length - bom_bytes);
    if (!parse(&reader->lines, line->text + bom_bytes, length - bom_bytes, &record, &fault)) {
        if (is_end_of_copy(line))
            return EXIT_DONE;
        if (source_line_is_blank(line))
            return take_blank(reader, line->number);
        if (input_source_is_failure(&reader->source, line))
            return EXIT_FAILED;
        if (parse == line_parse && is_comment(line->text + bom_bytes, length - bom_bytes))
            return take_comment(reader, line->text + bom_bytes, length - bom_bytes);
        hint = input_hint_of_line(line->text + bom_bytes, length - bom_bytes, line->number);
        if (fault.is_null && reader->has_record)
            line_fault_set_hint(&fault, LINE_SEE_SKIP_BAD);
        else if (parse == line_parse && hint != NULL && !fault.has_sure_hint)
            add_guess(&fault, hint);
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
        if (reader->lines.has_names && record.name_length > 0 &&
            !record_batch_add_name(batch, reader->lines.name_room, record.name_length))
            return input_source_fail(&reader->source, line->number, "out of memory");
        if (record.missing_bits > 0)
            line_shorts_note(&reader->shorts, record.missing_bits, line->number);
        const bool has_room = ++batch->count < input_batch_room(reader) && batch->name_used < RECORD_BATCH_NAME_BYTES;
        return has_room ? EXIT_DONE : input_deliver(reader);
    }
    return refuse_line(reader, line, describe_other_ids(&reader->lines, line, &record));
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
        line_run run;
        line_run_parse(format, reader->shape->ids == INPUT_IDS_PRESENT, input_source_text(source),
                       input_source_size(source), batch->fingerprints + words * batch->count, batch->ids + batch->count,
                       room, &run);
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

int format_text_read(input_reader *reader)
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
    end_blanks(reader, line.number);
    return code;
}

int format_jsonl_read(input_reader *reader)
{
    source_line line = {.cuts = bad_rows_skip(reader->options->bad_rows)};
    int code = json_rows_begin(&reader->rows, &reader->source);
    if (code == EXIT_DONE)
        code = find_width(reader, json_line_parse);
    while (code == EXIT_DONE && source_line_next(&reader->source, &line, &code))
        code = take_line(reader, &line, json_line_parse);
    return code;
}

/* ----- estimating ----- */

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
            input_expect_id(expected, record.id);
    }
    double taken = (double)(at - from->bytes);
    expected->count = lines > 0 ? (uint64_t)((double)from->file_bytes / taken * (double)lines) : from->size > 0;
}

void format_text_expect(const input_sample *from, const input_options *options, input_expectation *expected)
{
    expect_lines(from, options, line_parse, expected);
}

void format_jsonl_expect(const input_sample *from, const input_options *options, input_expectation *expected)
{
    const char *at = from->bytes + strspn(from->bytes, " \t\r\n");
    expected->known = *at == '{'; /* of an array, lines tell nothing */
    if (expected->known)
        expect_lines(from, options, json_line_parse, expected);
}
