/*
 * hostile.h - small stores in memory whose parts are changed in any way. Signing makes all checksums right again, so
 * that readers get to the changed parts. A fuzzer gives a list of changes as bytes; a test may make changes one by one.
 */
#ifndef SUPPORT_HOSTILE_H
#define SUPPORT_HOSTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/fuzzing.h"

#define HOSTILE_SHAPES 6u
#define HOSTILE_MOST_SEGMENTS 40u
#define HOSTILE_MOST_FILES 65u                /* block files of a segment */
#define HOSTILE_IDS (HOSTILE_MOST_FILES - 1u) /* that of the ids, among them */

/* Numbers, as they stand in the directory. */
typedef struct hostile_array {
    uint64_t *values;
    size_t count;
} hostile_array;

/* A segment in memory. */
typedef struct hostile_segment {
    char folder[32];
    struct {
        uint8_t *bytes; /* NULL: there is no such file */
        size_t size;
    } files[HOSTILE_MOST_FILES];
    hostile_array keys[HOSTILE_MOST_FILES], ranks; /* what the directory has */
    uint8_t *directory;
    size_t directory_bytes;
    bool new_directory; /* the arrays are to be written anew */
} hostile_segment;

/* A store in memory. */
typedef struct hostile_store {
    uint8_t *manifest;
    size_t manifest_bytes;
    uint32_t segment_count;
    bool has_ids;
    hostile_segment segments[HOSTILE_MOST_SEGMENTS];
    uint64_t queries[16]; /* fingerprints of it, at first */
} hostile_store;

/* A copy of one of the shapes, unchanged: of one segment with ids, without, with repeated fingerprints, dense, none,
 * and of three segments, of which one removes. Freed with hostile_free(). */
hostile_store hostile_make(uint32_t shape);
/* One that is at `path`. */
hostile_store hostile_load(const char *path);
void hostile_free(hostile_store *store);

/* What stands both in the manifest and in the headers of block files, and is set in all of them. */
typedef enum hostile_field {
    HOSTILE_RECORD_COUNT,
    HOSTILE_DISTINCT_COUNT,
    HOSTILE_BLOCK_BYTES, /* and blocks are cut anew */
    HOSTILE_COLUMN_BITS, /* of the tables */
    HOSTILE_DISTANCE,
    HOSTILE_KIND,
    HOSTILE_RADIUS,   /* of table `of` */
    HOSTILE_KEY_MASK, /* of table `of`; its prefix bits follow */
    HOSTILE_FIELDS
} hostile_field;

void hostile_set(hostile_store *store, uint32_t segment, hostile_field field, uint32_t of, uint64_t value);
/* Whether a segment adds records. */
bool hostile_adds(const hostile_store *store, uint32_t segment);
/* Give a table a code of one symbol, of one bit, for whatever its blocks are made to hold. */
void hostile_set_code(hostile_store *store, uint32_t segment, uint32_t file, uint32_t symbol);
/* A block of a file; NULL if there is none. */
uint8_t *hostile_block(hostile_store *store, uint32_t segment, uint32_t file, size_t block);
/* Make a block file have so many blocks: the first ones, or all again and again. */
void hostile_resize(hostile_store *store, uint32_t segment, uint32_t file, size_t block_count);
/* Do what the input says, to its end. */
void hostile_change(hostile_store *store, fuzz_input *input);

/* Make ids and checksums right. */
void hostile_sign(hostile_store *store);
/* Write it into a folder, in the place of one that was written there before. */
void hostile_write(const hostile_store *store, const char *path);
/* The bytes of all its files. */
uint64_t hostile_bytes(const hostile_store *store);

#endif
