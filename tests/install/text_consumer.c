/*
 * text_consumer.c - a user's program in C that makes fingerprints of text with the installed library.
 *   text_consumer VERSION
 */
#include <inttypes.h>
#include <sstore_text.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    static const char text[] = "the quick brown fox jumps over the lazy dog";
    sstore_text_options options = SSTORE_TEXT_OPTIONS_INIT;
    sstore_error error;
    uint64_t fingerprint;
    char recipe[256];
    if (argc != 2 || strcmp(argv[1], SSTORE_VERSION_STRING) != 0)
        return 2;
    options.kind = SSTORE_FEATURE_KIND_CHARS;
    const sstore_status status = sstore_fingerprint_text(text, strlen(text), &options, &fingerprint, &error);
    if (sstore_text_recipe(&options, recipe, sizeof recipe) == 0) /* built without utf8proc */
        return status == SSTORE_ERROR_UNSUPPORTED ? 0 : 1;
    if (status != SSTORE_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    printf("%016" PRIx64 " %s\n", fingerprint, recipe);
    return strstr(recipe, "features=chars") != NULL ? 0 : 1;
}
