/*
 * input_words.c - reading records from packed 64-bit words: .u64 and .rec files, and the data of .npy files.
 */
#include <endian.h>
#include <inttypes.h>
#include <string.h>

#include "input_formats.h"

static size_t record_bytes(const word_layout *layout)
{
    return layout->has_ids ? 16 : 8;
}

/* All records of a format have ids or none has, and so must those before them. */
static int check_ids(input_reader *reader, bool has_ids)
{
    input_ids now = has_ids ? INPUT_IDS_PRESENT : INPUT_IDS_ABSENT;
    if (*reader->ids == INPUT_IDS_UNKNOWN)
        *reader->ids = now;
    if (*reader->ids == now)
        return EXIT_DONE;
    return input_source_fail(&reader->source, "%s; give inputs that all have ids, or none",
                             has_ids ? "this format holds ids, but the inputs before have none"
                                     : "this format holds no ids, but the inputs before have them");
}

/* The word of a record that is read as its fingerprint. */
static size_t fingerprint_word(const input_reader *reader, const word_layout *layout)
{
    return layout->has_ids && reader->options->lines.are_ids ? 1 : 0;
}

/* Every `step`-th word from `from` on. */
static void copy_words(const char *from, size_t step, bool big_endian, uint64_t *to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t word;
        memcpy(&word, from + 8 * step * i, sizeof word);
        to[i] = big_endian ? be64toh(word) : le64toh(word);
    }
}

/* Move at most `count` records from the source to the batch. Returns how many they were. */
static size_t take_records(input_reader *reader, const word_layout *layout, size_t count)
{
    const char *from = reader->source.buffer + reader->source.begin;
    input_batch *batch = reader->batch;
    size_t room = reader->options->batch_records - batch->count, step = record_bytes(layout) / 8;
    if (count > room)
        count = room;
    copy_words(from + 8 * fingerprint_word(reader, layout), step, layout->big_endian, batch->fingerprints + batch->count,
               count);
    if (*reader->ids == INPUT_IDS_PRESENT)
        copy_words(from + 8, step, layout->big_endian, batch->ids + batch->count, count);
    batch->count += count;
    input_source_take(&reader->source, 8 * step * count);
    return count;
}

/* Hold the input's end against its place. `left` is the number of records that are still due, or UINT64_MAX. */
static int check_end(input_source *source, const word_layout *layout, uint64_t left)
{
    size_t odd = source->end - source->begin;
    const char *offset = input_source_offset_name(source);
    if (left == 0 && odd > 0)
        return input_source_fail(source, "expected the end of the file at %s %" PRIu64 ", found more bytes", offset,
                                 source->offset);
    if (left == UINT64_MAX && odd > 0)
        return input_source_fail(source, "expected %s, found %zu at %s %" PRIu64 ", then the end of the file",
                                 layout->has_ids ? "16 bytes a record" : "8 bytes a fingerprint", odd, offset,
                                 source->offset);
    if (left != 0 && left != UINT64_MAX)
        return input_source_fail(source, "the file ends at %s %" PRIu64 ", %" PRIu64 " bytes too early", offset,
                                 source->offset + odd, record_bytes(layout) * left - odd);
    return EXIT_DONE;
}

int input_read_words(input_reader *reader, const word_layout *layout, uint64_t count)
{
    input_source *source = &reader->source;
    int code = check_ids(reader, layout->has_ids && !reader->options->lines.ignore_ids);
    uint64_t left = count;
    while (code == EXIT_DONE && left > 0) {
        code = input_source_need(source, record_bytes(layout));
        size_t available = (source->end - source->begin) / record_bytes(layout);
        if (code != EXIT_DONE || available == 0)
            break;
        size_t taken = take_records(reader, layout, left < available ? (size_t)left : available);
        if (left != UINT64_MAX)
            left -= taken;
        if (reader->batch->count == reader->options->batch_records)
            code = input_deliver(reader);
    }
    if (code == EXIT_DONE && left == 0)
        code = input_source_need(source, 1);
    return code != EXIT_DONE ? code : check_end(source, layout, left);
}
