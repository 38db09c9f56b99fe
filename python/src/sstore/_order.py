"""The order of records: numbers, times, and texts of one of them, as numbers of 64 bits that sort alike.

Texts are read as the command reads a field of --keep.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sstore._arrays import (
    ARROW_TYPES,
    Words,
    arrow_chunks,
    indexes_of_view,
    is_arrow,
    is_arrow_view,
    is_null,
    nulls_of_view,
    pointer,
    rows_of_view,
)
from sstore._columns import Flags
from sstore._errors import ArgumentError
from sstore._native import ffi, lib

_LAST = np.uint64((1 << 64) - 1)  # the order of what has no value
_SIGN = np.uint64(1 << 63)
# Format strings of Arrow's C data interface: floats, and dates, times and durations, which are integers.
_FLOATS = {"e": np.float16, "f": np.float32, "g": np.float64}
_SHORT_TIMES = ("tdD", "tts", "ttm")
_LONG_TIMES = ("tdm", "ttu", "ttn", "ts", "tD")
_WANTED = "expected numbers, times, or texts of one of them, such as 2026-11-29 or 2026-11-29T13:00:00Z"


def orders_of(values: Any, name: str, is_descending: bool) -> Words:
    """The order of n values, the lower the sooner: uint64, shape (n,). Values without an order come last."""
    if not is_arrow(values):
        return _of_items(values, name, is_descending)
    if is_arrow_view(values):
        return _of_items(values.to_pylist(), name, is_descending)
    made: list[Words] = [np.empty(0, np.uint64)]
    for chunk in arrow_chunks(values, name):
        made.append(orders_of_chunk(chunk, name, is_descending, sum(map(len, made))))
    return np.concatenate(made)


def orders_of_chunk(chunk: Any, name: str, is_descending: bool, first: int) -> Words:
    """The same of an Arrow array, which begins with row `first`."""
    view, kind = chunk.view(), chunk.schema.format
    nulls, begin, end = nulls_of_view(view), view.offset, view.offset + len(view)
    if len(view) == 0 or kind == "n":
        return np.full(len(view), _LAST)
    if chunk.schema.dictionary is not None:
        orders: Words = np.append(orders_of_chunk(chunk.dictionary, name, is_descending, first), _LAST)
        of_rows: Words = orders[np.where(nulls, -1, indexes_of_view(view, kind))]
        return of_rows
    if kind == "b":
        bits = np.unpackbits(np.frombuffer(view.buffer(1), np.uint8), bitorder="little")
        return _ranked(bits[begin:end], nulls, is_descending)
    if kind in ("u", "U", "vu"):
        return _of_texts(rows_of_view(view, chunk.schema), name, is_descending, first)
    types: dict[str, Any] = {**ARROW_TYPES, **_FLOATS, **dict.fromkeys(_SHORT_TIMES, np.int32)}
    found = np.int64 if kind.startswith(_LONG_TIMES) else types.get(kind)
    if found is None:
        raise TypeError(f"{name}: {_WANTED}, found an Arrow array of {view.storage_type}")
    return _ranked(np.frombuffer(view.buffer(1), found)[begin:end], nulls, is_descending)


def _of_items(values: Any, name: str, is_descending: bool) -> Words:
    array: Any = np.asarray(values)
    masks: Any = np.ma  # not typed in all versions
    nulls = np.array(
        masks.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else np.zeros(array.shape, bool)
    )
    if array.ndim != 1:
        raise ArgumentError(f"{name}: expected an array of shape (n,), found {array.shape}")
    if array.dtype.kind in "mM":
        return _ranked(array.view(np.int64), nulls | np.isnat(array), is_descending)
    if array.dtype.kind in "biuf":
        return _ranked(array, nulls, is_descending)
    items = [None if is_masked else item for item, is_masked in zip(array.tolist(), nulls.tolist())]
    nulls = np.array([is_null(item) for item in items], np.bool_)
    numbers = [0 if is_none else item for item, is_none in zip(items, nulls.tolist())]
    if all(isinstance(item, (int, float, np.number)) for item in numbers):
        for kind in (np.int64, np.uint64, np.float64):
            if kind == np.float64 or all(isinstance(item, (int, np.integer)) for item in numbers):
                try:
                    return _ranked(np.array(numbers, kind), nulls, is_descending)
                except OverflowError:
                    continue
    return _of_texts(items, name, is_descending, 0)


def _ranked(values: Any, nulls: Flags, is_descending: bool) -> Words:
    """Of numbers: their bits, changed so that they sort as numbers without a sign."""
    if values.dtype.kind == "f":
        nulls = nulls | np.isnan(values)
        bits = (values.astype(np.float64) + 0.0).view(np.uint64)  # of a negative zero, the positive one
        made = np.where(bits >= _SIGN, ~bits, bits | _SIGN)
    elif values.dtype.kind == "i":
        made = values.astype(np.int64).view(np.uint64) ^ _SIGN
    else:
        made = values.astype(np.uint64)
    largest = _LAST - np.uint64(1)
    made = np.minimum(made, largest)
    return np.where(nulls, _LAST, largest - made if is_descending else made)


def _of_texts(items: Sequence[Any], name: str, is_descending: bool, first: int) -> Words:
    """Of texts, and of objects such as dates and decimals that are written as texts."""
    encoded = [_text_of(item) for item in items]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(item) for item in encoded], out=offsets[1:])
    made = np.empty(len(encoded), np.uint64)
    places, data = ffi.from_buffer("int64_t[]", offsets), b"".join(encoded)
    count = lib.sspy_read_orders(data, places, len(encoded), is_descending, pointer(made))
    if count < len(encoded):
        raise ArgumentError(f"{name}: row {first + count}: {_WANTED}, found {items[count]!r}")
    return made


def _text_of(item: Any) -> bytes:
    if is_null(item):
        return b""
    if isinstance(item, bytes):
        return item
    return (item.isoformat() if hasattr(item, "isoformat") else str(item)).encode("utf-8", "replace")
