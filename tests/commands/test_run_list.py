"""`elrcheck runs`: what stored runs are told apart by, and that only elrcheck's own files are removed."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

import pytest

from elrcheck.base.progress import Silent
from elrcheck.base.requests import CheckRequest, Limits, Selection
from elrcheck.checking.check import run_check
from elrcheck.cli import cli
from elrcheck.commands import run_list
from elrcheck.commands.run_list import list_runs, removable, remove
from elrcheck.console.shell import run

DAY = 86400.0


def check(folder: Path, *properties: str, variant: str = "kip_full", depth: int | None = None) -> None:
    request = CheckRequest(
        Selection(variant, "two-brokers"), properties, limits=Limits(max_depth=depth), run_dir=folder
    )
    run_check(request, Silent())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Runs: finished, resumable, killed before it saved, damaged, with somebody else's file; and no run."""
    place = tmp_path / "runs"
    check(place / "finished", "P-1", "P-14", "W-4", "P-2", variant="legacy")
    check(place / "resumable", "P-1", depth=5)
    (place / "killed" / "levels").mkdir(parents=True)
    (place / "killed" / "levels" / "000.rows").write_bytes(bytes(100))
    (place / "damaged").mkdir()
    (place / "damaged" / "P-1.trace.json").write_text("{")
    check(place / "notes", "P-1", variant="legacy")
    (place / "notes" / "notes.txt").write_text("mine")
    (place / "other").mkdir()
    (place / "other" / "levels.txt").write_text("no run at all")
    return place


def test_what_each_run_is(folder: Path) -> None:
    by_name = {Path(one.path).name: one for one in list_runs(folder, time.time() + DAY)}
    assert {name: one.kind for name, one in by_name.items()} == {
        "finished": "finished",
        "resumable": "resumable",
        "killed": "unfinished",
        "damaged": "damaged",
        "notes": "finished",
    }
    first = by_name["finished"]
    assert (first.variant, first.scope) == ("legacy", "two-brokers")
    assert (first.violated, first.reached) == (("P-1", "P-2", "P-14"), ("W-4",))
    again = by_name["resumable"]
    assert (again.variant, again.depth) == ("kip_full", 5) and again.states and again.size > 0
    assert by_name["killed"].size == 100 and DAY <= by_name["killed"].age < DAY + 600
    assert by_name["notes"].foreign == "notes.txt" and by_name["damaged"].trouble
    assert list_runs(folder / "none", 0.0) == ()


def test_what_may_be_removed(folder: Path) -> None:
    listed = list_runs(folder, time.time() + DAY)

    def names(older_than: float, every: bool) -> set[str]:
        return {Path(one.path).name for one in listed if removable(one, older_than, every)}

    assert names(0.0, False) == {"finished"}
    assert names(0.0, True) == {"finished", "resumable", "killed", "damaged"}
    assert names(2 * DAY, True) == set()


def test_a_link_is_neither_followed_nor_removed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "P-1.trace.json").write_text("precious")
    place = tmp_path / "runs"
    (place / "linked").mkdir(parents=True)
    os.symlink(outside / "P-1.trace.json", place / "linked" / "P-1.trace.json")
    os.symlink(outside, place / "whole")
    assert run(cli, ["runs", "clean", "--all", "--folder", str(place)]) == 0
    assert (outside / "P-1.trace.json").read_text() == "precious" and (place / "linked").is_dir()


def test_the_commands(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--folder", str(folder)]
    assert run(cli, ["runs", *where, "--format", "json"]) == 0
    listed = [Path(one["path"]).name for one in json.loads(capsys.readouterr().out)]
    assert listed == ["damaged", "finished", "killed", "notes", "resumable"]
    assert run(cli, ["runs", *where]) == 0
    text = capsys.readouterr().out
    assert "resumable at depth 5" in text and "unfinished" in text and "damaged" in text
    assert run(cli, ["runs", "clean", *where, "--dry-run"]) == 0
    assert (folder / "finished").is_dir() and "would remove" in capsys.readouterr().out
    assert run(cli, ["runs", "clean", *where, "--older-than", "1d"]) == 0 and (folder / "finished").is_dir()
    assert run(cli, ["runs", "clean", *where]) == 0
    assert set(os.listdir(folder)) == {"resumable", "killed", "damaged", "notes", "other"}
    assert "notes.txt, which elrcheck did not write" in capsys.readouterr().err
    assert run(cli, ["runs", "clean", *where, "--all"]) == 0 and set(os.listdir(folder)) == {"notes", "other"}


def test_no_runs_is_no_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(cli, ["runs", "--folder", str(tmp_path / "none")]) == 0
    assert capsys.readouterr().err == f"there are no runs in {tmp_path / 'none'}\n"
    assert run(cli, ["runs", "clean", "--older-than", "soon"]) == 2


def test_files_that_vanish_while_they_are_listed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search beside the command renames its drafts; another `runs clean` removes the same runs."""
    stored = list_runs(folder, time.time())
    files = run_list._files
    monkeypatch.setattr(run_list, "_files", lambda place: [*files(place), place / "gone"])
    now = list_runs(folder, time.time())
    assert [(one.path, one.size) for one in now] == [(one.path, one.size) for one in stored]
    shutil.rmtree(stored[0].path)
    remove(stored, folder)
    assert os.listdir(folder) == ["other"]
