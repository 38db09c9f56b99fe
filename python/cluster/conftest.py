"""The clusters of the tests, and the data that is compared with brute force."""

from __future__ import annotations

import os
import pathlib
import random
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parent.parent / "tests")]
from machines import RayCluster, SparkCluster  # noqa: E402

SEED = int(os.environ.get("SSTORE_TEST_SEED", random.SystemRandom().randrange(1 << 32)))


def pytest_report_header() -> str:
    return f"seed: SSTORE_TEST_SEED={SEED}"


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    return np.random.default_rng([SEED, sum(request.node.name.encode())])


@pytest.fixture(scope="session")
def spark_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    pytest.importorskip("pyspark")
    cluster = SparkCluster(tmp_path_factory.mktemp("spark"))
    yield cluster
    cluster.stop()


@pytest.fixture(scope="session")
def ray_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayCluster]:
    pytest.importorskip("ray")
    cluster = RayCluster(tmp_path_factory.mktemp("ray"))
    yield cluster
    cluster.stop()


@pytest.fixture(scope="session")
def server() -> Iterator[dict[str, Any]]:
    """An S3-compatible server with a bucket: what fsspec needs to reach it."""
    moto_server = pytest.importorskip("moto.server")
    import boto3

    made = moto_server.ThreadedMotoServer(port=0)
    made.start()
    host, port = made.get_host_and_port()
    address = f"http://{host}:{port}"
    client = boto3.client(
        "s3", endpoint_url=address, aws_access_key_id="key", aws_secret_access_key="secret", region_name="us-east-1"
    )
    client.create_bucket(Bucket="bucket")
    yield {"key": "key", "secret": "secret", "client_kwargs": {"endpoint_url": address, "region_name": "us-east-1"}}
    made.stop()
