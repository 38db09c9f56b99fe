/*
 * checked_block.h - reads fingerprints and ids from the blocks of a segment, and checks them. For any bytes:
 *   - the decoded fingerprints of a block ascend strictly;
 *   - if the directory is open, a block begins above the key of the block before, ends with its own key, and has as
 *     many fingerprints as the ranks of table 0 require. So the directory leads to the right block for a fingerprint;
 *   - a block of ids ends with the rank that the directory has.
 * Everything else is DAMAGED, so that callers need not check it. Exceptions: a query that decodes single groups checks
 * itself that its matches ascend (read/search.c), a search for one id bisects (store/lookup.c), and verification
 * reports all damage (read/verify.c).
 */
#ifndef SS_CHECKED_BLOCK_H
#define SS_CHECKED_BLOCK_H

#include <stdatomic.h>

#include "codec/ids.h"
#include "store/block_file.h"
#include "store/directory.h"

/* The blocks of a file, and the metadata to check them with. All borrowed. */
typedef struct ss_checked_blocks {
    const ss_block_reader *reader;
    uint32_t words;        /* of a fingerprint; if there are several, only iterators and lookups read the blocks */
    ss_code *code;         /* which the first block that is opened makes ready to decode */
    atomic_int *filler;    /* of a code: the process of the thread that makes it ready; 0: none does */
    const ss_array *keys;  /* each block's last fingerprint, or last rank; NULL if the directory is not open */
    const ss_array *ranks; /* each block's first rank; NULL if the directory is not open, or not of table 0 */
} ss_checked_blocks;

#define SS_OTHER_LAST_FINGERPRINT "its last fingerprint differs from its block key in the directory"
#define SS_BELOW_BLOCK_BEFORE "its fingerprints do not ascend from those of the block before"

/* Open a block whose checksum was checked. */
sstore_status ss_checked_block_open(const ss_checked_blocks *checked, uint64_t number, const uint8_t *bytes,
                                    ss_block *block_out, sstore_error *error);

/* Decode all of a block to values_out[0 .. count-1]. */
sstore_status ss_checked_block_decode(const ss_checked_blocks *checked, uint64_t number, const ss_block *block,
                                      uint64_t *values_out, sstore_error *error);

/* ss_block_find_near(): near->group becomes the next group that has near fingerprints, near->end if there is none. They
 * are in the range of the directory, and above those that the search found before. */
sstore_status ss_checked_block_find_near(const ss_checked_blocks *checked, uint64_t number, const ss_block *block,
                                         ss_near *near, sstore_error *error);

/* ss_block_keep_near(), with the same checks. */
sstore_status ss_checked_block_keep_near(const ss_checked_blocks *checked, uint64_t number, const ss_block *block,
                                         ss_near *near, sstore_error *error);

/* ss_block_decode_group(). */
sstore_status ss_checked_block_decode_group(const ss_checked_blocks *checked, uint64_t number, const ss_block *block,
                                            uint32_t group, uint32_t count, uint64_t *values_out, sstore_error *error);

/* The number of whole fingerprints in a block. All blocks but the last are full. */
uint32_t ss_checked_rows_count(const ss_checked_blocks *checked, uint64_t number);

/* Load all whole fingerprints of a block, whose checksum was checked, to values_out. */
sstore_status ss_checked_rows_decode(const ss_checked_blocks *checked, uint64_t number, const uint8_t *bytes,
                                     uint64_t *values_out, sstore_error *error);

/* Open a block of ids whose checksum was checked. `checked` has no code and no ranks. */
sstore_status ss_checked_block_open_ids(const ss_checked_blocks *checked, uint64_t number, const uint8_t *bytes,
                                        ss_ids_block *block_out, sstore_error *error);

/* Checks that the ids of one fingerprint, which are taken one by one, ascend. */
typedef struct ss_id_order {
    bool any; /* one was taken */
    uint64_t last;
} ss_id_order;

#define SS_OTHER_LAST_RANK "its last rank differs from its block key in the directory"
#define SS_IDS_DO_NOT_ASCEND "the ids of one fingerprint do not ascend"

/* Take the id of record `index` of a block. DAMAGED if it is not above the last one. */
static inline sstore_status ss_checked_block_take_id(const ss_checked_blocks *checked, uint64_t number,
                                                     const ss_ids_block *block, uint32_t index, ss_id_order *order,
                                                     uint64_t *id_out, sstore_error *error)
{
    const uint64_t id = ss_ids_block_id(block, index);
    if (SS_UNLIKELY(order->any && id <= order->last))
        return ss_block_reader_malformed(checked->reader, number, SS_IDS_DO_NOT_ASCEND, error);
    *order = (ss_id_order){.any = true, .last = id};
    *id_out = id;
    return SSTORE_OK;
}

#endif
