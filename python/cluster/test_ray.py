"""The functions of sstore.ray on two nodes: the answers of brute force and of one store, also while workers die."""

from __future__ import annotations

import datetime
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import brute
import brute_wide
import numpy as np
import pytest
from machines import RayCluster, while_killing

ray = pytest.importorskip("ray")
pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")
COUNT = 4000
EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"


class Data:
    """Clustered records, as arrays and as a Dataset."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.fps = np.concatenate([brute.clustered(rng, COUNT - 50), np.full(50, 77, np.uint64)])
        self.ids = rng.permutation(COUNT).astype(np.uint64) * np.uint64(3)
        self.ds = self.frame({"fingerprint": self.fps, "id": self.ids, "text": self.ids.astype(str)})
        self.queries = np.concatenate([self.fps[:200], brute.clustered(rng, 50), self.fps[:10]])

    @staticmethod
    def frame(columns: dict[str, Any]) -> Any:
        table = pyarrow.table(columns)
        return ray.data.from_arrow([table.slice(0, 1000), table.slice(1000, 1500), table.slice(2500)])

    def expected_matches(self) -> list[tuple[int, ...]]:
        return sorted(
            (int(q), *row) for q in np.unique(self.queries) for row in brute.brute_query(self.fps, self.ids, q, 3)
        )


@pytest.fixture
def data(ray_cluster: RayCluster, rng: np.random.Generator) -> Data:
    return Data(rng)


def matches(ds: Any) -> list[tuple[Any, ...]]:
    return sorted((row["query"], row["distance"], row["fingerprint"], row["id"]) for row in ds.take_all())


def pairs_of_texts(ds: Any) -> list[tuple[Any, ...]]:
    names = ("fingerprint", "id", "other_fingerprint", "other_id")
    return brute.sorted_pairs([tuple(row[name] for name in names) for row in ds.take_all()])


@pytest.fixture(params=["undisturbed", "killed"])
def run(request: pytest.FixtureRequest, ray_cluster: RayCluster) -> Callable[[Callable[[], Any]], Any]:
    """Does some work; in a second test, a worker is killed meanwhile."""
    if request.param == "undisturbed":
        return lambda work: work()
    return lambda work: while_killing(work, ray_cluster.busy)


def test_shards(data: Data, run: Any, tmp_path: pathlib.Path) -> None:
    import sstore.ray

    def build() -> Any:
        return sstore.ray.build_shards(data.ds, str(tmp_path / f"shards-{len(os.listdir(tmp_path))}"), 3, distance=3)

    made = run(build)
    path = str(tmp_path / f"shards-{len(os.listdir(tmp_path)) - 1}")
    assert sum(shard.record_count for shard in made.shards) == COUNT and len(made.shards) == 3
    records = [sstore.open(f"{path}/{shard.folder}").records() for shard in made.shards]
    found = sorted((f, i) for table in records for f, i in zip(table.fingerprint.tolist(), table.id.tolist()))
    assert found == sorted(zip(data.fps.tolist(), data.ids.tolist()))
    assert sorted(entry.name for entry in pathlib.Path(path).iterdir()) == sorted(
        ["shards.json", *(shard.folder for shard in made.shards)]
    )
    queries = data.frame({"fingerprint": data.queries})
    for options in ({}, {"max_broadcast": 10}):
        assert matches(run(lambda o=options: sstore.ray.query_shards(queries, path, **o))) == data.expected_matches()
    nothing = data.frame({"fingerprint": data.queries[:0]})
    assert matches(sstore.ray.query_shards(nothing, path)) == []


@pytest.mark.parametrize("crowd", [10**6, 200])
def test_near_pairs(data: Data, run: Any, crowd: int) -> None:
    import sstore.ray

    def work() -> list[tuple[int, ...]]:
        rows = sstore.ray.near_pairs(data.ds, 3, max_key_records=crowd, partitions=3).take_all()
        return [(r["fingerprint"], r["id"], r["other_fingerprint"], r["other_id"]) for r in rows]

    found = run(work)
    assert len(found) == len(set(found)) and set(found) == brute.brute_pairs(data.fps, data.ids, 3)


@pytest.mark.parametrize("max_local_edges", [10**9, 100])
def test_clusters(data: Data, run: Any, max_local_edges: int) -> None:
    import sstore.ray

    expected = brute.roots((a, b) for _, a, _, b in brute.brute_pairs(data.fps, data.ids, 3))
    spanning = sstore.ray.near_pairs(data.ds, 3, spanning=True, partitions=3)
    rows = run(lambda: sstore.ray.clusters(spanning, max_local_edges=max_local_edges).take_all())
    assert len(rows) == len(expected) and {row["id"]: row["cluster"] for row in rows} == expected


@pytest.mark.parametrize("max_local_edges", [1, 10**9])
def test_chains_loops_and_single_nodes(ray_cluster: RayCluster, max_local_edges: int, rng: np.random.Generator) -> None:
    import sstore.ray

    a, b = np.arange(40, dtype=np.uint64), np.arange(40, dtype=np.uint64) + np.uint64(1)
    b[30] = 30  # two chains, one of which ends in a loop
    a, b = np.append(a, [1000, 1000, 2000]), np.append(b, [1000, 1001, 2000])
    names = rng.permutation(3000).astype(np.uint64)
    edges = Data.frame({"id": names[a.astype(int)], "other_id": names[b.astype(int)]})
    rows = sstore.ray.clusters(edges, max_local_edges=max_local_edges).take_all()
    expected = brute.roots(zip(names[a.astype(int)].tolist(), names[b.astype(int)].tolist()))
    assert len(rows) == len(expected) and {row["id"]: row["cluster"] for row in rows} == expected


def test_full_disk(ray_cluster: RayCluster, server: dict[str, Any], rng: np.random.Generator) -> None:
    """Tasks without room on their disk name the shard. With room, the same calls succeed."""
    import sstore.ray

    path = "s3://bucket/full-disk-of-ray"
    fps = rng.integers(0, 1 << 64, 200_000, dtype=np.uint64)
    records, queries = Data.frame({"fingerprint": fps, "id": fps}), Data.frame({"fingerprint": fps[:3000]})
    wide = Data.frame({"fingerprint": pyarrow.array([row.tobytes() for row in np.stack([fps] * 4, axis=1)]), "id": fps})
    with ray_cluster.disk.full():
        with pytest.raises(Exception, match=r"FileError: .*sstore-.*space"):
            sstore.ray.near_pairs(wide, 10, partitions=2).count()
        with pytest.raises(Exception, match=r"FileError: .*full-disk-of-ray: shard . of 2: .*space"):
            sstore.ray.build_shards(records, path, 2, storage_options=server)
        with pytest.raises(sstore.NotFoundError, match="no shards here"):
            sstore.ray.query_shards(queries, path, storage_options=server)
    sstore.ray.build_shards(records, path, 2, storage_options=server)
    found = sstore.ray.query_shards(queries, path, distance=0, storage_options=server)
    with ray_cluster.disk.full():
        with pytest.raises(Exception, match=r"FileError: .*full-disk-of-ray/shard-.*space"):
            found.take_all()
    assert found.count() == 3000


def test_damaged_and_missing_shards(data: Data, tmp_path: pathlib.Path) -> None:
    import sstore.ray

    path = tmp_path / "shards"
    queries = data.frame({"fingerprint": data.queries})
    made = sstore.ray.build_shards(data.ds, str(path), 2)
    [table] = (path / made.shards[1].folder).rglob("table-00.blk")
    content = table.read_bytes()
    for wrong in (content[:-100], content[:5000] + bytes([content[5000] ^ 1]) + content[5001:]):
        table.write_bytes(wrong)
        with pytest.raises(Exception, match=f"DamagedError.*{made.shards[1].folder}"):
            sstore.ray.query_shards(queries, str(path), distance=16).take_all()
    table.unlink()
    with pytest.raises(Exception, match=f"DamagedError.*{made.shards[1].folder}.*it is missing"):
        sstore.ray.query_shards(queries, str(path)).take_all()
    waiting = sstore.ray.query_shards(queries, str(path))
    sstore.ray.build_shards(data.ds, str(path), 2, force=True)
    with pytest.raises(Exception, match="NotFoundError.*the shards were replaced meanwhile"):
        waiting.take_all()
    assert matches(sstore.ray.query_shards(queries, str(path))) == data.expected_matches()


@pytest.mark.parametrize("max_local_edges", [10**9, 100])
def test_deduplicate(data: Data, run: Any, max_local_edges: int) -> None:
    import sstore.ray

    expected = brute.roots((a, b) for _, a, _, b in brute.brute_pairs(data.fps, data.ids, 3))
    dropped = {node for node, root in expected.items() if node != root}
    options = {"partitions": 3, "max_local_edges": max_local_edges}
    rows = run(lambda: sstore.ray.deduplicate(data.ds, 3, **options).take_all())
    assert {row["id"] for row in rows} == set(data.ids.tolist()) - dropped
    assert len(rows) == COUNT - len(dropped) and all(row["text"] == str(row["id"]) for row in rows)


def test_keep_and_signed_ids(data: Data) -> None:
    import sstore.ray

    signed = data.ids.view(np.int64)
    ds = data.frame({"fingerprint": data.fps.view(np.int64), "id": signed, "score": -signed})
    expected = brute.roots((-a, -b) for _, a, _, b in brute.brute_pairs(data.fps, data.ids, 3))
    dropped = {-node for node, root in expected.items() if node != root}
    kept = sstore.ray.deduplicate(ds, 3, keep="score", partitions=2)
    assert {row["id"] for row in kept.take_all()} == set(data.ids.tolist()) - dropped
    assert kept.schema().names == ["fingerprint", "id", "score"]


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("has_texts", [False, True])
def test_orders(
    data: Data, run: Any, rng: np.random.Generator, descending: bool, strict: bool, has_texts: bool
) -> None:
    """The options of deduplicate(), with values of several types, of which some are equal, null or NaN; and with ids
    that are texts."""
    import sstore.ray

    scores = rng.integers(0, 50, COUNT)
    kind = str(rng.choice(["long", "string", "double", "date"]))
    made: dict[str, Any] = {"long": int, "string": "{:02}".format, "double": float, "date": datetime.date.fromordinal}
    values: list[Any] = [None if s < 5 else made[kind](int(s) + 1) for s in scores]
    if kind == "double":
        values = [float("nan") if s < 2 else value for s, value in zip(scores, values)]
    ids: list[Any] = data.ids.tolist()
    if has_texts:
        ids = [f"https://a.example/{i}?größe" for i in ids]  # in another order than the numbers
    ds = data.frame({"score": values, "fingerprint": data.fps, "id": ids})
    keys = [(s < 5, 0 if s < 5 else -s if descending else s, i) for s, i in zip(scores.tolist(), ids)]
    dropped = {ids[row] for row in brute_wide.brute_dropped(data.fps, keys, 3, strict)}
    options: Any = {"keep": "score", "descending": descending, "strict": strict, "partitions": 3}
    kept = run(lambda: sstore.ray.deduplicate(ds, 3, **options).take_all())
    assert {row["id"] for row in kept} == set(ids) - dropped and len(kept) == COUNT - len(dropped)
    assert all(list(row) == ["score", "fingerprint", "id"] for row in kept)


@pytest.mark.parametrize("kind", ["string", "binary"])
def test_text_ids(data: Data, run: Any, tmp_path: pathlib.Path, kind: str) -> None:
    """Ids that are texts: pairs, clusters and matches have them, and shards keep strings as names."""
    import sstore.ray

    texts = brute.texts_of(data.ids, kind)
    ds = data.frame({"fingerprint": data.fps, "id": list(texts.values())})
    expected = brute.brute_pairs(data.fps, data.ids, 3)
    found = run(lambda: pairs_of_texts(sstore.ray.near_pairs(ds, 3, partitions=3)))
    assert found == brute.named_pairs(expected, texts)
    roots = brute.roots((texts[a], texts[b]) for _, a, _, b in expected)
    for max_local_edges in (10**9, 100):
        near = sstore.ray.near_pairs(ds, 3, spanning=True, partitions=3)
        rows = run(lambda p=near, m=max_local_edges: sstore.ray.clusters(p, max_local_edges=m).take_all())
        assert len(rows) == len(roots) and {row["id"]: row["cluster"] for row in rows} == roots
    named = [(q, d, f, texts[i]) for q, d, f, i in data.expected_matches()]
    queries = data.frame({"fingerprint": data.queries})
    assert run(lambda: matches(sstore.ray.scan(ds, queries))) == sorted(named)
    path = str(tmp_path / "shards")
    if kind == "binary":
        with pytest.raises(TypeError, match="of int64, uint64 or strings, found binary"):
            sstore.ray.build_shards(ds, path, 3)
        return
    made = run(lambda: sstore.ray.build_shards(ds, path, 3, force=True))
    assert made.has_names and sum(shard.record_count for shard in made.shards) == COUNT
    for options in ({}, {"max_broadcast": 10}):
        found = run(lambda o=options: matches(sstore.ray.query_shards(queries, path, **o)))
        assert found == sorted(named)


def test_texts_of_one_hash() -> None:
    import sstore
    from sstore.ray import _Texts

    numbers = np.array([5, 7, 5, 5], np.uint64)
    for kind in (pyarrow.string(), pyarrow.binary()):
        texts = pyarrow.chunked_array([["a", "b"], ["a", "a"]]).cast(kind)
        assert _Texts("x", numbers, texts).of(numbers).equals(texts)
        assert len(_Texts("x", numbers[:0], texts[:0]).of(numbers[:0])) == 0
        with pytest.raises(sstore.ArgumentError, match="x: the ids b?'.' and b?'.' have the same hash; give numbers"):
            _Texts("x", numbers, pyarrow.chunked_array([["a", "b"], ["c", "a"]]).cast(kind))


def test_nulls(data: Data, tmp_path: pathlib.Path) -> None:
    """Rows without a fingerprint are left out of joins, and kept by deduplicate(); without a value, kept last."""
    import sstore.ray

    rows = [(1, 10, None), (1, 11, 5), (1, 12, 4), (None, 13, 1), (None, 14, 1), (1 << 40, 15, None)]
    columns = [pyarrow.array(column, pyarrow.int64()) for column in zip(*rows)]
    ds = data.frame(dict(zip(("fingerprint", "id", "the.score"), columns)))
    kept = sstore.ray.deduplicate(ds, 0, keep="the.score", partitions=2)
    assert sorted(row["id"] for row in kept.take_all()) == [12, 13, 14, 15]
    assert sstore.ray.near_pairs(ds, 3, partitions=2).count() == 6
    made = sstore.ray.build_shards(ds, str(tmp_path / "shards"), 3)
    assert sum(shard.record_count for shard in made.shards) == 4
    assert sstore.ray.query_shards(ds, str(tmp_path / "shards"), distance=0).count() == 4
    assert sstore.ray.scan(ds, ds, 0).count() == 4


def test_bad_rows(data: Data, tmp_path: pathlib.Path) -> None:
    """Null ids, and fingerprints of another length, are errors at the call, or left out and reported."""
    import sstore.ray

    longs = [(1, 10), (1, None), (3, 11), (None, None), (1 << 40, None)]
    wide = [(b"a" * 32, 10), (b"b" * 31, 12), (b"a" * 32, 11), (b"c" * 8, 13), (b"d" * 32, None)]
    path = str(tmp_path / "shards")
    for rows, kind, count, reasons in (
        (longs, "int64", 2, {"the id of the fingerprint 1 is null", "the id of the fingerprint 1099511627776 is null"}),
        (
            wide,
            "binary",
            3,
            {
                *(
                    f"id {n}: expected fingerprints of one length, 32 bytes like most, found {m}"
                    for n, m in ((12, 31), (13, 8))
                ),
                f"the id of the fingerprint 0x{'64' * 32} is null",
            },
        ),
    ):
        columns = [pyarrow.array(column, name) for column, name in zip(zip(*rows), (kind, "int64"))]
        table = pyarrow.table(dict(zip(("fingerprint", "id"), columns)))
        ds, good = ray.data.from_arrow([table[:2], table[2:]]), ray.data.from_arrow(table[:1])
        for call in (
            lambda ds, **o: sstore.ray.near_pairs(ds, 3, partitions=2, **o),
            lambda ds, **o: sstore.ray.deduplicate(ds, 0, partitions=2, **o),
            lambda ds, **o: sstore.ray.scan(ds, good, **o),  # noqa: B023
            lambda ds, **o: sstore.ray.build_shards(ds, path, 2, force=True, **o),
        ):
            with pytest.raises(sstore.ArgumentError, match=rf"(null|like most).*bad rows: {count}; skip_bad=True"):
                call(ds)
            bad = sstore.BadRows()
            found = call(ds, skip_bad=bad)
            assert bad.count == count and {reason for _, reason in bad.rows} == reasons
        assert sum(shard.record_count for shard in found.shards) == 2
        bad = sstore.BadRows(keep=1)
        assert sstore.ray.near_pairs(ds, 3, partitions=2, skip_bad=bad).count() == 1
        assert bad.count == count and len(bad.rows) == 1
        kept = sstore.ray.deduplicate(ds, 3, partitions=2, skip_bad=bad).take_all()
        assert sorted(row["id"] or 0 for row in kept) == sorted(i or 0 for _, i in rows if i != 11)
    assert sstore.ray.query_shards(ds.drop_columns(["id"]), path, distance=0, skip_bad=bad).count() == 2


def test_repeated_and_null_ids(data: Data) -> None:
    import sstore.ray

    ds = data.frame({"fingerprint": [1, 5 << 40, 1 << 50], "id": [3, 4, 3]})
    with pytest.raises(Exception, match="expected different ids, found the id 3"):
        sstore.ray.deduplicate(ds, 0, partitions=2).take_all()
    with pytest.raises(Exception, match="expected different ids, found the id b"):
        ds = ray.data.from_arrow(pyarrow.table({"fingerprint": [1, 5 << 40], "id": ["b", "b"]}))
        sstore.ray.deduplicate(ds, 0, partitions=2).take_all()
    texts = pyarrow.array(["b", None, "a"], pyarrow.large_string())
    ds = ray.data.from_arrow(pyarrow.table({"fingerprint": [1, 1, 1], "id": texts}))
    kept = sstore.ray.deduplicate(ds, 0, partitions=1, skip_bad=sstore.BadRows())
    assert sorted(row["id"] or "" for row in kept.take_all()) == ["", "a"]
    nulls = pyarrow.array([None, None, 5], pyarrow.int64())
    kept = sstore.ray.deduplicate(data.frame({"fingerprint": nulls, "id": nulls}), 0, partitions=2)
    assert sorted(row["id"] or 0 for row in kept.take_all()) == [0, 0, 5]
    for name in ("__sstore_cluster", "__sstore_task"):
        with pytest.raises(sstore.ArgumentError, match="reserved name"):
            sstore.ray.deduplicate(data.frame({"fingerprint": [1], "id": [1], name: [1]}))


def test_no_rows(ray_cluster: RayCluster, tmp_path: pathlib.Path) -> None:
    import sstore.ray

    nothing = pyarrow.table(
        {"fingerprint": pyarrow.array([], pyarrow.int64()), "id": pyarrow.array([], pyarrow.int64())}
    )
    nulls = pyarrow.table({"fingerprint": pyarrow.array([None], pyarrow.int64()), "id": [7]})
    texts = nulls.set_column(1, "id", [["a"]])
    for number, table in enumerate((nothing, nulls, texts[:0], texts)):
        ds, path = ray.data.from_arrow(table), str(tmp_path / f"shards-{number}")
        assert sstore.ray.near_pairs(ds, 3).take_all() == []
        for max_local_edges in (10, 0):
            pairs = sstore.ray.near_pairs(ds, 3)
            assert sstore.ray.clusters(pairs, max_local_edges=max_local_edges).take_all() == []
        assert sstore.ray.deduplicate(ds, 3).count() == len(table)
        assert sstore.ray.scan(ds, ds).take_all() == []
        assert sstore.ray.build_shards(ds, path, 2).shards == ()
        assert sstore.ray.query_shards(ds, path).take_all() == []


def test_pandas_blocks(data: Data) -> None:
    import sstore.ray

    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"fingerprint": [1, 1, 2 << 40], "id": [5, 6, 7], "text": ["a", "b", "c"]})
    kept = sstore.ray.deduplicate(ray.data.from_pandas(frame), 0, partitions=1).take_all()
    assert sorted((row["id"], row["text"]) for row in kept) == [(5, "a"), (7, "c")]


def test_scan(data: Data, run: Any) -> None:
    import sstore.ray

    queries = data.frame({"fingerprint": data.queries})
    assert run(lambda: matches(sstore.ray.scan(data.ds, queries, 3))) == data.expected_matches()


@pytest.mark.parametrize("distance", [2, 20])
def test_wide_pairs(ray_cluster: RayCluster, run: Any, rng: np.random.Generator, distance: int) -> None:
    """Pairs of binary of 32 bytes, all in one task, and sent by keys or in parts; their clusters; and what is left."""
    import sstore.ray

    fps = brute_wide.skewed(rng, COUNT, 4)
    ids = rng.permutation(COUNT).astype(np.uint64)
    strings = [row.tobytes() for row in brute_wide.bytes_of(fps)]
    expected = brute_wide.brute_pairs(fps, ids, distance)
    for kind, options in ((pyarrow.binary(), {}), (pyarrow.binary(32), {"max_key_records": 1000})):
        ds = Data.frame({"fingerprint": pyarrow.array(strings, kind), "id": ids})
        found = run(lambda d=ds, o=options: sstore.ray.near_pairs(d, distance, partitions=3, **o).take_all())
        rows = [
            (
                int.from_bytes(row["fingerprint"], "big"),
                row["id"],
                int.from_bytes(row["other_fingerprint"], "big"),
                row["other_id"],
                row["distance"],
            )
            for row in found
        ]
        assert len(rows) == len(expected) and set(rows) == expected
        spanning = sstore.ray.near_pairs(ds, distance, spanning=True, partitions=3, **options)
        clusters = {row["id"]: row["cluster"] for row in sstore.ray.clusters(spanning).take_all()}
        assert clusters == brute.roots((row[1], row[3]) for row in expected)
    kept = [row["id"] for row in sstore.ray.deduplicate(ds, distance, partitions=3).take_all()]
    assert sorted(kept) == sorted(set(range(COUNT)) - {node for node, root in clusters.items() if node != root})
    assert sstore.ray.near_pairs(ds.limit(0), distance).count() == 0


def test_wide_fingerprints(ray_cluster: RayCluster, rng: np.random.Generator, tmp_path: pathlib.Path) -> None:
    """Binary of 32 bytes: shards, queries of them and scans give the answers of brute force."""
    import sstore.ray

    fps = brute_wide.skewed(rng, COUNT, 4)
    strings = [row.tobytes() for row in brute_wide.bytes_of(fps)]
    ids = np.arange(COUNT, dtype=np.uint64)
    expected = sorted(
        (query, *row)
        for query, place in {brute_wide.number(fps[i]): i for i in range(50)}.items()
        for row in brute_wide.brute_query(fps, ids, fps[place], 20)
    )
    for number, kind in enumerate((pyarrow.binary(), pyarrow.binary(32))):
        path = str(tmp_path / f"shards{number}")
        ds = Data.frame({"fingerprint": pyarrow.array(strings, kind), "id": ids})
        queries = ray.data.from_arrow(pyarrow.table({"fingerprint": pyarrow.array(strings[:50] * 2, kind)}))
        made = sstore.ray.build_shards(ds, path, 3, distance=20)
        assert made.bits == 256 and sum(shard.record_count for shard in made.shards) == COUNT
        found = [sstore.ray.query_shards(queries, path, **options) for options in ({}, {"max_broadcast": 10})]
        for answer in (*found, sstore.ray.scan(ds, queries, 20)):
            rows = [
                (
                    int.from_bytes(row["query"], "big"),
                    row["distance"],
                    int.from_bytes(row["fingerprint"], "big"),
                    row["id"],
                )
                for row in answer.take_all()
            ]
            assert sorted(rows) == expected
    numbers = ray.data.from_arrow(pyarrow.table({"fingerprint": [5]}))
    for call, text in (
        (lambda: sstore.ray.near_pairs(ds, 65), "distance: expected 0 to 64, found 65"),
        (lambda: sstore.ray.query_shards(numbers, path), "expected fingerprints of 256 bits, found 64 bits"),
        (lambda: sstore.ray.query_shards(queries, path, distance=257), "0 to 256"),
    ):
        with pytest.raises(sstore.ArgumentError, match=text):
            call()


def test_texts(ray_cluster: RayCluster, rng: np.random.Generator, tmp_path: pathlib.Path) -> None:
    """Fingerprints of texts are those of simhash() and minhash(), and a similarity is the distance that finds it."""
    import sstore.ray

    words = [f"w{i}" for i in range(40)]
    texts: list[Any] = [" ".join(rng.choice(words, 30)) for _ in range(100)]
    texts += [f"{text} {rng.choice(words)}" for text in texts[:60]] + [None, "", "..."]
    columns = {"id": np.arange(len(texts)), "body": texts, "more": [[i] for i in range(len(texts))]}
    ds = ray.data.from_arrow([pyarrow.table(columns).slice(begin, 60) for begin in (0, 60, 120)])
    numbers = sstore.simhash([text or "" for text in texts], "chars").tolist()
    for row in sstore.ray.fingerprint(ds, "body", features="chars").take_all():
        assert row["fingerprint"] == (None if row["id"] in (160, 161) else numbers[row["id"]])
        assert (row["body"], list(row["more"])) == (texts[row["id"]], [row["id"]])
    how: dict[str, Any] = {"hash": "minhash", "bits": 512, "shingle": 1}
    made = sstore.ray.fingerprint(ds, "body", **how).select_columns(["id", "fingerprint"]).materialize()
    fps = sstore.minhash(texts[:160], shingle=1, bits=512).astype(">u8")
    found = {row["id"]: row["fingerprint"] for row in made.take_all()}
    assert found == {i: fps[i].tobytes() if i < 160 else None for i in range(len(texts))}
    near, path = sstore.minhash_distance(0.7, 512, recall=0.9), str(tmp_path / "shards")
    wished: dict[str, Any] = {"similarity": 0.7, "recall": 0.9}
    recipe = sstore.text_recipe(**how)
    shards = sstore.ray.build_shards(made, path, 2, recipe=recipe, **wished)
    assert (shards.distance, shards.bits, shards.recipe) == (near, 512, recipe)
    some = made.limit(40)
    for call in (
        lambda **o: sstore.ray.near_pairs(made, partitions=2, **o),
        lambda **o: sstore.ray.deduplicate(made, partitions=2, **o),
        lambda **o: sstore.ray.deduplicate(made, partitions=2, strict=True, **o),
        lambda **o: sstore.ray.scan(made, some, **o),
        lambda **o: sstore.ray.query_shards(some, path, **o),
    ):
        by_similarity, by_distance = (
            sorted(str(list(row.values())) for row in call(**o).take_all()) for o in (wished, {"distance": near})
        )
        assert by_similarity == by_distance and len(by_similarity) > 40
        for options, text in (
            ({"similarity": 0.7, "distance": 3}, "similarity: cannot be combined with distance"),
            ({"recall": 0.7}, "recall: only with similarity="),
            ({"similarity": 0.3}, "of 512 bits it can be at most 128"),
        ):
            with pytest.raises(sstore.ArgumentError, match=text):
                call(**options)
    for call, error, text in (
        (lambda: sstore.ray.fingerprint(ds), sstore.ArgumentError, 'expected a column "text", found id, body'),
        (lambda: sstore.ray.fingerprint(ds, "more"), TypeError, "'more' of strings, found "),
        (
            lambda: sstore.ray.fingerprint(ds.rename_columns({"more": "fingerprint"}), "body"),
            sstore.ArgumentError,
            'there is a column "fingerprint"',
        ),
        (lambda: sstore.ray.fingerprint(ds, "body", bits=256), sstore.ArgumentError, "expected 64 or 128"),
    ):
        with pytest.raises(error, match=text):
            call()


def test_wrong_columns(data: Data) -> None:
    import sstore.ray

    for call, text in (
        (lambda: sstore.ray.near_pairs(data.ds.drop_columns(["fingerprint"])), 'column "fingerprint"'),
        (lambda: sstore.ray.near_pairs(data.ds.drop_columns(["id"])), 'column "id"'),
    ):
        with pytest.raises(sstore.ArgumentError, match=text):
            call()
    for call, text in (
        (lambda: sstore.ray.near_pairs(data.ds, 17), "distance: expected 0 to 16, found 17"),
        (lambda: sstore.ray.near_pairs(data.ds, max_key_records=0), "max_key_records: expected at least 1"),
        (lambda: sstore.ray.near_pairs(data.ds, partitions=0), "partitions: expected at least 1"),
        (lambda: sstore.ray.deduplicate(data.ds, keep="nothing"), 'expected a column "nothing"'),
        (lambda: sstore.ray.scan(data.ds, data.ds, -1), "distance: expected 0 to 16, found -1"),
        (lambda: sstore.ray.build_shards(data.ds, "/nowhere", 0), "shards: expected at least 1"),
        (lambda: sstore.ray.build_shards(data.ds, "/nowhere", 1, memory="1X"), "memory: expected a size"),
    ):
        with pytest.raises(sstore.ArgumentError, match=text):
            call()
    with pytest.raises(TypeError, match="'id' of int64, uint64 or texts, found double"):
        sstore.ray.scan(data.frame({"fingerprint": data.fps, "id": data.ids.astype(float)}), data.ds)


def test_example(ray_cluster: RayCluster, tmp_path: pathlib.Path) -> None:
    """The job removes near-duplicates of documents, and keeps those without words."""
    texts: list[Any] = [" ".join(str(n // 2 * 1000 + word) for word in range(30)) for n in range(60)]
    table = pyarrow.table({"key": range(100, 163), "text": [*texts, "", "!", None], "n": range(63)})
    pyarrow.parquet.write_table(table, tmp_path / "in.parquet")
    ran = subprocess.run(
        [sys.executable, EXAMPLES / "ray_job.py", tmp_path / "in.parquet", tmp_path / "out", "--id", "key"],
        capture_output=True,
        text=True,
        env={**os.environ, "RAY_ADDRESS": ray_cluster.cluster.address},
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert ran.stdout.splitlines()[-1] == "63 documents, 33 kept"
    rows = pyarrow.parquet.read_table(tmp_path / "out").sort_by("key")
    assert rows["key"].to_pylist() == [*range(100, 160, 2), 160, 161, 162]
    assert rows["n"].to_pylist() == [*range(0, 60, 2), 60, 61, 62]
    pyarrow.parquet.write_table(pyarrow.table({"key": [1, None], "text": ["a", "b"]}), tmp_path / "nulls.parquet")
    for source, target, text in (
        ("in.parquet", "out", "OUTPUT .*out: it exists"),
        ("nulls.parquet", "new", "--id key: a document has none"),
    ):
        command = [*ran.args[:2], tmp_path / source, tmp_path / target, "--id", "key"]
        environment = {**os.environ, "RAY_ADDRESS": ray_cluster.cluster.address}
        wrong = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert wrong.returncode == 2 and re.search(text, wrong.stderr) and not (tmp_path / "new").exists()


def test_object_storage(data: Data, run: Any, server: dict[str, Any]) -> None:
    import sstore.ray

    path = "s3://bucket/shards-of-ray"
    run(lambda: sstore.ray.build_shards(data.ds, path, 2, force=True, storage_options=server))
    queries = data.frame({"fingerprint": data.queries})
    assert matches(sstore.ray.query_shards(queries, path, storage_options=server)) == data.expected_matches()
