"""The settings of fingerprints that are measured: a name and options of `sstore fingerprint` each.

A setting whose options the command does not know is left out with a message.
"""

import json
import pathlib
import subprocess

import numpy

WEIGHTS = ["frequency", "sublinear", "presence"]
SHINGLES = {"words": [1, 2, 3, 4], "chars": [1, 2, 3, 4, 5, 6, 7, 8]}
DEFAULT = "words 3 frequency"


def setting(features: str, shingle: int, weights: str) -> tuple[str, list[str]]:
    options = ["--features", features, "--shingle", str(shingle), "--weights", weights]
    return f"{features} {shingle} {weights}", options


SETTINGS = dict(
    setting(features, shingle, weights)
    for features, shingles in SHINGLES.items()
    for shingle in shingles
    for weights in WEIGHTS
)


def known_settings(sstore: pathlib.Path) -> dict[str, list[str]]:
    """Those that this command knows."""
    known = {}
    for name, options in SETTINGS.items():
        answer = subprocess.run([sstore, "fingerprint", "--recipe", *options], capture_output=True, text=True)
        if answer.returncode == 0:
            known[name] = options
        else:
            print(f"setting {name} is left out: {answer.stderr.strip()}", flush=True)
    return known


def write_documents(path: pathlib.Path, texts: list[str]) -> None:
    """As JSON Lines, which the command and the other tools read."""
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))


def answers(sstore: pathlib.Path, path: pathlib.Path, options: list[str]) -> list[tuple[int, int]]:
    """Number and fingerprint of each document of a file that has features; others get none."""
    command = [sstore, "fingerprint", "--jsonl", "--no-header", *options, path]
    lines = subprocess.run(command, check=True, capture_output=True).stdout.splitlines()
    return [(int(line.split(b"\t")[1]), int(line.split(b"\t")[0], 16)) for line in lines]


def fingerprints(sstore: pathlib.Path, path: pathlib.Path, options: list[str], count: int) -> numpy.ndarray:
    """Those of a file of so many documents, in their order. Each must have features."""
    found = answers(sstore, path, options)
    if [number for number, _ in found] != list(range(count)):
        raise SystemExit(f"{path}: {count - len(found)} of {count} documents have no features with {' '.join(options)}")
    return numpy.array([value for _, value in found], dtype=numpy.uint64)
