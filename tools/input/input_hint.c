/*
 * input_hint.c - common mistakes, each with the words that help. Only inputs that cannot be read get here, so a guess
 * may be wrong, but never changes what is read.
 */
#include "input/input_hint.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

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

#define UTF_16 "; this is UTF-16, which 'iconv -f UTF-16 -t UTF-8' converts"
#define UTF_16_LE "; this is UTF-16, which 'iconv -f UTF-16LE -t UTF-8' converts"

/* Files that are not text, by their first bytes. */
static const struct kind {
    const char *begin, *hint;
} kinds[] = {
    {"\xff\xfe", UTF_16},
    {"\xfe\xff", UTF_16},
    {"\x93NUMPY", "; this is a NumPy array, which --format npy reads"},
    {"BZh", "; this is a file of bzip2, which 'bzip2 -dc' unpacks"},
    {"\3757zXZ", "; this is a file of xz, which 'xz -dc' unpacks"},
    {"\x04\x22\x4d\x18", "; this is a file of LZ4, which 'lz4 -dc' unpacks"},
    {"PAR1",
     "; this is a Parquet file: write its columns as lines, such as with DuckDB, or give them to Python's sstore"},
    {"ARROW1", "; this is an Arrow file: write its columns as lines, or give them to Python's sstore"},
    {"SQLite format 3", "; this is a database of SQLite, of which 'sqlite3 -tabs FILE \"SELECT ...\"' makes lines"},
    {"PK\x03\x04", "; this is a ZIP file, which 'unzip -p' unpacks"},
};

const char *input_hint_of_line(const char *line, size_t length, uint64_t number)
{
    const bool is_first = number == 1;
    length = length < MAX_BYTES ? length : MAX_BYTES;
    const bool is_separated = memchr(line, ',', length) != NULL || memchr(line, ';', length) != NULL;
    for (size_t i = 0; is_first && i < sizeof kinds / sizeof *kinds; i++)
        if (begins(line, length, kinds[i].begin))
            return kinds[i].hint;
    if (length > 3 && line[0] != 0 && line[1] == 0 && line[2] != 0 && line[3] == 0)
        return UTF_16_LE;
    if (is_prose(line, length))
        return "; if this is text, 'sstore fingerprint --lines' makes a fingerprint of each line";
    if (is_binary(line, length, is_first))
        return "; this is not text; --format u64, rec or npy reads binary data";
    if (is_first && length > 0 && line[0] == '[')
        return "; if this is an array of JSON, \"jq -c '.[]'\" makes lines of it, which --format jsonl reads";
    if (length > 0 && line[0] == '{')
        return "; this is JSON, which --format jsonl reads";
    if (is_first && is_header(line, length))
        return is_separated ? "; this is the header of a CSV file: 'tail -n +2' leaves it out, and \"tr ',;' '\\t'\" "
                              "separates fields by tabs"
                            : "; if this is a header, 'tail -n +2' leaves it out";
    if (is_separated && memchr(line, '"', length) != NULL)
        return "; this is CSV with quotes: \"tr -d '\\\"' | tr ',;' '\\t'\" converts it if no field contains a "
               "separator";
    if (is_separated)
        return "; fields are separated by tabs or spaces; \"tr ',;' '\\t'\" converts CSV without quotes";
    return memchr(line, '"', length) != NULL ? "; leave out the quotes, such as with \"tr -d '\\\"'\"" : NULL;
}

const char *input_hint_of_folder(int fd)
{
    return faccessat(fd, "MANIFEST", F_OK, 0) == 0
               ? "it is a store, not an input; the STORE is the first operand, and 'sstore dump' prints its records"
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
