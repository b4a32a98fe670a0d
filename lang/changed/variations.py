"""Every small change of a function: one comparison, set operation, constant or condition at a time.

A change replaces one node of the function's syntax tree before the function is compiled, so all readings see the same
change (see `altered`). Some changes do not fit the types, such as an intersection of numbers; the front end refuses
those.
"""

from __future__ import annotations

import ast
import copy
import enum
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from elrcheck.lang.source import Source

Kind: TypeAlias = Literal["comparison", "set", "constant", "condition"]
Replacement: TypeAlias = tuple[Kind, ast.expr | None]
LONGEST, NEARBY = 70, 16
"""The maximum length of an expression that is shown whole, and the characters around the difference in a longer one."""
_NEAR: Mapping[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt, ast.GtE, ast.Eq),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt, ast.LtE, ast.Eq),
    ast.Eq: (ast.NotEq, ast.LtE, ast.GtE),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
"""The replacements of each comparison. Of sets, <= and >= are inclusions."""
_OTHER: Mapping[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.BitOr: (ast.BitAnd,),
    ast.BitAnd: (ast.BitOr,),
    ast.Sub: (ast.BitAnd, ast.Add),
    ast.Add: (ast.Sub,),
}
_SWAPPED = {"all": "any", "any": "all", "min": "max", "max": "min"}


@dataclass(frozen=True)
class Variation:
    """One change. name: of the function and the change, stable while both are; line: in the file.

    before, after: the expression; tree: the whole function with the change.
    """

    function: str
    name: str
    kind: Kind
    line: int
    before: str
    after: str
    tree: ast.FunctionDef


def variations(
    function: Callable[..., Any], ghosts: Collection[str] = (), bounds: Collection[str] = ()
) -> Iterator[Variation]:
    """Yield every change of a decorated function.

    ghosts: fields of the state whose new values are not changed; bounds: fields of the configuration that only bound a
    search, whose comparisons with numbers are not changed.
    """
    source = Source(function)
    names: dict[str, int] = {}
    seen = {ast.dump(source.tree)}
    for number, node in enumerate(ast.walk(source.tree)):
        node.place = number  # type: ignore[attr-defined]
    for node in _places(source.tree, frozenset(ghosts), frozenset(bounds)):
        for kind, replacement in _changes(node, function.__globals__):
            tree = _swapped(source.tree, node, replacement)
            key = ast.dump(tree)
            if key in seen:
                continue
            seen.add(key)
            before, after = _around(_text(node), _text(replacement))
            name = f"{function.__name__}: {before} -> {after}"
            names[name] = names.get(name, 0) + 1
            more = f" #{names[name]}" if names[name] > 1 else ""
            yield Variation(function.__name__, name + more, kind, source.line_of(node), before, after, tree)


def _places(tree: ast.FunctionDef, ghosts: frozenset[str], bounds: frozenset[str] = frozenset()) -> Iterator[ast.AST]:
    """Yield the nodes that may be changed, outermost first, in source order."""
    for statement in tree.body:
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
            yield from _below(statement, ghosts, bounds)


def _below(node: ast.AST, ghosts: frozenset[str], bounds: frozenset[str]) -> Iterator[ast.AST]:
    if _only_bounds(node, bounds):
        return
    if isinstance(node, ast.expr | ast.If | ast.comprehension | ast.keyword):
        yield node
    for name, part in ast.iter_fields(node):
        if isinstance(node, ast.AnnAssign) and name == "annotation":
            continue
        parts = part if isinstance(part, list) else [part]
        for child in parts:
            if isinstance(child, ast.keyword) and child.arg in ghosts:
                continue
            if isinstance(child, ast.AST):
                yield from _below(child, ghosts, bounds)


def _only_bounds(node: ast.AST, bounds: frozenset[str]) -> bool:
    """Return whether the node compares a bound of a search with a number, or requires just that: `c.kills > 0`."""
    match node:
        case ast.Compare(left=ast.Attribute(value=ast.Name(), attr=name), comparators=[ast.Constant()]):
            return name in bounds
        case ast.Call(func=ast.Name(id="require"), args=[condition, *_]):
            return _only_bounds(condition, bounds)
    return False


def calls_of(function: Callable[..., Any], ghosts: Collection[str]) -> set[str]:
    """Return the names that a function calls, except for the values of ghosts."""
    names = set()
    for node in _places(Source(function).tree, frozenset(ghosts)):
        match node:
            case ast.Call(func=ast.Name(id=name)):
                names.add(name)
    return names


# ------------------------------------------------------------------------------------ the changes


def _changes(node: ast.AST, names: Mapping[str, Any]) -> Iterator[Replacement]:
    match node:
        case ast.Compare(ops=[operator], comparators=[least]):
            for other in _NEAR[type(operator)]:
                if isinstance(operator, ast.Eq) and other is ast.LtE and _is_least(least):
                    continue
                yield "comparison", ast.Compare(node.left, [other()], node.comparators)
        case ast.Compare():  # a < b < c: each half
            for k, operator in enumerate(node.ops):
                operators = [*node.ops[:k], _NEAR[type(operator)][0](), *node.ops[k + 1 :]]
                yield "comparison", ast.Compare(node.left, operators, node.comparators)
        case ast.BinOp(left=left, op=operator, right=right):
            for kind in _OTHER.get(type(operator), ()):
                yield "set", ast.BinOp(left, kind(), right)
            yield "set", left
            if isinstance(operator, ast.BitOr | ast.BitAnd):
                yield "set", right
        case ast.BoolOp(op=operator, values=values):
            yield "condition", ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values)
            for k in range(len(values)):
                others = [*values[:k], *values[k + 1 :]]
                yield "condition", others[0] if len(others) == 1 else ast.BoolOp(operator, others)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "condition", operand
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield "condition", body
            yield "condition", orelse
            if not isinstance(test, ast.Compare | ast.UnaryOp):
                yield "condition", ast.IfExp(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.Constant(value=bool() as value):
            yield "constant", ast.Constant(not value)
        case ast.Constant(value=int() as value):
            for number in sorted({value + 1, max(0, value - 1), 0} - {value}):
                yield "constant", ast.Constant(number)
        case ast.Attribute(value=ast.Name(id=name), attr=member):
            members = names.get(name)
            if isinstance(members, type) and issubclass(members, enum.Enum) and member in members.__members__:
                every = list(members.__members__)
                after = every[(every.index(member) + 1) % len(every)]
                yield "constant", ast.Attribute(node.value, after, ast.Load())
        case ast.Call():
            yield from _changed_calls(node)
        case ast.If(test=test):
            yield from _forced(node, test)
        case ast.comprehension(ifs=[_, *_]):
            yield "condition", None


def _is_least(node: ast.expr) -> bool:
    """Return whether the node is the least value of its type: the empty set, or 0."""
    match node:
        case ast.Name(id="EMPTY") | ast.Constant(value=0):
            return not (isinstance(node, ast.Constant) and isinstance(node.value, bool))
    return False


def _changed_calls(node: ast.Call) -> Iterator[Replacement]:
    match node:
        case ast.Call(func=ast.Name(id="require"), args=[condition, *name]):
            if not isinstance(condition, ast.Constant):
                yield "condition", ast.Call(node.func, [ast.Constant(True), *name], [])
        case ast.Call(func=ast.Name(id="implies"), args=[premise, conclusion]):
            yield "condition", conclusion
            yield "condition", ast.UnaryOp(ast.Not(), premise)
        case ast.Call(func=ast.Name(id="conj"), keywords=keywords) if len(keywords) > 1:
            for k in range(len(keywords)):
                yield "condition", ast.Call(node.func, [], [*keywords[:k], *keywords[k + 1 :]])
        case ast.Call(func=ast.Name(id=name)) if name in _SWAPPED and len(node.args) <= 2:
            quantified: Kind = "condition" if name in ("all", "any") else "comparison"
            yield quantified, ast.Call(ast.Name(_SWAPPED[name], ast.Load()), node.args, node.keywords)


def _forced(node: ast.If, test: ast.expr) -> Iterator[Replacement]:
    """Yield conditions that always or never hold, and the negation where no comparison can be changed instead."""
    for value in (True, False):
        yield "condition", ast.Constant(value)
    if not isinstance(test, ast.Compare | ast.UnaryOp):
        yield "condition", ast.UnaryOp(ast.Not(), test)


def _swapped(tree: ast.FunctionDef, old: ast.AST, new: ast.expr | None) -> ast.FunctionDef:
    """Return a copy of the tree with one node replaced: of `if`, its condition; of a comprehension, its filters."""
    copied = copy.deepcopy(tree)
    changed: ast.FunctionDef = _Swap(old.place, copy.deepcopy(new)).visit(copied)  # type: ignore[attr-defined]
    return ast.fix_missing_locations(changed)


class _Swap(ast.NodeTransformer):
    def __init__(self, place: int, new: ast.expr | None) -> None:
        self.place, self.new = place, new

    def visit(self, node: ast.AST) -> Any:
        if getattr(node, "place", None) != self.place:
            return self.generic_visit(node)
        match node:
            case ast.If():
                assert self.new is not None
                node.test = ast.copy_location(self.new, node.test)
                return node
            case ast.comprehension():
                node.ifs = []
                return node
        assert self.new is not None
        return ast.copy_location(self.new, node)


def _text(node: ast.AST | None) -> str:
    """Format a node on one line."""
    match node:
        case None:
            text = "without its condition"
        case ast.If(test=test):
            text = f"if {ast.unparse(test)}"
        case ast.comprehension():
            text = ast.unparse(node).strip()
        case _:
            text = ast.unparse(node)
    return " ".join(text.split())


def _around(before: str, after: str) -> tuple[str, str]:
    """Return two texts if they are short, else their difference with a few words around it."""
    if max(len(before), len(after)) <= LONGEST:
        return before, after
    start = next((k for k, (x, y) in enumerate(zip(before, after, strict=False)) if x != y), 0)
    start = max(0, before.rfind(" ", 0, max(0, start - NEARBY)) + 1)
    least = min(len(before), len(after)) - start
    end = next((k for k in range(least) if before[-1 - k] != after[-1 - k]), least)
    end = max(0, end - NEARBY)
    excerpts = (text[start : len(text) - end].strip() for text in (before, after))
    dots = (".. " if start else "", " .." if end else "")
    first, second = (f"{dots[0]}{text}{dots[1]}" for text in excerpts)
    return first, second
