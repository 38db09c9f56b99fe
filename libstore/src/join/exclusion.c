#include "join/exclusion.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"

static int compare_rows(const void *left, const void *right, void *words)
{
    return ss_words_compare(left, right, *(const uint32_t *)words);
}

sstore_status ss_exclusion_open(ss_exclusion *self, uint32_t words, const uint64_t *fingerprints, size_t count,
                                uint32_t distance, sstore_error *error)
{
    const size_t row_bytes = words * sizeof *fingerprints;
    *self = (ss_exclusion){.words = words, .distance = distance};
    if (count == 0)
        return SSTORE_OK;
    if (fingerprints == NULL)
        return ss_fail_argument(error, "`excluded` must not be NULL if there are excluded fingerprints");
    const sstore_status status = ss_check_distance(words, distance, error);
    if (status != SSTORE_OK)
        return status;
    self->rows = count <= SIZE_MAX / row_bytes ? ss_realloc(NULL, count, row_bytes) : NULL;
    if (self->rows == NULL)
        return ss_fail_memory(error, count * row_bytes);
    memcpy(self->rows, fingerprints, count * row_bytes);
    self->count = count;
    if (distance == 0)
        qsort_r(self->rows, count, row_bytes, compare_rows, &self->words);
    return SSTORE_OK;
}

void ss_exclusion_close(ss_exclusion *self)
{
    ss_free(self->rows);
    *self = (ss_exclusion){.count = 0};
}

static bool has_equal(const ss_exclusion *self, const uint64_t *fingerprint)
{
    size_t low = 0, high = self->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = ss_words_compare(self->rows + middle * self->words, fingerprint, self->words);
        if (order == 0)
            return true;
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return false;
}

bool ss_exclusion_has(const ss_exclusion *self, const uint64_t *fingerprint)
{
    if (self->distance == 0)
        return has_equal(self, fingerprint);
    for (size_t i = 0; i < self->count; i++)
        if (ss_words_distance(self->rows + i * self->words, fingerprint, self->words) <= self->distance)
            return true;
    return false;
}
