#include "support/lie_case.h"
#include "support/data.h"

#include <inttypes.h>

#include "support/scratch.h"

void lie_case_make(lie_case *made, const char *name, fuzz_input *input)
{
    snprintf(made->path, sizeof made->path, "%s", scratch_path("%s", name));
    lie_take(input, &made->plan, &made->about);
    made->made = lie_make(&made->plan, &made->about);
    made->truth = slow_store_read(&made->made);
    scratch_remove(made->path);
    hostile_write(&made->made, made->path);
}

void lie_case_free(lie_case *of)
{
    slow_store_free(of->truth);
    hostile_free(&of->made);
}

bool lie_case_is_honest(const lie_case *of)
{
    return of->truth->broken == 0;
}

bool lie_case_keeps(const lie_case *of, uint32_t rules)
{
    return (of->truth->broken & rules) == 0;
}

static void tell(const lie_case *of)
{
    const char *reason = of->truth->first_reason;
    fprintf(stderr,
            "a store of %u segments, %s ids, k = %u, blocks of %u, universe %u; the lie: %s at segment %u, "
            "table %u, %u, size %u, value %" PRIu64 "; broken: %x, %s\n",
            of->plan.segment_count, of->plan.has_ids ? "with" : "without", of->plan.distance, of->plan.block_bytes,
            of->plan.universe, lie_name(of->about.kind), of->about.segment, of->about.table, of->about.at,
            of->about.size, of->about.value, of->truth->broken, reason == NULL ? "nothing" : reason);
    for (uint32_t i = 0; i < of->plan.segment_count; i++)
        fprintf(stderr, "  segment %u %s %u, seed %u, tables %u\n", i,
                of->plan.segments[i].removes ? "removes" : "adds", of->plan.segments[i].count,
                of->plan.segments[i].seed, of->plan.segments[i].tables & 15u);
}

void lie_case_fail(const lie_case *of, const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: %s does not hold\n", file, line, condition);
    tell(of);
    abort();
}

static void check_failed(const lie_case *of, sstore_status status, const sstore_error *error)
{
    if (status == SSTORE_ERROR_DAMAGED || status == SSTORE_ERROR_UNSUPPORTED)
        return;
    fprintf(stderr, "%s: %s\n", sstore_status_name(status), error->message);
    lie_case_fail(of, __FILE__, __LINE__, "the call found damage");
}

bool lie_case_ok(const lie_case *of, sstore_status status, const sstore_error *error)
{
    if (status == SSTORE_OK)
        return true;
    LIE_CHECK(of, error->status == status && error->message[0] != '\0');
    if (lie_case_is_honest(of))
        fprintf(stderr, "%s: %s\n", sstore_status_name(status), error->message);
    LIE_CHECK(of, !lie_case_is_honest(of));
    check_failed(of, status, error);
    return false;
}

bool lie_case_written(const lie_case *of, sstore_status status, const sstore_error *error)
{
    /* A record that a lie hides among those that were removed before would be removed once more. */
    const bool may_be_too_much = !lie_case_keeps(of, SLOW_COUNTS | SLOW_CONTENT | SLOW_DIRECTORY);
    if (may_be_too_much && (status == SSTORE_ERROR_ARGUMENT || status == SSTORE_ERROR_MEMORY))
        return false;
    return lie_case_ok(of, status, error);
}

/* ----- records ----- */

void records_add(oracle *records, uint64_t fingerprint, uint64_t id)
{
    if ((records->count & (records->count + 1)) == 0) { /* room for one less than a power of two */
        records->records = realloc(records->records, (2 * records->count + 2) * sizeof *records->records);
        if (records->records == NULL)
            abort();
    }
    records->records[records->count++] = (sstore_record){.fingerprint = fingerprint, .id = id};
}

void records_sort(oracle *records)
{
    if (records->count > 0)
        qsort(records->records, records->count, sizeof *records->records, compare_records);
}

bool records_has(const oracle *records, uint64_t fingerprint, uint64_t id)
{
    const sstore_record record = {.fingerprint = fingerprint, .id = id};
    return records->count > 0 &&
           bsearch(&record, records->records, records->count, sizeof record, compare_records) != NULL;
}

bool records_equal(const oracle *left, const oracle *right)
{
    if (left->count != right->count)
        return false;
    for (size_t i = 0; i < left->count; i++)
        if (compare_records(&left->records[i], &right->records[i]) != 0)
            return false;
    return true;
}

void lie_case_check_records(const lie_case *of, oracle *got, bool exact)
{
    records_sort(got);
    for (size_t i = 0; i < got->count; i++) {
        LIE_CHECK(of, i == 0 || compare_records(&got->records[i - 1], &got->records[i]) != 0);
        LIE_CHECK(of, slow_store_may_report(of->truth, got->records[i].fingerprint, got->records[i].id));
    }
    LIE_CHECK(of, !exact || records_equal(got, &of->truth->truth));
}

static bool is_same_match(const sstore_match *a, const sstore_match *b)
{
    return a->query_index == b->query_index && a->fingerprint == b->fingerprint && a->id == b->id &&
           a->distance == b->distance;
}

void lie_case_check_matches(const lie_case *of, matches *got, matches *wanted, bool exact)
{
    matches_sort(got);
    for (size_t i = 0; i < got->count; i++) {
        LIE_CHECK(of, i == 0 || !is_same_match(&got->items[i - 1], &got->items[i]));
        LIE_CHECK(of, slow_store_may_report(of->truth, got->items[i].fingerprint, got->items[i].id));
    }
    if (!exact)
        return;
    matches_sort(wanted);
    LIE_CHECK(of, got->count == wanted->count);
    for (size_t i = 0; i < got->count; i++)
        LIE_CHECK(of, is_same_match(&got->items[i], &wanted->items[i]));
}

void lie_case_check_same_matches(const lie_case *of, sstore_status status, const matches *one, const matches *other)
{
    LIE_CHECK(of, status != SSTORE_OK || one->count == other->count);
    for (size_t i = 0; i < one->count && i < other->count; i++)
        LIE_CHECK(of, is_same_match(&one->items[i], &other->items[i]));
}
