"""Kernel, numpy evaluator, Z3 and TLC agree with plain Python, state by state, under every feature.

Compared are guards, successors and the values of all properties. The features are dealt to the shares of the slow
tests, so that each run of the suite takes about one.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import z3

from elrcheck.base.requests import Limits
from elrcheck.explorer.kernel.word_layout import Successors
from elrcheck.explorer.search.compiled import Search
from elrcheck.explorer.search.vector import VectorSearch
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.model.config import Config
from elrcheck.proof.symbolic_values import terms_of
from elrcheck.proof.transition import Transitions
from elrcheck.proof.z3_algebra import variable
from support.configurations import COMBINED, FEATURES, NEEDS, available, configuration
from support.feature_samples import FeatureSample, samples
from support.tlc_judge import assert_tlc_agrees

PAIRS = 1403
"""(action, feature) pairs that are compared: all but those for which `NEEDS` has a reason."""


@pytest.fixture(scope="module", params=samples())
def sample(request: pytest.FixtureRequest, proof_model: Model) -> FeatureSample:
    return FeatureSample(proof_model, *request.param)


# ------------------------------------------------------------------------------ what is compared


def test_every_pair_of_action_and_feature_is_compared_or_has_a_reason(proof_model: Model) -> None:
    names = {fn.name for fn in proof_model.actions}
    possible = {feature: available(names, configuration(feature)) for feature in FEATURES}
    assert {action for need in NEEDS for action in need.actions} <= names
    assert set().union(*(possible[feature] for feature in COMBINED)) == names, "the combined features have every action"
    assert sum(map(len, possible.values())) == PAIRS
    assert len(names) * len(FEATURES) == 57 * 57


def test_every_knob_and_budget_is_turned_in_some_feature() -> None:
    configurations = [configuration(feature) for feature in FEATURES]
    for part in fields(Config):
        seen = {getattr(config, part.name) for config in configurations}
        if isinstance(part.default, enum.Enum):
            assert seen == set(type(part.default)), part.name
        elif isinstance(part.default, bool):
            assert seen == {True, False}, part.name
        elif part.name not in ("broker_count", "min_isr", "log_slots"):
            assert max(seen) > 0, part.name


def test_the_sample_has_a_step_of_every_action_that_can_happen(sample: FeatureSample) -> None:
    """Also the reasons are checked: the solver finds no state in which one of the others is enabled."""
    names = [fn.name for fn in sample.model.actions]
    assert sample.fired == available(names, sample.config)
    assert {one.action for one in sample.lowered.program.instances} == sample.fired
    assert {one.action for one in sample.transitions.instances} == sample.fired


def test_every_property_of_a_state_is_seen_true_and_false(sample: FeatureSample) -> None:
    """Else a comparison of its values would say little. Some are true by the configuration alone."""
    properties = [fn for fn in sample.model.checks if not fn.is_step]
    seen = {fn.name: {sample.judged(fn, state) for state, _ in sample.cases} for fn in properties}
    assert {name for name, values in seen.items() if not {True, False} <= values} == sample.constant
    if sample.feature == "operator":
        assert not sample.constant


# ------------------------------------------------------------------------------ kernel and numpy


def test_kernel_and_numpy_agree(sample: FeatureSample) -> None:
    program = sample.lowered.program
    by_ident = {fn.ident: fn for fn in sample.model.checks}
    kernel = Search(program)
    portable = VectorSearch(program, limits=Limits())
    rows = kernel.layout.pack_rows([sample.lowered.encode(state) for state, _ in sample.cases])
    steps = kernel.successors(rows)
    assert ordered(steps) == ordered(portable.successors(rows))
    assert_steps(sample, kernel, steps, by_ident)
    for index, check in enumerate(program.checks):
        if check.scope == "state":
            hits = kernel.state_hits(index, rows)
            assert (hits == portable.state_hits(index, rows)).all(), check.name
            for (state, _), hit in zip(sample.cases, hits, strict=True):
                value = sample.judged(by_ident[check.name], state)
                assert value is None or (value == check.hit_value) == hit, check.name


def ordered(successors: Successors) -> tuple[list[int], list[tuple[Any, ...]]]:
    """What was found, in one order: steps with the new states and the findings of the step checks."""
    columns = (
        successors.sources.tolist(),
        successors.instances.tolist(),
        successors.rows.tolist(),
        successors.flags.tolist(),
    )
    return successors.enabled.tolist(), sorted(zip(*columns, strict=True))


def assert_steps(sample: FeatureSample, run: Search, successors: Successors, by_ident: dict[str, Fn]) -> None:
    """The steps inside the budgets and the room, no others, and what step properties say of them."""
    program = sample.lowered.program
    checks = [(i, check) for i, check in enumerate(program.checks) if check.scope == "step"]
    left = []
    for (_, steps), enabled in zip(sample.cases, successors.enabled, strict=True):
        assert len(steps) == enabled, "guards"
        inside = {key: to for key, to in steps.items() if sample.plain.within(to) and sample.fits(to)}
        left.append(inside)
    for row, source, number, flags in zip(
        successors.rows, successors.sources, successors.instances, successors.flags, strict=True
    ):
        before, instance = sample.cases[source][0], program.instances[number]
        after = left[source].pop((instance.action, instance.args))
        assert tuple(run.layout.unpack(row)) == sample.leaves(after), (before, instance.action)
        for i, check in checks:
            value = sample.judged(by_ident[check.name], before, after)
            hit = bool(int(flags[i // 64]) >> i % 64 & 1)
            assert value is None or (value == check.hit_value) == hit, (check.name, before, after)
    assert not any(left), "steps that the engines do not take"


# ------------------------------------------------------------------------------ Z3


class Evaluated:
    """Terms of the solver at concrete states, many at once: what they share is evaluated once."""

    def __init__(self, sample: FeatureSample) -> None:
        transitions = sample.transitions
        later = [
            scalar if slot.index is None else variable(transitions.structure, slot.path + "'", slot.ty)
            for slot, scalar in zip(transitions.slots, transitions.scalars, strict=True)
        ]
        self.sample = sample
        self.then = transitions.structure.rebuild(iter(later), sample.model.state_ty)
        self._now, self._later = self._settable(transitions.scalars), self._settable(later)
        self._values = {number: z3.IntVal(number) for number in range(-1, 64)}
        self._flags = (z3.BoolVal(False), z3.BoolVal(True))

    def _settable(self, scalars: list[Any]) -> list[tuple[int, Any]]:
        slots = self.sample.transitions.slots
        pairs = zip(slots, scalars, strict=True)
        return [(i, scalar) for i, (slot, scalar) in enumerate(pairs) if slot.index is not None]

    def at(self, state: Any, after: Any = None) -> z3.ModelRef:
        """An assignment under which the present (and the next) state are these, and the history of a proof is blank."""
        solved = z3.Model()
        for scalar in self.sample.transitions.seen.scalars:
            for term in terms_of(scalar.term):
                solved.update_value(term, self._flags[0] if z3.is_bool(term) else self._values[0])
        self._assign(solved, self._now, self.sample.numbers(state))
        if after is not None:
            self._assign(solved, self._later, self.sample.numbers(after))
        return solved

    def _assign(self, solved: z3.ModelRef, settable: list[tuple[int, Any]], numbers: tuple[int, ...]) -> None:
        for i, scalar in settable:
            if isinstance(scalar, list):
                for bit, flag in enumerate(scalar):
                    solved.update_value(flag, self._flags[numbers[i] >> bit & 1])
            elif z3.is_bool(scalar):
                solved.update_value(scalar, self._flags[numbers[i]])
            else:
                solved.update_value(scalar, self._values[numbers[i]])


def values(solved: z3.ModelRef, terms: list[Any]) -> list[int]:
    if not terms:
        return []
    together = z3.Function("together", *(term.sort() for term in terms), z3.BoolSort())
    children = solved.eval(together(*terms)).children()
    return [value.as_long() if z3.is_int_value(value) else int(bool(value)) for value in children]


def changed(transitions: Transitions, after: Mapping[str, Any]) -> list[tuple[int, Any]]:
    """The scalars that a step may change, with their new values: (index of the slot, term)."""
    leaves = transitions.structure.leaves(after, transitions.model.state_ty)
    pairs = enumerate(zip(transitions.scalars, leaves, strict=True))
    return [(i, new) for i, (old, (_, _, new)) in pairs if new is not old]


def test_z3_agrees(sample: FeatureSample) -> None:
    """Every action instance, every property and every lemma, evaluated by the solver on concrete states."""
    transitions, model, evaluated = sample.transitions, sample.model, Evaluated(sample)
    properties = [fn for fn in (*model.checks, *model.lemmas) if not fn.is_step]
    guards = [instance.guard for instance in transitions.instances]
    terms = [transitions.type_invariant, *guards, *map(transitions.holds, properties)]
    updates = [changed(transitions, instance.after) for instance in transitions.instances]
    for state, steps in sample.cases[:: sample.size.apart]:
        solved = evaluated.at(state)
        typed, *flags = values(solved, terms)
        assert typed, "the state satisfies the type invariant"
        enabled = [i for i, flag in enumerate(flags[: len(guards)]) if flag]
        taken = [transitions.instances[i] for i in enabled]
        assert {(instance.action, instance.args) for instance in taken} == set(steps)
        for instance, after in zip(
            taken, successors(sample.numbers(state), solved, [updates[i] for i in enabled]), strict=True
        ):
            expected = sample.numbers(steps[instance.action, instance.args])
            if len(expected) == len(after):  # else a log exceeds its slots: the solver has no such state
                assert after == expected, (instance.action, state)
        for fn, flag in zip(properties, flags[len(guards) :], strict=True):
            assert sample.judged(fn, state) in (None, bool(flag)), (fn.name, state)


def successors(
    before: tuple[int, ...], solved: z3.ModelRef, updates: list[list[tuple[int, Any]]]
) -> Iterator[tuple[int, ...]]:
    """The numbers of the next states, one for each list of updates."""
    terms = [term for changes in updates for _, new in changes for term in flat(new) if z3.is_expr(term)]
    choices = iter(values(solved, terms))
    for changes in updates:
        after = list(before)
        for slot, new in changes:
            numbers = [next(choices) if z3.is_expr(term) else int(term) for term in flat(new)]
            after[slot] = sum(number << bit for bit, number in enumerate(numbers))
        yield tuple(after)


def flat(scalar: Any) -> list[Any]:
    return scalar if isinstance(scalar, list) else [scalar]


def test_z3_agrees_about_pairs_of_states(sample: FeatureSample) -> None:
    transitions, model, evaluated = sample.transitions, sample.model, Evaluated(sample)
    properties = [fn for fn in model.checks if fn.is_step]
    terms = [transitions.holds(fn, transitions.now, evaluated.then) for fn in properties]
    for before, after in sample.pairs:
        for fn, flag in zip(properties, values(evaluated.at(before, after), terms), strict=True):
            assert sample.judged(fn, before, after) in (None, bool(flag)), (fn.name, before, after)


# ------------------------------------------------------------------------------ TLC


@pytest.mark.tlc
def test_tlc_agrees(sample: FeatureSample, tmp_path: Path) -> None:
    assert_tlc_agrees(sample, tmp_path)
