"""`elrcheck conform --refresh`: repeats the recorded comparisons whose rules have changed since.

Releases with the same options are compared together. Each lot is recorded as soon as it is done, so a run that ends
early loses at most one, and the next run continues with the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from itertools import groupby
from pathlib import Path
from time import monotonic

from elrcheck.base.errors import UsageFault
from elrcheck.base.kafka_requests import ConformLevel, ConformRequest
from elrcheck.base.progress import Progress
from elrcheck.base.system.programs import find_java
from elrcheck.catalogue.evidence.conformance import NAME, Compared
from elrcheck.kafka.conformance.conform import conform_report
from elrcheck.kafka.conformance.recorded.conform_record import compared_rules, read_record, record_comparison
from elrcheck.kafka.conformance.sides import side_of
from elrcheck.results.conform_report import ConformReport

Run = Callable[[ConformRequest, Progress], ConformReport]
"""Compares what a request names, on whichever side of Kafka its level says."""
FIXED = ("kafka", "homes", "variant", "overrides", "level", "comparisons", "seed", "answers", "keep_answers")
"""Options that a recorded comparison has of its own."""


@dataclass(frozen=True)
class RefreshResult:
    """report: of the repeated comparisons, None if nothing was stale. left: names of those still stale."""

    path: Path
    report: ConformReport | None
    left: tuple[str, ...]


def refresh(request: ConformRequest, run: Run, progress: Progress) -> RefreshResult:
    """Repeat every stale comparison of the record with its options, and record it.

    Raise UsageFault if there is no such record, or if the packaged one is not a file that this user may write.
    """
    path = _packaged() if request.record is None else request.record
    record = read_record(path)
    stale = [entry for entry in record.comparisons if record.changes(entry)]
    if not stale:
        return RefreshResult(path, None, ())
    find_java()  # before anything is promised
    deadline = None if request.seconds is None else monotonic() + request.seconds
    reports: list[ConformReport] = []
    for number, again in enumerate(lots := _lots(stale), 1):
        progress.stage(f"({number} of {len(lots)}) {again.level or 'both levels'} of {', '.join(again.kafka)}")
        seconds = None if deadline is None else max(0.0, deadline - monotonic())
        rules = compared_rules(side_of(again))  # a source that is edited meanwhile is not what was compared
        report = run(replace(again, workers=request.workers, seconds=seconds), progress)
        if report.stopped_by is not None:
            reports.append(report)
            break
        record_comparison(report, again, rules, path)
        reports.append(report)
    after = read_record(path)
    left = tuple(entry.name for entry in after.comparisons if after.changes(entry))
    return RefreshResult(path, _merged(lots[0], reports), left)


def _packaged() -> Path:
    with as_file(files("elrcheck.catalogue") / NAME) as path:
        if not path.is_file():
            raise UsageFault("usage-record", "the packaged record is not a file", help="name one with --record FILE")
        return path


def _lots(stale: Sequence[Compared]) -> list[ConformRequest]:
    """Return a request for each set of options among the stale comparisons."""

    def options(entry: Compared) -> tuple[str, str, int, int, str]:
        return entry.side, entry.variant, entry.asked, entry.seed, entry.level or ""

    lots = []
    for _, alike in groupby(sorted(stale, key=options), key=options):
        entries = list(alike)
        first = entries[0]
        level: ConformLevel | None = first.level if first.side == "controller" else first.side
        lots.append(
            ConformRequest(
                kafka=tuple(entry.kafka for entry in entries),
                variant=first.variant,
                level=level,
                comparisons=first.asked,
                seed=first.seed,
            )
        )
    return lots


def _merged(request: ConformRequest, reports: Sequence[ConformReport]) -> ConformReport:
    """Return one report of several runs. request: that of the first."""
    return conform_report(
        request,
        [version for report in reports for version in report.versions],
        (group for report in reports for group in report.disagreements),
        sum(report.seconds for report in reports),
        max(report.workers for report in reports),
        (projection for report in reports for projection in report.projections),
        reports[-1].stopped_by,
    )
