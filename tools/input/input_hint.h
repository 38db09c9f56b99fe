/*
 * input_hint.h - recognises inputs of another kind than expected, and says what to do with them.
 */
#ifndef INPUT_HINT_H
#define INPUT_HINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INPUT_BOM "\xef\xbb\xbf" /* UTF-8's byte order mark, which some programs write before the first line */
#define INPUT_BOM_BYTES (sizeof INPUT_BOM - 1)

/* A command for shells that makes JSON Lines of CSV with a header, also with a BOM and large fields. */
#define INPUT_CSV_TO_JSON(delimiter)                                                                                   \
    "python3 -c \"import csv,json,sys;csv.field_size_limit(sys.maxsize);[print(json.dumps(row)) for row in "           \
    "csv.DictReader(open(sys.argv[1],encoding='utf-8-sig',newline=''),delimiter='" delimiter "')]\" "

/* For an object whose keys are names and whose values are fingerprints. */
#define INPUT_NAMES_TO_LINES                                                                                           \
    "if the keys are names, \"jq -r '.[]'\" prints their fingerprints, and \"jq -r 'keys_unsorted[]'\" the names"

/* For an array of strings. */
#define INPUT_STRINGS_TO_LINES "\"jq -r '.[]'\" prints the strings of an array as lines"

/* Does the list of json_first_keys() begin with a name of a file? */
bool input_hint_is_name(const char *keys);

/* Does a text begin with it? Then INPUT_BOM_BYTES, otherwise 0. */
size_t input_hint_bom_bytes(const char *text, size_t length);

/* What a malformed line seems to be, and the remedy, without "; ". NULL: it looks like a usual line. `number` is the
 * line's, from 1. */
const char *input_hint_of_line(const char *line, size_t length, uint64_t number);

/* What a file is that was given as text but is none, by its first bytes, and the remedy, without "; ". NULL:
 * unknown. `has_zeros`: they contain bytes 0. */
const char *input_hint_of_no_text(const char *bytes, size_t length, bool has_zeros);

/* May a name, of which there is no file, be meant as a fingerprint or id? */
bool input_hint_is_number(const char *path);

/* Is a folder, which `fd` has open, a store? */
bool input_hint_is_store(int fd);

/* The reason why a folder, which `fd` has open, is no input, and the remedy. */
const char *input_hint_of_folder(int fd);

/* If stdin is a terminal, tell the person there that the command waits for input, and show no progress. */
void input_hint_of_terminal(int fd);

#endif
