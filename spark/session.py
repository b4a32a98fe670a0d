"""A Spark session for one search: quiet, with the right Python and Java, leaving nothing behind.

Executors get the installed elrcheck as a zip, and another one of the packages that it needs there. This module can be
imported without pyspark; `spark_session` imports it.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import logging
import os
import re
import signal
import sys
import tempfile
import threading
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elrcheck.base.atomic import write_bytes
from elrcheck.base.errors import EnvironmentFault, UsageFault
from elrcheck.base.package_files import ROOT, files_of, rooms, root_files
from elrcheck.spark.conf import Master, SparkChoice, check_reachable, parse_conf, parse_master, properties, shipped
from elrcheck.spark.driver_java import find_java
from elrcheck.spark.jvm import explained, running_jvm, start_fault, time_limit, write_log_settings

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession


__all__ = ["SparkChoice", "parse_conf", "spark_session"]

START_SECONDS = 120.0  # a cluster manager may have to make room first
EXECUTOR_SECONDS = 120.0
SETTLED = 1.0
"""At least so many seconds without another executor before the first job."""
INSTALL = "pip install 'pyspark>=4.1' 'pandas>=2.2,<3'"


@contextlib.contextmanager
def spark_session(
    choice: SparkChoice, *, start_seconds: float = START_SECONDS, executor_seconds: float = EXECUTOR_SECONDS
) -> Iterator[SparkSession]:
    """Open a session with at least one executor; the block's end removes it, its JVM and its files.

    Raise UsageFault (exit 2) for a master or a property that Spark does not accept, and EnvironmentFault (exit 4)
    within `start_seconds` plus `executor_seconds` if Java, pyspark, the cluster or its resources are missing. Errors
    of pyspark in the block are converted likewise. A process has at most one session at a time.
    """
    from elrcheck.base.caches import cache_directory

    master = parse_master(choice.master)
    conf = properties(choice, master)
    _import_pyspark()
    java = find_java(os.environ, cache_directory(os.environ))
    check_reachable(master, os.environ)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="elrcheck-spark-")))
        log = None if choice.verbose else folder / "spark.log"
        stack.enter_context(_as_before())
        if not choice.verbose:
            stack.enter_context(_no_log_lines())
        if choice.ship_packages and not master.local:
            conf.update(shipped(conf, packages_zip(folder, compressed=not master.loopback)))
        _set_environment(master, conf, folder, java.home)
        spark = stack.enter_context(_started(master, conf, log, start_seconds))
        if not master.local:
            spark.sparkContext.addPyFile(str(package_zip(folder)))  # sent with the first task
        _wait_for_executors(spark, master, conf, executor_seconds)
        if choice.verbose and spark.sparkContext.uiWebUrl:
            print(f"Spark UI: {spark.sparkContext.uiWebUrl}", file=sys.stderr)
        with explained(master.url):
            yield spark


@contextlib.contextmanager
def _started(master: Master, conf: dict[str, str], log: Path | None, start_seconds: float) -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession

    with contextlib.ExitStack() as stack:
        limit = stack.enter_context(contextlib.ExitStack())
        expired: Callable[[], bool] = bool
        try:
            gateway = stack.enter_context(running_jvm(conf, log))
            expired = limit.enter_context(time_limit(gateway, start_seconds))
            context = _context(conf, gateway)
            stack.callback(_stop, context)
            spark = SparkSession(context)
        except Exception as error:
            raise start_fault(error, log, master.url, start_seconds if expired() else None) from error
        finally:
            limit.close()
        yield spark


def _context(conf: Mapping[str, str], gateway: Any) -> SparkContext:
    """Create a SparkContext that leaves the previous handler of Ctrl-C in place."""
    from pyspark import SparkConf, SparkContext

    settings = SparkConf(_jvm=gateway.jvm)
    for key, value in conf.items():
        settings.set(key, value)
    before = signal.getsignal(signal.SIGINT)
    try:
        return SparkContext(conf=settings, gateway=gateway)
    finally:
        if threading.current_thread() is threading.main_thread() and before is not None:
            signal.signal(signal.SIGINT, before)


def _stop(context: SparkContext) -> None:
    """End the application; do not fail if the JVM has already ended."""
    from pyspark.sql import SparkSession

    with warnings.catch_warnings(), contextlib.suppress(Exception):
        warnings.simplefilter("ignore")
        context.stop()
    # Reset the class attributes of pyspark that `SparkSession.stop` would reset.
    SparkSession._instantiatedSession = None
    SparkSession._activeSession = None


def _import_pyspark() -> None:
    """Check that pyspark and pandas can be imported: a cluster's own Python may lack one of them."""
    try:
        import_module("pandas")  # pyspark needs it for mapInArrow
        from pyspark import SparkContext
    except ImportError as fault:
        message = f"Spark needs the package {fault.name}"
        raise EnvironmentFault("package-missing", message, help=INSTALL) from fault
    if SparkContext._active_spark_context is not None:
        raise UsageFault("spark-busy", "this process already runs a Spark session", help="stop it first")


@contextlib.contextmanager
def _as_before() -> Iterator[None]:
    """Restore the environment variables and the module path, both of which pyspark changes."""
    variables, path = dict(os.environ), list(sys.path)
    try:
        yield
    finally:
        sys.path[:] = path
        for name in set(os.environ) - set(variables):
            del os.environ[name]
        for name, value in variables.items():
            if os.environ.get(name) != value:
                os.environ[name] = value


@contextlib.contextmanager
def _no_log_lines() -> Iterator[None]:
    """Silence the root logger if it has no handler: py4j logs a lost JVM there with a stack trace."""
    root, silence = logging.getLogger(), logging.NullHandler()
    root.addHandler(silence)
    try:
        yield
    finally:
        root.removeHandler(silence)


def _set_environment(master: Master, conf: Mapping[str, str], folder: Path, java_home: Path | None) -> None:
    """Set what Spark reads from the environment, without overriding the user's settings."""
    if java_home is not None:
        os.environ["JAVA_HOME"] = str(java_home)
    else:
        os.environ.pop("JAVA_HOME", None)
    home = os.environ.get("SPARK_HOME")
    if "SPARK_CONF_DIR" not in os.environ and not (home and Path(home, "conf").is_dir()):
        write_log_settings(folder)
        os.environ["SPARK_CONF_DIR"] = str(folder)
    if "spark.pyspark.python" in conf:  # otherwise only spark-submit would read it
        os.environ.setdefault("PYSPARK_PYTHON", conf["spark.pyspark.python"])
    if master.loopback:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)


def _wait_for_executors(spark: SparkSession, master: Master, conf: Mapping[str, str], seconds: float) -> None:
    """Wait for executors: up to a time limit for one, without which the first job would wait for ever.

    Then wait until no more come for a while: their number decides how a search divides its states.
    """
    if master.local or conf.get("spark.dynamicAllocation.enabled", "false").lower() == "true":
        return
    scheduler = spark.sparkContext._jsc.sc()
    began = changed = time.monotonic()
    patience, count = seconds, 0
    while time.monotonic() < changed + patience:
        present = scheduler.getExecutorMemoryStatus().size() - 1  # without the driver
        if present > count:
            count, changed = present, time.monotonic()
            patience = min(seconds, max(SETTLED, (changed - began) / 2))
        time.sleep(0.1)
    if count:
        return
    message = f"no executor registered within {seconds:.0f} s"
    help = (
        "the cluster has no free worker with the requested cores and memory: check its web page, "
        "spark.executor.memory, spark.executor.cores and spark.cores.max"
    )
    raise EnvironmentFault("spark-no-executor", message, where=master.url, help=help)


SUFFIXES = (".py", ".toml", ".ll")
EPOCH = (1980, 1, 1, 0, 0, 0)  # the oldest date a zip can hold: equal sources give equal bytes

DEPENDENCIES = ("numpy", "pyarrow", "pandas", "python-dateutil", "six", "pytz", "tzdata", "llvmlite", "msgspec")
OPTIONAL = ("google-crc32c",)
"""Only an audit needs it."""
UNUSED = re.compile(
    r"\.\.|(.*/)?__pycache__/|(pandas|pyarrow|llvmlite)/tests/|.*/include/|pyarrow/(src/|.*flight)"
    r"|.*\.(pyi|pyx|pxd|pxi|h)$|pyarrow/libarrow_python\.so(\.\d+\.\d+\.\d+)?$"
)
"""Files of the packages that no task reads; wheels of pyarrow have one library under three names."""


def package_zip(folder: Path) -> Path:
    """Return the package as ``elrcheck-<hash>.zip`` in `folder`, written once and atomically.

    The hash is that of the content, because Spark and the executors cache files by name, and two versions of the
    package must not share one. Raise EnvironmentFault if the folder cannot be written.
    """
    data = zip_bytes()
    place = folder / f"{ROOT}-{hashlib.sha256(data).hexdigest()[:16]}.zip"
    if place.is_file() and place.stat().st_size == len(data):
        return place
    write_bytes(place, data)
    return place


def zip_bytes() -> bytes:
    """Return the zip: sources and scope files below ``elrcheck/``, sorted, one date, nothing compiled."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, item in sorted(_contents(), key=lambda pair: pair[0]):
            info = zipfile.ZipInfo(f"{ROOT}/{name}", EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, item.read_bytes())
    return target.getvalue()


def _contents() -> Iterator[tuple[str, Traversable]]:
    """Yield (path below the package, file)."""
    yield from root_files((".py", ".typed"))
    for room in rooms():
        yield from files_of(room, SUFFIXES)


def packages_zip(folder: Path, *, compressed: bool) -> Path:
    """Return the packages that tasks import, as this process has them, in a zip of some hundred MiB in `folder`.

    Raise EnvironmentFault if one is not installed with a list of its files, as pip and conda do.
    """
    place = folder / "packages.zip"
    method = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(place, "w", method, compresslevel=1 if compressed else None) as archive:
        for name in (*DEPENDENCIES, *OPTIONAL):
            try:
                files = distribution(name).files
            except PackageNotFoundError:
                files = None
            if files is None and name in DEPENDENCIES:
                message = f"--ship-packages: {name} is not installed here by a package manager"
                raise EnvironmentFault("package-missing", message, help=f"pip install {name}")
            for file in files or ():
                if not UNUSED.match(file.as_posix()):
                    archive.write(file.locate(), file.as_posix())
    return place
