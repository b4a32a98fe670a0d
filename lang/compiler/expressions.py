"""Expressions of the modelling language: names, operators, comparisons, set and record access.

Calls and comprehensions are in `elrcheck.lang.compiler.calls`. Types are checked at load time: a comparison of a set
with a member, or a condition that is not a boolean, is an error with its place.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Mapping
from typing import NoReturn, TypeVar

from elrcheck.lang import expr
from elrcheck.lang.compiler.calls import Calls
from elrcheck.lang.compiler.scope import Env, Value, fits
from elrcheck.lang.expr import Expression
from elrcheck.lang.ir import StateView
from elrcheck.lang.source import near
from elrcheck.lang.types import INT, NONE, Ty, is_finite, is_number, pair, record_fields, set_of, type_of, whole_sort

T = TypeVar("T")
ORDERS: dict[str, expr.Order] = {"Lt": "lt", "LtE": "le", "Gt": "gt", "GtE": "ge"}
OPERATORS: dict[str, expr.Operator] = {"Add": "add", "Sub": "sub", "FloorDiv": "div", "Mod": "mod"}
SET_OPERATORS: dict[str, expr.SetOperator] = {"BitOr": "union", "BitAnd": "inter", "Sub": "diff"}
# Kind of Python expression that the language does not have -> its name, and what to write instead.
FOREIGN = {
    "ListComp": ("a list", "tuple(x for n in range(c.nodes)) is a vector, tuple(x for x in sequence if ..) filters"),
    "SetComp": ("a set comprehension", "frozenset(x for x in set if ..) is one"),
    "GeneratorExp": ("a bare generator", "it stands in all(..), any(..), tuple(..) and the like"),
    "DictComp": ("a dict", "one value for each key of a finite type is a map: Map({k: x for k in Mode})"),
    "List": ("a list", "a sequence starts as () and grows by log + (entry,)"),
    "Dict": ("a dict", "one value for each key of a finite type is a map: Map({k: x for k in Mode})"),
    "Lambda": ("lambda", "write a function of its own and decorate it with @op"),
    "JoinedStr": ("a text", "a set of possible values is an enum.Enum"),
    "NamedExpr": (":=", "assign the name in a line of its own"),
}


class Expressions(Calls):
    """Turns one Python expression into one IR node."""

    def read(self, node: ast.expr, env: Env) -> Value:
        """See `Scope.read`."""
        match node:
            case ast.Call():
                return self.call(node, env)
            case ast.Name():
                return self._name(node, env)
            case ast.Attribute():
                return self._attribute(node, env)
            case ast.Constant():
                return expr.NoneLiteral(NONE) if node.value is None else self.value(node.value, node)
            case ast.Compare():
                return self._comparisons(node, env)
            case ast.BoolOp():
                parts = tuple(self.boolean(value, env) for value in node.values)
                return expr.Junction("and" if isinstance(node.op, ast.And) else "or", parts)
            case ast.UnaryOp(op=ast.Not()):
                return expr.Not(self.boolean(node.operand, env))
            case ast.UnaryOp(op=ast.USub()):
                number = self.number(node.operand, env)
                negative = isinstance(number, expr.Constant) and expr.Constant(INT, -number.value)
                return negative or expr.Arithmetic("sub", expr.Constant(INT, 0), number)
            case ast.UnaryOp():
                self.source.error(node, "the unary operators of the language are 'not' and '-'")
            case ast.BinOp():
                return self._binary(node, env)
            case ast.IfExp():
                condition = self.boolean(node.test, env)
                return self.either(condition, self.ex(node.body, env), self.ex(node.orelse, env), node)
            case ast.Subscript():
                return self._subscript(node, env)
            case ast.Set():
                return self._set_display(node, env)
            case ast.Tuple(elts=[]):
                return expr.EmptySequence(Ty("seq", "Seq", INT, hi=0))
            case ast.Tuple(elts=[ast.Starred(value=sequence), element]):
                return self._append(self.part(sequence, env), element, env, node)
            case ast.Tuple(elts=[first, second, *more]) if not any(isinstance(e, ast.Starred) for e in node.elts):
                parts = tuple(self.part(e, env) for e in (first, second, *more))
                names = tuple(map(str, range(len(parts))))
                return expr.RecordExpr(pair(*(part.ty for part in parts)), names, parts)
            case ast.Tuple():
                self.source.error(node, "a tuple is a pair (a, b), (), log + (entry,) or (*log, entry)")
            case _:
                name, help = FOREIGN.get(type(node).__name__, (type(node).__name__, ""))
                self.source.error(node, f"{name} is not in the modelling language", help)

    def _set_display(self, node: ast.Set, env: Env) -> Expression:
        """Compile a set display; numbers alone are members of the only sort, until it is coerced."""
        elements = [self.part(e, env) for e in node.elts]
        typed = next((e.ty for e in elements if e.ty != INT), self.untyped_set().arg or INT)
        ty = INT if typed.kind == "none" else typed.present
        return expr.SetLiteral(
            set_of(ty), tuple(self.coerce(e, ty, where) for e, where in zip(elements, node.elts, strict=True))
        )

    # ------------------------------------------------------------------------- names and constants

    def _name(self, node: ast.Name, env: Env) -> Value:
        if node.id in env:
            return env[node.id]
        if node.id in self.globals:
            return self.value(self.globals[node.id], node)
        help = near(node.id, [*env, *self.globals]) or f"give it a value before, {node.id} = .., or import it"
        self.source.error(node, f"unknown name '{node.id}'", help)

    def _attribute(self, node: ast.Attribute, env: Env) -> Value:
        if isinstance(node.value, ast.Name) and node.value.id not in env:
            cls = self.globals.get(node.value.id)
            if isinstance(cls, type) and issubclass(cls, enum.Enum):
                if node.attr not in cls.__members__:
                    message = f"{cls.__name__} has no member '{node.attr}'"
                    self.source.error(node, message, near(node.attr, cls.__members__))
                return expr.EnumMember(type_of(cls), node.attr)
        base = self.ex(node.value, env)
        if isinstance(base, StateView):
            return self._member(node, base.fields, "the state")
        if base.ty.kind == "config":
            whole = whole_sort(self.functions.config, node.attr)
            if whole is not None:
                return expr.WholeSort(whole)
            fields = record_fields(self.functions.config)
            if node.attr not in fields:
                self._no_knob(node, list(fields))
            return expr.ConfigField(fields[node.attr], node.attr)
        if base.ty.kind == "opt" and base.ty.elem.kind == "record":
            base = expr.Get(base.ty.elem, base)
        if base.ty.kind != "record" or base.ty.is_pair:
            self.source.error(node, f"{base.ty} has no fields")
        ty = self._member(node, base.ty.fields, str(base.ty))
        return expr.Field(ty, base, node.attr)

    def _no_knob(self, node: ast.Attribute, fields: list[str]) -> NoReturn:
        config = self.functions.config
        if hasattr(config, node.attr):
            message = f"'{node.attr}' of the configuration is not a field, and no set of all members of a sort"
            self.source.error(node, message)
        declare = f"declare it in class {config.__name__}, with a default, and a text below it"
        close = near(node.attr, fields)
        help = f"{close} Or {declare}" if close else declare
        self.source.error(node, f"the configuration has no field '{node.attr}'", help)

    def _member(self, node: ast.Attribute, fields: Mapping[str, T], what: str) -> T:
        if node.attr not in fields:
            self.source.error(node, f"{what} has no field '{node.attr}'", near(node.attr, fields))
        return fields[node.attr]

    def _subscript(self, node: ast.Subscript, env: Env) -> Expression:
        base = self.held(node.value, env)
        if isinstance(node.slice, ast.Slice):
            return self._slice(base, node, node.slice, env)
        if base.ty.kind == "vec":
            index = self.part(node.slice, env)
            exact = isinstance(index, expr.Constant | expr.RecordExpr | expr.SetLiteral) or base.ty.keys.kind == "opt"
            if not exact and not fits(index.ty.present, base.ty.keys):
                self.source.error(node.slice, f"{base.ty} is indexed by a {base.ty.keys}, not by {index.ty}")
            return expr.VectorGet(base.ty.elem, base, self.coerce(index, base.ty.keys, node.slice))
        if base.ty.is_pair:
            number = node.slice.value if isinstance(node.slice, ast.Constant) else None
            if not isinstance(number, int) or not 0 <= number < len(base.ty.parts):
                self.source.error(node, f"a part of {base.ty} is [0] to [{len(base.ty.parts) - 1}]")
            return expr.Field(base.ty.parts[number], base, str(number))
        if base.ty.kind == "seq":
            index = self.number(node.slice, env)
            if isinstance(index, expr.Constant) and index.value < 0:
                message = "an element has a number from 0 on"
                self.source.error(node.slice, message, "log[len(log) - 1] is the last of a sequence that is not empty")
            return expr.SequenceGet(base.ty.elem, base, index)
        self.source.error(node, f"{base.ty} cannot be indexed")

    def _slice(self, base: Expression, node: ast.Subscript, part: ast.Slice, env: Env) -> Expression:
        """Compile `log[:n]` or `log[n:]`."""
        if base.ty.kind == "seq" and part.step is None:
            match part.lower, part.upper:
                case None, ast.expr() as end:
                    return expr.Prefix(base.ty, base, self.number(end, env))
                case ast.expr() as begin, None:
                    return expr.Suffix(base.ty, base, self.number(begin, env))
        self.source.error(node, "a slice is a prefix of a sequence, log[:n], or the rest behind one, log[n:]")

    # ------------------------------------------------------------------------- operators

    def _comparisons(self, node: ast.Compare, env: Env) -> Expression:
        parts, left = [], node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            parts.append(self._compare(type(operator).__name__, left, right, env, node))
            left = right
        return parts[0] if len(parts) == 1 else expr.Junction("and", tuple(parts))

    def _compare(self, operator: str, ln: ast.expr, rn: ast.expr, env: Env, node: ast.AST) -> Expression:
        if operator in ("In", "NotIn"):
            whole = self.whole_sort(rn, env)
            if isinstance(rn, ast.Tuple) and rn.elts:
                left = self.part(ln, env)
                equal = tuple(self._equality(left, self.part(each, env), node) for each in rn.elts)
                one_of = equal[0] if len(equal) == 1 else expr.Junction("or", equal)
                return one_of if operator == "In" else expr.Not(one_of)
            left, right = self.part(ln, env), whole or self.held(rn, env)
            if right.ty.kind == "seq" and is_finite(right.ty.elem):
                right = expr.Elements(set_of(right.ty.elem), right)
            if right.ty.kind != "set":
                help = "of a bag, write bag[m] > 0" if right.ty.is_map else ""
                self.source.error(node, f"'in' needs a set or a sequence, not {right.ty}", help)
            own = left.ty if right.ty.elem.kind == "opt" else left.ty.present
            if isinstance(left, expr.Constant | expr.RecordExpr) or right.ty.elem.kind == "opt":
                left = self.coerce(left, right.ty.elem, node)
            elif isinstance(right, expr.SetLiteral):
                right = self.coerce(right, set_of(own), node)
            elif not fits(own, right.ty.elem):
                self.source.error(node, f"a {right.ty} has no {left.ty}")
            member: Expression = expr.MemberExpr(left, right)
            if left.ty.flagged and right.ty.elem.kind != "opt":
                member = expr.Junction(
                    "and", (expr.Not(expr.IsNone(left)), expr.MemberExpr(expr.Get(own, left), right))
                )
            return member if operator == "In" else expr.Not(member)
        if operator in ("Is", "IsNot", "Eq", "NotEq"):
            equality = self._equality(self.part(ln, env), self.part(rn, env), node)
            return equality if operator in ("Is", "Eq") else expr.Not(equality)
        left, right = self.held(ln, env), self.held(rn, env)
        if left.ty.kind == "set" and right.ty.kind == "set" and operator in ("LtE", "GtE"):
            left, right = self.alike(left, right, node)
            return expr.Subset(left, right) if operator == "LtE" else expr.Subset(right, left)
        return expr.Compare(ORDERS[operator], self.number(ln, env), self.number(rn, env))

    def _equality(self, left: Expression, right: Expression, node: ast.AST) -> Expression:
        if left.ty.kind == "none":
            left, right = right, left
        if right.ty.kind == "none":
            if left.ty.kind != "opt":
                self.source.error(node, f"{left.ty} is never None")
            return expr.IsNone(left)
        if isinstance(left, expr.EmptySequence) or isinstance(right, expr.EmptySequence):
            other = right if isinstance(left, expr.EmptySequence) else left
            return expr.Equal(expr.Length(INT, other), expr.Constant(INT, 0))
        if left.ty.kind == "opt" or right.ty.kind == "opt":
            ty = left.ty if left.ty.kind == "opt" else right.ty
            return expr.Equal(self.coerce(left, ty, node), self.coerce(right, ty, node))
        if left.ty.kind == right.ty.kind == "set" or (left.ty.is_pair and right.ty.is_pair):
            left, right = self.alike(left, right, node)
        elif (left.ty.kind == "member" and isinstance(right, expr.Constant)) or isinstance(right, expr.SetLiteral):
            right = self.coerce(right, left.ty, node)
        elif left.ty.kind == right.ty.kind == "vec" and left.ty.keys == right.ty.keys:
            left, right = self.alike(left, right, node)
        elif isinstance(left, expr.SetLiteral) or (isinstance(left, expr.Constant) and right.ty.kind == "member"):
            left = self.coerce(left, right.ty, node)
        if not fits(left.ty, right.ty) and not fits(right.ty, left.ty):
            self.source.error(node, f"{left.ty} and {right.ty} can never be equal")
        return expr.Equal(left, right)

    def _append(self, sequence: Expression, element: ast.expr, env: Env, node: ast.AST) -> Expression:
        if sequence.ty.kind != "seq":
            self.source.error(node, f"an element is added to a sequence, this is {sequence.ty}")
        return expr.AppendExpr(sequence.ty, sequence, self.coerce(self.ex(element, env), sequence.ty.elem, element))

    def _binary(self, node: ast.BinOp, env: Env) -> Expression:
        left = self.held(node.left, env)
        operator = type(node.op).__name__
        if left.ty.kind == "seq" and operator == "Add":
            if not isinstance(node.right, ast.Tuple):
                more = self.coerce(self.part(node.right, env), left.ty, node.right)
                return expr.Concatenation(left.ty, left, more)
            if len(node.right.elts) != 1:
                self.source.error(node.right, "append exactly one element: log + (entry,)")
            return self._append(left, node.right.elts[0], env, node)
        right = self.held(node.right, env)
        if left.ty.kind == "set" and right.ty.kind == "set":
            if isinstance(node.left, ast.Set):
                self.source.error(node.left, "write frozenset({x}): a plain set on the left gives a mutable set")
            if operator in SET_OPERATORS:
                left, right = self.alike(left, right, node)
                return expr.SetOperation(left.ty, SET_OPERATORS[operator], left, right)
        if is_number(left.ty.present) and is_number(right.ty.present) and operator in OPERATORS:
            if operator in ("FloorDiv", "Mod"):
                self._divisor(right, node.right)
            return expr.Arithmetic(OPERATORS[operator], self.number(node.left, env), self.number(node.right, env))
        hint = ": write {x} for a one-element set" if "set" in (left.ty.kind, right.ty.kind) else ""
        operators = "numbers have +, -, // and %, sets | & and -, sequences + (one element at the end)"
        self.source.error(node, f"{operator} cannot combine {left.ty} and {right.ty}{hint}", operators)

    def _divisor(self, e: Expression, node: ast.AST) -> None:
        """Require a divisor that is positive in every state, so that division means the same in every reading."""
        if not (isinstance(e, expr.ConfigField) or (isinstance(e, expr.Constant) and e.value > 0)):
            message = "a divisor is a positive number or a field of the configuration"
            self.source.error(node, message, "write n % 3, n // c.slots; of several divisors, choose one with if")
