/*
 * print_json.h - prints what a report's JSON form made, on a line of its own.
 */
#ifndef PRINT_JSON_H
#define PRINT_JSON_H

#include <jansson.h>

/* Print the value, which is given up, to stdout; NULL stands for no memory to make it. Returns the exit code. */
int print_json(json_t *value);

#endif
