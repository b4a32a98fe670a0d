"""Test support modules live beside the tests; importlib mode does not add their folder by itself.

Tests run in several processes: each gets a folder of its own for temporary files, because some tests
check that nothing is left behind in it.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from spark_cluster import Cluster

sys.path.insert(0, str(Path(__file__).parent))

if "PYTEST_XDIST_WORKER" in os.environ:
    _own = tempfile.mkdtemp(prefix="elrcheck-tests-")
    atexit.register(shutil.rmtree, _own, ignore_errors=True)
    os.environ["TMPDIR"] = tempfile.tempdir = _own


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The one local Spark session of this test process; starting one takes seconds."""
    from elrcheck.spark.session import SparkChoice, spark_session

    with spark_session(SparkChoice(master="local[2,4]")) as session:
        yield session


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One standalone cluster with two workers for this test process; drivers are processes of their own."""
    from spark_cluster import standalone_cluster

    with standalone_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running
