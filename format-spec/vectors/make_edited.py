"""Makes edited.json: changes of fields of the stores beside it, each with the verdict that a reader must give. expand.py calls
this program.

After most edits every checksum is made right again, so that a reader must notice the field itself.
"""

import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "decoder"))
sys.dont_write_bytecode = True

from bits import bytes_u64, bytes_u128, u16, u32, u64  # noqa: E402
from blockfile import GAP_BIT_COUNTS_AT  # noqa: E402
from block import GROUP_SIZE, Frame, decode_block  # noqa: E402
from encoder import TableEncoder, symbol_of  # noqa: E402
from huffman import Code  # noqa: E402
from segment import content_sum  # noqa: E402
from checksums import set_checksums  # noqa: E402
from xxh3 import xxh3_128  # noqa: E402

# When a reader must refuse a store at the latest: when it opens it, when it reads the block, in a full check.
OPEN, READ, FULL, FINE = "open", "read", "full", None
DAMAGED, UNSUPPORTED = "damaged", "unsupported"


def set_manifest_checksum(store: Path) -> None:
    """Set the manifest's own checksum only."""
    manifest = bytearray((store / "MANIFEST").read_bytes())
    manifest[-16:] = bytes_u128(xxh3_128(bytes(manifest[:-16])))
    (store / "MANIFEST").write_bytes(manifest)


def set_header_checksum(file_name: str, checksum_at: int) -> Callable[[Path], None]:
    """Set the header's checksum, also in the manifest, at that offset."""

    def set_both(store: Path) -> None:
        path = next(store.glob("seg-*")) / file_name
        file = bytearray(path.read_bytes())
        file[4080:4096] = bytes_u128(xxh3_128(bytes(file[:4080])))
        path.write_bytes(file)
        patch(store / "MANIFEST", checksum_at, bytes(file[4080:4096]))
        set_manifest_checksum(store)

    return set_both


def set_directory_checksum(store: Path) -> None:
    """Set the directory's sum. The store has one segment."""
    recipe_bytes = u32((store / "MANIFEST").read_bytes(), 56)
    at = 64 + -(-recipe_bytes // 8) * 8 + 72
    patch(store / "MANIFEST", at, bytes_u128(xxh3_128((next(store.glob("seg-*")) / "directory.mdb").read_bytes())))
    set_manifest_checksum(store)


def without(folder_name: str) -> Callable[[Path], None]:
    """Remove a folder of the segment, and set no checksum."""

    def remove_folder(store: Path) -> None:
        shutil.rmtree(next(store.glob("seg-*")) / folder_name)

    return remove_folder


def nothing(store: Path) -> None:
    pass


def patch(path: Path, offset: int, data: bytes) -> None:
    file = bytearray(path.read_bytes())
    file[offset : offset + len(data)] = data
    path.write_bytes(file)


@dataclass
class Case:
    name: str
    spec: str
    store: str
    file: str  # MANIFEST, or one of the first segment
    changes: list[tuple[int, bytes]]
    refuse: str | None
    word: str | None = DAMAGED
    set_checksums: Callable[[Path], None] = set_checksums
    size: int | None = None  # cut or make longer
    remove: bool = False
    also: list[tuple[str, int, bytes]] = field(default_factory=list)  # changes of other files


SEGMENT = 64  # where the first segment begins without a recipe
TABLE = SEGMENT + 128


def manifest_cases(stores: Path) -> Iterator[Case]:
    for name, spec, offset, data, refuse, word in (
        ("magic", "3.1", 0, b"S", OPEN, DAMAGED),
        ("version 0", "3.1", 8, b"\0", OPEN, UNSUPPORTED),
        ("version 1", "3.1", 8, b"\1", OPEN, UNSUPPORTED),
        ("version 3", "3.1", 8, b"\3", OPEN, UNSUPPORTED),
        ("size", "3.1", 12, b"\x21", OPEN, DAMAGED),
        ("a required feature", "3.1", 16, b"\1", OPEN, UNSUPPORTED),
        ("the last required feature", "3.1", 23, b"\x80", OPEN, UNSUPPORTED),
        ("an optional feature", "3.1", 24, b"\1", FINE, None),
        ("128 fingerprint bits", "3.1", 32, b"\x80", OPEN, UNSUPPORTED),
        ("k 17", "3.1", 36, b"\x11", OPEN, DAMAGED),
        ("a k that the plan is not complete for", "3.1", 36, b"\4", OPEN, DAMAGED),
        ("a reserved flag", "3.1", 40, b"\x13", OPEN, UNSUPPORTED),
        ("the flag of names, without an id index", "3.1", 40, b"\x0b", OPEN, DAMAGED),
        ("the flag of an id index, without its entry", "3.1", 40, b"\7", OPEN, DAMAGED),
        ("the flag of ids", "3.1", 40, b"\2", OPEN, DAMAGED),
        ("the flag of a plan that was given", "3.1", 40, b"\1", FINE, None),
        ("an unused field", "3.1", 44, b"\1\2\3\4", FINE, None),
        ("a next id that is an id", "3.1", 48, b"\7", FULL, DAMAGED),
        ("a next id far above the ids", "3.1", 48, b"\0\0\1", FINE, None),
        ("the highest next id", "3.1", 48, b"\xff" * 8, FINE, None),
        ("a recipe that passes the end", "3.1", 56, b"\0\4", OPEN, DAMAGED),
        ("a recipe of 4097 bytes", "3.1", 56, b"\1\x10", OPEN, DAMAGED),
        ("no segment, where one follows", "3.1", 60, b"\0", OPEN, DAMAGED),
        ("two segments, where one follows", "3.1", 60, b"\2", OPEN, DAMAGED),
        ("4097 segments", "3.1", 60, b"\1\x10", OPEN, DAMAGED),
        ("record count", "3.3", SEGMENT + 24, b"\4", OPEN, DAMAGED),
        ("fewer records than fingerprints", "3.3", SEGMENT + 24, b"\1", OPEN, DAMAGED),
        ("distinct count", "3.3", SEGMENT + 32, b"\1", OPEN, DAMAGED),
        ("no fingerprints", "3.3", SEGMENT + 32, b"\0", OPEN, DAMAGED),
        ("content sum", "3.3", SEGMENT + 40, b"\0\0\0", FULL, DAMAGED),
        ("a block size that is no power of two", "3.3", SEGMENT + 56, b"\x2c\1", OPEN, DAMAGED),
        ("a block size of 128", "3.3", SEGMENT + 56, b"\x80\0", OPEN, DAMAGED),
        ("a block size of 131072", "3.3", SEGMENT + 56, b"\0\0\2", OPEN, DAMAGED),
        ("column bits 0", "3.3", SEGMENT + 60, b"\0", OPEN, UNSUPPORTED),
        ("column bits 16", "3.3", SEGMENT + 60, b"\x10", OPEN, UNSUPPORTED),
        ("column bits 32 + 2^24", "3.3", SEGMENT + 63, b"\1", OPEN, UNSUPPORTED),
        ("directory size", "3.3", SEGMENT + 64, b"\0\x90", OPEN, DAMAGED),
        ("a directory of 32 MiB", "3.3", SEGMENT + 64, b"\0\0\0\2", OPEN, DAMAGED),
        ("directory checksum", "3.3", SEGMENT + 72, b"\0\0\0", OPEN, DAMAGED),
        ("no id block", "3.3", SEGMENT + 88, b"\0", OPEN, DAMAGED),
        ("two id blocks", "3.3", SEGMENT + 88, b"\2", OPEN, DAMAGED),
        ("more id blocks than records", "3.3", SEGMENT + 88, b"\0\0\0\0\0\1", OPEN, DAMAGED),
        ("kind 2", "3.3", SEGMENT + 112, b"\2", OPEN, UNSUPPORTED),
        ("records removed that were never there", "3.3", SEGMENT + 112, b"\1", OPEN, DAMAGED),
        ("another writer", "3.3", SEGMENT + 124, b"\1\2\3\xff", FINE, None),
        ("a key mask that does not lead in table 0", "3.4", TABLE, b"\1", OPEN, DAMAGED),
        ("prefix bits", "3.4", TABLE + 8, b"\x1f", OPEN, DAMAGED),
        ("a radius for which the plan is not complete", "3.4", TABLE + 12, b"\0", OPEN, DAMAGED),
        ("a radius above the prefix bits", "3.4", TABLE + 12, b"\x21", OPEN, DAMAGED),
        ("no block", "3.4", TABLE + 16, b"\0", OPEN, DAMAGED),
        ("two blocks", "3.4", TABLE + 16, b"\2", OPEN, DAMAGED),
        ("more blocks than fingerprints", "3.4", TABLE + 16, b"\3", OPEN, DAMAGED),
    ):
        # Where the segments begin or how many they are is what other checksums are found by.
        how = set_manifest_checksum if offset in (56, 60) else set_checksums
        yield Case(f"manifest: {name}", spec, "example", "MANIFEST", [(offset, data)], refuse, word, how)
    for name, spec, offset, data, refuse in (
        ("segment id", "3.3", SEGMENT, b"\0\0\0", OPEN),
        ("the high half of the segment id", "3.3", SEGMENT + 15, b"\0", OPEN),
        ("folder number", "3.3", SEGMENT + 16, b"\0\0\0", OPEN),
        ("id header checksum", "3.3", SEGMENT + 96, b"\0\0\0", OPEN),
        ("no table", "3.3", SEGMENT + 116, b"\0", OPEN),
        ("three tables", "3.3", SEGMENT + 116, b"\3", OPEN),
        ("65 tables", "3.3", SEGMENT + 116, b"\x41", OPEN),
        ("header checksum of a table", "3.4", TABLE + 24, b"\0\0\0", OPEN),
    ):
        yield Case(f"manifest: {name}", spec, "example", "MANIFEST", [(offset, data)], refuse, set_checksums=set_manifest_checksum)
    for name, refuse, word, offset, data in (
        ("a zero byte in the recipe", OPEN, DAMAGED, 64, b"\0"),
        ("a recipe that is not UTF-8", FINE, None, 64, b"\xff\xfe"),
        ("bytes behind the recipe", FINE, None, 66, b"\1\2\3\4\5\6"),
    ):
        yield Case(f"manifest: {name}", "3.2", "recipe", "MANIFEST", [(offset, data)], refuse, word)
    yield Case("manifest: a next id without ids", "3.1", "one", "MANIFEST", [(48, b"\1")], OPEN)
    yield Case("manifest: id blocks without ids", "3.3", "one", "MANIFEST", [(SEGMENT + 88, b"\1")], OPEN)
    yield Case("manifest: more records than fingerprints without ids", "3.3", "one", "MANIFEST", [(SEGMENT + 24, b"\2")], OPEN)
    yield Case("manifest: an id header checksum without ids", "3.3", "one", "MANIFEST", [(SEGMENT + 96, b"\1")], FINE, None)
    yield Case("manifest: checksum", "3.5", "example", "MANIFEST", [(272, b"\0\0\0")], OPEN, set_checksums=nothing)
    yield Case("manifest: a byte fewer", "3", "example", "MANIFEST", [], OPEN, set_checksums=nothing, size=287)
    yield Case("manifest: a byte more", "3", "example", "MANIFEST", [], OPEN, set_checksums=nothing, size=289)
    yield Case("manifest: nothing in it", "3", "example", "MANIFEST", [], OPEN, set_checksums=nothing, size=0)


def header_cases(stores: Path) -> Iterator[Case]:
    for file, name, offset, data, refuse, word in (
        ("table-01.blk", "magic", 0, b"x", OPEN, DAMAGED),
        ("table-01.blk", "version 0", 8, b"\0", OPEN, UNSUPPORTED),
        ("table-01.blk", "version 1", 8, b"\1", OPEN, UNSUPPORTED),
        ("table-01.blk", "version 3", 8, b"\3", OPEN, UNSUPPORTED),
        ("table-01.blk", "header size", 13, b"\x20", OPEN, UNSUPPORTED),
        ("table-01.blk", "number", 32, b"\0", OPEN, DAMAGED),
        ("table-01.blk", "block size", 36, b"\0\2", OPEN, DAMAGED),
        ("table-01.blk", "column bits 0", 40, b"\0", OPEN, UNSUPPORTED),
        ("table-01.blk", "column bits 16", 40, b"\x10", OPEN, UNSUPPORTED),
        ("table-01.blk", "fingerprint bits", 44, b"\x80", OPEN, UNSUPPORTED),
        ("table-01.blk", "block count", 48, b"\2", OPEN, DAMAGED),
        ("table-01.blk", "item count", 56, b"\3", OPEN, DAMAGED),
        ("table-01.blk", "table count", 64, b"\3", OPEN, DAMAGED),
        ("table-01.blk", "k", 68, b"\4", OPEN, DAMAGED),
        ("table-01.blk", "radius", 72, b"\2", OPEN, DAMAGED),
        ("table-01.blk", "an unused field", 76, b"\2", FINE, None),
        ("table-01.blk", "key mask", 80, b"\0", OPEN, DAMAGED),
        ("table-01.blk", "no code", 88 + 30, b"\0", FULL, DAMAGED),
        ("table-01.blk", "a code of two bits alone", 88 + 30, b"\2", OPEN, DAMAGED),
        ("table-01.blk", "an incomplete code", 88 + 30, b"\1\2", OPEN, DAMAGED),
        ("table-01.blk", "too many codes", 88 + 30, b"\1\1\1", OPEN, DAMAGED),
        ("table-01.blk", "a code of twelve bits", 88 + 18, bytes([*range(1, 13), 12]), OPEN, DAMAGED),
        ("table-01.blk", "a code for more than there is", 88 + 30, b"\1\1", FINE, None),
        ("table-01.blk", "unused bytes behind the code lengths", 121, b"\1" * 31, FINE, None),
        ("table-01.blk", "h counts", 152 + 8 * 30, b"\2", FULL, DAMAGED),
        ("table-01.blk", "gap bit counts", 664, b"\1", FULL, DAMAGED),
        ("table-01.blk", "the unused rest", 1176, b"\1" * 2904, FINE, None),
        ("ids.blk", "magic", 7, b"k", OPEN, DAMAGED),
        ("ids.blk", "version 0", 8, b"\0", OPEN, UNSUPPORTED),
        ("ids.blk", "version 1", 8, b"\1", OPEN, UNSUPPORTED),
        ("ids.blk", "version 3", 8, b"\3", OPEN, UNSUPPORTED),
        ("ids.blk", "header size", 13, b"\x20", OPEN, UNSUPPORTED),
        ("ids.blk", "a table's number", 32, b"\0\0\0\0", OPEN, UNSUPPORTED),
        ("ids.blk", "block size", 36, b"\0\2", OPEN, DAMAGED),
        ("ids.blk", "column bits 32", 40, b"\x20", OPEN, UNSUPPORTED),
        ("ids.blk", "fingerprint bits", 44, b"\x80", OPEN, UNSUPPORTED),
        ("ids.blk", "block count", 48, b"\2", OPEN, DAMAGED),
        ("ids.blk", "item count", 56, b"\2", OPEN, DAMAGED),
        ("ids.blk", "table count", 64, b"\3", OPEN, DAMAGED),
        ("ids.blk", "k", 68, b"\4", OPEN, DAMAGED),
        ("ids.blk", "unused radius and key mask", 72, b"\1" * 16, FINE, None),
        ("ids.blk", "a code", 88, b"\1", OPEN, DAMAGED),
        ("ids.blk", "an incomplete code", 88, b"\2", OPEN, DAMAGED),
        ("ids.blk", "unused bytes behind the code lengths", 121, b"\1" * 31, FINE, None),
        ("ids.blk", "unused counts", 152, b"\1" * 1024, FINE, None),
        ("ids.blk", "the unused rest", 1176, b"\1" * 2904, FINE, None),
    ):
        yield Case(f"{file}: {name}", "4", "example", file, [(offset, data)], refuse, word)
    yield Case("ids.blk: a table's number and column", "4", "example", "ids.blk", [(32, bytes(4)), (40, b"\x20")], OPEN)
    yield Case("table-01.blk: the id column's number", "4", "example", "table-01.blk", [(32, b"\xff" * 4)], OPEN,
               UNSUPPORTED)
    many = b"\0\0\1"  # 65536: one more than a block can hold
    yield Case("table-00.blk: more fingerprints than its block can hold", "4", "one", "table-00.blk", [(56, many)],
               OPEN, also=[("MANIFEST", SEGMENT + 24, many), ("MANIFEST", SEGMENT + 32, many)])
    yield Case("ids.blk: more records than its block can hold", "4", "example", "ids.blk", [(56, many)], OPEN,
               also=[("MANIFEST", SEGMENT + 24, many)])
    yield Case("table-01.blk: segment id", "4", "example", "table-01.blk", [(16, b"\0")], OPEN,
               set_checksums=set_header_checksum("table-01.blk", TABLE + 40 + 24))
    yield Case("ids.blk: segment id", "4", "example", "ids.blk", [(16, b"\0")], OPEN, set_checksums=set_header_checksum("ids.blk", SEGMENT + 96))
    yield Case("table-01.blk: checksum of the header", "4", "example", "table-01.blk", [(4080, b"\0\0")], OPEN, set_checksums=nothing)
    yield Case("ids.blk: checksum of the header", "4", "example", "ids.blk", [(4080, b"\0\0")], OPEN, set_checksums=nothing)
    for file in "table-00.blk", "table-01.blk", "ids.blk", "directory.mdb":
        size = 32768 if file == "directory.mdb" else 4352
        yield Case(f"{file}: a byte fewer", "4", "example", file, [], OPEN, set_checksums=nothing, size=size - 1)
        yield Case(f"{file}: a byte more", "4", "example", file, [], OPEN, set_checksums=nothing, size=size + 1)
        yield Case(f"{file}: nothing in it", "4", "example", file, [], OPEN, set_checksums=nothing, size=0)
        yield Case(f"{file}: gone", "2", "example", file, [], OPEN, set_checksums=nothing, remove=True)


BLOCK = 4096


def zero_bit(stores: Path, store: str) -> int:
    """A zero bit between codes and suffixes, in the first block of table 0 and not in its last group."""
    file = path_of(stores / f"{store}.store", "table-00.blk").read_bytes()
    block, code = file[BLOCK : BLOCK + u32(file, 36)], Code(file[88:121])
    frame, fingerprints = Frame(block), decode_block(block, code)
    for group in range(len(frame.bounds) - 2):
        members = fingerprints[GROUP_SIZE * group : GROUP_SIZE * (group + 1)]
        step_bits = TableEncoder(len(block), code.lengths).step_bits(members)
        begin, end = frame.bounds[group : group + 2]
        if 8 * (end - begin) > step_bits + (frame.key_shift if group else 0):
            return 8 * begin + sum(code.lengths[symbol_of(a, b)] for a, b in zip(members, members[1:]))
    raise AssertionError("no group has one")


def block_cases(stores: Path) -> Iterator[Case]:
    """One block of 200 fingerprints, in four groups. They are in bytes 800 to 4067, the offsets of three of them from
    4068 on, their keys from 4074 on, and the head from 4080 on."""
    file = path_of(stores / "groups.store", "table-00.blk").read_bytes()
    spare = zero_bit(stores, "groups")
    for name, refuse, offset, data in (
        ("a lower half", FULL, 4, bytes(4)),
        ("no fingerprint", READ, 4080, b"\0"),
        ("more fingerprints than there is room for", READ, 4080, b"\xff\xff"),
        ("more fingerprints than there is room for beside the groups' begins", READ, 4080, b"\xfc\3"),
        ("a fingerprint more", FULL, 4080, b"\xc9"),
        ("a fingerprint fewer", FULL, 4080, b"\xc7"),
        ("key_shift 0", FULL, 4082, b"\0"),
        ("the byte behind key_shift", READ, 4083, b"\1"),
        ("first", FULL, 4084, b"\1\2\3"),
        ("first, so that sums pass 2^32", FULL, 4084, b"\xff" * 4),
        ("key 1 is 0", FULL, 4074, b"\0\0"),
        ("key 3, so that the sum passes 2^32", FULL, 4078, b"\xff\xff"),
        ("keys that do not ascend", READ, 4074, file[BLOCK + 4076 : BLOCK + 4078] + file[BLOCK + 4074 : BLOCK + 4076]),
        ("begin 1 is in the column", READ, 4068, b"\x1f\3"),
        ("begin 1 is begin 2", READ, 4068, file[BLOCK + 4070 : BLOCK + 4072]),
        ("begin 1 is a byte too low", FULL, 4068, (u16(file, BLOCK + 4068) - 1).to_bytes(2, "little")),
        ("begin 1 is so low that codes run into rests", FULL, 4068, b"\x2a\3"),
        ("begin 2 is before begin 1", READ, 4070, b"\x20\3"),
        ("begin 3 is after the groups", READ, 4072, b"\xff\xff"),
        ("begin 3 is where the groups end", READ, 4072, b"\xe4\x0f"),
        ("begin 3 leaves no room for the lowest bits", READ, 4072, b"\xe3\x0f"),
        ("a bit of a code", FULL, 800, bytes([file[BLOCK + 800] ^ 1])),
        ("the zero bit between codes and rests", FULL, spare // 8, bytes([file[BLOCK + spare // 8] ^ 1 << spare % 8])),
        ("zero bits of the last group", FULL, 3500, b"\xff"),
        ("lowest bits of the last group", FULL, 4066, b"\0\0"),
    ):
        yield Case(f"table block: {name}", "B 5", "groups", "table-00.blk", [(BLOCK + offset, data)], refuse)
    yield Case("table block: trailer", "4", "groups", "table-00.blk", [(BLOCK + 4088, b"\0\0")], READ, set_checksums=nothing)
    # A block of one group, where key_shift has no other use.
    for name, refuse, data in ("key_shift 17", READ, b"\x11"), ("key_shift 1, with one group", FULL, b"\1"):
        yield Case(f"table block: {name}", "B 5", "two", "table-00.blk", [(BLOCK + 242, data)], refuse)
    # Numbers in a row, whose upper halves are all the same: the code of 32 is the only one, `0`. What is changed lies
    # inside the first group, so that neither end of the block tells of it.
    for name, offset, data in (
        ("equal upper halves whose lower ones descend", 16, b"\5\0\0\0\4\0\0\0"),
        ("a fingerprint twice", 20, b"\4"),
        ("a bit that begins no code", 4 * 9000, b"\1"),
    ):
        yield Case(f"table block: {name}", "B 5", "dense", "table-00.blk", [(BLOCK + offset, data)], READ)
    # The upper halves d9 and db first differ at bit 30. Bit 28 is 1 in both: h = 28 and a suffix of three bits make db.
    yield Case("table block: a code for a bit that is 1 before", "B 5", "example", "table-01.blk",
               [(88 + 28, b"\1\0\0"), (BLOCK + 239, b"\x60")], FULL)
    # Both upper halves are 1: h = 31, which has no suffix, leaves that so. The bytes are what the code of 32 would make.
    yield Case("table block: a code for a bit that is 1 before, with no byte changed", "B 5", "two", "table-00.blk",
               [(88 + 31, b"\1\0")], FULL)
    for name, refuse, offset, data in (
        ("first rank", FULL, 0, b"\1"),
        ("base", FULL, 8, b"\2"),
        ("no record", READ, 16, b"\0"),
        ("a record more", FULL, 16, b"\4"),
        ("more records than there is room for", READ, 16, b"\xff\xff"),
        ("width 65", READ, 18, b"\x41"),
        ("a wider width than need be", FULL, 18, b"\4"),
        ("no starts", FULL, 19, b"\0"),
        ("it goes on at the end", FULL, 19, b"\3"),
        ("an unknown flag", READ, 19, b"\5"),
        ("bit 0 of starts", FULL, 20, b"\3"),
        ("bits of starts behind the records", FULL, 20, b"\xfa"),
        ("a rank too many", FULL, 20, b"\6"),
        ("a rank too few", FULL, 20, b"\0"),
        ("ids of a fingerprint that do not ascend", FULL, 21, b"\x08\0"),
        ("bits behind the values", FULL, 22, b"\xff"),
        ("bytes behind the values", FULL, 23, b"\xff" * 225),
    ):
        yield Case(f"id block: {name}", "6", "example", "ids.blk", [(BLOCK + offset, data)], refuse)
    yield Case("id block: trailer", "4", "example", "ids.blk", [(BLOCK + 248, b"\0\0")], READ, set_checksums=nothing)
    yield Case("id block: a base beside values of 64 bits", "6", "ends", "ids.blk", [(BLOCK + 8, b"\1")], READ)


def segment_cases(stores: Path) -> Iterator[Case]:
    """The segments of this store add, add, remove, add and remove."""
    manifest = (stores / "segments.store" / "MANIFEST").read_bytes()
    begin = at = 64 + -(-u32(manifest, 56) // 8) * 8
    segments = []
    for _ in range(u32(manifest, 60)):
        end = at + 128 + 40 * u32(manifest, at + 116)
        segments.append(manifest[at:end])
        at = end
    one, two, minus, three, minus_again = segments
    for name, refuse, order in (
        ("those that add, in another order", FINE, [two, one, minus, three, minus_again]),
        ("records removed before any is there", OPEN, [minus, one, two, three, minus_again]),
        ("records added that are there", FULL, [one, two, three, minus, minus_again]),
        ("records removed that are not there", FULL, [one, minus, two, three, minus_again]),
        ("a folder twice", OPEN, [one, one, minus, three, minus_again]),
    ):
        yield Case(f"segments: {name}", "3.3", "segments", "MANIFEST", [(begin, b"".join(order))], refuse,
                   None if refuse is FINE else DAMAGED, set_manifest_checksum)


def directory_cases(stores: Path) -> Iterator[Case]:
    """Change values or keys in all pages that have them: LMDB leaves old copies behind."""
    last_at = 9 + 8 * (u64((stores / "assigned.store" / "MANIFEST").read_bytes(), TABLE + 16) - 1)
    for name, store, key, at, change, refuse in (
        ("the last fingerprint of table 0", "example", "010000000000000000", 9, b"\xda", FULL),
        ("the last rank of the id block", "example", "01ffffffff00000000", 9, b"\2", FULL),
        ("the first rank of table 0", "example", "020000000000000000", 9, b"\1", OPEN),
        ("an array is not there", "example", "010000000100000000", 0, b"\7", OPEN),
        # This one has 3,000 fingerprints, in many blocks of each table.
        ("a first rank twice", "assigned", "020000000000000000", 9 + 8, bytes(8), OPEN),
        ("first ranks that do not ascend", "assigned", "020000000000000000", 9 + 8, bytes_u64(2999), OPEN),
        ("a first rank that no fingerprint has", "assigned", "020000000000000000", last_at, bytes_u64(3000), OPEN),
        ("last fingerprints of table 1 that do not ascend", "assigned", "010000000100000000", 9 + 8, bytes(8), OPEN),
        ("last ranks of the ids that do not ascend", "assigned", "01ffffffff00000000", 9 + 8, bytes(8), OPEN),
    ):
        directory = path_of(stores / f"{store}.store", "directory.mdb").read_bytes()
        # LMDB has a key's size, 9, before it.
        places = [match.start() + 2 for match in re.finditer(re.escape(b"\x09\0" + bytes.fromhex(key)), directory)]
        assert places, name
        yield Case(f"directory: {name}", "8", store, "directory.mdb", [(place + at, change) for place in places],
                   refuse, set_checksums=set_directory_checksum)
    yield Case("directory: another LMDB format", "8", "example", "MANIFEST", [(SEGMENT + 120, b"\2")], OPEN, UNSUPPORTED,
               set_manifest_checksum)


# Where wide-example.store has the entries of its word indexes.
WORD_0 = TABLE + 40
WORD_1 = WORD_0 + 128 + 40
END = WORD_1 + 128 + 40


def word_sum(records: list[tuple[int, int]]) -> bytes:
    """The content sum of a word index."""
    return bytes_u128(content_sum(records, 64))


def wide_manifest_cases(stores: Path) -> Iterator[Case]:
    for name, offset, data, refuse, word in (
        ("0 fingerprint bits", 32, b"\0", OPEN, UNSUPPORTED),
        ("64 fingerprint bits", 32, b"\x40", OPEN, UNSUPPORTED),
        ("96 fingerprint bits", 32, b"\x60", OPEN, UNSUPPORTED),
        ("192 fingerprint bits", 32, b"\xc0", OPEN, UNSUPPORTED),
        ("1088 fingerprint bits", 32, b"\x40\4", OPEN, UNSUPPORTED),
        ("k 33", 36, b"\x21", OPEN, DAMAGED),
        ("a k that the radii of the words are too small for", 36, b"\4", OPEN, DAMAGED),
        ("column bits 32", SEGMENT + 60, b"\x20", OPEN, UNSUPPORTED),
        ("column bits 64", SEGMENT + 60, b"\x40", OPEN, UNSUPPORTED),
        ("record count", SEGMENT + 24, b"\4", OPEN, DAMAGED),
        ("content sum", SEGMENT + 40, b"\0\0\0", FULL, DAMAGED),
        ("a block size of 512", SEGMENT + 56, b"\0\2", OPEN, DAMAGED),
        ("kind 1", SEGMENT + 112, b"\1", OPEN, DAMAGED),
        ("kind 2", SEGMENT + 112, b"\2", OPEN, UNSUPPORTED),
        ("a word beside kind 0", SEGMENT + 113, b"\1", OPEN, UNSUPPORTED),
        ("a radius beside kind 0", SEGMENT + 114, b"\1", OPEN, UNSUPPORTED),
        ("id blocks without ids", SEGMENT + 88, b"\1", OPEN, DAMAGED),
        ("a key mask", TABLE, b"\1", OPEN, DAMAGED),
        ("a key mask that leads", TABLE + 7, b"\x80", OPEN, DAMAGED),
        ("prefix bits", TABLE + 8, b"\1", OPEN, DAMAGED),
        ("a radius", TABLE + 12, b"\1", OPEN, DAMAGED),
        ("no block", TABLE + 16, b"\0", OPEN, DAMAGED),
        ("two blocks", TABLE + 16, b"\2", OPEN, DAMAGED),
        ("a folder number of a word index", WORD_0 + 16, b"\1\2\3\4\5\6\7\x08", FINE, None),
        ("fewer records of a word index", WORD_0 + 24, b"\2", OPEN, DAMAGED),
        ("more records of a word index", WORD_0 + 24, b"\4", OPEN, DAMAGED),
        ("content sum of a word index", WORD_1 + 40, b"\0\0\0", FULL, DAMAGED),
        ("another block size of a word index", WORD_1 + 56, b"\0\2", OPEN, DAMAGED),
        ("column bits 128 of a word index", WORD_1 + 60, b"\x80", OPEN, UNSUPPORTED),
        ("no id blocks of a word index", WORD_1 + 88, b"\0", OPEN, DAMAGED),
        ("kind 0 of a word index", WORD_0 + 112, b"\0", OPEN, UNSUPPORTED),
        ("kind 3 of a word index", WORD_0 + 112, b"\3", OPEN, UNSUPPORTED),
        ("word 1 in place of word 0", WORD_0 + 113, b"\1", OPEN, UNSUPPORTED),
        ("word 0 twice", WORD_1 + 113, b"\0", OPEN, UNSUPPORTED),
        ("word 2 of two", WORD_1 + 113, b"\2", OPEN, UNSUPPORTED),
        ("radius 17 of a word", WORD_1 + 114, b"\x12", OPEN, DAMAGED),
        ("a radius of a word of 2^15", WORD_1 + 115, b"\x80", OPEN, DAMAGED),
        ("a key mask that does not lead in a word index", WORD_1 + 128, b"\0\0\0\0\0\0\0\x7f", OPEN, DAMAGED),
    ):
        yield Case(f"wide manifest: {name}", "16", "wide-example", "MANIFEST", [(offset, data)], refuse, word)
    for name, offset, data in (
        ("segment id", SEGMENT, b"\0\0\0"),
        ("no table", SEGMENT + 116, b"\0"),
        ("two tables", SEGMENT + 116, b"\2"),
        ("header checksum of table 0", TABLE + 24, b"\0\0\0"),
        ("segment id of a word index", WORD_1, b"\0\0\0"),
        ("directory size of a word index", WORD_1 + 64, b"\0\x40"),
        ("directory checksum of a word index", WORD_1 + 72, b"\0\0\0"),
        ("id header checksum of a word index", WORD_1 + 96, b"\0\0\0"),
        ("header checksum of a table of a word index", WORD_1 + 128 + 24, b"\0\0\0"),
    ):
        yield Case(f"wide manifest: {name}", "16", "wide-example", "MANIFEST", [(offset, data)], OPEN, set_checksums=set_manifest_checksum)

    k_at = 68  # in headers
    files = ("word-01/table-00.blk", "word-01/ids.blk")
    for name, refuse, of_manifest, of_headers in (
        ("radii of the words whose sum is too small", OPEN, [(WORD_1 + 114, b"\2")], [(file, k_at, b"\1") for file in files]),
        ("a smaller k", FINE, [(36, b"\2")], [("table-00.blk", k_at, b"\2")]),
        ("no radius of a word, with a smaller k", FINE, [(36, b"\2"), (WORD_0 + 114, b"\0")], [("table-00.blk", k_at, b"\2")]),
        ("no radius of a word, and too small a sum", OPEN, [(WORD_0 + 114, b"\0")], []),
        ("a radius of a word that its plan is not complete for", OPEN, [(WORD_1 + 114, b"\4")], [(file, k_at, b"\3") for file in files]),
        ("distinct count of a word index", FULL, [(WORD_1 + 32, b"\3")], [("word-01/table-00.blk", 56, b"\3")]),
    ):
        yield Case(f"wide manifest: {name}", "16.2", "wide-example", "MANIFEST", of_manifest, refuse, None if refuse is FINE else DAMAGED,
                   also=of_headers)

    manifest = (stores / "wide-example.store" / "MANIFEST").read_bytes()
    entry, checksum = manifest[WORD_1:END], bytes(16)
    for name, data in (("an entry of a word index fewer", checksum), ("an entry of a word index more", 2 * entry + checksum)):
        size = WORD_1 + len(data)
        yield Case(f"wide manifest: {name}", "16.2", "wide-example", "MANIFEST", [(12, size.to_bytes(4, "little")), (WORD_1, data)],
                   OPEN, set_checksums=set_manifest_checksum, size=size)


# Where id-index.store has the entry of its id index, which is packed: behind a segment of one table.
ID_INDEX = TABLE + 40


def id_index_cases(stores: Path) -> Iterator[Case]:
    for name, offset, data, refuse, word in (
        ("a folder number", ID_INDEX + 16, b"\1\2\3\4\5\6\7\x08", FINE, None),
        ("record count", ID_INDEX + 24, b"\4", OPEN, DAMAGED),
        ("distinct count", ID_INDEX + 32, b"\2", OPEN, DAMAGED),
        ("content sum", ID_INDEX + 40, b"\0\0\0", FULL, DAMAGED),
        ("another block size", ID_INDEX + 56, b"\0\2", OPEN, DAMAGED),
        ("column bits 64", ID_INDEX + 60, b"\x40", OPEN, UNSUPPORTED),
        ("id blocks of a packed index", ID_INDEX + 88, b"\1", OPEN, DAMAGED),
        ("kind 0", ID_INDEX + 112, b"\0", OPEN, UNSUPPORTED),
        ("kind 2", ID_INDEX + 112, b"\2", OPEN, UNSUPPORTED),
        ("form 0 of a packed index", ID_INDEX + 113, b"\0", OPEN, DAMAGED),
        ("form 2", ID_INDEX + 113, b"\2", OPEN, UNSUPPORTED),
        ("a number behind the form", ID_INDEX + 114, b"\1", OPEN, UNSUPPORTED),
        ("without the flag", 40, b"\3", OPEN, DAMAGED),
        ("without ids", 40, b"\6", OPEN, DAMAGED),
    ):
        yield Case(f"id index: {name}", "17", "id-index", "MANIFEST", [(offset, data)], refuse, word)
    for name, at, lower_half in (("rank", BLOCK + 8, 0), ("rank that the segment does not have", BLOCK + 8, 9), ("rank of an id", BLOCK, 1)):
        yield Case(f"id index: another {name}", "17", "id-index", "id-index/table-00.blk", [(at, bytes([lower_half]))], FULL)
    yield Case("id index: trailer", "17", "id-index", "id-index/table-00.blk", [(BLOCK + 248, b"\0\0")], FULL, set_checksums=nothing)
    yield Case("id index: gone", "17", "id-index", "MANIFEST", [], OPEN, set_checksums=without("id-index"))


# Where names.store has the entry of its names, behind that of its id index.
NAMES = ID_INDEX + 168


def name_cases(stores: Path) -> Iterator[Case]:
    for name, offset, data, refuse, word in (
        ("a folder number", NAMES + 16, b"\1\2\3\4\5\6\7\x08", FINE, None),
        ("more names than records", NAMES + 24, b"\5\0\0\0\0\0\0\0\5", OPEN, DAMAGED),
        ("another distinct count", NAMES + 32, b"\2", OPEN, DAMAGED),
        ("content sum", NAMES + 40, b"\0\0\0", FULL, DAMAGED),
        ("another block size", NAMES + 56, b"\0\2", OPEN, DAMAGED),
        ("column bits 64", NAMES + 60, b"\x40", OPEN, UNSUPPORTED),
        ("no blocks", NAMES + 88, b"\0", OPEN, DAMAGED),
        ("kind 3", NAMES + 112, b"\3", OPEN, UNSUPPORTED),
        ("1 number bit", NAMES + 113, b"\1", OPEN, DAMAGED),
        ("41 number bits", NAMES + 113, b"\x29", OPEN, DAMAGED),
        ("a number behind the number bits", NAMES + 114, b"\1", OPEN, UNSUPPORTED),
        ("without the flag", 40, b"\5", OPEN, DAMAGED),
    ):
        yield Case(f"names: {name}", "18.1", "names", "MANIFEST", [(offset, data)], refuse, word)
    for name, offset, data, refuse in (
        ("item count", 56, b"\4", OPEN),
        ("fragment count", 1176, b"\6", OPEN),
        ("a fragment of 9 bytes", 1177, b"\x09", OPEN),
        ("a newline within a fragment", 1432 + 8, b"\n", OPEN),
        ("fragments out of order", 1432, b"z", OPEN),
        ("a byte behind a fragment", 1432 + 7, b"x", OPEN),
    ):
        yield Case(f"names: {name}", "18.2", "names", "names/names.blk", [(offset, data)], refuse)
    for name, offset, data in (
        ("no names in a block", 8, b"\0"),
        ("width 9", 10, b"\x09"),
        ("an unknown flag", 11, b"\2"),
        ("continued", 11, b"\1"),
        ("ids that do not ascend", 13, b"\xff"),
        ("another id", 13, b"\1"),
        ("a code of no fragment", 16, b"\x30"),
        ("a shared length", 15, b"\1"),
        ("a byte behind the codes", 200, b"\1"),
    ):
        yield Case(f"names: {name}", "18.2", "names", "names/names.blk", [(BLOCK + offset, data)], FULL)
    yield Case("names: another number in the table", "18", "names", "names/table-00.blk", [(BLOCK, b"\2")], FULL)
    yield Case("names: trailer", "4", "names", "names/names.blk", [(BLOCK + 248, b"\0\0")], FULL, set_checksums=nothing)
    yield Case("names: gone", "18", "names", "MANIFEST", [], OPEN, set_checksums=without("names"))


def wide_file_cases(stores: Path) -> Iterator[Case]:
    for file, name, offset, data, refuse, word in (
        ("table-00.blk", "64 fingerprint bits", 44, b"\x40", OPEN, UNSUPPORTED),
        ("table-00.blk", "column bits 32", 40, b"\x20", OPEN, UNSUPPORTED),
        ("table-00.blk", "column bits 0", 40, b"\0", OPEN, UNSUPPORTED),
        ("table-00.blk", "block count", 48, b"\2", OPEN, DAMAGED),
        ("table-00.blk", "item count", 56, b"\4", OPEN, DAMAGED),
        ("table-00.blk", "table count", 64, b"\2", OPEN, DAMAGED),
        ("table-00.blk", "k", 68, b"\2", OPEN, DAMAGED),
        ("table-00.blk", "radius", 72, b"\1", OPEN, DAMAGED),
        ("table-00.blk", "key mask", 80, b"\1", OPEN, DAMAGED),
        ("table-00.blk", "a code", 88, b"\1", OPEN, DAMAGED),
        ("table-00.blk", "unused bytes behind the code lengths", 121, b"\1" * 31, FINE, None),
        ("table-00.blk", "h counts", 152 + 8 * 63, b"\1", FULL, DAMAGED),
        ("table-00.blk", "gap bit counts", 664, b"\1", FULL, DAMAGED),
        ("table-00.blk", "the unused rest", 1176, b"\1" * 2904, FINE, None),
        ("word-01/table-00.blk", "128 fingerprint bits", 44, b"\x80", OPEN, UNSUPPORTED),
        ("word-01/table-00.blk", "column bits 64", 40, b"\x40", OPEN, UNSUPPORTED),
        ("word-01/table-00.blk", "the k of the store", 68, b"\3", OPEN, DAMAGED),
        ("word-01/ids.blk", "128 fingerprint bits", 44, b"\x80", OPEN, UNSUPPORTED),
        ("word-01/ids.blk", "the k of the store", 68, b"\3", OPEN, DAMAGED),
        ("word-00/ids.blk", "item count", 56, b"\2", OPEN, DAMAGED),
    ):
        yield Case(f"wide, {file}: {name}", "16", "wide-example", file, [(offset, data)], refuse, word)
    for file, name, offset, data in (
        ("ids.blk", "64 fingerprint bits", 44, b"\x40"),
        ("ids.blk", "column bits 128", 40, b"\x80"),
    ):
        yield Case(f"wide, {file}: {name}", "16.1", "wide-ids", file, [(offset, data)], OPEN, UNSUPPORTED)
    yield Case("wide, ids.blk: a code", "16.1", "wide-ids", "ids.blk", [(88, b"\1")], OPEN)
    for file in "table-00.blk", "directory.mdb", "word-00/table-00.blk", "word-01/ids.blk", "word-01/directory.mdb":
        size = (path_of(stores / "wide-example.store", file)).stat().st_size
        for name, change in (("a byte fewer", size - 1), ("a byte more", size + 1), ("nothing in it", 0)):
            yield Case(f"wide, {file}: {name}", "16", "wide-example", file, [], OPEN, set_checksums=nothing, size=change)
        yield Case(f"wide, {file}: gone", "16", "wide-example", file, [], OPEN, set_checksums=nothing, remove=True)
    for word in "word-00", "word-01":
        yield Case(f"wide, {word}: gone", "16.2", "wide-example", "MANIFEST", [], OPEN, set_checksums=without(word))


def wide_block_cases(stores: Path) -> Iterator[Case]:
    """Table 0 of wide-example.store has three fingerprints of 16 bytes in its only block, that of wide-ids.store 15 in each."""
    table = path_of(stores / "wide-example.store", "table-00.blk").read_bytes()[BLOCK:]
    ids_table = path_of(stores / "wide-ids.store", "table-00.blk").read_bytes()[BLOCK:]
    for name, offset, data in (
        ("fingerprints that do not ascend", 0, table[16:32] + table[:16]),
        ("a fingerprint twice", 0, table[16:32]),
        ("another word 1 of a fingerprint", 8, b"\xd8"),
        ("another word 0 of a fingerprint", 32, b"\1"),
        ("words of a fingerprint exchanged", 32, table[40:48] + table[32:40]),
        ("a zero byte behind the fingerprints", 48, b"\1"),
        ("the last zero byte before the trailer", 247, b"\x80"),
        ("a fingerprint more", 48, b"\xff" * 16),
        ("no fingerprint", 0, bytes(48)),
    ):
        yield Case(f"wide table block: {name}", "16.1", "wide-example", "table-00.blk", [(BLOCK + offset, data)], FULL)
    for name, offset, data in (
        ("a zero byte of a full block", 240, b"\1"),
        ("the first fingerprint is the last of the block before", 256, ids_table[224:240]),
        ("blocks that do not ascend", 0, ids_table[256:496] + ids_table[240:256] + ids_table[:240]),
    ):
        yield Case(f"wide table block: {name}", "16.1", "wide-ids", "table-00.blk", [(BLOCK + offset, data)], FULL)
    yield Case("wide table block: trailer", "16.1", "wide-example", "table-00.blk", [(BLOCK + 248, b"\0\0")], READ, set_checksums=nothing)
    yield Case("wide id block: a record more", "6", "wide-ids", "ids.blk", [(BLOCK + 16, b"\xff")], READ)
    yield Case("word index: trailer", "16.2", "wide-example", "word-01/table-00.blk", [(BLOCK + 248, b"\0\0")], FULL, set_checksums=nothing)

    # Word indexes that are right in themselves, but not for this table 0. Ranks are in two bits each from byte 21 on.
    for name, file, changes, records in (
        ("ranks exchanged", "word-01/ids.blk", [(BLOCK + 21, b"\x24")], [(0xD9, 0), (0xD9, 1), (0xDB, 2)]),
        ("ranks twice and never", "word-01/ids.blk", [(BLOCK + 21, b"\x08")], [(0xD9, 0), (0xD9, 2), (0xDB, 0)]),
        ("a rank that table 0 does not have", "word-01/ids.blk", [(BLOCK + 21, b"\x1c")], [(0xD9, 0), (0xD9, 3), (0xDB, 1)]),
        ("another word", "word-01/table-00.blk", [(BLOCK, b"\xd8"), (GAP_BIT_COUNTS_AT + 8 * 63, b"\1")],
         [(0xD8, 0), (0xD8, 2), (0xDB, 1)]),
    ):
        yield Case(f"word index: {name}", "16.2", "wide-example", file, changes, FULL,
                   also=[("MANIFEST", WORD_1 + 40, word_sum(records))])


def wide_directory_cases(stores: Path) -> Iterator[Case]:
    first = "010000000000000000"  # the key of the block keys of table 0
    last_at = 8 * (u64((stores / "wide-ids.store" / "MANIFEST").read_bytes(), TABLE + 16 + 16) - 1)  # behind a recipe of 16 bytes
    for name, key, at, change, refuse in (
        ("a block key of table 0 that is word 1", first, 0, bytes_u64(1), FULL),
        ("the last block key of table 0", first, last_at, b"\xff" * 8, FULL),
        ("block keys of table 0 that descend", first, 0, b"\xff" * 8, OPEN),
        ("the block keys of table 0 are not there", first, -9, b"\7", OPEN),
        ("the last rank of an id block", "01ffffffff00000000", 0, bytes(8), FULL),
    ):
        directory = path_of(stores / "wide-ids.store", "directory.mdb").read_bytes()
        places = [match.start() + 2 for match in re.finditer(re.escape(b"\x09\0" + bytes.fromhex(key)), directory)]
        assert places, name
        yield Case(f"wide directory: {name}", "8", "wide-ids", "directory.mdb", [(place + 9 + at, change) for place in places], refuse,
                   set_checksums=set_directory_checksum)


def differences(before: bytes, after: bytes) -> Iterator[tuple[int, bytes]]:
    """Runs of bytes that differ, up to the end of `after`. What was added to `before` was 0 at first."""
    before = before.ljust(len(after), b"\0")
    begin = None
    for at in range(len(after) + 1):
        differs = at < len(after) and before[at] != after[at]
        if differs and begin is None:
            begin = at
        elif not differs and begin is not None:
            yield begin, after[begin:at]
            begin = None


def edits_of(before: Path, after: Path) -> Iterator[dict]:
    for path in sorted(path for path in before.rglob("*") if path.is_file()):
        name = str(path.relative_to(before))
        if not (after / name).exists():
            yield {"file": name, "remove": True}
            continue
        old, new = path.read_bytes(), (after / name).read_bytes()
        if len(old) != len(new):
            yield {"file": name, "size": len(new)}
        for offset, data in differences(old, new):
            yield {"file": name, "offset": offset, "bytes": data.hex()}


def path_of(store: Path, file: str) -> Path:
    return store / file if file == "MANIFEST" else next(store.glob("seg-*")) / file


def make(stores: Path, case: Case, folder: Path) -> dict:
    base, store = stores / f"{case.store}.store", folder / "edited.store"
    shutil.rmtree(store, ignore_errors=True)
    shutil.copytree(base, store)
    path = path_of(store, case.file)
    for offset, data in case.changes:
        patch(path, offset, data)
    for file, offset, data in case.also:
        patch(path_of(store, file), offset, data)
    if case.size is not None:
        path.write_bytes(path.read_bytes()[: case.size].ljust(case.size, b"\0"))
    if case.remove:
        path.unlink()
    case.set_checksums(store)
    edits = list(edits_of(base, store))
    assert edits, case.name
    return {"name": case.name, "spec": case.spec, "store": case.store, "refuse": case.refuse, "as": case.word, "edits": edits}


CASES = (
    manifest_cases,
    header_cases,
    block_cases,
    segment_cases,
    directory_cases,
    wide_manifest_cases,
    wide_file_cases,
    wide_block_cases,
    wide_directory_cases,
    id_index_cases,
    name_cases,
)


def edited_lines(stores: Path) -> str:
    """The text of edited.json about the stores of this folder."""
    with tempfile.TemporaryDirectory() as folder:
        made = [make(stores, case, Path(folder)) for cases in CASES for case in cases(stores)]
    lines = ",\n".join(json.dumps(vector) for vector in made)
    return f"[\n{lines}\n]\n"
