/*
 * skew.h - how evenly the data are spread: what a sample tells about the groups that a query's probes meet and about
 * the bits that a fingerprint takes. Real fingerprints are far from uniform; a plan chosen as if they were reads a
 * hundred times the candidates that it expects.
 *
 * The sample is drawn by a hash of the fingerprint, not by position: neighbours in a sorted table are alike, so every
 * n-th one would hide just the groups that matter. It depends on the set of fingerprints alone, in whatever order they
 * come.
 */
#ifndef SS_SKEW_H
#define SS_SKEW_H

#include "base/common.h"

#define SS_SAMPLE_CAPACITY 32768u
#define SS_SAMPLE_LEAST 1024u /* a smaller one tells nothing: its few fingerprints may be neighbours by chance */

/* ----- drawing a sample ----- */

typedef struct ss_sampler {
    uint64_t *fingerprints; /* room for SS_SAMPLE_CAPACITY; borrowed */
    size_t count;
    uint64_t limit; /* fingerprints whose hash is not above it are in the sample */
} ss_sampler;

static inline void ss_sampler_init(ss_sampler *sampler, uint64_t *room)
{
    *sampler = (ss_sampler){.fingerprints = room, .limit = UINT64_MAX};
}

/* A good mix of 64 bits: the last steps of splitmix64 (Steele, Lea and Flood, 2014). */
static inline uint64_t ss_sample_hash(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Put a fingerprint whose hash is within the limit into the sample; a full sample is thinned first. */
void ss_sampler_keep(ss_sampler *sampler, uint64_t fingerprint);

static inline void ss_sampler_add(ss_sampler *sampler, uint64_t fingerprint)
{
    if (SS_UNLIKELY(ss_sample_hash(fingerprint) <= sampler->limit))
        ss_sampler_keep(sampler, fingerprint);
}

/* Add what another sampler was given, and so what its sample would be if this one had been given it. No fingerprint may
 * have been given to both. */
void ss_sampler_join(ss_sampler *sampler, const ss_sampler *other);

/* Sort the sample and drop repeats. Returns the share of it that is left: that of distinct fingerprints in what was
 * added. */
double ss_sampler_finish(ss_sampler *sampler);

/* ----- what a sample tells ----- */

/* A finished sample and room to count prefixes in. */
typedef struct ss_skew {
    const uint64_t *sample; /* sorted, distinct; borrowed */
    size_t count;
    size_t slot_count;  /* a power of two */
    uint64_t *prefixes; /* a hash table of the sample's prefixes ... */
    uint32_t *repeats;  /* ... and how often each occurs; 0: an empty slot */
} ss_skew;

/* Prepare to measure; allocates. False where memory fails. */
bool ss_skew_init(ss_skew *skew, const uint64_t *sample, size_t count);
/* Also of a zeroed one. */
void ss_skew_free(ss_skew *skew);

/*
 * The share of all fingerprints that a stored one's own prefix leads to, shares_out[0], and its prefix with one bit
 * flipped, shares_out[1], on average: 2^-p each if the data were uniform, and never told to be less. `key_mask` are the
 * prefix's bits. Without flips shares_out[1] is not measured.
 */
void ss_skew_measure(const ss_skew *skew, uint64_t key_mask, bool flips, double shares_out[2]);

/* Bits a fingerprint that the codes and rests of a table of `count` fingerprints take, if they are uniform. */
double ss_uniform_bits(double count);

/* The same for data like the sample (NULL: uniform). */
double ss_expected_bits(const ss_skew *skew, double count);

#endif
