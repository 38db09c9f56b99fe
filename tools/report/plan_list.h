/*
 * plan_list.h - estimates of plans, to be compared.
 */
#ifndef PLAN_LIST_H
#define PLAN_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "output/json.h"
#include "sstore.h"
#include "sstore_statistics.h"

typedef struct plan_list {
    sstore_plan_options options; /* what they are for, without the sample */
    sstore_plan_estimate *items; /* ascending by bytes */
    size_t count, capacity;
} plan_list;

/* Estimate plans, all or only the useful ones. Returns an exit code. free() the items in any case. */
int plan_list_make(plan_list *plans, const sstore_plan_options *options, bool all);

/* The object that 'sstore plan --json' prints: for what the plans are, and each of them. */
json_value *plan_list_value(const plan_list *plans);

#endif
