/*
 * widened.h - lets tests of stores of 64-bit fingerprints run on stores of several words. A fingerprint's upper half
 * becomes the upper half of one word, its lower half that of the next one; a third word before them is constant. So
 * order and distances stay, and what is known about the 64-bit fingerprints holds for the wide ones. The calls of
 * support/use_store.h do this.
 */
#ifndef SUPPORT_WIDENED_H
#define SUPPORT_WIDENED_H

#include <stddef.h>
#include <stdint.h>

#define WIDENED_MAX_WORDS 3u
#define WIDENED_ROOM ((size_t)16384) /* fingerprints that are widened at once */

/* The words of the fingerprints in stores: 1, 2 or 3. 1 unless a test sets it. */
extern uint32_t widened_words;

/* Widen up to WIDENED_ROOM fingerprints, into static memory that the next call uses again. Those of one word are
 * returned as they are. */
const uint64_t *widened(const uint64_t *fingerprints, size_t count);
uint64_t narrowed(const uint64_t *words);

#endif
