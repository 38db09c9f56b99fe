"""Remove near-duplicates from a data set of texts.

    text_data_set.py INPUT OUTPUT [--column text] [--distance 3] [--features words] [--force]

INPUT and OUTPUT are both .jsonl or both .parquet files. --column names the texts. An OUTPUT that exists is refused,
except with --force, which replaces it; it may also be INPUT. Of each group of near-duplicates, the first text is kept;
rows that are kept are copied as they are. Texts without words are kept. The data set may be larger than memory: a byte
for each row is held. Parquet needs pyarrow.

The defaults suit texts of 200 words or more. For prose of 25 to 200 words, --distance 4 finds more. A larger distance
may chain unlike texts into one group, so look at what is dropped. docs/settings.md has other kinds of text.
"""

import argparse
import itertools
import json
import os
import pathlib
import sys
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
        row = 0
        for batch in self.batches():
            yield [self.text(line, row + i) for i, line in enumerate(batch)]
            row += len(batch)

    def text(self, line: str, row: int) -> str:
        """The text of a line; null is an empty one."""
        try:
            found = json.loads(line)[self.column]
        except (ValueError, KeyError, TypeError):
            sys.exit(
                f"{self.source}:{row + 1}: expected an object with {self.column!r}, or another key that --column "
                f"names, found {line[:60]!r}"
            )
        if not isinstance(found, (str, type(None))):
            sys.exit(f"{self.source}:{row + 1}: expected a text as {self.column!r} (--column), found {found!r}")
        return found or ""

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
        kinds = {field.name: str(field.type) for field in self.file.schema_arrow}
        if not kinds.get(column, "").startswith(("string", "large_string", "dictionary<values=string", "null")):
            sys.exit(
                f"{source}: expected a column {column!r} of texts, or another that --column names, found "
                + ", ".join(f"{name} ({kind})" for name, kind in kinds.items())
            )

    def texts(self) -> Iterator[list[str]]:
        for batch in self.file.iter_batches(BATCH, columns=[self.column]):
            yield [text or "" for text in batch[self.column].to_pylist()]

    def copy(self, kept: Any) -> None:
        with self.parquet.ParquetWriter(self.target, self.file.schema_arrow) as writer:
            row = 0
            for batch in self.file.iter_batches(BATCH):
                writer.write_batch(batch.filter(kept[row : row + len(batch)].tolist()))
                row += len(batch)


FORMATS: dict[str, Any] = {".jsonl": JsonLines, ".parquet": Parquet}


def deduplicate(given: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(dir=given.output.resolve().parent) as folder:
        made = pathlib.Path(folder, given.output.name)
        data = FORMATS[given.input.suffix](given.input, made, given.column)
        path, count = pathlib.Path(folder, "texts.store"), 0
        with sstore.Builder(path, distance=given.distance, recipe=sstore.text_recipe(given.features)) as builder:
            for texts in data.texts():
                fingerprints = sstore.simhash(texts, given.features)
                rows = np.arange(count, count + len(texts), dtype=np.uint64)
                has_words = fingerprints != 0
                builder.add(fingerprints[has_words], rows[has_words])
                count += len(texts)
        kept = np.ones(count, bool)
        with sstore.open(path) as store:
            for batch in store.iter_clusters():
                kept[batch.duplicates.id] = False
        data.copy(kept)
        os.replace(made, given.output)
    print(f"{count} texts, {int((~kept).sum())} near-duplicates removed")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--column", default="text", help="the name of the column, or the key, of the texts")
    parser.add_argument("--distance", type=int, default=3, help="in bits, up to 16")
    parser.add_argument("--features", choices=["words", "chars"], default="words")
    parser.add_argument("--force", action="store_true", help="replace an OUTPUT that exists")
    given = parser.parse_args()
    if given.input.suffix not in FORMATS or given.output.suffix != given.input.suffix:
        parser.error("INPUT and OUTPUT must both end with .jsonl, or both with .parquet")
    if given.output.exists() and not given.force:
        parser.error(f"{given.output}: exists already; --force replaces it")
    try:
        deduplicate(given)
    except (sstore.Error, OSError, ValueError, ImportError) as error:
        sys.exit(f"{parser.prog}: {error}")


if __name__ == "__main__":
    main()
