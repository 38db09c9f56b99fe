#include "text/frequencies.h"

#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"

#define VERSION 1u
#define MAX_RECIPE_BYTES 4096u
#define MAX_INDEX_BITS 24u

static const uint8_t magic[8] = {0x89, 's', 's', 't', 'i', 'd', 'f', '\n'};

size_t ss_frequencies_head_bytes(uint32_t recipe_size)
{
    return SS_FREQUENCIES_HEAD + ((size_t)recipe_size + 7) / 8 * 8;
}

void ss_frequencies_write_head(const ss_frequencies_head *head, const char *recipe, uint8_t *to)
{
    memset(to, 0, ss_frequencies_head_bytes(head->recipe_size));
    memcpy(to, magic, sizeof magic);
    ss_store_le32(to + 8, VERSION);
    ss_store_le32(to + 12, head->recipe_size);
    ss_store_le64(to + 16, head->document_count);
    ss_store_le64(to + 24, head->feature_count);
    ss_store_le64(to + 32, head->error_bound);
    memcpy(to + SS_FREQUENCIES_HEAD, recipe, head->recipe_size);
}

static sstore_status fail(sstore_error *error, uint64_t offset, const char *what)
{
    return ss_fail(error, SSTORE_ERROR_DAMAGED, 0, NULL, offset, "the table of document frequencies is damaged: %s",
                   what);
}

static uint64_t hash_at(const ss_frequencies *self, uint64_t i)
{
    return ss_load_le64(self->entries + i * SS_FREQUENCIES_ENTRY);
}

static uint32_t count_at(const ss_frequencies *self, uint64_t i)
{
    return ss_load_le32(self->entries + i * SS_FREQUENCIES_ENTRY + 8);
}

/* Read what comes before the entries, and check that all of the table is there. */
static sstore_status read_head(ss_frequencies *self, const uint8_t *table, size_t size, sstore_error *error)
{
    if (size < sizeof magic || memcmp(table, magic, sizeof magic) != 0)
        return ss_fail(error, SSTORE_ERROR_UNSUPPORTED, 0, NULL, 0, "this is no table of document frequencies");
    if (size < SS_FREQUENCIES_HEAD + SS_FREQUENCIES_TAIL)
        return fail(error, size, "it is cut short");
    const uint32_t version = ss_load_le32(table + 8);
    if (version != VERSION)
        return ss_fail(error, SSTORE_ERROR_UNSUPPORTED, 0, NULL, 8,
                       "the table of document frequencies has version %u; this library reads version %u", version,
                       VERSION);
    self->head = (ss_frequencies_head){.recipe_size = ss_load_le32(table + 12),
                                       .document_count = ss_load_le64(table + 16),
                                       .feature_count = ss_load_le64(table + 24),
                                       .error_bound = ss_load_le64(table + 32)};
    if (ss_load_le64(table + 40) != 0)
        return ss_fail(error, SSTORE_ERROR_UNSUPPORTED, 0, NULL, 40,
                       "the table of document frequencies uses a field that this library does not know");
    if (self->head.recipe_size > MAX_RECIPE_BYTES)
        return fail(error, 12, "the recipe is too long");
    const size_t head_bytes = ss_frequencies_head_bytes(self->head.recipe_size);
    if (size < head_bytes + SS_FREQUENCIES_TAIL || self->head.feature_count > UINT32_MAX ||
        size - head_bytes - SS_FREQUENCIES_TAIL != self->head.feature_count * SS_FREQUENCIES_ENTRY)
        return fail(error, 24, "its size does not fit its number of features");
    if (self->head.document_count == 0)
        return fail(error, 16, "it has no documents");
    self->checksum = ss_load_le64(table + size - SS_FREQUENCIES_TAIL);
    if (ss_hash64(table, size - SS_FREQUENCIES_TAIL) != self->checksum)
        return fail(error, size - SS_FREQUENCIES_TAIL, "its checksum is wrong");
    self->recipe = (const char *)table + SS_FREQUENCIES_HEAD;
    self->entries = table + head_bytes;
    return SSTORE_OK;
}

/* Check the entries, and note where those of each beginning start. */
static sstore_status index_entries(ss_frequencies *self, sstore_error *error)
{
    const uint64_t count = self->head.feature_count;
    const uint32_t shift = 64 - self->index_bits;
    uint64_t next = 0; /* the beginning whose start is noted next */
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t hash = hash_at(self, i), begins = hash >> shift;
        const uint64_t offset = ss_frequencies_head_bytes(self->head.recipe_size) + i * SS_FREQUENCIES_ENTRY;
        if (i > 0 && hash <= hash_at(self, i - 1))
            return fail(error, offset, "its features are not in order");
        if (count_at(self, i) < 2 || count_at(self, i) > self->head.document_count)
            return fail(error, offset + 8, "a count is out of range");
        while (next <= begins)
            self->starts[next++] = (uint32_t)i;
    }
    while (next <= UINT64_C(1) << self->index_bits)
        self->starts[next++] = (uint32_t)count;
    return SSTORE_OK;
}

sstore_status ss_frequencies_open(ss_frequencies *self, const uint8_t *table, size_t size, sstore_error *error)
{
    *self = (ss_frequencies){.index_bits = 1};
    sstore_status status = read_head(self, table, size, error);
    if (status != SSTORE_OK)
        return status;
    while (self->index_bits < MAX_INDEX_BITS && self->head.feature_count >> self->index_bits > 1)
        self->index_bits++;
    const size_t starts = ((size_t)1 << self->index_bits) + 1;
    self->starts = ss_realloc(NULL, starts, sizeof *self->starts);
    if (self->starts == NULL)
        return ss_fail_memory(error, starts * sizeof *self->starts);
    status = index_entries(self, error);
    if (status != SSTORE_OK)
        ss_frequencies_close(self);
    return status;
}

uint32_t ss_frequencies_find(const ss_frequencies *self, uint64_t hash)
{
    const uint64_t begins = hash >> (64 - self->index_bits);
    uint64_t low = self->starts[begins], high = self->starts[begins + 1];
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2, found = hash_at(self, middle);
        if (found == hash)
            return count_at(self, middle);
        if (found < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

void ss_frequencies_prefetch_index(const ss_frequencies *self, uint64_t hash)
{
    __builtin_prefetch(&self->starts[hash >> (64 - self->index_bits)]);
}

void ss_frequencies_prefetch_entry(const ss_frequencies *self, uint64_t hash)
{
    __builtin_prefetch(self->entries + SS_FREQUENCIES_ENTRY * (size_t)self->starts[hash >> (64 - self->index_bits)]);
}

void ss_frequencies_close(ss_frequencies *self)
{
    ss_free(self->starts);
    self->starts = NULL;
}
