/*
 * printable.h - names, recipes and other text from files or arguments, made safe to show on a terminal.
 */
#ifndef SS_PRINTABLE_H
#define SS_PRINTABLE_H

#include "base/common.h"

/* Copy `text` to `to`, which has room for `size` > 0 bytes with the closing 0, as sstore_escape() does without doubling
 * backslashes. What does not fit is left out, a character as a whole. */
void ss_printable(const char *text, char *to, size_t size);

#endif
