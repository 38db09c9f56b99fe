"""Fingerprints of several words, against brute force: random widths, skewed and constant words."""

from __future__ import annotations

import pathlib
import pickle
import tempfile
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from brute import Words, roots
from brute_wide import (
    Row,
    brute_pairs,
    brute_query,
    bytes_of,
    distances,
    number,
    numbers,
    pair_rows,
    random_words,
    roots_of,
    skewed,
)

import sstore


def rows_of(matches: sstore.Matches) -> list[Row]:
    ids = matches.id if "id" in matches else np.zeros(len(matches), np.uint64)
    return sorted(zip(matches.distance.tolist(), numbers(matches.fingerprint), ids.tolist()))


def records_of(path: pathlib.Path) -> list[Row]:
    with sstore.open(path) as store:
        found = store.records()
    return list(zip(numbers(found.fingerprint), found.id.tolist()))


@pytest.mark.parametrize("case", range(8))
def test_queries(folder: pathlib.Path, rng: np.random.Generator, case: int) -> None:
    words = random_words(rng)
    fps = skewed(rng, int(rng.integers(1, 1500)), words)
    ids = rng.permutation(len(fps)).astype(np.uint64)
    distance = int(rng.integers(0, min(16 * words, 40) + 1))
    change = sstore.build(folder / "a", fps, ids, distance=distance, bits=64 * words)
    assert change.record_count == len(fps)
    queries = np.concatenate([fps[: 10 + case], skewed(rng, 5, words)])
    with sstore.open(folder / "a", io=("auto", "pread", "mmap", "memory")[case % 4]) as store:
        assert (store.bits, store.words, store.distance) == (64 * words, words, distance)
        assert f"of {64 * words} bits" in repr(store) and store.stat().fingerprint_bits == 64 * words
        assert {table.word for table in store.stat().segments[0].tables} <= set(range(words))
        assert store.stat().fingerprints_bytes > 0
        for near in (None, 0, int(rng.integers(0, 64 * words + 1))):
            limit = distance if near is None else near
            expected = [brute_query(fps, ids, query, limit) for query in queries]
            for query, rows in zip(queries, expected):
                found = store.query(query, near)
                assert found.fingerprint.shape == (len(found), words) and rows_of(found) == rows
                assert store.count(query, near) == len(rows)
            batch = store.query_batch(queries, near)
            assert np.array_equal(
                batch.query_index, np.repeat(np.arange(len(queries)), [len(rows) for rows in expected])
            )
            given = zip(batch.distance.tolist(), numbers(batch.fingerprint), batch.id.tolist())
            assert list(given) == [row for rows in expected for row in rows]
            parts = list(store.iter_query_batch(queries, near, batch_size=7))
            assert np.array_equal(
                np.concatenate([np.empty((0, words), np.uint64), *(p.fingerprint for p in parts)]), batch.fingerprint
            )
        query = queries[0] ^ np.uint64(1)
        smallest = int(distances(fps, query).min())
        assert rows_of(store.nearest(query)) == brute_query(fps, ids, query, smallest)
        tables = store.explain(query, min(smallest, distance))
        scan = 2**32 - 1  # of whole fingerprints
        assert {table.word for table in tables} - {scan} == set(range(words))
        forms: list[Any] = [
            number(query),
            number(query) - (int(query[0]) >> 63 << 64 * words),
            bytes_of(query),
            bytes_of(query).tobytes(),
            query.view(np.int64),
            query.astype(">u8"),
        ]
        for form in forms:
            assert rows_of(store.query(form)) == rows_of(store.query(query))
            assert store.count(form) == store.count(query)
        copy = pickle.loads(pickle.dumps(store))
        assert copy.words == words and rows_of(copy.query(query)) == rows_of(store.query(query))


def test_inputs(folder: pathlib.Path, rng: np.random.Generator) -> None:
    pyarrow, polars = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    pandas, duckdb = pytest.importorskip("pandas"), pytest.importorskip("duckdb")
    words = random_words(rng)
    fps = skewed(rng, 300, words)
    data = bytes_of(fps)
    strings = [row.tobytes() for row in data]
    expected = sorted(zip(numbers(fps), range(300)))
    lists = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(fps.reshape(-1)), words)
    signed = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(fps.reshape(-1).view(np.int64)), words)
    fixed = pyarrow.array(strings, pyarrow.binary(8 * words))
    transposed = np.asfortranarray(fps)
    con = duckdb.connect()
    con.register("records", pyarrow.table({"fingerprint": fixed}))
    forms: dict[str, Any] = {
        "uint64": fps,
        "int64": fps.view(np.int64),
        "big-endian": fps.astype(">u8"),
        "columns first": transposed,
        "every other": np.repeat(fps, 2, axis=0)[::2],
        "bytes": data,
        "a list of bytes": strings,
        "a list of arrays": list(fps),
        "a list of arrays of bytes": list(data),
        "objects": np.array(strings, object),
        "fixed binary": fixed,
        "sliced": pyarrow.array(strings[:1] + strings, pyarrow.binary(8 * words))[1:],
        "binary": pyarrow.array(strings, pyarrow.binary()),
        "large binary, sliced": pyarrow.array(strings[:1] + strings, pyarrow.large_binary())[1:],
        "chunked": pyarrow.chunked_array([fixed[:100], fixed[100:100], fixed[100:]]),
        "lists": lists,
        "signed lists": signed,
        "sliced lists": pyarrow.concat_arrays([lists, lists])[300:],
        "pandas": pandas.Series(strings),
        "polars": polars.Series(strings, dtype=polars.Binary),
        "polars, sliced": polars.Series(strings[:2] + strings, dtype=polars.Binary)[2:],
        "polars, numbers": polars.Series(fps.tolist(), dtype=polars.Array(polars.UInt64, words)),
        "polars, in chunks": polars.concat([polars.Series(strings[:9]), polars.Series(strings[9:])], rechunk=False),
        "a table": pyarrow.table({"fingerprint": fixed, "id": np.arange(300)}),
        "a table of lists": pyarrow.table({"fingerprint": lists, "id": np.arange(300)})[0:],
        "a sliced table": pyarrow.concat_tables([pyarrow.table({"fingerprint": fixed})] * 2)[300:],
        "a frame": polars.DataFrame({"fingerprint": strings, "id": np.arange(300)}),
        "a frame of pandas": pandas.DataFrame({"fingerprint": strings, "id": np.arange(300)}),
        "duckdb": con.sql("select fingerprint from records"),
    }
    for name, form in forms.items():
        sstore.build(folder / "a", form, bits=64 * words, force=True)
        assert records_of(folder / "a") == expected, name
        with sstore.open(folder / "a") as store:
            assert len(store.query_batch(form, 0)) >= 300, name
            assert store.words == words
    for form in (
        numbers(fps),
        [value - (1 << 64 * words) if value >> 64 * words - 1 else value for value in numbers(fps)],
    ):
        sstore.build(folder / "a", form, bits=64 * words, force=True)
        assert records_of(folder / "a") == expected
    sstore.build(folder / "a", fps[:0], bits=64 * words, force=True)
    for form in (data[:0], fixed[:0], lists[:0], pyarrow.table({"fingerprint": fixed[:0]})):
        sstore.build(folder / "a", form, force=True)
        with sstore.open(folder / "a") as store:
            assert store.words == words and len(store) == 0 and store.records().fingerprint.shape == (0, words)
    short = [b"\x01\x02\x03\x04\x05\x06\x07\x08", b"12345678"]
    sstore.build(folder / "b", short)
    assert records_of(folder / "b") == [(0x0102030405060708, 0), (0x3132333435363738, 1)]
    views = polars.Series(short, dtype=polars.Binary)  # which are inside of the views
    sstore.build(folder / "b", views, force=True)
    assert records_of(folder / "b") == [(0x0102030405060708, 0), (0x3132333435363738, 1)]


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (np.zeros(3, np.uint64), r"shape \(n, 4\) of 64-bit integers or \(n, 32\) of uint8 .* 256 bits, found \(3,\)"),
        (np.zeros((3, 2), np.uint64), r"shape \(n, 4\) .*, found \(3, 2\)"),
        (np.zeros((3, 40), np.uint8), r"shape \(n, 4\) .*, found \(3, 40\) of uint8"),
        (np.zeros((3, 4, 1), np.uint64), r"shape \(n, 4\) .*, found \(3, 4, 1\)"),
        (np.zeros((3, 128), np.bool_), r"single bits in 256 columns, found an array of shape \(3, 128\)"),
        (np.full((3, 256), 2), r"shape \(n, 4\) .*, found \(3, 256\)"),
        (np.full((3, 256), 2, np.uint8), r"shape \(n, 4\) .*, found \(3, 256\) of uint8"),
        (np.zeros((3, 4), np.int32), r"shape \(n, 4\) .*, found \(3, 4\) of uint32"),
        (np.zeros((3, 4)), "float64"),
        ([b"12345678"], "expected 32 bytes for each fingerprint, found 8"),
        ([bytes(32), 5], "expected bytes like the others, found int"),
        ([1 << 256], "numbers of 256 bits"),
        ([-(1 << 255) - 1], "numbers of 256 bits"),
        ([np.zeros(4, np.uint64), np.zeros(5, np.uint64)], r"row 1: .*shape \(n, 4\).*found \(1, 5\)"),
        (["00" * 32], "str"),
    ],
)
def test_wrong_shapes(folder: pathlib.Path, wrong: Any, reason: str) -> None:
    sstore.build(folder / "a", np.zeros((2, 4), np.uint64), bits=256)
    store = sstore.open(folder / "a")
    for call in (
        lambda: sstore.add(folder / "a", wrong),
        lambda: sstore.remove(folder / "a", wrong),
        lambda: store.query_batch(wrong),
        lambda: sstore.build(folder / "b", wrong, bits=256),
    ):
        with pytest.raises((TypeError, ValueError), match=reason):
            call()
    assert not (folder / "b").exists() and len(store.reopen()) == 2 and sstore.verify(folder / "a") == []


def test_wrong_arrow_data(folder: pathlib.Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    sstore.build(folder / "a", np.zeros((2, 4), np.uint64), bits=256)
    wide = pyarrow.array([bytes(32), None], pyarrow.binary(32))
    with_null = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array([1, None, 3, 4], "uint64"), 4)
    for wrong, reason in (
        (wide, "row 1: null; skip_bad=True"),
        (with_null, "row 0: null"),
        (pyarrow.array([bytes(32), bytes(16)]), "row 1: expected 32 bytes for each fingerprint, found 16"),
        (polars.Series([bytes(32), bytes(16)]), "row 1: expected 32 bytes for each fingerprint, found 16"),
        (pyarrow.array([bytes(16)], pyarrow.binary(16)), "expected 32 bytes for each fingerprint, found 16"),
        (pyarrow.array([bytes(3)]), "found 3"),
        (pyarrow.array([b""]), "found 0"),
        (pyarrow.array([1, 2], "uint64"), "numbers of 256 bits, found uint64"),
        (pyarrow.array(["a" * 32]), "string"),
        (pyarrow.array([[1, 2, 3, 4]]), "list"),
    ):
        with pytest.raises((TypeError, ValueError), match=reason):
            sstore.add(folder / "a", wrong)
    table = pyarrow.table(
        {"fingerprint": pyarrow.chunked_array([pyarrow.array([bytes(32)]), pyarrow.array([bytes(24)])])}
    )
    with pytest.raises(ValueError, match="row 1: expected 32 bytes for each fingerprint, found 24"):
        sstore.build(folder / "b", table)
    assert not (folder / "b").exists()
    with pytest.raises((TypeError, ValueError), match="shape"):
        sstore.build(folder / "b", [1], np.zeros((1, 2), np.uint64))
    with pytest.raises((TypeError, ValueError), match="int"):
        sstore.build(folder / "b", [1], [b"12345678"])


def test_many_zeros_are_no_bits(folder: pathlib.Path) -> None:
    sstore.build(folder / "a", np.zeros(256, np.int64))
    assert sstore.open(folder / "a").query_batch(np.zeros(256, np.int64)).fingerprint.shape == (256 * 256,)


def test_wrong_queries(folder: pathlib.Path) -> None:
    sstore.build(folder / "wide", np.zeros((2, 4), np.uint64), bits=256)
    sstore.build(folder / "narrow", [1, 2])
    wide, narrow = sstore.open(folder / "wide"), sstore.open(folder / "narrow")
    shape = r"\(4,\) of 64-bit integers or \(32,\) of uint8"
    wrong: Any
    for wrong, reason in (
        (np.zeros(3, np.uint64), rf"{shape} for 256 bits, found \(3,\)"),
        (np.zeros((1, 4), np.uint64), r"of shape \(4,\) or \(32,\), found an array of shape \(1, 4\)"),
        (np.zeros(128, np.bool_), "single bits in 256 columns"),
        (np.full(256, 2), r"found \(256,\) of int64"),
        (bytes(8), "32 bytes"),
        (1 << 256, "256 bits"),
        (1.5, "found float"),
        ("00", r"found str: int\(text\) reads decimal digits"),
    ):
        for call in (wide.query, wide.count, wide.nearest, wide.explain):
            with pytest.raises((TypeError, ValueError), match=reason):
                call(wrong)
    for wrong in (np.zeros(4, np.uint64), bytes(32), 1 << 64):
        for call in (narrow.query, narrow.count, narrow.nearest, narrow.explain):
            with pytest.raises(ValueError):
                call(wrong)
    for good in (np.array([1], np.uint64), b"\0\0\0\0\0\0\0\1", np.array([0] * 7 + [1], np.uint8)):
        assert narrow.query(good, 0).id.tolist() == [0] and narrow.count(good, 0) == 1
    for ask, distance in ((wide.query, 257), (wide.nearest, 257), (wide.count, 257), (wide.query, -1)):
        with pytest.raises(ValueError, match="0 to 256"):
            ask(0, distance)
    assert len(wide.query(0, 256)) == 2
    with pytest.raises(ValueError, match="store of 256 bits, as this one is, found one of 64 bits"):
        wide.join(narrow)
    with pytest.raises(ValueError, match="0 to 64"):
        wide.pairs(65)
    wide.close()
    with pytest.raises(ValueError, match="closed"):
        wide.query(0)


@pytest.mark.parametrize("case", range(4))
def test_changes(folder: pathlib.Path, rng: np.random.Generator, case: int) -> None:
    words, path = random_words(rng), folder / "a"
    fps, more = skewed(rng, 700, words), skewed(rng, 300, words)
    distance = int(rng.integers(0, min(16 * words, 40) + 1))
    truth = {*zip(numbers(fps), range(700))}
    sstore.build(path, fps, distance=distance, bits=64 * fps.shape[1])
    assert sorted(truth) == records_of(path)
    added = np.concatenate([more, fps[:10]])
    ids = np.concatenate([np.arange(2000, 2300), np.arange(10)]).astype(np.uint64)
    assert sstore.add(path, added, ids).added_count == 300
    truth |= {*zip(numbers(added), ids.tolist())}
    assert sorted(truth) == records_of(path)
    gone = {*zip(numbers(fps[50:60]), range(50, 60))}
    assert sstore.remove(path, fps[50:60], np.arange(50, 60)).removed_count == len(gone & truth)
    truth -= gone
    assert sorted(truth) == records_of(path)
    named = {*numbers(more[:20])}
    sstore.remove(path, more[:20])
    truth = {row for row in truth if row[0] not in named}
    sstore.remove(path, ids=[2100, 2101])
    truth = {row for row in truth if row[1] not in (2100, 2101)}
    assert sorted(truth) == records_of(path)
    with sstore.open(path) as store:
        records = store.records()
        query = skewed(rng, 1, words)[0]
        assert rows_of(store.query(query, 20 * words)) == brute_query(
            records.fingerprint, records.id, query, 20 * words
        )
    sstore.compact(path)
    assert sorted(truth) == records_of(path) and sstore.verify(path) == []
    with sstore.open(path) as store:
        sharded = sstore.shard_numbers(store.records().fingerprint, 3)
    parts = []
    for shard in range(3):
        sstore.shard(folder / f"{shard}", path, shard, 3)
        parts.append(records_of(folder / f"{shard}"))
        chosen = np.flatnonzero(sharded == shard)
        assert parts[-1] == [sorted(truth)[i] for i in chosen.tolist()]
    sstore.merge(folder / "merged", [folder / "0", folder / "1", folder / "2"])
    assert sorted(truth) == records_of(folder / "merged")
    sstore.build(folder / "other", np.zeros((1, 1 + words % 16), np.uint64), distance=0, bits=64 + 64 * (words % 16))
    with pytest.raises(ValueError):
        sstore.merge(folder / "mixed", [path, folder / "other"])
    assert not (folder / "mixed").exists()


def test_no_ids(folder: pathlib.Path, rng: np.random.Generator) -> None:
    words = random_words(rng)
    fps = skewed(rng, 400, words)
    sstore.build(folder / "a", fps, no_ids=True, distance=5, bits=64 * words)
    distinct = sorted({*numbers(fps)})
    with sstore.open(folder / "a") as store:
        assert numbers(store.records().fingerprint) == distinct and "id" not in store.query(fps[0])
        assert rows_of(store.query(fps[0])) == brute_query(fps, np.zeros(400, np.uint64), fps[0], 5)
    assert sstore.remove(folder / "a", fps[:1]).removed_count == 1


def test_columns_of_words(folder: pathlib.Path, rng: np.random.Generator) -> None:
    """As in .npy files, only the caller knows whether the last column of an array of words has ids."""
    for columns in range(2, 17):
        array = rng.integers(0, 1 << 63, (5, columns), dtype=np.uint64)
        found = rf"shape \(n, {columns}\) .* {64 * columns} bits, or of {64 * columns - 64} bits and ids: bits="
        for refused in (array, array.astype(np.int64), array[:0]):
            with pytest.raises(sstore.ArgumentError, match=found):
                sstore.build(folder / "a", refused)
        with pytest.raises(sstore.ArgumentError, match=found):
            sstore.Builder(folder / "a").add(array)
        for bits, width, ids in (
            (64 * columns, columns, range(5)),
            (64 * columns - 64, columns - 1, array[:, -1].tolist()),
        ):
            sstore.build(folder / "b", array, bits=bits, distance=0, force=True)
            assert records_of(folder / "b") == sorted(zip(numbers(array[:, :width]), ids))
        sstore.build(folder / "b", array, np.arange(5), distance=0, force=True)  # given ids leave no doubt
        assert sstore.open(folder / "b").bits == 64 * columns
    array = rng.integers(0, 1 << 63, (5, 17), dtype=np.uint64)
    sstore.build(folder / "b", array, distance=0, force=True)
    assert records_of(folder / "b") == sorted(zip(numbers(array[:, :16]), array[:, 16].tolist()))


def test_builders(folder: pathlib.Path, rng: np.random.Generator) -> None:
    fps = skewed(rng, 300, 4)
    expected = sorted(zip(numbers(fps), range(300)))
    for number_, options in enumerate(({}, {"bits": 256}, {"distance": 31}, {"distance": 31, "bits": 256})):
        path = folder / str(number_)
        with sstore.Builder(path, **options) as builder:  # type: ignore[arg-type]
            builder.add(fps[:100] if "bits" in options else bytes_of(fps[:100]))
            builder.add(bytes_of(fps[100:]))
            with pytest.raises(ValueError, match=r"shape \(n, 4\) .* found \(3,\)"):
                builder.add([1, 2, 3] if "bits" in options and False else np.zeros(3, np.uint64))
        assert records_of(path) == expected
    with pytest.raises(
        ValueError, match=r"shape \(n,\) or \(n, 8\) of uint8 for fingerprints of 64 bits, found \(300, 4\)"
    ):
        with sstore.Builder(folder / "b") as builder:
            builder.add([1])
            builder.add(fps)
    assert not (folder / "b").exists()
    with sstore.Builder(folder / "c", bits=1024) as builder:
        pass
    assert sstore.open(folder / "c").bits == 1024
    with sstore.Builder(folder / "d") as builder:
        pass
    assert sstore.open(folder / "d").bits == 64
    for wrong in (0, 63, 65, 128 + 8, 1088, -64):
        with pytest.raises(ValueError, match="bits: expected a multiple of 64 from 64 to 1024"):
            sstore.Builder(folder / "e", bits=wrong)
    with pytest.raises(ValueError, match="distance: expected 0 to 16, found 17"):
        sstore.build(folder / "e", [1], distance=17)
    with pytest.raises(ValueError, match="distance: expected 0 to 16, found 17"):
        sstore.Builder(folder / "e", distance=17).finish()
    with pytest.raises(ValueError, match="distance: expected 0 to 64, found 65"):
        sstore.build(folder / "e", fps, distance=65, bits=256)
    assert not (folder / "e").exists()
    sstore.build(folder / "a", [1])
    with pytest.raises(sstore.ExistsError):
        sstore.build(folder / "a", fps, bits=256)
    sstore.build(folder / "a", fps, force=True, bits=256)
    assert records_of(folder / "a") == expected
    sstore.build(folder / "planned", fps, distance=31, plan="22,21,21", bits=256)
    words = sstore.open(folder / "planned").stat().words
    assert records_of(folder / "planned") == expected and len(words) == 4
    assert sum(word.radius + 1 for word in words) == 32
    assert all(word.table_count == 3 and word.plan.startswith("22:") for word in words)


def test_results(folder: pathlib.Path, rng: np.random.Generator) -> None:
    pyarrow, polars = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    pandas, duckdb = pytest.importorskip("pandas"), pytest.importorskip("duckdb")
    words = random_words(rng)
    fps = skewed(rng, 500, words)
    sstore.build(folder / "a", fps, distance=8, bits=64 * words)
    store = sstore.open(folder / "a")
    tables: list[sstore.Columns] = [
        store.records(),
        store.query(fps[0]),
        store.query_batch(fps[:50]),
        store.query(fps[0], 0),
    ]
    for table in tables:
        strings = [row.tobytes() for row in bytes_of(table["fingerprint"])]
        arrow, frame, data = table.to_arrow(), table.to_polars(), table.to_pandas()
        assert arrow.schema.field("fingerprint").type == pyarrow.binary(8 * words)
        assert frame.schema["fingerprint"] == polars.Binary and polars.DataFrame(table).equals(frame)
        assert pyarrow.table(table)["fingerprint"].to_pylist() == strings
        assert frame["fingerprint"].to_list() == data["fingerprint"].tolist() == strings
        assert (
            data["fingerprint"].is_monotonic_increasing or not isinstance(table, sstore.Records) or "distance" in table
        )
        for name in set(table) - {"fingerprint"}:
            assert arrow[name].to_pylist() == frame[name].to_list() == data[name].tolist() == table[name].tolist()
        assert duckdb.sql("select count(distinct fingerprint) from arrow").fetchall() == [(len(set(strings)),)]
        assert table == sstore.Columns({name: column.copy() for name, column in table.columns.items()})
        assert strings[0].hex() in repr(table) and strings[0].hex() in table._repr_html_()
        forms: list[Any] = [table, arrow, frame, data]  # pandas' type does not say that it is an Arrow stream
        for form in forms:
            sstore.build(folder / "b", form, force=True)
            ids = table["id"].tolist()
            assert records_of(folder / "b") == sorted({*zip(numbers(table["fingerprint"]), ids)})
    reader = pyarrow.RecordBatchReader.from_stream(store.iter_records(batch_size=99))
    assert reader.schema == store.records().to_arrow().schema
    assert reader.read_all().equals(store.records().to_arrow())
    sstore.build(folder / "c", store.iter_records(batch_size=99))
    assert records_of(folder / "c") == records_of(folder / "a")
    assert isinstance(pandas.DataFrame.from_records([]), pandas.DataFrame)
    with pytest.raises(ValueError, match="one shape"):
        sstore.Columns({"fingerprint": fps, "id": np.zeros(3, np.uint64)})


def test_hamming_distance(rng: np.random.Generator) -> None:
    a, b = skewed(rng, 2, random_words(rng))
    expected = int(distances(a.reshape(1, -1), b)[0])
    assert sstore.hamming_distance(a, b) == expected
    assert sstore.hamming_distance(bytes_of(a).tobytes(), b) == expected
    assert sstore.hamming_distance(bytes_of(a), bytes_of(b)) == expected
    assert sstore.hamming_distance(b"\0" * 7 + b"\3", 1) == 1
    with pytest.raises(ValueError):
        sstore.hamming_distance(a, b[:1])
    assert sstore.hamming_distance(a, number(b)) == expected


@pytest.mark.parametrize("case", range(7))
def test_joins_without_a_store(rng: np.random.Generator, case: int) -> None:
    """Joins of all tables, and without tables, of one side and of two, give each pair once. Also of 64 bits."""
    words = random_words(rng) if case > 0 else 1
    fps = skewed(rng, int(rng.integers(2, 400)), words)
    ids = rng.integers(0, 1 + len(fps) // 2, len(fps), dtype=np.uint64)
    distance = int(rng.integers(0, 1 + (16 * words if case % 3 == 0 else 6)))
    expected = brute_pairs(fps, ids, distance)
    given = fps if words > 1 else fps[:, 0]
    is_right = np.asarray(ids % np.uint64(2) == 1)
    left, right = (given[~is_right], ids[~is_right]), (given[is_right], ids[is_right])
    tables: list[Any] = [[None]] if words == 1 or distance > 8 else [[None], range(distance + 1)]
    for chosen in tables:
        options = [{"table": table, "distance": distance, "batch_size": 1 + case * 50} for table in chosen]
        found = pair_rows(batch for some in options for batch in sstore.join_records(given, ids, **some))
        assert len(found) == len(set(found)) and set(found) == expected
        parts = pair_rows(
            batch for some in options for side in (left, right) for batch in sstore.join_records(*side, **some)
        )
        across = pair_rows(batch for some in options for batch in sstore.join_records(*left, *right, **some))
        assert all(row[1] % 2 == 0 and row[3] % 2 == 1 for row in across)
        parts += [min((r[:2], r[2:4]), (r[2:4], r[:2]))[0] + max(r[:2], r[2:4]) + r[4:] for r in across]
        assert len(parts) == len(expected) and set(parts) == expected
        stars = pair_rows(batch for some in options for batch in sstore.join_records(given, ids, spanning=True, **some))
        assert roots_of(stars) == roots_of(expected) and all(row[:2] < row[2:4] for row in stars)
    assert list(sstore.join_records(np.repeat(given, 2, axis=0), table=None, distance=0)) == []  # without ids


def test_joins_of_tables(rng: np.random.Generator) -> None:
    """A table of Arrow, in chunks, has ids of its own."""
    pyarrow = pytest.importorskip("pyarrow")
    fps, ids = skewed(rng, 200, 4), rng.permutation(200).astype(np.uint64)
    fps[1], fps[60] = fps[0] ^ np.uint64(1), fps[0] ^ np.uint64(2)  # a pair on one side, and pairs of both
    column = pyarrow.array([row.tobytes() for row in bytes_of(fps)], pyarrow.binary(32))
    whole = pyarrow.table({"fingerprint": column, "id": ids})
    table = pyarrow.concat_tables([whole[:50], whole[50:50], whole[50:]])
    expected = brute_pairs(fps, ids, 9)
    assert set(pair_rows(sstore.join_records(table, table=None, distance=9))) == expected
    assert set(pair_rows(sstore.join_records(table["fingerprint"], ids, table=None, distance=9))) == expected
    across = pair_rows(sstore.join_records(whole[:50], None, whole[50:].to_reader(), table=None, distance=9))
    assert 0 < len(across) == len(set(across)) < len(expected)
    assert list(sstore.join_records(whole[:0], table=None, distance=9)) == []
    [without] = sstore.join_records(pyarrow.table({"fingerprint": column}), table=None, distance=64)
    assert "id" not in without
    narrow = pyarrow.table({"fingerprint": pyarrow.array([1, 1, 2], "uint64"), "id": [4, 5, 6]})
    assert sum(map(len, sstore.join_records(narrow, table=0, distance=2))) == 3


def test_keys(rng: np.random.Generator) -> None:
    """Keys are the groups of bits of a fingerprint, as a number."""
    for case in range(20):
        words = random_words(rng) if case > 2 else 1
        distance = int(rng.integers(0, 16 * words + 1)) if rng.random() < 0.5 else int(rng.integers(0, 4))
        fps, bits = skewed(rng, 20, words), 64 * words
        for table in rng.integers(0, distance + 1, 5).tolist():
            begin, end = bits * table // (distance + 1), bits * (table + 1) // (distance + 1)
            end = min(end, begin + 64)
            expected = [(value >> (bits - end)) & ((1 << (end - begin)) - 1) for value in numbers(fps)]
            assert sstore.join_keys(fps if words > 1 else fps[:, 0], table, distance).tolist() == expected


def test_temporary_stores_are_removed(
    folder: pathlib.Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if a join is given up, or fails."""
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    fps = np.repeat(skewed(rng, 5, 4), 20, axis=0)
    for other in (None, fps[:30]):
        batches: Any = sstore.join_records(fps, range(100), other, table=None, distance=9, batch_size=10)
        assert len(next(batches)) == 10 and len(list(folder.iterdir())) == 1
        batches.close()
        assert list(folder.iterdir()) == []
    assert sum(map(len, sstore.join_records(fps, range(100), table=None, distance=0))) >= 5 * 190
    assert list(folder.iterdir()) == []
    monkeypatch.setattr(tempfile, "tempdir", str(folder / "none"))
    with pytest.raises(FileNotFoundError):
        list(sstore.join_records(fps, table=None))


def test_wrong_joins(rng: np.random.Generator) -> None:
    wide: Any = skewed(rng, 3, 4)
    for call, text in (
        (lambda: sstore.join_keys(wide, 4, 3), "table: expected 0 to 3, found 4"),
        (lambda: sstore.join_keys(wide, 0, 65), "distance: expected 0 to 64, found 65"),
        (lambda: sstore.join_records(wide, table=4), "table: expected 0 to 3, found 4"),
        (lambda: sstore.join_records(wide, table=0, distance=65), "distance: expected 0 to 64"),
        (lambda: sstore.join_records([1], table=None, distance=17), "distance: expected 0 to 16"),
        (lambda: sstore.join_records([1], None, wide, table=0), r"shape \(n,\)"),
        (lambda: sstore.join_records(wide, None, np.array([1]), table=0), r"shape \(n, 4\)"),
        (lambda: sstore.join_records(wide, [1], table=0), "ids: expected as many as fingerprints"),
        (lambda: sstore.join_records(wide, None, wide, table=0, spanning=True), "spanning"),
        (lambda: sstore.join_records(wide, table=0, batch_size=0), "batch_size"),
        (lambda: sstore.join_records(wide, None, None, [1, 2, 3], table=0), "other_ids: expected other_fingerprints"),
    ):
        with pytest.raises(sstore.ArgumentError, match=text):
            call()


def test_plans(rng: np.random.Generator) -> None:
    for found in (sstore.plans(10**7, 31, bits=256), sstore.plans(sample=skewed(rng, 2000, 4), distance=31)):
        [chosen] = [plan for plan in found if plan.is_chosen]
        assert chosen.total_bytes > 0 and chosen.reason
    with pytest.raises(ValueError, match="0 to 64"):
        sstore.plans(10**6, 65, bits=256)
    with pytest.raises(ValueError, match=r"shape \(n, 2\)"):
        sstore.plans(sample=skewed(rng, 10, 4), bits=128)


def picture_bits(rng: np.random.Generator, count: int) -> npt.NDArray[np.uint8]:
    """What pdqhash.compute() returns for pictures: 256 bits each, as uint8. Every other is a changed copy."""
    bits = rng.integers(0, 2, (count, 256), dtype=np.uint8)
    bits[1::2] = bits[::2] ^ (rng.random((count // 2, 256)) < 0.04)
    return bits


def test_bits_of_pictures(folder: pathlib.Path, rng: np.random.Generator) -> None:
    bits = picture_bits(rng, 200)
    far = np.count_nonzero(bits[::2] != bits[1::2], axis=1)
    hashes = [np.packbits(row) for row in bits]  # pdqhash: one array of bits for each picture
    squares = [np.packbits(row.reshape(16, 16).astype(bool)) for row in bits]  # imagehash: hash.hash
    forms: list[Any] = [hashes, squares, np.packbits(bits, axis=1), [row.tobytes() for row in hashes]]
    flags = bits.astype(bool)
    forms += [flags, flags.reshape(200, 16, 16), list(flags.reshape(200, 16, 16)), flags.astype(np.int8), bits.tolist()]
    for form in forms:
        sstore.build(folder / "a", form, distance=31, force=True)
        with sstore.open(folder / "a") as store:
            assert store.bits == 256
            for i in range(0, 200, 2):
                found = store.query(form[i] if not isinstance(form[i], list) else np.array(form[i]))
                assert (i + 1 in found.id.tolist()) == (far[i // 2] <= 31)


def test_hashes_of_packages(folder: pathlib.Path, rng: np.random.Generator) -> None:
    images = pytest.importorskip("PIL.Image")
    pixels = np.kron(rng.integers(0, 256, (16, 16), dtype=np.uint8), np.ones((16, 16), np.uint8))
    noise = rng.integers(0, 8, pixels.shape)
    pictures = [pixels, np.clip(pixels.astype(int) + noise, 0, 255).astype(np.uint8), np.rot90(pixels).copy()]
    made: dict[str, list[Any]] = {}
    try:
        imagehash: Any = __import__("imagehash")
        made["imagehash"] = [
            np.packbits(imagehash.phash(images.fromarray(picture), hash_size=16).hash) for picture in pictures
        ]
    except ImportError:
        pass
    try:
        pdqhash: Any = __import__("pdqhash")
        made["pdqhash"] = [np.packbits(pdqhash.compute(np.stack([p] * 3, axis=2))[0]) for p in pictures]
    except ImportError:
        pass
    if not made:
        pytest.skip("neither imagehash nor pdqhash is installed")
    for name, hashes in made.items():
        sstore.build(folder / name, hashes, distance=31)
        with sstore.open(folder / name) as store:
            assert store.bits == 256
            found = store.query(hashes[0]).id.tolist()
            expected = [i for i in range(3) if np.unpackbits(hashes[0] ^ hashes[i]).sum() <= 31]
            assert sorted(found) == expected


def near(a: Words, b: Words, distance: int) -> list[tuple[int, int]]:
    """The indices of the pairs within a distance."""
    return [(i, j) for i in range(len(a)) for j in np.flatnonzero(distances(b, a[i]) <= distance).tolist()]


@pytest.mark.parametrize("case", range(4))
def test_joins(folder: pathlib.Path, rng: np.random.Generator, case: int) -> None:
    words = random_words(rng)
    fps, others = skewed(rng, 300, words), skewed(rng, 200, words)
    others[:50] = fps[:50]
    distance = int(rng.integers(0, min(16 * words, 40) + 1))
    sstore.build(folder / "a", fps, distance=distance, bits=64 * fps.shape[1])
    sstore.build(folder / "b", others, distance=distance, bits=64 * words)
    values, other_values = numbers(fps), numbers(others)
    with sstore.open(folder / "a") as store, sstore.open(folder / "b") as other:
        pairs = store.pairs()
        rows = zip(
            numbers(pairs.fingerprint), pairs.id.tolist(), numbers(pairs.other_fingerprint), pairs.other_id.tolist()
        )
        expected = {
            (*min((values[i], i), (values[j], j)), *max((values[i], i), (values[j], j)))
            for i, j in near(fps, fps, distance)
            if i < j
        }
        found = list(rows)
        assert len(found) == len(expected) and set(found) == expected
        assert pairs.distance.tolist() == [
            int(distances(pairs.fingerprint[i : i + 1], pairs.other_fingerprint[i])[0]) for i in range(len(pairs))
        ]
        joined = store.join(other)
        assert joined.other_fingerprint.shape == (len(joined), words)
        rows = zip(
            numbers(joined.fingerprint), joined.id.tolist(), numbers(joined.other_fingerprint), joined.other_id.tolist()
        )
        assert sorted(rows) == sorted((values[i], i, other_values[j], j) for i, j in near(fps, others, distance))
        parts = list(store.iter_pairs(batch_size=7))
        assert sum(map(len, parts)) == len(pairs)
        clusters = store.clusters()
        root = roots([(i, j) for i, j in near(fps, fps, distance) if i < j])
        assert {i: root[i] for i in clusters.id.tolist()} == {
            i: int(representative)
            for i, representative in zip(
                clusters.id.tolist(),
                np.repeat(clusters.representatives.id, clusters.cluster_size[clusters.is_representative].astype(int)),
            )
        } and len(clusters) == len(root)
        assert numbers(clusters.fingerprint) == [values[i] for i in clusters.id.tolist()]
        assert len(store.clusters(singles=True)) == len(fps)
    distinct = sorted(set(values))
    array = np.array([list(value.to_bytes(8 * words, "big")) for value in distinct], np.uint8)
    again = array.view(">u8").astype(np.uint64)
    expected_all = [(distinct[i], distinct[j]) for i, j in near(again, again, distance) if i < j]
    assert sstore.find_all(fps, distance + 1, distance) == sorted(expected_all)


@pytest.mark.parametrize("case", range(4))
def test_deduplicator(folder: pathlib.Path, rng: np.random.Generator, case: int) -> None:
    words = random_words(rng)
    fps = skewed(rng, 600, words)
    ids = rng.permutation(600).astype(np.uint64)
    distance = int(rng.integers(0, min(16 * words, 40) + 1))
    kept: list[int] = []
    is_new, rows = [], []
    for i, fingerprint in enumerate(fps):
        found = brute_query(fps[kept], ids[kept], fingerprint, distance) if kept else []
        is_new.append(not found)
        rows += [(i, *row) for row in found]
        if not found:
            kept.append(i)
    with sstore.Deduplicator(folder / "a", distance, bits=64 * words, publish_every=100) as seen:
        answers = [seen.offer_and_match(fps[begin : begin + 200], ids[begin : begin + 200]) for begin in (0, 200, 400)]
        with pytest.raises(ValueError, match=rf"shape \(n, {words}\)"):
            seen.offer(np.zeros((3, words + 2), np.uint64))
        with pytest.raises(ValueError, match=rf"shape \(n, {words}\)"):
            seen.offer(np.zeros(3, np.uint64))
    assert np.concatenate([answer.is_new for answer in answers]).tolist() == is_new
    given = [
        (number_ + begin, distance_, fingerprint, id_)
        for answer, begin in zip(answers, (0, 200, 400))
        for number_, distance_, fingerprint, id_ in zip(
            answer.matches.query_index.tolist(),
            answer.matches.distance.tolist(),
            numbers(answer.matches.fingerprint),
            answer.matches.id.tolist(),
        )
    ]
    assert given == rows
    assert records_of(folder / "a") == sorted((number(fps[i]), int(ids[i])) for i in kept)
    with sstore.Deduplicator(folder / "a") as seen:
        assert not seen.offer(bytes_of(fps)).any()
    with pytest.raises(ValueError, match=f"fingerprints of {64 * words} bits, not of"):
        sstore.Deduplicator(folder / "a", bits=64 * (words % 16 + 1))
    with sstore.Deduplicator(folder / "a") as seen:  # which the failed one did not leave locked
        assert seen.new_count == 0


@pytest.mark.parametrize("case", range(4))
def test_streams(rng: np.random.Generator, case: int) -> None:
    words = random_words(rng)
    fps = skewed(rng, 1000, words)
    ids = rng.permutation(1000).astype(np.uint64)
    distance = int(rng.integers(0, min(16 * words, 40) + 1))
    queries = np.unique(np.concatenate([fps[:60], skewed(rng, 10, words)]), axis=0)
    matcher = sstore.StreamMatcher(queries, distance)
    parts = [matcher.feed(fps[begin : begin + 300], ids[begin : begin + 300]) for begin in range(0, 1000, 300)]
    found = sstore.collect([*parts, *parts[:2]], memory="1M")
    assert found.query.shape == found.fingerprint.shape == (len(found), words)
    rows = zip(numbers(found.query), found.distance.tolist(), numbers(found.fingerprint), found.id.tolist())
    assert list(rows) == [(number(q), *row) for q in queries for row in brute_query(fps, ids, q, distance)]
    assert "id" not in sstore.collect([matcher.feed(bytes_of(fps))])
    same = sstore.StreamMatcher(numbers(queries), distance, bits=64 * words)
    assert sstore.collect([same.feed(fps, ids)]) == found
    with pytest.raises(ValueError, match=rf"shape \(n, {words}\)"):
        matcher.feed(np.zeros(3, np.uint64))
    with pytest.raises(ValueError, match=rf"shape \(n, {words}\)"):
        sstore.collect([*parts, sstore.StreamMatcher([1]).feed([1])])
    assert len(sstore.collect([])) == 0


def test_numbers_of_a_word_are_no_wide_fingerprints(folder: pathlib.Path, rng: np.random.Generator) -> None:
    fps = rng.integers(0, 2**64, (20, 4), dtype=np.uint64)
    sstore.build(folder / "a", fps, distance=31, bits=256)
    narrow: list[Any] = [fps[0, 0], np.int64(-1), np.uint32(5), np.array(fps[0, 0])]
    with sstore.open(folder / "a") as store:
        for number in narrow:
            for ask in (store.query, store.nearest, store.explain):
                with pytest.raises(sstore.ArgumentError, match="numbers of 256 bits, found .* at most 64 bits"):
                    ask(number)
        with pytest.raises(TypeError, match="found bool"):
            store.query(True)
        for row in (list(fps[0]), [fps[0, 0]]):
            for call in (store.query_batch, lambda row: sstore.add(folder / "a", row)):
                with pytest.raises(sstore.ArgumentError, match="numbers of 256 bits, found uint64"):
                    call(row)
            with pytest.raises(sstore.ArgumentError, match="numbers of 256 bits, found uint64"):
                sstore.remove(folder / "a", row)
        with pytest.warns(sstore.DoubtWarning, match="they may be words"):
            assert len(store.query_batch(fps[0].tolist())) == 0
        with pytest.warns(sstore.DoubtWarning, match="they may be words"):
            assert len(store.query(int(fps[0, 0]))) == 0
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert len(store.query(0)) == len(store.query(1)) == len(store.query(-1)) == 0


def test_bools_are_no_fingerprints(folder: pathlib.Path) -> None:
    sstore.build(folder / "a", [1, 2, 3])
    with pytest.raises(TypeError, match="found bool"):
        sstore.open(folder / "a").query(True)
