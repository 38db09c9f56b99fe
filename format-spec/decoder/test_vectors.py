"""Compares the decoder and the command with the stores of vectors/, whole and edited ones.

    SSTORE=build/release/tools/sstore python3 format-spec/decoder/test_vectors.py [FOLDER]

FOLDER is what expand.py has made of vectors/; without it a temporary folder is filled.

Without SSTORE it tests the decoder alone. The same applies where the command's LMDB has another file format than these
directories, as on big-endian processors: there format.golden queries the stores after it has rebuilt their directories.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from itertools import groupby
from pathlib import Path

sys.dont_write_bytecode = True

import store as decoder
from faults import Fault
from query import Searcher
from shown import with_names

SSTORE = os.environ.get("SSTORE")
SOURCES = Path(__file__).parent.parent / "vectors"
if len(sys.argv) > 1:
    VECTORS = Path(sys.argv.pop())
else:
    scratch = tempfile.TemporaryDirectory(prefix="sstore-vectors-")
    VECTORS = Path(scratch.name)
    subprocess.run([sys.executable, SOURCES / "expand.py", VECTORS], check=True)
VERSIONS = sorted(path for path in VECTORS.glob("v*") if path.is_dir())
STORES = [path for version in VERSIONS for path in sorted(version.glob("*.store"))]
TRIED = Counter()
STATUS_OF = {"damaged": 3, "unsupported": 1}  # of the command


def run(*arguments: object, text: str | None = None) -> subprocess.CompletedProcess:
    return subprocess.run([str(SSTORE), *map(str, arguments)], input=text, capture_output=True, text=True, errors="replace")


if SSTORE and "another LMDB file format" in run("stat", STORES[0]).stderr:
    print("the directories of the vectors are of another LMDB: only the decoder is tested")
    SSTORE = None


def decoder_dump(path: Path) -> str:
    return "".join(decoder.dump_lines(str(path)))


class Whole(unittest.TestCase):
    def test_records(self) -> None:
        for path in STORES:
            with self.subTest(path.name):
                records = path.with_suffix(".records").read_text()
                self.assertEqual(decoder_dump(path), records)
                self.assertEqual(list(map(str, decoder.verify(str(path)))), [])
                if SSTORE:
                    self.assertEqual(run("dump", "--no-comments", path).stdout, with_names(path, records))
                    verified = run("verify", path)
                    self.assertEqual(verified.returncode, 0, verified.stderr)

    def test_answers(self) -> None:
        for path in STORES:
            searcher = Searcher(str(path))
            lines = [line.split("\t") for line in path.with_suffix(".answers").read_text().splitlines()]
            for distance, part in groupby(sorted(lines, key=lambda line: int(line[0])), key=lambda line: line[0]):
                with self.subTest(path.name, distance=distance):
                    asked = list(part)
                    queries = list(dict.fromkeys(query for _, query, *_ in asked))
                    wanted = [
                        f"{query}\t{fingerprint}\t{d}\t{number}\n" for _, query, d, fingerprint, number in asked if d != "-"
                    ]
                    found = (
                        (query, f"{fingerprint:0{len(query)}x}", str(d), "-" if number is None else str(number))
                        for query in queries
                        for d, fingerprint, number in searcher.query(int(query, 16), int(distance))
                    )
                    self.assertEqual(["\t".join(match) + "\n" for match in found], wanted)
                    for io in ("pread", "mmap", "memory") if SSTORE else ():
                        found = run("query", "--io", io, "-k", distance, path, "-", text="\n".join(queries) + "\n")
                        self.assertEqual(found.stdout, with_names(path, "".join(wanted)), found.stderr)
                    TRIED["queries"] += len(queries)


class Edited(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="sstore-vectors-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def make(self, version: Path, vector: dict) -> Path:
        path = self.folder / "edited.store"
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(version / f"{vector['store']}.store", path)
        for edit in vector["edits"]:
            file = path / edit["file"]
            data = bytearray(file.read_bytes())
            if "remove" in edit:
                file.unlink()
                continue
            if "size" in edit:
                data = data[: edit["size"]].ljust(edit["size"], b"\0")
            if "bytes" in edit:
                change = bytes.fromhex(edit["bytes"])
                data[edit["offset"] : edit["offset"] + len(change)] = change
            file.write_bytes(data)
        return path

    def check_decoder(self, path: Path, vector: dict) -> None:
        faults = decoder.verify(str(path))
        if vector["refuse"] and vector["spec"] == "8":
            return  # it does without the directory
        self.assertEqual(bool(faults), vector["refuse"] is not None, list(map(str, faults)))
        if faults:
            self.assertEqual(faults[0].word, vector["as"])

    def check_command(self, path: Path, vector: dict) -> None:
        refuse, word = vector["refuse"], vector["as"]
        for at, command in ("open", "stat"), ("read", "dump"), ("full", "verify"):
            done = run(command, path)
            if refuse is None or (at == "open" and refuse != "open"):
                self.assertEqual(done.returncode, 0, (command, done.stderr))
            elif at == "full" or at == refuse or (refuse == "open" and command != "dump"):
                self.assertEqual(done.returncode, STATUS_OF[word], (command, done.stderr))
                self.assertIn("sstore: ", done.stderr)

    def test_vectors(self) -> None:
        for version in VERSIONS:
            for vector in json.loads((version / "edited.json").read_text()):
                with self.subTest(vector["name"]):
                    path = self.make(version, vector)
                    self.check_decoder(path, vector)
                    if SSTORE:
                        self.check_command(path, vector)
                    if vector["refuse"] is None:
                        self.check_same(path, version / f"{vector['store']}.records")
                    TRIED["edited"] += 1

    def check_same(self, path: Path, records: Path) -> None:
        self.assertEqual(decoder_dump(path), records.read_text())
        if SSTORE:
            self.assertEqual(run("dump", "--no-comments", path).stdout, with_names(path, records.read_text()))


if __name__ == "__main__":
    succeeded = unittest.main(exit=False).result.wasSuccessful()
    if succeeded:
        print(f"figure: kept stores: {len(STORES)} with {TRIED['queries']} queries in 4 ways, {TRIED['edited']} edited ones")
    sys.exit(not succeeded)
