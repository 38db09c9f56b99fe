/*
 * input_line.c - parses one line of text: a parser for any line, and a faster one for the common shapes. It touches
 * nothing but the line and the result.
 */
#include "input/input_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "input/digits.h"
#include "input/input_value.h"
#include "input/name_text.h"
#include "input/value_looks.h"

#define HEX_DIGITS 16u /* of a word */
#define LINE_SEE_ID_FIRST "; --columns id,fingerprint reads lines that begin with the id"
#define LINE_SEE_NAME_DECIMAL                                                                                          \
    "; if this is a name, --radix dec --columns -,fingerprint skips it and reads a decimal fingerprint"
#define LINE_SEE_NAME_FIRST                                                                                            \
    "; if this is a name, --columns -,fingerprint skips it, and 'sstore build --names' with --columns "                \
    "name,fingerprint keeps it"
#define LINE_SEE_DECIMAL_LAST "; --radix dec --columns id,fingerprint reads an id and a decimal fingerprint"

typedef struct field {
    const char *text;
    size_t length;
} field;

typedef struct field_reader {
    const char *at, *end;
    char separator;
    bool exhausted;
} field_reader;

/* ----- messages ----- */

static bool fail_found(line_fault *fault, const char *expected, const field *found)
{
    return line_fault_found(fault, expected, found->text, found->length);
}

static bool fail_with_hint(line_fault *fault, const char *expected, const field *found, const char *hint)
{
    (void)fail_found(fault, expected, found);
    line_fault_set_hint(fault, hint);
    return false;
}

/* ----- values ----- */

static bool parse_decimal(const char *text, size_t length, uint64_t *value_out)
{
    bool fits;
    return length > 0 && digits_read_any_decimal(text, length, value_out, &fits) == length && fits;
}

/* An id; also as a double, as programs write it that have no integers beside null: they are exact up to 2^53. */
static bool parse_id_value(const char *text, size_t length, uint64_t *value_out)
{
    if (length <= 2 || memcmp(text + length - 2, ".0", 2) != 0)
        return parse_decimal(text, length, value_out);
    return parse_decimal(text, length - 2, value_out) && *value_out <= UINT64_C(1) << 53;
}

static bool is_hex(const field *source, uint32_t words)
{
    uint64_t ignored[SSTORE_MAX_WORDS];
    line_fault unused;
    return line_parse_hex(64 * words, source->text, source->length, ignored, &unused) > 0;
}

/* Is it a number, but negative? */
static bool is_negative(const field *source)
{
    uint64_t ignored;
    return source->length > 1 && source->text[0] == '-' &&
           parse_decimal(source->text + 1, source->length - 1, &ignored);
}

/* What helps if a field is no id. The default columns may be wrong: then ids, or names, come before fingerprints. */
static const char *find_id_hint(const line_format *format, const field *source, const line_record *record)
{
    if (format->id_may_be_missing && is_negative(source) &&
        (line_may_be_id(record) || value_is_wide_decimal(source->text, source->length)))
        return LINE_SEE_DECIMAL_LAST;
    if (format->id_may_be_missing && line_may_be_id(record) && value_is_null(source->text, source->length))
        return LINE_SEE_NULL;
    if (source->length >= HEX_DIGITS && is_hex(source, format->words))
        return LINE_SEE_ID_FIRST;
    return format->must_have_ids ? "; the store has ids, not names"
                                 : "; --columns fingerprint,- skips this field, and 'sstore build --names' keeps names";
}

/* The hints help with ids before fingerprints, and with the output of 'sstore fingerprint FILE...', which has paths in
 * the place of ids. */
static bool parse_id(const line_format *format, const field *source, line_record *record, line_fault *fault)
{
    const bool is_null = source->length == 2 && memcmp(source->text, "\\N", 2) == 0; /* of COPY of PostgreSQL */
    record->has_id = !is_null && !(source->length == 1 && source->text[0] == '-') &&
                     !(source->length == 0 && format->id_may_be_missing);
    if (!record->has_id || parse_id_value(source->text, source->length, &record->id))
        return true;
    return fail_with_hint(fault, "a decimal id up to 18446744073709551615, or '-'", source,
                          find_id_hint(format, source, record));
}

/* A line of ids. The hint helps with lines of fingerprint and id that were given without --columns. */
static bool parse_only_id(const line_format *format, const field *source, uint64_t *id_out, line_fault *fault)
{
    if (parse_id_value(source->text, source->length, id_out))
        return true;
    const bool may_be_fingerprint = format->id_may_be_missing && is_hex(source, 0);
    return fail_with_hint(fault, "a decimal id up to 18446744073709551615", source,
                          may_be_fingerprint ? "; if the ids are in the second field, add --columns fingerprint,id"
                                             : "");
}

static bool parse_name(const line_format *format, const field *source, line_record *record, line_fault *fault)
{
    record->has_id = !format->are_names;
    record->fingerprint[0] = format->are_names ? 0 : record->fingerprint[0];
    const bool right = name_decode(source->text, source->length, format->name_room, &record->name_length, fault);
    if (!right)
        fault->has_sure_hint = true;
    return right;
}

/* ----- fields ----- */

static field_reader read_fields(const char *line, size_t length)
{
    bool tabbed = memchr(line, '\t', length) != NULL;
    return (field_reader){.at = line, .end = line + length, .separator = tabbed ? '\t' : ' '};
}

/* Take the next field. False: there is none. Spaces before the first field and after the last one do not count. */
static bool next_field(field_reader *reader, field *field_out)
{
    if (reader->separator == ' ') {
        while (reader->at < reader->end && *reader->at == ' ')
            reader->at++;
        if (reader->at == reader->end)
            return false;
    }
    if (reader->exhausted)
        return false;
    const char *stop = memchr(reader->at, reader->separator, (size_t)(reader->end - reader->at));
    reader->exhausted = stop == NULL;
    if (stop == NULL)
        stop = reader->end;
    const char *begin = reader->at, *end = stop;
    reader->at = stop + !reader->exhausted;
    while (begin < end && *begin == ' ')
        begin++;
    while (begin < end && end[-1] == ' ')
        end--;
    *field_out = (field){begin, (size_t)(end - begin)};
    return true;
}

/* Take the next field as it is. The last one of a line without tabs is all that follows. */
static bool next_name(field_reader *reader, bool is_last, field *field_out)
{
    if (reader->separator == '\t' || !is_last) {
        const char *begin = reader->at;
        if (!next_field(reader, field_out))
            return false;
        if (reader->separator == '\t')
            *field_out = (field){begin, (size_t)(reader->at - begin) - !reader->exhausted};
        return true;
    }
    while (reader->at < reader->end && *reader->at == ' ')
        reader->at++;
    *field_out = (field){reader->at, (size_t)(reader->end - reader->at)};
    reader->at = reader->end;
    reader->exhausted = true;
    return field_out->length > 0;
}

/* Take the rest of the line. False: it has a field that is not empty. */
static bool rest_is_empty(field_reader *reader, field *field_out)
{
    while (next_field(reader, field_out))
        if (field_out->length > 0)
            return false;
    return true;
}

/* The parts of a fingerprint, if it has several. */
typedef struct part_list {
    value_part items[VALUE_MAX_PARTS];
    size_t count;
} part_list;

static bool parse_column(const line_format *format, line_column column, const field *source, line_record *record,
                         part_list *parts, line_fault *fault)
{
    if (column == LINE_COLUMN_NAME || (column == LINE_COLUMN_FINGERPRINT && format->are_names))
        return parse_name(format, source, record, fault);
    if (column == LINE_COLUMN_FINGERPRINT && format->are_ids)
        return parse_only_id(format, source, &record->fingerprint[0], fault);
    if (column == LINE_COLUMN_FINGERPRINT && format->part_count > 1)
        return value_parse_part(format, source->text, source->length, &parts->items[parts->count++], fault);
    if (column == LINE_COLUMN_FINGERPRINT)
        return value_parse(format, source->text, source->length, record, fault);
    if (column == LINE_COLUMN_ID && format->are_ids) /* the columns are the default: the id may be either field */
        return fail_with_hint(fault, "no second field", source,
                              "; --columns id,- reads the first field, --columns fingerprint,id the second");
    if (column == LINE_COLUMN_ID && !format->ignore_ids)
        return parse_id(format, source, record, fault);
    return true;
}

/* The line does not begin with a fingerprint, but the second field may be one. Returns a hint if the first one is an id
 * or a name, or NULL. An id of as many digits as a decimal fingerprint is the fingerprint if another number follows. */
static const char *find_first_hint(const line_format *format, const field *first, const field *second)
{
    line_record record;
    uint64_t number;
    const bool is_number = parse_decimal(first->text, first->length, &number);
    if (is_number && is_negative(second))
        return LINE_SEE_DECIMAL_LAST;
    if (!is_number && !is_hex(first, 0) && value_is_wide_decimal(second->text, second->length))
        return LINE_SEE_NAME_DECIMAL;
    if ((is_number && value_is_wide_decimal(first->text, first->length) &&
         parse_decimal(second->text, second->length, &number)) ||
        !value_read(format, second->text, second->length, &record))
        return NULL;
    if (is_number)
        return LINE_SEE_ID_FIRST;
    return record.missing_bits == 0 && record.decides ? LINE_SEE_NAME_FIRST : NULL;
}

static void look_for_id(const line_format *format, const field *first, field_reader *reader, line_fault *fault)
{
    field second;
    if (!format->id_may_be_missing || format->are_ids || value_is_null(first->text, first->length) ||
        !next_field(reader, &second))
        return;
    const char *hint = find_first_hint(format, first, &second);
    if (hint == NULL)
        return;
    line_fault_set_hint(fault, hint);
    fault->has_sure_hint = true;
}

static bool parse_edge(const char *line, size_t length, line_record *record_out, line_fault *fault)
{
    field_reader reader = read_fields(line, length);
    field first, second, rest;
    record_out->has_id = true;
    const bool right = next_field(&reader, &first) && next_field(&reader, &second) && !next_field(&reader, &rest) &&
                       parse_decimal(first.text, first.length, &record_out->fingerprint[0]) &&
                       parse_decimal(second.text, second.length, &record_out->id);
    return right || line_fault_found(fault, "two decimal numbers up to 18446744073709551615", line, length);
}

static bool join_parts(const line_format *format, const part_list *parts, line_record *record, line_fault *fault)
{
    return parts->count == 0 || value_join(format, parts->items, parts->count, record, fault);
}

/* What to do about a field behind the last column. */
static const char *rest_hint(const line_format *format, const field *rest)
{
    uint64_t ignored;
    if (format->column_count == 2 && line_column_at(format, 1) == LINE_COLUMN_NAME)
        return "; --columns fingerprint,-,name reads names from the third field";
    return parse_decimal(rest->text, rest->length, &ignored) ? "; a - at the end of --columns skips the rest of a "
                                                               "line, and id,fingerprint,fingerprint joins two columns"
                                                             : "; a - at the end of --columns skips the rest of a line";
}

bool line_parse(const line_format *format, const char *line, size_t length, line_record *record_out, line_fault *fault)
{
    static const char *const names[] = {"a fingerprint", "an id or '-'", "a name", "a field to skip"};
    part_list parts;
    parts.count = 0;
    line_record_clear(record_out);
    if (format->are_edges)
        return parse_edge(line, length, record_out, fault);
    if (length == 0)
        return line_fault_set(fault, "expected %s, found an empty line",
                              format->are_names ? "a name"
                              : format->are_ids ? "an id"
                                                : "a fingerprint");
    field_reader reader = read_fields(line, length);
    field current;
    if (format->are_names) /* which may have spaces */
        reader.separator = '\t';
    for (size_t i = 0; i < format->column_count; i++) {
        const line_column column = line_column_at(format, i);
        const bool is_name = column == LINE_COLUMN_NAME || (format->are_names && column == LINE_COLUMN_FINGERPRINT);
        if (column == LINE_COLUMN_SKIPPED && i + 1 == format->column_count)
            return join_parts(format, &parts, record_out, fault);
        if (!(is_name ? next_name(&reader, i + 1 == format->column_count, &current) : next_field(&reader, &current)))
            return (format->id_may_be_missing &&
                    (column == LINE_COLUMN_ID || (column == LINE_COLUMN_NAME && format->must_have_ids))) ||
                   line_fault_set(fault, "expected %s in field %zu, found the end of the line", names[column], i + 1);
        if (!parse_column(format, column, &current, record_out, &parts, fault)) {
            if (i == 0)
                look_for_id(format, &current, &reader, fault);
            return false;
        }
    }
    if (!rest_is_empty(&reader, &current))
        return fail_with_hint(fault, "the end of the line", &current, rest_hint(format, &current));
    return join_parts(format, &parts, record_out, fault);
}

uint32_t line_parse_hex(uint32_t bits, const char *text, size_t length, uint64_t *fingerprint_out, line_fault *fault)
{
    line_format format = LINE_FORMAT_INIT;
    line_record record;
    format.words = (bits + 63) / 64;
    format.pads = bits % 64 != 0;
    format.bits = bits;
    if (!value_parse(&format, text, length, &record, fault))
        return 0;
    if (record.kind != 0) {
        (void)line_fault_found(fault, "hex digits alone", text, length);
        return 0;
    }
    memcpy(fingerprint_out, record.fingerprint, record.words * sizeof *record.fingerprint);
    return record.words;
}

bool line_parse_id(const char *text, size_t length, uint64_t *id_out, line_fault *fault)
{
    return parse_decimal(text, length, id_out) ||
           line_fault_found(fault, "a decimal id up to 18446744073709551615", text, length);
}

/* ----- columns ----- */

static bool parse_column_name(const field *name, line_column *column_out)
{
    static const char *const names[] = {"fingerprint", "id", "name", "-"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (name->length == strlen(names[i]) && memcmp(name->text, names[i], name->length) == 0) {
            *column_out = (line_column)i;
            return true;
        }
    }
    return false;
}

bool line_format_set_columns(line_format *format, const char *list, line_fault *fault)
{
    field_reader reader = {.at = list, .end = list + strlen(list), .separator = ','};
    uint32_t seen[4] = {0};
    field name;
    format->column_count = 0;
    format->id_may_be_missing = false;
    while (next_field(&reader, &name)) {
        line_column column;
        if (!parse_column_name(&name, &column))
            return fail_found(fault, "a list of 'fingerprint', 'id', 'name' and '-'", &name);
        if (format->column_count == LINE_MAX_COLUMNS)
            return fail_found(fault, "at most 64 columns", &name);
        if ((column == LINE_COLUMN_ID || column == LINE_COLUMN_NAME) && seen[column] > 0)
            return line_fault_set(fault, "'%.*s' is in the list twice", (int)name.length, name.text);
        if (column == LINE_COLUMN_FINGERPRINT && seen[column] == VALUE_MAX_PARTS)
            return fail_found(fault, "at most 32 columns of a fingerprint", &name);
        seen[column]++;
        format->columns[format->column_count++] = column;
    }
    format->part_count = seen[LINE_COLUMN_FINGERPRINT];
    format->has_name_column = seen[LINE_COLUMN_NAME] > 0;
    const bool alone = format->are_ids || format->are_names;
    const line_column needed = format->are_names && format->has_name_column ? LINE_COLUMN_NAME
                               : alone                                      ? LINE_COLUMN_ID
                                                                            : LINE_COLUMN_FINGERPRINT;
    if (seen[needed] == 0)
        return fail_found(fault,
                          format->are_names ? "a list with 'name' in it"
                          : format->are_ids ? "a list with 'id' in it"
                                            : "a list with 'fingerprint' in it",
                          &(field){list, strlen(list)});
    if (format->must_have_ids && !alone && format->has_name_column && !format->has_names && seen[LINE_COLUMN_ID] == 0)
        return line_fault_set(fault, "the records have names, but the store has ids");
    for (size_t i = 0; alone && i < format->column_count; i++)
        format->columns[i] = format->columns[i] == needed ? LINE_COLUMN_FINGERPRINT : LINE_COLUMN_SKIPPED;
    return true;
}

/* ----- many lines of the common shapes, without looking for their ends first ----- */

/*
 * The common shapes: a fingerprint and an id in either order, or a fingerprint alone. Fingerprints are hex digits
 * without 0x, or decimal numbers. A tab or one space separates the two, and LF or CRLF ends the line. Every byte
 * of such a line belongs to one of these parts.
 */

/* The longest line: two fields, as the functions of digits.h read them, further words of the fingerprint, a sign, a
 * separator and a line end. */
#define MAX_COMMON_BYTES(words) ((size_t)2 * DIGITS_READ_BYTES + 4 + HEX_DIGITS * ((size_t)(words)-1))

typedef enum line_shape { SHAPE_OTHER, SHAPE_FINGERPRINT, SHAPE_FINGERPRINT_ID, SHAPE_ID_FINGERPRINT } line_shape;

static line_shape choose_shape(const line_format *format)
{
    const line_column *columns = format->columns;
    if (format->are_ids || format->has_names || format->words == 0 ||
        (format->words > 1 && format->radix != RADIX_HEX) || format->radix > RADIX_SIGNED || format->pads ||
        format->words_unsure || format->kind != 0)
        return SHAPE_OTHER;
    if (format->column_count == 1 && columns[0] == LINE_COLUMN_FINGERPRINT)
        return SHAPE_FINGERPRINT;
    if (format->column_count != 2)
        return SHAPE_OTHER;
    if (columns[0] == LINE_COLUMN_FINGERPRINT && columns[1] == LINE_COLUMN_ID)
        return SHAPE_FINGERPRINT_ID;
    return columns[0] == LINE_COLUMN_ID && columns[1] == LINE_COLUMN_FINGERPRINT ? SHAPE_ID_FINGERPRINT : SHAPE_OTHER;
}

/* Each of these takes a part of the line and returns the text after it, or NULL if something else stands there. */

/* All digits of several words. */
static inline const char *take_hex_words(const char *at, uint32_t words, uint64_t *words_out)
{
    for (uint32_t i = 0; i < words; i++, at += HEX_DIGITS)
        if (digits_read_hex(at, &words_out[i]) != HEX_DIGITS)
            return NULL;
    return at;
}

/* Sets *missing_out, which is 0, if hex digits are absent. */
static inline const char *take_fingerprint(radix_form form, uint32_t words, const char *at, uint64_t *value_out,
                                           size_t *missing_out)
{
    if (words > 1)
        return take_hex_words(at, words, value_out);
    if (form == RADIX_HEX) {
        size_t count = digits_read_hex(at, value_out);
        *missing_out = HEX_DIGITS - count;
        return count > 0 ? at + count : NULL;
    }
    bool negative = *at == '-';
    size_t count = digits_read_decimal(at + negative, value_out);
    if (count == 0 || (negative && *value_out > UINT64_C(1) << 63))
        return NULL;
    *value_out = negative ? 0 - *value_out : *value_out;
    return at + negative + count;
}

static inline const char *take_id(const char *at, uint64_t *value_out)
{
    size_t count = digits_read_decimal(at, value_out);
    return count > 0 ? at + count : NULL;
}

static inline const char *take_separator(const char *at)
{
    return *at == '\t' || *at == ' ' ? at + 1 : NULL;
}

static inline const char *take_end(const char *at)
{
    if (*at == '\n')
        return at + 1;
    return at[0] == '\r' && at[1] == '\n' ? at + 2 : NULL;
}

/* Take the rest of a line behind the fingerprint. `id_out` is NULL if no id is wanted. */
static inline const char *take_id_behind(const line_format *format, const char *at, uint64_t *id_out)
{
    uint64_t ignored;
    const char *id = take_separator(at);
    if (id == NULL)
        return id_out == NULL && format->id_may_be_missing ? take_end(at) : NULL;
    if (id_out == NULL && *id == '-')
        return take_end(id + 1);
    if (id_out == NULL && !format->ignore_ids)
        return NULL;
    at = take_id(id, id_out != NULL ? id_out : &ignored);
    return at != NULL ? take_end(at) : NULL;
}

static inline const char *take_id_before(const line_format *format, const char *at, uint64_t *id_out)
{
    uint64_t ignored;
    if (id_out == NULL && !format->ignore_ids)
        return NULL;
    at = take_id(at, id_out != NULL ? id_out : &ignored);
    return at != NULL ? take_separator(at) : NULL;
}

static inline const char *take_line(const line_format *format, line_shape shape, uint32_t words, const char *at,
                                    uint64_t *fingerprint_out, uint64_t *id_out, size_t *missing_out)
{
    if (shape == SHAPE_ID_FINGERPRINT)
        at = take_id_before(format, at, id_out);
    if (at != NULL)
        at = format->are_edges ? take_id(at, fingerprint_out)
                               : take_fingerprint(format->radix, words, at, fingerprint_out, missing_out);
    if (at != NULL)
        at = shape == SHAPE_FINGERPRINT_ID ? take_id_behind(format, at, id_out) : take_end(at);
    return at;
}

/* Inlined twice, so that lines of 64 bits are read without loops over words. */
static inline __attribute__((always_inline)) line_run parse_run(const line_format *format, line_shape shape,
                                                                uint32_t words, const char *text, size_t size,
                                                                uint64_t *fingerprints, uint64_t *ids, size_t max_count)
{
    line_run run = {.count = 0};
    while (run.count < max_count && size - run.bytes >= MAX_COMMON_BYTES(words)) {
        const char *line = text + run.bytes;
        size_t missing = 0;
        const char *next = take_line(format, shape, words, line, &fingerprints[words * run.count],
                                     ids != NULL ? &ids[run.count] : NULL, &missing);
        if (next == NULL)
            break;
        if (missing > 0 && fingerprints[words * run.count] != 0)
            line_shorts_note(&run.shorts, 4 * (uint32_t)missing, run.count);
        run.count++;
        run.bytes += (size_t)(next - line);
    }
    return run;
}

void line_run_parse(const line_format *format, bool has_ids, const char *text, size_t size, uint64_t *fingerprints,
                    uint64_t *ids, size_t max_count, line_run *run_out)
{
    const line_shape shape = choose_shape(format);
    *run_out = (line_run){.count = 0};
    if (shape == SHAPE_OTHER || (has_ids && (shape == SHAPE_FINGERPRINT || format->ignore_ids)))
        return;
    if (!has_ids)
        ids = NULL;
    *run_out = format->words == 1 ? parse_run(format, shape, 1, text, size, fingerprints, ids, max_count)
                                  : parse_run(format, shape, format->words, text, size, fingerprints, ids, max_count);
}

/* ----- lines of matches ----- */

#define MAX_MATCH_BYTES                                                                                                \
    (2 * (HEX_DIGITS * SSTORE_MAX_WORDS + 1) + 4 + 1 + DIGITS_MAX_DECIMAL) /* of a line without its end */

/* Read all digits of some words, and a tab. Returns how many words they are, or 0. */
static uint32_t take_match_words(const char **at, uint64_t *words_out)
{
    for (uint32_t count = 0; count < SSTORE_MAX_WORDS && digits_read_hex(*at, &words_out[count]) == HEX_DIGITS;) {
        *at += HEX_DIGITS;
        count++;
        if (**at == '\t') {
            ++*at;
            return count;
        }
    }
    return 0;
}

/* Read a decimal number that ends with `end`. */
static bool take_match_number(const char **at, char end, uint64_t *value_out)
{
    size_t count = digits_read_decimal(*at, value_out);
    if (count == 0 || (*at)[count] != end)
        return false;
    *at += count + 1;
    return true;
}

/* The text ends with zeros, so no part is found beyond it. */
static bool take_match(const char *at, match_line *line, uint64_t *distance_out)
{
    line->words = take_match_words(&at, line->query);
    if (line->words == 0 || take_match_words(&at, line->fingerprint) != line->words ||
        !take_match_number(&at, '\t', distance_out))
        return false;
    line->has_id = at[0] != '-';
    line->id = 0;
    return line->has_id ? take_match_number(&at, '\0', &line->id) : at[1] == '\0';
}

bool match_line_parse(const char *text, size_t length, match_line *line_out, line_fault *fault)
{
    char line[MAX_MATCH_BYTES + DIGITS_READ_BYTES + 1];
    uint64_t distance = 0;
    const bool fits = length <= MAX_MATCH_BYTES && memchr(text, '\0', length) == NULL;
    const size_t taken = fits ? length : 0;
    memcpy(line, text, taken);
    memset(line + taken, 0, DIGITS_READ_BYTES + 1);
    if (!take_match(line, line_out, &distance))
        return line_fault_found(fault, "a match (query, fingerprint, distance and id, separated by tabs)", text,
                                length);
    line_out->distance = sstore_hamming_distance(line_out->query, line_out->fingerprint, 64 * line_out->words);
    return line_out->distance == distance ||
           line_fault_set(fault, "expected %" PRIu32 ", the distance of the line's fingerprints, found %" PRIu64,
                          line_out->distance, distance);
}
