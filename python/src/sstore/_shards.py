"""Shards on a path that machines share: stores that tasks build and publish there, and fetch from there.

A set of shards is a folder with a manifest, shards.json, and the folders that it names. A task publishes its store into
a new folder of its own, the store's MANIFEST last; so a repeated or a killed task changes nothing that another one
reads. The manifest is written last, at once. Readers look only at what it names.
"""

from __future__ import annotations

import errno
import hashlib
import itertools
import json
import os
import pathlib
import shutil
import tempfile
import threading
import uuid
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Optional

from sstore._arrays import Words
from sstore._call import number_of, size_of
from sstore._columns import BatchMatches
from sstore._errors import ArgumentError, DamagedError, Error, ExistsError, FileError, NotFoundError, UnsupportedError
from sstore._join import shard_numbers
from sstore._native import lib
from sstore._store import Store
from sstore._write import Builder

_MANIFEST = "shards.json"
_VERSION = 1
_PIECE = 1 << 22


@dataclass(frozen=True)
class File:
    """A file of a shard."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Shard:
    """A shard: a store in a folder of the shared path."""

    number: int
    folder: str
    record_count: int
    files: tuple[File, ...] = field(repr=False)

    def to_json(self) -> str:
        """For the way from a task to the manifest."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> Shard:
        """The opposite of to_json()."""
        return Shard.of(json.loads(text))

    @staticmethod
    def of(fields: dict[str, Any]) -> Shard:
        """A shard of the fields of a JSON object."""
        return Shard(**{**fields, "files": tuple(File(**file) for file in fields["files"])})


@dataclass(frozen=True)
class ShardManifest:
    """The manifest of a set of shards.

    Attributes:
        shard_count: of the shards that were asked for. Those without records are left out.
        distance: in bits.
        recipe: "" if none is recorded.
        has_ids: whether the records have ids.
        shards: ascending by number.
    """

    shard_count: int
    distance: int
    recipe: str
    has_ids: bool
    shards: tuple[Shard, ...]


class SharedFolder:
    """A folder that all machines reach: a local path, or an address that fsspec knows, such as s3://bucket/docs."""

    def __init__(self, path: str, options: Optional[dict[str, Any]] = None) -> None:
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise ImportError("shards need fsspec: pip install fsspec") from None
        try:
            self._fs, self._root = url_to_fs(path, **(options or {}))
        except (ImportError, OSError, TypeError, ValueError) as error:
            raise ArgumentError(f"{path}: fsspec cannot reach it: {error}") from error
        self._is_local = "file" in (self._fs.protocol if isinstance(self._fs.protocol, tuple) else (self._fs.protocol,))
        self.path = self._root if self._is_local else path

    def name_of(self, *parts: str) -> str:
        """The name of a file in this folder, for messages."""
        return "/".join([self.path.rstrip("/"), *parts])

    def _inner(self, *parts: str) -> str:
        return "/".join([self._root.rstrip("/"), *parts])

    # ----- manifest -----

    def read(self) -> ShardManifest:
        """The published shards."""
        try:
            content = json.loads(self._fs.cat_file(self._inner(_MANIFEST)))
        except FileNotFoundError:
            raise NotFoundError(
                f"{self.name_of(_MANIFEST)}: there are no shards here; build_shards() makes them",
                file=self.name_of(_MANIFEST),
            ) from None
        except ValueError as error:
            raise DamagedError(f"{self.name_of(_MANIFEST)}: {error}", file=self.name_of(_MANIFEST)) from None
        try:
            version = content.pop("version")
            if version == _VERSION:
                return ShardManifest(**{**content, "shards": tuple(map(Shard.of, content["shards"]))})
        except (AttributeError, KeyError, TypeError) as error:
            raise DamagedError(
                f"{self.name_of(_MANIFEST)}: expected a manifest of shards: {error}", file=self.name_of(_MANIFEST)
            ) from None
        raise UnsupportedError(
            f"{self.name_of(_MANIFEST)}: expected version {_VERSION} of the manifest, found {version}",
            file=self.name_of(_MANIFEST),
        )

    def check_new(self, replace: bool) -> None:
        """Fail if there are shards, unless they may be replaced."""
        if not replace and self._fs.exists(self._inner(_MANIFEST)):
            raise ExistsError(
                f"{self.name_of(_MANIFEST)}: there are shards here already; replace=True replaces them",
                file=self.name_of(_MANIFEST),
            )

    def write(self, manifest: ShardManifest) -> None:
        """Publish shards, all together: the manifest is replaced at once."""
        content = json.dumps({"version": _VERSION, **asdict(manifest)}, indent=1).encode()
        if self._is_local:
            os.makedirs(self._root, exist_ok=True)
            new = pathlib.Path(self._inner(f"shard-manifest-{uuid.uuid4().hex}"))
            new.write_bytes(content)
            os.replace(new, self._inner(_MANIFEST))
        else:
            self._fs.pipe_file(self._inner(_MANIFEST), content)

    def remove_others(self, manifest: ShardManifest) -> None:
        """Remove what the manifest does not name: of an earlier build, and of tasks and builds that were killed."""
        named = {shard.folder for shard in manifest.shards}
        for entry in self._fs.ls(self._root, detail=False):
            name = str(entry).rstrip("/").rsplit("/", 1)[-1]
            if name.startswith("shard-") and name not in named:
                self._fs.rm(entry, recursive=True)

    # ----- shards -----

    def publish(self, local: str, number: int, shard_count: int) -> Shard:
        """Copy a store into a new folder, its manifest last."""
        folder = f"shard-{number:05d}-of-{shard_count:05d}-{uuid.uuid4().hex}"
        names = sorted(
            (str(path.relative_to(local)) for path in pathlib.Path(local).rglob("*") if path.is_file()),
            key=lambda name: (name == "MANIFEST", name),
        )
        files = []
        with Store(local) as store:
            record_count = len(store)
        for name in names:
            source, target = f"{local}/{name}", self._inner(folder, name)
            try:
                if self._is_local:
                    os.makedirs(os.path.dirname(target), exist_ok=True)
                    shutil.copyfile(source, target)
                else:
                    self._fs.put_file(source, target)
            except OSError as error:
                raise self._failed(self.name_of(folder, name), "it cannot be written", error) from error
            files.append(File(name, os.path.getsize(source), _digest(source)))
        return Shard(number, folder, record_count, tuple(files))

    def open(self, shard: Shard, cache: str) -> Store:
        """The store of a shard. Where paths are not local, of a copy in a folder on the local disk.

        A shared path is not mapped: another machine may remove or shorten its files, which would end the process.
        """
        if self._is_local:
            for file in shard.files:
                self._check_length(shard, file, self._inner(shard.folder, file.name))
            return Store(self._inner(shard.folder), io="pread")
        copy = pathlib.Path(cache, shard.folder)
        if copy.exists():
            try:
                return Store(copy)
            except DamagedError:
                shutil.rmtree(copy)
        self._fetch(shard, copy)
        return Store(copy)

    def _fetch(self, shard: Shard, copy: pathlib.Path) -> None:
        """Copy a shard to the local disk. A file of a wrong length or checksum is damaged."""
        try:
            with tempfile.TemporaryDirectory(dir=copy.parent) as folder:
                for file in shard.files:
                    path = pathlib.Path(folder, shard.folder, file.name)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    try:
                        self._fs.get_file(self._inner(shard.folder, file.name), str(path))
                    except FileNotFoundError:
                        raise self._missing(shard, file) from None
                    self._check_length(shard, file, str(path))
                    if _digest(str(path)) != file.sha256:
                        raise self._damaged(shard, file, "its checksum is not that of the manifest")
                try:
                    os.rename(pathlib.Path(folder, shard.folder), copy)
                except OSError:
                    if not copy.exists():  # otherwise another process was faster
                        raise
        except OSError as error:
            if isinstance(error, Error):
                raise
            raise self._failed(self.name_of(shard.folder), f"it cannot be copied to {copy.parent}", error) from error

    def _check_length(self, shard: Shard, file: File, path: str) -> None:
        try:
            found = os.path.getsize(path)
        except FileNotFoundError:
            raise self._missing(shard, file) from None
        if found != file.bytes:
            raise self._damaged(shard, file, f"expected {file.bytes} bytes, found {found}")

    @staticmethod
    def _failed(name: str, what: str, error: OSError) -> FileError:
        return FileError(f"{name}: {what}: {error.strerror or error}", file=name, errno=error.errno)

    def _missing(self, shard: Shard, file: File) -> Error:
        if shard not in self.read().shards:
            name = self.name_of(shard.folder)
            return NotFoundError(f"{name}: the shards were replaced meanwhile; query the new ones", file=name)
        return self._damaged(shard, file, "it is missing")

    def _damaged(self, shard: Shard, file: File, what: str) -> DamagedError:
        name = self.name_of(shard.folder, file.name)
        return DamagedError(f"{name}: {what}; build the shards again", file=name)


@dataclass(frozen=True)
class ShardBuild:
    """A build of shards: what each of its tasks needs to know."""

    folder: SharedFolder
    shard_count: int
    distance: int
    plan: str
    recipe: Optional[str]
    memory: str
    replace: bool
    has_ids: bool

    def check(self) -> None:
        """Fail where the tasks would, or if there are shards that may not be replaced."""
        if number_of(self.shard_count, "shards", 1 << 20) == 0:
            raise ArgumentError("shards: expected at least 1, found 0")
        number_of(self.distance, "distance", lib.SSTORE_MAX_BUILD_DISTANCE)
        size_of(self.memory, "memory")
        self.folder.check_new(self.replace)

    def build(self, batches: Iterable[tuple[Words, Optional[Words]]]) -> Iterator[str]:
        """What a task does: build the store of one shard on the local disk, and publish it. Yields what finish() needs;
        nothing if there are no records."""
        filled = (batch for batch in batches if len(batch[0]) > 0)
        first = next(filled, None)
        if first is None:
            return
        shard = int(shard_numbers(first[0][:1], self.shard_count)[0])
        try:
            with tempfile.TemporaryDirectory(prefix="sstore-") as folder:
                with Builder(
                    f"{folder}/store",
                    distance=self.distance,
                    plan=self.plan,
                    with_ids=self.has_ids,
                    recipe=self.recipe,
                    memory=self.memory,
                    threads=1,
                ) as builder:
                    for fingerprints, ids in itertools.chain([first], filled):
                        builder.add(fingerprints, ids)
                made = self.folder.publish(f"{folder}/store", shard, self.shard_count)
        except OSError as error:
            name = f"{self.folder.path}: shard {shard} of {self.shard_count}"
            raise FileError(f"{name}: {error}", file=error.filename, errno=error.errno) from error
        yield made.to_json()

    def finish(self, built: Iterable[str]) -> ShardManifest:
        """Publish the shards that the tasks built."""
        shards = sorted(map(Shard.from_json, built), key=lambda shard: shard.number)
        manifest = ShardManifest(self.shard_count, self.distance, self.recipe or "", self.has_ids, tuple(shards))
        self.folder.check_new(self.replace)
        self.folder.write(manifest)
        self.folder.remove_others(manifest)
        return manifest


def _digest(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()


# ----- stores that a worker keeps open between tasks -----

_MAX_OPEN = 64
_open_stores: OrderedDict[tuple[str, str], Store] = OrderedDict()
_lock = threading.Lock()


def _cache_of(folder: SharedFolder) -> str:
    """Where copies of a folder's shards are kept: below SSTORE_CACHE, or below a folder of the user among the temporary
    files."""
    parent = os.environ.get("SSTORE_CACHE") or os.path.join(tempfile.gettempdir(), f"sstore-shards-{os.getuid()}")
    made = os.path.join(parent, hashlib.sha256(folder.path.encode()).hexdigest()[:16])
    try:
        os.makedirs(parent, mode=0o700, exist_ok=True)
        os.makedirs(made, mode=0o700, exist_ok=True)
    except OSError as error:
        raise FileError(f"{made}: cannot be created: {error.strerror}", file=made, errno=error.errno) from error
    if os.stat(made).st_uid != os.getuid():
        raise FileError(f"{made}: another user owns it; set SSTORE_CACHE to a folder of your own", errno=errno.EPERM)
    return made


def open_shard(folder: SharedFolder, manifest: ShardManifest, number: int) -> Store:
    """An open store of a shard. A shard that was published anew has another folder, and so is opened anew."""
    shard = manifest.shards[number]
    key = (folder.path, shard.folder)
    with _lock:
        store = _open_stores.pop(key, None)
        if store is None:
            cache = _cache_of(folder)
            named = {shard.folder for shard in manifest.shards}
            for copy in pathlib.Path(cache).glob("shard-*"):
                if copy.name not in named:  # of shards that were replaced
                    shutil.rmtree(copy, ignore_errors=True)
            store = folder.open(shard, cache)
        _open_stores[key] = store
        while len(_open_stores) > _MAX_OPEN:
            _open_stores.popitem(last=False)  # closed when no task uses it
        return store


def query_shard(
    folder: SharedFolder, manifest: ShardManifest, number: int, queries: Words, distance: int
) -> Iterator[BatchMatches]:
    """The matches of queries in a shard. After an error, the next task opens and copies the shard anew."""
    store = open_shard(folder, manifest, number)
    try:
        yield from store.iter_query_batch(queries, distance, threads=1)
    except (DamagedError, FileError):
        shard = manifest.shards[number].folder
        with _lock:
            _open_stores.pop((folder.path, shard), None)
            shutil.rmtree(pathlib.Path(_cache_of(folder), shard), ignore_errors=True)
        raise
