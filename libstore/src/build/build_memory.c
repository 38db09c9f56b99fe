#include "build/build_memory.h"

#include "build/build_worker.h"

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
