"""sstore on a Ray cluster: shards, queries of all shards, near pairs and clusters of Datasets.

    import sstore.ray

    pairs = sstore.ray.near_pairs(ds, distance=3)        # ds has the columns fingerprint and id
    kept = sstore.ray.deduplicate(ds, distance=3)

Fingerprints and ids are uint64 or int64. Workers need this package. Ray schedules, moves and repeats the tasks; each
runs the library on its rows.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Optional

import numpy as np
import pyarrow as pa

from sstore import _tasks
from sstore._arrays import Words, words
from sstore._errors import ArgumentError
from sstore._join import components, shard_numbers
from sstore._shards import Place, Shard, Shards, open_shard
from sstore._stream import StreamMatcher
from sstore._write import Builder

if TYPE_CHECKING:
    from ray.data import Dataset

_ROWS = 1 << 20  # that a call of the library gets at once
_CROWD = 1_000_000


def _column(batch: pa.Table, name: str) -> Words:
    return words(batch.column(name), name)


def _has_ids(ds: Dataset, what: str) -> bool:
    schema = ds.schema()
    names = [] if schema is None else list(schema.names)
    if schema is not None and "fingerprint" not in names:
        raise ArgumentError(f'{what}: expected a column "fingerprint", found {", ".join(names)}')
    return "id" in names


def _distinct(ds: Dataset) -> Words:
    """The fingerprints of a Dataset, each once, without nulls."""
    found = [value for value in ds.select_columns(["fingerprint"]).unique("fingerprint") if value is not None]
    return words(found, "fingerprint")


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
    place = Place(path, storage_options)
    place.check_new(replace)
    has_ids = _has_ids(ds, "build_shards")
    names = ["fingerprint", "id"] if has_ids else ["fingerprint"]

    def number(batch: pa.Table) -> pa.Table:
        return batch.select(names).append_column(
            "shard", pa.array(shard_numbers(_column(batch, "fingerprint"), shards).astype(np.int64))
        )

    def build(group: pa.Table) -> pa.Table:
        if len(group) == 0:
            return pa.table({"shard": []})
        with tempfile.TemporaryDirectory(prefix="sstore-") as folder:
            local = f"{folder}/store"
            with Builder(
                local, distance=distance, plan=plan, with_ids=has_ids, recipe=recipe, memory=memory
            ) as builder:
                builder.add(_column(group, "fingerprint"), _column(group, "id") if has_ids else None)
            made = Place(path, storage_options).publish(local, int(group.column("shard")[0].as_py()), shards)
        return pa.table({"shard": [made.to_json()]})

    rows = _map(ds, number).groupby("shard", num_partitions=shards).map_groups(build, batch_format="pyarrow").take_all()
    found = sorted((Shard.from_json(row["shard"]) for row in rows), key=lambda shard: shard.number)
    made = Shards(shards, distance, recipe or "", has_ids, tuple(found))
    place.write(made)
    place.remove_others(made)
    return made


def query_shards(
    ds: Dataset, path: str, *, distance: Optional[int] = None, storage_options: Optional[dict[str, Any]] = None
) -> Dataset:
    """All records of all shards within a distance of each fingerprint of a Dataset, each once.

    As sstore.spark.query_shards(), of a Dataset. Each batch of queries is sent to each shard.
    """
    import ray

    shards = Place(path, storage_options).read()
    near = shards.distance if distance is None else distance
    _has_ids(ds, "query_shards")
    wanted = np.sort(_distinct(ds))
    batches = [ray.put(wanted[begin : begin + _ROWS]) for begin in range(0, len(wanted), _ROWS)]
    tasks = [
        {"number": number, "batch": batch} for number in range(len(shards.shards)) for batch in range(len(batches))
    ]

    def query(rows: pa.Table) -> Iterator[pa.Table]:
        for number, batch in zip(rows.column("number").to_pylist(), rows.column("batch").to_pylist()):
            part = ray.get(batches[batch])
            store = open_shard(Place(path, storage_options), shards.shards[number])
            for found in store.iter_query_batch(part, near, threads=1):
                yield _table({"query": part[found.query], **_match_columns(found)})

    if not tasks:
        return ray.data.from_arrow(_table({"query": [], "fingerprint": [], "id": [], "distance": []}))
    return _map(ray.data.from_items(tasks, override_num_blocks=len(tasks)), query, batch_size=None)


def _match_columns(found: Any) -> dict[str, Any]:
    ids = found.columns.get("id")
    return {
        "fingerprint": found.fingerprint,
        "id": pa.nulls(len(found), pa.uint64()) if ids is None else ids,
        "distance": found.distance,
    }


def _table(columns: dict[str, Any]) -> pa.Table:
    return pa.table(columns)


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
    tasks = np.uint64(partitions or int((counts * parts).sum()) // (2 * _ROWS) + 1)

    def explode(batch: pa.Table) -> Iterator[pa.Table]:
        fingerprints, ids = _column(batch, "fingerprint"), _column(batch, "id")
        for cells in _tasks.make_cells(fingerprints, ids, distance, parts):
            yield pa.table({"task": (cells.cell % tasks).astype(np.int64), **cells.columns()})

    def join(group: pa.Table) -> pa.Table:
        cells = _tasks.Cells(**{name: np.asarray(group.column(name)) for name in _tasks.Cells.__dataclass_fields__})
        found = [pairs.to_arrow() for pairs in _tasks.join_cells(cells, distance, spanning, _ROWS)]
        nothing = {name: np.empty(0, np.uint64) for name in ("fingerprint", "id", "other_fingerprint", "other_id")}
        return pa.concat_tables([pa.table({**nothing, "distance": np.empty(0, np.uint32)}), *found])

    cells = _map(ds, explode, batch_size=_ROWS // 8)
    return cells.groupby("task", num_partitions=int(tasks)).map_groups(join, batch_format="pyarrow")


def clusters(pairs: Dataset) -> Dataset:
    """The connected components of pairs, by one task, out of core. Columns: id and cluster, the smallest id of each.

    As sstore.spark.clusters(), of a Dataset.
    """
    import ray

    @ray.remote  # type: ignore[untyped-decorator]
    def connect(edges: Any) -> Any:
        batches = edges.iter_batches(batch_format="pyarrow", batch_size=_ROWS)
        parts = ((_column(batch, "id"), _column(batch, "other_id")) for batch in batches)
        found = [pa.table({"id": part.node, "cluster": part.smallest}) for part in components(parts)]
        nothing = pa.table({"id": np.empty(0, np.uint64), "cluster": np.empty(0, np.uint64)})
        return pa.concat_tables([nothing, *found])

    return ray.data.from_arrow_refs([connect.remote(pairs.select_columns(["id", "other_id"]))])


def deduplicate(
    ds: Dataset, distance: int = 3, *, keep: Optional[str] = None, partitions: Optional[int] = None
) -> Dataset:
    """The rows of a Dataset without near-duplicates: of each cluster one row is kept.

    As sstore.spark.deduplicate(), of a Dataset.
    """
    schema = ds.schema()
    if schema is None:
        return ds
    found = clusters(near_pairs(ds, distance, spanning=True, partitions=partitions))
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


_NOTE, _TASK = "__sstore_cluster", "__sstore_task"


def _with_notes(ds: Dataset, notes: Dataset, tasks: int, is_in: bool) -> Dataset:
    """The rows of a Dataset whose ids have a note, with the note; or those whose ids have none. Ray's own join needs
    polars, which workers may not have."""

    schema = ds.schema()
    assert schema is not None
    fields = [*schema.base_schema, pa.field(_NOTE, pa.uint64())]

    def assign(batch: pa.Table) -> pa.Table:
        numbers = _tasks.mixed(_column(batch, "id")) % np.uint64(tasks)
        columns = {
            field.name: batch.column(field.name)
            if field.name in batch.column_names
            else pa.nulls(len(batch), field.type)
            for field in fields
        }
        return pa.table({**columns, _TASK: numbers.astype(np.int64)})

    def select(group: pa.Table) -> pa.Table:
        import pyarrow.compute as pc

        noted = pc.is_valid(group.column(_NOTE))
        rows, found = group.filter(pc.invert(noted)), group.filter(noted)
        at = pc.index_in(rows.column("id"), value_set=found.column("id"))
        rows = rows.set_column(rows.schema.get_field_index(_NOTE), _NOTE, found.column(_NOTE).take(at))
        return rows.filter(pc.is_valid(at) if is_in else pc.is_null(at)).drop_columns([_TASK])

    both = _map(ds, assign).union(_map(notes, assign))
    return both.groupby(_TASK, num_partitions=tasks).map_groups(select, batch_format="pyarrow")


def scan(ds: Dataset, queries: Dataset, distance: int = 3) -> Dataset:
    """The paper's batch job: a batch of queries in the memory of each task, and fingerprints that stream past it.

    As sstore.spark.scan(), of Datasets.
    """
    import ray

    has_ids = _has_ids(ds, "scan")
    _has_ids(queries, "scan")
    wanted = ray.put(_distinct(queries))

    ds = _map(ds.select_columns(["fingerprint", "id"] if has_ids else ["fingerprint"]), lambda batch: batch.drop_null())

    def match(batch: pa.Table) -> pa.Table:
        matcher = StreamMatcher(ray.get(wanted), distance, threads=1)
        found = matcher.feed(_column(batch, "fingerprint"), _column(batch, "id") if has_ids else None)
        return _table({"query": found.query, **_match_columns(found)})

    return _map(ds, match)
