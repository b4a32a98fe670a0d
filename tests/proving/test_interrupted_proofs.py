"""Ctrl-C during a proof: the report has what was answered until then, claims no more, and ends with exit code 130."""

from __future__ import annotations

from pathlib import Path

import pytest

from elrcheck.base.errors import ExitCode
from elrcheck.base.progress import Event, ObligationDone, Silent
from elrcheck.base.proof_requests import CertificateRequest, ProveRequest
from elrcheck.base.requests import Selection
from elrcheck.proving.check_certificate import run_check_certificate
from elrcheck.proving.prove import run_prove
from elrcheck.report.formats import render
from elrcheck.results.prove_report import ProveReport
from support.places import protocol

PETERSON = protocol("peterson")
COMMIT = protocol("two_phase")


class Pressed(Silent):
    """Progress that presses Ctrl-C at a stage, or after some answers of it.

    stage: how the text of the stage begins. answers: the number of answers of it, 0 to press at once.
    """

    def __init__(self, stage: str, answers: int = 0) -> None:
        self.at, self.answers, self.left = stage, answers, -1

    def stage(self, text: str) -> None:
        self.left = self.answers if text.startswith(self.at) else -1
        if self.left == 0:
            raise KeyboardInterrupt

    def tell(self, event: Event) -> None:
        if isinstance(event, ObligationDone) and self.left > 0:
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt


def interrupted(request: ProveRequest, stage: str, answers: int = 0) -> ProveReport:
    with pytest.raises(KeyboardInterrupt):
        run_prove(request, Pressed(stage, answers))
    report = run_prove(request, Pressed(stage, answers), partial=True)
    assert report.interrupted and report.exit_code == ExitCode.INTERRUPTED
    return report


def headline(report: ProveReport) -> str:
    """The line of the text that begins with the verdict."""
    (line,) = (one for one in render(report, "text").splitlines() if one.startswith(report.verdict.upper()))
    return line


def test_no_wait_is_claimed_that_was_not_decided() -> None:
    report = interrupted(ProveRequest(Selection(model=PETERSON), liveness=True), "V-1")
    assert report.verdict == "inconclusive" and report.waits == ()
    assert report.coverage is not None and report.coverage.properties == 0
    assert f": interrupted, {len(report.initiation) + len(report.cells)} obligations answered, 0" in headline(report)


def test_a_cell_for_every_size_needs_all_its_choices() -> None:
    request = ProveRequest(Selection(model=COMMIT), any_size=True)
    whole = run_prove(request, Silent())
    assert whole.verdict == "proved"
    first = interrupted(request, "[2/3] consecution, for any size", 1)
    assert first.verdict == "inconclusive" and first.implication == () and first.sizes == "any"
    assert len(first.cells) < len(whole.cells) and len(first.initiation) == len(whole.initiation)
    assert {(cell.action, cell.lemma) for cell in first.cells} <= {(cell.action, cell.lemma) for cell in whole.cells}
    assert "interrupted, " in headline(first)


def test_no_cell_for_every_size_is_claimed_before_its_statement_is_fixed() -> None:
    report = interrupted(ProveRequest(Selection(model=COMMIT), any_size=True), "which properties the lemmas imply")
    assert report.verdict == "inconclusive" and report.sizes == "any"
    assert report.initiation == report.cells == report.implication == ()


def test_no_certificate_of_a_part_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "certificate"
    request = ProveRequest(Selection(model=COMMIT), any_size=True, certificate=folder)
    report = interrupted(request, "[1/3] initiation, for any size", 1)
    assert report.cells == () and not any(folder.rglob("*.smt2"))


def test_a_solver_that_is_interrupted_has_discharged_no_more_than_it_answered(tmp_path: Path) -> None:
    model, folder = Selection(model=PETERSON), tmp_path / "certificate"
    run_prove(ProveRequest(model, certificate=folder), Silent())
    request = CertificateRequest(folder, "z3", 1, 20.0, model)
    press = Pressed("discharging by z3", 2)
    with pytest.raises(KeyboardInterrupt):
        run_check_certificate(request, press)
    report = run_check_certificate(request, press, partial=True)
    assert (report.verdict, report.exit_code) == ("inconclusive", ExitCode.INTERRUPTED)
    first, second, *others = report.scripts
    assert first.complete and second.complete and len(others) > 1
    assert not any(script.complete or script.discharged for script in others)
    assert "resumes" in render(report, "text") and f'skipped="{len(others)}"' in render(report, "junit")
    whole = run_check_certificate(request, Silent())
    assert whole.verdict == "discharged" and whole.kept is not None


def test_a_proof_stays_proved_when_what_comes_after_it_is_interrupted() -> None:
    report = interrupted(ProveRequest(Selection(model=PETERSON), needed=True), "what needs each lemma")
    assert report.verdict == "proved" and report.needs is None
    assert ", with 2 processes, interrupted before the other answers" in headline(report)
