"""Insert a record if it is new."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from sstore._arrays import ArrayLike, Words, pointer, words
from sstore._call import Call, PathLike, ProgressOption, Size, encode, result
from sstore._columns import MATCH_COLUMNS, BatchMatches, Buffers
from sstore._errors import ArgumentError, NotFoundError
from sstore._native import ffi, lib
from sstore._store import Store
from sstore._write import Change, build, change_of, shared_options

_Flags = npt.NDArray[np.bool_]

# Records that are offered between two looks for signals: as many as take about a tenth of a second.
_MIN_SLICE = 1 << 8
_MAX_SLICE = 1 << 18
_SLICE_SECONDS = 0.1


@dataclass(frozen=True)
class Answers:
    """The answers for n offered records.

    Attributes:
        is_new: whether each record was new, and was inserted: bool, shape (n,).
        id: the id of each new record, given or assigned; of the others 0: uint64, shape (n,).
        matches: the records near those that were not new. `query` is the index of the offered record.
    """

    is_new: _Flags
    id: Words
    matches: BatchMatches


class Deduplicator:
    """Insert each record that is new: that has no other record near it.

        with sstore.Deduplicator("seen.store", distance=3) as seen:
            is_new = seen.offer(fingerprints)

    New records wait in memory until they are published: by publish(), when they take an eighth of the memory, after
    publish_every records, or at the end of the block. If the block raises, the records that wait are lost.

    All threads may use it; their calls wait for each other. Only one object can write to a store at a time. A child of
    fork() cannot use it, and keeps the store locked until it ends.

    Args:
        path: the store. If there is none, an empty one is built, for the given distance (None: 3), block_size and plan.
        distance: a record is new if none is within it, 0 to 16 bits; None: the store's own.
        with_ids: of a new store. Given ids are ignored by a store without ids.
        compact: keep the number of segments small: compact(tiered=True) after each publication.
        publish_every: publish after this many new records; None: as many as fit into an eighth of the memory.
        check_ids: count conflicts in the Change of publish(), as add() does.
        The other arguments are those of add().

    Raises:
        BusyError: another process is writing to the store.
        RecipeError, DamagedError, ArgumentError, FileError, OutOfMemoryError
    """

    def __init__(
        self,
        path: PathLike,
        distance: Optional[int] = None,
        *,
        with_ids: bool = True,
        compact: bool = True,
        publish_every: Optional[int] = None,
        check_ids: bool = False,
        plan: Optional[str] = None,
        recipe: Optional[str] = None,
        memory: Optional[Size] = None,
        threads: int = 0,
        tmp_dir: Optional[PathLike] = None,
        block_size: Optional[Size] = None,
        ignore_free_space: bool = False,
        progress: ProgressOption = False,
    ) -> None:
        self._native: Optional[Any] = None
        self._path = os.path.abspath(os.fsdecode(path))
        self._has_ids: Optional[bool] = None
        self._slice = _MIN_SLICE
        self._call = Call(progress)
        options = self._call.options(
            "sstore_dedup_options",
            distance=lib.SSTORE_OWN_DISTANCE if distance is None else distance,
            compact=compact,
            check_ids=check_ids,
            publish_every=publish_every or 0,
            plan=plan,
            recipe=recipe,
            **shared_options(memory, threads, tmp_dir, block_size, ignore_free_space),
        )
        try:
            self._native = self._open(path, options)
        except NotFoundError:
            build(
                path,
                np.empty(0, np.uint64),
                distance=3 if distance is None else distance,
                with_ids=with_ids,
                plan=plan or "auto",
                recipe=recipe,
                block_size=block_size,
            )
            self._native = self._open(path, options)

    def _open(self, path: PathLike, options: Any) -> Any:
        return self._call.create(
            "sstore_dedup", lib.sstore_dedup_close, lib.sstore_dedup_open, encode(path), options, own=True
        )

    def _use(self) -> Any:
        self._call.check_usable()
        if self._native is None:
            raise ArgumentError("the deduplicator is closed")
        return self._native

    def offer(self, fingerprints: ArrayLike, ids: Optional[ArrayLike] = None) -> _Flags:
        """Insert each record that is new, one after the other.

        A record is new if neither a record of the store nor one that was inserted before it, also in this call, is
        within the distance. Without ids, new records get the ids from the store's next id on.

        Returns:
            Whether each record was new: bool, shape (n,).

        Raises:
            DamagedError, FileError, OutOfMemoryError: the records before the failing one were inserted.
        """
        return self._insert(fingerprints, ids, None)[0]

    def offer_and_match(self, fingerprints: ArrayLike, ids: Optional[ArrayLike] = None) -> Answers:
        """The same as offer(), with the ids of new records and the matches of the others."""
        if self._has_ids is None:
            with Store(self._path, io="pread") as store:
                self._has_ids = store.has_ids
        columns = Buffers(MATCH_COLUMNS)
        is_new, new_ids = self._insert(fingerprints, ids, columns)
        matches = BatchMatches({n: c for n, c in columns.take().items() if self._has_ids or n != "id"})
        matches.query_count = len(is_new)
        return Answers(is_new, new_ids, matches)

    def _insert(
        self, fingerprints: ArrayLike, ids: Optional[ArrayLike], columns: Optional[Buffers]
    ) -> tuple[_Flags, Words]:
        array = words(fingerprints, "fingerprints")
        id_array = None if ids is None else words(ids, "ids")
        if id_array is not None and len(id_array) != len(array):
            raise ArgumentError(f"ids: expected as many as fingerprints, found {len(id_array)} and {len(array)}")
        is_new = np.zeros(len(array), np.bool_)
        new_ids = np.zeros(0 if columns is None else len(array), np.uint64)
        begin = 0
        while begin < len(array):
            end = begin + self._slice
            part = array[begin:end]
            id_part = None if id_array is None else id_array[begin:end]
            started = time.perf_counter()
            with self._call.lock:
                self._call.check(
                    lib.sspy_dedup_insert(
                        self._use(),
                        pointer(part),
                        pointer(id_part),
                        len(part),
                        begin,
                        ffi.from_buffer("bool[]", is_new[begin:end], require_writable=True),
                        pointer(new_ids[begin:end]),
                        ffi.NULL if columns is None else columns.native,
                        self._call.error,
                    )
                )
            if time.perf_counter() - started > _SLICE_SECONDS:
                self._slice = max(self._slice // 2, _MIN_SLICE)
            elif len(part) == self._slice:
                self._slice = min(self._slice * 2, _MAX_SLICE)
            begin = end
        return is_new, new_ids

    def publish(self) -> Change:
        """Publish the records that wait, durably, so that readers see them and they survive a power cut.

        Returns:
            The sum of all changes of this object.
        """
        change = result("sstore_change")
        with self._call.lock:
            self._call.check(lib.sstore_dedup_publish(self._use(), change, self._call.error))
        return change_of(change)

    @property
    def new_count(self) -> int:
        """The number of records that were new so far."""
        with self._call.lock:
            return int(lib.sstore_dedup_new_count(self._use()))

    @property
    def pending_count(self) -> int:
        """The number of these that wait to be published."""
        with self._call.lock:
            return int(lib.sstore_dedup_pending_count(self._use()))

    def close(self) -> None:
        """Close the store. Records that wait are lost: publish() before."""
        self._native = None
        self._call.end(True)

    def __enter__(self) -> Deduplicator:
        self._use()
        return self

    def __repr__(self) -> str:
        if self._native is None:
            return f"<sstore.Deduplicator {self._path!r}, closed>"
        return f"<sstore.Deduplicator {self._path!r}: {self.new_count:,} new records, {self.pending_count:,} wait>"

    def __exit__(self, kind: Optional[type[BaseException]], *_: object) -> None:
        try:
            if kind is None and self._native is not None:
                self.publish()
        finally:
            self.close()
