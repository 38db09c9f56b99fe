/*
 * matches.h - collects the matches of a request, orders them, and prints them as JSON or in binary.
 */
#ifndef MATCHES_H
#define MATCHES_H

#include "serve/request.h"

/* A match in one of the service's stores. With one word it has 32 bytes: qsort() of glibc takes much longer for larger
 * items. */
typedef struct store_match {
    uint64_t query; /* its index in the request */
    uint64_t id;
    uint32_t store;
    uint16_t distance;
    bool has_id;
    uint64_t fingerprint[]; /* as many words as the list says */
} store_match;

typedef struct match_list {
    char *items; /* see match_list_item() */
    size_t count, capacity;
    uint32_t words;       /* of a fingerprint */
    uint64_t max;         /* matches */
    uint64_t deadline_ns; /* 0: none */
    uint64_t first_query; /* added to the index of each query */
    uint32_t store;       /* of the matches that come */
    bool has_ids;
    bool is_full, is_late; /* why a call was stopped; neither: there was no memory */
} match_list;

void match_list_free(match_list *list);

const store_match *match_list_item(const match_list *list, size_t index);

/* Take a match: an sstore_match_fn whose context is the list. */
int match_list_take(void *context, const sstore_match *match);

/* Whether the deadline has passed: an sstore_stop_fn whose context is the list. */
int match_list_should_stop(void *context);

/* Order by query, distance, fingerprint, id and store. `needed`: they are not in this order yet. */
void match_list_order(match_list *list, bool needed);

/* Print the matches of all queries of the request, in its form and within its limit. `names` are those of the stores,
 * or NULL if there is only one. */
void matches_print(const match_list *list, const request *of, char *const *names, reply *to);

/* Append a JSON list with `count` matches from `begin` on. */
void matches_print_list(const match_list *list, size_t begin, size_t count, char *const *names, reply *to);

#endif
