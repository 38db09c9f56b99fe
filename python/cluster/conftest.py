"""Clusters of separate processes on this machine, and the data that is compared with brute force."""

from __future__ import annotations

import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tests"))
SEED = int(os.environ.get("SSTORE_TEST_SEED", random.SystemRandom().randrange(1 << 32)))


def pytest_report_header() -> str:
    return f"seed: SSTORE_TEST_SEED={SEED}"


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    return np.random.default_rng([SEED, sum(request.node.name.encode())])


def _free_port() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return int(made.getsockname()[1])


def while_killing(work: Callable[[], Any], busy: Callable[[], list[int]]) -> Any:
    """The result of some work, during which one of the busy processes is killed."""
    killed: list[int] = []
    ended = threading.Event()

    def kill() -> None:
        while not ended.is_set() and not killed:
            for process in busy()[:1]:
                os.kill(process, signal.SIGKILL)
                killed.append(process)
            time.sleep(0.005)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        found = work()
    finally:
        ended.set()
        killer.join()
    assert killed, "no process was killed"
    return found


class SparkCluster:
    """A master and two workers of one core each, as processes of their own; and a session of this process."""

    def __init__(self, folder: pathlib.Path) -> None:
        import pyspark

        self.home = pathlib.Path(pyspark.__file__).parent
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        self.environment = {
            **os.environ,
            "SPARK_HOME": str(self.home),
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_NO_DAEMONIZE": "1",
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_WORKER_DIR": str(folder / "work"),
            "SSTORE_CACHE": str(folder / "cache"),
        }
        self.url = f"spark://127.0.0.1:{_free_port()}"
        self._start("master.Master", "--host", "127.0.0.1", "--port", self.url.rsplit(":", 1)[1], "--webui-port", "0")
        for _ in range(2):
            self._start("worker.Worker", "--cores", "1", "--memory", "1G", "--webui-port", "0", self.url)
        from pyspark.sql import SparkSession

        os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
        self.session = (
            SparkSession.builder.master(self.url)
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "4")
            .config("spark.executor.memory", "900m")
            .config("spark.executorEnv.SSTORE_CACHE", str(folder / "cache"))
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.network.timeout", "60s")
            .config("spark.task.maxFailures", "8")
            .getOrCreate()
        )
        self.session.sparkContext.setLogLevel("ERROR")

    def _start(self, name: str, *arguments: str) -> None:
        log = open(self.folder / f"{name}-{len(self.processes)}.log", "wb")
        command = [str(self.home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *arguments]
        self.processes.append(
            subprocess.Popen(command, env=self.environment, stdout=log, stderr=log, start_new_session=True)
        )

    def executors(self) -> list[int]:
        """The process ids of the executors of this session."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdecimal():
                try:
                    arguments = (entry / "cmdline").read_bytes().split(b"\0")
                except OSError:
                    continue
                if b"org.apache.spark.executor.CoarseGrainedExecutorBackend" in arguments and any(
                    self.session.sparkContext.applicationId.encode() in argument for argument in arguments
                ):
                    found.append(int(entry.name))
        return found

    def busy(self) -> list[int]:
        """The executors, if tasks run."""
        tracker = self.session.sparkContext.statusTracker()
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        return self.executors() if any(stage is not None and stage.numActiveTasks > 0 for stage in stages) else []

    def stop(self) -> None:
        self.session.stop()
        for process in self.processes:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture(scope="session")
def spark_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    pytest.importorskip("pyspark")
    cluster = SparkCluster(tmp_path_factory.mktemp("spark"))
    yield cluster
    cluster.stop()


class RayCluster:
    """Two nodes of one processor each, with processes of their own."""

    def __init__(self) -> None:
        import ray
        from ray.cluster_utils import Cluster

        self.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
        self.cluster.add_node(num_cpus=1)
        ray.init(address=self.cluster.address, logging_level="ERROR", log_to_driver=False)
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        assert len([node for node in ray.nodes() if node["Alive"]]) == 2

    @staticmethod
    def busy() -> list[int]:
        """The process ids of workers that run a task of ours: their names are those of the task."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                name = (entry / "cmdline").read_bytes() if entry.name.isdecimal() else b""
            except OSError:
                continue
            if name.startswith(b"ray::") and not name.startswith(b"ray::IDLE") and b"MapBatches" in name:
                found.append(int(entry.name))
        return found

    def stop(self) -> None:
        import ray

        ray.shutdown()
        self.cluster.shutdown()


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[RayCluster]:
    pytest.importorskip("ray")
    cluster = RayCluster()
    yield cluster
    cluster.stop()


@pytest.fixture(scope="session")
def server() -> Iterator[dict[str, Any]]:
    """An S3-compatible server with a bucket: what fsspec needs to reach it."""
    moto_server = pytest.importorskip("moto.server")
    import boto3

    made = moto_server.ThreadedMotoServer(port=0)
    made.start()
    host, port = made.get_host_and_port()
    address = f"http://{host}:{port}"
    client = boto3.client(
        "s3", endpoint_url=address, aws_access_key_id="key", aws_secret_access_key="secret", region_name="us-east-1"
    )
    client.create_bucket(Bucket="bucket")
    yield {"key": "key", "secret": "secret", "client_kwargs": {"endpoint_url": address, "region_name": "us-east-1"}}
    made.stop()
