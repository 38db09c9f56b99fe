#include "input/input_options.h"

#define MIN_WINDOW_BITS 23u /* 8 MiB, the window of 'zstd -19' */

bool input_ids_agree(input_ids *ids, bool has_ids)
{
    const input_ids now = has_ids ? INPUT_IDS_PRESENT : INPUT_IDS_ABSENT;
    if (*ids == INPUT_IDS_UNKNOWN)
        *ids = now;
    return *ids == now;
}

uint32_t input_window_bits(uint64_t memory_bytes)
{
    uint32_t bits = MIN_WINDOW_BITS;
    while (bits < DECOMPRESS_MAX_WINDOW_BITS && (memory_bytes == 0 || memory_bytes >> (bits + 4) > 0))
        bits++; /* an eighth of the memory */
    return bits;
}
