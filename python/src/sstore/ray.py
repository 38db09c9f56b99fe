"""sstore on a Ray cluster: shards, queries of all shards, near pairs and clusters of Datasets.

    import sstore.ray

    pairs = sstore.ray.near_pairs(ds, distance=3)        # ds has the columns fingerprint and id
    kept = sstore.ray.deduplicate(ds, distance=3)

Fingerprints and ids are uint64 or int64. Workers need this package. Ray schedules, moves and repeats the tasks; each
runs the library on its rows.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Optional

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sstore import _tasks
from sstore._arrays import Words, words
from sstore._errors import ArgumentError
from sstore._join import components, shard_numbers
from sstore._shards import Place, ShardBuild, Shards, open_shard
from sstore._stream import StreamMatcher

if TYPE_CHECKING:
    from ray.data import Dataset

_ROWS = 1 << 20  # that a call of the library gets at once
_CROWD = 1_000_000
_MAX_BROADCAST = 4_000_000
_MAX_LOCAL_EDGES = 50_000_000
_NOTE, _TASK = "__sstore_cluster", "__sstore_task"  # columns


def _column(batch: pa.Table, name: str) -> Words:
    return words(batch.column(name), name)


def _has_ids(ds: Dataset, what: str) -> bool:
    schema = ds.schema()
    names = [] if schema is None else list(schema.names)
    if schema is not None and "fingerprint" not in names:
        raise ArgumentError(f'{what}: expected a column "fingerprint", found {", ".join(names)}')
    return "id" in names


def _fingerprints(ds: Dataset, what: str) -> Dataset:
    """The fingerprints of a Dataset, computed."""
    _has_ids(ds, what)
    return _map(ds.select_columns(["fingerprint"]), lambda batch: batch.drop_null()).materialize()


def _distinct(fingerprints: Dataset) -> Words:
    """Each fingerprint once, in memory."""
    batches = fingerprints.iter_batches(batch_format="pyarrow", batch_size=None)
    return np.unique(np.concatenate([np.empty(0, np.uint64), *(_column(batch, "fingerprint") for batch in batches)]))


def _distinct_parts(fingerprints: Dataset, parts: int) -> Dataset:
    """Each fingerprint once, in parts."""

    def assign(batch: pa.Table) -> pa.Table:
        values = _column(batch, "fingerprint")
        return pa.table({_TASK: _task_of(values, parts), "fingerprint": values})

    def once(part: pa.Table) -> pa.Table:
        return pa.table({"fingerprint": np.unique(_column(part, "fingerprint"))})

    return _by_task(_map(fingerprints, assign), parts, once)


def _task_of(values: Words, tasks: int) -> npt.NDArray[np.int64]:
    return (_tasks.mixed(values) % np.uint64(tasks)).astype(np.int64)


def _by_task(ds: Dataset, tasks: int, work: Any) -> Dataset:
    """The results of work on the rows of each task."""
    return ds.groupby(_TASK, num_partitions=tasks).map_groups(work, batch_format="pyarrow")


def _map(ds: Dataset, task: Any, **options: Any) -> Dataset:
    return ds.map_batches(task, batch_format="pyarrow", **{"batch_size": _ROWS, **options})


def build_shards(
    ds: Dataset,
    path: str,
    shards: int,
    *,
    distance: int = 3,
    plan: str = "auto",
    recipe: Optional[str] = None,
    replace: bool = False,
    memory: str = "1G",
    storage_options: Optional[dict[str, Any]] = None,
) -> Shards:
    """Build a store of each of several shards of a Dataset, and publish them together.

    As sstore.spark.build_shards(), of a Dataset.
    """
    Place(path, storage_options).check_new(replace)
    has_ids = _has_ids(ds, "build_shards")
    work = ShardBuild(path, storage_options, shards, distance, plan, recipe, memory, has_ids)
    names = ["fingerprint", "id"] if has_ids else ["fingerprint"]

    def number(batch: pa.Table) -> pa.Table:
        return batch.select(names).append_column(
            "shard", pa.array(shard_numbers(_column(batch, "fingerprint"), shards).astype(np.int64))
        )

    def build(group: pa.Table) -> pa.Table:
        part = (_column(group, "fingerprint"), _column(group, "id") if has_ids else None)
        return pa.table({"shard": pa.array(list(work.build([part])), pa.string())})

    rows = _map(ds, number).groupby("shard", num_partitions=shards).map_groups(build, batch_format="pyarrow").take_all()
    return work.finish(row["shard"] for row in rows)


def query_shards(
    ds: Dataset,
    path: str,
    *,
    distance: Optional[int] = None,
    max_broadcast: int = _MAX_BROADCAST,
    storage_options: Optional[dict[str, Any]] = None,
) -> Dataset:
    """All records of all shards within a distance of each fingerprint of a Dataset, each once.

    As sstore.spark.query_shards(), of a Dataset. Workers keep the stores open between tasks.
    """
    import ray

    shards = Place(path, storage_options).read()
    near = shards.distance if distance is None else distance
    queries = _fingerprints(ds, "query_shards")
    count = queries.count()
    if count <= max_broadcast:
        wanted = _distinct(queries)
        parts = [ray.put(pa.table({"fingerprint": part})) for part in np.array_split(wanted, len(wanted) // _ROWS + 1)]
    else:
        parts = _distinct_parts(queries, count // _ROWS + 1).to_arrow_refs()
    tasks = [{"number": number, "part": part} for number in range(len(shards.shards)) for part in range(len(parts))]
    if not tasks:
        return ray.data.from_arrow(_match_table())

    def query(rows: pa.Table) -> Iterator[pa.Table]:
        yield _match_table()
        for number, part in zip(rows.column("number").to_pylist(), rows.column("part").to_pylist()):
            wanted = _column(ray.get(parts[part]), "fingerprint")
            store = open_shard(Place(path, storage_options), shards.shards[number])
            for found in store.iter_query_batch(wanted, near, threads=1):
                yield _match_table(wanted[found.query], found.fingerprint, found.columns.get("id"), found.distance)

    return _map(ray.data.from_items(tasks, override_num_blocks=len(tasks)), query, batch_size=None)


_NONE: Words = np.empty(0, np.uint64)


def _match_table(
    queries: Words = _NONE, fingerprints: Words = _NONE, ids: Optional[Words] = None, distances: Any = _NONE
) -> pa.Table:
    return pa.table(
        {
            "query": queries,
            "fingerprint": fingerprints,
            "id": pa.nulls(len(queries), pa.uint64()) if ids is None else ids,
            "distance": distances.astype(np.uint32, copy=False),
        }
    )


def near_pairs(
    ds: Dataset,
    distance: int = 3,
    *,
    spanning: bool = False,
    partitions: Optional[int] = None,
    crowd: int = _CROWD,
) -> Dataset:
    """Every pair of different records of a Dataset within a distance, once, without a store.

    As sstore.spark.near_pairs(), of a Dataset.
    """
    if not _has_ids(ds, "near_pairs"):
        raise ArgumentError('near_pairs: expected a column "id"')

    ds = _map(ds.select_columns(["fingerprint", "id"]), lambda batch: batch.drop_null())

    def count(batch: pa.Table) -> pa.Table:
        counts = _tasks.count_keys(_column(batch, "fingerprint"), distance)
        return pa.table({"counts": pa.array([counts.reshape(-1)])})

    counts = np.zeros((distance + 1, _tasks.BUCKETS), np.int64)
    for batch in _map(ds, count).iter_batches(batch_format="pyarrow", batch_size=1):
        counts += np.asarray(batch.column("counts")[0].as_py(), np.int64).reshape(counts.shape)
    parts = _tasks.parts_of(counts, crowd)
    tasks = partitions or int((counts * parts).sum()) // (2 * _ROWS) + 1

    def explode(batch: pa.Table) -> Iterator[pa.Table]:
        fingerprints, ids = _column(batch, "fingerprint"), _column(batch, "id")
        for cells in _tasks.make_cells(fingerprints, ids, distance, parts):
            yield pa.table({_TASK: (cells.cell % np.uint64(tasks)).astype(np.int64), **cells.columns()})

    def join(group: pa.Table) -> pa.Table:
        cells = _tasks.Cells(**{name: np.asarray(group.column(name)) for name in _tasks.Cells.__dataclass_fields__})
        found = [pairs.to_arrow() for pairs in _tasks.join_cells(cells, distance, spanning, _ROWS)]
        nothing = dict.fromkeys(("fingerprint", "id", "other_fingerprint", "other_id"), _NONE)
        return pa.concat_tables([pa.table({**nothing, "distance": np.empty(0, np.uint32)}), *found])

    return _by_task(_map(ds, explode, batch_size=_ROWS // 8), tasks, join)


def clusters(pairs: Dataset, *, max_local_edges: int = _MAX_LOCAL_EDGES) -> Dataset:
    """The connected components of pairs. Columns: id and cluster, the smallest id of the component.

    As sstore.spark.clusters(), of a Dataset. With more than max_local_edges pairs, a task holds all edges of its nodes:
    32 bytes for each member of the largest component.
    """
    import ray

    edges = _map(pairs.select_columns(["id", "other_id"]), lambda batch: batch.drop_null()).materialize()
    count = edges.count()
    if count > max_local_edges:
        return _connect(edges, count // _ROWS + 1)

    @ray.remote(num_returns="streaming")  # type: ignore[untyped-decorator]
    def connect(parts: Any) -> Iterator[pa.Table]:
        tables = map(ray.get, parts)
        yield _edge_table(_NONE, _NONE).rename_columns(["id", "cluster"])
        for found in components(((_column(t, "id"), _column(t, "other_id")) for t in tables), threads=1):
            yield _edge_table(found.node, found.smallest).rename_columns(["id", "cluster"])

    return ray.data.from_arrow_refs(list(connect.remote(edges.to_arrow_refs())))


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
    distance: int = 3,
    *,
    keep: Optional[str] = None,
    partitions: Optional[int] = None,
    max_local_edges: int = _MAX_LOCAL_EDGES,
) -> Dataset:
    """The rows of a Dataset without near-duplicates: of each cluster one row is kept.

    As sstore.spark.deduplicate(), of a Dataset.
    """
    schema = ds.schema()
    if schema is None:
        return ds
    found = clusters(near_pairs(ds, distance, spanning=True, partitions=partitions), max_local_edges=max_local_edges)
    kind = schema.base_schema.field("id").type
    tasks = partitions or max(ds.count() // _ROWS, 1)

    def as_given(batch: pa.Table) -> pa.Table:
        nodes = np.asarray(batch.column("id").combine_chunks())
        ids = pa.array(nodes.view(np.int64) if kind == pa.int64() else nodes)
        return pa.table({"id": ids, _NOTE: batch.column("cluster")})

    members = _map(found, as_given, batch_size=None)
    if keep is not None:
        members = _with_notes(ds.select_columns(["id", keep]), members, tasks, is_in=True)
    order = [(keep or "id", "ascending"), *([("id", "ascending")] if keep is not None else [])]

    def losers(cluster: pa.Table) -> pa.Table:
        return cluster.sort_by(order).select(["id", _NOTE]).slice(1)

    dropped = members.groupby(_NOTE, num_partitions=tasks).map_groups(losers, batch_format="pyarrow")
    return _with_notes(ds, dropped, tasks, is_in=False).select_columns(list(schema.names))


def _with_notes(ds: Dataset, notes: Dataset, tasks: int, is_in: bool) -> Dataset:
    """The rows of a Dataset whose ids have a note, with the note; or those whose ids have none. Ray's own join needs
    polars, which workers may not have."""

    schema = ds.schema()
    assert schema is not None
    fields = [*schema.base_schema, pa.field(_NOTE, pa.uint64())]

    def assign(batch: pa.Table) -> pa.Table:
        columns = {
            field.name: batch.column(field.name)
            if field.name in batch.column_names
            else pa.nulls(len(batch), field.type)
            for field in fields
        }
        return pa.table({**columns, _TASK: _task_of(_column(batch, "id"), tasks)})

    def select(group: pa.Table) -> pa.Table:
        import pyarrow.compute as pc

        noted = pc.is_valid(group.column(_NOTE))
        rows, found = group.filter(pc.invert(noted)), group.filter(noted)
        at = pc.index_in(rows.column("id"), value_set=found.column("id"))
        rows = rows.set_column(rows.schema.get_field_index(_NOTE), _NOTE, found.column(_NOTE).take(at))
        return rows.filter(pc.is_valid(at) if is_in else pc.is_null(at)).drop_columns([_TASK])

    both = _map(ds, assign).union(_map(notes, assign))
    return _by_task(both, tasks, select)


def scan(ds: Dataset, queries: Dataset, distance: int = 3) -> Dataset:
    """The paper's batch job: a batch of queries in the memory of each task, and fingerprints that stream past it.

    As sstore.spark.scan(), of Datasets.
    """
    import ray

    has_ids = _has_ids(ds, "scan")
    wanted = ray.put(_distinct(_fingerprints(queries, "scan")))
    ds = _map(ds.select_columns(["fingerprint", "id"] if has_ids else ["fingerprint"]), lambda batch: batch.drop_null())

    def match(batch: pa.Table) -> pa.Table:
        ids = _column(batch, "id") if has_ids else None
        found = _matcher(wanted, distance).feed(_column(batch, "fingerprint"), ids)
        return _match_table(found.query, found.fingerprint, found.columns.get("id"), found.distance)

    return _map(ds, match)


@functools.lru_cache(maxsize=1)
def _matcher(queries: Any, distance: int) -> StreamMatcher:
    """Of a reference to queries. A worker keeps it between tasks."""
    import ray

    return StreamMatcher(ray.get(queries), distance, threads=1)
