#include "base/call_progress.h"

void ss_progress_begin(ss_progress *progress, const char *phase, uint32_t table, uint64_t total, double end_share)
{
    progress->now.struct_size = sizeof progress->now;
    progress->now.phase = phase;
    progress->now.table = table;
    progress->now.total = total;
    progress->begin_share = progress->end_share;
    progress->end_share = end_share;
    atomic_store(&progress->done, 0);
}

sstore_status ss_progress_add(ss_progress *progress, uint32_t worker, uint64_t count)
{
    uint64_t done = atomic_fetch_add_explicit(&progress->done, count, memory_order_relaxed) + count;
    if (worker == 0 && progress->report != NULL) {
        sstore_progress now = progress->now;
        double part = now.total > 0 ? (double)done / (double)now.total : 1;
        now.done = ss_min_u64(done, now.total);
        now.share = progress->begin_share + (part < 1 ? part : 1) * (progress->end_share - progress->begin_share);
        if (progress->report(progress->context, &now) != 0)
            atomic_store(&progress->stopped, true);
    }
    return atomic_load_explicit(&progress->stopped, memory_order_relaxed) ? SSTORE_STOPPED : SSTORE_OK;
}
