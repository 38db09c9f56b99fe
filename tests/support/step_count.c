#include "support/step_count.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "plan/plan.h"
#include "store/block_file.h"

static step_count done;   /* by one thread: the calls that are counted use no more */
static const char *doing; /* NULL: nothing is counted */

void step_count_begin(const char *what)
{
    done = (step_count){.reads = 0};
    doing = what;
}

step_count step_count_end(void)
{
    doing = NULL;
    return done;
}

static void count(uint64_t reads, uint64_t steps)
{
    if (doing == NULL)
        return;
    done.reads += reads;
    done.steps += steps;
    if (done.reads <= STEP_COUNT_MAX_READS && done.steps <= STEP_COUNT_MAX_STEPS)
        return;
    fprintf(stderr, "%s: %" PRIu64 " reads and %" PRIu64 " steps are too much work\n", doing, done.reads, done.steps);
    abort();
}

sstore_status __real_ss_file_read_at(const ss_file *file, uint64_t offset, void *buffer, size_t size,
                                     sstore_error *error);
sstore_status __wrap_ss_file_read_at(const ss_file *file, uint64_t offset, void *buffer, size_t size,
                                     sstore_error *error);

sstore_status __wrap_ss_file_read_at(const ss_file *file, uint64_t offset, void *buffer, size_t size,
                                     sstore_error *error)
{
    count(1, 0);
    return __real_ss_file_read_at(file, offset, buffer, size, error);
}

bool __real_ss_file_try_read(const ss_file *file, uint64_t offset, void *buffer, size_t size);
bool __wrap_ss_file_try_read(const ss_file *file, uint64_t offset, void *buffer, size_t size);

bool __wrap_ss_file_try_read(const ss_file *file, uint64_t offset, void *buffer, size_t size)
{
    count(1, 0);
    return __real_ss_file_try_read(file, offset, buffer, size);
}

sstore_status __real_ss_block_reader_get(const ss_block_reader *reader, uint64_t block, uint8_t *buffer,
                                         const uint8_t **bytes_out, sstore_error *error);
sstore_status __wrap_ss_block_reader_get(const ss_block_reader *reader, uint64_t block, uint8_t *buffer,
                                         const uint8_t **bytes_out, sstore_error *error);

/* Also where no file is read, since it is mapped or in memory. */
sstore_status __wrap_ss_block_reader_get(const ss_block_reader *reader, uint64_t block, uint8_t *buffer,
                                         const uint8_t **bytes_out, sstore_error *error)
{
    count(1, 0);
    return __real_ss_block_reader_get(reader, block, buffer, bytes_out, error);
}

sstore_status __real_ss_block_reader_get_once(const ss_block_reader *reader, uint64_t block, uint8_t *buffer,
                                              const uint8_t **bytes_out, sstore_error *error);
sstore_status __wrap_ss_block_reader_get_once(const ss_block_reader *reader, uint64_t block, uint8_t *buffer,
                                              const uint8_t **bytes_out, sstore_error *error);

sstore_status __wrap_ss_block_reader_get_once(const ss_block_reader *reader, uint64_t block, uint8_t *buffer,
                                              const uint8_t **bytes_out, sstore_error *error)
{
    count(1, 0);
    return __real_ss_block_reader_get_once(reader, block, buffer, bytes_out, error);
}

bool __real_ss_plan_find_uncovered(const ss_plan *plan, const int32_t *radii, uint32_t distance, ss_steps *steps,
                                   uint64_t *pattern_out);
bool __wrap_ss_plan_find_uncovered(const ss_plan *plan, const int32_t *radii, uint32_t distance, ss_steps *steps,
                                   uint64_t *pattern_out);

bool __wrap_ss_plan_find_uncovered(const ss_plan *plan, const int32_t *radii, uint32_t distance, ss_steps *steps,
                                   uint64_t *pattern_out)
{
    ss_steps own_steps = {.left = SS_CALL_STEPS};
    if (steps == NULL)
        steps = &own_steps;
    const uint64_t before = steps->left;
    const bool found = __real_ss_plan_find_uncovered(plan, radii, distance, steps, pattern_out);
    count(0, before - steps->left);
    return found;
}
