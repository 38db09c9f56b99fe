#include "join/group_join.h"

#include <string.h>

#define SAMPLE 128u        /* values that tell how evenly a bit divides a group */
#define TESTS_A_SORT 130.0 /* as many tests take as long as dealing one value, by measurement */
#define KEYS_AT_ONCE 512u
#define WORTH_IT 0.75          /* the share of all tests that dividing may take, at most */
#define WORTH_ASKING 64u       /* values, whether they are connected */
#define MAX_APART 64u          /* values that are connected one by one with many that are already */
#define FLUSH_TESTS (1u << 26) /* some 10 ms of work, after which the caller hears of it though nothing was found */
#define PRODUCTIVE_SHARE 16u   /* a search goes on over a large group while a value reaches 1/16 of what is left */

typedef enum join_kind { JOIN_SELF, JOIN_CROSS, JOIN_SPANNING } join_kind;

/* A set of values; the right one is empty but for JOIN_CROSS. */
typedef struct value_set {
    uint64_t *values;
    size_t count;
} value_set;

void ss_group_join_init(ss_group_join *join, uint32_t distance, uint64_t *scratch, ss_group_pairs_fn on_pairs,
                        void *context)
{
    assert(distance < SS_GROUP_MAX_PARTS);
    join->distance = distance;
    join->kernels = ss_kernels_best();
    join->on_pairs = on_pairs;
    join->find_apart = NULL;
    join->context = context;
    join->scratch = scratch;
    join->row = (ss_folded){join->row_words[0], join->row_words[1]};
    join->tile = (ss_folded){join->tile_words[0], join->tile_words[1]};
    join->tests = join->tests_at_flush = join->found = 0;
    join->mask_count = join->pair_count = 0;
}

void ss_group_join_except(ss_group_join *join, const uint64_t *masks, uint32_t count)
{
    assert(count <= SS_GROUP_MAX_EXCEPT);
    join->mask_count = count;
    for (uint32_t i = 0; i < count; i++)
        join->masks[i] = masks[i];
}

void ss_group_join_known(ss_group_join *join, ss_group_apart_fn find_apart)
{
    join->find_apart = find_apart;
}

/* ----- pairs ----- */

sstore_status ss_group_flush(ss_group_join *join, sstore_error *error)
{
    const uint32_t count = join->pair_count;
    join->pair_count = 0;
    join->tests_at_flush = join->tests;
    return join->on_pairs(join->context, join->pairs, count, error);
}

static sstore_status add_pair(ss_group_join *join, uint64_t first, uint64_t second, sstore_error *error)
{
    join->pairs[join->pair_count++] = (ss_fingerprint_pair){first, second};
    join->found++;
    return join->pair_count < SS_GROUP_PAIRS ? SSTORE_OK : ss_group_flush(join, error);
}

/* Whether a pair with these differing bits is not found elsewhere. */
static bool counts_here(const ss_group_join *join, uint64_t differing)
{
    for (uint32_t i = 0; i < join->mask_count; i++)
        if ((differing & join->masks[i]) == 0)
            return false;
    return true;
}

/* Note that `tests` values were compared. */
static sstore_status count_tests(ss_group_join *join, size_t tests, sstore_error *error)
{
    join->tests += tests;
    return join->tests - join->tests_at_flush < FLUSH_TESTS ? SSTORE_OK : ss_group_flush(join, error);
}

/* ----- comparing each with each ----- */

/* The values that are compared at once with others. */
static uint32_t row_size(size_t count, size_t begin)
{
    return (uint32_t)ss_min_u64(count - begin, SS_PAIR_LANES);
}

/* The values that they are compared with. */
static uint32_t tile_size(size_t count, size_t begin)
{
    return (uint32_t)ss_min_u64(count - begin, SS_GROUP_TILE);
}

/* The lanes of a hit of a pair filter, and the rest of it. */
static uint32_t hit_lanes(uint32_t hit)
{
    return hit & ((1u << SS_PAIR_LANES) - 1);
}

static uint32_t hit_number(uint32_t hit)
{
    return hit >> SS_PAIR_LANES;
}

static sstore_status add_if_it_counts(ss_group_join *join, uint64_t first, uint64_t second, sstore_error *error)
{
    return counts_here(join, first ^ second) ? add_pair(join, first, second, error) : SSTORE_OK;
}

/* The pairs of up to eight values of a tile, from `at` on, with later ones. The tile is folded. */
static sstore_status compare_row(ss_group_join *join, const uint64_t *tile, uint32_t size, uint32_t at,
                                 sstore_error *error)
{
    const uint64_t *values = tile + at;
    const uint32_t found = join->kernels->pairs_within(&join->tile, at, size, join->distance, join->hits);
    sstore_status status = count_tests(join, (size_t)(size - at) * SS_PAIR_LANES, error);
    for (uint32_t i = 0; i < found; i++) {
        const uint64_t *others = values + hit_number(join->hits[i]);
        for (uint32_t lanes = hit_lanes(join->hits[i]); status == SSTORE_OK && lanes != 0; lanes &= lanes - 1) {
            const uint32_t lane = (uint32_t)__builtin_ctz(lanes);
            status = add_if_it_counts(join, values[lane], others[lane], error);
        }
    }
    return status;
}

/* The pairs within at most a tile, which is folded. */
static sstore_status compare_within(ss_group_join *join, const uint64_t *tile, uint32_t size, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (uint32_t at = 0; status == SSTORE_OK && at < size; at += SS_PAIR_LANES)
        status = compare_row(join, tile, size, at, error);
    return status;
}

/* The pairs of at most eight values with at most a tile of others, which is folded. */
static sstore_status compare_between(ss_group_join *join, const uint64_t *values, uint32_t value_count,
                                     const uint64_t *tile, uint32_t size, sstore_error *error)
{
    ss_fold(values, value_count, &join->row);
    const uint32_t found = join->kernels->pairs_between(&join->row, value_count, &join->tile, size, join->distance,
                                                        join->hits);
    sstore_status status = count_tests(join, (size_t)size * value_count, error);
    for (uint32_t i = 0; i < found; i++) {
        const uint64_t value = values[hit_number(join->hits[i]) % SS_PAIR_LANES];
        const uint64_t *near = tile + hit_number(join->hits[i]) / SS_PAIR_LANES * SS_PAIR_LANES;
        for (uint32_t lanes = hit_lanes(join->hits[i]); status == SSTORE_OK && lanes != 0; lanes &= lanes - 1)
            status = add_if_it_counts(join, value, near[__builtin_ctz(lanes)], error);
    }
    return status;
}

/* The pairs of `count` values with a tile. */
static sstore_status compare_with_tile(ss_group_join *join, const uint64_t *values, size_t count, const uint64_t *tile,
                                       uint32_t size, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (size_t i = 0; status == SSTORE_OK && i < count; i += SS_PAIR_LANES)
        status = compare_between(join, values + i, row_size(count, i), tile, size, error);
    return status;
}

/* One tile after the other with all values before it, and within itself. */
static sstore_status compare_self(ss_group_join *join, value_set all, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (size_t begin = 0; status == SSTORE_OK && begin < all.count; begin += SS_GROUP_TILE) {
        const uint64_t *tile = all.values + begin;
        const uint32_t size = tile_size(all.count, begin);
        ss_fold(tile, size, &join->tile);
        status = compare_with_tile(join, all.values, begin, tile, size, error);
        if (status == SSTORE_OK)
            status = compare_within(join, tile, size, error);
    }
    return status;
}

static sstore_status compare_cross(ss_group_join *join, value_set left, value_set right, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (size_t begin = 0; status == SSTORE_OK && begin < right.count; begin += SS_GROUP_TILE) {
        const uint32_t size = tile_size(right.count, begin);
        ss_fold(right.values + begin, size, &join->tile);
        status = compare_with_tile(join, left.values, left.count, right.values + begin, size, error);
    }
    return status;
}

/* ----- breadth-first search ----- */

/* Values as a search meets them: first those whose neighbours are all reached, then those reached, then the others. */
typedef struct search {
    value_set all;
    size_t searched, reached;
} search;

/* Reach what is near the next value that was reached but not searched from; *found_out is how many. */
static sstore_status search_next(ss_group_join *join, search *state, size_t *found_out, sstore_error *error)
{
    uint64_t *values = state->all.values;
    const uint64_t from = values[state->searched++];
    const size_t before = state->reached;
    sstore_status status = SSTORE_OK;
    for (size_t begin = before; status == SSTORE_OK && begin < state->all.count; begin += SS_GROUP_TILE) {
        const uint32_t size = tile_size(state->all.count, begin);
        const uint32_t found = join->kernels->near_values(values + begin, size, from, join->distance, join->hits);
        status = count_tests(join, size, error);
        for (uint32_t i = 0; status == SSTORE_OK && i < found; i++) {
            /* Hits ascend, so what takes the hit's place was looked at already. */
            const uint64_t hit = values[begin + join->hits[i]];
            values[begin + join->hits[i]] = values[state->reached];
            values[state->reached++] = hit;
            status = add_if_it_counts(join, from, hit, error); /* elsewhere they are connected, too */
        }
    }
    *found_out = state->reached - before;
    return status;
}

/* Go on to the end, or as long as it pays: a search over many values that reaches few at a time is quadratic. */
static sstore_status search_on(ss_group_join *join, search *state, bool to_the_end, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    while (status == SSTORE_OK && state->reached < state->all.count) {
        const size_t left = state->all.count - state->reached;
        size_t found;
        if (state->searched == state->reached)
            state->reached++; /* the next component begins here */
        status = search_next(join, state, &found, error);
        if (!to_the_end && found < left / PRODUCTIVE_SHARE)
            break;
    }
    return status;
}

/* ----- what is connected already ----- */

/* Connect a value with whichever of the others is near it first: they are connected with each other. A pair that is found
 * elsewhere is as good. */
static sstore_status connect_with_any(ss_group_join *join, uint64_t value, value_set others, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (size_t begin = 0; status == SSTORE_OK && begin < others.count; begin += SS_GROUP_TILE) {
        const uint64_t *tile = others.values + begin;
        const uint32_t size = tile_size(others.count, begin);
        const uint32_t found = join->kernels->near_values(tile, size, value, join->distance, join->hits);
        status = count_tests(join, size, error);
        if (status == SSTORE_OK && found > 0)
            return add_if_it_counts(join, value, tile[join->hits[0]], error);
    }
    return status;
}

/* Connect few values with each other and with all others of the set. */
static sstore_status connect_apart(ss_group_join *join, value_set set, const uint32_t *apart, size_t count,
                                   sstore_error *error)
{
    const value_set others = {set.values + count, set.count - count};
    sstore_status status = SSTORE_OK;
    for (size_t i = 0; i < count; i++) { /* to the front */
        const uint64_t value = set.values[apart[i]];
        set.values[apart[i]] = set.values[i];
        set.values[i] = value;
    }
    for (size_t i = 0; status == SSTORE_OK && i < count; i++)
        status = connect_with_any(join, set.values[i], others, error);
    ss_fold(set.values, (uint32_t)count, &join->tile);
    return status == SSTORE_OK ? compare_within(join, set.values, (uint32_t)count, error) : status;
}

/* Connect a set if most of it is, by the pairs found so far: then *done_out is true. */
static sstore_status connect_what_is_left(ss_group_join *join, join_kind kind, value_set set, bool *done_out,
                                          sstore_error *error)
{
    uint32_t apart[MAX_APART];
    *done_out = false;
    if (kind != JOIN_SPANNING || join->find_apart == NULL || set.count < WORTH_ASKING)
        return SSTORE_OK;
    const sstore_status status = join->pair_count > 0 ? ss_group_flush(join, error) : SSTORE_OK;
    if (status != SSTORE_OK)
        return status;
    const size_t max = set.count / WORTH_ASKING < MAX_APART ? set.count / WORTH_ASKING : MAX_APART;
    const size_t count = join->find_apart(join->context, set.values, set.count, apart, max);
    *done_out = count <= max;
    return *done_out ? connect_apart(join, set, apart, count, error) : SSTORE_OK;
}

/* ----- dividing ----- */

static uint64_t varying_bits(value_set from, uint64_t first)
{
    uint64_t varying = 0;
    for (size_t i = 0; i < from.count; i++)
        varying |= from.values[i] ^ first;
    return varying;
}

/* A bit, and how probable it is that two values are equal in it. */
typedef struct bit_share {
    uint64_t bit;
    double equal;
} bit_share;

/* The bits that vary, those that divide a sample of the values most evenly first. Returns their number. */
static uint32_t rank_bits(value_set from, uint64_t varying, bit_share *bits)
{
    const size_t size = from.count < SAMPLE ? from.count : SAMPLE, step = from.count / size;
    uint32_t bit_count = 0;
    for (; varying != 0; varying &= varying - 1, bit_count++) {
        const uint32_t shift = (uint32_t)__builtin_ctzll(varying);
        uint64_t ones = 0;
        for (size_t i = 0; i < size; i++)
            ones += from.values[i * step] >> shift & 1;
        const double share = (double)ones / (double)size;
        const bit_share ranked = {UINT64_C(1) << shift, 1 - 2 * share * (1 - share)};
        uint32_t at = bit_count;
        for (; at > 0 && bits[at - 1].equal > ranked.equal; at--)
            bits[at] = bits[at - 1];
        bits[at] = ranked;
    }
    return bit_count;
}

/* The part that divides least so far and has room for a bit; `count` if none has. */
static uint32_t neediest_part(const double *equal, const uint32_t *sizes, uint32_t count)
{
    uint32_t best = count;
    for (uint32_t i = 0; i < count; i++)
        if (sizes[i] < SS_GROUP_PART_BITS &&
            (best == count || equal[i] > equal[best] || (equal[i] == equal[best] && sizes[i] < sizes[best])))
            best = i;
    return best;
}

/* Deal the bits to `count` parts, each to the one that needs it most, until all are full. Neighbouring bits come apart,
 * so where they alone vary each part has some. Returns the share of all tests that is left if bits are independent. */
static double deal_bits(const bit_share *bits, uint32_t bit_count, uint32_t count, uint64_t *parts)
{
    double equal[SS_GROUP_MAX_PARTS], left = 0;
    uint32_t sizes[SS_GROUP_MAX_PARTS] = {0};
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = 0;
        equal[i] = 1;
    }
    for (uint32_t i = 0; i < bit_count; i++) {
        const uint32_t to = neediest_part(equal, sizes, count);
        if (to == count)
            break;
        parts[to] |= bits[i].bit;
        equal[to] *= bits[i].equal;
        sizes[to]++;
    }
    for (uint32_t i = 0; i < count; i++)
        left += equal[i];
    return left;
}

static double pair_tests(join_kind kind, value_set left, value_set right)
{
    const double a = (double)left.count, b = (double)right.count;
    return kind == JOIN_CROSS ? a * b : a * (a - 1) / 2;
}

/* Find k + 1 parts of the varying bits. False: comparing each with each is expected to take less than dividing. */
static bool choose_parts(const ss_group_join *join, join_kind kind, value_set left, value_set right, uint64_t varying,
                         uint64_t *parts)
{
    const uint32_t count = join->distance + 1;
    const double tests = pair_tests(kind, left, right);
    const double sorting = (double)(left.count + right.count) * count * TESTS_A_SORT;
    bit_share bits[SS_FINGERPRINT_BITS];
    if (sorting >= WORTH_IT * tests || ss_popcount(varying) < count)
        return false;
    const uint32_t bit_count = rank_bits(left.count >= right.count ? left : right, varying, bits);
    return sorting + deal_bits(bits, bit_count, count, parts) * tests <= WORTH_IT * tests;
}

/* Put values in the order of a part's bits, by counting. */
static void sort_by_part(ss_group_join *join, value_set set, uint64_t part)
{
    const uint32_t bits = ss_popcount(part);
    uint32_t *ends = join->ends;
    uint16_t keys[KEYS_AT_ONCE];
    memset(ends, 0, sizeof *ends << bits);
    for (size_t begin = 0; begin < set.count; begin += KEYS_AT_ONCE) {
        const size_t size = (size_t)ss_min_u64(set.count - begin, KEYS_AT_ONCE);
        join->kernels->gather_bits(set.values + begin, size, part, keys);
        for (size_t i = 0; i < size; i++)
            ends[keys[i]]++;
    }
    for (uint32_t i = 0, end = 0; i >> bits == 0; i++) {
        const uint32_t begin = end;
        end += ends[i];
        ends[i] = begin;
    }
    for (size_t begin = 0; begin < set.count; begin += KEYS_AT_ONCE) {
        const size_t size = (size_t)ss_min_u64(set.count - begin, KEYS_AT_ONCE);
        join->kernels->gather_bits(set.values + begin, size, part, keys);
        for (size_t i = 0; i < size; i++)
            join->scratch[ends[keys[i]]++] = set.values[begin + i];
    }
    memcpy(set.values, join->scratch, set.count * sizeof *set.values);
}

/* The values from `begin` on that are equal under the mask. */
static value_set run_at(value_set set, size_t begin, uint64_t mask)
{
    const uint64_t *values = set.values;
    size_t end = begin;
    while (end < set.count && ((values[end] ^ values[begin]) & mask) == 0)
        end++;
    return (value_set){set.values + begin, end - begin};
}

static sstore_status join_sets(ss_group_join *join, join_kind kind, value_set left, value_set right, uint32_t depth,
                               sstore_error *error);

static sstore_status join_runs(ss_group_join *join, join_kind kind, value_set all, uint64_t part, uint32_t depth,
                               sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    sort_by_part(join, all, part);
    for (size_t begin = 0; status == SSTORE_OK && begin < all.count;) {
        const value_set run = run_at(all, begin, part);
        begin += run.count;
        if (run.count > 1)
            status = join_sets(join, kind, run, (value_set){NULL, 0}, depth, error);
    }
    return status;
}

static sstore_status join_runs_of_two(ss_group_join *join, value_set left, value_set right, uint64_t part,
                                      uint32_t depth, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    sort_by_part(join, left, part);
    sort_by_part(join, right, part);
    for (size_t i = 0, j = 0; status == SSTORE_OK && i < left.count && j < right.count;) {
        /* A part's bits keep their order in front, so these compare as they were sorted. */
        const uint64_t a = left.values[i] & part, b = right.values[j] & part;
        const value_set from_left = a <= b ? run_at(left, i, part) : (value_set){NULL, 0};
        const value_set from_right = b <= a ? run_at(right, j, part) : (value_set){NULL, 0};
        i += from_left.count;
        j += from_right.count;
        if (a == b)
            status = join_sets(join, JOIN_CROSS, from_left, from_right, depth, error);
    }
    return status;
}

/* Where there are few pairs, all of them connect at less cost than a search. */
static sstore_status span(ss_group_join *join, value_set all, sstore_error *error)
{
    search from_start = {.all = all};
    const uint64_t found_before = join->found;
    const uint32_t count = all.count <= SS_GROUP_TILE ? (uint32_t)all.count : 0;
    sstore_status status = SSTORE_OK;
    uint32_t i = 0;
    ss_fold(all.values, count, &join->tile);
    for (; status == SSTORE_OK && i < count && join->found - found_before < count; i += SS_PAIR_LANES)
        status = compare_row(join, all.values, count, i, error);
    return status == SSTORE_OK && i < all.count ? search_on(join, &from_start, true, error) : status;
}

static sstore_status compare_all(ss_group_join *join, join_kind kind, value_set left, value_set right,
                                 sstore_error *error)
{
    switch (kind) {
    case JOIN_SELF: return compare_self(join, left, error);
    case JOIN_CROSS: return compare_cross(join, left, right, error);
    default: return span(join, left, error);
    }
}

/* Divide by the parts, or compare all. */
static sstore_status divide(ss_group_join *join, join_kind kind, value_set left, value_set right, uint64_t varying,
                            uint32_t depth, sstore_error *error)
{
    const uint32_t masks_before = join->mask_count, part_count = join->distance + 1;
    uint64_t parts[SS_GROUP_MAX_PARTS];
    bool connected = false;
    sstore_status status = SSTORE_OK;
    if (!choose_parts(join, kind, left, right, varying, parts))
        return compare_all(join, kind, left, right, error);
    for (uint32_t i = 0; status == SSTORE_OK && i < part_count; i++) {
        if (i > 0)
            status = connect_what_is_left(join, kind, left, &connected, error);
        if (status != SSTORE_OK || connected)
            break;
        status = kind == JOIN_CROSS ? join_runs_of_two(join, left, right, parts[i], depth + 1, error)
                                    : join_runs(join, kind, left, parts[i], depth + 1, error);
        join->masks[join->mask_count++] = parts[i];
    }
    join->mask_count = masks_before;
    return status;
}

static sstore_status join_sets(ss_group_join *join, join_kind kind, value_set left, value_set right, uint32_t depth,
                               sstore_error *error)
{
    bool connected;
    if (left.count == 0 || left.count + right.count < 2)
        return SSTORE_OK;
    const sstore_status status = connect_what_is_left(join, kind, left, &connected, error);
    if (status != SSTORE_OK || connected)
        return status;
    /* This also keeps most groups, which are small, from being looked at more closely. */
    if (depth == SS_GROUP_MAX_DEPTH ||
        (double)(left.count + right.count) * TESTS_A_SORT > WORTH_IT * pair_tests(kind, left, right))
        return compare_all(join, kind, left, right, error);
    const uint64_t first = left.values[0];
    const uint64_t varying = varying_bits(left, first) | varying_bits(right, first);
    if (!counts_here(join, varying))
        return SSTORE_OK; /* no pair differs under some mask */
    if (kind == JOIN_SPANNING) {
        search dense = {.all = left};
        const sstore_status searched = search_on(join, &dense, false, error);
        if (searched != SSTORE_OK || dense.reached == left.count)
            return searched;
        left = (value_set){left.values + dense.searched, left.count - dense.searched};
    }
    return divide(join, kind, left, right, varying, depth, error);
}

sstore_status ss_group_self(ss_group_join *join, uint64_t *values, size_t count, sstore_error *error)
{
    return join_sets(join, JOIN_SELF, (value_set){values, count}, (value_set){NULL, 0}, 0, error);
}

sstore_status ss_group_cross(ss_group_join *join, uint64_t *left, size_t left_count, uint64_t *right,
                             size_t right_count, sstore_error *error)
{
    return join_sets(join, JOIN_CROSS, (value_set){left, left_count}, (value_set){right, right_count}, 0, error);
}

sstore_status ss_group_spanning(ss_group_join *join, uint64_t *values, size_t count, sstore_error *error)
{
    return join_sets(join, JOIN_SPANNING, (value_set){values, count}, (value_set){NULL, 0}, 0, error);
}

sstore_status ss_group_connect(ss_group_join *join, uint64_t from, uint64_t *values, size_t count, size_t *apart_out,
                               sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    size_t apart = 0;
    for (size_t begin = 0; status == SSTORE_OK && begin < count; begin += SS_GROUP_TILE) {
        const uint64_t *tile = values + begin;
        const uint32_t size = tile_size(count, begin);
        const uint32_t found = join->kernels->near_values(tile, size, from, join->distance, join->hits);
        status = count_tests(join, size, error);
        for (uint32_t i = 0, hit = 0; status == SSTORE_OK && i < size; i++) {
            if (hit == found || i != join->hits[hit]) {
                values[apart++] = tile[i];
                continue;
            }
            hit++;
            if (tile[i] != from)
                status = add_if_it_counts(join, from, tile[i], error);
        }
    }
    *apart_out = apart;
    return status;
}
