"""Prints the functions of a model as the definitions of a module: operators, properties and actions."""

from __future__ import annotations

from collections.abc import Iterator

from elrcheck.lang import expr
from elrcheck.lang.expr import Expression
from elrcheck.lang.ir import Block, Fn, If, Let, Require, Ret, StateView
from elrcheck.lang.load import Model
from elrcheck.tla_export.pretty import (
    WIDTH,
    Bracketed,
    Bullets,
    Conditional,
    Definitions,
    Doc,
    Headed,
    Items,
    ListItem,
    PlainText,
    comment_lines,
    render,
)
from elrcheck.tla_export.printed import PrintScope
from elrcheck.tla_export.printer import ExpressionPrinter
from elrcheck.tla_export.rigid import Branching


class DefinitionPrinter:
    """Prints the functions of a model, with the names and constants of an expression printer."""

    def __init__(self, model: Model, printer: ExpressionPrinter) -> None:
        self.model, self.printer = model, printer
        self.branching = Branching(model.fns)

    def head(self, fn: Fn, name: str) -> tuple[str, PrintScope]:
        """Return the left side of a definition, and the scope with the parameters in it."""
        scope = PrintScope(fn.name, {})
        for param, _ in fn.params:
            scope = scope.bind(param, self.printer.fresh(param, scope))
        params = ", ".join(scope.local[p] for p, _ in fn.params)
        return (f"{name}({params}) ==" if params else f"{name} =="), scope

    def operator(self, fn: Fn, *, primed: bool = False) -> list[str]:
        """Print an operator or a property with its docstring. primed: its copy for the state after a step."""
        name = (self.printer.copies if primed else self.printer.operators)[fn.name]
        head, scope = self.head(fn, name)
        body = self._value(fn.body, PrintScope(fn.name, scope.local, primed))
        title = f"{fn.ident}. {fn.doc}" if fn.ident else fn.doc
        return [*comment_lines("" if primed else title), *render(Headed(head, body, hang=True), WIDTH)]

    def copies(self) -> dict[str, list[str]]:
        """Print primed copies of operators, callees first; printing one may require another."""
        copies: dict[str, list[str]] = {}
        while len(copies) < len(self.printer.copies):
            for name in list(self.printer.copies):
                if name not in copies:
                    copies[name] = self.operator(self.model.fns[name], primed=True)
        order = [fn.name for fn in self.model.fns.values() if fn.name in copies]
        return {name: copies[name] for name in order}

    def _value(self, block: Block, scope: PrintScope) -> Doc:
        """Print the body of an operator."""
        lets, scope, block = self._lets(block, scope)
        match block:
            case If(condition=c, then=then, orelse=orelse):
                body: Doc = Conditional(
                    self.printer.doc(c, scope), self._value(then, scope), self._value(orelse, scope)
                )
            case Ret(value=value) if not isinstance(value, StateView):
                body = self.printer.doc(value, scope)
            case _:
                raise ValueError(f"{scope.fn} is not an operator")
        return Definitions(lets, body, stacked=True) if lets else body

    def action(self, fn: Fn) -> list[str]:
        """Print an action with its docstring."""
        head, scope = self.head(fn, fn.name)
        return [*comment_lines(fn.doc), *render(Headed(head, self.step(fn.body, scope), hang=True), WIDTH)]

    def step(self, block: Block, scope: PrintScope, prime: str = "'") -> Doc:
        """Print a block of an action: guards with their names, then branches or the new values."""
        items: list[ListItem] = []
        while isinstance(block, Require):
            match block.condition:
                case expr.Junction(op="and", parts=parts):
                    pass
                case condition:
                    parts = (condition,)
            names = [block.name] + [""] * (len(parts) - 1)
            items += [ListItem(self._guard(e, scope), comment=name) for e, name in zip(parts, names, strict=True)]
            block = block.rest
        if isinstance(block, Let):
            lets, scope, block = self._lets(block, scope)
            items.append(ListItem(Definitions(lets, self.step(block, scope, prime), stacked=True)))
        elif isinstance(block, If):
            then, orelse = self.step(block.then, scope, prime), self.step(block.orelse, scope, prime)
            items.append(ListItem(Conditional(self.printer.doc(block.condition, scope), then, orelse)))
        elif isinstance(block, Ret) and isinstance(block.value, StateView):
            items += [ListItem(doc) for doc in self._assignments(block.value, scope, prime)]
        return Bullets("/\\", items, stacked=True) if len(items) > 1 else items[0].doc

    def _lets(self, block: Block, scope: PrintScope) -> tuple[list[tuple[str, Doc]], PrintScope, Block]:
        """Split a block into its leading definitions, the scope after them, and the rest."""
        lets: list[tuple[str, Doc]] = []
        while isinstance(block, Let):
            name = self.printer.fresh(block.name, scope)
            lets.append((name, self.printer.doc(block.value, scope)))
            scope = scope.bind(block.name, name)
            block = block.rest
        return lets, scope, block

    def _guard(self, e: Expression, scope: PrintScope) -> Doc:
        doc = self.printer.doc(e, scope)
        if not self.branching.branches(scope.fn, e):
            return doc
        return Headed("TRUE =", doc if isinstance(e, expr.Call) else Bracketed("(", doc, ")"))

    def _assignments(self, view: StateView, scope: PrintScope, prime: str) -> Iterator[Doc]:
        same = [f for f, e in view.fields.items() if _is_variable(e, f)]
        for field, e in view.fields.items():
            if field not in same:
                yield Headed(f"{field}{prime} =", self.printer.right_of_equality(e, scope))
        if same:
            many = Items("UNCHANGED <<", [PlainText(f) for f in same], ">>")
            yield PlainText(f"UNCHANGED {same[0]}") if len(same) == 1 else many


def _is_variable(e: Expression, field: str) -> bool:
    """Return whether an expression is the current value of a state variable."""
    return isinstance(e, expr.StateVariable) and e.moment == "now" and e.name == field
