"""The tasks of a cluster against brute force, without a cluster."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from brute import Words, brute_pairs, clustered, roots
from brute_wide import brute_pairs as brute_wide_pairs
from brute_wide import pair_rows, roots_of, skewed
from test_join import rows_of

import sstore
from sstore import _tasks
from sstore._arrays import words_of
from sstore._similar import Nearness
from sstore._tasks import Cells

TEXT_ARGUMENTS: dict[str, Any] = {"features": "words", "shingle": 0, "weights": None, "markup": "none"}
TEXT_ARGUMENTS.update(segment="pairs", lexicon=None, bits=0, hash="xxh3")


def shuffle(cells: list[Cells], task_count: int) -> list[Cells]:
    """The cells of each task."""
    whole = {name: np.concatenate([getattr(cell, name) for cell in cells]) for name in Cells.names()}
    tasks = whole["cell"] % np.uint64(task_count)
    return [Cells(**{n: c[tasks == task] for n, c in whole.items()}) for task in range(task_count)]


def near_pairs(fps: Words, ids: Words, distance: int, limit: int, spanning: bool) -> tuple[list[sstore.Pairs], int]:
    halves = slice(0, 300), slice(300, None)
    counts = np.sum([_tasks.count_keys(fps[half], distance) for half in halves], axis=0)
    parts, task_count = _tasks.divide(counts, limit, words_of(fps))
    assert task_count == 1
    cells = [cell for half in halves for cell in _tasks.make_cells(fps[half], ids[half], distance, parts)]
    found = []
    largest = 0
    for task in shuffle(cells, 5):
        if len(task.cell) > 0:
            largest = max(largest, int(np.unique(task.cell[task.side != 0], return_counts=True)[1].max(initial=0)))
        found += list(_tasks.join_cells(task, distance, spanning, 1000))
    return found, largest


@pytest.mark.parametrize("distance", [0, 3, 8, 16])
@pytest.mark.parametrize("limit", [20, 10**6])
def test_near_pairs(rng: np.random.Generator, distance: int, limit: int) -> None:
    fps = np.concatenate([clustered(rng, 600), np.full(100, 7, np.uint64)])
    ids = rng.permutation(len(fps)).astype(np.uint64)
    expected = brute_pairs(fps, ids, distance)
    batches, largest = near_pairs(fps, ids, distance, limit, False)
    rows = rows_of(batches)
    assert len(rows) == len(set(rows)) and set(rows) == expected
    assert largest <= 4 * limit  # as the hash divides them
    spanning, _ = near_pairs(fps, ids, distance, limit, True)
    edges = roots((a, b) for _, a, _, b in rows_of(spanning))
    assert edges == roots((a, b) for _, a, _, b in expected)


@pytest.mark.parametrize(
    ("words", "distance", "limit"),
    [(2, 0, 40), (2, 2, 90), (2, 3, 100), (2, 7, 200), (3, 4, 10**6), (4, 31, 250), (16, 256, 10**6)],
)
def test_near_pairs_of_wide_fingerprints(rng: np.random.Generator, words: int, distance: int, limit: int) -> None:
    fps = skewed(rng, 500, words)
    ids = rng.permutation(len(fps)).astype(np.uint64)
    expected = brute_wide_pairs(fps, ids, distance)
    rows = pair_rows(near_pairs(fps, ids, distance, limit, False)[0])
    assert len(rows) == len(set(rows)) and set(rows) == expected
    spanning = pair_rows(near_pairs(fps, ids, distance, limit, True)[0])
    assert roots_of(spanning) == roots_of(expected)


def test_divisions(rng: np.random.Generator) -> None:
    """Records are sent by keys, or all divided into parts, whichever makes fewer rows."""
    fps = rng.integers(0, 1 << 64, (2000, 2), dtype=np.uint64)
    for distance, limit, tables in (
        (3, 200, [0, 1, 2, 3]),
        (3, 10**6, [_tasks.NO_TABLE]),
        (31, 200, [_tasks.NO_TABLE]),
    ):
        counts = _tasks.count_keys(fps, distance)
        assert counts.sum(axis=1).tolist() == [2000] * (distance + 1)
        parts, _ = _tasks.divide(counts, limit, 2)
        assert list(parts) == tables
        cells = list(_tasks.make_cells(fps, np.arange(2000, dtype=np.uint64), distance, parts))
        whole = 1 if limit > 2000 else 20
        assert sum(len(some.cell) for some in cells) == 2000 * (whole if tables == [_tasks.NO_TABLE] else 4)
    counts[0, 0] = 10**9
    assert _tasks.divide(counts, 10**6, 2)[1] > 1000
    many = _tasks.count_keys(np.zeros((9, 16), np.uint64), 256)
    assert list(_tasks.divide(many, 1, 16)[0]) == [_tasks.NO_TABLE]
    assert _tasks.divide(many, 100, 16, 200)[1] == 4
    assert _tasks.divide(_tasks.count_keys(fps, 3), 200, 2, 200)[1] == 200


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_few_records_of_divided_keys(rng: np.random.Generator, limit: int) -> None:
    """Cells of two parts of which one has no records."""
    for distance in (0, 2, 5):
        fps = np.append(clustered(rng, 40), np.array([5, 5, 6], np.uint64))
        ids = rng.integers(0, 3, len(fps), dtype=np.uint64)
        rows = rows_of(near_pairs(fps, ids, distance, limit, False)[0])
        assert len(rows) == len(set(rows)) and set(rows) == brute_pairs(fps, ids, distance)


@pytest.mark.parametrize("distance", [0, 1, 3])
def test_two_crowded_keys(rng: np.random.Generator, distance: int) -> None:
    """Keys that differ in their first bit only, and are divided into different numbers of parts."""
    fps = np.repeat(np.array([5, 5 + (1 << 63), 7], np.uint64), [120, 200, 30])
    ids = np.arange(len(fps), dtype=np.uint64)
    rows = rows_of(near_pairs(fps, ids, distance, 40, False)[0])
    assert len(rows) == len(set(rows)) and set(rows) == brute_pairs(fps, ids, distance)


@pytest.mark.parametrize("task_count", [1, 4])
def test_star_steps(rng: np.random.Generator, task_count: int) -> None:
    """The steps of many tasks end with the smallest node of each component, after few rounds."""
    count = 2000
    chain = np.arange(count, dtype=np.uint64)
    random = rng.integers(0, count, (2, count // 2), dtype=np.uint64)
    for a, b in ((chain[:-1], chain[1:]), (random[0], random[1]), (chain * np.uint64(0), chain), (chain, chain)):
        names = rng.integers(0, 1 << 64, count, dtype=np.uint64)
        edges = names[a.astype(int)], names[b.astype(int)]
        expected = roots(zip(edges[0].tolist(), edges[1].tolist()))
        stars = steps(_tasks.large_star, both_ways(edges), task_count)
        for _ in range(40):
            if not (stars[0] == stars[1]).any():
                break
            stars = steps(_tasks.large_star, both_ways(steps(_tasks.small_star, stars, task_count)), task_count)
        found = dict(zip(stars[0].tolist(), stars[1].tolist()))
        assert len(found) == len(stars[0])
        assert found == {node: root for node, root in expected.items() if node != root}


def both_ways(edges: tuple[Words, Words]) -> tuple[Words, Words]:
    keep = edges[0] != edges[1]
    a, b = edges[0][keep], edges[1][keep]
    return np.concatenate([a, b]), np.concatenate([b, a])


def steps(step: Callable[[Words, Words], tuple[Words, Words]], edges: Any, task_count: int) -> tuple[Words, Words]:
    """The results of all tasks."""
    tasks = _tasks.mixed(edges[0]) % np.uint64(task_count)
    made = [step(edges[0][tasks == task], edges[1][tasks == task]) for task in range(task_count)]
    return np.concatenate([part[0] for part in made]), np.concatenate([part[1] for part in made])


def test_equal_options() -> None:
    """The functions of Spark and of Ray have the same options, with the same defaults."""
    import sstore.ray
    import sstore.spark

    for name in ("fingerprint", "build_shards", "query_shards", "near_pairs", "clusters", "deduplicate", "scan"):
        one, other = (
            [(p.name, p.kind, p.default) for p in inspect.signature(getattr(module, name)).parameters.values()]
            for module in (sstore.spark, sstore.ray)
        )
        assert one[1:] == other[1:], name


@pytest.mark.parametrize("how", [{}, {"bits": 128, "features": "chars"}, {"hash": "minhash", "bits": 192}])
def test_fingerprints(how: dict[str, Any]) -> None:
    """Fingerprints of texts, null of those without features, in the form of the engines; the arguments travel."""
    texts: list[Any] = ["a red ball", None, "", "the cat sat on the mat", "a"]
    arguments = pickle.loads(pickle.dumps(_tasks.TextArguments(**{**TEXT_ARGUMENTS, **how})))
    made = sstore.minhash if "hash" in how else sstore.simhash
    fps: Any = made(texts, nulls="mask", **{name: value for name, value in how.items() if name != "hash"})
    assert arguments.word_count() == words_of(fps)
    expected = [None if not row.any() else row.astype(">u8").tobytes() for row in fps.data.reshape(len(texts), -1)]
    for form in (pa.array(texts), pa.chunked_array([texts[:2], texts[2:]]), pa.array(texts).dictionary_encode()):
        found = _tasks.fingerprints_of(form, arguments).to_pylist()
        assert [item.to_bytes(8, "big") if isinstance(item, int) else item for item in found] == expected


def test_nearness() -> None:
    """A distance, that of MinHashes of a similarity, or a default."""
    assert [Nearness(None, None, None).within(4), Nearness(None, None, None).within(4, 9)] == [3, 9]
    assert Nearness(5, None, None).within(1, 9) == 5
    for recall in (None, 0.9):
        distance = sstore.minhash_distance(0.8, 256, recall=recall or 0.99)
        assert Nearness(None, 0.8, recall).within(4, 9) == distance
    Nearness(None, 0.8, None).check_recipe("build", sstore.text_recipe(hash="minhash"))
    Nearness(3, None, None).check_recipe("build", "pdq")
    for call, message in (
        (lambda: Nearness(3, 0.8, None), "similarity: cannot be combined with distance"),
        (lambda: Nearness(3, None, 0.9), "recall: only with similarity="),
        (lambda: Nearness(None, 0.3, None).within(4), "of 256 bits it can be at most 64"),
        (lambda: Nearness(None, 0.8, None).check_recipe("build", "pdq"), "build: similarity= needs MinHashes"),
    ):
        with pytest.raises(sstore.ArgumentError, match=message):
            call()
