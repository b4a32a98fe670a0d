"""A lowered model: the program, and the conversion between its leaf values and plain states."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

from elrcheck.lang.algebra import ConcreteAlgebra
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model, searched_from
from elrcheck.lang.lowering.nodes import DagNode
from elrcheck.lang.lowering.open_numbers import Parameter
from elrcheck.lang.lowering.program import Program
from elrcheck.lang.runtime import ModelConfig
from elrcheck.lang.source import error_at
from elrcheck.lang.structure import Structure
from elrcheck.lang.tree import limits_of
from elrcheck.lang.types import Ty

Scalar: TypeAlias = int | list[bool]
"""A scalar of a plain state; a set is a list with one boolean for each possible member."""


@dataclass(frozen=True)
class Slot:
    """One scalar of the whole state. index: its leaf in the program, None for a constant."""

    path: str
    ty: Ty
    lo: int
    hi: int
    initial: int
    index: int | None


class EvaluatedModel(Protocol):
    """A model evaluated over the graph of a program."""

    def nodes(self, fn: Fn, args: Sequence[object]) -> dict[str, DagNode]:
        """See `Lowered.nodes`."""
        ...


class Lowered:
    """A program, and the conversion between its leaf values and plain states.

    parameters: the open numbers; the program starts with their values in `config`. widest: the configuration that was
    lowered. evaluation: answers `nodes`. name: programs with the same name are equal up to their initial states; empty
    for no name.
    """

    name = ""

    def __init__(
        self,
        model: Model,
        config: ModelConfig,
        program: Program,
        slots: Sequence[Slot],
        parameters: tuple[Parameter, ...],
        evaluation: EvaluatedModel,
    ) -> None:
        self.model, self.config, self.program = model, config, program
        self.slots, self.parameters = tuple(slots), parameters
        self.widest, self.evaluation = config, evaluation
        self._plain = Structure(self.config, ConcreteAlgebra())

    def at(self, values: Mapping[str, int]) -> Lowered:
        """Return the program started with these values of the open numbers; the others have their greatest.

        Raise ValueError for a value outside its range, or a number that is not open; ModelError for an initial state
        outside the bound.
        """
        ranges = {parameter.name: range(parameter.lo, parameter.hi + 1) for parameter in self.parameters}
        for name, value in values.items():
            if value not in ranges.get(name, [getattr(self.config, name, None)]):
                raise ValueError(f"{name} cannot be {value} here")
        closed: Any = replace(self.config, **values)
        for name in sorted(limits_of(self.model.state_ty)):
            if getattr(closed, name) > getattr(self.widest, name):
                raise ValueError(f"{name} is larger there than in the configuration that was lowered")
        states = searched_from(self.model, closed)
        copied = copy.copy(self)
        copied.config = closed
        copied.program = replace(self.program, init=tuple(map(copied.encode, states)))
        return copied

    def started(self, state: object) -> Lowered:
        """Return the program started in another state; ValueError if the state does not fit the program."""
        copied = copy.copy(self)
        copied.program = replace(self.program, init=(self.encode(state),))
        return copied

    def nodes(self, fn: Fn, args: Sequence[object] = ()) -> dict[str, DagNode]:
        """Return the nodes of a function's value on the current state, by field; {"": node} for a scalar.

        args: the choice of its parameters.
        """
        return self.evaluation.nodes(fn, args)

    def decode(self, leaves: Sequence[int]) -> Any:
        """Return the plain state of the leaf values of the program."""
        scalars = (self._scalar(slot, leaves) for slot in self.slots)
        return self._plain.lower(self._plain.rebuild(scalars, self.model.state_ty), self.model.state_ty)

    def encode(self, state: object) -> tuple[int, ...]:
        """Return the leaf values of a plain state; ValueError if it does not fit the program."""
        values: list[int] = []
        leaves = self._plain.leaves(self._plain.lift(state, self.model.state_ty), self.model.state_ty)
        for slot, (path, _, scalar) in zip(self.slots, leaves, strict=True):
            number = encoded(scalar)
            if slot.index is None:
                if number != slot.initial:
                    raise ValueError(f"{path} is {number}, but it is always {slot.initial} in this configuration")
            elif not slot.lo <= number <= slot.hi:
                raise ValueError(f"{path} is {number}, outside {slot.lo}..{slot.hi}")
            else:
                values.append(number)
        return (*values, *(getattr(self.config, parameter.name) for parameter in self.parameters))

    def _scalar(self, slot: Slot, leaves: Sequence[int]) -> Scalar:
        number = slot.initial if slot.index is None else leaves[slot.index]
        if slot.ty.kind == "set":
            return [bool(number >> i & 1) for i in range(self._plain.count(slot.ty.elem))]
        return number


def encoded(scalar: Scalar) -> int:
    """Return a scalar as the number that a leaf stores."""
    if isinstance(scalar, list):
        return sum(1 << i for i, flag in enumerate(scalar) if flag)
    return int(scalar)


def bounds(structure: Structure, ty: Ty) -> tuple[int, int]:
    """Return the least and the greatest encoded value of a scalar type in a compiled search."""
    match ty.kind:
        case "bool":
            return 0, 1
        case "member":
            return 0, structure.count(ty) - 1
        case "set":
            return 0, (1 << structure.count(ty.elem)) - 1
        case "enum":
            return 0, len(ty.members) - 1
        case "opt":
            return -1, bounds(structure, ty.elem)[1]
        case _:
            return ty.lo, structure.limit(ty.hi if ty.hi is not None else ty.cap)


def slots_of(model: Model, config: ModelConfig, varying: Set[int]) -> list[Slot]:
    """Return the scalars of the state, of which those in `varying` are leaves; LookupError if there are fewer."""
    structure = Structure(config, ConcreteAlgebra())
    start = initial_scalars(model, structure)[0]
    if not varying <= set(range(len(start))):
        raise LookupError(f"the state has {len(start)} scalars")
    return slots_at(structure, start, varying)


def slots_at(structure: Structure, start: Sequence[tuple[str, Ty, Scalar]], varying: Set[int]) -> list[Slot]:
    slots: list[Slot] = []
    used = 0
    for position, (path, ty, scalar) in enumerate(start):
        lo, hi = bounds(structure, ty)
        index = used if position in varying else None
        used += index is not None
        slots.append(Slot(path, ty, lo, hi, encoded(scalar), index))
    return slots


def initial_scalars(model: Model, plain: Structure) -> list[list[tuple[str, Ty, Scalar]]]:
    """Return (path, type, scalar) of all scalars of each initial state; ModelError for one beyond its type or bound."""
    states = (plain.lift(state, model.state_ty) for state in searched_from(model, plain.config))
    scalars = [list(plain.leaves(state, model.state_ty)) for state in states]
    for path, ty, scalar in itertools.chain(*scalars):
        (lo, hi), number = bounds(plain, ty), encoded(scalar)
        if not lo <= number <= hi:
            message = f"{path} is {number} in an initial state, and its type has {lo} to {hi}"
            raise error_at(model.init.file, model.init.line, message, "begin with another value, or change the type")
    return scalars
