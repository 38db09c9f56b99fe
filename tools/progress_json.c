/*
 * progress_json.c - progress as a JSON object on stderr.
 */
#include "progress_json.h"

#ifdef SSTORE_HAVE_JANSSON

#include <jansson.h>

void progress_print_json(const progress_facts *facts)
{
    const sstore_progress *now = facts->now;
    json_t *object = json_pack("{s:s, s:I, s:I, s:f}", "phase", now->phase, "done", (json_int_t)now->done, "total",
                               (json_int_t)now->total, "share", now->share);
    if (object != NULL && now->table_count > 0) {
        (void)json_object_set_new(object, "table", json_integer(now->table));
        (void)json_object_set_new(object, "tables", json_integer(now->table_count));
    }
    if (object != NULL && facts->rate > 0)
        (void)json_object_set_new(object, "per_second", json_real(facts->rate));
    if (object != NULL && facts->seconds_left >= 0)
        (void)json_object_set_new(object, "seconds_left", json_real(facts->seconds_left));
    if (object != NULL && json_dumpf(object, stderr, JSON_COMPACT | JSON_REAL_PRECISION(6)) == 0)
        fputc('\n', stderr);
    json_decref(object);
}

#else

void progress_print_json(const progress_facts *facts)
{
    (void)facts;
}

#endif
