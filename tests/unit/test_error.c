/* Errors: text is made safe for a line of a terminal, messages are cut, and calls that succeed leave the error
 * alone. */
#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/utf8.h"
#include "output/walk.h"
#include "support/data.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

static void check(const char *text, const char *wanted)
{
    char shown[256];
    ss_printable(text, shown, sizeof shown);
    assert_string_equal(shown, wanted);
}

static void test_escaping_of_characters(void **state)
{
    static const char foreign[] = "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82 \xef\xbf\xbd";
    check("", "");
    check("words 3, 'a\\b' \"c\" ~", "words 3, 'a\\b' \"c\" ~");
    check(foreign, foreign);
    check("a\x1b[31mb\n\r\t\x7f\x01", "a\\x1b[31mb\\x0a\\x0d\\x09\\x7f\\x01");
    check("a\xc2\x9b"
          "31m \xc2\xa0|\xc2\x80",
          "a\\xc2\\x9b31m \xc2\xa0|\\xc2\\x80");
    check("\xff \xc3 \xe2\x82 \xed\xa0\x80 \xc0\x80 \x9b", "\\xff \\xc3 \\xe2\\x82 \\xed\\xa0\\x80 \\xc0\\x80 \\x9b");
    check("\xef\xbf", "\\xef\\xbf");
}

/* Every character, or some of those beyond the first 12,288, most of which are alike. */
static void test_every_character(void **state)
{
    rng random = rng_seeded(run_seed);
    for (uint32_t point = 1; point < 0x110000;
         point += testing_slow() && point > 0x2fff ? 1 + (uint32_t)rng_below(&random, 30) : 1) {
        char text[SS_UTF8_MAX_BYTES + 1] = {0}, wanted[4 * SS_UTF8_MAX_BYTES + 1] = {0}, shown[sizeof wanted];
        if (point >= 0xd800 && point <= 0xdfff)
            continue;
        const size_t length = ss_utf8_encode(point, (uint8_t *)text);
        const bool escaped = point < 0x20 || (point >= 0x7f && point <= 0x9f) || point == 0x61c || point == 0x200e ||
                             point == 0x200f || (point >= 0x2028 && point <= 0x202e) ||
                             (point >= 0x2066 && point <= 0x2069) || point == 0x200b || point == 0x2060 ||
                             point == 0xfeff;
        for (size_t i = 0; i < length; i++)
            sprintf(wanted + strlen(wanted), escaped ? "\\x%02x" : "%c", (uint8_t)text[i]);
        assert_int_equal(sstore_escape(text, length, 0, shown, sizeof shown), strlen(wanted));
        assert_string_equal(shown, wanted);
    }
}

/* A complete text: its length, zeros in it, backslashes, and an empty buffer. */
static void test_escaping_of_whole_texts(void **state)
{
    /* NOLINTNEXTLINE(misc-misleading-bidirectional): which has to be escaped */
    static const char text[] = "a\\\0\xe2\x80\xae\\x41", wanted[] = "a\\\\\\x00\\xe2\\x80\\xae\\\\x41";
    char shown[64];
    assert_int_equal(sstore_escape(text, sizeof text - 1, 1, shown, sizeof shown), sizeof wanted - 1);
    assert_string_equal(shown, wanted);
    assert_int_equal(sstore_escape(text, sizeof text - 1, 1, NULL, 0), sizeof wanted - 1);
    assert_int_equal(sstore_escape(text, sizeof text - 1, 1, shown, 1), sizeof wanted - 1);
    assert_string_equal(shown, "");
    assert_int_equal(sstore_escape(text, sizeof text - 1, 1, shown, 3), sizeof wanted - 1);
    assert_string_equal(shown, "a"); /* and not half a backslash, nor what is behind it */
    assert_int_equal(sstore_escape(NULL, 0, 1, shown, sizeof shown), 0);
    assert_string_equal(shown, "");
}

/* For any bytes and any buffer: the buffer is not exceeded, and the result is UTF-8 without control characters, and the
 * beginning of the complete result. */
static void test_cut_anywhere(void **state)
{
    rng random = rng_seeded(run_seed);
    for (uint32_t i = 0; i < 20000; i++) {
        char text[24], whole[4 * sizeof text];
        const size_t length = rng_between(&random, 0, sizeof text - 1), size = rng_between(&random, 1, sizeof whole);
        static const uint8_t often[] = {0xc2, 0x9b, 0xe2, 0x82, 0xac, 0xef, 0xbf, 0xbd, 0x1b, 'x', 0xf0, 0x90};
        for (size_t at = 0; at < length; at++)
            text[at] = (char)(rng_next(&random) % 3 != 0 ? often[rng_next(&random) % sizeof often]
                                                         : rng_between(&random, 1, 255));
        text[length] = '\0';
        testing_doing("text %u, seed %llu", i, (unsigned long long)run_seed);
        char *shown = malloc(size); /* a sanitizer detects writes beyond it */
        assert_non_null(shown);
        ss_printable(text, whole, sizeof whole);
        ss_printable(text, shown, size);
        assert_true(strlen(shown) < size);
        assert_int_equal(strncmp(shown, whole, strlen(shown)), 0);
        for (size_t at = 0, left = strlen(shown); left > 0;) {
            uint32_t point;
            const size_t taken = ss_utf8_decode((const uint8_t *)shown + at, left, &point);
            assert_true(point >= ' ' && (point < 0x7f || point > 0x9f));
            assert_true(point != SS_REPLACEMENT_CHARACTER || memcmp(shown + at, "\xef\xbf\xbd", 3) == 0);
            at += taken;
            left -= taken;
        }
        free(shown);
    }
    testing_done();
}

static void test_messages(void **state)
{
    sstore_error error;
    (void)ss_fail(&error, SSTORE_ERROR_RECIPE, 0, "caf\xc3\xa9\n", SSTORE_NO_OFFSET, "made by '%s'", "\x1b]0;x\a");
    assert_string_equal(error.message, "caf\xc3\xa9\\x0a: made by '\\x1b]0;x\\x07'");
    assert_string_equal(error.file, "caf\xc3\xa9\n"); /* for programs */
    (void)ss_fail(&error, SSTORE_ERROR_IO, ENOENT, NULL, SSTORE_NO_OFFSET, "opening '%s' failed", "\x9b");
    assert_string_equal(error.message, "opening '\\x9b' failed: No such file or directory");
    char name[400], shown[16];
    memset(name, 0x9b, sizeof name - 1);
    strcpy(name + sizeof name - 2, "e");
    (void)ss_fail(&error, SSTORE_ERROR_IO, ENOENT, name, SSTORE_NO_OFFSET, "cannot open it");
    assert_non_null(strstr(error.message, "\\x9be: cannot open it: No such file or directory")); /* has room */
    memcpy(shown, error.message, 7);
    shown[7] = '\0';
    assert_string_equal(shown, "...\\x9b");
    assert_string_equal(error.file, name);
    char many[2 * sizeof error.message];
    memset(many, 0x1b, sizeof many - 1);
    many[sizeof many - 1] = '\0';
    (void)ss_fail_argument(&error, "%s", many);
    assert_int_equal(strlen(error.message), (sizeof error.message - 1) / 4 * 4);
}

/* ----- calls that do not fail ----- */

static sstore_error untouched;

/* A call that returns `wanted`, and does not touch the error. */
#define LEAVES(wanted, call)                                                                                           \
    do {                                                                                                               \
        sstore_error error_before, *const error = &error_before;                                                       \
        memcpy(error, &untouched, sizeof untouched);                                                                   \
        assert_int_equal(call, wanted);                                                                                \
        assert_memory_equal(error, &untouched, sizeof untouched);                                                      \
    } while (0)

static int stop_match(void *context, const sstore_match *match)
{
    return context != NULL || match != NULL;
}

static int go_on_match(void *context, const sstore_match *match)
{
    ++*(uint64_t *)context;
    return match == NULL;
}

static int stop_pair(void *context, const sstore_pair *pair)
{
    return context != NULL || pair != NULL;
}

static int stop_clustered(void *context, const cluster_record *record)
{
    return context != NULL || record != NULL;
}

static int stop_record(void *context, const uint64_t *fingerprint, uint64_t id)
{
    return context != NULL || fingerprint != NULL;
}

static int stop_progress(void *context, const sstore_progress *progress)
{
    return context != NULL || progress != NULL;
}

static void write_stores(const char *first, const char *second, const data_set *data)
{
    const char *merged = scratch_path("merged"), *shard = scratch_path("shard"), *empty = scratch_path("empty");
    const char *inputs[] = {first, second};
    sstore_write_options build = SSTORE_WRITE_OPTIONS_INIT;
    sstore_write_options merge = SSTORE_WRITE_OPTIONS_INIT;
    sstore_reindex_options reindex = SSTORE_REINDEX_OPTIONS_INIT;
    sstore_dedup *dedup;
    LEAVES(SSTORE_OK, store_build(first, &build, data, 0, error));
    LEAVES(SSTORE_OK, store_build(second, &build, data, 0, error));
    assert_int_equal(mkdir(empty, 0777), 0);
    LEAVES(SSTORE_OK, store_build(empty, &build, data, 0, error));
    build.force = merge.force = reindex.all = true;
    LEAVES(SSTORE_OK, store_build(second, &build, data, 0, error));
    for (int again = 0; again < 2; again++) {
        LEAVES(SSTORE_OK, sstore_merge(merged, inputs, 2, &merge, NULL, error));
        LEAVES(SSTORE_OK, store_shard(shard, first, 1, 2, &merge, NULL, error));
    }
    LEAVES(SSTORE_OK, store_remove(second, NULL, data->fingerprints, data->ids, data->count / 2, NULL, error));
    LEAVES(SSTORE_OK, store_add(second, NULL, data->fingerprints, data->ids, data->count / 4, NULL, error));
    LEAVES(SSTORE_OK, sstore_compact(second, SSTORE_COMPACTION_ALL, NULL, NULL, error));
    LEAVES(SSTORE_OK, sstore_reindex(second, &reindex, NULL, error));
    LEAVES(SSTORE_OK, sstore_verify(second, NULL, NULL, NULL, error));
    LEAVES(SSTORE_OK, sstore_dedup_open(second, NULL, &dedup, error));
    LEAVES(SSTORE_OK, sstore_dedup_insert(dedup, data->fingerprints, data->ids, data->count, NULL, NULL, NULL, error));
    LEAVES(SSTORE_OK, sstore_dedup_publish(dedup, NULL, error));
    sstore_dedup_close(dedup);
}

static void read_stores(const char *first, const char *second, const data_set *data)
{
    const size_t many = 600; /* with more matches than a batch holds at once */
    sstore_join_options join = SSTORE_JOIN_OPTIONS_INIT, stopping = SSTORE_JOIN_OPTIONS_INIT;
    sstore_verify_options verify = SSTORE_VERIFY_OPTIONS_INIT;
    sstore *left, *right;
    sstore_cursor *cursor;
    sstore_iterator *pairs;
    uint64_t count = 0;
    join.tmp_dir = stopping.tmp_dir = scratch_folder();
    stopping.on_progress = verify.on_progress = stop_progress;
    const sstore_cluster_options clusters = options_to_cluster(&join, true);
    LEAVES(SSTORE_OK, sstore_open(first, NULL, &left, error));
    LEAVES(SSTORE_OK, sstore_open(second, NULL, &right, error));
    LEAVES(SSTORE_OK, sstore_cursor_create(left, &cursor, error));
    LEAVES(SSTORE_OK, sstore_query(cursor, &data->fingerprints[0], 3, go_on_match, &count, error));
    LEAVES(SSTORE_STOPPED, sstore_query(cursor, &data->fingerprints[0], 3, stop_match, NULL, error));
    LEAVES(SSTORE_STOPPED, store_nearest(cursor, &data->fingerprints[0], 3, stop_match, NULL, error));
    LEAVES(SSTORE_OK, walk_matches(left, data->fingerprints, many, 64, NULL, go_on_match, &count, error));
    assert_true(count > UINT64_C(1) << 21);
    LEAVES(SSTORE_STOPPED, walk_matches(left, data->fingerprints, many, 64, NULL, stop_match, NULL, error));
    LEAVES(SSTORE_STOPPED, walk_records(left, stop_record, NULL, error));
    LEAVES(SSTORE_STOPPED, walk_pairs(left, NULL, &join, stop_pair, NULL, error));
    LEAVES(SSTORE_STOPPED, walk_pairs(left, right, &join, stop_pair, NULL, error));
    LEAVES(SSTORE_STOPPED, walk_clusters(left, &clusters, stop_clustered, NULL, error));
    LEAVES(SSTORE_STOPPED, walk_pairs(left, NULL, &stopping, stop_pair, NULL, error));
    LEAVES(SSTORE_STOPPED, sstore_iterate_pairs(left, right, &stopping, &pairs, error));
    LEAVES(SSTORE_STOPPED, sstore_verify(first, &verify, NULL, NULL, error));
    sstore_cursor_free(cursor);
    sstore_close(left);
    sstore_close(right);
}

static void test_success_leaves_the_error(void **state)
{
    rng random = rng_seeded(run_seed);
    data_set data;
    char first[256], second[256];
    memset(&untouched, 0x5a, sizeof untouched);
    data_make(&random, DATA_CLUSTERED, DATA_IDS, 4000, false, &data);
    snprintf(first, sizeof first, "%s", scratch_path("first"));
    snprintf(second, sizeof second, "%s", scratch_path("second"));
    write_stores(first, second, &data);
    read_stores(first, second, &data);
    data_free(&data);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_escaping_of_characters),
        cmocka_unit_test(test_every_character),
        cmocka_unit_test(test_escaping_of_whole_texts),
        cmocka_unit_test_teardown(test_cut_anywhere, testing_teardown),
        cmocka_unit_test(test_messages),
        cmocka_unit_test_teardown(test_success_leaves_the_error, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
