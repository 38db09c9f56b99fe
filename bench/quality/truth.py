"""How similar documents truly are: the Jaccard index of their sets of shingles.

A shingle is three successive words, or three Chinese characters.
"""

import re
from collections.abc import Hashable, Sequence, Set

import numpy
import scipy.sparse

from texts import HAN

SHINGLE = 3
NEAR = 0.5
UNRELATED = 0.3  # below
TOKEN = re.compile(rf"[{HAN}]|[^\W{HAN}]+")
ROWS = 512


def shingles(text: str) -> set[tuple[str, ...]]:
    tokens = TOKEN.findall(text.casefold())
    count = max(1, len(tokens) - SHINGLE + 1)
    return {tuple(tokens[place : place + SHINGLE]) for place in range(count)} if tokens else set()


def similarities(texts: list[str]) -> numpy.ndarray:
    """Of all pairs of texts, as 32-bit numbers."""
    return similarities_of([shingles(text) for text in texts])


def similarities_of(sets: Sequence[Set[Hashable]]) -> numpy.ndarray:
    """The Jaccard index of all pairs of sets, as 32-bit numbers."""
    numbers: dict[Hashable, int] = {}
    columns, ends = [], [0]
    for one in sets:
        columns += [numbers.setdefault(element, len(numbers)) for element in one]
        ends.append(len(columns))
    ones = numpy.ones(len(columns), dtype=numpy.int32)
    matrix = scipy.sparse.csr_matrix((ones, columns, ends), shape=(len(sets), max(1, len(numbers))))
    transposed, sizes = matrix.T.tocsr(), numpy.diff(ends)
    whole = numpy.empty((len(sets), len(sets)), dtype=numpy.float32)
    for first in range(0, len(sets), ROWS):
        shared = (matrix[first : first + ROWS] @ transposed).toarray()
        union = sizes[first : first + ROWS, None] + sizes[None, :] - shared
        whole[first : first + ROWS] = shared / numpy.maximum(union, 1)
    return whole
