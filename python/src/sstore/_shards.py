"""Shards on a path that machines share: stores that tasks build and publish there, and fetch from there.

A set of shards is a folder with a manifest, shards.json, and the folders that it names. A task publishes its store into
a new folder of its own, the store's MANIFEST last; so a repeated or a killed task changes nothing that another one
reads. The manifest is written last, at once. Readers look only at what it names.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import json
import os
import pathlib
import re
import shutil
import stat
import tempfile
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Optional

from sstore._arrays import MAX_WORDS, Words
from sstore._call import count_of, flag_of
from sstore._columns import BatchMatches
from sstore._errors import ArgumentError, DamagedError, Error, ExistsError, FileError, NotFoundError, UnsupportedError
from sstore._join import shard_numbers
from sstore._native import lib
from sstore._store import Store
from sstore._write import Builder

_MANIFEST = "shards.json"
_VERSION = 1
_WIDE_VERSION = 2  # if fingerprints have more than 64 bits; it has the field "bits"
_MAX_SHARDS = 1 << 20
_DAY = 24 * 60 * 60
_FOLDER = re.compile(r"shard-[0-9]{5,7}-of-[0-9]{5,7}-[0-9a-f]{32}")
_NEW_MANIFEST = re.compile(r"shard-manifest-[0-9a-f]{32}")
_FILE = re.compile(r"([A-Za-z0-9_-][A-Za-z0-9._-]*/){0,2}[A-Za-z0-9_-][A-Za-z0-9._-]*")
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
        """A shard of the fields of a JSON object. ValueError if they have wrong values."""
        shard = Shard(**{**fields, "files": tuple(File(**file) for file in fields["files"])})
        names = [file.name for file in shard.files]
        _expect(_is_count(shard.number) and _is_count(shard.record_count), "numbers")
        _expect(isinstance(shard.folder, str) and _FOLDER.fullmatch(shard.folder) is not None, "names of folders")
        for file in shard.files:
            _expect(isinstance(file.name, str) and _FILE.fullmatch(file.name) is not None, "names of files")
            _expect(
                _is_count(file.bytes) and isinstance(file.sha256, str) and len(file.sha256) == 64, "lengths and sums"
            )
        _expect(len(set(names)) == len(names) and "MANIFEST" in names, "different files and a MANIFEST")
        return shard


def _expect(condition: bool, what: str) -> None:
    if not condition:
        raise ValueError(f"expected {what}")


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 63


@dataclass(frozen=True)
class ShardManifest:
    """The manifest of a set of shards.

    Attributes:
        shard_count: of the shards that were asked for. Those without records are left out.
        distance: in bits.
        recipe: "" if none is recorded.
        has_ids: whether the records have ids.
        shards: ascending by number.
        bits: of a fingerprint.
        has_names: whether their ids are texts, which the stores have as names.
    """

    shard_count: int
    distance: int
    recipe: str
    has_ids: bool
    shards: tuple[Shard, ...]
    bits: int = 64
    has_names: bool = False

    @property
    def words(self) -> int:
        """The words of a fingerprint."""
        return self.bits // 64

    def to_json(self) -> str:
        """The content of the manifest's file."""
        fields = asdict(self)
        if self.bits == 64:
            del fields["bits"]
        if not self.has_names:
            del fields["has_names"]
        return json.dumps({"version": _VERSION if self.bits == 64 else _WIDE_VERSION, **fields}, indent=1)

    @staticmethod
    def of(fields: dict[str, Any]) -> ShardManifest:
        """A manifest of the fields of a JSON object. ValueError if they have wrong values."""
        _expect(isinstance(fields["shards"], list), "a list of shards")
        made = ShardManifest(**{**fields, "shards": tuple(map(Shard.of, fields["shards"]))})
        _expect(_is_count(made.shard_count) and 1 <= made.shard_count <= _MAX_SHARDS, "a number of shards")
        is_width = _is_count(made.bits) and made.bits % 64 == 0 and 1 <= made.words <= MAX_WORDS
        _expect(is_width, "bits of fingerprints")
        limit = lib.SSTORE_MAX_BUILD_DISTANCE * made.words
        _expect(_is_count(made.distance) and made.distance <= limit, "a distance")
        _expect(isinstance(made.recipe, str) and isinstance(made.has_ids, bool), "a recipe, and whether there are ids")
        _expect(isinstance(made.has_names, bool) and made.has_ids >= made.has_names, "names only of records with ids")
        numbers = [shard.number for shard in made.shards]
        _expect(len(set(numbers)) == len(numbers) and max(numbers, default=0) < made.shard_count, "different numbers")
        return made


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
        self.is_local = "file" in (self._fs.protocol if isinstance(self._fs.protocol, tuple) else (self._fs.protocol,))
        self.path = self._root if self.is_local else path

    def name_of(self, *parts: str) -> str:
        """The name of a file in this folder, for messages."""
        return "/".join([self.path.rstrip("/"), *parts])

    def _inner(self, *parts: str) -> str:
        return "/".join([self._root.rstrip("/"), *parts])

    # ----- manifest -----

    def read(self) -> ShardManifest:
        """The published shards."""
        name = self.name_of(_MANIFEST)
        try:
            content = json.loads(self._fs.cat_file(self._inner(_MANIFEST)))
            version = content.pop("version")
            if type(version) is not int or version not in (_VERSION, _WIDE_VERSION):
                raise UnsupportedError(
                    f"{name}: expected version {_VERSION} or {_WIDE_VERSION} of the manifest, found {version}",
                    file=name,
                )
            made = ShardManifest.of(content)
            _expect((made.bits == 64) == (version == _VERSION), "64 bits in version 1, and more in version 2")
            return made
        except FileNotFoundError:
            raise NotFoundError(f"{name}: there are no shards here; build_shards() makes them", file=name) from None
        except OSError as error:
            raise self._failed(name, "it cannot be read", error) from error
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            raise DamagedError(f"{name}: expected a manifest of shards: {error}", file=name) from None

    def check_new(self, force: bool) -> None:
        """Fail if there are shards, unless they may be replaced."""
        if not force and self._fs.exists(self._inner(_MANIFEST)):
            raise ExistsError(
                f"{self.name_of(_MANIFEST)}: there are shards here already; force=True replaces them",
                file=self.name_of(_MANIFEST),
            )

    def write(self, manifest: ShardManifest) -> None:
        """Publish shards, all together: the manifest is replaced at once."""
        for shard in manifest.shards:
            [file] = [file for file in shard.files if file.name == "MANIFEST"]
            name = self.name_of(shard.folder, file.name)
            try:
                found = self._fs.info(self._inner(shard.folder, file.name))["size"]
            except FileNotFoundError:
                found = None
            except OSError as error:
                raise self._failed(name, "it cannot be read", error) from error
            if found != file.bytes:
                raise NotFoundError(
                    f"{name}: a task wrote it, but it is not seen here: either the path is not shared, or another "
                    "build removed it",
                    file=name,
                )
        content = manifest.to_json().encode()
        try:
            if not self.is_local:
                self._fs.pipe_file(self._inner(_MANIFEST), content)
                return
            os.makedirs(self._root, exist_ok=True)
            new = pathlib.Path(self._inner(f"shard-manifest-{uuid.uuid4().hex}"))
            try:
                new.write_bytes(content)
                os.replace(new, self._inner(_MANIFEST))
            except OSError:
                new.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise self._failed(self.name_of(_MANIFEST), "it cannot be written", error) from error

    def remove_others(self, manifest: ShardManifest) -> None:
        """Remove what the manifest does not name: of an earlier build, and of tasks and builds that were killed. What
        cannot be removed stays until the next build."""
        named = {shard.folder for shard in manifest.shards}
        with contextlib.suppress(OSError):
            for entry in self._fs.ls(self._root, detail=False):
                name = str(entry).rstrip("/").rsplit("/", 1)[-1]
                if name not in named and (_FOLDER.fullmatch(name) or _NEW_MANIFEST.fullmatch(name)):
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
                if self.is_local:
                    os.makedirs(os.path.dirname(target), exist_ok=True)
                    shutil.copyfile(source, target)
                else:
                    self._fs.put_file(source, target)
            except OSError as error:
                with contextlib.suppress(OSError):
                    self._fs.rm(self._inner(folder), recursive=True)
                raise self._failed(self.name_of(folder, name), "it cannot be written", error) from error
            files.append(File(name, os.path.getsize(source), _digest(source)))
        return Shard(number, folder, record_count, tuple(files))

    def open(self, shard: Shard, cache: Optional[str]) -> Store:
        """The store of a shard: of a copy in a folder on the local disk; or, if cache is None, at the shared path.

        A shared path is not mapped: another machine may remove or shorten its files, which would end the process.
        """
        if cache is None:
            for file in shard.files:
                self._check_length(shard, file, self._inner(shard.folder, file.name))
            return self._opened(shard, Store(self._inner(shard.folder), io="pread"))
        copy = pathlib.Path(cache, shard.folder)
        if os.path.lexists(copy):
            try:
                os.utime(copy)
                return self._opened(shard, Store(copy))
            except (DamagedError, NotFoundError, OSError):
                _remove_copy(copy)
        self._fetch(shard, copy)
        return self._opened(shard, Store(copy))

    def _opened(self, shard: Shard, store: Store) -> Store:
        if len(store) != shard.record_count:
            what = f"expected {shard.record_count} records, as the manifest says, found {len(store)}"
            raise self._damaged(shard, shard.files[-1], what)
        return store

    def _fetch(self, shard: Shard, copy: pathlib.Path) -> None:
        """Copy a shard to the local disk. A file of a wrong length or checksum is damaged."""
        try:
            with tempfile.TemporaryDirectory(prefix="fetch-", dir=copy.parent) as folder:
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
    force: bool
    has_ids: bool
    words: int = 1  # of a fingerprint
    has_names: bool = False

    def check(self) -> None:
        """Fail where the tasks would, or if there are shards that may not be replaced."""
        count_of(self.shard_count, "shards", _MAX_SHARDS)
        flag_of(self.force, "force")
        with tempfile.TemporaryDirectory(prefix="sstore-") as folder:
            self._builder(f"{folder}/store").abort()
        self.folder.check_new(self.force)

    def _builder(self, path: str) -> Builder:
        return Builder(
            path,
            distance=self.distance,
            bits=64 * self.words,
            plan=self.plan,
            no_ids=not self.has_ids,
            names=self.has_names,
            recipe=self.recipe,
            memory=self.memory,
            threads=1,
        )

    def build(self, batches: Iterable[tuple[Words, Any]]) -> Iterator[str]:
        """What a task does: build the store of one shard on the local disk, and publish it. Takes fingerprints with
        their ids or names, or None. Yields what finish() needs; nothing if there are no records."""
        filled = (batch for batch in batches if len(batch[0]) > 0)
        first = next(filled, None)
        if first is None:
            return
        shard = int(shard_numbers(first[0][:1], self.shard_count)[0])
        try:
            with tempfile.TemporaryDirectory(prefix="sstore-") as folder:
                with self._builder(f"{folder}/store") as builder:
                    for fingerprints, ids in itertools.chain([first], filled):
                        builder.add(fingerprints, **({"names": ids} if self.has_names else {"ids": ids}))
                made = self.folder.publish(f"{folder}/store", shard, self.shard_count)
        except (Error, OSError) as error:
            kind = type(error) if isinstance(error, Error) else FileError
            name = f"{self.folder.path}: shard {shard} of {self.shard_count}"
            raise kind(f"{name}: {error}", file=getattr(error, "filename", None)) from error
        yield made.to_json()

    def finish(self, built: Iterable[str]) -> ShardManifest:
        """Publish the shards that the tasks built."""
        shards = sorted(map(Shard.from_json, built), key=lambda shard: shard.number)
        manifest = ShardManifest(
            self.shard_count,
            self.distance,
            self.recipe or "",
            self.has_ids,
            tuple(shards),
            64 * self.words,
            self.has_names,
        )
        self.folder.check_new(self.force)
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


def _cache_of(folder: SharedFolder) -> Optional[str]:
    """Where copies of a folder's shards are kept: below SSTORE_CACHE, or below a folder of the user among the temporary
    files. None: local paths need no copies."""
    if folder.is_local:
        return None
    parent = os.environ.get("SSTORE_CACHE") or os.path.join(tempfile.gettempdir(), f"sstore-shards-{os.getuid()}")
    made = os.path.join(parent, hashlib.sha256(folder.path.encode()).hexdigest()[:16])
    for path in (parent, made):
        try:
            os.makedirs(path, mode=0o700, exist_ok=True)
            found = os.lstat(path)
        except OSError as error:
            raise FileError(f"{path}: cannot be created: {error.strerror}", file=path, errno=error.errno) from error
        is_own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and found.st_mode & 0o022 == 0
        if not is_own and (path == made or "SSTORE_CACHE" not in os.environ):
            raise FileError(
                f"{path}: others can write to it; set SSTORE_CACHE to a folder of your own",
                file=path,
                errno=errno.EPERM,
            )
    return made


def _remove_copy(copy: pathlib.Path) -> None:
    """Remove a copy at once, so that no other process opens a part of it."""
    old = copy.with_name(f"fetch-{uuid.uuid4().hex}")
    with contextlib.suppress(OSError):
        os.rename(copy, old)
    if old.is_dir() and not old.is_symlink():
        shutil.rmtree(old, ignore_errors=True)
    else:
        old.unlink(missing_ok=True)


def _remove_old_copies(cache: str, manifest: ShardManifest) -> None:
    """Remove copies of shards that were replaced, and what killed processes left, if unused for a day."""
    named = {shard.folder for shard in manifest.shards}
    for copy in pathlib.Path(cache).iterdir():
        with contextlib.suppress(OSError):
            if copy.name not in named and copy.lstat().st_mtime < time.time() - _DAY:
                _remove_copy(copy)


def open_shard(folder: SharedFolder, manifest: ShardManifest, number: int) -> Store:
    """An open store of a shard. A shard that was published anew has another folder, and so is opened anew."""
    shard = manifest.shards[number]
    key = (folder.path, shard.folder)
    with _lock:
        store = _open_stores.pop(key, None)
        if store is None:
            cache = _cache_of(folder)
            if cache is not None:
                _remove_old_copies(cache, manifest)
            store = folder.open(shard, cache)
        _open_stores[key] = store
        while len(_open_stores) > _MAX_OPEN:
            _open_stores.popitem(last=False)  # closed when no task uses it
        return store


def query_shard(
    folder: SharedFolder, manifest: ShardManifest, number: int, queries: Words, distance: int
) -> Iterator[BatchMatches]:
    """The matches of queries in a shard, with names if it has them. After an error, the next task opens and copies the
    shard anew."""
    store = open_shard(folder, manifest, number)
    try:
        yield from store.iter_query_batch(queries, distance, threads=1, with_names=manifest.has_names)
    except (DamagedError, FileError):
        shard = manifest.shards[number].folder
        with _lock:
            _open_stores.pop((folder.path, shard), None)
            cache = _cache_of(folder)
            if cache is not None:
                _remove_copy(pathlib.Path(cache, shard))
        raise
