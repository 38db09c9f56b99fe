"""The features of texts, which decide how similar rows are whose MinHashes are near."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from sstore._call import Call, PathLike
from sstore._errors import ArgumentError, NotFoundError
from sstore._native import ffi, lib
from sstore._text import minhash_distance

DEFAULT_DISTANCE = 3
DEFAULT_SIMILARITY = 0.8
_DEFAULT_RECALL = 0.99
SetNumbers = npt.NDArray[np.int64]


def _distance_of(similarity: float, recall: float, bits: int) -> int:
    """The distance that finds this similarity, which a store of MinHashes can have."""
    if not 0 < similarity <= 1:
        raise ArgumentError(f"similarity: expected a number above 0, up to 1, found {similarity!r}")
    found, most = minhash_distance(similarity, bits, recall=recall), lib.SSTORE_MAX_BUILD_DISTANCE * bits // 64
    if found > most:
        raise ArgumentError(
            f"similarity: {similarity} means a distance of {found} bits, and of {bits} bits it can be at most {most}; "
            "of more bits, the distance is a smaller part"
        )
    return found


@dataclass(frozen=True)
class Nearness:
    """How near is near: within a distance, or within that which finds MinHashes of a similarity."""

    distance: Optional[int]
    similarity: Optional[float]
    recall: Optional[float]

    def __post_init__(self) -> None:
        if self.similarity is None and self.recall is not None:
            raise ArgumentError("recall: only with similarity=")
        if self.similarity is not None and self.distance is not None:
            raise ArgumentError("similarity: cannot be combined with distance: both say how near is near")

    def within(self, word_count: int, default: int = DEFAULT_DISTANCE) -> int:
        """The distance, in bits, of fingerprints of so many words."""
        if self.similarity is not None:
            return _distance_of(
                self.similarity, _DEFAULT_RECALL if self.recall is None else self.recall, 64 * word_count
            )
        return default if self.distance is None else self.distance

    def check_recipe(self, what: str, recipe: Optional[str]) -> None:
        """Fail if a recipe says that fingerprints are no MinHashes, and they are to have a similarity."""
        if self.similarity is not None and recipe and " hash=minhash-" not in recipe:
            raise ArgumentError(f"{what}: similarity= needs MinHashes, and the recipe is '{recipe}'")


class FeatureSets:
    """The features of each text, in temporary files.

    The sets are numbered as they are added. A keeper asks for those of its records.
    """

    def __init__(self, similarity: float, tmp_dir: Optional[PathLike]) -> None:
        folder = os.fsdecode(tmp_dir or os.environ.get("TMPDIR") or ".")
        if not os.path.isdir(folder):
            raise NotFoundError(f"{folder}: there is no such folder for tmp_dir")
        self._call = Call()
        self._count = 0
        with tempfile.TemporaryFile(dir=folder) as sets, tempfile.TemporaryFile(dir=folder) as places:
            self._native = self._call.create(
                "sspy_features",
                lib.sspy_features_free,
                lib.sspy_features_create,
                sets.fileno(),
                places.fileno(),
                similarity,
            )

    def options(self) -> dict[str, Any]:
        """Those of a keeper that asks."""
        return {
            "confirm": ffi.addressof(lib, "sspy_features_confirm"),
            "digest": ffi.addressof(lib, "sspy_features_digest"),
            "confirm_context": self._native,
        }

    def add(self, sets: Any) -> None:
        """Add sets that sspy_fingerprint_sets() made."""
        self._call.check(lib.sspy_features_add(self._native, sets, self._call.error))

    def numbers(self, count: int) -> SetNumbers:
        """The numbers of the next `count` sets, which were added."""
        self._count += count
        return np.arange(self._count - count, self._count)

    def assign(self, numbers: SetNumbers) -> None:
        """The keeper's next records have these sets."""
        data = ffi.from_buffer("int64_t[]", np.ascontiguousarray(numbers))
        self._call.check(lib.sspy_features_assign(self._native, data, len(numbers), self._call.error))

    def check(self) -> None:
        """After the keeper has asked: fail if a set could not be read."""
        self._call.check(lib.sspy_features_check(self._native, self._call.error))


def similarities(distances: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """What a keeper's distances mean."""
    made: npt.NDArray[np.float64] = 1 - distances.astype(np.float64) / lib.SSPY_SIMILARITY_PARTS
    return made
