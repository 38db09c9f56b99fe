/*
 * html.h - writes a page of HTML into memory. Text that comes from elsewhere, such as a recipe or a path, passes
 * html_text(), which escapes it: everything else writes it as it is, and gets only text of this program.
 */
#ifndef HTML_H
#define HTML_H

#include <stdint.h>
#include <stdio.h>

#include "output/numbers.h"

typedef struct html {
    FILE *stream;
    char *bytes; /* after html_end() */
    size_t size;
} html;

/* Begin a page. Without memory the process exits with a message. */
void html_begin(html *page);

/* End it: `bytes` and `size` are set, to be freed with html_free(). Without memory the process exits. */
void html_end(html *page);
void html_free(html *page);

/* Markup, formatted as printf() does. Its strings are literals of this program and numbers. */
void html_markup(html *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Any text, which becomes text or an attribute's value: control characters and direction marks become \xNN, and what
 * has a meaning in HTML is escaped. */
void html_text(html *page, const char *text);

/* ----- numbers in HTML: narrow spaces that do not break, between thousands and before units ----- */

number_text html_count(uint64_t value); /* "12 345 678" */
number_text html_bytes(double bytes);   /* "1.23 GB" */
number_text html_time(double ns);       /* "1.23 µs" */
number_text html_rounded(double value); /* three digits, as "1.23 M" from 100,000 on */
number_text html_percent(double part);  /* of 1: "12.3 %" */
number_text html_tick(double value);    /* as short as possible, with the prefix of a unit: "1 K", "0.1" */
number_text html_time_tick(double ns);
number_text html_fixed(double value, int decimals); /* "-" if it is not finite */

#endif
