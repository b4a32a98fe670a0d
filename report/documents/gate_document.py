"""A gate report as text: the differences of each entry, the traces of new violations, and the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from elrcheck.report.document import (
    Block,
    Case,
    Headline,
    Labelled,
    Line,
    ReportKind,
    ReportKinds,
    Sheet,
    Suite,
    Table,
    grouped,
)
from elrcheck.report.documents.check_document import check_notes, property_case, search_facts, violations_blocks
from elrcheck.report.documents.proof_document import cell_case, obligation_case
from elrcheck.report.documents.suite_document import run_case
from elrcheck.report.plain_words import broker_count, from_store, several
from elrcheck.report.words.proof_failures import cell_blocks, obligation_blocks
from elrcheck.results.check_report import PropertyReport
from elrcheck.results.gate_report import Difference, DifferenceKind, EntryReport, GatedSuite, GateReport

COUNTS_SHOWN = 8
"""Count differences that are listed without -v: one changed rule changes most counts."""


def gate_blocks(report: GateReport, detail: int = 0) -> Iterator[Block]:
    """Yield the blocks of the report. detail: below 0 only entries that differ; above 0 all differences."""
    for entry in report.entries:
        if entry.differences or detail >= 0:
            yield from _entry(entry, report, detail)
    for suite in report.suites:
        if suite.differences or detail >= 0:
            yield from _suite(suite, report, detail)
    yield from _verdict(report)


def _entry(entry: EntryReport, report: GateReport, detail: int) -> Iterator[Block]:
    check = entry.check
    if not entry.differences:
        proved = "" if entry.proof is None else f", {several(len(entry.proof.cells), 'proof cell')}"
        changed = f" ({check.model} has changed)" if entry.model_changed else ""
        patched = f" (with {check.patch.file})" if check.patch else ""
        states = f"{grouped(check.search.distinct)} states"
        expected = [one.id for one in check.properties if one.verdict == "violated"]
        violated = f", {', '.join(expected)} violated as expected" if expected else ""
        yield Headline(entry.verdict, f"{entry.name}: {states}{proved}{violated}{changed}{patched}")
        return
    yield from _differing(entry, f"{check.variant}, {check.scope}; {entry.place}", report, detail)
    yield Labelled("patch", None if check.patch is None else str(check.patch))
    if entry.model_changed is not None:
        since = "has changed since the baseline" if entry.model_changed else "is as in the baseline"
        yield Labelled("model", f"{check.model} {since}")
    yield from _findings(entry, detail)


def _suite(suite: GatedSuite, report: GateReport, detail: int) -> Iterator[Block]:
    runs = suite.suite.runs
    if not suite.differences:
        states = grouped(sum(run.distinct for run in runs))
        searched = several(len(runs), "configuration")
        yield Headline(suite.verdict, f"{suite.name}: {searched}, {states} states")
        return
    yield from _differing(suite, suite.place, report, detail)
    subjects = {one.subject for one in suite.differences if one.kind != "count"}
    for run in runs:
        if run.name in subjects:
            yield Labelled("repeat", run.command)
    yield Labelled("run", suite.suite.run_dir)


def _differing(part: EntryReport | GatedSuite, where: str, report: GateReport, detail: int) -> Iterator[Block]:
    word = part.verdict if report.verdict != "updated" else "updated"
    changed, rejected = _changed(part), len(part.differences) - _changed(part)
    what = [several(changed, "difference")] if changed else []
    what += [f"{several(rejected, 'result')} as expected, which --fail-on rejects"] if rejected else []
    yield Headline(word, f"{part.name}: {', '.join(what)}  ({where})")
    listed, left = _listed(part.differences, detail)
    rows = [(one.what, one.expected, one.found, _remark(one, report)) for one in listed]
    yield Table(("what", "expected", "found", ""), rows)
    if left:
        yield Line(f"      and {left} more counts (-v shows them)")
        yield Line()


def _changed(part: EntryReport | GatedSuite) -> int:
    """Return how many results differ from the baseline, without those that only `--fail-on` rejects."""
    return sum(one.expected != one.found for one in part.differences)


def _remark(one: Difference, report: GateReport) -> str:
    if report.verdict == "updated":
        return ""
    return ("worse" if one.worse else "") + ("" if one.fails else " tolerated")


def _listed(every: tuple[Difference, ...], detail: int) -> tuple[list[Difference], int]:
    """Return the differences to show, and the number of counts left out (those of actions first)."""
    if detail > 0:
        return list(every), 0
    counts = [one for one in every if one.kind == "count"]
    counts.sort(key=lambda one: one.what.startswith("action "))
    rest = [one for one in every if one.kind != "count"]
    return [*rest, *counts[:COUNTS_SHOWN]], max(0, len(counts) - COUNTS_SHOWN)


def _findings(entry: EntryReport, detail: int) -> Iterator[Block]:
    """Yield the trace of each differing violation, and the step of each differing refuted obligation."""
    subjects = {one.subject for one in entry.differences if one.kind in ("violated", "proof", "new")}
    every = detail > 0 or "entry" in subjects
    violated = [result for result in entry.check.properties if result.verdict == "violated"]
    differing = [result for result in violated if every or result.id in subjects]
    yield from violations_blocks(differing, entry.check, detail)
    if entry.proof is None:
        return
    for cell in entry.proof.cells:
        if cell.verdict != "proved" and f"{cell.action} x {cell.lemma}" in subjects:
            yield from cell_blocks(cell)
    for obligation in (*entry.proof.initiation, *entry.proof.implication):
        names = {f"initially {obligation.name}", f"implied {obligation.id or obligation.name}"}
        if obligation.verdict != "proved" and names & subjects:
            yield from obligation_blocks(obligation)


def _verdict(report: GateReport) -> Iterator[Block]:
    differing = [entry for entry in report.parts if _changed(entry)]
    yield Labelled("kept", from_store(report.kept))
    yield Headline(report.verdict, gate_summary(report))
    patched = any(entry.check.patch for entry in report.entries)
    if report.verdict in ("drift", "inconclusive", "tolerated") and differing and not patched:
        names = "".join(f" --only {entry.name}" for entry in differing)
        yield Labelled("next", f"if this is intended: {_update_command(report)}{names}")


def _update_command(report: GateReport) -> str:
    """Return the command that accepts the results, with the models of the entries."""
    models = dict.fromkeys(entry.check.model for entry in report.entries if entry.check.model)
    named = "".join(f" --model {model}" for model in models)
    return f"elrcheck gate --baseline {report.baseline}{named} --update-baseline"


def gate_summary(report: GateReport) -> str:
    """Return in one line how many entries differ from the baseline."""
    number, of = sum(bool(_changed(entry)) for entry in report.parts), len(report.parts)
    rejected = sum(bool(entry.differences) and not _changed(entry) for entry in report.parts)
    also = f"; --fail-on rejects a result as expected in {rejected}" if rejected else ""
    took = f"{report.seconds:.1f} s"
    if report.verdict == "updated":
        what = "was written" if report.written else "is unchanged"
        return f"{report.baseline} {what}: {number} of {of} entries changed, {took}"
    if not number:
        return f"{of} entr{'y matches' if of == 1 else 'ies match'} {report.baseline}{also}, {took}"
    return f"{number} of {of} entries differ from {report.baseline}{also}, {took}"


_GROUPS: tuple[tuple[DifferenceKind, str], ...] = (
    ("coverage", "coverage"),
    ("guard", "guards"),
    ("teeth", "teeth"),
    ("count", "counts"),
)


def gate_sheet(report: GateReport) -> Sheet:
    suites = (*(_entry_suite(entry) for entry in report.entries), *(_gated(suite) for suite in report.suites))
    notes = tuple(
        f"{entry.name}: {note}"
        for entry in report.entries
        if entry.verdict == "inconclusive"
        for note in check_notes(entry.check)
    )
    return Sheet(gate_summary(report), suites, notes)


def _entry_suite(entry: EntryReport) -> Suite:
    check = entry.check
    seconds = check.search.seconds + (entry.proof.seconds if entry.proof else 0.0)
    return Suite(
        f"{entry.name}: {check.variant}, {check.scope}",
        (*_properties(entry), *_others(entry), *_groups(entry), *_proof(entry)),
        broker_count(check.config),
        seconds,
        search_facts(check.search),
    )


def _gated(entry: GatedSuite) -> Suite:
    """Return one case for each configuration, and one for each that is missing."""
    runs = {run.name: run for run in entry.suite.runs}
    missing = [one for one in entry.differences if one.subject not in runs]
    cases = [
        _configuration(entry, name, [one for one in entry.differences if one.subject == name])
        for name in dict.fromkeys([*runs, *(one.subject for one in missing)])
    ]
    return Suite(entry.name, tuple(cases), seconds=sum(run.seconds for run in runs.values()))


def _configuration(entry: GatedSuite, name: str, differing: Sequence[Difference]) -> Case:
    fails = any(one.fails for one in differing)
    undecided = any(one.kind == "inconclusive" and one.worse for one in differing)
    run = next((run for run in entry.suite.runs if run.name == name), None)
    plain = None if run is None else run_case(run)
    lines = [f"{one.what}: {one.found}, expected {one.expected}" for one in differing]
    return Case(
        id=name,
        name=name,
        outcome="failed" if fails else "undecided" if undecided else "passed",
        verdict=lines[0] if fails else plain.verdict if plain is not None else several(len(differing), "difference"),
        message="; ".join(lines) if fails or undecided else "",
        text="\n".join([*lines, *([] if run is None else [run.command])]) if differing else "",
        place=entry.place,
        rule="gate-suite",
    )


def _properties(entry: EntryReport) -> list[Case]:
    by_subject = {one.subject: one for one in entry.differences if one.kind not in ("proof", "count")}
    return [_property(entry, result, by_subject.get(result.id)) for result in entry.check.properties]


def _property(entry: EntryReport, result: PropertyReport, difference: Difference | None) -> Case:
    plain = property_case(result, entry.check)
    fails = difference is not None and difference.fails
    expected = None if difference is None or difference.expected == difference.found else difference.expected
    verdict = plain.verdict
    if expected is not None:
        verdict += f", expected {expected}"
    elif result.verdict == "violated":
        verdict += ", as expected"
    message = ""
    if fails:
        message = plain.message or f"{result.id} {result.name}: {plain.verdict}"
        message += f"; expected: {expected}" if expected is not None else ""
    return Case(
        id=result.id,
        name=result.name,
        outcome="failed" if fails else "passed",
        verdict=verdict,
        message=message,
        text=plain.text if fails else "",
        source=result.source,
        place=entry.place,
        trace=result.counterexample if fails else None,
    )


def _others(entry: EntryReport) -> list[Case]:
    """Return cases for a missing property, a new entry and an inconclusive run."""
    properties = {result.id for result in entry.check.properties}
    elsewhere = {"proof", *(kind for kind, _ in _GROUPS)}
    rest = [one for one in entry.differences if one.kind not in elsewhere and one.subject not in properties]
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


def _group(entry: EntryReport, name: str, differing: Sequence[Difference]) -> Case:
    fails = any(one.fails for one in differing)
    lines = [f"{one.what}: {one.found}, expected {one.expected}" for one in differing]
    more = f" and {len(lines) - 1} more" if len(lines) > 1 else ""
    return Case(
        id=name,
        name=name,
        outcome="failed" if fails else "passed",
        verdict=several(len(differing), "difference") if differing else "same",
        message=lines[0] + more if fails else "",
        text="".join(f"{line}\n" for line in lines),
        place=entry.place,
        rule=f"gate-{name}",
    )


def _proof(entry: EntryReport) -> list[Case]:
    """Return one case per differing obligation, or a single case if none differs."""
    if entry.proof is None and not any(one.kind == "proof" for one in entry.differences):
        return []
    obligations = {} if entry.proof is None else _obligations(entry)
    differing = [one for one in entry.differences if one.kind == "proof"]
    cases = []
    for one in differing:
        plain = obligations.get(one.subject)
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
    number = len(obligations)
    return cases or [Case("proof", "proof", "passed", f"{number} obligations as expected", place=entry.place)]


def _obligations(entry: EntryReport) -> dict[str, Case]:
    assert entry.proof is not None
    cases = {f"initially {o.name}": obligation_case(o) for o in entry.proof.initiation}
    cases |= {f"{cell.action} x {cell.lemma}": cell_case(cell) for cell in entry.proof.cells}
    return cases | {f"implied {o.id or o.name}": obligation_case(o) for o in entry.proof.implication}


KINDS: ReportKinds = {GateReport: ReportKind("gate", gate_blocks, gate_sheet)}
