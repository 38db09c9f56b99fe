"""Holds the decoder against the command: the same dump of every store, and a fault found in every damaged one.

    SSTORE=build/release/tools/sstore python3 format-spec/decoder/test_decoder.py

SSTORE_TEST_SEED is the seed of data and damage (default 1), SSTORE_TEST_FLIPS how many bits are flipped (default 300).
"""

import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True

import store as decoder
from bits import FINGERPRINT_MAX
from faults import Fault
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

    def check(self) -> None:
        self.assertEqual(run("dump", self.path).stdout, dumped(self.path))
        self.assertEqual([str(fault) for fault in decoder.verify(str(self.path))], [])


class Hashes(unittest.TestCase):
    def test_values_of_the_pages(self) -> None:
        self.assertEqual(xxh3_64(b"hello"), 0x9555E8555C62DCFD)
        record = bytes.fromhex("d9000000000000000100000000000000")
        self.assertEqual(xxh3_128(record), 0xB83B27AC635AE173EA234C3FDF9B9458)


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


if __name__ == "__main__":
    unittest.main()
