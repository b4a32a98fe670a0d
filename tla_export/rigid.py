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

from collections.abc import Mapping

from elrcheck.lang import expr
from elrcheck.lang.expr import Expression
from elrcheck.lang.ir import Fn, Let, Ret, StateView, blocks, fn_nodes
from elrcheck.lang.tree import walk


def lets_of(fn: Fn) -> dict[str, Expression]:
    """Return every LET of a function; local names are unique within a function."""
    lets = {block.name: block.value for block in blocks(fn.body) if isinstance(block, Let)}
    lets.update((node.name, node.value) for node in fn_nodes(fn) if isinstance(node, expr.LetIn))
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
                if isinstance(node, expr.Call):
                    callee = self.fns[node.function]
                    for (param, _), argument in zip(callee.params, node.args, strict=True):
                        if not self.is_rigid(fn.name, argument):
                            self._flexible.add((callee.name, param))
        return len(self._flexible) > before

    def is_rigid(self, within: str, e: Expression) -> bool:
        """Return whether an expression in the function `within` has the same value in every state."""
        for node in walk(e):
            match node:
                case expr.StateVariable():
                    return False
                case expr.Call() if self.fns[node.function].states:
                    return False
                case expr.Variable() if not self._name_is_rigid(within, node.name):
                    return False
        return True

    def _name_is_rigid(self, within: str, name: str) -> bool:
        if name in self._lets[within]:
            return self.is_rigid(within, self._lets[within][name])
        if name in self._params[within]:
            return (within, name) not in self._flexible
        return name not in self._loose[within]


def _loose_elements(fn: Fn) -> set[str]:
    """Return the bound names that are not quantified variables: parameters of a LAMBDA, or printed as an access."""
    names = set()
    for node in fn_nodes(fn):
        match node:
            case expr.First() | expr.SequenceFilter() | expr.Total():
                names.add(node.variable.name)
            case expr.Binder(over="seq"):
                names.add(node.variable.name)
    return names


class Branching:
    """Decides whether TLC would split a condition into branches."""

    def __init__(self, fns: Mapping[str, Fn]) -> None:
        self.fns = fns
        self._lets = {name: lets_of(fn) for name, fn in fns.items()}

    def branches(self, within: str, e: Expression) -> bool:
        match e:
            case expr.Junction(op="or") | expr.Quantifier(op="any"):
                return True
            case expr.Quantifier():  # TLC takes \A for a conjunction
                return self.branches(within, e.body)
            case expr.Junction() | expr.NamedConjunction():
                return any(self.branches(within, part) for part in e.parts)
            case expr.IfElse():
                return self.branches(within, e.then) or self.branches(within, e.orelse)
            case expr.Implies():
                return self.branches(within, e.conclusion)
            case expr.LetIn():
                return self.branches(within, e.body)
            case expr.Variable() if e.name in self._lets[within]:
                return self.branches(within, self._lets[within][e.name])
            case expr.Call():
                callee = self.fns[e.function]
                results = (block.value for block in blocks(callee.body) if isinstance(block, Ret))
                inside = any(self.branches(callee.name, r) for r in results if not isinstance(r, StateView))
                return inside or any(self.branches(within, a) for a in e.args if a.ty.kind == "bool")
            case _:
                return False
