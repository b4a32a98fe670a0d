"""Converts a gate report to a sheet: one suite per entry, one case per property and per kind of difference.

`--fail-on` decides whether a case fails, not the verdict of the property itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from elrcheck.report.ci.sheet import Case, Sheet, Suite
from elrcheck.report.ci.sheet_cases import cell_case, check_notes, obligation_case, property_case, search_facts
from elrcheck.report.ci.sheet_suite import run_case
from elrcheck.report.text.text_gate import differences, gate_summary
from elrcheck.results.check_report import PropertyReport
from elrcheck.results.gate_report import Difference, DifferenceKind, EntryReport, GatedSuite, GateReport

_GROUPS: tuple[tuple[DifferenceKind, str], ...] = (
    ("coverage", "coverage"),
    ("guard", "guards"),
    ("teeth", "teeth"),
    ("count", "counts"),
)


def gate_sheet(report: GateReport) -> Sheet:
    suites = (*(_suite(entry) for entry in report.entries), *(_gated(suite) for suite in report.suites))
    notes = tuple(
        f"{entry.name}: {note}"
        for entry in report.entries
        if entry.verdict == "inconclusive"
        for note in check_notes(entry.check)
    )
    return Sheet("gate", report.verdict, gate_summary(report), report.exit_code, suites, notes)


def _suite(entry: EntryReport) -> Suite:
    check = entry.check
    brokers = check.config.get("broker_count")
    seconds = check.search.seconds + (entry.proof.seconds if entry.proof else 0.0)
    return Suite(
        f"{entry.name}: {check.variant}, {check.scope}",
        (*_properties(entry), *_others(entry), *_groups(entry), *_proof(entry)),
        brokers if isinstance(brokers, int) else 0,
        seconds,
        search_facts(check.search),
    )


def _gated(entry: GatedSuite) -> Suite:
    """One case for each configuration, and one for each that is missing."""
    runs = {run.name: run for run in entry.suite.runs}
    missing = [one for one in entry.differences if one.subject not in runs]
    cases = [
        _configuration(entry, name, [one for one in entry.differences if one.subject == name])
        for name in dict.fromkeys([*runs, *(one.subject for one in missing)])
    ]
    return Suite(entry.name, tuple(cases), seconds=sum(run.seconds for run in runs.values()))


def _configuration(entry: GatedSuite, name: str, found: Sequence[Difference]) -> Case:
    fails = any(one.fails for one in found)
    undecided = any(one.kind == "inconclusive" and one.worse for one in found)
    run = next((run for run in entry.suite.runs if run.name == name), None)
    plain = None if run is None else run_case(run)
    lines = [f"{one.what}: {one.found}, expected {one.expected}" for one in found]
    return Case(
        id=name,
        name=name,
        outcome="failed" if fails else "undecided" if undecided else "passed",
        verdict=lines[0] if fails else plain.verdict if plain is not None else differences(len(found)),
        message="; ".join(lines) if fails or undecided else "",
        text="\n".join([*lines, *([] if run is None else [run.command])]) if found else "",
        place=entry.place,
        rule="gate-suite",
    )


def _properties(entry: EntryReport) -> list[Case]:
    by_subject = {one.subject: one for one in entry.differences if one.kind not in ("proof", "count")}
    return [_property(entry, found, by_subject.get(found.id)) for found in entry.check.properties]


def _property(entry: EntryReport, found: PropertyReport, one: Difference | None) -> Case:
    plain = property_case(found, entry.check)
    fails = one is not None and one.fails
    verdict = plain.verdict
    if one is not None and one.expected != one.found:
        verdict += f", expected {one.expected}"
    elif found.verdict == "violated":
        verdict += ", as expected"
    message = ""
    if fails:
        message = plain.message or f"{found.id} {found.name}: {plain.verdict}"
        message += "" if one is None or one.expected == one.found else f"; expected: {one.expected}"
    return Case(
        id=found.id,
        name=found.name,
        outcome="failed" if fails else "passed",
        verdict=verdict,
        message=message,
        text=plain.text if fails else "",
        source=found.source,
        place=entry.place,
        trace=found.counterexample if fails else None,
    )


def _others(entry: EntryReport) -> list[Case]:
    """Cases for a missing property, a new entry and an inconclusive run."""
    known = {found.id for found in entry.check.properties}
    grouped = {kind for kind, _ in _GROUPS}
    rest = [d for d in entry.differences if d.kind not in (*grouped, "proof") and d.subject not in known]
    return [
        Case(
            one.subject,
            one.what,
            "failed" if one.fails else "undecided" if one.kind == "inconclusive" else "passed",
            f"{one.found}, expected {one.expected}",
            f"{one.what}: {one.found}; expected: {one.expected}",
            place=entry.place,
            rule=f"gate-{one.kind}",
        )
        for one in rest
    ]


def _groups(entry: EntryReport) -> list[Case]:
    return [
        _group(entry, name, [d for d in entry.differences if d.kind == kind])
        for kind, name in _GROUPS
        if kind != "teeth" or entry.mutations is not None
    ]


def _group(entry: EntryReport, name: str, found: Sequence[Difference]) -> Case:
    fails = any(one.fails for one in found)
    lines = [f"{one.what}: {one.found}, expected {one.expected}" for one in found]
    more = f" and {len(lines) - 1} more" if len(lines) > 1 else ""
    return Case(
        id=name,
        name=name,
        outcome="failed" if fails else "passed",
        verdict=differences(len(found)) if found else "same",
        message=lines[0] + more if fails else "",
        text="".join(f"{line}\n" for line in lines),
        place=entry.place,
        rule=f"gate-{name}",
    )


def _proof(entry: EntryReport) -> list[Case]:
    """One case per differing obligation, or a single case if none differs."""
    if entry.proof is None and not any(one.kind == "proof" for one in entry.differences):
        return []
    known = {} if entry.proof is None else _obligations(entry)
    found = [one for one in entry.differences if one.kind == "proof"]
    cases = []
    for one in found:
        plain = known.get(one.subject)
        message = f"{one.what}: {one.found}; expected: {one.expected}"
        cases.append(
            Case(
                id=one.subject,
                name=one.what,
                outcome="failed" if one.fails else "passed",
                verdict=f"{one.found}, expected {one.expected}",
                message=message if one.fails else "",
                text=plain.text if plain and one.fails else "",
                source=plain.source if plain else None,
                place=entry.place,
                trace=plain.trace if plain else None,
                rule=(plain.rule or plain.id) if plain else "gate-proof",
            )
        )
    number = len(known)
    return cases or [Case("proof", "proof", "passed", f"{number} obligations as expected", place=entry.place)]


def _obligations(entry: EntryReport) -> dict[str, Case]:
    assert entry.proof is not None
    cases = {f"initially {o.name}": obligation_case(o) for o in entry.proof.initiation}
    cases |= {f"{cell.action} x {cell.lemma}": cell_case(cell) for cell in entry.proof.cells}
    return cases | {f"implied {o.id or o.name}": obligation_case(o) for o in entry.proof.implication}
