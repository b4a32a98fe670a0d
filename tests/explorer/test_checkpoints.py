"""A run can be resumed whatever ended it, and is refused when something about it is wrong."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from elrcheck.cli import cli
from elrcheck.console.shell import run
from support.processes import ended_in_time

pytestmark = pytest.mark.usefixtures("searches_are_made")

SMALL = ("--variant", "code_4_0", "--scope", "two-brokers")
VARYING = ("seconds", "states_per_second", "peak_memory_bytes", "bytes_per_state")
Go = Callable[..., tuple[int, str, str]]


@pytest.fixture
def go(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Go:
    """Run `elrcheck --no-progress check ...` in this process: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    def call(*args: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(cli, ["--no-progress", "check", *args])
        out, err = capsys.readouterr()
        return int(code), out, err

    return call


def report(text: str) -> dict[str, Any]:
    """A report without what differs between two runs of the same search."""
    data: dict[str, Any] = json.loads(text)
    for key in VARYING:
        data["search"].pop(key)
    for key in ("engine", "run_dir"):
        data.pop(key)
    return data


def contents(folder: Path) -> dict[str, str]:
    return {
        str(place.relative_to(folder)): hashlib.sha256(place.read_bytes()).hexdigest()
        for place in sorted(folder.rglob("*"))
        if place.is_file() and place.name != "report.json"  # which says how long it took
    }


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run that a limit has stopped."""
    folder = tmp_path_factory.mktemp("stopped") / "run"
    assert run(cli, ["--no-progress", "check", *SMALL, "--max-depth", "9", "--run-dir", str(folder)]) == 3
    return folder


@pytest.fixture
def stopped_run(stopped: Path, tmp_path: Path) -> Path:
    """A copy of it that may be damaged."""
    copy = tmp_path / "stopped_run"
    shutil.copytree(stopped, copy)
    return copy


def test_a_run_stopped_by_a_limit_goes_on_to_the_same_end(go: Go, stopped_run: Path) -> None:
    code, out, _ = go("--resume", str(stopped_run), "--format", "json")
    plain_code, plain_out, _ = go(*SMALL, "--run-dir", "plain", "--format", "json")
    assert code == plain_code
    assert report(out) == report(plain_out)
    assert json.loads(out)["search"]["resumable"] is None
    left = contents(stopped_run)
    assert left == contents(Path("plain")), "the traces are the same, and no level file is left"
    assert not any(name.startswith("levels") or name == "run.json" for name in left)


def test_the_report_says_how_to_go_on(go: Go) -> None:
    code, out, _ = go(*SMALL, "--max-depth", "3", "--run-dir", "here")
    assert code == 3
    assert "elrcheck check --resume here" in out
    code, out, _ = go(*SMALL, "--max-depth", "3")
    assert code == 3 and "--resume" not in out
    assert not Path(".elrcheck").exists(), "nobody asked for a folder"


def test_resuming_twice_with_other_limits(go: Go, stopped_run: Path) -> None:
    for depth in ("9", "11", "14"):
        code, out, _ = go("--resume", str(stopped_run), "--max-depth", depth, "--format", "json")
        assert code == 3
        assert json.loads(out)["search"]["diameter"] == int(depth) + 1
    assert (stopped_run / "run.json").exists()


def damage_level(folder: Path) -> Path:
    """The largest level file."""
    return max((folder / "levels").iterdir(), key=lambda place: place.stat().st_size)


def truncate(place: Path) -> None:
    place.write_bytes(place.read_bytes()[:-7])


def flip(place: Path) -> None:
    data = bytearray(place.read_bytes())
    data[len(data) // 2] ^= 0x10
    place.write_bytes(data)


@pytest.mark.parametrize("harm", [truncate, flip, Path.unlink], ids=["truncated", "flipped", "missing"])
@pytest.mark.parametrize("which", ["level", "manifest"])
def test_a_damaged_checkpoint_is_named_and_left_alone(
    go: Go, stopped_run: Path, harm: Callable[[Path], None], which: str
) -> None:
    place = damage_level(stopped_run) if which == "level" else stopped_run / "run.json"
    harm(place)
    before = contents(stopped_run)
    code, out, err = go("--resume", str(stopped_run))
    assert (code, out) == (2, "")
    assert str(place) in err and "Traceback" not in err
    assert contents(stopped_run) == before


def test_another_run_is_refused_and_the_field_named(go: Go, stopped_run: Path) -> None:
    code, _, err = go(
        "--resume", str(stopped_run), "--variant", "code_4_0", "--scope", "two-brokers", "--set", "crashes=0"
    )
    assert code == 2
    assert "`crashes` was 1 and is now 0" in err
    code, _, err = go("--resume", str(stopped_run), "-p", "P-1")
    assert code == 2 and "`properties` was" in err
    code, _, err = go("--resume", str(stopped_run), "--fingerprint", "64")
    assert code == 2 and "`fingerprint` was 0 and is now 64" in err
    code, _, err = go("--resume", str(stopped_run), *SMALL, "--max-depth", "9")
    assert code == 3, "the same selection, said again, is not a mismatch"


def test_a_changed_model_is_refused(go: Go, stopped_run: Path) -> None:
    manifest = stopped_run / "run.json"
    data = json.loads(manifest.read_text())
    data["run"]["model"] = "0" * 64
    body = {key: value for key, value in data.items() if key != "sha256"}
    data["sha256"] = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    manifest.write_text(json.dumps(data))
    code, _, err = go("--resume", str(stopped_run))
    assert code == 2 and "the model has changed since" in err


def test_wrong_ways_to_resume(go: Go, stopped_run: Path) -> None:
    cases = [
        (("--resume", "nowhere"), "no run to resume"),
        (("--resume", str(stopped_run), "--run-dir", "x"), "leave out --run-dir"),
        (("--resume", str(stopped_run), "--engine", "numpy"), "needs the engine local or spark"),
        (("--run-dir", str(stopped_run), *SMALL), f"--resume {stopped_run}"),
        (("--memory", "1M", *SMALL), "set at least"),
    ]
    before = contents(stopped_run)
    for arguments, message in cases:
        code, out, err = go(*arguments)
        assert (code, out) == (2, ""), arguments
        assert message in err and "Traceback" not in err
    assert contents(stopped_run) == before


def test_a_full_disk_keeps_the_last_checkpoint(go: Go, stopped_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents(stopped_run)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", full)
        code, _, err = go("--resume", str(stopped_run), "--max-depth", "12")
    assert code == 4
    assert "No space left" in err and "Traceback" not in err
    assert contents(stopped_run) == before
    assert go("--resume", str(stopped_run), "--max-depth", "12")[0] == 3


def test_a_full_disk_leaves_nothing_that_cannot_be_used(go: Go, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0
    real = os.fsync

    def full(file: int) -> None:
        nonlocal calls
        calls += 1
        if calls > 4:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(file)

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", full)
        code, out, err = go(*SMALL, "--fingerprint", "64")
    assert (code, out) == (4, "") and "No space left" in err
    assert not Path(".elrcheck").exists()


# ---------------------------------------------------------------------------- killed and interrupted


def start(folder: Path, *args: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "elrcheck", "--progress", "check", "--fresh", *args]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 120
    while not condition() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["INT", "TERM"])
def test_an_interrupt_leaves_a_run_to_go_on_with(go: Go, tmp_path: Path, number: signal.Signals) -> None:
    process = start(tmp_path, "--scope", "three-brokers")
    assert process.stderr is not None
    with ended_in_time(process):
        next(line for line in process.stderr if line.startswith("depth"))
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert out == "" and "Traceback" not in err
    command = err.rsplit("`", 2)[1].split()
    assert command[:3] == ["elrcheck", "check", "--resume"]
    code, out, _ = go(*command[2:], "--max-depth", "4", "--format", "json")
    document = json.loads(out)
    assert (code, document["scope"]) == (3, "three-brokers")
    _, plain, _ = go("--scope", "three-brokers", "--max-depth", "4", "--format", "json")
    assert document["search"]["levels"][:5] == json.loads(plain)["search"]["levels"]


def killed_and_resumed(folder: Path, kills: int, scope: str, *options: str) -> dict[str, Any]:
    """Kill a run at random moments, go on each time, and give the final report."""
    arguments = ("--variant", "legacy", "--scope", scope, "--run-dir", "run", *options)
    levels = folder / "run" / "levels"

    def written() -> int:
        return len(list(levels.glob("*"))) if levels.exists() else 0

    for _ in range(kills):
        seen = written()
        process = start(folder, *arguments, "--checkpoint-every", "0.01s")
        wait_for(lambda before=seen: written() > before, process)  # type: ignore[misc]
        time.sleep(random.random() / 10)
        process.kill()
        process.communicate(timeout=60)
        assert process.returncode == -signal.SIGKILL, "it was not done before it was killed"
        if (folder / "run" / "run.json").exists():
            arguments = ("--resume", "run")
        elif (folder / "run").exists():
            shutil.rmtree(folder / "run")
    process = start(folder, *arguments, "--format", "json")
    out, err = process.communicate(timeout=300)
    assert process.returncode == 1, err
    return report(out)


@pytest.mark.parametrize(
    ("kills", "scope", "options"),
    [
        pytest.param(1, "three-brokers", ("--fingerprint", "64"), marks=pytest.mark.slow),
        pytest.param(5, "three-brokers", (), marks=pytest.mark.slow),
        pytest.param(5, "three-brokers", ("--fingerprint", "128"), marks=pytest.mark.slow),
    ],
)
def test_killed_at_random_moments(go: Go, tmp_path: Path, kills: int, scope: str, options: tuple[str, ...]) -> None:
    resumed = killed_and_resumed(tmp_path, kills, scope, *options)
    plain = ("--variant", "legacy", "--scope", scope, "--run-dir", "plain", *options)
    _, out, _ = go(*plain, "--format", "json")
    assert resumed == report(out)
    assert contents(tmp_path / "run") == contents(tmp_path / "plain")


@pytest.mark.slow  # a cap says something only where states are most of what it covers
def test_a_search_on_disk_stays_within_its_memory(tmp_path: Path) -> None:
    """The process as a whole, at its peak, with what it needs to read and write levels."""
    command = [
        sys.executable,
        "-m",
        "elrcheck",
        "check",
        "--scope",
        "three-brokers",
        "--memory",
        "320MiB",
        "--max-states",
        "8000000",
        "--fresh",
        "--format",
        "json",
    ]
    environment = {**os.environ, "ELRCHECK_CACHE_DIR": str(tmp_path)}
    ended = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)
    assert ended.returncode == 3, ended.stderr
    search = json.loads(ended.stdout)["search"]
    assert search["spilled"] and search["distinct"] >= 8_000_000
    assert search["peak_memory_bytes"] <= 1.02 * 320 * 2**20
