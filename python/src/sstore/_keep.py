"""Which of near rows to keep: of texts, of fingerprints, or of a table."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Optional, Union

import numpy as np
import numpy.typing as npt

from sstore._arrays import (
    MAX_WORDS,
    ArrayLike,
    ArrowArray,
    Words,
    arrow_chunks,
    is_arrow,
    is_arrow_view,
    is_null,
    pointer,
    word_count,
    words_of,
)
from sstore._call import Call, PathLike, ProgressOption, Size, count_of, encode, flag_of, number_of, size_of
from sstore._columns import Buffers, Columns, Distances, Flags, Results
from sstore._doubt import BadRows, SkipBad, bad_rows_of
from sstore._errors import ArgumentError, RecipeError
from sstore._lexicon import Features, Lexicon, Segment
from sstore._native import ffi, lib
from sstore._order import orders_of, orders_of_chunk
from sstore._rows import Piece, pieces, pieces_of_chunks
from sstore._similar import DEFAULT_DISTANCE, DEFAULT_SIMILARITY, FeatureSets, Nearness, similarities
from sstore._store import Store, build_distance
from sstore._strings import TEXT_FORMATS, StringsLike, chunks_of
from sstore._text import (
    Hash,
    Made,
    Markup,
    Weights,
    made_of_chunk,
    made_of_items,
    minhash_similarity,
    recipe_of,
    text_options,
)
from sstore._update import Label, Update
from sstore._write import Change

_Rows = npt.NDArray[np.int64]
Similarities = npt.NDArray[np.float64]
_TEXTS = 1 << 16  # that are fingerprinted together
_SLICE = 1 << 16  # records that are added between two checks for signals
_BATCH_SIZE = 1 << 20
_DROPPED_COLUMNS = {"id": "u8", "other_id": "u8", "distance": "u4"}


class DroppedRows(Columns):
    """The rows that are dropped: the columns row, kept_row, distance, or of texts that are compared by it similarity;
    and, if a store with ids was given, stored_id."""

    @property
    def row(self) -> _Rows:
        """The number of the row: int64, shape (n,), ascending."""
        return self.columns["row"]

    @property
    def kept_row(self) -> _Rows:
        """The row that is kept instead, or -1 for a record of the store: int64, shape (n,)."""
        return self.columns["kept_row"]

    @property
    def distance(self) -> Distances:
        """Between the two, in bits: uint32, shape (n,)."""
        return self["distance"]  # type: ignore[no-any-return]

    @property
    def similarity(self) -> Similarities:
        """Of the two: float64, shape (n,)."""
        return self["similarity"]  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class Kept:
    """Which of n rows to keep: frame[kept.is_kept] are those of a data frame.

    Attributes:
        is_kept: bool, shape (n,).
        kept_row: of a dropped row the number of the row that is kept instead, or -1 if a record of the store `against`
            is near; of a kept row its own number: int64, shape (n,).
        stored_id: where kept_row is -1 the id of the record, and elsewhere 0: uint64, shape (n,). None without a store
            with ids.
        large_group_row, large_group_size: with max_group, of each group that is larger the row that would have been
            kept, and its rows: int64 and uint64, both of shape (groups,).
        change: with update, what was added to the store; before_update gets None, as it is without.
    """

    is_kept: Flags
    kept_row: _Rows
    stored_id: Optional[Words]
    large_group_row: _Rows
    large_group_size: Words
    change: Optional[Change]
    _measure: dict[str, npt.NDArray[Any]]

    @property
    def distance(self) -> Distances:
        """From the row, or the record, that is kept instead, in bits; of a kept row 0: uint32, shape (n,). Texts that
        are compared by similarity, as by default, have none: a KeyError."""
        return self._measure["distance"]

    @property
    def similarity(self) -> Similarities:
        """Of texts that are compared by it, that of the row and the row that is kept instead; of a kept row 1: float64,
        shape (n,). That of a record of the store is an estimate, by the MinHashes. Otherwise a KeyError."""
        return self._measure["similarity"]

    @property
    def dropped(self) -> DroppedRows:
        """The rows that are dropped, as a table of their own."""
        rows = np.flatnonzero(~self.is_kept)
        columns = {"row": np.arange(len(self.is_kept)), "kept_row": self.kept_row, **self._measure}
        if self.stored_id is not None:
            columns["stored_id"] = self.stored_id
        return DroppedRows({name: column[rows] for name, column in columns.items()})

    def __repr__(self) -> str:
        row_count, kept_count = len(self.is_kept), int(self.is_kept.sum())
        return f"<sstore.Kept: {row_count:,} rows, {kept_count:,} kept, {row_count - kept_count:,} dropped>"


# ----- rows, in parts -----


class _Part(NamedTuple):
    """Some rows of the input.

    Attributes:
        fingerprints: of the rows that are compared.
        rows: the numbers of these rows in the part; None: all.
        row_count: of the part.
        orders: of all its rows; None: as they come.
        sets: of the rows that are compared, the numbers of the sets of their features; None: there are none.
    """

    fingerprints: Words
    rows: Optional[_Rows]
    row_count: int
    orders: Optional[Words] = None
    sets: Optional[_Rows] = None

    def numbers(self) -> _Rows:
        return np.arange(self.row_count) if self.rows is None else self.rows

    def without(self, indexes: _Rows) -> _Part:
        """The same, but some of the rows are not compared."""
        sets = None if self.sets is None else np.delete(self.sets, indexes)
        fingerprints, rows = np.delete(self.fingerprints, indexes, axis=0), np.delete(self.numbers(), indexes)
        return self._replace(fingerprints=fingerprints, rows=rows, sets=sets)


def _of_texts(made: Made) -> _Part:
    part = _Part(made.fingerprints, None, len(made.has_features), None, made.sets)
    return part if made.has_features.all() else part.without(np.flatnonzero(~made.has_features))


def _of_piece(piece: Piece) -> _Part:
    return _Part(piece.fingerprints, piece.rows, piece.row_count)


class _Reader:
    """Makes fingerprints of columns: of texts with `options`, or with None from fingerprints of `count` words. `sets`
    gets the features of texts."""

    def __init__(
        self, options: Any, count: Optional[int], bad: BadRows, threads: int, sets: Optional[FeatureSets]
    ) -> None:
        self.options = options
        self.count = count
        self.bad = bad
        self.threads = threads
        self.sets = sets

    def column(self, values: Any) -> Iterator[_Part]:
        """The parts of a whole column."""
        if self.options is None:
            return map(_of_piece, pieces(values, None, self.count, self.bad, is_all=True))
        if is_arrow(values):
            return self._text_chunks(chunks_of(values, "texts"))
        return self._texts(iter(values))

    def chunks(self, chunks: Iterable[Any]) -> Iterator[_Part]:
        """The parts of a column that comes as Arrow arrays."""
        if self.options is None:
            return map(_of_piece, pieces_of_chunks(chunks, self.count, self.bad))
        return self._text_chunks(chunks)

    def _text_chunks(self, chunks: Iterable[Any]) -> Iterator[_Part]:
        return (_of_texts(made_of_chunk(chunk, self.options, self.threads, self.sets)) for chunk in chunks)

    def _texts(self, items: Iterator[Any]) -> Iterator[_Part]:
        first = 0
        while some := list(itertools.islice(items, _TEXTS)):
            for row, item in enumerate(some):
                if not (isinstance(item, (str, bytes)) or is_null(item) or hasattr(item, "as_py")):
                    raise TypeError(f"texts: row {first + row}: expected str or bytes, found {type(item).__name__}")
            texts = (item.as_py() if hasattr(item, "as_py") else item for item in some)
            yield _of_texts(made_of_items(texts, self.options, self.threads, True, self.sets))
            first += len(some)


def _field(chunk: Any, name: str, what: str) -> Any:
    """A column of a chunk of an Arrow table, as an Arrow array."""
    names = [child.name for child in chunk.schema.children]
    if name not in names:
        raise ArgumentError(f'{what}: expected a column "{name}", found {", ".join(names)}')
    if chunk.view().null_count != 0:
        raise ArgumentError(f"{what}: found rows that are null")
    child, begin = chunk.child(names.index(name)), chunk.offset
    return child if begin == 0 and len(child) == len(chunk) else child[begin : begin + len(chunk)]


def _is_stream(items: Any) -> bool:
    """Whether it is a table whose rows come once, such as a pyarrow.RecordBatchReader: its columns cannot be asked
    for."""
    return is_arrow(items) and (not hasattr(items, "__getitem__") or type(items).__module__.split(".")[0] == "duckdb")


def _take(items: Any, name: str, what: str) -> Any:
    """A column of a table that is in memory."""
    try:
        return items[name]
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ArgumentError(f'{what}: expected a table with a column "{name}": {error}') from None
    except Exception as error:  # such as ColumnNotFoundError of polars
        if type(error).__module__.split(".")[0] not in ("polars", "pyarrow", "pandas"):
            raise
        raise ArgumentError(f'{what}: expected a table with a column "{name}": {error}') from None


def _has_texts(items: Any) -> tuple[Any, bool]:
    """Whether a column has texts; and the column, whose first item was looked at."""
    if isinstance(items, Mapping) or hasattr(items, "columns"):
        names = ", ".join(map(str, getattr(items, "column_names", getattr(items, "columns", items))))
        raise ArgumentError(f"items: text= or fingerprint= says which column of the table it is, of {names}")
    if isinstance(items, (str, bytes)) or not (is_arrow(items) or isinstance(items, Iterable)):
        raise TypeError(f"items: expected texts, fingerprints or a table, found {type(items).__name__}")
    if is_arrow(items) and not is_arrow_view(items):
        import nanoarrow

        stream = nanoarrow.c_array_stream(items)
        schema = stream.get_schema()
        if schema.format == "+s":
            names = ", ".join(child.name for child in schema.children)
            raise ArgumentError(f"items: text= or fingerprint= says which column of the table it is, of {names}")
        schema = schema if schema.dictionary is None else schema.dictionary
        return stream, schema.format in TEXT_FORMATS
    if isinstance(items, np.ndarray) and items.dtype != np.object_:
        return items, items.dtype.kind in "UST"
    some = iter(items)
    looked_at = []
    for item in some:
        looked_at.append(item)
        if not is_null(item):
            break
    is_text = bool(looked_at) and isinstance(getattr(looked_at[-1], "as_py", lambda: looked_at[-1])(), (str, bytes))
    if iter(items) is some:  # an iterator, which gives its items once
        items = itertools.chain(looked_at, some)
        items = items if is_text else list(items)
    return items, is_text or all(map(is_null, looked_at))


def _parts(
    items: Any, field: Optional[str], reader: _Reader, keep: Any, is_descending: bool, labels: Sequence[Label]
) -> Iterator[_Part]:
    """The rows of an input with their orders, if `keep` has any; the labels take theirs. Each is an array, or the name
    of a column."""
    if field is not None and _is_stream(items):
        yield from _parts_of_stream(items, field, reader, keep, is_descending, labels)
        return
    for label in labels:
        is_column = isinstance(label.given, str) and field is not None
        label.take(_take(items, label.given, label.kind) if is_column else label.given)
    if isinstance(keep, str):
        keep = _take(items, keep, "keep")
    made = reader.column(items if field is None else _take(items, field, "items"))
    yield from made if keep is None else _ordered(made, orders_of(keep, "keep", is_descending))


def _parts_of_stream(
    items: Any, field: str, reader: _Reader, keep: Any, is_descending: bool, labels: Sequence[Label]
) -> Iterator[_Part]:
    """The same of a table that comes once."""
    ours, theirs = itertools.tee(arrow_chunks(items, "items"))
    made = reader.chunks(_field(chunk, field, "items") for chunk in theirs)
    columns = [label for label in labels if isinstance(label.given, str)]
    for label in labels:
        if label not in columns:
            label.take(label.given)

    def labelled() -> Iterator[_Part]:
        first = 0
        for part, chunk in zip(made, ours):
            for label in columns:
                label.take(_field(chunk, label.given, label.kind))
            orders = None
            if isinstance(keep, str):
                orders = orders_of_chunk(_field(chunk, keep, "keep"), "keep", is_descending, first)
            yield part._replace(orders=orders)
            first += part.row_count

    is_array = keep is not None and not isinstance(keep, str)
    yield from _ordered(labelled(), orders_of(keep, "keep", is_descending)) if is_array else labelled()


def _ordered(parts: Iterator[_Part], orders: Words) -> Iterator[_Part]:
    """The parts with the orders of all rows."""
    first, wrong = 0, f"keep: expected as many as there are rows, found {len(orders)} and "
    for part in parts:
        end = first + part.row_count
        if end > len(orders):
            raise ArgumentError(f"{wrong}at least {end} rows")
        yield part._replace(orders=orders[first:end])
        first = end
    if first < len(orders):
        raise ArgumentError(f"{wrong}{first} rows")


# ----- the library's keeper -----


class Keeper:
    """Records, and which of them to keep. It begins with the first records, which tell their width."""

    def __init__(
        self,
        progress: ProgressOption,
        distance: int,
        max_group: Optional[int],
        memory: Optional[Size],
        tmp_dir: Optional[PathLike],
        **options: Any,
    ) -> None:
        self.call = Call(progress)
        self.large_groups = Buffers({"row": "u8", "size": "u8"})
        self._native: Optional[Any] = None
        self._distance = distance
        self._options = self.call.options(
            "sstore_keeper_options",
            distance=build_distance(distance, MAX_WORDS),
            memory_bytes=size_of(memory, "memory"),
            tmp_dir=None if tmp_dir is None else encode(tmp_dir),
            max_group=0 if max_group is None else count_of(max_group, "max_group"),
            on_large_group=ffi.addressof(lib, "sspy_keep_large_group"),
            large_group_context=self.large_groups.native,
            **options,
        )

    def begin(self, count: int) -> None:
        """Take records of this many words."""
        if self._native is None:
            build_distance(self._distance, count)
            self._options.fingerprint_bits = 64 * count
            self._native = self.call.create(
                "sstore_keeper", lib.sstore_keeper_free, lib.sstore_keeper_create, self._options, own=True
            )

    def add(self, fingerprints: Words, orders: Optional[Words]) -> None:
        for begin in range(0, len(fingerprints), _SLICE):
            part = fingerprints[begin : begin + _SLICE]
            some = None if orders is None else orders[begin : begin + _SLICE]
            self.call.check(
                lib.sstore_keeper_add(self._native, pointer(part), pointer(some), len(part), self.call.error)
            )

    def close(self) -> None:
        """Remove the temporary files, if finish() did not take them over."""
        self._native = None

    def finish(self) -> Iterator[dict[str, npt.NDArray[Any]]]:
        """What is dropped, in batches: the columns id, other_id and distance."""
        if self._native is None:
            return
        native, self._native = self._native, None
        ffi.gc(native, None)  # the library frees it
        iterator = self.call.iterate(lib.sstore_keeper_finish, native, keep=self._options)
        results = Results(self.call, lib.SSPY_DROPPED, iterator, _DROPPED_COLUMNS, Columns)
        while len(batch := results.fill(_BATCH_SIZE)) > 0:
            yield batch.columns


# ----- the call -----


class _Finder:
    """Finds what is dropped: rows near a store as they come, and the others at the end."""

    def __init__(
        self,
        keeper: Keeper,
        store: Optional[Store],
        update: Optional[Update],
        sets: Optional[FeatureSets],
        distance: int,
        threads: int,
        is_last: bool,
        before_update: Optional[Callable[[Kept], object]],
    ) -> None:
        self.keeper = keeper
        self.store = store
        self.update = update
        self.sets = sets
        self.before_update = before_update
        self.distance = distance
        self.threads = threads
        self.is_last = is_last
        self.row_count = 0
        self._is_given: list[Optional[Flags]] = []  # whether rows are records of the keeper; None: all of a part
        self._counts: list[int] = []
        self._stored: list[tuple[_Rows, Optional[Words], Distances]] = []

    def add(self, part: _Part) -> None:
        if len(part.fingerprints) > 0 and self.store is not None:
            part = self._leave_out(self.store, part)
        fingerprints, rows, orders = part.fingerprints, part.rows, part.orders
        if self.is_last:
            orders = ~np.arange(self.row_count, self.row_count + part.row_count, dtype=np.uint64)
        if len(fingerprints) > 0:
            self.keeper.begin(words_of(fingerprints))
            if self.sets is not None and part.sets is not None:
                self.sets.assign(part.sets)
        self.keeper.add(fingerprints, orders if orders is None or rows is None else orders[rows])
        if self.update is not None and len(fingerprints) > 0:
            self.update.take(self.row_count + part.numbers(), fingerprints)
        is_given = None
        if rows is not None:
            is_given = np.zeros(part.row_count, np.bool_)
            is_given[rows] = True
        self._is_given.append(is_given)
        self._counts.append(part.row_count)
        self.row_count += part.row_count

    def _leave_out(self, store: Store, part: _Part) -> _Part:
        """The rows that are not near a record of the store."""
        found = store.query_batch(part.fingerprints, self.distance, limit=1, threads=self.threads)
        if len(found) == 0:
            return part
        near = found.query_index.astype(np.int64)
        self._stored.append((self.row_count + part.numbers()[near], found.columns.get("id"), found.distance))
        return part.without(near)

    def finish(self) -> Kept:
        count = self.row_count
        is_kept, kept_row = np.ones(count, np.bool_), np.arange(count)
        measure: npt.NDArray[Any] = np.zeros(count, np.uint32) if self.sets is None else np.ones(count)
        stored_id = np.zeros(count, np.uint64) if self.store is not None and self.store.has_ids else None
        for rows, ids, distances in self._stored:
            bits = 0 if self.store is None else self.store.bits
            is_kept[rows], kept_row[rows] = False, -1
            measure[rows] = distances if self.sets is None else minhash_similarity(distances, bits)
            if stored_id is not None and ids is not None:
                stored_id[rows] = ids
        row_of = self._row_of()
        for batch in self.keeper.finish():
            rows, far = row_of(batch["id"]), batch["distance"]
            is_kept[rows], kept_row[rows] = False, row_of(batch["other_id"])
            measure[rows] = far if self.sets is None else similarities(far)
        if self.sets is not None:
            self.sets.check()
        groups = self.keeper.large_groups.take()
        name = "distance" if self.sets is None else "similarity"
        kept = Kept(is_kept, kept_row, stored_id, row_of(groups["row"]), groups["size"], None, {name: measure})
        if self.update is None:
            return kept
        if self.before_update is not None:
            self.before_update(kept)
        return replace(kept, change=self.update.finish(is_kept))

    def _row_of(self) -> Any:
        """What makes rows of the keeper's numbers."""
        if all(flags is None for flags in self._is_given):
            return lambda numbers: numbers.astype(np.int64)
        flags = [np.ones(n, np.bool_) if some is None else some for some, n in zip(self._is_given, self._counts)]
        rows = np.flatnonzero(np.concatenate(flags))
        return lambda numbers: rows[numbers]


def _options_of_recipe(recipe: str) -> Any:
    """The options of texts that a recipe tells, or None."""
    found = Call().options("sstore_text_options")
    status = lib.sstore_text_options_of_recipe(encode(recipe), ffi.NULL, found, ffi.NULL)
    return found if status == lib.SSTORE_OK else None


def _hash_of_recipe(recipe: str) -> Optional[tuple[int, Hash]]:
    """The bits and the hash of texts that a recipe tells, whatever else it says; or None."""
    found = re.search(" hash=(?:(xxh3|minhash)-([0-9]+)|java128)", recipe)
    if found is None:
        return None
    if found[1] is None:
        return 128, "java128"
    return int(found[2]), "minhash" if found[1] == "minhash" else "xxh3"


class _TextArguments(NamedTuple):
    """The arguments that say how texts are compared, as they are given."""

    features: Optional[Features] = None
    shingle: int = 0
    weights: Optional[Weights] = None
    markup: Optional[Markup] = None
    segment: Optional[Segment] = None
    lexicon: Optional[Lexicon] = None
    bits: Optional[int] = None
    hash: Optional[Hash] = None

    def options(self, nearness: Nearness, store: Optional[Store]) -> Any:
        """The options of texts. What is not given is that of the store's recipe; without one, they are of MinHashes,
        unless a distance or another argument is of simhashes."""
        recipe = "" if store is None or self.hash is not None else store.stat().recipe
        if self._replace(bits=None) == _TextArguments() and (stored := _options_of_recipe(recipe)) is not None:
            stored.fingerprint_bits = self.bits or stored.fingerprint_bits
            return stored
        has_weights = self.weights == "sublinear" or (self.lexicon is not None and self.lexicon.has_weights)
        is_simhash = nearness.distance is not None or store is not None or has_weights
        bits, hash = _hash_of_recipe(recipe) or (0, self.hash or ("xxh3" if is_simhash else "minhash"))
        return text_options(
            self.features or "words",
            self.shingle,
            self.weights,
            self.markup or "none",
            self.segment or "pairs",
            self.lexicon,
            self.bits or bits,
            hash,
        )


def _check_store(store: Store, name: str, recipe: Optional[str], count: Optional[int]) -> None:
    """Fail unless the recipe of the store, which the argument `name` says, is that of the texts, if there is one; and
    it has fingerprints of this many words; None: of any number."""
    own = store.stat().recipe
    if recipe is not None and own not in ("", recipe):
        raise RecipeError(f"{name}: the texts get fingerprints by the recipe '{recipe}', and the store has '{own}'")
    if count not in (None, store.words):
        raise ArgumentError(f"{name}: expected a store of {64 * (count or 1)} bits, found one of {store.bits}")


def _begin_update(
    path: Optional[PathLike], ids: Any, names: Any, before_update: Any, against: Any, opened: ExitStack, **shared: Any
) -> Optional[Update]:
    """What adds the rows that are kept to a store, if one is given."""
    if path is None and (ids is not None or names is not None):
        raise ArgumentError(f"{'names' if ids is None else 'ids'}: only with update=, of the records that are added")
    if path is None and before_update is not None:
        raise ArgumentError("before_update: only with update=")
    if path is None:
        return None
    if against is not None:
        raise ArgumentError("update: cannot be combined with against: it also drops what is near its store")
    made = Update(path, ids, names, block_size=None, ignore_free_space=False, wait=0, **shared)
    opened.callback(made.abort)
    return made


def _with_similarity(nearness: Nearness, recall: Optional[float], options: Any) -> Nearness:
    """With a similarity for MinHashes of texts, unless a distance is given. Without options there are no texts."""
    if nearness.similarity is not None and options is None:
        raise ArgumentError("similarity: it compares texts, and these are fingerprints: distance says how near is near")
    is_minhash = options is not None and options.hash == lib.SSTORE_FEATURE_HASH_MINHASH
    if nearness.similarity is not None and not is_minhash:
        raise ArgumentError(
            'similarity: expected hash="minhash", and a store of MinHashes, as distances of simhashes do '
            "not tell similarities"
        )
    if nearness.similarity is not None or nearness.distance is not None:
        return nearness
    return Nearness(None, DEFAULT_SIMILARITY if is_minhash else None, recall)


def dedup(
    items: Union[Iterable[str], Iterable[bytes], ArrayLike, ArrowArray, Mapping[str, Any]],
    *,
    text: Optional[str] = None,
    fingerprint: Optional[str] = None,
    distance: Optional[int] = None,
    similarity: Optional[float] = None,
    recall: Optional[float] = None,
    keep: Union[str, ArrayLike, npt.NDArray[Any], Iterable[Any]] = "first",
    descending: bool = False,
    strict: bool = False,
    max_group: Optional[int] = None,
    against: Union[Store, PathLike, None] = None,
    update: Optional[PathLike] = None,
    ids: Union[str, ArrayLike, None] = None,
    names: Union[str, StringsLike, None] = None,
    before_update: Optional[Callable[[Kept], object]] = None,
    features: Optional[Features] = None,
    shingle: int = 0,
    weights: Optional[Weights] = None,
    markup: Optional[Markup] = None,
    segment: Optional[Segment] = None,
    lexicon: Optional[Lexicon] = None,
    bits: Optional[int] = None,
    hash: Optional[Hash] = None,
    skip_bad: SkipBad = False,
    memory: Optional[Size] = None,
    threads: int = 0,
    tmp_dir: Optional[PathLike] = None,
    progress: ProgressOption = False,
) -> Kept:
    """Find which rows to keep, so that of near ones only one is kept, as `sstore dedup` does.

        kept = sstore.dedup(frame, text="body", keep="date", descending=True)
        frame = frame[kept.is_kept]

    The groups, of which one row each is kept, are clusters: rows that near pairs connect. A dropped row may be less
    near to the one that is kept instead. With strict=True, rows are kept one after the other, in their order, if none
    that was kept is near. The result does not depend on memory and threads.

    Args:
        items: n rows. Texts, as simhash() takes them: str, or bytes in UTF-8; texts without features, and None, NaN or
            null, are always kept. Or fingerprints, as build() takes them, but not as a sequence of bytes. Or a table
            with the column `text` or `fingerprint`: of pandas, polars or pyarrow, a dict of columns, or a stream of
            Arrow, such as a pyarrow.RecordBatchReader, which may be larger than memory.
        text: the column of the texts.
        fingerprint: the column of the fingerprints.
        distance: in bits, 0 to 16 for each word; None: that of the store `against`, or 3. Of texts it is that of
            simhashes, unless `hash` says another hash.
        similarity: of texts, with MinHashes, instead of a distance: near means a Jaccard similarity of at least this:
            the features that both texts have, over those that either has. None: 0.8. MinHashes find such rows, and the
            features themselves decide; of the records of a store these are not known, so there the MinHashes decide,
            at the distance for this similarity, whatever that of the store is.
            The features take 8 bytes each in tmp_dir, and a row takes 45 bytes beside `memory`.
        recall: with similarity, the share of the pairs of just this similarity that is found, above 0 and below 1;
            None: 0.99. Of more similar ones, more are.
        keep: of a group, "first" keeps the first row, "last" the last one. Otherwise the row with the smallest value is
            kept, and of several the first: an array of n values, or the name of a column of the table. Values are
            numbers, times, or texts of one of them, such as "2026-11-29". Rows without a value come last. Of texts, 53
            bits of a number count; the two largest numbers of 64 bits count as equal.
        descending: True: keep the largest value instead. Rows without a value still come last.
        strict: True: each dropped row is near the row that is kept instead, the nearest one.
        max_group: drop nothing of groups of more rows, at least 1, but report them; None: no limit. Large groups are
            often error pages or templates.
        against: a store, or its path: rows near one of its records are dropped too, before all others. The store is
            not changed.
        update: the path of a store: as against; then the rows that are kept are added to it, except those without
            features or a fingerprint. If there is none, one is built, for the distance. No other process can write to
            the store meanwhile. Beside `memory`, this takes the fingerprints, ids and names of all rows.
        ids, names: with update, of the records, as add() takes them: n of them, or the name of a column of the table. A
            store with names needs names; a new one has names if they are given.
        before_update: with update, a function of the Kept, which has no change yet. It is called before the store gets
            the rows, to write them elsewhere. If it raises, the store stays as it was.
        features, shingle, weights, markup, segment, lexicon: of texts, as simhash() or minhash() takes them. If none of
            them is given, and no hash, they are those of the store's recipe.
        bits: of a fingerprint, as simhash(), minhash() or build() takes them.
        hash: of texts. None: that of the store's recipe; without one "minhash", or with a distance, a store, or weights
            of features "xxh3".
        skip_bad: fingerprints that cannot be read, such as nulls: False: an error that names the row. True: keep these
            rows, and warn. A BadRows: keep them, and report them there.
        memory: what the call may take beside the given arrays and the result, in bytes or such as "2G"; None: 1 GiB.
            Less than 64 MiB may be exceeded.
        threads: 0: all that the process may use.
        tmp_dir: for a temporary store, about 50 bytes a row; None: the folder that TMPDIR names, or the working folder.
            A killed process leaves its folder sstore-keep-* there.
        progress: True: a bar, if tqdm is installed; or a function that gets a Progress a few times a second.

    Returns:
        A Kept: is_kept, kept_row, and distance or similarity of each row.

    Raises:
        ArgumentError: a value is out of range, a column is missing, or `keep` has another length than the rows.
        TypeError: an item is neither a text nor a fingerprint.
        RecipeError: the store was made by other options of texts.
        BusyError: another process is writing to the store `update`.
        FileError: there is no room for the temporary store.
        NotFoundError: there is no store at `against`, or no folder at tmp_dir.
        OutOfMemoryError, DamagedError, UnsupportedError
    """
    if text is not None and fingerprint is not None:
        raise ArgumentError("text: cannot be combined with fingerprint: a row has one or the other")
    flag_of(descending, "descending")
    field = fingerprint if text is None else text
    is_text = text is not None
    if field is None:
        if isinstance(keep, str) and keep not in ("first", "last"):
            raise ArgumentError(f'keep: expected "first", "last", an array, or a column of a table, found {keep!r}')
        items, is_text = _has_texts(items)
    given = _TextArguments(features, shingle, weights, markup, segment, lexicon, bits, hash)
    nearness = Nearness(distance, similarity, None if similarity is None and distance is None else recall)
    options, recipe, count = None, None, None if bits is None or is_text else word_count(bits)
    if not is_text and given != _TextArguments(bits=bits):
        raise ArgumentError("items: features, shingle and the like are options of texts, and these are fingerprints")
    if is_text and against is None and update is None:
        given.options(nearness, None)  # which fails now if they are wrong
    with ExitStack() as opened:
        shared = {"memory": memory, "threads": threads, "tmp_dir": tmp_dir}
        updated = _begin_update(update, ids, names, before_update, against, opened, **shared)
        if updated is not None and updated.exists:
            against = updated.path
        store = against if against is None or isinstance(against, Store) else opened.enter_context(Store(against))
        if is_text:
            options = given.options(nearness, store)
            recipe = recipe_of(options)
            count = int(options.fingerprint_bits) // 64
        nearness = _with_similarity(nearness, recall, options)
        if store is not None:
            _check_store(store, "against" if updated is None else "update", recipe, count)
        near = nearness.within(count or 1, DEFAULT_DISTANCE if store is None else store.distance)
        if updated is not None and store is not None:
            updated.check(store)
        elif updated is not None:
            updated.begin(near, count, recipe)
        count = count if store is None else store._words
        sets = None if nearness.similarity is None else FeatureSets(nearness.similarity, tmp_dir)
        confirming = {} if sets is None else sets.options()
        strict = flag_of(strict, "strict")
        keeper = Keeper(progress, near, max_group, memory, tmp_dir, threads=threads, strict=strict, **confirming)
        opened.enter_context(keeper.call)
        opened.callback(keeper.close)
        bad = bad_rows_of(skip_bad)
        is_named = isinstance(keep, str) and keep in ("first", "last")
        finder = _Finder(keeper, store, updated, sets, near, threads, is_named and keep == "last", before_update)
        reader = _Reader(options, count, bad, number_of(threads, "threads", (1 << 32) - 1), sets)
        labels = [] if updated is None else updated.labels
        for part in _parts(items, field, reader, None if is_named else keep, descending, labels):
            finder.add(part)
        for label in labels:
            label.check(finder.row_count)
        kept = finder.finish()
    bad.tell()
    return kept
