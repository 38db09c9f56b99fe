"""Remove near-duplicates from a data set of texts: text_data_set.py INPUT OUTPUT [--column text] [--distance 3]

INPUT and OUTPUT are .jsonl or .parquet files. Of each group of near-duplicates, the first text is kept. The texts are read in
batches, so the data set may be larger than memory; a byte for each row is held. Needs pyarrow.
"""

import argparse
import pathlib
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

import sstore


def read(path: pathlib.Path) -> Iterator[pa.RecordBatch]:
    yield from ds.dataset(path, format="json" if path.suffix == ".jsonl" else "parquet").to_batches()


class Writer:
    """Writes batches to a file of either format."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.file: Any = None

    def write(self, batch: pa.RecordBatch) -> None:
        if self.path.suffix == ".parquet":
            self.file = self.file or pq.ParquetWriter(self.path, batch.schema)
            self.file.write_batch(batch)
            return
        self.file = self.file or open(self.path, "w", encoding="utf-8")
        self.file.write(batch.to_pandas().to_json(orient="records", lines=True, force_ascii=False))

    def close(self) -> None:
        if self.file is not None:
            self.file.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("input", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--column", default="text")
    parser.add_argument("--distance", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.output.resolve().parent) as folder:
        path = pathlib.Path(folder, "texts.store")
        with sstore.Builder(path, distance=given.distance) as builder:
            for batch in read(given.input):
                builder.add(sstore.simhash(batch[given.column]))  # the ids are the row numbers
        with sstore.open(path) as store:
            count = len(store)
            dropped = np.zeros(count, bool)
            for table in store.iter_clusters():
                dropped[table.duplicates.id] = True
    writer, row = Writer(given.output), 0
    for batch in read(given.input):
        kept = ~dropped[row : row + len(batch)]
        writer.write(batch.filter(pa.array(kept)))
        row += len(batch)
    writer.close()
    print(f"{count} texts, {int(dropped.sum())} near-duplicates removed")


if __name__ == "__main__":
    main()
