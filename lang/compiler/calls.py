"""Calls and comprehensions of the modelling language."""

from __future__ import annotations

import ast
import builtins
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, TypeAlias

from elrcheck.lang.compiler.scope import Env, Scope, Value
from elrcheck.lang.expr import (
    Arithmetic,
    Call,
    Cardinality,
    Compare,
    ConfigField,
    Count,
    Domain,
    Elements,
    Expression,
    Extreme,
    Field,
    Filter,
    First,
    Image,
    Implies,
    Junction,
    Length,
    NamedConjunction,
    Quantifier,
    RecordExpr,
    SequenceFilter,
    SetLiteral,
    SortList,
    Update,
    Variable,
    VectorOf,
    VectorPut,
    WholeSort,
)
from elrcheck.lang.ir import Fn, StateView
from elrcheck.lang.runtime import Role
from elrcheck.lang.source import dispatch_of, error_in_field, near
from elrcheck.lang.tree import same
from elrcheck.lang.types import Ty, is_finite, opt, set_of, sorts_in, type_of

BINDERS = ("all", "any", "sum", "min", "max", "tuple", "frozenset", "next")


Builtin: TypeAlias = Callable[["Calls", ast.Call, Env], Value]


def _nested(name: str, generator: ast.GeneratorExp) -> ast.GeneratorExp:
    """Return the comprehension over the first 'for', whose element is all or any over the others."""
    first, *others = generator.generators
    rest = ast.GeneratorExp(generator.elt, others)
    element = ast.Call(ast.Name(name, ast.Load()), [rest], [])
    nested = ast.copy_location(ast.GeneratorExp(element, [first]), generator)
    for node in (rest, element, element.func):
        ast.copy_location(node, generator)
    return nested


class Calls(Scope):
    """Everything written as NAME(...)."""

    def call(self, node: ast.Call, env: Env) -> Value:
        if not isinstance(node.func, ast.Name):
            self.source.error(
                node,
                "only plain function calls: no methods, no attributes",
                "values never change: a set is made with | & -, a vector with put(), a record with replace()",
            )
        name = node.func.id
        if name in BINDERS and node.args and isinstance(node.args[0], ast.GeneratorExp):
            return self._binder(name, node, node.args[0], env)
        if name in self.built_in:
            return self.built_in[name](self, node, env)
        target = self.globals.get(name)
        if isinstance(target, type) and getattr(target, "__elr_role__", None) in ("record", "state"):
            return self._construct(node, target, env)
        role = getattr(target, "__elr_role__", None)
        if isinstance(role, Role):
            called = self._chosen(node, target, env) if role.kind == "dispatch" else target
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

    def _taken(self, node: ast.Call, count: int, usage: str) -> list[ast.expr]:
        """Return the arguments of a built-in function that takes exactly this number of them, by position."""
        if node.keywords or len(node.args) != count:
            self.source.error(node, f"write {usage}")
        return node.args

    # ------------------------------------------------------------------------- builtins

    def _len(self, node: ast.Call, env: Env) -> Expression:
        arg = self.part(self._taken(node, 1, "len(set or sequence)")[0], env)
        if arg.ty.kind == "set":
            return Cardinality(arg)
        if arg.ty.kind == "seq":
            return Length(Ty("nat", "int", hi=arg.ty.hi), arg)
        self.source.error(node, f"len() of {arg.ty}")

    def _extreme(self, op: Literal["min", "max"], node: ast.Call, env: Env) -> Expression:
        if len(node.args) != 2 or node.keywords:
            self.source.error(node, f"{op}() takes two numbers, or a comprehension with default=")
        left, right = node.args
        return Arithmetic(op, self.number(left, env), self.number(right, env))

    def _min(self, node: ast.Call, env: Env) -> Expression:
        return self._extreme("min", node, env)

    def _max(self, node: ast.Call, env: Env) -> Expression:
        return self._extreme("max", node, env)

    def _implies(self, node: ast.Call, env: Env) -> Expression:
        premise, conclusion = self._taken(node, 2, "implies(premise, conclusion)")
        return Implies(self.boolean(premise, env), self.boolean(conclusion, env))

    def _conj(self, node: ast.Call, env: Env) -> Expression:
        if node.args or any(k.arg is None for k in node.keywords):
            self.source.error(node, "name every conjunct: conj(name=condition, ...)")
        parts = tuple(self.boolean(k.value, env) for k in node.keywords)
        return NamedConjunction(tuple(str(k.arg) for k in node.keywords), parts)

    def _within(self, node: ast.Call, env: Env) -> Expression:
        """Compile a conjunction of one comparison for each field of the record, named by the field."""
        used, limits = (self.part(a, env) for a in self._taken(node, 2, "within(record, c)"))
        if used.ty.kind != "record" or limits.ty.kind != "config":
            self.source.error(node, f"within() compares a record with the configuration, not {used.ty}")
        fields = limits.ty.fields
        for name in used.ty.fields:
            if name not in fields:
                message = f"there is no field of this name in {limits.ty}"
                raise error_in_field(used.ty.cls, name, message, f"declare it in {limits.ty}, with a default")
        parts = tuple(
            Compare("le", Field(ty, used, name), ConfigField(fields[name], name)) for name, ty in used.ty.fields.items()
        )
        return NamedConjunction(tuple(used.ty.fields), parts)

    def _frozenset(self, node: ast.Call, env: Env) -> Expression:
        if not node.args and not node.keywords:
            return SetLiteral(self.set_of_what(), ())
        written = self._taken(node, 1, "frozenset({x}), frozenset(range(c.nodes)), or of a set or a sequence")[0]
        whole = self._whole_sort(written, env)
        if whole is not None:
            return whole
        arg = self.part(written, env)
        if arg.ty.kind == "set":
            return arg
        if arg.ty.kind == "seq" and is_finite(arg.ty.elem):
            return Elements(set_of(arg.ty.elem), arg)
        self.source.error(node, f"frozenset() of {arg.ty}")

    def _tuple(self, node: ast.Call, env: Env) -> Expression:
        whole = self._whole_sort(node.args[0], env) if len(node.args) == 1 else None
        if whole is None:
            self.source.error(node, "tuple(range(c.nodes)) is the list of all members of a sort in order")
        return SortList(Ty("seq", "Seq", whole.ty.elem, hi=whole.ty.elem.size))

    def _put(self, node: ast.Call, env: Env) -> Expression:
        arguments = self._taken(node, 3, "put(vector, index, value)")
        vector, index, value = (self.part(a, env) for a in arguments)
        if vector.ty.kind != "vec":
            self.source.error(node.args[0], f"put() changes a vector, this is {vector.ty}")
        where = self.coerce(index, vector.ty.keys, node.args[1])
        return VectorPut(vector.ty, vector, where, self.coerce(value, vector.ty.elem, node.args[2]))

    def _replace(self, node: ast.Call, env: Env) -> Value:
        if len(node.args) != 1 or any(k.arg is None for k in node.keywords):
            self.source.error(node, "write replace(record, field=value, ...)")
        base = self.ex(node.args[0], env)
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
        return Update(base.ty, base, tuple(changed), tuple(changed.values()))

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
        return RecordExpr(ty, tuple(values), tuple(values.values()))

    def _chosen(self, node: ast.Call, target: Any, env: Env) -> Callable[..., Any]:
        """Return the operator that `@dispatch` chooses for the record in this call."""
        choice = dispatch_of(target)
        usage = f"{target.__name__}(..) with {choice.count} positional arguments"
        argument = self._taken(node, choice.count, usage)[choice.position]
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
            if not isinstance(view, StateView) or not (view.pristine or makes_state):
                self.source.error(
                    where, f"{fn.name} is given a whole, unchanged state: pass the parts it needs instead"
                )
            views.append(view)
        values = tuple(self.coerce(a, ty, n) for (a, n), (_, ty) in zip(rest, fn.params, strict=True))
        if makes_state:
            return self.state_made(node, fn, views, values)
        return Call(fn.ret, fn.name, tuple(view.moment for view in views), values)

    def state_made(self, node: ast.Call, fn: Fn, views: Sequence[StateView], values: Sequence[Expression]) -> StateView:
        """Return the state that an operator makes. A single expression, such as a query, cannot use one."""
        self.source.error(node, f"{fn.name} makes a state; only predicates and values can be called")

    built_in: ClassVar[dict[str, Builtin]] = {
        "len": _len,
        "min": _min,
        "max": _max,
        "implies": _implies,
        "conj": _conj,
        "within": _within,
        "frozenset": _frozenset,
        "tuple": _tuple,
        "put": _put,
        "replace": _replace,
    }

    # ------------------------------------------------------------------------- comprehensions

    def _binder(self, name: str, node: ast.Call, generator: ast.GeneratorExp, env: Env) -> Expression:
        """Compile all/any/sum/min/max/tuple/frozenset/next over one 'for'; all and any over several, nested."""
        loop = generator.generators[0]
        if not isinstance(loop.target, ast.Name):
            self.source.error(generator, "each 'for' binds one simple name")
        if len(generator.generators) > 1:
            if name not in ("all", "any"):
                self.source.error(generator, f"{name}() takes one 'for'; only all() and any() take several")
            generator = _nested(name, generator)
        self._only(name, node)
        variable, domain, kind, inner = self._domain(loop.target.id, loop.iter, env)
        condition: Expression | None = None
        for test in loop.ifs:
            filter_ = self.boolean(test, inner)
            condition = filter_ if condition is None else Junction("and", (condition, filter_))
        element = generator.elt
        if name in ("all", "any"):
            body = self.boolean(element, inner)
            return Quantifier(variable, kind, domain, condition, "all" if name == "all" else "any", body)
        if name == "sum":
            if not (isinstance(element, ast.Constant) and element.value == 1):
                self.source.error(element, "sum() only counts: sum(1 for ... if ...)")
            ty = Ty("nat", "int", hi=domain.ty.hi if kind == "seq" else None)
            return Count(ty, variable, kind, domain, condition)
        if name in ("min", "max"):
            default = next((k.value for k in node.keywords if k.arg == "default"), None)
            if default is None:
                self.source.error(node, f"{name}() over a comprehension needs default=")
            body = self.number(element, inner)
            otherwise = self.number(default, env)
            op: Literal["min", "max"] = "min" if name == "min" else "max"
            return Extreme(body.ty, variable, kind, domain, condition, op, body, otherwise)
        if name == "tuple":
            return self._from_tuple(node, element, domain, kind, condition, variable, inner)
        collected = self.part(element, inner)
        if name == "frozenset":
            if same(collected, variable) and kind == "set":
                return Filter(domain.ty, variable, kind, domain, condition)
            if not is_finite(collected.ty):
                self.source.error(element, f"a set of {collected.ty}: only types with finitely many values have sets")
            return Image(set_of(collected.ty), variable, kind, domain, condition, collected)
        if not same(collected, variable):
            self.source.error(element, f"{name}() only filters: {name}(x for x in X if condition)")
        if kind != "seq" or domain.ty.elem.kind != "member" or len(node.args) != 2 or not _is_none(node.args[1]):
            self.source.error(node, "next((x for x in SEQUENCE if condition), None) over members of a sort")
        return First(opt(domain.ty.elem), variable, kind, domain, condition)

    def _only(self, name: str, node: ast.Call) -> None:
        """Refuse arguments beside the comprehension that the function does not take."""
        more = [ast.unparse(a) for a in node.args[2 if name == "next" else 1 :]]
        more += [f"{k.arg}=" for k in node.keywords if k.arg != "default" or name not in ("min", "max")]
        if more:
            self.source.error(node, f"{name}() takes a comprehension here and no {', '.join(more)}")

    def _from_tuple(
        self,
        node: ast.Call,
        element: ast.expr,
        domain: Expression,
        kind: Domain,
        condition: Expression | None,
        variable: Variable,
        inner: Env,
    ) -> Expression:
        body = self.part(element, inner)
        if kind == "seq" and same(body, variable):
            return SequenceFilter(domain.ty, variable, kind, domain, condition)
        if not isinstance(domain, WholeSort) or condition is not None:
            self.source.error(node, "tuple() builds a vector, tuple(.. for n in range(c.nodes)), or filters a sequence")
        return VectorOf(Ty("vec", "vector", body.ty, index=domain.ty.elem), variable, body)

    def _whole_sort(self, node: ast.expr, env: Env) -> WholeSort | None:
        """Compile `range(c.nodes)`, if `nodes` is the size of a sort, or a property that is all members of one."""
        match node:
            case ast.Call(func=ast.Name(id="range"), args=[ast.Attribute() as size]):
                number = self.part(size, env)
                sorts = [*self.functions.sorts.values(), *sorts_in(*self.types).values()]
                sized = [ty for ty in sorts if isinstance(number, ConfigField) and ty.size == number.name]
                return WholeSort(set_of(sized[0])) if sized else None
            case ast.Attribute():
                whole = self.part(node, env)
                return whole if isinstance(whole, WholeSort) else None
        return None

    def _domain(self, name: str, node: ast.expr, env: Env) -> tuple[Variable, Expression, Domain, Env]:
        kind: Domain
        local = self.fresh(name)
        whole = self._whole_sort(node, env)
        if whole is not None:
            domain: Expression = whole
            kind, ty = "set", whole.ty.elem
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
            domain = self.number(self._taken(node, 1, "range(n): from 0 to n - 1")[0], env)
            kind, ty = "range", Ty("nat", "int", hi=domain.ty.hi)
        else:
            domain = self.part(node, env)
            if domain.ty.kind == "set":
                kind, ty = "set", domain.ty.elem
            elif domain.ty.kind == "seq":
                kind, ty = "seq", domain.ty.elem
            else:
                self.source.error(node, f"iterate over a set, a sequence or range(n), not over {domain.ty}")
        variable = Variable(ty, local)
        return variable, domain, kind, {**env, name: variable}


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
