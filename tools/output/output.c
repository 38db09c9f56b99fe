/*
 * output.c - prints records and results, and keeps the state of stdout.
 *
 * In JSON, fingerprints are strings, in hex unless the style says otherwise, and ids are decimal strings: many readers
 * hold JSON numbers as doubles, which are exact only up to 2^53.
 */
#include "output/output.h"

#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/messages.h"
#include "output/progress.h"

#define SIGNAL_CODES 128 /* exit codes above it are those of signals */

/* errno of the first write that failed; output_close() reports it. */
static int first_failure;

static bool succeeded(bool success)
{
    if (!success && first_failure == 0)
        first_failure = errno;
    return success;
}

/* The header of results, to be printed before the first line; "" if none is. */
static char header[2 * RADIX_MAX_CHARACTERS + 128];

bool output_bytes(const char *bytes, size_t size)
{
    progress_give_way();
    if (header[0] != '\0' && !succeeded(fputs_unlocked(header, stdout) >= 0))
        return false;
    header[0] = '\0';
    return succeeded(fwrite_unlocked(bytes, 1, size, stdout) == size);
}

bool output_text(const char *format, ...)
{
    va_list arguments;
    progress_give_way();
    va_start(arguments, format);
    const bool printed = succeeded(vprintf(format, arguments) >= 0);
    va_end(arguments);
    return printed;
}

void output_version(void)
{
    output_text("sstore %s\n", sstore_version());
}

bool output_escaped(const char *name, size_t length, bool double_backslashes)
{
    const size_t size = sstore_escape(name, length, double_backslashes, NULL, 0);
    char *escaped = allocate_or_exit(size + 1, 1);
    (void)sstore_escape(name, length, double_backslashes, escaped, size + 1);
    const bool printed = output_bytes(escaped, size);
    free(escaped);
    return printed;
}

bool output_name(const char *name, size_t length)
{
    char *escaped = allocate_or_exit(4 * length + 1, 1);
    const bool printed = output_bytes(escaped, name_escape(name, length, escaped));
    free(escaped);
    return printed;
}

bool output_flush(void)
{
    return succeeded(fflush_unlocked(stdout) == 0);
}

/* What stdout ends with if the process fails, or NULL. */
static const char *failure_mark;

void output_set_failure_mark(const char *mark)
{
    failure_mark = mark;
}

void output_close(int code, void *unused)
{
    (void)unused;
    if (code != 0 && failure_mark != NULL && first_failure == 0 && !output_is_terminal())
        (void)output_bytes(failure_mark, strlen(failure_mark));
    bool lost = !output_flush() || ferror(stdout) != 0;
    /* Some network file systems report errors only when the file is closed. */
    if (!lost && succeeded(fclose(stdout) == 0))
        return;
    if (first_failure == EINTR && code > SIGNAL_CODES) /* the command has told of the signal */
        _exit(code);
    if (first_failure != 0)
        message_print("cannot write to standard output: %s", strerror(first_failure));
    else /* argp wrote the help text and lost errno */
        message_print("cannot write to standard output");
    _exit(EXIT_FAILED);
}

bool output_json(json_value *value)
{
    char *text = json_value_text(value);
    if (text == NULL)
        message_print("cannot make a JSON object: out of memory");
    const bool printed = text != NULL && output_bytes(text, strlen(text)) && output_bytes("\n", 1);
    free(text);
    return printed;
}

/* ----- ids ----- */

#define DECIMAL_CHARACTERS 20

/* An id as it is printed: a number, a name, or '-'. */
typedef struct id_text {
    const char *text;
    size_t length;
    char digits[DECIMAL_CHARACTERS + 1];
    printed_name name; /* for JSON */
} id_text;

/* False: the id has no name. */
static bool take_id(const output_style *style, uint64_t id, id_text *out)
{
    char *end = out->digits;
    if (style->has_ids)
        end = output_decimal(end, id);
    else
        *end++ = '-';
    *end = '\0';
    out->text = out->digits;
    out->length = (size_t)(end - out->digits);
    out->name = (printed_name){.text = NULL};
    if (style->names == NULL)
        return true;
    out->name = stored_names_find(style->names, id);
    if (!style->json) {
        out->text = out->name.text;
        out->length = out->name.length;
    }
    return out->name.text != NULL;
}

static const char *json_id(const output_style *style, const id_text *id)
{
    return style->has_ids ? id->digits : NULL;
}

/* The value of the key "name", or of "escaped_name"; NULL: the object does not have the key. */
static const char *json_name(const id_text *id, bool escaped)
{
    return id->name.is_escaped == escaped ? id->name.text : NULL;
}

#define JSON_NAME_KEYS "s:s*, s:s*"
#define JSON_NAMES(prefix, id) prefix "name", json_name(id, false), prefix "escaped_name", json_name(id, true)

#define SIMILARITY "similarity"
#define JSON_DISTANCE_KEYS "s:i, s:o*, s:o*"

/* The estimated similarity, or its standard error; NULL: the object does not have the key. */
static json_value *json_similarity(const output_style *style, uint32_t distance, bool is_error)
{
    double deviation;
    if (!style->tells_similarity)
        return NULL;
    const double found = sstore_minhash_similarity(64 * style->words, distance, &deviation);
    return json_value_make("f", is_error ? deviation : found);
}

#define JSON_DISTANCE(style, distance)                                                                                 \
    "distance", (int)(distance), SIMILARITY, json_similarity(style, distance, false), "similarity_error",              \
        json_similarity(style, distance, true)

/* ----- headers ----- */

#define NUMBER_WIDTH 8 /* of a column of numbers on a terminal: that of its name, and of a tab */

static int fingerprint_width(const output_style *style)
{
    const uint32_t bits = radix_digit_bits(style->radix);
    return (int)(bits > 0 ? (64 * style->words + bits - 1) / bits : DECIMAL_CHARACTERS * style->words);
}

static bool has_numbers(const output_style *style, const char *column, size_t length)
{
    if (memmem(column, length, "name", 4) != NULL || strncmp(column, "margins", length) == 0)
        return false;
    const bool is_id = memmem(column, length, "id", 2) != NULL && memmem(column, length, "query", 5) == NULL;
    return !is_id || (style->has_ids && style->names == NULL);
}

/* Write the name of a column, of the width of its fields. */
static size_t put_column_name(const output_style *style, const char *name, size_t length, char *to, size_t size)
{
    const bool is_fingerprint = memmem(name, length, "fingerprint", 11) != NULL || strncmp(name, "query", length) == 0;
    int width = 0;
    if (style->aligned && is_fingerprint)
        width = -fingerprint_width(style);
    else if (style->aligned && has_numbers(style, name, length))
        width = NUMBER_WIDTH;
    const int written = snprintf(to, size, "%*.*s", width, (int)length, name);
    return (size_t)written < size ? (size_t)written : size - 1;
}

static bool is_column(const char *column, size_t length, const char *name)
{
    return length == strlen(name) && memcmp(column, name, length) == 0;
}

/* The name of the column that the style has in the place of another one; NULL: there is none. */
static const char *column_in_place_of(const output_style *style, const char *column, size_t length)
{
    if (style->names != NULL && is_column(column, length, "id"))
        return "name";
    return style->tells_similarity && is_column(column, length, "distance") ? SIMILARITY : NULL;
}

bool output_is_terminal(void)
{
    return isatty(STDOUT_FILENO) != 0;
}

void output_head(output_style *style, header_mode mode, const char *columns)
{
    const bool is_terminal = output_is_terminal();
    size_t used = 0;
    if (style->json && mode == HEADER_ALWAYS)
        message_usage_error("--header always has no effect with --json: leave one of them out");
    style->headed = !style->json && (mode == HEADER_ALWAYS || (mode == HEADER_AUTO && is_terminal));
    style->aligned = style->headed && is_terminal;
    if (!style->headed)
        return;
    for (const char *name = columns; *name != '\0';) {
        const size_t length = strcspn(name, "\t");
        const char *renamed = column_in_place_of(style, name, length);
        used += put_column_name(style, renamed != NULL ? renamed : name, renamed != NULL ? strlen(renamed) : length,
                                header + used, sizeof header - used - 1);
        name += length + (name[length] == '\t');
        header[used++] = *name == '\0' ? '\n' : '\t';
    }
    header[used] = '\0';
    if (!is_terminal) /* there also without any result */
        (void)output_bytes("", 0);
}

/* ----- lines ----- */

/* A line in the making. It is printed at its end, or before a name, which may have any length. */
typedef struct line {
    char bytes[2 * (RADIX_MAX_CHARACTERS + 1) + 4 * (DECIMAL_CHARACTERS + 1)];
    char *end;
    bool failed;
    int fingerprint_width, number_width; /* of columns; 0: their fields have any width */
} line;

static void line_begin(const output_style *style, line *self)
{
    self->end = self->bytes;
    self->failed = false;
    self->fingerprint_width = style->aligned ? fingerprint_width(style) : 0;
    self->number_width = style->aligned ? NUMBER_WIDTH : 0;
}

/* Fill up a field, which begins here, with spaces: behind it, or before it. */
static void fill_field(line *self, char *begin, int width, bool before)
{
    const size_t length = (size_t)(self->end - begin);
    if (length >= (size_t)width)
        return;
    const size_t missing = (size_t)width - length;
    if (before)
        memmove(begin + missing, begin, length);
    memset(before ? begin : self->end, ' ', missing);
    self->end += missing;
}

static void line_flush(line *self)
{
    if (self->end != self->bytes)
        self->failed = !output_bytes(self->bytes, (size_t)(self->end - self->bytes)) || self->failed;
    self->end = self->bytes;
}

static void put_id(line *to, const id_text *id, char after)
{
    if (id->length <= DECIMAL_CHARACTERS) {
        char *begin = to->end;
        memcpy(to->end, id->text, id->length);
        to->end += id->length;
        if (id->text == id->digits && id->text[0] != '-')
            fill_field(to, begin, to->number_width, true);
    } else {
        line_flush(to);
        to->failed = to->failed || !output_bytes(id->text, id->length);
    }
    *to->end++ = after;
}

static void put_decimal(line *to, uint64_t value, char after)
{
    char *begin = to->end;
    to->end = output_decimal(to->end, value);
    fill_field(to, begin, to->number_width, true);
    *to->end++ = after;
}

static void put_fingerprint(const output_style *style, line *to, const uint64_t *words)
{
    char *begin = to->end;
    to->end = radix_put(style->radix, to->end, words, style->words);
    fill_field(to, begin, to->fingerprint_width, false);
    *to->end++ = '\t';
}

static void put_distance(const output_style *style, line *to, uint32_t distance, char separator)
{
    if (!style->tells_similarity) {
        put_decimal(to, distance, separator);
        return;
    }
    const double found = sstore_minhash_similarity(64 * style->words, distance, NULL);
    to->end += sprintf(to->end, "%*.3f", to->number_width > 0 ? (int)strlen(SIMILARITY) : 0, found);
    *to->end++ = separator;
}

static void put_word(line *to, const char *word, int width, bool before)
{
    char *begin = to->end;
    to->end = stpcpy(to->end, word);
    fill_field(to, begin, width, before);
    *to->end++ = '\t';
}

static bool line_end(line *self)
{
    line_flush(self);
    return !self->failed;
}

/* ----- notes ----- */

/* Put a text of any length behind a line, before its end. */
static void put_text(line *to, const char *text, size_t length)
{
    to->end[-1] = '\t';
    line_flush(to);
    to->failed = to->failed || !output_bytes(text, length);
    *to->end++ = '\n';
}

/* Put the notes behind a line, before its end. */
static void put_notes(const output_style *style, line *to)
{
    const output_notes *notes = style->notes;
    if (notes == NULL)
        return;
    if (notes->query_id != NULL) {
        to->end[-1] = '\t';
        put_decimal(to, *notes->query_id, '\n');
    }
    if (notes->query_name.text != NULL)
        put_text(to, notes->query_name.text, notes->query_name.length);
    if (notes->store != NULL)
        put_text(to, notes->store, strlen(notes->store));
    if (notes->query_count > 0) {
        to->end[-1] = '\t';
        put_decimal(to, notes->query_count, '\n');
    }
}

#define JSON_NOTE_KEYS "s:s*, s:s*, s:s*, s:o*"

/* The id of the query as JSON has it, or NULL. */
static const char *note_query_id(const output_style *style, char to[DECIMAL_CHARACTERS + 1])
{
    if (style->notes == NULL || style->notes->query_id == NULL)
        return NULL;
    *output_decimal(to, *style->notes->query_id) = '\0';
    return to;
}

static const char *note_query_name(const output_style *style)
{
    return style->notes != NULL ? style->notes->query_name.text : NULL;
}

static const char *note_name_key(const output_style *style)
{
    return style->notes != NULL && style->notes->query_name.is_escaped ? "escaped_query_name" : "query_name";
}

static const char *note_store(const output_style *style)
{
    return style->notes != NULL ? style->notes->store : NULL;
}

static json_value *note_query_count(const output_style *style)
{
    const bool has_count = style->notes != NULL && style->notes->query_count > 0;
    return has_count ? json_value_make("I", (long long)style->notes->query_count) : NULL;
}

#define JSON_NOTES(style, digits)                                                                                      \
    "query_id", note_query_id(style, digits), note_name_key(style), note_query_name(style), "store",                   \
        note_store(style), "query_count", note_query_count(style)

/* ----- results ----- */

bool output_match(const output_style *style, const uint64_t *query, const sstore_match *match)
{
    id_text id;
    line to;
    if (!take_id(style, match->id, &id))
        return false;
    if (style->json) {
        char of_query[RADIX_MAX_CHARACTERS + 1], fingerprint[RADIX_MAX_CHARACTERS + 1], digits[DECIMAL_CHARACTERS + 1];
        return output_json(
            json_value_make("{s:s, s:s, " JSON_DISTANCE_KEYS ", s:s?, " JSON_NAME_KEYS ", " JSON_NOTE_KEYS "}", "query",
                            radix_string(style->radix, of_query, query, style->words), "fingerprint",
                            radix_string(style->radix, fingerprint, match->fingerprint, style->words),
                            JSON_DISTANCE(style, match->distance), "id", json_id(style, &id), JSON_NAMES("", &id),
                            JSON_NOTES(style, digits)));
    }
    line_begin(style, &to);
    put_fingerprint(style, &to, query);
    put_fingerprint(style, &to, match->fingerprint);
    put_distance(style, &to, match->distance, '\t');
    put_id(&to, &id, '\n');
    put_notes(style, &to);
    return line_end(&to);
}

int output_scan_match(void *style, const sstore_stream_match *match)
{
    const sstore_match plain = {.fingerprint = match->fingerprint, .id = match->id, .distance = match->distance};
    return !output_match(style, match->query, &plain);
}

bool output_new_record(const output_style *style, const uint64_t *query, uint64_t id)
{
    id_text shown;
    char hex[RADIX_MAX_CHARACTERS + 1], digits[DECIMAL_CHARACTERS + 1];
    line to;
    if (!take_id(style, id, &shown))
        return false;
    if (style->json)
        return output_json(json_value_make("{s:s, s:b, s:s?, " JSON_NAME_KEYS ", " JSON_NOTE_KEYS "}", "query",
                                           radix_string(RADIX_HEX, hex, query, style->words), "new", 1, "id",
                                           json_id(style, &shown), JSON_NAMES("", &shown), JSON_NOTES(style, digits)));
    line_begin(style, &to);
    put_fingerprint(style, &to, query);
    put_word(&to, "new", to.fingerprint_width, false);
    put_word(&to, "-", to.number_width, true);
    put_id(&to, &shown, '\n');
    put_notes(style, &to);
    return line_end(&to);
}

bool output_excluded_record(const output_style *style, const uint64_t *query)
{
    char hex[RADIX_MAX_CHARACTERS + 1];
    line to;
    if (style->json)
        return output_json(
            json_value_make("{s:s, s:b}", "query", radix_string(RADIX_HEX, hex, query, style->words), "excluded", 1));
    line_begin(style, &to);
    put_fingerprint(style, &to, query);
    put_word(&to, "excluded", to.fingerprint_width, false);
    put_word(&to, "-", to.number_width, true);
    *to.end++ = '-';
    *to.end++ = '\n';
    put_notes(style, &to);
    return line_end(&to);
}

bool output_count(const output_style *style, const uint64_t *query, uint64_t count)
{
    char of_query[RADIX_MAX_CHARACTERS + 1], digits[DECIMAL_CHARACTERS + 1];
    line to;
    if (style->json)
        return output_json(json_value_make("{s:s, s:I, " JSON_NOTE_KEYS "}", "query",
                                           radix_string(style->radix, of_query, query, style->words), "count",
                                           (long long)count, JSON_NOTES(style, digits)));
    line_begin(style, &to);
    put_fingerprint(style, &to, query);
    put_decimal(&to, count, '\n');
    put_notes(style, &to);
    return line_end(&to);
}

bool output_pair(const output_style *first, const output_style *second, const sstore_pair *pair)
{
    id_text id, other_id;
    char hex[RADIX_MAX_CHARACTERS + 1], other_hex[RADIX_MAX_CHARACTERS + 1];
    line to;
    if (!take_id(first, pair->id, &id) || !take_id(second, pair->other_id, &other_id))
        return false;
    if (first->json)
        return output_json(json_value_make("{s:s, s:s?, " JSON_NAME_KEYS ", s:s, s:s?, " JSON_NAME_KEYS
                                           ", " JSON_DISTANCE_KEYS "}",
                                           "fingerprint", radix_string(RADIX_HEX, hex, pair->fingerprint, first->words),
                                           "id", json_id(first, &id), JSON_NAMES("", &id), "other_fingerprint",
                                           radix_string(RADIX_HEX, other_hex, pair->other_fingerprint, second->words),
                                           "other_id", json_id(second, &other_id), JSON_NAMES("other_", &other_id),
                                           JSON_DISTANCE(first, pair->distance)));
    line_begin(first, &to);
    put_fingerprint(first, &to, pair->fingerprint);
    put_id(&to, &id, '\t');
    put_fingerprint(second, &to, pair->other_fingerprint);
    put_id(&to, &other_id, '\t');
    put_distance(first, &to, pair->distance, '\n');
    return line_end(&to);
}

bool output_cluster_record(const output_style *style, const cluster_record *record)
{
    id_text id;
    char hex[RADIX_MAX_CHARACTERS + 1];
    line to;
    if (!take_id(style, record->id, &id))
        return false;
    if (style->json)
        return output_json(
            json_value_make("{s:I, s:I, s:s, s:s?, " JSON_NAME_KEYS ", " JSON_DISTANCE_KEYS ", s:b}", "cluster",
                            (long long)record->cluster, "cluster_size", (long long)record->cluster_size, "fingerprint",
                            radix_string(RADIX_HEX, hex, record->fingerprint, style->words), "id", json_id(style, &id),
                            JSON_NAMES("", &id), JSON_DISTANCE(style, record->distance), "is_representative",
                            (int)record->is_representative));
    line_begin(style, &to);
    put_decimal(&to, record->cluster_size, '\t');
    put_fingerprint(style, &to, record->fingerprint);
    put_id(&to, &id, '\t');
    put_distance(style, &to, record->distance, style->headed ? '\t' : '\n');
    if (style->headed)
        put_decimal(&to, record->cluster, '\n');
    return line_end(&to);
}

bool output_component(const output_style *style, bool with_smallest, uint64_t smallest, uint64_t node)
{
    id_text first = {.text = NULL}, second;
    line to;
    if (((style->json || with_smallest) && !take_id(style, smallest, &first)) || !take_id(style, node, &second))
        return false;
    if (style->json)
        return output_json(json_value_make("{s:s, s:s}", "smallest", first.text, "node", second.text));
    line_begin(style, &to);
    if (with_smallest)
        put_id(&to, &first, '\t');
    put_id(&to, &second, '\n');
    return line_end(&to);
}

bool output_record(const output_style *style, const uint64_t *fingerprint, uint64_t id)
{
    id_text shown;
    line to;
    if (!take_id(style, id, &shown))
        return false;
    line_begin(style, &to);
    put_fingerprint(style, &to, fingerprint);
    put_id(&to, &shown, '\n');
    put_notes(style, &to);
    return line_end(&to);
}
