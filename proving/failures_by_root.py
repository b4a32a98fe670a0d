"""The refuted obligations of a proof by root failure, each looked for in a run from the initial state.

A counterexample to induction begins in any state with all lemmas, which no run may reach. So a small scope is searched:
if a run breaks the lemma, the rule is wrong; if none does, a lemma may be missing that excludes the state.

A rule that is edited wrongly breaks many lemmas in one step, and most of them because another one is false after the
step. A goal that the others imply after the step says nothing new; the rest are root failures.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import Any

import z3
from msgspec import structs

from elrcheck.base.errors import UsageFault
from elrcheck.base.progress import Progress
from elrcheck.base.requests import GUARD_SCOPE, Limits
from elrcheck.base.typed.configuration import build_config
from elrcheck.declared.select import Selected
from elrcheck.explorer.kernel.kept_program import kept_kernel
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.search.compiled import Search, SearchSettings
from elrcheck.explorer.search.retrace import Retrace
from elrcheck.lang.algebra import ConcreteAlgebra
from elrcheck.lang.ir import Fn
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.lowered import encoded
from elrcheck.lang.plain import PlainModel
from elrcheck.lang.runtime import ModelConfig
from elrcheck.lang.structure import Structure
from elrcheck.proof.obligations import ALWAYS_ASKED, Prover, ask, new_solver
from elrcheck.proof.transition import SymbolicStep
from elrcheck.proving.consecution_phase import ConsecutionPhase
from elrcheck.proving.covered import RANK
from elrcheck.results.prove_report import CellReport, ProveReport, ReachedFailure, RootFailure
from elrcheck.traces.describe import spelled

QUESTION_SECONDS = 2.0
"""Time limit of a question; a goal that takes longer counts as a root failure."""


def implied_failures(
    prover: Prover, instance: SymbolicStep, goals: Sequence[str], deadline: float
) -> dict[str, tuple[str, ...]]:
    """Return the failing goals of a step that others imply after it -> those that do, none of which is a key.

    goals: function names, in the order of declaration: of two that imply each other the first one stays. deadline: of
    `time.perf_counter`; from then on nothing is implied.
    """
    timeout = _question_timeout(prover)
    solver = prover.open_step(instance)
    solver.set("timeout", timeout)
    solver.add(prover.within(instance))
    formulas = {name: prover.formula(instance, name) for name in goals}
    literals = {name: z3.Bool(f"after!{name}") for name in goals}
    for name, formula in formulas.items():
        solver.add(z3.Implies(literals[name], formula))
    roots, because = list(goals), dict[str, set[str]]()
    for name in reversed(goals):
        others = [other for other in roots if other != name]
        if not others or time.perf_counter() > deadline:
            break
        solver.push()
        solver.add(z3.Not(formulas[name]))
        answer = ask(solver, timeout, *prover.literals.values(), *(literals[other] for other in others))
        if answer == z3.unsat:
            core = {str(literal) for literal in solver.unsat_core()}
            because[name] = {other for other in others if f"after!{other}" in core}
            roots.remove(name)
        solver.pop()
    return {name: tuple(root for root in roots if root in _roots_of(name, because)) for name in because}


def enough_to_break(prover: Prover, instance: SymbolicStep, goal: str, before: Any) -> tuple[str, ...]:
    """Return the paths of few scalars whose values in `before` suffice for the step to break the goal wherever it is
    possible; empty if the history or a sequence of any length matters, or the solver does not decide. A lemma that
    excludes the state may exclude these values together.
    """
    if prover.ts.structure.lifted:
        return ()
    ty, structure = prover.ts.model.state_ty, Structure(prover.ts.config, ConcreteAlgebra())
    values = [encoded(scalar) for _, _, scalar in structure.leaves(structure.lift(before, ty), ty)]
    timeout = _question_timeout(prover)
    solver = new_solver(timeout)
    solver.set("core.minimize", True)
    solver.add(prover.ts.type_invariant, instance.guard, prover.formula(instance, goal))
    literals = {}
    for number, (path, equal) in enumerate(prover.equal_to(values)):
        literals[f"equal!{number}"] = path
        solver.add(z3.Implies(z3.Bool(f"equal!{number}"), equal))
    if ask(solver, timeout, *map(z3.Bool, literals)) != z3.unsat:
        return ()
    core = {str(literal) for literal in solver.unsat_core()}
    return tuple(path for name, path in literals.items() if name in core)


def _question_timeout(prover: Prover) -> int:
    """Return the time limit of a question in ms. `ask` has to know it, or takes a timeout for an interrupt."""
    return min(prover.timeout or 2**32 - 1, int(1000 * QUESTION_SECONDS))


def _roots_of(name: str, because: dict[str, set[str]]) -> set[str]:
    """Return the roots that imply a goal, maybe by goals between: those come before it in the order of goals."""
    roots = set[str]()
    for other in because[name]:
        roots |= _roots_of(other, because) if other in because else {other}
    return roots


# ---------------------------------------------------------------------------- runs

ROOT_SECONDS, SEARCH_SECONDS = 10.0, 4.0
"""Time limits: for finding root failures, and for the search of each scope."""
HURRY = 0.25
"""The share of these limits after an interrupt."""
Failure = tuple[str, str]
"""An action, and the function name of a goal that it does not preserve."""


def with_roots(selected: Selected, steps: ConsecutionPhase, report: ProveReport, progress: Progress) -> ProveReport:
    """Return the report with root failures, and with the cells that failed first."""
    progress.stage("root failures")
    share = HURRY if report.interrupted else 1.0
    roots = root_failures(steps, report.cells, time.perf_counter() + share * ROOT_SECONDS)
    progress.stage("runs from the initial state")
    reached = FailureSearch(selected, steps.prover, share * SEARCH_SECONDS).of(
        [_goal(steps.prover, root.lemma) for root in roots]
    )
    with_runs = (structs.replace(root, reached=reached.get(root.lemma)) for root in roots)
    roots = tuple(sorted(with_runs, key=_steps_to))
    order = {(action, root.lemma): k for k, root in enumerate(roots) for action in root.actions[:1]}
    cells = sorted(
        report.cells, key=lambda cell: (-RANK[cell.verdict], order.get((cell.action, cell.lemma), len(order)))
    )
    return structs.replace(report, roots=roots, cells=tuple(cells))


def _steps_to(root: RootFailure) -> float:
    """Return the length of the run that breaks a lemma: what is broken first is the cause of the rest."""
    return len(root.reached.run) if root.reached is not None and root.reached.run else math.inf


def root_failures(steps: ConsecutionPhase, cells: Iterable[CellReport], deadline: float) -> tuple[RootFailure, ...]:
    """Return the root failures of refuted cells, the one with most of them first. deadline: of `time.perf_counter`."""
    prover, by_root = steps.prover, dict[Failure, str]()
    alone = dict[Failure, None]()
    for number, instance in enumerate(prover.ts.instances):
        failing = [goal for goal in steps.goals if _refuted(steps, number, goal)]
        checked = [goal for goal in failing if goal not in ALWAYS_ASKED]
        implied = implied_failures(prover, instance, checked, deadline) if len(checked) > 1 else {}
        for goal in failing:
            if goal in implied:
                by_root.setdefault((instance.action, goal), implied[goal][0])
            else:
                alone[instance.action, goal] = None
    size = {(cell.action, cell.lemma): _size(cell) for cell in cells}
    roots = []
    for goal in dict.fromkeys(goal for _, goal in alone):
        name = name_of(prover, goal)
        actions = sorted((one for one, other in alone if other == goal), key=lambda one: size[one, name])
        implied_cells = [cell for cell, root in by_root.items() if root == goal and cell not in alone]
        enough = _enough(steps, actions[0], goal, cells)
        texts = [f"{action} x {name_of(prover, other)}" for action, other in implied_cells]
        roots.append(RootFailure(name, tuple(actions), tuple(texts), enough))
    return tuple(sorted(roots, key=lambda root: -len(root.actions) - len(root.implied)))


def _enough(steps: ConsecutionPhase, action: str, goal: str, cells: Iterable[CellReport]) -> tuple[str, ...]:
    """Return the displayed paths of the values before a counterexample that suffice for it (`enough_to_break`)."""
    name = name_of(steps.prover, goal)
    failure = next(cell.failure for cell in cells if (cell.action, cell.lemma) == (action, name))
    if failure is None or goal in ALWAYS_ASKED:
        return ()
    instances = steps.prover.ts.instances
    number = next(n for n, one in enumerate(instances) if one.action == action and _refuted(steps, n, goal))
    scalars = enough_to_break(steps.prover, instances[number], goal, steps.answers[number][goal].before)
    return tuple(path for path in failure.before if any(_is_in(scalar, path) for scalar in scalars))


def _is_in(scalar: str, path: str) -> bool:
    """Return whether a scalar is the displayed value at a path, or a part of it."""
    return scalar == path or scalar.startswith((f"{path}.", f"{path}["))


def name_of(prover: Prover, goal: str) -> str:
    """Return the name of a goal in reports."""
    fn = prover.goals.get(goal)
    return goal if fn is None else fn.ident or fn.name


def _goal(prover: Prover, name: str) -> Fn | None:
    return next((fn for fn in prover.goals.values() if name in (fn.ident, fn.name)), None)


def _refuted(steps: ConsecutionPhase, number: int, goal: str) -> bool:
    answer = steps.answers[number].get(goal)
    return answer is not None and answer.verdict == "refuted"


def _size(cell: CellReport) -> int:
    failure = cell.failure
    return 0 if failure is None else len(failure.differs) + len(failure.changes)


class FailureSearch:
    """Searches small scopes of a proof's model for runs that break lemmas. seconds: for each scope."""

    def __init__(self, selected: Selected, prover: Prover, seconds: float) -> None:
        self.selected, self.prover, self.seconds = selected, prover, seconds

    def of(self, goals: Sequence[Fn | None]) -> dict[str, ReachedFailure]:
        """Return lemma or property -> the search for it: in a small scope, and if that breaks none, in the own one."""
        history = self.prover.ts.model.induction.history
        record = None if history is None else history.record
        left = [
            fn for fn in goals if fn is not None and all(ty.cls is not record or record is None for _, ty in fn.params)
        ]
        reached: dict[str, ReachedFailure] = {}
        small, own = self._config(GUARD_SCOPE), self._config(self.selected.scope)
        for scope, config in dict.fromkeys(one for one in (small, own) if one is not None and left):
            reached |= self._search(scope, config, left)
            if any(search.run for search in reached.values()):
                break  # the rule is wrong, so a larger scope would tell nothing new
        return reached

    def _config(self, scope: str) -> tuple[str, ModelConfig] | None:
        """Return a scope with the rules of the proof, and its name; None if the model cannot search it."""
        selected, proof = self.selected, self.prover.ts.config
        model = selected.declared
        try:
            variant, sizes = model.variant(selected.variant), model.scope(scope)
            config: Any = build_config(model.config, variant.values, sizes.values, selected.overrides)
            rules = {one.name: getattr(proof, one.name) for one in fields(model.config)}
            config = replace(config, **{name: value for name, value in rules.items() if not isinstance(value, int)})
            model.before_search(config)
        except UsageFault:
            return None
        return sizes.name, config

    def _search(self, scope: str, config: ModelConfig, goals: Sequence[Fn]) -> dict[str, ReachedFailure]:
        """Search a scope for each goal; leave out those that only a run outside the proof's assumptions breaks."""
        model, cache = self.prover.ts.model, KernelCache()
        properties = [fn for fn in model.always if fn not in goals]
        checks = [*(replace(fn, kind="always", ident=fn.ident or fn.name) for fn in goals), *properties]
        lowered = lower(model, config, checks)
        limits = Limits(time_budget=self.seconds)
        search = Search(lowered.program, SearchSettings(limits, cache=cache), native=kept_kernel(lowered, cache, 0))
        result = search.run(None, "complete")
        traces = Retrace(search).traces(list(result.first))
        runs = {
            lowered.program.checks[number].name: self._run(config, [lowered.decode(row) for row in trace])
            for number, trace in traces.items()
        }
        broken = tuple(fn.ident for fn in model.always if runs.get(fn.ident))
        reached = {}
        for name in (fn.ident or fn.name for fn in goals):
            run = runs.get(name, ())
            if run or name not in runs:
                reached[name] = ReachedFailure(scope, result.distinct, result.complete, run, broken if run else ())
        return reached

    def _run(self, config: ModelConfig, states: Sequence[Any]) -> tuple[str, ...]:
        """Return the steps between the states; empty if one contradicts an assumption of the proof."""
        ts, steps = self.prover.ts, []
        plain = PlainModel(ts.model, config)
        for before, after in itertools.pairwise(states):
            if not all(plain.holds(fn, before, after) for fn in ts.assumptions):
                return ()
            label = next(label for label, successor in plain.successors(before) if successor == after)
            steps.append(spelled(ts.model.fns[label.action], label.args))
        return tuple(steps)
