"""A store of several segments: its records (sstore-format.md, section 3.3) and the full check (sections 12 and 16.4)."""

import heapq
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import TypeVar

from faults import Damaged, Fault, NoStore
from folder import MANIFEST_NAME, Folder, Missing
from manifest import KIND_ADDS, MAX_BYTES, MIN_BYTES, Manifest, Segment, parse_manifest
from segment import (
    Record,
    check_counts,
    check_directory,
    check_ids_written,
    check_names,
    check_same_fingerprints,
    check_table_written,
    content_sum,
    id_index_records,
    read_table,
    records_of,
    segment_names,
    word_records,
)

Result = TypeVar("Result")


def read_manifest(folder: Folder) -> tuple[bytes, Manifest]:
    try:
        data = folder.read(MANIFEST_NAME, bounds=(MIN_BYTES, MAX_BYTES))
    except Missing as missing:
        raise NoStore("there is no manifest", missing.path)
    return data, parse_manifest(data, folder.path_of(MANIFEST_NAME))


def with_manifest(folder: Folder, work: Callable[[Manifest], Result]) -> Result:
    """Do the work. If a file is missing and the manifest has changed, do it again (section 12, step 6)."""
    data, manifest = read_manifest(folder)
    while True:
        try:
            return work(manifest)
        except Missing as missing:
            data_before = data
            data, manifest = read_manifest(folder)
            if data == data_before:
                raise Damaged("missing", missing.path)


def segment_records(store: Folder, segment: Segment) -> list[Record]:
    with store.open_folder(segment.folder_name) as folder:
        _, fingerprints = read_table(folder, segment, 0)
        return list(records_of(folder, segment, fingerprints))


def dump_lines(path: str) -> Iterator[str]:
    """All records of the store as lines of text, as 'sstore dump' prints them."""
    fingerprint_bits, records = read_records(path)
    digits = fingerprint_bits // 4
    for fingerprint, record_id in records:
        yield f"{fingerprint:0{digits}x}\t{'-' if record_id is None else record_id}\n"


def dump(path: str) -> Iterator[Record]:
    """All records of the store, ascending."""
    return read_records(path)[1]


def read_records(path: str) -> tuple[int, Iterator[Record]]:
    """The bits of a fingerprint, and all records, ascending."""
    with Folder.open_store(path) as store:
        return with_manifest(
            store,
            lambda manifest: (
                manifest.fingerprint_bits,
                merge_segments(path, [(segment.kind, segment_records(store, segment)) for segment in manifest.segments]),
            ),
        )


def merge_segments(path: str, segments: list[tuple[int, list[Record]]]) -> Iterator[Record]:
    """The records with the sum 1 over the segments, ascending. A segment is (kind, records)."""
    parts = [[(record, 1 if kind == KIND_ADDS else -1) for record in records] for kind, records in segments]
    merged = heapq.merge(*parts, key=lambda item: item[0])
    for record, items in groupby(merged, key=lambda item: item[0]):
        total = sum(sign for _, sign in items)
        if total not in (0, 1):
            raise Damaged(f"segments add {record} {total} times", path)
        if total == 1:
            yield record


class Check:
    """Collects faults, so that one does not hide another."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def run(self, step: Callable[..., object], *arguments: object) -> object:
        """Call a function and return its result, or None after a fault."""
        try:
            return step(*arguments)
        except Fault as fault:
            self.faults.append(fault)
            return None


def verify_segment(store: Folder, segment: Segment, check: Check) -> list[Record] | None:
    """Check a segment, or an index. `store` is the folder that contains its own. Returns its records, or None after a
    fault."""
    with store.open_folder(segment.folder_name) as folder:
        check.run(check_directory, folder, segment)
        fingerprints: list[int] | None = None
        for number in range(len(segment.tables)):
            table = check.run(read_table, folder, segment, number)
            if table is None:
                continue
            file, permuted = table
            check.run(check_counts, file, segment, permuted)
            check.run(check_table_written, file, segment, permuted)
            if number == 0:
                fingerprints = permuted
            elif fingerprints is not None:
                check.run(check_same_fingerprints, folder, segment, number, permuted, fingerprints)
        for index in segment.word_indexes:
            found = verify_segment(folder, index, check)
            if found is not None and fingerprints is not None and found != word_records(fingerprints, segment.fingerprint_bits, index.word):
                check.faults.append(Damaged("not the words of table 0 with their ranks", folder.path_of(index.folder_name)))
        if fingerprints is None:
            return None
        records = check.run(lambda: list(records_of(folder, segment, fingerprints)))
        if segment.id_index is not None:
            found = verify_segment(folder, segment.id_index, check)
            if None not in (found, records) and found != id_index_records(records, fingerprints, segment.id_index.is_packed):
                check.faults.append(Damaged("not the ids with their ranks", folder.path_of(segment.id_index.folder_name)))
        if segment.names is not None:
            ids = None if records is None else {record_id for _, record_id in records if record_id is not None}
            verify_names(folder, segment.names, ids, check)
        if records is not None:
            check.run(check_ids_written, folder, segment)
        if records is not None and content_sum(records, segment.fingerprint_bits) != segment.content_sum:
            check.faults.append(Damaged("the content sum is not the manifest's", folder.path))
        return records


def verify_names(store: Folder, names: Segment, ids: set[int] | None, check: Check) -> None:
    """Check a name part, whose folder is in `store`."""
    with store.open_folder(names.folder_name) as folder:
        check.run(check_directory, folder, names)
        table = check.run(read_table, folder, names, 0)
        values = None
        if table is not None:
            file, values = table
            check.run(check_counts, file, names, values)
            check.run(check_table_written, file, names, values)
        check.run(check_names, folder, names, values, ids)


def verify_same_names(store: Folder, manifest: Manifest) -> None:
    """All segments that have a name for an id have the same (section 18)."""
    known: dict[int, bytes] = {}
    for segment in manifest.segments:
        for name_id, name in names_of_segment(store, segment):
            if known.setdefault(name_id, name) != name:
                raise Damaged(f"id {name_id} has several names", store.path_of(segment.folder_name))


def names_of_segment(store: Folder, segment: Segment) -> list[tuple[int, bytes]]:
    if segment.names is None:
        return []
    with store.open_folder(segment.folder_name) as folder, folder.open_folder(segment.names.folder_name) as inner:
        return segment_names(inner, segment.names)


def names(path: str) -> dict[int, bytes]:
    """The names of all ids that segments have names for."""
    with Folder.open_store(path) as store:
        return with_manifest(
            store, lambda manifest: {key: name for segment in manifest.segments for key, name in names_of_segment(store, segment)}
        )


def verify_order(path: str, manifest: Manifest, records: list[list[Record]]) -> None:
    """Check that each segment adds only records that the older ones leave absent, and removes only records that they leave
        present."""
    present: set[Record] = set()
    for segment, added_or_removed in zip(manifest.segments, records):
        for fingerprint, record_id in added_or_removed:
            record = (fingerprint, record_id)
            if (record in present) == (segment.kind == KIND_ADDS):
                what = "adds a present record" if segment.kind == KIND_ADDS else "removes an absent record"
                raise Damaged(f"{what}: {fingerprint:016x}, id {record_id}", f"{path}/{segment.folder_name}")
        if segment.kind == KIND_ADDS:
            present.update(added_or_removed)
        else:
            present.difference_update(added_or_removed)


def verify_next_id(path: str, manifest: Manifest, records: list[list[Record]]) -> None:
    """Section 3.1: above every id that was given, or the highest number; 0 in a store without ids."""
    highest = max((record_id for part in records for _, record_id in part if record_id is not None), default=-1)
    if manifest.next_id < min(highest + 1, 2**64 - 1) or (manifest.next_id and not manifest.has_ids):
        raise Damaged(f"next id {manifest.next_id} after id {highest}", f"{path}/{MANIFEST_NAME}", 48)


def verify(path: str) -> list[Fault]:
    """All faults that a full check finds."""

    def check_all(manifest: Manifest) -> list[Fault]:
        check = Check()
        records = [verify_segment(store, segment, check) for segment in manifest.segments]
        if all(part is not None for part in records):
            check.run(verify_order, path, manifest, records)
            check.run(verify_next_id, path, manifest, records)
        if not check.faults:
            check.run(verify_same_names, store, manifest)
        return check.faults

    with Folder.open_store(path) as store:
        try:
            return with_manifest(store, check_all)
        except Fault as fault:
            return [fault]
