"""Compares three: vectors.jsonl, the second implementation in fingerprint.py, and the command, the last two also with
random texts, stop words, weights and counts of documents.

  test_fingerprint.py SSTORE [SEED]       SSTORE is the command
  test_fingerprint.py --write             compute the fingerprints in vectors.jsonl again, by fingerprint.py

A line of vectors.jsonl is an object: `text`, or `bytes` in hexadecimal; `features`, `shingle` and `weights`, as the options
of `sstore fingerprint`; `count`, how many features the text has; and `fingerprint`.
"""

import collections
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unicodedata
from typing import Any

from fingerprint import Lexicon, features, fingerprint, fold, read_frequencies, runs, xxh3_64

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


def random_lexicon(texts: list[bytes], kind: str, n: int, source: random.Random) -> Lexicon:
    lexicon = Lexicon()
    if kind == "words":
        words = sorted({unit for text in texts for _, units in runs(fold(text)) for unit in units})
        lexicon.stop_words = set(source.sample(words, min(len(words), 3)))
    found = sorted({feature for text in texts for feature in features(text, kind, n, lexicon.stop_words)})
    # A feature of fewer than n units, or one with a tab, cannot be told from the text of another.
    found = [f for f in found if features(f.encode(), kind, n, lexicon.stop_words) == [f] and f.isprintable()]
    for feature in source.sample(found, min(len(found), 5)):
        lexicon.weights[feature] = source.choice([0, -1, 2.5, 0.1, 1e9, source.random()])
    return lexicon


def test_lexicons(sstore: str, seed: int) -> None:
    """Also the table of counts, and the recipe."""
    source = random.Random(seed + 1)
    for kind, n, weights, levels in [("words", 1, "frequency", 0), ("words", 2, "sublinear", 5), ("chars", 3, "presence", 9)]:
        texts = [random_text(source) for _ in range(60)]
        lexicon = random_lexicon(texts, kind, n, source)
        with tempfile.TemporaryDirectory() as folder:
            paths = [f"{folder}/{i:02}" for i in range(len(texts))]
            for path, text in zip(paths, texts):
                pathlib.Path(path).write_bytes(text)
            pathlib.Path(f"{folder}/stop").write_text("".join(f"{word}\n" for word in lexicon.stop_words), "utf-8")
            lines = "".join(f"{feature}\t{weight!r}\n" for feature, weight in lexicon.weights.items())
            pathlib.Path(f"{folder}/weights").write_text(lines, "utf-8")
            how = ["--binary", "--features", kind, "--shingle", str(n)]
            how += ["--stop-words", f"{folder}/stop"] if lexicon.stop_words else []
            subprocess.run([sstore, "idf", *how, f"{folder}/table", *paths], check=True, capture_output=True)
            found, lexicon.frequencies = read_frequencies(pathlib.Path(f"{folder}/table").read_bytes(), levels)
            how += ["--weights", weights, "--feature-weights", f"{folder}/weights", "--idf", f"{folder}/table"]
            how += ["--levels", str(levels)] if levels else []
            run = subprocess.run([sstore, "fingerprint", *how, *paths], check=True, capture_output=True, text=True)
            first, _, *printed = run.stdout.splitlines()

        counts: collections.Counter[int] = collections.Counter()
        documents = 0
        for text in texts:
            different = set(features(text, kind, n, lexicon.stop_words))
            documents += bool(different)
            counts.update(xxh3_64(feature.encode()) for feature in different)
        assert lexicon.frequencies.documents == documents
        assert lexicon.frequencies.counts == {hashed: count for hashed, count in counts.items() if count > 1}

        stop_words, factors = lexicon.fields()
        head, tail = f"sstore-text-1 features={kind} shingle={n}{stop_words}", " hash=xxh3-64 unicode="
        assert found.startswith(head + tail), found
        assert first.startswith(f"# recipe: {head} weights={weights}{factors}{tail}"), first
        for line in printed:
            made, number, _ = line.split("\t", 2)
            text = texts[int(number)]
            assert made == f"{fingerprint(text, kind, n, weights, lexicon):016x}", (text, kind, n, weights, lexicon)
    print("figure: 180 random texts with stop words, weights and counts of documents")


if __name__ == "__main__":
    if sys.argv[1] == "--write":
        write_vectors()
    else:
        test_vectors(sys.argv[1])
        chosen = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32)
        test_random_texts(sys.argv[1], chosen)
        test_lexicons(sys.argv[1], chosen)
