/*
 * shim.h - the parts of the binding that are in C: what is called too often for Python, and what needs a callback
 * without Python. The prefix is sspy_. Functions that take an sstore_error return an sstore_status as an int, and fill
 * the error also if memory is out here. cffi reads this file: no macros but the guard.
 */
#ifndef SSPY_SHIM_H
#define SSPY_SHIM_H

#include <sstore.h>
#include <sstore_join.h>
#include <sstore_statistics.h>
#include <sstore_stream.h>
#include <sstore_text.h>
#include <stdint.h>

/* ----- progress ----- */

/* Reports go to Python a few times a second: `report` is called with `python`, and stops the call if it returns other
 * than 0. Between two reports this takes some nanoseconds. */
typedef struct sspy_watch {
    int (*report)(void *context, const sstore_progress *progress);
    void *python;
    int64_t next; /* in ns of the monotonic clock; 0 at first */
} sspy_watch;

/* An sstore_progress_fn; `context` is an sspy_watch. */
int sspy_watch_progress(void *context, const sstore_progress *progress);

/* ----- one query ----- */

/* The answer to one query, in memory that grows and is used again. */
typedef struct sspy_answer {
    sstore_error error;
    uint64_t count; /* of all matches, also beyond the limit; not if the nearest are wanted */
    uint64_t capacity;
    uint32_t words;   /* of a fingerprint; set by the caller */
    char *bytes;      /* fingerprints, then ids, then distances: 8 * words + 12 bytes a match */
    char *columns[3]; /* of the library: room for `capacity` matches */
} sspy_answer;

/* Query, and pack the first `limit` matches, or all if it is 0; or find the `limit` nearest records, or if it is 0 all
 * at the smallest distance. Returns their number; -1: the error is filled. */
int64_t sspy_query(sstore_cursor *cursor, uint64_t fingerprint, uint32_t distance, bool nearest, uint64_t limit,
                   sspy_answer *answer);
/* As sspy_query(), for fingerprints of answer->words words. */
int64_t sspy_query_words(sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t distance, bool nearest,
                         uint64_t limit, sspy_answer *answer);
void sspy_answer_free(sspy_answer *answer);

/* ----- many results ----- */

/* Results in columns, which grow as they are filled. The caller sets column_count and widths. Free the columns by
 * sspy_columns_free(); each may be taken over, and freed by sspy_free(). */
typedef struct sspy_columns {
    uint64_t count, capacity; /* rows */
    bool done;                /* there are no more */
    uint32_t column_count;
    uint32_t widths[6]; /* bytes of a value */
    void *columns[6];
} sspy_columns;

/* What the results of an iterator are. */
typedef enum sspy_kind { SSPY_RECORDS, SSPY_MATCHES, SSPY_PAIRS, SSPY_CLUSTERS, SSPY_DROPPED } sspy_kind;

/* Append results of an iterator until there are `max_count` rows, until there are no more, or for about a tenth of a
 * second, so that the caller can look for signals. The columns are in the order of _columns.py. */
int sspy_fill(sspy_kind kind, sstore_iterator *iterator, sspy_columns *columns, uint64_t max_count,
              sstore_error *error);

/* Feed a stream matcher, and append the matches: query, fingerprint, id, distance. */
int sspy_stream_feed(sstore_stream_matcher *matcher, const uint64_t *fingerprints, const uint64_t *ids, size_t count,
                     sspy_columns *columns, sstore_error *error);
/* An sstore_absent_fn: appends the id to the first column of `context`, an sspy_columns. Stops the call only if memory
 * is out. */
int sspy_keep_absent(void *context, uint64_t id);
/* An sstore_large_group_fn: appends both numbers to the columns of `context`, an sspy_columns. Stops the call only if
 * memory is out. */
int sspy_keep_large_group(void *context, uint64_t kept_number, uint64_t record_count);
/* Insert records that are new; `names` are theirs, in a store with names, else NULL. `is_new` has `count` elements. If
 * `columns` is not NULL, `new_ids` also has as many, and gets the ids of new records, and the matches of the others are
 * appended: query (`first_index` plus the index of the record), fingerprint, id, distance. */
int sspy_dedup_insert(sstore_dedup *dedup, const uint64_t *fingerprints, const uint64_t *ids, const sstore_name *names,
                      size_t count, uint64_t first_index, bool *is_new, uint64_t *new_ids, sspy_columns *columns,
                      sstore_error *error);
/* Take at most `capacity` pairs of sstore_join_records(), and pass them on whenever there are as many, and at the end.
 * `flush` empties the columns, and stops the call by another result than 0. */
int sspy_join_records(const sstore_columns *left, size_t left_count, const sstore_columns *right, size_t right_count,
                      const sstore_record_join_options *options, sspy_columns *columns, uint64_t capacity,
                      int (*flush)(void *context), void *context, sstore_error *error);
/* Append nodes and the smallest of their components, until there are `max_count` or no more. */
int sspy_components_next(sstore_components *components, sspy_columns *columns, uint64_t max_count, sstore_error *error);
/* Append all matches of a collection. */
int sspy_collection_report(sstore_collection *collection, sspy_columns *columns, sstore_error *error);
/* Append the records that have one of `count` ids: query_index (of the id), fingerprint, id. */
int sspy_get(sstore_cursor *cursor, const uint64_t *ids, size_t count, sspy_columns *columns, sstore_error *error);
/* The same of the records whose ids have one of `count` names. */
int sspy_get_named(sstore_cursor *cursor, const sstore_name *names, size_t count, sspy_columns *columns,
                   sstore_error *error);
/* Add `count` matches of fingerprints of `words` words to a collection. `ids` may be NULL. */
int sspy_collection_add(sstore_collection *collection, const uint64_t *queries, const uint64_t *fingerprints,
                        uint32_t words, const uint64_t *ids, size_t count, sstore_error *error);

void sspy_columns_free(sspy_columns *columns);
void sspy_free(void *memory);

/* ----- Arrow ----- */

/* The structs of Arrow's C data interface and C stream interface, as their specification gives them:
 * https://arrow.apache.org/docs/format/CDataInterface.html, CStreamInterface.html. */
struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

/* The private data of a stream that is exported. */
typedef struct sspy_stream_state {
    void *source;        /* in Python */
    const char *message; /* of the last error, or NULL */
    bool is_interrupted; /* by Ctrl-C */
} sspy_stream_state;

/* ----- texts ----- */

/* Text i of an array is the bytes begins[i] .. ends[i] - 1 of `data`. There is no text if it would end before it
 * begins. */

/* Fingerprint the texts begin .. end - 1, of which those that there are not are empty. The options must say how many
 * bits a fingerprint has; each is as many words. has_features[i] tells whether text i has any. */
int sspy_fingerprint_texts(const char *data, const int64_t *begins, const int64_t *ends, size_t begin, size_t end,
                           const sstore_text_options *options, uint64_t *fingerprints, bool *has_features,
                           sstore_error *error);

/* Bytes that grow. Free `data` by sspy_free(). */
typedef struct sspy_bytes {
    char *data;
    size_t size, capacity;
} sspy_bytes;

/* As sspy_fingerprint_texts(), with options of a MinHash, of texts that begin at text `begin`; also append the set of
 * the features of each text to `sets`, for sspy_features_add(). */
int sspy_fingerprint_sets(const char *data, const int64_t *begins, const int64_t *ends, size_t begin, size_t end,
                          const sstore_text_options *options, uint64_t *fingerprints, bool *has_features,
                          sspy_bytes *sets, sstore_error *error);

/* Copy `count` texts: text i to `to` + targets[i]. */
void sspy_copy_texts(const char *data, const int64_t *begins, const int64_t *ends, size_t count, char *to,
                     const int64_t *targets);

/* The XXH3-64 of `count` texts. */
int sspy_hash_texts(const char *data, const int64_t *begins, const int64_t *ends, size_t count, uint64_t *hashes,
                    sstore_error *error);

/* Encode `count` texts of NumPy, each of `width` characters of 32 bits and zeros behind the last one, as UTF-8, one
 * after the other. `data` has room for 4 * width * count bytes. Python has bytes that are not UTF-8 as U+DC80 to
 * U+DCFF: they become these bytes. Returns `count`, or the index of the first text with something else that is no
 * character. */
size_t sspy_encode_texts(const uint32_t *characters, size_t width, size_t count, char *data, int64_t *ends);
/* Decode `count` texts in UTF-8 into such characters, at most `width` of each. */
void sspy_decode_texts(const char *data, const int64_t *begins, const int64_t *ends, size_t count, size_t width,
                       uint32_t *characters);

/* Append the names of `count` ids to `bytes`, and set begins[i] and ends[i] of those that have one. */
int sspy_names(sstore_cursor *cursor, const uint64_t *ids, size_t count, int64_t *begins, int64_t *ends,
               sspy_bytes *bytes, sstore_error *error);
/* The same, also of ids that wait in a deduplication. */
int sspy_dedup_names(sstore_dedup *dedup, const uint64_t *ids, size_t count, int64_t *begins, int64_t *ends,
                     sspy_bytes *bytes, sstore_error *error);

/* Read `count` texts of numbers and dates as the command does (core/tools/documents/document_order.h): the lower
 * orders[i], the sooner text i comes. Returns their number, or the index of the first text that is neither. */
size_t sspy_read_orders(const char *data, const int64_t *offsets, size_t count, bool is_descending, uint64_t *orders);

/* ----- similar texts ----- */

/* Sets of features in temporary files (core/tools/documents/feature_file.h), which say how similar the records of a
 * keeper are. */
typedef struct sspy_features sspy_features;

/* Begin with two descriptors of empty files, of which copies are made. Records are similar from `least` on. Free it by
 * sspy_features_free(). */
int sspy_features_create(int sets, int places, double least, sspy_features **features_out, sstore_error *error);
void sspy_features_free(sspy_features *features);
/* Add the sets of `bytes`. They are numbered from 0 as they come. */
int sspy_features_add(sspy_features *features, const sspy_bytes *bytes, sstore_error *error);
/* The next `count` records of the keeper have the sets with these numbers. */
int sspy_features_assign(sspy_features *features, const int64_t *sets, size_t count, sstore_error *error);
/* An sstore_confirm_fn and an sstore_digest_fn; `context` is an sspy_features. The distance is 1 - similarity, in parts
 * of that. */
enum { SSPY_SIMILARITY_PARTS = 1000000 };
bool sspy_features_confirm(void *context, uint64_t number, uint64_t other_number, uint32_t *distance_out);
void sspy_features_digest(void *context, uint64_t number, uint64_t digest_out[2]);
/* Whether all sets could be read; if not, the results mean nothing. */
int sspy_features_check(const sspy_features *features, sstore_error *error);

/* ----- doubts ----- */

/* The sign that rows mean something else, by which the command doubts them too (core/tools/input/input_doubt.h); NULL:
 * there is none. `ids` may be NULL. Fingerprints of `words` words have `own_bits` bits, and zeros behind them. */
const char *sspy_sign(const uint64_t *fingerprints, const uint64_t *ids, size_t count, uint32_t words,
                      uint32_t own_bits);

#endif
