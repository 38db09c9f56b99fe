/*
 * fragments.h - a table of up to 255 frequent strings of 1 to 8 bytes, and names as codes for them: a byte for each
 * fragment, or an escape and the byte itself. A name is coded with a newline behind it, which no name contains: so
 * fragments may include a name's end, and no code tells its length. Source: Boncz, Neumann and Leis, "FSST: Fast Random
 * Access String Compression" (VLDB 2020). Layout: format-spec/sstore-format.md, "Names".
 */
#ifndef SS_FRAGMENTS_H
#define SS_FRAGMENTS_H

#include "base/bytes.h"
#include "base/common.h"

#define SS_MAX_FRAGMENTS 255u
#define SS_FRAGMENT_BYTES 8u /* of the longest */
#define SS_ESCAPE_CODE 255u
#define SS_NAME_END '\n'

/* What a code means. */
typedef enum ss_code_kind { SS_CODE_MALFORMED, SS_CODE_ESCAPE, SS_CODE_GOES_ON, SS_CODE_ENDS } ss_code_kind;

/* They ascend by their first byte, then descend by length, then ascend by their bytes. */
typedef struct ss_fragments {
    uint32_t count;
    uint16_t begins[257]; /* fragments begins[b] .. begins[b + 1] - 1 begin with byte b */
    uint8_t lengths[256]; /* of the fragment of each code, as the next two */
    uint8_t kinds[256];   /* ss_code_kind */
    uint64_t bytes[256];  /* as a little-endian number; the bytes behind it are 0 */
} ss_fragments;

/* As they are stored: their number, 255 lengths, and 8 bytes for each. */
#define SS_FRAGMENTS_STORED_BYTES (1u + SS_MAX_FRAGMENTS + SS_MAX_FRAGMENTS * SS_FRAGMENT_BYTES)

/* False if a fragment is malformed or out of order. */
bool ss_fragments_load(ss_fragments *fragments, const uint8_t bytes[SS_FRAGMENTS_STORED_BYTES], const char **reason);
void ss_fragments_store(const ss_fragments *fragments, uint8_t bytes[SS_FRAGMENTS_STORED_BYTES]);

/* The codes of a text of `size` bytes: the longest fragment at each place, or an escape. There are at most 2 * size of
 * them; returns their number. 8 bytes beyond the text must be readable. */
size_t ss_fragments_encode(const ss_fragments *fragments, const uint8_t *text, size_t size, uint8_t *codes_out);

/* ----- choosing fragments ----- */

#define SS_SAMPLE_TEXTS 16384u
#define SS_SAMPLE_TEXT_BYTES 64u /* of a text, more are cut off */

/* Texts, each with its end, that fragments are chosen from. */
typedef struct ss_fragment_sample {
    size_t count, bytes;
    uint8_t lengths[SS_SAMPLE_TEXTS];
    uint8_t text[SS_SAMPLE_TEXTS * SS_SAMPLE_TEXT_BYTES + SS_FRAGMENT_BYTES];
} ss_fragment_sample;

/* Add a text with its end, unless the sample is full. */
void ss_fragment_sample_add(ss_fragment_sample *sample, const uint8_t *text, size_t size);

typedef struct ss_fragment_choice ss_fragment_choice;

/* The bytes of the memory that a choice works in. */
size_t ss_fragment_choice_bytes(void);

/* Choose the fragments that shorten the sample most, by integer numbers only. `choice` is any memory of that size,
 * aligned for numbers. */
void ss_fragments_choose(ss_fragments *fragments_out, const ss_fragment_sample *sample, ss_fragment_choice *choice);

#endif
