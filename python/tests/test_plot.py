"""Pictures are drawn, and show what they say."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
from brute import clustered

import sstore

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


def test_store(folder: pathlib.Path, rng: np.random.Generator) -> None:
    sstore.build(folder / "a", clustered(rng, 1000))
    with sstore.open(folder / "a") as store:
        figure = sstore.plot_store(store, 5)
        parts, distances, sizes = figure.axes
        assert sum(bar.get_height() for bar in parts.patches) == store.stat().total_bytes  # type: ignore[attr-defined]
        assert sum(bar.get_height() for bar in distances.patches) == len(store.pairs(5))  # type: ignore[attr-defined]
        assert f"{len(store.clusters(5).representatives):,} clusters" == sizes.get_title()
    figure.savefig(folder / "a.png")


def test_empty_store(folder: pathlib.Path) -> None:
    sstore.build(folder / "a", [])
    with sstore.open(folder / "a") as store:
        sstore.plot_store(store).savefig(folder / "a.png")


def test_plans(folder: pathlib.Path) -> None:
    figure = sstore.plot_plans(10**9, 4)
    useful = [plan for plan in sstore.plans(10**9, 4) if plan.is_useful]
    [axes] = figure.axes
    assert len(axes.lines[0].get_xdata()) == len(useful)  # type: ignore[arg-type]
    figure.savefig(folder / "plans.png")
