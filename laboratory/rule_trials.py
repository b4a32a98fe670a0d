"""Judges a change of a rule: by Kafka's recorded answers, random walks, scenarios, and the proof of controller events.

Properties forbid little in comparison with what Kafka's classes exactly do. So the changed rules, in plain Python,
handle the cases that the releases handled. A first run, without any change, notes which functions each case calls;
only cases that call the changed function are run again.

Random walks are of the configurations that are too large to search. If the changed program has the same leaves, its
steps are compared in every state that the walks of the unchanged program visited, without walking again.

A scenario, a step sequence from a KIP or an issue, can be longer than a search is deep, because it takes a single path.
It is replayed in plain Python with the changed function in place.

Of the proof that every controller event preserves the controller's rules, only events for which the change alters a Z3
term need the solver.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

import numpy as np

from elrcheck.base.errors import UsageFault
from elrcheck.base.kafka_requests import ConformRequest
from elrcheck.base.requests import Selection
from elrcheck.catalogue.scenario_file import Scenario, packaged_scenarios
from elrcheck.checking.suite.suite_file import SuiteCase, Walk
from elrcheck.checking.suite.walked_case import counts_of_walks, walks_of
from elrcheck.declared.select import resolve
from elrcheck.explorer.search.changed_search import differs_in
from elrcheck.explorer.search.recorded_walk import WalkDigest
from elrcheck.invariants.controller_events import EventKind
from elrcheck.invariants.modules import load_controller_model, rules_of
from elrcheck.kafka.conformance.answer_files import PACKAGED, AnsweredCase, AnsweredRelease, releases_of
from elrcheck.kafka.conformance.broker_part import BrokerDisagreement
from elrcheck.kafka.conformance.kafka_part import Agreement, Disagreement
from elrcheck.kafka.conformance.known_classes import StepDisagreement
from elrcheck.kafka.controller_proof import StepProver, replayed
from elrcheck.kafka.mutation.rule_proof import partition_mutants
from elrcheck.kafka.scenario import replay
from elrcheck.lang.changed.altered import planted
from elrcheck.lang.changed.variations import Variation
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.lowered import Lowered
from elrcheck.lang.lowering.relower import relower
from elrcheck.model.config import Config
from elrcheck.mutation.rule_answer import RULE_FAULTS, ChangeVerdict
from elrcheck.mutation.rule_mutants import ChangedModel
from elrcheck.proof.z3_algebra import formula
from elrcheck.results.scenario_report import ScenarioReport

MOST = 3000
"""Cases that judge one function, evenly spaced among those that call it."""


@functools.cache
def packaged_releases() -> tuple[AnsweredRelease, ...]:
    """Read the packaged files once."""
    return tuple(releases_of(ConformRequest(answers=(PACKAGED,))))


@dataclass(frozen=True)
class _JudgedCase:
    """A case, its release, and its differences without a change, which are explained."""

    release: AnsweredRelease
    case: AnsweredCase
    differences: tuple[str, ...]


class AnswerBench:
    """The recorded answers by the functions of the model that their cases call.

    functions: name -> plain function. releases: None for the packaged answers.
    """

    def __init__(
        self, functions: Mapping[str, Callable[..., Any]], releases: Sequence[AnsweredRelease] | None = None
    ) -> None:
        names = {function.__code__: name for name, function in functions.items()}
        calling: dict[str, list[_JudgedCase]] = {name: [] for name in functions}
        for release in packaged_releases() if releases is None else releases:
            for case in release.cases():
                with _calls(names) as called:
                    differences = _differences(case, release.config)
                for name in called:
                    calling[name].append(_JudgedCase(release, case, differences))
        self.calling = {name: cases[:: max(1, -(-len(cases) // MOST))] for name, cases in calling.items()}

    def cases_of(self, function: str) -> int:
        """Return the number of cases that call a function."""
        return len(self.calling.get(function, ()))

    def judge(self, changed: ChangedModel) -> ChangeVerdict | None:
        """Return the first case whose differences from Kafka change; None if the change alters no answer."""
        with planted(changed.original, changed.plain):
            for one in self.calling.get(changed.variation.function, ()):
                by = f"Kafka {one.release.answers.kafka}"
                try:
                    differences = _differences(one.case, one.release.config)
                except RULE_FAULTS as fault:
                    event = f"a step is undefined: {type(fault).__name__}"
                    return ChangeVerdict("found", by, configuration=f"conform, {event}")
                if differences != one.differences:
                    new = [text for text in differences if text not in one.differences]
                    event = new[0] if new else "a known difference is gone"
                    return ChangeVerdict("found", by, configuration=f"conform, {event}")
        return None


def _differences(case: AnsweredCase, config: Config) -> tuple[str, ...]:
    """Return the differences in a case as texts, each with its event and its fields."""
    return tuple(_text(outcome) for outcome in case.outcomes(config) if not isinstance(outcome, Agreement))


def _text(disagreement: Disagreement) -> str:
    if isinstance(disagreement, BrokerDisagreement):
        event, fields = disagreement.events[-1], ", ".join(disagreement.differs)
        return f"{type(event).__name__} {len(disagreement.events)}: {fields}"
    if isinstance(disagreement, StepDisagreement):
        fields = ", ".join(field.name for field in disagreement.differences)
        return f"{type(disagreement.step).__name__} {len(disagreement.steps)}: {fields}"
    return disagreement.signature


@contextlib.contextmanager
def _calls(names: Mapping[CodeType, str]) -> Iterator[set[str]]:
    """Collect the names of those of the functions that are called inside this context."""
    called: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code in names:
            called.add(names[frame.f_code])

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield called
    finally:
        sys.setprofile(before)


# ---------------------------------------------------------------------------- random walks

CHUNK = 4096


@dataclass(frozen=True)
class WalkBase:
    """A configuration without the change, and the states that its walks visited."""

    case: SuiteCase
    walk: Walk
    lowered: Lowered
    met: WalkDigest


class WalkBench:
    """The walked configurations, each walked when it is first needed."""

    def __init__(self, model: Model, cases: Mapping[str, SuiteCase]) -> None:
        self.model, self.cases = model, cases
        self.bases: dict[str, WalkBase] = {}

    def base(self, name: str) -> WalkBase:
        """Return a configuration with its walks."""
        if name not in self.bases:
            case = self.cases[name]
            assert case.walk is not None
            lowered = lower(self.model, case.selected.config, ())
            self.bases[name] = WalkBase(case, case.walk, lowered, walks_of(lowered.program, case.walk))
        return self.bases[name]

    def judge(self, name: str, changed: ChangedModel) -> ChangeVerdict | None:
        """Return how a change shows in the walks of a configuration; None if their steps are the same."""
        base = self.base(name)
        change = relower(base.lowered, changed.model, changed.affected)
        if change is None:
            with planted(changed.original, changed.plain):
                program = lower(changed.model, base.case.selected.config, ()).program
            before, after = counts_of_walks(base.met), counts_of_walks(walks_of(program, base.walk))
            if before == after:
                return None
            return ChangeVerdict("counted", reason=f"{after}; without the change: {before}")
        if change.same:
            return None
        for start in range(0, base.met.distinct, CHUNK):
            part = [column[start : start + CHUNK].astype(np.int64) for column in base.met.columns]
            if differs_in(base.lowered.program, change, part, min(CHUNK, base.met.distinct - start)):
                return ChangeVerdict("counted", reason=f"another step in one of the first {start + CHUNK:,} states")
        return None


# ---------------------------------------------------------------------------- scenarios


class ScenarioBench:
    """The packaged scenarios whose results are as expected without a change."""

    def __init__(self, model: Model) -> None:
        read = packaged_scenarios()
        self.scenarios = [one for one in read if replay(one, model)[0].verdict != "unexpected"]

    def judge(self, changed: ChangedModel) -> ChangeVerdict | None:
        """Return the first scenario that is no longer as expected, and why; None if all still are."""
        with planted(changed.original, changed.plain):
            for scenario in self.scenarios:
                reason = _unexpected(scenario, changed.model)
                if reason is not None:
                    return ChangeVerdict("found", scenario.id, None, reason, f"scenario {scenario.id}")
        return None


def _unexpected(scenario: Scenario, model: Model) -> str | None:
    try:
        report = replay(scenario, model)[0]
    except UsageFault as fault:  # a step of the scenario does not exist in the changed model
        return str(fault)
    return None if report.verdict != "unexpected" else _what(report)


def _what(report: ScenarioReport) -> str:
    run = next(run for run in report.runs if run.verdict == "unexpected")
    odd = next(iter(run.mismatches), None)
    if odd is None:
        return f"{run.label}: {run.actual}, not {run.expected}"
    where = "" if odd.step is None else f", step {odd.step}"
    return f"{run.label}{where}: {odd.what} is {odd.actual}, not {odd.expected}"


# ---------------------------------------------------------------------------- the proof of controller events

SECONDS = 20.0
"""Limit of each obligation; one that the solver cannot decide in time counts as preserved."""


class ControllerBench:
    """The obligations of the unchanged model in `kip_full`."""

    def __init__(self) -> None:
        self.model = load_controller_model()
        self.mutants = partition_mutants(self.model)
        self.config = resolve(Selection("kip_full", "two-brokers")).config
        self.prover = StepProver(self.model, self.config, SECONDS)
        self.terms = {kind: dict(_terms(self.prover, self.model, kind)) for kind in EventKind}

    def judge(self, variation: Variation) -> ChangeVerdict | None:
        """Return a rule that the change breaks, replayed in plain Python; None if no event is known to break one."""
        if variation.function not in self.mutants.fns:
            return None
        changed = self.mutants.make(variation)
        if changed is None:
            return None
        with planted(changed.original, changed.plain):
            prover = StepProver(changed.model, self.config, SECONDS)
            for kind in EventKind:
                before = self.terms[kind]
                after = dict(_terms(prover, changed.model, kind))
                same = after["possible"].eq(before["possible"])
                rules = rules_of(changed.model)
                odd = [fn for fn in rules if not (same and after[fn.ident].eq(before[fn.ident]))]
                step = prover.open_step(kind) if odd else None
                for fn in odd:
                    assert step is not None
                    answer = prover.keeps(step, fn)
                    if answer.counterexample is not None and self._held(kind, fn.ident):
                        replayed(changed.model, fn, answer.counterexample)
                        return ChangeVerdict("found", fn.ident, configuration=f"prove --controller, {kind.name}")
        return None

    def _held(self, kind: EventKind, ident: str) -> bool:
        """Return whether the unchanged model preserves the rule."""
        fn = next(one for one in rules_of(self.model) if one.ident == ident)
        return self.prover.keeps(self.prover.open_step(kind), fn).verdict == "proved"


def _terms(prover: StepProver, model: Any, kind: EventKind) -> Iterator[tuple[str, Any]]:
    """Yield the terms about an event: whether it can happen, and each rule after it."""
    step = prover.open_step(kind)
    yield "possible", formula(prover.holds("possible", s=prover.situation.value, e=step.event))
    for fn in rules_of(model):
        goal = prover.holds(fn.name, s=prover.situation.value, e=step.event, t=step.after)
        yield fn.ident, formula(goal)
