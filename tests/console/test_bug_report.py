"""A planted fault: where its report goes, what is in it, and what is not."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from elrcheck import __version__
from elrcheck.cli import cli
from elrcheck.commands.run_list import list_runs
from elrcheck.console.bug_report import without_secrets, write_report
from elrcheck.console.shell import run

Fail = Callable[..., tuple[str, str]]
SECRETS = {"AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI", "MY_TOKEN": "ghp_0123456789", "ELRCHECK_CHECK_WORKERS": "1"}


@pytest.fixture
def fail(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Fail:
    """Runs a command in which `resolve` fails as nobody foresaw; the report, and where it says that it is."""
    monkeypatch.chdir(tmp_path)
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)

    def planted(*_: object) -> None:
        raise ZeroDivisionError("planted, with wJalrXUtnFEMI in it")

    monkeypatch.setattr("elrcheck.checking.check.resolve", planted)

    def call(*argv: str) -> tuple[str, str]:
        assert run(cli, ["--no-progress", *argv]) == 70
        captured = capsys.readouterr()
        assert captured.out == "" and "Traceback" not in captured.err
        assert "error[internal]: ZeroDivisionError: planted" in captured.err and "please report" in captured.err
        place = captured.err.split("--> ")[1].splitlines()[0]
        return Path(place).read_text(encoding="utf-8"), place

    return call


def test_without_a_run_folder_it_is_in_the_current_one(fail: Fail) -> None:
    text, place = fail("check", "--scope", "two-brokers", "--set", "crashes=0")
    assert place.startswith(f".elrcheck{os.sep}bug-report-")
    assert f"elrcheck {__version__}, Python 3." in text and "click 8." in text and "numpy " in text
    assert "command: elrcheck --no-progress check --scope two-brokers --set crashes=0" in text
    assert "scope='two-brokers'  (commandline)" in text and "workers=1  (environment)" in text
    assert "Traceback (most recent call last)" in text and "in run_check" in text
    assert "variables: ELRCHECK_CACHE_DIR, ELRCHECK_CHECK_WORKERS" in text


def test_no_secret_is_in_it(fail: Fail) -> None:
    text, _ = fail(
        "check",
        "--engine",
        "spark",
        "--spark-conf",
        "spark.hadoop.fs.s3a.secret.key=hunter2",
        "--spark-conf",
        "spark.executor.memory=2g",
        "--storage",
        "s3://me:hunter3@bucket/x",
    )
    for secret in ("hunter2", "hunter3", *(v for k, v in SECRETS.items() if not k.startswith("ELRCHECK"))):
        assert secret not in text
    assert "spark.executor.memory=2g" in text and "@bucket/x" in text


def test_with_a_run_folder_it_is_there_and_can_be_cleaned(fail: Fail, tmp_path: Path) -> None:
    _, place = fail("check", "--run-dir", "runs/here")
    assert Path(place).parent == Path("runs/here")
    (run,) = list_runs(tmp_path / "runs", 0.0)
    assert run.foreign is None and run.kind == "finished"


def test_two_faults_have_two_reports(fail: Fail) -> None:
    assert fail("check")[1] != fail("check")[1]


def test_a_folder_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "file").write_text("")
    place = write_report("text", tmp_path / "file" / "folder")
    assert place is not None and place.parent == tmp_path / "temporary"
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "file"))
    assert write_report("text", tmp_path / "file" / "folder") is None


def test_settings_are_named_with_their_source(fail: Fail, tmp_path: Path) -> None:
    (tmp_path / "elrcheck.toml").write_text("[check]\nmax-depth = 7\n")
    text, _ = fail("check")
    assert "max_depth=7  (default_map)" in text


def test_what_is_hidden() -> None:
    secrets = "a.password='x y' b=1 url=hdfs://u:p@h/x API_KEY=abc tokens: 3"
    text = without_secrets(secrets, {"PASSWD": "b=1 url", "PASS": "x"})
    assert text == "a.password=(hidden) (hidden)=hdfs://(hidden)@h/x API_KEY=(hidden) tokens: 3"
