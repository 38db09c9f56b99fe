/*
 * input_hint.h - recognises inputs of another kind than expected, and says what to do with them.
 */
#ifndef INPUT_HINT_H
#define INPUT_HINT_H

#include <stddef.h>
#include <stdint.h>

#define INPUT_BOM "\xef\xbb\xbf" /* UTF-8's byte order mark, which some programs write before the first line */
#define INPUT_BOM_BYTES (sizeof INPUT_BOM - 1)

/* Does a text begin with it? Then INPUT_BOM_BYTES, otherwise 0. */
size_t input_hint_bom_bytes(const char *text, size_t length);

/* What a malformed line seems to be, and the remedy, as the end of a message; NULL if it looks like a usual line.
 * `number` is that of the line, from 1. */
const char *input_hint_of_line(const char *line, size_t length, uint64_t number);

/* The reason why a folder, which `fd` has open, is no input, and the remedy. */
const char *input_hint_of_folder(int fd);

/* If stdin is a terminal, tell the person there that the command waits for input, and show no progress. */
void input_hint_of_terminal(int fd);

#endif
