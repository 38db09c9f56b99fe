"""The settings of fingerprints that are measured: a name and options of `sstore fingerprint` each.

IDF and STOP in the options stand for files that are learned from the whole texts: the table of `sstore idf` for the
same features, and the words that are in most texts. A setting whose options the command does not know is left out with
a message.
"""

import collections
import json
import pathlib
import subprocess

import numpy

import peers

WEIGHTS = ["frequency", "sublinear", "presence"]
SHINGLES = {"words": [1, 2, 3, 4], "chars": [1, 2, 3, 4, 5, 6, 7, 8]}
STOP_WORDS = 100
FAR = 64  # the distance of a document without features

Options = list[str]


def setting(features: str, shingle: int, weights: str) -> tuple[str, Options]:
    options = ["--features", features, "--shingle", str(shingle), "--weights", weights]
    return f"{features} {shingle} {weights}", options


PLAIN = dict(
    setting(features, shingle, weights)
    for features, shingles in SHINGLES.items()
    for shingle in shingles
    for weights in WEIGHTS
)
# Options that are added to plain settings.
MORE = {
    "idf": ["--idf", "IDF"],
    "levels": ["--idf", "IDF", "--levels", "5"],
    "stop": ["--stop-words", "STOP"],
    "icu": ["--segment", "icu"],
}
EXTENDED = [
    *("words 1 frequency idf", "words 1 sublinear idf", "words 1 sublinear levels", "words 2 sublinear idf"),
    *("words 3 frequency idf", "chars 3 sublinear idf", "chars 4 sublinear idf"),
    *("words 1 frequency stop", "words 1 sublinear stop"),
    *("words 1 frequency icu", "words 1 sublinear icu", "words 2 frequency icu", "words 2 sublinear icu"),
]
SETTINGS = PLAIN | {
    name: PLAIN[plain] + MORE[more] for name, plain, more in ((name, *name.rsplit(" ", 1)) for name in EXTENDED)
}


def known_settings(sstore: pathlib.Path, work: pathlib.Path, whole: list[str]) -> dict[str, Options]:
    """Those that this command knows, with files that are learned from these texts."""
    documents, stop = work / "whole.jsonl", work / "stop-words"
    write_documents(documents, whole)
    stop.write_text("".join(f"{word}\n" for word in frequent_words(whole)))
    known = {}
    for name, options in SETTINGS.items():
        table = work / f"{options[1]}-{options[3]}.idf"
        learned = [{"IDF": str(table), "STOP": str(stop)}.get(option, option) for option in options]
        commands = [[sstore, "fingerprint", "--recipe", *learned]]
        if "IDF" in options and not table.exists():
            commands.insert(0, [sstore, "idf", "--jsonl", *options[:4], table, documents])
        answers = [subprocess.run(command, capture_output=True, text=True) for command in commands]
        failed = [answer for answer in answers if answer.returncode != 0]
        if failed:
            print(f"setting {name} is left out: {failed[0].stderr.strip()}", flush=True)
        else:
            known[name] = learned
    return known


def frequent_words(whole: list[str]) -> list[str]:
    """The words that are in most texts."""
    counts = collections.Counter(word for text in whole for word in set(peers.words(text)))
    return [word for word, _ in counts.most_common(STOP_WORDS)]


def write_documents(path: pathlib.Path, texts: list[str]) -> None:
    """As JSON Lines, which the command and the other tools read."""
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))


def answers(sstore: pathlib.Path, path: pathlib.Path, options: Options) -> list[tuple[int, int]]:
    """Number and fingerprint of each document of a file that has features; others get none."""
    command = [sstore, "fingerprint", "--jsonl", "--no-comments", *options, path]
    lines = subprocess.run(command, check=True, capture_output=True).stdout.splitlines()
    return [(int(line.split(b"\t")[1]), int(line.split(b"\t")[0], 16)) for line in lines]


def distances(sstore: pathlib.Path, path: pathlib.Path, options: Options, count: int) -> numpy.ndarray:
    """Of all pairs of the documents of a file. One without features, which is not in a store, is far from all."""
    found = answers(sstore, path, options)
    prints = numpy.zeros(count, dtype=numpy.uint64)
    missing = numpy.ones(count, dtype=bool)
    numbers = [number for number, _ in found]
    prints[numbers] = [value for _, value in found]
    missing[numbers] = False
    square = numpy.bitwise_count(prints[:, None] ^ prints[None, :])
    square[missing] = square[:, missing] = FAR
    return square


def fingerprints(sstore: pathlib.Path, path: pathlib.Path, options: Options, count: int) -> numpy.ndarray:
    """Those of a file of so many documents, in their order. Each must have features."""
    found = answers(sstore, path, options)
    if [number for number, _ in found] != list(range(count)):
        raise SystemExit(f"{path}: {count - len(found)} of {count} documents have no features with {' '.join(options)}")
    return numpy.array([value for _, value in found], dtype=numpy.uint64)
