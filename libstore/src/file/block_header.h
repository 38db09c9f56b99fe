/*
 * block_header.h - the first 4096 bytes of a block file (a table or the id column). Layout:
 * format-spec/sstore-format.md.
 */
#ifndef SS_BLOCK_HEADER_H
#define SS_BLOCK_HEADER_H

#include "file/format.h"

typedef struct ss_block_header {
    ss_u128 segment_id;
    uint32_t number;           /* of the table, or SS_IDS_NUMBER */
    uint32_t table_count;      /* of the segment; this, the distance and the radius let a lost manifest be made again */
    uint32_t distance;
    uint32_t radius;           /* 0 in the id column */
    uint32_t block_bytes;
    uint64_t block_count;
    uint64_t item_count;       /* fingerprints, or records in the id column */
    uint64_t key_mask;         /* 0 in the id column */
    uint8_t code_lengths[SS_SYMBOL_COUNT];
    uint64_t h_counts[SS_FINGERPRINT_BITS];       /* of all neighbours in the table, also across blocks: by the first
                                                     difference of all 64 bits */
    uint64_t gap_bit_counts[SS_FINGERPRINT_BITS]; /* how many gaps between neighbours have a 1 at each bit */
} ss_block_header;

/* What the salts of the file's blocks are made from: it stands for the segment, the file's number and the code. */
uint64_t ss_block_file_key(const ss_block_header *header);

/* Write the header with its checksum, which is also returned. */
ss_u128 ss_block_header_encode(const ss_block_header *header, uint8_t bytes[SS_HEADER_BYTES]);

/* Read and check a header: checksum, version, ranges, a valid code. `file` is for errors. DAMAGED, UNSUPPORTED. */
sstore_status ss_block_header_decode(const uint8_t bytes[SS_HEADER_BYTES], const char *file, ss_block_header *header_out,
                                     ss_u128 *checksum_out, sstore_error *error);

#endif
