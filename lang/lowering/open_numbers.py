"""Numbers of a configuration that stay open, so that one program serves every value they may have.

Idea: an open number is a leaf of the state that no instance writes, and its uses in rules are nodes like any other. A
search closes it by the value in its initial state; nothing behind lowering treats it specially.

A derived number is a property of the configuration in plain Python. It is run with stand-ins for the open numbers.
Where Python needs the truth of a comparison, the run is repeated for both answers; the results of all runs, as a choice
by these comparisons, are the number as an expression.

Numbers that lowering needs plain (the slots of a sequence, the length of a loop, the range of a leaf) are those of the
configuration that is lowered, in which open numbers have their greatest values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from typing import Any

from elrcheck.lang.expr import ConfigField, Expression
from elrcheck.lang.ir import Fn, fn_nodes, reachable
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.behind_guards import GuardedEvaluator
from elrcheck.lang.lowering.dag import Term
from elrcheck.lang.lowering.dag_algebra import DagAlgebra
from elrcheck.lang.lowering.nodes import DagNode
from elrcheck.lang.runtime import ModelConfig
from elrcheck.lang.types import Ty


def budgets_of(model: Model) -> frozenset[str]:
    """Return the numbers of the configuration that the model's bound reads."""
    nodes = (node for fn in reachable(model.fns, [model.bound]).values() for node in fn_nodes(fn))
    names = {node.name for node in nodes if isinstance(node, ConfigField)}
    return frozenset(name for name in names if type(getattr(model.config, name, None)) is int)


class OpenEvaluator(GuardedEvaluator):
    """Evaluates over the graph with some numbers of the configuration open. terms: their nodes, by field."""

    def __init__(
        self, fns: Mapping[str, Fn], config: ModelConfig, algebra: DagAlgebra, terms: Mapping[str, Term]
    ) -> None:
        super().__init__(fns, config, algebra)
        self.terms = terms
        self._settings: dict[str, Any] = {}

    def setting(self, name: str, ty: Ty) -> Any:
        """See `Evaluator.setting`; a node if the value depends on an open number."""
        if name not in self._settings:
            self._settings[name] = self._every_way(name, ty, ())
        return self._settings[name]

    def exists(self, args: Sequence[object], params: Sequence[tuple[str, Ty]]) -> Iterator[Any]:
        """Yield, for each argument whose range depends on an open number, the condition that it is in the range."""
        for (_, ty), arg in zip(params, args, strict=True):
            kind = ty.elem if ty.kind == "opt" else ty
            if arg is not None and kind.kind == "nat" and isinstance(kind.hi, str):
                yield self.alg.cmp("le", arg, self.setting(kind.hi, kind))

    def _every_way(self, name: str, ty: Ty, answers: tuple[bool, ...]) -> Any:
        """Return the value of a field as a term, given the answers to its first comparisons."""
        try:
            value = getattr(_Configuration(self, list(answers)), name)
        except _Undecided as undecided:
            yes, no = (self._every_way(name, ty, (*answers, answer)) for answer in (True, False))
            return self.structure.ite(undecided.condition, yes, no, ty)
        if isinstance(value, _Number | _Truth):
            return value.term
        return self.structure.lift(value, ty)

    def most(self, e: Expression) -> int:
        """See `Evaluator.most`."""
        if isinstance(e, ConfigField):
            value = self.setting(e.name, e.ty)
            return int(value.hi) if isinstance(value, DagNode) else int(value)
        return super().most(e)


class _Undecided(Exception):
    """A run needs the truth of a condition to which it has no answer yet."""

    def __init__(self, condition: DagNode) -> None:
        super().__init__()
        self.condition = condition


class _Configuration:
    """The configuration in one run of a property. answers: to its comparisons, in order."""

    def __init__(self, evaluator: OpenEvaluator, answers: list[bool]) -> None:
        self._evaluator, self._answers = evaluator, answers

    def __getattr__(self, name: str) -> Any:
        config, terms = self._evaluator.config, self._evaluator.terms
        if name in terms:
            return _Number(terms[name], self._evaluator.alg, self._answers)
        member = getattr(type(config), name, None)
        if isinstance(member, property) and member.fget is not None:
            return member.fget(self)
        return getattr(config, name)


class _Truth:
    """The truth of a comparison of open numbers."""

    def __init__(self, term: DagNode, answers: list[bool]) -> None:
        self.term, self._answers = term, answers

    def __bool__(self) -> bool:
        if not self._answers:
            raise _Undecided(self.term)
        return self._answers.pop(0)


class _Number:
    """A number that depends on open ones, with the operations that properties use."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, term: Term, algebra: Any, answers: list[bool]) -> None:
        self.term, self._algebra, self._answers = term, algebra, answers

    def _computed(self, operation: str, a: Term, b: Term) -> _Number:
        return _Number(getattr(self._algebra, operation)(a, b), self._algebra, self._answers)

    def _compared(self, order: str, other: object) -> Any:
        if not isinstance(other, int | _Number):
            return NotImplemented
        truth = self._algebra.cmp(order, self.term, _term(other))
        return truth if isinstance(truth, bool) else _Truth(truth, self._answers)

    def __add__(self, other: int | _Number) -> _Number:
        return self._computed("add", self.term, _term(other))

    __radd__ = __add__

    def __sub__(self, other: int | _Number) -> _Number:
        return self._computed("sub", self.term, _term(other))

    def __rsub__(self, other: int) -> _Number:
        return self._computed("sub", other, self.term)

    def __mul__(self, other: int | _Number) -> _Number:
        zero = _Number(0, self._algebra, self._answers)
        return sum((self for _ in range(int(other))), zero)

    __rmul__ = __mul__

    def __floordiv__(self, other: int | _Number) -> _Number:
        return self._computed("div", self.term, _term(other))

    def __mod__(self, other: int | _Number) -> _Number:
        return self._computed("mod", self.term, _term(other))

    def __lt__(self, other: object) -> Any:
        return self._compared("lt", other)

    def __le__(self, other: object) -> Any:
        return self._compared("le", other)

    def __gt__(self, other: object) -> Any:
        return self._compared("gt", other)

    def __ge__(self, other: object) -> Any:
        return self._compared("ge", other)

    def __eq__(self, other: object) -> Any:
        return self._compared("eq", other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __bool__(self) -> bool:
        return bool(self != 0)

    def __index__(self) -> int:
        """Return the number; comparisons with its possible values cause one run for each."""
        if isinstance(self.term, int):
            return self.term
        values = range(self.term.lo, self.term.hi)
        return next((value for value in values if self == value), self.term.hi)

    __int__ = __index__


def _term(value: int | _Number) -> Term:
    return value.term if isinstance(value, _Number) else value


@dataclass(frozen=True)
class Parameter:
    """An open number: a field of the configuration, with its least and greatest value."""

    name: str
    lo: int
    hi: int


def parameters(config: ModelConfig, least: Mapping[str, int], sizes: Set[str]) -> tuple[Parameter, ...]:
    """Return the open numbers of a lowering, in the order of the configuration's fields; ValueError for other fields.

    least: field -> least value; the configuration has the greatest. A number with one value is not open. sizes: the
    fields that are sizes of sorts, which cannot stay open.
    """
    names = [part.name for part in fields(config)]
    for name, lo in least.items():
        value = getattr(config, name, None)
        if name not in names or type(value) is not int or name in sizes:
            raise ValueError(f"{name} cannot stay open: it is not a number that rules read")
        if lo > value:
            raise ValueError(f"{name} is to be at least {lo}, but {value} is the greatest value")
    chosen = (name for name in names if name in least)
    ranges = (Parameter(name, least[name], getattr(config, name)) for name in chosen)
    return tuple(parameter for parameter in ranges if parameter.lo < parameter.hi)
