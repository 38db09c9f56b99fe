#include "write/new_names.h"

#include "base/bytes.h"
#include "base/words.h"

#define HASH_WORDS 2u
#define HEAD_WORDS (HASH_WORDS + 1u) /* and the number */

sstore_status ss_new_names_open(ss_new_names *names, uint32_t words, uint64_t memory_bytes, const ss_dir *tmp_dir,
                                sstore_error *error)
{
    *names = (ss_new_names){.words = words};
    const sstore_status status = ss_sorted_items_create(HEAD_WORDS + words, memory_bytes, tmp_dir, &names->items,
                                                        error);
    names->seed = ss_make_seed(names, names->items);
    return status;
}

void ss_new_names_close(ss_new_names *names)
{
    ss_item_reader_close(&names->reader);
    ss_sorted_items_free(names->items);
    *names = (ss_new_names){.items = NULL};
}

sstore_status ss_new_names_add(ss_new_names *names, const sstore_name *name, uint64_t number,
                               const uint64_t *fingerprint, sstore_error *error)
{
    const ss_u128 hash = ss_seeded_hash128(name->bytes, name->size, names->seed);
    uint64_t item[HEAD_WORDS + SSTORE_MAX_WORDS] = {hash.high, hash.low, number};
    ss_words_copy(item + HEAD_WORDS, fingerprint, names->words);
    return ss_sorted_items_add(names->items, item, error);
}

sstore_status ss_new_names_finish(ss_new_names *names, ss_progress *progress, sstore_error *error)
{
    const sstore_status status = ss_sorted_items_finish(names->items, progress, error);
    return status == SSTORE_OK ? ss_item_reader_open(&names->reader, names->items, error) : status;
}

/* A record has the id of the one before it if both have the same name; otherwise it is the first one of its name. */
sstore_status ss_new_names_next(ss_new_names *names, const uint64_t **fingerprint_out, sstore_error *error)
{
    const uint64_t *item;
    const bool is_first = names->reader.piece == 0;
    const sstore_status status = ss_item_reader_next(&names->reader, &item, error);
    *fingerprint_out = item != NULL ? item + HEAD_WORDS : NULL;
    if (item == NULL)
        return status;
    if (is_first || !ss_words_equal(item, names->hash, HASH_WORDS))
        names->id = item[HASH_WORDS];
    ss_words_copy(names->hash, item, HASH_WORDS);
    return SSTORE_OK;
}
