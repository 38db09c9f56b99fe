"""Fingerprints of texts and of features."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Optional, Union, overload

import numpy as np
import numpy.typing as npt

from sstore._arrays import (
    ArrayLike,
    ArrowArray,
    Fingerprint,
    Words,
    indexes_of_view,
    is_arrow,
    nulls_of_view,
    one,
    pointer,
    unwrapped,
    word,
)
from sstore._call import Call, number_of
from sstore._columns import Flags
from sstore._doubt import DoubtWarning, warn
from sstore._errors import ArgumentError, error_of, text
from sstore._lexicon import KINDS, MAX_SHINGLE, SEGMENTATIONS, Features, Lexicon, Segment
from sstore._native import ffi, lib
from sstore._rows import words
from sstore._strings import Strings, batches_of_items, chunks_of, strings_of_chunk

if TYPE_CHECKING:
    from sstore._similar import FeatureSets

Markup = Literal["none", "html"]
Weights = Literal["sublinear", "frequency", "presence"]
Hash = Literal["xxh3", "java128", "minhash"]
SimhashHash = Literal["xxh3", "java128"]
Nulls = Literal["error", "mask"]

_WEIGHTINGS = {
    None: lib.SSTORE_WEIGHTING_AUTO,
    "sublinear": lib.SSTORE_WEIGHTING_SUBLINEAR,
    "frequency": lib.SSTORE_WEIGHTING_FREQUENCY,
    "presence": lib.SSTORE_WEIGHTING_PRESENCE,
}
_MARKUPS = {"none": lib.SSTORE_MARKUP_NONE, "html": lib.SSTORE_MARKUP_HTML}
_HASHES = {
    "xxh3": lib.SSTORE_FEATURE_HASH_XXH3,
    "java128": lib.SSTORE_FEATURE_HASH_JAVA128,
    "minhash": lib.SSTORE_FEATURE_HASH_MINHASH,
}
_DEFAULT_BITS = {"xxh3": 64, "java128": 128, "minhash": 256}
_MAX_BITS = 1024
_PART = 256  # texts that a thread takes at a time


def _width(bits: int, hash: Hash) -> int:
    """The bits of a fingerprint of features."""
    if hash not in _HASHES:
        raise ArgumentError(f"hash: expected one of {', '.join(_HASHES)}, found {hash!r}")
    bits = number_of(bits, "bits", _MAX_BITS)
    if hash == "minhash" and bits % 64 != 0:
        raise ArgumentError(f"bits: of a MinHash, expected a multiple of 64, found {bits}")
    if hash != "minhash" and bits not in (0, 64, 128):
        raise ArgumentError(f"bits: expected 64 or 128, found {bits}")
    if hash == "java128" and bits == 64:
        raise ArgumentError("bits: java128 makes fingerprints of 128 bits, found 64")
    return bits or _DEFAULT_BITS[hash]


def _simhash_width(bits: int, hash: Hash) -> int:
    if hash == "minhash":
        raise ArgumentError("hash: expected xxh3 or java128, found 'minhash': minhash() makes MinHashes")
    return _width(bits, hash)


def text_options(
    features: Features,
    shingle: int,
    weights: Optional[Weights],
    markup: Markup,
    segment: Segment,
    lexicon: Optional[Lexicon],
    bits: int,
    hash: Hash,
) -> Any:
    if lexicon is not None and not isinstance(lexicon, Lexicon):
        raise TypeError(f"lexicon: expected a Lexicon, found {type(lexicon).__name__}")
    shingle = number_of(shingle, "shingle", MAX_SHINGLE)
    return _native_options(features, shingle, weights, markup, segment, lexicon, _width(bits, hash), hash)


@functools.lru_cache(maxsize=16)
def _native_options(
    features: Features,
    shingle: int,
    weights: Optional[Weights],
    markup: Markup,
    segment: Segment,
    lexicon: Optional[Lexicon],
    bits: int,
    hash: Hash,
) -> Any:
    for name, value, choices in (
        ("features", features, KINDS),
        ("weights", weights, _WEIGHTINGS),
        ("markup", markup, _MARKUPS),
        ("segment", segment, SEGMENTATIONS),
    ):
        if value not in choices:
            raise ArgumentError(f"{name}: expected one of {', '.join(map(str, choices))}, found {value!r}")
    if hash == "minhash" and weights == "sublinear":
        raise ArgumentError("weights: of a MinHash, expected presence or frequency, found 'sublinear'")
    return Call().options(
        "sstore_text_options",
        kind=KINDS[features],
        shingle=shingle,
        weighting=_WEIGHTINGS[weights],
        markup=_MARKUPS[markup],
        segmentation=SEGMENTATIONS[segment],
        lexicon=ffi.NULL if lexicon is None else lexicon.native,
        hash=_HASHES[hash],
        fingerprint_bits=bits,
    )


def _room(count: int, options: Any) -> Words:
    """An array for fingerprints: of words, or of rows of words."""
    words_of_each = int(options.fingerprint_bits) // 64
    return np.empty(count if words_of_each == 1 else (count, words_of_each), np.uint64)


class Made(NamedTuple):
    """What was made of n texts.

    Attributes:
        fingerprints: of shape (n,) or (n, words); 0 of a null.
        is_null: which texts are null: bool, shape (n,).
        has_features: which texts have features: bool, shape (n,).
        sets: the numbers of the sets of their features, if they are wanted: int64, shape (n,).
    """

    fingerprints: Words
    is_null: Flags
    has_features: Flags
    sets: Optional[npt.NDArray[np.int64]] = None


def _fingerprint(texts: Strings, options: Any, threads: int, sets: Optional[FeatureSets] = None) -> Made:
    """The fingerprints of texts, of which some may be missing. `sets` gets the features of each."""
    count, is_null = len(texts), texts.is_null
    made, has_features = _room(count, options), np.zeros(count, np.bool_)
    (data, begins, ends), target = texts.pointers(), pointer(made)
    flags = ffi.from_buffer("bool[]", has_features, require_writable=True)

    def run(begin: int) -> Any:
        error, features = ffi.new("sstore_error *"), ffi.new("sspy_bytes *")
        arguments = (data, begins, ends, begin, min(begin + _PART, count), options, target, flags)
        if sets is None:
            status = lib.sspy_fingerprint_texts(*arguments, error)
        else:
            status = lib.sspy_fingerprint_sets(*arguments, features, error)
        owner = ffi.gc(features.data, lib.sspy_free)
        if status != lib.SSTORE_OK:
            raise error_of(error)
        return features, owner

    parts = range(0, count, _PART)
    with ExitStack() as opened:
        run_all: Any = map
        if threads != 1 and len(parts) > 1:
            run_all = opened.enter_context(ThreadPoolExecutor(threads or len(os.sched_getaffinity(0)))).map
        for features, _ in run_all(run, parts):
            if sets is not None:
                sets.add(features)
    made[is_null] = 0
    return Made(made, is_null, has_features & ~is_null, None if sets is None else sets.numbers(count))


_NULL = 'null; nulls="mask" masks it, and build(..., skip_bad=True) leaves it out; or drop nulls'


def _joined(made: Sequence[Made], options: Any) -> Made:
    nothing = np.zeros(0, np.bool_)
    if not made:
        return Made(_room(0, options), nothing, nothing, np.zeros(0, np.int64))
    columns: list[Any] = [None if column[0] is None else np.concatenate(column) for column in zip(*made)]
    return Made(*columns)


def made_of_chunk(chunk: Any, options: Any, threads: int, sets: Optional[FeatureSets] = None) -> Made:
    """The fingerprints of an Arrow array of strings, of any form. `sets` gets the features of each text."""
    if chunk.schema.dictionary is not None:
        values, view = made_of_chunk(chunk.dictionary, options, threads, sets), chunk.view()
        rows = np.where(
            nulls_of_view(view), -1, indexes_of_view(view, chunk.schema.format)
        )  # behind the values there is a null
        arrays = [array for array in values if array is not None]
        padded = [np.concatenate([array, np.zeros_like(array, shape=(1, *array.shape[1:]))]) for array in arrays]
        padded[1][-1] = True
        made: list[Any] = [array[rows] for array in padded]
        return Made(*made)
    return _fingerprint(strings_of_chunk(chunk, "texts"), options, threads, sets)


def made_of_arrow(values: Any, options: Any, threads: int, allows_nulls: bool) -> Made:
    made: list[Made] = []
    first = 0
    for chunk in chunks_of(values, "texts"):
        made.append(made_of_chunk(chunk, options, threads))
        is_null = made[-1].is_null
        if not allows_nulls and is_null.any():
            raise ArgumentError(f"texts: row {first + int(is_null.argmax())}: {_NULL}")
        first += len(is_null)
    return _joined(made, options)


def _warn_of_fingerprints(texts: Strings) -> None:
    """Doubt texts that all are fingerprints of 64 bits."""
    some = [item for item in map(texts.bytes_of, range(min(len(texts), 100))) if item]
    if some and all(re.fullmatch(rb"[0-9A-Fa-f]{16}|-?[0-9]{15,20}", item) for item in some):
        warn(
            "texts: these seem to be fingerprints already, which build() takes: [int(text, 16) for text in texts] reads"
            " hex digits, int(text) decimal ones",
            DoubtWarning,
        )


def made_of_items(
    items: Iterable[Any], options: Any, threads: int, allows_nulls: bool, sets: Optional[FeatureSets] = None
) -> Made:
    """The fingerprints of texts of Python. `sets` gets the features of each."""
    made: list[Made] = []
    for texts in batches_of_items(items, "texts", None if allows_nulls else _NULL, "surrogatepass"):
        if not made:
            _warn_of_fingerprints(texts)
        made.append(_fingerprint(texts, options, threads, sets))
    return _joined(made, options)


def _fingerprints(texts: Any, options: Any, nulls: Nulls, threads: int, name: str) -> Words:
    """What simhash() and minhash() return."""
    if isinstance(texts, (str, bytes)):
        raise TypeError(f"texts: expected several texts, found one: write {name}([text])[0]")
    if isinstance(texts, Mapping) or not (is_arrow(texts) or isinstance(texts, Iterable)):
        raise TypeError(f"texts: expected texts, found {type(texts).__name__}")
    threads = number_of(threads, "threads", (1 << 32) - 1)
    if nulls not in ("error", "mask"):
        raise ArgumentError(f"nulls: expected error or mask, found {nulls!r}")
    take: Callable[..., Made] = made_of_arrow if is_arrow(texts) else made_of_items
    made, is_null, *_ = take(texts, options, threads, nulls == "mask")
    if nulls == "error":
        return made
    masks: Any = np.ma  # not typed in all versions
    mask = is_null if made.ndim == 1 else np.repeat(is_null[:, None], made.shape[1], axis=1)
    masked: Words = masks.masked_array(made, mask=mask)
    return masked


def simhash(
    texts: Union[Iterable[str], Iterable[bytes], ArrowArray],
    features: Features = "words",
    *,
    shingle: int = 0,
    weights: Weights = "sublinear",
    markup: Markup = "none",
    segment: Segment = "pairs",
    lexicon: Optional[Lexicon] = None,
    bits: int = 0,
    hash: SimhashHash = "xxh3",
    nulls: Nulls = "error",
    threads: int = 0,
) -> Words:
    """Make the simhash of each text.

    Args:
        texts: n texts: a sequence or an iterator of str or of bytes in UTF-8, or an Arrow array of strings.
        features: "words": words or shingles of words, or of scripts without spaces pairs of characters; "chars":
            n-grams of characters.
        shingle: words or characters of a feature, 1 to 64; 0: 1 word or 4 characters.
        weights: how much a feature counts that occurs c times in a text: "sublinear": 1 + log2(c); "frequency": c;
            "presence": 1.
        markup: "html": take away tags, comments and scripts, and decode character references; "none": nothing.
        segment: scripts without spaces, if features are words: "pairs": pairs of characters; "icu": words, by ICU.
        lexicon: stop words and weights, made for these features, this shingle and this segmentation.
        bits: of a fingerprint: 64 or 128; 0: 64, or with java128 its 128.
        hash: of features: "xxh3": XXH3 with as many bits; "java128": that of the Java program SimHash that many pages
            on the Web have. With this, bits that are not decided are 1.
        nulls: texts that are None, NaN or null: "error": an ArgumentError that names the row. "mask": the result is a
            numpy.ma.MaskedArray, in which they are masked. build(), add() and others take it with skip_bad.
        threads: 0: all that the process may use.

    Returns:
        uint64, shape (n,); with 128 bits (n, 2), the more significant word first, of which build() is told bits=128. A
        text without features has the
        fingerprint 0 (java128: all bits are 1): "", and with "words" also "!". All such texts are duplicates of each
        other, so leave them out.

    Raises:
        ArgumentError: a value is out of range, a text is null, or the lexicon is of other features.
        TypeError: an item is neither str nor bytes.
        UnsupportedError: the package was built without utf8proc, or without ICU for segment="icu".
    """
    width = _simhash_width(bits, hash)
    options = text_options(features, shingle, weights, markup, segment, lexicon, width, hash)
    return _fingerprints(texts, options, nulls, threads, "simhash")


def minhash(
    texts: Union[Iterable[str], Iterable[bytes], ArrowArray],
    features: Features = "words",
    *,
    shingle: int = 0,
    weights: Literal["presence", "frequency"] = "presence",
    markup: Markup = "none",
    segment: Segment = "pairs",
    lexicon: Optional[Lexicon] = None,
    bits: int = 256,
    nulls: Nulls = "error",
    threads: int = 0,
) -> Words:
    """Make the one-bit MinHash of each text.

    If two texts have the Jaccard similarity J, the features that both have over those that either has, about
    (1 - J) / 2 of the bits differ. minhash_distance() tells the distance for a similarity.

    Args:
        texts, features, markup, segment, nulls, threads: as simhash() takes them.
        shingle: words or characters of a feature, 1 to 64; 0: 2 words or 4 characters.
        weights: "presence": a text is the set of its features. "frequency": it is a multiset, so that similar texts
            also have them similarly often.
        lexicon: stop words, made for these features, this shingle and this segmentation; it has no weights.
        bits: of a fingerprint: a multiple of 64, up to 1,024.

    Returns:
        uint64, shape (n, bits // 64), with 64 bits (n,); the most significant word first. build() is told the bits. A
        text without features has the fingerprint 0. All such texts are duplicates of each other, so leave them out.

    Raises:
        ArgumentError, TypeError, UnsupportedError: as simhash().
    """
    options = text_options(features, shingle, weights, markup, segment, lexicon, _minhash_bits(bits), "minhash")
    return _fingerprints(texts, options, nulls, threads, "minhash")


def _minhash_bits(bits: int) -> int:
    bits = number_of(bits, "bits", _MAX_BITS)
    if bits == 0 or bits % 64 != 0:
        raise ArgumentError(f"bits: of a MinHash, expected a multiple of 64, found {bits}")
    return bits


def minhash_distance(similarity: float, bits: int = 256, *, recall: float = 0.99) -> int:
    """The distance within which two MinHashes are found whose texts have at least this similarity.

    Args:
        similarity: the Jaccard similarity, 0 to 1.
        bits: of a fingerprint, as minhash() takes them.
        recall: the wished probability, above 0 and below 1, with which a pair of just this similarity is found.

    Returns:
        For the `distance` of build(), Store.pairs() and others.

    Raises:
        ArgumentError: a value is out of range.
    """
    found = int(lib.sstore_minhash_distance(_minhash_bits(bits), similarity, recall))
    if found == (1 << 32) - 1:
        raise ArgumentError(
            f"expected a similarity from 0 to 1, and a recall between 0 and 1, found {similarity}, {recall}"
        )
    return found


def minhash_similarity(distance: npt.ArrayLike, bits: int = 256) -> npt.NDArray[np.float64]:
    """The Jaccard similarity that distances between MinHashes tell: 1 - 2 * distance / bits, but at least 0.

    Its standard error is sqrt((1 - J * J) / bits) for the similarity J.

    Args:
        distance: a number, or an array of any shape.
        bits: of a fingerprint, as minhash() takes them.

    Returns:
        float64, of the shape of `distance`.

    Raises:
        ArgumentError: no MinHash has so many bits.
    """
    return np.maximum(0.0, 1.0 - 2.0 * np.asarray(distance, np.float64) / _minhash_bits(bits))


def text_recipe(
    features: Features = "words",
    *,
    shingle: int = 0,
    weights: Optional[Weights] = None,
    markup: Markup = "none",
    segment: Segment = "pairs",
    lexicon: Optional[Lexicon] = None,
    bits: int = 0,
    hash: Hash = "xxh3",
) -> str:
    """The recipe of simhash() with these options, or with hash="minhash" of minhash(), for build() and open().

    Fingerprints of two texts may be compared only if their recipes are equal.

    Raises:
        ArgumentError: a value is out of range.
        UnsupportedError: the package was built without utf8proc, or without ICU for segment="icu".
    """
    return recipe_of(text_options(features, shingle, weights, markup, segment, lexicon, bits, hash))


def recipe_of(options: Any) -> str:
    """The recipe of these options."""
    buffer = ffi.new("char[]", 512)
    if lib.sstore_text_recipe(options, buffer, 512) == 0:
        call = Call()
        call.check(lib.sstore_fingerprint_text(b"", 0, options, ffi.new("uint64_t[]", 16), call.error))
    return text(buffer)


_WeightedFeatures = Union[
    Mapping[str, float], Mapping[bytes, float], Mapping[Union[str, bytes], float], Iterable[Union[str, bytes]]
]


def _native_features(features: _WeightedFeatures) -> tuple[Any, list[Any]]:
    """The features, each with its weight, or the number of its occurrences; and what must stay."""
    if isinstance(features, (str, bytes)):
        raise TypeError("features: expected several features, found one text")
    weights: dict[Any, float] = dict(features) if isinstance(features, Mapping) else {}
    if not isinstance(features, Mapping):
        for item in features:
            weights[item] = weights.get(item, 0.0) + 1.0
    for item in weights:
        if not isinstance(item, (str, bytes)):
            raise TypeError(f"features: expected str or bytes, found {type(item).__name__}")
    keep = [item.encode("utf-8", "surrogatepass") if isinstance(item, str) else item for item in weights]
    native = ffi.new("sstore_feature[]", len(keep))
    for at, item, weight in zip(native, keep, weights.values()):
        at.data, at.size, at.weight = ffi.from_buffer(item), len(item), weight
    return native, keep


@overload
def simhash_features(
    features: _WeightedFeatures, *, bits: Literal[0, 64] = 0, hash: Literal["xxh3"] = "xxh3"
) -> int: ...


@overload
def simhash_features(features: _WeightedFeatures, *, bits: Literal[0, 128] = 0, hash: Literal["java128"]) -> Words: ...


@overload
def simhash_features(features: _WeightedFeatures, *, bits: Literal[128], hash: SimhashHash = "xxh3") -> Words: ...


def simhash_features(features: _WeightedFeatures, *, bits: int = 0, hash: SimhashHash = "xxh3") -> Union[int, Words]:
    """The simhash of the features of one document.

    Args:
        features: weights by feature: finite numbers from -2**31 to 2**31. Or features, each weighted by how often it
            occurs. A feature is bytes, or a str, which is taken as UTF-8.
        bits, hash: as in simhash(). With java128, and the tokens of the Java program as features, it gives what that
            program gives.

    Returns:
        An int; with 128 bits, uint64 of shape (2,), the more significant word first.

    Raises:
        ArgumentError: a weight is out of range, or there is no such hash.
    """
    bits = _simhash_width(bits, hash)
    native, keep = _native_features(features)
    call = Call()
    made = np.empty(bits // 64, np.uint64)
    call.check(lib.sstore_simhash(native, len(keep), _HASHES[hash], bits, pointer(made), call.error))
    return int(made[0]) if bits == 64 else made


def minhash_features(features: _WeightedFeatures, *, bits: int = 256) -> Words:
    """The one-bit MinHash of the features of one document.

    Args:
        features: how often each occurs in a multiset: whole numbers up to 2**24, by feature. Or features, each as often
            as it occurs; a set() of them counts each once. A feature is bytes, or a str, which is taken as UTF-8.
        bits: as minhash() takes them.

    Returns:
        uint64, shape (bits // 64,), the most significant word first.

    Raises:
        ArgumentError: a number is out of range.
        TypeError: a feature is neither str nor bytes.
    """
    bits = _minhash_bits(bits)
    native, keep = _native_features(features)
    call = Call()
    made = np.empty(bits // 64, np.uint64)
    call.check(lib.sstore_minhash(native, len(keep), bits, pointer(made), call.error))
    return made


@overload
def simhash_hashes(hashes: ArrayLike, weights: Optional[Sequence[float]] = None, *, bits: Literal[64] = 64) -> int: ...


@overload
def simhash_hashes(
    hashes: npt.NDArray[Any], weights: Optional[Sequence[float]] = None, *, bits: int
) -> Union[int, Words]: ...


def simhash_hashes(
    hashes: ArrayLike, weights: Optional[Sequence[float]] = None, *, bits: int = 64
) -> Union[int, Words]:
    """The simhash of features that were hashed, by any hash.

    Args:
        hashes: n hashes of 64 bits, as build() takes fingerprints; with more bits an array of integers of shape
            (n, bits // 64), the most significant word first.
        weights: n finite numbers from -2**31 to 2**31; None: all 1.
        bits: of a hash, and of the fingerprint: a multiple of 64, up to 1,024.

    Returns:
        An int; with more bits, uint64 of shape (bits // 64,).

    Raises:
        ArgumentError: a weight is out of range, there are not as many weights as hashes, or they have other bits.
    """
    bits = number_of(bits, "bits", _MAX_BITS)
    if bits == 0 or bits % 64 != 0:
        raise ArgumentError(f"bits: expected a multiple of 64, found {bits}")
    of_each = bits // 64
    if of_each > 1:
        table: npt.NDArray[Any] = np.asarray(hashes)
        if table.ndim != 2 or table.shape[1] != of_each:
            raise ArgumentError(f"hashes: expected an array of shape (n, {of_each}), found {table.shape}")
        hashes = table.reshape(-1)
    array = words(hashes, "hashes")
    count = len(array) // of_each
    call = Call()
    made = np.empty(of_each, np.uint64)
    given: Any = ffi.NULL
    if weights is not None:
        column = np.ascontiguousarray(weights, np.float64)
        if column.shape != (count,):
            raise ArgumentError(f"weights: expected as many as hashes, found {column.size} and {count}")
        given = ffi.from_buffer("double[]", column)
    call.check(lib.sstore_simhash_hashes(pointer(array), given, count, bits, pointer(made), call.error))
    return int(made[0]) if of_each == 1 else made


def hamming_distance(a: Fingerprint, b: Fingerprint) -> int:
    """The number of bits in which two fingerprints differ.

    Args:
        a, b: as Store.query() takes them. Two ints have 64 bits.

    Raises:
        ArgumentError: a or b is not a number of 64 bits, or they have different widths.
    """
    a, b = unwrapped(a), unwrapped(b)
    if not isinstance(a, (bytes, np.ndarray)) and not isinstance(b, (bytes, np.ndarray)):
        return bin(word(a, "a") ^ word(b, "b")).count("1")
    if not isinstance(a, (bytes, np.ndarray)):
        a, b = b, a
    left = one(a, "a", None)
    differing = left ^ one(b, "b", len(left))
    return int(np.unpackbits(differing.view(np.uint8)).sum())
