/*
 * input_doubt.c - watches signs. For each row, a sign has a function that says whether the row speaks against it, and
 * otherwise how unlikely that is in a random row: in hundredths of a bit, so 100 for a chance of one half. These are
 * added up, and the sign is shown from ENOUGH on. Near copies of one row tell little new, so only bits count that
 * change from a row to the next one, or that no row had before; of the first row, those that are set. So sparse rows
 * tell little.
 */
#include "input/input_doubt.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define BYTES(value) ((value)*UINT64_C(0x0101010101010101))
#define DIGITS(value) ((value)*UINT64_C(0x1111111111111111))

/* A row, and the one before it, or zeros. */
typedef struct doubt_row {
    const uint64_t *now, *before;
    uint64_t id;
    uint32_t changed_bits; /* from one to the other */
} doubt_row;

/* ----- parts of words ----- */

static bool is_hex_digit(unsigned byte)
{
    return (byte >= '0' && byte <= '9') || ((byte | 0x20u) >= 'a' && (byte | 0x20u) <= 'f');
}

static bool is_text_byte(unsigned byte)
{
    return (byte >= ' ' && byte <= '~') || byte == '\t' || byte == '\n' || byte == '\r';
}

static unsigned byte_at(const uint64_t *words, uint32_t i)
{
    return words[i / 8] >> (56 - i % 8 * 8) & 0xff;
}

/* Are all whole bytes right, but for the end of a line? Returns how many are; 0: not all. */
static uint32_t count_bytes(const sign_watch *self, const uint64_t *words, bool (*is_right)(unsigned byte))
{
    uint32_t count = self->own_bits / 8;
    if (count > 1 && byte_at(words, count - 1) == '\n')
        count--;
    if (count > 1 && byte_at(words, count - 1) == '\r')
        count--;
    for (uint32_t i = 0; i < count; i++)
        if (!is_right(byte_at(words, i)))
            return 0;
    return count;
}

/* Are all whole characters in base64 right, as numbers of 6 bits? Returns how many there are; 0: not all are. */
static uint32_t count_characters(const sign_watch *self, const uint64_t *words, bool (*is_right)(unsigned character))
{
    uint32_t at = 0;
    for (; at + 6 <= self->own_bits; at += 6) {
        const uint32_t shift = at % 64;
        uint64_t bits = words[at / 64] << shift;
        if (shift > 58)
            bits |= words[at / 64 + 1] >> (64 - shift);
        if (!is_right((unsigned)(bits >> 58)))
            return 0;
    }
    return at / 6;
}

static bool is_hex_character(unsigned character) /* 0-9, a-f, A-F */
{
    return (character >= 52 && character < 62) || character % 26 < 6;
}

static bool is_base32_character(unsigned character) /* A-Z, 2-7 */
{
    return character < 26 || (character >= 54 && character < 60);
}

static bool has_letter(uint64_t word) /* a hex digit above 9 */
{
    return (((word >> 1 | word >> 2) & word >> 3) & DIGITS(1u)) != 0;
}

static uint64_t decimal_of(uint64_t word) /* the number whose decimal digits are these hex digits */
{
    uint64_t value = 0;
    for (int shift = 60; shift >= 0; shift -= 4)
        value = 10 * value + (word >> shift & 0xf);
    return value;
}

/* The bits that no row had before. */
static int count_new_bits(const sign_watch *self, const doubt_row *row)
{
    int count = 0;
    for (uint32_t i = 0; i < self->words; i++)
        count += count_bits(row->now[i] & ~self->seen_bits[i]);
    return count;
}

/* Are all set bits among those of `part`, such as the lowest bits of bytes? */
static bool has_only(const sign_watch *self, const doubt_row *row, uint64_t part)
{
    uint64_t others = 0;
    for (uint32_t i = 0; i < self->words; i++)
        others |= row->now[i] & ~part;
    return others == 0;
}

/* ----- does a row speak against the sign, or how much for it? ----- */

/* A set bit is the lowest of its byte with 2^-3. One row in 16 may have other bytes, which nearly all random rows
 * have. */
static int watch_bits(sign_watch *self, const doubt_row *row)
{
    if (has_only(self, row, BYTES(1u)))
        return 300 * count_new_bits(self, row);
    return ++self->single_bits.other_rows > 1 && 16 * self->single_bits.other_rows > self->count ? AGAINST : 0;
}

/* Bytes 0 and 255, or 1 and -1. Only a byte that differs from the one beside it is evidence. */
static int watch_two_values(sign_watch *self, const doubt_row *row)
{
    int steps = 0;
    for (uint32_t i = 0; i < self->words; i++) {
        const uint64_t low = row->now[i] & BYTES(1u), high = row->now[i] >> 1 & BYTES(0x7fu);
        if (high != (high & BYTES(1u)) * 0x7f)
            return AGAINST;
        self->two_values.are_not_zero |= low != (high & BYTES(1u));
        self->two_values.are_not_one |= low != BYTES(1u);
        steps += count_bits((high ^ high << 8) & BYTES(1u) & ~UINT64_C(0xff));
    }
    return self->words < 2 || (self->two_values.are_not_zero && self->two_values.are_not_one) ? AGAINST
           : row->changed_bits > 0                                                            ? 50 * steps
                                                                                              : 0;
}

/* A set bit is in the lower half of its number with 2^-1. */
static int watch_halves(sign_watch *self, const doubt_row *row)
{
    self->halves.are_not_16 |= !has_only(self, row, UINT64_C(0x0000ffff0000ffff));
    const bool is_right = self->words > 1 && (!self->halves.are_not_16 || has_only(self, row, UINT32_MAX));
    return is_right ? 100 * count_new_bits(self, row) : AGAINST;
}

/* A random byte: 2^-3.5; if a bit changed: 2^-0.8. */
static int watch_hex_bytes(sign_watch *self, const doubt_row *row)
{
    const uint32_t count = count_bytes(self, row->now, is_hex_digit);
    return count == 0 ? AGAINST : self->count == 0 ? 354 * (int)count : 50 * ((int)row->changed_bits + 7) / 8;
}

/* A random byte: 2^-1.4; if a bit changed: 2^-0.5. */
static int watch_text(sign_watch *self, const doubt_row *row)
{
    const uint32_t count = count_bytes(self, row->now, is_text_byte);
    return count == 0 ? AGAINST : self->count == 0 ? 140 * (int)count : 20 * (int)row->changed_bits;
}

/* Have about as many bits changed as there are in random rows? */
static bool is_balanced(const sign_watch *self, const doubt_row *row)
{
    return 4 * row->changed_bits >= self->own_bits && 4 * row->changed_bits <= 3 * self->own_bits;
}

/* A random character: 2^-1.5. */
static int watch_hex_characters(sign_watch *self, const doubt_row *row)
{
    const uint32_t count = self->radix == RADIX_BASE64 && self->words > 1
                               ? count_characters(self, row->now, is_hex_character)
                               : 0;
    return count == 0 ? AGAINST : is_balanced(self, row) ? 140 * (int)count : 10 * (int)row->changed_bits;
}

/* A random character: 2^-1. */
static int watch_base32(sign_watch *self, const doubt_row *row)
{
    const uint32_t count = self->radix == RADIX_BASE64 && self->words > 2
                               ? count_characters(self, row->now, is_base32_character)
                               : 0;
    return count == 0 ? AGAINST : is_balanced(self, row) ? 90 * (int)count : 5 * (int)row->changed_bits;
}

/* Numbers that are far apart are no ids. How much their order and range tell is only known at the end. */
static int watch_near_numbers(sign_watch *self, const doubt_row *row)
{
    const uint64_t now = row->now[0], before = row->before[0];
    const bool is_first = self->count == 0;
    self->near_numbers.low = is_first || now < self->near_numbers.low ? now : self->near_numbers.low;
    self->near_numbers.high = now > self->near_numbers.high ? now : self->near_numbers.high;
    self->near_numbers.rises |= !is_first && now > before;
    self->near_numbers.falls |= !is_first && now < before;
    self->near_numbers.changed_rows += !is_first && now != before;
    self->near_numbers.changed_bits += is_first ? 0 : row->changed_bits;
    self->near_numbers.low_six_bits |= UINT64_C(1) << now % 64;
    return self->words == 1 && self->near_numbers.high - self->near_numbers.low < UINT64_C(1) << 48 ? 0 : AGAINST;
}

/* A digit of two bits is no letter with 2^-0.6, one of three bits with 2^-2, whatever the share of set bits is. */
static int watch_no_letter(sign_watch *self, const doubt_row *row)
{
    const uint64_t now = row->now[0], change = now ^ row->before[0];
    if (self->words > 1 || !self->is_text || self->radix != RADIX_HEX || has_letter(now))
        return AGAINST;
    const uint64_t changed = (change | change >> 1 | change >> 2 | change >> 3) & DIGITS(1u);
    const uint64_t three = now & now >> 1 & now >> 2 & changed; /* 7 */
    const uint64_t pairs = (now & now >> 1) | (now >> 1 & now >> 2) | (now & now >> 2) | (now & now >> 3);
    return 58 * count_bits(pairs & changed & ~three) + 200 * count_bits(three);
}

/* A bit of a number that is not negative, or one that is not set in another one, is one of the lowest 32. */
static int watch_32_bits(sign_watch *self, const doubt_row *row)
{
    const int64_t number = (int64_t)row->now[0];
    if (self->words > 1 || number < INT32_MIN || number > UINT32_MAX)
        return AGAINST;
    const uint64_t low = (uint64_t)(number < 0 ? ~number : number), new_bits = low & ~self->numbers_32.seen_bits;
    self->numbers_32.negative_count += number < 0;
    self->numbers_32.seen_bits |= low;
    return 100 * count_bits(new_bits);
}

/* A double has 53 bits, and is printed with 17 digits and zeros. Numbers whose last bits are zero for another reason
 * have fewer of the 53. */
static bool is_rounded_number(sign_watch *self, uint64_t number)
{
    const uint32_t lost = bit_length(number) - 53;
    const uint64_t unit = UINT64_C(1) << lost;
    const bool is_double = (number & (unit - 1)) == 0;
    const uint64_t last = number >= UINT64_C(10000000000000000000) ? 1000 : 100;
    if (!is_double && (!self->is_text || number % last != 0))
        return false;
    self->rounded.full_count += !is_double || (number & unit) != 0;
    return true;
}

/* A random bit is none of the last ones, which rounding clears, with 2^-0.2. */
static int watch_rounded(sign_watch *self, const doubt_row *row)
{
    const uint64_t now = row->now[0], negative = 0 - now;
    if (self->words > 1 || (self->is_text && self->radix != RADIX_DEC && self->radix != RADIX_SIGNED))
        return AGAINST;
    if (bit_length(now) <= 60 || bit_length(negative) <= 60)
        return 0;
    self->rounded.large_count++;
    return is_rounded_number(self, now) || is_rounded_number(self, negative)
               ? (is_balanced(self, row) ? 20 : 10) * (int)row->changed_bits
               : AGAINST;
}

/* How much it tells that the fingerprints are small depends on the largest one. */
static int watch_swapped(sign_watch *self, const doubt_row *row)
{
    const bool is_large = row->id >> 53 != 0;
    if (self->words > 1 || !self->has_ids || row->now[0] >> 28 != 0)
        return AGAINST;
    self->swapped.small_ids += !is_large;
    self->swapped.changed_bits += row->changed_bits;
    return 0;
}

/* Doubles of large numbers, as words: of a random row, an exponent has this range with 2^-5.9. */
static int watch_doubles(sign_watch *self, const doubt_row *row)
{
    const uint64_t exponent = row->now[0] >> 52 & 0x7ff;
    if (row->now[0] == 0)
        return 0;
    if (self->words > 1 || self->is_text || exponent < 0x41d || exponent > 0x43e)
        return AGAINST;
    self->doubles.large_count += exponent >= 0x43d;
    return (is_balanced(self, row) ? 18 : 9) * (int)row->changed_bits;
}

static int watch_id_order(sign_watch *self, const doubt_row *row)
{
    if (!self->has_ids || self->is_text || (row->id & 0xffffffffff) != 0)
        return AGAINST;
    self->id_order.seen_bits |= row->id;
    return self->count > 0 && row->id != self->previous_id ? 500 : 0;
}

/* Ids that few rows share, and that do not go up: those of a document of several fingerprints would. */
static int watch_repeated_ids(sign_watch *self, const doubt_row *row)
{
    if (self->count == 0)
        self->repeated_ids.min = self->repeated_ids.max = row->id;
    self->repeated_ids.min = row->id < self->repeated_ids.min ? row->id : self->repeated_ids.min;
    self->repeated_ids.max = row->id > self->repeated_ids.max ? row->id : self->repeated_ids.max;
    if (!self->has_ids || self->repeated_ids.max - self->repeated_ids.min >= 128)
        return AGAINST;
    self->repeated_ids.set[row->id / 64 % 2] |= UINT64_C(1) << row->id % 64;
    self->repeated_ids.falls |= self->count > 0 && row->id < self->previous_id;
    self->repeated_ids.row_count += row->changed_bits > 0;
    return 0;
}

/* ----- what only the end tells: more evidence, or AGAINST ----- */

/* The evidence of changed bits, if all are among the lowest ones of a number, of which any number is right. */
static int weigh_low_bits(uint64_t changed_bits, uint32_t length, uint32_t low_bits)
{
    return (int)fmin(fmax(100 * (double)changed_bits * log2((double)length / low_bits) - 600, 0), ENOUGH);
}

/* Numbers in order that all begin with the same bits, such as times; or n numbers between 0 and 16 n. Those that repeat
 * must be some of them. */
static int end_near_numbers(const sign_watch *self)
{
    uint64_t low = self->near_numbers.low, high = self->near_numbers.high;
    if ((self->against & 1u << SIGN_NO_LETTER) == 0) {
        low = decimal_of(low);
        high = decimal_of(high);
    }
    const bool is_ordered = !self->near_numbers.rises || !self->near_numbers.falls;
    const uint32_t length = bit_length(high), range = bit_length(low ^ high);
    const bool is_dense = self->count >= 16 && high - low < 16 * self->count &&
                          (is_ordered || count_bits(self->near_numbers.low_six_bits) >= 12);
    const bool has_head = is_ordered && self->near_numbers.changed_rows >= 8 && range + 4 <= length && range <= 44 &&
                          range > 0;
    if (self->near_numbers.changed_rows < self->count / 2 || (!is_dense && !has_head))
        return AGAINST;
    return is_dense ? ENOUGH : weigh_low_bits(self->near_numbers.changed_bits, length, range);
}

static int end_no_letter(const sign_watch *self)
{
    return self->count >= 3 ? 0 : AGAINST; /* one or two rows such as 7777777777777777 tell nothing */
}

static int end_32_bits(const sign_watch *self)
{
    return self->numbers_32.negative_count > 0 ? 0 : AGAINST;
}

static int end_rounded(const sign_watch *self)
{
    return self->rounded.full_count >= 2 && 3 * self->rounded.full_count >= self->rounded.large_count ? 0 : AGAINST;
}

static int end_swapped(const sign_watch *self)
{
    const uint32_t range = bit_length(self->seen_bits[0]);
    const int evidence = range > 0 ? weigh_low_bits(self->swapped.changed_bits, 64, range) : 0;
    return 16 * self->swapped.small_ids <= self->count ? evidence : AGAINST;
}

/* Of random numbers, a half or more, but not all, have one of the two largest exponents. Fingerprints that begin with
 * the same bits, as those of a shard do, have nearly the same exponent. */
static int end_doubles(const sign_watch *self)
{
    return 4 * self->doubles.large_count >= self->count && self->doubles.large_count < self->count ? 0 : AGAINST;
}

static int end_id_order(const sign_watch *self)
{
    return count_bits(self->id_order.seen_bits) >= 2 ? 0 : AGAINST;
}

static int end_repeated_ids(const sign_watch *self)
{
    const uint32_t ids = (uint32_t)(count_bits(self->repeated_ids.set[0]) + count_bits(self->repeated_ids.set[1]));
    const bool are_shared = self->repeated_ids.row_count >= 16 && self->repeated_ids.row_count >= 4u * ids;
    return are_shared && (ids == 1 || self->repeated_ids.falls) ? ENOUGH : AGAINST;
}

static int end_short(const sign_watch *self)
{
    return short_rows_evidence(&self->short_rows);
}

/* ----- the signs ----- */

#define NEAR_NUMBERS "are numbers close to each other: they seem to be ids, counts, times or line numbers; "

/* The most telling ones first. A text follows "the fingerprints (N)". */
static const struct sign {
    int (*watch)(sign_watch *self, const doubt_row *row);
    int (*end)(const sign_watch *self); /* or NULL */
    const char *text;
} signs[SIGN_COUNT] = {
    [SIGN_BITS] =
        {watch_bits, NULL,
         "have only bytes 0 and 1, all or nearly all: they seem to be single bits, read as 8 times as many; pack 8 "
         "bits into a byte, as numpy.packbits() does"},
    [SIGN_TWO_VALUES] = {watch_two_values, NULL,
                         "have only bytes of two values, such as 0 and 255 or 1 and -1: they seem to be single bits, "
                         "read as 8 times as many; pack 8 bits into a byte, as numpy.packbits(a == 1, axis=1) does"},
    [SIGN_HALVES] = {watch_halves, NULL,
                     "have only zeros in the upper half of every 32 or 64 bits: they seem to be smaller numbers that "
                     "were stored in a wider type; write them in their own type"},
    [SIGN_HEX_BYTES] = {watch_hex_bytes, NULL,
                        "are hex digits in ASCII, byte by byte: they seem to be hex that was encoded once "
                        "more, such as in base64; decode it first"},
    [SIGN_TEXT] = {watch_text, NULL,
                   "are readable text, byte by byte: they seem to be text that was encoded, such as in "
                   "base64; decode it first"},
    [SIGN_HEX_CHARS] = {watch_hex_characters, NULL,
                        "have only hex digits: they seem to be hex, read as base64; leave out "
                        "--radix base64"},
    [SIGN_BASE32] = {watch_base32, NULL, "have only characters of base32: they seem to be base32, read as base64"},
    [SIGN_SWAPPED] = {watch_swapped, end_swapped,
                      "are small, but their ids are large: fingerprint and id seem to be swapped; --columns says which "
                      "field is the fingerprint, such as --columns id,fingerprint, and --fingerprint-field and "
                      "--id-field name the keys of JSON"},
    [SIGN_NEAR_NUMBERS] = {watch_near_numbers, end_near_numbers,
                           NEAR_NUMBERS
                           "--columns says which field is the fingerprint, such as --columns id,fingerprint, "
                           "--fingerprint-field which key of JSON, and --radix dec reads decimal ones"},
    [SIGN_NO_LETTER] = {watch_no_letter, end_no_letter,
                        "have no hex digit above 9: they seem to be decimal, read as hex; --radix dec reads "
                        "decimal numbers, and --radix hex says that these are hex"},
    [SIGN_32_BITS] =
        {watch_32_bits, end_32_bits,
         "are numbers of 32 bits, some of them negative. As 64-bit numbers, negative ones begin with 32 more "
         "bits 1, so they are far from all others and from their unsigned form; --radix signed32 reads "
         "both forms of decimal or binary numbers alike; for hex, "
         "\"sed 's/ffffffff\\(........\\)/\\1/'\" removes these bits"},
    [SIGN_ROUNDED] = {watch_rounded, end_rounded,
                      "are rounded: they seem to have passed through a program that holds numbers as "
                      "doubles, such as JavaScript or a spreadsheet, and have lost their last bits; write "
                      "them as strings"},
    [SIGN_DOUBLES] =
        {watch_doubles, end_doubles,
         "are the bits of floating-point numbers (doubles), and these say nothing about a Hamming distance; "
         "convert them to integers where they are made, in NumPy to uint64"},
    [SIGN_ID_ORDER] = {watch_id_order, end_id_order,
                       "have ids whose low 40 bits are all zero: the numbers seem to be big-endian, and are "
                       "read as little-endian"},
    [SIGN_REPEATED_IDS] = {watch_repeated_ids, end_repeated_ids,
                           "share few ids, in no order: the ids seem to be another column, such as a quality; "
                           "--columns says which field is the id, and - skips a field"},
    [SIGN_SHORT] = {NULL, end_short, NULL},
};

#define WATCHED_SIGNS ((UINT32_C(1) << SIGN_SHORT) - 1) /* row by row */

static bool is_shown(const sign_watch *self, input_sign sign)
{
    const int more = signs[sign].end != NULL ? signs[sign].end(self) : 0;
    return (self->against & 1u << sign) == 0 && self->count > 0 && more != AGAINST &&
           self->evidence[sign] + (uint64_t)more >= ENOUGH;
}

/* The first sign before `end` that is shown, or `end`. */
static input_sign first_shown(const sign_watch *self, input_sign end)
{
    input_sign i = 0;
    while (i < end && !is_shown(self, i))
        i++;
    return i;
}

/* What SIGN_TEXT means in words. */
#define TEXT_AS_WORDS                                                                                                  \
    "are readable text, byte by byte: the file seems to be text, which --format text reads; if it is an array of "     \
    "characters, decode them first"

/* What SIGN_NEAR_NUMBERS means where there is no --columns. */
#define NEAR_NUMBERS_OF_FIELD                                                                                          \
    NEAR_NUMBERS "--fingerprint-field says which field is the fingerprint, and --radix dec reads decimal ones"

static const char *text_of_sign(const sign_watch *self, input_sign sign, bool is_of_field)
{
    return sign == SIGN_TEXT && !self->is_text        ? TEXT_AS_WORDS
           : sign == SIGN_NEAR_NUMBERS && is_of_field ? NEAR_NUMBERS_OF_FIELD
                                                      : signs[sign].text;
}

/* Write the first sign that is shown. Of several inputs, each may write leading zeros or not. */
static void describe_first(const sign_watch *self, const char *name, bool is_of_field, char *to, size_t size)
{
    const size_t begin = name == NULL ? 0 : (size_t)snprintf(to, size, "%.200s: ", name);
    const input_sign end = name != NULL ? SIGN_COUNT : SIGN_SHORT, sign = first_shown(self, end);
    if (sign == end)
        to[0] = '\0';
    else if (sign == SIGN_SHORT)
        short_rows_describe(&self->short_rows, to + begin, size - begin);
    else
        (void)snprintf(to + begin, size - begin, "the fingerprints (%" PRIu64 ") %s", self->count,
                       text_of_sign(self, sign, is_of_field));
}

static void watch_row(sign_watch *self, const doubt_row *row)
{
    for (uint32_t left = WATCHED_SIGNS & ~self->against; left != 0; left &= left - 1) {
        const unsigned sign = (unsigned)__builtin_ctz(left);
        const int evidence = signs[sign].watch(self, row);
        self->against |= (evidence == AGAINST ? 1u : 0u) << sign;
        self->evidence[sign] += evidence == AGAINST ? 0 : (uint64_t)evidence;
    }
    for (uint32_t i = 0; i < self->words; i++)
        self->seen_bits[i] |= row->now[i];
    self->previous_id = row->id;
    self->count++;
}

static uint32_t count_all(const uint64_t *left, const uint64_t *right, uint32_t words)
{
    int count = 0;
    for (uint32_t i = 0; i < words; i++)
        count += count_bits(left[i] ^ right[i]);
    return (uint32_t)count;
}

static void watch_rows(sign_watch *self, const doubt_rows *rows)
{
    const uint32_t words = rows->words;
    size_t done = 0;
    self->words = words;
    self->is_text = rows->is_text;
    self->radix = rows->radix;
    self->has_ids = rows->ids != NULL;
    self->own_bits = rows->bits > 0 ? rows->bits : 64 * words;
    if (rows->radix_given)
        self->against |= 1u << SIGN_NO_LETTER;
    for (; done < rows->count && self->against != WATCHED_SIGNS; done++) {
        const uint64_t *now = rows->fingerprints + words * done, *before = done > 0 ? now - words : self->previous;
        watch_row(self,
                  &(doubt_row){now, before, rows->ids != NULL ? rows->ids[done] : 0, count_all(now, before, words)});
    }
    self->count += rows->count - done;
    if (rows->count > 0)
        memcpy(self->previous, rows->fingerprints + words * (rows->count - 1), words * sizeof *self->previous);
}

/* The input ends. */
static void conclude(input_doubt *self)
{
    if (self->found[0] == '\0')
        describe_first(&self->input, self->name, self->is_of_field, self->found, sizeof self->found);
}

void input_doubt_begin(input_doubt *self, const char *name)
{
    if (self == NULL)
        return;
    conclude(self);
    self->input = (sign_watch){.count = 0};
    self->name = name;
}

void input_doubt_note(input_doubt *self, const doubt_rows *rows)
{
    if (self == NULL || rows->count == 0)
        return;
    watch_rows(&self->input, rows);
    watch_rows(&self->all, rows);
    short_rows_note(&self->input.short_rows, rows);
}

void input_doubt_say(input_doubt *self, const char *format, ...)
{
    va_list arguments;
    if (self == NULL || self->found[0] != '\0')
        return;
    va_start(arguments, format);
    (void)vsnprintf(self->found, sizeof self->found, format, arguments);
    va_end(arguments);
}

const char *input_doubt_end(input_doubt *self)
{
    if (self == NULL)
        return NULL;
    conclude(self);
    if (self->found[0] == '\0')
        describe_first(&self->all, NULL, self->is_of_field, self->found, sizeof self->found);
    return self->found[0] != '\0' ? self->found : NULL;
}

input_sign input_doubt_sign(const input_doubt *self)
{
    const input_sign sign = first_shown(&self->all, SIGN_SHORT);
    return sign == SIGN_SHORT ? SIGN_COUNT : sign;
}
