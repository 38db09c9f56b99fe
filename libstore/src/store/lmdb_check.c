/*
 * lmdb_check.c - checks a file before LMDB reads it. LMDB follows page numbers, offsets and lengths without checking
 * them, so a malicious file with a correct checksum could make it read anywhere. Every page that a lookup can reach is
 * checked.
 */
#include "store/directory.h"

#include <string.h>

#include "base/error.h"

/* The layout of LMDB 0.9's files on 64-bit hosts, in the host's byte order. A file consists of pages of one size: two
 * meta pages, of which the one with the higher transaction is valid, trees of branch and leaf pages, and runs of
 * overflow pages with values that are too long for a leaf. */
#define MAGIC 0xBEEFC0DEu
#define DATA_VERSION 1u
#define META_PAGES 2u
#define MIN_PAGE_BYTES 512u
#define MAX_PAGE_BYTES 65536u
#define MAX_DEPTH 32u /* of a tree: the limit of LMDB's cursors */
#define NO_ROOT UINT64_MAX

/* Offsets in a page. Its number (u64), 2 bytes, flags (u16), where its offsets end and its nodes begin (u16 each), then
 * the nodes' offsets (u16 each) in the order of their keys. */
enum { PAGE_FLAGS = 10, PAGE_LOWER = 12, PAGE_UPPER = 14, PAGE_HEADER_BYTES = 16 };
enum { FLAG_BRANCH = 1, FLAG_LEAF = 2, FLAG_META = 8 };

/* Offsets in a node. 32 bits of its value's size or of its child's number; flags (u16), which in a branch are the upper
 * bits of the child's number; key size (u16); key; value, or the number (u64) of its first page. */
enum { NODE_FLAGS = 4, NODE_KEY_SIZE = 6, NODE_HEADER_BYTES = 8 };
enum { FLAG_OVERFLOW = 1 };

/* Offsets in a meta page, after its header. Magic, version (u32), address, map size (u64), two trees of 48 bytes each,
 * the numbers of the last page and of the transaction (u64). */
enum { META_MAGIC = 0, META_VERSION = 4, META_PAGE_BYTES = 24, META_TREE = 72 };
enum { META_LAST_PAGE = 120, META_TRANSACTION = 128 };

/* Offsets in a tree. A number (u32; the page size in the first tree), flags, depth (u16), four counts, the root
 * (u64). */
enum { TREE_FLAGS = 4, TREE_DEPTH = 6, TREE_ROOT = 40 };

typedef struct lmdb_file {
    const uint8_t *bytes;
    const char *path;
    uint64_t page_bytes, page_count; /* pages in use */
    uint64_t visited;                /* pages of the tree, so far */
    uint32_t depth;                  /* of all leaves */
} lmdb_file;

static uint16_t load16(const uint8_t *from)
{
    uint16_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

static uint32_t load32(const uint8_t *from)
{
    uint32_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

static uint64_t load64(const uint8_t *from)
{
    uint64_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

static sstore_status fail(const lmdb_file *file, uint64_t page, sstore_error *error, const char *what)
{
    return ss_fail_damaged(error, file->path, page * file->page_bytes, "the directory is not a valid LMDB file: %s",
                           what);
}

/* ----- meta pages ----- */

/* Find the page size and the newer meta page, and check both. */
static sstore_status find_meta(lmdb_file *file, uint64_t size, const uint8_t **meta_out, sstore_error *error)
{
    if (size < META_PAGES * MIN_PAGE_BYTES)
        return fail(file, 0, error, "it is too short");
    const uint64_t page_bytes = load32(file->bytes + PAGE_HEADER_BYTES + META_PAGE_BYTES);
    if (page_bytes < MIN_PAGE_BYTES || page_bytes > MAX_PAGE_BYTES || (page_bytes & (page_bytes - 1)) != 0)
        return fail(file, 0, error, "an invalid page size");
    if (size < META_PAGES * page_bytes)
        return fail(file, 0, error, "it is too short");
    file->page_bytes = page_bytes;
    for (uint64_t page = 0; page < META_PAGES; page++) {
        const uint8_t *header = file->bytes + page * page_bytes, *meta = header + PAGE_HEADER_BYTES;
        if ((load16(header + PAGE_FLAGS) & FLAG_META) == 0 || load32(meta + META_MAGIC) != MAGIC ||
            load32(meta + META_VERSION) != DATA_VERSION)
            return fail(file, page, error, "a meta page without its magic number");
        if (load32(meta + META_PAGE_BYTES) != page_bytes)
            return fail(file, page, error, "a meta page with another page size");
    }
    const uint8_t *first = file->bytes + PAGE_HEADER_BYTES, *second = first + page_bytes;
    *meta_out = load64(first + META_TRANSACTION) < load64(second + META_TRANSACTION) ? second : first;
    const uint64_t last = load64(*meta_out + META_LAST_PAGE);
    if (last < META_PAGES - 1 || last >= size / page_bytes)
        return fail(file, *meta_out == first ? 0 : 1, error, "a last page outside the file");
    file->page_count = last + 1;
    return SSTORE_OK;
}

/* ----- trees ----- */

static bool is_tree_page(const lmdb_file *file, uint64_t page)
{
    return page >= META_PAGES && page < file->page_count;
}

static bool value_is_inside(const lmdb_file *file, uint64_t first_page, uint64_t bytes)
{
    const uint64_t room = is_tree_page(file, first_page) ? (file->page_count - first_page) * file->page_bytes : 0;
    return room >= PAGE_HEADER_BYTES && bytes <= room - PAGE_HEADER_BYTES;
}

static bool leaf_node_is_right(const lmdb_file *file, const uint8_t *node, uint64_t room)
{
    const uint64_t key_bytes = load16(node + NODE_KEY_SIZE), bytes = load32(node);
    const uint16_t flags = load16(node + NODE_FLAGS);
    const uint64_t left = room - NODE_HEADER_BYTES;
    if (flags == 0)
        return key_bytes + bytes <= left;
    return flags == FLAG_OVERFLOW && key_bytes + 8 <= left &&
           value_is_inside(file, load64(node + NODE_HEADER_BYTES + key_bytes), bytes);
}

/* Check a page at `depth` of the tree, whose root is at 1, and all pages below it. */
static sstore_status check_page(lmdb_file *file, uint64_t page, uint32_t depth, sstore_error *error)
{
    const uint8_t *header = file->bytes + page * file->page_bytes;
    const uint32_t lower = load16(header + PAGE_LOWER), upper = load16(header + PAGE_UPPER);
    const bool is_leaf = depth == file->depth;
    if (++file->visited > file->page_count)
        return fail(file, page, error, "a cycle of branch pages");
    if (load16(header + PAGE_FLAGS) != (is_leaf ? FLAG_LEAF : FLAG_BRANCH))
        return fail(file, page, error, "a page that is neither branch nor leaf, or has a wrong depth");
    const uint32_t count = lower >= PAGE_HEADER_BYTES ? (lower - PAGE_HEADER_BYTES) / 2 : 0;
    if (lower > upper || upper >= file->page_bytes || lower % 2 != 0 || count < (is_leaf ? 1 : 2))
        return fail(file, page, error, "a page with too few or too many nodes");
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = load16(header + PAGE_HEADER_BYTES + 2 * i);
        if (at < upper || at % 2 != 0 || at + NODE_HEADER_BYTES > file->page_bytes)
            return fail(file, page, error, "a node outside its page");
        const uint8_t *node = header + at;
        const uint64_t room = file->page_bytes - at;
        if (is_leaf) {
            if (!leaf_node_is_right(file, node, room))
                return fail(file, page, error, "a value outside the file");
            continue;
        }
        const uint64_t child = load32(node) | (uint64_t)load16(node + NODE_FLAGS) << 32;
        if (load16(node + NODE_KEY_SIZE) > room - NODE_HEADER_BYTES)
            return fail(file, page, error, "a key outside its page");
        if (!is_tree_page(file, child))
            return fail(file, page, error, "a branch to a page outside the file");
        const sstore_status status = check_page(file, child, depth + 1, error);
        if (status != SSTORE_OK)
            return status;
    }
    return SSTORE_OK;
}

sstore_status ss_lmdb_check(const uint8_t *bytes, uint64_t size, const char *path, sstore_error *error)
{
    _Static_assert(sizeof(size_t) == 8, "LMDB's files have another layout on machines without 64-bit words");
    lmdb_file file = {.bytes = bytes, .path = path};
    const uint8_t *meta = NULL;
    const sstore_status status = find_meta(&file, size, &meta, error);
    if (status != SSTORE_OK)
        return status;
    assert(meta != NULL && file.page_bytes != 0);
    const uint8_t *tree = meta + META_TREE;
    const uint64_t page = (uint64_t)(meta - bytes) / file.page_bytes, root = load64(tree + TREE_ROOT);
    if (load16(tree + TREE_FLAGS) != 0)
        return fail(&file, page, error, "a database of another kind");
    if (root == NO_ROOT)
        return SSTORE_OK;
    file.depth = load16(tree + TREE_DEPTH);
    if (!is_tree_page(&file, root) || file.depth < 1 || file.depth > MAX_DEPTH)
        return fail(&file, page, error, "a tree without a root");
    return check_page(&file, root, 1, error);
}
