"""What a proof says about failures: counterexamples, and whether the rule is wrong or a lemma is missing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from elrcheck.report.document import Block, Headline, Labelled, Line, grouped
from elrcheck.report.plain_words import several, some_of
from elrcheck.results.prove_report import BrokenConjunct, CellReport, ObligationReport, ProveReport, RootFailure
from elrcheck.results.trace_view import as_call

MOST = 8
"""Failures that are named with their root."""


def failed_cells(report: ProveReport, detail: int) -> Iterator[Block]:
    """Yield the refuted and undecided cells: without detail, of the refuted ones those of root failures."""
    first = {(root.actions[0], root.lemma): root for root in report.roots}
    for cell in report.cells:
        root = first.get((cell.action, cell.lemma))
        if cell.verdict == "refuted" and root is not None and root is not report.roots[0] and detail <= 0:
            yield from short_blocks(root, cell)
        elif (cell.verdict == "refuted" and (root is not None or not first or detail > 0)) or (
            cell.verdict == "unknown" and report.sizes == "given"
        ):
            yield from cell_blocks(cell, root)


def subject(obligation: ObligationReport) -> str:
    return f"{obligation.id} {obligation.name}" if obligation.id else obligation.name


def obligation_blocks(obligation: ObligationReport) -> Iterator[Block]:
    yield Headline(obligation.verdict, subject(obligation))
    yield Labelled("reason", obligation.reason)
    yield from _differing("state", obligation.witness or {}, obligation.differs)
    yield Line()


def _differing(word: str, state: Mapping[str, str], differs: Collection[str]) -> Iterator[Block]:
    """Yield the values of a state that differ from the initial state, and the number of the others."""
    for path in differs:
        yield Labelled(word, f"{path} = {state[path]}")
    if number := len(state) - len(differs):
        yield Labelled("", f"{several(number, 'other value')} as in the initial state")


def cell_blocks(cell: CellReport, root: RootFailure | None = None) -> Iterator[Block]:
    """Yield a failed cell. root: the failure that it is the first of, if any."""
    yield from failed_step(f"{cell.action} does not preserve {cell.lemma}", cell, root)


def failed_step(what: str, cell: CellReport, root: RootFailure | None = None) -> Iterator[Block]:
    yield Headline(cell.verdict, f"{what}  ({cell.seconds:.2f} s)")
    yield Labelled("reason", cell.reason)
    failure = cell.failure
    if failure is not None:
        yield Labelled("conjunct", failure.conjunct)
        if failure.broken is not None:
            yield Labelled("false", broken_text(failure.broken))
        yield from _differing("before", failure.before, failure.differs)
        yield Labelled("step", as_call(cell.action, failure.arguments))
        for change in failure.changes:
            yield Labelled("", f"{change.path}: {change.old} -> {change.new}")
        yield Labelled("replayed", "yes, in plain Python" if failure.replayed else "no")
    if root is not None:
        yield from root_blocks(root, cell)
    yield Line()


def broken_text(broken: BrokenConjunct) -> str:
    """Return the part of a lemma that a step makes false, with its values after the step."""
    values = ", ".join(f"{one.name} = {one.value}" for one in broken.values)
    return f"{broken.text}{f', with {values}' if values else ''}"


def root_blocks(root: RootFailure, cell: CellReport) -> Iterator[Block]:
    """Yield where else a lemma fails, what fails with it, and what the search of a scope says about the step."""
    yield Labelled("also by", ", ".join(root.actions[1:]))
    if root.implied:
        number = several(len(root.implied), "more failure")
        yield Labelled("with it", f"{number}, of steps that break this too: {some_of(root.implied, MOST)}")
    yield Labelled("in runs", _in_runs(root))
    if root.reached is not None and root.reached.run:
        for place, step in enumerate(root.reached.run, start=1):
            yield Labelled("", f"{place}  {step}")
        return
    failure = cell.failure
    if failure is not None and failure.broken is not None:
        call = as_call(cell.action, failure.arguments)
        members = ", ".join(f"{one.name}={one.value}" for one in failure.broken.members)
        here = f", for {members}" if members else ""
        yield Labelled("try lemma", f"where {call} is possible, this is true after it: {failure.broken.text}{here}")


def short_blocks(root: RootFailure, cell: CellReport) -> Iterator[Block]:
    """Yield a root failure after the first, with its counterexample in a few lines."""
    yield Headline(cell.verdict, f"{cell.action} does not preserve {cell.lemma}  ({cell.seconds:.2f} s)")
    failure = cell.failure
    if failure is not None:
        yield Labelled("before", ", ".join(f"{path} = {failure.before[path]}" for path in failure.differs))
        changes = ", ".join(f"{change.path}: {change.old} -> {change.new}" for change in failure.changes)
        yield Labelled("step", f"{as_call(cell.action, failure.arguments)}  {changes}")
        yield Labelled("false", None if failure.broken is None else broken_text(failure.broken))
    yield Labelled("also by", ", ".join(root.actions[1:]))
    yield Labelled("in runs", _in_runs(root))
    yield Line()


def _in_runs(root: RootFailure) -> str | None:
    """Return what the search of a scope says about a lemma."""
    reached = root.reached
    if reached is None:
        return None
    if reached.run:
        also = f"; {', '.join(reached.properties)} fail in that scope, too" if reached.properties else ""
        where = f"{root.lemma} is false after {several(len(reached.run), 'step')} of {reached.scope}{also}"
        return f"the rule is wrong, no lemma is missing: {where}"
    extent = "all" if reached.complete else "the first"
    states = f"{extent} {grouped(reached.states)} states of {reached.scope}"
    return f"it holds in {states}: a lemma may be missing that excludes the state before"
