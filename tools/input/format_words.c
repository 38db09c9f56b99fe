/*
 * format_words.c - reads records of words whose layout is known.
 */
#include "input/format_words.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "input/padding.h"
#include "output/records.h"

word_layout word_layout_make(uint32_t words, bool has_ids)
{
    return (word_layout){.words = words,
                         .has_ids = has_ids,
                         .item_bytes = 8,
                         .columns = words + (has_ids ? 1 : 0),
                         .parts = words,
                         .id_at = words};
}

size_t word_layout_bytes(const word_layout *layout)
{
    return (size_t)layout->item_bytes * layout->columns;
}

#define DO_NOT_FIT "--columns: expected %" PRIu32 " columns, as a row has"

/* Ids alone, of which the list tells the place (see line_format_set_columns()). */
static bool choose_ids(word_layout *layout, const line_format *lines, line_fault *fault)
{
    const uint32_t count = (uint32_t)lines->column_count;
    uint32_t at = 0;
    while (lines->columns[at] != LINE_COLUMN_FINGERPRINT)
        at++;
    if (count > layout->columns || (at == 0 && count == 1 && layout->columns > 1))
        return line_fault_set(fault, DO_NOT_FIT, layout->columns);
    layout->id_at = at == 0 ? 0 : layout->columns - (count - at);
    layout->has_ids = layout->columns > 1;
    return true;
}

bool word_layout_choose(word_layout *layout, const line_format *lines, uint32_t words, line_fault *fault)
{
    const uint32_t count = (uint32_t)lines->column_count, given = lines->part_count;
    const bool skips_rest = lines->columns[count - 1] == LINE_COLUMN_SKIPPED;
    const uint32_t others = count - given - (skips_rest ? 1 : 0); /* the rest may be empty */
    if (lines->are_ids)
        return choose_ids(layout, lines, fault);
    const uint32_t known = words * 8 / layout->item_bytes;
    uint32_t parts = layout->columns > others ? layout->columns - others : 0;
    if (given > 1)
        parts = given;
    else if (skips_rest && parts > 1)
        parts = known > 0 && known < parts ? known : parts - 1;
    if (parts == 0 || others + parts > layout->columns || (!skips_rest && others + parts != layout->columns))
        return line_fault_set(fault, DO_NOT_FIT, layout->columns);
    if (layout->item_bytes == 8 && words > 0 && parts != words)
        return line_fault_set(fault,
                              "--columns leaves %" PRIu32 " of %" PRIu32 " columns to a fingerprint of %" PRIu32
                              " bits; " LINE_SEE_BITS,
                              parts, layout->columns, 64 * words);
    layout->parts = parts;
    layout->has_ids = false;
    uint32_t at = 0, seen = 0;
    for (uint32_t i = 0; i < count; i++) {
        const bool is_part = lines->columns[i] == LINE_COLUMN_FINGERPRINT;
        if (is_part && seen++ == 0)
            layout->fingerprint_at = at;
        else if (is_part && at != layout->fingerprint_at + seen - 1)
            return line_fault_set(fault, "--columns: the columns of a fingerprint must be neighbours in an array");
        if (lines->columns[i] == LINE_COLUMN_ID) {
            layout->has_ids = true;
            layout->id_at = at;
        }
        at += is_part && given == 1 ? parts : 1;
    }
    return true;
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

/* ----- smaller numbers ----- */

static inline uint64_t read_number(const char *from, const word_layout *layout)
{
    uint64_t word;
    uint32_t half;
    uint16_t quarter;
    switch (layout->item_bytes) {
    case 8: memcpy(&word, from, sizeof word); return layout->big_endian ? be64toh(word) : le64toh(word);
    case 4: memcpy(&half, from, sizeof half); return layout->big_endian ? be32toh(half) : le32toh(half);
    case 2: memcpy(&quarter, from, sizeof quarter); return layout->big_endian ? be16toh(quarter) : le16toh(quarter);
    default: return (unsigned char)*from;
    }
}

bool word_layout_is_bits(const word_layout *layout, const char *bytes, size_t size)
{
    bool right = true;
    unsigned char set_bits = 0;
    for (size_t i = 0; layout->item_bytes == 1 && i < size; i++) /* of most arrays, many at a time */
        set_bits |= (unsigned char)bytes[i];
    if (layout->item_bytes == 1)
        return set_bits <= 1;
    for (size_t at = 0; at + layout->item_bytes <= size; at += layout->item_bytes) {
        const uint64_t number = read_number(bytes + at, layout);
        right = right && (number == 0 || number == layout->one);
    }
    return right;
}

/* Read a fingerprint of bytes that are bits. */
static void pack_bits(const char *from, const word_layout *layout, uint64_t *to)
{
    unsigned char bytes[8 * SSTORE_MAX_WORDS] = {0};
    for (uint32_t i = 0; i < layout->parts; i++)
        bytes[i / 8] |= (unsigned char)((unsigned char)from[i] << (7 - i % 8));
    copy_words((const char *)bytes, 1, 1, true, to, layout->words);
}

/* Read a fingerprint of parts or bits. What fills only a part of a word is its highest bits, but a single number is
 * the word. */
static void copy_parts(const char *from, const word_layout *layout, uint64_t *to)
{
    const uint32_t bits = layout->form == FORM_BITS ? 1 : 8 * layout->item_bytes;
    if (layout->form == FORM_BITS && layout->item_bytes == 1) {
        pack_bits(from, layout, to);
        return;
    }
    memset(to, 0, layout->words * sizeof *to);
    if (layout->parts == 1 && layout->item_bytes > 1) {
        *to = read_number(from, layout);
        return;
    }
    for (uint32_t i = 0; i < layout->parts; i++) {
        const uint64_t number = read_number(from + (size_t)layout->item_bytes * i, layout);
        const uint64_t part = layout->form == FORM_BITS ? number != 0 : number;
        to[bits * i / 64] |= part << (64 - bits - bits * i % 64);
    }
}

static void copy_all_parts(const char *from, const word_layout *layout, bool are_ids, record_batch *batch, size_t count)
{
    const size_t step = word_layout_bytes(layout), item = layout->item_bytes;
    for (size_t i = 0; i < count; i++) {
        const char *row = from + step * i;
        if (are_ids)
            batch->fingerprints[batch->count + i] = read_number(row + item * layout->id_at, layout);
        else
            copy_parts(row + item * layout->fingerprint_at, layout,
                       batch->fingerprints + layout->words * (batch->count + i));
        if (layout->has_ids)
            batch->ids[batch->count + i] = read_number(row + item * layout->id_at, layout);
    }
}

/* ----- records ----- */

/* How many of the records are right: bits were read from numbers that are 0 and 1 so far. */
static size_t count_right(const char *from, const word_layout *layout, size_t count)
{
    const size_t step = word_layout_bytes(layout);
    size_t right = 0;
    if (layout->form != FORM_BITS)
        return count;
    while (right < count && word_layout_is_bits(layout, from + step * right, step))
        right++;
    return right;
}

/* Are the words numbers of 32 bits, with or without a sign? */
static bool are_signed32(const input_reader *reader)
{
    return reader->lines.radix == RADIX_SIGNED32 && !reader->lines.are_ids && !reader->lines.are_edges;
}

/* Bring numbers of 32 bits into one form. Returns how many records are right. */
static size_t cut_signs(uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (words[i] > UINT32_MAX && words[i] < (uint64_t)INT32_MIN)
            return i;
        words[i] &= UINT32_MAX;
    }
    return count;
}

/* How many of the fingerprints have zeros behind their own bits? */
static size_t count_padded(const input_reader *reader, const uint64_t *fingerprints, size_t count)
{
    const line_format *lines = &reader->lines;
    size_t right = 0;
    if (!lines->pads || lines->are_ids || lines->are_edges)
        return count;
    while (right < count && padding_is_zero(fingerprints + right * reader->shape->words, lines->bits))
        right++;
    return right;
}

/* Move at most `count` records from the source to the batch, up to the first one that is wrong. Returns how many they
 * were. */
static size_t take_records(input_reader *reader, const word_layout *layout, size_t count)
{
    const char *from = input_source_text(&reader->source);
    record_batch *batch = reader->batch;
    const size_t room = input_batch_room(reader) - batch->count, bytes = word_layout_bytes(layout);
    const size_t width = input_batch_words(reader);
    const bool are_ids = layout->has_ids && reader->lines.are_ids; /* which are read as fingerprints */
    const uint32_t first = are_ids ? layout->id_at : layout->fingerprint_at;
    if (count > room)
        count = room;
    for (size_t i = 0; layout->has_header && i < count; i++)
        if (memcmp(from + bytes * i, RECORDS_MAGIC, RECORDS_MAGIC_BYTES) == 0)
            count = i;
    count = count_right(from, layout, count);
    if (layout->form != FORM_WORDS) {
        copy_all_parts(from, layout, are_ids, batch, count);
    } else {
        copy_words(from + (size_t)8 * first, layout->columns, width, layout->big_endian,
                   batch->fingerprints + width * batch->count, count);
        if (reader->shape->ids == INPUT_IDS_PRESENT)
            copy_words(from + (size_t)8 * layout->id_at, layout->columns, 1, layout->big_endian,
                       batch->ids + batch->count, count);
    }
    if (are_signed32(reader))
        count = cut_signs(batch->fingerprints + batch->count, count);
    count = count_padded(reader, batch->fingerprints + width * batch->count, count);
    batch->count += count;
    input_source_take(&reader->source, bytes * count);
    return count;
}

/* The input ends within a record, or before the last ones. */
static int refuse_rest(input_reader *reader, uint64_t number, uint64_t count)
{
    const input_source *source = &reader->source;
    const bad_row row = {.input = reader->path,
                         .number = number,
                         .text = input_source_text(source),
                         .length = input_source_size(source),
                         .is_binary = true,
                         .count = count};
    return input_refuse(reader, &row);
}

/* Check that the input ends where it should, after `taken` records. `left` is the number of records still expected, or
 * UINT64_MAX. */
static int check_end(input_reader *reader, const word_layout *layout, uint64_t taken, uint64_t left)
{
    input_source *source = &reader->source;
    size_t odd = input_source_size(source);
    const char *offset = source->unpacker != NULL ? "unpacked offset" : "offset";
    if (left == 0 && odd > 0)
        return byte_stream_fail(&source->fault, "expected the end of the file at %s %" PRIu64 ", found more bytes",
                                offset, source->offset);
    if (left == UINT64_MAX && input_source_rest_is_failure(source))
        return EXIT_FAILED;
    if (left == UINT64_MAX && odd > 0) {
        (void)line_fault_set(&source->fault,
                             "expected %zu bytes for each %s, found only %zu at %s %" PRIu64
                             " before the end of the file",
                             word_layout_bytes(layout), layout->has_ids ? "record" : "fingerprint", odd, offset,
                             source->offset);
        return refuse_rest(reader, taken + 1, 1);
    }
    if (left != 0 && left != UINT64_MAX) {
        (void)line_fault_set(&source->fault, "the file ends at %s %" PRIu64 ", %" PRIu64 " bytes too early", offset,
                             source->offset + odd, word_layout_bytes(layout) * left - odd);
        return refuse_rest(reader, taken + 1, left);
    }
    return EXIT_DONE;
}

/* The next record is wrong. */
static int refuse_record(input_reader *reader, const word_layout *layout, uint64_t *taken, uint64_t *left)
{
    input_source *source = &reader->source;
    const size_t bytes = word_layout_bytes(layout);
    const bool may_be_parts = layout->form == FORM_BITS && layout->item_bytes <= 2 && layout->one == 1 &&
                              8 * bytes <= 64 * SSTORE_MAX_WORDS && bytes % 8 == 0;
    char hint[64] = "";
    if (may_be_parts)
        (void)snprintf(hint, sizeof hint, ": if these are no bits, --bits %zu says so", 8 * bytes);
    if (layout->form == FORM_BITS)
        return byte_stream_fail(&source->fault,
                                "its numbers were 0 and 1 so far, so single bits; at offset %" PRIu64
                                " a row has others%s",
                                source->offset, hint);
    if (are_signed32(reader))
        (void)line_fault_set(&source->fault,
                             "expected a number of 32 bits, from -2147483648 to 4294967295, at offset %" PRIu64
                             ", as --radix signed32 says",
                             source->offset);
    else
        (void)line_fault_set(&source->fault, "expected " PADDING_EXPECTED ", at offset %" PRIu64, reader->lines.bits,
                             source->offset);
    const bad_row row = {.input = reader->path,
                         .number = *taken + 1,
                         .text = input_source_text(source),
                         .length = bytes,
                         .is_binary = true,
                         .count = 1};
    const int code = input_refuse(reader, &row);
    input_source_take(source, bytes);
    ++*taken;
    *left -= *left != UINT64_MAX;
    return code;
}

/* The bits of a fingerprint of parts or bits. A single number is a word. */
static uint32_t own_bits(const word_layout *layout)
{
    return layout->form == FORM_BITS                         ? layout->parts
           : layout->form == FORM_PARTS && layout->parts > 1 ? 8 * layout->item_bytes * layout->parts
                                                             : 64 * layout->words;
}

int word_layout_read(input_reader *reader, const word_layout *layout, uint64_t count)
{
    input_source *source = &reader->source;
    const bool has_ids = layout->has_ids && !reader->lines.ignore_ids;
    uint64_t left = count, all_taken = 0;
    int code = EXIT_DONE;
    const bool are_ids = reader->lines.are_ids && !layout->has_ids && layout->words == 1; /* words alone */
    if (!are_ids && input_settle_words(reader, layout->words, own_bits(layout)) != EXIT_DONE)
        return EXIT_FAILED;
    if (are_signed32(reader) && layout->words > 1)
        return byte_stream_fail(&source->fault,
                                "fingerprints of %" PRIu32 " bits are no numbers of 32 bits, which "
                                "--radix signed32 reads",
                                64 * layout->words);
    if (reader->lines.are_ids && !are_ids && !layout->has_ids)
        return byte_stream_fail(&source->fault, "expected ids, found fingerprints without ids");
    if (!input_ids_agree(&reader->shape->ids, has_ids))
        return byte_stream_fail(&source->fault, "this format has %s; give inputs that all have ids, or none",
                                has_ids ? "ids, but the earlier inputs have none"
                                        : "no ids, but the earlier inputs have them");
    while (code == EXIT_DONE && left > 0) {
        code = input_source_need(source, word_layout_bytes(layout));
        size_t available = input_source_size(source) / word_layout_bytes(layout);
        if (code != EXIT_DONE || available == 0)
            break;
        if (layout->has_header && memcmp(input_source_text(source), RECORDS_MAGIC, RECORDS_MAGIC_BYTES) == 0)
            return byte_stream_fail(&source->fault,
                                    "another header at offset %" PRIu64
                                    ": files with headers cannot be joined; give them one by one",
                                    source->offset);
        size_t taken = take_records(reader, layout, left < available ? (size_t)left : available);
        all_taken += taken;
        if (left != UINT64_MAX)
            left -= taken;
        if (taken == 0)
            code = refuse_record(reader, layout, &all_taken, &left);
        if (reader->batch->count == input_batch_room(reader))
            code = input_deliver(reader);
    }
    if (code == EXIT_DONE && left == 0)
        code = input_source_need(source, 1);
    return code != EXIT_DONE ? code : check_end(reader, layout, all_taken, left);
}

void word_layout_expect(const input_sample *from, size_t first, const word_layout *layout, input_expectation *expected)
{
    const size_t step = word_layout_bytes(layout);
    const size_t item = layout->item_bytes;
    for (size_t at = first + item * layout->id_at; layout->has_ids && at + item <= from->size; at += step)
        input_expect_id(expected, read_number(from->bytes + at, layout));
    expected->words = layout->words;
    expected->count = from->file_bytes > first ? (from->file_bytes - first) / step : 0;
}
