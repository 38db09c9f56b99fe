"""Block files: their header and the trailers of their blocks (sstore-format.md, sections 4 and 16.1; section 12, steps 5 and
7)."""

from collections.abc import Iterator
from dataclasses import dataclass

from bits import bytes_u32, bytes_u64, bytes_u128, u32, u64, u128
from block import TRAILER_BYTES
from faults import Damaged, Unsupported
from folder import Folder
from huffman import SYMBOLS, Code
from manifest import VERSION, Segment
from names import NUMBER_OF_NAMES
from xxh3 import xxh3_64, xxh3_128

MAGIC = b"sstorBLK"
HEADER_BYTES = 4096
LENGTHS = slice(88, 88 + SYMBOLS)
H_COUNTS_AT = 152
GAP_BIT_COUNTS_AT = 664
CHECKSUM_AT = 4080
NUMBER_OF_IDS = 0xFFFFFFFF
MAX_ITEMS_OF_BLOCK = 65535


@dataclass
class Expected:
    """The manifest's statements about a file. `fields`: (offset in the header, bytes, value, name) of each field to compare."""

    block_count: int
    item_count: int
    checksum: int
    fingerprint_bits: int
    column_bits: int  # of a table
    has_code: bool
    fields: list[tuple[int, int, int, str]]


def expected_of(segment: Segment, number: int) -> Expected:
    is_table = number not in (NUMBER_OF_IDS, NUMBER_OF_NAMES)
    table = segment.tables[number] if is_table else None
    block_count = table.block_count if table else segment.id_block_count
    item_count = segment.distinct_count if is_table else segment.record_count
    fields = [
        (16, 16, segment.id, "segment id"),
        (32, 4, number, "number"),
        (36, 4, segment.block_size, "block size"),
        (48, 8, block_count, "block count"),
        (56, 8, item_count, "item count"),
        (64, 4, len(segment.tables), "table count"),
        (68, 4, segment.k, "k"),
    ]
    if table:
        fields += [
            (72, 4, table.radius, "radius"),
            (80, 8, table.key_mask, "key mask"),
        ]
    return Expected(
        block_count,
        item_count,
        table.header_checksum if table else segment.id_header_checksum,
        segment.fingerprint_bits,
        segment.column_bits,
        is_table and not segment.is_wide,
        fields,
    )


class BlockFile:
    """A block file in memory, whose size and header are right."""

    def __init__(self, folder: Folder, name: str, segment: Segment, number: int):
        expected = expected_of(segment, number)
        self.block_size = segment.block_size
        self.block_count = expected.block_count
        self.path = folder.path_of(name)
        self.data = folder.read(name, HEADER_BYTES + self.block_count * self.block_size)
        try:
            self._check_header(expected)
        except Damaged as fault:
            raise fault.within(self.path)
        header = self.data
        self.h_counts = [u64(header, H_COUNTS_AT + 8 * h) for h in range(64)]
        self.gap_bit_counts = [u64(header, GAP_BIT_COUNTS_AT + 8 * i) for i in range(64)]
        self.file_key = xxh3_64(bytes_u128(segment.id) + bytes_u32(number) + header[LENGTHS])

    def _check_header(self, expected: Expected) -> None:
        header = self.data[:HEADER_BYTES]
        if header[:8] != MAGIC:
            raise Damaged("not a block file", offset=0)
        checksum = u128(header, CHECKSUM_AT)
        if checksum != xxh3_128(header[:CHECKSUM_AT]):
            raise Damaged("the header's checksum is wrong", offset=CHECKSUM_AT)
        supported = (8, VERSION, "version"), (12, HEADER_BYTES, "header size"), (44, expected.fingerprint_bits, "fingerprint bits")
        for offset, value, name in supported:
            if u32(header, offset) != value:
                raise Unsupported(f"{name} {u32(header, offset)}", self.path, offset)
        column_bits = 0 if u32(header, 32) in (NUMBER_OF_IDS, NUMBER_OF_NAMES) else expected.column_bits
        if u32(header, 40) != column_bits:
            raise Unsupported(f"a column of {u32(header, 40)} bits", self.path, 40)
        if checksum != expected.checksum:
            raise Damaged("the header's checksum is not the manifest's", offset=CHECKSUM_AT)
        for offset, size, value, name in expected.fields:
            if int.from_bytes(header[offset : offset + size], "little") != value:
                raise Damaged(f"{name} is not the manifest's", offset=offset)
        if expected.item_count > MAX_ITEMS_OF_BLOCK * expected.block_count:
            raise Damaged("more items than the blocks can hold", offset=56)
        if u32(header, 32) == NUMBER_OF_NAMES:
            return  # names.py checks the fragments, which are in the place of a code
        lengths = header[LENGTHS]
        try:
            self.code = Code(lengths)
        except Damaged as fault:
            raise fault.within(self.path, 88)
        if not expected.has_code and any(lengths):
            raise Damaged("a code where nothing is coded", offset=88)
        if expected.has_code and expected.item_count > 1 and not any(lengths):
            raise Damaged("a table of several fingerprints has no code", offset=88)

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """(offset, block) of each block, after a check of its trailer."""
        for index in range(self.block_count):
            offset = HEADER_BYTES + index * self.block_size
            block = self.data[offset : offset + self.block_size]
            salt = xxh3_64(bytes_u64(self.file_key) + bytes_u64(index))
            if u64(block, self.block_size - TRAILER_BYTES) != xxh3_64(block[:-TRAILER_BYTES]) ^ salt:
                raise Damaged(f"the trailer of block {index} is wrong", self.path, offset + self.block_size - TRAILER_BYTES)
            yield offset, block
