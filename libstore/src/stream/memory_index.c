#include "stream/memory_index.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "base/words.h"
#include "plan/cost.h"
#include "plan/durations.h"
#include "plan/radii.h"
#include "sort/radix.h"

#define SLICE 256u /* rows that are tested at once */

/* Of the choice of radii, which takes at most about as long as making the tables. */
#define SAMPLE_DIVISOR 16u
#define MIN_SAMPLE 64u
#define MAX_SAMPLE 256u
#define KEY_SAMPLE 32u /* of it, whose pairs also tell how skewed the keys of tables are */
#define KEY_PAIRS (KEY_SAMPLE * (KEY_SAMPLE - 1) / 2)
#define RARE_DIVISOR 64u /* a bit that is different in less than 1/64 of it is left out of keys */

/* ----- choosing radii ----- */

/* A sample of the rows. */
typedef struct row_sample {
    uint32_t count, words;
    uint64_t *rows;
    uint64_t differences[KEY_PAIRS]; /* between one word of two rows, for some pairs */
    size_t difference_count;
    ss_word_layout layouts[SSTORE_MAX_BUILD_DISTANCE + 1]; /* by radius; of the last word */
} row_sample;

/* Take a row at random from each of equal parts, but the same ones of equal rows. */
static void take_sample(row_sample *sample, const ss_memory_index *index)
{
    for (uint64_t i = 0; i < sample->count; i++) {
        const uint64_t begin = i * index->count / sample->count, end = (i + 1) * index->count / sample->count;
        const uint64_t row = begin + ss_sample_hash(i + 1) % (end - begin);
        ss_words_copy(sample->rows + i * sample->words, ss_memory_index_row(index, (uint32_t)row), sample->words);
    }
}

/* Find the bits of a word that tell words apart. */
static void choose_keys(const row_sample *sample, uint32_t word, ss_indexed_word *indexed)
{
    uint32_t ones[SS_WORD_BITS] = {0};
    uint64_t mask = 0;
    for (uint32_t i = 0; i < sample->count; i++) {
        const uint64_t value = sample->rows[(size_t)i * sample->words + word];
        for (uint32_t bit = 0; bit < SS_WORD_BITS; bit++)
            ones[bit] += (uint32_t)(value >> bit & 1);
    }
    for (uint32_t bit = 0; bit < SS_WORD_BITS; bit++) {
        const uint32_t fewer = ss_min_u32(ones[bit], sample->count - ones[bit]);
        mask |= (uint64_t)(fewer > sample->count / RARE_DIVISOR) << bit;
    }
    indexed->width = ss_popcount(mask);
    ss_permutation_init(&indexed->permutation, mask);
}

static uint64_t permute(const ss_indexed_word *indexed, uint64_t word)
{
    return indexed->width == SS_WORD_BITS ? word : ss_permute(&indexed->permutation, word);
}

/* Count the pairs of the sample by the bits in which a word differs, and keep the differences of some. */
static void compare_pairs(row_sample *sample, uint32_t word, const ss_indexed_word *indexed, uint64_t *pairs_out)
{
    const uint64_t *column = sample->rows + word;
    const uint32_t step = ss_max_u32(sample->count / KEY_SAMPLE, 1);
    sample->difference_count = 0;
    for (uint32_t i = 0; i < sample->count; i++)
        for (uint32_t j = 0; j < i; j++) {
            const uint64_t difference = column[(size_t)i * sample->words] ^ column[(size_t)j * sample->words];
            pairs_out[ss_popcount(difference)]++;
            if (i % step == 0 && j % step == 0 && sample->difference_count < KEY_PAIRS)
                sample->differences[sample->difference_count++] = permute(indexed, difference);
        }
}

/* Words mostly have the same layouts. */
static void choose_layouts(row_sample *sample, uint32_t width, uint32_t count, uint32_t max_radius)
{
    if (sample->layouts[0].table_count > 0 && sample->layouts[0].width == width)
        return;
    for (uint32_t radius = 0; radius <= max_radius; radius++)
        sample->layouts[radius] = ss_word_choose_layout(width, count, radius);
}

/* Estimate the costs of searching a word with each radius. */
static void estimate_word(const ss_memory_index *index, row_sample *sample, uint32_t word, uint32_t max_radius,
                          ss_word_costs *costs)
{
    const ss_indexed_word *indexed = &index->indexed[word];
    const double pair_count = 0.5 * sample->count * (sample->count - 1.0);
    uint64_t pairs[SS_WORD_BITS + 1] = {0};
    double near = 0;
    compare_pairs(sample, word, indexed, pairs);
    choose_layouts(sample, indexed->width, index->count, max_radius);
    costs->ns[0] = 0;
    for (uint32_t radius = 0; radius < SS_RADIUS_COUNT - 1; radius++)
        costs->ns[radius + 1] = INFINITY;
    for (uint32_t radius = 0; radius <= max_radius; radius++) {
        near += (double)pairs[radius];
        const double candidates = pair_count > 0 ? near / pair_count * index->count : 0;
        costs->ns[radius + 1] = candidates * SS_MEMORY_CANDIDATE_NS +
                                ss_word_skewed_ns(&sample->layouts[radius], index->count, radius, sample->differences,
                                                  sample->difference_count);
    }
}

static sstore_status choose_by(ss_memory_index *index, row_sample *sample, sstore_error *error)
{
    const uint32_t max_radius = ss_min_u32(index->distance, SSTORE_MAX_BUILD_DISTANCE);
    ss_word_costs costs[SSTORE_MAX_WORDS] = {{.ns = {0}}};
    take_sample(sample, index);
    for (uint32_t word = 0; word < index->words; word++) {
        choose_keys(sample, word, &index->indexed[word]);
        estimate_word(index, sample, word, max_radius, &costs[word]);
    }
    const sstore_status status = ss_radii_choose_cheapest(costs, index->words, index->distance, max_radius,
                                                          index->radii, error);
    double ns = 0;
    for (uint32_t word = 0; status == SSTORE_OK && word < index->words; word++)
        ns += costs[word].ns[index->radii[word] + 1];
    index->is_scanned = ns >= index->count * (SS_MEMORY_ROW_NS + SS_MEMORY_ROW_WORD_NS * index->words);
    return status;
}

static sstore_status choose_radii(ss_memory_index *index, sstore_error *error)
{
    const uint32_t wanted = ss_min_u32(ss_max_u32(index->count / SAMPLE_DIVISOR, MIN_SAMPLE), MAX_SAMPLE);
    row_sample sample = {.count = ss_min_u32(wanted, index->count), .words = index->words};
    sample.rows = ss_realloc(NULL, sample.count, index->words * sizeof *sample.rows);
    const sstore_status status = sample.rows != NULL
                                     ? choose_by(index, &sample, error)
                                     : ss_fail_memory(error, sample.count * index->words * sizeof *sample.rows);
    ss_free(sample.rows);
    return status;
}

/* ----- opening ----- */

/* Take the distinct words of sorted pairs of a word and a row, and where the rows of each begin. */
static uint32_t list_values(const ss_record *pairs, ss_indexed_word *indexed, uint32_t count)
{
    uint32_t distinct = 0;
    for (uint32_t i = 0; i < count; i++) {
        indexed->numbers[i] = (uint32_t)pairs[i].id;
        if (i > 0 && pairs[i].fingerprint == indexed->values[distinct - 1])
            continue;
        indexed->begins[distinct] = i;
        indexed->values[distinct++] = pairs[i].fingerprint;
    }
    indexed->begins[distinct] = count;
    if (distinct < count)
        return distinct;
    ss_free(indexed->begins);
    indexed->begins = NULL;
    return distinct;
}

/* Make the index of a word, if it has a radius. */
static sstore_status make_word(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    ss_memory_index *index = context;
    ss_indexed_word *indexed = &index->indexed[task];
    const size_t count = index->count;
    (void)worker;
    if (index->radii[task] == SS_NO_PROBE)
        return SSTORE_OK;
    ss_record *pairs = ss_realloc(NULL, 2 * count, sizeof *pairs); /* the second half is scratch */
    indexed->values = ss_realloc(NULL, count, sizeof *indexed->values);
    indexed->begins = ss_realloc(NULL, count + 1, sizeof *indexed->begins);
    indexed->numbers = ss_realloc(NULL, count, sizeof *indexed->numbers);
    if (pairs == NULL || indexed->values == NULL || indexed->begins == NULL || indexed->numbers == NULL) {
        ss_free(pairs);
        return ss_fail_memory(error, count * (2 * sizeof *pairs + sizeof(uint64_t) + 2 * sizeof(uint32_t)));
    }
    for (size_t i = 0; i < count; i++)
        pairs[i] = (ss_record){.fingerprint = permute(indexed, index->rows[i * index->words + task]), .id = i};
    ss_sort_records(pairs, pairs + count, count);
    const uint32_t distinct = list_values(pairs, indexed, index->count);
    ss_free(pairs);
    return ss_word_index_open(&indexed->index, indexed->values, distinct, indexed->width, (uint32_t)index->radii[task],
                              1, error);
}

static sstore_status make_words(ss_memory_index *index, uint32_t threads, sstore_error *error)
{
    const sstore_status status = choose_radii(index, error);
    if (status != SSTORE_OK || !index->is_scanned)
        return status == SSTORE_OK ? ss_pool_run(threads, index->words, make_word, index, error) : status;
    ss_free(index->indexed);
    index->indexed = NULL;
    return SSTORE_OK;
}

/* The rows themselves are the values of its index. */
static sstore_status make_only_word(ss_memory_index *index, uint32_t threads, sstore_error *error)
{
    index->is_scanned = false;
    index->radii[0] = (int32_t)index->distance;
    index->indexed->width = SS_WORD_BITS;
    return ss_word_index_open(&index->indexed->index, index->rows, index->count, SS_WORD_BITS, index->distance, threads,
                              error);
}

sstore_status ss_memory_index_open(ss_memory_index *index, uint64_t *rows, uint32_t count, uint32_t words,
                                   uint32_t distance, uint32_t threads, sstore_error *error)
{
    assert(distance <= words * SSTORE_MAX_BUILD_DISTANCE);
    *index = (ss_memory_index){.count = count,
                               .words = words,
                               .distance = distance,
                               .rows = rows,
                               .is_scanned = true,
                               .kernels = ss_kernels_best()};
    if (count == 0 && words > 1)
        return SSTORE_OK;
    index->indexed = ss_alloc(words, sizeof *index->indexed);
    if (index->indexed == NULL)
        return ss_fail_memory(error, words * sizeof *index->indexed);
    return words == 1 ? make_only_word(index, threads, error) : make_words(index, threads, error);
}

void ss_memory_index_close(ss_memory_index *index)
{
    for (uint32_t word = 0; index->indexed != NULL && word < index->words; word++) {
        ss_word_index_close(&index->indexed[word].index);
        ss_free(index->indexed[word].values);
        ss_free(index->indexed[word].begins);
        ss_free(index->indexed[word].numbers);
    }
    ss_free(index->indexed);
    ss_free(index->rows);
    *index = (ss_memory_index){.count = 0};
}

uint64_t ss_memory_index_bytes(const ss_memory_index *index)
{
    uint64_t bytes = (uint64_t)index->count * index->words * sizeof *index->rows;
    for (uint32_t word = 0; index->indexed != NULL && word < index->words; word++) {
        const ss_indexed_word *indexed = &index->indexed[word];
        bytes += sizeof *indexed + ss_word_index_bytes(&indexed->index);
        if (indexed->numbers != NULL)
            bytes += indexed->index.count * sizeof *indexed->values + (uint64_t)index->count * sizeof *indexed->numbers;
        if (indexed->begins != NULL)
            bytes += (indexed->index.count + UINT64_C(1)) * sizeof *indexed->begins;
    }
    return bytes;
}

sstore_status ss_memory_scratch_open(ss_memory_scratch *scratch, uint32_t words, size_t count, sstore_error *error)
{
    *scratch = (ss_memory_scratch){.order = {.values = ss_realloc(NULL, count, sizeof *scratch->order.values),
                                             .numbers = ss_realloc(NULL, count, sizeof *scratch->order.numbers)},
                                   .words = words == 1 ? NULL : ss_realloc(NULL, count, sizeof *scratch->words)};
    if (scratch->order.values == NULL || scratch->order.numbers == NULL || (words > 1 && scratch->words == NULL))
        return ss_fail_memory(error, count * (2 * sizeof(uint64_t) + sizeof(uint32_t)));
    return SSTORE_OK;
}

void ss_memory_scratch_close(ss_memory_scratch *scratch)
{
    ss_free(scratch->order.values);
    ss_free(scratch->order.numbers);
    ss_free(scratch->words);
    *scratch = (ss_memory_scratch){.words = NULL};
}

uint32_t ss_memory_index_number(const ss_memory_index *index, const uint64_t *found)
{
    return index->words == 1 ? ss_word_index_rank(&index->indexed->index, *found)
                             : (uint32_t)((size_t)(found - index->rows) / index->words);
}

/* ----- searching ----- */

typedef struct memory_search {
    const ss_memory_index *index;
    const uint64_t *fingerprints;
    uint32_t distance, word; /* whose index is searched */
    ss_memory_hit_fn on_hit;
    void *context;
} memory_search;

/* Test all rows that have a word that is near that of a fingerprint. */
static sstore_status test_candidates(void *context, uint32_t number, const uint64_t *found, sstore_error *error)
{
    const memory_search *self = context;
    const ss_memory_index *index = self->index;
    const ss_indexed_word *indexed = &index->indexed[self->word];
    const uint64_t *fingerprint = self->fingerprints + (size_t)number * index->words;
    const uint32_t rank = ss_word_index_rank(&indexed->index, *found);
    const uint32_t begin = indexed->begins != NULL ? indexed->begins[rank] : rank,
                   end = indexed->begins != NULL ? indexed->begins[rank + 1] : rank + 1;
    sstore_status status = SSTORE_OK;
    for (uint32_t i = begin; status == SSTORE_OK && i < end; i++) {
        const uint64_t *row = ss_memory_index_row(index, indexed->numbers[i]);
        if (ss_words_distance(row, fingerprint, index->words) <= self->distance &&
            ss_radii_first_cover(row, fingerprint, index->radii, index->words) == self->word)
            status = self->on_hit(self->context, number, row, error);
    }
    return status;
}

static sstore_status search_word(memory_search *self, uint32_t count, ss_memory_scratch *scratch, sstore_error *error)
{
    const ss_memory_index *index = self->index;
    const ss_indexed_word *indexed = &index->indexed[self->word];
    uint64_t only, *words = count > 1 ? scratch->words : &only;
    for (size_t i = 0; i < count; i++)
        words[i] = permute(indexed, self->fingerprints[i * index->words + self->word]);
    return ss_word_index_search(&indexed->index, words, count, indexed->index.distance,
                                count > 1 ? &scratch->order : NULL, test_candidates, self, error);
}

/* Test the rows from `first` on, at most SLICE. */
static sstore_status test_rows(const memory_search *self, uint32_t number, uint32_t first, sstore_error *error)
{
    const ss_memory_index *index = self->index;
    const uint64_t *fingerprint = self->fingerprints + (size_t)number * index->words;
    const uint32_t count = ss_min_u32(index->count - first, SLICE);
    uint32_t hits[SLICE];
    sstore_status status = SSTORE_OK;
    const uint32_t found = index->kernels->near_rows(ss_memory_index_row(index, first), count, index->words,
                                                     fingerprint, self->distance, hits);
    for (uint32_t i = 0; status == SSTORE_OK && i < found; i++)
        status = self->on_hit(self->context, number, ss_memory_index_row(index, first + hits[i]), error);
    return status;
}

/* Test some rows against all fingerprints, then the next ones: they stay in a cache meanwhile. */
static sstore_status scan(const memory_search *self, uint32_t count, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (uint32_t first = 0; status == SSTORE_OK && first < self->index->count;
         first += ss_min_u32(self->index->count - first, SLICE))
        for (uint32_t number = 0; status == SSTORE_OK && number < count; number++)
            status = test_rows(self, number, first, error);
    return status;
}

sstore_status ss_memory_index_search(const ss_memory_index *index, const uint64_t *fingerprints, uint32_t count,
                                     uint32_t distance, ss_memory_scratch *scratch, ss_memory_hit_fn on_hit,
                                     void *context, sstore_error *error)
{
    assert(distance <= index->distance);
    if (index->words == 1)
        return ss_word_index_search(&index->indexed->index, fingerprints, count, distance,
                                    scratch != NULL ? &scratch->order : NULL, on_hit, context, error);
    memory_search self = {
        .index = index, .fingerprints = fingerprints, .distance = distance, .on_hit = on_hit, .context = context};
    sstore_status status = SSTORE_OK;
    if (index->is_scanned)
        return scan(&self, count, error);
    for (; status == SSTORE_OK && self.word < index->words; self.word++)
        if (index->radii[self.word] != SS_NO_PROBE)
            status = search_word(&self, count, scratch, error);
    return status;
}
