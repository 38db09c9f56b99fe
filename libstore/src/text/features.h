/* features.h - the features of a text: shingles of its words, or n-grams of its characters
 * (format-spec/fingerprint.md). */
#ifndef SS_FEATURES_H
#define SS_FEATURES_H

#include "sstore_text.h"
#include "text/feature_set.h"
#include "text/fold.h"
#include "text/segmenter.h"
#include "text/shingles.h"

/* In scripts without spaces, every two characters that follow each other are a feature. */
#define SS_CHARACTER_PAIR 2u

typedef struct ss_text_rules {
    sstore_feature_kind kind;
    uint32_t shingle;                 /* 1 to SS_MAX_SHINGLE */
    uint32_t spaceless_shingle;       /* of characters of scripts without spaces: SS_CHARACTER_PAIR, or 1 */
    sstore_segmentation segmentation; /* of kind words */
    const ss_feature_set *stop_words; /* of kind words: hashes of units that are left out; NULL: none */
    ss_feature_hash hash;             /* of features, if it is wide */
} ss_text_rules;

/* Units that belong together: words; the characters of scripts without spaces; or all characters, if features are made
 * of these. */
typedef enum ss_text_run { SS_RUN_NONE, SS_RUN_WORDS, SS_RUN_SPACELESS, SS_RUN_CHARS } ss_text_run;

/* Finds the features of one text after the other. */
typedef struct ss_features {
    ss_text_rules rules;
    const uint8_t *text;
    size_t size, position;
    ss_text_run run;
    bool open;               /* a word, or a character of a script without spaces, may go on */
    bool in_stretch;         /* of scripts without spaces: what is open is in the segmenter */
    bool space_due;          /* of characters: white space was read, and a space must come before the next character */
    uint64_t replaced_count; /* byte sequences of the text that are not UTF-8 */
    ss_fold fold;
    ss_segmenter segmenter; /* opened if words are cut by ICU */
    ss_shingles units;
} ss_features;

/* UNSUPPORTED (no ICU, though the rules need it), MEMORY; self needs no ss_features_free() then. */
sstore_status ss_features_init(ss_features *self, const ss_text_rules *rules, sstore_error *error);
void ss_features_free(ss_features *self);

/*
 * Find the features of a text, in order. Without `shortcuts` the text is folded as one piece, code point by code point.
 * This is slow and simple; tests compare the shortcuts with it. MEMORY, and the errors of the sink.
 */
sstore_status ss_features_find(ss_features *self, const uint8_t *text, size_t size, bool shortcuts,
                               ss_feature_sink sink, sstore_error *error);

/* For the sink, if the hash of the rules is wide: word `word` of this hash, for the same features as `hashes`. */
static inline const uint64_t *ss_features_words(const ss_features *self, uint32_t word)
{
    return self->units.wide_words + (size_t)SS_SHINGLES_HASHES * word;
}

#endif
