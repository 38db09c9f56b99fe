"""Shards on local paths and on an S3-compatible server: published whole or not at all, checked, and opened anew."""

from __future__ import annotations

import os
import pathlib
import pickle
import shutil
import subprocess
import uuid
from typing import Any

import brute
import numpy as np
import pytest

import sstore
from sstore._shards import Shard, ShardBuild, ShardManifest, SharedFolder, _open_stores, open_shard, query_shard


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
        sstore.build(local, fps[numbers == number], with_ids=False)
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
    with pytest.raises(sstore.ExistsError, match="replace=True"):
        folder.check_new(False)
    # New shards replace the old ones: stores are opened anew, and old folders and copies are gone.
    again, newer = publish(folder, tmp_path, rng, 500)
    assert folder.read() == newer
    found = [store.records().fingerprint for store in stores(folder, newer)]
    assert sorted(np.concatenate(found).tolist()) == again.tolist()
    named = {shard.folder for shard in newer.shards}
    assert names_in(folder) == {"shards.json", *named}
    assert {copy.name for copy in tmp_path.glob("cache/*/shard-*")} == (set() if folder._is_local else named)
    with pytest.raises(sstore.NotFoundError, match=f"{made.shards[0].folder}: the shards were replaced meanwhile"):
        folder.open(made.shards[0], str(tmp_path / "cache"))


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
    with pytest.raises(sstore.ExistsError, match="replace=True"):
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
    owner: Any = shutil if folder._is_local else folder._fs
    name = "copyfile" if folder._is_local else "put_file"
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
    [file] = [file for file in shard.files if file.name.endswith("table-00.blk")]
    name = folder._inner(shard.folder, file.name)
    content = folder._fs.cat_file(name)
    changed = content[:5000] + bytes([content[5000] ^ 1]) + content[5001:]
    cache = tmp_path / "cache"
    cache.mkdir(exist_ok=True)
    for wrong, text in ((content[:-1], "bytes, found"), (changed, "checksum" if not folder._is_local else "table-00")):
        folder._fs.pipe_file(name, wrong)
        with pytest.raises(sstore.DamagedError, match=f"{shard.folder}.*{text}"):
            folder.open(shard, str(cache)).records()
    folder._fs.rm_file(name)
    with pytest.raises(sstore.DamagedError, match=f"{shard.folder}.*missing"):
        folder.open(shard, str(cache))
    assert not list(cache.glob("shard-*"))
    folder._fs.pipe_file(name, content)
    folder.open(shard, str(cache))
    if not folder._is_local:  # a copy that is damaged is fetched again
        copies = list((cache / shard.folder).rglob("*.mdb"))
        copies[0].write_bytes(copies[0].read_bytes()[:1000])
        folder.open(shard, str(cache)).records()
        stores(folder, made)
        [table] = (tmp_path / "cache").glob(f"*/{shard.folder}/*/table-00.blk")
        table.write_bytes(changed)  # damage that is found later: the task that is repeated copies the shard
        with pytest.raises(sstore.DamagedError, match=shard.folder):
            list(query_shard(folder, made, 1, np.arange(5, dtype=np.uint64), 16))
        list(query_shard(folder, made, 1, np.arange(5, dtype=np.uint64), 16))
    for wrong_manifest in (b"", b"[]", b"{}", b'{"version": 1, "shards": [{}]}', b'{"version": 1, "shards": 5}'):
        folder._fs.pipe_file(folder._inner("shards.json"), wrong_manifest)
        with pytest.raises((sstore.DamagedError, sstore.UnsupportedError), match="shards.json"):
            folder.read()
    folder._fs.pipe_file(folder._inner("shards.json"), b'{"version": 2, "shards": []}')
    with pytest.raises(sstore.UnsupportedError, match="shards.json: expected version 1 of the manifest, found 2"):
        folder.read()


def test_cache_of_another_user(folder: SharedFolder, tmp_path: pathlib.Path, rng: np.random.Generator) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can give folders away")
    _, made = publish(folder, tmp_path, rng)
    stores(folder, made)
    _open_stores.clear()
    [cache] = (tmp_path / "cache").iterdir()
    os.chown(cache, 12345, -1)
    with pytest.raises(sstore.FileError, match="another user owns it; set SSTORE_CACHE"):
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
    shard = Shard(1, "shard", 5, ())
    assert Shard.from_json(shard.to_json()) == shard
