/*
 * page.h - the frame of a page: head, style, large figures, sections, tables, legends.
 */
#ifndef PAGE_H
#define PAGE_H

#include <stdbool.h>

#include "report/html.h"

/* The style of a page, and its SHA-256 in base64, which the page's content security policy names: the browser applies
 * no other style, runs no script and fetches nothing. cli.report checks that it is right. */
extern const char style_text[], style_hash[];

/* Begin a page. The title and the second line come from elsewhere: they are escaped. */
void page_begin(html *page, const char *kind, const char *title, const char *second_line);

/* End it, with the program's version and the time. */
void page_end(html *page);

/* A large figure. Between figures_begin() and figures_end(). */
void page_figures_begin(html *page);
void page_figure(html *page, const char *name, const char *value, const char *note);
void page_figures_end(html *page);

/* Begin a section; the next one, or page_end(), ends it. */
void page_section(html *page, const char *id, const char *title);

/* An entry of a legend; the first one also begins it, the last one ends it. */
typedef struct page_key {
    const char *class, *name;
} page_key;
void page_legend(html *page, const page_key *keys, size_t count);

/* Begin a table in a part that can be scrolled if the window is narrow. The first column has names, others numbers. */
void page_table_begin(html *page, const char *caption, const char *const *columns, size_t count);
/* A row of as many cells as there are columns. They are written as they are. */
void page_row(html *page, const char *const *cells, size_t count);
void page_table_end(html *page);

/* Begin and end sections that are closed until the summary is clicked. They stand between other sections. */
void page_fold_begin(html *page, const char *summary);
void page_fold_end(html *page);

/* Begin and end a part that is closed until it is clicked. */
void page_details_begin(html *page, const char *summary);
void page_details_end(html *page);

#endif
