/*
 * printable.h - what a file or a caller says, made fit for a line that people read on a terminal.
 */
#ifndef SS_PRINTABLE_H
#define SS_PRINTABLE_H

#include "base/common.h"

/* Copy `text` to `to`, which has room for `size` > 0 bytes with the closing 0. The bytes of control characters, and those
 * that are no UTF-8, become \xNN; what does not fit is left out, a character as a whole. */
void ss_printable(const char *text, char *to, size_t size);

#endif
