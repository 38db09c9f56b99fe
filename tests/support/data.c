#include "support/data.h"

#include "support/testing.h"

#define PREFIX_COUNT 5
#define REPEATED_COUNT 60

const char *data_kind_name(data_kind kind)
{
    static const char *const names[DATA_KIND_COUNT] = {"uniform", "clustered", "skewed",  "dense",   "equal",
                                                       "one-bit", "extremes",  "crowded", "repeated"};
    return names[kind];
}

const char *data_ids_name(data_ids kind)
{
    static const char *const names[DATA_IDS_COUNT] = {"ids", "assigned ids", "no ids"};
    return names[kind];
}

static uint64_t extreme(rng *random)
{
    uint64_t end = rng_one_in(random, 2) ? 0 : UINT64_MAX;
    switch (rng_below(random, 4)) {
    case 0: return end;
    case 1: return end ^ rng_below(random, 8);
    case 2: return rng_flip(random, end, (uint32_t)rng_below(random, 4));
    default: return end ^ (rng_below(random, 8) << 61);
    }
}

/* Fingerprint i, where those before it are made. `base` is the same for the whole set. */
static uint64_t make_one(rng *random, data_kind kind, const uint64_t *earlier, size_t i, uint64_t base,
                         const uint64_t *prefixes)
{
    switch (kind) {
    case DATA_CLUSTERED:
        if (i > 0 && rng_one_in(random, 4)) {
            const uint64_t near =
                earlier[rng_below(random, i)]; /* first, whatever order a compiler takes arguments in */
            return rng_flip(random, near, (uint32_t)rng_below(random, 4));
        }
        return rng_next(random);
    case DATA_SKEWED: {
        size_t which = rng_below(random, PREFIX_COUNT + 1);
        if (which == PREFIX_COUNT)
            return rng_next(random);
        uint32_t width = 4 + 6 * (uint32_t)which;
        return (prefixes[which] & ~(UINT64_MAX >> width)) | (rng_next(random) >> width);
    }
    case DATA_DENSE: return base + i;
    case DATA_EQUAL: return base;
    case DATA_ONE_BIT: return rng_flip(random, base, (uint32_t)rng_below(random, 2));
    case DATA_EXTREMES: return extreme(random);
    case DATA_CROWDED: {
        uint64_t twelve_bits = rng_below(random, 1 << 12), centre = prefixes[rng_below(random, PREFIX_COUNT)];
        return centre ^ twelve_bits << rng_below(random, 53);
    }
    case DATA_REPEATED: return rng_mix(base + rng_below(random, rng_between(random, 1, REPEATED_COUNT)));
    default: return rng_next(random);
    }
}

static uint64_t make_id(rng *random)
{
    switch (rng_below(random, 8)) {
    case 0: return 0;
    case 1: return UINT64_MAX;
    case 2: return rng_below(random, 4);
    case 3: return rng_next(random);
    default: return rng_below(random, 1000000);
    }
}

void data_make(rng *random, data_kind kind, data_ids ids, size_t count, bool repeats, data_set *set_out)
{
    *set_out = (data_set){.kind = kind, .id_kind = ids, .count = count};
    uint64_t *fingerprints = test_calloc(count + 1, sizeof *fingerprints);
    uint64_t *id_column = ids == DATA_IDS ? test_calloc(count + 1, sizeof *id_column) : NULL;
    uint64_t base = rng_next(random);
    if (kind == DATA_DENSE && rng_one_in(random, 4))
        base = rng_one_in(random, 2) ? 0 : UINT64_MAX - count + 1;
    uint64_t prefixes[PREFIX_COUNT];
    for (size_t i = 0; i < PREFIX_COUNT; i++)
        prefixes[i] = rng_next(random);
    for (size_t i = 0; i < count; i++) {
        bool repeat = repeats && i > 0 && rng_one_in(random, 8);
        size_t index = repeat ? rng_below(random, i) : 0;
        fingerprints[i] = repeat ? fingerprints[index] : make_one(random, kind, fingerprints, i, base, prefixes);
        if (id_column != NULL)
            id_column[i] = repeat && rng_one_in(random, 2) ? id_column[index] : make_id(random);
    }
    set_out->fingerprints = fingerprints;
    set_out->ids = id_column;
}

void data_free(data_set *set)
{
    test_free(set->fingerprints);
    if (set->ids != NULL)
        test_free(set->ids);
    set->fingerprints = set->ids = NULL;
}

static void swap(uint64_t *values, size_t i, size_t j)
{
    uint64_t kept = values[i];
    values[i] = values[j];
    values[j] = kept;
}

void data_shuffle(rng *random, data_set *set)
{
    for (size_t i = set->count; i > 1; i--) {
        size_t j = rng_below(random, i);
        swap(set->fingerprints, i - 1, j);
        if (set->ids != NULL)
            swap(set->ids, i - 1, j);
    }
}

uint64_t data_query(rng *random, const data_set *set, uint32_t distance)
{
    uint64_t which = rng_below(random, 8);
    if (which == 0)
        return extreme(random);
    if (which == 1 || set->count == 0)
        return rng_next(random);
    uint64_t near = set->fingerprints[rng_below(random, set->count)];
    uint32_t max = distance < 63 ? distance + 1 : 64; /* one too many now and then */
    return rng_flip(random, near, (uint32_t)rng_between(random, 0, max));
}

int compare_numbers(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}
