"""sstore on a Ray cluster: shards, queries of all shards, near pairs and clusters of Datasets.

    import sstore.ray

    pairs = sstore.ray.near_pairs(ds, distance=3)        # ds has the columns fingerprint and id
    kept = sstore.ray.deduplicate(ds, distance=3)
    made = sstore.ray.fingerprint(documents, "body", hash="minhash")  # for similarity=, in the place of distance=

Fingerprints and ids are uint64 or int64, of which 64 bits are taken; results are uint64. Fingerprints of more than 64
bits are binary, the most significant byte first, and all of one length; results have them as binary. Ids may also be
texts, strings or binary, such as URLs, and results have them so: tasks compare their 64-bit hashes, and two texts of
one hash that meet in a task are an error when the result is read.

Rows without a fingerprint are left out. A null id, or a fingerprint of another length than most, is an error at the
call, before its work; with skip_bad such rows are left out, and reported: see sstore.BadRows, whose rows have no
numbers here. Workers need this package. Ray schedules, moves and repeats the tasks; each runs the library on its rows,
on one processor.

A function reads its input several times, and must get the same rows each time: materialize what is computed at random.
build_shards() works at the call. near_pairs() reads all fingerprints once at the call, clusters() and deduplicate()
compute the pairs, and the rest comes when the result is read, and each time that it is read: materialize pairs that are
both kept and connected. An error in a task is a RayTaskError; its text has the name of the sstore error, and the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Optional

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sstore import _tasks
from sstore._arrays import MAX_WORDS, Words, empty
from sstore._call import count_of, flag_of, number_of
from sstore._columns import PAIR_COLUMNS, wide
from sstore._doubt import SkipBad, bad_rows_of
from sstore._errors import ArgumentError
from sstore._join import components, shard_numbers
from sstore._lexicon import Features, Segment
from sstore._native import lib
from sstore._rows import words
from sstore._shards import ShardBuild, ShardManifest, SharedFolder, query_shard
from sstore._similar import Nearness
from sstore._store import build_distance
from sstore._text import Hash, Markup, Weights

if TYPE_CHECKING:
    from ray.data import Dataset

# Tasks do the work, and keep state in their processes. Actors would keep their processors after an error, as long as
# anything refers to the exception, and the next call might wait for them for ever.

# Columns; the last one has ids that are texts.
_CLUSTER, _TASK, _GIVEN = "__sstore_cluster", "__sstore_task", "__sstore_id"


# ----- rows -----


def _column(batch: pa.Table, name: str) -> Words:
    return words(batch.column(name), name, None if name == "fingerprint" else 1)


def _array(values: Words) -> pa.Array:
    """Numbers as they are, and fingerprints of several words as binary."""
    return pa.array(values) if values.ndim == 1 else _tasks.arrow_bytes(values)


def _map(ds: Dataset, task: Any, **options: Any) -> Dataset:
    return ds.map_batches(task, batch_format="pyarrow", **{"batch_size": _tasks.ROWS, **options})


def _records(ds: Dataset, what: str, names: tuple[str, ...] = ("fingerprint", "id")) -> tuple[Dataset, bool]:
    """The columns fingerprint and id of a Dataset, checked, where there is a fingerprint; and whether it has ids."""
    import ray.data

    if not isinstance(ds, ray.data.Dataset):
        raise TypeError(f"{what}: expected a Dataset of Ray, found {type(ds).__name__}")
    schema = ds.schema()
    types = dict(zip(schema.names, schema.types)) if schema is not None else {}
    if schema is not None and "fingerprint" not in types:
        raise ArgumentError(f'{what}: expected a column "fingerprint", found {", ".join(types)}')
    chosen = [name for name in names if name in types]
    for name in chosen:
        if name == "fingerprint" and _is_binary_type(types[name]):
            continue
        if name == "id" and _tasks.is_text_type(types[name]):
            continue
        if str(types[name]) not in ("int64", "uint64"):
            kinds = f"int64, uint64 or {'binary' if name == 'fingerprint' else 'texts'}"
            raise TypeError(f"{what}: expected the column {name!r} of {kinds}, found {types[name]}")

    def select(batch: pa.Table) -> pa.Table:
        return batch.filter(pc.is_valid(batch.column("fingerprint")))

    return (_map(ds.select_columns(chosen), select) if chosen else ds), "id" in chosen


def _is_binary_type(kind: Any) -> bool:
    return str(kind).split("[")[0] in ("binary", "large_binary", "fixed_size_binary")


def _type_of(ds: Dataset, column: str) -> Any:
    """The type of a column, of Arrow; None if it is not known."""
    schema = ds.schema()
    return None if schema is None else dict(zip(schema.names, schema.types)).get(column)


def _is_binary(ds: Dataset) -> bool:
    """Whether fingerprints have several words."""
    return _is_binary_type(_type_of(ds, "fingerprint"))


def _text_type(ds: Dataset, column: str = "id") -> Any:
    """The type of Arrow that ids have in results if they are texts, or None."""
    kind = _type_of(ds, column)
    if not _tasks.is_text_type(kind):
        return None
    return pa.binary() if "binary" in str(kind) else pa.string()


def _good(
    records: Dataset, is_binary: bool, has_ids: bool, what: str, skip_bad: SkipBad = False
) -> tuple[Dataset, Optional[int]]:
    """The rows that can be read, and the words of the fingerprints; None if there are none. It reads all lengths of
    binary, and which ids are null."""
    if not is_binary and not has_ids:
        return records, 1
    bad = bad_rows_of(skip_bad)
    keep = max(bad.keep, 1)

    def measure(batch: pa.Table) -> pa.Table:
        lengths, nulls = _lengths(batch, is_binary, has_ids)
        counted = pa.table({"bytes": lengths, "is_null": nulls}).group_by(["bytes", "is_null"])
        types = {"bytes": pa.int64(), "is_null": pa.bool_(), "count_all": pa.int64()}
        return counted.aggregate([([], "count_all")]).select(list(types)).cast(pa.schema(types))

    rows: list[Any] = []
    for batch in _map(records, measure).iter_batches(batch_format="pyarrow", batch_size=None):
        rows += batch.to_pylist() if "bytes" in batch.column_names else []
    found = _tasks.Lengths((row["bytes"], row["is_null"], row["count_all"]) for row in rows)
    common = found.common() if is_binary else 8

    def bad_of(batch: pa.Table) -> Any:
        lengths, nulls = _lengths(batch, is_binary, has_ids)
        return pc.or_(nulls, pc.not_equal(lengths, common))

    if found.bad_count(common) > 0:
        first = _map(records, lambda batch: batch.filter(bad_of(batch)).slice(0, keep)).take(keep)
        examples = [(row["fingerprint"], row.get("id")) for row in first]
        _tasks.report_bad(what, examples, common, found.bad_count(common), has_ids, bad)
        records = _map(records, lambda batch: batch.filter(pc.invert(bad_of(batch))))
    bad.tell()
    return records, _tasks.common_words(what, [common]) if is_binary else 1


def _lengths(batch: pa.Table, is_binary: bool, has_ids: bool) -> tuple[Any, Any]:
    """The bytes of each fingerprint, and whether the id is null."""
    nothing = pa.array(np.zeros(len(batch), np.bool_))
    sizes = pa.array(np.full(len(batch), 8))
    if is_binary:
        sizes = pc.binary_length(batch.column("fingerprint").cast(pa.large_binary()))
    return sizes, pc.is_null(batch.column("id")) if has_ids else nothing


def _distinct(fingerprints: Dataset) -> Words:
    """Each fingerprint once, in memory."""
    batches = fingerprints.iter_batches(batch_format="pyarrow", batch_size=None)
    parts = [_column(batch, "fingerprint") for batch in batches if len(batch) > 0]
    return _tasks.distinct(np.concatenate(parts)) if parts else _NONE


def _distinct_parts(fingerprints: Dataset, parts: int) -> Dataset:
    """Each fingerprint once, in parts."""

    def assign(batch: pa.Table) -> pa.Table:
        values = _column(batch, "fingerprint")
        return pa.table({"fingerprint": _array(values), _TASK: _task_of(values, parts)})

    def once(part: pa.Table) -> pa.Table:
        return pa.table({"fingerprint": _array(_tasks.distinct(_column(part, "fingerprint")))})

    return _by_task(_map(fingerprints, assign), parts, once)


def _task_of(values: Words, tasks: int) -> npt.NDArray[np.int64]:
    return (_tasks.hashed(values) % np.uint64(tasks)).astype(np.int64)


def _by_task(ds: Dataset, tasks: int, work: Any) -> Dataset:
    """The results of work on the rows of each task. There must be rows: without any, Ray knows no columns."""
    return ds.groupby(_TASK, num_partitions=tasks).map_groups(work, batch_format="pyarrow")


def _nothing(**columns: Any) -> pa.Table:
    """A table without rows."""
    return pa.table({name: pa.array([], kind) for name, kind in columns.items()})


# ----- texts -----


def fingerprint(
    ds: Dataset,
    text: str = "text",
    *,
    features: Features = "words",
    shingle: int = 0,
    weights: Optional[Weights] = None,
    markup: Markup = "none",
    segment: Segment = "pairs",
    bits: int = 0,
    hash: Hash = "xxh3",
) -> Dataset:
    """A Dataset with one more column, fingerprint: that of the text of each row, as uint64, or of more than 64 bits as
    binary.

    As sstore.spark.fingerprint(), of a Dataset.
    """
    import ray.data

    how = _tasks.TextArguments(features, shingle, weights, markup, segment, None, bits, hash)
    how.word_count()
    if not isinstance(ds, ray.data.Dataset):
        raise TypeError(f"fingerprint: expected a Dataset of Ray, found {type(ds).__name__}")
    schema = ds.schema()
    if schema is None:
        return ds
    types = dict(zip(schema.names, schema.types))
    if text not in types:
        raise ArgumentError(f'fingerprint: expected a column "{text}", found {", ".join(types)}')
    if not _tasks.is_text_type(types[text]):
        raise TypeError(f"fingerprint: expected the column {text!r} of strings, found {types[text]}")
    if "fingerprint" in types:
        raise ArgumentError('fingerprint: there is a column "fingerprint" already')

    def make(batch: pa.Table) -> pa.Table:
        return batch.append_column("fingerprint", _tasks.fingerprints_of(batch.column(text), how))

    return _map(ds, make)


# ----- shards -----


def build_shards(
    ds: Dataset,
    path: str,
    shards: int,
    *,
    distance: Optional[int] = None,
    similarity: Optional[float] = None,
    recall: Optional[float] = None,
    plan: str = "auto",
    recipe: Optional[str] = None,
    force: bool = False,
    memory: str = "1G",
    skip_bad: SkipBad = False,
    storage_options: Optional[dict[str, Any]] = None,
) -> ShardManifest:
    """Build a store of each of several shards of a Dataset, and publish them together.

    As sstore.spark.build_shards(), of a Dataset. But a task holds the rows of its shard in memory, 24 bytes each, and a
    copy: choose shards of tens of millions of records.

    Args:
        skip_bad: leave out rows with a null id, or with a fingerprint of another length than most: as sstore.build().
        The other arguments are those of the Spark function.
    """
    records, has_ids = _records(ds, "build_shards")
    folder = SharedFolder(path, storage_options)
    nearness = Nearness(distance, similarity, recall)
    nearness.check_recipe("build_shards", recipe)
    records, words_found = _good(records, _is_binary(ds), has_ids, "build_shards", skip_bad)
    count = words_found or 1
    has_names = _text_type(ds) is not None
    if has_names and _text_type(ds) != pa.string():
        raise TypeError("build_shards: expected the column 'id' of int64, uint64 or strings, found binary")
    work = ShardBuild(folder, shards, nearness.within(count), plan, recipe, memory, force, has_ids, count, has_names)
    work.check()
    if not records.take(1):
        return work.finish([])

    def number(batch: pa.Table) -> pa.Table:
        numbers = shard_numbers(_column(batch, "fingerprint"), shards)
        return batch.append_column(_TASK, pa.array(numbers.astype(np.int64)))

    def build(group: pa.Table) -> pa.Table:
        ids = (group.column("id") if has_names else _column(group, "id")) if has_ids else None
        part = (_column(group, "fingerprint"), ids)
        return pa.table({"shard": pa.array(list(work.build([part])), pa.string())})

    # Ray hashes the numbers of shards: among more partitions, fewer shards meet in one.
    rows = _by_task(_map(records, number), 4 * shards, build).take_all()
    return work.finish(row["shard"] for row in rows)


def query_shards(
    ds: Dataset,
    path: str,
    *,
    distance: Optional[int] = None,
    similarity: Optional[float] = None,
    recall: Optional[float] = None,
    max_broadcast: int = _tasks.MAX_BROADCAST,
    skip_bad: SkipBad = False,
    storage_options: Optional[dict[str, Any]] = None,
) -> Dataset:
    """All records of all shards within a distance of each fingerprint of a Dataset, each once.

    As sstore.spark.query_shards(), of a Dataset. Workers keep the stores open between tasks.

    Args:
        skip_bad: leave out rows with a fingerprint of another length than most: as sstore.build().
        The other arguments are those of the Spark function.
    """
    import ray

    records, _ = _records(ds, "query_shards", ("fingerprint",))
    folder = SharedFolder(path, storage_options)
    manifest = folder.read()
    nearness = Nearness(distance, similarity, recall)
    nearness.check_recipe("query_shards", manifest.recipe)
    near = number_of(nearness.within(manifest.words, manifest.distance), "distance", manifest.bits)
    number_of(max_broadcast, "max_broadcast", 1 << 63)
    queries = records.materialize()
    count = queries.count()
    if count > 0:
        queries, words_found = _good(queries, _is_binary(ds), False, "query_shards", skip_bad)
        _tasks.check_words("query_shards", words_found, manifest.words)
    none = empty(manifest.words)
    nothing = _match_table(none, none, pa.array([], pa.string()) if manifest.has_names else None)
    if count <= max_broadcast:
        wanted = _distinct(queries)
        pieces = np.array_split(wanted, len(wanted) // _tasks.ROWS + 1)
        parts = [ray.put(pa.table({"fingerprint": _array(piece)})) for piece in pieces if len(piece) > 0]
    else:
        parts = _distinct_parts(queries, count // _tasks.ROWS + 1).to_arrow_refs()
    shard_count = len(manifest.shards)
    tasks = [{"number": number, "part": part} for number in range(shard_count) for part in range(len(parts))]
    if not tasks:
        return ray.data.from_arrow(nothing)

    def query(rows: pa.Table) -> Iterator[pa.Table]:
        yield nothing
        for number, part in zip(rows.column("number").to_pylist(), rows.column("part").to_pylist()):
            wanted = _column(ray.get(parts[part]), "fingerprint")
            for found in query_shard(folder, manifest, number, wanted, near):
                ids = _tasks.arrow_texts(found.name, pa.string()) if manifest.has_names else found.columns.get("id")
                yield _match_table(wanted[found.query_index], found.fingerprint, ids, found.distance)

    return _map(ray.data.from_items(tasks, override_num_blocks=len(tasks)), query, batch_size=None)


_NONE: Words = np.empty(0, np.uint64)


def _match_table(queries: Words, fingerprints: Words, ids: Any = None, distances: Any = _NONE) -> pa.Table:
    return pa.table(
        {
            "query": _array(queries),
            "fingerprint": _array(fingerprints),
            "id": pa.nulls(len(queries), pa.uint64()) if ids is None else ids,
            "distance": distances.astype(np.uint32, copy=False),
        }
    )


# ----- joins -----


def _table(columns: dict[str, Any]) -> pa.Table:
    return pa.table({n: _array(column) if isinstance(column, np.ndarray) else column for n, column in columns.items()})


def near_pairs(
    ds: Dataset,
    distance: Optional[int] = None,
    *,
    similarity: Optional[float] = None,
    recall: Optional[float] = None,
    spanning: bool = False,
    partitions: Optional[int] = None,
    max_key_records: Optional[int] = None,
    skip_bad: SkipBad = False,
) -> Dataset:
    """Every pair of different records of a Dataset within a distance, once, without shards.

    As sstore.spark.near_pairs(), of a Dataset.

    Args:
        skip_bad: leave out rows with a null id, or with a fingerprint of another length than most: as sstore.build().
        The other arguments are those of the Spark function.
    """
    import ray

    nearness = Nearness(distance, similarity, recall)
    records, has_ids = _records(ds, "near_pairs")
    schema = ds.schema()
    if schema is not None and not has_ids:
        raise ArgumentError(f'near_pairs: expected a column "id", found {", ".join(schema.names)}')
    partitions = None if partitions is None else count_of(partitions, "partitions", 1 << 31)
    flag_of(spanning, "spanning")
    records, words_found = _good(records, _is_binary(ds), has_ids, "near_pairs", skip_bad)
    kind = _text_type(ds)
    if kind is not None:
        records = _numbered(records, "near_pairs", kind)
    word_count = words_found or MAX_WORDS  # which allows any distance
    limit = _tasks.key_limit(max_key_records, word_count)
    near = build_distance(nearness.within(word_count), word_count)

    def count(batch: pa.Table) -> pa.Table:
        counts = _tasks.count_keys(_column(batch, "fingerprint"), near).reshape(-1)
        buckets = np.flatnonzero(counts)
        return pa.table({"bucket": buckets, "records": counts[buckets]})

    counts = _tasks.zero_counts(word_count, near)
    for batch in _map(records, count).iter_batches(batch_format="pyarrow", batch_size=None):
        np.add.at(counts.reshape(-1), np.asarray(batch.column("bucket")), np.asarray(batch.column("records")))
    nothing = _table({name: np.empty(0, dtype) for name, dtype in wide(PAIR_COLUMNS, word_count).items()})
    if not counts.any():
        return ray.data.from_arrow(_with_kind(nothing, kind, "id", "other_id"))
    parts, tasks = _tasks.divide(counts, limit, word_count)
    tasks = partitions or tasks

    def explode(batch: pa.Table) -> Iterator[pa.Table]:
        fingerprints, ids = _column(batch, "fingerprint"), _column(batch, "id")
        texts = None if kind is None else _Texts("near_pairs", ids, batch.column(_GIVEN))
        for cells in _tasks.make_cells(fingerprints, ids, near, parts):
            columns = {**cells.columns(), "fingerprint": _array(cells.fingerprint)}
            if texts is not None:
                columns[_GIVEN] = texts.of(cells.id)
            yield pa.table({**columns, _TASK: (cells.cell % np.uint64(tasks)).astype(np.int64)})

    def join(group: pa.Table) -> Iterator[pa.Table]:
        yield _with_kind(nothing, kind, "id", "other_id")
        texts = None if kind is None else _Texts("near_pairs", _column(group, "id"), group.column(_GIVEN))
        columns = {name: np.asarray(group.column(name)) for name in _tasks.Cells.names() if name != "fingerprint"}
        cells = _tasks.Cells(fingerprint=_column(group, "fingerprint"), **columns)
        for pairs in _tasks.join_cells(cells, near, spanning, _tasks.ROWS // 8):
            named = {} if texts is None else {name: texts.of(pairs.columns[name]) for name in ("id", "other_id")}
            yield _table({**pairs.columns, **named})

    return _by_task(_map(records, explode, batch_size=_tasks.ROWS // 8), tasks, join)


def clusters(pairs: Dataset, *, max_local_edges: int = _tasks.MAX_LOCAL_EDGES) -> Dataset:
    """The connected components of pairs. Columns: id and cluster, the smallest id of the component; uint64, or texts.

    As sstore.spark.clusters(), of a Dataset. But with more than max_local_edges pairs a task holds all edges of its
    nodes in memory, 32 bytes for each member of the largest component, and copies: choose a higher limit for components
    of more than a hundred million records.
    """
    import ray

    number_of(max_local_edges, "max_local_edges", 1 << 63)
    edges = _map(pairs.select_columns(["id", "other_id"]), lambda batch: batch.drop_null()).materialize()
    count = edges.count()
    nothing = _nothing(id=pa.uint64(), cluster=pa.uint64())
    kind = _text_type(edges)
    if count > 0 and kind != _text_type(edges, "other_id"):
        kinds = f"{_type_of(edges, 'id')} and {_type_of(edges, 'other_id')}"
        raise TypeError(f"clusters: expected id and other_id of one kind, found {kinds}")
    if kind is not None and count > 0:
        return _text_clusters(edges, kind, nothing, max_local_edges)
    if count == 0:
        return ray.data.from_arrow(_with_kind(nothing, kind, "id", "cluster"))
    if count > max_local_edges:
        return _connect(edges, count // _tasks.ROWS + 1)

    @ray.remote(num_returns="streaming")  # type: ignore[untyped-decorator]
    def connect(parts: Any) -> Iterator[pa.Table]:
        tables = map(ray.get, parts)
        yield nothing
        for found in components(((_column(t, "id"), _column(t, "other_id")) for t in tables), threads=1):
            yield _edge_table(found.node, found.smallest).rename_columns(["id", "cluster"])

    return ray.data.from_arrow_refs(list(connect.remote(edges.to_arrow_refs())))


def _text_clusters(edges: Dataset, kind: Any, nothing: pa.Table, max_local_edges: int) -> Dataset:
    """The components of pairs of texts: those of their numbers, each named after its smallest text."""
    tasks = edges.count() // _tasks.ROWS + 1

    def number(batch: pa.Table) -> pa.Table:
        return _edge_table(*(_tasks.hashed_texts(batch.column(name)) for name in ("id", "other_id")))

    def texts(batch: pa.Table) -> pa.Table:
        both = (batch.column(name).cast(kind) for name in ("id", "other_id"))
        given = pa.chunked_array([chunk for column in both for chunk in column.chunks], kind)
        return pa.table({"id": _tasks.hashed_texts(given), _GIVEN: given})

    def assign(batch: pa.Table) -> pa.Table:
        return batch.append_column(_TASK, pa.array(_task_of(_column(batch, "cluster"), tasks)))

    def name(group: pa.Table) -> pa.Table:
        group = group.sort_by([("cluster", "ascending"), ("id", "ascending")])
        _, first, cluster = np.unique(_column(group, "cluster"), return_index=True, return_inverse=True)
        return pa.table({"id": group.column("id"), "cluster": group.column("id").take(pa.array(first[cluster]))})

    found = clusters(_map(edges, number), max_local_edges=max_local_edges)
    members = _with_texts(found, nothing, _map(edges, texts), kind, tasks)
    return _by_task(_map(members, assign), tasks, name)


def _edge_table(nodes: Words, others: Words) -> pa.Table:
    return pa.table({"id": nodes, "other_id": others})


def _edge_step(edges: Dataset, tasks: int, directions: Any, step: Any) -> Dataset:
    """A step of _tasks, whose tasks get the edges that `directions` makes of each batch."""

    def assign(batch: pa.Table) -> pa.Table:
        nodes, others = directions(_column(batch, "id"), _column(batch, "other_id"))
        return _edge_table(nodes, others).append_column(_TASK, pa.array(_task_of(nodes, tasks)))

    def work(group: pa.Table) -> pa.Table:
        return _edge_table(*step(_column(group, "id"), _column(group, "other_id")))

    return _by_task(_map(edges, assign), tasks, work)


def _connect(edges: Dataset, tasks: int) -> Dataset:
    def both(a: Words, b: Words) -> tuple[Words, Words]:
        is_edge = a != b
        return np.concatenate([a[is_edge], b[is_edge]]), np.concatenate([b[is_edge], a[is_edge]])

    def given(a: Words, b: Words) -> tuple[Words, Words]:
        return a, b

    def with_centres(a: Words, b: Words) -> tuple[Words, Words]:
        low = np.minimum(a, b)
        return np.concatenate([a, b, low]), np.concatenate([low, low, low])

    def loops_of(batch: pa.Table) -> pa.Table:
        nodes = _column(batch, "id")
        nodes = nodes[nodes == _column(batch, "other_id")]
        return _edge_table(nodes, nodes)

    def count_open(batch: pa.Table) -> pa.Table:
        return pa.table({"open": [int(np.sum(_column(batch, "id") == _column(batch, "other_id")))]})

    stars = _edge_step(edges, tasks, both, _tasks.large_star).materialize()
    while _map(stars, count_open).sum("open"):
        stars = _edge_step(stars, tasks, given, _tasks.small_star)
        stars = _edge_step(stars, tasks, both, _tasks.large_star).materialize()
    loops = _map(edges, loops_of)
    found = _edge_step(stars.union(loops), tasks, with_centres, _tasks.smallest)
    return found.rename_columns({"other_id": "cluster"})


def deduplicate(
    ds: Dataset,
    distance: Optional[int] = None,
    *,
    similarity: Optional[float] = None,
    recall: Optional[float] = None,
    keep: Optional[str] = None,
    descending: bool = False,
    strict: bool = False,
    partitions: Optional[int] = None,
    max_local_edges: int = _tasks.MAX_LOCAL_EDGES,
    skip_bad: SkipBad = False,
) -> Dataset:
    """The rows of a Dataset without near-duplicates: of each cluster one row is kept.

    As sstore.spark.deduplicate(), of a Dataset. A repeated id is an error when the result is read. With strict=True, a
    task holds its rows in memory; it gets whole clusters, some million rows in all unless one is larger.

    Args:
        skip_bad: leave out rows with a null id, or with a fingerprint of another length than most: as sstore.build().
        The other arguments are those of the Spark function.
    """
    import ray

    flag_of(descending, "descending")
    flag_of(strict, "strict")
    nearness = Nearness(distance, similarity, recall)
    ds = _numbered(ds, "deduplicate", _text_type(ds) if isinstance(ds, ray.data.Dataset) else None)
    _records(ds, "deduplicate")
    ds = _map(ds, lambda batch: batch)  # Arrow, also if the blocks are of pandas
    schema = ds.schema()
    if schema is None:
        return ds
    for name in (_CLUSTER, _TASK):
        if name in schema.names:
            raise ArgumentError(f'deduplicate: a column has the reserved name "{name}"')
    for name in ("id", "id" if keep is None else keep):
        if name not in schema.names:
            raise ArgumentError(f'deduplicate: expected a column "{name}", found {", ".join(schema.names)}')
    own_id = _GIVEN if _GIVEN in schema.names else "id"
    value = own_id if keep in (None, "id") else str(keep)
    pairs = near_pairs(
        ds,
        distance,
        similarity=similarity,
        recall=recall,
        spanning=True,
        partitions=partitions,
        skip_bad=skip_bad,
    )
    found = clusters(pairs, max_local_edges=max_local_edges)
    kind = schema.base_schema.field("id").type
    tasks = partitions or max(ds.count() // _tasks.ROWS, 1)

    def as_given(batch: pa.Table) -> pa.Table:
        nodes = np.asarray(batch.column("id").combine_chunks())
        ids = pa.array(nodes.view(np.int64) if kind == pa.int64() else nodes)
        return pa.table({"id": ids, _CLUSTER: batch.column("cluster")})

    members = _map(found, as_given, batch_size=None)
    wanted = dict.fromkeys(["id", value, own_id, *(["fingerprint"] if strict else [])])
    if len(wanted) > 1:
        members = _join_by_id(ds.select_columns(list(wanted)), members, tasks, is_matched=True)

    def assign(batch: pa.Table) -> pa.Table:
        return batch.append_column(_TASK, pa.array(_task_of(_column(batch, _CLUSTER), tasks)))

    def losers(group: pa.Table) -> pa.Table:
        group = _in_order(group, value, own_id, descending)
        if strict:
            drops = _tasks.strict_drops(
                [(_column(group, "fingerprint"), np.arange(len(group), dtype=np.uint64))], nearness
            )
            return group.select(["id", _CLUSTER]).take(pa.array(np.concatenate([np.zeros(0, np.uint64), *drops])))
        cluster = _column(group, _CLUSTER)
        is_first = np.ones(len(cluster), np.bool_)
        is_first[1:] = cluster[1:] != cluster[:-1]
        return group.select(["id", _CLUSTER]).filter(pa.array(~is_first))

    # Ray knows no columns without rows, so there is a row without an id.
    dropped = ray.data.from_arrow(pa.table({"id": pa.nulls(1, kind), _CLUSTER: np.zeros(1, np.uint64)}))
    if found.count() > 0:
        dropped = dropped.union(_by_task(_map(members, assign), tasks, losers))
    kept = _join_by_id(ds, dropped, tasks, is_matched=False)
    names = list(schema.names)
    if own_id == _GIVEN:
        names.remove(_GIVEN)
        kept = _map(kept, lambda batch: batch.set_column(batch.column_names.index("id"), "id", batch.column(_GIVEN)))
    return kept.select_columns(names)


def _in_order(group: pa.Table, value: str, own_id: str, is_descending: bool) -> pa.Table:
    """The rows of each cluster in the order in which they precede: those without a value come last."""
    values = group.column(value)
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)
        group = group.set_column(group.column_names.index(value), value, values)
    keys = {_CLUSTER: "ascending", value: "descending" if is_descending else "ascending"}
    return group.sort_by([*keys.items(), *([] if own_id in keys else [(own_id, "ascending")])])


def _numbered(ds: Dataset, what: str, kind: Any) -> Dataset:
    """A Dataset whose ids, if they are texts, are replaced by hashes, and kept in another column, of this type."""
    if kind is None:
        return ds
    if _type_of(ds, _GIVEN) is not None:
        raise ArgumentError(f'{what}: a column has the reserved name "{_GIVEN}"')

    def number(batch: pa.Table) -> pa.Table:
        given = batch.column("id").cast(kind)
        numbers = pa.array(_tasks.hashed_texts(given), mask=np.asarray(pc.is_null(given)))
        batch = batch.append_column(_GIVEN, given)
        return batch.set_column(batch.column_names.index("id"), "id", numbers)

    return _map(ds, number)


def _with_kind(table: pa.Table, kind: Any, *columns: str) -> pa.Table:
    """A table without rows, whose ids are texts if there is a type for them."""
    if kind is None:
        return table
    return _nothing(**{field.name: kind if field.name in columns else field.type for field in table.schema})


def _columns(batch: pa.Table, fields: list[Any]) -> dict[str, Any]:
    """Columns of a batch, null where it has none."""
    return {
        field.name: batch.column(field.name) if field.name in batch.column_names else pa.nulls(len(batch), field.type)
        for field in fields
    }


class _Texts:
    """Texts by their numbers. Two of one number are an error."""

    def __init__(self, what: str, numbers: Words, texts: Any) -> None:
        order = np.argsort(numbers)
        numbers, texts = numbers[order], texts.take(pa.array(order))
        is_same = np.flatnonzero(numbers[1:] == numbers[:-1])
        differ = pc.not_equal(texts.take(pa.array(is_same)), texts.take(pa.array(is_same + 1)))
        if (found := is_same[np.asarray(differ, np.bool_)]).size > 0:
            _tasks.fail_repeated(what, texts[int(found[0])].as_py(), texts[int(found[0]) + 1].as_py(), "several")
        self._numbers, self._texts = numbers, texts

    def of(self, numbers: Words) -> Any:
        """The texts of numbers, all of which it has."""
        return self._texts.take(pa.array(np.searchsorted(self._numbers, numbers)))


def _with_texts(members: Dataset, nothing: pa.Table, numbered: Dataset, kind: Any, tasks: int) -> Dataset:
    """The rows of a Dataset with texts for the numbers in the column id.

    Args:
        nothing: a table with the columns of the Dataset, without rows.
        numbered: what _numbered() makes. Two texts of one number are an error when the result is read.
        kind: of the texts.
    """
    fields = [*nothing.schema, pa.field(_GIVEN, kind)]

    def assign(batch: pa.Table) -> pa.Table:
        return pa.table({**_columns(batch, fields), _TASK: _task_of(_column(batch, "id"), tasks)})

    def select(group: pa.Table) -> pa.Table:
        is_text = pc.is_valid(group.column(_GIVEN))
        rows, found = group.filter(pc.invert(is_text)).select(nothing.column_names), group.filter(is_text)
        texts = _Texts("clusters", _column(found, "id"), found.column(_GIVEN))
        return rows.set_column(rows.column_names.index("id"), "id", texts.of(_column(rows, "id")))

    return _by_task(_map(members, assign).union(_map(numbered, assign)), tasks, select)


def _join_by_id(ds: Dataset, found: Dataset, tasks: int, is_matched: bool) -> Dataset:
    """The rows of a Dataset whose ids have a cluster, with it; or the other rows. Ray's own join needs polars, which
    workers may not have."""

    schema = ds.schema()
    assert schema is not None
    fields = [*schema.base_schema, pa.field(_CLUSTER, pa.uint64())]

    def assign(batch: pa.Table) -> pa.Table:
        return pa.table(
            {**_columns(batch, fields), _TASK: _task_of(words(batch.column("id").fill_null(0), "id"), tasks)}
        )

    def select(group: pa.Table) -> pa.Table:
        noted = pc.is_valid(group.column(_CLUSTER))
        rows, found = group.filter(pc.invert(noted)), group.filter(noted)
        ids = np.sort(words(rows.column("id").drop_null(), "id"))
        if (repeated := ids[1:][ids[1:] == ids[:-1]]).size > 0:
            _fail_repeated(rows, repeated[0])
        at = pc.index_in(rows.column("id"), value_set=found.column("id"), skip_nulls=True)
        rows = rows.set_column(rows.schema.get_field_index(_CLUSTER), _CLUSTER, found.column(_CLUSTER).take(at))
        return rows.filter(pc.is_valid(at) if is_matched else pc.is_null(at)).drop_columns([_TASK])

    both = _map(ds, assign).union(_map(found, assign))
    return _by_task(both, tasks, select)


def _fail_repeated(rows: pa.Table, number: np.uint64) -> None:
    """Fail because several of the rows have this number as their id."""
    is_equal = pa.array(words(rows.column("id").fill_null(0), "id") == number)
    own = pc.unique(rows.filter(is_equal).column(_GIVEN if _GIVEN in rows.column_names else "id"))
    _tasks.fail_repeated(own[0].as_py(), own[-1].as_py(), "several")


def scan(
    ds: Dataset,
    queries: Dataset,
    distance: Optional[int] = None,
    *,
    similarity: Optional[float] = None,
    recall: Optional[float] = None,
    skip_bad: SkipBad = False,
) -> Dataset:
    """All records of a Dataset within a distance of queries, without a store.

    As sstore.spark.scan(), of Datasets.

    Args:
        skip_bad: leave out rows with a null id, or with a fingerprint of another length than most: as sstore.build().
        The other arguments are those of the Spark function.
    """
    import ray

    nearness = Nearness(distance, similarity, recall)
    records, has_ids = _records(ds, "scan")
    asked = _records(queries, "scan", ("fingerprint",))[0].materialize()
    is_binary, has_queries = _is_binary(ds), asked.count() > 0
    if has_queries and ds.schema() is not None and is_binary != _is_binary(asked):
        raise TypeError("scan: expected fingerprints and queries both of numbers or both binary")
    count = _good(asked, is_binary, False, "scan")[1] if has_queries else None
    if count is not None:
        records, words_found = _good(records, is_binary, has_ids, "scan", skip_bad)
        _tasks.check_words("scan", words_found, count)
    word_count = count or (MAX_WORDS if is_binary else 1)
    near = number_of(nearness.within(word_count), "distance", word_count * lib.SSTORE_MAX_BUILD_DISTANCE)
    kind = _text_type(ds) if ds.schema() is not None else None
    if is_binary and count is None:
        none = empty(2)
        return ray.data.from_arrow(_match_table(none, none, None if kind is None else pa.array([], kind)))
    wanted = ray.put(_distinct(asked))

    def match(batch: pa.Table) -> pa.Table:
        matcher = _tasks.kept_matcher(wanted.hex(), lambda: ray.get(wanted), near)
        found = matcher.feed(_column(batch, "fingerprint"), np.arange(len(batch)))
        ids: Any = None
        if has_ids:
            ids = _column(batch, "id")[found.id] if kind is None else batch.column("id").take(found.id).cast(kind)
        return _match_table(found.query, found.fingerprint, ids, found.distance)

    return _map(records, match)
