"""Near records of stored ones: the matches of several fingerprints as one result, without these records themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Optional

import numpy as np

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
