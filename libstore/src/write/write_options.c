/*
 * write_options.c - takes the options of the calls that write a store. One struct serves all of them, so a field can be
 * set that a call does not use: it would be lost without a word, and is refused instead.
 */
#include "write/write_options.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"

enum {
    BUILD = SS_WRITE_CALL_BUILD,
    ADD = SS_WRITE_CALL_ADD,
    REMOVE = SS_WRITE_CALL_REMOVE,
    MERGE = SS_WRITE_CALL_MERGE,
    COMPACT = SS_WRITE_CALL_COMPACT,
    DEDUP = SS_WRITE_CALL_DEDUP
};

static const char *name_call(ss_write_call call)
{
    switch (call) {
    case SS_WRITE_CALL_BUILD: return "sstore_builder_create";
    case SS_WRITE_CALL_ADD: return "sstore_builder_create_addition";
    case SS_WRITE_CALL_REMOVE: return "sstore_remover_create";
    case SS_WRITE_CALL_MERGE: return "sstore_merge";
    case SS_WRITE_CALL_COMPACT: return "sstore_compact";
    case SS_WRITE_CALL_DEDUP: break;
    }
    return "sstore_dedup_open";
}

typedef struct field {
    const char *name;
    size_t offset, size;
    int calls; /* that use it */
} field;

/* clang-format off */
#define FIELD(name, calls) \
    {#name, offsetof(sstore_write_options, name), sizeof(((sstore_write_options *)0)->name), calls}
/* clang-format on */

/* The fields that not all calls use. Contexts are left out: they mean nothing without their callbacks. */
static const field fields[] = {
    FIELD(plan, BUILD | ADD | MERGE | COMPACT | DEDUP),
    FIELD(recipe, BUILD | ADD | REMOVE | COMPACT | DEDUP),
    FIELD(distance, BUILD | DEDUP),
    FIELD(no_ids, BUILD),
    FIELD(id_index, BUILD | MERGE | COMPACT),
    FIELD(names, BUILD),
    FIELD(force, BUILD | MERGE),
    FIELD(raise_ids, MERGE),
    FIELD(shard, MERGE),
    FIELD(shard_count, MERGE),
    FIELD(no_compact, ADD | REMOVE | DEDUP),
    FIELD(check_ids, ADD | DEDUP),
    FIELD(replace_records, ADD),
    FIELD(first_id, BUILD),
    FIELD(expected_record_count, BUILD | ADD | REMOVE),
    FIELD(expected_max_id, BUILD | ADD | REMOVE),
    FIELD(on_absent, REMOVE),
    FIELD(publish_every, DEDUP),
    FIELD(limit, DEDUP),
};

/* Bindings may begin with a struct of zeros instead of the initializer. */
static bool is_set(const sstore_write_options *options, const field *option)
{
    static const sstore_write_options defaults = SSTORE_WRITE_OPTIONS_INIT;
    static const uint8_t zeros[sizeof(uint64_t)] = {0};
    const uint8_t *value = (const uint8_t *)options + option->offset;
    return memcmp(value, zeros, option->size) != 0 &&
           memcmp(value, (const uint8_t *)&defaults + option->offset, option->size) != 0;
}

static sstore_status check_unused(const sstore_write_options *options, ss_write_call call, sstore_error *error)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if ((fields[i].calls & (int)call) == 0 && is_set(options, &fields[i]))
            return ss_fail_argument(error,
                                    "%s does not use the option %s: leave it as SSTORE_WRITE_OPTIONS_INIT has it",
                                    name_call(call), fields[i].name);
    return SSTORE_OK;
}

sstore_status ss_write_options_take(sstore_write_options *to, const sstore_write_options *options, ss_write_call call,
                                    sstore_error *error)
{
    *to = (sstore_write_options)SSTORE_WRITE_OPTIONS_INIT;
    sstore_status status = ss_take_options(to, sizeof *to, options, SS_WRITE_OPTIONS_SIZE_1, error);
    if (status == SSTORE_OK)
        status = check_unused(to, call, error);
    to->threads = ss_pool_threads(to->threads);
    to->memory_bytes = ss_memory_or_default(to->memory_bytes);
    return status;
}
