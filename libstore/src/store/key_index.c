#include "store/key_index.h"

#include "base/alloc.h"
#include "base/error.h"

#define KEYS_A_BUCKET 4u /* on average: a quarter of a line of 64 bytes, twice that with the neighbour */
#define MAX_BUCKET_BITS 26u

/* Enough leading bits for buckets of KEYS_A_BUCKET, if the keys are spread evenly. */
static uint32_t choose_bucket_bits(uint64_t key_count)
{
    uint32_t bits = 1;
    while (bits < MAX_BUCKET_BITS && (UINT64_C(1) << bits) * KEYS_A_BUCKET < key_count)
        bits++;
    return bits;
}

uint64_t ss_key_index_bytes(uint64_t key_count)
{
    uint64_t buckets = UINT64_C(1) << choose_bucket_bits(key_count), chunks = key_count / SS_CHUNK_KEYS + 1;
    return (buckets + 1) * sizeof(uint32_t) + chunks * sizeof(uint8_t *);
}

sstore_status ss_key_index_init(ss_key_index *index, ss_array *keys, sstore_error *error)
{
    uint64_t last = keys->count == 0 ? 0 : ss_array_at(keys, keys->count - 1);
    uint32_t used_bits = last == 0 ? 1
                                   : 64 - (uint32_t)__builtin_clzll(last); /* leading zeros of all keys say nothing */
    uint32_t bits = (uint32_t)ss_min_u64(choose_bucket_bits(keys->count), used_bits);
    size_t buckets = (size_t)(last >> (used_bits - bits)) + 1;
    *index = (ss_key_index){.keys = *keys, .shift = used_bits - bits, .last = last};
    *keys = (ss_array){.count = 0};
    index->begins = ss_alloc(buckets + 1, sizeof *index->begins);
    if (index->begins == NULL)
        return ss_fail_memory(error, (buckets + 1) * sizeof *index->begins);
    if (index->keys.count > UINT32_MAX)
        return ss_fail(error, SSTORE_ERROR_UNSUPPORTED, 0, NULL, SSTORE_NO_OFFSET,
                       "a table of %llu blocks has too many; larger blocks are needed",
                       (unsigned long long)index->keys.count);
    size_t bucket = 0;
    for (uint64_t i = 0; i < index->keys.count; i++)
        for (uint64_t of_key = ss_array_at(&index->keys, i) >> index->shift; bucket <= of_key; bucket++)
            index->begins[bucket] = (uint32_t)i;
    for (; bucket <= buckets; bucket++)
        index->begins[bucket] = (uint32_t)index->keys.count;
    return SSTORE_OK;
}

void ss_key_index_free(ss_key_index *index)
{
    ss_array_free(&index->keys);
    ss_free(index->begins);
    index->begins = NULL;
}

uint64_t ss_key_index_find(const ss_key_index *index, uint64_t target)
{
    if (SS_UNLIKELY(target > index->last))
        return index->keys.count;
    uint64_t bucket = target >> index->shift;
    uint64_t low = index->begins[bucket], count = index->begins[bucket + 1] - low;
    while (count > 0) {
        uint64_t half = count / 2;
        bool below = ss_array_at(&index->keys, low + half) < target;
        low = below ? low + half + 1 : low;
        count = below ? count - half - 1 : half;
    }
    return low;
}
