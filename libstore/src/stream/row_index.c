#include "stream/row_index.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "base/words.h"
#include "plan/cost.h"
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

/* About the nanoseconds to find and test a candidate; and to test a row, and each of its words, if all are. */
#define CANDIDATE_NS 60.0
#define ROW_NS 2.0
#define ROW_WORD_NS 0.25

/* ----- choosing radii ----- */

/* A sample of the rows. */
typedef struct row_sample {
    uint32_t count, words;
    uint64_t *rows;
    uint64_t differences[KEY_PAIRS]; /* between one word of two rows, for some pairs */
    size_t difference_count;
    ss_index_layout layouts[SSTORE_MAX_BUILD_DISTANCE + 1]; /* by radius; of the last word */
} row_sample;

/* Take a row at random from each of equal parts, but the same ones of equal rows. */
static void take_sample(row_sample *sample, const ss_row_index *index)
{
    for (uint64_t i = 0; i < sample->count; i++) {
        const uint64_t begin = i * index->count / sample->count, end = (i + 1) * index->count / sample->count;
        const uint64_t row = begin + ss_sample_hash(i + 1) % (end - begin);
        ss_words_copy(sample->rows + i * sample->words, ss_row_index_row(index, (uint32_t)row), sample->words);
    }
}

/* Find the bits of a word that tell words apart. */
static void choose_keys(const row_sample *sample, uint32_t word, ss_row_word *of)
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
    of->width = ss_popcount(mask);
    ss_permutation_init(&of->permutation, mask);
}

static uint64_t permute(const ss_row_word *of, uint64_t word)
{
    return of->width == SS_WORD_BITS ? word : ss_permute(&of->permutation, word);
}

/* Count the pairs of the sample by the bits in which a word differs, and keep the differences of some. */
static void compare_pairs(row_sample *sample, uint32_t word, const ss_row_word *of, uint64_t *pairs_out)
{
    const uint64_t *column = sample->rows + word;
    const uint32_t step = ss_max_u32(sample->count / KEY_SAMPLE, 1);
    sample->difference_count = 0;
    for (uint32_t i = 0; i < sample->count; i++)
        for (uint32_t j = 0; j < i; j++) {
            const uint64_t difference = column[(size_t)i * sample->words] ^ column[(size_t)j * sample->words];
            pairs_out[ss_popcount(difference)]++;
            if (i % step == 0 && j % step == 0 && sample->difference_count < KEY_PAIRS)
                sample->differences[sample->difference_count++] = permute(of, difference);
        }
}

/* Words mostly have the same layouts. */
static void choose_layouts(row_sample *sample, uint32_t width, uint32_t count, uint32_t max_radius)
{
    if (sample->layouts[0].table_count > 0 && sample->layouts[0].width == width)
        return;
    for (uint32_t radius = 0; radius <= max_radius; radius++)
        sample->layouts[radius] = ss_index_choose_layout(width, count, radius);
}

/* Estimate the costs of searching a word with each radius. */
static void estimate_word(const ss_row_index *index, row_sample *sample, uint32_t word, uint32_t max_radius,
                          ss_word_costs *costs)
{
    const ss_row_word *of = &index->of_words[word];
    const double all = 0.5 * sample->count * (sample->count - 1.0);
    uint64_t pairs[SS_WORD_BITS + 1] = {0};
    double near = 0;
    compare_pairs(sample, word, of, pairs);
    choose_layouts(sample, of->width, index->count, max_radius);
    costs->ns[0] = 0;
    for (uint32_t radius = 0; radius < SS_RADIUS_COUNT - 1; radius++)
        costs->ns[radius + 1] = INFINITY;
    for (uint32_t radius = 0; radius <= max_radius; radius++) {
        near += (double)pairs[radius];
        const double candidates = all > 0 ? near / all * index->count : 0;
        costs->ns[radius + 1] = candidates * CANDIDATE_NS + ss_index_skewed_ns(&sample->layouts[radius], index->count,
                                                                               radius, sample->differences,
                                                                               sample->difference_count);
    }
}

static sstore_status choose_by(ss_row_index *index, row_sample *sample, sstore_error *error)
{
    const uint32_t max_radius = ss_min_u32(index->distance, SSTORE_MAX_BUILD_DISTANCE);
    ss_word_costs costs[SSTORE_MAX_WORDS] = {{.ns = {0}}};
    take_sample(sample, index);
    for (uint32_t word = 0; word < index->words; word++) {
        choose_keys(sample, word, &index->of_words[word]);
        estimate_word(index, sample, word, max_radius, &costs[word]);
    }
    const sstore_status status = ss_radii_choose_cheapest(costs, index->words, index->distance, max_radius,
                                                          index->radii, error);
    double ns = 0;
    for (uint32_t word = 0; status == SSTORE_OK && word < index->words; word++)
        ns += costs[word].ns[index->radii[word] + 1];
    index->is_scanned = ns >= index->count * (ROW_NS + ROW_WORD_NS * index->words);
    return status;
}

static sstore_status choose_radii(ss_row_index *index, sstore_error *error)
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
static uint32_t list_values(const sstore_record *pairs, ss_row_word *of, uint32_t count, uint64_t *values)
{
    uint32_t distinct = 0;
    for (uint32_t i = 0; i < count; i++) {
        of->numbers[i] = (uint32_t)pairs[i].id;
        if (i > 0 && pairs[i].fingerprint == values[distinct - 1])
            continue;
        of->begins[distinct] = i;
        values[distinct++] = pairs[i].fingerprint;
    }
    of->begins[distinct] = count;
    if (distinct < count)
        return distinct;
    ss_free(of->begins);
    of->begins = NULL;
    return distinct;
}

/* Make the index of a word, if it has a radius. */
static sstore_status make_word(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    ss_row_index *index = context;
    ss_row_word *of = &index->of_words[task];
    const size_t count = index->count;
    (void)worker;
    if (index->radii[task] == SS_NO_PROBE)
        return SSTORE_OK;
    sstore_record *pairs = ss_realloc(NULL, 2 * count, sizeof *pairs); /* the second half is scratch */
    uint64_t *values = ss_realloc(NULL, count, sizeof *values);
    of->begins = ss_realloc(NULL, count + 1, sizeof *of->begins);
    of->numbers = ss_realloc(NULL, count, sizeof *of->numbers);
    if (pairs == NULL || values == NULL || of->begins == NULL || of->numbers == NULL) {
        ss_free(pairs);
        ss_free(values);
        return ss_fail_memory(error, count * (2 * sizeof *pairs + sizeof *values + 2 * sizeof *of->numbers));
    }
    for (size_t i = 0; i < count; i++)
        pairs[i] = (sstore_record){.fingerprint = permute(of, index->rows[i * index->words + task]), .id = i};
    ss_sort_records(pairs, pairs + count, count);
    const uint32_t distinct = list_values(pairs, of, index->count, values);
    ss_free(pairs);
    return ss_fingerprint_index_open(&of->index, values, distinct, of->width, (uint32_t)index->radii[task], 1, error);
}

sstore_status ss_row_index_open(ss_row_index *index, uint64_t *rows, uint32_t count, uint32_t words, uint32_t distance,
                                uint32_t threads, sstore_error *error)
{
    assert(distance <= words * SSTORE_MAX_BUILD_DISTANCE);
    *index = (ss_row_index){.count = count,
                            .words = words,
                            .distance = distance,
                            .rows = rows,
                            .is_scanned = true,
                            .kernels = ss_kernels_best()};
    if (count == 0)
        return SSTORE_OK;
    index->of_words = ss_alloc(words, sizeof *index->of_words);
    if (index->of_words == NULL)
        return ss_fail_memory(error, words * sizeof *index->of_words);
    const sstore_status status = choose_radii(index, error);
    if (status != SSTORE_OK || !index->is_scanned)
        return status == SSTORE_OK ? ss_pool_run(threads, words, make_word, index, error) : status;
    ss_free(index->of_words);
    index->of_words = NULL;
    return SSTORE_OK;
}

void ss_row_index_close(ss_row_index *index)
{
    for (uint32_t word = 0; index->of_words != NULL && word < index->words; word++) {
        ss_fingerprint_index_close(&index->of_words[word].index);
        ss_free(index->of_words[word].begins);
        ss_free(index->of_words[word].numbers);
    }
    ss_free(index->of_words);
    ss_free(index->rows);
    *index = (ss_row_index){.count = 0};
}

uint64_t ss_row_index_bytes(const ss_row_index *index)
{
    uint64_t bytes = (uint64_t)index->count * index->words * sizeof *index->rows;
    for (uint32_t word = 0; index->of_words != NULL && word < index->words; word++) {
        const ss_row_word *of = &index->of_words[word];
        bytes += sizeof *of;
        if (of->numbers != NULL)
            bytes += ss_fingerprint_index_bytes(&of->index) + (uint64_t)index->count * sizeof *of->numbers;
        if (of->begins != NULL)
            bytes += (of->index.count + UINT64_C(1)) * sizeof *of->begins;
    }
    return bytes;
}

/* ----- searching ----- */

typedef struct row_search {
    const ss_row_index *index;
    const uint64_t *fingerprints;
    uint32_t word; /* whose index is searched */
    ss_row_index_hit_fn on_hit;
    void *context;
} row_search;

/* Test all rows that have a word that is near that of a fingerprint. */
static sstore_status test_candidates(void *context, uint32_t number, uint64_t value, sstore_error *error)
{
    const row_search *self = context;
    const ss_row_index *index = self->index;
    const ss_row_word *of = &index->of_words[self->word];
    const uint64_t *fingerprint = self->fingerprints + (size_t)number * index->words;
    const uint32_t rank = ss_fingerprint_index_rank(&of->index, value);
    const uint32_t begin = of->begins != NULL ? of->begins[rank] : rank,
                   end = of->begins != NULL ? of->begins[rank + 1] : rank + 1;
    sstore_status status = SSTORE_OK;
    for (uint32_t i = begin; status == SSTORE_OK && i < end; i++) {
        const uint64_t *row = ss_row_index_row(index, of->numbers[i]);
        const uint32_t distance = ss_words_distance(row, fingerprint, index->words);
        if (distance <= index->distance &&
            ss_radii_first_cover(row, fingerprint, index->radii, index->words) == self->word)
            status = self->on_hit(self->context, number, of->numbers[i], distance, error);
    }
    return status;
}

static sstore_status search_word(row_search *self, uint32_t count, ss_row_scratch *scratch, sstore_error *error)
{
    const ss_row_index *index = self->index;
    const ss_row_word *of = &index->of_words[self->word];
    uint64_t only, *words = count > 1 ? scratch->words : &only;
    for (size_t i = 0; i < count; i++)
        words[i] = permute(of, self->fingerprints[i * index->words + self->word]);
    return ss_fingerprint_index_search(&of->index, words, count, of->index.distance, count > 1 ? &scratch->order : NULL,
                                       test_candidates, self, error);
}

/* Test the rows from `first` on, at most SLICE. */
static sstore_status test_rows(const row_search *self, uint32_t number, uint32_t first, sstore_error *error)
{
    const ss_row_index *index = self->index;
    const uint64_t *fingerprint = self->fingerprints + (size_t)number * index->words;
    const uint32_t count = ss_min_u32(index->count - first, SLICE);
    uint32_t hits[SLICE];
    sstore_status status = SSTORE_OK;
    const uint32_t found = index->kernels->near_rows(ss_row_index_row(index, first), count, index->words, fingerprint,
                                                     index->distance, hits);
    for (uint32_t i = 0; status == SSTORE_OK && i < found; i++) {
        const uint64_t *row = ss_row_index_row(index, first + hits[i]);
        status = self->on_hit(self->context, number, first + hits[i], ss_words_distance(row, fingerprint, index->words),
                              error);
    }
    return status;
}

/* Test some rows against all fingerprints, then the next ones: they stay in a cache meanwhile. */
static sstore_status scan(const row_search *self, uint32_t count, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (uint32_t first = 0; status == SSTORE_OK && first < self->index->count;
         first += ss_min_u32(self->index->count - first, SLICE))
        for (uint32_t number = 0; status == SSTORE_OK && number < count; number++)
            status = test_rows(self, number, first, error);
    return status;
}

sstore_status ss_row_index_search(const ss_row_index *index, const uint64_t *fingerprints, uint32_t count,
                                  ss_row_scratch *scratch, ss_row_index_hit_fn on_hit, void *context,
                                  sstore_error *error)
{
    row_search self = {.index = index, .fingerprints = fingerprints, .on_hit = on_hit, .context = context};
    sstore_status status = SSTORE_OK;
    if (index->is_scanned)
        return scan(&self, count, error);
    for (; status == SSTORE_OK && self.word < index->words; self.word++)
        if (index->radii[self.word] != SS_NO_PROBE)
            status = search_word(&self, count, scratch, error);
    return status;
}
