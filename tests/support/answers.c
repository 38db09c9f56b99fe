#include "support/answers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/testing.h"

#define MANY_MATCHES 5000u /* with so many, the answers to no further queries are made */

/* ----- a set of records and what is asked of it ----- */

void subject_make(subject *self, uint64_t seed, data_kind kind, data_ids ids, size_t count)
{
    *self = (subject){.data = {.count = 0}};
    self->random = rng_seeded(seed);
    data_make(&self->random, kind, ids, count, true, &self->data);
    snprintf(self->words, sizeof self->words, "seed %" PRIu64 ", %zu %s records, %s", seed, count, data_kind_name(kind),
             data_ids_name(ids));
}

void subject_begin(subject *self)
{
    self->truth = record_set_of_data(&self->data);
    for (size_t i = 0; i < SUBJECT_QUERIES; i++) {
        uint32_t distance = i < 4 ? 0 : (uint32_t)rng_below(&self->random, 7);
        self->queries[i] = data_query(&self->random, &self->data, distance);
    }
}

void subject_end(subject *self)
{
    for (uint32_t distance = 0; distance < SUBJECT_DISTANCES; distance++) {
        if (self->at[distance] != NULL)
            matches_free(&self->at[distance]->all);
        free(self->at[distance]);
    }
    record_set_free(&self->truth);
    data_free(&self->data);
}

const answers *subject_answers(subject *self, uint32_t distance)
{
    if (self->at[distance] != NULL)
        return self->at[distance];
    answers *made = calloc(1, sizeof *made);
    assert_non_null(made);
    while (made->count < SUBJECT_QUERIES && made->all.count < MANY_MATCHES) {
        record_set_query(&self->truth, &self->queries[made->count], distance, 0, &made->all);
        made->begins[++made->count] = made->all.count;
    }
    self->at[distance] = made;
    return made;
}

void answers_copy(const answers *from, size_t query, uint64_t as, matches *to)
{
    assert_true(query < from->count);
    const size_t before = to->count;
    const matches part = matches_part(&from->all, from->begins[query], from->begins[query + 1] - from->begins[query]);
    matches_append(to, &part);
    matches_set_query(to, before, as);
}

size_t answers_fingerprints(const answers *from, size_t query)
{
    size_t count = 0;
    uint64_t before = 0;
    for (size_t i = from->begins[query]; i < from->begins[query + 1]; i++) {
        const uint64_t fingerprint = *matches_get(&from->all, i).fingerprint;
        count += i == from->begins[query] || fingerprint != before;
        before = fingerprint;
    }
    return count;
}
