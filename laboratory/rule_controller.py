"""Judges a change of a rule by the proof that every controller event preserves the controller's rules.

Only events for which the change alters a Z3 term need the solver.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from elrcheck.invariants.controller_events import EventKind
from elrcheck.invariants.modules import load_controller_model, rules_of
from elrcheck.kafka.controller_proof.controller_obligations import StepProver
from elrcheck.kafka.controller_proof.prove_controller import replayed
from elrcheck.kafka.mutation.partition_mutants import partition_mutants
from elrcheck.lang.changed.altered import planted
from elrcheck.lang.changed.variations import Variation
from elrcheck.mutation.rule_answer import ChangeVerdict
from elrcheck.proof.z3_algebra import formula

SECONDS = 20.0
"""Limit of each obligation; one that the solver cannot decide in time counts as preserved."""


class ControllerBench:
    """The obligations of the unchanged model in `kip_full`."""

    def __init__(self) -> None:
        self.model = load_controller_model()
        self.mutants = partition_mutants(self.model)
        self.config = resolve(Selection("kip_full", "two-brokers")).config
        self.prover = StepProver(self.model, self.config, SECONDS)
        self.terms = {kind: dict(_terms(self.prover, self.model, kind)) for kind in EventKind}

    def judge(self, variation: Variation) -> ChangeVerdict | None:
        """Return a rule that the change breaks, replayed in plain Python; None if no event is known to break one."""
        if variation.function not in self.mutants.fns:
            return None
        changed = self.mutants.make(variation)
        if changed is None:
            return None
        with planted(changed.original, changed.plain):
            prover = StepProver(changed.model, self.config, SECONDS)
            for kind in EventKind:
                before = self.terms[kind]
                after = dict(_terms(prover, changed.model, kind))
                same = after["possible"].eq(before["possible"])
                rules = rules_of(changed.model)
                odd = [fn for fn in rules if not (same and after[fn.ident].eq(before[fn.ident]))]
                step = prover.open_step(kind) if odd else None
                for fn in odd:
                    assert step is not None
                    answer = prover.keeps(step, fn)
                    if answer.counterexample is not None and self._held(kind, fn.ident):
                        replayed(changed.model, fn, answer.counterexample)
                        return ChangeVerdict("found", fn.ident, configuration=f"prove --controller, {kind.name}")
        return None

    def _held(self, kind: EventKind, ident: str) -> bool:
        """Return whether the unchanged model preserves the rule."""
        fn = next(one for one in rules_of(self.model) if one.ident == ident)
        return self.prover.keeps(self.prover.open_step(kind), fn).verdict == "proved"


def _terms(prover: StepProver, model: Any, kind: EventKind) -> Iterator[tuple[str, Any]]:
    """Yield the terms about an event: whether it can happen, and each rule after it."""
    step = prover.open_step(kind)
    yield "possible", formula(prover.holds("possible", s=prover.situation.value, e=step.event))
    for fn in rules_of(model):
        goal = prover.holds(fn.name, s=prover.situation.value, e=step.event, t=step.after)
        yield fn.ident, formula(goal)
