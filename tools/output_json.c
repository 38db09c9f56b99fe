/*
 * output_json.c - the JSON form of query results, one object a line.
 *
 * Fingerprints are strings of 16 hex digits and ids decimal strings: many readers hold JSON numbers as doubles, which
 * lose whatever is above 2^53.
 */
#include "output.h"

#ifdef SSTORE_HAVE_JANSSON

#include <jansson.h>

#include "cmd.h"

/* Print an object (NULL: there was no memory for it) and drop it. */
static bool print_object(json_t *object)
{
    char line[256];
    size_t length = object == NULL ? 0 : json_dumpb(object, line, sizeof line - 1, JSON_COMPACT);
    json_decref(object);
    if (length == 0 || length > sizeof line - 1) {
        cmd_complain("cannot make a JSON object: out of memory");
        return false;
    }
    line[length] = '\n';
    return output_bytes(line, length + 1);
}

static const char *hex_string(char *buffer, uint64_t value)
{
    *output_hex(buffer, value) = '\0';
    return buffer;
}

bool output_has_json(void)
{
    return true;
}

bool output_json_match(const output_style *style, uint64_t query, const sstore_match *match)
{
    char query_text[17], fingerprint_text[17], id_text[21];
    *output_decimal(id_text, match->id) = '\0';
    return print_object(json_pack("{s:s, s:s, s:i, s:s?}", "query", hex_string(query_text, query), "fingerprint",
                                  hex_string(fingerprint_text, match->fingerprint), "distance", (int)match->distance,
                                  "id", style->has_ids ? id_text : NULL));
}

bool output_json_count(uint64_t query, uint64_t count)
{
    char query_text[17];
    return print_object(
        json_pack("{s:s, s:I}", "query", hex_string(query_text, query), "count", (json_int_t)count));
}

#else

bool output_has_json(void)
{
    return false;
}

bool output_json_match(const output_style *style, uint64_t query, const sstore_match *match)
{
    (void)style, (void)query, (void)match;
    return false;
}

bool output_json_count(uint64_t query, uint64_t count)
{
    (void)query, (void)count;
    return false;
}

#endif
