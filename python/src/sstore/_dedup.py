"""Insert a record if it is new."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any, NamedTuple, Optional, Union

import numpy as np
import numpy.typing as npt

from sstore._arrays import MAX_WORDS, ArrayLike, Words, empty, pointer, word_count
from sstore._call import Call, PathLike, ProgressOption, Size, encode, flag_of, limit_of, result
from sstore._columns import MATCH_COLUMNS, BatchMatches, Buffers, wide
from sstore._doubt import SkipBad, bad_rows_of
from sstore._errors import ArgumentError, NotFoundError
from sstore._native import ffi, lib
from sstore._rows import Piece, asked_ids, pieces
from sstore._store import Store, build_distance_or_own, names_of
from sstore._strings import Strings, StringsLike
from sstore._write import Change, Wait, build, change_of, given_names, shared_options, warn_of_conflicts

_Flags = npt.NDArray[np.bool_]

# Records that are offered between two checks for signals: as many as take about a tenth of a second.
_MIN_SLICE = 1 << 8
_MAX_SLICE = 1 << 18
_SLICE_SECONDS = 0.1


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers for n offered records.

    Attributes:
        is_new: whether each record was new, and was inserted: bool, shape (n,).
        id: the id of each new record, given or assigned; of the others 0: uint64, shape (n,).
        matches: the records near those that were not new. `query_index` is that of the offered record. In a store with
            names they have the column name.
    """

    is_new: _Flags
    id: Words
    matches: BatchMatches


class _Inserted(NamedTuple):
    """The answers for the rows that could be read, and the numbers of these rows among all."""

    is_new: _Flags
    new_ids: Words
    rows: npt.NDArray[np.int64]
    row_count: int

    def of_rows(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values of these rows as values of all; those of others are 0."""
        made = np.zeros(self.row_count, values.dtype)
        made[self.rows] = values
        return made


class Deduplicator:
    """Insert each record that is new: that has no other record near it.

        with sstore.Deduplicator("seen.store", distance=3) as seen:
            is_new = seen.offer(fingerprints)

    New records wait in memory until they are published: by publish(), when they take an eighth of the memory, after
    publish_every records, by close(), or at the end of the block. If the block raises, the records that wait are lost.

    All threads may use it; their calls wait for each other. Only one object can write to a store at a time. A child of
    fork() cannot use it, and keeps the store locked until it ends.

    Args:
        path: the store. If there is none, an empty one is built, for the given distance (None: 3), bits, block_size and
            plan.
        distance: a record is new if none is within it, 0 to 16 bits for each word; None: the store's own.
        bits: of a fingerprint of a new store; None: 64. An existing store must have as many, if it is given.
        no_ids: of a new store. Given ids are ignored by a store without ids.
        names: True: a new store has names, and offer() takes one for each record. An existing store has them or not.
        no_compact: leave the segments of the store as they are, as with add().
        publish_every: publish after this many new records; None: as many as fit into an eighth of the memory.
        limit: of the matches of a record, offer_and_match() finds only the first ones, at least 1; None: all. Of a
            fingerprint with many ids, no more are read. offer() reads no more than one.
        check_ids: count conflicts in the Change of publish(), as add() does, and warn of them.
        The other arguments are those of add().

    Raises:
        BusyError: another process, or another object of this one, is writing to the store.
        NotFoundError: there is no folder at tmp_dir.
        RecipeError, DamagedError, UnsupportedError, ArgumentError, FileError, OutOfMemoryError
    """

    def __init__(
        self,
        path: PathLike,
        distance: Optional[int] = None,
        *,
        bits: Optional[int] = None,
        no_ids: bool = False,
        names: bool = False,
        no_compact: bool = False,
        publish_every: Optional[int] = None,
        limit: Optional[int] = None,
        check_ids: bool = True,
        plan: Optional[str] = None,
        recipe: Optional[str] = None,
        memory: Optional[Size] = None,
        threads: int = 0,
        tmp_dir: Optional[PathLike] = None,
        block_size: Optional[Size] = None,
        ignore_free_space: bool = False,
        wait: Wait = 0,
        progress: ProgressOption = False,
    ) -> None:
        self._native: Optional[Any] = None
        self._path = os.path.abspath(os.fsdecode(path))
        self._slice = _MIN_SLICE
        self._conflict_count = 0
        self._call = Call(progress)
        wanted = None if bits is None else word_count(bits)
        options = self._call.options(
            "sstore_write_options",
            distance=build_distance_or_own(distance, wanted or MAX_WORDS),
            no_compact=flag_of(no_compact, "no_compact"),
            check_ids=check_ids,
            publish_every=0 if publish_every is None else publish_every,
            limit=limit_of(limit),
            plan=plan,
            recipe=recipe,
            **shared_options(memory, threads, tmp_dir, block_size, ignore_free_space, wait),
        )
        try:
            self._native = self._open(path, options)
        except NotFoundError:
            if tmp_dir is not None and not os.path.isdir(tmp_dir):
                raise NotFoundError(f"{os.fsdecode(tmp_dir)}: there is no such folder for tmp_dir") from None
            build(
                path,
                empty(wanted or 1),
                bits=bits,
                distance=3 if distance is None else distance,
                no_ids=no_ids,
                names=[] if flag_of(names, "names") else False,
                plan=plan or "auto",
                recipe=recipe,
                block_size=block_size,
                wait=wait,
            )
            self._native = self._open(path, options)
        with Store(path, io="pread") as store:
            self._words, self._has_ids, self._has_names = store._words, store.has_ids, store.has_names
        if wanted is not None and wanted != self._words:
            self._native = None
            raise ArgumentError(f"bits: the store has fingerprints of {64 * self._words} bits, not of {bits}")

    def _open(self, path: PathLike, options: Any) -> Any:
        return self._call.create(
            "sstore_dedup", lib.sstore_dedup_close, lib.sstore_dedup_open, encode(path), options, own=True
        )

    def _use(self) -> Any:
        self._call.check_usable()
        if self._native is None:
            raise ArgumentError("the deduplicator is closed")
        return self._native

    def offer(
        self,
        fingerprints: ArrayLike,
        ids: Optional[ArrayLike] = None,
        *,
        names: Optional[StringsLike] = None,
        skip_bad: SkipBad = False,
    ) -> _Flags:
        """Insert each record that is new, one after the other.

        A record is new if neither a record of the store nor one that was inserted before it, also in this call, is
        within the distance. Without ids, new records get the ids of their names, as with add(), or the ids from the
        store's next id on.

        Args:
            fingerprints, ids, names, skip_bad: n records, as add() takes them.

        Returns:
            Whether each record was new: bool, shape (n,). Rows that were skipped were not.

        Raises:
            DamagedError, FileError, OutOfMemoryError, KeyboardInterrupt: some records were inserted; new_count says how
                many in all.
            ArgumentError, TypeError: a record cannot be read. Nothing of an array or a sequence was inserted. Of an
                Arrow stream, the batches before that record were.
        """
        found = self._insert(fingerprints, ids, names, None, skip_bad)
        return found.of_rows(found.is_new)

    def offer_and_match(
        self,
        fingerprints: ArrayLike,
        ids: Optional[ArrayLike] = None,
        *,
        names: Optional[StringsLike] = None,
        skip_bad: SkipBad = False,
    ) -> Answers:
        """The same as offer(), with the ids of new records and the matches of the others.

        The arguments and errors are those of offer().
        """
        columns = Buffers(wide(MATCH_COLUMNS, self._words))
        found = self._insert(fingerprints, ids, names, columns, skip_bad)
        made: dict[str, Any] = {n: c for n, c in columns.take().items() if self._has_ids or n != "id"}
        made["query_index"] = found.rows[made["query_index"]].astype(np.uint64)
        if self._has_names:
            made["name"] = self._find_names(made["id"])
        matches = BatchMatches(made)
        matches.query_count = found.row_count
        return Answers(found.of_rows(found.is_new), found.of_rows(found.new_ids), matches)

    def names(self, ids: Union[int, ArrayLike]) -> Strings:
        """The names of ids, as Store.names(), also of new records that wait to be published."""
        return self._find_names(asked_ids(ids))

    def _find_names(self, ids: Words) -> Strings:
        with self._call.lock:
            return names_of(lib.sspy_dedup_names, self._use(), ids)

    def _insert(
        self,
        fingerprints: ArrayLike,
        ids: Optional[ArrayLike],
        names: Optional[StringsLike],
        columns: Optional[Buffers],
        skip_bad: SkipBad,
    ) -> _Inserted:
        """Also fills the columns with matches. Without columns, the new ids are not set."""
        all_new, all_ids, all_rows = [np.zeros(0, np.bool_)], [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)]
        bad, first, row_count = bad_rows_of(skip_bad), 0, 0
        all_names = given_names(names, self._has_names)
        for piece in pieces(fingerprints, ids, self._words, bad, names=all_names):
            is_new, new_ids = self._insert_piece(piece, first, columns)
            all_new.append(is_new)
            all_ids.append(new_ids)
            all_rows.append(row_count + piece.numbers())
            first += len(is_new)
            row_count += piece.row_count
        bad.tell()
        return _Inserted(np.concatenate(all_new), np.concatenate(all_ids), np.concatenate(all_rows), row_count)

    def _insert_piece(self, piece: Piece, first: int, columns: Optional[Buffers]) -> tuple[_Flags, Words]:
        count = len(piece.fingerprints)
        is_new, new_ids = np.zeros(count, np.bool_), np.zeros(count, np.uint64)
        begin = 0
        while begin < count:
            end = begin + self._slice
            part = piece.fingerprints[begin:end]
            name_part = ffi.NULL if piece.names is None else piece.names[begin:end].native()
            started = time.perf_counter()
            with self._call.lock:
                self._call.check(
                    lib.sspy_dedup_insert(
                        self._use(),
                        pointer(part),
                        pointer(None if piece.ids is None else piece.ids[begin:end]),
                        name_part,
                        len(part),
                        first + begin,
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

        Raises:
            FileError, OutOfMemoryError, DamagedError: pending_count tells whether the records still wait, and the store
                is unchanged, or were published before a later step failed.
        """
        change = result("sstore_change")
        with self._call.lock:
            self._call.check(lib.sstore_dedup_publish(self._use(), change, self._call.error))
            made, known = change_of(change), self._conflict_count
            self._conflict_count = made.conflict_count
        warn_of_conflicts(made, known)
        return made

    def _statistics(self) -> Any:
        found = result("sstore_dedup_statistics")
        with self._call.lock:
            self._call.check(lib.sstore_dedup_stat(self._use(), found, self._call.error))
        return found

    @property
    def new_count(self) -> int:
        """The number of records that were new so far."""
        return int(self._statistics().new_count)

    @property
    def pending_count(self) -> int:
        """The number of these that wait to be published."""
        return int(self._statistics().pending_count)

    def close(self) -> None:
        """Publish the records that wait, and close the store. Calling this again does nothing."""
        if self._native is not None:
            self.publish()
            self._native = None
            self._call.end(True)

    def abort(self) -> None:
        """Close the store. Records that wait are lost."""
        self._native = None
        self._call.end(False)

    @property
    def closed(self) -> bool:
        """Whether close() or abort() was called."""
        return self._native is None

    def __enter__(self) -> Deduplicator:
        self._use()
        return self

    def __repr__(self) -> str:
        if self._native is None:
            return f"<sstore.Deduplicator {self._path!r}, closed>"
        return f"<sstore.Deduplicator {self._path!r}: {self.new_count:,} new records, {self.pending_count:,} wait>"

    def __exit__(self, kind: Optional[type[BaseException]], *_: object) -> None:
        try:
            if kind is None:
                self.close()
        finally:
            self.abort()
