"""Results: columns of equal length, as NumPy arrays, which the dataframe libraries can take over."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Optional, TypeVar

import numpy as np
import numpy.typing as npt

from sstore._arrays import Words, words_of
from sstore._call import Call, rows_of
from sstore._errors import ArgumentError
from sstore._export import arrow_of, stream_of
from sstore._native import ffi, lib
from sstore._strings import Strings

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Distances = npt.NDArray[np.uint32]
Flags = npt.NDArray[np.bool_]

_SHOWN_ROWS = 10
_OF_RECORDS = ("fingerprint", "id", "name")  # columns


def _hex_of(fingerprint: Any) -> str:
    return "".join(f"{word:016x}" for word in np.atleast_1d(fingerprint).tolist())


def byte_strings(fingerprints: Words) -> list[bytes]:
    """Fingerprints as bytes, the most significant first."""
    size, joined = 8 * words_of(fingerprints), fingerprints.astype(">u8").tobytes()
    return [joined[begin : begin + size] for begin in range(0, len(joined), size)]


class Columns:
    """A result: columns of equal length, one row for each match, pair or record. `result[name]` is a column, an array.

    The length is the number of rows, and iterating gives the names of the columns, as with a data frame. It exports
    Arrow data (`__arrow_c_array__`, `__arrow_c_stream__`), so that pyarrow, polars, DuckDB and pandas take it over.
    Only columns of bool are copied, since Arrow packs them, and fingerprints of more than 64 bits: data frames get them
    as bytes, the most significant first, which compare, join and sort as the fingerprints do. Names, which calls with
    with_names=True add, are a sstore.Strings; data frames get them as texts.
    """

    _hexadecimal: ClassVar[frozenset[str]] = frozenset(["fingerprint", "other_fingerprint"])

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._columns = dict(columns)
        made = self._columns.values()
        is_column = all(c.ndim == 1 or (c.ndim == 2 and c.dtype == np.uint64) for c in made)
        if not is_column or len({len(column) for column in made}) != 1:
            raise ArgumentError(
                "columns: expected at least one, all of one shape (n,), or (n, words) for wide fingerprints; found "
                + ", ".join(str(column.shape) for column in made)
            )

    def _first(self) -> Any:
        return next(iter(self._columns.values()))

    @property
    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """The columns by name: arrays of shape (n,), and of fingerprints of more than 64 bits (n, words); and names as
        sstore.Strings."""
        return self._columns

    def __getitem__(self, name: str) -> Any:
        columns = self.columns
        if name not in columns:
            raise KeyError(f"there is no column {name!r}; there are {', '.join(columns)}")
        return columns[name]

    def __len__(self) -> int:
        return len(self._first())

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Columns):
            return NotImplemented
        return self.columns.keys() == other.columns.keys() and all(
            column == other.columns[name]
            if isinstance(column, Strings)
            else np.array_equal(column, other.columns[name])
            for name, column in self.columns.items()
        )

    __hash__ = None  # type: ignore[assignment]

    def _cells(self) -> list[list[str]]:
        """The names, and the first rows."""
        rows = [list(self.columns)]
        for i in range(min(len(self), _SHOWN_ROWS)):
            rows.append([self._cell(name, column, i) for name, column in self.columns.items()])
        return rows

    def _cell(self, name: str, column: Any, row: int) -> str:
        if isinstance(column, Strings):
            return column.shown(row)
        return _hex_of(column[row]) if name in self._hexadecimal else str(column[row])

    def __repr__(self) -> str:
        rows = self._cells()
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in rows]
        if len(self) > _SHOWN_ROWS:
            lines.append("...")
        return "\n".join([f"{type(self).__name__}: {len(self)} rows", *lines])

    def _repr_html_(self) -> str:
        """For notebooks."""
        names, *rows = self._cells()
        lines = ["<tr>" + "".join(f"<td><code>{escape(cell)}</code></td>" for cell in row) + "</tr>" for row in rows]
        head = "".join(f"<th>{escape(name)}</th>" for name in names)
        more = "<p>...</p>" if len(self) > _SHOWN_ROWS else ""
        caption = f"<caption>{type(self).__name__}: {len(self):,} rows</caption>"
        return f"<table>{caption}<tr>{head}</tr>{''.join(lines)}</table>{more}"

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return arrow_of(self.columns).__arrow_c_array__()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        array = arrow_of(self.columns)
        return stream_of(array.schema, iter([array])).__arrow_c_stream__()

    def __array__(self, *_: object, **__: object) -> npt.NDArray[Any]:
        raise TypeError('a result has several columns: take one, such as result["id"], or use to_pandas()')

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas.DataFrame that shares the columns' memory. Fingerprints of more than 64 bits are bytes, copied."""
        import pandas

        made: dict[str, Any] = {}
        for name, column in self.columns.items():
            if isinstance(column, Strings):
                kind: Any = None if column.is_utf8() else np.object_
                made[name] = pandas.Series(column.tolist(), dtype=kind)
            else:
                made[name] = column if column.ndim == 1 else byte_strings(column)
        return pandas.DataFrame(made, copy=False)

    def to_polars(self) -> polars.DataFrame:
        """A polars.DataFrame. Fingerprints of more than 64 bits are a column of Binary."""
        import polars

        made: dict[str, Any] = {}
        for name, column in self.columns.items():
            if isinstance(column, Strings):
                made[name] = polars.Series(column)
            else:
                made[name] = column if column.ndim == 1 else byte_strings(column)
        types = {name: polars.Binary() for name, column in self.columns.items() if column.ndim > 1}
        return polars.DataFrame(made, schema_overrides=types)

    def to_arrow(self) -> pyarrow.Table:
        """A pyarrow.Table that shares the columns' memory, except that of bool and of fingerprints of several words,
        which are a column of fixed-size binary."""
        import pyarrow

        return pyarrow.table(self)


class _RecordColumns(Columns):
    @property
    def fingerprint(self) -> Words:
        """uint64, shape (n,); of more than 64 bits, (n, words)."""
        return self.columns["fingerprint"]

    @property
    def id(self) -> Words:
        """uint64, shape (n,). AttributeError in a store without ids."""
        return self._id("id")

    @property
    def name(self) -> Strings:
        """The name of each id. AttributeError unless the call was given with_names=True."""
        return self._name("name")

    def _id(self, name: str) -> Words:
        column = self.columns.get(name)
        if column is None:
            raise AttributeError("there are no ids")
        return column

    def _name(self, name: str) -> Strings:
        column: Any = self.columns.get(name)
        if column is None:
            raise AttributeError("there are no names: with_names=True adds them, in a store that has names")
        return column  # type: ignore[no-any-return]


class Records(_RecordColumns):
    """Records: the columns fingerprint and, in a store with ids, id."""


class FoundRecords(Records):
    """Records of ids: the columns query_index (of the id), fingerprint and id."""

    @property
    def query_index(self) -> Words:
        """The index of the id: uint64, shape (n,), ascending."""
        return self.columns["query_index"]


class Matches(Records):
    """Matches of one query: the columns fingerprint, id (in a store with ids) and distance."""

    @property
    def distance(self) -> Distances:
        """The number of bits that differ from the query: uint32, shape (n,)."""
        return self.columns["distance"]

    @property
    def store_index(self) -> Words:
        """The store that has the record: uint64, shape (n,). AttributeError unless several stores were asked."""
        column = self.columns.get("store_index")
        if column is None:
            raise AttributeError("one store was asked")
        return column


class QueryMatches(Matches):
    """Matches of one query, from the bytes that the library packed. The arrays cannot be written to."""

    def __init__(self, data: bytes, count: int, has_ids: bool, words: int = 1) -> None:
        self._data = data
        self._count = count
        self._has_ids = has_ids
        self._words = words

    def __len__(self) -> int:
        return self._count

    @property
    def columns(self) -> dict[str, npt.NDArray[Any]]:
        made: dict[str, npt.NDArray[Any]] = {"fingerprint": self.fingerprint}
        if self._has_ids:
            made["id"] = self.id
        made["distance"] = self.distance
        return made

    @property
    def fingerprint(self) -> Words:
        made = np.frombuffer(self._data, np.uint64, self._count * self._words, 0)
        return made if self._words == 1 else made.reshape(-1, self._words)

    @property
    def id(self) -> Words:
        if not self._has_ids:
            raise AttributeError("there are no ids")
        return np.frombuffer(self._data, np.uint64, self._count, 8 * self._words * self._count)

    @property
    def distance(self) -> Distances:
        return np.frombuffer(self._data, np.uint32, self._count, (8 * self._words + 8) * self._count)


QueryMatches.__name__ = "Matches"  # the public class, for repr


class BatchMatches(Matches):
    """Matches of many queries: the columns query_index, fingerprint, id (in a store with ids) and distance; of several
    stores also store_index."""

    query_count: int = 0

    @property
    def query_index(self) -> Words:
        """The index of the query: uint64, shape (n,), ascending."""
        return self.columns["query_index"]

    @property
    def offsets(self) -> npt.NDArray[np.int64]:
        """The matches of query i are rows offsets[i] to offsets[i + 1] - 1: int64, shape (queries + 1,).

        Of a batch, it says where the matches of a query are in this batch; the next one may have more of them.
        """
        return np.searchsorted(self.query_index, np.arange(self.query_count + 1, dtype=np.uint64)).astype(np.int64)


class GroupMatches(Matches):
    """Matches of groups of queries: group_index, query_index, fingerprint, id (in a store with ids), distance and
    query_count; of several stores also store_index."""

    @property
    def group_index(self) -> Words:
        """The number of the group, from 0: uint64, shape (n,), ascending."""
        return self.columns["group_index"]

    @property
    def query_index(self) -> Words:
        """The index of the query of the group that is nearest to the record: uint64, shape (n,)."""
        return self.columns["query_index"]

    @property
    def query_count(self) -> Words:
        """How many queries of the group are within the distance of the record: uint64, shape (n,)."""
        return self.columns["query_count"]


class StreamMatches(Matches):
    """Matches of a stream: the columns query (the fingerprint that was looked for), fingerprint, id and distance."""

    _hexadecimal = frozenset(["query", "fingerprint"])

    @property
    def query(self) -> Words:
        """uint64, shape (n,); of more than 64 bits, (n, words)."""
        return self.columns["query"]


class Pairs(_RecordColumns):
    """Pairs: the columns fingerprint, id, other_fingerprint, other_id and distance; ids where the store has them."""

    @property
    def other_fingerprint(self) -> Words:
        """uint64, shape (n,); of more than 64 bits, (n, words)."""
        return self.columns["other_fingerprint"]

    @property
    def other_id(self) -> Words:
        """uint64, shape (n,). AttributeError in a store without ids."""
        return self._id("other_id")

    @property
    def other_name(self) -> Strings:
        """The name of each other_id. AttributeError unless the call was given with_names=True."""
        return self._name("other_name")

    @property
    def distance(self) -> Distances:
        """uint32, shape (n,)."""
        return self.columns["distance"]


class Clusters(Records):
    """The records of clusters: cluster, cluster_size, fingerprint, id, distance and is_representative.

    The records of a cluster follow each other, the representative first.
    """

    @property
    def cluster(self) -> Words:
        """The cluster's number, from 0: uint64, shape (n,), ascending."""
        return self.columns["cluster"]

    @property
    def cluster_size(self) -> Words:
        """The number of the cluster's records: uint64, shape (n,)."""
        return self.columns["cluster_size"]

    @property
    def distance(self) -> Distances:
        """From the representative: uint32, shape (n,)."""
        return self.columns["distance"]

    @property
    def is_representative(self) -> Flags:
        """bool, shape (n,)."""
        return self.columns["is_representative"]

    @property
    def representatives(self) -> Records:
        """The representative of each cluster. With singles=True these are the records to keep."""
        return Records({n: c[self.is_representative] for n, c in self.columns.items() if n in _OF_RECORDS})

    @property
    def duplicates(self) -> Records:
        """All other records."""
        return Records({n: c[~self.is_representative] for n, c in self.columns.items() if n in _OF_RECORDS})


# ----- columns that the library fills -----


class Buffers:
    """An sspy_columns: what the library fills, and the arrays that take it over."""

    def __init__(self, dtypes: Mapping[str, Any]) -> None:
        self.dtypes = {name: np.dtype(kind) for name, kind in dtypes.items()}
        self.native = ffi.gc(ffi.new("sspy_columns *"), lib.sspy_columns_free)
        self.native.column_count = len(self.dtypes)
        self.native.widths[0 : len(self.dtypes)] = [kind.itemsize for kind in self.dtypes.values()]

    def take(self) -> dict[str, npt.NDArray[Any]]:
        """The rows so far, as arrays that own the memory. The columns are empty then."""
        native, made = self.native, {}
        count = native.count
        for i, (name, kind) in enumerate(self.dtypes.items()):
            memory = native.columns[i]
            native.columns[i] = ffi.NULL
            if memory == ffi.NULL or count == 0:
                lib.sspy_free(memory)
                made[name] = np.empty(0, kind)
                continue
            owner = ffi.gc(memory, lib.sspy_free)
            values = np.frombuffer(ffi.buffer(owner, count * kind.itemsize), kind.base)
            made[name] = values.reshape(-1, *kind.shape) if kind.shape else values
        native.count = native.capacity = 0
        return made


MATCH_COLUMNS = {"query_index": "u8", "fingerprint": "u8", "id": "u8", "distance": "u4"}
STREAM_COLUMNS = {"query": "u8", "fingerprint": "u8", "id": "u8", "distance": "u4"}
RECORD_COLUMNS = {"fingerprint": "u8", "id": "u8"}
ID_COLUMNS = {"query_index": "u8", "fingerprint": "u8", "id": "u8"}
PAIR_COLUMNS = {"fingerprint": "u8", "id": "u8", "other_fingerprint": "u8", "other_id": "u8", "distance": "u4"}
CLUSTER_COLUMNS = {
    "cluster": "u8",
    "cluster_size": "u8",
    "fingerprint": "u8",
    "id": "u8",
    "distance": "u4",
    "is_representative": "?",
}


def wide(dtypes: Mapping[str, Any], words: int) -> Mapping[str, Any]:
    """The dtypes of columns, of which those of fingerprints have this many words."""
    if words == 1:
        return dtypes
    wider = ("fingerprint", "other_fingerprint", "query")
    return {name: (kind, (words,)) if name in wider else kind for name, kind in dtypes.items()}


T = TypeVar("T", bound=Columns)


class Results(Generic[T]):
    """The results of an iterator of the library: all of them, or a batch at a time."""

    def __init__(
        self,
        call: Call,
        kind: int,
        iterator: Any,
        dtypes: Mapping[str, Any],
        convert: Callable[[dict[str, npt.NDArray[Any]]], T],
    ) -> None:
        """Takes an iterator of the library, as a cdata that frees itself."""
        self._call = call
        self._kind = kind
        self._iterator: Optional[Any] = iterator
        self._columns = Buffers(dtypes)
        self._convert = convert
        self._closed = False

    def fill(self, max_rows: int) -> T:
        """The next rows, at most max_rows; none if there are no more."""
        native = self._columns.native
        with self._call.lock:
            self._call.check_usable()
            if self._closed:
                raise ArgumentError("the results are closed, by close() or after an error")
            # Between two calls the interpreter handles signals, so that Ctrl-C stops the loop.
            try:
                while (iterator := self._iterator) is not None and native.count < max_rows:
                    self._call.check(lib.sspy_fill(self._kind, iterator, native, max_rows, self._call.error))
                    if native.done:
                        self._iterator = None
                        self._call.end(True)
                return self._convert(self._columns.take())
            except BaseException:
                self.close()
                raise
            finally:
                iterator = None  # a traceback does not keep it

    @property
    def done(self) -> bool:
        """Whether all rows were returned."""
        return self._iterator is None

    def none(self) -> T:
        """A result without rows."""
        return self._convert(Buffers(self._columns.dtypes).take())

    def all(self) -> T:
        """All rows."""
        return self.fill((1 << 64) - 1)

    def close(self) -> None:
        """Give up the rest."""
        self._closed = self._closed or self._iterator is not None
        self._iterator = None
        self._call.end(False)


def _fitted(array: Any, schema: Any) -> Any:
    """A batch of a stream, if it has the schema of the stream."""
    for child, wanted in zip(array.schema.children, schema.children):
        if child.format != wanted.format:
            raise ArgumentError(f"{child.name}: some are not UTF-8, so they are no strings; read batches one by one")
    return array


class Batches(Iterator[T]):
    """An iterator over results of at most batch_size rows each, for results that do not fit in memory.

    It keeps the store open until it ends, or until close(). It can be used as a context manager. It is read once. It
    exports an Arrow
    stream (`__arrow_c_stream__`), which makes each batch when it is read, so that polars, DuckDB or pyarrow can process
    results that are larger than memory: pyarrow.RecordBatchReader.from_stream(batches). An error, also Ctrl-C, reaches
    the reader as an error of its own, such as pyarrow's OSError, with the name and message of the exception.

    Threads may use it; their calls wait for each other. Only the process that made it can use it.
    """

    def __init__(self, make_results: Callable[[], Results[T]], batch_size: int) -> None:
        self._batch_size = rows_of(batch_size)
        self._results = make_results()
        self._is_begun = False

    def __iter__(self) -> Batches[T]:
        return self

    def __next__(self) -> T:
        self._is_begun = True
        batch = self._results.fill(self._batch_size)
        while len(batch) == 0 and not self._results.done:  # all rows were left out
            batch = self._results.fill(self._batch_size)
        if len(batch) == 0:
            raise StopIteration
        return batch

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        if self._is_begun:
            raise ArgumentError("these batches were read before, and can be read once: make new ones")
        self._is_begun = True
        schema = arrow_of(self._results.none().columns).schema
        arrays = (_fitted(arrow_of(batch.columns), schema) for batch in self)
        return stream_of(schema, arrays).__arrow_c_stream__()

    def close(self) -> None:
        """Give up the rest of the results."""
        self._results.close()

    def __enter__(self) -> Batches[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
