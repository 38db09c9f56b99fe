/*
 * value_looks.c - a table of what programs write in the place of fingerprints.
 */
#include "input/value_looks.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define NO_VALUE "; there is no value: --skip-bad leaves out rows without a fingerprint"
#define NOT_HAMMING ", whose distance is not Hamming's: no store of sstore can search it"

/* Is it one of these names, in any case? */
static bool is_among(const char *const *names, size_t count, const char *text, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(names[i]) == length && strncasecmp(names[i], text, length) == 0)
            return true;
    return false;
}

bool value_is_sheet_error(const char *text, size_t length)
{
    static const char *const names[] = {"#N/A", "#NULL!", "#VALUE!", "#REF!", "#DIV/0!", "#NAME?", "#NUM!"};
    return is_among(names, sizeof names / sizeof *names, text, length);
}

bool value_is_null(const char *text, size_t length)
{
    static const char *const names[] = {"NULL",   "\\N", "NaN",   "None",   "NA",    "N/A",  "nil",      "<NA>",
                                        "<null>", "-",   "error", "failed", "false", "true", "undefined"};
    return is_among(names, sizeof names / sizeof *names, text, length) || value_is_sheet_error(text, length);
}

static bool are_hex(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isxdigit((unsigned char)text[i]))
            return false;
    return true;
}

bool value_is_tlsh(const char *text, size_t length)
{
    return length == 72 && text[0] == 'T' && isdigit((unsigned char)text[1]) && are_hex(text + 2, 70);
}

static bool is_old_tlsh(const char *text, size_t length)
{
    return length == 70 && are_hex(text, length);
}

/* A number, a colon and characters of base64, another colon and more of them. */
static bool is_ssdeep(const char *text, size_t length)
{
    size_t at = 0, colons = 0;
    while (at < length && isdigit((unsigned char)text[at]))
        at++;
    if (at == 0 || at == length || text[at] != ':')
        return false;
    for (; at < length && (isalnum((unsigned char)text[at]) || strchr("+/:", text[at]) != NULL); at++)
        colons += text[at] == ':';
    return colons == 2 && length >= 12;
}

static bool is_sdhash(const char *text, size_t length)
{
    return length > 5 && (memcmp(text, "sdbf:", 5) == 0 || memcmp(text, "sdbf-", 5) == 0);
}

/* A name, a colon and hex digits; but for a kind, which is read. */
static bool has_name(const char *text, size_t length)
{
    size_t at = 0;
    while (at < length && isalnum((unsigned char)text[at]))
        at++;
    const bool is_kind = at == 1 && strchr("adpw", text[0]) != NULL;
    return at > 0 && isalpha((unsigned char)text[0]) && !is_kind && length - at > 4 && text[at] == ':' &&
           are_hex(text + at + 1, length - at - 1);
}

/* Digits with a point or an exponent. Without a sign, one of two digits is none in 16 digits, which may be hex. */
static bool is_double(const char *text, size_t length)
{
    bool has_mark = false;
    size_t digits = 0;
    for (size_t i = 0; i < length; i++) {
        const bool is_exponent = (text[i] | 0x20) == 'e' && digits > 0 && i + 1 < length;
        const bool is_sign = (text[i] == '-' || text[i] == '+') && (i == 0 || (text[i - 1] | 0x20) == 'e');
        has_mark = has_mark || text[i] == '.' || (is_exponent && (text[i + 1] == '+' || text[i + 1] == '-')) ||
                   (is_exponent && length < 16 && i + 3 >= length);
        digits += isdigit((unsigned char)text[i]) != 0;
        if (!isdigit((unsigned char)text[i]) && text[i] != '.' && !is_exponent && !is_sign)
            return false;
    }
    return has_mark && digits > 0;
}

static bool is_empty(const char *text, size_t length)
{
    (void)text;
    return length == 0;
}

static const struct look {
    bool (*is)(const char *text, size_t length);
    const char *hint;
} looks[] = {
    {value_is_null, NO_VALUE},
    {is_empty, NO_VALUE},
    {value_is_tlsh, "; this is TLSH" NOT_HAMMING},
    {is_old_tlsh, "; if this is TLSH, its distance is not Hamming's; otherwise --pad fills its 280 bits up"},
    {is_ssdeep, "; this is ssdeep" NOT_HAMMING},
    {is_sdhash, "; this is sdhash" NOT_HAMMING},
    {has_name, "; if there is a name in front of hex digits, \"sed 's/[A-Za-z][A-Za-z0-9]*://'\" takes it off"},
    {is_double,
     "; this is a double, which is exact only up to 2^53: write an integer or a string where the numbers are "
     "made, in pandas with the type UInt64"},
};

const char *value_look(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++)
        if (looks[i].is(text, length))
            return looks[i].hint;
    return NULL;
}
