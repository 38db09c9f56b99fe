#include "write/confirmed_groups.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"
#include "join/near_ids.h"

#define FIRST_RECORDS 1024u
#define DIGEST_WORDS 2u
#define HEAD_WORDS (DIGEST_WORDS + 1u) /* and the place */
#define STOP_EVERY 1024u               /* records, until it is asked whether to stop */

sstore_status ss_confirmed_groups_open(ss_confirmed_groups *groups, const sstore_keeper_options *options,
                                       uint64_t memory_bytes, const ss_dir *tmp_dir, sstore_error *error)
{
    *groups = (ss_confirmed_groups){.options = options, .words = options->fingerprint_bits / SS_WORD_BITS};
    (void)pthread_mutex_init(&groups->confirming, NULL);
    return ss_sorted_items_create(HEAD_WORDS + groups->words, memory_bytes, tmp_dir, &groups->by_digest, error);
}

void ss_confirmed_groups_free(ss_confirmed_groups *groups)
{
    if (groups->options != NULL)
        (void)pthread_mutex_destroy(&groups->confirming);
    ss_sorted_items_free(groups->by_digest);
    ss_edge_filter_close(&groups->connected);
    ss_free(groups->numbers);
    *groups = (ss_confirmed_groups){.count = 0};
}

sstore_status ss_confirmed_groups_add(ss_confirmed_groups *groups, const uint64_t *fingerprint, uint64_t number,
                                      sstore_error *error)
{
    uint64_t item[HEAD_WORDS + SSTORE_MAX_WORDS];
    if (groups->count == UINT32_MAX)
        return ss_fail_argument(error, "more than 2^32 - 1 records cannot be confirmed");
    uint64_t *numbers = ss_grow(groups->numbers, groups->count, &groups->capacity, FIRST_RECORDS, sizeof *numbers);
    if (numbers == NULL)
        return ss_fail_memory(error, 2 * groups->capacity * sizeof *numbers);
    groups->numbers = numbers;
    groups->options->digest(groups->options->confirm_context, number, item);
    item[DIGEST_WORDS] = groups->count;
    ss_words_copy(item + HEAD_WORDS, fingerprint, groups->words);
    numbers[groups->count++] = number;
    return ss_sorted_items_add(groups->by_digest, item, error);
}

uint32_t ss_confirmed_groups_first(ss_confirmed_groups *groups, uint32_t place)
{
    const uint64_t node = place;
    uint32_t root;
    ss_edge_filter_roots(&groups->connected, &node, 1, &root); /* of a dense filter, the smallest node */
    return root;
}

/* ----- records of one digest ----- */

sstore_status ss_confirmed_groups_add_distinct(ss_confirmed_groups *groups, ss_progress *progress,
                                               sstore_builder *builder, sstore_error *error)
{
    ss_item_reader reader = {.from = NULL};
    uint64_t last[HEAD_WORDS] = {0}; /* the first item of the current digest */
    const uint64_t *item = NULL;
    sstore_status status = ss_edge_filter_open_dense(&groups->connected, (uint32_t)groups->count, error);
    if (status == SSTORE_OK)
        status = ss_sorted_items_finish(groups->by_digest, progress, error);
    if (status == SSTORE_OK)
        status = ss_item_reader_open(&reader, groups->by_digest, error);
    if (status == SSTORE_OK)
        status = ss_item_reader_next(&reader, &item, error);
    for (uint64_t i = 0; status == SSTORE_OK && item != NULL; i++) {
        if (i > 0 && ss_words_equal(item, last, DIGEST_WORDS)) {
            (void)ss_edge_filter_pass(&groups->connected, last[DIGEST_WORDS], item[DIGEST_WORDS]);
        } else {
            ss_words_copy(last, item, HEAD_WORDS);
            status = sstore_builder_add(builder, item + HEAD_WORDS, &item[DIGEST_WORDS], 1, error);
        }
        if (status == SSTORE_OK && i % STOP_EVERY == 0)
            status = ss_progress_add(progress, 0, 0);
        if (status == SSTORE_OK)
            status = ss_item_reader_next(&reader, &item, error);
    }
    ss_item_reader_close(&reader);
    ss_sorted_items_free(groups->by_digest);
    groups->by_digest = NULL;
    return status;
}

/* ----- pairs ----- */

static bool are_connected(ss_confirmed_groups *groups, const uint64_t places[2])
{
    uint32_t firsts[2];
    ss_edge_filter_roots(&groups->connected, places, 2, firsts);
    return firsts[0] == firsts[1];
}

/* Connect two near records if that is confirmed. Returns whether they are connected. */
static bool take_places(void *context, uint32_t place, uint32_t other)
{
    ss_confirmed_groups *groups = context;
    const sstore_keeper_options *options = groups->options;
    const uint64_t places[2] = {place, other};
    uint32_t unused;
    if (are_connected(groups, places))
        return true;
    (void)pthread_mutex_lock(&groups->confirming);
    if (!are_connected(groups, places) &&
        options->confirm(options->confirm_context, groups->numbers[place], groups->numbers[other], &unused))
        (void)ss_edge_filter_pass(&groups->connected, place, other);
    (void)pthread_mutex_unlock(&groups->confirming);
    return are_connected(groups, places);
}

sstore_status ss_confirmed_groups_connect(ss_confirmed_groups *groups, const sstore *store,
                                          const sstore_join_options *options, sstore_error *error)
{
    return ss_near_ids_find(store, options, take_places, groups, error);
}
