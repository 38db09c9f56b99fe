"""Clusters of separate processes on this machine, and what disturbs them."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest


def _free_port() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return int(made.getsockname()[1])


def _kill_if_busy(process: int, busy: Callable[[], list[int]]) -> bool:
    """Kill a process if it is still busy while it stands still. On a machine under load a worker may have begun
    something else since it was looked at, even an actor of Ray's own, which Ray does not start again."""
    try:
        os.kill(process, signal.SIGSTOP)
        is_busy = process in busy()
        os.kill(process, signal.SIGKILL if is_busy else signal.SIGCONT)
    except ProcessLookupError:
        return False
    return is_busy


def while_killing(work: Callable[[], Any], busy: Callable[[], list[int]]) -> Any:
    """The result of some work, during which one of the busy processes is killed. The work is done again if it ended
    before one was found, as it may on a machine under load."""
    for _ in range(20):
        found, is_killed = _work_and_kill(work, busy)
        if is_killed:
            return found
    raise AssertionError("no process was killed")


def _work_and_kill(work: Callable[[], Any], busy: Callable[[], list[int]]) -> tuple[Any, bool]:
    killed: list[int] = []
    ended = threading.Event()

    def kill() -> None:
        while not ended.is_set() and not killed:
            killed.extend(process for process in busy()[:1] if _kill_if_busy(process, busy))
            time.sleep(0.005)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        found = work()
    finally:
        ended.set()
        killer.join()
    return found, bool(killed)


def while_stopping(work: Callable[[], Any], builders: Callable[[], list[int]]) -> Any:
    """The result of some work, during which a process that builds a shard stands still."""
    stopped: list[int] = []
    ended = threading.Event()

    def stop() -> None:
        while not ended.is_set() and not stopped:
            for process in builders()[:1]:
                os.kill(process, signal.SIGSTOP)
                stopped.append(process)

    stopper = threading.Thread(target=stop)
    stopper.start()
    try:
        found = work()
    finally:
        ended.set()
        stopper.join()
        for process in stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)
    assert stopped, "no process was stopped"
    return found


class Disk:
    """A small disk, as mount knows sizes, where workers keep temporary files and copies of shards. Without a size: a
    folder."""

    def __init__(self, folder: pathlib.Path, size: str) -> None:
        folder.mkdir()
        self.folder = folder
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
        self.is_mounted = size != "" and subprocess.run(mount, capture_output=True).returncode == 0
        self.environment = {"TMPDIR": str(folder), "SSTORE_CACHE": str(folder / "cache")}

    @contextlib.contextmanager
    def full(self) -> Iterator[None]:
        """While it has no room, but for 64 KiB: without any, Python chooses another folder for temporary files."""
        if not self.is_mounted:
            pytest.skip("this process may not mount")
        filler, ended = self.folder / "filler", threading.Event()

        def fill() -> None:  # again and again, since earlier tasks remove their files late
            with open(filler, "wb", buffering=0) as file:
                while not ended.wait(0.001):
                    with contextlib.suppress(OSError):
                        file.write(bytes(max(0, shutil.disk_usage(self.folder).free - (64 << 10))))

        thread = threading.Thread(target=fill)
        thread.start()
        try:
            time.sleep(0.5)
            yield
        finally:
            ended.set()
            thread.join()
            filler.unlink()

    def remove(self) -> None:
        if self.is_mounted:
            subprocess.run(["umount", "-l", str(self.folder)], check=True)


class SparkCluster:
    """A master and workers of one core each, as processes of their own; and a session of this process."""

    def __init__(
        self, folder: pathlib.Path, workers: int = 2, disk: str = "64m", memory: str = "900m", **options: str
    ) -> None:
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
        }
        self.disk = Disk(folder / "disk", disk)
        self.url = f"spark://127.0.0.1:{_free_port()}"
        self._start("master.Master", "--host", "127.0.0.1", "--port", self.url.rsplit(":", 1)[1], "--webui-port", "0")
        for host in [f"127.0.0.{2 + worker}" for worker in range(workers)]:  # a slow task is repeated on another host
            self._start(
                "worker.Worker", "--host", host, "--cores", "1", "--memory", "8G", "--webui-port", "0", self.url
            )
        from pyspark.sql import SparkSession

        os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
        builder = SparkSession.builder.master(self.url)
        for name, value in self.disk.environment.items():
            builder = builder.config(f"spark.executorEnv.{name}", value)
        for name, value in options.items():
            builder = builder.config(name, value)
        self.session = (
            builder.config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "4")
            .config("spark.executor.memory", memory)
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.network.timeout", "60s")
            .config("spark.task.maxFailures", "8")
            .config("spark.speculation", "true")
            .config("spark.speculation.quantile", "0.5")
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

    def builders(self) -> list[int]:
        """The Python processes that build a shard on the disk of the workers."""
        found = []
        for file in pathlib.Path("/proc").glob("[0-9]*/fd/*"):
            with contextlib.suppress(OSError):
                if os.readlink(file).startswith(f"{self.disk.folder}/sstore-"):
                    found.append(int(file.parts[2]))
        return found

    def stop(self) -> None:
        self.session.stop()
        for process in self.processes:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.disk.remove()


def _started(start: Callable[[], Any]) -> Any:
    """What starts processes of Ray, which gives up after 30 seconds: on a machine under load, try again."""
    for left in (2, 1, 0):
        try:
            return start()
        except Exception as error:
            if left == 0 or "timed out during startup" not in str(error):
                raise
    return None


class RayCluster:
    """Nodes of one processor each, with processes of their own."""

    def __init__(self, folder: pathlib.Path, nodes: int = 2, disk: str = "64m", **options: int) -> None:
        import ray
        from ray.cluster_utils import Cluster

        self.disk = Disk(folder / "disk", disk)

        head = {"num_cpus": 1, **options}
        self.cluster = _started(lambda: Cluster(initialize_head=True, head_node_args=head))
        for _ in range(1, nodes):
            _started(lambda: self.cluster.add_node(num_cpus=1, **options))
        environment = {"env_vars": self.disk.environment}
        ray.init(address=self.cluster.address, logging_level="ERROR", log_to_driver=False, runtime_env=environment)
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        assert len([node for node in ray.nodes() if node["Alive"]]) == nodes

    @staticmethod
    def busy() -> list[int]:
        """The process ids of workers that run a task of ours: their names are those of the task."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                name = (entry / "cmdline").read_bytes() if entry.name.isdecimal() else b""
            except OSError:
                continue
            if (
                name.startswith(b"ray::")
                and not name.startswith(b"ray::IDLE")
                and (b"MapBatches" in name or name.startswith(b"ray::connect"))
            ):
                found.append(int(entry.name))
        return found

    def stop(self) -> None:
        import ray

        ray.shutdown()
        self.cluster.shutdown()
        self.disk.remove()
