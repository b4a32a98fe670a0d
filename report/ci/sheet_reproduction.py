"""The cases of `reproduce`: the run, which fails if the finding shows, and its control."""

from __future__ import annotations

from elrcheck.report.ci.sheet import Case, Outcome, Sheet, Suite
from elrcheck.report.text.text_reproduction import notes, patch_in_words, rate_in_words, side_in_words
from elrcheck.results.reproduce_report import SHOWN, ControlReport, ReproduceReport


def reproduction_sheet(report: ReproduceReport) -> Sheet:
    name = f"{report.finding}/{report.order}"
    cases = [_case(name, report.title, report)]
    if report.control is not None:
        cases.append(_case(f"{name}/control", report.control.title, report.control))
    facts = (("patch", patch_in_words(report)), ("classes", ", ".join(report.classes)))
    told_facts = tuple((name, text) for name, text in facts if text)
    suite = Suite(f"Kafka {report.kafka}", tuple(cases), seconds=report.seconds, facts=told_facts)
    summary = f"{name} on Kafka {report.kafka}: {side_in_words(report)}"
    told = [] if report.repeated is None else [rate_in_words(report.repeated)]
    told += notes(report)
    return Sheet("reproduce", report.outcome, summary, report.exit_code, (suite,), tuple(told))


def _case(ident: str, name: str, side: ReproduceReport | ControlReport) -> Case:
    outcome: Outcome = "passed"
    if side.outcome != "not-reproduced":
        outcome = "failed" if side.outcome in SHOWN else "undecided"
    said = side_in_words(side)
    message = said.partition("\n")[0] if outcome != "passed" else ""
    text = "\n".join([said, *(f"{step.text}: {step.result}" for step in side.steps)]) if message else ""
    return Case(ident, name, outcome, side.outcome, message, text, seconds=side.seconds)
