"""The named guards of an action, and the action with one of its guards removed.

`without_guard` changes both readings of an action in the same way: the IR loses the `Require` node, and the plain
function is recompiled from its source without that statement. So a trace of one can be replayed in the other, and no
global state changes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from elrcheck.lang import expr
from elrcheck.lang.expr import Expression
from elrcheck.lang.ir import Block, Fn, If, Let, Require, Ret, guard_names, requires
from elrcheck.lang.source import Source, recompiled
from elrcheck.lang.tree import walk


def guards_of_state(fn: Fn) -> tuple[str, ...]:
    """Return the guards that read the state; the others depend only on constants and arguments."""
    return tuple(dict.fromkeys(_of_state(fn.body, frozenset())))


def _of_state(block: Block, locals_: frozenset[str]) -> Iterator[str]:
    """Yield the guards of a block that read the state. locals_: names whose values depend on it."""
    match block:
        case Let(name=name, value=value, rest=rest):
            yield from _of_state(rest, locals_ | {name} if _reads(value, locals_) else locals_)
        case Require(condition=condition, name=name, rest=rest):
            if _reads(condition, locals_):
                yield name
            yield from _of_state(rest, locals_)
        case If(then=then, orelse=orelse):
            yield from _of_state(then, locals_)
            yield from _of_state(orelse, locals_)


def _reads(root: Expression, locals_: frozenset[str]) -> bool:
    """Return whether an expression depends on the state."""
    for e in walk(root):
        match e:
            case expr.StateVariable():
                return True
            case expr.Variable(name=name) if name in locals_:
                return True
            case expr.Call(states=(_, *_)):
                return True
    return False


def waivers(condition: Expression) -> tuple[Expression, ...]:
    """Return the alternatives of a guard that read settings alone: where one is true, the guard does not apply.

    Empty if the guard has none, or no other alternatives: then the settings are what it demands.
    """
    match condition:
        case expr.Junction(op="or", parts=parts):
            alternatives = parts
        case expr.Implies(premise=premise, conclusion=conclusion):
            alternatives = (expr.Not(premise), conclusion)
        case _:
            return ()
    waiving = tuple(part for part in alternatives if settings_read(part))
    return waiving if len(waiving) < len(alternatives) else ()


def conditional_guards(fn: Fn) -> dict[str, tuple[Expression, ...]]:
    """Return the guards that settings can waive, each with the conditions on settings that do."""
    return {guard.name: waiving for guard in requires(fn.body) if (waiving := waivers(guard.condition))}


def settings_read(root: Expression) -> tuple[str, ...]:
    """Return the settings that an expression reads; empty if it also reads the state, a parameter or a local."""
    names = []
    for e in walk(root):
        match e:
            case expr.StateVariable() | expr.Variable() | expr.Call() | expr.WholeConfig():
                return ()
            case expr.ConfigField(name=name):
                names.append(name)
    return tuple(dict.fromkeys(names))


def label(call: ast.Call) -> str:
    """Return the name of a guard: the second argument of `require`, or else the text of the condition."""
    condition, *name = call.args
    return str(name[0].value) if name and isinstance(name[0], ast.Constant) else ast.unparse(condition)


def without_guard(fn: Fn, name: str) -> Fn:
    """Return the action without the guard of this name, which must be one of `guard_names`."""
    if name not in guard_names(fn):
        raise ValueError(f"{fn.name} has no guard {name!r}")
    return replace(
        fn, body=_body(fn.body, name), source=recompiled(fn.source, _GuardRemover(name).visit(Source(fn.source).tree))
    )


def _body(block: Block, name: str) -> Block:
    match block:
        case Let(name=local, value=value, rest=rest):
            return Let(local, value, _body(rest, name))
        case Require(condition=condition, name=own, rest=rest):
            return _body(rest, name) if own == name else Require(condition, own, _body(rest, name))
        case If(condition=condition, then=then, orelse=orelse):
            return If(condition, _body(then, name), _body(orelse, name))
        case Ret():
            return block


class _GuardRemover(ast.NodeTransformer):
    """Removes the `require` statements of one name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        match node.value:
            case ast.Call(func=ast.Name(id="require")) as call if label(call) == self.name:
                return None
        return node
