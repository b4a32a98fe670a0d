"""Answers of earlier suites, by a digest of everything they depend on: model, properties, engine, configuration.

An answer is stored if its search was complete and every violation has an explanation. Any other one needs a trace, so
it is searched again, or taken from the stored searches, which replay their traces.
"""

from __future__ import annotations

from msgspec import structs

from elrcheck.base.kept import named_digests as digests
from elrcheck.base.kept.age import KeptOrigin
from elrcheck.base.kept.store import Store
from elrcheck.base.roundtrip import Record
from elrcheck.base.typed.configuration import config_values
from elrcheck.checking.batch.job import JobAnswer
from elrcheck.checking.suite.suite_file import SuiteCase
from elrcheck.checking.suite.walked_case import WalkAnswer
from elrcheck.results.check_report import CheckReport


class KeptAnswer(Record, frozen=True):
    """The stored answer of a search or of walks, with its number in the suite that stored it."""

    searched: CheckReport | None = None
    walked: WalkAnswer | None = None


class KeptAnswers:
    """The answers in the store. fresh: ignore existing entries, still write new ones."""

    def __init__(self, fresh: bool) -> None:
        self.store = Store("suite", KeptAnswer, fresh=fresh)

    def find(self, number: int, case: SuiteCase) -> tuple[JobAnswer | WalkAnswer, KeptOrigin] | None:
        """Return the stored answer for a configuration and its origin; None without one."""
        entry = self.store.get(_key(case))
        answer = None if entry is None else _answer(number, case, entry.value)
        if entry is not None and answer is None:
            self.store.refuse(_key(case), "does not fit its configuration")
        return None if entry is None or answer is None else (answer, entry.origin)

    def add(self, case: SuiteCase, answer: JobAnswer | WalkAnswer) -> None:
        """Store the answer of walks or of a complete search, dated as the search that it comes from."""
        if isinstance(answer, WalkAnswer):
            self.store.put(_key(case), KeptAnswer(walked=answer))
            return
        report = answer.report
        if report is None or not report.search.complete or _unexplained(report, case):
            return
        moment = None if report.kept is None else report.kept.moment
        properties = tuple(structs.replace(one, trace=None, counterexample=None) for one in report.properties)
        plain = structs.replace(report, properties=properties, kept=None)
        self.store.put(_key(case), KeptAnswer(searched=plain), moment)


def kept_of(answer: JobAnswer | WalkAnswer) -> KeptOrigin | None:
    """Return the origin of a search's answer; None if it was computed now."""
    return None if isinstance(answer, WalkAnswer) or answer.report is None else answer.report.kept


def _unexplained(report: CheckReport, case: SuiteCase) -> bool:
    return any(one.verdict == "violated" and one.id not in case.violates for one in report.properties)


def _answer(number: int, case: SuiteCase, stored: KeptAnswer) -> JobAnswer | WalkAnswer | None:
    """Return a stored answer with this number; None if it does not fit the configuration."""
    if case.walk is not None:
        walks = stored.walked
        return None if walks is None or stored.searched else structs.replace(walks, number=number)
    report = stored.searched
    if report is None or stored.walked or not _sound(report) or _unexplained(report, case):
        return None
    return JobAnswer(number, report)


def _sound(report: CheckReport) -> bool:
    """Return whether the parts of a complete report fit together."""
    search, broken = report.search, any(one.verdict == "violated" for one in report.properties)
    counts = search.complete and search.diameter <= search.distinct <= search.generated
    return counts and broken == (report.verdict == "violated")


def _key(case: SuiteCase) -> str:
    walk = case.walk
    return digests.key(
        answer="report",
        rules=case.selected.declared.digest(),
        engine=digests.engine(),
        variant=case.selected.variant,
        scope=case.selected.scope,
        config=config_values(case.selected.config),
        walk=None if walk is None else [walk.walks, walk.steps, walk.seed],
    )
