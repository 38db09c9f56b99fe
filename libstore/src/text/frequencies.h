/*
 * frequencies.h - the table that tells in how many documents a feature occurs (format-spec/fingerprint.md, "Document
 * frequencies"). Its bytes are used in place.
 */
#ifndef SS_FREQUENCIES_H
#define SS_FREQUENCIES_H

#include "base/common.h"

#define SS_FREQUENCIES_HEAD 48u  /* bytes before the recipe */
#define SS_FREQUENCIES_ENTRY 12u /* bytes: a hash, then a count */
#define SS_FREQUENCIES_TAIL 8u   /* the checksum */

/* What a table begins with. */
typedef struct ss_frequencies_head {
    uint32_t recipe_size;
    uint64_t document_count, feature_count, error_bound;
} ss_frequencies_head;

/* The bytes before the entries. */
size_t ss_frequencies_head_bytes(uint32_t recipe_size);

/* Write what comes before the entries to `to`. */
void ss_frequencies_write_head(const ss_frequencies_head *head, const char *recipe, uint8_t *to);

/* A table that was read. */
typedef struct ss_frequencies {
    ss_frequencies_head head;
    const char *recipe; /* of recipe_size bytes */
    const uint8_t *entries;
    uint64_t checksum;
    uint32_t index_bits; /* 1 or more */
    uint32_t *starts;    /* of the entries whose hashes begin with these bits, and one more: the end */
} ss_frequencies;

/* Check a table of `size` bytes, which must stay valid, and index it. Nothing is to be freed after a failure. DAMAGED,
 * MEMORY, UNSUPPORTED. */
sstore_status ss_frequencies_open(ss_frequencies *self, const uint8_t *table, size_t size, sstore_error *error);

/* The number of documents that have a feature; 0 if the table does not list it. */
uint32_t ss_frequencies_find(const ss_frequencies *self, uint64_t hash);

/* Load what a later ss_frequencies_find() needs into the processor's cache: first the index and, when that is there,
 * the entry. */
void ss_frequencies_prefetch_index(const ss_frequencies *self, uint64_t hash);
void ss_frequencies_prefetch_entry(const ss_frequencies *self, uint64_t hash);

void ss_frequencies_close(ss_frequencies *self);

#endif
