#!/usr/bin/env python3
"""Compares what 'sstore dedup --similarity' dropped with the exact similarity of all pairs of documents.

    exact.py IN.jsonl REMOVED SIMILARITY    exits 1 if a document was dropped that the exact groups keep

Features come from the second implementation of the specification, and all pairs that share one are compared.
"""
import collections
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "format-spec" / "fingerprint"))
from fingerprint import features  # noqa: E402


def near_pairs(sets, least):
    """All pairs of this similarity. Rare features come first: of two such sets, the first ones share a feature."""
    counts = collections.Counter(feature for own in sets for feature in own)
    ordered = [sorted(own, key=lambda feature: (counts[feature], feature)) for own in sets]
    known_by = collections.defaultdict(list)
    for number, own in enumerate(ordered):
        first = own[: len(own) - int(least * len(own) + 0.999999) + 1]
        for other in {other for feature in first for other in known_by[feature]}:
            shared = len(sets[number] & sets[other])
            if shared >= least * (len(sets[number]) + len(sets[other]) - shared):
                yield other, number
        for feature in first:
            known_by[feature].append(number)


def groups(count, pairs):
    """The first document of the group of each."""
    first = list(range(count))

    def find(number):
        while first[number] != number:
            first[number] = number = first[first[number]]
        return number
    for a, b in pairs:
        a, b = sorted((find(a), find(b)))
        first[b] = a
    return [find(number) for number in range(count)]


def main():
    path, removed_path, least = sys.argv[1], sys.argv[2], float(sys.argv[3])
    with open(path, encoding="utf-8") as file:
        sets = [frozenset(features(json.loads(line)["text"].encode(), "words", 2)) for line in file]
    pairs = list(near_pairs(sets, least))
    firsts = groups(len(sets), pairs)
    wanted = {number for number, first in enumerate(firsts) if first != number and sets[number]}
    with open(removed_path, encoding="utf-8") as file:
        removed = {int(line.split("\t")[0].rpartition(":")[2]) - 1 for line in file}
    right = len(removed & wanted)
    print(f"documents {len(sets)}, exact near pairs {len(pairs)}, to be dropped {len(wanted)}, dropped {len(removed)}: "
          f"recall {right / max(len(wanted), 1):.4f}, precision {right / max(len(removed), 1):.4f}")
    return removed - wanted != set()


if __name__ == "__main__":
    sys.exit(main())
