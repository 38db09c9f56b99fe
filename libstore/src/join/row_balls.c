#include "join/row_balls.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"
#include "codec/kernels.h"
#include "codec/rows.h"
#include "join/row_iterator.h"
#include "store/record_iterator.h"

#define TASK_BLOCKS 128u
#define MAX_MEMBERS ((uint64_t)1 << 20)
#define MIN_MEMBERS ((uint64_t)1024)
#define MAX_DISTANCE (SSTORE_MAX_WORDS * SS_WORD_BITS)
#define TESTS_TOGETHER (1u << 20) /* between two questions whether to stop */
#define FIRST_PASS UINT32_MAX
#define SLICE 256u /* fingerprints that are compared with the centre at once */

/* The memory of one thread. */
struct ss_row_balls_worker {
    uint64_t ring[MAX_DISTANCE + 1]; /* fingerprints by their distance from the centre, if it is above k */
    uint64_t tests;
};

sstore_status ss_row_balls_open(ss_row_balls *balls, ss_row_graph *graph, uint64_t bytes, sstore_error *error)
{
    const sstore *store = graph->store;
    const uint64_t member_bytes = (graph->words + 1) * sizeof(uint64_t) + sizeof(uint16_t);
    *balls = (ss_row_balls){.graph = graph};
    for (uint32_t i = 0; i < store->manifest.segment_count; i++)
        balls->row_count += ss_segment_removes(store->segments[i]) ? 0 : store->segments[i]->metadata.distinct_count;
    const uint64_t max = ss_min_u64(ss_max_u64(bytes / member_bytes, MIN_MEMBERS), MAX_MEMBERS);
    balls->capacity = (size_t)ss_min_u64(max, balls->row_count);
    balls->rows = ss_realloc(NULL, balls->capacity, graph->words * sizeof *balls->rows);
    balls->numbers = ss_realloc(NULL, balls->capacity, sizeof *balls->numbers);
    balls->distances = ss_realloc(NULL, balls->capacity, sizeof *balls->distances);
    balls->workers = ss_alloc(graph->call->threads, sizeof *balls->workers);
    const bool opened = balls->rows != NULL && balls->numbers != NULL && balls->distances != NULL &&
                        balls->workers != NULL;
    return opened ? SSTORE_OK : ss_fail_memory(error, balls->capacity * member_bytes);
}

void ss_row_balls_close(ss_row_balls *balls)
{
    ss_free(balls->rows);
    ss_free(balls->numbers);
    ss_free(balls->distances);
    ss_free(balls->workers);
    *balls = (ss_row_balls){.rows = NULL};
}

/* ----- passes ----- */

/* A fingerprint of the current segment. */
typedef struct place {
    uint32_t worker, distance; /* from the centre */
    uint64_t rank;
    const uint64_t *row;
} place;

/* Connect a fingerprint within k with the centre, and let it be a member unless it is done. */
static sstore_status take_near(ss_row_balls *self, const place *at, sstore_error *error)
{
    ss_row_graph *graph = self->graph;
    uint64_t number;
    bool is_there;
    sstore_status status = ss_row_graph_identify(graph, at->worker, self->segment, at->rank, at->row, &number,
                                                 &is_there, error);
    if (status != SSTORE_OK || !is_there)
        return status;
    if (!ss_row_graph_is_done(graph, number)) {
        const size_t index = __atomic_fetch_add(&self->member_count, 1, __ATOMIC_RELAXED);
        if (index < self->capacity) {
            ss_words_copy(self->rows + index * graph->words, at->row, graph->words);
            self->numbers[index] = number;
            self->distances[index] = (uint16_t)at->distance;
        }
    }
    return ss_row_graph_add(graph, at->worker, self->centre_number, number, error);
}

/* Whether a fingerprint of the ring is known to be connected with the centre. Its number takes look-ups, unless it is
 * the rank. */
static bool is_known(const ss_row_balls *self, const place *at)
{
    return ss_only_segment(self->graph->store) != NULL &&
           ss_row_graph_knows(self->graph, self->centre_number, at->rank);
}

/* Compare a fingerprint of the ring with the members until one is near. */
static sstore_status compare_with_members(ss_row_balls *self, const place *at, sstore_error *error)
{
    ss_row_graph *graph = self->graph;
    const uint32_t words = graph->words, distance = graph->call->distance;
    uint64_t *tests = &self->workers[at->worker].tests;
    size_t i = 0;
    while (i < self->member_count && ss_words_distance(self->rows + i * words, at->row, words) > distance)
        i++;
    *tests += i;
    if (*tests >= TESTS_TOGETHER) {
        *tests = 0;
        const sstore_status status = ss_progress_add(&graph->call->progress, at->worker, 0);
        if (status != SSTORE_OK)
            return status;
    }
    if (i == self->member_count)
        return SSTORE_OK;
    uint64_t number;
    bool is_there;
    const sstore_status status = ss_row_graph_identify(graph, at->worker, self->segment, at->rank, at->row, &number,
                                                       &is_there, error);
    return status == SSTORE_OK && is_there ? ss_row_graph_add(graph, at->worker, self->numbers[i], number, error)
                                           : status;
}

/* Take a fingerprint within the distance and the ring around the centre. */
static sstore_status take_row(ss_row_balls *self, place *at, sstore_error *error)
{
    const uint32_t distance = self->graph->call->distance;
    at->distance = ss_words_distance(at->row, self->centre, self->graph->words);
    if (self->radius == FIRST_PASS && at->distance <= distance)
        return take_near(self, at, error);
    if (at->distance <= distance || is_known(self, at))
        return SSTORE_OK;
    if (self->radius != FIRST_PASS)
        return compare_with_members(self, at, error);
    self->workers[at->worker].ring[at->distance]++;
    return SSTORE_OK;
}

/* Take those of `count` fingerprints that are within the distance and the ring. `at` is the place of the first one, and
 * becomes that behind the last. */
static sstore_status take_rows(ss_row_balls *self, const uint64_t *rows, uint32_t count, place *at, sstore_error *error)
{
    const uint32_t words = self->graph->words, distance = self->graph->call->distance;
    const uint32_t reach = distance + (self->radius == FIRST_PASS ? distance : self->radius);
    const uint64_t rank = at->rank;
    uint32_t hits[SLICE];
    sstore_status status = SSTORE_OK;
    for (uint32_t first = 0; status == SSTORE_OK && first < count; first += SLICE) {
        const uint64_t *slice = rows + (size_t)first * words;
        const uint32_t found = ss_kernels_best()->near_rows(slice, ss_min_u32(SLICE, count - first), words,
                                                            self->centre, reach, hits);
        for (uint32_t i = 0; status == SSTORE_OK && i < found; i++) {
            at->row = slice + (size_t)hits[i] * words;
            at->rank = rank + first + hits[i];
            status = take_row(self, at, error);
        }
    }
    at->rank = rank + count;
    return status;
}

static sstore_status pass_blocks(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    ss_row_balls *self = context;
    const ss_segment *segment = self->graph->store->segments[self->segment];
    const uint32_t words = self->graph->words;
    ss_table_iterator iterator;
    const uint64_t *rows;
    uint32_t count = 1;
    place at = {.worker = worker, .rank = task * TASK_BLOCKS * ss_rows_capacity(segment->metadata.block_bytes, words)};
    sstore_status status = ss_table_iterator_open(&iterator, &segment->tables[0].checked, error);
    ss_table_iterator_seek(&iterator, task * TASK_BLOCKS, (task + 1) * TASK_BLOCKS);
    while (status == SSTORE_OK && count > 0) {
        status = ss_table_iterator_next(&iterator, &rows, &count, error);
        if (status == SSTORE_OK)
            status = take_rows(self, rows, count, &at, error);
    }
    ss_table_iterator_close(&iterator);
    return status == SSTORE_OK ? ss_progress_add(&self->graph->call->progress, worker, 0) : status;
}

static sstore_status pass(ss_row_balls *self, uint32_t radius, sstore_error *error)
{
    const sstore *store = self->graph->store;
    sstore_status status = SSTORE_OK;
    self->radius = radius;
    for (self->segment = 0; status == SSTORE_OK && self->segment < store->manifest.segment_count; self->segment++) {
        const ss_segment *segment = store->segments[self->segment];
        const uint64_t blocks = segment->metadata.tables[0].block_count;
        if (!ss_segment_removes(segment))
            status = ss_pool_run(self->graph->call->threads, (blocks + TASK_BLOCKS - 1) / TASK_BLOCKS, pass_blocks,
                                 self, error);
    }
    return status;
}

/* ----- the radius ----- */

/* Choose the radius of the members so that the most time is saved: each member would find `near_count` matches, and now
 * is compared with the ring. 0: nothing would be saved, and only the centre is a member. */
static uint32_t choose_radius(const ss_row_balls *self, size_t near_count)
{
    const uint32_t distance = self->graph->call->distance;
    uint64_t members[MAX_DISTANCE + 1] = {0}, member_count = 0, ring_count = 0;
    double best = (double)self->row_count; /* another pass */
    uint32_t radius = 0;
    for (size_t i = 0; i < self->member_count; i++)
        members[self->distances[i]]++;
    for (uint32_t r = 0; r <= distance; r++) {
        member_count += members[r];
        for (uint32_t i = 0; r > 0 && i < self->graph->call->threads; i++)
            ring_count += self->workers[i].ring[ss_min_u32(distance + r, MAX_DISTANCE)];
        const double saved = (double)member_count * ((double)near_count * SS_TESTS_A_MATCH - (double)ring_count);
        radius = saved > best ? r : radius;
        best = saved > best ? saved : best;
    }
    return radius;
}

/* Keep the members within the radius. */
static void keep_members(ss_row_balls *self, uint32_t radius)
{
    const uint32_t words = self->graph->words;
    size_t retained_count = 0;
    for (size_t i = 0; i < self->member_count; i++) {
        if (self->distances[i] > radius)
            continue;
        ss_words_move(self->rows + retained_count * words, self->rows + i * words, words);
        self->numbers[retained_count++] = self->numbers[i];
    }
    self->member_count = retained_count;
}

sstore_status ss_row_balls_connect(ss_row_balls *balls, const uint64_t *centre, uint64_t number, sstore_error *error)
{
    ss_row_graph *graph = balls->graph;
    for (uint32_t i = 0; i < graph->call->threads; i++)
        balls->workers[i] = (ss_row_balls_worker){.tests = 0};
    balls->centre = centre;
    balls->centre_number = number;
    balls->member_count = 0;
    sstore_status status = pass(balls, FIRST_PASS, error);
    if (status != SSTORE_OK)
        return status;
    const size_t near_count = balls->member_count;
    balls->member_count = (size_t)ss_min_u64(near_count, balls->capacity);
    const uint32_t radius = graph->done != NULL ? choose_radius(balls, near_count) : 0;
    keep_members(balls, radius);
    if (radius > 0)
        status = pass(balls, radius, error);
    for (size_t i = 0; status == SSTORE_OK && i < balls->member_count; i++)
        ss_row_graph_set_done(graph, balls->numbers[i]);
    ss_row_graph_set_done(graph, number);
    return status;
}
