/*
 * store_memory.h - the memory that an open store takes, known from its manifest before anything else is read.
 */
#ifndef SS_STORE_MEMORY_H
#define SS_STORE_MEMORY_H

#include "file/manifest.h"

/* Bytes: of the directories' copies in memory, of what is kept beside them, of block files as the mode of reading has
 * them, and of one cursor. What is really taken is no more, but for what the allocator adds. */
uint64_t ss_store_memory_bytes(const ss_manifest *manifest, sstore_io io);

/* Of all blocks in its files. */
uint64_t ss_store_block_bytes(const ss_manifest *manifest);

#endif
