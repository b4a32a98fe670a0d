"""Judges one change of a rule, or a hazard, by the proof by induction: which obligation does it leave open?

The terms of the changed model are first compared with those of the original: Z3 stores equal terms once, so an
obligation without a difference needs no solver. Two brokers are tried before three, because an open obligation shows
quickly there. Every counterexample to induction is replayed in plain Python, as in a proof.

For a hazard there is one claim more, with recoveries, under its assumption. If none has an open obligation, and the
search of the hazard changes other rules too, these count as part of the change. Settings of the search that no proof
covers are named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import z3

from elrcheck.base.requests import ProofAssumption, Selection
from elrcheck.catalogue.hazard import Hazard
from elrcheck.catalogue.proof_settings import ALWAYS_NAMED, outside, widened
from elrcheck.declared.select import resolve
from elrcheck.invariants.modules import load_proof_model
from elrcheck.lang.changed.altered import planted
from elrcheck.lang.changed.variations import Variation
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.model.budgets import Spent
from elrcheck.model.config import Config
from elrcheck.model.knobs import knobs
from elrcheck.model.state import GHOSTS
from elrcheck.mutation.mutation_run import dropped
from elrcheck.mutation.rule_mutants import RuleMutants
from elrcheck.proof.hypotheses import lemmas_of
from elrcheck.proof.obligations import FRAME, TYPES, Discharge, Prover
from elrcheck.proof.transition import SymbolicStep, Transitions
from elrcheck.proving.step_failure import step_failure
from elrcheck.results.mutation_report import ProofAnswer
from elrcheck.traces.replay import ReplayError

BUDGETS = frozenset(part.name for part in fields(Spent))


def partition_mutants(model: Model) -> RuleMutants:
    """Return all changes of the rules in one of the models of a partition; ghosts and budgets are not rules."""
    return RuleMutants(model, GHOSTS, BUDGETS)


SECONDS = 20.0
"""Limit of each obligation."""
SIZES = (
    ("broker_count=2", "log_slots=1"),
    ("broker_count=2", "log_slots=2"),
    ("broker_count=3", "log_slots=2"),
    (
        "broker_count=3",
        "log_slots=1",
        "reassignments=1",
        "min_isr_changes=0",
        "feature_changes=0",
        "late_answers=0",
        "directory_failures=0",
        "directory_losses=0",
    ),
)
"""The third is what `prove` covers by default: F-10 is refuted only with logs of two records. The last is the
proof with reassignments."""


@dataclass(frozen=True)
class ByProof:
    """The verdict of the proof on a change. outside: none of the steps and lemmas that it covers differ.

    action: whose step breaks `goal`, empty for the initial state and for properties that lemmas no longer
    imply. brokers: in the proof that decided it.
    """

    answer: ProofAnswer
    action: str = ""
    goal: str = ""
    brokers: int = 0
    reason: str = ""

    @property
    def open(self) -> str | None:
        """Return the open obligation, and the size of the proof that has it."""
        step = " x ".join(filter(None, (self.action, self.goal)))
        return f"{step}, {self.brokers} brokers" if step else None


class ProofBench:
    """The original's obligations, built when first needed."""

    def __init__(self, sizes: tuple[tuple[str, ...], ...] = SIZES) -> None:
        self.model = load_proof_model()
        self.mutants = partition_mutants(self.model)
        self.sides = tuple(Side(self.model, _config(size)) for size in sizes)

    def judge(self, variation: Variation) -> ByProof:
        """Return the first open obligation; `proved` only if every size has all its obligations proved."""
        last = ByProof("outside")
        changed = self.mutants.make(variation)
        if changed is None:
            return ByProof("undefined", reason="the types refuse the change")
        for side in self.sides:
            try:
                with planted(changed.original, changed.plain):
                    by_proof = side.compare(changed.model, side.config)
            except (ReplayError, ArithmeticError, IndexError, TypeError, ValueError, z3.Z3Exception) as fault:
                return ByProof("undefined", brokers=side.config.broker_count, reason=str(fault))
            if by_proof.answer in ("refuted", "undecided"):
                return by_proof
            if by_proof.answer == "proved":
                last = by_proof
        return last


def _config(size: tuple[str, ...]) -> Config:
    selected = resolve(Selection("kip_full", "three-brokers", size))
    return widened(selected.config, selected.overrides)


class Side:
    """One configuration, with the obligations of the original. assumed: names of assumptions on steps."""

    def __init__(self, model: Model, config: Config, assumed: tuple[str, ...] = ()) -> None:
        self.model, self.config, self.assumed = model, config, assumed

    @cached_property
    def terms(self) -> _Terms:
        return _Terms(self.model, self.config, self.assumed)

    def compare(self, model: Model, config: Config) -> ByProof:
        """Return the first obligation that is open in a changed model or configuration."""
        old = self.terms
        new = _Terms(model, config, self.assumed, old.silent)
        lemmas = {name for name in new.now if not _same(new.now[name], old.now.get(name))}
        obligations = undecided = 0
        for fn, done in self._obligations(new, old, lemmas):
            obligations += 1
            if done.answer.verdict == "refuted":
                self._replay(model, config, fn, done)
                goal = done.goal if fn is None else fn.ident or fn.name
                return ByProof("refuted", done.action, goal, config.broker_count)
            undecided += done.answer.verdict == "unknown"
        answer: ProofAnswer = "undecided" if undecided else "proved" if obligations else "outside"
        return ByProof(answer, brokers=config.broker_count)

    def _obligations(self, new: _Terms, old: _Terms, lemmas: set[str]) -> Iterator[tuple[Fn | None, _GoalAnswer]]:
        """Yield the answers to all obligations that the change affects, those of changed steps first."""
        steps = {fn.name for fn in new.steps if not _same(new.over(fn), old.over_named(fn.name))}
        changed = [one for one in new.prover.ts.instances if not old.has(one)]
        if lemmas:
            for fn in new.prover.lemmas:
                yield fn, _GoalAnswer("", fn.name, new.prover.initiation(fn))
        for instance in changed:
            yield from self._step(new, instance, None)
        for instance in new.prover.ts.instances:
            if old.has(instance) and (lemmas or steps):
                yield from self._step(new, instance, None if lemmas else steps)
        for fn in new.states:
            if lemmas or not _same(new.prover.claim(fn), old.claim_named(fn.name)):
                yield fn, _GoalAnswer("", fn.name, new.prover.implication(fn))

    def _step(
        self, new: _Terms, instance: SymbolicStep, only: set[str] | None
    ) -> Iterator[tuple[Fn | None, _GoalAnswer]]:
        prover = new.prover
        solver = prover.open_step(instance)
        if only is None:
            yield None, _GoalAnswer(instance.action, FRAME, prover.frame(solver, instance), instance)
            yield None, _GoalAnswer(instance.action, TYPES, prover.types(solver, instance), instance)
        for fn in (*prover.lemmas, *new.steps):
            if only is not None and fn.name not in only:
                continue
            done = prover.consecution(solver, instance, fn)
            if done is not None:
                yield fn, _GoalAnswer(instance.action, fn.name, done, instance)

    def _replay(self, model: Model, config: Config, fn: Fn | None, done: _GoalAnswer) -> None:
        """Replay the step in plain Python; raise ReplayError unless the goal is false after it."""
        if done.instance is not None and done.goal != FRAME:
            step_failure(model, config, done.instance, fn, done.answer)


@dataclass(frozen=True)
class _GoalAnswer:
    """An obligation and its answer."""

    action: str
    goal: str
    answer: Discharge
    instance: SymbolicStep | None = None


class _Terms:
    """The terms of a model's obligations in one configuration. silent: properties that say nothing there."""

    def __init__(
        self, model: Model, config: Config, assumed: tuple[str, ...], silent: frozenset[str] | None = None
    ) -> None:
        transitions = Transitions(model, config, any_order=True, assumed=assumed)
        self.prover = Prover(transitions, lemmas_of(model), SECONDS)
        self.now = self.prover.now
        if silent is None:
            silent = frozenset(fn.name for fn in model.always if fn.note or self.prover.is_trivial(fn))
        self.silent = silent
        judged = [fn for fn in model.always if fn.name not in silent]
        self.steps = [fn for fn in judged if fn.is_step]
        self.states = [fn for fn in judged if not fn.is_step]
        self._step_terms = {fn.name: fn for fn in self.steps}
        self._state_terms = {fn.name: fn for fn in self.states}
        self._instances = {(one.action, one.args): one for one in transitions.instances}

    def over(self, fn: Fn) -> Any:
        return self.prover.over_next(fn)

    def over_named(self, name: str) -> Any:
        return self.over(self._step_terms[name]) if name in self._step_terms else None

    def claim_named(self, name: str) -> Any:
        return self.prover.claim(self._state_terms[name]) if name in self._state_terms else None

    def has(self, other: SymbolicStep) -> bool:
        """Return whether it has the same step, in equal terms."""
        own = self._instances.get((other.action, other.args))
        if own is None or not _same(own.guard, other.guard) or own.alike != other.alike:
            return False
        return len(own.becomes) == len(other.becomes) and all(
            _same(a, b) and _same(x, y) for (a, x), (b, y) in zip(own.becomes, other.becomes, strict=True)
        )


def _same(one: Any, other: Any) -> bool:
    return other is not None and bool(one.eq(other))


RECOVERY: ProofAssumption = "complete-winners"
ORDER = ("outside", "proved", "undefined", "undecided", "refuted")
"""Answers of the proof; the later says more."""


@dataclass(frozen=True)
class HazardByProof:
    """The verdict of the proof on a hazard. beyond: settings of its search that no proof covers.

    hole: no obligation is open, although the proof covers the configuration of the search that finds the hazard.
    """

    by_proof: ByProof
    beyond: tuple[str, ...]

    @property
    def hole(self) -> bool:
        return self.by_proof.answer in ("proved", "outside") and not self.beyond


class HazardProofs:
    """The claims for hazards, built when first needed."""

    def __init__(self, sizes: tuple[tuple[str, ...], ...] = SIZES) -> None:
        self.bench = ProofBench(sizes=sizes)
        self._recoveries: dict[int, Side] = {}

    def judge(self, hazard: Hazard, base: Config) -> HazardByProof:
        """Return the first open obligation. base: the configuration that the hazard is searched in, without it."""
        last = ByProof("outside")
        for side, change in self._tries(hazard, base):
            model = side.model if hazard.guard is None else dropped(side.model, *hazard.guard)
            by_proof = side.compare(model, replace(side.config, **change))
            last = max(last, by_proof, key=lambda one: ORDER.index(one.answer))
            if last.answer == "refuted":
                break
        return HazardByProof(last, outside(base, hazard.variant))

    def _tries(self, hazard: Hazard, base: Config) -> Iterator[tuple[Side, Mapping[str, Any]]]:
        """Yield the claims, with what changes in each."""
        yield from ((side, hazard.knobs) for side in self.bench.sides)
        yield self._recovery(base.min_isr), hazard.knobs
        own = {knob.name for knob in knobs() if knob.is_rule}
        own -= set(ALWAYS_NAMED)  # protocols of their own, not rules
        if rules := {name: value for name, value in hazard.settings.items() if name in own}:
            yield from ((side, {**rules, **hazard.knobs}) for side in self.bench.sides)

    def _recovery(self, min_isr: int) -> Side:
        """Return the claim with unclean elections and recoveries, two brokers and logs of one record."""
        if min_isr not in self._recoveries:
            small = ("log_slots=1", f"min_isr={min_isr}")
            selected = resolve(Selection("kip_full", "two-brokers", small))
            config = widened(selected.config, selected.overrides, (RECOVERY,))
            self._recoveries[min_isr] = Side(self.bench.model, config, (RECOVERY,))
        return self._recoveries[min_isr]
