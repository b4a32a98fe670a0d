"""What a proof says about failures: counterexamples, and whether the rule is wrong or a lemma is missing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from elrcheck.report.document import Block, Headline, Labelled, Line, grouped
from elrcheck.report.plain_words import several, some_of
from elrcheck.results.prove_report import (
    BrokenConjunct,
    CellReport,
    ObligationReport,
    ProveReport,
    ReachedFailure,
    RootFailure,
)
from elrcheck.results.trace_view import as_call

MOST = 8
"""Failures that are named with their root."""
FEW = 6
"""Values of a state that a lemma may exclude together; of more, a person cannot see what is impossible."""


def failed_cells(report: ProveReport, detail: int) -> Iterator[Block]:
    """Yield the refuted and undecided cells: without detail, of the refuted ones those of root failures."""
    first = {(root.actions[0], root.lemma): root for root in report.roots}
    for cell in report.cells:
        root = first.get((cell.action, cell.lemma))
        if cell.verdict == "refuted" and root is not None and root is not report.roots[0] and detail <= 0:
            yield from short_blocks(root, cell, report.roots[0])
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
    yield from _in_runs(root)
    if root.reached is None or not root.reached.run:
        yield from _to_try(root, cell)
        return
    for place, step in enumerate(root.reached.run, start=1):
        yield Labelled("", f"{place}  {step}")


def short_blocks(root: RootFailure, cell: CellReport, first: RootFailure) -> Iterator[Block]:
    """Yield a root failure after the first, with its counterexample in a few lines."""
    yield Headline(cell.verdict, f"{cell.action} does not preserve {cell.lemma}  ({cell.seconds:.2f} s)")
    failure = cell.failure
    if failure is not None:
        yield Labelled("before", ", ".join(f"{path} = {failure.before[path]}" for path in failure.differs))
        changes = ", ".join(f"{change.path}: {change.old} -> {change.new}" for change in failure.changes)
        yield Labelled("step", f"{as_call(cell.action, failure.arguments)}  {changes}")
        yield Labelled("false", None if failure.broken is None else broken_text(failure.broken))
    yield Labelled("also by", ", ".join(root.actions[1:]))
    if first.reached is not None and first.reached.run:
        yield Labelled("in runs", None if root.reached is None else _searched(root.lemma, root.reached))
    else:
        yield from _in_runs(root)
        yield from _to_try(root, cell)
    yield Line()


def _searched(lemma: str, reached: ReachedFailure) -> str:
    """Return what the search of a scope shows about a lemma."""
    if reached.run:
        return f"{lemma} is false after {several(len(reached.run), 'step')} of {reached.scope}"
    extent = "all" if reached.complete else "the first"
    return f"{lemma} holds in {extent} {grouped(reached.states)} states of {reached.scope}"


def _in_runs(root: RootFailure) -> Iterator[Block]:
    """Yield whether a rule is at fault or a lemma may be missing."""
    reached = root.reached
    if reached is None:
        return
    shows = _searched(root.lemma, reached)
    if not reached.run:
        text = f"{shows}: a lemma may be missing that excludes the state before, or a run needs a larger --scope"
    elif reached.properties:
        others = ", ".join(one for one in reached.properties if one != root.lemma)
        text = f"a rule is at fault, no lemma is missing: {shows}{f'; also false there: {others}' if others else ''}"
    else:
        part = "" if reached.complete else f" in the first {grouped(reached.states)} states"
        text = f"no lemma is missing: {shows}, no property is{part}; a rule is at fault, or the lemma too strong for it"
    yield Labelled("in runs", text)


def _to_try(root: RootFailure, cell: CellReport) -> Iterator[Block]:
    """Yield the likely next lemma: it excludes few values together, or says what the step needs for the conjunct."""
    failure = cell.failure
    if failure is None or failure.broken is None:
        return
    call = as_call(cell.action, failure.arguments)
    if 0 < len(root.enough) <= FEW:
        values = ", ".join(f"{path} = {failure.before[path]}" for path in root.enough)
        yield Labelled("try lemma", f"where {call} is possible, never all of: {values}")
    else:
        yield Labelled("try lemma", f"where {call} is possible, this is true after it: {failure.broken.text}")
