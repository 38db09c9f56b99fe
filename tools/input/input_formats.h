/*
 * input_formats.h - the formats of inputs: how each is read, and what its first bytes tell of a file. Functions return
 * exit codes.
 */
#ifndef INPUT_FORMATS_H
#define INPUT_FORMATS_H

#include "input/input_reader.h"

/* How much of an input is asked for its shape. */
#define INPUT_SAMPLE_BYTES 65536u

/* The beginning of a file. */
typedef struct input_sample {
    char bytes[INPUT_SAMPLE_BYTES]; /* and a NUL after the last one */
    size_t size;
    uint64_t file_bytes;
} input_sample;

/* The sample has this id. */
static inline void input_expect_id(input_expectation *expected, uint64_t id)
{
    if (id > expected->largest_id)
        expected->largest_id = id;
}

/* A format. A new one needs a value of input_format, a row of input_formats, and a name in `formats` of cmd.c. */
typedef struct input_format_row {
    const char *suffix; /* of file names; NULL: none */
    bool has_lines;     /* otherwise its first bytes may have any value */
    /* Read the rest of the source. The caller then delivers the last batch, even after a fault. */
    int (*read)(input_reader *reader);
    /* Set the count, the largest id and, if it is 0, the number of words, from a sample of a file that is not
     * compressed. */
    void (*expect)(const input_sample *from, const input_options *options, input_expectation *expected);
} input_format_row;

/* Lines (format_lines.c). */
int format_text_read(input_reader *reader);
int format_jsonl_read(input_reader *reader);
void format_text_expect(const input_sample *from, const input_options *options, input_expectation *expected);
void format_jsonl_expect(const input_sample *from, const input_options *options, input_expectation *expected);

/* Packed words (format_packed.c). */
int format_u64_read(input_reader *reader);
int format_rec_read(input_reader *reader);
void format_u64_expect(const input_sample *from, const input_options *options, input_expectation *expected);
void format_rec_expect(const input_sample *from, const input_options *options, input_expectation *expected);

/* NumPy arrays (format_npy.c). */
int format_npy_read(input_reader *reader);
void format_npy_expect(const input_sample *from, const input_options *options, input_expectation *expected);

extern const input_format_row input_formats[INPUT_FORMAT_COUNT];

#endif
