/* The first matches, of any that come in any order, for each choice of columns: like sorting them all. */
#include <stdlib.h>
#include <string.h>

#include "read/selection.h"
#include "support/random.h"
#include "support/testing.h"

#define MAX_MATCHES 200u
#define MAX_WORDS 2u

typedef struct sample {
    uint32_t words;
    size_t count;
    uint64_t fingerprints[MAX_MATCHES][MAX_WORDS];
    sstore_match matches[MAX_MATCHES]; /* what the columns do not show is 0 in them */
} sample;

/* Small ones, so that some are equal, and ones of all 64 bits. */
static uint64_t number_make(rng *random)
{
    return rng_one_in(random, 2) ? rng_below(random, 4) : rng_next(random);
}

static void sample_make(rng *random, bool with_fingerprints, bool has_ids, bool with_distances, sample *self)
{
    memset(self, 0, sizeof *self);
    self->words = 1 + (uint32_t)rng_below(random, MAX_WORDS);
    self->count = (size_t)rng_below(random, MAX_MATCHES + 1);
    for (size_t i = 0; i < self->count; i++) {
        for (uint32_t word = 0; with_fingerprints && word < self->words; word++)
            self->fingerprints[i][word] = number_make(random);
        self->matches[i] = (sstore_match){.fingerprint = self->fingerprints[i],
                                          .id = has_ids ? number_make(random) : 0,
                                          .distance = with_distances ? (uint32_t)rng_below(random, 3) : 0};
    }
}

static int compare_matches(const void *left, const void *right)
{
    const sstore_match *a = left, *b = right;
    const uint64_t of_a[] = {a->distance, a->fingerprint[0], a->fingerprint[1], a->id};
    const uint64_t of_b[] = {b->distance, b->fingerprint[0], b->fingerprint[1], b->id};
    for (size_t i = 0; i < sizeof of_a / sizeof *of_a; i++)
        if (of_a[i] != of_b[i])
            return of_a[i] < of_b[i] ? -1 : 1;
    return 0;
}

static void check(rng *random, unsigned columns)
{
    static sample self;
    uint64_t fingerprints[MAX_MATCHES * MAX_WORDS], ids[MAX_MATCHES];
    uint32_t distances[MAX_MATCHES];
    sample_make(random, columns & 1, columns & 2, columns & 4, &self);
    ss_selection selection = {.to = SSTORE_COLUMNS_INIT,
                              .words = self.words,
                              .capacity = (size_t)rng_below(random, MAX_MATCHES + 1)};
    selection.to.fingerprint = columns & 1 ? fingerprints : NULL;
    selection.to.id = columns & 2 ? ids : NULL;
    selection.to.distance = columns & 4 ? distances : NULL;
    for (size_t i = 0; i < self.count; i++)
        if (ss_selection_may_take(&selection, &self.matches[i]))
            ss_selection_add(&selection, &self.matches[i]);
    ss_selection_sort(&selection);
    qsort(self.matches, self.count, sizeof *self.matches, compare_matches);
    assert_int_equal(selection.count, self.count < selection.capacity ? self.count : selection.capacity);
    for (size_t i = 0; i < selection.count; i++) {
        const sstore_match *match = &self.matches[i];
        if (columns & 1)
            assert_memory_equal(fingerprints + i * self.words, match->fingerprint,
                                self.words * sizeof *match->fingerprint);
        assert_true(!(columns & 2) || ids[i] == match->id);
        assert_true(!(columns & 4) || distances[i] == match->distance);
    }
}

static void test_first_matches(void **state)
{
    rng random = rng_seeded(run_seed);
    for (unsigned round = 0; round < 500; round++)
        for (unsigned columns = 0; columns < 8; columns++) {
            testing_doing("round %u, columns %u", round, columns);
            check(&random, columns);
        }
    testing_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test_first_matches, testing_teardown)};
    rng_start_run();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
