"""Every test, and README's examples, run in a new folder."""

import pathlib

import pytest


@pytest.fixture(autouse=True)
def _scratch(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
