"""The document of a checked certificate: the texts that do not fit first, the verdict last."""

from __future__ import annotations

from collections.abc import Iterator

from elrcheck.report.document import (
    Block,
    Case,
    Headline,
    Labelled,
    Line,
    Number,
    Outcome,
    ReportKind,
    ReportKinds,
    Sheet,
    Suite,
    Table,
)
from elrcheck.report.documents.proof_document import claim_blocks
from elrcheck.report.plain_words import from_store
from elrcheck.results.proofs.certificate_report import CertificateReport, ScriptReport

_FIT = {"changed": "is another text now", "gone": "has no part in the proof now", "new": "is not in it"}
_PROOF = {
    "holes": "has steps without a rule",
    "refused": "refused by the checker",
    "undecided": "not checked in time",
    "missing": "not written by the solver",
    "checked": "accepted",
}


def certificate_blocks(report: CertificateReport, detail: int = 0) -> Iterator[Block]:
    for script in report.scripts:
        if script.fit != "same" or (script.answered and not script.complete):
            yield from script_blocks(script)
    if detail >= 0:
        for name in report.open:
            yield Labelled("open", name)
        yield Labelled("written by", report.written_by)
        source = "the same" if report.same_source else "another"
        yield Labelled("source", f"{source}; every text was made anew from the one of today and compared")
        yield from claim_blocks(report.coverage)
        yield Labelled("kept", from_store(report.kept))
        yield Labelled("stopped", "interrupted; the same command resumes" if report.interrupted else None)
    if detail > 0:
        rows = [
            (
                script.subject,
                script.fit,
                script.questions,
                script.discharged,
                None if script.proofs is None else script.proofs.checked,
                Number(f"{script.seconds:.2f}"),
                None if script.proofs is None else Number(f"{script.proofs.seconds:.2f}"),
            )
            for script in report.scripts
        ]
        yield Table(("script", "fits", "questions", "unsat", "checked", "seconds", "of checker"), rows)
    rest = f"{certificate_summary(report)}, {report.seconds:.1f} s"
    yield Headline(report.verdict, f"{report.variant}, {rest}")


def certificate_summary(report: CertificateReport) -> str:
    questions = sum(script.questions for script in report.scripts)
    assumptions = f", assuming {' and '.join(report.assumptions)}" if report.assumptions else ""
    if report.solver is None:
        return f"{questions} obligations in {len(report.scripts)} texts, not discharged again{assumptions}"
    done = sum(script.discharged for script in report.scripts)
    solved = f"{report.solver.name} {report.solver.version} discharged {done} of {questions} obligations"
    proofs = [script.proofs for script in report.scripts if script.proofs is not None]
    if report.checker is None:
        return f"{solved}{assumptions}"
    checked, size = sum(one.checked for one in proofs), sum(one.size for one in proofs)
    by = f"{report.checker.name} {report.checker.version}"
    return f"{solved}, {by} accepted {checked} complete proofs ({size / 2**20:.1f} MiB){assumptions}"


def script_blocks(script: ScriptReport) -> Iterator[Block]:
    yield Line(f"{script.subject}  {script.file}".rstrip())
    if script.fit != "same":
        yield Labelled("text", _FIT[script.fit])
    for word, names in (("refuted", script.refuted), ("unknown", script.unknown)):
        if names:
            yield Labelled(word, ", ".join(names))
    for fault in () if script.proofs is None else script.proofs.faults:
        reason = f": {fault.why}" if fault.why else ""
        yield Labelled("proof", f"{fault.question}, {_PROOF[fault.verdict]}{reason}")
    yield Line()


def certificate_sheet(report: CertificateReport) -> Sheet:
    cases = [_script_case(script) for script in report.scripts]
    cases += (Case(name, name, "undecided", "open", "the proof did not show it") for name in report.open)
    suite = Suite(f"{report.variant}, certificate", tuple(cases), seconds=report.seconds)
    summary = f"{report.variant}: {certificate_summary(report)}"
    return Sheet(summary, (suite,))


def _script_case(script: ScriptReport) -> Case:
    outcome: Outcome = "passed"
    if script.refuted or script.fit != "same":
        outcome = "failed"
    elif not script.complete:
        outcome = "undecided"
    text = "" if outcome == "passed" else tuple(script_blocks(script))
    name = script.subject
    verdict = script.fit if script.fit != "same" else f"{script.discharged} of {script.questions} discharged"
    message = "" if outcome == "passed" else f"{name}: {verdict}"
    return Case(name, name, outcome, verdict, message, text, seconds=script.seconds)


KINDS: ReportKinds = {CertificateReport: ReportKind("prove --check-certificate", certificate_blocks, certificate_sheet)}
