"""Joins and components of records that many machines hold: the parts that the tasks of a cluster run."""

from __future__ import annotations

import queue
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from sstore._arrays import ArrayLike, Words, empty, is_arrow, pointer, words_of
from sstore._call import Call, PathLike, ProgressOption, Size, encode, flag_of, number_of, rows_of, size_of
from sstore._columns import PAIR_COLUMNS, Buffers, Clusters, Columns, Pairs
from sstore._errors import ArgumentError
from sstore._native import ffi, lib
from sstore._rows import pieces, words
from sstore._store import Store, build_distance
from sstore._write import Builder

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
            64 * words_of(array),
            len(array),
            number_of(shard_count, "shard_count", (1 << 32) - 1),
            ffi.from_buffer("uint32_t[]", made, require_writable=True),
            call.error,
        )
    )
    return made


def _wide_keys(fingerprints: Words, begin: int, end: int) -> Words:
    """The bits from begin to end of fingerprints of several words, but only the first 64 of them.

    They are counted from the most significant bit, as those that sstore_join_keys() cuts from one word.
    """
    word, shift = divmod(begin, 64)
    made = fingerprints[:, word] << np.uint64(shift)
    if shift > 0 and word + 1 < words_of(fingerprints):
        made = made | fingerprints[:, word + 1] >> np.uint64(64 - shift)
    return made >> np.uint64(64 - min(end - begin, 64))


def join_keys(fingerprints: ArrayLike, table: int, distance: int = 3) -> Words:
    """The key of each fingerprint in one of the distance + 1 tables of a join.

    Two fingerprints within the distance have equal keys in at least one table. So, for each table, bring records with
    equal keys together, and join them by join_records(). If the records of a key are too many for one task, divide them
    into parts by a hash of the record: join each part with itself, and each two parts. One call may have the records of
    many keys.

    Keys of few bits, such as 8 for PDQ hashes and a distance of 31, do not pay: divide all records in the same way
    instead, without keys, and join them with table=None. Of more than 64 bits each call makes stores, so give it the
    records of many keys.

    Args:
        fingerprints: of shape (n,) or (n, words), as build() takes them.
        table: 0 to distance.
        distance: in bits, 0 to 16 for each word.

    Returns:
        Numbers of 64 * words / (distance + 1) bits, or one bit more; of more than 64 bits, the first 64. uint64, shape
        (n,).
    """
    array, call = words(fingerprints, "fingerprints", None), Call()
    word_count = words_of(array)
    distance = build_distance(distance, word_count)
    table = number_of(table, "table", distance)
    if word_count > 1:
        begin, end = (64 * word_count * number // (distance + 1) for number in (table, table + 1))
        return _wide_keys(array, begin, end)
    made = np.empty(len(array), np.uint64)
    call.check(lib.sstore_join_keys(pointer(array), len(array), distance, table, pointer(made), call.error))
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
    made = ffi.new("sstore_columns *")
    made.struct_size = ffi.sizeof("sstore_columns")
    made.fingerprint, made.id = pointer(fingerprints), pointer(ids)
    return made


_Records = tuple[Words, Optional[Words]]  # fingerprints, and ids if there are any


def join_records(
    fingerprints: ArrayLike,
    ids: Optional[ArrayLike] = None,
    other_fingerprints: Optional[ArrayLike] = None,
    other_ids: Optional[ArrayLike] = None,
    *,
    table: Optional[int],
    distance: int = 3,
    spanning: bool = False,
    batch_size: int = _BATCH_SIZE,
) -> Iterator[Pairs]:
    """The pairs of records with equal keys in a table, but in no earlier one, within a distance.

    The joins of all tables together give each near pair once. Works on one thread; a cluster runs many such tasks.
    A join of 64 bits in a table takes 40 bytes of memory a record. Other joins make temporary stores in the folder that
    TMPDIR names, and take up to 1 GiB of memory beside them: about 140 bytes of disk for a record of 256 bits. If the
    process is killed, the folder sstore-* stays.

    Args:
        fingerprints, ids: n records, as build() takes them, also a table with both; equal ones count once. Without ids
            equal fingerprints are one record.
        other_fingerprints, other_ids: if given, only pairs of a record of both sides, in this order. So records can be
            divided into several parts.
        table: 0 to distance; see join_keys(). None: all pairs, whatever their keys.
        distance: in bits, 0 to 16 for each word.
        spanning: only pairs that connect whatever all pairs connect. Many equal fingerprints then make few pairs. Pairs
            may repeat. Not with a second side. A join of 64 bits in a table gives at most ten for each record of a
            small key. The records of larger keys are divided up to 8 times, each of which multiplies this bound by
            distance + 1. Other joins give the representative of each cluster (see Store.clusters()) with each other
            member: their distance may be larger than the given one, and the table does not matter.
        batch_size: rows of a batch.

    Yields:
        The columns fingerprint, id, other_fingerprint, other_id (uint64) and distance (uint32), fingerprints of several
        words of shape (n, words). Without a second side the lower record is first. The order of the pairs is not
        defined. Arrays must not change until the last batch.

    Raises:
        ArgumentError, OutOfMemoryError
        FileError, OSError: there is no room, or no folder, for the temporary stores.
    """
    batch_size = rows_of(batch_size)
    sides = [_record_arrays(fingerprints, ids, "fingerprints", "ids", None)]
    word_count = words_of(sides[0][0])
    if other_fingerprints is None and other_ids is not None:
        raise ArgumentError("other_ids: expected other_fingerprints beside them")
    if other_fingerprints is not None:
        sides.append(_record_arrays(other_fingerprints, other_ids, "other_fingerprints", "other_ids", word_count))
    distance = build_distance(distance, word_count)
    table = None if table is None else number_of(table, "table", distance)
    if flag_of(spanning, "spanning") and len(sides) > 1:
        raise ArgumentError("spanning: expected False for a join of two sides, found True")
    if word_count > 1 or table is None:
        found = _join_stores(sides, distance, spanning, batch_size)
        return found if spanning or table is None else _of_table(found, table, distance)
    columns = [_record_columns(*side) for side in sides]
    join = _Join(batch_size, (sides[0][1] is not None, sides[-1][1] is not None))
    options = join.options(
        "sstore_record_join_options",
        distance=distance,
        table=table,
        spanning=spanning,
    )
    right, right_count = (ffi.NULL, 0) if len(sides) == 1 else (columns[1], len(sides[1][0]))
    return _take(join, (columns[0], len(sides[0][0]), right, right_count, options), sides)


def _record_arrays(
    fingerprints: ArrayLike, ids: Optional[ArrayLike], name: str, id_name: str, word_count: Optional[int]
) -> _Records:
    if ids is None and is_arrow(fingerprints):  # a table may have ids
        filled = [piece for piece in pieces(fingerprints, None, word_count) if len(piece.fingerprints) > 0]
        if filled:
            own_ids = [piece.ids for piece in filled if piece.ids is not None]
            fingerprints = np.concatenate([piece.fingerprints for piece in filled])
            return fingerprints, np.concatenate(own_ids) if own_ids else None
        return empty(word_count or 1), None
    array, id_array = words(fingerprints, name, word_count), None if ids is None else words(ids, id_name)
    if id_array is not None and len(id_array) != len(array):
        raise ArgumentError(f"{id_name}: expected as many as {name}, found {len(id_array)} and {len(array)}")
    return array, id_array


def _join_stores(sides: list[_Records], distance: int, spanning: bool, batch_size: int) -> Iterator[Pairs]:
    """The pairs of records of one or two sides, from a temporary store of each."""
    with tempfile.TemporaryDirectory(prefix="sstore-") as folder, ExitStack() as opened:
        stores = []
        for number, (fingerprints, ids) in enumerate(sides):
            path = f"{folder}/{number}"
            bits = 64 * words_of(fingerprints)
            with Builder(path, distance=distance, bits=bits, no_ids=ids is None, threads=1) as builder:
                builder.add(fingerprints, ids)
            stores.append(opened.enter_context(Store(path)))
        options: dict[str, Any] = {"threads": 1, "batch_size": batch_size, "tmp_dir": folder}
        if spanning:
            yield from _stars(opened.enter_context(stores[0].iter_clusters(**options)))
        elif len(stores) == 1:
            yield from opened.enter_context(stores[0].iter_pairs(**options))
        else:
            yield from opened.enter_context(stores[0].iter_join(stores[1], **options))


def _of_table(batches: Iterable[Pairs], table: int, distance: int) -> Iterator[Pairs]:
    """The pairs with equal keys in a table, but in no earlier one."""
    for pairs in batches:
        is_here = np.ones(len(pairs), np.bool_)
        for number in range(table + 1):
            keys = (join_keys(one, number, distance) for one in (pairs.fingerprint, pairs.other_fingerprint))
            is_here &= np.equal(*keys) == (number == table)
        if is_here.any():
            yield Pairs({name: column[is_here] for name, column in pairs.columns.items()})


def _stars(batches: Iterable[Clusters]) -> Iterator[Pairs]:
    """Of clusters, whose representatives come first, the pairs of each representative and another member."""
    names = ("fingerprint", "id")
    last: dict[str, Words] = {}  # the representative of the last row of the batch before
    for batch in batches:
        members = {name: batch.columns[name] for name in names if name in batch.columns}
        with_last = {name: np.concatenate([last.get(name, column[:1]), column]) for name, column in members.items()}
        rows = np.maximum.accumulate(np.where(batch.is_representative, np.arange(1, len(batch) + 1), 0))
        last = {name: column[rows[-1:]] for name, column in with_last.items()}
        others = np.flatnonzero(~batch.is_representative)
        if len(others) == 0:
            continue
        pairs = {name: column[rows[others]] for name, column in with_last.items()}
        pairs.update((f"other_{name}", column[others]) for name, column in members.items())
        yield lower_first(Pairs({**pairs, "distance": batch.distance[others]}))


def lower_first(pairs: Pairs) -> Pairs:
    """The pairs, of which the lower record, by fingerprint, then id, comes first."""
    columns = pairs.columns
    fingerprints = (columns[name] for name in ("fingerprint", "other_fingerprint"))
    one, other = (array.reshape(-1, words_of(array)) for array in fingerprints)
    differ = one != other
    rows, first = np.arange(len(pairs)), differ.argmax(axis=1)  # the first word that differs
    swap = other[rows, first] < one[rows, first]
    if "id" in columns:
        swap |= ~differ.any(axis=1) & (columns["other_id"] < columns["id"])
    for name in ("fingerprint", "id"):
        if name in columns:
            a, b = columns[name], columns[f"other_{name}"]
            is_other = swap if a.ndim == 1 else swap[:, None]
            columns = {**columns, name: np.where(is_other, b, a), f"other_{name}": np.where(is_other, a, b)}
    return Pairs(columns)


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
