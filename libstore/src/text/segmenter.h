/*
 * segmenter.h - cuts text that is written without spaces into words, by the dictionaries of ICU. Only this module uses
 * ICU. ICU is large (36 MiB), and few texts need it: it is not linked, but loaded when the first segmenter is opened.
 */
#ifndef SS_SEGMENTER_H
#define SS_SEGMENTER_H

#include "base/common.h"

#define SS_SEGMENTER_VERSION_BYTES 24u
#define SS_SEGMENTER_MAX_POINTS 65536u /* of one text: what ICU needs grows with it */

/* Begins zeroed, and ends with ss_segmenter_close(). For one thread, as ICU's iterators are. */
typedef struct ss_segmenter {
    struct ss_icu *icu;
    uint16_t *units; /* the text, in UTF-16 */
    size_t unit_count, point_count, capacity;
    size_t position; /* where the next word begins */
} ss_segmenter;

/* Write ICU's version, such as "72.1". UNSUPPORTED if there is no ICU here, or the library was built without it. */
sstore_status ss_segmenter_version(char version[SS_SEGMENTER_VERSION_BYTES], sstore_error *error);

/* UNSUPPORTED (as above), MEMORY. */
sstore_status ss_segmenter_open(ss_segmenter *self, sstore_error *error);
void ss_segmenter_close(ss_segmenter *self);

/* Append a code point; there must be fewer than SS_SEGMENTER_MAX_POINTS. MEMORY. */
sstore_status ss_segmenter_add(ss_segmenter *self, uint32_t point, sstore_error *error);

/* Begin to cut what was added. MEMORY. */
sstore_status ss_segmenter_begin(ss_segmenter *self, sstore_error *error);

/* The next word, in UTF-16; its length, or 0 at the end, after which other text can be added. */
size_t ss_segmenter_next(ss_segmenter *self, const uint16_t **word_out);

#endif
