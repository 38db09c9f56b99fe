/*
 * test_golden.c - the stores of format-spec/vectors/, of every version of the format: all their records, and the
 * answers of queries in every way of reading. The same after their directories were lost and rebuilt from the block
 * files.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/scratch.h"
#include "support/use_store.h"

#define VECTORS SSTORE_SOURCE_DIR "/format-spec/vectors/"
#define STORE_SUFFIX ".store"

/* A query, and its matches in the order of an answer file. */
typedef struct question {
    uint64_t fingerprint;
    uint32_t distance;
    matches answer;
} question;

/* A store that is kept. */
typedef struct golden {
    char stem[256]; /* its path without the suffix */
    oracle truth;
    question *questions;
    size_t question_count;
} golden;

/* ----- what is written beside the stores ----- */

static FILE *open_beside(const golden *kept, const char *suffix)
{
    char path[300];
    snprintf(path, sizeof path, "%s%s", kept->stem, suffix);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail_msg("%s is not there", path);
    return file;
}

/* A number, or 0 for "-". */
static uint64_t number_of(const char *word, int base)
{
    char *end;
    const uint64_t number = strtoull(word, &end, base);
    assert_true(strcmp(word, "-") == 0 || (end > word && *end == '\0'));
    return number;
}

static void load_records(golden *kept)
{
    FILE *file = open_beside(kept, ".records");
    char fingerprint[32], id[32];
    size_t capacity = 0;
    while (fscanf(file, "%31s %31s", fingerprint, id) == 2) {
        if (kept->truth.count == capacity) {
            capacity = 2 * capacity + 64;
            kept->truth.records = realloc(kept->truth.records, capacity * sizeof *kept->truth.records);
        }
        kept->truth.records[kept->truth.count++] = (sstore_record){.fingerprint = number_of(fingerprint, 16),
                                                                   .id = number_of(id, 10)};
    }
    assert_true(feof(file));
    fclose(file);
}

static void load_questions(golden *kept)
{
    FILE *file = open_beside(kept, ".answers");
    uint32_t distance;
    char query[32], match_distance[32], fingerprint[32], id[32];
    while (fscanf(file, "%" SCNu32 " %31s %31s %31s %31s", &distance, query, match_distance, fingerprint, id) == 5) {
        const uint64_t asked = number_of(query, 16);
        question *last = kept->question_count > 0 ? &kept->questions[kept->question_count - 1] : NULL;
        if (last == NULL || last->fingerprint != asked || last->distance != distance) {
            kept->questions = realloc(kept->questions, (kept->question_count + 1) * sizeof *kept->questions);
            last = &kept->questions[kept->question_count++];
            *last = (question){.fingerprint = asked, .distance = distance};
        }
        if (strcmp(fingerprint, "-") != 0)
            matches_add(&last->answer, &(sstore_match){.fingerprint = number_of(fingerprint, 16),
                                                       .id = number_of(id, 10),
                                                       .distance = (uint32_t)number_of(match_distance, 10)});
    }
    assert_true(feof(file));
    assert_true(kept->question_count > 0);
    fclose(file);
}

static void golden_free(golden *kept)
{
    for (size_t i = 0; i < kept->question_count; i++)
        matches_free(&kept->questions[i].answer);
    free(kept->questions);
    free(kept->truth.records);
}

/* ----- the tests ----- */

static void check_queries(const golden *kept, sstore_cursor *cursor)
{
    for (size_t i = 0; i < kept->question_count; i += testing_sanitized() && !testing_long() ? 3 : 1) {
        const question *asked = &kept->questions[i];
        matches got = {.count = 0};
        sstore_error error;
        assert_ok(store_query_sorted(cursor, asked->fingerprint, asked->distance, &got, &error), &error);
        assert_true(matches_equal(&got, &asked->answer));
        matches_free(&got);
    }
}

static void check_store(const golden *kept, const char *path)
{
    static const sstore_strategy strategies[] = {SSTORE_STRATEGY_AUTO, SSTORE_STRATEGY_PROBE,
                                                 SSTORE_STRATEGY_FULL_SCAN};
    sstore_error error;
    bool right;
    size_t count;
    for (int io = SSTORE_IO_PREAD; io <= SSTORE_IO_MEMORY; io++) {
        for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++) {
            if (testing_sanitized() && !testing_long() && (size_t)io != i) /* three ways of nine, each way of reading */
                continue;
            testing_doing("%s, way of reading %d, strategy %zu", path, io, i);
            sstore *store = store_must_open(path, (sstore_io)io, strategies[i]);
            sstore_cursor *cursor = store_must_cursor(store);
            assert_ok(store_compare_records(store, &kept->truth, &right, &count, &error), &error);
            assert_true(right);
            assert_int_equal(count, kept->truth.count);
            check_queries(kept, cursor);
            sstore_cursor_free(cursor);
            sstore_close(store);
        }
    }
    assert_ok(sstore_verify(path, NULL, NULL, NULL, &error), &error);
}

static bool host_can_use_directories(const char *path)
{
    sstore *store;
    sstore_error error;
    const sstore_status status = sstore_open(path, NULL, &store, &error);
    if (status == SSTORE_ERROR_UNSUPPORTED && strstr(error.message, "LMDB") != NULL)
        return false;
    assert_ok(status, &error);
    sstore_close(store);
    return true;
}

/* A copy without directories, but for those that are of no use here. */
static void check_without_directories(const golden *kept, const char *path, bool usable)
{
    sstore_error error;
    uint32_t made;
    const char *copy = scratch_path("copy.store");
    folder_copy(path, copy);
    file_list directories = file_list_make(copy, ".mdb");
    for (size_t i = 0; usable && i < directories.count; i++)
        scratch_remove(scratch_path("copy.store/%s", directories.names[i]));
    assert_ok(sstore_reindex(copy, NULL, &made, &error), &error);
    assert_int_equal(made, directories.count);
    file_list_free(&directories);
    check_store(kept, copy);
    scratch_remove(copy);
}

static uint64_t check_kept(const char *version, const char *name)
{
    golden kept = {.question_count = 0};
    snprintf(kept.stem, sizeof kept.stem, VECTORS "%s/%.*s", version, (int)(strlen(name) - strlen(STORE_SUFFIX)), name);
    load_records(&kept);
    load_questions(&kept);
    char path[300];
    snprintf(path, sizeof path, "%s" STORE_SUFFIX, kept.stem);
    const bool usable = host_can_use_directories(path);
    if (usable)
        check_store(&kept, path);
    check_without_directories(&kept, path, usable);
    const uint64_t questions = kept.question_count;
    golden_free(&kept);
    return questions;
}

static bool is_store(const char *name)
{
    const size_t length = strlen(name), suffix = strlen(STORE_SUFFIX);
    return length > suffix && strcmp(name + length - suffix, STORE_SUFFIX) == 0;
}

static void test_stores_of_version_2(void **state)
{
    uint64_t stores = 0, questions = 0;
    DIR *folder = opendir(VECTORS "v2");
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (!is_store(entry->d_name))
            continue;
        questions += check_kept("v2", entry->d_name);
        stores++;
    }
    closedir(folder);
    testing_done();
    testing_figure("kept stores: %" PRIu64 " of version 2, %" PRIu64 " queries in %d ways, twice", stores, questions,
                   testing_sanitized() && !testing_long() ? 3 : 9);
    assert_true(stores >= 22);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_stores_of_version_2, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
