"""The folder of a sweep: its definition (`sweep.json`) and every answer as it arrives (`rows.jsonl`).

An answer is one line, written after its traces, and becomes a row of the report.

    DIR/sweep.json               the grid, the properties, the limits, a digest of the model
    DIR/rows.jsonl               {"number": 7, "by": "process", "report": {..}, ..}
    DIR/0007/P-1.trace.json      the shortest violation of P-1 in configuration number 7
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from elrcheck.base.atomic import write_file, write_files
from elrcheck.base.documents import read_json
from elrcheck.base.errors import UsageFault
from elrcheck.base.requests import Limits, Selection, SweepRequest
from elrcheck.base.roundtrip import Record, from_data, to_data
from elrcheck.base.run_lock import in_another_folder
from elrcheck.base.runner.journal import Journal
from elrcheck.base.strict import Codes
from elrcheck.base.typed.configuration import config_values
from elrcheck.base.version import __version__
from elrcheck.checking.batch.job import JobAnswer
from elrcheck.checking.runs.folders import RUNS, numbered, reject_file
from elrcheck.commands.sweep.axes import Axis
from elrcheck.commands.sweep.grid import Point, SweepGrid
from elrcheck.declared.declared_model import declared
from elrcheck.declared.select import resolve
from elrcheck.results.check_report import CheckReport, PropertyOutcome, PropertyReport
from elrcheck.results.suite_report import RowVerdict, Searcher, SweepRow
from elrcheck.results.trace_view import Scalar

SCHEMA = "elrcheck.sweep-run/1"
MANIFEST = "sweep.json"
ROWS = "rows.jsonl"
CODES = Codes("checkpoint-damaged")


class SweepAnswer(JobAnswer, frozen=True, kw_only=True):
    """An answer and what gave it; its traces are in the folder."""

    by: Searcher


class SavedPoint(Record, frozen=True):
    """A configuration of a sweep. config: a digest of its values; None if the model refuses it."""

    variant: str
    scope: str
    overrides: tuple[str, ...]
    settings: dict[str, Scalar]
    config: str | None
    refused: str | None


class SavedSweep(Record, frozen=True):
    """Everything that must be the same for a sweep to resume. model: the digest of its rules."""

    axes: tuple[Axis, ...]
    keys: tuple[str, ...]
    excluded: int
    points: tuple[SavedPoint, ...]
    properties: tuple[str, ...]
    limits: Limits
    stop_at_first: bool
    large: int
    model: str


# ------------------------------------------------------------------------------- what a sweep is


def describe(grid: SweepGrid, request: SweepRequest) -> SavedSweep:
    """Return the definition of the requested sweep."""
    return SavedSweep(
        axes=grid.axes,
        keys=grid.keys,
        excluded=grid.excluded,
        points=tuple(_saved_point(point) for point in grid.points),
        properties=request.properties,
        limits=request.limits,
        stop_at_first=request.stop_at_first,
        large=request.large,
        model=declared(request.selection.source).digest(),
    )


def _saved_point(point: Point) -> SavedPoint:
    config = None
    if point.selected is not None:
        values = json.dumps(config_values(point.selected.config), sort_keys=True)
        config = hashlib.sha256(values.encode()).hexdigest()
    return SavedPoint(
        variant=point.selection.variant,
        scope=point.selection.scope,
        overrides=point.selection.overrides,
        settings=dict(point.settings),
        config=config,
        refused=point.refused,
    )


def grid_of(saved: SavedSweep, model: Selection) -> SweepGrid:
    """Return the grid of a saved sweep; raise UsageFault if the model refuses a configuration now.

    model: a selection with the model, which a run folder never names.
    """
    points = []
    for number, point in enumerate(saved.points, start=1):
        selection = replace(model, variant=point.variant, scope=point.scope, overrides=point.overrides)
        selected = resolve(selection) if point.refused is None else None
        points.append(Point(number, selection, point.settings, selected, point.refused))
    return SweepGrid(saved.axes, saved.keys, tuple(points), saved.excluded)


def request_of(request: SweepRequest, saved: SavedSweep) -> SweepRequest:
    """Return the request with the properties and limits of the saved sweep."""
    return replace(
        request, properties=saved.properties, limits=saved.limits, stop_at_first=saved.stop_at_first, large=saved.large
    )


def reject_other(saved: SavedSweep, requested: SavedSweep, place: Path) -> None:
    """Raise UsageFault, with the difference, if the sweep in the folder is not the requested one."""
    detail = _difference(saved, requested)
    if detail is not None:
        raise UsageFault(
            "resume-mismatch",
            f"the interrupted sweep was a different one: {detail}",
            where=str(place),
            help="leave out the options that define the grid, or start over with another --run-dir",
        )


def _difference(saved: SavedSweep, requested: SavedSweep) -> str | None:
    before = {axis.key: axis.values for axis in saved.axes}
    now = {axis.key: axis.values for axis in requested.axes}
    for key in dict.fromkeys([*before, *now]):
        if before.get(key) != now.get(key):
            return f"the axis `{key}` was {_values(before.get(key))} and is now {_values(now.get(key))}"
    for number, (old, new) in enumerate(itertools.zip_longest(saved.points, requested.points), start=1):
        for field in ("variant", "scope", "overrides", "config", "refused", "settings"):
            if getattr(old, field, None) != getattr(new, field, None):
                what = "values" if field in ("config", "settings") else field
                return f"the {what} of configuration number {number} changed"
    for field in ("properties", "limits", "stop_at_first", "large", "keys", "excluded"):
        if getattr(saved, field) != getattr(requested, field):
            return f"`{field}` was {_format_field(saved, field)} and is now {_format_field(requested, field)}"
    return "the model has changed since" if saved.model != requested.model else None


def _values(values: tuple[str, ...] | None) -> str:
    return "not swept" if values is None else ",".join(values)


def _format_field(sweep: SavedSweep, field: str) -> str:
    return repr(to_data(getattr(sweep, field)))


# ------------------------------------------------------------------------------------ the folder


class Ledger:
    """The folder of one sweep, open for answers. numbers: those of its configurations."""

    def __init__(self, folder: Path, numbers: Iterable[int]) -> None:
        self.folder = folder
        self._numbers = frozenset(numbers)
        self.journal = Journal(folder / ROWS, SweepAnswer, self._number)
        self.done: Mapping[int, SweepAnswer] = self.journal.answers

    def add(self, answer: JobAnswer, by: Searcher) -> None:
        """Store an answer: its traces first, then its line."""
        if answer.traces:
            write_files(self.folder / self.place(answer.number), answer.traces)
        self.journal.add(SweepAnswer(**{**structs.asdict(answer), "traces": dict.fromkeys(answer.traces, "")}, by=by))

    def _number(self, done: SweepAnswer) -> int:
        if done.number not in self._numbers:
            raise ValueError(f"there is no configuration number {done.number}")
        return done.number

    @staticmethod
    def place(number: int) -> str:
        """Return the folder of a configuration's traces, inside the folder of the sweep."""
        return f"{number:04}"

    def settled(self, number: int) -> bool:
        """Return whether a configuration has a final answer; a failure is not final."""
        done = self.done.get(number)
        return done is not None and (done.report is not None or done.refused is not None)

    def known_large(self) -> set[int]:
        return {number for number, done in self.done.items() if done.large}


def create(place: Path | None, sweep: SavedSweep) -> Ledger:
    """Create the requested folder, or one named by a digest of the sweep; raise UsageFault if it is taken."""
    body = json.dumps(to_data(sweep), sort_keys=True)
    reject_file(place)
    if place is None:
        first = RUNS / f"sweep-{hashlib.sha256(body.encode()).hexdigest()[:10]}"
        place = next(place for place in numbered(first) if not place.exists())
    elif (place / MANIFEST).exists():
        raise UsageFault(
            "run-dir-taken",
            "the folder already contains a sweep",
            where=str(place),
            help=f"`elrcheck sweep --resume {place}`, or choose another --run-dir",
        )
    document = {"schema": SCHEMA, "elrcheck": __version__, "sweep": to_data(sweep)}
    with in_another_folder():
        write_file(place / MANIFEST, json.dumps(document, indent=1) + "\n")
    return Ledger(place, range(1, len(sweep.points) + 1))


def read_sweep(place: Path) -> SavedSweep:
    """Return the definition of the sweep in a folder; raise UsageFault if it is missing or damaged."""
    file = place / MANIFEST
    if not file.is_file():
        raise UsageFault("no-checkpoint", f"there is no resumable sweep in {place}", where=str(file))
    top = read_json(file, CODES).object(("schema", "elrcheck", "sweep"))
    if top["schema"].value != SCHEMA:
        top["schema"].expected(SCHEMA, f"it was written by elrcheck {top['elrcheck'].value}")
    try:
        return from_data(top["sweep"].value, SavedSweep)
    except ValueError as fault:
        top["sweep"].fail(f"not a sweep of this version: {fault}", "start again with another --run-dir")


def row_of(point: Point, done: SweepAnswer | None) -> SweepRow:
    """Return the row of one configuration; `done` is None if it has no answer."""
    if point.selected is None:
        return _without_report(point, "skipped", point.refused, None)
    if done is None:
        return _without_report(point, "inconclusive", "did not run", None)
    if done.refused is not None:
        return _without_report(point, "skipped", done.refused, done.by)
    if done.error is not None:
        return _without_report(point, "failed", done.error, done.by)
    if done.report is None:
        return _without_report(point, "inconclusive", "beyond --large; the whole search did not run", None)
    return _with_report(point, done.report, done.by)


def _without_report(point: Point, verdict: RowVerdict, reason: str | None, by: Searcher | None) -> SweepRow:
    config = None if point.selected is None else config_values(point.selected.config)
    return SweepRow(
        point.number,
        point.settings,
        point.selection.variant,
        point.selection.scope,
        verdict,
        reason=reason,
        by=by,
        config=config,
    )


def _with_report(point: Point, report: CheckReport, by: Searcher) -> SweepRow:
    search = report.search
    properties = tuple(_property(one, point.number) for one in report.properties)
    violated = [one for one in properties if one.verdict == "violated"]
    first = min(violated, key=lambda one: one.depth or 0, default=None)
    return SweepRow(
        number=point.number,
        settings=point.settings,
        variant=report.variant,
        scope=report.scope,
        verdict=report.verdict,
        reason=search.stopped_by if report.verdict == "inconclusive" else None,
        property=None if first is None else first.id,
        depth=None if first is None else first.depth,
        violated=tuple(one.id for one in violated),
        unreached=tuple(one.id for one in properties if one.verdict == "unreached"),
        complete=search.complete,
        generated=search.generated,
        distinct=search.distinct,
        diameter=search.diameter,
        seconds=search.seconds,
        by=by,
        trace=None if first is None else first.trace,
        properties=properties,
        config=report.config,
    )


def _property(report: PropertyReport, number: int) -> PropertyOutcome:
    same = {name: getattr(report, name) for name in PropertyOutcome.__struct_fields__}
    trace = None if report.trace is None else f"{Ledger.place(number)}/{report.trace}"
    return PropertyOutcome(**{**same, "trace": trace})
