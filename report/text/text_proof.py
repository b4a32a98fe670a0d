"""Reports of proofs, certificates and TLC as text: failures first, then the totals, and the verdict last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from elrcheck.report.plain_words import from_store, several
from elrcheck.report.terminal import Page
from elrcheck.results.prove_report import (
    CellReport,
    CertificateReport,
    Coverage,
    LemmaNeed,
    ObligationReport,
    PossibleReport,
    ProveReport,
    ScriptReport,
    SecondSolver,
    Surviving,
)
from elrcheck.results.tlc_report import Counts, TlcReport

_COLUMNS = ("subject", "verdict", "seconds", "needed")
_FIT = {"changed": "is another text now", "gone": "has no part in the proof now", "new": "is not in it"}


def print_prove(report: ProveReport, page: Page, detail: int = 0) -> None:
    for obligation in (*report.initiation, *report.implication):
        if obligation.verdict != "proved":
            print_obligation(obligation, page)
    for cell in report.cells:
        if cell.verdict != "proved":
            print_cell(cell, page)
    for one in report.possible.impossible if report.possible is not None else ():
        page.verdict_line("inconclusive", one.statement)
        page.labelled("source", one.source)
    if detail >= 0:
        _print_implications(report, page)
        _print_phases(report, page)
    if detail > 0:
        page.table(
            ("action", "lemma", "verdict", "seconds", "needed"),
            (
                (cell.action, cell.lemma, cell.verdict, f"{cell.seconds:.2f}", ", ".join(cell.core))
                for cell in report.cells
            ),
            right=("seconds",),
        )
        page.table(_COLUMNS, (_row(obligation) for obligation in report.initiation), right=("seconds",))
        page.table(("setting", "value"), ((name, str(value)) for name, value in report.config.items()))
    if detail >= 0:
        print_coverage(report.coverage, page)
        _print_possible(report.possible, page)
    if report.surviving is not None and report.surviving.dropped:
        _print_surviving(report.surviving, page)
    if report.needs is not None:
        page.table(
            ("lemma", "needed", "open without it"), ((one.lemma, _needed(one), _open(one)) for one in report.needs)
        )
    if report.second is not None:
        _print_second(report.second, page)
    rest = f"{report.solver.name} {report.solver.version}, {report.seconds:.1f} s"
    page.labelled("kept", from_store(report.kept))
    page.verdict_line(report.verdict, f"{report.variant}{claim(report)}, {rest}")


def claim(report: ProveReport) -> str:
    """How much of the model the verdict is about."""
    covered = report.coverage
    if report.verdict != "proved":
        verdicts = [one.verdict for one in (*report.initiation, *report.implication)]
        verdicts += [cell.verdict for cell in report.cells]
        left = len(verdicts) - verdicts.count("proved")
        number = 0 if report.possible is None else len(report.possible.impossible)
        more = f", {several(number, 'step')} that must be possible cannot be shown to be" if number else ""
        return f": {left} of {len(verdicts)} obligations open{more}{given(report)}"
    if covered is None:
        return given(report)
    said = (
        f": {covered.properties} of {covered.all_properties} properties,"
        f" {covered.actions} of {covered.all_actions} actions"
    )
    chosen = [one.statement for one in report.assumptions]
    number = len([one for one in covered.assumed if one not in chosen])
    always = f", {number} assumption{'s' if number > 1 else ''}" if number else ""
    return f"{said}{always}{given(report)}, with {bounds(covered, report.config)}"


def bounds(covered: Coverage, config: Mapping[str, object]) -> str:
    """What bounds the claim: sizes, and what happens at once although a broker takes its time over it."""
    records = several(covered.log_slots, "record")
    parts = [several(covered.brokers, "broker"), f"at most {records} ever committed"]
    if not config.get("late_fetches"):
        parts.append("atomic fetches")
    if config.get("metadata") == "LATEST":
        parts.append("newest metadata")
    return ", ".join(parts)


def given(report: ProveReport) -> str:
    """What the verdict depends on, beside the rules; it stands in every headline."""
    return "".join(f", under the assumption that {one.statement}" for one in report.assumptions)


def print_coverage(covered: Coverage | None, page: Page) -> None:
    """What the claim covers: the sizes, and the one value of each knob that matters."""
    if covered is None:
        return
    replicas = "changes" if covered.replicas is None else f"{list(covered.replicas)} throughout"
    if covered.any_order:
        replicas = "in any order, the same throughout"
    page.labelled(
        "sizes",
        f"{several(covered.brokers, 'broker')}, replica list {replicas}, min ISR {covered.min_isr},"
        f" logs of up to {several(covered.log_slots, 'record')}, so that no run ever commits more;"
        " epochs and disturbances without bound",
    )
    steps = f"{covered.choices} of {covered.all_choices} choices of arguments of all actions"
    if covered.renamed:
        steps += f", {covered.renamed} of them by renaming the brokers of others"
    page.labelled("steps", steps)
    for assumption in covered.assumed:
        page.labelled("assumed", assumption)
    for one in covered.settings:
        others = [value for value in one.values if value != one.value]
        less = f", not {' or '.join(others)}" if others else ""
        own = "" if one.value == one.variant else f" (the variant has {one.variant})"
        page.labelled("setting", f"{one.name} is {one.value}{less}{own}")


def _print_possible(possible: PossibleReport | None, page: Page) -> None:
    if possible is not None:
        number = possible.asked - len(possible.impossible)
        page.labelled(
            "possible",
            f"{number} of {possible.asked} steps and states that the proof must not exclude;"
            f" {page.count(possible.replayed)} steps of the solver replayed in plain Python",
        )


def _print_surviving(found: Surviving, page: Page) -> None:
    """The properties that the lemmas which every step preserves prove, and those that they do not."""
    page.table(
        ("dropped", "action"),
        ((one.lemma, f"{one.action or 'Init'}{' (unknown)' * one.unknown}") for one in found.dropped),
    )
    for one in found.void:
        page.labelled("void", f"{one.action} may break {one.lemma} without them, so nothing is proved")
    page.labelled("survive", f"{len(found.lemmas)} lemmas, which prove what follows")
    for word, proved in (("proved", True), ("open", False)):
        page.labelled(word, ", ".join(each.id for each in found.properties if each.proved is proved))


def _open(one: LemmaNeed) -> str:
    return " x ".join(filter(None, (one.action, one.goal)))


def _needed(one: LemmaNeed) -> str:
    return "unknown" if one.needed is None else "yes" if one.needed else "no"


def _print_second(second: SecondSolver, page: Page) -> None:
    for word, names in (("refuted", second.refuted), ("unknown", second.unknown)):
        for name in names:
            page.labelled(word, f"{name}, by {second.solver.name}")
    solver = f"{second.solver.name} {second.solver.version}"
    page.line(f"{solver} discharged {second.discharged} of {second.questions} again, {second.seconds:.1f} s")


def print_obligation(obligation: ObligationReport, page: Page) -> None:
    page.verdict_line(obligation.verdict, _subject(obligation))
    page.labelled("reason", obligation.reason)
    for path, value in (obligation.witness or {}).items():
        page.labelled("state", f"{path} = {value}")
    page.line()


def print_cell(cell: CellReport, page: Page) -> None:
    page.verdict_line(cell.verdict, f"{cell.action} does not preserve {cell.lemma}  ({cell.seconds:.2f} s)")
    page.labelled("reason", cell.reason)
    failure = cell.failure
    if failure is not None:
        page.labelled("conjunct", failure.conjunct)
        for path, value in failure.before.items():
            page.labelled("before", f"{path} = {value}")
        page.labelled("step", f"{cell.action}({', '.join(f'{a.name}={a.value}' for a in failure.arguments)})")
        for change in failure.changes:
            page.labelled("", f"{change.path}: {change.old} -> {change.new}")
        page.labelled("replayed", "yes, in plain Python" if failure.replayed else "no")
    page.line()


def _print_implications(report: ProveReport, page: Page) -> None:
    page.table(
        ("id", "property", "verdict", "seconds", "needed"),
        ((o.id or "", o.name, o.verdict, f"{o.seconds:.2f}", ", ".join(o.core)) for o in report.implication),
        right=("seconds",),
    )
    for one in report.implication:
        page.labelled(one.id or one.name, one.condition and f"proved where {one.condition}")
    page.table(
        ("id", "not covered", "reason"), ((skipped.id, skipped.name, skipped.reason) for skipped in report.skipped)
    )


def _print_phases(report: ProveReport, page: Page) -> None:
    page.table(
        ("phase", "proved", "kept", "refuted", "unknown", "seconds"),
        (
            (
                phase.name,
                page.count(phase.proved),
                page.count(phase.kept) if phase.kept else "",
                page.count(phase.refuted),
                page.count(phase.unknown),
                f"{phase.seconds:.1f}",
            )
            for phase in report.phases
        ),
        right=("proved", "kept", "refuted", "unknown", "seconds"),
    )


def _row(obligation: ObligationReport) -> Sequence[str]:
    return (_subject(obligation), obligation.verdict, f"{obligation.seconds:.2f}", ", ".join(obligation.core))


def _subject(obligation: ObligationReport) -> str:
    return f"{obligation.id} {obligation.name}" if obligation.id else obligation.name


def print_certificate(report: CertificateReport, page: Page, detail: int = 0) -> None:
    for script in report.scripts:
        if script.fit != "same" or script.unknown or script.refuted:
            print_script(script, page)
    if detail >= 0:
        for name in report.open:
            page.labelled("open", name)
        page.labelled("written by", report.written_by)
        source = "the same" if report.same_source else "another"
        page.labelled("source", f"{source}; every text was made anew from the one of today and compared")
        print_coverage(report.coverage, page)
    if detail > 0:
        rows = (
            (s.subject, s.fit, page.count(s.questions), page.count(s.discharged), f"{s.seconds:.2f}")
            for s in report.scripts
        )
        right = ("questions", "unsat", "seconds")
        page.table(("script", "fits", "questions", "unsat", "seconds"), rows, right=right)
    rest = f"{certificate_summary(report)}, {report.seconds:.1f} s"
    page.verdict_line(report.verdict, f"{report.variant}, {rest}")


def certificate_summary(report: CertificateReport) -> str:
    questions = sum(script.questions for script in report.scripts)
    given = f", assuming {' and '.join(report.assumptions)}" if report.assumptions else ""
    if report.solver is None:
        return f"{questions} obligations in {len(report.scripts)} texts, not discharged again{given}"
    done = sum(script.discharged for script in report.scripts)
    return f"{report.solver.name} {report.solver.version} discharged {done} of {questions} obligations{given}"


def print_script(script: ScriptReport, page: Page) -> None:
    page.line(f"{script.subject}  {script.file}".rstrip())
    if script.fit != "same":
        page.labelled("text", _FIT[script.fit])
    for word, names in (("refuted", script.refuted), ("unknown", script.unknown)):
        if names:
            page.labelled(word, ", ".join(names))
    page.line()


def print_tlc(report: TlcReport, page: Page, detail: int = 0) -> None:
    if report.ours is not None and report.theirs is not None:
        page.table(
            ("checker", "generated", "distinct", "diameter"),
            (_counts("elrcheck", report.ours, page), _counts("TLC", report.theirs, page)),
            right=("generated", "distinct", "diameter"),
        )
    if detail > 0 or report.verdict == "failed":
        for line in report.output_tail:
            page.line(f"   | {line}")
    page.verdict_line(report.verdict, f"{report.module}, TLC {report.version}, {report.seconds:.1f} s")
    if detail >= 0:
        page.labelled("command", " ".join(report.command))
        if report.tlc_exit_code is not None:
            page.labelled("exit", str(report.tlc_exit_code))


def _counts(name: str, counts: Counts, page: Page) -> Sequence[str]:
    diameter = "" if counts.diameter is None else str(counts.diameter)
    return (name, page.count(counts.generated), page.count(counts.distinct), diameter)
