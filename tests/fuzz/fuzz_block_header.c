/*
 * fuzz_block_header.c - any bytes as the header of a block file, as they are and with a right checksum. An accepted
 * header must be written again as it was read.
 */
#include "store/block_file.h"
#include "support/fuzzing.h"

#define AT_CHECKSUM (SS_HEADER_BYTES - 16)

static void check(const uint8_t bytes[SS_HEADER_BYTES])
{
    static uint8_t once[SS_HEADER_BYTES], twice[SS_HEADER_BYTES];
    ss_block_header header, again;
    ss_u128 checksum, checksum_again;
    sstore_error error = {.status = SSTORE_OK};
    const sstore_status status = ss_block_header_decode(bytes, "fuzz.blk", &header, &checksum, &error);
    FUZZ_CHECK(error.status == status);
    if (status != SSTORE_OK)
        return;
    const char *reason;
    FUZZ_CHECK(ss_huffman_valid(header.code_lengths, &reason));
    FUZZ_CHECK(header.block_count <= SS_MAX_BLOCK_COUNT && header.item_count >= header.block_count);
    (void)ss_block_file_key(&header);
    checksum = ss_block_header_encode(&header, once);
    FUZZ_CHECK(ss_block_header_decode(once, "fuzz.blk", &again, &checksum_again, &error) == SSTORE_OK);
    FUZZ_CHECK(ss_u128_equal(checksum, checksum_again));
    (void)ss_block_header_encode(&again, twice);
    FUZZ_CHECK(memcmp(once, twice, sizeof once) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input input = {.at = data, .left = size};
    uint8_t *bytes = fuzz_take_rest(&input, SS_HEADER_BYTES);
    check(bytes);
    ss_store_u128(bytes + AT_CHECKSUM, ss_hash128(bytes, AT_CHECKSUM));
    check(bytes);
    free(bytes);
    return 0;
}
