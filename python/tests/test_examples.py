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


def test_first() -> None:
    assert run("first.py").splitlines() == [TEXTS[0], TEXTS[0][:-1] + "!"]


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
