"""Reads the manifest (sstore-format.md, sections 3, 16.2 and 17) and checks it as a reader must (section 12, steps 2 and 3;
sections 16.4 and 17)."""

from dataclasses import dataclass, field

from bits import FINGERPRINT_BITS, bytes_u32, bytes_u64, bytes_u128, u16, u32, u64, u128
from faults import Damaged, Unsupported
from plan import uncovered_pattern
from whole import block_count_of
from xxh3 import xxh3_128

VERSION = 2
MAGIC = b"sstorMAN"
FIXED_BYTES = 64
SEGMENT_BYTES = 128
TABLE_BYTES = 40
CHECKSUM_BYTES = 16
MIN_BYTES = FIXED_BYTES + CHECKSUM_BYTES
MAX_BYTES = 16 * 2**20

MAX_WORDS = 16
MAX_K_OF_WORD = 16
MAX_RECIPE_BYTES = 4096
MAX_SEGMENTS = 4096
MAX_TABLES = 64
MAX_BLOCKS = 2**40
COLUMN_BITS = 32
BLOCK_SIZES = [2**power for power in range(8, 17)]

FLAG_IDS = 1
FLAG_PLAN_GIVEN = 2
FLAG_ID_INDEX = 4
FLAG_NAMES = 8
KNOWN_FLAGS = FLAG_IDS | FLAG_PLAN_GIVEN | FLAG_ID_INDEX | FLAG_NAMES

KIND_ADDS = 0
KIND_REMOVES = 1
KIND_WORD = 2
KIND_ID = 3
KIND_NAMES = 4
MAX_NUMBER_BITS = 40
PACKED = 0x100  # in the four bytes of an id index's kind and form
PACKED_BITS = 32


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
    """Section 3.3, a word index (section 16.2) or an id index (section 17). fingerprint_bits, k and has_ids are the store's; an
    index has its own."""

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
    kind: int  # of an index, the four bytes of kind, word and radius + 1, or of kind and form
    column_bits: int
    lmdb_format: int
    tables: list[Table]
    fingerprint_bits: int
    k: int
    has_ids: bool
    word_indexes: list["Segment"] = field(default_factory=list)
    id_index: "Segment | None" = None
    names: "Segment | None" = None

    @property
    def indexes(self) -> list["Segment"]:
        """In the order of the manifest."""
        return self.word_indexes + [part for part in (self.id_index, self.names) if part is not None]

    @property
    def is_packed(self) -> bool:
        """Of an id index."""
        return self.kind == KIND_ID | PACKED

    @property
    def is_names(self) -> bool:
        return self.kind & 0xFF == KIND_NAMES

    @property
    def number_bits(self) -> int:
        """Of a name part."""
        return self.kind >> 8 & 0xFF

    @property
    def folder_name(self) -> str:
        if self.kind & 0xFF == KIND_ID:
            return "id-index"
        if self.is_names:
            return "names"
        return f"word-{self.word:02d}" if self.is_word_index else f"seg-{self.folder_number:016x}"

    @property
    def is_word_index(self) -> bool:
        return self.kind & 0xFF == KIND_WORD

    @property
    def word(self) -> int:
        return self.kind >> 8 & 0xFF

    @property
    def radius(self) -> int:
        """Of the word."""
        return (self.kind >> 16) - 1

    @property
    def is_wide(self) -> bool:
        """Table 0 has whole fingerprints of several words (section 16.1)."""
        return self.fingerprint_bits > FINGERPRINT_BITS

    def computed_id(self) -> int:
        """Section 9."""
        data = bytes_u128(self.content_sum) + bytes_u64(self.record_count) + bytes_u64(self.distinct_count)
        for value in (
            VERSION,
            self.fingerprint_bits,
            int(self.has_ids),
            self.kind,
            self.block_size,
            self.column_bits,
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

    fingerprint_bits: int
    k: int
    has_ids: bool
    plan_given: bool
    next_id: int
    recipe: bytes
    segments: list[Segment]
    has_id_index: bool = False
    has_names: bool = False


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
    if u32(data, 32) not in range(FINGERPRINT_BITS, MAX_WORDS * FINGERPRINT_BITS + 1, FINGERPRINT_BITS):
        raise Unsupported(f"{u32(data, 32)} fingerprint bits", path, 32)
    if u64(data, 16) != 0:
        raise Unsupported(f"required features {u64(data, 16):#x}", path, 16)
    if u32(data, 40) & ~KNOWN_FLAGS:
        raise Unsupported(f"flags {u32(data, 40):#x}", path, 40)


def _parse_contents(data: bytes, path: str) -> Manifest:
    """Section 12, step 3."""
    end = len(data) - CHECKSUM_BYTES
    fingerprint_bits = u32(data, 32)
    k = u32(data, 36)
    flags = u32(data, 40)
    recipe_size = u32(data, 56)
    segment_count = u32(data, 60)
    if k > MAX_K_OF_WORD * fingerprint_bits // FINGERPRINT_BITS:
        raise Damaged(f"k {k}", offset=36)
    if recipe_size > MAX_RECIPE_BYTES:
        raise Damaged(f"a recipe of {recipe_size} bytes", offset=56)
    if segment_count > MAX_SEGMENTS:
        raise Damaged(f"{segment_count} segments", offset=60)
    offset = FIXED_BYTES + -(-recipe_size // 8) * 8
    if offset > end:
        raise Damaged("the recipe passes the checksum", offset=56)
    if flags & FLAG_ID_INDEX and not flags & FLAG_IDS:
        raise Damaged("an id index without ids", offset=40)
    if flags & FLAG_NAMES and not flags & FLAG_ID_INDEX:
        raise Damaged("names without an id index", offset=40)
    recipe = data[FIXED_BYTES : FIXED_BYTES + recipe_size]
    if 0 in recipe:
        raise Damaged("a zero byte in the recipe", offset=FIXED_BYTES + recipe.index(0))

    segments: list[Segment] = []
    entries = _Entries(data, path, offset)
    for _ in range(segment_count):
        segment_at = entries.offset
        segment = entries.take(fingerprint_bits, k, bool(flags & FLAG_IDS))
        segments.append(segment)
        if segment.is_wide and segment.kind == KIND_ADDS:
            segment.word_indexes = [entries.take_word_index(segment, word) for word in range(fingerprint_bits // FINGERPRINT_BITS)]
            if sum(index.radius + 1 for index in segment.word_indexes) < k + 1:
                raise Damaged(f"the radii of the words are not enough for k {k}", offset=segment_at)
        if flags & FLAG_ID_INDEX and segment.kind == KIND_ADDS:
            segment.id_index = entries.take_id_index(segment)
        if flags & FLAG_NAMES and segment.kind == KIND_ADDS:
            segment.names = entries.take_names(segment)
        if segment_count + sum(len(one.indexes) for one in segments) > MAX_SEGMENTS:
            raise Damaged("too many indexes", offset=segment_at)
    offset = entries.offset
    if len({segment.folder_number for segment in segments}) != len(segments):
        raise Damaged("two segments have the same folder", offset=FIXED_BYTES)
    if u64(data, 48) != 0 and not flags & FLAG_IDS:
        raise Damaged("a next id without ids", offset=48)
    if offset != end:
        raise Damaged("bytes between the last table and the checksum", offset=offset)

    _check_all_segments(segments)
    return Manifest(
        fingerprint_bits,
        k,
        bool(flags & FLAG_IDS),
        bool(flags & FLAG_PLAN_GIVEN),
        u64(data, 48),
        recipe,
        segments,
        bool(flags & FLAG_ID_INDEX),
        bool(flags & FLAG_NAMES),
    )


class _Entries:
    """Takes the entries of segments and indexes, each with its tables, one after the other."""

    def __init__(self, data: bytes, path: str, offset: int):
        self.data = data
        self.path = path
        self.offset = offset
        self.end = len(data) - CHECKSUM_BYTES

    def take(self, fingerprint_bits: int, k: int, has_ids: bool) -> Segment:
        at = self.offset
        self._require_whole_entry()
        kind = u32(self.data, at + 112)
        if kind not in (KIND_ADDS, KIND_REMOVES):
            raise Unsupported(f"a segment of kind {kind}", self.path, at + 112)
        self._require_column_bits(COLUMN_BITS if fingerprint_bits == FINGERPRINT_BITS else fingerprint_bits)
        segment = self._take_with_tables(fingerprint_bits, k, has_ids)
        _check_segment(segment, at)
        return segment

    def take_word_index(self, segment: Segment, word: int) -> Segment:
        """Section 16.2."""
        at = self.offset
        self._require_whole_entry()
        if self.data[at + 112] != KIND_WORD:
            raise Unsupported(f"kind {self.data[at + 112]} where word index {word} is expected", self.path, at + 112)
        if self.data[at + 113] != word:
            raise Unsupported(f"word {self.data[at + 113]} where word index {word} is expected", self.path, at + 113)
        self._require_column_bits(COLUMN_BITS)
        radius = u16(self.data, at + 114) - 1
        if radius > MAX_K_OF_WORD:
            raise Damaged(f"radius {radius} of word {word}", offset=at + 114)
        index = self._take_with_tables(FINGERPRINT_BITS, max(radius, 0), has_ids=True)
        if index.record_count != segment.distinct_count:
            raise Damaged(f"{index.record_count} records for {segment.distinct_count} fingerprints", offset=at + 24)
        if index.block_size != segment.block_size:
            raise Damaged(f"block size {index.block_size} in a segment of block size {segment.block_size}", offset=at + 56)
        _check_segment(index, at)
        return index

    def take_id_index(self, segment: Segment) -> Segment:
        """Section 17."""
        at = self.offset
        self._require_whole_entry()
        kind = u32(self.data, at + 112)
        if kind not in (KIND_ID, KIND_ID | PACKED):
            raise Unsupported(f"kind {kind:x} where an id index is expected", self.path, at + 112)
        self._require_column_bits(COLUMN_BITS)
        index = self._take_with_tables(FINGERPRINT_BITS, 0, has_ids=kind == KIND_ID)
        if len(index.tables) != 1:
            raise Damaged(f"an id index of {len(index.tables)} tables", offset=at + 116)
        if index.record_count != segment.record_count:
            raise Damaged(f"{index.record_count} records for {segment.record_count} ids", offset=at + 24)
        if index.block_size != segment.block_size:
            raise Damaged(f"block size {index.block_size} in a segment of block size {segment.block_size}", offset=at + 56)
        if index.is_packed and segment.distinct_count > 1 << PACKED_BITS:
            raise Damaged(f"a packed id index for {segment.distinct_count} ranks", offset=at + 113)
        _check_segment(index, at)
        return index

    def take_names(self, segment: Segment) -> Segment:
        """Section 18.1."""
        at = self.offset
        self._require_whole_entry()
        kind = u32(self.data, at + 112)
        if kind & 0xFF != KIND_NAMES or kind >> 16:
            raise Unsupported(f"kind {kind:x} where names are expected", self.path, at + 112)
        self._require_column_bits(COLUMN_BITS)
        names = self._take_with_tables(FINGERPRINT_BITS, 0, has_ids=False)
        if len(names.tables) != 1:
            raise Damaged(f"names with {len(names.tables)} tables", offset=at + 116)
        if names.record_count > segment.record_count or (names.record_count > 0) != (segment.record_count > 0):
            raise Damaged(f"{names.record_count} names for {segment.record_count} records", offset=at + 24)
        if names.block_size != segment.block_size:
            raise Damaged(f"block size {names.block_size} in a segment of block size {segment.block_size}", offset=at + 56)
        if names.number_bits > MAX_NUMBER_BITS or names.record_count >> names.number_bits:
            raise Damaged(f"numbers of {names.number_bits} bits for {names.record_count} names", offset=at + 113)
        _check_segment(names, at)
        return names

    def _require_whole_entry(self) -> None:
        if self.offset + SEGMENT_BYTES > self.end:
            raise Damaged("segments pass the checksum", offset=self.offset)

    def _require_column_bits(self, wanted: int) -> None:
        bits = u32(self.data, self.offset + 60)
        if bits != wanted:
            raise Unsupported(f"columns of {bits} bits", self.path, self.offset + 60)

    def _take_with_tables(self, fingerprint_bits: int, k: int, has_ids: bool) -> Segment:
        at = self.offset
        table_count = u32(self.data, at + 116)
        if not 1 <= table_count <= MAX_TABLES:
            raise Damaged(f"{table_count} tables", offset=at + 116)
        self.offset += SEGMENT_BYTES + table_count * TABLE_BYTES
        if self.offset > self.end:
            raise Damaged("tables pass the checksum", offset=at + 116)
        return _parse_segment(self.data, at, table_count, fingerprint_bits, k, has_ids)


def _parse_segment(data: bytes, at: int, table_count: int, fingerprint_bits: int, k: int, has_ids: bool) -> Segment:
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
        column_bits=u32(data, at + 60),
        lmdb_format=u32(data, at + 120),
        tables=tables,
        fingerprint_bits=fingerprint_bits,
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
    elif segment.is_names:
        if segment.id_block_count > MAX_BLOCKS or (segment.id_block_count == 0) != (records == 0):
            raise Damaged(f"{segment.id_block_count} blocks for {records} names", offset=at + 88)
    elif segment.id_block_count != 0:
        raise Damaged("id blocks in a store without ids", offset=at + 88)

    if segment.is_wide:
        _check_whole_table(segment, at)
    else:
        _check_tables(segment, at)
    directory_values = sum(table.block_count for table in segment.tables) + segment.id_block_count
    if not segment.is_wide:
        directory_values += segment.tables[0].block_count  # the first ranks
    if segment.is_names:
        directory_values += segment.id_block_count  # the numbers of their first names
    if segment.directory_size > 16 * 2**20 + 16 * directory_values:
        raise Damaged(f"a directory of {segment.directory_size} bytes", offset=at + 64)
    if segment.id != segment.computed_id():
        raise Damaged("the segment id is not that of its fields", offset=at)
    if not segment.is_wide:
        pattern = uncovered_pattern(tuple((table.key_mask, table.radius) for table in segment.tables), segment.k)
        if pattern is not None:
            raise Damaged(f"the plan misses the error pattern {pattern:016x}", offset=at + SEGMENT_BYTES)


def _check_tables(segment: Segment, at: int) -> None:
    for number, table in enumerate(segment.tables):
        table_at = at + SEGMENT_BYTES + number * TABLE_BYTES
        if table.prefix_bits != table.key_mask.bit_count() or table.prefix_bits == 0:
            raise Damaged(f"{table.prefix_bits} prefix bits", offset=table_at + 8)
        if table.radius > table.prefix_bits:
            raise Damaged(f"radius {table.radius}", offset=table_at + 12)
        _check_block_count(table.block_count, segment.distinct_count, table_at + 16)
    first = segment.tables[0]
    if first.key_mask >> (FINGERPRINT_BITS - first.prefix_bits) != 2**first.prefix_bits - 1:
        raise Damaged("the key bits of table 0 are not the leading ones", offset=at + SEGMENT_BYTES)


def _check_whole_table(segment: Segment, at: int) -> None:
    """Section 16.1."""
    if len(segment.tables) != 1:
        raise Damaged(f"{len(segment.tables)} tables of {segment.fingerprint_bits} bits", offset=at + 116)
    table = segment.tables[0]
    if table.key_mask or table.prefix_bits or table.radius:
        raise Damaged("a table of whole fingerprints has a key mask, prefix bits or a radius", offset=at + SEGMENT_BYTES)
    if table.block_count != block_count_of(segment.block_size, segment.fingerprint_bits, segment.distinct_count):
        raise Damaged(f"{table.block_count} blocks for {segment.distinct_count} fingerprints", offset=at + SEGMENT_BYTES + 16)
    _check_block_count(table.block_count, segment.distinct_count, at + SEGMENT_BYTES + 16)


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
