/*
 * consumer.c - a user's program in C: builds a tiny store with the installed library and queries it.
 *   consumer VERSION STORE
 */
#include <inttypes.h>
#include <sstore.h>
#include <stdio.h>
#include <string.h>

#include "initializers.h"

static int fail(const char *what, const sstore_error *error)
{
    fprintf(stderr, "%s: %s\n", what, error->message);
    return 1;
}

static int print(void *context, const sstore_match *match)
{
    ++*(unsigned *)context;
    printf("%016" PRIx64 " %" PRIu64 " at distance %" PRIu32 "\n", *match->fingerprint, match->id, match->distance);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: consumer VERSION STORE\n");
        return 2;
    }
    if (strcmp(argv[1], SSTORE_VERSION_STRING) != 0 || strcmp(argv[1], sstore_version()) != 0) {
        fprintf(stderr, "version %s: the header has %s, the library %s\n", argv[1], SSTORE_VERSION_STRING,
                sstore_version());
        return 1;
    }
    if (!initializers_are_right()) {
        fprintf(stderr, "an initializer sets another struct_size\n");
        return 1;
    }
    const uint64_t fingerprints[] = {UINT64_C(0x84adfe0ad13e12cb), UINT64_C(0x84ad7e0ad13e1a8b), 0, UINT64_MAX};
    const uint64_t ids[] = {7, 8, 0, UINT64_MAX};
    sstore_error error;
    sstore_builder *builder = NULL;
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.block_bytes = 1024;
    if (sstore_builder_create(argv[2], &options, &builder, &error) != SSTORE_OK)
        return fail("create", &error);
    if (sstore_builder_add(builder, fingerprints, ids, 4, &error) != SSTORE_OK) {
        sstore_builder_abort(builder);
        return fail("add", &error);
    }
    if (sstore_builder_finish(builder, NULL, &error) != SSTORE_OK)
        return fail("finish", &error);

    sstore *store = NULL;
    sstore_cursor *cursor = NULL;
    unsigned matches = 0;
    if (sstore_open(argv[2], NULL, &store, &error) != SSTORE_OK)
        return fail("open", &error);
    if (sstore_cursor_create(store, &cursor, &error) != SSTORE_OK ||
        sstore_query(cursor, &fingerprints[0], 3, print, &matches, &error) != SSTORE_OK) {
        sstore_cursor_free(cursor);
        sstore_close(store);
        return fail("query", &error);
    }
    sstore_cursor_free(cursor);
    sstore_close(store);
    return matches == 2 ? 0 : 1;
}
