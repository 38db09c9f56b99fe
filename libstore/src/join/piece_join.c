#include "join/piece_join.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "join/edge_filter.h"

#define FILTERED_GROUP 512u /* values from which on edges are filtered */
#define LOOKUP_BATCH 128u
#define CENTRE_SAMPLE 128u /* values to find the bits that most values have */
#define MIN_PART_BITS 2u   /* that make it worth dividing a group by a part */

/* A group's values, or a chunk of them. The left ones come first; without sides all are left. */
typedef struct sided_values {
    uint64_t *values;
    size_t left, count;
} sided_values;

struct ss_join_worker {
    const ss_join_team *team;
    const ss_join_bit_group *bit_group; /* the current one */
    uint32_t index;
    void *items;                               /* a piece */
    void *scratch;                             /* of sorting a piece, or a group's values */
    uint64_t *values;                          /* a group, or two chunks of one */
    sided_values group;                        /* that `values` begins with: a group from several pieces, or a chunk */
    size_t chunk_number;                       /* of a chunk */
    size_t begin, end;                         /* of the items in the piece: complete groups */
    ss_edge_filter own_edges;                  /* of SS_JOIN_SPANNING, unless they are shared */
    ss_edge_filter *edges;                     /* its own, or the first worker's if they are shared */
    bool filters_edges;                        /* in the current group */
    ss_fingerprint_pair pairs[SS_GROUP_PAIRS]; /* as they were before the permutation */
    ss_group_join join;
};

/* ----- edges and pairs ----- */

/* Deliver pairs, the lower value first if there are no sides. */
static sstore_status deliver(void *context, const ss_fingerprint_pair *pairs, size_t count, sstore_error *error)
{
    ss_join_worker *worker = context;
    const ss_join_options *options = worker->team->options;
    const ss_permutation *permutation = &worker->bit_group->permutation;
    size_t passed = 0;
    const sstore_status status = ss_progress_add(options->progress, worker->index, 0);
    if (status != SSTORE_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        const uint64_t first = ss_unpermute(permutation, pairs[i].first);
        const uint64_t second = ss_unpermute(permutation, pairs[i].second);
        const bool swap = worker->team->kind != SS_JOIN_CROSS && second < first;
        worker->pairs[passed] = swap ? (ss_fingerprint_pair){second, first} : (ss_fingerprint_pair){first, second};
        passed += !worker->filters_edges || ss_edge_filter_pass(worker->edges, first, second);
    }
    return passed > 0 ? options->on_pairs(options->context, worker->index, worker->pairs, passed, error) : SSTORE_OK;
}

static void look_up_roots(const ss_join_worker *worker, const uint64_t *values, size_t count, uint32_t *roots)
{
    uint64_t nodes[LOOKUP_BATCH];
    for (size_t i = 0; i < count; i++)
        nodes[i] = ss_unpermute(&worker->bit_group->permutation, values[i]);
    ss_edge_filter_roots(worker->edges, nodes, count, roots);
}

/* As ss_group_apart_fn describes it, by the edges that any thread has delivered or is about to. */
static size_t find_apart(void *context, const uint64_t *values, size_t count, uint32_t *apart, size_t max)
{
    const ss_join_worker *worker = context;
    uint32_t roots[LOOKUP_BATCH], main_root = SS_EDGE_FILTER_UNKNOWN;
    size_t found = 0;
    for (size_t done = 0; done < count && found <= max; done += LOOKUP_BATCH) {
        const size_t size = (size_t)ss_min_u64(count - done, LOOKUP_BATCH);
        look_up_roots(worker, values + done, size, roots);
        if (done == 0)
            main_root = ss_edge_filter_majority(roots, size);
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

/* ----- team ----- */

static bool open_worker(const ss_join_team *team, uint32_t index, ss_join_worker *worker)
{
    const size_t item_bytes = team->piece_capacity * team->item_bytes;
    const size_t value_bytes = team->group_capacity * sizeof(uint64_t); /* also enough to sort a piece */
    worker->team = team;
    worker->index = index;
    worker->items = ss_alloc_large(item_bytes);
    worker->scratch = ss_alloc_large(value_bytes);
    worker->values = ss_alloc_large(value_bytes);
    if (worker->items == NULL || worker->scratch == NULL || worker->values == NULL)
        return false;
    ss_group_join_init(&worker->join, team->options->distance, worker->scratch, deliver, worker);
    if (team->kind != SS_JOIN_SPANNING)
        return true;
    worker->edges = team->shares_edges ? &team->workers[0].own_edges : &worker->own_edges;
    return worker->edges != &worker->own_edges ||
           ss_edge_filter_open(&worker->own_edges, team->edge_capacity, NULL) == SSTORE_OK;
}

sstore_status ss_join_team_open(ss_join_team *team, sstore_error *error)
{
    assert(team->group_capacity >= 2 * team->piece_capacity);
    team->carried = ss_alloc_large(team->group_capacity * team->item_bytes);
    team->workers = ss_alloc(team->threads, sizeof *team->workers);
    bool opened = team->carried != NULL && team->workers != NULL;
    for (uint32_t i = 0; opened && i < team->threads; i++)
        opened = open_worker(team, i, &team->workers[i]);
    return opened ? SSTORE_OK : ss_fail_memory(error, team->bytes);
}

void ss_join_team_close(ss_join_team *team)
{
    for (uint32_t i = 0; team->workers != NULL && i < team->threads; i++) {
        ss_free(team->workers[i].items);
        ss_free(team->workers[i].scratch);
        ss_free(team->workers[i].values);
        ss_edge_filter_close(&team->workers[i].own_edges);
    }
    ss_free(team->workers);
    ss_free(team->carried);
    team->workers = NULL;
    team->carried = NULL;
}

/* ----- items ----- */

static uint64_t fingerprint_at(const ss_join_team *team, const void *items, size_t i)
{
    return team->kind == SS_JOIN_CROSS ? ((const ss_record *)items)[i].fingerprint : ((const uint64_t *)items)[i];
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

/* Write the items' fingerprints to `values`. */
static sided_values split_sides(const ss_join_team *team, const void *items, size_t count, uint64_t *values)
{
    const ss_record *records = items;
    size_t left = 0, right = count;
    if (team->kind != SS_JOIN_CROSS) {
        memcpy(values, items, count * sizeof *values);
        return (sided_values){values, count, count};
    }
    for (size_t i = 0; i < count; i++) {
        if (records[i].id == SS_LEFT)
            values[left++] = records[i].fingerprint;
        else
            values[--right] = records[i].fingerprint;
    }
    return (sided_values){values, left, count};
}

/* ----- joining groups ----- */

static sstore_status join_values(ss_join_worker *worker, sided_values group, sstore_error *error)
{
    /* A small group has no more edges than pairs; a group that is divided may give the same edge many times. */
    worker->filters_edges = worker->team->kind == SS_JOIN_SPANNING && group.count >= FILTERED_GROUP;
    worker->join.find_apart = worker->filters_edges ? find_apart : NULL;
    if (worker->filters_edges && !worker->team->shares_edges)
        ss_edge_filter_expect(worker->edges, group.count);
    return ss_group_join_run(&worker->join, worker->team->kind, group.values, group.left, group.values + group.left,
                             group.count - group.left, error);
}

/* Join each group that is complete in the piece. */
static sstore_status join_groups(ss_join_worker *worker, sstore_error *error)
{
    const ss_join_team *team = worker->team;
    const uint64_t mask = ss_high_mask(worker->bit_group->prefix_bits);
    sstore_status status = SSTORE_OK;
    for (size_t begin = worker->begin, end; status == SSTORE_OK && begin < worker->end; begin = end) {
        const uint64_t prefix = fingerprint_at(team, worker->items, begin) & mask;
        end = run_end(team, worker->items, begin + 1, worker->end, mask, prefix);
        sided_values group = {item_at(team, worker->items, begin), end - begin, end - begin};
        if (group.count > 1 && team->kind == SS_JOIN_CROSS)
            group = split_sides(team, group.values, group.count, worker->values);
        if (group.count > 1)
            status = join_values(worker, group, error);
    }
    return status;
}

/* ----- pieces in their order ----- */

typedef struct piece_run {
    ss_join_team *team;
    const ss_join_bit_group *bit_group;
    ss_sorter *sorter;
    uint32_t *piece_sizes;
    ss_sequencer sequencer; /* guards the fields below, and team->carried */
    ss_item_group open;     /* the group that the last piece so far ends with */
    ss_large_groups *large;
} piece_run;

/* Add items to the open group. */
static void carry(piece_run *self, const void *items, size_t count)
{
    const ss_join_team *team = self->team;
    ss_item_group *open = &self->open;
    if (open->count == 0 && count > 0)
        open->first = fingerprint_at(team, items, 0);
    for (size_t i = 0; i < count; i++)
        open->varying |= fingerprint_at(team, items, i) ^ open->first;
    if (open->count + count <= team->group_capacity)
        memcpy(item_at(team, team->carried, (size_t)open->count), items, count * team->item_bytes);
    open->count += count;
}

/* The open group ends before `end_piece`: it goes to the worker, or to the large groups. */
static sstore_status close_group(piece_run *self, ss_join_worker *worker, size_t end_piece, sstore_error *error)
{
    ss_large_groups *large = self->large;
    if (self->open.count <= self->team->group_capacity) {
        worker->group = split_sides(self->team, self->team->carried, (size_t)self->open.count, worker->values);
        return SSTORE_OK;
    }
    worker->group = (sided_values){worker->values, 0, 0};
    ss_item_group *groups = ss_grow(large->groups, large->count, &large->capacity, 4, sizeof *groups);
    if (groups == NULL)
        return ss_fail_memory(error, 2 * large->capacity * sizeof *groups);
    large->groups = groups;
    self->open.end_piece = end_piece;
    groups[large->count++] = self->open;
    return SSTORE_OK;
}

/* Take over from the piece before, and carry the last group into the next one. The worker gets the group that ends in
 * this piece, and the groups that are complete in it. */
static sstore_status take_turn(piece_run *self, ss_join_worker *worker, size_t piece, size_t count, sstore_error *error)
{
    const ss_join_team *team = self->team;
    void *items = worker->items;
    const uint64_t mask = ss_high_mask(self->bit_group->prefix_bits);
    const bool any_open = self->open.count > 0;
    const size_t head = any_open ? run_end(team, items, 0, count, mask, self->open.prefix) : 0;
    sstore_status status = SSTORE_OK;
    worker->group = (sided_values){worker->values, 0, 0};
    worker->begin = worker->end = head;
    carry(self, items, head);
    if (head == count)
        return SSTORE_OK;
    if (any_open)
        status = close_group(self, worker, head > 0 ? piece + 1 : piece, error);
    const uint64_t prefix = fingerprint_at(team, items, count - 1) & mask;
    size_t tail = count - 1;
    while (tail > head && (fingerprint_at(team, items, tail - 1) & mask) == prefix)
        tail--;
    self->open = (ss_item_group){.prefix = prefix, .first_piece = piece};
    carry(self, item_at(team, items, tail), count - tail);
    worker->end = tail;
    return status;
}

static sstore_status join_piece(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    piece_run *self = context;
    ss_join_worker *worker = &self->team->workers[index];
    const size_t piece = (size_t)task;
    size_t count = 0;
    sstore_status status = ss_sorter_load(self->sorter, piece, worker->items, worker->scratch, &count, error);
    if (status == SSTORE_OK) {
        self->piece_sizes[piece] = (uint32_t)count;
        if (!ss_sequencer_enter(&self->sequencer, piece))
            return SSTORE_OK; /* the failed task reports it */
        status = take_turn(self, worker, piece, count, error);
    }
    if (status != SSTORE_OK) {
        ss_sequencer_break(&self->sequencer);
        return status;
    }
    ss_sequencer_leave(&self->sequencer);
    status = join_values(worker, worker->group, error);
    if (status == SSTORE_OK)
        status = join_groups(worker, error);
    /* The next piece no longer waits for this one, so a failure need not break the sequencer. */
    return status == SSTORE_OK ? ss_progress_add(self->team->options->progress, index, count) : status;
}

/* ----- large groups ----- */

/* A large group, and its chunks: pieces that together have at most group_capacity / 2 items. */
typedef struct chunk_run {
    const piece_run *pieces;
    ss_join_team *team;
    const ss_item_group *group;
    size_t *begins; /* the first piece of each chunk, and the end of the last */
    size_t chunk_count;
    size_t apart; /* values in team->carried: see connect_with_centre() */
} chunk_run;

/* Cut the group's pieces into chunks. */
static sstore_status cut_chunks(chunk_run *self, sstore_error *error)
{
    const ss_item_group *group = self->group;
    const size_t max_chunks = group->end_piece - group->first_piece + 1;
    size_t size = 0;
    self->begins = ss_alloc(max_chunks, sizeof *self->begins);
    if (self->begins == NULL)
        return ss_fail_memory(error, max_chunks * sizeof *self->begins);
    self->begins[0] = group->first_piece;
    for (size_t piece = group->first_piece; piece < group->end_piece; piece++) {
        const size_t more = self->pieces->piece_sizes[piece];
        if (size > 0 && size + more > self->team->group_capacity / 2) {
            self->begins[++self->chunk_count] = piece;
            size = 0;
        }
        size += more;
    }
    self->begins[++self->chunk_count] = group->end_piece;
    return SSTORE_OK;
}

/* Read a chunk of the group to `values`. */
static sstore_status load_chunk(const chunk_run *self, ss_join_worker *worker, size_t number, uint64_t *values,
                                sided_values *chunk_out, sstore_error *error)
{
    const ss_join_team *team = self->team;
    const uint64_t mask = ss_high_mask(worker->bit_group->prefix_bits), prefix = self->group->prefix;
    uint64_t *lefts = values, *rights = values + team->group_capacity / 2;
    size_t right = 0;
    sstore_status status = SSTORE_OK;
    for (size_t piece = self->begins[number]; status == SSTORE_OK && piece < self->begins[number + 1]; piece++) {
        size_t count = 0, begin = 0;
        status = ss_sorter_load(self->pieces->sorter, piece, worker->items, worker->scratch, &count, error);
        while (begin < count && (fingerprint_at(team, worker->items, begin) & mask) != prefix)
            begin++;
        const size_t end = run_end(team, worker->items, begin, count, mask, prefix);
        for (size_t i = begin; status == SSTORE_OK && i < end; i++) {
            if (team->kind == SS_JOIN_CROSS && ((const ss_record *)worker->items)[i].id == SS_RIGHT)
                rights[-(ptrdiff_t)++right] = fingerprint_at(team, worker->items, i);
            else
                *lefts++ = fingerprint_at(team, worker->items, i);
        }
    }
    const size_t left = (size_t)(lefts - values);
    *chunk_out = (sided_values){values, left, left + right};
    memmove(lefts, rights - right, right * sizeof *lefts);
    return status;
}

/* ----- large groups: chunk against chunk ----- */

/* Join two different chunks. */
static sstore_status join_chunks(ss_join_worker *worker, sided_values first, sided_values second, sstore_error *error)
{
    ss_group_join *join = &worker->join;
    if (worker->team->kind == SS_JOIN_SPANNING) {
        const size_t count = first.count + second.count;
        worker->chunk_number = SIZE_MAX; /* the two are mixed after this */
        return join_values(worker, (sided_values){first.values, count, count}, error);
    }
    if (worker->team->kind == SS_JOIN_SELF)
        return ss_group_join_run(join, SS_JOIN_CROSS, first.values, first.count, second.values, second.count, error);
    const sstore_status status = ss_group_join_run(join, SS_JOIN_CROSS, first.values, first.left,
                                                   second.values + second.left, second.count - second.left, error);
    return status != SSTORE_OK ? status
                               : ss_group_join_run(join, SS_JOIN_CROSS, second.values, second.left,
                                                   first.values + first.left, first.count - first.left, error);
}

/* Join two chunks, or one within itself. Task by task: (0, 0), (0, 1), ..., (1, 1), (1, 2), ... */
static sstore_status join_chunk_pair(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    const chunk_run *self = context;
    ss_join_worker *worker = &self->team->workers[index];
    sided_values other;
    size_t first = 0;
    sstore_status status = ss_progress_add(self->team->options->progress, index, 0);
    for (; task >= self->chunk_count - first; first++)
        task -= self->chunk_count - first;
    /* Edges within a chunk are among those of the chunk and another one. */
    if (status != SSTORE_OK || (self->team->kind == SS_JOIN_SPANNING && task == 0 && self->chunk_count > 1))
        return status;
    if (worker->chunk_number != first)
        status = load_chunk(self, worker, first, worker->values, &worker->group, error);
    worker->chunk_number = first;
    if (status != SSTORE_OK)
        return status;
    if (task == 0)
        return join_values(worker, worker->group, error);
    status = load_chunk(self, worker, first + (size_t)task, worker->values + worker->group.count, &other, error);
    return status == SSTORE_OK ? join_chunks(worker, worker->group, other, error) : status;
}

/* ----- large groups: most values connected with one ----- */

/* A value that is probably near many others: among some values the one nearest to the bits that most of a sample
 * have. */
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
        if (ss_popcount(values[i] ^ common) < ss_popcount(centre ^ common))
            centre = values[i];
    return centre;
}

/* Leave out values that are known to be connected with the centre. Returns how many are left, in the same order. */
static size_t leave_out_known(const ss_join_worker *worker, uint64_t centre, uint64_t *values, size_t count)
{
    uint32_t roots[LOOKUP_BATCH], main_root;
    size_t left = 0;
    if (!worker->team->shares_edges)
        return count;
    for (size_t done = 0; done < count;) {
        const size_t size = (size_t)ss_min_u64(count - done, LOOKUP_BATCH);
        look_up_roots(worker, &centre, 1, &main_root);
        look_up_roots(worker, values + done, size, roots);
        for (size_t i = 0; i < size; i++, done++) {
            values[left] = values[done];
            left += roots[i] != main_root || main_root == SS_EDGE_FILTER_UNKNOWN;
        }
    }
    return left;
}

/* Connect the values of the group that are near one of them, the centre, or known to be connected with it. The others
 * go to team->carried, ascending, and self->apart is their number. Gives up if they exceed half of its capacity. */
static sstore_status connect_with_centre(chunk_run *self, sstore_error *error)
{
    ss_join_team *team = self->team;
    ss_join_worker *worker = &team->workers[0];
    uint64_t *carried = team->carried, centre = 0;
    sided_values chunk;
    sstore_status status = load_chunk(self, worker, self->chunk_count / 2, worker->values, &chunk, error);
    if (status == SSTORE_OK)
        centre = choose_centre(chunk.values, chunk.count);
    worker->filters_edges = team->shares_edges;
    for (size_t i = 0; status == SSTORE_OK && i < self->chunk_count && self->apart <= team->group_capacity / 2; i++) {
        status = load_chunk(self, worker, i, worker->values, &chunk, error);
        if (status == SSTORE_OK)
            status = ss_progress_add(team->options->progress, worker->index, 0);
        if (status != SSTORE_OK)
            break;
        size_t count = leave_out_known(worker, centre, chunk.values, chunk.count);
        status = ss_group_connect(&worker->join, centre, chunk.values, count, &count, error);
        if (self->apart + count <= team->group_capacity)
            memcpy(carried + self->apart, chunk.values, count * sizeof *carried);
        self->apart += count;
    }
    return status;
}

/* Join a chunk with the values that are apart. */
static sstore_status join_with_apart(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    const chunk_run *self = context;
    ss_join_worker *worker = &self->team->workers[index];
    uint64_t *values = worker->values;
    sided_values chunk;
    size_t count = self->apart;
    sstore_status status = ss_progress_add(self->team->options->progress, index, 0);
    if (status == SSTORE_OK)
        status = load_chunk(self, worker, (size_t)task, values + self->apart, &chunk, error);
    if (status != SSTORE_OK)
        return status;
    memcpy(values, self->team->carried, self->apart * sizeof *values);
    for (size_t i = 0, at = 0; i < chunk.count; i++) { /* but for those that are apart: both ascend */
        while (at < self->apart && values[at] < chunk.values[i])
            at++;
        if (at == self->apart || values[at] != chunk.values[i])
            values[count++] = chunk.values[i];
    }
    return join_values(worker, (sided_values){values, count, count}, error);
}

/* ----- all groups ----- */

/* Join a large group in the cheapest way. If it is `divisible`, *left_out becomes true if it was not joined because
 * dividing it costs less. */
static sstore_status join_large_group(const piece_run *pieces, const ss_item_group *group, bool divisible,
                                      bool *left_out, sstore_error *error)
{
    ss_join_team *team = pieces->team;
    chunk_run self = {.pieces = pieces, .team = team, .group = group};
    bool connected = false;
    sstore_status status = cut_chunks(&self, error);
    if (status == SSTORE_OK && team->kind == SS_JOIN_SPANNING) {
        status = connect_with_centre(&self, error);
        connected = status == SSTORE_OK && self.apart <= team->group_capacity / 2;
        if (connected && self.apart > 0) /* takes time proportional to the group */
            status = ss_pool_run(team->threads, self.chunk_count, join_with_apart, &self, error);
    }
    *left_out = !connected && divisible;
    if (status == SSTORE_OK && !connected && !divisible) {
        for (uint32_t i = 0; i < team->threads; i++)
            team->workers[i].chunk_number = SIZE_MAX;
        const uint64_t tasks = (uint64_t)self.chunk_count * (self.chunk_count + 1) / 2;
        status = ss_pool_run(team->threads, tasks, join_chunk_pair, &self, error);
    }
    ss_free(self.begins);
    return status;
}

/* Join the large groups, but for those that are better divided further, which stay in the list. */
static sstore_status join_large_groups(piece_run *self, bool divides, sstore_error *error)
{
    const uint32_t min_bits = MIN_PART_BITS * (self->team->options->distance + 1);
    ss_large_groups *large = self->large;
    size_t left = 0;
    sstore_status status = SSTORE_OK;
    for (size_t i = 0; status == SSTORE_OK && i < large->count; i++) {
        const ss_item_group group = large->groups[i];
        bool is_left = false;
        if (ss_group_join_counts(&self->team->workers[0].join, group.varying))
            status = join_large_group(self, &group, divides && ss_popcount(group.varying) >= min_bits, &is_left, error);
        if (is_left)
            large->groups[left++] = group;
    }
    large->count = left;
    return status;
}

sstore_status ss_join_pieces(ss_join_team *team, const ss_join_bit_group *bit_group, ss_sorter *sorter, bool divides,
                             ss_large_groups *large, sstore_error *error)
{
    const size_t piece_count = ss_sorter_piece_count(sorter);
    piece_run self = {.team = team, .bit_group = bit_group, .sorter = sorter, .large = large};
    self.piece_sizes = ss_alloc(piece_count, sizeof *self.piece_sizes);
    if (self.piece_sizes == NULL)
        return ss_fail_memory(error, piece_count * sizeof *self.piece_sizes);
    for (uint32_t i = 0; i < team->threads; i++) {
        team->workers[i].bit_group = bit_group;
        ss_group_join_except(&team->workers[i].join, bit_group->except, bit_group->except_count);
    }
    ss_sequencer_init(&self.sequencer);
    sstore_status status = ss_pool_run(team->threads, piece_count, join_piece, &self, error);
    ss_sequencer_destroy(&self.sequencer);
    if (status == SSTORE_OK)
        status = close_group(&self, &team->workers[0], piece_count, error);
    if (status == SSTORE_OK)
        status = join_values(&team->workers[0], team->workers[0].group, error);
    if (status == SSTORE_OK)
        status = join_large_groups(&self, divides, error);
    for (uint32_t i = 0; status == SSTORE_OK && i < team->threads; i++)
        status = ss_group_flush(&team->workers[i].join, error);
    ss_free(self.piece_sizes);
    return status;
}
