/*
 * lie_case.h - a store made from an input, honest or with one lie, its true contents, and the results that calls on it
 * may have. The fuzz targets for whole stores share it.
 */
#ifndef SUPPORT_LIE_CASE_H
#define SUPPORT_LIE_CASE_H

#include "support/one_lie.h"
#include "support/slow_store.h"
#include "support/work.h"

typedef struct lie_case {
    lie_plan plan;
    lie about;
    hostile_store made;
    slow_store *truth;
    char path[256];
} lie_case;

/* Take a store from the input and write it to a path in the scratch folder. Freed with lie_case_free(), which leaves
 * the path. */
void lie_case_make(lie_case *made, const char *name, fuzz_input *input);
void lie_case_free(lie_case *of);

/* Whether nothing is wrong with the store, and all calls must succeed. */
bool lie_case_is_honest(const lie_case *of);
/* Whether none of these rules is broken. */
bool lie_case_keeps(const lie_case *of, uint32_t rules);

/* End the program unless the condition holds, and say what the store is. */
#define LIE_CHECK(of, condition)                                                                                       \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            lie_case_fail(of, __FILE__, __LINE__, #condition);                                                         \
    } while (0)
void lie_case_fail(const lie_case *of, const char *file, int line, const char *condition) __attribute__((noreturn));

/* A call ended: in success, or by damage where there is a lie. Returns whether it was in success. */
bool lie_case_ok(const lie_case *of, sstore_status status, const sstore_error *error);
/* The same of a call that writes, which may also refuse to go on with numbers that a lie has made impossible. */
bool lie_case_written(const lie_case *of, sstore_status status, const sstore_error *error);

/* ----- records ----- */

/* Hold what a call reported, which gets sorted, against the store: each record once, and none that is not there; all
 * of them if the call came to its end and `exact`. */
void lie_case_check_records(const lie_case *of, oracle *got, bool exact);
/* The same for matches with what is to be found, both sorted here. */
void lie_case_check_matches(const lie_case *of, matches *got, matches *wanted, bool exact);

/* Of two calls that promise the same matches in the same order, both with this status: as far as both went they must
 * agree, and after success in everything. */
void lie_case_check_same_matches(const lie_case *of, sstore_status status, const matches *one, const matches *other);

/* Records that grow. Freed with oracle_free(). */
void records_add(oracle *records, uint64_t fingerprint, uint64_t id);
void records_sort(oracle *records);
bool records_has(const oracle *records, uint64_t fingerprint, uint64_t id);
bool records_equal(const oracle *left, const oracle *right);

#endif
