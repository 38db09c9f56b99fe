"""Makes and reads id tables, as ../id-table.md describes them.

id_table.py FILE        print all entries, as `sstore names FILE` does for names without special characters
"""

import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "decoder"))
from xxh3 import xxh3_64  # noqa: E402

MAGIC = b"\x89ssname\n"
VERSION = 1
HEADER = MAGIC + struct.pack("<Q", VERSION)
ROW_BYTES, FOOTER_BYTES = 24, 48
FULL_BLOCK_BYTES = 4096
MAX_NAME_BYTES = 1 << 20
MAX_BLOCK_BYTES = 1052688
MAX_ID = 2**64 - 1

Entry = tuple[int, bytes]


class NoTable(ValueError):
    """The file is something else, or of another version."""


class Damaged(ValueError):
    """The file breaks a rule of the page."""


def need(condition: bool, reason: str) -> None:
    if not condition:
        raise Damaged(reason)


# ----- writing -----


def varint(value: int) -> bytes:
    made = b""
    while value >= 128:
        made += bytes([value & 127 | 128])
        value >>= 7
    return made + bytes([value])


def encode_entry(before: Entry | None, entry: Entry) -> bytes:
    number, name = entry
    shared = gap = 0
    if before is not None:
        while shared < min(len(name), len(before[1])) and name[shared] == before[1][shared]:
            shared += 1
        gap = number - before[0] - 1
    rest = name[shared:]
    return varint(shared) + varint(2 * len(rest) + (gap > 0)) + (varint(gap - 1) if gap > 0 else b"") + rest


def encode_blocks(entries: list[Entry]) -> list[tuple[int, bytes]]:
    """The first id and the bytes of each block."""
    blocks: list[tuple[int, bytes]] = []
    before = None
    for entry in entries:
        if before is None:
            blocks.append((entry[0], b""))
        blocks[-1] = (blocks[-1][0], blocks[-1][1] + encode_entry(before, entry))
        before = entry if len(blocks[-1][1]) < FULL_BLOCK_BYTES else None
    return blocks


def assemble(blocks: list[tuple[int, bytes]], count: int, last_id: int) -> bytes:
    """A file of these blocks, with correct checksums."""
    rows, at = b"", len(HEADER)
    for first_id, block in blocks:
        rows += struct.pack("<QQQ", first_id, at, xxh3_64(block))
        at += len(block)
    footer = struct.pack("<QQQQQ", count, last_id, at, len(blocks), xxh3_64(rows))
    return HEADER + b"".join(block for _, block in blocks) + rows + footer + struct.pack("<Q", xxh3_64(HEADER + footer))


def encode(entries: list[Entry]) -> bytes:
    return assemble(encode_blocks(entries), len(entries), entries[-1][0] if entries else 0)


# ----- reading -----


class Block:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, size: int) -> bytes:
        need(size <= len(self.data) - self.at, "an entry breaks off")
        self.at += size
        return self.data[self.at - size : self.at]

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            if byte < 128:
                need(byte > 0 or shift == 0, "a varint is too long")
                need(value <= MAX_ID, "a varint is too large")
                return value
            shift += 7
            need(shift < 70, "a varint is too long")


def decode_block(data: bytes, first_id: int, max_id: int) -> list[Entry]:
    block = Block(data)
    entries: list[Entry] = []
    while block.at < len(data):
        shared, rest = block.varint(), block.varint()
        gap = block.varint() + 1 if rest & 1 else 0
        number, before = (entries[-1][0] + 1 + gap, entries[-1][1]) if entries else (first_id, b"")
        need(bool(entries) or gap == 0, "an id is missing before the first entry")
        need(number <= max_id, "an id is above those of its block")
        need(shared <= len(before), "more is shared than there is")
        need(shared + rest // 2 <= MAX_NAME_BYTES, "a name is too long")
        entries.append((number, before[:shared] + block.take(rest // 2)))
    return entries


def decode(data: bytes) -> list[Entry]:
    """All entries, after a full check."""
    if data[: len(MAGIC)] != MAGIC or len(data) < len(HEADER):
        raise NoTable("this is no id table")
    if data[: len(HEADER)] != HEADER:
        raise NoTable("the version is unknown")
    need(len(data) >= len(HEADER) + FOOTER_BYTES, "the file was cut")
    footer = data[-FOOTER_BYTES:]
    count, last_id, index, block_count, index_sum, footer_sum = struct.unpack("<6Q", footer)
    need(xxh3_64(HEADER + footer[:-8]) == footer_sum, "the checksum of the footer is wrong")
    need(index >= len(HEADER) and index + ROW_BYTES * block_count + FOOTER_BYTES == len(data), "the length is wrong")
    rows = data[index:-FOOTER_BYTES]
    need(xxh3_64(rows) == index_sum, "the checksum of the index is wrong")
    firsts, places, sums = ([row[i] for row in struct.iter_unpack("<QQQ", rows)] for i in range(3))
    need((places + [index])[0] == len(HEADER), "the first block is elsewhere")
    entries: list[Entry] = []
    for i, (first, begin, end) in enumerate(zip(firsts, places, places[1:] + [index])):
        need(0 < end - begin <= MAX_BLOCK_BYTES, "the length of a block is wrong")
        need(i == 0 or first > firsts[i - 1], "first ids do not ascend")
        need(xxh3_64(data[begin:end]) == sums[i], "the checksum of a block is wrong")
        entries += decode_block(data[begin:end], first, firsts[i + 1] - 1 if i + 1 < block_count else last_id)
    need(len(entries) == count, "the number of entries is wrong")
    need((entries[-1][0] if entries else 0) == last_id, "the last id is wrong")
    return entries


if __name__ == "__main__":
    for one, its_name in decode(pathlib.Path(sys.argv[1]).read_bytes()):
        print(one, its_name.decode(errors="backslashreplace"), sep="\t")
