/* exclude_option.h - --exclude: fingerprints that a command leaves out, such as those of blank pictures. */
#ifndef EXCLUDE_OPTION_H
#define EXCLUDE_OPTION_H

#include "commands/cmd.h"

typedef struct exclusion {
    const char *path;  /* option: lines of fingerprints, or any other input; NULL: nothing is left out */
    uint32_t distance; /* option: what is near one of them is also left out */
    const char *needs; /* an option that needs --exclude, if one is given */
    uint32_t words;    /* of a fingerprint */
    uint64_t *fingerprints;
    size_t count;
} exclusion;

/* The options, for the exclusion at an offset in the arguments. */
extern const command_option exclusion_options[];
void check_exclusion_options(void *part);
#define EXCLUSION_OPTION_GROUP(offset)                                                                                 \
    {                                                                                                                  \
        exclusion_options, offset, NULL, check_exclusion_options                                                       \
    }

/* Read the file, unless that was done, for fingerprints of so many words. Returns an exit code. */
int exclusion_read(exclusion *self, uint32_t words);
void exclusion_free(exclusion *self);

/* Is a fingerprint left out? Several threads may ask. */
bool exclusion_has(const exclusion *self, const uint64_t *fingerprint);

#endif
