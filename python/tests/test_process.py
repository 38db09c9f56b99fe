"""Signals, forks, and processes that are spawned."""

from __future__ import annotations

import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import threading
from typing import Any

import numpy as np
import pytest
from brute import clustered

import sstore
from conftest import SEED


def count(store: sstore.Store) -> int:
    return len(store.query_batch(np.arange(10, dtype=np.uint64)))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes(folder: pathlib.Path, method: str) -> None:
    sstore.build(folder / "a", range(10))
    with sstore.open(folder / "a") as store:
        expected = count(store)
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(count, [store] * 4) == [expected] * 4


def test_fork_with_an_open_store(folder: pathlib.Path, rng: np.random.Generator) -> None:
    fps = clustered(rng, 1000)
    sstore.build(folder / "a", fps)
    with sstore.open(folder / "a") as store:
        expected = store.query(int(fps[0])).id.tolist()
        child = os.fork()
        if child == 0:
            try:
                same = store.query(int(fps[0])).id.tolist() == expected and len(store.query_batch(fps)) >= 1000
                os._exit(0 if same else 1)
            except BaseException:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert store.query(int(fps[0])).id.tolist() == expected


def test_fork_with_a_builder(folder: pathlib.Path, rng: np.random.Generator) -> None:
    """A child that ends gives up nothing of its parent's."""
    fps = clustered(rng, 1000)
    with sstore.Builder(folder / "a") as builder:
        builder.add(fps)
        seen = sstore.Deduplicator(folder / "seen")
        child = os.fork()
        if child == 0:
            refused = 0
            for use in (lambda: builder.add(fps), builder.finish, lambda: seen.offer(fps)):
                try:
                    use()
                except RuntimeError:
                    refused += 1
            builder.abort()
            seen.abort()
            os._exit(refused)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
        assert seen.offer([1]).tolist() == [True]
        seen.publish()
    assert builder.change is not None and builder.change.given_count == 1000


INTERRUPTED = ["build", "pairs", "clusters", "query_batch", "verify", "merge", "offer", "feed", "records", "add"]


@pytest.mark.parametrize("call", INTERRUPTED)
def test_interrupt(folder: pathlib.Path, call: str) -> None:
    """Ctrl-C ends a call before its work is done. The signal comes from within the call: from its first report, or from
    the first of its calls of the library, of which there must then be no second one."""
    script = f"""
        import os, signal, sys
        import numpy as np
        import sstore
        from sstore import _columns, _dedup, _stream, _write
        fps = np.random.default_rng({SEED}).integers(0, 1 << 64, 1_000_000, dtype=np.uint64)
        path = {str(folder / "a")!r}
        sstore.build(path, fps)
        store = sstore.open(path)
        work = []
        def report(progress):
            work.append(progress.fraction)
            if len(work) == 1:
                os.kill(os.getpid(), signal.SIGINT)
        class Counted:
            def __init__(self, module, name):
                self.native, self.name, module.lib = module.lib, name, self
            def __getattr__(self, name):
                if name == self.name:
                    report(sstore.Progress("", 0, 0, 0.0, 0, 0))
                return getattr(self.native, name)
        many = np.tile(fps, 10)
        if {call!r} == "offer":
            Counted(_dedup, "sspy_dedup_insert")
        elif {call!r} == "feed":
            Counted(_stream, "sspy_stream_feed")
        elif {call!r} == "records":
            Counted(_columns, "sspy_fill")
        elif {call!r} == "add":
            Counted(_write, "sstore_builder_add")
        calls = {{
            "build": lambda: sstore.build(path + "b", many, progress=report, threads=1),
            "pairs": lambda: store.pairs(16, progress=report),
            "clusters": lambda: store.clusters(16, progress=report),
            "query_batch": lambda: store.query_batch(many, 12, threads=1, progress=report),
            "verify": lambda: sstore.verify(path, progress=report),
            "merge": lambda: sstore.merge(path + "b", [path], progress=report, threads=1, plan="20"),
            "offer": lambda: sstore.Deduplicator(path, 16).offer(many),
            "feed": lambda: sstore.StreamMatcher(fps[:1000], 16).feed(many),
            "records": lambda: store.records(),
            "add": lambda: sstore.build(path + "b", many),
        }}
        try:
            calls[{call!r}]()
        except KeyboardInterrupt:
            assert len(work) == 1 and work[0] < 1, work
            assert sstore.verify(path) == [] and not os.path.exists(path + "b")
            sys.exit(7)
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True)
    assert ran.returncode == 7, ran.stderr


def test_close_while_others_query(folder: pathlib.Path, rng: np.random.Generator) -> None:
    fps = clustered(rng, 50000).tolist()
    sstore.build(folder / "a", fps)
    for _ in range(5):
        store = sstore.open(folder / "a")
        ends: list[Any] = []
        begun = threading.Barrier(5)

        def work() -> None:
            begun.wait()
            try:
                for fingerprint in fps:
                    assert len(store.query(fingerprint)) >= 1
                    store.query_batch(fps[:100])
                ends.append("all")
            except ValueError as error:
                ends.append(str(error))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        begun.wait()
        store.query(fps[0])
        store.close()
        for thread in threads:
            thread.join()
        assert all(end in ("all", "the store is closed") for end in ends) and len(ends) == 4


def test_signal_is_not_lost(folder: pathlib.Path) -> None:
    """A handler runs during a call, and the call goes on."""
    sstore.build(folder / "a", range(1000))
    seen: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _: seen.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        while not seen:
            assert sstore.verify(folder / "a") == []
    finally:
        signal.signal(signal.SIGALRM, before)


def test_handles_from_several_threads(folder: pathlib.Path, rng: np.random.Generator) -> None:
    """Objects that the library lets one thread use are safe all the same: the others wait."""
    fps = np.unique(clustered(rng, 40000))
    sstore.build(folder / "a", fps)
    seen = sstore.Deduplicator(folder / "seen", 0)
    builder = sstore.Builder(folder / "b")
    matcher = sstore.StreamMatcher(fps, 0)
    with sstore.open(folder / "a") as store:
        batches = store.iter_records(batch_size=100)
        found: list[int] = []
        new: list[int] = []
        matched: list[int] = []

        def work(number: int) -> None:
            for piece in np.array_split(fps[number::4], 20):
                new.append(int(seen.offer(piece).sum()))
                builder.add(piece)
                matched.append(len(matcher.feed(piece)))
            for table in batches:
                found.append(len(table))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sum(found) == sum(new) == sum(matched) == builder.finish().added_count == len(fps)
    seen.close()


def test_callbacks_must_not_use_their_object(folder: pathlib.Path, rng: np.random.Generator) -> None:
    builder: sstore.Builder

    def use(_: sstore.Progress) -> None:
        builder.add([1])

    builder = sstore.Builder(folder / "a", progress=use)
    builder.add(clustered(rng, 100000))
    with pytest.raises(RuntimeError, match="progress function"):
        builder.finish()
