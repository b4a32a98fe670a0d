"""What Spark says when a job fails is turned into a fault with a remedy, or kept whole for a bug report."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from elrcheck.errors import ExitCode
from elrcheck.spark.faults import job_fault


@pytest.mark.parametrize(
    ("text", "code", "shown"),
    [
        ("Traceback\nModuleNotFoundError: No module named 'llvmlite'\n at", "executor-package", "'llvmlite'"),
        ("[PYTHON_VERSION_MISMATCH] Python in worker has different version", "executor-python", "another"),
        ('java.io.IOException: Cannot run program "python3.11": error=2', "executor-python", "python3.11"),
        ("java.io.IOException: No space left on device", "spark-disk", "full"),
        (
            "ExecutorLostFailure (executor 1 exited caused by one of the running tasks)",
            "spark-lost",
            "losing",
        ),
        (
            "elrcheck.errors.EnvironmentFault: cannot write a in s3://b: permission denied\n",
            "executor",
            "s3://b",
        ),
    ],
)
def test_faults(text: str, code: str, shown: str) -> None:
    fault = job_fault(text, "yarn")
    assert fault is not None
    assert (fault.code, fault.exit_code) == (code, ExitCode.ENVIRONMENT)
    assert shown in fault.message


def test_a_bug_is_no_fault_of_the_environment() -> None:
    assert job_fault("Traceback\nIndexError: list index out of range", "yarn") is None


JOBS = """
import os, signal
from elrcheck.errors import ElrError
from elrcheck.spark.faults import SparkJobError
from elrcheck.spark.session import SparkChoice, spark_session

def no_package(batches):
    import no_such_package

def bug(batches):
    raise IndexError("of the test")

def refused(batches):
    from elrcheck.errors import EnvironmentFault
    raise EnvironmentFault("cannot-write", "cannot write x")

try:
    with spark_session(SparkChoice(master="local[1]")) as spark:
        for job in (no_package, bug, refused, None):
            try:
                from elrcheck.spark.faults import explained
                with explained("local[1]"):
                    if job is None:
                        os.kill(spark.sparkContext._gateway.proc.pid, signal.SIGKILL)
                        spark.range(1).count()
                    else:
                        spark.range(1).mapInArrow(job, "id long").collect()
            except SparkJobError as error:
                print("bug", "IndexError: of the test" in str(error))
            except ElrError as fault:
                print(fault.code, fault.message)
                if job is None:
                    raise
except ElrError as fault:
    print("end", fault.code)
"""


@pytest.mark.spark
@pytest.mark.slow
def test_failing_jobs_and_a_killed_jvm(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", JOBS],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
    )
    package, bug, refused, lost, end = done.stdout.splitlines()
    assert (
        package
        == "executor-package a Python package is missing on an executor: No module named 'no_such_package'"
    )
    assert (bug, refused) == ("bug True", "executor cannot write x")
    assert lost.startswith("spark-lost") and end == "end spark-lost"
    assert done.stderr == ""
