"""Writes whole stores (sstore-format.md, sections 2 to 9, 16 and 17), for tests of readers: of this decoder, and of the command.

It writes right stores only. It takes no lock and syncs nothing, so it is no writer for stores that others use (section 11).
"""

from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

import lmdb_file
from bits import FINGERPRINT_BITS, bytes_u32, bytes_u64, bytes_u128, u16, words_of
from block import HEAD_BYTES
from blockfile import CHECKSUM_AT, H_COUNTS_AT, HEADER_BYTES, LENGTHS, MAGIC, NUMBER_OF_IDS
from encoder import TableEncoder, code_lengths, id_blocks, table_counts
from manifest import (
    CHECKSUM_BYTES,
    COLUMN_BITS,
    FIXED_BYTES,
    FLAG_ID_INDEX,
    FLAG_IDS,
    FLAG_NAMES,
    FLAG_PLAN_GIVEN,
    KIND_ADDS,
    KIND_ID,
    KIND_NAMES,
    KIND_WORD,
    PACKED,
    PACKED_BITS,
    VERSION,
    Manifest,
    Segment,
    Table,
)
from manifest import MAGIC as MANIFEST_MAGIC
from names import (
    FRAGMENTS_AT,
    FRAGMENTS_BYTES,
    NUMBER_OF_NAMES,
    Name,
    fingerprint_of,
    names_sum,
    number_bits,
    parse_fragments,
    stored_fragments,
    write_column,
)
from plan import Permutation
from segment import Record, content_sum, id_index_records, table_name, word_records
from whole import capacity, encode_whole
from xxh3 import xxh3_64, xxh3_128

CHUNK_VALUES = 2**16
KIND_BLOCK_KEYS = 1
KIND_FIRST_RANKS = 2

TablePlan = tuple[int, int]  # key mask, radius
ALL_BITS: TablePlan = (2**64 - 1, 0)  # of the only table of an id index


@dataclass
class WordPlan:
    """Of a word index: the radius of the word, -1 to 16, and a plan that is complete for it."""

    radius: int
    tables: list[TablePlan]


@dataclass
class Part:
    """A segment to write. With fingerprints of 64 bits it has `tables`; with more, one that adds has `words`."""

    kind: int
    records: list[Record]
    tables: list[TablePlan] = field(default_factory=list)
    words: list[WordPlan] = field(default_factory=list)
    names: dict[int, bytes] = field(default_factory=dict)  # at least of all ids of the records
    fragments: list[bytes] = field(default_factory=list)


@dataclass
class Options:
    fingerprint_bits: int
    k: int
    has_ids: bool
    block_size: int = 4096
    recipe: bytes = b""
    plan_given: bool = False
    id_index: bool = False
    has_names: bool = False


def write_store(path: Path, options: Options, parts: list[Part]) -> Manifest:
    """Write a new store at `path`. The parts become its segments, the oldest first."""
    path.mkdir()
    manifest = Manifest(
        options.fingerprint_bits, options.k, options.has_ids, options.plan_given, 0, options.recipe, [], options.id_index, options.has_names
    )
    for part in parts:
        segment = _new_segment(options, part)
        while segment.folder_number in {other.folder_number for other in manifest.segments}:
            segment.folder_number += 1
        _write_files(path / segment.folder_name, segment, part.records)
        if segment.names is not None:
            _write_names(path / segment.folder_name / segment.names.folder_name, segment.names, part_names(part), part.fragments)
        manifest.segments.append(segment)
    if options.has_ids:
        highest = max((record_id for part in parts for _, record_id in part.records if record_id is not None), default=-1)
        manifest.next_id = min(highest + 1, 2**64 - 1)
    (path / "MANIFEST").write_bytes(manifest_bytes(manifest))
    return manifest


def _new_segment(options: Options, part: Part) -> Segment:
    is_wide = options.fingerprint_bits > FINGERPRINT_BITS
    column_bits = options.fingerprint_bits if is_wide else COLUMN_BITS
    tables = [(0, 0)] if is_wide else part.tables
    segment = _segment_of(part.records, part.kind, options.fingerprint_bits, column_bits, tables, options)
    segment.folder_number = segment.id % 2**64
    fingerprints = sorted({fingerprint for fingerprint, _ in part.records})
    if is_wide and part.kind == KIND_ADDS:
        for word, plan in enumerate(part.words):
            kind = KIND_WORD | word << 8 | plan.radius + 1 << 16
            own = Options(FINGERPRINT_BITS, max(plan.radius, 0), True, options.block_size)
            records = word_records(fingerprints, options.fingerprint_bits, word)
            segment.word_indexes.append(_segment_of(records, kind, FINGERPRINT_BITS, COLUMN_BITS, plan.tables, own))
    if options.id_index and part.kind == KIND_ADDS:
        packed = all(record_id < 1 << PACKED_BITS for _, record_id in part.records)
        own = Options(FINGERPRINT_BITS, 0, not packed, options.block_size)
        records = id_index_records(part.records, fingerprints, packed)
        kind = KIND_ID | (PACKED if packed else 0)
        segment.id_index = _segment_of(records, kind, FINGERPRINT_BITS, COLUMN_BITS, [ALL_BITS], own)
    if options.has_names and part.kind == KIND_ADDS:
        bits = number_bits(len(part.records))
        own = Options(FINGERPRINT_BITS, 0, False, options.block_size)
        names = part_names(part)
        values = [(fingerprint_of(name, number, bits), None) for number, (_, name) in enumerate(names)]
        segment.names = _segment_of(values, KIND_NAMES | bits << 8, FINGERPRINT_BITS, COLUMN_BITS, [ALL_BITS], own)
        segment.names.content_sum = names_sum(names)
        segment.names.id = segment.names.computed_id()
    return segment


def part_names(part: Part) -> list[Name]:
    """The names of the ids of a segment's records, ascending by id."""
    return [(name_id, part.names[name_id]) for name_id in sorted({record_id for _, record_id in part.records if record_id is not None})]


def _write_names(folder: Path, segment: Segment, names: list[Name], fragments: list[bytes]) -> None:
    stored = stored_fragments(fragments)
    header = bytearray(HEADER_BYTES)
    header[FRAGMENTS_AT : FRAGMENTS_AT + FRAGMENTS_BYTES] = stored
    header[88:104] = bytes_u128(xxh3_128(stored))
    column = write_column(names, parse_fragments(bytes(header)), segment.block_size)
    folder.mkdir()
    fields = _header(segment, NUMBER_OF_NAMES, len(column.blocks), len(names), None)
    header[:88] = fields[:88]
    segment.id_block_count = len(column.blocks)
    segment.id_header_checksum = _write_block_file(folder / "names.blk", header, column.blocks)
    arrays = {(KIND_BLOCK_KEYS, NUMBER_OF_NAMES): column.keys, (KIND_FIRST_RANKS, NUMBER_OF_NAMES): column.first_numbers}
    values = sorted(fingerprint_of(name, number, segment.number_bits) for number, (_, name) in enumerate(names))
    arrays[KIND_BLOCK_KEYS, 0] = _write_table(folder, segment, 0, values, arrays)
    data = lmdb_file.environment(directory_entries(arrays))
    (folder / "directory.mdb").write_bytes(data)
    segment.directory_size, segment.directory_checksum = len(data), xxh3_128(data)


def _segment_of(
    records: list[Record], kind: int, bits: int, column_bits: int, tables: list[TablePlan], options: Options
) -> Segment:
    """All that follows from the records. What follows from the files is 0 yet."""
    segment = Segment(
        id=0,
        folder_number=0,
        record_count=len(records),
        distinct_count=len({fingerprint for fingerprint, _ in records}),
        content_sum=content_sum(records, bits),
        block_size=options.block_size,
        directory_size=0,
        directory_checksum=0,
        id_block_count=0,
        id_header_checksum=0,
        kind=kind,
        column_bits=column_bits,
        lmdb_format=lmdb_file.FORMAT,
        tables=[Table(mask, mask.bit_count(), radius, 0, 0) for mask, radius in tables],
        fingerprint_bits=bits,
        k=options.k,
        has_ids=options.has_ids,
    )
    segment.id = segment.computed_id()
    return segment


def _write_files(folder: Path, segment: Segment, records: list[Record]) -> None:
    """Write the files of a segment and of its indexes, and set what follows from them in the segment."""
    folder.mkdir()
    records = sorted(records)
    fingerprints = sorted({fingerprint for fingerprint, _ in records})
    arrays: dict[tuple[int, int], list[int]] = {}
    for number, table in enumerate(segment.tables):
        if segment.is_wide:
            keys = _write_whole_table(folder, segment, fingerprints)
        else:
            permutation = Permutation(table.key_mask)
            keys = _write_table(folder, segment, number, sorted(map(permutation.apply, fingerprints)), arrays)
        arrays[KIND_BLOCK_KEYS, number] = keys
    if segment.has_ids:
        arrays[KIND_BLOCK_KEYS, NUMBER_OF_IDS] = _write_ids(folder, segment, fingerprints, records)
    data = lmdb_file.environment(directory_entries(arrays))
    (folder / "directory.mdb").write_bytes(data)
    segment.directory_size, segment.directory_checksum = len(data), xxh3_128(data)
    for index in segment.word_indexes:
        _write_files(folder / index.folder_name, index, word_records(fingerprints, segment.fingerprint_bits, index.word))
    if segment.id_index is not None:
        index = segment.id_index
        _write_files(folder / index.folder_name, index, id_index_records(records, fingerprints, index.is_packed))


def directory_entries(arrays: dict[tuple[int, int], list[int]]) -> dict[bytes, bytes]:
    """Section 8. An array is known by its kind and the number of its file."""
    entries: dict[bytes, bytes] = {}
    for (kind, number), values in arrays.items():
        for chunk, begin in enumerate(range(0, len(values), CHUNK_VALUES)):
            key = bytes([kind]) + number.to_bytes(4, "big") + chunk.to_bytes(4, "big")
            entries[key] = b"".join(map(bytes_u64, values[begin : begin + CHUNK_VALUES]))
    return entries


def _write_table(folder: Path, segment: Segment, number: int, permuted: list[int], arrays: dict[tuple[int, int], list[int]]) -> list[int]:
    """Write a table of 64 bits. Returns its block keys; the first ranks of table 0 go into `arrays`."""
    h_counts, gap_bit_counts = table_counts(permuted)
    lengths = code_lengths(h_counts)
    blocks = TableEncoder(segment.block_size, lengths).blocks(permuted)
    begins = [0, *accumulate(u16(block, len(block) - HEAD_BYTES) for block in blocks)]
    if number == 0:
        arrays[KIND_FIRST_RANKS, 0] = begins[:-1]
    header = _header(segment, number, len(blocks), len(permuted), segment.tables[number])
    header[LENGTHS] = lengths
    for i, count in enumerate([*h_counts, *gap_bit_counts]):
        header[H_COUNTS_AT + 8 * i : H_COUNTS_AT + 8 * i + 8] = bytes_u64(count)
    _write_table_file(folder, segment, number, header, blocks)
    return [permuted[end - 1] for end in begins[1:]]


def _write_whole_table(folder: Path, segment: Segment, fingerprints: list[int]) -> list[int]:
    """Write table 0 of a wide store (section 16.1). Returns its block keys: word 0 of the last fingerprints."""
    blocks = encode_whole(fingerprints, segment.block_size, segment.fingerprint_bits)
    _write_table_file(folder, segment, 0, _header(segment, 0, len(blocks), len(fingerprints), segment.tables[0]), blocks)
    each = capacity(segment.block_size, segment.fingerprint_bits)
    last_of_blocks = [fingerprints[min(begin + each, len(fingerprints)) - 1] for begin in range(0, len(fingerprints), each)]
    return [words_of(fingerprint, segment.fingerprint_bits)[0] for fingerprint in last_of_blocks]


def _write_table_file(folder: Path, segment: Segment, number: int, header: bytearray, blocks: list[bytes]) -> None:
    segment.tables[number].block_count = len(blocks)
    segment.tables[number].header_checksum = _write_block_file(folder / table_name(number), header, blocks)


def _write_ids(folder: Path, segment: Segment, fingerprints: list[int], records: list[Record]) -> list[int]:
    """Write the id column. Returns its block keys: the ranks of the last records."""
    rank_of = {fingerprint: rank for rank, fingerprint in enumerate(fingerprints)}
    ranked = [(rank_of[fingerprint], record_id) for fingerprint, record_id in records]
    blocks = id_blocks(ranked, segment.block_size)
    header = _header(segment, NUMBER_OF_IDS, len(blocks), len(records), None)
    segment.id_block_count = len(blocks)
    segment.id_header_checksum = _write_block_file(folder / "ids.blk", header, blocks)
    ends = accumulate(u16(block, 16) for block in blocks)
    return [ranked[end - 1][0] for end in ends]


def _header(segment: Segment, number: int, block_count: int, item_count: int, table: Table | None) -> bytearray:
    """Section 4, without code, counts and checksum."""
    header = MAGIC + bytes_u32(VERSION) + bytes_u32(HEADER_BYTES) + bytes_u128(segment.id)
    header += bytes_u32(number) + bytes_u32(segment.block_size) + bytes_u32(segment.column_bits if table else 0)
    header += bytes_u32(segment.fingerprint_bits) + bytes_u64(block_count) + bytes_u64(item_count)
    header += bytes_u32(len(segment.tables)) + bytes_u32(segment.k) + bytes_u32(table.radius if table else 0) + bytes(4)
    header += bytes_u64(table.key_mask if table else 0)
    return bytearray(header.ljust(HEADER_BYTES, b"\0"))


def _write_block_file(path: Path, header: bytearray, blocks: list[bytes]) -> int:
    """Write header and blocks with their checksums. Returns that of the header."""
    checksum = xxh3_128(bytes(header[:CHECKSUM_AT]))
    header[CHECKSUM_AT:] = bytes_u128(checksum)
    file_key = bytes_u64(xxh3_64(bytes(header[16:36] + header[LENGTHS])))
    sealed = [block + bytes_u64(xxh3_64(block) ^ xxh3_64(file_key + bytes_u64(index))) for index, block in enumerate(blocks)]
    path.write_bytes(bytes(header) + b"".join(sealed))
    return checksum


def manifest_bytes(manifest: Manifest) -> bytes:
    """Section 3."""
    recipe = manifest.recipe.ljust(-(-len(manifest.recipe) // 8) * 8, b"\0")
    body = recipe + b"".join(
        _entry_bytes(entry) for segment in manifest.segments for entry in (segment, *segment.indexes)
    )
    flags = (FLAG_IDS if manifest.has_ids else 0) | (FLAG_PLAN_GIVEN if manifest.plan_given else 0)
    flags |= FLAG_ID_INDEX if manifest.has_id_index else 0
    flags |= FLAG_NAMES if manifest.has_names else 0
    data = MANIFEST_MAGIC + bytes_u32(VERSION) + bytes_u32(FIXED_BYTES + len(body) + CHECKSUM_BYTES) + bytes(16)
    data += bytes_u32(manifest.fingerprint_bits) + bytes_u32(manifest.k) + bytes_u32(flags) + bytes(4)
    data += bytes_u64(manifest.next_id) + bytes_u32(len(manifest.recipe)) + bytes_u32(len(manifest.segments)) + body
    return data + bytes_u128(xxh3_128(data))


def _entry_bytes(segment: Segment) -> bytes:
    """Sections 3.3, 3.4, 16.2 and 17."""
    data = bytes_u128(segment.id) + bytes_u64(segment.folder_number)
    data += bytes_u64(segment.record_count) + bytes_u64(segment.distinct_count) + bytes_u128(segment.content_sum)
    data += bytes_u32(segment.block_size) + bytes_u32(segment.column_bits)
    data += bytes_u64(segment.directory_size) + bytes_u128(segment.directory_checksum)
    data += bytes_u64(segment.id_block_count) + bytes_u128(segment.id_header_checksum)
    data += bytes_u32(segment.kind) + bytes_u32(len(segment.tables)) + bytes_u32(segment.lmdb_format) + bytes(4)
    for table in segment.tables:
        data += bytes_u64(table.key_mask) + bytes_u32(table.prefix_bits) + bytes_u32(table.radius)
        data += bytes_u64(table.block_count) + bytes_u128(table.header_checksum)
    return data
