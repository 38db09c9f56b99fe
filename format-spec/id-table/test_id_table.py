"""Compares three: vectors.jsonl, the second implementation in id_table.py, and the command, the last two also with random
and with malformed tables, whose checksums are correct.

  test_id_table.py SSTORE [SEED]      SSTORE is the command
  test_id_table.py --write            make vectors.jsonl, by id_table.py

A line of vectors.jsonl is an object: `table`, a whole file in hexadecimal; and `entries`, pairs of id and name, the latter in
hexadecimal, or null if the table must be refused, for the `reason`.
"""

import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
from typing import Any, Callable

from id_table import HEADER, MAX_ID, Damaged, Entry, NoTable, assemble, decode, encode, encode_blocks
from xxh3 import xxh3_64

VECTORS = pathlib.Path(__file__).with_name("vectors.jsonl")
RANDOM_TABLES, MALFORMED_TABLES = 60, 600

GOOD: list[list[Entry]] = [
    [],
    [(0, b"")],
    [(7, b"a/b"), (8, b"a/c"), (10, b"a/c"), (11, b""), (141, b"x")],
    [(0, b"first"), (2**64 - 1, b"last")],
    [(5, bytes(range(256))), (6, bytes(range(200)) + b"\n")],
    [(i, b"https://example.org/page/%d" % (i * i)) for i in range(0, 900, 2)],  # three blocks
    [(1, b"x" * 5000), (2, b"x" * 5001), (3, b"x")],  # names longer than a block
]
BLOCK = encode_blocks(GOOD[2])[0][1]


def with_footer(data: bytes, count: int, last: int, index: int, blocks: int) -> bytes:
    footer = struct.pack("<QQQQQ", count, last, index, blocks, xxh3_64(data[index:-48]))
    return data[:-48] + footer + struct.pack("<Q", xxh3_64(HEADER + footer))


def bad_tables() -> list[tuple[bytes, str]]:
    good = encode(GOOD[2])
    index = len(good) - 48 - 24
    two = [(7, BLOCK), (200, b"\0\2z")]
    other_version = HEADER[:8] + b"\2" + HEADER[9:]
    return [
        (b"", "no id table"),
        (b"0\tname\n" * 20, "no id table"),
        (other_version + good[16:], "another version"),
        (good[:40], "the file was cut"),
        (good[:-1], "the file was cut"),
        (good + b"\0", "bytes behind the footer"),
        (good[:20] + b"z" + good[21:], "the checksum of the block is wrong"),
        (good[:index] + b"\6" + good[index + 1 :], "the checksum of the index is wrong"),
        (good[:-48] + b"\4" + good[-47:], "the checksum of the footer is wrong"),
        (with_footer(good, 4, 141, index, 1), "there is one more entry than the footer says"),
        (with_footer(good, 5, 142, index, 1), "the last id is not that of the last entry"),
        (with_footer(good, 5, 140, index, 1), "the last entry is above the last id"),
        (with_footer(good, 0, 0, index, 1), "a block, but no entries"),
        (with_footer(good, 5, 141, index, 2), "more rows than there are"),
        (with_footer(good, 5, 141, index + 24, 0), "blocks without rows"),
        (with_footer(good, 5, 141, 2**64 - 24, 1), "the index is elsewhere"),
        (assemble([(7, b"")], 1, 7), "an empty block"),
        (assemble([two[1], two[0]], 6, 141), "blocks out of order"),
        (assemble([(7, BLOCK), (141, b"\0\2z")], 6, 141), "blocks that overlap"),
        (assemble([(7, BLOCK[:-1])], 5, 141), "an entry that breaks off"),
        (assemble([(7, b"\0\4ab\3\0")], 2, 8), "more bytes shared than the name before has"),
        (assemble([(7, b"\0\1\0")], 1, 9), "an id is missing before the first entry"),
        (assemble([(7, b"\0\x82\0z")], 1, 7), "a varint of too many bytes"),
        (assemble([(7, b"\0" + b"\xff" * 9 + b"\x7f")], 1, 7), "a varint of too many bits"),
    ]


def write_vectors() -> None:
    lines = [{"table": encode(entries).hex(), "entries": [[i, name.hex()] for i, name in entries]} for entries in GOOD]
    lines += [{"table": table.hex(), "entries": None, "reason": reason} for table, reason in bad_tables()]
    VECTORS.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def by_python(table: bytes) -> list[Entry] | None:
    try:
        return decode(table)
    except (Damaged, NoTable):
        return None


def unescape(text: bytes) -> bytes:
    return text.decode("unicode_escape").encode("latin-1")


class Command:
    def __init__(self, sstore: str, folder: str) -> None:
        self.sstore, self.path = sstore, pathlib.Path(folder, "table")

    def run(self, *arguments: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([self.sstore, "names", *arguments], input=data, capture_output=True, check=False)

    def decode(self, table: bytes) -> list[Entry] | None:
        """What the command prints, or None if it refuses the table."""
        self.path.write_bytes(table)
        ran = self.run(str(self.path))
        if ran.returncode != 0:
            assert ran.returncode in (1, 3) and str(self.path).encode() in ran.stderr, ran
            return None
        pairs = (line.split(b"\t", 1) for line in ran.stdout.splitlines())
        return [(int(number), unescape(name)) for number, name in pairs]

    def encode(self, entries: list[Entry]) -> bytes:
        lines = (b"%d\t%s\n" % (i, b"".join(b"\\x%02x" % byte for byte in name)) for i, name in entries)
        self.path.unlink(missing_ok=True)
        ran = self.run("--from", "-", str(self.path), data=b"".join(lines))
        assert ran.returncode == 0, ran
        return self.path.read_bytes()


def test_vectors(command: Command) -> None:
    vectors: list[dict[str, Any]] = [json.loads(line) for line in VECTORS.read_text(encoding="utf-8").splitlines()]
    for vector in vectors:
        table = bytes.fromhex(vector["table"])
        pairs = vector["entries"]
        expected = None if pairs is None else [(i, bytes.fromhex(name)) for i, name in pairs]
        assert by_python(table) == expected, vector
        assert command.decode(table) == expected, vector
        if expected is not None:
            assert encode(expected) == table == command.encode(expected), vector
    print(f"figure: {len(vectors)} vectors")


def random_entries(source: random.Random) -> list[Entry]:
    entries: list[Entry] = []
    number, name = source.choice((0, source.getrandbits(60))), b""
    for _ in range(source.choice((0, 1, 5, 400))):
        name = name[: source.randint(0, len(name))] + bytes(source.choices(b"ab/\0\n\\\xff", k=source.randint(0, 30)))
        entries.append((number, name))
        number += 1 if source.random() < 0.8 else source.randint(1, 1 << source.randint(1, 50))
    return entries


def test_random_tables(command: Command, source: random.Random) -> None:
    for _ in range(RANDOM_TABLES):
        entries = random_entries(source)
        table = command.encode(entries)
        assert encode(entries) == table and decode(table) == entries and command.decode(table) == entries, entries
    print(f"figure: {RANDOM_TABLES} random tables")


def malform(source: random.Random) -> bytes:
    """A small table with some changes, and then correct checksums."""
    entries = [(3 * i + source.randint(0, 2), b"n" * source.randint(0, 3)) for i in range(source.randint(1, 6))]
    cut = source.randint(1, len(entries))
    blocks = encode_blocks(entries[:cut]) + encode_blocks(entries[cut:])
    count, last = len(entries), entries[-1][0]
    changes: list[Callable[[], None]] = []

    def change_block() -> None:
        i = source.randrange(len(blocks))
        data = bytearray(blocks[i][1])
        if data:
            data[source.randrange(len(data))] = source.choice((0, 1, 2, 3, 4, 127, 128, 129, 255))
        blocks[i] = (blocks[i][0], bytes(data))

    def change_first() -> None:
        i = source.randrange(len(blocks))
        blocks[i] = (source.choice((0, min(blocks[i][0] + 1, MAX_ID), last, MAX_ID)), blocks[i][1])

    def change_end() -> None:
        nonlocal count, last
        count, last = source.choice(((count + 1, last), (count, last + 1), (count, max(last - 1, 0)), (0, 0)))

    changes = [change_block, change_block, change_block, change_first, change_end]
    for _ in range(source.randint(1, 2)):
        source.choice(changes)()
    return assemble(blocks, count, last)


def test_malformed_tables(command: Command, source: random.Random) -> None:
    refused = 0
    for _ in range(MALFORMED_TABLES):
        table = malform(source)
        expected = by_python(table)
        refused += expected is None
        assert command.decode(table) == expected, table.hex()
    assert 0 < refused < MALFORMED_TABLES
    print(f"figure: {MALFORMED_TABLES} changed tables, of which both refuse {refused}")


if __name__ == "__main__":
    if sys.argv[1] == "--write":
        write_vectors()
    else:
        seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32)
        print(f"seed {seed}")
        with tempfile.TemporaryDirectory() as its_folder:
            its_command = Command(sys.argv[1], its_folder)
            test_vectors(its_command)
            test_random_tables(its_command, random.Random(seed))
            test_malformed_tables(its_command, random.Random(seed + 1))
