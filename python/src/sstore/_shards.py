"""Shards on a path that machines share: stores that tasks build and publish there, and fetch from there.

A set of shards is a folder with a manifest, shards.json, and the folders that it names. A task publishes its store into
a new folder of its own, the store's MANIFEST last; so a repeated or a killed task changes nothing that another one
reads. The manifest is written last, at once. Readers look only at what it names.
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import shutil
import tempfile
import threading
import uuid
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Optional

from sstore._arrays import Words
from sstore._errors import DamagedError, Error, ExistsError, FileError, NotFoundError, UnsupportedError
from sstore._join import shard_numbers
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
    files: tuple[File, ...]

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
class Shards:
    """What a manifest says."""

    shard_count: int
    distance: int
    recipe: str
    has_ids: bool
    shards: tuple[Shard, ...]


class Place:
    """A folder that all machines reach: a local path, or an address that fsspec knows, such as s3://bucket/docs."""

    def __init__(self, path: str, options: Optional[dict[str, Any]] = None) -> None:
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise ImportError("shards need fsspec: pip install fsspec") from None
        self.path, self.options = path, options or {}
        self._fs, self._root = url_to_fs(path, **self.options)
        self._is_local = "file" in (self._fs.protocol if isinstance(self._fs.protocol, tuple) else (self._fs.protocol,))

    def name_of(self, *parts: str) -> str:
        """The name of a file below this place, for messages."""
        return "/".join([self.path.rstrip("/"), *parts])

    def _inner(self, *parts: str) -> str:
        return "/".join([self._root.rstrip("/"), *parts])

    # ----- manifest -----

    def read(self) -> Shards:
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
            if content.pop("version") != _VERSION:
                raise UnsupportedError(f"{self.name_of(_MANIFEST)}: this version of sstore does not know its version")
            shards = tuple(map(Shard.of, content.pop("shards")))
            return Shards(**content, shards=shards)
        except (AttributeError, KeyError, TypeError) as error:
            raise DamagedError(
                f"{self.name_of(_MANIFEST)}: expected a manifest of shards: {error}", file=self.name_of(_MANIFEST)
            ) from None

    def check_new(self, replace: bool) -> None:
        """Fail if there are shards, unless they may be replaced."""
        if not replace and self._fs.exists(self._inner(_MANIFEST)):
            raise ExistsError(
                f"{self.name_of(_MANIFEST)}: there are shards here already; replace=True replaces them",
                file=self.name_of(_MANIFEST),
            )

    def write(self, shards: Shards) -> None:
        """Publish shards, all together; then remove the folders of tasks and builds that are not named."""
        content = json.dumps({"version": _VERSION, **asdict(shards)}, indent=1).encode()
        if self._is_local:
            new = pathlib.Path(self._inner(f".{_MANIFEST}-{uuid.uuid4().hex}"))
            new.write_bytes(content)
            os.replace(new, self._inner(_MANIFEST))
        else:
            self._fs.pipe_file(self._inner(_MANIFEST), content)

    def remove_others(self, shards: Shards) -> None:
        """Remove folders of shards that the manifest does not name: of an earlier build, and of tasks that failed."""
        named = {shard.folder for shard in shards.shards}
        for entry in self._fs.ls(self._root, detail=False):
            folder = str(entry).rstrip("/").rsplit("/", 1)[-1]
            if folder.startswith("shard-") and folder not in named:
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

    def fetch(self, shard: Shard, cache: str) -> str:
        """The path of a store, on the local disk. A file of a wrong length or checksum is damaged."""
        if self._is_local:
            for file in shard.files:
                self._check_length(shard, file, self._inner(shard.folder, file.name))
            return self._inner(shard.folder)
        target = pathlib.Path(cache, shard.folder)
        if target.exists():
            return str(target)
        os.makedirs(cache, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            for file in shard.files:
                path = pathlib.Path(folder, shard.folder, file.name)
                path.parent.mkdir(parents=True, exist_ok=True)
                try:
                    self._fs.get_file(self._inner(shard.folder, file.name), str(path))
                except FileNotFoundError:
                    raise self._missing(shard, file) from None
                except OSError as error:
                    name = self.name_of(shard.folder, file.name)
                    raise self._failed(name, f"it cannot be copied to {cache}", error) from error
                self._check_length(shard, file, str(path))
                if _digest(str(path)) != file.sha256:
                    raise self._damaged(shard, file, "its checksum is not that of the manifest")
            try:
                os.rename(pathlib.Path(folder, shard.folder), target)
            except OSError:
                if not target.exists():  # otherwise another process was faster
                    raise
        return str(target)

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

    path: str
    storage_options: Optional[dict[str, Any]]
    shard_count: int
    distance: int
    plan: str
    recipe: Optional[str]
    memory: str
    has_ids: bool

    def build(self, batches: Iterable[tuple[Words, Optional[Words]]]) -> Iterator[str]:
        """What a task does: build the store of one shard on the local disk, and publish it. Yields what finish() needs;
        nothing if there are no records."""
        shard: Optional[int] = None
        with tempfile.TemporaryDirectory(prefix="sstore-") as folder:
            local = f"{folder}/store"
            builder = Builder(
                local,
                distance=self.distance,
                plan=self.plan,
                with_ids=self.has_ids,
                recipe=self.recipe,
                memory=self.memory,
                threads=1,
            )
            try:
                with builder:
                    for fingerprints, ids in batches:
                        if len(fingerprints) > 0:
                            shard = int(shard_numbers(fingerprints[:1], self.shard_count)[0])
                            builder.add(fingerprints, ids)
            except FileError as error:
                name = f"{self.path}: shard {shard} of {self.shard_count}"
                raise FileError(f"{name}: {error}", file=error.file, errno=error.errno) from error
            if shard is not None:
                yield Place(self.path, self.storage_options).publish(local, shard, self.shard_count).to_json()

    def finish(self, built: Iterable[str]) -> Shards:
        """Publish the shards that the tasks built."""
        found = sorted(map(Shard.from_json, built), key=lambda shard: shard.number)
        made = Shards(self.shard_count, self.distance, self.recipe or "", self.has_ids, tuple(found))
        place = Place(self.path, self.storage_options)
        place.write(made)
        place.remove_others(made)
        return made


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


def default_cache() -> str:
    """Where fetched shards are kept: SSTORE_CACHE, or a folder of the user below the folder for temporary files."""
    return os.environ.get("SSTORE_CACHE") or os.path.join(tempfile.gettempdir(), f"sstore-shards-{os.getuid()}")


def open_shard(place: Place, shard: Shard) -> Store:
    """An open store of a shard. A shard that was published anew has another folder, and so is opened anew."""
    key = (place.path, shard.folder)
    with _lock:
        store = _open_stores.pop(key, None)
        if store is None:
            store = Store(place.fetch(shard, default_cache()))
        _open_stores[key] = store
        while len(_open_stores) > _MAX_OPEN:
            _open_stores.popitem(last=False)  # closed when no task uses it
        return store
