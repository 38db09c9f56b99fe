/*
 * removal.h - a remover, as additions use it that replace records: it finds the records of given ids and names, and
 * its builder shares the transaction of the addition.
 */
#ifndef SS_REMOVAL_H
#define SS_REMOVAL_H

#include "write/builder.h"

/* As sstore_remover_create(), with taken options. `transaction` is as for ss_builder_open(). */
sstore_status ss_remover_create(const char *path, ss_transaction *transaction, const sstore_write_options *options,
                                sstore_remover **remover_out, sstore_error *error);

/* The builder of the segment that removes. */
sstore_builder *ss_remover_builder(const sstore_remover *remover);

/* As sstore_remover_remove_named(), and tell which ids the names have. named_out has an element for each, zeroed. */
sstore_status ss_remover_remove_named(sstore_remover *remover, const sstore_name *names, size_t count,
                                      ss_named_id *named_out, sstore_error *error);

/* Find the records of all keys, and sort them, as ss_builder_sort() does. */
sstore_status ss_remover_sort(sstore_remover *remover, ss_sorted_pieces *pieces_out, sstore_error *error);

#endif
