"""An explanation as text: each part with its truth value, and below the deciding part the values it reads::

FAIL  P-1 LeaderCompleteness in state 7
      The leader the controller chose holds every committed record.
      no   leader_holds_committed, for b=1
           all(is_prefix(s.committed, s.broker[b].log) for b in ...)
           no   is_prefix(s.committed, s.broker[b].log)
                committed = [r1@1(all)]
                broker[1].log = []
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from elrcheck.base.printable import shortened
from elrcheck.report.document import Block, Headline, Labelled, Line, ReportKind, ReportKinds, Sheet, Table
from elrcheck.report.documents.trace_document import origin_blocks
from elrcheck.report.plain_words import unbound
from elrcheck.results.trace_reports import Clause, Cycle, Explained, ExplainReport
from elrcheck.results.trace_view import as_call

WIDEST = 140
"""Characters of a clause that are printed."""
CHOICES = 3
"""Choices of arguments that a row names."""


def explain_blocks(report: ExplainReport, detail: int = 0) -> Iterator[Block]:
    """Yield the blocks of the report.

    detail: below 0 only the deciding part, above 0 also all other parts and the state.
    """
    actions = [one for one in report.explained if not one.id]
    for one in report.explained:
        if report.cycle is not None:
            yield from _wait(one, detail)
        elif one.id:
            yield from _property(one, report.at, detail)
    if len(actions) == 1 or (detail > 0 and actions):
        for one in actions:
            yield from _action(one, detail)
    elif actions:
        yield from _choices(actions)
    if detail > 0:
        for path, value in report.state.items():
            yield Labelled("state", f"{path} = {value}")
    if report.cycle is not None:
        yield from _cycle(report.cycle, detail)
    origin = report.origin
    led = f", after {report.led}" if report.led else ""
    enabled = [one for one in actions if one.value]
    beyond = "beyond the budgets in " if enabled and all(one.beyond for one in enabled) else ""
    where = f"{beyond}state {report.at} of {report.steps}{led} ({origin.variant}, {origin.scope})"
    yield Headline(report.verdict, where)
    yield Labelled("source", origin.source)
    yield from origin_blocks(origin)


def _property(explained: Explained, at: int, detail: int) -> Iterator[Block]:
    yield Headline("holds" if explained.value else "fail", f"{explained.id} {explained.name} in state {at}")
    yield Labelled("", explained.statement, indent=0)
    for clause in explained.clauses:
        yield from _clause(clause, detail, 0, explained.value)
    yield Labelled("witness", explained.witness)
    yield Labelled("", explained.source and f"({explained.source})", indent=0)
    yield Line()


def _wait(explained: Explained, detail: int) -> Iterator[Block]:
    """Yield why the wait never ends, once for all states of the cycle with the same reason."""
    wait, instance = explained.wait, f" for {explained.witness}" if explained.witness else ""
    if wait is None:
        yield Headline("holds", f"{explained.id} {explained.name}: every wait ends in this behaviour")
        yield Labelled("", explained.statement, indent=0)
        yield Line()
        return
    yield Headline("fail", f"{explained.id} {explained.name}{instance}: waits forever from state {wait.since} on")
    yield Labelled("", explained.statement, indent=0)
    yield Line(f"{'':10}waits in state {wait.since}:")
    yield from _clause(wait.premise, detail if detail > 0 else -1, 1, False)
    groups: dict[Clause, list[str]] = {}
    for goal in wait.goals:
        groups.setdefault(goal.clause, []).append(str(goal.state))
    for clause, states in groups.items():
        yield Line(f"{'':10}not reached in state{'s' * (len(states) > 1)} {', '.join(states)}:")
        yield from _clause(clause, detail, 1, False)
    yield Labelled("", explained.source and f"({explained.source})", indent=0)
    yield Line()


def _cycle(cycle: Cycle, detail: int) -> Iterator[Block]:
    """Yield each fairness assumption and how the cycle satisfies it, one row per action and reason."""
    rows: dict[tuple[str, str], list[str]] = {}
    for step in cycle.steps:
        if detail > 0 or cycle.stops or not step.never:
            choice = ", ".join(f"{a.name}={a.value}" for a in step.arguments) or "-"
            rows.setdefault((step.action, step.how), []).append(choice)
    yield Table(
        ("fair step", "in the cycle", "choices"),
        [(action, how, "; ".join(choices)) for (action, how), choices in rows.items()],
    )
    never = sum(step.never for step in cycle.steps)
    what = f"nothing more happens in state {cycle.loop}"
    if not cycle.stops:
        what = f"states {cycle.loop} to {cycle.last} repeat"
    why = "" if detail > 0 or cycle.stops or not never else " (why: -v)"
    fair = f"{never} of {len(cycle.steps)} fair steps are never enabled there{why}"
    yield Labelled("forever", f"{what}; {fair}")
    if not cycle.fair:
        yield Labelled("unfair", "a fair behaviour would leave this cycle, so it violates nothing")


def _action(explained: Explained, detail: int) -> Iterator[Block]:
    beyond = " (beyond the budgets)" if explained.beyond else ""
    yield Headline("enabled" if explained.value else "refused", as_call(explained.name, explained.arguments) + beyond)
    yield Labelled("", explained.statement, indent=0)
    for clause in explained.clauses:
        yield from _clause(clause, detail, 0, explained.value)
    for name in explained.later:
        yield Labelled("", f"     {name} (not evaluated)", indent=0)
    for change in explained.changes:
        yield Labelled("", f"would change {change.path}: {change.old} -> {change.new}", indent=0)
    yield Labelled("", explained.source and f"({explained.source})", indent=0)
    yield Line()


def _choices(actions: Sequence[Explained]) -> Iterator[Block]:
    """Yield one row per guard, with the choices of arguments that it refuses."""
    groups: dict[str, list[str]] = {}
    for one in actions:
        arguments = ", ".join(f"{a.name}={a.value}" for a in one.arguments) or "-"
        outcome = "enabled" + " (beyond the budgets)" * one.beyond if one.value else unbound(one.guard or "")
        groups.setdefault(outcome, []).append(arguments)
    rows = []
    for outcome, choices in groups.items():
        more = f" and {len(choices) - CHOICES} more" if len(choices) > CHOICES else ""
        rows.append((outcome, len(choices), "; ".join(choices[:CHOICES]) + more))
    yield Line(actions[0].name, style="bold")
    yield Table(("refused by", "choices", "arguments"), rows)


def _clause(clause: Clause, detail: int, depth: int, expected: bool) -> Iterator[Block]:
    """Yield a clause, and below it the parts that decide it; uninformative parts only if detail > 0."""
    pad = " " * (10 + 5 * depth)
    word = "yes" if clause.value else "no"
    witness = ", ".join(f"{a.name}={a.value}" for a in clause.witness)
    if clause.waived:
        settings = ", ".join(f"{each.text} is {each.value}" for each in clause.waived)
        yield Line(f"{pad}-    {clause.name}: not applicable ({settings})")
        return
    over = "" if clause.over is None else f" (of {clause.over})"
    title = clause.name or shortened(clause.text, WIDEST)
    yield Line(f"{pad}{word:<4} {title}" + (f", for {witness}" if witness else "") + over)
    opened = detail > 0 or clause.value is False or (expected is False and depth > 0) or not clause.name
    if detail < 0 or not opened:
        return
    if clause.name:
        yield Line(f"{pad}     {shortened(clause.text, WIDEST)}")
    for look in clause.looked:
        yield Line(f"{pad}     {shortened(look.text, WIDEST)} = {look.value}")
    for part in clause.parts:
        yield from _clause(part, detail, depth + 1, expected)


def explain_sheet(report: ExplainReport) -> Sheet:
    """Return a summary without judgements."""
    origin = report.origin
    return Sheet(f"{origin.variant}, {origin.scope}: state {report.at} of {report.steps}", judges=False)


KINDS: ReportKinds = {ExplainReport: ReportKind("explain", explain_blocks, explain_sheet)}
