"""Remove near-duplicates from a data set of texts: text_data_set.py INPUT OUTPUT [--column text] [--distance 3]

INPUT and OUTPUT are both .jsonl or both .parquet files. Of each group of near-duplicates, the first text is kept; rows
that are kept are copied as they are. Texts without words are kept. The data set may be larger than memory: a byte for
each row is held. Parquet needs pyarrow.
"""

import argparse
import itertools
import json
import pathlib
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np

import sstore

BATCH = 10_000


class JsonLines:
    """Reads and copies lines."""

    def __init__(self, source: pathlib.Path, target: pathlib.Path, column: str) -> None:
        self.source, self.target, self.column = source, target, column

    def batches(self) -> Iterator[list[str]]:
        with open(self.source, encoding="utf-8", newline="\n") as lines:
            while batch := list(itertools.islice(lines, BATCH)):
                yield batch

    def texts(self) -> Iterator[list[str]]:
        for batch in self.batches():
            yield [json.loads(line).get(self.column) or "" for line in batch]

    def copy(self, kept: Any) -> None:
        with open(self.target, "w", encoding="utf-8", newline="\n") as target:
            row = 0
            for batch in self.batches():
                target.writelines(line for i, line in enumerate(batch) if kept[row + i])
                row += len(batch)


class Parquet:
    """Reads and copies rows."""

    def __init__(self, source: pathlib.Path, target: pathlib.Path, column: str) -> None:
        import pyarrow.parquet as parquet

        self.parquet, self.file, self.target, self.column = parquet, parquet.ParquetFile(source), target, column

    def texts(self) -> Iterator[list[str]]:
        for batch in self.file.iter_batches(BATCH, columns=[self.column]):
            yield [text or "" for text in batch[self.column].to_pylist()]

    def copy(self, kept: Any) -> None:
        with self.parquet.ParquetWriter(self.target, self.file.schema_arrow) as writer:
            row = 0
            for batch in self.file.iter_batches(BATCH):
                writer.write_batch(batch.filter(kept[row : row + len(batch)].tolist()))
                row += len(batch)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("input", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--column", default="text")
    parser.add_argument("--distance", type=int, default=3)
    given = parser.parse_args()
    formats: dict[str, Any] = {".jsonl": JsonLines, ".parquet": Parquet}
    if given.input.suffix not in formats or given.output.suffix != given.input.suffix:
        parser.error("INPUT and OUTPUT must both end with .jsonl, or both with .parquet")
    data = formats[given.input.suffix](given.input, given.output, given.column)
    with tempfile.TemporaryDirectory(dir=given.output.resolve().parent) as folder:
        path, count = pathlib.Path(folder, "texts.store"), 0
        with sstore.Builder(path, distance=given.distance, recipe=sstore.text_recipe()) as builder:
            for texts in data.texts():
                fingerprints = sstore.simhash(texts)
                rows = np.arange(count, count + len(texts), dtype=np.uint64)
                has_words = fingerprints != 0
                builder.add(fingerprints[has_words], rows[has_words])
                count += len(texts)
        kept = np.ones(count, bool)
        with sstore.open(path) as store:
            for table in store.iter_clusters():
                kept[table.duplicates.id] = False
    data.copy(kept)
    print(f"{count} texts, {int((~kept).sum())} near-duplicates removed")


if __name__ == "__main__":
    main()
