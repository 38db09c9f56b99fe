/* similarity_option.h - --similarity: the distance, told as a Jaccard similarity of MinHashes. */
#ifndef SIMILARITY_OPTION_H
#define SIMILARITY_OPTION_H

#include "commands/cmd.h"

typedef struct similarity {
    const char *text, *recall_text; /* options; NULL: not given */
    const char *distance_given;     /* -k, if it is given; set by the command's own option */
    double least, recall;
} similarity;

/* The options, for the similarity at an offset in the arguments. */
extern const command_option similarity_options[];
void check_similarity_options(void *part);
#define SIMILARITY_OPTION_GROUP(offset)                                                                                \
    {                                                                                                                  \
        similarity_options, offset, NULL, check_similarity_options                                                     \
    }

/* Set *distance to that of the similarity, if one is given, for fingerprints of so many bits. A store must be buildable
 * for it. Returns an exit code. */
int similarity_to_distance(const similarity *self, uint32_t bits, uint32_t *distance);

/* The same, but fail unless the recipe of `path` says that its fingerprints are MinHashes. */
int similarity_of_recipe(const similarity *self, const char *path, const char *recipe, uint32_t bits,
                         uint32_t *distance);

#endif
