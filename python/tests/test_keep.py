"""Which of near rows to keep: against a slow model, and the forms of input."""

from __future__ import annotations

import datetime
import decimal
import pathlib
import tempfile
from collections.abc import Iterator
from typing import Any, Optional

import numpy as np
import numpy.typing as npt
import pytest
from brute import Words, clustered
from brute_wide import brute_strict, distances, skewed

import sstore

pa = pytest.importorskip("pyarrow")
masks: Any = np.ma  # not typed in all versions

TEXTS = [
    "the old house by the river is for sale, call us now and visit it today.",
    "a quick brown fox jumps over the lazy dog while the sun sets slowly.",
    "The old house by the river is for sale: call us now and visit it today!",
    "simple recipes for a quick dinner with tomatoes, basil and fresh bread.",
    "",
    "!!!",
    "the old house by the RIVER is for sale; call us now and visit it today",
]
Expected = dict[int, tuple[int, int]]  # of a dropped row, what is kept instead and the distance


def model(rows: list[int], fps: Words, k: int, strict: bool, max_group: Optional[int]) -> tuple[Expected, set[Any]]:
    """What is dropped of rows in the order of their priority, and the large groups."""
    kept_of: Expected = brute_strict(fps, rows, k) if strict else {}
    for row in [] if strict else rows:
        if row in kept_of:
            continue
        waiting = [row]
        kept_of[row] = row, 0
        while waiting:
            apart = distances(fps[rows], fps[waiting.pop()])
            for other in [other for other, d in zip(rows, apart) if d <= k and other not in kept_of]:
                kept_of[other] = row, int(distances(fps[[other]], fps[row])[0])
                waiting.append(other)
    kept_of = {row: found for row, found in kept_of.items() if found[0] != row}
    sizes = dict.fromkeys((other for other, _ in kept_of.values()), 1)
    for other, _ in kept_of.values():
        sizes[other] += 1
    large = {(row, size) for row, size in sizes.items() if max_group is not None and size > max_group}
    too_large = {row for row, _ in large}
    return {row: found for row, found in kept_of.items() if found[0] not in too_large}, large


def random_order(rng: np.random.Generator, count: int, number: int) -> tuple[Any, npt.NDArray[Any]]:
    """A column to order by, in one of its forms, and its values as floats; NaN: none."""
    values = rng.integers(-5, 6, count) / rng.choice([1, 4])
    has_none = rng.random(count) < rng.choice([0, 0.2])
    numbers = np.where(has_none, np.nan, values)
    items = [None if none else value for none, value in zip(has_none.tolist(), values.tolist())]
    day = datetime.datetime(2026, 11, 29, tzinfo=datetime.timezone.utc)
    days = [None if item is None else day + datetime.timedelta(hours=item) for item in items]
    forms: list[Any] = [
        numbers,
        items,
        pa.chunked_array([items[: count // 2], items[count // 2 :]], pa.float64()),
        pa.array(items, pa.float32()).slice(0),
        [None if item is None else decimal.Decimal(item) for item in items],
        ["" if item is None else str(item) for item in items],
        days,
        [None if item is None else item.isoformat() for item in days],
        pa.array(days),
        pa.array(days, pa.timestamp("us")).dictionary_encode(),
        pa.array([None if item is None else item.isoformat() for item in days], pa.large_string()),
        np.array([np.datetime64("NaT", "s") if item is None else item.replace(tzinfo=None) for item in days], "M8[s]"),
        masks.masked_array(values, has_none),
        pa.array(None if item is None else int(item * 4) for item in items),
        [None if item is None else int(item * 4) for item in items],
    ]
    return forms[number % len(forms)], numbers


def check(kept: sstore.Kept, expected: Expected, large: set[Any], stored: dict[int, tuple[int, int]]) -> None:
    count = len(kept.is_kept)
    rows = [row for row in range(count) if row in expected or row in stored]
    assert kept.is_kept.dtype == np.bool_ and kept.kept_row.dtype == np.int64 and kept.distance.dtype == np.uint32
    assert np.flatnonzero(~kept.is_kept).tolist() == rows
    everything = {row: (row, 0) for row in range(count)}
    everything.update(expected)
    everything.update({row: (-1, found[0]) for row, found in stored.items()})
    assert list(zip(kept.kept_row.tolist(), kept.distance.tolist())) == [everything[row] for row in range(count)]
    assert {*zip(kept.large_group_row.tolist(), kept.large_group_size.tolist())} == large
    dropped = kept.dropped
    assert dropped.row.tolist() == rows
    assert [*zip(dropped.kept_row.tolist(), dropped.distance.tolist())] == [everything[row] for row in rows]
    if kept.stored_id is not None:
        assert kept.stored_id.tolist() == [stored[row][1] if row in stored else 0 for row in range(count)]
        assert dropped["stored_id"].tolist() == kept.stored_id[rows].tolist()


def forms_of(fps: Words, words: int) -> list[Any]:
    """The forms of fingerprints."""
    data = fps.astype(">u8").tobytes()
    rows = [data[begin : begin + 8 * words] for begin in range(0, len(data), 8 * words)]
    if words == 1:
        made = fps.reshape(-1)
        return [made, made.view(np.int64), made.tolist(), pa.array(made), pa.chunked_array([made[:5], made[5:]])]
    return [fps, np.frombuffer(data, np.uint8).reshape(-1, 8 * words), list(fps), pa.array(rows, pa.binary(8 * words))]


@pytest.mark.parametrize("number", range(45))
def test_model(folder: pathlib.Path, rng: np.random.Generator, number: int) -> None:
    words = int(rng.choice([1, 1, 2, 4, 16]))
    count = int(rng.integers(1, 200))
    k = int(rng.integers(0, 4 * words))
    fps = clustered(rng, count).reshape(-1, 1) if words == 1 else skewed(rng, count, words)
    strict, max_group = bool(rng.random() < 0.5), [None, None, int(rng.integers(1, 9))][number % 3]
    options: dict[str, Any] = {"strict": strict, "distance": k, "max_group": max_group, "bits": 64 * words}
    stored: dict[int, tuple[int, int]] = {}
    if rng.random() < 0.3:
        some = fps[rng.integers(0, count, 3)] ^ np.uint64(1)
        ids = rng.integers(0, 1 << 63, 3).astype(np.uint64)
        has_ids = rng.random() < 0.7
        sstore.build(folder / "seen", some, ids if has_ids else None, bits=64 * words, distance=k, no_ids=not has_ids)
        options["against"] = folder / "seen" if rng.random() < 0.5 else sstore.open(folder / "seen")
        for row in range(count):
            apart = distances(some, fps[row])
            near = [(int(d), [*f], int(i)) for d, f, i in zip(apart, some.tolist(), ids) if d <= k]
            if near:
                stored[row] = min(near)[0], min(near)[2] if has_ids else 0
    keys = [float(row) for row in range(count)]
    keep = ["first", "last", "order"][int(rng.integers(3))] if number % 3 == 0 else "order"
    if keep == "last":
        keys = [-key for key in keys]
    values: Any = keep
    if keep == "order":
        options["descending"] = bool(rng.random() < 0.5)
        values, numbers = random_order(rng, count, number // 3)
        is_none = np.isnan(numbers)
        keys = [np.inf if none else -n if options["descending"] else n for none, n in zip(is_none, numbers)]
    rows = [row for row in sorted(range(count), key=lambda row: keys[row]) if row not in stored]
    expected, large = model(rows, fps, k, strict, max_group)
    for memory, threads in (("8M", 1), ("64M", 2), (None, 0)):
        forms = forms_of(fps, words)
        form = forms[int(rng.integers(len(forms)))]
        options.update(memory=memory, threads=threads)
        check(sstore.dedup(form, keep=values, **options), expected, large, stored)
        if keep == "order" and not isinstance(values, (pa.Array, pa.ChunkedArray)):
            continue
        columns = {"f": form if isinstance(form, (pa.Array, pa.ChunkedArray)) else pa.array(forms[-1])}
        columns["o"] = values if keep == "order" else pa.nulls(count)
        table = pa.table(columns)
        options["fingerprint"] = "f"
        name = "o" if keep == "order" else values
        chunks = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=17))
        for tables in (table, chunks):
            check(sstore.dedup(tables, keep=name, **options), expected, large, stored)
        del options["fingerprint"]


def test_large(rng: np.random.Generator) -> None:
    """What does not fit in memory gives the same."""
    fps = clustered(rng, 300_000)
    choices: list[dict[str, Any]] = [{"keep": "last"}, {"strict": True, "keep": rng.random(len(fps))}]
    for options in choices:
        one, other = (sstore.dedup(fps, memory=memory, **options) for memory in ("8M", "1G"))
        assert 0 < len(one.dropped) < len(fps)
        for name in ("is_kept", "kept_row", "distance"):
            assert np.array_equal(getattr(one, name), getattr(other, name))


def text_forms(texts: list[Any]) -> Iterator[Any]:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    yield texts
    yield iter(texts)
    yield tuple(None if text is None else text.encode() for text in texts)
    for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.binary()):
        array = pa.array(texts, kind)
        yield array
        yield pa.chunked_array([array.slice(0, 3), array.slice(3)])
    yield pa.array(texts).dictionary_encode()
    yield pa.chunked_array([pa.array(texts).dictionary_encode()])
    for series in (pandas.Series(texts), pandas.Series(texts, dtype="string"), pandas.Series(texts, dtype="category")):
        yield series
    yield polars.Series(texts)
    yield polars.Series(texts, dtype=polars.Categorical)
    yield np.array(texts, np.object_)


def test_texts() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    texts = [*TEXTS, None]
    wanted = [True, True, False, True, True, True, False, True]
    for form in text_forms(texts):
        kept = sstore.dedup(form, distance=4)
        assert kept.is_kept.tolist() == wanted, type(form)
        assert kept.kept_row.tolist() == [0, 1, 0, 3, 4, 5, 0, 7]
    assert sstore.dedup(np.array(TEXTS)).is_kept.tolist() == wanted[:-1]
    columns = {"n": list(range(8)), "text": texts, "size": [5, 1, 5, 1, 1, 1, 7, 1]}
    table = pa.table(columns)
    frames = [columns, table, table.to_batches()[0], pandas.DataFrame(columns), polars.DataFrame(columns)]
    frames += [table.slice(0), pa.table({**columns, "text": pa.array(texts, pa.string_view())})]
    for frame in frames:
        kept = sstore.dedup(frame, text="text", keep="size", descending=True, distance=4)
        assert kept.kept_row.tolist() == [6, 1, 6, 3, 4, 5, 6, 7], type(frame)
    for kind in (pa.string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())):
        table = pa.table({**columns, "text": pa.array(texts, pa.string()).cast(kind)})
        batches = [batch for begin in (0, 2, 5) for batch in table.slice(begin, 3).slice(0, 5).to_batches()][:3]
        batches[0] = batches[0].slice(0, 2)
        reader = pa.RecordBatchReader.from_batches(table.schema, batches)
        kept = sstore.dedup(reader, text="text", keep="size", descending=True, distance=4)
        assert kept.kept_row.tolist() == [6, 1, 6, 3, 4, 5, 6, 7]
    assert repr(kept) == "<sstore.Kept: 8 rows, 6 kept, 2 dropped>"
    assert pandas.DataFrame(columns)[kept.is_kept]["n"].tolist() == [1, 3, 4, 5, 6, 7]
    assert polars.DataFrame(columns).filter(kept.is_kept)["n"].to_list() == [1, 3, 4, 5, 6, 7]
    assert kept.dropped.to_pandas()["kept_row"].tolist() == [6, 6]


def test_texts_are_those_of_simhash(rng: np.random.Generator) -> None:
    """The options of texts reach simhash(), and the same rows are kept as of its fingerprints."""
    words = [f"word{i}" for i in range(50)]
    texts = [" ".join(rng.choice(words, int(rng.integers(1, 8)))) for _ in range(300)]
    for options in (
        {},
        {"features": "chars", "shingle": 3},
        {"bits": 128, "weights": "presence"},
        {"hash": "java128", "markup": "html"},
        {"hash": "minhash", "bits": 192, "features": "chars"},
        {"lexicon": sstore.Lexicon(stop_words=words[:9])},
    ):
        chosen: Any = options
        minhash = {name: value for name, value in chosen.items() if name != "hash"}
        fps = sstore.minhash(texts, **minhash) if options.get("hash") == "minhash" else sstore.simhash(texts, **chosen)
        is_any = np.array([any(word not in words[:9] for word in text.split()) for text in texts])
        rows = np.flatnonzero(is_any if "lexicon" in options else np.ones(300, np.bool_))
        by_hand = sstore.dedup(fps[rows], distance=9, bits=None if fps.ndim == 1 else 64 * fps.shape[1])
        kept = sstore.dedup(texts, distance=9, **chosen)
        assert kept.is_kept[rows].tolist() == by_hand.is_kept.tolist() and kept.is_kept.sum() < 300
        assert kept.kept_row[rows].tolist() == rows[by_hand.kept_row].tolist()


def test_recipes(folder: pathlib.Path) -> None:
    fps = sstore.simhash(TEXTS[:1])
    sstore.build(folder / "seen", fps, [77], distance=5, recipe=sstore.text_recipe())
    kept = sstore.dedup(TEXTS, against=folder / "seen")  # at the distance of the store
    assert kept.kept_row.tolist() == [-1, 1, -1, 3, 4, 5, -1] and kept.stored_id is not None
    assert kept.stored_id.tolist() == [77, 0, 77, 0, 0, 0, 77]
    assert sstore.dedup(["", "!"], against=folder / "seen").is_kept.all()
    with pytest.raises(sstore.RecipeError, match="features=chars"):
        sstore.dedup(TEXTS, against=folder / "seen", features="chars")
    with pytest.raises(sstore.ArgumentError, match="expected a store of 128 bits, found one of 64"):
        sstore.dedup(np.zeros((2, 2), np.uint64), bits=128, against=folder / "seen")
    with pytest.raises(sstore.NotFoundError):
        sstore.dedup(TEXTS, against=folder / "nothing")


def test_bad_rows() -> None:
    fps = pa.array([1, None, 1, None], pa.uint64())
    with pytest.raises(TypeError, match="row 1: null; skip_bad=True skips"):
        sstore.dedup(fps)
    bad = sstore.BadRows()
    assert sstore.dedup(fps, skip_bad=bad, keep=[3, 4, 1, 2]).kept_row.tolist() == [2, 1, 2, 3]
    assert [row.row for row in bad.rows] == [1, 3]
    table = pa.table({"f": fps})
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=1))
    with pytest.warns(sstore.SkippedWarning, match="2 bad rows"):
        assert sstore.dedup(reader, fingerprint="f", skip_bad=True).kept_row.tolist() == [0, 1, 0, 3]


def test_orders() -> None:
    """Numbers of 64 bits are compared as such."""
    big = [(1 << 63) + 1, 1 << 63, 5]
    for values in (big, np.array(big, np.uint64), pa.array(big, pa.uint64()), [None, *big][1:]):
        assert sstore.dedup([7, 7, 7], keep=values).kept_row.tolist() == [2, 2, 2]
        assert sstore.dedup([7, 7, 7], keep=values, descending=True).kept_row.tolist() == [0, 0, 0]
    small = [-(1 << 53) - 1, -(1 << 53), None]
    for values in (small, pa.array(small)):
        assert sstore.dedup([7, 7, 7], keep=values).kept_row.tolist() == [0, 0, 0]
        assert sstore.dedup([7, 7, 7], keep=values, descending=True).kept_row.tolist() == [1, 1, 1]
    for values in ([False, True], np.array([False, True]), pa.array([False, True])):
        assert sstore.dedup([7, 7], keep=values, descending=True).kept_row.tolist() == [1, 1]
    for values in (
        [0, 1, 2],
        np.arange(3, dtype=np.uint64),
        np.arange(3, dtype=np.uint8),
        pa.array([0, 1, 2], pa.uint64()),
    ):
        assert sstore.dedup([7, 7], keep=values[:2], descending=True).kept_row.tolist() == [1, 1]
        assert sstore.dedup([7, 7], keep=values[1:], descending=True).kept_row.tolist() == [1, 1]
    zones = ["2026-01-01T00:00:00Z", "2026-01-01T00:30:00+01:00"]
    for values in (zones, [datetime.datetime.fromisoformat(zone.replace("Z", "+00:00")) for zone in zones]):
        assert sstore.dedup([7, 7], keep=values).kept_row.tolist() == [1, 1]
    with pytest.raises(sstore.ArgumentError, match="keep: row 1: expected numbers, times, .*found 'soon'"):
        sstore.dedup([7, 7], keep=["2026-01-01", "soon"])
    with pytest.raises(TypeError, match="keep: expected numbers"):
        sstore.dedup([7, 7], keep=pa.array([[1], [2]]))


@pytest.mark.parametrize(
    ("items", "options", "message"),
    [
        ("one text", {}, "expected texts, fingerprints or a table, found str"),
        (5, {}, "found int"),
        ({"a": [1]}, {}, "text= or fingerprint= says which column of the table it is, of a"),
        (pa.table({"a": [1], "b": [1]}), {}, "of a, b"),
        (pa.table({"a": [1]}).to_reader(), {}, "of a"),
        (pa.table({"a": [1]}), {"text": "b"}, 'expected a table with a column "b"'),
        (pa.table({"a": [1]}).to_reader(), {"text": "b"}, 'expected a column "b", found a'),
        (pa.table({"a": [1]}), {"text": "a"}, "expected str or bytes|array of strings"),
        (pa.table({"a": [1]}), {"fingerprint": "a", "keep": "b"}, 'keep: expected a table with a column "b"'),
        ([1, 2], {"text": "a"}, 'expected a table with a column "a"'),
        ([1, 2], {"text": "a", "fingerprint": "b"}, "cannot be combined"),
        ([1, 2], {"keep": "best"}, 'expected "first", "last"'),
        ([1, 2], {"keep": [1]}, "expected as many as there are rows, found 1 and at least 2 rows"),
        ([1, 2], {"keep": [1, 2, 3]}, "found 3 and 2 rows"),
        ([1, 2], {"distance": 17}, "expected 0 to 16, found 17"),
        ([1, 2], {"max_group": 0}, "max_group: expected at least 1"),
        ([1, 2], {"features": "chars"}, "options of texts"),
        (["a", 5], {}, "row 1: expected str or bytes, found int"),
        ([1, "a"], {}, "expected int, found str"),
        (["a"], {"bits": 256, "distance": 3}, "bits: expected 64 or 128, found 256"),
        ([1], {"bits": 100}, "bits: expected a multiple of 64"),
        (["a"], {"strict": 1}, "strict: expected bool"),
    ],
)
def test_arguments(items: Any, options: Any, message: str) -> None:
    with pytest.raises((sstore.ArgumentError, TypeError), match=message):
        sstore.dedup(items, **options)


def test_nothing_left_behind(folder: pathlib.Path) -> None:
    """No rows; errors; and an interrupted call."""
    forms: list[Any] = [[], np.zeros(0, np.uint64), pa.array([], pa.string())]
    for items in forms:
        assert len(sstore.dedup(items).is_kept) == 0
    made: list[sstore.Progress] = []

    def stop(progress: sstore.Progress) -> None:
        made.append(progress)
        raise KeyboardInterrupt

    (folder / "tmp").mkdir()
    with pytest.raises(KeyboardInterrupt):
        sstore.dedup(np.arange(1000, dtype=np.uint64) << np.uint64(40), tmp_dir=folder / "tmp", progress=stop)
    assert len(made) == 1 and list((folder / "tmp").iterdir()) == []
    with pytest.raises(sstore.NotFoundError):
        sstore.dedup([1], tmp_dir=folder / "nothing")
    before = {*pathlib.Path(tempfile.gettempdir()).glob("sstore-keep-*")}
    sstore.dedup([1, 1])
    assert {*pathlib.Path(tempfile.gettempdir()).glob("sstore-keep-*")} <= before


@pytest.mark.parametrize("number", range(12))
def test_updates(folder: pathlib.Path, rng: np.random.Generator, number: int) -> None:
    """Rows of several days, of which the store gets those that are kept, with their ids and names, in a model."""
    words, path = int(rng.choice([1, 1, 4])), folder / "seen"
    k, strict = 2 * words, bool(number % 2)
    has_ids, has_names, is_stream = ((number // 2 >> bit) % 2 == 1 for bit in range(3))
    model_fps, model_ids = np.zeros((0, words), np.uint64), list[int]()
    for day in range(4):
        count = int(rng.integers(0, 90))
        fps = (clustered(rng, count + 1).reshape(-1, 1) if words == 1 else skewed(rng, count + 1, words))[:count]
        ids = rng.permutation(1000)[:count] + 1000 * day
        names = [f"page {id_}" for id_ in ids.tolist()]
        data = fps.astype(">u8").tobytes()
        hashes: Any = pa.array((data[i : i + 8 * words] for i in range(0, len(data), 8 * words)), pa.binary(8 * words))
        table = pa.table({"hash": fps.reshape(-1) if words == 1 else hashes, "number": ids, "url": names})
        given: dict[str, Any] = {"ids": "number"} if has_ids else {}
        given.update({"names": "url"} if has_names else {})
        form: Any = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=17))
        if not is_stream:
            form = table if day % 2 else None
        if form is None:
            given = {kind: {"ids": ids, "names": names}[kind] for kind in given}
        before = sstore.dedup(forms_of(fps, words)[0], strict=strict, distance=k, bits=64 * words,
                              against=path if day > 0 else None)  # fmt: skip
        options: dict[str, Any] = {"strict": strict, "update": path, "bits": 64 * words, **given}
        options.update({"distance": k} if day == 0 else {})  # later, the store's
        kept = sstore.dedup(fps, **options) if form is None else sstore.dedup(form, fingerprint="hash", **options)
        for name in ("is_kept", "kept_row", "distance"):
            assert np.array_equal(getattr(kept, name), getattr(before, name))
        is_near = [bool(len(model_fps)) and int(distances(model_fps, fp).min()) <= k for fp in fps]
        expected, _ = model([row for row in range(count) if not is_near[row]], fps, k, strict, None)
        wanted = [row for row in range(count) if not is_near[row] and row not in expected]
        assert np.flatnonzero(kept.is_kept).tolist() == wanted
        assert kept.change is not None and kept.change.added_count == len(wanted)
        next_id = max(model_ids, default=-1) + 1
        model_fps = np.concatenate([model_fps, fps[wanted]])
        own = ids[wanted].tolist() if has_ids else list(range(next_id, next_id + len(wanted)))
        model_ids += own
        with sstore.open(path) as store:
            assert store.distance == k and store.words == words and store.has_names == has_names
            records = store.records(with_names=has_names)
            found = zip(map(tuple, records.fingerprint.reshape(-1, words).tolist()), records.id.tolist())
            assert sorted(found) == sorted(zip(map(tuple, model_fps.tolist()), model_ids))
            if has_names and has_ids:
                assert records.name.tolist() == [f"page {id_}" for id_ in records.id.tolist()]
            elif has_names:
                assert store.get(names=[names[row] for row in wanted]).id.tolist() == own
    assert sstore.verify(path) == []


def test_update_of_texts(folder: pathlib.Path) -> None:
    """Texts without features are kept, and not added; a new store has the recipe of the texts."""
    path = folder / "seen"
    kept = sstore.dedup(TEXTS, distance=4, update=path)
    assert kept.is_kept.tolist() == [True, True, False, True, True, True, False] and kept.change is not None
    assert kept.change.added_count == 3
    with sstore.open(path, recipe=sstore.text_recipe()) as store:
        assert sorted(store.records().fingerprint.tolist()) == sorted(sstore.simhash(TEXTS)[[0, 1, 3]].tolist())
        assert store.distance == 4
    again = sstore.dedup(TEXTS, update=path)
    assert again.is_kept.tolist() == [False, False, False, False, True, True, False] and again.change is not None
    assert again.change.added_count == 0 and len(sstore.open(path)) == 3
    with pytest.raises(sstore.RecipeError, match="update: .*features=chars"):
        sstore.dedup(TEXTS, update=path, features="chars")
    assert sstore.dedup([], update=folder / "new").change is not None  # of texts, which tell the bits
    assert sstore.dedup(np.zeros(0, np.uint64), update=folder / "newer").change is None
    assert not (folder / "newer").exists()
    assert sstore.dedup(np.zeros((0, 2), np.uint64), update=folder / "newer", bits=128).change is not None
    assert sstore.open(folder / "newer").bits == 128


def test_updates_that_fail(folder: pathlib.Path) -> None:
    """The store stays as it was, and is not locked."""
    fps = np.array([1, 255 << 40, 255 << 52], np.uint64)
    sstore.build(folder / "named", fps[:1], names=["a"])
    sstore.build(folder / "bare", fps[:1], no_ids=True)
    table = pa.table({"f": fps, "n": ["a", None, "c"], "i": [1, 2, 3]})
    wrong: list[tuple[Any, str]] = [
        ({"update": folder / "bare", "against": folder / "bare"}, "update: cannot be combined with against"),
        ({"names": ["a", "b", "c"]}, "names: only with update="),
        ({"ids": [1, 2, 3], "against": folder / "bare"}, "ids: only with update="),
        ({"before_update": print}, "before_update: only with update="),
        ({"update": folder / "named"}, "names= says those of the rows"),
        ({"update": folder / "named", "names": ["a", "b"]}, "names: expected as many as there are rows, found 2 and 3"),
        ({"update": folder / "named", "names": ["a", "", "c"]}, "names: row 1: expected 1 to 65536 bytes"),
        ({"update": folder / "named", "names": "one"}, r"of one text, give \[text\]"),
        ({"update": folder / "new", "ids": [1, 2]}, "ids: expected as many as there are rows, found 2 and 3"),
        ({"update": folder / "new", "ids": ["a", "b", "c"]}, "names= takes other texts"),
        ({"update": folder / "bare", "names": ["a", "b", "c"]}, "the store has no names"),
        ({"update": folder / "new", "keep": [1, 2]}, "found 2 and at least 3 rows"),
        ({"update": folder / "bare", "bits": 128}, "update: expected a store of 128 bits, found one of 64"),
        ({"update": folder / "nowhere" / "new"}, "nowhere"),
    ]
    for options, message in wrong:
        with pytest.raises((sstore.Error, TypeError), match=message):
            sstore.dedup(fps, **options)
    forms: list[Any] = [lambda: table, lambda: table.to_reader(2)]
    for form in forms:
        for column, message in (("n", "names: row 1: null"), ("m", 'names: expected a .*column "m"')):
            with pytest.raises((sstore.ArgumentError, TypeError), match=message):
                sstore.dedup(form(), fingerprint="f", update=folder / "named", names=column)
    with sstore.Deduplicator(folder / "bare"):
        with pytest.raises(sstore.BusyError):
            sstore.dedup(fps, update=folder / "bare")

    def stop(_: sstore.Progress) -> None:
        raise KeyboardInterrupt

    for path in ("bare", "new"):
        with pytest.raises(KeyboardInterrupt):
            sstore.dedup(np.arange(1000, dtype=np.uint64) << np.uint64(40), update=folder / path, progress=stop)
    for path in ("bare", "new"):
        given: list[sstore.Kept] = []

        def fail(kept: sstore.Kept) -> None:
            given.append(kept)  # noqa: B023
            raise OSError("the disk is full")

        with pytest.raises(OSError, match="the disk is full"):
            sstore.dedup(fps, update=folder / path, before_update=fail)
        assert [(kept.is_kept.tolist(), kept.change) for kept in given] == [([path == "new", True, True], None)]
    assert [len(sstore.open(folder / path)) for path in ("named", "bare")] == [1, 1]
    assert {*folder.iterdir()} == {folder / "named", folder / "bare"}
    with pytest.warns(sstore.DoubtWarning, match="the store has no ids, so the given ones are ignored"):
        kept = sstore.dedup(fps, update=folder / "bare", ids=[5, 6, 7])
    assert kept.kept_row.tolist() == [-1, 1, 2] and len(sstore.open(folder / "bare")) == 3
    kept = sstore.dedup(table.to_reader(2), fingerprint="f", update=folder / "named", names=["x", "y", "z"], ids="i")
    assert kept.change is not None and sstore.open(folder / "named").get(names=["y", "z"]).id.tolist() == [2, 3]
