/*
 * fuzz_input.c - any bytes as an input in any format, compressed or not, with names or without. In whatever batches and
 * threads it is read, the records, the exit code and the message are the same.
 *   1 byte: format, compression and width; 1 byte: how lines are read, and whether another byte says more about it;
 *   then the input
 */
#include "input/input.h"
#include "input/input_value.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/fuzzing.h"

/* What expands to more is only counted. */
#define MAX_RECORDS 1000u
#define MAX_WORDS 4000u
#define MAX_MESSAGE 8192

typedef struct outcome {
    int code;
    uint64_t count;
    uint32_t words; /* of a fingerprint */
    bool has_ids, has_names;
    uint64_t fingerprints[MAX_WORDS], ids[MAX_RECORDS]; /* or hashes of names */
    char message[MAX_MESSAGE];
} outcome;

/* FNV-1a. */
static uint64_t hash_of(const sstore_name *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    FUZZ_CHECK(name->size > 0 && name->size <= SSTORE_MAX_NAME_BYTES);
    for (size_t i = 0; i < name->size; i++) {
        FUZZ_CHECK(name->bytes[i] != '\0' && name->bytes[i] != '\n');
        hash = (hash ^ (uint8_t)name->bytes[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static int keep(void *context, const record_batch *batch)
{
    outcome *to = context;
    FUZZ_CHECK(batch->count > 0 && batch->words > 0 && batch->words <= SSTORE_MAX_WORDS);
    FUZZ_CHECK(to->count == 0 ||
               (to->has_ids == batch->has_ids && to->has_names == batch->has_names && to->words == batch->words));
    FUZZ_CHECK(!batch->has_ids || !batch->has_names);
    to->has_ids = batch->has_ids;
    to->has_names = batch->has_names;
    to->words = batch->words;
    for (size_t i = 0; i < batch->count; i++, to->count++) {
        const uint64_t *fingerprint = batch->fingerprints + batch->words * i;
        for (size_t j = 0; j < batch->words && batch->words * to->count + j < MAX_WORDS; j++)
            to->fingerprints[batch->words * to->count + j] = fingerprint[j];
        if (to->count < MAX_RECORDS)
            to->ids[to->count] = batch->has_ids ? batch->ids[i] : batch->has_names ? hash_of(&batch->names[i]) : 0;
    }
    return 0;
}

/* Read the file and what is printed meanwhile. */
static void run(const char *path, const input_options *options, uint32_t words, outcome *out)
{
    input_shape shape = {.words = words};
    int messages = memfd_create("messages", 0), before = dup(STDERR_FILENO);
    FUZZ_CHECK(messages >= 0 && before >= 0 && dup2(messages, STDERR_FILENO) >= 0);
    memset(out, 0, sizeof *out);
    out->code = input_read(path, options, &shape, keep, out);
    FUZZ_CHECK(dup2(before, STDERR_FILENO) >= 0);
    FUZZ_CHECK(pread(messages, out->message, sizeof out->message - 1, 0) >= 0);
    close(before);
    close(messages);
}

static bool is_damaged(const outcome *result)
{
    return strstr(result->message, ": cannot unpack the ") != NULL;
}

static void check_same(const outcome *left, const outcome *right)
{
    uint64_t both = left->count < right->count ? left->count : right->count;
    size_t kept = both < MAX_RECORDS ? (size_t)both : MAX_RECORDS;
    size_t words = left->words * kept < MAX_WORDS ? left->words * kept : MAX_WORDS;
    FUZZ_CHECK(left->code == right->code && (both == 0 || left->words == right->words));
    FUZZ_CHECK(memcmp(left->fingerprints, right->fingerprints, words * sizeof *left->fingerprints) == 0);
    FUZZ_CHECK(memcmp(left->ids, right->ids, kept * sizeof *left->ids) == 0);
    /* How much a decoder gives before it finds damage depends on how much it was asked for at once. */
    if (is_damaged(left) || is_damaged(right))
        return;
    FUZZ_CHECK(left->count == right->count && left->has_ids == right->has_ids && left->has_names == right->has_names);
    FUZZ_CHECK(strcmp(left->message, right->message) == 0);
}

/* The forms of fingerprints that are rarer. */
static void choose_forms(fuzz_input *input, input_options *options)
{
    static const char *const columns[] = {"fingerprint,fingerprint",
                                          "id,fingerprint,fingerprint,fingerprint,fingerprint"};
    line_fault fault;
    const uint64_t forms = fuzz_take(input, 1);
    options->lines.radix = (radix_form)(forms % (RADIX_SIGNED32 + 1));
    options->lines.radix_given = (forms & 8) != 0;
    options->lines.pads = (forms & 16) != 0;
    options->lines.bits = options->lines.pads && (forms & 32) != 0 ? (uint32_t)(forms * 5 % 1024) + 1 : 0;
    if ((forms & 64) != 0 && value_has_parts(options->lines.radix)) {
        options->columns = columns[forms >> 7];
        FUZZ_CHECK(line_format_set_columns(&options->lines, options->columns, &fault));
    }
}

/* Lines with names, or of names alone. */
static void choose_names(uint64_t lines, input_options *options)
{
    static const char *const columns[] = {"fingerprint,id", "name,fingerprint", "fingerprint,-,name", "id,fingerprint"};
    line_fault fault;
    options->lines.has_names = true;
    options->lines.are_ids = options->lines.are_names = (lines & 2) != 0;
    options->lines.radix = (radix_form)((lines >> 5) % 4);
    if ((lines & 4) == 0)
        return;
    options->columns = columns[lines / 8 % 4];
    FUZZ_CHECK(line_format_set_columns(&options->lines, options->columns, &fault));
}

/* Returns the width that records must have, in words, or 0. */
static uint32_t choose_options(fuzz_input *input, input_options *options)
{
    static const uint32_t widths[] = {0, 1, 2, 3, 4, 5, 8, 16};
    static const char *const columns[] = {"fingerprint,id", "fingerprint", "id,fingerprint", "-,fingerprint,-"};
    line_fault fault;
    const uint64_t kind = fuzz_take(input, 1), lines = fuzz_take(input, 1);
    const bool has_names = kind % 8 >= INPUT_FORMAT_COUNT;
    options->format = (input_format)(kind % 8);
    if (has_names)
        options->format = kind % 8 == INPUT_FORMAT_COUNT ? INPUT_TEXT : INPUT_JSONL;
    options->compression = (compression)(kind / 8 % (COMPRESSION_ZSTD + 1));
    if (!compression_check(options->compression, &fault))
        options->compression = COMPRESSION_NONE;
    if (has_names) {
        choose_names(lines, options);
        return options->lines.are_names ? 1 : widths[kind / 32 % 8];
    }
    options->lines.radix = (radix_form)((lines & 1) + (lines >> 5) % 4);
    options->lines.ignore_ids = (lines & 2) != 0;
    if ((lines & 4) != 0)
        FUZZ_CHECK(line_format_set_columns(&options->lines, columns[lines / 8 % 4], &fault));
    if ((lines & 128) != 0)
        choose_forms(input, options);
    return options->lines.bits > 0 ? (options->lines.bits + 63) / 64 : widths[kind / 32 % 8];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static outcome one_by_one, at_once, ahead;
    fuzz_input input = {.at = data, .left = size};
    input_options options = INPUT_OPTIONS_INIT;
    char path[32];
    const uint32_t words = choose_options(&input, &options);
    int file = memfd_create("input", 0);
    FUZZ_CHECK(file >= 0 && write(file, input.at, input.left) == (ssize_t)input.left);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);

    options.batch_records = 700;
    options.ahead = false;
    run(path, &options, words, &at_once);
    FUZZ_CHECK((at_once.code == 0) == (at_once.message[0] == '\0'));
    options.batch_records = 1;
    run(path, &options, words, &one_by_one);
    check_same(&at_once, &one_by_one);
    options.batch_records = 50;
    options.ahead = true;
    if (size % 4 == 0) { /* the threads take longer than all the rest */
        run(path, &options, words, &ahead);
        check_same(&at_once, &ahead);
    }
    close(file);
    return 0;
}
