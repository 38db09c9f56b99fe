/*
 * find_together.h - finds the matches of many queries at once: each block of a store is read for all of them.
 */
#ifndef FIND_TOGETHER_H
#define FIND_TOGETHER_H

#include "serve/queried_stores.h"

/* Fill a list that was begun. Without a limit, a query has no answer if its matches do not fit beside those of the
 * queries before it. False: the reply is an error. */
bool find_together(service *self, const request *req, const queried_stores *stores, match_list *list, reply *reply_out);

#endif
