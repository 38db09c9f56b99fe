/* Rebuilding directories in cases that damaged files cannot show: another LMDB's format, wrong arrays, blocks with
 * correct checksums that do not follow each other, and file systems without hard links. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "codec/block.h"
#include "store/block_file.h"
#include "store/directory.h"
#include "store/manifest.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/use_store.h"

#define BLOCK_BYTES 256u
#define RECORDS 600u

/* The errno of linkat() in this program; 0: it succeeds. */
static int link_error;

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
    if (link_error == 0)
        return (int)syscall(SYS_linkat, from_fd, from, to_fd, to, flags);
    errno = link_error;
    return -1;
}

/* ----- helpers ----- */

/* A store, its records, and its manifest, which may be changed. */
typedef struct subject {
    data_set data;
    record_set truth;
    ss_dir dir, folder; /* of the store, and of its segment */
    ss_manifest manifest;
    ss_manifest_segment *segment;
} subject;

static const char *store_path(void)
{
    return scratch_path("store");
}

static void subject_make(subject *self)
{
    rng random = rng_seeded(run_seed);
    char name[SS_NAME_CAPACITY];
    sstore_error error = {.status = SSTORE_OK};
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    data_make(&random, DATA_CLUSTERED, DATA_IDS, RECORDS, true, &self->data);
    self->truth = record_set_of_data(&self->data);
    options.block_bytes = BLOCK_BYTES;
    options.plan = "2";
    scratch_remove(store_path());
    assert_ok(store_build(store_path(), &options, &self->data, 0, &error), &error);
    assert_ok(ss_dir_open(store_path(), &self->dir, &error), &error);
    assert_ok(ss_manifest_read(&self->dir, &self->manifest, &error), &error);
    self->segment = &self->manifest.segments[0];
    ss_folder_name(name, SS_SEGMENT_PREFIX, self->segment->folder_number);
    assert_ok(ss_dir_open_at(&self->dir, name, &self->folder, &error), &error);
}

static void subject_free(subject *self)
{
    ss_manifest_free(&self->manifest);
    ss_dir_close(&self->folder);
    ss_dir_close(&self->dir);
    record_set_free(&self->truth);
    data_free(&self->data);
    scratch_remove(store_path());
}

static void save_manifest(const subject *self)
{
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(ss_manifest_write_new(&self->dir, &self->manifest, &error), &error);
    assert_ok(ss_dir_rename(&self->dir, SS_MANIFEST_NEW_NAME, SS_MANIFEST_NAME, &error), &error);
}

static void check_open(sstore_status wanted)
{
    sstore *store;
    sstore_error error = {.status = SSTORE_OK};
    assert_status(sstore_open(store_path(), NULL, &store, &error), wanted, &error);
    assert_non_null(strstr(error.message, SS_DIRECTORY_ADVICE));
}

static void must_reindex(uint32_t wanted)
{
    uint32_t made = UINT32_MAX;
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(sstore_reindex(store_path(), NULL, &made, &error), &error);
    assert_int_equal(made, wanted);
}

static void check_whole(const subject *self)
{
    bool right;
    size_t count;
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(sstore_verify(store_path(), NULL, NULL, NULL, &error), &error);
    sstore *store = store_must_open(store_path(), SSTORE_IO_PREAD, SSTORE_STRATEGY_PROBE);
    sstore_cursor *cursor = store_must_cursor(store);
    assert_ok(store_compare_records(store, &self->truth, &right, &count, &error), &error);
    assert_true(right && count == self->truth.count);
    for (size_t i = 0; i < RECORDS; i += 29) {
        matches got = {0}, wanted = {0};
        assert_ok(store_query_sorted(cursor, self->data.fingerprints[i], 3, &got, &error), &error);
        record_set_query(&self->truth, &self->data.fingerprints[i], 3, 0, &wanted);
        assert_true(matches_equal(&got, &wanted));
        matches_free(&got);
        matches_free(&wanted);
    }
    sstore_cursor_free(cursor);
    sstore_close(store);
}

/* ----- directories ----- */

static void test_other_lmdb_formats(void **state)
{
    const uint32_t here = ss_directory_lmdb_format(), others[] = {here ^ 3u << 16, here + 1, 0};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        subject now;
        sstore_builder *builder;
        sstore_remover *remover;
        sstore_error error = {.status = SSTORE_OK};
        subject_make(&now);
        now.segment->lmdb_format = others[i];
        save_manifest(&now);
        check_open(SSTORE_ERROR_UNSUPPORTED);
        /* Adding and removing are refused. */
        sstore_status status = sstore_builder_create_addition(store_path(), &change_apart, &builder, &error);
        assert_status(status, SSTORE_ERROR_UNSUPPORTED, &error);
        assert_non_null(strstr(error.message, SS_DIRECTORY_ADVICE));
        status = sstore_remover_create(store_path(), &change_apart, &remover, &error);
        assert_status(status, SSTORE_ERROR_UNSUPPORTED, &error);
        /* Reading only records needs no directory. */
        const char *merged = scratch_path("merged"), *inputs[] = {store_path()};
        assert_ok(sstore_merge(merged, inputs, 1, NULL, NULL, &error), &error);
        assert_ok(sstore_verify(merged, NULL, NULL, NULL, &error), &error);
        scratch_remove(merged);
        must_reindex(1);
        check_whole(&now);
        must_reindex(0);
        subject_free(&now);
    }
}

/* The defect of the arrays in a directory with the right size and checksum. */
typedef enum flaw {
    NOTHING_THERE,
    NO_IDS,
    KEYS_DESCEND,
    RANKS_BEGIN_LATE,
    RANK_OF_NOTHING, /* which no fingerprint has */
    TOO_FEW,
    NOT_LMDB,
    FLAW_COUNT
} flaw;

/* Numbers from `first` on, up to the last one, which is `last`. */
static void write_up_to(ss_directory_writer *writer, ss_array_kind kind, uint32_t number, uint64_t count,
                        uint64_t first, uint64_t last)
{
    ss_array_writer array;
    sstore_error error = {.status = SSTORE_OK};
    ss_array_writer_init(&array, writer, kind, number);
    for (uint64_t i = 0; i < count; i++)
        assert_ok(ss_array_writer_add(&array, i + 1 < count ? first + i : last, &error), &error);
    assert_ok(ss_array_writer_finish(&array, &error), &error);
    ss_array_writer_free(&array);
}

static void write_array(ss_directory_writer *writer, ss_array_kind kind, uint32_t number, uint64_t count,
                        uint64_t first)
{
    write_up_to(writer, kind, number, count, first, first + count - 1);
}

static void write_flawed(subject *self, flaw what)
{
    static const uint8_t nonsense[8192] = "of the right size and sum, but nothing that LMDB wrote";
    ss_manifest_segment *segment = self->segment;
    ss_directory_writer *writer;
    sstore_error error = {.status = SSTORE_OK};
    const uint64_t blocks = segment->tables[0].block_count;
    ss_dir_remove(&self->folder, SS_DIRECTORY_NAME);
    assert_ok(ss_directory_writer_open(&self->folder, 1 << 20, &writer, &error), &error);
    if (what != NOTHING_THERE) {
        write_array(writer, SS_ARRAY_KEYS, 0, blocks - (what == TOO_FEW), what == KEYS_DESCEND ? UINT64_MAX - 2 : 0);
        write_up_to(writer, SS_ARRAY_RANKS, 0, blocks, what == RANKS_BEGIN_LATE ? 1 : 0,
                    segment->distinct_count - (what == RANK_OF_NOTHING ? 0 : 1));
        write_array(writer, SS_ARRAY_KEYS, 1, segment->tables[1].block_count, 0);
        if (what != NO_IDS)
            write_array(writer, SS_ARRAY_KEYS, SS_IDS_NUMBER, segment->ids.block_count, 0);
    }
    assert_ok(ss_directory_writer_finish(writer, &segment->directory_bytes, &segment->directory_checksum, &error),
              &error);
    ss_directory_writer_close(writer);
    if (what == NOT_LMDB) {
        ss_file file;
        ss_dir_remove(&self->folder, SS_DIRECTORY_NAME);
        assert_ok(ss_file_create_at(&self->folder, SS_DIRECTORY_NAME, &file, &error), &error);
        assert_ok(ss_file_write_at(&file, 0, nonsense, sizeof nonsense, &error), &error);
        ss_file_close(&file);
        segment->directory_bytes = sizeof nonsense;
        segment->directory_checksum = ss_hash128(nonsense, sizeof nonsense);
    }
    save_manifest(self);
}

static void test_flawed_directories(void **state)
{
    for (int what = NOTHING_THERE; what < FLAW_COUNT; what++) {
        subject now;
        testing_doing("flaw %d", what);
        subject_make(&now);
        assert_true(now.segment->tables[0].block_count > 3);
        write_flawed(&now, (flaw)what);
        check_open(SSTORE_ERROR_DAMAGED);
        must_reindex(1);
        check_whole(&now);
        subject_free(&now);
    }
    testing_done();
}

/* ----- block files ----- */

/* Update a block's trailer. */
static void set_checksums(file_bytes *content, const char *path, uint64_t block)
{
    ss_block_header header;
    ss_u128 checksum;
    sstore_error error = {.status = SSTORE_OK};
    uint8_t *at = content->data + SS_HEADER_BYTES + block * BLOCK_BYTES;
    assert_ok(ss_block_header_decode(content->data, path, &header, &checksum, &error), &error);
    const uint64_t salt = ss_block_salt(ss_block_file_key(&header), block);
    ss_store_le64(at + BLOCK_BYTES - 8, ss_hash64(at, BLOCK_BYTES - 8) ^ salt);
}

/* The directory is lost, and blocks of one file do not follow each other. */
static void check_blocks_refused(const subject *self, const char *name, const char *reason)
{
    const char *wanted = scratch_path("wanted");
    sstore_error error = {.status = SSTORE_OK};
    ss_dir_remove(&self->folder, SS_DIRECTORY_NAME);
    folder_copy(store_path(), wanted);
    assert_status(sstore_reindex(store_path(), NULL, NULL, &error), SSTORE_ERROR_DAMAGED, &error);
    assert_non_null(strstr(error.file, name));
    if (strstr(error.message, reason) == NULL)
        fail_msg("%s", error.message);
    assert_true(folders_equal(store_path(), wanted, ""));
    scratch_remove(wanted);
}

typedef struct misfit {
    const char *name;
    uint32_t at, width; /* of a number in block 1 that is changed; 0: blocks 1 and 2 are exchanged */
    uint8_t change;
    const char *reason;
    bool in_last; /* it is the last block that is changed */
} misfit;

static const misfit misfits[] = {
    {"table-00.blk", 0, 0, 0, "do not ascend from those of the block before", false},
    {"table-01.blk", 0, 0, 0, "do not ascend from those of the block before", false},
    {"ids.blk", 0, 0, 0, "first rank does not follow", false},
    {"ids.blk", 0, 8, 1, "first rank does not follow", false},
    {"ids.blk", 16, 2, 1, "", false}, /* one record more or less */
    {"ids.blk", 18, 1, 128, "larger than the block", false},
    {"ids.blk", 19, 1, 2, "", false}, /* continued, or no longer */
    {"ids.blk", 19, 1, 64, "unknown flag", false},
    {"ids.blk", 19, 1, 2, "do not match the fingerprints of table 0", true}, /* continued, but without a next block */
};

static void test_blocks_that_do_not_follow(void **state)
{
    for (size_t i = 0; i < sizeof misfits / sizeof misfits[0]; i++) {
        const misfit *what = &misfits[i];
        subject now;
        char path[512];
        uint8_t kept[BLOCK_BYTES];
        subject_make(&now);
        testing_doing("%s, %zu", what->name, i);
        snprintf(path, sizeof path, "%s/%s", now.folder.path, what->name);
        file_bytes content = file_load(path);
        uint8_t *first = content.data + SS_HEADER_BYTES + BLOCK_BYTES, *second = first + BLOCK_BYTES;
        assert_true(second + 2 * BLOCK_BYTES <= content.data + content.size);
        if (what->width == 0) {
            memcpy(kept, first, BLOCK_BYTES);
            memcpy(first, second, BLOCK_BYTES);
            memcpy(second, kept, BLOCK_BYTES);
            set_checksums(&content, path, 2);
        } else {
            (what->in_last ? content.data + content.size - BLOCK_BYTES : first)[what->at] ^= what->change;
        }
        set_checksums(&content, path, what->in_last ? (content.size - SS_HEADER_BYTES) / BLOCK_BYTES - 1 : 1);
        file_save(path, content.data, content.size);
        check_blocks_refused(&now, what->name, what->reason);
        file_bytes_free(&content);
        subject_free(&now);
    }
    testing_done();
}

/* Take a block's last fingerprint away. */
static void take_one(file_bytes *content, const char *path, uint64_t number)
{
    static ss_code code;
    ss_block_header header;
    ss_block block;
    ss_u128 checksum;
    uint64_t values[BLOCK_BYTES];
    uint8_t step_bits[BLOCK_BYTES], *at = content->data + SS_HEADER_BYTES + number * BLOCK_BYTES;
    const char *reason;
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(ss_block_header_decode(content->data, path, &header, &checksum, &error), &error);
    ss_code_init(&code, header.code_lengths);
    assert_true(ss_block_open(&block, at, BLOCK_BYTES, &code, &reason));
    assert_true(ss_block_decode(&block, values));
    ss_step_bits(&code, values, block.count, step_bits);
    ss_block_encode(BLOCK_BYTES, &code, values, step_bits, block.count - 1, at);
    set_checksums(content, path, number);
}

/* A fingerprint is missing, and only the count in the header shows this. */
static void test_missing_fingerprint(void **state)
{
    for (uint32_t table = 0; table < 2; table++) {
        char name[16], path[512];
        subject now;
        subject_make(&now);
        snprintf(name, sizeof name, "table-%02u.blk", table);
        snprintf(path, sizeof path, "%s/%s", now.folder.path, name);
        file_bytes content = file_load(path);
        take_one(&content, path, 1);
        file_save(path, content.data, content.size);
        check_blocks_refused(&now, name, "number of fingerprints differs");
        file_bytes_free(&content);
        subject_free(&now);
    }
}

/* ----- file systems ----- */

static nlink_t links_of(const char *name)
{
    struct stat info;
    file_list files = file_list_make(store_path(), name);
    assert_int_equal(files.count, 1);
    assert_int_equal(stat(scratch_path("store/%s", files.names[0]), &info), 0);
    file_list_free(&files);
    return info.st_nlink;
}

/* Without hard links, or beyond their limit, files are copied. */
static void test_without_hard_links(void **state)
{
    static const int errors[] = {EPERM, EOPNOTSUPP, ENOSYS, EMLINK, EXDEV};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        subject now;
        const char *saved = scratch_path("saved");
        subject_make(&now);
        folder_copy(now.folder.path, saved);
        ss_dir_remove(&now.folder, SS_DIRECTORY_NAME);
        link_error = errors[i];
        must_reindex(1);
        link_error = 0;
        check_whole(&now);
        file_list files = file_list_make(store_path(), "ids.blk");
        char folder[512];
        snprintf(folder, sizeof folder, "%s/%.*s", store_path(), (int)strcspn(files.names[0], "/"), files.names[0]);
        assert_true(folders_equal(folder, saved, ""));
        file_list_free(&files);
        scratch_remove(saved);
        subject_free(&now);
    }
}

/* If a link is refused for another reason, nothing is changed, and no link is left. */
static void test_hard_links(void **state)
{
    subject now;
    sstore_error error = {.status = SSTORE_OK};
    subject_make(&now);
    ss_dir_remove(&now.folder, SS_DIRECTORY_NAME);
    link_error = ENOSPC;
    assert_status(sstore_reindex(store_path(), NULL, NULL, &error), SSTORE_ERROR_IO, &error);
    assert_int_equal(error.system_errno, ENOSPC);
    link_error = 0;
    assert_int_equal(links_of("ids.blk"), 1);
    must_reindex(1);
    check_whole(&now);
    assert_int_equal(links_of("ids.blk"), 1);
    assert_int_equal(links_of("table-01.blk"), 1);
    subject_free(&now);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_lmdb_formats),
        cmocka_unit_test_teardown(test_flawed_directories, testing_teardown),
        cmocka_unit_test_teardown(test_blocks_that_do_not_follow, testing_teardown),
        cmocka_unit_test(test_missing_fingerprint),
        cmocka_unit_test(test_without_hard_links),
        cmocka_unit_test(test_hard_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
