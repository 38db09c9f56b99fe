#include "commands/query_answer.h"

#include <stdlib.h>
#include <string.h>

#include "output/query_merge.h"
#include "output/walk.h"

#define MAX_STORES (TEXT_LIST_MAX + 1)

/* ----- printing ----- */

/* Set what is printed of query `index` behind the usual columns. */
static bool set_notes(query_session *session, uint64_t index)
{
    const sstore_name *name = session->asked.names != NULL ? session->asked.names + index : NULL;
    if (!session->args->query_ids)
        return true;
    if (name == NULL)
        session->notes.query_id = session->asked.ids + index;
    else if (name != session->noted) {
        if (!grow(&session->name_text, &session->name_capacity, 4 * name->size + 1, 1))
            return message_print("out of memory") == EXIT_DONE;
        session->notes.query_name = name_form(name, session->style.json, session->name_text);
        session->noted = name;
    }
    return true;
}

static int print_match(void *context, const sstore_match *match)
{
    query_session *session = context;
    return !set_notes(session, match->query_index) ||
           !output_match(&session->style, session->asked.fingerprints + session->words * match->query_index, match);
}

static int count_match(void *context, const sstore_match *match)
{
    const query_session *session = context;
    session->counts[match->query_index]++;
    return 0;
}

/* Print the number of matches of query `index`. */
static bool print_count(query_session *session, size_t index, uint64_t count)
{
    const uint64_t limit = session->args->limit;
    return set_notes(session, index) &&
           output_count(&session->style, session->asked.fingerprints + session->words * index,
                        count < limit ? count : limit);
}

/* ----- finding ----- */

static int report(void *context, const sstore_progress *progress)
{
    const query_session *session = context;
    progress_show("answering", session->answered + progress->done, 0, progress->fraction);
    return 0;
}

/* The queries from number `begin` on. */
static query_rows rows_from(const query_session *session, const query_rows *rows, size_t begin)
{
    return (query_rows){.fingerprints = rows->fingerprints + session->words * begin,
                        .ids = rows->ids != NULL ? rows->ids + begin : NULL,
                        .names = rows->names != NULL ? rows->names + begin : NULL};
}

/* Begin with other queries. */
static void set_queries(query_session *session, query_rows rows)
{
    session->asked = rows;
    session->noted = NULL;
    if (session->args->exclude_self)
        session->filter.excluded_ids = rows.ids;
}

/* The options of a batch in one of `store_count` stores. */
static sstore_batch_options batch_options(query_session *session, uint32_t store_count)
{
    const query_arguments *args = session->args;
    sstore_batch_options batch = SSTORE_BATCH_OPTIONS_INIT;
    batch.threads = args->threads;
    batch.on_progress = report;
    batch.progress_context = session;
    batch.memory_bytes = args->memory / store_count;
    batch.limit = args->limit != UINT64_MAX ? args->limit : 0;
    batch.filter = session->has_filter ? &session->filter : NULL;
    return batch;
}

/* Begin to count the matches of `count` queries. Returns an exit code. */
static int begin_counts(query_session *session, size_t count)
{
    if (!grow(&session->counts, &session->count_capacity, count, sizeof *session->counts))
        return message_print("out of memory");
    memset(session->counts, 0, count * sizeof *session->counts);
    return EXIT_DONE;
}

/* Answer the first `count` queries. */
static int answer_batch(query_session *session, size_t count, uint32_t distance)
{
    const query_arguments *args = session->args;
    sstore_batch_options batch = batch_options(session, 1);
    sstore_error error;
    bool printed = true;
    if (args->count) {
        if (begin_counts(session, count) != EXIT_DONE)
            return EXIT_FAILED;
        batch.count_only = !query_has_nearest_limit(args);
        batch.match_counts = batch.count_only ? session->counts : NULL;
    }
    const walk_names names = {.expect = stored_names_expect, .names = session->style.names};
    const sstore_status status = walk_named_matches(session->store, session->asked.fingerprints, count, distance,
                                                    &batch, args->count ? NULL : &names,
                                                    args->count ? count_match : print_match, session, &error);
    if (status != SSTORE_OK)
        return message_status(status, &error);
    for (size_t i = 0; args->count && i < count && printed; i++)
        printed = print_count(session, i, session->counts[i]);
    return printed ? EXIT_DONE : EXIT_FAILED;
}

/* Print the first `count` matches of a query. */
static int print_few(query_session *session, uint64_t count)
{
    const sstore_columns *few = &session->few;
    int stopped = 0;
    stored_names_expect(session->style.names, few->id, count);
    for (uint64_t i = 0; i < count && stopped == 0; i++) {
        const sstore_match match = {.fingerprint = few->fingerprint + session->words * i,
                                    .id = few->id[i],
                                    .distance = few->distance[i]};
        stopped = print_match(session, &match);
    }
    return stopped == 0 ? EXIT_DONE : EXIT_FAILED;
}

static int print_answer(query_session *session, uint64_t count)
{
    if (!session->args->count)
        return print_few(session, count);
    return print_count(session, 0, count) ? EXIT_DONE : EXIT_FAILED;
}

/* Answer a query with all its matches. Many are answered as those of a batch. */
static int answer_all(query_session *session, uint32_t distance)
{
    const bool counts = session->args->count;
    sstore_error error;
    uint64_t count;
    const sstore_status status = sstore_query_columns(session->cursor, session->asked.fingerprints, distance,
                                                      counts ? NULL : &session->few, FEW_MATCHES, &count, &error);
    if (status != SSTORE_OK)
        return message_status(status, &error);
    return counts || count <= FEW_MATCHES ? print_answer(session, count) : answer_batch(session, 1, distance);
}

int query_answer_one(query_session *session, query_rows query)
{
    const query_arguments *args = session->args;
    const bool has_limit = args->limit != UINT64_MAX;
    sstore_error error;
    uint64_t count;
    set_queries(session, query);
    sstore_status status = SSTORE_OK;
    if (session->has_filter)
        status = sstore_cursor_set_filter(session->cursor, &session->filter, &error);
    if (status != SSTORE_OK)
        return message_error(&error);
    if (!args->nearest && (args->count || !has_limit))
        return answer_all(session, session->distance);
    if (has_limit && args->limit > FEW_MATCHES)
        return answer_batch(session, 1, session->distance);
    status = sstore_query_nearest(session->cursor, query.fingerprints, session->distance, &session->few,
                                  has_limit ? args->limit : 1, &count, &error);
    if (status != SSTORE_OK)
        return message_status(status, &error);
    return has_limit || count == 0 ? print_answer(session, count) : answer_all(session, session->few.distance[0]);
}

/* ----- several stores, and groups of queries ----- */

static int take_merged(void *context, const merged_match *found)
{
    query_session *session = context;
    const query_arguments *args = session->args;
    if (args->count)
        return count_match(session, &found->match);
    session->style.names = found->store == 0 ? session->named : session->also.named[found->store - 1];
    session->style.has_ids = found->store == 0 ? session->has_ids : session->also.has_ids[found->store - 1];
    session->notes.store = session->also.labels[found->store];
    session->notes.query_count = args->group ? found->query_count : 0;
    return print_match(session, &found->match);
}

/* The filter of a store: only the first one has the ids of the queries. NULL: none. */
static const sstore_id_filter *filter_of(const query_session *session, uint32_t store)
{
    const query_arguments *args = session->args;
    if (store > 0)
        return args->ids.text != NULL ? &args->ids.filter : NULL;
    return session->has_filter ? &session->filter : NULL;
}

static query_merge make_merge(query_session *session, merged_store stores[MAX_STORES], size_t count, uint32_t distance)
{
    const query_arguments *args = session->args;
    const uint32_t store_count = args->also.count + 1;
    for (uint32_t i = 0; i < store_count; i++) {
        stores[i] = (merged_store){.store = i == 0 ? session->store : session->also.stores[i - 1],
                                   .distance = distance,
                                   .options = batch_options(session, store_count)};
        stores[i].options.filter = filter_of(session, i);
    }
    return (query_merge){.stores = stores,
                         .store_count = store_count,
                         .queries = session->asked.fingerprints,
                         .count = count,
                         .groups = args->group ? session->asked.ids : NULL};
}

/* Count the matches of each query in all stores, up to the limit, which those of one store may exceed. */
static int print_merged_counts(query_session *session, const query_merge *merge)
{
    bool printed = true;
    for (size_t begin = 0, end; begin < merge->count && printed; begin = end) {
        uint64_t count = 0;
        end = query_merge_group_end(merge, begin);
        for (size_t i = begin; i < end; i++)
            count += session->counts[i];
        printed = print_count(session, begin, count);
    }
    return printed ? EXIT_DONE : EXIT_FAILED;
}

/* Add up the numbers of matches in all stores, which none of them reports. */
static sstore_status count_in_stores(query_session *session, const query_merge *merge, merged_store *stores,
                                     sstore_error *error)
{
    uint64_t *counts = allocate_or_exit(merge->count, sizeof *counts);
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; i < merge->store_count && status == SSTORE_OK; i++) {
        stores[i].options.count_only = true;
        stores[i].options.match_counts = counts;
        status = walk_matches(stores[i].store, merge->queries, merge->count, stores[i].distance, &stores[i].options,
                              NULL, NULL, error);
        for (size_t j = 0; j < merge->count; j++)
            session->counts[j] += counts[j];
    }
    free(counts);
    return status;
}

/* Answer the first `count` queries in all stores, and each group as one. */
static int answer_merged(query_session *session, size_t count, uint32_t distance)
{
    merged_store stores[MAX_STORES];
    const query_merge merge = make_merge(session, stores, count, distance);
    sstore_error error;
    if (session->args->count && begin_counts(session, count) != EXIT_DONE)
        return EXIT_FAILED;
    const bool counts_only = session->args->count && !session->args->group && !query_has_nearest_limit(session->args);
    const sstore_status status = counts_only ? count_in_stores(session, &merge, stores, &error)
                                             : query_merge_run(&merge, take_merged, session, &error);
    if (status != SSTORE_OK)
        return message_status(status, &error);
    return session->args->count ? print_merged_counts(session, &merge) : EXIT_DONE;
}

/* Lower the distance to that of the nearest record to one of the first `count` queries in all stores. */
static sstore_status find_smallest(const query_session *session, size_t count, uint32_t *distance, bool *found_out,
                                   sstore_error *error)
{
    const sstore_columns columns = {.struct_size = sizeof columns, .distance = distance};
    sstore_status status = SSTORE_OK;
    *found_out = false;
    for (size_t i = 0; i < count; i++)
        for (uint32_t j = 0; j <= session->args->also.count && status == SSTORE_OK; j++) {
            sstore_cursor *cursor = j == 0 ? session->cursor : session->also_cursors[j - 1];
            const sstore_id_filter *filter = filter_of(session, j);
            sstore_id_filter own = filter != NULL ? *filter : (sstore_id_filter)SSTORE_ID_FILTER_INIT;
            uint64_t found = 0;
            if (own.excluded_ids != NULL)
                own.excluded_ids += i;
            status = sstore_cursor_set_filter(cursor, filter != NULL ? &own : NULL, error);
            if (status == SSTORE_OK)
                status = sstore_query_nearest(cursor, session->asked.fingerprints + session->words * i, *distance,
                                              &columns, 1, &found, error);
            *found_out = *found_out || found > 0;
        }
    return status;
}

/* Answer each group, or each query, with all records at its smallest distance. */
static int answer_merged_nearest(query_session *session, size_t count)
{
    const query_merge all = {.count = count, .groups = session->args->group ? session->asked.ids : NULL};
    const query_rows rows = session->asked;
    int code = EXIT_DONE;
    for (size_t begin = 0, end; begin < count && code == EXIT_DONE; begin = end) {
        uint32_t distance = session->distance;
        sstore_error error;
        bool found;
        end = query_merge_group_end(&all, begin);
        set_queries(session, rows_from(session, &rows, begin));
        const sstore_status status = find_smallest(session, end - begin, &distance, &found, &error);
        if (status != SSTORE_OK)
            return message_error(&error);
        if (found)
            code = answer_merged(session, end - begin, distance);
        else if (session->args->count)
            code = print_count(session, 0, 0) ? EXIT_DONE : EXIT_FAILED;
        progress_show("answering", session->answered + end, 0, (double)end / (double)count);
    }
    return code;
}

/* ----- queries in order ----- */

int query_answer_all(query_session *session, query_rows rows, size_t count)
{
    const bool at_smallest_distance = session->args->nearest && !query_has_nearest_limit(session->args);
    int code = EXIT_DONE;
    set_queries(session, rows);
    if (query_is_merged(session)) {
        code = at_smallest_distance ? answer_merged_nearest(session, count)
                                    : answer_merged(session, count, session->distance);
        session->answered += count;
        return code;
    }
    if (!at_smallest_distance)
        code = answer_batch(session, count, session->distance);
    for (size_t i = 0; at_smallest_distance && i < count && code == EXIT_DONE; i++) {
        code = query_answer_one(session, rows_from(session, &rows, i));
        progress_show("answering", session->answered + i, 0, (double)i / (double)count);
    }
    session->answered += count;
    return code;
}
