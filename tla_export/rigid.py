r"""Two properties of expressions that determine how they are written in TLA+.

**Rigid**: the value does not depend on a state. `Op(x)'` is the value of Op in the next state, but it
also primes everything inside x. So a prime after the application may apply an operator to the next
state only if its arguments are rigid: constants and quantified variables. A parameter is rigid if every
call in the model passes a rigid argument; a LET is rigid if its value is.

**Branching**: TLC explores the expression branch by branch. Where an action is expected, TLC splits
`a \/ b` and `\E x : p`, even inside definitions and LETs, so a condition that is true for two reasons
generates the same successor twice and counts it twice. Such conditions need `=> ` or `= TRUE`, which
TLC evaluates as a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from elrcheck.lang.expr import (
    Call,
    Count,
    Expression,
    First,
    IfElse,
    Implies,
    Junction,
    LetIn,
    NamedConjunction,
    Quantifier,
    SequenceFilter,
    StateVariable,
    Total,
    Variable,
)
from elrcheck.lang.ir import Block, Fn, If, Let, Require, Ret, StateView, fn_nodes
from elrcheck.lang.tree import walk


def block_lets(block: Block) -> Iterator[tuple[str, Expression]]:
    """Yield the names that a block binds, with their values."""
    match block:
        case Let(name=name, value=value, rest=rest):
            yield name, value
            yield from block_lets(rest)
        case Require(rest=rest):
            yield from block_lets(rest)
        case If(then=then, orelse=orelse):
            yield from block_lets(then)
            yield from block_lets(orelse)


def lets_of(fn: Fn) -> dict[str, Expression]:
    """Return every LET of a function; local names are unique within a function."""
    lets = dict(block_lets(fn.body))
    lets.update((node.name, node.value) for node in fn_nodes(fn) if isinstance(node, LetIn))
    return lets


class Rigidity:
    """Rigidity of the expressions in a set of functions."""

    def __init__(self, fns: Mapping[str, Fn]) -> None:
        self.fns = fns
        self._lets = {name: lets_of(fn) for name, fn in fns.items()}
        self._loose = {name: _loose_elements(fn) for name, fn in fns.items()}
        self._params = {name: {p for p, _ in fn.params} for name, fn in fns.items()}
        self._flexible: set[tuple[str, str]] = set()
        while self._spread():
            pass

    def _spread(self) -> bool:
        """Visit all calls once; return whether another parameter turned out not to be rigid."""
        before = len(self._flexible)
        for fn in self.fns.values():
            for node in fn_nodes(fn):
                if isinstance(node, Call):
                    callee = self.fns[node.function]
                    for (param, _), argument in zip(callee.params, node.args, strict=True):
                        if not self.is_rigid(fn.name, argument):
                            self._flexible.add((callee.name, param))
        return len(self._flexible) > before

    def is_rigid(self, within: str, e: Expression) -> bool:
        """Return whether an expression in the function `within` has the same value in every state."""
        for node in walk(e):
            match node:
                case StateVariable():
                    return False
                case Call() if self.fns[node.function].states:
                    return False
                case Variable() if not self._name_is_rigid(within, node.name):
                    return False
        return True

    def _name_is_rigid(self, within: str, name: str) -> bool:
        if name in self._lets[within]:
            return self.is_rigid(within, self._lets[within][name])
        if name in self._params[within]:
            return (within, name) not in self._flexible
        return name not in self._loose[within]


def _loose_elements(fn: Fn) -> set[str]:
    """Return the bound names that are no quantified variables: a LAMBDA's parameter, or printed as an access."""
    names = set()
    for node in fn_nodes(fn):
        match node:
            case First() | SequenceFilter() | Total() | Count(over="seq"):
                names.add(node.variable.name)
    return names


class Branching:
    """Decides whether TLC would split a condition into branches."""

    def __init__(self, fns: Mapping[str, Fn]) -> None:
        self.fns = fns
        self._lets = {name: lets_of(fn) for name, fn in fns.items()}

    def branches(self, within: str, e: Expression) -> bool:
        match e:
            case Junction(op="or") | Quantifier(op="any"):
                return True
            case Quantifier():  # TLC takes \A for a conjunction
                return self.branches(within, e.body)
            case Junction() | NamedConjunction():
                return any(self.branches(within, part) for part in e.parts)
            case IfElse():
                return self.branches(within, e.then) or self.branches(within, e.orelse)
            case Implies():
                return self.branches(within, e.conclusion)
            case LetIn():
                return self.branches(within, e.body)
            case Variable() if e.name in self._lets[within]:
                return self.branches(within, self._lets[within][e.name])
            case Call():
                callee = self.fns[e.function]
                inside = any(self.branches(callee.name, r) for r in _results(callee.body))
                return inside or any(self.branches(within, a) for a in e.args if a.ty.kind == "bool")
            case _:
                return False


def _results(block: Block) -> Iterator[Expression]:
    match block:
        case Let(rest=rest) | Require(rest=rest):
            yield from _results(rest)
        case If(then=then, orelse=orelse):
            yield from _results(then)
            yield from _results(orelse)
        case Ret(value=value) if not isinstance(value, StateView):
            yield value
