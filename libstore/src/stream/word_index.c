#include "stream/word_index.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "plan/cost.h"
#include "plan/durations.h"

#define PROBES 64u /* looked up together: more than the reads that a core has in flight */
#define SLICE 256u /* values that are tested at once */
#define LINE_VALUES 8u
#define MAX_LINES_AHEAD 4u /* of a probe's values; the processor itself fetches what follows them */
#define MAX_KEY_BITS 26u
#define SPARSE_KEY_BITS 14u /* up to which keys may outnumber fingerprints: they fit into a cache anyway */
#define PART_BITS 8u        /* the maximum: more parts would not fit into a cache while they are written */
#define PART_BYTES (1u << 15)
#define PART_PROBES 64u

/* ----- choosing tables ----- */

/* All radii together cover k flips if the sum of (radius + 1) is above k. The first tables get the remainder. */
static int32_t radius_of(uint32_t table, uint32_t table_count, uint32_t distance)
{
    uint32_t each = (distance + 1) / table_count, left = (distance + 1) % table_count;
    return (int32_t)(each + (table < left)) - 1;
}

static double search_cost(uint32_t table_count, uint32_t key_bits, uint32_t count, uint32_t distance)
{
    const double values = ldexp(count, -(int)key_bits);
    double probes = 0;
    for (uint32_t table = 0; table < table_count; table++)
        probes += ss_probe_count(key_bits, radius_of(table, table_count, distance));
    return probes * (SS_MEMORY_PROBE_NS + SS_MEMORY_FOUND_NS * fmin(1, values) + SS_MEMORY_VALUE_NS * values);
}

/* Whether keys may be this long, so that there are at most a few for each fingerprint. */
static bool is_fitting(uint32_t key_bits, uint32_t table_count, uint32_t width, uint32_t count)
{
    const uint32_t spare_bits = key_bits <= SPARSE_KEY_BITS ? 2 : 0;
    return key_bits == 0 || (key_bits <= width / table_count && key_bits <= MAX_KEY_BITS &&
                             (uint64_t)count << spare_bits >> (key_bits - 1) > 0);
}

ss_word_layout ss_word_choose_layout(uint32_t width, uint32_t count, uint32_t distance)
{
    ss_word_layout best = {.search_ns = INFINITY};
    for (uint32_t tables = 1; tables <= distance + 1; tables++) {
        for (uint32_t bits = 0; is_fitting(bits, tables, width, count); bits++) {
            const double cost = search_cost(tables, bits, count, distance);
            if (cost < best.search_ns)
                best = (ss_word_layout){.width = width, .table_count = tables, .key_bits = bits, .search_ns = cost};
        }
    }
    assert(best.table_count > 0);
    return best;
}

/* Of the key's last bit. */
static uint32_t shift_of(const ss_word_layout *layout, uint32_t table)
{
    return layout->key_bits == 0 ? 0 : 64 - table * (layout->width / layout->table_count) - layout->key_bits;
}

double ss_word_skewed_ns(const ss_word_layout *layout, uint32_t count, uint32_t distance, const uint64_t *differences,
                         size_t difference_count)
{
    double excess = 0; /* of the fraction of the values that is tested, over that of uniform ones */
    for (uint32_t table = 0; table < layout->table_count; table++) {
        const uint64_t mask = ss_low_mask(layout->key_bits) << shift_of(layout, table);
        const int32_t radius = radius_of(table, layout->table_count, distance);
        const double expected = ldexp(ss_probe_count(layout->key_bits, radius), -(int)layout->key_bits);
        size_t tested = 0;
        for (size_t i = 0; i < difference_count; i++)
            tested += (int32_t)ss_popcount(differences[i] & mask) <= radius;
        if (difference_count > 0)
            excess += fmax(0, (double)tested / (double)difference_count - expected);
    }
    return layout->search_ns + excess * count * SS_MEMORY_VALUE_NS;
}

static void choose_tables(ss_word_index *index, uint32_t width)
{
    const ss_word_layout layout = ss_word_choose_layout(width, index->count, index->distance);
    index->key_bits = layout.key_bits;
    index->plan = (ss_plan){.distance = index->distance, .table_count = layout.table_count};
    for (uint32_t i = 0; i < layout.table_count; i++) {
        const uint32_t shift = shift_of(&layout, i);
        index->radii[i] = radius_of(i, layout.table_count, index->distance);
        index->tables[i].shift = shift;
        index->tables[i].flip_count = (uint32_t)ss_probe_count(index->key_bits, index->radii[i]);
        index->plan.tables[i] = (ss_plan_table){.key_mask = ss_low_mask(index->key_bits) << shift,
                                                .prefix_bits = index->key_bits,
                                                .radius = index->radii[i]};
    }
}

/* ----- opening ----- */

/* The next larger number with as many ones. */
static uint32_t next_of_equal_weight(uint32_t x)
{
    uint32_t lowest = x & -x, carried = x + lowest;
    return carried | ((x ^ carried) / lowest >> 2);
}

static sstore_status make_flips(ss_word_index *index, sstore_error *error)
{
    index->flip_count = index->tables[0].flip_count; /* of the largest radius */
    index->flips = ss_realloc(NULL, index->flip_count, sizeof *index->flips);
    if (index->flips == NULL)
        return ss_fail_memory(error, (uint64_t)index->flip_count * sizeof *index->flips);
    uint32_t made = 0;
    index->flips[made++] = 0;
    for (uint32_t weight = 1; made < index->flip_count; weight++)
        for (uint32_t x = (1u << weight) - 1; x >> index->key_bits == 0; x = next_of_equal_weight(x))
            index->flips[made++] = x;
    return SSTORE_OK;
}

static uint32_t key_of(const ss_word_index *index, const ss_word_table *table, uint64_t value)
{
    return (uint32_t)(value >> table->shift & ss_low_mask(index->key_bits));
}

static sstore_status make_table(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    ss_word_index *index = context;
    ss_word_table *table = &index->tables[task];
    const uint64_t *from = index->tables[0].values;
    const size_t keys = (size_t)1 << index->key_bits;
    uint64_t *copy = NULL; /* of the values; table 0 has the caller's */
    (void)worker;
    table->begins = ss_alloc_large((keys + 1) * sizeof *table->begins);
    if (task > 0)
        table->values = index->copies[task] = copy = ss_alloc_large(index->count * sizeof *copy);
    if (table->begins == NULL || (task > 0 && copy == NULL))
        return ss_fail_memory(error, index->count * sizeof *table->values + (keys + 1) * sizeof *table->begins);
    uint32_t *begins = table->begins;
    memset(begins, 0, (keys + 1) * sizeof *begins);
    for (uint32_t i = 0; i < index->count; i++)
        begins[key_of(index, table, from[i])]++;
    for (size_t key = 0; key < keys; key++)
        begins[key + 1] += begins[key]; /* now the end of the key's values */
    for (uint32_t i = index->count; i-- > 0;) {
        uint32_t at = --begins[key_of(index, table, from[i])];
        if (copy != NULL)
            copy[at] = from[i];
    }
    return SSTORE_OK;
}

sstore_status ss_word_index_open(ss_word_index *index, const uint64_t *values, uint32_t count, uint32_t width,
                                 uint32_t distance, uint32_t threads, sstore_error *error)
{
    assert(distance <= SS_WORD_INDEX_MAX_DISTANCE);
    *index = (ss_word_index){.count = count, .distance = distance, .kernels = ss_kernels_best()};
    index->tables[0].values = values;
    choose_tables(index, width);
    sstore_status status = make_flips(index, error);
    if (status == SSTORE_OK)
        status = ss_pool_run(threads, index->plan.table_count, make_table, index, error);
    return status;
}

void ss_word_index_close(ss_word_index *index)
{
    for (uint32_t i = 0; i < SS_WORD_INDEX_MAX_TABLES; i++) {
        ss_free(index->tables[i].begins);
        ss_free(index->copies[i]);
    }
    ss_free(index->flips);
    *index = (ss_word_index){.count = 0};
}

static uint64_t begins_bytes(const ss_word_index *index)
{
    return ((UINT64_C(1) << index->key_bits) + 1) * sizeof(uint32_t);
}

uint64_t ss_word_index_bytes(const ss_word_index *index)
{
    const uint64_t tables = index->plan.table_count;
    return tables == 0 ? 0
                       : tables * begins_bytes(index) + (tables - 1) * index->count * sizeof(uint64_t) +
                             index->flip_count * sizeof *index->flips;
}

uint32_t ss_word_index_rank(const ss_word_index *index, uint64_t value)
{
    const ss_word_table *table = &index->tables[0];
    const uint32_t *begins = table->begins + key_of(index, table, value);
    return (uint32_t)ss_lower_bound(table->values, begins[0], begins[1] - begins[0], value, ss_word_is_below);
}

/* ----- searching ----- */

/* A key that is looked up: `begins` is known at once, `values` and `count` once that was read. */
typedef struct probe {
    const uint32_t *begins;
    const uint64_t *values;
    uint32_t count, at, table; /* `at`: the place of its word */
} probe;

typedef struct search {
    const ss_word_index *index;
    const uint64_t *words;
    const uint32_t *numbers; /* of the words, for callers; NULL: their places */
    uint32_t distance;
    ss_memory_hit_fn on_hit;
    void *context;
    sstore_error *error;
    uint32_t probe_count;
    probe probes[PROBES];
} search;

static sstore_status test_values(const search *self, const probe *from, const uint64_t *values, uint32_t count)
{
    const ss_word_index *index = self->index;
    const uint64_t word = self->words[from->at];
    const uint32_t number = self->numbers != NULL ? self->numbers[from->at] : from->at;
    uint32_t hits[SLICE];
    sstore_status status = SSTORE_OK;
    uint32_t found = index->kernels->near_values(values, count, word, self->distance, hits);
    for (uint32_t i = 0; status == SSTORE_OK && i < found; i++) {
        const uint64_t *value = &values[hits[i]];
        if (ss_plan_first_cover(&index->plan, index->radii, *value ^ word) == from->table)
            status = self->on_hit(self->context, number, value, self->error);
    }
    return status;
}

static sstore_status run_probes(search *self)
{
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; i < self->probe_count; i++) {
        probe *next = &self->probes[i];
        const uint32_t begin = next->begins[0];
        next->values = self->index->tables[next->table].values + begin;
        next->count = next->begins[1] - begin;
        for (uint32_t line = 0; line <= next->count / LINE_VALUES && line < MAX_LINES_AHEAD; line++)
            __builtin_prefetch(next->values + line * LINE_VALUES);
    }
    for (uint32_t i = 0; status == SSTORE_OK && i < self->probe_count; i++) {
        const probe *next = &self->probes[i];
        for (uint32_t done = 0; status == SSTORE_OK && done < next->count; done += SLICE)
            status = test_values(self, next, next->values + done, (uint32_t)ss_min_u64(next->count - done, SLICE));
    }
    self->probe_count = 0;
    return status;
}

/* Order words by the leading bits of their keys, so that consecutive probes stay in a part of the table
 * that a cache holds. */
static void order_by_key(const ss_word_index *index, const ss_word_table *table, uint32_t part_bits,
                         const uint64_t *words, uint32_t count, ss_word_order *order)
{
    uint32_t ends[1u << PART_BITS] = {0}, begin = 0;
    const uint32_t shift = index->key_bits - part_bits;
    for (uint32_t i = 0; i < count; i++)
        ends[key_of(index, table, words[i]) >> shift]++;
    for (uint32_t part = 0; part < 1u << part_bits; part++) {
        uint32_t size = ends[part];
        ends[part] = begin;
        begin += size;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = ends[key_of(index, table, words[i]) >> shift]++;
        order->values[at] = words[i];
        order->numbers[at] = i;
    }
}

/* The bits of parts of a table that fit into a cache; 0: the table itself fits, or the words are too few for
 * parts. */
static uint32_t choose_part_bits(const ss_word_index *index, uint32_t count)
{
    const uint64_t table_bytes = begins_bytes(index) + (uint64_t)index->count * sizeof(uint64_t);
    uint32_t bits = 0;
    while (bits < PART_BITS && bits < index->key_bits && table_bytes >> bits > PART_BYTES &&
           count >> bits > PART_PROBES)
        bits++;
    return bits;
}

/* Look all words up in one table. */
static sstore_status search_table(search *self, uint32_t table, uint32_t count)
{
    const ss_word_index *index = self->index;
    const ss_word_table *from = &index->tables[table];
    sstore_status status = SSTORE_OK;
    for (uint32_t flip = 0; flip < from->flip_count; flip++) {
        for (uint32_t at = 0; status == SSTORE_OK && at < count; at++) {
            uint32_t key = key_of(index, from, self->words[at]) ^ index->flips[flip];
            self->probes[self->probe_count] = (probe){.begins = from->begins + key, .at = at, .table = table};
            __builtin_prefetch(from->begins + key);
            if (++self->probe_count == PROBES)
                status = run_probes(self);
        }
    }
    return status;
}

sstore_status ss_word_index_search(const ss_word_index *index, const uint64_t *words, uint32_t count, uint32_t distance,
                                   ss_word_order *order, ss_memory_hit_fn on_hit, void *context, sstore_error *error)
{
    search self; /* not initialized: its probes are large */
    self.index = index, self.words = words, self.numbers = NULL;
    self.distance = distance, self.on_hit = on_hit, self.context = context, self.error = error;
    self.probe_count = 0;
    sstore_status status = SSTORE_OK;
    const uint32_t part_bits = order == NULL ? 0 : choose_part_bits(index, count);
    assert(distance <= index->distance);
    for (uint32_t table = 0; status == SSTORE_OK && table < index->plan.table_count; table++) {
        if (part_bits > 0) {
            order_by_key(index, &index->tables[table], part_bits, words, count, order);
            self.words = order->values;
            self.numbers = order->numbers;
        }
        status = search_table(&self, table, count);
        if (status == SSTORE_OK && part_bits > 0)
            status = run_probes(&self); /* before the order changes */
    }
    return status == SSTORE_OK ? run_probes(&self) : status;
}
