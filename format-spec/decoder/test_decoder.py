"""Compares the decoder with the command: they must print the same dump of every store, and both must find a fault in every
damaged one. test_vectors.py does the same for the stores of vectors/.

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
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True

import store as decoder
from bits import FINGERPRINT_MAX, first_difference
from block import decode_block
from blockfile import NUMBER_OF_IDS, BlockFile
from encoder import TableEncoder, code_lengths, id_blocks
from faults import Fault
from folder import Folder
from huffman import Code
from ids import id_records
from manifest import parse_manifest
from segment import read_table
from xxh3 import xxh3_64, xxh3_128

SSTORE = os.environ.get("SSTORE", "sstore")
SEED = int(os.environ.get("SSTORE_TEST_SEED", "1"))
FLIPS = int(os.environ.get("SSTORE_TEST_FLIPS", "300"))

TRIED = Counter()

Records = list[tuple[int, int]]


def run(*arguments: object, text: str | None = None, statuses: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess:
    done = subprocess.run([SSTORE, *map(str, arguments)], input=text, capture_output=True, text=True)
    assert done.returncode in statuses, (arguments, done.returncode, done.stderr)
    return done


def as_text(records: Records) -> str:
    return "".join(f"{fingerprint:x}\t{record_id}\n" for fingerprint, record_id in records)


def dumped(path: Path) -> str:
    return "".join(decoder.dump_lines(str(path)))


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


def halves(rng: random.Random, count: int) -> Records:
    """Several fingerprints with the same upper half, whose lower halves first differ at many places."""
    upper_halves = [rng.getrandbits(rng.choice([12, 32])) for _ in range(max(1, count // 6))]
    return [(rng.choice(upper_halves) << 32 | rng.getrandbits(rng.choice([3, 32])), i) for i in range(count)]


def all_equal(rng: random.Random, count: int) -> Records:
    return [(0x0123456789ABCDEF, 3 * i) for i in range(count)]


def powers(rng: random.Random, count: int) -> Records:
    """Every h from 0 to 63, and keys with a much larger range in one block than in another."""
    return [(1 << bit, bit) for bit in range(64)] + [(FINGERPRINT_MAX ^ 1 << bit, 64 + bit) for bit in range(64)]


class StoreTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="sstore-decoder-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = self.folder / "test.store"
        self.rng = random.Random(f"{SEED} {self.id()}")

    def build(self, records: Records, *options: object) -> None:
        run("build", "--force", "--allow-empty", "--quiet", *options, self.path, text=as_text(records))

    def check_dump(self) -> None:
        self.assertEqual(run("dump", "--no-comments", self.path).stdout, dumped(self.path))

    def check(self) -> None:
        self.check_dump()
        self.assertEqual([str(fault) for fault in decoder.verify(str(self.path))], [])
        self.check_encoder()
        TRIED["stores"] += 1

    def check_encoder(self) -> None:
        """Check that the blocks of all files are those that the pages require of a writer, bit for bit."""
        with Folder.open_store(str(self.path)) as folder:
            _, manifest = decoder.read_manifest(folder)
            for segment in manifest.segments:
                with folder.open_folder(segment.folder_name) as segment_folder:
                    for number in range(len(segment.tables)):
                        file, fingerprints = read_table(segment_folder, segment, number)
                        self.assertEqual(code_lengths(file.h_counts), file.code.lengths)
                        encoder = TableEncoder(segment.block_size, file.code.lengths)
                        self.assert_same_blocks(file, encoder.blocks(fingerprints))
                    if segment.has_ids:
                        file = BlockFile(segment_folder, "ids.blk", segment, NUMBER_OF_IDS)
                        records = list(id_records(file, segment.distinct_count, segment.record_count))
                        self.assert_same_blocks(file, id_blocks(records, segment.block_size))

    def assert_same_blocks(self, file: BlockFile, blocks: list[bytes]) -> None:
        self.assertEqual(len(blocks), file.block_count)
        for wanted, (offset, block) in zip(blocks, file.blocks()):
            self.assertEqual(wanted, block[:-8], f"{file.path}, offset {offset}")


LINE_OF_BYTES = re.compile(r" +([0-9]+)   ((?:[0-9a-f]{2} )*[0-9a-f]{2})(?:  .*)?$")


def printed(page: str, begin: str, size: int) -> bytes:
    """The bytes that the lines of a page after the text `begin` show. All others are 0."""
    text = (Path(__file__).parent.parent / page).read_text()
    assert text.count(begin) == 1, begin
    shown = bytearray(size)
    seen = False
    for line in text[text.index(begin) :].splitlines()[1:]:
        match = LINE_OF_BYTES.match(line)
        if match:
            data = bytes.fromhex(match[2])
            shown[int(match[1]) : int(match[1]) + len(data)] = data
            seen = True
        elif seen:
            break
    assert len(shown) == size
    return bytes(shown)


class Hashes(unittest.TestCase):
    def test_values_of_the_pages(self) -> None:
        self.assertEqual(xxh3_64(b"hello"), 0x9555E8555C62DCFD)
        record = bytes.fromhex("d9000000000000000100000000000000")
        self.assertEqual(xxh3_128(record), 0xB83B27AC635AE173EA234C3FDF9B9458)


class Pages(StoreTest):
    """Compares every printed byte of the pages' examples with stores."""

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
        manifest = printed(page, "64 fixed bytes, no recipe", 248)
        self.check_manifest(manifest)
        hashed = printed(page, "XXH3-128 of these 88 bytes", 88)
        self.assertEqual(xxh3_128(hashed).to_bytes(16, "little"), manifest[64:80])
        table = (self.path / "seg-f58da4ea8c92e327" / "table-00.blk").read_bytes()
        self.assertEqual(printed(page, "The header [4]:", 4096), table[:4096])
        self.assertEqual(printed(page, "Block 0 [B 5]", 256), table[4096:])

    def test_example_of_the_format(self) -> None:
        page = "sstore-format.md"
        self.build([(0xD9, 1), (0xDB, 2), (0xDB, 7)], "--block-size", "256", "--plan", "32:1,32:1")
        self.check_manifest(printed(page, "this is the content sum in the manifest:", 288))
        folder = self.path / "seg-46dbb36367eb4584"
        self.assertEqual(
            printed(page, "The header of `table-01.blk`, where", 4096), (folder / "table-01.blk").read_bytes()[:4096]
        )
        for file in "table-00.blk", "table-01.blk", "ids.blk":
            self.assertEqual(printed(page, f"    {file}\n", 256), (folder / file).read_bytes()[4096:])

    def test_example_of_the_codec(self) -> None:
        upper_halves = [0xD9] * 61 + [0xDB, 0xDD, 0xDE, 0x500EA, 0x500EE]
        lower_halves = [*range(61), 4, 3, 2, 1, 0]
        fingerprints = [upper << 32 | lower for upper, lower in zip(upper_halves, lower_halves)]
        h_counts = Counter(first_difference(a, b) for a, b in zip(fingerprints, fingerprints[1:]))
        lengths = code_lengths([h_counts[h] for h in range(64)])
        self.assertEqual({h: length for h, length in enumerate(lengths) if length}, {13: 3, 29: 3, 30: 2, 32: 1})
        block = printed("block-codec.md", "The block, with all bytes that are not shown being 0:", 512)
        self.assertEqual(decode_block(block, Code(lengths)), fingerprints)
        self.assertEqual(TableEncoder(512, lengths).blocks(fingerprints), [block[:-8]])
        file_key = xxh3_64(bytes(range(16)) + bytes(4) + lengths)
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
        for data in uniform, clustered, dense, halves, ends, all_equal, powers:
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
        half = "".join(run("dump", "--no-comments", self.path).stdout.splitlines(True)[:30])
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
        TRIED["damages"] += 1

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


if __name__ == "__main__":
    succeeded = unittest.main(exit=False).result.wasSuccessful()
    if succeeded:
        print(
            f"figure: a second decoder: {TRIED['stores']} stores with the same dump and blocks, "
            f"{TRIED['damages']} damages that both find"
        )
    sys.exit(not succeeded)
