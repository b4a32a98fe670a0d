"""A suite: small configurations that combine operations with faults, and the properties that each of them breaks.

A file describes a family of configurations of a model, for the default one in `catalogue/suites/`::

    description = "Two operations and one kind of fault, on two brokers."
    scope = "two-brokers-quiet"       # the scope of every configuration
    variants = ["kip_full"]
    together = 2                      # how many operations a configuration combines
    reaches = ["W-11"]                # witnesses that every configuration must reach to show anything

    [set]                             # values that all configurations share
    log_slots = 1

    [operations.reassign]             # budgets of two operations add up
    reassignments = 2

    [operations.elect]
    elections = 1

    [faults.crash]
    crashes = 1

    [[narrowed]]                      # combinations with smaller budgets, so that a search is complete
    in = ["reassign+elect/lag"]
    set = { reassignments = 1 }

    [[configuration]]                 # one that is not a combination
    name = "five-brokers"
    scope = "three-brokers"           # instead of that of the family
    set = { broker_count = 5 }

    [walk]                            # walk through the configurations instead of searching them
    walks = 400
    steps = 50

    [[violates]]                      # properties that break, where, and why; no others may
    properties = ["P-8"]
    in = ["reassign+*/crash"]
    because = "a partition that was allowed one copy loses it"
    finding = "F-20"                  # absent if it is by design

The configurations are `reassign+elect/crash` and `five-brokers`. Files are read strictly: an explanation that
fits no configuration is an error.
"""

from __future__ import annotations

import fnmatch
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from elrcheck.base.documents import read_toml
from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.base.requests import DEFAULT_VARIANT, Selection
from elrcheck.base.strict import Node
from elrcheck.base.typed.configuration import build_config, config_fields, config_value, setting_text
from elrcheck.base.typed.records import From, KeyName, Natural, NodeReader, Positive, matching, read_record
from elrcheck.declared.declared_model import DeclaredModel, declared, suites_of
from elrcheck.declared.select import Selected

MOST_STATES = 2_000_000
"""The limit of each search of a family that sets no limit of its own."""
UNNAMED = Selection()
"""The selection without a model, as of a command without `--model`."""
_FORM = "[a-z0-9][a-z0-9-]*"
Name: TypeAlias = Annotated[str, matching(_FORM, "small letters, digits and -")]
FindingId: TypeAlias = Annotated[str, matching(r"[A-Z]+-\d+[a-z]?", "the id of a finding, such as F-20")]


@dataclass(frozen=True)
class Because:
    """The reason why a property breaks. finding: a hazard or finding, None if it breaks by design."""

    why: str
    finding: str | None = None


@dataclass(frozen=True)
class Walk:
    """Random walks of a configuration too large to search: their number and length."""

    walks: Positive
    steps: Positive
    seed: Annotated[int, From.ELSEWHERE] = 0


@dataclass(frozen=True)
class SuiteCase:
    """One configuration. name: `family/operations/fault`, with the variant if the family has several.

    violates: property -> why it breaks. reaches: witnesses that the search must reach. walk: instead of a search, if
    the configuration is too large for one; then no property is checked.
    """

    name: str
    family: str
    selected: Selected
    selection: Selection
    deep: bool
    max_states: int
    violates: Mapping[str, Because]
    reaches: tuple[str, ...]
    walk: Walk | None = None


@dataclass(frozen=True)
class Family:
    """All configurations of one file."""

    name: str
    description: str
    cases: tuple[SuiteCase, ...]
    source: str


Patterns: TypeAlias = Annotated[tuple[str, ...], KeyName("in")]
Unread: TypeAlias = Annotated[Node | None, NodeReader(lambda node: node)]
"""A value that only a model can interpret: a name, or a table of fields of its configuration."""
UnreadValues: TypeAlias = Annotated[Unread, KeyName("set")]
Values: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class _Violates:
    """The properties that break in the configurations that fit a pattern, and the reason."""

    properties: tuple[str, ...]
    patterns: Patterns
    because: str
    finding: FindingId | None = None


@dataclass(frozen=True)
class _Narrowed:
    """Values that replace those of the combinations that fit a pattern."""

    patterns: Patterns
    values: UnreadValues


@dataclass(frozen=True)
class _Single:
    """A configuration that is not a combination."""

    name: Name
    scope: str | None = None
    values: UnreadValues = None
    reaches: tuple[str, ...] = ()
    variant: Unread = None
    seed: Natural = 0


@dataclass(frozen=True)
class _Written:
    """The contents of a file. values: shared by all configurations."""

    description: str
    scope: str
    variants: Unread = None
    together: Positive = 2
    deep: bool = False
    max_states: Positive = MOST_STATES
    reaches: tuple[str, ...] = ()
    values: UnreadValues = None
    operations: Unread = None
    faults: Unread = None
    configuration: tuple[_Single, ...] = ()
    narrowed: tuple[_Narrowed, ...] = ()
    violates: tuple[_Violates, ...] = ()
    walk: Walk | None = None


@dataclass(frozen=True)
class _Plain:
    """A configuration without a variant of its family: its name, and the values that differ from its scope."""

    name: str
    scope: str
    values: Values
    reaches: tuple[str, ...] = ()
    variant: str | None = None
    seed: int = 0


def packaged_suites(within: Selection = UNNAMED) -> tuple[Family, ...]:
    """Return the families packaged with a model, in the order of their names. within: names the model."""
    return tuple(read_family(file, within) for file in suites_of(within.source).files)


def read_family(file: Path | Traversable, within: Selection = UNNAMED) -> Family:
    """Read a file; a UsageFault names the line of a mistake. within: names the model."""
    return _FamilyReader(within, declared(within.source)).read(file)


@dataclass(frozen=True)
class _FamilyReader:
    """Reads the families of a model."""

    within: Selection
    model: DeclaredModel

    def read(self, file: Path | Traversable) -> Family:
        top = read_toml(file, joint="-")
        written = read_record(top, _Written)
        name = Path(str(file)).stem
        shared = self.values(written.values)
        singles = (
            _Plain(
                one.name,
                one.scope or written.scope,
                self.values(one.values),
                one.reaches,
                None if one.variant is None else self.variant(one.variant),
                one.seed,
            )
            for one in written.configuration
        )
        plain = (*self.combined(written, shared, top), *singles)
        _reject_twice(plain, top)
        nodes = () if written.variants is None else written.variants.items()
        variants = tuple(map(self.variant, nodes)) or (self.model.variant(DEFAULT_VARIANT).name,)
        cases = tuple(
            self.case(name, one, variant, len(variants) > 1 and not one.variant, written, shared, top)
            for one in plain
            for variant in ((one.variant,) if one.variant else variants)
        )
        if not cases:
            top.fail("there is no configuration", "give operations and faults, or [[configuration]]")
        _reject_stale(name, cases, top)
        return Family(name, written.description, cases, str(file))

    def values(self, node: Node | None) -> dict[str, Any]:
        """Read values of fields of the configuration."""
        kinds = config_fields(self.model.config)
        table = () if node is None else node.object((), kinds).fields()
        return {key: config_value(kinds[key], part) for key, part in table}

    def variant(self, node: Node) -> str:
        try:
            return self.model.variant(node.text()).name
        except UsageFault as fault:
            fault.where = node.where
            raise

    def parts(self, node: Node | None) -> dict[str, Values]:
        """Return operations or faults by name."""
        table = () if node is None else tuple(node.fields())
        for key, part in table:
            if not re.fullmatch(_FORM, key):
                part.fail(f"`{key}` is not a valid name of an operation or a fault", "small letters, digits and -")
        return {key: self.values(part) for key, part in table}

    def base(self, scope: str, shared: Values) -> Values:
        """Return the values of a scope, overridden by those that all configurations of the file share."""
        return {**self.model.scope(scope).values, **shared}

    def combined(self, written: _Written, shared: Values, top: Node) -> Iterator[_Plain]:
        """Yield every combination of `together` operations with a fault."""
        fits: set[str] = set()
        operations, faults = self.parts(written.operations), self.parts(written.faults)
        if operations and written.together > len(operations):
            top["together"].bad(f"expected at most {len(operations)}, the number of operations")
        narrowed = [(one.patterns, self.values(one.values)) for one in written.narrowed]
        defaults = {part.name: part.default for part in fields(self.model.config) if part.default is not MISSING}
        base = {**defaults, **self.base(written.scope, shared)}
        names = itertools.combinations(operations, written.together) if operations else ()
        for chosen, fault in itertools.product(names, faults):
            parts = [*(operations[name] for name in chosen), faults[fault]]
            name, values = f"{'+'.join(chosen)}/{fault}", _added(base, parts)
            for patterns, smaller in narrowed:
                fitting = {pattern for pattern in patterns if fnmatch.fnmatchcase(name, pattern)}
                values |= smaller if fitting else {}
                fits |= fitting
            yield _Plain(name, written.scope, values)
        for pattern in _patterns(top, "narrowed"):
            if pattern.text() not in fits:
                pattern.fail(f"no combination is called `{pattern.text()}`")

    def case(
        self, family: str, one: _Plain, variant: str, several: bool, written: _Written, shared: Values, top: Node
    ) -> SuiteCase:
        """Return a configuration in a variant, which is part of its name if the family has several."""
        values = {**shared, **one.values}
        name = f"{one.name}@{variant}" if several else one.name
        violates = _explained(name, written.violates, top)
        try:
            scope = self.model.scope(one.scope)
            layers = (self.model.variant(variant).values, self.base(one.scope, shared), values)
            config: Any = build_config(self.model.config, *layers)
            selected = Selected.of(self.model, self.within.source, variant, scope.name, config, values)
        except UsageFault as fault:
            fault.where = fault.where or f"{family}: {name}"
            raise
        overrides = tuple(f"{key}={setting_text(value)}" for key, value in values.items())
        return SuiteCase(
            name=f"{family}/{name}",
            family=family,
            selected=selected,
            selection=replace(self.within, variant=variant, scope=scope.name, overrides=overrides),
            deep=written.deep,
            max_states=written.max_states,
            violates=violates,
            reaches=(*written.reaches, *one.reaches),
            walk=None if written.walk is None else replace(written.walk, seed=one.seed),
        )


def _explained(name: str, rules: Sequence[_Violates], top: Node) -> dict[str, Because]:
    """Return why properties break in a configuration."""
    violates: dict[str, Because] = {}
    for number, rule in enumerate(rules):
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in rule.patterns):
            for ident in rule.properties:
                if ident in violates:
                    top["violates"].items()[number].fail(f"{ident} in {name} is explained twice")
                violates[ident] = Because(rule.because, rule.finding)
    return violates


def _patterns(top: Node, key: str) -> Iterator[Node]:
    """Return the nodes of the patterns in an array of tables."""
    return (pattern for table in top.get(key, []).items() for pattern in table["in"].items())


def _added(base: Mapping[str, Any], parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the values of several parts together: numbers are added to those of `base`, others replace them."""
    values: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            number = isinstance(value, int) and not isinstance(value, bool)
            values[key] = values.get(key, base.get(key, 0)) + value if number else value
    return values


def _reject_twice(plain: Sequence[_Plain], top: Node) -> None:
    names = [one.name for one in plain]
    for name in names:
        if names.count(name) > 1:
            top.fail(f"two configurations are called `{name}`")


def _reject_stale(family: str, cases: Sequence[SuiteCase], top: Node) -> None:
    """Raise UsageFault for a pattern that fits no configuration."""
    names = [case.name.removeprefix(f"{family}/") for case in cases]
    for node in _patterns(top, "violates"):
        if not any(fnmatch.fnmatchcase(name, node.text()) for name in names):
            node.fail(f"no configuration is called `{node.text()}`", did_you_mean(node.text(), names))
