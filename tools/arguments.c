/*
 * arguments.c - turning the text of an option into its value.
 */
#include "arguments.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "cmd.h"

/* Read the digits that `text` begins with. Returns what follows them, or NULL if there are none or too many. */
static const char *read_digits(const char *text, uint64_t *value_out)
{
    uint64_t value = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (__builtin_mul_overflow(value, 10u, &value) || __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
            return NULL;
    }
    *value_out = value;
    return at == text ? NULL : at;
}

uint64_t argument_number(const char *option, const char *text, uint64_t least,
                         uint64_t most)
{
    uint64_t value = 0;
    const char *end = read_digits(text, &value);
    if (end != NULL && *end == '\0' && value >= least && value <= most)
        return value;
    if (most == UINT64_MAX)
        cmd_usage_error("%s: expected a number from %" PRIu64 " on, found '%s'", option, least, text);
    cmd_usage_error("%s: expected a number from %" PRIu64 " to %" PRIu64 ", found '%s'", option, least, most,
                    text);
}

/* The binary multiple that a suffix stands for, as a shift; -1: no such suffix. */
static int suffix_shift(const char *suffix)
{
    static const char letters[] = "KMGT";
    if (*suffix == '\0')
        return 0;
    char upper = (char)(*suffix & ~0x20);
    const char *found = strchr(letters, upper);
    if (found == NULL || *found == '\0' || (suffix[1] != '\0' && strcmp(suffix + 1, "iB") != 0))
        return -1;
    return 10 * (int)(found - letters + 1);
}

uint64_t argument_size(const char *option, const char *text)
{
    uint64_t value = 0;
    const char *suffix = read_digits(text, &value);
    int shift = suffix == NULL ? -1 : suffix_shift(suffix);
    if (shift < 0 || value == 0 || value > UINT64_MAX >> shift)
        cmd_usage_error("%s: expected a size such as 65536, 512K, 64M or 2G, found '%s'", option, text);
    return value << shift;
}

uint32_t argument_block_size(const char *option, const char *text)
{
    uint64_t bytes = argument_size(option, text);
    return bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
}

uint64_t argument_count(const char *option, const char *text)
{
    uint64_t value = 0;
    const char *end = read_digits(text, &value);
    int shift = end == NULL || (*end != '\0' && end[1] != '\0') ? -1 : suffix_shift(end);
    for (; shift > 0 && value <= UINT64_MAX / 1000; shift -= 10)
        value *= 1000;
    if (shift != 0)
        cmd_usage_error("%s: expected a number such as 65536, 500K, 10M or 2G, found '%s'", option, text);
    return value;
}

int argument_choice(const char *option, const char *text, const char *const *names,
                    const char *expected)
{
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], text) == 0)
            return i;
    }
    cmd_usage_error("%s: expected %s, found '%s'", option, expected, text);
}
