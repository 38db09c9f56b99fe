/*
 * input_json.h - the grammar of one line of JSON Lines: an object with a fingerprint, and perhaps an id, under any
 * keys.
 */
#ifndef INPUT_JSON_H
#define INPUT_JSON_H

#include "input/input_line.h"
#include "output/json_members.h"

/*
 * Read a line as line_parse() does. The columns only say whether there is an id, and whether it may be missing. A
 * string holds a fingerprint in the radix of the format, or a decimal id. A number is decimal, and has 64 bits. An
 * array of eight bytes for each word is a fingerprint, the most significant byte first.
 */
bool json_line_parse(const line_format *format, const char *line, size_t length, line_record *record_out,
                     line_fault *fault);

/* Read the value of a key as the fingerprint of such a line. */
bool json_fingerprint_parse(const line_format *format, const json_member *member, line_record *record,
                            line_fault *fault);

#endif
