/*
 * sstore.h - find every stored fingerprint within a Hamming distance of a given one.
 *
 * A store is a folder of compressed, checksummed, immutable files. It consists of segments; each is written once and
 * then never changed. Any number of processes and threads can read a store while one process adds to it or removes from
 * it. A store holds a set of records (fingerprint, id), or a set of fingerprints alone. A query returns exactly the
 * records within the given distance: it misses none and returns none twice. The method is that of Manku, Jain and Das
 * Sarma, "Detecting Near-Duplicates for Web Crawling" (WWW 2007), section 3, "the paper" below. format-spec/ describes
 * every byte of the files.
 *
 * Conventions
 *  - A fingerprint has 64 bits, or another multiple of 64 up to 1,024: then it is as many words of 64 bits, the most
 *    significant one first. All fingerprints of a store have the same number of words. Arrays of `count` fingerprints
 *    have count * words elements, one fingerprint after the other. Bit 0 is the most significant bit, as in the paper.
 *    Only plans depend on this.
 *  - In results that a callback gets, `fingerprint` points to all words of a fingerprint.
 *  - A function that can fail returns an sstore_status and takes an sstore_error, which may be NULL. It fills the error
 *    if it fails, and does not touch it otherwise.
 *  - Options are structs that begin with struct_size, and have an initializer with the defaults. NULL stands for the
 *    defaults. A struct may grow in later versions, always at its end: see "Structs that grow" below.
 *  - In options, fingerprint_bits is 64, or another multiple of 64 up to 1,024. 0 is the default: the bits of the
 *    store, or 64 without a store or for a new one. If there is a store, another number than its own is an invalid
 *    argument.
 *  - Handles are opaque. The function that creates one says which function frees it. Freeing NULL is allowed. If
 *    creation fails, the handle is NULL.
 *  - The library never prints, exits, changes signal handlers or keeps global state. A process under RLIMIT_FSIZE that
 *    writes stores, or runs joins, should ignore SIGXFSZ. The call then fails with IO and EFBIG; otherwise the signal
 *    ends the process.
 *  - Threads: an sstore is immutable, and all threads of a process may share it without locks. Every other handle, and
 *    an sstore_error, belongs to one thread at a time. After fork() a child may continue to use a store that its parent
 *    opened. Every other handle belongs to the process that created it.
 *  - Callbacks run in the caller's thread, during the call that they were given to. They return 0 to continue. Any
 *    other value stops the call, which returns SSTORE_STOPPED. Pointers that a callback gets are valid until it
 *    returns. It must not use the handle that it is called from.
 *  - "Errors" lists the statuses that a call can return, without SSTORE_ERROR_. Two are not listed: a call with options
 *    or columns can also return UNSUPPORTED, see "Structs that grow"; one with a callback or on_progress also STOPPED.
 *
 * Structs that grow
 *  - struct_size is the size that the caller was compiled with. The library accepts every size from that of version 1
 *    on. If options are smaller than the library's, the missing fields have their defaults. If they are larger, all
 *    bytes that the library does not know must be 0; otherwise the call fails with UNSUPPORTED. If a result is smaller
 *    than the library's, only its own fields are filled; if it is larger, the rest is set to 0.
 *  - Structs without struct_size never change.
 *
 * Other headers with the same conventions
 *  - sstore_statistics.h: the contents of a store, the work of a query, and the choice of a plan
 *  - sstore_join.h: near pairs and clusters of stores, and of records in memory
 *  - sstore_stream.h: fingerprints that stream past a batch of queries
 *  - sstore_text.h: fingerprints of text, in a library of their own
 */
#ifndef SSTORE_H
#define SSTORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SSTORE_VERSION_MAJOR 0
#define SSTORE_VERSION_MINOR 1
#define SSTORE_VERSION_PATCH 0
#define SSTORE_VERSION_STRING "0.1.0"
/* Ascends from version to version: 10,000 for each major one, 100 for each minor one. */
#define SSTORE_VERSION_NUMBER (SSTORE_VERSION_MAJOR * 10000 + SSTORE_VERSION_MINOR * 100 + SSTORE_VERSION_PATCH)

#if defined(__GNUC__)
#define SSTORE_API __attribute__((visibility("default")))
#else
#define SSTORE_API
#endif

#define SSTORE_MAX_WORDS 16          /* of a fingerprint */
#define SSTORE_MAX_DISTANCE 64       /* a word: between two fingerprints, and of a query */
#define SSTORE_MAX_BUILD_DISTANCE 16 /* a word: of a store; also of deduplication, joins and stream matchers */
#define SSTORE_DEFAULT_DISTANCE 3    /* see the next one */
/* The default in options: the store's own distance; of two stores, the smaller one; without a store, or for a new one,
 * SSTORE_DEFAULT_DISTANCE. */
#define SSTORE_OWN_DISTANCE UINT32_MAX

/* The version of the library that runs, such as "0.1.0". Static storage. */
SSTORE_API const char *sstore_version(void);

/* ===== Status and errors ===== */

/* The result of a call. The numbers never change. New ones are added in the gaps. */
typedef enum sstore_status {
    SSTORE_OK = 0,
    SSTORE_STOPPED = 1, /* a callback stopped the call; this is not an error */

    SSTORE_ERROR_ARGUMENT = 10, /* an argument is out of range, or the calls came in the wrong order */
    SSTORE_ERROR_MEMORY = 11,   /* an allocation failed */

    SSTORE_ERROR_IO = 20,        /* a file operation failed: see system_errno */
    SSTORE_ERROR_NOT_FOUND = 21, /* there is no store at the path */
    SSTORE_ERROR_EXISTS = 22,    /* there is already something at the path */
    SSTORE_ERROR_BUSY = 23,      /* another call, perhaps of another process, is writing to the store */

    SSTORE_ERROR_DAMAGED = 40,     /* a file does not hold what was written to it: see file and offset */
    SSTORE_ERROR_UNSUPPORTED = 41, /* this library does not know the format version, feature, field or width */
    SSTORE_ERROR_RECIPE = 42       /* the store's fingerprints were made by another recipe than the expected one */
} sstore_status;

/* The name of a status in lower-case words, for logs: "ok", "damaged", ... Static storage; never NULL. */
SSTORE_API const char *sstore_status_name(sstore_status status);

#define SSTORE_NO_OFFSET UINT64_MAX /* the offset of an error that has no place in a file */

/* The details of an error. Plain data, owned by the caller. */
typedef struct sstore_error {
    sstore_status status;
    int system_errno;   /* errno of the failed system call, or 0 */
    uint64_t offset;    /* in bytes within `file`, or SSTORE_NO_OFFSET */
    char file[512];     /* the file concerned, or "". Not escaped: use sstore_escape() before you show it */
    char message[1024]; /* for people: the file, the reason and what to do. Escaped as by sstore_escape() */
} sstore_error;

/*
 * Escape a text of `length` bytes, so that it is safe to show on a terminal, in a log or in a column. Terminals obey
 * some characters instead of showing them: control characters (U+0000 to U+001F, U+007F to U+009F), direction marks,
 * overrides and isolates (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), and line and paragraph
 * separators (U+2028, U+2029). A zero-width space, a word joiner and a byte order mark (U+200B, U+2060, U+FEFF) are
 * invisible. Each byte of these characters, and each byte that is not UTF-8, becomes \xNN with two lower-case hex
 * digits. All other characters stay.
 *
 * With `double_backslashes`, a backslash becomes two. The text can then be decoded without ambiguity: "\\" is a
 * backslash, and \xNN is that byte. Without it, an escaped text does not change if it is escaped again.
 *
 * Writes at most `size` bytes with the closing 0, and never a part of a character. `buffer` may be NULL if `size` is 0.
 * Returns the whole length without the closing 0, as snprintf does: at most 4 * length.
 */
SSTORE_API size_t sstore_escape(const char *text, size_t length, bool double_backslashes, char *buffer, size_t size);

/* ===== Opening a store ===== */

/* An open store: one published state of it. */
typedef struct sstore sstore;

/*
 * How blocks are read. All modes give the same answers.
 *  - PREAD: each block is read by pread() and checked whenever it is read (a cursor may keep a few). A disk fault is
 *    always an error code. Small files of word indexes are closed, and the system copies their blocks from a map, with
 *    the same checks and errors: a store of many words has more files than a process may open.
 *  - MMAP: files are mapped. A block is read and checked before its first use; later changes are not noticed. If a
 *    block cannot be read then, the call fails. One risk remains: if a file is cut short after its block was read, or
 *    the system took back the block's memory and the disk then fails, the next access to that block ends the process
 *    with SIGBUS. Mapped pages count as resident. Files of at most 16 KiB are copied into memory when the store is
 *    opened.
 *  - MEMORY: all block files are loaded and checked when the store is opened. Takes the store's size in memory.
 *  - AUTO, the default: MMAP if all files fit into half of the memory limit, otherwise PREAD. The limit is the smallest
 *    of the machine's memory, RLIMIT_AS, the limits of the process's memory cgroups, and max_memory_bytes if it is set.
 *    If the buffers of PREAD exceed max_memory_bytes, AUTO chooses MMAP. sstore_reopen() keeps the chosen mode.
 */
typedef enum sstore_io { SSTORE_IO_AUTO = 0, SSTORE_IO_PREAD = 1, SSTORE_IO_MMAP = 2, SSTORE_IO_MEMORY = 3 } sstore_io;

/* How queries are answered. All strategies give the same answers. Use AUTO, except to measure and test. */
typedef enum sstore_strategy {
    SSTORE_STRATEGY_AUTO = 0,     /* the default: probes or a full scan, whichever is expected to cost less */
    SSTORE_STRATEGY_PROBE = 1,    /* probes in each segment in which they are expected to take less than 0.4 s */
    SSTORE_STRATEGY_FULL_SCAN = 2 /* a full scan of one table for every query */
} sstore_strategy;

/* The options of sstore_open(). */
typedef struct sstore_open_options {
    size_t struct_size;
    sstore_io io;
    sstore_strategy strategy;
    const char *recipe;        /* if not NULL, the call fails with RECIPE unless the store has exactly this recipe */
    uint64_t max_memory_bytes; /* if not 0, the call fails with MEMORY before it loads anything if the store, with one
                                  cursor, would take more. Mapped pages and page tables are not counted */
} sstore_open_options;

#define SSTORE_OPEN_OPTIONS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(sstore_open_options), SSTORE_IO_AUTO, SSTORE_STRATEGY_AUTO, NULL, 0                                     \
    }

/*
 * Open the store at `path` for reading. Checks the manifest, the size and header of every file, and the whole
 * directory, which it loads into memory. The handle shows the state that was published when it was opened, whatever
 * writers do later.
 *
 * Memory of an open store
 *  - PREAD: the directory, which has 8 bytes for each block of a table or of the ids, and 8 more for each block of
 *    table 0. A store of 100 million fingerprints in 3 tables of 4 KiB blocks takes about 5 MiB; with blocks of 64 KiB
 *    a sixteenth of that. Also 1 to 2 bytes a block and 20 KiB a table.
 *  - MMAP: the same, the copies of block files of at most 16 KiB, and the pages of the others that were touched. The
 *    system takes these pages back when it needs them, but not their page tables, which take a five-hundredth of them.
 *  - MEMORY: the same as PREAD, and all block files.
 *
 * Each segment also takes about 20 KiB, and a file descriptor for each table, for the ids and for the directory. With
 * more than 64 bits, each word index of a segment (one a word, unless the segment only removes) takes the same, and so
 * does an id index. In a store with names, each segment takes the same once more for its names, and a cursor up to 200
 * KiB more. No descriptor is kept for a directory of at most 64 KiB, for any block file in mode MEMORY, for one of at
 * most 1 MiB in mode MMAP, and for one of an index of at most 1 MiB in mode PREAD. (Those of 1 MiB are kept if the
 * system lacks MADV_POPULATE_READ or process_vm_readv().) The store's folder takes one more, and opening up to three
 * more. If the process may not open as many, the call fails with IO and EMFILE.
 *
 * The directory is copied into a memfd, which counts against RLIMIT_FSIZE; if it does not fit, the call fails with IO
 * and EFBIG. The copy is opened by /proc/self/fd, so /proc must be mounted.
 *
 * A store may be malicious, with correct checksums. Its answers may then be wrong, but no call accesses memory out of
 * bounds, and no call reports a record twice. No call takes more memory than 8 MiB and eight bytes for each byte of the
 * store's files, in addition to the stated memory of a batch or a join. Each call ends: SECURITY.md states how many
 * reads a query may make.
 *
 * If a directory is lost or damaged, the call fails; sstore_reindex() rebuilds it. Close the handle with
 * sstore_close().
 * Errors: ARGUMENT, MEMORY, IO, NOT_FOUND, DAMAGED, UNSUPPORTED, RECIPE. Source: format-spec/sstore-format.md, "A
 * reader's duties".
 */
SSTORE_API sstore_status sstore_open(const char *path, const sstore_open_options *options, sstore **store_out,
                                     sstore_error *error);

/* Open the newest state of an open store, with its options and read mode, as a new handle. The old handle keeps
 * showing its own state. Either may be closed first. The handles share the segments that both states have, so this
 * takes little time and memory if little was added. The store is found by its folder, even if its path has changed.
 * Errors: as sstore_open(); RECIPE if a store of another recipe has replaced it. */
SSTORE_API sstore_status sstore_reopen(const sstore *store, sstore **store_out, sstore_error *error);

/* Whether no writer has published another state since the handle was opened. False also if that cannot be found out:
 * sstore_reopen() then tells why. Takes a system call or two. `store` must not be NULL. */
SSTORE_API bool sstore_is_newest(const sstore *store);

/* The bits of a fingerprint of a store: 64 a word. `store` must not be NULL. */
SSTORE_API uint32_t sstore_fingerprint_bits(const sstore *store);

/* How the fingerprints were made: the whole recipe as it was given, of at most 4,096 bytes, or "". It belongs to the
 * store and stays valid until sstore_close(). NULL if `store` is. */
SSTORE_API const char *sstore_recipe(const sstore *store);

/* Close a store. Free its cursors and iterators first. */
SSTORE_API void sstore_close(sstore *store);

/* The scratch memory of the queries of one thread. */
typedef struct sstore_cursor sstore_cursor;

/* Create a cursor. It takes about 20 KiB, and for each segment 0.1 KiB and 0.3 KiB a word. In mode PREAD it also takes
 * up to 80 blocks, with several words 97 (388 KiB with blocks of 4 KiB), and some for each segment that can have
 * records of older ones; in a store with names, up to 200 KiB more. Free it with sstore_cursor_free() before its store
 * is closed. Errors: ARGUMENT, MEMORY. */
SSTORE_API sstore_status sstore_cursor_create(const sstore *store, sstore_cursor **cursor_out, sstore_error *error);

/* Free a cursor. */
SSTORE_API void sstore_cursor_free(sstore_cursor *cursor);

/* Asked whether a query should stop. Returns 0 to continue. */
typedef int (*sstore_stop_fn)(void *context);

/* Ask `should_stop` during the queries of a cursor, so that a service can limit their time: before each 64 or fewer
 * probes, after each block of a full scan, and in look-ups of ids and names after each 1,024 records or fewer. If it
 * does not return 0, the query returns STOPPED; the matches that it has reported are right. NULL, the default: never.
 * `cursor` must not be NULL. */
SSTORE_API void sstore_cursor_set_stop(sstore_cursor *cursor, sstore_stop_fn should_stop, void *context);

/*
 * Which records queries report, by their ids, such as those of a time or of a tenant. Others are neither counted nor
 * limited nor among the nearest. `struct_size` is set by the caller.
 *
 * Only the ids of near fingerprints are tested, so a filter saves no blocks of tables. Of a fingerprint with many ids,
 * those below min_id are skipped in a few reads, and those above max_id are not read. To count the others, they are
 * read.
 */
typedef struct sstore_id_filter {
    size_t struct_size;
    uint64_t min_id, max_id;      /* both are included */
    const uint64_t *excluded_ids; /* an id for each query: records with it are left out. NULL: none. So the record that
                                     a query was made of is not its own match */
} sstore_id_filter;

#define SSTORE_ID_FILTER_INIT                                                                                          \
    {                                                                                                                  \
        sizeof(sstore_id_filter), 0, UINT64_MAX, NULL                                                                  \
    }

/* Set the filter of the later queries of a cursor: sstore_query(), sstore_query_columns() and sstore_query_nearest().
 * It is copied, with its one excluded id. NULL, the default: they report all records. `cursor` must not be NULL.
 * Errors: ARGUMENT (a store without ids; min_id is above max_id). The filter then stays as it was. */
SSTORE_API sstore_status sstore_cursor_set_filter(sstore_cursor *cursor, const sstore_id_filter *filter,
                                                  sstore_error *error);

/* The number of blocks that the queries of a cursor have read so far. `cursor` must not be NULL. */
SSTORE_API uint64_t sstore_cursor_block_count(const sstore_cursor *cursor);

/* ===== Progress of long calls ===== */

/*
 * The phases of a call, in `phase`:
 *  - builds: "sorting" crowded buckets, "counting" records or a table's fingerprints, "writing" a table (table 0 with
 *    the ids), "permuting" table 0 for another table; with several words "dividing" the fingerprints into one of their
 *    words, and then the phases of that word's index; with an id index, the same for the ids; with names, "naming" the
 *    ids twice, and then the phases of the name index
 *  - batches of queries: "answering" queries; `done` rises after each round of up to 2^20 of them
 *  - sstore_verify(): "verifying" tables, ids and records
 *  - sstore_reindex(): "indexing" a table (table 0 with the ids)
 *  - joins: "reading" fingerprints of several words, "permuting" and "comparing" fingerprints, once for each of some
 *    tables, "connecting" near fingerprints, "identifying" their records, and "reporting" them
 *  - calls that write: "waiting" for another writer, with wait_ms
 */
typedef struct sstore_progress {
    size_t struct_size;
    const char *phase;    /* one word in static storage */
    uint64_t done, total; /* records, fingerprints or queries, in this phase */
    double fraction;      /* of the work of the call, 0 to 1: an estimate */
    uint32_t table;       /* from 0 */
    uint32_t table_count; /* 0 until the plan is chosen, and in batches */
} sstore_progress;

/* Called after each block or few thousand records: up to a few hundred thousand times a second. A slow callback should
 * skip most calls. If it stops the call, the call undoes its unpublished work. */
typedef int (*sstore_progress_fn)(void *context, const sstore_progress *progress);

/* ===== Results in columns ===== */

/*
 * Arrays for results, one for each field. NULL: this field is not wanted. An array that the results of a call do not
 * have is an invalid argument. Each array has room for as many results as the capacity that is given with it;
 * `fingerprint` and `other_fingerprint` for as many fingerprints, of all their words.
 */
typedef struct sstore_columns {
    size_t struct_size;
    uint64_t *fingerprint, *id;             /* ids are 0 in a store without ids */
    uint32_t *distance;                     /* of matches, pairs, clusters and dropped records */
    uint64_t *query_index;                  /* of matches: 0 for a single query */
    uint64_t *other_fingerprint, *other_id; /* of pairs; the id also of dropped records */
    uint64_t *cluster, *cluster_size;       /* of clusters, as the next one */
    bool *is_representative;
} sstore_columns;

#define SSTORE_COLUMNS_INIT                                                                                            \
    {                                                                                                                  \
        sizeof(sstore_columns), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL                                   \
    }

/*
 * Results of one call, in order, which the caller gets in parts: sstore_iterate_matches(), sstore_iterate_records(),
 * sstore_iterate_pairs(), sstore_iterate_clusters(), sstore_keeper_finish(). Several iterators of a store do not
 * disturb each other, and each belongs to one thread at a time. Free it with sstore_iterator_free(), at any time,
 * before its stores are closed. If it was created with on_progress, its later calls also report to it, and can be
 * stopped by it.
 */
typedef struct sstore_iterator sstore_iterator;

/* Fill the columns with the next results, at most `capacity` (at least 1), and set *count_out to their number. It is
 * less than `capacity` only at the end, and 0 after the last result, also if asked again. If `columns` is NULL, results
 * are passed over. If the call fails, the first *count_out results are right, and only sstore_iterator_free() is
 * allowed after it. Arguments that are refused change nothing: another call with others is allowed.
 * Errors: ARGUMENT; those that the creating call states for sstore_iterator_next(), otherwise its own. */
SSTORE_API sstore_status sstore_iterator_next(sstore_iterator *iterator, const sstore_columns *columns, size_t capacity,
                                              size_t *count_out, sstore_error *error);

/* Free an iterator. What it has filled stays. */
SSTORE_API void sstore_iterator_free(sstore_iterator *iterator);

/* ===== Queries ===== */

/* One matching record. */
typedef struct sstore_match {
    uint64_t query_index;        /* of the query in a batch, or 0 */
    const uint64_t *fingerprint; /* of as many words as the store's */
    uint64_t id;                 /* 0 in a store without ids */
    uint32_t distance;
} sstore_match;

/* Called once for every match. */
typedef int (*sstore_match_fn)(void *context, const sstore_match *match);

/*
 * Report every record whose fingerprint is within `distance` (0 to 64 a word) of `fingerprint`, exactly once.
 * `fingerprint` has as many words as the store's fingerprints (sstore_fingerprint_bits()), which the call cannot check.
 * A fingerprint with several ids is reported once for each id. A query without a match reports nothing and succeeds.
 * The matches are not sorted. But equal calls, on equal stores that were opened with equal options, report them in the
 * same order.
 *
 * Within the distance that the store was built for, a query reads a few blocks of each table. Beyond it, a query reads
 * more, up to a full scan of one table if that is expected to cost less. Allocates nothing.
 * Errors: ARGUMENT, IO, DAMAGED. Matches that were reported before an error are right. Source: the paper, section 3.1.
 */
SSTORE_API sstore_status sstore_query(sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t distance,
                                      sstore_match_fn on_match, void *context, sstore_error *error);

/* Find every record within the distance, as sstore_query(), into columns. They get the first `capacity` matches by
 * (distance, fingerprint, id), in this order. Sets *match_count_out to the number of all matches. So `capacity` also
 * limits the work: of a fingerprint with many ids, only the first ones are read, and the others are counted. To get all
 * matches, call it again with larger columns. The order ignores columns that are NULL. If `columns` is NULL, matches
 * are only counted. Errors: as sstore_query(). */
SSTORE_API sstore_status sstore_query_columns(sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t distance,
                                              const sstore_columns *columns, size_t capacity, uint64_t *match_count_out,
                                              sstore_error *error);

/*
 * Find the `capacity` records that are nearest to `fingerprint`, or all if they are fewer, of those within
 * `max_distance` (0 to 64 a word). They fill the columns, ascending by (distance, fingerprint, id), and their number is
 * *count_out: the same records as the first ones of sstore_query_columns(), which also counts the others. Unless
 * `capacity` is 0, `columns` and its member `distance` must not be NULL.
 *
 * The distance grows, from that which the store was built for, until enough records are found, or until a full scan is
 * expected to cost less. To get all records at the smallest distance, find one, and then all within its distance.
 * Allocates nothing. Errors: as sstore_query().
 */
SSTORE_API sstore_status sstore_query_nearest(sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t max_distance,
                                              const sstore_columns *columns, size_t capacity, uint64_t *count_out,
                                              sstore_error *error);

/* The options of sstore_iterate_matches(). */
typedef struct sstore_batch_options {
    size_t struct_size;
    uint32_t threads; /* 0: all that the process may use */
    bool count_only;  /* only fill match_counts, which must not be NULL: the iterator has no results, and its first
                         sstore_iterator_next() answers all queries */
    sstore_progress_fn on_progress;
    void *progress_context;
    uint64_t *block_count;  /* the number of blocks that are read is added to it whenever queries are answered, until
                               the iterator is freed; NULL: it is not wanted */
    uint64_t limit;         /* report at most this many matches of each query, the first ones; 0: all. Of the ids of a
                               fingerprint, no more are read. Without match_counts, nor of the matches: then distances
                               may grow as in sstore_query_nearest() */
    uint64_t *match_counts; /* an element for each query: gets the number of all its matches, also beyond `limit`,
                               before they are reported. NULL: not wanted. It must outlive the iterator */
    uint64_t memory_bytes;  /* limit of memory, without the open store and match_counts; 0: as stated below. Enforced
                               from 64 MiB up */
    const sstore_id_filter *filter; /* or NULL. It is copied, but not its excluded_ids, which has an element for each
                                       query and must outlive the iterator. Fails with ARGUMENT in a store without
                                       ids, or if min_id is above max_id */
} sstore_batch_options;

#define SSTORE_BATCH_OPTIONS_INIT                                                                                      \
    {                                                                                                                  \
        sizeof(sstore_batch_options), 0, false, NULL, NULL, NULL, 0, NULL, 0, NULL                                     \
    }

/*
 * Begin to answer `count` queries on several threads. The iterator has their matches: query_index, which is the index
 * in `fingerprints`, fingerprint, id and distance. They come in the order of the queries, those of one query ascending
 * by (distance, fingerprint, id). Nothing is answered before the first sstore_iterator_next(). Until the iterator is
 * freed, the store and `fingerprints`, which is not copied, must stay.
 *
 * Queries are answered one by one, by passes over the tables, or by one full scan for all of them, whichever is
 * expected to take the least time. Memory, for any `count`: 40 bytes for each of up to 2^20 queries, 8 MiB a thread,
 * and 170 bytes for each of up to 2^21 matches; with a limit and without match_counts, half as many matches, which are
 * copied, as are the fingerprints of these queries. A single query with more matches is answered in parts, each by
 * another search. With several words, each word is also searched as such a batch of its own. With memory_bytes, fewer
 * queries are answered together, on fewer threads.
 * Errors: ARGUMENT, MEMORY; of sstore_iterator_next(): as sstore_query(), and MEMORY.
 */
SSTORE_API sstore_status sstore_iterate_matches(const sstore *store, const uint64_t *fingerprints, size_t count,
                                                uint32_t distance, const sstore_batch_options *options,
                                                sstore_iterator **iterator_out, sstore_error *error);

/* The number of bits in which two fingerprints of `fingerprint_bits` bits differ: 64, or another multiple of 64. */
SSTORE_API uint32_t sstore_hamming_distance(const uint64_t *a, const uint64_t *b, uint32_t fingerprint_bits);

/* ===== Records by id, and names ===== */

/* A name of an id, such as the path or URL of a document: 1 to SSTORE_MAX_NAME_BYTES bytes, any but NUL and newline. It
 * is not terminated. */
typedef struct sstore_name {
    const char *bytes;
    size_t size;
} sstore_name;

#define SSTORE_MAX_NAME_BYTES 65536

/*
 * Report every record that has one of `count` ids, in any order, also repeated: query_index is that of the id in `ids`,
 * the distance is 0. An id that no record has reports nothing. Several records may have an id.
 *
 * With an id index (see sstore_write_options), the ids are looked up in their order. Each takes about two reads a
 * segment, and two for each record. The records of one id come in no particular order. Allocates nothing. Without an id
 * index, all records of the store are read, and come ascending by (fingerprint, id). This takes 50 KiB for each segment
 * (with blocks of 4 KiB), and 33 bytes for each id, or one if the ids ascend strictly.
 * Errors: ARGUMENT (a store without ids), MEMORY, IO, DAMAGED. Records that were reported before an error are right.
 */
SSTORE_API sstore_status sstore_get(sstore_cursor *cursor, const uint64_t *ids, size_t count, sstore_match_fn on_match,
                                    void *context, sstore_error *error);

/* Report every record whose id has one of `count` names, in any order, also repeated: query_index is that of the name
 * in `names`, the distance is 0. A name that no record has reports nothing. Several ids may have a name, if they were
 * given, and several records an id. The records come in no particular order. A name takes two reads a segment, one for
 * each id and those of sstore_get() for its records. Names are looked up 4,096 at a time, so that many whose hashes
 * were made to agree take little longer. The call allocates 36 bytes for each of these names.
 * Errors: ARGUMENT (a store without names; an element of `names` that cannot be a name), MEMORY, IO, DAMAGED. Records
 * that were reported before an error are right. */
SSTORE_API sstore_status sstore_get_named(sstore_cursor *cursor, const sstore_name *names, size_t count,
                                          sstore_match_fn on_match, void *context, sstore_error *error);

/* Called for an id that has a name: `index` is that of the id in the call's array. */
typedef int (*sstore_name_fn)(void *context, size_t index, uint64_t id, const sstore_name *name);

/* Report the names of `count` ids, in any order and with repeats, such as those of matches. All records of the store
 * have names, if it has any; an id that no record has reports none, or, until all segments are compacted, that of a
 * record which was removed. Many ids of one call take less time for each. Allocates nothing.
 * Errors: ARGUMENT (a store without names), IO, DAMAGED. Names that were reported before an error are right. */
SSTORE_API sstore_status sstore_names(sstore_cursor *cursor, const uint64_t *ids, size_t count, sstore_name_fn on_name,
                                      void *context, sstore_error *error);

/* ===== All records ===== */

/* Begin to read all records of a store, ascending by (fingerprint, id). The iterator has these two columns; the store
 * must stay open. Memory: about 50 KiB for each segment (with blocks of 4 KiB). Errors, also of sstore_iterator_next():
 * ARGUMENT, MEMORY, IO, DAMAGED. */
SSTORE_API sstore_status sstore_iterate_records(const sstore *store, sstore_iterator **iterator_out,
                                                sstore_error *error);

/* ===== Building a store ===== */

/* A build or an addition that is not finished. */
typedef struct sstore_builder sstore_builder;

/*
 * The changes that a call made to a store.
 *
 * conflict_count, with check_ids: the number of ids of added records that another record of the store also has, with
 * another fingerprint. Two documents may have the same id by mistake. If documents can have several fingerprints, this
 * is expected. If ids_checked is false, there may be more.
 *
 * ids_checked: every id of an added record that can conflict was looked up. An id above all ids before it cannot.
 * Limits: about 3,800 ids for each MiB of memory_bytes, and at most a million; a few hundred segments; older segments
 * of at most 2 million records plus 16 for each added one, unless the number of the store's records is at least half of
 * its next id.
 */
typedef struct sstore_change {
    size_t struct_size;          /* set by the caller */
    uint64_t given_count;        /* records, fingerprints, ids or names that were given, with repeats; of a merge, the
                                    records of the inputs; of a compaction 0 */
    uint64_t added_count;        /* records that the store did not have and has now. An addition ignores present and
                                    repeated ones */
    uint64_t removed_count;      /* records that the store had and does not have now */
    uint64_t record_count;       /* of the store now, as the next two */
    uint64_t total_bytes;        /* of all files */
    uint64_t total_bytes_before; /* 0 for a new store, as segment_count_before */
    uint64_t conflict_count;     /* see above */
    uint64_t min_conflicting_id; /* the smallest of the conflicting ids */
    uint32_t segment_count;      /* now */
    uint32_t segment_count_before;
    bool ids_checked;       /* see above */
    uint64_t absent_count;  /* of a removal: given records, ids, names, or fingerprints without ids, of which the store
                                    had no record; with replace_records, given ids or names. Among very many, a
                                    repeated one may be counted more than once */
    char damaged_file[512]; /* of an older segment, or "": the change was to be merged with it, and was published
                                    as a segment of its own instead. Not escaped. sstore_verify() tells more */
    uint64_t known_name_count; /* of an addition without replace_records: records given without ids whose name the
                                  store had, but only with other fingerprints. It has both now. Usually they are
                                  changed documents, whose older records replace_records would remove */
} sstore_change;

#define SSTORE_CHANGE_INIT                                                                                             \
    {                                                                                                                  \
        sizeof(sstore_change), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, false, 0, "", 0                                           \
    }

/* Called for each id to remove of which the store has no record. The ids ascend among those that are looked up
 * together. Returns 0 to continue; anything else stops the call with STOPPED. */
typedef int (*sstore_absent_fn)(void *context, uint64_t id);

/*
 * The options of all calls that write a store: build, add, remove, merge, compact and dedup. A call uses the first
 * group, fingerprint_bits, and the options that its line names. It fails with ARGUMENT if another option is neither 0
 * nor as in the initializer. It ignores the context of a callback that is NULL. The texts are copied.
 *
 *   build, sstore_builder_create():         plan, recipe, distance, no_ids, id_index, names, force, first_id,
 *                                           expected_record_count, expected_max_id
 *   add, sstore_builder_create_addition():  plan, recipe, no_compact, check_ids, replace_records,
 *                                           expected_record_count, expected_max_id
 *   remove, sstore_remover_create():        recipe, no_compact, on_absent, expected_record_count, expected_max_id
 *   merge:                                  plan, id_index, force, raise_ids, shard, shard_count
 *   compact:                                plan, recipe, id_index
 *   dedup, sstore_dedup_open():             plan, recipe, distance, no_compact, check_ids, publish_every, limit
 */
typedef struct sstore_write_options {
    size_t struct_size;

    /* ----- all calls ----- */
    uint32_t block_bytes;   /* the size of a block, a power of two from 256 to 65,536. 0: 4,096 for a new store; the
                               store's own if one is changed */
    uint32_t threads;       /* 0: all that the process may use */
    uint64_t memory_bytes;  /* what the call may take in all, including up to 12 MiB of the process that calls it. 0:
                               1 GiB. The limit is enforced from 64 MiB up. Smaller values (minimum 1 MiB) may be
                               exceeded */
    const char *tmp_dir;    /* a folder for items that do not fit in memory, in files without names that nobody else
                               can open. NULL: the store's folder */
    bool ignore_free_space; /* begin even if the disk seems too small */
    uint64_t wait_ms;       /* only one call at a time can write to a store. If another one does, also in another
                               process, wait this many milliseconds for it, then fail with BUSY. 0: fail at once.
                               UINT64_MAX: wait until it ends. While a call waits, on_progress gets the phase
                               "waiting", about 20 times a second, and can stop it (STOPPED) */
    sstore_progress_fn on_progress; /* gets the progress of the call, or of the finish of a builder; of dedup, that of
                                       publications and of the queries for many records at once. NULL: no reports */
    void *progress_context;

    /* ----- the form of the store ----- */
    const char *plan;   /* NULL or "auto": chosen as by sstore_plan(), from the fingerprints; if a store is changed that
                         was built with a given plan, that one. Otherwise "20", "16", "10", "4", "3", "2" or "1" (tables
                         of the named plans for k = 3), "BcC" such as "5c2" (B bit groups, a table for each choice of
                         C), "BcC/BcC" such as "4c1/4c1" (the other bits are split again), or "bits:radius,..." such as
                         "24:1,20:0,20:0" (disjoint bit groups of together at most 64 bits). Other numbers alone, such
                         as "8", are refused. With several words, each word has a plan of this name; "22,21,21" gets the
                         radii that the word needs */
    const char *recipe; /* how the fingerprints are made: text without control characters, at most 4,096 bytes. A new
                           store keeps it in its manifest. A call that changes a store fails with RECIPE unless the
                           store has exactly this recipe. NULL: unknown, or any */
    uint32_t distance;  /* build: the k to build for, 0 to 16 a word; dedup: a record is new if none is within it; or
                           SSTORE_OWN_DISTANCE */
    uint32_t fingerprint_bits; /* see "Conventions" */
    bool no_ids;               /* a store without ids; given ids are ignored */
    bool id_index;             /* each segment gets an index of its ids, which sstore_get() and removals by id read. It
                                  takes about 4.5 bytes for each id below 2^32, otherwise about 9. A store that is
                                  changed keeps its index; a merged one also has one if all inputs have; a compaction
                                  of ALL segments adds one */
    bool names;                /* each id has a name, which sstore_builder_add_named() takes; with an id index. A store
                                  that is changed keeps its names, and so does a merged one: see sstore_merge() */
    bool force;                /* replace a store at the path, once the new one is complete */
    uint32_t shard;            /* take only the records of this shard, from 0, of as many as shard_count says */
    uint32_t shard_count;      /* 0: all records */

    /* ----- records ----- */
    bool no_compact;      /* leave the segments of the store as they are: see "How changes keep a store compact" */
    bool check_ids;       /* fill conflict_count, min_conflicting_id and ids_checked of sstore_change; of dedup, for all
                          publications together */
    bool replace_records; /* each added record replaces those of the store that have its id, or its name: see
                             sstore_builder_create_addition() */
    bool raise_ids;       /* raise the ids of each input by the next ids of those before it: see sstore_merge() */
    uint64_t first_id;    /* the id of the first record without one. Merged parts need different ones */
    uint64_t expected_record_count; /* approximate; 0: unknown. See sstore_builder_needs() */
    uint64_t expected_max_id;       /* approximate, of given ids; 0: they are like assigned ones */
    sstore_absent_fn on_absent;     /* or NULL */
    void *absent_context;
    uint64_t publish_every; /* publish after this many new records, or as many as fit in an eighth of the memory: of
                               512 MiB 1.5 to 2 million of 64 bits, or 0.2 to 0.4 million of 256; 0: only the latter;
                               UINT64_MAX: only at sstore_dedup_publish(), whatever memory that takes */
    uint64_t limit;         /* report at most this many matches of each record, the first ones; 0: all */
} sstore_write_options;

#define SSTORE_WRITE_OPTIONS_INIT                                                                                      \
    {                                                                                                                  \
        sizeof(sstore_write_options), 0, 0, 0, NULL, false, 0, NULL, NULL, NULL, NULL, SSTORE_OWN_DISTANCE, 0, false,  \
            false, false, false, 0, 0, false, false, false, false, 0, 0, 0, NULL, NULL, 0, 0                           \
    }

/* Begin a store at `path`. The folder is made; with `force`, an existing store is locked against other writers, while
 * readers continue. An empty folder is used as it is. The builder writes into a new folder inside it, which readers do
 * not see. Until sstore_builder_finish() succeeds, there is no store at `path`, or the old one. If the number of
 * records is known, the disk's free space is checked now, and again by sstore_builder_finish(). At most 12 file
 * descriptors are used. The builder is freed by sstore_builder_finish() or sstore_builder_abort().
 * Errors: ARGUMENT (an option out of range; a plan that would miss a pair within the distance, with an example),
 * MEMORY, IO (with ENOSPC: too little free space), EXISTS (a store, the remains of one, or a folder with other things
 * in it), BUSY, NOT_FOUND (no tmp_dir). */
SSTORE_API sstore_status sstore_builder_create(const char *path, const sstore_write_options *options,
                                               sstore_builder **builder_out, sstore_error *error);

/*
 * How changes keep a store compact
 *
 * Every query reads all segments. So additions, removals and deduplication merge what they publish with the newest
 * segments of the store, in one publication, unless no_compact is set:
 *  - with those that have, together with the change, at most 16,384 words of fingerprints: 16,384 records of 64 bits,
 *    or 1,024 of 1,024 bits. A store of so few records keeps one segment, however many changes there are. A larger
 *    change is merged with those that have at most a quarter of its records together;
 *  - with the next older ones, as long as each has at most four times as many records as the newer ones together, if at
 *    least four segments, the change included, then become one (SSTORE_COMPACTION_TIERS).
 * So a store of n records that grows by small changes has about 3 log4(n / 16,384) segments for 64 bits. Plan and radii
 * of the merged segment are chosen for all its records.
 *
 * A call writes at most 4,194,304 words, or 16 times as many records as it was given if those are more. This bound does
 * not hold in a store of 64 segments or more.
 */

/* Begin to add records to the store at `path`. sstore_builder_finish() publishes them all together, merged with the
 * store's newest segments or as a segment of their own. Readers that have the store open keep their state;
 * sstore_open() and sstore_reopen() show the new one.
 * Records that the store already has are not added again. Records without ids get the ids from the store's next id on.
 * If nothing is new, nothing is written.
 * With replace_records, each added record replaces all records that the store has of its id; in a store with names, all
 * of its name. Several added records of an id or a name stay together. sstore_builder_finish() publishes removals and
 * additions as one state. A record that the store has is neither removed nor added. Records must have ids, or names:
 * sstore_builder_add_named() says which id a named record without one gets. Ids are found as by sstore_get(): without
 * an id index all records are read, once for as many ids as about a sixteenth of the memory holds.
 * Looking up records in the store takes memory: 8 bytes a block and some more, up to half of memory_bytes. It also
 * takes two file descriptors for each segment, in addition to those of sstore_builder_create() and sstore_open().
 * Errors: as sstore_builder_create(); NOT_FOUND if there is no store; DAMAGED, UNSUPPORTED, RECIPE; BUSY if another
 * call is writing to it. */
SSTORE_API sstore_status sstore_builder_create_addition(const char *path, const sstore_write_options *options,
                                                        sstore_builder **builder_out, sstore_error *error);

/* The disk space that a build needs, in bytes. */
typedef struct sstore_build_needs {
    size_t struct_size;      /* set by the caller */
    uint64_t store_bytes;    /* of the finished store */
    uint64_t peak_bytes;     /* in the store's folder, at most */
    uint64_t free_bytes;     /* in its file system now */
    uint64_t tmp_peak_bytes; /* in tmp_dir, at most, if it is in another file system; else 0: peak_bytes includes it */
    uint64_t tmp_free_bytes; /* in its file system now */
} sstore_build_needs;

#define SSTORE_BUILD_NEEDS_INIT                                                                                        \
    {                                                                                                                  \
        sizeof(sstore_build_needs), 0, 0, 0, 0, 0                                                                      \
    }

/* The bits of a fingerprint that sstore_builder_add() takes. `builder` must not be NULL. */
SSTORE_API uint32_t sstore_builder_fingerprint_bits(const sstore_builder *builder);

/* Estimate the disk space of the build for `record_count` records in all: with ids like those given so far, or with
 * assigned ids. If the plan is not chosen yet, the plan for uniform data is assumed. Errors: ARGUMENT, MEMORY, IO. */
SSTORE_API sstore_status sstore_builder_needs(const sstore_builder *builder, uint64_t record_count,
                                              sstore_build_needs *needs_out, sstore_error *error);

/* State how the records were made, as `recipe` in the options does, at any time before the finish: for callers that
 * learn it from their input. A new store keeps this recipe, and so does a store that has neither records nor a recipe.
 * Any other store keeps its recipe, or stays without one. Errors: ARGUMENT (no text, or too long), MEMORY; RECIPE if
 * the store that is added to has another recipe, or if the options or an earlier call stated another one. After an
 * error only sstore_builder_abort() is allowed. */
SSTORE_API sstore_status sstore_builder_set_recipe(sstore_builder *builder, const char *recipe, sstore_error *error);

/* Add `count` records, in any order and with repeats: an identical (fingerprint, id) pair is stored once. If `ids` is
 * NULL, the records of all calls are numbered from first_id on. All calls must give ids, or none, unless the store is
 * without ids. The arrays are copied.
 * Errors: ARGUMENT, MEMORY, IO. After an error only sstore_builder_abort() is allowed. */
SSTORE_API sstore_status sstore_builder_add(sstore_builder *builder, const uint64_t *fingerprints, const uint64_t *ids,
                                            size_t count, sstore_error *error);

/*
 * As sstore_builder_add(), in a store with names: names[i] is the name of the id of record i. Several records may have
 * an id, but an id has one name. If it is given another one, in this build or before in the store, this call or
 * sstore_builder_finish() fails with ARGUMENT.
 *
 * If `ids` is NULL, a name has one id: all records of a name share it. This is the smallest id that the name has in
 * the store, or else the number of its first record. The numbers begin with first_id, or with the store's next id, and
 * count the records whose names the store does not have. The same holds for the new records of
 * sstore_dedup_insert_named(), where only new names take a number. Given ids are taken as they are: a name may then
 * have several, as after sstore_merge() with raise_ids.
 *
 * The names are copied: into an eighth of memory_bytes, and then into tmp_dir. So are records whose names get a number.
 * Errors: as sstore_builder_add() and, of a store that is added to, sstore_get_named().
 */
SSTORE_API sstore_status sstore_builder_add_named(sstore_builder *builder, const uint64_t *fingerprints,
                                                  const uint64_t *ids, const sstore_name *names, size_t count,
                                                  sstore_error *error);

/* Leave out the next `count` ids that records without ids would get. So a caller that skips rows of its input can keep
 * the numbers of the other rows as their ids. Does nothing in a store without ids. Errors: ARGUMENT. */
SSTORE_API sstore_status sstore_builder_skip_ids(sstore_builder *builder, uint64_t count, sstore_error *error);

/* Sort, encode, write and publish the records, durably: once this returns SSTORE_OK, the store survives a power cut. On
 * failure nothing is left behind, and a store that existed before is unchanged. Exception: if the very last sync fails,
 * after publication, the new state stays but may not survive a power cut. `change_out` may be NULL. The builder is
 * freed in all cases.
 * Errors: ARGUMENT, MEMORY, IO; DAMAGED if the store that is added to is. */
SSTORE_API sstore_status sstore_builder_finish(sstore_builder *builder, sstore_change *change_out, sstore_error *error);

/* Give up: remove what was written, and free the builder. An older store stays as it was. */
SSTORE_API void sstore_builder_abort(sstore_builder *builder);

/* ===== Removing records ===== */

/* A removal that is not finished. */
typedef struct sstore_remover sstore_remover;

/* Begin to remove records from the store at `path`. sstore_remover_finish() publishes all removals together, merged
 * with the store's newest segments or as a segment of their own. Records that the store does not have are counted in
 * absent_count, and are no error. Removed records of segments that stay take space until sstore_compact().
 * The remover is freed by sstore_remover_finish() or sstore_remover_abort(). Memory, descriptors and errors: as
 * sstore_builder_create_addition(). */
SSTORE_API sstore_status sstore_remover_create(const char *path, const sstore_write_options *options,
                                               sstore_remover **remover_out, sstore_error *error);

/* The bits of a fingerprint of the store. `remover` must not be NULL. */
SSTORE_API uint32_t sstore_remover_fingerprint_bits(const sstore_remover *remover);

/*
 * Remove `count` records, or all records of fingerprints or ids. One of the arrays may be NULL:
 *  - both: the records with these fingerprints and ids. In a store without ids, `ids` is not read;
 *  - `fingerprints` alone: all records with one of these fingerprints;
 *  - `ids` alone: all records with one of these ids, in a store with ids. They are found as by sstore_get(): without
 *    an id index all records are read, once for as many ids as about an eighth of the memory holds.
 * Errors: ARGUMENT, MEMORY, IO, DAMAGED. After an error only sstore_remover_abort() is allowed.
 */
SSTORE_API sstore_status sstore_remover_remove(sstore_remover *remover, const uint64_t *fingerprints,
                                               const uint64_t *ids, size_t count, sstore_error *error);

/* Remove all records whose ids have one of `count` names, in a store with names: those that sstore_get_named() finds. A
 * name that no record has counts as absent, without a call of on_absent. Errors: as sstore_remover_remove(). */
SSTORE_API sstore_status sstore_remover_remove_named(sstore_remover *remover, const sstore_name *names, size_t count,
                                                     sstore_error *error);

/* Publish the removals, durably, and free the remover, as sstore_builder_finish() does. Errors: as there. */
SSTORE_API sstore_status sstore_remover_finish(sstore_remover *remover, sstore_change *change_out, sstore_error *error);

/* Give up: remove what was written, and free the remover. The store stays as it was. */
SSTORE_API void sstore_remover_abort(sstore_remover *remover);

/* ===== Rewriting stores ===== */

/*
 * Merge the stores at input_paths, such as parts that several processes or machines built, into one store at `path`. It
 * holds each of their records once. The inputs must be for the same distance, all with ids or all without (else
 * ARGUMENT), and of the same recipe (else RECIPE). Their plans may differ. The result is, byte for byte, the one that a
 * build of all the records makes. The records are read in order, so nothing is sorted for table 0.
 *
 * With shard_count, it is the store of one shard of these records. A fingerprint's shard, from 0, is the upper 32 bits
 * of the XXH3-64 of its words, each 8 bytes, little-endian, times shard_count, divided by 2^32. Each record is in
 * exactly one shard. Near-duplicates may be in different ones, so a query must search all shards.
 *
 * Parts must have different ids (see first_id), or records of different parts are taken for one. If the ids of all of
 * them begin with 0, set raise_ids: the ids of each input are raised by the next ids of those before it, and the
 * result is that of one build of all the records in the order of the inputs, except that a name of several inputs keeps
 * one id for each input. All inputs have names, or none has (else ARGUMENT), and none gives an id another name than one
 * before it (else ARGUMENT). All inputs are open at the same time. Each takes about 50 KiB (with blocks of 4 KiB) and
 * three file descriptors. Together they may take half of memory_bytes (else ARGUMENT); a limit below 64 MiB is not
 * enforced. `change_out` may be NULL.
 * Errors: as sstore_open(), sstore_builder_create() and sstore_builder_finish().
 */
SSTORE_API sstore_status sstore_merge(const char *path, const char *const *input_paths, size_t input_count,
                                      const sstore_write_options *options, sstore_change *change_out,
                                      sstore_error *error);

/* Set shards_out to the shard of each of `count` fingerprints of `fingerprint_bits` bits, as sstore_merge() defines it:
 * to divide records among tasks that build one shard each. Errors: ARGUMENT. */
SSTORE_API sstore_status sstore_shard_numbers(const uint64_t *fingerprints, uint32_t fingerprint_bits, size_t count,
                                              uint32_t shard_count, uint32_t *shards_out, sstore_error *error);

/*
 * Which segments are compacted.
 *  - ALL: all segments. The store becomes the one that a build of its records makes.
 *  - TIERS, for a store that keeps growing: the newest segment, and the next older one as long as it has at most four
 *    times as many records as the newer ones together. If these are fewer than four, none is compacted. Each record is
 *    written again a few times whenever the store has grown fourfold.
 */
typedef enum sstore_compaction { SSTORE_COMPACTION_ALL = 0, SSTORE_COMPACTION_TIERS = 1 } sstore_compaction;

/*
 * Write one segment of several, without removed records, and publish the store with it. Readers that have the store
 * open keep their state. After all segments were compacted, with equal plan and block size, block and id files are byte
 * for byte those of a build of the store's records. A single segment is written again only if a plan or a block size is
 * given. After some segments were compacted, their removals from older segments stay, as a separate segment.
 *
 * The segments are read in order, each in about 50 KiB of memory (with blocks of 4 KiB). Together they may take half of
 * memory_bytes (else ARGUMENT); a limit below 64 MiB is not enforced. The disk needs space for the new segment in
 * addition to the old ones. `change_out` may be NULL.
 * Errors: as sstore_builder_create_addition() and sstore_builder_finish().
 */
SSTORE_API sstore_status sstore_compact(const char *path, sstore_compaction scope, const sstore_write_options *options,
                                        sstore_change *change_out, sstore_error *error);

/* ===== Verification and repair ===== */

/* Called for every problem: damage, or a file that cannot be read. If it stops the call, the problems so far are the
 * result. */
typedef int (*sstore_problem_fn)(void *context, const sstore_error *problem);

/* The options of sstore_verify(). */
typedef struct sstore_verify_options {
    size_t struct_size;
    sstore_progress_fn on_progress;
    void *progress_context;
} sstore_verify_options;

#define SSTORE_VERIFY_OPTIONS_INIT                                                                                     \
    {                                                                                                                  \
        sizeof(sstore_verify_options), NULL, NULL                                                                      \
    }

/*
 * Read and decode everything in the store at `path`. Cross-check tables, ids and directory against each other and
 * against the store's own content sum, and compare each block with the block that a writer makes of its contents
 * (format-spec/sstore-format.md, section 12, "A full check"). Each problem goes to on_problem, which may be NULL. If
 * the store cannot be opened, its readable files are checked; checks that depend on unreadable files are skipped. Files
 * that cannot be read, or that this version does not know, are also problems.
 *
 * Returns SSTORE_OK only if there is no problem; SSTORE_ERROR_DAMAGED with the first damage in *error if there is any;
 * otherwise the first problem, or the error that ended the check.
 */
SSTORE_API sstore_status sstore_verify(const char *path, const sstore_verify_options *options,
                                       sstore_problem_fn on_problem, void *context, sstore_error *error);

/* The options of sstore_reindex(). */
typedef struct sstore_reindex_options {
    size_t struct_size;
    bool all; /* rebuild all directories, also those that can be used */
    sstore_progress_fn on_progress;
    void *progress_context;
    uint64_t wait_ms; /* as in sstore_write_options */
} sstore_reindex_options;

#define SSTORE_REINDEX_OPTIONS_INIT                                                                                    \
    {                                                                                                                  \
        sizeof(sstore_reindex_options), false, NULL, NULL, 0                                                           \
    }

/*
 * Rebuild, from the block files, the directories that sstore_open() cannot use: directories that are lost or damaged,
 * or that an LMDB of another file format wrote, as on a host of another byte order. The store then gives the same
 * answers as before. If all can be used, nothing is done. Readers that have the store open keep their state. All tables
 * and ids of the segments concerned are read, and checked as far as the directory depends on them (sstore_verify()
 * checks everything). They are not written again, but get hard links in a new folder; if the file system has none, they
 * are copied. Memory: as for the largest segment in an open store, and a few blocks. On failure the store is unchanged,
 * except if the last sync fails, as with sstore_builder_finish().
 *
 * *rebuilt_count_out, if not NULL, is the number of segments whose directories, also those of its indexes, were
 * rebuilt.
 * Errors: ARGUMENT, MEMORY, IO, NOT_FOUND, BUSY; DAMAGED (the manifest, or a table or the ids of a segment concerned,
 * which cannot be rebuilt), UNSUPPORTED. Source: format-spec/sstore-format.md, "Directory".
 */
SSTORE_API sstore_status sstore_reindex(const char *path, const sstore_reindex_options *options,
                                        uint32_t *rebuilt_count_out, sstore_error *error);

/* ===== Deduplication: insert a record if it is new ===== */

/* A store that is locked for deduplication, and the new records that wait in memory. `sstore dedup` is another thing:
 * sstore_keeper, in sstore_join.h. */
typedef struct sstore_dedup sstore_dedup;

/* The answer for one given record. */
typedef struct sstore_dedup_answer {
    uint64_t index;              /* in the call's arrays */
    const uint64_t *fingerprint; /* in the call's array */
    uint64_t id;                 /* the given one; without, the assigned one of a new record, else 0 */
    const sstore_match *listed;  /* matches, ascending by (distance, fingerprint, id), as many as the limit allows */
    size_t listed_count;
    uint64_t match_count; /* of all matches, also beyond the limit */
    bool is_new;          /* it was inserted; there is no match */
} sstore_dedup_answer;

/* Called for each record. If it stops the call, the records after this one were not processed. */
typedef int (*sstore_dedup_fn)(void *context, const sstore_dedup_answer *answer);

/* Begin to deduplicate into the existing store at `path`. No other process can write to it until sstore_dedup_close(),
 * which frees the handle. Errors: as sstore_builder_create_addition() and sstore_open(). */
SSTORE_API sstore_status sstore_dedup_open(const char *path, const sstore_write_options *options,
                                           sstore_dedup **dedup_out, sstore_error *error);

/*
 * Insert each of `count` records that is new, one after the other. A record is new if neither a record of the store nor
 * one that was inserted before it, also in this call, is within the distance. For other records, the matches are
 * reported. If `ids` is NULL, new records get the ids from the store's next id on; in a store without ids it is not
 * read. is_new_out, if not NULL, has `count` elements. on_answer may be NULL. A call with many records takes less time
 * for each: they are answered as by sstore_iterate_matches(), with as much memory.
 *
 * New records wait in memory. sstore_dedup_publish() publishes them together, or this call does, as publish_every says.
 * Errors: ARGUMENT, MEMORY, IO, DAMAGED. After an error, the answers that on_answer got are right.
 */
SSTORE_API sstore_status sstore_dedup_insert(sstore_dedup *dedup, const uint64_t *fingerprints, const uint64_t *ids,
                                             size_t count, bool *is_new_out, sstore_dedup_fn on_answer, void *context,
                                             sstore_error *error);

/* As sstore_dedup_insert(), into a store with names: names[i] is the name of record i, which a new record keeps. An id
 * has one name: with `ids`, the call fails with ARGUMENT at a new record whose id has another name, in the store or
 * among the inserted records. Without, a new record gets the id of its name as sstore_builder_add_named() says. Names
 * that wait take memory as the records do.
 * Errors: as sstore_dedup_insert(); ARGUMENT also for a store without names, and an element of `names` that cannot be a
 * name. */
SSTORE_API sstore_status sstore_dedup_insert_named(sstore_dedup *dedup, const uint64_t *fingerprints,
                                                   const uint64_t *ids, const sstore_name *names, size_t count,
                                                   bool *is_new_out, sstore_dedup_fn on_answer, void *context,
                                                   sstore_error *error);

/* As sstore_names(), also for ids of records that wait, such as those of an answer. on_answer may call it.
 * Errors: as sstore_names() and sstore_open(). */
SSTORE_API sstore_status sstore_dedup_names(sstore_dedup *dedup, const uint64_t *ids, size_t count,
                                            sstore_name_fn on_name, void *context, sstore_error *error);

/* Publish the waiting records, durably, merged with the store's newest segments or as a segment of their own. Does
 * nothing if none wait. On failure, the pending_count of sstore_dedup_stat() tells what happened: either the records
 * still wait and the store is unchanged, or none wait: they were published, but may not survive a power cut. Either way
 * more records can be inserted. `change_out`, which may be NULL, gets the sum of all publications so far, also on
 * failure. Errors: as sstore_builder_finish() and sstore_compact(). */
SSTORE_API sstore_status sstore_dedup_publish(sstore_dedup *dedup, sstore_change *change_out, sstore_error *error);

/* The state of a deduplication. */
typedef struct sstore_dedup_statistics {
    size_t struct_size;        /* set by the caller */
    uint64_t new_count;        /* records that were new so far, published or not */
    uint64_t pending_count;    /* of these, the ones that wait to be published */
    uint32_t fingerprint_bits; /* of the store */
} sstore_dedup_statistics;

#define SSTORE_DEDUP_STATISTICS_INIT                                                                                   \
    {                                                                                                                  \
        sizeof(sstore_dedup_statistics), 0, 0, 0                                                                       \
    }

/* Fill *statistics_out. Also allowed after a call of `dedup` failed. Errors: ARGUMENT. */
SSTORE_API sstore_status sstore_dedup_stat(const sstore_dedup *dedup, sstore_dedup_statistics *statistics_out,
                                           sstore_error *error);

/* End a deduplication: unlock the store, and free the handle. Records that were not published are lost. */
SSTORE_API void sstore_dedup_close(sstore_dedup *dedup);

/* ===== Fingerprints of features (the paper, section 2; format-spec/fingerprint.md); sstore_text.h makes them of text
 * ===== */

/* A feature of a document: any bytes, and its weight. */
typedef struct sstore_feature {
    const void *data;
    size_t size;   /* bytes */
    double weight; /* finite, |weight| <= 2^31; rounded to 2^-20 */
} sstore_feature;

/* How features are hashed. Source: format-spec/fingerprint.md, "Hashes". */
typedef enum sstore_feature_hash {
    SSTORE_FEATURE_HASH_XXH3 = 0,    /* XXH3 with as many bits as the fingerprint: 64 or 128 */
    SSTORE_FEATURE_HASH_JAVA128 = 1, /* that of a widely copied Java program: 128 bits, and a sum of 0 also gives a 1 */
    SSTORE_FEATURE_HASH_MINHASH = 2  /* of texts: no simhash, but the MinHash of sstore_minhash() */
} sstore_feature_hash;

/* The simhash of weighted features, with `fingerprint_bits` bits: 64 or 128; 0: 64, or with JAVA128 its 128. Each
 * feature is hashed to as many bits. For each bit, the feature's weight is added if the hash bit is 1, and subtracted
 * otherwise. A bit of the fingerprint is 1 if its sum is > 0. The order of the features does not matter. Without
 * features the fingerprint is 0. `fingerprint_out` gets a word for each 64 bits, the first of which has the most
 * significant bits. Errors: ARGUMENT (a weight out of range, other bits). Source: format-spec/fingerprint.md. */
SSTORE_API sstore_status sstore_simhash(const sstore_feature *features, size_t count, sstore_feature_hash hash,
                                        uint32_t fingerprint_bits, uint64_t *fingerprint_out, sstore_error *error);

/* As sstore_simhash(), for features that the caller has hashed to `fingerprint_bits` bits: a multiple of 64, up to
 * 1,024. A hash has a word for each 64 bits; there are `count` hashes, one after the other. `weights` may be NULL: all
 * 1. Errors: as sstore_simhash(). */
SSTORE_API sstore_status sstore_simhash_hashes(const uint64_t *hashes, const double *weights, size_t count,
                                               uint32_t fingerprint_bits, uint64_t *fingerprint_out,
                                               sstore_error *error);

/*
 * The one-bit MinHash of a set of features, with `fingerprint_bits` bits: a multiple of 64, up to 1,024. Two sets of
 * the Jaccard similarity J, the features that they share over all that either has, differ in about (1 - J) / 2 of the
 * bits. A weight is the whole number of times, up to 2^24, that the feature occurs in a multiset; 0: it is not there.
 * The order of the features does not matter. Without features the fingerprint is 0. Takes the time of the features and
 * of some bits * ln(bits) more. Errors: ARGUMENT, MEMORY. Source: format-spec/fingerprint.md, "MinHash".
 */
SSTORE_API sstore_status sstore_minhash(const sstore_feature *features, size_t count, uint32_t fingerprint_bits,
                                        uint64_t *fingerprint_out, sstore_error *error);

/* As sstore_minhash(), for features that the caller has hashed to 64 bits. `weights` may be NULL: all 1. */
SSTORE_API sstore_status sstore_minhash_hashes(const uint64_t *hashes, const double *weights, size_t count,
                                               uint32_t fingerprint_bits, uint64_t *fingerprint_out,
                                               sstore_error *error);

/* The least distance within which two sets of at least this Jaccard similarity, from 0 to 1, are found with the
 * probability `recall`, above 0 and below 1: that of independent bits, of which each differs with the probability
 * (1 - similarity) / 2. UINT32_MAX: an argument is out of range. Source: Li and Koenig, "b-Bit Minwise Hashing" (WWW
 * 2010). */
SSTORE_API uint32_t sstore_minhash_distance(uint32_t fingerprint_bits, double similarity, double recall);

/* The Jaccard similarity that a distance between MinHashes tells, 1 - 2 distance / bits, but at least 0.
 * `deviation_out`, which may be NULL, gets its standard error. */
SSTORE_API double sstore_minhash_similarity(uint32_t fingerprint_bits, uint32_t distance, double *deviation_out);

#ifdef __cplusplus
}
#endif

#endif /* SSTORE_H */
