"""Certificates of proofs: what they hold, when they fit, what another solver says, and what is refused."""

from __future__ import annotations

import gzip
import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from elrcheck.base.errors import EnvironmentFault, ExitCode, UsageFault
from elrcheck.base.progress import Silent
from elrcheck.base.proof_requests import CertificateRequest, ProveRequest
from elrcheck.base.requests import Selection
from elrcheck.proof import check_shape, second_solver
from elrcheck.proving import discharge
from elrcheck.proving.check_certificate import run_check_certificate
from elrcheck.proving.prove import run_prove
from elrcheck.results.proofs.certificate_report import CertificateReport
from support.forgeries import FORGERIES, Forgery, edit, rewrite, script_of

# Of each, a proof is made first.
pytestmark = pytest.mark.slow
SMALL = Selection("kip_full", "two-brokers", ("log_slots=1", "broker_count=1", "min_isr=1"))
needs_cvc5 = pytest.mark.skipif(importlib.util.find_spec("cvc5") is None, reason="needs the package cvc5")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("proof") / "certificate"
    report = run_prove(ProveRequest(SMALL, workers=1, certificate=folder), Silent())
    assert {cell.verdict for cell in report.cells} == {"proved"}
    return folder


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "certificate"))


def check(folder: Path, solver: Any = None, **more: Any) -> CertificateReport:
    return run_check_certificate(CertificateRequest(folder, solver, workers=1, **more), Silent())


def test_a_new_one_fits(written: Path) -> None:
    report = check(written)
    assert (report.verdict, report.same_source, report.open) == ("fits", True, ())
    assert {script.fit for script in report.scripts} == {"same"}
    assert report.exit_code == ExitCode.HOLDS


@pytest.mark.parametrize("solver", ["z3", pytest.param("cvc5", marks=needs_cvc5)])
def test_a_solver_discharges_it(folder: Path, solver: str) -> None:
    report = check(folder, solver)
    assert report.verdict == "discharged"
    assert report.solver is not None and report.solver.name == solver
    assert all(script.discharged == script.questions > 0 for script in report.scripts)


@needs_cvc5
def test_cvc5_discharges_a_proof_of_two_brokers() -> None:
    selection = Selection("kip_full", "two-brokers", ("log_slots=1",))
    report = run_prove(ProveRequest(selection, solver="cvc5", timeout=60.0), Silent())
    assert report.verdict == "proved" and report.second is not None
    assert report.second.discharged == report.second.questions > 1000
    assert (report.second.unknown, report.second.refuted) == ((), ())


def test_a_weaker_script_is_refuted(folder: Path) -> None:
    """Without the equations for the next state, a step leads anywhere."""
    file = script_of(folder, "Fence")
    rewrite(
        folder, file, lambda text: "".join(line for line in text.splitlines(True) if not line.startswith("(assert (= "))
    )
    report = check(folder, "z3")
    assert (report.verdict, report.exit_code) == ("refuted", ExitCode.FINDING)
    assert [s.file for s in report.scripts if "Types" in s.refuted] == [file]


def test_an_undecided_question_is_inconclusive(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent_:
        def read(self, lines: Any) -> None: ...

        def ask(self, lines: Any) -> Any:
            return second_solver.TimedAnswer("unknown", 0.0)

    monkeypatch.setattr(discharge, "open_solver", lambda *_: Silent_())
    report = check(folder, "z3", fresh=True)
    assert (report.verdict, report.exit_code) == ("inconclusive", ExitCode.INCONCLUSIVE)
    assert sum(script.discharged for script in report.scripts) == 0


# ------------------------------------------------------------------------- another source


def test_another_source_with_the_same_obligations(folder: Path) -> None:
    edit(folder, lambda m: m.update(source="another"))
    report = check(folder)
    assert (report.verdict, report.same_source) == ("fits", False)


def test_an_edited_rule_changes_the_steps_that_use_it(folder: Path) -> None:
    """The settings of the certificate are those of another protocol than its texts."""
    edit(folder, lambda m: m["config"].update(clean_check="ALWAYS_CLEAN"))
    report = check(folder)
    assert (report.verdict, report.exit_code) == ("differs", ExitCode.FINDING)
    changed = {script.action for script in report.scripts if script.fit != "same"}
    assert changed == {"Register"}


# ------------------------------------------------------------------------- forgeries


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda forgery: forgery.name)
def test_a_forgery_is_refused(folder: Path, forgery: Forgery) -> None:
    """Each has a manifest with the digest of today's source and of its own texts; none fits."""
    file = forgery.forge(folder)
    try:
        report = check(folder)
    except UsageFault as fault:
        assert file in str(fault.where)
    else:
        assert (report.verdict, report.exit_code) == ("differs", ExitCode.FINDING)
        named = {part.file or part.subject for part in report.scripts if part.fit != "same"}
        assert file in named, named


def shape(folder: Path) -> tuple[int, str]:
    """What the checker without elrcheck says."""
    command = [sys.executable, "-I", "-S", str(check_shape.__file__), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder.parent, timeout=60)
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_the_shape_is_checked_from_the_text_alone(written: Path) -> None:
    """By a program of about 300 lines that imports the standard library only."""
    source = Path(check_shape.__file__).read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 310
    imported = set(re.findall(r"^(?:import|from) ([\w.]+)", source, re.MULTILINE))
    assert imported <= {*sys.stdlib_module_names}
    code, message = shape(written)
    questions = sum(script.questions for script in check(written).scripts)
    assert (code, message.split(" questions")[0]) == (0, f"SHAPE RIGHT  {questions}")


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda forgery: forgery.name)
def test_a_forgery_has_not_the_shape(folder: Path, forgery: Forgery) -> None:
    """But for those that only the model gives away."""
    file = forgery.forge(folder)
    code, message = shape(folder)
    if forgery.shapely:
        assert code == 0
    else:
        assert code == 1 and re.match(r"REFUSED  (manifest\.json|\S+\.smt2\.gz): ", message), (file, message)


def test_the_shape_of_no_certificate(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("[1]")
    code, message = shape(tmp_path)
    assert code == 1 and message.startswith("REFUSED  manifest.json")


# ------------------------------------------------------------------------- what is refused


def _truncated(folder: Path) -> None:
    path = folder / "premises.smt2.gz"
    path.write_bytes(path.read_bytes()[:-100])


def _foreign_text(folder: Path) -> None:
    path = folder / "premises.smt2.gz"
    path.write_bytes(gzip.compress(b"(set-logic ALL)\n"))


def _command(folder: Path) -> None:
    shell = '(set-option :regular-output-channel "/tmp/x")\n'
    rewrite(folder, "premises.smt2.gz", lambda text: shell + text)


def _asking_premises(folder: Path) -> None:
    rewrite(folder, "premises.smt2.gz", lambda text: text + "(check-sat-assuming (lemma!Types))\n")


def _no_question(folder: Path) -> None:
    rewrite(folder, "initiation.smt2.gz", lambda text: text.replace("(check-sat-assuming ()", "(assert (or)"))


def _outside(folder: Path) -> None:
    shutil.move(folder / "premises.smt2.gz", folder.parent / "premises.smt2.gz")
    edit(folder, lambda m: m["premises"].update(file="../premises.smt2.gz"))


def _missing(folder: Path) -> None:
    (folder / "initiation.smt2.gz").unlink()


def _unknown_key(folder: Path) -> None:
    edit(folder, lambda m: m.update(more=1))


def _unknown_setting(folder: Path) -> None:
    edit(folder, lambda m: m.update(source="another", config={**m["config"], "brokerz": 3}))


def _other_version(folder: Path) -> None:
    edit(folder, lambda m: m.update(schema="elrcheck.certificate/9"))


def _no_json(folder: Path) -> None:
    (folder / "manifest.json").write_text("{")


def _no_manifest(folder: Path) -> None:
    (folder / "manifest.json").unlink()


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (_truncated, "cannot read the text"),
        (_foreign_text, "not the one that the manifest names"),
        (_command, "not a command of a certificate"),
        (_asking_premises, "ask a question"),
        (_no_question, "is not a question"),
        (_outside, "leads out of the certificate"),
        (_missing, "is missing"),
        (_unknown_key, "unknown field `more`"),
        (_unknown_setting, "no setting `brokerz`"),
        (_other_version, "elrcheck.certificate/9"),
        (_no_json, "not a certificate"),
        (_no_manifest, "cannot read"),
    ],
    ids=lambda value: value.__name__.strip("_") if callable(value) else "",
)
def test_a_damaged_one_is_refused(folder: Path, damage: Callable[[Path], None], says: str) -> None:
    damage(folder)
    with pytest.raises(UsageFault) as fault:
        check(folder)
    assert says in str(fault.value)


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(UsageFault, match="no certificate is in it"):
        run_prove(ProveRequest(SMALL, workers=1, certificate=tmp_path), Silent())
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_without_cvc5(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "cvc5", None)
    with pytest.raises(EnvironmentFault, match="cvc5") as fault:
        check(folder, "cvc5")
    assert "cvc5>=1.2" in str(fault.value.help)
