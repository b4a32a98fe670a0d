"""A suite: small configurations that combine operations with faults, and what each of them breaks.

A file of `catalogue/suites/` describes a family of configurations::

    description = "Two operations and one kind of fault, on two brokers."
    scope = "two-brokers-quiet"       # what every configuration starts from
    variants = ["kip_full"]
    together = 2                      # how many operations a configuration combines
    reaches = ["W-11"]                # witnesses without which a configuration shows nothing

    [set]                             # values that all of them share
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
    set = { broker_count = 5 }

    [walk]                            # walk through the configurations instead of searching them
    walks = 400
    steps = 50

    [[violates]]                      # what breaks, where, and why: exactly this
    properties = ["P-8"]
    in = ["reassign+*/crash"]
    because = "a partition that was allowed one copy loses it"
    finding = "F-20"                  # left out if it is by design

The configurations are `reassign+elect/crash` and `five-brokers`. Files are read strictly: an explanation that
fits no configuration is an error.
"""

from __future__ import annotations

import fnmatch
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from elrcheck.base.documents import read_toml
from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.base.requests import Selection
from elrcheck.base.strict import Node
from elrcheck.base.typed.configuration import build_config, config_fields, find_scope, setting_text
from elrcheck.base.typed.records import From, KeyName, Natural, NodeReader, Positive, matching, read_record, read_value
from elrcheck.catalogue.configured import find_variant, reject_impossible
from elrcheck.catalogue.file_values import Knobs
from elrcheck.catalogue.packaged_files import packaged_files
from elrcheck.declared.select import Selected
from elrcheck.model.config import Config

MOST_STATES = 2_000_000
"""The limit of each search of a family that sets no limit of its own."""
_FORM = "[a-z0-9][a-z0-9-]*"
Name: TypeAlias = Annotated[str, matching(_FORM, "small letters, digits and -")]
FindingId: TypeAlias = Annotated[str, matching(r"F-\d+[a-z]?", "the id of a finding, such as F-20")]
VariantName: TypeAlias = Annotated[str, NodeReader(lambda node: find_variant(node.text()).name)]


@dataclass(frozen=True)
class Because:
    """The reason why a property breaks. finding: a hazard or finding, None if the property need not hold there."""

    why: str
    finding: str | None = None


@dataclass(frozen=True)
class Walk:
    """Random walks of a configuration too large to search: how many, and how long they are."""

    walks: Positive
    steps: Positive
    seed: Annotated[int, From.ELSEWHERE] = 0


@dataclass(frozen=True)
class SuiteCase:
    """One configuration. name: `family/operations/fault`, and the variant if the family has several.

    violates: property -> why it breaks; reaches: witnesses that the search must find. walk: instead of a
    search, if it is too large for one; then no property is judged.
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


def _parts(node: Node) -> dict[str, Mapping[str, Any]]:
    """Operations or faults by name."""
    for key, part in node.fields():
        if not re.fullmatch(_FORM, key):
            part.fail(f"`{key}` is no name of an operation or a fault", "small letters, digits and -")
    parts: dict[str, Mapping[str, Any]] = read_value(node, Mapping[str, Knobs])
    return parts


Parts: TypeAlias = Annotated[Mapping[str, Mapping[str, Any]], NodeReader(_parts)]
Patterns: TypeAlias = Annotated[tuple[str, ...], KeyName("in")]
Values: TypeAlias = Annotated[Knobs, KeyName("set")]


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
    values: Values


@dataclass(frozen=True)
class _Plain:
    """A configuration before the variants of its family: its name and its values beyond the scope."""

    name: Name
    values: Values = field(default_factory=dict)
    reaches: tuple[str, ...] = ()
    variant: VariantName | None = None
    seed: Natural = 0


@dataclass(frozen=True)
class _Written:
    """A file as it is written. values: those that all configurations share."""

    description: str
    scope: str
    variants: tuple[VariantName, ...] = ("kip_full",)
    together: Positive = 2
    deep: bool = False
    max_states: Positive = MOST_STATES
    reaches: tuple[str, ...] = ()
    values: Values = field(default_factory=dict)
    operations: Parts = field(default_factory=dict)
    faults: Parts = field(default_factory=dict)
    configuration: tuple[_Plain, ...] = ()
    narrowed: tuple[_Narrowed, ...] = ()
    violates: tuple[_Violates, ...] = ()
    walk: Walk | None = None

    def checked(self, node: Node) -> _Written:
        if self.operations and self.together > len(self.operations):
            node["together"].bad(f"there are only {len(self.operations)} operations")
        return self


def packaged_suites() -> tuple[Family, ...]:
    """Return the families of this package, in the order of their names."""
    return tuple(map(read_family, packaged_files("suites")))


def read_family(file: Path | Traversable) -> Family:
    """Return the configurations of a file; UsageFault names the line of a mistake."""
    top = read_toml(file, joint="-")
    written = read_record(top, _Written)
    name = Path(str(file)).stem
    scope = find_scope(written.scope, files("elrcheck.catalogue") / "scopes", config_fields(Config)).values
    base = {**scope, **written.values}
    plain = (*_combined(written, base, top), *written.configuration)
    _reject_twice(plain, top)
    cases = tuple(
        _case(name, one, variant, written, base, top)
        for one in plain
        for variant in ((one.variant,) if one.variant else written.variants)
    )
    if not cases:
        top.fail("there is no configuration", "give operations and faults, or [[configuration]]")
    _reject_stale(name, cases, top)
    return Family(name, written.description, cases, str(file))


def _combined(written: _Written, base: Mapping[str, Any], top: Node) -> Iterator[_Plain]:
    """Yield every combination of as many operations as the family says, with every fault."""
    fits: set[str] = set()
    names = itertools.combinations(written.operations, written.together) if written.operations else ()
    for chosen, fault in itertools.product(names, written.faults):
        parts = [*(written.operations[name] for name in chosen), written.faults[fault]]
        name, values = f"{'+'.join(chosen)}/{fault}", _added(base, parts)
        for one in written.narrowed:
            fitting = {pattern for pattern in one.patterns if fnmatch.fnmatchcase(name, pattern)}
            values |= one.values if fitting else {}
            fits |= fitting
        yield _Plain(name, values)
    for pattern in _patterns(top, "narrowed"):
        if pattern.text() not in fits:
            pattern.fail(f"no combination is called `{pattern.text()}`")


def _patterns(top: Node, key: str) -> Iterator[Node]:
    """Return the patterns of an array of tables, where they are written."""
    return (pattern for table in top.get(key, []).items() for pattern in table["in"].items())


def _added(base: Mapping[str, Any], parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the values of several parts: numbers are added to those of the scope, others replace them."""
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


def _case(family: str, one: _Plain, variant: str, written: _Written, base: Mapping[str, Any], top: Node) -> SuiteCase:
    values = {**written.values, **one.values}
    knobs = find_variant(variant).knobs
    selection = Selection(variant, written.scope, tuple(f"{k}={setting_text(v)}" for k, v in values.items()))
    name = one.name if one.variant or len(written.variants) == 1 else f"{one.name}@{variant}"
    violates: dict[str, Because] = {}
    for number, rule in enumerate(written.violates):
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in rule.patterns):
            for ident in rule.properties:
                if ident in violates:
                    top["violates"].items()[number].fail(f"{ident} in {name} is explained twice")
                violates[ident] = Because(rule.because, rule.finding)
    try:
        config = build_config(Config, knobs, base, values)
        reject_impossible(config)
    except UsageFault as fault:
        fault.where = fault.where or f"{family}: {name}"
        raise
    return SuiteCase(
        name=f"{family}/{name}",
        family=family,
        selected=Selected(variant, written.scope, config, values),
        selection=selection,
        deep=written.deep,
        max_states=written.max_states,
        violates=violates,
        reaches=(*written.reaches, *one.reaches),
        walk=None if written.walk is None else replace(written.walk, seed=one.seed),
    )


def _reject_stale(family: str, cases: Sequence[SuiteCase], top: Node) -> None:
    """Every pattern must fit some configuration."""
    names = [case.name.removeprefix(f"{family}/") for case in cases]
    for node in _patterns(top, "violates"):
        if not any(fnmatch.fnmatchcase(name, node.text()) for name in names):
            node.fail(f"no configuration is called `{node.text()}`", did_you_mean(node.text(), names))
