"""A driver works with a standalone cluster, survives a lost Python worker and hears what it cannot have.

The driver is a process of its own, as it is for a user, because there is one Spark session per process.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from support.spark_cluster import Cluster

pytestmark = pytest.mark.spark

DRIVER = """
import sys
from elrcheck.base.errors import ElrError
from elrcheck.spark.session import SparkChoice, parse_conf, spark_session

wait = sys.argv[2]

def where(batches):
    import os, pyarrow as pa, elrcheck
    rows = sum(len(batch) for batch in batches)
    if os.path.exists(wait):  # the first task waits to be killed
        import time
        os.rename(wait, f"{wait}.{os.getpid()}")
        time.sleep(60)
    yield pa.RecordBatch.from_arrays(
        [pa.array([elrcheck.__file__]), pa.array([os.environ["SPARK_EXECUTOR_DIRS"]]), pa.array([rows])],
        ["file", "place", "rows"])

conf = parse_conf(["spark.executor.memory=512m", *sys.argv[4:]])
choice = SparkChoice(master=sys.argv[1], conf=conf)
try:
    with spark_session(choice, executor_seconds=float(sys.argv[3])) as spark:
        frame = spark.range(0, 1000, 1, 4).repartition(7, "id")
        found = frame.mapInArrow(where, "file string, place string, rows long").collect()
        zips = {row.file for row in found if row.file.endswith(".zip/elrcheck/__init__.py")}
        print(len(found), sum(row.rows for row in found), len(zips) == len({row.file for row in found}),
              len({row.place for row in found}))
except ElrError as fault:
    print(int(fault.exit_code), fault.code)
"""


def drive(cluster: Cluster, folder: Path, *conf: str, patience: int = 90) -> subprocess.Popen[str]:
    """`patience`: seconds to wait for an executor."""
    command = [sys.executable, "-c", DRIVER, cluster.url, str(folder / "wait"), str(patience), *conf]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def waiting_task(driver: subprocess.Popen[str], folder: Path) -> int:
    """The process id of the Python worker that a task waits in."""
    from support.spark_cluster import until

    def came() -> list[Path]:
        assert driver.poll() is None, driver.communicate(timeout=60)
        return list(folder.glob("wait.*"))

    (mark,) = until(came, lambda: "no task came", 120)
    return int(mark.suffix[1:])


@pytest.mark.slow
def test_a_job_on_two_executors_with_the_package_from_the_driver(cluster: Cluster, tmp_path: Path) -> None:
    out, err = drive(cluster, tmp_path).communicate(timeout=200)
    assert (out, err) == ("7 1000 True 2\n", "")


@pytest.mark.slow
def test_a_killed_python_worker_is_replaced(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "wait").touch()
    driver = drive(cluster, tmp_path)
    try:
        pid = waiting_task(driver, tmp_path)
        assert pid in [pid for which in (0, 1) for pid in cluster.python_workers(which)]
        os.kill(pid, signal.SIGKILL)
        out, _ = driver.communicate(timeout=200)
    finally:
        driver.kill()
    assert out == "7 1000 True 2\n"


@pytest.mark.slow
def test_a_lost_worker_takes_no_rows_with_it(cluster: Cluster, tmp_path: Path) -> None:
    """The executor and its shuffle files go with the worker: Spark makes them again on the other one."""
    (tmp_path / "wait").touch()
    driver = drive(cluster, tmp_path)
    try:
        pid = waiting_task(driver, tmp_path)
        running = [k for k in range(len(cluster.workers)) if pid in cluster.python_workers(k)]
        assert len(running) == 1 and len(cluster.executors(running[0])) == 1
        cluster.kill_worker(running[0])
        cluster.wait_for(1)
        out, _ = driver.communicate(timeout=200)
    finally:
        driver.kill()
        cluster.add_worker()
        cluster.wait_for(2)
    assert out.split()[:3] == ["7", "1000", "True"]


@pytest.mark.slow
def test_more_memory_than_any_worker_has(cluster: Cluster, tmp_path: Path) -> None:
    out, err = drive(cluster, tmp_path, "spark.executor.memory=900g", patience=5).communicate(timeout=200)
    assert (out, err) == ("4 spark-no-executor\n", "")
