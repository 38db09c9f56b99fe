"""Insert a record if it is new."""

from __future__ import annotations

import time
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from sstore._arrays import ArrayLike, pointer, words
from sstore._call import Call, PathLike, ProgressOption, Size, encode, result
from sstore._errors import NotFoundError
from sstore._native import ffi, lib
from sstore._write import Change, build, change_of, shared_options

# Records that are offered between two looks for signals: as many as take about a tenth of a second.
_MIN_SLICE = 1 << 8
_MAX_SLICE = 1 << 18
_SLICE_SECONDS = 0.1


class Deduplicator:
    """Say of each record whether a near one was seen before, and insert it if not.

        with sstore.Deduplicator("seen.store", distance=3) as seen:
            is_new = seen.offer(fingerprints)

    If the block raises, the records since the last publication are lost. A child of fork() cannot use it, and keeps the
    store locked until it ends.

    New records wait in memory until they are published: by publish(), when they take an eighth of the memory, after
    publish_every records, or at the end of the block. Only one process can write to a store at a time.

    Args:
        path: the store. If there is none, an empty one is built, for the given distance (None: 3).
        distance: a record is new if none is within it, 0 to 16 bits; None: the store's own.
        with_ids: of a new store.
        compact: keep the number of segments small by compacting after each publication.
        publish_every: publish after this many new records; None: as many as fit.
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
        self._slice = _MIN_SLICE
        self._call = Call(progress)
        options = self._call.options(
            "sstore_dedup_options",
            distance=lib.SSTORE_OWN_DISTANCE if distance is None else distance,
            compact=compact,
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
                recipe=recipe,
            )
            self._native = self._open(path, options)

    def _open(self, path: PathLike, options: Any) -> Any:
        return self._call.create(
            "sstore_dedup", lib.sstore_dedup_close, lib.sstore_dedup_open, encode(path), options, own=True
        )

    def _use(self) -> Any:
        self._call.check_usable()
        if self._native is None:
            raise ValueError("the deduplicator is closed")
        return self._native

    def offer(self, fingerprints: ArrayLike, ids: Optional[ArrayLike] = None) -> npt.NDArray[np.bool_]:
        """Insert each record that is new, one after the other.

        A record is new if neither a record of the store nor one that was inserted before it, also in this call, is
        within the distance. Without ids, new records get the ids from the store's next id on.

        Returns:
            Whether each record was new: bool, shape (n,).
        """
        array = words(fingerprints, "fingerprints")
        id_array = None if ids is None else words(ids, "ids")
        if id_array is not None and len(id_array) != len(array):
            raise ValueError(f"expected as many ids as fingerprints, found {len(id_array)} and {len(array)}")
        is_new = np.zeros(len(array), np.bool_)
        begin = 0
        while begin < len(array):
            end = begin + self._slice
            part = array[begin:end]
            id_part = None if id_array is None else id_array[begin:end]
            started = time.perf_counter()
            with self._call.lock:
                self._call.check(
                    lib.sstore_dedup_insert(
                        self._use(),
                        pointer(part),
                        pointer(id_part),
                        len(part),
                        ffi.from_buffer("bool[]", is_new[begin:end], require_writable=True),
                        ffi.NULL,
                        ffi.NULL,
                        self._call.error,
                    )
                )
            if time.perf_counter() - started > _SLICE_SECONDS:
                self._slice = max(self._slice // 2, _MIN_SLICE)
            elif len(part) == self._slice:
                self._slice = min(self._slice * 2, _MAX_SLICE)
            begin = end
        return is_new

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
        return self

    def __exit__(self, kind: Optional[type[BaseException]], *_: object) -> None:
        try:
            if kind is None and self._native is not None:
                self.publish()
        finally:
            self.close()
