/* id_range.h - a range of ids as options and requests have it. */
#ifndef ID_RANGE_H
#define ID_RANGE_H

#include <stdbool.h>

#include "input/line_fault.h"
#include "sstore.h"

/* Read FROM-TO, FROM-, -TO or a single id, in decimal, into the range of a filter. False: *fault says what was expected
 * and what was found. */
bool id_range_read(const char *text, sstore_id_filter *filter, line_fault *fault);

#endif
