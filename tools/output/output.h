/*
 * output.h - what commands print of records: tab-separated or JSON lines on a buffered stdout.
 *
 * A function that prints returns false once stdout has failed, so that its caller can stop early; the failure itself is
 * reported once, by output_close().
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "output/json.h"
#include "sstore.h"

/* How the results of queries are printed. */
typedef struct output_style {
    bool json;
    bool has_ids; /* the store has ids; an absent one is printed as '-' or null */
} output_style;

/* "query<TAB>fingerprint<TAB>distance<TAB>id", or an object with these keys. */
bool output_match(const output_style *style, uint64_t query, const sstore_match *match);

/* The same of a scan, as a callback whose context is the style. */
int output_scan_match(void *style, const sstore_stream_match *match);

/* "query<TAB>new<TAB>-<TAB>id", or an object: the answer to a record that nothing is near, and that was added. */
bool output_new_record(const output_style *style, uint64_t query, uint64_t id);

/* "query<TAB>count", or an object with these keys. */
bool output_count(const output_style *style, uint64_t query, uint64_t count);

/* "fingerprint<TAB>id<TAB>fingerprint<TAB>id<TAB>distance", or an object; either store may be without ids. */
bool output_pair(const output_style *first, const output_style *second, const sstore_pair *pair);

/* "cluster size<TAB>fingerprint<TAB>id<TAB>distance", or an object that also has the cluster's number. */
bool output_cluster_record(const output_style *style, const sstore_cluster_record *record);

/* "fingerprint<TAB>id". */
bool output_record(bool has_ids, const sstore_record *record);

/* Numbers of 64 bits, little-endian. */
bool output_words(const uint64_t *words, size_t count);

/* Hand everything printed so far to the system. */
bool output_flush(void);

/* At the process's end: flush, and end it with a message and EXIT_FAILED if anything printed was lost. */
void output_close(void);

/* Print `size` bytes. */
bool output_bytes(const char *bytes, size_t size);

/* Print a name as sstore_escape() writes it; with doubled backslashes it can be decoded. */
bool output_escaped(const char *name, bool double_backslashes);

/* Print as printf() does; which would not keep why it failed until output_close(). */
bool output_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print the version of sstore. */
void output_version(void);

/* Write 16 lower-case hex digits. Returns the end of what was written, as output_decimal() does. */
char *output_hex(char *to, uint64_t value);

/* The same as a string. Returns it. */
const char *output_hex_string(char to[17], uint64_t value);

/* Write a decimal number, at most 20 digits. */
char *output_decimal(char *to, uint64_t value);

/* Print a value, which is given up, in a line; NULL stands for no memory to make it, which is reported. */
bool output_json(json_value *value);

#endif
