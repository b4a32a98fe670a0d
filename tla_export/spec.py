r"""The model as an idiomatic TLA+ module and its configuration.

State fields become variables, configuration fields constants, operators keep their names in CamelCase
and their docstrings as comments, an action is a conjunction of its guards and the primed variables,
`Next` quantifies over exactly the arguments the model's own search tries, one disjunct for each
action. So TLC generates and counts the same states.

TLC takes a disjunction apart where it expects an action, and would count a guard that is true for
two reasons twice. Guards of that shape are therefore printed as `(guard) = TRUE`, a value.

The budgets are a CONSTRAINT, so states outside are generated and not explored, as in our search.
Nothing newer than TLC 2.15 is used.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from elrcheck.lang.ir import Block, E, Fn, If, Let, Require, Ret, View, fn_nodes
from elrcheck.lang.load import Model
from elrcheck.tla_export.expressions import AND, LOOSE, Expressions, Scope, typed_set
from elrcheck.tla_export.layout import Bullets, Doc, Group, Head, Item, Text, render
from elrcheck.tla_export.layout import If as IfDoc
from elrcheck.tla_export.layout import Let as LetDoc
from elrcheck.tla_export.names import Names
from elrcheck.tla_export.rigid import Branching

WIDTH = 100
HELPERS = """\
Least(a, b) == IF a <= b THEN a ELSE b
Greatest(a, b) == IF a >= b THEN a ELSE b
MinOf(S, default) == IF S = {} THEN default ELSE CHOOSE x \\in S : \\A y \\in S : x <= y
MaxOf(S, default) == IF S = {} THEN default ELSE CHOOSE x \\in S : \\A y \\in S : x >= y
Elements(s) == {s[i] : i \\in DOMAIN s}
First(s, Test(_)) ==
    LET hits == {i \\in DOMAIN s : Test(s[i])}
    IN  IF hits = {} THEN None ELSE s[CHOOSE i \\in hits : \\A j \\in hits : i <= j]
"""
HELPER_NAMES = ("Least", "Greatest", "MinOf", "MaxOf", "Elements", "First")


@dataclass(frozen=True)
class Spec:
    """The texts of a module and its configuration. taken: every name the module defines."""

    module: str
    tla: str
    cfg: str
    taken: frozenset[str]
    constants: str


def constant_name(field: str) -> str:
    return field.upper()


def checked_name(fn: Fn) -> str:
    """The operator the configuration names for a property."""
    return f"{fn.name}_Step" if fn.is_step else f"{fn.name}_InBudget"


def spec_text(model: Model, config: Any, module: str, comment: str = "") -> Spec:
    """The module and configuration of one model under one configuration."""
    return _Module(model, config, module, comment).build()


class _Module:
    def __init__(self, model: Model, config: Any, module: str, comment: str) -> None:
        self.model, self.config, self.module, self.comment = model, config, module, comment
        self.variables = list(model.state_fields)
        self.constants = {f: constant_name(f) for f in self._read_fields()}
        self.printer = Expressions(model.fns, self.constants, self._module_names())
        self.branching = Branching(model.fns)

    def _read_fields(self) -> list[str]:
        """Configuration fields that the model reads, in the order they are declared."""
        used = {node.x for fn in self.model.fns.values() for node in fn_nodes(fn) if node.kind == "param"}
        for fn in self.model.actions:
            used |= {ty.hi for _, ty in fn.params if isinstance(ty.hi, str)}
        used.add("broker_count")
        return [f for f in self.config.__dataclass_fields__ if f in used]

    def _module_names(self) -> set[str]:
        names = Names()
        for name in (*self.variables, *self.constants.values(), "None", "Brokers", "vars", "Next", "Spec"):
            names.keep(name)
        for name in (*HELPER_NAMES, *(fn.name for fn in self.model.fns.values() if fn.kind != "op")):
            names.keep(name)
        from elrcheck.tla_export.names import camel

        for fn in self.model.fns.values():
            if fn.kind == "op":
                names.keep(camel(fn.name))
        return names.taken

    # ------------------------------------------------------------------------- the module

    def build(self) -> Spec:
        model = self.model
        bodies = {
            fn.name: self._operator(fn)
            for fn in model.fns.values()
            if fn.kind != "action" and fn.kind != "init"
        }
        actions = {fn.name: self._action(fn) for fn in model.actions}
        init = self._init()
        copies = self._copies()
        ops = [fn.name for fn in model.fns.values() if fn.kind == "op"]
        head = f"MODULE {self.module}"
        dashes = "-" * max(4, (WIDTH - len(head) - 2) // 2)
        lines = [f"{dashes} {head} {dashes}", *_comment(self.comment)]
        lines += ["EXTENDS Integers, FiniteSets, Sequences", ""]
        lines += ["CONSTANTS " + ", ".join([*self.constants.values(), "None"]), ""]
        lines += [
            "VARIABLES " + ", ".join(self.variables),
            "",
            f"vars == <<{', '.join(self.variables)}>>",
            "",
        ]
        lines += [f"Brokers == 0..({self.constants['broker_count']} - 1)", "", *HELPERS.splitlines(), ""]
        for name in ops:
            lines += [*bodies[name], ""]
        for name in copies:
            lines += [*copies[name], ""]
        lines += [*init, ""]
        for name in actions:
            lines += [*actions[name], ""]
        lines += ["Next ==", *(f"    \\/ {self._choice(fn)}" for fn in model.actions), ""]
        lines += ["Spec == Init /\\ [][Next]_vars", ""]
        lines += [*bodies[model.bound.name], ""]
        for fn in (*model.always, *model.sometimes):
            lines += [*bodies[fn.name], ""]
            if fn.kind == "always":
                lines += [self._checked(fn), ""]
        lines.append("=" * WIDTH)
        taken = self.printer.visible | {checked_name(fn) for fn in model.always} | set(copies)
        constants = "\n".join(self._constant_lines()) + "\n"
        return Spec(self.module, "\n".join(lines) + "\n", self._cfg(), frozenset(taken), constants)

    def _checked(self, fn: Fn) -> str:
        """What TLC checks: TLC also looks at states outside a CONSTRAINT, our search does not."""
        bound = self.model.bound.name
        if fn.is_step:
            return f"{checked_name(fn)} == [][{bound}' => {fn.name}]_vars"
        return f"{checked_name(fn)} == {bound} => {fn.name}"

    def _choice(self, fn: Fn) -> str:
        if not fn.params:
            return fn.name
        ranges = ", ".join(f"{self._param(n)} \\in {typed_set(t, self.constants)}" for n, t in fn.params)
        return f"\\E {ranges} : {fn.name}({', '.join(self._param(n) for n, _ in fn.params)})"

    def _param(self, name: str) -> str:
        return self.printer.fresh(name, Scope("", {}))

    def _constant_lines(self) -> Iterator[str]:
        yield "CONSTANTS"
        for field, name in self.constants.items():
            value = getattr(self.config, field)
            if isinstance(value, enum.Enum):
                text = f'"{value.name}"'
            else:
                text = str(value).upper() if isinstance(value, bool) else str(value)
            yield f"    {name} = {text}"
        yield "    None = None"

    def _cfg(self) -> str:
        lines = [*self._constant_lines(), "SPECIFICATION Spec", f"CONSTRAINT {self.model.bound.name}"]
        states = [checked_name(fn) for fn in self.model.always if not fn.is_step]
        steps = [checked_name(fn) for fn in self.model.always if fn.is_step]
        if states:
            lines += ["INVARIANTS", *(f"    {name}" for name in states)]
        if steps:
            lines += ["PROPERTIES", *(f"    {name}" for name in steps)]
        return "\n".join(lines) + "\n"

    # ------------------------------------------------------------------------- definitions

    def _head(self, fn: Fn, name: str) -> tuple[str, Scope]:
        scope = Scope(fn.name, {})
        for param, _ in fn.params:
            scope = scope.bind(param, self.printer.fresh(param, scope))
        params = ", ".join(scope.local[p] for p, _ in fn.params)
        return (f"{name}({params}) ==" if params else f"{name} =="), scope

    def _operator(self, fn: Fn, *, primed: bool = False) -> list[str]:
        name = self.printer.operators[fn.name] + ("Next" if primed else "")
        head, scope = self._head(fn, name)
        body = self._value(fn.body, Scope(fn.name, scope.local, primed))
        title = f"{fn.ident}. {fn.doc}" if fn.ident else fn.doc
        return [*_comment("" if primed else title), *render(Head(head, body, hang=True), WIDTH)]

    def _copies(self) -> dict[str, list[str]]:
        """Primed copies of operators, callees first; printing one may ask for another."""
        made: dict[str, list[str]] = {}
        while len(made) < len(self.printer.copies):
            for name in list(self.printer.copies):
                if name not in made:
                    made[name] = self._operator(self.model.fns[name], primed=True)
        order = [fn.name for fn in self.model.fns.values() if fn.name in made]
        return {name: made[name] for name in order}

    def _value(self, block: Block, scope: Scope) -> Doc:
        """The body of an operator."""
        lets: list[tuple[str, Doc]] = []
        while isinstance(block, Let):
            name = self.printer.fresh(block.name, scope)
            lets.append((name, self.printer.doc(block.value, scope)))
            scope = scope.bind(block.name, name)
            block = block.rest
        match block:
            case If(condition=c, then=then, orelse=orelse):
                body: Doc = IfDoc(
                    self.printer.doc(c, scope), self._value(then, scope), self._value(orelse, scope)
                )
            case Ret(value=E() as value):
                body = self.printer.doc(value, scope)
            case _:
                raise ValueError(f"{scope.fn} is not an operator")
        return LetDoc(lets, body, stacked=True) if lets else body

    def _init(self) -> list[str]:
        fn = self.model.init
        assert isinstance(fn.body, Ret) and isinstance(fn.body.value, View)
        scope = Scope(fn.name, {})
        items = [Item(Head(f"{f} =", self.printer.doc(e, scope))) for f, e in fn.body.value.fields.items()]
        return [*_comment(fn.doc), *render(Head(f"{fn.name} ==", Bullets("/\\", items), hang=True), WIDTH)]

    def _action(self, fn: Fn) -> list[str]:
        head, scope = self._head(fn, fn.name)
        return [*_comment(fn.doc), *render(Head(head, self._step(fn.body, scope), hang=True), WIDTH)]

    def _step(self, block: Block, scope: Scope) -> Doc:
        """A block of an action: guards, then branches or primed variables."""
        items: list[Item] = []
        while isinstance(block, Require):
            parts = block.condition.args if block.condition.kind == "and" else (block.condition,)
            items += [Item(self._guard(part, scope)) for part in parts]
            block = block.rest
        if isinstance(block, Let):
            lets: list[tuple[str, Doc]] = []
            while isinstance(block, Let):
                name = self.printer.fresh(block.name, scope)
                lets.append((name, self.printer.doc(block.value, scope)))
                scope = scope.bind(block.name, name)
                block = block.rest
            body: Doc = LetDoc(lets, self._step(block, scope), stacked=True)
            items.append(Item(body))
        elif isinstance(block, If):
            then, orelse = self._step(block.then, scope), self._step(block.orelse, scope)
            items.append(Item(IfDoc(self.printer.doc(block.condition, scope), then, orelse)))
        else:
            assert isinstance(block, Ret) and isinstance(block.value, View)
            items += [Item(doc) for doc in self._assignments(block.value, scope)]
        return Bullets("/\\", items) if len(items) > 1 else items[0].doc

    def _guard(self, e: E, scope: Scope) -> Doc:
        if self.branching.branches(scope.fn, e):
            return Head("TRUE =", Group("(", self.printer.doc(e, scope), ")"))
        return self.printer.doc(e, scope, AND + 1 if e.kind != "and" else LOOSE)

    def _assignments(self, view: View, scope: Scope) -> Iterator[Doc]:
        same = [f for f, e in view.fields.items() if e.kind == "svar" and e.x == ("now", f)]
        for field, e in view.fields.items():
            if field not in same:
                yield Head(f"{field}' =", self.printer.doc(e, scope))
        if same:
            yield Text(f"UNCHANGED {same[0]}" if len(same) == 1 else f"UNCHANGED <<{', '.join(same)}>>")


def _comment(text: str) -> list[str]:
    return [f"\\* {line}".rstrip() for line in text.splitlines()] if text else []
