"""The printed seed of random data."""

from __future__ import annotations

import os
import pathlib
import random
from collections.abc import Iterator

import numpy as np
import pytest

SEED = int(os.environ.get("SSTORE_TEST_SEED", random.SystemRandom().randrange(1 << 32)))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--third", type=int, choices=range(3), help="run only this third of the tests")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    third = config.getoption("--third")
    if third is not None:
        config.hook.pytest_deselected(items=[item for at, item in enumerate(items) if at % 3 != third])
        items[:] = items[third::3]


def pytest_report_header() -> str:
    return f"seed: SSTORE_TEST_SEED={SEED}"


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    return np.random.default_rng([SEED, sum(request.node.name.encode())])


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> Iterator[pathlib.Path]:
    yield tmp_path
