"""`elrcheck conform --record FILE`: the record of what was compared, for `list variants` and `show VARIANT`.

`conform --refresh` repeats the recorded comparisons whose rules have changed since. Releases with the same options are
compared together. Each lot is recorded as soon as it is done, so a run that ends early loses at most one, and the next
run continues with the rest.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from itertools import groupby
from pathlib import Path
from time import monotonic

from elrcheck.base.atomic import write_file
from elrcheck.base.errors import UsageFault
from elrcheck.base.kafka_requests import ConformLevel, ConformRequest
from elrcheck.base.programs import find_java
from elrcheck.base.progress import Progress
from elrcheck.base.roundtrip import from_text, to_text
from elrcheck.catalogue.evidence.conformance import (
    NAME,
    Compared,
    Conformance,
    ExplainedClass,
    Rules,
    Side,
    knobs_read,
    rules_below,
)
from elrcheck.kafka.conformance.conform import conform_report
from elrcheck.kafka.conformance.sides import SIDES, level_of, side_of
from elrcheck.results.conform_report import ConformReport


def reject_unrecordable(request: ConformRequest) -> None:
    """Raise UsageFault if the run is not one of the variant itself, or if the file is not a record."""
    if request.answers and (request.kafka or request.homes or request.record or request.keep_answers):
        raise UsageFault(
            "usage-option",
            "--answers takes no --kafka, --kafka-home, --record or --keep-answers",
            help="its files say which release answered",
        )
    if request.record is not None and request.keep_answers is not None:
        raise UsageFault("usage-option", "--keep-answers compares nothing that --record could keep")
    if request.record is None:
        return
    if request.overrides:
        raise UsageFault("usage-record", "--record takes no --set: with it, the comparison is not about the variant")
    if request.record.exists():
        read_record(request.record)


def compared_rules(side: Side) -> Rules:
    """Return the present rules that a comparison of this side uses: call it before the comparison."""
    return rules_below(SIDES[side].rules)


def record_comparison(report: ConformReport, request: ConformRequest, rules: Rules, path: Path) -> None:
    """Write the versions of a report to the file, each in place of its earlier comparison of that side."""
    record = read_record(path) if path.exists() else Conformance()
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    entries = [
        Compared(
            kafka=version.kafka,
            variant=version.variant,
            day=day,
            asked=request.comparisons,
            compared=version.compared,
            builder=version.builder,
            controller=version.controller,
            isr_order=version.isr_order,
            indexes=version.indexes,
            not_held=version.unheld,
            unexplained=version.unexplained,
            explained=tuple(
                ExplainedClass(group.class_, group.count, group.what)
                for group in report.disagreements
                if group.kafka == version.kafka and group.explained
            ),
            seed=report.seed,
            rules=rules.digest,
            knobs=knobs_read(rules, version.variant),
            side=side_of(request),
            level=level_of(request),
        )
        for version in report.versions
    ]
    write_file(path, to_text(record.plus(rules, entries), indent=2) + "\n")


def read_record(path: Path) -> Conformance:
    """Read the record in a file; raise UsageFault if it is not a record."""
    try:
        return from_text(path.read_bytes(), Conformance)
    except (OSError, ValueError) as fault:
        raise UsageFault(
            "usage-record",
            f"{path} is not a record of comparisons: {fault}",
            help="give a file that `elrcheck conform --record` wrote, or a new one",
        ) from fault


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
