"""Commands of the package: python -m sstore dedup IN.parquet OUT.parquet

`sstore dedup`, which pip installs beside it, does the same with lines, JSON Lines, CSV, TSV and folders of files.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import signal
import sys
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import repeat
from typing import Any, Optional

import numpy as np

import sstore
from sstore._columns import Flags
from sstore._native import ffi, lib

_BATCH_ROWS = 1 << 14  # of texts and names that are read together


class _Failure(Exception):
    """What is told on stderr; the exit code is 1."""


# Options: their name, what they take and their help.
_OPTIONS = [
    ("--text-field", "KEY", "the column of the text (default text)"),
    ("--fingerprint-field", "KEY", "take the fingerprints in this column, instead of those of the text"),
    ("--distance", "D", "near means within D bits, of simhashes unless --hash says another hash"),
    ("--similarity", "J", "instead of -k: near means a Jaccard similarity of at least J (default 0.8)"),
    ("--recall", "R", "with --similarity: the share of pairs of similarity J to be found (default 0.99)"),
    ("--keep", "WHICH", "keep first (default), last, max:KEY or min:KEY"),
    ("--strict", "", "drop only rows that are near the kept one"),
    ("--max-group", "N", "drop nothing of groups of more than N rows, but report them (default: no limit)"),
    ("--removed", "FILE", "list what is dropped, what is kept instead, and the distance, or the similarity"),
    ("--id-field", "KEY", "the column of names or ids, for --removed (default: numbers of rows, from 0) and --update"),
    ("--against", "STORE", "also drop what is near a record of STORE"),
    ("--update", "STORE", "as --against, and add what is kept; STORE may be new"),
    ("--features", "KIND", "words (default), or chars: sequences of characters"),
    ("--shingle", "N", "a feature has N words (default 1; of a MinHash 2) or characters (4)"),
    (
        *("--weights", "KIND"),
        "of a feature that occurs N times: sublinear (default): 1 + log2(N); frequency: N; presence (MinHash): 1",
    ),
    ("--markup", "KIND", "none (default); html: take away tags, comments and scripts, and decode references"),
    ("--bits", "N", "the bits of a MinHash, 64 to 1024 (default 256), or of a simhash, 64 (default) or 128"),
    (
        *("--hash", "NAME"),
        "minhash (default): MinHash; xxh3 (with -k): simhash; java128: that of the Java program SimHash, of 128 bits",
    ),
    ("--memory", "SIZE", "memory limit of the search for groups (default 1G; enforced from 64M up)"),
    ("--threads", "N", "use N threads (default: all processors)"),
    ("--tmp-dir", "DIR", "folder for temporary files (default: TMPDIR if it is set, otherwise the working folder)"),
    ("--force", "", "replace files that exist"),
    ("--quiet", "", "print only errors"),
]
_TYPES: dict[str, Any] = {
    **dict.fromkeys("DN", int),
    **dict.fromkeys("JR", float),
    **dict.fromkeys(("FILE", "STORE", "DIR"), pathlib.Path),
}
# Those that are arguments of sstore.dedup().
_ARGUMENTS = (
    *("distance", "similarity", "recall", "strict", "max_group", "against", "update", "features", "shingle", "weights"),
    *("markup", "bits", "hash", "memory", "threads", "tmp_dir"),
)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m sstore", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    made = commands.add_parser(
        "dedup",
        allow_abbrev=False,
        help="copy a Parquet file without its near-duplicate rows",
        description="Copy a Parquet file without its near-duplicate rows. The others stay as they are, in their order. "
        "IN is read twice, one row group at a time.",
        epilog="For lines, JSON Lines, CSV, TSV and folders of files, use 'sstore dedup'.",
    )
    made.add_argument("input", metavar="IN.parquet", type=pathlib.Path)
    made.add_argument("output", metavar="OUT.parquet", type=pathlib.Path)
    for name, takes, text in _OPTIONS:
        names = ("-k", name) if name == "--distance" else (name,)
        if takes == "":
            made.add_argument(*names, action="store_true", help=text)
        else:
            made.add_argument(*names, metavar=takes, type=_TYPES.get(takes, str), help=text)
    made.set_defaults(keep="first", is_written=False)
    return parser


class _Source:
    """A Parquet file, whose columns were checked."""

    def __init__(self, path: pathlib.Path) -> None:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            raise _Failure("Parquet needs pyarrow: pip install pyarrow") from None
        self.arrow = pyarrow
        self.path = path
        self.file = pyarrow.parquet.ParquetFile(path)
        self.schema = self.file.schema_arrow
        self.groups = range(self.file.num_row_groups)

    def check(self, option: str, name: str) -> None:
        if self.schema.names.count(name) != 1:
            raise _Failure(
                f"{self.path}: expected a column {name!r}, or another that {option} names, found "
                + ", ".join(f"{field.name} ({field.type})" for field in self.schema)
            )

    def is_integer(self, column: str) -> bool:
        return bool(self.arrow.types.is_integer(self.schema.field(column).type))

    def reader(self, columns: dict[str, str]) -> Any:
        """Some columns with new names, as a stream. Integers become names as text."""
        fields = [self.schema.field(column).with_name(name) for name, column in columns.items()]
        fields = [
            field.with_type(self.arrow.string()) if name == "names" and self.is_integer(column) else field
            for field, (name, column) in zip(fields, columns.items())
        ]
        schema = self.arrow.schema(fields)
        batches = (
            self.arrow.RecordBatch.from_arrays(
                [batch.column(column).cast(field.type) for column, field in zip(columns.values(), fields)],
                schema=schema,
            )
            for batch in self.file.iter_batches(_BATCH_ROWS, columns=list(dict.fromkeys(columns.values())))
        )
        return self.arrow.RecordBatchReader.from_batches(schema, batches)

    def copy(self, target: pathlib.Path, is_kept: Flags) -> None:
        """Write the rows that are kept, with the compression of the columns."""
        metadata = self.file.metadata
        columns = [metadata.row_group(0).column(i) for i in range(metadata.num_columns)] if self.groups else []
        codecs: Any = {column.path_in_schema: _CODECS.get(column.compression, column.compression) for column in columns}
        with self.arrow.parquet.ParquetWriter(target, self.schema, compression=codecs or "snappy") as writer:
            first = 0
            for number in self.groups:
                table = self.file.read_row_group(number)
                kept = is_kept[first : first + len(table)]
                first += len(table)
                if kept.any():
                    writer.write_table(table.filter(self.arrow.array(kept)), row_group_size=len(table))

    def names(self, column: Optional[str], rows: Any) -> list[bytes]:
        """The names of some rows, ascending: values of a column, or their numbers."""
        if column is None:
            return [str(row).encode() for row in rows.tolist()]
        made: list[bytes] = []
        first = 0
        for batch in self.file.iter_batches(_BATCH_ROWS, columns=[column]):
            begin, end = np.searchsorted(rows, [first, first + len(batch)])
            values = batch.column(column).take(self.arrow.array(rows[begin:end] - first)).to_pylist()
            made += [
                _escaped(value if isinstance(value, bytes) else str("" if value is None else value).encode())
                for value in values
            ]
            first += len(batch)
        return made


_CODECS = {"UNCOMPRESSED": "NONE", "LZ4_RAW": "LZ4"}


def _escaped(name: bytes) -> bytes:
    """A name that fits in a line, as the command writes it."""
    buffer = ffi.new("char[]", 4 * len(name) + 1)
    size = lib.sstore_escape(name, len(name), True, buffer, len(buffer))
    return bytes(ffi.buffer(buffer, size))


def _stored_of(against: pathlib.Path, ids: Any) -> list[bytes]:
    """The store's records with these ids, as the command writes them: its path, and their names or ids."""
    path = _escaped(os.fsencode(against))
    with sstore.open(against) as store:
        if not store.has_names:
            return [path + b":%d" % id_ for id_ in ids.tolist()]
        names = store.names(ids).to_arrow().cast("large_binary").to_pylist()
    # A line of names that begins so would mean something else.
    marks = [1 if name[:1] == b"#" or name == b"-" else 0 for name in names]
    heads = [b"\\x%02x" % name[0] if mark else b"" for name, mark in zip(names, marks)]
    return [path + b":" + head + _escaped(name[mark:]) for head, name, mark in zip(heads, names, marks)]


def _order_of(keep: str) -> Optional[str]:
    """The column to order by; None: there is none."""
    kind, _, name = keep.partition(":")
    if keep in ("first", "last"):
        return None
    if kind not in ("max", "min") or not name:
        raise _Failure(f"--keep: expected first, last, max:KEY or min:KEY, found {keep!r}")
    return name


def _label_of(source: _Source, given: argparse.Namespace) -> Optional[str]:
    """What the records of --update get from the column of --id-field: names, ids or None."""
    if given.update is None:
        return None
    has_names, has_ids = given.id_field is not None, True
    if os.path.lexists(given.update):
        with sstore.open(given.update) as store:
            has_names, has_ids = store.has_names, store.has_ids
    if has_names and given.id_field is None:
        raise _Failure(f"{given.update}: the store has names: --id-field says which column has those of the rows")
    if has_names or given.id_field is None:
        return "names" if has_names else None
    if source.is_integer(given.id_field):
        return "ids" if has_ids else None
    if has_ids and not given.quiet:
        _print(
            f"warning: {given.update}: the store has no names, and the ids of --id-field are texts: the records get "
            "numbers"
        )
    return None


def _write(source: _Source, kept: sstore.Kept, given: argparse.Namespace) -> None:
    """Write both files, so that each is there as a whole or not at all."""
    with _new_file(given.output) as target, _new_file(given.removed) as removed:
        source.copy(target, kept.is_kept)
        if given.removed is not None:
            _write_removed(removed, source, kept, given)
    given.is_written = True


def _write_removed(target: pathlib.Path, source: _Source, kept: sstore.Kept, given: argparse.Namespace) -> None:
    """A line for each dropped row: its name, that of the row that is kept instead, and the distance, or how similar
    they are."""
    dropped = kept.dropped
    named = np.union1d(dropped.row, dropped.kept_row[dropped.kept_row >= 0])
    names = source.names(given.id_field, named)
    is_stored = dropped.kept_row < 0
    against = given.against or given.update
    if "stored_id" in dropped:
        stored = iter(_stored_of(against, dropped["stored_id"][is_stored]))
    else:
        stored = repeat(b"" if against is None else _escaped(os.fsencode(against)))
    with open(target, "wb") as lines:
        for i, (row, other) in enumerate(zip(np.searchsorted(named, dropped.row), dropped.kept_row)):
            instead = next(stored) if is_stored[i] else names[np.searchsorted(named, other)]
            far = b"%.3f" % dropped.similarity[i] if "similarity" in dropped else b"%d" % dropped.distance[i]
            lines.write(b"%b\t%b\t%b\n" % (names[row], instead, far))


@contextmanager
def _new_file(path: Optional[pathlib.Path]) -> Iterator[pathlib.Path]:
    """A file beside the path, which takes its place if this ends without an error. None: there is none."""
    if path is None:
        yield pathlib.Path(os.devnull)
        return
    made = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        yield made
        with open(made, "rb") as file:
            os.fsync(file.fileno())
        os.replace(made, path)
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    finally:
        made.unlink(missing_ok=True)


def _check_files(given: argparse.Namespace) -> None:
    for path in (given.input, given.output):
        if path.suffix != ".parquet":
            raise _Failure(
                f"{path}: expected a name with .parquet; 'sstore dedup' reads lines, JSON Lines, CSV and TSV"
            )
    if given.removed is not None and given.removed.resolve() in (given.input.resolve(), given.output.resolve()):
        raise _Failure(f"--removed: {given.removed} is also the input or the output")
    for path in (given.output, given.removed):
        if path is not None and path.exists() and not given.force:
            raise _Failure(f"{path}: exists already; --force replaces it")


def _dedup(given: argparse.Namespace) -> None:
    if given.text_field is not None and given.fingerprint_field is not None:
        raise _Failure("--text-field cannot be combined with --fingerprint-field")
    order = _order_of(given.keep)
    _check_files(given)
    source = _Source(given.input)
    kind = "text" if given.fingerprint_field is None else "fingerprint"
    columns = {kind: given.fingerprint_field or given.text_field or "text"}
    source.check(f"--{kind}-field", columns[kind])
    if order is not None:
        source.check("--keep", order)
        columns["order"] = order
    if given.id_field is not None:
        source.check("--id-field", given.id_field)
    arguments: dict[str, Any] = {name: value for name in _ARGUMENTS if (value := getattr(given, name)) is not None}
    arguments[kind] = kind
    if (label := _label_of(source, given)) is not None:
        columns[label] = given.id_field
        arguments[label] = label
    if given.update is not None:  # a row that the store has is in the output
        arguments["before_update"] = lambda kept: _write(source, kept, given)
    kept = sstore.dedup(
        source.reader(columns),
        keep=given.keep if order is None else "order",
        descending=given.keep.startswith("max:"),
        progress=not given.quiet and sys.stderr.isatty(),
        **arguments,
    )
    if given.update is None:
        _write(source, kept, given)
    _tell(given, kept)


def _tell(given: argparse.Namespace, kept: sstore.Kept) -> None:
    for row, size in zip(kept.large_group_row.tolist(), kept.large_group_size.tolist()):
        _print(f"{given.input}: row {row}: a group of {size} rows, more than --max-group: none is dropped")
    if given.quiet:
        return
    count, dropped = len(kept.is_kept), int((~kept.is_kept).sum())
    _print(f"documents {count}, kept {count - dropped}, dropped {dropped}")
    stored = int((kept.kept_row < 0).sum())
    if stored > 0:
        _print(f"of these, {stored} are near a record of {given.against or given.update}")
    if kept.change is not None:
        _print(f"{given.update}: added {kept.change.added_count} records; records {kept.change.record_count}")


def _print(line: str) -> None:
    print(f"sstore: {line}", file=sys.stderr)


def main(arguments: Optional[list[str]] = None) -> int:
    given = _parser().parse_args(arguments)
    for number in (signal.SIGTERM, signal.SIGHUP):  # nothing is left behind
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    warnings.showwarning = lambda message, *_, **__: _print(f"warning: {message}")
    try:
        _dedup(given)
    except KeyboardInterrupt:
        _print(f"interrupted; {'the store is as it was' if given.is_written else 'nothing was written'}")
        return 130
    except (_Failure, sstore.Error, OSError, ValueError, TypeError, NotImplementedError) as error:
        _print(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
