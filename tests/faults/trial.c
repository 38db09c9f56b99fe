#include "faults/trial.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/process.h"

#define FEW_TRIALS 8u /* of an operation; then it may be that none fails */

uint64_t trial_step(uint64_t sanitized)
{
    return testing_number("SSTORE_TEST_STEP", testing_long() ? 1 : testing_sanitized() ? sanitized : 3);
}

/* ----- refusing ----- */

typedef struct refusal {
    const fault *what;
    uint64_t at, calls;
    system_call_kind struck_kind;
    bool struck;
} refusal;

/* A file in memory: reads are never short, which LMDB relies on. */
static bool is_in_memory(int fd)
{
    char name[64], target[16] = {0};
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    return readlink(name, target, sizeof target - 1) > 0 && strncmp(target, "/memfd:", 7) == 0;
}

static bool is_meant(const fault *what, const system_call *call)
{
    if ((what->kinds & KIND(call->kind)) == 0 || (what->error == 0 && is_in_memory(call->fd)))
        return false;
    return call->kind != CALL_OPEN || !what->creating || (call->flags & (O_CREAT | O_TMPFILE)) != 0;
}

static verdict refuse(void *context, const system_call *call)
{
    refusal *self = context;
    const verdict granted = {.size = call->size};
    if (!is_meant(self->what, call))
        return granted;
    const uint64_t number = __atomic_add_fetch(&self->calls, 1, __ATOMIC_SEQ_CST);
    if (number != self->at && (!self->what->for_good || number < self->at))
        return granted;
    if (!__atomic_exchange_n(&self->struck, true, __ATOMIC_SEQ_CST))
        self->struck_kind = call->kind;
    return (verdict){.error = self->what->error, .size = (call->size + 1) / 2};
}

/* The results of trials. */
typedef struct tally {
    uint64_t trials;       /* in which the fault struck */
    uint64_t came_through; /* succeeded nevertheless */
    uint64_t failed;       /* with an error, the store unchanged */
    uint64_t failed_late;  /* with an error, the store changed: a later step failed */
} tally;

static void tally_add(tally *to, const tally *sum)
{
    to->trials += sum->trials;
    to->came_through += sum->came_through;
    to->failed += sum->failed;
    to->failed_late += sum->failed_late;
}

/* ----- resources of the process ----- */

typedef struct holdings {
    long blocks;
    size_t files, maps;
} holdings;

static holdings hold(void)
{
    return (holdings){.blocks = interpose_live_blocks(),
                      .files = process_open_files(),
                      .maps = process_maps("/seg-", "memfd:sstore")}; /* block files, directories in memory */
}

/* ----- trying ----- */

/* The error names the refused request; it is not damage. */
static void check_error(sstore_status status, const sstore_error *error, const fault *refused)
{
    if (status == SSTORE_OK)
        return;
    assert_int_equal(error->status, status);
    if (status != refused->status || error->message[0] == '\0')
        fail_msg("the error is '%s': %s", sstore_status_name(status), error->message);
}

/* Once without a fault: the permanent allocations of the C library and LMDB are made, and the states are checked. */
static void warm_up(const operation *self, uint32_t threads)
{
    sstore_error error;
    operation_set_stage(self);
    assert_ok(self->run(self, threads, &error), &error);
    assert_int_equal(operation_check(self), STORE_AFTER);
    operation_check_tidy(self);
}

/* Check the leftovers of a failure: none, unless the fault hit the cleanup, or came so late that both the old and the
 * new files must stay, because a power cut could leave either state. */
static void check_left(const operation *self, sstore_status status, const refusal *by, tally *sum)
{
    const store_state before = self->saved[0] == '\0' ? STORE_ABSENT : STORE_BEFORE;
    const store_state state = operation_check(self);
    if (status != SSTORE_OK && state == before && !by->what->for_good && by->struck_kind != CALL_REMOVE)
        operation_check_tidy(self);
    sum->trials++;
    sum->came_through += status == SSTORE_OK;
    const bool is_late = state == STORE_AFTER && operation_is_seen(self);
    sum->failed += status != SSTORE_OK && !is_late;
    sum->failed_late += status != SSTORE_OK && is_late;
    if (state != STORE_AFTER)
        assert_int_equal(state, before);
    if (status == SSTORE_OK)
        assert_int_equal(state, STORE_AFTER);
}

/* The next one succeeds, and removes leftovers. */
static void run_again(const operation *self, uint32_t threads)
{
    sstore_error error = {.status = SSTORE_OK};
    const sstore_status status = self->run(self, threads, &error);
    if (status == SSTORE_ERROR_EXISTS && self->saved[0] == '\0')
        return; /* it is built */
    assert_ok(status, &error);
    assert_int_equal(operation_check(self), STORE_AFTER);
    if (self->writes)
        operation_check_tidy(self);
}

/* Returns false if there was no `at`-th call, so it succeeded. */
static bool trial_run(const operation *self, const fault *refused, uint64_t at, uint32_t threads, tally *sum)
{
    sstore_error error = {.status = SSTORE_OK};
    refusal by = {.what = refused, .at = at};
    const interposer hooks = {.before = refuse, .context = &by};
    testing_doing("%s with %u threads, %s%s at call %" PRIu64, self->name, threads, refused->name,
                  refused->for_good ? " for good" : "", at);
    operation_set_stage(self);
    const holdings before = hold();
    interpose_begin(&hooks);
    const sstore_status status = self->run(self, threads, &error);
    interpose_end();
    const holdings after = hold();
    check_error(status, &error, refused);
    if (!by.struck)
        assert_int_equal(status, SSTORE_OK);
    assert_int_equal(after.files, before.files);
    assert_int_equal(after.maps, before.maps);
    if (!testing_sanitized()) /* it also counts LMDB's memory, and a sanitizer finds leaks itself */
        assert_int_equal(after.blocks, before.blocks);
    if (!by.struck) {
        assert_int_equal(operation_check(self), STORE_AFTER);
        return false;
    }
    check_left(self, status, &by, sum);
    run_again(self, threads);
    return true;
}

static void run_all(const operation *self, const fault *refused, uint32_t threads, uint64_t step, uint64_t first,
                    tally *sum)
{
    for (uint64_t at = 1 + first % step; trial_run(self, refused, at, threads, sum); at += step)
        ;
}

void trial_run_all(const trials *all, const char *what, uint64_t step, uint64_t seed)
{
    tally total = {0};
    for (size_t i = 0; i < all->operation_count; i++) {
        const operation *tried = &all->operations[i];
        tally sum = {0};
        warm_up(tried, 1);
        warm_up(tried, 3);
        for (size_t j = 0; j < all->fault_count; j++) {
            run_all(tried, &all->faults[j], 1, step, seed + j, &sum);
            run_all(tried, &all->faults[j], 3, testing_long() ? 1 : 5 * step, seed + i, &sum);
        }
        printf("%-12s %5" PRIu64 " calls refused: %" PRIu64 " came through, %" PRIu64 " failed, %" PRIu64
               " failed when all was done\n",
               tried->name, sum.trials, sum.came_through, sum.failed, sum.failed_late);
        fflush(stdout);
        assert_true(sum.failed > 0 || sum.trials < FEW_TRIALS);
        tally_add(&total, &sum);
    }
    testing_figure("calls %s refused: %" PRIu64 " in %zu operations: %" PRIu64 " came through, %" PRIu64
                   " failed, %" PRIu64 " failed late; 0 leaked, 0 stores mixed, each worked when tried again",
                   what, total.trials, all->operation_count, total.came_through, total.failed, total.failed_late);
    testing_done();
}
