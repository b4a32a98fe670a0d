"""The hunt: searches each operation with each kind of fault in every released variant, and attributes violations.

A violation is attributed by repairs: all findings are repaired, then each repair is left out in turn. A finding is a
cause if the property breaks without its repair, and holds or breaks only after more steps with all repairs. If no
single finding is a cause, pairs of repairs are left out. A violation with all repairs is by design if the KIP breaks
the property too, with or without its recovery manager or ELR, and due to a finding without a repair if the shortest
trace ends with that finding's step. Any other violation would have a new cause. `docs/search_hunt.py` searches and
writes the answers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import combinations
from typing import Any, TypeAlias

from elrcheck.base.documents import read_toml
from elrcheck.base.requests import Selection
from elrcheck.base.roundtrip import Record, from_text
from elrcheck.base.strict import Node
from elrcheck.base.typed.configuration import setting_text
from elrcheck.catalogue.packaged_findings import find_finding
from elrcheck.checking.suite.suite_file import SuiteCase, read_family
from elrcheck.declared.select import resolve

NAME = "hunted.json"
FAMILIES = ("hunt.toml", "hunt_pairs.toml")
SCHEMA = "elrcheck.hunt/2"


@dataclass(frozen=True, eq=False)
class Repair:
    """The repair of a finding: the rule that its controls set.

    needs: budgets, at least one of which the rule needs to make a difference; empty if it needs none.
    """

    finding: str
    knobs: Mapping[str, Any]
    needs: tuple[str, ...]


STEPS: Mapping[tuple[str, str], str] = {
    ("", "ChangeFeature"): "F-26",
    ("P-12", "Reassign"): "F-62",
    ("P-37", "ReportNewDirectory"): "F-28",
}
"""Property, or none for all, and last step of a violation -> the finding that explains it and has no repair.

The controller stores a last known leader that a reassignment removes (F-62), and while ELR is off, an election leaves
it stored; the repair of F-28 clears the ELR only.
"""
DESIGNS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "the KIP": ("kip_full", {}),
    "the KIP without its recovery manager": ("kip_phase1", {}),
    "the KIP without ELR": ("kip_phase1", {"elr_enabled": False}),
}
"""Designs that may break a property themselves: a variant, and knobs on top."""


class HuntedCause(Record, frozen=True):
    """Findings without whose repairs, but with all others, the property breaks. depth: of that violation."""

    findings: tuple[str, ...]
    depth: int


class HuntedViolation(Record, frozen=True):
    """One property that a configuration breaks. name: its id.

    repaired: the depth with all repairs; None if it holds then. step: the last action of that trace. design: design
    that breaks the property as well -> depth.
    """

    name: str
    depth: int
    causes: tuple[HuntedCause, ...] = ()
    repaired: int | None = None
    step: str = ""
    design: Mapping[str, int] = {}

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return the causes, with `+` between findings that break it only together, and the design that breaks it."""
        reasons = [" + ".join(cause.findings) for cause in self.causes]
        if self.repaired is not None:
            least = self.repaired
            designs = [name for name in DESIGNS if self.design.get(name, least + 1) <= least]
            by_step = STEPS.get((self.name, self.step), STEPS.get(("", self.step)))
            reasons += designs[:1] if by_step is None else [by_step]
        return tuple(reasons)

    @property
    def explained(self) -> bool:
        """Return whether it has a cause and, if it breaks with all repairs as well, a reason for that."""
        causes = len(self.causes)
        return len(self.reasons) > (causes if self.repaired is not None else 0)


class HuntedCase(Record, frozen=True):
    """One configuration. complete: whether all its searches were; states: of the search without repairs.

    introduced: properties that break only with all repairs. left_out: findings whose repairs were left out. model:
    digest of the model's source at that time.
    """

    name: str
    variant: str
    settings: tuple[str, ...]
    complete: bool
    states: int
    violations: tuple[HuntedViolation, ...] = ()
    introduced: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    model: str = ""

    @property
    def command(self) -> str:
        return check_command(self.variant, self.settings)


class Hunt(Record, frozen=True):
    """The whole file. day: of its last search."""

    day: str
    cases: tuple[HuntedCase, ...]
    schema: str = SCHEMA


@dataclass(frozen=True)
class HuntResult:
    """The result of a search. broken: property -> depth."""

    broken: Mapping[str, int]
    complete: bool
    states: int

    def sooner(self, name: str, other: HuntResult) -> bool:
        """Return whether it breaks the property, and the other search does not, or only after more steps."""
        if name not in self.broken:
            return False
        return name not in other.broken or self.broken[name] < other.broken[name]


Search: TypeAlias = Callable[[Selection], HuntResult]
LastSteps: TypeAlias = Callable[[Selection], Mapping[str, str]]


def packaged_hunt() -> Hunt:
    return from_text((files("elrcheck.laboratory.evidence") / NAME).read_bytes(), Hunt)


def hunted_cases() -> tuple[SuiteCase, ...]:
    """Return the configurations of the hunt; ELR is switched only in releases in which users can."""
    folder = files("elrcheck.laboratory.evidence")
    every = [case for file in FAMILIES for case in read_family(folder / file).cases]
    return tuple(case for case in every if case.selected.config.elr_enabled or not case.selected.config.feature_changes)


def check_command(variant: str, settings: Sequence[str]) -> str:
    sets = (f"--set {one}" for one in settings)
    return " ".join(["elrcheck check --scope two-brokers-quiet", f"--variant {variant}", *sets])


@functools.cache
def repairs() -> tuple[Repair, ...]:
    """Return the repairs that the hunt leaves out, with the values that the findings' controls set."""
    table = read_toml(files("elrcheck.laboratory.evidence") / "repairs.toml")
    return tuple(_repair(finding, node.object((), ("needs", "knobs"))) for finding, node in table.fields())


def _repair(ident: str, node: Node) -> Repair:
    controls = [run.control.knobs for run in find_finding(ident).runs if run.control is not None]
    names = node["knobs"].texts() if "knobs" in node else tuple(controls[0])
    values = {name: next(knobs[name] for knobs in controls if name in knobs) for name in names}
    return Repair(ident, values, node.get("needs", []).texts())


def repairs_of(variant: str) -> tuple[Repair, ...]:
    """Return the repairs that change a rule of the variant."""
    config = resolve(Selection(variant, "two-brokers-quiet")).config
    return tuple(
        repair for repair in repairs() if any(getattr(config, knob) != value for knob, value in repair.knobs.items())
    )


def matters(repair: Repair, case: SuiteCase) -> bool:
    """Return whether the rule can make a difference in the configuration."""
    config = case.selected.config
    return not repair.needs or any(getattr(config, budget) > 0 for budget in repair.needs)


def is_whole(hunted: HuntedCase, case: SuiteCase) -> bool:
    """Return whether every repair that matters was left out, so that no cause is missing."""
    matter = {repair.finding for repair in repairs_of(hunted.variant) if matters(repair, case)}
    return not hunted.violations or set(hunted.left_out) == matter


def repaired(case: Selection, left_out: Sequence[Repair] = ()) -> Selection:
    """Return the configuration with every repair but these."""
    there = [repair for repair in repairs_of(case.variant) if repair not in left_out]
    return _with_knobs(case, {knob: value for repair in there for knob, value in repair.knobs.items()})


def designed(case: Selection, name: str) -> Selection:
    variant, more = DESIGNS[name]
    return _with_knobs(Selection(variant, case.scope, case.overrides), more)


def _with_knobs(case: Selection, more: Mapping[str, Any]) -> Selection:
    sets = (f"{knob}={setting_text(value)}" for knob, value in more.items())
    return Selection(case.variant, case.scope, (*case.overrides, *sets))


def attributed(
    case: SuiteCase, search: Search, last_steps: LastSteps, findings: Sequence[str] | None = None
) -> HuntedCase:
    """Search a configuration, and return it with the causes of the violations.

    last_steps: returns the last action of the shortest trace to each violation. findings: whose repairs are left
    out; None for every one that matters.
    """
    selection = case.selection
    own = search(selection)
    name = case.name.partition("/")[2]
    if not own.broken:
        return HuntedCase(name, selection.variant, selection.overrides, own.complete, own.states)
    rest = search(repaired(selection))
    repairs = [repair for repair in repairs_of(selection.variant) if matters(repair, case)]
    if findings is not None:
        repairs = [repair for repair in repairs if repair.finding in findings]
    without: dict[tuple[Repair, ...], HuntResult] = {(each,): search(repaired(selection, (each,))) for each in repairs}
    if any(not _causes(one, rest, without) and one not in rest.broken for one in own.broken):
        without |= {(a, b): search(repaired(selection, (a, b))) for a, b in combinations(repairs, 2)}
    designs = {each: search(designed(selection, each)) for each in DESIGNS} if rest.broken else {}
    steps = last_steps(repaired(selection)) if rest.broken else {}
    searches = (own, rest, *without.values(), *designs.values())

    def violation(one: str) -> HuntedViolation:
        causes = tuple(_causes(one, rest, without))
        left = rest.broken.get(one)
        by_design = {each: result.broken[one] for each, result in designs.items() if one in result.broken}
        if left is None:
            return HuntedViolation(one, own.broken[one], causes)
        return HuntedViolation(one, own.broken[one], causes, left, steps[one], by_design)

    return HuntedCase(
        name,
        selection.variant,
        selection.overrides,
        all(result.complete for result in searches),
        own.states,
        tuple(map(violation, own.broken)),
        tuple(one for one in rest.broken if one not in own.broken),
        tuple(repair.finding for repair in repairs),
    )


def _causes(name: str, rest: HuntResult, without: Mapping[tuple[Repair, ...], HuntResult]) -> list[HuntedCause]:
    """Return the single repairs without which the property breaks, or breaks sooner; if there are none, the pairs."""
    missed = {left_out: seen for left_out, seen in without.items() if seen.sooner(name, rest)}
    fewest = min(map(len, missed), default=0)
    return [
        HuntedCause(tuple(repair.finding for repair in left_out), seen.broken[name])
        for left_out, seen in missed.items()
        if len(left_out) == fewest
    ]
