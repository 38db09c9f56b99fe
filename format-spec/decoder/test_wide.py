"""Writes random stores, most of them of fingerprints with more than 64 bits, and reads them again: records, the full check, and
queries at any distance, all compared with brute force. Then the command must read the same stores in the same way.

    SSTORE=build/release/tools/sstore python3 format-spec/decoder/test_wide.py

Without SSTORE it tests the decoder alone. The same applies where the command's LMDB has another file format than the directories
that are written here, as on big-endian processors.
SSTORE_TEST_SEED is the seed (without it the clock), SSTORE_TEST_CASES the number of stores of each width (default 12),
SSTORE_TEST_FLIPS how many bits are flipped (default 300).
"""

import os
import random
import shutil
import sys
import tempfile
import time
import unittest
from collections import Counter
from itertools import combinations
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True

import lmdb_file
import store as decoder
import writer
from bits import FINGERPRINT_BITS, bytes_u32, bytes_u64, bytes_u128, of_words
from faults import Damaged
from manifest import CHECKSUM_BYTES, FIXED_BYTES, KIND_ADDS, KIND_REMOVES, MAX_SEGMENTS, parse_manifest
from query import Match, Searcher
from segment import Record
from shown import name_text
from test_decoder import SSTORE as COMMAND
from test_decoder import printed, run
from writer import Options, Part, TablePlan, WordPlan, write_store
from xxh3 import xxh3_128

SSTORE = COMMAND if "SSTORE" in os.environ else None
SEED = int(os.environ.get("SSTORE_TEST_SEED", time.time()))
CASES = int(os.environ.get("SSTORE_TEST_CASES", "12"))
FLIPS = int(os.environ.get("SSTORE_TEST_FLIPS", "300"))
MAX_ID = 2**64 - 1
WIDTHS = 64, 128, 192, 256, 1024

TRIED = Counter()


# Plans: of 64 bits, complete for k.


def disjoint_plan(rng: random.Random, k: int) -> list[TablePlan]:
    """Bit groups without common bits; the sum of (radius + 1) is at least k + 1."""
    count = rng.randint(1, min(4, k + 1))
    cuts = [0, *sorted(rng.sample(range(1, 64), count - 1))]
    cuts.append(rng.choice([64, 64, rng.randint(cuts[-1] + 1, 64)]))
    radii = [0] * count
    for _ in range(k + 1 - count):
        radii[rng.randrange(count)] += 1
    plan = []
    for begin, end, radius in zip(cuts, cuts[1:], radii):
        plan.append(((1 << end - begin) - 1 << 64 - end, min(radius, end - begin)))
    # Where a bit group is narrower than its radius, another table has to make up for it.
    return plan if sum(radius + 1 for _, radius in plan) >= k + 1 else [((1 << 64) - 1, k)]


def choice_plan(rng: random.Random, k: int) -> list[TablePlan]:
    """A table for each choice of some bit groups."""
    chosen = rng.randint(1, 2 if k <= 4 else 1)
    count = k + chosen
    ends = [-(-64 * group // count) for group in range(count + 1)]
    groups = [(1 << end - begin) - 1 << 64 - end for begin, end in zip(ends, ends[1:])]
    return [(sum(choice), 0) for choice in combinations(groups, chosen)]


def random_plan(rng: random.Random, k: int) -> list[TablePlan]:
    return rng.choice([disjoint_plan, choice_plan])(rng, k)


def random_radii(rng: random.Random, words: int, distance: int, most: int) -> list[int]:
    """Radii of words that suffice for this distance, at times by more than they must."""
    radii = [-1] * words
    missing = distance + 1 + rng.choice([0, 0, 0, rng.randrange(3)])
    favourites = rng.sample(range(words), rng.randint(1, words))
    while missing > 0:
        open_words = [word for word in favourites if radii[word] < most] or [word for word in range(words) if radii[word] < most]
        if not open_words:
            break
        radii[rng.choice(open_words)] += 1
        missing -= 1
    return radii


# Fingerprints, each by what is peculiar about them. They are `words` words.


def uniform(rng: random.Random, words: int, count: int) -> list[int]:
    return [rng.getrandbits(64 * words) for _ in range(count)]


def clustered(rng: random.Random, words: int, count: int) -> list[int]:
    """Near each other: the changed bits are anywhere."""
    centres = uniform(rng, words, max(1, count // 20))
    return [flipped(rng, rng.choice(centres), 64 * words, rng.randrange(12)) for _ in range(count)]


def constant_words(rng: random.Random, words: int, count: int) -> list[int]:
    """Some words, often the first, are the same in all. At least one is not."""
    changing = rng.sample(range(words), rng.randint(1, words))
    fixed = [rng.choice([0, MAX_ID, rng.getrandbits(64)]) for _ in range(words)]
    return [of_words([rng.getrandbits(64) if word in changing else fixed[word] for word in range(words)]) for _ in range(count)]


def skewed_words(rng: random.Random, words: int, count: int) -> list[int]:
    """Words have few values, some of them near each other."""
    values = [[rng.getrandbits(rng.choice([1, 2, 8, 64])) for _ in range(rng.choice([1, 2, 5, 40]))] for _ in range(words)]
    return [of_words([rng.choice(some) for some in values]) for _ in range(count)]


def equal_words(rng: random.Random, words: int, count: int) -> list[int]:
    """All words of a fingerprint are the same, but for a few bits."""
    return [flipped(rng, of_words([rng.getrandbits(64)] * words), 64 * words, rng.randrange(2)) for _ in range(count)]


def ends(rng: random.Random, words: int, count: int) -> list[int]:
    """Words are at both ends of their range."""
    return [of_words([rng.choice([0, 1, MAX_ID - 1, MAX_ID]) for _ in range(words)]) for _ in range(count)]


def dense(rng: random.Random, words: int, count: int) -> list[int]:
    first = rng.getrandbits(64 * words - 1)
    return list(range(first, first + count))


DATA = uniform, clustered, constant_words, skewed_words, equal_words, ends, dense


def flipped(rng: random.Random, fingerprint: int, bits: int, count: int) -> int:
    for bit in rng.sample(range(bits), count):
        fingerprint ^= 1 << bit
    return fingerprint


def random_records(rng: random.Random, fingerprints: list[int], has_ids: bool) -> list[Record]:
    if not has_ids:
        return [(fingerprint, None) for fingerprint in set(fingerprints)]
    id_bits = rng.choice([1, 8, 30, 64])
    records = {(fingerprint, rng.getrandbits(id_bits)) for fingerprint in fingerprints for _ in range(rng.choice([1, 1, 1, 2, 6]))}
    return list(records)


class Case:
    """A random store: what it is written from, and its records."""

    def __init__(self, rng: random.Random, bits: int, counts: tuple[int, ...] = (0, 1, 2, 5, 60, 300, 300, 300)):
        self.rng = rng
        self.words = bits // FINGERPRINT_BITS
        k = rng.choice([0, 1, 3, 3, 3, 5, rng.randint(0, 16 * self.words)])
        block_size = rng.choice([256, 256, 512, 4096, 65536])
        self.options = Options(bits, k, rng.random() < 0.6, block_size, b"r" * rng.choice([0, 0, 3, 8]), rng.random() < 0.3)
        self.options.id_index = self.options.has_ids and rng.random() < 0.5
        self.options.has_names = self.options.id_index and rng.random() < 0.6
        self.fragments = random_fragments(rng)
        self.long_names = rng.random() < 0.2
        self.data = rng.choice(DATA)
        records = random_records(rng, self.data(rng, self.words, rng.choice(counts)), self.options.has_ids)
        rng.shuffle(records)
        self.records: set[Record] = set()
        self.parts: list[Part] = []
        first = records[: rng.randint(0, len(records))] if rng.random() < 0.6 else records
        self.change(KIND_ADDS, first)
        while len(records) > 1 and len(self.parts) < 5 and rng.random() < 0.7:
            if rng.random() < 0.5:
                self.change(KIND_REMOVES, [record for record in sorted(self.records, key=record_order) if rng.random() < 0.4])
            else:
                self.change(KIND_ADDS, [record for record in records if record not in self.records and rng.random() < 0.6])

    def change(self, kind: int, records: list[Record]) -> None:
        k, rng = self.options.k, self.rng
        part = Part(kind, records)
        if self.words == 1:
            part.tables = random_plan(rng, k)
        elif kind == KIND_ADDS:
            radii = random_radii(rng, self.words, k, 16)
            part.words = [WordPlan(radius, random_plan(rng, max(radius, 0))) for radius in radii]
        self.parts.append(part)
        self.records = self.records | set(records) if kind == KIND_ADDS else self.records - set(records)

    def query(self) -> tuple[int, int]:
        """(fingerprint, distance): near records and far from them, at the store's own distance and at others."""
        rng, bits = self.rng, self.options.fingerprint_bits
        k = self.options.k
        fingerprint = rng.choice(sorted(self.records, key=record_order))[0] if self.records and rng.random() < 0.8 else None
        if fingerprint is None:
            fingerprint = rng.getrandbits(bits)
        distance = rng.choice([k, k, k, rng.randint(0, k), min(bits, k + rng.randint(1, 12)), rng.randint(0, bits)])
        return flipped(rng, fingerprint, bits, min(bits, rng.randrange(distance + 3))), distance

    def answer(self, query: int, distance: int) -> list[Match]:
        distances = [((fingerprint ^ query).bit_count(), fingerprint, record_id) for fingerprint, record_id in self.records]
        return sorted(match for match in distances if match[0] <= distance)

    def name_of(self, record_id: int) -> bytes:
        """The same in all segments."""
        rng = random.Random(f"{self.fragments} {record_id}")
        size = rng.randint(60000, 65536) if self.long_names and rng.random() < 0.02 else rng.randint(1, 80)
        path = f"/{record_id % 3}/{'x' * (record_id % 40)}-{record_id // 7}".encode()
        name = path + bytes(rng.choice([*range(1, 10), *range(11, 256)]) for _ in range(size)) if rng.random() < 0.3 else path
        return name[:65536]

    def shown(self, record_id: int | None) -> str:
        """What the command prints of an id: its name, if there are names."""
        return name_text(self.name_of(record_id)) if self.options.has_names and record_id is not None else id_text(record_id)

    def some_ids(self) -> list[int]:
        """Of records that are there, and others."""
        ids = sorted({record_id for _, record_id in self.records if record_id is not None})
        return self.rng.sample(ids, min(len(ids), 3)) + [self.rng.getrandbits(self.rng.choice([3, 32, 64]))]

    def __str__(self) -> str:
        return f"{self.options} {self.data.__name__} {[(part.kind, len(part.records)) for part in self.parts]}"


def random_fragments(rng: random.Random) -> list[bytes]:
    parts = [b"/", b"x", b"xx", b"xxxxxxxx", b"-", b"1\n", b"\n", b"7\n", b"/1/", b"/2/xxx"]
    others = [bytes(rng.randint(11, 255) for _ in range(rng.randint(1, 8))) for _ in range(rng.choice([0, 5, 300]))]
    return rng.sample(parts, rng.randrange(len(parts) + 1)) + others[:240]


def record_order(record: Record) -> tuple[int, int]:
    return record[0], record[1] or 0


def text_of(fingerprint: int, bits: int) -> str:
    return f"{fingerprint:0{bits // 4}x}"


def id_text(record_id: int | None) -> str:
    return "-" if record_id is None else str(record_id)


class StoreTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="sstore-wide-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = self.folder / "test.store"
        self.rng = random.Random(f"{SEED} {self.id()}")

    def write(self, case: Case) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        if case.options.has_names:
            for part in case.parts:
                part.names = {record_id: case.name_of(record_id) for _, record_id in part.records if record_id is not None}
                part.fragments = case.fragments
        write_store(self.path, case.options, case.parts)

    def command_reads(self) -> bool:
        """Whether there is a command, and it can read this store."""
        if not SSTORE:
            return False
        done = run("stat", self.path, statuses=(0, 1))
        if done.returncode:
            self.assertIn("another LMDB file format", done.stderr)
            TRIED["unsupported"] += 1
        return done.returncode == 0

    def check(self, case: Case, queries: int) -> None:
        self.assertEqual([str(fault) for fault in decoder.verify(str(self.path))], [])
        self.assertEqual(list(decoder.dump(str(self.path))), sorted(case.records, key=record_order))
        if case.options.has_names:
            found = decoder.names(str(self.path))
            self.assertEqual({key: found[key] for _, key in case.records}, {key: case.name_of(key) for _, key in case.records})
            TRIED["names"] += len(found)
        asked = [case.query() for _ in range(queries)]
        searcher = Searcher(str(self.path))
        for query, distance in asked:
            wanted = case.answer(query, distance)
            self.assertEqual(searcher.query(query, distance), wanted, f"query {query:x} at {distance}")
            if case.words > 1:
                radii = random_radii(self.rng, case.words, distance, 64)
                found = searcher.query(query, distance, radii)
                self.assertEqual(found, wanted, f"query {query:x} at {distance}, radii {radii}")
            TRIED["queries"] += 1
            TRIED["matches"] += len(wanted)
        TRIED["stores"] += 1
        if self.command_reads():
            self.check_command(case, asked)

    def check_command(self, case: Case, asked: list[tuple[int, int]]) -> None:
        bits = case.options.fingerprint_bits
        run("verify", "--quiet", self.path)
        wanted = [f"{text_of(found, bits)}\t{case.shown(number)}\n" for found, number in sorted(case.records, key=record_order)]
        self.assertEqual(run("dump", "--no-comments", self.path).stdout, "".join(wanted))
        for query, distance in asked:
            text = text_of(query, bits)
            wanted = [f"{text}\t{text_of(found, bits)}\t{d}\t{case.shown(number)}\n" for d, found, number in case.answer(query, distance)]
            self.assertEqual(run("query", "-k", distance, self.path, "-", text=text + "\n").stdout, "".join(wanted), distance)
        if case.options.has_ids:
            ids = case.some_ids()
            got = run("get", self.path, *ids, statuses=(0, 1)).stdout.splitlines()
            records = [(found, number) for asked_id in ids for found, number in case.records if number == asked_id]
            wanted = [f"{text_of(found, bits)}\t{case.shown(number)}" for found, number in records]
            self.assertEqual(sorted(got), sorted(wanted), ids)
        TRIED["read by the command"] += 1


class Page(StoreTest):
    def test_example_of_the_format(self) -> None:
        """Every printed byte of section 16.5."""
        page = "sstore-format.md"
        whole = (1 << 64) - 1
        records = [(of_words(words), None) for words in ([1, 0xD9], [1, 0xDB], [1 << 63, 0xD9])]
        part = Part(KIND_ADDS, records, words=[WordPlan(0, [(whole, 0)]), WordPlan(2, [(whole, 2)])])
        write_store(self.path, Options(128, 3, has_ids=False, block_size=256), [part])
        manifest = (self.path / "MANIFEST").read_bytes()
        self.assertEqual(printed(page, "The manifest of the wide store:", 584), manifest)
        hashed = printed(page, "The segment id of word index 1 is XXH3-128 of these 88 bytes:", 88)
        self.assertEqual(bytes_u128(xxh3_128(hashed)), manifest[400:416])
        folder = self.path / "seg-f30560bda1b099c2"
        table = (folder / "table-00.blk").read_bytes()
        self.assertEqual(printed(page, "The header of `table-00.blk` of the segment, where", 4096), table[:4096])
        for file in "table-00.blk", "word-01/table-00.blk", "word-01/ids.blk":
            self.assertEqual(printed(page, f"    {folder.name}/{file}\n", 256), (folder / file).read_bytes()[4096:])
        found = Searcher(str(self.path)).query(of_words([1, 0xDA]), 3)
        self.assertEqual(found, [(1, of_words([1, 0xDB]), None), (2, of_words([1, 0xD9]), None)])


class WrittenStores(StoreTest):
    def test_random_stores(self) -> None:
        for bits in (*WIDTHS, *self.rng.sample(range(320, 1024, 64), 2)):
            for number in range(CASES):
                case = Case(self.rng, bits)
                with self.subTest(bits=bits, number=number, case=str(case)):
                    self.write(case)
                    self.check(case, queries=8)

    def test_empty_stores(self) -> None:
        for bits in WIDTHS:
            for has_ids in False, True:
                for parts in [], [Part(KIND_ADDS, [])], "removed":
                    case = Case(self.rng, bits, counts=(0,))
                    case.options.has_ids = case.options.id_index = case.options.has_names = has_ids
                    case.parts = []
                    if parts == "removed":
                        records = random_records(self.rng, uniform(self.rng, case.words, 40), has_ids)
                        case.change(KIND_ADDS, records)
                        case.change(KIND_REMOVES, records)
                    elif parts:
                        case.change(KIND_ADDS, [])
                    with self.subTest(bits=bits, has_ids=has_ids, case=str(case)):
                        self.assertEqual(case.records, set())
                        self.write(case)
                        self.check(case, queries=3)

    def test_full_blocks(self) -> None:
        """Table 0 has as many fingerprints as some blocks hold, one fewer, and one more."""
        for bits, block_size, each in ((128, 256, 15), (192, 512, 21), (448, 512, 9), (1024, 256, 1), (1024, 512, 3)):
            for count in (each - 1, each, each + 1, 4 * each, 4 * each + 1):
                case = Case(self.rng, bits, counts=(0,))
                case.options.block_size = block_size
                case.parts = []
                fingerprints = set(uniform(self.rng, case.words, count))
                case.change(KIND_ADDS, random_records(self.rng, sorted(fingerprints), case.options.has_ids))
                with self.subTest(bits=bits, block_size=block_size, count=count):
                    self.write(case)
                    table = next(self.path.glob("seg-*")) / "table-00.blk"
                    self.assertEqual(table.stat().st_size, 4096 + block_size * -(-count // each))
                    self.check(case, queries=3)

    def test_other_names_are_ignored(self) -> None:
        """Beside the files of section 2 there are others; among them a word index that no fingerprint has a word for."""
        case = Case(self.rng, 192)
        self.write(case)
        (self.path / "word-00").mkdir()
        for segment in list(self.path.glob("seg-*")):
            for name in "word-03", "word-99", "word-0":
                (segment / name).mkdir()
                (segment / name / "table-00.blk").write_bytes(b"no block file")
            for folder in segment, *segment.glob("word-0[012]"):
                (folder / "table-64.blk").symlink_to("/dev/null")
                (folder / "other").write_bytes(b"")
        self.check(case, queries=3)

    def test_directory_of_several_levels(self) -> None:
        """Entries of kinds that nobody knows make the directory's tree so large that it has branches."""
        entries_of = writer.directory_entries

        def many_entries(arrays: dict[tuple[int, int], list[int]]) -> dict[bytes, bytes]:
            unknown = {bytes([7]) + i.to_bytes(8, "big"): bytes(self.rng.choice([8, 800, 9000])) for i in range(1500)}
            return entries_of(arrays) | unknown

        for bits in 64, 128:
            case = Case(self.rng, bits)
            with mock.patch.object(writer, "directory_entries", many_entries):
                self.write(case)
            with self.subTest(bits=bits):
                self.check(case, queries=3)


class Directories(unittest.TestCase):
    def test_pages_are_as_many_as_the_meta_page_says(self) -> None:
        for count in (0, 1, 3, 5000):
            data = lmdb_file.environment({i.to_bytes(9, "big"): bytes(i % 3000) for i in range(count)})
            last_page = int.from_bytes(data[4096 + 16 + 24 + 2 * 48 :][:8], "little")
            self.assertEqual(len(data), 4096 * (last_page + 1))


class DamagedStores(StoreTest):
    def assert_damaged(self, file: Path) -> None:
        """There are faults, and they name a path that begins with `file`."""
        faults = decoder.verify(str(self.path))
        self.assertTrue(faults)
        self.assertIn(str(file), " ".join(str(fault) for fault in faults))
        if self.read_by_command:
            run("verify", "--quiet", self.path, statuses=(1, 3))
        TRIED["damages"] += 1

    def write_with_removal(self, bits: int) -> list[Path]:
        case = Case(self.rng, bits, counts=(0,))
        case.options.has_ids, case.options.block_size = True, 256
        case.options.id_index = self.rng.random() < 0.5
        case.options.has_names = False
        case.parts = []
        records = random_records(self.rng, clustered(self.rng, case.words, 40), True)
        case.change(KIND_ADDS, records)
        case.change(KIND_REMOVES, records[:10])
        self.write(case)
        self.check(case, queries=2)
        self.read_by_command = self.command_reads()
        return sorted(path for path in self.path.rglob("*") if path.is_file())

    def test_bits_flipped(self) -> None:
        for bits in 128, 256:
            files = self.write_with_removal(bits)
            for number in range(FLIPS // 2):
                file = self.rng.choice(files)
                whole = file.read_bytes()
                near_end = self.rng.choice([range(min(300, len(whole))), range(max(0, len(whole) - 300), len(whole))])
                offset = self.rng.choice(near_end) if number % 2 else self.rng.randrange(len(whole))
                bit = self.rng.randrange(8)
                with self.subTest(file=str(file), offset=offset, bit=bit):
                    changed = bytearray(whole)
                    changed[offset] ^= 1 << bit
                    file.write_bytes(changed)
                    self.assert_damaged(file)
                file.write_bytes(whole)

    def test_files_cut_longer_or_gone(self) -> None:
        for file in self.write_with_removal(192):
            whole = file.read_bytes()
            for changed in b"", whole[:-1], whole + b"\0", whole[: self.rng.randrange(len(whole))]:
                with self.subTest(file=str(file), size=len(changed)):
                    file.write_bytes(changed)
                    self.assert_damaged(file)
            file.unlink()
            with self.subTest(file=str(file), gone=True):
                self.assert_damaged(file)
            file.symlink_to("/dev/null")
            with self.subTest(file=str(file), link=True):
                self.assert_damaged(file)
            file.unlink()
            file.write_bytes(whole)

    def test_too_many_word_indexes(self) -> None:
        """Segments and indexes together are at most 4096."""
        case = Case(self.rng, 1024, counts=(0,))
        case.options.recipe, case.options.id_index, case.options.has_names = b"", False, False
        case.parts = []
        case.change(KIND_ADDS, random_records(self.rng, uniform(self.rng, case.words, 5), case.options.has_ids))
        self.write(case)
        manifest = (self.path / "MANIFEST").read_bytes()
        entry = manifest[FIXED_BYTES:-CHECKSUM_BYTES]
        most = MAX_SEGMENTS // (1 + case.words)
        for count in (most, most + 1):
            made = bytearray(manifest[:FIXED_BYTES])
            made += b"".join(entry[:16] + bytes_u64(number + 1) + entry[24:] for number in range(count))
            made[12:16], made[60:64] = bytes_u32(len(made) + CHECKSUM_BYTES), bytes_u32(count)
            made += bytes_u128(xxh3_128(bytes(made)))
            with self.subTest(count=count):
                if count == most:
                    self.assertEqual(len(parse_manifest(bytes(made), "MANIFEST").segments), count)
                else:
                    self.assertRaisesRegex(Damaged, "too many indexes", parse_manifest, bytes(made), "MANIFEST")

    def test_word_indexes_exchanged(self) -> None:
        self.write_with_removal(128)
        segment = next(self.path.glob("seg-*/word-00")).parent
        (segment / "word-00").rename(segment / "word-02")
        with self.subTest("gone"):
            self.assert_damaged(segment / "word-00")
        (segment / "word-01").rename(segment / "word-00")
        (segment / "word-02").rename(segment / "word-01")
        with self.subTest("exchanged"):
            self.assert_damaged(segment / "word-0")

    def test_word_index_of_other_fingerprints(self) -> None:
        """The ranks of two fingerprints are exchanged in word index 1. Nothing in the word index shows it."""
        fingerprints = uniform(self.rng, 2, 40)
        word_records = writer.word_records

        def exchanged(*arguments: object) -> list[Record]:
            records = word_records(*arguments)
            if arguments[2] == 1:
                (a, rank_a), (b, rank_b) = records[:2]
                records[:2] = [(a, rank_b), (b, rank_a)]
            return records

        case = Case(self.rng, 128, counts=(0,))
        case.options.k, case.parts = 0, []
        part = Part(KIND_ADDS, random_records(self.rng, fingerprints, case.options.has_ids))
        part.words = [WordPlan(-1, [(MAX_ID, 0)]), WordPlan(0, [(MAX_ID, 0)])]
        case.parts.append(part)
        with mock.patch.object(writer, "word_records", exchanged):
            self.write(case)
        self.read_by_command = self.command_reads()
        segment = next(self.path.glob("seg-*"))
        self.assert_damaged(segment / "word-01")
        searcher = Searcher(str(self.path))
        wrong = sorted(fingerprints, key=lambda fingerprint: fingerprint % 2**64)[:2]
        for fingerprint in fingerprints:
            if fingerprint in wrong:
                self.assertRaises(Damaged, searcher.query, fingerprint, 0)
            else:
                self.assertTrue(searcher.query(fingerprint, 0))

    def test_id_index_of_other_ranks(self) -> None:
        """Two ids have each other's rank in the id index. Nothing in the index shows it."""
        id_index_records = writer.id_index_records

        def exchanged(records: list[Record], fingerprints: list[int], packed: bool) -> list[Record]:
            pairs = id_index_records(records, fingerprints, False)
            (a, rank_a), (b, rank_b) = pairs[:2]
            pairs[:2] = [(a, rank_b), (b, rank_a)]
            return [(number << 32 | rank, None) for number, rank in pairs] if packed else pairs

        for bits, first_id in (64, 0), (64, 2**40), (192, 7), (192, 2**63):
            case = Case(self.rng, bits, counts=(0,))
            case.options.has_ids = case.options.id_index = True
            case.options.has_names = False
            case.parts = []
            fingerprints = uniform(self.rng, case.words, 40)
            case.change(KIND_ADDS, [(fingerprint, first_id + number) for number, fingerprint in enumerate(fingerprints)])
            with mock.patch.object(writer, "id_index_records", exchanged):
                self.write(case)
            self.read_by_command = self.command_reads()
            segment = next(self.path.glob("seg-*"))
            self.assertEqual((segment / "id-index/ids.blk").exists(), first_id >= 2**32)
            with self.subTest(bits=bits, first_id=first_id):
                self.assert_damaged(segment / "id-index")


if __name__ == "__main__":
    print(f"seed {SEED}")
    succeeded = unittest.main(exit=False).result.wasSuccessful()
    if TRIED["unsupported"]:
        print("the directories that are written here are of another LMDB: only the decoder is tested")
    if succeeded:
        print(
            f"figure: written stores: {TRIED['stores']}, of which the command read {TRIED['read by the command']}; "
            f"{TRIED['queries']} queries with {TRIED['matches']} matches, {TRIED['damages']} damages"
        )
    sys.exit(not succeeded)
