#include "commands/exclude_option.h"

#include <inttypes.h>
#include <stdlib.h>

const command_option exclusion_options[] = {
    {"exclude", 0, "FILE", "leave out records with the fingerprints in FILE, an input as of 'sstore build'",
     OPTION_TEXT, OPTION_FIELD(exclusion, path)},
    {"exclude-distance", 0, "D", "also leave out records within D bits of one of these (default 0)", OPTION_NUMBER,
     OPTION_FIELD(exclusion, distance), .max = MAX_BUILD_DISTANCE, .given = offsetof(exclusion, needs)},
    {0},
};

void check_exclusion_options(void *part)
{
    const exclusion *self = part;
    if (self->needs != NULL && self->path == NULL)
        message_usage_error("%s needs --exclude", self->needs);
}

int exclusion_read(exclusion *self, uint32_t words)
{
    const input_options how = INPUT_OPTIONS_INIT;
    input_shape shape = {.words = words};
    if (self->path == NULL || self->words == words)
        return EXIT_DONE;
    self->words = words;
    if (self->distance > SSTORE_MAX_BUILD_DISTANCE * words) {
        message_print("--exclude-distance: expected at most %" PRIu32 " for fingerprints of %" PRIu32
                      " bits, found %" PRIu32,
                      SSTORE_MAX_BUILD_DISTANCE * words, 64 * words, self->distance);
        return EXIT_USAGE;
    }
    return input_read_all(self->path, &how, &shape, &self->fingerprints, &self->count);
}

void exclusion_free(exclusion *self)
{
    free(self->fingerprints);
    self->fingerprints = NULL;
}

bool exclusion_has(const exclusion *self, const uint64_t *fingerprint)
{
    for (size_t i = 0; i < self->count; i++)
        if (sstore_hamming_distance(self->fingerprints + i * self->words, fingerprint, 64 * self->words) <=
            self->distance)
            return true;
    return false;
}
