"""A segment's files: tables, id column and directory (sstore-format.md, sections 4 to 9)."""

from collections import Counter
from collections.abc import Iterator

from bits import bytes_u64, first_difference
from block import TRAILER_BYTES, decode_block
from blockfile import NUMBER_OF_IDS, BlockFile
from encoder import TableEncoder, id_blocks
from faults import Damaged
from folder import Folder
from ids import id_records
from manifest import Segment
from plan import Permutation
from xxh3 import xxh3_128

Record = tuple[int, int | None]


def table_name(number: int) -> str:
    return f"table-{number:02d}.blk"


def read_table(folder: Folder, segment: Segment, number: int) -> tuple[BlockFile, list[int]]:
    """Read a table's file and all its fingerprints, permuted. They must ascend strictly."""
    file = BlockFile(folder, table_name(number), segment, number)
    fingerprints: list[int] = []
    last = -1
    for offset, block in file.blocks():
        try:
            decoded = decode_block(block, file.code)
            for fingerprint in decoded:
                if fingerprint <= last:
                    raise Damaged(f"{fingerprint:016x} follows {last:016x}", offset=0)
                last = fingerprint
        except Damaged as fault:
            raise fault.within(file.path, offset)
        fingerprints += decoded
    if len(fingerprints) != segment.distinct_count:
        raise Damaged(f"{len(fingerprints)} fingerprints instead of {segment.distinct_count}", file.path, 56)
    return file, fingerprints


def check_written(file: BlockFile, wanted: list[bytes]) -> None:
    """Check that each block, except its trailer, is the one that a writer must make of its contents (section 6; block-codec.md,
    section 7)."""
    for (offset, block), other in zip(file.blocks(), wanted):
        if block[:-TRAILER_BYTES] != other:
            raise Damaged("not as a writer must write it", file.path, offset)


def check_table_written(file: BlockFile, segment: Segment, permuted: list[int]) -> None:
    check_written(file, TableEncoder(segment.block_size, file.code.lengths).blocks(permuted))


def check_ids_written(folder: Folder, segment: Segment) -> None:
    if segment.has_ids:
        file = BlockFile(folder, "ids.blk", segment, NUMBER_OF_IDS)
        check_written(file, id_blocks(list(id_records(file, segment.distinct_count, segment.record_count)), segment.block_size))


def records_of(folder: Folder, segment: Segment, fingerprints: list[int]) -> Iterator[Record]:
    """All records, ascending: table 0 and the id column are read side by side."""
    if not segment.has_ids:
        yield from ((fingerprint, None) for fingerprint in fingerprints)
        return
    file = BlockFile(folder, "ids.blk", segment, NUMBER_OF_IDS)
    for rank, record_id in id_records(file, segment.distinct_count, segment.record_count):
        if rank >= len(fingerprints):
            raise Damaged(f"rank {rank} of {len(fingerprints)} fingerprints", file.path)
        yield fingerprints[rank], record_id


def content_sum(records: list[Record]) -> int:
    """Section 9."""
    total = 0
    for fingerprint, record_id in records:
        total += xxh3_128(bytes_u64(fingerprint) + (b"" if record_id is None else bytes_u64(record_id)))
    return total % 2**128


def check_counts(file: BlockFile, fingerprints: list[int]) -> None:
    """Check the h counts and gap bit counts of the header (section 4)."""
    h_counts: Counter[int] = Counter()
    gap_bytes = [Counter() for _ in range(8)]
    for a, b in zip(fingerprints, fingerprints[1:]):
        h_counts[first_difference(a, b)] += 1
        for counts, byte in zip(gap_bytes, (b - a).to_bytes(8, "big")):
            counts[byte] += 1
    for h in range(64):
        if file.h_counts[h] != h_counts[h]:
            raise Damaged(f"h count of {h} is {file.h_counts[h]}, not {h_counts[h]}", file.path, 152 + 8 * h)
    for bit in range(64):
        counts = gap_bytes[bit // 8]
        count = sum(counts[byte] for byte in counts if byte & 0x80 >> bit % 8)
        if file.gap_bit_counts[bit] != count:
            raise Damaged(f"gap bit count of {bit} is {file.gap_bit_counts[bit]}, not {count}", file.path, 664 + 8 * bit)


def check_directory(folder: Folder, segment: Segment) -> None:
    """Check size and sum (section 12, step 4). The contents follow from the block files and are not read."""
    data = folder.read("directory.mdb", segment.directory_size)
    if xxh3_128(data) != segment.directory_checksum:
        raise Damaged("the sum is not the manifest's", folder.path_of("directory.mdb"))


def check_same_fingerprints(folder: Folder, segment: Segment, number: int, permuted: list[int], wanted: list[int]) -> None:
    undo = Permutation(segment.tables[number].key_mask).undo
    if sorted(map(undo, permuted)) != wanted:
        raise Damaged("not the fingerprints of table 0", folder.path_of(table_name(number)))
