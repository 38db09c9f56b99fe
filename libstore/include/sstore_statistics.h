/*
 * sstore_statistics.h - what a store contains and how large it is, what work a query makes, and what plans cost.
 * The conventions are those of sstore.h.
 */
#ifndef SSTORE_STATISTICS_H
#define SSTORE_STATISTICS_H

#include <sstore.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ===== The contents of a store ===== */

/* The contents of a store. Sizes are in bytes. */
typedef struct sstore_statistics {
    size_t struct_size;      /* set by the caller */
    uint64_t record_count;   /* (fingerprint, id) pairs */
    uint64_t distinct_count; /* of distinct fingerprints, summed over the segments that add: exact for one segment */
    uint64_t removed_count;  /* removed records that take space until they are compacted away */
    uint64_t next_id;        /* the id that the next record without one would get; 0 in a store without ids */
    uint64_t tables_bytes;   /* of all segments, as the next ten */
    uint64_t fingerprints_bytes; /* of whole fingerprints; 0 if they have 64 bits, as the next one */
    uint64_t ranks_bytes;        /* of the columns that lead from words to fingerprints */
    uint64_t ids_bytes;          /* of the id columns; 0 without ids */
    uint64_t ids_block_count;
    uint64_t id_index_bytes; /* of the id indexes; 0 without */
    uint64_t name_count;     /* of names, summed over the segments that add; 0 without, as the next two */
    uint64_t names_bytes, name_index_bytes;
    uint64_t directory_bytes;
    uint64_t manifest_bytes;
    uint64_t total_bytes;  /* of all files */
    uint64_t memory_bytes; /* of the open store, with one cursor: see sstore_open() */
    uint32_t segment_count;
    uint32_t largest_segment;  /* of those that add, the one with the most records, from 0 */
    uint32_t table_count;      /* of the largest segment, of all words */
    uint32_t block_bytes;      /* of the largest segment */
    uint32_t fingerprint_bits; /* 64 a word */
    uint32_t distance;         /* the k that the store was built for */
    bool has_ids, has_id_index, has_names;
    char recipe[512]; /* how the fingerprints were made, or "". Escaped by sstore_escape(), and cut to fit */
} sstore_statistics;

#define SSTORE_STATISTICS_INIT                                                                                         \
    {                                                                                                                  \
        sizeof(sstore_statistics), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, false, false,  \
            false, ""                                                                                                  \
    }

/* Fill *statistics_out. Reads nothing from disk. Errors: ARGUMENT. */
SSTORE_API sstore_status sstore_stat(const sstore *store, sstore_statistics *statistics_out, sstore_error *error);

/* One segment, written by one build, addition, removal or compaction. Sizes are in bytes. */
typedef struct sstore_segment_statistics {
    size_t struct_size; /* set by the caller */
    uint64_t record_count, distinct_count;
    uint64_t tables_bytes;
    uint64_t fingerprints_bytes, ranks_bytes; /* as in sstore_statistics */
    uint64_t ids_bytes, ids_block_count, id_index_bytes;
    uint64_t name_count, names_bytes, name_index_bytes;
    uint64_t directory_bytes;
    uint64_t total_bytes;
    uint32_t table_count;
    uint32_t block_bytes;
    bool is_removal; /* its records are removed from older segments; otherwise they are added to the store */
    char folder[32]; /* in the store's folder */
    char writer[32]; /* the program that wrote its block files: "sstore 0.1.0"; "" if it is unknown */
} sstore_segment_statistics;

#define SSTORE_SEGMENT_STATISTICS_INIT                                                                                 \
    {                                                                                                                  \
        sizeof(sstore_segment_statistics), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, false, "", ""                  \
    }

/* Fill *statistics_out for segment `segment` (from 0, the oldest). Reads nothing from disk. Errors: ARGUMENT. */
SSTORE_API sstore_status sstore_stat_segment(const sstore *store, uint32_t segment,
                                             sstore_segment_statistics *statistics_out, sstore_error *error);

/* How one word of the fingerprints of a segment is searched. Fingerprints of 64 bits have one word. */
typedef struct sstore_word_statistics {
    size_t struct_size;   /* set by the caller */
    int32_t radius;       /* bits in which a word that a query finds may differ, at the store's distance: of 64 bits the
                             distance; -1: queries do not search this word */
    uint32_t table_count; /* of this word */
    char plan[1280];      /* its tables, as sstore_write_options.plan takes them: "16:0,16:0,16:0,16:0" */
} sstore_word_statistics;

#define SSTORE_WORD_STATISTICS_INIT                                                                                    \
    {                                                                                                                  \
        sizeof(sstore_word_statistics), 0, 0, ""                                                                       \
    }

/* Fill *statistics_out for word `word` (from 0, the most significant one) of segment `segment`. A segment that removes
 * fingerprints of several words has no tables of words. Reads nothing from disk. Errors: ARGUMENT. */
SSTORE_API sstore_status sstore_stat_word(const sstore *store, uint32_t segment, uint32_t word,
                                          sstore_word_statistics *statistics_out, sstore_error *error);

/* One table. Sizes are in bytes; widths are in bits. The fingerprints of a table are permuted, so that the key bits
 * come first, and then sorted. difference_counts and code_lengths say how their upper halves are coded
 * (format-spec/block-codec.md). */
typedef struct sstore_table_statistics {
    size_t struct_size; /* set by the caller */
    uint64_t key_mask;  /* the key bits: bit 0 of a fingerprint is the mask's highest */
    uint64_t block_count;
    uint64_t file_bytes;                    /* header and blocks */
    uint64_t directory_bytes;               /* this table's part of the directory */
    double bits_per_fingerprint;            /* (file + directory) * 8 / fingerprints */
    double bound_bits_per_fingerprint;      /* of an ideal code of the same symbols: their entropy + suffixes +
                                               column */
    double elias_fano_bits_per_fingerprint; /* of Elias-Fano coding, without any index */
    double rice_bits_per_fingerprint;       /* of Rice coding of the gaps, with the best parameter */
    uint64_t difference_counts[64]; /* element i: the pairs of neighbours that differ in bit i, but not before it */
    uint32_t prefix_bits;           /* key bits */
    uint32_t radius;                /* bits in which a probed prefix may differ, at the store's distance */
    uint32_t word;                  /* of the fingerprints, from 0, that the table has */
    uint8_t code_lengths[33];       /* element h: bits of the code of symbol h; 0: it has no code. Such a pair has the
                                       symbol i if i is at most 31, otherwise the symbol 32 */
} sstore_table_statistics;

#define SSTORE_TABLE_STATISTICS_INIT                                                                                   \
    {                                                                                                                  \
        sizeof(sstore_table_statistics), 0, 0, 0, 0, 0, 0, 0, 0, {0}, 0, 0, 0,                                         \
        {                                                                                                              \
            0                                                                                                          \
        }                                                                                                              \
    }

/* Fill *statistics_out for table `table` (from 0) of segment `segment`. The tables of several words are numbered one
 * word after the other. Reads nothing from disk. Errors: ARGUMENT. */
SSTORE_API sstore_status sstore_stat_table(const sstore *store, uint32_t segment, uint32_t table,
                                           sstore_table_statistics *statistics_out, sstore_error *error);

/* One block of a table. */
typedef struct sstore_block_statistics {
    size_t struct_size; /* set by the caller */
    uint32_t fingerprint_count;
    uint32_t used_bytes; /* of block_bytes. The next fingerprint needs more than the others */
} sstore_block_statistics;

#define SSTORE_BLOCK_STATISTICS_INIT                                                                                   \
    {                                                                                                                  \
        sizeof(sstore_block_statistics), 0, 0                                                                          \
    }

/* Read block `block` (from 0) of a table, and fill *statistics_out. Errors: ARGUMENT, MEMORY, IO, DAMAGED. */
SSTORE_API sstore_status sstore_stat_block(const sstore *store, uint32_t segment, uint32_t table, uint64_t block,
                                           sstore_block_statistics *statistics_out, sstore_error *error);

/*
 * Fill fingerprints_out, which has room for `capacity` fingerprints, with a random sample of the distinct fingerprints
 * of the segments that add, and set *count_out to their number. If there are no more than `capacity`, these are all.
 * Otherwise `capacity` of them are drawn, and those that are drawn twice are left out. Equal seeds draw equally.
 * Fingerprints of removed records can be among them. Within a segment they ascend. A few reads for each: sstore_plan()
 * needs about ten thousand. Errors: ARGUMENT, MEMORY, IO, DAMAGED.
 */
SSTORE_API sstore_status sstore_sample(const sstore *store, uint64_t seed, uint64_t *fingerprints_out, size_t capacity,
                                       size_t *count_out, sstore_error *error);

/* ===== The work of a query ===== */

/* The expected and the actual work of one query in one table. */
typedef struct sstore_table_explanation {
    size_t struct_size;
    uint64_t key_mask;               /* the key bits of this table */
    double expected_block_count;     /* by the directory, which shows how many fingerprints have these prefixes */
    double expected_candidate_count; /* also by the directory */
    uint64_t probe_count;            /* look-ups in the table: of one prefix each, or of a range of rare prefixes */
    uint64_t block_count;            /* blocks read; two probes in a row that share one read it once */
    uint64_t candidate_count;        /* fingerprints with a probed prefix; all of them in a full scan */
    uint64_t hit_count;              /* distinct fingerprints within the distance that this table found first, before
                                        segments that remove are applied; if it has one of several words: the words
                                        within its radius, whose fingerprints may be farther away */
    double probe_ns, full_scan_ns;   /* expected for the whole segment; with STRATEGY_AUTO the smaller one decides */
    uint32_t segment;                /* of the store, from 0. Segments that remove are not searched */
    uint32_t table;                  /* from 0 within the segment; UINT32_MAX: all words of the fingerprints */
    uint32_t prefix_bits;            /* key bits; 64 at distance 0, where the whole fingerprint is looked up */
    int32_t radius;                  /* bits in which a probed prefix may differ; -1: the table was not needed */
    uint32_t word;                   /* of the fingerprint, from 0, that the table has; UINT32_MAX: all, as `table` */
    bool is_full_scan;               /* the whole table was read instead of probing any */
} sstore_table_explanation;

/* Called for each table; and for the whole fingerprints of several words, if they are scanned. */
typedef int (*sstore_explain_fn)(void *context, const sstore_table_explanation *explanation);

/* Run the searches of a query, and report their work in each table instead of matches. Not counted are blocks that are
 * read for the ids of matches and, with several words, for ranks and whole fingerprints of candidates. Errors: as
 * sstore_query(). */
SSTORE_API sstore_status sstore_explain(sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t distance,
                                        sstore_explain_fn on_table, void *context, sstore_error *error);

/* ===== Choosing a plan ===== */

/*
 * The purpose of a plan.
 *  - BALANCED, the default, also of a build without a plan: the smallest warm time * bytes^1.5. 1 % fewer bytes are
 *    worth 1.5 % more time.
 *  - SIZE: the fewest bytes, if a query takes at most a millisecond or, if that is more, ten times as long as with the
 *    fastest plan.
 *  - LATENCY: the smallest warm time.
 */
typedef enum sstore_objective {
    SSTORE_OBJECTIVE_BALANCED = 0,
    SSTORE_OBJECTIVE_SIZE = 1,
    SSTORE_OBJECTIVE_LATENCY = 2
} sstore_objective;

/* The options of sstore_plan(). */
typedef struct sstore_plan_options {
    size_t struct_size;
    uint32_t distance;    /* the k to build for, 0 to 16 a word, or SSTORE_OWN_DISTANCE */
    bool no_ids;          /* a store without ids; otherwise the ids are taken to be numbers from 0 on */
    uint32_t block_bytes; /* a power of two from 256 to 65,536; 0: 4,096 */
    sstore_objective objective;
    uint64_t record_count;  /* of the future store */
    uint64_t max_bytes;     /* of the store; 0: no limit */
    const uint64_t *sample; /* fingerprints like the future ones, in any order; NULL: uniform data. Real data are
                               skewed: some prefixes lead to far more fingerprints than others */
    size_t sample_count;    /* about ten thousand are enough. Larger samples are thinned out; under 1,024 are ignored */
    uint32_t fingerprint_bits; /* see "Conventions" of sstore.h. With several words, the plans are those of
                                  each word, with equal radii. A build chooses the radii of skewed words differently */
} sstore_plan_options;

#define SSTORE_PLAN_OPTIONS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(sstore_plan_options), SSTORE_OWN_DISTANCE, false, 0, SSTORE_OBJECTIVE_BALANCED, 0, 0, NULL, 0, 0        \
    }

/* The expected cost of a plan. Counts and times are those of one query without a match, at the plan's distance. A match
 * takes up to two more reads. */
typedef struct sstore_plan_estimate {
    size_t struct_size;
    double bits_per_fingerprint; /* bits of a fingerprint in one table */
    double total_bytes;          /* of the store */
    double bytes_per_record;     /* total_bytes for each; 0 without records */
    double directory_bytes;      /* held in memory by a reader */
    double probe_count;          /* look-ups in the tables: of one prefix each, or of a range of rare prefixes */
    double block_count;          /* blocks read; probes that share one read it once */
    double candidate_count;      /* fingerprints with a probed prefix */
    double warm_ns;              /* with all blocks in memory, read by SSTORE_IO_MMAP */
    double cold_ns;              /* with no block in memory, all read in parallel */
    uint32_t table_count;
    uint32_t min_prefix_bits, max_prefix_bits; /* of the tables */
    uint32_t min_radius, max_radius;
    bool is_full_scan; /* a full scan costs less than the probes; the numbers are those of a full scan */
    bool is_useful;    /* no plan with fewer tables is as fast */
    bool is_chosen;    /* the plan for the objective */
    char plan[512];    /* as sstore_write_options.plan takes it */
    char reason[512];  /* why the chosen plan was chosen, in a sentence; "" for the others */
} sstore_plan_estimate;

/* Called for each plan. */
typedef int (*sstore_plan_fn)(void *context, const sstore_plan_estimate *estimate);

/* Estimate every plan for a future store, and report them in ascending order of bytes. One of them is chosen. Times
 * come from a model with constants that were measured once: they compare plans, and do not predict times of a machine.
 * Every plan is proved complete for the distance before it is reported. A store of fewer than a million records is
 * weighed as if it had a million. Takes about a tenth of a second, and two megabytes.
 * Errors: ARGUMENT (an option out of range, or no plan within max_bytes), MEMORY. Source: the paper, section
 * 3.1.1, and for radii Norouzi, Punjani and Fleet, "Fast search in Hamming space with multi-index hashing" (CVPR
 * 2012). */
SSTORE_API sstore_status sstore_plan(const sstore_plan_options *options, sstore_plan_fn on_plan, void *context,
                                     sstore_error *error);

#ifdef __cplusplus
}
#endif

#endif /* SSTORE_STATISTICS_H */
