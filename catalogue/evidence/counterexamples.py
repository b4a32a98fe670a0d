"""The recorded counterexamples of the findings: one of each search that breaks a property, step by step.

`python docs/record_counterexamples.py` searches and writes them. Before one is shown, `followed` replays every step
in the plain model and checks that the property is violated at the end. It does not check that the wait in a
counterexample to a liveness property is fair; only the search has done that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from elrcheck.base.requests import Selection
from elrcheck.base.roundtrip import Record, from_text
from elrcheck.catalogue.finding_file import Finding, FindingRun, OtherSearch
from elrcheck.declared.select import resolve
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import instances
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import NotEnabled
from elrcheck.model.knobs import plain
from elrcheck.stored_traces.written_values import Unreadable, read_call
from elrcheck.traces.behaviour import Behaviour, TraceOrigin
from elrcheck.traces.replay import Replayed, replay
from elrcheck.traces.truth import with_truths
from elrcheck.traces.violation import explain

NAME = "counterexamples.json"
SCHEMA = "elrcheck.counterexamples/1"
PLAIN_WORDS = ("P-1", "P-2")
"""The properties that tell a reader most; they are shown before others."""


class Outdated(Exception):
    """The model does not follow the recorded steps; the message names the step."""


class FindingCounterexample(Record, frozen=True):
    """A shortest counterexample of a search. loop: the state to which a lasso returns, or in which it rests.

    model: the module of another model than Kafka's partition.
    """

    finding: str
    variant: str
    scope: str
    settings: tuple[str, ...]
    breaks: str
    steps: tuple[str, ...]
    loop: int | None = None
    model: str | None = None

    @property
    def selection(self) -> Selection:
        return Selection(self.variant, self.scope, self.settings, Path(self.model) if self.model else None)


class FindingCounterexamples(Record, frozen=True):
    """The whole file."""

    schema: str = SCHEMA
    counterexamples: tuple[FindingCounterexample, ...] = ()


def packaged_counterexamples() -> Mapping[str, tuple[FindingCounterexample, ...]]:
    """Return the recorded counterexamples by the id of their finding."""
    text = (files("elrcheck.catalogue.evidence") / NAME).read_bytes()
    by_finding: dict[str, tuple[FindingCounterexample, ...]] = {}
    for one in from_text(text, FindingCounterexamples).counterexamples:
        by_finding[one.finding] = (*by_finding.get(one.finding, ()), one)
    return by_finding


def shown_property(run: FindingRun | OtherSearch) -> str:
    """Return the broken property to show: one of `PLAIN_WORDS` if possible, else the one with the shortest trace."""
    return min(run.breaks, key=lambda name: (name not in PLAIN_WORDS, name != PLAIN_WORDS[0], run.breaks[name]))


def breaking_searches(finding: Finding) -> tuple[FindingRun | OtherSearch, ...]:
    """Return the searches of a finding that break a property."""
    return (*(run for run in finding.runs if run.breaks), *finding.elsewhere)


def selection_of(run: FindingRun | OtherSearch) -> Selection:
    """Return the selection of a search of a finding."""
    if isinstance(run, OtherSearch):
        return Selection(run.variant, run.scope, (), Path(run.model))
    return Selection(run.variant, run.scope, tuple(f"{name}={plain(value)}" for name, value in run.knobs.items()))


def followed(recorded: FindingCounterexample) -> Replayed:
    """Return the counterexample replayed in the plain model, with the violation.

    Raises Outdated if the model refuses a step or does not violate the property.
    """
    selected = resolve(recorded.selection)
    model = selected.declared.checked() if recorded.loop is None else selected.declared.whole()
    stage = PlainModel(model, selected.config)
    states, labels = [stage.initial()], list[Label]()
    for number, call in enumerate(recorded.steps, start=1):
        try:
            label = read_call(call, model.actions_by_name, selected.config)
            states.append(stage.step(states[-1], label))
        except (Unreadable, NotEnabled) as refused:
            raise Outdated(f"step {number}, {call}: {refused}") from refused
        labels.append(label)
    if recorded.loop is not None and recorded.loop < len(labels) and states.pop() != states[recorded.loop]:
        raise Outdated(f"step {len(labels)} does not return to state {recorded.loop}")
    origin = TraceOrigin.of(selected, recorded.breaks)
    trace = replay(model, selected.config, Behaviour(origin, tuple(states), tuple(labels), recorded.loop))
    fn = model.properties_by_id.get(recorded.breaks)
    if fn is None:
        raise Outdated(f"there is no property {recorded.breaks}")
    return with_truths(_broken(trace, fn))


def _broken(trace: Replayed, fn: Fn) -> Replayed:
    states = trace.states
    if fn.kind == "leads_to":
        if not any(_waits(trace.plain, fn, args, states) for args in instances(fn, trace.config)):
            raise Outdated(f"no wait of {fn.ident} is without an end")
        return trace
    at = states[-1 - fn.is_step :]
    if trace.plain.holds(fn, *at):
        raise Outdated(f"{fn.ident} holds at the end")
    before = states[-2] if len(states) > 1 else None
    return replace(trace, broken=explain(trace.model, trace.config, fn, at, before))


def _waits(stage: PlainModel, fn: Fn, args: Sequence[Any], states: Sequence[Any]) -> bool:
    """Return whether a wait begins in these states and does not end in them."""
    answers = [fn.source(stage.config, state, *args) for state in states]
    return any(
        one.premise and not any(later.conclusion for later in answers[number:]) for number, one in enumerate(answers)
    )
