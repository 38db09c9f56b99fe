/*
 * matches.c - the matches of a request. Answers of millions of matches a second are printed here, so digits are
 * written directly; nothing in them has to be escaped but the names of stores.
 */
#include "serve/matches.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "output/json.h"
#include "output/messages.h"
#include "output/output.h"

#define CHECKED_MATCHES 1024u /* between two looks at the clock */

/* ----- collecting ----- */

void match_list_free(match_list *list)
{
    free(list->items);
    list->items = NULL;
}

int match_list_should_stop(void *context)
{
    match_list *list = context;
    if (list->deadline_ns != 0 && time_coarse_ns() > list->deadline_ns)
        list->is_late = true;
    return list->is_late;
}

int match_list_take(void *context, const sstore_match *match)
{
    match_list *list = context;
    if (list->count == list->max) {
        list->is_full = true;
        return 1;
    }
    if ((list->count + 1) % CHECKED_MATCHES == 0 && match_list_should_stop(list) != 0)
        return 1;
    if (!grow(&list->items, &list->capacity, list->count + 1, sizeof *list->items))
        return 1;
    store_match *to = &list->items[list->count++];
    *to = (store_match){.match = *match, .store = list->store, .has_id = list->has_ids};
    to->match.query_index += list->first_query;
    return 0;
}

static int compare(const void *left, const void *right)
{
    const store_match *a = left, *b = right;
    const uint64_t keys[][2] = {{a->match.query_index, b->match.query_index},
                                {a->match.distance, b->match.distance},
                                {a->match.fingerprint, b->match.fingerprint},
                                {a->match.id, b->match.id},
                                {a->store, b->store}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

void match_list_order(match_list *list, bool needed)
{
    if (needed && list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, compare);
}

/* ----- printing ----- */

/* The matches of one query: items[0 .. count - 1], of which `listed` are printed. */
typedef struct query_matches {
    const store_match *items;
    size_t count, listed;
    size_t end; /* in the list: where those of the next query begin */
} query_matches;

/* Take the matches of query `index` from the list, from `begin` on. */
static query_matches matches_of(const match_list *list, size_t begin, uint64_t index, const request *of)
{
    static const store_match none;
    query_matches found = {.items = list->count > 0 ? &list->items[begin] : &none};
    const bool nearest = of->route == ROUTE_NEAREST;
    for (found.end = begin; found.end < list->count; found.end++) {
        const store_match *item = &list->items[found.end];
        if (item->match.query_index != index)
            break;
        /* Each store has found its nearest ones. Those that are nearest in all stores come first. */
        found.count += !nearest || item->match.distance == found.items[0].match.distance;
    }
    found.listed = found.count < of->limit ? found.count : (size_t)of->limit;
    return found;
}

#define MAX_MATCH_BYTES 128u
#define MAX_HEAD_BYTES 128u

#define PUT(to, text) put(to, "" text, sizeof text - 1)

static char *put(char *to, const char *text, size_t size)
{
    memcpy(to, text, size);
    return to + size;
}

static char *put_match(char *to, const store_match *of)
{
    to = PUT(to, "{\"fingerprint\":\"");
    to = output_hex(to, of->match.fingerprint);
    to = PUT(to, "\",\"distance\":");
    to = output_decimal(to, of->match.distance);
    if (!of->has_id)
        return PUT(to, ",\"id\":null");
    to = PUT(to, ",\"id\":\"");
    to = output_decimal(to, of->match.id);
    return PUT(to, "\"");
}

static void print_store_name(const char *name, reply *to)
{
    char *text = json_value_text(json_value_make("{s:s}", "store", name));
    if (text == NULL) {
        reply_fail(to, REPLY_FAILED, "out of memory");
        return;
    }
    reply_literal(to, ",");
    reply_append(to, text + 1, strlen(text) - 2); /* without the braces */
    free(text);
}

void matches_print_list(const store_match *items, size_t count, char *const *names, reply *to)
{
    reply_literal(to, "[");
    for (size_t i = 0; i < count; i++) {
        char *at = reply_fill_begin(to, MAX_MATCH_BYTES);
        if (at == NULL)
            return;
        if (i > 0)
            *at++ = ',';
        reply_fill_end(to, put_match(at, &items[i]));
        if (names != NULL)
            print_store_name(names[items[i].store], to);
        reply_literal(to, "}");
    }
    reply_literal(to, "]");
}

static void print_json(const match_list *list, const request *of, char *const *names, reply *to)
{
    size_t begin = 0;
    reply_literal(to, "{\"results\":[");
    for (size_t i = 0; i < of->count; i++) {
        const query_matches found = matches_of(list, begin, i, of);
        char *at = reply_fill_begin(to, MAX_HEAD_BYTES);
        if (at == NULL)
            return;
        if (i > 0)
            *at++ = ',';
        at = PUT(at, "{\"query\":\"");
        at = output_hex(at, of->fingerprints[i]);
        at = PUT(at, "\",\"match_count\":");
        at = output_decimal(at, found.count);
        reply_fill_end(to, PUT(at, ",\"matches\":"));
        matches_print_list(found.items, found.listed, names, to);
        reply_literal(to, "}");
        begin = found.end;
    }
    reply_literal(to, "]}\n");
}

/* A row has 32 bytes, little-endian: the query's index, the fingerprint and the id of 8 bytes each, the distance and
 * the store's index of 4 bytes each. */
static void print_binary(const match_list *list, const request *of, reply *to)
{
    size_t begin = 0;
    to->content_type = "application/octet-stream";
    for (size_t i = 0; i < of->count; i++) {
        const query_matches found = matches_of(list, begin, i, of);
        for (size_t j = 0; j < found.listed; j++) {
            const store_match *item = &found.items[j];
            const uint64_t row[4] = {htole64(i), htole64(item->match.fingerprint), htole64(item->match.id),
                                     htole64(item->match.distance | (uint64_t)item->store << 32)};
            reply_append(to, (const char *)row, sizeof row);
        }
        begin = found.end;
    }
}

void matches_print(const match_list *list, const request *of, char *const *names, reply *to)
{
    if (of->wants_binary)
        print_binary(list, of, to);
    else
        print_json(list, of, names, to);
}
