"""Answers of earlier suites, by a digest of everything they depend on: model, properties, engine,
configuration.

An answer is kept if its search was complete and broke nothing that has no explanation. Any other one has a
trace to show: it is searched again, or taken from the kept searches, which replay their traces.
"""

from __future__ import annotations

from typing import Any

from msgspec import structs

from elrcheck.base.kept import named_digests as digests
from elrcheck.base.kept.age import Kept
from elrcheck.base.kept.store import Store
from elrcheck.base.roundtrip import Record
from elrcheck.base.typed.configuration import config_values
from elrcheck.catalogue.suite_counts import Counts
from elrcheck.catalogue.suite_file import SuiteCase
from elrcheck.checking.batch.job import Answer
from elrcheck.checking.suite.walked_case import WalkAnswer
from elrcheck.results.check_report import PropertyVerdict, Verdict

NUMBERS = ("distinct", "generated", "diameter", "seconds")
"""What is kept of a search report."""


class KeptProperty(Record, frozen=True):
    """What was found of a property; see `PropertyReport`."""

    id: str
    name: str
    verdict: PropertyVerdict
    depth: int | None
    conjunct: str | None


class KeptCase(Record, frozen=True):
    """The complete search of a configuration."""

    verdict: Verdict
    distinct: int
    generated: int
    diameter: int
    seconds: float
    properties: tuple[KeptProperty, ...]

    @property
    def sound(self) -> bool:
        """Whether its parts fit together."""
        broken = any(one.verdict == "violated" for one in self.properties)
        return broken == (self.verdict == "violated") and self.diameter <= self.distinct <= self.generated


class KeptWalks(Record, frozen=True):
    """The walks through a configuration; see `WalkAnswer`."""

    counts: Counts
    seconds: float


class KeptAnswer(Record, frozen=True):
    """Of a search or of walks."""

    searched: KeptCase | None = None
    walked: KeptWalks | None = None


class KeptAnswers:
    """The answers in the store. fresh: ignore existing entries, still write new ones."""

    def __init__(self, fresh: bool) -> None:
        self.store = Store("suite", KeptAnswer, fresh=fresh)

    def find(self, number: int, case: SuiteCase) -> tuple[Answer | WalkAnswer, Kept] | None:
        """The answer for a configuration, and where it comes from; None if there is none."""
        entry = self.store.get(_key(case))
        answer = None if entry is None else _answer(number, case, entry.value)
        if entry is not None and answer is None:
            self.store.refuse(_key(case), "does not fit its configuration")
        return None if entry is None or answer is None else (answer, entry.kept)

    def add(self, case: SuiteCase, answer: Answer | WalkAnswer) -> None:
        """Keep the answer of walks or of a complete search. It is as old as the search that it comes from."""
        if isinstance(answer, WalkAnswer):
            walks = KeptWalks(answer.counts, answer.seconds)
            self.store.put(_key(case), KeptAnswer(walked=walks))
            return
        report = answer.report
        if report is None or not report["search"]["complete"]:
            return
        found = report["properties"]
        if any(one["verdict"] == "violated" and one["id"] not in case.violates for one in found):
            return
        moment = None if (kept := kept_of(answer)) is None else kept.moment
        names = [name.name for name in structs.fields(KeptProperty)]
        numbers = {name: report["search"][name] for name in NUMBERS}
        properties = tuple(KeptProperty(**{name: one[name] for name in names}) for one in found)
        whole = KeptCase(report["verdict"], properties=properties, **numbers)
        self.store.put(_key(case), KeptAnswer(searched=whole), moment)


def kept_of(answer: Answer | WalkAnswer) -> Kept | None:
    """Where the answer of a search comes from, if a process only looked it up."""
    if isinstance(answer, WalkAnswer) or answer.report is None or answer.report["kept"] is None:
        return None
    return Kept(**answer.report["kept"])


def _answer(number: int, case: SuiteCase, kept: KeptAnswer) -> Answer | WalkAnswer | None:
    """The answer as a process would give it; None if it is not one of such a configuration."""
    if case.walk is not None:
        walks = kept.walked
        return None if walks is None or kept.searched else WalkAnswer(number, walks.counts, walks.seconds)
    whole = kept.searched
    if whole is None or kept.walked or not whole.sound:
        return None
    if any(one.verdict == "violated" and one.id not in case.violates for one in whole.properties):
        return None
    search: dict[str, Any] = {"complete": True, "stopped_by": None}
    search |= {name: getattr(whole, name) for name in NUMBERS}
    properties = [structs.asdict(one) for one in whole.properties]
    report = {"verdict": whole.verdict, "search": search, "properties": properties, "kept": None}
    return Answer(number, report=report)


def _key(case: SuiteCase) -> str:
    walk = case.walk
    return digests.key(
        rules=digests.rules(),
        engine=digests.engine(),
        variant=case.selected.variant,
        scope=case.selected.scope,
        config=config_values(case.selected.config),
        walk=None if walk is None else [walk.walks, walk.steps, walk.seed],
    )
