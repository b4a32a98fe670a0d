"""`elrcheck show E-1`: replays a scenario through the plain model and compares the results with its expectations.

No engine is involved: each action is the model's own function, and each property is evaluated in plain Python
in every state and step. The budgets are those that the run used, so `check` with the same configuration
includes it. On request the runs are stored as traces.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from msgspec import structs

from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.base.requests import DEFAULT_SCOPE, Selection
from elrcheck.base.run_lock import in_another_folder
from elrcheck.base.typed.configuration import build_config, config_values
from elrcheck.catalogue.configured import find_variant, reject_impossible
from elrcheck.catalogue.scenario_file import Claim, Run, Scenario, StoryStep, read_scenario, scenario_files
from elrcheck.declared.select import resolve
from elrcheck.invariants.modules import load_checked_model
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import NotEnabled
from elrcheck.lang.types import Ty
from elrcheck.model.budgets import Spent
from elrcheck.model.config import Config
from elrcheck.model.knobs import plain
from elrcheck.model.state import Acks, Entry, Partition, State
from elrcheck.results.scenario_report import Mismatch, RunReport, ScenarioReport, ScenarioVerdict, StoryReport
from elrcheck.results.trace_reports import Hit
from elrcheck.stored_traces.tracefile import write_trace
from elrcheck.stored_traces.written_values import (
    Notation,
    Unreadable,
    format_place,
    get,
    place,
    put_at,
    read_call,
    read_value,
)
from elrcheck.traces.behaviour import Behaviour, TraceOrigin
from elrcheck.traces.describe import text
from elrcheck.traces.violation import explain


def read_log(text: str) -> tuple[Entry, ...]:
    """Parse records in order of offset, "r1@1 r2@2(1)": id @ leader epoch, (1) for acks=1."""
    entries = []
    for word in text.split():
        match = re.fullmatch(r"r([1-9]\d*)@([1-9]\d*)(?:\((all|1)\))?", word)
        if match is None:
            raise Unreadable(f"`{word}` is not a record", "write r2@1 or r2@1(1): id, leader epoch, acks")
        acks = Acks.ONE if match[3] == "1" else Acks.ALL
        entries.append(Entry(id=int(match[1]), epoch=int(match[2]), acks=acks))
    return tuple(entries)


LOGS = {Entry.__name__: Notation(read_log, "a log, as in r1@1 r2@1(1)")}
"""The notations of the partition's state, for `read_value`."""


_ROOM = 90  # of each budget; no story uses as many
_LOG_ROOM = 6
# Budgets that make states larger: brokers then store min ISR, and the state the promises made under it.
_STORED: dict[str, tuple[str, ...]] = {
    "min_isr_changes": ("ChangeMinIsr(", "ChangeBrokerMinIsr(", "DeleteMinIsr("),
    "reassignments": ("Reassign(", "CancelReassignment("),
    "feature_changes": ("ChangeFeature(",),
}


@dataclass
class ReplayedRun:
    """A replayed run. story[i]: index of the story step that led to states[i + 1]."""

    config: Config
    states: list[State]
    labels: list[Label] = field(default_factory=list)
    story: list[int] = field(default_factory=list)
    reports: list[StoryReport] = field(default_factory=list)
    mismatches: list[Mismatch] = field(default_factory=list)
    refused: str | None = None


def replay(scenario: Scenario, model: Model) -> tuple[ScenarioReport, dict[str, ReplayedRun]]:
    """Replay every run of a scenario; return the report, and each replayed run by its label."""
    runs: list[RunReport] = []
    played: dict[str, ReplayedRun] = {}
    for run in scenario.runs:
        for name in run.variants:
            label = run_label(name, run)
            if label in {report.label for report in runs}:
                raise _fault(f"two runs have the label `{label}`", run.where, "give one of them a `name`")
            knobs = {key: plain(value) for key, value in run.knobs.items()}
            pending = run.pending or scenario.pending
            if pending:
                expected = _expected(run, model)
                runs.append(RunReport(label, name, knobs, "pending", expected, "not run", pending=pending))
                continue
            replayed = _play(scenario, run, name, model)
            played[label] = replayed
            runs.append(_judge(scenario, run, label, name, knobs, model, replayed))
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


def _play(scenario: Scenario, run: Run, variant: str, model: Model) -> ReplayedRun:
    room = {part.name: _ROOM for part in dataclasses.fields(Spent)}
    room |= dict.fromkeys(_STORED.keys() - _stored_budgets(scenario, run), 0)
    if "log_slots" not in {**scenario.config, **run.knobs}:
        room["log_slots"] = _LOG_ROOM
    config = build_config(Config, find_variant(variant).knobs, room, scenario.config, run.knobs)
    stage = PlainModel(model, config)
    first = stage.initial()
    for claim in scenario.start:
        _, keys, value = _claimed(model, claim, config)
        first = put_at(first, keys, value)
    replayed = ReplayedRun(config, [first])
    steps = (*scenario.steps, *run.steps)
    story = [step for step in steps if not step.variants or variant in step.variants]
    calls = [[_call(call, step, model, config) for call in step.actions] for step in story]
    total = sum(len(inner) for inner in calls)
    index = 0
    for step, labels in zip(story, calls, strict=True):
        index += 1 if labels or step.note else 0
        for label, call in zip(labels, step.actions, strict=True):
            try:
                after = stage.step(replayed.states[-1], label)
            except NotEnabled as refusal:
                replayed.refused = refusal.guard
                if run.verdict != "refused" or len(replayed.labels) != total - 1:
                    replayed.mismatches.append(Mismatch(index, call, "possible", f"refused: {refusal.guard}"))
                break
            replayed.states.append(after)
            replayed.labels.append(label)
            replayed.story.append(index)
        result = summary(replayed.states[-1]) if replayed.refused is None else f"refused: {replayed.refused}"
        if labels or step.note:
            replayed.reports.append(StoryReport(index, step.note, step.actions, result))
        if replayed.refused is not None:
            break
        _compare(model, config, step.expect, index, replayed)
    if replayed.refused is None:
        _compare(model, config, run.expect, index, replayed)
    replayed.config = _bounded(config, replayed, scenario, run)
    reject_impossible(replayed.config)
    return replayed


def _stored_budgets(scenario: Scenario, run: Run) -> set[str]:
    """Return the budgets that the run uses and that affect what a state holds."""
    calls = [call for step in (*scenario.steps, *run.steps) for call in step.actions]
    return {budget for budget, actions in _STORED.items() if any(c.startswith(actions) for c in calls)}


def _bounded(config: Config, replayed: ReplayedRun, scenario: Scenario, run: Run) -> Config:
    """Return the configuration with its budgets and log length reduced to what the run used."""
    spent = replayed.states[-1].spent
    used: dict[str, Any] = {part.name: getattr(spent, part.name) for part in dataclasses.fields(Spent)}
    if "log_slots" not in {**scenario.config, **run.knobs}:
        used["log_slots"] = max(1, *(len(b.log) for s in replayed.states for b in s.broker))
    for budget in _stored_budgets(scenario, run):
        used[budget] = max(1, used[budget])
    return replace(config, **used)


@contextmanager
def _read_at(where: str, subject: str = "") -> Iterator[None]:
    """Report unreadable text inside the block as a UsageFault at this place."""
    try:
        yield
    except Unreadable as fault:
        raise _fault(f"{subject}{fault}", where, fault.help) from fault


def _call(call: str, step: StoryStep, model: Model, config: Config) -> Label:
    with _read_at(step.where):
        return read_call(call, model.actions_by_name, config)


def _claimed(model: Model, claim: Claim, config: Config) -> tuple[Ty, tuple[str | int, ...], Any]:
    """Return the type and the place in the state of a claim, and the claimed value."""
    with _read_at(claim.where):
        ty, keys = place(model.state_ty, claim.path, config)
    with _read_at(claim.where, f"`{claim.path}`: "):
        return ty, keys, read_value(ty, claim.value, config, LOGS)


def _compare(model: Model, config: Config, claims: Sequence[Claim], index: int, replayed: ReplayedRun) -> None:
    for claim in claims:
        ty, keys, expected = _claimed(model, claim, config)
        actual = get(replayed.states[-1], keys)
        if expected != actual:
            replayed.mismatches.append(Mismatch(index, format_place(keys), text(expected, ty), text(actual, ty)))


# ------------------------------------------------------------------------------------ judging


def _judge(
    scenario: Scenario,
    run: Run,
    label: str,
    variant: str,
    knobs: Mapping[str, Any],
    model: Model,
    replayed: ReplayedRun,
) -> RunReport:
    idents = [fn.ident for fn in model.checks]
    for ident in (*run.breaks, *run.also_breaks, *run.disputed, *run.reaches):
        if ident not in idents:
            raise _fault(f"unknown property `{ident}`", run.where, did_you_mean(ident, idents))
    hits = first_hits(model, replayed)
    broken = tuple(_broken(model, replayed, fn, hits[fn.ident]) for fn in model.always if fn.ident in hits)
    violations = {one.id: one for one in broken}
    wrong = list(replayed.mismatches)
    for ident in (*run.breaks, *run.also_breaks):
        if ident not in violations:
            wrong.append(Mismatch(None, ident, "violated", "holds"))
    for ident, one in violations.items():
        if ident not in (*run.breaks, *run.also_breaks):
            wrong.append(Mismatch(one.step, ident, "holds", _violated(one)))
    for ident in run.reaches:
        if ident not in hits:
            wrong.append(Mismatch(None, ident, "reached", "not reached"))
    if run.verdict == "refused" and replayed.refused != run.refused and not replayed.mismatches:
        actual = "possible" if replayed.refused is None else f"refused: {replayed.refused}"
        wrong.append(Mismatch(len(replayed.reports), "last action", f"refused: {run.refused}", actual))
    return RunReport(
        label=label,
        variant=variant,
        knobs=knobs,
        verdict="unexpected" if wrong else "as_expected",
        expected=_expected(run, model),
        actual=_actual(violations, replayed),
        broken=broken,
        reached=tuple(ident for ident in run.reaches if ident in hits),
        disputed=run.disputed,
        mismatches=tuple(wrong),
        config=config_values(replayed.config),
        steps=tuple(replayed.reports),
    )


def first_hits(model: Model, replayed: ReplayedRun) -> dict[str, int]:
    """Return the index of the first state that violates or reaches each property; a step counts at its end."""
    stage = PlainModel(model, replayed.config)
    hits: dict[str, int] = {}
    for fn in model.checks:
        hit_if = fn.kind == "sometimes"
        for index in range(1 if fn.is_step else 0, len(replayed.states)):
            if stage.holds(fn, *_seen(fn, replayed, index)) == hit_if:
                hits[fn.ident] = index
                break
    return hits


def _seen(fn: Fn, replayed: ReplayedRun, index: int) -> tuple[State, ...]:
    return (replayed.states[index - 1], replayed.states[index]) if fn.is_step else (replayed.states[index],)


def _broken(model: Model, replayed: ReplayedRun, fn: Fn, index: int) -> Hit:
    before = replayed.states[index - 1] if index else None
    why = explain(model, replayed.config, fn, _seen(fn, replayed, index), before)
    step = replayed.story[index - 1] if index else 0
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


def _actual(violations: Mapping[str, Hit], replayed: ReplayedRun) -> str:
    parts = []
    if violations:
        parts.append("breaks " + ", ".join(violations))
    if replayed.refused is not None:
        parts.append(f"refused: {replayed.refused}")
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


def run_scenario(file: str, run_dir: Path | None = None) -> ScenarioReport:
    """Replay the scenario in a TOML file, or a packaged one by its file name.

    run_dir: where to store a trace of each run that starts in the initial state, and of each violation.
    """
    packaged = {f.name: f for f in scenario_files()}
    scenario = read_scenario(packaged.get(file, Path(file)))
    model = load_checked_model()
    report, played = replay(scenario, model)
    if run_dir is None:
        return report
    stored = () if scenario.start else played
    runs = []
    for run in report.runs:
        traces = _store(run_dir, model, report.id, run, played[run.label]) if run.label in stored else run.traces
        runs.append(structs.replace(run, traces=traces))
    return structs.replace(report, runs=tuple(runs), run_dir=str(run_dir))


def _store(folder: Path, model: Model, ident: str, run: RunReport, replayed: ReplayedRun) -> tuple[str, ...]:
    """Store the whole run as one trace, and for each violated property the run up to the violation."""
    usual = config_values(resolve(Selection(run.variant, DEFAULT_SCOPE)).config)
    overrides = {key: value for key, value in config_values(replayed.config).items() if value != usual[key]}
    origin = TraceOrigin(run.variant, DEFAULT_SCOPE, overrides)
    whole = Behaviour(origin, tuple(replayed.states), tuple(replayed.labels))
    stem = re.sub(r"[^\w.-]+", "-", f"{ident}-{run.label}")
    hits = first_hits(model, replayed)
    parts = {f"{stem}.trace.json": ("", len(whole.labels))}
    parts |= {f"{stem}-{one.id}.trace.json": (one.id, hits[one.id]) for one in run.broken}
    for name, (prop, end) in parts.items():
        part = replace(whole.prefix(end), origin=replace(origin, property=prop))
        with in_another_folder():
            write_trace(folder / name, part, model.state_ty)
    return tuple(parts)
