/*
 * page.h - writes a page of HTML: its numbers, as one block of JSON, in template.html, and style.css, charts.js and
 * sections.js of this folder, which draw them. CMake puts these files into the command (embed.cmake).
 *
 * The page's content security policy names the hashes of its style and its script: the browser applies no other style,
 * runs no other script and fetches nothing. Text that comes from elsewhere is in the block of JSON only.
 */
#ifndef PAGE_H
#define PAGE_H

#include <stddef.h>

#include "report/store_view.h"

typedef struct page {
    char *bytes; /* to be freed */
    size_t size;
} page;

/* Make the page of a store, and that of a comparison of plans. Without memory the process exits with a message. */
page page_make_report(const store_view *view);
page page_make_plans(const plan_list *plans);

#endif
