"""The phase of `elrcheck prove` that asks what is possible where the lemmas hold, and compares it with plain Python.

The solver's steps are replayed by the functions of the model themselves, also with renamed members, and its guards and
lemmas are compared in the states of these steps. A difference is a fault of the symbolic evaluation, not of the model.

A proof says nothing of a step that never fires, and less than it seems if its lemmas, assumptions or history exclude
too much. Neither leaves an obligation open, so it is checked here.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import z3

from elrcheck.base.progress import ObligationDone, Progress
from elrcheck.lang.expr import Call, ConfigField, Expression
from elrcheck.lang.ir import Fn, Let, Require, fn_nodes, reachable, requires
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.tree import free_names, walk
from elrcheck.proof.equivariance import image, renamed
from elrcheck.proof.hypotheses import must_be_possible, steps_of
from elrcheck.proof.obligations import TYPES, Prover
from elrcheck.proof.symbolic_values import read as read_value
from elrcheck.proof.symbolic_values import terms_of
from elrcheck.proof.transition import Excluded, SymbolicStep
from elrcheck.proof.z3_algebra import formula, variable
from elrcheck.results.prove_report import Impossible, PossibleReport
from elrcheck.traces.describe import spelled
from elrcheck.traces.replay import ReplayError

Answer: TypeAlias = Literal["possible", "never", "unknown"]
OTHERS = 5
"""Other instances whose guards are compared in the state before each step."""


@dataclass(frozen=True)
class FiredStep:
    """The solver's step from a state that satisfies all lemmas.

    after: None if the step leaves a type, which `Types` refutes. seen, seen_after: the history before and after it.
    enabled: number of an instance -> whether its guards hold in `before`. args: of these instances.
    """

    answer: Answer
    before: Any = None
    after: Any = None
    seen: Any = None
    seen_after: Any = None
    enabled: Mapping[int, bool] | None = None
    args: Mapping[int, tuple[Any, ...]] | None = None


@dataclass(frozen=True)
class Allowed:
    """A step or state that must be possible. assumption: the one on steps that must allow it, if any."""

    fn: Fn
    assumption: Fn | None
    answer: Answer


class Possible:
    """Asks the solver of one prover what is possible."""

    def __init__(self, prover: Prover) -> None:
        self.prover, self.ts = prover, prover.ts

    def fires(self, number: int) -> FiredStep:
        """Return a step of this instance from a state that satisfies all lemmas."""
        instances = self.ts.instances
        instance = instances[number]
        solver = self.prover.open_step(instance)
        history = {term.get_id() for scalar in self.ts.next_seen.scalars for term in terms_of(scalar.term)}
        solver.add(*(name == term for name, term in instance.becomes if name.get_id() in history))
        if self.ts.structure.lifted:
            solver.add(self.ts.whole(self.ts.now, instance.after))
        answer = self._ask(solver)
        if answer != "possible":
            return FiredStep("unknown" if self.ts.structure.lifted else answer)
        solved = solver.model()
        near = {(number + k) % len(instances) for k in range(min(OTHERS + 1, len(instances)))}
        enabled = {k: z3.is_true(solved.eval(instances[k].enabled, model_completion=True)) for k in near}
        within = solved.eval(self.prover.formula(instance, TYPES), model_completion=True)
        after = self.ts.read(solved, instance.after) if z3.is_true(within) else None
        seen_after = None
        if self.ts.history is not None:
            seen_after = read_value(solved, self.ts.structure, self.ts.next_seen.value, self.ts.seen_ty)
        before = self.ts.read(solved, self.ts.now)
        args = {k: self.ts.plain_args(solved, instances[k].args) for k in near}
        return FiredStep(answer, before, after, self.ts.read_seen(solved), seen_after, enabled, args)

    def allowed(self) -> Iterator[Allowed]:
        """Yield each step and state that must be possible in this configuration, with the answer."""
        for fn, assumption in must_be_possible(self.ts.model, self.ts.assumptions):
            answer = self._happens(fn, assumption)
            if answer is not None:
                yield Allowed(fn, assumption, answer)

    def _happens(self, fn: Fn, assumption: Fn | None) -> Answer | None:
        """Return the answer; None if the step is impossible even without the assumptions."""
        if not fn.is_step:
            return self._ask(self.prover.with_lemmas(self.ts.holds(fn), self.ts.whole(self.ts.now)))
        over = self.ts.holds(fn, self.ts.now, self.ts.next)
        actions = steps_of(self.ts.model, fn)
        steps = [step for step in self.ts.instances if step.action in actions]
        answer = self._some((instance.guard, over, instance) for instance in steps)
        if answer != "never" or (assumption is None and steps):
            return answer
        without = self._some((instance.enabled, over, instance) for instance in steps)
        return None if without == "never" else "never" if without == "possible" else "unknown"

    def _some(self, questions: Iterable[tuple[Any, Any, SymbolicStep]]) -> Answer:
        """Return whether one of these (guard, formula over both states, instance) is possible."""
        worst: Answer = "never"
        for guard, over, instance in questions:
            whole = self.ts.whole(self.ts.now, instance.after)
            answer = self._ask(self.prover.with_lemmas(guard, whole, z3.substitute(over, *instance.becomes)))
            if answer == "possible":
                return answer
            worst = "unknown" if answer == "unknown" else worst
        return worst

    def _ask(self, solver: Any) -> Answer:
        answer = self.prover.check(solver)
        return "possible" if answer == z3.sat else "never" if answer == z3.unsat else "unknown"

    # ------------------------------------------------------------------------- excluded actions

    def without_reason(self) -> Iterator[tuple[Fn, str]]:
        """Yield the actions that no state enables although the configuration allows them, with the guard that fails.

        All choices of their arguments are excluded, each by a guard that does not read the configuration and that no
        value of the state satisfies, with all scalars variable. A sort with one member excludes steps between two, so
        then nothing is reported.
        """
        inside = {instance.action for instance in self.ts.instances}
        structure, sorts = self.ts.structure, self.ts.model.sorts.values()
        single = any(structure.count(ty) == 1 for ty in sorts)
        free = (variable(structure, f"anywhere!{slot.path}", slot.ty) for slot in self.ts.slots)
        anywhere = structure.rebuild(free, self.ts.model.state_ty)
        for fn in self.ts.model.actions:
            excluded = [choice for choice in self.ts.excluded if choice.action == fn.name]
            if fn.name in inside or not excluded or single:
                continue
            if all(
                not _reads_config(self.ts.model, fn, choice.guard) and self._never(fn, choice, anywhere)
                for choice in excluded
            ):
                yield fn, excluded[0].guard

    def _never(self, fn: Fn, choice: Excluded, state: Any) -> bool:
        """Return whether no state satisfies the guard that fails, by itself."""
        outcome = self.ts.evaluator.action(fn, state, self.ts.evaluator.lifted(fn, choice.args))
        solver = z3.Solver()
        solver.set("timeout", 1000)
        solver.add(*(formula(guard) for name, guard in outcome.guards if name == choice.guard))
        return bool(solver.check() == z3.unsat)


def _reads_config(model: Model, fn: Fn, guard: str) -> bool:
    """Return whether a guard, or an operator or local name in it, reads the configuration."""
    roots: list[Expression] = [own.condition for own in requires(fn.body) if own.name == guard]
    if any(free_names(root) - {name for name, _ in fn.params} for root in roots):
        roots += _lets(fn)
    nodes = [node for root in roots for node in walk(root)]
    called = reachable(model.fns, [model.fns[node.function] for node in nodes if isinstance(node, Call)])
    nodes += (node for operator in called.values() for node in fn_nodes(operator))
    return any(isinstance(node, ConfigField) for node in nodes)


def _lets(fn: Fn) -> Iterator[Expression]:
    """Yield the values that a function names before its branches."""
    block = fn.body
    while isinstance(block, (Let, Require)):
        if isinstance(block, Let):
            yield block.value
        block = block.rest


# ---------------------------------------------------------------------------- the phase

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
