"""Arrays of fingerprints and ids: from whatever holds them, without a copy where that is possible."""

from __future__ import annotations

import importlib.util
import operator
import os
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, Optional, Protocol, Union

import numpy as np
import numpy.typing as npt

from sstore._doubt import DoubtWarning, warn
from sstore._errors import ArgumentError
from sstore._native import ffi, lib

Words = npt.NDArray[np.uint64]


class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: Any = None) -> Any: ...


class _ImageHash(Protocol):
    """Such as imagehash.ImageHash."""

    @property
    def hash(self) -> npt.NDArray[Any]: ...


ArrowArray = Union[_ArrowStream, _ArrowArray]
# A hash of an image: of imagehash; or of pdqhash, with its quality.
_HashOfImage = Union[_ImageHash, tuple[npt.NDArray[Any], Any]]
# What is taken as an array of fingerprints or ids.
ArrayLike = Union[
    npt.NDArray[Any], Sequence[int], Sequence[bytes], Sequence[npt.NDArray[Any]], Sequence[_HashOfImage], ArrowArray
]
# What is taken as a single fingerprint.
Fingerprint = Union[int, bytes, npt.NDArray[Any], _HashOfImage]


MAX_WORDS = int(lib.SSTORE_MAX_WORDS)
_MASK = (1 << 64) - 1


def int_of(value: Any) -> int:
    """A number as an int. NumPy's signed ones of less than 64 bits are taken without a sign, as arrays of them."""
    if isinstance(value, bool):
        raise TypeError("expected int, found bool")
    found = operator.index(value)
    return found & ((1 << 8 * value.itemsize) - 1) if isinstance(value, np.signedinteger) and found < 0 else found


def word(value: Any, name: str) -> int:
    """A number as 64 bits; a negative one is taken as two's complement."""
    try:
        found = int_of(value)
    except TypeError:
        raise _not_one(value, name, 1) from None
    if name == "fingerprint" and -(1 << 31) <= found < -1:
        warn(
            f"fingerprint: {found} is taken as 64 bits; value & 0xFFFFFFFF is the 32-bit value that it may be",
            DoubtWarning,
        )
    if not -(1 << 63) <= found <= _MASK:
        raise ArgumentError(
            f"{name}: expected a number of 64 bits, found {value}{_BITS_HINT if name not in NUMBERS else ''}"
        )
    return found & _MASK


def word_count(bits: int) -> int:
    """The words of a fingerprint of this many bits."""
    width = operator.index(bits)
    if not 64 <= width <= 64 * MAX_WORDS or width % 64 != 0:
        raise ArgumentError(f"bits: expected a multiple of 64 from 64 to {64 * MAX_WORDS}, found {width}")
    return width // 64


class Padded(int):
    """The words of fingerprints that have `own_bits` bits, and behind them zeros that fill the last word."""

    own_bits: int

    @property
    def own_bytes(self) -> int:
        """The bytes of a fingerprint without those that are only zeros."""
        return (self.own_bits + 7) // 8


def words_by_recipe(count: Optional[int], recipe: object) -> Optional[int]:
    """The words of fingerprints of a store: its recipe says whether `sstore build --pad` filled them up."""
    found = re.match(r"(\d+) bits, padded(; |$)", os.fsdecode(recipe) if isinstance(recipe, (str, bytes)) else "")
    bits = int(found[1]) if found is not None else 0
    words = -(-bits // 64)
    if bits % 64 == 0 or words > MAX_WORDS or count not in (None, words):
        return count
    made = Padded(words)
    made.own_bits = bits
    return made


def _filled(array: npt.NDArray[np.uint8], count: Optional[int]) -> npt.NDArray[np.uint8]:
    """Bytes of fingerprints, with the zeros behind those that have only their own."""
    if not isinstance(count, Padded) or array.shape[1] != count.own_bytes:
        return array
    return np.pad(array, ((0, 0), (0, 8 * count - count.own_bytes)))


def with_padding(array: Words, name: str, count: Optional[int]) -> Words:
    """The array, if there are zeros behind the bits of its fingerprints. Where digits do not show the end of these, any
    of the last byte may be set."""
    if isinstance(count, Padded):
        bits = count.own_bits if count.own_bits % 4 == 0 else 8 * count.own_bytes
        last = array if array.ndim == 1 and count == 1 else array[..., -1]
        if bool((last & np.uint64((1 << 64 * count - bits) - 1)).any()):
            raise ArgumentError(
                f"{name}: expected zeros behind the {count.own_bits} bits of a fingerprint; an int has them in its "
                f"last {64 * count - bits} bits"
            )
    return array


def words_of(array: Words) -> int:
    """The words of each fingerprint of an array."""
    return 1 if array.ndim == 1 else int(array.shape[1])


def _shapes(count: Optional[int]) -> str:
    """The shapes that arrays of fingerprints of this many words may have; None: of any."""
    if count is None:
        return f"(n,), or (n, words) with 1 to {MAX_WORDS} words"
    bytes_shape = f"or (n, {8 * count}) of uint8"
    return f"(n,) {bytes_shape}" if count == 1 else f"(n, {count}) of 64-bit integers {bytes_shape}"


def _wrong_shape(name: str, count: Optional[int], found: str) -> ArgumentError:
    if name in NUMBERS:
        return ArgumentError(f"{name}: expected an array of shape (n,), found {found}")
    bits = "" if count is None else f" for fingerprints of {64 * count} bits"
    return ArgumentError(f"{name}: expected an array of shape {_shapes(count)}{bits}, found {found}")


NUMBERS = ("ids", "other_ids", "exclude_ids", "id", "edges")  # arrays that are not of fingerprints
_OF_NAMES = {"ids": "names=", "id": "names=", "exclude_ids": "exclude_names="}  # what takes texts instead


def _of_bytes(array: npt.NDArray[np.uint8]) -> Words:
    """Fingerprints from their bytes, the most significant first: of shape (n,), or (n, words)."""
    made = np.ascontiguousarray(array).view(">u8").astype(np.uint64)
    return made.reshape(-1) if made.shape[1] == 1 else made


def fitted(array: Words, name: str, count: Optional[int]) -> Words:
    """The array, if its fingerprints have this many words; None: any number."""
    if count is None or words_of(array) == count:
        return array
    raise _wrong_shape(name, count, str(array.shape))


def _bits_of(array: npt.NDArray[Any], name: str, count: Optional[int]) -> Optional[npt.NDArray[np.uint8]]:
    """The bytes of an array of single bits, such as `pdqhash` and `imagehash` make; None: it has something else.

    Numbers are bits if all are 0 or 1, and there are as many columns as a fingerprint has bits: 64, 128 and so on.
    """
    size = array[:1].size
    if isinstance(count, Padded) and size == count.own_bits and array.ndim > 1:
        if bool(((array == 0) | (array == 1)).all()):
            return _filled(np.packbits(array.reshape(len(array), -1).astype(np.bool_), axis=1), count)
    if array.dtype != np.bool_ and (size % 64 != 0 or size == 0 or count not in (None, size // 64)):
        return None
    if array.ndim < 2 or size % 64 != 0 or not 1 <= size // 64 <= MAX_WORDS or count not in (None, size // 64):
        wanted = f"64 to {64 * MAX_WORDS} columns in steps of 64" if count is None else f"{64 * count} columns"
        raise ArgumentError(f"{name}: expected single bits in {wanted}, found an array of shape {array.shape}")
    if array.dtype != np.bool_:
        if array[:16].max() > 1 or not bool(((array == 0) | (array == 1)).all()):
            return None
    return np.packbits(array.reshape(len(array), -1).astype(np.bool_), axis=1)


def _of_parts(array: npt.NDArray[Any], name: str, count: Optional[int]) -> Words:
    """Of an array of smaller numbers: those of a row are equal parts of a fingerprint, the highest first."""
    size, width = array.dtype.itemsize, array.shape[1]
    if size == 4 and width == 2:
        raise ArgumentError(
            f"{name}: an array of shape (n, 2) of uint32 may be halves of 64 bits, or fingerprints and ids: give "
            "a[:, 0].astype(numpy.uint64) << 32 | a[:, 1], or a[:, 0] and the ids a[:, 1]"
        )
    words, rest = divmod(size * width, 8)
    if rest != 0 or not 1 <= words <= MAX_WORDS or count not in (None, words):
        raise _wrong_shape(name, count, f"{array.shape} of {array.dtype}")
    return _of_bytes(np.ascontiguousarray(array.astype(f">u{size}")).view(np.uint8))


def of_numpy(array: npt.NDArray[Any], name: str, count: Optional[int]) -> Words:
    """Of an array of shape (n,), (n, 1) or (n, words), or of bytes: of shape (n, 8 * words)."""
    masks: Any = np.ma  # not typed in all versions
    if isinstance(array, np.ma.MaskedArray) and masks.is_masked(array):
        raise ArgumentError(f"{name}: found masked values")
    array = np.asarray(array)
    is_number = name in NUMBERS
    if array.dtype.kind in "iu" and array.dtype.itemsize == 1 and array.ndim == 2:
        array = _filled(array.view(np.uint8), count)
    if array.dtype.kind == "i" and array.dtype.itemsize < 8 and not is_number:
        array = array.view(f"{array.dtype.byteorder}u{array.dtype.itemsize}")  # as Java and SQL have unsigned numbers
    if array.dtype.kind in "biuf" and array.ndim > 1 and not is_number and len(array) > 0:
        bits = _bits_of(array, name, count)
        if bits is not None:
            return _of_bytes(bits)
    if array.ndim not in (1, 2):
        raise _wrong_shape(name, count, str(array.shape))
    width = 1 if array.ndim == 1 else array.shape[1]
    if array.dtype.kind == "u" and array.dtype.itemsize < (2 if is_number else 8) and width > 1:
        return _of_parts(array, name, count)
    if array.dtype == np.object_ and array.ndim == 1 and array.size > 0:
        return of_sequence(array.tolist(), name, count)
    if array.dtype.kind not in "iu":
        if array.size > 0 or array.dtype.kind not in "fO":
            missing: Any = np.flatnonzero(np.isnan(array)) if array.dtype.kind == "f" and array.ndim == 1 else ()
            where = f"; row {missing[0]} is NaN" if len(missing) > 0 else ""
            hint = where + _hint_of(name, next(iter(array.flat), None))
            raise TypeError(f"{name}: expected 64-bit integers, found {array.dtype}{hint}")
        array = array.astype(np.uint64)
    if not 1 <= width <= MAX_WORDS or count not in (None, width):
        raise _wrong_shape(name, count, str(array.shape))
    if array.dtype.kind == "i" and array.dtype.itemsize < 8 and bool((array < 0).any()):
        raise ArgumentError(f"{name}: found a negative value of {array.dtype}; int64 is taken as 64 bits")
    array = np.ascontiguousarray(array.reshape(-1) if width == 1 else array)
    if array.dtype == np.int64:
        return array.view(np.uint64)
    return array.astype(np.uint64, copy=False)


# What to do about values of another kind.
_BITS_HINT = "; bits says how many wider ones have"
_FLOAT_HINT = (
    ": floats have already lost digits, so casting them is too late; read the column again as integers, such as "
    'pandas.read_csv(path, dtype={"%s": "Int64"}), or "UInt64"; skip_bad=True then skips nulls'
)

_PATH_HINT = (
    ": files are not read by their paths; numpy.load(path) reads .npy, and pandas.read_csv or the command "
    "`sstore build` other files"
)


def _float_hint(name: str) -> str:
    """What to do about floats, most often integers of a column with nulls."""
    return _FLOAT_HINT % ("id" if name in NUMBERS else "simhash")


def is_null(item: object) -> bool:
    """Whether it is None, NaN, or NA of pandas."""
    return item is None or (isinstance(item, float) and item != item) or type(item).__name__ in ("NAType", "NaTType")


def unwrapped(item: Any) -> Any:
    """The bits of a hash of imagehash, or of what pdqhash returns; anything else as it is."""
    bits = getattr(item, "hash", None)
    if isinstance(bits, np.ndarray):
        return bits
    is_pdq = isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], np.ndarray) and np.ndim(item[1]) == 0
    return item[0] if is_pdq else item


def number_hint(item: object, of_names: Optional[str]) -> str:
    """What to do about a text in the place of a number, where the argument `of_names` takes texts, or none does."""
    if not isinstance(item, (str, bytes)):
        return ""
    other = "" if of_names is None else f"; {of_names} takes other texts, such as URLs"
    return f": int(text) reads a number{other}"


def _hint_of(name: str, item: object) -> str:
    """What to do about items of another kind, by one of them."""
    if isinstance(item, (float, np.floating)):
        return _float_hint(name)
    if hasattr(item, "segment_hashes") and name not in NUMBERS:
        return ": an ImageMultiHash has several fingerprints, item.segment_hashes; give each the id of the picture"
    if name in NUMBERS:
        return number_hint(item, _OF_NAMES.get(name))
    if not isinstance(item, str):
        return ""
    if item.isdigit():
        return ": int(text) reads decimal digits, int(text, 16) hexadecimal ones"
    if re.fullmatch(r"(0x)?[0-9A-Fa-f]+", item):
        return ": int(text, 16) reads a fingerprint, bytes.fromhex(text) also a wider one"
    if name == "fingerprint":
        return ": sstore.simhash([text])[0] makes a fingerprint of a text"
    return ": sstore.simhash(texts) makes fingerprints of texts"


def _not_one(value: Any, name: str, count: int) -> TypeError:
    """The error about a value that is no single fingerprint."""
    wanted = (
        "one int" if count == 1 else f"an int of {64 * count} bits, {8 * count} bytes or an array of shape ({count},)"
    )
    is_many = name == "fingerprint" and hasattr(value, "__len__") and not isinstance(value, str)
    hint = "; query_batch() takes several fingerprints" if is_many else _hint_of(name, value)
    return TypeError(f"{name}: expected {wanted}, found {type(value).__name__}{hint}")


def _of_wide_ints(items: Sequence[Any], name: str, count: int) -> Words:
    """Numbers of several words each. NumPy's have a word, so they are none. Numbers that are all as small as words may
    be the words of one fingerprint."""
    size = 8 * count
    joined = bytearray()
    largest = 0
    for item in items:
        if isinstance(item, (np.integer, np.ndarray)):
            raise ArgumentError(
                f"{name}: expected numbers of {8 * size} bits, found {item.dtype} of at most 64 bits; an array of "
                f"shape ({count},) has all words of a fingerprint"
            )
        number = int(item)
        largest = max(largest, abs(number))
        if not -(1 << 8 * size - 1) <= number < 1 << 8 * size:
            raise ArgumentError(f"{name}: expected numbers of {8 * size} bits, found {number}")
        joined += (number & ((1 << 8 * size) - 1)).to_bytes(size, "big")
    if 1 < largest <= _MASK:
        warn(
            f"{name}: no number has more than 64 bits, and fingerprints have {8 * size}: they may be words; "
            f"numpy.array(words, numpy.uint64).reshape(-1, {count}) makes fingerprints of words",
            DoubtWarning,
        )
    return _of_bytes(np.frombuffer(joined, np.uint8).reshape(-1, size))


def _of_byte_strings(items: Sequence[Any], name: str, count: Optional[int]) -> Words:
    """Fingerprints as bytes, the most significant first; all of one length."""
    for item in items:
        if not isinstance(item, bytes):
            raise TypeError(f"{name}: expected bytes like the others, found {type(item).__name__}")
    size = len(items[0]) if count is None else 8 * count
    if isinstance(count, Padded):
        items = [item.ljust(size, b"\0") if len(item) == count.own_bytes else item for item in items]
    if size % 8 != 0 or not 1 <= size // 8 <= MAX_WORDS:
        raise ArgumentError(f"{name}: expected bytes of a length of 8 to {8 * MAX_WORDS} in steps of 8, found {size}")
    other = next((item for item in items if len(item) != size), None)
    if other is not None:
        raise ArgumentError(f"{name}: expected {size} bytes for each fingerprint, found {len(other)}")
    return _of_bytes(np.frombuffer(b"".join(items), np.uint8).reshape(-1, size))


def _of_rows(items: Sequence[Any], name: str, count: Optional[int]) -> Words:
    """Arrays of one fingerprint each."""
    for item in items:
        if not isinstance(item, np.ndarray) or item.shape != items[0].shape or item.dtype != items[0].dtype:
            found = f"{item.dtype}{item.shape}" if isinstance(item, np.ndarray) else type(item).__name__
            raise ArgumentError(
                f"{name}: expected arrays like the first, {items[0].dtype}{items[0].shape}, found {found}"
            )
    return of_numpy(np.stack(items), name, count)


def _of_lists(items: Sequence[Any], name: str, count: Optional[int]) -> Words:
    """Lists of the bits of one fingerprint each. Numbers in lists may be bytes or words."""
    if all(isinstance(item, (list, tuple)) and len(item) == len(items[0]) for item in items):
        array = np.array(items)
        if array.ndim > 1 and array.dtype.kind in "biuf" and array.size > 0:
            bits = _bits_of(array, name, count)
            if bits is not None:
                return _of_bytes(bits)
    raise TypeError(
        f"{name}: expected int, bytes or arrays, found {type(items[0]).__name__}; numpy.array(rows, numpy.uint8) makes "
        "bytes of rows, and numpy.array(rows, numpy.uint64) words"
    )


def of_sequence(values: Any, name: str, count: Optional[int]) -> Words:
    try:
        values = getattr(values, "segment_hashes", values)  # of an imagehash.ImageMultiHash
        items = None if isinstance(values, (str, bytes, bytearray, Mapping, Set)) else list(values)
    except TypeError:
        items = None
    if items is None:
        hint = _PATH_HINT if isinstance(values, (str, os.PathLike)) else ""
        hint = hint if name not in NUMBERS else _hint_of(name, values)
        raise TypeError(f"{name}: expected an array or a sequence of int, found {type(values).__name__}{hint}")
    if items and name not in NUMBERS:
        if unwrapped(items[0]) is not items[0]:
            items = [unwrapped(item) for item in items]
        if isinstance(items[0], bytes):
            return _of_byte_strings(items, name, count)
        if isinstance(items[0], np.ndarray) and items[0].ndim > 0:
            return _of_rows(items, name, count)
        if isinstance(items[0], (list, tuple)):
            return _of_lists(items, name, count)
        if (
            isinstance(items[0], np.signedinteger)
            and items[0].itemsize < 8
            and len({type(item) for item in items}) == 1
        ):
            return of_numpy(np.array(items), name, count)
    for item in items:
        if not isinstance(item, (int, np.integer)) or isinstance(item, bool):
            raise TypeError(f"{name}: expected int, found {type(item).__name__}{_hint_of(name, item)}")
    if count is not None and count > 1:
        return _of_wide_ints(items, name, count)
    try:
        return np.array(items, dtype=np.uint64)
    except OverflowError:
        pass
    return np.array([word(int(item), name) for item in items], dtype=np.uint64)


def one(value: Any, name: str, count: Optional[int]) -> Words:
    """A single fingerprint, as an array of its words, with zeros behind its own bits."""
    return with_padding(_one(unwrapped(value), name, count), name, count)


def _one(value: Any, name: str, count: Optional[int]) -> Words:
    """A single fingerprint, as an array of its words: of an int, of bytes, or of an array of words or of bytes."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.size > 0:
        bits = _bits_of(value.reshape(1, -1), name, count) if value.ndim > 0 else None
        if bits is not None:
            return _of_bytes(bits).reshape(-1)
    if isinstance(value, (bytes, np.ndarray)) and not (isinstance(value, np.ndarray) and value.ndim == 0):
        if isinstance(value, np.ndarray) and value.ndim != 1:
            wanted = "one fingerprint" if count is None else f"one fingerprint, of shape ({count},) or ({8 * count},)"
            raise ArgumentError(f"{name}: expected {wanted}, found an array of shape {value.shape}")
        if isinstance(value, bytes):
            return _of_byte_strings([value], name, count).reshape(-1)
        try:
            return of_numpy(value.reshape(1, -1), name, count).reshape(-1)
        except ArgumentError:
            if count is None:
                raise
            raise ArgumentError(
                f"{name}: expected an array of shape ({count},) of 64-bit integers or ({8 * count},) of uint8 for "
                f"{64 * count} bits, found {value.shape} of {value.dtype}"
            ) from None
    if count is None or count == 1:
        return np.array([word(value, name)], np.uint64)
    try:
        int_of(value)
    except TypeError:
        raise _not_one(value, name, count) from None
    return _of_wide_ints([value], name, count).reshape(-1)


def _is_series_without_pyarrow(values: object) -> bool:
    """Whether it is a column of pandas, which exports Arrow data only with pyarrow: without, it is a sequence."""
    is_series = type(values).__module__.partition(".")[0] == "pandas" and hasattr(values, "dtype")
    return is_series and importlib.util.find_spec("pyarrow") is None


def is_arrow(values: object) -> bool:
    """Whether it is an array, a table or a stream of Arrow; but not objects of Python, whose type pandas guesses."""
    kind = getattr(values, "dtype", None)
    if (isinstance(kind, np.dtype) and kind == np.object_) or _is_series_without_pyarrow(values):
        return False
    return hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__")


# By the format strings of Arrow's C data interface, which tell a number from a date or an index of a dictionary.
ARROW_TYPES = {
    "L": np.uint64,
    "l": np.int64,
    "I": np.uint32,
    "i": np.int32,
    "S": np.uint16,
    "s": np.int16,
    "C": np.uint8,
    "c": np.int8,
}


class _Owned:
    """An array of memory that `owner` frees: NumPy keeps this as the base of the arrays that it makes of it."""

    def __init__(self, array: npt.NDArray[Any], owner: object) -> None:
        self.__array_interface__ = array.__array_interface__
        self._owner = owner


def owned(array: npt.NDArray[Any], owner: object) -> npt.NDArray[Any]:
    """The array of memory that `owner` frees."""
    return np.asarray(_Owned(array, owner))


def _bytes_of_views(view: Any, name: str, owner: object) -> npt.NDArray[np.uint8]:
    """The bytes of an array of binary views, as polars has them: of shape (n, length)."""
    rows = np.frombuffer(view.buffer(1), np.uint8).reshape(-1, 16)[view.offset : view.offset + len(view)]
    fields = np.ascontiguousarray(rows).view(np.int32)
    size = _one_length(np.unique(fields[:, 0]), name)
    if size <= 12:
        return np.ascontiguousarray(rows[:, 4 : 4 + size])
    made = np.empty((len(view), size), np.uint8)
    for number in np.unique(fields[:, 2]).tolist():
        data = np.frombuffer(view.buffer(2 + number), np.uint8)
        chosen = np.flatnonzero(fields[:, 2] == number)
        made[chosen] = data[fields[chosen, 3, None].astype(np.int64) + np.arange(size)]
    return made


def _one_length(lengths: npt.NDArray[Any], name: str) -> int:
    if len(lengths) != 1:
        raise ArgumentError(f"{name}: expected bytes of one length, found {lengths.min()} to {lengths.max()}")
    return int(lengths[0])


def _arrow_bytes(view: Any, kind: str, name: str, owner: object) -> npt.NDArray[np.uint8]:
    """The bytes of a binary array whose values have one length: of shape (n, length)."""
    if kind == "vz":
        return _bytes_of_views(view, name, owner)
    begin, end = view.offset, view.offset + len(view)
    if kind.startswith("w:"):
        size, first = int(kind[2:]), 0
        data = np.frombuffer(view.buffer(1), np.uint8)
    else:
        offsets = np.frombuffer(view.buffer(1), np.int64 if kind == "Z" else np.int32)[begin : end + 1]
        size, first = _one_length(np.unique(np.diff(offsets)), name), int(offsets[0])
        begin, end = 0, len(view)
        data = np.frombuffer(view.buffer(2), np.uint8) if size > 0 else np.empty(0, np.uint8)
    return data[first + begin * size : first + end * size].reshape(len(view), size)


def of_view(view: Any, schema: Any, name: str, owner: object, count: Optional[int]) -> Words:
    """An array of Arrow's, without a copy of numbers. `owner` is what frees its memory: nanoarrow's views do not keep
    it alive."""
    kind = schema.format
    is_fingerprint = name not in NUMBERS and schema.dictionary is None
    is_list = is_fingerprint and kind.startswith("+w:") and schema.child(0).format in ("L", "l")
    is_binary = is_fingerprint and (kind in ("z", "Z", "vz") or kind.startswith("w:"))
    if not is_list and not is_binary and (kind not in ARROW_TYPES or schema.dictionary is not None):
        found = "a dictionary" if schema.dictionary is not None else f"{view.storage_type}"
        hint = _float_hint(name) if kind in ("f", "g") else _hint_of(name, _text_of_row(view, kind, view.offset))
        raise TypeError(f"{name}: expected 64-bit integers, found an Arrow array of {found}{hint}")
    if view.null_count > 0:
        raise ArgumentError(f"{name}: found {view.null_count} nulls")
    if is_binary:
        size = int(kind[2:]) if kind.startswith("w:") else None
        if len(view) == 0:
            width = 8 * (count or 1) if size is None else size
            return of_numpy(np.empty((0, width), np.uint8), name, count)
        values = _arrow_bytes(view, kind, name, owner)
        if values.shape[1] < 8 and not isinstance(count, Padded):
            raise _wrong_shape(name, count, f"Arrow data of {values.shape[1]} bytes each")
        return of_numpy(values, name, count)
    if is_list:
        return _of_list(view, schema, name, owner, count)
    if len(view) == 0:
        return np.empty(0, np.uint64)
    array = owned(np.frombuffer(view.buffer(1), dtype=ARROW_TYPES[kind]), owner)
    return of_numpy(array[view.offset : view.offset + len(view)], name, count)


def _of_list(view: Any, schema: Any, name: str, owner: object, count: Optional[int]) -> Words:
    """A list of the words of each fingerprint."""
    size, child = int(schema.format[3:]), view.child(0)
    if child.null_count > 0:
        raise ArgumentError(f"{name}: found nulls among the words of fingerprints")
    if len(view) == 0:
        return of_numpy(np.empty((0, size), np.uint64), name, count)
    numbers = owned(np.frombuffer(child.buffer(1), dtype=ARROW_TYPES[schema.child(0).format]), owner)
    begin = child.offset + view.offset * size
    return of_numpy(numbers[begin : begin + len(view) * size].reshape(-1, size), name, count)


def _bytes_of_row(view: Any, kind: str, row: int) -> bytes:
    """The value of a row of an array of binary or text."""
    number = 1
    if kind.startswith("w:"):
        size = int(kind[2:])
        begin = row * size
    elif kind in ("z", "u", "Z", "U"):
        offsets = np.frombuffer(view.buffer(1), np.int64 if kind in "ZU" else np.int32)
        number, begin, size = 2, int(offsets[row]), int(offsets[row + 1] - offsets[row])
    else:
        size, _, data, begin = np.frombuffer(view.buffer(1), np.int32)[4 * row : 4 * row + 4].tolist()
        number, begin = (1, 16 * row + 4) if size <= 12 else (2 + data, begin)
    return np.frombuffer(view.buffer(number), np.uint8)[begin : begin + size].tobytes() if size > 0 else b""


def _text_of_row(view: Any, kind: str, row: int) -> Optional[str]:
    """The value of a row of an array of text; None: it is of something else, or empty."""
    return _bytes_of_row(view, kind, row).decode() if kind in ("u", "U", "vu") and len(view) > 0 else None


def nulls_of_view(view: Any) -> npt.NDArray[np.bool_]:
    """Which rows of an Arrow array are null."""
    if view.null_count == 0:
        return np.zeros(len(view), np.bool_)
    bits = np.unpackbits(np.frombuffer(view.buffer(0), np.uint8), bitorder="little").astype(np.bool_)
    nulls: npt.NDArray[np.bool_] = np.logical_not(bits[view.offset : view.offset + len(view)])
    return nulls


def indexes_of_view(view: Any, kind: str) -> npt.NDArray[np.int64]:
    """The indexes of an Arrow array with a dictionary; of a null, any number."""
    if len(view) == 0:
        return np.zeros(0, np.int64)
    return np.frombuffer(view.buffer(1), ARROW_TYPES[kind])[view.offset : view.offset + len(view)].astype(np.int64)


def rows_of_view(view: Any, schema: Any) -> list[Any]:
    """The rows of an Arrow array of text, or of what of_view() takes: numbers, bytes, arrays of words, or None."""
    rows, valid = np.arange(view.offset, view.offset + len(view)), ~nulls_of_view(view)
    kind = schema.format
    if kind in ARROW_TYPES:
        values: Any = np.frombuffer(view.buffer(1), ARROW_TYPES[kind])[rows]
    elif kind.startswith("+w:"):
        size, child, words_schema = int(kind[3:]), view.child(0), schema.child(0)
        numbers = rows_of_view(child, words_schema)
        parts = [numbers[row * size : (row + 1) * size] for row in rows.tolist()]
        values = [None if None in part else np.array(part) for part in parts]
    else:
        values = [_bytes_of_row(view, kind, row) if is_valid else None for row, is_valid in zip(rows.tolist(), valid)]
    return [value if is_valid else None for value, is_valid in zip(values, valid)]


def is_arrow_view(values: Any) -> bool:
    """Whether it is a single array of string or binary views, which crashes nanoarrow 0.9."""
    return not hasattr(values, "__arrow_c_stream__") and str(getattr(values, "type", "")).endswith("_view")


def arrow_stream(values: Any, name: str) -> Any:
    import nanoarrow

    if is_arrow_view(values):
        raise TypeError(f"{name}: expected 64-bit integers, found an Arrow array of {values.type}")
    return nanoarrow.c_array_stream(values)


def arrow_chunks(values: Any, name: str) -> Iterator[Any]:
    """The chunks of an Arrow array or stream."""
    with arrow_stream(values, name) as stream:
        yield from stream


def empty(count: int) -> Words:
    """No fingerprints, of `count` words."""
    return np.empty(0 if count == 1 else (0, count), np.uint64)


def as_ints(fingerprints: Words) -> list[int]:
    """Fingerprints as int, of all words."""
    if fingerprints.ndim == 1:
        return fingerprints.tolist()  # type: ignore[no-any-return]
    size, joined = 8 * words_of(fingerprints), fingerprints.astype(">u8").tobytes()
    return [int.from_bytes(joined[begin : begin + size], "big") for begin in range(0, len(joined), size)]


def pointer(array: Optional[Words]) -> Any:
    """The library's view of an array, which stays alive as long as this."""
    return ffi.NULL if array is None else ffi.from_buffer("uint64_t[]", array)
