/*
 * output.h - prints records and results on stdout, as tab-separated or JSON lines.
 *
 * A function that prints returns false if stdout has failed, so that its caller can stop early. output_close() reports
 * the failure, once. It also returns false if an id has no name; then it has printed no part of the line.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "output/json.h"
#include "output/radix_form.h"
#include "output/stored_names.h"
#include "output/walk.h"
#include "sstore.h"
#include "sstore_stream.h"

/* Whether the lines of results have a header. */
typedef enum header_mode {
    HEADER_AUTO, /* if stdout is a terminal */
    HEADER_ALWAYS,
    HEADER_NEVER
} header_mode;

/* What the lines of matches and counts have behind their usual columns, and objects as further members. */
typedef struct output_notes {
    const uint64_t *query_id; /* the id of the query; NULL: not this column */
    printed_name query_name;  /* the name of the query; without a text: not this column */
    const char *store;        /* the store that has the match, escaped; or NULL */
    uint64_t query_count;     /* the queries of a group that are near the record; or 0 */
} output_notes;

/* How results are printed. */
typedef struct output_style {
    bool json;
    bool has_ids;              /* otherwise ids are printed as '-' or null */
    bool tells_similarity;     /* fingerprints are MinHashes: distances are printed as similarities, in JSON both */
    uint32_t words;            /* of a fingerprint */
    radix_form radix;          /* of the fingerprints of matches and counts; for all others hex, the default */
    stored_names *names;       /* that lines have in the place of ids, and objects also; or NULL */
    const output_notes *notes; /* of the next line; NULL: none */
    bool headed;               /* by output_head() */
    bool aligned;              /* the same, on a terminal: fields have the width of their column */
} output_style;

/* Print the names of the columns, with tabs between them, as the first line of what is printed in this style; on a
 * terminal only once there are results. An "id" that is a name is headed "name". With HEADER_ALWAYS and JSON, the
 * process ends with a usage error. */
void output_head(output_style *style, header_mode mode, const char *columns);

/* "query<TAB>fingerprint<TAB>distance<TAB>id", or an object with these keys. */
bool output_match(const output_style *style, const uint64_t *query, const sstore_match *match);

/* Print a match of a scan: a callback whose context is the style. */
int output_scan_match(void *style, const sstore_stream_match *match);

/* "query<TAB>new<TAB>-<TAB>id", or an object: the answer of 'add --if-new' to a record that was added. */
bool output_new_record(const output_style *style, const uint64_t *query, uint64_t id);

/* "query<TAB>excluded<TAB>-<TAB>-", or an object: the answer of 'add --if-new' to a record that is left out. */
bool output_excluded_record(const output_style *style, const uint64_t *query);

/* "query<TAB>count", or an object with these keys. */
bool output_count(const output_style *style, const uint64_t *query, uint64_t count);

/* "fingerprint<TAB>id<TAB>fingerprint<TAB>id<TAB>distance", or an object. */
bool output_pair(const output_style *first, const output_style *second, const sstore_pair *pair);

/* "cluster size<TAB>fingerprint<TAB>id<TAB>distance", below a header also "<TAB>cluster"; or an object with all of
 * them. */
bool output_cluster_record(const output_style *style, const cluster_record *record);

/* "smallest<TAB>node", or an object with these keys; only the node if not `with_smallest`. */
bool output_component(const output_style *style, bool with_smallest, uint64_t smallest, uint64_t node);

/* "fingerprint<TAB>id". */
bool output_record(const output_style *style, const uint64_t *fingerprint, uint64_t id);

/* Is stdout a terminal? Tables for people then fit 80 columns. */
bool output_is_terminal(void);

bool output_flush(void);

/* If the process fails, end its output with these bytes, unless stdout is a terminal: no command takes such rows, so in
 * a pipeline a part is not taken for all. NULL: there is no such end. */
void output_set_failure_mark(const char *mark);

#define OUTPUT_FAILURE_LINE "# failed: these are not all rows\n" /* in text */
#define OUTPUT_FAILURE_BYTES "failed\n"                          /* in words: no whole one */

/* At the end of the process, with that exit code: flush. If any output was lost, print a message and exit with
 * EXIT_FAILED. A handler of on_exit(). */
void output_close(int code, void *unused);

bool output_bytes(const char *bytes, size_t size);

/* Print a name escaped by sstore_escape(); with doubled backslashes it can be decoded. */
bool output_escaped(const char *name, size_t length, bool double_backslashes);

/* Print a name as name_escape() writes it. */
bool output_name(const char *name, size_t length);

/* Print as printf() does, and keep the errno of a failure for output_close(). */
bool output_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

void output_version(void);

/* Print a line with a JSON value, and free it. NULL stands for a lack of memory, which is reported. */
bool output_json(json_value *value);

#endif
