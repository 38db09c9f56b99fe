"""Joins and components of records that many machines hold: the parts that the tasks of a cluster run."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from sstore._arrays import ArrayLike, Words, pointer, words, words_of
from sstore._call import Call, PathLike, ProgressOption, Size, encode, flag_of, number_of, rows_of, size_of
from sstore._columns import PAIR_COLUMNS, Buffers, Columns, Pairs
from sstore._errors import ArgumentError
from sstore._native import ffi, lib

_BATCH_SIZE = 1 << 20
_WAITING = 2  # batches of pairs that are made ahead
_SLICE = 1 << 20  # edges that are added between two checks for signals


def shard_numbers(fingerprints: ArrayLike, shard_count: int) -> npt.NDArray[np.uint32]:
    """The shard of each fingerprint, as shard() and `sstore shard` divide a store.

    Args:
        fingerprints: of shape (n,) or (n, words), as build() takes them.
        shard_count: at least 1.

    Returns:
        Numbers from 0: uint32, shape (n,).
    """
    array, call = words(fingerprints, "fingerprints", None), Call()
    made = np.empty(len(array), np.uint32)
    call.check(
        lib.sstore_shard_numbers(
            pointer(array),
            words_of(array),
            len(array),
            number_of(shard_count, "shard_count", (1 << 32) - 1),
            ffi.from_buffer("uint32_t[]", made, require_writable=True),
            call.error,
        )
    )
    return made


def narrow(fingerprints: ArrayLike, name: str) -> Words:
    """Fingerprints of a join without a store, which must have 64 bits."""
    array = words(fingerprints, name, None)
    if words_of(array) > 1:
        raise ArgumentError(
            f"{name}: expected fingerprints of 64 bits, of shape (n,), found {array.shape}: keys of wider ones have "
            "too few bits; build stores of them, and use Store.pairs(), Store.join() or Store.query_batch()"
        )
    return array


def join_keys(fingerprints: ArrayLike, table: int, distance: int = 3) -> Words:
    """The key of each fingerprint, of 64 bits, in one of the distance + 1 tables of a join.

    Two fingerprints within the distance have equal keys in at least one table. So, for each table, bring records with
    equal keys together, and join them by join_records().

    Args:
        fingerprints: of shape (n,).
        table: 0 to distance.
        distance: in bits, 0 to 16.

    Returns:
        Numbers of 64 / (distance + 1) bits, or one bit more: uint64, shape (n,).
    """
    array, call = narrow(fingerprints, "fingerprints"), Call()
    made = np.empty(len(array), np.uint64)
    call.check(
        lib.sstore_join_keys(
            pointer(array),
            len(array),
            number_of(distance, "distance", lib.SSTORE_MAX_BUILD_DISTANCE),
            number_of(table, "table", lib.SSTORE_MAX_BUILD_DISTANCE),
            pointer(made),
            call.error,
        )
    )
    return made


class _Join(Call):
    """A join at work in a thread of its own. The batches wait in a queue, from which this thread takes them."""

    def __init__(self, batch_size: int, has_ids: tuple[bool, bool]) -> None:
        super().__init__()
        self.buffers = Buffers(PAIR_COLUMNS)
        self.batch_size = batch_size
        self.hidden = {name for name, has in zip(("id", "other_id"), has_ids) if not has}
        self.batches: queue.Queue[Any] = queue.Queue(_WAITING)
        self.is_given_up = False

    def put(self, item: Any) -> None:
        while not self.is_given_up:
            try:
                return self.batches.put(item, timeout=0.1)
            except queue.Full:
                continue

    def flush(self) -> int:
        self.put(Pairs({n: c for n, c in self.buffers.take().items() if n not in self.hidden}))
        return 1 if self.is_given_up else 0

    def report(self, progress: Any) -> None:
        if self.is_given_up:
            raise RuntimeError("given up")  # which stops the call

    def run(self, *arguments: Any) -> None:
        try:
            status = lib.sspy_join_records(
                *arguments, self.buffers.native, self.batch_size, lib.sspy_flush, self._handle, self.error
            )
            if not self.is_given_up:
                self.check(status)
            self.put(None)
        except BaseException as error:  # for the thread that takes the batches
            self.put(error)


@ffi.def_extern(error=1)  # type: ignore[untyped-decorator]
def sspy_flush(context: Any) -> int:
    join: _Join = ffi.from_handle(context)()
    return join.flush()


def _record_columns(fingerprints: Words, ids: Optional[Words]) -> Any:
    made = ffi.new("sstore_record_columns *")
    made.struct_size = ffi.sizeof("sstore_record_columns")
    made.fingerprint, made.id = pointer(fingerprints), pointer(ids)
    return made


def join_records(
    fingerprints: ArrayLike,
    ids: Optional[ArrayLike] = None,
    other_fingerprints: Optional[ArrayLike] = None,
    other_ids: Optional[ArrayLike] = None,
    *,
    table: int,
    distance: int = 3,
    spanning: bool = False,
    batch_size: int = _BATCH_SIZE,
) -> Iterator[Pairs]:
    """The pairs of records with equal keys in a table, but in no earlier one, within a distance.

    The joins of all tables together give each near pair once. Works on one thread; a cluster runs many such tasks.

    Args:
        fingerprints, ids: n records, as build() takes them; equal ones count once. ids None: fingerprints alone.
        other_fingerprints, other_ids: if given, only pairs of a record of both sides, in this order. So records of one
            key can be divided into several parts.
        table: 0 to distance; see join_keys().
        distance: in bits, 0 to 16.
        spanning: only pairs that connect whatever all pairs connect: at most ten for each record of a small key. The
            records of larger keys are divided up to 8 times, each of which multiplies this bound by distance + 1. Pairs
            may repeat. Many equal fingerprints then make few pairs. Not with a second side.
        batch_size: rows of a batch.

    Yields:
        The columns fingerprint, id, other_fingerprint, other_id (uint64) and distance (uint32). Without a second side
        the lower record is first. The order of the pairs is not defined.

    Raises:
        ArgumentError, OutOfMemoryError
    """
    batch_size = rows_of(batch_size)
    sides = [(_words(fingerprints, ids, "fingerprints", "ids"))]
    if other_fingerprints is not None:
        sides.append(_words(other_fingerprints, other_ids, "other_fingerprints", "other_ids"))
    columns = [_record_columns(*side) for side in sides]
    join = _Join(batch_size, (sides[0][1] is not None, sides[-1][1] is not None))
    options = join.options(
        "sstore_record_join_options",
        distance=number_of(distance, "distance", lib.SSTORE_MAX_BUILD_DISTANCE),
        table=table,
        spanning=flag_of(spanning, "spanning"),
    )
    right, right_count = (ffi.NULL, 0) if len(sides) == 1 else (columns[1], len(sides[1][0]))
    return _take(join, (columns[0], len(sides[0][0]), right, right_count, options), sides)


def _words(fingerprints: ArrayLike, ids: Optional[ArrayLike], *names: str) -> tuple[Words, Optional[Words]]:
    array, id_array = narrow(fingerprints, names[0]), None if ids is None else words(ids, names[1])
    if id_array is not None and len(id_array) != len(array):
        raise ArgumentError(f"{names[1]}: expected as many as {names[0]}, found {len(id_array)} and {len(array)}")
    return array, id_array


def _take(join: _Join, arguments: tuple[Any, ...], _keep: Any) -> Iterator[Pairs]:
    thread = threading.Thread(target=join.run, args=arguments, daemon=True)
    thread.start()
    try:
        while (item := join.batches.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        join.is_given_up = True
        thread.join()


class Components(Columns):
    """Nodes, ascending, and the smallest node of the component of each."""

    @property
    def node(self) -> Words:
        """uint64, shape (n,)."""
        return self.columns["node"]

    @property
    def smallest(self) -> Words:
        """uint64, shape (n,)."""
        return self.columns["smallest"]


def components(
    edges: Iterable[tuple[ArrayLike, ArrayLike]],
    *,
    threads: int = 0,
    memory: Optional[Size] = None,
    tmp_dir: Optional[PathLike] = None,
    batch_size: int = _BATCH_SIZE,
    progress: ProgressOption = False,
) -> Iterator[Components]:
    """The connected components of a graph of any size, such as of near pairs that many machines found.

    Args:
        edges: pairs of arrays of equal length: the two nodes of each edge, numbers of 64 bits such as ids of records.
            Edges come in any order, and may repeat. An edge of a node to itself only makes it a node.
        threads: 0: all that the process may use.
        memory: what the call may take, in bytes or such as "2G"; None: 1 GiB. Less than 64 MiB may be exceeded.
        tmp_dir: for edges that do not fit in memory, 16 bytes each; None: the folder that TMPDIR names, or the working
            folder.
        batch_size: rows of a batch.
        progress: True: a bar, if tqdm is installed; or a function that gets a Progress a few times a second.

    Yields:
        The columns node and smallest, ascending by node.

    Raises:
        ArgumentError, FileError, OutOfMemoryError
        NotFoundError: there is no folder at tmp_dir.
    """
    batch_size = rows_of(batch_size)
    call = Call(progress)
    options = call.options(
        "sstore_components_options",
        threads=threads,
        memory_bytes=size_of(memory, "memory"),
        tmp_dir=None if tmp_dir is None else encode(tmp_dir),
    )
    native = call.create("sstore_components", lib.sstore_components_free, lib.sstore_components_create, options)
    for nodes, other_nodes in edges:
        one, other = words(nodes, "edges"), words(other_nodes, "edges")
        if len(one) != len(other):
            raise ArgumentError(f"edges: expected arrays of equal length, found {len(one)} and {len(other)}")
        for begin in range(0, len(one), _SLICE):
            part, other_part = one[begin : begin + _SLICE], other[begin : begin + _SLICE]
            call.check(lib.sstore_components_add(native, pointer(part), pointer(other_part), len(part), call.error))
    return _components(call, native, batch_size)


def _components(call: Call, native: Any, batch_size: int) -> Iterator[Components]:
    buffers = Buffers({"node": "u8", "smallest": "u8"})
    with call:
        while not buffers.native.done:
            while not buffers.native.done and buffers.native.count < batch_size:
                call.check(lib.sspy_components_next(native, buffers.native, batch_size, call.error))
            if buffers.native.count > 0:
                yield Components(buffers.take())
