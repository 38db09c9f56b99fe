"""Names of ids: texts in and out, records by name, and near records of stored ones, against models."""

from __future__ import annotations

import os
import pathlib
import pickle
from collections.abc import Collection
from typing import Any, Optional

import numpy as np
import pytest
from brute import brute_pairs, clustered, distances

import sstore

pyarrow = pytest.importorskip("pyarrow")
polars = pytest.importorskip("polars")
pandas = pytest.importorskip("pandas")
duckdb = pytest.importorskip("duckdb")

# Of NumPy 2; not typed in all versions.
STRING_TYPE: Any = getattr(getattr(np, "dtypes", None), "StringDType", None)
URL = "https://example.com/a.html"
TEXTS = ["a", "/usr/share/doc/größe.html", "日本語のテキスト", "x" * 12, "y" * 13, "𝄞 music", "b" * 3000, "\ttab", "a"]


def random_names(rng: np.random.Generator, count: int, longest: int = 40) -> list[str]:
    letters = [*"abcdefgh/._-0123456789", "ä", "語", "𝄞", "\udcff"]
    lengths = rng.integers(1, longest, count).tolist()
    return ["".join(rng.choice(letters, length)) for length in lengths]


def names_of(store: sstore.Store) -> dict[int, Optional[str]]:
    records = store.records(with_names=True)
    return dict(zip(records.id.tolist(), records.name))


def forms_of(texts: list[str]) -> dict[str, Any]:
    """Whatever holds these texts."""
    encoded = [text.encode() for text in texts]
    array = pyarrow.array(texts)
    forms: dict[str, Any] = {
        "list": texts,
        "tuple of bytes": tuple(encoded),
        "both": [*texts[:2], *encoded[2:]],
        "U": np.array(texts),
        "U, swapped": np.array(texts).astype(np.array(texts).dtype.newbyteorder()),
        "U, every other": np.array([text for text in texts for _ in range(2)])[::2],
        "S": np.array(encoded),
        "object": np.array(texts, object),
        "pandas": pandas.Series(texts),
        "pandas, string": pandas.Series(texts, dtype="string"),
        "polars": polars.Series(texts),
        "polars, sliced": polars.Series(["c" * 40, *texts])[1:],
        "polars, categorical": polars.Series(texts, dtype=polars.Categorical),
        "string": array,
        "sliced": pyarrow.array(["before", *texts, "behind"])[1:-1],
        "chunked": pyarrow.chunked_array([texts[:2], [], texts[2:]], pyarrow.string()),
        "dictionary": array.dictionary_encode(),
        "table": pyarrow.table({"name": texts, "other": texts}),
    }
    for kind in ("large_string", "binary", "large_binary", "string_view", "binary_view"):
        if hasattr(pyarrow, kind):
            forms[kind] = array.cast(getattr(pyarrow, kind)())
            forms[f"{kind}, chunked"] = pyarrow.chunked_array([forms[kind][:3], forms[kind][3:]])
    if STRING_TYPE is not None:
        forms["StringDType"] = np.array(texts, STRING_TYPE())
        forms["StringDType with nulls"] = np.array(texts, STRING_TYPE(na_object=None))
    return forms


def test_forms(folder: pathlib.Path, rng: np.random.Generator) -> None:
    fps = clustered(rng, len(TEXTS))
    expected = dict(enumerate(TEXTS[:8]))  # the last one has the id of the first one
    for name, form in forms_of(TEXTS).items():
        sstore.build(folder / "a", fps, names=form, force=True)
        with sstore.open(folder / "a") as store:
            assert store.has_names and names_of(store) == expected, name
            assert sorted(store.get(names=form).query_index.tolist()) == [0, 0, *range(1, 8), 8, 8], name
            assert [sorted(store.get(names=text).id.tolist()) for text in TEXTS[:2]] == [[0, 0], [1]]
        sstore.remove(folder / "a", names=form)
        assert len(sstore.open(folder / "a")) == 0
    with sstore.Builder(folder / "b", names=True) as builder:
        builder.add(fps[:3], names=TEXTS[:3])
        builder.add(pyarrow.table({"fingerprint": fps[3:5], "name": TEXTS[3:5]}))
        builder.add(pyarrow.table({"fingerprint": fps[5:]}), names=pyarrow.array(TEXTS[5:]))
    with sstore.open(folder / "b") as store:
        assert names_of(store) == expected


def test_tables(folder: pathlib.Path, rng: np.random.Generator) -> None:
    """The column "name" of tables and streams, beside ids or without."""
    fps, names = clustered(rng, 500), random_names(rng, 500)
    names = [name.replace("\udcff", "") or "z" for name in names]
    ids = rng.permutation(500).astype(np.uint64)
    table = pyarrow.table({"name": names, "id": ids, "fingerprint": fps})
    con = duckdb.connect()
    con.register("records", table)
    forms: dict[str, Any] = {
        "table": table,
        "sliced": pyarrow.concat_tables([table, table])[500:],
        "sliced batch": pyarrow.concat_tables([table, table]).combine_chunks().to_batches()[0][500:],
        "stream": table.to_reader(100),
        "polars": polars.DataFrame({"name": names, "id": ids, "fingerprint": fps}),
        "pandas": pandas.DataFrame({"name": names, "id": ids, "fingerprint": fps}),
        "duckdb": con.sql("select * from records"),
    }
    expected = dict(zip(ids.tolist(), names))
    for name, form in forms.items():
        sstore.build(folder / "a", form, names=True, force=True)
        with sstore.open(folder / "a") as store:
            assert names_of(store) == expected, name
    sstore.build(folder / "a", table.to_reader(100), names=names[::-1], force=True)  # instead of the column
    with sstore.open(folder / "a") as store:
        assert names_of(store) == dict(zip(ids.tolist(), names[::-1]))
    assert sstore.add(folder / "a", table.set_column(0, "name", [names[::-1]])).added_count == 0
    for wrong in (names[1:], [*names, "more"]):
        for form in (table, fps):
            with pytest.raises(ValueError, match="as many as fingerprints"):
                sstore.build(folder / "b", form, names=wrong)
    with pytest.raises(ValueError, match='expected a column "name"'):
        sstore.build(folder / "b", table.drop_columns(["name"]), names=True)
    assert not (folder / "b").exists()


def test_results(folder: pathlib.Path, rng: np.random.Generator) -> None:
    """with_names=True adds the name of each id, and everything takes it over."""
    fps = clustered(rng, 400)
    ids = rng.permutation(1000)[:400].astype(np.uint64)
    for names in (random_names(rng, 400), [f"page-{i}.html" for i in range(400)]):
        name_of = dict(zip(ids.tolist(), names))
        sstore.build(folder / "a", fps, ids, names=names, distance=5, force=True)
        sstore.build(folder / "b", fps, ids, distance=5, force=True)
        with sstore.open(folder / "a") as store, sstore.open(folder / "b") as bare:
            results: list[Any] = [
                (store.query(int(fps[0]), 20, with_names=True), store.query(int(fps[0]), 20)),
                (store.nearest(int(fps[0]), limit=9, with_names=True), store.nearest(int(fps[0]), limit=9)),
                (store.query_batch(fps, with_names=True), store.query_batch(fps)),
                (store.get(ids[:30], with_names=True), store.get(ids[:30])),
                (store.records(with_names=True), store.records()),
                (store.pairs(with_names=True), store.pairs()),
                (store.clusters(with_names=True), store.clusters()),
                (store.join(bare, with_names=True), store.join(bare)),
                (bare.join(store, with_names=True), bare.join(store)),
                (store.query_groups(fps, ids, with_names=True), store.query_groups(fps, ids)),
            ]
            for with_names, without in results:
                columns = dict(with_names.columns)
                assert len(without) > 0 and set(columns) - set(without) <= {"name", "other_name"}
                for key in set(columns) - set(without):
                    of_ids = without[key.replace("name", "id")].tolist()
                    assert columns.pop(key).tolist() == [name_of[id_] for id_ in of_ids]
                assert sstore.Columns(columns) == sstore.Columns(without.columns)
            assert "other_name" not in results[7][0] and "name" not in results[8][0]
            assert results[5][0].other_name == store.names(results[5][1].other_id)
            assert results[2][0].offsets.tolist() == results[2][1].offsets.tolist()
            for batches, whole in (
                (store.iter_query_batch(fps, batch_size=7, with_names=True), results[2][0]),
                (store.iter_records(batch_size=7, with_names=True), results[4][0]),
                (store.iter_pairs(batch_size=7, with_names=True), results[5][0]),
                (store.iter_clusters(batch_size=7, with_names=True), results[6][0]),
                (store.iter_join(bare, batch_size=7, with_names=True), results[7][0]),
            ):
                assert [name for batch in batches for name in batch.name] == whole.name.tolist()
            with pytest.raises(ValueError, match="has no names"):
                bare.records(with_names=True)
            with pytest.raises(ValueError, match="has no names"):
                bare.names(1)
            with pytest.raises(AttributeError, match="with_names=True"):
                store.records().name
            clusters = results[6][0]
            of_duplicates = [name_of[i] for i in clusters.duplicates.id.tolist()]
            assert clusters.duplicates.name.tolist() == of_duplicates
            found = results[4][0]
            assert found["name"] == found.name == pickle.loads(pickle.dumps(found.name)) == store.names(found)
            is_text = names[0].startswith("page")
            expected: Any = found.name.tolist() if is_text else [os.fsencode(name) for name in found.name]
            assert found.to_arrow()["name"].to_pylist() == expected
            assert found.to_polars()["name"].to_list() == expected
            assert found.to_pandas()["name"].tolist() == found.name.tolist()
            assert found.name.to_numpy().tolist() == np.asarray(found.name).tolist() == found.name.tolist()
            if is_text:
                assert duckdb.from_arrow(found.to_arrow()).fetchnumpy()["name"].tolist() == expected
                reader = pyarrow.RecordBatchReader.from_stream(store.iter_records(batch_size=9, with_names=True))
                assert reader.read_all()["name"].to_pylist() == expected
                kind = STRING_TYPE() if STRING_TYPE is not None else np.dtype(object)
                assert found.name.to_numpy().dtype == kind
            else:
                reader = pyarrow.RecordBatchReader.from_stream(store.iter_records(batch_size=400, with_names=True))
                with pytest.raises(OSError, match="not UTF-8"):
                    reader.read_all()


def test_strings(folder: pathlib.Path, rng: np.random.Generator) -> None:
    """An array of names is one of NumPy's and of Arrow's, with nulls where there is no record."""
    texts = [*TEXTS, *(name.replace("\udcff", "") or "z" for name in random_names(rng, 300, 2000))]
    count = len(texts)
    sstore.build(folder / "a", clustered(rng, count), np.arange(count), names=texts)
    with sstore.open(folder / "a") as store:
        wanted = rng.integers(0, count + 50, 700).astype(np.uint64)
        expected = [texts[i] if i < count else None for i in wanted.tolist()]
        names = store.names(wanted)
        assert names.tolist() == expected and len(names) == 700 and names.shape == (700,)
        assert [names[i] for i in range(700)] == expected and names[-1] == expected[-1]
        assert names.is_null.tolist() == [text is None for text in expected]
        assert names.sizes.tolist() == [len((text or "").encode()) for text in expected]
        assert names.to_numpy().tolist() == expected
        assert names.to_arrow().type == pyarrow.large_string() and names.to_arrow().to_pylist() == expected
        assert pyarrow.chunked_array(names).to_pylist() == polars.Series(names).to_list() == expected
        rows = rng.permutation(700)[:50]
        for some in (rows, rows.tolist(), wanted < 20, slice(5, 90, 3), slice(0, 0)):
            picked = np.array(expected, object)[some].tolist()
            assert names[some].tolist() == names[some].to_arrow().to_pylist() == picked
            assert names[some].to_numpy().tolist() == picked and pickle.loads(pickle.dumps(names[some])) == names[some]
        assert store.names(3).tolist() == [texts[3]] and store.names([]).tolist() == []
        assert store.names([]).to_numpy().tolist() == store.names([]).to_arrow().to_pylist() == []
        assert repr(store.names([0, 7, 99999])) == "<sstore.Strings, 3: 'a', '\\\\ttab', None>".replace("\\\\", "\\")
        assert "\\ttab" in repr(store.records(with_names=True)) or len(store) > 10
        with pytest.raises(IndexError):
            names[700]


def test_changes(folder: pathlib.Path, rng: np.random.Generator) -> None:
    """Additions, removals and look-ups in a random order."""
    path, model, names = folder / "a", dict[tuple[int, int], str](), random_names(rng, 60)
    sstore.build(path, [], names=[])
    for step in range(25):
        ids = rng.integers(0, 200, 30)
        given = [names[i % len(names)] for i in ids.tolist()]  # the name of an id stays
        fps = rng.integers(0, 1 << 64, 30, dtype=np.uint64)
        if step % 3 < 2:
            sstore.add(path, fps, ids, names=given, check_ids=False)
            model.update({(f, i): name for f, i, name in zip(fps.tolist(), ids.tolist(), given)})
        else:
            gone = [*(names[i] for i in rng.integers(0, len(names), 3).tolist()), "no such name"]
            change = sstore.remove(path, names=gone)
            assert change.given_count == 4 and change.absent_count >= 1
            before = len(model)
            model = {key: name for key, name in model.items() if name not in gone}
            assert change.removed_count == before - len(model) and change.record_count == len(model)
        with sstore.open(path) as store:
            records = store.records(with_names=True)
            assert dict(zip(zip(records.fingerprint.tolist(), records.id.tolist()), records.name)) == model
            asked = [names[i] for i in rng.integers(0, len(names), 10).tolist()]
            found = store.get(names=asked, with_names=True)
            rows = zip(found.query_index.tolist(), found.fingerprint.tolist(), found.id.tolist())
            expected = [(i, f, id_) for i, name in enumerate(asked) for (f, id_), one in model.items() if one == name]
            assert list(rows) == sorted(expected)
            assert found.name.tolist() == [asked[i] for i in found.query_index.tolist()]
    assert sstore.verify(path) == []
    statistics = store.reopen().stat() if not store.closed else sstore.open(path).stat()
    assert statistics.has_names and statistics.name_count > 0
    assert statistics.names_bytes > 0 and statistics.name_index_bytes > 0
    sstore.compact(path)
    sstore.merge(folder / "b", [path])
    assert names_of(sstore.open(folder / "b")) == {id_: name for (_, id_), name in model.items()}


def numbered(names: list[str], stored: Collection[str]) -> list[tuple[int, str]]:
    """Each name with the number of new ones before it: of all that the store does not have."""
    new = np.cumsum([name not in stored for name in names])
    return list(zip((new - 1).tolist(), names))


@pytest.mark.parametrize("skip_bad", [False, True])
def test_one_id_a_name(folder: pathlib.Path, rng: np.random.Generator, skip_bad: bool) -> None:
    """Records without ids share that of their name, in whatever parts they come, as in a model."""
    path, names, next_id = folder / "a", random_names(rng, 40), 0
    of_name: dict[str, int] = {}
    model: set[tuple[int, int, str]] = set()
    for step in range(8):
        fps = clustered(rng, 60)
        given = [names[i] for i in rng.integers(0, 5 * step + 5, 60).tolist()]
        stored, known = set(of_name), {(fp, name) for fp, _, name in model}
        changed = [key for key in zip(fps.tolist(), given) if key[1] in stored and key not in known]
        for fp, (row, name) in zip(fps.tolist(), numbered(given, stored)):
            model.add((fp, of_name.setdefault(name, next_id + row), name))
        next_id += sum(name not in stored for name in given)
        if step > 0:
            assert sstore.add(path, fps, names=given, skip_bad=skip_bad).known_name_count == len(changed)
        else:
            with sstore.Builder(path, names=True, skip_bad=skip_bad) as builder:
                builder.add(fps[:20], names=given[:20])
                builder.add(fps[20:], names=given[20:])
        with sstore.open(path) as store:
            records = store.records(with_names=True)
            assert {*zip(records.fingerprint.tolist(), records.id.tolist(), records.name)} == model
            assert len(records) == len(model) and store.stat().next_id == next_id


@pytest.mark.parametrize("form", ["ids", "id index", "names", "names and ids"])
def test_replacements(folder: pathlib.Path, rng: np.random.Generator, form: str) -> None:
    """Records in the place of those of their ids or names, against a model."""
    path, has_names = folder / "a", form.startswith("names")
    names: Any = [] if has_names else False
    sstore.build(path, [], [] if form != "names" else None, names=names, id_index=form == "id index")
    model: set[tuple[int, int, Optional[str]]] = set()
    next_id = 0
    for _ in range(20):
        fps = rng.integers(0, 1 << 10, 25, dtype=np.uint64)  # so that some stay
        keys = rng.integers(0, 60, 25)
        name_of = {key: f"name {key}" for key in keys.tolist()}
        given: Any = list(map(name_of.__getitem__, keys.tolist()))
        ids: Any = keys
        if form == "names":
            of_names: dict[Any, int] = {
                name: id_ for _, id_, name in sorted(model, reverse=True, key=lambda row: row[1])
            }
            stored = set(of_names)
            ids = np.array([of_names.setdefault(name, next_id + row) for row, name in numbered(given, stored)])
            next_id += sum(name not in stored for name in given)
        change = sstore.replace(path, fps, None if form == "names" else ids, names=given if has_names else None)
        added = {*zip(fps.tolist(), ids.tolist(), given if has_names else [None] * 25)}
        before, at = set(model), 2 if has_names else 1
        given_keys = given if has_names else ids.tolist()
        absent = [key for key in given_keys if key not in {record[at] for record in before}]
        assert change.absent_count == len(absent if has_names else set(absent))
        model = {record for record in before if record[at] not in given_keys} | added
        assert change.added_count == len(model - before) and change.removed_count == len(before - model)
        with sstore.open(path) as store:
            records = store.records(with_names=has_names)
            texts = records.name if has_names else [None] * len(records)
            assert {*zip(records.fingerprint.tolist(), records.id.tolist(), texts)} == model
            assert len(records) == len(model) == change.record_count
    assert sstore.verify(path) == []
    with pytest.raises(TypeError if has_names else ValueError):
        sstore.replace(path, [1], None)
    bad = sstore.BadRows()
    wrong: Any = [1, None]
    sstore.replace(
        path, wrong, [70, 71] if form != "names" else None, names=["a", "b"] if has_names else None, skip_bad=bad
    )
    assert bad.count == 1 and len(sstore.open(path)) == len(model) + 1


@pytest.mark.parametrize("words", [1, 4])
def test_near_a_stored_record(folder: pathlib.Path, rng: np.random.Generator, words: int) -> None:
    base = clustered(rng, 300)
    fps = base if words == 1 else np.repeat(base, words).reshape(-1, words)
    ids = rng.integers(0, 150, 300)
    names = [f"name {i % 70}" for i in ids.tolist()]
    records = sorted({(*row, i) for row, i in zip(fps.reshape(300, -1).tolist(), ids.tolist())})
    sstore.build(folder / "a", fps, ids, names=names, bits=64 * words)
    values = np.array([record[:-1] for record in records], np.uint64).reshape(len(records), -1)
    of_records = np.array([record[-1] for record in records])

    def expected(own: Any, near: int, exclude: bool) -> list[tuple[int, ...]]:
        """The records within a distance of any of their own."""
        of_words = [[distances(np.ascontiguousarray(values[:, w]), v[w]) for w in range(words)] for v in values[own]]
        least = np.array(of_words).sum(axis=1).min(axis=0)
        rows = [(int(d), *r) for d, r, is_own in zip(least, records, own) if d <= near and not (exclude and is_own)]
        return sorted(rows)

    def rows_of(found: sstore.Matches) -> list[tuple[int, ...]]:
        fingerprints = found.fingerprint.reshape(-1, words).tolist()
        return [(d, *f, i) for d, f, i in zip(found.distance.tolist(), fingerprints, found.id.tolist())]

    with sstore.open(folder / "a") as store:
        for number in rng.permutation(150)[:25].tolist():
            forms: list[Any] = [({"id": number}, of_records == number)]
            forms.append(({"name": f"name {number % 70}"}, of_records % 70 == number % 70))
            for form, own in forms:
                if not own.any():
                    with pytest.raises(ValueError, match="no record has"):
                        store.query(**form)
                    continue
                for exclude in (False, True):
                    everything = expected(own, 64 * words, exclude)
                    for near in (0, 3 * words, 12 * words):
                        want = [row for row in everything if row[0] <= near]
                        found = store.query(distance=near, exclude_self=exclude, with_names=True, **form)
                        assert rows_of(found) == want
                        assert found.name.tolist() == [f"name {row[-1] % 70}" for row in want]
                        limited = store.query(distance=near, limit=3, exclude_self=exclude, **form)
                        assert rows_of(limited) == want[:3]
                    nearest = store.nearest(exclude_self=exclude, **form)
                    assert rows_of(nearest) == [row for row in everything if row[0] == everything[0][0]]
                    assert rows_of(store.nearest(limit=5, exclude_self=exclude, **form)) == everything[:5]
                    short = store.nearest(max_distance=2, exclude_self=exclude, **form)
                    assert rows_of(short) == [row for row in everything if row[0] == everything[0][0] <= 2]
        one: Any = fps[0] if words > 1 else int(fps[0])
        calls: list[Any] = [
            {"id": 1, "name": "a"},
            {"fingerprint": one, "id": 1},
            {"fingerprint": one, "exclude_self": 1 > 0},
        ]
        for wrong in calls:
            with pytest.raises(ValueError, match="exclude_self|several"):
                store.query(**wrong)
        with pytest.raises(TypeError, match="fingerprint"):
            store.query()
        number = int(of_records[0])
        low, high = 20, 120
        own = of_records == number
        both = [row for row in expected(own, 20, False) if low <= row[-1] <= high and row[-1] != 50]
        assert rows_of(store.query(id=number, distance=20, ids=(low, high), exclude_id=50)) == both
        with pytest.raises(ValueError, match="found both"):
            store.query(id=number, exclude_self=True, exclude_id=50)


def whole_of(fps: Any) -> list[int]:
    """Fingerprints as int."""
    return [int("".join(f"{word:016x}" for word in row), 16) for row in fps.reshape(len(fps), -1).tolist()]


@pytest.mark.parametrize("words", [1, 3])
@pytest.mark.parametrize("form", ["an id a name", "several ids", "a name of many records"])
def test_excluded_names(folder: pathlib.Path, rng: np.random.Generator, words: int, form: str) -> None:
    """Each query of a batch leaves out the records of a name, however many ids it has, in a model."""
    fps = rng.integers(0, 8, (300, words), dtype=np.uint64)
    ids = rng.integers(0, 120, 300)
    count = {"an id a name": 120, "several ids": 40, "a name of many records": 9}[form]
    name_of = [f"n{id_ % count}" if form != "a name of many records" or id_ > 60 else "many" for id_ in range(120)]
    given = fps[:, 0] if words == 1 else fps
    sstore.build(folder / "a", given, ids, names=[name_of[i] for i in ids], distance=3)
    sstore.build(folder / "b", given[:50], ids[:50], names=[name_of[i] for i in ids[:50]], distance=3)
    rows = list(zip(whole_of(fps), ids.tolist()))
    records, others = sorted({*rows}), sorted({*rows[:50]})
    queries, asked = given[100:160], whole_of(fps[100:160])
    own = [name_of[i] if rng.random() < 0.8 else "no such name" for i in ids[100:160]]

    def expected(limit: Optional[int], own: Collection[str], parts: Any) -> list[tuple[int, ...]]:
        made: list[tuple[int, ...]] = []
        for row, (value, name) in enumerate(zip(asked, own)):
            apart = sorted(
                (bin(value ^ other).count("1"), other, id_, part)
                for part, some in enumerate(parts)
                for other, id_ in some
                if part > 0 or name_of[id_] != name
            )
            made += [(row, *found) for found in [found for found in apart if found[0] <= 3][:limit]]
        return made

    def rows_of(found: sstore.BatchMatches) -> list[tuple[int, ...]]:
        values = whole_of(found.fingerprint)
        parts = found["store_index"].tolist() if "store_index" in found else [0] * len(found)
        return list(zip(found.query_index.tolist(), found.distance.tolist(), values, found.id.tolist(), parts))

    with sstore.open(folder / "a") as store:
        for limit in (None, 1, 4, 1000):
            want = expected(limit, own, [records])
            assert rows_of(store.query_batch(queries, exclude_names=own, limit=limit)) == want
            for size in (20, 1 << 20):
                batches = list(store.iter_query_batch(queries, exclude_names=own, limit=limit, batch_size=size))
                assert [row for batch in batches for row in rows_of(batch)] == want
                assert all(0 < len(batch) <= size for batch in batches)
            found = store.query_batch(queries, exclude_names=own, limit=limit, also=[folder / "b"])
            assert rows_of(found) == expected(limit, own, [records, others])
            groups = [own[row - row % 3] for row in range(60)]
            by_group = store.query_groups(queries, groups, limit=limit, exclude_self=True, with_names=True)
            ends = [row for row in range(60) if row == 59 or groups[row] != groups[row + 1]]
            begins = [0, *(end + 1 for end in ends[:-1])]
            every = expected(None, groups, [records])
            wanted: list[tuple[int, ...]] = []
            for number, (begin, end) in enumerate(zip(begins, ends)):
                nearest: dict[tuple[int, int], int] = {}
                for row, distance, value, id_, _ in every:
                    if begin <= row <= end:
                        nearest[value, id_] = min(distance, nearest.get((value, id_), 99))
                wanted += [(number, d, *key) for d, key in sorted((d, key) for key, d in nearest.items())[:limit]]
            values = whole_of(by_group.fingerprint)
            columns = by_group.group_index.tolist(), by_group.distance.tolist(), values, by_group.id.tolist()
            assert list(zip(*columns)) == wanted
            assert by_group.name.tolist() == [name_of[row[-1]] for row in wanted]
        bad = sstore.BadRows()
        some: Any = [None, *given[100:103]]
        found = store.query_batch(some, exclude_names=["x", *own[:3]], skip_bad=bad)
        assert rows_of(found) == [(row + 1, *rest) for row, *rest in expected(None, own, [records]) if row < 3]
        forms: list[Any] = [np.array(own), pyarrow.array(own), polars.Series(own), [name.encode() for name in own]]
        for names in forms:
            assert rows_of(store.query_batch(queries, exclude_names=names)) == expected(None, own, [records])
        assert len(store.query_batch(queries[:0], exclude_names=[])) == 0
        wrong: list[tuple[Any, str]] = [
            ({"exclude_names": own[1:]}, "exclude_names: expected 60 names, one for each fingerprint, found 59"),
            ({"exclude_names": [*own[1:], ""]}, "exclude_names: row 59: expected 1 to 65536 bytes"),
            ({"exclude_names": [*own[1:], None]}, "exclude_names: row 59: null"),
            ({"exclude_names": range(60)}, "exclude_names: row 0: expected str or bytes, found int"),
            ({"exclude_names": own, "exclude_ids": range(60)}, "expected one of exclude_ids= and exclude_names="),
            ({"exclude_ids": own}, "exclude_ids: .*exclude_names= takes other texts"),
            ({"exclude_ids": range(59)}, "exclude_ids: expected 60 ids"),
        ]
        for options, message in wrong:
            with pytest.raises((ValueError, TypeError), match=message):
                store.query_batch(queries, **options)
    sstore.build(folder / "c", given, bits=64 * words)
    with sstore.open(folder / "c") as store:
        with pytest.raises(ValueError, match="has no names"):
            store.query_batch(queries, exclude_names=own)
        with pytest.raises(ValueError, match="has no names"):
            store.query_groups(queries, own, exclude_self=True)
    last = (1 << 64) - 1  # the store has no next id
    sstore.build(folder / "d", [1, 2], [last, 7], names=["a", "b"])
    with sstore.open(folder / "d") as store:
        assert store.query_batch([1, 1, 1], 64, exclude_names=["a", "b", "c"]).id.tolist() == [7, last, last, 7]


@pytest.mark.parametrize("form", ["texts", "bytes", "arrow", "table", "with ids"])
def test_offers(folder: pathlib.Path, rng: np.random.Generator, form: str) -> None:
    """Named records that are inserted if new, against a model, with the names of those that they are near."""
    path, names = folder / "a", random_names(rng, 30)
    names = list(dict.fromkeys(name.replace("\udcff", "") or "z" for name in names))
    fps = clustered(rng, 400)
    given = [names[i] for i in rng.integers(0, len(names), 400).tolist()]
    id_of = {name: number for number, name in enumerate(names)}
    model: list[tuple[int, int, str]] = []
    next_id = 0
    for begin in range(0, 400, 100):
        with sstore.Deduplicator(path, 3, names=True, publish_every=int(rng.integers(1, 60))) as seen:
            for first in range(begin, begin + 100, 25):
                part, texts = fps[first : first + 25], given[first : first + 25]
                forms: dict[str, Any] = {
                    "texts": (part, None, texts),
                    "bytes": (part, None, [text.encode() for text in texts]),
                    "arrow": (part, None, pyarrow.array(texts)),
                    "table": (pyarrow.table({"fingerprint": part, "name": texts}), None, None),
                    "with ids": (part, [id_of[text] for text in texts], texts),
                }
                records, ids, named = forms[form]
                answers = seen.offer_and_match(records, ids, names=named)
                near: list[tuple[int, str]] = []
                for row, (fp, name) in enumerate(zip(part.tolist(), texts)):
                    matches = [(row, other) for f, _, other in model if bin(f ^ fp).count("1") <= 3]
                    assert answers.is_new[row] == (matches == [])
                    near += matches
                    if not matches:
                        own = [id_ for _, id_, other in model if other == name]
                        id_ = id_of[name] if form == "with ids" else own[0] if own else next_id
                        next_id = max(next_id, id_ + 1)
                        model.append((fp, id_, name))
                        assert answers.id[row] == id_
                assert sorted(zip(answers.matches.query_index.tolist(), answers.matches["name"])) == sorted(near)
                known = [id_ for _, id_, _ in model]
                assert seen.names(known).tolist() == [name for _, _, name in model]
            assert seen.names(known[0]).tolist() == [model[0][2]]
    with sstore.open(path) as store:
        stored = store.records(with_names=True)
        assert sorted(zip(stored.fingerprint.tolist(), stored.id.tolist(), stored.name)) == sorted(model)
    with sstore.Deduplicator(path) as seen:
        with pytest.raises(TypeError, match="a name for each record"):
            seen.offer([1])
        with pytest.raises(ValueError, match="names"):
            seen.offer([1], names=["a", "b"])
        bad = sstore.BadRows()
        wrong: Any = ["a", "b\nc"]
        assert seen.offer([1 << 60, 1 << 50], names=wrong, skip_bad=bad).tolist() == [True, False] and bad.count == 1
    with sstore.Deduplicator(folder / "b") as seen:
        with pytest.raises(ValueError, match="the store has no names"):
            seen.offer([1], names=["a"])
        with pytest.raises(ValueError, match="has no names"):
            seen.names(1)


def test_bad_names(folder: pathlib.Path, rng: np.random.Generator) -> None:
    fps = clustered(rng, 5)
    for bad_name, reason in (
        (None, "null"),
        ("", "found 0"),
        ("x" * 65537, "found 65537"),
        ("a\nb", "newlines"),
        ("a\0b", "null bytes"),
    ):
        names: list[Any] = ["a", "b", bad_name, "d", "e"]
        forms: list[Any] = [names, pyarrow.array(names), np.array(names, object)]
        for form in forms:
            with pytest.raises((ValueError, TypeError), match=f"names: row 2: .*{reason}.*; skip_bad=True"):
                sstore.build(folder / "a", fps, names=form)
            bad = sstore.BadRows()
            sstore.build(folder / "a", fps, names=form, skip_bad=bad, force=True)
            with sstore.open(folder / "a") as store:
                assert names_of(store) == {0: "a", 1: "b", 2: "d", 3: "e"}
                assert [row for row, _ in bad.rows] == [2] and reason in bad.rows[0].reason
                with pytest.raises((ValueError, TypeError), match="names: row 1"):
                    store.get(names=names[1:4])
        bad_rows: Any = [fps[0], None, *fps[2:]]
        bad = sstore.BadRows()
        sstore.build(folder / "a", bad_rows, names=names, skip_bad=bad, force=True)
        assert names_of(sstore.open(folder / "a")) == {0: "a", 1: "d", 2: "e"} and bad.count == 2
        sstore.remove(folder / "a", ids=range(5))
        os.rename(folder / "a", folder / f"{reason}")
    sstore.build(folder / "b", fps, names=["a", "b", "c", "d", "e"])
    numbers: Any = range(5)
    sstore.build(folder / "c", fps)
    wrong: list[Any] = [
        (lambda: sstore.add(folder / "b", fps), TypeError, "a name for each record"),
        (lambda: sstore.add(folder / "b", fps, [0] * 5, names=["x"] * 5), ValueError, "id 0 has two names"),
        (lambda: sstore.add(folder / "c", fps, names=["x"] * 5), ValueError, "has no names"),
        (lambda: sstore.remove(folder / "c", names="x"), ValueError, "has no names"),
        (lambda: sstore.remove(folder / "b", ids=[1], names="x"), TypeError, "expected fingerprints, ids"),
        (lambda: sstore.remove(folder / "b", names="x", list_absent=True), ValueError, "list_absent"),
        (lambda: sstore.build(folder / "d", fps, names=["x"] * 5, no_ids=True), ValueError, "cannot have names"),
        (lambda: sstore.build(folder / "d", fps, names="x"), TypeError, "found str"),
        (lambda: sstore.build(folder / "d", fps, names=numbers), TypeError, "expected str or bytes, found int"),
        (lambda: sstore.build(folder / "d", fps, names=pyarrow.array([1] * 5)), TypeError, "array of strings"),
        (lambda: sstore.build(folder / "d", fps, names=["\ud800"] * 5), ValueError, "not Unicode"),
        (lambda: sstore.build(folder / "d", fps, names=np.array(["\ud800"] * 5)), ValueError, "not Unicode"),
        (lambda: sstore.build(folder / "d", fps, names=np.array([["x"]] * 5)), ValueError, "shape"),
        (lambda: sstore.open(folder / "b").get(), TypeError, "ids or names"),
        (lambda: sstore.open(folder / "b").get(1, names=["a"]), TypeError, "ids or names"),
        (lambda: sstore.open(folder / "b").get(id=1, name="a"), TypeError, "ids or names"),
        (lambda: sstore.open(folder / "c").get(names=["a"]), ValueError, "has no names"),
        (
            lambda: sstore.open(folder / "b").get(names=numbers),
            TypeError,
            "names: row 0: expected str or bytes, found int",
        ),
    ]
    for call, kind, message in wrong:
        with pytest.raises(kind, match=message):
            call()
    assert not (folder / "d").exists() and len(sstore.open(folder / "b")) == 5


def test_single_keys(folder: pathlib.Path, rng: np.random.Generator) -> None:
    """One id or one name where several can be given, and each in the place of the other."""
    path, fps = folder / "a", clustered(rng, 5)
    sstore.build(path, fps, names=["a", "b", "c", "d", "e"])
    store = sstore.open(path)
    number: Any = np.uint64(2)
    assert store.get(name="c") == store.get(names="c") == store.get(names=[b"c"]) == store.get(name=b"c")
    assert store.get(id=2) == store.get(2) == store.get(number) == store.get(ids=[2]) == store.get(name="c")
    assert store.get(id=2).id.tolist() == [2] and store.names(number).tolist() == ["c"]
    assert "name" not in store.get(name="c") and store.get(id=2, with_names=True).name.tolist() == ["c"]
    assert len(store.get(id=9)) == len(store.get(name="no such name")) == 0
    assert sstore.remove(path, ids=9).absent_count == sstore.remove(path, names="z").absent_count == 1
    assert sstore.remove(path, ids=4).removed_count == sstore.remove(path, names=b"d").removed_count == 1

    def refuses(kind: type[Exception], message: str, call: Any, *arguments: Any, **options: Any) -> None:
        with pytest.raises(kind, match=message):
            call(*arguments, **options)

    for change, to in ((sstore.build, folder / "b"), (sstore.add, path), (sstore.replace, path)):
        for text in ("a text", b"a text"):
            message = r"names: expected .*array of texts, found \w+; of one text, give \[text\]"
            refuses(TypeError, message, change, to, fps[:1], names=text)
    is_number = r"int\(text\) reads a number"
    of_ids: list[Any] = [store.get, store.names, lambda ids: sstore.remove(path, ids=ids)]
    for call in of_ids:
        forms: list[Any] = [URL, URL.encode(), [URL], [1, URL], np.array([URL]), pandas.Series([URL])]
        for texts in [*forms, polars.Series([URL]), pyarrow.array([URL])]:
            refuses(TypeError, f"ids: .*found .*: {is_number}; names= takes other texts, such as URLs", call, texts)
    for call in (store.query, store.nearest, store.get):
        for text in (URL, URL.encode()):
            refuses(TypeError, f"id: expected int, found .*: {is_number}; name= takes other texts", call, id=text)
        refuses(TypeError, "id: expected one int, found float", call, id=1.0)
        refuses(TypeError, "name: expected str or bytes, found int; id= takes a number", call, name=5)
        refuses(TypeError, "name: expected str or bytes, found list", call, name=[URL])
        refuses(ValueError, "names: row 0: expected 1 to 65536 bytes, found 0", call, name="")
    assert not (folder / "b").exists() and len(store.reopen()) == 3


def test_pairs_of_names(folder: pathlib.Path, rng: np.random.Generator) -> None:
    """Pairs as pairs of paths, by brute force."""
    fps = clustered(rng, 300)
    ids = np.arange(300, dtype=np.uint64)
    names = [f"/pages/{i * 7919 % 300}.html" for i in range(300)]
    sstore.build(folder / "a", fps, names=names, distance=6)
    with sstore.open(folder / "a") as store:
        pairs = store.pairs(with_names=True)
        found = {frozenset(pair) for pair in zip(pairs.name, pairs.other_name)}
        assert found == {frozenset((names[a], names[b])) for _, a, _, b in brute_pairs(fps, ids, 6)}
