"""A grid of configurations: the product of its axes, minus excluded points, plus included ones.

On the command line a grid is a list of axes; a grid file (TOML, read strictly) also supports `exclude` and
`include`::

    description = "where does the ELR help?"

    [axes]                          # in this order: the last one varies fastest
    variant = ["kip_full", "code_*"]
    min_isr = "1..3"
    crashes = [0, 1]
    strict_hwm = [true, false]

    [[exclude]]                     # leaves out every point with all of these values
    variant = "code_4_0"
    crashes = [1, 2]

    [[include]]                     # adds one point; other settings keep the values of the base selection
    variant = "legacy"
    fences = 2
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, TypeAlias, TypeVar

from elrcheck.base.documents import read_toml
from elrcheck.base.errors import NothingChecked, UsageFault, did_you_mean
from elrcheck.base.requests import Selection, SweepRequest
from elrcheck.base.strict import Node
from elrcheck.base.typed.configuration import config_values, parse_overrides
from elrcheck.base.typed.records import From, NodeReader, read_record
from elrcheck.checking.batch.job import Job
from elrcheck.commands.sweep.axes import Axis, parse_axis, parse_values, plain_value, reject_unknown_key
from elrcheck.declared.declared_model import DeclaredModel, declared
from elrcheck.declared.select import Selected, resolve
from elrcheck.results.trace_view import Scalar

MOST_POINTS = 100_000


@dataclass(frozen=True)
class Point:
    """One configuration of a grid. number: from 1, in the order of the grid.

    settings: the value of every key that the grid varies. selected: None if the model refuses the configuration, for
    the reason `refused`.
    """

    number: int
    selection: Selection
    settings: Mapping[str, Scalar]
    selected: Selected | None = None
    refused: str | None = None


@dataclass(frozen=True)
class SweepGrid:
    """All points, including refused ones. excluded: number of points of the product that were excluded."""

    axes: tuple[Axis, ...]
    keys: tuple[str, ...]
    points: tuple[Point, ...]
    excluded: int = 0


def _values(model: DeclaredModel, node: Node, key: str) -> tuple[str, ...]:
    """Return the values of a TOML value, a list, or a text in the notation of --sweep."""
    words = []
    for part in node.items() if isinstance(node.value, list) else [node]:
        if isinstance(part.value, bool):
            words.append(str(part.value).lower())
        elif isinstance(part.value, int | str):
            words.append(str(part.value))
        else:
            part.expected("values or a list of them")
    return parse_values(model, key, ",".join(words), node.where)


def _axes(model: DeclaredModel, node: Node | None) -> tuple[Axis, ...]:
    """Return the keys of a table, each with its values."""
    axes = []
    for key, part in () if node is None else node.fields():
        reject_unknown_key(model, key, part.where)
        axes.append(Axis(key, _values(model, part, key)))
    return tuple(axes)


def _tables(node: Node) -> tuple[Node, ...]:
    """Return the tables of an array; fail if one is empty."""
    if not isinstance(node.value, list) or not all(isinstance(each, dict) and each for each in node.value):
        node.bad(f"expected tables [[{node.key}]] with at least one key")
    return tuple(node.items())


Tables: TypeAlias = Annotated[tuple[Node, ...], NodeReader(_tables)]


@dataclass(frozen=True)
class _GridFile:
    """The contents of a grid file, whose keys and values depend on the model."""

    description: str = ""
    axes: Annotated[Node | None, NodeReader(lambda node: node)] = None
    exclude: Tables = ()
    include: Tables = ()
    source: Annotated[str, From.FILE] = ""


class _GridRules:
    """The axes of a grid file, and its rules. exclude, include: points as key -> values."""

    def __init__(self, model: DeclaredModel, file: _GridFile) -> None:
        self.source, self.axes = file.source, _axes(model, file.axes)
        self.exclude = [{axis.key: axis.values for axis in _axes(model, table)} for table in file.exclude]
        self.include = [{axis.key: axis.values for axis in _axes(model, table)} for table in file.include]
        swept = [axis.key for axis in self.axes]
        for table in file.exclude:
            for key, part in table.fields():
                if key not in swept:
                    why, near = f"[[exclude]]: `{key}` is not an axis of this file", did_you_mean(key, swept)
                    part.fail(why, near, code="config-unknown-key")
        for table, point in zip(file.include, self.include, strict=True):
            for key, values in point.items():
                if len(values) != 1:
                    table[key].fail(f"[[include]]: `{key}`: expected one value", "a list of values belongs into [axes]")


def make_grid(base: Selection, sweeps: Sequence[str], file: Path | None) -> SweepGrid:
    """Return the grid of `--grid FILE` and `--sweep KEY=VALUES`, over a base selection.

    Raises UsageFault for an invalid grid, NothingChecked if the model accepts none of its points.
    """
    model = declared(base.source)
    _reject_bad_base(model, base)
    rules = _GridRules(model, _GridFile() if file is None else read_record(read_toml(file), _GridFile))
    axes = (*rules.axes, *(parse_axis(model, text) for text in sweeps))
    _reject_twice(axes, base)
    if not axes and not rules.include:
        raise UsageFault("sweep-no-axis", "there is nothing to vary", help="give --sweep KEY=VALUES or --grid FILE")
    size = math.prod(len(axis.values) for axis in axes) if axes else 0
    if size + len(rules.include) > MOST_POINTS:
        raise UsageFault("sweep-too-large", f"the grid has {size:,} points; the limit is {MOST_POINTS:,}")
    keys = tuple(axis.key for axis in axes)
    products = itertools.product(*(axis.values for axis in axes)) if axes else iter(())
    chosen = [dict(zip(keys, values, strict=True)) for values in products]
    settings = [point for point in chosen if not any(_has(point, rule) for rule in rules.exclude)]
    for number, rule in enumerate(rules.exclude, start=1):
        if not any(_has(point, rule) for point in chosen):
            raise UsageFault("sweep-bad-value", f"[[exclude]] number {number} matches no point", where=rules.source)
    settings += [{key: value for key, (value,) in point.items()} for point in rules.include]
    every = tuple(dict.fromkeys([*keys, *(key for point in rules.include for key in point)]))
    points = tuple(_point(model, number, base, point, every) for number, point in enumerate(settings, start=1))
    points = _reject_same(points)
    if all(point.selected is None for point in points):
        reason = points[0].refused if points else "everything is excluded"
        raise NothingChecked("sweep-empty", f"no configuration of the grid can be checked: {reason}")
    return SweepGrid(axes, every, points, len(chosen) + len(rules.include) - len(settings))


def _reject_bad_base(model: DeclaredModel, base: Selection) -> None:
    """Raise UsageFault for unknown names; whether values fit each other is checked for each point."""
    model.variant(base.variant)
    model.scope(base.scope)
    parse_overrides(model.config, base.overrides)


def _has(point: Mapping[str, str], rule: Mapping[str, tuple[str, ...]]) -> bool:
    return all(point[key] in values for key, values in rule.items())


def _reject_twice(axes: Sequence[Axis], base: Selection) -> None:
    fixed = {pair.partition("=")[0].strip() for pair in base.overrides}
    seen: set[str] = set()
    for axis in axes:
        if axis.key in seen:
            raise UsageFault("sweep-twice", f"`{axis.key}` is swept twice", help="give one list of values")
        if axis.key in fixed:
            raise UsageFault("sweep-twice", f"`{axis.key}` is both swept and set", help="leave one out")
        seen.add(axis.key)


def _point(model: DeclaredModel, number: int, base: Selection, values: Mapping[str, str], keys: Sequence[str]) -> Point:
    """Return a point of the grid, resolved; a configuration that the model refuses has the reason instead."""
    pairs = [f"{key}={value}" for key, value in values.items() if key not in ("variant", "scope")]
    fixed = [pair for pair in base.overrides if pair.partition("=")[0].strip() not in values]
    variant, scope = values.get("variant", base.variant), values.get("scope", base.scope)
    selection = replace(base, variant=variant, scope=scope, overrides=(*fixed, *pairs))
    settings = {key: plain_value(model, key, value) for key, value in values.items()}
    try:
        selected = resolve(selection)
    except UsageFault as fault:
        return Point(number, selection, {key: settings.get(key) for key in keys}, refused=fault.message)
    resolved = {"variant": selected.variant, "scope": selected.scope, **config_values(selected.config)}
    return Point(number, selection, {key: resolved[key] for key in keys}, selected)


def _reject_same(points: Sequence[Point]) -> tuple[Point, ...]:
    """Return the points; one with the configuration of an earlier point is refused."""
    first: dict[tuple[str, str, str], int] = {}
    unique = []
    for point in points:
        if point.selected is not None:
            config = repr(sorted(config_values(point.selected.config).items()))
            same = first.setdefault((point.selected.variant, point.selected.scope, config), point.number)
            if same != point.number:
                point = Point(
                    point.number, point.selection, point.settings, None, f"the same configuration as number {same}"
                )
        unique.append(point)
    return tuple(unique)


def job_of(point: Point, request: SweepRequest) -> Job:
    """Return the task that checks a point which the model accepts."""
    assert point.selected is not None
    return Job(
        number=point.number,
        selection=point.selection,
        config=config_values(point.selected.config),
        properties=request.properties,
        limits=request.limits,
        stop_at_first=request.stop_at_first,
        large=request.large,
    )


N = TypeVar("N")
START_SECONDS = 1.0
"""Time to lower and compile a small model."""
STATES_PER_SECOND = 500_000


def cost(states: float, large: int) -> float:
    """Estimate the seconds that one thread needs for this many states, or to stop at `large` states."""
    return START_SECONDS + min(states, large) / STATES_PER_SECOND


def pack(costs: Mapping[N, float], packs: int) -> list[list[N]]:
    """Split the keys into at most `packs` groups of similar cost, the most expensive group first.

    Assign keys by decreasing cost, each to the cheapest group so far; the mapping's order breaks ties.
    """
    groups: list[list[N]] = [[] for _ in range(min(packs, len(costs)))]
    loads = [0.0] * len(groups)
    for key in largest_first(costs):
        least = loads.index(min(loads))
        groups[least].append(key)
        loads[least] += costs[key]
    order: Sequence[int] = sorted(range(len(groups)), key=lambda k: -loads[k])
    return [groups[k] for k in order]


def largest_first(costs: Mapping[N, float]) -> Iterable[N]:
    """Return the keys by decreasing cost; the mapping's order breaks ties."""
    return sorted(costs, key=lambda key: -costs[key])
