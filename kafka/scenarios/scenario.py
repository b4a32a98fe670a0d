"""Replays scenarios through the plain model and compares the results with their expectations.

No engine is involved: each action is the model's own function, and each property is evaluated in plain Python
in every state and step. The budgets are those that the run used, so `check` with the same configuration
includes it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.base.typed.configuration import build_config, config_values
from elrcheck.catalogue.configured import find_variant, reject_impossible
from elrcheck.catalogue.scenario_file import Claim, Run, Scenario, StoryStep
from elrcheck.kafka.scenarios.log_notation import LOGS
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import NotEnabled
from elrcheck.lang.types import Ty
from elrcheck.model.budgets import Spent
from elrcheck.model.config import Config
from elrcheck.model.knobs import plain
from elrcheck.model.state import Partition, State
from elrcheck.results.scenario_report import Mismatch, RunReport, ScenarioReport, ScenarioVerdict, StoryReport
from elrcheck.results.trace_reports import Hit
from elrcheck.stored_traces.written_values import Unreadable, format_place, get, place, put_at, read_call, read_value
from elrcheck.traces.describe import text
from elrcheck.traces.violation import explain

_ROOM = 90  # more of each budget than any story uses
_LOG_ROOM = 6
# Only where these may change do brokers remember min ISR, and states hold what was promised under it.
_STORED: dict[str, tuple[str, ...]] = {
    "min_isr_changes": ("ChangeMinIsr(", "ChangeBrokerMinIsr(", "DeleteMinIsr("),
    "reassignments": ("Reassign(", "CancelReassignment("),
    "feature_changes": ("ChangeFeature(",),
}


@dataclass
class Played:
    """A replayed run. story[i]: index of the story step that led to states[i + 1]."""

    config: Config
    states: list[State]
    labels: list[Label] = field(default_factory=list)
    story: list[int] = field(default_factory=list)
    reports: list[StoryReport] = field(default_factory=list)
    mismatches: list[Mismatch] = field(default_factory=list)
    refused: str | None = None


def replay(scenario: Scenario, model: Model) -> tuple[ScenarioReport, dict[str, Played]]:
    """Replay every run of a scenario; return the report, and each replayed run by its label."""
    runs: list[RunReport] = []
    played: dict[str, Played] = {}
    for run in scenario.runs:
        for name in run.variants:
            label = run_label(name, run)
            if label in {report.label for report in runs}:
                raise _fault(f"two runs have the label `{label}`", run.where, "give one of them a `name`")
            knobs = {key: plain(value) for key, value in run.knobs.items()}
            lacking = run.pending or scenario.pending
            if lacking:
                expected = _expected(run, model)
                runs.append(RunReport(label, name, knobs, "pending", expected, "not run", pending=lacking))
                continue
            went = _play(scenario, run, name, model)
            played[label] = went
            runs.append(_judge(scenario, run, label, name, knobs, model, went))
    verdicts = {run.verdict for run in runs}
    rest: ScenarioVerdict = "pending" if "pending" in verdicts else "as_expected"
    report = ScenarioReport(
        verdict="unexpected" if "unexpected" in verdicts else rest,
        id=scenario.id,
        title=scenario.title,
        source=scenario.source,
        about=" ".join(scenario.about.split()),
        runs=tuple(runs),
        pending=scenario.pending or None,
    )
    return report, played


def run_label(variant: str, run: Run) -> str:
    """Return the label of a run: the variant and the run's name, or else the settings it overrides."""
    knobs = " ".join(f"{key}={plain(value)}" for key, value in run.knobs.items())
    return f"{variant}: {run.name}" if run.name else f"{variant} {knobs}".strip()


def _fault(why: str, where: str, help: str | None = None) -> UsageFault:
    return UsageFault("scenario-file", why, where=where, help=help)


# ------------------------------------------------------------------------------------ playing


def _play(scenario: Scenario, run: Run, variant: str, model: Model) -> Played:
    room = {part.name: _ROOM for part in dataclasses.fields(Spent)}
    room |= dict.fromkeys(_STORED.keys() - _turned(scenario, run), 0)
    if "log_slots" not in {**scenario.config, **run.knobs}:
        room["log_slots"] = _LOG_ROOM
    config = build_config(Config, find_variant(variant).knobs, room, scenario.config, run.knobs)
    stage = PlainModel(model, config)
    first = stage.initial()
    for claim in scenario.start:
        ty, keys = _place(model, claim, config)
        first = put_at(first, keys, _value(ty, claim, config))
    went = Played(config, [first])
    steps = (*scenario.steps, *run.steps)
    story = [step for step in steps if not step.variants or variant in step.variants]
    calls = [[_call(call, step, model, config) for call in step.actions] for step in story]
    total = sum(len(inner) for inner in calls)
    index = 0
    for step, labels in zip(story, calls, strict=True):
        index += 1 if labels or step.note else 0
        for label, call in zip(labels, step.actions, strict=True):
            try:
                after = stage.step(went.states[-1], label)
            except NotEnabled as refusal:
                went.refused = refusal.guard
                if run.verdict != "refused" or len(went.labels) != total - 1:
                    went.mismatches.append(Mismatch(index, call, "possible", f"refused: {refusal.guard}"))
                break
            went.states.append(after)
            went.labels.append(label)
            went.story.append(index)
        result = summary(went.states[-1]) if went.refused is None else f"refused: {went.refused}"
        if labels or step.note:
            went.reports.append(StoryReport(index, step.note, step.actions, result))
        if went.refused is not None:
            break
        _compare(model, config, step.expect, index, went)
    if went.refused is None:
        _compare(model, config, run.expect, index, went)
    went.config = _bounded(config, went, scenario, run)
    reject_impossible(went.config)
    return went


def _turned(scenario: Scenario, run: Run) -> set[str]:
    """Return the budgets that the run uses and that affect what a state holds."""
    calls = [call for step in (*scenario.steps, *run.steps) for call in step.actions]
    return {budget for budget, actions in _STORED.items() if any(c.startswith(actions) for c in calls)}


def _bounded(config: Config, went: Played, scenario: Scenario, run: Run) -> Config:
    """Return the configuration with its budgets and log length reduced to what the run used."""
    spent = went.states[-1].spent
    used: dict[str, Any] = {part.name: getattr(spent, part.name) for part in dataclasses.fields(Spent)}
    if "log_slots" not in {**scenario.config, **run.knobs}:
        used["log_slots"] = max(1, *(len(b.log) for s in went.states for b in s.broker))
    for budget in _turned(scenario, run):
        used[budget] = max(1, used[budget])
    return replace(config, **used)


def _call(call: str, step: StoryStep, model: Model, config: Config) -> Label:
    try:
        return read_call(call, model.actions_by_name, config)
    except Unreadable as fault:
        raise _fault(str(fault), step.where, fault.help) from fault


def _place(model: Model, claim: Claim, config: Config) -> tuple[Ty, tuple[str | int, ...]]:
    try:
        return place(model.state_ty, claim.path, config)
    except Unreadable as fault:
        raise _fault(str(fault), claim.where, fault.help) from fault


def _value(ty: Ty, claim: Claim, config: Config) -> Any:
    try:
        return read_value(ty, claim.value, config, LOGS)
    except Unreadable as fault:
        raise _fault(f"`{claim.path}`: {fault}", claim.where, fault.help) from fault


def _compare(model: Model, config: Config, claims: Sequence[Claim], index: int, went: Played) -> None:
    for claim in claims:
        ty, keys = _place(model, claim, config)
        expected, actual = _value(ty, claim, config), get(went.states[-1], keys)
        if expected != actual:
            went.mismatches.append(Mismatch(index, format_place(keys), text(expected, ty), text(actual, ty)))


# ------------------------------------------------------------------------------------ judging


def _judge(
    scenario: Scenario, run: Run, label: str, variant: str, knobs: Mapping[str, Any], model: Model, went: Played
) -> RunReport:
    idents = [fn.ident for fn in model.checks]
    for ident in (*run.breaks, *run.also_breaks, *run.disputed, *run.reaches):
        if ident not in idents:
            raise _fault(f"unknown property `{ident}`", run.where, did_you_mean(ident, idents))
    hits = first_hits(model, went)
    broken = tuple(_broken(model, went, fn, hits[fn.ident]) for fn in model.always if fn.ident in hits)
    violations = {one.id: one for one in broken}
    wrong = list(went.mismatches)
    for ident in (*run.breaks, *run.also_breaks):
        if ident not in violations:
            wrong.append(Mismatch(None, ident, "violated", "holds"))
    for ident, one in violations.items():
        if ident not in (*run.breaks, *run.also_breaks):
            wrong.append(Mismatch(one.step, ident, "holds", _violated(one)))
    for ident in run.reaches:
        if ident not in hits:
            wrong.append(Mismatch(None, ident, "reached", "not reached"))
    if run.verdict == "refused" and went.refused != run.refused and not went.mismatches:
        actual = "possible" if went.refused is None else f"refused: {went.refused}"
        wrong.append(Mismatch(len(went.reports), "last action", f"refused: {run.refused}", actual))
    return RunReport(
        label=label,
        variant=variant,
        knobs=knobs,
        verdict="unexpected" if wrong else "as_expected",
        expected=_expected(run, model),
        actual=_actual(violations, went),
        broken=broken,
        reached=tuple(ident for ident in run.reaches if ident in hits),
        disputed=run.disputed,
        mismatches=tuple(wrong),
        config=config_values(went.config),
        steps=tuple(went.reports),
    )


def first_hits(model: Model, went: Played) -> dict[str, int]:
    """Return the index of the first state that violates or reaches each property; a step counts at its end."""
    stage = PlainModel(model, went.config)
    hits: dict[str, int] = {}
    for fn in model.checks:
        hit_if = fn.kind == "sometimes"
        for index in range(1 if fn.is_step else 0, len(went.states)):
            if stage.holds(fn, *_seen(fn, went, index)) == hit_if:
                hits[fn.ident] = index
                break
    return hits


def _seen(fn: Fn, went: Played, index: int) -> tuple[State, ...]:
    return (went.states[index - 1], went.states[index]) if fn.is_step else (went.states[index],)


def _broken(model: Model, went: Played, fn: Fn, index: int) -> Hit:
    before = went.states[index - 1] if index else None
    why = explain(model, went.config, fn, _seen(fn, went, index), before)
    step = went.story[index - 1] if index else 0
    return Hit(fn.ident, fn.name, step, why.conjunct, why.witness)


def _violated(one: Hit) -> str:
    return " ".join(part for part in ("violated:", one.conjunct, one.witness) if part)


def _expected(run: Run, model: Model) -> str:
    match run.verdict:
        case "safe":
            return "safe"
        case "refused":
            return f"refused: {run.refused}"
    named = (*run.breaks, *run.also_breaks)
    return "breaks " + ", ".join(fn.ident for fn in model.always if fn.ident in named)


def _actual(violations: Mapping[str, Hit], went: Played) -> str:
    parts = []
    if violations:
        parts.append("breaks " + ", ".join(violations))
    if went.refused is not None:
        parts.append(f"refused: {went.refused}")
    return "; ".join(parts) or "safe"


def summary(state: State) -> str:
    """Return a one-line summary of the partition and of how much is committed."""
    p: Partition = state.partition
    shapes = [f"leader {text(p.leader)}", f"ISR {text(p.isr)}"]
    shapes += [f"ELR {text(p.elr)}"] if p.elr else []
    shapes += [f"LKELR {text(p.last_known_elr)}"] if p.last_known_elr else []
    shapes += [f"last leader {p.last_known_leader}"] if p.last_known_leader is not None else []
    if p.adding or p.removing:
        shapes.append(f"replicas {text(p.replicas)} +{text(p.adding)} -{text(p.removing)}")
    shapes += [p.recovery.name] if p.recovery.value else []
    epochs = f"epochs {p.leader_epoch}/{p.partition_epoch}"
    return ", ".join([*shapes, epochs, f"committed {len(state.committed)}"])
