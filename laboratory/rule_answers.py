"""One change of a rule, judged by Kafka's own answers, which are kept in packaged files.

A property says what must never happen; what Kafka's classes do is more exact than that. So the changed rules
answer the questions that the releases were asked, in plain Python. Only questions whose answer calls the
changed function are asked again: which those are is seen once, without any change.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

from elrcheck.kafka.conformance.answers.answered import AnsweredCase, AnsweredRelease, packaged_releases
from elrcheck.kafka.conformance.broker.broker_compare import BrokerDisagreement
from elrcheck.kafka.conformance.compare import BuilderDisagreement, Counted, StepDisagreement
from elrcheck.kafka.conformance.known_classes import signature
from elrcheck.lang.changed.altered import planted
from elrcheck.lang.runtime import NotEnabled
from elrcheck.model.config import Config
from elrcheck.mutation.rule_mutants import Changed

RULE_FAULTS = (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, AssertionError, NotEnabled)
"""What a rule may raise when what protected it is changed."""
MOST = 3000
"""Cases for one function, an even part of those that call it."""


@dataclass(frozen=True)
class OtherAnswer:
    """An answer that Kafka did not give. event: what was asked."""

    kafka: str
    event: str


@dataclass(frozen=True)
class _Known:
    """A case, its release, and in what it differs without a change: differences that have a reason."""

    release: AnsweredRelease
    case: AnsweredCase
    differs: tuple[str, ...]


class AnswerBench:
    """The packaged answers or others, by the functions of the model that work on them."""

    def __init__(self, functions: frozenset[str], releases: Sequence[AnsweredRelease] | None = None) -> None:
        calling: dict[str, list[_Known]] = {name: [] for name in functions}
        for release in packaged_releases() if releases is None else releases:
            for case in release.cases():
                called, differs = _watched(lambda c=case, r=release: _differs(c, r.config))  # type: ignore[misc]
                known = _Known(release, case, differs)
                for name in called & functions:
                    calling[name].append(known)
        self.calling = {name: _even(cases) for name, cases in calling.items()}

    def asked(self, function: str) -> int:
        """How many cases call a function."""
        return len(self.calling.get(function, ()))

    def other_answer(self, changed: Changed) -> OtherAnswer | None:
        """The first answer that the change makes another one."""
        with planted(changed.original, changed.plain):
            for known in self.calling.get(changed.variation.function, ()):
                version = known.release.answers.kafka
                try:
                    differs = _differs(known.case, known.release.config)
                except RULE_FAULTS as fault:
                    return OtherAnswer(version, f"a step is undefined: {type(fault).__name__}")
                if differs != known.differs:
                    new = [one for one in differs if one not in known.differs]
                    return OtherAnswer(version, new[0] if new else "a known difference is gone")
        return None


def _even(cases: list[_Known]) -> tuple[_Known, ...]:
    step = max(1, -(-len(cases) // MOST))
    return tuple(cases[::step])


def _differs(case: AnsweredCase, config: Config) -> tuple[str, ...]:
    """The differences in a case, each as its event and its fields."""
    return tuple(_text(found) for found in case.compared(config, Counted()))


def _text(found: BuilderDisagreement | StepDisagreement | BrokerDisagreement) -> str:
    if isinstance(found, BrokerDisagreement):
        return f"{type(found.events[-1]).__name__} {len(found.events)}: {', '.join(found.differs)}"
    if isinstance(found, BuilderDisagreement):
        return signature(found)
    fields = ", ".join(difference.field for difference in found.differences)
    return f"{type(found.step).__name__} {len(found.steps)}: {fields}"


def _watched(call: Callable[[], Any]) -> tuple[frozenset[str], Any]:
    """The names of the functions that a call calls, and its result."""
    codes: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            codes.add(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        result = call()
    finally:
        sys.setprofile(before)
    return frozenset(_names(codes)), result


def _names(codes: set[CodeType]) -> Iterator[str]:
    for code in codes:
        if "/model/" in code.co_filename.replace("\\", "/"):
            yield code.co_name
