/*
 * row_runs.h - the words of fingerprints, sorted by the key of a part (plan/row_parts.h), so that words of one key form
 * a run. They are sorted within a fixed memory (sort/sorter.h), and then loaded into arrays: all of them, or, if memory
 * is short, as many consecutive ones as fit. Then the whole fingerprints are sorted and loaded with them, so that none
 * has to be read from a random place of a file.
 */
#ifndef SS_ROW_RUNS_H
#define SS_ROW_RUNS_H

#include "codec/kernels.h"
#include "join/row_array.h"
#include "plan/row_parts.h"

/* Fingerprints in memory, by their place: all those of an array, or those that were loaded with their words. */
typedef struct ss_placed_rows {
    uint32_t words;
    uint64_t *rows;
    uint64_t *numbers; /* NULL: the place of a fingerprint is its number (row_array.h) */
} ss_placed_rows;

static inline const uint64_t *ss_placed_row(const ss_placed_rows *placed, uint32_t place)
{
    return placed->rows + (size_t)place * placed->words;
}

static inline uint64_t ss_placed_number(const ss_placed_rows *placed, uint32_t place)
{
    return placed->numbers == NULL ? place : placed->numbers[place];
}

/* Loaded words, of consecutive keys. */
typedef struct ss_row_runs {
    size_t count, capacity;
    ss_folded words;      /* folded, with SS_PAIR_PADDING */
    uint32_t *places;     /* of their fingerprints */
    uint32_t first_place; /* of `capacity` ones, for fingerprints that are loaded with the words */
    uint64_t first_key, key_count;
    uint32_t *begins; /* of each key, and one more: its first word */
} ss_row_runs;

/* The bytes that words and keys take, without fingerprints. */
uint64_t ss_row_runs_bytes(uint64_t capacity, uint32_t max_bits);
/* Room for `capacity` words, and for keys of up to `max_bits` bits. Close it also after a failure; a zeroed one is
 * allowed. MEMORY. */
sstore_status ss_row_runs_open(ss_row_runs *runs, size_t capacity, uint32_t max_bits, sstore_error *error);
void ss_row_runs_close(ss_row_runs *runs);

/* The number of words of a key, from *begin_out on. */
static inline uint32_t ss_row_runs_find(const ss_row_runs *runs, uint64_t key, uint32_t *begin_out)
{
    const uint64_t index = key - runs->first_key;
    *begin_out = index < runs->key_count ? runs->begins[index] : 0;
    return index < runs->key_count ? runs->begins[index + 1] - *begin_out : 0;
}

/* Sorts the words of one part after the other. */
typedef struct ss_row_sorter {
    const ss_row_array *rows; /* borrowed, as the call */
    ss_join_call *call;
    ss_placed_rows *placed;  /* also borrowed */
    uint32_t item_words;     /* (word, number), or (word, number, fingerprint) */
    const ss_row_part *part; /* the current one */
    ss_chunk_pool pool;
    ss_sorter *sorter;
    size_t piece_capacity;
    ss_piece_room *rooms; /* one a thread */
    uint64_t **buffers;   /* of each thread, for rows of the file */
    size_t first_piece;
} ss_row_sorter;

/* Takes about `bytes`, for items that wait to be sorted and for threads. If the rows are in a file, they are sorted,
 * too, and loaded to the places of the runs. Close it also after a failure; a zeroed one is allowed. MEMORY. */
sstore_status ss_row_sorter_open(ss_row_sorter *sorter, const ss_row_array *rows, ss_placed_rows *placed,
                                 ss_join_call *call, uint64_t bytes, sstore_error *error);
void ss_row_sorter_close(ss_row_sorter *sorter);

/* Sort the words of a part. IO, MEMORY, STOPPED. */
sstore_status ss_row_sorter_sort(ss_row_sorter *sorter, const ss_row_part *part, sstore_error *error);

/* Load the words of the pieces from *piece on, as many as fit, at least one. *piece becomes the next one. The end is
 * ss_sorter_piece_count(sorter->sorter). IO. */
sstore_status ss_row_sorter_load(ss_row_sorter *sorter, size_t *piece, ss_row_runs *runs, sstore_error *error);

#endif
