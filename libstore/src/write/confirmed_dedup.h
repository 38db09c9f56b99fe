/* confirmed_dedup.h - a deduplication whose matches are confirmed by the keeper's caller. */
#ifndef SS_CONFIRMED_DEDUP_H
#define SS_CONFIRMED_DEDUP_H

#include "sstore_join.h"

/* From now on, only confirmed matches count, at the distance that confirm() sets. The numbers are ids. */
void ss_dedup_confirm(sstore_dedup *dedup, sstore_confirm_fn confirm, void *context);

#endif
