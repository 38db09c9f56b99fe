/* exclusion.h - fingerprints that a join leaves out: those within a distance of given ones. */
#ifndef SS_EXCLUSION_H
#define SS_EXCLUSION_H

#include "base/common.h"

/* A zeroed one leaves nothing out. */
typedef struct ss_exclusion {
    uint32_t words, distance;
    size_t count;
    uint64_t *rows; /* ascending if the distance is 0 */
} ss_exclusion;

/* Copy `count` fingerprints. ARGUMENT (a distance out of range, no fingerprints), MEMORY. Close it in any case. */
sstore_status ss_exclusion_open(ss_exclusion *self, uint32_t words, const uint64_t *fingerprints, size_t count,
                                uint32_t distance, sstore_error *error);
void ss_exclusion_close(ss_exclusion *self);

/* Whether the fingerprint is left out. */
bool ss_exclusion_has(const ss_exclusion *self, const uint64_t *fingerprint);

#endif
