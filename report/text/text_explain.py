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

from collections.abc import Sequence

from elrcheck.report.plain_words import unbound
from elrcheck.report.terminal import Page
from elrcheck.results.trace_reports import Clause, Cycle, Explained, ExplainReport

WIDEST = 140
CHOICES = 3


def print_explain(report: ExplainReport, page: Page, detail: int = 0) -> None:
    """detail: below 0 only the deciding part, above 0 also all other parts and the state."""
    actions = [one for one in report.explained if not one.id]
    for one in report.explained:
        if report.cycle is not None:
            _print_wait(one, page, detail)
        elif one.id:
            _print_property(one, report.at, page, detail)
    if len(actions) == 1 or (detail > 0 and actions):
        for one in actions:
            _print_action(one, page, detail)
    elif actions:
        _print_choices(actions, page)
    if detail > 0:
        for path, value in report.state.items():
            page.labelled("state", f"{path} = {value}")
    if report.cycle is not None:
        _print_cycle(report.cycle, page, detail)
    origin = report.origin
    led = f", after {report.led}" if report.led else ""
    where = f"state {report.at} of {report.steps}{led} ({origin.variant}, {origin.scope})"
    page.verdict_line(report.verdict, where)
    page.labelled("source", origin.source)


def _print_property(found: Explained, at: int, page: Page, detail: int) -> None:
    page.verdict_line("holds" if found.value else "fail", f"{found.id} {found.name} in state {at}")
    page.labelled("", found.statement, indent=0)
    for clause in found.clauses:
        _print_clause(clause, page, detail, 0, found.value)
    page.labelled("witness", found.witness)
    page.labelled("", found.source and f"({found.source})", indent=0)
    page.line()


def _print_wait(found: Explained, page: Page, detail: int) -> None:
    """Prints the goal in each state of the cycle; groups states where it is false for the same reasons."""
    wait, instance = found.wait, f" for {found.witness}" if found.witness else ""
    if wait is None:
        page.verdict_line("holds", f"{found.id} {found.name}: every wait ends in this behaviour")
        page.labelled("", found.statement, indent=0)
        page.line()
        return
    page.verdict_line("fail", f"{found.id} {found.name}{instance}: waits forever from state {wait.since} on")
    page.labelled("", found.statement, indent=0)
    page.line(f"{'':10}waits in state {wait.since}:")
    _print_clause(wait.premise, page, detail if detail > 0 else -1, 1, False)
    groups: dict[Clause, list[str]] = {}
    for goal in wait.goals:
        groups.setdefault(goal.clause, []).append(str(goal.state))
    for clause, states in groups.items():
        page.line(f"{'':10}not reached in state{'s' * (len(states) > 1)} {', '.join(states)}:")
        _print_clause(clause, page, detail, 1, False)
    page.labelled("", found.source and f"({found.source})", indent=0)
    page.line()


def _print_cycle(cycle: Cycle, page: Page, detail: int) -> None:
    """Prints each fairness assumption and how the cycle satisfies it, one row per action and reason."""
    rows: dict[tuple[str, str], list[str]] = {}
    for step in cycle.steps:
        if detail > 0 or cycle.stops or not step.never:
            choice = ", ".join(f"{a.name}={a.value}" for a in step.arguments) or "-"
            rows.setdefault((step.action, step.how), []).append(choice)
    page.table(
        ("fair step", "in the cycle", "choices"),
        [(action, how, "; ".join(choices)) for (action, how), choices in rows.items()],
    )
    never = sum(step.never for step in cycle.steps)
    what = f"nothing more happens in state {cycle.loop}"
    if not cycle.stops:
        what = f"states {cycle.loop} to {cycle.last} repeat"
    why = "" if detail > 0 or cycle.stops or not never else " (why: -v)"
    fair = f"{never} of {len(cycle.steps)} fair steps are never enabled there{why}"
    page.labelled("forever", f"{what}; {fair}")
    if not cycle.fair:
        page.labelled("unfair", "a fair behaviour would leave this cycle, so it violates nothing")


def _print_action(found: Explained, page: Page, detail: int) -> None:
    label = f"{found.name}({', '.join(f'{a.name}={a.value}' for a in found.arguments)})"
    page.verdict_line("enabled" if found.value else "refused", label)
    page.labelled("", found.statement, indent=0)
    for clause in found.clauses:
        _print_clause(clause, page, detail, 0, found.value)
    for name in found.later:
        page.labelled("", f"     {name} (not evaluated)", indent=0)
    for change in found.changes:
        page.labelled("", f"would change {change.path}: {change.old} -> {change.new}", indent=0)
    page.labelled("", found.source and f"({found.source})", indent=0)
    page.line()


def _print_choices(actions: Sequence[Explained], page: Page) -> None:
    """Prints one row per guard, with the choices of arguments that it refuses."""
    groups: dict[str, list[str]] = {}
    for one in actions:
        given = ", ".join(f"{a.name}={a.value}" for a in one.arguments) or "-"
        groups.setdefault("" if one.value else one.guard or "", []).append(given)
    rows = []
    for guard, choices in groups.items():
        more = f" and {len(choices) - CHOICES} more" if len(choices) > CHOICES else ""
        rows.append((unbound(guard) or "enabled", str(len(choices)), "; ".join(choices[:CHOICES]) + more))
    page.line(actions[0].name, style="bold")
    page.table(("refused by", "choices", "arguments"), rows, right=("choices",))


def _print_clause(clause: Clause, page: Page, detail: int, depth: int, wanted: bool) -> None:
    """Prints a clause, and below it its deciding parts. Omits uninformative parts unless detail > 0."""
    pad = " " * (10 + 5 * depth)
    word = "yes" if clause.value else "no"
    witness = ", ".join(f"{a.name}={a.value}" for a in clause.witness)
    over = "" if clause.over is None else f" (of {clause.over})"
    title = clause.name or _short(clause.text)
    page.line(f"{pad}{word:<4} {title}" + (f", for {witness}" if witness else "") + over)
    opened = detail > 0 or clause.value is False or (wanted is False and depth > 0) or not clause.name
    if detail < 0 or not opened:
        return
    if clause.name:
        page.line(f"{pad}     {_short(clause.text)}")
    for look in clause.looked:
        page.line(f"{pad}     {_short(look.text)} = {look.value}")
    for part in clause.parts:
        _print_clause(part, page, detail, depth + 1, wanted)


def _short(text: str) -> str:
    return text if len(text) <= WIDEST else text[: WIDEST - 3] + "..."
