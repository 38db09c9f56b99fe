"""Find near-duplicates among a few texts."""

import pathlib
import tempfile

import sstore

texts = [
    "the old house by the river is for sale, call us now and visit it today.",
    "a quick brown fox jumps over the lazy dog while the sun sets slowly.",
    "the old house by the river is for sale, call us now and visit it today!",
    "simple recipes for a quick dinner with tomatoes, basil and fresh bread.",
]

with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder, "texts.store")
    sstore.build(path, sstore.simhash(texts, features="chars"), distance=8)
    with sstore.open(path) as store:
        pairs = store.pairs()
        for one, other in zip(pairs.id, pairs.other_id):
            print(texts[one], texts[other], sep="\n")
