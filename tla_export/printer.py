r"""Print IR expressions as TLA+, node by node, preserving precedence and names.

A printed expression is a `Printed`: a document and its precedence. An operand that binds less tightly
than its place requires gets parentheses. Quantifiers, IF, LET and => bind least tightly.

Primes. `now.field` is a variable, `next.field` its primed form. An operator on the next state is
printed as `Op(args)'` where its arguments are rigid (see `rigid`); otherwise the module gets a second
copy of the operator with every variable primed, and the copy is called.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from elrcheck.lang import expr
from elrcheck.lang.expr import Expression
from elrcheck.lang.ir import Fn
from elrcheck.lang.tree import UnsupportedNode, is_natural, unsupported
from elrcheck.lang.types import Ty
from elrcheck.tla_export.binder_printer import BinderPrinter
from elrcheck.tla_export.names import Names, camel, local_name
from elrcheck.tla_export.pretty import (
    Bracketed,
    Bullets,
    Chain,
    Conditional,
    Definitions,
    Doc,
    Headed,
    Items,
    ListItem,
    PlainText,
)
from elrcheck.tla_export.printed import (
    AND,
    APPLY,
    ARITHMETIC,
    ATOM,
    COMPARE,
    COMPARED,
    IMPLIES,
    LOOSE,
    NOT,
    OR,
    SETS,
    SETS_INFIX,
    SUM,
    Printed,
    PrintScope,
)
from elrcheck.tla_export.rigid import Rigidity, lets_of
from elrcheck.tla_export.type_sets import size_text, type_set

# A local name may stand for an access that contains several names, such as `broker[b].log[k]`.
WORD = re.compile(r"[A-Za-z_]\w*")
OLD = "@"
"""The old value of an entry inside EXCEPT."""


class ExpressionPrinter(BinderPrinter):
    """Prints the expressions in the functions of one model."""

    backend = "TLA+"

    def __init__(
        self, fns: Mapping[str, Fn], constants: Mapping[str, str], names: Names, records: Mapping[str, str]
    ) -> None:
        """Name the operators. names: those that the module defines already; records: see `type_set`."""
        self.fns, self.constants, self.names, self.records = fns, constants, names, records
        self.operators = {
            name: names.new(camel(name)) if fn.kind in ("op", "lemma") else name for name, fn in fns.items()
        }
        self.rigidity = Rigidity(fns)
        self.lets = {name: lets_of(fn) for name, fn in fns.items()}
        self.copies: dict[str, str] = {}

    def doc(self, e: Expression, scope: PrintScope, least: int = LOOSE) -> Doc:
        """Print the expression, in parentheses if it binds less tightly than `least`."""
        printed = self.printed(e, scope)
        return Bracketed("(", printed.doc, ")") if printed.prec < least else printed.doc

    def right_of_equality(self, e: Expression, scope: PrintScope) -> Doc:
        """Print the new value of a variable: in parentheses if its operator binds no tighter than the equality."""
        printed = self.printed(e, scope)
        return Bracketed("(", printed.doc, ")") if IMPLIES <= printed.prec <= COMPARE else printed.doc

    def text(self, e: Expression, scope: PrintScope, least: int = LOOSE) -> str:
        """Print the expression on one line, for places that cannot be broken."""
        flat = self.doc(e, scope, least).flat
        if flat is None:
            raise UnsupportedNode(f"{self.backend}, inside another expression,", e)
        return flat

    def fresh(self, name: str, scope: PrintScope) -> str:
        """Choose a local name that hides no other."""
        taken = self.names.taken.union(*(WORD.findall(text) for text in scope.local.values()))
        return local_name(name, taken)

    def printed(self, e: Expression, scope: PrintScope) -> Printed:
        """Print the expression and determine its precedence."""
        match e:
            case expr.Constant(value=bool()):
                return Printed(PlainText("TRUE" if e.value else "FALSE"))
            case expr.Constant():
                return Printed(PlainText(str(e.value)), ATOM if e.value >= 0 else SUM)
            case expr.ConfigField():
                return Printed(PlainText(self.constants[e.name]))
            case expr.EnumMember():
                return Printed(PlainText(f'"{e.name}"'))
            case expr.WholeSort():
                every = self._every(e.ty.elem)
                return Printed(PlainText(every), ATOM if every.isidentifier() or every[0] == "{" else SETS)
            case expr.SortList():
                i = self.fresh("i", scope)
                return Printed(PlainText(f"[{i} \\in 1..{size_text(e.ty.elem, self.constants)} |-> {i} - 1]"))
            case expr.NoneLiteral():
                return Printed(PlainText("None"))
            case expr.EmptySequence():
                return Printed(PlainText("<<>>"))
            case expr.Variable():
                text = scope.local[e.name]
                return Printed(PlainText(text), APPLY if "[" in text else ATOM)
            case expr.StateVariable():
                return Printed(PlainText(f"{e.name}'" if e.moment == "next" or scope.primed else e.name))
            case expr.Some() | expr.Get():
                return self.printed(e.value, scope)
            case expr.IsNone():
                return Printed(Chain("=", [self.doc(e.value, scope, SETS), PlainText("None")]), COMPARE)
            case expr.Field() if e.record.ty.is_pair:
                return Printed(Bracketed("", self.doc(e.record, scope, APPLY), f"[{int(e.name) + 1}]"), APPLY)
            case expr.Field():
                return Printed(Bracketed("", self.doc(e.record, scope, APPLY), f".{e.name}"), APPLY)
            case expr.RecordExpr(names=()):
                return Printed(PlainText("<<>>"))  # the record without fields is the function without arguments
            case expr.RecordExpr() if e.ty.is_pair:
                return Printed(Items("<<", [self.doc(v, scope) for v in e.values], ">>"))
            case expr.RecordExpr():
                pairs = zip(e.names, e.values, strict=True)
                return Printed(Items("[", [Headed(f"{f} |->", self.doc(v, scope)) for f, v in pairs], "]"))
            case expr.Update():
                return self._except(self.text(e.record, scope), self._paths("", e, scope))
            case expr.VectorPut():
                return self._put(e, scope)
            case expr.VectorGet():
                where = self.text(e.index, scope)
                return Printed(Bracketed("", self.doc(e.vector, scope, APPLY), f"[{where}]"), APPLY)
            case expr.VectorOf():
                name = self.fresh(e.variable.name, scope)
                body = self.doc(e.body, scope.bind(e.variable.name, name))
                return Printed(Bracketed("[", Headed(f"{name} \\in {self._every(e.ty.keys)} |->", body), "]"))
            case expr.IfElse():
                c, a, b = (self.doc(part, scope) for part in (e.condition, e.then, e.orelse))
                return Printed(Conditional(c, a, b), LOOSE)
            case expr.Junction(op="and"):
                return self._list("/\\", AND, e.parts, scope, [""] * len(e.parts))
            case expr.Junction():
                return self._list("\\/", OR, e.parts, scope, [""] * len(e.parts))
            case expr.NamedConjunction():
                return self._list("/\\", AND, e.parts, scope, e.names)
            case expr.Implies():
                sides = [self.doc(e.premise, scope, OR), self.doc(e.conclusion, scope, OR)]
                return Printed(Chain("=>", sides), IMPLIES)
            case expr.Not():
                return self._not(e.operand, scope)
            case expr.Equal():
                return self._infix("=", COMPARE, (e.left, e.right), scope)
            case expr.Compare():
                return self._infix(COMPARED[e.op], COMPARE, (e.left, e.right), scope)
            case expr.Subset():
                return self._infix("\\subseteq", COMPARE, (e.small, e.large), scope)
            case expr.MemberExpr():
                return self._infix("\\in", COMPARE, (e.element, e.members), scope)
            case expr.Arithmetic(op="min" | "max"):
                return self._applied("Least" if e.op == "min" else "Greatest", (e.left, e.right), scope)
            case expr.Arithmetic(op="sub", left=expr.Constant(value=0)):
                return Printed(Bracketed("-", self.doc(e.right, scope, APPLY), ""), SUM)
            case expr.Arithmetic():
                prec = SUM if e.op in ("add", "sub") else SETS  # \\div and % stand beside no other operator
                return Printed(Chain(ARITHMETIC[e.op], [self.doc(a, scope, SUM + 1) for a in (e.left, e.right)]), prec)
            case expr.SetLiteral():
                return Printed(
                    Items("{", [self.doc(x, scope) for x in e.elements], "}") if e.elements else PlainText("{}")
                )
            case expr.SetOperation():
                return self._infix(SETS_INFIX[e.op], SETS, (e.left, e.right), scope)
            case expr.Cardinality():
                return self._applied("Cardinality", (e.members,), scope)
            case expr.Elements():
                return self._applied("Elements", (e.sequence,), scope)
            case expr.Length():
                return self._applied("Len", (e.sequence,), scope)
            case expr.SequenceGet():
                return self._element(e, scope)
            case expr.Prefix():
                return self._applied("Prefix", (e.sequence, e.count), scope)
            case expr.Suffix() if not is_natural(e.count):
                return self._applied("Suffix", (e.sequence, e.count), scope)
            case expr.Suffix():
                sequence, begin = self.text(e.sequence, scope), self._from_one(e.count, scope)
                return Printed(PlainText(f"SubSeq({sequence}, {begin}, Len({sequence}))"), APPLY)
            case expr.AppendExpr():
                return self._applied("Append", (e.sequence, e.element), scope)
            case expr.Concatenation():
                return self._infix("\\o", SUM, (e.left, e.right), scope)
            case expr.SequenceFilter():
                return self.selecting("SelectSeq", e, scope)
            case expr.First(over="seq"):
                return self.selecting("First", e, scope)
            case expr.First():
                return Printed(Items("MinOf(", [self.chosen(e, scope)[2], PlainText("None")], ")"), APPLY)
            case expr.Quantifier():
                return self.quantified(e, scope)
            case expr.Filter():
                return Printed(self.chosen(e, scope)[2])
            case expr.Image():
                return Printed(self.image(e, e.body, scope))
            case expr.Total():
                return self.total(e, scope)
            case expr.Union():
                return Printed(Bracketed("UNION ", self.image(e, e.body, scope), ""), NOT)
            case expr.Count():
                return Printed(Bracketed("Cardinality(", self.chosen(e, scope)[2], ")"), APPLY)
            case expr.Extreme():
                return self.extreme(e, scope)
            case expr.LetIn():
                name = self.fresh(e.name, scope)
                body = self.doc(e.body, scope.bind(e.name, name))
                return Printed(Definitions([(name, self.doc(e.value, scope))], body, stacked=False), LOOSE)
            case expr.Call():
                return self._call(e, scope)
            case expr.WholeConfig():
                raise UnsupportedNode(self.backend, e)
            case _:
                unsupported(self.backend, e)

    def _every(self, ty: Ty) -> str:
        """Print the set of all values of a finite type."""
        return type_set(ty, self.constants, self.records)

    # ------------------------------------------------------------------------- common shapes

    def _infix(self, operator: str, prec: int, args: Sequence[Expression], scope: PrintScope) -> Printed:
        return Printed(Chain(operator, [self.doc(a, scope, prec + 1) for a in args]), prec)

    def _applied(self, name: str, args: Sequence[Expression], scope: PrintScope) -> Printed:
        return Printed(Items(f"{name}(", [self.doc(a, scope) for a in args], ")"), APPLY)

    def _list(
        self, operator: str, prec: int, parts: Sequence[Expression], scope: PrintScope, names: Sequence[str]
    ) -> Printed:
        items = [
            ListItem(self.doc(part, scope), inline=self.doc(part, scope, AND + 1), comment=name)
            for part, name in zip(parts, names, strict=True)
        ]
        return Printed(Bullets(operator, items), LOOSE if len(items) == 1 else prec)

    def _not(self, e: Expression, scope: PrintScope) -> Printed:
        match e:
            case expr.Equal():
                return self._infix("#", COMPARE, (e.left, e.right), scope)
            case expr.MemberExpr():
                return self._infix("\\notin", COMPARE, (e.element, e.members), scope)
            case expr.IsNone():
                return Printed(Chain("#", [self.doc(e.value, scope, SETS), PlainText("None")]), COMPARE)
            case _:
                return Printed(Bracketed("~", self.doc(e, scope, APPLY), ""), NOT)

    # ------------------------------------------------------------------------- records and functions

    def _put(self, e: expr.VectorPut, scope: PrintScope) -> Printed:
        if not isinstance(e.vector, expr.VectorPut):
            return self._except(self.text(e.vector, scope), self._paths("", e, scope))
        changed: list[expr.VectorPut] = []
        base: Expression = e
        while isinstance(base, expr.VectorPut):
            changed.append(base)
            base = base.vector
        heads = [(f"[{self.text(x.index, scope)}]", self._entry(x, scope)) for x in reversed(changed)]
        return self._except(self.text(base, scope), heads)

    def _entry(self, e: expr.VectorPut, scope: PrintScope) -> Doc:
        """Print the new value of an entry, with @ for the old one."""
        match e.value:
            case expr.Arithmetic(left=expr.VectorGet(vector=e.vector, index=e.index) as old):
                return self.doc(replace(e.value, left=expr.Variable(old.ty, OLD)), scope.bind(OLD, OLD))
        return self.doc(e.value, scope)

    def _except(self, base: str, changed: Sequence[tuple[str, Doc]]) -> Printed:
        heads = [Headed(f"!{path} =", doc) for path, doc in changed]
        return Printed(Items(f"[{base} EXCEPT ", heads, "]"))

    def _paths(self, path: str, e: expr.Update | expr.VectorPut, scope: PrintScope) -> list[tuple[str, Doc]]:
        """Collect the changes of an update as deep paths: `![b].view.leader = x`, not nested EXCEPTs.

        A nested update is followed as long as it changes the value that was at that path before.
        """
        old = self.text(_updated(e), scope, APPLY)
        if isinstance(e, expr.Update):
            steps = [(f".{field}", value) for field, value in zip(e.names, e.values, strict=True)]
        else:
            steps = [(f"[{self.text(e.index, scope)}]", e.value)]
        changes: list[tuple[str, Doc]] = []
        for step, value in steps:
            if isinstance(value, expr.Update | expr.VectorPut) and f"{old}{step}" in self._spellings(
                _updated(value), scope
            ):
                changes += self._paths(path + step, value, scope)
            else:
                changed = self._entry(e, scope) if isinstance(e, expr.VectorPut) else self.doc(value, scope)
                changes.append((path + step, changed))
        return changes

    def _spellings(self, e: Expression, scope: PrintScope) -> set[str]:
        """Return the spellings of an expression: as it is, and with the LET that it names expanded."""
        spellings = {self.text(e, scope, APPLY)}
        match e:
            case expr.Variable():
                value = self.lets[scope.fn].get(e.name)
                if isinstance(value, expr.Variable | expr.StateVariable | expr.Field | expr.VectorGet):
                    spellings |= self._spellings(value, scope)
            case expr.Field():
                spellings |= {f"{base}.{e.name}" for base in self._spellings(e.record, scope)}
            case expr.VectorGet():
                where = self.text(e.index, scope)
                spellings |= {f"{base}[{where}]" for base in self._spellings(e.vector, scope)}
        return spellings

    # ------------------------------------------------------------------------- sequences

    def _element(self, e: expr.SequenceGet, scope: PrintScope) -> Printed:
        return Printed(PlainText(f"{self.text(e.sequence, scope, APPLY)}[{self._from_one(e.index, scope)}]"), APPLY)

    def _from_one(self, index: Expression, scope: PrintScope) -> str:
        """Print the place of an element; TLA+ counts from 1."""
        match index:
            case expr.Arithmetic(op="sub", left=left, right=expr.Constant(value=1)):
                return self.text(left, scope)
            case expr.Constant(value=value):
                return str(value + 1)
            case _:
                return f"{self.text(index, scope, SUM)} + 1"

    # ------------------------------------------------------------------------- calls

    def _call(self, e: expr.Call, scope: PrintScope) -> Printed:
        operator, prime = self.operators[e.function], ""
        if self.fns[e.function].states and (scope.primed or e.states == ("next",)):
            if all(self.rigidity.is_rigid(scope.fn, a) for a in e.args) and not scope.primed:
                prime = "'"
            else:
                operator = self._copy(e.function)
        if not e.args:
            return Printed(PlainText(operator + prime), APPLY)
        return Printed(Items(f"{operator}(", [self.doc(a, scope) for a in e.args], f"){prime}"), APPLY)

    def _copy(self, name: str) -> str:
        """Name the copy of an operator with every variable primed; the module prints requested copies."""
        if name not in self.copies:
            self.copies[name] = self.names.new(f"{self.operators[name]}Next")
        return self.copies[name]


def _updated(e: expr.Update | expr.VectorPut) -> Expression:
    """Return the record or vector under an update."""
    return e.record if isinstance(e, expr.Update) else e.vector
