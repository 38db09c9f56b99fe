/*
 * test_golden.c - the stores of format-spec/vectors/, as its expand.py unpacked them, of every version of the format:
 * all their records, and the answers of queries in every way of reading. They are checked again after their directories
 * were lost and rebuilt from the block files.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/scratch.h"
#include "support/use_store.h"

#define STORE_SUFFIX ".store"

/* A query, and its matches in the order of an answer file. */
typedef struct question {
    uint64_t words[SSTORE_MAX_WORDS];
    uint32_t distance;
    matches answer;
} question;

/* A store that is kept. */
typedef struct golden {
    char stem[256]; /* its path without the suffix */
    record_set records;
    question *questions;
    size_t question_count;
} golden;

/* ----- what is written beside the stores ----- */

#define DIGITS_OF_WORD 16
#define FINGERPRINT_SIZE 257 /* the digits of the widest one, and the end; as in the formats of fscanf() */

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

/* Returns how many words there are. */
static uint32_t words_of(const char *digits, uint64_t *words)
{
    const size_t count = strlen(digits) / DIGITS_OF_WORD;
    assert_int_equal(strlen(digits) % DIGITS_OF_WORD, 0);
    assert_in_range(count, 1, SSTORE_MAX_WORDS);
    for (size_t i = 0; i < count; i++) {
        char word[DIGITS_OF_WORD + 1] = "";
        memcpy(word, digits + DIGITS_OF_WORD * i, DIGITS_OF_WORD);
        words[i] = number_of(word, 16);
    }
    return (uint32_t)count;
}

static void load_records(golden *kept)
{
    FILE *file = open_beside(kept, ".records");
    char fingerprint[FINGERPRINT_SIZE], id[32];
    uint64_t words[SSTORE_MAX_WORDS];
    while (fscanf(file, "%256s %31s", fingerprint, id) == 2) {
        kept->records.words = words_of(fingerprint, words);
        record_set_put(&kept->records, words, number_of(id, 10));
    }
    assert_true(feof(file));
    fclose(file);
}

static void load_questions(golden *kept)
{
    FILE *file = open_beside(kept, ".answers");
    uint32_t distance;
    char query[FINGERPRINT_SIZE], match_distance[32], fingerprint[FINGERPRINT_SIZE], id[32];
    while (fscanf(file, "%" SCNu32 " %256s %31s %256s %31s", &distance, query, match_distance, fingerprint, id) == 5) {
        question asked = {.distance = distance}, *last = NULL;
        uint64_t words[SSTORE_MAX_WORDS];
        asked.answer.words = words_of(query, asked.words);
        if (kept->question_count > 0)
            last = &kept->questions[kept->question_count - 1];
        if (last == NULL || last->distance != distance || memcmp(last->words, asked.words, sizeof asked.words) != 0) {
            kept->questions = realloc(kept->questions, (kept->question_count + 1) * sizeof *kept->questions);
            assert_non_null(kept->questions);
            last = &kept->questions[kept->question_count++];
            *last = asked;
        }
        if (strcmp(fingerprint, "-") != 0) {
            assert_int_equal(words_of(fingerprint, words), last->answer.words);
            matches_put(&last->answer, (uint64_t[]){0}, (uint32_t)number_of(match_distance, 10), words,
                        number_of(id, 10));
        }
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
    record_set_free(&kept->records);
}

/* ----- the tests ----- */

static void check_queries(const golden *kept, sstore_cursor *cursor)
{
    for (size_t i = 0; i < kept->question_count; i += testing_sanitized() && !testing_long() ? 3 : 1) {
        const question *asked = &kept->questions[i];
        matches got = {.words = asked->answer.words};
        sstore_error error;
        assert_ok(sstore_query(cursor, asked->words, asked->distance, store_collect, &got, &error), &error);
        matches_sort(&got);
        matches_assert_equal(&got, &asked->answer, "a query");
        matches_free(&got);
    }
}

static void check_records(const golden *kept, const sstore *store)
{
    record_set got = store_must_read(store);
    assert_int_equal(got.words, kept->questions[0].answer.words);
    record_set_assert_equal(&got, &kept->records);
    record_set_free(&got);
}

static void check_store(const golden *kept, const char *path)
{
    static const sstore_strategy strategies[] = {SSTORE_STRATEGY_AUTO, SSTORE_STRATEGY_PROBE,
                                                 SSTORE_STRATEGY_FULL_SCAN};
    sstore_error error;
    for (int io = SSTORE_IO_PREAD; io <= SSTORE_IO_MEMORY; io++) {
        for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++) {
            if (testing_sanitized() && !testing_long() && (size_t)io != i) /* three ways of nine, each way of reading */
                continue;
            testing_doing("%s, way of reading %d, strategy %zu", path, io, i);
            sstore *store = store_must_open(path, (sstore_io)io, strategies[i]);
            sstore_cursor *cursor = store_must_cursor(store);
            check_records(kept, store);
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
    char copy[300]; /* a path of scratch_path() lasts until a few more are made */
    snprintf(copy, sizeof copy, "%s", scratch_path("copy.store"));
    folder_copy(path, copy);
    file_list directories = file_list_make(copy, ".mdb");
    uint32_t segments = 0;
    for (size_t i = 0; i < directories.count; i++) {
        const char *name = directories.names[i];
        segments += strchr(name, '/') == strrchr(name, '/'); /* not those of word indexes */
        if (usable)
            scratch_remove(scratch_path("copy.store/%s", name));
    }
    assert_ok(sstore_reindex(copy, NULL, &made, &error), &error);
    assert_int_equal(made, segments);
    file_list_free(&directories);
    check_store(kept, copy);
    scratch_remove(copy);
}

static uint64_t check_kept(const char *version, const char *name)
{
    golden kept = {.question_count = 0};
    snprintf(kept.stem, sizeof kept.stem, SSTORE_VECTORS "/%s/%.*s", version,
             (int)(strlen(name) - strlen(STORE_SUFFIX)), name);
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
    DIR *folder = opendir(SSTORE_VECTORS "/v2");
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
    assert_true(stores >= 29);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_stores_of_version_2, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
