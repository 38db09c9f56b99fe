"""Random data, and answers by brute force."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]


def clustered(rng: np.random.Generator, count: int) -> Words:
    """Fingerprints of which many are near others."""
    centres = rng.integers(0, 1 << 64, count // 8 + 1, dtype=np.uint64)
    made = centres[rng.integers(0, len(centres), count)]
    for _ in range(5):
        flips = np.uint64(1) << rng.integers(0, 64, count, dtype=np.uint64)
        made ^= np.where(rng.random(count) < 0.5, flips, np.uint64(0))
    return made


def distances(fingerprints: Words, other: Any) -> npt.NDArray[np.uint8]:
    differing = (fingerprints ^ np.uint64(other)).view(np.uint8).reshape(-1, 8)
    made: npt.NDArray[np.uint8] = np.unpackbits(differing, axis=1).sum(axis=1, dtype=np.uint8)
    return made


def brute_query(fingerprints: Words, ids: Words, query: Any, distance: int) -> list[tuple[int, int, int]]:
    """(distance, fingerprint, id) of the matches, sorted."""
    found = distances(fingerprints, query)
    near = found <= distance
    rows = {*zip(found[near].tolist(), fingerprints[near].tolist(), ids[near].tolist())}
    return sorted(rows)


def brute_pairs(fingerprints: Words, ids: Words, distance: int) -> set[tuple[int, int, int, int]]:
    """(fingerprint, id, other_fingerprint, other_id), the lower record first."""
    records = sorted({*zip(fingerprints.tolist(), ids.tolist())})
    array = np.array([f for f, _ in records], np.uint64)
    found: set[tuple[int, int, int, int]] = set()
    for i, (fingerprint, id_) in enumerate(records):
        near = np.flatnonzero(distances(array[i + 1 :], fingerprint) <= distance) + i + 1
        found.update((fingerprint, id_, *records[j]) for j in near.tolist())
    return found


def roots(pairs: Iterable[tuple[int, int]]) -> dict[int, int]:
    parents: dict[int, int] = {}

    def root(node: int) -> int:
        while parents.setdefault(node, node) != node:
            node = parents[node]
        return node

    for a, b in pairs:
        low, high = sorted((root(a), root(b)))
        parents[high] = low
    return {node: root(node) for node in list(parents)}
