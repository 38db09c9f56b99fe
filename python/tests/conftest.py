"""The printed seed of random data."""

from __future__ import annotations

import os
import pathlib
import random
from collections.abc import Iterator

import numpy as np
import pytest

SEED = int(os.environ.get("SSTORE_TEST_SEED", random.SystemRandom().randrange(1 << 32)))


def pytest_report_header() -> str:
    return f"seed: SSTORE_TEST_SEED={SEED}"


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    return np.random.default_rng([SEED, sum(request.node.name.encode())])


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> Iterator[pathlib.Path]:
    yield tmp_path
