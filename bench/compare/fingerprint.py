#!/usr/bin/env python3
"""Fingerprints of texts by sstore and by other programs: the same documents, features as alike as they allow, one
thread each, in turns.

    fingerprint.py --work FOLDER TEXT...

Documents are cut from the texts that text.sh makes: long ones, and lines. Two sides of sstore: the command, which
reads a file of lines and prints, and the Python package, which gets a list. gaoya is measured as a Rust program that
also reads lines and prints, without an index, and as a Python package, which can only put the fingerprints into an
index. Processor time, medians of the rounds. Slow sides get fewer documents. What is not installed is left out: pip install ./python
gaoya simhash, and text-dedup with what it imports.

How the features differ: sstore counts each feature as often as it occurs, and folds by Unicode's rules. gaoya lowers
before, and splits at ASCII punctuation and white space; its shingles of words are joined without a space, and its
4-grams keep white space as it is. simhash gets shingles of words as a list; its own 4-grams are those of the letters and digits
alone, joined. text-dedup counts each feature once and knows 4-grams alone; shingles of words are put together here by
its functions.
"""
from __future__ import annotations

import argparse
import importlib
import os
import re
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable

HERE = os.path.dirname(os.path.abspath(__file__))
WORD = re.compile(r"\w+")
Side = Callable[[list[str], str, str], float]  # of documents, the file with them as lines, and the features: seconds
SHINGLES = {"words": 3, "chars": 4}


def processor_seconds() -> float:
    """Of this process and of those that have ended: nothing else disturbs that."""
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def seconds_of(call: Callable[[], object]) -> float:
    begin = processor_seconds()
    call()
    return processor_seconds() - begin


def run(*command: str) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


# ----- sides -----


def side_command(documents: list[str], path: str, features: str) -> float:
    command = shutil.which("sstore") or sys.exit("fingerprint.py: sstore is not on the PATH")
    options = [f"--features={features}", f"--shingle={SHINGLES[features]}", "--weights=frequency"]
    return seconds_of(lambda: run(command, "fingerprint", "--lines", "--threads=1", *options, path))


def side_package(documents: list[str], path: str, features: str) -> float:
    import sstore

    return seconds_of(lambda: sstore.simhash(documents, features, shingle=SHINGLES[features], weights="frequency", threads=1))


def build_gaoya(work: str) -> str | None:
    """The path of peer_gaoya, or None where cargo or its crate cannot be had."""
    folder = os.path.join(work, "peer_gaoya")
    shutil.copytree(os.path.join(HERE, "peer_gaoya"), folder, dirs_exist_ok=True)
    environment = dict(os.environ, RUSTFLAGS="-C target-cpu=native")
    try:
        subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=folder, env=environment, check=True,
                       stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return None
    return os.path.join(folder, "target", "release", "peer_gaoya")


def side_gaoya_rust(documents: list[str], path: str, features: str) -> float:
    return seconds_of(lambda: run(GAOYA, features, str(SHINGLES[features]), path))


def side_gaoya_python(documents: list[str], path: str, features: str) -> float:
    from gaoya.simhash import SimHashStringIndex

    n = SHINGLES[features]
    index = SimHashStringIndex(num_blocks=4, hamming_distance=3, analyzer=features[:4], lowercase=True,
                               ngram_range=(n, n))

    def insert() -> None:
        for i, document in enumerate(documents):
            index.insert_document(i, document)

    return seconds_of(insert)


def shingles(document: str) -> list[str]:
    words = WORD.findall(document.lower())
    return [" ".join(words[i:i + 3]) for i in range(max(len(words) - 2, 1))]


def side_simhash(documents: list[str], path: str, features: str) -> float:
    from simhash import Simhash

    if features == "words":
        return seconds_of(lambda: [Simhash(shingles(document)).value for document in documents])
    return seconds_of(lambda: [Simhash(document).value for document in documents])


def side_text_dedup(documents: list[str], path: str, features: str) -> float:
    from text_dedup import simhash
    from text_dedup.utils import ngrams, xxh3_64_digest

    def of_words(document: str) -> object:
        found = {" ".join(three).encode() for three in ngrams(WORD.findall(document.lower()), 3, 1)}
        return simhash.compute([simhash._unsigned_hash(one, xxh3_64_digest) for one in found])

    def of_chars(document: str) -> object:
        return simhash.embed_func(document, 0, ngram=4, permutations=[], hash_func=xxh3_64_digest)

    make = of_words if features == "words" else of_chars
    return seconds_of(lambda: [make(document) for document in documents])


# Each side, the Python package or the program that it needs, and its share of the documents.
SIDES: dict[str, tuple[Side, str, float]] = {
    "sstore, command": (side_command, "", 1),
    "sstore, Python": (side_package, "sstore", 1),
    "gaoya 0.2.2, Rust": (side_gaoya_rust, "cargo", 0.5),
    "gaoya 0.2.2, Python": (side_gaoya_python, "gaoya", 0.5),
    "simhash 2.1.2": (side_simhash, "simhash", 0.02),
    "text-dedup 0.4.0": (side_text_dedup, "text_dedup.simhash", 0.02),
}
GAOYA = ""


def is_there(package: str, work: str) -> bool:
    global GAOYA
    if package == "cargo":
        GAOYA = build_gaoya(work) or ""
        return GAOYA != ""
    try:
        return package == "" or importlib.import_module(package) is not None
    except ImportError:
        return False


# ----- documents -----


def cut(path: str, total: int, size: int) -> list[str]:
    """Documents of `size` bytes, each on one line, which are no empty ones for any side."""
    with open(path, "rb") as file:
        data = file.read(total)
    pieces = (data[i:i + size].decode(errors="ignore") for i in range(0, len(data), size))
    lines = (" ".join(piece.split()) for piece in pieces)
    return [line for line in lines if len(WORD.findall(line)) >= 5]


def write_lines(documents: list[str], path: str) -> None:
    with open(path, "w") as file:
        file.writelines(document + "\n" for document in documents)


# ----- measuring -----


def measure(path: str, size: int, features: str, sides: list[str], options: argparse.Namespace) -> None:
    documents = cut(path, options.bytes, size)
    taken = {}
    for name in sides:
        count = max(int(len(documents) * SIDES[name][2]), 1)
        file = os.path.join(options.work, f"{count}-of-{size}.txt")
        write_lines(documents[:count], file)
        taken[name] = (documents[:count], file)
    times: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(options.rounds):
        for name in sides:
            times[name].append(SIDES[name][0](*taken[name], features))
    speeds = {}
    for name in sides:
        seconds = statistics.median(times[name])
        megabytes = os.path.getsize(taken[name][1]) / 1e6
        speeds[name] = (megabytes / seconds, len(taken[name][0]) / seconds)
    for name in sides:
        ratios = [f"{speeds[own][0] / speeds[name][0]:.1f}" if own in speeds else "-" for own in list(SIDES)[:2]]
        print(f"{os.path.basename(path):12}  {size:9}  {features:8}  {name:20}  {len(taken[name][0]):9}  "
              f"{speeds[name][0]:8.2f}  {speeds[name][1]:11.0f}  {ratios[0]:>12}  {ratios[1]:>11}", flush=True)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="+", metavar="TEXT")
    parser.add_argument("--work", required=True, help="a folder for documents and peers")
    parser.add_argument("--bytes", type=int, default=100_000_000, help="of each text (%(default)s)")
    parser.add_argument("--sizes", default="5000 60", help="of documents, in bytes (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="of which the median counts (%(default)s)")
    return parser.parse_args()


def main() -> None:
    options = parse()
    os.makedirs(options.work, exist_ok=True)
    print("#", shlex.join([os.path.basename(sys.argv[0]), *sys.argv[1:]]))
    subprocess.run([os.path.join(HERE, "..", "machine.sh")], check=True)
    sides = [name for name, (_, package, _) in SIDES.items() if is_there(package, options.work)]
    print("# left out, since they are not installed:", ", ".join(name for name in SIDES if name not in sides) or "none")
    print(f"# processor time of one thread; medians of {options.rounds} rounds, in turns; the last columns: how many times as fast the "
          "command and the Python package of sstore are")
    print("text          doc bytes  features  side                  documents      MB/s  documents/s  command over  "
          "Python over")
    for path in options.texts:
        for size in map(int, options.sizes.split()):
            for features in SHINGLES:
                measure(path, size, features, sides, options)


if __name__ == "__main__":
    main()
