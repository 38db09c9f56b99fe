/* document_order.h - numbers and dates by which documents are ordered. */
#ifndef DOCUMENT_ORDER_H
#define DOCUMENT_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DOCUMENT_ORDER_EXPECTED                                                                                        \
    "--keep: expected a number, or a date such as 2026-11-29 or 2026-11-29T13:00:00Z, in the field"

/* The order of a text that has no value: behind all others. */
#define DOCUMENT_ORDER_LAST UINT64_MAX

/* Read a decimal number, of which 53 bits count, or a date of ISO 8601 with or without a time; without a time zone, it
 * is in UTC. Lower ones come first; with `is_descending`, higher ones. Blanks alone are no value. False: it is
 * something else. */
bool document_order_read(const char *text, size_t length, bool is_descending, uint64_t *order_out);

#endif
