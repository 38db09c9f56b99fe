"""Answers queries (sstore-format.md, sections 10 and 16.3), from tables that are in memory as a whole.

It makes no use of blocks, so codec 8 is not here: a table is a sorted list, and a probe a bisection of it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, groupby
from math import comb

from bits import FINGERPRINT_BITS, FINGERPRINT_MAX, words_of
from faults import Damaged
from folder import Folder
from manifest import KIND_ADDS, Segment
from plan import Permutation
from segment import Record, read_table, records_of
from store import with_manifest

Match = tuple[int, int, int | None]  # distance, fingerprint, id


@dataclass
class _Table:
    key_mask: int
    prefix_bits: int
    radius: int
    permuted: list[int]

    def covers(self, pattern: int, radius: int) -> bool:
        return (pattern & self.key_mask).bit_count() <= radius

    def probe(self, query: int, radius: int) -> Iterator[int]:
        """Fingerprints, each once: those whose prefix differs from the query's in at most `radius` bits."""
        if radius < 0:
            return
        permutation = Permutation(self.key_mask)
        radius = min(radius, self.prefix_bits)
        if sum(comb(self.prefix_bits, flips) for flips in range(radius + 1)) > len(self.permuted):
            for fingerprint in map(permutation.undo, self.permuted):
                if self.covers(fingerprint ^ query, radius):
                    yield fingerprint
            return
        below = FINGERPRINT_BITS - self.prefix_bits
        prefix = permutation.apply(query) >> below << below
        for flips in range(radius + 1):
            for bits in combinations(range(below, FINGERPRINT_BITS), flips):
                low = prefix ^ sum(1 << bit for bit in bits)
                high = low | (1 << below) - 1
                found = self.permuted[bisect_left(self.permuted, low) : bisect_right(self.permuted, high)]
                yield from map(permutation.undo, found)


class _Index:
    """A segment of 64-bit fingerprints, or a word index."""

    def __init__(self, folder: Folder, segment: Segment):
        self.k = segment.k
        self.tables = [
            _Table(table.key_mask, table.prefix_bits, table.radius, read_table(folder, segment, number)[1])
            for number, table in enumerate(segment.tables)
        ]
        self.ids = _ids_of(records_of(folder, segment, self.tables[0].permuted))

    def find(self, query: int, distance: int) -> Iterator[int]:
        """The fingerprints within `distance`, each once: by first cover."""
        # A pattern of `more` bits more than k has a part of k bits that a table covers; the others add at most `more` to it.
        more = max(0, distance - self.k)
        radii = [table.radius + more for table in self.tables]
        for number, table in enumerate(self.tables):
            for fingerprint in table.probe(query, radii[number]):
                pattern = fingerprint ^ query
                if pattern.bit_count() > distance:
                    continue
                if not any(before.covers(pattern, radius) for before, radius in zip(self.tables[:number], radii)):
                    yield fingerprint


class _WideIndex:
    """A segment of wider fingerprints, with its word indexes."""

    def __init__(self, folder: Folder, segment: Segment):
        self.segment = segment
        self.path = folder.path
        _, self.fingerprints = read_table(folder, segment, 0)
        self.ids = _ids_of(records_of(folder, segment, self.fingerprints))
        self.words: list[_Index] = []
        for index in segment.word_indexes:
            with folder.open_folder(index.folder_name) as index_folder:
                self.words.append(_Index(index_folder, index))

    def radii(self, distance: int) -> list[int]:
        """The segment's own radii, made larger in turn until they suffice."""
        radii = [index.radius for index in self.segment.word_indexes]
        missing = distance + 1 - sum(radius + 1 for radius in radii)
        word = 0
        while missing > 0:
            if radii[word] < FINGERPRINT_BITS:
                radii[word] += 1
                missing -= 1
            word = (word + 1) % len(radii)
        return radii

    def find(self, query: int, distance: int, radii: list[int] | None = None) -> Iterator[int]:
        """The fingerprints within `distance`, each once: by first cover of words."""
        radii = radii or self.radii(distance)
        bits = self.segment.fingerprint_bits
        if sum(radius + 1 for radius in radii) < distance + 1 or max(radii) > FINGERPRINT_BITS or min(radii) < -1:
            raise ValueError(f"radii {radii} for distance {distance}")
        for number, word in enumerate(words_of(query, bits)):
            if radii[number] < 0:
                continue
            index = self.words[number]
            for found in index.find(word, radii[number]):
                for rank in index.ids[found]:
                    fingerprint = self._candidate(number, found, rank)
                    pattern = fingerprint ^ query
                    covered = [part.bit_count() <= radius for part, radius in zip(words_of(pattern, bits), radii)]
                    if not any(covered[:number]) and pattern.bit_count() <= distance:
                        yield fingerprint

    def _candidate(self, number: int, word: int, rank: int) -> int:
        if rank >= len(self.fingerprints) or words_of(self.fingerprints[rank], self.segment.fingerprint_bits)[number] != word:
            path = f"{self.path}/{self.segment.word_indexes[number].folder_name}"
            raise Damaged(f"word {word:016x} of rank {rank} is not in table 0", path)
        return self.fingerprints[rank]


def _ids_of(records: Iterator[Record]) -> dict[int, list[int | None]]:
    grouped = groupby(records, key=lambda record: record[0])
    return {fingerprint: [record_id for _, record_id in part] for fingerprint, part in grouped}


class Searcher:
    """An open store."""

    def __init__(self, path: str):
        with Folder.open_store(path) as store:
            self.fingerprint_bits, self.segments = with_manifest(
                store, lambda manifest: (manifest.fingerprint_bits, [_open(store, segment) for segment in manifest.segments])
            )

    def query(self, fingerprint: int, distance: int, radii: list[int] | None = None) -> list[Match]:
        """All matches, ascending. Every match is found once. `radii` are those of words; without them they are chosen."""
        if not 0 <= fingerprint < 1 << self.fingerprint_bits:
            raise ValueError(f"a fingerprint of more than {self.fingerprint_bits} bits")
        matches: list[Match] = []
        for number, (kind, index) in enumerate(self.segments):
            if kind != KIND_ADDS:
                continue
            found = index.find(fingerprint, distance, radii) if isinstance(index, _WideIndex) else index.find(fingerprint, distance)
            for match in found:
                for record_id in index.ids[match]:
                    if not self._is_removed_later(number, match, record_id):
                        matches.append(((match ^ fingerprint).bit_count(), match, record_id))
        return sorted(matches)

    def _is_removed_later(self, number: int, fingerprint: int, record_id: int | None) -> bool:
        """Section 3.3."""
        newer = [index for kind, index in self.segments[number + 1 :] if kind != KIND_ADDS]
        return any(record_id in index.ids.get(fingerprint, []) for index in newer)


def _open(store: Folder, segment: Segment) -> tuple[int, _Index | _WideIndex]:
    with store.open_folder(segment.folder_name) as folder:
        return segment.kind, (_WideIndex if segment.is_wide else _Index)(folder, segment)
