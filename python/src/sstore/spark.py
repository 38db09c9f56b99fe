"""sstore on a Spark cluster: shards, queries of all shards, near pairs and clusters of DataFrames.

    import sstore.spark

    pairs = sstore.spark.near_pairs(df, distance=3)  # df has the columns fingerprint and id
    kept = sstore.spark.deduplicate(df, distance=3)
    made = sstore.spark.fingerprint(documents, "body", hash="minhash")  # for similarity=, in the place of distance=

Fingerprints and ids are longs, as Spark has no unsigned ones: their 64 bits are taken. Integers of fewer bits are
fingerprints without a sign. Fingerprints of more than 64 bits are binary, the most significant byte first, and all of
one length. Ids may also be texts, strings or binary, such as URLs: joins compare their 64-bit hashes, and two texts of
one hash are an error. (Among a billion, its probability is 3 %.) Results have fingerprints and ids in the same form.

Rows without a fingerprint are left out. A null id, or a fingerprint of another length than most, is an error at the
call, before its work; with skip_bad such rows are left out, and reported: see sstore.BadRows, whose rows have no
numbers here. Workers need this package. Spark schedules, moves and repeats the tasks; each runs the library on its
rows, on one processor.

A function reads its input several times, and must get the same rows each time: persist what is computed at random.
build_shards() works at the call. near_pairs() reads all fingerprints once at the call, clusters() and deduplicate()
compute the pairs, and the rest comes when the result is read, and each time that it is read: persist pairs that are
both kept and connected. An error in a task is a PythonException; its text has the name of the sstore error, and the
file. The session is a classic one, not Spark Connect. Python's memory is outside the executor's heap.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Optional

import numpy as np
import pyarrow as pa

from sstore import _tasks
from sstore._arrays import MAX_WORDS, Words
from sstore._call import count_of, flag_of, number_of
from sstore._doubt import SkipBad, bad_rows_of
from sstore._errors import ArgumentError
from sstore._join import components, shard_numbers
from sstore._lexicon import Features, Segment
from sstore._native import lib
from sstore._rows import words
from sstore._shards import ShardBuild, ShardManifest, SharedFolder, query_shard
from sstore._similar import Nearness
from sstore._store import build_distance
from sstore._text import Hash, Markup, Weights

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_RECORD = "fingerprint long, id long"
_MATCH = "query long, fingerprint long, id long, distance int"
_DROPPED, _TEXT = "__sstore_dropped", "__sstore_text"  # columns
_PAIR = "fingerprint long, id long, other_fingerprint long, other_id long, distance int"


# ----- rows -----


def _column(batch: pa.RecordBatch, name: str) -> Words:
    column = batch.column(batch.schema.get_field_index(name))
    return words(column, name, None if name == "fingerprint" else 1)


def _gather(batches: Iterable[pa.RecordBatch], names: list[str], rows: int = _tasks.ROWS) -> Iterator[dict[str, Any]]:
    """Columns of about as many rows each: arrays of NumPy, and texts as Arrow's."""

    def joined(name: str) -> Any:
        columns = [item.column(item.schema.get_field_index(name)) for item in waiting]
        if _tasks.is_text_type(columns[0].type) and name != "fingerprint":
            return pa.chunked_array(columns).cast(pa.large_binary()).combine_chunks()
        return np.concatenate([_column(item, name) for item in waiting])

    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(map(len, waiting)) >= rows:
            yield {name: joined(name) for name in names}
            waiting = []
    if sum(map(len, waiting)) > 0:
        yield {name: joined(name) for name in names}


def _batch(columns: dict[str, Any]) -> pa.RecordBatch:
    """A batch as Spark takes it: longs for words, and integers for distances."""
    arrays = {}
    for name, column in columns.items():
        if isinstance(column, np.ndarray) and column.ndim > 1:
            column = _tasks.arrow_bytes(column)
        elif isinstance(column, np.ndarray) and column.dtype == np.uint64:
            column = column.view(np.int64)
        elif isinstance(column, np.ndarray) and column.dtype != np.int64:
            column = column.astype(np.int32)
        arrays[name] = column if isinstance(column, pa.Array) else pa.array(column)
    return pa.RecordBatch.from_pydict(arrays)


def _check_columns(df: DataFrame, what: str, *names: str) -> None:
    from pyspark.sql import DataFrame

    if not isinstance(df, DataFrame):
        raise TypeError(f"{what}: expected a DataFrame of Spark, found {type(df).__name__}")
    for name in names:
        if name not in df.columns:
            raise ArgumentError(f'{what}: expected a column "{name}", found {", ".join(df.columns)}')


_HINTS = {
    "fingerprint": '; F.conv(text, 16, -10).cast("long") makes longs of hexadecimal text of 64 bits, and F.unhex(text) '
    "binary of longer text",
    "id": "; F.monotonically_increasing_id() numbers rows, which are then to be written out once",
}


def _check_longs(df: DataFrame, what: str, *names: str) -> None:
    _check_columns(df, what, *names)
    types = dict(df.dtypes)
    for name in names:
        if types[name] not in ("bigint", "int", "smallint", "tinyint"):
            kinds, hint = f"longs or {'binary' if name == 'fingerprint' else 'texts'}", _HINTS.get(name, "")
            raise TypeError(f"{what}: expected the column {name!r} of {kinds}, found {types[name]}{hint}")


def _records(df: DataFrame, what: str) -> tuple[DataFrame, bool]:
    """The columns fingerprint and id of a DataFrame, checked, where there is a fingerprint; and whether it has ids."""
    from pyspark.sql import functions as F

    _check_columns(df, what, "fingerprint")
    has_ids = "id" in df.columns
    longs = ["id"] if has_ids and not _has_texts(df) else []
    if not _is_binary(df):
        longs.append("fingerprint")
    _check_longs(df, what, *longs)
    names = ["fingerprint", "id"] if has_ids else ["fingerprint"]
    chosen = [F.col(name).cast("long").alias(name) if name in longs else F.col(name) for name in names]
    if (bits := {"int": 32, "smallint": 16, "tinyint": 8}.get(dict(df.dtypes)["fingerprint"])) is not None:
        unsigned = F.col("fingerprint").cast("long").bitwiseAND(F.lit((1 << bits) - 1))
        chosen[0] = unsigned.alias("fingerprint")
    return df.select(*chosen).where("fingerprint is not null"), has_ids


def _is_binary(df: DataFrame) -> bool:
    """Whether fingerprints have several words."""
    return str(dict(df.dtypes)["fingerprint"]) == "binary"


def _has_texts(df: DataFrame, column: str = "id") -> bool:
    """Whether ids are texts."""
    return dict(df.dtypes).get(column) in ("string", "binary")


def _good(records: DataFrame, what: str, skip_bad: SkipBad = False) -> tuple[DataFrame, Optional[int]]:
    """The rows that can be read, and the words of the fingerprints; None if there are none. It reads all lengths of
    binary, and which ids are null."""
    from pyspark.sql import functions as F

    bad, is_binary = bad_rows_of(skip_bad), _is_binary(records)
    has_ids = "id" in records.columns and records.schema["id"].nullable
    length = F.length("fingerprint") if is_binary else F.lit(8)
    is_null = F.col("id").isNull() if has_ids else F.lit(False)
    if is_binary:
        rows = records.groupBy(length.alias("bytes"), is_null.alias("is_null")).count().collect()
    else:
        rows = records.where(is_null).groupBy(length.alias("bytes"), is_null.alias("is_null")).count().collect()
    found = _tasks.Lengths((row["bytes"], row["is_null"], row["count"]) for row in rows)
    common = found.common() if is_binary else 8
    if found.bad_count(common) > 0:
        is_bad = is_null | (length != F.lit(common))
        first = records.where(is_bad).limit(max(bad.keep, 1)).collect()
        examples = [(row["fingerprint"], row["id"] if has_ids else None) for row in first]
        _tasks.report_bad(what, examples, common, found.bad_count(common), has_ids, bad)
        records = records.where(~is_bad)
    bad.tell()
    return records, _tasks.common_words(what, [common]) if is_binary else 1


def _row_type(names: Iterable[str], count: int) -> np.dtype[Any]:
    """The dtype of a row that a shuffle brings."""
    shapes: dict[str, Any] = {"fingerprint": (count,) if count > 1 else ()}
    return np.dtype([(name, np.uint64, shapes.get(name, ())) for name in names])


def _schema_of(schema: str, is_binary: bool, id_type: str = "long") -> str:
    """The schema of results, whose fingerprints are binary if those of the records are."""
    if is_binary:
        schema = schema.replace("query long", "query binary").replace("fingerprint long", "fingerprint binary")
    return schema.replace(" id long", f" id {id_type}")


def _id_type(df: DataFrame) -> str:
    """The type of the ids that results have."""
    return dict(df.dtypes)["id"] if _has_texts(df) else "long"


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _partition_keys(spark: SparkSession, count: int) -> list[int]:
    """For each of `count` partitions, a number that Spark's partitioning by hash sends there."""
    from pyspark.sql import functions as F

    found: dict[int, int] = {}
    begin = 0
    while len(found) < count:
        numbers = spark.range(begin, begin + 20 * count + 100)
        rows = numbers.select("id", F.expr(f"pmod(hash(id), {count})").alias("part")).collect()
        for row in rows:
            found.setdefault(row["part"], row["id"])
        begin += 20 * count + 100
    return [found[part] for part in range(count)]


def _packed(df: DataFrame) -> DataFrame:
    """A DataFrame with a batch of rows in each cell."""

    def pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            stream = pa.BufferOutputStream()
            with pa.ipc.new_stream(stream, batch.schema) as writer:
                writer.write_batch(batch)
            yield pa.RecordBatch.from_pydict({"batch": pa.array([stream.getvalue().to_pybytes()], pa.binary())})

    return df.mapInArrow(pack, "batch binary")


def _collected(df: DataFrame, name: str) -> Words:
    """A column, on the driver. Spark's own ways are slow unless it is configured otherwise."""
    cells = [cell for row in _packed(df).collect() for cell in pa.ipc.open_stream(row["batch"])]
    filled = [cell for cell in cells if len(cell) > 0]
    return np.concatenate([_column(cell, name) for cell in filled]) if filled else np.empty(0, np.uint64)


def _persisted(df: DataFrame) -> DataFrame:
    """The rows of a DataFrame, computed when they are first read, and kept while they are referenced.

    Rows that are lost with an executor are computed again, unlike those of a local checkpoint. The plan begins anew, so
    it does not grow from step to step.
    """
    from pyspark import StorageLevel
    from pyspark.sql import DataFrame

    def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for cell in batch.column(0):
                yield from pa.ipc.open_stream(cell.as_buffer())

    spark, packed = df.sparkSession, _packed(df)
    level = spark.sparkContext._getJavaStorageLevel(StorageLevel.MEMORY_AND_DISK)
    rows = spark._jsparkSession.createDataFrame(packed._jdf.rdd().persist(level), packed._jdf.schema())
    return DataFrame(rows, spark).mapInArrow(unpack, df.schema)


_PACKET_BYTES, _PACKET_ROWS = 8192, 256  # at most: Spark makes batches of up to 10,000 packets


def _shuffled(df: DataFrame, tasks: int, row: Any, spread: Any, work: Any, schema: str) -> DataFrame:
    """The results of tasks on rows that a shuffle brings to them.

    Rows travel in packets: Spark takes much longer for single ones.

    Args:
        tasks: their number.
        row: the dtype of a row.
        spread: takes the batches of df, and yields rows: the number of the task of each, and the columns.
        work: takes the rows of a task, in arrays of dtype row, and yields batches.
        schema: of these batches.
    """
    keys = np.array(_partition_keys(df.sparkSession, tasks), np.int64)
    packet_rows = min(_PACKET_ROWS, _PACKET_BYTES // row.itemsize)
    number = np.uint16 if tasks <= 1 << 16 else np.int64  # NumPy sorts small ones by radix

    def send(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for numbers, columns in spread(batches):
            order = np.argsort(numbers.astype(number), kind="stable")
            numbers, rows = numbers[order].astype(np.int64), np.empty(len(order), row)
            for name in row.names:
                rows[name] = columns[name][order]
            place = np.arange(len(rows)) - np.searchsorted(numbers, np.arange(tasks))[numbers]
            begins = np.flatnonzero(place % packet_rows == 0)
            offsets = (np.append(begins, len(rows)) * row.itemsize).astype(np.int32)
            buffers = [None, pa.py_buffer(offsets), pa.py_buffer(rows)]
            packets = pa.Array.from_buffers(pa.binary(), len(begins), buffers)
            yield pa.RecordBatch.from_arrays([pa.array(keys[numbers[begins]]), packets], ["key", "rows"])

    def receive(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        def rows_of() -> Iterator[Any]:
            for batch in batches:
                if len(batch) > 0:
                    packets = batch.column(batch.schema.get_field_index("rows")).cast(pa.large_binary())
                    offsets = np.frombuffer(packets.buffers()[1], np.int64)[packets.offset :][: len(packets) + 1]
                    yield np.frombuffer(packets.buffers()[2], np.uint8)[offsets[0] : offsets[-1]].view(row)

        return work(rows_of())  # type: ignore[no-any-return]

    sent = df.mapInArrow(send, "key long, rows binary")
    return sent.repartition(tasks, "key").mapInArrow(receive, schema)


def _field(rows: Any, name: str) -> Any:
    return np.ascontiguousarray(rows[name])


# ----- ids that are texts -----


def _number_of(column: str) -> Column:
    """The hash of each text, a long; null of null."""
    from pyspark.sql import functions as F

    return F.when(F.col(column).isNotNull(), F.xxhash64(column))


def _texts(df: DataFrame, what: str, *columns: str) -> DataFrame:
    """The texts of some columns, each once, and their numbers. It reads them, and fails if two have one number."""
    from pyspark.sql import functions as F

    texts = df.select(F.explode(F.array(*columns)).alias("text")).where("text is not null")
    least, most = F.min("text").alias("text"), F.max("text").alias("most")
    made = texts.groupBy(_number_of("text").alias("number")).agg(least, most)
    for row in made.where("text <> most").limit(1).collect():
        _tasks.fail_repeated(what, row["text"], row["most"], "several")
    return made.select("number", "text")


def _with_texts(df: DataFrame, texts: DataFrame, *columns: str) -> DataFrame:
    """The rows of a DataFrame with texts for the numbers in some columns."""
    from pyspark.sql import functions as F

    made = df
    for column in columns:
        made = made.join(texts.select(F.col("number").alias(column), F.col("text").alias(_TEXT)), column)
        made = made.drop(column).withColumnRenamed(_TEXT, column)
    return made.select(*df.columns)


# ----- texts -----


def fingerprint(
    df: DataFrame,
    text: str = "text",
    *,
    features: Features = "words",
    shingle: int = 0,
    weights: Optional[Weights] = None,
    markup: Markup = "none",
    segment: Segment = "pairs",
    bits: int = 0,
    hash: Hash = "xxh3",
) -> DataFrame:
    """A DataFrame with one more column, fingerprint: that of the text of each row.

    It is a long, or of more than 64 bits binary. Of texts without features, and of null, it is null, so they are near
    nothing. sstore.text_recipe() with the same options gives its recipe, for build_shards().

    Args:
        df: with any columns, but none that is called fingerprint.
        text: the column of the texts, string or binary.
        features, shingle, weights, markup, segment, bits, hash: as sstore.simhash() takes them; with hash="minhash" as
            sstore.minhash() does.

    Raises:
        ArgumentError, TypeError: of the DataFrame or another argument.
        UnsupportedError: as sstore.simhash().
    """
    from pyspark.sql.types import BinaryType, LongType, StructField, StructType

    how = _tasks.TextArguments(features, shingle, weights, markup, segment, None, bits, hash)
    _check_columns(df, "fingerprint", text)
    if dict(df.dtypes)[text] not in ("string", "binary"):
        raise TypeError(f"fingerprint: expected the column {text!r} of strings, found {dict(df.dtypes)[text]}")
    if "fingerprint" in df.columns:
        raise ArgumentError('fingerprint: there is a column "fingerprint" already')
    is_wide = how.word_count() > 1
    schema = StructType([*df.schema.fields, StructField("fingerprint", BinaryType() if is_wide else LongType())])

    place, names = df.columns.index(text), [*df.columns, "fingerprint"]

    def make(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            made = _tasks.fingerprints_of(batch.column(place), how)
            yield pa.RecordBatch.from_arrays([*batch.columns, made if is_wide else made.view(pa.int64())], names)

    # mapInArrow() cannot resolve a name with a dot.
    return df.toDF(*map(str, range(len(df.columns)))).mapInArrow(make, schema)


# ----- shards -----


def build_shards(
    df: DataFrame,
    path: str,
    shards: int,
    *,
    distance: Optional[int] = None,
    similarity: Optional[float] = None,
    recall: Optional[float] = None,
    plan: str = "auto",
    recipe: Optional[str] = None,
    force: bool = False,
    memory: str = "1G",
    skip_bad: SkipBad = False,
    storage_options: Optional[dict[str, Any]] = None,
) -> ShardManifest:
    """Build a store of each of several shards of a DataFrame, and publish them together.

    A task builds one shard on its local disk, and copies it to the path. Readers see all shards, or those before.
    Repeated tasks make the same bytes; with names, whose records are numbered as they come, the same records. One build
    at a time may use a path.

    Args:
        df: with the columns fingerprint, a long or binary, and, optionally, id, a long or a string. Other columns are
            not read. Of binary, the lengths are read first. Strings are kept as the names of the records: see
            sstore.build(), which tells what a name may be.
        path: a folder that all machines reach: a path, or an address that fsspec knows, such as "s3://bucket/docs".
        shards: their number, about a hundred million records each.
        distance: in bits, 0 to 16 for each word; None: 3.
        similarity, recall: of MinHashes, instead of a distance: as near_pairs() takes them.
        plan, recipe, memory: as sstore.build() takes them; the memory is that of one task.
        force: replace the shards at the path, once the new ones are complete. The folders of the old ones are then
            removed, so queries that began before may fail.
        skip_bad: leave out rows with a null id, or with a fingerprint of another length than most: as sstore.build().
        storage_options: for fsspec.

    Returns:
        The manifest.

    Raises:
        ArgumentError, TypeError: of the DataFrame or another argument.
        ExistsError: there are shards at the path, and force is False.
        FileError: the manifest cannot be written.
    """
    records, has_ids = _records(df, "build_shards")
    folder = SharedFolder(path, storage_options)
    nearness = Nearness(distance, similarity, recall)
    nearness.check_recipe("build_shards", recipe)
    records, found_words = _good(records, "build_shards", skip_bad)
    count = found_words or 1
    has_names = _has_texts(records)
    if has_names and _id_type(records) != "string":
        raise TypeError("build_shards: expected the column 'id' of longs or strings, found binary")
    work = ShardBuild(folder, shards, nearness.within(count), plan, recipe, memory, force, has_ids, count, has_names)
    work.check()
    names = ["fingerprint", "id"] if has_ids else ["fingerprint"]
    if has_names:
        return work.finish(row["shard"] for row in _build_named(records, work))

    def spread(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[Any, dict[str, Words]]]:
        for columns in _gather(batches, names):
            yield shard_numbers(columns["fingerprint"], shards), columns

    def build(arrays: Iterator[Any]) -> Iterator[pa.RecordBatch]:
        parts = ((_field(rows, "fingerprint"), _field(rows, "id") if has_ids else None) for rows in arrays)
        yield pa.RecordBatch.from_pydict({"shard": pa.array(list(work.build(parts)), pa.string())})

    rows = _shuffled(records, shards, _row_type(names, count), spread, build, "shard string").collect()
    return work.finish(row["shard"] for row in rows)


def _build_named(records: DataFrame, work: ShardBuild) -> list[Any]:
    """What the tasks of a build tell, of records with names, which travel as rows of Spark."""
    from pyspark.sql.types import LongType, StructField, StructType

    keys = np.array(_partition_keys(records.sparkSession, work.shard_count), np.int64)
    names = [*records.columns, "key"]

    def number(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            numbers = shard_numbers(_column(batch, "fingerprint"), work.shard_count).astype(np.int64)
            yield pa.RecordBatch.from_arrays([*batch.columns, pa.array(keys[numbers])], names)

    def build(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts = ((columns["fingerprint"], columns["id"]) for columns in _gather(batches, ["fingerprint", "id"]))
        yield pa.RecordBatch.from_pydict({"shard": pa.array(list(work.build(parts)), pa.string())})

    schema = StructType([*records.schema.fields, StructField("key", LongType())])
    sent = records.mapInArrow(number, schema).repartition(work.shard_count, "key")
    return list(sent.mapInArrow(build, "shard string").collect())


def query_shards(
    df: DataFrame,
    path: str,
    *,
    distance: Optional[int] = None,
    similarity: Optional[float] = None,
    recall: Optional[float] = None,
    max_broadcast: int = _tasks.MAX_BROADCAST,
    skip_bad: SkipBad = False,
    storage_options: Optional[dict[str, Any]] = None,
) -> DataFrame:
    """All records of all shards within a distance of each fingerprint of a DataFrame, each once.

    Every query goes to every shard, since near-duplicates lie in different ones. Up to max_broadcast queries are sent
    to all tasks together; more are sent to each shard in sorted batches. Of a path that is not local, each machine
    copies the shards that its tasks query: see SSTORE_CACHE.

    Args:
        df: with the column fingerprint, a long, or binary if the shards have more than 64 bits. Equal ones are queried
            once.
        path, storage_options: as build_shards() takes them. The shards are those published at the time of the call.
        distance: in bits, 0 to 64 for each word; None: that of the shards.
        similarity, recall: of MinHashes, instead of a distance: as near_pairs() takes them.
        max_broadcast: queries, of 8 bytes for each word.
        skip_bad: leave out rows with a fingerprint of another length than most: as sstore.build().

    Returns:
        The columns query (the fingerprint that was looked for), fingerprint, id (null in shards without ids, and a
        string in shards with names) and distance.

    Raises:
        ArgumentError, TypeError: of the DataFrame or another argument.
        NotFoundError: there are no shards at the path.
        DamagedError, UnsupportedError, FileError: of the manifest.
    """

    records, _ = _records(df, "query_shards")
    folder = SharedFolder(path, storage_options)
    manifest = folder.read()
    nearness = Nearness(distance, similarity, recall)
    nearness.check_recipe("query_shards", manifest.recipe)
    near = number_of(nearness.within(manifest.words, manifest.distance), "distance", manifest.bits)
    schema = _schema_of(_MATCH, _is_binary(records), "string" if manifest.has_names else "long")
    spark = df.sparkSession
    shard_count = len(manifest.shards)
    if shard_count == 0:
        return spark.createDataFrame([], schema)

    def matches(number: int, wanted: Words) -> Iterator[pa.RecordBatch]:
        for found in query_shard(folder, manifest, number, wanted, near):
            ids: Any = pa.nulls(len(found), pa.int64())
            if manifest.has_ids:
                ids = _tasks.arrow_texts(found.name, pa.string()) if manifest.has_names else found.id
            yield _batch(
                {
                    "query": wanted[found.query_index],
                    "fingerprint": found.fingerprint,
                    "id": ids,
                    "distance": found.distance,
                }
            )

    number_of(max_broadcast, "max_broadcast", 1 << 63)
    queries = _persisted(records.select("fingerprint"))
    query_count = queries.count()
    queries, found_words = _good(queries, "query_shards", skip_bad)
    _tasks.check_words("query_shards", found_words, manifest.words)
    if query_count == 0:
        return spark.createDataFrame([], schema)
    if query_count <= max_broadcast:
        sent = spark.sparkContext.broadcast(_tasks.distinct(_collected(queries, "fingerprint")))
        parts = -(-spark.sparkContext.defaultParallelism // shard_count)  # of the queries, to occupy all executors
        tasks = shard_count * parts

        def query_part(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for task in batch.column(0).to_pylist():
                    number, part = divmod(task, parts)
                    yield from matches(number, np.array_split(sent.value, parts)[part])

        return spark.range(0, tasks, 1, tasks).mapInArrow(query_part, schema)

    def spread(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[Any, dict[str, Any]]]:
        for columns in _gather(batches, ["fingerprint"], _tasks.ROWS // shard_count + 1):
            numbers = np.repeat(np.arange(shard_count), len(columns["fingerprint"]))
            copies = np.concatenate([columns["fingerprint"]] * shard_count)
            yield numbers, {"shard": numbers, "fingerprint": copies}

    def query_sorted(arrays: Iterator[Any]) -> Iterator[pa.RecordBatch]:
        for rows in arrays:
            yield from matches(int(rows["shard"][0]), _tasks.distinct(_field(rows, "fingerprint")))

    row = np.dtype([("shard", np.uint32), *_row_type(["fingerprint"], manifest.words).descr])
    return _shuffled(queries.distinct(), shard_count, row, spread, query_sorted, schema)


# ----- joins -----


def near_pairs(
    df: DataFrame,
    distance: Optional[int] = None,
    *,
    similarity: Optional[float] = None,
    recall: Optional[float] = None,
    spanning: bool = False,
    partitions: Optional[int] = None,
    max_key_records: Optional[int] = None,
    skip_bad: SkipBad = False,
) -> DataFrame:
    """Every pair of different records of a DataFrame within a distance, once, without shards.

    Each record is sent to a task for each of distance + 1 keys (one shuffle). A task joins the records of its keys, and
    gives only the pairs that no earlier key finds. The keys are those of Manku, Jain and Das Sarma (WWW 2007), section
    3.1, with distance + 1 groups of bits.

    Records of more than 64 bits are sent without keys if that makes fewer rows: if they are few, if keys have few bits,
    such as 8 for 256 bits and a distance of 31, or if a part of the fingerprint has few values. All of them are then
    divided as those of a crowded key. So up to max_key_records of them are joined by one task, whatever `partitions`
    says: with a lower limit, more tasks work at the same time, but together for longer.

    Args:
        df: with the columns fingerprint, a long or binary, and id, a long or a text. Equal records count once. Of
            binary, the lengths are read first; and texts, of which hashes travel.
        distance: in bits, 0 to 16 for each word; None: 3.
        similarity: of MinHashes, instead of a distance: the Jaccard similarity, above 0 and up to 1. It becomes the
            distance of sstore.minhash_distance(). Pairs of just this similarity are found, but for a few, and some that
            are less similar; sstore.minhash_similarity() makes an estimate of the resulting distances.
        recall: with similarity, the share of pairs of just this similarity that is found; None: 0.99.
        spanning: only pairs that connect whatever all pairs connect, with repeats; see sstore.join_records(). For
            clusters that is enough, and many near or equal fingerprints then make few pairs. Of more than 64 bits,
            their distance may be larger.
        partitions: tasks; None: one for each two million words of fingerprints in the shuffle, but at least Spark's
            shuffle partitions. Of few records, choose few: empty tasks also take time.
        max_key_records: a key with more records is divided among several tasks: each of its n records is then sent
            about 2n / max_key_records times. None: a million, and of more than 64 bits eight million words, such as two
            million records of 256 bits. See sstore.join_records() for the memory and the disk that a join takes,
            beside the rows of the task.
        skip_bad: leave out rows with a null id, or with a fingerprint of another length than most: as sstore.build().

    Returns:
        The columns fingerprint, id, other_fingerprint, other_id and distance. The record that is lower as unsigned
        numbers comes first; of equal fingerprints with texts, either.

    Raises:
        ArgumentError, TypeError: of the DataFrame or another argument.
        FileError: there is no room on the disk of a task, for stores of more than 64 bits.
    """
    from pyspark.sql import functions as F

    nearness = Nearness(distance, similarity, recall)
    records, _ = _records(df, "near_pairs")
    _check_columns(df, "near_pairs", "id")
    flag_of(spanning, "spanning")
    partitions = None if partitions is None else count_of(partitions, "partitions", 1 << 31)
    spark, schema = df.sparkSession, _schema_of(_PAIR, _is_binary(df))
    records, found_words = _good(records, "near_pairs", skip_bad)
    texts = _texts(records, "near_pairs", "id") if _has_texts(records) else None
    if texts is not None:
        records = records.withColumn("id", _number_of("id"))
    word_count = found_words or MAX_WORDS  # which allows any distance, of no records
    limit = _tasks.key_limit(max_key_records, word_count)
    near = build_distance(nearness.within(word_count), word_count)

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counts = _tasks.zero_counts(word_count, near)
        for columns in _gather(batches, ["fingerprint"]):
            counts += _tasks.count_keys(columns["fingerprint"], near)
        tables, buckets = np.nonzero(counts)
        yield _batch({"table": tables, "bucket": buckets, "records": counts[tables, buckets]})

    counted = records.mapInArrow(count, "table long, bucket long, records long")
    rows = counted.groupBy("table", "bucket").agg(F.sum("records").alias("records")).toPandas()
    counts = _tasks.zero_counts(word_count, near)
    counts[rows["table"].to_numpy(np.int64), rows["bucket"].to_numpy(np.int64)] = rows["records"]
    least = int(spark.conf.get("spark.sql.shuffle.partitions", "200"))
    parts, tasks = _tasks.divide(counts, limit, word_count, least)
    tasks = partitions or tasks
    row = _tasks.cell_row(word_count)

    def spread(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[Any, dict[str, Any]]]:
        for columns in _gather(batches, ["fingerprint", "id"]):
            for cells in _tasks.make_cells(columns["fingerprint"], columns["id"], near, parts):
                yield cells.cell % np.uint64(tasks), cells.columns()

    def join(arrays: Iterator[Any]) -> Iterator[pa.RecordBatch]:
        rows = np.concatenate([np.empty(0, row), *arrays])
        cells = _tasks.Cells(**{name: _field(rows, name) for name in _tasks.Cells.names()})
        del rows
        for pairs in _tasks.join_cells(cells, near, spanning, _tasks.ROWS // 8):
            yield _batch(pairs.columns)

    pairs = _shuffled(records, tasks, row, spread, join, schema)
    return pairs if texts is None else _with_texts(pairs, texts, "id", "other_id")


def clusters(pairs: DataFrame, *, max_local_edges: int = _tasks.MAX_LOCAL_EDGES) -> DataFrame:
    """The connected components of pairs.

    Up to max_local_edges pairs are connected by one task, out of core. More are connected on the cluster, by large-star
    and small-star steps (Kiveris, Lattanzi, Mirrokni, Rastogi and Vassilvitskii, "Connected Components in MapReduce and
    Beyond", SOCC 2014). The steps are joins of Spark, which spill: a node may have any number of edges.

    Args:
        pairs: with the columns id and other_id, both long or both texts, such as of near_pairs(spanning=True).
        max_local_edges: pairs that one task connects, in up to 1 GiB of memory and 16 bytes of disk each.

    Returns:
        The columns id and cluster, the smallest id of the component, as a signed number, or as a text by its bytes.
        (Store.clusters() has numbers from 0 instead.)

    Raises:
        FileError: there is no room on the disk of the task.
    """
    from pyspark.sql import functions as F

    number_of(max_local_edges, "max_local_edges", 1 << 63)
    _check_columns(pairs, "clusters", "id", "other_id")
    kinds = [dict(pairs.dtypes)[name] for name in ("id", "other_id")]
    if _has_texts(pairs) and kinds[0] == kinds[1]:
        return _text_clusters(pairs.select("id", "other_id"), max_local_edges)
    if _has_texts(pairs) or _has_texts(pairs, "other_id"):
        raise TypeError(f"clusters: expected id and other_id of one kind, found {kinds[0]} and {kinds[1]}")
    _check_longs(pairs, "clusters", "id", "other_id")
    edges = pairs.select(F.col("id").cast("long").alias("a"), F.col("other_id").cast("long").alias("b"))
    edges = _persisted(edges.where("a is not null and b is not null"))
    if edges.count() <= max_local_edges:

        def connect(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            # Signed order: the smallest id as Spark compares them.
            flip = np.uint64(1 << 63)
            parts = ((c["a"] ^ flip, c["b"] ^ flip) for c in _gather(batches, ["a", "b"]))
            for found in components(parts, threads=1):
                yield _batch({"id": found.node ^ flip, "cluster": found.smallest ^ flip})

        return _persisted(edges.coalesce(1).mapInArrow(connect, "id long, cluster long"))
    nodes = edges.select(F.col("a").alias("id")).union(edges.select("b")).distinct()
    ordered = edges.where("a <> b").select(F.greatest("a", "b").alias("a"), F.least("a", "b").alias("b"))
    edges = _persisted(ordered.distinct())
    while not _are_stars(edges):
        edges = _persisted(_small_star(_large_star(edges)))
    roots = edges.select(F.col("a").alias("id"), F.col("b").alias("root"))
    return nodes.join(roots, "id", "left").select("id", F.coalesce("root", "id").alias("cluster"))


def _text_clusters(pairs: DataFrame, max_local_edges: int) -> DataFrame:
    """The components of pairs of texts: those of their numbers, each named after its smallest text."""
    from pyspark.sql import functions as F

    pairs = _persisted(pairs)
    texts = _texts(pairs, "clusters", "id", "other_id")
    numbered = pairs.select(_number_of("id").alias("id"), _number_of("other_id").alias("other_id"))
    members = _with_texts(clusters(numbered, max_local_edges=max_local_edges), texts, "id")
    smallest = members.groupBy("cluster").agg(F.min("id").alias(_TEXT))
    return members.join(smallest, "cluster").select("id", F.col(_TEXT).alias("cluster"))


def _are_stars(edges: DataFrame) -> bool:
    """Whether each node has one edge, to a node that has none: the smallest of the component."""
    from pyspark.sql import functions as F

    is_single = edges.groupBy("a").agg(F.count("*").alias("n")).where("n > 1").isEmpty()
    return bool(is_single and edges.select("b").intersect(edges.select("a")).isEmpty())


def _large_star(edges: DataFrame) -> DataFrame:
    """Every node connects its larger neighbours with the smallest of its neighbours and itself."""
    from pyspark.sql import functions as F

    both = edges.union(edges.select(F.col("b").alias("a"), F.col("a").alias("b")))
    smallest = both.groupBy("a").agg(F.least(F.min("b"), F.col("a")).alias("m"))
    larger = both.where("b > a").join(smallest, "a")
    return larger.select(F.col("b").alias("a"), F.col("m").alias("b")).distinct()


def _small_star(edges: DataFrame) -> DataFrame:
    """Every node connects its smaller neighbours and itself with the smallest of them."""
    from pyspark.sql import functions as F

    smallest = edges.groupBy("a").agg(F.min("b").alias("m"))
    smaller = edges.join(smallest, "a").select(F.col("b").alias("a"), F.col("m").alias("b"))
    return smaller.union(smallest.select("a", F.col("m").alias("b"))).where("a <> b").distinct()


def deduplicate(
    df: DataFrame,
    distance: Optional[int] = None,
    *,
    similarity: Optional[float] = None,
    recall: Optional[float] = None,
    keep: Optional[str] = None,
    descending: bool = False,
    strict: bool = False,
    partitions: Optional[int] = None,
    max_local_edges: int = _tasks.MAX_LOCAL_EDGES,
    skip_bad: SkipBad = False,
) -> DataFrame:
    """The rows of a DataFrame without near-duplicates: of each cluster one row is kept.

    As sstore.dedup(). With strict=True, a row is kept if no row that precedes it and is kept is within the distance. A
    task then gets all rows of a cluster, in the order in which they precede, and keeps them on its disk.

    Args:
        df: with the columns fingerprint, a long or binary, and id, a long or a text. All ids must be
            different. Rows without a fingerprint are kept, and so are those that skip_bad leaves out of the comparison.
        distance: in bits, 0 to 16 for each word; None: 3.
        similarity, recall: of MinHashes, instead of a distance: as near_pairs() takes them. Features are not compared,
            as sstore.dedup() does.
        keep: a column: of a cluster, the row with its smallest value is kept, and of several the one with the smallest
            id. Rows without a value come last. None: the id.
        descending: True: keep the largest value instead. Rows without a value still come last.
        strict: True: each dropped row is within the distance of one that is kept, and no two that are kept are.
        partitions, max_local_edges: as near_pairs() and clusters() take them.
        skip_bad: leave out rows with a null id, or with a fingerprint of another length than most: as sstore.build().

    Raises:
        ArgumentError, TypeError: of the DataFrame or another argument; also if an id is repeated.
        FileError: as near_pairs() and clusters().
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    _check_columns(df, "deduplicate", "id", *([keep] if keep is not None else []))
    flag_of(descending, "descending")
    flag_of(strict, "strict")
    nearness = Nearness(distance, similarity, recall)
    number = _number_of("id") if _has_texts(df) else F.col("id")
    _check_repeated(df, number)
    numbered = df.select(F.col("fingerprint"), number.alias("id")) if "fingerprint" in df.columns else df
    pairs = near_pairs(
        numbered,
        distance,
        similarity=similarity,
        recall=recall,
        spanning=True,
        partitions=partitions,
        skip_bad=skip_bad,
    )
    found = clusters(pairs, max_local_edges=max_local_edges)
    name = "id" if keep is None else keep
    value = F.col(_quoted(name))
    if dict(df.dtypes)[name] in ("double", "float"):
        value = F.when(~F.isnan(value), value)
    members = found.join(df.select(number.alias("id"), F.col("id").alias("given"), value.alias("order")), "id")
    order = F.col("order").desc_nulls_last() if descending else F.col("order").asc_nulls_last()
    if strict:
        records, _ = _records(numbered, "deduplicate")
        dropped = _strict_drops(members.join(records, "id"), nearness, order, partitions)
    else:
        place = F.row_number().over(Window.partitionBy("cluster").orderBy(order, "given"))
        dropped = members.select("id", place.alias("place")).where("place > 1")
    dropped = dropped.select(F.col("id").alias(_DROPPED))
    return df.join(dropped, number == F.col(_DROPPED), "left_anti").select(list(map(_quoted, df.columns)))


def _check_repeated(df: DataFrame, number: Column) -> None:
    from pyspark.sql import functions as F

    counts = df.groupBy(number.alias("number")).agg(
        F.count("*").alias("n"), F.min("id").alias("low"), F.max("id").alias("high")
    )
    for row in counts.where("n > 1 and number is not null").limit(1).collect():
        _tasks.fail_repeated("deduplicate", row["low"], row["high"], row["n"])


def _strict_drops(members: DataFrame, nearness: Nearness, order: Column, partitions: Optional[int]) -> DataFrame:
    """The ids to drop, so that what is kept is not near each other. Near rows are in one cluster, and so in one task,
    where they come in the order in which they precede."""

    def drop(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        columns = _gather(batches, ["fingerprint", "id"])
        for ids in _tasks.strict_drops(((c["fingerprint"], c["id"]) for c in columns), nearness):
            yield _batch({"id": ids})

    sent = members.repartition(*([] if partitions is None else [partitions]), "cluster")
    return sent.sortWithinPartitions(order, "given").select("fingerprint", "id").mapInArrow(drop, "id long")


def scan(
    df: DataFrame,
    queries: DataFrame,
    distance: Optional[int] = None,
    *,
    similarity: Optional[float] = None,
    recall: Optional[float] = None,
    skip_bad: SkipBad = False,
) -> DataFrame:
    """All records of a DataFrame within a distance of queries, without a store.

    The batch job of Manku, Jain and Das Sarma (WWW 2007), section 4.2: the queries are in the memory of each worker,
    and the fingerprints stream past them.

    Args:
        df: with the columns fingerprint, a long or binary, and, optionally, id, a long or a text.
        queries: with the column fingerprint, of the same type; about 33 bytes of memory each for every worker, if it
            is a long. Equal ones are queried once.
        distance: in bits, 0 to 16 for each word; None: 3.
        similarity, recall: of MinHashes, instead of a distance: as near_pairs() takes them.
        skip_bad: leave out rows with a null id, or with a fingerprint of another length than most: as sstore.build().

    Returns:
        The columns query (the fingerprint that was looked for), fingerprint, id (null if there are none) and distance.

    Raises:
        ArgumentError, TypeError: of a DataFrame or the distance.
    """
    nearness = Nearness(distance, similarity, recall)
    records, has_ids = _records(df, "scan")
    wanted, _ = _records(queries, "scan")
    if _is_binary(records) != _is_binary(wanted):
        raise TypeError("scan: expected fingerprints and queries both of longs or both binary")
    kind = _id_type(records)
    schema = _schema_of(_MATCH, _is_binary(records), kind)
    wanted, count = _good(wanted.select("fingerprint"), "scan")
    if count is None:
        return df.sparkSession.createDataFrame([], schema)
    records, found_words = _good(records, "scan", skip_bad)
    _tasks.check_words("scan", found_words, count)
    near = number_of(nearness.within(count), "distance", count * lib.SSTORE_MAX_BUILD_DISTANCE)
    sent = df.sparkSession.sparkContext.broadcast(_tasks.distinct(_collected(wanted, "fingerprint")))
    name = uuid.uuid4().hex
    names = ["fingerprint", "id"] if has_ids else ["fingerprint"]

    def match(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        matcher = _tasks.kept_matcher(name, lambda: sent.value, near)
        for columns in _gather(batches, names):
            found = matcher.feed(columns["fingerprint"], np.arange(len(columns["fingerprint"])))
            ids: Any = pa.nulls(len(found), pa.int64())
            if has_ids:
                taken = columns["id"].take(found.id)
                ids = (
                    taken
                    if kind == "long"
                    else _tasks.arrow_texts(taken, pa.string() if kind == "string" else pa.binary())
                )
            yield _batch(
                {"query": found.query, "fingerprint": found.fingerprint, "id": ids, "distance": found.distance}
            )

    return records.mapInArrow(match, schema)
