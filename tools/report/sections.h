/*
 * sections.h - the sections of the page. Each writes nothing, or a sentence that says so, if its part has nothing to
 * show.
 */
#ifndef SECTIONS_H
#define SECTIONS_H

#include "report/html.h"
#include "report/store_view.h"

/* The whole page of a store. */
void store_page_write(html *page, const store_view *view);

/* The bytes that records take without any store: 8 for each word of a fingerprint, and 8 for an id. */
double raw_bytes(const sstore_statistics *store);

/* These bytes in words: "raw: 16 bytes a record". */
number_text raw_text(const sstore_statistics *store);

/* The fewest bits for each of `count` different numbers of `bits` bits, if they are only stored as a set. */
double set_bound_bits(uint32_t bits, double count);

/* What a table holds: "fingerprint", or of several words "word". */
const char *item_name(const store_view *view);

/* Begin and end a part with tables that are listed one by one: it is closed until it is clicked if there are many. */
void long_part_begin(html *page, const store_view *view, const char *summary);
void long_part_end(html *page, const store_view *view);

/* The name of a table in such a list. */
number_text table_name(const store_view *view, uint32_t number);

void section_size(html *page, const store_view *view);
void section_tables(html *page, const store_view *view);
void section_symbols(html *page, const store_view *view);
void section_fill(html *page, const store_view *view);
void section_crowd(html *page, const store_view *view);
void section_queries(html *page, const store_view *view);
void section_clusters(html *page, const store_view *view);
void section_segments(html *page, const store_view *view);

/* The store that plans are compared with. */
typedef struct own_plan {
    double bytes_per_record;
    uint32_t table_count, min_prefix_bits, max_prefix_bits, min_radius, max_radius;
} own_plan;

/* Of several words, the plan that all have; if theirs differ, that of no table. */
own_plan own_plan_of(const store_view *view);

/* Plans as points of size and time, of fingerprints of `words` words. `own` may be NULL. */
void section_plans(html *page, const plan_list *plans, uint32_t words, const own_plan *own);

/* The page of a comparison of plans. */
void plan_page_write(html *page, const plan_list *plans, const sstore_plan_options *options);

#endif
