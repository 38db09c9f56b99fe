#include "plan/plan.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* ===== plans ===== */

#define MAX_GROUPS 64u
#define HEX_MASK_DIGITS 16u
#define PLAN_NAME_BYTES 12u /* of "BcC" or "BcC/BcC" */

/* ----- making tables ----- */

static bool add_table(ss_plan *plan, uint64_t key_mask, int32_t radius)
{
    if (plan->table_count == SS_MAX_TABLES)
        return false;
    plan->tables[plan->table_count++] = (ss_plan_table){.key_mask = key_mask,
                                                        .prefix_bits = ss_popcount(key_mask),
                                                        .radius = radius};
    return true;
}

/* Split `bits` into group_count bit groups whose widths differ by at most one, wider ones first. */
static void split(uint64_t bits, uint32_t group_count, uint64_t groups[MAX_GROUPS])
{
    const uint32_t total = ss_popcount(bits);
    for (uint32_t i = 0; i < group_count; i++) {
        groups[i] = 0;
        for (uint32_t width = total / group_count + (i < total % group_count); width > 0; width--) {
            const uint64_t highest = UINT64_C(1) << (63 - (uint32_t)__builtin_clzll(bits));
            groups[i] |= highest;
            bits ^= highest;
        }
    }
}

/* One level of choosing: "BcC". */
typedef struct choice {
    uint32_t groups, chosen;
} choice;

/* Add a table for every choice in lexicographic order, so that the first takes the leading groups. With a second level,
 * the bits that a choice leaves are split and chosen from again. `outer` are key bits that were chosen before. */
static bool add_choices(ss_plan *plan, uint64_t bits, uint64_t outer, const choice *levels, uint32_t level_count)
{
    uint64_t groups[MAX_GROUPS];
    uint32_t pick[MAX_GROUPS];
    uint32_t chosen = levels->chosen;
    split(bits, levels->groups, groups);
    for (uint32_t i = 0; i < chosen; i++)
        pick[i] = i;
    for (;;) {
        uint64_t key = 0;
        for (uint32_t i = 0; i < chosen; i++)
            key |= groups[pick[i]]; /* NOLINT(clang-analyzer-core.uninitialized.Assign): picks are below groups */
        bool added = level_count == 1 ? add_table(plan, outer | key, 0)
                                      : add_choices(plan, bits & ~key, outer | key, levels + 1, level_count - 1);
        if (!added)
            return false;
        uint32_t moved = chosen;
        while (moved > 0 && pick[moved - 1] == levels->groups - chosen + moved - 1)
            moved--;
        if (moved == 0)
            return true;
        pick[moved - 1]++;
        for (uint32_t i = moved; i < chosen; i++)
            pick[i] = pick[i - 1] + 1;
    }
}

/* The radii that set_small_radii() finds for NESTED_NAME, by distance: a digit each. The search takes milliseconds, and
 * a store of 16 words may need several for each call. */
#define NESTED_NAME "4c1/4c1"
static const char *const nested_radii[] = {"0000000000000000", "0000000000000000", "0000000000000000",
                                           "0000000000000000", "1111001100000000", "0022221000000000",
                                           "0022020220000000", "2212200222202200", "0033030330000000",
                                           "3333333300030000", "0044040440000000", "0044040444304000",
                                           "0055050550000000", "5545000555500000", "5555555505555400",
                                           "6666000666500000", "0077070770000000"};

/* Give all tables the smallest equal radius that can be proved complete within SS_PROOF_STEPS. Then lower single ones,
 * the last first, while the plan stays complete. For disjoint bit groups this makes the sum of (r + 1) = k + 1; the
 * wider (first) ones get the larger radii. It always succeeds: can_slip() alone proves radii that are large enough. */
static void set_small_radii(ss_plan *plan, const char *name)
{
    ss_steps steps = {.left = SS_PROOF_STEPS}, lowering = {.left = SS_RADII_STEPS};
    int32_t radii[SS_MAX_TABLES] = {0};
    uint64_t pattern;
    const bool is_known = strcmp(name, NESTED_NAME) == 0 && plan->distance <= SSTORE_MAX_BUILD_DISTANCE;
    for (uint32_t i = 0; is_known && i < plan->table_count; i++)
        plan->tables[i].radius = nested_radii[plan->distance][i] - '0';
    if (is_known)
        return;
    for (; ss_plan_find_uncovered(plan, radii, plan->distance, &steps, &pattern); steps.left = SS_PROOF_STEPS)
        for (uint32_t i = 0; i < plan->table_count; i++)
            radii[i]++;
    for (uint32_t i = plan->table_count; i-- > 0;)
        ss_plan_lower_radius(plan, radii, i, 0, plan->distance, &lowering);
    for (uint32_t i = 0; i < plan->table_count; i++)
        plan->tables[i].radius = radii[i];
}

/* ----- parsing ----- */

/* Read a decimal number of at most three digits and step over it. */
static bool read_number(const char **text, uint32_t *number)
{
    uint32_t digits = 0;
    *number = 0;
    for (; isdigit((unsigned char)**text) && digits < 3; digits++, (*text)++)
        *number = *number * 10 + (uint32_t)(**text - '0');
    return digits > 0;
}

static bool skip(const char **text, char expected)
{
    if (**text != expected)
        return false;
    (*text)++;
    return true;
}

/* "BcC" or "BcC/BcC". */
static bool parse_choices(const char *name, ss_plan *plan)
{
    choice levels[2];
    uint32_t level_count = 0;
    do {
        choice *level = &levels[level_count];
        if (level_count == 2 || !read_number(&name, &level->groups) || !skip(&name, 'c') ||
            !read_number(&name, &level->chosen) || level->chosen < 1 || level->chosen > level->groups ||
            level->groups > MAX_GROUPS)
            return false;
        level_count++;
    } while (skip(&name, '/'));
    return *name == '\0' && add_choices(plan, ~UINT64_C(0), 0, levels, level_count);
}

static bool read_mask(const char **text, uint64_t *mask)
{
    *mask = 0;
    for (uint32_t i = 0; i < HEX_MASK_DIGITS; i++) {
        char c = (*text)[i];
        if (!isxdigit((unsigned char)c))
            return false;
        *mask = *mask << 4 | (uint64_t)(isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10);
    }
    *text += HEX_MASK_DIGITS;
    return true;
}

/* "bits:radius,..." or "mask:radius,..."; also "bits,..." without radii, which are then chosen. */
static bool parse_tables(const char *name, ss_plan *plan, bool *has_radii)
{
    uint32_t at = 0;
    plan->table_count = 0;
    do {
        uint64_t mask;
        uint32_t bits, radius = 0;
        if (!read_mask(&name, &mask)) {
            if (!read_number(&name, &bits) || bits < 1 || bits > SS_FINGERPRINT_BITS - at)
                return false;
            mask = ss_high_mask(bits) >> at;
            at += bits;
        }
        bool radius_follows = skip(&name, ':');
        if (plan->table_count > 0 && radius_follows != *has_radii)
            return false;
        *has_radii = radius_follows;
        if ((radius_follows && !read_number(&name, &radius)) || radius > ss_popcount(mask) || mask == 0 ||
            !add_table(plan, mask, (int32_t)radius))
            return false;
    } while (skip(&name, ','));
    return *name == '\0';
}

/* The short names: numbers of tables. */
static const struct {
    const char *name, *meaning;
} named_plans[] = {{"20", "6c3"},     {"16", NESTED_NAME}, {"10", "5c2"}, {"4", "4c1"},
                   {"3", "24,20,20"}, {"2", "32,32"},      {"1", "64"}};

/* The meaning of a named plan, or the name itself if it is written out; NULL for any other number. */
static const char *meaning_of(const char *name)
{
    for (size_t i = 0; i < sizeof named_plans / sizeof named_plans[0]; i++)
        if (strcmp(name, named_plans[i].name) == 0)
            return named_plans[i].meaning;
    /* As a bit group, "8" would be one table, a hundred times slower than the 8 tables that a user may expect. */
    return name[strspn(name, "0123456789")] == '\0' ? NULL : name;
}

/* Whether the tables are valid, as ss_plan_valid() requires. */
static bool are_tables_valid(const ss_plan *plan, const char **reason)
{
    *reason = "it has no table, or more than 64";
    if (plan->table_count < 1 || plan->table_count > SS_MAX_TABLES)
        return false;
    *reason = "a table's prefix or radius is out of range";
    for (uint32_t i = 0; i < plan->table_count; i++) {
        const ss_plan_table *table = &plan->tables[i];
        if (table->prefix_bits < 1 || table->prefix_bits != ss_popcount(table->key_mask) || table->radius < 0 ||
            table->radius > (int32_t)table->prefix_bits)
            return false;
    }
    *reason = "the key bits of its first table are not the leading bits";
    return plan->tables[0].key_mask == ss_high_mask(plan->tables[0].prefix_bits);
}

/* Names may be longer than a message. */
#define SHOWN_BYTES 100
#define SHOWN(name) SHOWN_BYTES, (name), strlen(name) > SHOWN_BYTES ? "..." : ""

static sstore_status fail_name(const char *name, sstore_error *error)
{
    return ss_fail_argument(
        error,
        "there is no plan '%.*s%s'; use auto; 20, 16, 10, 4, 3, 2 or 1 (tables); BcC, a table for each choice of C of "
        "B bit groups, such as 5c2; BcC/BcC such as 4c1/4c1; or bits:radius,... such as 24:1,20:0,20:0 (at most 64 "
        "bits in all, at most %u tables); sstore_plan() compares plans",
        SHOWN(name), SS_MAX_TABLES);
}

/* `pattern` is uncovered; 0: neither it nor a proof was found. */
static sstore_status fail_incomplete(const char *name, uint32_t distance, uint64_t pattern, sstore_error *error)
{
    if (pattern == 0)
        return ss_fail_argument(error,
                                "proving that the plan '%.*s%s' finds all pairs within distance %u takes too long; "
                                "use fewer tables",
                                SHOWN(name), distance);
    return ss_fail_argument(error,
                            "the plan '%.*s%s' would miss pairs within distance %u: no table covers two fingerprints "
                            "that differ in the bits %016" PRIx64 "; raise a radius",
                            SHOWN(name), distance, pattern);
}

bool ss_plan_has_radii(const char *name)
{
    return strchr(name, ':') != NULL;
}

sstore_status ss_plan_parse(const char *name, uint32_t distance, ss_plan *plan_out, sstore_error *error)
{
    const char *meaning = meaning_of(name);
    if (meaning == NULL)
        return fail_name(name, error);

    bool has_radii = false;
    *plan_out = (ss_plan){.distance = distance};
    if (!parse_choices(meaning, plan_out) && !parse_tables(meaning, plan_out, &has_radii))
        return fail_name(name, error);
    if (!has_radii)
        set_small_radii(plan_out, meaning);

    uint64_t pattern;
    if (has_radii && ss_plan_find_uncovered(plan_out, NULL, distance, NULL, &pattern))
        return fail_incomplete(name, distance, pattern, error);
    const char *reason;
    if (!are_tables_valid(plan_out, &reason))
        return ss_fail_argument(error, "the plan '%.*s%s' cannot be used: %s", SHOWN(name), reason);
    return SSTORE_OK;
}

bool ss_plan_valid(const ss_plan *plan, ss_steps *steps, const char **reason)
{
    uint64_t pattern;
    if (!are_tables_valid(plan, reason))
        return false;
    *reason = "it is not complete for its distance, or the proof takes too long";
    return !ss_plan_find_uncovered(plan, NULL, plan->distance, steps, &pattern);
}

/* ----- formatting ----- */

bool ss_plan_same_tables(const ss_plan *a, const ss_plan *b)
{
    bool same = a->table_count == b->table_count;
    for (uint32_t i = 0; same && i < a->table_count; i++)
        same = a->tables[i].key_mask == b->tables[i].key_mask && a->tables[i].prefix_bits == b->tables[i].prefix_bits &&
               a->tables[i].radius == b->tables[i].radius;
    return same;
}

/* Whether a name stands for this plan. Radii are computed only if the masks are equal. */
static bool is_named(const ss_plan *plan, const char *name)
{
    ss_plan other = {.distance = plan->distance};
    if (!parse_choices(name, &other) || other.table_count != plan->table_count)
        return false;
    for (uint32_t i = 0; i < plan->table_count; i++)
        if (other.tables[i].key_mask != plan->tables[i].key_mask)
            return false;
    set_small_radii(&other, name);
    return ss_plan_same_tables(plan, &other);
}

static bool are_disjoint_groups(const ss_plan *plan)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < plan->table_count; i++) {
        const ss_plan_table *table = &plan->tables[i];
        if (at + table->prefix_bits > SS_FINGERPRINT_BITS || table->key_mask != ss_high_mask(table->prefix_bits) >> at)
            return false;
        at += table->prefix_bits;
    }
    return true;
}

/* The number of ways to choose, or more than SS_MAX_TABLES. */
static uint32_t count_choices(choice level)
{
    uint64_t ways = 1;
    for (uint32_t i = 1; i <= level.chosen && ways <= SS_MAX_TABLES; i++)
        ways = ways * (level.groups - level.chosen + i) / i;
    return (uint32_t)ss_min_u64(ways, SS_MAX_TABLES + 1);
}

/* Find the name BcC/BcC of a plan. */
static bool find_nested_name(const ss_plan *plan, char name[PLAN_NAME_BYTES])
{
    const uint32_t table_count = plan->table_count;
    for (choice outer = {2, 1}; outer.groups <= MAX_GROUPS; outer.groups++)
        for (outer.chosen = 1; outer.chosen < outer.groups; outer.chosen++) {
            const uint32_t ways = count_choices(outer);
            for (choice inner = {2, 1}; table_count % ways == 0 && inner.groups <= MAX_GROUPS; inner.groups++)
                for (inner.chosen = 1; inner.chosen < inner.groups; inner.chosen++) {
                    if (count_choices(inner) != table_count / ways)
                        continue;
                    snprintf(name, PLAN_NAME_BYTES, "%uc%u/%uc%u", outer.groups % 100, outer.chosen % 100,
                             inner.groups % 100, inner.chosen % 100);
                    if (is_named(plan, name))
                        return true;
                }
        }
    return false;
}

/* Find the name of a plan. Plans of disjoint bit groups need none. */
static bool find_name(const ss_plan *plan, char name[PLAN_NAME_BYTES])
{
    bool found = false;
    for (uint32_t groups = 2; !found && groups <= MAX_GROUPS; groups++)
        for (uint32_t chosen = 1; !found && chosen <= groups; chosen++) {
            if (count_choices((choice){groups, chosen}) != plan->table_count)
                continue;
            /* % 100 shows the compiler that it fits */
            snprintf(name, PLAN_NAME_BYTES, "%uc%u", groups % 100, chosen % 100);
            found = is_named(plan, name);
        }
    return found || find_nested_name(plan, name);
}

size_t ss_plan_format(const ss_plan *plan, char *buffer, size_t size)
{
    const bool disjoint = are_disjoint_groups(plan);
    char name[PLAN_NAME_BYTES];
    if (!disjoint && find_name(plan, name))
        return (size_t)snprintf(buffer, size, "%s", name);
    size_t length = 0;
    for (uint32_t i = 0; i < plan->table_count; i++) {
        const ss_plan_table *table = &plan->tables[i];
        char *to = length < size ? buffer + length : NULL;
        size_t left = length < size ? size - length : 0;
        const char *comma = i > 0 ? "," : "";
        int added = disjoint ? snprintf(to, left, "%s%u:%d", comma, table->prefix_bits, table->radius)
                             : snprintf(to, left, "%s%016" PRIx64 ":%d", comma, table->key_mask, table->radius);
        length += (size_t)added;
    }
    return length;
}

/* ===== permutation ===== */

/* Add the move of one bit, to a run that moves as far if there is one. Positions count from the most significant
 * bit. */
static void add_move(ss_permutation *permutation, uint32_t from, uint32_t to)
{
    uint32_t rotate = (from - to) & 63u;
    uint32_t i = 0;
    while (i < permutation->run_count && permutation->runs[i].rotate_left != rotate)
        i++;
    if (i == permutation->run_count)
        permutation->runs[permutation->run_count++] = (ss_run){.rotate_left = rotate, .rotate_back = -rotate & 63u};
    permutation->runs[i].from_mask |= UINT64_C(1) << (63 - from);
    permutation->runs[i].to_mask |= UINT64_C(1) << (63 - to);
}

void ss_permutation_init(ss_permutation *permutation, uint64_t key_mask)
{
    const uint32_t after_keys = key_mask == 0 ? 0 : SS_FINGERPRINT_BITS - (uint32_t)__builtin_ctzll(key_mask);
    uint32_t next_key = 0, next_other = ss_popcount(key_mask);
    permutation->run_count = 0;
    for (uint32_t i = 0; i < SS_FINGERPRINT_BITS; i++) { /* no key comes before bit 0 here, so keys stay in order */
        const uint32_t bit = (after_keys + i) % SS_FINGERPRINT_BITS;
        const bool is_key = key_mask >> (63 - bit) & 1;
        add_move(permutation, bit, is_key ? next_key++ : next_other++);
    }
}

/* ===== proof of completeness ===== */

/*
 * Whether no table of a plan covers some error pattern.
 *
 * Bits with the same tables are equivalent, so a pattern is a number of flips for each class of bits. A table does not
 * cover a pattern if more than `radius` of its flips are key bits. The search is branch and bound: it takes a table
 * that still covers the pattern, and tries to flip one more bit of each class in it. A class that was tried is closed
 * for later siblings, so every combination is visited once. A branch also ends if its flips cannot meet the needs of
 * the neediest tables together, even if each was spent on the class that most of them share.
 */

typedef struct bit_class {
    uint64_t tables; /* a set: its bits are key bits of these */
    uint64_t bits;
    uint32_t left; /* bits not flipped yet, 0 also while the class is closed */
    uint32_t flipped;
} bit_class;

/* A table's need are the flips that the pattern needs until the table does not cover it. */
#define MAX_NEED SS_FINGERPRINT_BITS

typedef struct search {
    uint32_t class_count;
    bit_class classes[SS_FINGERPRINT_BITS];
    uint64_t needing[MAX_NEED + 1]; /* the set of tables of each need; those without need are in none */
    uint32_t largest_need;
    ss_steps *steps;
} search;

/* Split all bits by the key bits of each table, and order the classes by their first bits. */
static void classify_bits(search *self, const ss_plan *plan)
{
    bit_class *classes = self->classes;
    uint32_t count = 1;
    classes[0].bits = ~UINT64_C(0);
    for (uint32_t table = 0; table < plan->table_count; table++)
        for (uint32_t i = count; i-- > 0;) {
            const uint64_t outside = classes[i].bits & ~plan->tables[table].key_mask;
            if (outside == classes[i].bits)
                continue;
            if (outside != 0)
                classes[count++] = (bit_class){.tables = classes[i].tables, .bits = outside};
            classes[i].bits ^= outside;
            classes[i].tables |= UINT64_C(1) << table;
        }
    for (uint32_t i = 0; i < count; i++) {
        bit_class class = classes[i];
        if (class.tables == 0)
            continue;
        class.left = ss_popcount(class.bits);
        uint32_t at = self->class_count++;
        for (; at > 0 && classes[at - 1].bits < class.bits; at--)
            classes[at] = classes[at - 1];
        classes[at] = class;
    }
}

/* Flip a bit of a class: its tables need one flip less. Returns the set of those that needed one. */
static uint64_t flip(search *self, bit_class *class)
{
    const uint64_t met = self->needing[1] & class->tables;
    class->left--;
    class->flipped++;
    self->needing[1] ^= met;
    for (uint32_t need = 2; need <= self->largest_need; need++) {
        const uint64_t moved = self->needing[need] & class->tables;
        self->needing[need] ^= moved;
        self->needing[need - 1] |= moved;
    }
    return met;
}

/* Undo the flip that returned `met`, when the largest need was `largest_need`. */
static void flip_back(search *self, bit_class *class, uint64_t met, uint32_t largest_need)
{
    class->left++;
    class->flipped--;
    self->largest_need = largest_need;
    for (uint32_t need = largest_need; need > 1; need--) {
        const uint64_t moved = self->needing[need - 1] & class->tables;
        self->needing[need - 1] ^= moved;
        self->needing[need] |= moved;
    }
    self->needing[1] |= met;
}

/* Whether flips can meet the needs of all tables that need about as much as the neediest ones, together. Each flip
 * lowers their sum by the number of them that have its class. So the largest classes are taken first, with all their
 * bits. */
static bool can_slip(const search *self, uint32_t flips_left)
{
    const uint32_t need = self->largest_need;
    const uint64_t needy = self->needing[need] | self->needing[need - 1];
    const uint32_t count = ss_popcount(needy);
    uint32_t sum = (need - 1) * count + ss_popcount(self->needing[need]);
    uint32_t left[SS_MAX_TABLES + 1]; /* bits by the number of these tables that have them */
    if (sum > flips_left * count)
        return false;
    memset(left, 0, (count + 1) * sizeof *left);
    for (uint32_t i = 0; i < self->class_count; i++)
        if (self->classes[i].left > 0)
            left[ss_popcount(self->classes[i].tables & needy)] += self->classes[i].left;
    for (uint32_t tables = count; tables > 0 && flips_left > 0 && sum > 0; tables--) {
        const uint32_t flips = ss_min_u32(flips_left, left[tables]);
        sum -= ss_min_u32(sum, flips * tables);
        flips_left -= flips;
    }
    return sum == 0;
}

static bool slip_through(search *self, uint32_t flips_left)
{
    while (self->needing[self->largest_need] == 0)
        if (--self->largest_need == 0)
            return true;
    const uint32_t largest_need = self->largest_need;
    if (!ss_steps_take(self->steps, 1))
        return false;
    if (largest_need > flips_left || !can_slip(self, flips_left))
        return false;
    /* A branch ends soonest at a table that needs most flips. */
    const uint64_t neediest = self->needing[largest_need] & -self->needing[largest_need];
    uint32_t closed[SS_FINGERPRINT_BITS]; /* the value of `left` before */
    uint32_t tried = 0;
    for (; tried < self->class_count; tried++) {
        bit_class *class = &self->classes[tried];
        if ((class->tables & neediest) != 0 && class->left > 0) {
            const uint64_t met = flip(self, class);
            if (slip_through(self, flips_left - 1))
                return true; /* with the flips in place */
            flip_back(self, class, met, largest_need);
        }
        closed[tried] = class->left;
        if ((class->tables & neediest) != 0)
            class->left = 0;
    }
    for (uint32_t i = 0; i < tried; i++)
        self->classes[i].left = closed[i];
    return false;
}

bool ss_plan_find_uncovered(const ss_plan *plan, const int32_t *radii, uint32_t distance, ss_steps *steps,
                            uint64_t *pattern_out)
{
    ss_steps own_steps = {.left = SS_CALL_STEPS};
    search self = {.largest_need = MAX_NEED, .steps = steps != NULL ? steps : &own_steps};
    *pattern_out = 0;
    for (uint32_t table = 0; table < plan->table_count; table++) {
        const int32_t radius = radii != NULL ? radii[table] : plan->tables[table].radius;
        if (radius >= (int32_t)plan->tables[table].prefix_bits)
            return false; /* covers everything */
        if (radius != SS_NO_PROBE)
            self.needing[radius + 1] |= UINT64_C(1) << table;
    }
    classify_bits(&self, plan);
    if (!slip_through(&self, distance))
        return self.steps->left == 0;
    for (uint32_t i = 0; i < self.class_count; i++)
        for (uint64_t bits = self.classes[i].bits; self.classes[i].flipped > 0; self.classes[i].flipped--) {
            *pattern_out |= bits & -bits;
            bits &= bits - 1;
        }
    return true;
}

void ss_plan_lower_radius(const ss_plan *plan, int32_t *radii, uint32_t table, int32_t min, uint32_t distance,
                          ss_steps *steps)
{
    int32_t complete = radii[table];
    radii[table] = min;
    while (radii[table] < complete && steps->left > 0) {
        ss_steps own = {.left = ss_min_u64(steps->left, SS_PROOF_STEPS)};
        uint64_t pattern;
        steps->left -= own.left;
        const bool uncovered = ss_plan_find_uncovered(plan, radii, distance, &own, &pattern);
        steps->left += own.left;
        if (!uncovered)
            complete = radii[table];
        else if (own.left == 0) /* no proof */
            break;
        else /* no smaller radius covers the pattern, which no other table covers */
            radii[table] = (int32_t)ss_popcount(pattern & plan->tables[table].key_mask);
    }
    radii[table] = complete;
}
