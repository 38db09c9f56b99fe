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


def roots(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    parents: dict[Any, Any] = {}

    def root(node: Any) -> Any:
        while parents.setdefault(node, node) != node:
            node = parents[node]
        return node

    for a, b in pairs:
        low, high = sorted((root(a), root(b)))
        parents[high] = low
    return {node: root(node) for node in list(parents)}


def texts_of(ids: Any, kind: str) -> dict[int, Any]:
    """Texts in the place of ids, in another order: strings, or binary that is not UTF-8."""
    texts = {int(i): f"https://a.example/{i}?größe" for i in ids}
    return texts if kind == "string" else {i: text.encode() + b"\xff" for i, text in texts.items()}


def sorted_pairs(pairs: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Pairs of records, the smaller record of each first."""
    return sorted(min(pair, (*pair[2:], *pair[:2])) for pair in pairs)


def named_pairs(pairs: Iterable[tuple[int, ...]], texts: dict[int, Any]) -> list[tuple[Any, ...]]:
    """Pairs of brute_pairs(), with texts for their ids."""
    return sorted_pairs((a, texts[i], b, texts[j]) for a, i, b, j in pairs)
