"""The folder of a sweep: its definition (`sweep.json`) and every answer as it arrives (`rows.jsonl`).

An answer is one line, written in one call and flushed to disk after its traces; a killed process leaves at
most an incomplete last line, which is dropped. If a configuration has two lines, the later one counts.

    DIR/sweep.json               the grid, the properties, the limits, a digest of the model
    DIR/rows.jsonl               {"number": 7, "by": "process", "report": {..}, ..}
    DIR/0007/P-1.trace.json      the shortest violation of P-1 in configuration number 7
"""

from __future__ import annotations

import ast
import hashlib
import itertools
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from elrcheck import __version__
from elrcheck.base.atomic import write_file, write_files
from elrcheck.base.errors import EnvironmentFault, UsageFault
from elrcheck.base.package_files import files_of
from elrcheck.base.requests import Limits, Selection, SweepRequest
from elrcheck.base.strictjson import load
from elrcheck.catalogue.configuration import config_values
from elrcheck.catalogue.select import resolve
from elrcheck.commands.sweep.axes import Axis
from elrcheck.commands.sweep.grid import Grid, Point
from elrcheck.commands.sweep.job import Answer
from elrcheck.explorer.runs.folders import RUNS

SCHEMA = "elrcheck.sweep-run/1"
MANIFEST = "sweep.json"
ROWS = "rows.jsonl"


@dataclass(frozen=True)
class Done:
    """An answer and its origin (process or Spark task); its traces are in the folder."""

    answer: Answer
    by: str


# ------------------------------------------------------------------------------- what a sweep is


def describe(grid: Grid, request: SweepRequest) -> dict[str, Any]:
    """The definition of a sweep, as JSON types; it must be unchanged for the sweep to resume."""
    return {
        "axes": [{"key": axis.key, "values": list(axis.values)} for axis in grid.axes],
        "keys": list(grid.keys),
        "excluded": grid.excluded,
        "points": [_point_json(point) for point in grid.points],
        "properties": list(request.properties),
        "limits": asdict(request.limits),
        "stop_at_first": request.stop_at_first,
        "large": request.large,
        "model": model_digest(),
    }


def _point_json(point: Point) -> dict[str, Any]:
    config = None if point.selected is None else config_values(point.selected.config)
    return {
        "variant": point.selection.variant,
        "scope": point.selection.scope,
        "overrides": list(point.selection.overrides),
        "settings": dict(point.settings),
        "config": config and hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest(),
        "refused": point.refused,
    }


def model_digest() -> str:
    """Digest of the sources that every verdict depends on: model, properties, language; ignores comments."""
    digest = hashlib.sha256()
    for room in ("lang", "model", "invariants"):
        for name, file in files_of(room):
            tree = ast.dump(ast.parse(file.read_bytes()))
            digest.update(f"{name}\0{tree}\0".encode())
    return digest.hexdigest()


def grid_of(saved: dict[str, Any]) -> Grid:
    """The grid of a saved sweep. Raises UsageFault if a configuration changed (such as by its scope file)."""
    points = []
    for number, data in enumerate(saved["points"], start=1):
        selection = Selection(data["variant"], data["scope"], tuple(data["overrides"]))
        selected = resolve(selection) if data["refused"] is None else None
        points.append(Point(number, selection, data["settings"], selected, data["refused"]))
    axes = tuple(Axis(axis["key"], tuple(axis["values"])) for axis in saved["axes"])
    return Grid(axes, tuple(saved["keys"]), tuple(points), saved["excluded"])


def request_of(request: SweepRequest, saved: dict[str, Any]) -> SweepRequest:
    """The request with everything that defines the sweep taken from its saved definition."""
    return replace(
        request,
        properties=tuple(saved["properties"]),
        limits=Limits(**saved["limits"]),
        stop_at_first=saved["stop_at_first"],
        large=saved["large"],
    )


def reject_other(saved: dict[str, Any], asked: dict[str, Any], place: Path) -> None:
    """Raises UsageFault if the sweep in the folder is not the requested one; the message names the change."""
    detail = _difference(saved, asked)
    if detail is not None:
        raise UsageFault(
            "resume-mismatch", f"the interrupted sweep was a different one: {detail}", where=str(place),
            help="leave out the options that define the grid, or start over with another --run-dir",
        )  # fmt: skip


def _difference(saved: dict[str, Any], asked: dict[str, Any]) -> str | None:
    before = {axis["key"]: axis["values"] for axis in saved["axes"]}
    now = {axis["key"]: axis["values"] for axis in asked["axes"]}
    for key in dict.fromkeys([*before, *now]):
        if before.get(key) != now.get(key):
            return f"the axis `{key}` was {_values(before.get(key))} and is now {_values(now.get(key))}"
    pairs: Iterable[tuple[dict[str, Any], dict[str, Any]]]
    pairs = itertools.zip_longest(saved["points"], asked["points"], fillvalue={})
    for number, (old, new) in enumerate(pairs, start=1):
        for field in ("variant", "scope", "overrides", "config", "refused", "settings"):
            if old.get(field) != new.get(field):
                what = "values" if field in ("config", "settings") else field
                return f"the {what} of configuration number {number} changed"
    for field in ("properties", "limits", "stop_at_first", "large", "keys", "excluded"):
        if saved[field] != asked[field]:
            return f"`{field}` was {saved[field]!r} and is now {asked[field]!r}"
    return "the model has changed" if saved["model"] != asked["model"] else None


def _values(values: list[str] | None) -> str:
    return "not swept" if values is None else ",".join(values)


# ------------------------------------------------------------------------------------ the folder


class Ledger:
    """The folder of one sweep, open for writing answers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.done: dict[int, Done] = {}

    def add(self, answer: Answer, by: str) -> None:
        """Store an answer: first its traces, then its line."""
        if answer.traces:
            write_files(self.folder / self.place(answer.number), answer.traces)
        done = Done(replace(answer, traces=dict.fromkeys(answer.traces, "")), by)
        line = json.dumps({"by": by, **asdict(done.answer)}, allow_nan=False) + "\n"
        try:
            with open(self.folder / ROWS, "ab") as file:
                file.write(line.encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as fault:
            why = fault.strerror or str(fault)
            raise EnvironmentFault("cannot-write", f"cannot write into {self.folder}: {why}") from fault
        self.done[answer.number] = done

    @staticmethod
    def place(number: int) -> str:
        """The folder of a configuration's traces, inside the folder of the sweep."""
        return f"{number:04}"

    def settled(self, number: int) -> bool:
        """True if a configuration has a final answer; a failure is tried again."""
        done = self.done.get(number)
        return done is not None and (done.answer.report is not None or done.answer.refused is not None)

    def known_large(self) -> set[int]:
        return {number for number, done in self.done.items() if done.answer.large}


def create(place: Path | None, sweep: dict[str, Any]) -> Ledger:
    """Creates the requested folder, or one named after the axes. Raises UsageFault if it holds a sweep."""
    body = json.dumps(sweep, sort_keys=True)
    if place is None:
        first = RUNS / f"sweep-{hashlib.sha256(body.encode()).hexdigest()[:10]}"
        places = (first.with_name(f"{first.name}-{number}") for number in itertools.count(2))
        place = next(place for place in itertools.chain([first], places) if not place.exists())
    elif place.exists() and not place.is_dir():
        raise UsageFault("run-dir-is-file", f"{place} is a file, not a folder")
    elif (place / MANIFEST).exists():
        raise UsageFault("run-dir-taken", "the folder already contains a sweep", where=str(place),
                         help=f"`elrcheck sweep --resume {place}`, or choose another --run-dir")  # fmt: skip
    document = {"schema": SCHEMA, "elrcheck": __version__, "sweep": sweep}
    write_file(place / MANIFEST, json.dumps(document, indent=1) + "\n")
    return Ledger(place)


def read_sweep(place: Path) -> dict[str, Any]:
    """Reads the definition of the sweep in a folder. Raises UsageFault if it is missing or damaged."""
    file = place / MANIFEST
    if not file.is_file():
        raise UsageFault("no-checkpoint", f"there is no sweep to resume in {place}", where=str(file))
    data, top = load(file, "checkpoint-damaged")
    body = top.mapping(data, ("schema", "elrcheck", "sweep"))
    if body["schema"] != SCHEMA:
        top.field("schema").fail(f"expected {SCHEMA!r}, found {body['schema']!r}")
    names = ("axes", "keys", "excluded", "points", "properties", "limits", "stop_at_first", "large", "model")
    return dict(top.field("sweep").mapping(body["sweep"], names))


def reopen(place: Path, numbers: Iterable[int]) -> Ledger:
    """Opens the folder of a sweep with its answers; truncates an incomplete last line."""
    ledger = Ledger(place)
    file = place / ROWS
    if not file.exists():
        return ledger
    data = file.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if whole != data:
        with open(file, "r+b") as opened:
            opened.truncate(len(whole))
    known = set(numbers)
    for line, text in enumerate(whole.splitlines(), start=1):
        try:
            body = json.loads(text)
            by = str(body.pop("by"))
            answer = Answer(**body)
            if answer.number not in known:
                raise ValueError(f"there is no configuration number {answer.number}")
        except (ValueError, TypeError, KeyError, AttributeError) as fault:
            raise UsageFault("checkpoint-damaged", f"not an answer of a sweep: {fault}",
                             where=f"{file}:{line}") from fault  # fmt: skip
        ledger.done[answer.number] = Done(answer, by)
    return ledger
