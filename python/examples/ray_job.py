"""Remove near-duplicate documents from a Parquet data set on a Ray cluster.

    python python/examples/ray_job.py INPUT OUTPUT [--text text] [--id id] [--distance 3]

INPUT and OUTPUT are paths that all machines reach; OUTPUT must not exist. The column --id has a different integer for
each document; of near documents, the one with the smallest is kept. Documents without words are kept. Workers need this
package.
"""

import argparse
import os

import pyarrow as pa
import pyarrow.fs
import ray

import sstore.ray


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input")
    parser.add_argument("output")
    parser.add_argument("--text", default="text")
    parser.add_argument("--id", default="id")
    parser.add_argument("--distance", type=int, default=3)
    given = parser.parse_args()

    def count_nulls(batch: pa.Table) -> pa.Table:
        return pa.table({"nulls": [batch.column(given.id).null_count]})

    path = given.output if "://" in given.output else os.path.abspath(given.output)
    files, path = pa.fs.FileSystem.from_uri(path)
    if files.get_file_info(path).type != pa.fs.FileType.NotFound:
        parser.error(f"OUTPUT {given.output}: it exists; remove it, or name another folder")
    documents = ray.data.read_parquet(given.input)
    schema = documents.schema()
    kind = str(dict(zip(schema.names, schema.types)).get(given.id, "no such column"))
    if kind not in ("int64", "uint64"):
        parser.error(f"--id {given.id}: expected a column of int64 or uint64, found {kind}")
    if documents.map_batches(count_nulls, batch_format="pyarrow").sum("nulls"):
        parser.error(f"--id {given.id}: a document has none")
    documents = sstore.ray.fingerprint(documents, given.text)
    if given.id != "id":
        documents = documents.rename_columns({given.id: "id"})
    documents = documents.materialize()
    kept = sstore.ray.deduplicate(documents, given.distance).drop_columns(["fingerprint"]).materialize()
    if given.id != "id":
        kept = kept.rename_columns({"id": given.id})
    kept.write_parquet(given.output, mode=ray.data.SaveMode.ERROR)
    print(f"{documents.count()} documents, {kept.count()} kept")


if __name__ == "__main__":
    main()
