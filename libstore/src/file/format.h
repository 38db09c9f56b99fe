/*
 * format.h - names and numbers of the files on disk that more than one module needs. The contract is
 * format-spec/sstore-format.md; where the two differ, one of them is wrong.
 */
#ifndef SS_FORMAT_H
#define SS_FORMAT_H

#include "base/checksum.h"
#include "base/common.h"
#include "codec/block.h"

#define SS_FORMAT_VERSION 2u
/* What a segment names as its writer: sstore, of this version. */
#define SS_WRITER_SSTORE 1u
#define SS_WRITER (SS_WRITER_SSTORE << 24 | SSTORE_VERSION_MAJOR << 16 | SSTORE_VERSION_MINOR << 8 | SSTORE_VERSION_PATCH)

#define SS_MANIFEST_NAME "MANIFEST"
#define SS_MANIFEST_NEW_NAME "MANIFEST.new"
#define SS_DIRECTORY_NAME "directory.mdb"
#define SS_IDS_NAME "ids.blk"
#define SS_SEGMENT_PREFIX "seg-"
#define SS_UNFINISHED_PREFIX "tmp-"
#define SS_RUN_PREFIX "sstore-run-" /* of spilled records where a file system has no nameless files */
#define SS_NAME_CAPACITY 32u /* of the names above, with digits */

#define SS_HEADER_BYTES 4096u         /* of a block file: the blocks begin on a page */
#define SS_IDS_NUMBER UINT32_C(0xffffffff) /* the id column's number among the block files */
#define SS_MAX_BLOCK_COUNT (UINT64_C(1) << 40)
#define SS_MAX_RECIPE_BYTES 4096u

/* The name of the folder of a segment, or the unfinished one, by number. */
void ss_folder_name(char name[SS_NAME_CAPACITY], const char *prefix, uint64_t number);

/* The name of a block file: a table's by number, or the id column's. */
void ss_block_file_name(char name[SS_NAME_CAPACITY], uint32_t number);

#endif
