#include "report/plan_list.h"

#include "output/messages.h"

static int keep_plan(void *context, const sstore_plan_estimate *estimate)
{
    plan_list *to = context;
    if (!grow(&to->items, &to->capacity, to->count + 1, sizeof *to->items))
        return 1;
    to->items[to->count++] = *estimate;
    return 0;
}

static int keep_useful_plan(void *context, const sstore_plan_estimate *estimate)
{
    return estimate->is_useful ? keep_plan(context, estimate) : 0;
}

int plan_list_make(plan_list *plans, const sstore_plan_options *options, bool all)
{
    sstore_error error;
    plans->options = *options;
    plans->options.sample = NULL;
    const sstore_status status = sstore_plan(options, all ? keep_plan : keep_useful_plan, plans, &error);
    if (status == SSTORE_STOPPED)
        message_print("out of memory");
    return message_status(status, &error);
}

static json_value *plan_value(const sstore_plan_estimate *plan)
{
    return json_value_make(
        "{s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:I, s:f, s:I, s:f, s:f, s:f, s:f, s:f, s:b, s:b, s:b, s:s?}", "plan",
        plan->plan, "table_count", (long long)plan->table_count, "min_prefix_bits", (long long)plan->min_prefix_bits,
        "max_prefix_bits", (long long)plan->max_prefix_bits, "min_radius", (long long)plan->min_radius, "max_radius",
        (long long)plan->max_radius, "bits_per_fingerprint", plan->bits_per_fingerprint, "total_bytes",
        (long long)plan->total_bytes, "bytes_per_record", plan->bytes_per_record, "directory_bytes",
        (long long)plan->directory_bytes, "probe_count", plan->probe_count, "block_count", plan->block_count,
        "candidate_count", plan->candidate_count, "warm_ns", plan->warm_ns, "cold_ns", plan->cold_ns, "is_full_scan",
        plan->is_full_scan, "is_useful", plan->is_useful, "is_chosen", plan->is_chosen, "reason",
        plan->is_chosen ? plan->reason : NULL);
}

json_value *plan_list_value(const plan_list *plans)
{
    const sstore_plan_options *options = &plans->options;
    json_value *items = json_value_make("[]");
    for (size_t i = 0; i < plans->count; i++)
        json_value_append(&items, plan_value(&plans->items[i]));
    return json_value_make("{s:I, s:i, s:I, s:b, s:I, s:o}", "record_count", (long long)options->record_count,
                           "fingerprint_bits", (int)options->fingerprint_bits, "distance", (long long)options->distance,
                           "has_ids", (int)!options->no_ids, "sample_count", (long long)options->sample_count, "plans",
                           items);
}
