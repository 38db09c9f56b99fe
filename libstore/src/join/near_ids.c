#include "join/near_ids.h"

#include "base/error.h"
#include "base/memory.h"
#include "join/join_call.h"
#include "join/record_reader.h"
#include "join/row_join.h"

#define NODES_FRACTION 0.05 /* of the call's work */

/* The records by nodes: these are the numbers of fingerprints, ascending. */
typedef struct node_ids {
    ss_join_call call;
    ss_near_ids_fn on_ids;
    void *context;
    uint64_t *fingerprints; /* of the nodes, if they have 64 bits: then pairs have fingerprints, else numbers */
    uint32_t *begins;       /* of each node and behind the last one, in `ids` */
    uint32_t *ids;
    bool *are_split; /* nodes whose records are not all connected: what is near one need not be near all */
    size_t node_count;
} node_ids;

static sstore_status open_nodes(node_ids *self, sstore_error *error)
{
    const uint64_t count = ss_manifest_count(&self->call.left->manifest).record_count;
    if (count > UINT32_MAX)
        return ss_fail_argument(error, "%s: more than 2^32 - 1 records cannot be compared here",
                                self->call.left->dir.path);
    const bool has_fingerprints = self->call.left->manifest.words == 1;
    self->fingerprints = ss_alloc(has_fingerprints ? (size_t)count : 0, sizeof *self->fingerprints);
    self->begins = ss_alloc((size_t)count + 1, sizeof *self->begins);
    self->ids = ss_alloc((size_t)count, sizeof *self->ids);
    self->are_split = ss_alloc((size_t)count, sizeof *self->are_split);
    return self->fingerprints != NULL && self->begins != NULL && self->ids != NULL && self->are_split != NULL
               ? SSTORE_OK
               : ss_fail_memory(error, count * 17);
}

static void close_nodes(node_ids *self)
{
    ss_free(self->fingerprints);
    ss_free(self->begins);
    ss_free(self->ids);
    ss_free(self->are_split);
    ss_join_call_end(&self->call);
}

/* Enter all records. */
static sstore_status read_nodes(node_ids *self, sstore_error *error)
{
    const sstore *store = self->call.left;
    const uint32_t words = store->manifest.words;
    uint64_t fingerprint[SSTORE_MAX_WORDS] = {0};
    uint32_t count = 0;
    ss_record_reader reader;
    ss_progress_begin(&self->call.progress, "reading", 0, ss_manifest_count(&store->manifest).record_count,
                      NODES_FRACTION);
    sstore_status status = ss_record_reader_open(&reader, store, true, &self->call.excluded, error);
    if (status == SSTORE_OK)
        status = ss_record_reader_first(&reader, error);
    while (status == SSTORE_OK && reader.more) {
        ss_words_set(fingerprint, 0, ss_record_reader_fingerprint(&reader), words);
        if (reader.number == self->node_count) {
            if (words == 1)
                self->fingerprints[self->node_count] = fingerprint[0];
            self->begins[self->node_count++] = count;
        }
        self->ids[count++] = (uint32_t)reader.current.id;
        status = ss_record_reader_next_number(&reader, fingerprint, error);
        if (status == SSTORE_OK && count % 1024 == 0)
            status = ss_progress_add(&self->call.progress, 0, 1024);
    }
    self->begins[self->node_count] = count;
    ss_record_reader_close(&reader);
    return status;
}

/* Give the records of two nodes. Returns whether all are connected now. */
static bool give_nodes(node_ids *self, size_t first, size_t second)
{
    bool is_connected = !self->are_split[first] && !self->are_split[second], any = false;
    for (uint32_t a = self->begins[first]; a < self->begins[first + 1]; a++)
        for (uint32_t b = self->begins[second]; b < self->begins[second + 1] && !(is_connected && any); b++)
            any |= self->on_ids(self->context, self->ids[a], self->ids[b]);
    return is_connected && any;
}

/* Records with one fingerprint are near each other. */
static sstore_status give_equal(node_ids *self)
{
    sstore_status status = SSTORE_OK;
    for (size_t node = 0; status == SSTORE_OK && node < self->node_count; node++) {
        const uint32_t begin = self->begins[node], end = self->begins[node + 1];
        for (uint32_t i = begin; status == SSTORE_OK && i + 1 < end; i++) {
            for (uint32_t j = i + 1; j < end; j++)
                (void)self->on_ids(self->context, self->ids[i], self->ids[j]);
            status = ss_progress_add(&self->call.progress, 0, 0);
        }
        for (uint32_t i = begin + 1; i < end; i++) /* all pairs were given, so none of these is judged again */
            self->are_split[node] |= !self->on_ids(self->context, self->ids[begin], self->ids[i]);
    }
    return status;
}

/* Give the records of pairs of fingerprints of 64 bits. */
static sstore_status give_pairs(void *context, uint32_t worker, const ss_fingerprint_pair *pairs, size_t count,
                                sstore_error *error)
{
    node_ids *self = context;
    (void)error;
    for (size_t i = 0; i < count; i++)
        (void)give_nodes(
            self, (size_t)ss_lower_bound(self->fingerprints, 0, self->node_count, pairs[i].first, ss_word_is_below),
            (size_t)ss_lower_bound(self->fingerprints, 0, self->node_count, pairs[i].second, ss_word_is_below));
    return ss_progress_add(&self->call.progress, worker, 0);
}

static bool judge(void *context, uint64_t first, uint64_t second)
{
    return give_nodes(context, (size_t)first, (size_t)second);
}

static sstore_status find(node_ids *self, const sstore *store, const sstore_join_options *options, sstore_error *error)
{
    ss_join_call *call = &self->call;
    sstore_status status = ss_join_call_begin(call, store, store, options, error);
    if (status == SSTORE_OK)
        status = open_nodes(self, error);
    if (status == SSTORE_OK)
        status = read_nodes(self, error);
    if (status == SSTORE_OK)
        status = give_equal(self);
    if (status != SSTORE_OK || call->distance == 0)
        return status;
    return store->manifest.words > 1 ? ss_row_connect(call, call->join_bytes + call->stage_bytes, 1, judge, self, error)
                                     : ss_join_call_find(call, SS_JOIN_SELF, 1, give_pairs, self, error);
}

sstore_status ss_near_ids_find(const sstore *store, const sstore_join_options *options, ss_near_ids_fn on_ids,
                               void *context, sstore_error *error)
{
    node_ids self = {.on_ids = on_ids, .context = context, .call = {.tmp_dir = SS_DIR_NONE}};
    const sstore_status status = find(&self, store, options, error);
    close_nodes(&self);
    return status;
}
