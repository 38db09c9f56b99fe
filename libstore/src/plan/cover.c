/*
 * cover.c - whether some error pattern slips through all tables of a plan.
 *
 * Bits that lie in the same tables are alike, so a pattern is a number of flips for each class of bits. A pattern
 * slips through table j if more than radius[j] of its flips lie in the table's key. The search takes a table that
 * still covers the pattern, and tries to flip one more bit of each class in it; a class that was tried is closed for
 * the siblings after it, so that every choice of numbers is met once.
 */
#include "plan/plan.h"

typedef struct bit_class {
    uint64_t tables; /* that its bits are key bits of */
    uint64_t bits;
    uint32_t left; /* bits not flipped yet, 0 also while the class is closed */
    uint32_t flipped;
} bit_class;

typedef struct search {
    uint32_t class_count, table_count;
    bit_class classes[SS_FINGERPRINT_BITS];
    int32_t need[SS_MAX_TABLES]; /* flips that table still has to get; <= 0: the pattern slips through */
    ss_steps *steps;
} search;

static void add_bit(search *self, uint64_t tables, uint64_t bit)
{
    uint32_t i = 0;
    while (i < self->class_count && self->classes[i].tables != tables)
        i++;
    if (i == self->class_count)
        self->classes[self->class_count++] = (bit_class){.tables = tables};
    self->classes[i].bits |= bit;
    self->classes[i].left++;
}

static void classify_bits(search *self, const ss_plan *plan)
{
    for (uint32_t b = 0; b < SS_FINGERPRINT_BITS; b++) {
        uint64_t bit = UINT64_C(1) << (63 - b), tables = 0;
        for (uint32_t table = 0; table < plan->table_count; table++)
            if (plan->tables[table].key_mask & bit)
                tables |= UINT64_C(1) << table;
        if (tables != 0)
            add_bit(self, tables, bit);
    }
}

static void flip(search *self, bit_class *class, int32_t count)
{
    class->left -= (uint32_t)count;
    class->flipped += (uint32_t)count;
    for (uint64_t tables = class->tables; tables != 0; tables &= tables - 1)
        self->need[__builtin_ctzll(tables)] -= count;
}

/* The table that needs most; a branch there is decided soonest. */
static uint32_t neediest_table(const search *self)
{
    uint32_t neediest = 0;
    for (uint32_t table = 1; table < self->table_count; table++)
        if (self->need[table] > self->need[neediest])
            neediest = table;
    return neediest;
}

static bool slip_through(search *self, int32_t flips_left)
{
    uint32_t table = neediest_table(self);
    if (self->need[table] <= 0)
        return true;
    if (!ss_steps_take(self->steps, 1))
        return false;
    if (self->need[table] > flips_left)
        return false;
    uint32_t closed[SS_FINGERPRINT_BITS]; /* what `left` was */
    uint32_t tried = 0;
    bool found = false;
    for (; tried < self->class_count && !found; tried++) {
        bit_class *class = &self->classes[tried];
        if ((class->tables >> table & 1) && class->left > 0) {
            flip(self, class, 1);
            found = slip_through(self, flips_left - 1);
            if (found)
                return true; /* with the flips in place */
            flip(self, class, -1);
        }
        closed[tried] = class->left;
        if (class->tables >> table & 1)
            class->left = 0;
    }
    for (uint32_t i = 0; i < tried; i++)
        self->classes[i].left = closed[i];
    return false;
}

static uint64_t flipped_pattern(const search *self)
{
    uint64_t pattern = 0;
    for (uint32_t i = 0; i < self->class_count; i++) {
        uint64_t bits = self->classes[i].bits;
        for (uint32_t count = self->classes[i].flipped; count > 0; count--) {
            pattern |= bits & -bits;
            bits &= bits - 1;
        }
    }
    return pattern;
}

bool ss_plan_find_uncovered_within(const ss_plan *plan, const int32_t *radii, uint32_t distance, ss_steps *steps,
                                   uint64_t *pattern_out)
{
    search self = {.table_count = plan->table_count, .steps = steps};
    *pattern_out = 0;
    for (uint32_t table = 0; table < plan->table_count; table++) {
        if (radii[table] >= (int32_t)plan->tables[table].prefix_bits)
            return false; /* covers everything */
        self.need[table] = radii[table] + 1;
    }
    classify_bits(&self, plan);
    const bool found = slip_through(&self, (int32_t)distance);
    if (found)
        *pattern_out = flipped_pattern(&self);
    return found || steps->left == 0;
}

bool ss_plan_find_uncovered(const ss_plan *plan, const int32_t *radii, uint32_t distance, uint64_t *pattern_out)
{
    ss_steps steps = {.left = SS_CALL_STEPS};
    return ss_plan_find_uncovered_within(plan, radii, distance, &steps, pattern_out);
}
