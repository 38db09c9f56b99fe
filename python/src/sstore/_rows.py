"""Rows of fingerprints and ids, whatever holds them: in pieces, without those that cannot be read if these are skipped.

An input is read as a whole. Only if that fails, its rows are tried one by one, by halves, so that the error or the
report names them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Optional, Union

import numpy as np
import numpy.typing as npt

from sstore._arrays import (
    MAX_WORDS,
    NUMBERS,
    ArrayLike,
    Padded,
    Words,
    arrow_chunks,
    arrow_stream,
    empty,
    is_arrow,
    is_arrow_view,
    is_null,
    of_numpy,
    of_sequence,
    of_view,
    one,
    pointer,
    rows_of_view,
    unwrapped,
    with_padding,
    words_of,
)
from sstore._doubt import BadRows, DoubtWarning, warn
from sstore._errors import ArgumentError
from sstore._native import ffi, lib
from sstore._strings import Strings, joined, strings_of, strings_of_chunk

_RowNumbers = npt.NDArray[np.int64]
#: Names of all rows, or whether the table has them.
Names = Union[bool, Strings]
_FINGERPRINT = ("fingerprint", "fingerprints")
_ID = ("id", "ids")
_NAME = ("name", "names")
_MAX_NAME_BYTES = int(lib.SSTORE_MAX_NAME_BYTES)


class Piece(NamedTuple):
    """Records of a part of an input.

    Attributes:
        fingerprints, ids, names: of the rows that can be read; ids and names if there are any.
        rows: the numbers of these rows in the part, if others were skipped; None: all.
        row_count: rows of the part, with those that were skipped.
        fault: the first of these that is not null, and why it cannot be read; None: there is none.
    """

    fingerprints: Words
    ids: Optional[Words]
    rows: Optional[_RowNumbers]
    row_count: int
    fault: Optional[str] = None
    names: Optional[Strings] = None

    def numbers(self) -> _RowNumbers:
        """The numbers of the rows that can be read."""
        return np.arange(self.row_count) if self.rows is None else self.rows


class _Column(NamedTuple):
    """A column of a part, without the rows that cannot be read, and why they cannot."""

    name: str
    values: Any  # Words, or Strings of names
    row_count: int
    faults: dict[int, Exception]

    def of(self, rows: Optional[_RowNumbers]) -> Any:
        """The values of some of the rows that can be read."""
        if rows is None:
            return self.values
        return self.values[np.searchsorted(self._good(), rows)]

    def _good(self) -> _RowNumbers:
        return np.delete(np.arange(self.row_count), list(self.faults))


# ----- rows that cannot be read -----


def _common_words(items: Sequence[Any]) -> int:
    """The words that most of some items have; those of ints are 1."""
    found: Counter[int] = Counter()
    for item in map(unwrapped, items):
        if isinstance(item, bytes) and len(item) % 8 == 0 and 1 <= len(item) // 8 <= MAX_WORDS:
            found[len(item) // 8] += 1
        elif isinstance(item, np.ndarray) and item.ndim > 0:
            try:
                found[len(one(item, "item", None))] += 1
            except (ArgumentError, TypeError):
                continue
    return found.most_common(1)[0][0] if found else 1


def _readable(items: Sequence[Any], begin: int, name: str, count: int) -> Iterator[tuple[int, Any]]:
    """Divide items into runs that can be read, and single ones that cannot.

    Yields the number of a run's first row, which is `begin` for the first of `items`, and its array; or the number of a
    row that cannot be read, and its error.
    """
    try:
        yield begin, with_padding(of_sequence(items, name, count), name, count)
    except (ArgumentError, TypeError) as error:
        if len(items) == 1:
            yield begin, error
            return
        half = len(items) // 2
        yield from _readable(items[:half], begin, name, count)
        yield from _readable(items[half:], begin + half, name, count)


def _column(
    name: str,
    count: Optional[int],
    bad: Optional[BadRows],
    read: Callable[[], Words],
    items_of: Optional[Callable[[], Sequence[Any]]],
    recoverable: tuple[type[Exception], ...] = (ArgumentError, TypeError),
) -> _Column:
    """Read a column: at once by `read`, or of the items by row. More bad rows than are allowed are not looked for,
    but behind a bad first row, to know whether another one can be read."""
    try:
        values = with_padding(read(), name, count)
        return _Column(name, values, len(values), {})
    except (ArgumentError, TypeError) as error:
        if items_of is None or not isinstance(error, recoverable):
            raise
        items = items_of()
        count = count or _common_words(items)
        parts, faults = [empty(count)], {}
        for begin, found in _readable(items, 0, name, count):
            if not isinstance(found, Exception):
                parts.append(found)
                continue
            faults[begin] = TypeError(f"{name}: null") if is_null(items[begin]) else found
            if begin > 0 and (bad is None or not bad.has_room(len(faults))):
                break
        if not faults:
            raise
        return _Column(name, np.concatenate(parts), len(items), faults)


def _report(
    columns: Sequence[_Column], first: int, bad: Optional[BadRows]
) -> tuple[Optional[_RowNumbers], Optional[str]]:
    """Report the bad rows of columns that belong together. Returns the rows and the fault of their Piece."""
    faults = {row: (column, error) for column in columns for row, error in column.faults.items()}
    if not faults:
        return None, None
    telling = None
    for row in sorted(faults):
        column, error = faults[row]
        name = column.name
        reason = str(error).removeprefix(f"{name}: ")
        if bad is None or not bad.has_room(1):
            # Skipping rows does not help if all are of a wrong kind.
            is_one = first > 0 or len(column.values) > 0 or reason == "null"
            hint = bad.hint() if bad is not None and (is_one or bad.max_bad) else ""
            raise type(error)(f"{name}: row {first + row}: {reason}{hint}")
        bad.add(first + row, f"{name}: {reason}" if len(columns) > 1 else reason)
        if telling is None and reason != "null":
            telling = f"{name}: row {first + row}: {reason}"
    return np.delete(np.arange(columns[0].row_count), list(faults)), telling


def _some_of(pieces: Iterator[Piece], is_all: bool = False) -> Iterator[Piece]:
    """The pieces of an input. At its end, an error if none of its rows can be read: then it has another form than it
    should have. Rows that all are null may belong to a larger input, except if this is all."""
    row_count, is_any, fault = 0, False, None
    for piece in pieces:
        row_count += piece.row_count
        is_any = is_any or len(piece.fingerprints) > 0
        fault = fault or piece.fault
        yield piece
    if not is_any and (fault is not None or (is_all and row_count > 0)):
        raise ArgumentError(f"{fault or 'fingerprints or ids are null'}; none of {row_count} rows can be read")


# ----- columns -----


def _array_of(values: Any) -> npt.NDArray[Any]:
    """An array of a column. Integers of pandas with nulls stay integers: some versions make floats of them."""
    array = np.asarray(values)
    is_lossy = array.dtype.kind == "f" and getattr(getattr(values, "dtype", None), "kind", "f") in "iu"
    return np.asarray(values, dtype=np.object_) if is_lossy else array


def _of_items(values: Any, name: str, count: Optional[int], bad: Optional[BadRows]) -> _Column:
    """A column of an array or a sequence."""
    if hasattr(values, "__array__") and not isinstance(values, (list, tuple)):
        array = values if isinstance(values, np.ndarray) else _array_of(values)
        items_of: Any = None
        masks: Any = np.ma  # not typed in all versions
        if isinstance(array, np.ma.MaskedArray) and masks.is_masked(array):
            mask: Any = masks.getmaskarray(array).reshape(len(array), -1).any(axis=1)
            rows: Any = np.asarray(array)
            items_of = lambda: [None if is_masked else row for row, is_masked in zip(rows, mask)]  # noqa: E731
        elif array.dtype == np.object_ and array.ndim == 1:
            items_of = array.tolist
        elif isinstance(count, Padded):
            items_of = lambda: list(array)  # noqa: E731
        return _column(name, count, bad, lambda: of_numpy(array, name, count), items_of)
    if isinstance(values, Sequence) and not isinstance(values, (str, bytes, bytearray)):
        return _column(name, count, bad, lambda: of_sequence(values, name, count), lambda: list(values))
    return _column(name, count, bad, lambda: of_sequence(values, name, count), None)


def _of_chunk(chunk: Any, view: Any, schema: Any, name: str, count: Optional[int], bad: Optional[BadRows]) -> _Column:
    """A column of a chunk of Arrow."""
    items_of = None if schema.dictionary is not None else lambda: rows_of_view(view, schema)
    return _column(name, count, bad, lambda: of_view(view, schema, name, chunk, count), items_of, (ArgumentError,))


def _of_table(
    chunk: Any, view: Any, wanted: Sequence[str], name: str, count: Optional[int], bad: Optional[BadRows]
) -> Optional[_Column]:
    """A column of a chunk of a table, whose rows must not be null; None: there is none of these names."""
    if view.null_count != 0:
        raise ArgumentError(f"{name}: found rows that are null")
    names = _names(chunk)
    at = next((names.index(one_name) for one_name in wanted if one_name in names), None)
    if at is None:
        return None
    begin, end, schema = view.offset, view.offset + len(view), chunk.schema.child(at)
    return _column(
        name,
        count,
        bad,
        lambda: of_view(view.child(at), schema, name, chunk, count)[begin:end],
        lambda: rows_of_view(view.child(at), schema)[begin:end],
        (ArgumentError,),
    )


def _of_names(names: Strings, bad: Optional[BadRows], name: str = "names") -> _Column:
    """A column of names, without those that the library refuses. No more of these are told than are allowed."""
    sizes, is_null = names.sizes, names.is_null
    is_bad = is_null | (sizes == 0) | (sizes > _MAX_NAME_BYTES) | names.contain(b"\0") | names.contain(b"\n")
    faults: dict[int, Exception] = {}
    for row in np.flatnonzero(is_bad).tolist():
        if is_null[row]:
            faults[row] = TypeError(f"{name}: null")
        elif sizes[row] == 0 or sizes[row] > _MAX_NAME_BYTES:
            faults[row] = ArgumentError(f"{name}: expected 1 to {_MAX_NAME_BYTES} bytes, found {sizes[row]}")
        else:
            faults[row] = ArgumentError(
                f"{name}: expected a text without null bytes and newlines, found {names[row]!r}"
            )
        if bad is None or not bad.has_room(len(faults)):
            break
    return _Column(name, names[~is_bad] if faults else names, len(names), faults)


def _names_of_table(chunk: Any) -> Strings:
    """The names of a chunk of a table."""
    found = _names(chunk)
    at = next((found.index(one_name) for one_name in _NAME if one_name in found), None)
    if at is None:
        raise ArgumentError(f'names: expected a column "name", or names=, found {found}')
    child, begin = chunk.child(at), chunk.offset
    return strings_of_chunk(child if len(child) == len(chunk) else child[begin : begin + len(chunk)], "names")


def all_names(values: Any, name: str = "names") -> Strings:
    """Names: an array of texts, or a table with a column of them."""
    if is_arrow(values) and not isinstance(values, (np.ndarray, Strings)) and not is_arrow_view(values):
        with arrow_stream(values, name) as stream:
            if stream.get_schema().format == "+s":
                return joined([_names_of_table(chunk) for chunk in stream])
            return joined([strings_of_chunk(chunk, name) for chunk in stream])
    return strings_of(values, name)


def labels(values: Any, kind: str, first: int) -> Any:
    """The "ids" or the "names" of rows, which begin with row `first`."""
    column = _of_names(all_names(values), None) if kind == "names" else _whole(values, "ids", 1, None)
    _report([column], first, None)
    return column.values


def asked_names(names: Any, name: str = "names") -> Strings:
    """Names that are looked up or removed, or one. Texts that cannot be names are refused."""
    texts = all_names([names] if isinstance(names, (str, bytes)) else names, name)
    _report([_of_names(texts, None, name)], 0, None)
    return texts


def _check_count(name: str, count: int, row_count: int) -> None:
    if count != row_count:
        raise ArgumentError(f"{name}: expected as many as fingerprints, found {count} and {row_count}")


def _names(chunk: Any) -> list[str]:
    return [child.name for child in chunk.schema.children]


def _words_of_schema(schema: Any) -> int:
    """The words of the fingerprints of an Arrow stream, if its schema tells; otherwise 1."""
    kind = schema.format
    if kind == "+s":
        children = {child.name: child for child in schema.children}
        found = next((children[name] for name in _FINGERPRINT if name in children), None)
        return 1 if found is None else _words_of_schema(found)
    if kind.startswith("w:") and int(kind[2:]) % 8 == 0:
        return min(max(int(kind[2:]) // 8, 1), MAX_WORDS)
    return min(max(int(kind[3:]), 1), MAX_WORDS) if kind.startswith("+w:") else 1


# ----- inputs -----


# What the signs of input_doubt.h mean, and what to do, by their names in shim.c.
_SIGNS = {
    "bits": "have only bytes 0 and 1, or nearly: they are probably single bits, read as 8 times as many; "
    "numpy.packbits(array, axis=1) makes bytes of them",
    "two values": "have only bytes of two values, such as 0 and 255 or 1 and -1: they are probably single bits, read "
    "as 8 times as many; numpy.packbits(array == 1, axis=1) makes bytes of them",
    "halves": "have only zeros in the upper half of every 32 or 64 bits: they are probably smaller numbers in a wider "
    "type; convert them, such as with array.astype(numpy.uint8)",
    "hex bytes": "are hex digits in ASCII, byte by byte; bytes.fromhex(text) decodes them",
    "text": "are readable text, byte by byte: they are probably encoded, such as in base64; decode them first",
    "swapped": "are small, but their ids are large: fingerprints and ids are probably swapped; the fingerprints come "
    "first",
    "near numbers": "are numbers close to each other: they are probably ids, counts, times or line numbers",
    "32 bits": "are probably signed 32-bit values: all fit into 32 bits, and some are negative. They were taken as 64 "
    "bits; numpy.asarray(values).astype(numpy.uint32) has their 32 bits",
    "rounded": "are rounded: they were probably held as floats, which lose the last bits; read the column as integers",
    "doubles": "are the bits of floating-point numbers (doubles), and these say nothing about a Hamming distance; "
    "convert them to integers where they are made, to numpy.uint64",
    "id order": "have ids whose low 40 bits are all zero: the bytes are probably in the wrong order; array.byteswap() "
    "turns them round",
    "repeated ids": "share few ids, in no order: the ids are probably another column, such as a quality",
}


def _warn_of_sign(fingerprints: Words, ids: Optional[Words], count: Optional[int]) -> None:
    """Doubt rows that probably mean something else, as the command does."""
    own_bits = count.own_bits if isinstance(count, Padded) else 0
    sign = lib.sspy_sign(pointer(fingerprints), pointer(ids), len(fingerprints), words_of(fingerprints), own_bits)
    if sign != ffi.NULL:
        warn(f"the fingerprints ({len(fingerprints)}) {_SIGNS[ffi.string(sign).decode()]}", DoubtWarning)


def _of_one(values: Any, name: str, count: Optional[int], bad: Optional[BadRows]) -> Iterator[tuple[_Column, int]]:
    """One column of an input, and the number of the first row of each part."""
    if not is_arrow(values) or isinstance(values, np.ndarray):
        yield _of_items(values, name, count, bad), 0
        return
    first = 0
    for chunk in arrow_chunks(values, name):
        view = chunk.view()
        if chunk.schema.format != "+s":
            column: Optional[_Column] = _of_chunk(chunk, view, chunk.schema, name, count, bad)
        else:
            column = _of_table(chunk, view, _ID if name in NUMBERS else _FINGERPRINT, name, count, bad)
        if column is None:
            wanted = "id" if name in NUMBERS else "fingerprint"
            raise ArgumentError(
                f'{name}: expected an array, or a table with a column "{wanted}", found {_names(chunk)}'
            )
        if count is None and len(column.values) > 0:
            count = words_of(column.values)
        yield column, first
        first += column.row_count


def _joined(columns: Sequence[_Column], name: str, count: Optional[int]) -> _Column:
    """The parts of a column as one."""
    if len(columns) == 1:
        return columns[0]
    faults, first = {}, 0
    for column in columns:
        faults.update({first + row: error for row, error in column.faults.items()})
        first += column.row_count
    filled = [column.values for column in columns if len(column.values) > 0] or [
        columns[0].values if columns else empty(count or 1)
    ]
    return _Column(name, filled[0] if len(filled) == 1 else np.concatenate(filled), first, faults)


def _whole(values: Any, name: str, count: Optional[int], bad: Optional[BadRows]) -> _Column:
    return _joined([column for column, _ in _of_one(values, name, count, bad)], name, count)


def taken(values: Any, name: str, count: Optional[int], bad: Optional[BadRows]) -> Piece:
    """All of a column as one piece without ids, whose arrays are contiguous."""
    column = _whole(values, name, count, bad)
    rows, fault = _report([column], 0, bad)
    if name not in NUMBERS:
        _warn_of_sign(column.values, None, count)
    [piece] = _some_of(iter([Piece(column.values, None, rows, column.row_count, fault)]))
    return piece


def asked_ids(ids: Any, bad: Optional[BadRows] = None) -> Words:
    """Ids that are looked up or removed, or one."""
    return taken([ids] if isinstance(ids, (int, np.integer)) else ids, "ids", 1, bad).fingerprints


def words(values: ArrayLike, name: str, count: Optional[int] = 1) -> Words:
    """One contiguous array of fingerprints of `count` words, or of any number if it is None; or of numbers.

    Its shape is (n,) for one word, otherwise (n, words). Signed numbers are taken as two's complement.
    """
    return taken(values, name, count, None).fingerprints


def _parted(fingerprints: Any, count: Optional[int]) -> tuple[Any, Optional[Any]]:
    """Fingerprints and ids of an array of words that has both, as .npy files have them."""
    array = fingerprints
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "iu" or array.itemsize < 8:
        return array, None
    columns = array.shape[1]
    if count is None and 2 <= columns <= MAX_WORDS:
        raise ArgumentError(
            f"fingerprints: an array of shape (n, {columns}) has fingerprints of {64 * columns} bits, or of "
            f"{64 * columns - 64} bits and ids: bits={64 * columns} or bits={64 * columns - 64} says which; or give "
            "fingerprints=array[:, :-1], ids=array[:, -1]"
        )
    count = MAX_WORDS if count is None else count
    if columns != count + 1:
        return array, None
    return array[:, :count], array[:, count]


def pieces(
    fingerprints: Any,
    ids: Optional[Any],
    count: Optional[int] = None,
    bad: Optional[BadRows] = None,
    is_all: bool = False,
    names: Names = False,
) -> Iterator[Piece]:
    """Records in pieces, each without a copy if it is an array of 64-bit integers. The end is an error if no row can be
    read; if this is not all of an input, rows may all be null.

    Fingerprints have `count` words: the arrays have the shape (n,) for 1, and (n, words) otherwise. None: as many as
    the first piece has. A table of Arrow has the columns "fingerprint" and, optionally, "id"; an array of words may
    have a column more for ids. `names` are all names, or whether there are any, in the column "name" of the table.
    """
    return _some_of(_all_pieces(fingerprints, ids, count, bad, names), is_all)


def pieces_of_chunks(chunks: Iterable[Any], count: Optional[int], bad: Optional[BadRows]) -> Iterator[Piece]:
    """Fingerprints that come as Arrow arrays, each as a piece."""
    return _some_of(_pieces_of(chunks, count, bad, False), True)


def _all_pieces(
    fingerprints: Any, ids: Optional[Any], count: Optional[int], bad: Optional[BadRows], names: Names
) -> Iterator[Piece]:
    if ids is None:
        fingerprints, ids = _parted(fingerprints, count)
    if ids is not None or not is_arrow(fingerprints):
        columns = [_whole(fingerprints, "fingerprints", count, bad)]
        row_count = columns[0].row_count
        if ids is not None:
            columns.append(_whole(ids, "ids", 1, bad))
            _check_count("ids", columns[1].row_count, row_count)
        if names is True:
            raise TypeError('names: expected a name for each record, in names= or in the column "name" of a table')
        if names is not False:
            _check_count("names", len(names), row_count)
            columns.append(_of_names(names, bad))
        yield _piece(columns, 0, count, bad)
        return
    with arrow_stream(fingerprints, "fingerprints") as stream:
        # Also of a stream without rows. Binary without a fixed size tells its width with the first row.
        if count is None and (told := _words_of_schema(stream.get_schema())) > 1:
            yield Piece(empty(told), None, None, 0)
        yield from _pieces_of(stream, count, bad, names)


def _piece(columns: Sequence[_Column], first: int, count: Optional[int], bad: Optional[BadRows]) -> Piece:
    rows, fault = _report(columns, first, bad)
    made = [column.of(rows) for column in columns]
    names = made.pop() if columns[-1].name == "names" else None
    id_part = made[1] if len(made) > 1 else None
    _warn_of_sign(made[0], id_part, count)
    return Piece(made[0], id_part, rows, columns[0].row_count, fault, names)


def _pieces_of(stream: Iterable[Any], count: Optional[int], bad: Optional[BadRows], names: Names) -> Iterator[Piece]:
    """The records of an Arrow stream."""
    first = 0
    for chunk in stream:
        view = chunk.view()
        if chunk.schema.format != "+s":
            columns = [_of_chunk(chunk, view, chunk.schema, "fingerprints", count, bad)]
        else:
            found = [
                _of_table(chunk, view, _FINGERPRINT, "fingerprint", count, bad),
                _of_table(chunk, view, _ID, "id", 1, bad),
            ]
            if found[0] is None:
                raise ArgumentError(f'fingerprints: expected a column "fingerprint", found {_names(chunk)}')
            columns = [column for column in found if column is not None]
        if names is True:
            columns.append(_of_names(_names_of_table(chunk), bad))
        elif names is not False:
            part = names[first : first + len(view)]
            if len(part) < len(view):
                _check_count("names", len(names), first + len(view))
            columns.append(_of_names(part, bad))
        piece = _piece(columns, first, count, bad)
        if count is None and len(piece.fingerprints) > 0:
            count = words_of(piece.fingerprints)
        yield piece
        first += piece.row_count
    if not isinstance(names, bool):
        _check_count("names", len(names), first)
