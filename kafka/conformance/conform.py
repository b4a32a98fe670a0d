"""`elrcheck conform`: the rules of the model compared with Kafka's own classes.

The versions of Kafka for which one variant stands are one team: the model answers once for all of them. Every
group of differences is shrunk at the end, against the version in which it was found.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from elrcheck.base.interrupts import Interrupts
from elrcheck.base.kafka_requests import ConformRequest
from elrcheck.base.progress import Progress
from elrcheck.base.runner.worker import useful_workers
from elrcheck.kafka.conformance.block import Group
from elrcheck.kafka.conformance.builder_space import builder_spaces
from elrcheck.kafka.conformance.comparison import Opener, Progressed, Team, compare_team, opened
from elrcheck.kafka.conformance.event_space import event_spaces
from elrcheck.kafka.conformance.known_classes import CLASSES
from elrcheck.kafka.conformance.plan import plan
from elrcheck.kafka.conformance.projections import PROJECTIONS
from elrcheck.kafka.conformance.question_space import Space
from elrcheck.kafka.conformance.shrink import shrunk
from elrcheck.kafka.conformance.words import example_of
from elrcheck.results.conform_report import (
    ConformReport,
    DisagreementReport,
    ProjectionReport,
    SpaceReport,
    VersionReport,
)

SHOWN = 25
"""Groups of a version that are shrunk and shown."""


def run_conform(request: ConformRequest, teams: Sequence[Team], opener: Opener, progress: Progress) -> ConformReport:
    """Compare every team; after an interrupt or at the time limit the report has what was found so far."""
    started = time.monotonic()
    deadline = None if request.seconds is None else started + request.seconds
    workers = useful_workers(request.workers, request.comparisons)
    versions: list[VersionReport] = []
    disagreements: list[DisagreementReport] = []
    stopped: str | None = None
    with Interrupts() as stop:
        for number, team in enumerate(teams, 1):
            progress.stage(f"[{number}/{len(teams)}] {team.variant} with {', '.join(team.sources)}")
            until = None
            if deadline is not None:  # the rest of the time is shared by the teams that are left
                now = time.monotonic()
                until = now + max(0.0, deadline - now) / (len(teams) - number + 1)
            blocks = plan(request.comparisons, request.level, team.config.elr_enabled)
            found = compare_team(
                opener, team, request.seed, blocks, workers, until, stop, progress, stop_at_first=request.stop_at_first
            )
            stopped = stopped or found.stopped_by
            for source, progressed in found.versions.items():
                versions.append(_version(team, progressed))
                if progressed.result.groups:
                    progress.stage(f"shrinking what differs in {progressed.result.version}")
                    disagreements += _disagreements(request, team, source, progressed, opener, stop)
            if found.stopped_by == "interrupted":
                break
    compared = sum(version.compared for version in versions)
    unexplained = sum(version.unexplained for version in versions)
    return ConformReport(
        verdict="violated" if unexplained else "holds" if compared else "nothing",
        kafka=", ".join(version.kafka for version in versions),
        variant=", ".join(dict.fromkeys(version.variant for version in versions)),
        compared=compared,
        seconds=round(time.monotonic() - started, 3),
        seed=request.seed,
        workers=workers,
        disagreements=tuple(sorted(disagreements, key=lambda d: (d.explained, d.kafka, -d.count))),
        unexplained=unexplained,
        versions=tuple(versions),
        projections=projection_reports(),
        settings=request.overrides,
        stopped_by=stopped,
    )


def projection_reports() -> tuple[ProjectionReport, ...]:
    """What is compared in part."""
    return tuple(ProjectionReport(p.name, p.what, p.why) for p in PROJECTIONS)


def _version(team: Team, progressed: Progressed) -> VersionReport:
    groups = progressed.result.groups.values()
    builder = progressed.builder
    compared = progressed.result.counted.compared
    order = progressed.of_kind.get("ISR order", 0)
    return VersionReport(
        kafka=progressed.result.version,
        variant=team.variant,
        compared=compared,
        builder=builder,
        controller=compared - builder - order,
        isr_order=order,
        unheld=progressed.result.counted.unheld,
        explained=sum(group.count for group in groups if group.explained),
        unexplained=sum(group.count for group in groups if not group.explained),
        spaces=tuple(_spaces(progressed)),
    )


def _spaces(progressed: Progressed) -> list[SpaceReport]:
    found = []
    both: tuple[tuple[str, Sequence[Space[Any]]], ...] = (
        ("builder space", builder_spaces()),
        ("event space", event_spaces()),
    )
    for kind, spaces in both:
        for number, space in enumerate(spaces):
            asked = progressed.at.get((kind, number), 0)
            if asked:
                found.append(SpaceReport(space.name, space.size, asked))
    return found


def _disagreements(
    request: ConformRequest, team: Team, source: str, progressed: Progressed, opener: Opener, stop: Interrupts
) -> list[DisagreementReport]:
    """The groups of a version, the unexplained ones first and the most frequent ones shrunk."""
    groups = sorted(progressed.result.groups.items(), key=lambda item: (item[1].explained, -item[1].count))
    found = []
    for number, (key, group) in enumerate(groups):
        example = group.example
        if number < SHOWN and not stop():
            example = shrunk(team.config, key, example, opened(opener, source))
        found.append(
            _disagreement(request, team, source, progressed.result.version, key, replace(group, example=example))
        )
    return found


def _disagreement(
    request: ConformRequest, team: Team, source: str, version: str, key: str, group: Group
) -> DisagreementReport:
    again = ["elrcheck", "conform", *request.source_options(source), "--variant", team.variant]
    again += ["--seed", str(request.seed), "--comparisons", str(request.comparisons)]
    for override in request.overrides:
        again += ["--set", override]
    return group_report(version, team.variant, key, group, shlex.join(again))


def group_report(version: str, variant: str, key: str, group: Group, command: str) -> DisagreementReport:
    """A group of differences for the report. key: its class or signature; command: asks again."""
    known = next((known for known in CLASSES if known.id == key and group.explained), None)
    return DisagreementReport(
        kafka=version,
        class_=key,
        explained=group.explained,
        count=group.count,
        what=known.what if known else "Kafka's classes and the model differ",
        why=known.why if known else None,
        source=known.source if known else None,
        example=example_of(group.example, command, variant),
    )
