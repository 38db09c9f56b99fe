/*
 * sstore.h - find every stored 64-bit fingerprint within a Hamming distance of a given one.
 *
 * A store is a folder of compressed, checksummed, immutable files: of segments, each written at once by a builder. It
 * is read by any number of processes and threads, while one process at a time adds to it or removes from it. It holds a
 * set of records (fingerprint, id), or a set of fingerprints alone. A query returns
 * exactly the records within the asked distance: none is missed and none is returned twice. The method is that of
 * Manku, Jain and Das Sarma, "Detecting Near-Duplicates for Web Crawling" (WWW 2007), section 3; the files are
 * described byte by byte in format-spec/.
 *
 * Conventions
 *  - Fingerprints are 64-bit simhashes. Bit 0 is the most significant, as in the paper; this matters to plans only.
 *  - Every function that can fail returns an sstore_status and takes an optional sstore_error (NULL: not wanted), which
 *    it fills when it returns an error and leaves alone otherwise.
 *  - Option structs begin with struct_size and have an initializer that sets the defaults; NULL stands for the defaults.
 *  - The library never prints, exits, changes signal handlers or keeps global state. So a process under RLIMIT_FSIZE
 *    that writes stores, or lets joins spill, should ignore SIGXFSZ, which else ends it: then it is IO with EFBIG.
 *  - Threads: an sstore is immutable and may be shared by all threads of a process without locks; a cursor, a builder,
 *    an intake and an sstore_error belong to one thread at a time. After fork() a child may go on using a store that its parent
 *    opened; a cursor belongs to the process that made it.
 */
#ifndef SSTORE_H
#define SSTORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SSTORE_VERSION_MAJOR 0
#define SSTORE_VERSION_MINOR 1
#define SSTORE_VERSION_PATCH 0
#define SSTORE_VERSION_STRING "0.1.0"

#if defined(__GNUC__)
#define SSTORE_API __attribute__((visibility("default")))
#else
#define SSTORE_API
#endif

/* The largest distance that two fingerprints can have, and that a query may ask for. */
#define SSTORE_MAX_DISTANCE 64
/* The largest distance that a store can be built for. */
#define SSTORE_MAX_BUILD_DISTANCE 16
/* In options: the distance that a store was built for; of two stores the smaller one. */
#define SSTORE_OWN_DISTANCE UINT32_MAX

/* ------------------------------------------------------------------------------------------------------------------
 * Status and errors
 */

/* What a function returns. The numbers are pinned: they never change, and new ones are added in the gaps. */
typedef enum sstore_status {
    SSTORE_OK = 0,
    SSTORE_STOPPED = 1, /* a callback returned other than 0, so the call stopped there; no error */

    SSTORE_ERROR_ARGUMENT = 10, /* an argument is outside its range, or calls came in a wrong order */
    SSTORE_ERROR_MEMORY = 11,   /* an allocation failed */

    SSTORE_ERROR_IO = 20,        /* the system refused a read, write or other file operation: see system_errno */
    SSTORE_ERROR_NOT_FOUND = 21, /* there is no store at the path */
    SSTORE_ERROR_EXISTS = 22,    /* there is something at the path already */
    SSTORE_ERROR_BUSY = 23,      /* another process is writing this store */

    SSTORE_ERROR_DAMAGED = 40,     /* bytes are not what the writer wrote: file and offset tell where */
    SSTORE_ERROR_UNSUPPORTED = 41, /* a format version, feature or width that this library does not know */
    SSTORE_ERROR_RECIPE = 42       /* the store's fingerprints were made by another recipe than the one expected */
} sstore_status;

/* The name of a status in lower-case words, for logs: "ok", "damaged", ... Static storage; never NULL. */
SSTORE_API const char *sstore_status_name(sstore_status status);

/* The offset of an error that has no place in a file. */
#define SSTORE_NO_OFFSET UINT64_MAX

/* What went wrong, in full. Owned by the caller; plain data, to be copied or dropped at will. */
typedef struct sstore_error {
    sstore_status status;
    int system_errno;   /* errno of the failed system call, or 0 */
    uint64_t offset;    /* in bytes within `file`, or SSTORE_NO_OFFSET */
    char file[512];     /* the file concerned, or "". Not escaped: use sstore_escape() before you show it */
    char message[1024]; /* a sentence for people that names the file, the reason and what can be done. It is escaped as by
                           sstore_escape() */
} sstore_error;

/*
 * Escape a text of `length` bytes, so that it is safe to show: on a terminal, in a log, in a column. A terminal obeys some
 * characters instead of showing them: control characters (U+0000 to U+001F, U+007F to U+009F), direction marks, overrides
 * and isolates (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), line and paragraph separators (U+2028, U+2029).
 * Nobody sees a zero-width space, a word joiner or a byte order mark (U+200B, U+2060, U+FEFF). Each byte of all these, and
 * each byte that is not UTF-8, becomes \xNN, with two lower-case hex digits. All other characters stay as they are.
 *
 * If `double_backslashes` is not 0, a backslash becomes two. Then the text can be decoded without ambiguity: "\\" is a
 * backslash, and \xNN is that byte. If it is 0, a text that was escaped before does not change.
 *
 * Writes at most `size` bytes with the closing 0, and no part of a character; `buffer` may be NULL if `size` is 0. Returns
 * the whole length without the closing 0, as snprintf does: at most 4 * length.
 */
SSTORE_API size_t sstore_escape(const char *text, size_t length, int double_backslashes, char *buffer, size_t size);

/* The library's version at run time, such as "0.1.0". Static storage. */
SSTORE_API const char *sstore_version(void);

/* ------------------------------------------------------------------------------------------------------------------
 * Reading a store
 */

typedef struct sstore sstore;
typedef struct sstore_cursor sstore_cursor;

/* How blocks are read. Every mode gives the same answers. */
typedef enum sstore_io {
    SSTORE_IO_PREAD = 0,  /* Each block is read by pread() and checked whenever it is read (a cursor may keep a few). A disk
                             fault is always an error code */
    SSTORE_IO_MMAP = 1,   /* Files are mapped. A block is read and checked before its first use; later changes are not noticed.
                             If a block cannot be read then, the call fails. One risk remains: if a file is cut short after its
                             block was read, or the system took back the block's memory and the disk then fails, the next
                             access to that block ends the process with SIGBUS. Mapped pages count as resident */
    SSTORE_IO_MEMORY = 2, /* All block files are loaded and checked at open. It takes the store's size in memory */
    SSTORE_IO_AUTO = 3    /* The default: MMAP if all files fit into half of the memory limit, otherwise PREAD. The limit is the
                             smallest of the machine's memory, RLIMIT_AS, the limits of the process's memory cgroups, and
                             max_memory if it is set. If the buffers of PREAD exceed max_memory, AUTO chooses MMAP.
                             sstore_reopen() keeps the mode */
} sstore_io;

/* How queries are answered. All three give the same answers; other than AUTO is for measuring and testing. */
typedef enum sstore_strategy {
    SSTORE_STRATEGY_AUTO = 0,  /* probe or scan, whichever is estimated to cost less (the default) */
    SSTORE_STRATEGY_PROBE = 1, /* probe each segment if that is estimated to take less than 0.4 s */
    SSTORE_STRATEGY_SCAN = 2   /* read all of one table for every query */
} sstore_strategy;

typedef struct sstore_open_options {
    size_t struct_size; /* sizeof(sstore_open_options), set by the initializer */
    sstore_io io;
    sstore_strategy strategy;
    const char *recipe; /* if not NULL, open fails with SSTORE_ERROR_RECIPE unless the store has this very recipe */
    uint64_t max_memory; /* if not 0, open fails with SSTORE_ERROR_MEMORY rather than take more bytes than this, with one
                            cursor; nothing is loaded then. Mapped pages and page tables are not counted */
} sstore_open_options;

#define SSTORE_OPEN_OPTIONS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(sstore_open_options), SSTORE_IO_AUTO, SSTORE_STRATEGY_AUTO, NULL, 0                                        \
    }

/*
 * Open the store at `path` for reading. Checks the manifest, every file's size and header, and the whole directory,
 * which it loads into memory.
 *
 * What an open store takes of memory, beside the caller's process: in the mode pread the directory, 8 bytes a block of
 * every table and of the ids and 8 more of table 0 (so a store of 100 million fingerprints in 3 tables of 4 KiB blocks
 * takes about 5 MiB, and blocks of 64 KiB a sixteenth of that), 1 to 2 bytes a block beside it, and 20 KiB a table. In
 * the mode mmap also the pages of the block files that were touched, which the system takes back when it needs them, and a
 * five-hundredth of that for page tables, which it does not; in the mode memory all block files. A cursor takes what
 * sstore_cursor_create() says, a batch what sstore_query_batch() says.
 *
 * Each segment also takes some 20 KiB, and a file descriptor for each table, one for the ids and one for the directory. One
 * more is for the store's folder, and two while it is opened. If the process may not open as many, the call fails with IO and
 * system_errno EMFILE. The directory is copied into a memfd, which counts against RLIMIT_FSIZE: if a directory is larger, the
 * call fails with IO and system_errno EFBIG. The copy is opened by /proc/self/fd: /proc must be mounted.
 *
 * A store may have been made to harm, with all its checksums right. Then answers may be wrong, but no call touches memory that
 * is not its own; none takes more of it than 8 MiB and eight bytes for each byte of the store's files, beside what a batch or
 * a join says that it takes. Each call ends: SECURITY.md states how many reads a query may make. No call reports a record twice.
 *
 * The handle shows the state that was published at that moment for as long as it is open, whatever writers do. A
 * directory that is lost or damaged is an error here, and can be made again: sstore_reindex().
 *
 * On success *store_out is a handle to be closed with sstore_close(); on failure it is NULL.
 * Errors: ARGUMENT, MEMORY, IO, NOT_FOUND, DAMAGED, UNSUPPORTED, RECIPE. Source: format-spec/sstore-format.md, "A
 * reader's duties".
 */
SSTORE_API sstore_status sstore_open(const char *path, const sstore_open_options *options, sstore **store_out,
                                     sstore_error *error);

/*
 * Open the newest state of a store that is open, with the same options and way of reading, in a handle of its own. The
 * given one goes on showing what it showed, and either may be closed first. Segments that both states have are shared
 * between the handles, so that this takes little time and memory where little was added. The store is the one in the
 * same folder, whatever its path is by now. Errors: as sstore_open(); RECIPE where it was replaced by a store of another
 * recipe.
 */
SSTORE_API sstore_status sstore_reopen(const sstore *store, sstore **store_out, sstore_error *error);

/* Close a store. All its cursors must have been freed. NULL is allowed. */
SSTORE_API void sstore_close(sstore *store);

/*
 * Make a cursor: the scratch memory of one thread's queries, some 20 KiB, and in the mode pread up to 80 blocks, 336
 * KiB of 4 KiB each. It must be freed before its store is closed. Errors: ARGUMENT, MEMORY.
 */
SSTORE_API sstore_status sstore_cursor_create(const sstore *store, sstore_cursor **cursor_out, sstore_error *error);

/* Free a cursor. NULL is allowed. */
SSTORE_API void sstore_cursor_free(sstore_cursor *cursor);

/* One matching record. `id` is 0 in a store without ids. `query_index` counts the queries of a batch from 0. */
typedef struct sstore_match {
    uint64_t query_index, fingerprint, id;
    uint32_t distance;
} sstore_match;

/*
 * Called once for every match, in the thread and during the call of the function that it was given to; `match` is valid
 * until it returns. 0: go on; anything else stops the call, which then returns SSTORE_STOPPED. It must not use the
 * cursor that it is called from.
 */
typedef int (*sstore_match_fn)(void *context, const sstore_match *match);

/*
 * Report every record whose fingerprint lies within `distance` (0 to 64) of `fingerprint`: each exactly once, equal
 * fingerprints with several ids once for each id. No match is no call, and no error. The order is the same at every
 * call with equal arguments on an equal store that was opened with equal options, but not sorted.
 *
 * Within the distance that the store was built for, the query reads a few blocks a table; beyond it more, up to a scan
 * of one whole table where that is cheaper. Allocates nothing.
 * Errors: ARGUMENT, IO, DAMAGED (matches reported before the error are right). Source: the paper, section 3.1.
 */
SSTORE_API sstore_status sstore_query(sstore_cursor *cursor, uint64_t fingerprint, uint32_t distance,
                                      sstore_match_fn on_match, void *context, sstore_error *error);

/*
 * Report every record at the smallest distance that any record has from `fingerprint`, if that is at most
 * `max_distance` (0 to 64). The distance is widened until a match is found. Otherwise as sstore_query().
 */
SSTORE_API sstore_status sstore_query_nearest(sstore_cursor *cursor, uint64_t fingerprint, uint32_t max_distance,
                                              sstore_match_fn on_match, void *context, sstore_error *error);

/*
 * Answer `count` queries on up to `threads` threads (0: as many as the process may use). The matches come in the order
 * of the queries, those of one query ascending by (distance, fingerprint, id); `query_index` is the query's index in
 * `fingerprints`. on_match is called in the caller's thread only.
 *
 * Chooses by itself between asking one by one, reading the tables slice by slice with all queries that probe there,
 * and one scan for all. Memory, whatever `count`: about 32 bytes for each of up to 2^20 queries, 8 MiB a thread, and
 * up to 2^21 matches of 170 bytes; only one query that alone has more matches takes more.
 * Errors: as sstore_query(), and MEMORY.
 */
SSTORE_API sstore_status sstore_query_batch(const sstore *store, const uint64_t *fingerprints, size_t count,
                                            uint32_t distance, uint32_t threads, sstore_match_fn on_match,
                                            void *context, sstore_error *error);

/* What one query was expected to read of a table, and what it read. */
typedef struct sstore_table_explanation {
    size_t struct_size;
    uint64_t segment;                 /* a store has one or more, each with tables of its own; those that remove
                                         records are not searched, and matches are counted before they do */
    uint32_t table;                   /* from 0 within the segment */
    uint64_t key_mask;                /* the bits that lead in this table */
    uint32_t prefix_bits;             /* how many they are; 64 at distance 0, where the whole fingerprint is looked up */
    int32_t radius;                   /* flips of them that were probed at this distance; -1: the table was left out */
    int scanned;                      /* 1: all of the table was read instead of probing any */
    double expected_block_count;      /* by the directory, which counts the fingerprints that share the query's prefixes */
    double expected_candidate_count;  /* the same */
    uint64_t probe_count;             /* look-ups; each finds one prefix, or a range of prefixes that few fingerprints have */
    uint64_t block_count;             /* blocks read; one that two probes in a row share counts once */
    uint64_t candidate_count;         /* fingerprints with a probed prefix; all of them in a scan */
    uint64_t match_count;             /* distinct fingerprints within the distance that count as this table's */
    double probe_ns, scan_ns;         /* of the whole segment: the estimates that decided between probes and a scan */
} sstore_table_explanation;

/* Called for each table; `explanation` is valid until it returns. 0: go on, else stop. */
typedef int (*sstore_explain_fn)(void *context, const sstore_table_explanation *explanation);

/*
 * Run a query as sstore_query() does, but report what it did in each table instead of what it found. Blocks that are
 * read for the ids of matches are not counted. Errors: as sstore_query().
 */
SSTORE_API sstore_status sstore_explain(sstore_cursor *cursor, uint64_t fingerprint, uint32_t distance,
                                        sstore_explain_fn on_table, void *context, sstore_error *error);

/* One record. `id` is 0 in a store without ids. */
typedef struct sstore_record {
    uint64_t fingerprint, id;
} sstore_record;

/* Called for each record; the rules of sstore_match_fn hold. */
typedef int (*sstore_record_fn)(void *context, const sstore_record *record);

/* Report all records, ascending by (fingerprint, id). Errors: ARGUMENT, IO, DAMAGED. */
SSTORE_API sstore_status sstore_each_record(sstore_cursor *cursor, sstore_record_fn on_record, void *context,
                                            sstore_error *error);

/* The number of bits in which a and b differ, 0 to 64. */
SSTORE_API uint32_t sstore_hamming_distance(uint64_t a, uint64_t b);

/* ------------------------------------------------------------------------------------------------------------------
 * Facts about a store
 */

/* What a store holds. All sizes in bytes. */
typedef struct sstore_statistics {
    size_t struct_size;         /* set by the caller to sizeof(sstore_statistics) */
    uint64_t record_count;      /* (fingerprint, id) pairs */
    uint64_t distinct_count;    /* distinct fingerprints of each segment that adds, summed up: in a store of one segment,
                                   as a build or a compaction makes it, the store's */
    uint64_t removed_count;     /* records that were removed and still take room, until they are compacted away */
    uint32_t segment_count;
    uint32_t fingerprint_bits;  /* 64 */
    uint32_t distance;          /* the k that the plan was made for */
    uint32_t table_count;       /* tables of the plan: here and below, of the largest segment */
    uint32_t has_ids;           /* 1 or 0 */
    uint32_t block_bytes;       /* size of a block */
    uint64_t next_ordinal;      /* the ordinal that the next record without an id would get; 0 in a store without ids */
    uint64_t tables_bytes;      /* of all segments: here and below */
    uint64_t ids_bytes;         /* size of the id columns' files, 0 without ids */
    uint64_t ids_block_count;
    uint64_t directory_bytes;   /* size of the directories' files */
    uint64_t manifest_bytes;
    uint64_t total_bytes;       /* all files together */
    uint64_t memory_bytes;      /* what the open store takes of memory, with one cursor: see sstore_open() */
    char plan[1536];            /* as sstore_build_options.plan takes it, written out: "16:0,16:0,16:0,16:0" */
    char recipe[512];           /* how the fingerprints were made, or "": for people, so it is cut to fit, and the bytes
                                   of control characters and those that are no UTF-8 stand as \xNN */
} sstore_statistics;

/* Fill *statistics_out. Reads nothing. Errors: ARGUMENT. */
SSTORE_API sstore_status sstore_stat(const sstore *store, sstore_statistics *statistics_out, sstore_error *error);

/* One segment: what one build, addition, removal or compaction wrote. All sizes in bytes. */
typedef struct sstore_segment_statistics {
    size_t struct_size;        /* set by the caller to sizeof(sstore_segment_statistics) */
    int removes;               /* 0: its records were added to the store; 1: they were taken out of older segments */
    uint64_t record_count, distinct_count;
    uint32_t table_count;
    uint32_t block_bytes;
    uint64_t tables_bytes;
    uint64_t ids_bytes, ids_block_count;
    uint64_t directory_bytes;
    uint64_t total_bytes;
    char folder[32];           /* in the store's folder */
    char plan[1536];
    char writer[32];           /* what wrote its block files: "sstore 0.1.0"; "" if it did not say */
} sstore_segment_statistics;

/* Fill *statistics_out for segment `segment` (from 0, the oldest). Reads nothing. Errors: ARGUMENT. */
SSTORE_API sstore_status sstore_stat_segment(const sstore *store, uint32_t segment,
                                             sstore_segment_statistics *statistics_out, sstore_error *error);

/* One table. Sizes in bytes unless said; bits are per fingerprint. */
typedef struct sstore_table_statistics {
    size_t struct_size;       /* set by the caller to sizeof(sstore_table_statistics) */
    uint64_t key_mask;        /* the bits that lead in this table: bit 0 of a fingerprint is the mask's highest */
    uint32_t prefix_bits;     /* how many they are */
    uint32_t radius;          /* flips of the prefix that are probed at the store's own distance */
    uint64_t block_count;
    uint64_t file_bytes;      /* header and blocks */
    uint64_t directory_bytes; /* this table's part of the directory */
    double bits;              /* (file + directory) * 8 / fingerprints */
    double bound_bits;        /* entropy of the symbols + suffixes + column: what an ideal code of these symbols would take */
    double elias_fano_bits;   /* what Elias-Fano coding of this table would take, without any index */
    double rice_bits;         /* the same for Rice coding of the gaps with the best parameter */
} sstore_table_statistics;

/* Fill *statistics_out for table `table` (from 0) of segment `segment`. Reads nothing. Errors: ARGUMENT. */
SSTORE_API sstore_status sstore_stat_table(const sstore *store, uint32_t segment, uint32_t table,
                                           sstore_table_statistics *statistics_out, sstore_error *error);

/* Called for every problem that verify finds, damage or a file that cannot be read; `problem` is valid until it returns. 0: go
 * on, else stop. */
typedef int (*sstore_problem_fn)(void *context, const sstore_error *problem);

/*
 * Read and decode everything in the store at `path`, and hold tables, ids and directory against each other and against
 * the store's own content sum, and each block against what a writer makes of its contents (format-spec/sstore-format.md,
 * section 12, "A full check"). Each damage is reported to on_problem (may be NULL), also of a store that cannot be opened, as
 * far as its files can be read; checks that depend on unreadable files are skipped. Files that the system does not let be read,
 * or that this version does not know, are also reported. Returns SSTORE_OK only if there is no problem; SSTORE_ERROR_DAMAGED with
 * the first damage in *error if there is any; otherwise the first problem, or what ended the search for them.
 */
SSTORE_API sstore_status sstore_verify(const char *path, sstore_problem_fn on_problem, void *context,
                                       sstore_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Progress of long calls
 */

/* How far a call is. */
typedef struct sstore_progress {
    size_t struct_size;
    const char *phase;    /* a word for what is being done, of static storage: "sorting" what is crowded, "counting"
                             the sorted records or a table's fingerprints, "writing" a table (table 0 with the ids),
                             "permuting" table 0 for another one. Of reindexing: "indexing" a table (table 0 with the
                             ids). Of joins: "permuting" and "comparing" the
                             fingerprints, once for each of some tables, "connecting" what was found near,
                             "identifying" the records that belong to it, and "reporting" them */
    uint32_t table;       /* which table, from 0 */
    uint32_t table_count; /* 0 as long as the plan is not chosen */
    uint64_t done, total; /* records or fingerprints, in this phase */
    double share;         /* of the work of the whole call, 0 to 1: an estimate */
} sstore_progress;

/*
 * Called some hundred times a second, in the thread and during the call that it was given to; `progress` is valid
 * until it returns. 0: go on; anything else stops the call, which undoes what it did and returns SSTORE_STOPPED.
 */
typedef int (*sstore_progress_fn)(void *context, const sstore_progress *progress);

/* ------------------------------------------------------------------------------------------------------------------
 * Building a store
 */

typedef struct sstore_builder sstore_builder;

/* What a call did to a store. */
typedef struct sstore_change {
    size_t struct_size;     /* set by the caller to sizeof(sstore_change) */
    uint64_t given_count;   /* records, or fingerprints or ids that stand for records, with repeats */
    uint64_t added_count;   /* records that the store did not have and has now. Of an addition, the other given records
                               were present before, or were repeated */
    uint64_t removed_count; /* records that it had and has no more */
    uint64_t record_count;  /* of the store now, as the next two */
    uint64_t total_bytes;   /* of all its files */
    uint32_t segment_count;
    uint32_t segment_count_before; /* 0 of a new store, as the next one */
    uint64_t total_bytes_before;
    uint64_t conflict_count;       /* of sstore_builder_create_addition() and of an intake, there of all its publications:
                                      ids of added records that another record of the store also has, with another
                                      fingerprint. Perhaps two documents were given one number; or a document has
                                      several fingerprints, so this is no error. If ids_checked is 0, there may be
                                      more */
    uint64_t least_conflicting_id; /* the smallest of them */
    int ids_checked;               /* 1: every id of an added record that can conflict was looked up. An id that is above
                                      all ids before it cannot. 0: some were not looked up, or not in the older segments.
                                      Limits: about 3,800 ids for each MiB of memory_bytes, and at most a million; older
                                      segments of at most 2 million records plus 16 for each added one, unless the store
                                      has at least half as many records as its next ordinal says; a few hundred segments */
} sstore_change;

typedef struct sstore_build_options {
    size_t struct_size;    /* sizeof(sstore_build_options), set by the initializer */
    uint32_t distance;     /* the k to build for, 0 to 16; default 3 */
    uint32_t block_bytes;  /* a power of two, 256 to 65536; 0: 4096 */
    uint32_t threads;      /* 0: as many as the process may use */
    uint64_t expected_record_count; /* if it is known, about; else 0. See sstore_builder_needs() */
    uint64_t expected_largest_id; /* of records that come with ids, if it is known, about; 0: their ids are like ordinals */
    uint64_t first_ordinal; /* the id of the first record that comes without one; default 0. Parts that are to be merged
                               get different ones */
    int ignore_free_space; /* other than 0: begin though the disk seems too small */
    int without_ids;       /* other than 0: a store without ids; those given to add are dropped */
    int replace;           /* other than 0: a store that is at the path already is replaced once the new one is whole */
    uint64_t memory_bytes; /* what the build may take, all in all, with up to 12 MiB of the process that calls it;
                              0: 1 GiB. At least 64 MiB are kept to; less (1 MiB at least) is exceeded by what cannot
                              be done without */
    const char *plan;      /* NULL or "auto": chosen as by sstore_plan(), from the fingerprints. Otherwise "20", "16",
                              "10", "4", "3", "2", "1" (tables of the well-known plans for k = 3), "BcC" such as "5c2"
                              (B groups of bits, a table for each choice of C), or "bits:radius,..." such as
                              "24:1,20:0,20:0" (disjoint groups, which add up to at most 64 bits). Other numbers alone,
                              such as "8", are refused */
    const char *tmp_dir;   /* where what does not fit in memory is spilled, in files without names that nobody else can
                              open; NULL: inside the store's folder */
    const char *recipe;    /* how the fingerprints are made: text without control characters, at most 4096 bytes; kept in the
                              manifest. NULL: not said */
    sstore_progress_fn on_progress; /* told how far finish is; NULL: nobody */
    void *progress_context;
    sstore_change *change; /* filled where the store was made or changed, or nothing had to be; NULL: not wanted */
} sstore_build_options;

#define SSTORE_BUILD_OPTIONS_INIT                                                                                      \
    {                                                                                                                  \
        sizeof(sstore_build_options), 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL                 \
    }

/*
 * Begin a store at `path`. The folder is made, or, where options->replace is set, an existing store is locked against
 * other writers; readers go on undisturbed. What is written goes into a folder of its own inside, which readers do not
 * see; there is no store at `path`, or the old one, until sstore_builder_finish() succeeds. An empty folder is taken
 * as it is. Where the number of records is known, the disk's free space is held against what they need at once; and
 * again at the end of reading, in sstore_builder_finish(). At most 12 file descriptors are used, whatever is spilled; where a
 * store is read, two more for each of its segments, and what sstore_open() says where records are added to it or removed.
 * Errors: ARGUMENT (an option out of range; a plan that would miss a pair within the distance, with an example),
 * MEMORY, IO (system_errno ENOSPC: too little free space), EXISTS (a store, the remains of one, or a folder with other
 * things in it), BUSY, NOT_FOUND (no tmp_dir).
 */
SSTORE_API sstore_status sstore_builder_create(const char *path, const sstore_build_options *options,
                                               sstore_builder **builder_out, sstore_error *error);

/*
 * Begin to add records to the store at `path`. They become a segment of their own, which sstore_builder_finish()
 * publishes at once: readers that have the store open go on with what they see, sstore_open() and sstore_reopen() see
 * the records too. What the store has already is not added again. Records without ids get ordinals from the store's next
 * one on. If nothing is new, nothing is written.
 * options: as for sstore_builder_create(), but distance, without_ids and first_ordinal, which are the store's, and
 * replace. recipe: NULL, or the store's. plan and block_bytes are the new segment's: NULL and 0 stand for the store's
 * block size and, if the store was built with a given plan, for that; else for the plan that suits the segment. Looking
 * records up in the store takes memory, 8 bytes a block and some more: that may be up to half of memory_bytes.
 * Many small segments make queries slower: compact them (sstore_compact()).
 * Errors: as sstore_builder_create(); NOT_FOUND where there is no store; DAMAGED, UNSUPPORTED, RECIPE; BUSY while
 * another process writes to it.
 */
SSTORE_API sstore_status sstore_builder_create_addition(const char *path, const sstore_build_options *options,
                                                        sstore_builder **builder_out, sstore_error *error);

/*
 * Begin to remove records from the store at `path`. Those to be removed are given to sstore_builder_add(), or named by
 * their fingerprints alone (ids NULL: all records of each), or by their ids alone (sstore_builder_add_ids()).
 * sstore_builder_finish() publishes the removal at once, as a segment; what the store does not have is ignored. The
 * records' room is free after sstore_compact(). Otherwise as sstore_builder_create_addition(); plan is ignored.
 */
SSTORE_API sstore_status sstore_builder_create_removal(const char *path, const sstore_build_options *options,
                                                       sstore_builder **builder_out, sstore_error *error);

/* What a build takes of the disk, in bytes. */
typedef struct sstore_build_needs {
    size_t struct_size;      /* set by the caller to sizeof(sstore_build_needs) */
    uint64_t store_bytes;    /* of the store when it is done */
    uint64_t peak_bytes;     /* in the store's folder at most */
    uint64_t free_bytes;     /* in its file system now */
    uint64_t tmp_peak_bytes; /* in tmp_dir at most, where that is another file system; else 0, and peak_bytes has it */
    uint64_t tmp_free_bytes; /* in its file system now */
} sstore_build_needs;

/*
 * Estimate what the build would take with `record_count` records in all: with given ids as they were so far, else with
 * ordinals; where the plan is still to be chosen, with the one that uniform data would get. Errors: ARGUMENT, MEMORY,
 * IO.
 */
SSTORE_API sstore_status sstore_builder_needs(const sstore_builder *builder, uint64_t record_count,
                                              sstore_build_needs *needs_out, sstore_error *error);

/*
 * Add `count` records, in any order and with repeats: an identical (fingerprint, id) pair is kept once. `ids` may be
 * NULL: then a record's id is its ordinal over all calls, from options.first_ordinal. Either all calls give ids or
 * none does, unless the store is without_ids. The arrays are copied.
 * Errors: ARGUMENT, MEMORY, IO. After an error only sstore_builder_abort() is allowed.
 */
SSTORE_API sstore_status sstore_builder_add(sstore_builder *builder, const uint64_t *fingerprints,
                                            const uint64_t *ids, size_t count, sstore_error *error);

/*
 * In a removal: name all records with these ids, whatever their fingerprints. To find them all records of the store are
 * looked through, once for as many ids as an eighth or so of the memory holds. Errors: ARGUMENT (no removal, or a store
 * without ids), MEMORY, IO, DAMAGED. After an error only sstore_builder_abort() is allowed.
 */
SSTORE_API sstore_status sstore_builder_add_ids(sstore_builder *builder, const uint64_t *ids, size_t count,
                                                sstore_error *error);

/*
 * Sort, encode, write and publish the store, durably: when this returns SSTORE_OK the store survives a power cut. On
 * failure nothing is left behind and a store that was there before is as it was; only if the very last sync fails,
 * after publication, the new store stands and may not survive a power cut. The builder is freed in all cases.
 * Errors: MEMORY, IO; STOPPED where on_progress asked for it.
 */
SSTORE_API sstore_status sstore_builder_finish(sstore_builder *builder, sstore_error *error);

/* Give up: remove what was written and free the builder. NULL is allowed. */
SSTORE_API void sstore_builder_abort(sstore_builder *builder);

/*
 * Make a store at `path` of all records of the stores at input_paths, any of them once: of parts that were built by
 * several processes or machines. They must be for the same distance, all with ids or all without, and of the same
 * recipe (else ARGUMENT or RECIPE); their plans may differ. What comes out is, byte for byte, what a build of all the
 * records makes. Nothing is sorted again for table 0, the records are read as they lie; other tables are made as in a
 * build, within the same memory.
 * options: as for sstore_builder_create(), but distance, without_ids and recipe, which are the inputs', and what is
 * said of the records to come (first_ordinal and those expected). Ordinals of parts must have been made different, or
 * records of different parts are taken for one. All inputs are open at once: each takes some 50 KiB (at blocks of 4
 * KiB), of which all together may take half of the memory (else ARGUMENT), and three file descriptors.
 * Errors: as sstore_open(), sstore_builder_create() and sstore_builder_finish().
 */
SSTORE_API sstore_status sstore_merge(const char *path, const char *const *input_paths, size_t input_count,
                                      const sstore_build_options *options, sstore_error *error);

/*
 * Make a store at `path` of a share of the records of the store at input_path: of those whose fingerprint's hash (the
 * upper 32 bits of XXH3-64 of its 8 bytes, little-endian, times shard_count, divided by 2^32) is `shard`, from 0. Each
 * record is in exactly one shard. Near-duplicates are in different ones, so a query goes to all. options: as for
 * sstore_merge(). Errors: the same.
 */
SSTORE_API sstore_status sstore_shard(const char *path, const char *input_path, uint32_t shard, uint32_t shard_count,
                                      const sstore_build_options *options, sstore_error *error);

/* Which segments are compacted. */
typedef enum sstore_compaction {
    SSTORE_COMPACT_ALL = 0,  /* all: the store becomes what a build of its records makes */
    SSTORE_COMPACT_TIERS = 1 /* the newest ones, as long as the next older one is at most four times as large as they are
                                together, if that makes four or more: for a store that grows all the time. Each record
                                is written again a few times whenever the store has grown fourfold */
} sstore_compaction;

/*
 * Make one segment of several, without what was removed, and publish the store with it. Readers that have the store open
 * go on with what they see. After all were compacted, with equal plan and block size, block and id files are byte for
 * byte what a build of the store's records makes; a single segment is made anew only if options has a plan or a block
 * size. After some of them, what they remove from older segments stays, as a segment of its own.
 * options: as for sstore_builder_create_addition(). The segments are read as they lie, each in some 50 KiB of memory (at
 * blocks of 4 KiB), of which all together may take half of memory_bytes (else ARGUMENT). The disk needs room for the new
 * segment beside the old ones. Errors: as sstore_builder_create_addition() and sstore_builder_finish().
 */
SSTORE_API sstore_status sstore_compact(const char *path, sstore_compaction which, const sstore_build_options *options,
                                        sstore_error *error);

typedef struct sstore_reindex_options {
    size_t struct_size;   /* sizeof(sstore_reindex_options), set by the initializer */
    int all;              /* other than 0: make all directories again, also those that can be used */
    sstore_progress_fn on_progress; /* told how far the call is; NULL: nobody */
    void *progress_context;
    uint32_t *made_count; /* on success, set to how many directories were made again; NULL: not wanted */
} sstore_reindex_options;

#define SSTORE_REINDEX_OPTIONS_INIT                                                                                    \
    {                                                                                                                  \
        sizeof(sstore_reindex_options), 0, NULL, NULL, NULL                                                            \
    }

/*
 * Make the directories again, from the block files, that sstore_open() cannot use: those that are lost or damaged, and
 * those that an LMDB of another file format wrote, as on a host of another byte order. The store answers then what it
 * answered before. If all can be used, nothing is done. Readers that have the store open go on with what they see. All
 * tables and ids of the segments concerned are read, and checked as far as the directory rests on them (sstore_verify()
 * checks everything); they are not written again, but get other names by hard links, or, where the file system has
 * none, are copied. Memory: what the largest segment takes in an open store, and a few blocks. On failure the store is as
 * it was; only if the very last sync fails, as with sstore_builder_finish(). Errors: ARGUMENT, MEMORY, IO, NOT_FOUND, BUSY; DAMAGED (the manifest, or a
 * table or the ids of a segment concerned, which cannot be had from anything else), UNSUPPORTED; STOPPED. Source:
 * format-spec/sstore-format.md, "Directory".
 */
SSTORE_API sstore_status sstore_reindex(const char *path, const sstore_reindex_options *options, sstore_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Scanning what is in no store (the paper, section 4.2)
 *
 * A batch of queries is held in memory and the fingerprints to be searched stream past it, so that they need no store
 * and may lie in files on many machines: each scans its own, and all matches together are then collected.
 */

/* A query and what was found near it. `id` is 0 where there are no ids. */
typedef struct sstore_scan_match {
    uint64_t query, fingerprint, id;
    uint32_t distance;
} sstore_scan_match;

/* Called for each match; the rules of sstore_match_fn hold. */
typedef int (*sstore_scan_match_fn)(void *context, const sstore_scan_match *match);

/* A batch of queries in memory. It belongs to one thread at a time. */
typedef struct sstore_scan sstore_scan;

/*
 * Hold `count` queries (at most 2^32 - 1), in any order; equal ones are held once. What lies within `distance` (0 to
 * SSTORE_MAX_BUILD_DISTANCE) of one will match. The array is copied. `threads` (0: as many as the process may use) work
 * here and in sstore_scan_feed().
 *
 * Memory: distance + 1 tables at the most, each of 8 bytes a query and up to 8 for where its keys begin, and less than
 * a megabyte besides: a million queries at distance 3 take 33 MB. While the tables are made 8 bytes a query more. For
 * feeding, 7 MiB a thread; only where one fingerprint alone matches more than 2^18 queries 16 bytes for each of these.
 * Errors: ARGUMENT, MEMORY. *scan_out is to be freed with sstore_scan_free(); it is NULL on failure.
 */
SSTORE_API sstore_status sstore_scan_create(const uint64_t *queries, size_t count, uint32_t distance,
                                            uint32_t threads, sstore_scan **scan_out, sstore_error *error);

/*
 * Let `count` fingerprints pass, with their ids or, if they have none, NULL: each is reported with each query within
 * the distance, in any order. on_match is called in the caller's thread only. Some 10000 fingerprints a call are worth
 * several threads; a million take least time each. Errors: ARGUMENT, MEMORY (matches reported before it are right).
 * SSTORE_STOPPED if the callback stopped; then some of the fingerprints were looked up and some were not. Source: the
 * paper, section 4.2; the tables are those of Norouzi, Punjani and Fleet, "Fast search in Hamming space with
 * multi-index hashing" (CVPR 2012).
 */
SSTORE_API sstore_status sstore_scan_feed(sstore_scan *scan, const uint64_t *fingerprints, const uint64_t *ids,
                                          size_t count, sstore_scan_match_fn on_match, void *context,
                                          sstore_error *error);

/* NULL is allowed. */
SSTORE_API void sstore_scan_free(sstore_scan *scan);

/* Matches of several scans on their way into order. It belongs to one thread at a time. */
typedef struct sstore_collection sstore_collection;

typedef struct sstore_collection_options {
    size_t struct_size;    /* sizeof(sstore_collection_options), set by the initializer */
    uint64_t memory_bytes; /* what it may take, with up to 12 MiB of the process that calls it; 0: 1 GiB. At least
                              64 MiB are kept to */
    const char *tmp_dir;   /* where what does not fit in memory is spilled: 24 bytes a match; NULL: the folder that the
                              variable TMPDIR names, or without it the working folder */
} sstore_collection_options;

#define SSTORE_COLLECTION_OPTIONS_INIT                                                                                 \
    {                                                                                                                  \
        sizeof(sstore_collection_options), 0, NULL                                                                     \
    }

/* Begin a collection. Errors: ARGUMENT, MEMORY, IO, NOT_FOUND (no tmp_dir). */
SSTORE_API sstore_status sstore_collection_create(const sstore_collection_options *options,
                                                  sstore_collection **collection_out, sstore_error *error);

/*
 * Add matches, in any order and with repeats; distances are not read, since they follow from the fingerprints. Errors:
 * ARGUMENT (matches were reported already), MEMORY, IO; after the latter two only sstore_collection_free() is allowed.
 */
SSTORE_API sstore_status sstore_collection_add(sstore_collection *collection, const sstore_scan_match *matches,
                                               size_t count, sstore_error *error);

/*
 * Report all matches that were added, ascending by (query, distance, fingerprint, id) and each once, as often as
 * wanted. Matches of one query that do not fit in memory are read once for each distance among them. Errors: ARGUMENT,
 * MEMORY, IO; after the latter two only sstore_collection_free() is allowed.
 */
SSTORE_API sstore_status sstore_collection_report(sstore_collection *collection, sstore_scan_match_fn on_match,
                                                  void *context, sstore_error *error);

/* NULL is allowed. */
SSTORE_API void sstore_collection_free(sstore_collection *collection);

/* ------------------------------------------------------------------------------------------------------------------
 * Intake: "have I seen this?" and, if not, adding it, as one step
 */

typedef struct sstore_intake sstore_intake;

typedef struct sstore_intake_options {
    size_t struct_size;     /* sizeof(sstore_intake_options), set by the initializer */
    uint32_t distance;      /* a record is new if none is within it: 0 to 16, or SSTORE_OWN_DISTANCE, the default */
    uint64_t publish_every; /* publish when so many new records are gathered; 0: as many as an eighth of the memory has
                               room for, about 1 million for 512 MiB */
    int compact;            /* other than 0: compact by tiers whenever something was published */
    sstore_build_options build; /* as for sstore_builder_create_addition() */
} sstore_intake_options;

#define SSTORE_INTAKE_OPTIONS_INIT                                                                                     \
    {                                                                                                                  \
        sizeof(sstore_intake_options), SSTORE_OWN_DISTANCE, 0, 0, SSTORE_BUILD_OPTIONS_INIT                            \
    }

/* What became of one record that was offered. */
typedef struct sstore_intake_answer {
    uint64_t index;           /* in the call's arrays */
    uint64_t fingerprint, id; /* id: the one given; without, the ordinal that a new one got, else 0 */
    int is_new;               /* 1: it was added; there is no match */
    const sstore_match *matches; /* records within the distance, ascending by (distance, fingerprint, id) */
    size_t match_count;
} sstore_intake_answer;

/* Called for each record; `answer` is valid until it returns. 0: go on; anything else stops the call: the records behind
 * this one have not been offered then. */
typedef int (*sstore_intake_fn)(void *context, const sstore_intake_answer *answer);

/*
 * Begin to take records in at `path`, a store that is there. No other process can write to it until sstore_intake_close().
 * Errors: as sstore_builder_create_addition() and sstore_open().
 */
SSTORE_API sstore_status sstore_intake_open(const char *path, const sstore_intake_options *options,
                                            sstore_intake **intake_out, sstore_error *error);

/*
 * Offer `count` records, one after the other. One that has no record of the store within the distance, nor one that was
 * taken in before, also in this call, is new and is taken in; of others the matches are reported. `ids` is NULL where
 * they have none: then the new ones get the store's next ordinals; in a store without ids they are not read. Many at a
 * time take less each: they are answered as sstore_query_batch() does, and take as much memory.
 *
 * What is new is gathered in memory, and published as one segment by sstore_intake_publish(), or here, as options say.
 * Errors: ARGUMENT, MEMORY, IO, DAMAGED; STOPPED. After an error, what was answered so far holds.
 */
SSTORE_API sstore_status sstore_intake_offer(sstore_intake *intake, const uint64_t *fingerprints, const uint64_t *ids,
                                             size_t count, sstore_intake_fn on_answer, void *context,
                                             sstore_error *error);

/*
 * Publish what was gathered, durably, and compact, where options say so; nothing is done if nothing was gathered. On
 * failure sstore_intake_pending_count() tells whether it is still gathered and the store as it was, or what failed came
 * after the publication; either way the intake can go on. Errors: as sstore_builder_finish(), sstore_compact() and
 * sstore_reopen().
 */
SSTORE_API sstore_status sstore_intake_publish(sstore_intake *intake, sstore_error *error);

/* How many records were new so far; those that were published count too. */
SSTORE_API uint64_t sstore_intake_new_count(const sstore_intake *intake);

/* How many of them are gathered and not published yet. */
SSTORE_API uint64_t sstore_intake_pending_count(const sstore_intake *intake);

/* End it. What was not published is lost. NULL is allowed. */
SSTORE_API void sstore_intake_close(sstore_intake *intake);

/* ------------------------------------------------------------------------------------------------------------------
 * Joins: which records of a store, or of two, are near each other
 */

typedef struct sstore_join_options {
    size_t struct_size;    /* sizeof(sstore_join_options), set by the initializer */
    uint32_t distance;     /* records within it are near each other: 0 to 16, or SSTORE_OWN_DISTANCE, the default */
    uint32_t threads;      /* 0: as many as the process may use */
    uint64_t memory_bytes; /* what the call may take beside the open stores, all in all; 0: 1 GiB. At least 64 MiB are
                              kept to; less (8 MiB at least) is exceeded by what cannot be done without. With little
                              memory, fewer threads look for pairs */
    const char *tmp_dir;   /* where what does not fit in memory is spilled; NULL: the folder that the variable TMPDIR
                              names, or without it the (left) store's. Nothing is made there if memory is enough */
    sstore_progress_fn on_progress; /* told how far the call is; NULL: nobody */
    void *progress_context;
} sstore_join_options;

#define SSTORE_JOIN_OPTIONS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(sstore_join_options), SSTORE_OWN_DISTANCE, 0, 0, NULL, NULL, NULL                                       \
    }

/* Two records that are near each other. Ids are 0 in a store without. */
typedef struct sstore_pair {
    uint64_t fingerprint, id;
    uint64_t other_fingerprint, other_id;
    uint32_t distance;
} sstore_pair;

/* Called for each pair, in the caller's thread; the rules of sstore_match_fn hold. */
typedef int (*sstore_pair_fn)(void *context, const sstore_pair *pair);

/*
 * Report every pair of different records of the store within the distance once, the lower record (by fingerprint, then
 * id) first. In the order of (fingerprint, other_fingerprint, other_id, id), whatever memory and threads. Records with
 * equal fingerprints are also pairs: a fingerprint with n ids has n * (n - 1) / 2 of them.
 *
 * The store's fingerprints are sorted k + 1 times, each time by other bits, and compared where these are equal; its own
 * tables are not used, so any distance will do. What does not fit in memory is spilled: up to about 16 bytes a
 * fingerprint, and 40 a pair. At most 4 file descriptors are used. Errors: ARGUMENT, MEMORY, IO, DAMAGED, NOT_FOUND (no
 * tmp_dir); STOPPED. Source: the paper, section 3.1.
 */
SSTORE_API sstore_status sstore_pairs(const sstore *store, const sstore_join_options *options, sstore_pair_fn on_pair,
                                      void *context, sstore_error *error);

/*
 * Report every pair of a record of `left` and one of `right` within the distance once, the left one first; the order is
 * that of sstore_pairs(). The stores must be of the same recipe (else RECIPE) and two different handles; one may be
 * without ids. Otherwise as sstore_pairs().
 */
SSTORE_API sstore_status sstore_join(const sstore *left, const sstore *right, const sstore_join_options *options,
                                     sstore_pair_fn on_pair, void *context, sstore_error *error);

/* A record and its cluster. */
typedef struct sstore_cluster_record {
    uint64_t cluster;      /* numbers the clusters from 0, in the order of their least fingerprints */
    uint64_t cluster_size; /* records that it has */
    uint64_t fingerprint, id;
    uint32_t distance;     /* from the representative */
    int is_representative; /* 1: the record that stands for the cluster: that with the least id and, of several, the least
                              fingerprint */
} sstore_cluster_record;

/* Called for each record, in the caller's thread; the rules of sstore_match_fn hold. */
typedef int (*sstore_cluster_fn)(void *context, const sstore_cluster_record *record);

/*
 * Report the clusters: the groups of records that are connected by pairs within the distance. A cluster's records come
 * together, the representative first, then by (id, fingerprint). `with_singles` other than 0: records that nothing is
 * near are reported, too, as clusters of one.
 *
 * Time grows about in proportion to the records, also where groups are large or dense: of many fingerprints near each
 * other only so many pairs are looked at as connect them. Otherwise as sstore_pairs().
 */
SSTORE_API sstore_status sstore_clusters(const sstore *store, const sstore_join_options *options, int with_singles,
                                         sstore_cluster_fn on_record, void *context, sstore_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Choosing a plan
 */

/* What a plan is chosen for. */
typedef enum sstore_objective {
    SSTORE_OBJECTIVE_BALANCED = 0, /* the least warm time * bytes^1.5: 1.5 % more time are worth 1 % fewer bytes; what
                                      a build without a plan does (the default) */
    SSTORE_OBJECTIVE_SIZE = 1,     /* the fewest bytes, as long as a query takes at most a millisecond or, if that is
                                      more, ten times what the fastest plan takes */
    SSTORE_OBJECTIVE_LATENCY = 2   /* the least warm time */
} sstore_objective;

typedef struct sstore_plan_options {
    size_t struct_size;         /* sizeof(sstore_plan_options), set by the initializer */
    uint64_t record_count;      /* of the store to come */
    uint32_t distance;          /* the k to build for, 0 to 16; default 3 */
    int has_ids;                /* other than 0: with ids, taken for ordinals; the default */
    uint32_t block_bytes;       /* a power of two, 256 to 65536; 0: 4096 */
    sstore_objective objective;
    uint64_t max_bytes;         /* of the whole store; 0: no limit */
    const uint64_t *sample;     /* fingerprints like those to come, in any order; NULL: uniform ones are expected. Real
                                   ones crowd: some prefixes lead to far more fingerprints than others */
    size_t sample_count;        /* some ten thousand do; more are thinned out, fewer than a thousand not looked at */
} sstore_plan_options;

#define SSTORE_PLAN_OPTIONS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(sstore_plan_options), 0, 3, 1, 0, SSTORE_OBJECTIVE_BALANCED, 0, NULL, 0                                 \
    }

/* What a plan is expected to take. Counts and times are those of one query without a match, at the plan's distance; a
 * match takes up to two reads more. */
typedef struct sstore_plan_estimate {
    size_t struct_size;
    char plan[512];               /* as sstore_build_options.plan takes it */
    uint32_t table_count;
    uint32_t least_prefix_bits, most_prefix_bits; /* of the tables */
    uint32_t least_radius, most_radius;
    double table_bits;            /* bits that a fingerprint takes in one table */
    double total_bytes;           /* of the store */
    double bytes_each;            /* the same for each record */
    double directory_bytes;       /* what a reader holds in memory */
    double probe_count;           /* look-ups of a query; each finds one prefix, or a range that few fingerprints have */
    double block_count;           /* blocks that it reads: probes that share one read it once */
    double candidate_count;       /* fingerprints that it tests */
    double warm_ns;               /* with all blocks in memory, read by SSTORE_IO_MMAP */
    double cold_ns;               /* with none cached, all read side by side */
    int scans;                    /* 1: reading a whole table takes less than the probes; the figures are a scan's */
    int useful;                   /* 1: no plan with fewer tables is as fast */
    int chosen;                   /* 1: the plan for the objective */
    char reason[512];             /* of the chosen one: why, in a sentence; else "" */
} sstore_plan_estimate;

/* Called for each plan; `estimate` is valid until it returns. 0: go on, else stop. */
typedef int (*sstore_plan_fn)(void *context, const sstore_plan_estimate *estimate);

/*
 * Estimate every plan for a store that does not exist yet, and report them in ascending order of bytes; one of them is
 * chosen. Times come from a model with constants measured once: they compare plans, and are no promise for a machine.
 * Every plan is proved complete for the distance before it is reported. A store of fewer than a million records is
 * weighed as if it had a million. Takes a tenth of a second or so, and two megabytes.
 * Errors: ARGUMENT (an option out of range, or no plan within max_bytes), MEMORY. SSTORE_STOPPED if the callback
 * stopped.
 * Source: the paper, section 3.1.1, and for radii Norouzi, Punjani and Fleet, "Fast search in Hamming space with
 * multi-index hashing" (CVPR 2012).
 */
SSTORE_API sstore_status sstore_plan(const sstore_plan_options *options, sstore_plan_fn on_plan, void *context,
                                     sstore_error *error);

/* ------------------------------------------------------------------------------------------------------------------
 * Making fingerprints (the paper, section 2; format-spec/fingerprint.md)
 */

/* A feature of a document: any bytes, and how much it counts. */
typedef struct sstore_feature {
    const void *data;
    size_t size;   /* bytes */
    double weight; /* finite, |weight| <= 2^31; kept to 2^-20 */
} sstore_feature;

/*
 * The simhash of weighted features: each is hashed with XXH3 to 64 bits; for every bit its weight is added where the
 * hash has a 1 and subtracted where it has a 0; a bit of the fingerprint is 1 where its sum is > 0. The order of the
 * features does not matter. No features give 0. Errors: ARGUMENT (a weight out of range).
 */
SSTORE_API sstore_status sstore_simhash(const sstore_feature *features, size_t count, uint64_t *fingerprint_out,
                                        sstore_error *error);

/* The same for features that the caller has hashed already; `weights` may be NULL: all 1. */
SSTORE_API sstore_status sstore_simhash_hashes(const uint64_t *hashes, const double *weights, size_t count,
                                               uint64_t *fingerprint_out, sstore_error *error);

typedef enum sstore_feature_kind {
    SSTORE_FEATURES_WORDS = 0, /* shingles of lower-cased words; each character of a script without spaces is a word */
    SSTORE_FEATURES_CHARS = 1  /* n-grams of lower-cased characters */
} sstore_feature_kind;

typedef struct sstore_text_options {
    size_t struct_size;        /* sizeof(sstore_text_options), set by the initializer */
    sstore_feature_kind kind;
    uint32_t shingle;          /* words or characters a feature, 1 to 64; 0: 3 words or 4 characters */
} sstore_text_options;

#define SSTORE_TEXT_OPTIONS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(sstore_text_options), SSTORE_FEATURES_WORDS, 0                                                          \
    }

/*
 * The simhash of a text in UTF-8 (invalid bytes are taken as U+FFFD), features weighted by how often they occur.
 * Errors: ARGUMENT, MEMORY, UNSUPPORTED (a library built without utf8proc).
 */
SSTORE_API sstore_status sstore_fingerprint_text(const char *text, size_t size, const sstore_text_options *options,
                                                 uint64_t *fingerprint_out, sstore_error *error);

/*
 * Write the recipe of sstore_fingerprint_text() under `options` to buffer, such as "sstore-text-1 features=words
 * shingle=3 hash=xxh3-64 unicode=15.0.0": two texts' fingerprints may be compared only if their recipes are equal.
 * Returns the length without the closing 0, as snprintf does; 0 and "" where there is no such recipe: options out of
 * range, or a library built without utf8proc.
 */
SSTORE_API size_t sstore_text_recipe(const sstore_text_options *options, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* SSTORE_H */
