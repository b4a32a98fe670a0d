"""The phase of `elrcheck prove` that asks what is possible where the lemmas hold, and compares it with plain Python.

The solver's steps are replayed by the functions of the model themselves, also with renamed members, and its guards and
lemmas are compared in the states of these steps. A difference is a fault of the symbolic evaluation, not of the model.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import replace
from typing import Any, Literal

from elrcheck.base.progress import ObligationDone, Progress
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.proof.equivariance import image, renamed
from elrcheck.proof.obligations import Prover
from elrcheck.proof.possible import Allowed, Answer, FiredStep, Possible
from elrcheck.proof.transition import SymbolicStep
from elrcheck.results.prove_report import Impossible, PossibleReport
from elrcheck.traces.describe import spelled
from elrcheck.traces.replay import ReplayError

RENAMINGS = 120
"""The maximum number of renamings with which a step is replayed: those of five members."""


def what_is_possible(prover: Prover, progress: Progress) -> PossibleReport:
    """Ask for a step of each instance and for what must be possible; ReplayError if plain Python disagrees."""
    started = time.perf_counter()
    possible, replays = Possible(prover), Replays(prover)
    total, impossible = len(prover.ts.instances), []
    for number, instance in enumerate(prover.ts.instances):
        begun = time.perf_counter()
        fired = possible.fires(number)
        name = spelled(prover.ts.model.fns[instance.action], instance.args)
        if fired.answer == "possible":
            replays.compare(number, fired)
        else:
            impossible.append(_never_fires(prover, instance, name, fired.answer))
        seconds = time.perf_counter() - begun
        progress.tell(ObligationDone("possible", number + 1, total, name, fired.answer, seconds))
    for fn, guard in possible.without_reason():
        why = f"{fn.name} can never fire: no state satisfies `{guard}`, whatever the configuration"
        impossible.append(Impossible("action", fn.name, why, "never", fn.place))
        total += 1
    for allowed in possible.allowed():
        total += 1
        if allowed.answer != "possible":
            impossible.append(_not_allowed(allowed))
    return PossibleReport(total, replays.steps, tuple(impossible), round(time.perf_counter() - started, 3))


def _never_fires(prover: Prover, instance: SymbolicStep, name: str, answer: Answer) -> Impossible:
    why = f"{name} can never fire where the lemmas hold"
    if answer == "unknown":
        why = f"it was not decided whether {name} can fire where the lemmas hold"
    return Impossible("action", name, why, _word(answer), prover.ts.model.fns[instance.action].place)


def _not_allowed(allowed: Allowed) -> Impossible:
    fn, what = allowed.fn, " ".join((allowed.fn.doc or "").split())
    if allowed.answer == "unknown":
        why = f"it was not decided whether this is possible where the lemmas hold: {what}"
    elif allowed.assumption is not None:
        why = f"the assumption {allowed.assumption.name} excludes what it must allow: {what}"
    else:
        why = f"this is impossible where the lemmas hold, and must not be: {what}"
    return Impossible("step" if fn.is_step else "state", fn.name, why, _word(allowed.answer), fn.place)


def _word(answer: Answer) -> Literal["never", "unknown"]:
    return "unknown" if answer == "unknown" else "never"


class Replays:
    """Compares the solver's steps with plain Python. steps: the number of compared steps."""

    def __init__(self, prover: Prover) -> None:
        self.ts, self.plain = prover.ts, PlainModel(prover.ts.model, prover.ts.config)
        self.actions = self.ts.model.actions_by_name
        self.steps = 0

    def compare(self, number: int, fired: FiredStep) -> None:
        """Raise ReplayError if lemmas, guards, the step or its renamings differ in plain Python."""
        args = fired.args or {}
        instance = replace(self.ts.instances[number], args=args[number])
        label, before = Label(instance.action, instance.args), fired.before
        self._lemmas(fired)
        for other, enabled in (fired.enabled or {}).items():
            neighbour = self.ts.instances[other]
            if (self.plain.attempt(before, Label(neighbour.action, args[other])) is not None) != enabled:
                raise ReplayError(f"the solver and plain Python disagree on the guards of {neighbour.action}")
        after = self.plain.attempt(before, label)
        if fired.after is None:
            return
        if after != fired.after:
            raise ReplayError(f"the solver's step {label} is not the model's")
        history = self.ts.history
        if history is not None and fired.seen_after is not None:
            seen = history.after(self.ts.config, before, after, fired.seen)
            if seen != fired.seen_after:
                raise ReplayError(f"the solver's history after {label} is not the model's")
        self.steps += 1
        self._renamed(instance, before, after)

    def _lemmas(self, fired: FiredStep) -> None:
        for fn in self.ts.model.lemmas:
            if not self.plain.holds(fn, fired.before):
                raise ReplayError(f"{fn.name} is false in a state in which it holds for the solver")
        for lemma in () if self.ts.history is None or fired.seen is None else self.ts.history.lemmas:
            if not lemma(self.ts.config, fired.before, fired.seen):
                raise ReplayError(f"{lemma.__name__} is false in a state in which it holds for the solver")

    def _renamed(self, instance: SymbolicStep, before: Any, after: Any) -> None:
        """Check that every choice that the instance stands for leads from the renamed state to the renamed one."""
        fn, ty = self.actions[instance.action], self.ts.model.state_ty
        if len(instance.alike) == 1:
            return
        orders = itertools.permutations(range(self.ts.alike_count))
        for to in itertools.islice(orders, RENAMINGS):
            label = Label(fn.name, image(fn, instance.args, to))
            if self.plain.attempt(renamed(before, ty, to), label) != renamed(after, ty, to):
                raise ReplayError(f"{label} is not the renamed step of {instance.action}{instance.args}")
            self.steps += 1
