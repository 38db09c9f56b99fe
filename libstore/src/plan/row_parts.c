#include "plan/row_parts.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/words.h"
#include "plan/durations.h"

#define KINDS (SS_MAX_PART_RADIUS + 1u) /* of parts, by their radius */

/* ----- distances of words ----- */

void ss_word_distances_measure(const uint64_t *sample, size_t count, uint32_t words, uint32_t distance,
                               ss_word_distances *distances_out)
{
    const double pairs = fmax(1, (double)count * ((double)count - 1) / 2);
    uint32_t counts[SSTORE_MAX_WORDS][SS_WORD_BITS + 1] = {{0}};
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) {
            const uint64_t *a = sample + i * words, *b = sample + j * words;
            uint32_t distances[SSTORE_MAX_WORDS], sum = 0;
            for (uint32_t word = 0; word < words; word++)
                sum += distances[word] = ss_popcount(a[word] ^ b[word]);
            for (uint32_t word = 0; word < words && sum > distance; word++)
                counts[word][distances[word]]++;
        }
    for (uint32_t word = 0; word < words; word++)
        for (uint32_t i = 0; i <= SS_WORD_BITS; i++)
            distances_out[word].shares[i] = counts[word][i] / pairs;
}

/* ----- costs of a part ----- */

static double choose_of(double count, uint32_t taken)
{
    double ways = 1;
    for (uint32_t i = 0; i < taken; i++)
        ways *= (count - i) / (i + 1);
    return ways;
}

/* The probability that of `differing` bits of a word at most `radius` are among `bits` chosen ones. */
static double probability_within(uint32_t differing, uint32_t bits, uint32_t radius)
{
    double sum = 0;
    for (uint32_t i = 0; i <= radius && i <= differing && i <= bits; i++)
        if (differing - i <= SS_WORD_BITS - bits)
            sum += choose_of(bits, i) * choose_of(SS_WORD_BITS - bits, differing - i);
    return sum / choose_of(SS_WORD_BITS, differing);
}

/* Of all pairs, the share whose keys differ in at most `radius` of any `bits` bits. */
static double share_within(const ss_word_distances *distances, uint32_t bits, uint32_t radius)
{
    double share = 0;
    for (uint32_t i = 0; i <= SS_WORD_BITS; i++)
        if (distances->shares[i] > 0)
            share += distances->shares[i] * probability_within(i, bits, radius);
    return share;
}

/* The expected nanoseconds of a part. */
static double part_ns(const ss_word_distances *distances, uint32_t bits, uint32_t radius, double row_count)
{
    const double pairs = row_count * row_count / 2, keys = ldexp(1, (int)bits);
    const double runs = keys * -expm1(-row_count / keys); /* of equal keys, if these are evenly spread */
    double neighbours = 0.5;                              /* of a run, each pair counted once */
    for (uint32_t i = 1; i <= radius; i++)
        neighbours += choose_of(bits, i) / 2;
    return row_count * SS_RUN_ITEM_NS + runs * neighbours * (SS_RUN_FIND_NS + SS_RUN_BEGIN_NS * runs / keys) +
           pairs * share_within(distances, bits, radius) * SS_RUN_TEST_NS;
}

/* ----- parts of a word ----- */

/* The parts of a word for one of its radii: how many of each kind, and of how many bits. */
typedef struct division {
    double ns;
    uint32_t counts[KINDS], bits[KINDS];
} division;

/* The best number of bits of each kind of part, if at most this many are left for it. */
typedef struct part_costs {
    double ns[KINDS][SS_MAX_PART_BITS + 1];
    uint32_t bits[KINDS][SS_MAX_PART_BITS + 1];
} part_costs;

static void estimate_parts(const ss_word_distances *distances, double row_count, uint32_t max_bits, part_costs *costs)
{
    for (uint32_t kind = 0; kind < KINDS; kind++)
        for (uint32_t bits = 0; bits <= max_bits; bits++) {
            const double ns = part_ns(distances, bits, kind, row_count);
            const bool fewer = bits > 0 && costs->ns[kind][bits - 1] <= ns;
            costs->ns[kind][bits] = fewer ? costs->ns[kind][bits - 1] : ns;
            costs->bits[kind][bits] = fewer ? costs->bits[kind][bits - 1] : bits;
        }
}

/* Take a division into this many parts of each kind if it is the best one so far. */
static void try_counts(const part_costs *costs, const uint32_t *counts, uint32_t max_bits, division *best)
{
    const uint32_t max[KINDS] = {0, counts[1] > 0 ? max_bits : 0, counts[2] > 0 ? max_bits : 0};
    for (uint32_t b2 = 0; b2 <= max[2] && counts[2] * b2 <= SS_WORD_BITS; b2++)
        for (uint32_t b1 = 0; b1 <= max[1] && counts[2] * b2 + counts[1] * b1 <= SS_WORD_BITS; b1++) {
            const uint32_t left = SS_WORD_BITS - counts[2] * b2 - counts[1] * b1;
            const uint32_t b0 = counts[0] > 0 ? ss_min_u32(left / counts[0], max_bits) : 0;
            const double ns = counts[0] * costs->ns[0][b0] + counts[1] * costs->ns[1][b1] +
                              counts[2] * costs->ns[2][b2];
            if (ns < best->ns)
                *best = (division){ns,
                                   {counts[0], counts[1], counts[2]},
                                   {costs->bits[0][b0], costs->bits[1][b1], costs->bits[2][b2]}};
        }
}

/* Choose the best division for a radius. */
static division divide_word(const part_costs *costs, uint32_t radius, uint32_t max_bits)
{
    const uint32_t total = radius + 1;
    division best = {.ns = costs->ns[0][0], .counts = {1}}; /* compare all */
    for (uint32_t n2 = 0; 3 * n2 <= total; n2++)
        for (uint32_t n1 = 0; 3 * n2 + 2 * n1 <= total; n1++)
            try_counts(costs, (const uint32_t[]){total - 3 * n2 - 2 * n1, n1, n2}, max_bits, &best);
    return best;
}

/* ----- all words ----- */

static void add_parts(uint32_t word, const division *of_word, ss_row_parts *to)
{
    uint32_t first_bit = 0;
    for (uint32_t kind = 0; kind < KINDS; kind++)
        for (uint32_t i = 0; i < of_word->counts[kind]; i++) {
            const uint32_t bits = of_word->bits[kind];
            to->parts[to->count++] = (ss_row_part){word, first_bit, bits, bits > 0 ? kind : 0};
            first_bit += bits;
        }
    to->ns += of_word->ns;
}

sstore_status ss_row_parts_choose(const ss_word_distances *distances, uint32_t words, uint32_t distance,
                                  double row_count, uint32_t max_bits, ss_row_parts *parts_out, sstore_error *error)
{
    ss_word_costs costs[SSTORE_MAX_WORDS] = {{{0}}};
    division divisions[SSTORE_MAX_WORDS][SS_RADIUS_COUNT];
    assert(max_bits <= SS_MAX_PART_BITS);
    for (uint32_t word = 0; word < words; word++) {
        part_costs of_parts;
        double candidates = 0;
        estimate_parts(&distances[word], row_count, max_bits, &of_parts);
        costs[word].ns[0] = 0;
        for (uint32_t radius = 0; radius + 1 < SS_RADIUS_COUNT; radius++) {
            division *to = &divisions[word][radius + 1];
            *to = divide_word(&of_parts, radius, max_bits);
            candidates += row_count * row_count / 2 * distances[word].shares[radius];
            costs[word].ns[radius + 1] = to->ns += candidates * SS_RUN_CANDIDATE_NS;
        }
    }
    *parts_out = (ss_row_parts){.count = 0};
    const sstore_status status = ss_radii_choose_cheapest(costs, words, distance, SSTORE_MAX_BUILD_DISTANCE,
                                                          parts_out->radii, error);
    for (uint32_t word = 0; status == SSTORE_OK && word < words; word++)
        if (parts_out->radii[word] >= 0)
            add_parts(word, &divisions[word][parts_out->radii[word] + 1], parts_out);
    return status;
}
