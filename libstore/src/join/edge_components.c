/* edge_components.c - the public calls for the components of edges that a caller gives: components.h, with a folder for
 * spilled edges of its own. */
#include "base/error.h"
#include "base/memory.h"
#include "join/components.h"
#include "sort/buckets.h"
#include "sstore_join.h"

#define MIN_MEMORY_BYTES ((uint64_t)8 << 20)
#define EDGE_BATCH 1024u

struct sstore_components {
    ss_dir tmp_dir;
    ss_components *components;
    ss_progress progress;
    bool is_finished;
    sstore_status status; /* of an earlier call */
};

sstore_status sstore_components_create(const sstore_components_options *options, sstore_components **components_out,
                                       sstore_error *error)
{
    sstore_components_options taken = SSTORE_COMPONENTS_OPTIONS_INIT;
    if (components_out == NULL)
        return ss_fail_argument(error, "sstore_components_create: components_out must not be NULL");
    *components_out = NULL;
    sstore_status status = ss_take_options(&taken, sizeof taken, options, SS_COMPONENTS_OPTIONS_SIZE_1, error);
    const uint64_t memory_bytes = ss_memory_or_default(taken.memory_bytes);
    if (status == SSTORE_OK)
        status = ss_check_memory(memory_bytes, MIN_MEMORY_BYTES, error);
    if (status != SSTORE_OK)
        return status;
    sstore_components *self = ss_alloc(1, sizeof *self);
    if (self == NULL)
        return ss_fail_memory(error, sizeof *self);
    self->tmp_dir = SS_DIR_NONE;
    self->progress.report = taken.on_progress;
    self->progress.context = taken.progress_context;
    status = ss_spill_dir_open(taken.tmp_dir, NULL, &self->tmp_dir, error);
    if (status == SSTORE_OK)
        status = ss_components_create(taken.threads, ss_remaining_memory(memory_bytes, SS_FED_PROCESS_BYTES),
                                      &self->tmp_dir, &self->components, error);
    if (status == SSTORE_OK)
        *components_out = self;
    else
        sstore_components_free(self);
    return status;
}

sstore_status sstore_components_add(sstore_components *components, const uint64_t *nodes, const uint64_t *other_nodes,
                                    size_t count, sstore_error *error)
{
    ss_fingerprint_pair edges[EDGE_BATCH];
    if (components == NULL || (count > 0 && (nodes == NULL || other_nodes == NULL)))
        return ss_fail_argument(error, "sstore_components_add: components and the nodes must not be NULL");
    if (components->is_finished || components->status != SSTORE_OK)
        return ss_fail_argument(error, "sstore_components_add: the components have been found already, or an earlier "
                                       "call failed");
    for (size_t begin = 0; components->status == SSTORE_OK && begin < count; begin += EDGE_BATCH) {
        const size_t size = count - begin < EDGE_BATCH ? count - begin : EDGE_BATCH;
        for (size_t i = 0; i < size; i++)
            edges[i] = (ss_fingerprint_pair){nodes[begin + i], other_nodes[begin + i]};
        components->status = ss_components_add(components->components, 0, edges, size, error);
    }
    return components->status;
}

sstore_status sstore_components_next(sstore_components *components, uint64_t *nodes, uint64_t *smallest,
                                     size_t capacity, size_t *count_out, sstore_error *error)
{
    const bool is_usable = components != NULL && components->status == SSTORE_OK;
    ss_record node;
    bool more = true;
    if (!ss_check_next("sstore_components_next", is_usable, capacity, count_out, error) || !is_usable)
        return SSTORE_ERROR_ARGUMENT;
    if (!components->is_finished) {
        components->is_finished = true;
        components->status = ss_components_finish(components->components, &components->progress, 1, error);
    }
    while (components->status == SSTORE_OK && *count_out < capacity) {
        components->status = ss_components_next(components->components, &node, &more, error);
        if (components->status != SSTORE_OK || !more)
            break;
        if (nodes != NULL)
            nodes[*count_out] = node.fingerprint;
        if (smallest != NULL)
            smallest[*count_out] = node.id;
        ++*count_out;
    }
    return components->status;
}

void sstore_components_free(sstore_components *components)
{
    if (components == NULL)
        return;
    ss_components_free(components->components);
    ss_dir_close(&components->tmp_dir);
    ss_free(components);
}
