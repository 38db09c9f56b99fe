#include "store/directory.h"

#include <errno.h>
#include <lmdb.h>
#include <pthread.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/platform.h"

#define KEY_BYTES 9u /* kind, file number, chunk: big-endian, so that LMDB orders keys by them */
#define LMDB_DATA_VERSION 1u
#define MAP_SLACK_BYTES ((uint64_t)16 << 20) /* address space for LMDB's own pages beside the arrays */

uint32_t ss_directory_lmdb_format(void)
{
    uint32_t byte_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 1 : 2;
    return LMDB_DATA_VERSION | (uint32_t)sizeof(size_t) << 8 | byte_order << 16;
}

sstore_status ss_directory_check_format(uint32_t lmdb_format, const char *path, sstore_error *error)
{
    if (lmdb_format == ss_directory_lmdb_format())
        return SSTORE_OK;
    return ss_fail(error, SSTORE_ERROR_UNSUPPORTED, 0, path, SSTORE_NO_OFFSET,
                   "the directory has another LMDB file format (%06x) than this host (%06x); " SS_DIRECTORY_ADVICE,
                   lmdb_format, ss_directory_lmdb_format());
}

bool ss_directory_is_lost(const sstore_error *error)
{
    return ss_is_of_one_file(error) && error->system_errno != EACCES;
}

static void encode_key(uint8_t key[KEY_BYTES], ss_array_kind kind, uint32_t number, uint32_t chunk)
{
    key[0] = (uint8_t)kind;
    for (uint32_t i = 0; i < 4; i++) {
        key[1 + i] = (uint8_t)(number >> (24 - 8 * i));
        key[5 + i] = (uint8_t)(chunk >> (24 - 8 * i));
    }
}

/* LMDB returns its own negative codes and errno's positive ones. */
static sstore_status fail_lmdb(sstore_error *error, const char *path, int code, const char *what)
{
    if (code == ENOMEM)
        return ss_fail(error, SSTORE_ERROR_MEMORY, 0, path, SSTORE_NO_OFFSET, "%s failed: out of memory", what);
    if (code == MDB_INVALID || code == MDB_VERSION_MISMATCH || code == MDB_CORRUPTED || code == MDB_PAGE_NOTFOUND)
        return ss_fail_damaged(error, path, SSTORE_NO_OFFSET, "%s failed: %s", what, mdb_strerror(code));
    if (code > 0)
        return ss_fail(error, SSTORE_ERROR_IO, code, path, SSTORE_NO_OFFSET, "%s failed", what);
    return ss_fail(error, SSTORE_ERROR_IO, 0, path, SSTORE_NO_OFFSET, "%s failed: %s", what, mdb_strerror(code));
}

/* LMDB opens files only by path. ENOENT may mean that the system has no paths of open files at the moment. */
static sstore_status fail_to_open(sstore_error *error, const char *path, int code, const char *what)
{
    if (code != ENOENT || ss_platform_has_paths())
        return fail_lmdb(error, path, code, what);
    return ss_fail(error, SSTORE_ERROR_IO, 0, path, SSTORE_NO_OFFSET,
                   "%s failed: there is no " SS_PLATFORM_DESCRIPTORS ", which LMDB needs; mount /proc", what);
}

/* Open an environment, a transaction and the unnamed database. Close what was opened, also after a failure. */
static int open_lmdb(const char *path, uint64_t map_bytes, unsigned flags, MDB_env **env, MDB_txn **txn, MDB_dbi *dbi)
{
    int code = mdb_env_create(env);
    if (code == 0)
        code = mdb_env_set_mapsize(*env, map_bytes);
    if (code == 0)
        code = mdb_env_open(*env, path, MDB_NOSUBDIR | MDB_NOLOCK | flags, 0666);
    if (code == 0)
        code = mdb_txn_begin(*env, NULL, flags & MDB_RDONLY, txn);
    if (code == 0)
        code = mdb_dbi_open(*txn, NULL, 0, dbi);
    return code;
}

/* ----- writing ----- */

struct ss_directory_writer {
    ss_file file; /* for size, checksum and errors; LMDB has its own handle */
    MDB_env *env;
    MDB_dbi dbi;
    pthread_mutex_t lock; /* LMDB allows one writer at a time, and has no lock file here */
};

/* LMDB reports a partial write, for example on a full disk, as EIO, and other failures as ENOSPC. Appending bytes to
 * the file gives the real reason. */
static sstore_status fail_to_write(ss_directory_writer *writer, int code, const char *what, sstore_error *error)
{
    static const uint8_t more[4096];
    sstore_error refusal;
    uint64_t bytes;
    if ((code == EIO || code == ENOSPC) && ss_file_size(&writer->file, &bytes, NULL) == SSTORE_OK &&
        ss_file_write_at(&writer->file, bytes, more, sizeof more, &refusal) != SSTORE_OK && refusal.system_errno != 0)
        code = refusal.system_errno;
    return fail_lmdb(error, writer->file.path, code, what);
}

sstore_status ss_directory_writer_open(const ss_dir *dir, uint64_t max_bytes, ss_directory_writer **writer_out,
                                       sstore_error *error)
{
    *writer_out = NULL;
    ss_directory_writer *writer = ss_alloc(1, sizeof *writer);
    if (writer == NULL)
        return ss_fail_memory(error, sizeof *writer);
    *writer = (ss_directory_writer){.file = SS_FILE_NONE, .lock = PTHREAD_MUTEX_INITIALIZER};
    sstore_status status = ss_file_create_at(dir, SS_DIRECTORY_NAME, &writer->file, error);
    if (status == SSTORE_OK) {
        /* A path by handle: others may rename the folder, and LMDB takes only paths. */
        char path[SS_PLATFORM_PATH_BYTES];
        ss_platform_path(dir->fd, SS_DIRECTORY_NAME, path);
        /* Values take whole overflow pages, and the next commit does not reuse freed pages: twice suffices. */
        const uint64_t map_bytes = (2 * max_bytes + MAP_SLACK_BYTES) & ~(MAP_SLACK_BYTES - 1);
        MDB_txn *txn = NULL;
        int code = open_lmdb(path, map_bytes, MDB_NOSYNC, &writer->env, &txn, &writer->dbi);
        if (code == 0)
            code = mdb_txn_commit(txn);
        else if (txn != NULL)
            mdb_txn_abort(txn);
        if (code == ENOENT)
            status = fail_to_open(error, dir->path, code, "creating the directory");
        else if (code != 0)
            status = fail_to_write(writer, code, "creating the directory", error);
    }
    if (status == SSTORE_OK)
        *writer_out = writer;
    else
        ss_directory_writer_close(writer);
    return status;
}

sstore_status ss_directory_writer_put(ss_directory_writer *writer, ss_array_kind kind, uint32_t number, uint32_t chunk,
                                      const uint64_t *values, size_t count, sstore_error *error)
{
    uint8_t name[KEY_BYTES];
    encode_key(name, kind, number, chunk);
    MDB_val key = {.mv_size = sizeof name, .mv_data = name};
    MDB_val value = {.mv_size = count * sizeof *values};
    MDB_txn *txn = NULL;
    pthread_mutex_lock(&writer->lock);
    int code = mdb_txn_begin(writer->env, NULL, 0, &txn);
    if (code == 0)
        code = mdb_put(txn, writer->dbi, &key, &value, MDB_RESERVE | MDB_NOOVERWRITE);
    if (code == 0) {
        for (size_t i = 0; i < count; i++)
            ss_store_le64((uint8_t *)value.mv_data + 8 * i, values[i]);
        code = mdb_txn_commit(txn);
    } else if (txn != NULL) {
        mdb_txn_abort(txn);
    }
    pthread_mutex_unlock(&writer->lock);
    return code == 0 ? SSTORE_OK : fail_to_write(writer, code, "writing to the directory", error);
}

sstore_status ss_directory_writer_finish(ss_directory_writer *writer, uint64_t *bytes_out, ss_u128 *checksum_out,
                                         sstore_error *error)
{
    int code = mdb_env_sync(writer->env, 1);
    if (code != 0)
        return fail_to_write(writer, code, "syncing the directory", error);
    const sstore_status status = ss_file_size(&writer->file, bytes_out, error);
    return status == SSTORE_OK ? ss_file_copy(&writer->file, NULL, *bytes_out, checksum_out, error) : status;
}

void ss_directory_writer_close(ss_directory_writer *writer)
{
    if (writer == NULL)
        return;
    if (writer->env != NULL)
        mdb_env_close(writer->env);
    ss_file_close(&writer->file);
    pthread_mutex_destroy(&writer->lock);
    ss_free(writer);
}

void ss_array_writer_init(ss_array_writer *array, ss_directory_writer *writer, ss_array_kind kind, uint32_t number)
{
    *array = (ss_array_writer){.writer = writer, .kind = kind, .number = number};
}

sstore_status ss_array_writer_finish(ss_array_writer *array, sstore_error *error)
{
    if (array->count == 0)
        return SSTORE_OK;
    const sstore_status status = ss_directory_writer_put(array->writer, array->kind, array->number, array->chunk++,
                                                         array->values, array->count, error);
    array->count = 0;
    return status;
}

sstore_status ss_array_writer_add(ss_array_writer *array, uint64_t value, sstore_error *error)
{
    uint64_t *values = ss_grow(array->values, array->count, &array->capacity, 512, sizeof *values);
    if (values == NULL)
        return ss_fail_memory(error, 2 * array->capacity * sizeof *values);
    array->values = values;
    array->values[array->count++] = value;
    return array->count == SS_CHUNK_KEYS ? ss_array_writer_finish(array, error) : SSTORE_OK;
}

void ss_array_writer_free(ss_array_writer *array)
{
    ss_free(array->values);
    array->values = NULL;
}

/* ----- reading ----- */

struct ss_directory {
    ss_file memory;
    MDB_env *env;
    MDB_txn *txn; /* open as long as the directory: the file never changes */
    MDB_dbi dbi;
    bool is_small;
};

/* A store of several words has many small directories, and a process may have few descriptors. */
#define SMALL_BYTES 65536u

/* Load the file into memory, and check its format, size and hash. */
static sstore_status load_file(ss_directory *directory, const ss_dir *dir, uint32_t lmdb_format, uint64_t bytes,
                               ss_u128 checksum, sstore_error *error)
{
    ss_file file = SS_FILE_NONE;
    ss_u128 actual;
    sstore_status status = ss_file_open_at(dir, SS_DIRECTORY_NAME, &file, error);
    if (status == SSTORE_OK)
        status = ss_directory_check_format(lmdb_format, file.path, error);
    if (status == SSTORE_OK && file.opened_bytes != bytes)
        status = ss_fail_damaged(error, file.path, ss_min_u64(file.opened_bytes, bytes),
                                 "the file has %llu bytes instead of %llu", (unsigned long long)file.opened_bytes,
                                 (unsigned long long)bytes);
    if (status == SSTORE_OK)
        status = ss_file_load_sealed(&file, bytes, &directory->memory, &actual, error);
    if (status == SSTORE_OK && !ss_u128_equal(actual, checksum))
        status = ss_fail_damaged(error, file.path, SSTORE_NO_OFFSET, "the directory's checksum is wrong");
    ss_file_close(&file);
    return status;
}

sstore_status ss_directory_open(const ss_dir *dir, uint32_t lmdb_format, uint64_t bytes, ss_u128 checksum,
                                ss_directory **directory_out, sstore_error *error)
{
    *directory_out = NULL;
    ss_directory *directory = ss_alloc(1, sizeof *directory);
    if (directory == NULL)
        return ss_fail_memory(error, sizeof *directory);
    directory->memory = SS_FILE_NONE;
    directory->is_small = bytes <= SMALL_BYTES;
    const uint8_t *map = NULL;
    sstore_status status = load_file(directory, dir, lmdb_format, bytes, checksum, error);
    if (status == SSTORE_OK)
        status = ss_file_map(&directory->memory, bytes, &map, error);
    if (status == SSTORE_OK)
        status = ss_lmdb_check(map, bytes, directory->memory.path, error);
    ss_unmap(map, bytes);
    if (status == SSTORE_OK) {
        char path[SS_PLATFORM_PATH_BYTES];
        ss_platform_path(directory->memory.fd, NULL, path);
        const int code = open_lmdb(path, bytes, MDB_RDONLY | MDB_NOTLS, &directory->env, &directory->txn,
                                   &directory->dbi);
        ss_file_release(&directory->memory); /* LMDB has its own handle */
        if (code != 0)
            status = fail_to_open(error, directory->memory.path, code, "opening the directory");
    }
    if (status == SSTORE_OK) {
        *directory_out = directory;
        return SSTORE_OK;
    }
    if (status != SSTORE_ERROR_UNSUPPORTED && error != NULL &&
        ss_directory_is_lost(error)) /* which already has advice */
        ss_advise(error, SS_DIRECTORY_ADVICE);
    ss_directory_close(directory);
    return status;
}

static void close_lmdb(ss_directory *directory)
{
    if (directory->txn != NULL)
        mdb_txn_abort(directory->txn);
    if (directory->env != NULL)
        mdb_env_close(directory->env);
    directory->txn = NULL;
    directory->env = NULL;
}

void ss_directory_release(ss_directory *directory)
{
    if (directory->is_small)
        close_lmdb(directory);
}

void ss_directory_close(ss_directory *directory)
{
    if (directory == NULL)
        return;
    close_lmdb(directory);
    ss_file_close(&directory->memory);
    ss_free(directory);
}

sstore_status ss_directory_get(const ss_directory *directory, ss_array_kind kind, uint32_t number, uint64_t count,
                               ss_array *array_out, sstore_error *error)
{
    uint64_t chunk_count = (count + SS_CHUNK_KEYS - 1) / SS_CHUNK_KEYS;
    *array_out = (ss_array){.count = count, .chunks = ss_alloc(chunk_count, sizeof *array_out->chunks)};
    if (directory->is_small)
        array_out->copy = ss_alloc(ss_min_u64(count, SMALL_BYTES / 8), sizeof(uint64_t));
    if (array_out->chunks == NULL || (directory->is_small && array_out->copy == NULL))
        return ss_fail_memory(error, chunk_count * sizeof *array_out->chunks + SMALL_BYTES);
    for (uint64_t chunk = 0; chunk < chunk_count; chunk++) {
        uint8_t name[KEY_BYTES];
        encode_key(name, kind, number, (uint32_t)chunk);
        MDB_val key = {.mv_size = sizeof name, .mv_data = name}, value;
        uint64_t expected = 8 * ss_min_u64(count - chunk * SS_CHUNK_KEYS, SS_CHUNK_KEYS);
        int code = mdb_get(directory->txn, directory->dbi, &key, &value);
        if (code == ENOMEM)
            return fail_lmdb(error, directory->memory.path, code, "reading the directory");
        if (code != 0 || value.mv_size != expected)
            return ss_fail_damaged(
                error, directory->memory.path, SSTORE_NO_OFFSET,
                "the directory has no entry of the right size for file %u, kind %d, chunk %llu; " SS_DIRECTORY_ADVICE,
                number, (int)kind, (unsigned long long)chunk);
        array_out->chunks[chunk] = value.mv_data;
        if (directory->is_small)
            array_out->chunks[chunk] = memcpy(array_out->copy + 8 * chunk * SS_CHUNK_KEYS, value.mv_data, expected);
    }
    return SSTORE_OK;
}

void ss_array_free(ss_array *array)
{
    ss_free(array->chunks);
    ss_free(array->copy);
    array->chunks = NULL;
    array->copy = NULL;
}

bool ss_array_ascends(const ss_array *array, bool strictly)
{
    for (uint64_t i = 1; i < array->count; i++) {
        uint64_t before = ss_array_at(array, i - 1), value = ss_array_at(array, i);
        if (value < before || (strictly && value == before))
            return false;
    }
    return true;
}
