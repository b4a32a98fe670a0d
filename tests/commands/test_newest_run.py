"""`check --resume` without a folder: the newest resumable run, which a note names."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from elrcheck.base.requests import CheckRequest
from elrcheck.cli import cli
from elrcheck.console.shell import run

Go = Callable[..., tuple[int, str, list[CheckRequest]]]
RUNS = Path(".elrcheck") / "runs"


@pytest.fixture
def go(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Go:
    """`elrcheck check` up to the request."""
    monkeypatch.chdir(tmp_path)
    requests: list[CheckRequest] = []

    def stand_in(request: CheckRequest, *_: object) -> None:
        requests.append(request)
        raise KeyboardInterrupt

    monkeypatch.setattr("elrcheck.checking.check.run_check", stand_in)

    def call(*argv: str) -> tuple[int, str, list[CheckRequest]]:
        requests.clear()
        code = run(cli, ["--no-progress", "check", *argv])
        return code, capsys.readouterr().err, requests

    return call


def make(name: str, file: str, age: int) -> Path:
    place = RUNS / name / file
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("{}")
    os.utime(place, (1_000_000 - age, 1_000_000 - age))
    return place.parent


def test_the_newest_that_can_be_gone_on_with(go: Go) -> None:
    make("older", "run.json", 20)
    newest = make("newer", "run.json", 10)
    make("finished", "P-1.trace.json", 0)
    _, err, requests = go("--resume", "--max-depth", "12")
    assert requests[0].resume == newest and requests[0].limits.max_depth == 12
    assert f"resuming {newest}" in err
    assert go("--max-depth", "12", "--resume")[2][0].resume == newest


def test_a_folder_can_still_be_named(go: Go) -> None:
    make("newer", "run.json", 10)
    for argv in (("--resume", "here"), ("--resume=here",)):
        _, err, requests = go(*argv)
        assert requests[0].resume == Path("here") and "resuming" not in err
    assert go()[2][0].resume is None


def test_there_is_none(go: Go) -> None:
    make("finished", "P-1.trace.json", 0)
    code, err, requests = go("--resume")
    assert code == 2 and requests == []
    assert "error[no-checkpoint]: there is no resumable run in .elrcheck/runs" in err
    assert "`elrcheck runs`" in err


def test_config_says_which(go: Go, capsys: pytest.CaptureFixture[str]) -> None:
    newest = make("newer", "run.json", 10)
    assert run(cli, ["show", "config", "check", "--resume"]) == 0
    assert str(newest) in capsys.readouterr().out


def test_the_environment_and_the_settings_name_a_folder(
    go: Go, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ELRCHECK_CHECK_RESUME", "there")
    assert go()[2][0].resume == Path("there")
    monkeypatch.delenv("ELRCHECK_CHECK_RESUME")
    (tmp_path / "elrcheck.toml").write_text('[check]\nresume = "file"\n')
    assert go()[2][0].resume == Path("file")
