/*
 * test_unnamed_files.c - file systems without unnamed files, such as some network file systems: a temporary file then
 * has a name for a moment. Everything must work, and no file may be left. If such names are taken, others are used, or
 * the call fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "faults/interpose.h"
#include "faults/operations.h"
#include "support/random.h"
#include "support/scratch.h"

typedef struct old_system {
    int error;               /* the errno for unnamed files */
    uint64_t refused, named; /* files without a name, and those that got one for a moment */
    uint64_t taken;          /* so many names are reported as taken */
} old_system;

static bool is_temporary(const char *name)
{
    return name != NULL && strncmp(name, "sstore-run-", strlen("sstore-run-")) == 0;
}

static verdict refuse(void *context, const system_call *call)
{
    old_system *self = context;
    verdict what = {.size = call->size};
    if (call->kind != CALL_OPEN)
        return what;
    if ((call->flags & O_TMPFILE) == O_TMPFILE) {
        self->refused++;
        what.error = self->error;
    } else if (is_temporary(call->name) && self->named++ % (self->taken + 1) < self->taken) {
        what.error = EEXIST;
    }
    return what;
}

static sstore_status run(const operation *self, old_system *on, sstore_error *error)
{
    const interposer hooks = {.before = refuse, .context = on};
    testing_doing("%s, errno %d, %u names taken", self->name, on->error, (unsigned)on->taken);
    operation_set_stage(self);
    interpose_begin(&hooks);
    const sstore_status status = self->run(self, 1, error);
    interpose_end();
    file_list left = file_list_make(scratch_folder(), "");
    for (size_t i = 0; i < left.count; i++)
        assert_null(strstr(left.names[i], "sstore-run-"));
    file_list_free(&left);
    return status;
}

static void test_without_unnamed_files(void **state)
{
    static const int errors[] = {EOPNOTSUPP, EISDIR, EINVAL};
    operation spilling;
    operation_make_spilling(run_seed, &spilling);
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        for (uint64_t taken = 0; taken < 3; taken++) {
            old_system on = {.error = errors[i], .taken = taken};
            sstore_error error = {.status = SSTORE_OK};
            assert_ok(run(&spilling, &on, &error), &error);
            assert_int_equal(operation_check(&spilling), STORE_AFTER);
            assert_true(on.refused > 0);
            assert_int_equal(on.named, on.refused * (taken + 1));
        }
    operation_free(&spilling);
    testing_done();
}

/* It finally fails. */
static void test_every_name_taken(void **state)
{
    operation spilling;
    sstore_error error = {.status = SSTORE_OK};
    old_system on = {.error = EOPNOTSUPP, .taken = UINT64_MAX - 1};
    operation_make_spilling(run_seed, &spilling);
    assert_status(run(&spilling, &on, &error), SSTORE_ERROR_IO, &error);
    assert_int_equal(error.system_errno, EEXIST);
    assert_int_equal(operation_check(&spilling), STORE_ABSENT);
    operation_free(&spilling);
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_without_unnamed_files, testing_teardown),
        cmocka_unit_test_teardown(test_every_name_taken, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
