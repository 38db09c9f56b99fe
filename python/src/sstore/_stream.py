"""The paper's batch job: queries in memory, and fingerprints that stream past them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from typing import Any, Optional

from sstore._arrays import ArrayLike, as_ints, pointer, word_count, words_of
from sstore._call import Call, PathLike, Size, encode, size_of
from sstore._columns import STREAM_COLUMNS, Buffers, StreamMatches, wide
from sstore._doubt import SkipBad, bad_rows_of
from sstore._errors import ArgumentError
from sstore._native import lib
from sstore._rows import pieces, words
from sstore._store import Store, build_distance
from sstore._write import build

_SLICE = 1 << 20  # fingerprints that are fed between two checks for signals


class StreamMatcher:
    """Queries that are held in memory, to be matched with fingerprints that need no store.

    A million queries at distance 3 take 33 MB. Threads may use it; their calls wait for each other. Only the process
    that made it can use it.

    Args:
        queries: as build() takes fingerprints, in any order; equal ones are held once.
        distance: in bits, 0 to 16 for each word.
        bits: of a fingerprint; None: as many as the queries have.
        threads: 0: all that the process may use.

    Raises:
        ArgumentError, OutOfMemoryError
    """

    def __init__(self, queries: ArrayLike, distance: int = 3, *, bits: Optional[int] = None, threads: int = 0) -> None:
        array = words(queries, "queries", None if bits is None else word_count(bits))
        self._words = words_of(array)
        self._call = Call()
        options = self._call.options(
            "sstore_stream_options",
            distance=build_distance(distance, self._words),
            threads=threads,
            fingerprint_bits=64 * self._words,
        )
        self._native = self._call.create(
            "sstore_stream_matcher",
            lib.sstore_stream_matcher_free,
            lib.sstore_stream_matcher_create,
            pointer(array),
            len(array),
            options,
        )

    def feed(
        self, fingerprints: ArrayLike, ids: Optional[ArrayLike] = None, *, skip_bad: SkipBad = False
    ) -> StreamMatches:
        """Match fingerprints with all queries. Calls with about a million take the least time for each.

        Args:
            fingerprints, ids, skip_bad: as build() takes them.

        Returns:
            The columns query (uint64, the fingerprint that was looked for), fingerprint, id (if ids are given) and
            distance, in any order.

        Raises:
            ArgumentError, OutOfMemoryError
        """
        columns = Buffers(wide(STREAM_COLUMNS, self._words))
        has_ids, bad = False, bad_rows_of(skip_bad)
        for part, id_part, *_ in pieces(fingerprints, ids, self._words, bad):
            has_ids = id_part is not None
            for begin in range(0, len(part), _SLICE):
                piece = part[begin : begin + _SLICE]
                id_piece = None if id_part is None else id_part[begin : begin + _SLICE]
                with self._call.lock:
                    self._call.check_usable()
                    self._call.check(
                        lib.sspy_stream_feed(
                            self._native,
                            pointer(piece),
                            pointer(id_piece),
                            len(piece),
                            columns.native,
                            self._call.error,
                        )
                    )
        bad.tell()
        return StreamMatches({n: c for n, c in columns.take().items() if has_ids or n != "id"})


def collect(
    matches: Iterable[StreamMatches], *, memory: Optional[Size] = None, tmp_dir: Optional[PathLike] = None
) -> StreamMatches:
    """Sort the matches of several StreamMatchers by query, distance, fingerprint and id, each once.

    Args:
        matches: results of feed(), also from other machines.
        memory: what the call may take beside its result, in bytes or such as "2G"; None: 1 GiB.
        tmp_dir: for matches that do not fit in memory; None: the folder that TMPDIR names, or the working folder.

    Raises:
        ArgumentError: memory is below 1 MiB, or the columns of a table have different lengths.
        NotFoundError: there is no folder at tmp_dir.
        FileError, OutOfMemoryError
    """
    if isinstance(matches, StreamMatches):
        raise TypeError("matches: expected several results, found one: write collect([matches])")
    call = Call()
    options = call.options(
        "sstore_collection_options",
        memory_bytes=size_of(memory, "memory"),
        tmp_dir=None if tmp_dir is None else encode(tmp_dir),
    )

    def create(words_of_each: int) -> Any:
        options.fingerprint_bits = 64 * words_of_each
        return call.create("sstore_collection", lib.sstore_collection_free, lib.sstore_collection_create, options)

    native: Any = create(1)
    count: Optional[int] = None
    has_ids = False
    for part in matches:
        if not isinstance(part, StreamMatches):
            raise TypeError(f"matches: expected results of StreamMatcher.feed(), found {type(part).__name__}")
        fingerprints = words(part.fingerprint, "fingerprint", count)
        if count is None:
            count = words_of(fingerprints)
            native = native if count == 1 else create(count)
        queries = words(part.query, "query", count)
        column: Any = part.columns.get("id")
        ids = None if column is None else words(column, "id")
        if len(fingerprints) != len(queries) or (ids is not None and len(ids) != len(queries)):
            raise ArgumentError("matches: expected columns of equal length")
        has_ids = has_ids or ids is not None
        call.check(
            lib.sspy_collection_add(
                native, pointer(queries), pointer(fingerprints), count, pointer(ids), len(queries), call.error
            )
        )
    columns = Buffers(wide(STREAM_COLUMNS, count or 1))
    call.check(lib.sspy_collection_report(native, columns.native, call.error))
    return StreamMatches({n: c for n, c in columns.take().items() if has_ids or n != "id"})


def find_all(hashes: ArrayLike, blocks: int, distance: int) -> list[tuple[int, int]]:
    """All pairs of different fingerprints within a distance, as the simhash packages of seomoz and Data-Juicer return
    them.

    Args:
        hashes: as build() takes fingerprints; equal ones count once.
        blocks: ignored, except that it must be greater than the distance, as in these packages: the library chooses
            its own bit groups.
        distance: in bits, 0 to 16 for each word.

    Returns:
        Pairs (a, b) with a < b, ascending.

    Raises:
        ArgumentError: blocks is not above distance, or the distance is out of range.
    """
    hashes = words(hashes, "hashes", None)
    distance = build_distance(distance, words_of(hashes))
    if blocks <= distance:
        raise ArgumentError(f"blocks: expected more than distance, found {blocks} and {distance}")
    with tempfile.TemporaryDirectory(prefix="sstore-") as folder:
        path = f"{folder}/store"
        build(
            path,
            hashes,
            bits=64 * words_of(hashes),
            no_ids=True,
            distance=0,
            plan="64:0" if hashes.ndim == 1 else "auto",
        )
        with Store(path, io="memory") as store:
            found = store.pairs(distance)
    return list(zip(as_ints(found.fingerprint), as_ints(found.other_fingerprint)))
