"""Calls and comprehensions of the modelling language."""

from __future__ import annotations

import ast
import builtins
import dataclasses
from typing import TYPE_CHECKING, Any

from elrcheck.lang.ir import E, View
from elrcheck.lang.runtime import Role
from elrcheck.lang.source import Source, error_in_field, near
from elrcheck.lang.types import BOOL, INT, REPLICA, RSET, Ty, opt, type_of

if TYPE_CHECKING:
    from elrcheck.lang.frontend import Frontend

Env = dict[str, Any]
BINDERS = ("all", "any", "sum", "min", "max", "tuple", "frozenset", "next")


class Calls:
    """Mixin of `Expressions`: everything written as NAME(...)."""

    frontend: Frontend
    source: Source
    globals: dict[str, Any]
    used: set[str]

    if TYPE_CHECKING:

        def ex(self, node: ast.expr, env: Env) -> Any: ...
        def part(self, node: ast.expr, env: Env) -> E: ...
        def boolean(self, node: ast.expr, env: Env) -> E: ...
        def number(self, node: ast.expr, env: Env) -> E: ...
        def coerce(self, made: Any, ty: Ty, node: ast.AST) -> E: ...
        def value(self, value: Any, node: ast.AST) -> E: ...
        def fresh(self, name: str) -> str: ...

    def x_Call(self, node: ast.Call, env: Env) -> Any:
        if not isinstance(node.func, ast.Name):
            self.source.error(
                node,
                "only plain function calls: no methods, no attributes",
                "values never change: a set is made with | & -, a Vec with put(), a record with replace()",
            )
        name = node.func.id
        if name in BINDERS and node.args and isinstance(node.args[0], ast.GeneratorExp):
            return self._binder(name, node, node.args[0], env)
        builtin = getattr(self, "c_" + name, None)
        if builtin is not None:
            return builtin(node, env)
        target = self.globals.get(name)
        if isinstance(target, type) and getattr(target, "__elr_role__", None) in ("record", "state"):
            return self._construct(node, target, env)
        role = getattr(target, "__elr_role__", None)
        if isinstance(role, Role):
            return self._call(node, target, env)
        if target is None and name not in dir(builtins):
            self.source.error(node, f"there is no function '{name}' here: import it", self._near(name))
        if target is None:
            known = ", ".join(sorted({*BINDERS, *(n[2:] for n in dir(self) if n.startswith("c_"))}))
            said = f"'{name}' is not in the modelling language"
            self.source.error(node, said, f"it has {known}, and functions with @op")
        self.source.error(node, f"'{name}' is not a function of this model (decorate it with @op)")

    def _near(self, name: str) -> str:
        offered = [n for n, v in self.globals.items() if hasattr(v, "__elr_role__")]
        return near(name, [*BINDERS, *(n[2:] for n in dir(self) if n.startswith("c_")), *offered])

    def _taken(self, node: ast.Call, count: int, usage: str) -> list[ast.expr]:
        """The arguments of a built-in function that takes exactly so many, by position."""
        if node.keywords or len(node.args) != count:
            self.source.error(node, f"write {usage}")
        return node.args

    # ------------------------------------------------------------------------- builtins

    def c_len(self, node: ast.Call, env: Env) -> E:
        arg = self.part(self._taken(node, 1, "len(set or sequence)")[0], env)
        if arg.ty.kind == "set":
            return E("card", Ty("nat", "int"), (arg,))
        if arg.ty.kind == "seq":
            return E("slen", Ty("nat", "int", hi=arg.ty.hi), (arg,))
        self.source.error(node, f"len() of {arg.ty}")

    def _extreme(self, kind: str, node: ast.Call, env: Env) -> E:
        if len(node.args) != 2 or node.keywords:
            self.source.error(node, f"{kind}() takes two numbers, or a comprehension with default=")
        return E(kind, INT, tuple(self.number(a, env) for a in node.args))

    def c_min(self, node: ast.Call, env: Env) -> E:
        return self._extreme("min", node, env)

    def c_max(self, node: ast.Call, env: Env) -> E:
        return self._extreme("max", node, env)

    def c_implies(self, node: ast.Call, env: Env) -> E:
        premise, conclusion = self._taken(node, 2, "implies(premise, conclusion)")
        return E("implies", BOOL, (self.boolean(premise, env), self.boolean(conclusion, env)))

    def c_conj(self, node: ast.Call, env: Env) -> E:
        if node.args or any(k.arg is None for k in node.keywords):
            self.source.error(node, "name every conjunct: conj(name=condition, ...)")
        parts = tuple(self.boolean(k.value, env) for k in node.keywords)
        return E("conj", BOOL, parts, tuple(str(k.arg) for k in node.keywords))

    def c_within(self, node: ast.Call, env: Env) -> E:
        """A conjunction of one comparison for each field of the record, named by the field."""
        used, limits = (self.part(a, env) for a in self._taken(node, 2, "within(record, c)"))
        if used.ty.kind != "record" or limits.ty.kind != "config":
            self.source.error(node, f"within() compares a record with the configuration, not {used.ty}")
        known = limits.ty.fields
        for name in used.ty.fields:
            if name not in known:
                said = f"there is no field of this name in {limits.ty}"
                raise error_in_field(used.ty.cls, name, said, f"declare it in {limits.ty}, with a default")
        parts = tuple(
            E("le", BOOL, (E("field", ty, (used,), name), E("param", known[name], x=name)))
            for name, ty in used.ty.fields.items()
        )
        return E("conj", BOOL, parts, tuple(used.ty.fields))

    def c_frozenset(self, node: ast.Call, env: Env) -> E:
        if not node.args and not node.keywords:
            return E("setlit", RSET)
        arg = self.part(self._taken(node, 1, "frozenset({x}), or of a set or a list of brokers")[0], env)
        if arg.ty.kind == "set":
            return arg
        if arg.ty.kind == "seq" and arg.ty.elem.kind == "replica":
            return E("elems", RSET, (arg,))
        self.source.error(node, f"frozenset() of {arg.ty}")

    def c_tuple(self, node: ast.Call, env: Env) -> E:
        if len(node.args) != 1 or self.part(node.args[0], env).kind != "universe":
            self.source.error(node, "tuple(c.brokers) is the list of all brokers in order")
        return E("ordered", Ty("seq", "Seq", REPLICA, hi="broker_count"))

    def c_put(self, node: ast.Call, env: Env) -> E:
        given = self._taken(node, 3, "put(vector, broker, value)")
        vector, index, value = (self.part(a, env) for a in given)
        if vector.ty.kind != "vec":
            self.source.error(node.args[0], f"put() changes a Vec, this is {vector.ty}")
        where = self.coerce(index, REPLICA, node.args[1])
        return E("put", vector.ty, (vector, where, self.coerce(value, vector.ty.elem, node.args[2])))

    def c_replace(self, node: ast.Call, env: Env) -> Any:
        if len(node.args) != 1 or any(k.arg is None for k in node.keywords):
            self.source.error(node, "write replace(record, field=value, ...)")
        base = self.ex(node.args[0], env)
        if isinstance(base, View):
            fields = dict(base.fields)
            for keyword in node.keywords:
                want = self._field(keyword, self.frontend.state_fields, "the state")
                fields[str(keyword.arg)] = self.coerce(self.ex(keyword.value, env), want, keyword.value)
            return View(base.name, fields, False)
        if base.ty.kind != "record":
            self.source.error(node, f"replace() changes a record or the state, this is {base.ty}")
        known = base.ty.fields
        changed = {
            str(k.arg): self.coerce(self.ex(k.value, env), self._field(k, known, str(base.ty)), k.value)
            for k in node.keywords
        }
        return E("upd", base.ty, (base, *changed.values()), tuple(changed))

    def _field(self, keyword: ast.keyword, known: dict[str, Ty], what: str) -> Ty:
        if keyword.arg not in known:
            self.source.error(
                keyword.value, f"{what} has no field '{keyword.arg}'", near(str(keyword.arg), known)
            )
        return known[keyword.arg]

    def _construct(self, node: ast.Call, cls: type, env: Env) -> Any:
        ty = type_of(cls)
        known = ty.fields
        given = {str(k.arg): k.value for k in node.keywords}
        parts = dataclasses.fields(cls)
        defaults = {f.name: f.default for f in parts if f.default is not dataclasses.MISSING}
        if node.args or not set(known) - set(defaults) <= set(given) <= set(known):
            missing = ", ".join(f for f in known if f not in given and f not in defaults) or "none"
            unknown = ", ".join(f for f in given if f not in known) or "none"
            self.source.error(
                node, f"{ty} is built from all its fields by name; missing: {missing}; unknown: {unknown}"
            )
        values = {
            f: self.coerce(self.ex(given[f], env), known[f], given[f])
            if f in given
            else self.coerce(self.value(defaults[f], node), known[f], node)
            for f in known
        }
        if ty.kind == "state":
            return View("now", values, False)
        return E("rec", ty, tuple(values.values()), tuple(values))

    def _call(self, node: ast.Call, target: Any, env: Env) -> E:
        fn = self.frontend.fn(target)
        if fn.ret.kind == "state":
            self.source.error(node, f"{fn.name} makes a state; only predicates and values can be called")
        args = [self.ex(a, env) for a in node.args]
        expected = fn.has_config + len(fn.states) + len(fn.params)
        if node.keywords or len(args) != expected:
            takes = ["c"] * fn.has_config + fn.states + [name for name, _ in fn.params]
            self.source.error(
                node, f"{fn.name} takes {expected} positional arguments: {fn.name}({', '.join(takes)})"
            )
        rest = list(zip(args, node.args, strict=True))
        if fn.has_config:
            first = rest.pop(0)
            if isinstance(first[0], View) or first[0].ty.kind != "config":
                self.source.error(first[1], f"the first argument of {fn.name} is the configuration")
        which = []
        for _ in fn.states:
            view, where = rest.pop(0)
            if not isinstance(view, View) or not view.pristine:
                self.source.error(
                    where, f"{fn.name} is given a whole, unchanged state: pass the parts it needs instead"
                )
            which.append(view.name)
        values = tuple(self.coerce(a, ty, n) for (a, n), (_, ty) in zip(rest, fn.params, strict=True))
        return E("call", fn.ret, values, (fn.name, tuple(which)))

    # ------------------------------------------------------------------------- comprehensions

    def _binder(self, name: str, node: ast.Call, generator: ast.GeneratorExp, env: Env) -> E:
        """all/any/sum/min/max/tuple/frozenset/next over one 'for'."""
        loop = generator.generators[0]
        if len(generator.generators) != 1 or not isinstance(loop.target, ast.Name):
            self.source.error(generator, "one 'for' with one simple name for each comprehension")
        self._only(name, node)
        variable, domain, kind, inner = self._domain(loop.target.id, loop.iter, env)
        condition: E | None = None
        for test in loop.ifs:
            made = self.boolean(test, inner)
            condition = made if condition is None else E("and", BOOL, (condition, made))
        x = (variable, kind)
        element = generator.elt
        if name in ("all", "any"):
            return E(name, BOOL, (domain, condition, self.boolean(element, inner)), x)
        if name == "sum":
            if not (isinstance(element, ast.Constant) and element.value == 1):
                self.source.error(element, "sum() only counts: sum(1 for ... if ...)")
            return E(
                "count", Ty("nat", "int", hi=domain.ty.hi if kind == "seq" else None), (domain, condition), x
            )
        if name in ("min", "max"):
            default = next((k.value for k in node.keywords if k.arg == "default"), None)
            if default is None:
                self.source.error(node, f"{name}() over a comprehension needs default=")
            body = self.number(element, inner)
            return E(name + "of", body.ty, (domain, condition, body, self.number(default, env)), x)
        if name == "tuple":
            return self._tuple(node, element, domain, kind, condition, variable, inner)
        made = self.part(element, inner)
        if made is not variable:
            self.source.error(element, f"{name}() only filters: {name}(x for x in X if condition)")
        if name == "frozenset":
            if kind != "set":
                self.source.error(loop.iter, "a set of brokers is filtered from a set of brokers")
            return E("filter", RSET, (domain, condition), x)
        if (
            kind != "seq"
            or domain.ty.elem.kind != "replica"
            or len(node.args) != 2
            or not _is_none(node.args[1])
        ):
            self.source.error(
                node, "next((r for r in SEQUENCE if condition), None) over an ordered list of brokers"
            )
        return E("first", opt(REPLICA), (domain, condition), x)

    def _only(self, name: str, node: ast.Call) -> None:
        """Nothing beside the comprehension but what the function is documented to take here."""
        more = [ast.unparse(a) for a in node.args[2 if name == "next" else 1 :]]
        more += [f"{k.arg}=" for k in node.keywords if k.arg != "default" or name not in ("min", "max")]
        if more:
            self.source.error(node, f"{name}() takes a comprehension here and no {', '.join(more)}")

    def _tuple(
        self,
        node: ast.Call,
        element: ast.expr,
        domain: E,
        kind: str,
        condition: E | None,
        variable: E,
        inner: Env,
    ) -> E:
        body = self.part(element, inner)
        if kind == "seq" and body is variable:
            return E("seqfilter", domain.ty, (domain, condition), (variable, kind))
        if domain.kind != "universe" or condition is not None:
            self.source.error(
                node, "tuple() builds a Vec, tuple(.. for r in c.brokers), or filters a sequence"
            )
        return E("vecmk", Ty("vec", "Vec", body.ty), (body,), (variable, "set"))

    def _domain(self, name: str, node: ast.expr, env: Env) -> tuple[E, E, str, Env]:
        local = self.fresh(name)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
            domain = self.number(self._taken(node, 1, "range(n): from 0 to n - 1")[0], env)
            kind, ty = "range", Ty("nat", "int", hi=domain.ty.hi)
        else:
            domain = self.part(node, env)
            kind = domain.ty.kind
            if kind not in ("set", "seq"):
                self.source.error(
                    node, f"iterate over a set of brokers, a sequence or range(n), not over {domain.ty}"
                )
            ty = REPLICA if kind == "set" else domain.ty.elem
        variable = E("var", ty, x=local)
        return variable, domain, kind, {**env, name: variable}


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
