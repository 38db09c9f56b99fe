/*
 * input_expect.c - how many records an input holds, estimated before it is read.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input.h"
#include "input_formats.h"

#define SAMPLE_BYTES 65536u

/* From the length of the first lines. */
static uint64_t expect_lines(int fd, uint64_t size)
{
    char sample[SAMPLE_BYTES];
    ssize_t got = pread(fd, sample, sizeof sample, 0);
    uint64_t lines = 0, taken = 0;
    for (const char *at = sample; got > 0 && (at = memchr(at, '\n', (size_t)(sample + got - at))) != NULL; lines++)
        taken = (uint64_t)(++at - sample);
    if (lines == 0)
        return got > 0 ? 1 : 0;
    return (uint64_t)((double)size / (double)taken * (double)lines);
}

static uint64_t expect_file(int fd, input_format format, uint64_t size)
{
    switch (format) {
    case INPUT_U64:
    case INPUT_NPY: /* of fingerprints alone; where there are ids it holds half as many */
        return size / 8;
    case INPUT_REC:
        return size / 16;
    default:
        return expect_lines(fd, size);
    }
}

uint64_t input_expect(const char *path, const input_options *options)
{
    struct stat info;
    uint64_t count = 0;
    compression kind = input_choose_compression(path, options);
    /* Not opened unless it is a file: a named pipe would see its only reader come and go. */
    if (strcmp(path, "-") == 0 || stat(path, &info) != 0 || !S_ISREG(info.st_mode) || kind == COMPRESSION_GZIP ||
        kind == COMPRESSION_ZSTD)
        return 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    count = expect_file(fd, input_choose_format(path, options), (uint64_t)info.st_size);
    close(fd);
    return count;
}
