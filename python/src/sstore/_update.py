"""The store to which dedup() adds the rows that it keeps."""

from __future__ import annotations

import os
from typing import Any, Optional, Union

import numpy as np
import numpy.typing as npt

from sstore._arrays import Words
from sstore._call import Call, PathLike
from sstore._doubt import DoubtWarning, warn
from sstore._errors import ArgumentError
from sstore._native import lib
from sstore._rows import Piece, labels
from sstore._store import Store
from sstore._strings import joined
from sstore._write import Builder, Change, Writer, shared_options, warn_of_conflicts


class Label:
    """The ids or the names of all rows, which come at once or in chunks.

    Attributes:
        kind: "ids" or "names".
        given: all of them, or the name of a column.
    """

    def __init__(self, kind: str, given: Any) -> None:
        self.kind = kind
        self.given = given
        self._parts: list[Any] = []
        self._count = 0

    def take(self, values: Any) -> None:
        """Take those of the next rows, into memory of their own: a chunk also has other columns."""
        part: Any = labels(values, self.kind, self._count)
        self._parts.append(part.copy())
        self._count += len(part)

    def check(self, row_count: int) -> None:
        if self._count != row_count:
            raise ArgumentError(f"{self.kind}: expected as many as there are rows, found {self._count} and {row_count}")

    def of(self, rows: npt.NDArray[np.int64]) -> Any:
        """Those of some rows."""
        if len(self._parts) != 1:
            whole: Any = joined(self._parts) if self.kind == "names" else np.concatenate(self._parts)
            self._parts = [whole]
        return self._parts[0][rows]


class Update:
    """A store that gets more records, and is locked from the beginning; or a new one.

    Attributes:
        exists: whether there is something at the path.
        labels: the ids and the names of the rows, as far as they are given.
    """

    def __init__(self, path: PathLike, ids: Any, names: Any, **shared: Any) -> None:
        self.path = path
        self.exists = os.path.lexists(path)
        self.labels = [Label(kind, given) for kind, given in (("ids", ids), ("names", names)) if given is not None]
        self._shared = shared
        self._writer: Union[Writer, Builder, None] = None
        self._rows: list[npt.NDArray[np.int64]] = []
        self._fingerprints: list[Words] = []
        if self.exists:
            call = Call()
            options = call.options("sstore_write_options", check_ids=True, **shared_options(**shared))
            self._writer = Writer(call, "sstore_builder", lib.sstore_builder_create_addition, path, options)

    def _gives(self, kind: str) -> bool:
        return any(label.kind == kind for label in self.labels)

    def check(self, store: Store) -> None:
        """Refuse records that do not fit the store."""
        if store.has_names and not self._gives("names"):
            raise ArgumentError("update: the store has names: names= says those of the rows")
        if not store.has_names and self._gives("names"):
            raise ArgumentError("names: the store has no names; leave them out, or build a store with names")
        if not store.has_ids and self._gives("ids"):
            warn("the store has no ids, so the given ones are ignored", DoubtWarning)

    def begin(self, distance: int, count: Optional[int], recipe: Optional[str]) -> None:
        """Begin a new store, of fingerprints of `count` words if that is known."""
        bits = None if count is None else 64 * count
        self._writer = Builder(
            self.path, distance=distance, bits=bits, names=self._gives("names"), recipe=recipe, **self._shared
        )

    def take(self, rows: npt.NDArray[np.int64], fingerprints: Words) -> None:
        """Take rows that may be kept. Their fingerprints may stand in a chunk that also has other columns."""
        self._rows.append(rows)
        self._fingerprints.append(fingerprints if fingerprints.base is None else fingerprints.copy())

    def finish(self, is_kept: npt.NDArray[np.bool_]) -> Optional[Change]:
        """Add those that are kept, and publish them. None: no store was made, since without any fingerprint its width
        is unknown."""
        writer, piece = self._writer, self._kept(is_kept) if self._fingerprints else None
        assert writer is not None
        if isinstance(writer, Builder):
            if piece is None and writer._words is None:
                return None
            if piece is not None:
                writer._give(piece)
        elif piece is not None:
            writer.give_records(piece, piece.ids)
        change = writer.finish()
        self._writer = None
        warn_of_conflicts(change)
        return change

    def _kept(self, is_kept: npt.NDArray[np.bool_]) -> Piece:
        rows, fingerprints = np.concatenate(self._rows), np.concatenate(self._fingerprints)
        chosen = is_kept[rows]
        rows = rows[chosen]
        made = {label.kind: label.of(rows) for label in self.labels}
        return Piece(fingerprints[chosen], made.get("ids"), None, len(rows), None, made.get("names"))

    def abort(self) -> None:
        """Give up, unless it is finished. The store is as it was."""
        if self._writer is not None:
            self._writer.abort()
