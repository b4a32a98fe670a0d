"""Prints quantifiers and comprehensions as TLA+; the base class of `elrcheck.tla_export.printer`."""

from __future__ import annotations

from abc import ABC, abstractmethod

from elrcheck.lang import expr
from elrcheck.lang.expr import Comprehension, Expression
from elrcheck.tla_export.pretty import Bracketed, Bullets, Chain, Doc, Headed, Items, ListItem, PlainText
from elrcheck.tla_export.printed import APPLY, LOOSE, NOT, OR, SETS, SUM, Printed, PrintScope


class BinderPrinter(ABC):
    """Prints nodes that bind a variable."""

    @abstractmethod
    def doc(self, e: Expression, scope: PrintScope, least: int = LOOSE) -> Doc:
        """Print an expression, in parentheses if it binds less tightly than `least`."""

    @abstractmethod
    def text(self, e: Expression, scope: PrintScope, least: int = LOOSE) -> str:
        """Print an expression on one line."""

    @abstractmethod
    def fresh(self, name: str, scope: PrintScope) -> str:
        """Choose a local name that hides no other."""

    def selecting(self, operator: str, e: expr.SequenceFilter | expr.First, scope: PrintScope) -> Printed:
        name = self.fresh(e.variable.name, scope)
        inner = scope.bind(e.variable.name, name)
        condition = PlainText("TRUE") if e.condition is None else self.doc(e.condition, inner)
        return Printed(
            Items(f"{operator}(", [self.doc(e.domain, scope), Headed(f"LAMBDA {name} :", condition)], ")"), APPLY
        )

    def _domain(self, e: Comprehension, scope: PrintScope) -> tuple[str, str, PrintScope]:
        """Return (bound name, set it ranges over, scope of the body)."""
        variable = e.variable.name
        name = self.fresh(variable, scope)
        domain = self.text(e.domain, scope, SETS)
        if e.over == "set":
            return name, domain, scope.bind(variable, name)
        if e.over == "range":
            first = "0" if e.begin is None else self.text(e.begin, scope, SUM + 1)
            return name, f"{first}..({self.text(e.domain, scope, SUM)} - 1)", scope.bind(variable, name)
        sequence = self.text(e.domain, scope, APPLY)
        return name, f"DOMAIN {sequence}", scope.bind(variable, f"{sequence}[{name}]")

    def quantified(self, e: expr.Quantifier, scope: PrintScope) -> Printed:
        r"""Merge quantifiers of one kind over the same set: `\A a, b \in S : p`."""
        quantifier = "\\A" if e.op == "all" else "\\E"
        name, domain, inner = self._domain(e, scope)
        names = [name]
        while e.condition is None and e.over == "set":
            body = e.body
            if not isinstance(body, expr.Quantifier) or body.op != e.op or body.over != e.over:
                break
            name, again, inside = self._domain(body, inner)
            if again != domain:
                break
            names, inner, e = [*names, name], inside, body
        head = f"{quantifier} {', '.join(names)} \\in {domain} :"
        if e.condition is None:
            return Printed(Headed(head, self.doc(e.body, inner)), LOOSE)
        if e.op == "all":
            joined: Doc = Chain("=>", [self.doc(e.condition, inner, OR), self.doc(e.body, inner, OR)])
        else:
            joined = Bullets("/\\", [ListItem(self.doc(x, inner, NOT)) for x in (e.condition, e.body)])
        return Printed(Headed(head, joined), LOOSE)

    def chosen(self, e: Comprehension, scope: PrintScope) -> tuple[str, PrintScope, Doc]:
        """Print the set of bound values that satisfy the condition."""
        name, domain, inner = self._domain(e, scope)
        if e.condition is None:
            return name, inner, PlainText(domain)
        return name, inner, Bracketed("{", Headed(f"{name} \\in {domain} :", self.doc(e.condition, inner)), "}")

    def total(self, e: expr.Total, scope: PrintScope) -> Printed:
        name, inner, chosen = self.chosen(e, scope)
        return Printed(Items("SumOf(", [chosen, Headed(f"LAMBDA {name} :", self.doc(e.body, inner))], ")"), APPLY)

    def extreme(self, e: expr.Extreme, scope: PrintScope) -> Printed:
        operator = "MinOf(" if e.op == "min" else "MaxOf("
        image, default = self.image(e, e.body, scope), self.doc(e.default, scope)
        return Printed(Items(operator, [image, default], ")"), APPLY)

    def image(self, e: Comprehension, body: Expression, scope: PrintScope) -> Doc:
        """Print the set of the values of an expression for all bound values that satisfy the condition."""
        name, inner, chosen = self.chosen(e, scope)
        return Bracketed("{", Chain(":", [self.doc(body, inner), Headed(f"{name} \\in", chosen)]), "}")
