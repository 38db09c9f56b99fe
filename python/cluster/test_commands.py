"""The commands of docs/cluster.md in Spark itself and in Hadoop streaming itself: the answers of brute force."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
from typing import Any

import brute
import numpy as np
import pytest
from machines import SparkCluster

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "cluster.md"
STREAMING = os.environ.get("HADOOP_STREAMING_JAR")


class Page:
    """The folder /data of the page, with records in five files; and its blocks, with the paths of this machine."""

    def __init__(self, folder: pathlib.Path, rng: np.random.Generator) -> None:
        self.folder = folder
        (folder / "records").mkdir()
        fps, ids = brute.clustered(rng, 2000), rng.permutation(2000).astype(np.uint64)
        for number, part in enumerate(np.array_split(np.arange(2000), 5)):
            lines = [f"{fps[row]:016x}\t{ids[row]}\n" for row in part]
            (folder / "records" / f"{number:02}.tsv").write_text("".join(lines))
        queries = np.unique(np.concatenate([fps[:200], brute.clustered(rng, 50)]))
        (folder / "queries.txt").write_text("".join(f"{query:016x}\n" for query in queries))
        script = folder / "build-shard"
        script.write_text(self.blocks("Shards")[0])
        script.chmod(0o755)
        (folder / "shards").mkdir()
        self.expected = sorted(
            f"{query:016x}\t{fingerprint:016x}\t{distance}\t{id_}"
            for query in queries
            for distance, fingerprint, id_ in brute.brute_query(fps, ids, query, 3)
        )

    def blocks(self, section: str) -> list[str]:
        """The blocks of code of a section."""
        text = PAGE.read_text().split(f"## {section}\n")[1].split("\n## ")[0]
        command = shutil.which("sstore")
        assert command is not None
        return [
            block.replace("/opt/bin/sstore", command).replace("/data", str(self.folder))
            for block in re.findall(r"```\w+\n(.*?)```", text, re.DOTALL)
        ]

    def lines(self, name: str) -> list[str]:
        """The lines of all parts of an output."""
        return sorted(line for part in (self.folder / name).glob("part-*") for line in part.read_text().splitlines())


@pytest.fixture
def page(tmp_path: pathlib.Path, rng: np.random.Generator) -> Page:
    return Page(tmp_path, rng)


def test_pipe(spark_cluster: SparkCluster, page: Page) -> None:
    names: dict[str, Any] = {"sc": spark_cluster.session.sparkContext}
    scan, shards = page.blocks("Spark's pipe")
    exec(scan, names)
    assert page.lines("found-by-spark") == page.expected
    exec(shards, names)
    assert sorted(shard.name for shard in (page.folder / "shards").iterdir()) == [f"{n:02}.store" for n in range(5)]
    assert page.lines("found-in-shards") == page.expected
    [part] = (page.folder / "shards" / "03.store").rglob("table-00.blk")
    part.write_bytes(part.read_bytes()[:-1])
    shutil.rmtree(page.folder / "found-in-shards")
    with pytest.raises(Exception, match="xargs.*123|123.*xargs"):
        exec(shards, names)


@pytest.mark.skipif(STREAMING is None, reason="HADOOP_STREAMING_JAR names no file")
def test_streaming(page: Page) -> None:
    import pyspark

    # Hadoop's classes come with Spark; its local runner starts mappers and reducers as a cluster does.
    classes = f"{STREAMING}:{pathlib.Path(pyspark.__file__).parent}/jars/*"
    hadoop = f"java -cp '{classes}' org.apache.hadoop.streaming.HadoopStreaming -D mapreduce.framework.name=local"

    def run(block: str) -> subprocess.CompletedProcess[str]:
        block = block.replace("hadoop jar hadoop-streaming.jar", hadoop).replace("-files ", "-files file://")
        return subprocess.run(["bash", "-c", block], capture_output=True, text=True, cwd=page.folder)

    scan, shards = page.blocks("Hadoop streaming")
    ran = run(scan)
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert page.lines("found-by-hadoop") == page.expected
    (page.folder / "list-of-records").write_text(
        "".join(f"{part}\n" for part in sorted((page.folder / "records").iterdir()))
    )
    ran = run(shards)
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert sorted(shard.name for shard in (page.folder / "shards").iterdir()) == [f"{n:02}.store" for n in range(5)]
    with open(page.folder / "records" / "04.tsv", "a") as file:
        file.write("nonsense\n")
    shutil.rmtree(page.folder / "found-by-hadoop")
    ran = run(scan)
    assert ran.returncode != 0 and not (page.folder / "found-by-hadoop" / "_SUCCESS").exists()
