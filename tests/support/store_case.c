#include "support/store_case.h"
#include "support/data.h"

#include <inttypes.h>

#include "support/scratch.h"

void store_case_make(store_case *made, const char *name, fuzz_input *input)
{
    snprintf(made->path, sizeof made->path, "%s", scratch_path("%s", name));
    invalid_store_take(input, &made->plan, &made->defect);
    made->made = invalid_store_make(&made->plan, &made->defect);
    made->truth = reference_store_read(&made->made);
    scratch_remove(made->path);
    edited_write(&made->made, made->path);
}

void store_case_free(store_case *of)
{
    reference_store_free(of->truth);
    edited_free(&of->made);
}

bool store_case_is_valid(const store_case *of)
{
    return of->truth->broken == 0;
}

bool store_case_keeps(const store_case *of, uint32_t rules)
{
    return (of->truth->broken & rules) == 0;
}

static void tell(const store_case *of)
{
    const char *reason = of->truth->first_reason;
    fprintf(stderr,
            "a store of %u segments, %s ids, k = %u, blocks of %u, universe %u; the defect: %s at segment %u, "
            "table %u, %u, size %u, value %" PRIu64 "; broken: %x, %s\n",
            of->plan.segment_count, of->plan.has_ids ? "with" : "without", of->plan.distance, of->plan.block_bytes,
            of->plan.universe, defect_name(of->defect.kind), of->defect.segment, of->defect.table, of->defect.at,
            of->defect.size, of->defect.value, of->truth->broken, reason == NULL ? "nothing" : reason);
    for (uint32_t i = 0; i < of->plan.segment_count; i++)
        fprintf(stderr, "  segment %u %s %u, seed %u, tables %u\n", i,
                of->plan.segments[i].removes ? "removes" : "adds", of->plan.segments[i].count,
                of->plan.segments[i].seed, of->plan.segments[i].tables & 15u);
}

void store_case_fail(const store_case *of, const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: %s does not hold\n", file, line, condition);
    tell(of);
    abort();
}

static void check_failed(const store_case *of, sstore_status status, const sstore_error *error)
{
    if (status == SSTORE_ERROR_DAMAGED || status == SSTORE_ERROR_UNSUPPORTED)
        return;
    fprintf(stderr, "%s: %s\n", sstore_status_name(status), error->message);
    store_case_fail(of, __FILE__, __LINE__, "the call found damage");
}

bool store_case_ok(const store_case *of, sstore_status status, const sstore_error *error)
{
    if (status == SSTORE_OK)
        return true;
    STORE_CASE_CHECK(of, error->status == status && error->message[0] != '\0');
    if (store_case_is_valid(of))
        fprintf(stderr, "%s: %s\n", sstore_status_name(status), error->message);
    STORE_CASE_CHECK(of, !store_case_is_valid(of));
    check_failed(of, status, error);
    return false;
}

bool store_case_written(const store_case *of, sstore_status status, const sstore_error *error)
{
    /* A removed record that the defect hides would be removed again. */
    const bool may_be_too_much = !store_case_keeps(of, BROKEN_COUNTS | BROKEN_CONTENT | BROKEN_DIRECTORY);
    if (may_be_too_much && (status == SSTORE_ERROR_ARGUMENT || status == SSTORE_ERROR_MEMORY))
        return false;
    return store_case_ok(of, status, error);
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

void store_case_check_records(const store_case *of, oracle *got, bool exact)
{
    records_sort(got);
    for (size_t i = 0; i < got->count; i++) {
        STORE_CASE_CHECK(of, i == 0 || compare_records(&got->records[i - 1], &got->records[i]) != 0);
        STORE_CASE_CHECK(of, reference_store_may_report(of->truth, got->records[i].fingerprint, got->records[i].id));
    }
    STORE_CASE_CHECK(of, !exact || records_equal(got, &of->truth->truth));
}

static bool is_same_match(const sstore_match *a, const sstore_match *b)
{
    return a->query_index == b->query_index && a->fingerprint == b->fingerprint && a->id == b->id &&
           a->distance == b->distance;
}

void store_case_check_matches(const store_case *of, matches *got, matches *wanted, bool exact)
{
    matches_sort(got);
    for (size_t i = 0; i < got->count; i++) {
        STORE_CASE_CHECK(of, i == 0 || !is_same_match(&got->items[i - 1], &got->items[i]));
        STORE_CASE_CHECK(of, reference_store_may_report(of->truth, got->items[i].fingerprint, got->items[i].id));
    }
    if (!exact)
        return;
    matches_sort(wanted);
    STORE_CASE_CHECK(of, got->count == wanted->count);
    for (size_t i = 0; i < got->count; i++)
        STORE_CASE_CHECK(of, is_same_match(&got->items[i], &wanted->items[i]));
}

void store_case_check_same_matches(const store_case *of, sstore_status status, const matches *one, const matches *other)
{
    STORE_CASE_CHECK(of, status != SSTORE_OK || one->count == other->count);
    for (size_t i = 0; i < one->count && i < other->count; i++)
        STORE_CASE_CHECK(of, is_same_match(&one->items[i], &other->items[i]));
}
