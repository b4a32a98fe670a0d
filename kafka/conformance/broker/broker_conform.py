"""`elrcheck conform --level broker`: the rules of leaders compared with kafka.cluster.Partition.

Short walks and random ones come by turns, then random ones up to the number of comparisons. Each group of
differences is shrunk at the end, event by event.
"""

from __future__ import annotations

import random
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from itertools import count, islice
from typing import TypeAlias

from elrcheck.base.interrupts import Interrupts
from elrcheck.base.kafka_requests import ConformRequest
from elrcheck.base.progress import ComparisonsDone, Progress
from elrcheck.kafka.broker_steps import Beginning, BrokerAnswer, BrokerEvent
from elrcheck.kafka.conformance.broker.broker_compare import BROKER_CLASSES, BrokerDisagreement, compare
from elrcheck.kafka.conformance.broker.broker_walks import DEPTH, SHORT_WALKS, possible, random_walk, short_walk
from elrcheck.kafka.conformance.comparison import Team
from elrcheck.kafka.conformance.kafka_source import class_path_of
from elrcheck.kafka.jars import Jars
from elrcheck.kafka.kafka_oracle import BrokerOracle, open_broker_oracle
from elrcheck.model.config import Config
from elrcheck.results.conform_report import (
    ConformReport,
    DisagreementReport,
    ExampleReport,
    FieldPair,
    ProjectionReport,
    SpaceReport,
    VersionReport,
)

BrokerOpener: TypeAlias = Callable[[str], AbstractContextManager[BrokerOracle]]
BATCH = 50
SHOWN = 10
NOT_COMPARED = (
    ProjectionReport(
        "fetch errors", "that a fetch is refused, not with which error", "the model has no names for them"
    ),
    ProjectionReport(
        "time",
        "a follower lags as soon as it is behind (replica.lag.time.max.ms -1), and the watermark waits for"
        " the maximal ISR only",
        "the model has no time; with a lag allowed the watermark is the same or later",
    ),
    ProjectionReport("requests", "one AlterPartition is in flight at a time", "AlterPartitionManager sees to it"),
)


@dataclass
class Side:
    """What was found in one version so far."""

    version: str
    compared: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    examples: dict[str, BrokerDisagreement] = field(default_factory=dict)

    def add(self, found: BrokerDisagreement | None) -> None:
        self.compared += 1
        if found is None:
            return
        self.counts[found.key] = self.counts.get(found.key, 0) + 1
        shortest = self.examples.get(found.key)
        if shortest is None or len(found.events) < len(shortest.events):
            self.examples[found.key] = found

    def number(self, *, explained: bool) -> int:
        known = {one.id for one in BROKER_CLASSES}
        return sum(times for key, times in self.counts.items() if (key in known) == explained)


@contextmanager
def open_partition(source: str) -> Iterator[BrokerOracle]:
    """kafka.cluster.Partition of a version, or of the distribution in a folder."""
    with open_broker_oracle(class_path_of(source, Jars.BROKER)) as oracle:
        yield oracle


def run_broker_conform(
    request: ConformRequest, teams: Sequence[Team], opener: BrokerOpener, progress: Progress
) -> ConformReport:
    """Compare every version; after an interrupt or at the time limit the report has what was found so far."""
    started = time.monotonic()
    sources = [(team, source) for team in teams for source in team.sources]
    versions: list[VersionReport] = []
    groups: list[DisagreementReport] = []
    stopped: str | None = None
    with Interrupts() as stop:
        for number, (team, source) in enumerate(sources, 1):
            progress.stage(f"[{number}/{len(sources)}] kafka.cluster.Partition of {source.removeprefix('home:')}")
            until = None
            if request.seconds is not None:
                now = time.monotonic()
                until = now + max(0.0, started + request.seconds - now) / (len(sources) - number + 1)
            with opener(source) as oracle:
                side = Side(oracle.version)
                spaces, ended = _compare_all(request, team, oracle, side, until, stop, progress)
                groups += _shrunk_groups(request, team, source, side, oracle)
            versions.append(
                VersionReport(
                    kafka=side.version,
                    variant=team.variant,
                    compared=side.compared,
                    builder=0,
                    controller=0,
                    isr_order=0,
                    unheld=0,
                    explained=side.number(explained=True),
                    unexplained=side.number(explained=False),
                    spaces=spaces,
                )
            )
            stopped = stopped or ended
            if ended == "interrupted":
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
        workers=1,
        disagreements=tuple(sorted(groups, key=lambda d: (d.explained, d.kafka, -d.count))),
        unexplained=unexplained,
        versions=tuple(versions),
        projections=NOT_COMPARED,
        settings=request.overrides,
        stopped_by=stopped,
    )


def _compare_all(
    request: ConformRequest,
    team: Team,
    oracle: BrokerOracle,
    side: Side,
    until: float | None,
    stop: Interrupts,
    progress: Progress,
) -> tuple[tuple[SpaceReport, ...], str | None]:
    """Ask batch by batch; returns how many short walks were asked, and what ended it early."""
    started = time.monotonic()
    asked = 0
    walks = broker_walks(team.config, request.seed)
    ended: str | None = None
    while side.compared < request.comparisons:
        if stop():
            ended = "interrupted"
            break
        if until is not None and time.monotonic() > until:
            ended = "time"
            break
        batch = list(islice(walks, BATCH))
        for walk, answers in zip(batch, oracle.walks(batch), strict=True):
            for found in compare(team.config, walk, answers):
                side.add(found)
        asked += len(batch)
        done = ComparisonsDone(side.compared, side.number(explained=False), time.monotonic() - started)
        progress.tell(done)
    name = f"every sequence of {DEPTH} events of a new leader"
    return (SpaceReport(name, SHORT_WALKS, min(asked // 2, SHORT_WALKS)),), ended


def broker_walks(config: Config, seed: int) -> Iterator[tuple[BrokerEvent, ...]]:
    """Random walks and all short ones, in shuffled order, by turns; then random ones."""
    order = random.Random(f"{seed}/short").sample(range(SHORT_WALKS), SHORT_WALKS)
    for number, short in enumerate(order):
        yield possible(config, short_walk(short))
        yield random_walk(config, seed, number)
    for number in count(SHORT_WALKS):
        yield random_walk(config, seed, number)


def _shrunk_groups(
    request: ConformRequest, team: Team, source: str, side: Side, oracle: BrokerOracle
) -> list[DisagreementReport]:
    again = ["elrcheck", "conform", *request.source_options(source), "--level", "broker"]
    again += ["--variant", team.variant, "--seed", str(request.seed), "--comparisons", str(request.comparisons)]
    for override in request.overrides:
        again += ["--set", override]
    reports = []
    for number, (key, times) in enumerate(sorted(side.counts.items(), key=lambda item: -item[1])):
        example = side.examples[key]
        if number < SHOWN:
            example = shrink(team.config, oracle, example)
        reports.append(broker_group_report(side, key, times, example, shlex.join(again)))
    return reports


def broker_group_report(
    side: Side, key: str, times: int, example: BrokerDisagreement, command: str
) -> DisagreementReport:
    """A group of differences for the report. key: its class, or event and fields; command: asks again."""
    known = next((one for one in BROKER_CLASSES if one.id == key), None)
    return DisagreementReport(
        kafka=side.version,
        class_=key,
        explained=known is not None,
        count=times,
        what=known.what if known else "kafka.cluster.Partition and the model differ",
        why=known.why if known else None,
        source=known.source if known else None,
        example=_example(example, command),
    )


def shrink(config: Config, oracle: BrokerOracle, found: BrokerDisagreement) -> BrokerDisagreement:
    """The same difference after fewer events: events are left out one at a time as long as it stays."""
    while True:
        events = found.events
        shorter = [events[:at] + events[at + 1 :] for at in range(1, len(events) - 1)]
        better = next(
            (
                same
                for walk, answers in zip(shorter, oracle.walks(shorter), strict=True)
                for same in compare(config, walk, answers)
                if same is not None and same.key == found.key
            ),
            None,
        )
        if better is None:
            return found
        found = better


def _example(found: BrokerDisagreement, command: str) -> ExampleReport:
    shown = tuple(
        FieldPair(name, str(getattr(found.kafka, name)), str(getattr(found.model, name))) for name in found.differs
    )
    start = found.events[0]
    assert isinstance(start, Beginning), "a walk begins with a process"
    return ExampleReport(
        setup=(f"broker {start.id} of epoch {start.epoch}, min ISR {start.min_isr}, an empty log",),
        events=tuple(event_text(event) for event in found.events[1:]),
        before=knowledge_text(found.before),
        fields=shown,
        from_new_topic=False,
        command=command,
        what_if=None,
    )


def event_text(event: BrokerEvent) -> str:
    """An event as a person reads it."""
    parts = ", ".join(f"{name} {_plain(getattr(event, name))}" for name in event.__struct_fields__)
    return f"{type(event).__name__} {parts}".strip()


def _plain(value: object) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else str(value)


def knowledge_text(answer: BrokerAnswer) -> str:
    """What the partition knew."""
    if not answer.leads:
        return f"no leader, log end {answer.log_end}, high watermark {answer.high_watermark}"
    peers = ", ".join(f"{b} at {end}" for b, end, _ in answer.peers)
    return (
        f"leads epoch {answer.leader_epoch}, partition epoch {answer.partition_epoch},"
        f" ISR {_plain(answer.isr)}, maximal {_plain(answer.maximal_isr)}, log end {answer.log_end},"
        f" high watermark {answer.high_watermark}, followers {peers or 'none'}"
    )
