"""The properties that are proved even if some lemmas are not preserved."""

from __future__ import annotations

import time
from collections.abc import Sequence

from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.proof.hypotheses import condition_of, lemmas_of
from elrcheck.proof.largest_set import Survivors
from elrcheck.proof.obligations import Prover
from elrcheck.proof.transition import Transitions
from elrcheck.proving.certify import StepAnswers
from elrcheck.results.prove_report import PropertyProof, Surviving


def surviving(
    model: Model, transitions: Transitions, properties: Sequence[Fn], timeout: float | None, answers: StepAnswers
) -> Surviving:
    """Find the largest preserved set of lemmas, and the properties that it proves. answers: of the whole proof."""
    started = time.perf_counter()
    candidates = [fn for fn in properties if not fn.is_step and _stands_alone(model, transitions, fn)]
    prover = Prover(transitions, (*lemmas_of(model), *candidates), timeout)
    survivors = Survivors(prover)
    survivors.assume(
        (number, goal, answer.core)
        for number, by_goal in answers.items()
        for goal, answer in by_goal.items()
        if answer.verdict == "proved"
    )
    survivors.find()
    candidate_names = {fn.name for fn in candidates}
    return Surviving(
        lemmas=tuple(fn.name for fn in lemmas_of(model) if fn.name in survivors.names),
        dropped=tuple(drop for drop in survivors.dropped if drop.lemma not in candidate_names),
        void=tuple(survivors.void),
        properties=tuple(
            PropertyProof(fn.ident, not survivors.void and _proved(survivors, fn), _condition(model, transitions, fn))
            for fn in properties
        ),
        seconds=round(time.perf_counter() - started, 3),
    )


def _stands_alone(model: Model, transitions: Transitions, fn: Fn) -> bool:
    """Return whether a property may serve as a lemma: it has no condition and treats all brokers alike."""
    alike = transitions.alike is None or transitions.alike.holds(fn)
    return condition_of(model, fn, transitions.config) is None and alike


def _proved(survivors: Survivors, fn: Fn) -> bool:
    if fn.is_step:
        return survivors.broken_step(fn) is None
    return fn.name in survivors.names or survivors.implied(fn)


def _condition(model: Model, transitions: Transitions, fn: Fn) -> str | None:
    condition = condition_of(model, fn, transitions.config)
    return None if condition is None else condition.doc
