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

/* A number as text, or nothing where there is none. */
static const char *id_string(char *buffer, bool has_ids, uint64_t id)
{
    *output_decimal(buffer, id) = '\0';
    return has_ids ? buffer : NULL;
}

bool output_has_json(void)
{
    return true;
}

bool output_json_match(const output_style *style, uint64_t query, const sstore_match *match)
{
    char query_text[17], fingerprint_text[17], id_text[21];
    return print_object(json_pack("{s:s, s:s, s:i, s:s?}", "query", hex_string(query_text, query), "fingerprint",
                                  hex_string(fingerprint_text, match->fingerprint), "distance", (int)match->distance,
                                  "id", id_string(id_text, style->has_ids, match->id)));
}

bool output_json_new_record(const output_style *style, uint64_t query, uint64_t id)
{
    char query_text[17], id_text[21];
    return print_object(json_pack("{s:s, s:b, s:s?}", "query", hex_string(query_text, query), "new", 1, "id",
                                  id_string(id_text, style->has_ids, id)));
}

bool output_json_pair(const output_style *first, const output_style *second, const sstore_pair *pair)
{
    char fingerprint[17], other[17], id[21], other_id[21];
    return print_object(json_pack("{s:s, s:s?, s:s, s:s?, s:i}", "fingerprint",
                                  hex_string(fingerprint, pair->fingerprint), "id",
                                  id_string(id, first->has_ids, pair->id), "other_fingerprint",
                                  hex_string(other, pair->other_fingerprint), "other_id",
                                  id_string(other_id, second->has_ids, pair->other_id), "distance",
                                  (int)pair->distance));
}

bool output_json_cluster_record(const output_style *style, const sstore_cluster_record *record)
{
    char fingerprint[17], id[21];
    return print_object(json_pack("{s:I, s:I, s:s, s:s?, s:i}", "cluster", (json_int_t)record->cluster, "cluster_size",
                                  (json_int_t)record->cluster_size, "fingerprint",
                                  hex_string(fingerprint, record->fingerprint), "id",
                                  id_string(id, style->has_ids, record->id), "distance", (int)record->distance));
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

bool output_json_new_record(const output_style *style, uint64_t query, uint64_t id)
{
    (void)style, (void)query, (void)id;
    return false;
}

bool output_json_pair(const output_style *first, const output_style *second, const sstore_pair *pair)
{
    (void)first, (void)second, (void)pair;
    return false;
}

bool output_json_cluster_record(const output_style *style, const sstore_cluster_record *record)
{
    (void)style, (void)record;
    return false;
}

#endif
