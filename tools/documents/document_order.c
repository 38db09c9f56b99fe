#include "documents/document_order.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BYTES 63u

/* Read exactly `count` digits. */
static bool read_digits(const char **at, int count, int *value_out)
{
    *value_out = 0;
    for (int i = 0; i < count; i++) {
        if (**at < '0' || **at > '9')
            return false;
        *value_out = *value_out * 10 + *(*at)++ - '0';
    }
    return true;
}

/* Days since 1970-01-01 in the Gregorian calendar (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms"). */
static long count_days(int year, int month, int day)
{
    const long y = year - (month <= 2), era = y / 400, year_of_era = y - era * 400;
    const long day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

/* Read a time zone: Z, or hours and minutes from UTC. None is UTC. */
static bool read_zone(const char **at, double *seconds)
{
    int hours, minutes = 0;
    const char sign = **at;
    if (sign == 'Z')
        ++*at;
    if (sign != '+' && sign != '-')
        return true;
    ++*at;
    if (!read_digits(at, 2, &hours))
        return false;
    *at += **at == ':';
    if (**at != '\0' && !read_digits(at, 2, &minutes))
        return false;
    *seconds -= (sign == '-' ? -60.0 : 60.0) * (60 * hours + minutes);
    return true;
}

/* Read "HH:MM", "HH:MM:SS" or this with a fraction, and a time zone. */
static bool read_time(const char **at, double *seconds)
{
    int hours, minutes, whole = 0;
    if (!read_digits(at, 2, &hours) || *(*at)++ != ':' || !read_digits(at, 2, &minutes))
        return false;
    if (**at == ':' && (++*at, !read_digits(at, 2, &whole)))
        return false;
    *seconds += 3600.0 * hours + 60.0 * minutes + whole;
    if (**at == '.' || **at == ',') {
        double unit = 0.1;
        while (*++*at >= '0' && **at <= '9') {
            *seconds += unit * (**at - '0');
            unit /= 10;
        }
    }
    return hours <= 24 && minutes <= 59 && whole <= 60 && read_zone(at, seconds);
}

static bool read_date(const char *at, double *seconds_out)
{
    int year, month, day;
    if (!read_digits(&at, 4, &year) || *at++ != '-' || !read_digits(&at, 2, &month) || *at++ != '-' ||
        !read_digits(&at, 2, &day) || month < 1 || month > 12 || day < 1 || day > 31)
        return false;
    *seconds_out = 86400.0 * (double)count_days(year, month, day);
    if ((*at == 'T' || *at == 't' || *at == ' ') && (++at, !read_time(&at, seconds_out)))
        return false;
    return *at == '\0';
}

static bool read_number(const char *text, double *number_out)
{
    char *end;
    if (text[strspn(text, "0123456789+-.eE")] != '\0')
        return false;
    *number_out = strtod(text, &end);
    return end != text && *end == '\0';
}

bool document_order_read(const char *text, size_t length, bool is_descending, uint64_t *order_out)
{
    char copy[MAX_BYTES + 1];
    double number;
    uint64_t bits;
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    while (length > 0 && (*text == ' ' || *text == '\t')) {
        text++;
        length--;
    }
    *order_out = DOCUMENT_ORDER_LAST;
    if (length == 0)
        return true;
    if (length > MAX_BYTES || memchr(text, '\0', length) != NULL)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (!read_date(copy, &number) && !read_number(copy, &number))
        return false;
    number += 0.0; /* of a negative zero, the positive one */
    memcpy(&bits, &number, sizeof bits);
    bits = bits >> 63 != 0 ? ~bits : bits | UINT64_C(1) << 63;
    bits = is_descending ? ~bits : bits;
    *order_out = bits < DOCUMENT_ORDER_LAST ? bits : DOCUMENT_ORDER_LAST - 1;
    return true;
}
