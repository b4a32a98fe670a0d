"""Rewrites `match` statements as `if`, `elif` and `else`.

A pattern becomes conditions and assignments of names. Each of them repeats the subject, which has no side effects.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from elrcheck.lang.source import placed
from elrcheck.lang.types import Ty

Refuse = Callable[[ast.AST, str, str], NoReturn]
TypeOf = Callable[[ast.expr], Ty]


@dataclass(frozen=True)
class Matched:
    """The conditions of a pattern, and the names that it binds, each with the part of the subject that it names."""

    tests: tuple[ast.expr, ...] = ()
    names: tuple[tuple[str, ast.expr], ...] = ()

    def and_also(self, other: Matched) -> Matched:
        return Matched(self.tests + other.tests, self.names + other.names)


class Matching:
    """Rewrites the match statements of one function. type_of: of an expression; refuse: raises an error at a node."""

    def __init__(self, globals_: dict[str, object], type_of: TypeOf, refuse: Refuse) -> None:
        self.globals, self.type_of, self.refuse = globals_, type_of, refuse

    def as_if(self, node: ast.Match) -> list[ast.stmt]:
        """Return the equivalent statements: an `if`, or the body of a case that always matches."""
        exhausts = self._exhausts(node)
        result: list[ast.stmt] = []
        for number, case in reversed(list(enumerate(node.cases, start=1))):
            earlier = [other.pattern for other in node.cases[: number - 1] if other.guard is None]
            matched = self._pattern(case.pattern, node.subject, any("None" in _values(other) for other in earlier))
            tests = list(matched.tests) if number < len(node.cases) or not exhausts else []
            if case.guard is not None:
                tests.append(_Named(dict(matched.names)).visit(copy.deepcopy(case.guard)))
            named = [ast.Assign([ast.Name(name, ast.Store())], value) for name, value in matched.names]
            body = [*named, *case.body]
            result = [ast.If(_all(tests), body, result)] if tests else body
        for statement in result:
            placed(statement, node)
        return result

    def _exhausts(self, node: ast.Match) -> bool:
        """Return whether the cases cover every member of an enum, or both truths, so that the last needs no test."""
        ty = self.type_of(node.subject)
        if ty.kind not in ("enum", "bool") or node.cases[-1].guard is not None:
            return False
        every = set(ty.members) if ty.kind == "enum" else {"True", "False"}
        return every <= {name for case in node.cases if case.guard is None for name in _values(case.pattern)}

    def _pattern(self, pattern: ast.pattern, subject: ast.expr, present: bool = False) -> Matched:
        """Return the conditions and names of a pattern. present: the subject is not None."""
        match pattern:
            case ast.MatchValue(value=value):
                return Matched((ast.Compare(subject, [ast.Eq()], [value]),))
            case ast.MatchSingleton(value=None):
                return Matched((ast.Compare(subject, [ast.Is()], [ast.Constant(None)]),))
            case ast.MatchSingleton(value=truth):
                return Matched((subject if truth else ast.UnaryOp(ast.Not(), subject),))
            case ast.MatchAs(pattern=inner, name=name):
                matched = Matched() if inner is None else self._pattern(inner, subject, present)
                return matched if name is None else matched.and_also(Matched((), ((name, subject),)))
            case ast.MatchOr(patterns=patterns):
                ways = [self._pattern(inner, subject, present) for inner in patterns]
                if any(way.names for way in ways):
                    self.refuse(pattern, "alternatives of a pattern cannot bind names", "write a case for each")
                if not all(way.tests for way in ways):
                    return Matched()
                return Matched((ast.BoolOp(ast.Or(), [_all(list(way.tests)) for way in ways]),))
            case ast.MatchSequence(patterns=patterns) if not any(isinstance(p, ast.MatchStar) for p in patterns):
                return self._pair(pattern, patterns, subject)
            case ast.MatchClass():
                return self._record(pattern, subject, present)
            case _:
                help = "a case is an enum member, a number, None, a record with its fields by name, a name or _"
                self.refuse(pattern, "this pattern is not in the modelling language", help)

    def _pair(self, pattern: ast.pattern, patterns: list[ast.pattern], subject: ast.expr) -> Matched:
        """Return the conditions and names of a pattern for a pair, or for several values: `match a, b:`."""
        if isinstance(subject, ast.Tuple) and len(subject.elts) == len(patterns):
            parts = subject.elts
        elif len(self.type_of(subject).parts) == len(patterns):
            numbers = [ast.Constant(k) for k in range(len(patterns))]
            parts = [placed(ast.Subscript(subject, k, ast.Load()), pattern) for k in numbers]
        else:
            self.refuse(pattern, f"the subject is {self.type_of(subject)}, not of {len(patterns)} parts", "")
        matched = Matched()
        for part, inner in zip(parts, patterns, strict=True):
            matched = matched.and_also(self._pattern(inner, part))
        return matched

    def _record(self, pattern: ast.MatchClass, subject: ast.expr, present: bool) -> Matched:
        ty = self.type_of(subject)
        cls = self.globals.get(pattern.cls.id) if isinstance(pattern.cls, ast.Name) else None
        if ty.present.cls is not cls or ty.present.kind != "record":
            self.refuse(pattern, f"the subject is {ty}, and never {ast.unparse(pattern.cls)}", "")
        if pattern.patterns:
            self.refuse(pattern, "a pattern names the fields of a record", f"write {ty.present}(field=..)")
        something = ast.Compare(subject, [ast.IsNot()], [ast.Constant(None)])
        matched = Matched((something,)) if ty.kind == "opt" and not present else Matched()
        for name, inner in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
            field = ast.Attribute(subject, name, ast.Load())
            matched = matched.and_also(self._pattern(inner, placed(field, pattern)))
        return matched


def _values(pattern: ast.pattern) -> set[str]:
    """Return the enum members, truths and None among the alternatives of a pattern, as texts."""
    match pattern:
        case ast.MatchValue(value=ast.Attribute(attr=name)):
            return {name}
        case ast.MatchSingleton(value=value):
            return {str(value)}
        case ast.MatchOr(patterns=patterns):
            return {name for inner in patterns for name in _values(inner)}
        case _:
            return set()


def _all(tests: list[ast.expr]) -> ast.expr:
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)


class _Named(ast.NodeTransformer):
    """Replaces the names that a pattern binds by the parts that they name."""

    def __init__(self, names: dict[str, ast.expr]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.names.get(node.id, node)
