#include "commands/similarity_option.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_RECALL 0.99

const command_option similarity_options[] = {
    {"similarity", 0, "J", "instead of -k, for MinHashes: near means a Jaccard similarity of at least J, such as 0.8",
     OPTION_TEXT, OPTION_FIELD(similarity, text)},
    {"recall", 0, "R", "with --similarity: the share of pairs of similarity J to be found (default 0.99)", OPTION_TEXT,
     OPTION_FIELD(similarity, recall_text)},
    {0},
};

static double read_fraction(const char *option, const char *text, bool may_be_one)
{
    char *end;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value > 0 && (value < 1 || (may_be_one && value == 1))))
        message_usage_error("%s: expected a number above 0 and %s 1, such as 0.8, found '%s'", option,
                            may_be_one ? "up to" : "below", text);
    return value;
}

void check_similarity_options(void *part)
{
    similarity *self = part;
    if (self->text != NULL && self->distance_given != NULL)
        message_usage_error("--similarity cannot be combined with %s", self->distance_given);
    if (self->recall_text != NULL && self->text == NULL)
        message_usage_error("--recall needs --similarity");
    self->least = self->text != NULL ? read_fraction("--similarity", self->text, true) : 0;
    self->recall = self->recall_text != NULL ? read_fraction("--recall", self->recall_text, false) : DEFAULT_RECALL;
}

int similarity_to_distance(const similarity *self, uint32_t bits, uint32_t *distance)
{
    const uint32_t max = SSTORE_MAX_BUILD_DISTANCE * bits / 64;
    if (self->text == NULL)
        return EXIT_DONE;
    *distance = sstore_minhash_distance(bits, self->least, self->recall);
    if (*distance <= max)
        return EXIT_DONE;
    message_print("--similarity: %s means a distance of %" PRIu32 " bits, and a store of %" PRIu32
                  " bits can have one of at most %" PRIu32 "; of more bits, the distance is a smaller part",
                  self->text, *distance, bits, max);
    return EXIT_USAGE;
}

int similarity_of_recipe(const similarity *self, const char *path, const char *recipe, uint32_t bits,
                         uint32_t *distance)
{
    if (self->text != NULL && recipe[0] == '\0')
        return message_print("%s: --similarity needs MinHashes, but no recipe says how the fingerprints were made",
                             path);
    if (self->text != NULL && strstr(recipe, " hash=minhash-") == NULL)
        return message_print("%s: --similarity needs MinHashes, as 'sstore fingerprint --hash minhash' makes them; the "
                             "recipe here is '%s'",
                             path, recipe);
    return similarity_to_distance(self, bits, distance);
}
