"""README's examples run in a folder of their own."""

import pathlib

import pytest


@pytest.fixture(autouse=True)
def _scratch(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
