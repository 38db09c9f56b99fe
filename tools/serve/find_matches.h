/*
 * find_matches.h - finds the matches of the queries of a request in its stores: of few queries one by one, of many
 * together.
 */
#ifndef FIND_MATCHES_H
#define FIND_MATCHES_H

#include "serve/queried_stores.h"

#define NOW_QUERIES 16u /* at most in a request that is answered query by query */

/* Begin a list, which is to be freed in any case, and find all matches. False: the reply is an error. */
bool find_matches(service *self, const request *req, const queried_stores *stores, match_list *list, reply *reply_out);

#endif
