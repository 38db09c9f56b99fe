"""Remove near-duplicate documents from a Parquet data set on a Spark cluster.

    spark-submit python/examples/spark_job.py INPUT OUTPUT [--text text] [--id id] [--distance 3]

INPUT and OUTPUT are paths that all machines reach; OUTPUT must not exist. The column --id has a different integer for
each document; of near documents, the one with the smallest is kept. Documents without words are kept. Workers need this
package. Documents without numbers get them by monotonically_increasing_id(), written out once before they are read.

For a try on one machine: spark-submit --master "local[*]" --conf spark.sql.shuffle.partitions=4 ...
"""

import argparse

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import sstore.spark


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input")
    parser.add_argument("output")
    parser.add_argument("--text", default="text")
    parser.add_argument("--id", default="id")
    parser.add_argument("--distance", type=int, default=3)
    given = parser.parse_args()
    spark = SparkSession.builder.appName("near-duplicates").getOrCreate()
    output = spark._jvm.org.apache.hadoop.fs.Path(given.output)
    if output.getFileSystem(spark._jsc.hadoopConfiguration()).exists(output):
        parser.error(f"OUTPUT {given.output}: it exists; remove it, or name another folder")
    documents = spark.read.parquet(given.input)
    kind = dict(documents.dtypes).get(given.id)
    if kind not in ("bigint", "int", "smallint", "tinyint"):
        parser.error(f"--id {given.id}: expected a column of integers, found {kind or 'no such column'}")
    texts = documents.select(F.col(given.id).cast("long").alias("id"), F.col(given.text).alias("text"))
    if documents.where(F.col(given.id).isNull()).limit(1).count() > 0:
        parser.error(f"--id {given.id}: a document has none; monotonically_increasing_id() numbers them")
    records = sstore.spark.fingerprint(texts).drop("text").persist()
    kept = sstore.spark.deduplicate(records, given.distance).select(F.col("id").alias(given.id))
    documents.join(kept, given.id, "left_semi").write.parquet(given.output)
    print(f"{records.count()} documents, {spark.read.parquet(given.output).count()} kept")


if __name__ == "__main__":
    main()
