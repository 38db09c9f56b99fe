"""python -m sstore dedup: Parquet without near-duplicate rows."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest
from brute import clustered

import sstore

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

TEXTS = [
    "the old house by the river is for sale, call us now and visit it today.",
    "a quick brown fox jumps over the lazy dog while the sun sets slowly.",
    "The old house by the river is for sale: call us now and visit it today!",
    "",
    "!!!",
    None,
    "a quick brown fox jumps over the lazy dog while the sun sets slowly",
]
PAGES = pa.table(
    {
        "id": ["a", "b", "c\t", "d", "e", "f", "g\\"],
        "text": TEXTS,
        "date": ["2026-01-02", "2026-01-03", "2026-02-01", None, "", None, "2025-12-31"],
        "tags": [[1], [], None, [2, 3], [], [], [4]],
    },
    metadata={"of": "tests"},
)


def run(*arguments: Any, code: int = 0, environment: Any = None) -> str:
    """What the command prints on stderr; nothing is on stdout."""
    command = [sys.executable, "-m", "sstore", "dedup", *map(str, arguments)]
    ran = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(environment or {})})
    assert ran.returncode == code and ran.stdout == "" and "Traceback" not in ran.stderr, ran.stderr
    return ran.stderr


@pytest.fixture
def pages(folder: pathlib.Path) -> pathlib.Path:
    pq.write_table(PAGES, folder / "pages.parquet", row_group_size=2, compression={"text": "zstd", "id": "none"})
    return folder / "pages.parquet"


def test_texts(folder: pathlib.Path, pages: pathlib.Path) -> None:
    made, removed = folder / "made.parquet", folder / "removed.tsv"
    assert run(pages, made, "-k", 4) == "sstore: documents 7, kept 5, dropped 2\n"
    assert pq.read_table(made).equals(pq.read_table(pages).take([0, 1, 3, 4, 5]), check_metadata=True)
    codecs = {
        pq.ParquetFile(file).metadata.row_group(0).column(i).compression for file in (pages, made) for i in (0, 1)
    }
    assert codecs == {"UNCOMPRESSED", "ZSTD"}
    options = ["--keep", "max:date", "--removed", removed, "--id-field", "id", "--quiet", "--distance", 4]
    assert run(pages, made, *options, "--force") == ""
    assert pq.read_table(made)["id"].to_pylist() == ["b", "c\t", "d", "e", "f"]
    assert removed.read_bytes() == b"a\tc\\x09\t0\ng\\\\\tb\t0\n"
    assert "removed.tsv: exists already; --force replaces it" in run(pages, folder / "other.parquet", *options, code=1)
    assert run(pages, pages, "--force", "--keep", "last", "-k", 4, "--quiet") == ""
    assert pq.read_table(pages)["id"].to_pylist() == ["c\t", "d", "e", "f", "g\\"]
    assert {*folder.iterdir()} == {pages, made, removed}


NAMES = ["plain", "#comment", "-", "back\\slash", "\ttab"]
ESCAPED = ["plain", "\\x23comment", "\\x2d", "back\\\\slash", "\\x09tab"]


@pytest.mark.parametrize("has_names", [False, True])
def test_fingerprints(folder: pathlib.Path, rng: np.random.Generator, has_names: bool) -> None:
    """The same rows as those of dedup(), in several row groups."""
    fps = clustered(rng, 3000)
    table = pa.table({"hash": fps, "size": rng.integers(0, 9, 3000), "row": range(3000)})
    pq.write_table(table, folder / "in.parquet", row_group_size=700)
    known = dict(zip(range(10, 15), ESCAPED if has_names else range(10, 15)))
    sstore.build(folder / "seen", fps[:5] ^ np.uint64(1), [*known], names=NAMES if has_names else False)
    options: dict[str, Any] = {"descending": True, "strict": True, "max_group": 5, "against": folder / "seen"}
    kept = sstore.dedup(fps, keep=table["size"], memory="8M", **options)
    arguments = ["--fingerprint-field", "hash", "--keep", "max:size", "--strict", "--max-group", 5, "--memory", "8M"]
    arguments += ["--against", folder / "seen", "--removed", folder / "removed.tsv", "--threads", 1]
    lines = run(folder / "in.parquet", folder / "out.parquet", *arguments).splitlines()
    assert pq.read_table(folder / "out.parquet").equals(table.filter(pa.array(kept.is_kept)))
    wanted = [
        f"{row}\t{other if other >= 0 else f'{folder}/seen:{known[stored]}'}\t{distance}"
        for row, other, distance, stored in zip(*(kept.dropped[name].tolist() for name in kept.dropped))
    ]
    assert (folder / "removed.tsv").read_text().splitlines() == wanted
    large = [
        f"sstore: {folder}/in.parquet: row {row}: a group of {size} rows, more than --max-group: none is dropped"
        for row, size in zip(kept.large_group_row, kept.large_group_size)
    ]
    count = int(kept.is_kept.sum())
    assert lines[:-2] == large and lines[-2] == f"sstore: documents 3000, kept {count}, dropped {3000 - count}"
    assert lines[-1] == f"sstore: of these, {int((kept.kept_row < 0).sum())} are near a record of {folder}/seen"


@pytest.mark.parametrize("ids", ["names", "ids", "numbers"])
def test_update(folder: pathlib.Path, rng: np.random.Generator, ids: str) -> None:
    """Each day's rows that are new come out, and into the store, which is made on the first day."""
    path, removed = folder / "seen", folder / "removed.tsv"
    fps = np.concatenate([clustered(rng, 200) for _ in range(3)])
    rows = np.arange(len(fps)) + 1000
    model: dict[Any, int] = {}
    if ids == "ids":
        sstore.build(path, [], distance=3)
    for _ in range(3):
        table = pa.table({"hash": fps, "row": rows, "url": [f"page\t{row}" for row in rows.tolist()]})
        table = table.take(pa.array(rng.permutation(len(fps))[:250]))
        pq.write_table(table, folder / "in.parquet", row_group_size=100)
        options: list[Any] = ["--fingerprint-field", "hash", "--update", path, "--removed", removed, "--force"]
        options += {"names": ["--id-field", "url"], "ids": ["--id-field", "row"], "numbers": []}[ids]
        kept = sstore.dedup(table["hash"], against=path) if path.exists() else sstore.dedup(table["hash"])
        lines = run(folder / "in.parquet", folder / "out.parquet", *options).splitlines()
        out = pq.read_table(folder / "out.parquet")
        assert out.equals(table.filter(pa.array(kept.is_kept)))
        near = int((kept.kept_row < 0).sum())
        wanted = [f"sstore: documents 250, kept {len(out)}, dropped {250 - len(out)}"]
        wanted += [f"sstore: of these, {near} are near a record of {path}"] if near > 0 else []
        before = len(model)
        keys: dict[str, Any] = {"names": out["url"].to_pylist(), "ids": out["row"].to_pylist()}
        model.update(zip(keys.get(ids, range(before, before + len(out))), out["hash"].to_pylist()))
        wanted += [f"sstore: {path}: added {len(out)} records; records {len(model)}"]
        assert lines == wanted and len(model) == before + len(out)
        with sstore.open(path) as store:
            records = store.records(with_names=ids == "names")
            assert dict(zip(records.name if ids == "names" else records.id.tolist(), records.fingerprint)) == model
            assert store.has_names == (ids == "names")
        near_lines = [line.split("\t") for line in removed.read_text().splitlines() if f"\t{path}:" in line]
        escaped = {str(name).replace("\t", "\\x09") for name in model}
        assert len(near_lines) == near and all(line[1][len(f"{path}:") :] in escaped for line in near_lines)


def test_updates_that_fail(folder: pathlib.Path, pages: pathlib.Path) -> None:
    out, store = folder / "out.parquet", folder / "seen"
    sstore.build(folder / "named", [], names=[])
    sstore.build(folder / "bare", sstore.simhash(["a red ball"]), distance=3)
    for options, message in (
        (["--against", folder / "bare", "--update", store], "cannot be combined with against"),
        (["--update", folder / "named"], "named: the store has names: --id-field says which column"),
        (["--update", folder / "named", "--id-field", "text"], "names: row 3: expected 1 to 65536 bytes"),
        (["--update", folder / "bare", "--bits", 128], "expected a store of 128 bits, found one of 64"),
    ):
        assert message in run(pages, out, *options, code=1)
    found = run(pages, out, "--update", folder / "bare", "--id-field", "id")
    assert found.startswith(
        f"sstore: warning: {folder}/bare: the store has no names, and the ids of --id-field are texts"
    )
    out.unlink()
    before = sstore.open(folder / "bare").records().id.tolist()
    for step, has_output in (("sstore.__main__._Source.copy", False), ("sstore._update.Update.finish", True)):
        killed = f"import os, sys, sstore, sstore.__main__, sstore._update; {step} = lambda *_: os._exit(9); "
        command: list[Any] = [
            sys.executable,
            "-c",
            killed + "sys.exit(sstore.__main__.main(sys.argv[1:]))",
            "dedup",
            pages,
            out,
        ]
        command += ["--update", folder / "bare", "--distance", "0", "--features", "words"]
        pq.write_table(pa.table({"text": ["one new text", "and another"]}), pages)
        assert subprocess.run(command).returncode == 9
        assert out.exists() == has_output and sstore.open(folder / "bare").records().id.tolist() == before
        assert not has_output or pq.read_table(out).num_rows == 2
    found = run(pages, out, "--update", folder / "bare", "--force")
    assert found.splitlines()[-1].endswith(f"bare: added 2 records; records {len(before) + 2}")
    assert pq.read_table(out).num_rows == 2


def test_similarity(folder: pathlib.Path, rng: np.random.Generator) -> None:
    """The command says the same."""
    words = [f"w{i}" for i in range(30)]
    texts = [" ".join(rng.choice(words, 40)) for _ in range(60)]
    texts += [" ".join([*text.split()[: int(rng.integers(30, 40))], "end"]) for text in texts[:40]]
    names = [f"d{i}" for i in range(len(texts))]
    pq.write_table(pa.table({"text": texts, "id": names}), folder / "in.parquet")
    (folder / "in.jsonl").write_text("".join(json.dumps({"text": t, "id": i}) + "\n" for t, i in zip(texts, names)))
    for number, how in enumerate((["--similarity", "0.7", "--recall", "0.999", "--bits", 512, "--strict"], [])):
        options: list[Any] = [*how, "--id-field", "id", "--tmp-dir", folder, "--removed"]
        mine, theirs = folder / f"parquet{number}.tsv", folder / f"jsonl{number}.tsv"
        told = run(folder / "in.parquet", folder / f"out{number}.parquet", *options, mine)
        command = [pathlib.Path(sys.executable).with_name("sstore"), "dedup", *options, theirs]
        ran = subprocess.run([*map(str, command), folder / "in.jsonl"], capture_output=True, text=True, check=True)
        assert ran.stderr == told and mine.read_text() == theirs.read_text() != ""
        kept = [json.loads(line)["id"] for line in ran.stdout.splitlines()]
        assert pq.read_table(folder / f"out{number}.parquet")["id"].to_pylist() == kept
    wrong = ["--hash", "xxh3", "--similarity", "0.7"]
    assert "expected hash=" in run(folder / "in.parquet", folder / "more.parquet", *wrong, code=1)


def test_empty(folder: pathlib.Path) -> None:
    for table in (PAGES.slice(0, 0), pa.table({"text": pa.nulls(3)})):
        pq.write_table(table, folder / "in.parquet")
        run(folder / "in.parquet", folder / "out.parquet", "--force")
        assert pq.read_table(folder / "out.parquet").equals(table)


def test_errors(folder: pathlib.Path, pages: pathlib.Path) -> None:
    before, out = pages.read_bytes(), folder / "out.parquet"
    (folder / "wrong.parquet").write_text("no Parquet")
    for arguments, message in (
        ([pages, pages], "pages.parquet: exists already; --force replaces it"),
        ([pages, "out.jsonl"], "out.jsonl: expected a name with .parquet; 'sstore dedup' reads lines, JSON Lines"),
        (["in.jsonl", out], "in.jsonl: expected a name with .parquet"),
        (
            [pages, out, "--text-field", "body"],
            "expected a column 'body', or another that --text-field names, found id ",
        ),
        ([pages, out, "--text-field", "tags"], "texts: expected an Arrow array of strings"),
        ([pages, out, "--keep", "max:age"], "expected a column 'age', or another that --keep names"),
        ([pages, out, "--keep", "max:id"], "keep: row 0: expected numbers, times"),
        ([pages, out, "--keep", "oldest"], "--keep: expected first, last, max:KEY or min:KEY, found 'oldest'"),
        ([pages, out, "--id-field", "name"], "that --id-field names"),
        ([pages, out, "--text-field", "text", "--fingerprint-field", "id"], "cannot be combined"),
        ([pages, out, "--removed", pages, "--force"], "is also the input or the output"),
        ([pages, out, "--distance", 17], "expected 0 to 16, found 17"),
        ([pages, out, "--features", "letters"], "features: expected one of words, chars, found 'letters'"),
        ([pages, out, "--against", folder / "nothing"], "there is no store here"),
        ([folder / "none.parquet", out], "none.parquet"),
        ([folder / "wrong.parquet", out], "Parquet"),
        ([pages, folder / "nowhere" / "out.parquet"], "nowhere"),
    ):
        found = run(*arguments, code=1)
        assert message in found and found.startswith("sstore: ") and found.count("\n") == 1, found
    assert "the following arguments are required" in run(pages, code=2)
    assert pages.read_bytes() == before and {*folder.iterdir()} == {pages, folder / "wrong.parquet"}
    (folder / "pyarrow.py").write_text("raise ImportError")
    found = run(pages, out, code=1, environment={"PYTHONPATH": f"{folder}:{os.environ.get('PYTHONPATH', '')}"})
    assert found == "sstore: Parquet needs pyarrow: pip install pyarrow\n"


def test_interrupted(folder: pathlib.Path, rng: np.random.Generator) -> None:
    """Nothing is left behind."""
    pq.write_table(pa.table({"hash": clustered(rng, 1_000_000)}), folder / "in.parquet")
    (folder / "tmp").mkdir()
    command: list[Any] = [sys.executable, "-m", "sstore", "dedup", folder / "in.parquet", folder / "out.parquet"]
    command += ["--fingerprint-field", "hash", "--strict", "--tmp-dir", folder / "tmp"]
    ran = subprocess.Popen(command, stderr=subprocess.PIPE)
    while ran.poll() is None and not any((folder / "tmp").iterdir()):
        time.sleep(0.01)
    ran.terminate()
    ran.communicate()
    assert ran.returncode == 143 and [*(folder / "tmp").iterdir()] == []
    assert {*folder.iterdir()} == {folder / "in.parquet", folder / "tmp"}
