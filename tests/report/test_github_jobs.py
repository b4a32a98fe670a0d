"""A job of GitHub, no format chosen: the text stays, annotations and the step summary are added."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from elrcheck.cli import cli
from elrcheck.console.shell import run
from elrcheck.report.formats import render
from elrcheck.results.check_report import CheckReport, EngineReport, PropertyReport, SearchReport

REPORT = CheckReport(
    verdict="violated",
    variant="kip_full",
    scope="two-brokers",
    config={},
    engine=EngineReport("local"),
    search=SearchReport(True, 10, 5, 2, (1, 4), 0.1, 50.0, 8),
    properties=(PropertyReport("P-1", "One", "always", "violated", 2, source="model/a.py:3"),),
)
Go = Callable[..., tuple[int, str, str]]


@pytest.fixture
def go(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Go:
    """`elrcheck check` with a search that found something, in a job of GitHub."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("elrcheck.checking.check.run_check", lambda *_: REPORT)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))

    def call(*argv: str) -> tuple[int, str, str]:
        code = run(cli, ["--no-progress", "check", *argv])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_annotations_are_added_to_the_text(go: Go, tmp_path: Path) -> None:
    code, out, err = go()
    assert code == 1 and out == render(REPORT, "text")
    assert err == render(REPORT, "github")
    assert err.startswith("::error title=P-1 One") and "model/a.py:3 of elrcheck" in err
    assert (tmp_path / "summary").read_text(encoding="utf-8") == render(REPORT, "markdown") + "\n"


def test_a_path_of_the_repository_is_annotated(go: Go, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "a.py").touch()
    assert go()[2].startswith("::error file=model/a.py,line=3,title=P-1 One")


def test_files_do_not_matter(go: Go, tmp_path: Path) -> None:
    assert go("-o", "report.json")[2].startswith("::error")
    assert (tmp_path / "report.json").exists()


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_a_chosen_format_is_all_there_is(go: Go, tmp_path: Path, form: str) -> None:
    assert go("--format", form)[2] == ""
    assert not (tmp_path / "summary").exists()


def test_so_is_one_of_the_environment_or_of_the_settings(
    go: Go, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elrcheck.toml").write_text('[check]\nformat = "text"\n')
    assert go()[2] == ""
    (tmp_path / "elrcheck.toml").unlink()
    monkeypatch.setenv("ELRCHECK_CHECK_FORMAT", "text")
    assert go()[2] == ""
    monkeypatch.delenv("ELRCHECK_CHECK_FORMAT")
    monkeypatch.setenv("GITHUB_ACTIONS", "false")
    assert go()[2] == ""
    assert not (tmp_path / "summary").exists()


def test_a_report_without_that_format_is_as_ever(
    go: Go, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("elrcheck.commands.simulate.run_simulate", lambda *_: REPORT)
    assert run(cli, ["--no-progress", "simulate"]) == 1
    assert capsys.readouterr().err == "" and not (tmp_path / "summary").exists()


def test_an_error_is_annotated(go: Go, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a job without a chosen format, and with `github` anywhere; on stderr, which the runner reads too."""
    code, out, err = go("--workers", "no")
    assert (code, out) == (2, "") and err.splitlines()[-1].startswith("::error title=elrcheck usage-bad-value::")
    assert "%0Asee `elrcheck check --help`" in err.splitlines()[-1]
    assert "::error" not in go("--workers", "no", "-f", "json")[2]
    assert "::error" not in go("--workers", "no", "-fjson")[2]
    monkeypatch.delenv("GITHUB_ACTIONS")
    assert "::error" not in go("--workers", "no")[2]
    assert "::error title=" in go("--workers", "no", "--format", "github")[2]
    assert "::error title=" in go("--workers", "no", "-fgithub")[2]
    (tmp_path / "elrcheck.toml").write_text("\n[check]\nscop = 1\n")
    assert "::error file=elrcheck.toml,line=3,title=" in go("--format=github")[2]


def test_a_job_in_a_folder_names_files_from_the_repository(
    go: Go, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GitHub reads paths from the repository, whatever `working-directory` a step has."""
    folder = tmp_path / "team"
    (folder / "model").mkdir(parents=True)
    (folder / "model" / "a.py").touch()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    assert go("-o", "r.sarif")[2].startswith("::error file=team/model/a.py,line=3,title=P-1 One")
    (result,) = json.loads((folder / "r.sarif").read_text())["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "team/model/a.py"
    (folder / "elrcheck.toml").write_text("\n[check]\nscop = 1\n")
    assert "::error file=team/elrcheck.toml,line=3,title=" in go()[2]
