"""Judges a change of a rule by Kafka's recorded answers, which are packaged files.

Properties forbid little in comparison with what Kafka's classes exactly do. So the changed rules, in plain Python,
handle the cases that the releases handled. A first run, without any change, notes which functions each case calls;
only cases that call the changed function are run again.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

from elrcheck.base.kafka_requests import ConformRequest
from elrcheck.kafka.conformance.answers.answered import PACKAGED, AnsweredCase, AnsweredRelease, releases_of
from elrcheck.kafka.conformance.broker.broker_part import BrokerDisagreement
from elrcheck.kafka.conformance.kafka_part import Agreement, Disagreement
from elrcheck.kafka.conformance.known_classes import StepDisagreement
from elrcheck.lang.changed.altered import planted
from elrcheck.model.config import Config
from elrcheck.mutation.rule_answer import RULE_FAULTS, ChangeVerdict
from elrcheck.mutation.rule_mutants import ChangedModel

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
