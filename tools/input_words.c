/*
 * input_words.c - reading fingerprints from packed 64-bit words: .u64 files, and the data of .npy files.
 */
#include <endian.h>
#include <inttypes.h>
#include <string.h>

#include "input_formats.h"

/* Words have no ids; records before them may not have any either. */
static int check_ids(input_reader *reader)
{
    if (*reader->ids == INPUT_IDS_PRESENT)
        return input_source_fail(&reader->source, "this format holds no ids, but the inputs before have them "
                                                  "(--no-ids ignores ids)");
    *reader->ids = INPUT_IDS_ABSENT;
    return EXIT_DONE;
}

/* Move at most `count` words from the source to the batch. Returns how many they were. */
static size_t take_words(input_reader *reader, bool big_endian, size_t count)
{
    const char *from = reader->source.buffer + reader->source.begin;
    size_t room = reader->options->batch_records - reader->count;
    if (count > room)
        count = room;
    for (size_t i = 0; i < count; i++) {
        uint64_t word;
        memcpy(&word, from + 8 * i, sizeof word);
        reader->fingerprints[reader->count++] = big_endian ? be64toh(word) : le64toh(word);
    }
    input_source_take(&reader->source, 8 * count);
    return count;
}

/* Hold the input's end against its place. `left` is the number of words that are still due, or UINT64_MAX. */
static int check_end(input_source *source, uint64_t left)
{
    size_t odd = source->end - source->begin;
    if (left == 0 && odd > 0)
        return input_source_fail(source, "expected the end of the file at offset %" PRIu64 ", found more bytes",
                                 source->offset);
    if (left == UINT64_MAX && odd > 0)
        return input_source_fail(source,
                                 "expected 8 bytes a fingerprint, found %zu at offset %" PRIu64
                                 ", then the end of the file",
                                 odd, source->offset);
    if (left != 0 && left != UINT64_MAX)
        return input_source_fail(source, "the file ends at offset %" PRIu64 ", %" PRIu64 " bytes too early",
                                 source->offset + odd, 8 * left - odd);
    return EXIT_DONE;
}

int input_read_words(input_reader *reader, bool big_endian, uint64_t count)
{
    input_source *source = &reader->source;
    int code = check_ids(reader);
    uint64_t left = count;
    while (code == EXIT_DONE && left > 0) {
        code = input_source_need(source, 8);
        size_t available = (source->end - source->begin) / 8;
        if (code != EXIT_DONE || available == 0)
            break;
        size_t taken = take_words(reader, big_endian, left < available ? (size_t)left : available);
        if (left != UINT64_MAX)
            left -= taken;
        if (reader->count == reader->options->batch_records)
            code = input_deliver(reader);
    }
    if (code == EXIT_DONE && left == 0)
        code = input_source_need(source, 1);
    return code != EXIT_DONE ? code : check_end(source, left);
}
