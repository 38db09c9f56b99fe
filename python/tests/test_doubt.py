"""Input that may mean something else, and rows that cannot be read."""

from __future__ import annotations

import pathlib
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from brute import brute_query, clustered

import sstore
from sstore._rows import _SIGNS

pyarrow = pytest.importorskip("pyarrow")
polars = pytest.importorskip("polars")
pandas = pytest.importorskip("pandas")
masks: Any = np.ma  # not typed in all versions


@pytest.fixture(autouse=True)
def _no_other_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", sstore.DoubtWarning)
        warnings.simplefilter("error", sstore.SkippedWarning)
        yield


def records_of(path: pathlib.Path) -> list[tuple[int, int]]:
    with sstore.open(path) as store:
        records = store.records()
        fingerprints = records.fingerprint.reshape(len(records), -1).tolist()
        return sorted(
            zip(records.id.tolist(), (sum(w << 64 * i for i, w in enumerate(row[::-1])) for row in fingerprints))
        )


# ----- what is taken without a doubt -----


@pytest.mark.parametrize("words", [1, 2, 4, 16])
def test_single_bits(folder: pathlib.Path, rng: np.random.Generator, words: int) -> None:
    """Columns that are 0 or 1 are bits, not bytes, if there are as many as a fingerprint has bits."""
    bits = rng.integers(0, 2, (40, 64 * words), dtype=np.uint8)
    numbers = [int("".join(map(str, row)), 2) for row in bits.tolist()]
    expected = list(enumerate(numbers))
    for form in (bits, bits.astype(bool), bits.astype(np.int64), list(bits), bits.tolist(), bits.astype(bool).tolist()):
        for width in (None, 64 * words):
            change = sstore.build(folder / "a", form, bits=width, force=True)
            assert change.added_count == 40 and records_of(folder / "a") == expected
    with sstore.open(folder / "a") as store:
        for row, form in enumerate((bits, bits.astype(bool), bits.astype(np.int32))):
            assert row in store.query(form[row], 0).id.tolist()
        assert store.query_batch(bits, 0).query_index.tolist() == list(range(40))
    assert sstore.remove(folder / "a", bits[:7]).removed_count == 7
    assert sstore.add(folder / "a", bits[:7].astype(bool), np.arange(7)).added_count == 7
    assert records_of(folder / "a") == expected
    with sstore.Deduplicator(folder / "new", 0, bits=64 * words) as seen:
        assert seen.offer(bits).all() and not seen.offer(bits).any()


def test_bytes_are_not_bits(folder: pathlib.Path, rng: np.random.Generator) -> None:
    data = rng.integers(0, 2, (10, 64), dtype=np.uint8)
    with pytest.warns(sstore.DoubtWarning, match="probably single bits"):
        sstore.build(folder / "a", data, bits=512)  # says that they are bytes
    assert sstore.open(folder / "a").bits == 512
    data[9, 63] = 2
    with pytest.warns(sstore.DoubtWarning, match="probably single bits"):
        assert sstore.build(folder / "a", data, force=True).record_count == 10
    assert sstore.open(folder / "a").bits == 512
    with pytest.raises(sstore.ArgumentError, match=r"shape \(n,\).*found \(10, 64\) of uint8"):
        sstore.build(folder / "b", data, bits=64)


def test_two_columns(folder: pathlib.Path, rng: np.random.Generator) -> None:
    """An array has fingerprints, or fingerprints and ids as in a .npy file: bits says which."""
    fps, ids = clustered(rng, 100), rng.permutation(100).astype(np.uint64)
    both = np.stack([fps, ids], axis=1)
    for form in (both, both.view(np.int64)):
        for no_ids in (False, True):
            with pytest.raises(sstore.ArgumentError, match=r"bits=128 or bits=64 says which.*array\[:, :-1\], ids="):
                sstore.build(folder / "a", form, no_ids=no_ids)
        builder = sstore.Builder(folder / "c")
        with pytest.raises(sstore.ArgumentError, match="bits=128"):
            builder.add(form)
        builder.abort()
        sstore.build(folder / "a", form, bits=64, force=True)
        assert records_of(folder / "a") == sorted(zip(ids.tolist(), fps.tolist()))
        sstore.build(folder / "b", form, bits=128, force=True)
        assert records_of(folder / "b") == [(i, f << 64 | n) for i, (f, n) in enumerate(both.tolist())]
        sstore.build(folder / "b", form, ids, force=True)
        assert sstore.open(folder / "b").bits == 128
    assert sstore.add(folder / "a", both).added_count == 0
    assert sstore.remove(folder / "a", both[:10]).removed_count == 10
    with sstore.Deduplicator(folder / "a", 0) as seen:
        assert int(seen.offer(both).sum()) == len(set(fps[:10].tolist()) - set(fps[10:].tolist()))
    wide = np.concatenate([rng.integers(0, 1 << 64, (100, 4), np.uint64), ids[:, None]], axis=1)
    sstore.build(folder / "b", wide, bits=256, force=True)
    assert [i for i, _ in records_of(folder / "b")] == sorted(ids.tolist())
    with pytest.raises(sstore.ArgumentError, match="halves of 64 bits, or fingerprints and ids"):
        sstore.build(folder / "c", both.astype(np.int32))


def test_parts(folder: pathlib.Path, rng: np.random.Generator) -> None:
    """Smaller numbers in a row are parts of a fingerprint, in any order of bytes, as in a `.npy` file."""
    for words, kind in ((1, "u2"), (2, "u2"), (2, "u4"), (1, "i2"), (3, "i4")):
        fps = rng.integers(0, 1 << 64, (40, words), np.uint64)
        parts = fps.astype(">u8").view(f">{kind}")
        for order in "<>":
            sstore.build(folder / "a", parts.astype(f"{order}{kind}"), force=True)
            with sstore.open(folder / "a") as store:
                assert store.query_batch(fps if words > 1 else fps[:, 0], 0).id.tolist() == list(range(40))
    halves = fps[:, :1].astype("<u8").view("<u4")
    for bits in (None, 64):
        with pytest.raises(sstore.ArgumentError, match="halves of 64 bits, or fingerprints and ids"):
            sstore.build(folder / "b", halves, bits=bits)
    for count in (3, 5):
        with pytest.raises(sstore.ArgumentError, match=f"of uint{16}"):
            sstore.build(folder / "b", np.full((3, count), 7, np.uint16))


@pytest.mark.parametrize("kind", ["u1", "i2", "u4", "i8", "f2", "f4", "f8", "?"])
def test_bits_of_any_type(folder: pathlib.Path, rng: np.random.Generator, kind: str) -> None:
    """Numbers 0 and 1 are bits in any type, also in squares, and in lists of lists."""
    bits = rng.integers(0, 2, (30, 64))
    expected = np.packbits(bits.astype(bool), axis=1).view(">u8").reshape(-1).tolist()
    array = bits.astype(kind)
    squares = array.reshape(30, 8, 8)
    forms: list[Any] = [array, squares, list(array), array.tolist(), squares.tolist()]
    for form in forms:
        sstore.build(folder / "a", form, force=True)
        assert [f for _, f in records_of(folder / "a")] == expected
        with sstore.open(folder / "a") as store:
            assert 3 in store.query(array[3], 0).id.tolist()
    if kind[0] == "f":
        array[7, 7] = 0.5
        with pytest.raises(TypeError, match="float"):
            sstore.build(folder / "b", array)


@pytest.mark.parametrize("size", [1, 2, 4])
def test_signed_types(folder: pathlib.Path, rng: np.random.Generator, size: int) -> None:
    """Numbers of less than 64 bits with a sign are the same as those without."""
    if size == 1:
        warnings.simplefilter("ignore", sstore.DoubtWarning)  # such numbers seem to be counts
    unsigned = rng.integers(0, 1 << 8 * size, 50).astype(f"u{size}")
    signed = unsigned.view(f"i{size}")
    expected = list(enumerate(unsigned.tolist()))
    forms: list[Any] = [signed, list(signed), pyarrow.array(signed), polars.Series(signed), pandas.Series(signed)]
    for form in [*forms, pyarrow.table({"fingerprint": signed}), signed.astype(f">i{size}")]:
        sstore.build(folder / "a", form, force=True)
        assert records_of(folder / "a") == expected
    with sstore.open(folder / "a") as store:
        for number in signed:
            assert len(store.query(number, 0)) == store.count(number, 0) == (signed == number).sum()
    java = rng.integers(-128, 128, (20, 8), dtype=np.int8)  # bytes of Java
    sstore.build(folder / "a", java, force=True)
    assert [f for _, f in records_of(folder / "a")] == [int.from_bytes(row.tobytes(), "big") for row in java]
    with pytest.raises(ValueError, match="negative value of int32"):
        sstore.build(folder / "b", [1], np.array([-1], np.int32))


# ----- doubt -----


def test_signed_32_bits(folder: pathlib.Path, rng: np.random.Generator) -> None:
    values = rng.integers(-(1 << 31), 1 << 31, 200)
    forms: list[Any] = [values, values.tolist(), pyarrow.array(values), pandas.Series(values), polars.Series(values)]
    sstore.build(folder / "store", values.astype(np.uint32), bits=64)
    for form in [*forms, polars.DataFrame({"fingerprint": values})]:
        with pytest.warns(sstore.DoubtWarning, match=r"signed 32-bit.*astype\(numpy.uint32\)") as found:
            sstore.build(folder / "a", form, force=True)
        assert found[0].filename == __file__
        with pytest.warns(sstore.DoubtWarning), sstore.open(folder / "store") as store:
            assert len(store.query_batch(form, 3)) < 200
        with pytest.warns(sstore.DoubtWarning):
            sstore.StreamMatcher(form)
        with pytest.warns(sstore.DoubtWarning), sstore.Deduplicator(folder / "new", bits=64) as seen:
            seen.offer(form)
    with sstore.open(folder / "store") as store:
        assert len(store.query_batch(np.asarray(values.tolist()).astype(np.uint32), 0)) >= 200
        with pytest.warns(sstore.DoubtWarning, match="0xFFFFFFFF"):
            assert len(store.query(int(values.min()), 0)) == 0
        assert len(store.query(int(values.min()) & 0xFFFFFFFF, 0)) == 1
        store.query(-1)
    for certain in (values << 2, np.append(values, 1 << 40), np.abs(values), values[values > 0], np.array([-1, 5])):
        sstore.build(folder / "a", certain, force=True)


def signs_of(rng: np.random.Generator) -> dict[str, tuple[Any, Any, str]]:
    """Fingerprints and ids that mean something else: by what the warning says."""
    count = 200
    random, ids = rng.integers(0, 1 << 64, count, np.uint64), np.arange(count, dtype=np.uint64)
    bits = rng.integers(0, 2, (count, 24), dtype=np.uint8)
    texts = [f"{int(number):016x}" for number in random]
    words = np.frombuffer("".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz "), 32 * count)).encode(), np.uint8)
    small, large = rng.integers(0, 1000, count, np.uint64), rng.integers(1 << 40, 1 << 63, count, np.uint64)
    return {
        "bits": (bits, None, "single bits.*packbits"),
        "two values": (255 * bits, None, "two values.*packbits"),
        "1 and -1": (2 * bits.astype(np.int8) - 1, None, "two values"),
        "bytes as words": (rng.integers(0, 256, (count, 4), np.uint64), None, "upper half of every 32 or 64 bits"),
        "hex": ([text.encode() for text in texts], None, "hex digits in ASCII.*fromhex"),
        "readable": (words.reshape(-1, 32), None, "readable text"),
        "swapped": (small, large, "swapped"),
        "ids": (ids, None, "numbers close to each other"),
        "shuffled": (rng.permutation(ids), None, "numbers close to each other"),
        "shuffled list": (rng.permutation(ids).tolist(), None, "numbers close to each other"),
        "times": (np.sort(rng.integers(1700000000, 1700100000, count, np.uint64)), None, "times"),
        "32 bits": (rng.integers(-(1 << 31), 1 << 31, count), None, "signed 32-bit"),
        "rounded": (random.astype(np.float64).astype(object).tolist(), None, "rounded"),
        "doubles": (
            rng.integers(1 << 60, 1 << 63, count).astype(np.float64).view(np.uint64),
            None,
            "bits of floating-point numbers",
        ),
        "id order": (random, ids.byteswap(), "wrong order.*byteswap"),
        "repeated ids": (random, rng.integers(0, 5, count, np.uint64), "share few ids"),
    }


@pytest.mark.parametrize("name", signs_of(np.random.default_rng(1)))
def test_signs(folder: pathlib.Path, rng: np.random.Generator, name: str) -> None:
    """The signs of the command, of which arrays show most."""
    fingerprints, ids, text = signs_of(rng)[name]
    if name == "rounded":
        fingerprints = [int(number) % (1 << 64) for number in fingerprints]
    width = {"bytes as words": 256}.get(name)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", sstore.DoubtWarning)
        sstore.build(folder / "a", fingerprints, ids, bits=width)
    told = [str(one.message) for one in found if str(one.message).startswith("the fingerprints (200) ")]
    assert len(told) == 1 and re.search(text, told[0]), [str(one.message) for one in found]
    assert all(one.filename == __file__ for one in found)
    with sstore.open(folder / "a") as store, sstore.Deduplicator(folder / "b", 0, bits=store.bits) as seen:
        if ids is None:
            for call in (store.query_batch, seen.offer, sstore.StreamMatcher([1], bits=64).feed):
                if call is not store.query_batch and call is not seen.offer and store.bits > 64:
                    continue
                with pytest.warns(sstore.DoubtWarning, match=text):
                    call(fingerprints)
    with pytest.raises(sstore.DoubtWarning, match=text):  # an error, by which nothing is built
        sstore.build(folder / "c", fingerprints, ids, bits=width)
    assert not (folder / "c").exists()


@pytest.mark.parametrize("words", [1, 2, 5])
def test_no_signs(folder: pathlib.Path, rng: np.random.Generator, words: int) -> None:
    """Fingerprints as they are: few and many, near copies of each other, sparse, with ids in any order."""
    for count in (1, 2, 3, 10, 300):
        for kind in range(4):
            if kind == 0:
                array = rng.integers(0, 1 << 64, (count, words), np.uint64)
            elif kind == 1:  # near copies of one
                array = np.repeat(rng.integers(0, 1 << 64, (1, words), np.uint64), count, 0)
                array ^= np.uint64(1) << rng.integers(0, 64, (count, words), np.uint64)
            elif kind == 2:  # an eighth of the bits
                array = np.bitwise_and.reduce([rng.integers(0, 1 << 64, (count, words), np.uint64) for _ in range(3)])
            else:
                array = np.sort(rng.integers(0, 1 << 64, (count, words), np.uint64), 0)
            form = array[:, 0] if words == 1 else array
            for ids in (None, np.arange(count), rng.permutation(count), rng.integers(1 << 40, 1 << 50, count)):
                sstore.build(folder / "a", form, ids, bits=64 * words, force=True)
            sstore.build(folder / "a", list(form), bits=64 * words, force=True)


def test_every_sign_has_a_text() -> None:
    shim = (pathlib.Path(__file__).parents[1] / "native" / "shim.c").read_text()
    names = re.findall(r'\[SIGN_\w+\] = "([^"]+)"', shim)
    assert len(names) == len(set(names)) == 12
    assert set(names) == set(_SIGNS)


def test_repeated_ids(folder: pathlib.Path, rng: np.random.Generator) -> None:
    fps = rng.integers(0, 1 << 64, 100, np.uint64)
    ids = np.arange(100, dtype=np.uint64)
    sstore.build(folder / "a", fps, ids)
    with pytest.warns(sstore.DoubtWarning, match="3 of 103 records were given before"):
        sstore.build(folder / "a", np.append(fps, fps[:3]), np.append(ids, ids[:3]), force=True)
    twice = ids.copy()
    twice[70] = 7
    with pytest.warns(sstore.DoubtWarning, match="also belong to another fingerprint: at least 1, such as id 7;"):
        sstore.build(folder / "a", fps, twice, force=True)
    sstore.build(folder / "a", fps, ids, force=True)
    sstore.add(folder / "a", fps, ids)
    with pytest.warns(sstore.DoubtWarning, match="another fingerprint: 1, such as id 42;") as found:
        assert sstore.add(folder / "a", [1], [42]).conflict_count == 1
    assert found[0].filename == __file__
    assert sstore.add(folder / "a", [2], [43], check_ids=False).conflict_count == 0
    with sstore.Deduplicator(folder / "a") as seen:
        seen.offer([(1 << 40) - 1], [50])
        with pytest.warns(sstore.DoubtWarning, match="another fingerprint: 1, such as id 50;"):
            seen.publish()
        seen.publish()  # tells it once


@pytest.mark.parametrize("words", [1, 4])
def test_repeated_additions(folder: pathlib.Path, rng: np.random.Generator, words: int) -> None:
    """An addition without ids that is repeated doubles the store."""
    fps = rng.integers(0, 1 << 64, (2000, words), np.uint64)
    sstore.build(folder / "a", fps[:1000], bits=64 * words)
    sstore.add(folder / "a", fps[1000:])
    with pytest.warns(sstore.DoubtWarning, match="again with new ids") as found:
        assert sstore.add(folder / "a", fps[1000:]).added_count == 1000
    assert found[0].filename == __file__
    sstore.add(folder / "a", fps[1000:], np.arange(1000, 2000))
    sstore.add(folder / "a", np.concatenate([fps[:100], fps[:100] ^ np.uint64(1)]))
    sstore.add(folder / "a", fps[:1])  # one may well be there
    sstore.build(folder / "b", fps, bits=64 * words, no_ids=True)
    assert sstore.add(folder / "b", fps).added_count == 0
    with pytest.warns(sstore.DoubtWarning, match="has no ids, so the given ones are ignored"):
        sstore.add(folder / "b", fps[:2], [1, 2])


# ----- rows that cannot be read -----

GOOD = [5, 1 << 63, 7, 9]


def bad_columns() -> dict[str, tuple[Any, int, str]]:
    """Columns with the rows of GOOD, and one that is bad: its number, and what the error says."""
    row = 2
    with_null: list[Any] = [5, 1 << 63, None, 7, 9]
    strings = [None if item is None else item.to_bytes(8, "big") for item in with_null]
    return {
        "list": (with_null, row, "null"),
        "tuple, NaN": (tuple(float("nan") if item is None else item for item in with_null), row, "null"),
        "text": ([5, 1 << 63, "x", 7, 9], row, "expected int, found str"),
        "too large": ([5, 1 << 63, 1 << 64, 7, 9], row, "expected a number of 64 bits"),
        "bytes": (strings, row, "null"),
        "short bytes": ([strings[0], strings[1], b"abc", *strings[3:]], row, "expected 8 bytes.*found 3"),
        "short bytes first": ([b"abc", strings[0], strings[1], *strings[3:]], 0, "expected 8 bytes.*found 3"),
        "masked": (masks.masked_array([5, 1 << 63, 0, 7, 9], [0, 0, 1, 0, 0], np.uint64), row, "null"),
        "objects": (np.array(with_null, object), row, "null"),
        "pyarrow": (pyarrow.array(with_null, "uint64"), row, "null"),
        "pyarrow, signed": (pyarrow.array([5, -(1 << 63), None, 7, 9], "int64"), row, "null"),
        "pyarrow, sliced": (pyarrow.array([3, 3, 3, *with_null, 3], "uint64")[3:8], row, "null"),
        "pyarrow, chunks": (pyarrow.chunked_array([with_null[:2], with_null[2:]], "uint64"), row, "null"),
        "pyarrow, bytes": (pyarrow.array(strings), row, "null"),
        "pyarrow, fixed": (pyarrow.array(strings, pyarrow.binary(8)), row, "null"),
        "pyarrow, lists": (
            pyarrow.array([i and [i] for i in with_null], pyarrow.list_(pyarrow.uint64(), 1)),
            row,
            "null",
        ),
        "polars": (polars.Series(with_null, dtype=polars.UInt64), row, "null"),
        "polars, bytes": (polars.Series(strings, dtype=polars.Binary), row, "null"),
        "pandas": (pandas.Series(with_null, dtype="UInt64"), row, "null"),
        "pandas, objects": (pandas.Series(with_null, dtype=object), row, "null"),
        "pandas, bytes": (pandas.Series(strings), row, "null"),
        "a table": (pyarrow.table({"fingerprint": pyarrow.array(with_null, "uint64")}), row, "null"),
        "a sliced table": (pyarrow.table({"fingerprint": pyarrow.array([1, *with_null], "uint64")})[1:], row, "null"),
    }


@pytest.mark.parametrize("name", bad_columns())
def test_bad_rows(folder: pathlib.Path, name: str) -> None:
    column, row, reason = bad_columns()[name]
    expected = [(i + (i >= row), f) for i, f in enumerate(GOOD)]
    sstore.build(folder / "store", GOOD)
    store, seen = sstore.open(folder / "store"), sstore.Deduplicator(folder / "seen", 0)
    for call in (
        lambda: sstore.build(folder / "a", column),
        lambda: sstore.add(folder / "store", column),
        lambda: sstore.remove(folder / "store", column),
        lambda: store.query_batch(column),
        lambda: sstore.Deduplicator(folder / "other", 0).offer(column),
        lambda: sstore.StreamMatcher([1]).feed(column),
    ):
        with pytest.raises((sstore.ArgumentError, TypeError), match=rf"row {row}: {reason}.*; skip_bad=True"):
            call()
    with pytest.raises((sstore.ArgumentError, TypeError), match=f"row {row}: {reason}"):
        sstore.StreamMatcher(column)
    assert len(store.reopen()) == 4 and not (folder / "a").exists()
    with pytest.warns(sstore.SkippedWarning, match=f"1 bad rows were skipped; the first: row {row}: {reason}") as found:
        sstore.build(folder / "a", column, skip_bad=True)
    assert found[0].filename == __file__
    assert records_of(folder / "a") == expected
    bad = sstore.BadRows()
    with pytest.warns(sstore.DoubtWarning, match="again with new ids"):
        assert sstore.add(folder / "a", column, skip_bad=bad).added_count == 4
    assert records_of(folder / "a")[4:] == [(expected[-1][0] + 1 + i, f) for i, f in expected]
    batch = store.query_batch(column, 0, skip_bad=bad)
    assert batch.query_index.tolist() == [i for i, _ in expected] and batch.query_count == 5
    assert batch.id.tolist() == [0, 1, 2, 3] and len(batch.offsets) == 6
    assert sum(len(part) for part in store.iter_query_batch(column, 0, skip_bad=bad, batch_size=2)) == 4
    answers = seen.offer_and_match(column, skip_bad=bad)
    assert answers.is_new.tolist() == [i != row for i in range(5)]
    again = seen.offer_and_match(column, skip_bad=bad)
    assert not again.is_new.any() and again.matches.query_index.tolist() == [i for i, _ in expected]
    assert len(sstore.StreamMatcher(GOOD, 0).feed(column, skip_bad=bad)) == 4
    with sstore.Builder(folder / "b", skip_bad=bad) as builder:
        builder.add(column)
        builder.add(column)
    assert records_of(folder / "b") == expected + [(5 + i, f) for i, f in expected]
    assert sstore.remove(folder / "store", column, skip_bad=bad).removed_count == 4
    assert bad.count == 9 and [found.row for found in bad.rows] == [row] * 9
    seen.close()


@pytest.mark.parametrize(
    "wrong", [["84adfe2d13e12cb0", "x"], ["a quick fox"] * 9, [1 << 70, 1 << 255], [1.5, 2.5], [b"abc", b"d"]]
)
def test_columns_of_a_wrong_kind(folder: pathlib.Path, wrong: Any) -> None:
    """If no row can be read, skipping rows is no remedy; if another one can, it is."""
    for ids in (None, np.arange(len(wrong))):
        with pytest.raises((sstore.ArgumentError, TypeError), match="^fingerprints: row 0: ") as found:
            sstore.build(folder / "a", wrong, ids)
        assert "skip_bad=True skips such rows" not in str(found.value)
    good = bytes(8) if isinstance(wrong[0], bytes) else 7
    for column, row in (([wrong[0], good], 0), ([good, wrong[0]], 1), ([None, wrong[0]], 0)):
        with pytest.raises((sstore.ArgumentError, TypeError), match=f"row {row}: .*; skip_bad=True skips such rows"):
            sstore.build(folder / "a", column)


def test_bad_ids(folder: pathlib.Path) -> None:
    """A row is bad if its fingerprint or its id is; both are left out."""
    fps: list[Any] = [1, 2, None, 4, 5]
    ids: list[Any] = [10, None, None, 13, "x"]
    table = pyarrow.table(
        {"fingerprint": pyarrow.array(fps, "uint64"), "id": pyarrow.array([10, None, None, 13, None])}
    )
    for given in ((fps, ids), (pandas.Series(fps, dtype="UInt64"), ids), (table,)):
        bad = sstore.BadRows()
        sstore.build(folder / "a", *given, skip_bad=bad, force=True)
        assert records_of(folder / "a") == [(10, 1), (13, 4)]
        assert [row for row, _ in bad.rows] == [1, 2, 4] and "id" in bad.rows[0].reason
        with pytest.raises((TypeError, ValueError), match="ids?: row 1: null; skip_bad=True"):
            sstore.build(folder / "b", *given)
    removed: Any = [13, None]
    assert sstore.remove(folder / "a", ids=removed, skip_bad=sstore.BadRows()).removed_count == 1
    with pytest.raises((TypeError, ValueError), match="ids: row 1: null"):
        sstore.remove(folder / "a", ids=removed)


def test_texts_that_are_fingerprints() -> None:
    texts = [f"{fingerprint:016x}" for fingerprint in (5, 1 << 63, 0xFEDCBA9876543210)]
    for given in (texts, [None, *texts, ""], [9570149208162304715, -9070149208162304715]):
        with pytest.warns(sstore.DoubtWarning, match="texts: these seem to be fingerprints already") as found:
            sstore.simhash([text if text is None else str(text) for text in given], nulls="mask")  # type: ignore
        assert len(found) == 1 and found[0].filename == __file__
    sstore.simhash(["the cat sat", *texts])
    sstore.simhash(["", "12345"])


def test_no_row_can_be_read(folder: pathlib.Path) -> None:
    """Then the input has another form than it should have: it is an error, also if bad rows are skipped."""
    texts: Any = ["the cat sat", None, "a dog ran"]
    short, nulls = pyarrow.chunked_array([[b"a"], [b"abc"]]), pyarrow.array([None, None], pyarrow.uint64())
    sstore.build(folder / "store", GOOD)
    store, seen = sstore.open(folder / "store"), sstore.Deduplicator(folder / "seen", 0)
    whole: list[Callable[[Any, sstore.BadRows], object]] = [
        lambda column, bad: sstore.build(folder / "a", column, skip_bad=bad),
        lambda column, bad: sstore.add(folder / "store", column, skip_bad=bad),
    ]
    parts: list[Callable[[Any, sstore.BadRows], object]] = [
        lambda column, bad: seen.offer(column, skip_bad=bad),
        lambda column, bad: seen.offer_and_match(column, skip_bad=bad),
        lambda column, bad: sstore.StreamMatcher([1]).feed(column, skip_bad=bad),
        lambda column, bad: store.query_batch(column, skip_bad=bad),
        lambda column, bad: sstore.remove(folder / "store", column, skip_bad=bad),
    ]
    for call in whole + parts:
        for column, rows in ((texts, 3), ([b"a", b"b"], 2), (short, 2)):
            with pytest.raises(sstore.ArgumentError, match=f"fingerprints: row 0: .*; none of {rows} rows can be read"):
                call(column, sstore.BadRows())
    columns: list[Any] = [nulls, [None, None]]
    for column in columns:
        for call in whole:
            with pytest.raises(sstore.ArgumentError, match="fingerprints or ids are null; none of 2 rows can be read"):
                call(column, sstore.BadRows())
        assert not seen.offer(column, skip_bad=sstore.BadRows()).any()
        with sstore.Builder(folder / "b", force=True, skip_bad=sstore.BadRows()) as builder:
            builder.add(column)
            builder.add(GOOD)
        assert len(records_of(folder / "b")) == 4
    assert len(store.reopen()) == 4 and not (folder / "a").exists()
    assert sstore.build(folder / "empty", [], skip_bad=True).record_count == 0
    seen.close()


def test_max_bad(folder: pathlib.Path, rng: np.random.Generator) -> None:
    fps: list[Any] = clustered(rng, 5000).tolist()
    rows = sorted(rng.choice(5000, 60, replace=False).tolist())
    for row in rows:
        fps[row] = None
    bad = sstore.BadRows(max_bad=60, keep=7)
    sstore.build(folder / "a", fps, skip_bad=bad)
    assert bad.count == 60 and [row for row, _ in bad.rows] == rows[:7]
    assert records_of(folder / "a") == [(i, f) for i, f in enumerate(fps) if f is not None]
    ids = np.array([i for i, f in enumerate(fps) if f is not None], np.uint64)
    kept = np.array([f for f in fps if f is not None], np.uint64)
    with sstore.open(folder / "a") as store:
        query = int(kept[3]) ^ 1
        found = store.query(query)
        given = sorted(zip(found.distance.tolist(), found.fingerprint.tolist(), found.id.tolist()))
        assert given == brute_query(kept, ids, np.uint64(query), 3)
    for most, limit in ((59, "59 rows"), (1, "1 row")):
        message = f"row {rows[most]}: null; more than the {limit} that max_bad allows cannot be read"
        with pytest.raises(TypeError, match=message):
            sstore.build(folder / "b", fps, skip_bad=sstore.BadRows(max_bad=most))
    assert not (folder / "b").exists()
    with pytest.raises(TypeError, match="skip_bad: expected bool or BadRows, found str"):
        sstore.build(folder / "b", fps, skip_bad="yes")  # type: ignore[arg-type]
    assert "60; the first: row" in repr(bad)


@pytest.mark.parametrize("bits", [64, 128])
def test_null_texts(folder: pathlib.Path, bits: int) -> None:
    texts: list[Any] = ["a b", "c d", None, "e f"]
    made = sstore.simhash(["a b", "c d", "e f"], bits=bits)
    forms: dict[str, Any] = {
        "list": texts,
        "NaN": [float("nan") if text is None else text for text in texts],
        "iterator": (iter(texts), iter(texts), iter(texts)),
        "pandas": pandas.Series(texts),
        "pandas, objects": pandas.Series(texts, dtype=object),
        "pandas, string": pandas.Series(texts, dtype="string"),
        "polars": polars.Series(texts),
        "pyarrow": pyarrow.array(texts),
        "chunks": pyarrow.chunked_array([texts[:1], texts[1:]]),
        "dictionary": pyarrow.array(texts).dictionary_encode(),
        "sliced": pyarrow.array([None, *texts])[1:],
    }
    for name, form in forms.items():
        uses = form if name == "iterator" else (form, form, form)
        with pytest.raises(sstore.ArgumentError, match='row 2: null; nulls="mask" .*skip_bad=True.*; or drop nulls$'):
            sstore.simhash(uses[0], bits=bits)
        found: Any = sstore.simhash(uses[1], bits=bits, nulls="mask")
        mask = masks.getmaskarray(found).reshape(4, -1)
        assert mask[:, 0].tolist() == mask[:, -1].tolist() == [False, False, True, False], name
        assert np.array_equal(np.asarray(found)[[0, 1, 3]], made) and not np.asarray(found)[2].any()
        bad = sstore.BadRows()
        sstore.build(folder / "a", found, bits=bits, skip_bad=bad, force=True)
        assert bad.rows == [(2, "null")] and [i for i, _ in records_of(folder / "a")] == [0, 1, 3]
    with pytest.raises(sstore.ArgumentError, match="nulls: expected error or mask"):
        sstore.simhash(["a"], nulls="skip")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="row 1: expected str or bytes, found int"):
        sstore.simhash(["a", 5])  # type: ignore[arg-type]
    assert sstore.simhash([], nulls="mask").shape == (0,)
