"""Compiles domains of all values of a finite type, `range(c.nodes)`, `Mode`, `every(c, Vote)`, and maps over them.

A type inside a function is read from its syntax and the names of the module; nothing is evaluated.
"""

from __future__ import annotations

import ast
import builtins
import enum
from typing import Any

from elrcheck.lang import expr
from elrcheck.lang.compiler.scope import Env, Scope
from elrcheck.lang.domains import every
from elrcheck.lang.expr import Expression
from elrcheck.lang.runtime import Map
from elrcheck.lang.tree import sorts_in
from elrcheck.lang.types import INT, ModelTypeError, Ty, is_finite, set_of, type_of

WHOLE_MAP = "Map({k: .. for k in Mode}), also over every(c, Vote)"


class WholeTypes(Scope):
    """Domains that are a whole type, and maps."""

    def whole_sort(self, node: ast.expr, env: Env) -> expr.WholeSort | None:
        """Compile the set of all values of a type, or return None for another expression.

        It is `range(c.nodes)`, if `nodes` is the size of a sort; a property that is all members of one; an enum; or
        `every(c, T)`.
        """
        match node:
            case ast.Call(func=ast.Name(id="range"), args=[ast.Attribute() as size]):
                number = self.part(size, env)
                sorts = [*self.functions.sorts.values(), *sorts_in(*self.types).values()]
                sized = [ty for ty in sorts if isinstance(number, expr.ConfigField) and ty.size == number.name]
                return expr.WholeSort(set_of(sized[0])) if sized else None
            case ast.Call(func=ast.Name(id=name)) if self.globals.get(name) is every:
                return self._every(node, env)
            case ast.Attribute():
                whole = self.part(node, env)
                return whole if isinstance(whole, expr.WholeSort) else None
            case ast.Name(id=name) if name not in env:
                kind = self.globals.get(name)
                is_enum = isinstance(kind, type) and issubclass(kind, enum.Enum)
                return expr.WholeSort(set_of(type_of(kind))) if is_enum else None
        return None

    def _every(self, node: ast.Call, env: Env) -> expr.WholeSort:
        if node.keywords or len(node.args) != 2 or self.part(node.args[0], env).ty.kind != "config":
            self.source.error(node, "write every(c, T): the configuration, and a type")
        try:
            ty = type_of(self._written_type(node.args[1]))
        except ModelTypeError as fault:
            self.source.error(node.args[1], str(fault), fault.help)
        if not is_finite(ty):
            help = 'a number has a limit: Annotated[int, nat("Name", hi=3)]'
            self.source.error(node.args[1], f"{ty} is infinite", help)
        return expr.WholeSort(set_of(ty))

    def _written_type(self, node: ast.expr) -> Any:
        """Return the annotation that an expression writes: names, frozenset[T], tuple[A, B] and T | None."""
        match node:
            case ast.Constant(value=None):
                return None
            case ast.Name(id=name) if name in self.globals or hasattr(builtins, name):
                return self.globals.get(name, getattr(builtins, name, None))
            case ast.Subscript(value=ast.Name(id="frozenset"), slice=part):
                return frozenset[self._written_type(part)]  # type: ignore[misc]
            case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=parts)):
                return tuple[tuple(map(self._written_type, parts))]  # type: ignore[misc]
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self._written_type(left) | self._written_type(right)
        self.source.error(node, "a type is a name, frozenset[T], tuple[A, B] or T | None")

    # ------------------------------------------------------------------------- maps

    def map_display(self, node: ast.Call, env: Env) -> Expression:
        """Compile `Map({k: body for k in D})`, where D has all keys."""
        display = node.args[0] if len(node.args) == 1 and not node.keywords else None
        if not isinstance(display, ast.DictComp) or len(display.generators) != 1:
            self.source.error(node, f"a map is made with an entry for every key: {WHOLE_MAP}")
        loop = display.generators[0]
        domain = self.whole_sort(loop.iter, env)
        if domain is None or loop.ifs:
            self.source.error(loop.iter, f"a map has an entry for every key, whatever the state: {WHOLE_MAP}")
        if domain.ty.elem.kind == "member":
            self.source.error(node, "one value for each member of a sort is tuple(.. for n in range(c.nodes))")
        if _bare(display.key) != _bare(loop.target):
            self.source.error(display.key, f"the key is what 'for' names: {ast.unparse(loop.target)}")
        name = loop.target.id if isinstance(loop.target, ast.Name) else "both"
        variable = expr.Variable(domain.ty.elem, self.fresh(name))
        body = self.part(display.value, {**env, **self.named(loop.target, variable)})
        return expr.VectorOf(Ty("vec", "map", body.ty, index=domain.ty.elem, cls=Map), variable, body)

    def bag_update(self, op: expr.Operator, node: ast.Call, env: Env) -> Expression:
        """Compile `add(bag, element)` or `remove(bag, element)`."""
        usage = f"{'add' if op == 'add' else 'remove'}(bag, element)"
        bag, element = self._bag(node, 2, usage, env), self.part(node.args[1], env)
        where = self.coerce(element, bag.ty.keys, node.args[1])
        copies = expr.VectorGet(bag.ty.elem, bag, where)
        return expr.VectorPut(bag.ty, bag, where, expr.Arithmetic(op, copies, expr.Constant(INT, 1)))

    def contents(self, node: ast.Call, env: Env) -> Expression:
        """Compile `contents(bag)`: the set of elements with a copy."""
        bag = self._bag(node, 1, "contents(bag)", env)
        every_key = expr.WholeSort(set_of(bag.ty.keys))
        key = expr.Variable(bag.ty.keys, self.fresh("element"))
        some = expr.Compare("gt", expr.VectorGet(bag.ty.elem, bag, key), expr.Constant(INT, 0))
        return expr.Filter(every_key.ty, key, "set", every_key, some)

    def taken(self, node: ast.Call, count: int, usage: str) -> list[ast.expr]:
        """Return the arguments of a built-in function, which takes exactly this number of them, by position."""
        if node.keywords or len(node.args) != count:
            self.source.error(node, f"write {usage}")
        return node.args

    def _bag(self, node: ast.Call, count: int, usage: str, env: Env) -> Expression:
        bag = self.part(self.taken(node, count, usage)[0], env)
        if not bag.ty.is_map or bag.ty.elem.kind != "nat" or bag.ty.elem.hi is None:
            help = 'Map[Message, Copies] with Copies = Annotated[int, nat("Copies", hi=2)]'
            self.source.error(node.args[0], f"a bag is a map to bounded numbers, this is {bag.ty}", help)
        return bag


def _bare(node: ast.expr) -> str:
    """Return the text of a name, or of names in parentheses."""
    return ast.unparse(node).replace("(", "").replace(")", "").replace(" ", "")
