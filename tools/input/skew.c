#include "input/skew.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/messages.h"
#include "output/output.h"
#include "output/radix_form.h"

#define SAMPLE_ROWS ((size_t)16384) /* at least half as many once there are as many records */
#define MIN_ROWS 1000u              /* of fewer, a percent is no sign */
#define MANY_DIVISOR 100u           /* 1 % */
#define PREFIX_BITS 16u
#define SHOWN 3u

/* ----- the sample ----- */

/* A mix of the number of a record, as that of splitmix64 (Vigna). So periods in the input do not matter, and equal
 * inputs give equal warnings. */
static uint64_t hash_number(uint64_t number)
{
    uint64_t mixed = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

/* Where a row and the hash of its record's number are. */
static uint64_t *row_at(const skew *self, size_t index)
{
    return self->rows + index * (self->words + 1);
}

static void halve(skew *self)
{
    const size_t row_bytes = (self->words + 1) * sizeof *self->rows;
    size_t left = 0;
    self->max_hash /= 2;
    for (size_t i = 0; i < self->count; i++)
        if (row_at(self, i)[self->words] <= self->max_hash)
            memmove(row_at(self, left++), row_at(self, i), row_bytes);
    self->count = left;
}

void skew_look(skew *self, const uint64_t *fingerprints, uint32_t words, size_t count)
{
    if (self->words == 0) {
        self->words = words;
        self->max_hash = UINT64_MAX;
        self->rows = malloc(SAMPLE_ROWS * (words + 1) * sizeof *self->rows);
    }
    for (size_t i = 0; self->rows != NULL && words == self->words && i < count; i++) {
        const uint64_t hash = hash_number(self->seen++);
        if (hash > self->max_hash)
            continue;
        while (self->count == SAMPLE_ROWS)
            halve(self);
        if (hash > self->max_hash)
            continue;
        memcpy(row_at(self, self->count), fingerprints + i * words, words * sizeof *fingerprints);
        row_at(self, self->count++)[words] = hash;
    }
}

void skew_free(skew *self)
{
    free(self->rows);
    self->rows = NULL;
}

/* ----- what is unusual ----- */

static int compare_rows(const void *left, const void *right, void *words)
{
    const uint64_t *a = left, *b = right;
    for (uint32_t i = 0; i < *(const uint32_t *)words; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* Items of a kind that many records have. */
typedef struct many_found {
    size_t kinds;
    char text[SHOWN * (RADIX_MAX_CHARACTERS + 16)];
} many_found;

static void add_found(many_found *self, const char *name, size_t count, size_t of)
{
    const size_t used = strlen(self->text);
    if (++self->kinds <= SHOWN)
        (void)snprintf(self->text + used, sizeof self->text - used, "%s%s (%.0f %%)", used > 0 ? ", " : "", name,
                       100.0 * (double)count / (double)of);
}

/* Sort the sample. Then move the rows of values that many records have to the end. Returns how many other rows there
 * are. */
static size_t find_values(skew *self, many_found *found)
{
    const size_t row_words = self->words + 1;
    uint64_t *others = malloc(self->count * row_words * sizeof *others);
    size_t other_count = 0;
    if (others == NULL)
        return self->count;
    qsort_r(self->rows, self->count, row_words * sizeof *self->rows, compare_rows, &self->words);
    for (size_t begin = 0, end; begin < self->count; begin = end) {
        char name[RADIX_MAX_CHARACTERS + 1];
        for (end = begin + 1;
             end < self->count && compare_rows(row_at(self, begin), row_at(self, end), &self->words) == 0;)
            end++;
        if (end - begin > self->count / MANY_DIVISOR) {
            add_found(found, radix_string(RADIX_HEX, name, row_at(self, begin), self->words), end - begin, self->count);
            continue;
        }
        memcpy(others + other_count * row_words, row_at(self, begin), (end - begin) * row_words * sizeof *others);
        other_count += end - begin;
    }
    memcpy(self->rows, others, other_count * row_words * sizeof *others);
    free(others);
    return other_count;
}

static int compare_words(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

/* Find prefixes of a word in `count` rows. */
static void find_prefixes(const skew *self, size_t count, uint32_t word, many_found *found)
{
    uint64_t *prefixes = malloc((count + 1) * sizeof *prefixes);
    if (prefixes == NULL)
        return;
    for (size_t i = 0; i < count; i++)
        prefixes[i] = row_at(self, i)[word] >> (64 - PREFIX_BITS);
    qsort(prefixes, count, sizeof *prefixes, compare_words);
    for (size_t begin = 0, end; begin < count; begin = end) {
        char name[32];
        for (end = begin + 1; end < count && prefixes[end] == prefixes[begin];)
            end++;
        (void)snprintf(name, sizeof name, "%04" PRIx64, prefixes[begin]);
        if (end - begin > self->count / MANY_DIVISOR)
            add_found(found, name, end - begin, self->count);
    }
    free(prefixes);
}

static void report_values(skew *self, const char *path, size_t *other_count_out)
{
    many_found values = {.kinds = 0};
    *other_count_out = find_values(self, &values);
    if (values.kinds > 0)
        message_print("warning: %s: many records have the same fingerprint: %s%s; all of them are near each other; if "
                      "these are blank or error pages, --exclude leaves them out of pairs, clusters, join and dedup",
                      path, values.text, values.kinds > SHOWN ? ", ..." : "");
}

static void report_prefixes(const skew *self, const char *path, size_t other_count)
{
    for (uint32_t word = 0; word < self->words; word++) {
        many_found prefixes = {.kinds = 0};
        find_prefixes(self, other_count, word, &prefixes);
        if (prefixes.kinds == 0)
            continue;
        message_print("warning: %s: the first 16 bits of word %" PRIu32
                      " are often the same: %s%s; queries near these read more blocks than others; a hash with "
                      "evenly distributed bits does not have that",
                      path, word, prefixes.text, prefixes.kinds > SHOWN ? ", ..." : "");
        return;
    }
}

/* Words that are equal in all rows. */
static void report_words(const skew *self, const char *path)
{
    for (uint32_t left = 0; left < self->words; left++)
        for (uint32_t right = left + 1; right < self->words; right++) {
            size_t i = 0;
            while (i < self->count && row_at(self, i)[left] == row_at(self, i)[right])
                i++;
            if (i < self->count)
                continue;
            message_print("warning: %s: word %" PRIu32 " of the fingerprints repeats word %" PRIu32
                          ", so each bit in which records differ counts twice; build with one of them",
                          path, right, left);
            return;
        }
}

/* Bits that are the same in all rows: their number, and the first and the last one. */
static void report_bits(const skew *self, const char *path, uint32_t bit_count)
{
    uint32_t constant = 0, first = 0, last = 0;
    for (uint32_t bit = 0; bit < bit_count; bit++) {
        const uint32_t word = bit / 64, shift = 63 - bit % 64;
        const uint64_t value = row_at(self, 0)[word] >> shift & 1;
        size_t i = 1;
        while (i < self->count && (row_at(self, i)[word] >> shift & 1) == value)
            i++;
        if (i < self->count)
            continue;
        first = constant == 0 ? bit : first;
        last = bit;
        constant++;
    }
    if (constant == 0 || constant == bit_count)
        return;
    const bool at_end = last == bit_count - 1 && last - first + 1 == constant;
    char bits[64];
    if (constant == 1)
        (void)snprintf(bits, sizeof bits, "bit %" PRIu32 " is", first);
    else
        (void)snprintf(bits, sizeof bits, "%" PRIu32 " bits, from bit %" PRIu32 " on, are", constant, first);
    message_print("warning: %s: %s the same in all records%s", path, bits,
                  at_end ? "; if the fingerprints have fewer bits, give --bits N and --pad"
                         : "; such bits tell nothing apart");
}

void skew_report(skew *self, const char *path, uint32_t bits)
{
    size_t other_count = 0;
    if (self->rows == NULL || self->count < MIN_ROWS)
        return;
    report_values(self, path, &other_count);
    report_prefixes(self, path, other_count);
    report_words(self, path);
    report_bits(self, path, bits > 0 ? bits : 64 * self->words);
}
