"""The tasks of a cluster against brute force, without a cluster."""

from __future__ import annotations

import numpy as np
import pytest
from brute import Words, brute_pairs, clustered, roots
from test_join import rows_of

import sstore
from sstore import _tasks
from sstore._tasks import Cells


def shuffle(cells: list[Cells], task_count: int) -> list[Cells]:
    """The cells of each task."""
    whole = {name: np.concatenate([getattr(cell, name) for cell in cells]) for name in Cells.__dataclass_fields__}
    tasks = whole["cell"] % np.uint64(task_count)
    return [Cells(**{n: c[tasks == task] for n, c in whole.items()}) for task in range(task_count)]


def near_pairs(fps: Words, ids: Words, distance: int, limit: int, spanning: bool) -> tuple[list[sstore.Pairs], int]:
    halves = slice(0, 300), slice(300, None)
    parts = _tasks.parts_of(np.sum([_tasks.count_keys(fps[half], distance) for half in halves], axis=0), limit)
    cells = [cell for half in halves for cell in _tasks.make_cells(fps[half], ids[half], distance, parts)]
    found = []
    largest = 0
    for task in shuffle(cells, 5):
        if len(task.cell) > 0:
            largest = max(largest, int(np.unique(task.cell[task.pair != 0], return_counts=True)[1].max(initial=0)))
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
