#include "plan/candidates.h"

#include <stdio.h>

#include "plan/cost.h"

/* With more, a query takes tens of milliseconds for its probes alone. */
#define MAX_PROBES 1e6
#define MAX_CHOICE_GROUPS 11u /* 11c2 has 55 tables, 12c2 more than a plan can have */

/* Nested plans have many classes of bits, so that their proofs take long: seconds beyond these. */
#define MAX_NESTED_DISTANCE 8u
#define MAX_NESTED_GROUPS 4u
#define MAX_SQUARE_DISTANCE 7u /* 8c1/8c1 has 64 tables */

typedef struct generator {
    uint32_t distance;
    double fingerprint_count;
    ss_candidate_fn on_candidate;
    void *context;
    ss_candidate candidate;
} generator;

static double count_probes(const generator *self, const ss_plan *plan)
{
    double total = 0;
    for (uint32_t i = 0; i < plan->table_count; i++)
        total += ss_table_probe_count(&plan->tables[i], plan->tables[i].radius, self->fingerprint_count);
    return total;
}

/* Hand out the plan of candidate.name, if it is one. */
static bool offer(generator *self)
{
    ss_candidate *candidate = &self->candidate;
    if (ss_plan_parse(candidate->name, self->distance, &candidate->plan, NULL) != SSTORE_OK ||
        count_probes(self, &candidate->plan) > MAX_PROBES)
        return true;
    return self->on_candidate(self->context, candidate);
}

/* ----- disjoint groups ----- */

/* Complete, since the radii and one each add up to k + 1: of k differing bits some group has no more than its radius.
 */
typedef struct groups {
    uint32_t count, widths[SSTORE_MAX_BUILD_DISTANCE + 1], radii[SSTORE_MAX_BUILD_DISTANCE + 1];
} groups;

/* Spread k + 1 over the groups as evenly as it goes; the first ones get what is left over. Returns how many do. */
static uint32_t spread_radii(groups *to, uint32_t distance)
{
    uint32_t each = (distance + 1) / to->count, left = (distance + 1) % to->count;
    for (uint32_t i = 0; i < to->count; i++)
        to->radii[i] = each - 1 + (i < left);
    return left;
}

/* All 64 bits, those of the first `wide` groups `wider` bits wider. False where that does not go. */
static bool spread_widths(groups *to, uint32_t wide, uint32_t wider)
{
    if (wide * wider + to->count > SS_FINGERPRINT_BITS)
        return false;
    uint32_t total = SS_FINGERPRINT_BITS - wide * wider;
    for (uint32_t i = 0; i < to->count; i++)
        to->widths[i] = total / to->count + (i < total % to->count) + (i < wide ? wider : 0);
    return true;
}

static bool offer_groups(generator *self, const groups *of)
{
    char *name = self->candidate.name;
    size_t at = 0;
    for (uint32_t i = 0; i < of->count; i++) {
        if (of->radii[i] > of->widths[i])
            return true;
        int added = snprintf(name + at, SS_PLAN_NAME_CAPACITY - at, "%s%u:%u", i > 0 ? "," : "", of->widths[i],
                             of->radii[i]);
        at += (size_t)added;
    }
    return offer(self);
}

/* Groups with a larger radius are probed with more prefixes, so they are given more bits: about 4 to make up for the probes of one
 * flip more, which is tried first. */
static bool offer_splits(generator *self, groups of)
{
    static const uint32_t widths_more[] = {4, 0, 2, 6, 9, 12};
    uint32_t wide = spread_radii(&of, self->distance);
    for (size_t i = 0; i < sizeof widths_more / sizeof widths_more[0]; i++) {
        const bool differs = i == 0 || wide > 0;
        if (differs && spread_widths(&of, wide, widths_more[i]) && !offer_groups(self, &of))
            return false;
    }
    return true;
}

static bool offer_disjoint(generator *self)
{
    for (uint32_t count = 1; count <= self->distance + 1; count++)
        if (!offer_splits(self, (groups){.count = count}))
            return false;
    return true;
}

/* ----- choices ----- */

/* Whether one table of BcC takes too many probes already: its proof would take long, too. Of k differing bits some C of
 * B groups hold at most so many. */
static bool probes_too_much(const generator *self, uint32_t all, uint32_t chosen)
{
    uint32_t each = self->distance / all, left = self->distance % all;
    uint32_t radius = chosen * each + (chosen + left > all ? chosen + left - all : 0);
    return ss_probe_count(SS_FINGERPRINT_BITS / all * chosen, (int32_t)radius) > MAX_PROBES;
}

static bool offer_choices(generator *self)
{
    /* One group of B is a disjoint plan whose radii are spread worse. With more groups than k + C the tables are more
     * and the prefixes no longer. */
    for (uint32_t chosen = 2; chosen < MAX_CHOICE_GROUPS; chosen++)
        for (uint32_t all = chosen + 1; all <= MAX_CHOICE_GROUPS && all <= self->distance + chosen; all++) {
            snprintf(self->candidate.name, SS_PLAN_NAME_CAPACITY, "%uc%u", all, chosen);
            if (!probes_too_much(self, all, chosen) && !offer(self))
                return false;
        }
    return true;
}

static bool offer_nested_pair(generator *self, uint32_t outer, uint32_t inner)
{
    snprintf(self->candidate.name, SS_PLAN_NAME_CAPACITY, "%uc1/%uc1", outer, inner);
    return offer(self);
}

static bool offer_nested(generator *self)
{
    uint32_t most = self->distance + 1;
    if (self->distance > MAX_NESTED_DISTANCE)
        return true;
    for (uint32_t outer = 2; outer <= MAX_NESTED_GROUPS && outer <= most; outer++)
        for (uint32_t inner = 2; inner <= MAX_NESTED_GROUPS && inner <= most; inner++)
            if (!offer_nested_pair(self, outer, inner))
                return false;
    if (most <= MAX_NESTED_GROUPS || self->distance > MAX_SQUARE_DISTANCE)
        return true;
    return offer_nested_pair(self, most, most);
}

bool ss_candidates_each(uint32_t distance, double fingerprint_count, ss_candidate_fn on_candidate, void *context)
{
    generator self = {.distance = distance,
                      .fingerprint_count = fingerprint_count,
                      .on_candidate = on_candidate,
                      .context = context};
    return offer_disjoint(&self) && offer_choices(&self) && offer_nested(&self);
}
