"""Obligations of one controller step for Z3: an event in a legal situation after which a rule is broken.

The situation, the event's fields and the knobs in `OPEN` are arbitrary; each of those knobs is checked
with both values in every variant. A counterexample is minimised and read back as plain values; the
caller replays it in plain Python before reporting it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import z3

from elrcheck.invariants.controller_events import AnyEvent, EventKind
from elrcheck.kafka.controller_proof.controller_small import wishes
from elrcheck.lang.evaluate import Evaluator
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.types import type_of
from elrcheck.model.config import Config
from elrcheck.model.replication_control import Controller
from elrcheck.proof.solver import ask, milliseconds, new_solver, preferred_model
from elrcheck.proof.symbolic_values import arbitrary, constant, read
from elrcheck.proof.z3_algebra import Z3Algebra, formula
from elrcheck.results.proofs.controller_report import StepVerdict

OPEN = ("unclean_leader_election_enable", "bump_leader_epoch_on_isr_shrink", "recovery_state_supported")
"""Settings of a topic or a metadata version, independent of the release; the proof covers both values."""


@dataclass(frozen=True)
class Counterexample:
    """The plain values of a refuted obligation, and its configuration with the open knobs fixed."""

    config: Config
    before: Controller
    event: AnyEvent
    after: Controller


@dataclass(frozen=True)
class ObligationAnswer:
    """The solver's answer to one obligation."""

    verdict: StepVerdict
    seconds: float
    reason: str | None = None
    counterexample: Counterexample | None = None


@dataclass(frozen=True)
class OpenStep:
    """One kind of event in an arbitrary legal situation: a solver that asserts both, and the outcome."""

    solver: Any
    event: dict[str, Any]
    after: dict[str, Any]


class StepProver:
    """The obligations of one configuration; `fixed` names open knobs that keep their value."""

    def __init__(self, model: Model, config: Config, timeout: float | None, fixed: Sequence[str] = ()) -> None:
        self.model, self.config = model, config
        self.timeout = milliseconds(timeout)
        self.knobs = {name: z3.Bool(name) for name in OPEN if name not in fixed}
        algebra = Z3Algebra()
        self.evaluator = Evaluator(model.fns, replace(config, **self.knobs), algebra)
        self.structure = self.evaluator.structure
        self.situation = arbitrary(self.structure, type_of(Controller), "s")
        self.event = arbitrary(self.structure, type_of(AnyEvent), "e")
        self.legal = formula(self.holds("legal", s=self.situation.value))
        self.wishes = list(wishes(config, self.situation, self.event, self.knobs))

    def holds(self, name: str, **args: Any) -> Any:
        """Evaluate a function of the model on these arguments."""
        return self.evaluator.call(self.model.fns[name], (), args)

    def open_step(self, kind: EventKind) -> OpenStep:
        """Assert that the event happens in an arbitrary legal situation."""
        event = {**self.event.value, "kind": list(EventKind).index(kind)}
        solver = new_solver(self.timeout)
        happens = formula(self.holds("possible", s=self.situation.value, e=event))
        solver.add(self.situation.within, self.event.within, self.legal, happens)
        return OpenStep(solver, event, self.holds("after", s=self.situation.value, e=event))

    def possible(self, step: OpenStep) -> tuple[Any, float]:
        """Ask for a legal situation that allows the event: the answer of Z3, and the seconds spent."""
        started = time.perf_counter()
        answer = ask(step.solver, self.timeout)
        return answer, time.perf_counter() - started

    def keeps(self, step: OpenStep, rule: Fn) -> ObligationAnswer:
        """Discharge the obligation that the rule holds after the event."""
        goal = self.holds(rule.name, s=self.situation.value, e=step.event, t=step.after)
        step.solver.push()
        step.solver.add(z3.Not(formula(goal)))
        answer = self._answer(step)
        step.solver.pop()
        return answer

    def _answer(self, step: OpenStep) -> ObligationAnswer:
        started = time.perf_counter()
        answer = ask(step.solver, self.timeout)
        seconds = time.perf_counter() - started
        if answer == z3.unsat:
            return ObligationAnswer("proved", seconds)
        if answer == z3.unknown:
            return ObligationAnswer("unknown", seconds, reason=step.solver.reason_unknown())
        small = preferred_model(step.solver, self.timeout, self.wishes)
        return ObligationAnswer("refuted", seconds, counterexample=self._read(small, step))

    def _read(self, solved: Any, step: OpenStep) -> Counterexample:
        chosen = {name: constant(solved, term) for name, term in self.knobs.items()}
        return Counterexample(
            replace(self.config, **chosen),
            read(solved, self.structure, self.situation.value, self.situation.ty),
            read(solved, self.structure, step.event, self.event.ty),
            read(solved, self.structure, step.after, self.situation.ty),
        )
