"""A segment's files: tables, id column and directory (sstore-format.md, sections 4 to 9, 16 and 17)."""

from collections.abc import Iterable, Iterator

from bits import bytes_fingerprint, bytes_u64, words_of
from block import TRAILER_BYTES, decode_block
from blockfile import GAP_BIT_COUNTS_AT, H_COUNTS_AT, NUMBER_OF_IDS, BlockFile
from encoder import TableEncoder, id_blocks, table_counts
from faults import Damaged
from folder import Folder
from ids import id_records
from manifest import PACKED_BITS, Segment
from names import NUMBER_OF_NAMES, Name, fingerprint_of, names_sum, read_names, write_column
from plan import Permutation
from whole import capacity, decode_whole, encode_whole
from xxh3 import xxh3_128

Record = tuple[int, int | None]


def table_name(number: int) -> str:
    return f"table-{number:02d}.blk"


def read_table(folder: Folder, segment: Segment, number: int) -> tuple[BlockFile, list[int]]:
    """Read a table's file and all its fingerprints, permuted. They must ascend strictly."""
    file = BlockFile(folder, table_name(number), segment, number)
    fingerprints: list[int] = []
    for offset, block in file.blocks():
        try:
            if segment.is_wide:
                each = capacity(segment.block_size, segment.fingerprint_bits)
                decoded = decode_whole(block, min(each, segment.distinct_count - len(fingerprints)), segment.fingerprint_bits)
            else:
                decoded = decode_block(block, file.code)
            if fingerprints and decoded[0] <= fingerprints[-1]:
                raise Damaged(f"{decoded[0]:016x} follows {fingerprints[-1]:016x}", offset=0)
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
    if segment.is_wide:
        check_written(file, encode_whole(permuted, segment.block_size, segment.fingerprint_bits))
    else:
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


def content_sum(records: Iterable[Record], fingerprint_bits: int) -> int:
    """Section 9."""
    total = 0
    for fingerprint, record_id in records:
        total += xxh3_128(bytes_fingerprint(fingerprint, fingerprint_bits) + (b"" if record_id is None else bytes_u64(record_id)))
    return total % 2**128


def word_records(fingerprints: list[int], fingerprint_bits: int, word: int) -> list[Record]:
    """The records of a word index (section 16.2), ascending: (word, rank)."""
    return sorted((words_of(fingerprint, fingerprint_bits)[word], rank) for rank, fingerprint in enumerate(fingerprints))


def id_index_records(records: list[Record], fingerprints: list[int], packed: bool) -> list[Record]:
    """The records of an id index (section 17), ascending: 2**32 * id + rank, or (id, rank)."""
    rank_of = {fingerprint: rank for rank, fingerprint in enumerate(fingerprints)}
    pairs = sorted((record_id, rank_of[fingerprint]) for fingerprint, record_id in records if record_id is not None)
    return [(record_id << PACKED_BITS | rank, None) for record_id, rank in pairs] if packed else list(pairs)


def segment_names(folder: Folder, names: Segment) -> list[Name]:
    """The names of a name part, in its folder (section 18)."""
    return read_names(BlockFile(folder, "names.blk", names, NUMBER_OF_NAMES), names.record_count)[0]


def check_names(folder: Folder, names: Segment, values: list[int] | None, ids: set[int] | None) -> list[Name]:
    """The full check of a column of names, against the fingerprints of its table and the ids of the segment, if these could be
    read."""
    file = BlockFile(folder, "names.blk", names, NUMBER_OF_NAMES)
    found, fragments = read_names(file, names.record_count)
    check_written(file, write_column(found, fragments, names.block_size).blocks)
    if names_sum(found) != names.content_sum:
        raise Damaged("the content sum is not the manifest's", file.path)
    wanted = sorted(fingerprint_of(name, number, names.number_bits) for number, (_, name) in enumerate(found))
    if values is not None and values != wanted:
        raise Damaged("not the names of the column", folder.path_of(table_name(0)))
    if ids is not None and ids != {name_id for name_id, _ in found}:
        raise Damaged("not the names of the ids", file.path)
    return found


def check_counts(file: BlockFile, segment: Segment, fingerprints: list[int]) -> None:
    """Check the h counts and gap bit counts of the header (section 4). Those of whole fingerprints are 0 (section 16.1)."""
    h_counts, gap_bit_counts = table_counts([] if segment.is_wide else fingerprints)
    for what, at, stored, counted in (
        ("h count", H_COUNTS_AT, file.h_counts, h_counts),
        ("gap bit count", GAP_BIT_COUNTS_AT, file.gap_bit_counts, gap_bit_counts),
    ):
        for bit, (is_stored, is_counted) in enumerate(zip(stored, counted)):
            if is_stored != is_counted:
                raise Damaged(f"{what} of {bit} is {is_stored}, not {is_counted}", file.path, at + 8 * bit)


def check_directory(folder: Folder, segment: Segment) -> None:
    """Check size and sum (section 12, step 4). The contents follow from the block files and are not read."""
    data = folder.read("directory.mdb", segment.directory_size)
    if xxh3_128(data) != segment.directory_checksum:
        raise Damaged("the sum is not the manifest's", folder.path_of("directory.mdb"))


def check_same_fingerprints(folder: Folder, segment: Segment, number: int, permuted: list[int], wanted: list[int]) -> None:
    undo = Permutation(segment.tables[number].key_mask).undo
    if sorted(map(undo, permuted)) != wanted:
        raise Damaged("not the fingerprints of table 0", folder.path_of(table_name(number)))
