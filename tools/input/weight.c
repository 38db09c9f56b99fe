/*
 * weight.c - rounds a decimal number once, from its exact value. Converted to a double first, it would be rounded
 * twice.
 *
 * A unit is 2^-20, so multiples of 2^-21 decide the rounding of a fraction. Each of these is m * 5^21 / 10^21, so it
 * has at most 21 decimal places. So only 21 places matter, and whether a digit other than 0 follows them.
 */
#include "input/weight.h"

#include <stdint.h>

#define PLACES 21
#define HALF_UNIT UINT64_C(476837158203125) /* 5^21: 2^-21 in units of 10^-21 */
#define UNIT 1048576.0                      /* 2^20 */
#define MAX_WHOLE (UINT64_C(1) << 31)
#define WHOLE_DIGITS 10                 /* of MAX_WHOLE */
#define MAX_EXPONENT ((int64_t)1 << 40) /* larger exponents count as about this one: no text has this many digits */

__extension__ typedef unsigned __int128 wide;

/* The parts of a number. */
typedef struct decimal {
    const char *digits, *end; /* the digits, perhaps with a point */
    int64_t first_place;      /* the first digit counts 10^first_place */
    bool negative;
} decimal;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Skip a sign, if there is one. Returns whether it is a minus. */
static bool take_sign(const char **at, const char *end)
{
    if (*at == end || (**at != '-' && **at != '+'))
        return false;
    return *(*at)++ == '-';
}

/* Read an exponent such as "e-12", if there is one. */
static bool take_exponent(const char **at, const char *end, int64_t *exponent_out)
{
    *exponent_out = 0;
    if (*at == end || (**at != 'e' && **at != 'E'))
        return true;
    (*at)++;
    const bool negative = take_sign(at, end);
    if (*at == end)
        return false;
    int64_t value = 0;
    for (; *at < end && is_digit(**at); (*at)++)
        value = value > MAX_EXPONENT ? value : 10 * value + (**at - '0');
    *exponent_out = negative ? -value : value;
    return true;
}

static bool divide_up(const char *text, size_t length, decimal *number)
{
    const char *at = text, *end = text + length, *point = NULL;
    int64_t exponent;
    number->negative = take_sign(&at, end);
    number->digits = at;
    for (; at < end && (is_digit(*at) || (*at == '.' && point == NULL)); at++)
        point = *at == '.' ? at : point;
    number->end = at;
    if (at - number->digits == (point != NULL) || !take_exponent(&at, end, &exponent) || at != end)
        return false;
    number->first_place = (point != NULL ? point : number->end) - number->digits - 1 + exponent;
    return true;
}

static wide times_power_of_ten(uint32_t digit, int64_t power)
{
    wide value = digit;
    for (int64_t i = 0; i < power; i++)
        value *= 10;
    return value;
}

bool weight_parse(const char *text, size_t length, double *weight_out)
{
    decimal number;
    wide whole = 0, fraction = 0; /* fraction: in units of 10^-21 */
    bool more = false;            /* a digit other than 0 follows those of the fraction */
    if (!divide_up(text, length, &number))
        return false;
    int64_t place = number.first_place;
    for (const char *at = number.digits; at < number.end; at++) {
        if (*at == '.')
            continue;
        if (*at != '0' && place >= WHOLE_DIGITS)
            return false;
        if (*at != '0' && place >= 0)
            whole += times_power_of_ten((uint32_t)(*at - '0'), place);
        else if (*at != '0' && place >= -PLACES)
            fraction += times_power_of_ten((uint32_t)(*at - '0'), PLACES + place);
        else
            more = more || *at != '0';
        place--;
    }
    if (whole > MAX_WHOLE || (whole == MAX_WHOLE && (fraction != 0 || more)))
        return false;
    const uint64_t halves = (uint64_t)(fraction / HALF_UNIT); /* below 2^21 */
    const bool beyond = fraction % HALF_UNIT != 0 || more;
    uint64_t units = (uint64_t)whole << 20 | halves >> 1;
    units += (halves & 1) != 0 && (beyond || (units & 1) != 0);
    const double weight = (double)units / UNIT; /* exact: there are at most 2^51 units */
    *weight_out = number.negative ? -weight : weight;
    return true;
}
