"""Proof obligations over one symbolic transition system, discharged by Z3.

Every lemma is guarded by an assumption literal, so an unsatisfiable obligation also yields the lemmas that it needed. A
satisfiable one is a counterexample to induction: a state that satisfies all lemmas, and a step from it that breaks one.
It is minimised, with as many initial values as possible, and read back as plain states; the caller replays it before
reporting it.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from elrcheck.lang.ir import Fn
from elrcheck.proof.any_length import LOOPED
from elrcheck.proof.hypotheses import condition_of
from elrcheck.proof.transition import SymbolicStep, Transitions
from elrcheck.results.prove_report import CellVerdict

PREFERENCE_SECONDS = 2.0
"""Time limit for making one counterexample easy to read."""


def milliseconds(timeout: float | None) -> int:
    """Convert a timeout in seconds to milliseconds for Z3; 0 for none."""
    return 0 if timeout is None else min(2**32 - 1, max(1, int(timeout * 1000)))


def new_solver(timeout: int) -> Any:
    """Return a solver with this timeout for each question, in ms; 0 for none."""
    solver = z3.Solver()
    if timeout:
        solver.set("timeout", timeout)
    return solver


def ask(solver: Any, timeout: int, *assumptions: Any) -> Any:
    """Run a check; raise KeyboardInterrupt if interrupted. timeout: the solver's, in ms; 0 for none.

    Z3 handles SIGINT itself while it works: it gives up with `unknown`, then restores Python's handler with SA_RESTART,
    so system calls are restarted. Python could then not be interrupted while it waits for a lock or another process.
    `canceled` may also mean a timeout, so the clock decides. Where SIGINT is ignored (under `nohup`, in a worker of a
    proof), Z3 is set to leave it alone.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        solver.set("ctrl_c", False)
    started = time.perf_counter()
    answer = solver.check(*assumptions)
    if threading.current_thread() is threading.main_thread():
        signal.siginterrupt(signal.SIGINT, True)
    if answer == z3.unknown and (time.perf_counter() - started) * 1000 < (0.9 * timeout or float("inf")):
        reason = solver.reason_unknown()
        if "keyboard" in reason or reason == "canceled":
            raise KeyboardInterrupt
    return answer


def preferred_model(solver: Any, timeout: int, wishes: Iterable[Any], assumptions: Iterable[Any] = ()) -> Any:
    """Return a model after the answer `sat`, in which as many wishes hold as can be granted one by one."""
    model, granted = solver.model(), list(assumptions)
    deadline = time.perf_counter() + PREFERENCE_SECONDS
    for wish in wishes:
        if time.perf_counter() > deadline:
            break
        if z3.is_true(model.eval(wish, model_completion=True)):
            granted.append(wish)
        elif ask(solver, timeout, *granted, wish) == z3.sat:
            granted.append(wish)
            model = solver.model()
    return model


FRAME, TYPES = "Frame", "Types"
ALWAYS_ASKED = (FRAME, TYPES)
"""Obligations of every step beside the lemmas: constant scalars stay, others stay within their types."""

Parts = Sequence[tuple[str, Any]]
"""(path, formula): the conjuncts of an obligation, so that a counterexample can name what it breaks."""


@dataclass(frozen=True)
class Discharge:
    """The answer to one obligation. before, after: plain states of a counterexample; seen: the history before it.

    broken: paths of the scalars that leave their types, for `Types`. kept: the answer is from an earlier run. args: the
    plain arguments of the step, for a counterexample.
    """

    verdict: CellVerdict
    seconds: float
    core: frozenset[str] = frozenset()
    reason: str | None = None
    before: Any = None
    after: Any = None
    seen: Any = None
    broken: tuple[str, ...] = ()
    kept: bool = False
    args: tuple[Any, ...] | None = None


TOO_SHORT = f"open for some sequence of any length, and without a counterexample of at most {LOOPED} elements"


class Prover:
    """Discharges the obligations of one model and configuration.

    Goals are evaluated once, over variables for the next state, for which the terms of each step are substituted.
    small_cores: minimise the lemmas of an answer, which takes about twice the time.
    """

    def __init__(
        self, transitions: Transitions, lemmas: Sequence[Fn], timeout: float | None, small_cores: bool = False
    ) -> None:
        self.ts, self.lemmas, self.small_cores = transitions, tuple(lemmas), small_cores
        self.timeout = milliseconds(timeout)
        self.now = {fn.name: transitions.holds(fn) for fn in self.lemmas}
        self.literals = {name: z3.Bool(f"lemma!{name}") for name in self.now}
        self.typed = tuple(transitions.next_typed())
        self._within = z3.And(*(part for _, part in self.typed))
        self.goals = {fn.name: fn for fn in (*self.lemmas, *transitions.model.always)}
        self._next: dict[str, Any] = {}

    def with_lemmas(self, *more: Any) -> Any:
        """Return a solver that asserts the types and these formulas, and each lemma behind its literal."""
        solver = new_solver(self.timeout)
        solver.set("core.minimize", self.small_cores)
        solver.add(self.ts.type_invariant, *more)
        for name, formula in self.now.items():
            solver.add(z3.Implies(self.literals[name], formula))
        return solver

    def check(self, solver: Any, lemmas: Iterable[str] | None = None) -> Any:
        """Return Z3's answer where these lemmas are assumed, by default all of them."""
        names = self.literals if lemmas is None else lemmas
        return ask(solver, self.timeout, *(self.literals[name] for name in names))

    def follows(self, goal: Any, premises: Sequence[Any] = ()) -> Discharge:
        """Discharge that lemmas and premises imply a goal about the current state."""
        return self.follows_in(self.with_lemmas(), goal, premises)

    def follows_in(
        self,
        solver: Any,
        goal: Any,
        premises: Sequence[Any] = (),
        after: Mapping[str, Any] | None = None,
        parts: Parts = (),
        args: Sequence[Any] | None = None,
    ) -> Discharge:
        """Discharge the same with what a solver of `with_lemmas` asserts. after, args: of a step that refutes it."""
        solver.push()
        solver.add(*premises, z3.Not(goal))
        answer = self._discharge(solver, self.literals, after, parts, args)
        solver.pop()
        return answer

    # ------------------------------------------------------------------------- the three phases

    def initiation(self, fn: Fn) -> Discharge:
        """Discharge that the initial state satisfies a lemma."""
        return self._initially(self.now[fn.name])

    def initial_types(self) -> Discharge:
        """Discharge that every scalar of the initial state is within its type."""
        return self._initially(self.ts.type_invariant)

    def _initially(self, formula: Any) -> Discharge:
        solver = new_solver(self.timeout)
        solver.add(self.ts.initial(), z3.Not(formula))
        return self._discharge(solver, (), None)

    def claim(self, fn: Fn) -> Any:
        """Return the formula that is proved for a property of states: the property, under its condition if any."""
        condition = condition_of(self.ts.model, fn, self.ts.config)
        holds = self.ts.holds(fn)
        return holds if condition is None else z3.Implies(self.ts.holds(condition), holds)

    def implication(self, fn: Fn) -> Discharge:
        """Discharge that the lemmas imply a property of states, under its condition."""
        return self.follows(self.claim(fn))

    def open_step(self, instance: SymbolicStep) -> Any:
        """Return a solver that asserts the lemmas and the guard of a step."""
        return self.with_lemmas(instance.guard)

    def formula(self, instance: SymbolicStep, name: str) -> Any:
        """Return the formula of an obligation of the step: a lemma, a step property, `Frame` or `Types`."""
        if name == FRAME:
            return instance.keeps_constants
        if name == TYPES:
            return self.within(instance)
        return self.goal(instance, self.goals[name])

    def within(self, instance: SymbolicStep) -> Any:
        """Return the formula that every scalar is within its type after the step: a conjunction of parts as `typed`.

        One substitution for all parts: most of its time is for the scalars of the next state, whatever the formula is.
        """
        return z3.substitute(self._within, *instance.becomes)

    def goal(self, instance: SymbolicStep, fn: Fn) -> Any:
        """Return the formula of a lemma after the step, or of a step property, given `Frame`."""
        return z3.substitute(self.over_next(fn), *instance.becomes)

    def over_next(self, fn: Fn) -> Any:
        """Return the formula of a lemma in the next state, or of a step property, over the variables of both states."""
        if fn.name not in self._next:
            states = (self.ts.now, self.ts.next) if fn.is_step else (self.ts.next,)
            self._next[fn.name] = self.ts.holds(fn, *states)
        return self._next[fn.name]

    def is_trivial(self, fn: Fn) -> bool:
        """Return whether types and constants alone imply the property, whatever the steps are."""
        solver = new_solver(self.timeout)
        solver.add(self.ts.type_invariant, *(part for _, part in self.typed))
        solver.add(z3.Not(self.over_next(fn) if fn.is_step else self.ts.holds(fn)))
        return bool(ask(solver, self.timeout) == z3.unsat)

    def consecution(self, solver: Any, instance: SymbolicStep, fn: Fn) -> Discharge | None:
        """Discharge that the step preserves a lemma, or satisfies a step property; None if it cannot affect it."""
        goal = self.goal(instance, fn)
        if not fn.is_step and goal.eq(self.now[fn.name]):
            return None
        solver.push()
        solver.add(z3.Not(goal))
        answer = self.decided(solver, self.literals)
        solver.pop()
        if answer is not None:
            return answer
        # `Types` refutes steps that leave their types, so these do not count here.
        return self._goal(solver, z3.Or(goal, z3.Not(self.within(instance))), instance)

    def frame(self, solver: Any, instance: SymbolicStep) -> Discharge:
        """Discharge that the step does not change constant scalars."""
        return self._goal(solver, instance.keeps_constants, instance)

    def types(self, solver: Any, instance: SymbolicStep) -> Discharge:
        """Discharge that every scalar stays within its type, and slots after the end of a sequence stay blank."""
        within = self.within(instance)
        parts = [(path, part) for (path, _), part in zip(self.typed, within.children(), strict=True)]
        return self._goal(solver, within, instance, parts)

    def _goal(self, solver: Any, goal: Any, instance: SymbolicStep, parts: Parts = ()) -> Discharge:
        return self.follows_in(solver, goal, (), instance.after, parts, instance.args)

    def _discharge(
        self,
        solver: Any,
        lemmas: Collection[str],
        after: Mapping[str, Any] | None,
        parts: Parts = (),
        args: Sequence[Any] | None = None,
    ) -> Discharge:
        started = time.perf_counter()
        decided = self.decided(solver, lemmas)
        if decided is not None:
            return decided
        if self.ts.structure.lifted:
            solver.add(self.ts.whole(self.ts.now, after))
            if self.check(solver, lemmas) != z3.sat:
                return Discharge("unknown", time.perf_counter() - started, reason=TOO_SHORT)
        seconds = time.perf_counter() - started
        assumed = [self.literals[name] for name in lemmas]
        small = preferred_model(solver, self.timeout, self._wishes(), assumed)
        before = self.ts.read(small, self.ts.now)
        false = (path for path, part in parts if z3.is_false(small.eval(part, model_completion=True)))
        return Discharge(
            "refuted",
            seconds,
            before=before,
            after=None if after is None else self.ts.read(small, after),
            seen=self.ts.read_seen(small),
            broken=tuple(dict.fromkeys(false)),
            args=None if args is None else self.ts.plain_args(small, args),
        )

    def decided(self, solver: Any, lemmas: Collection[str] = ()) -> Discharge | None:
        """Return the answer to a question; None if it is refuted."""
        started = time.perf_counter()
        answer = self.check(solver, lemmas)
        seconds = time.perf_counter() - started
        if answer == z3.unsat:
            return Discharge("proved", seconds, core_of(solver) if lemmas else frozenset())
        return Discharge("unknown", seconds, reason=solver.reason_unknown()) if answer == z3.unknown else None

    def _wishes(self) -> Iterator[Any]:
        """Yield, for each variable, that it has its initial value, so that a counterexample is near that state."""
        yield from (formula for _, formula in self.equal_to([slot.initial for slot in self.ts.slots]))

    def equal_to(self, values: Iterable[int]) -> Iterator[tuple[str, Any]]:
        """Yield the path of each variable of the state, and that it has its value. values: encoded, of all scalars."""
        for slot, scalar, value in zip(self.ts.slots, self.ts.scalars, values, strict=True):
            if _is_variable(scalar):
                yield slot.path, _has_value(value, scalar)


def core_of(solver: Any) -> frozenset[str]:
    """Return the lemmas in the core of an answer `unsat`."""
    return frozenset(str(literal).removeprefix("lemma!") for literal in solver.unsat_core())


def _has_value(value: int, scalar: Any) -> Any:
    if isinstance(scalar, list):
        return z3.And(*(flag == bool(value >> i & 1) for i, flag in enumerate(scalar)))
    return scalar == bool(value) if z3.is_bool(scalar) else scalar == value


def _is_variable(scalar: Any) -> bool:
    """Return whether a scalar of a state is a solver variable."""
    return bool(z3.is_expr(scalar[0] if isinstance(scalar, list) else scalar))
