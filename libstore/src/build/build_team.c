#include "build/build_team.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/pool.h"
#include "base/turnstile.h"

sstore_status ss_build_team_open(ss_build_team *team, uint32_t threads, bool with_ids, uint32_t block_bytes,
                                 size_t capacity, ss_progress *progress, sstore_error *error)
{
    *team = (ss_build_team){.threads = threads, .progress = progress};
    team->workers = ss_alloc(threads, sizeof *team->workers);
    sstore_status status = team->workers != NULL ? SSTORE_OK : ss_fail_memory(error, sizeof *team->workers);
    for (uint32_t i = 0; status == SSTORE_OK && i < threads; i++)
        status = ss_build_worker_open(&team->workers[i], with_ids, block_bytes, capacity, error);
    return status;
}

void ss_build_team_close(ss_build_team *team)
{
    for (uint32_t i = 0; team->workers != NULL && i < team->threads; i++)
        ss_build_worker_close(&team->workers[i]);
    ss_free(team->workers);
    team->workers = NULL;
}

/* How far a loaded piece brings the work. */
static uint64_t progress_of(const ss_piece_source *source, const ss_build_worker *worker)
{
    return source->progress_each > 0 ? source->progress_each : worker->record_count;
}

/* ----- counting ----- */

/* The first and the last fingerprint of a piece. */
typedef struct edges {
    bool any;
    uint64_t first, last;
} edges;

typedef struct counting {
    ss_build_team *team;
    const ss_piece_source *source;
    bool sum_contents;
    edges *edges; /* one a piece */
} counting;

static void sum_contents(ss_build_worker *worker)
{
    const uint64_t *values = ss_build_worker_values(worker);
    ss_u128 sum = worker->content_sum;
    for (size_t i = 0; worker->with_ids && i < worker->record_count; i++)
        ss_content_add(&sum, true, worker->records[i].fingerprint, worker->records[i].id);
    for (size_t i = 0; !worker->with_ids && i < worker->record_count; i++)
        ss_content_add(&sum, false, values[i], 0);
    worker->content_sum = sum;
}

static sstore_status count_piece(void *context, uint64_t task, uint32_t worker_index, sstore_error *error)
{
    const counting *self = context;
    ss_build_worker *worker = &self->team->workers[worker_index];
    const uint64_t *values = ss_build_worker_values(worker);
    sstore_status status = ss_build_worker_load(worker, self->source, task, error);
    if (status == SSTORE_OK)
        status = ss_progress_add(self->team->progress, worker_index, progress_of(self->source, worker));
    if (status != SSTORE_OK || worker->distinct_count == 0)
        return status;
    self->edges[task] = (edges){.any = true, .first = values[0], .last = values[worker->distinct_count - 1]};
    worker->counted_records += worker->record_count;
    ss_table_counts_add(&worker->counts, values, worker->distinct_count);
    if (self->sum_contents)
        sum_contents(worker);
    /* The first one may be the last of the piece before; it waits until the pieces are joined. */
    for (size_t i = 1; worker->sampler.fingerprints != NULL && i < worker->distinct_count; i++)
        ss_sampler_add(&worker->sampler, values[i]);
    return SSTORE_OK;
}

/* Count from one piece to the next. */
static void join_pieces(const edges *pieces, size_t piece_count, ss_sampler *sampler, ss_table_facts *facts)
{
    ss_table_counts joints;
    const edges *before = NULL;
    uint64_t repeated = 0;
    ss_table_counts_init(&joints);
    for (size_t i = 0; i < piece_count; i++) {
        if (!pieces[i].any)
            continue;
        bool repeats = before != NULL && before->last == pieces[i].first;
        repeated += repeats;
        if (!repeats && before != NULL)
            ss_table_counts_add_pair(&joints, before->last, pieces[i].first);
        if (!repeats && sampler != NULL)
            ss_sampler_add(sampler, pieces[i].first);
        before = &pieces[i];
    }
    ss_table_facts_add(facts, &joints);
    facts->count -= repeated;
}

/* Bring together what the workers counted. */
static void gather_counts(ss_build_team *team, ss_sampler *sampler, ss_counted *counted)
{
    for (uint32_t i = 0; i < team->threads; i++) {
        ss_build_worker *worker = &team->workers[i];
        ss_table_facts_add(&counted->facts, &worker->counts);
        counted->record_count += worker->counted_records;
        counted->content_sum = ss_u128_add(counted->content_sum, worker->content_sum);
        if (sampler != NULL)
            ss_sampler_join(sampler, &worker->sampler);
        ss_free(worker->sampler.fingerprints);
        worker->sampler.fingerprints = NULL;
    }
}

/* Forget what an earlier table's pieces counted. */
static sstore_status begin_counts(ss_build_team *team, bool samples, sstore_error *error)
{
    for (uint32_t i = 0; i < team->threads; i++) {
        ss_build_worker *worker = &team->workers[i];
        ss_table_counts_init(&worker->counts);
        worker->counted_records = 0;
        worker->content_sum = (ss_u128){0, 0};
        if (!samples)
            continue;
        uint64_t *room = ss_alloc(SS_SAMPLE_CAPACITY, sizeof *room);
        if (room == NULL)
            return ss_fail_memory(error, SS_SAMPLE_CAPACITY * sizeof *room);
        ss_sampler_init(&worker->sampler, room);
    }
    return SSTORE_OK;
}

sstore_status ss_build_team_count(ss_build_team *team, const ss_piece_source *source, bool sum_contents,
                                  ss_sampler *sampler, ss_counted *counted_out, sstore_error *error)
{
    counting self = {.team = team, .source = source, .sum_contents = sum_contents};
    *counted_out = (ss_counted){.record_count = 0};
    self.edges = ss_alloc(source->piece_count, sizeof *self.edges);
    if (self.edges == NULL)
        return ss_fail_memory(error, source->piece_count * sizeof *self.edges);
    sstore_status status = begin_counts(team, sampler != NULL, error);
    if (status == SSTORE_OK)
        status = ss_pool_run(team->threads, source->piece_count, count_piece, &self, error);
    if (status == SSTORE_OK) {
        gather_counts(team, sampler, counted_out);
        join_pieces(self.edges, source->piece_count, sampler, &counted_out->facts);
    }
    ss_free(self.edges);
    return status;
}

/* ----- writing ----- */

typedef struct writing {
    ss_build_team *team;
    const ss_piece_source *source;
    ss_table_writer *table;
    ss_ids_writer *ids; /* or NULL */
    ss_turnstile turnstile;
} writing;

/* What has to be done in the order of the pieces. */
static sstore_status claim(const writing *self, uint64_t task, ss_build_worker *worker, sstore_error *error)
{
    const uint64_t *values = ss_build_worker_values(worker);
    bool is_last = task + 1 == self->source->piece_count;
    bool goes_on = worker->distinct_count > 0 && self->table->count > 0 && values[0] == self->table->last;
    sstore_status status = ss_table_writer_claim(self->table, &worker->table, is_last, error);
    if (status != SSTORE_OK || self->ids == NULL)
        return status;
    worker->ids.starts[SS_IDS_MARGIN] = !goes_on;
    return ss_ids_writer_claim(self->ids, &worker->ids, worker->record_count, is_last, error);
}

static sstore_status write_piece(void *context, uint64_t task, uint32_t worker_index, sstore_error *error)
{
    writing *self = context;
    ss_build_worker *worker = &self->team->workers[worker_index];
    sstore_status status = ss_build_worker_load(worker, self->source, task, error);
    if (status == SSTORE_OK)
        status = ss_progress_add(self->team->progress, worker_index, progress_of(self->source, worker));
    if (status == SSTORE_OK) {
        ss_table_piece_measure(&worker->table, self->table, worker->distinct_count);
        if (!ss_turnstile_enter(&self->turnstile, task))
            return SSTORE_OK; /* whoever failed reports it */
        status = claim(self, task, worker, error);
    }
    if (status == SSTORE_OK) {
        ss_turnstile_leave(&self->turnstile);
        status = ss_table_piece_write(&worker->table, self->table, error);
    }
    if (status == SSTORE_OK && self->ids != NULL)
        status = ss_ids_piece_write(&worker->ids, self->ids, error);
    if (status != SSTORE_OK)
        ss_turnstile_break(&self->turnstile);
    return status;
}

sstore_status ss_build_team_write(ss_build_team *team, const ss_piece_source *source, ss_table_writer *table,
                                  ss_ids_writer *ids, sstore_error *error)
{
    writing self = {.team = team, .source = source, .table = table, .ids = ids};
    ss_turnstile_init(&self.turnstile);
    sstore_status status = ss_pool_run(team->threads, source->piece_count, write_piece, &self, error);
    ss_turnstile_destroy(&self.turnstile);
    return status;
}
