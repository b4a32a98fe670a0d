"""A scenario as a TOML file: a story of steps, and what each variant of the protocol makes of it.

    id = "E-4"
    title = "Mixed acks and the strict high watermark"
    source = "KIP-966, strict min ISR"

    [config]                           # sizes and knobs; budgets follow from the steps
    broker_count = 2

    [[step]]
    note = "1 lags and leaves the ISR"
    do = ["Produce(leader=0, acks=ALL)", "ShrinkIsr(leader=0, out={1})"]
    [step.expect]                      # afterwards; an optional that is absent is "none"
    broker.0.alter.isr = [0]
    [[step]]                           # a step, or only a check, of some variants
    variants = ["kip_full", "code_4_1"]
    expect.partition.elr = [1]

    [[run]]                            # a verdict, for one or more variants
    variants = ["kip_full", "code_4_1"]
    safe = true

    [[run]]
    variants = ["kip_full"]
    set = { strict_hwm = false }
    breaks = ["P-6"]
    [[run.step]]                       # steps of this run only, after the common ones
    do = "Fence(b=0)"

A run starts in the model's initial state, changed by the table `start`, and takes the common steps,
then its own. Its verdict is exactly one of

    safe = true            every property holds in every state and step
    breaks = [..]          these properties are violated, and the ones in `also_breaks`, which follow
    refused = "guard"      the last action is refused by this guard, and every property holds

`disputed` holds what the source claims although it is not so: a property and why it is not violated.
`reaches` names witnesses the run meets. `pending` says what the model lacks for a scenario or a run.

This module checks the frame. Actions, paths and values need a loaded model, so they are checked by
`elrcheck.commands.scenario.scenario`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, NoReturn

from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.catalogue.configuration import check_value, config_fields, read_toml
from elrcheck.model.budgets import Spent
from elrcheck.model.config import Config
from elrcheck.model.variants import VARIANTS

KeyPath = tuple[str | int, ...]
TOP = ("id", "title", "source", "about", "pending", "config", "start", "step", "run")
STEP = ("variants", "note", "do", "expect")
VERDICTS = ("safe", "breaks", "refused")
CLAIMS = (*VERDICTS, "also_breaks", "disputed", "reaches", "expect")
RUN = ("variants", "name", "set", "pending", "step", *CLAIMS)


@dataclass(frozen=True)
class Claim:
    """What a leaf must be, or is set to. path: dotted, numbers index; value: as TOML has it."""

    path: str
    value: Any
    where: str


@dataclass(frozen=True)
class StoryStep:
    """One event of the story: one or more actions of the model, then expectations.

    variants: the only ones it happens in; none named means all. Without actions it is a check.
    """

    variants: tuple[str, ...]
    actions: tuple[str, ...]
    note: str
    expect: tuple[Claim, ...]
    where: str


@dataclass(frozen=True)
class Run:
    """One verdict for some variants. knobs: fields of `Config` beyond the variant's."""

    variants: tuple[str, ...]
    name: str
    knobs: Mapping[str, Any]
    verdict: str
    breaks: tuple[str, ...]
    also_breaks: tuple[str, ...]
    refused: str
    disputed: Mapping[str, str]
    reaches: tuple[str, ...]
    pending: str
    steps: tuple[StoryStep, ...]
    expect: tuple[Claim, ...]
    where: str


@dataclass(frozen=True)
class Scenario:
    """A scenario whose frame has been checked. pending: what the model lacks, or empty."""

    id: str
    title: str
    source: str
    about: str
    pending: str
    config: Mapping[str, Any]
    start: tuple[Claim, ...]
    steps: tuple[StoryStep, ...]
    runs: tuple[Run, ...]
    file: str = field(compare=False, default="")


def scenario_files() -> tuple[Traversable, ...]:
    """The files of the packaged scenarios, by id."""
    folder = files("elrcheck.catalogue") / "scenarios"
    found = [f for f in folder.iterdir() if f.name.endswith(".toml")] if folder.is_dir() else []
    return tuple(sorted(found, key=lambda f: f.name))


def read_scenario(file: Path | Traversable) -> Scenario:
    """Reads a scenario file strictly; UsageFault names the file, the line and the key."""
    document = read_toml(file)
    return _Reader(document.name, line_numbers(document.text)).scenario(document.data)


def line_numbers(text: str) -> dict[KeyPath, int]:
    """Path -> line of every key and header of a TOML text; arrays of tables count from 0.

    For messages only: inline tables are not followed.
    """
    found: dict[KeyPath, int] = {}
    arrays: dict[KeyPath, int] = {}
    table: KeyPath = ()
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        header = re.match(r"(\[\[?)([\w.\s-]+)\]", line)
        if header:
            table = ()
            words = [word.strip() for word in header[2].split(".")]
            for position, word in enumerate(words, start=1):
                table = (*table, word)
                if header[1] == "[[" and position == len(words):
                    arrays[table] = arrays.get(table, -1) + 1
                if table in arrays:
                    table = (*table, arrays[table])
            found[table] = number
            continue
        key = re.match(r"([\w.-]+)\s*=", line)
        if key:
            found.setdefault((*table, *key[1].split(".")), number)
    return found


@dataclass(frozen=True)
class _Reader:
    """Walks along the data and knows where it is."""

    name: str
    lines: Mapping[KeyPath, int]

    def where(self, path: KeyPath) -> str:
        """`file:line` of a path, or of the nearest one around it."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.lines:
                return f"{self.name}:{self.lines[path[:end]]}"
        return self.name

    def fail(self, path: KeyPath, why: str, help: str | None = None) -> NoReturn:
        raise UsageFault("scenario-file", why, where=self.where(path), help=help)

    def keys(self, data: Any, path: KeyPath, known: Sequence[str]) -> Mapping[str, Any]:
        if not isinstance(data, dict):
            self.fail(path, f"`{path[-1]}` must be a table")
        for key in data:
            if key not in known:
                inside = f" in [{path[0]}]" if path else ""
                self.fail((*path, key), f"unknown key `{key}`{inside}", did_you_mean(key, known))
        return data

    def text(self, data: Mapping[str, Any], key: str, path: KeyPath, *, needed: bool = False) -> str:
        value = data.get(key, "")
        if not isinstance(value, str):
            self.fail((*path, key), f"`{key}` must be a text")
        if needed and not value.strip():
            self.fail(path, f"`{key}` is missing")
        return value.strip()

    def texts(self, data: Mapping[str, Any], key: str, path: KeyPath) -> tuple[str, ...]:
        value = data.get(key, [])
        value = [value] if isinstance(value, str) else value
        if not isinstance(value, list) or not all(isinstance(v, str) and v for v in value):
            self.fail((*path, key), f"`{key}` must be a text or a list of texts")
        return tuple(value)

    def tables(self, data: Mapping[str, Any], key: str, path: KeyPath) -> list[Any]:
        value = data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            self.fail((*path, key), f"`{key}` must be an array of tables, written [[{key}]]")
        return value

    def claims(self, data: Any, path: KeyPath) -> tuple[Claim, ...]:
        """The leaves of a table, in order."""
        if not isinstance(data, dict):
            self.fail(path, f"`{path[-1]}` must be a table")
        made: list[Claim] = []
        for key, value in data.items():
            if isinstance(value, dict):
                made += [
                    Claim(f"{key}.{inner.path}", inner.value, inner.where)
                    for inner in self.claims(value, (*path, key))
                ]
            else:
                made.append(Claim(key, value, self.where((*path, key))))
        return tuple(made)

    def knobs(self, data: Any, path: KeyPath) -> dict[str, Any]:
        """Fields of `Config`, except budgets, which follow from the steps."""
        budgets = {part.name for part in fields(Spent)}
        kinds = {name: kind for name, kind in config_fields(Config).items() if name not in budgets}
        for key in data if isinstance(data, dict) else ():
            if key in budgets:
                self.fail((*path, key), f"`{key}` is a budget", "leave it out: budgets follow from the steps")
        values: dict[str, Any] = {}
        for key, value in self.keys(data, path, tuple(kinds)).items():
            try:
                values[key] = check_value(kinds[key], value)
            except ValueError as fault:
                self.fail((*path, key), f"`{key}`: {fault}, not {value!r}")
        return values

    def steps(self, data: Mapping[str, Any], path: KeyPath) -> tuple[StoryStep, ...]:
        made = []
        for index, raw in enumerate(self.tables(data, "step", path)):
            here = (*path, "step", index)
            body = self.keys(raw, here, STEP)
            only = self.variants(body, here) if "variants" in body else ()
            expect = self.claims(body.get("expect", {}), (*here, "expect"))
            actions = self.texts(body, "do", here)
            if not actions and not expect:
                self.fail(here, "a step needs `do` or `expect`")
            made.append(StoryStep(only, actions, self.text(body, "note", here), expect, self.where(here)))
        return tuple(made)

    def variants(self, body: Mapping[str, Any], here: KeyPath) -> tuple[str, ...]:
        variants = self.texts(body, "variants", here)
        known = [variant.name for variant in VARIANTS]
        if not variants:
            self.fail(here, "`variants` is missing", "known: " + ", ".join(known))
        for name in variants:
            if name not in known:
                self.fail((*here, "variants"), f"unknown variant `{name}`", did_you_mean(name, known))
        return variants

    def run(self, raw: Any, index: int) -> Run:
        here: KeyPath = ("run", index)
        body = self.keys(raw, here, RUN)
        given = [key for key in VERDICTS if key in body]
        if len(given) != 1:
            self.fail(here, "a run has exactly one verdict: `safe = true`, `breaks` or `refused`")
        if "safe" in body and body["safe"] is not True:
            self.fail((*here, "safe"), "`safe` can only be true", "say `breaks` and which properties")
        breaks = self.texts(body, "breaks", here)
        if given == ["breaks"] and not breaks:
            self.fail((*here, "breaks"), "`breaks` names no property", "say `safe = true`")
        if given != ["breaks"] and "also_breaks" in body:
            self.fail((*here, "also_breaks"), "`also_breaks` needs `breaks`")
        disputed = self.keys(body.get("disputed", {}), (*here, "disputed"), tuple(body.get("disputed", {})))
        return Run(
            variants=self.variants(body, here),
            name=self.text(body, "name", here),
            knobs=self.knobs(body.get("set", {}), (*here, "set")),
            verdict=given[0],
            breaks=breaks,
            also_breaks=self.texts(body, "also_breaks", here),
            refused=self.text(body, "refused", here),
            disputed={key: self.text(disputed, key, (*here, "disputed"), needed=True) for key in disputed},
            reaches=self.texts(body, "reaches", here),
            pending=self.text(body, "pending", here),
            steps=self.steps(body, here),
            expect=self.claims(body.get("expect", {}), (*here, "expect")),
            where=self.where(here),
        )

    def scenario(self, data: Mapping[str, Any]) -> Scenario:
        body = self.keys(data, (), TOP)
        runs = tuple(self.run(raw, index) for index, raw in enumerate(self.tables(body, "run", ())))
        if not runs:
            self.fail((), "a scenario has at least one [[run]]")
        return Scenario(
            id=self.text(body, "id", (), needed=True),
            title=self.text(body, "title", (), needed=True),
            source=self.text(body, "source", (), needed=True),
            about=self.text(body, "about", ()),
            pending=self.text(body, "pending", ()),
            config=self.knobs(body.get("config", {}), ("config",)),
            start=self.claims(body.get("start", {}), ("start",)),
            steps=self.steps(body, ()),
            runs=runs,
            file=self.name,
        )
