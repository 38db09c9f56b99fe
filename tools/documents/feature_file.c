#include "documents/feature_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A bijection of words that mixes all their bits (Steele et al., "Fast Splittable Pseudorandom Number Generators"). */
static uint64_t mix(uint64_t word)
{
    word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
    return word ^ word >> 31;
}

static sstore_status fail_memory(sstore_error *error)
{
    *error = (sstore_error){.status = SSTORE_ERROR_MEMORY, .offset = SSTORE_NO_OFFSET, .message = "out of memory"};
    return SSTORE_ERROR_MEMORY;
}

/* `what`: read or write. */
static sstore_status fail_file(sstore_error *error, const char *what)
{
    *error = (sstore_error){.status = SSTORE_ERROR_IO, .system_errno = errno, .offset = SSTORE_NO_OFFSET};
    snprintf(error->message, sizeof error->message, "cannot %s a temporary file: %s; set tmp_dir to another folder",
             what, strerror(error->system_errno));
    return SSTORE_ERROR_IO;
}

/* ----- sets ----- */

size_t feature_set_words(const sstore_counted_feature *features, size_t count, bool is_multiset)
{
    size_t words = FEATURE_HEAD_WORDS;
    for (size_t i = 0; i < count; i++)
        words += is_multiset ? features[i].count : 1;
    return words;
}

/* Somebody who knows how elements are mixed can choose some whose sums agree. So there is a seed: the addresses of
 * functions are random, and equal in all threads. */
static uint64_t seed_of(uint64_t lane)
{
    return mix((uintptr_t)&feature_set_make + lane) ^ mix((uintptr_t)&malloc - lane);
}

void feature_set_make(const sstore_counted_feature *features, size_t count, bool is_multiset, uint64_t *words_out)
{
    const uint64_t seeds[2] = {seed_of(0), seed_of(1)};
    uint64_t *elements = words_out + FEATURE_HEAD_WORDS, digest[2] = {0, 0};
    size_t element_count = 0;
    for (size_t i = 0; i < count; i++)
        for (uint64_t n = 0; n < (is_multiset ? features[i].count : 1); n++) {
            const uint64_t element = n == 0 ? features[i].hash : mix(features[i].hash + mix(n));
            elements[element_count++] = element;
            digest[0] += mix(mix(element ^ seeds[0]) + seeds[1]);
            digest[1] += mix(mix(element + seeds[1]) ^ seeds[0]);
        }
    words_out[0] = element_count;
    memcpy(words_out + 1, digest, sizeof digest);
}

sstore_status feature_set_minhash(const sstore_counted_feature *features, size_t count, bool is_multiset, uint32_t bits,
                                  uint64_t *words_out, sstore_error *error)
{
    uint64_t *hashes = malloc((count + 1) * sizeof *hashes);
    double *weights = malloc((count + 1) * sizeof *weights);
    sstore_status status = SSTORE_ERROR_MEMORY;
    if (hashes != NULL && weights != NULL) {
        for (size_t i = 0; i < count; i++) {
            hashes[i] = features[i].hash;
            weights[i] = (double)features[i].count;
        }
        status = sstore_minhash_hashes(hashes, is_multiset ? weights : NULL, count, bits, words_out, error);
    } else {
        (void)fail_memory(error);
    }
    free(hashes);
    free(weights);
    return status;
}

/* ----- writing ----- */

void feature_file_open(feature_file *self, FILE *sets, FILE *places)
{
    *self = (feature_file){.sets = sets, .places = places, .error = {.status = SSTORE_OK}};
}

void feature_file_close(feature_file *self)
{
    if (self->sets != NULL)
        fclose(self->sets);
    if (self->places != NULL)
        fclose(self->places);
    free(self->slots[0].words);
    free(self->slots[1].words);
    free(self->table);
    *self = (feature_file){.sets = NULL};
}

sstore_status feature_file_add(feature_file *self, uint64_t number, const uint64_t *words, sstore_error *error)
{
    const size_t count = FEATURE_HEAD_WORDS + (size_t)words[0];
    for (; self->next_number <= number; self->next_number++) /* those without a set point to the next one */
        if (fwrite(&self->next_place, sizeof self->next_place, 1, self->places) != 1)
            return fail_file(error, "write");
    self->next_place += count;
    self->is_flushed = false;
    return fwrite(words, sizeof *words, count, self->sets) == count ? SSTORE_OK : fail_file(error, "write");
}

/* ----- reading ----- */

/* Keep the first failure. Returns false. */
static bool fail_reading(feature_file *self, const char *what)
{
    if (self->error.status == SSTORE_OK)
        (void)fail_file(&self->error, what);
    return false;
}

static bool flush(feature_file *self)
{
    self->is_flushed = self->is_flushed || (fflush(self->sets) == 0 && fflush(self->places) == 0);
    return self->is_flushed || fail_reading(self, "write");
}

static bool read_words(feature_file *self, FILE *file, uint64_t place, uint64_t *to, size_t count)
{
    char *bytes = (char *)to;
    const size_t wanted = count * sizeof *to;
    for (size_t done = 0; done < wanted;) {
        const ssize_t got = pread(fileno(file), bytes + done, wanted - done, (off_t)(place * sizeof *to + done));
        if (got > 0)
            done += (size_t)got;
        else if (got == 0 || errno != EINTR)
            return fail_reading(self, "read");
    }
    return true;
}

/* Make room for so many words. */
static bool reserve(feature_file *self, uint64_t **words, size_t *capacity, size_t needed)
{
    if (needed <= *capacity)
        return true;
    uint64_t *more = reallocarray(*words, needed, 2 * sizeof *more);
    if (more == NULL) {
        (void)fail_memory(&self->error);
        return false;
    }
    *words = more;
    *capacity = 2 * needed;
    return true;
}

/* Find where the set of a document begins, and how many words it has. */
static bool find_place(feature_file *self, uint64_t number, uint64_t *place_out, size_t *count_out)
{
    uint64_t places[2] = {0, self->next_place};
    const bool found = flush(self) &&
                       read_words(self, self->places, number, places, number + 1 < self->next_number ? 2 : 1);
    *place_out = places[0];
    *count_out = (size_t)(places[1] - places[0]);
    return found;
}

/* Read the set of a document into a slot. */
static bool read_set(feature_file *self, feature_set_slot *slot, uint64_t number)
{
    uint64_t place;
    size_t count;
    if (slot->is_read && slot->number == number)
        return true;
    slot->is_read = false;
    if (!find_place(self, number, &place, &count) || !reserve(self, &slot->words, &slot->capacity, count))
        return false;
    slot->number = number;
    slot->is_read = read_words(self, self->sets, place, slot->words, count);
    return slot->is_read;
}

static const uint64_t *elements_of(const feature_set_slot *slot)
{
    return slot->words + FEATURE_HEAD_WORDS;
}

void feature_file_digest(feature_file *self, uint64_t number, uint64_t digest_out[2])
{
    uint64_t head[FEATURE_HEAD_WORDS] = {0}, place;
    size_t count;
    if (find_place(self, number, &place, &count))
        (void)read_words(self, self->sets, place, head, FEATURE_HEAD_WORDS);
    memcpy(digest_out, head + 1, 2 * sizeof *head);
}

/* ----- comparing ----- */

/* The place of an element in the table, or the empty one where it belongs. Elements are not 0 here. */
static uint64_t *entry_of(const feature_file *self, uint64_t element)
{
    const size_t mask = ((size_t)1 << self->table_bits) - 1;
    size_t at = (size_t)(mix(element ^ (uintptr_t)self->table) >> (64 - self->table_bits));
    while (self->table[at] != 0 && self->table[at] != element)
        at = (at + 1) & mask;
    return &self->table[at];
}

/* 0 marks empty places, so it is taken for another element. */
static uint64_t in_table(uint64_t element)
{
    return element != 0 ? element : UINT64_MAX;
}

/* Enter the elements of slot 0. */
static bool fill_table(feature_file *self)
{
    const uint64_t *words = self->slots[0].words;
    for (self->table_bits = 4; (UINT64_C(1) << self->table_bits) < 2 * words[0];)
        self->table_bits++;
    const size_t size = (size_t)1 << self->table_bits;
    if (!reserve(self, &self->table, &self->table_capacity, size))
        return false;
    memset(self->table, 0, size * sizeof *self->table);
    const uint64_t *elements = elements_of(&self->slots[0]);
    for (uint64_t i = 0; i < words[0]; i++)
        *entry_of(self, in_table(elements[i])) = in_table(elements[i]);
    return true;
}

double feature_file_similarity(feature_file *self, uint64_t number, uint64_t other_number)
{
    const bool is_filled = self->slots[0].is_read && self->slots[0].number == number;
    if (!is_filled && (!read_set(self, &self->slots[0], number) || !fill_table(self))) {
        self->slots[0].is_read = false;
        return 0;
    }
    if (!read_set(self, &self->slots[1], other_number))
        return 0;
    const uint64_t count = self->slots[0].words[0], other_count = self->slots[1].words[0];
    const uint64_t *elements = elements_of(&self->slots[1]);
    uint64_t shared = 0;
    for (uint64_t i = 0; i < other_count; i++)
        shared += *entry_of(self, in_table(elements[i])) != 0;
    return shared > 0 ? (double)shared / (double)(count + other_count - shared) : 0;
}

bool feature_file_confirm(feature_file *self, uint64_t number, uint64_t other_number, double least,
                          uint32_t *distance_out)
{
    const double found = feature_file_similarity(self, number, other_number);
    *distance_out = (uint32_t)((1 - found) * FEATURE_SIMILARITY_PARTS + 0.5);
    return found >= least;
}
