/*
 * request_matches.h - collects the matches of a request, orders them, and prints them as JSON or in binary.
 */
#ifndef REQUEST_MATCHES_H
#define REQUEST_MATCHES_H

#include "output/stored_names.h"
#include "serve/request.h"

/* A match in one of the service's stores. With one word it has 32 bytes: qsort() of glibc takes much longer for larger
 * items. */
typedef struct store_match {
    uint64_t query; /* its index in the request */
    uint64_t id;
    uint32_t store;
    uint16_t distance;
    bool has_id;
    uint64_t fingerprint[]; /* as many words as the list says; of a group, also its nearest query and their number */
} store_match;

/* What was found for one query, in all stores. */
typedef struct query_count {
    uint64_t count;     /* of all matches, also of those that are not in the list */
    uint32_t distance;  /* of the nearest ones, if only these are wanted: the count and the list have no others */
    bool has_no_answer; /* the list has no room for the matches */
} query_count;

typedef struct match_list {
    char *items; /* see match_at() */
    size_t count, capacity;
    query_count *queries; /* of each query; NULL: not wanted */
    uint32_t words;       /* of a fingerprint */
    uint64_t max;         /* matches */
    bool is_limited;      /* a query may have only its first ones */
    uint64_t limit;       /* on the matches of a query in a store, at least 1 */
    uint64_t taken;       /* matches so far, also those that are not in the list */
    uint64_t deadline_ns; /* 0: none */
    uint64_t first_query; /* added to the index of each query */
    size_t query_begin;   /* the first match of the current query */
    uint32_t store;       /* of the matches that come */
    bool has_ids;
    bool are_records;       /* which were looked up: they have no distance */
    const request *grouped; /* the request, if groups of its queries are answered as one; or NULL */
    stored_names *names;    /* of the matches in each store; without a path, it has none. Or NULL */
    uint32_t store_count;   /* of `names` */
    bool is_full, is_late;  /* why a call was stopped; neither: there was no memory */
} match_list;

void match_list_free(match_list *list);

/* The fingerprint of a match. */
const uint64_t *match_list_fingerprint(const match_list *list, size_t index);
uint64_t match_list_id(const match_list *list, size_t index);

/* Look up the names of all matches in a store, one of `store_count`, through what `source` has: path, and a cursor or a
 * deduplication, which stays until the list is freed. False: that failed, and a message was printed. */
bool match_list_find_names(match_list *list, uint32_t store, uint32_t store_count, const stored_names *source);

/* Begin with the matches of a query, in all stores. */
void match_list_begin_query(match_list *list, size_t query);

/* Take a match: an sstore_match_fn whose context is the list. */
int match_list_take(void *context, const sstore_match *match);

/* Take a match even if the list is full: another store may have nearer ones. */
int match_list_take_anyway(match_list *list, const sstore_match *match);

/* Note of the last match of a group which query is the nearest one, and how many are near. */
void match_list_note_group(match_list *list, size_t nearest, uint64_t near_count);

/* The nearest matches of the current query are at `distance`: drop those that another store has farther away. */
void match_list_drop_farther(match_list *list, uint32_t distance);

/* Begin again with `count` queries. */
void match_list_empty(match_list *list, size_t count);

/* Whether all matches of `count` queries are in the list. */
bool match_list_has_room(const match_list *list, size_t count);

/* Keep the first matches of the current query in all stores, no more than the limit. */
void match_list_cut(match_list *list);

/* Begin again with `count` queries after the list was full, with room for some matches in each of the answers. */
void match_list_share(match_list *list, size_t count, size_t answers);

/* The number of all matches of `count` queries. */
uint64_t match_list_total(const match_list *list, size_t count);

/* Whether the deadline has passed: an sstore_stop_fn whose context is the list. */
int match_list_should_stop(void *context);

/* Order by query, distance, fingerprint, id and store. */
void match_list_order(match_list *list);

/* Print the matches of all queries of the request, in its form and within its limit. `names` are those of the stores,
 * or NULL if there is only one. A query with too many gets an error instead; if no query has an answer, the whole reply
 * is one. */
void matches_print(const match_list *list, const request *self, char *const *names, reply *to);

/* Append a JSON list with `count` matches from `begin` on. */
void matches_print_list(const match_list *list, size_t begin, size_t count, char *const *names, reply *to);

#endif
