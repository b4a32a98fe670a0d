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
from enum import Enum
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from elrcheck.base.documents import read_toml
from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.base.requests import Selection
from elrcheck.base.strict import Node
from elrcheck.base.typed.configuration import build_config, config_fields, config_value, find_scope
from elrcheck.catalogue.select import Selected, find_variant, reject_impossible
from elrcheck.model.config import Config

KEYS = (
    "variants", "together", "deep", "max-states", "reaches", "set", "operations", "faults", "configuration",
    "narrowed", "violates", "walk",
)  # fmt: skip
NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
FINDING = re.compile(r"F-\d+[a-z]?")
MOST_STATES = 2_000_000
"""The limit of each search of a family that sets no limit of its own."""


@dataclass(frozen=True)
class Because:
    """Why a property breaks. finding: a hazard or finding, None if the property need not hold there."""

    why: str
    finding: str | None = None


@dataclass(frozen=True)
class Walk:
    """Random walks of a configuration too large to search: how many, and how long they are."""

    walks: int
    steps: int
    seed: int = 0


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


@dataclass(frozen=True)
class _Expected:
    properties: tuple[str, ...]
    patterns: tuple[str, ...]
    because: Because
    node: Node


@dataclass(frozen=True)
class _Narrowed:
    """Values that replace those of the combinations that fit a pattern."""

    patterns: tuple[str, ...]
    values: Mapping[str, Any]
    node: Node


@dataclass(frozen=True)
class _Plain:
    """A configuration before the variants of its family: its name and its values beyond the scope."""

    name: str
    values: Mapping[str, Any]
    reaches: tuple[str, ...] = ()
    variant: str | None = None
    seed: int = 0


@dataclass(frozen=True)
class _Defaults:
    scope: str
    variants: tuple[str, ...]
    deep: bool
    max_states: int
    reaches: tuple[str, ...]
    values: Mapping[str, Any] = field(default_factory=dict)
    walk: Walk | None = None


def packaged_suites() -> tuple[Family, ...]:
    """The families of this package, in the order of their names."""
    folder = files("elrcheck.catalogue") / "suites"
    return tuple(
        read_family(file)
        for file in sorted(folder.iterdir(), key=lambda f: f.name)
        if file.name.endswith(".toml")
    )


def read_family(file: Path | Traversable) -> Family:
    """The configurations of a file; UsageFault names the line of a mistake."""
    top = read_toml(file).object(("description", "scope"), KEYS)
    name = Path(str(file)).stem
    fields = config_fields(Config)
    scope = top["scope"].text()
    base = find_scope(scope, files("elrcheck.catalogue") / "scopes", fields).values
    shared = _values(top.get("set", {}), fields)
    defaults = _Defaults(
        scope=scope,
        variants=tuple(find_variant(word).name for word in top.maybe("variants", Node.texts, ("kip_full",))),
        deep=top.maybe("deep", Node.boolean, False),
        max_states=top.maybe("max-states", Node.positive, MOST_STATES),
        reaches=top.maybe("reaches", Node.texts, ()),
        values={**base, **shared},
        walk=top.maybe("walk", _walk, None),
    )
    plain = [*_combined(top, defaults, fields), *_single(top, fields)]
    _reject_twice(plain, top)
    expected = [_expected(node) for node in top.get("violates", []).items()]
    cases = tuple(
        _case(name, one, variant, shared, defaults, expected)
        for one in plain
        for variant in ((one.variant,) if one.variant else defaults.variants)
    )
    if not cases:
        top.fail("there is no configuration", "give operations and faults, or [[configuration]]")
    _reject_stale(name, cases, expected)
    return Family(name, top["description"].text(), cases, str(file))


def _walk(node: Node) -> Walk:
    node.object(("walks", "steps"))
    return Walk(node["walks"].positive(), node["steps"].positive())


def _values(node: Node, fields: Mapping[str, type]) -> dict[str, Any]:
    """Fields of `Config` with values of their types."""
    node.object((), fields)
    return {key: config_value(fields[key], part) for key, part in node.fields()}


def _parts(node: Node, fields: Mapping[str, type]) -> dict[str, dict[str, Any]]:
    """Operations or faults by name."""
    for key, part in node.fields():
        if not NAME.fullmatch(key):
            part.fail(f"`{key}` is no name of an operation or a fault", "small letters, digits and -")
    return node.map(lambda part: _values(part, fields))


def _combined(top: Node, defaults: _Defaults, fields: Mapping[str, type]) -> Iterator[_Plain]:
    """Every combination of as many operations as the family says, with every fault."""
    narrowed = [_narrowed(node, fields) for node in top.get("narrowed", []).items()]
    fits: set[str] = set()
    operations = _parts(top.get("operations", {}), fields)
    faults = _parts(top.get("faults", {}), fields)
    together = top.maybe("together", Node.positive, 2)
    if operations and together > len(operations):
        top["together"].bad(f"there are only {len(operations)} operations")
    for chosen in itertools.combinations(operations, together) if operations else ():
        for fault in faults:
            parts = [*(operations[name] for name in chosen), faults[fault]]
            name, values = f"{'+'.join(chosen)}/{fault}", _added(defaults.values, parts)
            for one in narrowed:
                fitting = {pattern for pattern in one.patterns if fnmatch.fnmatchcase(name, pattern)}
                values |= one.values if fitting else {}
                fits |= fitting
            yield _Plain(name, values)
    for one in narrowed:
        for node in one.node["in"].items():
            if node.text() not in fits:
                node.fail(f"no combination is called `{node.text()}`")


def _narrowed(node: Node, fields: Mapping[str, type]) -> _Narrowed:
    node.object(("in", "set"))
    return _Narrowed(node["in"].texts(), _values(node["set"], fields), node)


def _added(base: Mapping[str, Any], parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The values of several parts: numbers are added to those of the scope, others replace them."""
    made: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            number = isinstance(value, int) and not isinstance(value, bool)
            made[key] = made.get(key, base.get(key, 0)) + value if number else value
    return made


def _single(top: Node, fields: Mapping[str, type]) -> Iterator[_Plain]:
    for node in top.get("configuration", []).items():
        node.object(("name",), ("set", "reaches", "variant", "seed"))
        name = node["name"].text()
        if not NAME.fullmatch(name):
            node["name"].bad("small letters, digits and -")
        variant = node.maybe("variant", Node.text, None)
        yield _Plain(
            name=name,
            values=_values(node.get("set", {}), fields),
            reaches=node.maybe("reaches", Node.texts, ()),
            variant=None if variant is None else find_variant(variant).name,
            seed=node.maybe("seed", Node.natural, 0),
        )


def _reject_twice(plain: Sequence[_Plain], top: Node) -> None:
    names = [one.name for one in plain]
    for name in names:
        if names.count(name) > 1:
            top.fail(f"two configurations are called `{name}`")


def _expected(node: Node) -> _Expected:
    node.object(("properties", "in", "because"), ("finding",))
    finding = node.maybe("finding", Node.text, None)
    if finding is not None and not FINDING.fullmatch(finding):
        node["finding"].bad("expected the id of a finding, such as F-20")
    because = Because(node["because"].text(), finding)
    return _Expected(node["properties"].texts(), node["in"].texts(), because, node)


def _case(
    family: str,
    one: _Plain,
    variant: str,
    shared: Mapping[str, Any],
    defaults: _Defaults,
    expected: Sequence[_Expected],
) -> SuiteCase:
    values = {**shared, **one.values}
    knobs = find_variant(variant).knobs
    selection = Selection(variant, defaults.scope, tuple(f"{k}={_word(v)}" for k, v in values.items()))
    name = one.name if one.variant or len(defaults.variants) == 1 else f"{one.name}@{variant}"
    violates: dict[str, Because] = {}
    for rule in expected:
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in rule.patterns):
            for ident in rule.properties:
                if ident in violates:
                    rule.node.fail(f"{ident} in {name} is explained twice")
                violates[ident] = rule.because
    try:
        config = build_config(Config, knobs, defaults.values, values)
        reject_impossible(config)
    except UsageFault as fault:
        fault.where = fault.where or f"{family}: {name}"
        raise
    return SuiteCase(
        name=f"{family}/{name}",
        family=family,
        selected=Selected(variant, defaults.scope, config, values),
        selection=selection,
        deep=defaults.deep,
        max_states=defaults.max_states,
        violates=violates,
        reaches=(*defaults.reaches, *one.reaches),
        walk=None if defaults.walk is None else replace(defaults.walk, seed=one.seed),
    )


def _word(value: object) -> str:
    """A value in the notation of `--set`."""
    if isinstance(value, Enum):
        return value.name
    return str(value).lower() if isinstance(value, bool) else str(value)


def _reject_stale(family: str, cases: Sequence[SuiteCase], expected: Sequence[_Expected]) -> None:
    """Every pattern must fit some configuration."""
    names = [case.name.removeprefix(f"{family}/") for case in cases]
    for rule in expected:
        for node in rule.node["in"].items():
            if not any(fnmatch.fnmatchcase(name, node.text()) for name in names):
                node.fail(f"no configuration is called `{node.text()}`", did_you_mean(node.text(), names))
