/*
 * output.c - prints records and results, and keeps the state of stdout.
 *
 * In JSON, fingerprints are strings of 16 hex digits, and ids are decimal strings: many readers hold JSON numbers as
 * doubles, which are exact only up to 2^53.
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

/* errno of the first write that failed; output_close() reports it. */
static int first_failure;

static bool succeeded(bool success)
{
    if (!success && first_failure == 0)
        first_failure = errno;
    return success;
}

bool output_bytes(const char *bytes, size_t size)
{
    progress_give_way();
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

bool output_escaped(const char *name, bool double_backslashes)
{
    const size_t length = strlen(name), size = sstore_escape(name, length, double_backslashes, NULL, 0);
    char *escaped = allocate_or_exit(size + 1, 1);
    (void)sstore_escape(name, length, double_backslashes, escaped, size + 1);
    const bool printed = output_bytes(escaped, size);
    free(escaped);
    return printed;
}

bool output_flush(void)
{
    return succeeded(fflush_unlocked(stdout) == 0);
}

void output_close(void)
{
    bool lost = !output_flush() || ferror(stdout) != 0;
    /* Some network file systems report errors only when the file is closed. */
    if (!lost && succeeded(fclose(stdout) == 0))
        return;
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

/* ----- numbers ----- */

/* An id as a string, or NULL if there is none. */
static const char *id_string(char to[21], bool has_ids, uint64_t id)
{
    *output_decimal(to, id) = '\0';
    return has_ids ? to : NULL;
}

/* ----- lines ----- */

static char *put_id(char *to, bool has_ids, uint64_t id)
{
    if (has_ids)
        return output_decimal(to, id);
    *to = '-';
    return to + 1;
}

/* A fingerprint in the radix of the style, and a zero. Returns `to`. */
static const char *fingerprint_string(const output_style *style, char to[RADIX_MAX_CHARACTERS + 1], uint64_t value)
{
    *radix_put(style->radix, to, value) = '\0';
    return to;
}

static char *put_fingerprint_and_tab(const output_style *style, char *to, uint64_t value)
{
    to = radix_put(style->radix, to, value);
    *to++ = '\t';
    return to;
}

static char *put_hex_and_tab(char *to, uint64_t value)
{
    to = output_hex(to, value);
    *to++ = '\t';
    return to;
}

/* Print a line that ends with an id. */
static bool print_line_with_id(char *line, char *end, bool has_ids, uint64_t id)
{
    end = put_id(end, has_ids, id);
    *end++ = '\n';
    return output_bytes(line, (size_t)(end - line));
}

bool output_match(const output_style *style, uint64_t query, const sstore_match *match)
{
    char line[2 * RADIX_MAX_CHARACTERS + 40], fingerprint[RADIX_MAX_CHARACTERS + 1], id[21];
    if (style->json)
        return output_json(json_value_make("{s:s, s:s, s:i, s:s?}", "query", fingerprint_string(style, line, query),
                                           "fingerprint", fingerprint_string(style, fingerprint, match->fingerprint),
                                           "distance", (int)match->distance, "id",
                                           id_string(id, style->has_ids, match->id)));
    char *end = put_fingerprint_and_tab(style, line, query);
    end = put_fingerprint_and_tab(style, end, match->fingerprint);
    end = output_decimal(end, match->distance);
    *end++ = '\t';
    return print_line_with_id(line, end, style->has_ids, match->id);
}

int output_scan_match(void *style, const sstore_stream_match *match)
{
    const sstore_match plain = {.fingerprint = match->fingerprint, .id = match->id, .distance = match->distance};
    return !output_match(style, match->query, &plain);
}

bool output_new_record(const output_style *style, uint64_t query, uint64_t id)
{
    static const char words[] = "\tnew\t-\t";
    char line[80], id_text[21];
    if (style->json)
        return output_json(json_value_make("{s:s, s:b, s:s?}", "query", output_hex_string(line, query), "new", 1, "id",
                                           id_string(id_text, style->has_ids, id)));
    char *end = output_hex(line, query);
    memcpy(end, words, sizeof words - 1);
    return print_line_with_id(line, end + sizeof words - 1, style->has_ids, id);
}

bool output_count(const output_style *style, uint64_t query, uint64_t count)
{
    char line[RADIX_MAX_CHARACTERS + 40];
    if (style->json)
        return output_json(
            json_value_make("{s:s, s:I}", "query", fingerprint_string(style, line, query), "count", (long long)count));
    return print_line_with_id(line, put_fingerprint_and_tab(style, line, query), true, count);
}

/* "fingerprint<TAB>id<TAB>". */
static char *put_record(char *to, bool has_ids, uint64_t fingerprint, uint64_t id)
{
    to = put_id(put_hex_and_tab(to, fingerprint), has_ids, id);
    *to++ = '\t';
    return to;
}

bool output_pair(const output_style *first, const output_style *second, const sstore_pair *pair)
{
    char line[120], other[17], id[21], other_id[21];
    if (first->json)
        return output_json(
            json_value_make("{s:s, s:s?, s:s, s:s?, s:i}", "fingerprint", output_hex_string(line, pair->fingerprint),
                            "id", id_string(id, first->has_ids, pair->id), "other_fingerprint",
                            output_hex_string(other, pair->other_fingerprint), "other_id",
                            id_string(other_id, second->has_ids, pair->other_id), "distance", (int)pair->distance));
    char *end = put_record(line, first->has_ids, pair->fingerprint, pair->id);
    end = put_record(end, second->has_ids, pair->other_fingerprint, pair->other_id);
    return print_line_with_id(line, end, true, pair->distance);
}

bool output_cluster_record(const output_style *style, const sstore_cluster_record *record)
{
    char line[120], id[21];
    if (style->json)
        return output_json(json_value_make("{s:I, s:I, s:s, s:s?, s:i, s:b}", "cluster", (long long)record->cluster,
                                           "cluster_size", (long long)record->cluster_size, "fingerprint",
                                           output_hex_string(line, record->fingerprint), "id",
                                           id_string(id, style->has_ids, record->id), "distance", (int)record->distance,
                                           "representative", (int)record->is_representative));
    char *end = output_decimal(line, record->cluster_size);
    *end++ = '\t';
    end = put_record(end, style->has_ids, record->fingerprint, record->id);
    return print_line_with_id(line, end, true, record->distance);
}

bool output_component(bool json, bool with_smallest, uint64_t smallest, uint64_t node)
{
    char line[50], first[21], second[21];
    if (json)
        return output_json(json_value_make("{s:s, s:s}", "smallest", id_string(first, true, smallest), "node",
                                           id_string(second, true, node)));
    char *end = line;
    if (with_smallest) {
        end = output_decimal(end, smallest);
        *end++ = '\t';
    }
    return print_line_with_id(line, end, true, node);
}

bool output_record(bool has_ids, const sstore_record *record)
{
    char line[80];
    return print_line_with_id(line, put_hex_and_tab(line, record->fingerprint), has_ids, record->id);
}
