/*
 * test_exchange.c - a block in the place of another one, or exchanged with it, must be found: any two blocks of a
 * store's files, of its segments, and of a second similar store. With SSTORE_TEST_LONG=1 every pair is tried, otherwise
 * every block with some others.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/damage.h"
#include "support/use_store.h"
#include "support/widened.h"

#define HEADER_BYTES 4096u /* of a block file: format-spec/sstore-format.md, section 4 */
#define MAX_BLOCKS 1024u

typedef struct block {
    size_t file;
    const uint8_t *bytes; /* as it should be, in damage_store.contents */
} block;

typedef struct blocks {
    block items[MAX_BLOCKS];
    size_t count;
} blocks;

static bool is_block_file(const char *name)
{
    const size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".blk") == 0;
}

static void list_blocks(const damage_store *store, size_t block_bytes, blocks *out)
{
    for (size_t file = 0; file < store->files.count; file++) {
        const file_bytes *content = &store->contents[file];
        for (size_t at = HEADER_BYTES; is_block_file(store->files.names[file]) && at < content->size;
             at += block_bytes) {
            assert_true(out->count < MAX_BLOCKS);
            out->items[out->count++] = (block){file, content->data + at};
        }
    }
}

static void put(const damage_store *store, const block *where, const uint8_t *what, size_t block_bytes)
{
    file_patch(damage_path(store, where->file), (size_t)(where->bytes - store->contents[where->file].data), what,
               block_bytes);
}

/* One block in place of another one; with `exchange`, also the reverse. Returns whether they differ. */
static bool misplace(damage_store *store, const block *from, const block *to, bool exchange, size_t block_bytes)
{
    if (memcmp(from->bytes, to->bytes, block_bytes) == 0)
        return false;
    testing_doing("%s: the block at %td %s the one at %td of %s", store->files.names[to->file],
                  to->bytes - store->contents[to->file].data, exchange ? "and" : "is",
                  from->bytes - store->contents[from->file].data, store->files.names[from->file]);
    put(store, to, from->bytes, block_bytes);
    if (exchange)
        put(store, from, to->bytes, block_bytes);
    damage_check(store, ALL_WAYS);
    put(store, to, to->bytes, block_bytes);
    put(store, from, from->bytes, block_bytes);
    return true;
}

static void misplace_all(damage_store *store, size_t block_bytes, rng *random)
{
    blocks all = {.count = 0};
    uint64_t exchanged = 0, doubled = 0;
    list_blocks(store, block_bytes, &all);
    assert_true(all.count > 8);
    const uint64_t step = testing_long() ? 1 : all.count / (testing_sanitized() || widened_words > 1 ? 1 : 5);
    for (size_t i = 0; i < all.count; i++)
        for (size_t j = rng_below(random, step); j < all.count;
             j += 1 + (step == 1 ? 0 : rng_below(random, 2 * step))) {
            doubled += misplace(store, &all.items[i], &all.items[j], false, block_bytes);
            exchanged += j > i && misplace(store, &all.items[i], &all.items[j], true, block_bytes);
        }
    testing_doing("all blocks in their places");
    damage_check_whole(store);
    testing_figure("misplaced blocks: %zu blocks, %" PRIu64 " put in place of others, %" PRIu64 " pairs exchanged",
                   all.count, doubled, exchanged);
}

static void test_exchanges_within_a_store(void **state)
{
    rng random = rng_seeded(run_seed);
    for (int changed = 0; changed < 2; changed++) {
        damage_store store;
        damage_store_make(&store, run_seed, 256, DATA_IDS, changed);
        misplace_all(&store, 256, &random);
        damage_report(&store, "misplaced blocks");
        damage_store_free(&store);
    }
    testing_done();
}

/* Blocks of whole fingerprints, of word indexes, and of segments. */
static void test_exchanges_within_words(void **state)
{
    widened_words = 2;
    test_exchanges_within_a_store(state);
    widened_words = 1;
}

/* The number of times that a record occurs in the data. */
static size_t occurrences(const data_set *set, uint64_t fingerprint, uint64_t id)
{
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++)
        count += set->fingerprints[i] == fingerprint && set->ids[i] == id;
    return count;
}

/* A record that is another one, and no other's, if its id is one more. */
static size_t find_changeable(const data_set *set)
{
    size_t i = 0;
    while (i < set->count && (occurrences(set, set->fingerprints[i], set->ids[i]) != 1 ||
                              occurrences(set, set->fingerprints[i], set->ids[i] + 1) != 0))
        i++;
    assert_in_range(i, 0, set->count - 1);
    return i;
}

/* Blocks, and whole files, of a store that differs in one record: their names, sizes and numbers are the same. */
static void test_blocks_of_another_store(void **state)
{
    damage_store store;
    uint64_t foreign = 0;
    damage_store_make(&store, run_seed, 256, DATA_IDS, false);
    char saved[256];
    snprintf(saved, sizeof saved, "%s", scratch_path("another"));
    data_set other = store.data;
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    const size_t changed = find_changeable(&other);
    other.ids[changed]++;
    options.block_bytes = 256;
    options.memory_bytes = 1 << 20;
    options.plan = "4";
    options.recipe = "test-recipe 1";
    store_must_build(saved, &options, &other);
    other.ids[changed]--;
    file_list theirs = file_list_make(saved, "");
    assert_int_equal(theirs.count, store.files.count);
    for (size_t file = 0; file < theirs.count; file++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", saved, theirs.names[file]);
        const file_bytes *ours = &store.contents[file];
        file_bytes content = file_load(path);
        const size_t step = is_block_file(theirs.names[file]) ? 256 : content.size;
        for (size_t at = 0; at < content.size && content.size == ours->size; at += step) {
            const size_t size = at == 0 && step == 256 ? HEADER_BYTES : step;
            if (at > 0 && at < HEADER_BYTES)
                continue;
            if (memcmp(content.data + at, ours->data + at, size) == 0)
                continue;
            testing_doing("%s: %zu bytes at %zu are another store's", store.files.names[file], size, at);
            file_patch(damage_path(&store, file), at, content.data + at, size);
            damage_check(&store, ALL_WAYS);
            file_patch(damage_path(&store, file), at, ours->data + at, size);
            foreign++;
        }
        file_bytes_free(&content);
    }
    testing_doing("all blocks in their places");
    damage_check_whole(&store);
    assert_true(foreign > 10);
    damage_report(&store, "another store's parts");
    file_list_free(&theirs);
    scratch_remove(saved);
    damage_store_free(&store);
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_exchanges_within_a_store, testing_teardown),
        cmocka_unit_test_teardown(test_exchanges_within_words, testing_teardown),
        cmocka_unit_test_teardown(test_blocks_of_another_store, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
