#include "build/build_worker.h"

#include "base/alloc.h"
#include "base/error.h"

static size_t item_bytes(bool with_ids)
{
    return with_ids ? sizeof(sstore_record) : sizeof(uint64_t);
}

uint64_t ss_build_worker_bytes(bool with_ids, uint32_t block_bytes, size_t capacity)
{
    uint64_t bytes = ss_table_piece_bytes(block_bytes, capacity) + (uint64_t)capacity * item_bytes(with_ids);
    return with_ids ? bytes + ss_ids_piece_bytes(capacity) + (uint64_t)capacity * sizeof(sstore_record) : bytes;
}

sstore_status ss_build_worker_open(ss_build_worker *worker, bool with_ids, uint32_t block_bytes, size_t capacity,
                                   sstore_error *error)
{
    *worker = (ss_build_worker){.with_ids = with_ids};
    ss_table_counts_init(&worker->counts);
    sstore_status status = ss_table_piece_open(&worker->table, block_bytes, capacity, error);
    if (status == SSTORE_OK && with_ids)
        status = ss_ids_piece_open(&worker->ids, block_bytes, capacity, error);
    if (status != SSTORE_OK)
        return status;
    worker->scratch = ss_realloc(NULL, capacity, item_bytes(with_ids));
    worker->records = ss_realloc(NULL, with_ids ? capacity : 0, sizeof *worker->records);
    if (worker->scratch != NULL && worker->records != NULL)
        return SSTORE_OK;
    return ss_fail_memory(error, (uint64_t)capacity * item_bytes(with_ids));
}

void ss_build_worker_close(ss_build_worker *worker)
{
    ss_table_piece_close(&worker->table);
    ss_ids_piece_close(&worker->ids);
    ss_free(worker->scratch);
    ss_free(worker->records);
    ss_free(worker->sampler.fingerprints);
    *worker = (ss_build_worker){.scratch = NULL};
}

/* Make columns of records: distinct fingerprints, ids, and which records start a fingerprint. */
static size_t divide(const sstore_record *records, size_t count, uint64_t *values, uint64_t *ids, uint8_t *starts)
{
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++) {
        bool first = i == 0 || records[i].fingerprint != records[i - 1].fingerprint;
        distinct += first;
        values[distinct - 1] = records[i].fingerprint;
        ids[i] = records[i].id;
        starts[i] = first;
    }
    return distinct;
}

sstore_status ss_build_worker_load(ss_build_worker *worker, const ss_piece_source *source, size_t piece,
                                   sstore_error *error)
{
    uint64_t *values = ss_build_worker_values(worker);
    void *items = worker->with_ids ? (void *)worker->records : values;
    sstore_status status = source->load(source->context, piece, items, worker->scratch, &worker->record_count, error);
    if (status != SSTORE_OK)
        return status;
    worker->distinct_count = worker->record_count;
    if (worker->with_ids)
        worker->distinct_count = divide(worker->records, worker->record_count, values, worker->ids.ids + SS_IDS_MARGIN,
                                        worker->ids.starts + SS_IDS_MARGIN);
    return SSTORE_OK;
}

/* ----- memory ----- */

/* The process itself, its stacks, what it reads input through, and the directory's arrays on their way into LMDB. */
#define FIXED_BYTES ((uint64_t)12 << 20)
#define LEAST_SORTER_BYTES ((uint64_t)1 << 20)
#define LEAST_PIECE ((size_t)16384)
#define MOST_PIECE ((size_t)1 << 20) /* larger ones are sorted more slowly, and buckets are seldom larger */
#define WORKERS_SHARE 6u             /* of memory, for all threads' pieces: 1/6 */

ss_build_memory ss_build_memory_share(uint64_t memory_bytes, uint32_t threads, bool with_ids, uint32_t block_bytes)
{
    const uint64_t least = ss_build_worker_bytes(with_ids, block_bytes, LEAST_PIECE);
    const uint64_t most = ss_build_worker_bytes(with_ids, block_bytes, MOST_PIECE);
    const uint64_t fixed = ss_build_worker_bytes(with_ids, block_bytes, 0);
    const uint64_t for_workers = memory_bytes / WORKERS_SHARE;
    ss_build_memory share = {.threads = (uint32_t)ss_max_u64(ss_min_u64(threads, for_workers / least), 1)};
    uint64_t each = ss_min_u64(ss_max_u64(for_workers / share.threads, least), most);
    share.piece_capacity = (size_t)((each - fixed) * MOST_PIECE / (most - fixed));
    uint64_t rest = FIXED_BYTES + share.threads * each;
    share.sorter_bytes = memory_bytes > rest + LEAST_SORTER_BYTES ? memory_bytes - rest : LEAST_SORTER_BYTES;
    return share;
}
