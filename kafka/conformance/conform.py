"""`elrcheck conform`: the rules of the model compared with Kafka's own classes.

The versions of Kafka that one variant models are a team: the model answers once for all of them. Versions of a broker,
leader or follower, are compared one after the other. At the end every group of differences is shrunk against its
version.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from elrcheck.base.interrupts import Interrupts
from elrcheck.base.kafka_requests import ConformRequest
from elrcheck.base.progress import Progress
from elrcheck.base.runner.worker import useful_workers
from elrcheck.kafka.conformance.block import (
    PARTS,
    Group,
    Opener,
    Team,
    VersionResult,
    VersionRun,
    compare_team,
    opened,
    spaces_of,
)
from elrcheck.kafka.conformance.broker_walks import DEPTH, SHORT_WALKS
from elrcheck.kafka.conformance.example_text import example_of
from elrcheck.kafka.conformance.kafka_part import projections
from elrcheck.kafka.conformance.plan import plan
from elrcheck.kafka.conformance.sides import SIDES, side_of
from elrcheck.results.conform_report import (
    ComparedSpace,
    ConformReport,
    DisagreementReport,
    ProjectionReport,
    VersionReport,
)

MOST_GROUPS = 25
"""Groups of a version that are shrunk and shown."""


def run_conform(request: ConformRequest, teams: Sequence[Team], opener: Opener, progress: Progress) -> ConformReport:
    """Compare every team; after an interrupt or at the time limit the report has the results so far."""
    started = time.monotonic()
    deadline = None if request.seconds is None else started + request.seconds
    side = SIDES[side_of(request)]
    if side.apart is not None:
        teams = [replace(team, sources=(source,)) for team in teams for source in team.sources]
    workers = 1 if side.apart is not None else useful_workers(request.workers, request.comparisons)
    versions: list[VersionReport] = []
    disagreements: list[DisagreementReport] = []
    stopped: str | None = None
    with Interrupts() as stop:
        for number, team in enumerate(teams, 1):
            who = side.apart or team.variant
            names = ", ".join(source.removeprefix("home:") for source in team.sources)
            progress.stage(f"[{number}/{len(teams)}] {who} with {names}")
            until = None
            if deadline is not None:  # the rest of the time is shared by the teams that are left
                now = time.monotonic()
                until = now + max(0.0, deadline - now) / (len(teams) - number + 1)
            blocks = plan(request.comparisons, request.level, team.config.elr_enabled)
            run = compare_team(opener, team, request, blocks, workers, until, stop, progress)
            stopped = stopped or run.stopped_by
            for source, version in run.versions.items():
                versions.append(version_report(team.variant, version.result, tuple(_spaces(version))))
                if version.result.groups:
                    progress.stage(f"shrinking what differs in {version.result.version}")
                    shrink(version.result, team, opener, source, stop)
                    command = command_of(request, team.variant, source)
                    disagreements += group_reports(version.result, team.variant, command)
            if run.stopped_by == "interrupted":
                break
    seconds = time.monotonic() - started
    return conform_report(request, versions, disagreements, seconds, workers, projections(side_of(request)), stopped)


def shrink(result: VersionResult, team: Team, opener: Opener, source: str, stop: Interrupts) -> None:
    """Make the examples of the groups smaller, unexplained ones first, then the most frequent ones."""
    groups = sorted(result.groups.values(), key=lambda group: (group.explained, -group.count))
    for group in groups[:MOST_GROUPS]:
        if not stop():
            group.example = group.part.shrunk(team.config, group.example, opened(opener, source))


def conform_report(
    request: ConformRequest,
    versions: Sequence[VersionReport],
    disagreements: Iterable[DisagreementReport],
    seconds: float,
    workers: int,
    projections: Iterable[ProjectionReport],
    stopped_by: str | None,
) -> ConformReport:
    """Return the report of all versions together."""
    compared = sum(version.compared for version in versions)
    unexplained = sum(version.unexplained for version in versions)
    return ConformReport(
        verdict="violated" if unexplained else "holds" if compared else "nothing",
        kafka=", ".join(dict.fromkeys(version.kafka for version in versions)),
        variant=", ".join(dict.fromkeys(version.variant for version in versions)),
        compared=compared,
        seconds=round(seconds, 3),
        seed=request.seed,
        workers=workers,
        disagreements=tuple(sorted(disagreements, key=lambda d: (d.explained, d.kafka, -d.count))),
        unexplained=unexplained,
        versions=tuple(versions),
        projections=tuple(dict.fromkeys(projections)),
        settings=request.overrides,
        stopped_by=stopped_by,
    )


def version_report(variant: str, result: VersionResult, spaces: tuple[ComparedSpace, ...] = ()) -> VersionReport:
    """Return the numbers of one version."""
    return VersionReport(
        kafka=result.version,
        variant=variant,
        compared=result.compared.total(),
        builder=result.compared["builder"],
        controller=result.compared["controller"],
        isr_order=result.compared["ISR order"],
        indexes=result.compared["indexes"],
        unheld=result.unheld,
        explained=result.number(explained=True),
        unexplained=result.number(explained=False),
        spaces=spaces,
    )


def _spaces(run: VersionRun) -> Iterator[ComparedSpace]:
    """Return the finite sets of questions with the part that the run covers."""
    for kind in PARTS:
        for number, space in enumerate(spaces_of(kind)):
            if question_count := run.question_counts[kind, number]:
                yield ComparedSpace(space.name, space.size, question_count)
    if walks := run.question_counts["broker walks", 0]:
        name = f"every sequence of {DEPTH} events of a new leader"
        yield ComparedSpace(name, SHORT_WALKS, min(walks // 2, SHORT_WALKS))


def command_of(request: ConformRequest, variant: str, source: str | None) -> str:
    """Return the command that repeats a comparison. source: a version or a home; None for the request's answers."""
    words = ["elrcheck", "conform"]
    for name in request.answers:
        words += ["--answers", name]
    if source is not None:
        words += request.source_options(source)
    if request.level is not None:
        words += ["--level", request.level]
    words += ["--variant", variant]
    if source is not None:
        words += ["--seed", str(request.seed), "--comparisons", str(request.comparisons)]
    for override in request.overrides:
        words += ["--set", override]
    return shlex.join(words)


def group_reports(result: VersionResult, variant: str, command: str) -> list[DisagreementReport]:
    """Return the groups of differences of one version. command: repeats the comparison."""
    groups = sorted(result.groups.items(), key=lambda item: (item[1].explained, -item[1].count))
    return [_group_report(result.version, key, group, variant, command) for key, group in groups]


def _group_report(version: str, key: str, group: Group, variant: str, command: str) -> DisagreementReport:
    known_class = group.example.known_class
    return DisagreementReport(
        kafka=version,
        class_=key,
        explained=group.explained,
        count=group.count,
        what=known_class.what if known_class else f"{group.part.kafka} and {group.part.other} differ",
        why=known_class.why if known_class else None,
        source=known_class.source if known_class else None,
        example=example_of(group.example, command, variant),
    )
