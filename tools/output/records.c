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

static bool print_pairs_header(const char *recipe)
{
    char header[RECORDS_PAIR_BYTES + RECORDS_MAX_RECIPE + RECORDS_PAIR_BYTES] = RECORDS_MAGIC;
    const size_t length = strlen(recipe);
    const uint64_t stored = htole64(length);
    memcpy(header + RECORDS_MAGIC_BYTES, &stored, sizeof stored);
    memcpy(header + RECORDS_PAIR_BYTES, recipe, length);
    return output_bytes(header, RECORDS_PAIR_BYTES +
                                    (length + RECORDS_PAIR_BYTES - 1) / RECORDS_PAIR_BYTES * RECORDS_PAIR_BYTES);
}

bool records_begin(const record_style *style, uint64_t count)
{
    if (style->format == RECORDS_WORDS && style->recipe != NULL)
        return print_pairs_header(style->recipe);
    if (style->format != RECORDS_NPY && style->format != RECORDS_NPY_BYTES)
        return true;
    char header[NPY_HEADER_BYTES + 1], columns[8] = "";
    const size_t preamble = sizeof NPY_PREAMBLE - 1;
    const bool bytes = style->format == RECORDS_NPY_BYTES;
    if (bytes || style->part_count == 2)
        snprintf(columns, sizeof columns, " %d", bytes ? 8 : 2);
    memset(header, ' ', sizeof header);
    memcpy(header, NPY_PREAMBLE, preamble);
    const int length = snprintf(header + preamble, sizeof header - preamble,
                                "{'descr': '%s', 'fortran_order': False, 'shape': (%" PRIu64 ",%s), }",
                                bytes ? "|u1" : "<u8", count, columns);
    header[preamble + (size_t)length] = ' ';
    header[NPY_HEADER_BYTES - 1] = '\n';
    return output_bytes(header, NPY_HEADER_BYTES);
}

/* ----- records ----- */

static uint64_t part_value(record_part part, const sstore_record *record)
{
    return part == RECORD_FINGERPRINT ? record->fingerprint : record->id;
}

/* Write a part as text, or nothing if there is no id. Returns a pointer behind it. */
static char *put_part(const record_style *style, record_part part, const sstore_record *record, char *to)
{
    if (part == RECORD_FINGERPRINT)
        return radix_put(style->radix, to, record->fingerprint);
    return style->has_ids ? output_decimal(to, record->id) : to;
}

static bool print_line(const record_style *style, const sstore_record *record)
{
    char line[RADIX_MAX_CHARACTERS + DECIMAL_CHARACTERS + 2], *end = line;
    for (size_t i = 0; i < style->part_count; i++) {
        char *begin = end;
        end = put_part(style, style->parts[i], record, begin);
        if (end == begin)
            *end++ = '-';
        *end++ = i + 1 < style->part_count ? '\t' : '\n';
    }
    return output_bytes(line, (size_t)(end - line));
}

static bool print_object(const record_style *style, const sstore_record *record)
{
    char texts[2][RADIX_MAX_CHARACTERS + 1];
    const char *values[2] = {NULL, NULL};
    for (size_t i = 0; i < style->part_count; i++) {
        *put_part(style, style->parts[i], record, texts[i]) = '\0';
        values[i] = texts[i][0] != '\0' ? texts[i] : NULL;
    }
    if (style->part_count == 1)
        return output_json(json_value_make("{s:s?}", style->keys[0], values[0]));
    return output_json(json_value_make("{s:s?, s:s?}", style->keys[0], values[0], style->keys[1], values[1]));
}

static bool print_words(const record_style *style, const sstore_record *record)
{
    uint64_t words[2];
    for (size_t i = 0; i < style->part_count; i++) {
        const uint64_t value = part_value(style->parts[i], record);
        words[i] = style->format == RECORDS_NPY_BYTES ? htobe64(value) : htole64(value);
    }
    return output_bytes((const char *)words, style->part_count * sizeof *words);
}

int records_print(void *style, const sstore_record *record)
{
    const record_style *how = style;
    switch (how->format) {
    case RECORDS_TEXT: return !print_line(how, record);
    case RECORDS_JSONL: return !print_object(how, record);
    case RECORDS_WORDS:
    case RECORDS_NPY:
    case RECORDS_NPY_BYTES: break;
    }
    return !print_words(how, record);
}
