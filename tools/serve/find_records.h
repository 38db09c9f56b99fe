/*
 * find_records.h - looks up records by id or name, and the names of records.
 */
#ifndef FIND_RECORDS_H
#define FIND_RECORDS_H

#include "serve/queried_stores.h"

/* List the records of the request's key in order. False: there are none, or the list is not complete. */
bool find_records(const service *self, const request *req, const queried_stores *stores, match_list *list,
                  reply *reply_out);

/* If the request has a key, let its records be the queries. If the queries leave out their own records, find these.
 * Then form groups. */
bool find_queries(const service *self, request *req, const queried_stores *stores, reply *reply_out);

/* Look up the names of all matches in the list. */
bool find_names(service *self, const queried_stores *stores, match_list *list, reply *reply_out);

#endif
