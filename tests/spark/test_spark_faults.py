"""What `check --engine spark` finds does not depend on what happens to its cluster or its driver.

Each driver is a process of its own: there is one Spark session per process. The cluster is a real one,
a master and two workers on loopback.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from support.places import TESTS
from support.spark_runs import SLOW_SECONDS

if TYPE_CHECKING:
    from support.spark_cluster import Cluster

pytestmark = pytest.mark.spark

MODEL = ("--variant", "kip_full", "--scope", "two-brokers")
SMALL = ("--spark-conf", "spark.executor.memory=512m")
DRIVER = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from support import spark_runs
from pyspark.cloudpickle import register_pickle_by_value
from elrcheck.spark.session import SparkChoice, parse_conf, spark_session

register_pickle_by_value(spark_runs)
program = spark_runs.lowered("kip_full", "two-brokers")
conf = parse_conf(sys.argv[5:])
with spark_session(SparkChoice(master=sys.argv[2], conf=conf)) as session:
    tasks = getattr(spark_runs, sys.argv[4])
    found, search = spark_runs.on_spark(program, session, Path(sys.argv[3]), 2, 1200, tasks)
print(found == spark_runs.locally(program), len(search.costs), sum(c.seconds for c in search.costs))
"""


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "elrcheck", "--no-progress", "check", *arguments, "--format", "json"]


def facts(report: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What must not depend on the engine, traces as the bytes of their files."""
    search = report["search"]
    names = ("complete", "generated", "distinct", "diameter", "levels", "cut", "deadlocks", "overflows")
    return {
        **{name: search[name] for name in names},
        **{name: report[name] for name in ("verdict", "config", "actions", "variables", "properties")},
        "files": {path.name: path.read_text() for path in sorted(folder.glob("*.trace.json"))},
    }


def check(folder: Path, *arguments: str, where: Path) -> dict[str, Any]:
    done = subprocess.run(command(*arguments), capture_output=True, text=True, timeout=300, cwd=where)
    assert done.returncode == 0, done.stderr
    return facts(json.loads(done.stdout), folder)


def local(where: Path) -> dict[str, Any]:
    return check(where / "local", *MODEL, "--run-dir", "local", where=where)


def drive(cluster: Cluster, folder: Path, tasks: str, *conf: str) -> subprocess.Popen[str]:
    arguments = [str(TESTS), cluster.url, str(folder), tasks]
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, *arguments, "spark.executor.memory=512m", *conf],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_check_on_a_cluster(cluster: Cluster, tmp_path: Path) -> None:
    """Two executors, two partitions; a trace of every witness is stored."""
    on_spark = ("--engine", "spark", "--master", cluster.url, "--handover", "1500", *SMALL)
    report = check(tmp_path / "far", *MODEL, *on_spark, "--run-dir", "far", where=tmp_path)
    assert report == local(tmp_path)
    assert report["files"]
    assert not (tmp_path / "far" / "levels").exists(), "a complete run needs no states any more"


@pytest.mark.slow
@pytest.mark.parametrize("partitions", ["1", "7"])
def test_every_level_on_a_cluster(cluster: Cluster, tmp_path: Path, partitions: str) -> None:
    on_spark = ("--engine", "spark", "--master", cluster.url, "--handover", "1", *SMALL)
    more = ("--partitions", partitions, "--run-dir", "far")
    assert check(tmp_path / "far", *MODEL, *on_spark, *more, where=tmp_path) == local(tmp_path)


@pytest.mark.slow
def test_speculation(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> None:
    """A task that takes its time is run a second time beside itself, and the quicker one counts.

    Spark wants another host for that, so the workers have different addresses of this machine.
    """
    from support.spark_cluster import standalone_cluster

    settings = (
        "spark.speculation=true",
        "spark.speculation.interval=100ms",
        "spark.speculation.multiplier=1.1",
        "spark.speculation.quantile=0.5",
        "spark.speculation.minTaskRuntime=1s",
    )
    hosts = ("127.0.0.1", "127.0.0.2")
    with standalone_cluster(tmp_path_factory.mktemp("cluster"), hosts=hosts) as cluster:
        out, err = drive(cluster, tmp_path / "levels", "Slow", *settings).communicate(timeout=300)
    same, levels, seconds = out.split() or pytest.fail(err)
    assert (same, int(levels) >= 4) == ("True", True)
    assert len(list(tmp_path.rglob("accident-*"))) == 2
    assert float(seconds) < 2 * SLOW_SECONDS, "nobody has waited for the slow ones"


@pytest.mark.slow
@pytest.mark.parametrize("tasks", ["KilledMidLevel", "KilledAfterWriting", "KilledWhileSending"])
def test_accidents_on_a_cluster(cluster: Cluster, tmp_path: Path, tasks: str) -> None:
    out, err = drive(cluster, tmp_path / "levels", tasks).communicate(timeout=300)
    assert out.startswith("True"), err
    assert len(list(tmp_path.rglob("accident-*"))) == 2


@pytest.mark.slow
def test_a_machine_is_lost(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> None:
    """A worker with its executor is killed between two levels or in one; the other makes the rest."""
    from support.spark_cluster import standalone_cluster, until

    with standalone_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        on_spark = ("--engine", "spark", "--master", cluster.url, "--handover", "1", "--partitions", "2")
        driver = subprocess.Popen(
            command(*MODEL, *on_spark, *SMALL, "--run-dir", "far"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
        )
        try:
            until(lambda: levels(tmp_path / "far") >= 4, lambda: "no level came", 120)
            cluster.kill_worker(0)
            out, err = driver.communicate(timeout=300)
        finally:
            driver.kill()
        assert driver.returncode == 0, err
    assert facts(json.loads(out), tmp_path / "far") == local(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 2])
def test_the_driver_is_killed_and_the_run_resumed(tmp_path: Path, seed: int) -> None:
    from support.spark_cluster import until

    on_spark = ("--engine", "spark", "--master", "local[2]", "--handover", "1", "--partitions", "2")
    driver = subprocess.Popen(
        command(*MODEL, *on_spark, "--run-dir", "far"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    until(lambda: levels(tmp_path / "far") >= 3 + 5 * seed, lambda: "no level came", 120)
    time.sleep(random.Random(seed).random())
    os.kill(driver.pid, signal.SIGKILL)
    driver.communicate(timeout=60)
    arguments = ("--resume", "far", "--engine", "spark", "--master", "local[2]", "--partitions", "2")
    assert check(tmp_path / "far", *arguments, where=tmp_path) == local(tmp_path)


@pytest.mark.slow
def test_states_on_s3(s3: str, tmp_path: Path) -> None:
    """A run that a limit stopped is resumed, and leaves nothing behind when it is complete."""
    from elrcheck.explorer.store.storage import Storage

    on_spark = ("--engine", "spark", "--master", "local[2]", "--partitions", "2")
    first = (*MODEL, *on_spark, "--handover", "100", "--storage", "s3://bucket/runs", "--run-dir", "far")
    done = subprocess.run(
        command(*first, "--max-depth", "15"), capture_output=True, text=True, timeout=300, cwd=tmp_path
    )
    assert done.returncode == 3, done.stderr
    assert any(name.endswith(".parquet") for name in Storage.at("s3://bucket/runs/far").list())
    assert not (tmp_path / "far" / "levels").exists()
    assert check(tmp_path / "far", "--resume", "far", *on_spark, where=tmp_path) == local(tmp_path)
    assert Storage.at("s3://bucket/runs/far").list() == ()


def levels(folder: Path) -> int:
    """Levels that a run has saved."""
    try:
        return len(json.loads((folder / "run.json").read_text())["levels"])
    except FileNotFoundError:
        return 0
