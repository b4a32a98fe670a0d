r"""Export the model as an idiomatic TLA+ module with its TLC configuration.

State fields become variables and configuration fields constants. Operators keep their names, in
CamelCase, and their docstrings, as comments. An action is a conjunction of its guards and the primed
variables. `Next` has one disjunct per action, quantified over exactly the arguments that elrcheck's
search tries, so TLC generates and counts the same states.

TLC splits a disjunction where it expects an action, and would count a guard that is true for two
reasons twice. Such guards are therefore printed as `TRUE = (guard)`, a value.

The budgets are a CONSTRAINT: states outside it are generated but not explored, as in elrcheck's
search. The module needs nothing newer than TLC 2.15.

By default a module is for reading: specialised to one configuration (`specialised.py`). The whole module has every
rule and a constant for each field, so that only its configuration depends on values.

For a search up to renaming, the members of symmetric sorts are model values, and the configuration names the set of
their renamings as SYMMETRY.
"""

from __future__ import annotations

import enum
import functools
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from elrcheck.base.atomic import write_files
from elrcheck.base.errors import UsageFault
from elrcheck.lang.domains import size_of
from elrcheck.lang.expr import ConfigField, VectorOf, WholeSort
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.runtime import ModelConfig
from elrcheck.lang.types import INT, Ty, record_fields
from elrcheck.tla_export.definition_printer import DefinitionPrinter
from elrcheck.tla_export.names import Names, camel, local_name
from elrcheck.tla_export.pretty import WIDTH, Bullets, Doc, Headed, Items, ListItem, PlainText, comment_lines, render
from elrcheck.tla_export.printed import PrintScope
from elrcheck.tla_export.printer import ExpressionPrinter
from elrcheck.tla_export.reading.values import identifier
from elrcheck.tla_export.specialised import specialised
from elrcheck.tla_export.type_sets import Hidden, limits, records_of, size_text, type_set

FIXED = ("None", "vars", "Next", "Spec", "TypeOK", "Symmetry")


HELPER_LOCALS = {"S", "T", "Test", "Value", "a", "b", "default", "hits", "i", "j", "n", "s", "sum", "x", "y"}
"""The parameters and bound names in `helpers.tla`."""


@functools.cache
def helpers() -> Mapping[str, str]:
    """Return name -> text of the operators of `helpers.tla`, which the standard modules lack."""
    definitions = (files("elrcheck.tla_export") / "helpers.tla").read_text("utf-8").rstrip("\n").split("\n\n")
    return {re.findall(r"^(\w+)\(", text, re.MULTILINE)[0]: text for text in definitions}


@dataclass(frozen=True)
class Spec:
    """The text of a module and of its configuration.

    count_cfg: a configuration that checks no property, so that TLC counts all states.
    taken: every name the module defines. constants: the CONSTANTS part of the configuration.
    """

    module: str
    tla: str
    cfg: str
    count_cfg: str
    taken: frozenset[str]
    constants: str


FOLDED = """
A comment is of the whole rule. What this configuration makes constant is folded, so a definition may do less.
`TRUE = (..)` is a condition that TLC is not to split into cases."""
"""The note to those who read a specialised module."""


def constant_name(field: str) -> str:
    return field.upper()


def checked_name(fn: Fn) -> str:
    """Name the operator that TLC checks: the property itself, or the negation of a witness."""
    if fn.kind == "sometimes":
        return f"{fn.name}_Never"
    return f"{fn.name}_Step" if fn.is_step else f"{fn.name}_InBudget"


def spec_text(model: Model, config: ModelConfig, module: str, comment: str = "", symmetry: bool = False) -> Spec:
    """Print the whole module and its configuration for one model and `Config`. symmetry: search up to renaming."""
    return _Module(model, config, module, comment, symmetry).build()


def reading_text(model: Model, config: ModelConfig, module: str, comment: str = "", symmetry: bool = False) -> Spec:
    """Print the model specialised to one configuration; the comment names the actions left out. See `spec_text`."""
    reading = specialised(model, config)
    if all(("", name) in reading.fixed for name in model.state_fields):
        message = "no step changes anything in this configuration, so the module would have no variables"
        raise UsageFault("tla-constant", message, help="--whole writes the module for every setting")
    beyond = set(reading.beyond)
    never = [name for name in reading.left_out if name not in beyond]
    for words, names in (("never fire", never), ("only lead beyond the bound", reading.beyond)):
        if names:
            comment += f"\nLeft out, because they {words}:\n" + "\n".join(textwrap.wrap(", ".join(names), WIDTH - 4))
    return _Module(reading.model, config, module, comment + FOLDED, symmetry, reading.fixed, reading=True).build()


class _Module:
    def __init__(
        self,
        model: Model,
        config: ModelConfig,
        module: str,
        comment: str,
        symmetry: bool,
        hidden: Hidden = (),
        reading: bool = False,
    ) -> None:
        """hidden: fields of records and variables to leave out. reading: only sizes and budgets are constants."""
        self.model, self.config, self.module, self.comment = model, config, module, comment
        self.symmetric = model.symmetric_sorts if symmetry else {}
        self.hidden = hidden
        self.state = {name: ty for name, ty in model.state_fields.items() if ("", name) not in hidden}
        self.variables = list(self.state)
        self.ranged = list(self._ranged())
        types = (model.state_ty, *(ty for fn in (model.init, *model.actions) for _, ty in fn.params), *self.ranged)
        every = {
            record.name: record
            for ty in types
            for record in [*records_of(ty, hidden), ty]
            if record.kind == "record" and not record.is_pair
        }
        read = self._read_fields()
        self.declared = {f: constant_name(f) for f in read if not reading or self._stays(f)}
        self.constants = {f: self.declared.get(f) or self._value_text(f) for f in read}
        self.record_types = list(every.values())
        self.records = {name: f"{name}Type" for name in every}
        self.printer = ExpressionPrinter(model.fns, self.constants, self._names(), self.records)
        self.definitions = DefinitionPrinter(model, self.printer)

    def _ranged(self) -> Iterator[Ty]:
        """Yield the types, other than sorts, whose set of all values occurs in an expression."""
        for node in self.model.nodes:
            match node:
                case WholeSort():
                    ty = node.ty.elem
                case VectorOf():
                    ty = node.ty.keys
                case _:
                    continue
            if ty.kind != "member":
                yield ty

    def _read_fields(self) -> list[str]:
        """List the configuration fields that the model reads, in declaration order, then derived limits."""
        used = {node.name for node in self.model.nodes if isinstance(node, ConfigField)}
        for fn in (self.model.init, *self.model.actions):
            used |= {field for _, ty in fn.params for field in limits(ty, self.hidden)}
        used |= {field for ty in (self.model.state_ty, *self.ranged) for field in limits(ty, self.hidden)}
        declared = [f for f in self.config.__dataclass_fields__ if f in used]
        return declared + sorted(used - set(declared))

    def _stays(self, field: str) -> bool:
        """Return whether a field stays a constant in a module for reading: a declared number other than 0."""
        value = getattr(self.config, field)
        return field in self.config.__dataclass_fields__ and isinstance(value, int) and value > 0 and value is not True

    def _value_text(self, field: str) -> str:
        value = getattr(self.config, field)
        if isinstance(value, enum.Enum):
            return f'"{value.name}"'
        if value is None:
            return "None"
        return str(value).upper() if isinstance(value, bool) else str(value)

    def _names(self) -> Names:
        """Reserve the names that must not change; the printer names operators afterwards."""
        names = Names()
        sorts = (sort.every for sort in self.model.sorts.values())
        for name in (*self.variables, *self.declared.values(), *sorts, *FIXED, *helpers()):
            names.keep(name)
        for fn in self.model.fns.values():
            if fn.kind not in ("op", "lemma"):
                names.keep(fn.name)
        for fn in self.model.checks:
            names.keep(checked_name(fn))
        for name in self.records.values():
            names.keep(name)
        return names

    # ------------------------------------------------------------------------- the module

    def build(self) -> Spec:
        model = self.model
        # Operators that return a state are part of the actions that call them (`Calls.inlined_state`).
        values = [fn for fn in model.fns.values() if fn.kind == "op" and fn.ret.kind != "state"]
        ops = {fn.name: self.definitions.operator(fn) for fn in values}
        actions = [self.definitions.action(fn) for fn in model.actions]
        properties = [self.definitions.operator(fn) for fn in (model.bound, *model.checks)]
        for fn, lines in zip(model.checks, properties[1:], strict=True):
            lines.append(self._checked(fn))
        copies = self.definitions.copies()
        for name, lines in copies.items():
            ops[name] += ["", *lines]  # TLA+ requires definitions before uses
        init, records = self._init(), self._records()
        early, late = (records, []) if self.ranged else ([], records)  # TLA+ requires definitions before uses
        behaviour = [init, *actions, self._next(), [f"Spec == {model.init.name} /\\ [][Next]_vars"]]
        body = [
            *(_section("Types of the model", early) if early else ()),
            *_section("Operators", ops.values()),
            *_section("Types of the variables", [*late, self._type_ok()]),
            *_section("Behaviour", behaviour),
            *_section("Bound and properties", properties),
        ]
        tla = "\n".join([*self._opening("\n".join(body)), *body, "=" * WIDTH]) + "\n"
        constants = "\n".join(self._constant_lines()) + "\n"
        bare = f"{constants}SPECIFICATION Spec\nCONSTRAINT {model.bound.name}\n"
        bare += "SYMMETRY Symmetry\n" if self.symmetric else ""
        taken = frozenset(self.printer.names.taken)
        return Spec(self.module, tla, bare + self._checks(), bare, taken, constants)

    def _opening(self, body: str) -> list[str]:
        """Print the module's opening, from its title to the helpers that the body uses."""
        title = f"MODULE {self.module}"
        dashes = "-" * max(4, (WIDTH - len(title) - 2) // 2)
        lines = [f"{dashes} {title} {dashes}", *comment_lines(self.comment)]
        lines += [f"EXTENDS Integers, FiniteSets, Sequences{', TLC' if self.symmetric else ''}", ""]
        alike = [sort.every for sort in self.symmetric.values()]
        lines += [*_names("CONSTANTS", [*self.declared.values(), *alike, "None"]), ""]
        every = Headed("vars ==", Items("<<", [PlainText(name) for name in self.variables], ">>"), hang=True)
        lines += [*_names("VARIABLES", self.variables), "", *render(every, WIDTH), ""]
        for sort in self.model.sorts.values():
            if sort.name not in self.symmetric:
                lines += [f"{sort.every} == 0..({size_text(sort, self.constants)} - 1)", ""]
        used = {name for name in helpers() if re.search(rf"\b{name}\(", body)}
        used |= {name for name, user in (("Least", "Prefix"), ("Greatest", "Suffix")) if user in used}
        for name, text in helpers().items():
            lines += [*self._without_clashes(text).splitlines(), ""] if name in used else []
        renamings = " \\cup ".join(f"Permutations({every})" for every in alike)
        lines += [f"Symmetry == {renamings}", ""] if alike else []
        return [*lines, *self._assumptions(), ""]

    def _without_clashes(self, helper: str) -> str:
        """Return a helper in which no local name hides a name of the module."""
        taken = self.printer.names.taken
        clashes = HELPER_LOCALS & taken
        free = {name: local_name(name, taken | HELPER_LOCALS) for name in clashes}
        return re.sub(r"\w+", lambda word: free.get(word[0], word[0]), helper)

    def _assumptions(self) -> list[str]:
        """Print the assumptions about the values of the constants."""
        fields = record_fields(self.model.config)
        items = [
            ListItem(Headed(f"{name} \\in", self._type(fields.get(field, INT))))
            for field, name in self.declared.items()
        ]
        items += [
            ListItem(PlainText(f"Cardinality({sort.every}) = {size_text(sort, self.constants)}"))
            for sort in self.symmetric.values()
        ]
        return render(Headed("ASSUME", Bullets("/\\", items, stacked=True), hang=True), WIDTH) if items else []

    def _records(self) -> list[list[str]]:
        """Print a set for each record type."""
        definitions = []
        for ty in self.record_types:
            printed = ((f, t) for f, t in ty.fields.items() if (ty.name, f) not in self.hidden)
            fields = [Headed(f"{f} :", self._type(t)) for f, t in printed]
            body: Doc = Items("[", fields, "]") if fields else PlainText("{<<>>}")
            record = Headed(f"{self.records[ty.name]} ==", body, hang=True)
            definitions.append(render(record, WIDTH))
        return definitions

    def _type_ok(self) -> list[str]:
        items = [ListItem(Headed(f"{f} \\in", self._type(t))) for f, t in self.state.items()]
        return render(Headed("TypeOK ==", Bullets("/\\", items, stacked=True), hang=True), WIDTH)

    def _type(self, ty: Ty) -> Doc:
        if ty.kind == "enum":
            return Items("{", [PlainText(f'"{member}"') for member in ty.members], "}")
        return PlainText(type_set(ty, self.constants, self.records, self.printer.names.taken))

    def _next(self) -> list[str]:
        choices = Bullets("\\/", [ListItem(self._choice(fn)) for fn in self.model.actions], stacked=True)
        return render(Headed("Next ==", choices, hang=True), WIDTH)

    def _checked(self, fn: Fn) -> str:
        """Print the operator that TLC checks; unlike elrcheck, TLC also checks states outside a CONSTRAINT.

        For a witness it is the negation, whose counterexample is a trace to the witness.
        """
        if fn.kind == "sometimes":
            return f"{checked_name(fn)} == ~{fn.name}"
        bound = self.model.bound.name
        if fn.is_step:
            return f"{checked_name(fn)} == [][{bound}' => {fn.name}]_vars"
        return f"{checked_name(fn)} == {bound} => {fn.name}"

    def _choice(self, fn: Fn) -> Doc:
        if not fn.params:
            return PlainText(fn.name)
        scope = self.definitions.head(fn, fn.name)[1]
        called = PlainText(f"{fn.name}({', '.join(scope.local[name] for name, _ in fn.params)})")
        return Headed(f"\\E {self._ranges(fn, scope)} :", called, hang=True)

    def _ranges(self, fn: Fn, scope: PrintScope) -> str:
        """Print the domain of each parameter."""
        return ", ".join(f"{scope.local[n]} \\in {type_set(t, self.constants, self.records)}" for n, t in fn.params)

    def _constant_lines(self) -> Iterator[str]:
        yield "CONSTANTS"
        for field, name in self.declared.items():
            yield f"    {name} = {self._value_text(field)}"
        for sort in self.symmetric.values():
            members = (f"{sort.every}_{number}" for number in range(size_of(sort, self.config)))
            yield f"    {sort.every} = {{{', '.join(members)}}}"
        yield "    None = None"

    def _checks(self) -> str:
        """Print the part of the configuration that names the properties to check."""
        states = ["TypeOK", *(checked_name(fn) for fn in self.model.always if not fn.is_step)]
        steps = [checked_name(fn) for fn in self.model.always if fn.is_step]
        lines = ["INVARIANTS", *(f"    {name}" for name in states)]
        lines += ["PROPERTIES", *(f"    {name}" for name in steps)] if steps else []
        return "\n".join(lines) + "\n"

    def _init(self) -> list[str]:
        fn = self.model.init
        scope = self.definitions.head(fn, fn.name)[1]
        body = self.definitions.step(fn.body, scope, prime="")
        if fn.params:
            body = Headed(f"\\E {self._ranges(fn, scope)} :", body, hang=True)
        return [*comment_lines(fn.doc), *render(Headed(f"{fn.name} ==", body, hang=True), WIDTH)]


def _names(keyword: str, names: Sequence[str]) -> list[str]:
    """Print a declaration on as many lines as it needs."""
    return textwrap.wrap(f"{keyword} {', '.join(names)}", WIDTH, subsequent_indent=" " * 4)


def _section(title: str, definitions: Iterable[Sequence[str]]) -> list[str]:
    """Print definitions under a heading, each followed by a blank line."""
    rule = "-" * WIDTH
    lines = [rule, f"\\* {title}", ""]
    for definition in definitions:
        lines += [*definition, ""]
    return lines


def module_name(variant: str, scope: str) -> str:
    """Name the module of a variant and scope: KipFullThreeBrokers for kip_full and three-brokers."""
    return identifier(camel(f"{variant}_{Path(scope).stem}".replace("-", "_")), fallback="Elrcheck")


def write_spec(
    model: Model,
    config: ModelConfig,
    folder: Path,
    name: str,
    comment: str = "",
    symmetry: bool = False,
    whole: bool = True,
) -> Spec:
    """Write NAME.tla and NAME.cfg into a folder. symmetry: see `spec_text`; whole: see `reading_text`."""
    spec = (spec_text if whole else reading_text)(model, config, name, comment, symmetry)
    write_files(folder, {f"{name}.tla": spec.tla, f"{name}.cfg": spec.cfg})
    return spec
