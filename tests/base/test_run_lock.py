"""A folder of a run belongs to one process at a time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from elrcheck.base.errors import EnvironmentFault, ExitCode
from elrcheck.base.run_lock import alone_in, in_turn, is_occupied
from elrcheck.cli import cli
from elrcheck.commands.run_list import list_runs, removable
from elrcheck.console.shell import run
from support.processes import ended_in_time

pytest.importorskip("fcntl", reason="folders cannot be locked here")
STOPPED = ("check", "--scope", "two-brokers", "--max-depth", "5", "--run-dir", "kept")


def test_one_at_a_time_and_no_folder_is_left(tmp_path: Path) -> None:
    place = tmp_path / "runs" / "one"
    with alone_in(place):
        assert is_occupied(place)
        with pytest.raises(EnvironmentFault, match="another elrcheck") as refused, alone_in(place):
            pass
        assert (refused.value.code, refused.value.exit_code) == ("run-in-use", ExitCode.ENVIRONMENT)
        assert is_occupied(place), "who is refused does not end the lock of who is there"
    assert list(tmp_path.iterdir()) == []


def test_what_was_there_stays(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    with alone_in(tmp_path / "runs" / "one"):
        (tmp_path / "runs" / "one" / "file").touch()
    assert (tmp_path / "runs" / "one" / "file").exists()
    with alone_in(tmp_path / "runs" / "two"):
        pass
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["one"]
    with alone_in(tmp_path / "three", needed=False):
        assert not (tmp_path / "three").exists()


def test_a_process_that_is_killed_lets_go(tmp_path: Path) -> None:
    source = (
        "import sys, time\nfrom pathlib import Path\nfrom elrcheck.base.run_lock import alone_in\n"
        "with alone_in(Path(sys.argv[1])):\n    print('in', flush=True)\n    time.sleep(60)\n"
    )
    place = tmp_path / "run"
    command = [sys.executable, "-c", source, place]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as other, ended_in_time(other):
        assert other.stdout is not None and other.stdout.readline() == b"in\n"
        assert is_occupied(place)
        other.kill()
    assert not is_occupied(place)


def test_commands_stay_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(cli, STOPPED) == ExitCode.INCONCLUSIVE
    before = {path: path.read_bytes() for path in Path("kept").rglob("*") if path.is_file()}
    with alone_in(Path("kept")):
        capsys.readouterr()
        assert run(cli, ["check", "--resume", "kept"]) == ExitCode.ENVIRONMENT
        printed = capsys.readouterr().err
        assert "error[run-in-use]" in printed and "kept" in printed and "another folder" in printed
        (listed,) = list_runs(tmp_path, time.time())
        assert (listed.kind, removable(listed, 0.0, True)) == ("running", False)
    assert {path: path.read_bytes() for path in Path("kept").rglob("*") if path.is_file()} == before
    (listed,) = list_runs(tmp_path, time.time())
    assert (listed.kind, removable(listed, 0.0, True)) == ("resumable", True)
    assert run(cli, ["check", "--resume", "kept"]) == ExitCode.HOLDS
    assert os.path.isdir("kept")


def test_a_run_without_a_folder_of_its_own_takes_one_that_nobody_uses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two equal checks at once would remove each other's checkpoints."""
    monkeypatch.chdir(tmp_path)
    check = ["--no-progress", "check", "--variant", "legacy", "--scope", "two-brokers", "-p", "P-1"]

    def folder() -> str:
        assert run(cli, [*check, "--format", "json"]) == ExitCode.FINDING
        return str(json.loads(capsys.readouterr().out)["run_dir"])

    first = folder()
    with alone_in(Path(first)):
        assert folder() == f"{first}-2"
    assert folder() == first


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        ("check --scope two-brokers-quiet", ExitCode.HOLDS),
        ("check --scope two-brokers-quiet --fresh --checkpoint-every 0.001s", ExitCode.HOLDS),
        ("check --scope two-brokers-quiet --fingerprint 64", ExitCode.ENVIRONMENT),
        ("check --variant legacy --scope two-brokers -p P-1", ExitCode.ENVIRONMENT),
        ("simulate --variant legacy --scope two-brokers --seed 1 --walks 2000 --workers 1", ExitCode.ENVIRONMENT),
        ("sweep --scope two-brokers-quiet --sweep crashes=0", ExitCode.ENVIRONMENT),
    ],
)
def test_where_no_folder_can_be_created(
    argv: str, code: ExitCode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run that stores nothing does without a folder; one that must store a trace says which option names another."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".elrcheck").touch()
    assert run(cli, ["--no-progress", *argv.split()]) == code
    err = capsys.readouterr().err
    assert ("cannot write .elrcheck/runs/" in err and "name another: --run-dir DIR" in err) == (code != ExitCode.HOLDS)
    assert (tmp_path / ".elrcheck").read_bytes() == b""


def test_one_after_the_other_reads_and_writes_a_file(tmp_path: Path) -> None:
    """Each of many threads adds one; without turns most read the same number. A run in the folder holds up nobody."""
    number = tmp_path / "number"
    number.write_text("0")

    def add(_: int) -> None:
        with in_turn(tmp_path):
            before = int(number.read_text())
            time.sleep(0.002)
            number.write_text(str(before + 1))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(24)))
    assert number.read_text() == "24"
    with alone_in(tmp_path), in_turn(tmp_path, seconds=0.05):
        pass


@pytest.mark.parametrize(
    ("argv", "taken"),
    [
        ("check --scope two-brokers-quiet --run-dir run", "report.json"),
        ("check --variant legacy --scope two-brokers -p P-1 --run-dir run", "P-1.trace.json"),
        ("sweep --scope two-brokers-quiet --sweep crashes=0 --run-dir run", "sweep.json"),
        ("scenario E-1 --run-dir run", "E-1-kip_full.trace.json"),
    ],
)
def test_a_run_folder_that_cannot_be_written(
    argv: str, taken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every file of a run names the option for another folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / taken).symlink_to(tmp_path / "missing" / "file")
    assert run(cli, ["--no-progress", *argv.split()]) == ExitCode.ENVIRONMENT
    err = capsys.readouterr().err
    assert f"cannot write run/{taken}" in err and "= help: name another: --run-dir DIR" in err
