"""Writes an LMDB environment of data version 1 in one file, for a 64-bit little-endian host: what `directory.mdb` is
(sstore-format.md, section 8).

The layout of such a file is LMDB's own. It is a tree of pages of 4096 bytes below one of two meta pages. Values that are
too long for a leaf are in overflow pages.
"""

from dataclasses import dataclass

FORMAT = 1 + 256 * 8 + 65536 * 1  # the manifest's field

PAGE_BYTES = 4096
PAGE_HEADER_BYTES = 16
META_PAGES = 2
NODE_HEADER_BYTES = 8
POINTER_BYTES = 2
MAX_NODE_BYTES = (PAGE_BYTES - PAGE_HEADER_BYTES) // 2 - POINTER_BYTES

BRANCH, LEAF, OVERFLOW, META = 1, 2, 4, 8
NODE_HAS_OVERFLOW = 1
MAGIC = 0xBEEFC0DE
DATA_VERSION = 1
NO_SUBFOLDER = 0x4000
INTEGER_KEYS = 0x08
NO_PAGE = 2**64 - 1


@dataclass
class Node:
    key: bytes
    data: bytes  # a value; eight bytes with the number of its first overflow page
    first_field: int  # four bytes: the size of the value
    flags: int

    @property
    def size(self) -> int:
        return NODE_HEADER_BYTES + _even(len(self.key) + len(self.data))

    def to_bytes(self) -> bytes:
        head = self.first_field.to_bytes(4, "little") + self.flags.to_bytes(2, "little") + len(self.key).to_bytes(2, "little")
        return (head + self.key + self.data).ljust(self.size, b"\0")


def _even(size: int) -> int:
    return size + size % 2


def _page_header(number: int, flags: int, lower: int, upper: int) -> bytes:
    return number.to_bytes(8, "little") + b"".join(part.to_bytes(2, "little") for part in (0, flags, lower, upper))


class _Environment:
    def __init__(self) -> None:
        self.pages: list[bytes] = []  # behind the meta pages
        self.counts = {BRANCH: 0, LEAF: 0, OVERFLOW: 0}

    @property
    def next_page(self) -> int:
        return META_PAGES + len(self.pages)

    def leaf_node(self, key: bytes, value: bytes) -> Node:
        if NODE_HEADER_BYTES + len(key) + len(value) <= MAX_NODE_BYTES:
            return Node(key, value, len(value), 0)
        first = self.next_page
        count = -(-(PAGE_HEADER_BYTES + len(value)) // PAGE_BYTES)
        header = _page_header(first, OVERFLOW, count & 0xFFFF, count >> 16)
        whole = (header + value).ljust(count * PAGE_BYTES, b"\0")
        self.pages += [whole[at : at + PAGE_BYTES] for at in range(0, len(whole), PAGE_BYTES)]
        self.counts[OVERFLOW] += count
        return Node(key, first.to_bytes(8, "little"), len(value), NODE_HAS_OVERFLOW)

    def level(self, nodes: list[Node], flags: int) -> list[tuple[bytes, int]]:
        """Fill pages with the nodes, in order. Returns (first key, number) of each page."""
        made: list[tuple[bytes, int]] = []
        while nodes:
            count, size = 0, PAGE_HEADER_BYTES
            while count < len(nodes) and size + POINTER_BYTES + nodes[count].size <= PAGE_BYTES:
                size += POINTER_BYTES + nodes[count].size
                count += 1
            made.append((nodes[0].key, self.next_page))
            if flags == BRANCH:
                nodes[0].key = b""  # a branch's first key stands for all below the second one
            self._add_page(nodes[:count], flags)
            nodes = nodes[count:]
        return made

    def _add_page(self, nodes: list[Node], flags: int) -> None:
        upper, pointers, body = PAGE_BYTES, b"", b""
        for node in nodes:
            upper -= node.size
            pointers += upper.to_bytes(POINTER_BYTES, "little")
            body = node.to_bytes() + body
        header = _page_header(self.next_page, flags, PAGE_HEADER_BYTES + len(pointers), upper)
        self.pages.append((header + pointers).ljust(upper, b"\0") + body)
        self.counts[flags] += 1

    def meta_page(self, number: int, entry_count: int, depth: int, root: int) -> bytes:
        """With the tree in page 1, which is of a newer transaction than the empty one in page 0."""

        def database(pad: int, flags: int, depth: int, counts: list[int], entries: int, root: int) -> bytes:
            numbers = [*counts, entries, root]
            fields = pad.to_bytes(4, "little") + flags.to_bytes(2, "little") + depth.to_bytes(2, "little")
            return fields + b"".join(number.to_bytes(8, "little") for number in numbers)

        counts = [self.counts[BRANCH], self.counts[LEAF], self.counts[OVERFLOW]]
        page = _page_header(number, META, 0, 0)
        page += MAGIC.to_bytes(4, "little") + DATA_VERSION.to_bytes(4, "little") + bytes(8)
        page += (self.next_page * PAGE_BYTES).to_bytes(8, "little")
        page += database(PAGE_BYTES, NO_SUBFOLDER | INTEGER_KEYS, 0, [0, 0, 0], 0, NO_PAGE)
        page += database(0, 0, depth, counts, entry_count, root) if number else database(0, 0, 0, [0, 0, 0], 0, NO_PAGE)
        page += (self.next_page - 1 if number else META_PAGES - 1).to_bytes(8, "little") + number.to_bytes(8, "little")
        return page.ljust(PAGE_BYTES, b"\0")


def environment(entries: dict[bytes, bytes]) -> bytes:
    """A file with these entries in its unnamed database."""
    made = _Environment()
    nodes = [made.leaf_node(key, entries[key]) for key in sorted(entries)]
    level, depth = made.level(nodes, LEAF), 1
    while len(level) > 1:
        level = made.level([Node(key, b"", page, 0) for key, page in level], BRANCH)
        depth += 1
    root = level[0][1] if level else NO_PAGE
    metas = [made.meta_page(number, len(entries), depth if level else 0, root) for number in range(META_PAGES)]
    return b"".join([*metas, *made.pages])
