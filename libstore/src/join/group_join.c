#include "join/group_join.h"

#include <string.h>

#define SAMPLE 128u        /* values that tell how evenly a bit divides a group */
#define TESTS_A_SORT 130.0 /* tests that take as long as partitioning one value, by measurement */
#define KEY_BATCH 512u
#define MAX_FRACTION 0.75      /* of all tests, the maximum cost of dividing */
#define MIN_KNOWN 64u          /* values from which on it pays to check whether they are connected */
#define MAX_APART 64u          /* values that are connected one by one with many connected ones */
#define FLUSH_TESTS (1u << 26) /* some 10 ms of work, after which the caller is called even without pairs */
#define PRODUCTIVE_DIVISOR 16u /* a search continues while a value reaches 1/16 of the remaining values */
#define LANES_MASK ((1u << SS_PAIR_LANES) - 1) /* of a hit of a pair filter; the higher bits are a number */

/* The right set is empty but for SS_JOIN_CROSS. */
typedef struct value_set {
    uint64_t *values;
    size_t count;
} value_set;

static const value_set no_values = {NULL, 0};

void ss_group_join_init(ss_group_join *join, uint32_t distance, uint64_t *scratch, ss_group_pairs_fn on_pairs,
                        void *context)
{
    assert(distance < SS_GROUP_MAX_PARTS);
    join->distance = distance;
    join->kernels = ss_kernels_best();
    join->join_kernels = ss_join_kernels_best();
    join->on_pairs = on_pairs;
    join->find_apart = NULL;
    join->context = context;
    join->status = SSTORE_OK;
    join->error = NULL;
    join->scratch = scratch;
    join->row = (ss_folded){join->row_words[0], join->row_words[1]};
    join->tile = (ss_folded){join->tile_words[0], join->tile_words[1]};
    join->tests = join->tests_at_flush = join->found = 0;
    join->mask_count = join->pair_count = 0;
}

void ss_group_join_except(ss_group_join *join, const uint64_t *masks, uint32_t count)
{
    assert(count <= SS_GROUP_MAX_EXCEPT);
    memcpy(join->masks, masks, count * sizeof *masks);
    join->mask_count = count;
}

/* ----- pairs ----- */

static void flush(ss_group_join *join)
{
    const uint32_t count = join->pair_count;
    join->pair_count = 0;
    join->tests_at_flush = join->tests;
    if (join->status == SSTORE_OK)
        join->status = join->on_pairs(join->context, join->pairs, count, join->error);
}

bool ss_group_join_counts(const ss_group_join *join, uint64_t differing)
{
    for (uint32_t i = 0; i < join->mask_count; i++)
        if ((differing & join->masks[i]) == 0)
            return false;
    return true;
}

/* Add a pair, unless it is found elsewhere. */
static void add_pair(ss_group_join *join, uint64_t first, uint64_t second)
{
    if (!ss_group_join_counts(join, first ^ second))
        return;
    join->pairs[join->pair_count++] = (ss_fingerprint_pair){first, second};
    join->found++;
    if (join->pair_count == SS_GROUP_PAIRS)
        flush(join);
}

/* Note that `tests` values were compared. */
static void count_tests(ss_group_join *join, size_t tests)
{
    join->tests += tests;
    if (join->tests - join->tests_at_flush >= FLUSH_TESTS)
        flush(join);
}

/* ----- comparing all values ----- */

/* The size of the tile that begins here. */
static uint32_t tile_size(value_set set, size_t begin)
{
    return (uint32_t)ss_min_u64(set.count - begin, SS_GROUP_TILE);
}

/* Add the pairs of up to eight values of a tile, from `at` on, with later ones. The tile is folded. */
static void compare_row(ss_group_join *join, const uint64_t *tile, uint32_t size, uint32_t at)
{
    const uint64_t *row = tile + at;
    const uint32_t found = join->join_kernels->pairs_within(&join->tile, at, size, join->distance, join->hits);
    count_tests(join, (size_t)(size - at) * SS_PAIR_LANES);
    for (uint32_t i = 0; i < found; i++) {
        const uint64_t *others = row + (join->hits[i] >> SS_PAIR_LANES);
        for (uint32_t lanes = join->hits[i] & LANES_MASK; lanes != 0; lanes &= lanes - 1) {
            const uint32_t lane = (uint32_t)__builtin_ctz(lanes);
            add_pair(join, row[lane], others[lane]);
        }
    }
}

/* Add all pairs within a tile, which is folded. */
static void compare_within(ss_group_join *join, const uint64_t *tile, uint32_t size)
{
    for (uint32_t at = 0; join->status == SSTORE_OK && at < size; at += SS_PAIR_LANES)
        compare_row(join, tile, size, at);
}

/* Add the pairs of `count` values with a tile, which is folded. */
static void compare_with_tile(ss_group_join *join, const uint64_t *values, size_t count, const uint64_t *tile,
                              uint32_t size)
{
    for (size_t begin = 0; join->status == SSTORE_OK && begin < count; begin += SS_PAIR_LANES) {
        const uint64_t *row = values + begin;
        const uint32_t row_count = (uint32_t)ss_min_u64(count - begin, SS_PAIR_LANES);
        ss_fold_values(row, row_count, &join->row);
        const uint32_t found = join->join_kernels->pairs_between(&join->row, row_count, &join->tile, size,
                                                                 join->distance, join->hits);
        count_tests(join, (size_t)size * row_count);
        for (uint32_t i = 0; i < found; i++) {
            const uint32_t number = join->hits[i] >> SS_PAIR_LANES, lane = number % SS_PAIR_LANES;
            for (uint32_t lanes = join->hits[i] & LANES_MASK; lanes != 0; lanes &= lanes - 1)
                add_pair(join, row[lane], tile[number - lane + (uint32_t)__builtin_ctz(lanes)]);
        }
    }
}

/* Compare one tile after the other: a tile of a set with all values before it and within itself, a tile of the right
 * set with all left values. */
static void compare_all(ss_group_join *join, ss_join_kind kind, value_set left, value_set right)
{
    const bool cross = kind == SS_JOIN_CROSS;
    const value_set set = cross ? right : left;
    for (size_t begin = 0; join->status == SSTORE_OK && begin < set.count; begin += SS_GROUP_TILE) {
        const uint64_t *tile = set.values + begin;
        const uint32_t size = tile_size(set, begin);
        ss_fold_values(tile, size, &join->tile);
        compare_with_tile(join, left.values, cross ? left.count : begin, tile, size);
        if (!cross)
            compare_within(join, tile, size);
    }
}

/* Find the values near `from` in the tile that begins here: their indexes in it go to join->hits, ascending. */
static uint32_t find_near(ss_group_join *join, value_set set, size_t begin, uint64_t from)
{
    const uint32_t size = tile_size(set, begin);
    const uint32_t found = join->kernels->near_values(set.values + begin, size, from, join->distance, join->hits);
    count_tests(join, size);
    return found;
}

/* ----- breadth-first search ----- */

/* The numbers of values whose near values were all reached, and of values that were reached; both from the first on. */
typedef struct search {
    size_t searched, reached;
} search;

/* Connect values by a search, completely or as long as it pays: a search that reaches few values at a time is
 * quadratic. */
static search search_values(ss_group_join *join, value_set set, bool to_the_end)
{
    uint64_t *values = set.values;
    search state = {0, 0};
    bool pays = true;
    while (join->status == SSTORE_OK && pays && state.reached < set.count) {
        const size_t left = set.count - state.reached;
        if (state.searched == state.reached)
            state.reached++; /* the next component begins here */
        const uint64_t from = values[state.searched++];
        const size_t before = state.reached;
        for (size_t begin = before; join->status == SSTORE_OK && begin < set.count; begin += SS_GROUP_TILE) {
            const uint32_t found = find_near(join, set, begin, from);
            for (uint32_t i = 0; i < found; i++) {
                /* Hits ascend, so the value that takes the hit's place was compared already. */
                const uint64_t hit = values[begin + join->hits[i]];
                values[begin + join->hits[i]] = values[state.reached];
                values[state.reached++] = hit;
                add_pair(join, from, hit); /* a pair that is found elsewhere also connects */
            }
        }
        pays = to_the_end || state.reached - before >= left / PRODUCTIVE_DIVISOR;
    }
    return state;
}

/* Connect values. If there are few pairs, comparing all costs less than a search. */
static void span(ss_group_join *join, value_set set)
{
    const uint64_t found_before = join->found;
    const uint32_t count = set.count <= SS_GROUP_TILE ? (uint32_t)set.count : 0;
    uint32_t at = 0;
    ss_fold_values(set.values, count, &join->tile);
    for (; join->status == SSTORE_OK && at < count && join->found - found_before < count; at += SS_PAIR_LANES)
        compare_row(join, set.values, count, at);
    if (at < set.count)
        (void)search_values(join, set, true);
}

/* ----- values that are connected already ----- */

/* Connect few values with each other and with all others of the set, which are connected. One pair suffices for the
 * latter. */
static void connect_apart(ss_group_join *join, value_set set, const uint32_t *apart, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) { /* to the front */
        const uint64_t value = set.values[apart[i]];
        set.values[apart[i]] = set.values[i];
        set.values[i] = value;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t found = 0;
        for (size_t begin = count; join->status == SSTORE_OK && found == 0 && begin < set.count;
             begin += SS_GROUP_TILE) {
            found = find_near(join, set, begin, set.values[i]);
            if (found > 0)
                add_pair(join, set.values[i], set.values[begin + join->hits[0]]);
        }
    }
    ss_fold_values(set.values, count, &join->tile);
    compare_within(join, set.values, count);
}

/* Connect a set if the pairs found so far connect most of it. Returns whether the set is done. */
static bool connect_known(ss_group_join *join, ss_join_kind kind, value_set set)
{
    uint32_t apart[MAX_APART];
    if (kind != SS_JOIN_SPANNING || join->find_apart == NULL || set.count < MIN_KNOWN)
        return false;
    if (join->pair_count > 0)
        flush(join);
    if (join->status != SSTORE_OK)
        return true;
    const size_t max = (size_t)ss_min_u64(set.count / MIN_KNOWN, MAX_APART);
    const size_t count = join->find_apart(join->context, set.values, set.count, apart, max);
    if (count <= max)
        connect_apart(join, set, apart, (uint32_t)count);
    return count <= max;
}

/* ----- dividing ----- */

static uint64_t varying_bits(value_set from, uint64_t first)
{
    uint64_t varying = 0;
    for (size_t i = 0; i < from.count; i++)
        varying |= from.values[i] ^ first;
    return varying;
}

/* A bit, and the probability that two values are equal in it. */
typedef struct ranked_bit {
    uint64_t bit;
    double equal;
} ranked_bit;

/* The bits that vary, those that divide a sample of the values most evenly first. Returns their number. */
static uint32_t rank_bits(value_set from, uint64_t varying, ranked_bit *bits)
{
    const size_t size = from.count < SAMPLE ? from.count : SAMPLE, step = from.count / size;
    uint32_t bit_count = 0;
    for (; varying != 0; varying &= varying - 1, bit_count++) {
        const uint32_t shift = (uint32_t)__builtin_ctzll(varying);
        uint64_t ones = 0;
        for (size_t i = 0; i < size; i++)
            ones += from.values[i * step] >> shift & 1;
        const double fraction = (double)ones / (double)size;
        const ranked_bit ranked = {UINT64_C(1) << shift, 1 - 2 * fraction * (1 - fraction)};
        uint32_t at = bit_count;
        for (; at > 0 && bits[at - 1].equal > ranked.equal; at--)
            bits[at] = bits[at - 1];
        bits[at] = ranked;
    }
    return bit_count;
}

/* Assign each bit to the one of `count` empty parts that divides least so far and is not full. Adjacent bits get into
 * different parts, so if only they vary, each part has some. Returns the fraction of all tests that is left if bits are
 * independent. */
static double assign_bits(const ranked_bit *bits, uint32_t bit_count, uint32_t count, uint64_t *parts)
{
    double equal[SS_GROUP_MAX_PARTS], left = 0;
    uint32_t sizes[SS_GROUP_MAX_PARTS] = {0};
    for (uint32_t i = 0; i < count; i++)
        equal[i] = 1;
    for (uint32_t bit = 0; bit < bit_count; bit++) {
        uint32_t to = count;
        for (uint32_t i = 0; i < count; i++)
            if (sizes[i] < SS_GROUP_PART_BITS &&
                (to == count || equal[i] > equal[to] || (equal[i] == equal[to] && sizes[i] < sizes[to])))
                to = i;
        if (to == count)
            break; /* all parts are full */
        parts[to] |= bits[bit].bit;
        equal[to] *= bits[bit].equal;
        sizes[to]++;
    }
    for (uint32_t i = 0; i < count; i++)
        left += equal[i];
    return left;
}

static double pair_tests(ss_join_kind kind, value_set left, value_set right)
{
    const double a = (double)left.count, b = (double)right.count;
    return kind == SS_JOIN_CROSS ? a * b : a * (a - 1) / 2;
}

/* Find k + 1 parts of the varying bits. False: comparing all values is expected to take less than dividing. */
static bool choose_parts(const ss_group_join *join, ss_join_kind kind, value_set left, value_set right,
                         uint64_t varying, uint64_t *parts)
{
    const uint32_t count = join->distance + 1;
    const double tests = pair_tests(kind, left, right);
    const double sorting = (double)(left.count + right.count) * count * TESTS_A_SORT;
    ranked_bit bits[SS_FINGERPRINT_BITS];
    if (sorting >= MAX_FRACTION * tests || ss_popcount(varying) < count)
        return false;
    const uint32_t bit_count = rank_bits(left.count >= right.count ? left : right, varying, bits);
    return sorting + assign_bits(bits, bit_count, count, parts) * tests <= MAX_FRACTION * tests;
}

/* Sort values by a part's bits, by counting. */
static void sort_by_part(ss_group_join *join, value_set set, uint64_t part)
{
    const uint32_t bits = ss_popcount(part);
    uint32_t *ends = join->ends;
    uint16_t keys[KEY_BATCH];
    memset(ends, 0, sizeof *ends << bits);
    for (size_t begin = 0; begin < set.count; begin += KEY_BATCH) {
        const size_t size = (size_t)ss_min_u64(set.count - begin, KEY_BATCH);
        join->join_kernels->gather_bits(set.values + begin, size, part, keys);
        for (size_t i = 0; i < size; i++)
            ends[keys[i]]++;
    }
    for (uint32_t i = 0, end = 0; i >> bits == 0; i++) {
        const uint32_t begin = end;
        end += ends[i];
        ends[i] = begin;
    }
    for (size_t begin = 0; begin < set.count; begin += KEY_BATCH) {
        const size_t size = (size_t)ss_min_u64(set.count - begin, KEY_BATCH);
        join->join_kernels->gather_bits(set.values + begin, size, part, keys);
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

static void join_sets(ss_group_join *join, ss_join_kind kind, value_set left, value_set right, uint32_t depth);

/* Join the runs that are equal in a part. */
static void join_runs(ss_group_join *join, ss_join_kind kind, value_set left, value_set right, uint64_t part,
                      uint32_t depth)
{
    const bool cross = kind == SS_JOIN_CROSS;
    sort_by_part(join, left, part);
    if (cross)
        sort_by_part(join, right, part);
    for (size_t i = 0, j = 0; join->status == SSTORE_OK && i < left.count && (!cross || j < right.count);) {
        /* The values are in the order of the part's bits, so these compare in the same order. */
        const uint64_t a = left.values[i] & part, b = cross ? right.values[j] & part : a;
        const value_set from_left = a <= b ? run_at(left, i, part) : no_values;
        const value_set from_right = cross && b <= a ? run_at(right, j, part) : no_values;
        i += from_left.count;
        j += from_right.count;
        if (a == b && from_left.count + from_right.count > 1)
            join_sets(join, kind, from_left, from_right, depth);
    }
}

/* Join the sets part by part. False: nothing was done, because comparing all values is expected to take less. */
static bool divide_sets(ss_group_join *join, ss_join_kind kind, value_set left, value_set right, uint64_t varying,
                        uint32_t depth)
{
    const uint32_t masks_before = join->mask_count;
    uint64_t parts[SS_GROUP_MAX_PARTS] = {0};
    if (!choose_parts(join, kind, left, right, varying, parts))
        return false;
    for (uint32_t i = 0; join->status == SSTORE_OK && i <= join->distance; i++) {
        if (i > 0 && connect_known(join, kind, left))
            break;
        join_runs(join, kind, left, right, parts[i], depth + 1);
        join->masks[join->mask_count++] = parts[i];
    }
    join->mask_count = masks_before;
    return true;
}

static void join_sets(ss_group_join *join, ss_join_kind kind, value_set left, value_set right, uint32_t depth)
{
    if (left.count == 0 || left.count + right.count < 2 || connect_known(join, kind, left))
        return;
    /* Most groups are so small that a further analysis does not pay. */
    if (depth < SS_GROUP_MAX_DEPTH &&
        (double)(left.count + right.count) * TESTS_A_SORT <= MAX_FRACTION * pair_tests(kind, left, right)) {
        const uint64_t first = left.values[0];
        const uint64_t varying = varying_bits(left, first) | varying_bits(right, first);
        if (!ss_group_join_counts(join, varying))
            return; /* all pairs are equal under some mask */
        if (kind == SS_JOIN_SPANNING) {
            const search dense = search_values(join, left, false);
            if (join->status != SSTORE_OK || dense.reached == left.count)
                return;
            left = (value_set){left.values + dense.searched, left.count - dense.searched};
        }
        if (divide_sets(join, kind, left, right, varying, depth))
            return;
    }
    if (kind == SS_JOIN_SPANNING)
        span(join, left);
    else
        compare_all(join, kind, left, right);
}

/* ----- entry points ----- */

sstore_status ss_group_join_run(ss_group_join *join, ss_join_kind kind, uint64_t *left, size_t left_count,
                                uint64_t *right, size_t right_count, sstore_error *error)
{
    join->error = error;
    join_sets(join, kind, (value_set){left, left_count},
              kind == SS_JOIN_CROSS ? (value_set){right, right_count} : no_values, 0);
    return join->status;
}

sstore_status ss_group_connect(ss_group_join *join, uint64_t from, uint64_t *values, size_t count, size_t *apart_out,
                               sstore_error *error)
{
    const value_set set = {values, count};
    size_t apart = 0;
    join->error = error;
    for (size_t begin = 0; join->status == SSTORE_OK && begin < count; begin += SS_GROUP_TILE) {
        const uint64_t *tile = values + begin;
        const uint32_t size = tile_size(set, begin), found = find_near(join, set, begin, from);
        for (uint32_t i = 0, hit = 0; i < size; i++) {
            if (hit == found || i != join->hits[hit]) {
                values[apart++] = tile[i];
                continue;
            }
            hit++;
            if (tile[i] != from)
                add_pair(join, from, tile[i]);
        }
    }
    *apart_out = apart;
    return join->status;
}

sstore_status ss_group_flush(ss_group_join *join, sstore_error *error)
{
    join->error = error;
    flush(join);
    return join->status;
}
