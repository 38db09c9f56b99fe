/*
 * testing.h - every test program includes this first: cmocka with the headers that it needs, settings from the
 * environment, and words for what a test is doing.
 */
#ifndef SUPPORT_TESTING_H
#define SUPPORT_TESTING_H

/* cmocka.h needs these four before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>

#include "sstore.h"

/* A number from the environment, or `fallback` where the variable is not set. What is no number ends the program. */
uint64_t testing_number(const char *variable, uint64_t fallback);

/* Whether SSTORE_TEST_LONG asks for every case. */
bool testing_long(void);

/* Whether SSTORE_TEST_FEW asks for as few cases as with a sanitizer. */
bool testing_few(void);

/* Whether this program is built with a sanitizer, and so some ten times as slow. */
bool testing_sanitized(void);

/* Whether this program is built to find races: then tests leave what is no matter of threads to other builds. */
static inline bool testing_races(void)
{
#ifdef __SANITIZE_THREAD__
    return true;
#else
    return false;
#endif
}

/* Whether this program is sanitized, or not optimised, or few cases are wanted: then tests of many cases try fewer.
 * Here, since the helpers are always optimised. */
static inline bool testing_slow(void)
{
#ifdef __OPTIMIZE__
    return testing_sanitized() || testing_few();
#else
    return true;
#endif
}

/*
 * Say what is being tested from now on, as printf does. The words are printed if the process dies of a signal or of a
 * sanitizer, and by testing_teardown() where a test failed: so they can be set a million times and cost no output.
 */
void testing_doing(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The test came through: nothing to say. */
void testing_done(void);

/*
 * Say what a test has tried, how often, and what became of it. The line, "figure: " and the words, goes to stdout, from
 * where tests/run.sh gathers the figures of all tests. None is printed by a test that fails before.
 */
void testing_figure(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A cmocka teardown: prints the words of a test that ended without testing_done(). */
int testing_teardown(void **state);

/* Fail unless `call` returns SSTORE_OK; prints the message in *error. */
#define assert_ok(call, error) testing_assert_status(call, SSTORE_OK, error, #call, __FILE__, __LINE__)
/* Fail unless `call` returns `wanted`; what is returned is printed by name, with the message in *error. */
#define assert_status(call, wanted, error) testing_assert_status(call, wanted, error, #call, __FILE__, __LINE__)

/* What the two macros call. `error` may be NULL. It also fails where a status is an error and *error does not tell. */
void testing_assert_status(sstore_status status, sstore_status wanted, const sstore_error *error, const char *call,
                           const char *file, int line);

/* The defaults, but each change is a segment of its own: most tests are about several segments. */
extern const sstore_write_options change_apart;

/* The state of a deduplication. */
sstore_dedup_statistics dedup_state(const sstore_dedup *dedup);

#endif
