#include "report/html.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "output/messages.h"

#define NARROW_SPACE "\xe2\x80\xaf" /* U+202F */

static void exit_without_memory(void)
{
    message_print("cannot make the page: out of memory");
    exit(EXIT_FAILED);
}

void html_begin(html *page)
{
    *page = (html){.stream = NULL};
    page->stream = open_memstream(&page->bytes, &page->size);
    if (page->stream == NULL)
        exit_without_memory();
}

void html_end(html *page)
{
    const bool failed = ferror(page->stream) != 0;
    if (fclose(page->stream) != 0 || failed)
        exit_without_memory();
    page->stream = NULL;
}

void html_free(html *page)
{
    free(page->bytes);
    *page = (html){.stream = NULL};
}

void html_markup(html *page, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(page->stream, format, arguments);
    va_end(arguments);
}

static void put_escaped(html *page, char c)
{
    switch (c) {
    case '&': fputs("&amp;", page->stream); break;
    case '<': fputs("&lt;", page->stream); break;
    case '>': fputs("&gt;", page->stream); break;
    case '"': fputs("&quot;", page->stream); break;
    case '\'': fputs("&#39;", page->stream); break;
    default: fputc(c, page->stream);
    }
}

void html_text(html *page, const char *text)
{
    const size_t length = strlen(text), size = sstore_escape(text, length, false, NULL, 0) + 1;
    char *shown = allocate_or_exit(size, 1);
    (void)sstore_escape(text, length, false, shown, size);
    for (const char *c = shown; *c != '\0'; c++)
        put_escaped(page, *c);
    free(shown);
}

/* ----- numbers ----- */

static const char *const html_time_units[] = {"ns", "µs", "ms", "s", NULL};
static const char *const plain_units[] = {"", "K", "M", "G", "T", NULL};

/* Replace the space before a unit. */
static number_text narrow(number_text from)
{
    number_text to = {""};
    const char *space = strchr(from.text, ' ');
    if (space == NULL || space[1] == '\0')
        snprintf(to.text, sizeof to.text, "%.*s", (int)strcspn(from.text, " "), from.text);
    else
        snprintf(to.text, sizeof to.text, "%.*s" NARROW_SPACE "%s", (int)(space - from.text), from.text, space + 1);
    return to;
}

number_text html_count(uint64_t value)
{
    char digits[24];
    number_text number = {""};
    const int length = snprintf(digits, sizeof digits, "%" PRIu64, value);
    size_t at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            at += (size_t)snprintf(number.text + at, sizeof number.text - at, NARROW_SPACE);
        number.text[at++] = digits[i];
    }
    return number;
}

number_text html_bytes(double bytes)
{
    number_text number;
    if (!(bytes < 999.5))
        return isfinite(bytes) ? narrow(number_scaled(bytes, byte_units)) : html_fixed(bytes, 0);
    snprintf(number.text, sizeof number.text, "%.0f" NARROW_SPACE "B", bytes);
    return number;
}

number_text html_time(double ns)
{
    return isfinite(ns) ? narrow(number_scaled(ns, html_time_units)) : html_fixed(ns, 0);
}

number_text html_rounded(double value)
{
    number_text number = {"&lt;" NARROW_SPACE "0.1"};
    if (!isfinite(value))
        return html_fixed(value, 0);
    if (value > 0 && value < 0.05)
        return number;
    if (value < 99999.5)
        return value < 99.95 && value != floor(value) ? html_fixed(value, 1) : html_count((uint64_t)(value + 0.5));
    return narrow(number_scaled(value, plain_units));
}

/* Without zeros at the end. */
static number_text shortest(double value, const char *const *units)
{
    number_text number;
    while (value >= 999.5 && units[1] != NULL) {
        value /= 1000;
        units++;
    }
    snprintf(number.text, sizeof number.text, "%.3g %s", value, *units);
    return narrow(number);
}

number_text html_tick(double value)
{
    return shortest(value, plain_units);
}

number_text html_time_tick(double ns)
{
    return shortest(ns, html_time_units);
}

number_text html_percent(double part)
{
    number_text number;
    const double percent = 100 * part;
    if (!isfinite(percent))
        return html_fixed(percent, 0);
    if (percent > 0 && percent < 0.05)
        snprintf(number.text, sizeof number.text, "&lt;" NARROW_SPACE "0.1" NARROW_SPACE "%%");
    else if (percent >= 9999.5)
        snprintf(number.text, sizeof number.text, "%.30s" NARROW_SPACE "\xc3\x97", html_rounded(part).text);
    else
        snprintf(number.text, sizeof number.text, "%.*f" NARROW_SPACE "%%", percent < 99.95 ? 1 : 0, percent);
    return number;
}

number_text html_fixed(double value, int decimals)
{
    number_text number = {"-"};
    if (isfinite(value))
        snprintf(number.text, sizeof number.text, "%.*f", decimals, value);
    return number;
}
