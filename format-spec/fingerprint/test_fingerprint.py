"""Compares three: vectors.jsonl, the second implementation in fingerprint.py, and the command, the last two also with
random texts.

  test_fingerprint.py SSTORE [SEED]       SSTORE is the command
  test_fingerprint.py --write             compute the fingerprints in vectors.jsonl again, by fingerprint.py

A line of vectors.jsonl is an object: `text`, or `bytes` in hexadecimal; `features`, `shingle` and `weights`, as the options
of `sstore fingerprint`; `count`, how many features the text has; and `fingerprint`.
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unicodedata
from typing import Any

from fingerprint import features, fingerprint

VECTORS = pathlib.Path(__file__).with_name("vectors.jsonl")
OPTIONS = ("features", "shingle", "weights")
RANDOM_TEXTS = 500
RANDOM_OPTIONS = [("words", 1, "presence"), ("words", 3, "frequency"), ("chars", 1, "frequency"), ("chars", 1, "sublinear"),
                  ("chars", 4, "frequency")]
# Of these, random texts consist: each range has code points that fold, decompose, combine or separate in some way.
RANGES = [(0x00, 0x7F), (0x20, 0x20), (0x41, 0x7A), (0x80, 0x24F), (0x300, 0x345), (0x370, 0x58F), (0x590, 0x6FF),
          (0x900, 0x9FF), (0xE00, 0xEFF), (0x1000, 0x109F), (0x1100, 0x11FF), (0x1E00, 0x206F), (0x2100, 0x218F),
          (0x3000, 0x30FF), (0x4E00, 0x4EFF), (0xAC00, 0xACFF), (0xF900, 0xFAFF), (0xFE00, 0xFFFF),
          (0x1D150, 0x1D170), (0x1F600, 0x1F64F), (0x20000, 0x20010), (0x2F800, 0x2F810)]


def data_of(vector: dict[str, Any]) -> bytes:
    return bytes.fromhex(vector["bytes"]) if "bytes" in vector else vector["text"].encode()


def read_vectors() -> list[dict[str, Any]]:
    return [json.loads(line) for line in VECTORS.read_text(encoding="utf-8").splitlines()]


def write_vectors() -> None:
    lines = []
    for vector in read_vectors():
        data, kind, n, weights = data_of(vector), *(vector[key] for key in OPTIONS)
        made = fingerprint(data, kind, n, weights)
        vector |= {"count": len(features(data, kind, n)), "fingerprint": f"{made:016x}"}
        lines.append(json.dumps(vector, ensure_ascii=False) + "\n")
    VECTORS.write_text("".join(lines), encoding="utf-8")


def by_command(sstore: str, texts: list[bytes], kind: str, n: int, weights: str) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        paths = [f"{folder}/{i}" for i in range(len(texts))]
        for path, text in zip(paths, texts):
            pathlib.Path(path).write_bytes(text)
        command = [sstore, "fingerprint", "--no-header", "--binary", "--features", kind, "--shingle", str(n)]
        command += ["--weights", weights, *paths]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = {int(number): made for made, number, _ in (line.split("\t", 2) for line in printed.splitlines())}
    return [found.get(i, "0" * 16) for i in range(len(texts))]  # it leaves out texts without features


def random_text(source: random.Random) -> bytes:
    """A text of few different code points, so that they meet, with some wrong bytes."""
    few = [chr(source.randint(*source.choice(RANGES))) for _ in range(source.randint(1, 8))]
    few = [c for c in few if unicodedata.category(c) != "Cn"] or ["x"]  # assigned, whatever the version of Unicode
    data = b""
    for _ in range(source.randint(0, 120)):
        data += bytes([source.randrange(256)]) if source.random() < 0.02 else source.choice(few).encode()
    return data


def test_vectors(sstore: str) -> None:
    vectors = read_vectors()
    for vector in vectors:
        data, kind, n, weights = data_of(vector), *(vector[key] for key in OPTIONS)
        assert len(features(data, kind, n)) == vector["count"], vector
        assert f"{fingerprint(data, kind, n, weights):016x}" == vector["fingerprint"], vector
        assert by_command(sstore, [data], kind, n, weights) == [vector["fingerprint"]], vector
    print(f"figure: {len(vectors)} vectors")


def test_random_texts(sstore: str, seed: int) -> None:
    source = random.Random(seed)
    print(f"seed {seed}")
    for kind, n, weights in RANDOM_OPTIONS:
        texts = [random_text(source) for _ in range(RANDOM_TEXTS // len(RANDOM_OPTIONS))]
        for text, found in zip(texts, by_command(sstore, texts, kind, n, weights)):
            assert found == f"{fingerprint(text, kind, n, weights):016x}", (text, kind, n, weights)
    print(f"figure: {RANDOM_TEXTS} random texts")


if __name__ == "__main__":
    if sys.argv[1] == "--write":
        write_vectors()
    else:
        test_vectors(sys.argv[1])
        test_random_texts(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32))
