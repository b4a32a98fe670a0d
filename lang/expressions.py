"""Expressions of the modelling language: names, operators, comparisons, set and record access.

Calls and comprehensions are in `elrcheck.lang.calls`. Types are checked here, at load time: a
comparison of a set with a broker or a condition that is not a boolean is an error with its place.
"""

from __future__ import annotations

import ast
import enum
from typing import TYPE_CHECKING, Any, NoReturn

from elrcheck.lang.calls import Calls
from elrcheck.lang.ir import E, View
from elrcheck.lang.source import Source, near
from elrcheck.lang.types import BOOL, INT, NONE, REPLICA, RSET, Ty, opt, record_fields, type_of

if TYPE_CHECKING:
    from elrcheck.lang.frontend import Frontend

Env = dict[str, Any]


# Kind of Python expression that the language does not have -> its name, and what to write instead.
FOREIGN = {
    "ListComp": ("a list", "tuple(x for b in c.brokers) is a Vec, tuple(x for x in sequence if ..) filters"),
    "SetComp": ("a set comprehension", "frozenset(b for b in set if ..) filters a set of brokers"),
    "GeneratorExp": ("a bare generator", "it stands in all(..), any(..), tuple(..) and the like"),
    "DictComp": ("a dict", "one value for each broker is a Vec: tuple(x for b in c.brokers)"),
    "List": ("a list", "a sequence starts as () and grows by log + (entry,)"),
    "Dict": ("a dict", "one value for each broker is a Vec: tuple(x for b in c.brokers)"),
    "Lambda": ("lambda", "write a function of its own and decorate it with @op"),
    "JoinedStr": ("a text", "a set of possible values is an enum.Enum"),
    "NamedExpr": (":=", "assign the name in a line of its own"),
}


class Expressions(Calls):
    """Turns one Python expression into one IR node."""

    def __init__(self, frontend: Frontend, source: Source, globals_: dict[str, Any]) -> None:
        self.frontend, self.source, self.globals = frontend, source, globals_
        self.used: set[str] = set()

    def fresh(self, name: str) -> str:
        """A local name that no other local of the function has."""
        while name in self.used:
            name += "_"
        self.used = self.used | {name}
        return name

    def ex(self, node: ast.expr, env: Env) -> Any:
        """E, or a View for a whole state."""
        method = getattr(self, "x_" + type(node).__name__, None)
        if method is None:
            name, help = FOREIGN.get(type(node).__name__, (type(node).__name__, ""))
            self.source.error(node, f"{name} is not in the modelling language", help)
        made = method(node, env)
        if isinstance(made, E) and not made.line:
            made.line = self.source.line_of(node)
        if isinstance(made, E) and made.node is None:
            made.node = node
        return made

    def part(self, node: ast.expr, env: Env) -> E:
        """An expression that is no whole state."""
        made = self.ex(node, env)
        if isinstance(made, View):
            self.source.error(node, "this is a whole state: name a part of it, such as s.partition")
        return made  # type: ignore[no-any-return]

    # ------------------------------------------------------------------------- types

    def boolean(self, node: ast.expr, env: Env) -> E:
        made = self.ex(node, env)
        if isinstance(made, View) or made.ty.kind != "bool":
            what = "the state" if isinstance(made, View) else str(made.ty)
            self.source.error(
                node, f"a condition must be a bool, this is {what}: write an explicit comparison"
            )
        return made  # type: ignore[no-any-return]

    def number(self, node: ast.expr, env: Env) -> E:
        made = self.ex(node, env)
        if (
            isinstance(made, View)
            or made.ty.kind not in ("nat", "opt")
            or (made.ty.kind == "opt" and made.ty.elem.kind != "nat")
        ):
            what = "the state" if isinstance(made, View) else str(made.ty)
            self.source.error(node, f"a number is expected, this is {what}")
        return E("get", made.ty.elem, (made,)) if made.ty.kind == "opt" else made

    def coerce(self, made: Any, ty: Ty, node: ast.AST) -> E:
        """The expression at the wanted type; an error when it cannot have it."""
        if isinstance(made, View):
            self.source.error(node, f"expected {ty}, this is a whole state")
        e: E = made
        if ty.kind == "opt":
            if e.ty.kind == "none":
                return E("none", ty, line=e.line)
            if e.ty.kind != "opt":
                return E("some", ty, (self.coerce(e, ty.elem, node),), line=e.line)
        if e.ty.kind == "opt" and ty.kind == e.ty.elem.kind:
            return E("get", ty, (e,), line=e.line)
        if ty.kind == "replica" and e.kind == "const":
            return E("const", ty, x=e.x)
        if ty.kind == "seq" and e.kind == "seqnil":
            return E("seqnil", ty)
        same = e.ty.kind == ty.kind and (ty.kind not in ("enum", "record") or e.ty.cls is ty.cls)
        if same and ty.kind in ("vec", "seq", "opt"):
            same = e.ty.elem.kind == ty.elem.kind or e.ty.elem.kind == "none"
        if not same:
            self.source.error(node, f"expected {ty}, this is {e.ty}")
        if ty.kind == "vec" and e.kind == "vecmk":
            return E("vecmk", ty, (self.coerce(e.args[0], ty.elem, node),), e.x, e.line)
        return e

    def ite(self, condition: E, a: Any, b: Any, node: ast.AST) -> Any:
        if isinstance(a, View) and isinstance(b, View):
            fields = {
                f: (
                    a.fields[f]
                    if a.fields[f] is b.fields[f]
                    else self.ite(condition, a.fields[f], b.fields[f], node)
                )
                for f in a.fields
            }
            return View(a.name, fields, False)
        if isinstance(a, View) or isinstance(b, View):
            self.source.error(node, "one side is a whole state, the other is not")
        ty = a.ty
        if a.ty.kind == "none" or b.ty.kind == "none":
            other = b.ty if a.ty.kind == "none" else a.ty
            ty = other if other.kind in ("opt", "none") else opt(other)
        elif "opt" in (a.ty.kind, b.ty.kind):
            ty = a.ty if a.ty.kind == "opt" else b.ty
        elif a.kind == "seqnil" or (a.kind == "const" and b.ty.kind == "nat"):
            ty = b.ty
        if ty.kind == "none":
            return a
        return E("ite", ty, (condition, self.coerce(a, ty, node), self.coerce(b, ty, node)))

    # ------------------------------------------------------------------------- names and constants

    def value(self, value: Any, node: ast.AST) -> E:
        if isinstance(value, bool):
            return E("const", BOOL, x=value)
        if isinstance(value, int):
            return E("const", INT, x=value)
        if isinstance(value, frozenset) and not value:
            return E("setlit", RSET)
        if isinstance(value, enum.Enum):
            return E("enumc", type_of(type(value)), x=value.name)
        self.source.error(
            node,
            f"the Python value {value!r} cannot be used in a model",
            "constants are bools, whole numbers, enum members and EMPTY; a function is called: f(..)",
        )

    def x_Constant(self, node: ast.Constant, env: Env) -> E:
        return E("none", NONE) if node.value is None else self.value(node.value, node)

    def x_Name(self, node: ast.Name, env: Env) -> Any:
        if node.id in env:
            return env[node.id]
        if node.id in self.globals:
            return self.value(self.globals[node.id], node)
        self.source.error(node, f"unknown name '{node.id}'", near(node.id, [*env, *self.globals]))

    def x_Attribute(self, node: ast.Attribute, env: Env) -> Any:
        if isinstance(node.value, ast.Name) and node.value.id not in env:
            cls = self.globals.get(node.value.id)
            if isinstance(cls, type) and issubclass(cls, enum.Enum):
                if node.attr not in cls.__members__:
                    said = f"{cls.__name__} has no member '{node.attr}'"
                    self.source.error(node, said, near(node.attr, cls.__members__))
                return E("enumc", type_of(cls), x=node.attr)
        base = self.ex(node.value, env)
        if isinstance(base, View):
            return self._member(node, base.fields, "the state")
        if base.ty.kind == "config":
            if node.attr == "brokers":
                return E("universe", RSET)
            fields = record_fields(self.frontend.config)
            if node.attr not in fields:
                self._no_knob(node, list(fields))
            return E("param", fields[node.attr], x=node.attr)
        if base.ty.kind == "opt" and base.ty.elem.kind == "record":
            base = E("get", base.ty.elem, (base,))
        if base.ty.kind != "record":
            self.source.error(node, f"{base.ty} has no fields")
        ty = self._member(node, base.ty.fields, str(base.ty))
        return E("field", ty, (base,), node.attr)

    def _no_knob(self, node: ast.Attribute, fields: list[str]) -> NoReturn:
        config = self.frontend.config
        if hasattr(config, node.attr):
            said = f"'{node.attr}' of the configuration is no field: rules read fields and c.brokers"
            self.source.error(node, said)
        declare = f"declare it in class {config.__name__}, with a default and a comment"
        close = near(node.attr, fields)
        help = f"{close} Or {declare}" if close else declare
        self.source.error(node, f"the configuration has no field '{node.attr}'", help)

    def _member(self, node: ast.Attribute, fields: dict[str, Any], what: str) -> Any:
        if node.attr not in fields:
            self.source.error(node, f"{what} has no field '{node.attr}'", near(node.attr, fields))
        return fields[node.attr]

    def x_Subscript(self, node: ast.Subscript, env: Env) -> E:
        base = self.part(node.value, env)
        if isinstance(node.slice, ast.Slice):
            if base.ty.kind != "seq" or node.slice.lower or node.slice.step or node.slice.upper is None:
                self.source.error(node, "the only slice of the language is a prefix of a sequence: log[:n]")
            return E("take", base.ty, (base, self.number(node.slice.upper, env)))
        if base.ty.kind == "vec":
            index = self.part(node.slice, env)
            if index.ty.kind not in ("replica", "opt") and index.kind != "const":
                self.source.error(node.slice, f"a Vec is indexed by a Replica, not by {index.ty}")
            return E("vget", base.ty.elem, (base, self.coerce(index, REPLICA, node.slice)))
        if base.ty.kind == "seq":
            return E("sget", base.ty.elem, (base, self.number(node.slice, env)))
        self.source.error(node, f"{base.ty} cannot be indexed")

    # ------------------------------------------------------------------------- operators

    def x_Compare(self, node: ast.Compare, env: Env) -> E:
        parts, left = [], node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            parts.append(self._compare(type(operator).__name__, left, right, env, node))
            left = right
        return parts[0] if len(parts) == 1 else E("and", BOOL, tuple(parts))

    def _compare(self, operator: str, ln: ast.expr, rn: ast.expr, env: Env, node: ast.AST) -> E:
        if operator in ("In", "NotIn"):
            left, right = self.part(ln, env), self.part(rn, env)
            if right.ty.kind == "seq" and right.ty.elem.kind == "replica":
                right = E("elems", RSET, (right,))
            if left.kind == "const":
                left = self.coerce(left, REPLICA, node)
            if right.ty.kind != "set" or left.ty.kind not in ("replica", "opt"):
                self.source.error(
                    node, f"'in' needs a Replica and a set of brokers, not {left.ty} in {right.ty}"
                )
            made = E("in", BOOL, (left, right))
            return made if operator == "In" else E("not", BOOL, (made,))
        if operator in ("Is", "IsNot", "Eq", "NotEq"):
            made = self._equality(self.part(ln, env), self.part(rn, env), node)
            return made if operator in ("Is", "Eq") else E("not", BOOL, (made,))
        left, right = self.part(ln, env), self.part(rn, env)
        if left.ty.kind == "set" and right.ty.kind == "set" and operator in ("LtE", "GtE"):
            return E("subset", BOOL, (left, right) if operator == "LtE" else (right, left))
        kind = {"Lt": "lt", "LtE": "le", "Gt": "gt", "GtE": "ge"}[operator]
        return E(kind, BOOL, (self.number(ln, env), self.number(rn, env)))

    def _equality(self, left: Any, right: Any, node: ast.AST) -> E:
        if left.ty.kind == "none":
            left, right = right, left
        if right.ty.kind == "none":
            if left.ty.kind != "opt":
                self.source.error(node, f"{left.ty} is never None")
            return E("isnone", BOOL, (left,))
        if "seqnil" in (left.kind, right.kind):
            other = right if left.kind == "seqnil" else left
            return E("eq", BOOL, (E("slen", INT, (other,)), E("const", INT, x=0)))
        if left.ty.kind == "opt" or right.ty.kind == "opt":
            ty = left.ty if left.ty.kind == "opt" else right.ty
            return E("eq", BOOL, (self.coerce(left, ty, node), self.coerce(right, ty, node)))
        if left.ty.kind == "replica" and right.kind == "const":
            right = self.coerce(right, REPLICA, node)
        if left.ty.kind != right.ty.kind or left.ty.cls is not right.ty.cls:
            self.source.error(node, f"{left.ty} and {right.ty} can never be equal")
        return E("eq", BOOL, (left, right))

    def x_BoolOp(self, node: ast.BoolOp, env: Env) -> E:
        kind = "and" if isinstance(node.op, ast.And) else "or"
        return E(kind, BOOL, tuple(self.boolean(v, env) for v in node.values))

    def x_UnaryOp(self, node: ast.UnaryOp, env: Env) -> E:
        if isinstance(node.op, ast.Not):
            return E("not", BOOL, (self.boolean(node.operand, env),))
        self.source.error(node, "the only unary operator of the language is 'not'")

    def x_BinOp(self, node: ast.BinOp, env: Env) -> E:
        left = self.part(node.left, env)
        operator = type(node.op).__name__
        if left.ty.kind == "seq" and operator == "Add":
            if not isinstance(node.right, ast.Tuple):
                more = self.coerce(self.part(node.right, env), left.ty, node.right)
                return E("concat", left.ty, (left, more))
            if len(node.right.elts) != 1:
                self.source.error(node.right, "append exactly one element: log + (entry,)")
            element = self.coerce(self.ex(node.right.elts[0], env), left.ty.elem, node.right)
            return E("append", left.ty, (left, element))
        right = self.part(node.right, env)
        if left.ty.kind == "set" and right.ty.kind == "set":
            if isinstance(node.left, ast.Set):
                self.source.error(
                    node.left, "write frozenset({x}): a plain set on the left gives a mutable set"
                )
            kind = {"BitOr": "union", "BitAnd": "inter", "Sub": "diff"}.get(operator)
            if kind:
                return E(kind, RSET, (left, right))
        if left.ty.kind in ("nat", "opt") and right.ty.kind in ("nat", "opt") and operator in ("Add", "Sub"):
            a, b = self.number(node.left, env), self.number(node.right, env)
            return E("add" if operator == "Add" else "sub", INT, (a, b))
        hint = ": write {x} for a one-element set" if "set" in (left.ty.kind, right.ty.kind) else ""
        known = "numbers have + and -, sets | & and -, sequences + (one element at the end)"
        self.source.error(node, f"{operator} cannot combine {left.ty} and {right.ty}{hint}", known)

    def x_IfExp(self, node: ast.IfExp, env: Env) -> Any:
        return self.ite(
            self.boolean(node.test, env), self.ex(node.body, env), self.ex(node.orelse, env), node
        )

    def x_Set(self, node: ast.Set, env: Env) -> E:
        return E("setlit", RSET, tuple(self.coerce(self.ex(e, env), REPLICA, e) for e in node.elts))

    def x_Tuple(self, node: ast.Tuple, env: Env) -> E:
        if not node.elts:
            return E("seqnil", Ty("seq", "Seq", INT, hi=0))
        self.source.error(node, "a tuple display is only allowed as () or in log + (entry,)")
