"""Proofs that cvc5 writes for its answers: what is read of a checker's answer, and what no checker is asked."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from elrcheck.base.errors import EnvironmentFault, ExitCode, UsageFault
from elrcheck.base.progress import Silent
from elrcheck.base.proof_requests import CertificateRequest, ProveRequest
from elrcheck.base.requests import Selection
from elrcheck.proof import check_proofs
from elrcheck.proof.certificate import read_manifest, read_premises, read_script
from elrcheck.proof.check_proofs import ProofAnswer, answer, assertions, fault_of, plain, proof_file, without_parameters
from elrcheck.proof.ethos_program import find_ethos
from elrcheck.proof.second_solver import RelevantLines
from elrcheck.proving.check_certificate import run_check_certificate
from elrcheck.proving.prove import run_prove
from elrcheck.results.proofs.certificate_report import CertificateReport
from support.places import protocol

MODEL = Selection(model=protocol("two_phase"))
PROOF = "(define @t1 () (not a))\n(assume @p1 a)\n(assume @p2 @t1)\n(step @p3 false :rule contra :premises (@p1 @p2))\n"
TRUSTING = "; trust TRUST ARITH_DIO_LEMMA\n(step @p3 false :rule trust :premises () :args (false))\n"
needs_cvc5 = pytest.mark.skipif(importlib.util.find_spec("cvc5") is None, reason="needs the package cvc5")
WITHOUT_ETHOS = not (shutil.which(os.environ.get("ETHOS", "ethos")) and os.environ.get("CPC_SIGNATURES"))
needs_ethos = pytest.mark.skipif(WITHOUT_ETHOS, reason="needs ethos on PATH or in ETHOS, and CPC_SIGNATURES")


# ------------------------------------------------------------------------- answers of a checker, and texts for it


@pytest.mark.parametrize(
    ("exit_code", "out", "err", "proof", "expected"),
    [
        (0, "correct\n", "", PROOF, ProofAnswer("checked")),
        (0, "incomplete\n", "", PROOF + TRUSTING, ProofAnswer("holes", "TRUST ARITH_DIO_LEMMA")),
        (0, "correct\n", "", PROOF + TRUSTING, ProofAnswer("holes", "TRUST ARITH_DIO_LEMMA")),
        (0, "incorrect\n", "", PROOF, ProofAnswer("refused", "incorrect")),
        (0, "correct\ncorrect\n", "", PROOF, ProofAnswer("refused", "correct")),
        (0, "", "", PROOF, ProofAnswer("refused", "ethos ended with 0")),
        (1, "correct\n", "", PROOF, ProofAnswer("refused", "correct")),
        (0, "correct\n", "a warning\n", PROOF, ProofAnswer("refused", "a warning")),
        (
            -6,
            "",
            "Fatal failure\nError: 3.4: no such rule\n",
            PROOF,
            ProofAnswer("refused", "Error: 3.4: no such rule"),
        ),
    ],
)
def test_only_one_answer_of_the_checker_counts(
    exit_code: int, out: str, err: str, proof: str, expected: ProofAnswer
) -> None:
    assert answer(exit_code, out, err, proof) == expected


def test_a_proof_ends_in_false() -> None:
    assert fault_of(PROOF) == ""
    assert "false" in fault_of(PROOF.rsplit("(step", 1)[0])
    assert "false" in fault_of("")
    assert "does not end" in fault_of("(assume-push @p0 a)\n" + PROOF)
    assert "does not begin" in fault_of("(step-pop @p0 :rule scope :premises (@p1))\n" + PROOF)


@pytest.mark.parametrize(
    "line",
    [
        '(include "mine.eo")',
        "(declare-const a Bool)",
        "(declare-rule mine () :conclusion false)",
        "(define a () true)",
        "(define @t2 () a)(define a () true)",
        "(define @t2 () a) (define  a () true)",
        '(define @t2 () a)\t(\treference "mine.smt2")',
        "(program mine () :signature (Bool) Bool)",
        "(define @list () a)",
        "(set-option :x)",
        "(define @t2 () a) ; (",
        "a",
    ],
)
def test_a_proof_only_abbreviates_assumes_and_steps(line: str) -> None:
    assert "no step of a proof" in fault_of(f"{line}\n{PROOF}")


def test_a_definition_with_parameters_is_an_assertion_for_all_values() -> None:
    line = "(define-fun guard!Fetch ((arg!f Int) (arg!lost Bool)) Bool (and arg!lost (= 1 arg!f)))"
    body = "(forall ((arg!f Int) (arg!lost Bool)) (= (guard!Fetch arg!f arg!lost) (and arg!lost (= 1 arg!f))))"
    assert list(plain(line)) == ["(declare-fun guard!Fetch (Int Bool) Bool)", f"(assert {body})"]
    assert list(plain("(define-fun now!A () Bool (= 1 |a[0]|))")) == ["(define-fun now!A () Bool (= 1 |a[0]|))"]


def test_patterns_are_left_out_for_ethos_alone() -> None:
    line = "(define-fun axiom!0 () Bool (forall ((x R)) (! (! (= (f x) |a ( b|) :pattern ((f x))) :pattern ((g x) x))))"
    assert list(plain(line)) == ["(define-fun axiom!0 () Bool (forall ((x R)) (= (f x) |a ( b|)))"]
    assert list(without_parameters(line)) == [line]
    other = "(define-fun axiom!0 () Bool (! a :named b))"
    assert list(plain(other)) == [other]


def test_the_lines_of_a_question_are_those_that_its_names_lead_to() -> None:
    lines = (
        "(set-logic ALL)",
        "(declare-fun x () Int)",
        "(declare-fun |x'| () Int)",
        "(declare-fun |y'| () Int)",
        "(define-fun now!A () Bool (< x 3))",
        "(declare-fun lemma!A () Bool)",
        "(assert (=> lemma!A now!A))",
        "(assert (= |x'| (+ x 1)))",
        "(assert (= |y'| x))",
        "(define-fun goal!A () Bool (< |x'| 4))",
        "(define-fun goal!B () Bool (< |y'| 4))",
    )
    relevant = RelevantLines(lines)
    without_y = [line for line in lines if "|y'|" not in line]
    assert relevant.of(("(assert (not goal!A))", "(assert lemma!A)")) == without_y
    assert relevant.of(("(assert (not goal!B))",)) == [
        line for line in lines if "|x'|" not in line and "!A" not in line
    ]


# ------------------------------------------------------------------------- runs with a stand-in for the checker

STAND_IN = """#!{python}
import sys
if sys.argv[1:] == ["--help"]:
    print("--reference-define-fun")
elif sys.argv[1:] == ["--show-config"]:
    print("This is ethos version 9.9.")
else:
    with open({calls!r}, "a") as calls:
        calls.write("x")
    print(open({says!r}).read(), end="")
"""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("objects") / "certificate"
    assert run_prove(ProveRequest(MODEL, certificate=folder), Silent()).verdict == "proved"
    return folder


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a program that answers what its file `says` has, and notes its calls."""
    folder = tmp_path / "checker"
    (folder / "rules").mkdir(parents=True)
    (folder / "rules" / "Cpc.eo").write_text("; rules\n")
    says, calls = folder / "says", folder / "calls"
    says.write_text("correct\n")
    calls.write_text("")
    program = folder / "ethos"
    program.write_text(STAND_IN.format(python=sys.executable, calls=str(calls), says=str(says)))
    program.chmod(0o755)
    monkeypatch.setenv("ELRCHECK_CACHE_DIR", str(tmp_path / "cache"))
    yield folder


def check(certificate: Path, proofs: Path | None, solver: Any = "cvc5", **more: Any) -> CertificateReport:
    request = CertificateRequest(certificate, solver, 1, 20.0, MODEL, proofs, **more)
    return run_check_certificate(request, Silent())


@needs_cvc5
@pytest.mark.slow
def test_a_run_goes_on_where_it_was(certificate: Path, stand_in: Path, tmp_path: Path) -> None:
    proofs = tmp_path / "proofs"
    of_stand_in = {"ethos": stand_in / "ethos", "signatures": stand_in / "rules"}
    first = check(certificate, proofs, **of_stand_in)
    assert (first.verdict, first.exit_code, first.kept) == ("checked", ExitCode.HOLDS, None)
    assert first.checker is not None and (first.checker.name, first.checker.version) == ("ethos", "9.9")
    files = sorted(path.relative_to(proofs).as_posix() for path in proofs.rglob("*.gz"))
    named = [proof_file(part.file, i) for part in first.scripts for i in range(part.questions)]
    assert files == sorted(named) and len(files) > 20
    calls = stand_in / "calls"
    assert calls.stat().st_size == len(files)

    again = check(certificate, proofs, **of_stand_in)
    assert (again.verdict, again.kept is not None) == ("checked", True)
    assert calls.stat().st_size == len(files)

    (proofs / files[0]).write_bytes(b"damaged")
    (proofs / files[1]).unlink()
    assert check(certificate, proofs, **of_stand_in).verdict == "checked"
    assert calls.stat().st_size == len(files) + 2
    assert check(certificate, proofs, **of_stand_in, fresh=True).verdict == "checked"
    assert calls.stat().st_size == 2 * len(files) + 2


@needs_cvc5
@pytest.mark.slow
def test_a_proof_with_holes_leaves_the_verdict_open(certificate: Path, stand_in: Path, tmp_path: Path) -> None:
    (stand_in / "says").write_text("incomplete\n")
    report = check(certificate, tmp_path / "proofs", ethos=stand_in / "ethos", signatures=stand_in / "rules")
    assert (report.verdict, report.exit_code) == ("inconclusive", ExitCode.INCONCLUSIVE)
    assert all(script.discharged == script.questions for script in report.scripts)
    faults = [fault for script in report.scripts if script.proofs is not None for fault in script.proofs.faults]
    assert {fault.verdict for fault in faults} == {"holes"}


def test_what_is_missing_is_named(stand_in: Path) -> None:
    path = {"PATH": str(stand_in)}
    rules = {"CPC_SIGNATURES": str(stand_in / "rules")}
    assert find_ethos(None, None, path | rules).version == "9.9"
    for environ, word in (
        ({"PATH": ""} | rules, "ethos"),
        (path, "no folder"),
        (path | {"CPC_SIGNATURES": "/no"}, "/no"),
    ):
        with pytest.raises(EnvironmentFault, match=word):
            find_ethos(None, None, environ)
    before = find_ethos(None, None, path | rules).digest
    (stand_in / "rules" / "Cpc.eo").write_text("; other rules\n")
    assert find_ethos(None, None, path | rules).digest != before


@pytest.mark.slow
def test_only_cvc5_writes_proofs(certificate: Path, tmp_path: Path) -> None:
    for solver in (None, "z3"):
        with pytest.raises(UsageFault, match="cvc5"):
            check(certificate, tmp_path / "proofs", solver)


# ------------------------------------------------------------------------- runs with ethos


def run_alone(*arguments: object) -> tuple[int, str]:
    """Run the checker that needs no elrcheck."""
    command = [sys.executable, "-I", "-S", str(check_proofs.__file__), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout


@needs_cvc5
@needs_ethos
@pytest.mark.slow
@pytest.mark.parametrize("any_size", [False, True])
def test_ethos_accepts_the_proofs_and_no_others(any_size: bool, tmp_path: Path) -> None:
    certificate, proofs = tmp_path / "certificate", tmp_path / "proofs"
    run_prove(ProveRequest(MODEL, timeout=4.0, any_size=any_size, certificate=certificate), Silent())
    report = check(certificate, proofs, fresh=True)
    assert report.verdict == "checked"
    ethos = find_ethos(None, None, os.environ)
    code, out = run_alone(certificate, proofs, ethos.program, ethos.signatures)
    questions = sum(script.questions for script in report.scripts)
    assert (code, out) == (0, f"{questions} checked\n")

    manifest = read_manifest(certificate)
    script = next(one for one in manifest.scripts if one.action and len(one.cells) > 2)
    texts = read_script(certificate, script)
    before = (*read_premises(certificate, manifest), *texts.premises)
    shared = [line for command in before for line in plain(command)]
    by_number = [check_proofs.read(proofs, proof_file(script.file, i)) for i in range(len(script.cells))]
    number = max(range(len(by_number)), key=lambda i: by_number[i].count("\n"))
    question = [*shared, *assertions(texts.questions[number])]

    def verdict(proof: str) -> str:
        return check_proofs.check(ethos.program, ethos.signatures, question, proof).verdict

    genuine = by_number[number]
    assert verdict(genuine) == "checked"
    *lines, last = genuine.splitlines(keepends=True)
    step = next(line for line in reversed(lines) if line.startswith("(step @p") and ":premises (@" in line)
    assert verdict(genuine.replace(step, step.replace(":premises (@", ":premises (@p1 @"))) == "refused"
    assert verdict(genuine.replace(step, "")) == "refused"
    trusting = f"{last.split(' :rule')[0]} :rule trust :premises () :args (false))\n"
    assert verdict("".join([*lines, trusting])) == "holes"
    _, other = max((text.count("\n"), text) for i, text in enumerate(by_number) if i != number)
    assert verdict(other) == "refused"
    (proofs / proof_file(script.file, number)).unlink()
    assert run_alone(certificate, proofs, ethos.program, ethos.signatures)[0] == 1
