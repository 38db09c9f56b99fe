/*
 * input_line.c - the grammar of one line of text input. Touches nothing but the line and its result.
 */
#include "input_line.h"

#include <stdio.h>
#include <string.h>

#include "sstore.h"

/* How much of a wrong field a message shows. */
#define SHOWN_BYTES 40

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

static void show(const char *text, size_t length, char *to, size_t size)
{
    char escaped[4 * SHOWN_BYTES + 1];
    (void)sstore_escape(text, length < SHOWN_BYTES ? length : SHOWN_BYTES, 0, escaped, sizeof escaped);
    snprintf(to, size, length > SHOWN_BYTES ? "'%s...'" : "'%s'", escaped);
}

bool line_fault_found(line_fault *fault, const char *expected, const char *found, size_t length)
{
    char shown[4 * SHOWN_BYTES + 8];
    show(found, length, shown, sizeof shown);
    snprintf(fault->reason, sizeof fault->reason, "expected %s, found %s", expected, length == 0 ? "nothing" : shown);
    return false;
}

static bool fail_found(line_fault *fault, const char *expected, const field *found)
{
    return line_fault_found(fault, expected, found->text, found->length);
}

/* ----- values ----- */

/* One more than the value of a hex digit; 0: not one. */
static const uint8_t hex_values[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16};

typedef enum number_result { NUMBER_OK, NUMBER_MALFORMED, NUMBER_TOO_LARGE } number_result;

static bool parse_hex(const field *source, uint64_t *value_out, line_fault *fault)
{
    const char *at = source->text, *end = at + source->length;
    if (source->length > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
        at += 2;
    if (at == end || end - at > 16)
        return fail_found(fault, "a fingerprint of 1 to 16 hex digits", source);
    uint64_t value = 0;
    for (; at < end; at++) {
        uint32_t digit = hex_values[(unsigned char)*at];
        if (digit == 0)
            return fail_found(fault, "a fingerprint of 1 to 16 hex digits", source);
        value = value << 4 | (digit - 1);
    }
    *value_out = value;
    return true;
}

static number_result parse_decimal(const char *text, size_t length, uint64_t *value_out)
{
    uint64_t value = 0;
    bool too_large = false;
    for (size_t i = 0; i < length; i++) {
        uint32_t digit = (uint32_t)(unsigned char)text[i] - '0';
        if (digit > 9)
            return NUMBER_MALFORMED;
        too_large |= __builtin_mul_overflow(value, 10u, &value);
        too_large |= __builtin_add_overflow(value, digit, &value);
    }
    *value_out = value;
    if (length == 0)
        return NUMBER_MALFORMED;
    return too_large ? NUMBER_TOO_LARGE : NUMBER_OK;
}

/* Signed numbers are taken as two's complement, as databases without unsigned types hold fingerprints. */
static bool parse_decimal_fingerprint(const field *source, uint64_t *value_out, line_fault *fault)
{
    static const char expected[] = "a decimal fingerprint from -9223372036854775808 to 18446744073709551615";
    bool negative = source->length > 0 && source->text[0] == '-';
    uint64_t value = 0;
    number_result result = parse_decimal(source->text + negative, source->length - negative, &value);
    if (result != NUMBER_OK || (negative && value > UINT64_C(1) << 63))
        return fail_found(fault, expected, source);
    *value_out = negative ? 0 - value : value;
    return true;
}

static bool parse_fingerprint(bool decimal, const field *source, uint64_t *value_out, line_fault *fault)
{
    return decimal ? parse_decimal_fingerprint(source, value_out, fault) : parse_hex(source, value_out, fault);
}

static bool parse_number(const field *source, uint64_t *value_out, const char *expected, line_fault *fault)
{
    return parse_decimal(source->text, source->length, value_out) == NUMBER_OK || fail_found(fault, expected, source);
}

static bool parse_id(const field *source, line_record *record, line_fault *fault)
{
    record->has_id = !(source->length == 1 && source->text[0] == '-');
    if (!record->has_id || parse_number(source, &record->id, "a decimal id up to 18446744073709551615, or '-'", fault))
        return true;
    const size_t said = strlen(fault->reason); /* as after 'sstore fingerprint FILE...' */
    snprintf(fault->reason + said, sizeof fault->reason - said, "; --columns fingerprint,- skips what is no id");
    return false;
}

/* ----- fields ----- */

static field_reader read_fields(const char *line, size_t length)
{
    bool tabbed = memchr(line, '\t', length) != NULL;
    return (field_reader){.at = line, .end = line + length, .separator = tabbed ? '\t' : ' '};
}

/* Take the next field. False: there is none. Spaces before the first field and after the last one are none. */
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
    *field_out = (field){reader->at, (size_t)(stop - reader->at)};
    reader->at = stop + !reader->exhausted;
    return true;
}

static bool parse_column(const line_format *format, line_column column, const field *source, line_record *record,
                         line_fault *fault)
{
    if (column == LINE_COLUMN_FINGERPRINT)
        return format->are_ids ? parse_number(source, &record->fingerprint, "a decimal id up to 18446744073709551615", fault)
                               : parse_fingerprint(format->decimal, source, &record->fingerprint, fault);
    if (column == LINE_COLUMN_ID && !format->ignore_ids)
        return parse_id(source, record, fault);
    return true;
}

static bool fail_missing(line_fault *fault, const line_format *format, size_t index)
{
    static const char *const names[] = {"a fingerprint", "an id or '-'", "a field to skip"};
    snprintf(fault->reason, sizeof fault->reason, "expected %s in field %zu, found the end of the line",
             names[format->columns[index]], index + 1);
    return false;
}

bool line_parse(const line_format *format, const char *line, size_t length, line_record *record_out,
                line_fault *fault)
{
    *record_out = (line_record){0};
    if (length == 0) {
        snprintf(fault->reason, sizeof fault->reason, "expected a fingerprint, found an empty line");
        return false;
    }
    field_reader reader = read_fields(line, length);
    field current;
    for (size_t i = 0; i < format->column_count; i++) {
        line_column column = format->columns[i];
        if (column == LINE_COLUMN_SKIPPED && i + 1 == format->column_count)
            return true;
        if (!next_field(&reader, &current))
            return (column == LINE_COLUMN_ID && format->id_may_be_missing) || fail_missing(fault, format, i);
        if (!parse_column(format, column, &current, record_out, fault))
            return false;
    }
    return !next_field(&reader, &current) || fail_found(fault, "the end of the line", &current);
}

bool line_parse_fingerprint(bool decimal, const char *text, size_t length, uint64_t *fingerprint_out,
                            line_fault *fault)
{
    return parse_fingerprint(decimal, &(field){text, length}, fingerprint_out, fault);
}

/* ----- columns ----- */

static bool parse_column_name(const field *name, line_column *column_out)
{
    static const char *const names[] = {"fingerprint", "id", "-"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (name->length == strlen(names[i]) && memcmp(name->text, names[i], name->length) == 0) {
            *column_out = (line_column)i;
            return true;
        }
    }
    return false;
}

/* Read the id column as that of fingerprints. */
static void read_ids_alone(line_format *format)
{
    for (size_t i = 0; i < format->column_count; i++)
        format->columns[i] = format->columns[i] == LINE_COLUMN_ID ? LINE_COLUMN_FINGERPRINT : LINE_COLUMN_SKIPPED;
}

bool line_format_set_columns(line_format *format, const char *list, line_fault *fault)
{
    field_reader reader = {.at = list, .end = list + strlen(list), .separator = ','};
    size_t seen[3] = {0};
    field name;
    format->column_count = 0;
    format->id_may_be_missing = false;
    while (next_field(&reader, &name)) {
        line_column column;
        if (!parse_column_name(&name, &column))
            return fail_found(fault, "a list of 'fingerprint', 'id' and '-'", &name);
        if (format->column_count == LINE_MAX_COLUMNS)
            return fail_found(fault, "at most 64 columns", &name);
        if (column != LINE_COLUMN_SKIPPED && seen[column] > 0)
            return fail_found(fault, "each of 'fingerprint' and 'id' once", &name);
        seen[column]++;
        format->columns[format->column_count++] = column;
    }
    const line_column needed = format->are_ids ? LINE_COLUMN_ID : LINE_COLUMN_FINGERPRINT;
    if (seen[needed] == 0)
        return fail_found(fault, format->are_ids ? "a list with 'id' in it" : "a list with 'fingerprint' in it",
                          &(field){list, strlen(list)});
    if (format->are_ids)
        read_ids_alone(format);
    return true;
}
