/*
 * records.c - prints records as lines, or as words behind the header of a NumPy array.
 */
#include "output/records.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DECIMAL_CHARACTERS 20

/* ----- NumPy arrays (.npy, version 1.0) ----- */

#define NPY_HEADER_BYTES 128u
#define NPY_PREAMBLE "\x93NUMPY\x01\x00\x76\x00" /* the last two bytes: the length of the rest */

static bool print_pairs_header(const char *recipe, uint32_t words)
{
    char header[RECORDS_HEADER_LENGTH(SSTORE_MAX_WORDS, RECORDS_MAX_RECIPE)] = RECORDS_MAGIC;
    const uint32_t length = (uint32_t)strlen(recipe), stored[] = {htole32(length), htole32(words > 1 ? 64 * words : 0)};
    memcpy(header + RECORDS_MAGIC_BYTES, stored, sizeof stored);
    memcpy(header + RECORDS_HEADER_BYTES, recipe, length);
    return output_bytes(header, RECORDS_HEADER_LENGTH(words, length));
}

/* The second number of the array's shape; 0: it has one dimension. */
static uint32_t count_columns(const record_style *style)
{
    if (style->format == RECORDS_NPY_BYTES)
        return 8 * style->words;
    const uint32_t words = style->words + (style->part_count == 2);
    return words > 1 ? words : 0;
}

bool records_begin(const record_style *style, uint64_t count)
{
    if (style->format == RECORDS_WORDS && style->recipe != NULL)
        return print_pairs_header(style->recipe, style->words);
    if (style->format == RECORDS_TEXT)
        return (style->recipe == NULL || output_text("%s%s\n", RECORDS_RECIPE_COMMENT, style->recipe)) &&
               (style->columns == NULL || output_text("%s%s\n", RECORDS_COLUMNS_COMMENT, style->columns));
    if (style->format != RECORDS_NPY && style->format != RECORDS_NPY_BYTES)
        return true;
    char header[NPY_HEADER_BYTES + 1], columns[16] = "";
    const size_t preamble = sizeof NPY_PREAMBLE - 1;
    if (count_columns(style) > 0)
        snprintf(columns, sizeof columns, " %" PRIu32, count_columns(style));
    memset(header, ' ', sizeof header);
    memcpy(header, NPY_PREAMBLE, preamble);
    const int length = snprintf(header + preamble, sizeof header - preamble,
                                "{'descr': '%s', 'fortran_order': False, 'shape': (%" PRIu64 ",%s), }",
                                style->format == RECORDS_NPY_BYTES ? "|u1" : "<u8", count, columns);
    header[preamble + (size_t)length] = ' ';
    header[NPY_HEADER_BYTES - 1] = '\n';
    return output_bytes(header, NPY_HEADER_BYTES);
}

/* ----- records ----- */

typedef struct plain_record {
    const uint64_t *fingerprint;
    uint64_t id;
} plain_record;

/* Write a part as text, or nothing if there is no id. Returns a pointer behind it. */
static char *put_part(const record_style *style, record_part part, const plain_record *record, char *to)
{
    if (part == RECORD_FINGERPRINT)
        return radix_put(style->radix, to, record->fingerprint, style->words);
    return style->has_ids ? output_decimal(to, record->id) : to;
}

/* The name of a record, if it has one and it is wanted. False: it has none, which has been reported. */
static bool find_name(const record_style *style, const plain_record *record, printed_name *name_out)
{
    *name_out = (printed_name){.text = NULL};
    if (style->names == NULL || style->part_count == 1)
        return true;
    *name_out = stored_names_find(style->names, record->id);
    return name_out->text != NULL;
}

static bool print_line(const record_style *style, const plain_record *record)
{
    char line[RADIX_MAX_CHARACTERS + DECIMAL_CHARACTERS + 2], *end = line;
    printed_name name;
    bool done = find_name(style, record, &name);
    for (size_t i = 0; done && i < style->part_count; i++) {
        char *begin = end;
        if (style->parts[i] == RECORD_ID && name.text != NULL) {
            done = output_bytes(line, (size_t)(end - line)) && output_bytes(name.text, name.length);
            end = line;
        } else {
            end = put_part(style, style->parts[i], record, begin);
            if (end == begin)
                *end++ = '-';
        }
        *end++ = i + 1 < style->part_count ? '\t' : '\n';
    }
    return done && output_bytes(line, (size_t)(end - line));
}

/* The radix that objects state, or NULL. */
static const char *stated_radix(const record_style *style)
{
    bool is_stated = style->radix != RADIX_HEX;
    for (size_t i = 0; i < style->part_count; i++)
        is_stated = is_stated && strcmp(style->keys[i], RECORDS_RADIX_KEY) != 0;
    return is_stated ? radix_name(style->radix) : NULL;
}

static bool print_object(const record_style *style, const plain_record *record)
{
    char texts[2][RADIX_MAX_CHARACTERS + 1];
    const char *values[2] = {NULL, NULL};
    for (size_t i = 0; i < style->part_count; i++) {
        *put_part(style, style->parts[i], record, texts[i]) = '\0';
        values[i] = texts[i][0] != '\0' ? texts[i] : NULL;
    }
    const char *radix = stated_radix(style);
    printed_name name;
    if (!find_name(style, record, &name))
        return false;
    if (style->part_count == 1)
        return output_json(json_value_make("{s:s?, s:s*, s:s*}", style->keys[0], values[0], RECORDS_RADIX_KEY, radix,
                                           RECORDS_RECIPE_KEY, style->recipe));
    return output_json(json_value_make("{s:s?, s:s?, s:s*, s:s*, s:s*}", style->keys[0], values[0], style->keys[1],
                                       values[1], name.is_escaped ? RECORDS_ESCAPED_NAME_KEY : RECORDS_NAME_KEY,
                                       name.text, RECORDS_RADIX_KEY, radix, RECORDS_RECIPE_KEY, style->recipe));
}

static bool print_words(const record_style *style, const plain_record *record)
{
    uint64_t words[SSTORE_MAX_WORDS + 1];
    uint32_t count = style->words;
    for (uint32_t i = 0; i < count; i++)
        words[i] = style->format == RECORDS_NPY_BYTES ? htobe64(record->fingerprint[i])
                                                      : htole64(record->fingerprint[i]);
    if (style->part_count == 2)
        words[count++] = htole64(record->id);
    return output_bytes((const char *)words, count * sizeof *words);
}

bool records_print(const record_style *style, const uint64_t *fingerprint, uint64_t id)
{
    const plain_record record = {fingerprint, id};
    switch (style->format) {
    case RECORDS_TEXT: return print_line(style, &record);
    case RECORDS_JSONL: return print_object(style, &record);
    case RECORDS_WORDS:
    case RECORDS_NPY:
    case RECORDS_NPY_BYTES: break;
    }
    return print_words(style, &record);
}
