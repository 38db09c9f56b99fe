#include "support/data.h"

#include <string.h>

#include "support/testing.h"

static uint32_t words_of(const data_set *set)
{
    return set->words == 0 ? 1 : set->words;
}

static uint64_t *fingerprint_at(const data_set *set, size_t index)
{
    return set->fingerprints + index * words_of(set);
}

const char *data_ids_name(data_ids kind)
{
    static const char *const names[DATA_IDS_COUNT] = {"ids", "assigned ids", "no ids"};
    return names[kind];
}

static uint64_t make_id(rng *random)
{
    switch (rng_below(random, 8)) {
    case 0: return 0;
    case 1: return UINT64_MAX;
    case 2: return rng_below(random, 4);
    case 3: return rng_next(random);
    default: return rng_below(random, 1000000);
    }
}

void data_make_form(rng *random, const fingerprint_form *form, data_ids ids, size_t count, bool repeats,
                    data_set *set_out)
{
    data_set made = {.id_kind = ids, .words = form->words, .count = count};
    const size_t size = form->words * sizeof *made.fingerprints;
    made.fingerprints = test_calloc(count + 1, size);
    made.ids = ids == DATA_IDS ? test_calloc(count + 1, sizeof *made.ids) : NULL;
    for (size_t i = 0; i < count; i++) {
        const bool repeat = repeats && i > 0 && rng_one_in(random, 8);
        const size_t index = repeat ? rng_below(random, i) : 0;
        if (repeat)
            memcpy(fingerprint_at(&made, i), fingerprint_at(&made, index), size);
        else
            fingerprint_make(random, form, made.fingerprints, i, fingerprint_at(&made, i));
        if (made.ids != NULL)
            made.ids[i] = repeat && rng_one_in(random, 2) ? made.ids[index] : make_id(random);
    }
    *set_out = made;
}

void data_make(rng *random, data_kind kind, data_ids ids, size_t count, bool repeats, data_set *set_out)
{
    fingerprint_form form = form_of(random, kind, 1, 0);
    form.apart = true;
    data_make_form(random, &form, ids, count, repeats, set_out);
}

void data_free(data_set *set)
{
    test_free(set->fingerprints);
    if (set->ids != NULL)
        test_free(set->ids);
    set->fingerprints = set->ids = NULL;
}

data_set data_part(const data_set *set, size_t begin, size_t end)
{
    data_set part = *set;
    part.count = end - begin;
    part.fingerprints = fingerprint_at(set, begin);
    part.ids = set->ids == NULL ? NULL : set->ids + begin;
    return part;
}

static void swap(uint64_t *values, size_t i, size_t j, size_t words)
{
    for (size_t at = 0; at < words; at++) {
        const uint64_t kept = values[i * words + at];
        values[i * words + at] = values[j * words + at];
        values[j * words + at] = kept;
    }
}

void data_shuffle(rng *random, data_set *set)
{
    for (size_t i = set->count; i > 1; i--) {
        const size_t j = rng_below(random, i);
        swap(set->fingerprints, i - 1, j, words_of(set));
        if (set->ids != NULL)
            swap(set->ids, i - 1, j, 1);
    }
}

void data_query_words(rng *random, const data_set *set, uint32_t distance, uint64_t *query_out)
{
    const uint32_t words = words_of(set);
    const uint64_t which = rng_below(random, 8);
    if (which == 0) {
        fingerprint_make_extreme(random, words, query_out);
    } else if (which == 1 || set->count == 0) {
        const fingerprint_form uniform = {.words = words};
        fingerprint_make(random, &uniform, NULL, 0, query_out);
    } else {
        memcpy(query_out, fingerprint_at(set, rng_below(random, set->count)), words * sizeof *query_out);
        fingerprint_flip(random, words, query_out, (uint64_t)distance + 1); /* one too many now and then */
    }
}

uint64_t data_query(rng *random, const data_set *set, uint32_t distance)
{
    uint64_t query;
    data_query_words(random, set, distance, &query);
    return query;
}

int compare_numbers(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}
