#include "match_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "digits.h"

#define HEX_DIGITS 16u
#define MOST_BYTES (2 * (HEX_DIGITS + 1) + 2 + 1 + DIGITS_MAX_DECIMAL) /* of a line without its end */

static const char shape[] =
    "query, fingerprint, distance and id, each of the first two 16 hex digits, with tabs between";

/* Read 16 hex digits and a tab. */
static bool take_fingerprint(const char **at, uint64_t *value_out)
{
    if (digits_read_hex(*at, value_out) != HEX_DIGITS || (*at)[HEX_DIGITS] != '\t')
        return false;
    *at += HEX_DIGITS + 1;
    return true;
}

/* Read a decimal number that ends with `end`. */
static bool take_number(const char **at, char end, uint64_t *value_out)
{
    size_t count = digits_read_decimal(*at, value_out);
    if (count == 0 || (*at)[count] != end)
        return false;
    *at += count + 1;
    return true;
}

/* A zero ends the text, so nothing that is looked for goes beyond it. */
static bool take_line(const char *at, match_line *line, uint64_t *distance_out)
{
    if (!take_fingerprint(&at, &line->match.query) || !take_fingerprint(&at, &line->match.fingerprint) ||
        !take_number(&at, '\t', distance_out))
        return false;
    line->has_id = at[0] != '-';
    line->match.id = 0;
    return line->has_id ? take_number(&at, '\0', &line->match.id) : at[1] == '\0';
}

bool match_line_parse(const char *text, size_t length, match_line *line_out, line_fault *fault)
{
    char line[MOST_BYTES + 1 + DIGITS_READ_BYTES] = {0};
    uint64_t distance = 0;
    if (length > 0 && length <= MOST_BYTES && memchr(text, '\0', length) == NULL)
        memcpy(line, text, length);
    if (!take_line(line, line_out, &distance))
        return line_fault_found(fault, shape, text, length);
    line_out->match.distance = sstore_hamming_distance(line_out->match.query, line_out->match.fingerprint);
    if (line_out->match.distance == distance)
        return true;
    snprintf(fault->reason, sizeof fault->reason,
             "expected %" PRIu32 ", the distance of the line's fingerprints, found %" PRIu64, line_out->match.distance,
             distance);
    return false;
}
