/*
 * input_expect.c - how many records an input holds, and how large their ids are, estimated before it is read.
 */
#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input.h"
#include "input_formats.h"

#define SAMPLE_BYTES 65536u

typedef struct sample {
    char bytes[SAMPLE_BYTES];
    size_t size;
    uint64_t file_bytes;
} sample;

static void note_id(input_expectation *expected, uint64_t id)
{
    if (id > expected->largest_id)
        expected->largest_id = id;
}

/* As many lines as the first ones would make; what is malformed is told when it is read. */
static void expect_lines(const sample *from, const line_format *format, input_expectation *expected)
{
    const char *at = from->bytes, *end = from->bytes + from->size, *stop;
    uint64_t lines = 0;
    for (; (stop = memchr(at, '\n', (size_t)(end - at))) != NULL; at = stop + 1, lines++) {
        line_record record;
        line_fault fault;
        size_t length = (size_t)(stop - at) - (stop > at && stop[-1] == '\r');
        if (line_parse(format, at, length, &record, &fault) && record.has_id)
            note_id(expected, record.id);
    }
    double taken = (double)(at - from->bytes);
    expected->count = lines > 0 ? (uint64_t)((double)from->file_bytes / taken * (double)lines) : from->size > 0;
}

/* What lies behind the first bytes of a file. */
static uint64_t bytes_behind(const sample *from, size_t first)
{
    return from->file_bytes > first ? from->file_bytes - first : 0;
}

/* Pairs of fingerprint and id from `first` on. */
static void expect_pairs(const sample *from, size_t first, input_expectation *expected)
{
    for (size_t at = first + 8; at + 8 <= from->size; at += 16) {
        uint64_t word;
        memcpy(&word, from->bytes + at, sizeof word);
        note_id(expected, le64toh(word));
    }
    expected->count = bytes_behind(from, first) / 16;
}

/* Whether the header speaks of two columns, so of ids; where the data begin, for a header as NumPy writes it. */
static bool has_two_columns(const sample *from, size_t *data_out)
{
    static const char word[] = "'shape'";
    const char *shape = memmem(from->bytes, from->size, word, sizeof word - 1);
    char columns[3];
    *data_out = 128;
    return shape != NULL && sscanf(shape + sizeof word - 1, " : ( %*[0-9] , %2[0-9]", columns) == 1 &&
           strcmp(columns, "2") == 0;
}

static void expect_array(const sample *from, input_expectation *expected)
{
    size_t data;
    if (has_two_columns(from, &data))
        expect_pairs(from, data, expected);
    else
        expected->count = bytes_behind(from, data) / 8;
}

static bool take_sample(const char *path, sample *taken)
{
    struct stat info;
    /* Not opened unless it is a file: a named pipe would see its only reader come and go. */
    if (strcmp(path, "-") == 0 || stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = pread(fd, taken->bytes, SAMPLE_BYTES - 1, 0);
    close(fd);
    taken->size = got > 0 ? (size_t)got : 0;
    taken->bytes[taken->size] = '\0';
    taken->file_bytes = (uint64_t)info.st_size;
    return got >= 0;
}

input_expectation input_expect(const char *path, const input_options *options)
{
    static sample taken;
    input_expectation expected = {.known = false};
    compression kind = input_choose_compression(path, options);
    if (kind == COMPRESSION_GZIP || kind == COMPRESSION_ZSTD || !take_sample(path, &taken))
        return expected;
    expected.known = true;
    switch (input_choose_format(path, options)) {
    case INPUT_U64:
        expected.count = taken.file_bytes / 8;
        break;
    case INPUT_REC:
        expect_pairs(&taken, 0, &expected);
        break;
    case INPUT_NPY:
        expect_array(&taken, &expected);
        break;
    default:
        expect_lines(&taken, &options->lines, &expected);
    }
    return expected;
}
