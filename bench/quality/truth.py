"""How similar documents truly are: the Jaccard index of their sets of shingles.

A shingle is three successive words, or three Chinese characters.
"""

import re
from collections.abc import Iterator

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


def similarity_rows(texts: list[str]) -> Iterator[tuple[int, numpy.ndarray]]:
    """The first row and a block of rows of the matrix of all similarities."""
    numbers: dict[tuple[str, ...], int] = {}
    columns, ends = [], [0]
    for text in texts:
        columns += [numbers.setdefault(shingle, len(numbers)) for shingle in shingles(text)]
        ends.append(len(columns))
    ones = numpy.ones(len(columns), dtype=numpy.int32)
    sets = scipy.sparse.csr_matrix((ones, columns, ends), shape=(len(texts), max(1, len(numbers))))
    transposed, sizes = sets.T.tocsr(), numpy.diff(ends)
    for first in range(0, len(texts), ROWS):
        shared = (sets[first : first + ROWS] @ transposed).toarray()
        union = sizes[first : first + ROWS, None] + sizes[None, :] - shared
        yield first, shared / numpy.maximum(union, 1)


def similarities(texts: list[str]) -> numpy.ndarray:
    """All of them, as 32-bit numbers."""
    whole = numpy.empty((len(texts), len(texts)), dtype=numpy.float32)
    for first, rows in similarity_rows(texts):
        whole[first : first + len(rows)] = rows
    return whole
