"""`elrcheck conform --answers FILE`: a comparison with Kafka that needs neither Java nor Kafka.

The questions are those of the file, so differences are shown as they are found, and are not shrunk.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from elrcheck.base.interrupts import Interrupts
from elrcheck.base.kafka_requests import ConformRequest
from elrcheck.base.progress import ComparisonsDone, Progress
from elrcheck.kafka.conformance.answers.answered import AnsweredRelease, BrokerCase, BuilderCase, releases_of
from elrcheck.kafka.conformance.block import VersionResult
from elrcheck.kafka.conformance.broker.broker_conform import NOT_COMPARED, Side, broker_group_report
from elrcheck.kafka.conformance.compare import Counted
from elrcheck.kafka.conformance.conform import group_report, projection_reports
from elrcheck.results.conform_report import ConformReport, DisagreementReport, VersionReport

OFTEN = 200
"""Cases between two reports of progress."""


@dataclass
class Compared:
    """What was found in one file so far."""

    release: AnsweredRelease
    counted: Counted = field(default_factory=Counted)
    builder: int = 0
    controller: VersionResult = field(init=False)
    broker: Side = field(init=False)

    def __post_init__(self) -> None:
        self.controller = VersionResult(self.release.answers.kafka, self.counted)
        self.broker = Side(self.release.answers.kafka)

    @property
    def unexplained(self) -> int:
        odd = sum(group.count for group in self.controller.groups.values() if not group.explained)
        return odd + self.broker.number(explained=False)

    @property
    def explained(self) -> int:
        known = sum(group.count for group in self.controller.groups.values() if group.explained)
        return known + self.broker.number(explained=True)


def compare_answers(request: ConformRequest, progress: Progress) -> ConformReport:
    """Compare every file; after an interrupt or at the time limit the report has what was found so far."""
    started = time.monotonic()
    files: list[Compared] = []
    stopped: str | None = None
    with Interrupts() as stop:
        for release in releases_of(request):
            progress.stage(f"{release.variant} with the answers of Kafka {release.answers.kafka}")
            compared = Compared(release)
            files.append(compared)
            for number, case in enumerate(release.cases()):
                before = compared.counted.compared
                for found in case.compared(release.config, compared.counted):
                    if isinstance(case, BrokerCase):
                        compared.broker.add(found)  # type: ignore[arg-type]
                    else:
                        compared.controller.note(found)  # type: ignore[arg-type]
                if isinstance(case, BuilderCase):
                    compared.builder += compared.counted.compared - before
                if number % OFTEN == 0:
                    _tell(progress, files, started)
                if stop():
                    stopped = "interrupted"
                elif request.seconds is not None and time.monotonic() - started > request.seconds:
                    stopped = "--seconds"
                elif request.stop_at_first and compared.unexplained:
                    stopped = "--stop-at-first"
                if stopped is not None:
                    break
            if stopped is not None:
                break
    return _report(request, files, stopped, round(time.monotonic() - started, 3))


def _tell(progress: Progress, files: Sequence[Compared], started: float) -> None:
    total = sum(one.counted.compared for one in files)
    progress.tell(ComparisonsDone(total, sum(one.unexplained for one in files), time.monotonic() - started))


def _report(request: ConformRequest, files: Sequence[Compared], stopped: str | None, seconds: float) -> ConformReport:
    compared = sum(one.counted.compared for one in files)
    unexplained = sum(one.unexplained for one in files)
    disagreements = [shown for one in files for shown in _disagreements(request, one)]
    with_broker = NOT_COMPARED if any(one.release.answers.broker for one in files) else ()
    return ConformReport(
        verdict="violated" if unexplained else "holds" if compared else "nothing",
        kafka=", ".join(dict.fromkeys(one.release.answers.kafka for one in files)),
        variant=", ".join(dict.fromkeys(one.release.variant for one in files)),
        compared=compared,
        seconds=seconds,
        seed=request.seed,
        workers=1,
        disagreements=tuple(sorted(disagreements, key=lambda d: (d.explained, d.kafka, -d.count))),
        unexplained=unexplained,
        versions=tuple(_version(one) for one in files),
        projections=(*projection_reports(), *with_broker),
        settings=request.overrides,
        stopped_by=stopped,
    )


def _version(one: Compared) -> VersionReport:
    answers = one.release.answers
    return VersionReport(
        kafka=answers.kafka,
        variant=one.release.variant,
        compared=one.counted.compared,
        builder=one.builder,
        controller=0 if answers.level == "broker" else one.counted.compared - one.builder,
        isr_order=0,
        unheld=one.counted.unheld,
        explained=one.explained,
        unexplained=one.unexplained,
        spaces=(),
    )


def _disagreements(request: ConformRequest, one: Compared) -> list[DisagreementReport]:
    again = ["elrcheck", "conform"]
    for name in request.answers:
        again += ["--answers", name]
    again += ["--variant", one.release.variant]
    for override in request.overrides:
        again += ["--set", override]
    command = shlex.join(again)
    answers = one.release.answers
    found = [
        group_report(answers.kafka, one.release.variant, key, group, command)
        for key, group in one.controller.groups.items()
    ]
    return found + [
        broker_group_report(one.broker, key, times, one.broker.examples[key], command)
        for key, times in one.broker.counts.items()
    ]
