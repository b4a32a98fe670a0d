r"""IR expressions as TLA+: one small method for each node kind, precedence kept, names kept.

A printed expression is a `Printed`: a document and how tightly it binds. Operands that bind less than
their place asks for get parentheses. Quantifiers, IF, LET and => bind least.

Primes. `now.field` is a variable, `next.field` its primed form. An operator on the next state is
printed as `Op(args)'` where its arguments are rigid (see `rigid`); otherwise the module gets a second
copy of the operator with every variable primed, and the copy is called.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from elrcheck.lang.ir import E, Fn, UnsupportedNode, Walker
from elrcheck.tla_export.names import Names, camel, local_name
from elrcheck.tla_export.pretty import Bullets, Chain, Doc, Group, Head, If, Item, Items, Let, Text
from elrcheck.tla_export.rigid import Rigidity, lets_of

LOOSE, IMPLIES, OR, AND, NOT, COMPARE, SETS, SUM, APPLY, ATOM = 0, 1, 2, 3, 4, 5, 6, 7, 15, 20
INFIX = {"eq": "=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "subset": "\\subseteq", "in": "\\in"}
NEGATED = {"eq": "#", "in": "\\notin"}
# A local name may stand for an access with several names in it, such as `broker[b].log[k]`.
WORD = re.compile(r"[A-Za-z_]\w*")
ACCESS = ("var", "svar", "field", "vget")
SETS_INFIX = {"union": "\\cup", "inter": "\\cap", "diff": "\\"}


@dataclass(frozen=True)
class Printed:
    """A document and its precedence."""

    doc: Doc
    prec: int = ATOM


@dataclass(frozen=True)
class Scope:
    """Where an expression stands: its function, its local names, and whether "now" means next."""

    fn: str
    local: Mapping[str, str]
    primed: bool = False

    def bind(self, name: str, text: str) -> Scope:
        return replace(self, local={**self.local, name: text})


class Expressions(Walker):
    """Prints expressions of the functions of one model."""

    backend = "TLA+"

    def __init__(self, fns: Mapping[str, Fn], constants: Mapping[str, str], names: Names) -> None:
        """names: what the module defines apart from operators, which get theirs here."""
        self.fns, self.constants, self.names = fns, constants, names
        self.operators = {
            name: names.new(camel(name)) if fn.kind in ("op", "lemma") else name for name, fn in fns.items()
        }
        self.rigidity = Rigidity(fns)
        self.lets = {name: lets_of(fn) for name, fn in fns.items()}
        self.copies: dict[str, str] = {}

    def doc(self, e: E, scope: Scope, least: int = LOOSE) -> Doc:
        """The expression, in parentheses if it binds less than `least`."""
        printed: Printed = self.dispatch(e, scope)
        return Group("(", printed.doc, ")") if printed.prec < least else printed.doc

    def text(self, e: E, scope: Scope, least: int = LOOSE) -> str:
        """The expression on one line, for places that cannot be broken."""
        flat = self.doc(e, scope, least).flat
        if flat is None:
            raise UnsupportedNode(f"{self.backend}, inside another expression,", e.kind, e.line)
        return flat

    def fresh(self, name: str, scope: Scope) -> str:
        """A local name that hides nothing."""
        taken = self.names.taken.union(*(WORD.findall(text) for text in scope.local.values()))
        return local_name(name, taken)

    # ------------------------------------------------------------------------- atoms

    def on_const(self, e: E, scope: Scope) -> Printed:
        if isinstance(e.x, bool):
            return Printed(Text("TRUE" if e.x else "FALSE"))
        return Printed(Text(str(e.x)))

    def on_param(self, e: E, scope: Scope) -> Printed:
        return Printed(Text(self.constants[e.x]))

    def on_enumc(self, e: E, scope: Scope) -> Printed:
        return Printed(Text(f'"{e.x}"'))

    def on_universe(self, e: E, scope: Scope) -> Printed:
        return Printed(Text("Brokers"))

    def on_ordered(self, e: E, scope: Scope) -> Printed:
        return Printed(Text(f"[i \\in 1..{self.constants['broker_count']} |-> i - 1]"))

    def on_none(self, e: E, scope: Scope) -> Printed:
        return Printed(Text("None"))

    def on_some(self, e: E, scope: Scope) -> Printed:
        printed: Printed = self.dispatch(e.args[0], scope)
        return printed

    on_get = on_some

    def on_seqnil(self, e: E, scope: Scope) -> Printed:
        return Printed(Text("<<>>"))

    def on_var(self, e: E, scope: Scope) -> Printed:
        text = scope.local[e.x]
        return Printed(Text(text), APPLY if "[" in text else ATOM)

    def on_svar(self, e: E, scope: Scope) -> Printed:
        which, name = e.x
        return Printed(Text(f"{name}'" if which == "next" or scope.primed else name))

    # ------------------------------------------------------------------------- records and functions

    def on_field(self, e: E, scope: Scope) -> Printed:
        return Printed(Text(f"{self.text(e.args[0], scope, APPLY)}.{e.x}"), APPLY)

    def on_rec(self, e: E, scope: Scope) -> Printed:
        fields = [Head(f"{f} |->", self.doc(v, scope)) for f, v in zip(e.x, e.args, strict=True)]
        return Printed(Items("[", fields, "]"))

    def on_upd(self, e: E, scope: Scope) -> Printed:
        return self._except(self.text(e.args[0], scope), self._paths("", e, scope))

    def on_put(self, e: E, scope: Scope) -> Printed:
        if e.args[0].kind != "put":
            return self._except(self.text(e.args[0], scope), self._paths("", e, scope))
        changed, base = [], e
        while base.kind == "put":
            changed.append((base.args[1], base.args[2]))
            base = base.args[0]
        heads = [(f"[{self.text(i, scope)}]", self.doc(v, scope)) for i, v in reversed(changed)]
        return self._except(self.text(base, scope), heads)

    def _except(self, base: str, changed: Sequence[tuple[str, Doc]]) -> Printed:
        heads = [Head(f"!{path} =", doc) for path, doc in changed]
        return Printed(Items(f"[{base} EXCEPT ", heads, "]"))

    def _paths(self, path: str, e: E, scope: Scope) -> list[tuple[str, Doc]]:
        """What an update changes, as deep paths: `![b].view.leader = x` instead of nested EXCEPTs.

        An update of an update is followed while it changes the very value that stood at that path.
        """
        old = self.text(e.args[0], scope, APPLY)
        if e.kind == "upd":
            steps = [(f".{field}", value) for field, value in zip(e.x, e.args[1:], strict=True)]
        else:
            steps = [(f"[{self.text(e.args[1], scope)}]", e.args[2])]
        found: list[tuple[str, Doc]] = []
        for step, value in steps:
            if value.kind in ("upd", "put") and f"{old}{step}" in self._spellings(value.args[0], scope):
                found += self._paths(path + step, value, scope)
            else:
                found.append((path + step, self.doc(value, scope)))
        return found

    def _spellings(self, e: E, scope: Scope) -> set[str]:
        """The ways to write an expression: as it is, and with the LET it names written out."""
        found = {self.text(e, scope, APPLY)}
        if e.kind == "var" and (value := self.lets[scope.fn].get(e.x)) is not None and value.kind in ACCESS:
            found |= self._spellings(value, scope)
        if e.kind in ("field", "vget"):
            tail = f".{e.x}" if e.kind == "field" else f"[{self.text(e.args[1], scope)}]"
            found |= {base + tail for base in self._spellings(e.args[0], scope)}
        return found

    def on_vget(self, e: E, scope: Scope) -> Printed:
        return Printed(Text(f"{self.text(e.args[0], scope, APPLY)}[{self.text(e.args[1], scope)}]"), APPLY)

    def on_vecmk(self, e: E, scope: Scope) -> Printed:
        name = self.fresh(e.x[0].x, scope)
        body = self.doc(e.args[0], scope.bind(e.x[0].x, name))
        return Printed(Group("[", Head(f"{name} \\in Brokers |->", body), "]"))

    # ------------------------------------------------------------------------- booleans

    def on_ite(self, e: E, scope: Scope) -> Printed:
        c, a, b = (self.doc(x, scope) for x in e.args)
        return Printed(If(c, a, b), LOOSE)

    def _list(
        self, operator: str, prec: int, parts: Sequence[E], scope: Scope, names: Sequence[str]
    ) -> Printed:
        items = [
            Item(self.doc(part, scope), inline=self.doc(part, scope, AND + 1), comment=name)
            for part, name in zip(parts, names, strict=True)
        ]
        if len(items) == 1:
            return Printed(Bullets(operator, items), LOOSE)
        return Printed(Bullets(operator, items), prec)

    def on_and(self, e: E, scope: Scope) -> Printed:
        return self._list("/\\", AND, e.args, scope, [""] * len(e.args))

    def on_or(self, e: E, scope: Scope) -> Printed:
        return self._list("\\/", OR, e.args, scope, [""] * len(e.args))

    def on_conj(self, e: E, scope: Scope) -> Printed:
        return self._list("/\\", AND, e.args, scope, e.x)

    def on_implies(self, e: E, scope: Scope) -> Printed:
        return Printed(Chain("=>", [self.doc(x, scope, OR) for x in e.args]), IMPLIES)

    def on_not(self, e: E, scope: Scope) -> Printed:
        inner: E = e.args[0]
        if inner.kind in NEGATED:
            return self._infix(NEGATED[inner.kind], COMPARE, inner.args, scope)
        if inner.kind == "isnone":
            return Printed(Chain("#", [self.doc(inner.args[0], scope, SETS), Text("None")]), COMPARE)
        return Printed(Group("~", self.doc(inner, scope, APPLY), ""), NOT)

    def _infix(self, operator: str, prec: int, args: Sequence[E], scope: Scope) -> Printed:
        return Printed(Chain(operator, [self.doc(a, scope, prec + 1) for a in args]), prec)

    def _compare(self, e: E, scope: Scope) -> Printed:
        return self._infix(INFIX[e.kind], COMPARE, e.args, scope)

    on_eq = on_lt = on_le = on_gt = on_ge = on_subset = on_in = _compare

    def on_isnone(self, e: E, scope: Scope) -> Printed:
        return Printed(Chain("=", [self.doc(e.args[0], scope, SETS), Text("None")]), COMPARE)

    # ------------------------------------------------------------------------- numbers and sets

    def on_add(self, e: E, scope: Scope) -> Printed:
        return self._infix("+", SUM, e.args, scope)

    def on_sub(self, e: E, scope: Scope) -> Printed:
        return self._infix("-", SUM, e.args, scope)

    def _applied(self, name: str, args: Sequence[E], scope: Scope) -> Printed:
        return Printed(Items(f"{name}(", [self.doc(a, scope) for a in args], ")"), APPLY)

    def on_min(self, e: E, scope: Scope) -> Printed:
        return self._applied("Least", e.args, scope)

    def on_max(self, e: E, scope: Scope) -> Printed:
        return self._applied("Greatest", e.args, scope)

    def on_setlit(self, e: E, scope: Scope) -> Printed:
        return (
            Printed(Items("{", [self.doc(a, scope) for a in e.args], "}")) if e.args else Printed(Text("{}"))
        )

    def _sets(self, e: E, scope: Scope) -> Printed:
        return self._infix(SETS_INFIX[e.kind], SETS, e.args, scope)

    on_union = on_inter = on_diff = _sets

    def on_card(self, e: E, scope: Scope) -> Printed:
        return self._applied("Cardinality", e.args, scope)

    def on_elems(self, e: E, scope: Scope) -> Printed:
        return self._applied("Elements", e.args, scope)

    # ------------------------------------------------------------------------- sequences

    def on_slen(self, e: E, scope: Scope) -> Printed:
        return self._applied("Len", e.args, scope)

    def on_sget(self, e: E, scope: Scope) -> Printed:
        base, index = e.args
        if index.kind == "sub" and index.args[1].kind == "const" and index.args[1].x == 1:
            where = self.text(index.args[0], scope)
        elif index.kind == "const":
            where = str(index.x + 1)
        else:
            where = f"{self.text(index, scope, SUM)} + 1"
        return Printed(Text(f"{self.text(base, scope, APPLY)}[{where}]"), APPLY)

    def on_take(self, e: E, scope: Scope) -> Printed:
        return self._applied("Prefix", e.args, scope)

    def on_append(self, e: E, scope: Scope) -> Printed:
        return self._applied("Append", e.args, scope)

    def on_concat(self, e: E, scope: Scope) -> Printed:
        return self._infix("\\o", SUM, e.args, scope)

    def on_seqfilter(self, e: E, scope: Scope) -> Printed:
        return self._selecting("SelectSeq", e, scope)

    def on_first(self, e: E, scope: Scope) -> Printed:
        return self._selecting("First", e, scope)

    def _selecting(self, operator: str, e: E, scope: Scope) -> Printed:
        name = self.fresh(e.x[0].x, scope)
        condition = self.doc(e.args[1], scope.bind(e.x[0].x, name))
        return Printed(
            Items(f"{operator}(", [self.doc(e.args[0], scope), Head(f"LAMBDA {name} :", condition)], ")"),
            APPLY,
        )

    # ------------------------------------------------------------------------- binders

    def _domain(self, e: E, scope: Scope) -> tuple[str, str, Scope]:
        """(bound name, set it ranges over, scope of the body)."""
        variable, kind = e.x
        name = self.fresh(variable.x, scope)
        domain = self.text(e.args[0], scope, SETS)
        if kind == "set":
            return name, domain, scope.bind(variable.x, name)
        if kind == "range":
            return name, f"0..({self.text(e.args[0], scope)} - 1)", scope.bind(variable.x, name)
        sequence = self.text(e.args[0], scope, APPLY)
        return name, f"DOMAIN {sequence}", scope.bind(variable.x, f"{sequence}[{name}]")

    def _quantified(self, e: E, scope: Scope, quantifier: str) -> Printed:
        name, domain, inner = self._domain(e, scope)
        names = [name]
        while e.args[1] is None and e.x[1] == "set" and _repeats(e):
            name, again, inside = self._domain(e.args[2], inner)
            if again != domain:
                break
            names, inner, e = [*names, name], inside, e.args[2]
        head = f"{quantifier} {', '.join(names)} \\in {domain} :"
        condition, body = e.args[1], e.args[2]
        if condition is None:
            return Printed(Head(head, self.doc(body, inner)), LOOSE)
        if quantifier == "\\A":
            joined: Doc = Chain("=>", [self.doc(condition, inner, OR), self.doc(body, inner, OR)])
        else:
            joined = Bullets("/\\", [Item(self.doc(x, inner, NOT)) for x in (condition, body)])
        return Printed(Head(head, joined), LOOSE)

    def on_all(self, e: E, scope: Scope) -> Printed:
        return self._quantified(e, scope, "\\A")

    def on_any(self, e: E, scope: Scope) -> Printed:
        return self._quantified(e, scope, "\\E")

    def _chosen(self, e: E, scope: Scope) -> tuple[str, Scope, Doc]:
        """The set of bound values that satisfy the condition."""
        name, domain, inner = self._domain(e, scope)
        if e.args[1] is None:
            return name, inner, Text(domain)
        return name, inner, Group("{", Head(f"{name} \\in {domain} :", self.doc(e.args[1], inner)), "}")

    def on_filter(self, e: E, scope: Scope) -> Printed:
        return Printed(self._chosen(e, scope)[2])

    def on_count(self, e: E, scope: Scope) -> Printed:
        return Printed(Group("Cardinality(", self._chosen(e, scope)[2], ")"), APPLY)

    def _extreme(self, e: E, scope: Scope) -> Printed:
        name, inner, chosen = self._chosen(e, scope)
        body, default = self.doc(e.args[2], inner), self.doc(e.args[3], scope)
        image = Group("{", Chain(":", [body, Head(f"{name} \\in", chosen)]), "}")
        operator = "MinOf(" if e.kind == "minof" else "MaxOf("
        return Printed(Items(operator, [image, default], ")"), APPLY)

    on_minof = on_maxof = _extreme

    def on_elet(self, e: E, scope: Scope) -> Printed:
        name = self.fresh(e.x, scope)
        body = self.doc(e.args[1], scope.bind(e.x, name))
        return Printed(Let([(name, self.doc(e.args[0], scope))], body, stacked=False), LOOSE)

    # ------------------------------------------------------------------------- calls

    def on_call(self, e: E, scope: Scope) -> Printed:
        name, which = e.x
        operator, prime = self.operators[name], ""
        if self.fns[name].states and (scope.primed or which == ("next",)):
            if all(self.rigidity.is_rigid(scope.fn, a) for a in e.args) and not scope.primed:
                prime = "'"
            else:
                operator = self._copy(name)
        if not e.args:
            return Printed(Text(operator + prime), APPLY)
        return Printed(Items(f"{operator}(", [self.doc(a, scope) for a in e.args], f"){prime}"), APPLY)

    def _copy(self, name: str) -> str:
        """The operator with every variable primed; the module prints the copies that were asked for."""
        if name not in self.copies:
            self.copies[name] = self.names.new(f"{self.operators[name]}Next")
        return self.copies[name]


def _repeats(e: E) -> bool:
    r"""Whether a quantifier stands directly inside one of its kind: `\A a : \A b : p`."""
    inner: E = e.args[2]
    return inner.kind == e.kind and inner.x[1] == e.x[1]
