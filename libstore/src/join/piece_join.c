#include "join/piece_join.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"

#define FILTERED_GROUP 512u /* values from which on edges are filtered */
#define LOOKED_UP_AT_ONCE 128u
#define CENTRE_SAMPLE 128u /* values that tell which bits most values have */

#define MIN_PART_BITS 2u /* for a part to divide a group worth its while */

struct ss_join_worker {
    const ss_join_team *team;
    const ss_join_block *block; /* the one at hand */
    uint32_t index;
    void *items;       /* a piece */
    void *scratch;     /* of sorting a piece, or a group's values */
    uint64_t *values;  /* a group that was in several pieces, or two chunks of one; left ones first */
    size_t kept_chunk; /* the chunk that `values` begins with, and its sizes */
    size_t kept_count, kept_left;
    ss_group_join *join;
    ss_edge_filter own_edges;                  /* of SS_JOIN_SPANNING, where it is not shared */
    ss_edge_filter *edges;                     /* the first worker's, where it is */
    bool filters_edges;                        /* in the group at hand */
    ss_fingerprint_pair pairs[SS_GROUP_PAIRS]; /* as they were before the permutation */
};

/* ----- opening ----- */

static uint64_t scratch_bytes(const ss_join_team *team)
{
    return ss_max_u64(team->piece_capacity * team->item_bytes, team->group_capacity * sizeof(uint64_t));
}

uint64_t ss_join_team_bytes(const ss_join_team *team)
{
    const ss_join_team one = {.item_bytes = team->item_bytes, .piece_capacity = 1, .group_capacity = SS_GROUP_PIECES};
    const uint64_t worker = one.item_bytes + scratch_bytes(&one) + SS_GROUP_PIECES * sizeof(uint64_t);
    return team->threads * worker + SS_GROUP_PIECES * one.item_bytes;
}

static sstore_status deliver(void *context, const ss_fingerprint_pair *pairs, size_t count, sstore_error *error)
{
    ss_join_worker *worker = context;
    const ss_join_options *options = worker->team->options;
    const ss_permutation *permutation = &worker->block->permutation;
    size_t kept = 0;
    const sstore_status status = ss_progress_add(options->progress, worker->index, 0);
    if (status != SSTORE_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        const uint64_t first = ss_unpermute(permutation, pairs[i].first);
        const uint64_t second = ss_unpermute(permutation, pairs[i].second);
        const bool swap = worker->team->kind != SS_JOIN_CROSS && second < first;
        worker->pairs[kept] = swap ? (ss_fingerprint_pair){second, first} : (ss_fingerprint_pair){first, second};
        kept += !worker->filters_edges || ss_edge_filter_pass(worker->edges, first, second);
    }
    return kept > 0 ? options->on_pairs(options->context, worker->index, worker->pairs, kept, error) : SSTORE_OK;
}

static void look_up_roots(ss_join_worker *worker, const uint64_t *values, size_t count, uint32_t *roots)
{
    uint64_t nodes[LOOKED_UP_AT_ONCE];
    for (size_t i = 0; i < count; i++)
        nodes[i] = ss_unpermute(&worker->block->permutation, values[i]);
    ss_edge_filter_roots(worker->edges, nodes, count, roots);
}

/* The one that more than half of them are, if there is one; see Boyer and Moore, "MJRTY: A Fast Majority Vote Algorithm"
 * (1991). */
static uint32_t majority(const uint32_t *roots, size_t count)
{
    uint32_t candidate = SS_EDGE_FILTER_UNKNOWN, lead = 0;
    for (size_t i = 0; i < count; i++) {
        if (lead == 0)
            candidate = roots[i];
        if (roots[i] == candidate)
            lead++;
        else
            lead--;
    }
    return candidate;
}

/* As ss_group_apart_fn asks for, by the edges that any thread has delivered or is about to. */
static size_t find_apart(void *context, const uint64_t *values, size_t count, uint32_t *apart, size_t max)
{
    ss_join_worker *worker = context;
    uint32_t roots[LOOKED_UP_AT_ONCE], main_root = SS_EDGE_FILTER_UNKNOWN;
    size_t found = 0;
    for (size_t done = 0; done < count && found <= max; done += LOOKED_UP_AT_ONCE) {
        const size_t size = (size_t)ss_min_u64(count - done, LOOKED_UP_AT_ONCE);
        look_up_roots(worker, values + done, size, roots);
        if (done == 0)
            main_root = majority(roots, size);
        for (size_t i = 0; i < size && found <= max; i++) {
            if (roots[i] == main_root && main_root != SS_EDGE_FILTER_UNKNOWN)
                continue;
            if (found < max)
                apart[found] = (uint32_t)(done + i);
            found++;
        }
    }
    return found;
}

static bool open_worker(const ss_join_team *team, uint32_t index, ss_join_worker *worker)
{
    worker->team = team;
    worker->index = index;
    worker->items = ss_alloc_large(team->piece_capacity * team->item_bytes);
    worker->scratch = ss_alloc_large((size_t)scratch_bytes(team));
    worker->values = ss_alloc_large(team->group_capacity * sizeof *worker->values);
    worker->join = ss_alloc(1, sizeof *worker->join);
    if (worker->items == NULL || worker->scratch == NULL || worker->values == NULL || worker->join == NULL)
        return false;
    ss_group_join_init(worker->join, team->options->distance, worker->scratch, deliver, worker);
    if (team->kind != SS_JOIN_SPANNING)
        return true;
    worker->edges = team->shares_edges ? &team->workers[0].own_edges : &worker->own_edges;
    return worker->edges != &worker->own_edges ||
           ss_edge_filter_open(&worker->own_edges, team->edge_capacity, NULL) == SSTORE_OK;
}

uint64_t ss_join_team_edge_bytes(const ss_join_team *team)
{
    if (team->kind != SS_JOIN_SPANNING)
        return 0;
    return (team->shares_edges ? 1 : team->threads) * ss_edge_filter_bytes(team->edge_capacity);
}

sstore_status ss_join_team_open(ss_join_team *team, sstore_error *error)
{
    assert(team->group_capacity >= 2 * team->piece_capacity);
    team->held = ss_alloc_large(team->group_capacity * team->item_bytes);
    team->workers = ss_alloc(team->threads, sizeof *team->workers);
    bool opened = team->held != NULL && team->workers != NULL;
    for (uint32_t i = 0; opened && i < team->threads; i++)
        opened = open_worker(team, i, &team->workers[i]);
    return opened
               ? SSTORE_OK
               : ss_fail_memory(error, ss_join_team_bytes(team) * team->piece_capacity + ss_join_team_edge_bytes(team));
}

void ss_join_team_close(ss_join_team *team)
{
    for (uint32_t i = 0; team->workers != NULL && i < team->threads; i++) {
        ss_free(team->workers[i].items);
        ss_free(team->workers[i].scratch);
        ss_free(team->workers[i].values);
        ss_free(team->workers[i].join);
        ss_edge_filter_close(&team->workers[i].own_edges);
    }
    ss_free(team->workers);
    ss_free(team->held);
    team->workers = NULL;
    team->held = NULL;
}

void *ss_join_team_buffer(const ss_join_team *team)
{
    return team->workers[0].items;
}

/* ----- items ----- */

static uint64_t fingerprint_at(const ss_join_team *team, const void *items, size_t i)
{
    return team->kind == SS_JOIN_CROSS ? ((const sstore_record *)items)[i].fingerprint : ((const uint64_t *)items)[i];
}

static void *item_at(const ss_join_team *team, void *items, size_t i)
{
    return (uint8_t *)items + i * team->item_bytes;
}

/* The end of the items from `begin` on that have this prefix. */
static size_t run_end(const ss_join_team *team, const void *items, size_t begin, size_t count, uint64_t mask,
                      uint64_t prefix)
{
    while (begin < count && (fingerprint_at(team, items, begin) & mask) == prefix)
        begin++;
    return begin;
}

/* Write the items' fingerprints to `values`, the left ones first. Returns how many these are. */
static size_t split_sides(const ss_join_team *team, const void *items, size_t count, uint64_t *values)
{
    const sstore_record *records = items;
    size_t left = 0, right = count;
    if (team->kind != SS_JOIN_CROSS) {
        memcpy(values, items, count * sizeof *values);
        return count;
    }
    for (size_t i = 0; i < count; i++) {
        if (records[i].id == SS_LEFT)
            values[left++] = records[i].fingerprint;
        else
            values[--right] = records[i].fingerprint;
    }
    return left;
}

/* ----- joining groups ----- */

/* The edges of a small group are no more than its pairs; one that is divided may give the same many times. */
static sstore_status join_spanning(ss_join_worker *worker, uint64_t *values, size_t count, sstore_error *error)
{
    worker->filters_edges = count >= FILTERED_GROUP;
    ss_group_join_known(worker->join, worker->filters_edges ? find_apart : NULL);
    if (worker->filters_edges && !worker->team->shares_edges)
        ss_edge_filter_expect(worker->edges, count);
    return ss_group_spanning(worker->join, values, count, error);
}

/* Join values of which the first `left` are the left ones, where there are sides. */
static sstore_status join_values(ss_join_worker *worker, uint64_t *values, size_t left, size_t count,
                                 sstore_error *error)
{
    switch (worker->team->kind) {
    case SS_JOIN_SELF: return ss_group_self(worker->join, values, count, error);
    case SS_JOIN_SPANNING: return join_spanning(worker, values, count, error);
    default: return ss_group_cross(worker->join, values, left, values + left, count - left, error);
    }
}

/* Join each of some whole groups. */
static sstore_status join_groups(ss_join_worker *worker, void *items, size_t count, sstore_error *error)
{
    const ss_join_team *team = worker->team;
    const uint64_t mask = ss_high_mask(worker->block->prefix_bits);
    sstore_status status = SSTORE_OK;
    for (size_t begin = 0, end; status == SSTORE_OK && begin < count; begin = end) {
        const uint64_t prefix = fingerprint_at(team, items, begin) & mask;
        end = run_end(team, items, begin + 1, count, mask, prefix);
        if (end - begin == 1)
            continue;
        uint64_t *values = team->kind == SS_JOIN_CROSS ? worker->values : item_at(team, items, begin);
        size_t left = end - begin;
        if (team->kind == SS_JOIN_CROSS)
            left = split_sides(team, item_at(team, items, begin), end - begin, values);
        status = join_values(worker, values, left, end - begin, error);
    }
    return status;
}

/* ----- pieces in their order ----- */

/* The group that the last piece so far ends with. */
typedef struct open_group {
    uint64_t prefix;
    uint64_t first, varying; /* an item, and the bits in which others differ from it */
    size_t first_piece;
    uint64_t count;
    bool too_large; /* its items are not held */
} open_group;

typedef struct piece_run {
    ss_join_team *team;
    const ss_join_block *block;
    ss_sorter *sorter;
    uint32_t *piece_sizes;
    ss_sequencer turnstile; /* guards those below */
    open_group open;
    ss_large_groups large;
} piece_run;

/* The open group goes on with these items. */
static void hold(piece_run *self, const void *items, size_t count)
{
    const ss_join_team *team = self->team;
    open_group *open = &self->open;
    if (open->count == 0 && count > 0)
        open->first = fingerprint_at(team, items, 0);
    for (size_t i = 0; i < count; i++)
        open->varying |= fingerprint_at(team, items, i) ^ open->first;
    open->too_large |= open->count + count > team->group_capacity;
    if (!open->too_large)
        memcpy(item_at(team, team->held, (size_t)open->count), items, count * team->item_bytes);
    open->count += count;
}

/* The open group ends before `end_piece`: its values, of which the left ones come first, go to the worker, or into the
 * list of large groups. */
static sstore_status close_group(piece_run *self, size_t end_piece, uint64_t *values, size_t *left_out,
                                 size_t *count_out, sstore_error *error)
{
    *count_out = 0;
    if (!self->open.too_large) {
        *count_out = (size_t)self->open.count;
        *left_out = split_sides(self->team, self->team->held, *count_out, values);
        return SSTORE_OK;
    }
    ss_large_groups *large = &self->large;
    ss_large_group *groups = ss_grow(large->groups, large->count, &large->capacity, 4, sizeof *groups);
    if (groups == NULL)
        return ss_fail_memory(error, 2 * large->capacity * sizeof *groups);
    large->groups = groups;
    groups[large->count++] = (ss_large_group){.prefix = self->open.prefix,
                                              .varying = self->open.varying,
                                              .count = self->open.count,
                                              .first_piece = self->open.first_piece,
                                              .end_piece = end_piece};
    return SSTORE_OK;
}

/* What a piece has for its thread to do. */
typedef struct piece_work {
    size_t held_left, held_count; /* in the worker's values: the group that ended in this piece */
    size_t begin, end;            /* of the items: whole groups */
} piece_work;

/* Take over from the piece before, and leave the last group to the next one. */
static sstore_status take_turn(piece_run *self, size_t piece, void *items, size_t count, uint64_t *values,
                               piece_work *work, sstore_error *error)
{
    const ss_join_team *team = self->team;
    const uint64_t mask = ss_high_mask(self->block->prefix_bits);
    *work = (piece_work){.held_count = 0};
    const bool any_open = self->open.count > 0;
    const size_t head = any_open ? run_end(team, items, 0, count, mask, self->open.prefix) : 0;
    hold(self, items, head);
    if (head == count)
        return SSTORE_OK;
    sstore_status status = SSTORE_OK;
    if (any_open)
        status = close_group(self, head > 0 ? piece + 1 : piece, values, &work->held_left, &work->held_count, error);
    const uint64_t prefix = fingerprint_at(team, items, count - 1) & mask;
    size_t tail = count - 1;
    while (tail > head && (fingerprint_at(team, items, tail - 1) & mask) == prefix)
        tail--;
    self->open = (open_group){.prefix = prefix, .first_piece = piece};
    hold(self, item_at(team, items, tail), count - tail);
    work->begin = head;
    work->end = tail;
    return status;
}

static sstore_status join_piece(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    piece_run *self = context;
    ss_join_worker *worker = &self->team->workers[index];
    const size_t piece = (size_t)task;
    size_t count = 0;
    piece_work work = {.held_count = 0};
    sstore_status status = ss_sorter_load(self->sorter, piece, worker->items, worker->scratch, &count, error);
    if (status == SSTORE_OK) {
        self->piece_sizes[piece] = (uint32_t)count;
        if (!ss_sequencer_enter(&self->turnstile, piece))
            return SSTORE_OK; /* whoever failed reports it */
        status = take_turn(self, piece, worker->items, count, worker->values, &work, error);
    }
    if (status != SSTORE_OK) {
        ss_sequencer_break(&self->turnstile);
        return status;
    }
    ss_sequencer_leave(&self->turnstile);
    status = join_values(worker, worker->values, work.held_left, work.held_count, error);
    if (status == SSTORE_OK)
        status = join_groups(worker, item_at(self->team, worker->items, work.begin), work.end - work.begin, error);
    /* The next piece waits for this one if it comes here, so a failure needs to break nothing. */
    return status == SSTORE_OK ? ss_progress_add(self->team->options->progress, index, count) : status;
}

/* ----- groups too large to be held ----- */

typedef struct chunk_run {
    piece_run *pieces;
    const ss_large_group *group;
    size_t *begins; /* the first piece of each chunk, and the end of the last */
    size_t chunk_count;
} chunk_run;

/* Read a chunk of the group to `values`. */
static sstore_status load_chunk(const chunk_run *self, ss_join_worker *worker, size_t chunk, uint64_t *values,
                                size_t *left_out, size_t *count_out, sstore_error *error)
{
    const ss_join_team *team = self->pieces->team;
    const uint64_t mask = ss_high_mask(self->pieces->block->prefix_bits);
    uint64_t *lefts = values, *rights = values + team->group_capacity / 2;
    size_t right = 0;
    sstore_status status = SSTORE_OK;
    for (size_t piece = self->begins[chunk]; status == SSTORE_OK && piece < self->begins[chunk + 1]; piece++) {
        size_t count = 0, begin = 0;
        status = ss_sorter_load(self->pieces->sorter, piece, worker->items, worker->scratch, &count, error);
        while (begin < count && (fingerprint_at(team, worker->items, begin) & mask) != self->group->prefix)
            begin++;
        const size_t end = run_end(team, worker->items, begin, count, mask, self->group->prefix);
        for (size_t i = begin; status == SSTORE_OK && i < end; i++) {
            if (team->kind == SS_JOIN_CROSS && ((const sstore_record *)worker->items)[i].id == SS_RIGHT)
                rights[-(ptrdiff_t)++right] = fingerprint_at(team, worker->items, i);
            else
                *lefts++ = fingerprint_at(team, worker->items, i);
        }
    }
    *left_out = (size_t)(lefts - values);
    *count_out = *left_out + right;
    memmove(lefts, rights - right, right * sizeof *lefts);
    return status;
}

/* Join two chunks, or one within itself. */
static sstore_status join_chunks(ss_join_worker *worker, bool same, uint64_t *second, size_t left, size_t count,
                                 sstore_error *error)
{
    uint64_t *first = worker->values;
    const size_t first_left = worker->kept_left, first_count = worker->kept_count;
    if (same)
        return join_values(worker, first, first_left, first_count, error);
    if (worker->team->kind == SS_JOIN_SPANNING) {
        worker->kept_chunk = SIZE_MAX; /* the two are mixed after that */
        return join_spanning(worker, first, first_count + count, error);
    }
    sstore_status status = SSTORE_OK;
    if (worker->team->kind == SS_JOIN_SELF)
        return ss_group_cross(worker->join, first, first_count, second, count, error);
    status = ss_group_cross(worker->join, first, first_left, second + left, count - left, error);
    if (status == SSTORE_OK)
        status = ss_group_cross(worker->join, second, left, first + first_left, first_count - first_left, error);
    return status;
}

/* The first and the second chunk of task `task`: (0, 0), (0, 1), ..., (1, 1), (1, 2), ... */
static void chunks_of_task(uint64_t task, size_t chunk_count, size_t *first_out, size_t *second_out)
{
    size_t first = 0;
    for (; task >= chunk_count - first; first++)
        task -= chunk_count - first;
    *first_out = first;
    *second_out = first + (size_t)task;
}

static sstore_status join_chunk_pair(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    const chunk_run *self = context;
    ss_join_worker *worker = &self->pieces->team->workers[index];
    size_t first, second, left = 0, count = 0;
    sstore_status status = ss_progress_add(self->pieces->team->options->progress, index, 0);
    chunks_of_task(task, self->chunk_count, &first, &second);
    /* Edges within a chunk are among those of it and another one. */
    if (worker->team->kind == SS_JOIN_SPANNING && first == second && self->chunk_count > 1)
        return status;
    if (status == SSTORE_OK && worker->kept_chunk != first) {
        status = load_chunk(self, worker, first, worker->values, &worker->kept_left, &worker->kept_count, error);
        worker->kept_chunk = first;
    }
    uint64_t *behind = worker->values + worker->kept_count;
    if (status == SSTORE_OK && second != first)
        status = load_chunk(self, worker, second, behind, &left, &count, error);
    return status == SSTORE_OK ? join_chunks(worker, first == second, behind, left, count, error) : status;
}

/* Cut the group's pieces into chunks of at most half a worker's room. */
static void cut_chunks(chunk_run *self)
{
    const size_t room = self->pieces->team->group_capacity / 2;
    size_t size = 0;
    self->begins[0] = self->group->first_piece;
    for (size_t piece = self->group->first_piece; piece < self->group->end_piece; piece++) {
        const size_t more = self->pieces->piece_sizes[piece];
        if (size > 0 && size + more > room) {
            self->begins[++self->chunk_count] = piece;
            size = 0;
        }
        size += more;
    }
    self->begins[++self->chunk_count] = self->group->end_piece;
}

static sstore_status join_each_chunk_pair(chunk_run *self, sstore_error *error)
{
    ss_join_team *team = self->pieces->team;
    for (uint32_t i = 0; i < team->threads; i++)
        team->workers[i].kept_chunk = SIZE_MAX;
    const uint64_t tasks = (uint64_t)self->chunk_count * (self->chunk_count + 1) / 2;
    return ss_pool_run(team->threads, tasks, join_chunk_pair, self, error);
}

/* ----- large groups most of which are connected at once ----- */

/* A value that many others are likely to be near: of some values the one nearest to what most of a sample have. */
static uint64_t choose_centre(const uint64_t *values, size_t count)
{
    const size_t size = (size_t)ss_min_u64(count, CENTRE_SAMPLE), step = count / size;
    uint64_t common = 0, centre = values[0];
    for (uint32_t shift = 0; shift < SS_FINGERPRINT_BITS; shift++) {
        size_t ones = 0;
        for (size_t i = 0; i < size; i++)
            ones += values[i * step] >> shift & 1;
        common |= (uint64_t)(2 * ones > size) << shift;
    }
    for (size_t i = 1; i < count; i++)
        if (sstore_hamming_distance(values[i], common) < sstore_hamming_distance(centre, common))
            centre = values[i];
    return centre;
}

/* Leave out values that are known to be connected with the centre. Returns how many are left, in the same order. */
static size_t leave_out_known(ss_join_worker *worker, uint64_t centre, uint64_t *values, size_t count)
{
    uint32_t roots[LOOKED_UP_AT_ONCE], main_root;
    size_t left = 0;
    if (!worker->team->shares_edges)
        return count;
    for (size_t done = 0; done < count;) {
        const size_t size = (size_t)ss_min_u64(count - done, LOOKED_UP_AT_ONCE);
        look_up_roots(worker, &centre, 1, &main_root);
        look_up_roots(worker, values + done, size, roots);
        for (size_t i = 0; i < size; i++, done++) {
            values[left] = values[done];
            left += roots[i] != main_root || main_root == SS_EDGE_FILTER_UNKNOWN;
        }
    }
    return left;
}

/* Connect the values of a large group that are near one of them, the centre, or known to be connected with it. The others go to
 * team->held, ascending, and *apart_out is how many they are. It gives up when they are more than half of what fits there. */
static sstore_status connect_with_centre(const chunk_run *self, size_t *apart_out, sstore_error *error)
{
    ss_join_team *team = self->pieces->team;
    ss_join_worker *worker = &team->workers[0];
    uint64_t *held = team->held, centre = 0;
    size_t apart = 0, left, count;
    sstore_status status = load_chunk(self, worker, self->chunk_count / 2, worker->values, &left, &count, error);
    if (status == SSTORE_OK)
        centre = choose_centre(worker->values, count);
    worker->filters_edges = team->shares_edges;
    for (size_t i = 0; status == SSTORE_OK && i < self->chunk_count && apart <= team->group_capacity / 2; i++) {
        status = load_chunk(self, worker, i, worker->values, &left, &count, error);
        if (status == SSTORE_OK)
            status = ss_progress_add(team->options->progress, worker->index, 0);
        if (status != SSTORE_OK)
            break;
        count = leave_out_known(worker, centre, worker->values, count);
        status = ss_group_connect(worker->join, centre, worker->values, count, &count, error);
        if (apart + count <= team->group_capacity)
            memcpy(held + apart, worker->values, count * sizeof *held);
        apart += count;
    }
    *apart_out = apart;
    return status;
}

/* A chunk and the values that are apart. */
typedef struct apart_run {
    const chunk_run *chunks;
    size_t apart;
} apart_run;

static sstore_status join_with_apart(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    const apart_run *self = context;
    const ss_join_team *team = self->chunks->pieces->team;
    ss_join_worker *worker = &team->workers[index];
    uint64_t *values = worker->values, *chunk = values + self->apart;
    size_t left, count = 0, kept = 0;
    sstore_status status = ss_progress_add(team->options->progress, index, 0);
    if (status == SSTORE_OK)
        status = load_chunk(self->chunks, worker, (size_t)task, chunk, &left, &count, error);
    if (status != SSTORE_OK)
        return status;
    memcpy(values, team->held, self->apart * sizeof *values);
    for (size_t i = 0, at = 0; i < count; i++) { /* but for those that are apart: both ascend */
        while (at < self->apart && values[at] < chunk[i])
            at++;
        if (at == self->apart || values[at] != chunk[i])
            chunk[kept++] = chunk[i];
    }
    return join_spanning(worker, values, self->apart + kept, error);
}

/* Connect a group if most of it is near one value, or known to be connected with it: then *done_out is true. The few others are
 * joined with one chunk of the group after the other, which takes time in proportion to the group. */
static sstore_status connect_large_group(chunk_run *self, bool *done_out, sstore_error *error)
{
    ss_join_team *team = self->pieces->team;
    apart_run run = {.chunks = self};
    *done_out = false;
    sstore_status status = connect_with_centre(self, &run.apart, error);
    if (status != SSTORE_OK || run.apart > team->group_capacity / 2)
        return status;
    *done_out = true;
    return run.apart > 0 ? ss_pool_run(team->threads, self->chunk_count, join_with_apart, &run, error) : SSTORE_OK;
}

/* ----- which way a large group is joined ----- */

/* Whether none of a group's pairs counts, since none differs under some mask. */
static bool is_excepted(const ss_join_block *block, const ss_large_group *group)
{
    for (uint32_t i = 0; i < block->except_count; i++)
        if ((group->varying & block->except[i]) == 0)
            return true;
    return false;
}

/* Join a group in the way that costs least. *left_out is true if it was not joined, since it is better divided; only if it is
 * `divisible`. */
static sstore_status join_large_group(piece_run *pieces, const ss_large_group *group, bool divisible, bool *left_out,
                                      sstore_error *error)
{
    const size_t max_chunks = group->end_piece - group->first_piece + 1;
    chunk_run self = {.pieces = pieces, .group = group, .begins = ss_alloc(max_chunks, sizeof *self.begins)};
    bool done = false;
    sstore_status status = SSTORE_OK;
    *left_out = false;
    if (self.begins == NULL)
        return ss_fail_memory(error, max_chunks * sizeof *self.begins);
    cut_chunks(&self);
    if (pieces->team->kind == SS_JOIN_SPANNING)
        status = connect_large_group(&self, &done, error);
    *left_out = !done && divisible;
    if (status == SSTORE_OK && !done && !divisible)
        status = join_each_chunk_pair(&self, error);
    ss_free(self.begins);
    return status;
}

/* Leave to the caller what is better divided further, and join what is left. */
static sstore_status join_large_groups(piece_run *self, ss_large_groups *large_out, sstore_error *error)
{
    const uint32_t parts = self->team->options->distance + 1;
    ss_large_groups *large = &self->large;
    size_t left = 0;
    sstore_status status = SSTORE_OK;
    for (size_t i = 0; status == SSTORE_OK && i < large->count; i++) {
        const ss_large_group group = large->groups[i];
        if (is_excepted(self->block, &group))
            continue;
        const bool divisible = large_out != NULL && ss_popcount(group.varying) >= MIN_PART_BITS * parts;
        bool is_left;
        status = join_large_group(self, &group, divisible, &is_left, error);
        if (is_left)
            large->groups[left++] = group;
    }
    large->count = left;
    if (large_out != NULL) {
        *large_out = *large;
        *large = (ss_large_groups){.groups = NULL};
    }
    return status;
}

/* ----- all of it ----- */

/* The group that the last piece ended with, and those that were left for later. */
static sstore_status join_suffix(piece_run *self, size_t piece_count, ss_large_groups *large_out, sstore_error *error)
{
    ss_join_worker *worker = &self->team->workers[0];
    size_t left = 0, count = 0;
    sstore_status status = close_group(self, piece_count, worker->values, &left, &count, error);
    if (status == SSTORE_OK)
        status = join_values(worker, worker->values, left, count, error);
    if (status == SSTORE_OK)
        status = join_large_groups(self, large_out, error);
    for (uint32_t i = 0; status == SSTORE_OK && i < self->team->threads; i++)
        status = ss_group_flush(self->team->workers[i].join, error);
    return status;
}

sstore_status ss_join_pieces(ss_join_team *team, const ss_join_block *block, ss_sorter *sorter,
                             ss_large_groups *large_out, sstore_error *error)
{
    const size_t piece_count = ss_sorter_piece_count(sorter);
    piece_run self = {.team = team, .block = block, .sorter = sorter};
    self.piece_sizes = ss_alloc(piece_count, sizeof *self.piece_sizes);
    if (self.piece_sizes == NULL)
        return ss_fail_memory(error, piece_count * sizeof *self.piece_sizes);
    for (uint32_t i = 0; i < team->threads; i++) {
        team->workers[i].block = block;
        ss_group_join_except(team->workers[i].join, block->except, block->except_count);
    }
    ss_sequencer_init(&self.turnstile);
    sstore_status status = ss_pool_run(team->threads, piece_count, join_piece, &self, error);
    ss_sequencer_destroy(&self.turnstile);
    if (status == SSTORE_OK)
        status = join_suffix(&self, piece_count, large_out, error);
    ss_free(self.large.groups);
    ss_free(self.piece_sizes);
    return status;
}
