"""Arrays of fingerprints and ids: from whatever holds them, without a copy where that is possible."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, Optional, Protocol, Union

import numpy as np
import numpy.typing as npt

from sstore._errors import ArgumentError
from sstore._native import ffi

Words = npt.NDArray[np.uint64]


class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: Any = None) -> Any: ...


ArrowArray = Union[_ArrowStream, _ArrowArray]
# What is taken as an array of fingerprints or ids.
ArrayLike = Union[npt.NDArray[Any], Sequence[int], ArrowArray]


_MASK = (1 << 64) - 1


def word(value: int, name: str) -> int:
    """A number as 64 bits; a negative one is taken as two's complement."""
    number = operator.index(value)
    if not -(1 << 63) <= number <= _MASK:
        raise ArgumentError(f"{name}: expected a number of 64 bits, found {value}")
    return number & _MASK


def _of_numpy(array: npt.NDArray[Any], name: str) -> Words:
    masks: Any = np.ma  # not typed in all versions
    if isinstance(array, np.ma.MaskedArray) and masks.is_masked(array):
        raise ArgumentError(f"{name}: found masked values")
    array = np.asarray(array)
    if array.dtype == np.uint8 and array.ndim == 2 and array.shape[1] == 8:
        return np.ascontiguousarray(array).view(">u8").reshape(-1).astype(np.uint64)
    if array.dtype == np.bool_:
        raise TypeError(f"{name}: found single bits; numpy.packbits(bits, axis=1) makes bytes of them")
    if array.ndim == 2 and array.shape[1] != 1:
        raise ArgumentError(
            f"{name}: expected an array of shape (n,) or (n, 1), found {array.shape}: "
            "fingerprints of more than 64 bits are not supported"
        )
    if array.ndim not in (1, 2):
        raise ArgumentError(f"{name}: expected an array of shape (n,), found {array.shape}")
    if array.dtype.kind not in "iu":
        if array.size > 0 or array.dtype.kind not in "fO":
            raise TypeError(f"{name}: expected 64-bit integers, found {array.dtype}{_HINTS.get(array.dtype.kind, '')}")
        array = array.astype(np.uint64)
    if array.dtype.kind == "i" and array.dtype.itemsize < 8 and bool((array < 0).any()):
        raise ArgumentError(f"{name}: found a negative value of {array.dtype}; int64 is taken as 64 bits")
    array = np.ascontiguousarray(array.reshape(-1))
    if array.dtype == np.int64:
        return array.view(np.uint64)
    return array.astype(np.uint64, copy=False)


# What to do about values of another kind, by NumPy's letters.
_TEXT_HINT = ": int(text, 16) reads a fingerprint; ids of rows are their numbers"
_HINTS = {"f": ": fill missing values, and cast to an integer type", "U": _TEXT_HINT, "O": _TEXT_HINT, "T": _TEXT_HINT}


def _of_sequence(values: Any, name: str) -> Words:
    if isinstance(values, (str, bytes, bytearray, Mapping, Set)):
        raise TypeError(f"{name}: expected an array or a sequence of int, found {type(values).__name__}")
    try:
        items = list(values)
    except TypeError:
        raise TypeError(f"{name}: expected an array or a sequence of int, found {type(values).__name__}") from None
    for item in items:
        if not isinstance(item, (int, np.integer)) or isinstance(item, bool):
            hint = _TEXT_HINT if isinstance(item, str) else ""
            raise TypeError(f"{name}: expected int, found {type(item).__name__}{hint}")
    try:
        return np.array(items, dtype=np.uint64)
    except OverflowError:
        pass
    return np.array([word(int(item), name) for item in items], dtype=np.uint64)


def is_arrow(values: object) -> bool:
    """Whether it is an array, a table or a stream of Arrow."""
    return hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__")


# By the format strings of Arrow's C data interface, which tell a number from a date or an index of a dictionary.
_ARROW_TYPES = {"L": np.uint64, "l": np.int64, "I": np.uint32, "i": np.int32, "S": np.uint16, "C": np.uint8}


class _Owned:
    """An array of memory that `owner` frees: NumPy keeps this as the base of the arrays that it makes of it."""

    def __init__(self, array: npt.NDArray[Any], owner: object) -> None:
        self.__array_interface__ = array.__array_interface__
        self._owner = owner


def _of_view(view: Any, schema: Any, name: str, owner: object) -> Words:
    """An array of Arrow's, without a copy. `owner` is what frees its memory: nanoarrow's views do not keep it alive."""
    kind = schema.format
    if kind not in _ARROW_TYPES or schema.dictionary is not None:
        found = "a dictionary" if schema.dictionary is not None else f"{view.storage_type}"
        hint = _TEXT_HINT if kind in ("u", "U", "vu") else _HINTS["f"] if kind in ("f", "g") else ""
        raise TypeError(f"{name}: expected 64-bit integers, found an Arrow array of {found}{hint}")
    if view.null_count > 0:
        raise ArgumentError(f"{name}: found {view.null_count} nulls")
    if len(view) == 0:
        return np.empty(0, np.uint64)
    array: npt.NDArray[Any] = np.asarray(_Owned(np.frombuffer(view.buffer(1), dtype=_ARROW_TYPES[kind]), owner))
    return _of_numpy(array[view.offset : view.offset + len(view)], name)


def is_arrow_view(values: Any) -> bool:
    """Whether it is a single array of string or binary views, which crashes nanoarrow 0.9."""
    return not hasattr(values, "__arrow_c_stream__") and str(getattr(values, "type", "")).endswith("_view")


def arrow_chunks(values: Any, name: str) -> Iterator[Any]:
    """The chunks of an Arrow array or stream."""
    import nanoarrow

    if is_arrow_view(values):
        raise TypeError(f"{name}: expected 64-bit integers, found an Arrow array of {values.type}")
    with nanoarrow.c_array_stream(values) as stream:
        yield from stream


_FINGERPRINT = ("fingerprint", "fingerprints")
_ID = ("id", "ids")


def _names(chunk: Any) -> list[str]:
    return [child.name for child in chunk.schema.children]


def _find_column(chunk: Any, view: Any, wanted: Sequence[str], name: str) -> Optional[int]:
    """The index of a column of a table, whose rows must not be null."""
    if view.null_count != 0:
        raise ArgumentError(f"{name}: found rows that are null")
    names = _names(chunk)
    return next((names.index(name) for name in wanted if name in names), None)


def _of_column(chunk: Any, view: Any, at: int, name: str) -> Words:
    """A column of a chunk of a table."""
    column = _of_view(view.child(at), chunk.schema.child(at), name, chunk)
    return column[view.offset : view.offset + len(view)]


def pieces(fingerprints: Any, ids: Optional[Any]) -> Iterator[tuple[Words, Optional[Words]]]:
    """Records in pieces, each without a copy if it is an array of 64-bit integers.

    A table of Arrow has the columns "fingerprint" and, optionally, "id".
    """
    if ids is not None or not is_arrow(fingerprints):
        own, other = words(fingerprints, "fingerprints"), None if ids is None else words(ids, "ids")
        if other is not None and len(own) != len(other):
            raise ArgumentError(f"ids: expected as many as fingerprints, found {len(other)} and {len(own)}")
        yield own, other
        return
    for chunk in arrow_chunks(fingerprints, "fingerprints"):
        view = chunk.view()
        if chunk.schema.format != "+s":
            yield _of_view(view, chunk.schema, "fingerprints", chunk), None
            continue
        at, id_at = (_find_column(chunk, view, wanted, "fingerprints") for wanted in (_FINGERPRINT, _ID))
        if at is None:
            raise ArgumentError(f'fingerprints: expected a column "fingerprint", found {_names(chunk)}')
        yield (
            _of_column(chunk, view, at, "fingerprint"),
            None if id_at is None else _of_column(chunk, view, id_at, "id"),
        )


def words(values: ArrayLike, name: str) -> Words:
    """One contiguous array of 64-bit words. Signed numbers are taken as two's complement."""
    if isinstance(values, np.ndarray):
        return _of_numpy(values, name)
    if is_arrow(values):
        chunks = []
        for chunk in arrow_chunks(values, name):
            view = chunk.view()
            if chunk.schema.format != "+s":
                chunks.append(_of_view(view, chunk.schema, name, chunk))
                continue
            at = _find_column(chunk, view, _ID if name == "ids" else _FINGERPRINT, name)
            if at is None:
                column = "id" if name == "ids" else "fingerprint"
                raise ArgumentError(
                    f'{name}: expected an array, or a table with a column "{column}", found {_names(chunk)}'
                )
            chunks.append(_of_column(chunk, view, at, name))
        return chunks[0] if len(chunks) == 1 else np.concatenate([np.empty(0, np.uint64), *chunks])
    if hasattr(values, "__array__") and not isinstance(values, (list, tuple)):
        return _of_numpy(np.asarray(values), name)
    return _of_sequence(values, name)


def pointer(array: Optional[Words]) -> Any:
    """The library's view of an array, which stays alive as long as this."""
    return ffi.NULL if array is None else ffi.from_buffer("uint64_t[]", array)
