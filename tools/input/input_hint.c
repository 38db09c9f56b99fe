/*
 * input_hint.c - common mistakes, each with the words that help. Only inputs that cannot be read get here, so a guess
 * may be wrong, but never changes what is read.
 */
#include "input/input_hint.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "output/json_read.h"
#include "output/messages.h"
#include "output/progress.h"

/* How much of a line is looked at: binary data may have no line ends. */
#define MAX_BYTES 4096u

size_t input_hint_bom_bytes(const char *text, size_t length)
{
    return length >= INPUT_BOM_BYTES && memcmp(text, INPUT_BOM, INPUT_BOM_BYTES) == 0 ? INPUT_BOM_BYTES : 0;
}

static bool begins(const char *line, size_t length, const char *with)
{
    const size_t size = strlen(with);
    return length >= size && memcmp(line, with, size) == 0;
}

/* Is this no text? Bytes above 0x7f tell only in the first line: later ones may be of a field. */
static bool is_binary(const char *line, size_t length, bool is_first)
{
    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)line[i];
        if ((byte < ' ' && byte != '\t' && byte != '\r') || (is_first && byte > 0x7e))
            return true;
    }
    return false;
}

/* Words without any digit, not hex, and not filled up as base64 and base32 are. */
static bool is_header(const char *line, size_t length)
{
    bool is_word = false;
    for (size_t i = 0; i < length; i++) {
        if (isdigit((unsigned char)line[i]) || line[i] == '=')
            return false;
        is_word = is_word || (isalpha((unsigned char)line[i]) && !isxdigit((unsigned char)line[i]));
    }
    return is_word;
}

/* At least three words of two letters or more, with a letter that cannot be hex; no JSON. */
static bool is_prose(const char *line, size_t length)
{
    size_t words = 0, letters = 0;
    bool is_word = false;
    if (length == 0 || line[0] == '{' || line[0] == '[')
        return false;
    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)line[i];
        const bool is_letter = isalpha(byte) || byte > 0x7f;
        if (byte < ' ' && byte != '\t' && byte != '\r')
            return false;
        letters = is_letter ? letters + 1 : 0;
        words += letters == 2 && (i < 2 || line[i - 2] == ' ' || line[i - 2] == '\t');
        is_word = is_word || (is_letter && !isxdigit(byte));
    }
    return is_word && words >= 3 && memchr(line, ' ', length) != NULL;
}

#define UTF_16 "this is UTF-16, which 'iconv -f UTF-16 -t UTF-8' converts"
#define PARQUET "this is a Parquet file, of which duckdb -c \"" COPY_TO_JSON "\" makes JSON Lines"
#define COPY_TO_JSON "COPY (FROM 'FILE') TO '/dev/stdout' (FORMAT json)"
#define PICTURE "this is a picture: programs such as imagehash make fingerprints of pictures (docs/interchange.md)"
#define UTF_16_LE "this is UTF-16, which 'iconv -f UTF-16LE -t UTF-8' converts"

/* Files that are not text, by their first bytes. */
static const struct file_type {
    const char *begin, *hint;
    bool also_for_texts; /* the remedy is the same where texts are expected */
    bool may_lack_zeros;
} file_types[] = {
    {"\xff\xfe", UTF_16, false, true},
    {"\xfe\xff", UTF_16, false, true},
    {"\x93NUMPY", "this is a NumPy array, which --format npy reads", false, false},
    {"BZh", "this is a file of bzip2, which 'bzip2 -dc' unpacks", true, false},
    {"\3757zXZ", "this is a file of xz, which 'xz -dc' unpacks", true, false},
    {"\x04\x22\x4d\x18", "this is a file of LZ4, which 'lz4 -dc' unpacks", true, false},
    {"PAR1", PARQUET, true, false},
    {"ARROW1", "this is an Arrow file: write its columns as lines, or give them to Python's sstore", true, false},
    {"SQLite format 3", "this is a database of SQLite, of which 'sqlite3 -tabs FILE \"SELECT ...\"' makes lines", true,
     false},
    {"%PDF-", "this is a PDF file, of which 'pdftotext FILE -' makes text", true, true},
    {"PK\x03\x04", "this is a ZIP file, which 'unzip -p' unpacks; export spreadsheets as CSV", true, false},
    {"\x89PNG", PICTURE, true, false},
    {"\xff\xd8\xff", PICTURE, true, false},
    {"GIF8", PICTURE, true, false},
};

/* ----- lines ----- */

typedef struct line_view {
    const char *text;
    size_t length;
    bool is_first;
} line_view;

static bool has(const line_view *line, char byte)
{
    return memchr(line->text, byte, line->length) != NULL;
}

static bool has_text(const line_view *line, const char *part)
{
    return memmem(line->text, line->length, part, strlen(part)) != NULL;
}

static bool starts(const line_view *line, const char *with)
{
    return begins(line->text, line->length, with);
}

static bool ends_with(const line_view *line, char byte)
{
    return line->length > 0 && line->text[line->length - 1] == byte;
}

static bool is_utf_16_le(const line_view *line)
{
    const char *text = line->text;
    return line->length > 3 && text[0] != 0 && text[1] == 0 && text[2] != 0 && text[3] == 0;
}

static bool is_utf_16_be(const line_view *line)
{
    const char *text = line->text;
    return line->length > 3 && text[0] == 0 && text[1] != 0 && text[2] == 0 && text[3] != 0;
}

/* Is the line text but for this byte? */
static bool has_only(const line_view *line, char byte)
{
    bool found = false;
    for (size_t i = 0; i < line->length; i++) {
        const bool is_it = line->text[i] == byte;
        if (!is_it && line->text[i] != '\t' && (line->text[i] < ' ' || line->text[i] > '~'))
            return false;
        found = found || is_it;
    }
    return found;
}

static bool is_hive(const line_view *line)
{
    return has_only(line, '\x01') && line->length > 2;
}

/* Do lines end with the byte \r alone? */
static bool has_old_ends(const line_view *line)
{
    return has_only(line, '\r') && has_only(&(line_view){line->text, line->length - 1, line->is_first}, '\r');
}

static bool is_end_of_dos(const line_view *line)
{
    return has_only(line, '\x1a') && ends_with(line, '\x1a');
}

static bool ends_with_zero(const line_view *line)
{
    return has_only(line, '\0') && ends_with(line, '\0') && line->length > 1;
}

static bool is_text(const line_view *line)
{
    return is_prose(line->text, line->length) && !starts(line, "COPY ") && !starts(line, "INSERT ");
}

static bool is_data(const line_view *line)
{
    return is_binary(line->text, line->length, line->is_first);
}

bool input_hint_is_name(const char *keys)
{
    const size_t first = keys[0] != '\0' ? 1 + strcspn(keys + 1, "./'") : 0;
    return keys[first] == '.' || keys[first] == '/';
}

static bool is_name_map(const line_view *line)
{
    char keys[JSON_KEYS_BYTES];
    return starts(line, "{") && input_hint_is_name(json_first_keys(line->text, line->length, keys));
}

static bool is_first(const line_view *line)
{
    return line->is_first;
}

/* The first byte in the array with which the first line begins, or 0. */
static char first_in_array(const line_view *line)
{
    size_t at = 1;
    while (at < line->length && isspace((unsigned char)line->text[at]))
        at++;
    return line->is_first && starts(line, "[") && at < line->length ? line->text[at] : 0;
}

static bool is_string_array(const line_view *line)
{
    return first_in_array(line) == '"';
}

static bool is_number_array(const line_view *line)
{
    const char first = first_in_array(line);
    return isdigit((unsigned char)first) || first == '-';
}

static bool is_separated(const line_view *line)
{
    return has(line, ',') || has(line, ';');
}

static bool is_csv_header(const line_view *line)
{
    return line->is_first && is_header(line->text, line->length) && is_separated(line);
}

static bool is_plain_header(const line_view *line)
{
    return line->is_first && is_header(line->text, line->length);
}

static bool is_quoted_csv(const line_view *line)
{
    return is_separated(line) && has(line, '"');
}

#define SQL "this is SQL: of a database of SQLite, 'sqlite3 -tabs FILE \"SELECT ...\"' makes lines"
#define DRAWN                                                                                                          \
    "this is a table for people: 'mysql -B -N', \"psql -At -F $'\\t'\" and 'sqlite3 -tabs' write rows with tabs"

/* What a line looks like, and what to do. The first one that fits is it. */
static const struct line_look {
    const char *hint;
    bool (*is)(const line_view *line); /* or NULL, as the texts that it begins with and has: */
    const char *begin, *part;
} line_looks[] = {
    {UTF_16_LE, .is = is_utf_16_le},
    {"this is UTF-16, which 'iconv -f UTF-16BE -t UTF-8' converts", .is = is_utf_16_be},
    {"if the byte \\x01 separates fields, as in files of Hive, \"tr '\\001' '\\t'\" separates them by tabs",
     .is = is_hive},
    {"if the byte \\r alone ends lines, \"tr '\\r' '\\n'\" converts them", .is = has_old_ends},
    {"the byte \\x1a ends files of DOS: \"tr -d '\\032'\" leaves it out", .is = is_end_of_dos},
    {"\"tr -d '\\000'\" leaves bytes \\x00 out", .is = ends_with_zero},
    {"this is a typographic minus (U+2212): \"sed 's/\xe2\x88\x92/-/g'\" makes it a plain one",
     .begin = "\xe2\x88\x92"},
    {"this is a no-break space (U+00A0): \"sed 's/\xc2\xa0/ /g'\" makes it a plain space", .part = "\xc2\xa0"},
    {"this is SQL of PostgreSQL, whose rows \"sed -n '/^COPY /,/^\\\\\\.$/{//!p;}'\" prints", .begin = "COPY "},
    {SQL, .begin = "INSERT "},
    {SQL, .begin = "PRAGMA "},
    {SQL, .begin = "BEGIN TRANSACTION"},
    {DRAWN, .begin = "+-"},
    {DRAWN, .begin = "| "},
    {DRAWN, .begin = "--+"},
    {DRAWN, .part = "-+-"},
    {DRAWN, .part = " | "},
    {DRAWN, .part = "\xe2\x94\x82"},
    {DRAWN, .part = "\xe2\x94\x80"},
    {"if this is text, 'sstore fingerprint --lines' makes a fingerprint of each line", .is = is_text},
    {"this is not text; --format u64, rec or npy reads binary data", .is = is_data},
    {INPUT_NAMES_TO_LINES, .is = is_name_map},
    {INPUT_STRINGS_TO_LINES, .is = is_string_array},
    {"\"tr -d '[] ' | tr , '\\n'\" prints the numbers of an array as lines, which --radix dec reads",
     .is = is_number_array},
    {"if this is an array of JSON objects, --format jsonl reads it", .begin = "[", .is = is_first},
    {"this is JSON, which --format jsonl reads", .begin = "{"},
    {"this is ssdeep, whose distance is not Hamming's: no store of sstore can search it", .begin = "ssdeep,"},
    {"this is the header of a CSV file: of texts, give it to 'sstore fingerprint'; of fingerprints, "
     "'tail -n +2' leaves "
     "the header out, and \"tr ',;' '\\t'\" separates fields by tabs if none contains a separator",
     .is = is_csv_header},
    {"if this is a header, 'tail -n +2' leaves it out", .is = is_plain_header},
    {"this is CSV with quotes: \"tr -d '\\\"' | tr ',;' '\\t'\" converts it if no field contains a "
     "separator; otherwise make JSON Lines of it, as docs/guide.md shows for CSV",
     .is = is_quoted_csv},
    {"fields are separated by tabs or spaces; \"tr ',;' '\\t'\" converts CSV without quotes", .is = is_separated},
    {"fields are separated by tabs or spaces; \"tr '|' '\\t'\" converts those between bars", .part = "|"},
    {"leave out the quotes, such as with \"tr -d '\\\"'\"", .part = "\""},
};

static bool looks_so(const line_view *line, const struct line_look *look)
{
    return (look->is == NULL || look->is(line)) && (look->begin == NULL || starts(line, look->begin)) &&
           (look->part == NULL || has_text(line, look->part));
}

const char *input_hint_of_line(const char *line, size_t length, uint64_t number)
{
    const line_view view = {line, length < MAX_BYTES ? length : MAX_BYTES, number == 1};
    for (size_t i = 0; view.is_first && i < sizeof file_types / sizeof *file_types; i++)
        if (starts(&view, file_types[i].begin))
            return file_types[i].hint;
    for (size_t i = 0; i < sizeof line_looks / sizeof *line_looks; i++)
        if (looks_so(&view, &line_looks[i]))
            return line_looks[i].hint;
    return NULL;
}

const char *input_hint_of_no_text(const char *bytes, size_t length, bool has_zeros)
{
    for (size_t i = 0; i < sizeof file_types / sizeof *file_types; i++)
        if (file_types[i].also_for_texts && (has_zeros || file_types[i].may_lack_zeros) &&
            begins(bytes, length, file_types[i].begin))
            return file_types[i].hint;
    return NULL;
}

bool input_hint_is_number(const char *path)
{
    return path[0] != '\0' && path[strspn(path, "0123456789abcdefABCDEF")] == '\0';
}

bool input_hint_is_store(int fd)
{
    return faccessat(fd, "MANIFEST", F_OK, 0) == 0;
}

const char *input_hint_of_folder(int fd)
{
    return input_hint_is_store(fd) ? "it is a store, where an input is expected; 'sstore dump' prints its records"
                                   : "it is a folder";
}

void input_hint_of_terminal(int fd)
{
    if (!isatty(fd))
        return;
    progress_stop_line();
    if (isatty(STDERR_FILENO))
        message_print("reading from the terminal; Ctrl-D in an empty line ends the input");
}
