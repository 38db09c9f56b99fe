"""Reading stores."""

from __future__ import annotations

import operator
import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Optional, Union

import numpy as np
import numpy.typing as npt

from sstore._arrays import (
    ArrayLike,
    Fingerprint,
    Padded,
    Words,
    int_of,
    number_hint,
    one,
    pointer,
    unwrapped,
    word,
    words_by_recipe,
)
from sstore._call import (
    Call,
    Collector,
    PathLike,
    ProgressOption,
    Size,
    encode,
    flag_of,
    limit_of,
    number_of,
    result,
    size_of,
)
from sstore._columns import (
    CLUSTER_COLUMNS,
    ID_COLUMNS,
    MATCH_COLUMNS,
    PAIR_COLUMNS,
    RECORD_COLUMNS,
    Batches,
    BatchMatches,
    Buffers,
    Clusters,
    FoundRecords,
    GroupMatches,
    Matches,
    Pairs,
    QueryMatches,
    Records,
    Results,
    wide,
)
from sstore._doubt import SkipBad, bad_rows_of
from sstore._errors import ArgumentError, error_of, text
from sstore._merged import are_texts, group_numbers, of_groups, of_stores
from sstore._native import ffi, lib
from sstore._near import Excluded, Stored
from sstore._rows import asked_ids, asked_names, taken
from sstore._strings import Strings, StringsLike

Name = Union[str, bytes]
IoMode = Literal["auto", "pread", "mmap", "memory"]

_IO_MODES = {
    "auto": lib.SSTORE_IO_AUTO,
    "pread": lib.SSTORE_IO_PREAD,
    "mmap": lib.SSTORE_IO_MMAP,
    "memory": lib.SSTORE_IO_MEMORY,
}
_BATCH_SIZE = 1 << 20

IdRange = tuple[Optional[int], Optional[int]]
_Filters = tuple[Optional[IdRange], Optional[int]]  # a range of ids, and an id that is left out
_Exclude = tuple[str, Any]  # what each query leaves out: "exclude_ids" or "exclude_names", and the argument


@dataclass(frozen=True)
class TableStatistics:
    """One table of a segment.

    Attributes:
        word: of the fingerprints, from 0, that the table has.
        key_mask: the key bits of this word: its bit 0 is the mask's highest; prefix_bits is their number.
        radius: bits in which a probed prefix may differ, at the store's distance.
        file_bytes: header and blocks; directory_bytes: this table's part of the directory.
        bits_per_fingerprint: of file and directory.
        bound_bits_per_fingerprint: of an ideal code of the same symbols.
        elias_fano_bits_per_fingerprint: of Elias-Fano coding, without any index.
        rice_bits_per_fingerprint: of Rice coding of the gaps, with the best parameter.
    """

    word: int
    key_mask: int
    prefix_bits: int
    radius: int
    block_count: int
    file_bytes: int
    directory_bytes: int
    bits_per_fingerprint: float
    bound_bits_per_fingerprint: float
    elias_fano_bits_per_fingerprint: float
    rice_bits_per_fingerprint: float


@dataclass(frozen=True)
class WordStatistics:
    """How one word of the fingerprints of a segment is searched. Fingerprints of 64 bits have one word.

    Attributes:
        radius: bits in which a word that a query finds may differ, at the store's distance: of 64 bits the distance;
            -1: queries do not search this word.
        plan: its tables, as build() takes them, such as "16:0,16:0,16:0,16:0".
    """

    radius: int
    table_count: int
    plan: str


@dataclass(frozen=True)
class SegmentStatistics:
    """One segment, which one build, addition, removal or compaction wrote.

    Attributes:
        is_removal: its records are removed from older segments; otherwise they are added to the store.
        fingerprints_bytes, ranks_bytes: as in Statistics.
        block_bytes: of a block; the other bytes are those of files.
        folder: in the store's.
        writer: the program that wrote it, such as "sstore 0.1.0"; "" if it is unknown.
        words: of the fingerprints, the most significant one first; none if it removes.
    """

    record_count: int
    distinct_count: int
    is_removal: bool
    tables_bytes: int
    fingerprints_bytes: int
    ranks_bytes: int
    ids_bytes: int
    id_index_bytes: int
    name_count: int
    names_bytes: int
    name_index_bytes: int
    directory_bytes: int
    total_bytes: int
    block_bytes: int
    folder: str
    writer: str
    words: tuple[WordStatistics, ...]
    tables: tuple[TableStatistics, ...]


@dataclass(frozen=True)
class Statistics:
    """What a store contains, and the sizes of its parts.

    Attributes:
        record_count: pairs of a fingerprint and an id.
        distinct_count: distinct fingerprints, summed over the segments that add: exact for one segment.
        removed_count: removed records that take space until compact().
        next_id: the id that the next record without one would get; None in a store without ids.
        distance: that the store was built for, in bits.
        words: of the largest segment; block_bytes is the size of its blocks.
        recipe: how the fingerprints were made, or "". Cut after 511 bytes; characters that terminals obey are written
            as \\xNN.
        fingerprint_bits: 64, or another multiple of 64 up to 1,024.
        fingerprints_bytes, ranks_bytes: of whole fingerprints of several words, and of the columns that lead to them
            from their words; 0 if they have 64 bits.
        memory_bytes: what the open store takes in memory, with one cursor; mapped pages are not counted.
        name_count: of names, summed over the segments that add; 0 in a store without names.
        tables_bytes, ids_bytes, id_index_bytes, names_bytes, name_index_bytes, directory_bytes, manifest_bytes,
            total_bytes: of the store's files.
    """

    record_count: int
    distinct_count: int
    removed_count: int
    next_id: Optional[int]
    has_ids: bool
    has_id_index: bool
    has_names: bool
    distance: int
    words: tuple[WordStatistics, ...]
    recipe: str
    block_bytes: int
    fingerprint_bits: int
    tables_bytes: int
    fingerprints_bytes: int
    ranks_bytes: int
    ids_bytes: int
    id_index_bytes: int
    name_count: int
    names_bytes: int
    name_index_bytes: int
    directory_bytes: int
    manifest_bytes: int
    total_bytes: int
    memory_bytes: int
    segments: tuple[SegmentStatistics, ...]


@dataclass(frozen=True)
class TableExplanation:
    """The expected and the actual work of one query in one table.

    Attributes:
        segment, table: from 0; word: of the fingerprint, from 0, that the table has. Table and word are
            4294967295 for a full scan of the whole fingerprints of several words.
        radius: bits in which a probed prefix may differ; -1: the table was not needed.
        is_full_scan: the whole table was read, instead of probing any.
        probe_count: look-ups of a prefix, or of a range of rare ones.
        candidate_count: fingerprints with a probed prefix.
        hit_count: distinct fingerprints within the distance that this table found first.
        probe_ns, full_scan_ns: expected for the whole segment.
    """

    segment: int
    table: int
    word: int
    key_mask: int
    prefix_bits: int
    radius: int
    is_full_scan: bool
    probe_count: int
    expected_block_count: float
    block_count: int
    expected_candidate_count: float
    candidate_count: int
    hit_count: int
    probe_ns: float
    full_scan_ns: float


def build_distance(distance: Any, words: int) -> int:
    """A distance to build for, or of a join or a deduplication, of fingerprints of this many words."""
    return number_of(distance, "distance", words * lib.SSTORE_MAX_BUILD_DISTANCE)


def build_distance_or_own(distance: Optional[int], words: int) -> int:
    """The same; None: the store's own."""
    return int(lib.SSTORE_OWN_DISTANCE) if distance is None else build_distance(distance, words)


def filter_of(ids: Optional[IdRange], excluded: Any = None) -> Any:
    """The library's filter for a range of ids, and for an excluded id of each query; None: NULL."""
    if ids is None and excluded is None:
        return ffi.NULL
    largest = (1 << 64) - 1
    try:
        first, last = (None, None) if ids is None else ids
    except (TypeError, ValueError):
        raise TypeError(f"ids: expected the first and the last id, found {ids!r}") from None
    made = result("sstore_id_filter")
    made.min_id = 0 if first is None else number_of(first, "ids", largest)
    made.max_id = largest if last is None else number_of(last, "ids", largest)
    if made.min_id > made.max_id:
        raise ArgumentError(f"ids: the first one, {first}, is above the last one, {last}")
    made.excluded_ids = ffi.NULL if excluded is None else excluded
    return made


def _exclude_of(ids: Optional[ArrayLike], names: Optional[StringsLike]) -> Optional[_Exclude]:
    if ids is not None and names is not None:
        raise ArgumentError("expected one of exclude_ids= and exclude_names=, found both")
    return ("exclude_ids", ids) if ids is not None else None if names is None else ("exclude_names", names)


def _one_id(id: Any) -> Words:
    if isinstance(id, (str, bytes)):
        raise TypeError(f"id: expected int, found {type(id).__name__}{number_hint(id, 'name=')}")
    return np.array([word(id, "id")], np.uint64)


def _one_name(name: Any) -> Sequence[Name]:
    if not isinstance(name, (str, bytes)):
        hint = "; id= takes a number" if isinstance(name, (int, np.integer)) else ""
        raise TypeError(f"name: expected str or bytes, found {type(name).__name__}{hint}")
    return [name]


def copy_fields(kind: Any, source: Any, **others: Any) -> Any:
    """Make a dataclass of a struct with fields of the same names."""
    values: dict[str, Any] = {}
    for name in kind.__dataclass_fields__:
        if name in others:
            values[name] = others[name]
            continue
        value = getattr(source, name)
        values[name] = text(value) if isinstance(value, ffi.CData) else value
    return kind(**values)


class _Cursor:
    """The scratch memory of one query at a time. Keeps the store open."""

    __slots__ = ("answer", "capacity", "match_bytes", "native", "view")

    def __init__(self, store: Any, words: int) -> None:
        self.native = Call().create(
            "sstore_cursor", lib.sstore_cursor_free, lib.sstore_cursor_create, store, keep=store
        )
        self.answer = ffi.gc(ffi.new("sspy_answer *", {"words": words}), lib.sspy_answer_free)
        self.match_bytes = 8 * words + 12
        self.view = b""
        self.capacity = 0

    def filter(self, ids: Optional[IdRange], exclude_id: Optional[int] = None) -> None:
        """Let the next queries find only records with these ids, and without that one; None: all."""
        excluded = None
        if exclude_id is not None:
            excluded = ffi.new("uint64_t *", number_of(exclude_id, "exclude_id", (1 << 64) - 1))
        call = Call()
        call.check(lib.sstore_cursor_set_filter(self.native, filter_of(ids, excluded), call.error))

    def names(self, ids: Words) -> Strings:
        """The names of ids."""
        return names_of(lib.sspy_names, self.native, ids)

    def see(self) -> None:
        """Let `view` be the packed matches, which have a new place if there are more than `capacity`."""
        self.view = ffi.buffer(self.answer.bytes, self.answer.capacity * self.match_bytes)
        self.capacity = self.answer.capacity


def names_of(find: Any, native: Any, ids: Words) -> Strings:
    """The names of ids that the library finds."""
    ids, call = np.ascontiguousarray(ids), Call()
    begins, ends = np.zeros(len(ids), np.int64), np.full(len(ids), -1, np.int64)
    made = ffi.new("sspy_bytes *")
    places = [ffi.from_buffer("int64_t[]", array, require_writable=True) for array in (begins, ends)]
    status = find(native, pointer(ids), len(ids), *places, made, call.error)
    data = ffi.gc(made.data, lib.sspy_free)
    call.check(status)
    return Strings(ffi.buffer(data, made.size) if made.size > 0 else b"", begins, ends)


class _Naming:
    """Adds the names of ids to columns: behind "id" those of one store, and behind "other_id" those of another."""

    def __init__(self, finders: Mapping[str, Callable[[Words], Strings]]) -> None:
        self._finders = finders

    def __call__(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name, column in columns.items():
            made[name] = column
            if name in self._finders:
                made[name.replace("id", "name")] = self._finders[name](column)
        return made


class Store:
    """An open store, as `sstore.open` returns it. It shows the state that was published when it was opened.

    All threads may use a store, also at the same time, and a process after fork(). A store can be pickled: the other
    process opens the path, and sees its newest state. Use it as a context manager, or call close().
    """

    def __init__(
        self,
        path: PathLike,
        *,
        io: IoMode = "auto",
        recipe: Optional[str] = None,
        max_memory: Optional[Size] = None,
        _native: Any = None,
    ) -> None:
        self._path = path
        self._absolute_path = os.path.abspath(os.fsdecode(path))
        self._arguments = {"io": io, "recipe": recipe, "max_memory": max_memory}
        self._cursors: list[_Cursor] = []  # of a store of 64 bits
        self._wide_cursors: list[_Cursor] = []
        self._native: Optional[Any] = None
        if io not in _IO_MODES:
            raise ArgumentError(f"io: expected one of {', '.join(_IO_MODES)}, found {io!r}")
        if _native is None:
            call = Call()
            options = call.options(
                "sstore_open_options",
                io=_IO_MODES[io],
                recipe=recipe,
                max_memory_bytes=size_of(max_memory, "max_memory"),
            )
            _native = call.create("sstore", lib.sstore_close, lib.sstore_open, encode(path), options)
        self._native = _native
        _stores.add(self)
        found = self._statistics()
        self._has_ids = bool(found.has_ids)
        self._has_names = bool(found.has_names)
        self._distance = int(found.distance)
        count = words_by_recipe(int(found.fingerprint_bits) // 64, text(found.recipe))
        assert count is not None
        self._words = count
        self._is_plain = count == 1 and not isinstance(count, Padded)  # any number of 64 bits is a fingerprint

    # ----- opening and closing -----

    def close(self) -> None:
        """Close the store. Calls of other threads, and batches, end as if it were open."""
        self._native = None
        self._cursors = []
        self._wide_cursors = []

    def __enter__(self) -> Store:
        self._open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def reopen(self) -> Store:
        """Open the newest state, with the same options. This takes little time if little was added.

        Raises:
            RecipeError: a store of another recipe has replaced it.
            The other errors are those of open().
        """
        native = Call().create("sstore", lib.sstore_close, lib.sstore_reopen, self._open())
        return Store(self._path, _native=native, **self._arguments)  # type: ignore[arg-type]

    def __reduce__(self) -> Any:
        self._open()
        return _reopen_path, (self._absolute_path, self._arguments)

    def _open(self) -> Any:
        if self._native is None:
            raise ArgumentError("the store is closed")
        return self._native

    def _statistics(self) -> Any:
        call = Call()
        found = result("sstore_statistics")
        call.check(lib.sstore_stat(self._open(), found, call.error))
        return found

    # ----- what it is -----

    @property
    def path(self) -> PathLike:
        """The path that it was opened by."""
        return self._path

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._native is None

    @property
    def has_ids(self) -> bool:
        """Whether records have ids."""
        return self._has_ids

    @property
    def has_names(self) -> bool:
        """Whether ids have names."""
        return self._has_names

    @property
    def distance(self) -> int:
        """The distance in bits that the store was built for."""
        return self._distance

    @property
    def bits(self) -> int:
        """The bits of a fingerprint: 64, or another multiple of 64 up to 1,024."""
        return 64 * self._words

    @property
    def words(self) -> int:
        """The words of 64 bits of a fingerprint, 1 to 16. Arrays of several words have the shape (n, words)."""
        return int(self._words)

    def __len__(self) -> int:
        return int(self._statistics().record_count)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        path = os.fsdecode(self._path)
        if self._native is None:
            return f"<sstore.Store {path!r}, closed>"
        found = self._statistics()
        ids = "with ids" if found.has_ids else "without ids"
        bits = "" if self._words == 1 else f" of {self.bits} bits"
        return (
            f"<sstore.Store {path!r}: {found.record_count:,} records{bits} {ids}, distance {found.distance}, "
            f"tables {found.table_count}, segments {found.segment_count}, {found.total_bytes:,} bytes>"
        )

    def stat(self) -> Statistics:
        """What the store contains, and the sizes of its parts."""
        native, call = self._open(), Call()
        found = self._statistics()
        segments = []
        for number in range(found.segment_count):
            segment = result("sstore_segment_statistics")
            call.check(lib.sstore_stat_segment(native, number, segment, call.error))
            words, tables = [], []
            for word_number in range(0 if segment.is_removal else self._words):
                word = result("sstore_word_statistics")
                call.check(lib.sstore_stat_word(native, number, word_number, word, call.error))
                words.append(copy_fields(WordStatistics, word))
            for table_number in range(0 if segment.is_removal else segment.table_count):
                table = result("sstore_table_statistics")
                call.check(lib.sstore_stat_table(native, number, table_number, table, call.error))
                tables.append(copy_fields(TableStatistics, table))
            segments.append(copy_fields(SegmentStatistics, segment, words=tuple(words), tables=tuple(tables)))
        next_id = found.next_id if found.has_ids else None
        words_of_largest = segments[found.largest_segment].words if segments else ()
        made: Statistics = copy_fields(
            Statistics, found, segments=tuple(segments), words=words_of_largest, next_id=next_id
        )
        return made

    # ----- queries -----

    def _take_cursor(self) -> tuple[_Cursor, list[_Cursor]]:
        """Take a cursor from the pool, and the pool to which it is appended afterwards. close() makes another pool."""
        cursors = self._cursors if self._is_plain else self._wide_cursors
        try:
            return cursors.pop(), cursors
        except IndexError:
            return _Cursor(self._open(), self._words), cursors

    def _query_wide(
        self,
        fingerprint: Optional[Fingerprint],
        distance: int,
        nearest: bool,
        limit: int,
        ids: Optional[IdRange] = None,
        exclude_id: Optional[int] = None,
    ) -> Matches:
        """As _query(), also for fingerprints that are no int, and of any width; and for some ids only."""
        largest, name = self._words * lib.SSTORE_MAX_DISTANCE, "max_distance" if nearest else "distance"
        value, distance = one(fingerprint, "fingerprint", self._words), number_of(distance, name, largest)
        cursor, cursors = self._take_cursor()
        answer, filters = cursor.answer, ids is not None or exclude_id is not None
        if filters:
            cursor.filter(ids, exclude_id)
        count = lib.sspy_query_words(cursor.native, pointer(value), distance, nearest, limit, answer)
        if filters:
            cursor.filter(None)
        if count < 0:
            error = error_of(ffi.addressof(answer, "error"))
            cursor.capacity = 0  # the memory may have moved
            cursors.append(cursor)
            raise error
        if count > cursor.capacity:
            cursor.see()
        data = cursor.view[: count * cursor.match_bytes]
        cursors.append(cursor)
        return QueryMatches(data, count, self._has_ids, self._words)

    def _query(self, fingerprint: Optional[Fingerprint], distance: int, nearest: bool, limit: int) -> Matches:
        cursors = self._cursors  # as _take_cursor(), which would take a tenth of the time that this adds to the C call
        try:
            cursor = cursors.pop()
        except IndexError:
            if not self._is_plain:
                return self._query_wide(fingerprint, distance, nearest, limit)
            cursor = _Cursor(self._open(), 1)
        answer = cursor.answer
        try:
            if type(fingerprint) is not int or type(distance) is not int:
                fingerprint, distance = int_of(fingerprint), operator.index(distance)
            count = lib.sspy_query(cursor.native, fingerprint, distance, nearest, limit, answer)
        except (OverflowError, TypeError):
            cursors.append(cursor)
            fingerprint = unwrapped(fingerprint)
            if isinstance(fingerprint, (bytes, np.ndarray)):
                return self._query_wide(fingerprint, distance, nearest, limit)
            number_of(distance, "max_distance" if nearest else "distance", lib.SSTORE_MAX_DISTANCE)
            return self._query(word(fingerprint, "fingerprint"), distance, nearest, limit)
        if count >= 0:
            if count > cursor.capacity:
                cursor.see()
            data = cursor.view[: count * 20]
            cursors.append(cursor)
            return QueryMatches(data, count, self._has_ids)
        error = error_of(ffi.addressof(answer, "error"))
        cursor.capacity = 0  # the memory may have moved
        cursors.append(cursor)
        number_of(distance, "max_distance" if nearest else "distance", lib.SSTORE_MAX_DISTANCE)
        raise error

    def _own_or(self, distance: Optional[int]) -> int:
        """The distance of a query."""
        largest = self._words * lib.SSTORE_MAX_DISTANCE
        return self._distance if distance is None else number_of(distance, "distance", largest)

    def query(
        self,
        fingerprint: Optional[Fingerprint] = None,
        distance: Optional[int] = None,
        *,
        limit: Optional[int] = None,
        ids: Optional[IdRange] = None,
        exclude_id: Optional[int] = None,
        id: Optional[int] = None,
        name: Optional[Name] = None,
        exclude_self: bool = False,
        with_names: bool = False,
    ) -> Matches:
        """The records within a distance of a fingerprint, each once, ascending by distance, fingerprint and id.

        Args:
            fingerprint: an int of as many bits as the store's fingerprints have; a negative one is taken as two's
                complement. Or an array of shape (words,) of 64-bit integers, the most significant word first. Or bytes,
                the most significant first: bytes, or an array of uint8 of shape (8 * words,). In a store that
                `sstore build --pad` made, all these have zeros behind the bits that a fingerprint had; bytes, and
                arrays of bytes or of single bits, can be without the zeros. Or a hash of imagehash, or what pdqhash
                returns.
            distance: in bits, 0 to 64 for each word; None: the store's own.
            limit: only the first ones, at least 1; None: all. Of a fingerprint with many ids, no more are read.
                count() tells how many there are.
            ids: only records with ids from the first to the last one of this pair, both included; None in the pair:
                no bound. So ids that are times give windows. Other records are neither counted nor limited.
            exclude_id: without the records with this id, such as the one that the fingerprint is of.
            id, name: instead of a fingerprint: of all records that have this id, or whose ids have this name. A match
                is within the distance of one of their fingerprints, and has its smallest distance from them.
            exclude_self: with id or name: without these records themselves.
            with_names: add the column name, in a store with names.

        Returns:
            The columns fingerprint (uint64), id (uint64; in a store with ids), name (Strings; if with_names=True) and
            distance (uint32), each of shape (n,). With several words, fingerprint has the shape (n, words).

            The arrays are read-only.

        Raises:
            ArgumentError: the distance, the fingerprint, the limit or the ids are out of range, no record has the id or
                the name, the store has no ids or no names, or it is closed.
            FileError, DamagedError: a block cannot be read, or is damaged.
        """
        near = self._distance if distance is None else distance
        if ids is None and exclude_id is None and id is None and name is None and not (exclude_self or with_names):
            return self._query(fingerprint, near, False, limit_of(limit))
        return self._answer(fingerprint, near, False, limit, (ids, exclude_id), (id, name), exclude_self, with_names)

    def nearest(
        self,
        fingerprint: Optional[Fingerprint] = None,
        max_distance: Optional[int] = None,
        *,
        limit: Optional[int] = None,
        ids: Optional[IdRange] = None,
        exclude_id: Optional[int] = None,
        id: Optional[int] = None,
        name: Optional[Name] = None,
        exclude_self: bool = False,
        with_names: bool = False,
    ) -> Matches:
        """The nearest records to a fingerprint, up to max_distance: with a limit so many, ascending by distance,
        fingerprint and id; without one, all at the smallest distance at which there are any.

        The columns, the other arguments and the errors are those of query(). max_distance None: at any distance, so
        every store with records has a match. For many fingerprints, query_batch() with a limit does the same. With
        exclude_self, the nearest other records.
        """
        near = self.bits if max_distance is None else max_distance
        if ids is None and exclude_id is None and id is None and name is None and not (exclude_self or with_names):
            return self._query(fingerprint, near, True, limit_of(limit))
        return self._answer(fingerprint, near, True, limit, (ids, exclude_id), (id, name), exclude_self, with_names)

    def _answer(
        self,
        fingerprint: Optional[Fingerprint],
        distance: int,
        nearest: bool,
        limit: Optional[int],
        filters: _Filters,
        stored: tuple[Optional[int], Optional[Name]],
        exclude_self: bool,
        with_names: bool,
    ) -> Matches:
        """As _query(), also of stored records, for some ids only, and with names."""
        naming, max_count = self._naming(with_names, is_single=True), limit_of(limit)
        if stored == (None, None):
            if flag_of(exclude_self, "exclude_self"):
                raise ArgumentError(
                    "exclude_self: expected id= or name=; of a fingerprint, exclude_id= leaves a record out"
                )
            found = self._query_some(fingerprint, distance, nearest, max_count, filters)
            return found if not with_names else Matches(naming(found.columns))
        if fingerprint is not None or None not in stored:
            raise ArgumentError("expected one of a fingerprint, id= and name=, found several")
        origin = Stored(self._one_stored(*stored), flag_of(exclude_self, "exclude_self"))
        if origin.excluded_id is not None and filters[1] is None:
            filters = filters[0], origin.excluded_id
        elif origin.excluded_id is not None:
            raise ArgumentError("expected one of exclude_self= and exclude_id=, found both")
        if origin.is_simple:
            found = self._query_some(origin.fingerprints[0], distance, nearest, max_count, filters)
            return found if not with_names else Matches(naming(found.columns))

        def ask(one_fingerprint: Any, count: Optional[int]) -> Matches:
            return self._query_some(one_fingerprint, distance, nearest, count or 0, filters)

        if nearest and limit is None:
            smallest = origin.smallest_distance(ask)
            nearest, limit = False, 0 if smallest is None else None
            distance = smallest or 0
        return Matches(naming(origin.matches(ask, limit).columns))

    def _query_some(self, fingerprint: Any, distance: int, nearest: bool, limit: int, filters: _Filters) -> Matches:
        """As _query(), for some ids only."""
        if filters == (None, None):
            return self._query(fingerprint, distance, nearest, limit)
        return self._query_wide(fingerprint, distance, nearest, limit, *filters)

    def _one_stored(self, id: Optional[int], name: Optional[Name]) -> FoundRecords:
        """The records that have an id, or whose ids have a name: at least one."""
        found = self.get(id=id, name=name)
        if len(found) == 0:
            what = f"id: no record has the id {id}" if id is not None else f"name: no record has the name {name!r}"
            raise ArgumentError(f"{os.fsdecode(self._path)}: {what}")
        return found

    def count(
        self,
        fingerprint: Fingerprint,
        distance: Optional[int] = None,
        *,
        ids: Optional[IdRange] = None,
        exclude_id: Optional[int] = None,
    ) -> int:
        """The number of records within a distance of a fingerprint. Arguments and errors are those of query()."""
        value, near = one(fingerprint, "fingerprint", self._words), self._own_or(distance)
        cursor, cursors = self._take_cursor()
        filters = ids is not None or exclude_id is not None
        if filters:
            cursor.filter(ids, exclude_id)
        answer = cursor.answer
        count, error = ffi.addressof(answer, "count"), ffi.addressof(answer, "error")
        status = lib.sstore_query_columns(cursor.native, pointer(value), near, ffi.NULL, 0, count, error)
        found, failure = int(answer.count), None if status == lib.SSTORE_OK else error_of(error)
        if filters:
            cursor.filter(None)
        cursors.append(cursor)
        if failure is not None:
            raise failure
        return found

    def _own_ids(self, exclude: _Exclude, count: int, rows: Optional[npt.NDArray[Any]]) -> tuple[Any, Any]:
        """The excluded id of each query, of which those of skipped rows are left out; and Excluded, if names are."""
        kind, given = exclude
        own: Any = asked_names(given, kind) if kind == "exclude_names" else taken(given, kind, 1, None).fingerprints
        if len(own) != count:
            what = kind.removeprefix("exclude_")
            raise ArgumentError(f"{kind}: expected {count} {what}, one for each fingerprint, found {len(own)}")
        own = own if rows is None else own[rows]
        if kind == "exclude_ids":
            return pointer(own), None
        excluded = Excluded(self.get(names=own), len(own), self._unused_id)
        return pointer(excluded.ids), excluded

    def _unused_id(self) -> int:
        """An id that no record has: nearly always the next one."""
        number = int(self._statistics().next_id)
        while len(self.get(id=number)) > 0:
            number = (number + 1) % (1 << 64)
        return number

    def _match_results(
        self,
        fingerprints: ArrayLike,
        distance: Optional[int],
        limit: Optional[int],
        ids: Optional[IdRange],
        exclude: Optional[_Exclude],
        threads: int,
        skip_bad: SkipBad,
        with_names: bool,
        progress: ProgressOption,
    ) -> Results[BatchMatches]:
        naming = self._naming(with_names)
        native, bad = self._open(), bad_rows_of(skip_bad)
        given = taken(fingerprints, "fingerprints", self._words, bad)
        bad.tell()
        queries, rows = given.fingerprints, given.rows
        data = pointer(queries)
        max_count = limit_of(limit)
        excluded, others = (None, None) if exclude is None else self._own_ids(exclude, given.row_count, rows)
        sift = None if others is None else others.matches(max_count)
        call, filter = Call(progress), filter_of(ids, excluded)
        wanted = max_count if others is None else others.limit(max_count)
        iterator = call.iterate(
            lib.sstore_iterate_matches,
            native,
            data,
            len(queries),
            self._own_or(distance),
            call.options("sstore_batch_options", threads=threads, limit=wanted, filter=filter),
            keep=(native, data, filter, excluded),
        )

        def convert(columns: dict[str, npt.NDArray[Any]]) -> BatchMatches:
            if sift is not None:
                columns = sift(columns)
            if rows is not None:
                columns["query_index"] = rows[columns["query_index"]].astype(np.uint64)
            matches = BatchMatches(naming(self._drop_missing_ids(columns)))
            matches.query_count = given.row_count
            return matches

        return Results(call, lib.SSPY_MATCHES, iterator, wide(MATCH_COLUMNS, self._words), convert)

    def _drop_missing_ids(self, columns: dict[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
        return columns if self._has_ids else {n: c for n, c in columns.items() if n != "id"}

    def query_batch(
        self,
        fingerprints: ArrayLike,
        distance: Optional[int] = None,
        *,
        limit: Optional[int] = None,
        ids: Optional[IdRange] = None,
        exclude_ids: Optional[ArrayLike] = None,
        exclude_names: Optional[StringsLike] = None,
        also: Sequence[Union[Store, PathLike]] = (),
        threads: int = 0,
        skip_bad: SkipBad = False,
        with_names: bool = False,
        progress: ProgressOption = False,
    ) -> BatchMatches:
        """The records within a distance of each of many fingerprints.

        Args:
            fingerprints: n of them, as build() takes them: an array of integers of shape (n,), or with several words
                (n, words), a sequence of int or of bytes, or Arrow data.
            distance: in bits, 0 to 64 for each word; None: the store's own.
            limit: only the first records of each fingerprint, at least 1; None: all. No more ids are read.
            ids: only records with these ids, as query() takes them.
            exclude_ids: an id for each fingerprint: it does not find records of this store with it, such as itself.
            exclude_names: a name for each fingerprint, as build() takes names: it does not find records of this store
                whose ids have it. The store may lack the name.
            also: other stores, or paths of them, that are also asked. The limit and the order are those of all matches
                together, and the column store_index says which store has the record: 0 is this one, 1 the first of
                the others. Either all have ids, or none.
            threads: 0: all that the process may use.
            skip_bad: as build() takes it. Rows that are skipped have no matches.
            with_names: add the column name, in a store with names.
            progress: True: a bar, if tqdm is installed; or a function that gets a Progress a few times a second.

        Returns:
            The columns query (uint64, the index of the fingerprint), fingerprint, id and distance. The matches come in
            the order of the queries, those of one query ascending by distance, fingerprint and id. `offsets` says
            where those of each query are.

        Raises:
            ArgumentError: the distance, a fingerprint or the limit is out of range, or the store is closed.
            FileError, DamagedError: a block cannot be read, or is damaged.
            OutOfMemoryError: the matches do not fit in memory; iter_query_batch() then serves.
        """
        how = threads, skip_bad, with_names, progress
        exclude = _exclude_of(exclude_ids, exclude_names)
        if len(also) > 0:
            return self._query_stores(also, fingerprints, self._own_or(distance), limit, ids, exclude, *how)
        return self._match_results(fingerprints, distance, limit, ids, exclude, *how).all()

    def _query_stores(
        self,
        also: Sequence[Union[Store, PathLike]],
        fingerprints: ArrayLike,
        distance: int,
        limit: Optional[int],
        ids: Optional[IdRange],
        exclude: Optional[_Exclude],
        *how: Any,
    ) -> BatchMatches:
        """As query_batch(), of several stores."""
        parts = [self._match_results(fingerprints, distance, limit, ids, exclude, *how).all()]
        for store in (store if isinstance(store, Store) else Store(store) for store in also):
            if store._words != self._words:
                raise ArgumentError(
                    f"also: expected a store of {self.bits} bits, as this one is, found one of {store.bits} bits"
                )
            if store._has_ids != self._has_ids:
                raise ArgumentError("also: either all stores have ids, or none")
            parts.append(store._match_results(fingerprints, distance, limit, ids, None, *how).all())
            if parts[-1].query_count != parts[0].query_count:
                raise ArgumentError("also: expected fingerprints that can be read several times, found a stream")
        made = BatchMatches(of_stores(parts, limit))
        made.query_count = parts[0].query_count
        return made

    def iter_query_batch(
        self,
        fingerprints: ArrayLike,
        distance: Optional[int] = None,
        *,
        limit: Optional[int] = None,
        ids: Optional[IdRange] = None,
        exclude_ids: Optional[ArrayLike] = None,
        exclude_names: Optional[StringsLike] = None,
        batch_size: int = _BATCH_SIZE,
        threads: int = 0,
        skip_bad: SkipBad = False,
        with_names: bool = False,
        progress: ProgressOption = False,
    ) -> Batches[BatchMatches]:
        """The same as query_batch(), in batches of batch_size rows. The last one may have fewer; with exclude_names, of
        which some have several ids, any of them."""
        exclude = _exclude_of(exclude_ids, exclude_names)
        return Batches(
            lambda: self._match_results(
                fingerprints, distance, limit, ids, exclude, threads, skip_bad, with_names, progress
            ),
            batch_size,
        )

    def query_groups(
        self,
        fingerprints: ArrayLike,
        groups: Union[ArrayLike, StringsLike, None] = None,
        distance: Optional[int] = None,
        *,
        limit: Optional[int] = None,
        ids: Optional[IdRange] = None,
        exclude_self: bool = False,
        also: Sequence[Union[Store, PathLike]] = (),
        threads: int = 0,
        with_names: bool = False,
        progress: ProgressOption = False,
    ) -> GroupMatches:
        """The records near groups of fingerprints, such as the rotations of a picture or the frames of a clip.

        A group is answered as one: it finds each record once, at its smallest distance.

        Args:
            fingerprints: n of them, as query_batch() takes them.
            groups: n numbers or strings, such as the ids of documents: consecutive fingerprints with the same one are a
                group. None: all fingerprints are one.
            limit: only the first records of each group, at least 1; None: all.
            exclude_self: leave out the records of this store whose id is the number of the group; of groups that are
                strings, those of which it is the name.

        The other arguments and the errors are those of query_batch().

        Returns:
            The columns group_index (uint64, from 0), query_index (uint64, of the nearest fingerprint), fingerprint, id,
            name (if with_names=True), distance, and query_count (uint64): how many of the group are within the
            distance. The matches come in the order of the groups, those of one group ascending by distance, fingerprint
            and id.
        """
        near = self._own_or(distance)
        queries = taken(fingerprints, "fingerprints", self._words, bad_rows_of(False)).fingerprints
        numbers = group_numbers(groups, len(queries))
        if flag_of(exclude_self, "exclude_self") and groups is None:
            raise ArgumentError("exclude_self: expected groups, whose numbers are ids, or strings names")
        own: dict[str, Any] = {}
        if exclude_self:
            own["exclude_names" if are_texts(groups) else "exclude_ids"] = groups
        found = self.query_batch(
            queries,
            near,
            limit=limit,
            ids=ids,
            **own,
            also=also,
            threads=threads,
            with_names=with_names,
            progress=progress,
        )
        return of_groups(found, queries, numbers, near, limit)

    def explain(self, fingerprint: Fingerprint, distance: Optional[int] = None) -> list[TableExplanation]:
        """What a query reads in each table, and what it was expected to read. The arguments are those of query()."""
        value, near = one(fingerprint, "fingerprint", self._words), self._own_or(distance)
        cursor, cursors = self._take_cursor()
        call = Collector(lambda table: copy_fields(TableExplanation, table))
        call.check(
            lib.sstore_explain(
                cursor.native,
                pointer(value),
                near,
                lib.sspy_table,
                call.context,
                call.error,
            )
        )
        cursors.append(cursor)
        return call.items

    # ----- records -----

    def get(
        self,
        ids: Union[int, ArrayLike, None] = None,
        *,
        names: Union[Name, StringsLike, None] = None,
        id: Optional[int] = None,
        name: Optional[Name] = None,
        with_names: bool = False,
    ) -> FoundRecords:
        """The records that have one of these ids, or whose ids have one of these names.

        In a store with an id index this is quick; otherwise all records are read.

        Args:
            ids: n integers from 0 to 2**64 - 1, as build() takes them; or one.
            names: instead of ids: n names, as build() takes them; or one.
            id, name: instead of ids and names: one, as query() takes them.
            with_names: add the column name, in a store with names.

        Returns:
            The columns query_index (uint64, of the id or the name in the argument), fingerprint, id and name (if
            with_names=True), ascending by query_index, fingerprint and id. An id or a name that no record has gives no
            row. Several records may have an id, and several ids a name.

        Raises:
            ArgumentError: the store has no ids, or no names, or is closed.
            FileError, DamagedError: a block cannot be read, or is damaged.
        """
        if sum(key is not None for key in (ids, names, id, name)) != 1:
            raise TypeError("get: expected ids or names, or one id= or name=")
        naming = self._naming(with_names, is_single=True)
        if ids is not None or id is not None:
            given = asked_ids(ids) if id is None else _one_id(id)
            function, wanted, count = lib.sspy_get, pointer(given), len(given)
        else:
            texts = asked_names(names if name is None else _one_name(name))
            function, wanted, count = lib.sspy_get_named, texts.native(), len(texts)
        columns, call = Buffers(wide(ID_COLUMNS, self._words)), Call()
        cursor, cursors = self._take_cursor()
        status = function(cursor.native, wanted, count, columns.native, call.error)
        cursors.append(cursor)
        call.check(status)
        made = columns.take()
        keys = [made["fingerprint"]] if self._words == 1 else list(made["fingerprint"].T[::-1])
        order = np.lexsort((made["id"], *keys, made["query_index"]))
        return FoundRecords(naming({name: column[order] for name, column in made.items()}))

    # ----- names -----

    def names(self, ids: Union[int, ArrayLike]) -> Strings:
        """The names of ids, such as those of matches.

        with_names=True of other calls adds them to their results.

        Args:
            ids: n integers, as build() takes them, also a result with a column "id"; or one.

        Returns:
            n names. An id that no record has has None, or, until compact(), the name of a record that was removed.

        Raises:
            ArgumentError: the store has no names, or is closed.
            FileError, DamagedError: a block cannot be read, or is damaged.
        """
        return self._names_of(asked_ids(ids))

    def _names_of(self, ids: Words) -> Strings:
        cursor, cursors = self._take_cursor()
        try:
            return cursor.names(ids)
        finally:
            cursors.append(cursor)

    def _naming(self, with_names: bool, right: Optional[Store] = None, *, is_single: bool = False) -> _Naming:
        """What adds names to a result, if they are wanted. It keeps the stores open, except for a single call."""
        stores = {"id": self, "other_id": right or self} if flag_of(with_names, "with_names") else {}
        named = {column: store for column, store in stores.items() if store._has_names}
        if stores and not named:
            raise ArgumentError(f"{os.fsdecode(self._path)}: the store has no names")
        if is_single:
            return _Naming({column: store._names_of for column, store in named.items()})
        return _Naming({column: _Cursor(store._open(), store._words).names for column, store in named.items()})

    def _record_results(self, with_names: bool) -> Results[Records]:
        naming = self._naming(with_names)
        native, call = self._open(), Call()
        iterator = call.iterate(
            lib.sstore_iterate_records,
            native,
            keep=native,
        )
        return Results(
            call,
            lib.SSPY_RECORDS,
            iterator,
            wide(RECORD_COLUMNS, self._words),
            lambda c: Records(naming(self._drop_missing_ids(c))),
        )

    def records(self, *, with_names: bool = False) -> Records:
        """All records, ascending by fingerprint and id: the columns fingerprint, id (in a store with ids) and name (if
        with_names=True)."""
        return self._record_results(with_names).all()

    def iter_records(self, *, batch_size: int = _BATCH_SIZE, with_names: bool = False) -> Batches[Records]:
        """The same as records(), in batches of batch_size rows; the last one may have fewer."""
        return Batches(lambda: self._record_results(with_names), batch_size)

    # ----- pairs and clusters -----

    def _join_options(
        self,
        call: Call,
        kind: str,
        distance: Optional[int],
        threads: int,
        memory: Optional[Size],
        tmp_dir: Any,
        **more: Any,
    ) -> Any:
        return call.options(
            kind,
            distance=build_distance_or_own(distance, self._words),
            threads=threads,
            memory_bytes=size_of(memory, "memory"),
            tmp_dir=None if tmp_dir is None else encode(tmp_dir),
            **more,
        )

    def _pair_results(
        self, right: Union[Store, PathLike, None], call: Call, options: Any, with_names: bool
    ) -> Results[Pairs]:
        if right is not None and not isinstance(right, Store):
            right = Store(right)
        if right is self:
            raise ArgumentError("join: expected another store; pairs() finds the pairs of one")
        if right is not None and right._words != self._words:
            raise ArgumentError(
                f"join: expected a store of {self.bits} bits, as this one is, found one of {right.bits} bits"
            )
        left, other, naming = self._open(), None if right is None else right._open(), self._naming(with_names, right)
        iterator = call.iterate(
            lib.sstore_iterate_pairs,
            left,
            ffi.NULL if other is None else other,
            options,
            keep=(left, other),
        )
        hidden = set() if self._has_ids else {"id"}
        if not (self if right is None else right)._has_ids:
            hidden.add("other_id")

        def convert(columns: Mapping[str, npt.NDArray[Any]]) -> Pairs:
            return Pairs(naming({n: c for n, c in columns.items() if n not in hidden}))

        return Results(call, lib.SSPY_PAIRS, iterator, wide(PAIR_COLUMNS, self._words), convert)

    def _pairs(
        self,
        right: Union[Store, PathLike, None],
        distance: Optional[int],
        threads: int,
        memory: Optional[Size],
        tmp_dir: Optional[PathLike],
        with_names: bool,
        progress: ProgressOption,
    ) -> Results[Pairs]:
        call = Call(progress)
        options = self._join_options(call, "sstore_join_options", distance, threads, memory, tmp_dir)
        return self._pair_results(right, call, options, with_names)

    def pairs(
        self,
        distance: Optional[int] = None,
        *,
        threads: int = 0,
        memory: Optional[Size] = None,
        tmp_dir: Optional[PathLike] = None,
        with_names: bool = False,
        progress: ProgressOption = False,
    ) -> Pairs:
        """Every pair of different records within a distance, once.

        Args:
            distance: in bits, 0 to 16 for each word; None: the store's own.
            threads: 0: all that the process may use.
            memory: what the call may take beside the open store and the results, in bytes or such as "2G"; None: 1 GiB.
                Less than 64 MiB may be exceeded.
            tmp_dir: for items that do not fit in memory; None: the folder that TMPDIR names, or the store's.
            with_names: add the columns name and other_name, of stores with names.
            progress: True: a bar, if tqdm is installed; or a function that gets a Progress a few times a second.

        Returns:
            The columns fingerprint, id, other_fingerprint, other_id (uint64) and distance (uint32), each of shape (n,)
            (fingerprints of several words: (n, words)), ascending by fingerprint, other_fingerprint, other_id and id.
            The record with the smaller fingerprint is first; of equal fingerprints, the one with the smaller id. To
            drop duplicates, use clusters().duplicates.

        Raises:
            ArgumentError: the distance or memory is out of range, or the store is closed.
            NotFoundError: there is no folder at tmp_dir.
            FileError, DamagedError, OutOfMemoryError
        """
        return self._pairs(None, distance, threads, memory, tmp_dir, with_names, progress).all()

    def iter_pairs(
        self,
        distance: Optional[int] = None,
        *,
        batch_size: int = _BATCH_SIZE,
        threads: int = 0,
        memory: Optional[Size] = None,
        tmp_dir: Optional[PathLike] = None,
        with_names: bool = False,
        progress: ProgressOption = False,
    ) -> Batches[Pairs]:
        """The same as pairs(), in batches of batch_size rows; the last one may have fewer."""
        return Batches(lambda: self._pairs(None, distance, threads, memory, tmp_dir, with_names, progress), batch_size)

    def _join(self, other: Union[Store, PathLike], *arguments: Any) -> Results[Pairs]:
        if other is None:
            raise TypeError("join: expected a store or the path of one, found None")
        return self._pairs(other, *arguments)

    def join(
        self,
        other: Union[Store, PathLike],
        distance: Optional[int] = None,
        *,
        threads: int = 0,
        memory: Optional[Size] = None,
        tmp_dir: Optional[PathLike] = None,
        with_names: bool = False,
        progress: ProgressOption = False,
    ) -> Pairs:
        """Every pair of a record of this store and one of another within a distance, once.

        Args:
            other: a store, or the path of one.
            distance: in bits, 0 to 16 for each word; None: the smaller of the two stores' own distances.

        The other arguments, the columns and the errors are those of pairs(): fingerprint and id are of this store,
        other_fingerprint and other_id of the other one.

        Raises:
            RecipeError: the fingerprints of the stores were made by different recipes.
            ArgumentError: also if the other store is this one, or its fingerprints have other widths.
            NotFoundError: also if there is no store at the path.
        """
        return self._join(other, distance, threads, memory, tmp_dir, with_names, progress).all()

    def iter_join(
        self,
        other: Union[Store, PathLike],
        distance: Optional[int] = None,
        *,
        batch_size: int = _BATCH_SIZE,
        threads: int = 0,
        memory: Optional[Size] = None,
        tmp_dir: Optional[PathLike] = None,
        with_names: bool = False,
        progress: ProgressOption = False,
    ) -> Batches[Pairs]:
        """The same as join(), in batches of batch_size rows; the last one may have fewer."""
        return Batches(lambda: self._join(other, distance, threads, memory, tmp_dir, with_names, progress), batch_size)

    def _cluster_results(
        self,
        distance: Optional[int],
        singles: bool,
        threads: int,
        memory: Optional[Size],
        tmp_dir: Optional[PathLike],
        with_names: bool,
        progress: ProgressOption,
    ) -> Results[Clusters]:
        native, naming = self._open(), self._naming(with_names)
        call = Call(progress)
        options = self._join_options(
            call, "sstore_cluster_options", distance, threads, memory, tmp_dir, with_singles=singles
        )
        iterator = call.iterate(
            lib.sstore_iterate_clusters,
            native,
            options,
            keep=native,
        )
        return Results(
            call,
            lib.SSPY_CLUSTERS,
            iterator,
            wide(CLUSTER_COLUMNS, self._words),
            lambda c: Clusters(naming(self._drop_missing_ids(c))),
        )

    def clusters(
        self,
        distance: Optional[int] = None,
        *,
        singles: bool = False,
        threads: int = 0,
        memory: Optional[Size] = None,
        tmp_dir: Optional[PathLike] = None,
        with_names: bool = False,
        progress: ProgressOption = False,
    ) -> Clusters:
        """The connected components of the pairs within a distance.

        Args:
            singles: also return records that are in no pair, as clusters of one.

        The other arguments and errors are those of pairs().

        Returns:
            The columns cluster, cluster_size, fingerprint, id, distance (from the representative) and
            is_representative. The records of a cluster follow each other, the representative first. It is the record
            with the smallest id, and of several the smallest fingerprint; without ids, the smallest fingerprint.
        """
        return self._cluster_results(distance, singles, threads, memory, tmp_dir, with_names, progress).all()

    def iter_clusters(
        self,
        distance: Optional[int] = None,
        *,
        singles: bool = False,
        batch_size: int = _BATCH_SIZE,
        threads: int = 0,
        memory: Optional[Size] = None,
        tmp_dir: Optional[PathLike] = None,
        with_names: bool = False,
        progress: ProgressOption = False,
    ) -> Batches[Clusters]:
        """The same as clusters(), in batches of batch_size rows; the last one may have fewer."""
        return Batches(
            lambda: self._cluster_results(distance, singles, threads, memory, tmp_dir, with_names, progress), batch_size
        )


_stores: weakref.WeakSet[Store] = weakref.WeakSet()


def _forget_cursors() -> None:
    """A cursor belongs to the process that created it; a store does not."""
    for store in _stores:
        store._cursors = []  # pyright: ignore[reportPrivateUsage]
        store._wide_cursors = []  # pyright: ignore[reportPrivateUsage]


os.register_at_fork(after_in_child=_forget_cursors)


def _reopen_path(path: PathLike, arguments: dict[str, Any]) -> Store:
    return Store(path, **arguments)


def open(
    path: PathLike,
    *,
    io: IoMode = "auto",
    recipe: Optional[str] = None,
    max_memory: Optional[Size] = None,
) -> Store:
    """Open a store for reading.

    Args:
        path: the store's folder.
        io: how blocks are read. "auto": "mmap" if all files fit into half of the memory, otherwise "pread". "memory"
            loads and checks everything first. With "mmap" the process may end with SIGBUS if a file is cut short, or
            the disk fails, while the store is open; "pread" always raises.
        recipe: if given, the store must have exactly this recipe.
        max_memory: in bytes or such as "64M"; None: no limit. If the open store, with one cursor, would take more,
            OutOfMemoryError. Mapped pages are not counted.

    Raises:
        NotFoundError: there is no store at the path.
        RecipeError: the store has another recipe.
        ArgumentError, DamagedError, UnsupportedError, FileError, OutOfMemoryError
    """
    return Store(path, io=io, recipe=recipe, max_memory=max_memory)
