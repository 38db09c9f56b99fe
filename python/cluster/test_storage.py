"""Shards on local paths and on an S3-compatible server: published whole or not at all, checked, and opened anew."""

from __future__ import annotations

import pathlib
import subprocess
import uuid
from typing import Any

import brute
import numpy as np
import pytest

import sstore
from sstore._shards import Place, Shard, ShardBuild, Shards, open_shard


@pytest.fixture(params=["local", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("SSTORE_CACHE", str(tmp_path / "cache"))
    if request.param == "local":
        return Place(str(tmp_path / "shared"))
    return Place(f"s3://bucket/{uuid.uuid4().hex}", request.getfixturevalue("server"))


def publish(place: Place, tmp_path: pathlib.Path, rng: np.random.Generator, count: int = 1000) -> tuple[Any, Shards]:
    """Two shards of some fingerprints."""
    fps = np.unique(brute.clustered(rng, count))
    numbers = sstore.shard_numbers(fps, 2)
    shards = []
    for number in range(2):
        local = tmp_path / uuid.uuid4().hex
        sstore.build(local, fps[numbers == number], with_ids=False)
        shards.append(place.publish(str(local), number, 2))
    made = Shards(2, 3, "", False, tuple(shards))
    place.write(made)
    place.remove_others(made)
    return fps, made


def test_publish_and_fetch(place: Place, tmp_path: pathlib.Path, rng: np.random.Generator) -> None:
    with pytest.raises(sstore.NotFoundError, match="no shards here"):
        place.read()
    fps, made = publish(place, tmp_path, rng)
    assert place.read() == made
    found = [open_shard(place, shard).records().fingerprint for shard in made.shards]
    assert sorted(np.concatenate(found).tolist()) == fps.tolist()
    assert open_shard(place, made.shards[0]) is open_shard(place, made.shards[0])
    with pytest.raises(sstore.ExistsError, match="replace=True"):
        place.check_new(False)
    # New shards replace the old ones: stores are opened anew, and old folders are gone.
    again, newer = publish(place, tmp_path, rng, 500)
    assert place.read() == newer
    found = [open_shard(place, shard).records().fingerprint for shard in newer.shards]
    assert sorted(np.concatenate(found).tolist()) == again.tolist()
    with pytest.raises(sstore.NotFoundError, match=f"{made.shards[0].folder}: the shards were replaced meanwhile"):
        place.fetch(made.shards[0], str(tmp_path / "other"))


def test_tasks_that_run_twice(place: Place, rng: np.random.Generator) -> None:
    """Two runs of a task, of which one ends after the shards are published, make the same bytes."""
    fps = brute.clustered(rng, 1000)
    work = ShardBuild(place.path, place.options, 1, 3, "auto", None, "64M", False)
    slow, fast = work.build([(fps, None)]), work.build([(fps[:400], None), (fps[400:], None)])
    made = work.finish(list(fast))
    late = Shard.from_json(next(slow))
    [shard] = made.shards
    assert late.files == shard.files and late.folder != shard.folder
    assert place.read() == made
    assert open_shard(place, shard).records().fingerprint.tolist() == np.unique(fps).tolist()
    assert list(work.build([(fps[:0], None)])) == []


def test_half_published_shards_are_not_seen(place: Place, tmp_path: pathlib.Path, rng: np.random.Generator) -> None:
    """A task that dies after any file leaves nothing that a reader sees, and nothing after the next build."""
    fps, made = publish(place, tmp_path, rng)
    local = tmp_path / "local"
    sstore.build(local, [1, 2, 3])
    fs, copied = place._fs, []

    def fail_after(limit: int) -> None:
        original = type(fs).put_file

        def put(self: Any, source: str, target: str, *rest: Any, **options: Any) -> Any:
            if len(copied) == limit:
                raise KeyboardInterrupt
            copied.append(target)
            return original(self, source, target, *rest, **options)

        fs.put_file = put.__get__(fs)

    if not place._is_local:
        for limit in range(4):
            copied.clear()
            fail_after(limit)
            with pytest.raises(KeyboardInterrupt):
                place.publish(str(local), 0, 2)
            assert not any(name.endswith("MANIFEST") for name in copied)
            assert place.read() == made
        del fs.put_file
    place.publish(str(local), 0, 2)  # complete, but in no manifest: of a task that was repeated
    assert place.read() == made
    place.remove_others(made)
    names = {str(entry).rstrip("/").rsplit("/", 1)[-1] for entry in fs.ls(place._root, detail=False)}
    assert names == {"shards.json", *(shard.folder for shard in made.shards)}


def test_damage(place: Place, tmp_path: pathlib.Path, rng: np.random.Generator) -> None:
    _, made = publish(place, tmp_path, rng)
    shard = made.shards[1]
    [file] = [file for file in shard.files if file.name.endswith("table-00.blk")]
    name = place._inner(shard.folder, file.name)
    content = place._fs.cat_file(name)
    changed = content[:5000] + bytes([content[5000] ^ 1]) + content[5001:]
    for wrong, text in ((content[:-1], "bytes, found"), (changed, "checksum" if not place._is_local else "table-00")):
        place._fs.pipe_file(name, wrong)
        with pytest.raises(sstore.DamagedError, match=f"{shard.folder}.*{text}"):
            path = place.fetch(shard, str(tmp_path / "cache"))
            sstore.open(path, io="memory")
    place._fs.rm_file(name)
    with pytest.raises(sstore.DamagedError, match=f"{shard.folder}.*missing"):
        place.fetch(shard, str(tmp_path / "cache"))
    assert not list((tmp_path / "cache").glob("shard-*"))
    for wrong_manifest in (b"", b"[]", b"{}", b'{"version": 1, "shards": [{}]}', b'{"version": 1, "shards": 5}'):
        place._fs.pipe_file(place._inner("shards.json"), wrong_manifest)
        with pytest.raises(sstore.DamagedError, match="shards.json"):
            place.read()
    place._fs.pipe_file(place._inner("shards.json"), b'{"version": 2, "shards": []}')
    with pytest.raises(sstore.UnsupportedError, match="shards.json"):
        place.read()


def test_full_disk(server: dict[str, Any], tmp_path: pathlib.Path, rng: np.random.Generator) -> None:
    """A full local disk is an error that names the shard; with room, the same fetch succeeds."""
    place = Place(f"s3://bucket/{uuid.uuid4().hex}", server)
    _, made = publish(place, tmp_path, rng, 200_000)
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", small], capture_output=True).returncode:
        pytest.skip("this process may not mount")
    try:
        with pytest.raises(sstore.FileError, match=f"{made.shards[0].folder}.*cannot be copied.*space"):
            place.fetch(made.shards[0], str(small / "cache"))
        assert not list((small / "cache").iterdir())
        subprocess.run(["mount", "-o", "remount,size=100m", small], check=True)
        assert len(sstore.open(place.fetch(made.shards[0], str(small / "cache")))) == made.shards[0].record_count
    finally:
        subprocess.run(["umount", "-l", small], check=True)


def test_json() -> None:
    shard = Shard(1, "shard", 5, ())
    assert Shard.from_json(shard.to_json()) == shard
