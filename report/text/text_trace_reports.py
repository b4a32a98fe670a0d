"""The reports of `trace` and `replay` as text; the verdict, or the violated properties, come last."""

from __future__ import annotations

from collections.abc import Sequence

from elrcheck.report.plain_words import unbound
from elrcheck.report.terminal import Page
from elrcheck.report.text.text_trace import print_trace
from elrcheck.results.trace_reports import Candidate, Hit, Origin, Rejection, ReplayReport, TraceDiffReport, TraceReport
from elrcheck.results.trace_view import Change

CLOSEST = 3
LEAVES = 6


def print_replay(report: ReplayReport, page: Page, detail: int = 0) -> None:
    """detail: below 0 only the verdict, above 0 the accepted steps and every candidate."""
    if detail > 0:
        print_trace(report.trace, page)
        page.line()
    if report.rejection is not None:
        _print_rejection(report.rejection, page, detail)
    where = f"{report.origin.variant}, {report.origin.scope}"
    page.verdict_line(
        report.verdict,
        f"{where}: the model accepts {report.accepted} of {_states(report.states)} ({report.origin.format})",
    )
    page.labelled("file", report.origin.source)
    page.labelled("repro", report.trace.repro)
    if report.beyond is not None:
        page.labelled("budgets", f"step {report.beyond} exceeds the budgets of the scope")
    _print_hits("violates", report.violated, page)


def _states(number: int) -> str:
    return "1 state" if number == 1 else f"{number} states"


def _print_rejection(found: Rejection, page: Page, detail: int) -> None:
    name = f"step {found.step}" if found.step else "start"
    page.labelled(name, found.recorded or ("unnamed" if found.step else "the first state"))
    page.labelled("", found.reason)
    if found.changed:
        page.labelled("", "recorded:" if found.step else "initial -> recorded:")
        _print_leaves(found.changed, page, detail)
    possible = [one for one in found.candidates if one.guard is None]
    shown = possible if detail > 0 else [one for one in possible if one.named] or possible[:CLOSEST]
    for one in shown:
        if one.differs:
            label = "nearest" if one is shown[0] else ""
            page.labelled(label, f"{one.label} leads to another state (model -> recorded):")
            _print_leaves(one.differs, page, detail)
        else:
            page.labelled("matches", one.label)
    refused = [one for one in found.candidates if one.guard is not None]
    if refused:
        page.line()
        rows = _grouped(refused) if detail <= 0 else [(o.label, unbound(o.guard or ""), "") for o in refused]
        page.table(("refused", "by guard", "choices"), rows)


def _grouped(refused: Sequence[Candidate]) -> list[tuple[str, str, str]]:
    """One row per action and guard; spells out a single choice of arguments."""
    groups: dict[tuple[str, str], list[Candidate]] = {}
    for one in refused:
        groups.setdefault((one.action, one.guard or ""), []).append(one)
    return [
        (found[0].label if len(found) == 1 or found[0].named else action, unbound(guard), str(len(found)))
        for (action, guard), found in groups.items()
    ]


def _print_leaves(leaves: Sequence[Change], page: Page, detail: int) -> None:
    shown = leaves if detail > 0 else leaves[:LEAVES]
    for leaf in shown:
        page.labelled("", f"  {leaf.path}: {leaf.old} -> {leaf.new}")
    if len(shown) < len(leaves):
        page.labelled("", f"  and {len(leaves) - len(shown)} more (-v)")


def _print_hits(label: str, hits: Sequence[Hit], page: Page) -> None:
    for number, hit in enumerate(hits):
        why = ": " + " ".join(filter(None, (hit.conjunct, hit.witness and f"for {hit.witness}")))
        step = "in the initial state" if hit.step == 0 else f"at step {hit.step}"
        text = f"{hit.id} {hit.name} {step}" + (why if hit.conjunct or hit.witness else "")
        page.labelled(label if number == 0 else "", text)


# ------------------------------------------------------------------------------------- trace


def print_trace_report(report: TraceReport, page: Page, detail: int = 0) -> None:
    """detail: below 0 only the violated properties, above 0 also the initial state."""
    if detail >= 0:
        print_trace(report.trace, page, initial=detail > 0, notes=_evaluated(report, detail > 0))
        page.line()
    where = f"{report.origin.variant}, {report.origin.scope}"
    whole = report.last - report.first + 1 == report.steps
    part = "" if whole else f", {report.first} to {report.last} shown"
    page.line(f"{where}: {_steps(report.steps)}{part}")
    page.labelled("source", _source(report.origin))
    page.labelled("seed", None if report.seed is None else str(report.seed))
    page.labelled("repro", report.trace.repro)
    done = report.shortened
    if done is not None:
        page.labelled("shorter", f"{_steps(done.steps_before)} -> {done.steps}")
        page.labelled("brokers", f"{done.brokers_before} -> {done.brokers}")
        fewest = "no shorter trace exists in this scope" if done.searched else "no single step can be removed"
        page.labelled("fewest", f"{fewest} ({page.count(done.replays)} replays)")
    page.labelled("saved", report.stored)
    _print_hits("violates", report.violated, page)
    if detail > 0:
        _print_hits("reaches", report.reached, page)


def _evaluated(report: TraceReport, every: bool) -> dict[int, list[str]]:
    """Step number -> lines with the values of expressions, where they changed or everywhere."""
    notes: dict[int, list[str]] = {}
    for one in report.evaluations:
        for found in one.values:
            if found.changed or every:
                value = f"no value: {found.why}" if found.value is None else found.value
                notes.setdefault(found.at, []).append(f"{one.expression} = {value}")
    return notes


def _steps(number: int) -> str:
    return "1 step" if number == 1 else f"{number} steps"


def _source(origin: Origin) -> str:
    return origin.source if origin.format in (None, "elrcheck") else f"{origin.source} ({origin.format})"


def _none(step: int) -> str:
    return "ended" if step else "the initial state"


def print_trace_diff(report: TraceDiffReport, page: Page, detail: int = 0) -> None:
    for change in report.config:
        page.labelled("config", f"{change.path}: {change.old} -> {change.new}")
    if detail >= 0:
        for row in report.rows:
            page.labelled(f"step {row.step}" if row.step else "start", f"A  {row.a or _none(row.step)}")
            if row.a != row.b:
                page.labelled("", f"B  {row.b or _none(row.step)}")
            _print_leaves(row.leaves, page, detail)
    page.verdict_line(report.verdict, f"{_steps(report.common)} in common, then {_after(report)}")
    page.labelled("A", f"{_source(report.a)}: {_steps(report.steps_a)}")
    page.labelled("B", f"{_source(report.b)}: {_steps(report.steps_b)}")


def _after(report: TraceDiffReport) -> str:
    rest_a, rest_b = report.steps_a - report.common, report.steps_b - report.common
    if not rest_a and not rest_b:
        return "both end"
    return f"{rest_a} more in A, {rest_b} in B"
