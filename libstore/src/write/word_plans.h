/*
 * word_plans.h - chooses, for a segment of fingerprints of several words, the radius of each word, and the plan of the
 * index of that word.
 */
#ifndef SS_WORD_PLANS_H
#define SS_WORD_PLANS_H

#include "base/tasks.h"
#include "plan/cost.h"
#include "store/column_iterators.h"
#include "store/manifest.h"

typedef struct ss_word_plans {
    const char *name;        /* of each word's plan; NULL: chosen */
    uint32_t max_radius;     /* that the named plan is complete for */
    uint32_t distance;       /* of the store */
    ss_expected_store index; /* of a word */
    /* Set by ss_word_plans_init(): */
    int32_t radii[SSTORE_MAX_WORDS];
    ss_plan plan; /* the last one that was made; often that of the next word too */
} ss_word_plans;

/* Choose the radii from a sample of table 0, whose blocks these are. The fields above are set. IO, MEMORY, DAMAGED,
 * STOPPED. */
sstore_status ss_word_plans_init(ss_word_plans *plans, const ss_checked_blocks *blocks, ss_progress *progress,
                                 sstore_error *error);

/* Get the plan of a word's index for a distance: the named one; of few records, the same for all words of a radius;
 * otherwise NULL, so that it is chosen from the word. It is valid until the next call. ARGUMENT, MEMORY. */
sstore_status ss_word_plans_get(ss_word_plans *plans, uint32_t distance, const ss_plan **plan_out, sstore_error *error);

/* The name of the plan that was given for the words of a store, of which this is a segment. The manifest does not have
 * it: it is that of the indexes, without radii if these follow from it. */
void ss_word_plans_name(const ss_manifest_segment *segment, char name[SS_PLAN_TEXT_BYTES]);

#endif
