/*
 * plan_json.c - the estimates of plans as one JSON object.
 */
#include "cmd.h"
#include "plan_report.h"

#ifdef SSTORE_HAVE_JANSSON

#include "print_json.h"

static json_t *plan_value(const sstore_plan_estimate *plan)
{
    return json_pack("{s:s, s:I, s:[I,I], s:[I,I], s:f, s:I, s:f, s:I, s:f, s:f, s:f, s:f, s:f, s:b, s:b, s:b, s:s?}",
                     "plan", plan->plan, "tables", (json_int_t)plan->table_count, "prefix_bits",
                     (json_int_t)plan->least_prefix_bits, (json_int_t)plan->most_prefix_bits, "radius",
                     (json_int_t)plan->least_radius, (json_int_t)plan->most_radius, "bits_per_fingerprint",
                     plan->table_bits, "bytes", (json_int_t)plan->total_bytes, "bytes_per_record", plan->bytes_each,
                     "directory_bytes", (json_int_t)plan->directory_bytes, "probes", plan->probe_count, "blocks",
                     plan->block_count, "candidates", plan->candidate_count, "warm_us", plan->warm_ns / 1e3, "cold_us",
                     plan->cold_ns / 1e3, "scans", plan->scans, "useful", plan->useful, "chosen", plan->chosen,
                     "reason", plan->chosen ? plan->reason : NULL);
}

static json_t *report_value(const plan_report *report)
{
    const sstore_plan_options *options = report->options;
    json_t *plans = json_array();
    for (size_t i = 0; i < report->count; i++) {
        if (json_array_append_new(plans, plan_value(&report->plans[i])) != 0) {
            json_decref(plans);
            return NULL;
        }
    }
    return json_pack("{s:I, s:I, s:b, s:I, s:o}", "records", (json_int_t)options->record_count, "distance",
                     (json_int_t)options->distance, "has_ids", options->has_ids, "sampled",
                     (json_int_t)options->sample_count, "plans", plans);
}

int plan_print_json(const plan_report *report)
{
    return print_json(report_value(report));
}

#else

int plan_print_json(const plan_report *report)
{
    (void)report;
    return EXIT_FAILED;
}

#endif
