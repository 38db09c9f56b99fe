"""Holds the decoder against the command: the same dump of every store, and a fault found in every damaged one.

    SSTORE=build/release/tools/sstore python3 format-spec/decoder/test_decoder.py

SSTORE_TEST_SEED is the seed of data and damage (default 1), SSTORE_TEST_FLIPS how many bits are flipped (default 300).
"""

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True

import store as decoder
from bits import FINGERPRINT_MAX
from block import decode_block
from blockfile import NUMBER_OF_IDS, BlockFile
from encoder import TableEncoder, code_lengths, id_blocks
from faults import Fault
from folder import Folder
from huffman import Code
from ids import id_records
from manifest import parse_manifest
from seal import seal
from segment import read_table
from xxh3 import xxh3_64, xxh3_128

SSTORE = os.environ.get("SSTORE", "sstore")
SEED = int(os.environ.get("SSTORE_TEST_SEED", "1"))
FLIPS = int(os.environ.get("SSTORE_TEST_FLIPS", "300"))

Records = list[tuple[int, int]]


def run(*arguments: object, text: str | None = None, statuses: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess:
    done = subprocess.run([SSTORE, *map(str, arguments)], input=text, capture_output=True, text=True)
    assert done.returncode in statuses, (arguments, done.returncode, done.stderr)
    return done


def as_text(records: Records) -> str:
    return "".join(f"{fingerprint:x}\t{record_id}\n" for fingerprint, record_id in records)


def dumped(path: Path) -> str:
    return "".join(
        f"{fingerprint:016x}\t{'-' if record_id is None else record_id}\n" for fingerprint, record_id in decoder.dump(str(path))
    )


# Data, each by what is peculiar about it.


def uniform(rng: random.Random, count: int) -> Records:
    return [(rng.getrandbits(64), i) for i in range(count)]


def clustered(rng: random.Random, count: int) -> Records:
    centres = [rng.getrandbits(64) for _ in range(max(1, count // 50))]
    records = []
    for i in range(count):
        fingerprint = rng.choice(centres)
        for _ in range(rng.randrange(5)):
            fingerprint ^= 1 << rng.randrange(64)
        records.append((fingerprint, rng.getrandbits(rng.choice([1, 8, 40, 64]))))
    return records


def dense(rng: random.Random, count: int) -> Records:
    return [(0xABCD00 + i, 7 * i) for i in range(count)]


def ends(rng: random.Random, count: int) -> Records:
    fingerprints = [0, 1, 2**63 - 1, 2**63, FINGERPRINT_MAX - 1, FINGERPRINT_MAX]
    return [(fingerprint, record_id) for fingerprint in fingerprints for record_id in (0, 1, FINGERPRINT_MAX - 1, FINGERPRINT_MAX)]


def all_equal(rng: random.Random, count: int) -> Records:
    return [(0x0123456789ABCDEF, 3 * i) for i in range(count)]


def powers(rng: random.Random, count: int) -> Records:
    """Every h from 0 to 63, and keys that differ far more in one block than in another."""
    return [(1 << bit, bit) for bit in range(64)] + [(FINGERPRINT_MAX ^ 1 << bit, 64 + bit) for bit in range(64)]


class StoreTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="sstore-decoder-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = self.folder / "test.store"
        self.rng = random.Random(f"{SEED} {self.id()}")

    def build(self, records: Records, *options: object) -> None:
        run("build", "--force", "--quiet", *options, self.path, text=as_text(records))

    def check_dump(self) -> None:
        self.assertEqual(run("dump", self.path).stdout, dumped(self.path))

    def check(self) -> None:
        self.check_dump()
        self.assertEqual([str(fault) for fault in decoder.verify(str(self.path))], [])
        self.check_encoder()

    def check_encoder(self) -> None:
        """The blocks of all files are those that the pages tell a writer to write, bit for bit."""
        with Folder.open_store(str(self.path)) as folder:
            _, manifest = decoder.read_manifest(folder)
            for segment in manifest.segments:
                with folder.open_folder(segment.folder_name) as segment_folder:
                    for number in range(len(segment.tables)):
                        file, fingerprints = read_table(segment_folder, segment, number)
                        self.assertEqual(code_lengths(file.h_counts), file.code.lengths)
                        encoder = TableEncoder(segment.block_size, segment.restart_interval, file.code.lengths)
                        self.assert_same_blocks(file, encoder.blocks(fingerprints))
                    if segment.has_ids:
                        file = BlockFile(segment_folder, "ids.blk", segment, NUMBER_OF_IDS)
                        records = list(id_records(file, segment.distinct_count, segment.record_count))
                        self.assert_same_blocks(file, id_blocks(records, segment.block_size))

    def assert_same_blocks(self, file: BlockFile, blocks: list[bytes]) -> None:
        self.assertEqual(len(blocks), file.block_count)
        for wanted, (offset, block) in zip(blocks, file.blocks()):
            self.assertEqual(wanted, block[:-8], f"{file.path}, offset {offset}")


class Hashes(unittest.TestCase):
    def test_values_of_the_pages(self) -> None:
        self.assertEqual(xxh3_64(b"hello"), 0x9555E8555C62DCFD)
        record = bytes.fromhex("d9000000000000000100000000000000")
        self.assertEqual(xxh3_128(record), 0xB83B27AC635AE173EA234C3FDF9B9458)


class Pages(StoreTest):
    """The examples of the pages, every printed byte."""

    LINE = re.compile(r" +([0-9]+)   ((?:[0-9a-f]{2} )*[0-9a-f]{2})(?:  .*)?$")
    def printed(self, page: str, begin: str, size: int) -> bytes:
        """The bytes that the lines behind the text `begin` show; all others are 0."""
        text = (Path(__file__).parent.parent / page).read_text()
        self.assertEqual(text.count(begin), 1, begin)
        shown = bytearray(size)
        seen = False
        for line in text[text.index(begin) :].splitlines()[1:]:
            match = self.LINE.match(line)
            if match:
                data = bytes.fromhex(match[2])
                shown[int(match[1]) : int(match[1]) + len(data)] = data
                seen = True
            elif seen:
                break
        self.assertEqual(len(shown), size)
        return bytes(shown)

    def check_manifest(self, shown: bytes) -> None:
        parse_manifest(shown, "the page")
        made = (self.path / "MANIFEST").read_bytes()
        self.assertEqual(len(shown), len(made))
        # What hangs on the host's LMDB: the directory's size and sum, the LMDB format; on sstore's version: the writer. And
        # so the checksum.
        of_the_host = {*range(128, 152), *range(184, 192), *range(len(made) - 16, len(made))}
        for offset, (a, b) in enumerate(zip(shown, made)):
            self.assertTrue(a == b or offset in of_the_host, offset)

    def test_smallest_store(self) -> None:
        page = "smallest-store.md"
        run("build", "--quiet", "--no-ids", "--block-size", "256", "--plan", "1", self.path, text="0123456789abcdef\n")
        self.check()
        manifest = self.printed(page, "64 fixed bytes, no recipe", 248)
        self.check_manifest(manifest)
        hashed = self.printed(page, "XXH3-128 of these 88 bytes", 88)
        self.assertEqual(xxh3_128(hashed).to_bytes(16, "little"), manifest[64:80])
        table = (self.path / "seg-05fa8afe6a6fbb39" / "table-00.blk").read_bytes()
        self.assertEqual(self.printed(page, "The header [4]:", 4096), table[:4096])
        self.assertEqual(self.printed(page, "Block 0 [B 5]", 256), table[4096:])

    def test_example_of_the_format(self) -> None:
        page = "sstore-format.md"
        self.build([(0xD9, 1), (0xDB, 2), (0xDB, 7)], "--block-size", "256", "--plan", "32:1,32:1")
        self.check_manifest(self.printed(page, "this is the content sum in the manifest:", 288))
        folder = self.path / "seg-1ef5d9edb5e3f488"
        self.assertEqual(
            self.printed(page, "The header of `table-01.blk`, where", 4096), (folder / "table-01.blk").read_bytes()[:4096]
        )
        for file in "table-00.blk", "table-01.blk", "ids.blk":
            self.assertEqual(self.printed(page, f"    {file}\n", 256), (folder / file).read_bytes()[4096:])

    def test_example_of_the_codec(self) -> None:
        lengths = bytearray(64)
        lengths[29], lengths[61], lengths[62] = 2, 2, 1
        fingerprints = [0xD9, 0xDB, 0xDD, 0xDE, 0x5000000EA, 0x5000000EE]
        block = self.printed("block-codec.md", "block, with all bytes that are not shown being 0:", 256)
        self.assertEqual(decode_block(block, 4, Code(bytes(lengths))), fingerprints)
        self.assertEqual(TableEncoder(256, 4, bytes(lengths)).blocks(fingerprints), [block[:-8]])
        file_key = xxh3_64(bytes(range(16)) + bytes(4) + bytes(lengths))
        salt = xxh3_64(file_key.to_bytes(8, "little") + bytes(8))
        self.assertEqual(xxh3_64(block[:-8]) ^ salt, int.from_bytes(block[-8:], "little"))


class Builds(StoreTest):
    def test_few_records(self) -> None:
        for count in range(4):
            for options in ((), ("--no-ids",), ("--block-size", "256"), ("--plan", "1"), ("--plan", "16", "--no-ids")):
                for data in uniform, dense, all_equal:
                    with self.subTest(count=count, options=options, data=data.__name__):
                        self.build(data(self.rng, count), *options)
                        self.check()

    def test_data_and_block_sizes(self) -> None:
        for data in uniform, clustered, dense, ends, all_equal, powers:
            for size in ("256", "512", "1K", "4K", "8K", "16K", "64K"):
                for options in ((), ("--no-ids",)):
                    with self.subTest(data=data.__name__, size=size, options=options):
                        self.build(data(self.rng, 1500), "--block-size", size, "--plan", "2", *options)
                        self.check()

    def test_plans(self) -> None:
        plans = [(3, plan) for plan in ("1", "2", "3", "4", "10", "16", "20", "6c3", "24:1,20:0,20:0", "4c1/4c1")]
        plans += [(0, "64:0"), (0, "1:0"), (2, "3c1"), (6, "auto"), (16, "auto"), (16, "64:16")]
        for k, plan in plans:
            for data in uniform, clustered:
                with self.subTest(k=k, plan=plan, data=data.__name__):
                    self.build(data(self.rng, 700), "-k", k, "--plan", plan, "--block-size", "512")
                    self.check()

    def test_recipe(self) -> None:
        for recipe in ("x", "eight by", "größer als acht", "z" * 4096):
            with self.subTest(size=len(recipe)):
                self.build(uniform(self.rng, 10), "--recipe", recipe)
                self.check()

    def test_most_items_in_a_block(self) -> None:
        records = [(0x5000 + i, 9) for i in range(140_000)]
        for options in (("--no-ids",), ()):
            with self.subTest(options=options):
                self.build(records, "--block-size", "64K", "--plan", "1", *options)
                self.check()

    def test_twenty_thousand(self) -> None:
        for options in (("--plan", "4"), ("--plan", "4", "--no-ids", "--block-size", "64K")):
            with self.subTest(options=options):
                self.build(uniform(self.rng, 10_000) + clustered(self.rng, 10_000), *options)
                self.check()


class Changes(StoreTest):
    def test_segments(self) -> None:
        for options in ((), ("--no-ids",)):
            for data in uniform, clustered, dense:
                with self.subTest(options=options, data=data.__name__):
                    records = data(self.rng, 600)
                    self.build(records[:200], "--block-size", "256", "--plan", "2", *options)
                    for step in range(8):
                        some = self.rng.sample(records, 150)
                        run(self.rng.choice(["add", "remove"]), "--quiet", self.path, text=as_text(some))
                        self.check()
                    run("compact", "--quiet", "--tiered", self.path)
                    self.check()
                    run("compact", "--quiet", self.path)
                    self.check()

    def test_add_remove_add_the_same(self) -> None:
        records = uniform(self.rng, 20)
        self.build(records, "--block-size", "256")
        for command in ("remove", "add", "remove", "add", "remove"):
            run(command, "--quiet", self.path, text=as_text(records))
            self.check()
        run("compact", "--quiet", self.path)
        self.check()

    def test_whole_fingerprints_removed(self) -> None:
        records = [(fingerprint, record_id) for fingerprint in range(5) for record_id in range(100)]
        self.build(records, "--block-size", "256")
        run("remove", "--quiet", self.path, text="1\n3\n")
        self.check()


class Damage(StoreTest):
    def stores(self) -> list[Path]:
        kinds = {
            "one": lambda: self.build([(0x0123456789ABCDEF, 0)], "--no-ids", "--block-size", "256", "--plan", "1"),
            "empty": lambda: self.build([], "--plan", "2"),
            "ids": lambda: self.build(clustered(self.rng, 300), "--block-size", "256", "--plan", "2", "--recipe", "r"),
            "equal": lambda: self.build(all_equal(self.rng, 300), "--block-size", "256", "--plan", "4"),
        }
        stores = []
        for name, make in kinds.items():
            self.path = self.folder / name
            make()
            stores.append(self.path)
        self.path = self.folder / "segments"
        self.build(uniform(self.rng, 60), "--block-size", "256", "--plan", "2", "--no-ids")
        half = "".join(run("dump", self.path).stdout.splitlines(True)[:30])
        for command in "remove", "add":
            run(command, "--quiet", self.path, text=half)
        run("add", "--quiet", self.path, text="1\n2\n3\n")
        return [*stores, self.path]

    def assert_damaged(self, store: Path, file: Path) -> None:
        faults = decoder.verify(str(store))
        self.assertTrue(faults)
        self.assertIn(file.name, " ".join(str(fault) for fault in faults))
        for fault in faults:
            self.assertIsInstance(fault, Fault)
        run("verify", store, statuses=(1, 3))

    def test_bits_flipped(self) -> None:
        stores = self.stores()
        for number in range(FLIPS):
            store = stores[number % len(stores)]
            file = self.rng.choice(sorted(path for path in store.rglob("*") if path.is_file()))
            whole = file.read_bytes()
            # Every other flip hits the first bytes or the last ones, where most fields are.
            near_end = self.rng.choice([range(min(300, len(whole))), range(max(0, len(whole) - 300), len(whole))])
            offset = self.rng.choice(near_end) if number % 2 else self.rng.randrange(len(whole))
            bit = self.rng.randrange(8)
            with self.subTest(file=str(file), offset=offset, bit=bit):
                changed = bytearray(whole)
                changed[offset] ^= 1 << bit
                file.write_bytes(changed)
                self.assert_damaged(store, file)
            file.write_bytes(whole)

    def test_files_cut_longer_or_gone(self) -> None:
        for store in self.stores():
            for file in sorted(path for path in store.rglob("*") if path.is_file()):
                whole = file.read_bytes()
                for changed in b"", whole[:-1], whole + b"\0", whole[: self.rng.randrange(len(whole))]:
                    with self.subTest(file=str(file), size=len(changed)):
                        file.write_bytes(changed)
                        self.assert_damaged(store, file)
                file.unlink()
                with self.subTest(file=str(file), gone=True):
                    self.assert_damaged(store, file)
                file.symlink_to("/dev/null")
                with self.subTest(file=str(file), link=True):
                    self.assert_damaged(store, file)
                file.unlink()
                file.write_bytes(whole)

    def test_blocks_and_files_exchanged(self) -> None:
        self.build(uniform(self.rng, 500), "--block-size", "256", "--plan", "2")
        files = sorted(path for path in self.path.rglob("*.blk"))
        for file in files:
            whole = file.read_bytes()
            with self.subTest(file=str(file), blocks=True):
                file.write_bytes(whole[:4096] + whole[4352:4608] + whole[4096:4352] + whole[4608:])
                self.assert_damaged(self.path, file)
            for other in files:
                if other != file:
                    with self.subTest(file=str(file), other=str(other)):
                        file.write_bytes(other.read_bytes() if file.stat().st_size else b"")
                        self.assert_damaged(self.path, file)
            file.write_bytes(whole)


class Malformed(StoreTest):
    """Contents that are wrong, or merely odd, under checksums that are right."""

    BOTH, FINE = "both refuse it", "nobody minds"

    def small(self) -> Path:
        self.build([(0xD9, 1), (0xDB, 2), (0xDB, 7)], "--block-size", "256", "--plan", "2", "--recipe", "ab")
        return self.segment_folder()

    def groups(self) -> Path:
        """One block of seven groups: keys at 12, slots at 36, groups from 48 on."""
        self.build(uniform(random.Random(1), 200), "--no-ids", "--block-size", "4K", "--plan", "1")
        return self.segment_folder()

    def segment_folder(self) -> Path:
        return next(self.path.glob("seg-*"))

    def judge(self, name: str, wanted: str, edits: list[tuple[Path, int, bytes]]) -> None:
        with self.subTest(name):
            for path, offset, data in edits:
                file = bytearray(path.read_bytes())
                file[offset : offset + len(data)] = data
                path.write_bytes(file)
            seal(self.path)
            faults = decoder.verify(str(self.path))
            status = run("verify", self.path, statuses=(0, 1, 3)).returncode
            self.assertEqual(bool(faults), wanted != self.FINE, faults)
            self.assertEqual(status != 0, wanted == self.BOTH, status)

    def test_manifest(self) -> None:
        at = 72
        for name, wanted, offset, data in (
            ("version", self.BOTH, 8, b"\x09"),
            ("size", self.BOTH, 12, b"\x21"),
            ("required feature", self.BOTH, 16, b"\1"),
            ("optional feature", self.FINE, 24, b"\1"),
            ("fingerprint bits", self.BOTH, 32, b"\x80"),
            ("k", self.BOTH, 36, b"\x11"),
            ("reserved flag", self.BOTH, 40, b"\7"),
            ("unused field", self.FINE, 44, b"\1\2\3\4"),
            ("next ordinal", self.BOTH, 48, b"\7"),
            ("recipe with a zero byte", self.BOTH, 64, b"\0"),
            ("recipe that is not UTF-8", self.FINE, 64, b"\xff\xfe"),
            ("bytes behind the recipe", self.FINE, 66, b"\1\2\3\4\5\6"),
            ("records", self.BOTH, at + 24, b"\1"),
            ("distinct", self.BOTH, at + 32, b"\1"),
            ("content sum", self.BOTH, at + 40, b"\0\0\0"),
            ("block size", self.BOTH, at + 56, b"\x2c\1"),
            ("restart interval 0", self.BOTH, at + 60, b"\0\0\0"),
            ("restart interval 65536", self.BOTH, at + 60, b"\0\0\1"),
            ("directory size", self.BOTH, at + 64, b"\0\0\0\2"),
            ("id blocks", self.BOTH, at + 88, b"\0"),
            ("kind 2", self.BOTH, at + 112, b"\2"),
            ("kind 1 alone", self.BOTH, at + 112, b"\1"),
            ("unused field of a segment", self.FINE, at + 124, b"\1"),
            ("key mask", self.BOTH, at + 128, b"\1"),
            ("prefix bits", self.BOTH, at + 136, b"\x1f"),
            ("radius that misses patterns", self.BOTH, at + 140, b"\0"),
            ("radius above the prefix", self.BOTH, at + 140, b"\x21"),
            ("blocks of a table", self.BOTH, at + 144, b"\3"),
        ):
            self.small()
            self.judge(name, wanted, [(self.path / "MANIFEST", offset, data)])

    def test_headers(self) -> None:
        for file, name, wanted, offset, data in (
            ("table-01.blk", "magic", self.BOTH, 0, b"x"),
            ("table-01.blk", "version", self.BOTH, 8, b"\x09"),
            ("table-01.blk", "header size", self.BOTH, 13, b"\x20"),
            ("table-01.blk", "number", self.BOTH, 32, b"\0"),
            ("table-01.blk", "restart interval", self.BOTH, 40, b"\7"),
            ("table-01.blk", "fingerprint bits", self.BOTH, 44, b"\x80"),
            ("table-01.blk", "block count", self.BOTH, 48, b"\2"),
            ("table-01.blk", "item count", self.BOTH, 56, b"\3"),
            ("table-01.blk", "table count", self.BOTH, 64, b"\3"),
            ("table-01.blk", "k", self.BOTH, 68, b"\4"),
            ("table-01.blk", "radius", self.BOTH, 72, b"\2"),
            ("table-01.blk", "unused", self.FINE, 76, b"\2"),
            ("table-01.blk", "key mask", self.BOTH, 80, b"\0"),
            ("table-01.blk", "no code", self.BOTH, 88 + 30, b"\0"),
            ("table-01.blk", "a code of two bits alone", self.BOTH, 88 + 30, b"\2"),
            ("table-01.blk", "incomplete code", self.BOTH, 88 + 30, b"\1\2"),
            ("table-01.blk", "too many codes", self.BOTH, 88 + 30, b"\1\1\1"),
            ("table-01.blk", "a code of twelve bits", self.BOTH, 88 + 30, bytes([*range(1, 13), 12])),
            ("table-01.blk", "a code for more symbols than there are", self.FINE, 88 + 30, b"\1\1"),
            ("table-01.blk", "h counts", self.BOTH, 152 + 8 * 30, b"\2"),
            ("table-01.blk", "gap bit counts", self.BOTH, 664, b"\1"),
            ("table-01.blk", "unused rest", self.FINE, 1176, b"\1" * 2904),
            ("ids.blk", "number", self.BOTH, 32, b"\0"),
            ("ids.blk", "unused restart interval", self.FINE, 40, b"\1"),
            ("ids.blk", "table count", self.BOTH, 64, b"\3"),
            ("ids.blk", "k", self.BOTH, 68, b"\4"),
            ("ids.blk", "unused radius and key mask", self.FINE, 72, b"\1" * 16),
            ("ids.blk", "a code", self.BOTH, 88, b"\1"),
            ("ids.blk", "an incomplete code", self.BOTH, 88, b"\2"),
            ("ids.blk", "unused counts", self.FINE, 152, b"\1" * 1024),
        ):
            folder = self.small()
            self.judge(f"{file}: {name}", wanted, [(folder / file, offset, data)])

    def test_table_blocks(self) -> None:
        block = 4096
        for name, wanted, offset, data in (
            ("no fingerprint", self.BOTH, 0, b"\0"),
            ("one fingerprint more", self.BOTH, 0, b"\xc9"),
            ("one fingerprint less", self.BOTH, 0, b"\xc7"),
            ("key_shift 33", self.BOTH, 2, b"\x21"),
            ("key_shift 0", self.BOTH, 2, b"\0"),
            ("byte 3", self.BOTH, 3, b"\1"),
            ("first", self.BOTH, 4, b"\1\2\3\4\5\6\7"),
            ("first, so that sums pass 2^64", self.BOTH, 4, b"\xff" * 8),
            ("key 1 is 0", self.BOTH, 12, b"\0" * 4),
            ("key 6 passes 2^64", self.BOTH, 32, b"\xff" * 4),
            ("slot 1 before group 0", self.BOTH, 36, b"\0\0"),
            ("slot 2 is slot 1", self.BOTH, 38, None),
            ("slot 6 behind the trailer", self.BOTH, 46, b"\xff\xff"),
            ("zero bits of the last group", self.BOTH, 2000, b"\xff"),
        ):
            path = self.groups() / "table-00.blk"
            if data is None:
                data = path.read_bytes()[block + 36 : block + 38]
            self.judge(name, wanted, [(path, block + offset, data)])

    def test_a_code_for_the_wrong_bit(self) -> None:
        """d8 and de first differ at bit 61. Bit 60 is 1 in both, so that the formula makes de with h = 60 as well."""
        self.build([(0xD8, 1), (0xDE, 2)], "--block-size", "256", "--plan", "1")
        path = self.segment_folder() / "table-00.blk"
        self.judge("h = 60", self.BOTH, [(path, 88 + 60, b"\1\0"), (path, 4096 + 247, b"\xc0")])

    def test_base_beside_values_of_64_bits(self) -> None:
        self.build([(1, 0), (2, FINGERPRINT_MAX)], "--block-size", "256", "--plan", "1")
        self.judge("base", self.BOTH, [(self.segment_folder() / "ids.blk", 4096 + 8, b"\1")])

    def test_id_blocks(self) -> None:
        block = 4096
        for name, wanted, edits in (
            ("first rank", self.BOTH, [(0, b"\1")]),
            ("base", self.BOTH, [(8, b"\2")]),
            ("no record", self.BOTH, [(16, b"\0")]),
            ("a record more", self.BOTH, [(16, b"\4")]),
            ("width 65", self.BOTH, [(18, b"\x41")]),
            ("no starts", self.BOTH, [(19, b"\0")]),
            ("goes on at the end", self.BOTH, [(19, b"\3")]),
            ("unknown flag", self.BOTH, [(19, b"\5")]),
            ("bit 0 of starts", self.BOTH, [(20, b"\3")]),
            ("bits of starts behind the records", self.BOTH, [(20, b"\xfa")]),
            ("a rank too many", self.BOTH, [(20, b"\6")]),
            ("a rank too few", self.BOTH, [(20, b"\0")]),
            ("equal ids", self.BOTH, [(21, b"\x08\0")]),
            ("bits behind the values", self.BOTH, [(22, b"\xff")]),
            ("unused bytes", self.BOTH, [(23, b"\xff" * 225)]),
        ):
            path = self.small() / "ids.blk"
            self.judge(name, wanted, [(path, block + offset, data) for offset, data in edits])


if __name__ == "__main__":
    unittest.main()
