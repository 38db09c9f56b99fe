/* similar_texts.c - the part of shim.h by which the features of texts confirm which records of a keeper are near. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "documents/feature_file.h"
#include "shim.h"

_Static_assert(SSPY_SIMILARITY_PARTS == FEATURE_SIMILARITY_PARTS, "parts of a similarity");

struct sspy_features {
    feature_file file;
    double least;
    uint64_t *sets; /* by the number of the record */
    size_t count, capacity;
};

static int fail_memory(sstore_error *error)
{
    *error = (sstore_error){.status = SSTORE_ERROR_MEMORY, .offset = SSTORE_NO_OFFSET, .message = "out of memory"};
    return SSTORE_ERROR_MEMORY;
}

/* ----- texts ----- */

/* Room for `words` more words; NULL: there is none. They count as written. */
static uint64_t *append_words(sspy_bytes *to, size_t words)
{
    const size_t size = words * sizeof(uint64_t);
    if (to->capacity - to->size < size) {
        const size_t capacity = to->capacity + to->capacity / 2 + size;
        char *data = realloc(to->data, capacity);
        if (data == NULL)
            return NULL;
        to->data = data;
        to->capacity = capacity;
    }
    to->size += size;
    return (uint64_t *)(void *)(to->data + to->size - size);
}

static int take_features(const sstore_counted_feature *features, size_t count, const sstore_text_options *options,
                         uint64_t *fingerprint, sspy_bytes *sets, sstore_error *error)
{
    const bool is_multiset = options->weighting == SSTORE_WEIGHTING_FREQUENCY;
    uint64_t *set = append_words(sets, feature_set_words(features, count, is_multiset));
    if (set == NULL)
        return fail_memory(error);
    feature_set_make(features, count, is_multiset, set);
    return (int)feature_set_minhash(features, count, is_multiset, options->fingerprint_bits, fingerprint, error);
}

int sspy_fingerprint_sets(const char *data, const int64_t *begins, const int64_t *ends, size_t begin, size_t end,
                          const sstore_text_options *options, uint64_t *fingerprints, bool *has_features,
                          sspy_bytes *sets, sstore_error *error)
{
    sstore_fingerprinter *fingerprinter;
    const size_t words = options->fingerprint_bits / 64;
    int status = (int)sstore_fingerprinter_create(options, &fingerprinter, error);
    for (size_t i = begin; i < end && status == SSTORE_OK; i++) {
        const sstore_counted_feature *features;
        size_t count;
        const size_t size = ends[i] > begins[i] ? (size_t)(ends[i] - begins[i]) : 0;
        status = (int)sstore_fingerprinter_features(fingerprinter, data + begins[i], size, &features, &count, error);
        if (status == SSTORE_OK)
            status = take_features(features, count, options, fingerprints + words * i, sets, error);
        has_features[i] = status == SSTORE_OK && count > 0;
    }
    sstore_fingerprinter_free(fingerprinter);
    return status;
}

/* ----- sets ----- */

static FILE *open_copy(int descriptor)
{
    const int copy = dup(descriptor);
    FILE *file = copy >= 0 ? fdopen(copy, "w+") : NULL;
    if (file == NULL && copy >= 0)
        (void)close(copy);
    return file;
}

int sspy_features_create(int sets, int places, double least, sspy_features **features_out, sstore_error *error)
{
    sspy_features *self = calloc(1, sizeof *self);
    if (self == NULL)
        return fail_memory(error);
    feature_file_open(&self->file, open_copy(sets), open_copy(places));
    self->least = least;
    if (self->file.sets != NULL && self->file.places != NULL) {
        *features_out = self;
        return SSTORE_OK;
    }
    *error = (sstore_error){.status = SSTORE_ERROR_IO, .system_errno = errno, .offset = SSTORE_NO_OFFSET};
    strcpy(error->message, "cannot open a temporary file");
    sspy_features_free(self);
    return SSTORE_ERROR_IO;
}

void sspy_features_free(sspy_features *features)
{
    if (features == NULL)
        return;
    feature_file_close(&features->file);
    free(features->sets);
    free(features);
}

int sspy_features_add(sspy_features *features, const sspy_bytes *bytes, sstore_error *error)
{
    const uint64_t *set = (const uint64_t *)(const void *)bytes->data;
    const uint64_t *const end = set + bytes->size / sizeof *set;
    sstore_status status = SSTORE_OK;
    for (; status == SSTORE_OK && set < end; set += FEATURE_HEAD_WORDS + set[0])
        status = feature_file_add(&features->file, features->file.next_number, set, error);
    return (int)status;
}

int sspy_features_assign(sspy_features *features, const int64_t *sets, size_t count, sstore_error *error)
{
    if (features->capacity - features->count < count) {
        const size_t capacity = features->capacity + features->capacity / 2 + count;
        uint64_t *more = realloc(features->sets, capacity * sizeof *more);
        if (more == NULL)
            return fail_memory(error);
        features->sets = more;
        features->capacity = capacity;
    }
    memcpy(features->sets + features->count, sets, count * sizeof *sets);
    features->count += count;
    return SSTORE_OK;
}

bool sspy_features_confirm(void *context, uint64_t number, uint64_t other_number, uint32_t *distance_out)
{
    sspy_features *self = context;
    return feature_file_confirm(&self->file, self->sets[number], self->sets[other_number], self->least, distance_out);
}

void sspy_features_digest(void *context, uint64_t number, uint64_t digest_out[2])
{
    sspy_features *self = context;
    feature_file_digest(&self->file, self->sets[number], digest_out);
}

int sspy_features_check(const sspy_features *features, sstore_error *error)
{
    if (features->file.error.status != SSTORE_OK)
        *error = features->file.error;
    return (int)features->file.error.status;
}
