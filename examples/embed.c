/*
 * embed.c - a small service that looks up fingerprints in a store, within a fixed memory.
 *
 *     cc embed.c $(pkg-config --cflags --libs sstore) -o embed
 *     ./embed STORE MIB
 *
 * Reads fingerprints from stdin, one per line in hexadecimal digits, and answers each at once: a line for every record
 * within the store's distance, then an empty line. MIB is the memory limit of the open store; if the store would take
 * more, the service does not start. At the end the service prints the memory of the process on stderr: its own pages
 * (RssAnon), pages of mapped files (RssFile: program and libraries), and the copy of the directory.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sstore.h>
#include <sstore_statistics.h>

static int fail(const sstore_error *error)
{
    fprintf(stderr, "embed: %s\n", error->message);
    return EXIT_FAILURE;
}

static int print_match(void *context, const sstore_match *match)
{
    const uint32_t words = *(const uint32_t *)context;
    for (uint32_t i = 0; i < words; i++)
        printf("%016" PRIx64, match->fingerprint[i]);
    printf(" %" PRIu64 " at distance %" PRIu32 "\n", match->id, match->distance);
    return 0; /* anything else would end the query */
}

/* Read a fingerprint of so many words from a line of its digits. Only one of 64 bits may lack leading zeros. */
static bool read_fingerprint(const char *line, uint32_t words, uint64_t *fingerprint_out)
{
    const size_t digits = strspn(line, "0123456789abcdefABCDEF"), all = (size_t)16 * words;
    if (digits == 0 || (words > 1 ? digits != all : digits > all) || (line[digits] != '\n' && line[digits] != '\0'))
        return false;
    for (uint32_t i = 0; i < words; i++) {
        char word[17] = "";
        memcpy(word, line + (size_t)16 * i, words > 1 ? 16 : digits);
        fingerprint_out[i] = strtoull(word, NULL, 16);
    }
    return true;
}

/* Answer all lines of stdin. A cursor serves one thread; a service with several threads needs one for each. */
static int serve(const sstore *store, uint32_t distance)
{
    uint32_t words = sstore_fingerprint_bits(store) / 64;
    uint64_t fingerprint[SSTORE_MAX_WORDS];
    sstore_error error;
    sstore_cursor *cursor;
    char line[16 * SSTORE_MAX_WORDS + 2];
    if (sstore_cursor_create(store, &cursor, &error) != SSTORE_OK)
        return fail(&error);
    int code = EXIT_SUCCESS;
    while (code == EXIT_SUCCESS && fgets(line, sizeof line, stdin) != NULL) {
        if (!read_fingerprint(line, words, fingerprint))
            printf("not a fingerprint of %" PRIu32 " bits\n", 64 * words);
        else if (sstore_query(cursor, fingerprint, distance, print_match, &words, &error) != SSTORE_OK)
            code = fail(&error); /* for example a damaged block; earlier answers are right */
        printf("\n");
        fflush(stdout);
    }
    sstore_cursor_free(cursor);
    return code;
}

/* Bytes, from a line such as "RssAnon:      1234 kB". */
static uint64_t status_value(const char *name)
{
    char line[256];
    uint64_t kilobytes = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            kilobytes = strtoull(line + strlen(name) + 1, NULL, 10);
    if (status != NULL)
        fclose(status);
    return kilobytes * 1024;
}

static void print_memory(const sstore_statistics *metadata)
{
    uint64_t anonymous = status_value("RssAnon"), files = status_value("RssFile"),
             directory = metadata->directory_bytes;
    fprintf(stderr, "embed: RssAnon %.1f + RssFile %.1f + directory %.1f = %.1f MiB; the store itself: %.1f MiB\n",
            (double)anonymous / 0x1p20, (double)files / 0x1p20, (double)directory / 0x1p20,
            (double)(anonymous + files + directory) / 0x1p20, (double)metadata->memory_bytes / 0x1p20);
}

int main(int argc, char **argv)
{
    sstore_open_options options = SSTORE_OPEN_OPTIONS_INIT;
    sstore_statistics metadata = SSTORE_STATISTICS_INIT;
    sstore_error error;
    sstore *store;
    if (argc != 3) {
        fprintf(stderr, "usage: %s STORE MIB\n", argv[0]);
        return 2;
    }
    char *end;
    uint64_t mib = strtoull(argv[2], &end, 10);
    if (mib == 0 || mib > UINT32_MAX || *end != '\0') {
        fprintf(stderr, "embed: expected a number of MiB, found '%s'\n", argv[2]);
        return 2;
    }
    options.io = SSTORE_IO_PREAD; /* least memory, and a failing disk gives an error instead of SIGBUS */
    options.max_memory_bytes = mib << 20;
    if (sstore_open(argv[1], &options, &store, &error) != SSTORE_OK)
        return fail(&error);
    int code = sstore_stat(store, &metadata, &error) == SSTORE_OK ? serve(store, metadata.distance) : fail(&error);
    print_memory(&metadata);
    sstore_close(store);
    return code;
}
