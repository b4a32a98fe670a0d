"""Comprehensions of the modelling language: all, any, sum, min, max, tuple, frozenset and next."""

from __future__ import annotations

import ast
from typing import Any, Literal, TypeAlias

from elrcheck.lang import expr
from elrcheck.lang.compiler.scope import Env
from elrcheck.lang.compiler.whole_types import WHOLE_MAP, WholeTypes
from elrcheck.lang.expr import Expression
from elrcheck.lang.source import placed
from elrcheck.lang.tree import same
from elrcheck.lang.types import INT, Ty, opt, set_of

BINDERS = ("all", "any", "sum", "min", "max", "tuple", "frozenset", "next")
SEVERAL = ("all", "any", "sum", "min", "max", "frozenset")
"""Those that take several 'for'."""
Bounds: TypeAlias = dict[str, Any]
"""The fields of a binder: its variable, domain, filter, and the begin of a range."""


class Binders(WholeTypes):
    """Everything written as NAME(.. for .. in ..)."""

    def binder(self, name: str, node: ast.Call, generator: ast.GeneratorExp, env: Env) -> Expression:
        """Compile a comprehension; one with several 'for' as comprehensions inside each other."""
        several = len(generator.generators) > 1
        if several and name not in SEVERAL:
            self.source.error(generator, f"{name}() takes one 'for'; {', '.join(SEVERAL)} take several")
        self._only(name, node)
        default = next((k.value for k in node.keywords if k.arg == "default"), None)
        if name in ("min", "max") and default is None:
            self.source.error(node, f"{name}() over a comprehension needs default=")
        if several:
            generator = _nested(name, generator, node.keywords)
        bounds, inner = self._bounds(generator.generators[0], env)
        element = generator.elt
        match name:
            case "all" | "any":
                return expr.Quantifier(**bounds, op=name, body=self.boolean(element, inner))
            case "sum":
                return self._sum(element, bounds, inner)
            case "min" | "max":
                assert default is not None
                return self._extreme_number(name, element, default, bounds, env, inner)
            case "tuple":
                return self._tuple_comprehension(node, element, bounds, inner)
            case "frozenset":
                return self._set_comprehension(element, bounds, inner, several)
            case _:
                return self._first(node, element, bounds, inner)

    def _bounds(self, loop: ast.comprehension, env: Env) -> tuple[Bounds, Env]:
        """Return the fields of a binder, and the names in its body."""
        name = loop.target.id if isinstance(loop.target, ast.Name) else "both"
        variable, domain, kind, begin = self._domain(name, loop.iter, env)
        inner = {**env, **self.named(loop.target, variable)}
        tests = tuple(self.boolean(test, inner) for test in loop.ifs)
        condition = None if not tests else tests[0] if len(tests) == 1 else expr.Junction("and", tests)
        bounds = {"variable": variable, "over": kind, "domain": domain, "condition": condition, "begin": begin}
        return bounds, inner

    def _sum(self, element: ast.expr, bounds: Bounds, inner: Env) -> Expression:
        if isinstance(element, ast.Constant) and element.value == 1:
            hi = bounds["domain"].ty.hi if bounds["over"] == "seq" else None
            return expr.Count(Ty("nat", "int", hi=hi), **bounds)
        return expr.Total(INT, **bounds, body=self.number(element, inner))

    def _extreme_number(
        self, op: Literal["min", "max"], element: ast.expr, default: ast.expr, bounds: Bounds, env: Env, inner: Env
    ) -> Expression:
        """Compile the least or greatest number or member of a sort, with a default that may be None."""
        body = self.part(element, inner)
        if body.ty.kind != "member":
            body = self.number(element, inner)
        otherwise = self.part(default, env)
        ty = body.ty
        if otherwise.ty.kind in ("none", "opt"):
            if ty == INT or ty.lo < 0:
                self.source.error(default, "default=None stands beside members and numbers that are never negative")
            ty = opt(ty)
        elif ty.kind != "member":
            return expr.Extreme(ty, **bounds, op=op, body=body, default=self.number(default, env))
        return expr.Extreme(
            ty, **bounds, op=op, body=self.coerce(body, ty, element), default=self.coerce(otherwise, ty, default)
        )

    def _set_comprehension(self, element: ast.expr, bounds: Bounds, inner: Env, several: bool) -> Expression:
        collected, domain = self.part(element, inner), bounds["domain"]
        if several:
            return expr.Union(collected.ty, **bounds, body=collected)
        if same(collected, bounds["variable"]) and bounds["over"] == "set":
            return expr.Filter(domain.ty, **bounds)
        return expr.Image(set_of(collected.ty), **bounds, body=collected)

    def _first(self, node: ast.Call, element: ast.expr, bounds: Bounds, inner: Env) -> Expression:
        variable, domain, kind = bounds["variable"], bounds["domain"], bounds["over"]
        if not same(self.part(element, inner), variable):
            self.source.error(element, "next() only filters: next((x for x in X if condition), None)")
        numbered = isinstance(domain, expr.WholeSort) and variable.ty.kind in ("member", "nat")
        ordered = kind == "seq" or numbered or (kind == "range" and bounds["begin"] is None)
        if not ordered or len(node.args) != 2 or ast.unparse(node.args[1]) != "None":
            self.source.error(
                node,
                "next((x for x in X if condition), None) takes the first of a sequence, a range or range(c.nodes)",
                "of a set, min((x for x in X if condition), default=None) is the least",
            )
        return expr.First(variable.ty if variable.ty.kind == "opt" else opt(variable.ty), **bounds)

    def _tuple_comprehension(self, node: ast.Call, element: ast.expr, bounds: Bounds, inner: Env) -> Expression:
        body, domain = self.part(element, inner), bounds["domain"]
        if bounds["over"] == "seq" and same(body, bounds["variable"]):
            return expr.SequenceFilter(domain.ty, **bounds)
        if not isinstance(domain, expr.WholeSort) or bounds["condition"] is not None:
            self.source.error(node, "tuple() builds a vector, tuple(.. for n in range(c.nodes)), or filters a sequence")
        if domain.ty.elem.kind != "member":
            self.source.error(node, f"one value for each {domain.ty.elem} is a map: {WHOLE_MAP}")
        return expr.VectorOf(Ty("vec", "vector", body.ty, index=domain.ty.elem), bounds["variable"], body)

    def _only(self, name: str, node: ast.Call) -> None:
        """Refuse arguments beside the comprehension that the function does not take."""
        more = [ast.unparse(a) for a in node.args[2 if name == "next" else 1 :]]
        more += [f"{k.arg}=" for k in node.keywords if k.arg != "default" or name not in ("min", "max")]
        if more:
            self.source.error(node, f"{name}() takes a comprehension here and no {', '.join(more)}")

    # ------------------------------------------------------------------------- domains

    def _domain(
        self, name: str, node: ast.expr, env: Env
    ) -> tuple[expr.Variable, Expression, expr.Domain, Expression | None]:
        """Return the variable of a loop, its domain and the kind of it, and the begin of a range if it is not 0."""
        local = self.fresh(name)
        whole = self.whole_sort(node, env)
        if whole is not None:
            return expr.Variable(whole.ty.elem, local), whole, "set", None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
            if node.keywords or len(node.args) not in (1, 2):
                self.source.error(node, "write range(n), from 0 to n - 1, or range(m, n), from m to n - 1")
            domain = self.number(node.args[-1], env)
            begin = self.number(node.args[0], env) if len(node.args) == 2 else None
            if isinstance(begin, expr.Constant) and begin.value == 0:
                begin = None
            ty = Ty("nat", "int", hi=domain.ty.hi) if begin is None else INT
            return expr.Variable(ty, local), domain, "range", begin
        domain = self.held(node, env)
        if domain.ty.kind == "set":
            return expr.Variable(domain.ty.elem, local), domain, "set", None
        if domain.ty.kind == "seq":
            return expr.Variable(domain.ty.elem, local), domain, "seq", None
        help = "contents(bag) is what a bag has, every(c, T) all keys of a map" if domain.ty.is_map else ""
        self.source.error(node, f"iterate over a set, a sequence or range(n), not over {domain.ty}", help)


def plain_generator(domain: ast.expr) -> ast.GeneratorExp:
    """Return the comprehension of all elements of a domain."""
    loop = ast.comprehension(ast.Name("x", ast.Store()), domain, [], 0)
    return placed(ast.GeneratorExp(ast.Name("x", ast.Load()), [loop]), domain)


def _nested(name: str, generator: ast.GeneratorExp, keywords: list[ast.keyword]) -> ast.GeneratorExp:
    """Return a comprehension over the first 'for' whose element is one over the others.

    For a minimum or maximum, the first 'for' skips values for which the inner comprehension is empty.
    """
    first, *others = generator.generators
    element = ast.Call(ast.Name(name, ast.Load()), [ast.GeneratorExp(generator.elt, others)], keywords)
    if keywords:
        anything = ast.GeneratorExp(ast.Constant(True), others)
        some = ast.Call(ast.Name("any", ast.Load()), [anything], [])
        first = ast.comprehension(first.target, first.iter, [*first.ifs, placed(some, generator)], 0)
    return placed(ast.GeneratorExp(element, [first]), generator)
