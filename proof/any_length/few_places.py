"""Which predicates a sample of a sequence decides: loops that are not negated, broken by few places together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from elrcheck.lang import expr
from elrcheck.lang.expr import Expression
from elrcheck.lang.ir import Fn, Ret, StateView, block_expressions, blocks
from elrcheck.lang.source import ModelError
from elrcheck.lang.tree import children
from elrcheck.proof.any_length.samples import FREE


def demand_few_places(fns: Mapping[str, Fn], checked: Iterable[Fn], lifted: Collection[str]) -> None:
    """Raise ModelError for a predicate that a sample does not decide, since too many places may break it together."""
    places = _Places(fns, lifted)
    for fn in checked:
        needed = places.of_function(fn.name)
        if needed > FREE:
            help = f"compare at most {FREE} elements in a lemma; divide it into several"
            raise ModelError(f"{fn.name} needs {needed} places of a sequence of any length", help=help)


def demand_no_loops(fns: Mapping[str, Fn], rules: Iterable[Fn], lifted: Collection[str]) -> None:
    """Raise ModelError for a rule that loops over a sequence of any length."""
    places = _Places(fns, lifted)
    for fn in rules:
        if places.of_function(fn.name):
            help = "a rule may read single elements of the sequence"
            raise ModelError(f"{fn.name} loops over a sequence of any length", help=help)


class _Places:
    """Counts the places that break a predicate together: a sum over alternatives, the greatest of conjuncts."""

    def __init__(self, fns: Mapping[str, Fn], lifted: Collection[str]) -> None:
        self.fns, self.lifted = fns, frozenset(lifted)
        self._functions: dict[str, int] = {}

    def of_function(self, name: str) -> int:
        if name not in self._functions:
            body = list(blocks(self.fns[name].body))
            results = [part.value for part in body if isinstance(part, Ret) and not isinstance(part.value, StateView)]
            for e in block_expressions(body[0]):
                if not any(e is result for result in results):
                    self._demand_none(e, name)
            self._functions[name] = max((self._of(result, name) for result in results), default=0)
        return self._functions[name]

    def _of(self, e: Expression, name: str) -> int:
        match e:
            case expr.Junction(op="or"):
                return sum(self._of(part, name) for part in e.parts)
            case expr.Junction() | expr.NamedConjunction():
                return max((self._of(part, name) for part in e.parts), default=0)
            case expr.Implies():
                self._demand_none(e.premise, name)
                return self._of(e.conclusion, name)
            case expr.IfElse():
                self._demand_none(e.condition, name)
                return max(self._of(e.then, name), self._of(e.orelse, name))
            case expr.LetIn():
                self._demand_none(e.value, name)
                return self._of(e.body, name)
            case expr.Call():
                for arg in e.args:
                    self._demand_none(arg, name)
                return self.of_function(e.function)
            case expr.Quantifier(op="all"):
                for part in (e.begin, e.condition):
                    if part is not None:
                        self._demand_none(part, name)
                return int(self._is_loop(e)) + self._of(e.body, name)
            case _:
                self._demand_none(e, name)
                return 0

    def _is_loop(self, e: Expression) -> bool:
        """Return whether a node ranges over a sequence of any length."""
        if not isinstance(e, expr.Binder):
            return False
        over = e.domain.sequence if isinstance(e.domain, expr.Length) else e.domain
        return over.ty.kind == "seq" and over.ty.hi in self.lifted

    def _demand_none(self, e: Expression, name: str) -> None:
        """Raise ModelError for a loop in a place where it might be negated."""
        inside = self.of_function(e.function) if isinstance(e, expr.Call) else 0
        if inside or self._is_loop(e):
            help = "write all(.. for k in range(len(..))) as a conjunct or a conclusion, not in a condition"
            raise ModelError(f"{name} may negate a loop over a sequence of any length", help=help)
        for part in children(e):
            self._demand_none(part, name)
