"""The theorem about steps that a search leaves out: every pair that it takes to commute does (ADR 25, ADR 42)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from elrcheck.base.progress import ObligationDone, Progress
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import ModelConfig
from elrcheck.proof.obligations import Discharge
from elrcheck.proof.reductions.commuting_steps import Commuting
from elrcheck.proving.step_failure import replayed_step
from elrcheck.proving.verdicts import RANK
from elrcheck.results.prove_report import CellReport, InductionFailure, ReductionProof
from elrcheck.traces.describe import changes
from elrcheck.traces.replay import ReplayError

NAME = "steps left out"
Pair = tuple[Label, Label]


def left_out_steps(
    model: Model, config: ModelConfig, timeout: float, progress: Progress, pairs: Sequence[Pair] | None = None
) -> tuple[ReductionProof, tuple[CellReport, ...]]:
    """Prove that pairs of steps commute, by default those that the search takes to, and report it action by action."""
    terms = Commuting(model, config, timeout)
    pairs = terms.pairs() if pairs is None else pairs
    cells: dict[tuple[str, str], list[tuple[Pair, Discharge]]] = {}
    for done, pair in enumerate(pairs, start=1):
        answer = terms.commute(*pair)
        first, second = pair
        cells.setdefault((first.action, second.action), []).append((pair, answer))
        subject = f"{first.action} x {second.action}"
        progress.tell(ObligationDone("consecution", done, len(pairs), subject, answer.verdict, answer.seconds))
    reports = tuple(_cell(model, config, answers) for answers in cells.values())
    proof = ReductionProof(
        name=NAME,
        verdict=max((cell.verdict for cell in reports), key=RANK.__getitem__, default="proved"),
        settings={},
        obligations=len(pairs),
        seconds=round(sum(cell.seconds for cell in reports), 3),
        lemmas=(),
    )
    return proof, reports


def _cell(model: Model, config: ModelConfig, answers: Sequence[tuple[Pair, Discharge]]) -> CellReport:
    """Report on the pairs of two actions, with the first of the worst answers."""
    (first, second), worst = max(answers, key=lambda answer: RANK[answer[1].verdict])
    return CellReport(
        first.action,
        f"{NAME}: {second.action}",
        worst.verdict,
        round(sum(answer.seconds for _, answer in answers), 3),
        reason=worst.reason,
        failure=None if worst.before is None else orders_differ(model, config, first, second, worst.before),
    )


def orders_differ(model: Model, config: ModelConfig, first: Label, second: Label, state: Any) -> InductionFailure:
    """Report a state from which two steps do not commute; ReplayError if plain Python does not see it."""
    plain = PlainModel(model, config)
    after = plain.attempt(state, first)
    return replayed_step(model, config, first, state, after, _difference(plain, first, second, state))


def _difference(plain: PlainModel, first: Label, second: Label, state: Any) -> str:
    ends = []
    for one, other in ((first, second), (second, first)):
        alone, after = plain.attempt(state, other), plain.attempt(state, one)
        both = None if after is None else plain.attempt(after, other)
        if after is not None and (alone is None) != (both is None):
            return f"{other.action} is possible only {'after' if alone is None else 'before'} {one.action}"
        ends.append(both)
    if None in ends:
        raise ReplayError(f"plain Python does not see that {first} and {second} do not commute")
    ways = changes(ends[0], ends[1], plain.model.state_ty)
    if ways:
        return f"afterwards {', '.join(f'{way.path} is {way.old} or {way.new}' for way in ways)}"
    for one, other in ((first, second), (second, first)):
        after = plain.step(state, one)
        if plain.within(after) and plain.within(plain.step(state, other)) != plain.within(plain.step(after, other)):
            return f"{other.action} stays inside the bound only before or only after {one.action}"
    raise ReplayError(f"plain Python does not see that {first} and {second} do not commute")
