"""The model as a symbolic transition system: a state of solver variables, and every step from it.

Scalars that lowering finds constant in a configuration are constants here too, but only as an
assumption: `Instance.keeps_constants` is a separate obligation, `Frame`, so the proof does not
depend on the search. That every scalar stays within its type is the obligation `Types`.

A replica list that never changes may have any order (`Order.ANY`). The lemmas are then proved for every
order, and one choice of arguments is enough of those that a renaming of the brokers makes of each other, for
each action that treats brokers alike (invariants/proof/equivariance.py).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from elrcheck.invariants.lemmas_losses import Seen, seen_after, seen_at_first
from elrcheck.invariants.proof.symbolic_values import arbitrary
from elrcheck.invariants.proof.symbolic_values import read as read_value
from elrcheck.invariants.proof.z3_algebra import Z3Algebra, formula, variable, within_type
from elrcheck.lang.algebra import ConcreteAlgebra
from elrcheck.lang.evaluate import Evaluator
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model, instances
from elrcheck.lang.lowering.lower import Slot, lower
from elrcheck.lang.runtime import ModelConfig
from elrcheck.lang.structure import Structure
from elrcheck.lang.types import Ty, type_of


@dataclass(frozen=True)
class Instance:
    """An action with fixed arguments: when it is enabled, and the next state.

    becomes: (variable of the next state, its term) of every scalar that is not constant. alike: the choices
    of arguments that it stands for, its own among them.
    """

    action: str
    args: tuple[Any, ...]
    guard: Any
    after: Mapping[str, Any]
    keeps_constants: Any
    becomes: tuple[tuple[Any, Any], ...] = ()
    alike: tuple[tuple[Any, ...], ...] = ()


@dataclass(frozen=True)
class Excluded:
    """An action with fixed arguments that no state enables in this configuration; the guard that fails."""

    action: str
    args: tuple[Any, ...]
    guard: str


class Transitions:
    """Solver terms for one configuration."""

    def __init__(self, model: Model, config: ModelConfig) -> None:
        self.model, self.config = model, config
        self.alg = Z3Algebra(config.broker_count)
        self.evaluator = Evaluator(model.fns, config, self.alg)
        self.structure: Structure = self.evaluator.structure
        self._plain = Structure(config, ConcreteAlgebra(config.broker_count))
        self.slots = lower(model, config, ()).slots
        self.scalars = [self._scalar(slot) for slot in self.slots]
        self.now: Mapping[str, Any] = self.structure.rebuild(iter(self.scalars), model.state_ty)
        self.next_scalars = [self._scalar(slot, "'") for slot in self.slots]
        self.next: Mapping[str, Any] = self.structure.rebuild(iter(self.next_scalars), model.state_ty)
        self.type_invariant = z3.And(*(part for _, part in self.type_parts(self.scalars, self.now)))
        self.seen_ty = type_of(Seen)
        self.seen = arbitrary(self.structure, self.seen_ty, "seen")
        self.next_seen = arbitrary(self.structure, self.seen_ty, "seen'")
        self.has_history = seen_after.__name__ in model.fns
        self.instances: list[Instance] = []
        self.excluded: list[Excluded] = []
        for fn in model.actions:
            for args in instances(fn, config):
                self._add(fn, args)

    def _scalar(self, slot: Slot, prime: str = "") -> Any:
        if slot.index is not None:
            return variable(slot.path + prime, slot.ty, self.config.broker_count)
        if slot.ty.kind == "set":
            return [bool(slot.initial >> i & 1) for i in range(self.config.broker_count)]
        return bool(slot.initial) if slot.ty.kind == "bool" else slot.initial

    def type_parts(self, scalars: Sequence[Any], state: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """(path, formula) of all that the types say of a state: ranges, lengths, blank slots after an end."""
        for slot, scalar in zip(self.slots, scalars, strict=True):
            if slot.index is not None:
                for part in within_type(self.structure, slot.ty, scalar):
                    yield slot.path, formula(part)
        for path, length, slots in _sequences(state, self.model.state_ty, ""):
            for k, (value, ty) in enumerate(slots):
                beyond = self.alg.cmp("le", length, k)
                blank = self.structure.eq(value, self.structure.blank(ty), ty)
                yield f"{path}[{k}]", formula(self.alg.or_([self.alg.not_(beyond), blank]))

    def _add(self, fn: Fn, args: tuple[Any, ...]) -> None:
        given = {p: self.structure.lift(a, t) for (p, t), a in zip(fn.params, args, strict=True)}
        outcome = self.evaluator.action(fn, self.now, given)
        guard = formula(self.alg.and_([g for _, g in outcome.guards]))
        if z3.is_false(z3.simplify(guard)):
            failing = [name for name, g in outcome.guards if z3.is_false(z3.simplify(formula(g)))]
            together = " and ".join(name for name, _ in outcome.guards)
            self.excluded.append(Excluded(fn.name, args, failing[0] if failing else together))
            return
        after = {**self.now, **outcome.fields}
        keeps = formula(self._keeps(after))
        becomes = tuple(self._becomes(after))
        becomes += tuple(self._history(becomes))
        self.instances.append(Instance(fn.name, args, guard, after, keeps, becomes))

    def _becomes(self, after: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
        leaves = self.structure.leaves(after, self.model.state_ty)
        for slot, primed, (_, _, new) in zip(self.slots, self.next_scalars, leaves, strict=True):
            if slot.index is None:
                continue
            pairs = zip(primed, new, strict=True) if isinstance(primed, list) else ((primed, new),)
            for name, term in pairs:
                yield name, formula(term) if z3.is_bool(name) else self.alg.term(term)

    def _history(self, becomes: Sequence[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
        """The same for the history, whose next value is a term over the variables of both states."""
        if not self.has_history:
            return
        leaves = self.structure.leaves(self._seen_then, self.seen_ty)
        for primed, (_, _, new) in zip(self.next_seen.scalars, leaves, strict=True):
            for name, term in zip(primed.term, new, strict=True):
                yield name, z3.substitute(formula(term), *becomes)

    @functools.cached_property
    def _seen_then(self) -> Any:
        states = (self.now, self.next)
        return self.evaluator.call(self.model.fns[seen_after.__name__], states, {"seen": self.seen.value})

    def _keeps(self, after: Mapping[str, Any]) -> Any:
        parts = []
        leaves = self.structure.leaves(after, self.model.state_ty)
        for slot, scalar, (_, ty, new) in zip(self.slots, self.scalars, leaves, strict=True):
            if slot.index is None:
                parts.append(self.structure.eq(new, scalar, ty))
        return self.alg.and_(parts)

    # ------------------------------------------------------------------------- formulas

    def holds(self, fn: Fn, *states: Mapping[str, Any]) -> Any:
        """Evaluate a predicate on given states, by default the symbolic current state.

        One that looks at the history, too, has that of the last of the states, which is the next one or not.
        """
        states = states or (self.now,)
        seen = self.next_seen if states[-1] is self.next else self.seen
        given = {name: seen.value for name, ty in fn.params if ty.cls is Seen}
        return formula(self.evaluator.call(fn, states, given))

    def initial(self) -> Any:
        """The current state is the initial state."""
        start = self.structure.lift(self.model.init.source(self.config), self.model.state_ty)
        parts = [self.structure.eq(self.now, start, self.model.state_ty)]
        if self.has_history:
            first = self.evaluator.call(self.model.fns[seen_at_first.__name__], (), {})
            parts.append(self.structure.eq(self.seen.value, first, self.seen_ty))
        return z3.And(*map(formula, parts))

    # ------------------------------------------------------------------------- values

    def read(self, solved: Any, state: Mapping[str, Any]) -> Any:
        """Return the plain state of symbolic fields in a solver model."""

        def scalar(term: Any) -> Any:
            if isinstance(term, (bool, int)):
                return term
            value = solved.eval(term, model_completion=True)
            return z3.is_true(value) if z3.is_bool(value) else value.as_long()

        scalars = []
        for _, ty, term in self.structure.leaves(state, self.model.state_ty):
            scalars.append([scalar(t) for t in term] if ty.kind == "set" else scalar(term))
        return self._plain.lower(self._plain.rebuild(iter(scalars), self.model.state_ty), self.model.state_ty)

    def read_seen(self, solved: Any) -> Any:
        """Return the history before a step in a solver model."""
        return read_value(solved, self.structure, self.seen.value, self.seen_ty)

    def exactly(self, state: Any) -> Any:
        """The current state is the given plain state."""
        return formula(
            self.structure.eq(self.now, self.structure.lift(state, self.model.state_ty), self.model.state_ty)
        )


def _sequences(value: Any, ty: Ty, path: str) -> Iterator[tuple[str, Any, list[tuple[Any, Ty]]]]:
    """(path, length, [(slot, type)]) of every sequence in a value."""
    if ty.kind == "seq":
        yield path, value[0], [(x, ty.elem) for x in value[1]]
    elif ty.kind == "vec":
        for i, x in enumerate(value):
            yield from _sequences(x, ty.elem, f"{path}[{i}]")
    elif ty.kind in ("record", "state"):
        for f, t in ty.fields.items():
            yield from _sequences(value[f], t, f"{path}.{f}" if path else f)
