#include "join/row_compare.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"

#define LANES SS_PAIR_LANES
#define LANES_MASK ((1u << LANES) - 1) /* of a hit; the higher bits are a number */
#define SLICE 1024u                    /* words of a run that are compared with a tile, and of a task */
#define TILE 2048u
#define LARGE (1u << 18)       /* pairs, from which on it pays to settle before any are compared */
#define FOUND 256u             /* pairs with near words that wait: their rows and sets are on the way from memory */
#define FLUSH_TESTS (1u << 26) /* some 10 ms of work, after which a call may be stopped */
#define MAX_FLIPS (1u + SS_MAX_PART_BITS + SS_MAX_PART_BITS * (SS_MAX_PART_BITS - 1) / 2)

/* Words, and the places of their fingerprints. */
typedef struct range {
    ss_folded words; /* folded, with SS_PAIR_PADDING */
    uint32_t *places;
    uint32_t count;
} range;

/* The places of two fingerprints. */
typedef struct row_pair {
    uint32_t a, b;
} row_pair;

/* The state of one thread. */
struct ss_row_comparer {
    ss_row_comparison *shared;
    uint32_t worker;
    sstore_status status; /* the first one that was not OK; it ends the work */
    sstore_error *error;  /* of the current task */
    uint64_t tests;       /* since the caller could stop the call */
    uint64_t found;       /* pairs with near words, so far */
    uint32_t found_count, pair_count;
    row_pair found_pairs[FOUND]; /* found_count of them wait */
    ss_fingerprint_pair pairs[SS_GROUP_PAIRS];
    uint32_t hits[TILE];
    uint64_t numbers[TILE];
    uint32_t roots[TILE];
    range slice, tile; /* copies, to order them; their memory: */
    uint32_t slice_words[2][SLICE + SS_PAIR_PADDING], tile_words[2][TILE + SS_PAIR_PADDING];
    uint32_t slice_places[SLICE], tile_places[TILE];
};

static range range_of(const ss_row_runs *runs, uint32_t begin, uint32_t count)
{
    return (range){{runs->words.folds + begin, runs->words.uppers + begin}, runs->places + begin, count};
}

static range rest_of(const range *from, uint32_t at)
{
    return (range){{from->words.folds + at, from->words.uppers + at}, from->places + at, from->count - at};
}

/* ----- pairs with near words ----- */

/* Give the gathered pairs. If pairs are judged, these are only counted: then see whether to stop. */
static void flush_pairs(ss_row_comparer *self)
{
    const ss_row_comparison *shared = self->shared;
    const uint32_t count = self->pair_count;
    self->pair_count = 0;
    if (self->status == SSTORE_OK)
        self->status = shared->judge != NULL
                           ? ss_progress_add(&shared->call->progress, self->worker, 0)
                           : shared->on_pairs(shared->context, self->worker, self->pairs, count, self->error);
}

static const ss_row_part *part_of(const ss_row_comparison *shared)
{
    return &shared->parts->parts[shared->part];
}

static uint32_t radius_of(const ss_row_comparison *shared)
{
    return (uint32_t)shared->parts->radii[part_of(shared)->word];
}

/* Whether a part finds two fingerprints. */
static bool finds(const ss_row_comparison *shared, uint32_t part, const uint64_t *a, const uint64_t *b)
{
    const ss_row_part *of = &shared->parts->parts[part];
    const uint64_t differing = a[of->word] ^ b[of->word], key = ss_row_part_key(of, ss_row_part_lead(of, differing));
    return ss_popcount(key) <= of->rho && (int32_t)ss_popcount(differing) <= shared->parts->radii[of->word];
}

/* Whether the current part is the first one that finds them. */
static bool finds_first(const ss_row_comparison *shared, const uint64_t *a, const uint64_t *b)
{
    uint32_t first = 0;
    while (!finds(shared, first, a, b))
        first++;
    return first == shared->part;
}

/* Have a pair judged, in the first part that finds it: an earlier one has judged it, or left it out since it was
 * connected. */
static void judge(ss_row_comparer *self, ss_fingerprint_pair numbers, const uint64_t *a, const uint64_t *b)
{
    const ss_row_comparison *shared = self->shared;
    if (finds_first(shared, a, b) && shared->judge(shared->context, numbers.first, numbers.second))
        (void)ss_edge_filter_pass(shared->filter, numbers.first, numbers.second);
}

static bool are_connected(ss_row_comparer *self, ss_fingerprint_pair numbers)
{
    uint32_t roots[2];
    ss_edge_filter_roots(self->shared->filter, (const uint64_t[]){numbers.first, numbers.second}, 2, roots);
    return roots[0] == roots[1] && roots[0] != SS_EDGE_FILTER_UNKNOWN;
}

/* Give a pair if it is near and wanted; the lower number comes first. */
static void confirm(ss_row_comparer *self, row_pair pair)
{
    const ss_row_comparison *shared = self->shared;
    const ss_placed_rows *placed = shared->placed;
    const uint64_t *a = ss_placed_row(placed, pair.a), *b = ss_placed_row(placed, pair.b);
    const uint64_t left = ss_placed_number(placed, pair.a), right = ss_placed_number(placed, pair.b);
    const ss_fingerprint_pair numbers = {ss_min_u64(left, right), ss_max_u64(left, right)};
    if ((shared->filter != NULL && are_connected(self, numbers)) ||
        ss_words_distance(a, b, placed->words) > shared->call->distance)
        return;
    if (shared->judge != NULL)
        judge(self, numbers, a, b);
    else if (shared->filter != NULL ? !ss_edge_filter_pass(shared->filter, numbers.first, numbers.second)
                                    : !finds_first(shared, a, b))
        return;
    self->pairs[self->pair_count++] = numbers;
    if (self->pair_count == SS_GROUP_PAIRS)
        flush_pairs(self);
}

static void confirm_found(ss_row_comparer *self)
{
    for (uint32_t i = 0; i < self->found_count && self->status == SSTORE_OK; i++)
        confirm(self, self->found_pairs[i]);
    self->found_count = 0;
}

/* Start to bring what is known of a fingerprint into the caches. */
static void prefetch(const ss_row_comparison *shared, uint32_t place)
{
    if (shared->filter != NULL)
        ss_edge_filter_prefetch(shared->filter, ss_placed_number(shared->placed, place));
    __builtin_prefetch(ss_placed_row(shared->placed, place));
}

static void add_pair(ss_row_comparer *self, uint32_t a, uint32_t b)
{
    prefetch(self->shared, a);
    prefetch(self->shared, b);
    self->found_pairs[self->found_count++] = (row_pair){a, b};
    self->found++;
    if (self->found_count == FOUND)
        confirm_found(self);
}

/* Note that this many words were compared. */
static void count_tests(ss_row_comparer *self, uint64_t tests)
{
    self->tests += tests;
    if (self->tests < FLUSH_TESTS || self->status != SSTORE_OK)
        return;
    self->tests = 0;
    self->status = ss_progress_add(&self->shared->call->progress, self->worker, 0);
}

/* ----- eight words at a time ----- */

/* Compare up to eight words, from `at` on, with later ones of the same range. */
static void compare_within(ss_row_comparer *self, const range *words, uint32_t at)
{
    const uint32_t found = self->shared->kernels->pairs_within(&words->words, at, words->count, radius_of(self->shared),
                                                               self->hits);
    count_tests(self, (uint64_t)(words->count - at) * LANES);
    for (uint32_t i = 0; i < found; i++) {
        const uint32_t *others = words->places + at + (self->hits[i] >> LANES);
        for (uint32_t lanes = self->hits[i] & LANES_MASK; lanes != 0; lanes &= lanes - 1) {
            const uint32_t lane = (uint32_t)__builtin_ctz(lanes);
            add_pair(self, words->places[at + lane], others[lane]);
        }
    }
}

/* Compare up to eight words, from `at` on, with a tile. */
static void compare_with(ss_row_comparer *self, const range *words, uint32_t at, const range *tile)
{
    const ss_folded some = {words->words.folds + at, words->words.uppers + at};
    const uint32_t found = self->shared->kernels->pairs_between(&some, ss_min_u32(words->count - at, LANES),
                                                                &tile->words, tile->count, radius_of(self->shared),
                                                                self->hits);
    count_tests(self, (uint64_t)tile->count * LANES);
    for (uint32_t i = 0; i < found; i++) {
        const uint32_t number = self->hits[i] >> LANES, lane = number % LANES;
        for (uint32_t lanes = self->hits[i] & LANES_MASK; lanes != 0; lanes &= lanes - 1)
            add_pair(self, words->places[at + lane], tile->places[number - lane + (uint32_t)__builtin_ctz(lanes)]);
    }
}

/* ----- settling ----- */

static void copy_words(const range *from, range *to)
{
    memcpy(to->words.folds, from->words.folds, from->count * sizeof *to->words.folds);
    memcpy(to->words.uppers, from->words.uppers, from->count * sizeof *to->words.uppers);
    memcpy(to->places, from->places, from->count * sizeof *to->places);
    to->count = from->count;
}

/* Exchange two words. */
static void exchange(const range *words, uint32_t i, uint32_t j)
{
    const uint32_t fold = words->words.folds[i], upper = words->words.uppers[i], place = words->places[i];
    words->words.folds[i] = words->words.folds[j];
    words->words.uppers[i] = words->words.uppers[j];
    words->places[i] = words->places[j];
    words->words.folds[j] = fold;
    words->words.uppers[j] = upper;
    words->places[j] = place;
}

/* Settle the words from `begin` on: order those apart from the main component first, and return where they end. *root
 * is the root of that component; SS_EDGE_FILTER_UNKNOWN: take that of most of the words. */
static uint32_t settle(ss_row_comparer *self, const range *words, uint32_t begin, uint32_t *root)
{
    uint32_t apart = begin;
    confirm_found(self);
    for (uint32_t i = begin; i < words->count; i++)
        self->numbers[i] = ss_placed_number(self->shared->placed, words->places[i]);
    ss_edge_filter_roots(self->shared->filter, self->numbers + begin, words->count - begin, self->roots + begin);
    if (*root == SS_EDGE_FILTER_UNKNOWN)
        *root = ss_edge_filter_majority(self->roots + begin, words->count - begin);
    for (uint32_t i = begin; i < words->count; i++)
        if (self->roots[i] != *root || *root == SS_EDGE_FILTER_UNKNOWN)
            exchange(words, i, apart++);
    return apart;
}

/* Compare a slice within itself, and settle before. */
static void settle_within(ss_row_comparer *self, const range *slice)
{
    const range *words = &self->slice;
    copy_words(slice, &self->slice);
    for (uint32_t at = 0, apart = words->count; self->status == SSTORE_OK && at < apart;) {
        const uint64_t enough = self->found + words->count - at;
        uint32_t root = SS_EDGE_FILTER_UNKNOWN;
        apart = settle(self, words, at, &root);
        for (; self->status == SSTORE_OK && at < apart && self->found < enough; at += LANES)
            compare_within(self, words, at);
    }
}

/* Compare a slice with a tile, and settle before. */
static void settle_between(ss_row_comparer *self, const range *slice, const range *tile)
{
    const range *words = &self->slice;
    copy_words(slice, &self->slice);
    copy_words(tile, &self->tile);
    for (uint32_t at = 0; self->status == SSTORE_OK && at < words->count;) {
        const uint64_t enough = self->found + words->count - at + tile->count;
        uint32_t root = SS_EDGE_FILTER_UNKNOWN;
        const uint32_t apart = settle(self, words, at, &root);
        const uint32_t others_apart = settle(self, &self->tile, 0, &root);
        for (; self->status == SSTORE_OK && at < words->count && self->found < enough; at += LANES) {
            self->tile.count = at < apart ? tile->count : others_apart;
            compare_with(self, words, at, &self->tile);
        }
        self->tile.count = tile->count;
    }
}

/* ----- slices and runs ----- */

/* After how many more found pairs it pays to settle words; 0: before any are compared. */
static uint64_t enough_pairs(const ss_row_comparer *self, uint32_t count, uint32_t other_count, uint32_t words)
{
    if (self->shared->filter == NULL)
        return UINT64_MAX;
    return (uint64_t)count * other_count >= LARGE ? 0 : (uint64_t)words + 1;
}

static void compare_slice_within(ss_row_comparer *self, const range *slice)
{
    const uint64_t enough = enough_pairs(self, slice->count, slice->count, slice->count), before = self->found;
    uint32_t at = 0;
    for (; self->status == SSTORE_OK && at < slice->count && self->found - before < enough; at += LANES)
        compare_within(self, slice, at);
    if (at < slice->count) {
        const range rest = rest_of(slice, at);
        settle_within(self, &rest);
    }
}

static void compare_with_tile(ss_row_comparer *self, const range *slice, const range *tile)
{
    const uint64_t enough = enough_pairs(self, slice->count, tile->count, slice->count + tile->count);
    const uint64_t before = self->found;
    uint32_t at = 0;
    for (; self->status == SSTORE_OK && at < slice->count && self->found - before < enough; at += LANES)
        compare_with(self, slice, at, tile);
    if (at < slice->count) {
        const range rest = rest_of(slice, at);
        settle_between(self, &rest, tile);
    }
}

static void compare_slice_with(ss_row_comparer *self, const range *slice, const range *run)
{
    for (uint32_t begin = 0; self->status == SSTORE_OK && begin < run->count; begin += TILE) {
        range tile = rest_of(run, begin);
        tile.count = ss_min_u32(tile.count, TILE);
        compare_with_tile(self, slice, &tile);
    }
}

/* ----- keys ----- */

/* List the keys within rho bits of `key`, without branches that depend on the data. With `only_above`, list only higher
 * keys: so each pair of runs is compared once, and a run with itself elsewhere. */
static uint32_t list_keys(uint64_t key, const ss_row_part *part, bool only_above, uint64_t *keys)
{
    uint32_t count = 0;
    keys[count] = key;
    count += !only_above;
    for (uint32_t i = 0; part->rho > 0 && i < part->bits; i++) {
        const uint64_t once = key ^ UINT64_C(1) << i;
        keys[count] = once;
        count += !only_above || once > key;
        for (uint32_t j = 0; part->rho > 1 && j < i; j++) {
            keys[count] = once ^ UINT64_C(1) << j;
            count += !only_above || keys[count] > key;
        }
    }
    return count;
}

/* Compare a slice of a run with the runs of other keys. */
static void compare_with_keys(ss_row_comparer *self, const range *slice, uint64_t key, const ss_row_runs *others,
                              bool only_above)
{
    uint64_t keys[MAX_FLIPS + 1];
    uint32_t begins[MAX_FLIPS + 1], counts[MAX_FLIPS + 1], run_count = 0;
    const uint32_t key_count = list_keys(key, part_of(self->shared), only_above, keys);
    for (uint32_t i = 0; i < key_count; i++) {
        const uint32_t count = ss_row_runs_find(others, keys[i], &begins[run_count]);
        __builtin_prefetch(others->words.folds + begins[run_count]);
        counts[run_count] = count;
        run_count += count > 0;
    }
    for (uint32_t i = 0; self->status == SSTORE_OK && i < run_count; i++) {
        const range run = range_of(others, begins[i], counts[i]);
        compare_slice_with(self, slice, &run);
    }
}

/* ----- tasks ----- */

typedef struct runs_task {
    ss_row_comparison *shared;
    const ss_row_runs *runs, *others;
} runs_task;

static bool begins_at_or_before(const void *items, uint64_t index, uint64_t target)
{
    return ((const uint32_t *)items)[index] <= target;
}

/* Compare the words begin .. end - 1, of runs from the one of `begin` on. */
static void compare_words(ss_row_comparer *self, const runs_task *task, uint32_t begin, uint32_t end)
{
    const ss_row_runs *runs = task->runs;
    uint64_t index = ss_lower_bound(runs->begins, 0, runs->key_count, begin, begins_at_or_before) - 1;
    for (; self->status == SSTORE_OK && begin < end; index++) {
        const uint32_t run_end = runs->begins[index + 1], slice_end = ss_min_u32(run_end, end);
        if (run_end <= begin)
            continue;
        const range slice = range_of(runs, begin, slice_end - begin);
        const range rest = range_of(runs, slice_end, run_end - slice_end);
        if (task->others == runs) {
            compare_slice_within(self, &slice);
            compare_slice_with(self, &slice, &rest);
        }
        compare_with_keys(self, &slice, runs->first_key + index, task->others, task->others == runs);
        begin = slice_end;
    }
}

static sstore_status run_task(void *context, uint64_t number, uint32_t worker, sstore_error *error)
{
    const runs_task *task = context;
    ss_row_comparer *self = &task->shared->workers[worker];
    const uint32_t begin = (uint32_t)number * SLICE;
    const uint32_t end = (uint32_t)ss_min_u64((uint64_t)begin + SLICE, task->runs->count);
    self->error = error;
    compare_words(self, task, begin, end);
    confirm_found(self);
    if (self->status == SSTORE_OK)
        self->status = ss_progress_add(&task->shared->call->progress, worker,
                                       task->others == task->runs ? end - begin : 0);
    return self->status;
}

sstore_status ss_row_comparison_run(ss_row_comparison *self, const ss_row_runs *runs, const ss_row_runs *others,
                                    sstore_error *error)
{
    runs_task task = {self, runs, others};
    return ss_pool_run(self->call->threads, (runs->count + SLICE - 1) / SLICE, run_task, &task, error);
}

/* ----- begin and end ----- */

sstore_status ss_row_comparison_open(ss_row_comparison *self, sstore_error *error)
{
    const uint32_t threads = self->call->threads;
    self->kernels = ss_join_kernels_best();
    self->workers = ss_alloc(threads, sizeof *self->workers);
    if (self->workers == NULL)
        return ss_fail_memory(error, threads * sizeof *self->workers);
    for (uint32_t i = 0; i < threads; i++) {
        ss_row_comparer *worker = &self->workers[i];
        worker->shared = self;
        worker->worker = i;
        worker->slice = (range){{worker->slice_words[0], worker->slice_words[1]}, worker->slice_places, 0};
        worker->tile = (range){{worker->tile_words[0], worker->tile_words[1]}, worker->tile_places, 0};
    }
    return SSTORE_OK;
}

void ss_row_comparison_close(ss_row_comparison *self)
{
    ss_free(self->workers);
    self->workers = NULL;
}

sstore_status ss_row_comparison_flush(ss_row_comparison *self, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; status == SSTORE_OK && i < self->call->threads; i++) {
        ss_row_comparer *worker = &self->workers[i];
        worker->error = error;
        flush_pairs(worker);
        status = worker->status;
    }
    return status;
}
