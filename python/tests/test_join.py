"""Joins and components for the tasks of a cluster, against brute force."""

from __future__ import annotations

import pathlib
from collections.abc import Iterable
from typing import Any, Optional

import numpy as np
import pytest
from brute import Words, brute_pairs, clustered, roots

import sstore


def rows_of(batches: Iterable[sstore.Pairs]) -> list[tuple[int, ...]]:
    rows: list[tuple[int, ...]] = []
    for batch in batches:
        columns = (batch.fingerprint, batch.id, batch.other_fingerprint, batch.other_id)
        rows += zip(*(column.tolist() for column in columns))
        assert batch.distance.tolist() == [bin(a ^ b).count("1") for a, _, b, _ in rows[len(rows) - len(batch) :]]
    return rows


def join_in_parts(fps: Words, ids: Words, distance: int, task_count: int, part_count: int) -> list[tuple[int, ...]]:
    """As a cluster does it: a table's keys are distributed to tasks, and the records of a task to parts."""
    found: list[tuple[int, ...]] = []
    for table in range(distance + 1):
        keys = sstore.join_keys(fps, table, distance)
        parts = (fps * np.uint64(31) + ids) % np.uint64(part_count)
        for task in range(task_count):
            chosen = [np.flatnonzero((keys % np.uint64(task_count) == task) & (parts == p)) for p in range(part_count)]
            for a, left in enumerate(chosen):
                batches = sstore.join_records(fps[left], ids[left], table=table, distance=distance, batch_size=7)
                found += rows_of(batches)
                for right in chosen[:a]:
                    pairs = rows_of(
                        sstore.join_records(
                            fps[left], ids[left], fps[right], ids[right], table=table, distance=distance
                        )
                    )
                    found += [min((p[:2], p[2:]), (p[2:], p[:2]))[0] + max(p[:2], p[2:]) for p in pairs]
    return found


@pytest.mark.parametrize("distance", [0, 3, 6, 16])
def test_join_records(rng: np.random.Generator, distance: int) -> None:
    fps = clustered(rng, 600)
    ids = rng.integers(0, 100, 600, dtype=np.uint64)
    found = join_in_parts(fps, ids, distance, 3, 2)
    assert len(found) == len(set(found))
    assert set(found) == brute_pairs(fps, ids, distance)


def test_spanning_joins_and_components(rng: np.random.Generator, folder: pathlib.Path) -> None:
    fps = np.concatenate([clustered(rng, 500), np.full(200, 7, np.uint64)])
    ids = rng.permutation(len(fps)).astype(np.uint64)
    all_edges = [(a, b) for _, a, _, b in brute_pairs(fps, ids, 4)]
    expected = roots(all_edges)
    spanning = [
        (batch.id, batch.other_id)
        for table in range(5)
        for batch in sstore.join_records(fps, ids, table=table, distance=4, spanning=True)
    ]
    assert sum(len(a) for a, _ in spanning) < len(all_edges) // 4
    for memory, threads in ((None, 0), ("8M", 1)):
        found: dict[int, int] = {}
        for batch in sstore.components(spanning, memory=memory, threads=threads, tmp_dir=folder, batch_size=100):
            assert len(batch) <= 100 and list(batch) == ["node", "smallest"]
            found.update(zip(batch.node.tolist(), batch.smallest.tolist()))
        assert found == expected and list(found) == sorted(found)
    assert list(sstore.components([])) == []


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("table", [0, None])
def test_ids_of_join_records_are_not_doubted(rng: np.random.Generator, table: Optional[int]) -> None:
    fps = rng.integers(0, 2**64, 330, dtype=np.uint64)
    list(sstore.join_records(fps, range(330), fps, range(1000, 1330), table=table))


def test_given_up(rng: np.random.Generator) -> None:
    """A join that is given up stops, however many pairs are left."""
    fps = np.full(3000, 5, np.uint64)
    batches = sstore.join_records(fps, range(3000), table=0, batch_size=100)
    assert len(next(batches)) == 100
    batches.close()  # type: ignore[attr-defined]


def test_shard_numbers(rng: np.random.Generator, folder: pathlib.Path) -> None:
    fps = np.unique(clustered(rng, 2000))
    numbers = sstore.shard_numbers(fps, 3)
    sstore.build(folder / "all", fps, no_ids=True)
    for shard in range(3):
        sstore.shard(folder / f"shard{shard}", folder / "all", shard, 3)
        assert sstore.open(folder / f"shard{shard}").records().fingerprint.tolist() == fps[numbers == shard].tolist()


def test_wrong_arguments() -> None:
    call: Any
    for call in (
        lambda: sstore.join_keys([1], 4, 3),
        lambda: sstore.join_keys([1], 0, 17),
        lambda: list(sstore.join_records([1], table=4)),
        lambda: sstore.join_records([1], [1, 2], table=0),
        lambda: list(sstore.join_records([1], None, [1], table=0, spanning=True)),
        lambda: sstore.components([([1], [1, 2])]),
        lambda: sstore.shard_numbers([1], 0),
        lambda: sstore.components([], batch_size=0),
        lambda: sstore.join_records([1], table=0, batch_size=0),
    ):
        with pytest.raises(sstore.ArgumentError):
            call()


def test_components_of_a_long_chain() -> None:
    """Long enough for reports of progress, of which a bar takes the phase."""
    count = 1_500_000
    nodes = np.arange(count + 1, dtype=np.uint64)
    phases = []
    found = list(sstore.components([(nodes[:-1], nodes[1:])], threads=1, progress=lambda now: phases.append(now.phase)))
    assert sum(map(len, found)) == count + 1 and not any(part.smallest.any() for part in found)
    assert set(phases) == {"connecting"}
