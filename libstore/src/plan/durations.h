/*
 * durations.h - all measured durations by which the library chooses: plans and radii, probing or scanning, one by one
 * or together. Nanoseconds of one thread, on a processor with AVX2 and warm data unless said. A choice is as good as
 * the ratios of these; a factor of two is harmless. bench/README.md tells how to run the benchmarks that are named.
 */
#ifndef SS_DURATIONS_H
#define SS_DURATIONS_H

/*
 * A query of 64 bits. Measured by bench_query on 10 and 100 million uniform fingerprints in 2 to 10 tables, at
 * distances from 1 to 8; the model is within a factor of 1.6 of four fifths of them, and of 2.3 of all. Plans of stores
 * follow from these: another value gives other bytes.
 */
#define SS_READ_BLOCK_NS 1000.0  /* look up, read, check and open one block, in pread mode */
#define SS_MAPPED_BLOCK_NS 140.0 /* the same for a block in memory */
#define SS_PROBE_NS 20.0         /* one more prefix in the current block */
#define SS_LOWER_HALF_NS 0.6     /* test one lower half of a probe's groups */
#define SS_SCAN_READ_NS 0.35     /* for each fingerprint that a full scan reads, checksum included */
#define SS_SCAN_TEST_NS 0.15     /* test its lower half */
#define SS_DECODE_NS 2.0         /* decode one fingerprint of a group in which some lower half is near */
#define SS_COMPARE_NS 4.0        /* compare one whose lower half is near */
#define SS_PROBE_LIMIT_NS 4e8    /* demanded probes may take this long */
#define SS_SEARCH_STEP_NS 4.0    /* of a full scan, that allow a step of a search for radii, which takes about 100 */

/* Of the same, with cold data: parallel reads of 4 KiB from a virtual machine's disk. One takes 51 to 60 us, 4 take 99,
 * 16 take 218, and at most 91,000 are done in a second. By bench_cold. */
#define SS_COLD_READ_NS 45000.0
#define SS_COLD_BLOCK_NS 13500.0

/* Radii of words, when a store is built: plans follow from these as well. */
#define SS_ROW_BLOCK_NS 130.0 /* read a block of whole fingerprints */
#define SS_NEAR_WORD_NS 20.0  /* find the rank of a near word, and compare its fingerprint in that block */

/* A query of several words. By bench_query. */
#define SS_ROW_SCAN_NS 1.5       /* test a fingerprint of table 0, as the next one, */
#define SS_ROW_SCAN_WORD_NS 0.7  /* and for each of its words */
#define SS_ROW_CANDIDATE_NS 150u /* find and confirm a candidate, at a random place */

/* The search for the nearest: for each block that a try reads. */
#define SS_TRY_BLOCK_NS 200.0

/* Many queries. By bench_batch. */
#define SS_BATCH_START_NS 4e4   /* allocate, start threads and order matches */
#define SS_QUERY_BLOCK_NS 500u  /* search a block for one query, with some groups that are decoded */
#define SS_PASS_BLOCK_NS 850.0  /* get a block of a table pass, check it and index its groups */
#define SS_PASS_DECODE_NS 2.2   /* decode a fingerprint, beyond SS_HALVES_TELL */
#define SS_BUCKET_NS 12u        /* find a bucket, or several, in a block */
#define SS_BUCKET_TEST_NS 0.15  /* test one of its fingerprints */
#define SS_GROUP_TEST_NS 4u     /* test a group of a bucket */
#define SS_GROUP_DECODE_NS 60u  /* decode it, and test it in full */
#define SS_ROW_TEST_NS 1.0      /* test a whole fingerprint against one query, */
#define SS_ROW_TEST_WORD_NS 0.6 /* and for each of its words */

/* Runs of words, which clusters compare. By bench_pairs. */
#define SS_RUN_ITEM_NS 60.0      /* sort the key of a fingerprint */
#define SS_RUN_FIND_NS 4.0       /* look up a key near another one */
#define SS_RUN_BEGIN_NS 12.0     /* begin to compare those of two keys */
#define SS_RUN_TEST_NS 0.2       /* compare two words */
#define SS_RUN_CANDIDATE_NS 25.0 /* compare two fingerprints whose words are near */

/* Indexes in memory. By bench_scan. */
#define SS_MEMORY_PROBE_NS 8.0      /* look up a key, */
#define SS_MEMORY_FOUND_NS 17.0     /* which has values, */
#define SS_MEMORY_VALUE_NS 0.35     /* and test each of these */
#define SS_MEMORY_CANDIDATE_NS 60.0 /* find and test a candidate of several words */
#define SS_MEMORY_ROW_NS 2.0        /* test a row if all are tested, */
#define SS_MEMORY_ROW_WORD_NS 0.25  /* and each of its words */

#endif
