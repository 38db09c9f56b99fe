"""The examples run, and print what they say."""

from __future__ import annotations

import json
import pathlib
import signal
import subprocess
import sys
import urllib.request
from typing import Any

import pytest

import sstore

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"
TEXTS = [
    "the old house by the river is for sale, call us now and visit it today.",
    "a quick brown fox jumps over the lazy dog while the sun sets slowly.",
    "The old house by the river is for sale: call us now and visit it today!",
    "simple recipes for a quick dinner with tomatoes, basil and fresh bread.",
]


def run(name: str, *arguments: Any) -> str:
    ran = subprocess.run([sys.executable, EXAMPLES / name, *map(str, arguments)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def failure(*arguments: Any) -> str:
    """The last line of text_data_set.py when it fails. Usage may be above it."""
    ran = subprocess.run(
        [sys.executable, EXAMPLES / "text_data_set.py", *map(str, arguments)], capture_output=True, text=True
    )
    assert ran.returncode != 0 and ran.stdout == "" and "Traceback" not in ran.stderr, ran.stderr
    *usage, line = ran.stderr.splitlines()
    assert not usage or usage[0].startswith("usage: ")
    return line


def test_first() -> None:
    assert run("first.py").splitlines() == [TEXTS[0], TEXTS[0][:-1] + "!"]


# Texts without words, and none at all, are no duplicates of each other.
MORE_TEXTS: list[Any] = [*TEXTS, "", "!!!", "...", None]


def test_text_data_set_of_json_lines(folder: pathlib.Path) -> None:
    lines = [json.dumps({"n": 9007199254740993 + i, "text": text}) + "\n" for i, text in enumerate(MORE_TEXTS)]
    lines += ['{"text": "a text with fields of its own", "when": "2026-01-02", "x": 1.50}\n', '{"n": 1, "text": null}']
    (folder / "in.jsonl").write_text("".join(lines))
    assert run("text_data_set.py", folder / "in.jsonl", folder / "out.jsonl") == "10 texts, 1 near-duplicates removed\n"
    assert (folder / "out.jsonl").read_text() == "".join(lines[:2] + lines[3:])
    for name in ("in.jsonl", "out.jsonl"):
        assert failure(folder / "in.jsonl", folder / name).endswith(f"{name}: exists already; --force replaces it")
    assert (folder / "in.jsonl").read_text() == "".join(lines)
    assert run("text_data_set.py", "--force", folder / "in.jsonl", folder / "in.jsonl").startswith("10 texts")
    assert (folder / "in.jsonl").read_text() == (folder / "out.jsonl").read_text()
    for line in ('{"n": 1}', "", "[]", '{"text": 5}'):
        (folder / "wrong.jsonl").write_text(f"{lines[0]}{line}\n")
        message = failure(folder / "wrong.jsonl", folder / "out.jsonl", "--force")
        assert "wrong.jsonl:2: expected" in message and "--column" in message
    assert (folder / "in.jsonl").read_text() == (folder / "out.jsonl").read_text()
    (folder / "in.jsonl").write_text("")
    (folder / "out.jsonl").unlink()
    assert failure(folder / "in.jsonl", folder / "out.jsonl", "--distance", 20).endswith("expected 0 to 16, found 20")
    assert failure(folder / "none.jsonl", folder / "out.jsonl").endswith(f"'{folder / 'none.jsonl'}'")
    assert [found.name for found in folder.iterdir() if "out" in found.name] == []
    assert run("text_data_set.py", folder / "in.jsonl", folder / "out.jsonl") == "0 texts, 0 near-duplicates removed\n"
    assert (folder / "out.jsonl").read_text() == ""


def test_text_data_set_of_parquet(folder: pathlib.Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    table = pyarrow.table({"n": [None, *range(1, 8)], "text": MORE_TEXTS})
    parquet.write_table(table, folder / "in.parquet")
    assert (
        run("text_data_set.py", folder / "in.parquet", folder / "out.parquet") == "8 texts, 1 near-duplicates removed\n"
    )
    assert parquet.read_table(folder / "out.parquet").equals(table.take([0, 1, 3, 4, 5, 6, 7]))
    for column in ("body", "n"):
        message = failure(folder / "in.parquet", folder / "new.parquet", "--column", column)
        assert f"expected a column '{column}' of texts, or another that --column names" in message
        assert message.endswith("found n (int64), text (string)")
    (folder / "wrong.parquet").write_text("no Parquet")
    for name in ("none.parquet", "wrong.parquet"):
        assert failure(folder / name, folder / "new.parquet").startswith("text_data_set.py: ")
    assert not (folder / "new.parquet").exists()


def test_image_folder(folder: pathlib.Path) -> None:
    pytest.importorskip("imagehash")
    import numpy as np
    from PIL import Image

    rng = np.random.default_rng(1)
    (folder / "images").mkdir()
    for i in range(3):
        image = Image.fromarray(rng.integers(0, 256, (9, 9, 3), dtype=np.uint8)).resize((200, 150))
        image.save(folder / "images" / f"{i}.png")
        image.resize((120, 90)).save(folder / "images" / f"{i} small.jpg")
    Image.fromarray(rng.integers(0, 256, (9, 9, 3), dtype=np.uint8)).save(folder / "images" / "single.png")
    (folder / "images" / "no image.png").write_text("text")
    for options in ([], ["--size", "16", "--distance", "31"]):
        groups = run("image_folder.py", folder / "images", *options).strip().split("\n\n")
        names = sorted(sorted(pathlib.Path(line).name for line in group.splitlines()) for group in groups)
        assert names == [[f"{i} small.jpg", f"{i}.png"] for i in range(3)]


def test_seen_service(folder: pathlib.Path) -> None:
    server = subprocess.Popen(
        [sys.executable, EXAMPLES / "seen_service.py", folder / "seen", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    port = int(server.stdout.readline().split()[-1])

    def post(text: str) -> bool:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", text.encode()) as answer:
            return bool(json.load(answer)["is_new"])

    try:
        assert [post(text) for text in TEXTS] == [True, True, False, True]
        assert not post(TEXTS[3])
        assert post("!") and post("!")
    finally:
        server.send_signal(signal.SIGTERM)
        assert server.wait() == 0
        server.stdout.close()
    with sstore.open(folder / "seen") as store:
        assert len(store) == 3


def test_duckdb() -> None:
    pytest.importorskip("duckdb")
    assert run("duckdb_in_and_out.py") == "[('page 100', 0), ('page 101', 0)]\n"
