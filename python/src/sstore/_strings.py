"""Arrays of texts: from whatever holds them, and for whatever takes them, in one piece of memory."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional, Union, overload

import numpy as np
import numpy.typing as npt

from sstore._arrays import (
    ArrowArray,
    arrow_chunks,
    indexes_of_view,
    is_arrow,
    is_arrow_view,
    is_null,
    nulls_of_view,
    owned,
)
from sstore._errors import ArgumentError
from sstore._export import stream_of
from sstore._native import ffi, lib

if TYPE_CHECKING:
    import pyarrow

_Places = npt.NDArray[np.int64]
# What is taken as an array of texts.
StringsLike = Union[
    "Strings", npt.NDArray[Any], Sequence[str], Sequence[bytes], Sequence[Union[str, bytes]], ArrowArray
]

_BATCH = 1 << 16  # items that are encoded together
_CHARACTERS = 1 << 18  # of NumPy, that are made together, at least of one text
_SHOWN, _SHOWN_ROWS = 60, 4  # characters of a text, texts
_CHECKED_BYTES = 1 << 20  # that are decoded together
_HAS_STRING_TYPE = hasattr(getattr(np, "dtypes", None), "StringDType")  # NumPy 2
# Format strings of Arrow's C data interface: texts and bytes with offsets; and as views, such as polars has them.
_OFFSETS = {"u": np.int32, "z": np.int32, "U": np.int64, "Z": np.int64}
_VIEWS = ("vu", "vz")
TEXT_FORMATS = (*_OFFSETS, *_VIEWS, "n")


class Strings:
    """An array of texts, such as names, in one piece of memory, without an object of Python for each.

    `strings[i]` is a str, or None if there is no text; an array of numbers or of bool, or a slice, selects some. Bytes
    that are not UTF-8 are in a str as os.fsdecode() has them, so os.fsencode() makes the bytes again.

    It exports Arrow data (`__arrow_c_array__`, `__arrow_c_stream__`): large strings, or large binary if one of them is
    not UTF-8. numpy.asarray(strings) is to_numpy().
    """

    __slots__ = ("_begins", "_data", "_ends")

    def __init__(self, data: Any, begins: _Places, ends: _Places) -> None:
        """Text i is data[begins[i] : ends[i]]; there is none if it ends before it begins."""
        self._data = _pointer(data)
        self._begins = begins
        self._ends = ends

    # ----- what it has -----

    ndim = 1

    @property
    def shape(self) -> tuple[int]:
        """(n,)."""
        return (len(self),)

    @property
    def is_null(self) -> npt.NDArray[np.bool_]:
        """Where there is no text: bool, shape (n,)."""
        return self._ends < self._begins

    @property
    def sizes(self) -> _Places:
        """The bytes of each; 0 if there is no text: int64, shape (n,)."""
        made: _Places = np.maximum(self._ends - self._begins, 0)
        return made

    def __len__(self) -> int:
        return len(self._begins)

    @overload
    def __getitem__(self, row: Union[int, np.integer[Any]]) -> Optional[str]: ...

    @overload
    def __getitem__(self, row: Union[slice, Sequence[int], npt.NDArray[Any]]) -> Strings: ...

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, (int, np.integer)):
            found = self.bytes_of(int(row))
            return None if found is None else found.decode("utf-8", "surrogateescape")
        return Strings(self._data, self._begins[row], self._ends[row])

    def bytes_of(self, row: int) -> Optional[bytes]:
        """The bytes of one; None: there is no text."""
        begin, end = int(self._begins[row]), int(self._ends[row])
        return None if end < begin else bytes(ffi.buffer(self._data)[begin:end])

    def __iter__(self) -> Iterator[Optional[str]]:
        return (self[row] for row in range(len(self)))

    def tolist(self) -> list[Optional[str]]:
        """A list of str, or None."""
        data, offsets = self.packed()
        joined, places = bytes(data), zip(offsets[:-1].tolist(), offsets[1:].tolist(), self.is_null.tolist())
        return [None if null else joined[begin:end].decode("utf-8", "surrogateescape") for begin, end, null in places]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Strings) and len(self) == len(other) and self.tolist() == other.tolist()

    __hash__ = None  # type: ignore[assignment]

    def shown(self, row: int) -> str:
        """One, to be looked at: without characters that terminals obey, and cut."""
        text = self[row]
        shown = "" if text is None else repr(text)[1:-1]
        return shown if len(shown) <= _SHOWN else shown[: _SHOWN - 3] + "..."

    def __repr__(self) -> str:
        some = ["None" if self[row] is None else f"'{self.shown(row)}'" for row in range(min(len(self), _SHOWN_ROWS))]
        return f"<sstore.Strings, {len(self):,}: {', '.join(some)}{', ...' if len(self) > _SHOWN_ROWS else ''}>"

    def __reduce__(self) -> Any:
        data, offsets = self.packed()
        nulls = self.is_null
        return Strings, (bytes(data), np.where(nulls, 0, offsets[:-1]), np.where(nulls, -1, offsets[1:]))

    def contain(self, byte: bytes) -> npt.NDArray[np.bool_]:
        """Whether each has this byte: bool, shape (n,)."""
        data, offsets = self.packed()
        made = np.zeros(len(self), np.bool_)
        if len(data) > 0:
            at = np.flatnonzero(np.frombuffer(data, np.uint8) == byte[0])
            made[np.searchsorted(offsets, at, side="right") - 1] = True
        return made

    # ----- for whatever takes them -----

    def packed(self) -> tuple[Any, _Places]:
        """The bytes of all, one after the other; and where each begins: int64, shape (n + 1,)."""
        offsets = np.zeros(len(self) + 1, np.int64)
        np.cumsum(self.sizes, out=offsets[1:])
        if np.array_equal(self._begins[1:], self._ends[:-1]) and not self.is_null.any():
            first = int(self._begins[0]) if len(self) > 0 else 0
            return memoryview(ffi.buffer(self._data))[first : first + int(offsets[-1])], offsets
        made = bytearray(int(offsets[-1]))
        _copy(self._data, self._begins, self._ends, made, offsets)
        return made, offsets

    def native(self) -> Any:
        """All as `const sstore_name *`, which keeps them alive. None may be missing."""
        names = np.empty((len(self), 2), np.uint64)
        names[:, 0] = self._begins.astype(np.uint64) + np.uint64(int(ffi.cast("uintptr_t", self._data)))
        names[:, 1] = self.sizes
        made = ffi.cast("sstore_name *", ffi.from_buffer(names))
        return ffi.gc(made, lambda _, kept=(self, names): None)

    def copy(self) -> Strings:
        """The same, in memory of its own."""
        return Strings(*self.__reduce__()[1])

    def pointers(self) -> tuple[Any, Any, Any]:
        """The data, and the begins and ends, as the library takes them."""
        return self._data, _native(self._begins), _native(self._ends)

    def is_utf8(self) -> bool:
        """Whether all are UTF-8."""
        return _is_utf8(*self.packed())

    def to_numpy(self) -> npt.NDArray[Any]:
        """An array of shape (n,) of NumPy 2's StringDType, in which a missing text is None; with NumPy 1, or if one of
        them is not UTF-8, of str."""
        if not _HAS_STRING_TYPE or not self.is_utf8():
            made = np.empty(len(self), np.object_)
            made[:] = self.tolist()
            return made
        nulls, kinds = self.is_null, getattr(np, "dtypes")  # noqa: B009 (not in the types of NumPy 1)
        kind: Any = kinds.StringDType(na_object=None) if nulls.any() else kinds.StringDType()
        array: Any = np.empty(len(self), kind)
        for begin, end in _divided(self.sizes):
            some = self[begin:end]
            width = max(int(some.sizes.max()), 1)
            characters = np.zeros((end - begin, width), np.uint32)
            native = ffi.from_buffer("uint32_t[]", characters, require_writable=True)
            lib.sspy_decode_texts(*some.pointers(), end - begin, width, native)
            array[begin:end] = characters.view(f"U{width}").reshape(-1)
        if nulls.any():
            array[nulls] = None
        return array  # type: ignore[no-any-return]

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> npt.NDArray[Any]:
        made = self.to_numpy()
        return made if dtype is None else made.astype(dtype)

    def to_arrow(self) -> pyarrow.Array:
        """A pyarrow.Array: of large strings, or of large binary if one of them is not UTF-8."""
        import pyarrow

        return pyarrow.array(self)

    def arrow(self) -> Any:
        """A nanoarrow.c_array."""
        import nanoarrow
        from nanoarrow import c_array_from_buffers

        nulls, (data, offsets) = self.is_null, self.packed()
        valid = np.packbits(~nulls, bitorder="little") if nulls.any() else None
        kind = nanoarrow.large_string() if _is_utf8(data, offsets) else nanoarrow.large_binary()
        return c_array_from_buffers(kind, len(self), [valid, offsets, data], null_count=int(nulls.sum()))

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self.arrow().__arrow_c_array__()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        array = self.arrow()
        return stream_of(array.schema, iter([array])).__arrow_c_stream__()


def _is_utf8(data: Any, offsets: _Places) -> bool:
    """Whether each of the texts between the offsets is UTF-8."""
    array: Any = np.frombuffer(data, np.uint8) if len(data) > 0 else np.empty(0, np.uint8)
    begins = offsets[:-1][offsets[1:] > offsets[:-1]]
    if bool(((array[begins] & 0xC0) == 0x80).any()):  # in the middle of a character
        return False
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for begin in range(0, len(array), _CHECKED_BYTES):
            decoder.decode(array[begin : begin + _CHECKED_BYTES].tobytes())
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _pointer(data: Any) -> Any:
    return data if isinstance(data, ffi.CData) else ffi.from_buffer(data)


def _native(array: _Places) -> Any:
    return ffi.from_buffer("int64_t[]", np.ascontiguousarray(array))


def _copy(data: Any, begins: _Places, ends: _Places, target: Any, targets: _Places) -> None:
    to = ffi.from_buffer(target, require_writable=True)
    lib.sspy_copy_texts(_pointer(data), _native(begins), _native(ends), len(begins), to, _native(targets))


def _divided(widths: npt.NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Divide rows, so that a table of some of them, as wide as the widest one, has few characters."""
    begin = 0
    while begin < len(widths):
        end = min(begin + _CHARACTERS, len(widths))
        while end - begin > 1 and (end - begin) * int(widths[begin:end].max()) > _CHARACTERS:
            end = begin + (end - begin) // 2
        yield begin, end
        begin = end


# ----- from whatever holds them -----


def joined(parts: Sequence[Strings]) -> Strings:
    """The texts of all parts."""
    if len(parts) == 1:
        return parts[0]
    nothing = np.zeros(0, np.int64)
    begins, ends, first, packed = [nothing], [nothing], 0, []
    for part in parts:
        data, offsets = part.packed()
        begins.append(np.where(part.is_null, 0, first + offsets[:-1]))
        ends.append(np.where(part.is_null, -1, first + offsets[1:]))
        packed.append(data)
        first += len(data)
    return Strings(b"".join(packed), np.concatenate(begins), np.concatenate(ends))


def strings_of_chunk(chunk: Any, name: str) -> Strings:
    """The texts of an Arrow array, of any form."""
    view, kind, count = chunk.view(), chunk.schema.format, len(chunk)
    if chunk.schema.dictionary is not None:
        values = strings_of_chunk(chunk.dictionary, name)
        rows = np.where(nulls_of_view(view), -1, indexes_of_view(view, kind))  # behind the values there is a null
        begins, ends = np.append(values._begins, 0)[rows], np.append(values._ends, -1)[rows]
        return Strings(values._data, begins, ends)
    if kind not in TEXT_FORMATS:
        hint = '; give one column of a table, such as frame["text"]' if kind == "+s" else ""
        raise TypeError(f"{name}: expected an Arrow array of strings, found one of {view.storage_type}{hint}")
    if kind == "n" or count == 0:
        return Strings(b"", np.zeros(count, np.int64), np.full(count, -1))
    nulls = nulls_of_view(view)
    if kind in _VIEWS:
        return _of_views(view, nulls)
    given: Any = np.frombuffer(view.buffer(1), _OFFSETS[kind])[view.offset : view.offset + count + 1]
    offsets = given.astype(np.int64)
    data: Any = owned(np.frombuffer(view.buffer(2), np.uint8), chunk) if int(offsets[-1]) > 0 else b""
    return Strings(data, offsets[:-1], np.where(nulls, offsets[:-1] - 1, offsets[1:]))


def _of_views(view: Any, nulls: npt.NDArray[np.bool_]) -> Strings:
    """Of views: of at most 12 bytes in place, of more in one of several buffers."""
    rows = np.frombuffer(view.buffer(1), np.uint8).reshape(-1, 16)[view.offset : view.offset + len(view)]
    fields = np.ascontiguousarray(rows).view(np.int32)
    sizes = np.where(nulls, 0, fields[:, 0]).astype(np.int64)
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    made = bytearray(int(offsets[-1]))

    def copy(data: Any, chosen: _Places, begins: _Places) -> None:
        _copy(data, begins, begins + sizes[chosen], made, offsets[chosen])

    short, long = np.flatnonzero((sizes > 0) & (sizes <= 12)), np.flatnonzero(sizes > 12)
    copy(fields, short, 16 * short + 4)
    for number in np.unique(fields[long, 2]).tolist():
        chosen = long[fields[long, 2] == number]
        copy(view.buffer(2 + number), chosen, fields[chosen, 3].astype(np.int64))
    return Strings(made, offsets[:-1], np.where(nulls, offsets[:-1] - 1, offsets[1:]))


def _of_bytes(array: npt.NDArray[Any]) -> Strings:
    """Of NumPy's bytes of a fixed number, with zeros behind the last one."""
    width, count = array.dtype.itemsize, len(array)
    rows = np.ascontiguousarray(array).view(np.uint8).reshape(count, width)
    lengths = np.where(rows.any(axis=1), width - (rows[:, ::-1] != 0).argmax(axis=1), 0)
    begins = np.arange(count) * width
    return Strings(rows, begins, begins + lengths)


def _of_characters(array: npt.NDArray[Any], name: str, first: int) -> Strings:
    """Of NumPy's texts of a fixed number of characters, which begin with row `first`."""
    width, count = array.dtype.itemsize // 4, len(array)
    native = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="), copy=False)).view(np.uint32)
    data, ends = np.empty(4 * width * count, np.uint8), np.zeros(count + 1, np.int64)
    good = lib.sspy_encode_texts(
        ffi.from_buffer("uint32_t[]", native),
        width,
        count,
        ffi.from_buffer("char[]", data, require_writable=True),
        ffi.from_buffer("int64_t[]", ends[1:], require_writable=True),
    )
    if good < count:
        raise ArgumentError(f"{name}: row {first + good}: {str(array[good])!r} is not Unicode")
    return Strings(data[: ends[-1]].copy(), ends[:-1], ends[1:])


def _of_fixed(array: npt.NDArray[Any], name: str) -> Strings:
    if array.dtype.itemsize == 0 or len(array) == 0:
        return Strings(b"", np.zeros(len(array), np.int64), np.zeros(len(array), np.int64))
    if array.dtype.kind == "S":
        return _of_bytes(array)
    step = max(_CHARACTERS * 4 // array.dtype.itemsize, 1)
    return joined([_of_characters(array[row : row + step], name, row) for row in range(0, len(array), step)])


def _of_string_type(array: npt.NDArray[Any], name: str) -> Strings:
    """Of NumPy 2's StringDType."""
    widths = getattr(np, "strings").str_len(array)  # noqa: B009 (not in the types of NumPy 1)
    parts = []
    for begin, end in _divided(widths):
        width = max(int(widths[begin:end].max()), 1)
        parts.append(_of_characters(array[begin:end].astype(f"U{width}"), name, begin))
    return joined(parts)


def batches_of_items(
    items: Iterable[Any], name: str, null: Optional[str] = None, errors: str = "surrogateescape"
) -> Iterator[Strings]:
    """Of str, bytes and nulls, some at a time. `null` is what the error about a null says; None: it is no error.
    `errors` is for what is not Unicode, as str.encode() takes it."""
    some: list[bytes] = []
    missing: list[int] = []

    def flush() -> Strings:
        ends = np.cumsum([len(item) for item in some], dtype=np.int64)
        begins = np.append(np.zeros(1, np.int64), ends[:-1])
        ends[missing] = begins[missing] - 1
        made = Strings(b"".join(some), begins, ends)
        some.clear()
        missing.clear()
        return made

    for row, item in enumerate(items):
        if isinstance(item, str):
            try:
                some.append(item.encode("utf-8", errors))
            except UnicodeEncodeError:
                raise ArgumentError(f"{name}: row {row}: {item!r} is not Unicode") from None
        elif isinstance(item, bytes):
            some.append(item)
        elif not is_null(item):
            raise TypeError(f"{name}: row {row}: expected str or bytes, found {type(item).__name__}")
        elif null is None:
            missing.append(len(some))
            some.append(b"")
        else:
            raise ArgumentError(f"{name}: row {row}: {null}")
        if len(some) == _BATCH:
            yield flush()
    if some:
        yield flush()


def chunks_of(values: Any, name: str) -> Iterator[Any]:
    """The chunks of an Arrow array or stream of texts."""
    if is_arrow_view(values):
        import pyarrow

        values = pyarrow.chunked_array([values])  # a stream, which nanoarrow reads
    return arrow_chunks(values, name)


def strings_of(values: Any, name: str) -> Strings:
    """All of what is taken as an array of texts."""
    if isinstance(values, Strings):
        return values
    if isinstance(values, (str, bytes, os.PathLike, Mapping)) or not (is_arrow(values) or isinstance(values, Iterable)):
        hint = "; of one text, give [text]" if isinstance(values, (str, bytes)) else ""
        raise TypeError(f"{name}: expected a sequence or an array of texts, found {type(values).__name__}{hint}")
    if is_arrow(values) and not isinstance(values, np.ndarray):
        return joined([strings_of_chunk(chunk, name) for chunk in chunks_of(values, name)])
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise ArgumentError(f"{name}: expected an array of shape (n,), found {values.shape}")
        if values.dtype.kind in "US" and not isinstance(values, np.ma.MaskedArray):
            return _of_fixed(values, name)
        if values.dtype.kind == "T" and not hasattr(values.dtype, "na_object"):
            return _of_string_type(values, name)
        values = values.tolist()
    return joined(list(batches_of_items(values, name)))
