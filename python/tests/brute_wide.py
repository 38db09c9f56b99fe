"""Random fingerprints of several words, and answers by brute force."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from brute import Words, roots
from brute import brute_pairs as brute_pairs_of_one

import sstore

Row = tuple[int, ...]


def random_words(rng: np.random.Generator) -> int:
    return int(rng.choice([2, 2, 3, 4, 4, 4, 5, 8, 13, 16]))


def skewed(rng: np.random.Generator, count: int, words: int) -> Words:
    """Fingerprints of which many are near others; some words are constant, sparse, or have few values."""
    made = rng.integers(0, 1 << 64, (count, words), dtype=np.uint64)
    for word in range(words):
        kind = int(rng.integers(0, 5))
        if kind == 0:
            made[:, word] = made[0, word]
        elif kind == 1:
            made[:, word] = made[rng.integers(0, min(3, count), count), word]
        elif kind == 2:
            made[:, word] &= made[::-1, word] & np.roll(made[:, word], 1)
    made = made[rng.integers(0, max(count // 4, 1), count)]
    for _ in range(int(rng.integers(1, 6 * words))):
        rows = np.flatnonzero(rng.random(count) < 0.5)
        flips = np.uint64(1) << rng.integers(0, 64, len(rows), dtype=np.uint64)
        made[rows, rng.integers(0, words, len(rows))] ^= flips
    return made


def distances(fingerprints: Words, other: Any) -> npt.NDArray[np.int64]:
    differing = np.ascontiguousarray(fingerprints ^ other).view(np.uint8).reshape(-1, 8 * fingerprints.shape[1])
    made: npt.NDArray[np.int64] = np.unpackbits(differing, axis=1).sum(axis=1, dtype=np.int64)
    return made


def number(fingerprint: Any) -> int:
    """A fingerprint as one number."""
    return int.from_bytes(np.asarray(fingerprint, ">u8").tobytes(), "big")


def numbers(fingerprints: Words) -> list[int]:
    return [number(fingerprint) for fingerprint in fingerprints]


def brute_query(fingerprints: Words, ids: Words, query: Any, distance: int) -> list[Row]:
    """(distance, fingerprint, id) of the matches, sorted."""
    found = distances(fingerprints, query)
    near = found <= distance
    return sorted({*zip(found[near].tolist(), numbers(fingerprints[near]), ids[near].tolist())})


def bytes_of(fingerprints: Words) -> npt.NDArray[np.uint8]:
    return fingerprints.astype(">u8").view(np.uint8)


def brute_pairs(fps: Words, ids: Words, distance: int) -> set[Row]:
    """(fingerprint, id, other_fingerprint, other_id, distance), the lower record first."""
    records = dict(zip(zip(numbers(fps), ids.tolist()), fps))
    ordered = sorted(records)
    array = np.stack([records[record] for record in ordered])
    found: set[Row] = set()
    for i, record in enumerate(ordered):
        apart = distances(array[i + 1 :], array[i])
        found.update((*record, *ordered[i + 1 + j], int(apart[j])) for j in np.flatnonzero(apart <= distance).tolist())
    return found


def pair_rows(batches: Iterable[sstore.Pairs]) -> list[Row]:
    rows: list[Row] = []
    for batch in batches:
        one, other = numbers(batch.fingerprint), numbers(batch.other_fingerprint)
        rows += zip(one, batch.id.tolist(), other, batch.other_id.tolist(), batch.distance.tolist())
    return rows


def roots_of(rows: Iterable[Row]) -> dict[Row, Row]:
    """The smallest record of the component of each that is in a pair."""
    names = {record: name for name, record in enumerate(sorted({r for row in rows for r in (row[:2], row[2:4])}))}
    records = list(names)
    found = roots((names[row[:2]], names[row[2:4]]) for row in rows)
    return {records[node]: records[root] for node, root in found.items()}


def brute_strict(fps: Words, rows: Iterable[int], k: int) -> dict[int, tuple[int, int]]:
    """Of rows in the order in which they precede, what is kept instead of each that is dropped, and the distance."""
    kept: list[int] = []
    found: dict[int, tuple[int, int]] = {}
    for row in rows:
        apart = distances(fps[kept], fps[row]) if kept else np.zeros(0, np.int64)
        near = [(int(d), number(fps[other]), other) for d, other in zip(apart, kept) if d <= k]
        if near:
            found[row] = min(near)[2], min(near)[0]
        else:
            kept.append(row)
    return found


def brute_dropped(fps: Words, keys: Sequence[Any], k: int, strict: bool) -> set[int]:
    """Which rows of 64 bits are dropped, if they precede each other by these keys."""
    order = sorted(range(len(keys)), key=keys.__getitem__)
    if strict:
        return set(brute_strict(fps.reshape(-1, 1), order, k))
    place = np.argsort(order).astype(np.uint64)
    near = roots((a, b) for _, a, _, b in brute_pairs_of_one(fps, place, k))
    return {order[at] for at, root in near.items() if at != root}
