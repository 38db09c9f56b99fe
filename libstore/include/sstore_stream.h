/*
 * sstore_stream.h - stream matching (the paper, section 4.2). A batch of queries is held in memory, and fingerprints
 * stream past it. They need no store, and may be in files on many machines: each machine matches its own, and a
 * collection then sorts all matches. The conventions are those of sstore.h.
 */
#ifndef SSTORE_STREAM_H
#define SSTORE_STREAM_H

#include <sstore.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ===== Matchers ===== */

/* A query and a fingerprint near it. `id` is 0 if there are no ids. */
typedef struct sstore_stream_match {
    const uint64_t *query, *fingerprint;
    uint64_t id;
    uint32_t distance;
} sstore_stream_match;

/* Called for each match. */
typedef int (*sstore_stream_match_fn)(void *context, const sstore_stream_match *match);

/* A batch of queries in memory. */
typedef struct sstore_stream_matcher sstore_stream_matcher;

/* The options of a matcher. */
typedef struct sstore_stream_options {
    size_t struct_size;
    uint32_t distance;         /* 0 to 16 a word, or SSTORE_OWN_DISTANCE */
    uint32_t threads;          /* 0: all that the process may use; here and in sstore_stream_matcher_feed() */
    uint32_t fingerprint_bits; /* see "Conventions" of sstore.h */
} sstore_stream_options;

#define SSTORE_STREAM_OPTIONS_INIT                                                                                     \
    {                                                                                                                  \
        sizeof(sstore_stream_options), SSTORE_OWN_DISTANCE, 0, 0                                                       \
    }

/*
 * Hold `count` queries (at most 2^32 - 1) in memory, in any order; equal ones are held once. The array is copied. Free
 * the matcher with sstore_stream_matcher_free().
 *
 * Memory: at most distance + 1 tables of 16 bytes a query, and less than a megabyte: a million queries at distance 3
 * take 33 MB. While the tables are made, 8 bytes a query more. Feeding takes 7 MiB a thread; if a single fingerprint
 * matches more than 2^18 queries, 16 bytes more for each of these.
 *
 * With several words, a query takes 8 bytes a word. The distance is divided among the words, as the queries suggest: a
 * word that is equal or similar in many of them gets a small part, or none. Each other word has tables as above for its
 * part, and 4 to 8 bytes a query: a million queries of 256 bits at distance 31 take about 200 MB. While the tables are
 * made, 40 bytes a query and thread more; feeding takes 9 MiB a thread.
 * Errors: ARGUMENT, MEMORY.
 */
SSTORE_API sstore_status sstore_stream_matcher_create(const uint64_t *queries, size_t count,
                                                      const sstore_stream_options *options,
                                                      sstore_stream_matcher **matcher_out, sstore_error *error);

/* Match `count` fingerprints. Each is reported with each query within the distance, in any order. `ids` is NULL if they
 * have none. Several threads are faster from about 10,000 fingerprints in one call on. Calls with about a million take
 * the least time for each.
 * Errors: ARGUMENT, MEMORY; matches that were reported before it are right. If the callback stops the call, some of the
 * fingerprints were matched and some were not. Source: the paper, section 4.2; the tables are those of Norouzi, Punjani
 * and Fleet, "Fast search in Hamming space with multi-index hashing" (CVPR 2012). */
SSTORE_API sstore_status sstore_stream_matcher_feed(sstore_stream_matcher *matcher, const uint64_t *fingerprints,
                                                    const uint64_t *ids, size_t count, sstore_stream_match_fn on_match,
                                                    void *context, sstore_error *error);

/* Free a matcher. NULL is allowed. */
SSTORE_API void sstore_stream_matcher_free(sstore_stream_matcher *matcher);

/* ===== Collections ===== */

/* The matches of several matchers, to be sorted. */
typedef struct sstore_collection sstore_collection;

/* The options of a collection. */
typedef struct sstore_collection_options {
    size_t struct_size;
    uint64_t memory_bytes; /* as in sstore_write_options */
    const char *tmp_dir;   /* for matches that do not fit in memory, 8 bytes and 16 a word each; NULL: the folder that
                              TMPDIR names, or without it the working folder */
    uint32_t fingerprint_bits; /* see "Conventions" of sstore.h */
} sstore_collection_options;

#define SSTORE_COLLECTION_OPTIONS_INIT                                                                                 \
    {                                                                                                                  \
        sizeof(sstore_collection_options), 0, NULL, 0                                                                  \
    }

/* Create a collection. Free it with sstore_collection_free(). Errors: ARGUMENT (memory_bytes is neither 0 nor at least
 * 1 MiB), MEMORY, IO, NOT_FOUND (no tmp_dir). */
SSTORE_API sstore_status sstore_collection_create(const sstore_collection_options *options,
                                                  sstore_collection **collection_out, sstore_error *error);

/* Add matches, in any order and with repeats. Distances are not read, since they follow from the fingerprints. Errors:
 * ARGUMENT (after sstore_collection_report(), or a query or fingerprint that is NULL), MEMORY, IO. After the latter two
 * only sstore_collection_free() is allowed. */
SSTORE_API sstore_status sstore_collection_add(sstore_collection *collection, const sstore_stream_match *matches,
                                               size_t count, sstore_error *error);

/* Report all matches, ascending by (query, distance, fingerprint, id), each once. Can be called again. If the matches
 * of one query do not fit in memory, they are read once for each distance. Errors: ARGUMENT, MEMORY, IO. After the
 * latter two only sstore_collection_free() is allowed. */
SSTORE_API sstore_status sstore_collection_report(sstore_collection *collection, sstore_stream_match_fn on_match,
                                                  void *context, sstore_error *error);

/* Free a collection, with its temporary files. NULL is allowed. */
SSTORE_API void sstore_collection_free(sstore_collection *collection);

#ifdef __cplusplus
}
#endif

#endif /* SSTORE_STREAM_H */
