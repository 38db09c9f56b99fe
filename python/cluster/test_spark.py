"""The functions of sstore.spark on a cluster: the answers of brute force and of one store, also while executors die."""

from __future__ import annotations

import datetime
import os
import pathlib
import re
import signal
import subprocess
from collections.abc import Callable
from typing import Any

import brute
import brute_wide
import numpy as np
import pytest
from machines import SparkCluster, while_killing, while_stopping

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyspark")
MASK = (1 << 64) - 1
COUNT = 4000
EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"


class Data:
    """Clustered records, as arrays and as a DataFrame."""

    def __init__(self, cluster: SparkCluster, rng: np.random.Generator) -> None:
        self.fps = np.concatenate([brute.clustered(rng, COUNT - 50), np.full(50, 77, np.uint64)])
        self.ids = rng.permutation(COUNT).astype(np.uint64) * np.uint64(3)
        self.session = cluster.session
        self.df = self.frame({"fingerprint": self.fps, "id": self.ids, "text": self.ids.astype(str)}).repartition(5)
        self.queries = np.concatenate([self.fps[:200], brute.clustered(rng, 50), self.fps[:10]])

    def frame(self, columns: dict[str, Any]) -> Any:
        words = {n: c.view(np.int64) if c.dtype == np.uint64 else c for n, c in columns.items()}
        return self.session.createDataFrame(pandas.DataFrame(words))

    def expected_matches(self, distance: int = 3) -> list[tuple[int, ...]]:
        return sorted(
            (int(q), *row)
            for q in np.unique(self.queries)
            for row in brute.brute_query(self.fps, self.ids, q, distance)
        )


@pytest.fixture
def data(spark_cluster: SparkCluster, rng: np.random.Generator) -> Data:
    return Data(spark_cluster, rng)


def matches(df: Any) -> list[tuple[int, ...]]:
    return sorted((r.query & MASK, r.distance, r.fingerprint & MASK, r.id & MASK) for r in df.collect())


def pairs(df: Any) -> list[tuple[int, ...]]:
    found = [(r.fingerprint & MASK, r.id & MASK, r.other_fingerprint & MASK, r.other_id & MASK) for r in df.collect()]
    assert len(found) == len(set(found))
    return found


def plain(text: Any) -> Any:
    """A text of a row: Spark 3 makes a bytearray of binary."""
    return bytes(text) if isinstance(text, bytearray) else text


def matches_of_texts(df: Any) -> list[tuple[Any, ...]]:
    return sorted((r.query & MASK, r.distance, r.fingerprint & MASK, plain(r.id)) for r in df.collect())


def pairs_of_texts(df: Any) -> list[tuple[Any, ...]]:
    rows = df.collect()
    found = [(r.fingerprint & MASK, plain(r.id), r.other_fingerprint & MASK, plain(r.other_id)) for r in rows]
    return brute.sorted_pairs(found)


@pytest.fixture(params=["undisturbed", "killed"])
def run(request: pytest.FixtureRequest, spark_cluster: SparkCluster) -> Callable[[Callable[[], Any]], Any]:
    """Does some work; in a second test, an executor is killed meanwhile."""
    if request.param == "undisturbed":
        return lambda work: work()
    return lambda work: while_killing(work, spark_cluster.busy)


def test_shards(data: Data, run: Any, tmp_path: pathlib.Path) -> None:
    import sstore.spark

    def build() -> Any:
        return sstore.spark.build_shards(data.df, str(tmp_path / f"shards-{len(os.listdir(tmp_path))}"), 3, distance=3)

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
        assert matches(run(lambda o=options: sstore.spark.query_shards(queries, path, **o))) == data.expected_matches()
    assert matches(sstore.spark.query_shards(queries, path, distance=1)) == data.expected_matches(1)


def test_repeated_builds_make_the_same_bytes(data: Data, tmp_path: pathlib.Path) -> None:
    import sstore.spark

    contents = []
    for name, df in (("a", data.df), ("b", data.df.repartition(2, "text"))):
        made = sstore.spark.build_shards(df, str(tmp_path / name), 2)
        contents.append([[(file.name, file.sha256) for file in shard.files] for shard in made.shards])
    assert contents[0] == contents[1] and len(contents[0][0]) > 2


def test_slow_tasks_run_twice(spark_cluster: SparkCluster, data: Data, tmp_path: pathlib.Path) -> None:
    """A task that stands still is run again elsewhere, and the result is that of one run."""
    import sstore.spark

    path = str(tmp_path / "shards")
    records = data.session.range(400_000).selectExpr("xxhash64(id) as fingerprint", "id")
    expected = sstore.spark.build_shards(records, str(tmp_path / "calm"), 4)
    made = while_stopping(lambda: sstore.spark.build_shards(records, path, 4), spark_cluster.builders)
    assert [shard.files for shard in made.shards] == [shard.files for shard in expected.shards]
    found = sstore.spark.query_shards(records.limit(100), path, distance=0)
    assert found.where("query = fingerprint").count() == 100


def test_full_disk(spark_cluster: SparkCluster, server: dict[str, Any]) -> None:
    """Tasks without room on their disk name the shard. With room, the same calls succeed."""
    import sstore.spark

    path = "s3://bucket/full-disk-of-spark"
    records = spark_cluster.session.range(200_000).selectExpr("xxhash64(id) as fingerprint", "id")
    wide = records.selectExpr("unhex(sha2(string(id), 256)) as fingerprint", "id")
    with spark_cluster.disk.full():
        with pytest.raises(Exception, match=r"FileError: .*sstore-.*space"):
            sstore.spark.near_pairs(wide, 10, partitions=2).count()
        with pytest.raises(Exception, match=r"FileError: .*full-disk-of-spark: shard . of 2: .*space"):
            sstore.spark.build_shards(records, path, 2, storage_options=server)
        with pytest.raises(sstore.NotFoundError, match="no shards here"):
            sstore.spark.query_shards(records, path, storage_options=server)
    sstore.spark.build_shards(records, path, 2, storage_options=server)
    found = sstore.spark.query_shards(records.limit(100), path, distance=0, storage_options=server)
    with spark_cluster.disk.full():
        with pytest.raises(Exception, match=r"FileError: .*full-disk-of-spark/shard-.*space"):
            found.collect()
    assert found.count() == 100


@pytest.mark.parametrize("crowd", [10**6, 200])
def test_near_pairs(data: Data, run: Any, crowd: int) -> None:
    import sstore.spark

    for distance in (0, 3):
        found = run(lambda k=distance: pairs(sstore.spark.near_pairs(data.df, k, max_key_records=crowd, partitions=3)))
        assert set(found) == brute.brute_pairs(data.fps, data.ids, distance)


@pytest.mark.parametrize("max_local_edges", [10**9, 100])
def test_clusters(data: Data, run: Any, max_local_edges: int) -> None:
    import sstore.spark

    expected = brute.roots((a, b) for _, a, _, b in brute.brute_pairs(data.fps, data.ids, 3))
    spanning = sstore.spark.near_pairs(data.df, 3, spanning=True, partitions=3)
    found = run(lambda: sstore.spark.clusters(spanning, max_local_edges=max_local_edges).collect())
    assert {row["id"]: row["cluster"] for row in found} == expected


@pytest.mark.parametrize("max_local_edges", [10**9, 100])
def test_deduplicate(data: Data, run: Any, max_local_edges: int) -> None:
    import sstore.spark

    expected = brute.roots((a, b) for _, a, _, b in brute.brute_pairs(data.fps, data.ids, 3))
    dropped = {node for node, root in expected.items() if node != root}
    options = {"partitions": 3, "max_local_edges": max_local_edges}
    rows = run(lambda: sstore.spark.deduplicate(data.df, 3, **options).collect())
    assert {row["id"] for row in rows} == set(data.ids.tolist()) - dropped
    assert len(rows) == COUNT - len(dropped)
    assert all(row["text"] == str(row["id"]) and len(row) == 3 for row in rows)


def test_lost_executors(spark_cluster: SparkCluster, data: Data) -> None:
    """Results that were computed are computed again, where an executor that held a part is gone."""
    import sstore.spark

    expected = brute.roots((a, b) for _, a, _, b in brute.brute_pairs(data.fps, data.ids, 3))
    pairs = sstore.spark.near_pairs(data.df, 3, spanning=True, partitions=3)
    for max_local_edges in (10**9, 100):
        found = sstore.spark.clusters(pairs, max_local_edges=max_local_edges)
        for _ in range(2):
            assert {row["id"]: row["cluster"] for row in found.collect()} == expected
            for executor in spark_cluster.executors():
                os.kill(executor, signal.SIGKILL)


def test_keep(data: Data, run: Any) -> None:
    import sstore.spark

    df = data.frame({"fingerprint": data.fps, "id": data.ids, "score": -data.ids.astype(np.int64)})
    expected = brute.roots((-a, -b) for _, a, _, b in brute.brute_pairs(data.fps, data.ids, 3))
    dropped = {-node for node, root in expected.items() if node != root}
    kept = run(lambda: sstore.spark.deduplicate(df, 3, keep="score", partitions=3).collect())
    assert {row["id"] for row in kept} == set(data.ids.tolist()) - dropped


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("has_texts", [False, True])
def test_orders(
    data: Data, run: Any, rng: np.random.Generator, descending: bool, strict: bool, has_texts: bool
) -> None:
    """The options of deduplicate(), with values of several types, of which some are equal, null or NaN; and with ids
    that are texts."""
    import sstore.spark

    scores = rng.integers(0, 50, COUNT)
    kind = str(rng.choice(["long", "string", "double", "date"]))
    made: dict[str, Any] = {"long": int, "string": "{:02}".format, "double": float, "date": datetime.date.fromordinal}
    values: list[Any] = [None if s < 5 else made[kind](int(s) + 1) for s in scores]
    if kind == "double":
        values = [float("nan") if s < 2 else value for s, value in zip(scores, values)]
    ids: list[Any] = data.ids.tolist()
    if has_texts:
        ids = [f"https://a.example/{i}?größe" for i in ids]  # in another order than the numbers
    rows = list(zip(data.fps.view(np.int64).tolist(), ids, values))
    df = data.session.createDataFrame(rows, f"fingerprint long, id {'string' if has_texts else 'long'}, score {kind}")
    keys = [(s < 5, 0 if s < 5 else -s if descending else s, i) for s, i in zip(scores.tolist(), ids)]
    dropped = {ids[row] for row in brute_wide.brute_dropped(data.fps, keys, 3, strict)}
    options: Any = {"keep": "score", "descending": descending, "strict": strict, "partitions": 3}
    kept = run(lambda: sstore.spark.deduplicate(df, 3, **options).collect())
    assert {row["id"] for row in kept} == set(ids) - dropped and len(kept) == COUNT - len(dropped)


@pytest.mark.parametrize("kind", ["string", "binary"])
def test_text_ids(data: Data, run: Any, tmp_path: pathlib.Path, kind: str) -> None:
    """Ids that are texts: pairs, clusters and matches have them, and shards keep strings as names."""
    import sstore.spark

    texts = brute.texts_of(data.ids, kind)
    rows = [(fingerprint, texts[number]) for fingerprint, number in zip(data.fps.view(np.int64).tolist(), texts)]
    df = data.session.createDataFrame(rows, f"fingerprint long, id {kind}").repartition(5)
    expected = brute.brute_pairs(data.fps, data.ids, 3)
    found = run(lambda: pairs_of_texts(sstore.spark.near_pairs(df, 3, partitions=3)))
    assert found == brute.named_pairs(expected, texts)
    roots = brute.roots((texts[a], texts[b]) for _, a, _, b in expected)
    for max_local_edges in (10**9, 100):
        near = sstore.spark.near_pairs(df, 3, spanning=True, partitions=3)
        rows = run(lambda p=near, m=max_local_edges: sstore.spark.clusters(p, max_local_edges=m).collect())
        assert len(rows) == len(roots) and {plain(row["id"]): plain(row["cluster"]) for row in rows} == roots
    named = [(q, d, f, texts[i]) for q, d, f, i in data.expected_matches()]
    queries = data.frame({"fingerprint": data.queries})
    assert run(lambda: matches_of_texts(sstore.spark.scan(df, queries))) == sorted(named)
    path = str(tmp_path / "shards")
    if kind == "binary":
        with pytest.raises(TypeError, match="of longs or strings, found binary"):
            sstore.spark.build_shards(df, path, 3)
        return
    made = run(lambda: sstore.spark.build_shards(df, path, 3, force=True))
    assert made.has_names and sum(shard.record_count for shard in made.shards) == COUNT
    for options in ({}, {"max_broadcast": 10}):
        found = run(lambda o=options: matches_of_texts(sstore.spark.query_shards(queries, path, **o)))
        assert found == sorted(named)


def test_texts_of_one_hash(data: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.sql import functions as F

    import sstore.spark

    monkeypatch.setattr(sstore.spark, "_number_of", lambda column: F.length(column).cast("long"))
    df = data.session.createDataFrame([(1, "aa"), (9, "b"), (1, "bb")], "fingerprint long, id string")
    edges = df.selectExpr("id", "'b' as other_id")
    for call in (
        lambda: sstore.spark.near_pairs(df),
        lambda: sstore.spark.clusters(edges),
        lambda: sstore.spark.deduplicate(df),
    ):
        with pytest.raises(sstore.ArgumentError, match="the ids 'aa' and 'bb' have the same hash; give numbers"):
            call()
    # A text that is repeated is one.
    df = data.session.createDataFrame([(1, "aa"), (9, "b"), (2, "aa"), (1, "aa")], "fingerprint long, id string")
    found = sstore.spark.near_pairs(df, 2, partitions=1).collect()
    assert [(row["id"], row["other_id"], row["distance"]) for row in found].count(("aa", "aa", 2)) == 1


def test_nulls(data: Data, tmp_path: pathlib.Path) -> None:
    """Rows without a fingerprint are left out of joins, and kept by deduplicate(); without a value, kept last."""
    import sstore.spark

    rows = [(1, 10, None), (1, 11, 5), (1, 12, 4), (None, 13, 1), (None, 14, 1), (1 << 40, 15, None)]
    df = data.session.createDataFrame(rows, "fingerprint long, id long, `the.score` long")
    kept = sstore.spark.deduplicate(df, 0, keep="the.score", partitions=2)
    assert sorted(row["id"] for row in kept.collect()) == [12, 13, 14, 15] and kept.columns == df.columns
    assert sstore.spark.near_pairs(df, 3, partitions=2).count() == 6
    made = sstore.spark.build_shards(df, str(tmp_path / "shards"), 3)
    assert sum(shard.record_count for shard in made.shards) == 4
    assert sstore.spark.query_shards(df, str(tmp_path / "shards"), distance=0).count() == 4
    assert sstore.spark.scan(df, df, 0).count() == 4


def test_bad_rows(data: Data, tmp_path: pathlib.Path) -> None:
    """Null ids, and fingerprints of another length, are errors at the call, or left out and reported."""
    import sstore.spark

    longs = [(1, 10), (1, None), (3, 11), (None, None), (1 << 40, None)]
    wide = [(b"a" * 32, 10), (b"b" * 31, 12), (b"a" * 32, 11), (b"c" * 8, 13), (b"d" * 32, None)]
    path = str(tmp_path / "shards")
    for rows, kind, count, reasons in (
        (longs, "long", 2, {"the id of the fingerprint 1 is null", "the id of the fingerprint 1099511627776 is null"}),
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
        df = data.session.createDataFrame(rows, f"fingerprint {kind}, id long")
        good = df.where("id in (10, 11)")
        for call in (
            lambda df, **o: sstore.spark.near_pairs(df, 3, partitions=2, **o),
            lambda df, **o: sstore.spark.deduplicate(df, 0, partitions=2, **o),
            lambda df, **o: sstore.spark.scan(df, good, **o),  # noqa: B023
            lambda df, **o: sstore.spark.build_shards(df, path, 2, force=True, **o),
        ):
            with pytest.raises(sstore.ArgumentError, match=rf"(null|like most).*bad rows: {count}; skip_bad=True"):
                call(df)
            with pytest.raises(sstore.ArgumentError, match="max_bad"):
                call(df, skip_bad=sstore.BadRows(max_bad=1))
            bad = sstore.BadRows()
            found = call(df, skip_bad=bad)
            assert bad.count == count and {reason for _, reason in bad.rows} == reasons
            with pytest.warns(sstore.SkippedWarning, match=f"{count} bad rows were skipped"):
                call(df, skip_bad=True)
        assert sum(shard.record_count for shard in found.shards) == 2
        bad = sstore.BadRows(keep=1)
        assert sstore.spark.near_pairs(df, 3, partitions=2, skip_bad=bad).count() == 1
        assert bad.count == count and len(bad.rows) == 1
        kept = sstore.spark.deduplicate(df, 3, partitions=2, skip_bad=bad).collect()
        assert sorted(row["id"] or 0 for row in kept) == sorted(i or 0 for _, i in rows if i != 11)
    assert sstore.spark.query_shards(df.drop("id"), path, distance=0, skip_bad=bad).count() == 2


def test_signed_types(data: Data) -> None:
    """Integers of 32 bits are taken without a sign: so a bit of difference stays one bit."""
    import sstore.spark

    df = data.session.createDataFrame([(-(1 << 31), 1), (0, 2), (1, 3)], "fingerprint int, id long")
    found = sstore.spark.near_pairs(df, 1, partitions=1).collect()
    assert sorted((row["fingerprint"], row["other_fingerprint"]) for row in found) == [(0, 1), (0, 1 << 31)]


def test_repeated_ids_and_odd_names(data: Data) -> None:
    import sstore.spark

    with pytest.raises(sstore.ArgumentError, match="expected different ids, found the id 3 2 times"):
        sstore.spark.deduplicate(data.frame({"fingerprint": np.arange(3), "id": np.array([3, 4, 3])}))
    with pytest.raises(sstore.ArgumentError, match="expected different ids, found the id b 2 times"):
        sstore.spark.deduplicate(data.session.createDataFrame([(1, "b"), (9, "b")], "fingerprint long, id string"))
    df = data.session.createDataFrame([(1, "b"), (1, None), (1, "a")], "fingerprint long, id string")
    kept = sstore.spark.deduplicate(df, 0, partitions=1, skip_bad=sstore.BadRows())
    assert sorted(row["id"] or "" for row in kept.collect()) == ["", "a"]
    df = data.session.createDataFrame([(1, 5, 2), (1, 6, 1)], "fingerprint long, id long, `a``b.c` long")
    assert [row["id"] for row in sstore.spark.deduplicate(df, 0, keep="a`b.c", partitions=1).collect()] == [6]
    with pytest.raises(TypeError, match="expected id and other_id of one kind, found bigint and string"):
        sstore.spark.clusters(data.session.createDataFrame([(1, "b")], "id long, other_id string"))
    frame = data.session.createDataFrame([("ffffffffffffffff",)], "hex string")
    [row] = frame.selectExpr("cast(conv(hex, 16, -10) as long) as fingerprint").collect()
    assert row["fingerprint"] == -1


def test_no_rows(data: Data, tmp_path: pathlib.Path) -> None:
    import sstore.spark

    cases: list[tuple[Any, str]] = [([], "long"), ([(None, 7)], "long"), ([], "string"), ([(None, "a")], "string")]
    for number, (rows, kind) in enumerate(cases):
        df = data.session.createDataFrame(rows, f"fingerprint long, id {kind}")
        path = str(tmp_path / f"shards-{number}")
        pairs = sstore.spark.near_pairs(df, 3, partitions=2)
        for max_local_edges in (10, 0):
            assert sstore.spark.clusters(pairs, max_local_edges=max_local_edges).collect() == []
        assert sstore.spark.deduplicate(df, 3, partitions=2).count() == len(rows)
        assert sstore.spark.scan(df, df).collect() == []
        assert sstore.spark.build_shards(df, path, 2).shards == ()
        assert sstore.spark.query_shards(df, path).collect() == []


def test_scan(data: Data, run: Any) -> None:
    import sstore.spark

    queries = data.frame({"fingerprint": data.queries})
    assert run(lambda: matches(sstore.spark.scan(data.df, queries, 3))) == data.expected_matches()


def test_damaged_and_missing_shards(data: Data, tmp_path: pathlib.Path) -> None:
    import sstore.spark

    path = tmp_path / "shards"
    queries = data.frame({"fingerprint": data.queries})
    with pytest.raises(sstore.NotFoundError, match="no shards here"):
        sstore.spark.query_shards(queries, str(path))
    made = sstore.spark.build_shards(data.df, str(path), 2)
    with pytest.raises(sstore.ExistsError, match="force=True"):
        sstore.spark.build_shards(data.df, str(path), 2)
    [table] = (path / made.shards[1].folder).rglob("table-00.blk")
    content = table.read_bytes()
    for wrong in (content[:-100], content[:5000] + bytes([content[5000] ^ 1]) + content[5001:]):
        table.write_bytes(wrong)
        with pytest.raises(Exception, match=f"DamagedError.*{made.shards[1].folder}"):
            sstore.spark.query_shards(queries, str(path), distance=16).collect()
    table.unlink()
    with pytest.raises(Exception, match=f"DamagedError.*{made.shards[1].folder}.*it is missing"):
        sstore.spark.query_shards(queries, str(path)).collect()
    waiting = sstore.spark.query_shards(queries, str(path))
    sstore.spark.build_shards(data.df, str(path), 2, force=True)
    with pytest.raises(Exception, match="NotFoundError.*the shards were replaced meanwhile"):
        waiting.collect()
    assert matches(sstore.spark.query_shards(queries, str(path))) == data.expected_matches()


@pytest.mark.parametrize("distance", [2, 20])
def test_wide_pairs(data: Data, run: Any, rng: np.random.Generator, distance: int) -> None:
    """Pairs of binary of 32 bytes, all in one task, and sent by keys or in parts; their clusters; and what is left."""
    import sstore.spark

    fps = brute_wide.skewed(rng, 2000, 4)
    ids = rng.permutation(2000).astype(np.uint64)
    frame = pandas.DataFrame(
        {"fingerprint": [row.tobytes() for row in brute_wide.bytes_of(fps)], "id": ids.astype(int)}
    )
    df = data.session.createDataFrame(frame).repartition(4)
    expected = brute_wide.brute_pairs(fps, ids, distance)
    for options in ({}, {"max_key_records": 1000}):
        found = run(lambda o=options: sstore.spark.near_pairs(df, distance, partitions=3, **o).collect())
        rows = [
            (int.from_bytes(r.fingerprint, "big"), r.id, int.from_bytes(r.other_fingerprint, "big"), r.other_id, *r[4:])
            for r in found
        ]
        assert len(rows) == len(expected) and set(rows) == expected
        spanning = sstore.spark.near_pairs(df, distance, spanning=True, partitions=3, **options)
        clusters = {row["id"]: row["cluster"] for row in sstore.spark.clusters(spanning).collect()}
        assert clusters == brute.roots((row[1], row[3]) for row in expected)
    kept = [row["id"] for row in sstore.spark.deduplicate(df, distance, partitions=3).collect()]
    assert sorted(kept) == sorted(set(range(2000)) - {node for node, root in clusters.items() if node != root})
    kept = [row["id"] for row in sstore.spark.deduplicate(df, distance, partitions=3, strict=True).collect()]
    dropped = {int(ids[row]) for row in brute_wide.brute_strict(fps, np.argsort(ids).tolist(), distance)}
    assert sorted(kept) == sorted(set(range(2000)) - dropped)
    assert sstore.spark.near_pairs(df.limit(0), distance).count() == 0


def test_wide_fingerprints(data: Data, rng: np.random.Generator, tmp_path: pathlib.Path) -> None:
    """Binary of 32 bytes: shards, queries of them and scans give the answers of brute force."""
    import sstore.spark

    fps = brute_wide.skewed(rng, 2000, 4)
    strings = [row.tobytes() for row in brute_wide.bytes_of(fps)]
    df = data.session.createDataFrame(pandas.DataFrame({"fingerprint": strings, "id": range(2000)})).repartition(4)
    queries = data.session.createDataFrame(pandas.DataFrame({"fingerprint": strings[:50] * 2}))
    ids = np.arange(2000, dtype=np.uint64)
    expected = sorted(
        (query, *row)
        for query, place in {brute_wide.number(fps[i]): i for i in range(50)}.items()
        for row in brute_wide.brute_query(fps, ids, fps[place], 20)
    )
    path = str(tmp_path / "shards")
    made = sstore.spark.build_shards(df, path, 3, distance=20)
    assert made.bits == 256 and sum(shard.record_count for shard in made.shards) == 2000
    found = [sstore.spark.query_shards(queries, path, **options) for options in ({}, {"max_broadcast": 10})]
    for answer in (*found, sstore.spark.scan(df, queries, 20)):
        assert dict(answer.dtypes)["query"] == dict(answer.dtypes)["fingerprint"] == "binary"
        rows = [
            (int.from_bytes(r.query, "big"), r.distance, int.from_bytes(r.fingerprint, "big"), r.id)
            for r in answer.collect()
        ]
        assert sorted(rows) == expected
    assert sstore.spark.query_shards(queries.limit(0), path).count() == 0
    for call, text in (
        (lambda: sstore.spark.near_pairs(df, 65), "distance: expected 0 to 64, found 65"),
        (lambda: sstore.spark.near_pairs(df.selectExpr("substr(fingerprint, 1, 9) fingerprint", "id")), "found 9"),
        (lambda: sstore.spark.query_shards(data.df, path), "expected fingerprints of 256 bits, found 64 bits"),
        (lambda: sstore.spark.query_shards(queries, path, distance=257), "0 to 256"),
        (lambda: sstore.spark.build_shards(df.selectExpr("substr(fingerprint, 1, 8) fingerprint"), path, 1), "found 8"),
        (
            lambda: sstore.spark.build_shards(
                df.selectExpr("substr(fingerprint, 1, 16 + id % 2) fingerprint"), path, 1
            ),
            "16 bytes like most, found 17",
        ),
    ):
        with pytest.raises(sstore.ArgumentError, match=text):
            call()


def test_texts(data: Data, rng: np.random.Generator, tmp_path: pathlib.Path) -> None:
    """Fingerprints of texts are those of simhash() and minhash(), and a similarity is the distance that finds it."""
    import sstore.spark

    words = [f"w{i}" for i in range(40)]
    texts: list[Any] = [" ".join(rng.choice(words, 30)) for _ in range(100)]
    texts += [f"{text} {rng.choice(words)}" for text in texts[:60]] + [None, "", "..."]
    rows = [(i, text, [i]) for i, text in enumerate(texts)]
    df = data.session.createDataFrame(rows, "id long, `the.body` string, more array<long>").repartition(3)
    found = {row["id"]: row for row in sstore.spark.fingerprint(df, "the.body", features="chars").collect()}
    for i, number in enumerate(sstore.simhash([text or "" for text in texts], "chars").tolist()):
        assert found[i]["fingerprint"] == (None if i in (160, 161) else (number + (1 << 63)) % (1 << 64) - (1 << 63))
        assert found[i][:3] == rows[i]
    how: dict[str, Any] = {"hash": "minhash", "bits": 512, "shingle": 1}
    made = sstore.spark.fingerprint(df, "the.body", **how).persist()
    fps = sstore.minhash(texts[:160], shingle=1, bits=512).astype(">u8")
    found = {row["id"]: row["fingerprint"] for row in made.collect()}
    assert found == {i: bytes(fps[i].tobytes()) if i < 160 else None for i in range(len(texts))}
    near, path = sstore.minhash_distance(0.7, 512, recall=0.9), str(tmp_path / "shards")
    wished: dict[str, Any] = {"similarity": 0.7, "recall": 0.9}
    recipe = sstore.text_recipe(**how)
    shards = sstore.spark.build_shards(made, path, 2, recipe=recipe, **wished)
    assert (shards.distance, shards.bits, shards.recipe) == (near, 512, recipe)
    some = made.where("id < 40")
    for call in (
        lambda **o: sstore.spark.near_pairs(made, partitions=2, **o),
        lambda **o: sstore.spark.deduplicate(made, partitions=2, **o),
        lambda **o: sstore.spark.deduplicate(made, partitions=2, strict=True, **o),
        lambda **o: sstore.spark.scan(made, some, **o),
        lambda **o: sstore.spark.query_shards(some, path, **o),
    ):
        by_similarity, by_distance = (sorted(map(tuple, call(**o).collect())) for o in (wished, {"distance": near}))
        assert by_similarity == by_distance and len(by_similarity) > 40
        for options, text in (
            ({"similarity": 0.7, "distance": 3}, "similarity: cannot be combined with distance"),
            ({"recall": 0.7}, "recall: only with similarity="),
            ({"similarity": 0.3}, "of 512 bits it can be at most 128"),
        ):
            with pytest.raises(sstore.ArgumentError, match=text):
                call(**options)
    sstore.spark.build_shards(made, path, 2, recipe="pdq", force=True)
    for call in (
        lambda: sstore.spark.query_shards(some, path, similarity=0.7),
        lambda: sstore.spark.build_shards(made, path, 2, recipe="pdq", similarity=0.7, force=True),
    ):
        with pytest.raises(sstore.ArgumentError, match="similarity= needs MinHashes, and the recipe is 'pdq'"):
            call()
    for call, error, text in (
        (lambda: sstore.spark.fingerprint(df), sstore.ArgumentError, 'expected a column "text", found id, the.body'),
        (lambda: sstore.spark.fingerprint(df, "more"), TypeError, "'more' of strings, found array"),
        (lambda: sstore.spark.fingerprint(made, "the.body"), sstore.ArgumentError, 'there is a column "fingerprint"'),
        (lambda: sstore.spark.fingerprint(df, "the.body", bits=256), sstore.ArgumentError, "expected 64 or 128"),
    ):
        with pytest.raises(error, match=text):
            call()


def test_wrong_columns(data: Data) -> None:
    import sstore.spark

    for call, text in (
        (lambda: sstore.spark.near_pairs(data.df.drop("fingerprint")), 'column "fingerprint"'),
        (lambda: sstore.spark.near_pairs(data.df.drop("id")), 'column "id"'),
    ):
        with pytest.raises(sstore.ArgumentError, match=text):
            call()
    for call, text in (
        (lambda: sstore.spark.near_pairs(data.df, 17), "distance: expected 0 to 16, found 17"),
        (lambda: sstore.spark.near_pairs(data.df, max_key_records=0), "max_key_records: expected at least 1"),
        (lambda: sstore.spark.near_pairs(data.df, partitions=0), "partitions: expected at least 1"),
        (lambda: sstore.spark.deduplicate(data.df, keep="nothing"), 'expected a column "nothing"'),
        (lambda: sstore.spark.scan(data.df, data.df, -1), "distance: expected 0 to 16, found -1"),
        (lambda: sstore.spark.build_shards(data.df, "/nowhere", 0), "shards: expected at least 1"),
        (lambda: sstore.spark.build_shards(data.df, "/nowhere", 1, memory="1X"), "memory: expected a size"),
    ):
        with pytest.raises(sstore.ArgumentError, match=text):
            call()
    with pytest.raises(TypeError, match="'id' of longs or texts, found double"):
        sstore.spark.scan(data.df.selectExpr("fingerprint", "double(id) as id"), data.df)


def test_example(spark_cluster: SparkCluster, data: Data, tmp_path: pathlib.Path) -> None:
    """The job removes near-duplicates of documents, and keeps those without words."""
    texts = [" ".join(str(n // 2 * 1000 + word) for word in range(30)) for n in range(60)]
    texts += ["", "!", "?"]
    documents = pandas.DataFrame({"id": range(100, 163), "text": [*texts[:-1], None], "n": range(63)})
    data.session.createDataFrame(documents).write.parquet(str(tmp_path / "in"))
    ran = subprocess.run(
        [
            spark_cluster.home / "bin" / "spark-submit",
            "--master",
            "local[2]",
            EXAMPLES / "spark_job.py",
            tmp_path / "in",
            tmp_path / "out",
        ],
        capture_output=True,
        text=True,
        env=spark_cluster.environment,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert ran.stdout.splitlines()[-1] == "63 documents, 33 kept"
    rows = pandas.read_parquet(tmp_path / "out").sort_values("id")
    assert rows["id"].tolist() == [*range(100, 160, 2), 160, 161, 162]
    assert rows["n"].tolist() == [*range(0, 60, 2), 60, 61, 62]
    data.session.createDataFrame([(1, "a"), (None, "b")], "id long, text string").write.parquet(str(tmp_path / "nulls"))
    for source, target, text in (
        ("in", "out", "OUTPUT .*out: it exists"),
        ("nulls", "new", "--id id: a document has none"),
    ):
        command = [*ran.args[:4], tmp_path / source, tmp_path / target]
        wrong = subprocess.run(command, capture_output=True, text=True, env=spark_cluster.environment)
        said = wrong.stdout + wrong.stderr  # spark-submit joins what the job prints
        assert wrong.returncode != 0 and re.search(text, said) and "mapInArrow" not in said


def test_object_storage(data: Data, run: Any, server: dict[str, Any]) -> None:
    import sstore.spark

    path = "s3://bucket/shards-of-spark"
    run(lambda: sstore.spark.build_shards(data.df, path, 2, force=True, storage_options=server))
    queries = data.frame({"fingerprint": data.queries})
    assert matches(sstore.spark.query_shards(queries, path, storage_options=server)) == data.expected_matches()
