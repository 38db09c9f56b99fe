"""Which of similar texts to keep: MinHashes find them, and their features decide, against a model that compares all."""

from __future__ import annotations

import collections
import pathlib
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import sstore

pa = pytest.importorskip("pyarrow")

Features = collections.Counter[tuple[str, ...]]
SURE = 0.999999  # the recall: no pair is missed by chance


def documents(rng: np.random.Generator, count: int) -> list[list[str]]:
    """Lists of words, some near others, some equal to others."""
    vocabulary = [f"w{i}" for i in range(int(rng.choice([5, 40, 400])))]
    made: list[list[str]] = []
    for _ in range(count):
        words = rng.choice(vocabulary, int(rng.integers(4, 60))).tolist()
        if made and rng.random() < 0.7:
            words = list(made[int(rng.integers(len(made)))])
            for _ in range(int(rng.choice([0, 0, 1, 2, 5, 10]))):
                words[int(rng.integers(len(words)))] = str(rng.choice(vocabulary))
        made.append(words)
    return made


def features_of(words: list[str], shingle: int, is_multiset: bool) -> Features:
    found = collections.Counter(tuple(words[i : i + shingle]) for i in range(len(words) - shingle + 1))
    return found if is_multiset else collections.Counter(found.keys())


def similarity_of(a: Features, b: Features) -> float:
    return sum((a & b).values()) / sum((a | b).values())


def model(alike: npt.NDArray[np.float64], rows: list[int], least: float, strict: bool) -> dict[int, set[int]]:
    """For each row, in the order of priority, the rows that may be kept instead of it: itself if it is kept."""
    may_keep: dict[int, set[int]] = {}
    kept: list[int] = []
    for row in rows:
        if strict:
            best = max((alike[row, other] for other in kept), default=0.0)
            is_kept = best < least
            may_keep[row] = {row} if is_kept else {other for other in kept if alike[row, other] == best}
            kept += [row] if is_kept else []
            continue
        waiting = [] if row in may_keep else [row]
        while waiting:
            at = waiting.pop()
            may_keep[at] = {row}
            waiting += [other for other in rows if other not in may_keep and alike[at, other] >= least]
    return may_keep


def forms_of(texts: list[Any]) -> list[dict[str, Any]]:
    """The forms of texts, as arguments."""
    array = pa.array(texts)
    table = pa.table({"body": array})
    return [
        {"items": texts},
        {"items": pa.chunked_array([array[:9], array[9:]])},
        {"items": array.dictionary_encode()},
        {"items": {"body": texts}, "text": "body"},
        {"items": pa.RecordBatchReader.from_batches(table.schema, table.to_batches(7)), "text": "body"},
    ]


@pytest.mark.parametrize("number", range(24))
def test_model(rng: np.random.Generator, number: int) -> None:
    words = documents(rng, int(rng.integers(1, 120)))
    shingle, is_multiset = int(rng.integers(1, 4)), bool(rng.random() < 0.4)
    least, strict = float(rng.choice([0.7, 0.75, 0.8, 0.9])), bool(rng.random() < 0.5)
    sets = [features_of(some, shingle, is_multiset) for some in words]
    alike = np.array([[similarity_of(a, b) for b in sets] for a in sets])
    keep, ranks = ["first", "last", "order"][number % 3], rng.integers(0, 6, len(words))
    rows = list(range(len(words)))
    rows = rows[::-1] if keep == "last" else sorted(rows, key=lambda i: -ranks[i]) if keep == "order" else rows
    may_keep = model(alike, rows, least, strict)
    place = np.cumsum(rng.integers(1, 3, len(words))) - 1  # between them, rows without features
    texts: list[Any] = [[None, "", "..."][i % 3] for i in range(int(place[-1]) + 2)]
    orders = np.zeros(len(texts), np.int64)
    for i, row in enumerate(place.tolist()):
        texts[row], orders[row] = " ".join(words[i]), ranks[i]
    options: dict[str, Any] = {"hash": "minhash", "bits": int(rng.choice([512, 1024])), "shingle": shingle}
    options.update(similarity=least, recall=SURE, strict=strict, memory="8M" if number % 4 == 0 else None)
    options.update(weights="frequency" if is_multiset else None, threads=number % 3, descending=keep == "order")
    kept = sstore.dedup(**forms_of(texts)[number % 5], keep=orders if keep == "order" else keep, **options)
    expected = np.arange(len(texts))
    for i, row in enumerate(place.tolist()):
        choices = {int(place[other]): alike[i, other] for other in may_keep[i]}
        instead = int(kept.kept_row[row])
        assert instead in choices
        assert abs(kept.similarity[row] - choices[instead]) < 1e-6
        expected[row] = instead
    assert kept.kept_row.tolist() == expected.tolist()
    assert kept.is_kept.tolist() == (expected == np.arange(len(texts))).tolist()
    assert kept.similarity.dtype == np.float64 and (kept.similarity[kept.is_kept] == 1).all()
    assert list(kept.dropped) == ["row", "kept_row", "similarity"]
    assert kept.dropped.similarity.tolist() == kept.similarity[~kept.is_kept].tolist()
    for wrong in (kept, kept.dropped):
        with pytest.raises(KeyError, match="distance"):
            wrong.distance


def test_a_store(folder: pathlib.Path, rng: np.random.Generator) -> None:
    """Of records the MinHashes decide, at the distance for the similarity, whatever that of the store is."""
    texts = [" ".join(words) for words in documents(rng, 200)]
    old, new = texts[:50], [*texts[50:], ""]
    options: dict[str, Any] = {"hash": "minhash", "bits": 512, "features": "chars"}
    recipe = sstore.text_recipe(**options)
    fps = sstore.minhash(new, "chars", bits=512)
    sstore.build(folder / "seen", sstore.minhash(old, "chars", bits=512), bits=512, distance=3, recipe=recipe)
    kept = sstore.dedup(new, similarity=0.7, against=folder / "seen", **options)
    near = sstore.open(folder / "seen").query_batch(fps[:-1], sstore.minhash_distance(0.7, 512), limit=1)
    rows = near.query_index.tolist()
    assert kept.stored_id is not None and np.flatnonzero(kept.kept_row == -1).tolist() == rows
    assert kept.stored_id[rows].tolist() == near.id.tolist()
    assert kept.similarity[rows].tolist() == sstore.minhash_similarity(near.distance, 512).tolist()
    others = [row for row in range(len(new)) if row not in rows]
    apart = sstore.dedup([new[row] for row in others], similarity=0.7, **options)
    assert kept.kept_row[others].tolist() == np.array(others)[apart.kept_row].tolist()
    made = sstore.dedup(new, similarity=0.7, update=folder / "new", **options)
    assert made.change is not None and made.change.added_count == made.is_kept.sum() - 1
    assert sstore.open(folder / "new", recipe=recipe).distance == sstore.minhash_distance(0.7, 512)
    with pytest.raises(sstore.RecipeError):
        sstore.dedup(new, similarity=0.7, against=folder / "seen", hash="minhash", bits=512)


def same(one: sstore.Kept, other: sstore.Kept) -> None:
    assert list(one.dropped) == list(other.dropped)
    assert all(np.array_equal(column, other.dropped[name]) for name, column in one.dropped.columns.items())
    assert len(one.dropped) > 0


def test_defaults(folder: pathlib.Path, rng: np.random.Generator) -> None:
    """Similarity decides; with a distance, or weights that only simhashes have, distance; with a store, its recipe."""
    texts = [" ".join(words) for words in documents(rng, 200)]
    stops, weights = sstore.Lexicon(stop_words=["w1"]), sstore.Lexicon(feature_weights={"w1": 2.0})
    for options, meant in (
        ({}, {"hash": "minhash", "bits": 256, "shingle": 2, "similarity": 0.8, "recall": 0.99}),
        ({"similarity": 0.7}, {"hash": "minhash", "similarity": 0.7}),
        ({"recall": 0.9}, {"hash": "minhash", "similarity": 0.8, "recall": 0.9}),
        ({"hash": "minhash", "bits": 128}, {"hash": "minhash", "bits": 128, "similarity": 0.8}),
        ({"features": "chars"}, {"features": "chars", "hash": "minhash", "similarity": 0.8}),
        ({"shingle": 1, "lexicon": stops}, {"shingle": 1, "lexicon": stops, "hash": "minhash", "similarity": 0.8}),
        ({"distance": 5}, {"hash": "xxh3", "distance": 5}),
        ({"weights": "sublinear"}, {"hash": "xxh3", "distance": 3}),
        ({"lexicon": weights}, {"lexicon": weights, "hash": "xxh3", "distance": 3}),
    ):
        same(sstore.dedup(texts, **options), sstore.dedup(texts, **meant))  # type: ignore[arg-type]
    of_store: Any
    for number, of_store in enumerate(({"hash": "minhash", "features": "chars"}, {"features": "chars"})):
        path = folder / str(number)
        fps = (sstore.simhash if number else sstore.minhash)(texts[:20], "chars")
        sstore.build(path, fps, recipe=sstore.text_recipe(**of_store), bits=64 if number else 256)
        same(sstore.dedup(texts, against=path), sstore.dedup(texts, against=path, **of_store))
    chars: dict[str, Any] = {"against": folder / "0"}
    same(sstore.dedup(texts, bits=256, **chars), sstore.dedup(texts, **chars))
    same(sstore.dedup(texts, distance=60, bits=256, **chars), sstore.dedup(texts, distance=60, **chars))
    with pytest.raises(sstore.RecipeError, match="features=words"):
        sstore.dedup(texts, features="words", **chars)
    given: Any = ({"lexicon": stops, "shingle": 1}, {"features": "chars", "bits": 512}, {"hash": "java128"})
    for number, of_store in enumerate(given):
        for count in (1, 0):  # the second run is as the first one
            assert sstore.dedup(texts[:1], update=folder / f"new{number}", **of_store).is_kept.sum() == count
    sstore.build(folder / "unsaid", sstore.simhash(texts[:20]), distance=6)
    same(sstore.dedup(texts, against=folder / "unsaid"), sstore.dedup(texts, against=folder / "unsaid", distance=6))


def test_recall(rng: np.random.Generator) -> None:
    """MinHashes find what their distance finds, and of these the features confirm some."""
    texts = [" ".join(words) for words in documents(rng, 300)]
    distance = sstore.minhash_distance(0.6, 256, recall=0.9)
    options: dict[str, Any] = {"hash": "minhash", "similarity": 0.6, "recall": 0.9}
    strict = sstore.dedup(texts, strict=True, **options)
    fps = sstore.minhash(texts)
    apart = np.unpackbits((fps ^ fps[strict.kept_row]).view(np.uint8), axis=1).sum(axis=1)
    assert apart.max() <= distance and (strict.similarity >= 0.6).all()
    groups, found = sstore.dedup(texts, **options), sstore.dedup(texts, hash="minhash", distance=distance)
    assert (found.kept_row == found.kept_row[groups.kept_row]).all()  # a group is part of one that the distance makes


@pytest.mark.parametrize(
    ("items", "options", "message"),
    [
        (["a"], {"similarity": 0.8, "hash": "xxh3"}, 'similarity: expected hash="minhash"'),
        (["a"], {"similarity": 0.8, "weights": "sublinear"}, 'similarity: expected hash="minhash"'),
        (["a"], {"similarity": 0.8, "hash": "minhash", "distance": 3}, "cannot be combined with distance"),
        (["a"], {"recall": 0.8, "distance": 3}, "recall: only with similarity="),
        (["a"], {"recall": 0.8, "hash": "xxh3"}, "recall: only with similarity="),
        ([1], {"recall": 0.8}, "recall: only with similarity="),
        ([1], {"similarity": 0.8}, "similarity: it compares texts, and these are fingerprints"),
        (["a"], {"similarity": 0, "hash": "minhash"}, "similarity: expected a number above 0, up to 1, found 0"),
        (["a"], {"similarity": 1.5, "hash": "minhash"}, "found 1.5"),
        (["a"], {"similarity": 0.8, "recall": 1, "hash": "minhash"}, "a recall between 0 and 1"),
        (["a"], {"similarity": 0.3, "hash": "minhash"}, "a distance of .* bits, and of 256 bits it can be at most 64"),
        (["a"], {"similarity": 0.8, "hash": "minhash", "tmp_dir": "nowhere"}, "nowhere: there is no such folder"),
    ],
)
def test_arguments(items: Any, options: Any, message: str) -> None:
    with pytest.raises(sstore.Error, match=message):
        sstore.dedup(items, **options)


def test_interrupted(folder: pathlib.Path, rng: np.random.Generator) -> None:
    """Nothing is left behind."""
    texts = [" ".join(words) for words in documents(rng, 3000)]

    def stop(_: sstore.Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sstore.dedup(texts, hash="minhash", similarity=0.8, tmp_dir=folder, progress=stop)
    assert [*folder.iterdir()] == []
