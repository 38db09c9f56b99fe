"""What is taken as fingerprints, and what takes results over."""

from __future__ import annotations

import gc
import importlib.util
import pathlib
import subprocess
import sys
import textwrap
import weakref
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from brute import Words, clustered

import sstore

pyarrow = pytest.importorskip("pyarrow")
polars = pytest.importorskip("polars")
pandas = pytest.importorskip("pandas")
duckdb = pytest.importorskip("duckdb")
imagehash = pytest.importorskip("imagehash")
masks: Any = np.ma  # not typed in all versions
MASKED = masks.masked_array([1, 2, 3], mask=[False, True, False])


def build(folder: pathlib.Path, fingerprints: Any, ids: Any = None) -> list[tuple[int, int]]:
    sstore.build(folder / "made", fingerprints, ids, force=True)
    with sstore.open(folder / "made") as store:
        records = store.records()
        return sorted(zip(records.id.tolist(), records.fingerprint.tolist()))


def test_inputs(folder: pathlib.Path, rng: np.random.Generator) -> None:
    fps = clustered(rng, 1000)
    ids = rng.permutation(1000).astype(np.uint64)
    numbered = list(enumerate(fps.tolist()))
    wide = np.zeros((1000, 3), np.uint64)
    wide[:, 1] = fps
    forms: dict[str, Any] = {
        "uint64": fps,
        "a subclass": fps.view(np.ma.MaskedArray),
        "int64": fps.view(np.int64),
        "big-endian": fps.astype(">u8"),
        "a column": fps.reshape(-1, 1),
        "not contiguous": wide[:, 1],
        "bytes as of faiss": fps.astype(">u8").view(np.uint8).reshape(-1, 8),
        "read-only": np.frombuffer(fps.tobytes(), np.uint64),
        "list": fps.tolist(),
        "tuple of signed": tuple(fps.view(np.int64).tolist()),
        "list of NumPy numbers": list(fps),
        "pyarrow": pyarrow.array(fps),
        "pyarrow, signed": pyarrow.array(fps.view(np.int64)),
        "pyarrow, chunked": pyarrow.chunked_array([fps[:300], fps[300:300], fps[300:]]),
        "pyarrow, sliced": pyarrow.array(np.concatenate([fps, fps]))[1000:],
        "polars": polars.Series(fps),
        "pandas": pandas.Series(fps),
        "a table": pyarrow.table({"other": fps, "fingerprint": fps}),
        "a data frame": polars.DataFrame({"fingerprint": fps}),
    }
    for name, form in forms.items():
        assert build(folder, form) == numbered, name
        if name not in ("a table", "a data frame"):
            assert build(folder, fps, form) == sorted({(f, f) for f in fps.tolist()}), name
    given = sorted(zip(ids.tolist(), fps.tolist()))
    table = pyarrow.table({"id": ids, "fingerprint": fps})
    frame = polars.DataFrame({"fingerprint": fps, "ids": ids})
    con = duckdb.connect()
    con.register("records", table)
    tables: dict[str, Any] = {
        "pyarrow.Table": table,
        "sliced": pyarrow.concat_tables([table, table])[1000:],
        "RecordBatch": table.to_batches()[0],
        "RecordBatchReader": table.to_reader(100),
        "polars": frame,
        "pandas": pandas.DataFrame({"fingerprint": fps, "id": ids}),
        "duckdb": con.sql("select fingerprint, id from records"),
        "duckdb, signed": con.sql("select fingerprint, id::bigint as id from records"),
    }
    for name, form in tables.items():
        assert build(folder, form) == given, name
    source: Any
    for source in (fps[:0], [], pyarrow.array([], "uint64"), pyarrow.table({"fingerprint": fps[:0]})):
        assert build(folder, source) == []


def test_columns_of_pandas_without_pyarrow(
    folder: pathlib.Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without pyarrow, pandas exports no Arrow data."""
    fps = clustered(rng, 100)
    texts = ["the cat sat on the mat", "a red ball"]
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pyarrow" else find_spec(name))

    def no_arrow(*_: Any) -> None:
        raise ImportError("pyarrow")

    monkeypatch.setattr(pandas.Series, "__arrow_c_stream__", no_arrow, raising=False)
    assert build(folder, pandas.Series(fps)) == list(enumerate(fps.tolist()))
    assert build(folder, fps, pandas.Series(fps, dtype="UInt64")) == sorted({(f, f) for f in fps.tolist()})
    assert sstore.simhash(pandas.Series(texts)).tolist() == sstore.simhash(texts).tolist()
    with pytest.raises(TypeError, match="row 1: null"):
        build(folder, pandas.Series([1, None], dtype="UInt64"))


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (np.zeros(3), "float64"),
        (np.zeros((3, 18), np.uint64), "with 1 to 16 words, found .3, 18."),
        (np.zeros((3, 12), np.uint8), "found .3, 12. of uint8"),
        (np.zeros((3, 1, 1), np.uint64), "shape"),
        (np.array(["a"]), "integers"),
        ([1.5], "float"),
        (["1"], "str"),
        ([1 << 64], "64 bits"),
        ([-(1 << 63) - 1], "64 bits"),
        (5, "sequence"),
        (None, "sequence"),
        (pyarrow.array([1, None], "uint64"), "null"),
        (pyarrow.array([1.5]), "double"),
        (pyarrow.array(["a"]), "string"),
        (pyarrow.table({"hash": [1]}), "column"),
        (pyarrow.array([111, 222, 111]).dictionary_encode(), "dictionary"),
        (pyarrow.table({"fingerprint": pyarrow.array([111, 222]).dictionary_encode()}), "dictionary"),
        (polars.Series(["a", "b"]).cast(polars.Categorical), "dictionary"),
        (pyarrow.array([1, 2], pyarrow.timestamp("ns")), "timestamp|int64"),
        (pyarrow.array([b"12345678"], pyarrow.binary_view()), "binary_view"),
        (
            pyarrow.StructArray.from_arrays([[1, 2]], ["fingerprint"], mask=pyarrow.array([False, True])),
            "null",
        ),
        (MASKED, "row 1: null; skip_bad"),
        (np.array(5), "shape"),
    ],
)
def test_wrong_inputs(folder: pathlib.Path, wrong: Any, reason: str) -> None:
    ids: Any = 1.5 if wrong is None else wrong
    for call in (
        lambda: sstore.build(folder / "made", wrong),
        lambda: sstore.build(folder / "made", [1], ids),
        lambda: sstore.StreamMatcher(wrong),
    ):
        with pytest.raises((TypeError, ValueError)):
            call()
    with pytest.raises((TypeError, ValueError), match=reason):
        sstore.build(folder / "made", wrong)
    assert not (folder / "made").exists()


@pytest.mark.parametrize(
    ("items", "hint"),
    [
        (["the cat sat", "x"], r"sstore.simhash\(texts\)"),
        (["12345678901234567890"], r"int\(text\) reads decimal digits"),
        (["84adfe2d013e12cb"], r"int\(text, 16\) reads a fingerprint"),
        (["0x84ADFE2D013E12CB"], r"int\(text, 16\) reads a fingerprint"),
    ],
)
def test_hints_of_texts(folder: pathlib.Path, items: list[str], hint: str) -> None:
    forms: list[Any] = [items, tuple(items), np.array(items), np.array(items, object), pandas.Series(items)]
    forms += [polars.Series(items), pyarrow.array(items), pyarrow.array(["other", *items], pyarrow.large_string())[1:]]
    for form in forms:
        with pytest.raises(TypeError, match=f"found .*: {hint}"):
            sstore.build(folder / "a", form)
        with pytest.raises(TypeError, match=r"ids: .*found .*: int\(text\) reads a number; names= takes other texts"):
            sstore.build(folder / "a", [1] * len(items), form)


def test_hashes_of_images(folder: pathlib.Path, rng: np.random.Generator) -> None:
    """Objects of imagehash, and what pdqhash returns, alone and in sequences, also with rows that cannot be read."""

    def built(form: Any, **options: Any) -> sstore.Store:
        sstore.build(folder / "a", form, force=True, **options)
        return sstore.open(folder / "a")

    def rows_of(store: sstore.Store) -> list[tuple[int, int]]:
        records = store.records()
        joined = records.fingerprint.astype(">u8").reshape(-1, store.words)
        return sorted((id_, int.from_bytes(row.tobytes(), "big")) for id_, row in zip(records.id.tolist(), joined))

    for side in (8, 16):
        squares = rng.integers(0, 2, (5, side, side)).astype(bool)
        hashes: Any = [imagehash.ImageHash(square) for square in squares]
        multi: Any = imagehash.ImageMultiHash(hashes)
        pdq: Any = [(square.reshape(-1).astype(np.uint8), 100 - i) for i, square in enumerate(squares)]
        expected = [(i, int(str(item), 16)) for i, item in enumerate(hashes)]
        column = np.empty(len(hashes), object)
        column[:] = hashes
        for form in (hashes, tuple(hashes), column, pandas.Series(column), multi, pdq):
            with built(form) as store:
                assert rows_of(store) == expected
                for one, (id_, fingerprint) in zip(hashes + pdq, expected * 2):
                    assert store.query(one, 0).id.tolist() == store.nearest(one).id.tolist() == [id_]
                    assert store.query(one).id.tolist() == store.query(fingerprint).id.tolist()
                    assert store.count(one, 0) == 1 and sstore.hamming_distance(one, squares[id_].reshape(-1)) == 0
                assert store.query_batch(form, 0).id.tolist() == list(range(5))
                with pytest.raises(TypeError, match="segment_hashes"):
                    store.query(multi)
        bad = sstore.BadRows()
        some: Any = ([hashes[0], None, *hashes[2:]], [pdq[0], (None, 0), *pdq[2:]])
        for form in some:
            with built(form, skip_bad=bad) as store:
                assert rows_of(store) == expected[:1] + expected[2:]
        assert [row.row for row in bad.rows] == [1, 1]
        with pytest.raises(TypeError, match="segment_hashes"):
            sstore.build(folder / "b", [multi])


def test_ids_of_a_table(folder: pathlib.Path) -> None:
    table = pyarrow.table({"fingerprint": [100, 200], "id": [3, 4]})
    assert build(folder, [1, 2], table) == [(3, 1), (4, 2)]
    assert build(folder, [1, 2], pyarrow.table({"id": [3, 4]})) == [(3, 1), (4, 2)]
    with sstore.open(folder / "made") as store:
        assert sstore.remove(folder / "made", ids=store.records()).removed_count == 2
    with pytest.raises(ValueError, match="column"):
        build(folder, [1, 2], pyarrow.table({"fingerprint": [3, 4]}))


def test_arrow_memory_stays(rng: np.random.Generator) -> None:
    """An array that was taken over keeps Arrow's memory alive, whoever made it."""
    from sstore._rows import pieces, words

    fps = clustered(rng, 50000)
    con = duckdb.connect()

    def sources() -> list[Any]:
        con.register("given", pyarrow.table({"fingerprint": fps, "id": fps}))
        return [
            pyarrow.array(fps.tolist(), "uint64"),
            pyarrow.chunked_array([pyarrow.array(fps.tolist(), "uint64")]),
            con.sql("select fingerprint from given"),
            polars.Series(fps.tolist(), dtype=polars.UInt64),
        ]

    for number in range(len(sources())):
        taken = words(sources()[number], "fingerprints")
        taken_pieces = [piece.fingerprints for piece in pieces(sources()[number], None)]
        others = [pyarrow.array(np.zeros(50000, np.uint64).tolist(), "uint64") for _ in range(20)]
        assert np.array_equal(taken, fps) and np.array_equal(np.concatenate(taken_pieces), fps)
        del others


def test_unequal_lengths(folder: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="ids: expected as many"):
        sstore.build(folder / "made", [1, 2], [1])


def test_results(folder: pathlib.Path, rng: np.random.Generator) -> None:
    fps = clustered(rng, 2000)
    sstore.build(folder / "a", fps)
    with sstore.open(folder / "a") as store:
        tables: Sequence[sstore.Columns] = [
            store.query(int(fps[0])),
            store.query(1, 0),
            store.query_batch(fps),
            store.records(),
            store.pairs(),
            store.clusters(),
            store.clusters(singles=True).duplicates,
            sstore.StreamMatcher(fps[:5]).feed(fps),
        ]
    for table in tables:
        columns = table.columns
        arrow, frame, data = table.to_arrow(), table.to_polars(), table.to_pandas()
        assert arrow.column_names == frame.columns == list(data.columns) == list(columns)
        for name, column in columns.items():
            assert len(column) == len(table) and np.array_equal(table[name], column)
            for other in (arrow[name].to_numpy(), frame[name].to_numpy(), data[name].to_numpy()):
                assert other.dtype == column.dtype and np.array_equal(other, column)
        again = pyarrow.record_batch(table)
        assert again.num_rows == len(table)
        assert polars.DataFrame(table).equals(frame)
        assert duckdb.sql("select count(*) from arrow").fetchall() == [(len(table),)]
        assert table == sstore.Columns({name: column.copy() for name, column in columns.items()})
        with pytest.raises(TypeError, match="to_pandas"):
            pandas.DataFrame(table)
        assert str(len(table)) in repr(table)
    assert tables[0] != tables[3] and tables[0] != 1


def test_columns_outlive_their_table(folder: pathlib.Path, rng: np.random.Generator) -> None:
    fps = clustered(rng, 200_000)
    sstore.build(folder / "a", fps, no_ids=True)
    store = sstore.open(folder / "a")
    column: Words = store.records().fingerprint
    arrow = store.records().to_arrow()
    view = store.query(int(fps[0])).fingerprint
    del store
    assert column.tolist() == np.unique(fps).tolist() == arrow["fingerprint"].to_pylist()
    assert int(fps[0]) in view.tolist()


def test_batches_as_arrow_stream(folder: pathlib.Path, rng: np.random.Generator) -> None:
    fps = clustered(rng, 5000)
    sstore.build(folder / "a", fps)
    sstore.build(folder / "empty", np.empty(0, np.uint64))
    store = sstore.open(folder / "a")
    for whole, parts in (
        (store.pairs(), lambda: store.iter_pairs(batch_size=100)),
        (store.clusters(), lambda: store.iter_clusters(batch_size=100)),
        (store.query_batch(fps), lambda: store.iter_query_batch(fps, batch_size=1000)),
    ):
        reader = pyarrow.RecordBatchReader.from_stream(parts())
        assert reader.schema == whole.to_arrow().schema
        assert reader.read_all().equals(whole.to_arrow())
        con = duckdb.connect()
        stream = pyarrow.RecordBatchReader.from_stream(parts())
        con.register("stream", stream)
        assert con.execute("select count(*) from stream").fetchall() == [(len(whole),)]
        assert polars.DataFrame(parts()).equals(whole.to_polars())
    reader = pyarrow.RecordBatchReader.from_stream(sstore.open(folder / "empty").iter_records())
    assert reader.schema.names == ["fingerprint", "id"] and reader.read_all().num_rows == 0
    # A stream that is given up, or not read at all, is released, and with it the store.
    from sstore._export import _sources

    before = len(_sources)
    given_up = pyarrow.RecordBatchReader.from_stream(store.iter_records(batch_size=10))
    next(given_up)
    unread: Any = store.iter_records().__arrow_c_stream__()
    assert len(_sources) == before + 2
    del given_up, unread
    assert len(_sources) == before
    # A build can read the stream of another store.
    sstore.build(folder / "copy", store.iter_records(batch_size=99))
    assert sstore.open(folder / "copy").records() == store.records()


def test_a_stream_is_read_once(folder: pathlib.Path) -> None:
    sstore.build(folder / "a", range(1000))
    store = sstore.open(folder / "a")
    batches = store.iter_records(batch_size=10)
    assert polars.DataFrame(batches).height == 1000
    begun, closed = store.iter_records(batch_size=10), store.iter_records(batch_size=10)
    next(begun)
    for wrong in (batches, begun):
        with pytest.raises(sstore.ArgumentError, match="read before"):
            wrong.__arrow_c_stream__()
    reader = pyarrow.RecordBatchReader.from_stream(closed)
    reader.read_next_batch()
    closed.close()
    with pytest.raises(OSError, match="results are closed"):
        reader.read_all()
    with pytest.raises(sstore.ArgumentError, match="results are closed"):
        next(closed)


def test_ids_of_a_table_are_offered(folder: pathlib.Path) -> None:
    for number, form in enumerate((pyarrow.table, polars.DataFrame, pandas.DataFrame)):
        table: Any = form({"fingerprint": [1, 1 << 60 | 0xFF], "id": [70, 80]})
        with sstore.Deduplicator(folder / str(number)) as seen:
            answers = seen.offer_and_match(table)
        assert answers.is_new.tolist() == [True, True] and answers.id.tolist() == [70, 80]
        assert sorted(sstore.open(folder / str(number)).records().id.tolist()) == [70, 80]


def float_columns() -> list[Any]:
    values = [1.5, float("nan")]
    series = pandas.Series(values), pandas.Series(values, dtype=object), polars.Series(values)
    return [values, np.array(values), pyarrow.array(values), *series]


@pytest.mark.parametrize("kind", ["Int64", "UInt64"])
def test_columns_read_again(folder: pathlib.Path, kind: str) -> None:
    """The remedy for floats that the hint names keeps all digits."""
    values = [1570149208162304715, 1570149208162304717] if kind == "UInt64" else [-1570149208162304715, 5]
    (folder / "a.csv").write_text(f"id,simhash\n5,{values[0]}\n6,\n7,{values[1]}\n,1\n")
    frame: Any = pandas.read_csv(folder / "a.csv")
    with pytest.raises(TypeError, match=f"floats have already lost digits.*{kind}"):
        sstore.build(folder / "a", frame["simhash"], frame["id"])
    frame = pandas.read_csv(folder / "a.csv", dtype={"simhash": kind, "id": kind})
    with pytest.warns(sstore.SkippedWarning, match="2 bad rows"):
        sstore.build(folder / "a", frame["simhash"], frame["id"], skip_bad=True)
    with sstore.open(folder / "a") as store:
        assert [store.query(value, 0).id.tolist() for value in values] == [[5], [7]] and len(store) == 2


@pytest.mark.parametrize("name", ["query", "nearest", "count", "explain"])
def test_hints_of_one(folder: pathlib.Path, name: str) -> None:
    sstore.build(folder / "a", [1])
    call = getattr(sstore.open(folder / "a"), name)
    for wrong, text in (
        ([1, 2], r"found list; query_batch\(\) takes several fingerprints$"),
        ("84adfe2d13e12cb0", r"found str: int\(text, 16\) reads a fingerprint"),
        ("a quick fox", r"found str: sstore.simhash\(\[text\]\)\[0\] makes a fingerprint of a text$"),
        (np.float32(2.9), "found float32: floats have already lost digits"),
        (None, "found NoneType$"),
    ):
        with pytest.raises(TypeError, match=f"^fingerprint: expected one int, {text}"):
            call(wrong)


def test_hints(folder: pathlib.Path) -> None:
    wrong: Any
    for wrong, text in (
        (b"abcdefgh", "found bytes"),
        ({10: "a"}, "found dict"),
        ({10, 20}, "found set"),
        ("x.npy", r"found str: files are not read.*numpy\.load\(path\).*`sstore build`"),
        (folder / "x.npy", r"found PosixPath: files are not read.*numpy\.load\(path\).*`sstore build`"),
        ([True], "found bool"),
        (["84AD"], r"int\(text, 16\)"),
        (np.array(["84AD"]), r"int\(text, 16\)"),
        (pyarrow.array(["84AD"]), r"int\(text, 16\)"),
        *((floats, 'already lost digits.*"simhash": "Int64".*; skip_bad=True') for floats in float_columns()),
    ):
        with pytest.raises(TypeError, match=text) as found:
            sstore.build(folder / "a", wrong)
        assert "fill" not in str(found.value)
    for wrong in float_columns():
        with pytest.raises(TypeError, match='already lost digits.*"id": "Int64".*; skip_bad=True'):
            sstore.build(folder / "a", [1, 2], wrong)
    sstore.build(folder / "a", [1])
    store: Any = sstore.open(folder / "a")
    for call, text in (
        (lambda: store.query(1, "3"), "^distance: expected int, found '3'"),
        (lambda: store.nearest(1, "3"), "^max_distance: expected int, found '3'"),
        (lambda: store.pairs(Decimal("2.9")), "distance: expected int"),
        (lambda: store.iter_records(batch_size=float("nan")), "batch_size: expected int"),
        (lambda: sstore.build(folder / "b", [1], threads=np.float32(1)), "threads: expected int"),  # type: ignore[arg-type]
        (lambda: sstore.build(folder / "b", [1], distance="3"), "distance: expected int, found '3'"),  # type: ignore[arg-type]
        (lambda: sstore.build(folder / "b", [1], no_ids="no"), "no_ids: expected bool"),  # type: ignore[arg-type]
        (lambda: sstore.build(folder / "b", [1], progress="x"), "progress: expected bool"),  # type: ignore[arg-type]
        (lambda: sstore.build(folder / "b", [1], plan=4), "plan: expected str"),  # type: ignore[arg-type]
        (lambda: sstore.build(folder / "b", [1], threads=None), "threads: expected int"),  # type: ignore[arg-type]
        (lambda: sstore.build(folder / "b", [1], force=None), "force: expected bool"),  # type: ignore[arg-type]
        (lambda: sstore.simhash(["a"] * 300, threads=float("nan")), "threads: expected int"),  # type: ignore[arg-type]
        (lambda: sstore.collect([None]), "results of StreamMatcher"),  # type: ignore[list-item]
        (lambda: store.join(None), "path of one"),
        (lambda: sstore.collect(sstore.StreamMatcher([1]).feed([1])), "write collect"),  # type: ignore[arg-type]
        (lambda: sstore.simhash(pyarrow.table({"text": ["a"]})), "one column"),
        (lambda: sstore.simhash_features([1]), "expected str or bytes"),  # type: ignore[list-item]
        (lambda: sstore.hamming_distance(1.5, 1), "integer"),  # type: ignore[arg-type]
        (lambda: sstore.build(folder / "b", [1], block_size=1.5), "block_size"),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError, match=text):
            call()
    with pytest.raises(sstore.ArgumentError, match="^max_distance"):
        store.nearest(1, 65)
    for call in (
        lambda: store.pairs((1 << 32) - 1),
        lambda: sstore.Deduplicator(folder / "a", (1 << 32) - 1),
        lambda: store.iter_records(batch_size=1 << 64),
        lambda: store.iter_records(batch_size=0),
        lambda: sstore.build(folder / "b", [1], memory="9" * 5000),
        lambda: sstore.build(folder / "b", [1], recipe=b"ab\0cd"),  # type: ignore[arg-type]
        lambda: sstore.build(folder / "b", [1], recipe="\ud800"),
        lambda: sstore.build("\ud800", [1]),
        lambda: sstore.merge(folder / "b", []),
    ):
        with pytest.raises(sstore.ArgumentError):
            call()


def damaged(folder: pathlib.Path, rng: np.random.Generator) -> sstore.Store:
    """A store whose records cannot all be read."""
    sstore.build(folder / "damaged", clustered(rng, 20000))
    [table] = (folder / "damaged").rglob("table-00.blk")
    content = bytearray(table.read_bytes())
    content[-5000] ^= 1
    table.write_bytes(bytes(content))
    return sstore.open(folder / "damaged", io="pread")


def test_errors_in_an_arrow_stream(folder: pathlib.Path, rng: np.random.Generator) -> None:
    store = damaged(folder, rng)
    reader = pyarrow.RecordBatchReader.from_stream(store.iter_records(batch_size=100))
    with pytest.raises(OSError, match="DamagedError.*table-00.blk"):
        reader.read_all()
    with pytest.raises(OSError, match="DamagedError.*table-00.blk"):
        pyarrow.table(store.iter_records())


def test_batches_end_with_an_error(folder: pathlib.Path, rng: np.random.Generator) -> None:
    """What was read before an error is not taken for all."""
    batches = damaged(folder, rng).iter_records(batch_size=7000)
    with pytest.raises(sstore.DamagedError):
        list(batches)
    with pytest.raises(sstore.ArgumentError, match="after an error"):
        list(batches)


def test_streams_are_released_with_a_pending_exception(folder: pathlib.Path) -> None:
    """Python frees a reader while an exception is on its way. In a process of its own, since Arrow aborts otherwise."""
    script = f"""
        import pyarrow, sstore
        from sstore._export import _sources
        sstore.build({str(folder / "a")!r}, range(1000))
        store = sstore.open({str(folder / "a")!r})
        read = pyarrow.RecordBatchReader.from_stream
        def loop():
            for _ in read(store.iter_records(batch_size=10)):
                raise KeyError
        def interrupted():
            for _ in read(store.iter_records(batch_size=10)):
                raise KeyboardInterrupt
        for call, kind in (
            (loop, KeyError),
            (interrupted, KeyboardInterrupt),
            (lambda: read(store.iter_query_batch([])).read_next_batch(), StopIteration),
            (lambda: read(store.records()).read_all(1, 2), TypeError),
            (lambda: store.iter_records().__arrow_c_stream__() + 1, TypeError),
        ):
            try:
                call()
            except kind:
                assert not _sources, call
            else:
                raise AssertionError
        def leave():
            raise SystemExit(7)
        for _ in read(store.iter_records(batch_size=10)):
            leave()
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True)
    assert ran.returncode == 7, ran.stderr


def test_interrupt_of_a_stream(folder: pathlib.Path) -> None:
    """Ctrl-C while a stream is read ends in KeyboardInterrupt, though the reader makes an error of its own of it."""
    script = f"""
        import os, signal, sys, time
        import numpy, polars, pyarrow, sstore
        from sstore import _columns
        sstore.build({str(folder / "a")!r}, range(1000))
        store = sstore.open({str(folder / "a")!r})
        convert = _columns.Records.__init__
        def interrupt(self, columns):
            if len(columns["id"]) > 0:
                os.kill(os.getpid(), signal.SIGINT)
            convert(self, columns)
        _columns.Records.__init__ = interrupt
        for read in (pyarrow.table, polars.DataFrame):
            try:
                try:
                    read(store.iter_records(batch_size=10))
                except Exception as error:
                    assert "KeyboardInterrupt" in str(error), error
                time.sleep(10)
                sys.exit("not interrupted")
            except KeyboardInterrupt:
                pass
        sys.exit(7)
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True)
    assert ran.returncode == 7, ran.stderr


def test_streams_do_not_wait_for_the_collector(folder: pathlib.Path) -> None:
    sstore.build(folder / "a", range(1000))
    store = sstore.open(folder / "a")
    gc.collect()
    gc.disable()
    try:
        made = [weakref.ref(store.iter_records(batch_size=10)) for _ in range(3)]
        for _ in range(3):
            batches = store.iter_records(batch_size=10)
            made.append(weakref.ref(batches))
            pyarrow.RecordBatchReader.from_stream(batches).read_next_batch()
            del batches
        assert [reference() for reference in made] == [None] * 6
    finally:
        gc.enable()


def test_columns(folder: pathlib.Path) -> None:
    sstore.build(folder / "a", [1, 2])
    records = sstore.open(folder / "a").records()
    assert list(records) == ["fingerprint", "id"] and "id" in records and "name" not in records and 1 not in records
    with pytest.raises(KeyError, match="'name'.*fingerprint, id"):
        records["name"]
    assert repr(records).splitlines()[0] == "Records: 2 rows"
    wrong: Any
    for wrong in ({}, {"a": np.zeros(2), "b": np.zeros(3)}, {"a": np.zeros((2, 2))}):
        with pytest.raises(sstore.ArgumentError, match="one shape"):
            sstore.Columns(wrong)
    assert "&lt;b&gt;" in sstore.Columns({"<b>": np.array([1])})._repr_html_()
    assert pyarrow.table(records, schema=records.to_arrow().schema) == records.to_arrow()
    assert "<td><code>0000000000000002</code></td><td><code>1</code></td>" in records._repr_html_()
