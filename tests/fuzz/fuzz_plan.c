/*
 * fuzz_plan.c - any text as the name of a plan. An accepted plan must be complete, be written and read again as the
 * same plan, and give complete radii at other distances.
 *   1 byte: the distance to build for; 1 byte: the one to ask at; then the name
 */
#include "plan/cost.h"
#include "support/fuzzing.h"

/* Of long names and large distances the search for what slips through takes longer than a fuzzer has patience. */
#define DISTANCES 4u
#define QUERY_DISTANCES 7u
#define MAX_NAME_BYTES 160u

static void check_written(const ss_plan *plan)
{
    char name[2048];
    ss_plan again;
    FUZZ_CHECK(ss_plan_format(plan, name, sizeof name) < sizeof name);
    FUZZ_CHECK(ss_plan_parse(name, plan->distance, &again, NULL) == SSTORE_OK);
    FUZZ_CHECK(again.table_count == plan->table_count);
    for (uint32_t i = 0; i < plan->table_count; i++)
        FUZZ_CHECK(again.tables[i].key_mask == plan->tables[i].key_mask &&
                   again.tables[i].radius == plan->tables[i].radius);
}

static void check_query(const ss_plan *plan, uint32_t distance)
{
    static const ss_cost_model model = {.fingerprint_count = 1e6, .block_count = 1e4, .io = SSTORE_IO_PREAD};
    ss_query_plan query;
    ss_steps steps = {.left = SS_CALL_STEPS};
    uint64_t pattern;
    ss_query_plan_init(&query, plan, distance, &model, &steps);
    FUZZ_CHECK(query.full_scan || !ss_plan_find_uncovered(plan, query.radii, distance, NULL, &pattern));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input input = {.at = data, .left = size};
    const uint32_t distance = (uint32_t)fuzz_take(&input, 1) % DISTANCES;
    const uint32_t asked = (uint32_t)fuzz_take(&input, 1) % QUERY_DISTANCES;
    const size_t length = input.left < MAX_NAME_BYTES ? input.left : MAX_NAME_BYTES;
    char *name = (char *)fuzz_take_rest(&input, length + 1); /* exactly as long as the name and its end */
    name[length] = '\0';
    ss_plan plan;
    sstore_error error = {.status = SSTORE_OK};
    const char *reason;
    const sstore_status status = ss_plan_parse(name, distance, &plan, &error);
    FUZZ_CHECK(error.status == status && (status == SSTORE_OK || status == SSTORE_ERROR_ARGUMENT));
    if (status == SSTORE_OK) {
        FUZZ_CHECK(ss_plan_valid(&plan, NULL, &reason));
        check_written(&plan);
        check_query(&plan, asked);
    }
    free(name);
    return 0;
}
