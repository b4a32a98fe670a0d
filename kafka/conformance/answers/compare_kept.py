"""`elrcheck conform --answers FILE`: a comparison with Kafka that needs neither Java nor Kafka.

The questions are those of the file, so differences are shown as they are, without shrinking.
"""

from __future__ import annotations

import time

from elrcheck.base.interrupts import Interrupts
from elrcheck.base.kafka_requests import ConformRequest
from elrcheck.base.progress import ComparisonsDone, Progress
from elrcheck.kafka.conformance.answers.answered import AnsweredRelease, releases_of
from elrcheck.kafka.conformance.block import VersionResult
from elrcheck.kafka.conformance.comparison import limit_reached
from elrcheck.kafka.conformance.conform import command_of, conform_report, group_reports, version_report
from elrcheck.kafka.conformance.difference_table import projections
from elrcheck.results.conform_report import ConformReport, DisagreementReport

OFTEN = 200
"""Cases between two reports of progress."""


def compare_answers(request: ConformRequest, progress: Progress) -> ConformReport:
    """Compare every file; after an interrupt or at the time limit the report has the results so far."""
    started = time.monotonic()
    deadline = None if request.seconds is None else started + request.seconds
    results: list[tuple[AnsweredRelease, VersionResult]] = []
    stopped: str | None = None
    with Interrupts() as stop:
        for release in releases_of(request):
            progress.stage(f"{release.variant} with the answers of Kafka {release.answers.kafka}")
            result = VersionResult(release.answers.kafka)
            results.append((release, result))
            for number, case in enumerate(release.cases()):
                for outcome in case.outcomes(release.config):
                    result.note(case.part, outcome)
                if number % OFTEN == 0:
                    progress.tell(_so_far([result for _, result in results], time.monotonic() - started))
                differs = request.stop_at_first and result.number(explained=False) > 0
                stopped = limit_reached(stop, differs, deadline)
                if stopped is not None:
                    break
            if stopped is not None:
                break
    seconds = time.monotonic() - started
    versions = [version_report(release.variant, result) for release, result in results]
    groups: list[DisagreementReport] = []
    for release, result in results:
        groups += group_reports(result, release.variant, command_of(request, release.variant, None))
    apart = (one for release, _ in results for one in projections(release.answers.level))
    return conform_report(request, versions, groups, seconds, 1, apart, stopped)


def _so_far(results: list[VersionResult], seconds: float) -> ComparisonsDone:
    compared = sum(result.compared.total() for result in results)
    return ComparisonsDone(compared, sum(result.number(explained=False) for result in results), seconds)
