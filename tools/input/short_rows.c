/*
 * short_rows.c - counts zeros in front of rows, and keeps some rows that have many of them. Of decimal numbers, ones in
 * front of a negative one count like zeros.
 */
#include "input/short_rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* ----- rows, one after the other ----- */

static uint32_t count_ones(const uint64_t *row, uint32_t words)
{
    int count = 0;
    for (uint32_t i = 0; i < words; i++)
        count += count_bits(row[i]);
    return (uint32_t)count;
}

static size_t left_after(size_t count, size_t taken)
{
    return count > taken ? count - taken : 0;
}

/* The bits in front of the first one that is set. Of decimal numbers, also of the negative one. */
static uint32_t count_leading_zeros(const short_rows *self, const uint64_t *row)
{
    uint32_t zeros = 0, i = 0;
    for (; i < self->words && row[i] == 0; i++)
        zeros += 64;
    if (i == self->words)
        return zeros;
    const uint32_t length = bit_length(row[i]), of_negative = bit_length(0 - row[i]);
    const bool is_number = radix_digit_bits(self->radix) == 0 && self->words == 1;
    return zeros + 64 - (is_number && of_negative < length ? of_negative : length);
}

/* Keep a row with zeros in front, unless it is a near copy of one that is kept, or of zero. */
static void keep_row(short_rows *self, const uint64_t *row, uint32_t zeros)
{
    const uint32_t rest = 64 * self->words - zeros;
    if (self->kept_count == SHORT_ROWS_KEPT)
        return;
    const uint64_t last = row[self->words - 1], low = rest < bit_length(last) ? 0 - last : last;
    for (uint32_t i = 0; i < self->kept_count; i++)
        if (3u * (uint32_t)count_bits(low ^ self->kept_low[i]) < (rest < 64 ? rest : 64))
            return;
    const uint32_t ones = self->words > 1 ? count_ones(row, self->words) : (uint32_t)count_bits(low);
    if (ones < 4 || 4 * ones < rest)
        return;
    self->kept_low[self->kept_count] = low;
    self->kept_zeros[self->kept_count++] = zeros;
    self->sampled_bits += rest;
    self->sampled_ones += ones;
}

#define SAMPLED_ROWS 1000u /* of an input, to know the share of set bits */

/* A row has no zeros in front. */
static void watch_full(short_rows *self, const uint64_t *row)
{
    if (self->full_rows++ >= SAMPLED_ROWS)
        return;
    self->sampled_bits += 64 * self->words;
    self->sampled_ones += count_ones(row, self->words);
}

/* Which rows have more zeros in front than is likely, and do those of text have their digits? Those that begin with the
 * digit 0 either have it or are short. */
static void watch_lengths(short_rows *self, const doubt_rows *rows)
{
    const bool has_digits = radix_digit_bits(rows->radix) != 0;
    const unsigned size = has_digits ? radix_digit_bits(rows->radix) : 8;
    const bool looks = !has_digits || rows->shorts.count > 0 || self->zero_bytes == 0;
    size_t digits = 0, bytes = 0;
    for (size_t i = 0; i < rows->count && looks; i++) {
        const uint64_t *now = rows->fingerprints + rows->words * i;
        const uint64_t head = now[0] >> (64 - size);
        if (head != 0 && (has_digits || head != 0xff)) {
            watch_full(self, now);
            continue;
        }
        const uint32_t zeros = count_leading_zeros(self, now);
        if (zeros == 64 * rows->words)
            continue;
        digits++;
        bytes += now[0] >> 56 == 0;
        if ((!has_digits || rows->shorts.count > 0) && zeros >= 4)
            keep_row(self, now, zeros);
    }
    if (!has_digits)
        return;
    self->zero_digits += left_after(digits, rows->shorts.count);
    self->zero_bytes += left_after(bytes, rows->shorts.count);
    if (rows->shorts.count > 0)
        line_shorts_add(&self->shorts, &rows->shorts, 0);
}

/* Do the rows tell how many digits they have? */
static bool has_lengths(const doubt_rows *rows)
{
    const bool is_number = radix_digit_bits(rows->radix) == 0;
    return rows->is_text && (rows->radix == RADIX_HEX || rows->radix == RADIX_BIN || (is_number && rows->words == 1));
}

void short_rows_note(short_rows *self, const doubt_rows *rows)
{
    self->words = rows->words;
    self->radix = rows->radix;
    self->count += rows->count;
    if (has_lengths(rows))
        watch_lengths(self, rows);
}

/* ----- what they tell ----- */

/*
 * Some programs leave out bytes 0 in front, and write the digit 0 of other bytes: all short rows lack whole bytes, and
 * no other row begins with such a byte. Of 16 rows with the digit 0, one is then short, give or take. Of too few rows,
 * none may begin with that byte by chance, and then a row is doubted that may be right.
 */
static bool leaves_out_bytes(const short_rows *self)
{
    const size_t short_count = self->shorts.count;
    return self->radix == RADIX_HEX && self->shorts.any_missing % 8 == 0 && self->zero_bytes == 0 &&
           self->zero_digits + 15 * short_count >= 45 && self->zero_digits <= 45 * (short_count + 1);
}

/* A program that writes leading zeros writes no short rows: if some rows begin with the digit 0, rare short ones are
 * cut. */
static bool is_short_by_style(const short_rows *self)
{
    const line_shorts *shorts = &self->shorts;
    const bool are_rare = shorts->count == 1 ? self->count > 2 : 64 * shorts->count <= self->count;
    return shorts->count > 0 && are_rare && self->zero_digits > 0 && !leaves_out_bytes(self);
}

/*
 * Among n random rows, c have at least m zeros in front, each with 2^-um, if a bit is zero with 2^-u. These are c of n:
 * there are less than (en/c)^c such choices. Only rows that are no near copies of each other count.
 */
int short_rows_evidence(const short_rows *self)
{
    const double share = (double)self->sampled_ones / (double)(self->sampled_bits + 1);
    const bool has_digits = radix_digit_bits(self->radix) != 0;
    const double bit = -log2(has_digits ? fmax(1 - share, 0.5) : fmax(1 - share, share)); /* or leading ones */
    double best = 0;
    if (is_short_by_style(self))
        return ENOUGH;
    if (self->full_rows == 0 && self->words == 1 && self->radix != RADIX_BIN)
        return AGAINST; /* small numbers */
    for (uint32_t i = 0; i < self->kept_count; i++) {
        double count = 0;
        for (uint32_t j = 0; j < self->kept_count; j++)
            count += self->kept_zeros[j] >= self->kept_zeros[i];
        const double sides = has_digits ? 0 : count; /* a bit for each number: zeros or ones in front */
        const double choices = sides + count * log2((double)self->count / count) + (count > 1 ? 1.5 * count + 3 : 0);
        best = fmax(best, count * bit * self->kept_zeros[i] - choices);
    }
    return (int)fmin(100 * best, ENOUGH);
}

void short_rows_describe(const short_rows *self, char *to, size_t size)
{
    const size_t count = self->shorts.count;
    const bool is_one = count == 1;
    if (count == 0)
        (void)snprintf(to, size,
                       "some of the fingerprints (%" PRIu64
                       ") have far fewer digits than the others: a row seems to be "
                       "cut short; correct it",
                       self->count);
    else if (count == self->count)
        (void)snprintf(to, size,
                       "the fingerprints (%" PRIu64 ") have fewer digits than %" PRIu32
                       " bits need, so leading zeros were "
                       "assumed: they seem to have another size; if only leading zeros are missing, write them",
                       self->count, 64 * self->words);
    else
        (void)snprintf(to, size,
                       "of %" PRIu64 " fingerprints, %zu %s fewer digits than the others (%sline %" PRIu64
                       "), so %s leading zeros: a row seems to be cut short; correct it, or write the zeros",
                       self->count, count, is_one ? "has" : "have", is_one ? "" : "first ", self->shorts.first,
                       is_one ? "it gets" : "they get");
}
