/*
 * store_case.h - a store made from an input, valid or with one defect, its true contents, and the results that calls on
 * it may have. Shared by the fuzz targets for whole stores.
 */
#ifndef SUPPORT_STORE_CASE_H
#define SUPPORT_STORE_CASE_H

#include "support/invalid_store.h"
#include "support/reference_store.h"
#include "support/step_count.h"

typedef struct store_case {
    invalid_store_plan plan;
    store_defect defect;
    edited_store made;
    reference_store *truth;
    char path[256];
} store_case;

/* Take a store from the input and write it to a path in the scratch folder. Freed with store_case_free(), which leaves
 * the path. */
void store_case_make(store_case *made, const char *name, fuzz_input *input);
void store_case_free(store_case *self);

/* Whether the store is valid, so that all calls must succeed. */
bool store_case_is_valid(const store_case *self);
/* Whether none of these rules is broken. */
bool store_case_keeps(const store_case *self, uint32_t rules);

/* Unless the condition holds, describe the store and end the program. */
#define STORE_CASE_CHECK(self, condition)                                                                              \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            store_case_fail(self, __FILE__, __LINE__, #condition);                                                     \
    } while (0)
void store_case_fail(const store_case *self, const char *file, int line, const char *condition)
    __attribute__((noreturn));

/* Check the status of a call: success, or damage if the store has a defect. Returns whether it succeeded. */
bool store_case_ok(const store_case *self, sstore_status status, const sstore_error *error);
/* Check the status of a call that writes. It may also refuse counts that the defect made impossible. */
bool store_case_written(const store_case *self, sstore_status status, const sstore_error *error);

/* ----- records ----- */

/* Compare the records that a call reported, sorted here, with the store: no record twice, and none that the store does
 * not have; all of them if the call succeeded and `exact`. */
void store_case_check_records(const store_case *self, record_set *got, bool exact);
/* Compare matches with the expected ones; both are sorted here. */
void store_case_check_matches(const store_case *self, matches *got, matches *wanted, bool exact);

/* For two calls with this status that must give the same matches in the same order: the matches that both gave must be
 * equal; after success, all of them. */
void store_case_check_same_matches(const store_case *self, sstore_status status, const matches *one,
                                   const matches *other);

#endif
