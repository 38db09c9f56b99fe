/*
 * input_doubt.c - watches signs. A sign has a function that says whether a row speaks against it, and one that says
 * whether there are enough rows: so many that random fingerprints would hardly have the sign. Near copies of one row
 * tell nothing new, so what counts is the first row, and then only what changes from a row to the next one.
 */
#include "input/input_doubt.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define BYTES(value) ((value)*UINT64_C(0x0101010101010101))
#define DIGITS(value) ((value)*UINT64_C(0x1111111111111111))

/* A row, and the one before it, or zeros. */
typedef struct doubt_row {
    const uint64_t *now, *before;
    uint64_t id;
} doubt_row;

/* ----- parts of words ----- */

static bool is_hex_digit(unsigned byte)
{
    return (byte >= '0' && byte <= '9') || ((byte | 0x20u) >= 'a' && (byte | 0x20u) <= 'f');
}

static bool has_bytes(const uint64_t *words, uint32_t count, bool (*is_right)(unsigned byte))
{
    for (uint32_t i = 0; i < 8 * count; i++)
        if (!is_right(words[i / 8] >> (56 - i % 8 * 8) & 0xff))
            return false;
    return true;
}

static bool is_printable(unsigned byte)
{
    return byte >= ' ' && byte <= '~';
}

/* All whole characters in base64 that stand for the words, as numbers of 6 bits. */
static bool has_characters(const uint64_t *words, uint32_t count, bool (*is_right)(unsigned character))
{
    for (uint32_t at = 0; at + 6 <= 64 * count; at += 6) {
        const uint32_t shift = at % 64;
        uint64_t bits = words[at / 64] << shift;
        if (shift > 58)
            bits |= words[at / 64 + 1] >> (64 - shift);
        if (!is_right((unsigned)(bits >> 58)))
            return false;
    }
    return true;
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

static uint64_t count_changes(const sign_watch *self, const doubt_row *row, uint32_t bits)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < self->words; i++) {
        uint64_t change = row->now[i] ^ row->before[i];
        for (uint32_t step = 1; step < bits; step *= 2)
            change |= change >> step;
        count += (uint64_t)__builtin_popcountll(change & (bits == 8 ? BYTES(1u) : DIGITS(1u)));
    }
    return count;
}

/* ----- does a row speak for the sign? ----- */

static bool watch_bits(sign_watch *self, const doubt_row *row)
{
    for (uint32_t i = 0; i < self->words; i++)
        if ((row->now[i] & ~BYTES(1u)) != 0)
            return false;
    return true;
}

static bool watch_hex_bytes(sign_watch *self, const doubt_row *row)
{
    return has_bytes(row->now, self->words, is_hex_digit);
}

static bool watch_text(sign_watch *self, const doubt_row *row)
{
    self->changed_bytes += self->count > 0 ? count_changes(self, row, 8) : 0;
    return has_bytes(row->now, self->words, is_printable);
}

static bool watch_hex_characters(sign_watch *self, const doubt_row *row)
{
    return self->radix == RADIX_BASE64 && has_characters(row->now, self->words, is_hex_character);
}

static bool watch_base32(sign_watch *self, const doubt_row *row)
{
    return self->radix == RADIX_BASE64 && has_characters(row->now, self->words, is_base32_character);
}

/* Numbers that are far apart are no ids in a row. */
static bool watch_counting(sign_watch *self, const doubt_row *row)
{
    const uint64_t now = row->now[0], before = row->before[0];
    if (self->count == 0)
        self->first = now;
    if (self->count > 0 && self->changed_rows == 0)
        self->falls = now < before;
    self->changed_rows += self->count > 0 && now != before;
    const uint64_t distance = self->falls ? self->first - now : now - self->first;
    return self->words == 1 && (self->count == 0 || (self->falls ? now <= before : now >= before)) &&
           distance < UINT64_C(1) << 48;
}

static bool watch_no_letter(sign_watch *self, const doubt_row *row)
{
    self->changed_digits += self->count > 0 ? count_changes(self, row, 4) : 0;
    return self->words == 1 && self->is_text && self->radix == RADIX_HEX && !has_letter(row->now[0]);
}

static bool watch_32_bits(sign_watch *self, const doubt_row *row)
{
    const int64_t number = (int64_t)row->now[0];
    if (self->words > 1 || number < INT32_MIN || number > UINT32_MAX)
        return false;
    self->negative_count += number < 0;
    self->low_bits |= (uint64_t)(number < 0 ? ~number : number);
    return true;
}

/* Doubles of this size are multiples of 128, and are printed with 17 digits and zeros. */
static bool watch_rounded(sign_watch *self, const doubt_row *row)
{
    const uint64_t now = row->now[0], negative = 0 - now, large = UINT64_C(1000000000000000000);
    const bool is_large = now > large && negative > large;
    self->rounded_count += is_large && now != row->before[0];
    return self->words == 1 && self->is_text && (self->radix == RADIX_DEC || self->radix == RADIX_SIGNED) &&
           (!is_large || now % 100 == 0 || negative % 100 == 0 || now % 128 == 0);
}

static bool watch_id_order(sign_watch *self, const doubt_row *row)
{
    self->id_bits |= row->id;
    return self->has_ids && !self->is_text && (row->id & 0xffffffffff) == 0;
}

/* ----- are there enough rows? ----- */

static uint64_t count_bits(const sign_watch *self)
{
    uint64_t set = 0;
    for (uint32_t i = 0; i < self->words; i++)
        set += (uint64_t)__builtin_popcountll(self->bits[i]);
    return set;
}

static bool is_bits(const sign_watch *self)
{
    const uint64_t set = count_bits(self);
    return self->words > 1 ? set >= 2 * self->words : set >= 6 && self->count >= 8;
}

static bool is_hex_bytes(const sign_watch *self) /* a random word: 2^-28 */
{
    return self->count > 0;
}

/* A random byte: 2^-1.4; one of which a bit changed: 2^-0.5. */
static bool is_text(const sign_watch *self)
{
    return 22 * self->words + self->changed_bytes >= 48;
}

static bool is_hex_characters(const sign_watch *self) /* a random character: 2^-1.5 */
{
    return self->words > 1 && count_bits(self) >= 8 * self->words;
}

static bool is_base32(const sign_watch *self) /* a random character: 2^-1 */
{
    return self->words > 2 && count_bits(self) >= 8 * self->words;
}

/* n numbers between 0 and 16 n. */
static bool is_counting(const sign_watch *self)
{
    uint64_t first = self->first, last = self->previous[0];
    if ((self->against & 1u << SIGN_NO_LETTER) == 0) {
        first = decimal_of(first);
        last = decimal_of(last);
    }
    return self->count >= 16 && self->changed_rows >= self->count / 2 &&
           (self->falls ? first - last : last - first) < 16 * self->count;
}

/* A digit of a random row: 2^-0.7, of which there may be eight only; one of which a bit changed: 2^-0.4. */
static bool is_no_letter(const sign_watch *self)
{
    return self->changed_digits >= 40;
}

static bool is_32_bits(const sign_watch *self) /* a random row: 2^-31 */
{
    return self->count >= 4 && self->negative_count > 0 && __builtin_popcountll(self->low_bits) >= 16;
}

static bool is_rounded(const sign_watch *self) /* a random row: 2^-5; if a bit changed: 2^-0.16 */
{
    return self->rounded_count >= 100;
}

static bool is_id_order(const sign_watch *self)
{
    return self->count >= 4 && __builtin_popcountll(self->id_bits) >= 2;
}

static bool are_rare(const line_shorts *shorts, uint64_t count)
{
    return shorts->count == 1 ? count > 2 : 64 * shorts->count <= count;
}

/*
 * Some programs leave out bytes 0 in front, and write the digit 0 of other bytes: all short rows lack whole bytes, and
 * no other row begins with such a byte. Of 16 rows with the digit 0, one is then short, give or take. Of too few rows,
 * none may begin with that byte by chance, and then a row is doubted that may be right.
 */
static bool leaves_out_bytes(const sign_watch *self)
{
    const size_t short_count = self->shorts.count;
    return self->radix == RADIX_HEX && self->shorts.any_missing % 8 == 0 && self->zero_bytes == 0 &&
           self->zero_digits + 15 * short_count >= 45 && self->zero_digits <= 45 * (short_count + 1);
}

/*
 * Who writes leading zeros writes no short rows: more rows begin with the digit 0 than are short. Or rows are so short
 * that none would be, of so many: a random one has d bits less with 2^-d.
 */
static bool is_short(const sign_watch *self)
{
    const bool pads = self->zero_digits > 0 && !leaves_out_bytes(self);
    double likelihood = (double)self->count;
    const line_shorts *shorts = &self->shorts;
    for (uint32_t i = 0; i < shorts->most_missing; i++)
        likelihood /= 2;
    return shorts->count > 0 && are_rare(shorts, self->count) && (pads || likelihood < 1e-5);
}

/* ----- the signs ----- */

/* The most telling ones first. A text follows "the fingerprints (N)". */
static const struct sign {
    bool (*watch)(sign_watch *self, const doubt_row *row);
    bool (*is_shown)(const sign_watch *self);
    const char *text;
} signs[SIGN_COUNT] = {
    [SIGN_BITS] = {watch_bits, is_bits,
                   "have only bytes 0 and 1: they seem to be single bits, read as 8 times as many; pack 8 "
                   "bits into a byte, as numpy.packbits() does"},
    [SIGN_HEX_BYTES] = {watch_hex_bytes, is_hex_bytes,
                        "are hex digits in ASCII, byte by byte: they seem to be hex that was encoded once "
                        "more, such as in base64; decode it first"},
    [SIGN_TEXT] = {watch_text, is_text,
                   "are readable text, byte by byte: they seem to be text that was encoded, such as in "
                   "base64; decode it first"},
    [SIGN_HEX_CHARS] = {watch_hex_characters, is_hex_characters,
                        "have only hex digits: they seem to be hex, read as base64; leave out "
                        "--radix base64"},
    [SIGN_BASE32] = {watch_base32, is_base32, "have only characters of base32: they seem to be base32, read as base64"},
    [SIGN_COUNTING] =
        {watch_counting, is_counting,
         "rise or fall by small steps: they seem to be ids or line numbers; --columns says which field is "
         "the fingerprint, such as --columns id,fingerprint, and --radix dec reads decimal "
         "ones"},
    [SIGN_NO_LETTER] = {watch_no_letter, is_no_letter,
                        "have no hex digit above 9: they seem to be decimal, read as hex; --radix dec reads "
                        "decimal numbers, and --radix hex says that these are hex"},
    [SIGN_32_BITS] = {watch_32_bits, is_32_bits,
                      "are numbers of 32 bits, some of them negative: those have 32 more bits that are 1, "
                      "so they are far from all others, and from the same bits as an unsigned number; "
                      "--radix signed32 reads both alike"},
    [SIGN_ROUNDED] = {watch_rounded, is_rounded,
                      "are rounded: they seem to have passed through a program that holds numbers as "
                      "doubles, such as JavaScript or a spreadsheet, and have lost their last bits; write "
                      "them as strings"},
    [SIGN_ID_ORDER] = {watch_id_order, is_id_order,
                       "have ids whose low 40 bits are all zero: the numbers seem to be big-endian, and are "
                       "read as little-endian"},
    [SIGN_SHORT] = {NULL, is_short, NULL},
};

#define WATCHED_SIGNS ((UINT32_C(1) << SIGN_SHORT) - 1) /* row by row */

static void describe_short(const sign_watch *self, char *to, size_t size)
{
    const bool is_one = self->shorts.count == 1;
    (void)snprintf(to, size,
                   "of %" PRIu64 " fingerprints, %zu %s fewer digits than the others (%sline %" PRIu64
                   "), so %s zeros in front: a row seems to be cut short; correct it, or write the zeros",
                   self->count, self->shorts.count, is_one ? "has" : "have", is_one ? "" : "first ", self->shorts.first,
                   is_one ? "it gets" : "they get");
}

/* Write the first sign that is shown. Of several inputs, each may write leading zeros or not. */
static void find(const sign_watch *self, const char *name, char *to, size_t size)
{
    const size_t begin = name == NULL ? 0 : (size_t)snprintf(to, size, "%.200s: ", name);
    for (input_sign i = 0; i < (name != NULL ? SIGN_COUNT : SIGN_SHORT); i++) {
        if ((self->against & 1u << i) != 0 || self->count == 0 || !signs[i].is_shown(self))
            continue;
        if (i == SIGN_SHORT)
            describe_short(self, to + begin, size - begin);
        else
            (void)snprintf(to + begin, size - begin, "the fingerprints (%" PRIu64 ") %s", self->count, signs[i].text);
        return;
    }
    to[0] = '\0';
}

static void watch_row(sign_watch *self, const doubt_row *row)
{
    for (uint32_t left = WATCHED_SIGNS & ~self->against; left != 0; left &= left - 1) {
        const unsigned sign = (unsigned)__builtin_ctz(left);
        if (!signs[sign].watch(self, row))
            self->against |= 1u << sign;
    }
    for (uint32_t i = 0; i < self->words; i++)
        self->bits[i] |= row->now[i];
    self->count++;
}

static bool is_zero(const uint64_t *words, uint32_t count)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < count; i++)
        all |= words[i];
    return all == 0;
}

static size_t left_after(size_t count, size_t taken)
{
    return count > taken ? count - taken : 0;
}

/* Of whose digits are there fewer than of the others? Those that begin with the digit 0 either have it or are short. */
static void watch_lengths(sign_watch *self, const doubt_rows *rows)
{
    const size_t looked_at = self->zero_bytes > 0 ? 0 : rows->count; /* more would tell nothing new */
    size_t digits = 0, bytes = 0;
    for (size_t i = 0; i < looked_at; i++) {
        const uint64_t *now = rows->fingerprints + rows->words * i;
        if (now[0] >> (64 - radix_digit_bits(rows->radix)) != 0 || (now[0] == 0 && is_zero(now, rows->words)))
            continue;
        digits++;
        bytes += now[0] >> 56 == 0;
    }
    self->zero_digits += left_after(digits, rows->shorts.count);
    self->zero_bytes += left_after(bytes, rows->shorts.count);
    if (rows->shorts.count > 0)
        line_shorts_add(&self->shorts, &rows->shorts, 0);
}

static void watch(sign_watch *self, const doubt_rows *rows)
{
    const uint32_t words = rows->words;
    size_t done = 0;
    self->words = words;
    self->is_text = rows->is_text;
    self->radix = rows->radix;
    self->has_ids = rows->ids != NULL;
    if (rows->radix_given)
        self->against |= 1u << SIGN_NO_LETTER;
    for (; done < rows->count && self->against != WATCHED_SIGNS; done++) {
        const uint64_t *now = rows->fingerprints + words * done;
        watch_row(self,
                  &(doubt_row){now, done > 0 ? now - words : self->previous, rows->ids != NULL ? rows->ids[done] : 0});
    }
    self->count += rows->count - done;
    if (rows->is_text && (rows->radix == RADIX_HEX || rows->radix == RADIX_BIN))
        watch_lengths(self, rows);
    if (rows->count > 0)
        memcpy(self->previous, rows->fingerprints + words * (rows->count - 1), words * sizeof *self->previous);
}

/* The input ends. */
static void conclude(input_doubt *self)
{
    if (self->found[0] == '\0')
        find(&self->input, self->name, self->found, sizeof self->found);
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
    watch(&self->input, rows);
    watch(&self->all, rows);
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
        find(&self->all, NULL, self->found, sizeof self->found);
    return self->found[0] != '\0' ? self->found : NULL;
}
