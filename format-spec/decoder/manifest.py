"""Reads the manifest (sstore-format.md, section 3) and checks it as a reader must (section 12, steps 2 and 3)."""

from dataclasses import dataclass

from bits import FINGERPRINT_BITS, bytes_u32, bytes_u64, bytes_u128, u32, u64, u128
from faults import Damaged, Unsupported
from plan import uncovered_pattern
from xxh3 import xxh3_128

VERSION = 2
MAGIC = b"sstorMAN"
FIXED_BYTES = 64
SEGMENT_BYTES = 128
TABLE_BYTES = 40
CHECKSUM_BYTES = 16
MIN_BYTES = FIXED_BYTES + CHECKSUM_BYTES
MAX_BYTES = 16 * 2**20

MAX_K = 16
MAX_RECIPE_BYTES = 4096
MAX_SEGMENTS = 4096
MAX_TABLES = 64
MAX_BLOCKS = 2**40
COLUMN_BITS = 32
BLOCK_SIZES = [2**power for power in range(8, 17)]

FLAG_IDS = 1
FLAG_PLAN_GIVEN = 2

KIND_ADDS = 0
KIND_REMOVES = 1


@dataclass
class Table:
    """Section 3.4."""

    key_mask: int
    prefix_bits: int
    radius: int
    block_count: int
    header_checksum: int


@dataclass
class Segment:
    """Section 3.3; k and has_ids are the store's."""

    id: int
    folder_number: int
    record_count: int
    distinct_count: int
    content_sum: int
    block_size: int
    directory_size: int
    directory_checksum: int
    id_block_count: int
    id_header_checksum: int
    kind: int
    lmdb_format: int
    tables: list[Table]
    k: int
    has_ids: bool

    @property
    def folder_name(self) -> str:
        return f"seg-{self.folder_number:016x}"

    def computed_id(self) -> int:
        """Section 9."""
        data = bytes_u128(self.content_sum) + bytes_u64(self.record_count) + bytes_u64(self.distinct_count)
        for value in (
            VERSION,
            FINGERPRINT_BITS,
            int(self.has_ids),
            self.kind,
            self.block_size,
            COLUMN_BITS,
            self.k,
            len(self.tables),
        ):
            data += bytes_u32(value)
        data += bytes_u64(0)
        for table in self.tables:
            data += bytes_u64(table.key_mask) + bytes_u32(table.prefix_bits) + bytes_u32(table.radius)
        return xxh3_128(data)


@dataclass
class Manifest:
    """Section 3.1."""

    k: int
    has_ids: bool
    plan_given: bool
    next_id: int
    recipe: bytes
    segments: list[Segment]


def parse_manifest(data: bytes, path: str) -> Manifest:
    try:
        _check_frame(data, path)
        return _parse_contents(data, path)
    except Damaged as fault:
        raise fault.within(path)


def _check_frame(data: bytes, path: str) -> None:
    """Section 12, step 2, in its order."""
    if data[:8] != MAGIC:
        raise Damaged("not a manifest", offset=0)
    checksum_at = len(data) - CHECKSUM_BYTES
    if u128(data, checksum_at) != xxh3_128(data[:checksum_at]):
        raise Damaged("the checksum is wrong", offset=checksum_at)
    if u32(data, 12) != len(data):
        raise Damaged(f"size {u32(data, 12)} in a file of {len(data)} bytes", offset=12)
    if u32(data, 8) != VERSION:
        raise Unsupported(f"version {u32(data, 8)}", path, 8)
    if u32(data, 32) != FINGERPRINT_BITS:
        raise Unsupported(f"{u32(data, 32)} fingerprint bits", path, 32)
    if u64(data, 16) != 0:
        raise Unsupported(f"required features {u64(data, 16):#x}", path, 16)
    if u32(data, 40) & ~(FLAG_IDS | FLAG_PLAN_GIVEN):
        raise Unsupported(f"flags {u32(data, 40):#x}", path, 40)


def _parse_contents(data: bytes, path: str) -> Manifest:
    """Section 12, step 3."""
    end = len(data) - CHECKSUM_BYTES
    k = u32(data, 36)
    flags = u32(data, 40)
    recipe_size = u32(data, 56)
    segment_count = u32(data, 60)
    if k > MAX_K:
        raise Damaged(f"k {k}", offset=36)
    if recipe_size > MAX_RECIPE_BYTES:
        raise Damaged(f"a recipe of {recipe_size} bytes", offset=56)
    if segment_count > MAX_SEGMENTS:
        raise Damaged(f"{segment_count} segments", offset=60)
    offset = FIXED_BYTES + -(-recipe_size // 8) * 8
    if offset > end:
        raise Damaged("the recipe passes the checksum", offset=56)
    recipe = data[FIXED_BYTES : FIXED_BYTES + recipe_size]
    if 0 in recipe:
        raise Damaged("a zero byte in the recipe", offset=FIXED_BYTES + recipe.index(0))

    segments: list[Segment] = []
    for _ in range(segment_count):
        if offset + SEGMENT_BYTES > end:
            raise Damaged("segments pass the checksum", offset=offset)
        segment_at = offset
        kind = u32(data, segment_at + 112)
        if kind not in (KIND_ADDS, KIND_REMOVES):
            raise Unsupported(f"a segment of kind {kind}", path, segment_at + 112)
        if u32(data, segment_at + 60) != COLUMN_BITS:
            raise Unsupported(f"columns of {u32(data, segment_at + 60)} bits", path, segment_at + 60)
        table_count = u32(data, segment_at + 116)
        if not 1 <= table_count <= MAX_TABLES:
            raise Damaged(f"{table_count} tables", offset=segment_at + 116)
        offset += SEGMENT_BYTES + table_count * TABLE_BYTES
        if offset > end:
            raise Damaged("tables pass the checksum", offset=segment_at + 116)
        segment = _parse_segment(data, segment_at, table_count, k, bool(flags & FLAG_IDS))
        _check_segment(segment, segment_at)
        segments.append(segment)
    if len({segment.folder_number for segment in segments}) != len(segments):
        raise Damaged("two segments have the same folder", offset=FIXED_BYTES)
    if u64(data, 48) != 0 and not flags & FLAG_IDS:
        raise Damaged("a next id without ids", offset=48)
    if offset != end:
        raise Damaged("bytes between the last table and the checksum", offset=offset)

    _check_all_segments(segments)
    return Manifest(k, bool(flags & FLAG_IDS), bool(flags & FLAG_PLAN_GIVEN), u64(data, 48), recipe, segments)


def _parse_segment(data: bytes, at: int, table_count: int, k: int, has_ids: bool) -> Segment:
    tables = [
        Table(
            key_mask=u64(data, table_at),
            prefix_bits=u32(data, table_at + 8),
            radius=u32(data, table_at + 12),
            block_count=u64(data, table_at + 16),
            header_checksum=u128(data, table_at + 24),
        )
        for table_at in range(at + SEGMENT_BYTES, at + SEGMENT_BYTES + table_count * TABLE_BYTES, TABLE_BYTES)
    ]
    return Segment(
        id=u128(data, at),
        folder_number=u64(data, at + 16),
        record_count=u64(data, at + 24),
        distinct_count=u64(data, at + 32),
        content_sum=u128(data, at + 40),
        block_size=u32(data, at + 56),
        directory_size=u64(data, at + 64),
        directory_checksum=u128(data, at + 72),
        id_block_count=u64(data, at + 88),
        id_header_checksum=u128(data, at + 96),
        kind=u32(data, at + 112),
        lmdb_format=u32(data, at + 120),
        tables=tables,
        k=k,
        has_ids=has_ids,
    )


def _check_segment(segment: Segment, at: int) -> None:
    records, distinct = segment.record_count, segment.distinct_count
    if distinct > records or (distinct == 0) != (records == 0) or (not segment.has_ids and distinct != records):
        raise Damaged(f"{distinct} distinct fingerprints of {records} records", offset=at + 32)
    if segment.block_size not in BLOCK_SIZES:
        raise Damaged(f"block size {segment.block_size}", offset=at + 56)
    if segment.has_ids:
        _check_block_count(segment.id_block_count, records, at + 88)
    elif segment.id_block_count != 0:
        raise Damaged("id blocks in a store without ids", offset=at + 88)

    for number, table in enumerate(segment.tables):
        table_at = at + SEGMENT_BYTES + number * TABLE_BYTES
        if table.prefix_bits != table.key_mask.bit_count() or table.prefix_bits == 0:
            raise Damaged(f"{table.prefix_bits} prefix bits", offset=table_at + 8)
        if table.radius > table.prefix_bits:
            raise Damaged(f"radius {table.radius}", offset=table_at + 12)
        _check_block_count(table.block_count, distinct, table_at + 16)
    first = segment.tables[0]
    if first.key_mask >> (FINGERPRINT_BITS - first.prefix_bits) != 2**first.prefix_bits - 1:
        raise Damaged("the key bits of table 0 are not the leading ones", offset=at + SEGMENT_BYTES)

    directory_values = sum(table.block_count for table in segment.tables) + first.block_count + segment.id_block_count
    if segment.directory_size > 16 * 2**20 + 16 * directory_values:
        raise Damaged(f"a directory of {segment.directory_size} bytes", offset=at + 64)
    if segment.id != segment.computed_id():
        raise Damaged("the segment id is not that of its fields", offset=at)
    pattern = uncovered_pattern([(table.key_mask, table.radius) for table in segment.tables], segment.k)
    if pattern is not None:
        raise Damaged(f"the plan misses the error pattern {pattern:016x}", offset=at + SEGMENT_BYTES)


def _check_block_count(block_count: int, item_count: int, offset: int) -> None:
    if block_count > MAX_BLOCKS or block_count > item_count or (block_count == 0) != (item_count == 0):
        raise Damaged(f"{block_count} blocks for {item_count} items", offset=offset)


def _check_all_segments(segments: list[Segment]) -> None:
    balance = 0
    for number, segment in enumerate(segments):
        balance += segment.record_count if segment.kind == KIND_ADDS else -segment.record_count
        if balance < 0:
            raise Damaged(f"up to segment {number} more records are removed than were added")
    if len({segment.folder_number for segment in segments}) != len(segments):
        raise Damaged("two segments have the same folder number")
