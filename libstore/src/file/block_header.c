#include "file/block_header.h"

#include <string.h>

#include "base/error.h"

static const uint8_t magic[8] = {'s', 's', 't', 'o', 'r', 'B', 'L', 'K'};

enum {
    AT_MAGIC = 0,
    AT_VERSION = 8,
    AT_HEADER_BYTES = 12,
    AT_SEGMENT_ID = 16,
    AT_NUMBER = 32,
    AT_BLOCK_BYTES = 36,
    AT_COLUMN_BITS = 40,
    AT_FINGERPRINT_BITS = 44,
    AT_BLOCK_COUNT = 48,
    AT_ITEM_COUNT = 56,
    AT_TABLE_COUNT = 64,
    AT_DISTANCE = 68,
    AT_RADIUS = 72,
    AT_RESERVED = 76,
    AT_KEY_MASK = 80,
    AT_CODE_LENGTHS = 88,
    AT_H_COUNTS = 152,
    AT_GAP_BIT_COUNTS = 664,
    AT_CHECKSUM = SS_HEADER_BYTES - 16
};

uint64_t ss_block_file_key(const ss_block_header *header)
{
    uint8_t bytes[20 + SS_SYMBOL_COUNT];
    ss_store_u128(bytes, header->segment_id);
    ss_store_le32(bytes + 16, header->number);
    memcpy(bytes + 20, header->code_lengths, SS_SYMBOL_COUNT);
    return ss_hash64(bytes, sizeof bytes);
}

/* The width of the column; there is none in the id column. */
static uint32_t column_bits(uint32_t number)
{
    return number == SS_IDS_NUMBER ? 0 : SS_COLUMN_BITS;
}

ss_u128 ss_block_header_encode(const ss_block_header *header, uint8_t bytes[SS_HEADER_BYTES])
{
    memset(bytes, 0, SS_HEADER_BYTES);
    memcpy(bytes + AT_MAGIC, magic, sizeof magic);
    ss_store_le32(bytes + AT_VERSION, SS_FORMAT_VERSION);
    ss_store_le32(bytes + AT_HEADER_BYTES, SS_HEADER_BYTES);
    ss_store_le32(bytes + AT_FINGERPRINT_BITS, SS_FINGERPRINT_BITS);
    ss_store_u128(bytes + AT_SEGMENT_ID, header->segment_id);
    ss_store_le32(bytes + AT_NUMBER, header->number);
    ss_store_le32(bytes + AT_BLOCK_BYTES, header->block_bytes);
    ss_store_le32(bytes + AT_COLUMN_BITS, column_bits(header->number));
    ss_store_le64(bytes + AT_BLOCK_COUNT, header->block_count);
    ss_store_le64(bytes + AT_ITEM_COUNT, header->item_count);
    ss_store_le32(bytes + AT_TABLE_COUNT, header->table_count);
    ss_store_le32(bytes + AT_DISTANCE, header->distance);
    ss_store_le32(bytes + AT_RADIUS, header->radius);
    ss_store_le64(bytes + AT_KEY_MASK, header->key_mask);
    memcpy(bytes + AT_CODE_LENGTHS, header->code_lengths, SS_SYMBOL_COUNT);
    for (size_t i = 0; i < SS_FINGERPRINT_BITS; i++) {
        ss_store_le64(bytes + AT_H_COUNTS + 8 * i, header->h_counts[i]);
        ss_store_le64(bytes + AT_GAP_BIT_COUNTS + 8 * i, header->gap_bit_counts[i]);
    }
    ss_u128 checksum = ss_hash128(bytes, AT_CHECKSUM);
    ss_store_u128(bytes + AT_CHECKSUM, checksum);
    return checksum;
}

static sstore_status check_ranges(const ss_block_header *header, const char *file, sstore_error *error)
{
    const char *reason;
    if (!ss_block_bytes_valid(header->block_bytes))
        return ss_fail_damaged(error, file, AT_BLOCK_BYTES, "the block size is impossible");
    if (header->block_count > SS_MAX_BLOCK_COUNT || header->item_count < header->block_count ||
        header->item_count > UINT16_MAX * header->block_count)
        return ss_fail_damaged(error, file, AT_BLOCK_COUNT, "the numbers of blocks and items do not fit together");
    if (!ss_huffman_valid(header->code_lengths, &reason))
        return ss_fail_damaged(error, file, AT_CODE_LENGTHS, "%s", reason);
    return SSTORE_OK;
}

sstore_status ss_block_header_decode(const uint8_t bytes[SS_HEADER_BYTES], const char *file, ss_block_header *header_out,
                                     ss_u128 *checksum_out, sstore_error *error)
{
    if (memcmp(bytes + AT_MAGIC, magic, sizeof magic) != 0)
        return ss_fail_damaged(error, file, AT_MAGIC, "is not a block file of a store");
    *checksum_out = ss_hash128(bytes, AT_CHECKSUM);
    if (!ss_u128_equal(*checksum_out, ss_load_u128(bytes + AT_CHECKSUM)))
        return ss_fail_damaged(error, file, 0, "the header's checksum is wrong");
    uint32_t version = ss_load_le32(bytes + AT_VERSION), bits = ss_load_le32(bytes + AT_FINGERPRINT_BITS);
    if (version != SS_FORMAT_VERSION || bits != SS_FINGERPRINT_BITS ||
        ss_load_le32(bytes + AT_HEADER_BYTES) != SS_HEADER_BYTES)
        return ss_fail(error, SSTORE_ERROR_UNSUPPORTED, 0, file, AT_VERSION,
                       "format version %u with fingerprints of %u bits is not known to this version of sstore", version,
                       bits);
    const uint32_t number = ss_load_le32(bytes + AT_NUMBER), width = ss_load_le32(bytes + AT_COLUMN_BITS);
    if (width != column_bits(number))
        return ss_fail(error, SSTORE_ERROR_UNSUPPORTED, 0, file, AT_COLUMN_BITS,
                       "blocks with columns of %u bits are not known to this version of sstore", width);
    *header_out = (ss_block_header){
        .segment_id = ss_load_u128(bytes + AT_SEGMENT_ID),
        .number = number,
        .block_bytes = ss_load_le32(bytes + AT_BLOCK_BYTES),
        .block_count = ss_load_le64(bytes + AT_BLOCK_COUNT),
        .item_count = ss_load_le64(bytes + AT_ITEM_COUNT),
        .table_count = ss_load_le32(bytes + AT_TABLE_COUNT),
        .distance = ss_load_le32(bytes + AT_DISTANCE),
        .radius = ss_load_le32(bytes + AT_RADIUS),
        .key_mask = ss_load_le64(bytes + AT_KEY_MASK),
    };
    memcpy(header_out->code_lengths, bytes + AT_CODE_LENGTHS, SS_SYMBOL_COUNT);
    for (size_t i = 0; i < SS_FINGERPRINT_BITS; i++) {
        header_out->h_counts[i] = ss_load_le64(bytes + AT_H_COUNTS + 8 * i);
        header_out->gap_bit_counts[i] = ss_load_le64(bytes + AT_GAP_BIT_COUNTS + 8 * i);
    }
    return check_ranges(header_out, file, error);
}
