"""A checked certificate as a sheet: a case for each of its texts."""

from __future__ import annotations

from elrcheck.report.ci.sheet import Case, Outcome, Sheet, Suite
from elrcheck.report.terminal import plain_text
from elrcheck.report.text.text_proof import certificate_summary, print_script
from elrcheck.results.prove_report import CertificateReport, ScriptReport


def certificate_sheet(report: CertificateReport) -> Sheet:
    cases = [_script_case(script) for script in report.scripts]
    cases += (Case(name, name, "undecided", "open", "the proof did not show it") for name in report.open)
    suite = Suite(f"{report.variant}, certificate", tuple(cases), seconds=report.seconds)
    said = f"{report.variant}: {certificate_summary(report)}"
    return Sheet("prove --check-certificate", report.verdict, said, report.exit_code, (suite,))


def _script_case(script: ScriptReport) -> Case:
    outcome: Outcome = "passed"
    if script.refuted or script.fit != "same":
        outcome = "failed"
    elif script.unknown:
        outcome = "undecided"
    text = "" if outcome == "passed" else plain_text(lambda page: print_script(script, page))
    name = script.subject
    verdict = script.fit if script.fit != "same" else f"{script.discharged} of {script.questions} discharged"
    message = "" if outcome == "passed" else f"{name}: {verdict}"
    return Case(name, name, outcome, verdict, message, text, seconds=script.seconds)
