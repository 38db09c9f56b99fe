"""Shards on local paths and on an S3-compatible server: published whole or not at all, checked, and opened anew."""

from __future__ import annotations

import json
import os
import pathlib
import pickle
import shutil
import subprocess
import uuid
from dataclasses import replace
from typing import Any

import brute
import numpy as np
import pytest

import sstore
from sstore._shards import (
    File,
    Shard,
    ShardBuild,
    ShardManifest,
    SharedFolder,
    _open_stores,
    _remove_old_copies,
    open_shard,
    query_shard,
)


@pytest.fixture(params=["local", "s3"])
def folder(request: pytest.FixtureRequest, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> SharedFolder:
    monkeypatch.setenv("SSTORE_CACHE", str(tmp_path / "cache"))
    if request.param == "local":
        return SharedFolder(str(tmp_path / "shared"))
    return SharedFolder(f"s3://bucket/{uuid.uuid4().hex}", request.getfixturevalue("server"))


def publish(
    folder: SharedFolder, tmp_path: pathlib.Path, rng: np.random.Generator, count: int = 1000
) -> tuple[Any, ShardManifest]:
    """Two shards of some fingerprints."""
    fps = np.unique(brute.clustered(rng, count))
    numbers = sstore.shard_numbers(fps, 2)
    shards = []
    for number in range(2):
        local = tmp_path / uuid.uuid4().hex
        sstore.build(local, fps[numbers == number], no_ids=True)
        shards.append(folder.publish(str(local), number, 2))
    made = ShardManifest(2, 3, "", False, tuple(shards))
    folder.write(made)
    folder.remove_others(made)
    return fps, made


def stores(folder: SharedFolder, manifest: ShardManifest) -> list[sstore.Store]:
    return [open_shard(folder, manifest, number) for number in range(len(manifest.shards))]


def names_in(folder: SharedFolder) -> set[str]:
    return {str(entry).rstrip("/").rsplit("/", 1)[-1] for entry in folder._fs.ls(folder._root, detail=False)}


def test_publish_and_open(folder: SharedFolder, tmp_path: pathlib.Path, rng: np.random.Generator) -> None:
    with pytest.raises(sstore.NotFoundError, match="no shards here"):
        folder.read()
    fps, made = publish(folder, tmp_path, rng)
    assert folder.read() == made
    found = [store.records().fingerprint for store in stores(folder, made)]
    assert sorted(np.concatenate(found).tolist()) == fps.tolist()
    assert stores(folder, made)[0] is stores(folder, made)[0]
    with pytest.raises(sstore.ExistsError, match="force=True"):
        folder.check_new(False)
    # New shards replace the old ones: stores are opened anew, and old folders and copies are gone.
    again, newer = publish(folder, tmp_path, rng, 500)
    assert folder.read() == newer
    found = [store.records().fingerprint for store in stores(folder, newer)]
    assert sorted(np.concatenate(found).tolist()) == again.tolist()
    named = {shard.folder for shard in newer.shards}
    assert names_in(folder) == {"shards.json", *named}
    with pytest.raises(sstore.NotFoundError, match=f"{made.shards[0].folder}: the shards were replaced meanwhile"):
        folder.open(made.shards[0], None if folder.is_local else str(tmp_path / "cache"))


def test_tasks_that_run_twice(folder: SharedFolder, rng: np.random.Generator) -> None:
    """Two runs of a task, of which one ends after the shards are published, make the same bytes."""
    fps = brute.clustered(rng, 1000)
    work = ShardBuild(folder, 1, 3, "auto", None, "64M", False, False)
    slow, fast = work.build([(fps, None)]), work.build([(fps[:400], None), (fps[:0], None), (fps[400:], None)])
    made = work.finish(list(fast))
    late = Shard.from_json(next(slow))
    [shard] = made.shards
    assert late.files == shard.files and late.folder != shard.folder
    assert folder.read() == made
    assert open_shard(folder, made, 0).records().fingerprint.tolist() == np.unique(fps).tolist()
    with pytest.raises(sstore.ExistsError, match="force=True"):
        work.finish([late.to_json()])


def test_no_records(folder: SharedFolder) -> None:
    work = ShardBuild(folder, 4, 3, "auto", None, "64M", False, False)
    work.check()
    assert list(work.build([(np.empty(0, np.uint64), None)])) == []
    assert work.finish([]).shards == () and folder.read().shard_count == 4


def test_relative_paths(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A task with another working folder finds the folder that the driver means."""
    monkeypatch.chdir(tmp_path)
    folder = SharedFolder("shards")
    work = ShardBuild(folder, 1, 3, "auto", None, "64M", False, False)
    sent = pickle.dumps(work)
    monkeypatch.chdir("/")
    pickle.loads(sent).finish(pickle.loads(sent).build([(np.arange(9, dtype=np.uint64), None)]))
    assert len(open_shard(folder, folder.read(), 0)) == 9 and (tmp_path / "shards").is_dir()


def test_half_published_shards_are_not_seen(
    folder: SharedFolder, tmp_path: pathlib.Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task that dies after any file leaves nothing that a reader sees, and nothing after the next build."""
    fps, made = publish(folder, tmp_path, rng)
    local = tmp_path / "local"
    sstore.build(local, [1, 2, 3])
    copied: list[str] = []
    owner: Any = shutil if folder.is_local else folder._fs
    name = "copyfile" if folder.is_local else "put_file"
    original = getattr(owner, name)
    for limit in range(4):
        copied.clear()

        def copy(source: str, target: str, *, limit: int = limit) -> Any:
            if len(copied) == limit:
                raise KeyboardInterrupt
            copied.append(target)
            return original(source, target)

        monkeypatch.setattr(owner, name, copy)
        with pytest.raises(KeyboardInterrupt):
            folder.publish(str(local), 0, 2)
        assert not any(target.endswith("MANIFEST") for target in copied)
        assert folder.read() == made
    monkeypatch.undo()
    folder.publish(str(local), 0, 2)  # complete, but in no manifest: of a task that was repeated
    assert folder.read() == made and len(names_in(folder)) > 3
    folder.remove_others(made)
    assert names_in(folder) == {"shards.json", *(shard.folder for shard in made.shards)}


def test_damage(folder: SharedFolder, tmp_path: pathlib.Path, rng: np.random.Generator) -> None:
    _, made = publish(folder, tmp_path, rng)
    shard = made.shards[1]
    with pytest.raises(sstore.DamagedError, match=f"{shard.folder}/MANIFEST: expected 5 records.*, found"):
        folder.open(replace(shard, record_count=5), None if folder.is_local else str(tmp_path))
    [file] = [file for file in shard.files if file.name.endswith("table-00.blk")]
    name = folder._inner(shard.folder, file.name)
    content = folder._fs.cat_file(name)
    changed = content[:5000] + bytes([content[5000] ^ 1]) + content[5001:]
    copies = tmp_path / "cache"
    copies.mkdir(exist_ok=True)
    cache = None if folder.is_local else str(copies)
    for wrong, text in ((content[:-1], "bytes, found"), (changed, "checksum" if not folder.is_local else "table-00")):
        folder._fs.pipe_file(name, wrong)
        with pytest.raises(sstore.DamagedError, match=f"{shard.folder}.*{text}"):
            folder.open(shard, cache).records()
    folder._fs.rm_file(name)
    with pytest.raises(sstore.DamagedError, match=f"{shard.folder}.*missing"):
        folder.open(shard, cache)
    assert not list(copies.glob("shard-*"))
    folder._fs.pipe_file(name, content)
    folder.open(shard, cache)
    if not folder.is_local:  # a copy that is damaged is fetched again
        found = list((copies / shard.folder).rglob("*.mdb"))
        found[0].write_bytes(found[0].read_bytes()[:1000])
        folder.open(shard, cache).records()
        stores(folder, made)
        [table] = (tmp_path / "cache").glob(f"*/{shard.folder}/*/table-00.blk")
        table.write_bytes(changed)  # damage that a query finds: the task that is repeated copies the shard
        _open_stores.clear()  # small files are in memory once they are open
        with pytest.raises(sstore.DamagedError, match=shard.folder):
            list(query_shard(folder, made, 1, np.arange(5, dtype=np.uint64), 16))
        list(query_shard(folder, made, 1, np.arange(5, dtype=np.uint64), 16))
    folder._fs.pipe_file(folder._inner("shards.json"), b'{"version": 3, "shards": []}')
    with pytest.raises(sstore.UnsupportedError, match="shards.json: expected version 1 or 2 of the manifest, found 3"):
        folder.read()


def test_hostile_manifests(folder: SharedFolder, tmp_path: pathlib.Path, rng: np.random.Generator) -> None:
    """No value of a manifest is believed: names that lead elsewhere, repeated shards, numbers out of range."""
    _, made = publish(folder, tmp_path, rng)
    good = json.loads(folder._fs.cat_file(folder._inner("shards.json")))
    wrong: list[Any] = [b"", b"[]", b"{}", b'{"version": 1}', b"[" * 100_000]
    for name, values in {
        "shard_count": [0, 1, -1, "2", 1 << 40, None],
        "distance": [-1, 17, "3", 1.5, None, []],
        "recipe": [None, 5],
        "has_ids": [0, 1, None],
        "shards": [{}, 5, [{}], [5], good["shards"] * 2],
        "bits": [0, 65, 128, 2048, -64, "64", None],  # 128 bits are of version 2
        "version": [0, 2, 3, "1", None],
        "extra": [1],
    }.items():
        wrong += [json.dumps({**good, name: value}).encode() for value in values]
    for name, values in {
        "folder": ["", ".", "..", "/etc", "a/b", "shard-00000-of-00002-x", 5, None, "x" * 5000, "\0"],
        "number": [-1, 2, 1, "0"],
        "record_count": [-1, None, 1.5],
        "files": [[], {}, 5, good["shards"][0]["files"][1:2]],
    }.items():
        for value in values:
            wrong.append(
                json.dumps({**good, "shards": [{**good["shards"][0], name: value}, good["shards"][1]]}).encode()
            )
    for name, values in {
        "name": ["", "..", "../x", "/tmp/x", "a/../b", "a/b/c/d", ".bashrc", "seg/.x", 5, "MANIFEST\0"],
        "bytes": [-1, "5"],
        "sha256": ["", 5],
    }.items():
        for value in values:
            shard = {**good["shards"][0], "files": [*good["shards"][0]["files"]]}
            shard["files"][0] = {**shard["files"][0], name: value}
            wrong.append(json.dumps({**good, "shards": [shard]}).encode())
    for content in wrong:
        folder._fs.pipe_file(folder._inner("shards.json"), content)
        with pytest.raises((sstore.DamagedError, sstore.UnsupportedError), match="shards.json"):
            folder.read()
    folder._fs.pipe_file(folder._inner("shards.json"), json.dumps(good).encode())
    assert folder.read() == made


def test_wide_shards(folder: SharedFolder, rng: np.random.Generator) -> None:
    """Shards of several words: their stores have folders in folders, and their manifest has another version."""
    fps = np.unique(rng.integers(0, 1 << 64, (500, 4), dtype=np.uint64), axis=0)
    work = ShardBuild(folder, 2, 31, "auto", None, "64M", False, False, 4)
    work.check()
    numbers = sstore.shard_numbers(fps, 2)
    made = work.finish(text for number in range(2) for text in work.build([(fps[numbers == number], None)]))
    assert folder.read() == made and made.bits == 256 and made.words == 4
    assert json.loads(folder._fs.cat_file(folder._inner("shards.json")))["version"] == 2
    for number in range(2):
        assert np.array_equal(open_shard(folder, made, number).records().fingerprint, fps[numbers == number])
        found = list(query_shard(folder, made, number, fps[:9] ^ np.uint64(1), 4))
        assert sum(map(len, found)) == np.sum(numbers[:9] == number)


def test_what_others_wrote_stays(folder: SharedFolder, tmp_path: pathlib.Path, rng: np.random.Generator) -> None:
    for name in ("shard-notes/precious", "shard-list.txt"):
        if folder.is_local:
            pathlib.Path(folder._inner(name)).parent.mkdir(parents=True, exist_ok=True)
        folder._fs.pipe_file(folder._inner(name), b"mine")
    publish(folder, tmp_path, rng)
    assert {"shard-notes", "shard-list.txt"} <= names_in(folder)


def test_shards_that_the_driver_does_not_see(folder: SharedFolder, rng: np.random.Generator) -> None:
    """The path is not shared, or another build removed the shard: nothing is published, and nothing lost."""
    work = ShardBuild(folder, 1, 3, "auto", None, "64M", True, False)
    made = work.finish(work.build([(brute.clustered(rng, 100), None)]))
    lost = list(work.build([(brute.clustered(rng, 100), None)]))
    folder.remove_others(made)
    with pytest.raises(sstore.NotFoundError, match="MANIFEST: a task wrote it, but it is not seen here"):
        work.finish(lost)
    assert folder.read() == made and len(open_shard(folder, made, 0)) > 0


def test_arguments(tmp_path: pathlib.Path) -> None:
    good: dict[str, Any] = {"shard_count": 1, "distance": 3, "plan": "auto", "recipe": None, "memory": "64M"}
    good["force"] = False
    folder = SharedFolder(str(tmp_path / "shards"))
    for name, value in (
        ("shard_count", 0),
        ("distance", 17),
        ("plan", "bad"),
        ("recipe", 5),
        ("memory", "1K"),
        ("force", "no"),
    ):
        with pytest.raises((sstore.ArgumentError, TypeError)):
            ShardBuild(folder=folder, has_ids=False, **{**good, name: value}).check()
    ShardBuild(folder=folder, has_ids=False, **good).check()
    assert not (tmp_path / "shards").exists()
    with pytest.raises(sstore.ArgumentError, match="nosuch://x: fsspec cannot reach it"):
        SharedFolder("nosuch://x")
    (tmp_path / "file").write_text("x")
    with pytest.raises(sstore.FileError, match="cannot be read"):
        SharedFolder(str(tmp_path / "file")).read()


def test_copies(server: dict[str, Any], tmp_path: pathlib.Path, rng: np.random.Generator) -> None:
    """Copies that are no stores are replaced. What others may use stays; what nobody used for a day is removed."""
    folder = SharedFolder(f"s3://bucket/{uuid.uuid4().hex}", server)
    _, made = publish(folder, tmp_path, rng)
    cache = tmp_path / "copies"
    copy, shard = cache / made.shards[0].folder, made.shards[0]
    cache.mkdir()
    for spoil in (
        lambda: (copy / "MANIFEST").unlink(),
        lambda: (shutil.rmtree(copy), copy.write_text("a file")),
        lambda: (shutil.rmtree(copy), copy.symlink_to("/nonexistent")),
        lambda: (shutil.rmtree(copy), copy.symlink_to(tmp_path / "elsewhere")),
    ):
        folder.open(shard, str(cache))
        (tmp_path / "elsewhere").mkdir(exist_ok=True)
        spoil()
        with folder.open(shard, str(cache)) as store:
            assert len(store) == shard.record_count
        assert (tmp_path / "elsewhere").is_dir() and [entry.name for entry in cache.iterdir()] == [shard.folder]
    for name in ("shard-old", "fetch-old", "shard-new"):
        (cache / name).mkdir()
    for name in ("shard-old", "fetch-old", shard.folder):
        os.utime(cache / name, (0, 0))
    _remove_old_copies(str(cache), made)
    assert {entry.name for entry in cache.iterdir()} == {"shard-new", shard.folder}


def test_cache_of_another_user(
    server: dict[str, Any], tmp_path: pathlib.Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can give folders away")
    monkeypatch.setenv("SSTORE_CACHE", str(tmp_path / "cache"))
    folder = SharedFolder(f"s3://bucket/{uuid.uuid4().hex}", server)
    _, made = publish(folder, tmp_path, rng)
    stores(folder, made)
    _open_stores.clear()
    [cache] = (tmp_path / "cache").iterdir()
    os.chown(cache, 12345, -1)
    with pytest.raises(sstore.FileError, match="others can write to it; set SSTORE_CACHE"):
        stores(folder, made)


def test_full_disk(server: dict[str, Any], tmp_path: pathlib.Path, rng: np.random.Generator) -> None:
    """A full local disk is an error that names the shard; with room, the same call succeeds."""
    folder = SharedFolder(f"s3://bucket/{uuid.uuid4().hex}", server)
    _, made = publish(folder, tmp_path, rng, 200_000)
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", small], capture_output=True).returncode:
        pytest.skip("this process may not mount")
    try:
        with pytest.raises(sstore.FileError, match=f"{made.shards[0].folder}.*cannot be copied.*space"):
            folder.open(made.shards[0], str(small))
        assert not list(small.iterdir())
        subprocess.run(["mount", "-o", "remount,size=100m", small], check=True)
        with folder.open(made.shards[0], str(small)) as store:
            assert len(store) == made.shards[0].record_count
    finally:
        subprocess.run(["umount", "-l", small], check=True)


def test_json() -> None:
    folder = "shard-00001-of-00002-" + 32 * "a"
    shard = Shard(1, folder, 5, (File("seg-1/table-00.blk", 7, 64 * "0"), File("MANIFEST", 8, 64 * "1")))
    assert Shard.from_json(shard.to_json()) == shard
