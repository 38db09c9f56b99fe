"""Stop words, and weights of features."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterable, Mapping
from typing import Any, Literal, Optional, Union

from sstore._call import Call, PathLike, number_of
from sstore._errors import ArgumentError
from sstore._native import ffi, lib

Features = Literal["words", "chars"]
Segment = Literal["pairs", "icu"]
KINDS = {"words": lib.SSTORE_FEATURE_KIND_WORDS, "chars": lib.SSTORE_FEATURE_KIND_CHARS}
SEGMENTATIONS = {"pairs": lib.SSTORE_SEGMENTATION_PAIRS, "icu": lib.SSTORE_SEGMENTATION_ICU}
MAX_SHINGLE = 64
_MAX_LEVELS = 255


class Lexicon:
    """Which words are left out of texts, and by what the weights of features are multiplied.

    It never changes, and several threads may use it. Recipes name its contents.

    Attributes:
        has_weights: whether it multiplies weights, so that it is of simhashes.
    """

    def __init__(
        self,
        features: Features = "words",
        *,
        shingle: int = 0,
        segment: Segment = "pairs",
        stop_words: Iterable[str] = (),
        feature_weights: Optional[Mapping[str, float]] = None,
        idf: Optional[Union[PathLike, memoryview]] = None,
        levels: int = 0,
    ) -> None:
        """Make a lexicon for features of this kind and length, and of this segmentation.

        Args:
            features, shingle, segment: as in simhash(), which must get the same.
            stop_words: words, or characters of scripts without spaces, that are left out before features are made. Case
                does not matter.
            feature_weights: factors by feature, -2**31 to 2**31; 0 leaves a feature out. A feature is written as a text
                that has this feature alone.
            idf: the path of a table that `sstore idf` made, or a memoryview of its bytes: rare features weigh
                more, unless they have a weight of their own.
            levels: 2 to 255: the factors by idf are whole numbers from 1 to this; 0: any numbers.

        Raises:
            ArgumentError: a value is out of range, a stop word is not one word, or a text not exactly one feature; the
                table is of other features.
            DamagedError: the table is damaged.
            OSError: the table cannot be read.
            UnsupportedError: the package was built without utf8proc, or without ICU for segment="icu".
        """
        call = Call()
        self.has_weights = bool(feature_weights) or idf is not None
        for name, value, choices in (("features", features, KINDS), ("segment", segment, SEGMENTATIONS)):
            if value not in choices:
                raise ArgumentError(f"{name}: expected one of {', '.join(choices)}, found {value!r}")
        if isinstance(stop_words, str):
            raise TypeError("stop_words: expected several words, found one text")
        shingle = number_of(shingle, "shingle", MAX_SHINGLE)
        options = call.options(
            "sstore_text_options", kind=KINDS[features], shingle=shingle, segmentation=SEGMENTATIONS[segment]
        )
        made = ffi.new("sstore_lexicon **")
        call.check(lib.sstore_lexicon_create(options, made, call.error))
        self.native: Any = ffi.gc(made[0], lib.sstore_lexicon_free)
        for word in stop_words:
            encoded = _encoded(word, "stop_words")
            call.check(lib.sstore_lexicon_add_stop_word(self.native, encoded, len(encoded), call.error))
        for feature, weight in (feature_weights or {}).items():
            encoded = _encoded(feature, "feature_weights")
            call.check(lib.sstore_lexicon_set_weight(self.native, encoded, len(encoded), weight, call.error))
        levels = number_of(levels, "levels", _MAX_LEVELS)
        if idf is None:
            if levels > 0:
                raise ArgumentError("levels: needs idf")
            return
        if isinstance(idf, memoryview):
            table = bytes(idf)
        else:
            table = pathlib.Path(os.fsdecode(idf)).read_bytes()
        self._table = ffi.from_buffer(table)  # the library uses it in place
        call.check(lib.sstore_lexicon_use_frequencies(self.native, self._table, len(table), levels, call.error))


def _encoded(text: Any, what: str) -> bytes:
    if not isinstance(text, str):
        raise TypeError(f"{what}: expected str, found {type(text).__name__}")
    return text.encode("utf-8", "surrogatepass")
