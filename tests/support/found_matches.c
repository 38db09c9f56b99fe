#include "support/found_matches.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "support/testing.h"

static size_t words_of(const matches *list)
{
    return list->words == 0 ? 1 : list->words;
}

static size_t query_words_of(const matches *list)
{
    return list->query_words == 0 ? 1 : list->query_words;
}

/* How many numbers a match is. */
static size_t width_of(const matches *list)
{
    return query_words_of(list) + words_of(list) + 2;
}

static uint64_t *match_at(const matches *list, size_t index)
{
    return list->numbers + index * width_of(list);
}

static uint64_t *make_room(matches *list, size_t count)
{
    if (list->count + count > list->capacity) {
        list->capacity = 2 * list->capacity + count + 16;
        list->numbers = realloc(list->numbers, list->capacity * width_of(list) * sizeof *list->numbers);
        if (list->numbers == NULL)
            fail_msg("out of memory for %zu matches", list->capacity);
    }
    uint64_t *made = match_at(list, list->count);
    list->count += count;
    return made;
}

void matches_put(matches *list, const uint64_t *query, uint32_t distance, const uint64_t *fingerprint, uint64_t id)
{
    const size_t query_words = query_words_of(list), words = words_of(list);
    uint64_t *made = make_room(list, 1);
    memcpy(made, query, query_words * sizeof *made);
    made[query_words] = distance;
    memcpy(made + query_words + 1, fingerprint, words * sizeof *made);
    made[query_words + 1 + words] = id;
}

void matches_add(matches *list, const sstore_match *match)
{
    matches_put(list, &match->query_index, match->distance, match->fingerprint, match->id);
}

sstore_match matches_get(const matches *list, size_t index)
{
    const uint64_t *numbers = match_at(list, index), *rest = numbers + query_words_of(list);
    return (sstore_match){.query_index = *numbers,
                          .distance = (uint32_t)rest[0],
                          .fingerprint = rest + 1,
                          .id = rest[1 + words_of(list)]};
}

matches matches_part(const matches *list, size_t begin, size_t count)
{
    matches part = *list;
    part.numbers = count > 0 ? match_at(list, begin) : NULL;
    part.count = part.capacity = count;
    return part;
}

void matches_append(matches *list, const matches *added)
{
    if (added->count > 0)
        memcpy(make_room(list, added->count), added->numbers, added->count * width_of(added) * sizeof *added->numbers);
}

void matches_set_query(matches *list, size_t begin, uint64_t query)
{
    for (size_t i = begin; i < list->count; i++)
        *match_at(list, i) = query;
}

/* ----- order ----- */

static int compare_matches(const void *left, const void *right, void *width)
{
    const uint64_t *a = left, *b = right;
    for (size_t i = 0; i < *(const size_t *)width; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* Match i of one list beside match j of another one. */
static int compare_at(const matches *list, size_t i, const matches *other, size_t j)
{
    size_t width = width_of(list);
    return compare_matches(match_at(list, i), match_at(other, j), &width);
}

bool matches_differ(const matches *list, size_t i, const matches *other, size_t j)
{
    return compare_at(list, i, other, j) != 0;
}

void matches_sort(matches *list)
{
    matches_sort_from(list, 0);
}

void matches_sort_from(matches *list, size_t begin)
{
    size_t width = width_of(list);
    if (list->count > begin)
        qsort_r(match_at(list, begin), list->count - begin, width * sizeof *list->numbers, compare_matches, &width);
}

void matches_unique(matches *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (i == 0 || compare_at(list, i, list, kept - 1) != 0)
            memmove(match_at(list, kept++), match_at(list, i), width_of(list) * sizeof *list->numbers);
    list->count = kept;
}

void matches_free(matches *list)
{
    free(list->numbers);
    list->numbers = NULL;
    list->count = list->capacity = 0;
}

/* ----- comparing ----- */

static void print_match(const char *what, const matches *list, size_t index)
{
    const sstore_match match = matches_get(list, index);
    print_error("  %s: query %" PRIu64 ", fingerprint ", what, match.query_index);
    for (size_t i = 0; i < words_of(list); i++)
        print_error("%016" PRIx64, match.fingerprint[i]);
    print_error(", id %" PRIu64 ", distance %" PRIu32 "\n", match.id, match.distance);
}

bool matches_equal(const matches *got, const matches *wanted)
{
    size_t i = 0;
    if (width_of(got) != width_of(wanted))
        fail_msg("matches of %zu and %zu words", words_of(got), words_of(wanted));
    while (i < got->count && i < wanted->count && compare_at(got, i, wanted, i) == 0)
        i++;
    if (i == got->count && i == wanted->count)
        return true;
    print_error("%zu matches, wanted %zu; they differ from number %zu on\n", got->count, wanted->count, i);
    if (i < got->count)
        print_match("got", got, i);
    if (i < wanted->count)
        print_match("wanted", wanted, i);
    return false;
}

void matches_assert_equal(const matches *got, const matches *wanted, const char *what)
{
    if (!matches_equal(got, wanted))
        fail_msg("the matches that differ were asked for %s", what);
}

bool matches_within(const matches *got, const matches *wanted)
{
    size_t j = 0;
    for (size_t i = 0; i < got->count; i++, j++) {
        while (j < wanted->count && compare_at(wanted, j, got, i) < 0)
            j++;
        if (j < wanted->count && compare_at(wanted, j, got, i) == 0)
            continue;
        print_error("a match that is wrong, or comes twice:\n");
        print_match("got", got, i);
        return false;
    }
    return true;
}
