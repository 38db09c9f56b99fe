/* feature_set.h - the different features of a text, by their hashes, and how often each occurs. */
#ifndef SS_FEATURE_SET_H
#define SS_FEATURE_SET_H

#include "base/common.h"
#include "sstore_text.h"

/* A hash table of places in a list. Begins zeroed, and ends with ss_feature_set_free(). */
typedef struct ss_feature_set {
    sstore_counted_feature *items; /* in the order in which they were met */
    size_t count, capacity;
    uint32_t *slots; /* 1 + the index of an item, or 0; twice as many as `capacity`, a power of two */
    uint64_t factor; /* odd; see feature_set.c */
    uint32_t shift;
} ss_feature_set;

/* Count features. MEMORY. */
sstore_status ss_feature_set_add(ss_feature_set *self, const uint64_t *hashes, size_t count, sstore_error *error);

/* The feature with this hash, in `items`; NULL if there is none. */
const sstore_counted_feature *ss_feature_set_find(const ss_feature_set *self, uint64_t hash);

/* Forget all features, and keep the memory. */
void ss_feature_set_clear(ss_feature_set *self);

void ss_feature_set_free(ss_feature_set *self);

#endif
