"""A gate report as text: the differences of each entry, the traces of new violations, and the verdict."""

from __future__ import annotations

from elrcheck.report.plain_words import from_store, several
from elrcheck.report.terminal import Page
from elrcheck.report.text.text_check import print_violations
from elrcheck.report.text.text_proof import print_cell, print_obligation
from elrcheck.results.gate_report import Difference, EntryReport, GatedSuite, GateReport

COUNTS_SHOWN = 8
"""Maximum number of count differences shown without -v: one changed rule changes most counts."""


def print_gate(report: GateReport, page: Page, detail: int = 0) -> None:
    """detail: below 0 only entries that differ; above 0 all differences."""
    for entry in report.entries:
        if entry.differences or detail >= 0:
            _print_entry(entry, report, page, detail)
        _print_renamed(entry, report, page)
    for suite in report.suites:
        if suite.differences or detail >= 0:
            _print_suite(suite, report, page, detail)
    _print_verdict(report, page)


def _print_renamed(entry: EntryReport, report: GateReport, page: Page) -> None:
    """A notice: the old names are accepted by this release only."""
    if entry.renamed and report.verdict != "updated":
        number = len(entry.renamed)
        have = "has a new name" if number == 1 else "have new names"
        said = f"{several(number, 'guard')} of {entry.name} {have}, such as that of {entry.renamed[0]}"
        page.labelled("notice", f"{said}; the next release will not know the old ones")
        page.labelled("next", f"elrcheck gate --baseline {report.baseline} --update-baseline")


def _print_entry(entry: EntryReport, report: GateReport, page: Page, detail: int) -> None:
    check = entry.check
    where = f"{check.variant}, {check.scope}; {entry.place}"
    if not entry.differences:
        proved = "" if entry.proof is None else f", {several(len(entry.proof.cells), 'proof cell')}"
        page.verdict_line(entry.verdict, f"{entry.name}: {page.count(check.search.distinct)} states{proved}")
        return
    number = len(entry.differences)
    word = entry.verdict if report.verdict != "updated" else "updated"
    page.verdict_line(word, f"{entry.name}: {differences(number)}  ({where})")
    shown, left = _shown(entry.differences, detail)
    page.table(
        ("what", "expected", "found", ""), ((one.what, one.expected, one.found, _remark(one, report)) for one in shown)
    )
    if left:
        page.line(f"      and {left} more counts (-v shows them)")
        page.line()
    _print_findings(entry, page, detail)


def _print_suite(suite: GatedSuite, report: GateReport, page: Page, detail: int) -> None:
    runs = suite.suite.runs
    if not suite.differences:
        states = page.count(sum(run.distinct for run in runs))
        searched = several(len(runs), "configuration")
        page.verdict_line(suite.verdict, f"{suite.name}: {searched}, {states} states")
        return
    word = suite.verdict if report.verdict != "updated" else "updated"
    page.verdict_line(word, f"{suite.name}: {differences(len(suite.differences))}  ({suite.place})")
    shown, left = _shown(suite.differences, detail)
    page.table(
        ("what", "expected", "found", ""), ((one.what, one.expected, one.found, _remark(one, report)) for one in shown)
    )
    if left:
        page.line(f"      and {left} more counts (-v shows them)")
        page.line()
    subjects = {one.subject for one in suite.differences if one.kind != "count"}
    for run in runs:
        if run.name in subjects:
            page.labelled("repeat", run.command)
    page.labelled("run", suite.suite.run_dir)


def differences(number: int) -> str:
    return f"{number} difference{'' if number == 1 else 's'}"


def _remark(one: Difference, report: GateReport) -> str:
    if report.verdict == "updated":
        return ""
    return ("worse" if one.worse else "") + ("" if one.fails else " tolerated")


def _shown(every: tuple[Difference, ...], detail: int) -> tuple[list[Difference], int]:
    """Returns the differences to show, and the number of counts left out (those of actions first)."""
    if detail > 0:
        return list(every), 0
    counts = [one for one in every if one.kind == "count"]
    counts.sort(key=lambda one: one.what.startswith("action "))
    rest = [one for one in every if one.kind != "count"]
    return [*rest, *counts[:COUNTS_SHOWN]], max(0, len(counts) - COUNTS_SHOWN)


def _print_findings(entry: EntryReport, page: Page, detail: int) -> None:
    """Prints the trace of each differing violation, and the step of each differing refuted obligation."""
    subjects = {one.subject for one in entry.differences if one.kind in ("violated", "proof", "new")}
    every = detail > 0 or "entry" in subjects
    violated = [found for found in entry.check.properties if found.verdict == "violated"]
    differing = [found for found in violated if every or found.id in subjects]
    print_violations(differing, entry.check, page, detail)
    if entry.proof is None:
        return
    for cell in entry.proof.cells:
        if cell.verdict != "proved" and f"{cell.action} x {cell.lemma}" in subjects:
            print_cell(cell, page)
    for obligation in (*entry.proof.initiation, *entry.proof.implication):
        names = {f"initially {obligation.name}", f"implied {obligation.id or obligation.name}"}
        if obligation.verdict != "proved" and names & subjects:
            print_obligation(obligation, page)


def _print_verdict(report: GateReport, page: Page) -> None:
    differing = [entry for entry in report.parts if entry.differences]
    page.labelled("kept", from_store(report.kept))
    page.verdict_line(report.verdict, gate_summary(report))
    if report.verdict in ("drift", "inconclusive", "tolerated") and differing:
        names = "".join(f" --only {entry.name}" for entry in differing)
        command = f"elrcheck gate --baseline {report.baseline} --update-baseline{names}"
        page.labelled("next", f"if this is intended: {command}")


def gate_summary(report: GateReport) -> str:
    """One-line summary: how many entries differ from the baseline."""
    number, of = sum(bool(entry.differences) for entry in report.parts), len(report.parts)
    took = f"{report.seconds:.1f} s"
    if report.verdict == "updated":
        what = "was written" if report.written else "is unchanged"
        return f"{report.baseline} {what}: {number} of {of} entries changed, {took}"
    if not number:
        return f"{of} entr{'y matches' if of == 1 else 'ies match'} {report.baseline}, {took}"
    return f"{number} of {of} entries differ from {report.baseline}, {took}"
