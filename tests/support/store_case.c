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

void store_case_free(store_case *self)
{
    reference_store_free(self->truth);
    edited_free(&self->made);
}

bool store_case_is_valid(const store_case *self)
{
    return self->truth->broken == 0;
}

bool store_case_keeps(const store_case *self, uint32_t rules)
{
    return (self->truth->broken & rules) == 0;
}

static void tell(const store_case *self)
{
    const char *reason = self->truth->first_reason;
    fprintf(stderr,
            "a store of %u segments, %s ids, k = %u, blocks of %u, universe %u; the defect: %s at segment %u, "
            "table %u, %u, size %u, value %" PRIu64 "; broken: %x, %s\n",
            self->plan.segment_count, self->plan.has_ids ? "with" : "without", self->plan.distance,
            self->plan.block_bytes, self->plan.universe, defect_name(self->defect.kind), self->defect.segment,
            self->defect.table, self->defect.at, self->defect.size, self->defect.value, self->truth->broken,
            reason == NULL ? "nothing" : reason);
    for (uint32_t i = 0; i < self->plan.segment_count; i++)
        fprintf(stderr, "  segment %u %s %u, seed %u, tables %u\n", i,
                self->plan.segments[i].removes ? "removes" : "adds", self->plan.segments[i].count,
                self->plan.segments[i].seed, self->plan.segments[i].tables & 15u);
}

void store_case_fail(const store_case *self, const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: %s does not hold\n", file, line, condition);
    tell(self);
    abort();
}

static void check_failed(const store_case *self, sstore_status status, const sstore_error *error)
{
    if (status == SSTORE_ERROR_DAMAGED || status == SSTORE_ERROR_UNSUPPORTED)
        return;
    fprintf(stderr, "%s: %s\n", sstore_status_name(status), error->message);
    store_case_fail(self, __FILE__, __LINE__, "the call found damage");
}

bool store_case_ok(const store_case *self, sstore_status status, const sstore_error *error)
{
    if (status == SSTORE_OK)
        return true;
    STORE_CASE_CHECK(self, error->status == status && error->message[0] != '\0');
    if (store_case_is_valid(self))
        fprintf(stderr, "%s: %s\n", sstore_status_name(status), error->message);
    STORE_CASE_CHECK(self, !store_case_is_valid(self));
    check_failed(self, status, error);
    return false;
}

bool store_case_written(const store_case *self, sstore_status status, const sstore_error *error)
{
    /* A removed record that the defect hides would be removed again. */
    const bool may_be_too_much = !store_case_keeps(self, BROKEN_COUNTS | BROKEN_CONTENT | BROKEN_DIRECTORY);
    if (may_be_too_much && (status == SSTORE_ERROR_ARGUMENT || status == SSTORE_ERROR_MEMORY))
        return false;
    return store_case_ok(self, status, error);
}

/* ----- records ----- */

void store_case_check_records(const store_case *self, record_set *got, bool exact)
{
    record_set_sort(got);
    for (size_t i = 0; i < got->count; i++) {
        STORE_CASE_CHECK(self, i == 0 || record_set_compare(got, i - 1, got, i) != 0);
        STORE_CASE_CHECK(self, reference_store_may_report(self->truth, got->fingerprints[i], got->ids[i]));
    }
    STORE_CASE_CHECK(self, !exact || record_set_equal(got, &self->truth->truth));
}

void store_case_check_matches(const store_case *self, matches *got, matches *wanted, bool exact)
{
    matches_sort(got);
    for (size_t i = 0; i < got->count; i++) {
        const sstore_match match = matches_get(got, i);
        STORE_CASE_CHECK(self, i == 0 || matches_differ(got, i - 1, got, i));
        STORE_CASE_CHECK(self, reference_store_may_report(self->truth, *match.fingerprint, match.id));
    }
    if (!exact)
        return;
    matches_sort(wanted);
    STORE_CASE_CHECK(self, got->count == wanted->count);
    for (size_t i = 0; i < got->count; i++)
        STORE_CASE_CHECK(self, !matches_differ(got, i, wanted, i));
}

void store_case_check_same_matches(const store_case *self, sstore_status status, const matches *one,
                                   const matches *other)
{
    STORE_CASE_CHECK(self, status != SSTORE_OK || one->count == other->count);
    for (size_t i = 0; i < one->count && i < other->count; i++)
        STORE_CASE_CHECK(self, !matches_differ(one, i, other, i));
}
