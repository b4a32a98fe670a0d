"""Lowering: a model under one configuration becomes a `Program` of nodes over packed leaves.

Idea: evaluate every action instance, property and bound with the structural evaluator over the hash-consed graph. An
action instance becomes a list of guards and, for each leaf that it changes, the node of the new value.

Constants of the state. Many leaves never change under a configuration: a list of all members, or every field of a
feature that is switched off. Lowering starts from the assumption that every leaf keeps its initial value, drops it for
a leaf as soon as an action writes something else, and evaluates one action after the other until all have been
evaluated without dropping anything. What remains is an inductive invariant, so those leaves are constants: they take no
bit and fold away.

Numbers of the configuration may stay open (`open_numbers`): each becomes a leaf that no instance writes, and
`Lowered.at` closes them.

Booleans are 0/1, enum values positions, optionals numbers with -1 for None, sets bit masks.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from elrcheck.lang.algebra import ConcreteAlgebra
from elrcheck.lang.comprehensions import MEMO, Env
from elrcheck.lang.evaluate import STATES
from elrcheck.lang.expr import Junction, NamedConjunction
from elrcheck.lang.ir import Fn, Ret
from elrcheck.lang.load import Model, instances
from elrcheck.lang.lowering.behind_guards import GuardedEvaluator
from elrcheck.lang.lowering.dag import Dag, Term
from elrcheck.lang.lowering.dag_algebra import DagAlgebra
from elrcheck.lang.lowering.lowered import Lowered, Scalar, Slot, encoded, initial_scalars, slots_at
from elrcheck.lang.lowering.nodes import DagNode
from elrcheck.lang.lowering.open_numbers import OpenEvaluator, Parameter, parameters
from elrcheck.lang.lowering.program import Check, Instance, Leaf, Program
from elrcheck.lang.runtime import ModelConfig
from elrcheck.lang.structure import Structure, put_outside
from elrcheck.lang.types import BOOL, Ty


def lower(
    model: Model,
    config: ModelConfig,
    properties: Sequence[Fn] | None = None,
    open_numbers: Mapping[str, int] | None = None,
    between: Callable[[], object] = bool,
) -> Lowered:
    """Lower a model. properties: the checks of the program, by default all `always` and `sometimes`.

    open_numbers: fields of the configuration that stay open, each with its least value; the configuration has the
    greatest. Raise ValueError for a field that cannot. between: called between two action instances, some milliseconds
    apart; it may raise to end the lowering.
    """
    checks = model.checks if properties is None else tuple(properties)
    starts = initial_scalars(model, Structure(config, ConcreteAlgebra()))
    opened = parameters(config, open_numbers or {}, model.sizes if open_numbers else frozenset())
    evaluator = _evaluator(model, config, opened, len(starts[0]))
    varying = _differing(model, evaluator) | _chosen(starts)
    return ModelLowering(model, config, starts, varying, evaluator, opened, between).finish(checks)


def _evaluator(model: Model, config: ModelConfig, opened: Sequence[Parameter], first: int) -> GuardedEvaluator:
    """Return an evaluator with a new graph, whose variables from number `first` on are the open numbers."""
    dag = Dag()
    algebra = DagAlgebra(dag)
    if not opened:
        return GuardedEvaluator(model.fns, config, algebra)
    terms = {p.name: dag.var(first + k, p.lo, p.hi) for k, p in enumerate(opened)}
    return OpenEvaluator(model.fns, config, algebra, terms)


def _differing(model: Model, evaluator: GuardedEvaluator) -> set[int]:
    """Return the slots whose initial value depends on an open number."""
    if not isinstance(evaluator, OpenEvaluator):
        return set()
    structure, differing = evaluator.structure, set[int]()
    for args in instances(model.init, evaluator.config):
        outcome = evaluator.action(model.init, {}, evaluator.lifted(model.init, args))
        if any(isinstance(guard, DagNode) for _, guard in outcome.guards):
            raise ValueError("an initial state that exists for some values of an open number only")
        scalars = structure.leaves(outcome.fields, model.state_ty) if outcome.fields else ()
        differing |= {position for position, (_, _, value) in enumerate(scalars) if isinstance(value, DagNode)}
    return differing


def _chosen(starts: Sequence[Sequence[tuple[str, Ty, Scalar]]]) -> set[int]:
    """Return the slots in which two initial states differ."""
    first = starts[0]
    return {
        place for other in starts[1:] for place, (a, b) in enumerate(zip(first, other, strict=True)) if a[2] != b[2]
    }


def _same(new: Any, old: Any) -> Any:
    """Return the new value with the parts of the old one that are equal, so that they are identical."""
    if isinstance(new, dict):
        parts = {name: _same(part, old[name]) for name, part in new.items()}
        return old if all(parts[name] is old[name] for name in parts) else parts
    if isinstance(new, list | tuple):
        items = [_same(x, y) for x, y in zip(new, old, strict=True)]
        return old if all(x is y for x, y in zip(items, old, strict=True)) else type(new)(items)
    return old if type(new) is type(old) and new == old else new


class EvaluatedStep(NamedTuple):
    """An evaluated action instance. changed: slot -> new scalar."""

    fn: Fn
    args: tuple[object, ...]
    guards: tuple[DagNode, ...]
    after: Mapping[str, Any]
    changed: dict[int, Term]


class ModelLowering:
    """The action instances of a model, evaluated on a state whose slots outside `varying` are constants.

    varying: at first, the slots that differ or may differ between initial states; then also those that instances write.
    A variable of the graph has the number of its slot until `finish` gives it that of its leaf.
    """

    def __init__(
        self,
        model: Model,
        config: ModelConfig,
        starts: list[list[tuple[str, Ty, Scalar]]],
        varying: set[int],
        evaluator: GuardedEvaluator,
        opened: tuple[Parameter, ...],
        between: Callable[[], object],
    ) -> None:
        self.model, self.config, self.starts = model, config, starts
        self.evaluator, self.parameters, self._between = evaluator, opened, between
        self.dag: Dag = evaluator.alg.dag  # type: ignore[attr-defined]
        self.structure = self.evaluator.structure
        self.slots = slots_at(self.structure, starts[0], varying)
        self.now = self._state()
        self.steps: list[EvaluatedStep] = []
        self._evaluate_all(varying)

    def _evaluate_all(self, varying: set[int]) -> None:
        """Evaluate the actions in turn until none of them writes a constant.

        A state shares its unchanged parts with the one before, and so the evaluator's memo.
        """
        steps: dict[Fn, list[EvaluatedStep]] = {}
        settled = 0
        for fn in itertools.cycle(self.model.actions):
            if settled == len(self.model.actions):
                break
            settled += 1
            self.steps = []
            for args in instances(fn, self.config):
                self._between()
                self.evaluate(fn, args)
            steps[fn] = self.steps
            written = {position for step in self.steps for position in step.changed}
            if not written <= varying:
                varying |= written
                self.slots = slots_at(self.structure, self.starts[0], varying)
                self.now = _same(self._state(), self.now)
                settled = 0
        self.steps = [step for fn in self.model.actions for step in steps[fn]]

    def _state(self) -> dict[str, Any]:
        def scalar(position: int, slot: Slot) -> Term:
            if slot.index is not None:
                node = self.dag.var(position, slot.lo, slot.hi)
                return node if slot.lo != slot.hi else slot.lo
            return bool(slot.initial) if slot.ty.kind == "bool" else slot.initial

        scalars = itertools.starmap(scalar, enumerate(self.slots))
        state: dict[str, Any] = self.structure.rebuild(scalars, self.model.state_ty)
        return state

    def nodes(self, fn: Fn, args: Sequence[object]) -> dict[str, DagNode]:
        """See `Lowered.nodes`."""
        value = self.evaluator.call(fn, (self.now,), self.evaluator.lifted(fn, args))
        fields = value if isinstance(value, dict) else {"": value}
        return {name: self._node(part) for name, part in fields.items()}

    def evaluate(self, fn: Fn, args: tuple[object, ...]) -> None:
        outcome = self.evaluator.action(fn, self.now, self.evaluator.lifted(fn, args))
        exists = self.evaluator.exists(args, fn.params) if isinstance(self.evaluator, OpenEvaluator) else ()
        guards = []
        for guard in (*exists, *(guard for _, guard in outcome.guards)):
            if guard is False:
                return
            if isinstance(guard, DagNode):
                guards.append(guard)
        if self.evaluator.alg.and_(guards) is False:
            return
        after = {**self.now, **outcome.fields}
        changed = dict(self._changed(after, self.now, self.model.state_ty, 0))
        self.steps.append(EvaluatedStep(fn, args, tuple(guards), after, changed))

    def _changed(self, new: Any, old: Any, ty: Ty, at: int) -> Iterator[tuple[int, Term]]:
        """Yield (slot, new scalar) for all scalars that differ. at: the first slot of the value."""
        if new is old:
            return
        if ty.kind == "vec" and put_outside(new) is not False:
            yield from self._leaves_bounds(new, dict(self._changed([*new], old, ty, at)), ty, at)
            return
        parts: Iterable[tuple[Any, Any, Ty]]
        match ty.kind:
            case "seq":
                yield from self._changed(new[0], old[0], Ty("nat", "length"), at)
                at += 1
                parts = ((x, y, ty.elem) for x, y in zip(new[1], old[1], strict=True))
            case "opt" if ty.flagged:
                parts = ((new[0], old[0], BOOL), (new[1], old[1], ty.elem))
            case "vec":
                parts = ((x, y, ty.elem) for x, y in zip(new, old, strict=True))
            case "set" if isinstance(new, list):
                parts = ((x, y, BOOL) for x, y in zip(new, old, strict=True))
            case "record" | "state":
                parts = ((new[name], old[name], field) for name, field in ty.fields.items())
            case _:
                if not (isinstance(new, int) and isinstance(old, int) and int(new) == int(old)):
                    yield at, new
                return
        for x, y, part in parts:
            yield from self._changed(x, y, part, at)
            at += self.structure.size(part)

    def _leaves_bounds(self, new: list[Any], changed: dict[int, Term], ty: Ty, at: int) -> Iterator[tuple[int, Term]]:
        """Yield the changes of a map, with one scalar out of its bounds where an entry is put outside the keys."""
        slot = min(changed, default=at)
        inside = [scalar for _, _, scalar in self.structure.leaves(new, ty)][slot - at]
        beyond = self.dag.ite(self._node(put_outside(new)), self.slots[slot].hi + 1, self._node(inside))
        yield from {**changed, slot: beyond}.items()

    # ------------------------------------------------------------------------- the program

    def finish(self, checks: Sequence[Fn]) -> Lowered:
        indices = [slot.index for slot in self.slots]
        written = tuple(Leaf(s.path, s.lo, s.hi) for s in self.slots if s.index is not None)
        indices += [len(written) + k for k in range(len(self.parameters))]
        self.dag.renumber({k: index for k, index in enumerate(indices) if index is not None})
        leaves = (*written, *(Leaf(f"config.{p.name}", p.lo, p.hi) for p in self.parameters))
        opened = tuple(p.hi for p in self.parameters)
        judged = [self.check(fn) for fn in checks]
        program = Program(
            dag=self.dag,
            leaves=leaves,
            instances=tuple(self.instance(entry, checks) for entry in self.steps),
            checks=tuple(judged),
            init=tuple((*self._leaf_values(scalars), *opened) for scalars in self.starts),
            parameters=tuple(range(len(written), len(leaves))),
        )
        return Lowered(self.model, self.config, program, self.slots, self.parameters, self)

    def _leaf_values(self, scalars: Sequence[tuple[str, Ty, Scalar]]) -> Iterator[int]:
        """Yield the leaf values of an initial state."""
        for slot, (_, _, scalar) in zip(self.slots, scalars, strict=True):
            if slot.index is not None:
                yield encoded(scalar)

    def check(self, fn: Fn) -> Check:
        kind: Any = fn.kind
        if fn.is_step:
            return Check(fn.ident, kind, "step")
        return Check(fn.ident, kind, "state", self._node(self.evaluator.call(fn, (self.now,), {})))

    def _node(self, value: Term) -> DagNode:
        return value if isinstance(value, DagNode) else self.dag.const(int(value))

    def instance(self, entry: EvaluatedStep, checks: Sequence[Fn]) -> Instance:
        self._between()
        fn, args, guards, after, changed = entry
        updates = {}
        for position, value in changed.items():
            index = self.slots[position].index
            assert index is not None
            updates[index] = self._node(value)
        steps = {}
        for number, check in enumerate(checks):
            if check.is_step:
                value = self.evaluator.call(check, (self.now, after), {})
                if value is not True or check.kind == "sometimes":
                    steps[number] = self._node(value)
        return Instance(fn.name, args, guards, updates, tuple(self._within(after)), steps)

    def _within(self, after: Mapping[str, Any]) -> Iterable[DagNode]:
        """Yield the conjuncts of the bound on the successor, without those that the step does not affect.

        Every state of a search is inside the bound, so these hold.
        """
        values = self._bounded(after)
        held = self._bounded(self.now) if self.parameters else [None] * len(values)
        for value, before in zip(values, held, strict=True):
            if value is not True and value is not before:
                yield self._node(value)

    def _bounded(self, state: Mapping[str, Any]) -> list[Any]:
        """Return the conjuncts of the bound on a state."""
        body = self.model.bound.body
        match body:
            case Ret(value=NamedConjunction(parts=parts) | Junction(op="and", parts=parts)):
                env: Env = {STATES: (state,), MEMO: {}}
                return [self.evaluator.ev(part, env) for part in parts]
            case _:
                return [self.evaluator.call(self.model.bound, (state,), {})]
