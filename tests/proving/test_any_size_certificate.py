"""Certificates of proofs for every size: they fit their source, another solver discharges them, and no forgery fits."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from typing import Any

import pytest

from elrcheck.base.progress import Silent
from elrcheck.base.proof_requests import CertificateRequest, ProveRequest
from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from elrcheck.proof import check_shape
from elrcheck.proof.any_size.step_tasks import every_choice
from elrcheck.proof.any_size.steps import Unbounded, UnboundedStep
from elrcheck.proof.any_size.text import AnySizeText
from elrcheck.proof.certificate import INITIATION, CertifiedGoal, read_manifest
from elrcheck.proof.smt_text import name_of
from elrcheck.proving.check_certificate import run_check_certificate
from elrcheck.proving.prove import run_prove
from elrcheck.results.proofs.certificate_report import CertificateReport
from support.forgeries import edit, rewrite, script_of
from support.places import protocol

MODEL = Selection(model=protocol("two_phase"))
needs_cvc5 = pytest.mark.skipif(importlib.util.find_spec("cvc5") is None, reason="needs the package cvc5")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("any-size") / "certificate"
    report = run_prove(ProveRequest(MODEL, timeout=4.0, any_size=True, certificate=folder), Silent())
    assert report.verdict == "proved"
    return folder


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "certificate"))


def check(folder: Path, solver: Any = None, model: Selection = MODEL) -> CertificateReport:
    return run_check_certificate(CertificateRequest(folder, solver, 1, 20.0, model), Silent())


def test_a_new_one_fits_and_asks_for_each_goal_of_each_step(written: Path) -> None:
    report = check(written)
    assert (report.verdict, report.same_source, report.open) == ("fits", True, ())
    manifest = read_manifest(written)
    assert manifest.sizes == "any"
    steps = [script for script in manifest.scripts if script.action]
    goals = {"Frame", "Types", *manifest.lemmas}
    assert len(steps) > 1
    assert all(goals <= {cell.name for cell in script.cells} for script in steps)


@pytest.mark.parametrize("solver", ["z3", pytest.param("cvc5", marks=needs_cvc5)])
def test_a_solver_discharges_it_from_its_text(written: Path, solver: str) -> None:
    report = check(written, solver)
    assert report.verdict == "discharged"
    assert all(script.discharged == script.questions for script in report.scripts)


def test_a_question_has_the_triggers_of_its_proof() -> None:
    selected = resolve(Selection(model=protocol("chang_roberts")))
    system = Unbounded(selected.declared.with_lemmas(), selected.config)
    text = AnySizeText(system, ())
    step = next(UnboundedStep(system, choice) for choice in every_choice(system) if choice.action.name == "Receive")
    cells = [CertifiedGoal(name="Types", both_sides=both) for both in (False, True)]
    left, both = (text.consecution(step, [cell]).count(":pattern") for cell in cells)
    assert 0 < left < both


def test_a_choice_of_arguments_is_one_symbol() -> None:
    assert [name_of("goal", name) for name in ("Types", "Fetch(f=0, lost=true)", "Fetch()")] == [
        "goal!Types",
        "|goal!Fetch(f=0, lost=true)|",
        "|goal!Fetch()|",
    ]


def test_a_goal_that_is_true_without_a_proof_does_not_fit(folder: Path) -> None:
    file = script_of(folder, "Commit")
    rewrite(folder, file, lambda text: text.replace("(not goal!Types)", "(not true)"))
    report = check(folder)
    assert report.verdict == "differs"
    assert [script.file for script in report.scripts if script.fit != "same"] == [file]


def test_a_guard_that_is_left_out_is_refuted_or_undecided(folder: Path) -> None:
    file = script_of(folder, "Commit")
    rewrite(folder, file, lambda text: text.replace(" guard (not", " (not"))
    report = check(folder, "z3")
    assert report.verdict != "discharged"
    assert any(script.fit == "changed" for script in report.scripts)


def test_a_step_that_is_left_out_is_new(folder: Path) -> None:
    file = script_of(folder, "Commit")
    (folder / file).unlink()
    edit(folder, lambda m: m.update(scripts=[one for one in m["scripts"] if one["file"] != file]))
    report = check(folder)
    assert report.verdict == "differs"
    assert ("Commit", "new") in {(script.action, script.fit) for script in report.scripts}


def test_a_lemma_that_is_assumed_of_the_initial_state_does_not_fit(folder: Path) -> None:
    name = read_manifest(folder).lemmas[0]
    rewrite(folder, INITIATION, lambda text: text.replace(f"(not goal!{name})", f"now!{name} (not goal!{name})"))
    assert check(folder).verdict == "differs"


def test_a_property_that_the_lemmas_imply_is_no_lemma(written: Path, folder: Path) -> None:
    lemmas = read_manifest(written).lemmas
    assert "Consistent" not in lemmas and "Consistent" in read_manifest(written).properties
    edit(folder, lambda m: m.update(lemmas=[name for name in lemmas if name != "CommitNeedsAll"]))
    assert check(folder).verdict == "differs", "a declared lemma may not be left out"


def test_what_is_open_is_named(tmp_path: Path) -> None:
    folder, model = tmp_path / "certificate", Selection(model=protocol("peterson"))
    report = run_prove(ProveRequest(model, timeout=1.0, any_size=True, certificate=folder), Silent())
    left = {(cell.action, cell.lemma) for cell in report.cells if cell.verdict != "proved"}
    assert left
    checked = check(folder, model=model)
    assert checked.verdict == "inconclusive"
    assert {action for action, _ in left} == {one.split(" ")[0] for one in checked.open}


def test_the_checker_of_shapes_says_that_it_does_not_read_it(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check_shape.main([str(written)]) == 1
    assert "every size" in capsys.readouterr().out
