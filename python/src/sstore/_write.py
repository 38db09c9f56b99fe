"""Making and changing stores."""

from __future__ import annotations

import os
from collections.abc import Sequence, Sized
from dataclasses import dataclass, field
from typing import Any, Literal, Optional, Union

import numpy as np

from sstore._arrays import (
    MAX_WORDS,
    ArrayLike,
    Words,
    empty,
    fitted,
    is_arrow,
    pointer,
    word_count,
    words_by_recipe,
    words_of,
)
from sstore._call import Call, Collector, PathLike, ProgressOption, Size, encode, flag_of, number_of, result, size_of
from sstore._columns import Buffers
from sstore._doubt import DoubtWarning, SkipBad, bad_rows_of, warn
from sstore._errors import ArgumentError, Error, error_of, message_of
from sstore._native import ffi, lib
from sstore._rows import Names, Piece, all_names, asked_ids, asked_names, pieces, words
from sstore._store import Name, Store, build_distance, copy_fields
from sstore._strings import Strings, StringsLike

_MAX_SHARDS = (1 << 32) - 1
_SLICE = 1 << 20  # records that are added between two checks for signals
_COMPARED = 256  # fingerprints of an addition that are looked up, at most
_CHECKED_IDS = 1 << 20  # ids of a build that are looked through for repeats, at most


@dataclass(frozen=True)
class Change:
    """What a call changed.

    Attributes:
        given_count: records, fingerprints or ids that were given, with repeats; of a merge or shard, the records of the
            inputs; of a compaction 0.
        added_count: records that the store has now and did not have.
        removed_count: records that the store had and does not have now.
        record_count, segment_count, total_bytes: of the store now; segment_count_before and total_bytes_before: of the
            store before, 0 for a new one.
        conflict_count: with check_ids, ids of added records that another record of the store also has, with another
            fingerprint. If ids_checked is false, there may be more.
        min_conflicting_id: the smallest of these ids.
        absent_count: of a removal, given records, ids, names, or fingerprints without ids, of which the store had no
            record; of a replacement, ids or names. Among very many, a repeated one may be counted more than once.
        absent_ids: with list_absent, the ids that absent_count counts: uint64, shape (absent_count,), ascending among
            those that were looked up together; otherwise None.
        known_name_count: of an addition, records given without ids whose name the store had, but only with other
            fingerprints. It has both now. Usually they are changed documents, whose older records replace() would
            remove.
        damaged_file: of an older segment, or "": the change was to be merged with it, and was published as a segment of
            its own instead, with a RuntimeWarning. verify() tells more.
    """

    given_count: int
    added_count: int
    removed_count: int
    record_count: int
    segment_count: int
    segment_count_before: int
    total_bytes: int
    total_bytes_before: int
    conflict_count: int
    min_conflicting_id: int
    ids_checked: bool
    damaged_file: str
    absent_count: int
    known_name_count: int
    absent_ids: Optional[Words] = field(compare=False)


def change_of(native: Any, absent_ids: Optional[Words] = None) -> Change:
    made: Change = copy_fields(Change, native, absent_ids=absent_ids)
    if made.damaged_file:
        warn(
            f"{made.damaged_file} is damaged, so the change is a segment of its own, not merged with older ones; "
            "verify() tells more",
            RuntimeWarning,
        )
    return made


def _warn_of_ids(count: int, smallest: int, is_complete: bool) -> None:
    """Warn of ids of added records that also belong to another fingerprint, as the command does."""
    if count > 0:
        warn(
            f"ids of added records also belong to another fingerprint: {'' if is_complete else 'at least '}{count}, "
            f"such as id {smallest}; different documents need different ids",
            DoubtWarning,
        )


def warn_of_conflicts(change: Change, known: int = 0) -> None:
    """Warn of conflicts of ids of an addition, if there are more than are known."""
    if change.conflict_count > known:
        _warn_of_ids(change.conflict_count, change.min_conflicting_id, change.ids_checked)


def _check_ids(ids: Optional[ArrayLike], no_ids: bool) -> None:
    if ids is not None and no_ids:
        raise ArgumentError("ids: a store without ids takes none; leave them out")


def given_names(names: Optional[StringsLike], has_names: bool) -> Names:
    """Names that are added to a store, which has names or not; in a table if they are not given."""
    if names is None:
        return has_names
    if not has_names:
        raise ArgumentError("names: the store has no names; leave them out, or build a store with names")
    return all_names(names)


def _numbered(piece: Piece, first: int) -> Words:
    """Ids from the numbers of rows. A row that was skipped leaves its id free."""
    if first + piece.row_count > 1 << 64:
        raise ArgumentError(f"ids: {piece.row_count} rows from id {first} on need ids above 2**64 - 1")
    return piece.numbers().astype(np.uint64) + np.uint64(first)


#: How long to wait for another writer: seconds, or True: until it ends.
Wait = Union[float, bool]


def wait_ms(wait: Wait) -> int:
    """The time to wait, as the library takes it."""
    if wait is True:
        return 2**64 - 1
    if not 0 <= wait < 2**32:
        raise ArgumentError(f"wait: expected seconds, or True to wait until the other writer ends, found {wait!r}")
    return round(1000 * wait)


def shared_options(
    memory: Optional[Size],
    threads: int,
    tmp_dir: Optional[PathLike],
    block_size: Optional[Size],
    ignore_free_space: bool,
    wait: Wait,
) -> dict[str, Any]:
    """Fields that the options of several calls have."""
    return {
        "memory_bytes": size_of(memory, "memory"),
        "threads": threads,
        "tmp_dir": None if tmp_dir is None else encode(tmp_dir),
        "block_bytes": size_of(block_size, "block_size"),
        "ignore_free_space": ignore_free_space,
        "wait_ms": wait_ms(wait),
    }


class Writer:
    """A builder or a remover of the library, which is finished or given up."""

    def __init__(self, call: Call, kind: str, create: Any, path: PathLike, options: Any) -> None:
        finish, abort = getattr(lib, kind + "_finish"), getattr(lib, kind + "_abort")
        self._call = call
        self._finish_native = finish
        self._native: Optional[Any] = call.create(kind, abort, create, encode(path), options, own=True)

    @property
    def closed(self) -> bool:
        """Whether it was finished or given up."""
        return self._native is None

    def _use(self) -> Any:
        self._call.check_usable()
        if self._native is None:
            raise ArgumentError("the builder is closed: it was finished or given up")
        return self._native

    def give(self, add: Any, fingerprints: Words, ids: Optional[Words], names: Optional[Strings] = None) -> None:
        """Call add(), of the library, for records, some at a time. It takes names if there are any."""
        for begin in range(0, len(fingerprints), _SLICE):
            rows = slice(begin, begin + _SLICE)
            part, id_part = fingerprints[rows], None if ids is None else ids[rows]
            arguments = [pointer(part), pointer(id_part), *([] if names is None else [names[rows].native()])]
            with self._call.lock:
                self._call.check(add(self._use(), *arguments, len(part), self._call.error))

    def give_records(self, piece: Piece, ids: Optional[Words]) -> None:
        """Add records, with their names if they have any."""
        add = lib.sstore_builder_add if piece.names is None else lib.sstore_builder_add_named
        self.give(add, piece.fingerprints, ids, piece.names)

    def remove_names(self, names: Strings) -> None:
        with self._call.lock:
            self._call.check(lib.sstore_remover_remove_named(self._use(), names.native(), len(names), self._call.error))

    def finish(self, absent: Optional[Buffers] = None) -> Change:
        change = result("sstore_change")
        with self._call.lock:
            native, self._native = self._use(), None
            ffi.gc(native, None)  # finish() frees it
            self._call.check(self._finish_native(native, change, self._call.error))
        return change_of(change, None if absent is None else absent.take()["id"])

    def abort(self) -> None:
        with self._call.lock:
            self._native = None

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self.abort()  # if it is not finished


class Builder:
    """Build a store from records that come in pieces.

        with sstore.Builder("docs.store") as builder:
            for fingerprints, ids in pieces:
                builder.add(fingerprints, ids)

    At the end of the block the store is written and published; `change` then says what it has. If the block raises,
    nothing is left behind. Threads may add records; their calls wait for each other. Only the process that made it can
    use it.

    Args:
        bits: None: as many as the fingerprints of the first add() have. Give it with an explicit plan, if they have
            more than 64.
        names: True: each record gets a name, of the argument of add() or of a column of its table.
        expected_record_count: about how many records will come, so that the disk's space is checked at the beginning;
            0: unknown.
        The other arguments and the errors are those of build().
    """

    def __init__(
        self,
        path: PathLike,
        *,
        distance: int = 3,
        bits: Optional[int] = None,
        plan: str = "auto",
        no_ids: bool = False,
        id_index: bool = False,
        names: bool = False,
        first_id: int = 0,
        recipe: Optional[str] = None,
        force: bool = False,
        memory: Optional[Size] = None,
        threads: int = 0,
        tmp_dir: Optional[PathLike] = None,
        block_size: Optional[Size] = None,
        ignore_free_space: bool = False,
        wait: Wait = 0,
        expected_record_count: int = 0,
        skip_bad: SkipBad = False,
        progress: ProgressOption = False,
    ) -> None:
        self.change: Optional[Change] = None
        self._bad = bad_rows_of(skip_bad)
        self._next_id = first_id if not no_ids and self._bad.max_bad != 0 else None
        self._path = path
        self._no_ids = no_ids
        self._has_names = names
        self._call = Call(progress)
        self._words = words_by_recipe(None if bits is None else word_count(bits), recipe)
        self._distance = build_distance(distance, self._words or MAX_WORDS)
        self._options = self._call.options(
            "sstore_write_options",
            distance=self._distance,
            plan=plan,
            no_ids=flag_of(no_ids, "no_ids"),
            id_index=flag_of(id_index, "id_index"),
            names=flag_of(names, "names"),
            first_id=first_id,
            recipe=recipe,
            force=force,
            expected_record_count=expected_record_count,
            **shared_options(memory, threads, tmp_dir, block_size, ignore_free_space, wait),
        )
        self._writer: Optional[Writer] = None
        self._closed = False
        # Without bits the store begins as one of 64 bits, so that errors of the path come here, and not with add().
        if self._words is not None or self._distance <= lib.SSTORE_MAX_BUILD_DISTANCE:
            self._writer = self._begin(self._words or 1)

    def _begin(self, count: int) -> Writer:
        """Begin a store of fingerprints of this many words."""
        build_distance(self._distance, count)
        self._options.fingerprint_bits = 64 * count
        return Writer(self._call, "sstore_builder", lib.sstore_builder_create, self._path, self._options)

    def _writer_for(self, fingerprints: Words) -> Writer:
        """The writer, of as many words as the first fingerprints have."""
        with self._call.lock:
            self._call.check_usable()
            if self._closed or (self._writer is not None and self._writer.closed):
                raise ArgumentError("the builder is closed: it was finished or given up")
            if self._words is None:
                count = words_of(fingerprints)
                if self._writer is not None and count > 1:
                    self._writer.abort()
                    self._writer = None
                if self._writer is None:
                    self._writer = self._begin(count)
                self._words = count
            assert self._writer is not None
            return self._writer

    def add(
        self, fingerprints: ArrayLike, ids: Optional[ArrayLike] = None, names: Optional[StringsLike] = None
    ) -> None:
        """Add records, in any order and with repeats. Either all calls give ids or none does.

        Args:
            fingerprints, ids, names: as build() takes them.

        Raises:
            ArgumentError, FileError, OutOfMemoryError: after the latter two only abort() is possible.
        """
        _check_ids(ids, self._no_ids)
        for piece in pieces(fingerprints, ids, self._words, self._bad, names=given_names(names, self._has_names)):
            self._give(piece)

    def _give(self, piece: Piece) -> None:
        writer, ids = self._writer_for(piece.fingerprints), piece.ids
        if ids is None and piece.names is None and self._next_id is not None:
            ids = _numbered(piece, self._next_id)
            self._next_id += piece.row_count
        fitted(piece.fingerprints, "fingerprints", self._words)
        writer.give_records(piece, ids)

    def finish(self) -> Change:
        """Write and publish the store, durably. After this it survives a power cut.

        Returns:
            The Change: how many records and bytes the store has.

        Raises:
            ArgumentError, FileError, OutOfMemoryError: nothing is left behind, and the builder is closed.
        """
        with self._call:
            writer = self._writer_for(empty(1))
            self._closed = True
            self.change = writer.finish()
        self._bad.tell()
        return self.change

    def abort(self) -> None:
        """Give up. Nothing is left behind."""
        self._closed = True
        if self._writer is not None:
            self._writer.abort()
        self._call.end(False)

    def __enter__(self) -> Builder:
        return self

    def __repr__(self) -> str:
        return f"<sstore.Builder {os.fsdecode(self._path)!r}{', closed' if self._closed else ''}>"

    def __exit__(self, kind: Optional[type[BaseException]], *_: object) -> None:
        if kind is not None:
            self.abort()
        elif not self._closed:
            self.finish()


def build(
    path: PathLike,
    fingerprints: ArrayLike,
    ids: Optional[ArrayLike] = None,
    *,
    names: Union[bool, StringsLike] = False,
    distance: int = 3,
    bits: Optional[int] = None,
    plan: str = "auto",
    no_ids: bool = False,
    id_index: bool = False,
    first_id: int = 0,
    recipe: Optional[str] = None,
    force: bool = False,
    memory: Optional[Size] = None,
    threads: int = 0,
    tmp_dir: Optional[PathLike] = None,
    block_size: Optional[Size] = None,
    ignore_free_space: bool = False,
    skip_bad: SkipBad = False,
    wait: Wait = 0,
    progress: ProgressOption = False,
) -> Change:
    """Build a store.

    Args:
        path: the folder to make.
        fingerprints: of shape (n,): an array of integers, a sequence of int, or Arrow data. Or a table of Arrow with
            the columns "fingerprint" and, optionally, "id", also as a stream that does not fit in memory. An array of
            uint8 of shape (n, 8) has fingerprints as bytes, the most significant first; so has a sequence of bytes.
            Fingerprints of more than 64 bits: an array of integers of shape (n, words), the most significant word
            first, or of uint8 of shape (n, 8 * words), or a sequence of arrays of one of these; bytes of a length of 8
            * words; a sequence of int, with `bits`; or Arrow's binary, or lists of fixed size of 64-bit integers.
            Hashes of images: a sequence of imagehash.ImageHash, or of what pdqhash.compute() returns.
            An array of 64 * words columns that are all 0 or 1, or bool, has single bits, as imagehash makes. An array
            of 64-bit integers of words + 1 columns has fingerprints and ids, as in a .npy file, if `bits` is given;
            two columns need it. Negative numbers of 64 bits are two's complement; those of fewer bits, such as int32,
            are taken without a sign, as unsigned ones of as many bits.
        ids: as many, or None: the records are numbered from first_id on. With names, all records of a name then share
            an id, the number of the first of them.
        names: as many texts, such as paths or URLs: the name of each id, of 1 to 65,536 bytes without null bytes and
            newlines. The store keeps them, and an index of the ids: see Store.names(), Store.get(). A sequence of str
            or bytes, an array of NumPy's texts, or Arrow data: strings, binary, or a dictionary of them. True: the
            column "name" of the table. Records may share an id, which has one name, and ids may share a name.
        distance: the distance in bits to build for, 0 to 16 for each word.
        bits: of a fingerprint: 64, or another multiple of 64 up to 1,024. None: as many as the given ones have; an
            array of 2 to 16 columns of 64-bit integers needs it, unless `ids` are given.
        plan: the tables: "auto"; "20", "16", "10", "4", "3", "2" or "1" (that many tables, for distance 3); "BcC" such
            as "5c2"; "BcC/BcC" such as "4c1/4c1"; or bits and radius of each, such as "24:1,20:0,20:0". See
            plans(). With several words, the tables of each.
        no_ids: True: a store of fingerprints alone. `ids` is then an ArgumentError, and a column "id" is ignored.
        id_index: True: with an index of the ids, which Store.get() and remove() read. It takes about 4.5 bytes for each
            id below 2**32, otherwise about 9.
        first_id: the id of the first record, if there are no ids. Stores that are to be merged need different ones.
        recipe: how the fingerprints were made, at most 4,096 bytes; see text_recipe(). The store keeps it.
        force: replace a store at the path, once the new one is complete.
        memory: what the call may take beside the given arrays, in bytes or such as "4G"; None: 1 GiB. Less than 64 MiB
            may be exceeded.
        threads: 0: all that the process may use.
        tmp_dir: for data that does not fit in memory; None: the new store's folder.
        block_size: bytes of a block, a power of two from 256 to 65,536; None: 4,096.
        ignore_free_space: begin even if the disk seems too small.
        skip_bad: what to do about rows that cannot be read, such as nulls, or bytes of another length than most: False:
            an error, which names the row. True: skip them, and warn. A BadRows: skip them, and report them there. The
            other rows keep their numbers as ids, unless they have names. It is still an error if no row can be read.
        progress: True: a bar, if tqdm is installed; or a function that gets a Progress a few times a second.

    Returns:
        The Change: how many records and bytes the store has.

    Raises:
        ExistsError: there is already something at the path.
        ArgumentError: such as a plan that would miss a pair within the distance.
        FileError: such as too little space on the disk; see `errno`.
        NotFoundError: there is no folder at tmp_dir.
        OutOfMemoryError, BusyError
    """
    _check_ids(ids, no_ids)
    bad, given = bad_rows_of(skip_bad), None
    all_given = names if isinstance(names, bool) else all_names(names)
    if not is_arrow(fingerprints):
        count = words_by_recipe(None if bits is None else word_count(bits), recipe)
        [given] = pieces(fingerprints, ids, count, bad, True, all_given)
        bits = 64 * words_of(given.fingerprints)
    with Builder(
        path,
        distance=distance,
        bits=bits,
        plan=plan,
        no_ids=no_ids,
        id_index=id_index,
        names=all_given is not False,
        first_id=first_id,
        recipe=recipe,
        force=force,
        memory=memory,
        threads=threads,
        tmp_dir=tmp_dir,
        block_size=block_size,
        ignore_free_space=ignore_free_space,
        wait=wait,
        expected_record_count=_length(fingerprints),
        skip_bad=bad,
        progress=progress,
    ) as builder:
        some = [given] if given is not None else pieces(fingerprints, ids, builder._words, bad, True, all_given)
        for piece in some:
            builder._give(piece)
    assert builder.change is not None
    if given is not None and given.ids is not None and not no_ids:
        _warn_of_repeats(given.ids, builder.change)
    return builder.change


def _warn_of_repeats(ids: Words, change: Change) -> None:
    """Warn of records that were given several times, and of ids of several fingerprints."""
    repeats = change.given_count - change.added_count
    if repeats > 0:
        warn(f"{repeats} of {change.given_count} records were given before with the same id", DoubtWarning)
    if len(ids) > _CHECKED_IDS or np.all(ids[1:] > ids[:-1]):
        return
    found, counts = np.unique(ids, return_counts=True)
    if len(ids) - len(found) > repeats:
        _warn_of_ids(1, int(found[counts > 1][0]), False)


def _length(values: object) -> int:
    """The number of records, if it is known before they are read."""
    try:
        return len(values) if isinstance(values, Sized) else 0
    except TypeError:  # of an array without dimensions
        return 0


def add(
    path: PathLike,
    fingerprints: ArrayLike,
    ids: Optional[ArrayLike] = None,
    *,
    names: Optional[StringsLike] = None,
    check_ids: bool = True,
    no_compact: bool = False,
    plan: Optional[str] = None,
    recipe: Optional[str] = None,
    memory: Optional[Size] = None,
    threads: int = 0,
    tmp_dir: Optional[PathLike] = None,
    block_size: Optional[Size] = None,
    ignore_free_space: bool = False,
    skip_bad: SkipBad = False,
    wait: Wait = 0,
    progress: ProgressOption = False,
) -> Change:
    """Add records to a store. Records that it has are not added again.

    A record is a fingerprint with its id. Open stores keep their state; open() and Store.reopen() show the new one.

    Args:
        ids: None: the records get the ids of their names; or, without names, the ids from the store's next id on, so a
            call that is repeated adds all of them again, which a DoubtWarning tells. A store without ids ignores ids,
            with a warning.
        names: as build() takes them, in a store with names; None: those of the column "name" of the table. An id that
            the store has keeps its name: another one is an error. Without ids, all records of a name share the smallest
            id that the name has in the store, or a new one.
        check_ids: count ids that other fingerprints have, in `conflict_count` of the result, and warn of them.
        no_compact: write the records as a segment of their own. Otherwise they are merged with the newest segments of
            the store, as long as these are small or the tiers of compact() say so: small additions do not make many
            segments.
        plan: of the segment that is written; None: the store's, if it was built with a given one, otherwise chosen.
        recipe: if given, the store must have exactly this recipe.
        block_size: None: the store's own.
        tmp_dir: None: the store's folder.
        wait: while another process writes to the store, wait this many seconds; True: until it ends.
        The other arguments are those of build().

    Returns:
        The Change: how many records were added.

    Raises:
        NotFoundError: there is no store at the path.
        BusyError: another process is writing to it, and wait is over.
        RecipeError: the store has another recipe.
        DamagedError, UnsupportedError, ArgumentError, FileError, OutOfMemoryError
    """
    return _add(
        path,
        fingerprints,
        ids,
        names,
        skip_bad,
        progress,
        check_ids=check_ids,
        no_compact=flag_of(no_compact, "no_compact"),
        plan=plan,
        recipe=recipe,
        **shared_options(memory, threads, tmp_dir, block_size, ignore_free_space, wait),
    )


def replace(
    path: PathLike,
    fingerprints: ArrayLike,
    ids: Optional[ArrayLike] = None,
    *,
    names: Optional[StringsLike] = None,
    check_ids: bool = True,
    no_compact: bool = False,
    plan: Optional[str] = None,
    recipe: Optional[str] = None,
    memory: Optional[Size] = None,
    threads: int = 0,
    tmp_dir: Optional[PathLike] = None,
    block_size: Optional[Size] = None,
    ignore_free_space: bool = False,
    skip_bad: SkipBad = False,
    wait: Wait = 0,
    progress: ProgressOption = False,
) -> Change:
    """Add records to a store in place of all records that it has of their ids; in a store with names, of their names.

    Several given records of an id or a name are all added. Readers see the removals and the additions as one change. A
    record that the store has already stays. With an id index the ids are found in a few reads; otherwise all records
    are read. The arguments and the errors are those of add(). A store without ids is an ArgumentError.

    Args:
        ids: None: in a store with names, records share the id of their name, as add() says.
        names: as add() takes them, in a store with names.

    Returns:
        The Change: how many records were added, how many others were removed, and of how many ids or names there was
        none.
    """
    return _add(
        path,
        fingerprints,
        ids,
        names,
        skip_bad,
        progress,
        replace_records=True,
        check_ids=check_ids,
        no_compact=flag_of(no_compact, "no_compact"),
        plan=plan,
        recipe=recipe,
        **shared_options(memory, threads, tmp_dir, block_size, ignore_free_space, wait),
    )


def _add(
    path: PathLike,
    fingerprints: ArrayLike,
    ids: Optional[ArrayLike],
    names: Optional[StringsLike],
    skip_bad: SkipBad,
    progress: ProgressOption,
    **fields: Any,
) -> Change:
    """Add records with these fields of sstore_write_options."""
    with Call(progress) as call:
        options = call.options("sstore_write_options", **fields)
        bad = bad_rows_of(skip_bad)
        with Writer(call, "sstore_builder", lib.sstore_builder_create_addition, path, options) as writer:
            next_id, doubt = None, ""
            with Store(path, io="pread") as store:
                count, all_given = store._words, given_names(names, store.has_names)
            for number, piece in enumerate(pieces(fingerprints, ids, count, bad, True, all_given)):
                names_tell_ids = piece.ids is None and (piece.names is not None or "replace_records" in fields)
                is_compared = bad.max_bad != 0 or piece.ids is not None or len(piece.fingerprints) > 1
                if number == 0 and is_compared and not names_tell_ids:
                    next_id, doubt = _compare(path, piece)
                id_part = piece.ids
                if id_part is None and next_id is not None and bad.max_bad != 0:
                    id_part = _numbered(piece, next_id)
                    next_id += piece.row_count
                writer.give_records(piece, id_part)
            change = writer.finish()
    bad.tell()
    if doubt:
        warn(doubt, DoubtWarning)
    warn_of_conflicts(change)
    return change


def _words_at(path: PathLike) -> int:
    """The words of the fingerprints of a store, which tell its readers how many bits these have."""
    with Store(path, io="pread") as store:
        return store._words


def _compare(path: PathLike, piece: Piece) -> tuple[Optional[int], str]:
    """The next id of a store, None if it has no ids, and what is doubtful about an addition to it. The caller holds the
    store's lock."""
    with Store(path, io="pread") as store:
        if not store.has_ids:
            return None, "the store has no ids, so the given ones are ignored" if piece.ids is not None else ""
        next_id = store.stat().next_id
        some = piece.fingerprints[:: len(piece.fingerprints) // _COMPARED + 1]
        if piece.ids is not None or len(some) < 2 or not all(store.count(fingerprint, 0) for fingerprint in some):
            return next_id, ""
        return next_id, (
            "the store had all added fingerprints, or all that were looked up, and has them again with new ids; a "
            "call that is repeated with the same ids adds nothing"
        )


def remove(
    path: PathLike,
    fingerprints: Optional[ArrayLike] = None,
    ids: Union[int, ArrayLike, None] = None,
    *,
    names: Union[Name, StringsLike, None] = None,
    list_absent: bool = False,
    no_compact: bool = False,
    recipe: Optional[str] = None,
    memory: Optional[Size] = None,
    threads: int = 0,
    tmp_dir: Optional[PathLike] = None,
    block_size: Optional[Size] = None,
    ignore_free_space: bool = False,
    skip_bad: SkipBad = False,
    wait: Wait = 0,
    progress: ProgressOption = False,
) -> Change:
    """Remove records from a store.

    With fingerprints and ids: these records. With fingerprints alone: all records with them. With ids alone: all
    records with these ids, for which the whole store is read, unless it has an id index. With names: all records whose
    ids have one of these names. Records that the store does not have are ignored.
    compact() frees their space. The other arguments and the errors are those of add(). ids alone are an ArgumentError
    if the store has no ids.

    Args:
        fingerprints, ids: as build() takes them; of ids alone also one.
        names: instead of fingerprints and ids: as build() takes them, or one.
        list_absent: with ids alone: the Change lists those of which the store has no record. The list takes 8 bytes for
            each, beside `memory`.

    Returns:
        The Change: how many records were removed, and how many of the given ids or fingerprints the store did not have.
    """
    if (fingerprints is None and ids is None) == (names is None):
        raise TypeError("remove: expected fingerprints, ids or both; or names")
    if flag_of(list_absent, "list_absent") and (ids is None or fingerprints is not None):
        raise ArgumentError("list_absent: only ids that are given without fingerprints are listed")
    absent = Buffers({"id": "u8"}) if list_absent else None
    bad = bad_rows_of(skip_bad)
    with Call(progress) as call:
        options = call.options(
            "sstore_write_options",
            on_absent=ffi.NULL if absent is None else ffi.addressof(lib, "sspy_keep_absent"),
            absent_context=ffi.NULL if absent is None else absent.native,
            no_compact=flag_of(no_compact, "no_compact"),
            recipe=recipe,
            **shared_options(memory, threads, tmp_dir, block_size, ignore_free_space, wait),
        )
        with Writer(call, "sstore_remover", lib.sstore_remover_create, path, options) as writer:
            if names is not None:
                writer.remove_names(asked_names(names))
            elif fingerprints is None:
                given = asked_ids(ids, bad)
                writer.give(lambda r, i, _, n, e: lib.sstore_remover_remove(r, ffi.NULL, i, n, e), given, None)
            else:
                for part, id_part, *_ in pieces(fingerprints, ids, _words_at(path), bad):
                    writer.give(lib.sstore_remover_remove, part, id_part)
            change = writer.finish(absent)
    bad.tell()
    return change


def _merge(call: Call, path: PathLike, inputs: Sequence[PathLike], options: Any) -> Change:
    names = [ffi.new("char[]", encode(name)) for name in inputs]
    change = result("sstore_change")
    call.check(
        lib.sstore_merge(encode(path), ffi.new("const char *[]", names), len(names), options, change, call.error)
    )
    return change_of(change)


def merge(
    path: PathLike,
    inputs: Sequence[PathLike],
    *,
    plan: Optional[str] = None,
    force: bool = False,
    memory: Optional[Size] = None,
    threads: int = 0,
    tmp_dir: Optional[PathLike] = None,
    block_size: Optional[Size] = None,
    id_index: bool = False,
    ignore_free_space: bool = False,
    wait: Wait = 0,
    progress: ProgressOption = False,
) -> Change:
    """Merge stores, such as parts that several machines built, into one at `path`. It holds each of their records once.

    The inputs must be of the same bits, for the same distance, of the same recipe, and all with ids or all without.
    Parts must have different ids (first_id of build()). The inputs are read in order; together they may take half of
    the memory. plan: None: chosen, as by "auto". id_index: also added if all inputs have one. The other arguments, the
    result and the errors are those of build(), and NotFoundError, RecipeError and DamagedError.
    """
    with Call(progress) as call:
        options = call.options(
            "sstore_write_options",
            plan=plan,
            id_index=flag_of(id_index, "id_index"),
            force=force,
            **shared_options(memory, threads, tmp_dir, block_size, ignore_free_space, wait),
        )
        if isinstance(inputs, (str, bytes, os.PathLike)):
            raise TypeError("merge: expected several paths, found one")
        if len(inputs) == 0:
            raise ArgumentError("inputs: expected at least one store")
        return _merge(call, path, inputs, options)


def shard(
    path: PathLike,
    source: PathLike,
    shard: int,
    shard_count: int,
    *,
    plan: Optional[str] = None,
    force: bool = False,
    memory: Optional[Size] = None,
    threads: int = 0,
    tmp_dir: Optional[PathLike] = None,
    block_size: Optional[Size] = None,
    ignore_free_space: bool = False,
    wait: Wait = 0,
    progress: ProgressOption = False,
) -> Change:
    """Write shard number `shard`, from 0, of `shard_count` of the store at `source` into a store at `path`.

    Each record is in exactly one shard, by the hash of its fingerprint. Near-duplicates may be in different ones, so a
    query must search all shards. The other arguments, the result and the errors are those of merge().
    """
    with Call(progress) as call:
        options = call.options(
            "sstore_write_options",
            plan=plan,
            force=force,
            shard=number_of(shard, "shard", _MAX_SHARDS),
            shard_count=number_of(shard_count, "shard_count", _MAX_SHARDS),
            **shared_options(memory, threads, tmp_dir, block_size, ignore_free_space, wait),
        )
        if shard_count == 0:
            raise ArgumentError("shard_count: expected at least one shard")
        return _merge(call, path, [source], options)


def compact(
    path: PathLike,
    *,
    tiered: bool = False,
    plan: Optional[str] = None,
    recipe: Optional[str] = None,
    memory: Optional[Size] = None,
    threads: int = 0,
    tmp_dir: Optional[PathLike] = None,
    block_size: Optional[Size] = None,
    id_index: bool = False,
    ignore_free_space: bool = False,
    wait: Wait = 0,
    progress: ProgressOption = False,
) -> Change:
    """Write one segment of all segments of a store, without removed records.

    With tiered=True, for a store that keeps growing: the newest segment, and each next older one that has at most four
    times the size of the newer ones together, become one, if they are at least four. A single segment is written again
    only if a plan, a block size or an id index is wanted. id_index: add an index of the ids, as build() does. The disk
    needs space for the new segment in addition to the old ones. The other arguments, the result and the errors are
    those of add().
    """
    with Call(progress) as call:
        options = call.options(
            "sstore_write_options",
            plan=plan,
            recipe=recipe,
            id_index=flag_of(id_index, "id_index"),
            **shared_options(memory, threads, tmp_dir, block_size, ignore_free_space, wait),
        )
        change = result("sstore_change")
        scope = lib.SSTORE_COMPACTION_TIERS if flag_of(tiered, "tiered") else lib.SSTORE_COMPACTION_ALL
        call.check(lib.sstore_compact(encode(path), scope, options, change, call.error))
        return change_of(change)


def verify(path: PathLike, *, progress: ProgressOption = False) -> list[Error]:
    """Read, decode and cross-check everything in a store.

    Returns:
        The problems that were found, as exceptions that were not raised: DamagedError with file and offset, FileError
        for a file that cannot be read, UnsupportedError. An empty list: the store is intact.

    Raises:
        NotFoundError: there is no store at the path.
    """
    with Collector(error_of, progress) as call:
        options = call.options("sstore_verify_options")
        status = lib.sstore_verify(encode(path), options, lib.sspy_problem, call.context, call.error)
        # The status repeats the first problem. Raise only what was not reported, and a callback's exception, after
        # which the library returns the problems so far.
        if status != lib.SSTORE_OK and (
            status == lib.SSTORE_STOPPED or message_of(call.error) not in {str(e) for e in call.items}
        ):
            call.check(status)
        if call.exception is not None:
            raise call.exception
        return call.items


def reindex(path: PathLike, *, all: bool = False, wait: Wait = 0, progress: ProgressOption = False) -> int:
    """Rebuild lost or damaged directories of a store from its tables; with all=True also intact ones.

    Returns:
        The number of directories that were rebuilt.

    Raises:
        NotFoundError, BusyError, UnsupportedError, FileError, OutOfMemoryError
        DamagedError: of what cannot be rebuilt: the manifest, a table or the ids.
    """
    with Call(progress) as call:
        count = ffi.new("uint32_t *")
        options = call.options("sstore_reindex_options", all=all, wait_ms=wait_ms(wait))
        call.check(lib.sstore_reindex(encode(path), options, count, call.error))
        return int(count[0])


Objective = Literal["balanced", "size", "latency"]

_OBJECTIVES = {
    "balanced": lib.SSTORE_OBJECTIVE_BALANCED,
    "size": lib.SSTORE_OBJECTIVE_SIZE,
    "latency": lib.SSTORE_OBJECTIVE_LATENCY,
}


@dataclass(frozen=True)
class Plan:
    """The expected costs of a plan. Counts and times are those of one query without a match, within the distance that
    is built for. Times compare plans; they do not predict times of a machine.

    Attributes:
        plan: as build() takes it.
        min_prefix_bits, max_prefix_bits, min_radius, max_radius: of its tables.
        bits_per_fingerprint: of one table.
        total_bytes, bytes_per_record, directory_bytes: of the store; the directory is held in memory.
        probe_count: look-ups of one query: of one prefix each, or of a range of rare ones.
        block_count: blocks that it reads; candidate_count: fingerprints with a probed prefix.
        warm_ns, cold_ns: if all blocks are in memory, or none is.
        is_full_scan: a full scan costs less than the probes; the numbers are those of a full scan.
        is_useful: no plan with fewer tables is as fast.
        is_chosen: the plan for the objective; `reason` says why.
    """

    plan: str
    table_count: int
    min_prefix_bits: int
    max_prefix_bits: int
    min_radius: int
    max_radius: int
    bits_per_fingerprint: float
    total_bytes: float
    bytes_per_record: float
    directory_bytes: float
    probe_count: float
    block_count: float
    candidate_count: float
    warm_ns: float
    cold_ns: float
    is_full_scan: bool
    is_useful: bool
    is_chosen: bool
    reason: str


def plans(
    record_count: Optional[int] = None,
    distance: int = 3,
    *,
    bits: Optional[int] = None,
    sample: Optional[ArrayLike] = None,
    objective: Objective = "balanced",
    max_bytes: Optional[Size] = None,
    no_ids: bool = False,
    block_size: Optional[Size] = None,
) -> list[Plan]:
    """Estimate every plan for a future store, in ascending order of bytes. One of them is chosen.

    Args:
        record_count: of the future store; None: the length of the sample.
        distance: the distance to build for, 0 to 16 for each word.
        bits: of a fingerprint; None: those of the sample, or 64. With several words the plans are those of each word,
            with equal radii; build() chooses the radii of skewed words differently.
        sample: fingerprints like the future ones, about ten thousand: fewer than 1,024 are ignored, and more thinned
            out. None: uniform data.
        objective: "balanced": the smallest warm time * bytes^1.5, as build() chooses. "size": the fewest bytes of
            plans whose query takes at most a millisecond, or ten times the fastest plan's time if that is more.
            "latency": the smallest warm time.
        max_bytes: of the store, in bytes or such as "4G"; None: no limit.
        no_ids, block_size: of the store, as build() takes them.

    Raises:
        ArgumentError: an argument is out of range, or there is no plan within max_bytes.
        TypeError: neither record_count nor a sample is given.
    """
    if objective not in _OBJECTIVES:
        raise ArgumentError(f"objective: expected one of {', '.join(_OBJECTIVES)}, found {objective!r}")
    wanted = None if bits is None else word_count(bits)
    array = None if sample is None else words(sample, "sample", wanted)
    count = wanted or (1 if array is None else words_of(array))
    if record_count is None:
        if array is None:
            raise TypeError("plans: expected record_count or a sample")
        record_count = len(array)
    call = Collector(lambda estimate: copy_fields(Plan, estimate))
    data = pointer(array)
    options = call.options(
        "sstore_plan_options",
        distance=build_distance(distance, count),
        fingerprint_bits=64 * count,
        no_ids=flag_of(no_ids, "no_ids"),
        block_bytes=size_of(block_size, "block_size"),
        objective=_OBJECTIVES[objective],
        record_count=record_count,
        max_bytes=size_of(max_bytes, "max_bytes"),
        sample=data,
        sample_count=0 if array is None else len(array),
    )
    call.check(lib.sstore_plan(options, lib.sspy_plan, call.context, call.error))
    return call.items
