/*
 * minhash.c - sketches of sets:
 *
 *   in rounds 0, 1, ...: every element has a number z; its upper half chooses a bin, its lower half is its value there
 *     a bin that was empty before the round takes the least value that falls into it
 *   after as many rounds as there are bins: each later round is of one bin alone
 *   bit i is the lowest bit of the value of bin i
 *
 * A bin holds the round above the value. So the least of such keys is that of the first round in which the bin was met,
 * and nothing else tells full bins from empty ones.
 */
#include "base/minhash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"

#define EMPTY UINT64_MAX
#define FIRST_CAPACITY 4096u
#define MANY_ELEMENTS 16u /* for each bin: of different ones, half of this always filled all bins */

__extension__ typedef unsigned __int128 ss_u128_product;

/* The factor of a round: output `round` of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) from 0, made odd. */
static uint64_t factor_of(uint32_t round)
{
    uint64_t z = round * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (z ^ z >> 31) | 1;
}

/* The number of an element in a round after the first. */
static inline uint64_t number_of(uint64_t element, uint64_t factor)
{
    const ss_u128_product product = (ss_u128_product)element * factor;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* ----- rounds ----- */

static inline void put(uint64_t *bins, uint32_t bits, uint64_t round, uint64_t number)
{
    uint64_t *bin = &bins[(number >> 32) * bits >> 32];
    const uint64_t key = round << 32 | (uint32_t)number;
    *bin = key < *bin ? key : *bin;
}

static void fill_first(uint64_t *bins, uint32_t bits, const uint64_t *elements, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put(bins, bits, 0, elements[i]);
}

static void fill(uint64_t *bins, uint32_t bits, uint32_t round, const uint64_t *elements, size_t count)
{
    const uint64_t factor = factor_of(round);
    for (size_t i = 0; i < count; i++)
        put(bins, bits, round, number_of(elements[i], factor));
}

/* The least value of the round of one bin. */
static uint64_t least_of(uint32_t round, const uint64_t *elements, size_t count)
{
    const uint64_t factor = factor_of(round);
    uint32_t least = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        const uint32_t value = (uint32_t)number_of(elements[i], factor);
        least = value < least ? value : least;
    }
    return least;
}

/* Only an empty bin has the highest bit. */
static bool has_empty(const uint64_t *bins, uint32_t bits)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < bits; i++)
        any |= bins[i];
    return any >> 63 != 0;
}

/* ----- a set ----- */

void ss_minhash_begin(ss_minhash *self, uint32_t bits)
{
    self->bits = bits;
    self->is_complete = false;
    self->count = 0;
    memset(self->bins, 0xff, bits * sizeof *self->bins);
}

/* Make room for more elements, unless none are needed any more. */
static sstore_status extend(ss_minhash *self, size_t more, sstore_error *error)
{
    self->is_complete = !has_empty(self->bins, self->bits);
    if (self->is_complete)
        return SSTORE_OK;
    const size_t capacity = self->count + (size_t)ss_max_u64(ss_max_u64(more, self->count), FIRST_CAPACITY);
    uint64_t *elements = ss_realloc(self->elements, capacity, sizeof *elements);
    if (elements == NULL)
        return ss_fail_memory(error, capacity * sizeof *elements);
    self->elements = elements;
    self->capacity = capacity;
    return SSTORE_OK;
}

sstore_status ss_minhash_add(ss_minhash *self, const uint64_t *hashes, size_t count, sstore_error *error)
{
    fill_first(self->bins, self->bits, hashes, count);
    if (!self->is_complete && count > self->capacity - self->count) {
        const sstore_status status = extend(self, count, error);
        if (status != SSTORE_OK)
            return status;
    }
    if (self->is_complete || count == 0)
        return SSTORE_OK;
    memcpy(self->elements + self->count, hashes, count * sizeof *hashes);
    self->count += count;
    return SSTORE_OK;
}

sstore_status ss_minhash_add_times(ss_minhash *self, uint64_t hash, uint64_t times, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (uint64_t n = 1; status == SSTORE_OK && n <= times; n++) {
        uint8_t bytes[16];
        ss_store_le64(bytes, hash);
        ss_store_le64(bytes + 8, n);
        const uint64_t element = n == 1 ? hash : ss_hash64(bytes, sizeof bytes);
        status = ss_minhash_add(self, &element, 1, error);
    }
    return status;
}

static int compare_elements(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

/* Many elements do not fill the bins: they are mostly the same ones. */
static void drop_repeated(ss_minhash *self)
{
    size_t kept = 0;
    qsort(self->elements, self->count, sizeof *self->elements, compare_elements);
    for (size_t i = 0; i < self->count; i++)
        if (kept == 0 || self->elements[i] != self->elements[kept - 1])
            self->elements[kept++] = self->elements[i];
    self->count = kept;
}

void ss_minhash_finish(ss_minhash *self, uint64_t *words_out)
{
    memset(words_out, 0, self->bits / 8);
    self->is_complete = self->is_complete || !has_empty(self->bins, self->bits);
    if (self->count == 0 && !self->is_complete)
        return;
    if (!self->is_complete && self->count > MANY_ELEMENTS * self->bits)
        drop_repeated(self);
    /* More rounds than are needed change nothing, so the bins are looked at only after as many elements as bins. */
    for (uint32_t round = 1, last = 0; round < self->bits && !self->is_complete; round++) {
        fill(self->bins, self->bits, round, self->elements, self->count);
        if ((round - last) * self->count < self->bits)
            continue;
        self->is_complete = !has_empty(self->bins, self->bits);
        last = round;
    }
    for (uint32_t i = 0; i < self->bits; i++) {
        if (self->bins[i] == EMPTY)
            self->bins[i] = least_of(self->bits + i, self->elements, self->count);
        words_out[i / 64] |= (self->bins[i] & 1) << (63 - i % 64);
    }
}

void ss_minhash_free(ss_minhash *self)
{
    ss_free(self->elements);
    self->elements = NULL;
    self->capacity = 0;
}

/* ----- public calls ----- */

#define MAX_OCCURRENCES 16777216.0 /* of a feature */

/* Begin a sketch, to be ended with end() also after a failure. */
static sstore_status begin(ss_minhash *made, uint32_t bits, sstore_error *error)
{
    *made = (ss_minhash){.elements = NULL};
    ss_minhash_begin(made, ss_minhash_has_bits(bits) ? bits : SS_MINHASH_BITS);
    return ss_minhash_has_bits(bits)
               ? SSTORE_OK
               : ss_fail_argument(error, "a MinHash has a multiple of 64 bits up to %u, not %u", SS_MINHASH_BITS, bits);
}

/* Make the sketch, unless an earlier step failed. */
static sstore_status end(ss_minhash *made, sstore_status status, uint64_t *words_out)
{
    if (status == SSTORE_OK)
        ss_minhash_finish(made, words_out);
    ss_minhash_free(made);
    return status;
}

static sstore_status add_weighted(ss_minhash *made, uint64_t hash, size_t index, double weight, sstore_error *error)
{
    if (!(weight >= 0 && weight <= MAX_OCCURRENCES && weight == floor(weight)))
        return ss_fail_argument(error, "the weight of feature %zu is %g; of a MinHash it is a whole number up to 2^24",
                                index, weight);
    return ss_minhash_add_times(made, hash, (uint64_t)weight, error);
}

sstore_status sstore_minhash(const sstore_feature *features, size_t count, uint32_t fingerprint_bits,
                             uint64_t *fingerprint_out, sstore_error *error)
{
    ss_minhash made; /* some 8 KiB */
    if ((features == NULL && count > 0) || fingerprint_out == NULL)
        return ss_fail_argument(error, "features and fingerprint_out must not be NULL");
    sstore_status status = begin(&made, fingerprint_bits, error);
    for (size_t i = 0; status == SSTORE_OK && i < count; i++) {
        const sstore_feature *feature = &features[i];
        if (feature->data == NULL && feature->size > 0)
            status = ss_fail_argument(error, "feature %zu has a size but no data", i);
        else
            status = add_weighted(&made, ss_hash64(feature->size > 0 ? feature->data : "", feature->size), i,
                                  feature->weight, error);
    }
    return end(&made, status, fingerprint_out);
}

sstore_status sstore_minhash_hashes(const uint64_t *hashes, const double *weights, size_t count,
                                    uint32_t fingerprint_bits, uint64_t *fingerprint_out, sstore_error *error)
{
    ss_minhash made; /* some 8 KiB */
    if ((hashes == NULL && count > 0) || fingerprint_out == NULL)
        return ss_fail_argument(error, "hashes and fingerprint_out must not be NULL");
    sstore_status status = begin(&made, fingerprint_bits, error);
    if (status == SSTORE_OK && weights == NULL)
        status = ss_minhash_add(&made, hashes, count, error);
    for (size_t i = 0; status == SSTORE_OK && weights != NULL && i < count; i++)
        status = add_weighted(&made, hashes[i], i, weights[i], error);
    return end(&made, status, fingerprint_out);
}

/* ----- similarity ----- */

uint32_t sstore_minhash_distance(uint32_t fingerprint_bits, double similarity, double recall)
{
    if (!ss_minhash_has_bits(fingerprint_bits) || !(similarity >= 0 && similarity <= 1) || !(recall > 0 && recall < 1))
        return UINT32_MAX;
    const long double differs = (1 - similarity) / 2;
    long double term = powl(1 - differs, fingerprint_bits), sum = term; /* of no bit, of one, ... */
    uint32_t distance = 0;
    while (sum < recall && distance < fingerprint_bits) {
        term *= (fingerprint_bits - distance) / (distance + 1.0L) * differs / (1 - differs);
        sum += term;
        distance++;
    }
    return distance;
}

double sstore_minhash_similarity(uint32_t fingerprint_bits, uint32_t distance, double *deviation_out)
{
    const double differs = fmin((double)distance / fingerprint_bits, 0.5);
    if (deviation_out != NULL)
        *deviation_out = 2 * sqrt(differs * (1 - differs) / fingerprint_bits);
    return 1 - 2 * differs;
}
