#!/usr/bin/env python3
"""Measures sstore.spark and sstore.ray on workers of one processor each on this machine, and the same work alone.

    cluster.py ENGINE [--workers N] [--shards N] [--records N] [--joined N] [--queries N] [--bits N] [--distance K]
        [--folder DIR]

ENGINE is spark, ray or library: what the tasks call, in one process, on one thread, with the rows in memory. Half of
the records are uniform, and each of the others is one of them with up to K / 2 other bits. Half of the queries are
near a record. Prints a line of JSON: seconds of each function; of Spark also the seconds of all its tasks, and the
bytes of its shuffles. Needs the packages of python/cluster.sh.
"""

from __future__ import annotations

import argparse
import functools
import json
import pathlib
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cluster"))
_FILES = 20
_ROWS = 1 << 20


def make_data(folder: pathlib.Path, records: int, queries: int, words: int, distance: int) -> None:
    """Parquet files of records, and one of queries, unless they are there."""
    from sstore import _tasks

    def column(fps: Any) -> Any:
        return _tasks.arrow_bytes(fps) if words > 1 else fps[:, 0].view(np.int64)

    if (folder / "queries.parquet").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(1)
    rows = records // _FILES
    for number in range(_FILES):
        fps = rng.integers(0, 1 << 64, (rows, words), dtype=np.uint64)
        half = rows // 2
        fps[half:] = fps[: rows - half]
        for _ in range(max(distance // 2, 1)):
            bits = np.uint64(1) << rng.integers(0, 64, rows - half, dtype=np.uint64)
            fps[np.arange(half, rows), rng.integers(0, words, rows - half)] ^= bits
        ids = np.arange(number * rows, (number + 1) * rows, dtype=np.int64)
        pyarrow.parquet.write_table(
            pa.table({"fingerprint": column(fps), "id": ids}), folder / f"records-{number:02}.parquet"
        )
    wanted = rng.integers(0, 1 << 64, (queries, words), dtype=np.uint64)
    wanted[: queries // 2] = fps[: queries // 2]
    wanted[: queries // 2, 0] ^= np.uint64(1 << 40)
    pyarrow.parquet.write_table(pa.table({"fingerprint": column(wanted)}), folder / "queries.parquet")


class Report:
    """The seconds of each function."""

    def __init__(self, **settings: Any) -> None:
        self.values: dict[str, Any] = settings

    def measure(self, name: str, work: Callable[[], Any], **more: Callable[[], Any]) -> Any:
        """The result of some work. `more` gives other figures."""
        for read in more.values():
            read()
        begin = time.perf_counter()
        result = work()
        self.values[f"{name}_seconds"] = round(time.perf_counter() - begin, 2)
        for key, read in more.items():
            self.values[f"{name}_{key}"] = read()
        print(f"{name}: {self.values[f'{name}_seconds']} s", file=sys.stderr)
        return result


def run_spark(given: Any, files: list[str], joined: list[str], report: Report) -> None:
    from machines import SparkCluster

    import sstore.spark

    cluster = SparkCluster(given.folder / "spark", given.workers, "", "2g")
    spark = cluster.session
    store = spark.sparkContext._jsc.sc().statusStore()
    gateway = spark.sparkContext._gateway
    seen: set[Any] = set()

    def totals() -> dict[str, Any]:
        """Of the stages since the last call."""
        made = {"task_seconds": 0.0, "shuffle_bytes": 0}
        stages = store.stageList(None, False, False, gateway.new_array(gateway.jvm.double, 0), None)
        for number in range(stages.size()):
            stage = stages.apply(number)
            key = (stage.stageId(), stage.attemptId())
            if key not in seen:
                seen.add(key)
                made["task_seconds"] += stage.executorRunTime() / 1000
                made["shuffle_bytes"] += stage.shuffleWriteBytes()
        return made

    path, distance = str(given.folder / "shards"), given.distance
    records, queries = spark.read.parquet(*files), spark.read.parquet(given.query_file)
    try:
        spark.range(1000).repartition(given.workers).mapInArrow(lambda batches: batches, "id long").count()
        report.measure(
            "build", lambda: sstore.spark.build_shards(records, path, given.shards, distance=distance), all=totals
        )
        for name in ("first_query", "query"):
            found = report.measure(name, lambda: sstore.spark.query_shards(queries, path).count(), all=totals)
        report.values["matches"] = found
        found = report.measure("scan", lambda: sstore.spark.scan(records, queries, distance).count(), all=totals)
        assert found == report.values["matches"]
        some = spark.read.parquet(*joined)
        report.values["pairs"] = report.measure(
            "join", lambda: sstore.spark.near_pairs(some, distance).count(), all=totals
        )
        report.measure("deduplicate", lambda: sstore.spark.deduplicate(some, distance).count(), all=totals)
    finally:
        cluster.stop()


def run_ray(given: Any, files: list[str], joined: list[str], report: Report) -> None:
    from machines import RayCluster

    import sstore.ray

    cluster = RayCluster(given.folder / "ray", given.workers, "", object_store_memory=3 << 30)
    import ray

    path, distance = str(given.folder / "shards"), given.distance
    records, queries = ray.data.read_parquet(files), ray.data.read_parquet(given.query_file)
    try:
        report.measure("build", lambda: sstore.ray.build_shards(records, path, given.shards, distance=distance))
        for name in ("first_query", "query"):
            found = report.measure(name, lambda: sstore.ray.query_shards(queries, path).count())
        report.values["matches"] = found
        found = report.measure("scan", lambda: sstore.ray.scan(records, queries, distance).count())
        assert found == report.values["matches"]
        some = ray.data.read_parquet(joined)
        report.values["pairs"] = report.measure("join", lambda: sstore.ray.near_pairs(some, distance).count())
        report.measure("deduplicate", lambda: sstore.ray.deduplicate(some, distance).count())
    finally:
        cluster.stop()


def run_library(given: Any, files: list[str], joined: list[str], report: Report) -> None:
    import sstore
    from sstore import _rows, _tasks
    from sstore._shards import ShardBuild, SharedFolder, open_shard

    words, distance = given.bits // 64, given.distance

    def read(names: list[str]) -> list[Any]:
        table = pyarrow.parquet.read_table(names)
        return [_rows.words(column, name, None) for name, column in zip(table.column_names, table.columns)]

    fps, ids = read(files)
    queries = _tasks.distinct(read([given.query_file])[0])
    folder = SharedFolder(str(given.folder / "shards"))
    work = ShardBuild(folder, given.shards, distance, "auto", None, "1G", False, True, words)

    def number() -> list[Any]:
        return [sstore.shard_numbers(fps[i : i + _ROWS], given.shards) for i in range(0, len(fps), _ROWS)]

    numbers = np.concatenate(report.measure("shard_numbers", number))

    def build(parts: list[tuple[Any, Any]]) -> None:
        work.finish(text for part in parts for text in work.build([part]))

    rows = [numbers == shard for shard in range(given.shards)]
    report.measure("build", functools.partial(build, [(fps[part], ids[part]) for part in rows]))
    manifest = folder.read()

    def query() -> int:
        stores = [open_shard(folder, manifest, number) for number in range(len(manifest.shards))]
        return sum(len(found) for store in stores for found in store.iter_query_batch(queries, distance, threads=1))

    for name in ("first_query", "query"):
        report.values["matches"] = report.measure(name, query)

    def scan() -> int:
        matcher = sstore.StreamMatcher(queries, distance, threads=1)
        return sum(len(matcher.feed(fps[i : i + _ROWS], ids[i : i + _ROWS])) for i in range(0, len(fps), _ROWS))

    assert report.measure("scan", scan) == report.values["matches"]
    fps, ids = read(joined)

    def pieces() -> Iterator[slice]:
        return (slice(begin, begin + _ROWS // 8) for begin in range(0, len(fps), _ROWS // 8))

    counts = report.measure("count_keys", lambda: sum(_tasks.count_keys(fps[piece], distance) for piece in pieces()))
    parts, tasks = _tasks.divide(counts, _tasks.key_limit(None, words), words)

    def make_cells() -> list[Any]:
        return [cells for piece in pieces() for cells in _tasks.make_cells(fps[piece], ids[piece], distance, parts)]

    cells = report.measure("make_cells", make_cells)
    whole = {name: np.concatenate([getattr(cell, name) for cell in cells]) for name in _tasks.Cells.names()}
    del cells
    task = whole["cell"] % np.uint64(tasks)
    order = np.argsort(task, kind="stable")
    ends = np.searchsorted(task[order], np.arange(tasks + 1, dtype=np.uint64))
    split = [order[ends[n] : ends[n + 1]] for n in range(tasks)]
    grouped = [_tasks.Cells(**{name: column[rows] for name, column in whole.items()}) for rows in split]
    del whole

    def join() -> int:
        return sum(len(found) for cells in grouped for found in _tasks.join_cells(cells, distance, False, _ROWS // 8))

    report.values["pairs"] = report.measure("join", join)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", choices=["spark", "ray", "library"])
    numbers = {"workers": 2, "shards": 4, "records": 10**8, "joined": 2 * 10**7, "queries": 10**6}
    numbers.update(bits=64, distance=3)
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir(), "sstore-cluster"))
    given = parser.parse_args()
    settings = [str(getattr(given, name)) for name in ("records", "queries", "bits", "distance")]
    data = given.folder / "-".join(["data", *settings])
    given.query_file = str(data / "queries.parquet")
    make_data(data, given.records, given.queries, given.bits // 64, given.distance)
    files = sorted(str(file) for file in data.glob("records-*"))
    for name in ("shards", given.engine):
        shutil.rmtree(given.folder / name, ignore_errors=True)
    (given.folder / given.engine).mkdir()
    report = Report(**{name: getattr(given, name) for name in ("engine", *numbers)})
    run = {"spark": run_spark, "ray": run_ray, "library": run_library}[given.engine]
    run(given, files, files[: _FILES * given.joined // given.records], report)
    shards = sum(file.stat().st_size for file in (given.folder / "shards").rglob("*") if file.is_file())
    print(json.dumps({**report.values, "shard_bytes": shards}))


if __name__ == "__main__":
    main()
