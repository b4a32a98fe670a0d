"""A counterexample to a reduction, replayed in plain Python before it is reported."""

from __future__ import annotations

from typing import Any

from elrcheck.lang.induction import Reduction
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import ModelConfig
from elrcheck.proof.reductions.same_states import ALIKE, CHECKS, SETTINGS, with_settings
from elrcheck.proving.step_failure import replayed_step
from elrcheck.results.prove_report import InductionFailure
from elrcheck.traces.describe import changes
from elrcheck.traces.replay import ReplayError


class PlainReduction:
    """A reduction in the plain model. config: of the search without it."""

    def __init__(self, model: Model, config: ModelConfig, reduction: Reduction) -> None:
        self.model, self.config, self.reduction = model, config, reduction
        self.reduced_config = with_settings(config, reduction)
        self.plain, self.reduced = PlainModel(model, config), PlainModel(model, self.reduced_config)

    def representative(self, state: Any) -> Any:
        return self.reduction.same(self.reduced_config, state)

    def state_failure(self, fn: Fn | None, state: Any) -> None:
        """Raise ReplayError unless a state refutes that its representative has the same property, or is its own."""
        there = self.representative(state)
        if fn is None:
            differs = self.representative(there) != there
        else:
            values = {plain.holds(fn, one) for plain in (self.plain, self.reduced) for one in (state, there)}
            differs = len(values) > 1
        if not differs:
            raise ReplayError(f"{self.reduction.name}: the state does not refute {'Once' if fn is None else fn.name}")

    def step_failure(self, label: Label, goal: str, state: Any) -> InductionFailure:
        """Report a state from which a step refutes a goal; ReplayError if plain Python does not see it."""
        plain, reduced = (self.plain, state), (self.reduced, state)
        pairs = {ALIKE: (plain, (self.plain, self.representative(state))), SETTINGS: (plain, reduced)}
        reasons = (
            self._difference(label, *pair, with_checks=goal == CHECKS)
            for name, pair in pairs.items()
            if goal in (name, CHECKS)
        )
        reason = next((reason for reason in reasons if reason is not None), None)
        if reason is None:
            raise ReplayError(f"{self.reduction.name}: plain Python sees no difference after {label}")
        tried = (self.plain.attempt(state, label), self.reduced.attempt(state, label))
        after = next((t for t in tried if t is not None), state)
        return replayed_step(self.model, self.config, label, state, after, reason)

    def _difference(
        self, label: Label, one: tuple[PlainModel, Any], two: tuple[PlainModel, Any], *, with_checks: bool
    ) -> str | None:
        """Return how two steps disagree; None if they agree. one, two: a model and a state before the step."""
        afters = tuple(plain.attempt(before, label) for plain, before in (one, two))
        mapped = [None if after is None else self.representative(after) for after in afters]
        inside = [after is None or self.plain.within(after) for after in afters]
        meet = None not in afters and mapped[0] == mapped[1] and inside[0] == inside[1]
        property_difference = self._property_told_apart(afters, one, two) if with_checks and meet else None
        for (plain, before), after, image in zip((one, two), afters, mapped, strict=True):
            if after is None or (meet and property_difference is None):
                continue
            if image == self.representative(before) and not (with_checks and self._shows(plain, before, after)):
                continue
            return property_difference or self._where(afters, mapped)
        return None

    def _where(self, afters: tuple[Any, Any], mapped: list[Any]) -> str:
        if None in afters:
            side = "first" if afters[1] is None else "second"
            return f"only the {side} of the two steps is possible"
        ways = changes(mapped[0], mapped[1], self.model.state_ty)
        differing_parts = ", ".join(f"{way.path} is {way.old} or {way.new}" for way in ways)
        return f"afterwards {differing_parts}" if ways else "only one of the two steps stays inside the bound"

    def _property_told_apart(
        self, afters: tuple[Any, Any], one: tuple[PlainModel, Any], two: tuple[PlainModel, Any]
    ) -> str | None:
        for fn in self.model.checks:
            if fn.is_step and one[0].holds(fn, one[1], afters[0]) != two[0].holds(fn, two[1], afters[1]):
                return f"{fn.ident} {fn.name} is true of one of the two steps only"
        return None

    def _shows(self, plain: PlainModel, before: Any, after: Any) -> bool:
        """Return whether a step violates a property of steps, or witnesses one."""
        steps = (fn for fn in self.model.checks if fn.is_step)
        return any(plain.holds(fn, before, after) != (fn.kind == "always") for fn in steps)
