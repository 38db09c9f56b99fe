"""Answers that are merged: of several stores, and of groups of queries, such as the rotations of a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from sstore._arrays import Words
from sstore._columns import BatchMatches, GroupMatches
from sstore._errors import ArgumentError
from sstore._strings import Strings, joined

_COMPARED = 1 << 20  # pairs of a match and a query at a time

_Rows = npt.NDArray[np.intp]


def group_numbers(groups: Any, count: int) -> _Rows:
    """The number of the group of each query, from 0: consecutive queries with the same value are a group."""
    if groups is None:
        return np.zeros(count, np.intp)
    given = np.asarray(groups)
    if given.shape != (count,):
        raise ArgumentError(
            f"groups: expected {count} numbers or strings, one for each fingerprint, found the shape {given.shape}"
        )
    numbers = np.zeros(count, np.intp)
    numbers[1:] = np.cumsum(given[1:] != given[:-1])
    return numbers


def are_texts(groups: Any) -> bool:
    """Whether groups are strings, not numbers."""
    given = np.asarray(groups)
    return given.dtype.kind in "UST" or (given.dtype.kind == "O" and any(isinstance(g, (str, bytes)) for g in given))


def _keys(column: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    """A column as keys of np.lexsort(), which takes the last one first."""
    return [column] if column.ndim == 1 else list(column.T[::-1])


def _changes(column: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Whether each row but the first differs from the one before it."""
    differs: npt.NDArray[np.bool_] = column[1:] != column[:-1]
    return differs if column.ndim == 1 else np.asarray(differs.any(axis=1))


def _near_counts(found: Words, queries: Words, groups: _Rows, numbers: _Rows, distance: int) -> Words:
    """How many queries of the group of each match, `groups`, are near its fingerprint."""
    sizes = np.bincount(numbers)
    begins = np.cumsum(sizes) - sizes
    counts = np.zeros(len(found), np.uint64)
    begin = 0
    while begin < len(found):
        ends = np.cumsum(sizes[groups[begin:]])
        end = begin + max(int(np.searchsorted(ends, _COMPARED)), 1)
        each, starts = sizes[groups[begin:end]], begins[groups[begin:end]]
        firsts = np.cumsum(each) - each
        rows = np.repeat(starts - firsts, each) + np.arange(each.sum())
        differing = np.repeat(found[begin:end], each, axis=0) ^ queries[rows]
        bits = np.unpackbits(differing.reshape(len(rows), -1).view(np.uint8), axis=1).sum(axis=1)
        counts[begin:end] = np.add.reduceat(bits <= distance, firsts)
        begin = end
    return counts


def _firsts(groups: Words, limit: int) -> npt.NDArray[np.bool_]:
    """The first rows of each group, whose numbers ascend."""
    kept: npt.NDArray[np.bool_] = np.arange(len(groups)) - np.searchsorted(groups, groups) < limit
    return kept


def of_stores(parts: Sequence[BatchMatches], limit: Optional[int]) -> dict[str, Any]:
    """The matches of the same queries in several stores as those of one, with the column store_index."""
    columns: dict[str, Any] = {}
    for name in parts[0].columns:
        given: Any = [part.columns[name] for part in parts]
        columns[name] = joined(given) if isinstance(given[0], Strings) else np.concatenate(given)
    columns["store_index"] = np.repeat(np.arange(len(parts), dtype=np.uint64), [len(part) for part in parts])
    order = ("query_index", "distance", "fingerprint", "id", "store_index")
    rows = np.lexsort([key for name in reversed(order) if name in columns for key in _keys(columns[name])])
    if limit is not None:
        rows = rows[_firsts(columns["query_index"][rows], limit)]
    return {name: column[rows] for name, column in columns.items()}


def of_groups(found: BatchMatches, queries: Words, numbers: _Rows, distance: int, limit: Optional[int]) -> GroupMatches:
    """The matches of queries as those of their groups: each record once, with its nearest query.

    Args:
        found: of each query the first `limit` matches, or all.
        queries: all of them; numbers: their groups.
    """
    columns = dict(found.columns)
    columns["group_index"] = numbers[columns["query_index"].astype(np.intp)].astype(np.uint64)
    record = [columns[name] for name in ("group_index", "fingerprint", "id", "store_index") if name in columns]
    keys = [key for column in reversed(record) for key in _keys(column)]
    order = np.lexsort((columns["query_index"], columns["distance"], *keys))
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = np.logical_or.reduce([_changes(column[order]) for column in record])
    firsts = np.flatnonzero(is_first)
    columns["query_count"] = np.zeros(len(order), np.uint64)
    columns["query_count"][order[firsts]] = np.diff(np.append(firsts, len(order)))
    rows = order[firsts]
    rows = rows[np.lexsort((*[key[rows] for key in keys[:-1]], columns["distance"][rows], keys[-1][rows]))]
    if limit is not None:
        rows = rows[_firsts(columns["group_index"][rows], limit)]
        kept = columns["group_index"][rows].astype(np.intp)
        columns["query_count"][rows] = _near_counts(columns["fingerprint"][rows], queries, kept, numbers, distance)
    names = ["group_index", "query_index", "fingerprint", "id", "name", "distance", "store_index", "query_count"]
    return GroupMatches({name: columns[name][rows] for name in names if name in columns})
