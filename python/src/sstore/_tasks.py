"""What the tasks of a cluster compute, on arrays: for sstore.spark and sstore.ray, which move the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn, Optional

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sstore._arrays import MAX_WORDS, Words, pointer, words_of
from sstore._call import Call, count_of
from sstore._columns import Pairs
from sstore._doubt import BadRows
from sstore._errors import ArgumentError
from sstore._join import join_keys, join_records, lower_first
from sstore._keep import Keeper
from sstore._lexicon import Features, Segment
from sstore._native import lib
from sstore._similar import Nearness
from sstore._stream import StreamMatcher
from sstore._strings import strings_of
from sstore._text import Hash, Markup, Weights, made_of_arrow, text_options

ROWS = 1 << 20  # that a call of the library gets at once
MAX_BROADCAST = 4_000_000
_KEY_RECORDS = 1_000_000
_KEY_WORDS = 8_000_000  # of fingerprints of more than 64 bits: the more, the fewer rows
MAX_LOCAL_EDGES = 50_000_000
_ODD = np.uint64(0x9E3779B97F4A7C15)


def mixed(values: Words) -> Words:
    """The finalizer of SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def distinct(fingerprints: Words) -> Words:
    """Each fingerprint once, ascending."""
    made: Words = np.unique(fingerprints, axis=0 if fingerprints.ndim > 1 else None)
    return made


def hashed(fingerprints: Words) -> Words:
    """A number of 64 bits for each fingerprint."""
    if fingerprints.ndim == 1:
        return mixed(fingerprints)
    made = np.zeros(len(fingerprints), np.uint64)
    for column in fingerprints.T:
        made = mixed(made * _ODD + column)
    return made


def common_words(what: str, lengths: Iterable[Optional[int]]) -> Optional[int]:
    """The words of fingerprints that are bytes of these lengths; None if there are no lengths."""
    found = sorted({length for length in lengths if length is not None})
    if not found:
        return None
    if len(found) > 1:
        raise ArgumentError(f"{what}: expected fingerprints of one length, found {found[0]} to {found[-1]} bytes")
    if found[0] % 8 != 0 or not 1 < found[0] // 8 <= MAX_WORDS:
        raise ArgumentError(
            f"{what}: expected fingerprints of 16 to {8 * MAX_WORDS} bytes in steps of 8, found {found[0]}; 64 bits "
            "are numbers, not bytes"
        )
    return found[0] // 8


class Lengths:
    """How many rows have fingerprints of a length, and ids that are null."""

    def __init__(self, counts: Iterable[tuple[int, bool, int]]) -> None:
        """Takes the bytes of a fingerprint, whether ids are null, and the number of such rows."""
        self._counts: Counter[tuple[int, bool]] = Counter()
        for size, is_null, count in counts:
            self._counts[size, is_null] += count

    def common(self) -> Optional[int]:
        """The length that most rows with an id have, of those that fingerprints can have; None: there are no rows."""
        found: Counter[int] = Counter()
        for (size, is_null), count in self._counts.items():
            found[size] += 0 if is_null else count
        fitting = {size: count for size, count in found.items() if size % 8 == 0 and 1 < size // 8 <= MAX_WORDS}
        chosen = fitting or found
        return max(chosen, key=lambda size: (chosen[size], size)) if chosen else None

    def bad_count(self, common: Optional[int]) -> int:
        """The rows without an id, or of another length."""
        return sum(count for (size, is_null), count in self._counts.items() if is_null or size != common)


def report_bad(
    what: str,
    examples: Iterable[tuple[Any, Any]],
    common: Optional[int],
    count: int,
    has_ids: bool,
    bad: BadRows,
) -> None:
    """Report rows that cannot be read, of which some are given: fingerprint and id."""
    left = count
    for fingerprint, number in examples:
        shown = f"0x{fingerprint.hex()}" if isinstance(fingerprint, (bytes, bytearray)) else str(fingerprint)
        if has_ids and number is None:
            reason = f"the id of the fingerprint {shown} is null"
        else:
            row = f"id {number!r}: " if has_ids else ""
            reason = f"{row}expected fingerprints of one length, {common} bytes like most, found {len(fingerprint)}"
        if not bad.has_room(count):
            raise ArgumentError(f"{what}: {reason}; bad rows: {count}{bad.hint()}")
        if left > 0 and len(bad.rows) < bad.keep:
            bad.add(None, reason)
            left -= 1
    bad.count += left


class TextArguments(NamedTuple):
    """The arguments of text_options(), for tasks: the options themselves stay in their process."""

    features: Features
    shingle: int
    weights: Optional[Weights]
    markup: Markup
    segment: Segment
    lexicon: None
    bits: int
    hash: Hash

    def word_count(self) -> int:
        """Of a fingerprint."""
        return int(text_options(*self).fingerprint_bits) // 64


def fingerprints_of(texts: Any, how: TextArguments) -> pa.Array:
    """The fingerprints of texts of Arrow, as uint64 or binary; null of those without features."""
    made = made_of_arrow(texts, text_options(*how), 1, True)
    values = pa.array(made.fingerprints) if made.fingerprints.ndim == 1 else arrow_bytes(made.fingerprints)
    return pc.call_function("if_else", [pa.array(made.has_features), values, pa.scalar(None, values.type)])


def strict_drops(parts: Iterable[tuple[Words, Words]], nearness: Nearness) -> Iterator[Words]:
    """Of records in the order in which they precede, fingerprints and ids, the ids of those near one that precedes and
    is kept."""
    keeper: Optional[Keeper] = None
    numbers: list[Words] = []
    for fingerprints, ids in parts:
        if len(ids) > 0:
            count = words_of(fingerprints)
            keeper = keeper or Keeper(False, nearness.within(count), None, None, None, threads=1, strict=True)
            keeper.begin(count)
            keeper.add(fingerprints, None)
            numbers.append(ids)
    if keeper is not None:
        all_ids = np.concatenate(numbers)
        for batch in keeper.finish():
            yield all_ids[batch["id"]]


def hashed_texts(texts: Any) -> Words:
    """A number of 64 bits for each text of an Arrow array; any number for a null."""
    strings, call = strings_of(texts, "id"), Call()
    made = np.zeros(len(strings), np.uint64)
    call.check(lib.sspy_hash_texts(*strings.pointers(), len(strings), pointer(made), call.error))
    return made


def arrow_texts(texts: Any, kind: Any) -> pa.Array:
    """Texts as Arrow's strings or binary, with offsets of 32 bits."""
    return pa.array(texts).cast(pa.large_binary()).cast(pa.binary()).view(kind)


def fail_repeated(what: str, low: Any, high: Any, count: object) -> NoReturn:
    """Fail because the ids of two rows are equal, or their hashes are: the smallest one and the largest one."""
    if low == high:
        raise ArgumentError(f"{what}: expected different ids, found the id {low} {count} times")
    raise ArgumentError(f"{what}: the ids {low!r} and {high!r} have the same hash; give numbers as ids")


def is_text_type(kind: Any) -> bool:
    """Whether a type of Arrow is one of texts."""
    return str(kind) in ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")


def check_words(what: str, words: Optional[int], expected: int) -> None:
    """Fail if fingerprints have another width than those that they are compared with."""
    if words is not None and words != expected:
        raise ArgumentError(f"{what}: expected fingerprints of {64 * expected} bits, found {64 * words} bits")


def arrow_bytes(fingerprints: Words) -> pa.Array:
    """Fingerprints of several words as Arrow's binary, the most significant byte first."""
    size = 8 * fingerprints.shape[1]
    offsets = np.arange(len(fingerprints) + 1, dtype=np.int64) * size
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(fingerprints.astype(">u8"))]
    return pa.Array.from_buffers(pa.large_binary(), len(fingerprints), buffers).cast(pa.binary())


@dataclass(frozen=True)
class Cells:
    """Rows of a shuffle: records, each once for every cell that it is in.

    A task joins whole cells. Usually a cell is a key of a table. The records of a crowded key are divided into n parts,
    by a hash of the record, and the key into n * (n + 1) / 2 cells, one for each pair of parts. Without tables, all
    records have one key.

    Attributes:
        cell: rows of a cell have the same value, and come to one task: uint64, shape (n,).
        table: of the key, or NO_TABLE: uint8.
        side: 0 if the key is not divided; otherwise 1 or 2 in a cell of two parts, 3 in a cell of one part: uint8.
        fingerprint: uint64, shape (n,) or (n, words).
        id: uint64.
    """

    cell: Words
    table: npt.NDArray[np.uint8]
    side: npt.NDArray[np.uint8]
    fingerprint: Words
    id: Words

    @staticmethod
    def names() -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(Cells.__dataclass_fields__)

    def columns(self) -> dict[str, npt.NDArray[np.generic]]:
        """The columns by name."""
        return {name: getattr(self, name) for name in self.names()}


def cell_row(word_count: int) -> np.dtype[Any]:
    """A row of Cells: 18 bytes, and those of the fingerprint."""
    kinds: dict[str, Any] = {"table": np.uint8, "side": np.uint8}
    if word_count > 1:
        kinds["fingerprint"] = (np.uint64, (word_count,))
    return np.dtype([(name, kinds.get(name, np.uint64)) for name in Cells.names()])


NO_TABLE = 255  # of records that are divided without keys; tables are 0 to 254, as uint8
Counts = npt.NDArray[np.int64]  # of records, shape (distance + 1, buckets)
Parts = dict[int, npt.NDArray[np.int64]]  # by table: into how many parts each bucket is divided


def key_limit(max_key_records: Optional[int], word_count: int) -> int:
    """How many records of a key, or of two of its parts, a task joins; None: as many as take little memory."""
    if max_key_records is not None:
        return count_of(max_key_records, "max_key_records")
    return _KEY_RECORDS if word_count == 1 else _KEY_WORDS // word_count


def _keys(fingerprints: Words, table: int, distance: int) -> Words:
    return join_keys(fingerprints, table, distance) if table != NO_TABLE else np.zeros(len(fingerprints), np.uint64)


def _bucket_bits(key_bits: int, distance: int) -> int:
    """The bits of a bucket's number: those of a key, but so few that all tables have at most 262,144 buckets."""
    return min(key_bits, 16, 18 - distance.bit_length())


def zero_counts(word_count: int, distance: int) -> Counts:
    """The counts of no records."""
    return np.zeros((distance + 1, 1 << _bucket_bits(_key_bits(word_count, distance), distance)), np.int64)


def _key_bits(word_count: int, distance: int) -> int:
    return -(-64 * word_count // (distance + 1))


def _buckets(keys: Words, word_count: int, distance: int) -> npt.NDArray[np.int64]:
    """Short keys themselves, and longer ones hashed."""
    key_bits = _key_bits(word_count, distance)
    bits = _bucket_bits(key_bits, distance)
    return (keys if bits == key_bits else mixed(keys) >> np.uint64(64 - bits)).astype(np.int64)


def count_keys(fingerprints: Words, distance: int) -> Counts:
    """How many records have a key in each bucket of each table."""
    counts = zero_counts(words_of(fingerprints), distance)
    for table, row in enumerate(counts):
        buckets = _buckets(join_keys(fingerprints, table, distance), words_of(fingerprints), distance)
        row += np.bincount(buckets, minlength=len(row))
    return counts


def divide(counts: Counts, limit: int, word_count: int, least: int = 1) -> tuple[Parts, int]:
    """Into how many parts the records of each bucket's keys are divided, and into how many tasks the rows of all cells.

    A cell, which one task joins, has at most about `limit` records; a task has about two million words, and there are
    at least `least` tasks, but not many more than cells. Records of more than 64 bits are divided without tables if
    this makes fewer rows. Those of 64 bits never are: a row without a table takes much longer to join.
    """

    def parts_of(records: Counts) -> npt.NDArray[np.int64]:
        return np.where(records > limit, -(-2 * records // limit), 1)

    def task_count(records: Counts) -> int:
        rows = int((records * parts_of(records)).sum())
        return max(rows * word_count // (2 * ROWS) + 1, least)

    all_records = counts[:1].sum(axis=1)  # those of one bucket
    parts, all_parts = parts_of(counts), parts_of(all_records)
    makes_fewer_rows = (all_records * all_parts).sum() < (counts * parts).sum()
    if word_count > 1 and (makes_fewer_rows or len(counts) > NO_TABLE):
        cell_count = int(all_parts[0]) * (int(all_parts[0]) + 1) // 2
        return {NO_TABLE: all_parts}, min(task_count(all_records), 4 * cell_count)
    return dict(enumerate(parts)), task_count(counts)


def make_cells(fingerprints: Words, ids: Words, distance: int, all_parts: Parts) -> Iterator[Cells]:
    """The rows of records for each table. `all_parts` are those of divide()."""
    hashes = mixed(hashed(fingerprints) * _ODD + ids)
    for table, table_parts in all_parts.items():
        keys = _keys(fingerprints, table, distance)
        base = mixed(mixed(keys) + np.uint64(table))
        parts = table_parts[_buckets(keys, words_of(fingerprints), distance) if table != NO_TABLE else keys]
        for part_count in np.unique(parts).tolist():
            rows = np.flatnonzero(parts == part_count)
            tables = np.full(len(rows), table, np.uint8)
            if part_count == 1:
                yield Cells(base[rows], tables, np.zeros(len(rows), np.uint8), fingerprints[rows], ids[rows])
                continue
            own = hashes[rows] % np.uint64(part_count)
            for other in range(part_count):
                low, high = np.minimum(own, np.uint64(other)), np.maximum(own, np.uint64(other))
                cell = mixed(base[rows] + high * np.uint64(part_count) + low)
                side = np.where(own == other, 3, 1 + (own > other)).astype(np.uint8)  # the lower part is on side 1
                yield Cells(cell, tables, side, fingerprints[rows], ids[rows])


def join_cells(cells: Cells, distance: int, spanning: bool, batch_size: int) -> Iterator[Pairs]:
    """The pairs of all cells of a task, in batches, the lower record of each first."""
    for table in np.unique(cells.table).tolist():
        of_table = cells.table == table
        whole = np.flatnonzero(of_table & (cells.side == 0))
        if len(whole) > 1:
            yield from _join(cells, whole, None, table, distance, spanning, batch_size)
        divided = np.flatnonzero(of_table & (cells.side != 0))
        keys = _keys(cells.fingerprint[divided], table, distance)  # two keys may share the hash of a cell
        order = np.lexsort((keys, cells.cell[divided]))
        divided, keys = divided[order], keys[order]
        ends = np.flatnonzero((np.diff(cells.cell[divided]) != 0) | (np.diff(keys) != 0)) + 1
        for rows in np.split(divided, ends):
            left, right = rows[cells.side[rows] == 1], rows[cells.side[rows] == 2]
            is_one_part = len(left) + len(right) == 0
            if len(rows) < 2 or not (is_one_part or (len(left) > 0 and len(right) > 0)):
                continue  # the pairs of one part are those of its own cell
            if spanning or is_one_part:  # a spanning join of two parts connects what they connect
                yield from _join(cells, rows, None, table, distance, spanning, batch_size)
            else:
                yield from _join(cells, left, right, table, distance, spanning, batch_size)


_matchers: dict[str, StreamMatcher] = {}


def kept_matcher(name: str, queries: Callable[[], Words], distance: int) -> StreamMatcher:
    """A matcher that the process keeps until another one is wanted, so that its tasks share it."""
    if name not in _matchers:
        _matchers.clear()
        _matchers[name] = StreamMatcher(queries(), distance, threads=1)
    return _matchers[name]


# ----- steps to the connected components of edges: Kiveris, Lattanzi, Mirrokni, Rastogi and Vassilvitskii, "Connected
# Components in MapReduce and Beyond" (SOCC 2014). A task has all edges of its nodes. -----


def _by_node(nodes: Words, others: Words) -> tuple[Words, Words, npt.NDArray[np.bool_]]:
    """Edges, each once, ascending, and which of them are the first of their node."""
    order = np.lexsort((others, nodes))
    nodes, others = nodes[order], others[order]
    is_first = np.ones(len(nodes), np.bool_)
    is_first[1:] = nodes[1:] != nodes[:-1]
    is_new = is_first.copy()
    is_new[1:] |= others[1:] != others[:-1]
    return nodes[is_new], others[is_new], is_first[is_new]


def large_star(nodes: Words, others: Words) -> tuple[Words, Words]:
    """Connect the larger neighbours of each node with the smallest of all of them and itself.

    Args:
        nodes, others: the edges of some nodes, to smaller and to larger ones.

    Returns:
        Edges from a node to a smaller one; and an edge (n, n) of each node n that is not yet part of a star. Without
        any of these, each node is connected with the smallest one of its component, and with no other.
    """
    nodes, others, is_first = _by_node(nodes, others)
    group = np.cumsum(is_first) - 1
    own, nearest = nodes[is_first], others[is_first]
    is_larger = others > nodes
    is_open = (nearest < own) & (np.bincount(group, minlength=len(own)) > 1)
    centres = np.minimum(own, nearest)[group]
    return (
        np.concatenate([others[is_larger], own[is_open]]),
        np.concatenate([centres[is_larger], own[is_open]]),
    )


def small_star(nodes: Words, others: Words) -> tuple[Words, Words]:
    """Connect each node, and its smaller neighbours, with the smallest of them.

    Args:
        nodes, others: the edges of some nodes to smaller ones; an edge (n, n) is ignored.

    Returns:
        Edges from a node to a smaller one.
    """
    is_edge = nodes != others
    nodes, others, is_first = _by_node(nodes[is_edge], others[is_edge])
    centres = others[is_first][np.cumsum(is_first) - 1]
    return np.where(is_first, nodes, others), centres


def smallest(nodes: Words, others: Words) -> tuple[Words, Words]:
    """Each node, and the smallest of its neighbours."""
    nodes, others, is_first = _by_node(nodes, others)
    return nodes[is_first], others[is_first]


def _join(
    cells: Cells,
    left: Any,
    right: Any,
    table: int,
    distance: int,
    spanning: bool,
    batch_size: int,
) -> Iterator[Pairs]:
    found = join_records(
        cells.fingerprint[left],
        cells.id[left],
        None if right is None else cells.fingerprint[right],
        None if right is None else cells.id[right],
        table=table if table != NO_TABLE else None,
        distance=distance,
        spanning=spanning,
        batch_size=batch_size,
    )
    return found if right is None else map(lower_first, found)
