"""Read a scenario from a TOML file: a sequence of steps, and the verdict for each protocol variant.

    id = "E-4"
    title = "Mixed acks and the strict high watermark"
    source = "KIP-966, strict min ISR"

    [config]                           # sizes and knobs; budgets follow from the steps
    broker_count = 2

    [[step]]
    note = "1 lags and leaves the ISR"
    do = ["Produce(leader=0, acks=ALL)", "ShrinkIsr(leader=0, out={1})"]
    [step.expect]                      # the state afterwards; an empty optional is "none"
    broker.0.alter.isr = [0]
    [[step]]                           # a step, or only a check, in some variants
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

A run starts in the model's initial state, changed by the table `start`, and takes the common steps, then its own.
Its verdict is exactly one of

    safe = true            every property holds in every state and step
    breaks = [..]          these properties are violated, and as a consequence those in `also_breaks`
    refused = "guard"      the last action is refused by this guard, and every property holds

`disputed` records a claim of the source that does not hold: a property and why it is not violated. `reaches` names
witnesses that the run reaches. `pending` says what the model lacks for a scenario or a run.

This module checks the file's structure. `elrcheck.kafka.scenario` checks actions, paths and values, which
need a loaded model.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_args

from elrcheck.base.documents import read_toml, toml_codes
from elrcheck.base.errors import did_you_mean
from elrcheck.base.strict import Node
from elrcheck.base.typed.records import (
    From,
    KeyName,
    MaybeEmpty,
    NodeReader,
    OneOrMore,
    Prose,
    read_record,
    text_or_texts,
)
from elrcheck.catalogue.file_values import knob_values, packaged_files
from elrcheck.model.budgets import Spent
from elrcheck.model.variants import variant_names

Verdict: TypeAlias = Literal["safe", "breaks", "refused"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True)
class Claim:
    """The value that a leaf of a state must have, or gets. path: dotted, with numbers as indices; value: as in TOML."""

    path: str
    value: Any
    where: str


def _claims(node: Node) -> tuple[Claim, ...]:
    """Return the leaves of a table, in order."""
    claims: list[Claim] = []
    for key, part in node.fields():
        if isinstance(part.value, dict):
            claims += [Claim(f"{key}.{inner.path}", inner.value, inner.where) for inner in _claims(part)]
        else:
            claims.append(Claim(key, part.value, part.where))
    return tuple(claims)


def _knobs(node: Node) -> dict[str, Any]:
    """Return the fields of `Config` in a table, which must not have budgets."""
    budgets = {part.name for part in fields(Spent)}
    for key, part in node.fields():
        if key in budgets:
            part.fail(f"`{key}` is a budget", "leave it out: budgets follow from the steps")
    return knob_values(node)


def _variants(node: Node) -> tuple[str, ...]:
    variants = text_or_texts(node)
    names = variant_names()
    if not variants:
        node.bad("no variant is named", "known: " + ", ".join(names))
    for name in variants:
        if name not in names:
            node.fail(f"unknown variant `{name}`", did_you_mean(name, names))
    return variants


Claims: TypeAlias = Annotated[tuple[Claim, ...], NodeReader(_claims)]
Sizes: TypeAlias = Annotated[Mapping[str, Any], NodeReader(_knobs)]
Variants: TypeAlias = Annotated[tuple[str, ...], NodeReader(_variants)]


@dataclass(frozen=True)
class StoryStep:
    """One event of the scenario: actions of the model, then expectations; without actions it only checks.

    variants: those that it applies to; empty for all.
    """

    variants: Variants = ()
    actions: Annotated[OneOrMore, KeyName("do")] = ()
    note: MaybeEmpty = ""
    expect: Claims = ()
    where: Annotated[str, From.PLACE] = ""

    def checked(self, node: Node) -> StoryStep:
        if not self.actions and not self.expect:
            node.fail("a step needs `do` or `expect`")
        return self


@dataclass(frozen=True)
class Run:
    """One verdict for some variants. knobs: fields of `Config` on top of the variant's."""

    variants: Variants
    name: MaybeEmpty = ""
    knobs: Annotated[Sizes, KeyName("set")] = field(default_factory=dict)
    safe: bool = False
    breaks: OneOrMore = ()
    also_breaks: OneOrMore = ()
    refused: MaybeEmpty = ""
    disputed: Mapping[str, Prose] = field(default_factory=dict)
    reaches: OneOrMore = ()
    pending: MaybeEmpty = ""
    steps: Annotated[tuple[StoryStep, ...], KeyName("step")] = ()
    expect: Claims = ()
    where: Annotated[str, From.PLACE] = ""

    @property
    def verdict(self) -> Verdict:
        """Return the verdict that the scenario expects."""
        return "safe" if self.safe else "breaks" if self.breaks else "refused"

    def checked(self, node: Node) -> Run:
        if sum(key in node for key in VERDICTS) != 1:
            node.fail("a run has exactly one verdict: `safe = true`, `breaks` or `refused`")
        if "safe" in node and not self.safe:
            node["safe"].fail("`safe` can only be true", "say `breaks` and which properties")
        if "breaks" in node and not self.breaks:
            node["breaks"].fail("`breaks` names no property", "say `safe = true`")
        if "also_breaks" in node and not self.breaks:
            node["also_breaks"].fail("`also_breaks` needs `breaks`")
        return self


@dataclass(frozen=True)
class Scenario:
    """A scenario whose structure has been checked. pending: what the model lacks, or empty."""

    id: Prose
    title: Prose
    source: Prose
    runs: Annotated[tuple[Run, ...], KeyName("run")]
    about: MaybeEmpty = ""
    pending: MaybeEmpty = ""
    config: Sizes = field(default_factory=dict)
    start: Claims = ()
    steps: Annotated[tuple[StoryStep, ...], KeyName("step")] = ()
    file: Annotated[str, From.FILE] = field(compare=False, default="")

    def checked(self, node: Node) -> Scenario:
        if not self.runs:
            node["run"].fail("a scenario has at least one [[run]]")
        return self


def scenario_files() -> tuple[Traversable, ...]:
    """Return the files of the packaged scenarios, by id."""
    return packaged_files("scenarios")


@functools.cache
def packaged_scenarios() -> tuple[Scenario, ...]:
    """Return the packaged scenarios, by id; they are read once."""
    return tuple(read_scenario(file) for file in scenario_files())


def read_scenario(file: Path | Traversable) -> Scenario:
    """Read a scenario file strictly; a UsageFault names the file, the line and the key."""
    return read_record(read_toml(file, toml_codes("scenario-file")), Scenario)
