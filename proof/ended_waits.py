"""Liveness without bounds: that every wait ends, by Lamport's rule WF1 over the steps of a proof.

A model declares the stages of a wait, the last one first (`lang.induction.WaitStage`). For each choice of the
property's parameters the solver is asked, in states that satisfy all lemmas and in which the wait is not over:

* begins: where the premise holds, the wait is in some stage;
* possible: throughout a stage, which no earlier one in the list contains, the step that ends it can be taken;
* ends: that step leads to the conclusion, into an earlier stage, or into the same one with a smaller measure;
* stays: so does every other step, or the stage continues.

A stage is left at last, since its step is weakly fair: it cannot stay possible for ever and never be taken. There are
finitely many stages and measures, so the wait ends. For a strongly fair step `possible` is a wait of its own, which
ends when the step is possible: it becomes so again and again, until it is taken.

A wait may have measures of its own (`Induction.wait_measures`), which come before the order of the stages: a step that
lowers one, and leaves those before it as they are, may lead into any stage, and no step raises one otherwise.

A step without fairness that may lead back into a later stage, or raise a measure, is a disturbance: the claim is about
behaviours in which such steps stop, and names them. Such a step leads to the conclusion or into some stage (`remains`),
so that the wait is in a stage after the last of them. A fair step must not lead back.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import z3

from elrcheck.lang.domains import domain
from elrcheck.lang.fairness import fair_actions, fairness_of_step
from elrcheck.lang.induction import Operator, WaitStage
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model, instances
from elrcheck.lang.marks import Strength
from elrcheck.lang.plain import Label
from elrcheck.lang.source import ModelError
from elrcheck.proof.obligations import Discharge, Prover
from elrcheck.proof.transition import Excluded, SymbolicStep
from elrcheck.proof.z3_algebra import formula

Rule: TypeAlias = Literal["begins", "possible", "ends", "stays", "remains"]
Arguments: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Both:
    """A predicate on states as a formula over the current state, and over the variables of the next one."""

    now: Any
    next: Any

    def __or__(self, other: Both) -> Both:
        return Both(z3.Or(self.now, other.now), z3.Or(self.next, other.next))


@dataclass(frozen=True)
class WaitObligation:
    """An obligation about a wait, with its answer. during: the name of the stage; arguments: of the stage.

    step: None for `begins`.
    """

    rule: Rule
    during: str
    arguments: Arguments
    step: SymbolicStep | None
    answer: Discharge


@dataclass
class WaitProof:
    """The obligations about one liveness property.

    proved: their number; open: the others. disturbances: action -> the condition under which its step is fair, or None.
    """

    fn: Fn
    proved: int = 0
    seconds: float = 0.0
    open: list[WaitObligation] = field(default_factory=list)
    disturbances: dict[str, str | None] = field(default_factory=dict)

    def note(self, obligation: WaitObligation) -> None:
        """Count an obligation."""
        is_proved = obligation.answer.verdict == "proved"
        self.proved += is_proved
        self.seconds += obligation.answer.seconds
        if not is_proved:
            self.open.append(obligation)


def stages_of(model: Model) -> dict[str, tuple[WaitStage, ...]]:
    """Return the stages of each liveness property that declares some; raise ModelError for what cannot be stages."""
    stages = {fn.__name__: stages for fn, stages in model.induction.waits.items()}
    for name, declared in stages.items():
        if name not in {fn.name for fn in model.leads_to}:
            raise ModelError(f"`waits` has stages for {name}, which is not a @leads_to property of the model")
        for stage in declared:
            _demand_fitting(model, name, stage)
    for fn, measures in model.induction.wait_measures.items():
        if fn.__name__ not in stages:
            raise ModelError(f"`wait_measures` has measures for {fn.__name__}, for which `waits` has no stages")
        for measure in measures:
            _demand_measure(model, fn.__name__, measure, f"a measure of {fn.__name__}")
    return stages


def _demand_measure(model: Model, name: str, measure: Operator, where: str) -> None:
    """Raise ModelError unless a measure is an operator of the model with parameters of the property only."""
    if measure.__name__ not in model.fns:
        raise ModelError(f"{where}: {measure.__name__} is not an operator of the model", help="declare it with @op")
    own = [parameter for parameter, _ in model.fns[name].params]
    of_measure = [parameter for parameter, _ in model.fns[measure.__name__].params]
    if foreign := [parameter for parameter in of_measure if parameter not in own]:
        message = f"{where}: {measure.__name__} has a parameter `{foreign[0]}` that {name} does not have"
        raise ModelError(message, help="a measure has parameters of the property only")


def _demand_fitting(model: Model, name: str, stage: WaitStage) -> None:
    """Raise ModelError unless a stage is one of operators of the model, and the arguments of its step are known."""
    where = f"a stage of {name}"
    if stage.during.__name__ not in model.fns:
        message = f"{where}: {stage.during.__name__} is not an operator of the model"
        raise ModelError(message, help="declare it with @op")
    if stage.measure is not None:
        _demand_measure(model, name, stage.measure, where)
    action = model.actions_by_name.get(stage.action.__name__)
    if action is None:
        raise ModelError(f"{where}: {stage.action.__name__} is not an action of the model")
    names = [parameter for parameter, _ in model.fns[stage.during.__name__].params]
    for parameter, _ in action.params:
        value = stage.arguments.get(parameter, parameter)
        if isinstance(value, str) and value not in names:
            message = f"{where}: {stage.during.__name__} has no parameter `{value}` for `{parameter}` of {action.name}"
            raise ModelError(
                message, help=f"give {stage.during.__name__} the parameter, or name a value in `arguments`"
            )
    for inner in stage.enables:
        _demand_fitting(model, name, inner)


class Waits:
    """Asks the solver of one prover about the waits that its model declares. The model has its liveness properties."""

    def __init__(self, prover: Prover) -> None:
        self.prover, self.ts = prover, prover.ts
        self.model = self.ts.model
        self.fair = fair_actions(self.model.actions)
        self.stages = stages_of(self.model)
        self._solver: tuple[Any, Any] | None = None
        self.of_waits = {fn.__name__: measures for fn, measures in self.model.induction.wait_measures.items()}

    def prove(self, fn: Fn) -> WaitProof:
        """Return the obligations about a liveness property, for all choices of its parameters."""
        proof, stages = WaitProof(fn), self.stages[fn.name]
        every = [one for _, one in self.ts.every_choice()] if not self._alike(fn, stages) else self.ts.instances
        steps = [step for step in every if isinstance(step, SymbolicStep)]
        for args in instances(fn, self.ts.config):
            arguments = dict(zip((name for name, _ in fn.params), args, strict=True))
            over = self._both(fn, arguments, "conclusion")
            premise = self._both(fn, arguments, "premise").now
            measures = [self.measures(one, arguments) for one in self.of_waits.get(fn.name, ())]
            _Chain(self, proof, steps, stages, arguments, _Course.of(over, measures), over).prove(premise)
        return proof

    def _alike(self, fn: Fn, stages: Sequence[WaitStage]) -> bool:
        """Return whether property, stages and fairness treat members alike: one step then stands for its renamings."""
        alike = self.ts.alike
        when = (self.model.fns[fair.when.__name__] for fair in self.fair.values() if fair.when is not None)
        by_value = any(fair.only for fair in self.fair.values() if not all(map(_is_plain, fair.only.values())))
        measures = (self.model.fns[one.__name__] for one in self.of_waits.get(fn.name, ()))
        whole = (fn, *measures, *self._functions(stages), *when)
        return alike is not None and not by_value and all(map(alike.holds, whole))

    def _functions(self, stages: Sequence[WaitStage]) -> Iterator[Fn]:
        for stage in stages:
            yield self.model.fns[stage.during.__name__]
            if stage.measure is not None:
                yield self.model.fns[stage.measure.__name__]
            yield from self._functions(stage.enables)

    def _values(self, fn: Fn, arguments: Arguments) -> tuple[Any, Any]:
        """Return the value of an operator with these arguments in the current and in the next state."""
        own = self.ts.evaluator.lifted(fn, [arguments[name] for name, _ in fn.params])
        now, after = (self.ts.evaluator.call(fn, (s,) * len(fn.states), own) for s in (self.ts.now, self.ts.next))
        return now, after

    def _both(self, fn: Fn, arguments: Arguments, part: str = "") -> Both:
        """Return a predicate with these arguments, or one part of the record that a property returns."""
        return Both(*(formula(value[part] if part else value) for value in self._values(fn, arguments)))

    def measures(self, measure: Operator | None, arguments: Arguments) -> tuple[Any, Any]:
        """Return formulas over both states: the measure is less after a step, and not negative; it is not more."""
        if measure is None:
            return z3.BoolVal(False), z3.BoolVal(True)
        now, after = self._values(self.model.fns[measure.__name__], arguments)
        alg = self.ts.alg
        less = alg.and_([alg.cmp("lt", after, now), alg.not_(alg.cmp("lt", after, 0))])
        return formula(less), formula(alg.not_(alg.cmp("lt", now, after)))

    def regions(self, stage: WaitStage, arguments: Arguments) -> list[tuple[Arguments, Both]]:
        """Return the stage for each choice of the parameters of `during` that the property does not have."""
        fn = self.model.fns[stage.during.__name__]
        more = [(name, domain(ty, self.ts.config)) for name, ty in fn.params if name not in arguments]
        choices = itertools.product(*(values for _, values in more))
        every = ({**arguments, **dict(zip((name for name, _ in more), choice, strict=True))} for choice in choices)
        return [(each, self._both(fn, each)) for each in every]

    def label(self, stage: WaitStage, arguments: Arguments) -> Label:
        """Return the step that ends a stage."""
        action = self.model.fns[stage.action.__name__]
        values = (stage.arguments.get(name, name) for name, _ in action.params)
        return Label(action.name, tuple(arguments[x] if isinstance(x, str) else x for x in values))

    def step(self, label: Label) -> SymbolicStep | Excluded:
        return self.ts.step(self.model.fns[label.action], label.args)

    def is_fair(self, label: Label) -> Any:
        """Return the formula that a step is fair in the current state."""
        entry = fairness_of_step(label, self.model.actions_by_name, self.fair)
        if entry is None or entry.when is None:
            return z3.BoolVal(entry is not None)
        action, when = self.model.fns[label.action], self.model.fns[entry.when.__name__]
        return self._both(when, dict(zip((name for name, _ in action.params), label.args, strict=True))).now

    def is_strong(self, label: Label) -> bool:
        entry = fairness_of_step(label, self.model.actions_by_name, self.fair)
        return entry is not None and entry.strength is Strength.STRONG

    def possible(self, label: Label) -> Both:
        """Return that a step is possible, in the current and in the next state."""
        action = self.model.fns[label.action]
        own = self.ts.evaluator.lifted(action, label.args)
        outcomes = (self.ts.evaluator.action(action, state, own) for state in (self.ts.now, self.ts.next))
        return Both(*(formula(self.ts.alg.and_([guard for _, guard in one.guards])) for one in outcomes))

    def discharge(self, goal: Any, step: SymbolicStep | None, here: Any, *more: Any) -> Discharge:
        """Return whether the lemmas and these formulas imply the goal, with the step from a state that does not.

        here: where the step begins; the solver with it is used again for the next obligations there.
        """
        if self._solver is None or not self._solver[0].eq(here):
            self._solver = here, self.prover.with_lemmas(here)
        premises = more if step is None else (*more, step.guard)
        return self.prover.follows_in(self._solver[1], goal, premises, None if step is None else step.after)


@dataclass
class _Course:
    """What the stages of one wait have in common, as formulas over both states of a step.

    over: the wait is over; lower: a measure of the wait is less, and none before it more; level: none is more;
    inside: the wait is over or in some stage.
    """

    over: Both
    lower: Any
    level: Any
    inside: Both

    @classmethod
    def of(cls, over: Both, measures: Sequence[tuple[Any, Any]]) -> _Course:
        """Return the course of a wait with these measures (`Waits.measures`), the first of which counts most."""
        no_more = [one for _, one in measures]
        lower = [z3.And(*no_more[:number], less) for number, (less, _) in enumerate(measures)]
        return cls(over, z3.Or(*lower), z3.And(*no_more), over)

    def goal(self, nearer: Any) -> Any:
        """Return that a step ends the wait, lowers a measure, or leads to `nearer` and raises no measure."""
        return z3.Or(self.over.next, z3.And(self.inside.next, self.lower), z3.And(self.level, nearer))

    def is_kept(self, step: SymbolicStep) -> bool:
        """Return whether a step cannot change any measure."""
        return bool(z3.is_true(z3.simplify(_after(step, self.level))))


class _Chain:
    """Stages of a wait with given arguments, which end where `over` holds.

    before: what holds throughout a wait inside another one, whose stages are left only as the outer ones allow.
    """

    def __init__(
        self,
        waits: Waits,
        proof: WaitProof,
        steps: Sequence[SymbolicStep],
        stages: Sequence[WaitStage],
        arguments: Arguments,
        course: _Course,
        over: Both,
        before: Any = None,
    ) -> None:
        self.waits, self.proof, self.steps, self.course, self.over = waits, proof, steps, course, over
        self.before = z3.BoolVal(True) if before is None else before
        self.stages = [(stage, waits.regions(stage, arguments)) for stage in stages]
        regions = (region for _, choices in self.stages for _, region in choices)
        self.inside = functools.reduce(Both.__or__, regions, over)
        self.is_whole = before is None
        if self.is_whole:
            course.inside = self.inside

    def prove(self, premise: Any) -> None:
        """Discharge that every wait that begins in a state with this premise ends."""
        self._note("begins", "", {}, None, self.waits.discharge(self.inside.now, None, self.before, premise))
        ended = self.over
        for stage, choices in self.stages:
            whole = functools.reduce(Both.__or__, (region for _, region in choices))
            for arguments, region in choices:
                self._stage(stage, arguments, region, ended, whole)
            ended = ended | whole

    def _stage(self, stage: WaitStage, arguments: Arguments, region: Both, ended: Both, whole: Both) -> None:
        """Discharge the obligations of a stage. ended: where earlier ones are; whole: this one, for all its choices."""
        during, label = stage.during.__name__, self.waits.label(stage, arguments)
        here = z3.And(self.before, region.now, z3.Not(ended.now))
        step = self.waits.step(label)
        if isinstance(step, Excluded):
            never = replace(self.waits.discharge(z3.BoolVal(False), None, here), reason=f"never enabled: {step.guard}")
            self._note("possible", during, arguments, None, never)
            return
        allowed = z3.And(step.enabled, self.waits.is_fair(label))
        if stage.enables and self.waits.is_strong(label):
            possible = self.waits.possible(label)
            until = ended | possible
            more = _Chain(self.waits, self.proof, self.steps, stage.enables, arguments, self.course, until, here)
            more.prove(z3.BoolVal(True))
            here_and_possible = z3.And(here, possible.now)
            self._note("possible", during, arguments, step, self.waits.discharge(allowed, None, here_and_possible))
        else:
            self._note("possible", during, arguments, step, self.waits.discharge(allowed, None, here))
        less, no_more = self.waits.measures(stage.measure, arguments)
        nearer = z3.Or(ended.next, z3.And(whole.next, less))
        goal = _after(step, self.course.goal(nearer))
        self._note("ends", during, arguments, step, self.waits.discharge(goal, step, here))
        still = self.course.goal(z3.Or(nearer, z3.And(region.next, no_more)))
        for other in self.steps:
            same = stage.measure is None and _after(other, (ended | region).next).eq((ended | region).now)
            if not (same and self.course.is_kept(other)) and Label(other.action, other.args) != label:
                self._stays(stage, arguments, still, here, other)

    def _stays(self, stage: WaitStage, arguments: Arguments, still: Any, here: Any, step: SymbolicStep) -> None:
        goal, during = _after(step, still), stage.during.__name__
        if step.action not in self.proof.disturbances:
            answer = self.waits.discharge(goal, step, here)
            if answer.verdict == "proved":
                self._note("stays", during, arguments, step, answer)
                return
        is_fair = self.waits.is_fair(Label(step.action, step.args))
        if not z3.is_false(is_fair):
            answer = self.waits.discharge(goal, step, here, is_fair)
            self._note("stays", during, arguments, step, answer)
            if answer.verdict != "proved":
                return
        entry = self.waits.fair.get(step.action)
        when = None if entry is None or entry.when is None else entry.when.__name__
        self.proof.disturbances.setdefault(step.action, when)
        if self.is_whole:
            answer = self.waits.discharge(_after(step, self.inside.next), step, here)
            self._note("remains", during, arguments, step, answer)

    def _note(
        self, rule: Rule, during: str, arguments: Arguments, step: SymbolicStep | None, answer: Discharge
    ) -> None:
        self.proof.note(WaitObligation(rule, during, arguments, step, answer))


def _is_plain(value: object) -> bool:
    """Return whether a value of an argument is no number, which could be that of a member."""
    return not isinstance(value, int) or isinstance(value, bool)


def _after(step: SymbolicStep, over_both: Any) -> Any:
    """Return the formula over both states for a step, over the state before it."""
    return z3.substitute(over_both, *step.becomes)
