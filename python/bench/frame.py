#!/usr/bin/env python3
"""Counts the rows that the recipe of README.md for data frames keeps of package descriptions.

    frame.py build/quality/descriptions [--count 20000] [--seed 1]

bench/quality/run.sh fetches the descriptions. The similarity of two texts is the Jaccard index of their sets of words.
"""

import argparse
import pathlib
import random
import re
import tempfile

import numpy as np

import sstore


def words_of(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("descriptions", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    shown = given.descriptions.read_text(errors="replace")
    found = re.findall(r"^Description-en: .*\n((?: .*\n)+)", shown, re.MULTILINE)
    texts = random.Random(given.seed).sample(found, given.count)
    words = [words_of(text) for text in texts]
    print(f"seed {given.seed}: {given.count} texts, {len(set(texts))} of them distinct")
    words_of_texts, chars_of_texts = sstore.simhash(texts), sstore.simhash(texts, "chars")
    for name, fingerprints, distance in (
        *(("words", words_of_texts, distance) for distance in (3, 4, 5)),
        ("chars", chars_of_texts, 12),
    ):
        rows = np.flatnonzero(fingerprints)
        with tempfile.TemporaryDirectory() as folder:
            sstore.build(f"{folder}/store", fingerprints[rows], rows, distance=distance)
            with sstore.open(f"{folder}/store") as store:
                clusters = store.clusters()
        first = clusters.id[clusters.is_representative][clusters.cluster.astype(int)]
        pairs = list(zip(first[~clusters.is_representative].tolist(), clusters.duplicates.id.tolist()))
        unlike = sum(2 * len(words[a] & words[b]) < len(words[a] | words[b]) for a, b in pairs)
        print(
            f"{name}, distance {distance}: {given.count - len(pairs)} kept; "
            f"{unlike} of the {len(pairs)} others have a similarity below 0.5 to the one that is kept"
        )


if __name__ == "__main__":
    main()
