"""Calls and comprehensions of the modelling language."""

from __future__ import annotations

import ast
import builtins
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, TypeAlias

from elrcheck.lang import expr
from elrcheck.lang.compiler.binders import BINDERS, Binders, plain_generator
from elrcheck.lang.compiler.scope import Env, Value
from elrcheck.lang.expr import Expression
from elrcheck.lang.ir import Fn, StateView
from elrcheck.lang.runtime import Role
from elrcheck.lang.source import dispatch_of, error_in_field, near
from elrcheck.lang.types import Ty, is_finite, set_of, type_of

Builtin: TypeAlias = Callable[["Calls", ast.Call, Env], Value]


class Calls(Binders):
    """Everything written as NAME(...)."""

    def call(self, node: ast.Call, env: Env) -> Value:
        if not isinstance(node.func, ast.Name):
            self.source.error(
                node,
                "only plain function calls: no methods, no attributes",
                "values never change: a set is made with | & -, a vector or map with put(), a record with replace()",
            )
        name = node.func.id
        if name in BINDERS and node.args and isinstance(node.args[0], ast.GeneratorExp):
            return self.binder(name, node, node.args[0], env)
        target = self.globals.get(name)
        if name in self.built_in and not isinstance(getattr(target, "__elr_role__", None), Role):
            return self.built_in[name](self, node, env)
        if isinstance(target, type) and getattr(target, "__elr_role__", None) in ("record", "state"):
            return self._construct(node, target, env)
        role = getattr(target, "__elr_role__", None)
        if isinstance(role, Role):
            called = self._dispatched(node, target, env) if role.kind == "dispatch" else target
            return self._call(node, called, env)
        if target is None and name not in dir(builtins):
            self.source.error(node, f"there is no function '{name}' here: import it", self._near(name))
        if target is None:
            names = ", ".join(sorted({*BINDERS, *self.built_in}))
            message = f"'{name}' is not in the modelling language"
            self.source.error(node, message, f"it has {names}, and functions with @op")
        self.source.error(node, f"'{name}' is not a function of this model (decorate it with @op)")

    def _near(self, name: str) -> str:
        offered = [n for n, v in self.globals.items() if hasattr(v, "__elr_role__")]
        return near(name, [*BINDERS, *self.built_in, *offered])

    # ------------------------------------------------------------------------- builtins

    def _len(self, node: ast.Call, env: Env) -> Expression:
        arg = self.held(self.taken(node, 1, "len(set or sequence)")[0], env)
        if arg.ty.kind == "set":
            return expr.Cardinality(arg)
        if arg.ty.kind == "seq":
            return expr.Length(Ty("nat", "int", hi=arg.ty.hi), arg)
        self.source.error(node, f"len() of {arg.ty}")

    def _extreme(self, op: Literal["min", "max"], node: ast.Call, env: Env) -> Expression:
        if len(node.args) == 1 and node.keywords:
            return self.binder(op, node, plain_generator(node.args[0]), env)
        if len(node.args) < 2 or node.keywords:
            self.source.error(node, f"{op}() takes numbers, or a set, a sequence or a comprehension with default=")
        first, *others = (self.number(number, env) for number in node.args)
        for other in others:
            first = expr.Arithmetic(op, first, other)
        return first

    def _implies(self, node: ast.Call, env: Env) -> Expression:
        premise, conclusion = self.taken(node, 2, "implies(premise, conclusion)")
        return expr.Implies(self.boolean(premise, env), self.boolean(conclusion, env))

    def _conj(self, node: ast.Call, env: Env) -> Expression:
        if node.args or any(k.arg is None for k in node.keywords):
            self.source.error(node, "name every conjunct: conj(name=condition, ...)")
        parts = tuple(self.boolean(k.value, env) for k in node.keywords)
        return expr.NamedConjunction(tuple(str(k.arg) for k in node.keywords), parts)

    def _within(self, node: ast.Call, env: Env) -> Expression:
        """Compile a conjunction of one comparison for each field of the record, named by the field."""
        used, limits = (self.part(a, env) for a in self.taken(node, 2, "within(record, c)"))
        if used.ty.kind != "record" or limits.ty.kind != "config":
            self.source.error(node, f"within() compares a record with the configuration, not {used.ty}")
        fields = limits.ty.fields
        for name in used.ty.fields:
            if name not in fields:
                message = f"there is no field of this name in {limits.ty}"
                raise error_in_field(used.ty.cls, name, message, f"declare it in {limits.ty}, with a default")
        parts = tuple(
            expr.Compare("le", expr.Field(ty, used, name), expr.ConfigField(fields[name], name))
            for name, ty in used.ty.fields.items()
        )
        return expr.NamedConjunction(tuple(used.ty.fields), parts)

    def _frozenset(self, node: ast.Call, env: Env) -> Expression:
        if not node.args and not node.keywords:
            return expr.SetLiteral(self.untyped_set(), ())
        written = self.taken(node, 1, "frozenset({x}), frozenset(range(c.nodes)), or of a set or a sequence")[0]
        whole = self.whole_sort(written, env)
        if whole is not None:
            return whole
        arg = self.part(written, env)
        if arg.ty.kind == "set":
            return arg
        if arg.ty.kind == "seq" and is_finite(arg.ty.elem):
            return expr.Elements(set_of(arg.ty.elem), arg)
        self.source.error(node, f"frozenset() of {arg.ty}")

    def _tuple(self, node: ast.Call, env: Env) -> Expression:
        whole = self.whole_sort(node.args[0], env) if len(node.args) == 1 else None
        if whole is None or whole.ty.elem.kind != "member":
            self.source.error(node, "tuple(range(c.nodes)) is the list of all members of a sort in order")
        return expr.SortList(Ty("seq", "Seq", whole.ty.elem, hi=whole.ty.elem.size))

    def _put(self, node: ast.Call, env: Env) -> Expression:
        arguments = self.taken(node, 3, "put(vector, index, value)")
        vector, index, value = (self.part(a, env) for a in arguments)
        if vector.ty.kind != "vec":
            self.source.error(node.args[0], f"put() changes a vector or a map, this is {vector.ty}")
        where = self.coerce(index, vector.ty.keys, node.args[1])
        return expr.VectorPut(vector.ty, vector, where, self.coerce(value, vector.ty.elem, node.args[2]))

    def _every_value(self, node: ast.Call, env: Env) -> Expression:
        help = "frozenset(every(c, T)) is the set of all values"
        self.source.error(node, "every(c, T) stands behind 'in', in a comprehension or a quantifier", help)

    def _replace(self, node: ast.Call, env: Env) -> Value:
        if len(node.args) != 1 or any(k.arg is None for k in node.keywords):
            self.source.error(node, "write replace(record, field=value, ...)")
        base = self.ex(node.args[0], env)
        if not isinstance(base, StateView):
            base = self.held(node.args[0], env)
        if isinstance(base, StateView):
            fields = dict(base.fields)
            for keyword in node.keywords:
                want = self._field(keyword, self.functions.state_fields, "the state")
                fields[str(keyword.arg)] = self.coerce(self.ex(keyword.value, env), want, keyword.value)
            return StateView(base.moment, fields, False)
        if base.ty.kind != "record":
            self.source.error(node, f"replace() changes a record or the state, this is {base.ty}")
        field_types = base.ty.fields
        changed = {
            str(k.arg): self.coerce(self.ex(k.value, env), self._field(k, field_types, str(base.ty)), k.value)
            for k in node.keywords
        }
        return expr.Update(base.ty, base, tuple(changed), tuple(changed.values()))

    def _field(self, keyword: ast.keyword, field_types: dict[str, Ty], what: str) -> Ty:
        if keyword.arg not in field_types:
            self.source.error(
                keyword.value, f"{what} has no field '{keyword.arg}'", near(str(keyword.arg), field_types)
            )
        return field_types[keyword.arg]

    def _construct(self, node: ast.Call, cls: type, env: Env) -> Value:
        ty = type_of(cls)
        field_types = ty.fields
        arguments = {str(k.arg): k.value for k in node.keywords}
        parts = dataclasses.fields(cls)
        defaults = {f.name: f.default for f in parts if f.default is not dataclasses.MISSING}
        if node.args or not set(field_types) - set(defaults) <= set(arguments) <= set(field_types):
            missing = ", ".join(f for f in field_types if f not in arguments and f not in defaults) or "none"
            unknown = ", ".join(f for f in arguments if f not in field_types) or "none"
            self.source.error(
                node, f"{ty} is built from all its fields by name; missing: {missing}; unknown: {unknown}"
            )
        values = {
            f: self.coerce(self.ex(arguments[f], env), field_types[f], arguments[f])
            if f in arguments
            else self.coerce(self.value(defaults[f], node), field_types[f], node)
            for f in field_types
        }
        if ty.kind == "state":
            return StateView("now", values, False)
        return expr.RecordExpr(ty, tuple(values), tuple(values.values()))

    def _dispatched(self, node: ast.Call, target: Any, env: Env) -> Callable[..., Any]:
        """Return the operator that a function with `@dispatch` chooses for the record in this call."""
        choice = dispatch_of(target)
        usage = f"{target.__name__}(..) with {choice.count} positional arguments"
        argument = self.taken(node, choice.count, usage)[choice.position]
        ty = self.part(argument, env).ty
        operator = choice.operator(ty.cls if ty.kind == "record" else None)
        if operator is None:
            message = f"{target.__name__} has no case for {ty}"
            self.source.error(argument, message, f"it takes {choice.records}")
        return operator

    def _call(self, node: ast.Call, target: Any, env: Env) -> Value:
        fn = self.functions.fn(target)
        makes_state = fn.ret.kind == "state"
        args = [self.ex(a, env) for a in node.args]
        expected = fn.has_config + len(fn.states) + len(fn.params)
        if node.keywords or len(args) != expected:
            takes = ["c"] * fn.has_config + fn.states + [name for name, _ in fn.params]
            self.source.error(node, f"{fn.name} takes {expected} positional arguments: {fn.name}({', '.join(takes)})")
        rest = list(zip(args, node.args, strict=True))
        if fn.has_config:
            first = rest.pop(0)
            if isinstance(first[0], StateView) or first[0].ty.kind != "config":
                self.source.error(first[1], f"the first argument of {fn.name} is the configuration")
        views = []
        for _ in fn.states:
            view, where = rest.pop(0)
            if not isinstance(view, StateView):
                self.source.error(where, f"{fn.name} is given a whole state here, this is {view.ty}")
            views.append(view)
        values = tuple(self.coerce(a, ty, n) for (a, n), (_, ty) in zip(rest, fn.params, strict=True))
        if makes_state:
            return self.inlined_state(node, fn, views, values)
        if not all(view.pristine for view in views):
            return self.inlined_value(node, fn, views, values)
        return expr.Call(fn.ret, fn.name, tuple(view.moment for view in views), values)

    def inlined_state(
        self, node: ast.Call, fn: Fn, views: Sequence[StateView], values: Sequence[Expression]
    ) -> StateView:
        """Compile a call of an operator that returns a state; a single expression, such as a query, refuses it."""
        self.source.error(node, f"{fn.name} returns a state; only predicates and values can be called")

    def inlined_value(
        self, node: ast.Call, fn: Fn, views: Sequence[StateView], values: Sequence[Expression]
    ) -> Expression:
        """Compile a call with a state that has been changed; a single expression, such as a query, refuses it."""
        self.source.error(node, f"{fn.name} is given a changed state: pass the parts that it needs instead")

    built_in: ClassVar[dict[str, Builtin]] = {
        "len": _len,
        "min": lambda self, node, env: self._extreme("min", node, env),
        "max": lambda self, node, env: self._extreme("max", node, env),
        "implies": _implies,
        "conj": _conj,
        "within": _within,
        "frozenset": _frozenset,
        "tuple": _tuple,
        "put": _put,
        "replace": _replace,
        "Map": Binders.map_display,
        "add": lambda self, node, env: self.bag_update("add", node, env),
        "remove": lambda self, node, env: self.bag_update("sub", node, env),
        "contents": Binders.contents,
        "every": _every_value,
    }
