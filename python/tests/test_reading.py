"""Queries, pairs, clusters, joins and records against brute force."""

from __future__ import annotations

import itertools
import pathlib
import pickle
import threading
from typing import Any

import numpy as np
import pytest
from brute import brute_pairs, brute_query, clustered

import sstore


def sorted_rows(table: sstore.Matches) -> list[tuple[int, int, int]]:
    return sorted(zip(table.distance.tolist(), table.fingerprint.tolist(), table.id.tolist()))


@pytest.mark.parametrize("io", ["auto", "pread", "mmap", "memory"])
def test_queries(folder: pathlib.Path, rng: np.random.Generator, io: Any) -> None:
    for distance in (0, 3, 6):
        fps = clustered(rng, 3000)
        ids = rng.integers(0, 1 << 64, len(fps), dtype=np.uint64)
        path = folder / f"{distance}.store"
        change = sstore.build(path, fps, ids, distance=distance)
        assert change.record_count == len({*zip(fps.tolist(), ids.tolist())})
        queries = np.concatenate([fps[:50], clustered(rng, 20)])
        with sstore.open(path, io=io) as store:
            assert store.distance == distance and store.has_ids and len(store) == change.record_count
            for near in (None, 0, 1, distance + 2, 12):
                expected = [brute_query(fps, ids, q, distance if near is None else near) for q in queries]
                for query, want in zip(queries.tolist(), expected):
                    assert sorted_rows(store.query(query, near)) == want
                    assert store.count(query, near) == len(want)
                for threads in (1, 2):
                    batch = store.query_batch(queries, near, threads=threads)
                    rows = list(
                        zip(
                            batch.query_index.tolist(),
                            batch.distance.tolist(),
                            batch.fingerprint.tolist(),
                            batch.id.tolist(),
                        )
                    )
                    assert rows == [(i, *row) for i, want in enumerate(expected) for row in want]
                    assert batch.offsets.tolist() == np.cumsum([0, *map(len, expected)]).tolist()
                    pieces = list(store.iter_query_batch(queries, near, batch_size=7))
                    assert all(len(piece) == 7 for piece in pieces[:-1])
                    assert all(len(piece.offsets) == len(queries) + 1 for piece in pieces)
                    joined = [row for piece in pieces for row in piece.columns["id"].tolist()]
                    assert joined == batch.id.tolist()
            for query in queries[:20].tolist():
                smallest = min(brute_query(fps, ids, query, 64))[0]
                assert sorted_rows(store.nearest(query)) == brute_query(fps, ids, query, smallest)
                assert (len(store.nearest(query, 1)) > 0) == (smallest <= 1)


@pytest.mark.parametrize("words", [1, 3])
def test_ids(folder: pathlib.Path, rng: np.random.Generator, words: int) -> None:
    fps = rng.integers(0, 4, (400, words), dtype=np.uint64)
    ids = np.arange(400, dtype=np.uint64)
    given = fps[:, 0] if words == 1 else fps
    sstore.build(folder / "store", given, ids)
    sstore.build(folder / "bare", given, bits=64 * words, no_ids=True)
    far = np.array([[bin(x).count("1") for x in row] for row in (fps ^ fps[0]).tolist()]).sum(axis=1)
    with sstore.open(folder / "store") as store, sstore.open(folder / "bare") as bare:
        for first, last in ((100, 199), (None, 7), (390, None), (None, None), (398, 1 << 63), (400, None)):
            low, high = 0 if first is None else first, 399 if last is None else last
            wanted = [i for i in range(400) if far[i] <= 1 and low <= i <= high]
            assert sorted(store.query(given[0], 1, ids=(first, last)).id.tolist()) == wanted
            assert store.count(given[0], 1, ids=(first, last)) == len(wanted)
            assert sorted(store.query_batch(given[:1], 1, ids=(first, last)).id.tolist()) == wanted
            nearest = sorted((int(far[i]), *fps[i].tolist(), i) for i in range(400) if low <= i <= high)[:5]
            assert store.nearest(given[0], limit=5, ids=(first, last)).id.tolist() == [row[-1] for row in nearest]
            assert store.count(given[0], 1) == int((far <= 1).sum())  # a filter does not stay
            left = [i for i in wanted if i != 5]
            assert sorted(store.query(given[0], 1, ids=(first, last), exclude_id=5).id.tolist()) == left
            assert store.count(given[0], 1, ids=(first, last), exclude_id=5) == len(left)
        others = store.query_batch(given, 0, limit=1, exclude_ids=ids)
        for i, row in enumerate(fps.tolist()):
            same = [j for j in range(400) if fps[j].tolist() == row and j != i]
            assert others.id[others.offsets[i] : others.offsets[i + 1]].tolist() == same[:1]
            assert store.nearest(given[i], limit=1, exclude_id=i).id.tolist() != [i]
        with pytest.raises(sstore.ArgumentError, match="expected 400 ids, one for each fingerprint, found 3"):
            store.query_batch(given, exclude_ids=[1, 2, 3])
        with pytest.raises(sstore.ArgumentError, match="exclude_id: expected 0 to"):
            store.query(given[0], exclude_id=-1)
        for wrong in ((2, 1), (-1, 3), (0, 1 << 64)):
            with pytest.raises(sstore.ArgumentError, match="ids: "):
                store.query(given[0], ids=wrong)
        with pytest.raises(TypeError, match="the first and the last id"):
            store.count(given[0], ids=7)  # type: ignore[arg-type]
        for call in (bare.query, bare.nearest, bare.count):
            with pytest.raises(sstore.ArgumentError, match="the store has no ids"):
                call(given[0], ids=(1, 2))
        with pytest.raises(sstore.ArgumentError, match="the store has no ids"):
            bare.query_batch(given[:1], ids=(1, 2))


def test_excluded_ids_of_skipped_rows(folder: pathlib.Path) -> None:
    sstore.build(folder / "store", [3, 3, 3], [7, 8, 9])
    given: Any = [3, None, 3]
    with sstore.open(folder / "store") as store, pytest.warns(sstore.SkippedWarning):
        found = store.query_batch(given, 0, exclude_ids=[7, 8, 9], skip_bad=True)
    assert found.query_index.tolist() == [0, 0, 2, 2] and found.id.tolist() == [8, 9, 7, 8]


def brute_group(records: list[Any], group: list[int], distance: int, own: Any = None) -> list[tuple[int, ...]]:
    """(distance, fingerprint, id, first nearest of the group, how many are near) of each record, sorted."""
    found = []
    for value, number in records:
        far = [bin(value ^ query).count("1") for query in group]
        if min(far) <= distance and number != own:
            near = sum(one <= distance for one in far)
            found.append((min(far), value, number, far.index(min(far)), near))
    return sorted(found)


@pytest.mark.parametrize("words", [1, 3])
def test_groups(folder: pathlib.Path, rng: np.random.Generator, words: int) -> None:
    fps = rng.integers(0, 4, (300, words), dtype=np.uint64) << np.uint64(7)
    ids = rng.integers(0, 100, len(fps), dtype=np.uint64)
    groups = np.repeat(rng.permutation(120)[:40], rng.integers(1, 6, 40)).astype(np.uint64)
    queries = fps[rng.integers(0, len(fps), len(groups))]
    queries[:, 0] ^= np.uint64(1) << rng.integers(0, 5, len(groups), dtype=np.uint64)

    def given(rows: Any) -> Any:
        return rows[:, 0] if words == 1 else rows

    def whole(rows: Any) -> list[int]:
        return [int("".join(f"{word:016x}" for word in row), 16) for row in rows.reshape(-1, words).tolist()]

    sstore.build(folder / "store", given(fps), ids, bits=64 * words)
    sstore.build(folder / "bare", given(fps), bits=64 * words, no_ids=True)
    records, asked = sorted({*zip(whole(fps), ids.tolist())}), whole(queries)
    begins = [0, *(np.flatnonzero(np.diff(groups.astype(np.int64))) + 1).tolist(), len(groups)]
    with sstore.open(folder / "store") as store, sstore.open(folder / "bare") as bare:
        for distance, limit, excludes in itertools.product((0, 1, 3), (None, 1, 4), (False, True)):
            found = store.query_groups(given(queries), groups, distance, limit=limit, exclude_self=excludes)
            got = zip(*(c.tolist() for c in (found.group_index, found.distance)), whole(found.fingerprint),
                      *(c.tolist() for c in (found.id, found.query_index, found.query_count)))  # fmt: skip
            wanted = []
            for number, (begin, end) in enumerate(zip(begins, begins[1:])):
                own = int(groups[begin]) if excludes else None
                expected = brute_group(records, asked[begin:end], distance, own)[:limit]
                wanted += [(number, far, value, i, begin + query, near) for far, value, i, query, near in expected]
            assert list(got) == wanted
        for some in (groups.astype(str), groups.tolist(), [f"page {number}" for number in groups]):
            alike = store.query_groups(given(queries), some, 1)
            assert alike.id.tolist() == store.query_groups(given(queries), groups, 1).id.tolist()
        together = bare.query_groups(given(queries[:9]), distance=1)
        unnumbered = brute_group([(value, 0) for value in {*whole(fps)}], asked[:9], 1)
        assert whole(together.fingerprint) == [row[1] for row in unnumbered]
        assert together.query_count.tolist() == [row[4] for row in unnumbered]
        assert list(together.columns) == ["group_index", "query_index", "fingerprint", "distance", "query_count"]
        assert len(store.query_groups(given(queries[:0]), groups[:0])) == 0
        assert len(store.query_groups(given(queries[:0]), limit=1)) == 0
        with pytest.raises(sstore.ArgumentError, match="groups: expected 2 numbers or strings"):
            store.query_groups(given(queries[:2]), [1])
        with pytest.raises(sstore.ArgumentError, match="exclude_self: expected groups"):
            store.query_groups(given(queries), exclude_self=True)


@pytest.mark.parametrize("words", [1, 3])
def test_several_stores(folder: pathlib.Path, rng: np.random.Generator, words: int) -> None:
    fps = rng.integers(0, 4, (300, words), dtype=np.uint64)
    ids = rng.integers(0, 50, len(fps), dtype=np.uint64)

    def given(rows: Any) -> Any:
        return rows[:, 0] if words == 1 else rows

    def whole(rows: Any) -> list[int]:
        return [int("".join(f"{word:016x}" for word in row), 16) for row in rows.reshape(-1, words).tolist()]

    parts = [slice(0, 100), slice(80, 200), slice(200, 300)]
    for number, part in enumerate(parts):
        sstore.build(folder / f"{number}", given(fps[part]), ids[part], names=[f"{number}-{i}" for i in ids[part]])
    records = [sorted({*zip(whole(fps[part]), ids[part].tolist())}) for part in parts]
    queries = fps[rng.integers(0, len(fps), 20)]
    asked, own = whole(queries), rng.integers(0, 50, 20, dtype=np.uint64)
    with sstore.open(folder / "0") as store, sstore.open(folder / "2") as last:
        for limit, excludes in itertools.product((None, 1, 5), (None, own)):
            kept = [[r for r in records[0] if excludes is None or r[1] != own[i]] for i in range(20)]
            wanted = []
            for i, query in enumerate(asked):
                found = [(bin(value ^ query).count("1"), value, number, index)
                         for index, part in enumerate([kept[i], *records[1:]]) for value, number in part]  # fmt: skip
                wanted += [(i, *row) for row in sorted(row for row in found if row[0] <= 1)[:limit]]
            also: list[Any] = [folder / "1", last]
            options: dict[str, Any] = {"limit": limit, "also": also, "with_names": True}
            matches = store.query_batch(given(queries), 1, exclude_ids=excludes, **options)
            got = zip(matches.query_index.tolist(), matches.distance.tolist(), whole(matches.fingerprint),
                      matches.id.tolist(), matches.store_index.tolist())  # fmt: skip
            assert list(got) == wanted
            assert matches.name.tolist() == [f"{row[4]}-{row[3]}" for row in wanted]
            assert matches.offsets[-1] == len(wanted) and len(matches.offsets) == 21
            grouped = store.query_groups(given(queries), np.arange(20), 1, **options)
            if excludes is None:
                assert [grouped[name].tolist() for name in ("group_index", "id", "store_index", "name")] == [
                    matches[name].tolist() for name in ("query_index", "id", "store_index", "name")
                ]
                assert grouped.query_count.tolist() == [1] * len(wanted)
        everything = store.query_groups(given(queries), distance=1, also=[last])
        count = len({(value, number, index) for index in (0, 2) for value, number in records[index]
                     if min(bin(value ^ query).count("1") for query in asked) <= 1})  # fmt: skip
        assert len(everything) == count
        with pytest.raises(AttributeError, match="one store was asked"):
            _ = store.query_batch(given(queries)).store_index
        sstore.build(folder / "wide", np.zeros((1, 5), np.uint64), bits=320)
        with pytest.raises(sstore.ArgumentError, match="also: expected a store of"):
            store.query_batch(given(queries), also=[folder / "wide"])
        sstore.build(folder / "bare", given(fps), bits=64 * words, no_ids=True)
        with pytest.raises(sstore.ArgumentError, match="either all stores have ids"):
            store.query_batch(given(queries), also=[folder / "bare"])


@pytest.mark.parametrize("words", [1, 3])
def test_get(folder: pathlib.Path, rng: np.random.Generator, words: int) -> None:
    fps = rng.integers(0, 1 << 64, (500, words), dtype=np.uint64)
    for largest in (1 << 8, 1 << 40):
        ids = rng.integers(0, largest, len(fps), dtype=np.uint64)
        wanted = [*ids[:20].tolist(), 7, (1 << 64) - 1]
        rows = [(i, *fps[j].tolist(), a) for i, a in enumerate(wanted) for j in range(len(fps)) if ids[j] == a]
        for id_index in (False, True):
            path = folder / f"{largest}-{id_index}.store"
            sstore.build(path, fps[:, 0] if words == 1 else fps, ids, id_index=id_index)
            with sstore.open(path) as store:
                assert store.stat().has_id_index == id_index and (store.stat().id_index_bytes > 0) == id_index
                found = store.get(wanted)
                given = found.fingerprint.reshape(-1, words).tolist()
                got = zip(found.query_index.tolist(), given, found.id.tolist())
                assert [(i, *row, a) for i, row, a in got] == sorted(rows)
                assert len(store.get(wanted[0])) == int((ids == wanted[0]).sum()) and len(store.get([])) == 0
    sstore.compact(folder / "256-False.store", id_index=True)
    with sstore.open(folder / "256-False.store") as store:
        assert store.stat().has_id_index and len(store.get(int(ids[0]))) == 0
    sstore.build(folder / "bare", fps[:, 0] if words == 1 else fps, bits=64 * words, no_ids=True)
    with sstore.open(folder / "bare") as store, pytest.raises(sstore.ArgumentError, match="has no ids"):
        store.get(1)


@pytest.mark.parametrize("words", [1, 4])
def test_limits(folder: pathlib.Path, rng: np.random.Generator, words: int) -> None:
    """The first matches by distance, fingerprint and id, also of a frequent fingerprint; more than a buffer has."""
    fps = np.repeat(rng.integers(0, 1 << 64, (40, words), dtype=np.uint64), 10, axis=0)
    fps[:300] = fps[0]
    fps[100:200, -1] ^= np.uint64(5)
    ids = rng.permutation(len(fps)).astype(np.uint64)
    sstore.build(folder / "a", fps if words > 1 else fps[:, 0], ids, distance=3)

    def expected(query: Any, near: int) -> list[tuple[int, list[int], int]]:
        bits = np.unpackbits((fps ^ query).view(np.uint8), axis=1).sum(axis=1)
        rows = zip(bits.tolist(), fps.tolist(), ids.tolist())
        return sorted(row for row in rows if row[0] <= near)

    def rows(found: sstore.Matches) -> list[tuple[int, list[int], int]]:
        return list(zip(found.distance.tolist(), found.fingerprint.reshape(-1, words).tolist(), found.id.tolist()))

    queries = np.concatenate([fps[[0, 150, 350]], rng.integers(0, 1 << 64, (2, words), dtype=np.uint64)])
    taken = queries if words > 1 else queries[:, 0]
    with sstore.open(folder / "a") as store:
        for limit in (1, 2, 63, 64, 65, 150, 250, 301, 1 << 40, None):
            for near in (0, 2, 3):
                wanted = [expected(query, near)[:limit] for query in queries]
                assert [rows(store.query(one, near, limit=limit)) for one in taken] == wanted
                batch = store.query_batch(taken, near, limit=limit)
                assert rows(batch) == [row for want in wanted for row in want]
                assert np.diff(batch.offsets).tolist() == list(map(len, wanted))
                pieces = store.iter_query_batch(taken, near, limit=limit, batch_size=70)
                assert [row for piece in pieces for row in rows(piece)] == rows(batch)
                assert [store.count(one, near) for one in taken] == [len(expected(q, near)) for q in queries]
            for one, query in zip(taken, queries):
                all_rows = expected(query, 64 * words)
                first = all_rows[:limit] if limit else [row for row in all_rows if row[0] == all_rows[0][0]]
                assert rows(store.nearest(one, limit=limit)) == first
                for near in (0, 2, 40):
                    within = [row for row in first if row[0] <= near]
                    assert rows(store.nearest(one, near, limit=limit)) == within
            if limit:
                of_each = [row for query in queries for row in expected(query, 64 * words)[:limit]]
                assert rows(store.query_batch(taken, store.bits, limit=limit)) == of_each
        for wrong in (0, -1, 1 << 64):
            for call in (store.query, store.nearest):
                with pytest.raises(sstore.ArgumentError, match="limit"):
                    call(taken[0], limit=wrong)
            with pytest.raises(sstore.ArgumentError, match="limit"):
                store.query_batch(taken, limit=wrong)
        with pytest.raises(TypeError, match="limit"):
            store.query(taken[0], limit="1")  # type: ignore[arg-type]


def test_queries_with_more_matches_than_a_buffer(folder: pathlib.Path) -> None:
    fps = np.full(5000, 7, np.uint64)
    sstore.build(folder / "a", fps)
    with sstore.open(folder / "a") as store:
        assert sorted(store.query(7).id.tolist()) == list(range(5000))
        assert sorted(store.query(7).id.tolist()) == list(range(5000))
        assert len(store.query(6)) == 5000 and len(store.query(8)) == 0 and len(store.query(0)) == 5000


def test_numbers(folder: pathlib.Path) -> None:
    sstore.build(folder / "a", [(1 << 64) - 1, 0, -2])
    with sstore.open(folder / "a") as store:
        for one in (-1, (1 << 64) - 1, np.uint64((1 << 64) - 1), np.int64(-1)):
            assert sorted(store.query(one).id.tolist()) == [0, 2]  # type: ignore[arg-type]
        for wrong in (1 << 64, -(1 << 63) - 1):
            with pytest.raises(ValueError, match="64 bits"):
                store.query(wrong)
        for distance in (65, -1, 1 << 40):
            with pytest.raises(ValueError):
                store.query(1, distance)
            with pytest.raises((ValueError, OverflowError)):
                store.query_batch([1], distance)
        with pytest.raises(TypeError):
            store.explain(1.5)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="itself|another"):
            store.join(store)
        with pytest.raises(TypeError):
            store.query("1")  # type: ignore[arg-type]
        assert store.query(0).id.tolist() == [1]


def test_no_ids(folder: pathlib.Path, rng: np.random.Generator) -> None:
    fps = clustered(rng, 1000)
    sstore.build(folder / "a", fps, no_ids=True)
    with sstore.open(folder / "a") as store:
        assert not store.has_ids and store.stat().next_id is None
        for table in (store.query(int(fps[0])), store.query_batch(fps), store.records(), store.clusters()):
            assert "id" not in table.columns and len(table) > 0
            with pytest.raises(AttributeError, match="no ids"):
                table.id
        assert list(store.pairs().columns) == ["fingerprint", "other_fingerprint", "distance"]
        assert store.records().fingerprint.tolist() == sorted({*fps.tolist()})


@pytest.mark.parametrize("distance", [0, 3, 10])
def test_pairs_and_clusters(folder: pathlib.Path, rng: np.random.Generator, distance: int) -> None:
    fps = clustered(rng, 1500)
    ids = rng.permutation(len(fps)).astype(np.uint64)
    sstore.build(folder / "a", fps, ids)
    with sstore.open(folder / "a") as store:
        expected = brute_pairs(fps, ids, distance)
        pairs = store.pairs(distance)
        columns = (pairs.fingerprint, pairs.id, pairs.other_fingerprint, pairs.other_id)
        found = list(zip(*(column.tolist() for column in columns)))
        assert len(found) == len({*found}) and {*found} == expected
        assert sum(map(len, store.iter_pairs(distance, batch_size=10))) == len(expected)
        parent = {id_: id_ for id_ in ids.tolist()}

        def root(id_: int) -> int:
            while parent[id_] != id_:
                id_ = parent[id_]
            return id_

        for _, one, _, other in expected:
            low, high = sorted((root(one), root(other)))
            parent[high] = low
        members: dict[int, set[int]] = {}
        for id_ in parent:
            members.setdefault(root(id_), set()).add(id_)
        clusters = store.clusters(distance)
        got: dict[int, set[int]] = {}
        for number, id_ in zip(clusters.cluster.tolist(), clusters.id.tolist()):
            got.setdefault(number, set()).add(id_)
        want = {frozenset(group) for group in members.values() if len(group) > 1}
        assert {frozenset(group) for group in got.values()} == want
        assert {*clusters.representatives.id.tolist()} == {min(group) for group in want}
        assert len(clusters.representatives) + len(clusters.duplicates) == len(clusters)
        assert len(store.clusters(distance, singles=True)) == len(fps)
        assert sum(map(len, store.iter_clusters(distance, singles=True, batch_size=99))) == len(fps)


def test_join(folder: pathlib.Path, rng: np.random.Generator) -> None:
    fps = clustered(rng, 2000)
    sstore.build(folder / "a", fps[:900])
    sstore.build(folder / "b", fps[900:], no_ids=True)
    with sstore.open(folder / "a") as left, sstore.open(folder / "b") as right:
        pairs = left.join(right, 5)
        assert left.join(right.path, 5) == pairs
        assert list(pairs.columns) == ["fingerprint", "id", "other_fingerprint", "distance"]
        found = {*zip(pairs.fingerprint.tolist(), pairs.id.tolist(), pairs.other_fingerprint.tolist())}
        expected = {(int(fps[i]), i, f) for i in range(900) for _, f, _ in brute_query(fps[900:], fps[900:], fps[i], 5)}
        assert found == expected and len(pairs) == len(expected)
        assert sum(map(len, left.iter_join(right, 5, batch_size=3))) == len(expected)
    sstore.build(folder / "c", fps, recipe="one")
    sstore.build(folder / "d", fps, recipe="two")
    with sstore.open(folder / "c") as left, sstore.open(folder / "d") as right:
        with pytest.raises(sstore.RecipeError):
            left.join(right)


def test_records(folder: pathlib.Path, rng: np.random.Generator) -> None:
    fps = clustered(rng, 5000)
    sstore.build(folder / "a", fps)
    with sstore.open(folder / "a") as store:
        records = store.records()
        assert list(zip(records.fingerprint.tolist(), records.id.tolist())) == sorted(zip(fps.tolist(), range(5000)))
        pieces = list(store.iter_records(batch_size=999))
        assert [len(piece) for piece in pieces] == [999] * 5 + [5]
        assert np.array_equal(np.concatenate([piece.id for piece in pieces]), records.id)
        with pytest.raises(ValueError, match="batch_size"):
            store.iter_records(batch_size=0)


def test_results_outlive_the_store(folder: pathlib.Path, rng: np.random.Generator) -> None:
    fps = clustered(rng, 3000)
    sstore.build(folder / "a", fps)
    store = sstore.open(folder / "a")
    batches, query = store.iter_records(batch_size=100), store.query(int(fps[0]))
    first = next(batches)
    store.close()
    store.close()
    assert store.closed and "closed" in repr(store)
    assert len(first) == 100 and sum(map(len, batches)) == 2900 and len(query) >= 1
    for call in (lambda: store.query(1), lambda: store.query_batch([1]), store.stat, store.records, store.pairs):
        with pytest.raises(ValueError, match="closed"):
            call()
    with sstore.open(folder / "a").iter_records(batch_size=1000) as again:
        assert len(next(again)) == 1000
    with pytest.raises(ValueError, match="closed"):
        next(again)


def test_reopen_and_pickle(folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sstore.build(folder / "a", [1, 2])
    with monkeypatch.context() as change:
        change.chdir(folder)
        relative = sstore.open("a")
    assert len(pickle.loads(pickle.dumps(relative))) == 2
    relative.close()
    with pytest.raises(ValueError, match="closed"):
        pickle.dumps(relative)
    with sstore.open(folder / "a", io="pread") as store:
        sstore.add(folder / "a", [3])
        assert len(store) == 2
        with store.reopen() as newer:
            assert len(newer) == 3
        copy = pickle.loads(pickle.dumps(store))
        assert len(copy) == 3


def test_threads(folder: pathlib.Path, rng: np.random.Generator) -> None:
    fps = clustered(rng, 20000)
    sstore.build(folder / "a", fps)
    failures: list[object] = []
    with sstore.open(folder / "a") as store:
        expected = store.query_batch(fps[:2000])

        def work(first: int) -> None:
            for i in range(first, 2000, 4):
                begin, end = expected.offsets[i], expected.offsets[i + 1]
                found = sorted(store.query(int(fps[i])).id.tolist())
                if found != sorted(expected.id[begin:end].tolist()):
                    failures.append(i)
            if len(store.query_batch(fps[:2000])) != len(expected):
                failures.append("batch")

        threads = [threading.Thread(target=work, args=(first,)) for first in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []


def test_statistics_and_explanation(folder: pathlib.Path, rng: np.random.Generator) -> None:
    fps = clustered(rng, 3000)
    sstore.build(folder / "a", fps, plan="5c2", recipe="mine", block_size=1024)
    sstore.add(folder / "a", [1, 2, 3], recipe="mine", no_compact=True)
    sstore.remove(folder / "a", [1], no_compact=True)
    with sstore.open(folder / "a") as store:
        found = store.stat()
        assert found.record_count == len(store) == 3002 and found.next_id == 3003 and found.recipe == "mine"
        assert [s.is_removal for s in found.segments] == [False, False, True]
        assert found.words == found.segments[0].words == (sstore.WordStatistics(3, 10, "5c2"),)
        assert found.segments[2].words == ()
        assert found.block_bytes == 1024 and len(found.segments[0].tables) == 10
        files = (folder / "a").rglob("*")
        assert found.total_bytes == sum(f.stat().st_size for f in files if f.is_file())
        explained = store.explain(int(fps[0]))
        assert sum(table.hit_count for table in explained) >= 1
        assert f"{found.record_count:,} records" in repr(store)
    with pytest.raises(sstore.RecipeError):
        sstore.open(folder / "a", recipe="yours")
    with pytest.raises(sstore.OutOfMemoryError):
        sstore.open(folder / "a", max_memory=1000)
