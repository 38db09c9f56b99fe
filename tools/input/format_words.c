/*
 * format_words.c - reads records of words whose layout is known.
 */
#include "input/format_words.h"

#include <endian.h>
#include <inttypes.h>
#include <string.h>

#include "output/records.h"

static size_t record_words(const word_layout *layout)
{
    return layout->words + (layout->has_ids ? 1u : 0);
}

size_t word_layout_bytes(const word_layout *layout)
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

bool words_are_bits(const char *bytes, size_t size)
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
    const size_t step = word_layout_bytes(layout);
    size_t right = 0;
    while (right < count && (layout->part != PART_BIT || words_are_bits(from + step * right, step)))
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
        copy_parts(from + word_layout_bytes(layout) * i, layout, batch->fingerprints + width * (batch->count + i));
    if (reader->shape->ids == INPUT_IDS_PRESENT)
        copy_words(id, step, 1, layout->big_endian, batch->ids + batch->count, count);
    batch->count += count;
    input_source_take(&reader->source, word_layout_bytes(layout) * count);
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

int word_layout_read(input_reader *reader, const word_layout *layout, uint64_t count)
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
        code = input_source_need(source, word_layout_bytes(layout));
        size_t available = (source->end - source->begin) / word_layout_bytes(layout);
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

void word_layout_expect(const input_sample *from, size_t first, const word_layout *layout, input_expectation *expected)
{
    const size_t step = word_layout_bytes(layout);
    for (size_t at = first + step - 8; layout->has_ids && at + 8 <= from->size; at += step) {
        uint64_t word;
        memcpy(&word, from->bytes + at, sizeof word);
        input_expect_id(expected, layout->big_endian ? be64toh(word) : le64toh(word));
    }
    expected->words = layout->words;
    expected->count = from->file_bytes > first ? (from->file_bytes - first) / step : 0;
}
