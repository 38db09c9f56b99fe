"""What disturbs a cluster kills only what it should, and what starts one is patient."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator

import pytest
from machines import _started, while_killing


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    made = subprocess.Popen(["sleep", "600"])
    yield made
    made.kill()
    made.wait()


def test_only_busy_processes_are_killed(process: subprocess.Popen[bytes]) -> None:
    """A worker that has begun something else since it was looked at goes on; one that is gone is not waited for."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    looks = iter([[gone.pid], [process.pid], []])

    def work() -> None:
        deadline = time.monotonic() + 600
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)

    found: list[int] = []

    def busy() -> list[int]:
        found[:] = next(looks, [process.pid])
        assert process.poll() is None
        return list(found)

    while_killing(work, busy)
    assert process.poll() == -9 and next(looks, None) is None


def test_a_slow_start_is_tried_again() -> None:
    tries = iter([Exception("The current node timed out during startup."), None])

    def start() -> str:
        error = next(tries)
        if error is not None:
            raise error
        return "started"

    assert _started(start) == "started"

    def fail() -> None:
        raise OSError("no such port")

    with pytest.raises(OSError, match="no such port"):
        _started(fail)
