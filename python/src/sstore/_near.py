"""Near records of stored ones: the matches of several fingerprints as one result, without these records themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from sstore._arrays import Words
from sstore._columns import FoundRecords, Matches

#: Asks for the matches of a fingerprint, the first `limit` ones.
Ask = Callable[[Any, Optional[int]], Matches]


def _joined(parts: Sequence[Matches]) -> dict[str, Any]:
    """The matches of several queries, each record once with its smallest distance, in the order of one query."""
    columns = {name: np.concatenate([part.columns[name] for part in parts]) for name in parts[0].columns}
    if len(parts) == 1:
        return columns
    keys = np.column_stack([columns["fingerprint"], columns["id"]])
    order = np.lexsort((*keys.T[::-1], columns["distance"]))
    _, firsts = np.unique(keys[order], axis=0, return_index=True)
    rows = order[np.sort(firsts)]
    return {name: column[rows] for name, column in columns.items()}


def _without(found: Matches, ids: Optional[Words]) -> Matches:
    if ids is None:
        return found
    rows = ~np.isin(found.id, ids)
    return Matches({name: column[rows] for name, column in found.columns.items()})


class Stored:
    """Records of a store that a query begins with.

    Args:
        records: these, at least one.
        exclude_self: leave them out of the answer. If they have one id, the caller leaves it out: `excluded_id`.
    """

    def __init__(self, records: FoundRecords, exclude_self: bool) -> None:
        fingerprints, ids = records.fingerprint, records.id
        self.fingerprints = list(np.unique(fingerprints, axis=0) if len(records) > 1 else fingerprints)
        own_ids = np.unique(ids) if exclude_self else ids[:0]
        self.excluded_id = int(own_ids[0]) if len(own_ids) == 1 else None
        self._ids = own_ids if len(own_ids) > 1 else None
        self._own_count = len(records) if len(own_ids) > 1 else 0

    @property
    def is_simple(self) -> bool:
        """Whether one query answers it."""
        return len(self.fingerprints) == 1 and self._ids is None

    def _ask(self, ask: Ask, limit: Optional[int]) -> Iterable[Matches]:
        wanted = None if limit is None else limit + self._own_count
        return (_without(ask(fingerprint, wanted), self._ids) for fingerprint in self.fingerprints)

    def matches(self, ask: Ask, limit: Optional[int]) -> Matches:
        """The first `limit` matches of all fingerprints, or all."""
        columns = _joined(list(self._ask(ask, limit)))
        return Matches({name: column[:limit] for name, column in columns.items()})

    def smallest_distance(self, ask: Ask) -> Optional[int]:
        """That of the nearest match; None: there is none."""
        return min((int(found.distance[0]) for found in self._ask(ask, 1) if len(found) > 0), default=None)


# ----- queries of a batch that leave out the records of a name -----

_PAIR = np.dtype([("query", np.uint64), ("id", np.uint64)])


def _pairs(queries: npt.NDArray[Any], ids: npt.NDArray[Any]) -> npt.NDArray[Any]:
    made = np.empty(len(ids), _PAIR)
    made["query"], made["id"] = queries, ids
    return made


class Excluded:
    """The ids of the name of each query. The library leaves out one for each; `matches` leave out the others.

    Attributes:
        ids: of each query the smallest one.

    Args:
        records: of the names.
        query_count: of the queries.
        unused_id: finds an id that no record has, for names that the store does not have.
    """

    def __init__(self, records: FoundRecords, query_count: int, unused_id: Callable[[], int]) -> None:
        pairs, counts = np.unique(_pairs(records.query_index, records.id), return_counts=True)
        named, firsts = np.unique(pairs["query"], return_index=True)
        self.ids: Words = np.zeros(query_count, np.uint64)
        if len(named) < query_count:
            self.ids[:] = unused_id()
        self.ids[named.astype(np.intp)] = pairs["id"][firsts]
        is_other = np.ones(len(pairs), np.bool_)
        is_other[firsts] = False
        self._others = pairs[is_other]
        sizes = np.bincount(self._others["query"].astype(np.intp), counts[is_other])
        self._record_count = int(sizes.max(initial=0))

    def limit(self, limit: int) -> int:
        """How many matches of each query the library has to find, so that so many stay; 0: all."""
        return min(limit + self._record_count, (1 << 64) - 1) if limit > 0 else 0

    def matches(self, limit: int) -> Callable[[dict[str, npt.NDArray[Any]]], dict[str, npt.NDArray[Any]]]:
        """What leaves matches out, batch by batch, and keeps the first `limit` of each query, or all if it is 0."""
        last, count = -1, 0  # the last query so far, and its matches that stay

        def sift(columns: dict[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
            nonlocal last, count
            is_kept = np.ones(len(columns["id"]), np.bool_)
            rows = np.flatnonzero(np.isin(columns["query_index"], self._others["query"]))
            is_kept[rows] = ~np.isin(_pairs(columns["query_index"][rows], columns["id"][rows]), self._others)
            columns = {name: column[is_kept] for name, column in columns.items()}
            queries = columns["query_index"]
            if limit == 0 or len(queries) == 0:
                return columns
            ranks = np.arange(len(queries)) - np.searchsorted(queries, queries)
            ranks[queries == last] += count
            last, count = int(queries[-1]), int(ranks[-1]) + 1
            return {name: column[ranks < limit] for name, column in columns.items()}

        return sift if len(self._others) > 0 else lambda columns: columns
