#include "join/join_call.h"

#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "base/pool.h"
#include "join/store_source.h"
#include "sort/spill_file.h"

#define DEFAULT_MEMORY_BYTES ((uint64_t)1 << 30)
#define LEAST_MEMORY_BYTES ((uint64_t)8 << 20)
#define FIXED_BYTES ((uint64_t)6 << 20) /* the process, its stacks */
#define LEAST_PIECE ((uint64_t)1024)
#define MOST_PIECE ((uint64_t)1 << 18)
#define ITEM_BYTES 80u /* that an item at work takes: twice 24, and what it leads to */

/* Half of the memory is for finding pairs, a quarter for those found; then, when they are on their way to the caller, a
 * quarter each for what a step takes and what it leaves, and a quarter for what threads work on. */
static void share_memory(ss_join_call *call, uint64_t memory_bytes)
{
    uint64_t fixed = FIXED_BYTES + ss_store_source_bytes(call->left, call->threads);
    if (!ss_join_call_is_self(call))
        fixed += ss_store_source_bytes(call->right, call->threads);
    const uint64_t rest = ss_max_u64(memory_bytes - ss_min_u64(fixed, memory_bytes / 2), LEAST_MEMORY_BYTES / 2);
    call->join_bytes = rest / 2;
    call->stage_bytes = rest / 4;
    call->piece_capacity =
        (size_t)ss_max_u64(ss_min_u64(rest / 4 / ITEM_BYTES / call->threads, MOST_PIECE), LEAST_PIECE);
}

static sstore_status check_alike(const sstore *left, const sstore *right, sstore_error *error)
{
    if (strcmp(left->manifest.recipe, right->manifest.recipe) == 0)
        return SSTORE_OK;
    return ss_fail(error, SSTORE_ERROR_RECIPE, 0, right->dir.path, SSTORE_NO_OFFSET,
                   "its fingerprints were made by the recipe '%s', but those of %s by '%s'", right->manifest.recipe,
                   left->dir.path, left->manifest.recipe);
}

sstore_status ss_join_call_begin(ss_join_call *call, const sstore *left, const sstore *right,
                                 const sstore_join_options *options, sstore_error *error)
{
    sstore_join_options taken = SSTORE_JOIN_OPTIONS_INIT;
    *call = (ss_join_call){.left = left, .right = right, .tmp_dir = SS_DIR_NONE};
    if (!ss_take_options(&taken, sizeof taken, options, sizeof taken))
        return ss_fail_argument(error, "the options are not set by SSTORE_JOIN_OPTIONS_INIT");
    if (taken.distance == SSTORE_OWN_DISTANCE)
        taken.distance = (uint32_t)ss_min_u64(left->manifest.distance, right->manifest.distance);
    if (taken.distance > SSTORE_MAX_BUILD_DISTANCE)
        return ss_fail_argument(error, "the distance to join within is %u; it can be 0 to %d", taken.distance,
                                SSTORE_MAX_BUILD_DISTANCE);
    if (taken.memory_bytes != 0 && taken.memory_bytes < LEAST_MEMORY_BYTES)
        return ss_fail_argument(error, "the memory is %llu bytes; at least %llu are needed",
                                (unsigned long long)taken.memory_bytes, (unsigned long long)LEAST_MEMORY_BYTES);
    call->distance = taken.distance;
    call->threads = ss_pool_threads(taken.threads);
    call->progress.report = taken.on_progress;
    call->progress.context = taken.progress_context;
    share_memory(call, taken.memory_bytes != 0 ? taken.memory_bytes : DEFAULT_MEMORY_BYTES);
    sstore_status status = check_alike(left, right, error);
    return status == SSTORE_OK ? ss_spill_dir_open(taken.tmp_dir, &left->dir, &call->tmp_dir, error) : status;
}

void ss_join_call_end(ss_join_call *call)
{
    ss_dir_close(&call->tmp_dir);
}
