"""Stores of `sstore build --pad`: zeros fill up fingerprints whose bits are no multiple of 64."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

import sstore

pyarrow = pytest.importorskip("pyarrow")
polars = pytest.importorskip("polars")


class Data:
    """Fingerprints of some bits, in all forms."""

    def __init__(self, rng: np.random.Generator, bits: int, count: int) -> None:
        self.bits, self.words = bits, -(-bits // 64)
        self.rest, self.size = 64 * self.words - bits, (bits + 7) // 8
        own = [int.from_bytes(rng.bytes(200), "big") % (1 << bits) for _ in range(count)]
        self.ints = [number << self.rest for number in own]
        self.full = [number.to_bytes(8 * self.words, "big") for number in self.ints]
        self.own = [row[: self.size] for row in self.full]

    def words_of(self, numbers: list[int]) -> np.ndarray[Any, np.dtype[np.uint64]]:
        joined = b"".join(number.to_bytes(8 * self.words, "big") for number in numbers)
        array = np.frombuffer(joined, ">u8").astype(np.uint64)
        return array if self.words == 1 else array.reshape(-1, self.words)

    def forms(self, ints: list[int]) -> dict[str, Any]:
        """The same fingerprints in all forms, if they have zeros behind them or not."""
        full = [number.to_bytes(8 * self.words, "big") for number in ints]
        return {
            "ints": ints,
            "bytes": full,
            "words": self.words_of(ints),
            "array of bytes": np.frombuffer(b"".join(full), np.uint8).reshape(-1, 8 * self.words),
            "arrow": pyarrow.array(full),
            "arrow, fixed": pyarrow.array(full, pyarrow.binary(8 * self.words)),
            "polars": polars.Series(full, dtype=polars.Binary),
        }

    def own_forms(self) -> dict[str, Any]:
        """Without the zeros."""
        array = np.frombuffer(b"".join(self.own), np.uint8).reshape(-1, self.size)
        bits = np.unpackbits(array, axis=1)[:, : self.bits]
        return {
            "own bytes": self.own,
            "array of own bytes": array,
            "signed": array.view(np.int8),
            "bits": bits,
            "bool": bits.astype(bool),
            "list of bits": bits.tolist(),
            "own arrow": pyarrow.array(self.own),
            "own arrow, fixed": pyarrow.array(self.own, pyarrow.binary(self.size)),
            "own polars": polars.Series(self.own, dtype=polars.Binary),
        }


@pytest.mark.parametrize("bits", [36, 168, 166, 1000])
def test_padded(folder: pathlib.Path, rng: np.random.Generator, bits: int) -> None:
    data = Data(rng, bits, 40)
    recipe = f"{bits} bits, padded; mine"
    for name, form in {**data.forms(data.ints), **data.own_forms()}.items():
        sstore.build(folder / "a", form, bits=64 * data.words, recipe=recipe, force=True)
        with sstore.open(folder / "a") as store:
            assert sstore._arrays.as_ints(store.records().fingerprint) == sorted(data.ints), name
            assert store.words == data.words and type(store.words) is int
            assert store.query_batch(form, 0).query_index.tolist() == list(range(40)), name
            if not name.endswith(("arrow", "fixed", "polars")):
                for row in range(0, 40, 7):
                    item = form[row] if name != "list of bits" else np.array(form[row])
                    assert store.query(item, 0).id.tolist() == [row], name
                    assert store.count(item, 0) == 1 and len(store.nearest(item)) == 1
        assert sstore.remove(folder / "a", form[:20]).removed_count == 20, name
        assert sstore.add(folder / "a", form[:20], np.arange(20)).added_count == 20, name
        with sstore.Deduplicator(folder / "a", 0) as seen:
            assert not seen.offer(form).any(), name


@pytest.mark.parametrize("bits", [36, 168, 166, 1000])
def test_bits_behind(folder: pathlib.Path, rng: np.random.Generator, bits: int) -> None:
    """A fingerprint has no bits behind its own, or the command could not read the store's dump."""
    data = Data(rng, bits, 40)
    recipe = f"{bits} bits, padded"
    width = 64 * data.words
    sstore.build(folder / "a", data.ints, bits=width, recipe=recipe)
    wrong = list(data.ints)
    unused = 64 * data.words - (bits if bits % 4 == 0 else 8 * data.size)
    wrong[7] |= 1 << int(rng.integers(0, unused))
    store, seen = sstore.open(folder / "a"), sstore.Deduplicator(folder / "b", 0, bits=width, recipe=recipe)
    for name, form in data.forms(wrong).items():
        for call in (
            lambda: sstore.build(folder / "c", form, bits=width, recipe=recipe, force=True),
            lambda: sstore.add(folder / "a", form),
            lambda: sstore.remove(folder / "a", form),
            lambda: store.query_batch(form),
            lambda: seen.offer(form),
        ):
            with pytest.raises(sstore.ArgumentError, match=f"row 7: expected zeros behind the {bits} bits"):
                call()
        bad = sstore.BadRows()
        sstore.build(folder / "c", form, bits=width, recipe=recipe, skip_bad=bad, force=True)
        with sstore.open(folder / "c") as made:
            assert made.records().id.tolist() == [i for _, i in sorted(zip(data.ints, range(40))) if i != 7], name
        assert [row for row, _ in bad.rows] == [7], name
        if isinstance(form, (list, np.ndarray)):
            for query in (store.query, store.nearest, store.count, store.explain):
                with pytest.raises(sstore.ArgumentError, match="expected zeros behind"):
                    query(form[7])
    for size in (data.size - 1, data.size + 1):
        if size == 8 * data.words:
            continue
        with pytest.raises(sstore.ArgumentError):
            sstore.add(folder / "a", [bytes(size)])
        with pytest.raises((sstore.ArgumentError, TypeError)):
            store.query(bytes(size))
    seen.close()
    assert len(store.reopen()) == 40


def test_other_recipes(folder: pathlib.Path, rng: np.random.Generator) -> None:
    """Only such a recipe says it, and only of fingerprints of as many words."""
    for bits, recipe in (
        (192, "100 bits, padded"),
        (64, "64 bits, padded"),
        (192, "168 bits, padded too"),
        (64, "0 bits, padded"),
    ):
        fingerprints = [rng.bytes(bits // 8) for _ in range(20)]
        sstore.build(folder / "a", fingerprints, bits=bits, recipe=recipe, force=True)
        with sstore.open(folder / "a") as store:
            assert store.query_batch(fingerprints, 0).query_index.tolist() == list(range(20))
