/*
 * name_text.h - the names of records as text has them: as name_escape() writes them, so that names of any bytes stand
 * in a field of a line.
 */
#ifndef NAME_TEXT_H
#define NAME_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "input/line_fault.h"

/* Check a name as it is, and copy it to `to`, which has SSTORE_MAX_NAME_BYTES; NULL: only check it. False: it is none,
 * and *fault says why. */
bool name_take(const char *text, size_t length, char *to, size_t *length_out, line_fault *fault);

/* The same of a name as text has it. */
bool name_decode(const char *text, size_t length, char *to, size_t *length_out, line_fault *fault);

#endif
