"""Read a scenario from a TOML file: a sequence of steps, and the verdict for each protocol variant.

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

`disputed` records a claim of the source that does not hold: a property and why it is not violated.
`reaches` names witnesses the run reaches. `pending` says what the model lacks for a scenario or a run.

This module checks the file's structure. `elrcheck.checking.scenario` checks actions, paths
and values, which need a loaded model.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from elrcheck.base.documents import read_toml, toml_codes
from elrcheck.base.errors import did_you_mean
from elrcheck.base.strict import Node
from elrcheck.catalogue.configuration import config_fields, config_value
from elrcheck.model.budgets import Spent
from elrcheck.model.config import Config
from elrcheck.model.variants import variant_names

TOP = ("id", "title", "source", "about", "pending", "config", "start", "step", "run")
STEP = ("variants", "note", "do", "expect")
VERDICTS = ("safe", "breaks", "refused")
CLAIMS = (*VERDICTS, "also_breaks", "disputed", "reaches", "expect")
RUN = ("variants", "name", "set", "pending", "step", *CLAIMS)


@dataclass(frozen=True)
class Claim:
    """The value a leaf must have, or is set to. path: dotted, with numbers as indices; value: as in TOML."""

    path: str
    value: Any
    where: str


@dataclass(frozen=True)
class StoryStep:
    """One event of the story: one or more actions of the model, then expectations.

    variants: the only ones it applies to; empty means all. A step without actions only checks.
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
    """A scenario whose structure has been checked. pending: what the model lacks, or empty."""

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
    """Return the files of the packaged scenarios, by id."""
    folder = files("elrcheck.catalogue") / "scenarios"
    found = [f for f in folder.iterdir() if f.name.endswith(".toml")] if folder.is_dir() else []
    return tuple(sorted(found, key=lambda f: f.name))


@functools.cache
def packaged_scenarios() -> tuple[Scenario, ...]:
    """Return the packaged scenarios, by id; they are read once."""
    return tuple(read_scenario(file) for file in scenario_files())


def read_scenario(file: Path | Traversable) -> Scenario:
    """Read a scenario file strictly; a UsageFault names the file, the line and the key."""
    document = read_toml(file, toml_codes("scenario-file")).object(("id", "title", "source", "run"), TOP)
    runs = tuple(_run(node) for node in _tables(document, "run"))
    if not runs:
        document["run"].fail("a scenario has at least one [[run]]")
    return Scenario(
        id=_needed(document["id"]),
        title=_needed(document["title"]),
        source=_needed(document["source"]),
        about=document.maybe("about", _text, ""),
        pending=document.maybe("pending", _text, ""),
        config=_knobs(document.get("config", {})),
        start=_claims(document.get("start", {})),
        steps=_steps(document),
        runs=runs,
        file=document.source.name,
    )


def _text(node: Node) -> str:
    return node.text().strip()


def _needed(node: Node) -> str:
    return _text(node) or node.bad("expected a text, not an empty one")


def _texts(node: Node) -> tuple[str, ...]:
    """One string, or a list of strings."""
    if not isinstance(node.value, str | list):
        node.expected("a text or a list of texts")
    return (node.text(),) if isinstance(node.value, str) else node.texts()


def _tables(node: Node, key: str) -> list[Node]:
    found = node.get(key, [])
    if not isinstance(found.value, list):
        found.bad(f"expected an array of tables, written [[{key}]]")
    return found.items()


def _claims(node: Node) -> tuple[Claim, ...]:
    """The leaves of a table, in order."""
    made: list[Claim] = []
    for key, part in node.fields():
        if isinstance(part.value, dict):
            made += [Claim(f"{key}.{inner.path}", inner.value, inner.where) for inner in _claims(part)]
        else:
            made.append(Claim(key, part.value, part.where))
    return tuple(made)


def _knobs(node: Node) -> dict[str, Any]:
    """Fields of `Config`, except budgets, which follow from the steps."""
    budgets = {part.name for part in fields(Spent)}
    kinds = {name: kind for name, kind in config_fields(Config).items() if name not in budgets}
    for key, part in node.fields():
        if key in budgets:
            part.fail(f"`{key}` is a budget", "leave it out: budgets follow from the steps")
    return {key: config_value(kinds[key], part) for key, part in node.object((), kinds).fields()}


def _steps(node: Node) -> tuple[StoryStep, ...]:
    made = []
    for step in _tables(node, "step"):
        step.object((), STEP)
        expect = _claims(step.get("expect", {}))
        actions = step.maybe("do", _texts, ())
        if not actions and not expect:
            step.fail("a step needs `do` or `expect`")
        variants, note = step.maybe("variants", _variants, ()), step.maybe("note", _text, "")
        made.append(StoryStep(variants, actions, note, expect, step.where))
    return tuple(made)


def _variants(node: Node) -> tuple[str, ...]:
    variants = _texts(node)
    known = variant_names()
    if not variants:
        node.bad("no variant is named", "known: " + ", ".join(known))
    for name in variants:
        if name not in known:
            node.fail(f"unknown variant `{name}`", did_you_mean(name, known))
    return variants


def _run(run: Node) -> Run:
    run.object(("variants",), RUN)
    given = [key for key in VERDICTS if key in run]
    if len(given) != 1:
        run.fail("a run has exactly one verdict: `safe = true`, `breaks` or `refused`")
    if "safe" in run and run["safe"].value is not True:
        run["safe"].fail("`safe` can only be true", "say `breaks` and which properties")
    breaks = run.maybe("breaks", _texts, ())
    if given == ["breaks"] and not breaks:
        run["breaks"].fail("`breaks` names no property", "say `safe = true`")
    if given != ["breaks"] and "also_breaks" in run:
        run["also_breaks"].fail("`also_breaks` needs `breaks`")
    return Run(
        variants=_variants(run["variants"]),
        name=run.maybe("name", _text, ""),
        knobs=_knobs(run.get("set", {})),
        verdict=given[0],
        breaks=breaks,
        also_breaks=run.maybe("also_breaks", _texts, ()),
        refused=run.maybe("refused", _text, ""),
        disputed=run.get("disputed", {}).map(_needed),
        reaches=run.maybe("reaches", _texts, ()),
        pending=run.maybe("pending", _text, ""),
        steps=_steps(run),
        expect=_claims(run.get("expect", {})),
        where=run.where,
    )
