"""Fixtures of all tests, and which slow tests a run takes.

What tests share is in `support/`, a package on the path that pyproject.toml gives pytest.
Tests run in several processes: each gets a folder of its own for temporary files, because some tests
check that nothing is left behind in it.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from elrcheck.base.caches import cache_directory, notice
from elrcheck.base.kept.store import FOLDER

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from elrcheck.lang.load import Model
    from support.browser import Browser
    from support.invoked import Invoke
    from support.spark_cluster import Cluster

LASTING = ("archives", "class-paths", "java", "kernels", "models", "modules", "patches", "programs", "sources")

for _name in ("CI", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):  # what is printed depends on them
    os.environ.pop(_name, None)
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or each command that a test starts compiles every module again

if "PYTEST_XDIST_WORKER" in os.environ:
    _own = tempfile.mkdtemp(prefix="elrcheck-tests-")
    atexit.register(shutil.rmtree, _own, ignore_errors=True)
    os.environ["TMPDIR"] = tempfile.tempdir = _own

# Tests run as users do, with a store of their own. Answers are those of this run of the tests; what takes
# long to make (machine code, programs, jars of Kafka) lies where the developer has it.
if "PYTEST_XDIST_WORKER" not in os.environ:
    _cache = Path(tempfile.mkdtemp(prefix="elrcheck-test-cache-"))
    atexit.register(shutil.rmtree, _cache, ignore_errors=True)
    _lasting = cache_directory(os.environ) / FOLDER
    (_cache / FOLDER).mkdir(mode=0o700)
    for _kind in LASTING:
        with contextlib.suppress(OSError):
            (_lasting / _kind).mkdir(mode=0o700, parents=True, exist_ok=True)
            (_cache / FOLDER / _kind).symlink_to(_lasting / _kind, target_is_directory=True)
    os.environ["ELRCHECK_CACHE_DIR"] = str(_cache)

# Ctrl-C interrupts these processes and those they start, also where the suite ignores it (`nohup`).
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Machines are small and noisy: how long an example takes there says nothing about the code.
settings.register_profile("noisy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("noisy")


TABLE = "tests/slow_tests.csv"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--slow",
        choices=("share", "none", "all"),
        default=None,
        help="Slow tests: the share whose turn it is (the default for the whole suite), none of them"
        " (the default for chosen files) or all. One that is named by its id runs; with -m, that decides.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Decides which slow tests run, once for all workers: they inherit options and environment."""
    from support.rotation import TURN, turn

    if config.option.slow is None:
        whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
        config.option.slow = "all" if config.option.markexpr else "share" if whole else "none"
    if config.option.slow == "share":
        os.environ[TURN] = turn(os.environ, config.rootpath)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out slow tests whose turn it is not, and puts Spark's files first, then those with the longest slow tests.

    Each worker begins with one half of the list, and one that has finished takes over tests from the end of what the
    other has left (`--dist worksteal`): one worker alone starts Spark, and what runs last is short, so both end at
    about the same time.
    """
    seconds = slow_tests_taken(config, items)
    left_out = [item for item in items if item.get_closest_marker("slow") and item not in seconds]
    config.hook.pytest_deselected(items=left_out)
    of_file = dict.fromkeys((item.path for item in items), 0.0)
    for item, expected in seconds.items():
        of_file[item.path] += expected
    skipped = set(left_out)
    on_spark = {item.path for item in items if item.get_closest_marker("spark") and item not in skipped}
    items[:] = sorted(
        (item for item in items if item not in skipped),
        key=lambda item: (item.path not in on_spark, -of_file[item.path]),
    )


def slow_tests_taken(config: pytest.Config, items: list[pytest.Item]) -> dict[pytest.Item, float]:
    """The slow tests of this run, and the seconds that each is expected to take."""
    from support.rotation import UNKNOWN, current_share, read_table, share_of

    slow = [item for item in items if item.get_closest_marker("slow")]
    table = read_table(config.rootpath / TABLE)
    rows = {item: table.get(item.nodeid.partition("[")[0]) for item in slow}
    seconds = {item: row.expected / row.cases if row else UNKNOWN for item, row in rows.items()}
    if config.option.slow == "all":
        return seconds
    if config.option.slow == "none":
        ids = tuple(argument for argument in config.args if "::" in argument)
        return {item: long for item, long in seconds.items() if any(item.nodeid in ident for ident in ids)}
    now = current_share(table, os.environ)
    cases: dict[str, int] = {}
    taken = {}
    for item in slow:
        test = item.nodeid.partition("[")[0]
        cases[test] = cases.get(test, -1) + 1
        if share_of(test, cases[test], table) == now:
            taken[item] = seconds[item]
    return taken


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Notes the processor time of a slow test for .ci/slow-tests: on a busy machine the clock says little."""
    before = os.times()
    try:
        yield
    finally:
        if item.get_closest_marker("slow"):
            spent = sum(os.times()[:4]) - sum(before[:4])
            item.user_properties.append(("processor_seconds", f"{spent:.2f}"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    from support.rotation import SHARES, current_share, read_table

    if config.option.slow == "share":
        now = current_share(read_table(config.rootpath / TABLE), os.environ)
        terminalreporter.write_line(f"slow tests: share {now} of {SHARES}; .ci/slow-tests lists them all")


@pytest.fixture(scope="session", autouse=True)
def models_read_once() -> Iterator[None]:
    """The model, read once in a test process: that takes half a second, and every command does it.

    Nothing changes a model that is read. Other models are read by `elrcheck.lang.load`, which stays as it is.
    """
    from elrcheck.invariants import modules

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(modules, "load_model", functools.cache(modules.load_model))
        patch.setattr(modules, "_load", functools.cache(modules._load))
        yield


@pytest.fixture
def searches_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a test about how a search is made: answers of earlier ones are not used."""
    monkeypatch.setattr("elrcheck.checking.kept_outcomes.question_of", lambda request, program: None)


@pytest.fixture
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings in the environment; answers are still kept in the store of this run of the tests."""
    others = ("TLA2TOOLS_JAR", "NO_COLOR", "FORCE_COLOR")
    for name in list(os.environ):
        if (name.startswith("ELRCHECK_") and name != "ELRCHECK_CACHE_DIR") or name in others:
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def proof_model() -> Model:
    from elrcheck.invariants.modules import load_proof_model

    return load_proof_model()


@pytest.fixture(scope="session")
def checked_model() -> Model:
    from elrcheck.invariants.modules import load_checked_model

    return load_checked_model()


@pytest.fixture(scope="session")
def whole_model() -> Model:
    from elrcheck.invariants.modules import load_whole_model

    return load_whole_model()


@pytest.fixture(scope="session")
def controller_model() -> Model:
    from elrcheck.invariants.modules import load_controller_model

    return load_controller_model()


@pytest.fixture
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """For a test about kept answers: an empty store, whose folder is returned."""
    monkeypatch.setenv("ELRCHECK_CACHE_DIR", str(tmp_path / "cache"))
    notice.cache_clear()
    return tmp_path / "cache" / FOLDER


@pytest.fixture
def invoke(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Invoke:
    """Runs a command in an empty folder: exit code, stdout, stderr. Some tests have their own."""
    from elrcheck.cli import cli
    from elrcheck.console.shell import run

    monkeypatch.chdir(tmp_path)

    def call(*argv: object, progress: bool = False) -> tuple[int, str, str]:
        code = run(cli, (*(() if progress else ("--no-progress",)), *map(str, argv)))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless Chromium, for the tests of one file."""
    from support.browser import open_browser

    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The one local Spark session of this test process; starting one takes seconds."""
    from elrcheck.spark.session import SparkChoice, spark_session

    with spark_session(SparkChoice(master="local[2,4]")) as session:
        yield session


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One standalone cluster with two workers for this test process; drivers are processes of their own."""
    from support.spark_cluster import standalone_cluster

    with standalone_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


# The server leaves when its stdin ends, so none is left if the test process is killed.
SERVER = """
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An S3 server (moto) on a free port of this machine, with the bucket `bucket`."""
    from support.processes import ended_in_time

    pytest.importorskip("moto.server")
    log = tmp_path_factory.mktemp("s3") / "log"
    command = [sys.executable, "-c", SERVER]
    with log.open("wb") as sink:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=sink, stdin=subprocess.PIPE)
    try:
        with ended_in_time(process, 60):
            assert process.stdout is not None
            host = f"127.0.0.1:{int(process.stdout.readline())}"
        from pyarrow import fs

        maker = fs.S3FileSystem(
            access_key="test",
            secret_key="test",
            region="us-east-1",
            endpoint_override=host,
            scheme="http",
            allow_bucket_creation=True,
        )
        maker.create_dir("bucket")
        yield f"http://{host}"
    finally:
        process.kill()
        process.wait(60)


@pytest.fixture
def s3(s3_server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_server)
    return s3_server
