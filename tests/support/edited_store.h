/*
 * edited_store.h - small stores in memory, any part of which can be changed. edited_set_checksums() then updates all
 * checksums, so that readers reach the changed parts. A fuzzer gives a list of changes as bytes; a test may make
 * changes one by one. The indexes of a segment count as segments after it, as their entries in the manifest do.
 */
#ifndef SUPPORT_EDITED_STORE_H
#define SUPPORT_EDITED_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/fuzzing.h"

#define EDITED_SHAPES 12u
#define EDITED_MAX_WORDS 3u
#define EDITED_MAX_SEGMENTS 40u
#define EDITED_MAX_FILES 65u               /* block files of a segment */
#define EDITED_IDS (EDITED_MAX_FILES - 1u) /* that of the ids, or of the names, among them */

/* An array of the directory. */
typedef struct edited_array {
    uint64_t *values;
    size_t count;
} edited_array;

/* A segment in memory. */
typedef struct edited_segment {
    char folder[32];
    struct {
        uint8_t *bytes; /* NULL: there is no such file */
        size_t size;
    } files[EDITED_MAX_FILES];
    edited_array keys[EDITED_MAX_FILES], ranks; /* what the directory has */
    edited_array numbers;                       /* of names: of the first one of each block */
    uint8_t *directory;
    size_t directory_bytes;
    bool new_directory; /* the arrays must be rewritten */
    uint32_t words;     /* of its fingerprints; 1 of an index */
    bool is_index, is_names;
} edited_segment;

/* A store in memory. */
typedef struct edited_store {
    uint8_t *manifest;
    size_t manifest_bytes;
    uint32_t segment_count;
    bool has_ids, has_names;
    edited_segment segments[EDITED_MAX_SEGMENTS];
    uint32_t words;
    uint64_t queries[16 * EDITED_MAX_WORDS]; /* fingerprints of it, at first */
} edited_store;

/* A copy of one of the shapes, unchanged: of one segment with ids, without, with repeated fingerprints, dense, none,
 * and of three segments, of which one removes; of three words without ids, and of two in three segments; with an id
 * index that is packed, and of two words with another one; and two with names, of one word and of two. Freed with
 * edited_free(). */
edited_store edited_make(uint32_t shape);
/* One that is at `path`. */
edited_store edited_load(const char *path);
void edited_free(edited_store *store);

/* Fields of the manifest that headers of block files repeat; they are set in all of them. */
typedef enum edited_field {
    EDITED_RECORD_COUNT,
    EDITED_DISTINCT_COUNT,
    EDITED_BLOCK_BYTES, /* blocks are divided again */
    EDITED_COLUMN_BITS, /* of the tables */
    EDITED_DISTANCE,
    EDITED_KIND,
    EDITED_RADIUS,   /* of table `of` */
    EDITED_KEY_MASK, /* of table `of`; its prefix bits follow */
    EDITED_FIELDS
} edited_field;

void edited_set(edited_store *store, uint32_t segment, edited_field field, uint32_t index, uint64_t value);
/* The words of fingerprints that the manifest has now. */
uint32_t edited_word_count(const edited_store *store);
/* Whether a segment adds records. */
bool edited_adds(const edited_store *store, uint32_t segment);
/* Give a table a code in which only `symbol` has a code, of one bit. */
void edited_set_code(edited_store *store, uint32_t segment, uint32_t file, uint32_t symbol);
/* A block of a file; NULL if there is none. */
uint8_t *edited_block(edited_store *store, uint32_t segment, uint32_t file, size_t block);
/* Set the number of blocks of a file: the first ones, or all of them repeated. */
void edited_resize(edited_store *store, uint32_t segment, uint32_t file, size_t block_count);
/* Make the changes that the input describes, until its end. */
void edited_change(edited_store *store, fuzz_input *input);

/* Set segment ids and all checksums so that they fit the contents. */
void edited_set_checksums(edited_store *store);
/* Write it to a folder, replacing one that was written there before. */
void edited_write(const edited_store *store, const char *path);
/* The size of all its files in bytes. */
uint64_t edited_bytes(const edited_store *store);

#endif
