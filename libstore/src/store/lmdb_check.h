/*
 * lmdb_check.h - whether LMDB may be let at a file. LMDB follows the page numbers, offsets and lengths in a file without
 * looking where they lead, and asserts what it expects of them; a file made to harm, with all its checksums right, would
 * have it read anywhere. So every page that a lookup can come to is looked at first.
 */
#ifndef SS_LMDB_CHECK_H
#define SS_LMDB_CHECK_H

#include "base/common.h"

/*
 * Check a file of LMDB 0.9, written by a host like this one, for lookups in its unnamed database. Takes time in proportion
 * to the tree's pages. DAMAGED, with the offset of the page; `path` is for the message.
 */
sstore_status ss_lmdb_check(const uint8_t *bytes, uint64_t size, const char *path, sstore_error *error);

#endif
