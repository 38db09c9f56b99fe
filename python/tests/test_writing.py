"""Building and changing stores, deduplication, verification and plans."""

from __future__ import annotations

import concurrent.futures
import errno
import pathlib
import shutil
from typing import Any, Optional

import numpy as np
import pytest
from brute import brute_query, clustered, distances

import sstore


def contents(path: pathlib.Path) -> set[tuple[int, int]]:
    with sstore.open(path) as store:
        records = store.records()
        return {*zip(records.fingerprint.tolist(), records.id.tolist())}


def files(path: pathlib.Path) -> dict[str, bytes]:
    return {f.name: f.read_bytes() for f in path.rglob("*") if f.suffix == ".blk"}


def test_changes(folder: pathlib.Path, rng: np.random.Generator) -> None:
    path = folder / "a"
    fps = clustered(rng, 2000)
    sstore.build(path, fps[:1000])
    living = {(int(f), i) for i, f in enumerate(fps[:1000])}
    assert contents(path) == living
    change = sstore.add(path, fps[1000:])
    living |= {(int(f), 1000 + i) for i, f in enumerate(fps[1000:])}
    assert change.added_count == 1000 and contents(path) == living
    assert sstore.add(path, fps[:10], range(10)).added_count == 0
    change = sstore.add(path, [5], [0], check_ids=True)
    living.add((5, 0))
    assert change.conflict_count == 1 and change.ids_checked
    assert sstore.remove(path, fps[:5], range(5)).removed_count == 5
    living -= {(int(f), i) for i, f in enumerate(fps[:5])}
    sstore.remove(path, fps[5:7])
    living = {(f, i) for f, i in living if f not in fps[5:7].tolist()}
    sstore.remove(path, ids=np.arange(100, 300))
    living = {(f, i) for f, i in living if not 100 <= i < 300}
    assert contents(path) == living
    change = sstore.compact(path)
    assert change.segment_count == 1 and contents(path) == living
    records = sorted(living)
    sstore.build(folder / "b", [f for f, _ in records], [i for _, i in records])
    assert files(path) == files(folder / "b")
    for _ in range(5):
        sstore.add(path, clustered(rng, 10), no_compact=True)
    assert sstore.compact(path, tiered=True).segment_count == 2
    for _ in range(5):
        assert sstore.add(path, clustered(rng, 10)).segment_count <= 2
    with pytest.raises(TypeError):
        sstore.remove(path)


@pytest.mark.filterwarnings("ignore::sstore.DoubtWarning")  # ids have several records
@pytest.mark.parametrize("id_index", [False, True])
def test_replace(folder: pathlib.Path, rng: np.random.Generator, id_index: bool) -> None:
    path = folder / "a"
    fps, ids = clustered(rng, 1000), rng.integers(0, 400, 1000, dtype=np.uint64)
    sstore.build(path, fps, ids, id_index=id_index)
    living = {*zip(fps.tolist(), ids.tolist())}
    for count in [1, 10, 300]:
        new = {*zip(clustered(rng, count).tolist(), rng.integers(0, 500, count).tolist())}
        new |= {*sorted(living)[:count]}  # these stay
        given = {i for _, i in new}
        before, living = living, {(f, i) for f, i in living if i not in given} | new
        change = sstore.replace(path, [f for f, _ in new], [i for _, i in new], check_ids=False, no_compact=count == 10)
        assert (change.added_count, change.removed_count) == (len(living - before), len(before - living))
        assert contents(path) == living
    sstore.build(folder / "b", fps, no_ids=True)
    with pytest.raises(sstore.ArgumentError, match="no ids"):
        sstore.replace(folder / "b", fps, ids)


@pytest.mark.parametrize("count", [0, 1, 5000, 3_000_000])  # the last ones are looked up in several parts
def test_absent_ids(folder: pathlib.Path, rng: np.random.Generator, count: int) -> None:
    path = folder / "a"
    fps = clustered(rng, 5000)
    known = rng.choice(1 << 33, 5000, replace=False).astype(np.uint64)
    sstore.build(path, fps, known)
    wanted = np.concatenate([rng.integers(0, 1 << 33, count, np.uint64), rng.choice(known, 1000)])
    wanted[0] = 2**64 - 1
    rng.shuffle(wanted)
    absent = np.setdiff1d(wanted, known)
    change = sstore.remove(path, ids=wanted, list_absent=True, memory="64M")
    assert change.removed_count == len(np.intersect1d(wanted, known))
    assert change.absent_ids is not None and change.absent_ids.dtype == np.uint64
    assert change.absent_count == len(change.absent_ids) >= len(absent)
    assert np.array_equal(np.unique(change.absent_ids), absent)
    again = sstore.remove(path, ids=wanted, list_absent=True)
    assert again.removed_count == 0 and again.absent_ids is not None
    assert np.array_equal(np.unique(again.absent_ids), np.unique(wanted))


def test_absent_records(folder: pathlib.Path, rng: np.random.Generator) -> None:
    path = folder / "a"
    sstore.build(path, [1, 1, 2, 3], [0, 1, 2, 3])
    change = sstore.remove(path, [1, 7, 8])
    assert (change.removed_count, change.absent_count, change.absent_ids) == (2, 2, None)
    assert sstore.remove(path, ids=[0, 2]).absent_count == 1
    assert sstore.add(path, [5], [5]).absent_count == 0
    with pytest.raises(sstore.ArgumentError, match="list_absent"):
        sstore.remove(path, [3], [3], list_absent=True)
    wrong: Any = 1
    with pytest.raises(TypeError, match="list_absent"):
        sstore.remove(path, ids=[3], list_absent=wrong)
    assert len(sstore.Store(path)) == 2
    sstore.build(folder / "wide", np.ones((2, 3), np.uint64), [0, 1])
    assert sstore.remove(folder / "wide", ids=[0, 9], list_absent=True).absent_ids == [9]


def test_waiting(folder: pathlib.Path, rng: np.random.Generator) -> None:
    path = folder / "a"
    sstore.build(path, clustered(rng, 10))
    with sstore.Deduplicator(path) as seen:
        with pytest.raises(sstore.BusyError, match="wait=True waits until it ends"):
            sstore.add(path, [1])
        with pytest.raises(sstore.BusyError, match="still writing.*after the given wait; wait=True"):
            sstore.remove(path, [1], wait=0.05)
        with pytest.raises(sstore.ArgumentError, match="wait: expected seconds"):
            sstore.compact(path, wait=-1)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            waiting = pool.submit(sstore.add, path, [1], wait=True)
            with pytest.raises(concurrent.futures.TimeoutError):
                waiting.result(timeout=0.1)
            seen.close()
            assert waiting.result().added_count == 1


def test_builder(folder: pathlib.Path, rng: np.random.Generator) -> None:
    fps = clustered(rng, 3000)
    with sstore.Builder(folder / "a") as builder:
        for begin in range(0, 3000, 700):
            builder.add(fps[begin : begin + 700])
    assert builder.change is not None and builder.change.given_count == 3000
    sstore.build(folder / "b", fps)
    assert files(folder / "a") == files(folder / "b")
    with pytest.raises(RuntimeError):
        with sstore.Builder(folder / "c") as builder:
            builder.add(fps)
            raise RuntimeError
    assert not (folder / "c").exists()
    with pytest.raises(ValueError, match="closed"):
        builder.add(fps)
    with pytest.raises(sstore.ArgumentError):
        with sstore.Builder(folder / "c") as builder:
            builder.add([1], [2])
            builder.add([1])
    assert not (folder / "c").exists()
    abandoned = sstore.Builder(folder / "d")
    abandoned.add(fps)
    del abandoned
    assert not (folder / "d").exists()


def test_merge_and_shard(folder: pathlib.Path, rng: np.random.Generator) -> None:
    fps = clustered(rng, 2000)
    sstore.build(folder / "1", fps[:1000])
    sstore.build(folder / "2", fps[1000:], first_id=1000)
    sstore.build(folder / "all", fps)
    sstore.merge(folder / "merged", [folder / "1", folder / "2"])
    assert files(folder / "merged") == files(folder / "all")
    shards = [contents_of_shard(folder, i) for i in range(3)]
    assert set.union(*shards) == contents(folder / "all") and sum(map(len, shards)) == 2000
    with pytest.raises(sstore.ExistsError):
        sstore.merge(folder / "merged", [folder / "1"])
    assert sstore.merge(folder / "merged", [folder / "1"], force=True).record_count == 1000


def contents_of_shard(folder: pathlib.Path, number: int) -> set[tuple[int, int]]:
    sstore.shard(folder / f"shard{number}", folder / "all", number, 3)
    return contents(folder / f"shard{number}")


@pytest.mark.parametrize("distance", [0, 3, 8])
def test_deduplicator(folder: pathlib.Path, rng: np.random.Generator, distance: int) -> None:
    fps = clustered(rng, 1500)
    kept = np.empty(0, np.uint64)
    expected = []
    for fingerprint in fps:
        expected.append(not bool((distances(kept, fingerprint) <= distance).any()))
        if expected[-1]:
            kept = np.append(kept, fingerprint)
    found: list[bool] = []
    for _ in range(2):
        half = fps[len(found) : len(found) + 750]
        with sstore.Deduplicator(folder / "a", distance, publish_every=100) as seen:
            found += seen.offer(half[:400]).tolist()
            found += [bool(seen.offer([f])[0]) for f in half[400:450].tolist()]
            found += seen.offer(half[450:]).tolist()
            assert seen.new_count >= seen.pending_count
    assert found == expected
    with sstore.open(folder / "a") as store:
        assert store.records().fingerprint.tolist() == sorted(kept.tolist())
        assert sorted(store.records().id.tolist()) == list(range(len(kept)))
    with sstore.Deduplicator(folder / "a") as seen:
        with pytest.raises(sstore.BusyError):
            sstore.add(folder / "a", [1])
        with pytest.raises(ValueError):
            seen.offer([1, 2], [1])
    with pytest.raises(ValueError, match="closed"):
        seen.offer([1])


@pytest.mark.parametrize("no_ids", [True, False])
def test_offer_and_match(folder: pathlib.Path, rng: np.random.Generator, no_ids: bool) -> None:
    fps = clustered(rng, 2000)
    ids = rng.permutation(len(fps)).astype(np.uint64) + np.uint64(7)
    kept: list[tuple[int, int]] = []
    is_new, new_ids, matches = [], [], []
    for i, (fingerprint, id_) in enumerate(zip(fps.tolist(), ids.tolist())):
        array = np.array([f for f, _ in kept], np.uint64)
        found = brute_query(array, np.array([d for _, d in kept], np.uint64), fingerprint, 3) if kept else []
        is_new.append(not found)
        new_ids.append(id_ if not found else 0)
        matches += [(i, *row) for row in found]
        if not found:
            kept.append((fingerprint, id_))
    with sstore.Deduplicator(folder / "a", 3, no_ids=no_ids, publish_every=300) as seen:
        parts = [seen.offer_and_match(fps[begin : begin + 700], ids[begin : begin + 700]) for begin in (0, 700, 1400)]
        assert f": {len(kept):,} new records" in repr(seen)
    assert np.concatenate([part.is_new for part in parts]).tolist() == is_new
    rows = []
    for part, begin in zip(parts, (0, 700, 1400)):
        assert len(part.matches.offsets) == len(part.is_new) + 1
        names = ["query_index", "distance", "fingerprint", *([] if no_ids else ["id"])]
        assert sorted(part.matches) == sorted(names)
        rows += [(row[0] + begin, *row[1:]) for row in zip(*(part.matches[name].tolist() for name in names))]
    if not no_ids:
        assert np.concatenate([part.id for part in parts]).tolist() == new_ids and rows == matches
    else:
        assert rows == [row[:-1] for row in matches]
    with sstore.Deduplicator(folder / "b") as seen:
        assert seen.offer_and_match([1, 1 << 60, 1 << 50 | 1 << 40 | 0xFF]).id.tolist() == [0, 0, 1]
        assert seen.offer_and_match([]).matches.offsets.tolist() == [0]


def test_deduplicator_counts_conflicts(folder: pathlib.Path) -> None:
    sstore.build(folder / "a", [0, 0xFF], [0, 1])
    with sstore.Deduplicator(folder / "a", check_ids=True) as seen:
        seen.offer([0xFFFF, 0xFFFFFF], [1, 2])
        change = seen.publish()
    assert change.ids_checked and change.conflict_count == 1 and change.min_conflicting_id == 1


def test_new_store_of_a_deduplicator(folder: pathlib.Path) -> None:
    with sstore.Deduplicator(folder / "a", 5, plan="6c1", block_size="16K", recipe="mine"):
        pass
    found = sstore.open(folder / "a").stat()
    assert (found.distance, found.recipe, found.block_bytes) == (5, "mine", 16384)


def test_verify_and_reindex(folder: pathlib.Path, rng: np.random.Generator) -> None:
    path = folder / "a"
    sstore.build(path, clustered(rng, 3000))
    assert sstore.verify(path) == [] and sstore.reindex(path) == 0 and sstore.reindex(path, all=True) == 1
    [directory] = path.rglob("directory.mdb")
    directory.write_bytes(b"")
    with pytest.raises(sstore.DamagedError):
        sstore.open(path)
    assert sstore.reindex(path) == 1 and sstore.verify(path) == []
    [table] = path.rglob("table-00.blk")
    content = bytearray(table.read_bytes())
    content[5000] ^= 1
    table.write_bytes(bytes(content))
    [problem] = sstore.verify(path)
    assert isinstance(problem, sstore.DamagedError)
    assert problem.file == str(table) and problem.offset == 4096
    with sstore.open(path, io="pread") as store:
        with pytest.raises(sstore.DamagedError) as raised:
            store.records()
    assert raised.value.offset == 4096 and str(table) in str(raised.value)


def test_errors(folder: pathlib.Path) -> None:
    sstore.build(folder / "closed", [1])
    closed = sstore.open(folder / "closed")
    closed.close()
    with pytest.raises(FileNotFoundError) as raised:
        sstore.open(folder / "nothing")
    assert isinstance(raised.value, sstore.NotFoundError) and "build one first" in str(raised.value)
    sstore.build(folder / "a", [1])
    with pytest.raises(FileExistsError):
        sstore.build(folder / "a", [1])
    with pytest.raises(sstore.ArgumentError, match="plan"):
        sstore.build(folder / "b", [1], plan="nonsense")
    with pytest.raises(ValueError, match="memory"):
        sstore.build(folder / "b", [1], memory="much")
    with pytest.raises(ValueError, match="null byte"):
        sstore.build(folder / "b\0", [1])
    with pytest.raises(ValueError, match="recipe"):
        sstore.build(folder / "b", [1], recipe="a\0b")
    assert not (folder / "b").exists()
    error = raised.value
    try:
        sstore.open(folder / "nothing")
    except FileNotFoundError as missing:
        assert missing.errno == errno.ENOENT and missing.filename == str(folder / "nothing")
    wrong: Any
    for wrong in ({"memory": -1}, {"threads": -1}, {"distance": -1}, {"distance": 1 << 40}, {"first_id": -1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            sstore.build(folder / "b", [1], **wrong)
    for wrong in ({"plan": 4}, {"distance": None}, {"recipe": 5}):
        with pytest.raises(TypeError, match=next(iter(wrong))):
            sstore.build(folder / "b", [1], **wrong)
    for call in (
        lambda: sstore.plans(10, max_bytes="-1"),
        lambda: sstore.open(folder / "a").query_batch([1 << 64]),
        lambda: sstore.open(folder / "a").query(1, 99),
        lambda: sstore.hamming_distance(1 << 64, 0),
        lambda: sstore.text_recipe(shingle=65),
        lambda: sstore.find_all([1], 3, 3),
        closed.__enter__,
    ):
        with pytest.raises(sstore.ArgumentError):
            call()
    with pytest.raises(sstore.ExistsError, match="; force=True replaces it$"):
        sstore.build(folder / "a", [1])
    with pytest.raises(sstore.OutOfMemoryError, match='but max_memory allows .*; use io="pread"'):
        sstore.open(folder / "a", io="memory", max_memory=1)
    with pytest.raises(sstore.ArgumentError, match="^either all records have ids or none has"):
        with sstore.Builder(folder / "b") as builder:
            builder.add([1])
            builder.add([1], [2])
    with pytest.raises(TypeError, match="several"):
        sstore.merge(folder / "b", "a")
    import pickle

    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error) and copy.file == error.file and type(copy) is type(error)


def test_a_failed_call_unlocks_the_store(folder: pathlib.Path) -> None:
    sstore.build(folder / "a", [1])
    wrong: Any = ["wrong"]
    for call in (sstore.add, sstore.remove):
        try:
            call(folder / "a", wrong)
        except TypeError:
            call(folder / "a", [2])  # the traceback still has the frames of the call that failed
    assert sstore.verify(folder / "a") == []


def test_ended_early(folder: pathlib.Path) -> None:
    with sstore.Builder(folder / "a") as builder:
        builder.add([1])
        builder.finish()
    with sstore.Builder(folder / "b") as builder:
        builder.abort()
    with sstore.Deduplicator(folder / "a") as seen:
        seen.offer([1 << 40])
        seen.abort()
    assert seen.closed and len(contents(folder / "a")) == 1 and not (folder / "b").exists()
    with pytest.raises(KeyError):
        with sstore.Deduplicator(folder / "a") as seen:
            seen.offer([1 << 40])
            raise KeyError
    assert len(contents(folder / "a")) == 1
    seen = sstore.Deduplicator(folder / "a")
    seen.offer([1 << 40, 0xFFFFFF << 20])
    seen.close()
    seen.close()
    assert len(contents(folder / "a")) == 2


def test_tmp_dir_of_a_deduplicator(folder: pathlib.Path) -> None:
    sstore.build(folder / "a", [1])
    for name in ("a", "new"):
        with pytest.raises(sstore.NotFoundError, match="nope"):
            sstore.Deduplicator(folder / name, tmp_dir=folder / "nope")
    assert not (folder / "new").exists()


def test_reports_of_a_failed_deduplication(folder: pathlib.Path, rng: np.random.Generator) -> None:
    reports: list[float] = []

    def fail(progress: sstore.Progress) -> None:
        reports.append(progress.fraction)
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        with sstore.Deduplicator(folder / "a", 0, progress=fail) as seen:
            seen.offer(rng.integers(0, 1 << 64, 200000, dtype=np.uint64))
    assert len(reports) == 1 and 0 <= reports[0] <= 1
    assert len(contents(folder / "a")) == 0


def test_explicit_ids_are_not_dropped(folder: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="without ids"):
        sstore.build(folder / "a", [1], [2], no_ids=True)
    assert not (folder / "a").exists()


class FakeBar:
    """In the place of tqdm: a bar that is updated after its end is a fault."""

    bars: list[Any] = []

    def __init__(self, **_: object) -> None:
        self.n = 0.0
        self.last = 0.0
        self.closed = False
        self.bars.append(self)

    def set_description_str(self, text: str, refresh: bool) -> None:
        assert not self.closed and not text.endswith(":")

    def refresh(self) -> None:
        assert not self.closed
        self.last = self.n

    def close(self) -> None:
        self.closed = True


def test_bars(folder: pathlib.Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    tqdm_auto = pytest.importorskip("tqdm.auto")
    monkeypatch.setattr(tqdm_auto, "tqdm", FakeBar)
    FakeBar.bars.clear()
    fps = clustered(rng, 300000)
    sstore.build(folder / "a", fps, progress=True)
    with sstore.open(folder / "a") as store:
        store.query_batch(fps, progress=True)
        store.pairs(progress=True)
        for _ in store.iter_clusters(progress=True, batch_size=1000):
            pass
        next(store.iter_pairs(progress=True, batch_size=10)).columns
        with store.iter_pairs(progress=True, batch_size=10) as batches:
            next(batches)
    whole, (*_, given_up) = FakeBar.bars[:4], FakeBar.bars
    assert len(whole) == 4 and all(bar.closed and bar.last == 100 for bar in whole)
    assert given_up.closed and given_up.last < 100
    reports: list[sstore.Progress] = []
    sstore.build(folder / "b", fps, progress=reports.append)
    assert reports[-1].fraction == 1


def test_progress(folder: pathlib.Path, rng: np.random.Generator) -> None:
    fps = clustered(rng, 200000)
    reports: list[sstore.Progress] = []
    sstore.build(folder / "a", fps, progress=reports.append)
    assert reports and all(0 <= report.fraction <= 1 for report in reports)
    sstore.build(folder / "b", fps[:10], progress=True)
    with sstore.open(folder / "a") as store:
        # The caller's thread reports what it works on: alone, it works in each phase.
        store.pairs(threads=1, progress=reports.append)
        store.query_batch(fps, threads=1, progress=reports.append)
    assert {"permuting", "answering"} <= {report.phase for report in reports}

    def fail(_: sstore.Progress) -> None:
        raise RuntimeError("stop")

    calls: list[Any] = [
        lambda: sstore.build(folder / "c", fps, progress=fail),
        lambda: sstore.verify(folder / "a", progress=fail),
        lambda: sstore.open(folder / "a").pairs(progress=fail),
        lambda: sstore.open(folder / "a").clusters(progress=fail),
        lambda: sstore.open(folder / "a").query_batch(fps, progress=fail),
        lambda: sstore.merge(folder / "c", [folder / "a"], progress=fail),
        lambda: sstore.reindex(folder / "a", all=True, progress=fail),
    ]
    for call in calls:
        with pytest.raises(RuntimeError, match="stop"):
            call()
    assert not (folder / "c").exists()


def test_plans(folder: pathlib.Path, rng: np.random.Generator) -> None:
    found = sstore.plans(10**8, 3)
    [chosen] = [plan for plan in found if plan.is_chosen]
    assert chosen.reason and chosen.is_useful and [p.total_bytes for p in found] == sorted(p.total_bytes for p in found)
    for plan in found[:3]:
        sstore.build(folder / "a", clustered(rng, 100), plan=plan.plan, force=True)
    sample = clustered(rng, 5000)
    assert [p for p in sstore.plans(sample=sample) if p.is_chosen]
    with pytest.raises(TypeError):
        sstore.plans()
    with pytest.raises(ValueError, match="objective"):
        sstore.plans(10, objective="nice")  # type: ignore[arg-type]


def test_streams(folder: pathlib.Path, rng: np.random.Generator) -> None:
    fps = clustered(rng, 3000)
    ids = rng.permutation(3000).astype(np.uint64)
    queries = np.unique(np.concatenate([fps[:100], clustered(rng, 20)]))
    matcher = sstore.StreamMatcher(queries, 4)
    parts = [matcher.feed(fps[begin : begin + 500], ids[begin : begin + 500]) for begin in range(0, 3000, 500)]
    found = sstore.collect(parts + parts[:2])
    rows = zip(found.query.tolist(), found.distance.tolist(), found.fingerprint.tolist(), found.id.tolist())
    assert list(rows) == [(int(q), *row) for q in queries for row in brute_query(fps, ids, q, 4)]
    assert "id" not in sstore.collect([matcher.feed(fps)]).columns
    columns = dict(parts[0].columns)
    for name in ("fingerprint", "id"):
        with pytest.raises(ValueError, match="one shape"):
            sstore.collect([sstore.StreamMatches({**columns, name: columns[name][:1]})])
    small = sstore.StreamMatches({n: c.astype(np.uint32) if n == "id" else c for n, c in columns.items()})
    assert sstore.collect([small]) == sstore.collect(parts[:1])


def test_find_all(rng: np.random.Generator) -> None:
    fps = np.unique(clustered(rng, 800))
    expected = sorted(
        (int(a), int(fps[j]))
        for i, a in enumerate(fps)
        for j in (np.flatnonzero(distances(fps[i + 1 :], a) <= 3) + i + 1).tolist()
    )
    assert sstore.find_all(fps.tolist(), 6, 3) == expected
    with pytest.raises(ValueError):
        sstore.find_all([1], 3, 3)


@pytest.mark.parametrize("limit", [1, 3, 500, None])
def test_deduplicator_limit(folder: pathlib.Path, rng: np.random.Generator, limit: Optional[int]) -> None:
    """offer_and_match() has the first matches of each record; what is new is the same with each limit."""
    stored = np.concatenate([np.full(200, 7, np.uint64), clustered(rng, 500)])
    ids = rng.permutation(len(stored)).astype(np.uint64)
    offered = np.concatenate([[np.uint64(7), np.uint64(6)], clustered(rng, 100), stored[300:320], [np.uint64(7)]])
    sstore.build(folder / "a", stored, ids, distance=3)
    shutil.copytree(folder / "a", folder / "b")
    all_fps, all_ids, expected_new, expected = stored, ids, [], []
    for i, fingerprint in enumerate(offered):
        found = brute_query(all_fps, all_ids, fingerprint, 3)
        expected += [(i, *row) for row in found[:limit]]
        expected_new.append(not found)
        if not found:
            all_fps = np.append(all_fps, fingerprint)
            all_ids = np.append(all_ids, np.uint64(10_000 + i))
    given = np.arange(10_000, 10_000 + len(offered), dtype=np.uint64)
    with sstore.Deduplicator(folder / "a", limit=limit) as seen:
        answers = seen.offer_and_match(offered, given)
    matches = answers.matches
    columns = (matches.query_index, matches.distance, matches.fingerprint, matches.id)
    assert list(zip(*(column.tolist() for column in columns))) == expected
    assert answers.is_new.tolist() == expected_new
    with sstore.Deduplicator(folder / "b", limit=limit) as seen:
        one_by_one = [bool(seen.offer([f], [i])[0]) for f, i in zip(offered[:50].tolist(), given[:50].tolist())]
        assert one_by_one + seen.offer(offered[50:], given[50:]).tolist() == expected_new
    for wrong in (0, -1):
        with pytest.raises(sstore.ArgumentError, match="limit"):
            sstore.Deduplicator(folder / "a", limit=wrong)


def test_damaged_segment(folder: pathlib.Path) -> None:
    """A change that cannot be merged with an older segment is published alone, with a warning."""
    sstore.build(folder / "a", np.arange(0, 3000 << 40, 1 << 40, dtype=np.uint64))
    (damaged,) = (folder / "a").glob("seg-*/ids.blk")
    content = bytearray(damaged.read_bytes())
    content[len(content) * 3 // 4] ^= 1
    damaged.write_bytes(content)
    with pytest.warns(RuntimeWarning, match="ids.blk is damaged"):
        change = sstore.add(folder / "a", [3], [70_001])
    assert change.damaged_file == str(damaged) and (change.added_count, change.segment_count) == (1, 2)
    with pytest.warns(RuntimeWarning, match="ids.blk is damaged"):
        with sstore.Deduplicator(folder / "a", distance=0) as seen:
            assert seen.offer([5]).tolist() == [True]
    assert sstore.open(folder / "a").query(3, 0).id.tolist() == [70_001]
    assert sstore.add(folder / "a", [3], [70_001]).damaged_file == ""
