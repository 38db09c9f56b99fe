/*
 * request_matches.c - the matches of a request. Answers of millions of matches a second are printed here, so digits are
 * written directly; nothing in them has to be escaped but the names of stores.
 */
#include "serve/request_matches.h"

#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/json.h"
#include "output/messages.h"
#include "output/output.h"
#include "output/records.h"

#define CHECKED_MATCHES 1024u /* between two looks at the clock */

/* ----- collecting ----- */

static size_t item_bytes(const match_list *list)
{
    return sizeof(store_match) + 8 * ((size_t)list->words + (list->grouped != NULL ? 2 : 0));
}

static void free_names(match_list *list)
{
    for (uint32_t i = 0; list->names != NULL && i < list->store_count; i++) {
        list->names[i].cursor = NULL; /* it is the caller's */
        stored_names_close(&list->names[i]);
    }
    free(list->names);
    list->names = NULL;
}

void match_list_free(match_list *list)
{
    free_names(list);
    free(list->items);
    free(list->queries);
    list->items = NULL;
    list->queries = NULL;
}

static const store_match *match_at(const match_list *list, size_t index)
{
    return (const void *)(list->items + index * item_bytes(list));
}

const uint64_t *match_list_fingerprint(const match_list *list, size_t index)
{
    return match_at(list, index)->fingerprint;
}

uint64_t match_list_id(const match_list *list, size_t index)
{
    return match_at(list, index)->id;
}

bool match_list_find_names(match_list *list, uint32_t store, uint32_t store_count, const stored_names *source)
{
    uint64_t *ids = malloc((list->count + 1) * sizeof *ids);
    size_t count = 0;
    if (list->names == NULL && (list->names = calloc(store_count, sizeof *list->names)) != NULL)
        list->store_count = store_count;
    if (ids == NULL || list->names == NULL) {
        free(ids);
        return false;
    }
    for (size_t i = 0; i < list->count; i++)
        if (match_at(list, i)->store == store)
            ids[count++] = match_at(list, i)->id;
    stored_names *names = &list->names[store];
    names->path = source->path;
    names->cursor = source->cursor;
    names->dedup = source->dedup;
    stored_names_expect(names, ids, count);
    free(ids);
    return names->code == EXIT_DONE;
}

int match_list_should_stop(void *context)
{
    match_list *list = context;
    if (list->deadline_ns != 0 && time_coarse_ns() > list->deadline_ns)
        list->is_late = true;
    return list->is_late;
}

static int append(match_list *list, const sstore_match *match)
{
    if (!grow(&list->items, &list->capacity, list->count + 1, item_bytes(list)))
        return 1;
    store_match *to = (void *)(list->items + list->count++ * item_bytes(list));
    to->query = list->first_query + match->query_index;
    to->id = match->id;
    to->distance = (uint16_t)match->distance;
    to->store = list->store;
    to->has_id = list->has_ids;
    for (uint32_t i = 0; i < list->words; i++) /* they are valid only now */
        to->fingerprint[i] = match->fingerprint[i];
    return 0;
}

void match_list_note_group(match_list *list, size_t nearest, uint64_t near_count)
{
    store_match *last = (void *)(list->items + (list->count - 1) * item_bytes(list));
    last->fingerprint[list->words] = nearest;
    last->fingerprint[list->words + 1] = near_count;
}

static bool is_time_over(match_list *list)
{
    return ++list->taken % CHECKED_MATCHES == 0 && match_list_should_stop(list) != 0;
}

int match_list_take_anyway(match_list *list, const sstore_match *match)
{
    return is_time_over(list) ? 1 : append(list, match);
}

int match_list_take(void *context, const sstore_match *match)
{
    match_list *list = context;
    list->is_full = list->count == list->max;
    return list->is_full ? 1 : match_list_take_anyway(list, match);
}

void match_list_begin_query(match_list *list, size_t query)
{
    list->first_query = query;
    list->query_begin = list->count;
}

void match_list_drop_farther(match_list *list, uint32_t distance)
{
    query_count *counted = &list->queries[list->first_query];
    if (counted->distance > distance) {
        list->count = list->query_begin;
        counted->count = 0;
        counted->has_no_answer = false;
    }
    counted->distance = distance;
}

void match_list_empty(match_list *list, size_t count)
{
    memset(list->queries, 0, count * sizeof *list->queries);
    list->count = 0;
    match_list_begin_query(list, 0);
    list->is_full = false;
}

void match_list_share(match_list *list, size_t count, size_t answers)
{
    const uint64_t share = list->max / answers > 0 ? list->max / answers : 1;
    match_list_empty(list, count);
    list->limit = share < list->limit ? share : list->limit;
    list->max = UINT64_MAX;
}

bool match_list_has_room(const match_list *list, size_t count)
{
    bool has_room = !list->is_full;
    for (size_t i = 0; i < count && has_room; i++)
        has_room = !list->queries[i].has_no_answer;
    return has_room;
}

uint64_t match_list_total(const match_list *list, size_t count)
{
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += list->queries[i].has_no_answer ? 0 : list->queries[i].count;
    return total;
}

static int compare(const void *left, const void *right, void *context)
{
    const match_list *list = context;
    const store_match *a = left, *b = right;
    if (a->query != b->query)
        return a->query < b->query ? -1 : 1;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    for (uint32_t i = 0; i < list->words; i++)
        if (a->fingerprint[i] != b->fingerprint[i])
            return a->fingerprint[i] < b->fingerprint[i] ? -1 : 1;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return a->store < b->store ? -1 : a->store > b->store;
}

static void order_from(match_list *list, size_t begin)
{
    if (list->count > begin + 1)
        qsort_r(list->items + begin * item_bytes(list), list->count - begin, item_bytes(list), compare, list);
}

void match_list_order(match_list *list)
{
    order_from(list, 0);
}

void match_list_cut(match_list *list)
{
    if (list->count - list->query_begin <= list->limit)
        return;
    order_from(list, list->query_begin);
    list->count = list->query_begin + (size_t)list->limit;
}

/* ----- printing ----- */

/* The matches of one query in the list: `listed` from `begin` on are printed. */
typedef struct query_matches {
    size_t begin, listed;
    size_t end; /* where those of the next query begin */
} query_matches;

/* Take the matches of query `index` from the list, from `begin` on. */
static query_matches matches_of(const match_list *list, size_t begin, uint64_t index, const request *self)
{
    query_matches found = {.begin = begin, .end = begin};
    const uint64_t limit = list->is_limited && list->limit < self->limit ? list->limit : self->limit;
    while (found.end < list->count && match_at(list, found.end)->query == index)
        found.end++;
    const size_t count = found.end - begin;
    found.listed = count < limit ? count : (size_t)limit;
    return found;
}

#define MAX_MATCH_BYTES 128u /* and the same for the beginning of a result: without a fingerprint, */
#define MAX_WORD_BYTES 16u   /* which has this for each word */

#define PUT(to, text) put_bytes(to, "" text, sizeof text - 1)

static char *put_bytes(char *to, const char *text, size_t size)
{
    memcpy(to, text, size);
    return to + size;
}

static char *put_match(char *to, const store_match *self, const match_list *list)
{
    to = PUT(to, "{\"fingerprint\":\"");
    to = output_hex_words(to, self->fingerprint, list->words);
    to = PUT(to, "\"");
    if (!list->are_records) {
        to = PUT(to, ",\"distance\":");
        to = output_decimal(to, self->distance);
    }
    if (!self->has_id)
        return PUT(to, ",\"id\":null");
    to = PUT(to, ",\"id\":\"");
    to = output_decimal(to, self->id);
    return PUT(to, "\"");
}

static void print_member(const char *key, const char *value, reply *to)
{
    char *text = json_value_text(json_value_make("{s:s}", key, value));
    if (text == NULL) {
        reply_fail(to, REPLY_FAILED, "out of memory");
        return;
    }
    reply_literal(to, ",");
    reply_append(to, text + 1, strlen(text) - 2); /* without the braces */
    free(text);
}

/* Print the name of a match, if its store has names. */
static void print_name(const match_list *list, const store_match *item, reply *to)
{
    stored_names *names = list->names != NULL ? &list->names[item->store] : NULL;
    if (names == NULL || names->path == NULL)
        return;
    const printed_name name = stored_names_find(names, item->id);
    if (name.text != NULL)
        print_member(name.is_escaped ? RECORDS_ESCAPED_NAME_KEY : RECORDS_NAME_KEY, name.text, to);
    else
        reply_fail(to, REPLY_FAILED, "a record has no name; the service said why");
}

/* Print which query of a group is the nearest one, and how many are near. */
static void print_group(const match_list *list, const store_match *item, reply *to)
{
    char *at = list->grouped != NULL ? reply_fill_begin(to, MAX_MATCH_BYTES + MAX_WORD_BYTES * list->words) : NULL;
    if (at == NULL)
        return;
    at = PUT(at, ",\"query\":\"");
    at = output_hex_words(at, list->grouped->fingerprints + item->fingerprint[list->words] * list->words, list->words);
    at = PUT(at, "\",\"query_count\":");
    reply_fill_end(to, output_decimal(at, item->fingerprint[list->words + 1]));
}

void matches_print_list(const match_list *list, size_t begin, size_t count, char *const *names, reply *to)
{
    reply_literal(to, "[");
    for (size_t i = 0; i < count; i++) {
        const store_match *item = match_at(list, begin + i);
        char *at = reply_fill_begin(to, MAX_MATCH_BYTES + MAX_WORD_BYTES * list->words);
        if (at == NULL)
            return;
        if (i > 0)
            *at++ = ',';
        reply_fill_end(to, put_match(at, item, list));
        print_name(list, item, to);
        if (names != NULL)
            print_member("store", names[item->store], to);
        print_group(list, item, to);
        reply_literal(to, "}");
    }
    reply_literal(to, "]");
}

#define TOO_MANY "more than %" PRIu64 " matches: ask for a limit, a smaller k, or fewer fingerprints"

static void print_query(const match_list *list, size_t index, const query_matches *found, char *const *names, reply *to)
{
    if (list->queries[index].has_no_answer) {
        reply_print(to, ",\"error\":\"" TOO_MANY "\"}", list->max);
        return;
    }
    reply_print(to, ",\"match_count\":%" PRIu64 ",\"matches\":", list->queries[index].count);
    matches_print_list(list, found->begin, found->listed, names, to);
    reply_literal(to, "}");
}

/* Print the id or the name that a query of a body has. */
static void print_identity(const request *self, size_t index, reply *to)
{
    if ((self->members & RECORD_HAS_ID) != 0)
        reply_print(to, ",\"query_id\":\"%" PRIu64 "\"", self->ids[index]);
    if ((self->members & RECORD_HAS_NAME) == 0)
        return;
    char text[4 * SSTORE_MAX_NAME_BYTES + 1];
    const printed_name name = name_form(&self->names[index], true, text);
    print_member(name.is_escaped ? "escaped_query_name" : "query_name", name.text, to);
}

static void print_json(const match_list *list, const request *self, char *const *names, reply *to)
{
    size_t begin = 0;
    reply_literal(to, "{\"results\":[");
    for (size_t i = 0; i < self->count; i++) {
        if (request_group(self, i) != i)
            continue;
        const query_matches found = matches_of(list, begin, i, self);
        char *at = reply_fill_begin(to, MAX_MATCH_BYTES + MAX_WORD_BYTES * self->words);
        if (at == NULL)
            return;
        if (i > 0)
            *at++ = ',';
        *at++ = '{';
        reply_fill_end(to, at);
        skipped_rows_print_place(&self->skipped, i, to);
        if ((at = reply_fill_begin(to, MAX_MATCH_BYTES + MAX_WORD_BYTES * self->words)) == NULL)
            return;
        at = PUT(at, "\"query\":\"");
        at = output_hex_words(at, self->fingerprints + i * self->words, self->words);
        reply_fill_end(to, PUT(at, "\""));
        print_identity(self, i, to);
        print_query(list, i, &found, names, to);
        begin = found.end;
    }
    reply_literal(to, "]");
    skipped_rows_print(&self->skipped, to);
    reply_literal(to, "}\n");
}

/* A row is little-endian: 8 bytes for each of the query's index, the words of the fingerprint, and the id, and 4 bytes
 * for each of the distance and the store's index. */
static void print_row(size_t index, const uint64_t *fingerprint, uint32_t words, uint64_t id, uint32_t distance,
                      uint32_t store, reply *to)
{
    uint64_t row[SSTORE_MAX_WORDS + 3], *at = row;
    *at++ = htole64(index);
    for (uint32_t i = 0; i < words; i++)
        *at++ = htole64(fingerprint[i]);
    *at++ = htole64(id);
    *at++ = htole64(distance | (uint64_t)store << 32);
    reply_append(to, (const char *)row, (size_t)((char *)at - (char *)row));
}

/* Why a query has no answer: the id of its row, whose distance is none. */
enum { WITHOUT_ROOM = 1, MALFORMED = 2 };

static void print_failure(size_t index, const uint64_t *query, uint32_t words, uint64_t reason, reply *to)
{
    print_row(index, query, words, reason, UINT32_MAX, UINT32_MAX, to);
}

/* Rows for the malformed queries from place `begin` of the request on. */
static void print_malformed(size_t begin, size_t end, uint32_t words, reply *to)
{
    static const uint64_t none[SSTORE_MAX_WORDS];
    for (size_t i = begin; i < end; i++)
        print_failure(i, none, words, MALFORMED, to);
}

static void print_binary(const match_list *list, const request *self, reply *to)
{
    size_t begin = 0, next = 0;
    to->content_type = "application/octet-stream";
    for (size_t i = 0; i < self->count; i++) {
        const query_matches found = matches_of(list, begin, i, self);
        const size_t place = skipped_rows_place(&self->skipped, i);
        print_malformed(next, place, self->words, to);
        if (list->queries[i].has_no_answer)
            print_failure(place, self->fingerprints + i * self->words, self->words, WITHOUT_ROOM, to);
        for (size_t j = 0; j < found.listed; j++) {
            const store_match *item = match_at(list, found.begin + j);
            const size_t nearest = self->groups != NULL ? (size_t)item->fingerprint[self->words] : i;
            print_row(skipped_rows_place(&self->skipped, nearest), item->fingerprint, self->words, item->id,
                      item->distance, item->store, to);
        }
        begin = found.end;
        next = place + 1;
    }
    print_malformed(next, self->count + self->skipped.count, self->words, to);
}

void matches_print(const match_list *list, const request *self, char *const *names, reply *to)
{
    size_t failed = 0;
    for (size_t i = 0; i < self->count; i++)
        failed += list->queries[i].has_no_answer;
    if (failed > 0 && failed == request_answer_count(self))
        reply_fail(to, REPLY_TOO_MANY, TOO_MANY, list->max);
    else if (self->wants_binary)
        print_binary(list, self, to);
    else
        print_json(list, self, names, to);
}
