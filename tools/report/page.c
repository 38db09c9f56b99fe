#include "report/page.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sstore.h"

void page_begin(html *page, const char *kind, const char *title, const char *second_line)
{
    html_markup(page,
                "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-%s'; "
                "base-uri 'none'; form-action 'none'\">\n"
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                "<meta name=\"color-scheme\" content=\"light dark\">\n"
                "<meta name=\"generator\" content=\"sstore %s\">\n<title>%s",
                style_hash, sstore_version(), kind);
    html_markup(page, ": ");
    html_text(page, title);
    html_markup(page, "</title>\n<style>%s</style>\n</head>\n<body>\n<header>\n<p class=\"kind\">%s</p>\n<h1>",
                style_text, kind);
    html_text(page, title);
    html_markup(page, "</h1>\n<p class=\"second\">");
    html_text(page, second_line);
    html_markup(page, "</p>\n</header>\n<main>\n");
}

/* The time of the page; reproducible builds set SOURCE_DATE_EPOCH. */
static time_t page_time(void)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    return epoch != NULL ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
}

void page_end(html *page)
{
    char date[64] = "";
    struct tm parts;
    const time_t now = page_time();
    if (gmtime_r(&now, &parts) != NULL)
        (void)strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &parts);
    html_markup(page,
                "</section>\n</main>\n<footer><p>sstore %s, %s. Units are powers of 1000.</p></footer>\n"
                "</body>\n</html>\n",
                sstore_version(), date);
}

void page_figures_begin(html *page)
{
    html_markup(page, "<section class=\"figures\" aria-label=\"Key figures\">\n<dl>\n");
}

void page_figure(html *page, const char *name, const char *value, const char *note)
{
    html_markup(page, "<div><dt>%s</dt><dd class=\"big\">%s</dd><dd>%s</dd></div>\n", name, value, note);
}

void page_figures_end(html *page)
{
    html_markup(page, "</dl>\n");
}

void page_section(html *page, const char *id, const char *title)
{
    html_markup(page, "</section>\n<section id=\"%s\" aria-labelledby=\"%s-h\">\n<h2 id=\"%s-h\">%s</h2>\n", id, id, id,
                title);
}

void page_legend(html *page, const page_key *keys, size_t count)
{
    html_markup(page, "<ul class=\"legend\">");
    for (size_t i = 0; i < count; i++)
        html_markup(
            page,
            "<li><svg width=\"12\" height=\"12\" aria-hidden=\"true\"><rect width=\"12\" height=\"12\" rx=\"2\" "
            "class=\"%s\"/></svg>%s</li>",
            keys[i].class, keys[i].name);
    html_markup(page, "</ul>\n");
}

void page_table_begin(html *page, const char *caption, const char *const *columns, size_t count)
{
    html_markup(page,
                "<div class=\"scroll\" role=\"region\" aria-label=\"%s\" tabindex=\"0\">\n<table>\n"
                "<caption>%s</caption>\n<thead><tr>",
                caption, caption);
    for (size_t i = 0; i < count; i++)
        html_markup(page, "<th scope=\"col\">%s</th>", columns[i]);
    html_markup(page, "</tr></thead>\n<tbody>\n");
}

void page_row(html *page, const char *const *cells, size_t count)
{
    html_markup(page, "<tr><th scope=\"row\">%s</th>", cells[0]);
    for (size_t i = 1; i < count; i++)
        html_markup(page, "<td>%s</td>", cells[i]);
    html_markup(page, "</tr>\n");
}

void page_table_end(html *page)
{
    html_markup(page, "</tbody>\n</table>\n</div>\n");
}

void page_fold_begin(html *page, const char *summary)
{
    html_markup(page, "</section>\n<details><summary>%s</summary>\n<section>\n", summary);
}

void page_fold_end(html *page)
{
    html_markup(page, "</section>\n</details>\n<section>\n");
}

void page_details_begin(html *page, const char *summary)
{
    html_markup(page, "<details><summary>%s</summary>\n", summary);
}

void page_details_end(html *page)
{
    html_markup(page, "</details>\n");
}
