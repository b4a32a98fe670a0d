"""The claim of a proof, what it covers and leaves out, with the totals of its phases and its verdict."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, Literal

from elrcheck.declared.declared_model import DeclaredModel
from elrcheck.lang.domains import domain, size_of
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.proof.hypotheses import assumptions_of
from elrcheck.proof.transition import Excluded, Transitions
from elrcheck.report.plain_words import several
from elrcheck.results.prove_report import (
    Assumption,
    CellReport,
    CellVerdict,
    Coverage,
    ObligationReport,
    PhaseReport,
    PossibleReport,
    ProofVerdict,
    Skipped,
)
from elrcheck.traces.describe import arguments

PhaseName = Literal["initiation", "consecution", "implication"]
RANK: dict[CellVerdict, int] = {"proved": 0, "unknown": 1, "refuted": 2}


def phase(name: PhaseName, reports: Sequence[CellReport | ObligationReport]) -> PhaseReport:
    count = {verdict: sum(report.verdict == verdict for report in reports) for verdict in RANK}
    seconds = round(sum(report.seconds for report in reports), 3)
    stored = sum(isinstance(report, CellReport) and report.kept for report in reports)
    return PhaseReport(name, count["proved"], count["refuted"], count["unknown"], seconds, stored)


def verdict_of(reports: Sequence[CellReport | ObligationReport], possible: PossibleReport | None) -> ProofVerdict:
    """Return the verdict over all obligations; a proof that is about less than it seems is inconclusive.

    possible: None if the proof was interrupted.
    """
    worst = max((RANK[report.verdict] for report in reports), default=0)
    worst = max(worst, RANK["unknown"] if possible is None or possible.impossible else 0)
    return ("proved", "inconclusive", "refuted")[worst]


NEVER = "never enabled in this configuration"
SILENT = "says nothing in this configuration: all that could break it is constant"


def skipped(
    model: Model, transitions: Transitions, chosen: Sequence[Fn], silent: Collection[str] = ()
) -> tuple[Skipped, ...]:
    """Return properties without an obligation, then actions and arguments that the configuration excludes.

    silent: the names of properties that hold trivially in this configuration.
    """
    properties = (Skipped(fn.ident, fn.name, fn.note or SILENT) for fn in chosen if fn.name in silent)
    return (*properties, *_actions(model, transitions))


def _actions(model: Model, transitions: Transitions) -> Iterator[Skipped]:
    inside = {instance.action for instance in transitions.instances}
    excluded: dict[str, list[Excluded]] = {}
    for choice in transitions.excluded:
        excluded.setdefault(choice.action, []).append(choice)
    for action, dropped in excluded.items():
        if action not in inside:
            why = " or ".join(f"`{guard}`" for guard in dict.fromkeys(choice.guard for choice in dropped))
            yield Skipped("action", action, f"{NEVER}: {why}")
            continue
        covered = [args for step in transitions.instances if step.action == action for args in step.alike]
        by_guard = attrgetter("guard")
        for guard, group in groupby(sorted(dropped, key=by_guard), by_guard):
            which = _which(model.fns[action], [choice.args for choice in group], covered)
            yield Skipped("arguments", f"{action}({which})", f"{NEVER}: `{guard}`")


def _which(fn: Fn, dropped: Sequence[tuple[Any, ...]], covered: Sequence[tuple[Any, ...]]) -> str:
    """Describe choices of arguments by a value that no other choice has, or by an example and their number."""
    for position, (name, _) in enumerate(fn.params):
        values = {args[position] for args in dropped}
        if not values & {args[position] for args in covered}:
            texts = [arguments(fn, args)[position].value for args in dropped]
            return f"{name}={' or '.join(dict.fromkeys(texts))}"
    example = ", ".join(f"{argument.name}={argument.value}" for argument in arguments(fn, dropped[0]))
    return f"{example}: one of {len(dropped)} choices of {len(dropped) + len(covered)}"


def assumptions(model: Model, names: Iterable[str]) -> tuple[Assumption, ...]:
    """Return the assumptions on steps with these names, for reports."""
    functions = zip(names, assumptions_of(model, names), strict=True)
    return tuple(Assumption(name, " ".join((fn.doc or "").split()), fn.place) for name, fn in functions)


def claimed(declared: DeclaredModel, transitions: Transitions, coverage: Coverage, variant: str) -> Coverage:
    """Return the coverage of a proof in the words of the model."""
    any_order = bool(transitions.listed)
    return declared.covered(coverage, transitions.config, variant, transitions.slots, any_order)


def coverage(model: Model, transitions: Transitions, properties: int) -> Coverage:
    """Return the coverage of a proof of this number of properties, for any model."""
    config = transitions.config
    choices = (math.prod(len(domain(ty, config)) for _, ty in fn.params) for fn in model.actions)
    return Coverage(
        properties=properties,
        all_properties=len(model.always),
        actions=len({instance.action for instance in transitions.instances}),
        all_actions=len(model.actions),
        choices=sum(len(instance.alike) for instance in transitions.instances),
        renamed=sum(len(instance.alike) - 1 for instance in transitions.instances),
        all_choices=sum(choices),
        sizes=tuple(several(size_of(sort, config), sort.word, sort.words) for sort in model.sorts.values()),
        assumed=tuple(fn.doc for fn in transitions.assumptions if fn.name in transitions.assumed),
    )
