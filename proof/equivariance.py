"""Actions that treat all members of the only sort alike, so that one choice of their arguments stands for several.

Renaming the members of a state gives another state. A function is equivariant if it returns the renamed value for
renamed arguments: a lemma then holds in both states or in neither, and an action leads from the renamed state, with
renamed arguments, to the renamed successor. So if a step with some arguments preserves the lemmas from every state, the
steps with renamed arguments do as well. A list of members, in whose order an action may choose one, is part of the
state and is renamed with it: the proof is about every order (docs/adr/0019-one-step-for-all-brokers.md).

Nearly all constructs of the language are equivariant; `lang.symmetry` names those that may not be. For a function that
uses them, or calls one that is not equivariant, the solver decides whether it returns the renamed value for arbitrary
arguments. Without its confirmation a function counts as not equivariant.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import z3

from elrcheck.lang.evaluate import Evaluator
from elrcheck.lang.ir import Fn, callees, fn_nodes
from elrcheck.lang.load import Model
from elrcheck.lang.runtime import ModelConfig
from elrcheck.lang.symmetry.alike_members import renamed as lang_renamed
from elrcheck.lang.symmetry.alike_members import tells_apart
from elrcheck.lang.tree import sorts_in, types_inside
from elrcheck.lang.types import Ty
from elrcheck.proof.symbolic_values import Symbolic, arbitrary
from elrcheck.proof.z3_algebra import Z3Algebra, formula

Renaming = tuple[int, ...]
"""Member b becomes the entry at b."""
TIMEOUT = 10_000
"""Milliseconds for the solver to confirm one function; an equivariant one takes a few."""


def alike_sort(model: Model) -> Ty | None:
    """Return the only sort of a model, if it is not ordered and sets and maps are over its members; else None."""
    sorts = list(model.sorts.values())
    if len(sorts) != 1 or sorts[0].ordered:
        return None
    types = (model.state_ty, *(ty for fn in model.actions for _, ty in fn.params))
    return sorts[0] if all(map(_is_renamed_part_by_part, types)) else None


def _is_renamed_part_by_part(ty: Ty) -> bool:
    """Return whether sets and maps inside a type are over members; a renaming would permute other values."""
    inside = (part.arg if part.kind == "set" else part.index for part, _, _ in types_inside(ty))
    return all(part is None or part.kind == "member" for part in inside)


class Equivariance:
    """Decides which functions of a model are equivariant in a configuration."""

    def __init__(self, model: Model, config: ModelConfig) -> None:
        self.model, self.alg = model, Z3Algebra()
        self.evaluator = Evaluator(model.fns, config, self.alg)
        self.structure = self.evaluator.structure
        sort = alike_sort(model)
        assert sort is not None, "a renaming is one of the members of the only sort"
        self.members = self.structure.count(sort)
        self._confirmed: dict[str, bool] = {}

    def holds(self, fn: Fn) -> bool:
        """Return whether a function treats all members alike."""
        if fn.name not in self._confirmed:
            own = not any(tells_apart(node, _is_broker) for node in fn_nodes(fn))
            alike = all(self.holds(self.model.fns[name]) for name in sorted(callees(fn)))
            self._confirmed[fn.name] = (own and alike) or (fn.kind == "op" and self.confirmed(fn))
        return self._confirmed[fn.name]

    def confirmed(self, fn: Fn) -> bool:
        """Return whether the solver shows that the function returns the renamed value for all renamed arguments."""
        if not all(map(_is_renamed_part_by_part, (fn.ret, *(ty for _, ty in fn.params)))):
            return False
        arguments = {name: arbitrary(self.structure, ty, f"{name}!") for name, ty in fn.params}
        states = {name: arbitrary(self.structure, self.model.state_ty, f"{name}!") for name in fn.states}
        value = self._call(fn, _values(states), _values(arguments))
        solver = z3.Solver()
        solver.set("timeout", TIMEOUT)
        solver.add(*(symbol.within for symbol in (*arguments.values(), *states.values())))
        different = []
        for to in generators(self.members):
            of_renamed = self._call(fn, self._all(states, to), self._all(arguments, to))
            same = self.structure.eq(self.renamed(value, fn.ret, to), of_renamed, fn.ret)
            different.append(z3.Not(formula(same)))
        return bool(solver.check(z3.Or(*different)) == z3.unsat)

    def _call(self, fn: Fn, states: Mapping[str, Any], arguments: Mapping[str, Any]) -> Any:
        return self.evaluator.call(fn, tuple(states[name] for name in fn.states), arguments)

    def _all(self, symbols: Mapping[str, Symbolic], to: Renaming) -> dict[str, Any]:
        return {name: self.renamed(symbol.value, symbol.ty, to) for name, symbol in symbols.items()}

    def renamed(self, value: Any, ty: Ty, to: Renaming) -> Any:
        """Return a value of the evaluator after a renaming; slots behind the end of a sequence stay blank.

        A scalar that is None, for an arbitrary one, stays None.
        """
        if value is None:
            return None
        match ty.kind:
            case "member":
                return self._moved(value, to)
            case "opt" if ty.elem.kind == "member":
                return self._moved(value, to)
            case "opt" if ty.flagged:
                present, held = value
                moved_part = self.renamed(held, ty.elem, to)
                return present, self.structure.ite(present, moved_part, held, ty.elem)
            case "set":
                return [value[to.index(b)] for b in range(len(to))]
            case "seq":
                length, slots = value
                inside = [length is None or self.alg.cmp("lt", k, length) for k in range(len(slots))]
                moved = [self.renamed(x, ty.elem, to) for x in slots]
                ite = self.structure.ite
                return length, [ite(c, x, old, ty.elem) for c, x, old in zip(inside, moved, slots, strict=True)]
            case "vec":
                return [self.renamed(value[to.index(b)], ty.elem, to) for b in range(len(to))]
            case "record" | "state":
                return {name: self.renamed(value[name], part, to) for name, part in ty.fields.items()}
            case _:
                return value

    def _moved(self, broker: Any, to: Renaming) -> Any:
        """Return the number of a member after a renaming; another number, such as that of None, stays."""
        moved = broker
        for b, image in enumerate(to):
            moved = self.alg.ite(self.alg.cmp("eq", broker, b), image, moved)
        return moved


def _values(symbols: Mapping[str, Symbolic]) -> dict[str, Any]:
    return {name: symbol.value for name, symbol in symbols.items()}


def _is_broker(ty: Ty) -> bool:
    return ty.kind == "member" or (ty.kind == "opt" and ty.elem.kind == "member")


# ------------------------------------------------------------------------- renamings


def generators(brokers: int) -> tuple[Renaming, ...]:
    """Return two renamings that generate all others: a swap of the first two members, and a shift of all by one."""
    if brokers < 2:
        return ()
    rest = range(2, brokers)
    return (1, 0, *rest), (*range(1, brokers), 0)


def orbit(fn: Fn, args: tuple[Any, ...], brokers: int) -> tuple[tuple[Any, ...], ...]:
    """Return the images of a choice of an action's arguments under all renamings, itself first."""
    return tuple(dict.fromkeys(image(fn, args, to) for to in itertools.permutations(range(brokers))))


def image(fn: Fn, args: tuple[Any, ...], to: Renaming) -> tuple[Any, ...]:
    """Return the arguments of an action after a renaming."""
    return tuple(renamed(value, ty, to) for value, (_, ty) in zip(args, fn.params, strict=True))


def renamed(value: Any, ty: Ty, to: Sequence[int]) -> Any:
    """Return a plain value in which every member b has become to[b]."""
    return lang_renamed(value, ty, dict.fromkeys(sorts_in(ty), to))
