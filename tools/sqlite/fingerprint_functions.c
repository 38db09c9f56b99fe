/*
 * fingerprint_functions.c - fingerprints as values of SQL: integers, text of hex digits, and blobs.
 */
#include "sqlite/fingerprint_functions.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WORD_DIGITS 16u
#define WORD_BYTES 8u
#define REASON_BYTES 160u

static int hex_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    const char small = (char)(digit | 0x20);
    return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

/* 1 to 16 hex digits, or 16 for each word, with or without 0x. */
static bool read_hex(const char *text, size_t length, fingerprint *to)
{
    const size_t first = length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 2 : 0;
    const size_t digits = length - first;
    if (digits == 0 || digits > WORD_DIGITS * SSTORE_MAX_WORDS || (digits > WORD_DIGITS && digits % WORD_DIGITS != 0))
        return false;
    *to = (fingerprint){.word_count = (uint32_t)((digits + WORD_DIGITS - 1) / WORD_DIGITS)};
    for (size_t i = 0; i < digits; i++) {
        const int digit = hex_value(text[first + i]);
        if (digit < 0)
            return false;
        uint64_t *word = &to->words[i / WORD_DIGITS];
        *word = *word << 4 | (uint64_t)digit;
    }
    return true;
}

static bool read_blob(const void *bytes, size_t size, fingerprint *to)
{
    if (size == 0 || size % WORD_BYTES != 0 || size > sizeof to->words)
        return false;
    to->word_count = (uint32_t)(size / WORD_BYTES);
    memcpy(to->words, bytes, size);
    for (uint32_t i = 0; i < to->word_count; i++)
        to->words[i] = be64toh(to->words[i]);
    return true;
}

bool read_fingerprint(sqlite3_value *value, fingerprint *to)
{
    const void *data;
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER: *to = (fingerprint){1, {(uint64_t)sqlite3_value_int64(value)}}; return true;
    case SQLITE_TEXT:
        data = sqlite3_value_text(value); /* NULL: out of memory */
        return data != NULL && read_hex(data, (size_t)sqlite3_value_bytes(value), to);
    case SQLITE_BLOB:
        data = sqlite3_value_blob(value); /* NULL also if it is empty */
        return data != NULL && read_blob(data, (size_t)sqlite3_value_bytes(value), to);
    default: return false;
    }
}

void set_blob(sqlite3_context *context, const uint64_t *words, uint32_t word_count)
{
    uint64_t bytes[SSTORE_MAX_WORDS];
    for (uint32_t i = 0; i < word_count; i++)
        bytes[i] = htobe64(words[i]);
    sqlite3_result_blob(context, bytes, (int)(word_count * WORD_BYTES), SQLITE_TRANSIENT);
}

/* ----- functions of fingerprints ----- */

/* Read the argument. False: the result is set, to NULL or an error. */
static bool take_fingerprint(sqlite3_context *context, sqlite3_value *value, fingerprint *to)
{
    if (sqlite3_value_type(value) == SQLITE_NULL)
        return false; /* the result is NULL unless it is set */
    if (read_fingerprint(value, to))
        return true;
    sqlite3_result_error(context, "expected a fingerprint: " FINGERPRINT_FORMS, -1);
    return false;
}

static void hamming_of_blobs(sqlite3_context *context, sqlite3_value *left, sqlite3_value *right)
{
    const int size = sqlite3_value_bytes(left);
    const unsigned char *a = sqlite3_value_blob(left), *b = sqlite3_value_blob(right);
    sqlite3_int64 distance = 0;
    if (size != sqlite3_value_bytes(right)) {
        sqlite3_result_error(context, "hamming(): expected two blobs of the same length", -1);
        return;
    }
    for (int i = 0; i < size; i++)
        distance += __builtin_popcount((unsigned)(a[i] ^ b[i]));
    sqlite3_result_int64(context, distance);
}

static void hamming_of_fingerprints(sqlite3_context *context, const fingerprint *left, const fingerprint *right)
{
    char reason[REASON_BYTES];
    if (left->word_count != right->word_count) {
        snprintf(reason, sizeof reason, "hamming(): expected two fingerprints of the same width, found %u and %u bits",
                 64 * left->word_count, 64 * right->word_count);
        sqlite3_result_error(context, reason, -1);
        return;
    }
    sqlite3_result_int(context, (int)sstore_hamming_distance(left->words, right->words, 64 * left->word_count));
}

static void call_hamming(sqlite3_context *context, int count, sqlite3_value **values)
{
    fingerprint left, right;
    (void)count;
    if (sqlite3_value_type(values[0]) == SQLITE_BLOB && sqlite3_value_type(values[1]) == SQLITE_BLOB)
        hamming_of_blobs(context, values[0], values[1]);
    else if (take_fingerprint(context, values[0], &left) && take_fingerprint(context, values[1], &right))
        hamming_of_fingerprints(context, &left, &right);
}

static void call_hex(sqlite3_context *context, int count, sqlite3_value **values)
{
    char text[WORD_DIGITS * SSTORE_MAX_WORDS + 1];
    fingerprint found;
    (void)count;
    if (!take_fingerprint(context, values[0], &found))
        return;
    for (uint32_t i = 0; i < found.word_count; i++)
        snprintf(text + i * WORD_DIGITS, WORD_DIGITS + 1, "%016" PRIx64, found.words[i]);
    sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

static void call_integer(sqlite3_context *context, int count, sqlite3_value **values)
{
    fingerprint found;
    char reason[REASON_BYTES];
    (void)count;
    if (!take_fingerprint(context, values[0], &found))
        return;
    sqlite3_result_int64(context, (sqlite3_int64)found.words[0]);
    if (found.word_count > 1) {
        snprintf(reason, sizeof reason, "sstore_integer(): expected a fingerprint of 64 bits, found one of %u bits",
                 64 * found.word_count);
        sqlite3_result_error(context, reason, -1);
    }
}

static void call_blob(sqlite3_context *context, int count, sqlite3_value **values)
{
    fingerprint found;
    (void)count;
    if (take_fingerprint(context, values[0], &found))
        set_blob(context, found.words, found.word_count);
}

static void call_version(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count, (void)values;
    sqlite3_result_text(context, sstore_version(), -1, SQLITE_STATIC);
}

int create_fingerprint_functions(sqlite3 *db)
{
    static const struct {
        const char *name;
        int argument_count;
        void (*call)(sqlite3_context *context, int count, sqlite3_value **values);
    } functions[] = {{"hamming", 2, call_hamming},
                     {"sstore_hex", 1, call_hex},
                     {"sstore_integer", 1, call_integer},
                     {"sstore_blob", 1, call_blob},
                     {"sstore_version", 0, call_version}};
    int code = SQLITE_OK;
    for (size_t i = 0; i < sizeof functions / sizeof *functions && code == SQLITE_OK; i++)
        code = sqlite3_create_function_v2(db, functions[i].name, functions[i].argument_count,
                                          SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL,
                                          functions[i].call, NULL, NULL, NULL);
    return code;
}
