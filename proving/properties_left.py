"""What is proved of each property, also where some lemmas are not preserved."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from elrcheck.invariants.modules import condition_of, lemmas_of
from elrcheck.invariants.proof.largest_set import Survivors
from elrcheck.invariants.proof.necessity import Need
from elrcheck.invariants.proof.obligations import Discharge, Prover
from elrcheck.invariants.proof.transition import Transitions
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.results.prove_report import LemmaDropped, LemmaNeed, PropertyProof, Surviving


def surviving(
    model: Model,
    transitions: Transitions,
    properties: Sequence[Fn],
    timeout: float | None,
    found: Mapping[int, Mapping[str, Discharge]],
) -> Surviving:
    """Find the largest set of lemmas that is preserved, and which of the properties it proves.

    found: number of an instance -> goal -> the answer with all lemmas; what is missing cannot be affected.
    """
    started = time.perf_counter()
    candidates = [fn for fn in properties if not fn.is_step and _stands_alone(model, transitions, fn)]
    prover = Prover(transitions, (*lemmas_of(model), *candidates), timeout)
    survivors = Survivors(prover)
    survivors.assume(
        (number, goal, answer.core)
        for number, answers in found.items()
        for goal, answer in answers.items()
        if answer.verdict == "proved"
    )
    survivors.find()
    void = tuple(LemmaDropped(one.lemma, one.action, one.unknown) for one in survivors.void)
    idents = {fn.name: fn.ident for fn in candidates}
    return Surviving(
        lemmas=tuple(fn.name for fn in lemmas_of(model) if fn.name in survivors.kept),
        dropped=tuple(
            LemmaDropped(one.lemma, one.action, one.unknown) for one in survivors.dropped if one.lemma not in idents
        ),
        void=void,
        properties=tuple(
            PropertyProof(fn.ident, not void and _proved(survivors, fn), _condition(model, transitions, fn))
            for fn in properties
        ),
        seconds=round(time.perf_counter() - started, 3),
    )


def _stands_alone(model: Model, transitions: Transitions, fn: Fn) -> bool:
    """Whether a property may serve as a lemma: without a condition, and of all brokers alike."""
    alike = transitions.alike is None or transitions.alike.holds(fn)
    return condition_of(model, fn, transitions.config) is None and alike


def _proved(survivors: Survivors, fn: Fn) -> bool:
    if fn.is_step:
        return survivors.broken_step(fn) is None
    return fn.name in survivors.kept or survivors.implied(fn)


def _condition(model: Model, transitions: Transitions, fn: Fn) -> str | None:
    condition = condition_of(model, fn, transitions.config)
    return None if condition is None else condition.doc


def lemma_need(lemma: str, need: Need | None) -> LemmaNeed:
    """The obligation that is open without a lemma, as reports have it."""
    if need is None:
        return LemmaNeed(lemma, needed=False)
    return LemmaNeed(lemma, None if need.unknown else True, need.action, need.goal)
